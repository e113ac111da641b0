/* Mica, random: random numbers that are the same on every machine and for every number of workers.
 *
 *     static void scatter(mica_view *view)
 *     {
 *         mica_random random = mica_random_of(view);
 *         Velocity *velocity = mica_view_write(view, Velocity);
 *         for (uint32_t i = 0; i < view->count; ++i)
 *             velocity[i].x = mica_random_range(&random, -1, 1);
 *     }
 *
 * A generator is seeded with (seed of the world, tick, system, slice), so it does not matter which thread runs a slice, or when.
 * The algorithm is PCG XSH-RR 64/32 (M. E. O'Neill, 2014): small and fast, not for cryptography.
 */
#ifndef MICA_RANDOM_H
#define MICA_RANDOM_H

#include "mica/frame.h"

MICA_BEGIN

typedef struct mica_random {
    uint64_t state;
    uint64_t stream; /* odd */
} mica_random;

/* Returns a generator for a seed and a stream; streams of one seed are independent. Threads: any. */
MICA_API mica_random mica_random_make(uint64_t seed, uint64_t stream);

/* Returns the generator of this view's slice in this run of its system. Threads: any, the view's own. */
MICA_API mica_random mica_random_of(const mica_view *view);

/* Returns the generator of this run of a system that runs once. Threads: any, the system's own. */
MICA_API mica_random mica_random_of_frame(const mica_frame *frame);

/* Returns the generator of an entity in this run of a system: it depends on the handle, not on the row. Threads: any, the system's own. */
MICA_API mica_random mica_random_of_entity(const mica_frame *frame, mica_entity entity);

/* Returns the generator of the world for code outside of systems: seeded with the seed of the world and the number of frames so far.
 * Threads: reader. */
MICA_API mica_random mica_random_of_world(const mica_world *world);

/* Returns the next 32 bits. Threads: one per generator, any. */
static inline uint32_t mica_random_next(mica_random *random)
{
    if (!random) {
        (mica_world_report)(0, MICA_ERROR_INVALID, "mica_random_next: random must not be NULL");
        return 0;
    }
    uint64_t old = random->state;
    random->state = old * 6364136223846793005u + random->stream;
    uint32_t word = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return word >> turn | word << ((32 - turn) & 31);
}

/* Returns an unbiased number from 0 to limit - 1; 0 if the limit is 0. Threads: one per generator, any. */
static inline uint32_t mica_random_below(mica_random *random, uint32_t limit)
{
    if (limit == 0)
        return 0;
    if (!random)
        return mica_random_next(random); /* which reports it */
    uint64_t product = (uint64_t)mica_random_next(random) * limit;
    if ((uint32_t)product < limit) { /* Lemire 2019: nearly always decided without a division */
        uint32_t uneven = (0u - limit) % limit;
        while ((uint32_t)product < uneven)
            product = (uint64_t)mica_random_next(random) * limit;
    }
    return (uint32_t)(product >> 32);
}

/* Returns a number in [0, 1), a multiple of 2^-24. Threads: one per generator, any. */
static inline float mica_random_unit(mica_random *random)
{
    return (float)(mica_random_next(random) >> 8) * (1.0f / 16777216.0f);
}

/* Returns a number in [low, high). Threads: one per generator, any. */
static inline float mica_random_range(mica_random *random, float low, float high)
{
    return random ? low + (high - low) * mica_random_unit(random) : mica_random_unit(random);
}

/* Returns a number in [0, 1), a multiple of 2^-53. Threads: one per generator, any. */
static inline double mica_random_double(mica_random *random)
{
    uint64_t high = mica_random_next(random) >> 5;
    return (double)(high << 26 | (random ? mica_random_next(random) >> 6 : 0)) * (1.0 / 9007199254740992.0);
}

/* Returns an unbiased integer from low to high, both included; low if high is below it. Threads: one per generator, any. */
MICA_API int64_t mica_random_integer(mica_random *random, int64_t low, int64_t high);

/* Returns a normally distributed number. Threads: one per generator, any. */
MICA_API double mica_random_normal(mica_random *random, double mean, double deviation);

/* Returns an exponentially distributed number with this mean: the time until something happens that happens once in `mean` on average.
 * Threads: one per generator, any. */
MICA_API double mica_random_exponential(mica_random *random, double mean);

/* Puts `count` items of `item_bytes` each into random order; every order is equally likely. Threads: one per generator, any. */
MICA_API void mica_random_shuffle(mica_random *random, void *items, uint32_t count, size_t item_bytes);

/* Chooses `count` different numbers from 0 to limit - 1, in rising order; every choice is equally likely. If the limit is lower, chooses
 * all. Returns how many it wrote. Threads: one per generator, any. */
MICA_API uint32_t mica_random_sample(mica_random *random, uint32_t limit, uint32_t *out, uint32_t count);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_random_of(view) mica_random_of(MICA_AT_(view))
#    define mica_random_of_frame(frame) mica_random_of_frame(MICA_AT_(frame))
#    define mica_random_of_entity(frame, ...) mica_random_of_entity(MICA_AT_(frame), __VA_ARGS__)
#    define mica_random_of_world(world) mica_random_of_world(MICA_AT_(world))
#    define mica_random_double(...) MICA_AT_(mica_random_double(__VA_ARGS__))
#    define mica_random_integer(...) MICA_AT_(mica_random_integer(__VA_ARGS__))
#    define mica_random_normal(...) MICA_AT_(mica_random_normal(__VA_ARGS__))
#    define mica_random_exponential(...) MICA_AT_(mica_random_exponential(__VA_ARGS__))
#    define mica_random_shuffle(...) MICA_AT_(mica_random_shuffle(__VA_ARGS__))
#    define mica_random_sample(...) MICA_AT_(mica_random_sample(__VA_ARGS__))
#    define mica_random_next(...) MICA_AT_(mica_random_next(__VA_ARGS__))
#    define mica_random_below(...) MICA_AT_(mica_random_below(__VA_ARGS__))
#    define mica_random_unit(...) MICA_AT_(mica_random_unit(__VA_ARGS__))
#    define mica_random_range(...) MICA_AT_(mica_random_range(__VA_ARGS__))
#endif
#endif
