/* Components in pools, beside entities with Position and Velocity in chunks. */
#include "baselines.h"
#include "bench.h"
#include "components.h"
#include "kernel.h"
#include "population.h"
#include "raw.h"

#include <stdlib.h>

typedef struct Load { float value; } Load;
MICA_POOL(Load, value)
MICA_POOL_TAG(Marked)

typedef Position Place;
typedef Velocity Speed;
typedef Position Spot;
MICA_POOL(Place, x, y, z)
MICA_POOL(Speed, x, y, z)
MICA_POOL_WITH(Spot, (.index = MICA_INDEX_DIRECT), x, y, z)
typedef Position Rare;
MICA_POOL_WITH(Rare, (.index = MICA_INDEX_HASH), x, y, z)

static const float seconds = 1.0f / 64;

static uint64_t load_sum(mica_world *world)
{
    const mica_pool *pool = mica_pool_of(world, Load);
    const Load *load = mica_pool_read(pool, Load);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mica_pool_row_count(pool); ++i)
        sum += bits_of(load[i].value);
    return sum;
}

static measurement pool_add_remove_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        mica_add(world, ids[i], Load)->value = mass_of(i);
    double time = now_ns() - start;
    uint64_t sum = load_sum(world);
    start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        sum += mica_remove(world, ids[i], Load);
    time += now_ns() - start;
    free(ids);
    measurement result = finish_mica(world, time / n);
    result.checksum += sum;
    return result;
}

static measurement pool_add_remove_tag_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        sum += mica_add(world, ids[i], Marked) != NULL;
    for (uint32_t i = 0; i < n; ++i)
        sum += mica_remove(world, ids[i], Marked);
    double time = now_ns() - start;
    free(ids);
    measurement result = finish_mica(world, time / n);
    result.checksum += sum;
    return result;
}

/* By hand, too, membership that can be walked is a packed list with an index. */
static measurement pool_add_remove_tag_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, NULL);
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        sum += raw_add_mass(&world, ids[i]) != NULL;
    for (uint32_t i = 0; i < n; ++i)
        sum += raw_remove_mass(&world, ids[i]);
    double time = now_ns() - start;
    free(ids);
    measurement result = finish_raw(&world, time / n);
    result.checksum += sum;
    return result;
}

static measurement deferred_pool_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, NULL);
    double start = now_ns();
    mica_defer(world);
    for (uint32_t i = 0; i < n; ++i)
        mica_set(world, ids[i], Load, {mass_of(i)});
    mica_flush(world);
    double time = now_ns() - start;
    uint64_t sum = load_sum(world);
    start = now_ns();
    mica_defer(world);
    for (uint32_t i = 0; i < n; ++i)
        mica_remove(world, ids[i], Load);
    mica_flush(world);
    time += now_ns() - start;
    sum += load_sum(world);
    free(ids);
    measurement result = finish_mica(world, time / n);
    result.checksum += sum;
    return result;
}

/* Positions in a pool, found by shuffled ids. */
static measurement get_random_of(uint32_t n, mica_component component)
{
    mica_world *world = mica_world_create(NULL);
    uint32_t *order = shuffled(n);
    mica_entity *ids = allocate_or_exit(n * sizeof *ids), *shuffled_ids = allocate_or_exit(n * sizeof *ids);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        ids[i] = mica_create_id(world, &(mica_value){component, sizeof position, &position}, 1);
    }
    for (uint32_t i = 0; i < n; ++i)
        shuffled_ids[i] = ids[order[i]];
    uint64_t sum = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        const Position *position = mica_get_id(world, shuffled_ids[i], component);
        if (position != NULL)
            sum += bits_of(position->x);
    }
    double time = (now_ns() - start) / n;
    free(order);
    free(ids);
    free(shuffled_ids);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement get_direct_mica(uint32_t n)
{
    return get_random_of(n, MICA_ID(Spot));
}

static measurement get_map_mica(uint32_t n)
{
    return get_random_of(n, MICA_ID(Place));
}

static measurement get_hash_mica(uint32_t n)
{
    return get_random_of(n, MICA_ID(Rare));
}

static measurement iter1_mica(uint32_t n)
{
    enum { SWEEPS = 10 };
    mica_world *world = mica_world_create(NULL);
    for (uint32_t i = 0; i < n; ++i)
        mica_create(world, MICA_WITH(Load, {mass_of(i)}));
    mica_query *loads = mica_query_create(world, MICA_QUERY(MICA_WRITE(Load)));
    double start = 0;
    for (uint32_t sweep = 0; sweep <= SWEEPS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (mica_view view = mica_query_begin(loads); mica_view_next(&view);)
            double_data(mica_view_write_at(&view, 0), view.count);
    }
    double time = (now_ns() - start) / n / SWEEPS;
    uint64_t sum = load_sum(world);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement iter1_raw(uint32_t n)
{
    enum { SWEEPS = 10 };
    Data *data = allocate_or_exit(n * sizeof *data);
    for (uint32_t i = 0; i < n; ++i)
        data[i].value = mass_of(i);
    double start = 0;
    for (uint32_t sweep = 0; sweep <= SWEEPS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        double_data(data, n);
    }
    double time = (now_ns() - start) / n / SWEEPS;
    uint64_t sum = sum_of_data(data, n);
    free(data);
    return (measurement){time, sum};
}

/* A loop over two components, wherever they are, with the checksum of iter2_raw. */
static measurement sweep(mica_world *world, uint32_t n, mica_component position, mica_component velocity)
{
    uint32_t sweeps = 10000000 / n;
    mica_query *moving = mica_query_create(world, MICA_QUERY({.component = position, .access = MICA_ACCESS_WRITE},
                                                             {.component = velocity, .access = MICA_ACCESS_READ}));
    require(moving != NULL, "mica_query_create failed");
    double start = 0;
    for (uint32_t turn = 0; turn <= sweeps; ++turn) {
        if (turn == 1)
            start = now_ns();
        for (mica_view view = mica_query_begin(moving); mica_view_next(&view);)
            integrate(mica_view_write_at(&view, 0), mica_view_read_at(&view, 1), view.count, seconds);
    }
    double time = (now_ns() - start) / n / sweeps;
    uint64_t sum = 0;
    for (mica_view view = mica_query_begin(moving); mica_view_next(&view);)
        sum += sum_of_motion(mica_view_read_at(&view, 0), mica_view_read_at(&view, 1), view.count);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement group_iter2_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    mica_group(world, Place, Speed);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        mica_create(world, MICA_FROM(Place, &position), MICA_FROM(Speed, &velocity));
    }
    return sweep(world, n, MICA_ID(Place), MICA_ID(Speed));
}

/* Position in chunks, and a Speed in a pool for every `step`th entity. */
static measurement mixed_mica(uint32_t n, uint32_t step)
{
    mica_world *world = mica_world_create(NULL);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        mica_entity entity = mica_create(world, MICA_FROM(Position, &position));
        if (i % step == 0)
            mica_set_from(world, entity, Speed, &velocity);
    }
    return sweep(world, n, MICA_ID(Position), MICA_ID(Speed));
}

/* By hand: a packed list of speeds with the row of each owner's position. */
static measurement mixed_raw(uint32_t n, uint32_t step)
{
    uint32_t count = (n + step - 1) / step, sweeps = 10000000 / n;
    Position *position = allocate_or_exit(n * sizeof *position);
    Velocity *velocity = allocate_or_exit(count * sizeof *velocity);
    uint32_t *owner = allocate_or_exit(count * sizeof *owner);
    for (uint32_t i = 0; i < n; ++i)
        position[i] = position_of(i);
    for (uint32_t i = 0; i < count; ++i) {
        owner[i] = i * step;
        velocity[i] = velocity_of(i * step);
    }
    double start = 0;
    for (uint32_t turn = 0; turn <= sweeps; ++turn) {
        if (turn == 1)
            start = now_ns();
        for (uint32_t i = 0; i < count; ++i) {
            Position *where = &position[owner[i]];
            where->x += velocity[i].x * seconds;
            where->y += velocity[i].y * seconds;
            where->z += velocity[i].z * seconds;
        }
    }
    double time = (now_ns() - start) / n / sweeps;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += sum_of_motion(&position[owner[i]], &velocity[i], 1);
    free(position);
    free(velocity);
    free(owner);
    return (measurement){time, sum};
}

static measurement mixed_all_mica(uint32_t n)
{
    return mixed_mica(n, 1);
}

static measurement mixed_all_raw(uint32_t n)
{
    return mixed_raw(n, 1);
}

static measurement mixed_tenth_mica(uint32_t n)
{
    return mixed_mica(n, 10);
}

static measurement mixed_tenth_raw(uint32_t n)
{
    return mixed_raw(n, 10);
}

/* The mixed rows have no target of their own: they are there to be compared with other libraries. */
const workload pool_workloads[] = {
    {"pool_add_remove_100k", 100000, pool_add_remove_mica, add_remove_raw, 1.6, UNIT_RATIO},
    {"pool_add_remove_tag_100k", 100000, pool_add_remove_tag_mica, pool_add_remove_tag_raw, 1.0, UNIT_RATIO},
    {"deferred_pool_100k", 100000, deferred_pool_mica, deferred_add_remove_raw, 2.0, UNIT_RATIO},
    {"pool_get_direct_1M", 1000000, get_direct_mica, get_random_raw, 0.6, UNIT_RATIO},
    {"pool_get_map_1M", 1000000, get_map_mica, get_random_raw, 1.2, UNIT_RATIO},
    {"pool_get_hash_1M", 1000000, get_hash_mica, get_random_raw, 3.0, UNIT_RATIO},
    {"pool_iter1_1M", 1000000, iter1_mica, iter1_raw, 1.03, UNIT_RATIO},
    {"pool_group_iter2_1M", 1000000, group_iter2_mica, iter2_raw, 1.03, UNIT_RATIO},
    {"mixed_iter_all_1M", 1000000, mixed_all_mica, mixed_all_raw, 10, UNIT_RATIO},
    {"mixed_iter_tenth_1M", 1000000, mixed_tenth_mica, mixed_tenth_raw, 10, UNIT_RATIO},
    {0},
};
