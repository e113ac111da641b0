/* Singletons: one value per world, there from its first use on, that never moves. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"

#include <string.h>

static reports heard;

/* A singleton that owns something. */
typedef struct Motto { char *characters; uint32_t length; } Motto;
MICA_COMPONENT_WITH(Motto,
                    (.storage = MICA_STORAGE_SINGLETON, .construct = text_construct, .destruct = text_destruct,
                     .copy = text_copy, .move = text_move),
                    length)

START_TEST(a_singleton_is_zero_at_first_and_never_moves)
{
    mica_world *world = open_world(&heard);
    ck_assert_msg(!mica_singleton_is_used(world, MICA_ID(Clock)), "it was not requested");
    mica_define(world, Clock);
    ck_assert_msg(!mica_singleton_is_used(world, MICA_ID(Clock)), "nor is it used by being known");
    mica_snapshot before = mica_snapshot_take(world);
    mica_singleton_write(world, Clock)->ticks = 3;
    mica_snapshot_restore(world, before);
    ck_assert_msg(!mica_singleton_is_used(world, MICA_ID(Clock)), "before, it was not used");
    mica_snapshot_drop(world, before);
    const Clock *clock = mica_singleton_get(world, Clock);
    ck_assert_msg(mica_singleton_is_used(world, MICA_ID(Clock)), "now it was requested");
    ck_assert_msg(clock && clock->seconds == 0 && clock->ticks == 0, "zero at first");
    mica_singleton_write(world, Clock)->ticks = 5;
    ck_assert_msg(clock->ticks == 5, "what is written is seen");
    for (uint32_t i = 0; i < 10000; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position));
    mica_world_trim(world);
    ck_assert_msg(mica_singleton_get(world, Clock) == clock && clock->ticks == 5, "it is where it was");
    close_world(world, &heard);
}
END_TEST

START_TEST(each_world_has_its_own_singleton)
{
    reports heard_by_other;
    mica_world *world = open_world(&heard), *other = open_world(&heard_by_other);
    mica_singleton_write(world, Clock)->ticks = 1;
    mica_singleton_write(other, Clock)->ticks = 2;
    ck_assert_msg(mica_singleton_get(world, Clock)->ticks == 1 && mica_singleton_get(other, Clock)->ticks == 2,
                  "they share nothing");
    close_world(other, &heard_by_other);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_singleton_is_constructed_and_destructed)
{
    mica_world *world = open_world(&heard);
    ck_assert_msg(texts_alive == 0, "nothing is made before its first use");
    ck_assert_str_eq(mica_singleton_get(world, Motto)->characters, "");
    mica_singleton_write(world, Motto);
    ck_assert_msg(texts_alive == 1, "it is made once");
    close_world(world, &heard);
    ck_assert_msg(texts_alive == 0, "and goes with its world");
}
END_TEST

START_TEST(a_query_reads_and_writes_a_singleton_as_one_value)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 300; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_singleton_write(world, Clock)->ticks = 3;
    mica_query *reader = mica_query_create(world, MICA_QUERY(MICA_WRITE(Number), MICA_READ(Clock)));
    mica_query *writer = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_WRITE(Clock)));
    uint32_t rows = 0;
    for (mica_view view = mica_query_begin(reader); mica_view_next(&view); rows += view.count)
        ck_assert_msg(mica_view_read(&view, Clock) == mica_singleton_get(world, Clock), "the column is the one value");
    ck_assert_msg(rows == 300 && mica_query_count(reader) == 300, "and excludes no entity: %u", rows);
    for (mica_view view = mica_query_begin(writer); mica_view_next(&view);)
        mica_view_write(&view, Clock)->ticks += view.count;
    ck_assert_msg(mica_singleton_get(world, Clock)->ticks == 303, "it can be written");
    close_world(world, &heard);
}
END_TEST

START_TEST(what_is_no_singleton_is_refused_as_one)
{
    mica_world *world = open_world(&heard);
    ck_assert_msg(mica_singleton_get(world, Position) == NULL, "Position is none");
    expect_report(&heard, MICA_ERROR_INVALID, "Position");
    ck_assert_msg(mica_singleton_write_id(world, MICA_ID(Frozen)) == NULL, "a tag is none");
    expect_report(&heard, MICA_ERROR_INVALID, "Frozen");
    ck_assert_msg(mica_singleton_get_id(world, 60000) == NULL, "nor is an unknown component");
    expect_report(&heard, MICA_ERROR_UNKNOWN, "");
    close_world(world, &heard);
}
END_TEST

static bool can_be_made;

static bool make_or_not(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
    return can_be_made;
}

START_TEST(a_singleton_that_can_not_be_made_is_made_later)
{
    mica_world *world = open_world(&heard);
    mica_type type = {.name = "Fragile", .storage = MICA_STORAGE_SINGLETON, .kind = MICA_KIND_STRUCT};
    type.size_bytes = type.alignment = 4;
    type.construct = make_or_not;
    mica_component fragile = mica_component_define(world, &type);
    uint64_t before = mica_world_hash(world);
    ck_assert_ptr_null(mica_singleton_get_id(world, fragile));
    expect_report(&heard, MICA_ERROR_MEMORY, "Fragile");
    const mica_term terms[] = {MICA_READ(Clock), {.component = fragile, .access = MICA_ACCESS_READ}};
    ck_assert_ptr_null(mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 2}));
    ck_assert_msg(forget_reports(&heard) && mica_world_hash(world) == before, "nor is the other one there");
    can_be_made = true;
    ck_assert_ptr_nonnull(mica_singleton_get_id(world, fragile));
    ck_assert_ptr_nonnull(mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 2}));
    ck_assert(mica_world_hash(world) != before);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_singleton_is_no_component_of_an_entity)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    uint64_t before = mica_world_hash(world);
    ck_assert_msg(mica_add(world, entity, Clock) == NULL, "it is not added");
    expect_report(&heard, MICA_ERROR_INVALID, "Clock");
    ck_assert_msg(!mica_set(world, entity, Clock, {1, 1}), "nor set");
    expect_report(&heard, MICA_ERROR_INVALID, "Clock");
    ck_assert_msg(mica_is_nil(mica_create(world, MICA_WITH(Clock, {1, 1}))), "nor created with");
    expect_report(&heard, MICA_ERROR_INVALID, "Clock");
    ck_assert_msg(!mica_has(world, entity, Clock) && mica_get(world, entity, Clock) == NULL, "nor there");
    ck_assert_msg(mica_world_hash(world) == before, "nothing has changed");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(singleton, a_singleton_that_can_not_be_made_is_made_later, a_singleton_is_zero_at_first_and_never_moves,
           each_world_has_its_own_singleton, a_singleton_is_constructed_and_destructed,
           a_query_reads_and_writes_a_singleton_as_one_value, what_is_no_singleton_is_refused_as_one,
           a_singleton_is_no_component_of_an_entity)
