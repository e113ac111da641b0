/* Edges of relations on their way: in files, in worlds that continue, in deltas and as SQL tables. */
#include "../relation/relations.h"
#include "../sql/ask.h"
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/compile.h"
#include "mica/delta.h"
#include "mica/hash.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 40, KINDS = 10, SAID_BYTES = 400 };

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

/* What a hook of the replica is told, next to what the world says. */
typedef struct seen_edges {
    uint32_t count;
    uint32_t wrong;
    mica_entity target;
} seen_edges;

static void see_edge(const mica_event *event)
{
    seen_edges *seen = event->context;
    ++seen->count;
    seen->target = event->target;
    seen->wrong += !mica_same(mica_target(event->world, event->entities[0], DockedTo), event->target);
}

START_TEST(hooks_of_a_replica_are_told_the_targets_of_new_edges)
{
    mica_world *world = open_with_relations(&heard), *other = open_with_relations(&heard_there);
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_replica *replica = mica_replica_create(other, NULL);
    seen_edges seen = {0};
    ck_assert_int_eq(mica_hook_set(other, DockedTo, MICA_EVENT_ADD, see_edge, &seen), MICA_OK);
    mica_entity ship = mica_create(world), ports[] = {mica_create(world), mica_create(world)};
    for (uint32_t i = 0; i < 2; ++i) {
        REQUIRE(mica_relate(world, ship, DockedTo, ports[i]));
        mica_delta delta;
        ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(replica), &delta), MICA_OK);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        if (i == 0) {
            ck_assert_uint_eq(seen.count, 1);
            ck_assert_msg(mica_same(seen.target, mica_replica_local(replica, ports[0])), "the hook is told the target");
            REQUIRE(mica_unrelate(world, ship, DockedTo, ports[0]));
            ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(replica), &delta), MICA_OK);
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        }
    }
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(seen.wrong, 0);
    ck_assert_msg(mica_same(seen.target, mica_replica_local(replica, ports[1])), "the hook is told the new target");
    expect_valid(other);
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    close_world(other, &heard_there);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_replica_continues_with_edges_to_entities_it_lost)
{
    mica_world *world = open_with_relations(&heard), *other = open_with_relations(&heard_there);
    mica_sender *sender = mica_sender_create(world, NULL);
    mica_replica *replica = mica_replica_create(other, &(mica_replica_def){.mapped = true});
    mica_entity port = mica_create(world), ship = mica_nil();
    for (uint32_t i = 0; i < 2; ++i) {
        mica_delta delta;
        ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(replica), &delta), MICA_OK);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        if (i == 0) {
            REQUIRE(mica_destroy(other, mica_replica_local(replica, port)));
            ship = mica_create(world);
            REQUIRE(mica_relate(world, ship, Likes, port));
        }
    }
    ck_assert(mica_has(other, mica_replica_local(replica, ship), Likes));
    mica_blob blob = {0};
    ck_assert_int_eq(mica_pack(other, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert(resource);
    static reports heard_later;
    mica_world *continued = open_with_relations(&heard_later);
    ck_assert_int_eq(mica_spawn(continued, resource, NULL), MICA_OK);
    expect_valid(continued);
    ck_assert_uint_eq(mica_world_hash_content(continued), mica_world_hash_content(other));
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(continued, &heard_later);
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    close_world(other, &heard_there);
    close_world(world, &heard);
}
END_TEST

/* A walk for each edge would take a billion steps. */
START_TEST(a_source_with_many_edges_is_saved_and_continues)
{
    enum { EDGES = 40000 };
    mica_world *world = open_with_relations(&heard), *other = open_with_relations(&heard_there);
    mica_entity hub = mica_create(world), last = mica_nil();
    for (uint32_t i = 0; i < EDGES; ++i)
        REQUIRE(mica_relate(world, hub, Likes, last = mica_create(world)));
    for (uint32_t i = 0; i < 10; ++i) { /* so that rows are in another order than edges */
        mica_entity target = {last.index - 1000 * (i + 1), last.generation};
        REQUIRE(mica_unrelate(world, hub, Likes, target));
    }
    mica_blob blob = {0};
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert(resource);
    ck_assert_int_eq(mica_spawn(other, resource, NULL), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(other));
    expect_valid(other);
    REQUIRE(mica_is_related(other, hub, Likes, last));
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(other, &heard_there);
    close_world(world, &heard);
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

/* The last one. */
static void note_error(const mica_compile_error *error, void *context)
{
    snprintf(context, SAID_BYTES, "%s: %s", error->path, error->text);
}

static mica_blob compile_level(mica_world *world, const char *text, const char *expected_error)
{
    mica_schema *schema = mica_schema_create();
    REQUIRE(mica_schema_add_world(schema, world) == MICA_OK);
    char said[SAID_BYTES] = "";
    mica_compile_def def = {.schema = schema, .error = note_error, .error_context = said};
    mica_compiled compiled;
    mica_result result = mica_compile_text("level.json", text, strlen(text), &def, &compiled);
    ck_assert_msg(expected_error ? result != MICA_OK && strcmp(said, expected_error) == 0 : result == MICA_OK,
                  "said: %s", said);
    mica_blob blob = compiled.blob;
    compiled.blob = (mica_blob){0};
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    return blob;
}

static mica_resource *open_level(mica_world *world, const char *text, mica_blob *out_blob)
{
    *out_blob = compile_level(world, text, NULL);
    mica_resource *resource = mica_resource_open(out_blob->bytes, out_blob->byte_count, NULL, NULL);
    REQUIRE(resource);
    return resource;
}

START_TEST(edges_of_a_level_have_a_short_form)
{
    mica_world *world = open_with_relations(&heard);
    mica_blob blob;
    mica_resource *resource = open_level(
        world,
        "{\"entities\": [{\"name\": \"anna\", \"relations\": {\"Likes\": [\"../bob\", \"/cleo\"], \"DockedTo\": "
        "\"/bob\"}},"
        "{\"name\": \"bob\", \"relations\": {\"Distance\": [{\"target\": \"/cleo\", \"meters\": 3}, \"/anna\"]},"
        " \"components\": {\"Number\": {\"value\": 7}}}, {\"name\": \"cleo\", \"relations\": {\"Likes\": []}}]}",
        &blob);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    mica_entity anna = mica_find(world, "anna"), bob = mica_find(world, "bob"), cleo = mica_find(world, "cleo");
    mica_edges at = mica_targets(world, anna, Likes);
    ck_assert(mica_edge_next(&at) && mica_same(at.entity, bob) && mica_edge_next(&at) && mica_same(at.entity, cleo));
    ck_assert(mica_same(mica_target(world, anna, DockedTo), bob) && !mica_has(world, cleo, Likes));
    ck_assert(mica_edge_get(world, bob, Distance, cleo)->meters == 3 && mica_is_related(world, bob, Distance, anna));
    expect_valid(world);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    static const char *const wrong[][2] = {
        {"{\"Likse\": [\"/a\"]}", "entities[0].relations.Likse: unknown relation \"Likse\" (did you mean \"Likes\"?)"},
        {"{\"Number\": [\"/a\"]}",
         "entities[0].relations.Number: Number is no relation: it belongs to \"components\" or \"singletons\""},
        {"{\"Likes\": [\"/b\"]}", "entities[0].relations.Likes[0]: the path \"/b\" leads nowhere: there is no \"b\" in the top"},
        {"{\"Likes\": [3]}", "entities[0].relations.Likes[0]: expected an object of fields, found an integer"},
        {"[]", "entities[0].relations: expected an object of relations, found an array"},
    };
    for (uint32_t i = 0; i < COUNT_OF(wrong); ++i) {
        char text[200];
        snprintf(text, sizeof text, "{\"entities\": [{\"name\": \"a\", \"relations\": %s}]}", wrong[i][0]);
        mica_blob none = compile_level(world, text, wrong[i][1]);
        mica_blob_free(&none);
    }
    close_world(world, &heard);
}
END_TEST

/* What the program has changed stands; all else is as in the new file. */
START_TEST(reloading_changes_edges_but_not_those_that_the_program_changed)
{
    mica_world *world = open_with_relations(&heard);
    mica_blob first_blob, second_blob;
    mica_resource *first = open_level(
        world,
        "{\"entities\": [{\"name\": \"a\", \"relations\": {\"Likes\": [\"/b\", \"/c\", \"/d\"], \"DockedTo\": \"/b\","
        " \"Distance\": [{\"target\": \"/b\", \"meters\": 1}, {\"target\": \"/c\", \"meters\": 1, \"lanes\": 1}],"
        " \"MarriedTo\": \"/b\", \"WritesTo\": {\"target\": \"/b\", \"text\": \"a text that is longer than what "
        "fits\"}}},"
        "{\"name\": \"b\", \"relations\": {\"DockedTo\": \"/c\", \"PartOf\": \"/a\"}}, {\"name\": \"c\", \"relations\":"
        " {\"Remembers\": \"/a\"}}, {\"name\": \"d\"}]}",
        &first_blob);
    mica_resource *second = open_level(
        world,
        "{\"entities\": [{\"name\": \"a\", \"relations\": {\"Likes\": [\"/e\", \"/c\"], \"DockedTo\": \"/d\","
        " \"Distance\": [{\"target\": \"/c\", \"meters\": 2, \"lanes\": 2}, {\"target\": \"/b\", \"meters\": 1},"
        " {\"target\": \"/d\", \"meters\": 5}], \"WritesTo\": {\"target\": \"/b\", \"text\": \"another text that is"
        " longer than that\"}}},"
        "{\"name\": \"b\", \"relations\": {\"DockedTo\": \"/d\", \"MarriedTo\": \"/a\"}}, {\"name\": \"c\"},"
        "{\"name\": \"d\", \"relations\": {\"DockedTo\": \"/a\", \"Likes\": [\"/e\", \"/b\"]}},"
        "{\"name\": \"e\", \"relations\": {\"Likes\": \"/a\"}}]}",
        &second_blob);
    mica_spawned *spawned = mica_spawn_kept(world, first, NULL);
    mica_entity a = mica_find(world, "a"), b = mica_find(world, "b"), c = mica_find(world, "c"),
                d = mica_find(world, "d"), own = mica_create(world);
    mica_unrelate(world, a, Likes, c);                 /* which the new file has */
    mica_relate(world, a, Likes, own);                 /* which no file has */
    mica_relate(world, b, DockedTo, own);              /* the new file says something else */
    mica_relate(world, d, Likes, b);                   /* as the new file says */
    mica_edge_write(world, a, Distance, c)->lanes = 9; /* but not the meters */
    mica_reload_stats stats;
    ck_assert_int_eq(mica_reload(spawned, second, &stats), MICA_OK);
    mica_entity e = mica_find(world, "e");
    ck_assert(mica_is_related(world, a, Likes, e) && !mica_is_related(world, a, Likes, c) &&
              !mica_is_related(world, a, Likes, b) && !mica_is_related(world, a, Likes, d));
    ck_assert(mica_is_related(world, a, Likes, own) && mica_is_related(world, e, Likes, a));
    ck_assert(mica_same(mica_target(world, a, DockedTo), d) && mica_same(mica_target(world, b, DockedTo), own) &&
              mica_same(mica_target(world, d, DockedTo), a));
    ck_assert(mica_edge_get(world, a, Distance, c)->meters == 2 && mica_edge_get(world, a, Distance, c)->lanes == 9);
    ck_assert(mica_edge_get(world, a, Distance, b)->meters == 1 && mica_edge_get(world, a, Distance, d)->meters == 5);
    ck_assert(mica_is_related(world, a, MarriedTo, b)); /* in the other direction */
    ck_assert(mica_text_is(&mica_edge_get(world, a, WritesTo, b)->text, "another text that is longer than that"));
    ck_assert(!mica_has(world, b, PartOf) && !mica_has(world, c, Remembers)); /* not in the new file at all */
    ck_assert(mica_is_related(world, d, Likes, e) && mica_target_count(world, d, Likes) == 2);
    ck_assert_uint_eq(stats.kept_count, 2); /* lanes, and where b is docked */
    expect_valid(world);
    ck_assert_int_eq(mica_reload(spawned, first, NULL), MICA_OK);
    ck_assert(!mica_is_alive(world, e) && mica_is_related(world, a, Likes, b) && mica_is_related(world, b, PartOf, a));
    expect_valid(world);
    mica_spawned_free(spawned);
    mica_resource_free(first);
    mica_resource_free(second);
    mica_blob_free(&first_blob);
    mica_blob_free(&second_blob);
    close_world(world, &heard);
}
END_TEST

START_TEST(reloading_edges_survives_failing_allocations)
{
    mica_blob blobs[2];
    mica_resource *files[2];
    mica_world *other = open_with_relations(&heard_there);
    files[0] = open_level(
        other,
        "{\"entities\": [{\"name\": \"a\", \"relations\": {\"Likes\": [\"/b\"], \"Distance\": {\"target\": \"/b\","
        " \"meters\": 1}}}, {\"name\": \"b\"}]}",
        &blobs[0]);
    files[1] = open_level(
        other,
        "{\"entities\": [{\"name\": \"a\", \"relations\": {\"Borders\": [\"/b\"], \"Distance\": {\"target\": \"/b\","
        " \"meters\": 2}}}, {\"name\": \"b\"}]}",
        &blobs[1]);
    for (uint64_t k = 1, failures = 1; failures; ++k) {
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        mica_world *world = open_world_with(&heard, (mica_world_def){.allocator = faulty_allocator_interface(&faulty)});
        for (uint32_t kind = 0; kind < KINDS; ++kind)
            REQUIRE(mica_component_define(world, mica_component_type(kind_at(kind))));
        mica_spawned *spawned = mica_spawn_kept(world, files[0], NULL);
        REQUIRE(spawned);
        uint64_t hash = mica_world_hash(world);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_reload(spawned, files[1], NULL);
        failures = faulty.failures;
        faulty_allocator_fail_at(&faulty, 0, false);
        mica_entity a = mica_find(world, "a"), b = mica_find(world, "b");
        if (result == MICA_OK)
            ck_assert(mica_edge_get(world, a, Distance, b)->meters == 2 && !mica_is_related(world, a, Likes, b));
        else
            ck_assert(failures && result == MICA_ERROR_MEMORY && heard.count && mica_world_hash(world) == hash);
        forget_reports(&heard);
        mica_spawned_free(spawned);
        close_world(world, &heard);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        mica_resource_free(files[i]);
        mica_blob_free(&blobs[i]);
    }
    close_world(other, &heard_there);
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

TEST_SUITE(relation, a_level_has_edges_to_entities_by_path, edges_of_a_level_have_a_short_form,
           reloading_changes_edges_but_not_those_that_the_program_changed, reloading_edges_survives_failing_allocations,
           a_relation_is_a_table, files_keep_the_order_of_edges_in_both_directions, a_world_with_edges_continues,
           replicas_have_the_same_edges, hooks_of_a_replica_are_told_the_targets_of_new_edges,
           a_replica_continues_with_edges_to_entities_it_lost, a_source_with_many_edges_is_saved_and_continues)
