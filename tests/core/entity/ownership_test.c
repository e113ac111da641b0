/* Components that only have a destructor: rows with them move as bytes, and each value is destroyed exactly once. */
#include "../../support/components.h"
#include "../../support/reports.h"
#include "../../support/test.h"
#include "mica/hook.h"
#include "mica/pool.h"
#include <stdio.h>

static reports heard;
static int32_t destroyed[64]; /* how often each lease was ended */

typedef struct Lease { uint32_t number; } Lease; /* 0 owns nothing */

static void end_leases(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        destroyed[((Lease *)values)[i].number] += 1;
}
MICA_COMPONENT_WITH(Lease, (.destruct = end_leases), number)

static void expect_destroyed(uint32_t first, uint32_t end)
{
    for (uint32_t i = 1; i < 64; ++i)
        ck_assert_msg(destroyed[i] == (i >= first && i < end), "lease %u was ended %d times", i, destroyed[i]);
}

START_TEST(a_value_with_a_destructor_ends_once_however_it_goes)
{
    memset(destroyed, 0, sizeof destroyed);
    mica_world *world = open_world(&heard);
    mica_entity entities[8];
    for (uint32_t i = 0; i < 8; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Lease, {i + 1}));
    mica_entity others[] = {mica_create(world, MICA_WITH(Number, {8}), MICA_WITH(Lease, {20})),
                            mica_create(world, MICA_WITH(Number, {9}), MICA_WITH(Lease, {21}))};
    for (uint32_t i = 0; i < 2; ++i) { /* the second time the way is known */
        ck_assert(mica_remove(world, others[i], Lease));
        ck_assert_int_eq(destroyed[20 + i], 1);
    }
    destroyed[20] = destroyed[21] = 0;
    mica_set(world, entities[0], Lease, {9}); /* ends 1 */
    expect_destroyed(1, 2);
    ck_assert(mica_remove(world, entities[1], Lease)); /* ends 2, and a row moves into the hole */
    expect_destroyed(1, 3);
    mica_destroy(world, entities[2]);
    expect_destroyed(1, 4);
    mica_add(world, entities[3], Mass);
    mica_remove(world, entities[3], Number);
    expect_destroyed(1, 4);
    ck_assert_uint_eq(mica_get(world, entities[3], Lease)->number, 4);
    mica_destroy_many(world, entities + 3, 5);
    expect_destroyed(1, 9);
    close_world(world, &heard);
    ck_assert_int_eq(destroyed[9], 1);
}
END_TEST

START_TEST(a_recorded_value_that_cannot_be_copied_leaves_the_staged_one)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_commands *commands = mica_commands_create(world);
    Text first = text_make("first"), second = text_make("second");
    ck_assert(mica_command_set_from(commands, entity, Text, &first));
    texts_allowed = 0;
    ck_assert(!mica_command_set_from(commands, entity, Text, &second));
    expect_report(&heard, MICA_ERROR_MEMORY, "Text");
    ck_assert(mica_is_nil(mica_command_create(commands, MICA_FROM(Text, &second))));
    expect_report(&heard, MICA_ERROR_MEMORY, "Text");
    texts_allowed = 1 << 30;
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "first");

    ck_assert(mica_command_set_from(commands, entity, Text, &second));
    texts_allowed = 0;
    ck_assert(mica_is_nil(mica_command_create(commands, MICA_FROM(Text, &second))));
    expect_report(&heard, MICA_ERROR_MEMORY, "Text");
    texts_allowed = 1 << 30;
    mica_commands_destroy(commands); /* with a change that was taken back among the others */
    text_drop(&first);
    text_drop(&second);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

typedef struct Note { char *characters; uint32_t length; } Note; /* as Text, of which an entity has many */
MICA_POOL_WITH(Note,
               (.many = true, .construct = text_construct, .destruct = text_destruct, .copy = text_copy,
                .move = text_move),
               length)

START_TEST(a_recorded_clone_that_fails_half_way_is_taken_back)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_pool *notes = mica_pool_of(world, Note);
    ck_assert(!mica_instance_is_nil(mica_pool_add(notes, entity)) &&
              !mica_instance_is_nil(mica_pool_add(notes, entity)));
    mica_defer(world);
    mica_set(world, entity, Number, {2});
    texts_allowed = 1;
    ck_assert(mica_is_nil(mica_clone(world, entity)));
    texts_allowed = 1 << 30;
    forget_reports(&heard);
    expect_valid(world);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 1);
    mica_defer(world);
    mica_set(world, entity, Number, {3});
    texts_allowed = 1;
    ck_assert(mica_is_nil(mica_clone(world, entity)));
    texts_allowed = 1 << 30;
    mica_world_destroy(world); /* drops what is recorded */
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(a_value_that_is_left_and_cannot_be_copied_is_not_added)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_pool *notes = mica_pool_of(world, Note);
    ck_assert(!mica_instance_is_nil(mica_pool_add(notes, entity)) &&
              !mica_instance_is_nil(mica_pool_add(notes, entity)));
    mica_defer(world);
    ck_assert(mica_pool_remove(notes, mica_pool_find(notes, entity)));
    texts_allowed = 0;
    ck_assert_ptr_null(mica_add(world, entity, Note));
    texts_allowed = 1 << 30;
    expect_report(&heard, MICA_ERROR_MEMORY, "Note");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_pool_count(notes), 1);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(an_instance_of_an_entity_that_dies_is_not_removed)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_pool *notes = mica_pool_of(world, Note);
    mica_instance note = mica_pool_add(notes, entity);
    mica_defer(world);
    ck_assert(mica_destroy(world, entity));
    ck_assert(!mica_pool_remove(notes, note));
    expect_report(&heard, MICA_ERROR_DEAD, "pool_remove");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(!mica_is_alive(world, entity));
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

typedef struct Heat { float value; } Heat;
MICA_POOL(Heat, value)

START_TEST(a_loop_over_a_pool_writes_a_singleton)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Heat, {3}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Heat), MICA_WRITE(Clock)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        mica_view_write(&view, Clock)->ticks += view.count + (uint32_t)mica_view_read(&view, Heat)->value;
    ck_assert_uint_eq(mica_singleton_get(world, Clock)->ticks, 4);
    ck_assert(mica_is_alive(world, entity));
    close_world(world, &heard);
}
END_TEST

enum { MANY = 70 };

static uint32_t calls;

static void count_call(const mica_event *event)
{
    calls += event->count;
}

static void define_marks(mica_world *world, mica_value *values)
{
    for (uint32_t i = 0; i < MANY; ++i) {
        char name[12];
        snprintf(name, sizeof name, "Mark%u", i);
        const mica_type type = {.name = name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
        values[i] = (mica_value){mica_component_define(world, &type), 0, NULL};
    }
}

START_TEST(a_hook_of_the_last_of_many_components_is_called)
{
    mica_world *world = open_world(&heard);
    mica_value values[MANY];
    define_marks(world, values);
    const uint32_t hooked[] = {0, 62, 63, 64, MANY - 1};
    for (uint32_t i = 0; i < COUNT_OF(hooked); ++i)
        mica_hook_set_id(world, values[hooked[i]].component, MICA_EVENT_ADD, count_call, NULL);
    calls = 0;
    ck_assert(!mica_is_nil(mica_create_id(world, values, MANY)));
    ck_assert_uint_eq(calls, COUNT_OF(hooked));
    close_world(world, &heard);
}
END_TEST

/* Its companion comes after 63 components too, and was not given. */
START_TEST(a_set_hook_of_the_last_of_many_components_is_called_once)
{
    mica_world *world = open_world(&heard);
    mica_value values[MANY];
    define_marks(world, values);
    const mica_type type = {
        .name = "Late", .kind = MICA_KIND_STRUCT, .size_bytes = 4, .alignment = 4, .track_added = true};
    const uint32_t number = 5;
    values[MANY - 1] = (mica_value){mica_component_define(world, &type), sizeof number, &number};
    mica_hook_set_id(world, values[MANY - 1].component, MICA_EVENT_SET, count_call, NULL);
    calls = 0;
    ck_assert(!mica_is_nil(mica_create_id(world, values, MANY)));
    ck_assert_uint_eq(calls, 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_recorded_change_calls_the_hook_of_the_last_of_many_components)
{
    mica_world *world = open_world(&heard);
    mica_value values[MANY];
    define_marks(world, values);
    mica_component last = values[MANY - 1].component;
    mica_entity entity = mica_create_id(world, values, MANY - 1);
    mica_hook_set_id(world, last, MICA_EVENT_ADD, count_call, NULL);
    mica_hook_set_id(world, last, MICA_EVENT_REMOVE, count_call, NULL);
    calls = 0;
    mica_defer(world);
    mica_add_id(world, entity, last);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(calls, 1);
    mica_defer(world);
    mica_remove_id(world, entity, last);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(calls, 2);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(ownership, a_value_with_a_destructor_ends_once_however_it_goes,
           a_recorded_value_that_cannot_be_copied_leaves_the_staged_one, a_loop_over_a_pool_writes_a_singleton,
           a_recorded_clone_that_fails_half_way_is_taken_back, a_value_that_is_left_and_cannot_be_copied_is_not_added,
           an_instance_of_an_entity_that_dies_is_not_removed,
           a_recorded_change_calls_the_hook_of_the_last_of_many_components,
           a_set_hook_of_the_last_of_many_components_is_called_once, a_hook_of_the_last_of_many_components_is_called)
