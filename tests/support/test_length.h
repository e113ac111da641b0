/* How long a random test runs: for a number of rounds, or for MICA_TEST_SECONDS, if that is set, however many rounds these are. A
 * test that runs by the clock says once a minute how far it is, and from which seed. */
#ifndef MICA_TESTS_SUPPORT_TEST_LENGTH_H
#define MICA_TESTS_SUPPORT_TEST_LENGTH_H

#include "random.h"

#include <stdio.h>
#include <time.h>

typedef struct test_length {
    const char *name;
    uint64_t seed;
    uint64_t rounds;
    double seconds; /* 0: the rounds count */
    double start;
    double told;
} test_length;

static inline double test_seconds_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A test that has this part of the time, in per cent. */
static inline test_length test_length_begin(const char *name, uint64_t seed, uint64_t rounds, uint32_t percent)
{
    double seconds = (double)setting_from_environment("MICA_TEST_SECONDS", 0) * percent / 100;
    double now = test_seconds_now();
    if (seconds > 0)
        printf("%s: %.0f seconds from seed %llu\n", name, seconds, (unsigned long long)seed);
    fflush(stdout);
    return (test_length){name, seed, rounds, seconds, now, now};
}

/* Whether another round follows those that are done. */
static inline bool test_length_continues(test_length *length, uint64_t done)
{
    if (length->seconds <= 0)
        return done < length->rounds;
    double now = test_seconds_now();
    bool is_over = now - length->start >= length->seconds;
    if (is_over || now - length->told >= 60) {
        printf("%s: %llu done after %.0f seconds, from seed %llu\n", length->name, (unsigned long long)done,
               now - length->start, (unsigned long long)length->seed);
        fflush(stdout);
        length->told = now;
    }
    return !is_over;
}

#endif
