/* Entities that are created from many lists of values: each list has a plan, and of lists that share a key, one is found without a search. */
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"

#include <stdio.h>

static reports heard;

enum { LISTS = 300, VALUES = 6, ORDERS = 720 };

static mica_component middles[LISTS];

static void define_middles(mica_world *world)
{
    static char names[LISTS][16];
    for (uint32_t i = 0; i < LISTS; ++i) {
        snprintf(names[i], sizeof names[i], "Middle%u", i);
        middles[i] = mica_component_define(world, &(mica_type){.name = names[i],
                                                               .size_bytes = sizeof(uint32_t),
                                                               .alignment = _Alignof(uint32_t),
                                                               .kind = MICA_KIND_STRUCT});
        ck_assert_uint_ne(middles[i], 0);
    }
}

/* The first and the last component are the same in all lists. */
static mica_entity create_with_middle(mica_world *world, uint32_t i, uint32_t round)
{
    Number number = {i};
    Mass mass = {(float)round};
    uint32_t value = 1000 * round + i;
    const mica_value values[] = {{MICA_ID(Number), sizeof number, &number},
                                 {middles[i], sizeof value, &value},
                                 {MICA_ID(Mass), sizeof mass, &mass}};
    return mica_create_id(world, values, COUNT_OF(values));
}

static void require_middle(const mica_world *world, mica_entity entity, uint32_t i, uint32_t round)
{
    const uint32_t *value = mica_get_id(world, entity, middles[i]);
    ck_assert_msg(value && *value == 1000 * round + i, "list %u in round %u", i, round);
    ck_assert_uint_eq(mica_get(world, entity, Number)->value, i);
    ck_assert(mica_get(world, entity, Mass)->value == (float)round);
    ck_assert(!mica_has_id(world, entity, middles[(i + 1) % LISTS]));
}

START_TEST(lists_that_differ_in_the_middle_keep_apart)
{
    mica_world *world = open_world(&heard);
    define_middles(world);
    for (uint32_t round = 0; round < 4; ++round) {
        mica_snapshot before =
            round == 2 ? mica_snapshot_take(world) : (mica_snapshot){0}; /* plans with snapshots too */
        for (uint32_t i = 0; i < LISTS; ++i)
            require_middle(world, create_with_middle(world, i, round), i, round);
        if (round == 2)
            ck_assert(mica_snapshot_restore(world, before) == MICA_OK);
    }
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 3 * LISTS);
    ck_assert(mica_world_validate(world) == MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(archetypes_that_a_restore_forgets_are_found_again)
{
    mica_world *world = open_world(&heard);
    define_middles(world);
    mica_snapshot before = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t i = 0; i < LISTS; ++i)
            require_middle(world, create_with_middle(world, i, round), i, round);
        ck_assert(mica_snapshot_restore(world, before) == MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    }
    close_world(world, &heard);
}
END_TEST

/* The order of a list by its number. */
static void order_values(mica_value *values, uint32_t number)
{
    for (uint32_t i = 0; i < VALUES; ++i) {
        uint32_t other = i + number % (VALUES - i);
        mica_value value = values[i];
        values[i] = values[other];
        values[other] = value;
        number /= VALUES - i;
    }
}

/* More orders than there are plans for an archetype: they are forgotten and made again. */
START_TEST(every_order_of_a_list_gives_the_same_entity)
{
    mica_world *world = open_world(&heard);
    for (uint32_t round = 0; round < 2; ++round)
        for (uint32_t number = 0; number < ORDERS; ++number) {
            Number name = {number};
            Mass mass = {2};
            Color color = {3, 4, 5};
            mica_value values[VALUES] = {{MICA_ID(Number), sizeof name, &name},  {MICA_ID(Mass), sizeof mass, &mass},
                                         {MICA_ID(Color), sizeof color, &color}, {.component = MICA_ID(Frozen)},
                                         {.component = MICA_ID(Enemy)},          {.component = MICA_ID(Position)}};
            order_values(values, number);
            mica_entity entity = mica_create_id(world, values, VALUES);
            ck_assert_uint_eq(mica_get(world, entity, Number)->value, number);
            ck_assert(mica_get(world, entity, Mass)->value == 2 && mica_get(world, entity, Color)->blue == 5);
            ck_assert(mica_get(world, entity, Position)->x == 0 && mica_has(world, entity, Frozen));
        }
    ck_assert_uint_eq(mica_world_get_stats(world).archetype_count, 2);
    ck_assert_uint_lt(mica_world_get_stats(world).memory_bytes, 400 << 10);
    close_world(world, &heard);
}
END_TEST

enum { TAGS = 12, SETS = 1 << TAGS };

/* A number and the tags of a set, given in rising or falling order. */
static mica_entity create_with_set(mica_world *world, const mica_component *tags, uint32_t set, bool is_falling)
{
    Number number = {set};
    mica_value values[TAGS + 1] = {{MICA_ID(Number), sizeof number, &number}};
    uint32_t count = 1;
    for (uint32_t i = 0; i < TAGS; ++i) {
        uint32_t tag = is_falling ? TAGS - 1 - i : i;
        if (set >> tag & 1)
            values[count++].component = tags[tag];
    }
    return mica_create_id(world, values, count);
}

static bool has_set(const mica_world *world, const mica_component *tags, mica_entity entity, uint32_t set)
{
    bool fine = mica_get(world, entity, Number)->value == set;
    for (uint32_t tag = 0; tag < TAGS; ++tag)
        fine &= mica_has_id(world, entity, tags[tag]) == (set >> tag & 1);
    return fine;
}

/* Thousands of lists, most of which share their first, middle and last component: the second time each has a plan, and nothing is
 * allocated. */
START_TEST(thousands_of_lists_are_learned_once)
{
    static mica_entity entities[SETS];
    faulty_allocator memory;
    faulty_allocator_init(&memory);
    mica_world *world = open_world_with(&heard, (mica_world_def){.allocator = faulty_allocator_interface(&memory)});
    mica_component tags[TAGS];
    for (uint32_t i = 0; i < TAGS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Set%u", i);
        tags[i] = mica_component_define(
            world, &(mica_type){.name = name, .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG});
    }
    uint64_t allocations = 0;
    for (uint32_t round = 0; round < 4; ++round) {
        allocations = round == 2 ? memory.allocations : allocations;
        for (uint32_t i = 0; i < SETS; ++i)
            entities[i] = create_with_set(world, tags, i * 2654435761u % SETS, round % 2);
        for (uint32_t i = 0; i < SETS; ++i)
            ck_assert_msg(has_set(world, tags, entities[i], i * 2654435761u % SETS), "%u in round %u", i, round);
        for (uint32_t i = 0; i < SETS; ++i)
            mica_destroy(world, entities[i]);
    }
    ck_assert_uint_eq(memory.allocations, allocations);
    ck_assert_uint_eq(mica_world_get_stats(world).archetype_count, SETS + 1);
    close_world(world, &heard);
    faulty_allocator_free(&memory);
}
END_TEST

TEST_SUITE(create_plan, lists_that_differ_in_the_middle_keep_apart, archetypes_that_a_restore_forgets_are_found_again,
           every_order_of_a_list_gives_the_same_entity, thousands_of_lists_are_learned_once)
