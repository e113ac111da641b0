/* Memory runs out at every point of taking, restoring and cloning, in a world with something of everything. */
#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/memory_scenario.h"
#include "support/require.h"
#include "support/test.h"

static mica_snapshot before;
static mica_history *history;
static mica_commands *buffers[2];
static mica_removals *removals;
static mica_stream *stream;
static mica_component journal, late_journal; /* singletons that own memory, the second from later on */

typedef struct Sun { float height; } Sun;
MICA_SINGLETON(Sun, height)
typedef struct Moon { float height; } Moon;
MICA_SINGLETON(Moon, height)

static mica_component define_journal(mica_world *world, const char *name)
{
    mica_type type = *samples[SAMPLE_OWNER].type;
    type.name = name;
    type.storage = MICA_STORAGE_SINGLETON;
    type.id_cache = 0;
    return mica_component_define(world, &type);
}

static void multiply(mica_view *view)
{
    if (view->frame->tick < 3)
        mica_create(view->world, MICA_WITH(Number, {1}));
}

/* One of each thing that is copied when a snapshot is taken. */
static void make_everything(fixture *fixture)
{
    mica_world *world = fixture->world;
    fixture_run_alone(fixture);
    journal = define_journal(world, "SampleJournal");
    samples[SAMPLE_OWNER].assign(mica_singleton_write_id(world, journal), 5);
    mica_singleton_write(world, SampleClock)->number = 3;
    mica_singleton_write(world, Sun)->height = 1;
    mica_singleton_write(world, Moon)->height = 2;
    mica_create(world, MICA_WITH(Number, {7}));
    mica_system_add(world, MICA_SYSTEM(multiply, MICA_WRITE(Number), MICA_CHANGED(Number)));
    stream = mica_stream_create(world, MICA_STREAM_WITH(SampleClock, (.keep_frames = 9)));
    mica_stream_push(stream, SampleClock, {1, 2});
    removals = mica_removals_create_id(world, sample_id(SAMPLE_SMALL));
    for (uint32_t i = 2; i < 9; ++i)
        mica_remove_id(world, fixture->population[i], sample_id(SAMPLE_SMALL));
    for (uint32_t i = 0; i < 2; ++i) {
        buffers[i] = mica_commands_create(world);
        mica_command_create(buffers[i]);
    }
    REQUIRE(mica_step(world, 1) == MICA_OK);
    REQUIRE(mica_set_parent(world, fixture->population[1], fixture->population[10]) == MICA_OK);
    fixture->query = mica_query_create(world, &(mica_query_def){MICA_TERMS(MICA_CHANGED(Number))});
    REQUIRE(mica_query_count(fixture->query) > 0);
}

static void change_entities(fixture *fixture)
{
    mica_world *world = fixture->world;
    for (uint32_t i = 0; i < POPULATION; i += 3)
        mica_destroy(world, fixture->population[i]);
    for (uint32_t kind = 0; kind < SAMPLE_COUNT; ++kind)
        mica_create_id(world, &fixture->values[kind], 1);
    mica_name_set(world, fixture->population[1], mica_nil(), "renamed");
}

/* And something else made of all of it. */
static void change_everything(fixture *fixture)
{
    mica_world *world = fixture->world;
    change_entities(fixture);
    mica_set_parent(world, fixture->population[1], fixture->population[2]);
    samples[SAMPLE_OWNER].assign(mica_singleton_write_id(world, journal), 6);
    mica_singleton_write(world, SampleClock)->number = 4;
    late_journal = define_journal(world, "SampleLateJournal");
    samples[SAMPLE_OWNER].assign(mica_singleton_write_id(world, late_journal), 8);
    mica_singleton_write(world, Clock)->ticks = 9;
    mica_query_create(world, &(mica_query_def){MICA_TERMS(MICA_READ(Clock))});
    mica_stream_push(stream, SampleClock, {3, 4});
    mica_removals_create_id(world, sample_id(SAMPLE_OWNER));
    mica_commands_destroy(buffers[0]);
    mica_command_create(mica_commands_create(world));
    mica_command_create(buffers[1]);
    REQUIRE(mica_step(world, 1) == MICA_OK);
}

static void make_and_change(fixture *fixture)
{
    make_everything(fixture);
    before = mica_snapshot_take(fixture->world);
    change_everything(fixture);
}

static void make_change_and_take(fixture *fixture)
{
    make_and_change(fixture);
    mica_snapshot_take(fixture->world);
}

static void make_two_ticks(fixture *fixture)
{
    make_everything(fixture);
    history = mica_history_create(fixture->world, 5);
    REQUIRE(mica_history_take(history, 1) == MICA_OK);
    change_everything(fixture);
    REQUIRE(mica_history_take(history, 2) == MICA_OK);
}

static bool take(fixture *fixture)
{
    return mica_snapshot_take(fixture->world).id != 0;
}

static bool restore(fixture *fixture)
{
    return mica_snapshot_restore(fixture->world, before) == MICA_OK;
}

static bool make_history(fixture *fixture)
{
    return mica_history_create(fixture->world, 5) != NULL;
}

static bool take_tick(fixture *fixture)
{
    (void)fixture;
    return mica_history_take(history, 3) == MICA_OK;
}

static bool restore_tick(fixture *fixture)
{
    (void)fixture;
    return mica_history_restore(history, 1) == MICA_OK;
}

static bool clone(fixture *fixture)
{
    mica_world *other = mica_world_clone(fixture->world);
    if (!other)
        return false;
    REQUIRE(mica_world_validate(other) == MICA_OK);
    REQUIRE(*(const uint32_t *)mica_singleton_get_id(other, MICA_ID(SampleClock)) == 4);
    mica_world_destroy(other);
    return true;
}

static const scenario scenarios[] = {
    {"clone", make_and_change, clone, NULL},
    {"take the first", NULL, take, NULL},
    {"take", make_everything, take, NULL},
    {"take with another", make_and_change, take, NULL},
    {"restore", make_and_change, restore, NULL},
    {"restore with a newer one", make_change_and_take, restore, NULL},
    {"history", NULL, make_history, NULL},
    {"take a tick", make_two_ticks, take_tick, NULL},
    {"restore a tick", make_two_ticks, restore_tick, NULL},
};

START_TEST(without_memory_nothing_changes)
{
    scenario_fail_everywhere(&scenarios[_i]);
}
END_TEST

/* A write that has no memory for the copy still succeeds, and the snapshot is lost unless it has the copy already. */
START_TEST(a_write_without_memory_succeeds_and_loses_snapshots)
{
    bool was_lost = false, reached = true;
    for (uint64_t k = 1; reached; ++k) {
        static fixture fixture;
        fixture_open(&fixture);
        make_everything(&fixture);
        uint64_t hash = mica_world_hash(fixture.world);
        mica_snapshot snapshot = mica_snapshot_take(fixture.world);
        faulty_allocator_fail_at(&fixture.allocator, k, true);
        change_entities(&fixture);
        reached = fixture.allocator.failures > 0;
        faulty_allocator_fail_at(&fixture.allocator, 0, false);
        REQUIRE(mica_world_validate(fixture.world) == MICA_OK);
        uint64_t changed = mica_world_hash(fixture.world);
        REQUIRE(changed != hash);
        mica_result result = mica_snapshot_restore(fixture.world, snapshot);
        REQUIRE(result == MICA_OK || result == MICA_ERROR_MEMORY);
        REQUIRE(mica_world_hash(fixture.world) == (result == MICA_OK ? hash : changed));
        REQUIRE(mica_world_validate(fixture.world) == MICA_OK);
        was_lost |= result != MICA_OK;
        mica_snapshot fresh = mica_snapshot_take(fixture.world);
        uint64_t again = mica_world_hash(fixture.world);
        mica_create(fixture.world);
        REQUIRE(mica_snapshot_restore(fixture.world, fresh) == MICA_OK);
        REQUIRE(mica_world_hash(fixture.world) == again);
        fixture_close(&fixture);
    }
    REQUIRE(was_lost);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("memory_failure");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, without_memory_nothing_changes, 0, COUNT_OF(scenarios));
    tcase_add_test(cases, a_write_without_memory_succeeds_and_loses_snapshots);
    return test_run("memory_failure", cases);
}
