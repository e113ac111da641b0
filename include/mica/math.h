/* Mica, math: sine, exponential and similar functions with the same bits on every machine.
 *
 *     velocity[i].x = speed * mica_cosf(angle[i]);
 *
 * The functions of libm differ in the last bit between C libraries, compilers and processors, which makes simulations diverge.
 * These functions use only addition, subtraction, multiplication, division and square root, which IEEE 754 defines exactly, in a
 * fixed order. They are not inline, so compiler options of a program (fused multiply-add, -ffast-math) do not affect them.
 *
 * The float functions are accurate to 0.501 units in the last place (powf: 0.51), the double functions to 1 (atan2: 2), for all
 * arguments. They do not set errno. A NaN result is always the same positive quiet NaN.
 */
#ifndef MICA_MATH_H
#define MICA_MATH_H

#include "mica/base.h"

MICA_BEGIN

/* Square root, correctly rounded; NaN below zero. sqrtf and sqrt of C are equivalent if the compiler turns them into an instruction
 * and -ffast-math is off. Threads: any. */
MICA_API float mica_sqrtf(float x);
MICA_API double mica_sqrt(double x);

/* Sine, cosine and tangent of an angle in radians; NaN for infinities. Threads: any. */
MICA_API float mica_sinf(float x);
MICA_API float mica_cosf(float x);
MICA_API float mica_tanf(float x);
MICA_API double mica_sin(double x);
MICA_API double mica_cos(double x);

/* The angle of the point (x, y) in radians, from -pi to pi; signed zeros are handled as in C. Threads: any. */
MICA_API float mica_atan2f(float y, float x);
MICA_API double mica_atan2(double y, double x);

/* Exponential function and natural logarithm; the logarithm is -infinity at zero and NaN below. Threads: any. */
MICA_API float mica_expf(float x);
MICA_API float mica_logf(float x);
MICA_API double mica_exp(double x);
MICA_API double mica_log(double x);

/* x to the power of y, with the special cases of C. Threads: any. */
MICA_API float mica_powf(float x, float y);

MICA_END
#endif
