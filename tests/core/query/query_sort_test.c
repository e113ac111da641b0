/* Order: queries that walk in the order of a component, and rows that are put in order where they lie. */
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"

#include <string.h>

typedef struct Spread { float a, b; } Spread;
MICA_COMPONENT_WITH(Spread, (.split = true), a, b)

typedef struct Rank { uint32_t value; } Rank;
MICA_POOL(Rank, value)

static reports heard;
static uint32_t comparisons;

static int by_number(const void *a, const void *b, void *context)
{
    const Number *first = a, *second = b;
    (void)context;
    ++comparisons;
    return (first->value > second->value) - (first->value < second->value);
}

/* By the remainder, so that many are equal; the context says of what division. */
static int by_remainder(const void *a, const void *b, void *context)
{
    uint32_t divisor = *(const uint32_t *)context;
    uint32_t first = ((const Number *)a)->value % divisor, second = ((const Number *)b)->value % divisor;
    return (first > second) - (first < second);
}

enum { MANY = 600 };
static mica_entity entities[MANY];

/* Numbers in a jumbled order over three archetypes. */
static void crowd_create(mica_world *world)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        entities[i] =
            mica_create(world, MICA_WITH(Number, {(i * 7919 + 13) % MANY}), MICA_WITH(Position, {(float)i, 0, 0}));
        if (i % 3 == 1)
            mica_add(world, entities[i], Frozen);
        if (i % 3 == 2)
            mica_add(world, entities[i], Enemy);
    }
}

/* Walks the query and fills in the entities and numbers in the order met. */
static uint32_t walk(mica_query *query, mica_entity *out_entities, uint32_t *out_numbers)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        const Number *number = mica_view_read(&view, Number);
        for (uint32_t i = 0; i < view.count; ++i, ++count) {
            ck_assert_msg(count < MANY, "more rows than entities");
            out_entities[count] = view.entities[i];
            out_numbers[count] = number[i].value;
        }
    }
    return count;
}

START_TEST(a_sorted_query_walks_in_order_across_archetypes)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    crowd_create(world);
    mica_query *query = mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number)));
    static mica_entity met[MANY];
    static uint32_t numbers[MANY];
    ck_assert_msg(walk(query, met, numbers) == MANY, "every row is met");
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert_msg(numbers[i] == i, "number %u comes at place %u", numbers[i], i);
        ck_assert_msg(mica_get(world, met[i], Number)->value == i, "with its entity");
    }
    ck_assert_msg(mica_same(mica_query_first(query), met[0]), "the first is the first of the order");
    ck_assert_msg(mica_query_count(query) == MANY, "the count is right");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_sorted_query_without_rows_shows_nothing)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number)));
    mica_view none = mica_query_begin(query);
    ck_assert(!mica_view_next(&none)); /* no archetype */
    mica_destroy(world, mica_create(world, MICA_WITH(Number, {1})));
    none = mica_query_begin(query);
    ck_assert(!mica_view_next(&none)); /* one that has lost its rows */
    ck_assert_int_eq(mica_query_sort_rows(query, MICA_ID(Number), by_number, NULL), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(equal_values_come_in_the_order_they_lie)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    crowd_create(world);
    static mica_entity lying[MANY], met[MANY];
    static uint32_t numbers[MANY];
    uint32_t divisor = 4;
    mica_query *plain = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_query *sorted = mica_query_create(world, MICA_QUERY_SORTED(Number, by_remainder, &divisor, MICA_READ(Number)));
    ck_assert_msg(walk(plain, lying, numbers) == MANY && walk(sorted, met, numbers) == MANY, "every row is met");
    uint32_t location = 0;
    for (uint32_t remainder = 0; remainder < divisor; ++remainder)
        for (uint32_t i = 0; i < MANY; ++i)
            if (mica_get(world, lying[i], Number)->value % divisor == remainder) {
                ck_assert_msg(mica_same(met[location], lying[i]), "place %u keeps the order of rows", location);
                ++location;
            }
    close_world(world, &heard);
}
END_TEST

START_TEST(the_order_is_kept_and_made_anew_only_after_a_change)
{
    mica_world *world = open_world(&heard);
    crowd_create(world);
    mica_query *query = mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number)));
    static mica_entity met[MANY];
    static uint32_t numbers[MANY];
    walk(query, met, numbers);
    comparisons = 0;
    walk(query, met, numbers);
    ck_assert_msg(comparisons == 0, "nothing changed, so nothing is compared: %u", comparisons);
    mica_write(world, met[0], Number)->value = 100000;
    mica_entity moved = met[0];
    walk(query, met, numbers);
    ck_assert_msg(mica_same(met[MANY - 1], moved) && numbers[0] == 1, "a written value finds its new place");
    mica_destroy(world, met[0]);
    ck_assert_msg(walk(query, met, numbers) == MANY - 1 && numbers[0] == 2, "a destroyed entity is not visited");
    mica_create(world, MICA_WITH(Number, {0}));
    ck_assert_msg(walk(query, met, numbers) == MANY && numbers[0] == 0, "a new one is in its place");
    close_world(world, &heard);
}
END_TEST

START_TEST(writing_another_column_does_not_sort_again)
{
    mica_world *world = open_world(&heard);
    crowd_create(world);
    mica_query *query =
        mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number), MICA_WRITE(Position)));
    static mica_entity met[MANY];
    static uint32_t numbers[MANY];
    walk(query, met, numbers);
    comparisons = 0;
    mica_write(world, met[0], Position)->x = 5;
    walk(query, met, numbers);
    ck_assert_msg(comparisons == 0, "the order does not depend on Position: %u", comparisons);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_sorted_query_can_write_and_pass_over_what_is_off)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 100; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Number, {99 - i}), MICA_WITH(Health, {(int32_t)(99 - i), 0}));
        if (i % 4 == 0)
            mica_disable(world, entities[i], Health);
    }
    mica_query *query =
        mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number), MICA_WRITE(Health)));
    uint32_t last = 0, count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        Health *health = mica_view_write(&view, Health);
        for (uint32_t i = 0; i < view.count; ++i, ++count) {
            uint32_t number = mica_view_read(&view, Number)[i].value;
            ck_assert_msg(count == 0 || number > last, "in rising order");
            ck_assert_msg(health[i].current == (int32_t)number, "the columns run side by side");
            health[i].maximum = 1;
            last = number;
        }
    }
    ck_assert_msg(count == 75, "what is switched off is not met: %u", count);
    for (uint32_t i = 0; i < 100; ++i)
        ck_assert_msg(mica_get(world, entities[i], Health)->maximum == (i % 4 != 0), "entity %u", i);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_order_by_what_the_query_does_not_show_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Position)));
    ck_assert_msg(query == NULL, "the query must READ or WRITE what it sorts by");
    expect_report(&heard, MICA_ERROR_INVALID, "Number");
    ck_assert_ptr_null(mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_HAS(Number))));
    expect_report(&heard, MICA_ERROR_INVALID, "Number");
    ck_assert_ptr_null(mica_query_create(world, MICA_QUERY_SORTED(Clock, by_number, NULL, MICA_READ(Clock))));
    expect_report(&heard, MICA_ERROR_INVALID, "Clock");
    ck_assert_ptr_null(mica_query_create(world, MICA_QUERY_SORTED(Spread, by_number, NULL, MICA_READ(Spread))));
    expect_report(&heard, MICA_ERROR_INVALID, "Spread");
    close_world(world, &heard);
}
END_TEST

START_TEST(sorting_rows_is_stable_and_keeps_every_look_up)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    crowd_create(world);
    for (uint32_t i = 0; i < MANY; ++i)
        mica_set(world, entities[i], Health, {(int32_t)i, 0});
    for (uint32_t i = 0; i < MANY; i += 5)
        mica_disable(world, entities[i], Health);
    mica_query *query =
        mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(Frozen), MICA_WITHOUT(Enemy)));
    static mica_entity before[MANY], after[MANY];
    static uint32_t numbers[MANY];
    uint32_t count = walk(query, before, numbers), divisor = 7, location = 0;
    ck_assert_msg(mica_query_sort_rows(query, MICA_ID(Number), by_remainder, &divisor) == MICA_OK, "rows are sorted");
    ck_assert_msg(walk(query, after, numbers) == count, "none is lost");
    for (uint32_t remainder = 0; remainder < divisor; ++remainder)
        for (uint32_t i = 0; i < count; ++i)
            if (mica_get(world, before[i], Number)->value % divisor == remainder) {
                ck_assert_msg(mica_same(after[location], before[i]), "place %u keeps the order of equals", location);
                ++location;
            }
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert_msg(mica_get(world, entities[i], Number)->value == (i * 7919 + 13) % MANY,
                      "entity %u kept its Number", i);
        ck_assert_msg(mica_get(world, entities[i], Health)->current == (int32_t)i, "entity %u kept its Health", i);
        ck_assert_msg(mica_is_enabled(world, entities[i], Health) == (i % 5 != 0), "entity %u kept its switch", i);
    }
    expect_valid(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(sorting_rows_moves_owned_values)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 100; ++i) {
        char characters[2] = {(char)('!' + i % 90), 0};
        Text text = text_make(characters);
        entities[i] = mica_create(world, MICA_WITH(Number, {(i * 37) % 100}), {MICA_ID(Text), sizeof text, &text});
        text_drop(&text);
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(Number)));
    ck_assert_msg(mica_query_sort_rows(query, MICA_ID(Number), by_number, NULL) == MICA_OK, "rows are sorted");
    uint32_t next = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert_msg(mica_view_read(&view, Number)[i].value == next++, "rows lie in order");
    for (uint32_t i = 0; i < 100; ++i)
        ck_assert_msg(mica_get(world, entities[i], Text)->characters[0] == (char)('!' + i % 90),
                      "entity %u kept its text", i);
    ck_assert_msg(texts_alive == 100, "one text each: %d", texts_alive);
    close_world(world, &heard);
}
END_TEST

START_TEST(sorting_rows_by_what_has_no_order_is_refused)
{
    mica_world *world = open_world(&heard);
    crowd_create(world);
    mica_query *query =
        mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Mass), MICA_READ(Clock), MICA_READ(Spread)));
    uint64_t before = mica_world_hash(world);
    const mica_component wrong[] = {MICA_ID(Mass), MICA_ID(Clock), MICA_ID(Spread)};
    for (uint32_t i = 0; i < COUNT_OF(wrong); ++i) {
        ck_assert_int_eq(mica_query_sort_rows(query, wrong[i], by_number, NULL), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, mica_component_type(wrong[i])->name);
    }
    ck_assert_msg(mica_query_sort_rows(query, MICA_ID(Frozen), by_number, NULL) != MICA_OK, "a tag has no value");
    ck_assert_msg(mica_query_sort_rows(query, 60000, by_number, NULL) != MICA_OK, "an unknown component has none");
    ck_assert_msg(mica_query_sort_rows(query, MICA_ID(Number), NULL, NULL) != MICA_OK, "no order is no order");
    mica_defer(world);
    ck_assert_msg(mica_query_sort_rows(query, MICA_ID(Number), by_number, NULL) == MICA_ERROR_REFUSED, "not recorded");
    mica_flush(world);
    ck_assert_msg(mica_query_sort_rows(NULL, MICA_ID(Number), by_number, NULL) != MICA_OK, "no query has no rows");
    ck_assert_msg(forget_reports(&heard) == 4, "each is reported");
    ck_assert_msg(mica_world_hash(world) == before, "nothing has moved");
    close_world(world, &heard);
}
END_TEST

/* After a change the last order is nearly right: one comparison for each row, and few to find the place of what changed. */
START_TEST(a_change_is_sorted_with_few_comparisons)
{
    enum { CROWD = 20000 };
    mica_world *world = open_world(&heard);
    static mica_entity crowd[CROWD];
    for (uint32_t i = 0; i < CROWD; ++i)
        crowd[i] = mica_create(world, MICA_WITH(Number, {i * 7919 % CROWD * 2}));
    mica_query *query = mica_query_create(world, MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number)));
    ck_assert(!mica_is_nil(mica_query_first(query)));
    for (uint32_t kind = 0; kind < 5; ++kind) {
        comparisons = 0;
        switch (kind) {
        case 0: mica_write(world, crowd[CROWD / 2], Number)->value = 1; break;
        case 1: mica_write(world, crowd[CROWD / 3], Number)->value = 2 * CROWD; break;
        case 2: mica_create(world, MICA_WITH(Number, {CROWD + 1})); break;
        case 3: mica_destroy(world, crowd[CROWD / 4]); break;
        default: mica_add(world, crowd[7], Frozen);
        }
        uint32_t last = 0;
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
            for (uint32_t i = 0; i < view.count; ++i) {
                uint32_t value = ((const Number *)mica_view_read_at(&view, 0))[i].value;
                ck_assert_msg(value >= last, "%u comes after %u", value, last);
                last = value;
            }
        ck_assert_msg(comparisons < CROWD + CROWD / 4, "change %u takes %u comparisons", kind, comparisons);
    }
    close_world(world, &heard);
}
END_TEST

/* Changes values and what lies where. */
static void change_at_random(random_source *random, mica_world *world)
{
    for (uint32_t left = random_below(random, 8); left; --left) {
        mica_entity *entity = &entities[random_below(random, MANY)];
        switch (random_below(random, 8)) {
        case 0: mica_destroy(world, *entity); break;
        case 1: mica_add(world, *entity, Frozen); break;
        case 2: mica_remove(world, *entity, Frozen); break;
        case 3: mica_set(world, *entity, Rank, {random_below(random, 40)}); break;
        case 4: mica_remove(world, *entity, Rank); break;
        case 5: mica_world_trim(world); break;
        default: mica_set(world, *entity, Number, {random_below(random, 40)});
        }
        if (!mica_is_alive(world, *entity))
            *entity = mica_create(world, MICA_WITH(Number, {random_below(random, 40)}),
                                  MICA_WITH(Rank, {random_below(random, 40)}));
    }
}

/* A kept order, updated change by change, is that of a query that sorts for the first time. */
static void require_order_of_first_time(mica_world *world, mica_query *kept, const mica_query_def *def)
{
    static mica_entity met[MANY], expected[MANY];
    static uint32_t numbers[MANY];
    mica_query *first_time = mica_query_create(world, def);
    uint32_t count = walk(first_time, expected, numbers);
    ck_assert_uint_eq(walk(kept, met, numbers), count);
    for (uint32_t i = 0; i < count; ++i)
        ck_assert_msg(mica_same(met[i], expected[i]), "place %u of %u", i, count);
    mica_query_destroy(first_time);
}

START_TEST(an_updated_order_is_the_order_of_the_first_time)
{
    random_source random = {setting_from_environment("SEED", 11)};
    mica_world *world = open_world_of_small_chunks(&heard);
    crowd_create(world);
    const mica_query_def *by_value = MICA_QUERY_SORTED(Number, by_number, NULL, MICA_READ(Number));
    const mica_query_def *by_rank = MICA_QUERY_SORTED(Rank, by_number, NULL, MICA_READ(Rank), MICA_READ(Number));
    mica_query *values = mica_query_create(world, by_value), *ranks = mica_query_create(world, by_rank);
    mica_snapshot before = {0};
    static mica_entity entities_before[MANY];
    for (uint32_t round = 0; round < 300; ++round) {
        change_at_random(&random, world);
        if (round % 64 == 10) {
            before = mica_snapshot_take(world);
            memcpy(entities_before, entities, sizeof entities);
        }
        if (round % 64 == 40) {
            ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
            mica_snapshot_drop(world, before);
            memcpy(entities, entities_before, sizeof entities);
        }
        if (random_one_in(&random, 20))
            mica_query_sort_rows(values, MICA_ID(Number), by_number, NULL);
        require_order_of_first_time(world, values, by_value);
        require_order_of_first_time(world, ranks, by_rank);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(query_sort, a_sorted_query_walks_in_order_across_archetypes, a_sorted_query_without_rows_shows_nothing,
           equal_values_come_in_the_order_they_lie, the_order_is_kept_and_made_anew_only_after_a_change,
           writing_another_column_does_not_sort_again, a_sorted_query_can_write_and_pass_over_what_is_off,
           an_order_by_what_the_query_does_not_show_is_refused, sorting_rows_is_stable_and_keeps_every_look_up,
           sorting_rows_moves_owned_values, sorting_rows_by_what_has_no_order_is_refused,
           a_change_is_sorted_with_few_comparisons, an_updated_order_is_the_order_of_the_first_time)
