#include "base/angle.h"

#include "base/assert.h"
#include "base/float_bits.h"

#include <stdbool.h>

/* The bits of 2/pi after the binary point: enough for the largest double, plus 192. */
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

/* Up to 2^20 right angles: pi/2 in three parts (Cody and Waite). The first two have 33 bits, so that their products with the
 * number of right angles are exact. */
static micap_angle reduce_near(double x)
{
    const double first = 0x1.921fb544p+0, second = 0x1.0b4611a6p-34, third = 0x1.3198a2e037073p-69;
    int32_t count;
    double n = micap_nearest(x * 0x1.45f306dc9c883p-1, &count);
    double rest = x - n * first; /* exact: both are close */
    double take = n * second;
    double sum = rest - take;
    double back = rest - sum; /* what was lost in that, after Knuth's two-sum */
    double lost = (rest - (sum + back)) + (back - take);
    double tail = lost - n * third;
    double high = sum + tail;
    return (micap_angle){high, (sum - high) + tail, (uint32_t)count & 3};
}

micap_angle micap_angle_reduce_short(float x)
{
    if (!(x > -1.6e6f && x < 1.6e6f))
        return micap_angle_reduce(x);
    const double first = 0x1.921fb544p+0, rest = 0x1.0b4611a626331p-34;
    int32_t count;
    double n = micap_nearest(x * 0x1.45f306dc9c883p-1, &count);
    return (micap_angle){x - n * first - n * rest, 0, (uint32_t)count & 3};
}

/* 64 bits of 2/pi starting at a position; zeros before the binary point. */
static uint64_t bits_from(int32_t position)
{
    if (position < 0)
        return two_over_pi[0] >> -position;
    uint32_t word = (uint32_t)position / 64, shift = (uint32_t)position % 64;
    return shift ? two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift) : two_over_pi[word];
}

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t *out_high)
{
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t cross = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
    *out_high = (a >> 32) * (b >> 32) + (middle >> 32) + (cross >> 32);
    return cross << 32 | (low & UINT32_MAX);
}

/* The product with 2/pi in whole numbers (Payne and Hanek 1983): bits of 2/pi that only give multiples of four right angles are
 * skipped; the 192 bits after them are enough for every double. */
static micap_angle reduce_far(uint64_t mantissa, int32_t exponent)
{
    uint64_t high, carry, w2, w1, w0; /* 2 bits before the binary point and 190 after it; w2 is the highest word */
    w0 = multiply(mantissa, bits_from(exponent - 2 + 128), &carry);
    w1 = multiply(mantissa, bits_from(exponent - 2 + 64), &high);
    w1 += carry;
    high += w1 < carry;
    w2 = mantissa * bits_from(exponent - 2) + high;

    uint32_t quarter = (uint32_t)(w2 >> 62);
    bool negative = w2 >> 61 & 1; /* beyond half a right angle: from the other side */
    w2 = w2 << 2 | w1 >> 62;
    w1 = w1 << 2 | w0 >> 62;
    if (negative) {
        quarter = (quarter + 1) & 3;
        w2 = ~w2;
        w1 = ~w1;
    }
    int32_t zeros =
        MICAP_LEADING_ZEROS(w2); /* one at least; the double closest to a multiple of pi/2 leaves 61, never all */
    w2 = w2 << zeros | w1 >> (64 - zeros);

    multiply(w2, 0xc90fdaa22168c235 /* pi/2, 63 bits after the point */, &high);
    double unit = micap_power_of_two(-63 - zeros);
    double upper = (double)(high >> 11 << 11) * unit, lower = (double)(high & 2047) * unit;
    return negative ? (micap_angle){-upper, -lower, quarter} : (micap_angle){upper, lower, quarter};
}

micap_angle micap_angle_reduce(double x)
{
    if (x > -1.6e6 && x < 1.6e6)
        return reduce_near(x);
    uint64_t bits = micap_bits_of(x);
    int32_t exponent = (int32_t)(bits >> 52 & 2047) - 1075;
    micap_angle angle = reduce_far((bits & ((1ull << 52) - 1)) | 1ull << 52, exponent);
    if (bits >> 63)
        angle = (micap_angle){-angle.high, -angle.low, (4 - angle.quarter) & 3};
    return angle;
}
