/* Doubles as the bits they are made of. */
#ifndef MICAP_BASE_FLOAT_BITS_H
#define MICAP_BASE_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t micap_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double micap_double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2 to the power of an exponent from -1022 to 1023. */
static inline double micap_power_of_two(int32_t exponent)
{
    return micap_double_of((uint64_t)(1023 + exponent) << 52);
}

/* Rounds to the nearest integer and returns it as a double and as an integer. Adding 1.5 * 2^52 removes the fraction and leaves the
 * integer in the lowest bits of the double. For magnitudes below 2^31. */
static inline double micap_nearest(double x, int32_t *out_integer)
{
    double pushed = x + 0x1.8p52;
    *out_integer = (int32_t)(uint32_t)micap_bits_of(pushed);
    return pushed - 0x1.8p52;
}

#endif
