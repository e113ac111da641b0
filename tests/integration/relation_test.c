/* Edges of relations on their way: in files, in worlds that continue, in deltas and as SQL tables. */
#include "../relation/relations.h"
#include "../sql/ask.h"
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/compile.h"
#include "mica/delta.h"
#include "mica/hash.h"
#include "mica/resource.h"

#include <string.h>

enum { NODES = 40, KINDS = 10 };

static reports heard, heard_there;

typedef struct graph {
    mica_world *world;
    random_source random;
    mica_entity nodes[NODES];
} graph;

static mica_component kind_at(uint32_t kind)
{
    switch (kind) {
    case 0: return MICA_ID(Likes);
    case 1: return MICA_ID(Distance);
    case 2: return MICA_ID(DockedTo);
    case 3: return MICA_ID(Borders);
    case 4: return MICA_ID(MarriedTo);
    case 5: return MICA_ID(DependsOn);
    case 6: return MICA_ID(PartOf);
    case 7: return MICA_ID(Remembers);
    case 8: return MICA_ID(Guards);
    default: return MICA_ID(WritesTo);
    }
}

static mica_world *open_with_relations(reports *into)
{
    mica_world *world = open_world(into);
    mica_define(world, Number);
    for (uint32_t kind = 0; kind < KINDS; ++kind)
        REQUIRE(mica_component_define(world, mica_component_type(kind_at(kind))));
    return world;
}

static mica_entity node(graph *graph)
{
    mica_entity *found = &graph->nodes[random_below(&graph->random, NODES)];
    if (!mica_is_alive(graph->world, *found))
        *found = mica_create(graph->world, MICA_WITH(Number, {random_below(&graph->random, 1u << 30)}));
    return *found;
}

static void change(graph *graph, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity source = node(graph), target = node(graph);
        mica_component kind = kind_at(random_below(&graph->random, KINDS));
        switch (random_below(&graph->random, 16)) {
        case 0: mica_destroy(graph->world, source); break;
        case 1: mica_unrelate_id(graph->world, source, kind, mica_target_id(graph->world, source, kind)); break;
        case 2:
            mica_relate_with(graph->world, source, WritesTo, target, {mica_text_of("longer than what fits in place")});
            break;
        case 3:
            mica_place_source(graph->world, source, PartOf, mica_target(graph->world, source, PartOf), mica_nil());
            break;
        case 4: mica_relate_with(graph->world, source, Distance, target, {.meters = (float)i}); break;
        default: mica_relate_id(graph->world, source, kind, target);
        }
    }
    forget_reports(&heard);
}

static graph open_graph(uint64_t seed)
{
    graph graph = {.world = open_with_relations(&heard), .random = {seed}};
    change(&graph, 600);
    return graph;
}

static uint32_t number_of(const mica_world *world, mica_entity entity)
{
    return mica_is_alive(world, entity) ? mica_get(world, entity, Number)->value : 0;
}

/* The next edge to an entity that is alive, and has a number: files and deltas have no references to others, and what the receiver of a
 * delta has itself has none. */
static bool next_living(const mica_world *world, mica_edges *edges)
{
    while (mica_edge_next(edges))
        if (mica_has(world, edges->entity, Number))
            return true;
    return false;
}

/* Compares the lists of two entities, which have other handles. */
static void expect_same_list(const mica_world *a, mica_edges left, const mica_world *b, mica_edges right, bool letters)
{
    while (next_living(a, &left)) {
        REQUIRE(next_living(b, &right));
        REQUIRE(number_of(a, left.entity) == number_of(b, right.entity));
        if (letters)
            REQUIRE(mica_text_compare(&((const WritesTo *)left.fields)->text,
                                      &((const WritesTo *)right.fields)->text) == 0);
    }
    REQUIRE(!next_living(b, &right));
}

static void expect_same_graph(const graph *graph, const mica_world *other, const mica_entity *twins)
{
    for (uint32_t i = 0; i < NODES; ++i)
        for (uint32_t k = 0; mica_is_alive(graph->world, graph->nodes[i]) && k < KINDS; ++k) {
            mica_component kind = kind_at(k);
            REQUIRE(number_of(graph->world, graph->nodes[i]) == number_of(other, twins[i]));
            expect_same_list(graph->world, mica_targets_id(graph->world, graph->nodes[i], kind), other,
                             mica_targets_id(other, twins[i], kind), k == 9);
            expect_same_list(graph->world, mica_sources_id(graph->world, graph->nodes[i], kind), other,
                             mica_sources_id(other, twins[i], kind), k == 9);
        }
}

START_TEST(files_keep_the_order_of_edges_in_both_directions)
{
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        graph graph = open_graph(seed);
        mica_blob blob = {0};
        mica_save_def def = {.skip_state = true};
        ck_assert_int_eq(mica_pack(graph.world, &def, &blob), MICA_OK);
        mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
        ck_assert(resource);
        mica_world *other = open_with_relations(&heard_there);
        mica_create(other); /* so that handles differ */
        mica_entity all[2 * NODES], twins[NODES] = {{0, 0}};
        uint32_t count = mica_resource_entity_count(resource);
        ck_assert_uint_le(2 * count, 2 * NODES);
        mica_spawn_def spawn = {.copies = 2, .out_entities = all, .out_capacity = 2 * NODES};
        ck_assert_int_eq(mica_spawn(other, resource, &spawn), MICA_OK);
        expect_valid(other);
        for (uint32_t copy = 0; copy < 2; ++copy) {
            for (uint32_t i = 0; i < NODES; ++i)
                for (uint32_t k = 0; k < count; ++k)
                    if (mica_is_alive(graph.world, graph.nodes[i]) &&
                        number_of(graph.world, graph.nodes[i]) == number_of(other, all[copy * count + k]))
                        twins[i] = all[copy * count + k];
            expect_same_graph(&graph, other, twins);
        }
        mica_resource_free(resource);
        mica_blob_free(&blob);
        close_world(other, &heard_there);
        close_world(graph.world, &heard);
    }
}
END_TEST

START_TEST(a_world_with_edges_continues)
{
    for (uint64_t seed = 10; seed <= 15; ++seed) {
        graph graph = open_graph(seed);
        mica_blob blob = {0};
        ck_assert_int_eq(mica_pack(graph.world, NULL, &blob), MICA_OK);
        mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
        ck_assert(resource);
        mica_world *other = open_with_relations(&heard_there);
        ck_assert_int_eq(mica_spawn(other, resource, NULL), MICA_OK);
        expect_valid(other);
        struct graph twin = graph;
        twin.world = other;
        change(&graph, 50);
        change(&twin, 50);
        ck_assert_uint_eq(mica_world_hash(graph.world), mica_world_hash(other));
        expect_valid(other);
        mica_resource_free(resource);
        mica_blob_free(&blob);
        forget_reports(&heard_there);
        close_world(other, &heard_there);
        close_world(graph.world, &heard);
    }
}
END_TEST

static void follow(bool mapped, uint64_t seed)
{
    graph graph = open_graph(seed);
    mica_world *other = open_with_relations(&heard_there);
    mica_entity own = mapped ? mica_create(other) : mica_nil();
    mica_sender *sender = mica_sender_create(graph.world, NULL);
    mica_replica *replica = mica_replica_create(other, &(mica_replica_def){.mapped = mapped});
    for (uint32_t tick = 0; tick < 60; ++tick) {
        mica_delta delta;
        ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(replica), &delta), MICA_OK);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        expect_valid(other);
        mica_entity twins[NODES];
        for (uint32_t i = 0; i < NODES; ++i)
            twins[i] = mica_replica_local(replica, graph.nodes[i]);
        expect_same_graph(&graph, other, twins);
        if (!mapped)
            ck_assert_uint_eq(mica_world_hash_content(graph.world), mica_world_hash_content(other));
        else if (tick % 7 == 0) /* what the receiver relates itself */
            mica_relate(other, own, Guards, twins[tick % NODES]);
        forget_reports(&heard_there);
        change(&graph, 1 + tick % 20);
    }
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    close_world(other, &heard_there);
    close_world(graph.world, &heard);
}

START_TEST(replicas_have_the_same_edges)
{
    for (uint64_t seed = 20; seed < 26; ++seed)
        follow(seed % 2, seed);
}
END_TEST

START_TEST(a_level_has_edges_to_entities_by_path)
{
    static const char text[] =
        "{\"entities\": [{\"name\": \"anna\", \"components\": {\"Likes\": [{\"target\": \"/bob\"}, {\"target\": "
        "\"/cleo\"}]}},"
        "{\"name\": \"bob\", \"components\": {\"Distance\": {\"target\": \"../cleo\", \"meters\": 3}}},"
        "{\"name\": \"cleo\", \"components\": {\"Likes\": [{\"target\": \"/bob\"}]}}]}";
    mica_world *world = open_with_relations(&heard);
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add_world(schema, world), MICA_OK);
    mica_compile_def def = {.schema = schema};
    mica_compiled compiled;
    ck_assert_int_eq(mica_compile_text("level.json", text, strlen(text), &def, &compiled), MICA_OK);
    mica_resource *resource = mica_resource_open(compiled.blob.bytes, compiled.blob.byte_count, NULL, NULL);
    ck_assert(resource && mica_spawn(world, resource, NULL) == MICA_OK);
    mica_entity anna = mica_find(world, "anna"), bob = mica_find(world, "bob"), cleo = mica_find(world, "cleo");
    mica_edges at = mica_targets(world, anna, Likes);
    ck_assert(mica_edge_next(&at) && mica_same(at.entity, bob) && mica_edge_next(&at) && mica_same(at.entity, cleo));
    at = mica_sources(world, bob, Likes);
    ck_assert(mica_edge_next(&at) && mica_same(at.entity, anna) && mica_edge_next(&at) && mica_same(at.entity, cleo));
    ck_assert(mica_edge_get(world, bob, Distance, cleo)->meters == 3);
    expect_valid(world);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_relation_is_a_table)
{
    mica_world *world = open_with_relations(&heard);
    sqlite3 *database = mica_sql_open(world, NULL);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    mica_relate(world, a, Distance, b)->meters = 5;
    mica_relate(world, a, Distance, c)->meters = 6;
    ck_assert_str_eq(ask_with(database, "SELECT meters, lanes FROM Distance WHERE entity = %lld ORDER BY meters",
                              (long long)mica_sql_from_entity(a)),
                     "5.0|0\n6.0|0\n");
    ck_assert_str_eq(
        ask_with(database, "SELECT count(*) FROM Distance WHERE target = %lld", (long long)mica_sql_from_entity(c)),
        "1\n");
    ck_assert_str_eq(ask_with(database, "INSERT INTO Distance (entity, target, meters) VALUES (%lld, %lld, 9)",
                              (long long)mica_sql_from_entity(b), (long long)mica_sql_from_entity(c)),
                     "");
    ck_assert(mica_edge_get(world, b, Distance, c)->meters == 9 && mica_source_count(world, c, Distance) == 2);
    ask(database, "UPDATE Distance SET meters = meters + 1");
    ck_assert(mica_edge_get(world, a, Distance, b)->meters == 6);
    ck_assert_ptr_nonnull(strstr(ask(database, "UPDATE Distance SET rank = 3"), "can't be updated"));
    ck_assert_ptr_nonnull(strstr(ask_with(database, "INSERT INTO Distance (entity, target) VALUES (%lld, %lld)",
                                          (long long)mica_sql_from_entity(b), (long long)mica_sql_from_entity(c)),
                                 "has this target already"));
    ck_assert_ptr_nonnull(
        strstr(ask_with(database, "INSERT INTO Distance (entity) VALUES (%lld)", (long long)mica_sql_from_entity(b)),
               "a living target"));
    ck_assert_ptr_nonnull(strstr(ask_with(database, "INSERT INTO DependsOn (entity, target) VALUES (%lld, %lld)",
                                          (long long)mica_sql_from_entity(b), (long long)mica_sql_from_entity(b)),
                                 "error"));
    forget_reports(&heard);
    ask_with(database, "DELETE FROM Distance WHERE target = %lld", (long long)mica_sql_from_entity(c));
    ck_assert_uint_eq(mica_source_count(world, c, Distance), 0);
    expect_valid(world);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(relation, a_level_has_edges_to_entities_by_path, a_relation_is_a_table,
           files_keep_the_order_of_edges_in_both_directions, a_world_with_edges_continues, replicas_have_the_same_edges)
