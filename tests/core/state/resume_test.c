/* The state of a world, restored by hand: as it was taken, with each of its bytes damaged, and while memory runs out. */
#include "support/faulty_allocator.h"
#include "support/random.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/batch.h"
#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "mica/state.h"

#include <stdlib.h>
#include <string.h>

typedef struct Position { float x, y; } Position;
MICA_COMPONENT_WITH(Position, (.track_added = true, .track_changed = true), x, y)
typedef struct Target { mica_entity entity; } Target;
MICA_COMPONENT(Target, entity)
typedef struct Burning { float seconds; mica_entity by; } Burning;
MICA_POOL_WITH(Burning, (.track_added = true, .track_changed = true), seconds, by)
typedef struct Item { uint32_t kind; mica_entity from; } Item;
MICA_POOL_WITH(Item, (.many = true), kind, from)
typedef struct Heat { float degrees; } Heat;
MICA_POOL(Heat, degrees)
typedef struct Fuel { float litres; } Fuel;
MICA_POOL(Fuel, litres)
typedef struct Ghost { uint32_t number; } Ghost;
MICA_POOL_WITH(Ghost, (.dying = MICA_DYING_LAZILY), number)
typedef struct Smoke { uint32_t number; } Smoke;
MICA_POOL_WITH(Smoke, (.dying = MICA_DYING_AT_FLUSH), number)
typedef struct Frozen { char unused; } Frozen;
MICA_POOL_TAG(Frozen)
typedef struct Unknown { uint32_t number; } Unknown;
MICA_COMPONENT(Unknown, number)
typedef struct Where { float x; bool is_known; } Where;
MICA_STRUCT(Where, x, is_known)
typedef struct Hit { uint32_t strength; Where where[2]; mica_entity by; mica_text words; mica_list wounds; } Hit;
MICA_STRUCT(Hit, strength, (where, Where), by, words, (wounds, mica_text))

/* So large that chunks take memory that was not there. */
typedef struct Ballast { char bytes[16384]; } Ballast;
MICA_COMPONENT(Ballast, bytes)
static bool has_ballast;

enum { ENTITIES_MAX = 128, OTHERS = 3000 };

typedef struct scene {
    mica_world *world;
    mica_commands *buffers[4];
    mica_stream *hits;
    mica_removals *removals[2];
} scene;

typedef struct sample {
    mica_state *state;
    const char *bytes;
    size_t byte_count;
    mica_entity handles[ENTITIES_MAX];
    uint32_t count;
} sample;

static mica_allocator allocator; /* of worlds; zero: malloc */

static void ignore(const mica_report *report, void *context)
{
    (void)report;
    (void)context;
}

static void is_hit(const mica_message *message)
{
    (void)message;
}

/* It records, so that it has a buffer with handles for later. */
static void create_one(const mica_frame *frame)
{
    mica_create(frame->world, MICA_WITH(Position, {5, 6}), MICA_WITH(Target, {mica_nil()}));
}

typedef struct without { bool handler, buffers, removals, system; } without;

/* Each world has another handle space than the one before, or none; one that is restored gets that of the other. */
static scene open_scene(without without)
{
    static uint32_t opened;
    mica_world_def def = mica_world_def_default();
    def.handle_space = opened++ % 3;
    def.allocator = allocator;
    def.report = ignore;
    scene scene = {.world = mica_world_create(&def)};
    mica_world *world = scene.world;
    REQUIRE(world);
    mica_define(world, Position);
    mica_define(world, Target);
    mica_define(world, Burning);
    mica_define(world, Item);
    mica_define(world, Ghost);
    mica_define(world, Smoke);
    mica_define(world, Frozen);
    mica_define(world, Ballast);
    REQUIRE(mica_group(world, Heat, Fuel) == MICA_OK);
    REQUIRE(mica_set_orphans(world, MICA_ORPHANS_STAY) == MICA_OK);
    for (uint32_t i = 0; i < 4; ++i)
        scene.buffers[i] = without.buffers ? NULL : mica_commands_create(world);
    for (uint32_t i = 0; i < 2; ++i)
        scene.removals[i] = without.removals ? NULL : mica_removals_create(world, Burning);
    scene.hits = mica_stream_create(world, MICA_STREAM(Hit));
    if (!without.handler)
        mica_handler_add(world, MICA_HANDLER(Target, Hit, is_hit));
    if (!without.system)
        mica_system_add(world, MICA_SYSTEM_ONCE_WITH(create_one, (.every_seconds = 0.05)));
    return scene;
}

static void add_pools(mica_world *world, mica_entity entity, mica_entity from, uint32_t number)
{
    for (uint32_t k = 0; k < number % 3; ++k) {
        mica_instance instance = mica_pool_add(mica_pool_of(world, Item), entity);
        *mica_instance_write(mica_pool_of(world, Item), instance, Item) = (Item){k, from};
    }
    if (number % 3 == 0)
        mica_set(world, entity, Burning, {(float)number, entity});
    if (number % 4 == 0)
        mica_set(world, entity, Heat, {(float)number});
    if (number % 2 == 0)
        mica_set(world, entity, Fuel, {(float)number});
    if (number % 5 != 0)
        mica_set(world, entity, Ghost, {number});
    if (number % 3 != 0)
        mica_set(world, entity, Smoke, {number});
    if (number % 6 == 0)
        mica_add(world, entity, Frozen);
    if (has_ballast && number % 20 == 0)
        mica_add(world, entity, Ballast);
}

/* Messages wait for the next frame after one whose changes are refused. */
static void leave_messages_waiting(const scene *scene)
{
    mica_entity entity = mica_create(scene->world);
    mica_command_set(scene->buffers[0], entity, Unknown, {1});
    mica_world_seal(scene->world, true);
    ck_assert_int_ne(mica_step(scene->world, 0.1f), MICA_OK);
    mica_world_seal(scene->world, false);
    mica_destroy(scene->world, entity);
    mica_flush(scene->world);
}

static const char long_words[] = "words that do not lie in place";

/* Entities that came and went in any order, in chunks and pools, with everything else that a state has. */
static void fill(const scene *scene, uint32_t count)
{
    mica_world *world = scene->world;
    mica_entity all[ENTITIES_MAX];
    random_source random = {count};
    REQUIRE(count <= ENTITIES_MAX);
    static mica_entity others[OTHERS];
    REQUIRE(mica_create_many(world, OTHERS, NULL, 0, others) == MICA_OK);
    for (uint32_t i = 0; i < count; ++i)
        all[i] =
            mica_create(world, MICA_WITH(Position, {(float)i, 0}), MICA_WITH(Target, {i ? all[i / 2] : mica_nil()}));
    for (uint32_t i = count; i > 0; --i)
        add_pools(world, all[i - 1], all[0], i);
    for (uint32_t i = 0; i < count; ++i)
        if (i == 0 || random_one_in(&random, 3)) /* others refer to the first */
            mica_destroy(world, all[i]);
    mica_step(world, 0.1f);
    mica_removals_read(scene->removals[1], all, 1);
    leave_messages_waiting(scene);
    /* Each buffer takes its part of the handles that come next. Those of the others are holes, until they are used. */
    mica_entity last[100];
    for (uint32_t i = 0; i < 100; ++i)
        last[i] = mica_command_create(scene->buffers[3], MICA_WITH(Position, {3, 4}), MICA_WITH(Target, {all[0]}));
    mica_destroy_many(world, others, OTHERS); /* used before holes */
    mica_flush(world);
    mica_destroy_many(world, last, 99);
    ck_assert(mica_is_alive(world, last[99]));
    for (uint32_t i = 1; i < count; i += 9) /* rows of the dead wait for the next flush */
        mica_destroy(world, all[i]);
    mica_entity room = mica_create(world); /* a name stays where it was given */
    REQUIRE(mica_name_set(world, last[99], room, "in a room that was destroyed") == MICA_OK &&
            mica_destroy(world, room));
    Hit hit = {.strength = 3, .where = {{1, true}, {2, false}}, .by = all[1], .words = mica_text_of(long_words)};
    mica_list_add(&hit.wounds, mica_text, mica_text_of("a scratch"), mica_text_of(long_words));
    mica_stream_push_id(scene->hits, &hit, sizeof hit, MICA_HERE);
    mica_broadcast_id(world, (mica_value){.component = MICA_ID(Hit), .data = &hit, .size_bytes = sizeof hit},
                      MICA_HERE);
    mica_list_clear(&hit.wounds, mica_text);
}

static sample take(const scene *scene)
{
    sample sample = {0};
    REQUIRE(mica_state_take(scene->world, &sample.state) == MICA_OK);
    sample.bytes = mica_state_bytes(sample.state, &sample.byte_count);
    mica_query *all = mica_query_create(scene->world, MICA_QUERY(MICA_READ(Position)));
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            sample.handles[sample.count++] = view.entities[i];
    for (uint32_t i = 0; i < sample.count / 2; ++i) { /* another order than that of the rows */
        mica_entity entity = sample.handles[i];
        sample.handles[i] = sample.handles[sample.count - 1 - i];
        sample.handles[sample.count - 1 - i] = entity;
    }
    mica_query_destroy(all);
    return sample;
}

/* Creates the entities of a sample in a world that is restored, with the values they have in the other one. */
static mica_result create(mica_world *world, mica_world *from, const sample *sample)
{
    static Position positions[ENTITIES_MAX];
    static Target targets[ENTITIES_MAX];
    for (uint32_t i = 0; i < sample->count; ++i) {
        positions[i] = *mica_get(from, sample->handles[i], Position);
        targets[i] = *mica_get(from, sample->handles[i], Target);
    }
    mica_value columns[] = {{.component = MICA_ID(Position), .data = positions, .size_bytes = sizeof *positions},
                            {.component = MICA_ID(Target), .data = targets, .size_bytes = sizeof *targets}};
    mica_batch_group group = {.count = sample->count, .column_count = 2, .columns = columns};
    mica_batch *batch;
    mica_result result = mica_batch_begin(world, &group, 1, &batch);
    if (result == MICA_OK)
        result = mica_batch_commit(batch, NULL, 0);
    for (uint32_t i = 0; result == MICA_OK && i < sample->count; ++i) {
        mica_entity entity = sample->handles[i];
        const Burning *burning = mica_get(from, entity, Burning);
        const Heat *heat = mica_get(from, entity, Heat);
        const Fuel *fuel = mica_get(from, entity, Fuel);
        const Ghost *ghost = mica_get(from, entity, Ghost);
        const Smoke *smoke = mica_get(from, entity, Smoke);
        if (burning)
            mica_set(world, entity, Burning, {burning->seconds, burning->by});
        if (heat)
            mica_set(world, entity, Heat, {heat->degrees});
        if (fuel)
            mica_set(world, entity, Fuel, {fuel->litres});
        if (ghost)
            mica_set(world, entity, Ghost, {ghost->number});
        if (smoke)
            mica_set(world, entity, Smoke, {smoke->number});
        if (mica_has(from, entity, Frozen))
            mica_add(world, entity, Frozen);
        if (mica_has(from, entity, Ballast))
            mica_add(world, entity, Ballast);
        const mica_pool *items = mica_pool_of(from, Item);
        for (mica_instance at = mica_pool_find(items, entity); !mica_instance_is_nil(at);
             at = mica_pool_next(items, at)) {
            mica_instance instance = mica_pool_add(mica_pool_of(world, Item), entity);
            Item *item = mica_instance_write(mica_pool_of(world, Item), instance, Item);
            if (item)
                *item = *mica_instance_read(items, at, Item);
        }
    }
    return result;
}

/* Restores a state; the world is valid, whatever happens. */
static mica_result restore(const scene *scene, mica_world *from, const sample *sample, const char *bytes)
{
    mica_resume *resume;
    mica_result result =
        mica_resume_begin(scene->world, bytes, sample->byte_count, sample->handles, sample->count, &resume);
    REQUIRE((result == MICA_OK) == (resume != NULL));
    if (result != MICA_OK)
        REQUIRE(mica_world_is_unused(scene->world));
    else if (create(scene->world, from, sample) == MICA_OK)
        result = mica_resume_end(resume);
    else
        mica_resume_cancel(resume);
    REQUIRE(mica_world_validate(scene->world) == MICA_OK);
    return result;
}

START_TEST(a_restored_world_is_the_same)
{
    scene first = open_scene((without){0});
    fill(&first, 100);
    sample sample = take(&first);
    scene second = open_scene((without){0});
    ck_assert_int_eq(restore(&second, first.world, &sample, sample.bytes), MICA_OK);
    mica_difference difference;
    ck_assert_msg(!mica_hash_diff(first.world, second.world, &difference), "%s", difference.text);
    ck_assert(mica_world_hash(first.world) == mica_world_hash(second.world));
    for (uint32_t i = 0; i < 5; ++i) {
        mica_step(first.world, 0.1f);
        mica_step(second.world, 0.1f);
        ck_assert(mica_world_hash(first.world) == mica_world_hash(second.world));
    }
    mica_entity of_first[ENTITIES_MAX], of_second[ENTITIES_MAX];
    for (uint32_t i = 0; i < 2; ++i) {
        uint32_t count = mica_removals_read(first.removals[i], of_first, ENTITIES_MAX);
        ck_assert_uint_eq(count, mica_removals_read(second.removals[i], of_second, ENTITIES_MAX));
        ck_assert_mem_eq(of_first, of_second, count * sizeof *of_first);
    }
    mica_state_free(sample.state);
    mica_world_destroy(second.world);
    mica_world_destroy(first.world);
}
END_TEST

/* What the other world does not have is left out. */
START_TEST(a_world_with_less_takes_what_it_knows)
{
    scene first = open_scene((without){0});
    fill(&first, 60);
    sample sample = take(&first);
    for (uint32_t i = 0; i < 16; ++i) {
        scene second = open_scene((without){.handler = i & 1, .buffers = i & 2, .removals = i & 4, .system = i & 8});
        ck_assert_int_eq(restore(&second, first.world, &sample, sample.bytes), MICA_OK);
        ck_assert(mica_world_hash_content(first.world) == mica_world_hash_content(second.world));
        mica_step(second.world, 0.1f);
        ck_assert_int_eq(mica_world_validate(second.world), MICA_OK);
        mica_world_destroy(second.world);
    }
    mica_state_free(sample.state);
    mica_world_destroy(first.world);
}
END_TEST

/* Handles of entities that are not created are free. */
START_TEST(a_state_may_have_entities_that_are_not_created)
{
    scene first = open_scene((without){0});
    fill(&first, 60);
    sample sample = take(&first);
    scene second = open_scene((without){0});
    mica_resume *resume;
    ck_assert_int_eq(
        mica_resume_begin(second.world, sample.bytes, sample.byte_count, sample.handles, sample.count, &resume),
        MICA_OK);
    ck_assert_int_eq(mica_resume_end(resume), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(second.world).entity_count, 0);
    ck_assert(!mica_is_alive(second.world, sample.handles[0]));
    ck_assert_int_eq(mica_world_validate(second.world), MICA_OK);
    mica_state_free(sample.state);
    mica_world_destroy(second.world);
    mica_world_destroy(first.world);
}
END_TEST

START_TEST(a_used_world_is_refused)
{
    scene first = open_scene((without){0});
    fill(&first, 20);
    sample sample = take(&first);
    mica_resume *resume;
    ck_assert_int_eq(
        mica_resume_begin(first.world, sample.bytes, sample.byte_count, sample.handles, sample.count, &resume),
        MICA_ERROR_REFUSED);
    ck_assert_ptr_null(resume);
    ck_assert_int_eq(mica_world_validate(first.world), MICA_OK);
    mica_state_free(sample.state);
    mica_world_destroy(first.world);
}
END_TEST

static char damaged_byte(char byte, uint32_t way, random_source *random)
{
    switch (way) {
    case 0: return (char)(byte ^ 1);
    case 1: return (char)(byte ^ 0x80);
    case 2: return 0;
    case 3: return (char)0xFF;
    case 4: return (char)(byte + 1);
    case 5: return (char)(byte + 2);
    default: return (char)random_below(random, 256);
    }
}

/* Each byte in several ways: the state is refused, or the world is valid and continues. */
START_TEST(every_byte_may_be_damaged)
{
    enum { WAYS = 7 };
    random_source random = {7};
    scene first = open_scene((without){0});
    fill(&first, 40);
    sample sample = take(&first);
    char *damaged = malloc(sample.byte_count);
    uint32_t refused = 0, accepted = 0;
    uint32_t step = UNDER_SANITIZER ? 11 : 1;
    for (size_t at = 0; at < sample.byte_count * WAYS; at += step) {
        memcpy(damaged, sample.bytes, sample.byte_count);
        damaged[at / WAYS] = damaged_byte(damaged[at / WAYS], at % WAYS, &random);
        scene second = open_scene((without){0});
        if (restore(&second, first.world, &sample, damaged) == MICA_OK)
            ++accepted;
        else
            ++refused;
        if (at % 5 == 0)
            mica_step(second.world, 0.1f);
        REQUIRE_SAYING(mica_world_validate(second.world) == MICA_OK, "byte %zu, way %zu", at / WAYS, at % WAYS);
        mica_world_destroy(second.world);
    }
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_gt(accepted, 0);
    for (size_t count = 0; count < sample.byte_count; count += step) {
        scene second = open_scene((without){0});
        mica_resume *resume;
        mica_result result =
            mica_resume_begin(second.world, sample.bytes, count, sample.handles, sample.count, &resume);
        ck_assert(result == MICA_ERROR_DATA || (result == MICA_OK && mica_state_check(sample.bytes, count)));
        mica_resume_cancel(resume);
        ck_assert(mica_world_is_unused(second.world));
        mica_world_destroy(second.world);
    }
    free(damaged);
    mica_state_free(sample.state);
    mica_world_destroy(first.world);
}
END_TEST

START_TEST(memory_may_run_out_at_every_allocation)
{
    static faulty_allocator faulty;
    has_ballast = true;
    scene first = open_scene((without){0});
    fill(&first, 100);
    has_ballast = false;
    sample sample = take(&first);
    faulty_allocator_init(&faulty);
    allocator = faulty_allocator_interface(&faulty);
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        scene second = open_scene((without){0});
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = restore(&second, first.world, &sample, sample.bytes);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(result == MICA_OK || (reached && result == MICA_ERROR_MEMORY));
        REQUIRE(mica_world_validate(second.world) == MICA_OK);
        mica_world_destroy(second.world);
    }
    ck_assert_uint_gt(k, 20);
    allocator = (mica_allocator){0};
    faulty_allocator_free(&faulty);
    mica_state_free(sample.state);
    mica_world_destroy(first.world);
}
END_TEST

TEST_SUITE(core_resume, a_restored_world_is_the_same, a_world_with_less_takes_what_it_knows,
           a_state_may_have_entities_that_are_not_created, a_used_world_is_refused, every_byte_may_be_damaged,
           memory_may_run_out_at_every_allocation)
