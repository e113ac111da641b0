/* Memory runs out at every point of every call. Each scenario is one public call on a prepared world. It is run with
 * the first allocation failing, then the second, and so on until the call needs no more. After each failure the error
 * is known, the invariants hold and the world is as it was; the same call then succeeds and ends where a call that never
 * failed ends. Owning components take their memory from the same allocator, so constructors and copies fail too. */
#include "../support/memory_scenario.h"
#include "../support/require.h"
#include "../support/test.h"
#include "core/storage/rows.h"
#include "core/world/world.h"
#include "mica/batch.h"

#include <stdio.h>

enum { CREATIONS = 300 };

static void prepare_query(fixture *fixture)
{
    mica_term terms[] = {{.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ}};
    fixture->query = mica_query_create(fixture->world, &(mica_query_def){.terms = terms, .term_count = 1});
    REQUIRE(fixture->query);
}

static void prepare_sorted_query(fixture *fixture)
{
    mica_term terms[] = {{.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ}};
    fixture->query = mica_query_create(fixture->world, &(mica_query_def){.terms = terms,
                                                                         .term_count = 1,
                                                                         .order_by = sample_id(SAMPLE_SMALL),
                                                                         .compare = sample_small_compare});
    REQUIRE(fixture->query);
}

static void prepare_defer(fixture *fixture)
{
    mica_defer(fixture->world);
}

static void prepare_commands(fixture *fixture)
{
    fixture->commands = mica_commands_create(fixture->world);
    REQUIRE(fixture->commands);
}

static void prepare_owners(fixture *fixture)
{
    for (uint32_t i = 0; i < POPULATION; ++i)
        REQUIRE(mica_set_id(fixture->world, fixture->population[i], fixture->values[SAMPLE_OWNER]));
    prepare_query(fixture);
}

static void prepare_deferred_owners(fixture *fixture)
{
    prepare_owners(fixture);
    prepare_defer(fixture);
}

static void prepare_deferred_query(fixture *fixture)
{
    prepare_query(fixture);
    prepare_defer(fixture);
}

/* Something of everything in one flush: the same through either door. */
static void prepare_deferred(fixture *fixture)
{
    mica_world *world = fixture->world;
    const mica_entity *population = fixture->population;
    prepare_query(fixture);
    mica_defer(world);
    fixture->pending = mica_create_id(world, fixture->values, 8);
    REQUIRE(!mica_is_nil(fixture->pending));
    REQUIRE(mica_set_id(world, fixture->pending, fixture->values[SAMPLE_SWITCHED_OWNER]));
    for (uint32_t i = 0; i < POPULATION; ++i)
        REQUIRE(mica_set_id(world, population[i], fixture->values[1 + i % (SAMPLE_COUNT - 1)]));
    for (uint32_t i = 0; i < POPULATION; i += 3)
        REQUIRE(mica_remove_id(world, population[i], sample_id(SAMPLE_SMALL)));
    for (uint32_t i = 0; i < POPULATION; i += 7)
        REQUIRE(mica_destroy(world, population[i]));
    REQUIRE(mica_add_id(world, population[1], sample_id(SAMPLE_BIG)));
    REQUIRE(mica_enable_id(world, population[2], sample_id(SAMPLE_SWITCHED), false));
    for (uint32_t i = 0; i < 30; ++i)
        REQUIRE(!mica_is_nil(mica_create_id(world, &fixture->values[SAMPLE_WIDE], 3)));
}

static void prepare_recorded(fixture *fixture)
{
    mica_commands *buffers[3];
    for (uint32_t b = 0; b < 3; ++b)
        buffers[b] = mica_commands_create(fixture->world);
    for (uint32_t i = 0; i < POPULATION; ++i) {
        mica_commands *commands = buffers[i % 3];
        const mica_entity *population = fixture->population;
        REQUIRE(mica_command_set_id(commands, population[i], fixture->values[SAMPLE_OWNER], MICA_HERE));
        REQUIRE(mica_command_add_id(commands, population[i], sample_id(SAMPLE_SEEDED), MICA_HERE));
        REQUIRE(mica_command_remove_id(commands, population[i], sample_id(SAMPLE_SMALL), MICA_HERE));
        REQUIRE(!mica_is_nil(mica_command_create_id(commands, &fixture->values[SAMPLE_SEEDED], 3, MICA_HERE)));
    }
    REQUIRE(mica_command_destroy(buffers[2], fixture->population[0]));
    prepare_query(fixture);
}

/* Entities that are alike, and one change of all of them. Ends with the first failure: the order of what is recorded decides about the order of rows. */
static bool record_alike(fixture *fixture, sample_kind kind)
{
    for (uint32_t i = 0; i < CROWD; ++i)
        if (!mica_set_id(fixture->world, fixture->crowd[i], fixture->values[kind]))
            return false;
    return true;
}

static void prepare_crowd(fixture *fixture)
{
    prepare_query(fixture);
    for (uint32_t i = 0; i < CROWD; ++i)
        fixture->crowd[i] = mica_create(fixture->world);
    mica_defer(fixture->world);
}

static void prepare_strip(fixture *fixture)
{
    prepare_crowd(fixture);
    REQUIRE(record_alike(fixture, SAMPLE_SMALL));
}

static void prepare_pool_strip(fixture *fixture)
{
    prepare_crowd(fixture);
    REQUIRE(record_alike(fixture, SAMPLE_POOL));
}

static bool record_strip(fixture *fixture)
{
    return record_alike(fixture, SAMPLE_SMALL);
}

/* After what was recorded for the first ones, there is something else to do for one of them. */
static bool record_beside_strip(fixture *fixture)
{
    return mica_remove_id(fixture->world, fixture->population[1], sample_id(SAMPLE_SMALL));
}

static void prepare_requiring(fixture *fixture)
{
    for (uint32_t i = 0; i < POPULATION; i += 2) /* some have a part of what is required */
        REQUIRE(mica_set_id(fixture->world, fixture->population[i], fixture->values[SAMPLE_SWITCHED_OWNER]));
    prepare_query(fixture);
}

static bool create_requiring(fixture *fixture)
{
    return !mica_is_nil(mica_create_id(fixture->world, &fixture->values[SAMPLE_POOL_REQUIRING], 1));
}

static bool create_many_requiring(fixture *fixture)
{
    mica_value values[] = {{sample_id(SAMPLE_REQUIRING), 0, NULL}};
    return mica_create_many(fixture->world, 20, values, 1, NULL) == MICA_OK;
}

/* The list is too long for the stack, and has nothing in pools whose rows outlive their owner. */
static bool batch_requiring(fixture *fixture)
{
    mica_value values[18] = {{sample_id(SAMPLE_POOL_REQUIRING), 0, NULL}};
    for (uint32_t i = 1; i < 14; ++i)
        values[i] = (mica_value){sample_id((sample_kind)(SAMPLE_BYTE + i - 1)), 0, NULL};
    for (uint32_t i = 14; i < 18; ++i)
        values[i] = (mica_value){sample_id((sample_kind)(SAMPLE_POOL_TAG + i - 14)), 0, NULL};
    mica_batch_group groups[] = {{3, 18, values, 0}, {2, 0, NULL, 0}};
    mica_batch *batch;
    return mica_batch_begin(fixture->world, groups, 2, &batch) == MICA_OK &&
           mica_batch_commit(batch, NULL, 0) == MICA_OK;
}

static bool add_requiring(fixture *fixture)
{
    return mica_add_id(fixture->world, fixture->population[0], sample_id(SAMPLE_REQUIRING)) != NULL;
}

static bool set_pool_requiring(fixture *fixture)
{
    return mica_set_id(fixture->world, fixture->population[1], fixture->values[SAMPLE_POOL_REQUIRING]);
}

static bool add_requiring_to_all(fixture *fixture)
{
    return mica_add_all_id(fixture->query, fixture->values[SAMPLE_REQUIRING]) == MICA_OK;
}

static bool add_pool_requiring_to_all(fixture *fixture)
{
    return mica_add_all_id(fixture->query, fixture->values[SAMPLE_POOL_REQUIRING]) == MICA_OK;
}

static void prepare_recorded_requiring(fixture *fixture)
{
    prepare_requiring(fixture);
    mica_defer(fixture->world);
    for (uint32_t i = 0; i < POPULATION; ++i)
        REQUIRE(mica_add_id(fixture->world, fixture->population[i],
                            sample_id(i % 3 ? SAMPLE_REQUIRING : SAMPLE_POOL_REQUIRING)));
}

/* Two changes each, which are combined, of so many entities that the plan needs memory again and again. */
static void prepare_combined_requiring(fixture *fixture)
{
    mica_defer(fixture->world);
    for (uint32_t i = 0; i < 300; ++i) {
        mica_entity entity = mica_create(fixture->world);
        REQUIRE(mica_set_id(fixture->world, entity, fixture->values[SAMPLE_SMALL]));
        REQUIRE(mica_add_id(fixture->world, entity, sample_id(i % 3 ? SAMPLE_REQUIRING : SAMPLE_POOL_REQUIRING)));
    }
}

static bool define(fixture *fixture)
{
    return mica_component_define(fixture->world, samples[SAMPLE_DATED_TAG].type) != 0;
}

static bool create_empty(fixture *fixture)
{
    return !mica_is_nil(mica_create(fixture->world));
}

static bool create_full(fixture *fixture)
{
    return !mica_is_nil(mica_create_id(fixture->world, fixture->values, SAMPLE_COUNT));
}

static bool create_defaults(fixture *fixture)
{
    mica_value values[SAMPLE_COUNT];
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        values[kind] = (mica_value){sample_id(kind), 0, NULL};
    return !mica_is_nil(mica_create_id(fixture->world, values, SAMPLE_COUNT));
}

static bool create_many(fixture *fixture)
{
    mica_value values[] = {{sample_id(SAMPLE_OWNER), 0, NULL}, {sample_id(SAMPLE_WIDE), 0, NULL}};
    return mica_create_many(fixture->world, CREATIONS, values, 2, NULL) == MICA_OK;
}

static bool create_many_where_some_live(fixture *fixture)
{
    mica_value values[] = {{sample_id(SAMPLE_SMALL), 0, NULL}, {sample_id(SAMPLE_OWNER), 0, NULL}};
    return mica_create_many(fixture->world, 60, values, 2, NULL) == MICA_OK;
}

static bool create_batch(fixture *fixture)
{
    mica_value values[] = {{sample_id(SAMPLE_OWNER), 0, NULL}, {sample_id(SAMPLE_WIDE), 0, NULL}};
    const mica_batch_group groups[] = {{CREATIONS, 2, values, 0}, {30, 1, values, 0}, {CREATIONS, 2, values, 7}};
    mica_batch *batch;
    return mica_batch_begin(fixture->world, groups, 3, &batch) == MICA_OK &&
           mica_batch_commit(batch, NULL, 0) == MICA_OK;
}

static bool destroy(fixture *fixture)
{
    return mica_destroy(fixture->world, fixture->population[5]);
}

static bool destroy_many(fixture *fixture)
{
    return mica_destroy_many(fixture->world, fixture->population, POPULATION) == POPULATION;
}

static bool add(fixture *fixture)
{
    return mica_add_id(fixture->world, fixture->population[0], sample_id(SAMPLE_SWITCHED_OWNER)) != NULL;
}

static bool add_tag(fixture *fixture)
{
    return mica_add_id(fixture->world, fixture->population[1], sample_id(SAMPLE_SWITCHED_TAG)) != NULL;
}

static bool set_new(fixture *fixture)
{
    return mica_set_id(fixture->world, fixture->population[0], fixture->values[SAMPLE_SWITCHED_OWNER]);
}

static bool overwrite_owner(fixture *fixture)
{
    mica_entity owner = fixture->population[1];
    return mica_set_id(fixture->world, owner, fixture->values[SAMPLE_OWNER]);
}

static bool take(fixture *fixture)
{
    return mica_remove_id(fixture->world, fixture->population[1], sample_id(SAMPLE_SMALL));
}

static bool clone_one(fixture *fixture)
{
    return !mica_is_nil(mica_clone(fixture->world, fixture->population[1]));
}

static void prepare_everything(fixture *fixture)
{
    fixture->pending = mica_create_id(fixture->world, fixture->values, SAMPLE_COUNT);
    REQUIRE(!mica_is_nil(fixture->pending));
}

/* A row of bytes in a chunk that is full. */
static void prepare_full_chunk(fixture *fixture)
{
    fixture->pending = mica_create_id(fixture->world, &fixture->values[SAMPLE_SMALL], 1);
    const micap_archetype *archetype = micap_locate(fixture->world, fixture->pending).chunk->archetype;
    while (archetype->open)
        REQUIRE(!mica_is_nil(mica_clone(fixture->world, fixture->pending)));
}

static bool clone_pending(fixture *fixture)
{
    return !mica_is_nil(mica_clone(fixture->world, fixture->pending));
}

static bool name_new(fixture *fixture)
{
    return mica_name_set(fixture->world, fixture->population[1], fixture->population[0],
                         "a name that is longer than what fits anywhere in passing") == MICA_OK;
}

static bool name_again(fixture *fixture)
{
    return mica_name_set(fixture->world, fixture->population[5], mica_nil(), "renamed") == MICA_OK;
}

static bool singleton(fixture *fixture)
{
    return mica_singleton_write(fixture->world, SampleClock) != NULL;
}

static void ignore_event(const mica_event *event)
{
    void *context = event->context;
    (void)event;
    (void)context;
}

static bool set_hook(fixture *fixture)
{
    return mica_hook_set_id(fixture->world, sample_id(SAMPLE_BIG), MICA_EVENT_ADD, ignore_event, NULL) == MICA_OK;
}

static bool create_query(fixture *fixture)
{
    mica_term terms[] = {{.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ},
                         {.component = sample_id(SAMPLE_PADDED), .access = MICA_ACCESS_MAYBE_READ}};
    mica_query_def def = {.name = "anything", .terms = terms, .term_count = 2, .location = MICA_HERE};
    return mica_query_create(fixture->world, &def) != NULL;
}

static bool create_sorted_query(fixture *fixture)
{
    mica_term terms[] = {{.component = sample_id(SAMPLE_SMALL), .access = MICA_ACCESS_READ}};
    mica_query_def def = {.terms = terms, .term_count = 1, .order_by = terms[0].component};
    def.compare = sample_small_compare;
    return mica_query_create(fixture->world, &def) != NULL;
}

static bool walk(fixture *fixture)
{
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(fixture->query); mica_view_next(&view);)
        count += view.count;
    REQUIRE_SAYING(count == 0 || count == mica_query_count(fixture->query), "all or none are shown, not %u", count);
    return count != 0;
}

/* The order is known, and too short by now. */
static void prepare_outgrown_order(fixture *fixture)
{
    prepare_sorted_query(fixture);
    REQUIRE(walk(fixture));
    mica_destroy_all(fixture->query);
    mica_value small = {sample_id(SAMPLE_SMALL), 0, NULL};
    REQUIRE(mica_create_many(fixture->world, 40 * POPULATION, &small, 1, NULL) == MICA_OK);
}

static bool sort_rows(fixture *fixture)
{
    return mica_query_sort_rows(fixture->query, sample_id(SAMPLE_SMALL), sample_small_compare, NULL) == MICA_OK;
}

static bool add_to_all(fixture *fixture)
{
    return mica_add_all_id(fixture->query, fixture->values[SAMPLE_SWITCHED_OWNER]) == MICA_OK;
}

static bool remove_from_all(fixture *fixture)
{
    return mica_remove_all_id(fixture->query, sample_id(SAMPLE_OWNER)) == MICA_OK;
}

static bool destroy_all(fixture *fixture)
{
    return mica_destroy_all(fixture->query) == MICA_OK;
}

static bool create_commands(fixture *fixture)
{
    return mica_commands_create(fixture->world) != NULL;
}

static bool record_create(fixture *fixture)
{
    return !mica_is_nil(mica_command_create_id(fixture->commands, fixture->values, SAMPLE_COUNT, MICA_HERE));
}

static bool record_add(fixture *fixture)
{
    mica_entity owner = fixture->population[1];
    return mica_command_add_id(fixture->commands, owner, sample_id(SAMPLE_OWNER), MICA_HERE) != NULL;
}

static bool record_set(fixture *fixture)
{
    mica_entity entity = fixture->population[0];
    return mica_command_set_id(fixture->commands, entity, fixture->values[SAMPLE_BIG], MICA_HERE);
}

static bool record_remove(fixture *fixture)
{
    return mica_command_remove_id(fixture->commands, fixture->population[0], sample_id(SAMPLE_SMALL), MICA_HERE);
}

static bool record_destroy(fixture *fixture)
{
    return mica_command_destroy(fixture->commands, fixture->population[0]);
}

static bool record_enable(fixture *fixture)
{
    mica_entity entity = fixture->population[2];
    return mica_command_enable_id(fixture->commands, entity, sample_id(SAMPLE_SWITCHED), false, MICA_HERE);
}

static bool flush(fixture *fixture)
{
    return mica_flush(fixture->world) == MICA_OK;
}

static bool clear(fixture *fixture)
{
    return mica_world_clear(fixture->world) == MICA_OK;
}

static bool trim(fixture *fixture)
{
    mica_world_trim(fixture->world);
    return true;
}

static void finish_flush(fixture *fixture)
{
    REQUIRE(mica_flush(fixture->world) == MICA_OK);
}

static const scenario scenarios[] = {
    {"component_define", NULL, define, NULL},
    {"create without components", NULL, create_empty, NULL},
    {"create with every component", NULL, create_full, NULL},
    {"create with default values", NULL, create_defaults, NULL},
    {"create an archetype that a query waits for", prepare_query, create_full, NULL},
    {"create_many", prepare_query, create_many, NULL},
    {"create_many into chunks with rows", NULL, create_many_where_some_live, NULL},
    {"a batch of several groups", prepare_query, create_batch, NULL},
    {"destroy", NULL, destroy, NULL},
    {"destroy_many", NULL, destroy_many, NULL},
    {"add", prepare_query, add, NULL},
    {"add a tag", prepare_query, add_tag, NULL},
    {"set what is new", prepare_query, set_new, NULL},
    {"set what is there and owns memory", NULL, overwrite_owner, NULL},
    {"remove", prepare_query, take, NULL},
    {"clone", NULL, clone_one, NULL},
    {"clone with every component", prepare_everything, clone_pending, NULL},
    {"clone a row into a full chunk", prepare_full_chunk, clone_pending, NULL},
    {"name_set", NULL, name_new, NULL},
    {"name_set in place of a name", NULL, name_again, NULL},
    {"singleton", NULL, singleton, NULL},
    {"hook_set", NULL, set_hook, NULL},
    {"query_create", NULL, create_query, NULL},
    {"query_create with an order", NULL, create_sorted_query, NULL},
    {"a loop", prepare_query, walk, NULL},
    {"a sorted loop", prepare_sorted_query, walk, NULL},
    {"a sorted loop over many more", prepare_outgrown_order, walk, NULL},
    {"query_sort_rows", prepare_owners, sort_rows, NULL},
    {"query_add", prepare_query, add_to_all, NULL},
    {"query_add through an order", prepare_sorted_query, add_to_all, NULL},
    {"create with required components", NULL, create_requiring, NULL},
    {"create_many with required components", NULL, create_many_requiring, NULL},
    {"batch with required components", NULL, batch_requiring, NULL},
    {"add with required components", prepare_requiring, add_requiring, NULL},
    {"set in a pool with required components", prepare_requiring, set_pool_requiring, NULL},
    {"query_add with required components", prepare_requiring, add_requiring_to_all, NULL},
    {"query_add in a pool with required components", prepare_requiring, add_pool_requiring_to_all, NULL},
    {"create with required components while the world records", prepare_defer, create_requiring, finish_flush},
    {"flush with required components", prepare_recorded_requiring, flush, NULL},
    {"flush of combined changes with required components", prepare_combined_requiring, flush, NULL},
    {"query_remove", prepare_owners, remove_from_all, NULL},
    {"query_destroy_entities", prepare_owners, destroy_all, NULL},
    {"commands_create", NULL, create_commands, NULL},
    {"command_create", prepare_commands, record_create, finish_flush},
    {"command_add", prepare_commands, record_add, finish_flush},
    {"command_set", prepare_commands, record_set, finish_flush},
    {"command_remove", prepare_commands, record_remove, finish_flush},
    {"command_destroy", prepare_commands, record_destroy, finish_flush},
    {"command_enable", prepare_commands, record_enable, finish_flush},
    {"create while the world records", prepare_defer, create_full, finish_flush},
    {"add while the world records", prepare_defer, add, finish_flush},
    {"create_many while the world records", prepare_defer, create_many, finish_flush},
    {"create_many with required components while the world records", prepare_defer, create_many_requiring,
     finish_flush},
    {"query_add while the world records", prepare_deferred_query, add_to_all, finish_flush},
    {"query_remove while the world records", prepare_deferred_owners, remove_from_all, finish_flush},
    {"query_destroy_entities while the world records", prepare_deferred_owners, destroy_all, finish_flush},
    {"clone while the world records", prepare_defer, clone_one, finish_flush},
    {"flush of what the world recorded", prepare_deferred, flush, NULL},
    {"flush of several buffers", prepare_recorded, flush, NULL},
    {"the same recorded for many", prepare_crowd, record_strip, finish_flush},
    {"recording something else after that", prepare_strip, record_beside_strip, finish_flush},
    {"flush of the same for many", prepare_strip, flush, NULL},
    {"flush of the same for many, in a pool", prepare_pool_strip, flush, NULL},
    {"clear", prepare_owners, clear, NULL},
    {"trim", prepare_owners, trim, NULL},
};

enum { SCENARIO_COUNT = sizeof scenarios / sizeof *scenarios };

static char now[128]; /* what is being tried, for messages */

#define REQUIRE_NOW(condition) REQUIRE_SAYING(condition, "in %s", now)

START_TEST(a_call_that_runs_out_of_memory_leaves_the_world_as_it_was)
{
    scenario_fail_everywhere(&scenarios[_i]);
}
END_TEST

/* Two buffers speak of the same entities. After a flush that failed, one of them goes, and only its changes with it. */
static bool lose_a_buffer(uint64_t k, uint32_t lost)
{
    static fixture fixture;
    snprintf(now, sizeof now, "the loss of buffer %u, allocation %llu", lost, (unsigned long long)k);
    fixture_open(&fixture);
    mica_commands *buffers[] = {mica_commands_create(fixture.world), mica_commands_create(fixture.world)};
    const sample_kind kinds[] = {SAMPLE_SWITCHED_OWNER, SAMPLE_PADDED};
    for (uint32_t i = 0; i < POPULATION; ++i)
        for (uint32_t b = 0; b < 2; ++b)
            REQUIRE_NOW(mica_command_set_id(buffers[b], fixture.population[i], fixture.values[kinds[b]], MICA_HERE));
    faulty_allocator_fail_at(&fixture.allocator, k, false);
    bool failed = mica_flush(fixture.world) != MICA_OK;
    faulty_allocator_fail_at(&fixture.allocator, 0, false);
    mica_commands_destroy(buffers[lost]);
    REQUIRE_NOW(mica_flush(fixture.world) == MICA_OK);
    REQUIRE_NOW(mica_world_validate(fixture.world) == MICA_OK);
    for (uint32_t i = 0; i < POPULATION; ++i) {
        mica_entity entity = fixture.population[i];
        REQUIRE_NOW(mica_has_id(fixture.world, entity, sample_id(kinds[lost])) == !failed);
        REQUIRE_NOW(mica_has_id(fixture.world, entity, sample_id(kinds[!lost])));
    }
    fixture_close(&fixture);
    return failed;
}

START_TEST(a_buffer_can_be_destroyed_after_a_flush_that_failed)
{
    for (uint32_t lost = 0; lost < 2; ++lost)
        for (uint64_t k = 1; lose_a_buffer(k, lost);)
            ++k;
}
END_TEST

START_TEST(a_world_is_made_whole_or_not_at_all)
{
    static fixture fixture;
    fixture_begin(&fixture);
    size_t before = fixture.allocator.live_bytes;
    bool failed = true;
    for (uint64_t k = 1; failed; ++k) {
        snprintf(now, sizeof now, "allocation %llu", (unsigned long long)k);
        faulty_allocator_fail_at(&fixture.allocator, k, false);
        fixture_make_world(&fixture);
        failed = fixture.allocator.failures > 0;
        REQUIRE_NOW(fixture.world || failed);
        if (failed)
            mica_world_destroy(fixture.world);
        REQUIRE_NOW(!failed || fixture.allocator.live_bytes == before);
    }
    faulty_allocator_fail_at(&fixture.allocator, 0, false);
    fixture_close(&fixture);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("memory_failure");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, a_world_is_made_whole_or_not_at_all);
    tcase_add_test(cases, a_buffer_can_be_destroyed_after_a_flush_that_failed);
    tcase_add_loop_test(cases, a_call_that_runs_out_of_memory_leaves_the_world_as_it_was, 0, SCENARIO_COUNT);
    return test_run("memory_failure", cases);
}
