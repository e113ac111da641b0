#include "mica/random.h"

#include "base/argument.h"
#include "base/hash.h"
#include "flow/schedule/flow.h"

mica_random mica_random_make(uint64_t seed, uint64_t stream)
{
    mica_random random = {0, micap_hash_mix(stream) << 1 | 1};
    mica_random_next(&random);
    random.state += micap_hash_mix(seed + 0x9e3779b97f4a7c15u);
    mica_random_next(&random);
    return random;
}

static mica_random make(const mica_frame *frame, uint64_t slice)
{
    const micap_flow *flow = micap_flow_get(frame->world);
    uint64_t seed = micap_hash_mix((flow ? flow->def.seed : 0) ^ micap_hash_mix(frame->tick + 1)) ^ frame->identity;
    return mica_random_make(seed, slice);
}

mica_random mica_random_of(const mica_view *view)
{
    if (MICAP_MISSING(NULL, view))
        return (mica_random){0};
    return view->frame ? make(view->frame, view->slice + 1) : mica_random_make(0, view->slice + 1);
}

mica_random mica_random_of_frame(const mica_frame *frame)
{
    if (MICAP_MISSING(NULL, frame) || MICAP_MISSING(NULL, frame->world))
        return (mica_random){0};
    return make(frame, 0);
}
