/* The inline look-ups find the same as the functions of the library, whatever the storage. */
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdlib.h>

static reports heard;

typedef struct Spread { float x, y; } Spread;
typedef struct Mapped { float value; } Mapped;
typedef struct Direct { float value; } Direct;
typedef struct Hashed { float value; } Hashed;
typedef struct Lazy { float value; } Lazy;
typedef struct Parted { float x, y; } Parted;
typedef struct Unused { float value; } Unused;
MICA_COMPONENT_WITH(Spread, (.split = true), x, y)
MICA_POOL(Mapped, value)
MICA_POOL_WITH(Direct, (.index = MICA_INDEX_DIRECT), value)
MICA_POOL_WITH(Hashed, (.index = MICA_INDEX_HASH), value)
MICA_POOL_WITH(Lazy, (.dying = MICA_DYING_LAZILY), value)
MICA_POOL_WITH(Parted, (.split = true), x, y)
MICA_POOL_TAG(Marked)
MICA_COMPONENT(Unused, value)

#define EXPECT_SAME(world, entity, T)                                                                                  \
    do {                                                                                                               \
        ck_assert_ptr_eq(mica_get(world, entity, T), mica_get_id(world, entity, MICA_ID(T)));                          \
        ck_assert_ptr_eq(mica_write(world, entity, T), mica_write_id(world, entity, MICA_ID(T)));                      \
        ck_assert(mica_has(world, entity, T) == mica_has_id(world, entity, MICA_ID(T)));                               \
    } while (0)

static void expect_same(mica_world *world, mica_entity entity)
{
    for (uint32_t round = 0; round < 2; ++round) {
        EXPECT_SAME(world, entity, Position);
        EXPECT_SAME(world, entity, Letter);
        EXPECT_SAME(world, entity, Health);
        EXPECT_SAME(world, entity, Visible);
        EXPECT_SAME(world, entity, Frozen);
        EXPECT_SAME(world, entity, Spread);
        EXPECT_SAME(world, entity, Mapped);
        EXPECT_SAME(world, entity, Direct);
        EXPECT_SAME(world, entity, Hashed);
        EXPECT_SAME(world, entity, Lazy);
        EXPECT_SAME(world, entity, Parted);
        EXPECT_SAME(world, entity, Marked);
        EXPECT_SAME(world, entity, Unused);
    }
}

START_TEST(inline_look_ups_find_what_the_functions_find)
{
    mica_world *world = open_world(&heard);
    mica_entity empty = mica_create(world);
    expect_same(world, empty);
    mica_entity chunked =
        mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Letter, {'x'}), MICA_WITH(Health),
                    MICA_WITH(Visible), MICA_WITH(Frozen), MICA_WITH(Spread, {4, 5}));
    mica_entity pooled = mica_create(world, MICA_WITH(Mapped, {1}), MICA_WITH(Direct, {2}), MICA_WITH(Hashed, {3}),
                                     MICA_WITH(Lazy, {4}), MICA_WITH(Parted, {5, 6}), MICA_WITH(Marked));
    mica_entity gone = mica_create(world, MICA_WITH(Position), MICA_WITH(Mapped), MICA_WITH(Direct), MICA_WITH(Lazy));
    mica_destroy(world, gone);
    mica_disable(world, chunked, Health);
    mica_defer(world);
    mica_entity pending = mica_create(world, MICA_WITH(Position), MICA_WITH(Frozen), MICA_WITH(Direct));
    const mica_entity cases[] = {empty,
                                 chunked,
                                 pooled,
                                 gone,
                                 pending,
                                 mica_nil(),
                                 {chunked.index, chunked.generation + (1u << 24)},
                                 {pooled.index, pooled.generation + (1u << 24)},
                                 {UINT32_MAX, 1},
                                 {100000, 0}};
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
        expect_same(world, cases[i]);
    ck_assert(mica_has(world, chunked, Health) && mica_has(world, chunked, Frozen) && mica_has(world, chunked, Spread));
    ck_assert(mica_get(world, pooled, Direct)->value == 2 && mica_get(world, pooled, Mapped)->value == 1);
    ck_assert(!mica_has(world, gone, Position) && !mica_has(world, pending, Position));
    mica_flush(world);
    ck_assert(mica_has(world, pending, Position) && mica_has(world, pending, Direct));
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(several_components_are_looked_up_at_once)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Mapped, {4}));
    const Position *position = NULL;
    const Mapped *mapped = NULL;
    const Mass *mass = &(const Mass){0};
    ck_assert_uint_eq(mica_get_several(world, entity, MICA_INTO(Position, &position), MICA_INTO(Mapped, &mapped),
                                       MICA_INTO(Mass, &mass)),
                      2);
    ck_assert(position == mica_get(world, entity, Position) && mapped == mica_get(world, entity, Mapped));
    ck_assert_ptr_null(mass);
    mica_destroy(world, entity);
    ck_assert_uint_eq(mica_get_several(world, entity, MICA_INTO(Position, &position)), 0);
    ck_assert_ptr_null(position);
    close_world(world, &heard);
}
END_TEST

static uint32_t rows_since(mica_query *query, mica_version mark)
{
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin_since(query, mark); mica_view_next(&view);)
        rows += view.count;
    return rows;
}

/* Writes are seen by queries for changes, and not by snapshots. */
START_TEST(inline_writes_stamp_and_are_undone)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[1200];
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Letter, {'a'}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_CHANGED(Number)));
    for (uint32_t round = 0; round < 3; ++round) {
        mica_snapshot snapshot = mica_snapshot_take(world);
        mica_version mark = mica_world_mark(world);
        ck_assert_uint_eq(rows_since(query, mark), 0);
        mica_write(world, entities[600], Number)->value = 7;
        mica_write(world, entities[601], Number)->value = 8;
        ck_assert_uint_eq(rows_since(query, mark), MICA_SLICE_ROWS);
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        ck_assert_uint_eq(mica_get(world, entities[600], Number)->value, 600);
        ck_assert_uint_eq(mica_get(world, entities[601], Number)->value, 601);
        mica_write(world, entities[600], Number)->value = 9;
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        ck_assert_uint_eq(mica_get(world, entities[600], Number)->value, 600);
        mica_snapshot_drop(world, snapshot);
    }
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

/* The column table has a limit, beyond which components have no list. */
START_TEST(look_ups_work_in_more_chunks_than_the_column_table_holds)
{
    enum { MANY = 40000 };
    mica_world_def def = mica_world_def_default();
    def.chunk_bytes_first = def.chunk_bytes_last = 512;
    mica_world *world = open_world_with(&heard, def);
    mica_entity *entities = calloc(MANY, sizeof *entities);
    for (uint32_t i = 0; i < MANY; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position), MICA_WITH(Velocity),
                                  MICA_WITH(Mass), MICA_WITH(Health), MICA_WITH(Letter), MICA_WITH(Color),
                                  MICA_WITH(Frozen), MICA_WITH(Enemy), MICA_WITH(Player));
    for (uint32_t i = 0; i < MANY; i += 7) {
        ck_assert_uint_eq(mica_get(world, entities[i], Number)->value, i);
        ck_assert(mica_has(world, entities[i], Player) && mica_has(world, entities[i], Color));
        EXPECT_SAME(world, entities[i], Position);
        EXPECT_SAME(world, entities[i], Color);
        EXPECT_SAME(world, entities[i], Age);
        EXPECT_SAME(world, entities[i], Player);
    }
    expect_valid(world);
    for (uint32_t i = 0; i < MANY - 10; ++i)
        mica_destroy(world, entities[i]);
    mica_set(world, entities[MANY - 1], Age, {1});
    EXPECT_SAME(world, entities[MANY - 1], Age);
    EXPECT_SAME(world, entities[MANY - 1], Player);
    free(entities);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_ref_survives_changes_elsewhere)
{
    mica_world *world = open_world(&heard), *other = mica_world_create(NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {5})), pool = mica_create(world, MICA_WITH(Mapped, {1}));
    mica_entity same = mica_create(other, MICA_WITH(Number, {6}));
    mica_ref ref = mica_ref_of(entity, Number), burning = mica_ref_of(pool, Mapped);
    for (uint32_t i = 0; i < 5; ++i) {
        ck_assert_ptr_eq(mica_ref_read(world, &ref, Number), mica_get(world, entity, Number));
        ck_assert_ptr_eq(mica_ref_read_id(world, &ref), mica_get(world, entity, Number));
        ck_assert_ptr_eq(mica_ref_read(world, &burning, Mapped), mica_get(world, pool, Mapped));
        mica_create(world, MICA_WITH(Position), MICA_WITH(Mapped));
    }
    ck_assert(mica_same(same, entity));
    ck_assert_ptr_eq(mica_ref_read(other, &ref, Number), mica_get(other, same, Number));
    ck_assert_ptr_eq(mica_ref_read(world, &ref, Number), mica_get(world, entity, Number));
    mica_world_destroy(other);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(lookup, inline_look_ups_find_what_the_functions_find, several_components_are_looked_up_at_once,
           inline_writes_stamp_and_are_undone, look_ups_work_in_more_chunks_than_the_column_table_holds,
           a_ref_survives_changes_elsewhere)
