/* Sources that die with their targets, as a list. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "relations.h"

typedef struct Heat { uint32_t degrees; } Heat;
MICA_POOL(Heat, degrees)

static reports heard;

enum { MANY = 1500 };

static void count_deaths(const mica_event *event)
{
    *(uint32_t *)event->context += event->count;
}

/* A target of many sources, with what takes every path of a list: archetypes and pools that alternate, a name, sources of sources,
 * children, and edges back to the root. */
static mica_entity plant(mica_world *world)
{
    static mica_entity sources[MANY];
    mica_entity root = mica_create(world, MICA_WITH(Number, {0}));
    for (uint32_t i = 0; i < MANY; ++i) {
        sources[i] = mica_create(world, MICA_WITH(Number, {i}));
        if (i % 100 > 50 && i % 2)
            mica_add(world, sources[i], Frozen);
        if (i % 7 == 0)
            mica_add(world, sources[i], Heat);
        mica_relate(world, sources[i], PartOf, root);
    }
    for (uint32_t i = 0; i < MANY; i += 5) {
        mica_relate(world, mica_create(world, MICA_WITH(Number, {i})), PartOf, sources[i]);
        mica_set_parent(world, mica_create(world, MICA_WITH(Number, {i})), sources[i + 1]);
        mica_relate(world, root, Needs, sources[i + 2]);
    }
    mica_name_child(world, sources[3], "third");
    return root;
}

START_TEST(many_sources_die_alike_with_hooks_and_snapshots)
{
    uint64_t first = 0;
    for (uint32_t variant = 0; variant < 4; ++variant) {
        mica_world *world = open_world(&heard);
        uint32_t deaths = 0, alive = 1 + MANY + 2 * MANY / 5;
        mica_entity root = plant(world);
        mica_snapshot snapshot = {0};
        uint64_t before = mica_world_hash(world);
        if (variant & 1)
            mica_hook_set(world, Number, MICA_EVENT_REMOVE, count_deaths, &deaths);
        if (variant & 2)
            snapshot = mica_snapshot_take(world);
        ck_assert(mica_destroy(world, root));
        ck_assert_int_eq(mica_world_validate(world), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
        ck_assert_uint_eq(deaths, variant & 1 ? alive : 0);
        plant(world); /* which gets the handles in the order in which they became free */
        uint64_t after = mica_world_hash(world);
        first = variant ? first : after;
        ck_assert_uint_eq(after, first);
        if (variant & 2) {
            ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
            ck_assert_int_eq(mica_world_validate(world), MICA_OK);
            ck_assert_uint_eq(mica_world_hash(world), before);
        }
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(death, many_sources_die_alike_with_hooks_and_snapshots)
