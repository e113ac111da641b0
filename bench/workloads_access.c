/* Finding components by id, in an order that has nothing to do with memory. */
#include "baselines.h"
#include "bench.h"
#include "components.h"
#include "population.h"
#include "raw.h"

#include <stdlib.h>

/* About a million look-ups per measurement. */
static uint32_t rounds_for(uint32_t n)
{
    return 1000000 / n;
}

static measurement get_random_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    uint32_t *order = shuffled(n);
    mica_entity *ids = populate_mica(world, n, order);
    uint32_t rounds = rounds_for(n);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < rounds; ++round)
        for (uint32_t i = 0; i < n; ++i) {
            const Position *position = mica_get(world, ids[i], Position);
            if (position != NULL)
                sum += bits_of(position->x);
        }
    double time = (now_ns() - start) / n / rounds;
    free(order);
    free(ids);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

measurement get_random_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    uint32_t *order = shuffled(n);
    raw_id *ids = populate_raw(&world, n, order);
    uint32_t rounds = rounds_for(n);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t round = 0; round < rounds; ++round)
        for (uint32_t i = 0; i < n; ++i) {
            const Position *position = raw_get_position(&world, ids[i]);
            if (position != NULL)
                sum += bits_of(position->x);
        }
    double time = (now_ns() - start) / n / rounds;
    free(order);
    free(ids);
    raw_world_free(&world);
    return (measurement){time, sum};
}

/* In batches whose pointers stay in the nearest cache. */
static measurement get_many_mica(uint32_t n)
{
    enum { BATCH = 512 };
    const Position *found[BATCH];
    mica_world *world = mica_world_create(NULL);
    uint32_t *order = shuffled(n);
    mica_entity *ids = populate_mica(world, n, order);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t first = 0; first < n; first += BATCH) {
        uint32_t count = n - first < BATCH ? n - first : BATCH;
        mica_get_many(world, ids + first, count, Position, found);
        for (uint32_t i = 0; i < count; ++i)
            if (found[i] != NULL)
                sum += bits_of(found[i]->x);
    }
    double time = (now_ns() - start) / n;
    free(order);
    free(ids);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement has_random_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    uint32_t *order = shuffled(n);
    mica_entity *ids = populate_mica(world, n, order);
    for (uint32_t i = 0; i < n; ++i)
        if (order[i] % 2 == 0)
            mica_add(world, ids[i], Mass);
    uint64_t found = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        found += mica_has(world, ids[i], Mass);
    double time = (now_ns() - start) / n;
    free(order);
    free(ids);
    mica_world_destroy(world);
    return (measurement){time, found};
}

static measurement has_random_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    uint32_t *order = shuffled(n);
    raw_id *ids = populate_raw(&world, n, order);
    for (uint32_t i = 0; i < n; ++i)
        if (order[i] % 2 == 0)
            raw_add_mass(&world, ids[i]);
    uint64_t found = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        found += raw_has_mass(&world, ids[i]);
    double time = (now_ns() - start) / n;
    free(order);
    free(ids);
    raw_world_free(&world);
    return (measurement){time, found};
}

/* Each entity has a reference to another one, and reads where that one is. */
static measurement ref_random_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    uint32_t *order = shuffled(n);
    mica_entity *ids = populate_mica(world, n, order);
    mica_ref *refs = malloc(n * sizeof *refs);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        refs[i] = mica_ref_of(ids[i], Position);
        mica_ref_read(world, &refs[i], Position);
    }
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        const Position *position = mica_ref_read(world, &refs[i], Position);
        if (position != NULL)
            sum += bits_of(position->x);
    }
    double time = (now_ns() - start) / n;
    free(refs);
    free(order);
    free(ids);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

const workload access_workloads[] = {
    {"get_random_1M", 1000000, get_random_mica, get_random_raw, 1.0, UNIT_RATIO},
    {"get_random_10k", 10000, get_random_mica, get_random_raw, 1.3, UNIT_RATIO},
    {"get_many_1M", 1000000, get_many_mica, get_random_raw, 0.7, UNIT_RATIO},
    {"ref_random_1M", 1000000, ref_random_mica, get_random_raw, 1.2, UNIT_RATIO},
    {"has_random_1M", 1000000, has_random_mica, has_random_raw, 0.7, UNIT_RATIO},
    {0},
};
