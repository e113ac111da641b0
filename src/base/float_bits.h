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

/* The nearest whole number, as both. Adding 1.5 * 2^52 pushes what is behind the point out of a double, and leaves the
 * number in its lowest bits. For magnitudes below 2^31. */
static inline double micap_nearest(double x, int32_t *out_integer)
{
    double pushed = x + 0x1.8p52;
    *out_integer = (int32_t)(uint32_t)micap_bits_of(pushed);
    return pushed - 0x1.8p52;
}

#endif
