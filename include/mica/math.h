/* Mica, math: sine, exponential and the like with the same bits on every machine.
 *
 *     velocity[i].x = speed * mica_cosf(angle[i]);
 *
 * The functions of libm differ in the last bit from one C library, compiler and processor to the next, which is enough to
 * drive two simulations apart. These use nothing but addition, subtraction, multiplication, division and square root, which
 * IEEE 754 defines to the bit, in an order that no compiler may change. They are functions of the library and not inline, so that
 * the compiler options of a program (fused multiplication, -ffast-math) can't reach them.
 *
 * The float functions are right to 0.501 units in the last place (powf: 0.51), the double ones to 1 (atan2: 2), for all
 * arguments, huge ones too. They set no errno. A result that is not a number is always the same one, positive and quiet.
 */
#ifndef MICA_MATH_H
#define MICA_MATH_H

#include "mica/base.h"

MICA_BEGIN

/* The square root, correctly rounded; not a number below zero. sqrtf and sqrt of C are as good wherever the compiler turns them into
 * an instruction and -ffast-math is off. Threads: any. */
MICA_API float mica_sqrtf(float x);
MICA_API double mica_sqrt(double x);

/* Sine, cosine and tangent of an angle in radians; not a number for infinities. Threads: any. */
MICA_API float mica_sinf(float x);
MICA_API float mica_cosf(float x);
MICA_API float mica_tanf(float x);
MICA_API double mica_sin(double x);
MICA_API double mica_cos(double x);

/* The angle of the point (x, y) in radians, from -pi to pi; signs of zeros count as in C. Threads: any. */
MICA_API float mica_atan2f(float y, float x);
MICA_API double mica_atan2(double y, double x);

/* The exponential function, and its inverse: -infinity at zero, not a number below. Threads: any. */
MICA_API float mica_expf(float x);
MICA_API float mica_logf(float x);
MICA_API double mica_exp(double x);
MICA_API double mica_log(double x);

/* x to the power of y, with the special cases of C. Threads: any. */
MICA_API float mica_powf(float x, float y);

MICA_END
#endif
