/* Creating and destroying, on fresh memory and on memory that has been touched before. */
#include "bench.h"
#include "components.h"
#include "kernel.h"
#include "population.h"
#include "raw.h"

#include <stdlib.h>

static void fill_mica(mica_world *world, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        mica_create(world, MICA_WITH(Position, {position.x, position.y, position.z}),
                    MICA_WITH(Velocity, {velocity.x, velocity.y, velocity.z}));
    }
}

static double create_each_mica(mica_world *world, uint32_t n)
{
    double start = now_ns();
    fill_mica(world, n);
    return (now_ns() - start) / n;
}

static void fill_raw(raw_world *world, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t row = raw_create(world);
        world->position[row] = position_of(i);
        world->velocity[row] = velocity_of(i);
    }
}

static double create_each_raw(raw_world *world, uint32_t n)
{
    double start = now_ns();
    fill_raw(world, n);
    return (now_ns() - start) / n;
}

static measurement create_2_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    double time = create_each_mica(world, n);
    return finish_mica(world, time);
}

static measurement create_2_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    double time = create_each_raw(&world, n);
    return finish_raw(&world, time);
}

/* Most of the lead of create_2 is huge pages; this is what is left with the same pages. */
static measurement create_2_huge_pages_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    world.on_huge_pages = true;
    double time = create_each_raw(&world, n);
    return finish_raw(&world, time);
}

static measurement create_2_warm_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    create_each_mica(world, n);
    mica_world_clear(world);
    double time = create_each_mica(world, n);
    return finish_mica(world, time);
}

static measurement create_2_warm_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    create_each_raw(&world, n);
    raw_world_clear(&world);
    double time = create_each_raw(&world, n);
    return finish_raw(&world, time);
}

/* What bulk creation copies from, and where the ids go; all of it has been touched. */
typedef struct columns {
    Position *position;
    Velocity *velocity;
    void *ids;
} columns;

static columns columns_make(uint32_t n)
{
    columns columns = {
        allocate_or_exit(n * sizeof(Position)),
        allocate_or_exit(n * sizeof(Velocity)),
        allocate_or_exit(n * sizeof(uint64_t)),
    };
    for (uint32_t i = 0; i < n; ++i) {
        columns.position[i] = position_of(i);
        columns.velocity[i] = velocity_of(i);
    }
    memset(columns.ids, 0, n * sizeof(uint64_t));
    return columns;
}

static void columns_free(columns *columns)
{
    free(columns->position);
    free(columns->velocity);
    free(columns->ids);
}

static double create_many_mica(mica_world *world, const columns *columns, uint32_t n)
{
    double start = now_ns();
    const mica_value values[] = {MICA_COLUMN(Position, columns->position), MICA_COLUMN(Velocity, columns->velocity)};
    mica_create_many(world, n, values, 2, columns->ids);
    return (now_ns() - start) / n;
}

static double create_many_raw(raw_world *world, const columns *columns, uint32_t n)
{
    double start = now_ns();
    raw_create_many(world, n, columns->position, columns->velocity, columns->ids);
    return (now_ns() - start) / n;
}

static measurement create_bulk_2_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    columns columns = columns_make(n);
    double time = create_many_mica(world, &columns, n);
    columns_free(&columns);
    return finish_mica(world, time);
}

static measurement create_bulk_2_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    columns columns = columns_make(n);
    double time = create_many_raw(&world, &columns, n);
    columns_free(&columns);
    return finish_raw(&world, time);
}

static measurement create_bulk_2_warm_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    columns columns = columns_make(n);
    create_many_mica(world, &columns, n);
    mica_world_clear(world);
    double time = create_many_mica(world, &columns, n);
    columns_free(&columns);
    return finish_mica(world, time);
}

static measurement create_bulk_2_warm_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    columns columns = columns_make(n);
    create_many_raw(&world, &columns, n);
    raw_world_clear(&world);
    double time = create_many_raw(&world, &columns, n);
    columns_free(&columns);
    return finish_raw(&world, time);
}

static measurement destroy_in_order_of_mica(uint32_t n, const uint32_t *order)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = populate_mica(world, n, order);
    uint64_t destroyed = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        destroyed += mica_destroy(world, ids[i]);
    double time = (now_ns() - start) / n;
    free(ids);
    mica_world_destroy(world);
    return (measurement){time, destroyed};
}

static measurement destroy_in_order_of_raw(uint32_t n, const uint32_t *order)
{
    raw_world world = raw_world_make();
    raw_id *ids = populate_raw(&world, n, order);
    uint64_t destroyed = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i)
        destroyed += raw_destroy(&world, ids[i]);
    double time = (now_ns() - start) / n;
    free(ids);
    raw_world_free(&world);
    return (measurement){time, destroyed};
}

static measurement destroy_order_mica(uint32_t n)
{
    return destroy_in_order_of_mica(n, NULL);
}

static measurement destroy_order_raw(uint32_t n)
{
    return destroy_in_order_of_raw(n, NULL);
}

static measurement destroy_random_mica(uint32_t n)
{
    uint32_t *order = shuffled(n);
    measurement result = destroy_in_order_of_mica(n, order);
    free(order);
    return result;
}

static measurement destroy_random_raw(uint32_t n)
{
    uint32_t *order = shuffled(n);
    measurement result = destroy_in_order_of_raw(n, order);
    free(order);
    return result;
}

static void count_one_mica(const mica_event *event)
{
    void *context = event->context;
    *(uint64_t *)context += event->count;
}

static void count_one_raw(raw_world *world, raw_id id, void *context)
{
    (void)world;
    (void)id;
    *(uint64_t *)context += 1;
}

static measurement onadd_hook_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    uint64_t added = 0;
    mica_hook_set(world, Position, MICA_EVENT_ADD, count_one_mica, &added);
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        mica_create(world, MICA_WITH(Position, {position.x, position.y, position.z}));
    }
    double time = (now_ns() - start) / n;
    mica_world_destroy(world);
    return (measurement){time, added};
}

static measurement onadd_hook_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    uint64_t added = 0;
    world.on_add = count_one_raw;
    world.on_add_context = &added;
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        raw_create_position(&world, position.x, position.y, position.z);
    }
    double time = (now_ns() - start) / n;
    raw_world_free(&world);
    return (measurement){time, added};
}

enum { SMALL_WORLDS = 500 };

/* A world from its creation to its end, with n entities; the time is that of one world. */
static measurement worlds_small_mica(uint32_t n)
{
    uint64_t rows = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < SMALL_WORLDS; ++i) {
        mica_world *world = mica_world_create(NULL);
        fill_mica(world, n);
        rows += mica_world_get_stats(world).entity_count;
        mica_world_destroy(world);
    }
    return (measurement){(now_ns() - start) / SMALL_WORLDS, rows};
}

static measurement worlds_small_raw(uint32_t n)
{
    uint64_t rows = 0;
    double start = now_ns();
    for (uint32_t i = 0; i < SMALL_WORLDS; ++i) {
        raw_world world = raw_world_make();
        fill_raw(&world, n);
        rows += world.count;
        raw_world_free(&world);
    }
    return (measurement){(now_ns() - start) / SMALL_WORLDS, rows};
}

const workload create_workloads[] = {
    {"create_2", 1000000, create_2_mica, create_2_raw, 0.7, UNIT_RATIO},
    {"create_2_huge_pages", 1000000, create_2_mica, create_2_huge_pages_raw, 1.9, UNIT_RATIO},
    {"create_bulk_2", 1000000, create_bulk_2_mica, create_bulk_2_raw, 0.35, UNIT_RATIO},
    {"create_2_warm", 1000000, create_2_warm_mica, create_2_warm_raw, 2.4, UNIT_RATIO},
    {"create_bulk_2_warm", 1000000, create_bulk_2_warm_mica, create_bulk_2_warm_raw, 1.5, UNIT_RATIO},
    {"destroy_order", 1000000, destroy_order_mica, destroy_order_raw, 2.0, UNIT_RATIO},
    {"destroy_random", 1000000, destroy_random_mica, destroy_random_raw, 1.3, UNIT_RATIO},
    {"onadd_hook", 1000000, onadd_hook_mica, onadd_hook_raw, 1.1, UNIT_RATIO},
    {"worlds_small", 100, worlds_small_mica, worlds_small_raw, 8.0, UNIT_RATIO},
    {0},
};
