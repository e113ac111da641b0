/* What edges lead to over other entities: random graphs against a matrix of all pairs. */
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "relations.h"

#include <string.h>

enum { NODES = 120 };

typedef struct graph {
    mica_entity nodes[NODES];
    bool leads[NODES][NODES]; /* over one edge or more */
} graph;

static reports heard;

/* Handles with gaps of many sizes, so that entities share places in tables. */
static void make_nodes(mica_world *world, random_source *random, graph *graph)
{
    for (uint32_t i = 0; i < NODES; ++i) {
        graph->nodes[i] = mica_create(world);
        uint32_t gap = random_below(random, 3) * 32 + random_below(random, 2);
        REQUIRE(mica_create_many(world, gap, NULL, 0, NULL) == MICA_OK);
    }
}

static uint32_t number_of(const graph *graph, mica_entity entity)
{
    uint32_t number = 0;
    while (!mica_same(graph->nodes[number], entity))
        REQUIRE(++number < NODES);
    return number;
}

/* Each edge alone, then all ways over them. */
static void fill_matrix(const mica_world *world, mica_component relation, graph *graph)
{
    for (uint32_t from = 0; from < NODES; ++from)
        for (mica_edges at = mica_targets_id(world, graph->nodes[from], relation); mica_edge_next(&at);)
            graph->leads[from][number_of(graph, at.entity)] = true;
    for (uint32_t by = 0; by < NODES; ++by)
        for (uint32_t from = 0; from < NODES; ++from)
            for (uint32_t to = 0; graph->leads[from][by] && to < NODES; ++to)
                graph->leads[from][to] |= graph->leads[by][to];
}

static void walk(uint64_t seed, mica_component relation, uint32_t edge_count)
{
    static graph graph;
    memset(&graph, 0, sizeof graph);
    const mica_type *type = mica_component_type(relation);
    random_source random = {seed};
    mica_world *world = open_world(&heard);
    make_nodes(world, &random, &graph);
    for (uint32_t i = 0; i < edge_count; ++i) {
        uint32_t from = random_below(&random, NODES), to = random_below(&random, NODES);
        if (from == to || (type->acyclic && from < to))
            continue;
        REQUIRE(mica_relate_id(world, graph.nodes[from], relation, graph.nodes[to]));
    }
    fill_matrix(world, relation, &graph);
    for (uint32_t from = 0; from < NODES; ++from)
        for (uint32_t to = 0; to < NODES; ++to)
            REQUIRE_SAYING(mica_is_related_id(world, graph.nodes[from], relation, graph.nodes[to]) ==
                               graph.leads[from][to],
                           "%s, seed %u, from %u to %u", type->name, (uint32_t)seed, from, to);
    for (uint32_t i = 0; type->acyclic && i < NODES * NODES; ++i) { /* exactly what closes a circle is refused */
        uint32_t from = i / NODES, to = i % NODES;
        if (from == to || !graph.leads[to][from])
            continue;
        REQUIRE(!mica_relate_id(world, graph.nodes[from], relation, graph.nodes[to]));
        expect_report(&heard, MICA_ERROR_INVALID, "circle");
        forget_reports(&heard);
    }
    close_world(world, &heard);
}

START_TEST(what_is_reached_agrees_with_a_matrix)
{
    uint64_t seed = setting_from_environment("MICA_SEED", 1);
    const mica_component relations[] = {MICA_ID(DependsOn), MICA_ID(LeadsTo),  MICA_ID(ConnectedTo),
                                        MICA_ID(Follows),   MICA_ID(BondedTo), MICA_ID(PartOf)};
    for (uint32_t i = 0; i < 24; ++i)
        walk(seed * 100 + i, relations[i % 6], NODES / 4 << i / 6);
}
END_TEST

TEST_SUITE(walk, what_is_reached_agrees_with_a_matrix)
