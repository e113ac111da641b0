/* A flush by several threads leaves the very world that one thread would. */
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

enum { FAMILIES = 5, EACH = 3000 };

MICA_TAG(Family0)
MICA_TAG(Family1)
MICA_TAG(Family2)
MICA_TAG(Family3)
MICA_TAG(Family4)

typedef struct Burning { float heat; } Burning;
MICA_POOL(Burning, heat)
typedef struct Wet { float depth; } Wet;
MICA_COMPONENT_WITH(Wet, (.storage = MICA_STORAGE_POOL, .dying = MICA_DYING_AT_FLUSH), depth)

/* Moves between archetypes, creations and deaths in archetypes that have nothing to do with each other, in turn. */
static void churn(mica_world *world, const mica_component *tags, mica_entity *all, uint32_t round)
{
    mica_defer(world);
    for (uint32_t i = 0; i < FAMILIES * EACH; ++i) {
        uint32_t dice = (i * 2654435761u + round * 97) >> 16 & 15;
        if (!mica_is_alive(world, all[i]) || dice == 0) {
            Number number = {i};
            mica_value values[] = {{MICA_ID(Number), sizeof number, &number}, {tags[i % FAMILIES], 0, NULL}};
            if (mica_is_alive(world, all[i]))
                mica_destroy(world, all[i]);
            all[i] = mica_create_id(world, values, 2);
        } else if (dice < 5) {
            mica_set(world, all[i], Mass, {(float)i});
        } else if (dice < 9) {
            mica_remove(world, all[i], Mass);
        } else if (dice == 9) {
            mica_set(world, all[i], Position, {(float)i, 0, 0});
        } else if (dice == 10) {
            mica_set(world, all[i], Number, {i + round});
        } else if (dice == 11) {
            mica_remove(world, all[i], Burning);
        } else if (dice == 12) {
            mica_destroy(world, mica_create(world, MICA_WITH(Number, {i})));
        } else if (dice == 13 && i % 4 == 0) {
            mica_set(world, all[i], Mass, {1});
            mica_destroy(world, all[i]);
            continue;
        }
        if (mica_is_alive(world, all[i]) && dice % 3 == 0 && dice != 0)
            mica_set(world, all[i], Burning, {(float)i});
        if (mica_is_alive(world, all[i]) && dice == 7)
            mica_set(world, all[i], Wet, {(float)round});
    }
    ck_assert_int_eq(mica_flush(world), MICA_OK);
}

START_TEST(a_flush_by_many_threads_is_that_of_one)
{
    static mica_entity all[FAMILIES * EACH];
    static const uint32_t workers[] = {1, 2, 4, 7};
    uint64_t hashes[8] = {0};
    for (uint32_t w = 0; w < COUNT_OF(workers); ++w) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def def = mica_flow_def_default();
        def.worker_count = workers[w];
        mica_flow_configure(world, &def);
        const mica_component tags[FAMILIES] = {MICA_ID(Family0), MICA_ID(Family1), MICA_ID(Family2), MICA_ID(Family3),
                                               MICA_ID(Family4)};
        memset(all, 0, sizeof all);
        for (uint32_t round = 0; round < COUNT_OF(hashes); ++round) {
            churn(world, tags, all, round);
            expect_valid(world);
            uint64_t hash = mica_world_hash(world);
            ck_assert_msg(w == 0 || hash == hashes[round], "%u workers, round %u", workers[w], round);
            hashes[round] = hash;
        }
        close_world(world, &heard);
    }
}
END_TEST

/* The same without a crew: the core alone, which does not share. */
START_TEST(a_world_without_systems_flushes_to_the_same)
{
    static mica_entity all[FAMILIES * EACH];
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        if (i)
            mica_flow_configure(world, &(mica_flow_def){.worker_count = 3, .fixed_seconds = 1, .catch_up_max = 1});
        const mica_component tags[FAMILIES] = {MICA_ID(Family0), MICA_ID(Family1), MICA_ID(Family2), MICA_ID(Family3),
                                               MICA_ID(Family4)};
        memset(all, 0, sizeof all);
        for (uint32_t round = 0; round < 4; ++round)
            churn(world, tags, all, round);
        hashes[i] = mica_world_hash(world);
        mica_entity next = mica_create(world);
        hashes[i] = hashes[i] * 31 + next.index + next.generation; /* free handles lie in the same order */
        close_world(world, &heard);
    }
    ck_assert(hashes[0] == hashes[1]);
}
END_TEST

/* What keeps a flush to one thread: an observer, values with functions of their own, a tree that dies together. */
static uint64_t told;

static void tell(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        told = told * 31 + event->entities[i].index + event->kind;
}

enum { COMPLICATIONS = 7 };

static void complicate(mica_world *world, uint32_t complication, const mica_entity *all)
{
    switch (complication) {
    case 1: mica_hook_set(world, Burning, MICA_EVENT_ADD, tell, NULL); break;
    case 2: mica_hook_set(world, Mass, MICA_EVENT_REMOVE, tell, NULL); break;
    case 3: mica_hook_set_destroy(world, tell, NULL); break;
    case 4: mica_hook_set(world, Number, MICA_EVENT_SET, tell, NULL); break;
    case 5:
        for (uint32_t i = 0; i < FAMILIES * EACH; i += 7)
            mica_set_id(world, all[i], (mica_value)MICA_WITH(Text));
        break;
    case 6:
        for (uint32_t i = 9; i < FAMILIES * EACH; i += 9)
            mica_set_parent(world, all[i], all[i - 9]);
        break;
    }
}

static uint64_t churn_with(uint32_t complication, uint32_t workers)
{
    static mica_entity all[FAMILIES * EACH];
    reports heard;
    mica_world *world = open_world(&heard);
    if (workers)
        mica_flow_configure(world, &(mica_flow_def){.worker_count = workers, .fixed_seconds = 1, .catch_up_max = 1});
    const mica_component tags[FAMILIES] = {MICA_ID(Family0), MICA_ID(Family1), MICA_ID(Family2), MICA_ID(Family3),
                                           MICA_ID(Family4)};
    memset(all, 0, sizeof all);
    told = 0;
    churn(world, tags, all, 0);
    complicate(world, complication, all);
    churn(world, tags, all, 1);
    expect_valid(world);
    uint64_t outcome = mica_world_hash(world) * 31 + told;
    close_world(world, &heard);
    return outcome;
}

START_TEST(whatever_keeps_a_flush_to_one_thread_the_outcome_is_the_same)
{
    for (uint32_t i = 0; i < COMPLICATIONS; ++i)
        ck_assert_msg(churn_with(i, 3) == churn_with(i, 0), "complication %u", i);
}
END_TEST

/* Nothing but moves, creations or deaths that are observed, or of values with functions. */
START_TEST(a_flush_in_which_nothing_is_simple_is_made_by_one_thread)
{
    static mica_entity all[FAMILIES * EACH];
    uint64_t outcomes[2];
    for (uint32_t shared = 0; shared < 2; ++shared) {
        reports heard;
        mica_world *world = open_world(&heard);
        if (shared)
            mica_flow_configure(world, &(mica_flow_def){.worker_count = 4, .fixed_seconds = 1, .catch_up_max = 1});
        const mica_component families[] = {MICA_ID(Family0), MICA_ID(Family1), MICA_ID(Family2)};
        for (uint32_t i = 0; i < EACH; ++i)
            all[i] = mica_create_id(world, &(mica_value){families[i % 3], 0, NULL}, 1);
        mica_hook_set(world, Mass, MICA_EVENT_ADD, tell, NULL);
        mica_hook_set_destroy(world, tell, NULL);
        told = 0;
        for (uint32_t round = 0; round < 3; ++round) {
            mica_defer(world);
            for (uint32_t i = 0; i < EACH; ++i)
                if (round == 0)
                    mica_set(world, all[i], Mass, {(float)i});
                else if (round == 1)
                    mica_add(world, all[i], Text);
                else
                    mica_destroy(world, all[i]);
            ck_assert_int_eq(mica_flush(world), MICA_OK);
            expect_valid(world);
        }
        outcomes[shared] = mica_world_hash(world) * 31 + told;
        ck_assert_int_eq(texts_alive, 0);
        close_world(world, &heard);
    }
    ck_assert(outcomes[0] == outcomes[1]);
}
END_TEST

/* Without memory for the list of families, a flush is made by one thread. */
START_TEST(a_shared_flush_that_runs_out_of_memory_is_whole_or_can_be_tried_again)
{
    static mica_entity all[FAMILIES * EACH];
    uint64_t whole = 0;
    bool failed = true;
    for (uint64_t k = 0; failed; ++k) { /* first without a failure */
        faulty_allocator faulty;
        mica_world_def def = mica_world_def_default();
        reports heard;
        faulty_allocator_init(&faulty);
        def.allocator = faulty_allocator_interface(&faulty);
        mica_world *world = open_world_with(&heard, def);
        mica_flow_configure(world, &(mica_flow_def){.worker_count = 2, .fixed_seconds = 1, .catch_up_max = 1});
        const mica_component tags[FAMILIES] = {MICA_ID(Family0), MICA_ID(Family1), MICA_ID(Family2), MICA_ID(Family3),
                                               MICA_ID(Family4)};
        memset(all, 0, sizeof all);
        churn(world, tags, all, 0);
        mica_defer(world);
        for (uint32_t i = 0; i < FAMILIES * 600; ++i)
            mica_set(world, all[i], Mass, {(float)i});
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_flush(world);
        failed = k == 0 || faulty.failures;
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert_msg(result == MICA_OK || (failed && mica_flush(world) == MICA_OK), "allocation %u", (unsigned)k);
        whole = k ? whole : mica_world_hash(world);
        ck_assert_msg(mica_world_hash(world) == whole, "allocation %u", (unsigned)k);
        forget_reports(&heard);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
}
END_TEST

static void weigh(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        mica_set(view->world, view->entities[i], Mass, {1});
}

/* A sealed world refuses the flush of a phase: what the system recorded waits, and goes with the system. */
START_TEST(what_a_system_recorded_in_vain_is_tried_again_or_goes_with_it)
{
    for (int removes = 0; removes < 2; ++removes) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
        mica_system system = mica_system_add(world, MICA_SYSTEM(weigh, MICA_READ(Number)));
        mica_world_seal(world, true);
        for (uint32_t i = 0; i < 2; ++i) {
            ck_assert_int_eq(mica_step(world, 1), MICA_ERROR_REFUSED);
            expect_report(&heard, MICA_ERROR_REFUSED, "sealed");
            forget_reports(&heard);
            expect_valid(world);
        }
        if (removes)
            ck_assert(mica_system_remove(world, system));
        mica_world_seal(world, false);
        ck_assert_int_eq(removes ? mica_flush(world) : mica_step(world, 1), MICA_OK);
        ck_assert(mica_has(world, entity, Mass) == !removes);
        close_world(world, &heard);
    }
}
END_TEST

/* Changes that threads apply one after the other, and deaths that come with other changes, of entities in a pool. */
START_TEST(single_changes_of_a_shared_flush_are_made)
{
    static mica_entity all[2 * EACH];
    uint64_t hashes[2];
    for (uint32_t shared = 0; shared < 2; ++shared) {
        reports heard;
        mica_world *world = open_world(&heard);
        if (shared)
            mica_flow_configure(world, &(mica_flow_def){.worker_count = 3, .fixed_seconds = 1, .catch_up_max = 1});
        mica_defer(world);
        for (uint32_t i = 0; i < 2 * EACH; ++i)
            all[i] = i % 2 ? mica_create(world, MICA_WITH(Age, {i}), MICA_WITH(Family0))
                           : mica_create(world, MICA_WITH(Age, {i}), MICA_WITH(Family1));
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        for (uint32_t i = 0; i < 2 * EACH; ++i) {
            ck_assert_uint_eq(mica_get(world, all[i], Age)->frames, i);
            mica_set(world, all[i], Burning, {1});
        }
        mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
        for (uint32_t i = 0; i < 2 * EACH; ++i) {
            if (i % 3) {
                mica_command_set(first, all[i], Mass, {1});
            } else {
                mica_command_add(first, all[i], Text);
                mica_command_destroy(second, all[i]);
            }
        }
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        for (uint32_t i = 0; i < 2 * EACH; ++i)
            ck_assert(i % 3 ? mica_has(world, all[i], Mass) && mica_has(world, all[i], Burning)
                            : !mica_is_alive(world, all[i]));
        ck_assert_int_eq(texts_alive, 0);
        hashes[shared] = mica_world_hash(world);
        close_world(world, &heard);
    }
    ck_assert(hashes[0] == hashes[1]);
}
END_TEST

static mica_entity named[4], scope_of_names;

/* The first keeps its name, the second gets another, the third a name in a scope, and the fourth a component. */
static void name_them(mica_view *view)
{
    mica_name_set(view->world, named[0], mica_nil(), "first");
    mica_name_set(view->world, named[1], mica_nil(), "renamed");
    mica_name_set(view->world, named[2], scope_of_names, "third");
    mica_set(view->world, named[3], Mass, {1});
}

/* Lets a system record names, which wait because the world is sealed. Then one entity dies, and they are applied. */
static mica_world *flush_names(reports *heard, mica_dead_target dead_target, const mica_entity *dying,
                               mica_result expected)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = dead_target;
    mica_world *world = open_world_with(heard, def);
    for (uint32_t i = 0; i < COUNT_OF(named); ++i)
        named[i] = mica_create(world);
    scope_of_names = mica_create(world);
    mica_create(world, MICA_WITH(Number, {1}));
    mica_name_set(world, named[0], mica_nil(), "first");
    mica_name_set(world, named[1], mica_nil(), "second");
    mica_system_add(world, MICA_SYSTEM(name_them, MICA_READ(Number)));
    mica_world_seal(world, true);
    ck_assert_int_eq(mica_step(world, 1), MICA_ERROR_REFUSED);
    mica_world_seal(world, false);
    forget_reports(heard);
    ck_assert(mica_destroy(world, *dying));
    ck_assert_int_eq(mica_flush(world), expected);
    expect_report(heard, MICA_ERROR_DEAD, "not alive at the flush");
    expect_valid(world);
    return world;
}

START_TEST(a_recorded_name_of_a_dead_entity_or_in_a_dead_scope_is_set_aside)
{
    reports heard;
    mica_world *world = flush_names(&heard, MICA_DEAD_TARGET_WARN, &named[1], MICA_OK);
    ck_assert(mica_is_nil(mica_find(world, "renamed")));
    ck_assert_str_eq(mica_name_get(world, named[2]), "third");
    close_world(world, &heard);
    world = flush_names(&heard, MICA_DEAD_TARGET_WARN, &scope_of_names, MICA_OK);
    ck_assert(mica_same(mica_find(world, "renamed"), named[1]));
    ck_assert_ptr_null(mica_name_get(world, named[2]));
    close_world(world, &heard);
}
END_TEST

START_TEST(a_refused_flush_gives_names_back)
{
    reports heard;
    mica_world *world = flush_names(&heard, MICA_DEAD_TARGET_ERROR, &named[3], MICA_ERROR_DEAD);
    ck_assert(mica_same(mica_find(world, "first"), named[0]) && mica_same(mica_find(world, "second"), named[1]));
    ck_assert(mica_is_nil(mica_find(world, "renamed")));
    ck_assert_ptr_null(mica_name_get(world, named[2]));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(flush, what_a_system_recorded_in_vain_is_tried_again_or_goes_with_it,
           whatever_keeps_a_flush_to_one_thread_the_outcome_is_the_same,
           a_shared_flush_that_runs_out_of_memory_is_whole_or_can_be_tried_again,
           a_flush_in_which_nothing_is_simple_is_made_by_one_thread, a_flush_by_many_threads_is_that_of_one,
           a_world_without_systems_flushes_to_the_same, single_changes_of_a_shared_flush_are_made,
           a_recorded_name_of_a_dead_entity_or_in_a_dead_scope_is_set_aside, a_refused_flush_gives_names_back)
