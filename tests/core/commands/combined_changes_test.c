/* Several recorded changes of an entity become one. A world without hooks, whose flush changes many entities at once, must end like a
 * world that has a hook for every component, whose flush changes one after the other. */
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/test.h"

enum { BUFFERS = 3, ENTITIES = 300, ROUNDS = 40, SEEDS = 60, STEPS_MAX = 5, CREATED_MAX = 64 };

typedef struct Load { uint32_t value; } Load;
typedef struct Cargo { uint64_t value; } Cargo;
typedef struct Fuel { float value; } Fuel;
MICA_POOL(Load, value)
MICA_POOL_WITH(Cargo, (.index = MICA_INDEX_HASH), value)
MICA_POOL_WITH(Fuel, (.index = MICA_INDEX_DIRECT), value)
MICA_POOL_TAG(Marked)

/* Moves as bytes, and is destroyed by a function. */
typedef struct Note { char *characters; uint32_t length; } Note;
MICA_COMPONENT_WITH(Note, (.construct = text_construct, .destruct = text_destruct, .copy = text_copy), length)

/* One step of what a round does to each of its entities. */
typedef enum deed_kind { DEED_SET, DEED_ADD, DEED_REMOVE, DEED_TOGGLE, DEED_DESTROY, DEED_KINDS } deed_kind;
typedef struct deed {
    deed_kind kind;
    uint32_t component;
    uint32_t buffer; /* BUFFERS: through the world */
} deed;

typedef struct twin {
    mica_world *world;
    mica_commands *buffers[BUFFERS];
    mica_query *changed;
    mica_snapshot snapshot;
    mica_entity entities[ENTITIES];
} twin;

static mica_component components[16];
static uint32_t component_count;
static Text note;

static void list_components(void)
{
    const mica_component all[] = {MICA_ID(Position), MICA_ID(Velocity), MICA_ID(Mass),   MICA_ID(Letter),
                                  MICA_ID(Matrix),   MICA_ID(Frozen),   MICA_ID(Enemy),  MICA_ID(Health),
                                  MICA_ID(Age),      MICA_ID(Load),     MICA_ID(Marked), MICA_ID(Cargo),
                                  MICA_ID(Fuel),     MICA_ID(Note)};
    component_count = COUNT_OF(all);
    for (uint32_t i = 0; i < component_count; ++i)
        components[i] = all[i];
}

static void ignore_event(const mica_event *event)
{
    ++*(uint64_t *)event->context;
}

static void ignore_report(const mica_report *report, void *context)
{
    (void)report, (void)context;
}

static mica_value value_of(uint32_t component, const unsigned char *data)
{
    if (components[component] == MICA_ID(Note))
        return (mica_value){components[component], sizeof note, &note};
    const mica_type *type = mica_component_type(components[component]);
    return (mica_value){components[component], type->size_bytes, type->size_bytes ? data : NULL};
}

static void open_twin(twin *twin, bool has_hooks, uint64_t *events, uint64_t seed)
{
    random_source random = {seed};
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    def.report = ignore_report;
    def.chunk_bytes_first = 512u << random_below(&random, 4);
    def.chunk_bytes_last = def.chunk_bytes_first << random_below(&random, 4);
    *twin = (struct twin){.world = mica_world_create(&def)};
    for (uint32_t i = 0; has_hooks && i < component_count; ++i)
        for (mica_event_kind kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind)
            ck_assert_int_eq(mica_hook_set_id(twin->world, components[i], kind, ignore_event, events), MICA_OK);
    for (uint32_t i = 0; i < BUFFERS; ++i)
        twin->buffers[i] = mica_commands_create(twin->world);
    twin->changed = mica_query_create(twin->world, MICA_QUERY(MICA_READ(Mass), MICA_CHANGED(Mass)));
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_value values[2] = {MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Mass, {4})};
        twin->entities[i] = mica_create_id(twin->world, values, random_below(&random, 3));
    }
}

static void do_deed(twin *twin, const deed *deed, uint32_t at, uint32_t number)
{
    static const mica_location here = {"here", 1};
    _Alignas(64) unsigned char data[64] = {(unsigned char)number, (unsigned char)at, 1};
    mica_commands *commands = deed->buffer < BUFFERS ? twin->buffers[deed->buffer] : NULL;
    mica_entity entity = twin->entities[at];
    mica_component component = components[deed->component];
    bool can_toggle = mica_component_type(component)->toggle;
    if (!mica_is_alive(twin->world, entity))
        return;
    switch (deed->kind) {
    case DEED_SET:
        if (commands)
            mica_command_set_id(commands, entity, value_of(deed->component, data), here);
        else
            mica_set_id(twin->world, entity, value_of(deed->component, data));
        break;
    case DEED_ADD:
        if (commands)
            mica_command_add_id(commands, entity, component, here);
        else
            mica_add_id(twin->world, entity, component);
        break;
    case DEED_REMOVE:
        if (commands)
            mica_command_remove_id(commands, entity, component, here);
        else
            mica_remove_id(twin->world, entity, component);
        break;
    case DEED_TOGGLE:
        if (commands && can_toggle)
            mica_command_enable_id(commands, entity, component, number % 2, here);
        break;
    case DEED_DESTROY:
    case DEED_KINDS:
        if (commands && number % 4 == 0)
            mica_command_destroy_id(commands, entity, here);
        break;
    }
}

/* Creates entities in place of others, and changes them before they exist. */
static void create_some(twin *twin, random_source random)
{
    uint32_t count = random_below(&random, CREATED_MAX), first = random_below(&random, ENTITIES - CREATED_MAX);
    uint32_t buffer = random_below(&random, BUFFERS);
    deed then = {(deed_kind)random_below(&random, DEED_KINDS), random_below(&random, component_count), buffer};
    uint32_t value_count = 1 + random_below(&random, 3), shift = random_below(&random, component_count);
    _Alignas(64) unsigned char data[64] = {3, 4, 5};
    for (uint32_t i = 0; i < count; ++i) {
        mica_value values[3];
        for (uint32_t j = 0; j < value_count; ++j)
            values[j] = value_of((shift + 4 * j) % component_count, data);
        twin->entities[first + i] =
            mica_command_create_id(twin->buffers[buffer], values, value_count, (mica_location){"there", 2});
        if (value_count > 1)
            do_deed(twin, &then, first + i, i);
    }
}

static void play_round(twin *twin, random_source random)
{
    deed deeds[STEPS_MAX];
    uint32_t count = 1 + random_below(&random, STEPS_MAX), passes = random_one_in(&random, 3) ? count : 1;
    uint32_t first = random_below(&random, ENTITIES), gap = 1 + random_below(&random, 3);
    bool is_shared = random_one_in(&random, 3);
    uint32_t buffer = random_below(&random, BUFFERS + 1);
    mica_defer(twin->world);
    for (uint32_t i = 0; i < count; ++i)
        deeds[i] =
            (deed){random_one_in(&random, 4) ? (deed_kind)random_below(&random, DEED_KINDS)
                                             : (deed_kind)random_below(&random, DEED_TOGGLE),
                   random_below(&random, component_count), is_shared ? random_below(&random, BUFFERS + 1) : buffer};
    for (uint32_t pass = 0; pass < passes; ++pass)
        for (uint32_t at = first; at < ENTITIES; at += gap)
            for (uint32_t i = passes > 1 ? pass : 0; i < (passes > 1 ? pass + 1 : count); ++i)
                if (!random_one_in(&random, 12))
                    do_deed(twin, &deeds[i], at, at + i);
    if (random_one_in(&random, 2))
        create_some(twin, random);
    ck_assert_int_eq(mica_flush(twin->world), MICA_OK);
    ck_assert_int_eq(mica_world_validate(twin->world), MICA_OK);
}

static uint64_t changed_rows(mica_query *query, mica_version since)
{
    uint64_t rows = 0;
    for (mica_view view = mica_query_begin_since(query, since); mica_view_next(&view);)
        rows += view.count;
    return rows;
}

/* In some worlds a snapshot is alive: then rows are copied before they change, and come back. */
static void take_or_restore(twin *twin, uint32_t round)
{
    if (round % 8 == 2) {
        twin->snapshot = mica_snapshot_take(twin->world);
    } else if (round % 8 == 5) {
        ck_assert_int_eq(mica_snapshot_restore(twin->world, twin->snapshot), MICA_OK);
        mica_snapshot_drop(twin->world, twin->snapshot);
    }
}

START_TEST(several_changes_of_an_entity_end_like_those_that_are_applied_one_after_the_other)
{
    static twin combined, single;
    uint64_t events = 0;
    list_components();
    note = text_make("some");
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        random_source random = {seed};
        open_twin(&combined, false, NULL, seed);
        open_twin(&single, true, &events, seed);
        for (uint32_t round = 0; round < ROUNDS; ++round) {
            random_source plan = {random_u64(&random)};
            mica_version mark = mica_world_mark(combined.world);
            ck_assert(mica_world_mark(single.world) == mark);
            play_round(&combined, plan);
            play_round(&single, plan);
            if (mica_world_hash(combined.world) != mica_world_hash(single.world))
                ck_abort_msg("seed %llu, round %u", (unsigned long long)seed, round);
            ck_assert_uint_eq(changed_rows(combined.changed, mark), changed_rows(single.changed, mark));
            if (seed % 2) {
                take_or_restore(&combined, round);
                take_or_restore(&single, round);
            }
        }
        mica_world_destroy(combined.world);
        mica_world_destroy(single.world);
    }
    text_drop(&note);
    ck_assert_uint_gt(events, 0);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

/* Flushes changes of that many entities, of several combined kinds, with a hook or without; some allocation fails, if there is one.
 * Returns whether there was. */
static bool flush_without_memory(uint32_t count, bool has_hook, uint64_t failing)
{
    faulty_allocator allocator;
    mica_entity entities[ENTITIES];
    uint64_t events = 0;
    mica_world_def def = mica_world_def_default();
    faulty_allocator_init(&allocator);
    def.allocator = faulty_allocator_interface(&allocator);
    def.report = ignore_report;
    mica_world *world = mica_world_create(&def);
    if (has_hook)
        mica_hook_set(world, Mass, MICA_EVENT_ADD, ignore_event, &events);
    for (uint32_t i = 0; i < count; ++i)
        entities[i] = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_defer(world);
    for (uint32_t i = 0; i < count; ++i) {
        mica_set(world, entities[i], Mass, {(float)i});
        mica_remove(world, entities[i], Position);
        if (i % 7 == 3 || count > 200)
            mica_set(world, entities[i], Load, {i});
        for (uint32_t j = 0; j < i % 7; ++j)
            mica_set_id(world, entities[i], (mica_value){components[5 + j % 2 + 4 * (j % 3 == 0)], 0, NULL});
    }
    faulty_allocator_fail_at(&allocator, failing, false);
    mica_result result = mica_flush(world);
    bool failed = allocator.failures > 0;
    faulty_allocator_fail_at(&allocator, 0, false);
    ck_assert(result == MICA_OK || (failed && result == MICA_ERROR_MEMORY));
    if (result != MICA_OK) {
        ck_assert(mica_has(world, entities[0], Position));
        ck_assert_int_eq(mica_flush(world), MICA_OK);
    }
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    for (uint32_t i = 0; i < count; ++i)
        ck_assert(mica_get(world, entities[i], Mass)->value == (float)i && !mica_has(world, entities[i], Position));
    ck_assert_uint_eq(events, has_hook ? count : 0);
    mica_world_destroy(world);
    faulty_allocator_free(&allocator);
    return failed;
}

START_TEST(a_flush_of_combined_changes_without_memory_can_be_tried_again)
{
    list_components();
    for (uint32_t count = 1; count < ENTITIES; count += count < 40 ? 1 : 65)
        for (uint64_t failing = 1; flush_without_memory(count, count % 2 && count < 40, failing);)
            ++failing;
}
END_TEST

/* Values with functions of their own are for targets: a set after an addition is noted there. */
START_TEST(a_set_after_an_addition_runs_the_set_hook_once)
{
    const mica_component both[] = {MICA_ID(Text), MICA_ID(Mass)};
    for (uint32_t i = 0; i < COUNT_OF(both); ++i) {
        uint64_t events = 0;
        mica_world *world = mica_world_create(NULL);
        mica_entity entity = mica_create(world);
        Text text = text_make("some");
        const Mass mass = {3};
        const mica_value values[] = {MICA_FROM(Text, &text), MICA_FROM(Mass, &mass)};
        mica_hook_set_id(world, both[i], MICA_EVENT_SET, ignore_event, &events);
        mica_defer(world);
        mica_add_id(world, entity, both[i]);
        mica_set_id(world, entity, values[i]);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_uint_eq(events, 1);
        ck_assert(mica_has_id(world, entity, both[i]));
        mica_world_destroy(world);
        text_drop(&text);
    }
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

TEST_SUITE(combined_changes, a_flush_of_combined_changes_without_memory_can_be_tried_again,
           a_set_after_an_addition_runs_the_set_hook_once,
           several_changes_of_an_entity_end_like_those_that_are_applied_one_after_the_other)
