/* Systems with few rows run with views that were prepared with the plan. They do what they would do without that: the same systems also
 * run with statistics on, which takes the general path. */
#include "mica/flow.h"
#include "mica/snapshot.h"
#include "mica/stats.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

static reports heard;

typedef struct Heat { float value; } Heat;
typedef struct Charge { float value; } Charge;
MICA_POOL(Heat, value)
MICA_POOL(Charge, value)

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    for (uint32_t i = 0; i < view->count; ++i)
        position[i].x += 1;
}

static void drift(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i)
        position[i].y += velocity[i].x;
}

static void age(uint32_t count, void *const *columns)
{
    Number *numbers = columns[0];
    for (uint32_t i = 0; i < count; ++i)
        numbers[i].value += 1;
}

static void weigh(mica_entity entity, void *const *columns, void *context)
{
    (void)entity;
    (void)context;
    ((Mass *)columns[0])->value += 2;
}

static void cool(mica_view *view)
{
    Heat *heat = mica_view_write(view, Heat);
    for (uint32_t i = 0; i < view->count; ++i)
        heat[i].value -= 1;
}

static void discharge(mica_view *view)
{
    Heat *heat = mica_view_write(view, Heat);
    const Charge *charge = mica_view_read(view, Charge);
    for (uint32_t i = 0; i < view->count; ++i)
        heat[i].value += charge[i].value;
}

static void warm_up(mica_view *view)
{
    Heat *heat = mica_view_write(view, Heat);
    const Position *position = mica_view_read(view, Position);
    for (uint32_t i = 0; i < view->count; ++i)
        heat[i].value += position[i].x;
}

static void glow(uint32_t count, void *const *columns)
{
    Heat *heat = columns[0];
    const Charge *charge = columns[1];
    for (uint32_t i = 0; i < count; ++i)
        heat[i].value += 2 * charge[i].value;
}

enum { MANY = 700 }; /* rows of two slices */

/* Some entities whose rows lie in one order in their chunk, and in others in their pools. */
static void populate(mica_world *world, uint32_t count)
{
    static mica_entity entities[MANY];
    for (uint32_t i = 0; i < count; ++i)
        entities[i] =
            mica_create(world, MICA_WITH(Position, {(float)i, 0, 0}), MICA_WITH(Number, {i}), MICA_WITH(Mass, {1}));
    for (uint32_t i = count; i-- > 0;)
        mica_set(world, entities[i], Heat, {(float)i});
    for (uint32_t i = 0; i < count; i += 2)
        mica_set(world, entities[i], Charge, {10});
}

static uint64_t play(bool with_statistics, uint32_t count)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    mica_flow_configure(world, &def);
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position)));
    mica_system_add(world,
                    MICA_SYSTEM(drift, MICA_WRITE(Position), MICA_READ(Velocity))); /* no entity has a Velocity */
    mica_system_add(world, MICA_SYSTEM(age, MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM(weigh, MICA_WRITE(Mass)));
    mica_system_add(world, MICA_SYSTEM(cool, MICA_WRITE(Heat)));
    mica_system_add(world, MICA_SYSTEM(discharge, MICA_WRITE(Heat), MICA_READ(Charge)));
    mica_system_add(world, MICA_SYSTEM(glow, MICA_WRITE(Heat), MICA_READ(Charge)));
    mica_system_add(world, MICA_SYSTEM(warm_up, MICA_WRITE(Heat), MICA_READ(Position)));
    populate(world, count);
    if (with_statistics)
        ck_assert_int_eq(mica_stats_enable(world, 4), MICA_OK);
    for (uint32_t frame = 0; frame < 5; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    mica_create(world, MICA_WITH(Position, {100, 0, 0})); /* views are prepared again */
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(prepared_views_change_nothing)
{
    for (uint32_t count = 0; count <= 8; ++count)
        ck_assert_msg(play(false, count) == play(true, count), "%u entities", count);
    ck_assert_msg(play(false, MANY) == play(true, MANY), "rows of several slices");
}
END_TEST

/* Records the slice, which does not depend on how rows are shown. */
static void note_slice(mica_view *view)
{
    const Mass *mass = mica_view_read_at(view, 0);
    mica_set(view->world, view->entities[0], Number, {(uint32_t)(view->slice >> 32) + (uint32_t)view->slice});
    mica_set(view->world, view->entities[view->count - 1], Mass, {mass[view->count - 1].value + 1});
}

static void tick(mica_view *view)
{
    Number *numbers = mica_view_write_at(view, 1);
    const Clock *clock = mica_view_read_at(view, 0);
    for (uint32_t i = 0; i < view->count; ++i)
        numbers[i].value += clock->ticks;
}

static void maybe_move(uint32_t count, void *const *columns)
{
    Position *position = columns[1];
    for (uint32_t i = 0; position && i < count; ++i)
        position[i].z += 1;
}

/* Systems over many archetypes, with `rows` entities each; two of them share a chain. */
static uint64_t play_archetypes(bool with_statistics, uint32_t workers, uint32_t rows)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    mica_flow_configure(world, &def);
    mica_singleton_write(world, Clock)->ticks = 3;
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position)));
    mica_system_add(world, MICA_SYSTEM(drift, MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_system_add(world, MICA_SYSTEM(tick, MICA_READ(Clock), MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM(age, MICA_WRITE(Number)));
    mica_system_add(world, MICA_SYSTEM(maybe_move, MICA_WRITE(Number), MICA_MAYBE_WRITE(Position)));
    mica_system_add(world, MICA_SYSTEM(weigh, MICA_WRITE(Mass)));
    mica_system_add(world, MICA_SYSTEM(note_slice, MICA_READ(Mass)));
    for (uint32_t i = 0; i < 16 * rows; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}));
        if (i & 1)
            mica_set(world, entity, Position, {0, (float)i, 0});
        if (i & 2)
            mica_set(world, entity, Velocity, {1, 0, 0});
        if (i & 4)
            mica_set(world, entity, Mass, {1});
        if (i & 8)
            mica_add(world, entity, Frozen);
    }
    if (with_statistics)
        ck_assert_int_eq(mica_stats_enable(world, 4), MICA_OK);
    for (uint32_t frame = 0; frame < 6; ++frame) {
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        if (frame == 3)
            mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Enemy));
    }
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(whole_chunks_change_nothing)
{
    const uint32_t rows[] = {0, 1, 3, 600};
    for (uint32_t i = 0; i < COUNT_OF(rows); ++i) {
        uint64_t hash = play_archetypes(true, 1, rows[i]);
        ck_assert_msg(play_archetypes(false, 1, rows[i]) == hash, "%u rows", rows[i]);
        ck_assert_msg(play_archetypes(false, 3, rows[i]) == hash, "%u rows on three workers", rows[i]);
    }
}
END_TEST

typedef struct Spin { float value; } Spin;
typedef struct Spark { float value; } Spark;
typedef struct Blink { float value; } Blink;
MICA_POOL_WITH(Spin, (.index = MICA_INDEX_DIRECT), value)
MICA_POOL_WITH(Spark, (.index = MICA_INDEX_HASH), value)
MICA_POOL_WITH(Blink, (.toggle = true), value)
MICA_POOL_TAG(Marked)

/* Records an entity with the number of the rows, so that the order of recorded changes and their handles matter. */
static void turn(mica_view *view)
{
    Spin *spin = mica_view_write(view, Spin);
    for (uint32_t i = 0; i < view->count; ++i)
        spin[i].value += 1;
    mica_create(view->world, MICA_WITH(Number, {(uint32_t)(view->slice + view->count)}));
}

static void turn_heavy(mica_view *view)
{
    turn(view);
}

static void flash(uint32_t count, void *const *columns)
{
    Spark *spark = columns[0];
    const Spin *spin = columns[1];
    for (uint32_t i = 0; i < count; ++i)
        spark[i].value += spin[i].value;
}

static void blink(mica_view *view)
{
    Blink *blinks = mica_view_write(view, Blink);
    for (uint32_t i = 0; i < view->count; ++i) {
        blinks[i].value += 1;
        mica_disable(view->world, view->entities[i], Blink);
    }
}

static void count_marked(mica_view *view)
{
    mica_create(view->world, MICA_WITH(Number, {view->count + view->entities[0].index}));
}

/* `gap` entities are before the first one with rows in pools, and between the others. */
static uint64_t play_pools(bool with_statistics, uint32_t count, uint32_t gap)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    mica_flow_configure(world, &def);
    mica_system_add(world, MICA_SYSTEM(turn, MICA_WRITE(Spin)));
    mica_system_add(world, MICA_SYSTEM(flash, MICA_WRITE(Spark), MICA_READ(Spin)));
    mica_system_add(world, MICA_SYSTEM(blink, MICA_WRITE(Blink)));
    mica_system_add(world, MICA_SYSTEM(count_marked, MICA_HAS(Marked)));
    mica_system_add(world, MICA_SYSTEM(turn_heavy, MICA_WRITE(Spin), MICA_READ(Mass))); /* no entity has a Mass */
    for (uint32_t i = 0; i < count; ++i) {
        mica_create_many(world, gap, NULL, 0, NULL);
        mica_create(world, MICA_WITH(Spin, {1}), MICA_WITH(Spark, {2}), MICA_WITH(Blink, {3}), MICA_WITH(Marked));
    }
    if (with_statistics)
        ck_assert_int_eq(mica_stats_enable(world, 4), MICA_OK);
    for (uint32_t frame = 0; frame < 5; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(prepared_views_of_pools_of_every_kind_change_nothing)
{
    const uint32_t gaps[] = {0, 1, 511, 512, 2047, 2049, 9000};
    for (uint32_t count = 0; count <= 3; ++count)
        for (uint32_t i = 0; i < COUNT_OF(gaps); ++i)
            ck_assert_msg(play_pools(false, count, gaps[i]) == play_pools(true, count, gaps[i]),
                          "%u entities with %u between them", count, gaps[i]);
    ck_assert(play_pools(false, MANY, 0) == play_pools(true, MANY, 0));
}
END_TEST

/* Systems over the rows of a pool, after `before` other entities: rows [before + 1, before + 1 + count) with a direct index. None of
 * the entities matches the system that asks for a second pool. */
static uint64_t play_rows(bool with_statistics, uint32_t before, uint32_t count)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    mica_flow_configure(world, &def);
    mica_system_add(world, MICA_SYSTEM(turn, MICA_WRITE(Spin)));
    mica_system_add(world, MICA_SYSTEM(flash, MICA_WRITE(Spark), MICA_READ(Spin)));
    mica_create_many(world, before, NULL, 0, NULL);
    for (uint32_t i = 0; i < count; ++i)
        mica_create(world, MICA_WITH(Spin, {(float)i}));
    mica_create(world, MICA_WITH(Spark, {1}));
    if (with_statistics)
        ck_assert_int_eq(mica_stats_enable(world, 4), MICA_OK);
    for (uint32_t frame = 0; frame < 3; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(rows_in_two_views_or_jobs_and_rows_that_do_not_match_are_shown_as_before)
{
    const uint32_t befores[] = {0, 511, 2027, 2046, 2047, 4085, 4095, 9000};
    for (uint32_t i = 0; i < COUNT_OF(befores); ++i)
        for (uint32_t count = 1; count <= 41; count += 20)
            ck_assert_msg(play_rows(false, befores[i], count) == play_rows(true, befores[i], count),
                          "%u rows after %u entities", count, befores[i]);
}
END_TEST

static void dim(uint32_t count, void *const *columns)
{
    Heat *heat = columns[0];
    for (uint32_t i = 0; i < count; ++i)
        heat[i].value -= 1;
}

/* A world in which one system writes to a pool with `count` rows. */
static mica_world *open_cooling_world(const mica_system_def *system, uint32_t count)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    mica_flow_configure(world, &def);
    ck_assert(mica_system_add(world, system).id != 0);
    for (uint32_t i = 0; i < count; ++i)
        mica_create(world, MICA_WITH(Heat, {100}));
    for (uint32_t frame = 0; frame < 3; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    return world;
}

static float heat_of_all(mica_world *world)
{
    const Heat *heat = mica_pool_read(mica_pool_of(world, Heat), Heat);
    float sum = 0;
    for (uint32_t i = 0; i < mica_pool_row_count(mica_pool_of(world, Heat)); ++i)
        sum += heat[i].value;
    return sum;
}

START_TEST(writes_of_prepared_views_of_pools_are_seen_and_restored)
{
    const uint32_t counts[] = {1, 5, MANY};
    const mica_system_def *systems[] = {MICA_SYSTEM(cool, MICA_WRITE(Heat)), MICA_SYSTEM(dim, MICA_WRITE(Heat))};
    for (uint32_t i = 0; i < 3; ++i)
        for (uint32_t k = 0; k < 2; ++k) {
            mica_world *world = open_cooling_world(systems[k], counts[i]);
            mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_CHANGED(Heat)));
            for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
                continue;
            ck_assert_uint_eq(mica_query_count(changed), 0);
            mica_snapshot before = mica_snapshot_take(world);
            uint64_t hash = mica_world_hash(world);
            float heat = heat_of_all(world);
            ck_assert_int_eq(mica_step(world, 1), MICA_OK);
            ck_assert_msg(heat_of_all(world) == heat - (float)counts[i], "the system ran");
            ck_assert_msg(mica_query_count(changed) == counts[i], "the rows count as changed");
            ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
            ck_assert_msg(heat_of_all(world) == heat && mica_world_hash(world) == hash, "the values are back");
            mica_query_destroy(changed);
            close_world(world, &heard);
        }
}
END_TEST

TEST_SUITE(prepared_run, prepared_views_change_nothing, whole_chunks_change_nothing,
           prepared_views_of_pools_of_every_kind_change_nothing,
           rows_in_two_views_or_jobs_and_rows_that_do_not_match_are_shown_as_before,
           writes_of_prepared_views_of_pools_are_seen_and_restored)
