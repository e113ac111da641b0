/* Entities that are disabled: what skips them, and what does not. */
#include "mica/disable.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

MICA_TAG_WITH(Template, (.hides = true))
typedef struct Glow { uint32_t value; } Glow;
MICA_POOL(Glow, value)

static uint32_t count_of(mica_world *world, const mica_query_def *def)
{
    mica_query *query = mica_query_create(world, def);
    uint32_t counted = (uint32_t)mica_query_count(query), walked = 0;
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        walked += view.count;
    ck_assert_uint_eq(counted, walked);
    mica_query_destroy(query);
    return counted;
}

START_TEST(a_disabled_entity_leaves_all_queries_and_keeps_its_values)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_entity one = mica_create(world, MICA_WITH(Number, {1})), two = mica_create(world, MICA_WITH(Number, {2}));
    ck_assert(!mica_entity_is_disabled(world, one));
    ck_assert(mica_entity_disable(world, one));
    ck_assert(mica_entity_disable(world, one)); /* again */
    ck_assert(mica_entity_is_disabled(world, one) && mica_is_alive(world, one));
    ck_assert_uint_eq(mica_query_count(numbers), 1);
    ck_assert(!mica_query_matches(numbers, one) && mica_query_matches(numbers, two));
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Number))), 1); /* made later */
    ck_assert_uint_eq(count_of(world, &(mica_query_def){0}), 1);
    ck_assert_uint_eq(mica_get(world, one, Number)->value, 1);
    ck_assert(mica_entity_enable(world, one));
    ck_assert(mica_entity_enable(world, one));
    ck_assert_uint_eq(mica_query_count(numbers), 2);
    ck_assert_uint_eq(mica_get(world, one, Number)->value, 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_query_asks_for_disabled_entities_by_a_term_or_an_option)
{
    reports heard;
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 10; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}));
        if (i < 3)
            mica_entity_disable(world, entity);
        if (i % 2 == 0)
            mica_add(world, entity, Template);
    }
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Number))), 4);
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(mica_disabled))), 1);
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(mica_disabled), MICA_HAS(Template))), 2);
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Number), MICA_HAS(Template))), 3);
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(Template))), 4);
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_EITHER(Number), MICA_OR(mica_disabled))), 5);
    mica_query_def all = *MICA_QUERY(MICA_READ(Number));
    all.with_hidden = true;
    ck_assert_uint_eq(count_of(world, &all), 10);
    all = *MICA_QUERY(MICA_READ(Number), MICA_WITHOUT(mica_disabled));
    all.with_hidden = true;
    ck_assert_uint_eq(count_of(world, &all), 7);
    close_world(world, &heard);
}
END_TEST

/* Pools alone do not say whether an entity is hidden. */
START_TEST(queries_over_pools_skip_disabled_entities_too)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_query *early = mica_query_create(world, MICA_QUERY(MICA_WRITE(Glow)));
    mica_entity entities[100];
    for (uint32_t i = 0; i < 100; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Glow, {i}), MICA_WITH(Number, {i}));
        if (i % 4 == 0)
            mica_create(world, MICA_WITH(Number, {i}));
    }
    ck_assert_uint_eq(mica_query_count(early), 100);
    for (uint32_t i = 0; i < 100; i += 2)
        ck_assert(mica_entity_disable(world, entities[i]));
    uint32_t seen = 0;
    for (mica_view view = mica_query_begin(early); mica_view_next(&view);) {
        const Glow *glow = mica_view_write(&view, Glow);
        for (uint32_t i = 0; i < view.count; ++i, ++seen)
            ck_assert(glow[i].value % 2 == 1 && view.entities[i].index == entities[glow[i].value].index);
    }
    ck_assert_uint_eq(seen, 50);
    ck_assert_uint_eq(mica_query_count(early), 50);
    ck_assert(!mica_query_matches(early, entities[0]) && mica_query_matches(early, entities[1]));
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Glow))), 50);
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Glow), MICA_READ(Number))), 50);
    ck_assert_uint_eq(count_of(world, MICA_QUERY(MICA_READ(Glow), MICA_HAS(mica_disabled))), 50);
    mica_query_def all = *MICA_QUERY(MICA_READ(Glow));
    all.with_hidden = true;
    ck_assert_uint_eq(count_of(world, &all), 100);
    close_world(world, &heard);
}
END_TEST

START_TEST(changes_are_recorded_and_hooks_see_disabled_entities)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_defer(world);
    ck_assert(mica_entity_disable(world, entity));
    ck_assert(!mica_entity_is_disabled(world, entity)); /* not yet */
    mica_flush(world);
    ck_assert(mica_entity_is_disabled(world, entity));
    mica_removals *removals = mica_removals_create(world, Number);
    mica_defer(world);
    ck_assert(mica_entity_enable(world, entity));
    mica_flush(world);
    ck_assert(!mica_entity_is_disabled(world, entity));
    mica_entity_disable(world, entity);
    mica_entity clone = mica_clone(world, entity);
    ck_assert(mica_entity_is_disabled(world, clone));
    mica_destroy(world, entity);
    ck_assert_uint_eq(mica_removals_read(removals, &entity, 1), 1);
    mica_removals_destroy(removals);
    close_world(world, &heard);
}
END_TEST

START_TEST(snapshots_and_clones_of_worlds_have_disabled_entities)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint64_t enabled = mica_world_hash(world);
    mica_snapshot before = mica_snapshot_take(world);
    mica_entity_disable(world, entity);
    uint64_t disabled = mica_world_hash(world);
    ck_assert(enabled != disabled);
    mica_snapshot after = mica_snapshot_take(world);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert(mica_world_hash(world) == enabled && mica_query_count(numbers) == 1);
    ck_assert_int_eq(mica_snapshot_restore(world, after), MICA_OK);
    ck_assert(mica_world_hash(world) == disabled && mica_query_count(numbers) == 0);
    mica_world *clone = mica_world_clone(world);
    ck_assert(mica_entity_is_disabled(clone, entity));
    ck_assert_uint_eq(count_of(clone, MICA_QUERY(MICA_READ(Number))), 0);
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_dead_are_refused)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity dead = mica_create(world, MICA_WITH(Number, {1}));
    mica_destroy(world, dead);
    ck_assert(!mica_entity_disable(world, dead));
    expect_report(&heard, MICA_ERROR_DEAD, "");
    ck_assert(!mica_entity_enable(world, dead));
    expect_report(&heard, MICA_ERROR_DEAD, "");
    ck_assert(!mica_entity_is_disabled(world, dead));
    close_world(world, &heard);
}
END_TEST

START_TEST(hiding_is_for_components_in_chunks)
{
    mica_type pool = mica_type_of_Glow, singleton = {.name = "Sun",
                                                     .size_bytes = 4,
                                                     .alignment = 4,
                                                     .kind = MICA_KIND_STRUCT,
                                                     .storage = MICA_STORAGE_SINGLETON,
                                                     .hides = true};
    ck_assert_ptr_null(mica_type_problem(&pool));
    pool.hides = true;
    ck_assert_ptr_nonnull(strstr(mica_type_problem(&pool), "hides"));
    ck_assert_ptr_nonnull(strstr(mica_type_problem(&singleton), "hides"));
}
END_TEST

START_TEST(disabling_fails_cleanly_at_every_allocation)
{
    bool done = false;
    uint32_t failed = 0;
    for (uint64_t k = 1; !done; ++k) {
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        reports heard;
        mica_world *world = open_world_with(&heard, def);
        mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
        mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
        faulty_allocator_fail_at(&faulty, k, false);
        bool disabled = mica_entity_disable(world, entity);
        done = faulty.failures == 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert(!done || disabled); /* some memory only makes things faster */
        ck_assert(mica_entity_is_disabled(world, entity) == disabled);
        ck_assert_uint_eq(mica_query_count(numbers), !disabled);
        failed += !disabled;
        ck_assert(mica_entity_disable(world, entity) && mica_query_count(numbers) == 0);
        forget_reports(&heard);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(failed, 0);
}
END_TEST

TEST_SUITE(disable, a_disabled_entity_leaves_all_queries_and_keeps_its_values,
           a_query_asks_for_disabled_entities_by_a_term_or_an_option, queries_over_pools_skip_disabled_entities_too,
           changes_are_recorded_and_hooks_see_disabled_entities, snapshots_and_clones_of_worlds_have_disabled_entities,
           the_dead_are_refused, hiding_is_for_components_in_chunks, disabling_fails_cleanly_at_every_allocation)
