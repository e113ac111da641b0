#include "resource/format/checksum.h"

#include "base/assert.h"

MICAP_UNROLL_LOOPS     /* those of xxhash are meant to be: two thirds of the time */
#define XXH_INLINE_ALL /* nothing to link with, and no call for short keys */
#include <xxhash.h>

    uint64_t
    micap_checksum(const void *bytes, size_t byte_count)
{
    return XXH3_64bits(bytes, byte_count);
}

uint64_t micap_checksum_of_two(const void *first, size_t first_count, const void *second, size_t second_count)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, first, first_count);
    XXH3_64bits_update(&state, second, second_count);
    return XXH3_64bits_digest(&state);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(micap_checksummer) &&
                   _Alignof(micap_checksummer) % _Alignof(XXH3_state_t) == 0,
               "the header does not show xxhash");

void micap_checksum_begin(micap_checksummer *checksummer)
{
    XXH3_state_t *state = (void *)checksummer;
    XXH3_INITSTATE(state);
    XXH3_64bits_reset(state);
}

void micap_checksum_add(micap_checksummer *checksummer, const void *bytes, size_t byte_count)
{
    XXH3_64bits_update((void *)checksummer, bytes, byte_count);
}

uint64_t micap_checksum_end(const micap_checksummer *checksummer)
{
    return XXH3_64bits_digest((const void *)checksummer);
}
