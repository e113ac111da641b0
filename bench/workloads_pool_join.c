/* Entities whose components are all in pools: creating them, joining pools, and visiting what changed in one. */
#include "bench.h"
#include "components.h"
#include "kernel.h"
#include "raw_pool.h"

typedef Position Where;
typedef Velocity Pace;
typedef Mass Freight;
MICA_POOL(Where, x, y, z)
MICA_POOL(Pace, x, y, z)
MICA_POOL(Freight, value)

static const float seconds = 1.0f / 64;

enum { SWEEPS = 10 };

/* Two thirds of the entities have a Pace and half of them a Freight, added in an order of their own: the pools are not in step. */
static mica_world *pools_mica(uint32_t n, mica_entity **out_ids)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity *ids = allocate_or_exit(n * sizeof *ids);
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        ids[i] = mica_create(world, MICA_FROM(Where, &position));
    }
    for (uint32_t i = n; i-- > 0;) {
        Velocity velocity = velocity_of(i);
        if (i % 3)
            mica_set_from(world, ids[i], Pace, &velocity);
        if (i % 2)
            mica_set(world, ids[i], Freight, {mass_of(i)});
    }
    *out_ids = ids;
    return world;
}

typedef struct raw_pools {
    raw_world world;
    raw_pool where, pace, freight;
} raw_pools;

static raw_pools pools_raw(uint32_t n)
{
    raw_pools pools = {.world = raw_world_make()};
    for (uint32_t i = 0; i < n; ++i)
        *(Position *)raw_pool_add(&pools.where, i, sizeof(Position)) = position_of(i);
    for (uint32_t i = n; i-- > 0;) {
        if (i % 3)
            *(Velocity *)raw_pool_add(&pools.pace, i, sizeof(Velocity)) = velocity_of(i);
        if (i % 2)
            *(Mass *)raw_pool_add(&pools.freight, i, sizeof(Mass)) = (Mass){mass_of(i)};
    }
    return pools;
}

static void free_pools(raw_pools *pools)
{
    raw_world_free(&pools->world);
    raw_pool_free(&pools->where);
    raw_pool_free(&pools->pace);
    raw_pool_free(&pools->freight);
}

static uint64_t sum_of_places(mica_world *world)
{
    const mica_pool *pool = mica_pool_of(world, Where);
    const Position *position = mica_pool_read(pool, Where);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mica_pool_row_count(pool); ++i)
        sum += (uint64_t)bits_of(position[i].x) + bits_of(position[i].y) + bits_of(position[i].z);
    return sum;
}

static uint64_t sum_of_places_raw(const raw_pools *pools)
{
    const Position *position = (const void *)pools->where.values;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pools->where.count; ++i)
        sum += (uint64_t)bits_of(position[i].x) + bits_of(position[i].y) + bits_of(position[i].z);
    return sum;
}

static measurement create_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        Velocity velocity = velocity_of(i);
        mica_create(world, MICA_FROM(Where, &position), MICA_FROM(Pace, &velocity));
    }
    double time = (now_ns() - start) / n;
    uint64_t sum = sum_of_places(world);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement create_raw(uint32_t n)
{
    raw_pools pools = {.world = raw_world_make()};
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t row = raw_create(&pools.world), index = pools.world.owner[row].index;
        *(Position *)raw_pool_add(&pools.where, index, sizeof(Position)) = position_of(i);
        *(Velocity *)raw_pool_add(&pools.pace, index, sizeof(Velocity)) = velocity_of(i);
    }
    double time = (now_ns() - start) / n;
    uint64_t sum = sum_of_places_raw(&pools);
    free_pools(&pools);
    return (measurement){time, sum};
}

/* For each that has both, position moves by velocity. */
static measurement join2_mica(uint32_t n)
{
    mica_entity *ids;
    mica_world *world = pools_mica(n, &ids);
    mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Where), MICA_READ(Pace)));
    require(moving != NULL, "mica_query_create failed");
    double start = 0;
    for (uint32_t sweep = 0; sweep <= SWEEPS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (mica_view view = mica_query_begin(moving); mica_view_next(&view);)
            integrate(mica_view_write_at(&view, 0), mica_view_read_at(&view, 1), view.count, seconds);
    }
    double time = (now_ns() - start) / n / SWEEPS;
    uint64_t sum = sum_of_places(world);
    free(ids);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static void move_by(Position *position, const Velocity *velocity, float time)
{
    position->x += velocity->x * time;
    position->y += velocity->y * time;
    position->z += velocity->z * time;
}

/* The smallest pool leads, the others are looked up. */
static measurement join2_raw(uint32_t n)
{
    raw_pools pools = pools_raw(n);
    double start = 0;
    for (uint32_t sweep = 0; sweep <= SWEEPS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (uint32_t i = pools.pace.count; i-- > 0;) {
            Position *position = raw_pool_get(&pools.where, pools.pace.owner[i], sizeof *position);
            if (position)
                move_by(position, (const Velocity *)(const void *)pools.pace.values + i, seconds);
        }
    }
    double time = (now_ns() - start) / n / SWEEPS;
    uint64_t sum = sum_of_places_raw(&pools);
    free_pools(&pools);
    return (measurement){time, sum};
}

static measurement join3_mica(uint32_t n)
{
    mica_entity *ids;
    mica_world *world = pools_mica(n, &ids);
    mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Where), MICA_READ(Pace), MICA_READ(Freight)));
    require(moving != NULL, "mica_query_create failed");
    double start = 0;
    for (uint32_t sweep = 0; sweep <= SWEEPS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (mica_view view = mica_query_begin(moving); mica_view_next(&view);)
            integrate_heavy(mica_view_write_at(&view, 0), mica_view_read_at(&view, 1), mica_view_read_at(&view, 2),
                            view.count, seconds);
    }
    double time = (now_ns() - start) / n / SWEEPS;
    uint64_t sum = sum_of_places(world);
    free(ids);
    mica_world_destroy(world);
    return (measurement){time, sum};
}

static measurement join3_raw(uint32_t n)
{
    raw_pools pools = pools_raw(n);
    const Mass *freight = (const void *)pools.freight.values;
    double start = 0;
    for (uint32_t sweep = 0; sweep <= SWEEPS; ++sweep) {
        if (sweep == 1)
            start = now_ns();
        for (uint32_t i = pools.freight.count; i-- > 0;) {
            uint32_t index = pools.freight.owner[i];
            Position *position = raw_pool_get(&pools.where, index, sizeof *position);
            const Velocity *velocity = raw_pool_get(&pools.pace, index, sizeof *velocity);
            if (position && velocity)
                move_by(position, velocity, freight[i].value * seconds);
        }
    }
    double time = (now_ns() - start) / n / SWEEPS;
    uint64_t sum = sum_of_places_raw(&pools);
    free_pools(&pools);
    return (measurement){time, sum};
}

enum { ROUNDS = 20, BLOCK_ROWS = 512 };

/* One row in each of one percent of the blocks. */
static uint32_t changed_row(uint32_t n, uint32_t round, uint32_t change)
{
    return (uint32_t)(((uint64_t)change * 100 + round * 7) * BLOCK_ROWS + round) % n;
}

static measurement changed_mica(uint32_t n)
{
    mica_entity *ids;
    mica_world *world = pools_mica(n, &ids);
    for (uint32_t i = 0; i < n; ++i)
        mica_write(world, ids[i], Where)->z = 0;
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_READ(Where), MICA_CHANGED(Where)));
    require(changed != NULL, "mica_query_create failed");
    uint64_t sum = 0;
    double time = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        mica_version since = mica_world_mark(world);
        for (uint32_t i = 0; i < n / BLOCK_ROWS / 100; ++i)
            mica_write(world, ids[changed_row(n, round, i)], Where)->z = (float)(round + i);
        double start = now_ns();
        for (mica_view view = mica_query_begin_since(changed, since); mica_view_next(&view);)
            sum += sum_of_z(mica_view_read_at(&view, 0), view.count);
        time += now_ns() - start;
        for (uint32_t i = 0; i < n / BLOCK_ROWS / 100; ++i)
            mica_write(world, ids[changed_row(n, round, i)], Where)->z = 0;
    }
    free(ids);
    mica_world_destroy(world);
    return (measurement){time / ROUNDS, sum};
}

static measurement changed_raw(uint32_t n)
{
    raw_pools pools = pools_raw(n);
    Position *position = (void *)pools.where.values;
    uint32_t blocks = (n + BLOCK_ROWS - 1) / BLOCK_ROWS;
    uint8_t *dirty = allocate_or_exit(blocks);
    for (uint32_t i = 0; i < n; ++i)
        position[i].z = 0;
    uint64_t sum = 0;
    double time = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        memset(dirty, 0, blocks);
        for (uint32_t i = 0; i < n / BLOCK_ROWS / 100; ++i) {
            uint32_t row = pools.where.row[changed_row(n, round, i)];
            position[row].z = (float)(round + i);
            dirty[row / BLOCK_ROWS] = 1;
        }
        double start = now_ns();
        for (uint32_t block = 0; block < blocks; ++block)
            if (dirty[block])
                sum += sum_of_z(position + block * BLOCK_ROWS,
                                n - block * BLOCK_ROWS < BLOCK_ROWS ? n - block * BLOCK_ROWS : BLOCK_ROWS);
        time += now_ns() - start;
        for (uint32_t i = 0; i < n / BLOCK_ROWS / 100; ++i)
            position[pools.where.row[changed_row(n, round, i)]].z = 0;
    }
    free(dirty);
    free_pools(&pools);
    return (measurement){time / ROUNDS, sum};
}

/* Raw is a sparse set, as EnTT has it: the target is to be no slower. */
const workload pool_join_workloads[] = {
    {"pool_create_2", 1000000, create_mica, create_raw, 1.0, UNIT_RATIO},
    {"pool_join2_1M", 1000000, join2_mica, join2_raw, 1.0, UNIT_RATIO},
    {"pool_join3_1M", 1000000, join3_mica, join3_raw, 1.0, UNIT_RATIO},
    {"pool_changed_1M", 1000000, changed_mica, changed_raw, 2.0, UNIT_RATIO},
    {0},
};
