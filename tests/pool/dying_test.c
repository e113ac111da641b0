/* The three removal policies: with the entity, at the flush, or lazily by sampling. With each of them, rows of destroyed entities are
 * not visible. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/variants.h"

#include <string.h>

static reports heard;

enum { CROWD = 2000 };

static mica_entity crowd[CROWD];

static mica_world *open_crowd(const variant *how, uint64_t seed, mica_component *out_component)
{
    mica_world_def def = mica_world_def_default();
    def.seed = seed;
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    mica_world *world = open_world_with(&heard, def);
    *out_component = variant_component(how, 'a');
    for (uint32_t i = 0; i < CROWD; ++i) {
        Item item = item_of(i);
        mica_value value = item_value(*out_component, &item);
        crowd[i] = mica_create_id(world, &value, 1);
    }
    return world;
}

static uint32_t removals_heard;

static void count_removal(const mica_event *event)
{
    removals_heard += event->count;
}

START_TEST(rows_of_destroyed_entities_are_not_visible)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    mica_component component;
    mica_world *world = open_crowd(how, 1, &component);
    mica_pool *pool = mica_pool_of_id(world, component);
    mica_term terms[] = {{.component = component, .access = MICA_ACCESS_READ},
                         {.component = MICA_ID(Number), .access = MICA_ACCESS_MAYBE_READ}};
    mica_query *alone = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 1});
    mica_query *joined = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = 2});
    mica_query *without = mica_query_create(
        world, &(mica_query_def){.terms = &(mica_term){.component = component, .access = MICA_ACCESS_WITHOUT},
                                 .term_count = 1});
    mica_ref ref = mica_ref_of_id(crowd[7], component);
    ck_assert(how->split || mica_ref_read_id(world, &ref));
    uint64_t before = mica_world_hash(world);
    for (uint32_t i = 0; i < CROWD; ++i)
        if (i % 3 == 1)
            ck_assert(mica_destroy(world, crowd[i]));
    uint32_t living = CROWD - (CROWD + 1) / 3;
    for (uint32_t stage = 0; stage < 3; ++stage) {
        ck_assert_uint_eq(mica_pool_count(pool), living);
        ck_assert_uint_eq(mica_query_count(alone), living);
        ck_assert_uint_eq(mica_query_count(joined), living);
        ck_assert_uint_eq(mica_query_count(without), 0);
        ck_assert(how->split || !mica_ref_read_id(world, &ref));
        uint32_t seen = 0;
        for (mica_view view = mica_query_begin(alone); mica_view_next(&view); seen += view.count)
            for (uint32_t i = 0; i < view.count; ++i)
                REQUIRE(mica_is_alive(world, view.entities[i]));
        ck_assert_uint_eq(seen, living);
        for (uint32_t i = 0; i < CROWD; ++i)
            REQUIRE(item_number(world, crowd[i], component) == (i % 3 == 1 ? UINT32_MAX : i));
        expect_valid(world);
        if (stage == 0)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        else
            mica_pool_sweep(pool);
    }
    ck_assert(mica_world_hash(world) != before);
    ck_assert_uint_eq(mica_pool_get_stats(pool).row_count >= living, true);
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_go_when_the_policy_says_so)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    if (how->index == MICA_INDEX_DIRECT || how->many)
        return;
    mica_component component;
    mica_world *world = open_crowd(how, 1, &component);
    mica_pool *pool = mica_pool_of_id(world, component);
    ck_assert_int_eq(mica_hook_set_id(world, component, MICA_EVENT_REMOVE, count_removal, NULL), MICA_OK);
    removals_heard = 0;
    for (uint32_t i = 0; i < 100; ++i)
        mica_destroy(world, crowd[i]);
    uint32_t at_once = how->dying == MICA_DYING_AT_ONCE ? 100 : 0;
    ck_assert_uint_eq(mica_pool_row_count(pool), CROWD - at_once);
    ck_assert_uint_eq(removals_heard, at_once);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    uint32_t at_flush = how->dying == MICA_DYING_LAZILY ? 0 : 100;
    ck_assert_uint_eq(mica_pool_row_count(pool), CROWD - at_flush);
    ck_assert_uint_eq(removals_heard, at_flush);
    ck_assert_uint_eq(mica_pool_sweep(pool), 100 - at_flush);
    ck_assert_uint_eq(mica_pool_row_count(pool), CROWD - 100);
    ck_assert_uint_eq(removals_heard, 100);
    ck_assert_uint_eq(mica_pool_sweep(pool), 0);
    close_world(world, &heard);
    ck_assert_uint_eq(removals_heard, CROWD);
}
END_TEST

START_TEST(four_probes_tell_that_there_is_nothing_to_do)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    mica_component component;
    mica_world *world = open_crowd(how, (uint64_t)_i, &component);
    mica_pool *pool = mica_pool_of_id(world, component);
    for (uint32_t i = 1; i <= 10; ++i) {
        ck_assert_uint_eq(mica_pool_gc(pool, 1000), 0);
        ck_assert_uint_eq(mica_pool_get_stats(pool).probe_count, 4 * i);
    }
    ck_assert_uint_eq(mica_pool_gc(pool, 3), 0);
    ck_assert_msg(mica_pool_get_stats(pool).probe_count == 43, "the budget is kept");
    ck_assert_uint_eq(mica_pool_gc(pool, 0), 0);
    ck_assert_uint_eq(mica_pool_get_stats(pool).probe_count, 43);
    close_world(world, &heard);
    world = open_world(&heard); /* and an empty pool needs none */
    pool = mica_pool_of_id(world, component);
    ck_assert_uint_eq(mica_pool_gc(pool, 1000), 0);
    ck_assert_uint_eq(mica_pool_get_stats(pool).probe_count, 0);
    close_world(world, &heard);
}
END_TEST

typedef enum mixture { BLOCK, ALTERNATING, RANDOM, MIXTURES } mixture;

static bool dies(mixture how, uint32_t i)
{
    static random_source random = {3};
    switch (how) {
    case BLOCK: return i >= 500 && i < 1500;
    case ALTERNATING: return i % 2 == 1;
    default: return random_one_in(&random, 2);
    }
}

/* How many calls of gc clear so many. */
static uint32_t calls_to_clear(mica_pool *pool, uint32_t wanted)
{
    uint32_t calls = 0, cleared = 0;
    for (; cleared < wanted && calls < 100000; ++calls)
        cleared += mica_pool_gc(pool, 1 << 20);
    ck_assert_uint_ge(cleared, wanted);
    return calls;
}

START_TEST(a_thousand_dead_among_a_thousand_living_are_cleared_in_a_few_calls)
{
    /* Where the dead lie together or regularly, the call that meets them clears them. Where each row is dead or alive by chance,
     * the last ones are a matter of luck: a call sees one dead among n living with a probability of 4 / n. */
    static const struct {
        mixture how;
        uint32_t percent, calls;
    } cases[] = {{BLOCK, 100, 3}, {ALTERNATING, 100, 3}, {RANDOM, 70, 40}, {RANDOM, 90, 100}, {RANDOM, 100, 9000}};
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
        for (uint32_t index = 0; index < 3; ++index) {
            variant kind = {.storage = MICA_STORAGE_POOL, .index = index, .dying = MICA_DYING_LAZILY};
            mica_component component;
            mica_world *world = open_crowd(&kind, 7, &component);
            mica_pool *pool = mica_pool_of_id(world, component);
            uint32_t dead = 0;
            for (uint32_t k = 0; k < CROWD; ++k)
                if (dies(cases[i].how, k)) {
                    mica_destroy(world, crowd[k]);
                    ++dead;
                }
            uint32_t calls = calls_to_clear(pool, dead * cases[i].percent / 100);
            ck_assert_uint_le(calls, cases[i].calls);
            ck_assert_uint_eq(mica_pool_count(pool), CROWD - dead);
            ck_assert_uint_eq(mica_pool_get_stats(pool).row_count >= CROWD - dead, true);
            close_world(world, &heard);
        }
}
END_TEST

/* The order of owners after the same deaths and collections. */
static uint64_t run_with_seed(uint64_t seed)
{
    variant kind = {.storage = MICA_STORAGE_POOL, .dying = MICA_DYING_LAZILY};
    mica_component component;
    mica_world *world = open_crowd(&kind, seed, &component);
    mica_pool *pool = mica_pool_of_id(world, component);
    random_source random = {11};
    for (uint32_t i = 0; i < 500; ++i) {
        uint32_t at = random_below(&random, CROWD);
        if (mica_is_alive(world, crowd[at]))
            mica_destroy(world, crowd[at]);
        mica_pool_gc(pool, 20);
    }
    uint64_t hash = mica_world_hash(world) + mica_pool_get_stats(pool).probe_count;
    close_world(world, &heard);
    return hash;
}

START_TEST(runs_with_equal_seeds_repeat)
{
    ck_assert_uint_eq(run_with_seed(5), run_with_seed(5));
    ck_assert_uint_eq(run_with_seed(0), run_with_seed(0));
    ck_assert_msg(run_with_seed(5) != run_with_seed(6), "the seed is used");
}
END_TEST

START_TEST(a_pool_that_was_cleared_is_walked_as_plain_arrays_again)
{
    variant kind = {.storage = MICA_STORAGE_POOL, .dying = (mica_dying)_i};
    mica_component component;
    mica_world *world = open_crowd(&kind, 7, &component);
    mica_pool *pool = mica_pool_of_id(world, component);
    mica_query *query = mica_query_create(
        world,
        &(mica_query_def){.terms = &(mica_term){.component = component, .access = MICA_ACCESS_READ}, .term_count = 1});
    for (uint32_t round = 0; round < 5; ++round) {
        for (uint32_t i = 0; i < 10; ++i)
            mica_destroy(world, crowd[100 * round + i]);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        while (mica_pool_row_count(pool) > CROWD - 10 * (round + 1))
            mica_pool_gc(pool, 1 << 20);
        mica_view view = mica_query_begin(query);
        ck_assert(mica_view_next(&view));
        ck_assert_uint_eq(view.count, CROWD - 10 * (round + 1));
        ck_assert_ptr_eq(view.entities, mica_pool_owners(pool));
        ck_assert_ptr_eq(mica_view_read_id(&view, component), mica_pool_read_id(pool));
        ck_assert(!mica_view_next(&view));
    }
    close_world(world, &heard);
}
END_TEST

/* A hook that records while rows of the dead go: in a flush, a gc, a sweep, a trim, an eviction. */
static void record_at_removal(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i) {
        mica_create(event->world, MICA_WITH(Number, {event->entities[i].index}));
        if (mica_is_alive(event->world, event->entities[i]))
            mica_set(event->world, event->entities[i], Number, {1});
    }
}

START_TEST(hooks_record_wherever_rows_go)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    mica_component component;
    mica_world *world = open_crowd(how, 9, &component);
    mica_pool *pool = mica_pool_of_id(world, component);
    mica_query *made = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    ck_assert_int_eq(mica_hook_set_id(world, component, MICA_EVENT_REMOVE, record_at_removal, NULL), MICA_OK);
    for (uint32_t i = 0; i < 60; ++i)
        mica_destroy(world, crowd[i]);
    Item item = item_of(1);
    for (uint32_t i = 0; i < 5; ++i) /* evictions, where rows are left */
        ck_assert(mica_set_id(world, mica_create(world), item_value(component, &item)));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_pool_gc(pool, 100);
    if (_i % 2)
        mica_pool_sweep(pool);
    else
        mica_world_trim(world);
    ck_assert_uint_eq(mica_query_count(made), 60);
    ck_assert(mica_remove_id(world, crowd[100], component));
    ck_assert_uint_eq(mica_query_count(made), 62);
    mica_instance instance = mica_pool_find(pool, crowd[101]);
    ck_assert(mica_pool_remove(pool, instance));
    ck_assert_uint_eq(mica_query_count(made), 64);
    ck_assert_int_eq(mica_world_clear(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(growing_and_trimming_again_and_again_takes_no_more_memory)
{
    enum { ROUNDS = 200, ENTITIES = 500 };
    mica_world *world = open_world(&heard);
    mica_value value = {variant_component(&variants[VARIANTS_CHUNK + _i], 'g'), 0, NULL};
    mica_entity entities[ENTITIES];
    size_t bytes = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        for (uint32_t i = 0; i < ENTITIES; ++i)
            entities[i] = mica_create_id(world, &value, 1);
        for (uint32_t i = 0; i < ENTITIES; ++i)
            mica_destroy(world, entities[i]);
        mica_flush(world);
        mica_world_trim(world);
        if (round == 10)
            bytes = mica_world_get_stats(world).memory_bytes;
    }
    ck_assert_uint_le(mica_world_get_stats(world).memory_bytes, bytes);
    close_world(world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("dying");
    int pools = (int)variant_count - VARIANTS_CHUNK;
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, rows_of_destroyed_entities_are_not_visible, 0, pools);
    tcase_add_loop_test(cases, rows_go_when_the_policy_says_so, 0, pools);
    tcase_add_loop_test(cases, four_probes_tell_that_there_is_nothing_to_do, 0, pools);
    tcase_add_test(cases, a_thousand_dead_among_a_thousand_living_are_cleared_in_a_few_calls);
    tcase_add_test(cases, runs_with_equal_seeds_repeat);
    tcase_add_loop_test(cases, a_pool_that_was_cleared_is_walked_as_plain_arrays_again, 0, 3);
    tcase_add_loop_test(cases, hooks_record_wherever_rows_go, 0, pools);
    tcase_add_loop_test(cases, growing_and_trimming_again_and_again_takes_no_more_memory, 0, pools);
    return test_run("dying", cases);
}
