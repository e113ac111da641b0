/* Time and processors. The contract of this seam: the clock never goes back and costs a few tens of nanoseconds to read. */
#ifndef MICAP_OS_CLOCK_H
#define MICAP_OS_CLOCK_H

#include <stdint.h>

uint64_t micap_clock_ns(void);

/* The processor time that all threads of this process have used. Not for short durations: it can cost a microsecond to read. */
uint64_t micap_processor_ns(void);

/* Returns after about this time, or earlier if a signal arrives. */
void micap_sleep_ns(uint64_t ns);

/* How many processors there are, at least 1. */
uint32_t micap_core_count(void);

/* Tells the processor that this thread waits in a loop, so that the other thread of the core gets more of it. */
static inline void micap_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Lets another ready thread run. */
void micap_yield(void);

#endif
