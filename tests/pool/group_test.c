/* Groups: pools whose first rows belong to the same entities in the same order, so that walking all of them is a plain walk. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/variants.h"

#include "mica/snapshot.h"

static reports heard;

enum { ENTITIES = 300, POOLS = 3 };

typedef struct grouped {
    mica_world *world;
    mica_component components[POOLS];
    mica_pool *pools[POOLS];
    mica_entity entities[ENTITIES];
    uint32_t numbers[ENTITIES][POOLS];
    mica_query *query;
} grouped;

static grouped scene;

static const variant kinds[] = {
    {.storage = MICA_STORAGE_POOL},
    {.storage = MICA_STORAGE_POOL, .index = MICA_INDEX_HASH},
    {.storage = MICA_STORAGE_POOL, .dying = MICA_DYING_LAZILY},
    {.storage = MICA_STORAGE_POOL, .dying = MICA_DYING_AT_FLUSH, .traits = true},
    {.storage = MICA_STORAGE_POOL, .split = true},
    {.storage = MICA_STORAGE_POOL, .index = MICA_INDEX_HASH, .dying = MICA_DYING_LAZILY, .split = true, .traits = true},
};

static void set(uint32_t at, uint32_t which, uint32_t number)
{
    Item item = item_of(number);
    REQUIRE(mica_set_id(scene.world, scene.entities[at], item_value(scene.components[which], &item)));
    scene.numbers[at][which] = number;
}

static void open_scene(const variant *kind, bool group_first, uint64_t seed)
{
    random_source random = {seed};
    scene.world = open_world(&heard);
    mica_term terms[POOLS];
    for (uint32_t i = 0; i < POOLS; ++i) {
        scene.components[i] = variant_component(kind, (char)('a' + i));
        scene.pools[i] = mica_pool_of_id(scene.world, scene.components[i]);
        terms[i] = (mica_term){.component = scene.components[i], .access = i ? MICA_ACCESS_READ : MICA_ACCESS_WRITE};
    }
    scene.query = mica_query_create(scene.world, &(mica_query_def){.terms = terms, .term_count = POOLS});
    if (group_first)
        REQUIRE(mica_group_id(scene.world, scene.components, POOLS) == MICA_OK);
    for (uint32_t at = 0; at < ENTITIES; ++at) {
        scene.entities[at] = mica_create(scene.world);
        for (uint32_t i = 0; i < POOLS; ++i) {
            scene.numbers[at][i] = UINT32_MAX;
            if (random_one_in(&random, 2))
                set(at, i, random_below(&random, 10000));
        }
    }
    if (!group_first)
        REQUIRE(mica_group_id(scene.world, scene.components, POOLS) == MICA_OK);
}

/* The first rows of all pools are those of the entities that have everything, in one order. */
static void expect_in_step(void)
{
    uint32_t all = 0;
    for (uint32_t at = 0; at < ENTITIES; ++at) {
        bool has_all = mica_is_alive(scene.world, scene.entities[at]);
        for (uint32_t i = 0; i < POOLS; ++i) {
            REQUIRE(item_number(scene.world, scene.entities[at], scene.components[i]) == scene.numbers[at][i]);
            has_all &= scene.numbers[at][i] != UINT32_MAX;
        }
        all += has_all;
    }
    REQUIRE(mica_query_count(scene.query) == all);
    uint32_t in_group = mica_pool_get_stats(scene.pools[0]).group_count;
    REQUIRE(in_group >= all);
    for (uint32_t row = 0; row < in_group; ++row)
        for (uint32_t i = 1; i < POOLS; ++i)
            REQUIRE(mica_same(mica_pool_owners(scene.pools[0])[row], mica_pool_owners(scene.pools[i])[row]));
    expect_valid(scene.world);
}

static int compare_numbers(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = ((const Item *)a)->number, right = ((const Item *)b)->number;
    return (left > right) - (left < right);
}

static void step(random_source *random)
{
    uint32_t at = random_below(random, ENTITIES), which = random_below(random, POOLS);
    switch (random_below(random, 10)) {
    case 0:
    case 1:
    case 2:
        REQUIRE(mica_remove_id(scene.world, scene.entities[at], scene.components[which]) ==
                (scene.numbers[at][which] != UINT32_MAX));
        scene.numbers[at][which] = UINT32_MAX;
        break;
    case 3:
        REQUIRE(mica_destroy(scene.world, scene.entities[at]));
        scene.entities[at] = mica_create(scene.world);
        for (uint32_t i = 0; i < POOLS; ++i)
            scene.numbers[at][i] = UINT32_MAX;
        break;
    case 4: mica_pool_gc(scene.pools[which], 20); break;
    case 5:
        if (random_one_in(random, 10))
            REQUIRE(mica_pool_sort(scene.pools[which], compare_numbers, NULL) == MICA_OK);
        break;
    case 6: REQUIRE(mica_flush(scene.world) == MICA_OK); break;
    default: set(at, which, random_below(random, 10000)); break;
    }
}

START_TEST(pools_of_a_group_stay_in_step_whatever_happens)
{
    for (int group_first = 0; group_first < 2; ++group_first) {
        random_source random = {(uint64_t)_i};
        open_scene(&kinds[_i], group_first, 17);
        for (uint32_t i = 0; i < 3000; ++i) {
            step(&random);
            if (i % 64 == 0)
                expect_in_step();
        }
        expect_in_step();
        close_world(scene.world, &heard);
    }
}
END_TEST

START_TEST(walking_a_group_is_one_view_of_plain_arrays)
{
    open_scene(&kinds[_i], true, 3);
    for (uint32_t round = 0; round < 2; ++round) {
        uint32_t in_group = mica_pool_get_stats(scene.pools[0]).group_count, views = 0;
        for (mica_view view = mica_query_begin(scene.query); mica_view_next(&view); ++views) {
            ck_assert_uint_eq(view.count, in_group);
            for (uint32_t row = 0; row < view.count; ++row)
                ck_assert(mica_same(view.entities[row], mica_pool_owners(scene.pools[0])[row]));
            for (uint32_t i = 0; i < POOLS; ++i)
                if (kinds[_i].split)
                    ck_assert_ptr_eq(mica_view_read_field_id(&view, scene.components[i], 0),
                                     mica_pool_read_field_id(scene.pools[i], 0));
                else
                    ck_assert_ptr_eq(mica_view_read_id(&view, scene.components[i]), mica_pool_read_id(scene.pools[i]));
        }
        ck_assert_uint_eq(views, 1);
        for (uint32_t at = 0; at < 40; ++at)
            if (mica_is_alive(scene.world, scene.entities[at]))
                mica_destroy(scene.world, scene.entities[at]);
        for (uint32_t i = 0; i < POOLS; ++i)
            mica_pool_sweep(scene.pools[i]);
    }
    close_world(scene.world, &heard);
}
END_TEST

enum { LISTED = 40 };

/* Creates entities with the first components of a group, at once or one after the other. */
static void create_listed(mica_world *world, const mica_component *components, uint32_t count, bool at_once,
                          mica_entity *out)
{
    Item items[LISTED];
    mica_value values[POOLS];
    for (uint32_t i = 0; i < LISTED; ++i)
        items[i] = item_of(i);
    for (uint32_t i = 0; i < count; ++i)
        values[i] = item_value(components[i], items);
    if (at_once)
        ck_assert_int_eq(mica_create_many(world, LISTED, values, count, out), MICA_OK);
    for (uint32_t k = 0; !at_once && k < LISTED; ++k) {
        for (uint32_t i = 0; i < count; ++i)
            values[i].data = &items[k];
        out[k] = mica_create_id(world, values, count);
    }
}

static void expect_same_rows(mica_world *const *worlds, const mica_component *components)
{
    for (uint32_t i = 0; i < POOLS; ++i) {
        const mica_pool *left = mica_pool_of_id(worlds[0], components[i]),
                        *right = mica_pool_of_id(worlds[1], components[i]);
        ck_assert_uint_eq(mica_pool_row_count(left), mica_pool_row_count(right));
        ck_assert_uint_eq(mica_pool_get_stats(left).group_count, mica_pool_get_stats(right).group_count);
        ck_assert_mem_eq(mica_pool_owners(left), mica_pool_owners(right),
                         mica_pool_row_count(left) * sizeof(mica_entity));
    }
    ck_assert(mica_world_hash(worlds[0]) == mica_world_hash(worlds[1]));
}

START_TEST(lists_enter_and_leave_a_group_as_single_entities_do)
{
    mica_world *worlds[2];
    mica_component components[POOLS];
    for (uint32_t w = 0; w < 2; ++w) {
        mica_entity all[LISTED], some[LISTED];
        worlds[w] = open_world(&heard);
        for (uint32_t i = 0; i < POOLS; ++i)
            components[i] = variant_component(&kinds[_i], (char)('a' + i));
        ck_assert_int_eq(mica_group_id(worlds[w], components, POOLS), MICA_OK);
        create_listed(worlds[w], components, POOLS, w == 0, all); /* in step */
        create_listed(worlds[w], components, POOLS - 1, w == 0, some);
        create_listed(worlds[w], components, POOLS, w == 0, all); /* others are in the way */
        mica_query *query =
            mica_query_create(worlds[w], MICA_QUERY({.component = components[0], .access = MICA_ACCESS_HAS}));
        if (w == 0)
            ck_assert_int_eq(mica_add_all_id(query, (mica_value){.component = components[POOLS - 1]}), MICA_OK);
        for (uint32_t i = 0; w == 1 && i < LISTED; ++i)
            mica_add_id(worlds[w], some[i], components[POOLS - 1]);
        if (w == 0)
            mica_destroy_many(worlds[w], all, LISTED / 2);
        for (uint32_t i = 0; w == 1 && i < LISTED / 2; ++i)
            mica_destroy(worlds[w], all[i]);
        ck_assert_int_eq(mica_world_validate(worlds[w]), MICA_OK);
    }
    expect_same_rows(worlds, components);
    close_world(worlds[0], &heard);
    close_world(worlds[1], &heard);
}
END_TEST

START_TEST(sorting_one_pool_of_a_group_sorts_the_shared_rows_of_all)
{
    if (kinds[_i].split)
        return;
    open_scene(&kinds[_i], true, 5);
    ck_assert_int_eq(mica_pool_sort(scene.pools[1], compare_numbers, NULL), MICA_OK);
    const Item *items = mica_pool_read_id(scene.pools[1]);
    uint32_t in_group = mica_pool_get_stats(scene.pools[1]).group_count, rows = mica_pool_row_count(scene.pools[1]);
    for (uint32_t row = 1; row < rows; ++row)
        ck_assert(row == in_group || items[row - 1].number <= items[row].number);
    expect_in_step();
    uint32_t before = 0;
    for (mica_view view = mica_query_begin(scene.query); mica_view_next(&view);) {
        const Item *shown = mica_view_read_id(&view, scene.components[1]);
        for (uint32_t i = 0; i < view.count; before = shown[i++].number)
            ck_assert_uint_ge(shown[i].number, before);
    }
    close_world(scene.world, &heard);
}
END_TEST

START_TEST(a_sort_is_stable)
{
    variant kind = {.storage = MICA_STORAGE_POOL, .index = _i ? MICA_INDEX_HASH : MICA_INDEX_MAP};
    mica_world *world = open_world(&heard);
    mica_component component = variant_component(&kind, 'a');
    mica_pool *pool = mica_pool_of_id(world, component);
    ck_assert_int_eq(mica_pool_sort(pool, compare_numbers, NULL), MICA_OK);
    for (uint32_t i = 0; i < 1000; ++i) {
        Item item = item_of(i * 7 % 10);
        item.at.x = (float)i;
        mica_value value = item_value(component, &item);
        ck_assert(!mica_is_nil(mica_create_id(world, &value, 1)));
    }
    ck_assert_int_eq(mica_pool_sort(pool, compare_numbers, NULL), MICA_OK);
    const Item *items = mica_pool_read_id(pool);
    for (uint32_t i = 1; i < 1000; ++i)
        ck_assert(items[i - 1].number < items[i].number ||
                  (items[i - 1].number == items[i].number && items[i - 1].at.x < items[i].at.x));
    close_world(world, &heard);
}
END_TEST

/* A group that was created after the snapshot is disbanded, since it had moved rows; creating it again gives the same world. */
START_TEST(a_restored_world_has_the_groups_of_its_snapshot)
{
    mica_world *world = open_world(&heard);
    const mica_component both[] = {variant_component(&kinds[_i], 'a'), variant_component(&kinds[_i], 'b')};
    mica_entity entities[40];
    uint32_t shared = 0;
    for (uint32_t i = 0; i < 40; ++i) {
        Item item = item_of(i);
        entities[i] = mica_create(world);
        for (uint32_t k = 0; k < 2; ++k)
            if ((i + 1) % (k + 2))
                REQUIRE(mica_set_id(world, entities[i], item_value(both[k], &item)));
        shared += (i + 1) % 2 && (i + 1) % 3;
    }
    uint64_t ungrouped = mica_world_hash(world);
    mica_snapshot before_group = mica_snapshot_take(world);
    ck_assert_int_eq(mica_group_id(world, both, 2), MICA_OK);
    uint64_t grouped = mica_world_hash(world);
    mica_snapshot before_change = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 6; ++round) {
        bool has_group = round % 3 == 0;
        for (uint32_t i = round; i < 40; i += 3)
            mica_remove_id(world, entities[i], both[i % 2]);
        ck_assert_int_eq(mica_snapshot_restore(world, has_group ? before_change : before_group), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), has_group ? grouped : ungrouped);
        ck_assert_uint_eq(mica_pool_get_stats(mica_pool_of_id(world, both[0])).group_count, has_group ? shared : 0);
        expect_valid(world);
        if (round % 3 == 2) { /* again */
            ck_assert_int_eq(mica_group_id(world, both, 2), MICA_OK);
            ck_assert_uint_eq(mica_world_hash(world), grouped);
            expect_valid(world);
        }
    }
    mica_world *clone = mica_world_clone(world);
    ck_assert_uint_eq(mica_world_hash(clone), grouped);
    ck_assert_uint_eq(mica_pool_get_stats(mica_pool_of_id(clone, both[0])).group_count, shared);
    mica_world_destroy(clone);
    ck_assert_int_eq(mica_snapshot_restore(world, before_group), MICA_OK);
    clone = mica_world_clone(world);
    ck_assert_uint_eq(mica_world_hash(clone), ungrouped);
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

MICA_POOL_TAG(Marked)

START_TEST(an_invalid_group_is_rejected)
{
    mica_world *world = open_world(&heard);
    variant map = kinds[0], direct = map, many = map;
    direct.index = MICA_INDEX_DIRECT;
    many.many = true;
    mica_component a = variant_component(&map, 'a'), b = variant_component(&map, 'b'), c = variant_component(&map, 'c');
    const mica_component bad[][2] = {{a, a},
                                     {a, variant_component(&direct, 'a')},
                                     {a, variant_component(&many, 'a')},
                                     {a, MICA_ID(Marked)},
                                     {a, MICA_ID(Number)}};
    for (uint32_t i = 0; i < COUNT_OF(bad); ++i) {
        ck_assert_int_eq(mica_group_id(world, bad[i], 2), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, i < 4 ? "group: " : "MICA_POOL");
    }
    ck_assert_int_eq(mica_group_id(world, &a, 1), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "not 2 to 8");
    mica_component crowd[MICA_GROUP_POOLS_MAX + 1];
    for (uint32_t i = 0; i < COUNT_OF(crowd); ++i)
        crowd[i] = variant_component(&map, (char)('m' + i));
    ck_assert_int_eq(mica_group_id(world, crowd, COUNT_OF(crowd)), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "not 2 to 8");
    ck_assert_int_eq(mica_group_id(world, crowd, MICA_GROUP_POOLS_MAX), MICA_OK);
    const mica_component good[] = {a, b}, again[] = {b, c};
    mica_defer(world);
    ck_assert_int_eq(mica_group_id(world, good, 2), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "group");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_int_eq(mica_group_id(world, good, 2), MICA_OK);
    ck_assert_int_eq(mica_group_id(world, again, 2), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "in a group already");
    close_world(world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("group");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, pools_of_a_group_stay_in_step_whatever_happens, 0, COUNT_OF(kinds));
    tcase_add_loop_test(cases, walking_a_group_is_one_view_of_plain_arrays, 0, 3); /* a switch is asked row by row */
    tcase_add_loop_test(cases, a_restored_world_has_the_groups_of_its_snapshot, 0, COUNT_OF(kinds));
    tcase_add_test(cases, an_invalid_group_is_rejected);
    tcase_add_loop_test(cases, lists_enter_and_leave_a_group_as_single_entities_do, 0, 2);
    tcase_add_loop_test(cases, walking_a_group_is_one_view_of_plain_arrays, 4, 5);
    tcase_add_loop_test(cases, sorting_one_pool_of_a_group_sorts_the_shared_rows_of_all, 0, COUNT_OF(kinds));
    tcase_add_loop_test(cases, a_sort_is_stable, 0, 2);
    return test_run("group", cases);
}
