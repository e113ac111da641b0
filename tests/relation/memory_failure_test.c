/* Memory runs out at every point of every call that changes edges: the error is known, the world is as it was, and the same call then
 * succeeds and ends where a call that never failed ends. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/delta.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "mica/state.h"
#include "relations.h"

#include "pool/pool_edges.h"

#include <string.h>

enum { NODES = 12 };

typedef struct fixture {
    faulty_allocator allocator;
    mica_world *world;
    mica_entity nodes[NODES];
    uint32_t report_count;
    uint64_t failures;   /* before memory was given back */
    mica_world *sending; /* a world that is replicated into the other one */
    mica_sender *sender;
    mica_replica *replica;
    mica_delta delta;
} fixture;

typedef struct scenario {
    const char *name;
    void (*prepare)(fixture *fixture); /* may be NULL */
    bool (*act)(fixture *fixture);
    bool takes_handles; /* a call that failed has used handles, which differ the next time */
} scenario;

static void hear(const mica_report *report, void *context)
{
    (void)report;
    ++((fixture *)context)->report_count;
}

/* Entities far apart, so that targets need pages of their own. */
static void open_fixture(fixture *fixture, const scenario *scenario)
{
    *fixture = (struct fixture){0};
    faulty_allocator_init(&fixture->allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&fixture->allocator);
    def.report = hear;
    def.report_context = fixture;
    fixture->world = mica_world_create(&def);
    for (uint32_t i = 0; i < NODES; ++i) {
        fixture->nodes[i] = mica_create(fixture->world, MICA_WITH(Number, {i}));
        REQUIRE(mica_create_many(fixture->world, 5000, NULL, 0, NULL) == MICA_OK);
    }
    if (scenario->prepare)
        scenario->prepare(fixture);
}

static void close_fixture(fixture *fixture)
{
    mica_replica_destroy(fixture->replica);
    mica_sender_destroy(fixture->sender);
    mica_world_destroy(fixture->sending);
    mica_world_destroy(fixture->world);
    REQUIRE(fixture->allocator.live_bytes == 0);
    faulty_allocator_free(&fixture->allocator);
}

/* Nothing fails any more. */
static void give_memory_back(fixture *fixture)
{
    fixture->failures += fixture->allocator.failures;
    faulty_allocator_fail_at(&fixture->allocator, 0, false);
}

static void relate_some(fixture *fixture)
{
    for (uint32_t i = 1; i < NODES; ++i) {
        REQUIRE(mica_relate(fixture->world, fixture->nodes[i], DependsOn, fixture->nodes[i / 2]));
        REQUIRE(mica_relate(fixture->world, fixture->nodes[i], PartOf, fixture->nodes[i / 3]) || i / 3 == i);
        REQUIRE(mica_relate_with(fixture->world, fixture->nodes[i], WritesTo, fixture->nodes[0],
                                 {mica_text_of("a text that needs memory of its own")}));
    }
}

/* Many ways lead from the first node to the one that is the third from the end; none leads to the last one. */
static void relate_a_web(fixture *fixture)
{
    for (uint32_t i = 0; i + 3 < NODES; ++i)
        for (uint32_t k = 0; k < 60; ++k) {
            mica_entity between = mica_create(fixture->world);
            REQUIRE(mica_relate(fixture->world, fixture->nodes[i], DependsOn, between));
            REQUIRE(mica_relate(fixture->world, between, DependsOn, fixture->nodes[i + 1]));
        }
    REQUIRE(mica_relate(fixture->world, fixture->nodes[NODES - 2], DependsOn, fixture->nodes[NODES - 1]));
}

/* All are related to the first node, which is the target. */
static void connect(fixture *fixture)
{
    for (uint32_t k = 0; k < 100; ++k)
        REQUIRE(mica_relate(fixture->world, mica_create(fixture->world), ConnectedTo, fixture->nodes[0]));
    mica_entity last = mica_create(fixture->world);
    REQUIRE(mica_relate(fixture->world, last, ConnectedTo, fixture->nodes[0]));
    REQUIRE(mica_relate(fixture->world, last, ConnectedTo, fixture->nodes[1]));
}

static void relate_distances(fixture *fixture)
{
    for (uint32_t i = 1; i < 4; ++i)
        REQUIRE(mica_relate(fixture->world, fixture->nodes[0], Distance, fixture->nodes[i]));
}

/* The first node has as many edges as the first table has room for. */
static void fill_a_table(fixture *fixture)
{
    for (uint32_t i = 1; i + 1 < NODES; ++i)
        REQUIRE(mica_relate(fixture->world, fixture->nodes[0], Likes, fixture->nodes[i]));
    const micap_pool_edges *edges = mica_pool_of(fixture->world, Likes)->edges;
    REQUIRE(edges->has_table && (NODES - 2) * 3 <= edges->slot_count * 2 && (NODES - 1) * 3 > edges->slot_count * 2);
}

static void nest(fixture *fixture)
{
    relate_some(fixture);
    for (uint32_t i = 1; i < NODES; ++i)
        REQUIRE(mica_set_parent(fixture->world, fixture->nodes[i], fixture->nodes[i / 2]) == MICA_OK);
}

static void send_edges(fixture *fixture)
{
    mica_define(fixture->world, Likes);
    mica_define(fixture->world, Number);
    fixture->sending = mica_world_create(NULL);
    mica_entity nodes[NODES];
    for (uint32_t i = 0; i < NODES; ++i)
        nodes[i] = mica_create(fixture->sending, MICA_WITH(Number, {i}));
    for (uint32_t i = 0; i < NODES * NODES; ++i)
        if (i / NODES != i % NODES)
            REQUIRE(mica_relate(fixture->sending, nodes[i % NODES], Likes, nodes[i / NODES]));
    for (uint32_t i = 0; i < NODES; i += 2) /* so that rows are in another order */
        mica_unrelate(fixture->sending, nodes[i], Likes, nodes[i ^ 1]);
    fixture->sender = mica_sender_create(fixture->sending, NULL);
    fixture->replica = mica_replica_create(fixture->world, &(mica_replica_def){.mapped = true});
    REQUIRE(mica_delta_encode(fixture->sender, 0, &fixture->delta) == MICA_OK);
}

static bool relate(fixture *fixture)
{
    return mica_relate(fixture->world, fixture->nodes[7], Likes, fixture->nodes[9]);
}

static bool relate_one_more(fixture *fixture)
{
    return mica_relate(fixture->world, fixture->nodes[0], Likes, fixture->nodes[NODES - 1]);
}

static bool relate_text(fixture *fixture)
{
    return mica_relate_with(fixture->world, fixture->nodes[7], WritesTo, fixture->nodes[0],
                            {mica_text_of("another text that needs memory of its own")});
}

static bool relate_far(fixture *fixture)
{
    return mica_relate(fixture->world, fixture->nodes[NODES - 1], DependsOn, fixture->nodes[0]) != NULL;
}

static bool find_far(fixture *fixture)
{
    return mica_is_related(fixture->world, fixture->nodes[0], DependsOn, fixture->nodes[NODES - 3]);
}

static bool find_connected(fixture *fixture)
{
    return mica_is_related(fixture->world, fixture->nodes[0], ConnectedTo, fixture->nodes[1]);
}

static bool relate_many(fixture *fixture)
{
    uint32_t count = mica_relate_many(fixture->world, Likes, fixture->nodes, fixture->nodes + 1, NODES - 1);
    if (count == NODES - 1)
        return true;
    for (uint32_t i = 0; i < count; ++i) /* what was added before */
        mica_unrelate(fixture->world, fixture->nodes[i], Likes, fixture->nodes[i + 1]);
    return false;
}

static bool record(fixture *fixture)
{
    mica_defer(fixture->world);
    bool done = mica_relate(fixture->world, fixture->nodes[2], Likes, fixture->nodes[5]) &&
                mica_relate_with(fixture->world, fixture->nodes[2], WritesTo, fixture->nodes[5],
                                 {mica_text_of("one more text that needs memory of its own")}) &&
                mica_relate(fixture->world, fixture->nodes[2], Distance, fixture->nodes[5]);
    mica_result result = mica_flush(fixture->world);
    if (result == MICA_ERROR_MEMORY) { /* what is recorded waits for another try */
        give_memory_back(fixture);
        result = mica_flush(fixture->world);
    }
    if (done && result == MICA_OK)
        return true;
    mica_unrelate(fixture->world, fixture->nodes[2], Likes, fixture->nodes[5]);
    mica_unrelate(fixture->world, fixture->nodes[2], WritesTo, fixture->nodes[5]);
    return false;
}

static bool record_place(fixture *fixture)
{
    mica_defer(fixture->world);
    bool done =
        mica_place_source(fixture->world, fixture->nodes[5], PartOf, fixture->nodes[1], fixture->nodes[3]) == MICA_OK;
    return mica_flush(fixture->world) == MICA_OK && done;
}

/* More edges than a relation has room for at first, of two relations: room for the first is made before the second fails. */
static bool record_many(fixture *fixture)
{
    mica_world *world = fixture->world;
    bool done = true;
    mica_defer(world);
    for (uint32_t i = 0; done && i < 2 * NODES * NODES; ++i) {
        mica_entity source = fixture->nodes[i / 2 / NODES], target = fixture->nodes[i / 2 % NODES];
        if (!mica_same(source, target))
            done = i % 2 ? mica_relate(world, source, Distance, target) != NULL
                         : mica_relate(world, source, Likes, target) != NULL;
    }
    mica_result result = mica_flush(world);
    if (result == MICA_ERROR_MEMORY) { /* what is recorded waits for another try */
        give_memory_back(fixture);
        REQUIRE(mica_target_count(world, fixture->nodes[0], Likes) == 0);
        result = mica_flush(world);
    }
    REQUIRE(result == MICA_OK);
    for (uint32_t i = 0; !done && i < NODES; ++i) {
        mica_unrelate_targets(world, fixture->nodes[i], Likes);
        mica_unrelate_targets(world, fixture->nodes[i], Distance);
    }
    return done;
}

static bool clone_one(fixture *fixture)
{
    return !mica_is_nil(mica_clone(fixture->world, fixture->nodes[7]));
}

static bool clone_tree(fixture *fixture)
{
    return !mica_is_nil(mica_clone_tree(fixture->world, fixture->nodes[1]));
}

static bool clone_world(fixture *fixture)
{
    mica_world *clone = mica_world_clone(fixture->world);
    if (clone)
        REQUIRE(mica_world_hash(clone) == mica_world_hash(fixture->world));
    mica_world_destroy(clone);
    return clone;
}

static bool load(fixture *fixture)
{
    struct mica_edge_of_Distance values[6] = {0};
    mica_entity sources[6];
    for (uint32_t i = 0; i < 6; ++i) {
        sources[i] = fixture->nodes[i / 3];
        values[i].target = fixture->nodes[4 + i];
        values[i].rank = 9 - i;
    }
    if (mica_load_edges_id(fixture->world, MICA_ID(Distance), sources, values, 6) == MICA_OK)
        return true;
    for (uint32_t i = 0; i < 6; ++i) /* those before the one that was refused */
        mica_unrelate(fixture->world, sources[i], Distance, values[i].target);
    return false;
}

/* A state that is taken is always the same. */
static bool take_state(fixture *fixture)
{
    mica_state *state = NULL;
    if (mica_state_take(fixture->world, &state) != MICA_OK)
        return false;
    size_t byte_count;
    const void *bytes = mica_state_bytes(state, &byte_count);
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < byte_count; ++i)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    mica_state_free(state);
    static uint64_t first; /* of the world in which nothing failed */
    first = first ? first : hash;
    REQUIRE(first == hash);
    return true;
}

static bool replicate(fixture *fixture)
{
    return mica_delta_apply(fixture->replica, fixture->delta.bytes, fixture->delta.byte_count) == MICA_OK;
}

static void try_at(const scenario *scenario, uint64_t k, bool keep_failing, uint64_t expected, bool *out_failed)
{
    fixture fixture;
    open_fixture(&fixture, scenario);
    uint64_t before = mica_world_hash(fixture.world);
    faulty_allocator_fail_at(&fixture.allocator, k, keep_failing);
    bool done = scenario->act(&fixture);
    give_memory_back(&fixture);
    *out_failed = fixture.failures != 0;
    REQUIRE_SAYING(mica_world_validate(fixture.world) == MICA_OK, "%s", scenario->name);
    if (!done) {
        REQUIRE_SAYING(fixture.report_count, "%s", scenario->name);
        REQUIRE_SAYING(mica_world_hash(fixture.world) == before, "%s", scenario->name);
        REQUIRE_SAYING(scenario->act(&fixture), "%s", scenario->name);
    }
    REQUIRE_SAYING(mica_world_hash_content(fixture.world) == expected || (!done && scenario->takes_handles), "%s",
                   scenario->name);
    close_fixture(&fixture);
}

START_TEST(every_call_survives_every_failure)
{
    static const scenario list[] = {
        {"relate", NULL, relate, false},
        {"relate the first to a target", relate_some, relate, false},
        {"relate one more than a table has room for", fill_a_table, relate_one_more, false},
        {"relate with text", relate_some, relate_text, false},
        {"relate where a circle is searched", relate_a_web, relate_far, false},
        {"find what is far", relate_a_web, find_far, false},
        {"find what is connected", connect, find_connected, false},
        {"relate many", NULL, relate_many, false},
        {"record", relate_some, record, false},
        {"a recorded place", relate_some, record_place, false},
        {"record many", NULL, record_many, false},
        {"load", NULL, load, false},
        {"load more", relate_distances, load, false},
        {"clone", relate_some, clone_one, true},
        {"clone one with many edges", relate_a_web, clone_one, true},
        {"clone a tree", nest, clone_tree, true},
        {"clone the world", nest, clone_world, false},
        {"replicate", send_edges, replicate, true},
        {"take the state", relate_a_web, take_state, false},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        fixture fixture;
        open_fixture(&fixture, &list[i]);
        REQUIRE_SAYING(list[i].act(&fixture), "%s", list[i].name);
        uint64_t expected = mica_world_hash_content(fixture.world);
        close_fixture(&fixture);
        for (int keep_failing = 0; keep_failing < 2; ++keep_failing) {
            bool failed = true;
            for (uint64_t k = 1; failed; ++k)
                try_at(&list[i], k, keep_failing, expected, &failed);
        }
    }
}
END_TEST

/* The call says how many removals it recorded before memory ran out: so many are made. */
START_TEST(removals_are_recorded_until_memory_runs_out)
{
    static const scenario web = {"unrelate", relate_a_web, NULL, false};
    uint32_t short_count = 0;
    bool failed = true;
    for (uint64_t k = 1; failed; ++k) {
        fixture fixture;
        open_fixture(&fixture, &web);
        uint32_t before = mica_target_count(fixture.world, fixture.nodes[0], DependsOn);
        mica_defer(fixture.world);
        uint64_t failures = fixture.allocator.failures;
        faulty_allocator_fail_at(&fixture.allocator, k, true);
        uint32_t count = mica_unrelate_targets(fixture.world, fixture.nodes[0], DependsOn);
        failed = fixture.allocator.failures != failures;
        faulty_allocator_fail_at(&fixture.allocator, 0, false);
        REQUIRE(mica_flush(fixture.world) == MICA_OK);
        REQUIRE(failed ? count < before && fixture.report_count : count == before);
        REQUIRE(mica_target_count(fixture.world, fixture.nodes[0], DependsOn) == before - count);
        REQUIRE(mica_world_validate(fixture.world) == MICA_OK);
        short_count += failed;
        close_fixture(&fixture);
    }
    REQUIRE(short_count);
}
END_TEST

TEST_SUITE(memory_failure, every_call_survives_every_failure, removals_are_recorded_until_memory_runs_out)
