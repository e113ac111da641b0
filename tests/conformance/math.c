/* The bits of the deterministic functions. */
#include "conformance.h"

#include "mica/math.h"

#include <string.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t float_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

void check_math(void)
{
    static float (*const shorter[])(float) = {mica_sqrtf, mica_sinf, mica_cosf, mica_tanf, mica_expf, mica_logf};
    static double (*const longer[])(double) = {mica_sqrt, mica_sin, mica_cos, mica_exp, mica_log};
    EXPECT(mica_sqrt(16) == 4 && mica_sqrtf(2.25f) == 1.5f);
    EXPECT(mica_sin(0) == 0 && mica_cos(0) == 1 && mica_exp(0) == 1 && mica_log(1) == 0);
    EXPECT(float_bits_of(mica_sqrtf(-1)) == 0x7fc00000 && bits_of(mica_log(-1)) == 0x7ff8000000000000);
    uint64_t float_hash = HASH_BASIS, double_hash = HASH_BASIS;
    mica_random random = mica_random_make(1, 1);
    for (uint32_t i = 0; i < 20000; ++i) { /* half of any size, half as everyday programs have them */
        uint32_t bits = mica_random_next(&random);
        uint64_t long_bits = (uint64_t)bits << 32 | mica_random_next(&random);
        float x = mica_random_range(&random, -8, 8);
        double y = x * 1.25;
        if (i % 2) {
            memcpy(&x, &bits, sizeof x);
            memcpy(&y, &long_bits, sizeof y);
        }
        for (uint32_t k = 0; k < COUNT_OF(shorter); ++k)
            float_hash = hash_more(float_hash, float_bits_of(shorter[k](x)), 4);
        float_hash = hash_more(float_hash, float_bits_of(mica_atan2f(x, 3)), 4);
        float_hash = hash_more(float_hash, float_bits_of(mica_powf(x, 1.75f)), 4);
        for (uint32_t k = 0; k < COUNT_OF(longer); ++k)
            double_hash = hash_more(double_hash, bits_of(longer[k](y)), 8);
        double_hash = hash_more(double_hash, bits_of(mica_atan2(y, -3)), 8);
    }
    print_hash("float_functions", 0, float_hash);
    print_hash("double_functions", 0, double_hash);
}
