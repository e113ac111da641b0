/* Memory runs out at every point of every call on a tree: the error is known, the world is as it was, and the same call then
 * succeeds and ends where a call that never failed ends. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/snapshot.h"
#include "mica/transform.h"

enum { NODES = 12 };

typedef struct fixture {
    faulty_allocator allocator;
    mica_world *world;
    mica_commands *commands;
    mica_entity nodes[NODES];
    mica_snapshot snapshot;
    uint32_t report_count;
} fixture;

typedef struct scenario {
    const char *name;
    void (*prepare)(fixture *fixture); /* may be NULL */
    bool (*act)(fixture *fixture);
    void (*finish)(fixture *fixture); /* brings to light what was only recorded; may be NULL */
    bool needs_none;                  /* it works without memory */
} scenario;

static void hear(const mica_report *report, void *context)
{
    (void)report;
    ++((fixture *)context)->report_count;
}

/* Entities far apart, so that links need pages of their own; every third named. */
static void open_fixture(fixture *fixture, const scenario *scenario)
{
    *fixture = (struct fixture){0};
    faulty_allocator_init(&fixture->allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&fixture->allocator);
    def.chunk_bytes_first = def.chunk_bytes_last = 512;
    def.report = hear;
    def.report_context = fixture;
    fixture->world = mica_world_create(&def);
    for (uint32_t i = 0; i < NODES; ++i) {
        fixture->nodes[i] = mica_create(fixture->world, MICA_WITH(Number, {i}));
        REQUIRE(mica_create_many(fixture->world, 700, NULL, 0, NULL) == MICA_OK);
        char name[] = {(char)('a' + i), 0};
        if (i % 3 == 0)
            REQUIRE(mica_name_set(fixture->world, fixture->nodes[i], mica_nil(), name) == MICA_OK);
    }
    if (scenario->prepare)
        scenario->prepare(fixture);
}

static void close_fixture(fixture *fixture)
{
    mica_world_destroy(fixture->world);
    REQUIRE(fixture->allocator.live_bytes == 0);
    faulty_allocator_free(&fixture->allocator);
}

static void link_chain(fixture *fixture)
{
    for (uint32_t i = 1; i < NODES; ++i)
        REQUIRE(mica_set_parent(fixture->world, fixture->nodes[i], fixture->nodes[i / 2]) == MICA_OK);
}

static void link_one(fixture *fixture)
{
    REQUIRE(mica_set_parent(fixture->world, fixture->nodes[2], fixture->nodes[0]) == MICA_OK);
}

static void link_and_defer(fixture *fixture)
{
    link_chain(fixture);
    mica_defer(fixture->world);
}

static void defer(fixture *fixture)
{
    mica_defer(fixture->world);
}

static void flush_after(fixture *fixture)
{
    REQUIRE(mica_flush(fixture->world) == MICA_OK);
}

/* Links, values and deaths that depend on each other, in two buffers. */
static void record_some(fixture *fixture)
{
    link_chain(fixture);
    const mica_entity *nodes = fixture->nodes;
    mica_commands *first = mica_commands_create(fixture->world), *second = mica_commands_create(fixture->world);
    REQUIRE(mica_command_set(first, nodes[5], Mass, {1}));
    REQUIRE(mica_command_set_parent(first, nodes[9], nodes[11]));
    mica_entity born = mica_command_create(second, MICA_WITH(Mass, {2}));
    REQUIRE(mica_command_set_parent(second, born, nodes[9]));
    REQUIRE(mica_command_place_before(second, nodes[10], nodes[2]));
    REQUIRE(mica_command_set(second, nodes[4], Mass, {3}));
    REQUIRE(mica_command_destroy_with(second, nodes[2], MICA_ORPHANS_DIE));
    mica_entity far = mica_command_create(second);
    REQUIRE(mica_command_set_parent(second, far, nodes[1]));
}

/* Entities that are not in a tree yet. */
static void record_words(fixture *fixture)
{
    mica_commands *commands = mica_commands_create(fixture->world);
    REQUIRE(mica_command_destroy_with(commands, fixture->nodes[1], MICA_ORPHANS_STAY));
    REQUIRE(mica_command_destroy_with(commands, fixture->nodes[11], MICA_ORPHANS_DIE));
}

static void link_and_leave_a_page(fixture *fixture)
{
    link_chain(fixture);
    REQUIRE(mica_set_parent(fixture->world, fixture->nodes[11], mica_nil()) == MICA_OK);
}

static void add_components(fixture *fixture)
{
    for (uint32_t i = 0; i < NODES; ++i) {
        REQUIRE(mica_set(fixture->world, fixture->nodes[i], mica_local, MICA_LOCAL_AT((float)i, 1, 2)));
        REQUIRE(mica_add(fixture->world, fixture->nodes[i], mica_global_matrix));
    }
}

static void add_transforms(fixture *fixture)
{
    link_chain(fixture);
    add_components(fixture);
}

/* More slices than the last update had, and no entity that needs another node. */
static void add_transforms_and_new_entities(fixture *fixture)
{
    add_transforms(fixture);
    REQUIRE(mica_transform_update(fixture->world) == MICA_OK);
    for (uint32_t i = 0; i < 60; ++i)
        REQUIRE(!mica_is_nil(mica_create_child(fixture->world, fixture->nodes[3],
                                               MICA_WITH(mica_local, MICA_LOCAL_AT(1, 2, 3)),
                                               MICA_WITH(mica_global_matrix))));
}

static void take_and_change(fixture *fixture)
{
    add_transforms(fixture);
    REQUIRE(mica_transform_update(fixture->world) == MICA_OK);
    fixture->snapshot = mica_snapshot_take(fixture->world);
    mica_write(fixture->world, fixture->nodes[2], mica_local)->position[1] = 7;
    REQUIRE(mica_set_parent(fixture->world, fixture->nodes[8], fixture->nodes[0]) == MICA_OK);
    REQUIRE(mica_transform_update(fixture->world) == MICA_OK);
    mica_world_trim(fixture->world);
}

static void add_transforms_and_move(fixture *fixture)
{
    add_transforms(fixture);
    REQUIRE(mica_transform_update(fixture->world) == MICA_OK);
    mica_write(fixture->world, fixture->nodes[2], mica_local)->position[1] = 7;
    REQUIRE(mica_set_parent(fixture->world, fixture->nodes[8], fixture->nodes[0]) == MICA_OK);
    REQUIRE(mica_remove(fixture->world, fixture->nodes[5], mica_local)); /* so that the order is made anew */
}

static bool set_parent(fixture *fixture)
{
    return mica_set_parent(fixture->world, fixture->nodes[3], fixture->nodes[6]) == MICA_OK;
}

static bool place_before(fixture *fixture)
{
    return mica_place_before(fixture->world, fixture->nodes[11], fixture->nodes[2]) == MICA_OK;
}

static bool set_parents(fixture *fixture)
{
    mica_entity parents[NODES] = {{0, 0}};
    for (uint32_t i = 0; i + 1 < NODES; ++i)
        parents[i] = fixture->nodes[i + 1];
    return mica_set_parents(fixture->world, fixture->nodes, parents, NODES) == MICA_OK;
}

static bool detach_children(fixture *fixture)
{
    return mica_detach_children(fixture->world, fixture->nodes[1]) == MICA_OK;
}

static bool create_child(fixture *fixture)
{
    return !mica_is_nil(mica_create_child(fixture->world, fixture->nodes[4], MICA_WITH(Mass, {1})));
}

static bool set_orphans(fixture *fixture)
{
    return mica_set_orphans(fixture->world, MICA_ORPHANS_STAY) == MICA_OK;
}

static bool destroy(fixture *fixture)
{
    return mica_destroy(fixture->world, fixture->nodes[1]);
}

static bool destroy_with(fixture *fixture)
{
    return mica_destroy_with(fixture->world, fixture->nodes[1], MICA_ORPHANS_STAY);
}

static bool destroy_children(fixture *fixture)
{
    return mica_destroy_children(fixture->world, fixture->nodes[1]) == 2;
}

static bool name_child(fixture *fixture)
{
    return mica_name_child(fixture->world, fixture->nodes[4], "four") == MICA_OK;
}

static bool flush(fixture *fixture)
{
    return mica_flush(fixture->world) == MICA_OK;
}

static bool update(fixture *fixture)
{
    return mica_transform_update(fixture->world) == MICA_OK;
}

static void update_after(fixture *fixture)
{
    REQUIRE(mica_transform_update(fixture->world) == MICA_OK);
}

static bool add_system(fixture *fixture)
{
    return mica_transform_add_system(fixture->world, MICA_PHASE_END).id != 0;
}

static bool take(fixture *fixture)
{
    return mica_snapshot_take(fixture->world).id != 0;
}

static bool restore(fixture *fixture)
{
    return mica_snapshot_restore(fixture->world, fixture->snapshot) == MICA_OK;
}

static bool clone(fixture *fixture)
{
    mica_world *other = mica_world_clone(fixture->world);
    if (!other)
        return false;
    REQUIRE(mica_world_validate(other) == MICA_OK && mica_world_hash(other) == mica_world_hash(fixture->world));
    mica_world_destroy(other);
    return true;
}

static const scenario scenarios[] = {
    {"set_parent", NULL, set_parent, NULL, false},
    {"set_parent of a recording", defer, set_parent, flush_after, false},
    {"place_before", link_one, place_before, NULL, false},
    {"set_parents", NULL, set_parents, NULL, false},
    {"set_parents of a recording", defer, set_parents, flush_after, false},
    {"detach_children", link_chain, detach_children, NULL, false},
    {"detach_children of a recording", link_and_defer, detach_children, flush_after, false},
    {"create_child", NULL, create_child, NULL, false},
    {"create_child of a recording", link_and_defer, create_child, flush_after, false},
    {"set_orphans", NULL, set_orphans, NULL, false},
    {"destroy", link_chain, destroy, NULL, true},
    {"destroy_with", link_chain, destroy_with, NULL, true},
    {"destroy_with of a recording", link_and_defer, destroy_with, flush_after, false},
    {"destroy_children", link_chain, destroy_children, NULL, false},
    {"name_child", link_chain, name_child, NULL, false},
    {"flush", record_some, flush, NULL, false},
    {"flush of words", record_words, flush, NULL, false},
    {"transform_update without a tree", add_components, update, NULL, false},
    {"transform_update with new entities", add_transforms_and_new_entities, update, NULL, false},
    {"transform_add_system", NULL, add_system, NULL, false},
    {"clone", link_and_leave_a_page, clone, NULL, false},
    {"snapshot_take", add_transforms, take, NULL, false},
    {"snapshot_restore", take_and_change, restore, update_after, false},
    {"first transform_update", add_transforms, update, NULL, false},
    {"transform_update", add_transforms_and_move, update, NULL, false},
};

static uint64_t hash_without_failure(const scenario *scenario)
{
    fixture fixture;
    open_fixture(&fixture, scenario);
    REQUIRE_SAYING(scenario->act(&fixture), "%s", scenario->name);
    if (scenario->finish)
        scenario->finish(&fixture);
    uint64_t hash = mica_world_hash(fixture.world);
    close_fixture(&fixture);
    return hash;
}

/* Returns false when the call needs fewer allocations than that. */
static bool fail_at(const scenario *scenario, uint64_t k, bool keep_failing, uint64_t expected)
{
    fixture fixture;
    open_fixture(&fixture, scenario);
    uint64_t before = mica_world_hash(fixture.world);
    uint32_t reports = fixture.report_count;
    faulty_allocator_fail_at(&fixture.allocator, k, keep_failing);
    bool done = scenario->act(&fixture), failed = fixture.allocator.failures > 0;
    faulty_allocator_fail_at(&fixture.allocator, 0, false);
    REQUIRE_SAYING(mica_world_validate(fixture.world) == MICA_OK, "%s, allocation %llu", scenario->name,
                   (unsigned long long)k);
    if (!done) {
        REQUIRE_SAYING(failed && fixture.report_count > reports, "%s, allocation %llu", scenario->name,
                       (unsigned long long)k);
        REQUIRE(mica_world_take_error(fixture.world) == MICA_ERROR_MEMORY);
        REQUIRE_SAYING(mica_world_hash(fixture.world) == before, "%s, allocation %llu: the world has changed",
                       scenario->name, (unsigned long long)k);
        REQUIRE(scenario->act(&fixture));
    }
    if (scenario->finish)
        scenario->finish(&fixture);
    REQUIRE_SAYING(mica_world_hash(fixture.world) == expected, "%s, allocation %llu: another outcome", scenario->name,
                   (unsigned long long)k);
    close_fixture(&fixture);
    return failed;
}

START_TEST(memory_may_run_out_at_every_point)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; ++i) {
        uint64_t expected = hash_without_failure(&scenarios[i]), failures = 0;
        for (int keep_failing = 0; keep_failing < 2; ++keep_failing)
            for (uint64_t k = 1; fail_at(&scenarios[i], k, keep_failing, expected); ++k)
                ++failures;
        ck_assert_msg((failures > 0) == !scenarios[i].needs_none, "%s: %llu failures", scenarios[i].name,
                      (unsigned long long)failures);
    }
}
END_TEST

START_TEST(a_word_on_children_is_forgotten_with_the_destruction_that_failed)
{
    static const scenario recorded = {.name = "word", .prepare = link_and_defer};
    uint32_t failures = 0;
    for (uint64_t k = 1;; ++k) {
        fixture fixture;
        open_fixture(&fixture, &recorded);
        faulty_allocator_fail_at(&fixture.allocator, k, false);
        bool done = destroy_with(&fixture);
        faulty_allocator_fail_at(&fixture.allocator, 0, false);
        flush_after(&fixture);
        if (!done) { /* it lives, and dies as all others do */
            ++failures;
            REQUIRE(mica_destroy(fixture.world, fixture.nodes[1]));
        }
        ck_assert(mica_is_alive(fixture.world, fixture.nodes[2]) == done);
        close_fixture(&fixture);
        if (done)
            break;
    }
    ck_assert_uint_ge(failures, 2);
}
END_TEST

TEST_SUITE(memory_failure, memory_may_run_out_at_every_point,
           a_word_on_children_is_forgotten_with_the_destruction_that_failed)
