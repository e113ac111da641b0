/* Memory runs out at every point of calls on worlds in rare states: full pages of handles, unused blocks of handles, more components than
 * fit on the stack, full chunks, recordings that fill their memory completely. */
#include "../support/components.h"
#include "../support/memory_scenario.h"
#include "../support/require.h"
#include "../support/test.h"

#include "core/storage/component_set.h"
#include "core/storage/rows.h"
#include "core/world/world.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"

#include <stdio.h>

enum { WIDE = 70, LANES = 400, STOCK = 70 };

static mica_component wide[WIDE + 2];

static bool flush(fixture *fixture)
{
    return mica_flush(fixture->world) == MICA_OK;
}

static void finish_flush(fixture *fixture)
{
    REQUIRE(flush(fixture));
}

/* Leaves no block of an arena that could be had without asking for memory. */
static void use_up(micap_arena *arena)
{
    for (uint32_t order = MICAP_BLOCK_ORDERS; order-- > 0;)
        for (uint32_t i = 0; i < arena->region_count; ++i)
            while (arena->regions[i].free_count[order])
                REQUIRE(micap_arena_allocate(arena, (size_t)MICAP_BLOCK_BYTES_MIN << order));
}

/* Uses up all handles below an index, which ends a page. */
static void use_handles_below(mica_world *world, uint64_t end)
{
    REQUIRE(mica_create_many(world, (uint32_t)(end - world->entities.fresh_next), NULL, 0, NULL) == MICA_OK);
    REQUIRE(!micap_entity_is_ready(&world->entities));
}

static void prepare_full_page(fixture *fixture)
{
    use_handles_below(fixture->world, MICAP_PAGE_RECORDS);
    use_up(&fixture->world->entities.arena);
}

static void prepare_row_and_full_page(fixture *fixture)
{
    fixture->pending = mica_create_id(fixture->world, &fixture->values[SAMPLE_SMALL], 1);
    REQUIRE(!mica_is_nil(fixture->pending));
    prepare_full_page(fixture);
}

static bool create_rows_and_pool(fixture *fixture, uint32_t count)
{
    const mica_value values[] = {fixture->values[SAMPLE_SMALL], fixture->values[SAMPLE_POOL]};
    mica_value columns[2];
    for (uint32_t i = 0; i < 2; ++i)
        columns[i] = (mica_value){.component = values[i].component};
    return mica_create_many(fixture->world, count, columns, 2, NULL) == MICA_OK;
}

/* A chunk with room for some rows more. */
static void prepare_rows_and_pool(fixture *fixture)
{
    REQUIRE(create_rows_and_pool(fixture, 10));
}

static bool create_crowd(fixture *fixture)
{
    return create_rows_and_pool(fixture, 3000);
}

static void prepare_full_page_and_defer(fixture *fixture)
{
    prepare_full_page(fixture);
    mica_defer(fixture->world);
}

/* One of many buffers takes a block of handles: those of the others are holes, the last of them in pages that don't exist. */
static void make_holes(fixture *fixture, uint32_t lanes)
{
    mica_commands *first = mica_commands_create(fixture->world);
    for (uint32_t i = 1; i < lanes; ++i)
        REQUIRE(mica_commands_create(fixture->world));
    REQUIRE(!mica_is_nil(mica_command_create_id(first, NULL, 0, MICA_HERE)));
    finish_flush(fixture);
}

static void prepare_holes(fixture *fixture)
{
    make_holes(fixture, LANES);
}

/* A buffer that took many handles wants as many ready for the next time, and there is no page for them. */
static void prepare_restock(fixture *fixture)
{
    prepare_full_page(fixture);
    mica_commands *commands = mica_commands_create(fixture->world);
    for (uint32_t i = 0; i < STOCK; ++i)
        REQUIRE(!mica_is_nil(mica_command_create_id(commands, NULL, 0, MICA_HERE)));
    uint64_t last = 4 * MICAP_PAGE_RECORDS, taken = 2 * MICAP_ID_BLOCK;
    REQUIRE(mica_create_many(fixture->world, (uint32_t)(last - MICAP_PAGE_RECORDS - taken), NULL, 0, NULL) == MICA_OK);
    REQUIRE(!micap_entity_is_ready(&fixture->world->entities) && fixture->world->entities.high_water == last);
}

static bool create_empty(fixture *fixture)
{
    return !mica_is_nil(mica_create(fixture->world));
}

static bool create_some(fixture *fixture)
{
    return mica_create_many(fixture->world, 20, NULL, 0, NULL) == MICA_OK;
}

static bool create_batch(fixture *fixture)
{
    const mica_batch_group groups[] = {{20, 1, &fixture->values[SAMPLE_POOL], 1}};
    mica_batch *batch;
    return mica_batch_begin(fixture->world, groups, 1, &batch) == MICA_OK &&
           mica_batch_commit(batch, NULL, 0) == MICA_OK;
}

/* More components than are looked at on the stack, and two of them missing. */
static void prepare_wide(fixture *fixture)
{
    mica_value values[WIDE];
    for (uint32_t i = 0; i < WIDE + 2; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Wide%u", i);
        const mica_type type = {.name = name, .kind = MICA_KIND_STRUCT, .size_bytes = 4, .alignment = 4};
        wide[i] = mica_component_define(fixture->world, &type);
        REQUIRE(wide[i]);
        if (i < WIDE)
            values[i] = (mica_value){wide[i], 0, NULL};
    }
    fixture->pending = mica_create_id(fixture->world, values, WIDE);
    REQUIRE(!mica_is_nil(fixture->pending));
}

/* One of its components is in a pool, so that the row alone is not all there is to copy. */
static void prepare_wide_and_pool(fixture *fixture)
{
    prepare_wide(fixture);
    REQUIRE(mica_set_id(fixture->world, fixture->pending, fixture->values[SAMPLE_POOL]));
}

static void prepare_wide_recorded(fixture *fixture)
{
    prepare_wide(fixture);
    mica_defer(fixture->world);
    for (uint32_t i = WIDE; i < WIDE + 2; ++i)
        REQUIRE(mica_add_id(fixture->world, fixture->pending, wide[i]));
}

static bool add_to_wide(fixture *fixture)
{
    return mica_add_id(fixture->world, fixture->pending, wide[WIDE]) != NULL;
}

static bool clone_wide(fixture *fixture)
{
    return !mica_is_nil(mica_clone(fixture->world, fixture->pending));
}

static bool create_query_of_few(fixture *fixture)
{
    const mica_term terms[] = {{.component = wide[3], .access = MICA_ACCESS_READ},
                               {.component = wide[WIDE], .access = MICA_ACCESS_WITHOUT}};
    return mica_query_create(fixture->world, &(mica_query_def){.terms = terms, .term_count = 2}) != NULL;
}

static bool create_query_of_singleton(fixture *fixture)
{
    const mica_term terms[] = {{.component = MICA_ID(SampleClock), .access = MICA_ACCESS_READ}};
    return mica_query_create(fixture->world, &(mica_query_def){.terms = terms, .term_count = 1}) != NULL;
}

/* Sorting needs one row beyond those there are, and no chunk has room. */
static void prepare_full_chunks(fixture *fixture)
{
    const mica_term terms[] = {{.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ}};
    fixture->query = mica_query_create(fixture->world, &(mica_query_def){.terms = terms, .term_count = 1});
    const micap_chunk *chunk;
    do
        chunk = micap_locate(fixture->world, mica_create_id(fixture->world, &fixture->values[SAMPLE_SMALL], 1)).chunk;
    while (chunk->count < chunk->capacity);
}

static bool sort_rows(fixture *fixture)
{
    return mica_query_sort_rows(fixture->query, sample_id(SAMPLE_SMALL), sample_small_compare, NULL) == MICA_OK;
}

/* Of all entities that are changed by two buffers, with one to five changes each, every third is dead by then. */
static void prepare_dead_targets(fixture *fixture)
{
    mica_commands *buffers[] = {mica_commands_create(fixture->world), mica_commands_create(fixture->world)};
    for (uint32_t i = 0; i < POPULATION; ++i)
        for (uint32_t k = 0; k <= i % 5; ++k)
            for (uint32_t b = 0; b < 2; ++b)
                REQUIRE(mica_command_set_id(buffers[b], fixture->population[i],
                                            fixture->values[SAMPLE_BYTE + (k + b) % SAMPLE_SPLIT], MICA_HERE));
    for (uint32_t i = 0; i < POPULATION; i += 3)
        REQUIRE(mica_destroy(fixture->world, fixture->population[i]));
    fixture->world->def.dead_target = MICA_DEAD_TARGET_IGNORE;
}

static void prepare_strip(fixture *fixture)
{
    mica_defer(fixture->world);
    for (uint32_t i = 0; i < POPULATION; ++i)
        REQUIRE(mica_remove_id(fixture->world, fixture->population[i], sample_id(SAMPLE_SMALL)));
}

/* A world with something of everything that a clone has to take over. */
static void prepare_rich_world(fixture *fixture)
{
    mica_world *world = fixture->world;
    make_holes(fixture, 3);
    const mica_component pair[] = {sample_id(SAMPLE_POOL), sample_id(SAMPLE_POOL_OWNER)};
    REQUIRE(mica_group_id(world, pair, 2) == MICA_OK);
    for (uint32_t i = 0; i < POPULATION; ++i)
        for (uint32_t kind = SAMPLE_POOL; kind <= SAMPLE_POOL_TAG; kind += 1 + i % 3)
            REQUIRE(mica_set_id(world, fixture->population[i], fixture->values[kind]));
    REQUIRE(!mica_is_nil(mica_create_id(world, fixture->values, SAMPLE_COUNT)));
    for (uint32_t i = 0; i < POPULATION; i += 5)
        REQUIRE(mica_destroy(world, fixture->population[i]));
    REQUIRE(mica_singleton_write(world, SampleClock));
}

static bool clone_world(fixture *fixture)
{
    mica_world *copy = mica_world_clone(fixture->world);
    bool done = copy != NULL;
    if (done)
        REQUIRE(mica_world_validate(copy) == MICA_OK && mica_world_hash(copy) == mica_world_hash(fixture->world));
    mica_world_destroy(copy);
    return done;
}

/* As a replica needs it: components that the world has never heard of. */
static bool make_archetype(fixture *fixture)
{
    micap_set set;
    REQUIRE(micap_set_init(&set, fixture->world, fixture->world->archetypes.by_id[0], 8));
    micap_set_insert(&set, micap_type_of(MICA_ID(Position)));
    micap_set_insert(&set, micap_type_of(MICA_ID(Health)));
    const micap_archetype *made = micap_archetype_of_set(fixture->world, set.ids, set.count);
    micap_set_free(&set);
    return made != NULL;
}

/* A pool with that many free rows, and an entity with several instances in it. */
static mica_pool *fill_pool(const fixture *fixture, uint32_t free_rows)
{
    mica_pool *pool = mica_pool_of_id(fixture->world, sample_id(SAMPLE_POOL_MANY));
    for (uint32_t i = 0; i < 3; ++i)
        REQUIRE(mica_pool_add(pool, fixture->population[1]).private_row);
    while (pool->row_limit + free_rows < pool->capacity)
        REQUIRE(mica_pool_add(pool, fixture->population[2]).private_row);
    use_up(&fixture->world->pools.arena);
    return pool;
}

static void prepare_full_pool(fixture *fixture)
{
    fill_pool(fixture, 0);
}

static bool clone_one(fixture *fixture)
{
    return !mica_is_nil(mica_clone(fixture->world, fixture->population[1]));
}

/* Changes to entities that are destroyed together with another one, all in one recording. */
static void prepare_deaths(fixture *fixture)
{
    for (uint32_t i = 1; i < POPULATION; ++i)
        REQUIRE(mica_set_parent(fixture->world, fixture->population[i], fixture->population[i / 4]) == MICA_OK);
    mica_defer(fixture->world);
    for (uint32_t i = 0; i < POPULATION; i += 2)
        REQUIRE(mica_set_id(fixture->world, fixture->population[i], fixture->values[SAMPLE_OWNER]));
    REQUIRE(mica_destroy(fixture->world, fixture->population[1]) &&
            mica_destroy(fixture->world, fixture->population[3]));
}

/* One buffer destroys an entity for which the next one has values, which must be dropped. */
static void prepare_death_before_values(fixture *fixture)
{
    fixture->commands = mica_commands_create(fixture->world);
    mica_defer(fixture->world);
    for (uint32_t i = 1; i < 10; ++i) {
        REQUIRE(mica_destroy(fixture->world, fixture->population[i]));
        REQUIRE(
            mica_command_set_id(fixture->commands, fixture->population[i], fixture->values[SAMPLE_OWNER], MICA_HERE));
    }
}

/* Entities of one archetype whose entries in the map of a pool are in different pages. */
static void prepare_pages_of_a_pool(fixture *fixture)
{
    mica_world *world = fixture->world;
    mica_entity near[] = {mica_create(world), mica_create(world)};
    use_handles_below(world, MICAP_PAGE_RECORDS);
    mica_entity far[] = {mica_create(world), mica_create(world)};
    mica_defer(world);
    for (uint32_t i = 0; i < 2; ++i)
        REQUIRE(mica_set_id(world, near[i], fixture->values[SAMPLE_POOL]));
    for (uint32_t i = 0; i < 2; ++i)
        REQUIRE(mica_set_id(world, far[i], fixture->values[SAMPLE_POOL]));
}

/* A value of a component whose name the world gives to another one before the flush: the change is refused, and the value dropped. */
static void prepare_namesake(fixture *fixture)
{
    static const mica_field fields[] = {{"value", NULL, 0, 4, 1, MICA_KIND_U32, NULL},
                                        {"more", NULL, 4, 4, 1, MICA_KIND_U32, NULL}};
    mica_type small = {
        .name = "Twin", .fields = fields, .field_count = 1, .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT};
    mica_type large = {
        .name = "Twin", .fields = fields, .field_count = 2, .size_bytes = 8, .alignment = 4, .kind = MICA_KIND_STRUCT};
    uint32_t value = 5;
    mica_defer(fixture->world);
    REQUIRE(mica_set_id(fixture->world, fixture->population[1], fixture->values[SAMPLE_OWNER]));
    REQUIRE(mica_set_id(fixture->world, fixture->population[1],
                        (mica_value){mica_type_intern(&small), sizeof value, &value}));
    REQUIRE(mica_component_define(fixture->world, &large));
}

static bool flush_refused(fixture *fixture)
{
    return mica_flush(fixture->world) == MICA_ERROR_LAYOUT;
}

static const scenario scenarios[] = {
    {"flush of a change that is refused", prepare_namesake, flush_refused, NULL},
    {"flush of values for entities that another buffer destroys", prepare_death_before_values, flush, NULL},
    {"flush of values in several pages of a pool", prepare_pages_of_a_pool, flush, NULL},
    {"flush of deaths in a tree", prepare_deaths, flush, NULL},
    {"an archetype of components that are new", NULL, make_archetype, NULL},
    {"clone when a pool is full", prepare_full_pool, clone_one, NULL},
    {"create when a page is full", prepare_full_page, create_empty, NULL},
    {"create_many when a page is full", prepare_full_page, create_some, NULL},
    {"a batch when a page is full", prepare_full_page, create_batch, NULL},
    {"create while the world records and a page is full", prepare_full_page_and_defer, create_empty, finish_flush},
    {"create_many into holes", prepare_holes, create_some, NULL},
    {"a flush that fills stocks", prepare_restock, flush, NULL},
    {"add to one that has many", prepare_wide, add_to_wide, NULL},
    {"clone of one that has many", prepare_wide, clone_wide, NULL},
    {"clone of one that has many, one in a pool", prepare_wide_and_pool, clone_wide, NULL},
    {"clone of a row when a page is full", prepare_row_and_full_page, clone_wide, NULL},
    {"create_many in chunks and a pool", prepare_rows_and_pool, create_crowd, NULL},
    {"flush of several changes to one that has many", prepare_wide_recorded, flush, NULL},
    {"query_create among many components", prepare_wide, create_query_of_few, NULL},
    {"query_create with a singleton", NULL, create_query_of_singleton, NULL},
    {"query_sort_rows when chunks are full", prepare_full_chunks, sort_rows, NULL},
    {"flush of changes to the dead", prepare_dead_targets, flush, NULL},
    {"create after the same change for many", prepare_strip, create_empty, finish_flush},
    {"clone of a world", prepare_rich_world, clone_world, NULL},
};

enum { SCENARIO_COUNT = sizeof scenarios / sizeof *scenarios };

START_TEST(a_call_that_runs_out_of_memory_leaves_the_world_as_it_was)
{
    scenario_fail_everywhere(&scenarios[_i]);
}
END_TEST

/* A clone is there before all its instances are, for hooks see it: one of them may use up the room that was made for the rest. */
typedef struct greedy {
    fixture *fixture;
    mica_pool *pool;
    uint64_t k;
} greedy;

static void use_up_room(const mica_event *event)
{
    const greedy *greedy = event->context;
    const mica_value *value = &greedy->fixture->values[SAMPLE_POOL_MANY];
    if (mica_has_id(event->world, event->entities[0], sample_id(SAMPLE_POOL_MANY)))
        for (uint32_t i = greedy->pool->row_limit; i < greedy->pool->capacity; ++i)
            REQUIRE(mica_set_id(event->world, greedy->fixture->population[3 + i % 8 * 4], *value));
    faulty_allocator_fail_at(&greedy->fixture->allocator, greedy->k, true);
}

START_TEST(a_clone_that_hooks_leave_no_room_for_says_so)
{
    static fixture fixture;
    bool was_short = false, failed = true;
    for (greedy greedy = {.fixture = &fixture, .k = 1}; failed; ++greedy.k) {
        fixture_open(&fixture);
        greedy.pool = fill_pool(&fixture, 6);
        mica_hook_set_id(fixture.world, sample_id(SAMPLE_SMALL), MICA_EVENT_ADD, use_up_room, &greedy);
        mica_entity clone = mica_clone(fixture.world, fixture.population[1]);
        failed = fixture.allocator.failures > 0;
        faulty_allocator_fail_at(&fixture.allocator, 0, false);
        uint32_t count = 0;
        for (mica_instance at = mica_pool_find(greedy.pool, clone); !mica_instance_is_nil(at); ++count)
            at = mica_pool_next(greedy.pool, at);
        REQUIRE(mica_is_alive(fixture.world, clone) && count >= 1 && count <= 3);
        REQUIRE(count == 3 || mica_world_take_error(fixture.world) == MICA_ERROR_MEMORY);
        was_short |= count < 3;
        mica_hook_set_id(fixture.world, sample_id(SAMPLE_SMALL), MICA_EVENT_ADD, NULL, NULL);
        REQUIRE(mica_flush(fixture.world) == MICA_OK && mica_world_validate(fixture.world) == MICA_OK);
        fixture_close(&fixture);
    }
    ck_assert(was_short);
}
END_TEST

/* Leaves only some bytes of the memory of a recording, so that it runs out in the middle of a call. */
static uint32_t room_bytes;

static void prepare_brim(fixture *fixture)
{
    mica_world *world = fixture->world;
    const mica_entity *population = fixture->population;
    micap_stage *stage = &world->deferred.recording.stage;
    const sample_kind many[] = {SAMPLE_POOL_MANY_OWNER, SAMPLE_POOL_MANY_SPLIT};
    for (uint32_t i = 0; i < 6; ++i)
        REQUIRE(mica_pool_add(mica_pool_of_id(world, sample_id(many[i % 2])), population[1]).private_row);
    mica_defer(world);
    for (uint32_t i = 1; i < 4; ++i)
        REQUIRE(mica_set_id(world, population[i], fixture->values[SAMPLE_PADDED]));
    for (uint32_t i = 4; i < 6; ++i)
        REQUIRE(mica_set_id(world, population[i], fixture->values[SAMPLE_SMALL]));
    size_t left = stage->current->bytes - stage->used;
    REQUIRE(left >= room_bytes);
    REQUIRE(micap_stage_allocate(&world->memory, stage, left - room_bytes, 1));
}

static bool set_more(fixture *fixture)
{
    return mica_set_id(fixture->world, fixture->population[1], fixture->values[SAMPLE_OWNER]);
}

static bool set_next(fixture *fixture)
{
    return mica_set_id(fixture->world, fixture->population[6], fixture->values[SAMPLE_SMALL]);
}

static bool remove_more(fixture *fixture)
{
    return mica_remove_id(fixture->world, fixture->population[1], sample_id(SAMPLE_SMALL));
}

static bool remove_next(fixture *fixture)
{
    return mica_remove_id(fixture->world, fixture->population[6], sample_id(SAMPLE_SMALL));
}

static bool add_next(fixture *fixture)
{
    return mica_add_id(fixture->world, fixture->population[7], sample_id(SAMPLE_SPLIT)) != NULL;
}

static bool switch_off(fixture *fixture)
{
    return mica_enable_id(fixture->world, fixture->population[2], sample_id(SAMPLE_SWITCHED), false);
}

static bool create_two(fixture *fixture)
{
    return !mica_is_nil(mica_create_id(fixture->world, &fixture->values[SAMPLE_OWNER], 2));
}

static bool set_again(fixture *fixture)
{
    mica_world *world = fixture->world;
    return mica_set_id(world, fixture->population[1], fixture->values[SAMPLE_OWNER]) &&
           mica_set_id(world, fixture->population[1], fixture->values[SAMPLE_OWNER]);
}

static const scenario brims[] = {
    {"set of one that is staged", prepare_brim, set_again, finish_flush},
    {"set of one that is recorded", prepare_brim, set_more, finish_flush},
    {"set of the next one", prepare_brim, set_next, finish_flush},
    {"remove from one that is recorded", prepare_brim, remove_more, finish_flush},
    {"remove from the next one", prepare_brim, remove_next, finish_flush},
    {"add to the next one", prepare_brim, add_next, finish_flush},
    {"enable", prepare_brim, switch_off, finish_flush},
    {"create", prepare_brim, create_two, finish_flush},
    {"clone", prepare_brim, clone_one, finish_flush},
};

enum { BRIM_COUNT = sizeof brims / sizeof *brims, ROOM_MAX = 400 };

START_TEST(a_recording_may_be_full_at_any_byte)
{
    for (room_bytes = 0; room_bytes <= ROOM_MAX; room_bytes += 16)
        scenario_fail_everywhere(&brims[_i]);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("memory_corner");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, a_call_that_runs_out_of_memory_leaves_the_world_as_it_was, 0, SCENARIO_COUNT);
    tcase_add_test(cases, a_clone_that_hooks_leave_no_room_for_says_so);
    tcase_add_loop_test(cases, a_recording_may_be_full_at_any_byte, 0, BRIM_COUNT);
    return test_run("memory_corner", cases);
}
