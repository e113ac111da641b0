#include "mica/random.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/hash.h"
#include "flow/schedule/flow.h"
#include "mica/math.h"

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

mica_random mica_random_of_entity(const mica_frame *frame, mica_entity entity)
{
    if (MICAP_MISSING(NULL, frame) || MICAP_MISSING(NULL, frame->world))
        return (mica_random){0};
    return make(frame, micap_hash_mix((uint64_t)entity.index << 32 | entity.generation));
}

mica_random mica_random_of_world(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_random){0};
    const micap_flow *flow = micap_flow_get(world);
    return mica_random_make(flow ? flow->def.seed : 0, flow ? flow->time.frame : 0);
}

static uint64_t next_64(mica_random *random)
{
    uint64_t high = mica_random_next(random);
    return high << 32 | mica_random_next(random);
}

int64_t mica_random_integer(mica_random *random, int64_t low, int64_t high)
{
    if (MICAP_MISSING(NULL, random))
        return 0;
    if (high <= low)
        return low;
    uint64_t span = (uint64_t)high - (uint64_t)low;
    if (span < UINT32_MAX)
        return (int64_t)((uint64_t)low + mica_random_below(random, (uint32_t)span + 1));
    uint64_t mask = UINT64_MAX >> MICAP_LEADING_ZEROS(span), drawn;
    while ((drawn = next_64(random) & mask) > span) { /* at most half of them are too large */
    }
    return (int64_t)((uint64_t)low + drawn);
}

/* G. E. P. Box and M. E. Muller, 1958. The second of each pair is not kept, so that a generator is nothing but its state. */
double mica_random_normal(mica_random *random, double mean, double deviation)
{
    if (MICAP_MISSING(NULL, random))
        return 0;
    double radius = mica_sqrt(-2 * mica_log(1 - mica_random_double(random)));
    return mean + deviation * (radius * mica_cos(6.283185307179586 * mica_random_double(random)));
}

double mica_random_exponential(mica_random *random, double mean)
{
    if (MICAP_MISSING(NULL, random))
        return 0;
    return -mean * mica_log(1 - mica_random_double(random));
}

static void swap(char *a, char *b, size_t bytes)
{
    char part[64];
    for (size_t size; bytes; bytes -= size, a += size, b += size) {
        size = bytes < sizeof part ? bytes : sizeof part;
        memcpy(part, a, size);
        memcpy(a, b, size);
        memcpy(b, part, size);
    }
}

void mica_random_shuffle(mica_random *random, void *items, uint32_t count, size_t item_bytes)
{
    if (MICAP_MISSING(NULL, random) || MICAP_MISSING_ARRAY(NULL, items, count))
        return;
    for (uint32_t left = count; left > 1; --left) {
        uint32_t chosen = mica_random_below(random, left);
        if (chosen != left - 1)
            swap((char *)items + chosen * item_bytes, (char *)items + (left - 1) * item_bytes, item_bytes);
    }
}

/* Selection sampling: D. E. Knuth, The Art of Computer Programming, 3.4.2, algorithm S. */
static void sample_by_selection(mica_random *random, uint32_t limit, uint32_t *out, uint32_t count)
{
    uint32_t chosen = 0;
    for (uint32_t number = 0; chosen < count; ++number)
        if (mica_random_below(random, limit - number) < count - chosen)
            out[chosen++] = number;
}

/* R. W. Floyd, in J. Bentley, Programming Pearls, 1987: a number that is chosen already stands for the largest one so far. */
static void sample_by_insertion(mica_random *random, uint32_t limit, uint32_t *out, uint32_t count)
{
    for (uint32_t chosen = 0; chosen < count; ++chosen) {
        uint32_t largest = limit - count + chosen;
        uint32_t drawn = mica_random_below(random, largest + 1), at = chosen;
        while (at && out[at - 1] > drawn)
            --at;
        if (at && out[at - 1] == drawn) {
            out[chosen] = largest;
            continue;
        }
        memmove(out + at + 1, out + at, (chosen - at) * sizeof *out);
        out[at] = drawn;
    }
}

uint32_t mica_random_sample(mica_random *random, uint32_t limit, uint32_t *out, uint32_t count)
{
    if (MICAP_MISSING(NULL, random) || MICAP_MISSING_ARRAY(NULL, out, count))
        return 0;
    uint32_t wanted = count < limit ? count : limit;
    if ((uint64_t)wanted * wanted < limit) /* few of many */
        sample_by_insertion(random, limit, out, wanted);
    else
        sample_by_selection(random, limit, out, wanted);
    return wanted;
}
