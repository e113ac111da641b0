/* Edges from files, in every order of ranks, against what the public functions show afterwards. */
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "relations.h"

#include <string.h>

enum { NODES = 8, EDGES = 24 };

static reports heard;

typedef struct mica_edge_of_Likes edge;

/* Whether an edge comes before another one of the same target. */
static bool is_before(const edge *edges, uint32_t a, uint32_t b)
{
    uint32_t left = edges[a].rank - 1, right = edges[b].rank - 1; /* rank 0 is the last one */
    return left != right ? left < right : a < b;
}

/* The edges of each source in the order of the list, after those it had; the sources of each target by rank, likewise. */
static void load_randomly(uint64_t seed)
{
    random_source random = {seed};
    mica_world *world = open_world(&heard);
    mica_entity nodes[NODES], sources[EDGES];
    edge edges[EDGES] = {0};
    bool is_new[EDGES];
    for (uint32_t i = 0; i < NODES; ++i)
        nodes[i] = mica_create(world);
    for (uint32_t i = 0; i < NODES; ++i) { /* what was there before */
        uint32_t from = random_below(&random, NODES), to = random_below(&random, NODES);
        if (from != to)
            mica_relate(world, nodes[from], Likes, nodes[to]);
    }
    for (uint32_t i = 0; i < EDGES; ++i) {
        uint32_t source = i * NODES / EDGES, target = random_below(&random, NODES - 1);
        sources[i] = nodes[source];
        edges[i].target = nodes[target + (target >= source)];
        edges[i].rank = random_below(&random, 6);
        is_new[i] = !mica_is_related(world, sources[i], Likes, edges[i].target);
        for (uint32_t k = 0; k < i; ++k) /* the one with the lower rank is added */
            if (is_new[i] && is_new[k] && mica_same(sources[k], sources[i]) &&
                mica_same(edges[k].target, edges[i].target))
                is_new[is_before(edges, k, i) ? i : k] = false;
    }
    uint32_t had_targets[NODES], had_sources[NODES];
    for (uint32_t i = 0; i < NODES; ++i) {
        had_targets[i] = mica_target_count(world, nodes[i], Likes);
        had_sources[i] = mica_source_count(world, nodes[i], Likes);
    }
    REQUIRE(mica_load_edges_id(world, MICA_ID(Likes), sources, edges, EDGES) == MICA_OK);
    for (uint32_t i = 0; i < NODES; ++i) {
        mica_edges at = mica_targets(world, nodes[i], Likes);
        for (uint32_t k = 0; k < had_targets[i]; ++k)
            REQUIRE(mica_edge_next(&at));
        for (uint32_t k = 0; k < EDGES; ++k)
            if (is_new[k] && mica_same(sources[k], nodes[i]))
                REQUIRE(mica_edge_next(&at) && mica_same(at.entity, edges[k].target));
        REQUIRE(!mica_edge_next(&at));
        uint32_t count = had_sources[i], last = EDGES;
        at = mica_sources(world, nodes[i], Likes);
        for (uint32_t k = 0; k < count; ++k)
            REQUIRE(mica_edge_next(&at));
        while (mica_edge_next(&at)) {
            uint32_t k = 0;
            while (!is_new[k] || !mica_same(sources[k], at.entity) || !mica_same(edges[k].target, nodes[i]))
                REQUIRE(++k < EDGES);
            REQUIRE(last == EDGES || is_before(edges, last, k));
            last = k;
        }
    }
    close_world(world, &heard);
}

START_TEST(edges_come_in_the_order_of_the_list_and_of_their_ranks)
{
    uint64_t seed = setting_from_environment("MICA_SEED", 1);
    for (uint32_t i = 0; i < 200; ++i)
        load_randomly(seed * 1000 + i);
}
END_TEST

START_TEST(edges_without_an_end_are_left_out)
{
    static const struct {
        uint32_t targets[3]; /* how many the first entity has then, of Likes, Remembers and DockedTo */
        bool has_source, has_target, is_nil;
    } list[] = {
        {{1, 1, 1}, true, true, false},
        {{0, 0, 0}, false, true, false},
        {{0, 0, 0}, true, false, false},
        {{0, 1, 0}, true, false, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        mica_world *world = open_world(&heard);
        mica_entity a = mica_create(world), b = mica_create(world), stale = {a.index, a.generation + 1};
        mica_entity source = list[i].has_source ? a : stale;
        mica_entity target = list[i].has_target ? b : list[i].is_nil ? mica_nil() : stale;
        const struct mica_edge_of_Likes edge = {.target = target};
        const struct mica_edge_of_Remembers memory = {.target = target};
        const struct mica_edge_of_DockedTo dock = {.target = target};
        ck_assert_int_eq(mica_load_edges_id(world, MICA_ID(Likes), &source, &edge, 1), MICA_OK);
        ck_assert_int_eq(mica_load_edges_id(world, MICA_ID(Remembers), &source, &memory, 1), MICA_OK);
        ck_assert_int_eq(mica_load_edges_id(world, MICA_ID(DockedTo), &source, &dock, 1), MICA_OK);
        ck_assert_int_eq(mica_load_edges_id(world, MICA_ID(Likes), NULL, NULL, 0), MICA_OK);
        ck_assert_uint_eq(mica_target_count(world, a, Likes), list[i].targets[0]);
        ck_assert_uint_eq(mica_target_count(world, a, Remembers), list[i].targets[1]);
        ck_assert_uint_eq(mica_target_count(world, a, DockedTo), list[i].targets[2]);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(edges_before_the_one_that_is_refused_are_added)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    const mica_entity sources[] = {a, b, a};
    const struct mica_edge_of_DependsOn edges[] = {{.target = b}, {.target = a}, {.target = c}};
    ck_assert_int_eq(mica_load_edges_id(world, MICA_ID(DependsOn), sources, edges, 3), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "circle");
    ck_assert(mica_is_related(world, a, DependsOn, b) && !mica_is_related(world, a, DependsOn, c));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(load, edges_come_in_the_order_of_the_list_and_of_their_ranks, edges_without_an_end_are_left_out,
           edges_before_the_one_that_is_refused_are_added)
