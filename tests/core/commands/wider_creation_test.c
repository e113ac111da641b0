/* An entity that gets components right after it was created is recorded as one creation. A world in which another entity is changed after every
 * call, so that each change is recorded by itself, must end alike. */
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/hook.h"

#include <stdio.h>

enum { SEEDS = 120, ENTITIES = 40, CALLS_MAX = 10, FIRST_MAX = 4, MANY = 40 };

typedef struct Load { uint32_t value; } Load;
typedef struct Cargo { uint64_t value; } Cargo;
typedef struct Wings { float span; } Wings;
typedef struct Engine { float power; } Engine;
MICA_POOL(Load, value)
MICA_POOL_WITH(Cargo, (.many = true), value)
MICA_POOL_TAG(Marked)
MICA_COMPONENT_WITH(Wings, (.required = MICA_TYPES(Mass)), span)
MICA_COMPONENT_WITH(Engine, (.excludes = MICA_TYPES(Color)), power)

typedef struct twin {
    mica_world *world;
    mica_entity other;
    mica_entity entities[ENTITIES];
    bool is_interrupted; /* the other entity is changed after every call */
    uint32_t interruptions;
    uint64_t events;
} twin;

static mica_component components[16];
static uint32_t component_count;

static void list_components(void)
{
    const mica_component all[] = {MICA_ID(Position), MICA_ID(Mass),   MICA_ID(Letter), MICA_ID(Matrix), MICA_ID(Frozen),
                                  MICA_ID(Enemy),    MICA_ID(Health), MICA_ID(Age),    MICA_ID(Load),   MICA_ID(Cargo),
                                  MICA_ID(Marked),   MICA_ID(Wings),  MICA_ID(Engine), MICA_ID(Color),  MICA_ID(Text)};
    component_count = COUNT_OF(all);
    for (uint32_t i = 0; i < component_count; ++i)
        components[i] = all[i];
}

/* What happened, in the order in which it did. */
static void note_event(const mica_event *event)
{
    uint64_t *events = event->context;
    *events = *events * 31 + event->component * 8 + (uint32_t)event->kind + event->entities[0].index * 1024;
}

static void ignore_report(const mica_report *report, void *context)
{
    (void)report, (void)context;
}

static void open_twin(twin *twin, bool is_interrupted, bool has_hooks)
{
    *twin = (struct twin){.is_interrupted = is_interrupted};
    twin->world = mica_world_create(&(mica_world_def){.report = ignore_report});
    twin->other = mica_create(twin->world, MICA_WITH(Number, {0}));
    for (uint32_t i = 0; has_hooks && i < component_count; ++i)
        for (mica_event_kind kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind)
            mica_hook_set_id(twin->world, components[i], kind, note_event, &twin->events);
}

static void interrupt(twin *twin)
{
    if (twin->is_interrupted)
        mica_set(twin->world, twin->other, Number, {++twin->interruptions});
}

static mica_value value_of(mica_component component, const void *data)
{
    uint32_t bytes = mica_component_type(component)->size_bytes;
    return (mica_value){component, bytes, bytes ? data : NULL};
}

/* The same calls for the same source of random numbers. */
static void record(twin *twin, random_source random)
{
    static char characters[] = "text";
    static const Text text = {characters, 4};
    uint32_t calls = 0;
    mica_defer(twin->world);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        uint64_t data[16];
        mica_value values[FIRST_MAX];
        uint32_t count = random_below(&random, FIRST_MAX), first = random_below(&random, component_count);
        for (uint32_t k = 0; k < 16; ++k)
            data[k] = random_u64(&random);
        for (uint32_t k = 0; k < count; ++k) {
            mica_component component = components[(first + k * 4) % component_count];
            values[k] = value_of(component, component == MICA_ID(Text) ? (const void *)&text : data);
        }
        twin->entities[i] = mica_create_id(twin->world, values, count);
        interrupt(twin);
        for (uint32_t left = random_below(&random, CALLS_MAX); left; --left, ++calls) {
            mica_entity entity = twin->entities[random_one_in(&random, 8) ? random_below(&random, i + 1) : i];
            mica_component component = components[random_below(&random, component_count)];
            const void *value = component == MICA_ID(Text) ? (const void *)&text : data + random_below(&random, 8);
            uint32_t deed = random_below(&random, 16);
            if (deed < 8)
                mica_set_id(twin->world, entity, value_of(component, value));
            else if (deed < 13)
                mica_add_id(twin->world, entity, component);
            else if (deed < 15)
                mica_remove_id(twin->world, entity, component);
            else if (random_one_in(&random, 4))
                mica_destroy(twin->world, entity);
            interrupt(twin);
        }
    }
    mica_set(twin->world, twin->other, Number, {calls});
    mica_flush(twin->world);
}

START_TEST(a_creation_with_later_components_ends_like_separate_changes)
{
    list_components();
    for (uint32_t seed = 0; seed < SEEDS; ++seed) {
        random_source random = {setting_from_environment("SEED", 5) + seed};
        twin together, apart;
        open_twin(&together, false, seed % 2);
        open_twin(&apart, true, seed % 2);
        for (uint32_t round = 0; round < 3; ++round) {
            record(&together, random);
            record(&apart, random);
            random_u64(&random);
            ck_assert(mica_world_validate(together.world) == MICA_OK);
            ck_assert_msg(mica_world_hash(together.world) == mica_world_hash(apart.world), "seed %u, round %u", seed,
                          round);
            ck_assert_msg(together.events == apart.events, "events of seed %u, round %u", seed, round);
        }
        mica_world_destroy(together.world);
        mica_world_destroy(apart.world);
    }
}
END_TEST

/* Pointers to staged values stay good while the creation gets wider, and what is read while recording is not there yet. */
START_TEST(values_can_be_written_until_the_flush)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity made[MANY];
    mica_defer(world);
    for (uint32_t i = 0; i < MANY; ++i) {
        made[i] = mica_create(world);
        Position *position = mica_add(world, made[i], Position);
        ck_assert(position->x == 0);
        Number *number = mica_add(world, made[i], Number);
        ck_assert(mica_set(world, made[i], Mass, {(float)i}));
        ck_assert(mica_add(world, made[i], Position) == position); /* it is staged already */
        position->x = (float)i + 1;
        number->value = i + 2;
        ck_assert(!mica_has(world, made[i], Position));
    }
    mica_flush(world);
    for (uint32_t i = 0; i < MANY; ++i) {
        ck_assert(mica_get(world, made[i], Position)->x == (float)i + 1);
        ck_assert_uint_eq(mica_get(world, made[i], Number)->value, i + 2);
        ck_assert(mica_get(world, made[i], Mass)->value == (float)i);
    }
    close_world(world, &heard);
}
END_TEST

/* More components than a creation is widened by, of which each is one more kind. */
START_TEST(forty_components_are_added_one_after_the_other)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_component many[MANY];
    for (uint32_t i = 0; i < MANY; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Wide%u", i);
        many[i] = mica_component_define(
            world, &(mica_type){.name = name, .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT});
    }
    for (uint32_t round = 0; round < 3; ++round) {
        mica_entity entities[3];
        mica_defer(world);
        for (uint32_t k = 0; k < 3; ++k) {
            entities[k] = mica_create(world);
            for (uint32_t i = 0; i < MANY; ++i) {
                uint32_t value = 100 * k + i;
                ck_assert(mica_set_id(world, entities[k], (mica_value){many[i], sizeof value, &value}));
            }
        }
        mica_flush(world);
        for (uint32_t k = 0; k < 3; ++k)
            for (uint32_t i = 0; i < MANY; ++i)
                ck_assert_uint_eq(*(const uint32_t *)mica_get_id(world, entities[k], many[i]), 100 * k + i);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(wider_creation, a_creation_with_later_components_ends_like_separate_changes,
           values_can_be_written_until_the_flush, forty_components_are_added_one_after_the_other)
