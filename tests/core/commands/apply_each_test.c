/* Recorded changes of components with hooks are applied one after the other: every hook sees the changes before its own, and none of
 * those after it. */
#include "mica/command.h"
#include "mica/hook.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/test.h"

enum { ENTITIES = 40, CALLS_MAX = 4 * ENTITIES };

typedef struct Loot { uint32_t value; } Loot;
MICA_POOL(Loot, value)

/* Moves as bytes, and is destroyed by a function. */
typedef struct Memo { char *characters; uint32_t length; } Memo;
MICA_COMPONENT_WITH(Memo, (.construct = text_construct, .destruct = text_destruct, .copy = text_copy), length)

typedef enum deed { DEED_ADD, DEED_SET, DEED_SET_AGAIN, DEED_REMOVE, DEED_CREATE, DEED_DESTROY, DEEDS } deed;

/* What a call of a hook saw: the event, its entity, and of how many entities the change was made. */
typedef struct call {
    mica_event_kind kind;
    uint32_t entity;
    uint32_t changed_count;
    float value;
} call;

typedef struct stage {
    mica_world *world;
    deed deed;
    mica_entity entities[ENTITIES];
    call calls[CALLS_MAX];
    uint32_t call_count;
} stage;

static bool is_changed(const stage *stage, uint32_t at)
{
    const Mass *mass = mica_get(stage->world, stage->entities[at], Mass);
    switch (stage->deed) {
    case DEED_ADD:
    case DEED_SET:
    case DEED_CREATE: return mass != NULL;
    case DEED_SET_AGAIN: return mass->value >= 100;
    case DEED_REMOVE:
    case DEED_DESTROY:
    case DEEDS: break;
    }
    return mass == NULL;
}

static void note_event(const mica_event *event)
{
    stage *stage = event->context;
    ck_assert_uint_eq(event->count, 1);
    ck_assert_uint_lt(stage->call_count, CALLS_MAX);
    call *made = &stage->calls[stage->call_count++];
    *made = (call){.kind = event->kind, .entity = ENTITIES};
    if (event->values && event->component == MICA_ID(Mass))
        made->value = ((const Mass *)event->values)->value;
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        made->changed_count += is_changed(stage, i);
        if (mica_same(stage->entities[i], event->entities[0]))
            made->entity = i;
    }
}

static void open_stage(stage *stage, deed deed, bool is_tracked)
{
    *stage = (struct stage){.world = mica_world_create(NULL), .deed = deed};
    for (uint32_t i = 0; deed != DEED_CREATE && i < ENTITIES; ++i) {
        stage->entities[i] = mica_create(stage->world, MICA_WITH(Position, {(float)i, 0, 0}));
        if (is_tracked)
            mica_set(stage->world, stage->entities[i], Age, {i});
        if (deed == DEED_SET_AGAIN || deed == DEED_REMOVE || deed == DEED_DESTROY)
            mica_set(stage->world, stage->entities[i], Mass, {(float)i});
    }
    for (mica_event_kind kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind)
        ck_assert_int_eq(mica_hook_set_id(stage->world, MICA_ID(Mass), kind, note_event, stage), MICA_OK);
}

static void do_deed(stage *stage, uint32_t at)
{
    mica_world *world = stage->world;
    switch (stage->deed) {
    case DEED_ADD: mica_add(world, stage->entities[at], Mass); break;
    case DEED_SET:
    case DEED_SET_AGAIN: mica_set(world, stage->entities[at], Mass, {100 + (float)at}); break;
    case DEED_REMOVE: mica_remove(world, stage->entities[at], Mass); break;
    case DEED_CREATE:
        stage->entities[at] = mica_create(world, MICA_WITH(Mass, {100 + (float)at}), MICA_WITH(Loot, {at}));
        break;
    case DEED_DESTROY:
    case DEEDS: mica_destroy(world, stage->entities[at]); break;
    }
}

/* The calls that one change makes, and the value each sees. */
static uint32_t list_expected(deed deed, uint32_t at, call *out)
{
    const float fresh = 100 + (float)at;
    switch (deed) {
    case DEED_ADD: out[0] = (call){MICA_EVENT_ADD, at, at + 1, 0}; return 1;
    case DEED_SET:
    case DEED_CREATE:
        out[0] = (call){MICA_EVENT_ADD, at, at + 1, fresh};
        out[1] = (call){MICA_EVENT_SET, at, at + 1, fresh};
        return 2;
    case DEED_SET_AGAIN: out[0] = (call){MICA_EVENT_SET, at, at + 1, fresh}; return 1;
    case DEED_REMOVE:
    case DEED_DESTROY:
    case DEEDS: break;
    }
    out[0] = (call){MICA_EVENT_REMOVE, at, at, (float)at};
    return 1;
}

START_TEST(hooks_of_recorded_changes_see_each_single_change_in_order)
{
    static stage stage;
    for (uint32_t round = 0; round < 2 * DEEDS; ++round) {
        open_stage(&stage, (deed)(round / 2), round % 2);
        mica_defer(stage.world);
        for (uint32_t i = 0; i < ENTITIES; ++i)
            do_deed(&stage, i);
        ck_assert_uint_eq(stage.call_count, 0);
        ck_assert_int_eq(mica_flush(stage.world), MICA_OK);
        uint32_t at = 0;
        for (uint32_t i = 0; i < ENTITIES; ++i) {
            call expected[2];
            uint32_t count = list_expected(stage.deed, i, expected);
            for (uint32_t j = 0; j < count; ++j, ++at) {
                const call *made = &stage.calls[at];
                if (at >= stage.call_count || made->kind != expected[j].kind || made->entity != i ||
                    made->changed_count != expected[j].changed_count || made->value != expected[j].value)
                    ck_abort_msg("deed %u, entity %u, call %u: kind %u, entity %u, %u changed, value %f",
                                 (unsigned)stage.deed, i, j, (unsigned)made->kind, made->entity, made->changed_count,
                                 (double)made->value);
            }
        }
        ck_assert_uint_eq(stage.call_count, at);
        for (uint32_t i = 0; stage.deed == DEED_CREATE && i < ENTITIES; ++i)
            ck_assert_uint_eq(mica_get(stage.world, stage.entities[i], Loot)->value, i);
        ck_assert_int_eq(mica_world_validate(stage.world), MICA_OK);
        mica_hook_set(stage.world, Mass, MICA_EVENT_REMOVE, NULL, NULL);
        mica_world_destroy(stage.world);
    }
}
END_TEST

/* A hook that destroys every second entity of the flush: what was recorded for them is made first. */
static void destroy_some(const mica_event *event)
{
    if (event->entities[0].index % 2)
        mica_destroy(event->world, event->entities[0]);
}

START_TEST(what_hooks_record_is_applied_after_all_changes_of_the_flush)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity entities[ENTITIES];
    mica_hook_set(world, Mass, MICA_EVENT_ADD, destroy_some, NULL);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        entities[i] = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_defer(world);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        mica_add(world, entities[i], Mass);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < ENTITIES; ++i)
        ck_assert(entities[i].index % 2 ? !mica_is_alive(world, entities[i]) : mica_has(world, entities[i], Mass));
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_world_destroy(world);
}
END_TEST

static void ignore_report(const mica_report *report, void *context)
{
    (void)report, (void)context;
}

/* Entities get, replace and lose Memos, and die before the flush or in it; some allocation fails, if there is one. Returns whether there
 * was. No Memo is lost or destroyed twice. */
static bool flush_memos(uint64_t failing, bool has_hook)
{
    faulty_allocator allocator;
    mica_entity entities[ENTITIES];
    Text text = text_make("some");
    mica_world_def def = mica_world_def_default();
    faulty_allocator_init(&allocator);
    def.allocator = faulty_allocator_interface(&allocator);
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    def.report = ignore_report;
    mica_world *world = mica_world_create(&def);
    mica_commands *commands = mica_commands_create(world);
    if (has_hook)
        mica_hook_set(world, Memo, MICA_EVENT_REMOVE, destroy_some, NULL);
    mica_value memo = {MICA_ID(Memo), sizeof(Memo), &text};
    for (uint32_t i = 0; i < ENTITIES; ++i)
        entities[i] = i % 3 == 1 ? mica_create_id(world, &memo, 1) : mica_create(world, MICA_WITH(Mass, {1}));
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        const mica_location here = {"here", 1};
        if (i < 30)
            mica_command_set_id(commands, entities[i], memo, here);
        else if (i < 34)
            mica_command_remove_id(commands, entities[i], MICA_ID(Memo), here);
        else if (i < 37)
            mica_command_destroy_id(commands, entities[i], here);
        else
            mica_command_create_id(commands, &memo, 1, here);
        if (i % 10 == 5)
            mica_command_remove_id(commands, entities[i], MICA_ID(Memo), here);
        if (i % 10 == 6)
            mica_command_destroy_id(commands, entities[i], here);
    }
    mica_destroy(world, entities[2]);
    mica_destroy(world, entities[4]);
    faulty_allocator_fail_at(&allocator, failing, false);
    mica_result result = mica_flush(world);
    bool failed = allocator.failures > 0;
    faulty_allocator_fail_at(&allocator, 0, false);
    ck_assert(result == MICA_OK || (failed && result == MICA_ERROR_MEMORY));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    mica_world_destroy(world);
    text_drop(&text);
    ck_assert_int_eq(texts_alive, 0);
    faulty_allocator_free(&allocator);
    return failed;
}

START_TEST(values_with_destructors_are_neither_lost_nor_destroyed_twice)
{
    for (uint32_t has_hook = 0; has_hook < 2; ++has_hook)
        for (uint64_t failing = 1; flush_memos(failing, has_hook);)
            ++failing;
}
END_TEST

TEST_SUITE(apply_each, hooks_of_recorded_changes_see_each_single_change_in_order,
           values_with_destructors_are_neither_lost_nor_destroyed_twice,
           what_hooks_record_is_applied_after_all_changes_of_the_flush)
