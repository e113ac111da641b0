/* Systems relate, unrelate and destroy on many workers: the result does not depend on how many there are. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/flow.h"
#include "relations.h"

enum { NODES = 3000, TICKS = 12 };

static reports heard;
static mica_entity nodes[NODES];

static mica_entity pick(uint32_t number, uint64_t tick, uint32_t salt)
{
    return nodes[(number * 2654435761u + (uint32_t)tick * 40503u + salt * 977u) % NODES];
}

static void meet(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    mica_world *world = view->world;
    uint64_t tick = view->frame->tick;
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i], other = pick(number[i].value, tick, 1);
        if (mica_same(self, other) || !mica_is_alive(world, other))
            continue;
        switch ((number[i].value + tick) % 6) {
        case 0: mica_relate(world, self, Likes, other); break;
        case 1: mica_relate_with(world, self, DockedTo, other, {.since = (uint32_t)tick}); break;
        case 2:
            mica_relate(world, self, Borders, other);
            if (mica_is_related(world, self, PartOf, nodes[0]))
                mica_place_source(world, self, PartOf, nodes[0], mica_nil());
            break;
        case 3:
            for (mica_edges at = mica_targets(world, self, Likes); mica_edge_next(&at);)
                mica_unrelate(world, self, Likes, at.entity);
            break;
        case 4:
            if (number[i].value % 60 == 4)
                mica_destroy(world, self);
            break;
        default:
            if (number[i].value > other.index) /* so that no circle is closed */
                mica_relate_with(world, self, Distance, other, {.meters = (float)tick});
        }
    }
}

static uint64_t play(uint32_t workers)
{
    mica_world *world = open_world_with(&heard, (mica_world_def){.dead_target = MICA_DEAD_TARGET_IGNORE});
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_OK);
    mica_define(world, Likes);
    for (uint32_t i = 0; i < NODES; ++i)
        nodes[i] = mica_create(world, MICA_WITH(Number, {i}));
    for (uint32_t i = 1; i < NODES; i += 2)
        ck_assert(mica_relate(world, nodes[i], PartOf, nodes[0]));
    ck_assert(mica_system_add(world, MICA_SYSTEM(meet, MICA_READ(Number))).id);
    uint64_t hash = 0;
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
        hash = hash * 31 + mica_world_hash(world);
        forget_reports(&heard); /* of changes to what the same piece of work destroyed before */
    }
    ck_assert_uint_gt(mica_pool_count(mica_pool_of(world, Likes)), 100);
    close_world(world, &heard);
    return hash;
}

START_TEST(edges_do_not_depend_on_the_number_of_workers)
{
    uint64_t expected = play(1);
    ck_assert_uint_eq(play(2), expected);
    ck_assert_uint_eq(play(5), expected);
}
END_TEST

TEST_SUITE(system, edges_do_not_depend_on_the_number_of_workers)
