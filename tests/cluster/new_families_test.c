/* Random graphs of new entities are created in two orders: identities follow from what they are and refer to, so both worlds have the same
 * hash. Few values and many references make members equal, interchangeable, or different by their place in the graph only. */
#include "cluster/new_families.h"
#include "faulty_allocator.h"
#include "mica/hierarchy.h"
#include "mica/relation.h"
#include "random.h"
#include "reports.h"
#include "test.h"

typedef struct Spot { float x, y; } Spot;
typedef struct Ties { mica_entity first; mica_list others; } Ties;
MICA_COMPONENT(Spot, x, y)
MICA_COMPONENT(Ties, first, (others, mica_entity))
MICA_RELATION_WITH(Follows, (.exclusive = true))

enum { NEW_MAX = 14, OLD = 3, NODES = NEW_MAX + OLD, NO_NODE = NODES, OTHERS = 2 };

/* Nodes from 0 to OLD - 1 are older. */
typedef struct graph {
    uint32_t node_count;
    float spots[NODES];
    uint32_t first[NODES], others[NODES][OTHERS], follows[NODES], parents[NODES];
    bool has_ties[NODES];
} graph;

static uint32_t random_node(random_source *random, uint32_t count, uint32_t sparseness)
{
    return random_one_in(random, sparseness) ? random_below(random, count) : NO_NODE;
}

static graph random_graph(uint64_t seed)
{
    random_source random = {seed};
    graph graph = {.node_count = OLD + 1 + random_below(&random, NEW_MAX)};
    uint32_t spots = 1 + random_below(&random, 3), sparseness = 1 + random_below(&random, 3);
    for (uint32_t i = 0; i < graph.node_count; ++i) {
        graph.spots[i] = (float)random_below(&random, spots);
        graph.has_ties[i] = random_below(&random, 4);
        graph.first[i] = random_node(&random, graph.node_count, sparseness);
        for (uint32_t k = 0; k < OTHERS; ++k)
            graph.others[i][k] = random_node(&random, graph.node_count, sparseness);
        graph.follows[i] = random_node(&random, graph.node_count, 3);
        graph.parents[i] = i ? random_node(&random, i, 3) : NO_NODE;
    }
    return graph;
}

static graph empty_graph(uint32_t node_count)
{
    graph graph = {.node_count = node_count};
    for (uint32_t i = 0; i < node_count; ++i) {
        graph.first[i] = graph.follows[i] = graph.parents[i] = graph.others[i][0] = graph.others[i][1] = NO_NODE;
        graph.spots[i] = 1;
    }
    return graph;
}

/* Two rings of new entities that are equal, and all follow one: only the lengths of the rings tell them apart. */
static graph rings(void)
{
    graph graph = empty_graph(OLD + 10);
    for (uint32_t i = OLD + 1; i < graph.node_count; ++i) {
        graph.has_ties[i] = true;
        graph.follows[i] = OLD;
        graph.first[i] = i == OLD + 3 ? OLD + 1 : i == OLD + 9 ? OLD + 4 : i + 1;
    }
    return graph;
}

/* Two children that are equal: only their places in the list of the parent, which is new or not, tell them apart. */
static graph places(uint32_t parent)
{
    graph graph = empty_graph(OLD + 3);
    graph.has_ties[parent] = true;
    for (uint32_t k = 0; k < 2; ++k) {
        graph.others[parent][k] = OLD + 1 + k;
        graph.parents[OLD + 1 + k] = parent;
    }
    return graph;
}

/* A new parent with many equal children, and a sibling of theirs that refers to one of them. */
static graph twins(void)
{
    graph graph = empty_graph(OLD + NEW_MAX);
    for (uint32_t i = OLD + 1; i < graph.node_count; ++i)
        graph.parents[i] = OLD;
    graph.follows[OLD + 2] = OLD + 1;
    return graph;
}

/* Two that are equal, and known by different older ones. */
static graph owners(void)
{
    graph graph = empty_graph(OLD + 2);
    graph.follows[0] = OLD;
    graph.follows[1] = OLD + 1;
    return graph;
}

/* Returns the hash of a cluster with the graph, whose nodes are created in an order that depends on a seed. */
static uint64_t hash_of(const graph *graph, uint64_t order_seed)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster *cluster = mica_cluster_create(
        world,
        &(mica_cluster_def){.grid = {.component = MICA_ID(Spot), .fields = "x, y", .cell_size = 1, .maximum = {8, 8}},
                            .links = true});
    mica_define(world, Ties), mica_define(world, Follows);
    mica_entity nodes[NODES + 1] = {{0}};
    for (uint32_t i = 0; i < OLD; ++i) {
        uint32_t node = order_seed & 1 ? i : OLD - 1 - i;
        nodes[node] = mica_create(world, MICA_WITH(mica_identity, {100 + node}), MICA_WITH(Spot, {1, 1}));
    }
    ck_assert(mica_cluster_step(cluster, 0.1f));
    uint32_t order[NODES], count = graph->node_count;
    random_source random = {order_seed};
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at = random_below(&random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < count; ++i)
        if (order[i] >= OLD)
            nodes[order[i]] = mica_create(world, MICA_WITH(Spot, {graph->spots[order[i]], 1}));
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t node = order[i];
        Ties ties = {.first = nodes[graph->first[node]]};
        for (uint32_t k = 0; k < OTHERS; ++k)
            *mica_list_append(&ties.others, mica_entity) = nodes[graph->others[node][k]];
        if (graph->has_ties[node])
            mica_set_id(world, nodes[node], (mica_value)MICA_FROM(Ties, &ties));
        mica_list_clear(&ties.others, mica_entity);
        if (graph->follows[node] != NO_NODE && graph->follows[node] != node)
            mica_relate(world, nodes[node], Follows, nodes[graph->follows[node]]);
        if (graph->parents[node] != NO_NODE)
            mica_set_parent(world, nodes[node], nodes[graph->parents[node]]);
    }
    ck_assert_uint_ne(mica_cluster_hash(cluster), 0);
    ck_assert(mica_cluster_step(cluster, 0.1f));
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k <= i; ++k) {
            uint64_t a = mica_cluster_identity(cluster, nodes[i]), b = mica_cluster_identity(cluster, nodes[k]);
            ck_assert(a && b && (a != b || i == k));
        }
    uint64_t hash = mica_cluster_hash(cluster);
    ck_assert(mica_cluster_step(cluster, 0.1f));
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
    return hash;
}

START_TEST(identities_do_not_depend_on_the_order_of_creation)
{
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", 1);
    uint64_t count = setting_from_environment("MICA_TEST_WORLDS", 150);
    for (uint64_t end = seed + count; seed < end; ++seed) {
        graph graph = random_graph(seed);
        uint64_t hash = hash_of(&graph, 1);
        for (uint64_t order = 2; order < 5; ++order)
            ck_assert_msg(hash_of(&graph, order) == hash, "seed %llu, order %llu: the hash differs",
                          (unsigned long long)seed, (unsigned long long)order);
    }
}
END_TEST

START_TEST(equal_entities_are_told_apart_by_what_refers_to_them)
{
    const graph graphs[] = {rings(), places(OLD), places(0), owners(), twins()};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; ++i) {
        uint64_t hash = hash_of(&graphs[i], 1);
        for (uint64_t order = 2; order < 12; ++order)
            ck_assert_msg(hash_of(&graphs[i], order) == hash, "graph %zu, order %llu: the hash differs", i,
                          (unsigned long long)order);
    }
}
END_TEST

/* Lets each allocation of the cluster fail once: the step fails with a report, or nothing is lost. */
START_TEST(running_out_of_memory_is_reported_and_leaks_nothing)
{
    for (uint64_t k = 1, is_done = 0; !is_done; ++k) {
        reports heard;
        faulty_allocator faulty;
        mica_world *world = open_world(&heard);
        faulty_allocator_init(&faulty);
        mica_cluster *cluster = mica_cluster_create(
            world, &(mica_cluster_def){
                       .grid = {.component = MICA_ID(Spot), .fields = "x, y", .cell_size = 1, .maximum = {8, 8}},
                       .links = true,
                       .allocator = faulty_allocator_interface(&faulty)});
        mica_define(world, Ties);
        mica_entity nodes[100];
        ck_assert(mica_cluster_step(cluster, 0.1f));
        for (uint32_t i = 0; i < 100; ++i)
            nodes[i] = mica_create(world, MICA_WITH(Spot, {1, 1}));
        for (uint32_t i = 0; i < 100; ++i)
            mica_set(world, nodes[i], Ties, {.first = nodes[i % 10 * 10]});
        faulty_allocator_fail_at(&faulty, k, true);
        bool has_failed = !mica_cluster_step(cluster, 0.1f) || !mica_cluster_step(cluster, 0.1f);
        ck_assert(has_failed == (faulty.failures > 0));
        is_done = !has_failed;
        forget_reports(&heard);
        mica_cluster_destroy(cluster);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
        close_world(world, &heard);
    }
}
END_TEST

/* What other ranks say may be anything. */
START_TEST(numbers_of_unknown_families_are_ignored)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster *cluster = mica_cluster_create(
        world,
        &(mica_cluster_def){.grid = {.component = MICA_ID(Spot), .fields = "x, y", .cell_size = 1, .maximum = {8, 8}},
                            .links = true});
    ck_assert(mica_cluster_step(cluster, 0.1f));
    micap_new_families_receive_number(cluster, 3, 4);
    micap_new_families_receive_count(cluster, 0, 5, UINT32_MAX);
    micap_new_families_receive_count(cluster, 0, 5, UINT32_MAX);
    mica_entity parent = mica_create(world, MICA_WITH(Spot, {1, 1}));
    mica_create_child(world, parent, MICA_WITH(Spot, {2, 2}));
    ck_assert(mica_cluster_step(cluster, 0.1f));
    ck_assert_uint_ne(mica_cluster_identity(cluster, parent), 0);
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(new_families, identities_do_not_depend_on_the_order_of_creation,
           equal_entities_are_told_apart_by_what_refers_to_them, running_out_of_memory_is_reported_and_leaks_nothing,
           numbers_of_unknown_families_are_ignored)
