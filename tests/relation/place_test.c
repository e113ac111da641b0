/* The order of the sources of a target: it is changed at once, and recorded. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/snapshot.h"
#include "relations.h"

#include <stdio.h>
#include <string.h>

static reports heard;

static const char *order_of(mica_world *world, mica_entity target)
{
    static char story[64];
    *story = 0;
    for (mica_edges at = mica_sources(world, target, PartOf); mica_edge_next(&at);)
        snprintf(story + strlen(story), 8, "%u", mica_get(world, at.entity, Number)->value);
    return story;
}

/* Creates a target with numbered sources. */
static mica_entity create_parts(mica_world *world, mica_entity *list, uint32_t count)
{
    mica_entity root = mica_create(world);
    for (uint32_t i = 0; i < count; ++i) {
        list[i] = mica_create(world, MICA_WITH(Number, {i}));
        mica_relate(world, list[i], PartOf, root);
    }
    return root;
}

START_TEST(sources_of_an_ordered_relation_are_placed)
{
    mica_world *world = open_world(&heard);
    mica_entity list[5], root = create_parts(world, list, 5);
    mica_snapshot snapshot = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    ck_assert_int_eq(mica_place_source(world, list[4], PartOf, root, list[0]), MICA_OK);
    ck_assert_int_eq(mica_place_source(world, list[0], PartOf, root, mica_nil()), MICA_OK);
    ck_assert_int_eq(mica_place_source(world, list[1], PartOf, root, list[3]), MICA_OK);
    ck_assert_int_eq(mica_place_source(world, list[1], PartOf, root, list[1]), MICA_OK);
    ck_assert_int_eq(mica_place_source(world, list[1], PartOf, list[0], mica_nil()), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_place_source(world, list[1], PartOf, root, root), MICA_ERROR_INVALID);
    forget_reports(&heard);
    ck_assert_str_eq(order_of(world, root), "42130");
    expect_valid(world);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    close_world(world, &heard);
}
END_TEST

START_TEST(places_are_recorded_like_edges)
{
    mica_world *world = open_world(&heard);
    mica_entity list[5], root = create_parts(world, list, 4);
    mica_defer(world);
    list[4] = mica_create(world, MICA_WITH(Number, {4}));
    mica_relate(world, list[4], PartOf, root);
    ck_assert_int_eq(mica_place_source(world, list[4], PartOf, root, list[1]), MICA_OK);
    ck_assert_int_eq(mica_place_source(world, list[0], PartOf, root, mica_nil()), MICA_OK);
    ck_assert_str_eq(order_of(world, root), "0123");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_str_eq(order_of(world, root), "41230");

    /* Those that the flush destroys have no place. */
    mica_defer(world);
    ck_assert_int_eq(mica_place_source(world, list[2], PartOf, root, list[1]), MICA_OK);
    ck_assert_int_eq(mica_place_source(world, list[3], PartOf, root, list[4]), MICA_OK);
    mica_destroy(world, list[1]);
    ck_assert_int_eq(mica_place_source(world, list[1], PartOf, root, mica_nil()), MICA_ERROR_DEAD);
    expect_report(&heard, MICA_ERROR_DEAD, "place_source");
    ck_assert_int_eq(mica_place_source(world, list[0], PartOf, root, list[1]), MICA_ERROR_DEAD);
    expect_report(&heard, MICA_ERROR_DEAD, "place_source");
    ck_assert_int_eq(mica_place_source(world, list[0], Number, root, mica_nil()), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "Number is not a relation");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_str_eq(order_of(world, root), "3420");

    /* Another buffer destroys what a place needs. */
    mica_commands *commands = mica_commands_create(world);
    mica_defer(world);
    ck_assert_int_eq(mica_place_source(world, list[0], PartOf, root, list[2]), MICA_OK);
    ck_assert_int_eq(mica_place_source(world, list[4], PartOf, root, mica_nil()), MICA_OK);
    ck_assert(mica_command_destroy(commands, list[2]));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_str_eq(order_of(world, root), "304");
    mica_commands_destroy(commands);
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(place, sources_of_an_ordered_relation_are_placed, places_are_recorded_like_edges)
