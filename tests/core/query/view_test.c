/* Views: runs of rows that together are every row once, with typed columns and reports for the wrong ones. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

enum { MANY = 3000 };
static mica_entity entities[MANY];

/* Three archetypes, many chunks, some holes. */
static void crowd_create(mica_world *world)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {(float)i, 0, 0}));
        if (i % 3 == 1)
            mica_add(world, entities[i], Frozen);
        if (i % 5 == 2)
            mica_set(world, entities[i], Mass, {(float)i});
    }
    for (uint32_t i = 0; i < MANY; i += 11)
        mica_destroy(world, entities[i]);
}

START_TEST(views_cover_every_row_exactly_once)
{
    for (int small = 0; small < 2; ++small) {
        mica_world *world = small ? open_world_of_small_chunks(&heard) : open_world(&heard);
        crowd_create(world);
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Position)));
        static uint8_t met[MANY];
        memset(met, 0, sizeof met);
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
            const Number *number = mica_view_read(&view, Number);
            const Position *position = mica_view_read(&view, Position);
            ck_assert_msg(view.count > 0, "a view is never empty");
            ck_assert_msg(view.world == world, "a view knows its world");
            for (uint32_t i = 0; i < view.count; ++i) {
                ck_assert_msg(number[i].value < MANY, "a row that was never written");
                ck_assert_msg(position[i].x == (float)number[i].value, "the columns run side by side");
                ck_assert_msg(mica_same(view.entities[i], entities[number[i].value]), "and so do the entities");
                ++met[number[i].value];
            }
        }
        for (uint32_t i = 0; i < MANY; ++i)
            ck_assert_msg(met[i] == (i % 11 == 0 ? 0 : 1), "row %u was met %u times", i, met[i]);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_finished_loop_stays_finished)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_view view = mica_query_begin(query);
    ck_assert_msg(mica_view_next(&view), "one view");
    ck_assert_msg(!mica_view_next(&view), "and no more");
    ck_assert_msg(!mica_view_next(&view), "however often it is asked");
    close_world(world, &heard);
}
END_TEST

START_TEST(loops_over_one_query_can_be_nested)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 200; ++i)
        mica_create(world, MICA_WITH(Number, {1}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint32_t pairs = 0;
    for (mica_view outer = mica_query_begin(query); mica_view_next(&outer);)
        for (mica_view inner = mica_query_begin(query); mica_view_next(&inner);)
            pairs += outer.count * inner.count;
    ck_assert_msg(pairs == 200 * 200, "each pair was met once: %u", pairs);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_may_be_left_early)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 200; ++i)
        entities[i] = mica_create(world, MICA_WITH(Health, {1, 1}), MICA_WITH(Age));
    mica_disable(world, entities[3], Health);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Health), MICA_ADDED(Age)));
    for (int i = 0; i < 100; ++i) {
        mica_view view = mica_query_begin_since(query, 0);
        ck_assert_msg(mica_view_next(&view), "a loop starts");
    }
    ck_assert_msg(!mica_is_nil(mica_create(world)), "and is forgotten when it is left");
    close_world(world, &heard);
}
END_TEST

START_TEST(columns_are_found_by_position_too)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Number, {7}), MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Frozen));
    mica_query *query = mica_query_create(
        world, MICA_QUERY(MICA_HAS(Frozen), MICA_READ(Number), MICA_WRITE(Position), MICA_MAYBE_READ(Mass)));
    mica_view view = mica_query_begin(query);
    ck_assert_msg(mica_view_next(&view), "one view");
    ck_assert_msg(mica_view_read_at(&view, 1) == mica_view_read(&view, Number), "the second term reads");
    ck_assert_msg(mica_view_write_at(&view, 2) == mica_view_write(&view, Position), "the third writes");
    ck_assert_msg(mica_view_read_at(&view, 2) == mica_view_read(&view, Position), "and can be read");
    ck_assert_msg(mica_view_read_at(&view, 3) == NULL, "an optional one that is not there is NULL");
    expect_no_report(&heard);
    close_world(world, &heard);
}
END_TEST

typedef struct wrong_column {
    const char *what;
    mica_component component;
    bool to_write;
} wrong_column;

START_TEST(a_column_the_query_does_not_have_is_null_with_a_report)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Number, {7}), MICA_WITH(Position), MICA_WITH(Velocity), MICA_WITH(Frozen));
    const mica_query_def def = {MICA_TERMS(MICA_READ(Number), MICA_WRITE(Position), MICA_HAS(Frozen)), .name = "picky",
                                .location = {"level.c", 55}};
    mica_query *query = mica_query_create(world, &def);
    const wrong_column cases[] = {
        {"Velocity", MICA_ID(Velocity), false},
        {"Velocity", MICA_ID(Velocity), true},
        {"Number", MICA_ID(Number), true},
        {"Frozen", MICA_ID(Frozen), false},
        {"Frozen", MICA_ID(Frozen), true},
    };
    mica_view view = mica_query_begin(query);
    ck_assert_msg(mica_view_next(&view), "one view");
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        const void *column = cases[i].to_write ? mica_view_write_id(&view, cases[i].component)
                                               : mica_view_read_id(&view, cases[i].component);
        ck_assert_msg(column == NULL, "case %u gives no column", i);
        ck_assert_msg(heard.count == 1, "case %u is reported once, not %u times", i, heard.count);
        ck_assert_msg(strstr(heard.list[0].text, cases[i].what) != NULL, "the component is named: %s",
                      heard.list[0].text);
        ck_assert_msg(strstr(heard.list[0].text, "picky") != NULL, "and the query: %s", heard.list[0].text);
        ck_assert_str_eq(heard.list[0].file,
                         STOPS_AT_MISTAKES ? __FILE__ : "level.c"); /* of the call, or of the query */
        forget_reports(&heard);
    }
    ck_assert_msg(mica_view_read_id(&view, 60000) == NULL && forget_reports(&heard) == 1,
                  "an unknown component is reported");
    ck_assert_msg(mica_view_read_at(&view, 3) == NULL && forget_reports(&heard) == 1, "so is a term past the last");
    ck_assert_msg(mica_view_read_at(&view, 2) == NULL && forget_reports(&heard) == 1, "and one without data");
    ck_assert_msg(mica_view_write_at(&view, 99) == NULL && forget_reports(&heard) == 1, "however far");
    ck_assert_msg(mica_view_write_at(&view, 0) == NULL && forget_reports(&heard) == 1, "and writing what is only read");
    close_world(world, &heard);
}
END_TEST

START_TEST(without_a_query_there_is_nothing)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {7}));
    mica_view none = mica_query_begin(NULL);
    ck_assert(!mica_view_next(&none));
    ck_assert(!mica_query_matches(NULL, entity) && mica_query_count(NULL) == 0);
    ck_assert(mica_is_nil(mica_query_first(NULL)));
    mica_query_destroy(NULL);
    close_world(world, &heard);
}
END_TEST

static void destroy_each(mica_entity entity, void *const *columns, void *context)
{
    (void)columns;
    mica_destroy(context, entity);
}

START_TEST(a_structural_change_ends_each_with_a_report)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 200; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_query_each(query, destroy_each, world);
    expect_report(&heard, MICA_ERROR_REFUSED, "query");
    uint64_t left = mica_query_count(query);
    ck_assert_msg(left > 0 && left < 200, "it ended early: %u are left", (unsigned)left);
    mica_defer(world);
    mica_query_each(query, destroy_each, world);
    mica_flush(world);
    ck_assert_msg(mica_query_count(query) == 0, "recorded, it goes through");
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_of_one_archetype_are_visited_in_storage_order)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 500; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint32_t next = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i, ++next)
            ck_assert_msg(mica_view_read(&view, Number)[i].value == next, "row %u comes in the order of creation",
                          next);
    ck_assert_msg(next == 500, "all came");
    close_world(world, &heard);
}
END_TEST

static void destroy_living(mica_entity entity, void *const *columns, void *context)
{
    mica_world *world = context;
    ck_assert_msg(mica_is_alive(world, entity), "each meets only the living");
    ck_assert_msg(((const Number *)columns[0])->value == mica_get(world, entity, Number)->value, "with their values");
    mica_destroy(world, entity);
}

START_TEST(each_stops_at_the_first_structural_change)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 6; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_query_each(query, destroy_living, world);
    expect_report(&heard, MICA_ERROR_REFUSED, "query");
    ck_assert_msg(mica_query_count(query) == 5, "one call, one death: %u are left", (unsigned)mica_query_count(query));
    close_world(world, &heard);
}
END_TEST

/* So many that a loop looks ahead. */
START_TEST(rows_of_hundreds_of_archetypes_come_with_the_columns_they_have)
{
    enum { ARCHETYPES = 300 };
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < ARCHETYPES; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Kind%u", i);
        mica_type type = {.name = name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
        mica_entity entity = mica_create(world, MICA_WITH(Number), {mica_type_intern(&type), 0, NULL});
        ck_assert_msg(mica_get(world, entity, Number)->value == 0, "what is not given is zero");
        mica_write(world, entity, Number)->value = i;
        if (i % 3 == 0)
            mica_set(world, entity, Mass, {(float)i});
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_MAYBE_READ(Mass)));
    uint64_t sum = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const Number *number = mica_view_read(&view, Number);
        const Mass *mass = mica_view_read(&view, Mass);
        ck_assert_uint_eq(view.count, 1);
        ck_assert(number->value % 3 == 0 ? mass && mass->value == (float)number->value : !mass);
        sum += number->value;
    }
    ck_assert_uint_eq(sum, ARCHETYPES * (ARCHETYPES - 1) / 2);
    for (uint32_t i = 0; i < 3; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number));
        ck_assert_msg(mica_get(world, entity, Number)->value == 0, "each time");
        mica_write(world, entity, Number)->value = 7;
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(view, rows_of_hundreds_of_archetypes_come_with_the_columns_they_have, without_a_query_there_is_nothing,
           views_cover_every_row_exactly_once, a_finished_loop_stays_finished, loops_over_one_query_can_be_nested,
           a_loop_may_be_left_early, columns_are_found_by_position_too,
           a_column_the_query_does_not_have_is_null_with_a_report, a_structural_change_ends_each_with_a_report,
           rows_of_one_archetype_are_visited_in_storage_order, each_stops_at_the_first_structural_change)
