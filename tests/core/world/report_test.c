/* Reports, and the table of all functions that take a handle: a bad one is harmless everywhere. */
#define _POSIX_C_SOURCE 200809L
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "type/type.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static reports heard;

/* What a door gets to try. */
typedef struct visitor {
    mica_world *world;
    mica_commands *commands;
    mica_query *query;
    mica_entity living;
    mica_entity bad;
} visitor;

/* Each returns whether the result was the harmless one. */
static bool try_alive(visitor *v)
{
    return !mica_is_alive(v->world, v->bad);
}
static bool try_destroy(visitor *v)
{
    return !mica_destroy(v->world, v->bad);
}
static bool try_add(visitor *v)
{
    return mica_add(v->world, v->bad, Mass) == NULL;
}
static bool try_add_tag(visitor *v)
{
    return mica_add(v->world, v->bad, Frozen) == NULL;
}
static bool try_set(visitor *v)
{
    return !mica_set(v->world, v->bad, Number, {99});
}
static bool try_remove(visitor *v)
{
    return !mica_remove(v->world, v->bad, Number);
}
static bool try_has(visitor *v)
{
    return !mica_has(v->world, v->bad, Number);
}
static bool try_get(visitor *v)
{
    return mica_get(v->world, v->bad, Number) == NULL;
}
static bool try_write(visitor *v)
{
    return mica_write(v->world, v->bad, Number) == NULL;
}
static bool try_enable(visitor *v)
{
    return !mica_enable(v->world, v->bad, Health);
}
static bool try_disable(visitor *v)
{
    return !mica_disable(v->world, v->bad, Health);
}
static bool try_enabled(visitor *v)
{
    return !mica_is_enabled(v->world, v->bad, Health);
}
static bool try_clone(visitor *v)
{
    return mica_is_nil(mica_clone(v->world, v->bad));
}
static bool try_command_destroy(visitor *v)
{
    return !mica_command_destroy(v->commands, v->bad);
}
static bool try_command_add(visitor *v)
{
    return mica_command_add(v->commands, v->bad, Mass) == NULL;
}
static bool try_command_set(visitor *v)
{
    return !mica_command_set(v->commands, v->bad, Number, {99});
}
static bool try_command_remove(visitor *v)
{
    return !mica_command_remove(v->commands, v->bad, Number);
}
static bool try_command_enable(visitor *v)
{
    return !mica_command_enable(v->commands, v->bad, Health);
}
static bool try_matches(visitor *v)
{
    return !mica_query_matches(v->query, v->bad);
}
static bool try_name_of(visitor *v)
{
    return mica_name_get(v->world, v->bad) == NULL;
}
static bool try_destroy_many(visitor *v)
{
    return mica_destroy_many(v->world, &v->bad, 1) == 0;
}

static bool try_components_of(visitor *v)
{
    mica_component none[4] = {1, 2, 3, 4};
    return mica_get_components(v->world, v->bad, none, 4) == 0 && none[0] == 1;
}

static bool try_name_set(visitor *v)
{
    return mica_name_set(v->world, v->bad, mica_nil(), "ghost") == MICA_ERROR_DEAD;
}

static bool try_scope(visitor *v)
{
    return mica_is_nil(v->bad) || mica_name_set(v->world, v->living, v->bad, "ghost") == MICA_ERROR_DEAD;
}

static bool try_find_from(visitor *v)
{
    return mica_is_nil(mica_find_from(v->world, v->bad, "ghost"));
}

static bool try_ref(visitor *v)
{
    mica_ref ref = mica_ref_of(v->bad, Number);
    return mica_ref_read(v->world, &ref, Number) == NULL && mica_ref_write(v->world, &ref, Number) == NULL;
}

static bool try_get_many(visitor *v)
{
    const Number *found = mica_get(v->world, v->living, Number);
    return mica_get_many(v->world, &v->bad, 1, Number, &found) == 0 && found == NULL;
}

/* The same doors while the world records. */
static bool try_while_recording(visitor *v)
{
    mica_defer(v->world);
    bool harmless = try_destroy(v) && try_add(v) && try_set(v) && try_remove(v) && try_enable(v) && try_clone(v);
    return mica_flush(v->world) == MICA_OK && harmless;
}

typedef enum said { QUIET, REPORTS, ANYHOW } said;

static const struct {
    const char *name;
    bool (*is_harmless)(visitor *v);
    said expected;
} doors[] = {
    {"mica_is_alive", try_alive, QUIET},
    {"mica_destroy", try_destroy, REPORTS},
    {"mica_add", try_add, REPORTS},
    {"mica_add of a tag", try_add_tag, REPORTS},
    {"mica_set", try_set, REPORTS},
    {"mica_remove", try_remove, REPORTS},
    {"mica_has", try_has, QUIET},
    {"mica_get", try_get, QUIET},
    {"mica_write", try_write, QUIET},
    {"mica_enable", try_enable, REPORTS},
    {"mica_disable", try_disable, REPORTS},
    {"mica_is_enabled", try_enabled, QUIET},
    {"mica_get_components", try_components_of, QUIET},
    {"mica_clone", try_clone, REPORTS},
    {"mica_command_destroy", try_command_destroy, REPORTS},
    {"mica_command_add", try_command_add, REPORTS},
    {"mica_command_set", try_command_set, REPORTS},
    {"mica_command_remove", try_command_remove, REPORTS},
    {"mica_command_enable", try_command_enable, REPORTS},
    {"mica_query_matches", try_matches, QUIET},
    {"mica_name_set", try_name_set, REPORTS},
    {"mica_name_set in a scope", try_scope, ANYHOW},
    {"mica_name_get", try_name_of, QUIET},
    {"mica_find_from", try_find_from, QUIET},
    {"mica_ref", try_ref, QUIET},
    {"mica_destroy_many", try_destroy_many, QUIET},
    {"mica_get_many", try_get_many, QUIET},
    {"everything while recording", try_while_recording, ANYHOW},
};

START_TEST(a_bad_handle_is_harmless_at_every_door)
{
    mica_world *world = open_world(&heard);
    mica_entity stale = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Health, {1, 1}));
    mica_destroy(world, stale);
    mica_entity living = mica_create(world, MICA_WITH(Number, {2}), MICA_WITH(Health, {1, 1}));
    const mica_entity bad[] = {
        mica_nil(),
        stale,
        {living.index, 0},
        {living.index, living.generation + 1},
        {living.index, living.generation - 1},
        {living.index, living.generation | 1u << 24},
        {living.index, UINT32_MAX},
        {living.index + 1, living.generation},
        {living.index + 1, 1},
        {1000000, 1},
        {UINT32_MAX, 1},
        {UINT32_MAX, UINT32_MAX},
        {0, UINT32_MAX},
    };
    mica_query *query = mica_query_create(world, &(const mica_query_def){.name = "all"});
    mica_commands *commands = mica_commands_create(world);
    uint64_t before = mica_world_hash(world);
    for (uint32_t handle = 0; handle < COUNT_OF(bad); ++handle)
        for (uint32_t door = 0; door < COUNT_OF(doors); ++door) {
            visitor v = {world, commands, query, living, bad[handle]};
            ck_assert_msg(doors[door].is_harmless(&v), "%s with bad handle %u", doors[door].name, handle);
            bool has_report = heard.count > 0;
            for (uint32_t i = 0; i < heard.count && i < REPORTS_MAX; ++i)
                ck_assert_msg(heard.list[i].result == MICA_ERROR_DEAD, "%s with bad handle %u says: %s",
                              doors[door].name, handle, heard.list[i].text);
            ck_assert_msg(doors[door].expected != REPORTS || has_report, "%s with bad handle %u says nothing",
                          doors[door].name, handle);
            ck_assert_msg(doors[door].expected != QUIET || !has_report, "%s with bad handle %u complains: %s",
                          doors[door].name, handle, heard.list[0].text);
            forget_reports(&heard);
            ck_assert_msg(mica_flush(world) == MICA_OK, "%s with bad handle %u recorded something", doors[door].name,
                          handle);
            ck_assert_msg(mica_world_hash(world) == before, "%s with bad handle %u changed the world", doors[door].name,
                          handle);
            expect_valid(world);
        }
    ck_assert_msg(mica_get(world, living, Number)->value == 2, "the living one is untouched");
    close_world(world, &heard);
}
END_TEST

START_TEST(every_result_has_its_own_text)
{
    for (int a = MICA_OK; a <= MICA_ERROR_FILE; ++a) {
        const char *text = mica_result_text((mica_result)a);
        ck_assert_msg(text && *text, "result %d has a text", a);
        for (int b = MICA_OK; b < a; ++b)
            ck_assert_msg(strcmp(text, mica_result_text((mica_result)b)) != 0, "results %d and %d have one text", a, b);
    }
    ck_assert_str_eq(mica_result_text(MICA_ERROR_MEMORY), "out of memory");
    ck_assert_msg(mica_result_text((mica_result)12345) != NULL, "even a result that is none has one");
}
END_TEST

START_TEST(reports_name_the_handle_and_what_was_tried)
{
    mica_world *world = open_world(&heard);
    mica_create(world);
    mica_entity dead = mica_create(world);
    mica_destroy(world, dead);
    mica_set(world, dead, Position, {1, 2, 3});
    const heard_report *report = expect_report(&heard, MICA_ERROR_DEAD, "set");
    char index[16];
    snprintf(index, sizeof index, "%u", dead.index);
    ck_assert_msg(strstr(report->text, index) != NULL, "the handle is named: %s", report->text);
    close_world(world, &heard);
}
END_TEST

START_TEST(without_a_handler_reports_go_to_stderr)
{
    char said[1024] = {0};
    FILE *file = tmpfile();
    ck_assert_msg(file != NULL, "a file is made");
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    mica_world *world = mica_world_create(NULL);
    mica_destroy(world, mica_nil());
    mica_singleton_get_id(world, MICA_ID(Position));
    mica_query_create(world, &(const mica_query_def){MICA_TERMS(MICA_ADDED(Position)), .name = "finder",
                                                     .location = {"level.c", 123}});
    mica_world_destroy(world);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    size_t length = fread(said, 1, sizeof said - 1, file);
    fclose(file);
    ck_assert_msg(length > 0 && strstr(said, "mica") != NULL, "it names the library: %s", said);
    ck_assert_msg(strstr(said, "component Position is not a singleton") != NULL, "without a place, too: %s", said);
    ck_assert_msg(strstr(said, "level.c:123") != NULL, "and the place, as compilers do: %s", said);
    ck_assert_msg(strstr(said, "finder") != NULL, "and what is wrong: %s", said);
}
END_TEST

/* The handler may ask its world; it is told which by the test. */
static mica_world *asked;

static void take_error(const mica_report *report, void *context)
{
    ++*(uint32_t *)context;
    ck_assert_msg(!asked || mica_world_take_error(asked) == report->result, "the error that is reported is taken");
}

START_TEST(results_do_not_depend_on_a_handler_that_takes_the_error)
{
    uint32_t calls = 0;
    mica_world_def def = mica_world_def_default();
    def.report = take_error;
    def.report_context = &calls;
    mica_world *world = asked = mica_world_create(&def);
    mica_entity entities[3];
    for (uint32_t i = 0; i < 3; ++i)
        entities[i] = mica_create(world, MICA_WITH(Position, {1, 0, 0}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Position)));
    mica_world_seal(world, true);
    ck_assert_msg(mica_create_many(world, 3, &(const mica_value)MICA_WITH(Mass), 1, NULL) == MICA_ERROR_REFUSED,
                  "creating many of one");
    ck_assert_msg(mica_add_all(query, Mass, {1}) == MICA_ERROR_REFUSED, "adding it to all");
    ck_assert_msg(mica_name_set(world, mica_nil(), mica_nil(), "none") == MICA_ERROR_DEAD, "naming nil");
    mica_defer(world);
    mica_set(world, entities[0], Position, {5, 0, 0});
    mica_set(world, entities[1], Mass, {1});
    mica_set(world, entities[2], Position, {6, 0, 0});
    ck_assert_msg(mica_flush(world) == MICA_ERROR_REFUSED, "a flush that needs a new archetype");
    for (uint32_t i = 0; i < 3; ++i)
        ck_assert_msg(mica_get(world, entities[i], Position)->x == 1, "it changed nothing of %u", i);
    ck_assert_msg(calls == 4, "each is reported once: %u", calls);
    ck_assert_msg(mica_world_take_error(world) == MICA_OK, "and taken by the handler");
    mica_world_seal(world, false);
    ck_assert_msg(mica_flush(world) == MICA_OK && mica_has(world, entities[1], Mass), "the flush can be tried again");
    ck_assert_msg(mica_world_validate(world) == MICA_OK, "and the world is whole");
    asked = NULL;
    mica_world_destroy(world);
}
END_TEST

static mica_removals *listed;

static void end_list_in_hook(const mica_event *event)
{
    void *context = event->context;
    (void)event;
    (void)context;
    mica_removals_destroy(listed);
}

START_TEST(invalid_calls_are_rejected_with_a_reason)
{
    mica_world *world = open_world(&heard);
    ck_assert(mica_is_nil(mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Number, {2}))));
    expect_report(&heard, MICA_ERROR_INVALID, "Number is given twice");
    ck_assert_int_eq(mica_hook_set(world, Clock, MICA_EVENT_ADD, end_list_in_hook, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "Clock is not one that an entity can have");
    mica_component hidden = micap_type_of(MICA_ID(Health))->enabled;
    ck_assert_int_eq(mica_hook_set_id(world, hidden, MICA_EVENT_ADD, end_list_in_hook, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "not one that an entity can have");
    ck_assert(!mica_component_find(world, NULL));
    expect_report(&heard, MICA_ERROR_INVALID, "name must not be NULL");
    mica_entity plain = mica_create(world);
    ck_assert(!mica_enable_id(world, plain, 60000, true));
    expect_report(&heard, MICA_ERROR_INVALID, "can't be toggled");
    ck_assert_ptr_null(mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Clock))));
    expect_report(&heard, MICA_ERROR_INVALID, "can only be read or written");
    ck_assert_int_eq(mica_add_all(NULL, Number, {1}), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_remove_all(NULL, Number), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_destroy_all(NULL), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_query_sort_rows(NULL, MICA_ID(Number), NULL, NULL), MICA_ERROR_INVALID);

    listed = mica_removals_create(world, Number);
    mica_hook_set(world, Number, MICA_EVENT_ADD, end_list_in_hook, NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    expect_report(&heard, MICA_ERROR_REFUSED, "can't be destroyed inside a hook");
    mica_destroy(world, entity);
    mica_entity gone;
    ck_assert_uint_eq(mica_removals_read(listed, &gone, 1), 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(lists_of_removals_use_the_room_of_what_was_read)
{
    mica_world *world = open_world(&heard);
    mica_removals *removals = mica_removals_create(world, Number);
    mica_entity gone[3], next[40];
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < 40; ++i)
        next[i] = mica_create(world, MICA_WITH(Number, {i}));
    for (uint32_t i = 0; i < 40; ++i) {
        mica_destroy(world, next[i]);
        if (i % 4 == 3)
            for (uint32_t k = mica_removals_read(removals, gone, 3); k-- > 0; ++wanted)
                ck_assert(mica_same(next[wanted], gone[2 - k]));
    }
    ck_assert_uint_eq(wanted, 30);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(report, a_bad_handle_is_harmless_at_every_door, every_result_has_its_own_text,
           reports_name_the_handle_and_what_was_tried, without_a_handler_reports_go_to_stderr,
           results_do_not_depend_on_a_handler_that_takes_the_error, invalid_calls_are_rejected_with_a_reason,
           lists_of_removals_use_the_room_of_what_was_read)
