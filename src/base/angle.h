/* Argument reduction: angles of any size to the range near zero. */
#ifndef MICAP_BASE_ANGLE_H
#define MICAP_BASE_ANGLE_H

#include <stdint.h>

/* An angle minus a multiple of a right angle: between -pi/4 and pi/4, as a double and its rounding error. */
typedef struct micap_angle {
    double high;
    double low;
    uint32_t quarter; /* how many right angles were taken off, modulo 4 */
} micap_angle;

/* `x` is finite. */
micap_angle micap_angle_reduce(double x);

/* The same for floats: the rounding error does not matter, and is zero. */
micap_angle micap_angle_reduce_short(float x);

#endif
