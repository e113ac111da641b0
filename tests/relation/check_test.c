/* Edges that no call would add are added from the inside: what they break is named. */
#include "../support/damage.h"
#include "../support/test.h"
#include "relations.h"

#include "core/storage/pool_lookup.h"
#include "core/world/world.h"
#include "pool/pool_edges.h"

static reports heard;

/* Adds an edge as a relation does, without asking whether it may. */
static uint32_t add_edge(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target)
{
    ck_assert(micap_pools_make_room(world, pool, source, 1));
    ck_assert(micap_pools_make_room_for_target(world, pool, target));
    char *value = micap_pool_value(pool, pool->row_limit);
    memset(value, 0, pool->value_bytes);
    memcpy(value + pool->edges->target_offset, &target, sizeof target);
    return micap_pools_commit(world, pool, source);
}

START_TEST(edges_that_must_not_be_are_named)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    const struct {
        mica_component relation;
        mica_entity source;
        mica_entity target;
        const char *named; /* NULL: nothing is broken */
    } list[] = {
        {MICA_ID(Likes), a, a, "relation Likes, row 1: an entity is not related to itself"},
        {MICA_ID(Likes), a, b, "relation Likes, row 1: two entities have one edge"},
        {MICA_ID(Likes), b, a, NULL},
        {MICA_ID(Likes), b, mica_nil(), NULL}, /* as in a replica that does not have the target */
        {MICA_ID(DockedTo), b, b, "relation DockedTo, row 1: an entity is not related to itself"},
        {MICA_ID(DockedTo), a, c, "relation DockedTo, row 0: a source of an exclusive relation has one edge"},
        {MICA_ID(DockedTo), c, b, NULL},
        {MICA_ID(Remembers), a, b, "relation Remembers, row 1: two entities have one edge"},
        {MICA_ID(Remembers), b, mica_nil(), NULL},
    };
    mica_relate(world, a, Likes, b);
    mica_relate(world, a, DockedTo, b);
    mica_relate(world, a, Remembers, b);
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        mica_pool *pool = micap_pool_of(world, list[i].relation);
        expect_valid(world);
        uint32_t row = add_edge(world, pool, list[i].source, list[i].target);
        ck_assert_int_eq(mica_world_validate(world), list[i].named ? MICA_ERROR_INVALID : MICA_OK);
        if (list[i].named)
            expect_report(&heard, MICA_ERROR_INVALID, list[i].named);
        expect_no_report(&heard);
        micap_pools_remove_instance(world, pool, row);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(edges_that_outlive_their_target_are_named)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world);
    mica_relate(world, a, Remembers, b);
    mica_destroy(world, b);
    const mica_pool *pool = micap_pool_of(world, MICA_ID(Remembers));
    const damage list[] = {
        DAMAGE(pool->type->type.on_target, MICA_TARGET_REMOVE, "row 0: the target of an edge is alive"),
        DAMAGE(pool->type->type.on_target, MICA_TARGET_REFUSE, "row 0: the target of an edge is alive"),
    };
    expect_damage_named(world, &heard, list, sizeof list / sizeof *list);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(check, edges_that_must_not_be_are_named, edges_that_outlive_their_target_are_named)
