/* Many instances of a component per entity: the order of addition, walking, removing, recording and querying them; and
 * instance handles, for one or for many. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/instances.h"
#include "../support/require.h"
#include "../support/test.h"

#include <signal.h>
#include <string.h>

static instances expected;

static int compare_numbers(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = ((const Item *)a)->number % 16, right = ((const Item *)b)->number % 16;
    return (left > right) - (left < right);
}

static void step(mica_world *world, random_source *random)
{
    uint32_t at = random_below(random, ENTITIES), number = random_below(random, 100000);
    mica_entity entity = expected.entities[at];
    Item item = item_of(number);
    switch (random_below(random, 24)) {
    case 0:
        REQUIRE(mica_remove_id(world, entity, expected.component) == (expected.counts[at] > 0));
        expected.counts[at] = 0;
        break;
    case 1: instances_die(&expected, at); break;
    case 2: mica_pool_gc(expected.pool, 50); break;
    case 3:
        REQUIRE(mica_set_id(world, entity, item_value(expected.component, &item)));
        instances_note_set(&expected, at, number);
        break;
    case 4:
        if (random_one_in(random, 8))
            REQUIRE(mica_pool_sort(expected.pool, compare_numbers, NULL) == MICA_OK);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9: instances_remove(&expected, at, random_below(random, 6)); break;
    case 10: REQUIRE(mica_flush(world) == MICA_OK); break;
    case 11: mica_world_trim(world); break;
    default: instances_add(&expected, at, number); break;
    }
}

START_TEST(the_order_of_addition_outlives_removals_sorts_and_growth)
{
    const variant *how = &variants[_i];
    if (!how->many)
        return;
    instances_open(&expected, how);
    mica_world *world = expected.world;
    random_source random = {(uint64_t)_i};
    for (uint32_t i = 0; i < (UNDER_SANITIZER ? 1500u : 4000u); ++i) {
        step(world, &random);
        if (i % 16 == 0)
            instances_expect(&expected);
    }
    instances_expect(&expected);
    instances_close(&expected);
}
END_TEST

START_TEST(a_query_shows_each_entity_once_or_each_instance)
{
    const variant *how = &variants[_i];
    if (!how->many)
        return;
    instances_open(&expected, how);
    mica_world *world = expected.world;
    for (uint32_t i = 0; i < 200; ++i)
        instances_add(&expected, i * 7 % (ENTITIES - 2), i);
    for (uint32_t at = 0; at < ENTITIES; at += 2)
        mica_set(world, expected.entities[at], Number, {at});
    mica_term terms[] = {{.component = expected.component, .access = MICA_ACCESS_READ},
                         {.component = MICA_ID(Number), .access = MICA_ACCESS_READ}};
    for (uint32_t dead = 0; dead < 2; ++dead) {
        for (uint32_t term_count = 1; term_count <= 2; ++term_count) {
            mica_query *once = mica_query_create(world, &(mica_query_def){.terms = terms, .term_count = term_count});
            mica_query *each = mica_query_create(
                world, &(mica_query_def){.terms = terms, .term_count = term_count, .instances_of = expected.component});
            uint32_t entities = 0, instances = 0, seen[ENTITIES] = {0}, shown[ENTITIES] = {0};
            for (uint32_t at = 0; at < ENTITIES; ++at) {
                bool has = expected.counts[at] && (term_count == 1 || mica_has(world, expected.entities[at], Number));
                entities += has;
                instances += has ? expected.counts[at] : 0;
                ck_assert(mica_query_matches(once, expected.entities[at]) == has);
                ck_assert(mica_query_matches(each, expected.entities[at]) == has);
            }
            ck_assert_uint_eq(mica_query_count(once), entities);
            ck_assert_uint_eq(mica_query_count(each), instances);
            for (mica_view view = mica_query_begin(once); mica_view_next(&view);)
                for (uint32_t i = 0; i < view.count; ++i) {
                    const uint32_t *numbers =
                        expected.is_split ? mica_view_read_field_id(&view, expected.component, 0) : NULL;
                    uint32_t number = expected.is_split
                                          ? numbers[i]
                                          : ((const Item *)mica_view_read_id(&view, expected.component))[i].number;
                    uint32_t at = view.entities[i].index - expected.entities[0].index;
                    ck_assert_uint_eq(number, expected.numbers[at][0]);
                    ++seen[at];
                }
            for (mica_view view = mica_query_begin(each); mica_view_next(&view);)
                for (uint32_t i = 0; i < view.count; ++i) {
                    const uint32_t *numbers =
                        expected.is_split ? mica_view_read_field_id(&view, expected.component, 0) : NULL;
                    uint32_t number = expected.is_split
                                          ? numbers[i]
                                          : ((const Item *)mica_view_read_id(&view, expected.component))[i].number;
                    uint32_t at = view.entities[i].index - expected.entities[0].index, nth = 0;
                    while (expected.numbers[at][nth] != number)
                        ++nth;
                    ck_assert_uint_lt(nth, expected.counts[at]);
                    ++shown[at];
                }
            for (uint32_t at = 0; at < ENTITIES; ++at) {
                ck_assert_uint_le(seen[at], 1);
                ck_assert_uint_eq(shown[at], seen[at] ? expected.counts[at] : 0);
            }
            mica_query_destroy(once);
            mica_query_destroy(each);
        }
        for (uint32_t at = 0; !dead && at < ENTITIES; at += 3) {
            ck_assert(mica_destroy(world, expected.entities[at]));
            expected.counts[at] = 0;
        }
    }
    instances_close(&expected);
}
END_TEST

START_TEST(changing_all_that_an_instance_query_shows_does_so_once_per_entity)
{
    const variant *how = &variants[_i];
    if (!how->many || !how->traits)
        return;
    instances_open(&expected, how);
    mica_world *world = expected.world;
    mica_term terms[] = {{.component = expected.component, .access = MICA_ACCESS_READ},
                         {.component = expected.component, .access = MICA_ACCESS_ADDED}};
    mica_query *query = mica_query_create(
        world, &(mica_query_def){.terms = terms, .term_count = 2, .instances_of = expected.component});
    for (uint32_t i = 0; i < 3 * ENTITIES; ++i)
        instances_add(&expected, i % ENTITIES, i);
    ck_assert_int_eq(mica_add_all(query, Number, {5}), MICA_OK);
    for (uint32_t at = 0; at < ENTITIES; ++at)
        ck_assert_uint_eq(mica_get(world, expected.entities[at], Number)->value, 5);
    /* Only the fourth instance of these is new, and shown. */
    for (uint32_t at = 0; at < 5; ++at)
        instances_add(&expected, at, 1000 + at);
    ck_assert_uint_eq(mica_query_count(query), 5);
    ck_assert_int_eq(mica_destroy_all(query), MICA_OK);
    for (uint32_t at = 0; at < ENTITIES; ++at)
        ck_assert(mica_is_alive(world, expected.entities[at]) == (at >= 5));
    instances_close(&expected);
}
END_TEST

START_TEST(an_instance_reads_and_writes_many_fields_after_one_look_up)
{
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    instances_open(&expected, how);
    mica_world *world = expected.world;
    ck_assert(mica_instance_is_nil(mica_pool_find(expected.pool, expected.entities[0])));
    instances_add(&expected, 0, 4);
    instances_add(&expected, 1, 5);
    mica_version before = mica_world_mark(world);
    mica_query *changed = mica_query_create(
        world, &(mica_query_def){.terms = &(mica_term){.component = expected.component, .access = MICA_ACCESS_CHANGED},
                                 .term_count = 1});
    mica_instance found = mica_pool_find(expected.pool, expected.entities[0]);
    ck_assert_uint_eq(instance_read(&expected, found), 4);
    mica_view quiet = mica_query_begin_since(changed, before);
    ck_assert_msg(!mica_view_next(&quiet), "looking changes nothing");
    instance_write(&expected, found, 6);
    mica_view loud = mica_query_begin_since(changed, before);
    ck_assert_msg(mica_view_next(&loud), "writing counts as change");
    ck_assert_uint_eq(item_number(world, expected.entities[0], expected.component), 6);
    ck_assert_uint_eq(item_number(world, expected.entities[1], expected.component), 5);
    if (!how->many) {
        ck_assert(mica_instance_is_nil(mica_pool_add(expected.pool, expected.entities[0])));
        expect_report(&expected.heard, MICA_ERROR_EXISTS, ".many = true");
    }
    mica_defer(world);
    ck_assert(mica_instance_is_nil(mica_pool_add(expected.pool, expected.entities[2])));
    ck_assert_uint_eq(mica_pool_gc(expected.pool, 10) + mica_pool_sweep(expected.pool), 0);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    expect_report(&expected.heard, MICA_ERROR_REFUSED, "pool_add");
    instances_close(&expected);
}
END_TEST

/* Uses an instance that was found before something happened to the rows. */
static void use_a_stale_instance(int what)
{
    instances_open(&expected, &(variant){.storage = MICA_STORAGE_POOL, .many = what == 4});
    mica_world *world = expected.world;
    instances_add(&expected, 0, 1);
    instances_add(&expected, 1, 2);
    mica_instance stale = mica_pool_find(expected.pool, expected.entities[1]);
    switch (what) {
    case 0: mica_remove_id(world, expected.entities[0], expected.component); break;
    case 1: mica_destroy(world, expected.entities[1]); break;
    case 2: instances_add(&expected, 2, 3); break;
    case 3: mica_pool_sort(expected.pool, compare_numbers, NULL); break;
    case 4: instances_add(&expected, 1, 3); break;
    }
    const Item *item = mica_instance_read(expected.pool, stale, Item);
    ck_assert_msg(!item || (const char *)item >= (const char *)mica_pool_read_id(expected.pool), "it is harmless");
    mica_pool_next(expected.pool, stale);
    mica_pool_owner(expected.pool, stale);
    mica_world_destroy(world);
}

START_TEST(a_stale_instance_stops_a_checked_build_and_is_harmless_otherwise)
{
    use_a_stale_instance(_i);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("instance");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    int count = (int)variant_count;
    tcase_add_loop_test(cases, the_order_of_addition_outlives_removals_sorts_and_growth, 0, count);
    tcase_add_loop_test(cases, a_query_shows_each_entity_once_or_each_instance, 0, count);
    tcase_add_loop_test(cases, changing_all_that_an_instance_query_shows_does_so_once_per_entity, 0, count);
    tcase_add_loop_test(cases, an_instance_reads_and_writes_many_fields_after_one_look_up, 0, count - VARIANTS_CHUNK);
#ifdef MICA_CHECKED
    tcase_add_loop_test_raise_signal(cases, a_stale_instance_stops_a_checked_build_and_is_harmless_otherwise, SIGABRT,
                                     0, 5);
#else
    tcase_add_loop_test(cases, a_stale_instance_stops_a_checked_build_and_is_harmless_otherwise, 0, 5);
#endif
    return test_run("instance", cases);
}
