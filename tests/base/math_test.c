/* The deterministic functions against libm's in long double: how far off they are, what they do with special values, and the
 * very bits they give, which must never change: worlds of different machines and versions rely on them. */
#include "mica/math.h"

#include "base/hash.h"
#include "base/square_root.h"

#include "../support/random.h"
#include "../support/test.h"

#include <float.h>
#include <math.h>

#define COUNT_OF(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

enum { SAMPLES = UNDER_SANITIZER ? 20000 : 200000 };

typedef struct function {
    const char *name;
    float (*shorter)(float);
    double (*longer)(double);
    long double (*truth)(long double);
    double limit; /* of what is of interest: beyond it the result is infinite or zero */
    double error_shorter, error_longer;

} function;

static const function functions[] = {
    {"sqrt", mica_sqrtf, mica_sqrt, sqrtl, INFINITY, 0.5, 0.5},
    {"sin", mica_sinf, mica_sin, sinl, INFINITY, 0.501, 1},
    {"cos", mica_cosf, mica_cos, cosl, INFINITY, 0.501, 1},
    {"tan", mica_tanf, NULL, tanl, INFINITY, 0.501, 0},
    {"exp", mica_expf, mica_exp, expl, 750, 0.501, 1},
    {"log", mica_logf, mica_log, logl, INFINITY, 0.501, 1},
};

/* A unit in the last place of a result near `truth`, of numbers with that many digits and that smallest exponent. */
static long double unit_of(long double truth, int digits, int exponent_min)
{
    int exponent = truth == 0 ? exponent_min : ilogbl(truth);
    return ldexpl(1, (exponent < exponent_min ? exponent_min : exponent) - digits + 1);
}

static long double float_error(float value, long double truth)
{
    if (isnan(value) || isnan(truth))
        return isnan(value) && isnan(truth) ? 0 : INFINITY;
    if (isinf(value) || isinf((float)truth))
        return value == (float)truth ? 0 : INFINITY;
    return fabsl(value - truth) / unit_of(truth, FLT_MANT_DIG, FLT_MIN_EXP - 1);
}

static long double double_error(double value, long double truth)
{
    if (isnan(value) || isnan(truth))
        return isnan(value) && isnan(truth) ? 0 : INFINITY;
    if (isinf(value) || isinf((double)truth))
        return value == (double)truth ? 0 : INFINITY;
    return fabsl(value - truth) / unit_of(truth, DBL_MANT_DIG, DBL_MIN_EXP - 1);
}

/* Half of them as everyday programs have them, half of any size; of both signs. */
static double sample(random_source *random, double limit)
{
    double x = (double)(random_u64(random) >> 11) * 0x1p-53 * 20 - 10;
    if (random_one_in(random, 2)) {
        uint64_t bits = random_u64(random);
        memcpy(&x, &bits, sizeof x);
    }
    return isfinite(x) && fabs(x) > limit ? fmod(x, limit) : x;
}

static float float_sample(random_source *random, double limit)
{
    float x = (float)(random_u32(random) >> 8) * 0x1p-24f * 20 - 10;
    if (random_one_in(random, 2)) {
        uint32_t bits = random_u32(random);
        memcpy(&x, &bits, sizeof x);
    }
    return isfinite(x) && fabs(x) > limit ? (float)fmod(x, limit) : x;
}

START_TEST(errors_of_floats_exceed_rounding_by_at_most_a_thousandth)
{
    const function *function = &functions[_i];
    random_source random = {11};
    long double worst = 0;
    float where = 0;
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        float x = float_sample(&random, function->limit);
        long double error = float_error(function->shorter(x), function->truth(x));
        if (error > worst) {
            worst = error;
            where = x;
        }
    }
    ck_assert_msg(worst <= function->error_shorter, "%sf(%a) is %.4Lf units off", function->name, where, worst);
}
END_TEST

START_TEST(doubles_are_right_to_the_last_place)
{
    const function *function = &functions[_i];
    random_source random = {12};
    long double worst = 0;
    double where = 0;
    for (uint32_t i = 0; function->longer && i < SAMPLES; ++i) {
        double x = sample(&random, function->limit);
        long double error = double_error(function->longer(x), function->truth(x));
        if (error > worst) {
            worst = error;
            where = x;
        }
    }
    ck_assert_msg(worst <= function->error_longer, "%s(%a) is %.4Lf units off", function->name, where, worst);
}
END_TEST

START_TEST(angles_and_powers_are_right)
{
    random_source random = {13};
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        double y = sample(&random, INFINITY), x = sample(&random, INFINITY);
        float v = float_sample(&random, INFINITY), u = float_sample(&random, INFINITY);
        long double error = double_error(mica_atan2(y, x), atan2l(y, x));
        ck_assert_msg(error <= 2, "atan2(%a, %a) is %.4Lf units off", y, x, error);
        error = float_error(mica_atan2f(v, u), atan2l(v, u));
        ck_assert_msg(error <= 0.501L, "atan2f(%a, %a) is %.4Lf units off", v, u, error);
        error = float_error(mica_powf(u, v), powl(u, v));
        ck_assert_msg(error <= 0.51L, "powf(%a, %a) is %.4Lf units off", u, v, error);
        u = ldexpf(1 + (float)random_below(&random, 1000) / 1000, (int)random_below(&random, 40) - 20);
        v = (float)random_below(&random, 2000) / 100 - 10;
        error = float_error(mica_powf(u, v), powl(u, v));
        ck_assert_msg(error <= 0.51L, "powf(%a, %a) is %.4Lf units off", u, v, error);
    }
}
END_TEST

/* Those that reduction finds hardest: next to multiples of pi/2, by a search over all doubles and floats (Muller and others,
 * Handbook of Floating-Point Arithmetic), and where one way of reducing ends and the other begins. */
START_TEST(angles_next_to_multiples_of_a_right_angle_are_right)
{
    static const double hard[] = {0x1.6ac5b262ca1ffp+849,
                                  0x1.921fb54442d18p+0,
                                  0x1.921fb54442d18p+1,
                                  0x1.921fb54442d18p+20,
                                  1.6e6,
                                  0x1.869fffffffffp+20,
                                  1.5999999e6,
                                  DBL_MAX,
                                  0x1p1023,
                                  0x1p-1074,
                                  0x1.p30};
    for (uint32_t i = 0; i < COUNT_OF(hard); ++i)
        for (int sign = -1; sign <= 1; sign += 2) {
            double x = sign * hard[i];
            ck_assert_msg(double_error(mica_sin(x), sinl(x)) <= 1, "sin(%a)", x);
            ck_assert_msg(double_error(mica_cos(x), cosl(x)) <= 1, "cos(%a)", x);
            ck_assert_msg(float_error(mica_tanf((float)x), tanl((float)x)) <= 0.501L, "tanf(%a)", (float)x);
        }
    for (uint32_t i = 1; i < 100000; ++i) {
        float x = (float)(i * 1.57079632679489661923);
        ck_assert_msg(float_error(mica_sinf(x), sinl(x)) <= 0.501L, "sinf(%a)", x);
        ck_assert_msg(float_error(mica_cosf(x), cosl(x)) <= 0.501L, "cosf(%a)", x);
    }
}
END_TEST

/* Equal, zeros with their sign, and any NaN for a NaN. */
static bool is_same(double a, double b)
{
    return isnan(b) ? isnan(a) && !signbit(a) : a == b && !signbit(a) == !signbit(b);
}

static const double special[] = {0.0,     -0.0,     1,      -1,       0.5,       -0.5,          2,        -2,
                                 3,       -3,       2.5,    INFINITY, -INFINITY, NAN,           FLT_MAX,  -FLT_MAX,
                                 FLT_MIN, 0x1p-149, 0x1p24, 0x1p25,   -0x1p-149, 0x1.fffffep23, 33554433, 700,
                                 -700,    103,      -104,   89};

START_TEST(special_values_are_those_of_c)
{
    for (uint32_t i = 0; i < COUNT_OF(special); ++i) {
        double x = special[i];
        for (uint32_t k = 0; k < COUNT_OF(functions); ++k) {
            const function *function = &functions[k];
            double want = (double)function->truth(x);
            if (!isfinite(want) || want == 0 || isnan(x)) {
                ck_assert_msg(!function->longer || is_same(function->longer(x), want), "%s(%g)", function->name, x);
                ck_assert_msg(is_same(function->shorter((float)x), (float)function->truth((float)x)), "%sf(%g)",
                              function->name, x);
            }
        }
        for (uint32_t k = 0; k < COUNT_OF(special); ++k) {
            double y = special[k];
            float power = powf((float)x, (float)y);
            ck_assert_msg(is_same(mica_powf((float)x, (float)y), power) || (isfinite(power) && power != 0),
                          "powf(%g, %g) is %g", x, y, mica_powf((float)x, (float)y));
            ck_assert_msg(signbit(mica_powf((float)x, (float)y)) == signbit(power) || isnan(power), "powf(%g, %g)", x,
                          y);
            double angle = atan2(y, x);
            ck_assert_msg(is_same(mica_atan2(y, x), angle) ||
                              (isfinite(angle) && double_error(mica_atan2(y, x), angle) <= 2),
                          "atan2(%g, %g) is %g", y, x, mica_atan2(y, x));
            ck_assert_msg(is_same(mica_atan2f((float)y, (float)x), atan2f((float)y, (float)x)) ||
                              float_error(mica_atan2f((float)y, (float)x), angle) <= 0.6L,
                          "atan2f(%g, %g)", y, x);
        }
    }
}
END_TEST

START_TEST(the_root_without_an_instruction_is_that_of_the_instruction)
{
    random_source random = {14};
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        double x = fabs(sample(&random, INFINITY));
        if (isfinite(x) && x > 0)
            ck_assert_msg(micap_root(x) == sqrt(x), "sqrt(%a)", x);
    }
    ck_assert(micap_root(0x1p-1074) == sqrt(0x1p-1074) && micap_root(DBL_MAX) == sqrt(DBL_MAX));
}
END_TEST

static void hash_double(micap_hasher *hasher, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    micap_hasher_integer(hasher, bits, 8);
}

static void hash_float(micap_hasher *hasher, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    micap_hasher_integer(hasher, bits, 4);
}

START_TEST(the_bits_of_results_never_change)
{
    random_source random = {15};
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    for (uint32_t i = 0; i < 20000; ++i) {
        double x = sample(&random, INFINITY), y = sample(&random, INFINITY);
        float u = float_sample(&random, INFINITY), v = float_sample(&random, INFINITY);
        for (uint32_t k = 0; k < COUNT_OF(functions); ++k) {
            hash_float(&hasher, functions[k].shorter(u));
            if (functions[k].longer)
                hash_double(&hasher, functions[k].longer(x));
        }
        hash_double(&hasher, mica_atan2(y, x));
        hash_float(&hasher, mica_atan2f(v, u));
        hash_float(&hasher, mica_powf(u, v));
    }
    ck_assert_msg(micap_hasher_finish(&hasher) == 0x4ba405b72ca3ebe6, "0x%016llx",
                  (unsigned long long)micap_hasher_finish(&hasher));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("math");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, errors_of_floats_exceed_rounding_by_at_most_a_thousandth, 0, COUNT_OF(functions));
    tcase_add_loop_test(cases, doubles_are_right_to_the_last_place, 0, COUNT_OF(functions));
    tcase_add_test(cases, angles_and_powers_are_right);
    tcase_add_test(cases, angles_next_to_multiples_of_a_right_angle_are_right);
    tcase_add_test(cases, special_values_are_those_of_c);
    tcase_add_test(cases, the_root_without_an_instruction_is_that_of_the_instruction);
    tcase_add_test(cases, the_bits_of_results_never_change);
    return test_run("math", cases);
}
