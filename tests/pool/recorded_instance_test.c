/* Many instances of a component per entity: what is recorded about them ends as if it were done at
 * once; switches and clones are of all. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/instances.h"
#include "../support/require.h"
#include "../support/test.h"

#include <string.h>

static instances expected;

/* What can be recorded about the instances of one entity. The same is done at once to the model. */
static void record_one(mica_commands *commands, random_source *random, uint32_t at)
{
    mica_entity entity = expected.entities[at];
    uint32_t number = random_below(random, 100000);
    Item item = item_of(number), *staged;
    switch (random_below(random, 7)) {
    case 0:
        ck_assert(mica_command_remove_id(commands, entity, expected.component, MICA_HERE) == (expected.counts[at] > 0));
        expected.counts[at] = 0;
        break;
    case 1:
        ck_assert(mica_command_set_id(commands, entity, item_value(expected.component, &item), MICA_HERE));
        instances_note_set(&expected, at, number);
        break;
    case 2:
        staged = mica_command_add_id(commands, entity, expected.component, MICA_HERE);
        REQUIRE(staged);
        REQUIRE_SAYING(staged->number == (expected.counts[at] ? expected.numbers[at][0] : 0), "staged %u, first %u",
                       staged->number, expected.numbers[at][0]);
        *staged = item;
        instances_note_set(&expected, at, number);
        break;
    case 3:
        if (!mica_component_type(expected.component)->toggle)
            break;
        ck_assert(mica_command_enable_id(commands, entity, expected.component, number % 2, MICA_HERE) ==
                  (expected.counts[at] > 0));
        break;
    default:
        if (expected.counts[at] == INSTANCES_MAX)
            break;
        staged = mica_command_add_instance_id(commands, entity, expected.component, MICA_HERE);
        REQUIRE(staged && staged->number == 0);
        *staged = item;
        expected.numbers[at][expected.counts[at]++] = number;
        break;
    }
}

START_TEST(recorded_instances_end_as_if_they_were_added_at_once)
{
    const variant *how = &variants[_i];
    if (!how->many)
        return;
    instances_open(&expected, how);
    mica_world *world = expected.world;
    mica_commands *commands = mica_commands_create(world);
    random_source random = {(uint64_t)_i + 77};
    for (uint32_t round = 0; round < 200; ++round) {
        for (uint32_t i = 0; i < 40; ++i)
            record_one(commands, &random, random_below(&random, ENTITIES));
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        instances_expect(&expected);
        if (round % 8 == 7)
            for (uint32_t at = 0; at < ENTITIES; at += 2)
                instances_die(&expected, at);
    }
    instances_close(&expected);
}
END_TEST

/* Which instance of the model came nth before the flush; -1 for one that was recorded. */
static int32_t origins[ENTITIES][INSTANCES_MAX];
static uint32_t counts_before[ENTITIES];

static mica_instance nth_instance(uint32_t at, uint32_t nth)
{
    mica_instance instance = mica_pool_find(expected.pool, expected.entities[at]);
    while (nth-- > 0)
        instance = mica_pool_next(expected.pool, instance);
    return instance;
}

/* Removes the instance that came nth before the flush, from the model too if it is still there. */
static void remove_nth(uint32_t at, uint32_t nth)
{
    uint32_t found = 0, count = expected.counts[at];
    while (found < count && origins[at][found] != (int32_t)nth)
        ++found;
    ck_assert(mica_pool_remove(expected.pool, nth_instance(at, nth)) == (found < count));
    if (found == count)
        return;
    --expected.counts[at];
    memmove(&expected.numbers[at][found], &expected.numbers[at][found + 1], (count - found - 1) * sizeof(uint32_t));
    memmove(&origins[at][found], &origins[at][found + 1], (count - found - 1) * sizeof(int32_t));
}

/* What can be recorded about instances by calls that have the same effect at once. */
static void change_one(random_source *random, uint32_t at)
{
    mica_world *world = expected.world;
    mica_entity entity = expected.entities[at];
    uint32_t number = random_below(random, 100000);
    Item item = item_of(number), *staged;
    switch (random_below(random, 8)) {
    case 0:
        if (!random_one_in(random, 3))
            break;
        ck_assert(mica_remove_id(world, entity, expected.component) == (expected.counts[at] > 0));
        expected.counts[at] = 0;
        break;
    case 1:
        origins[at][0] = expected.counts[at] ? origins[at][0] : -1;
        ck_assert(mica_set_id(world, entity, item_value(expected.component, &item)));
        instances_note_set(&expected, at, number);
        break;
    case 2:
        origins[at][0] = expected.counts[at] ? origins[at][0] : -1;
        staged = mica_add_id(world, entity, expected.component);
        REQUIRE(staged && staged->number == (expected.counts[at] ? expected.numbers[at][0] : 0));
        *staged = item;
        instances_note_set(&expected, at, number);
        break;
    case 3:
    case 4:
    case 5:
        if (counts_before[at])
            remove_nth(at, random_below(random, counts_before[at]));
        break;
    default:
        if (expected.counts[at] == INSTANCES_MAX)
            break;
        staged = mica_add_instance_id(world, entity, expected.component);
        REQUIRE(staged && staged->number == 0);
        *staged = item;
        origins[at][expected.counts[at]] = -1;
        expected.numbers[at][expected.counts[at]++] = number;
        break;
    }
}

START_TEST(single_instances_are_removed_as_if_it_were_at_once)
{
    const variant *how = &variants[_i];
    if (!how->many)
        return;
    instances_open(&expected, how);
    random_source random = {(uint64_t)_i + 55};
    for (uint32_t round = 0; round < 200; ++round) {
        memcpy(counts_before, expected.counts, sizeof counts_before);
        for (uint32_t at = 0; at < ENTITIES; ++at)
            for (uint32_t i = 0; i < expected.counts[at]; ++i)
                origins[at][i] = (int32_t)i;
        mica_defer(expected.world);
        for (uint32_t i = 0; i < 60; ++i)
            change_one(&random, random_below(&random, ENTITIES));
        ck_assert_int_eq(mica_flush(expected.world), MICA_OK);
        instances_expect(&expected);
    }
    instances_close(&expected);
}
END_TEST

START_TEST(buffers_add_instances_in_their_order)
{
    const variant *how = &variants[_i];
    if (!how->many)
        return;
    instances_open(&expected, how);
    mica_world *world = expected.world;
    mica_commands *buffers[3];
    random_source random = {(uint64_t)_i + 99};
    for (uint32_t b = 0; b < 3; ++b)
        buffers[b] = mica_commands_create(world);
    for (uint32_t round = 0; round < 100; ++round) {
        bool had[ENTITIES];
        for (uint32_t at = 0; at < ENTITIES; ++at)
            had[at] = expected.counts[at] > 0;
        for (uint32_t b = 0; b < 3; ++b)
            for (uint32_t i = 0; i < 20; ++i) {
                uint32_t at = random_below(&random, ENTITIES), number = random_below(&random, 100000);
                Item item = item_of(number), *staged;
                switch (random_below(&random, 6)) {
                case 0: /* what an earlier buffer adds goes too */
                    mica_command_remove_id(buffers[b], expected.entities[at], expected.component, MICA_HERE);
                    expected.counts[at] = 0;
                    break;
                case 1: /* else the buffer takes the first that it adds itself for the first of all */
                    if (!had[at])
                        break;
                    ck_assert(mica_command_set_id(buffers[b], expected.entities[at],
                                                  item_value(expected.component, &item), MICA_HERE));
                    instances_note_set(&expected, at, number);
                    break;
                default:
                    if (expected.counts[at] == INSTANCES_MAX)
                        break;
                    staged =
                        mica_command_add_instance_id(buffers[b], expected.entities[at], expected.component, MICA_HERE);
                    *staged = item;
                    expected.numbers[at][expected.counts[at]++] = number;
                    break;
                }
            }
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        instances_expect(&expected);
    }
    instances_close(&expected);
}
END_TEST

START_TEST(a_switch_is_of_all_instances)
{
    const variant *how = &variants[_i];
    if (!how->many || !how->traits)
        return;
    instances_open(&expected, how);
    mica_world *world = expected.world;
    mica_query *each = mica_query_create(
        world, &(mica_query_def){.terms = &(mica_term){.component = expected.component, .access = MICA_ACCESS_HAS},
                                 .term_count = 1,
                                 .instances_of = expected.component});
    instances_add(&expected, 0, 1);
    instances_add(&expected, 0, 2);
    ck_assert(mica_enable_id(world, expected.entities[0], expected.component, false));
    ck_assert_uint_eq(mica_query_count(each), 0);
    instances_add(&expected, 0, 3); /* joins the others, which are switched off */
    ck_assert_uint_eq(mica_query_count(each), 0);
    instances_remove(&expected, 0, 0);
    ck_assert(!mica_is_enabled_id(world, expected.entities[0], expected.component));
    mica_entity clone = mica_clone(world, expected.entities[0]);
    ck_assert(!mica_is_enabled_id(world, clone, expected.component));
    ck_assert_uint_eq(mica_query_count(each), 0);
    ck_assert(mica_enable_id(world, clone, expected.component, true));
    ck_assert_uint_eq(mica_query_count(each), 2);
    mica_defer(world);
    Item item = item_of(9);
    mica_set_id(world, clone, item_value(expected.component, &item));
    mica_enable_id(world, clone, expected.component, false);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_query_count(each), 0);
    instances_close(&expected);
}
END_TEST

START_TEST(a_clone_has_all_instances_in_their_order)
{
    const variant *how = &variants[_i];
    if (!how->many)
        return;
    for (int recorded = 0; recorded < 2; ++recorded) {
        instances_open(&expected, how);
        mica_world *world = expected.world;
        for (uint32_t i = 0; i < 20; ++i)
            instances_add(&expected, i % 3, i);
        if (recorded)
            mica_defer(world);
        expected.entities[5] = mica_clone(world, expected.entities[1]);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        expected.counts[5] = expected.counts[1];
        memcpy(expected.numbers[5], expected.numbers[1], sizeof expected.numbers[5]);
        instances_expect(&expected);
        instances_close(&expected);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("recorded_instance");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    int count = (int)variant_count;
    tcase_add_loop_test(cases, recorded_instances_end_as_if_they_were_added_at_once, 0, count);
    tcase_add_loop_test(cases, single_instances_are_removed_as_if_it_were_at_once, 0, count);
    tcase_add_loop_test(cases, buffers_add_instances_in_their_order, 0, count);
    tcase_add_loop_test(cases, a_switch_is_of_all_instances, 0, count);
    tcase_add_loop_test(cases, a_clone_has_all_instances_in_their_order, 0, count);
    return test_run("recorded_instance", cases);
}
