#define _POSIX_C_SOURCE 200809L

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double now_ns(void)
{
    /* Not the clock on the wall: a machine that is shared may do something else meanwhile. */
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

void end_with(const char *message)
{
    fprintf(stderr, "mica_bench: %s\n", message);
    exit(EXIT_FAILURE);
}

void *allocate_or_exit(size_t bytes)
{
    void *memory = malloc(bytes);
    require(memory != NULL, "out of memory");
    return memory;
}

uint32_t *shuffled(uint32_t n)
{
    uint32_t *order = allocate_or_exit(n * sizeof *order);
    for (uint32_t i = 0; i < n; ++i)
        order[i] = i;
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (uint32_t i = n; i > 1; --i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint32_t other = (uint32_t)(state % i);
        uint32_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    return order;
}
