#include "resource/verify/verify_state.h"

#include "mica/state.h"
#include "resource/verify/load_error.h"

#include <string.h>

bool micap_verify_state(mica_resource *resource)
{
    uint64_t entity_count = 0;
    for (uint32_t i = 0; i < micap_count_of(resource, MICAP_SECTION_HANDLES); ++i) {
        const micap_handles_record *run = micap_record(resource, MICAP_SECTION_HANDLES, i);
        if (!run->index || !run->generation || !run->count || run->count > UINT32_MAX - run->index)
            return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_HANDLES, i),
                                   "handles %u: an index, a generation or their number is 0 or too large", i);
        entity_count += run->count;
    }
    const micap_part *state = resource->single[MICAP_SECTION_STATE];
    if (entity_count != (state ? resource->header.entity_count : 0))
        return micap_load_fail(resource, micap_offset_of(resource, MICAP_SECTION_HANDLES, 0),
                               "there are %llu handles for %u entities", (unsigned long long)entity_count,
                               resource->header.entity_count);
    return !state || mica_state_check(state->data, state->record.bytes) ||
           micap_load_fail(resource, state->record.offset, "the state of the world does not consist of whole records");
}

void micap_resource_handles(const mica_resource *resource, mica_entity *out)
{
    for (uint32_t i = 0; i < micap_count_of(resource, MICAP_SECTION_HANDLES); ++i) {
        micap_handles_record run;
        memcpy(&run, micap_record(resource, MICAP_SECTION_HANDLES, i), sizeof run);
        for (uint32_t k = 0; k < run.count; ++k)
            *out++ = (mica_entity){run.index + k, run.generation};
    }
}
