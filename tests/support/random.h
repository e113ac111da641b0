/* Random numbers for tests: the same seed gives the same run on every machine. The generator is splitmix64
 * (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
#ifndef MICA_TESTS_SUPPORT_RANDOM_H
#define MICA_TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct random_source {
    uint64_t state;
} random_source;

static inline uint64_t random_u64(random_source *source)
{
    uint64_t z = source->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint32_t random_u32(random_source *source)
{
    return (uint32_t)(random_u64(source) >> 32);
}

/* A number below the limit; 0 for a limit of 0. */
static inline uint32_t random_below(random_source *source, uint32_t limit)
{
    return (uint32_t)(((uint64_t)random_u32(source) * limit) >> 32);
}

static inline bool random_one_in(random_source *source, uint32_t odds)
{
    return random_below(source, odds) == 0;
}

/* A number out of the environment, for seeds and lengths of runs. */
static inline uint64_t setting_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Sanitizers make everything several times slower: random runs are shortened where one is at work. */
#if defined(__has_feature)
#    define HAS_SANITIZER(feature) __has_feature(feature)
#else
#    define HAS_SANITIZER(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_SANITIZER(thread_sanitizer)
#    define UNDER_THREAD_SANITIZER 1
#else
#    define UNDER_THREAD_SANITIZER 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_SANITIZER(address_sanitizer)
#    define UNDER_ADDRESS_SANITIZER 1
#else
#    define UNDER_ADDRESS_SANITIZER 0
#endif
#define UNDER_SANITIZER (UNDER_ADDRESS_SANITIZER || UNDER_THREAD_SANITIZER)

#endif
