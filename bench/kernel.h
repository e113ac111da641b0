/* The loops that both sides run over plain arrays. There is one copy of each, never inlined, so that both
 * sides have the same placement of code. Each begins at a cache line: in loops this short, placement alone was measured to
 * double the time from one build to the next. */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include "data.h"

#define KERNEL __attribute__((noinline, aligned(64)))

KERNEL void integrate(Position *position, const Velocity *velocity, uint32_t count, float seconds);
KERNEL void integrate_heavy(Position *position, const Velocity *velocity, const Mass *mass, uint32_t count,
                            float seconds);
KERNEL void fall(Velocity *velocity, uint32_t count, float seconds);
KERNEL void drag(Velocity *velocity, uint32_t count);
KERNEL void double_data(Data *data, uint32_t count);

/* Sums of bit patterns, the same for every order of the rows. */
KERNEL uint64_t sum_of_data(const Data *data, uint32_t count);
KERNEL uint64_t sum_of_z(const Position *position, uint32_t count);
KERNEL uint64_t sum_of_motion(const Position *position, const Velocity *velocity, uint32_t count);

#endif
