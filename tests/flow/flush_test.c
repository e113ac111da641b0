/* A flush by several threads leaves the very world that one thread would. */
#include "mica/flow.h"
#include "support/components.h"
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
            all[i] = mica_create_values(world, values, 2);
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

TEST_SUITE(flush, a_flush_by_many_threads_is_that_of_one, a_world_without_systems_flushes_to_the_same)
