/* Systems with POSIX; windows.c has the others. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE 1 /* for clock_gettime and the number of processors, which strict C17 hides */
#endif
#include "os/clock.h"

#ifndef _WIN32
#    include <sched.h>
#    include <time.h>
#    include <unistd.h>

uint64_t micap_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t micap_processor_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void micap_sleep_ns(uint64_t ns)
{
    struct timespec duration = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&duration, NULL);
}

uint32_t micap_core_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

void micap_yield(void)
{
    sched_yield();
}

#endif
