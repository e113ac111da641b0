/* Many at once: all of it or nothing. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"

#include <string.h>

static reports heard;

enum { MANY = 20000 };
static mica_entity entities[MANY];
static Number numbers[MANY];
static const Number *found[MANY];

static void create_crowd(mica_world *world)
{
    for (uint32_t i = 0; i < MANY; ++i)
        numbers[i].value = i;
    const mica_value columns[] = {MICA_COLUMN(Number, numbers), MICA_WITH(Position), MICA_WITH(Visible)};
    ck_assert_msg(mica_create_many(world, MANY, columns, COUNT_OF(columns), entities) == MICA_OK, "the crowd is made");
}

START_TEST(many_are_created_with_whole_columns)
{
    for (int small = 0; small < 2; ++small) {
        mica_world *world = small ? open_world_of_small_chunks(&heard) : open_world(&heard);
        create_crowd(world);
        for (uint32_t i = 0; i < MANY; ++i) {
            ck_assert_msg(mica_is_alive(world, entities[i]), "number %u lives", i);
            ck_assert_msg(mica_get(world, entities[i], Number)->value == i, "number %u has its value", i);
            ck_assert_msg(mica_get(world, entities[i], Position)->x == 0, "and the default where none was given");
            ck_assert_msg(mica_is_enabled(world, entities[i], Visible), "and its tag");
        }
        ck_assert_msg(mica_world_get_stats(world).entity_count == MANY, "and there are no others");
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(creating_many_is_the_same_as_one_by_one)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 1000; ++i)
        numbers[i].value = i;
    const mica_value column = MICA_COLUMN(Number, numbers);
    mica_create_many(world, 1000, &column, 1, NULL);
    uint64_t at_once = mica_world_hash(world);
    close_world(world, &heard);
    world = open_world(&heard);
    for (uint32_t i = 0; i < 1000; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    ck_assert_msg(mica_world_hash(world) == at_once, "the worlds are equal");
    close_world(world, &heard);
}
END_TEST

START_TEST(none_and_plain_ones_can_be_created_too)
{
    mica_world *world = open_world(&heard);
    ck_assert_msg(mica_create_many(world, 0, NULL, 0, NULL) == MICA_OK, "none is fine");
    ck_assert_msg(mica_create_many(world, 10, NULL, 0, entities) == MICA_OK, "no components are fine");
    for (uint32_t i = 0; i < 10; ++i)
        ck_assert_msg(mica_is_alive(world, entities[i]) && mica_get_components(world, entities[i], NULL, 0) == 0,
                      "number %u", i);
    close_world(world, &heard);
}
END_TEST

START_TEST(freed_slots_are_used_again_by_many)
{
    mica_world *world = open_world(&heard);
    create_crowd(world);
    mica_entity old = entities[7];
    uint32_t highest = 0;
    mica_destroy_many(world, entities, MANY);
    create_crowd(world);
    for (uint32_t i = 0; i < MANY; ++i)
        highest = entities[i].index > highest ? entities[i].index : highest;
    ck_assert_msg(highest <= MANY + 64, "the slots are used again: %u", highest);
    ck_assert_msg(!mica_is_alive(world, old), "the old handles stay dead");
    close_world(world, &heard);
}
END_TEST

START_TEST(owned_columns_are_copied)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    Text texts[100];
    for (uint32_t i = 0; i < 100; ++i) {
        char characters[2] = {(char)('!' + i % 90), 0};
        texts[i] = text_make(characters);
    }
    const mica_value column = MICA_COLUMN(Text, texts);
    ck_assert_msg(mica_create_many(world, 100, &column, 1, entities) == MICA_OK, "they are made");
    for (uint32_t i = 0; i < 100; ++i)
        text_drop(&texts[i]);
    for (uint32_t i = 0; i < 100; ++i)
        ck_assert_msg(mica_get(world, entities[i], Text)->characters[0] == (char)('!' + i % 90), "number %u has a copy",
                      i);
    ck_assert_msg(texts_alive == 100, "one each: %d", texts_alive);
    mica_destroy_many(world, entities, 50);
    ck_assert_msg(texts_alive == 50, "half went: %d", texts_alive);
    close_world(world, &heard);
    ck_assert_msg(texts_alive == 0, "all went: %d", texts_alive);
}
END_TEST

START_TEST(destroying_many_passes_over_the_dead_and_repetitions)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    create_crowd(world);
    for (uint32_t i = 1; i < MANY; i += 4)
        mica_add(world, entities[i], Frozen);
    mica_destroy(world, entities[3]);
    static mica_entity list[MANY];
    uint32_t count = 0;
    for (uint32_t i = 0; i < MANY / 2; ++i)
        list[count++] = entities[i];
    list[count++] = entities[0];
    list[count++] = entities[1];
    list[count++] = mica_nil();
    list[count++] = (mica_entity){UINT32_MAX, UINT32_MAX};
    ck_assert_msg(mica_destroy_many(world, list, count) == MANY / 2 - 1, "each living one died once");
    for (uint32_t i = 0; i < MANY; ++i) {
        const Number *number = mica_get(world, entities[i], Number);
        ck_assert_msg((number != NULL) == (i >= MANY / 2), "number %u", i);
        ck_assert_msg(!number || number->value == i, "number %u kept its value", i);
    }
    ck_assert_msg(mica_destroy_many(world, list, count) == 0, "the second call destroys nothing");
    ck_assert_msg(mica_destroy_many(world, NULL, 0) == 0, "and an empty list is fine");
    close_world(world, &heard);
}
END_TEST

START_TEST(many_are_looked_up_at_once)
{
    mica_world *world = open_world(&heard);
    create_crowd(world);
    for (uint32_t i = 0; i < MANY; i += 3)
        mica_destroy(world, entities[i]);
    for (uint32_t i = 1; i < MANY; i += 3)
        mica_remove(world, entities[i], Number);
    uint32_t count = mica_get_many(world, entities, MANY, Number, found);
    for (uint32_t i = 0; i < MANY; ++i)
        ck_assert_msg(found[i] == mica_get(world, entities[i], Number), "number %u as looked up alone", i);
    ck_assert_msg(count == MANY / 3, "a third is found: %u", count);
    ck_assert_msg(mica_get_many(world, entities, 0, Number, found) == 0, "none is fine");
    close_world(world, &heard);
}
END_TEST

typedef struct Mapped { uint32_t value; } Mapped;
typedef struct Direct { uint32_t value; } Direct;
typedef struct Hashed { uint32_t value; } Hashed;
MICA_POOL(Mapped, value)
MICA_POOL_WITH(Direct, (.index = MICA_INDEX_DIRECT), value)
MICA_POOL_WITH(Hashed, (.index = MICA_INDEX_HASH), value)

START_TEST(many_are_looked_up_at_once_in_every_kind_of_pool)
{
    enum { SOME = 300 };
    mica_world *world = open_world(&heard);
    const mica_component pools[] = {MICA_ID(Mapped), MICA_ID(Direct), MICA_ID(Hashed)};
    mica_entity some[SOME + 1];
    const void *values[SOME + 1];
    for (uint32_t i = 0; i < SOME; ++i)
        some[i] =
            mica_create(world, MICA_WITH(Mapped, {i}), MICA_WITH(Direct, {i + 1000}), MICA_WITH(Hashed, {i + 2000}));
    some[SOME] = mica_nil();
    for (uint32_t i = 0; i < SOME; i += 3)
        mica_destroy(world, some[i]);
    for (uint32_t i = 1; i < SOME; i += 3)
        for (uint32_t k = 0; k < 3; ++k)
            mica_remove_id(world, some[i], pools[k]);
    for (uint32_t k = 0; k < 3; ++k) {
        uint32_t count = mica_get_many_id(world, some, SOME + 1, pools[k], values);
        ck_assert_uint_eq(count, SOME / 3);
        for (uint32_t i = 0; i <= SOME; ++i)
            ck_assert_msg(i % 3 == 2 ? *(const uint32_t *)values[i] == i + 1000 * k : !values[i],
                          "number %u of pool %u", i, k);
    }
    close_world(world, &heard);
}
END_TEST

typedef struct Spread { uint32_t left, right; } Spread;
MICA_COMPONENT_WITH(Spread, (.split = true), left, right)

typedef mica_result creates(mica_world *world, uint32_t count, const mica_value *columns, uint32_t column_count);

static mica_result create_at_once(mica_world *world, uint32_t count, const mica_value *columns, uint32_t column_count)
{
    return mica_create_many(world, count, columns, column_count, entities);
}

static mica_result create_by_recording(mica_world *world, uint32_t count, const mica_value *columns,
                                       uint32_t column_count)
{
    mica_defer(world);
    mica_result result = mica_create_many(world, count, columns, column_count, entities);
    mica_result flushed = mica_flush(world);
    return result == MICA_OK ? flushed : result;
}

static mica_result create_by_batch(mica_world *world, uint32_t count, const mica_value *columns, uint32_t column_count)
{
    mica_batch *batch;
    mica_result result = mica_batch_begin(world, &(mica_batch_group){count, column_count, columns, 0}, 1, &batch);
    if (result != MICA_OK)
        return result;
    mica_batch_entities(batch, entities);
    return mica_batch_commit(batch, NULL, 0);
}

static creates *const ways_to_create[] = {create_at_once, create_by_recording, create_by_batch};

START_TEST(one_value_is_for_all_entities)
{
    static const uint32_t counts[] = {1, 2, 7, 3000};
    for (uint32_t i = 0; i < COUNT_OF(counts) * COUNT_OF(ways_to_create); ++i) {
        uint32_t count = counts[i / COUNT_OF(ways_to_create)];
        mica_world *world = open_world_of_small_chunks(&heard);
        Text text = text_make("all");
        for (uint32_t k = 0; k < count; ++k)
            numbers[k].value = k;
        const mica_value columns[] = {MICA_COLUMN(Number, numbers),
                                      MICA_WITH(Mass, {5}),
                                      MICA_WITH(Spread, {6, 7}),
                                      MICA_WITH(Mapped, {8}),
                                      MICA_WITH(Direct, {9}),
                                      MICA_WITH(Hashed, {10}),
                                      {MICA_ID(Text), (uint32_t)sizeof text | MICA_VALUE_FOR_ALL, &text}};
        ck_assert_int_eq(ways_to_create[i % COUNT_OF(ways_to_create)](world, count, columns, COUNT_OF(columns)),
                         MICA_OK);
        ck_assert_int_eq(texts_alive, (int)count + 1);
        text_drop(&text);
        for (uint32_t k = 0; k < count; ++k) {
            mica_entity entity = entities[k];
            ck_assert_uint_eq(mica_get(world, entity, Number)->value, k);
            ck_assert(mica_get(world, entity, Mass)->value == 5);
            ck_assert_uint_eq(*mica_get_field(world, entity, Spread, right), 7);
            ck_assert_uint_eq(mica_get(world, entity, Mapped)->value, 8);
            ck_assert_uint_eq(mica_get(world, entity, Direct)->value, 9);
            ck_assert_uint_eq(mica_get(world, entity, Hashed)->value, 10);
            ck_assert_str_eq(mica_get(world, entity, Text)->characters, "all");
        }
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(one_value_that_can_not_be_copied_for_all_creates_none)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    Text text = text_make("all");
    uint64_t before = mica_world_hash(world);
    texts_allowed = 60;
    const mica_value column = {MICA_ID(Text), (uint32_t)sizeof text | MICA_VALUE_FOR_ALL, &text};
    ck_assert_int_eq(mica_create_many(world, 100, &column, 1, entities), MICA_ERROR_MEMORY);
    texts_allowed = 1000;
    ck_assert_uint_gt(forget_reports(&heard), 0);
    ck_assert_msg(texts_alive == 1 && mica_world_hash(world) == before, "%d are left", texts_alive);
    text_drop(&text);
    close_world(world, &heard);
}
END_TEST

START_TEST(functions_for_one_entity_take_a_value_for_all)
{
    mica_world *world = open_world(&heard);
    const mica_value list[] = {MICA_WITH(Number, {3}), MICA_WITH(Spread, {1, 2}), MICA_WITH(Mapped, {4})};
    for (uint32_t i = 0; i < 4; ++i) { /* each way twice: what it learns the first time is used the second time */
        if (i % 2)
            mica_defer(world);
        mica_entity entity = mica_create(world, MICA_WITH(Mass, {1}));
        for (uint32_t k = 0; k < 2 * COUNT_OF(list); ++k)
            ck_assert(mica_set_id(world, entity, list[k % COUNT_OF(list)]));
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_uint_eq(mica_get(world, entity, Number)->value, 3);
        ck_assert_uint_eq(mica_get(world, entity, Mapped)->value, 4);
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    ck_assert_int_eq(mica_add_all_id(query, (mica_value)MICA_WITH(Direct, {5})), MICA_OK);
    ck_assert_uint_eq(mica_get(world, mica_query_first(query), Direct)->value, 5);
    const mica_value wrong = {MICA_ID(Number), 3 | MICA_VALUE_FOR_ALL, numbers};
    ck_assert_int_eq(mica_create_many(world, 5, &wrong, 1, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "a value of 3 bytes was given");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_is_added_to_all_that_a_query_shows)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    create_crowd(world);
    for (uint32_t i = 0; i < MANY; i += 5)
        mica_set(world, entities[i], Mass, {3});
    for (uint32_t i = 0; i < MANY; i += 2)
        mica_disable(world, entities[i], Visible);
    mica_query *visible = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Visible)));
    ck_assert_msg(mica_add_all(visible, Mass, {7}) == MICA_OK, "it is added");
    ck_assert_msg(mica_add_all_tag(visible, Enemy) == MICA_OK, "and a tag");
    for (uint32_t i = 0; i < MANY; ++i) {
        const Mass *mass = mica_get(world, entities[i], Mass);
        float expected = i % 5 == 0 ? 3 : i % 2 == 0 ? 0 : 7;
        ck_assert_msg((mass ? mass->value : 0) == expected, "number %u has a Mass of %g", i,
                      (double)(mass ? mass->value : 0));
        ck_assert_msg(mica_has(world, entities[i], Enemy) == (i % 2 == 1), "number %u is an Enemy or not", i);
        ck_assert_msg(mica_get(world, entities[i], Number)->value == i, "number %u kept its value", i);
        ck_assert_msg(mica_is_enabled(world, entities[i], Visible) == (i % 2 == 1), "number %u kept its switch", i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_is_removed_from_all_that_a_query_shows)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    create_crowd(world);
    for (uint32_t i = 0; i < MANY; i += 5)
        mica_add(world, entities[i], Frozen);
    mica_query *thawed = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(Frozen)));
    ck_assert_msg(mica_remove_all(thawed, Position) == MICA_OK, "it is removed");
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert_msg(mica_has(world, entities[i], Position) == (i % 5 == 0), "number %u", i);
        ck_assert_msg(mica_get(world, entities[i], Number)->value == i, "number %u kept its value", i);
    }
    ck_assert_msg(mica_remove_all(thawed, Number) == MICA_OK, "even what the query reads");
    ck_assert_msg(mica_query_count(thawed) == 0, "which then shows nothing");
    ck_assert_msg(mica_remove_all(thawed, Number) == MICA_OK, "and removes nothing");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_owned_value_is_copied_for_each_that_a_query_shows)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    create_crowd(world);
    mica_destroy_all(mica_query_create(world, MICA_QUERY(MICA_READ(Number))));
    for (uint32_t i = 0; i < 50; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    Text text = text_make("for all");
    const mica_value value = {MICA_ID(Text), sizeof text, &text};
    uint64_t before = mica_world_hash(world);
    texts_allowed = 20;
    ck_assert_msg(mica_add_all_id(query, value) != MICA_OK, "a copy that fails half-way");
    ck_assert_msg(forget_reports(&heard) > 0 && mica_world_hash(world) == before, "changes nothing");
    ck_assert_msg(texts_alive == 1, "and leaves nothing: %d", texts_alive);
    texts_allowed = 1000;
    ck_assert_msg(mica_add_all_id(query, value) == MICA_OK, "the second try works");
    text_drop(&text);
    for (uint32_t i = 0; i < 50; ++i)
        ck_assert_str_eq(mica_get(world, entities[i], Text)->characters, "for all");
    ck_assert_msg(texts_alive == 50, "each has its own: %d", texts_alive);
    ck_assert_msg(mica_remove_all(query, Text) == MICA_OK && texts_alive == 0, "and all go again");
    close_world(world, &heard);
}
END_TEST

START_TEST(all_that_a_query_shows_are_destroyed)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    create_crowd(world);
    for (uint32_t i = 0; i < MANY; i += 5)
        mica_add(world, entities[i], Frozen);
    for (uint32_t i = 1; i < MANY; i += 5)
        mica_disable(world, entities[i], Visible);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_HAS(Visible), MICA_WITHOUT(Frozen)));
    ck_assert_msg(mica_destroy_all(query) == MICA_OK, "they are destroyed");
    for (uint32_t i = 0; i < MANY; ++i) {
        const Number *number = mica_get(world, entities[i], Number);
        ck_assert_msg((number != NULL) == (i % 5 <= 1), "number %u", i);
        ck_assert_msg(!number || number->value == i, "number %u kept its value", i);
    }
    ck_assert_msg(mica_query_count(query) == 0, "the query matches nothing");
    close_world(world, &heard);
}
END_TEST

START_TEST(bulk_changes_are_recorded_for_each_entity)
{
    mica_world *world = open_world(&heard);
    create_crowd(world);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(Frozen)));
    for (uint32_t i = 0; i < MANY; i += 2)
        mica_add(world, entities[i], Frozen);
    uint64_t before = mica_world_hash(world);
    mica_defer(world);
    mica_destroy(world, entities[1]); /* which gets no other change */
    mica_entity created[100];
    const mica_value columns[] = {MICA_COLUMN(Number, numbers), MICA_WITH(Frozen)};
    ck_assert_int_eq(mica_create_many(world, 100, columns, 2, created), MICA_OK);
    ck_assert_int_eq(mica_create_many(world, 3, NULL, 0, NULL), MICA_OK);
    ck_assert_int_eq(mica_create_many(world, 0, NULL, 0, NULL), MICA_OK);
    ck_assert_int_eq(mica_add_all(query, Mass, {7}), MICA_OK);
    mica_remove(world, entities[3], Position);
    ck_assert_int_eq(mica_remove_all(query, Position), MICA_OK);
    ck_assert_msg(mica_is_alive(world, created[99]) && mica_world_hash(world) == before, "nothing has changed yet");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < MANY; ++i) {
        const Mass *mass = mica_get(world, entities[i], Mass);
        bool is_changed = i % 2 && i != 1;
        ck_assert_msg((mass != NULL) == is_changed && (!mass || mass->value == 7), "number %u", i);
        ck_assert_msg(i == 1 || mica_has(world, entities[i], Position) != is_changed, "number %u", i);
    }
    for (uint32_t i = 0; i < 100; ++i)
        ck_assert(mica_get(world, created[i], Number)->value == i && mica_has(world, created[i], Frozen));
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, MANY - 1 + 103);
    mica_defer(world);
    mica_destroy(world, entities[3]);
    ck_assert_int_eq(mica_destroy_all(query), MICA_OK);
    ck_assert_uint_eq(mica_query_count(query), MANY / 2 - 1);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_query_count(query), 0);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, MANY / 2 + 103);
    close_world(world, &heard);
}
END_TEST

START_TEST(recorded_bulk_changes_of_what_no_entity_has_are_reported)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_defer(world);
    mica_value unknown = {.component = 30000};
    ck_assert_int_ne(mica_create_many(world, 3, &unknown, 1, NULL), MICA_OK);
    ck_assert_uint_gt(forget_reports(&heard), 0);
    ck_assert_int_ne(mica_add_all_id(query, unknown), MICA_OK);
    ck_assert_uint_gt(forget_reports(&heard), 0);
    ck_assert_int_ne(mica_remove_all_id(query, unknown.component), MICA_OK);
    ck_assert_uint_gt(forget_reports(&heard), 0);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(destroying_many_can_be_recorded)
{
    mica_world *world = open_world(&heard);
    create_crowd(world);
    mica_defer(world);
    ck_assert_msg(mica_destroy_many(world, entities, 100) == 100, "a hundred deaths are recorded");
    ck_assert_msg(mica_is_alive(world, entities[0]), "and wait");
    mica_flush(world);
    ck_assert_msg(!mica_is_alive(world, entities[0]) && !mica_is_alive(world, entities[99]), "for the flush");
    ck_assert_msg(mica_is_alive(world, entities[100]), "the rest lives");
    close_world(world, &heard);
}
END_TEST

START_TEST(bulk_mistakes_change_nothing)
{
    mica_world *world = open_world(&heard);
    create_crowd(world);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint64_t before = mica_world_hash(world);
    const mica_value twice[] = {MICA_WITH(Number), MICA_WITH(Mass), MICA_WITH(Number)};
    const mica_value unknown[] = {MICA_WITH(Number), {60000, 0, NULL}};
    const mica_value wrong_size[] = {{MICA_ID(Number), 3, numbers}};
    ck_assert_msg(mica_create_many(world, 5, twice, 3, NULL) == MICA_ERROR_INVALID, "a component twice");
    ck_assert_msg(mica_create_many(world, 5, unknown, 2, NULL) == MICA_ERROR_UNKNOWN, "an unknown component");
    ck_assert_msg(mica_create_many(world, 5, wrong_size, 1, NULL) == MICA_ERROR_INVALID, "a wrong size");
    ck_assert_msg(mica_add_all_id(query, (mica_value){60000, 0, NULL}) == MICA_ERROR_UNKNOWN, "an unknown one to add");
    ck_assert_msg(mica_remove_all_id(query, 60000) == MICA_ERROR_UNKNOWN, "an unknown one to remove");
    ck_assert_msg(mica_add_all_id(query, (mica_value){MICA_ID(Mass), 3, numbers}) == MICA_ERROR_INVALID,
                  "a wrong size to add");
    ck_assert_msg(forget_reports(&heard) == 6, "each is reported");
    ck_assert_msg(mica_world_hash(world) == before, "nothing has changed");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_sealed_world_adds_where_every_archetype_exists)
{
    mica_world *world = open_world(&heard);
    mica_entity plain = mica_create(world, MICA_WITH(Number, {1}));
    mica_create(world, MICA_WITH(Number, {2}), MICA_WITH(Mass, {5}));
    mica_query *light = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(Mass)));
    mica_world_seal(world, true);
    uint32_t archetypes = mica_world_get_stats(world).archetype_count;
    ck_assert_msg(mica_add_all(light, Mass, {7}) == MICA_OK, "the set of components exists");
    ck_assert_msg(mica_has(world, plain, Mass) && mica_get(world, plain, Mass)->value == 7, "and the value is there");
    mica_query *all = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint64_t before = mica_world_hash(world);
    ck_assert_msg(mica_add_all_tag(all, Enemy) == MICA_ERROR_REFUSED, "one that does not is refused");
    expect_report(&heard, MICA_ERROR_REFUSED, "seal");
    ck_assert_msg(mica_world_hash(world) == before, "and nothing has changed");
    ck_assert_msg(mica_world_get_stats(world).archetype_count == archetypes, "nor is there a new archetype");
    close_world(world, &heard);
}
END_TEST

START_TEST(adding_to_no_entities_creates_no_archetype)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint32_t archetypes = mica_world_get_stats(world).archetype_count;
    ck_assert_msg(mica_add_all(query, Mass, {1}) == MICA_OK, "an empty query is valid");
    ck_assert_msg(mica_world_get_stats(world).archetype_count == archetypes, "an empty world stays empty");
    mica_destroy(world, mica_create(world, MICA_WITH(Number, {1})));
    archetypes = mica_world_get_stats(world).archetype_count;
    ck_assert_msg(mica_add_all(query, Mass, {1}) == MICA_OK, "so is an archetype without entities");
    ck_assert_msg(mica_world_get_stats(world).archetype_count == archetypes, "which needs no other beside it");
    close_world(world, &heard);
}
END_TEST

START_TEST(creating_many_in_vain_hands_out_no_handles)
{
    enum { WANTED = 5000 };
    mica_world *world = open_world_of_small_chunks(&heard);
    memset(entities, 0, sizeof entities);
    texts_allowed = 100;
    ck_assert_msg(mica_create_many(world, WANTED, &(const mica_value)MICA_WITH(Text), 1, entities) != MICA_OK,
                  "only a hundred can be made");
    ck_assert_msg(forget_reports(&heard) > 0 && texts_alive == 0, "it is reported and nothing is left");
    for (uint32_t i = 0; i < WANTED; ++i)
        ck_assert_msg(mica_is_nil(entities[i]), "handle %u is handed out", i);
    mica_entity next = mica_create(world);
    for (uint32_t i = 0; i < WANTED; ++i)
        ck_assert_msg(!mica_same(entities[i], next), "handle %u is another's", i);
    texts_allowed = 1000000;
    close_world(world, &heard);
}
END_TEST

START_TEST(destroying_many_while_recording_passes_over_repetitions)
{
    mica_world *world = open_world(&heard);
    mica_entity first = mica_create(world), second = mica_create(world), dead = mica_create(world);
    mica_destroy(world, dead);
    const mica_entity list[] = {first, second, first, dead, mica_nil(), second, first};
    mica_defer(world);
    ck_assert_msg(mica_destroy_many(world, list, COUNT_OF(list)) == 2, "two will die");
    expect_no_report(&heard);
    mica_flush(world);
    ck_assert_msg(mica_world_get_stats(world).entity_count == 0, "and have died");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_variable_is_added_to_all_that_a_query_shows)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    Mass mass = {4};
    const Mass *heavier = &(const Mass){8};
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    ck_assert_msg(mica_add_all_from(query, Mass, &mass) == MICA_OK, "from a variable");
    ck_assert_msg(mica_get(world, entity, Mass)->value == 4, "its value is copied");
    mica_remove_all(query, Mass);
    ck_assert_msg(mica_add_all_from(query, Mass, heavier) == MICA_OK, "and from a constant");
    ck_assert_msg(mica_get(world, entity, Mass)->value == 8, "its value is copied");
    close_world(world, &heard);
}
END_TEST

/* Handles that come after a clear are those that destroying one by one, last row first, would leave; over pages, with holes. */
START_TEST(clearing_frees_slots_as_destroying_one_by_one_does)
{
    static mica_entity made[2][MANY], again[2][MANY];
    const mica_value column = {.component = MICA_ID(Number)};
    for (int cleared = 0; cleared < 2; ++cleared) {
        mica_world *world = open_world(&heard);
        mica_create_many(world, MANY, &column, 1, made[cleared]);
        for (uint32_t i = 0; i < MANY; i += 1 + i % 700)
            mica_destroy(world, made[cleared][i]);
        mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
        static mica_entity rows[MANY];
        uint32_t count = 0;
        for (mica_view view = mica_query_begin(query); mica_view_next(&view); count += view.count)
            memcpy(rows + count, view.entities, view.count * sizeof *rows);
        if (cleared)
            mica_world_clear(world);
        while (!cleared && count)
            mica_destroy(world, rows[--count]);
        mica_create_many(world, MANY, &column, 1, again[cleared]);
        for (uint32_t i = 0; i < MANY; ++i)
            ck_assert(!mica_is_alive(world, made[cleared][i]));
        close_world(world, &heard);
    }
    ck_assert_mem_eq(again[0], again[1], sizeof again[0]);
}
END_TEST

/* Has functions, and moves as bytes: whole columns of it move at once. */
typedef struct Token { uint32_t value, serial; } Token;
static int tokens_alive;
static uint64_t last_serial,
    serials_alive; /* the sum of the serials, one for each copy, which say that the right ones are destroyed */

static bool token_copy(void *to, const void *from, uint32_t count, void *context)
{
    (void)context;
    memcpy(to, from, count * sizeof(Token));
    tokens_alive += (int)count;
    for (uint32_t i = 0; i < count; ++i)
        serials_alive += ((Token *)to)[i].serial = (uint32_t)++last_serial;
    return true;
}

static void token_destruct(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i) {
        tokens_alive -= ((const Token *)values)[i].value != 0;
        serials_alive -= ((const Token *)values)[i].serial;
    }
}

MICA_COMPONENT_WITH(Token, (.copy = token_copy, .destruct = token_destruct), value)

enum { SOME = 2000 };

/* Which of the rows the query shows: a part of each archetype, or all of it. */
static bool is_shown(uint32_t pattern, uint32_t i)
{
    switch (pattern) {
    case 0: return true;
    case 1: return i % 2 == 0;
    case 2: return i < SOME / 3;
    case 3: return i > SOME / 3;
    case 4: return i / 50 % 2 == 0;
    case 5: return i == 7 || i / 500 == 2;
    default: return i == 7;
    }
}

static mica_query *create_pattern(mica_world *world, uint32_t pattern)
{
    for (uint32_t i = 0; i < SOME; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Color, {1, (uint8_t)i, 3}),
                                  MICA_WITH(Position, {(float)i, 1, 2}), MICA_WITH(Visible));
        if (i / 300 % 2)
            mica_add(world, entities[i], Frozen);
        if (!is_shown(pattern, i))
            mica_disable(world, entities[i], Visible);
    }
    return mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Visible)));
}

static uint32_t list_shown(mica_query *query, mica_entity *out)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); count += view.count)
        memcpy(out + count, view.entities, view.count * sizeof *out);
    return count;
}

/* Adds with and without a value, a tag and a value with functions; removes one that moves and one that is destroyed. */
static void change_at_once(mica_query *query)
{
    Token token = {.value = 5};
    ck_assert(mica_add_all(query, Mass, {7}) == MICA_OK);
    ck_assert(mica_add_all_tag(query, Enemy) == MICA_OK);
    ck_assert(mica_add_all_id(query, (mica_value){MICA_ID(Token), sizeof token, &token}) == MICA_OK);
    ck_assert(mica_remove_all(query, Position) == MICA_OK);
    ck_assert(mica_remove_all(query, Token) == MICA_OK);
    ck_assert(mica_add_all_id(query, (mica_value){.component = MICA_ID(Matrix)}) == MICA_OK);
    ck_assert(mica_remove_all(query, Enemy) == MICA_OK);
}

static void change_one_by_one(mica_world *world, mica_query *query)
{
    static mica_entity shown[SOME];
    for (uint32_t step = 0; step < 7; ++step)
        for (uint32_t i = 0, count = list_shown(query, shown); i < count; ++i)
            switch (step) {
            case 0: mica_set(world, shown[i], Mass, {7}); break;
            case 1: mica_add(world, shown[i], Enemy); break;
            case 2: mica_set(world, shown[i], Token, {.value = 5}); break;
            case 3: mica_remove(world, shown[i], Position); break;
            case 4: mica_remove(world, shown[i], Token); break;
            case 5: mica_add(world, shown[i], Matrix); break;
            default: mica_remove(world, shown[i], Enemy); break;
            }
}

/* The order of the rows too, with one chunk and with many, and with a snapshot that is restored. */
START_TEST(changing_all_is_the_same_as_one_by_one)
{
    static mica_entity order[2][SOME];
    for (uint32_t pattern = 0; pattern < 7; ++pattern)
        for (uint32_t circumstance = 0; circumstance < 4; ++circumstance) {
            uint64_t hashes[2];
            for (int at_once = 0; at_once < 2; ++at_once) {
                mica_world *world = circumstance & 1 ? open_world_of_small_chunks(&heard) : open_world(&heard);
                mica_query *query = create_pattern(world, pattern);
                uint64_t before = mica_world_hash(world);
                mica_snapshot snapshot = {0};
                if (circumstance & 2)
                    snapshot = mica_snapshot_take(world);
                if (at_once)
                    change_at_once(query);
                else
                    change_one_by_one(world, query);
                ck_assert_msg(mica_world_validate(world) == MICA_OK, "the world is sound");
                ck_assert_int_eq(tokens_alive, 0);
                ck_assert_uint_eq(serials_alive, 0);
                hashes[at_once] = mica_world_hash(world);
                mica_query *all = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
                ck_assert_uint_eq(list_shown(all, order[at_once]), SOME);
                if (circumstance & 2) {
                    ck_assert_msg(mica_snapshot_restore(world, snapshot) == MICA_OK, "back again");
                    ck_assert_msg(mica_world_hash(world) == before, "everything is as it was");
                    ck_assert_msg(mica_world_validate(world) == MICA_OK, "and sound");
                }
                close_world(world, &heard);
            }
            ck_assert_msg(hashes[0] == hashes[1], "pattern %u, circumstance %u", pattern, circumstance);
            ck_assert_mem_eq(order[0], order[1], sizeof order[0]);
        }
}
END_TEST

TEST_SUITE(bulk, changing_all_is_the_same_as_one_by_one, clearing_frees_slots_as_destroying_one_by_one_does,
           many_are_created_with_whole_columns, creating_many_is_the_same_as_one_by_one,
           none_and_plain_ones_can_be_created_too, freed_slots_are_used_again_by_many, owned_columns_are_copied,
           destroying_many_passes_over_the_dead_and_repetitions, many_are_looked_up_at_once,
           many_are_looked_up_at_once_in_every_kind_of_pool, one_value_is_for_all_entities,
           one_value_that_can_not_be_copied_for_all_creates_none, functions_for_one_entity_take_a_value_for_all,
           a_component_is_added_to_all_that_a_query_shows, a_component_is_removed_from_all_that_a_query_shows,
           an_owned_value_is_copied_for_each_that_a_query_shows, all_that_a_query_shows_are_destroyed,
           bulk_changes_are_recorded_for_each_entity, recorded_bulk_changes_of_what_no_entity_has_are_reported,
           destroying_many_can_be_recorded, bulk_mistakes_change_nothing,
           a_sealed_world_adds_where_every_archetype_exists, adding_to_no_entities_creates_no_archetype,
           creating_many_in_vain_hands_out_no_handles, destroying_many_while_recording_passes_over_repetitions,
           a_variable_is_added_to_all_that_a_query_shows)
