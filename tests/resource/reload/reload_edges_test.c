/* A world follows the edges of a file that changed: those to destroyed entities, those in the other direction, those that can't be,
 * and memory that runs out. What the program changed is in integration/relation_test.c. */
#include "relation/relations.h"
#include "support/faulty_allocator.h"
#include "support/level.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/compile.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

static faulty_allocator faulty;
static reports heard;
static mica_world *world;
static mica_spawned *spawned;
static mica_compiled compiled[2];
static mica_resource *files[2];

/* Each file is opened with the allocator that may fail, so what reloading needs by itself comes from there, too. */
static void compile(uint32_t which, const char *text)
{
    mica_schema *schema = mica_schema_create();
    REQUIRE(mica_schema_add_world(schema, world) == MICA_OK);
    mica_compile_def def = {.schema = schema};
    REQUIRE_SAYING(mica_compile_text("level.json", text, strlen(text), &def, &compiled[which]) == MICA_OK, "%s", text);
    mica_schema_destroy(schema);
    mica_resource_def open = {.allocator = faulty_allocator_interface(&faulty)};
    files[which] = mica_resource_open(compiled[which].blob.bytes, compiled[which].blob.byte_count, &open, NULL);
    REQUIRE(files[which]);
}

static void begin(const char *old, const char *new)
{
    faulty_allocator_init(&faulty);
    world = open_world_with(&heard, (mica_world_def){.allocator = faulty_allocator_interface(&faulty)});
    mica_define(world, Distance);
    mica_define(world, Borders);
    mica_define(world, Likes);
    mica_define(world, Remembers);
    compile(0, old);
    compile(1, new);
    spawned = mica_spawn_kept(world, files[0], NULL);
    REQUIRE(spawned);
}

static void end(void)
{
    mica_spawned_free(spawned);
    for (uint32_t i = 0; i < 2; ++i) {
        mica_resource_free(files[i]);
        mica_compiled_free(&compiled[i]);
    }
    close_world(world, &heard);
    ck_assert_uint_eq(faulty.live_blocks, 0);
    faulty_allocator_free(&faulty);
}

START_TEST(a_symmetric_edge_goes_with_the_entity_that_the_file_drops)
{
    begin("{\"entities\": [{\"name\": \"a\", \"relations\": {\"Borders\": [\"/b\", \"/c\"]}}, {\"name\": \"b\"},"
          " {\"name\": \"c\"}]}",
          "{\"entities\": [{\"name\": \"a\"}, {\"name\": \"c\", \"relations\": {\"Borders\": [\"/a\"]}}]}");
    mica_entity a = mica_find(world, "a"), b = mica_find(world, "b"), c = mica_find(world, "c");
    mica_reload_stats stats;
    ck_assert_int_eq(mica_reload(spawned, files[1], &stats), MICA_OK);
    ck_assert(!mica_is_alive(world, b) && mica_is_related(world, a, Borders, c));
    ck_assert_uint_eq(mica_target_count(world, a, Borders), 1);
    ck_assert(stats.removed_count == 1 && stats.destroyed_count == 1 && stats.added_count == 0);
    end();
}
END_TEST

START_TEST(an_edge_to_what_the_program_destroyed_is_not_added)
{
    begin("{\"entities\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"}]}",
          "{\"entities\": [{\"name\": \"a\", \"relations\": {\"Likes\": [\"/b\", \"/c\"]}}, {\"name\": \"b\"},"
          " {\"name\": \"c\"}]}");
    mica_entity a = mica_find(world, "a"), c = mica_find(world, "c");
    mica_destroy(world, mica_find(world, "b"));
    ck_assert_int_eq(mica_reload(spawned, files[1], NULL), MICA_OK);
    ck_assert(mica_target_count(world, a, Likes) == 1 && mica_is_related(world, a, Likes, c));
    end();
}
END_TEST

START_TEST(an_edge_that_outlives_its_target_stays_when_the_file_drops_it)
{
    begin("{\"entities\": [{\"name\": \"a\", \"relations\": {\"Remembers\": [\"/b\", \"/c\"]}}, {\"name\": \"b\"},"
          " {\"name\": \"c\"}]}",
          "{\"entities\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"}]}");
    mica_entity a = mica_find(world, "a"), b = mica_find(world, "b");
    mica_destroy(world, b);
    mica_reload_stats stats;
    ck_assert_int_eq(mica_reload(spawned, files[1], &stats), MICA_OK);
    ck_assert(mica_target_count(world, a, Remembers) == 1 && mica_same(mica_target(world, a, Remembers), b));
    ck_assert_uint_eq(stats.removed_count, 1);
    end();
}
END_TEST

START_TEST(an_entity_that_the_file_relates_to_itself_refuses_the_reload)
{
    begin("{\"entities\": [{\"name\": \"a\", \"relations\": {\"Likes\": [\"/b\"]}}, {\"name\": \"b\"}]}",
          "{\"entities\": [{\"name\": \"a\"}, {\"name\": \"b\", \"relations\": {\"Likes\": [\"/b\"]}}]}");
    uint64_t before = mica_world_hash(world);
    ck_assert_int_eq(mica_reload(spawned, files[1], NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "reload: the file relates an entity to itself, by Likes");
    ck_assert(mica_world_hash(world) == before && mica_spawned_resource(spawned) == files[0]);
    end();
}
END_TEST

/* More edges than the first block of a buffer has room for, so that memory also runs out when one of them is recorded. */
enum { TARGETS = 80, TEXT_BYTES = 16 << 10 };

/* A hub with edges of so many meters to all targets; 0: without any. */
static const char *hub_text(uint32_t meters, char *text)
{
    int length = snprintf(text, TEXT_BYTES, "{\"entities\": [{\"name\": \"hub\", \"relations\": {\"Distance\": [");
    for (uint32_t i = 0; meters && i < TARGETS; ++i)
        length += snprintf(text + length, TEXT_BYTES - (size_t)length, "%s{\"target\": \"/t%u\", \"meters\": %u}",
                           i ? ", " : "", i, meters);
    length += snprintf(text + length, TEXT_BYTES - (size_t)length, "]}}");
    for (uint32_t i = 0; i < TARGETS; ++i)
        length += snprintf(text + length, TEXT_BYTES - (size_t)length, ", {\"name\": \"t%u\"}", i);
    length += snprintf(text + length, TEXT_BYTES - (size_t)length, "]}");
    REQUIRE(length < TEXT_BYTES);
    return text;
}

static void expect_hub(uint32_t meters)
{
    uint32_t count = 0;
    for (mica_edges at = mica_targets(world, mica_find(world, "hub"), Distance); mica_edge_next(&at); ++count)
        REQUIRE(((const Distance *)at.fields)->meters == (float)meters);
    REQUIRE(count == (meters ? TARGETS : 0));
    REQUIRE(mica_world_validate(world) == MICA_OK);
}

/* Reloads with the k-th allocation failing; what failed is done again. Returns whether there was such an allocation. */
static bool reload_failing_at(uint64_t k, uint32_t old_meters, uint32_t new_meters)
{
    uint64_t before = mica_world_hash(world);
    mica_reload_stats stats;
    faulty_allocator_fail_at(&faulty, k, k % 2);
    mica_result result = mica_reload(spawned, files[1], &stats);
    bool reached = faulty.failures > 0;
    faulty_allocator_fail_at(&faulty, 0, false);
    if (result != MICA_OK) {
        REQUIRE_SAYING(reached && result == MICA_ERROR_MEMORY && heard.count, "allocation %llu", (unsigned long long)k);
        REQUIRE_SAYING(mica_world_hash(world) == before, "allocation %llu", (unsigned long long)k);
        REQUIRE(mica_spawned_resource(spawned) == files[0] && !stats.added_count && !stats.removed_count &&
                !stats.updated_count);
        expect_hub(old_meters);
        REQUIRE(mica_reload(spawned, files[1], &stats) == MICA_OK);
    }
    REQUIRE(stats.added_count + stats.removed_count + stats.updated_count == TARGETS);
    expect_hub(new_meters);
    forget_reports(&heard);
    return reached;
}

static void fail_everywhere(uint32_t old_meters, uint32_t new_meters)
{
    static char texts[2][TEXT_BYTES];
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        begin(hub_text(old_meters, texts[0]), hub_text(new_meters, texts[1]));
        reached = reload_failing_at(k, old_meters, new_meters);
        end();
    }
    ck_assert_uint_gt(k, 20);
}

START_TEST(edges_that_the_file_adds_come_together_or_not_when_memory_runs_out)
{
    fail_everywhere(0, 1);
}
END_TEST

START_TEST(edges_that_the_file_drops_go_together_or_not_when_memory_runs_out)
{
    fail_everywhere(1, 0);
}
END_TEST

START_TEST(edges_that_the_file_changes_change_together_or_not_when_memory_runs_out)
{
    fail_everywhere(1, 2);
}
END_TEST

TEST_SUITE(reload_edges, a_symmetric_edge_goes_with_the_entity_that_the_file_drops,
           an_edge_to_what_the_program_destroyed_is_not_added,
           an_edge_that_outlives_its_target_stays_when_the_file_drops_it,
           an_entity_that_the_file_relates_to_itself_refuses_the_reload,
           edges_that_the_file_adds_come_together_or_not_when_memory_runs_out,
           edges_that_the_file_drops_go_together_or_not_when_memory_runs_out,
           edges_that_the_file_changes_change_together_or_not_when_memory_runs_out)
