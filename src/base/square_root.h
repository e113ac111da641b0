/* The square root of machines that have no instruction for it. */
#ifndef MICAP_BASE_SQUARE_ROOT_H
#define MICAP_BASE_SQUARE_ROOT_H

#include "base/float_bits.h"

/* `x` is positive and finite. Digit by digit, as by hand: correctly rounded, since the last digit and the rest decide. */
static inline double micap_root(double x)
{
    int32_t shift = 0;
    if (x < 0x1p-1022) { /* subnormal */
        x *= 0x1p54;
        shift = 27;
    }
    uint64_t bits = micap_bits_of(x);
    int32_t exponent = (int32_t)(bits >> 52) - 1023;
    uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    if (exponent & 1) {
        mantissa <<= 1;
        --exponent;
    }
    uint64_t root = 0, rest = 0;
    for (int32_t digit = 26; digit >= -27; --digit) {
        rest = rest << 2 | (digit >= 0 ? mantissa >> 2 * digit & 3 : 0);
        uint64_t trial = root << 2 | 1;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    /* 54 digits, of which the last one is half a unit. It is never a tie: no double is the square of such a number. */
    return (double)((root + 1) >> 1) * micap_power_of_two(exponent / 2 - 52 - shift);
}

#endif
