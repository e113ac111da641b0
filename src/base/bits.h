/* Powers of two. */
#ifndef MICAP_BASE_BITS_H
#define MICAP_BASE_BITS_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool micap_is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* The smallest power of two that is not below value; value is at least 1 and at most 2^63. */
static inline uint64_t micap_power_of_two_at_least(uint64_t value)
{
    return value <= 1 ? 1 : (uint64_t)1 << (64 - MICAP_LEADING_ZEROS(value - 1));
}

static inline uint32_t micap_log2(uint64_t power_of_two)
{
    return (uint32_t)MICAP_TRAILING_ZEROS(power_of_two);
}

static inline size_t micap_align_up(size_t value, size_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

#endif
