/* The only chunk of a small archetype grows by copying, so that the archetype stays one view. Nothing but addresses changes. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/snapshot.h"

static reports heard;

static mica_entity add(mica_world *world, uint32_t number)
{
    return mica_create(world, MICA_WITH(Number, {number}), MICA_WITH(Velocity, {(float)number, 0, 0}));
}

static uint32_t count_views(mica_query *query, mica_version since)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);)
        ++count;
    return count;
}

/* Asserts that the rows are the numbers from 0 on, in order. */
static void expect_numbers(mica_query *query, uint32_t count)
{
    uint32_t next = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const Number *numbers = mica_view_read(&view, Number);
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert_uint_eq(numbers[i].value, next++);
    }
    ck_assert_uint_eq(next, count);
}

START_TEST(a_small_archetype_stays_one_view)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_entity first = add(world, 0);
    for (uint32_t count = 1; count < 8000; ++count) {
        add(world, count);
        if ((count & (count - 1)) == 0) {
            ck_assert_uint_eq(count_views(query, 0), 1);
            expect_valid(world);
        }
    }
    expect_numbers(query, 8000);
    ck_assert_uint_eq(mica_get(world, first, Number)->value, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_large_archetype_gets_further_chunks)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (uint32_t i = 0; i < 60000; ++i)
        add(world, i);
    ck_assert_uint_ge(count_views(query, 0), 2);
    ck_assert_uint_le(count_views(query, 0), 4);
    expect_numbers(query, 60000);
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_that_are_copied_do_not_count_as_changed)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_CHANGED(Number)));
    mica_entity first = add(world, 0);
    for (uint32_t i = 1; i < 3 * MICA_SLICE_ROWS; ++i)
        add(world, i);
    mica_version mark = mica_world_mark(world);
    const Number *before = mica_get(world, first, Number);
    uint32_t added = 0;
    for (; mica_get(world, first, Number) == before; ++added)
        add(world, 0);
    uint32_t changed = 0;
    for (mica_view view = mica_query_begin_since(query, mark); mica_view_next(&view);)
        changed += view.count;
    ck_assert_uint_ge(changed, added);
    ck_assert_uint_lt(changed, added + MICA_SLICE_ROWS);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_value_can_be_copied_from_the_chunk_that_is_outgrown)
{
    mica_world *world = open_world(&heard);
    mica_entity source = add(world, 7);
    for (uint32_t i = 0; i < 5000; ++i) {
        const Number *number = mica_get(world, source, Number);
        const Velocity *velocity = mica_get(world, source, Velocity);
        mica_value values[] = {{MICA_ID(Number), sizeof *number, number},
                               {MICA_ID(Velocity), sizeof *velocity, velocity}};
        mica_entity copy = mica_create_id(world, values, 2);
        ck_assert_uint_eq(mica_get(world, copy, Number)->value, 7);
        ck_assert(mica_get(world, copy, Velocity)->x == 7);
        ck_assert_uint_eq(mica_get(world, mica_clone(world, copy), Number)->value, 7);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(trim_moves_the_rest_into_a_small_chunk)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    static mica_entity entities[8000];
    for (uint32_t i = 0; i < 8000; ++i)
        entities[i] = add(world, i);
    for (uint32_t i = 8000; i-- > 10;)
        mica_destroy(world, entities[i]);
    ck_assert_uint_gt(mica_world_get_stats(world).chunk_bytes, 128 << 10);
    uint64_t hash = mica_world_hash(world);
    mica_world_trim(world);
    ck_assert_uint_le(mica_world_get_stats(world).chunk_bytes, 2 << 10);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    expect_numbers(query, 10);
    close_world(world, &heard);
}
END_TEST

/* Snapshots before, between and after growth, restored in any order, with writes and deaths in between. */
START_TEST(snapshots_bring_back_the_chunks_they_had)
{
    enum { SNAPSHOTS = 4, STEPS = 300 };
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Number)));
    random_source random = {11};
    uint64_t hashes[SNAPSHOTS] = {0};
    uint32_t views[SNAPSHOTS] = {0};
    mica_snapshot snapshots[SNAPSHOTS] = {{0}};
    for (uint32_t step = 0; step < STEPS; ++step) {
        uint32_t which = random_below(&random, SNAPSHOTS);
        switch (random_below(&random, 6)) {
        case 0:
            mica_snapshot_drop(world, snapshots[which]);
            snapshots[which] = mica_snapshot_take(world);
            hashes[which] = mica_world_hash(world);
            views[which] = count_views(query, 0);
            break;
        case 1:
            if (!hashes[which])
                break;
            ck_assert_int_eq(mica_snapshot_restore(world, snapshots[which]), MICA_OK);
            ck_assert_uint_eq(mica_world_hash(world), hashes[which]);
            ck_assert_uint_eq(count_views(query, 0), views[which]);
            break;
        case 2:
            for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
                mica_view_write(&view, Number)[view.count / 2].value += 1;
            break;
        case 3:
            for (uint32_t i = 0; i < 400; ++i)
                mica_destroy(world, mica_query_first(query));
            forget_reports(&heard);
            break;
        case 4: mica_world_trim(world); break;
        default:
            for (uint32_t i = 0; i < 700; ++i)
                add(world, i);
        }
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(chunk_growth, a_small_archetype_stays_one_view, a_large_archetype_gets_further_chunks,
           rows_that_are_copied_do_not_count_as_changed, a_value_can_be_copied_from_the_chunk_that_is_outgrown,
           trim_moves_the_rest_into_a_small_chunk, snapshots_bring_back_the_chunks_they_had)
