/* Several threads record into buffers of their own; the result of the flush must not depend on timing. Each buffer follows a
 * script drawn from its number, so the same recording can be made by one thread, buffer after buffer, and by many,
 * with delays: handles, reports and the hash of the world must be the same. */
#include "../support/random.h"
#include "../support/require.h"
#include "../support/sample.h"
#include "../support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
    BUFFERS_MAX = 16,
    ROUNDS = 4,
    POPULATION = 600,
    COMMANDS_PER_ROUND = UNDER_SANITIZER ? 150 : 400,
    COMMANDS_OF_AN_OVERFLOW = 3000,
    RECENT = 32,
};

/* One world with its buffers. All that a thread writes to lies in its scripts. */
typedef struct script {
    struct stage *stage;
    mica_commands *commands;
    random_source random; /* what to record */
    random_source delays; /* and how slowly; differs between runs on purpose */
    mica_entity recent[RECENT];
    uint32_t made_count;
    uint64_t handles_hash;
    uint64_t answers_hash; /* of every value returned */
} script;

typedef struct stage {
    mica_world *world;
    uint32_t buffer_count;
    uint32_t thread_count;
    uint32_t round;
    bool flushing;
    uint64_t reports_hash;
    uint64_t recording_reports_hash;
    script scripts[BUFFERS_MAX];
    mica_pool *pools[SAMPLE_COUNT]; /* NULL for what is not in one */
    mica_entity population[POPULATION];
} stage;

/* What must not depend on threads. */
typedef struct outcome {
    uint64_t world_hash;
    uint64_t handles_hash;
    uint64_t answers_hash;
    uint64_t reports_hash;
    uint64_t entity_count;
} outcome;

static const sample_kind played[] = {
    SAMPLE_SMALL,
    SAMPLE_PADDED,
    SAMPLE_OWNER,
    SAMPLE_SWITCHED,
    SAMPLE_TAG,
    SAMPLE_DATED,
    SAMPLE_SPLIT,
    SAMPLE_POOL,
    SAMPLE_POOL_HASH,
    SAMPLE_POOL_DIRECT,
    SAMPLE_POOL_OWNER,
    SAMPLE_POOL_DIRECT_OWNER,
    SAMPLE_POOL_MANY_OWNER,
    SAMPLE_POOL_MANY_SPLIT,
    SAMPLE_POOL_TAG,
};
static const sample_kind toggled[] = {SAMPLE_SWITCHED, SAMPLE_POOL_OWNER, SAMPLE_POOL_MANY_OWNER};
static const sample_kind of_many[] = {SAMPLE_POOL_MANY_OWNER, SAMPLE_POOL_MANY_SPLIT};

static sample_kind draw_kind(random_source *random)
{
    return played[random_below(random, sizeof played / sizeof *played)];
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x100000001b3u + (hash >> 29);
}

/* What a flush reports comes in a fixed order; what recordings report comes from their threads, in any. */
static void hear(const mica_report *report, void *context)
{
    stage *stage = context;
    uint64_t hash = (uint64_t)report->location.line;
    for (const char *letter = report->text; *letter; ++letter)
        hash = mix(hash, (unsigned char)*letter);
    if (stage->flushing)
        stage->reports_hash = mix(stage->reports_hash, hash);
    else
        __atomic_fetch_add(&stage->recording_reports_hash, hash, __ATOMIC_RELAXED);
}

static uint32_t recent_count(const script *script)
{
    return script->made_count < RECENT ? script->made_count : RECENT;
}

static mica_entity draw_target(script *script)
{
    if (script->made_count && random_one_in(&script->random, 3))
        return script->recent[random_below(&script->random, recent_count(script))];
    return script->stage->population[random_below(&script->random, POPULATION)];
}

static void record_create(script *script)
{
    uint32_t first = random_below(&script->random, sizeof played / sizeof *played);
    sample_kind kinds[] = {played[first], played[(first + 5) % (sizeof played / sizeof *played)]};
    sample_room rooms[2];
    mica_value values[2];
    for (uint32_t i = 0; i < 2; ++i)
        values[i] = sample_value_begin(kinds[i], random_u32(&script->random), &rooms[i]);
    mica_entity entity = mica_command_create_id(script->commands, values, 2, MICA_HERE);
    for (uint32_t i = 0; i < 2; ++i)
        sample_value_end(kinds[i], &rooms[i]);
    REQUIRE(!mica_is_nil(entity));
    REQUIRE(mica_is_alive(script->stage->world, entity));
    script->recent[script->made_count++ % RECENT] = entity;
    script->handles_hash = mix(script->handles_hash, (uint64_t)entity.generation << 32 | entity.index);
}

static void record_destroy(script *script)
{
    mica_entity entity = draw_target(script);
    script->answers_hash = mix(script->answers_hash, mica_command_destroy(script->commands, entity));
}

static void record_add(script *script)
{
    mica_entity entity = draw_target(script);
    sample_kind kind = draw_kind(&script->random);
    uint32_t number = random_u32(&script->random);
    void *staged = mica_command_add_id(script->commands, entity, sample_id(kind), MICA_HERE);
    script->answers_hash = mix(script->answers_hash, staged != NULL);
    if (staged && samples[kind].has_data)
        samples[kind].assign(staged, number);
}

static void record_instance(script *script)
{
    mica_entity entity = draw_target(script);
    sample_kind kind = of_many[random_below(&script->random, sizeof of_many / sizeof *of_many)];
    uint32_t number = random_u32(&script->random);
    void *staged = mica_command_add_instance_id(script->commands, entity, sample_id(kind), MICA_HERE);
    script->answers_hash = mix(script->answers_hash, staged != NULL);
    if (staged)
        samples[kind].assign(staged, number);
}

static void record_set(script *script)
{
    mica_entity entity = draw_target(script);
    sample_kind kind = draw_kind(&script->random);
    sample_room room;
    mica_value value = sample_value_begin(kind, random_u32(&script->random), &room);
    bool recorded = mica_command_set_id(script->commands, entity, value, MICA_HERE);
    sample_value_end(kind, &room);
    script->answers_hash = mix(script->answers_hash, recorded);
}

static void record_remove(script *script)
{
    mica_entity entity = draw_target(script);
    mica_component id = sample_id(draw_kind(&script->random));
    bool recorded = mica_command_remove_id(script->commands, entity, id, MICA_HERE);
    script->answers_hash = mix(script->answers_hash, recorded);
}

static void record_enable(script *script)
{
    mica_entity entity = draw_target(script);
    mica_component id = sample_id(toggled[random_below(&script->random, sizeof toggled / sizeof *toggled)]);
    bool on = random_one_in(&script->random, 2);
    mica_command_enable_id(script->commands, entity, id, on, MICA_HERE);
}

static uint32_t count_instances(const mica_pool *pool, mica_entity entity)
{
    uint32_t count = 0;
    mica_instance instance = mica_pool_find(pool, entity);
    for (; !mica_instance_is_nil(instance); instance = mica_pool_next(pool, instance))
        ++count;
    return count;
}

/* Looks at the world while others record: it stands still. */
static void look(script *script)
{
    const mica_world *world = script->stage->world;
    mica_entity entity = script->stage->population[random_below(&script->random, POPULATION)];
    sample_kind kind = draw_kind(&script->random);
    bool alive = mica_is_alive(world, entity);
    bool has = mica_has_id(world, entity, sample_id(kind));
    REQUIRE(alive || !has);
    script->answers_hash = mix(script->answers_hash, (uint64_t)alive << 1 | has);
    sample_room copy;
    if (sample_is_split(kind))
        REQUIRE(mica_get_value_id(world, entity, sample_id(kind), copy.bytes) == has);
    else
        REQUIRE((mica_get_id(world, entity, sample_id(kind)) != NULL) == has);
    if (has && samples[kind].has_data)
        script->answers_hash =
            mix(script->answers_hash,
                samples[kind].key(sample_is_split(kind) ? copy.bytes : mica_get_id(world, entity, sample_id(kind))));
    if (has && sample_is_many(kind))
        script->answers_hash = mix(script->answers_hash, count_instances(script->stage->pools[kind], entity));
}

static void delay(script *script)
{
    if (random_one_in(&script->delays, 16))
        sched_yield();
    for (volatile uint32_t idle = random_below(&script->delays, 200); idle > 0;)
        idle = idle - 1;
}

static void perform(script *script)
{
    static void (*const acts[])(struct script *) = {
        record_create, record_create, record_destroy,  record_add, record_add, record_set, record_set,
        record_remove, record_enable, record_instance, look,       look,       look};
    for (uint32_t i = 0; i < COMMANDS_PER_ROUND; ++i) {
        acts[random_below(&script->random, sizeof acts / sizeof *acts)](script);
        delay(script);
    }
    /* Once per stage, one buffer makes far more entities than it has handles in stock. */
    bool overflows = script == &script->stage->scripts[script->stage->buffer_count / 2] && script->stage->round == 1;
    for (uint32_t i = 0; overflows && i < COMMANDS_OF_AN_OVERFLOW; ++i)
        record_create(script);
}

typedef struct worker {
    stage *stage;
    uint32_t number;
    pthread_t thread;
} worker;

static void *work(void *context)
{
    worker *worker = context;
    for (uint32_t b = worker->number; b < worker->stage->buffer_count; b += worker->stage->thread_count)
        perform(&worker->stage->scripts[b]);
    return NULL;
}

/* With no threads at all, the caller performs the scripts one after the other. */
static void record_round(stage *stage)
{
    if (stage->thread_count == 0) {
        for (uint32_t b = 0; b < stage->buffer_count; ++b)
            perform(&stage->scripts[b]);
        return;
    }
    worker workers[BUFFERS_MAX];
    for (uint32_t t = 0; t < stage->thread_count; ++t) {
        workers[t] = (worker){.stage = stage, .number = t};
        ck_assert_int_eq(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
    }
    for (uint32_t t = 0; t < stage->thread_count; ++t)
        pthread_join(workers[t].thread, NULL);
}

static void populate(stage *stage)
{
    random_source random = {99};
    for (uint32_t i = 0; i < POPULATION; ++i) {
        mica_entity entity = mica_create(stage->world);
        for (uint32_t k = 0; k < sizeof played / sizeof *played; ++k) {
            sample_room room;
            if (random_one_in(&random, 2))
                continue;
            mica_value value = sample_value_begin(played[k], random_u32(&random), &room);
            ck_assert(mica_set_id(stage->world, entity, value));
            sample_value_end(played[k], &room);
        }
        stage->population[i] = entity;
    }
}

static void open_stage(stage *stage, uint32_t buffer_count, uint32_t thread_count, uint64_t timing)
{
    memset(stage, 0, sizeof *stage);
    stage->buffer_count = buffer_count;
    stage->thread_count = thread_count;
    mica_world_def def = mica_world_def_default();
    def.chunk_bytes_first = 512;
    def.chunk_bytes_last = 8192;
    def.report = hear;
    def.report_context = stage;
    stage->world = mica_world_create(&def);
    ck_assert_ptr_nonnull(stage->world);
    for (uint32_t k = 0; k < sizeof played / sizeof *played; ++k)
        if (sample_is_pooled(played[k]))
            stage->pools[played[k]] = mica_pool_of_id(stage->world, sample_id(played[k]));
    mica_component group[] = {sample_id(SAMPLE_POOL), sample_id(SAMPLE_POOL_HASH)};
    ck_assert_int_eq(mica_group_id(stage->world, group, 2), MICA_OK);
    populate(stage);
    for (uint32_t b = 0; b < buffer_count; ++b) {
        stage->scripts[b] = (script){.stage = stage, .random = {1000 + b}, .delays = {timing + b}};
        stage->scripts[b].commands = mica_commands_create(stage->world);
        ck_assert_ptr_nonnull(stage->scripts[b].commands);
    }
}

/* Handles that were made in the last round are ordinary targets for everyone in the next. */
static void mingle(stage *stage)
{
    for (uint32_t b = 0; b < stage->buffer_count; ++b) {
        script *script = &stage->scripts[b];
        for (uint32_t i = 0; i < recent_count(script); ++i)
            stage->population[random_below(&script->random, POPULATION)] = script->recent[i];
    }
}

static outcome run_stage(uint32_t buffer_count, uint32_t thread_count, uint64_t timing)
{
    static stage stage;
    open_stage(&stage, buffer_count, thread_count, timing);
    for (stage.round = 0; stage.round < ROUNDS; ++stage.round) {
        record_round(&stage);
        stage.flushing = true;
        ck_assert_int_eq(mica_flush(stage.world), MICA_OK);
        stage.flushing = false;
        ck_assert_int_eq(mica_world_validate(stage.world), MICA_OK);
        mica_pool_gc(stage.pools[SAMPLE_POOL_OWNER], 100);
        mingle(&stage);
    }
    outcome outcome = {.world_hash = mica_world_hash(stage.world),
                       .reports_hash = mix(stage.reports_hash, stage.recording_reports_hash),
                       .entity_count = mica_world_get_stats(stage.world).entity_count};
    for (uint32_t b = 0; b < buffer_count; ++b) {
        outcome.handles_hash = mix(outcome.handles_hash, stage.scripts[b].handles_hash);
        outcome.answers_hash = mix(outcome.answers_hash, stage.scripts[b].answers_hash);
    }
    mica_world_destroy(stage.world);
    ck_assert_int_eq(sample_owners_alive(), 0);
    return outcome;
}

static void expect_same_outcome(outcome a, outcome b)
{
    ck_assert_uint_eq(a.handles_hash, b.handles_hash);
    ck_assert_uint_eq(a.answers_hash, b.answers_hash);
    ck_assert_uint_eq(a.reports_hash, b.reports_hash);
    ck_assert_uint_eq(a.entity_count, b.entity_count);
    ck_assert_uint_eq(a.world_hash, b.world_hash);
}

START_TEST(the_outcome_does_not_depend_on_threads)
{
    static const uint32_t buffer_counts[] = {1, 2, 3, 4, 7, 16};
    static const uint32_t thread_counts[] = {1, 2, 4, 16};
    uint64_t timing = setting_from_environment("MICA_TEST_SEED", 1);
    printf("threads: delays from seed %llu\n", (unsigned long long)timing);
    for (uint32_t b = 0; b < sizeof buffer_counts / sizeof *buffer_counts; ++b) {
        outcome alone = run_stage(buffer_counts[b], 0, timing);
        for (uint32_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; ++t)
            expect_same_outcome(alone, run_stage(buffer_counts[b], thread_counts[t], timing += 1000));
    }
}
END_TEST

/* A world that is only read may be read by all. */
static void *read_everything(void *context)
{
    stage *stage = context;
    uint64_t found = 0;
    for (uint32_t i = 0; i < 20 * POPULATION; ++i) {
        mica_entity entity = stage->population[i % POPULATION];
        const void *small = mica_get_id(stage->world, entity, sample_id(SAMPLE_SMALL));
        found += mica_is_alive(stage->world, entity) && small;
        found += !mica_instance_is_nil(mica_pool_find(stage->pools[SAMPLE_POOL_OWNER], entity));
        found += mica_has_id(stage->world, entity, sample_id(SAMPLE_POOL_TAG));
        found += mica_is_enabled_id(stage->world, entity, sample_id(SAMPLE_SWITCHED));
    }
    return (void *)(uintptr_t)found;
}

START_TEST(readers_share_a_world)
{
    static stage stage;
    open_stage(&stage, 1, 0, 1);
    uint64_t hash = mica_world_hash(stage.world);
    pthread_t threads[4];
    void *found[4];
    for (uint32_t t = 0; t < 4; ++t)
        ck_assert_int_eq(pthread_create(&threads[t], NULL, read_everything, &stage), 0);
    for (uint32_t t = 0; t < 4; ++t)
        pthread_join(threads[t], &found[t]);
    for (uint32_t t = 1; t < 4; ++t)
        ck_assert_ptr_eq(found[0], found[t]);
    ck_assert_uint_eq(mica_world_hash(stage.world), hash);
    mica_world_destroy(stage.world);
}
END_TEST

START_TEST(a_recording_of_100000_creations_overflows_into_fresh_indices)
{
    static stage stage;
    open_stage(&stage, 3, 0, 1);
    enum { COUNT = UNDER_SANITIZER ? 20000 : 100000 };
    mica_entity *made = malloc(COUNT * sizeof *made);
    for (uint32_t i = 0; i < COUNT; ++i) {
        made[i] = mica_command_create_id(stage.scripts[i % 3].commands, NULL, 0, MICA_HERE);
        REQUIRE(mica_is_alive(stage.world, made[i]));
    }
    ck_assert_int_eq(mica_flush(stage.world), MICA_OK);
    ck_assert_int_eq(mica_world_validate(stage.world), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(stage.world).entity_count, POPULATION + COUNT);
    ck_assert_uint_eq(mica_destroy_many(stage.world, made, COUNT), COUNT);
    free(made);
    mica_world_destroy(stage.world);
}
END_TEST

TEST_SUITE(model_threads, the_outcome_does_not_depend_on_threads, readers_share_a_world,
           a_recording_of_100000_creations_overflows_into_fresh_indices)
