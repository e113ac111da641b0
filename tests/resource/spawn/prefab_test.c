/* A resource of one entity, spawned one by one. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/resource.h"

#include <stdio.h>

static reports heard;

static void count_call(const mica_event *event)
{
    *(uint32_t *)event->context += event->count;
}

/* The second spawn knows what the first one found out: it must do the same, and notice what has changed since. */
START_TEST(a_prefab_is_spawned_again_and_again)
{
    mica_world *saved = open_world(&heard), *world = open_world(&heard), *stranger = open_world(&heard);
    mica_entity entity = mica_create(saved, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Mass, {4}), MICA_WITH(Frozen));
    mica_blob blob;
    ck_assert_int_eq(mica_pack(saved, &(mica_save_def){.entities = &entity, .entity_count = 1}, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_define(world, Position);
    mica_define(world, Mass);
    mica_define(world, Frozen);
    uint32_t calls = 0;
    for (uint32_t round = 0; round < 6; ++round) {
        if (round == 3)
            mica_hook_set(world, Mass, MICA_EVENT_ADD, count_call, &calls);
        ck_assert_int_eq(mica_is_observed_id(world, MICA_ID(Mass)), round >= 3);
        mica_entity copy;
        mica_spawn_def def = {.out_entities = &copy, .out_capacity = 1};
        ck_assert_int_eq(mica_spawn(world, resource, round % 2 ? &def : NULL), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, round + 1);
        ck_assert_uint_eq(calls, round < 3 ? 0 : round - 2);
        if (round % 2 == 0)
            continue;
        ck_assert(mica_get(world, copy, Position)->z == 3 && mica_get(world, copy, Mass)->value == 4);
        ck_assert(mica_has(world, copy, Frozen));
    }
    mica_hook_set(world, Mass, MICA_EVENT_ADD, NULL, NULL);
    mica_entity copy;
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.out_entities = &copy}), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "out_capacity");
    mica_defer(world);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "recorded");
    mica_flush(world);
    ck_assert_int_eq(mica_spawn(stranger, resource, NULL), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "does not know component");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 6);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(stranger, &heard);
    close_world(world, &heard);
    close_world(saved, &heard);
}
END_TEST

typedef struct event_log {
    char text[1024];
    mica_entity first; /* of the spawn */
} event_log;

static void log_event(const mica_event *event)
{
    event_log *log = event->context;
    for (uint32_t i = 0; i < event->count; ++i) {
        size_t length = strlen(log->text);
        snprintf(log->text + length, sizeof log->text - length, "%d:%u=%g ", (int)event->kind,
                 event->entities[i].index - log->first.index, (double)((const Mass *)event->values)[i].value);
    }
}

START_TEST(a_component_with_hooks_is_spawned_with_the_same_events_again)
{
    mica_world *saved = open_world(&heard), *world = open_world(&heard);
    for (uint32_t i = 0; i < 5; ++i)
        mica_create(saved, MICA_WITH(Position, {0, 0, 3}), MICA_WITH(Mass, {(float)i}), MICA_WITH(Frozen));
    mica_blob blob;
    ck_assert_int_eq(mica_pack(saved, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    mica_define(world, Position);
    mica_define(world, Frozen);
    event_log logs[4] = {0};
    uint32_t calls = 0;
    mica_entity entities[5];
    mica_spawn_def def = {.out_entities = entities, .out_capacity = 5, .skip_state = true};
    for (uint32_t round = 0; round < 4; ++round) { /* the second and third take the fast path */
        event_log *log = &logs[round];
        if (round == 3)
            mica_hook_set(world, Position, MICA_EVENT_ADD, count_call, &calls);
        log->first.index = round * 5 + 1;
        mica_hook_set(world, Mass, MICA_EVENT_ADD, log_event, log);
        mica_hook_set(world, Mass, MICA_EVENT_SET, log_event, log);
        ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
        ck_assert_uint_eq(entities[4].index, log->first.index + 4);
        for (uint32_t i = 0; i < 5; ++i)
            ck_assert_float_eq(mica_get(world, entities[i], Mass)->value, (float)i);
    }
    ck_assert_msg(strstr(logs[0].text, "4=4 ") != NULL, "%s", logs[0].text);
    for (uint32_t round = 1; round < 4; ++round)
        ck_assert_str_eq(logs[round].text, logs[0].text);
    ck_assert_uint_eq(calls, 5);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
    close_world(saved, &heard);
}
END_TEST

TEST_SUITE(prefab, a_prefab_is_spawned_again_and_again, a_component_with_hooks_is_spawned_with_the_same_events_again)
