#include "replication/delta_checksum.h"

#include "base/hash.h"
#include "replication/delta_format.h"

#include <string.h>

/* Eight sums that only add and multiply: against accidents, at the speed of memory. They are copied so that they stay in
 * registers: as far as the compiler knows, `sums` may overlap with the bytes, which takes twice as long. */
static void add_up(uint64_t *sums, const char *bytes, size_t byte_count)
{
    uint64_t eight[8];
    memcpy(eight, sums, sizeof eight);
    for (; byte_count >= 64; bytes += 64, byte_count -= 64)
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; ++i) {
            uint64_t word;
            memcpy(&word, bytes + 8 * i, sizeof word);
            eight[i] = (eight[i] + micap_little64(word)) * 0x9e3779b185ebca87u;
        }
    for (; byte_count; ++bytes, --byte_count)
        eight[0] = (eight[0] + (unsigned char)*bytes + 1) * 0x9e3779b185ebca87u;
    memcpy(sums, eight, sizeof eight);
}

uint64_t micap_delta_checksum(const char *bytes, size_t byte_count)
{
    uint64_t eight[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = byte_count;
    add_up(eight, bytes, MICAP_DELTA_CHECKSUM_AT);
    add_up(eight, bytes + MICAP_DELTA_HEADER_BYTES, byte_count - MICAP_DELTA_HEADER_BYTES);
    for (uint32_t i = 0; i < 8; ++i)
        sum = micap_hash_mix(sum ^ eight[i]);
    return sum;
}
