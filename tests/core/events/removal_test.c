/* Lists of the entities that lost a component. */
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

typedef struct Health { int32_t points; } Health;
MICA_COMPONENT(Health, points)
MICA_TAG(Marked)

static uint32_t read_all(mica_removals *removals, mica_entity *out, uint32_t capacity)
{
    uint32_t count = 0, taken;
    while ((taken = mica_removals_read(removals, out + count, capacity - count < 2 ? capacity - count : 2)) > 0)
        count += taken;
    return count;
}

START_TEST(removals_are_listed_once_each_in_order)
{
    mica_world *world = mica_world_create(NULL);
    mica_removals *removals = mica_removals_create(world, Health);
    mica_entity a = mica_create(world, MICA_WITH(Health, {1}));
    mica_entity b = mica_create(world, MICA_WITH(Health, {2}));
    mica_entity c = mica_create(world, MICA_WITH(Marked));
    mica_remove(world, b, Health);
    mica_destroy(world, a);
    mica_destroy(world, c); /* never had it */
    mica_set(world, b, Health, {3});
    mica_destroy(world, b);
    mica_entity seen[8];
    ck_assert_uint_eq(read_all(removals, seen, 8), 3);
    ck_assert_msg(mica_same(seen[0], b) && mica_same(seen[1], a) && mica_same(seen[2], b), "in the order it happened");
    ck_assert_uint_eq(mica_removals_read(removals, seen, 8), 0);
    mica_world_destroy(world);
}
END_TEST

START_TEST(recorded_and_bulk_removals_are_listed_too)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity many[1000], seen[2000];
    mica_create_many(world, 1000, (mica_value[]){MICA_WITH(Health)}, 1, many);
    mica_removals *removals = mica_removals_create(world, Health);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(Health)));
    mica_defer(world);
    mica_remove(world, many[0], Health);
    mica_destroy(world, many[1]);
    ck_assert_uint_eq(mica_removals_read(removals, seen, 2000), 0);
    mica_flush(world);
    ck_assert_uint_eq(mica_removals_read(removals, seen, 2000), 2);
    mica_remove_all(query, Health);
    ck_assert_uint_eq(mica_removals_read(removals, seen, 2000), 998);
    mica_create_many(world, 10, (mica_value[]){MICA_WITH(Health)}, 1, NULL);
    mica_destroy_all(query);
    mica_create_many(world, 10, (mica_value[]){MICA_WITH(Health)}, 1, NULL);
    mica_world_clear(world);
    ck_assert_uint_eq(mica_removals_read(removals, seen, 2000), 20);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_world_destroy(world);
}
END_TEST

START_TEST(each_reader_has_a_list_of_its_own)
{
    mica_world *world = mica_world_create(NULL);
    mica_removals *first = mica_removals_create(world, Marked), *second = mica_removals_create(world, Marked);
    mica_entity seen[4], entity = mica_create(world, MICA_WITH(Marked));
    mica_remove(world, entity, Marked);
    ck_assert_uint_eq(mica_removals_read(first, seen, 4), 1);
    mica_removals_destroy(first);
    mica_add(world, entity, Marked);
    mica_remove(world, entity, Marked);
    ck_assert_uint_eq(mica_removals_read(second, seen, 4), 2);
    mica_removals_destroy(second);
    mica_add(world, entity, Marked);
    ck_assert(mica_remove(world, entity, Marked));
    mica_removals_destroy(NULL);
    ck_assert_uint_eq(mica_removals_read(NULL, seen, 4), 0);
    ck_assert_uint_eq(mica_removals_missed(NULL), 0);
    mica_world_destroy(world);
}
END_TEST

START_TEST(removals_that_memory_is_short_for_are_counted_and_reported)
{
    faulty_allocator faulty;
    mica_world_def def = mica_world_def_default();
    faulty_allocator_init(&faulty);
    def.allocator = faulty_allocator_interface(&faulty);
    reports heard;
    mica_world *world = open_world_with(&heard, def);
    mica_entity entity = mica_create(world, MICA_WITH(Health, {1}));
    mica_removals *removals = mica_removals_create(world, Health);
    faulty_allocator_fail_at(&faulty, 1, true);
    ck_assert_msg(mica_destroy(world, entity), "the destruction itself needs no memory");
    faulty_allocator_fail_at(&faulty, 0, false);
    expect_report(&heard, MICA_ERROR_MEMORY, "removals");
    ck_assert_uint_eq(mica_removals_missed(removals), 1);
    ck_assert_uint_eq(mica_removals_missed(removals), 0);
    close_world(world, &heard);
    ck_assert_uint_eq(faulty.live_bytes, 0);
    faulty_allocator_free(&faulty);
}
END_TEST

TEST_SUITE(removal, removals_are_listed_once_each_in_order, recorded_and_bulk_removals_are_listed_too,
           each_reader_has_a_list_of_its_own, removals_that_memory_is_short_for_are_counted_and_reported)
