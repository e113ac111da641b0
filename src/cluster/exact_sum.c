#include "cluster/exact_sum.h"

#include "base/float_bits.h"

enum { LOWEST_EXPONENT = -1088, ADDITIONS_MAX = 1 << 28 };

void micap_exact_sum_settle(micap_exact_sum *sum)
{
    int64_t carry = 0;
    for (uint32_t i = 0; i < MICAP_SUM_WORDS; ++i) {
        int64_t word = (int64_t)sum->words[i] + carry;
        if (i + 1 < MICAP_SUM_WORDS) {
            sum->words[i] = (uint64_t)word & 0xFFFFFFFF;
            carry = word >> 32;
        } else {
            sum->words[i] = (uint64_t)word;
        }
    }
    sum->pending = 0;
}

void micap_exact_sum_add(micap_exact_sum *sum, double value)
{
    uint64_t bits = micap_bits_of(value), mantissa = bits & 0xFFFFFFFFFFFFF;
    int32_t exponent = (int32_t)(bits >> 52 & 0x7FF);
    if (exponent)
        mantissa |= (uint64_t)1 << 52;
    else
        exponent = 1;
    uint32_t shift = (uint32_t)(exponent - 1075 - LOWEST_EXPONENT), word = shift / 32;
    shift %= 32;
    /* 53 bits, moved by up to 31: three words. */
    uint64_t parts[3] = {mantissa << shift & 0xFFFFFFFF, mantissa >> (32 - shift) & 0xFFFFFFFF,
                         shift ? mantissa >> (64 - shift) : 0};
    for (uint32_t i = 0; i < 3; ++i)
        sum->words[word + i] += bits >> 63 ? 0 - parts[i] : parts[i];
    if (++sum->pending == ADDITIONS_MAX)
        micap_exact_sum_settle(sum);
}

static uint32_t bit_at(const uint64_t *words, int32_t bit)
{
    return bit < 0 ? 0 : (uint32_t)(words[bit / 32] >> bit % 32) & 1;
}

double micap_exact_sum_value(const micap_exact_sum *sum)
{
    micap_exact_sum magnitude = *sum;
    micap_exact_sum_settle(&magnitude);
    uint64_t *words = magnitude.words;
    bool is_negative = words[MICAP_SUM_WORDS - 1] >> 63;
    if (is_negative) {
        for (uint32_t i = 0; i < MICAP_SUM_WORDS; ++i)
            words[i] = 0 - words[i];
        micap_exact_sum_settle(&magnitude);
    }
    int32_t top = MICAP_SUM_WORDS * 32 - 1; /* the highest bit that is set */
    while (top >= 0 && !bit_at(words, top))
        --top;
    if (top < 0)
        return 0;
    int32_t lowest = top - 52; /* of the mantissa; numbers below the normal ones have fewer bits */
    if (lowest < -1074 - LOWEST_EXPONENT)
        lowest = -1074 - LOWEST_EXPONENT;
    uint64_t mantissa = 0;
    for (int32_t bit = top; bit >= lowest; --bit)
        mantissa = mantissa << 1 | bit_at(words, bit);
    bool is_half = bit_at(words, lowest - 1), is_more = false;
    for (int32_t bit = lowest - 2; bit >= 0 && !is_more; --bit)
        is_more = bit_at(words, bit);
    mantissa += is_half && (is_more || (mantissa & 1));
    double value = (double)mantissa; /* at most 2^53 */
    int32_t exponent = lowest + LOWEST_EXPONENT;
    for (; exponent > 0; --exponent)
        value *= 2;
    for (; exponent < 0; ++exponent)
        value /= 2;
    return is_negative ? -value : value;
}
