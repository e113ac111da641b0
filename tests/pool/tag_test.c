/* Pool tags: membership as bits, added and removed without moving anything. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include <string.h>

static reports heard;

MICA_POOL_TAG(Selected)
MICA_POOL_TAG(Hidden)

typedef struct Burning {
    float seconds_left;
} Burning;
MICA_POOL(Burning, seconds_left)

enum { ENTITIES = 400 };

START_TEST(a_tag_is_added_asked_for_and_removed)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {4}), MICA_WITH(Selected));
    const Number *where = mica_get(world, entity, Number);
    ck_assert(mica_has(world, entity, Selected) && !mica_has(world, entity, Hidden));
    ck_assert(mica_add(world, entity, Hidden) && mica_has(world, entity, Hidden));
    ck_assert_msg(mica_add(world, entity, Hidden), "adding it again is fine");
    ck_assert(mica_remove(world, entity, Hidden) && !mica_remove(world, entity, Hidden));
    /* A checked build lends another address. */
    ck_assert(STOPS_AT_MISTAKES || mica_get(world, entity, Number) == where);
    mica_component components[4];
    ck_assert_uint_eq(mica_get_components(world, entity, components, 4), 2);
    ck_assert(components[0] == MICA_ID(Number) && components[1] == MICA_ID(Selected));
    mica_entity clone = mica_clone(world, entity);
    ck_assert(mica_has(world, clone, Selected));
    mica_destroy(world, entity);
    mica_entity next = mica_create(world);
    ck_assert_uint_eq(next.index, entity.index);
    ck_assert_msg(!mica_has(world, next, Selected) && !mica_has(world, entity, Selected), "it died with its entity");
    ck_assert_uint_eq(mica_pool_count(mica_pool_of(world, Selected)), 1);
    close_world(world, &heard);
}
END_TEST

static bool has[ENTITIES][3]; /* Selected, Hidden, Burning */

static void expect_query(mica_world *world, const mica_entity *entities, mica_query *query, bool (*wanted)(uint32_t))
{
    uint32_t count = 0, shown = 0;
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        REQUIRE(mica_query_matches(query, entities[i]) == wanted(i));
        count += wanted(i);
    }
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); shown += view.count)
        for (uint32_t i = 0; i < view.count; ++i)
            REQUIRE(mica_query_matches(query, view.entities[i]));
    REQUIRE(shown == count && mica_query_count(query) == count);
    (void)world;
}

static bool is_selected(uint32_t i)
{
    return has[i][0];
}
static bool is_selected_alone(uint32_t i)
{
    return has[i][0] && !has[i][1];
}
static bool is_either(uint32_t i)
{
    return has[i][0] || has[i][1];
}
static bool burns_selected(uint32_t i)
{
    return has[i][0] && has[i][2];
}

START_TEST(tags_take_part_in_queries)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_query *selected = mica_query_create(world, MICA_QUERY(MICA_HAS(Selected)));
    mica_query *alone = mica_query_create(world, MICA_QUERY(MICA_HAS(Selected), MICA_WITHOUT(Hidden)));
    mica_query *either = mica_query_create(world, MICA_QUERY(MICA_EITHER(Selected), MICA_OR(Hidden)));
    mica_query *burning = mica_query_create(world, MICA_QUERY(MICA_WRITE(Burning), MICA_HAS(Selected)));
    mica_entity entities[ENTITIES];
    random_source random = {8};
    for (uint32_t i = 0; i < ENTITIES; ++i)
        entities[i] = random_one_in(&random, 2) ? mica_create(world) : mica_create(world, MICA_WITH(Number, {i}));
    memset(has, 0, sizeof has);
    mica_component components[] = {MICA_ID(Selected), MICA_ID(Hidden), MICA_ID(Burning)};
    for (uint32_t step = 0; step < 3000; ++step) {
        uint32_t i = random_below(&random, ENTITIES), which = random_below(&random, 3);
        bool recorded = random_one_in(&random, 4);
        if (recorded)
            mica_defer(world);
        if (has[i][which])
            REQUIRE(mica_remove_id(world, entities[i], components[which]));
        else
            REQUIRE(mica_add_id(world, entities[i], components[which]));
        if (recorded)
            REQUIRE(mica_flush(world) == MICA_OK);
        has[i][which] = !has[i][which];
        if (random_one_in(&random, 50)) {
            REQUIRE(mica_destroy(world, entities[i]));
            entities[i] = mica_create(world, MICA_WITH(Number, {i}));
            memset(has[i], 0, sizeof has[i]);
        }
        if (step % 100)
            continue;
        expect_query(world, entities, selected, is_selected);
        expect_query(world, entities, alone, is_selected_alone);
        expect_query(world, entities, either, is_either);
        expect_query(world, entities, burning, burns_selected);
        expect_valid(world);
    }
    ck_assert_int_eq(mica_remove_all(selected, Selected), MICA_OK);
    ck_assert_uint_eq(mica_query_count(selected), 0);
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    ck_assert_int_eq(mica_add_all_tag(numbers, Selected), MICA_OK);
    ck_assert_uint_eq(mica_query_count(selected), mica_query_count(numbers));
    size_t held = mica_pool_get_stats(mica_pool_of(world, Selected)).memory_bytes;
    ck_assert(held >= ENTITIES / 8 && held <= mica_world_get_stats(world).memory_bytes);
    ck_assert_int_eq(mica_remove_all(selected, Selected), MICA_OK);
    mica_world_trim(world);
    ck_assert_uint_lt(mica_pool_get_stats(mica_pool_of(world, Selected)).memory_bytes, held);
    close_world(world, &heard);
}
END_TEST

static uint32_t events[3];
static mica_entity last;

static void note(const mica_event *event)
{
    ck_assert(!event->values && event->count == 1 && mica_has_id(event->world, event->entities[0], event->component));
    ++events[event->kind];
    last = event->entities[0];
}

START_TEST(hooks_and_removals_hear_of_tags)
{
    mica_world *world = open_world(&heard);
    memset(events, 0, sizeof events);
    for (uint32_t kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind)
        ck_assert_int_eq(mica_hook_set(world, Selected, kind, note, NULL), MICA_OK);
    mica_removals *removals = mica_removals_create(world, Selected);
    mica_create(world);
    mica_entity a = mica_create(world, MICA_WITH(Selected)), b = mica_create(world);
    ck_assert(mica_same(last, a));
    mica_add(world, b, Selected);
    ck_assert(mica_same(last, b) && events[MICA_EVENT_ADD] == 2);
    mica_remove(world, a, Selected);
    ck_assert(mica_same(last, a));
    mica_destroy(world, b);
    ck_assert(mica_same(last, b) && events[MICA_EVENT_REMOVE] == 2);
    mica_entity removed[4];
    ck_assert_uint_eq(mica_removals_read(removals, removed, 4), 2);
    ck_assert(mica_same(removed[0], a) && mica_same(removed[1], b));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(tag, a_tag_is_added_asked_for_and_removed, tags_take_part_in_queries, hooks_and_removals_hear_of_tags)
