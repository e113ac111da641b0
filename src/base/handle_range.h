/* Handles and records whose indices follow each other, as those of entities that are created or destroyed together mostly do: as numbers,
 * eight at a time. */
#ifndef MICAP_BASE_HANDLE_RANGE_H
#define MICAP_BASE_HANDLE_RANGE_H

#include "base/assert.h"
#include "mica/lookup.h"

#include <stdint.h>
#include <string.h>

typedef uint64_t micap_two MICAP_VECTOR(16);

/* What the number of a handle grows by to the handle of the next index. */
static const uint64_t micap_handle_step = MICAP_IS_BIG_ENDIAN ? (uint64_t)1 << 32 : 1;

static inline uint64_t micap_handle_number(mica_entity entity)
{
    uint64_t number;
    memcpy(&number, &entity, sizeof number);
    return number;
}

static MICAP_INLINE micap_two micap_two_at(const char *from)
{
    micap_two two;
    memcpy(&two, from, sizeof two);
    return two;
}

/* How many of `count` numbers are first, first + step and so on, before one is not. */
static inline uint32_t micap_range_length(const void *from, uint64_t first, uint64_t step, uint32_t count)
{
    const char *at = from, *end = at + (uint64_t)count * sizeof first;
    micap_two expected = {first, first + step};
    for (; end - at >= 64; at += 64, expected += 8 * step) {
        micap_two wrong = (micap_two_at(at) ^ expected) | (micap_two_at(at + 16) ^ (expected + 2 * step)) |
                          (micap_two_at(at + 32) ^ (expected + 4 * step)) |
                          (micap_two_at(at + 48) ^ (expected + 6 * step));
        if (wrong[0] | wrong[1])
            break;
    }
    for (uint64_t next = expected[0]; at < end && memcmp(at, &next, sizeof next) == 0; next += step)
        at += sizeof next;
    return (uint32_t)((at - (const char *)from) / (ptrdiff_t)sizeof first);
}

/* Writes `count` numbers: first, first + step and so on. */
static inline void micap_range_write(void *to, uint64_t first, uint64_t step, uint32_t count)
{
    char *at = to, *end = at + (uint64_t)count * sizeof first;
    micap_two next = {first, first + step};
    for (; end - at >= 64; at += 64, next += 8 * step)
        for (size_t k = 0; k < 4; ++k) {
            micap_two two = next + 2 * k * step;
            memcpy(at + 16 * k, &two, sizeof two);
        }
    for (uint64_t number = next[0]; at < end; at += sizeof number, number += step)
        memcpy(at, &number, sizeof number);
}

/* How many handles, from the first one of a list on, have indices of one page that follow each other and one generation. */
static inline uint32_t micap_handles_in_page(const mica_entity *list, uint32_t count)
{
    const uint32_t page = 1 << MICA_PRIVATE_PAGE_SHIFT, left = page - (list[0].index & (page - 1));
    return micap_range_length(list, micap_handle_number(list[0]), micap_handle_step, count < left ? count : left);
}

#endif
