/* Polynomials are Taylor series, one or two terms longer than fitted ones would be: their coefficients explain themselves. Where a
 * double alone would lose a bit, its rounding error is carried along, as in fdlibm (Sun Microsystems, 1993).
 * The float functions are the same computed in doubles, with fewer terms and no such care. */
#include "mica/math.h"

#include "base/angle.h"
#include "base/float_bits.h"
#include "base/square_root.h"

#include <float.h>
#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
#    error                                                                                                             \
        "Mica needs IEEE 754 arithmetic: no -ffast-math, no excess precision (-fexcess-precision=fast helps on s390x, -msse2 -mfpmath=sse on x86)"
#endif

/* Machines differ in the result of 0/0 and in which NaN they propagate. These functions return only this NaN. */
static double not_a_number(void)
{
    return micap_double_of(0x7ff8000000000000);
}

static float not_a_float(void)
{
    uint32_t bits = 0x7fc00000;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double infinity(void)
{
    return micap_double_of(0x7ff0000000000000);
}

static double magnitude(double x)
{
    return micap_double_of(micap_bits_of(x) << 1 >> 1);
}

static bool is_negative(double x) /* -0 is */
{
    return micap_bits_of(x) >> 63;
}

static bool is_finite(double x)
{
    return magnitude(x) < infinity();
}

static bool is_nan(double x)
{
    return x != x;
}

static double square_root(double x)
{
#if defined(__SSE2__)
    return _mm_cvtsd_f64(_mm_sqrt_pd(_mm_set_sd(x)));
#elif defined(__aarch64__)
    __asm__("fsqrt %d0, %d1" : "=w"(x) : "w"(x));
    return x;
#elif defined(__wasm__)
    return __builtin_sqrt(x);
#else
    return micap_root(x);
#endif
}

double mica_sqrt(double x)
{
    if (x > 0 && is_finite(x))
        return square_root(x);
    return x < 0 || is_nan(x) ? not_a_number() : x;
}

/* Rounding the root of a double once more is harmless: it has more than twice the digits. */
float mica_sqrtf(float x)
{
    if (x > 0 && is_finite(x))
        return (float)square_root(x);
    return x < 0 || is_nan(x) ? not_a_float() : x;
}

/* Horner's rule. The count is a constant wherever it is called. */
static inline double polynomial(double x, const double *coefficients, uint32_t count)
{
    double sum = coefficients[count - 1];
#pragma GCC unroll 16
    for (uint32_t i = count - 1; i-- > 0;)
        sum = sum * x + coefficients[i];
    return sum;
}

/* From x^3 and from x^4 on, in steps of x^2. */
static const double sine_series[] = {-1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
                                     -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
static const double cosine_series[] = {1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
                                       1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
enum { SINE_TERMS = 8, COSINE_TERMS = 7, FLOAT_TERMS = 5 };

static double sine_near(micap_angle angle)
{
    double x = angle.high, square = x * x, cube = square * x;
    double rest = polynomial(square, sine_series + 1, SINE_TERMS - 1);
    return x - ((square * (0.5 * angle.low - cube * rest) - angle.low) - cube * sine_series[0]);
}

static double cosine_near(micap_angle angle)
{
    double x = angle.high, square = x * x, half = 0.5 * square;
    double rest = square * square * polynomial(square, cosine_series, COSINE_TERMS);
    double sum = 1 - half;
    return sum + (((1 - sum) - half) + (rest - x * angle.low));
}

static double sine_of(micap_angle angle, uint32_t quarters)
{
    quarters += angle.quarter;
    double value = quarters & 1 ? cosine_near(angle) : sine_near(angle);
    return quarters & 2 ? -value : value;
}

double mica_sin(double x)
{
    if (!is_finite(x))
        return not_a_number();
    return magnitude(x) < 0x1p-27 ? x : sine_of(micap_angle_reduce(x), 0);
}

double mica_cos(double x)
{
    return is_finite(x) ? sine_of(micap_angle_reduce(x), 1) : not_a_number();
}

static double short_sine(double x)
{
    double square = x * x;
    return x + x * square * polynomial(square, sine_series, FLOAT_TERMS);
}

static double short_cosine(double x)
{
    double square = x * x;
    return 1 - 0.5 * square + square * square * polynomial(square, cosine_series, FLOAT_TERMS);
}

static float short_sine_of(micap_angle angle, uint32_t quarters)
{
    quarters += angle.quarter;
    double value = quarters & 1 ? short_cosine(angle.high) : short_sine(angle.high);
    return (float)(quarters & 2 ? -value : value);
}

float mica_sinf(float x)
{
    if (!is_finite(x))
        return not_a_float();
    return magnitude(x) < 0x1p-14 ? x : short_sine_of(micap_angle_reduce_short(x), 0);
}

float mica_cosf(float x)
{
    return is_finite(x) ? short_sine_of(micap_angle_reduce_short(x), 1) : not_a_float();
}

float mica_tanf(float x)
{
    if (!is_finite(x))
        return not_a_float();
    if (magnitude(x) < 0x1p-14)
        return x;
    micap_angle angle = micap_angle_reduce_short(x);
    double sine = short_sine(angle.high), cosine = short_cosine(angle.high);
    return (float)(angle.quarter & 1 ? -cosine / sine : sine / cosine);
}

/* Of quarters, as a double and its rounding error. */
static const struct { double high, low; } arc_of_quarter[] = {
    {0, 0},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};
static const double arc_series[] = {-1.0 / 3, 1.0 / 5,   -1.0 / 7, 1.0 / 9,  -1.0 / 11,
                                    1.0 / 13, -1.0 / 15, 1.0 / 17, -1.0 / 19};
enum { ARC_TERMS = 9, FLOAT_ARC_TERMS = 5 };

/* From 0 to 1: the difference to the nearest quarter is an angle of at most 1/8. */
static inline double arc_tangent(double x, uint32_t terms)
{
    uint32_t quarter = (uint32_t)(x * 4 + 0.5);
    double nearest = quarter * 0.25;
    double rest = (x - nearest) / (1 + x * nearest), square = rest * rest;
    double curve = rest * square * polynomial(square, arc_series, terms);
    return arc_of_quarter[quarter].high + (rest + (curve + arc_of_quarter[quarter].low));
}

/* Neither is a NaN. */
static inline double angle_of(double y, double x, uint32_t terms)
{
    const double right_angle = 0x1.921fb54442d18p+0, lacks = 0x1.1a62633145c07p-54;
    double up = magnitude(y), along = magnitude(x), smaller = up < along ? up : along, larger = up < along ? along : up;
    double arc = arc_tangent(smaller == larger ? larger != 0 : smaller / larger, terms);
    if (up > along)
        arc = is_negative(x) ? right_angle + (arc + lacks) : right_angle - (arc - lacks);
    else if (is_negative(x))
        arc = 2 * right_angle - (arc - 2 * lacks);
    return is_negative(y) ? -arc : arc;
}

double mica_atan2(double y, double x)
{
    return is_nan(x) || is_nan(y) ? not_a_number() : angle_of(y, x, ARC_TERMS);
}

float mica_atan2f(float y, float x)
{
    return is_nan(x) || is_nan(y) ? not_a_float() : (float)angle_of(y, x, FLOAT_ARC_TERMS);
}

static const double logarithm_of_2 = 0x1.62e42fefp-1, logarithm_lacks = 0x1.473de6af278edp-34;

/* From x^2 on. */
static const double exponential_series[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                            1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                            1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
enum { EXPONENTIAL_TERMS = 12, FLOAT_EXPONENTIAL_TERMS = 8 };

/* x is not a NaN. A whole power of 2, times the exponential of at most half of log 2. */
static inline double exponential(double x, uint32_t terms)
{
    if (x > 709.79)
        return infinity();
    if (x < -745.14)
        return 0;
    int32_t power;
    double powers = micap_nearest(x * 0x1.71547652b82fep+0, &power);
    double high = x - powers * logarithm_of_2, low = powers * logarithm_lacks; /* the first product is exact */
    double rest = high - low, lost = (high - rest) - low;
    double value = 1 + (rest + (rest * rest * polynomial(rest, exponential_series, terms) + lost));
    if (power > 1023)
        return value * 0x1p1023 * micap_power_of_two(power - 1023);
    if (power < -1022)
        return value * micap_power_of_two(power + 1022) * 0x1p-1022;
    return value * micap_power_of_two(power);
}

double mica_exp(double x)
{
    return is_nan(x) ? not_a_number() : exponential(x, EXPONENTIAL_TERMS);
}

float mica_expf(float x)
{
    return is_nan(x) ? not_a_float() : (float)exponential(x, FLOAT_EXPONENTIAL_TERMS);
}

/* log(1 + f) = 2 artanh(s) with s = f / (2 + f); from s^2 on, in steps of s^2. */
static const double logarithm_series[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                          2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
enum { LOGARITHM_TERMS = 10, FLOAT_LOGARITHM_TERMS = 6 };

/* x is positive and finite. */
static inline double logarithm(double x, uint32_t terms)
{
    int32_t power = 0;
    if (x < 0x1p-1022) { /* subnormal */
        x *= 0x1p54;
        power = -54;
    }
    uint64_t bits = micap_bits_of(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd); /* from 1/sqrt(2) to sqrt(2) */
    power += (int32_t)(bits >> 52) - 1023;
    double f = micap_double_of((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
    double s = f / (2 + f), square = s * s, half = 0.5 * f * f;
    double curve = s * (half + square * polynomial(square, logarithm_series, terms));
    return power * logarithm_of_2 - ((half - (curve + power * logarithm_lacks)) - f);
}

double mica_log(double x)
{
    if (x > 0)
        return is_finite(x) ? logarithm(x, LOGARITHM_TERMS) : x;
    return x == 0 ? -infinity() : not_a_number();
}

float mica_logf(float x)
{
    if (x > 0)
        return is_finite(x) ? (float)logarithm(x, FLOAT_LOGARITHM_TERMS) : x;
    return x == 0 ? (float)-infinity() : not_a_float();
}

typedef enum parity { PARITY_BROKEN, PARITY_EVEN, PARITY_ODD } parity;

static parity parity_of(float y)
{
    if (magnitude(y) >= 0x1p24)
        return PARITY_EVEN; /* infinity too */
    int32_t whole = (int32_t)y;
    return (float)whole != y ? PARITY_BROKEN : whole & 1 ? PARITY_ODD : PARITY_EVEN;
}

float mica_powf(float x, float y)
{
    if (x == 1 || y == 0)
        return 1;
    if (is_nan(x) || is_nan(y))
        return not_a_float();
    parity parity = is_negative(x) ? parity_of(y) : PARITY_EVEN;
    if (parity == PARITY_BROKEN && x < 0 && is_finite(x))
        return not_a_float();
    double base = magnitude(x);
    float power = base == 1 ? 1 : (float)exponential(y * mica_log(base), FLOAT_EXPONENTIAL_TERMS);
    return parity == PARITY_ODD ? -power : power;
}
