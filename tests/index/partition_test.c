/* Entities of equal key, partition by partition: compared with a search through all entities. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/partition.h"
#include "mica/snapshot.h"

#include <math.h>
#include <string.h>

typedef struct Values {
    int8_t small;
    uint64_t large;
    double real;
    float single;
    bool flag;
    mica_entity entity;
} Values;
MICA_COMPONENT(Values, small, large, real, single, flag, entity)
MICA_RELATION_WITH(LocatedIn, (.exclusive = true, .on_target = MICA_TARGET_KEEP))
MICA_RELATION(Likes)
MICA_RELATION_WITH(MarriedTo, (.symmetric = true))

static const mica_key all = {0};

static mica_index *index_of(mica_world *world, mica_component component, const char *field)
{
    mica_index *index = mica_index_create(world, &(mica_index_def){.component = component, .fields = field});
    ck_assert(index && mica_index_update(index) == MICA_OK);
    return index;
}

START_TEST(keys_of_partitions_are_the_values_of_the_field)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity friend = mica_create(world);
    mica_create(world, MICA_WITH(Values, {-3, UINT64_MAX, -0.5, 0.25f, true, friend}));
    mica_create(world, MICA_WITH(Values, {4, 7, NAN, -2, false, mica_nil()}));
    const struct {
        const char *field;
        mica_key keys[2];
    } cases[] = {
        {"small", {mica_key_integer(-3), mica_key_integer(4)}},
        {"large", {mica_key_integer(7), mica_key_natural(UINT64_MAX)}},
        {"real", {mica_key_real(-0.5), mica_key_real(NAN)}},
        {"single", {mica_key_real(-2), mica_key_real(0.25)}},
        {"flag", {mica_key_integer(0), mica_key_integer(1)}},
        {"entity", {mica_key_entity(mica_nil()), mica_key_entity(friend)}},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        const mica_index *index = index_of(world, MICA_ID(Values), cases[i].field);
        mica_partition part = mica_partitions_by_index(index, all, all);
        for (uint32_t k = 0; k < 2; ++k) {
            mica_key expected = cases[i].keys[k];
            ck_assert(mica_partition_next(&part));
            ck_assert_uint_eq(part.count, 1);
            ck_assert(part.key.kind == expected.kind);
            if (expected.kind == MICA_KIND_F64 && isnan(expected.as.real))
                ck_assert(isnan(part.key.as.real));
            else if (expected.kind == MICA_KIND_F64)
                ck_assert(part.key.as.real == expected.as.real);
            else
                ck_assert(part.key.as.natural == expected.as.natural);
            ck_assert(mica_is_nil(part.entity) && mica_member_next(&part));
            ck_assert(mica_same(part.entity, mica_find_by(index, part.key)));
            ck_assert(!mica_member_next(&part) && mica_is_nil(part.entity));
        }
        ck_assert(!mica_partition_next(&part) && !mica_member_next(&part));
    }
    close_world(world, &heard);
}
END_TEST

/* Shows each entity of a range once, with rising keys, and counts them. */
static uint32_t check_partitions(const mica_index *index, mica_key low, mica_key high, uint32_t leave_after)
{
    uint32_t total = 0;
    int64_t last = INT64_MIN;
    for (mica_partition part = mica_partitions_by_index(index, low, high); mica_partition_next(&part);) {
        REQUIRE(part.key.as.integer > last);
        last = part.key.as.integer;
        mica_match match = mica_index_range(index, part.key, part.key);
        uint32_t shown = 0;
        while (shown < leave_after && mica_member_next(&part)) {
            REQUIRE(mica_match_next(&match) && mica_same(match.entity, part.entity));
            ++shown;
        }
        REQUIRE(shown == (part.count < leave_after ? part.count : leave_after));
        REQUIRE(part.count == mica_index_count(index, part.key, part.key));
        total += part.count;
    }
    return total;
}

START_TEST(partitions_show_every_entity_once_by_rising_key)
{
    random_source random = {setting_from_environment("SEED", 5)};
    const uint32_t kinds[] = {1, 3, 40, 1000, 100000};
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        for (uint32_t k = 0; k < 2000; ++k)
            mica_create(world, MICA_WITH(Number, {random_below(&random, kinds[i])}));
        mica_index *index = index_of(world, MICA_ID(Number), "value");
        ck_assert_uint_eq(check_partitions(index, all, all, UINT32_MAX), 2000);
        ck_assert_uint_eq(check_partitions(index, all, all, 1), 2000);
        ck_assert_uint_eq(check_partitions(index, all, all, 0), 2000);
        mica_key low = mica_key_integer(kinds[i] / 3), high = mica_key_integer(kinds[i] / 2);
        ck_assert_uint_eq(check_partitions(index, low, high, 7), mica_index_count(index, low, high));
        ck_assert_uint_eq(check_partitions(index, low, low, 7), mica_index_count(index, low, low));
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(the_highest_value_of_64_bits_ends_the_loop)
{
    reports heard;
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 200; ++i)
        mica_create(world, MICA_WITH(Values, {.large = UINT64_MAX}));
    mica_partition part = mica_partitions_by_index(index_of(world, MICA_ID(Values), "large"), all, all);
    ck_assert(mica_partition_next(&part));
    ck_assert_uint_eq(part.count, 200);
    ck_assert(!mica_partition_next(&part));
    close_world(world, &heard);
}
END_TEST

/* Targets by rising index with the sources of each, compared with all entities one by one. */
static void check_targets(const mica_world *world, mica_component relation, const mica_entity *entities, uint32_t count)
{
    mica_partition part = mica_partitions_by_target_id(world, relation);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t sources = mica_is_alive(world, entities[i]) ? mica_source_count_id(world, entities[i], relation) : 0;
        if (!sources)
            continue;
        REQUIRE(mica_partition_next(&part) && part.key.kind == MICA_KIND_ENTITY);
        REQUIRE(mica_same(part.key.as.entity, entities[i]) && part.count == sources);
        for (mica_edges at = mica_sources_id(world, entities[i], relation); mica_edge_next(&at);)
            REQUIRE(mica_member_next(&part) && mica_same(part.entity, at.entity));
        REQUIRE(!mica_member_next(&part));
    }
    REQUIRE(!mica_partition_next(&part));
}

START_TEST(targets_are_partitions_of_their_sources_through_any_history)
{
    enum { ENTITIES = 300, ROUNDS = 40 };
    reports heard;
    mica_world *world = open_world(&heard);
    random_source random = {setting_from_environment("SEED", 7)};
    mica_component relations[] = {MICA_ID(LocatedIn), MICA_ID(Likes), MICA_ID(MarriedTo)};
    mica_entity entities[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; ++i)
        entities[i] = mica_create(world);
    for (uint32_t k = 0; k < COUNT_OF(relations); ++k)
        check_targets(world, relations[k], entities, ENTITIES); /* which the world does not use yet */
    mica_snapshot snapshot = {0};
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        if (round == ROUNDS / 2)
            snapshot = mica_snapshot_take(world);
        for (uint32_t i = 0; i < 60; ++i) {
            mica_entity source = entities[random_below(&random, ENTITIES)],
                        target = entities[random_below(&random, 40)];
            mica_component relation = relations[random_below(&random, COUNT_OF(relations))];
            if (mica_same(source, target) || !mica_is_alive(world, source) || !mica_is_alive(world, target))
                continue;
            if (random_one_in(&random, 3))
                mica_unrelate_targets_id(world, source, relation);
            else
                mica_relate_id(world, source, relation, target);
        }
        if (round % 7 == 3)
            mica_destroy(world, entities[random_below(&random, ENTITIES)]);
        for (uint32_t k = 0; k < COUNT_OF(relations); ++k)
            check_targets(world, relations[k], entities, ENTITIES);
    }
    ck_assert(mica_snapshot_restore(world, snapshot) == MICA_OK);
    for (uint32_t k = 0; k < COUNT_OF(relations); ++k)
        check_targets(world, relations[k], entities, ENTITIES);
    close_world(world, &heard);
}
END_TEST

START_TEST(targets_far_apart_are_found_in_order)
{
    enum { ENTITIES = 20000 };
    reports heard;
    mica_world *world = open_world(&heard);
    static mica_entity entities[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; ++i)
        entities[i] = mica_create(world);
    mica_relate(world, entities[3], LocatedIn, entities[ENTITIES - 1]);
    mica_relate(world, entities[2], LocatedIn, entities[9]);
    check_targets(world, MICA_ID(LocatedIn), entities, ENTITIES);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_over_partitions_ends_when_what_it_reads_changes)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world, MICA_WITH(Number, {1})), b = mica_create(world, MICA_WITH(Number, {2}));
    mica_index *index = index_of(world, MICA_ID(Number), "value");
    mica_relate(world, a, LocatedIn, b);
    for (int inside = 0; inside < 2; ++inside) {
        mica_partition part = mica_partitions_by_index(index, all, all);
        ck_assert(mica_partition_next(&part));
        mica_write(world, b, Number)->value += 5;
        ck_assert(mica_index_update(index) == MICA_OK);
        ck_assert(inside ? !mica_member_next(&part) : !mica_partition_next(&part));
        expect_report(&heard, MICA_ERROR_REFUSED, "updated during a loop over its partitions");
        ck_assert(!mica_member_next(&part) && !mica_partition_next(&part));

        part = mica_partitions_by_target_id(world, MICA_ID(LocatedIn));
        ck_assert(mica_partition_next(&part));
        mica_relate(world, a, LocatedIn, mica_create(world));
        ck_assert(inside ? !mica_member_next(&part) : !mica_partition_next(&part));
        expect_report(&heard, MICA_ERROR_REFUSED, "edges were added or removed");
        ck_assert(!mica_member_next(&part) && !mica_partition_next(&part));
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(what_has_no_partitions_is_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_partition part = mica_partitions_by_target_id(world, MICA_ID(Number));
    expect_report(&heard, MICA_ERROR_INVALID, "relation must be described with MICA_RELATION");
    ck_assert(!mica_partition_next(&part));
    part = mica_partitions_by_target_id(world, 61234);
    expect_report(&heard, MICA_ERROR_INVALID, "relation must be described with MICA_RELATION");
    ck_assert(!mica_partition_next(&part) && !mica_member_next(&part));
    mica_index_def def = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 1, .maximum = {9, 9}};
    part = mica_partitions_by_index(mica_index_create(world, &def), all, all);
    expect_report(&heard, MICA_ERROR_INVALID, "not a grid");
    ck_assert(!mica_partition_next(&part));
    const mica_index *index = index_of(world, MICA_ID(Number), "value");
    part = mica_partitions_by_index(index, mica_key_entity(mica_nil()), all);
    expect_report(&heard, MICA_ERROR_INVALID, "must be a number");
    ck_assert(!mica_partition_next(&part));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(partition, keys_of_partitions_are_the_values_of_the_field, partitions_show_every_entity_once_by_rising_key,
           the_highest_value_of_64_bits_ends_the_loop, targets_are_partitions_of_their_sources_through_any_history,
           targets_far_apart_are_found_in_order, a_loop_over_partitions_ends_when_what_it_reads_changes,
           what_has_no_partitions_is_reported)
