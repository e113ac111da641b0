/* Recordings of worlds that go back: they replay, or end with a report and stay valid up to there. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/recorded.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/snapshot.h"

#include <string.h>

static void expect_replay(uint32_t ticks)
{
    mica_recording *recording = recorded_load(recorded_path);
    ck_assert_uint_eq(mica_recording_get_info(recording).tick_count, ticks);
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        mica_difference difference;
        ck_assert_msg(recorded_replay(recording, workers, &difference), "%s", difference.text);
    }
    mica_recording_free(recording);
}

static void step(mica_world *world, uint32_t tick)
{
    if (tick % 3 == 0)
        mica_input(world, &tick, sizeof tick);
    mica_step(world, tick % 2 ? 0.5f : 0.25f);
}

START_TEST(a_history_that_is_restored_replays)
{
    for (uint32_t form = 0; form < RECORDED_FORMS; ++form) {
        reports heard;
        mica_world *world = recorded_world(&heard, mica_world_def_default(), 2);
        mica_history *history = mica_history_create(world, 4);
        ck_assert_int_eq(mica_recording_begin(world, recorded_path, &recorded_forms[form]), MICA_OK);
        uint32_t ticks = 0;
        for (uint32_t tick = 1; tick <= 12; ++tick, ++ticks) {
            ck_assert_int_eq(mica_history_take(history, tick), MICA_OK);
            step(world, tick);
            if (ticks == 6 || ticks == 9) {
                ck_assert_int_eq(mica_history_restore(history, tick - 2), MICA_OK);
                tick -= 2;
            }
        }
        ck_assert_int_eq(mica_recording_end(world), MICA_OK);
        close_world(world, &heard);
        expect_replay(ticks);
    }
}
END_TEST

/* Undo and redo: earlier snapshots, later ones, and those of another line of history. */
START_TEST(snapshots_that_are_restored_in_any_order_replay)
{
    for (uint32_t seed = 1; seed <= 8; ++seed) {
        random_source random = {seed};
        reports heard;
        mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
        mica_snapshot snapshots[4] = {{0}};
        ck_assert_int_eq(
            mica_recording_begin(world, recorded_path, &(mica_recording_def){MICA_RECORDING_SLICES, false}), MICA_OK);
        for (uint32_t tick = 1; tick <= 30; ++tick) {
            for (uint32_t i = random_below(&random, 3); i; --i) {
                mica_snapshot *snapshot = &snapshots[random_below(&random, 4)];
                if (!snapshot->id)
                    *snapshot = mica_snapshot_take(world);
                else if (random_one_in(&random, 3))
                    mica_snapshot_drop(world, *snapshot), snapshot->id = 0;
                else
                    ck_assert_int_eq(mica_snapshot_restore(world, *snapshot), MICA_OK);
            }
            step(world, tick);
        }
        ck_assert_int_eq(mica_recording_end(world), MICA_OK);
        for (uint32_t i = 0; i < 4; ++i) /* after the end nothing is written */
            mica_snapshot_drop(world, snapshots[i]);
        close_world(world, &heard);
        expect_replay(30);
    }
}
END_TEST

START_TEST(a_snapshot_from_before_the_recording_ends_it_with_a_report)
{
    for (uint32_t kind = 0; kind < 3; ++kind) {
        reports heard;
        mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
        if (kind == 0)
            mica_input_handle(world, recorded_input, NULL); /* there is a recorder already */
        if (kind == 1) {                                    /* and it was part of another recording */
            mica_recording_begin(world, recorded_other_path, NULL);
            mica_step(world, 0.5f);
        }
        mica_snapshot before = mica_snapshot_take(world);
        if (kind == 1)
            ck_assert_int_eq(mica_recording_end(world), MICA_OK);
        ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_OK);
        uint32_t ticks = kind == 1 ? 0 : 3; /* also before the first tick */
        for (uint32_t tick = 1; tick <= ticks; ++tick)
            step(world, tick);
        ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
        expect_report(&heard, MICA_ERROR_REFUSED, "recording: the world restored a snapshot that is not part");
        step(world, 1);
        ck_assert_int_eq(mica_recording_end(world), MICA_ERROR_FILE);
        close_world(world, &heard);
        if (kind != 1)
            expect_replay(ticks);
        mica_recording *recording = recorded_load(recorded_path);
        ck_assert_uint_eq(mica_recording_get_info(recording).tick_count, ticks);
        mica_recording_free(recording);
    }
}
END_TEST

static mica_snapshot checkpoint;

/* "take" and "back": what a handler does is done by a replay too, which calls it. */
static void travel(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    (void)byte_count, (void)context;
    if (strcmp(bytes, "take") == 0)
        checkpoint = mica_snapshot_take(world);
    else
        REQUIRE(mica_snapshot_restore(world, checkpoint) == MICA_OK);
}

START_TEST(what_a_handler_of_input_restores_is_not_recorded_twice)
{
    for (uint32_t replays = 0; replays < 2; ++replays) {
        reports heard;
        mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
        mica_input_handle(world, travel, NULL);
        if (replays) {
            mica_recording *recording = recorded_load(recorded_path);
            mica_difference difference;
            ck_assert_msg(mica_replay(world, recording, &difference), "%s", difference.text);
            mica_recording_free(recording);
            close_world(world, &heard);
            continue;
        }
        ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_OK);
        mica_step(world, 0.5f);
        mica_input(world, "take", 5);
        mica_step(world, 0.5f);
        mica_step(world, 0.5f);
        mica_input(world, "back", 5);
        mica_step(world, 0.5f);
        mica_input(world, "back", 5);
        mica_step(world, 0.25f);
        ck_assert_int_eq(mica_recording_end(world), MICA_OK);
        close_world(world, &heard);
    }
}
END_TEST

static uint32_t system_frame, system_restores;

/* Takes a snapshot in its second frame, and restores one where it is asked to. */
static void travel_in_frame(const mica_frame *frame)
{
    ++system_frame;
    if (system_frame == 2)
        checkpoint = mica_snapshot_take(frame->world);
    if (system_frame == system_restores)
        REQUIRE(mica_snapshot_restore(frame->world, checkpoint) == MICA_OK);
}

static mica_world *world_with_traveller(reports *heard)
{
    mica_world *world = recorded_world(heard, mica_world_def_default(), 1);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(travel_in_frame, (.exclusive = true)));
    system_frame = 0;
    return world;
}

/* The system of the replay takes and restores them again. */
START_TEST(what_a_system_restores_is_not_recorded_twice)
{
    reports heard;
    mica_world *world = world_with_traveller(&heard);
    system_restores = 4;
    ck_assert_int_eq(mica_recording_begin(world, recorded_path, &(mica_recording_def){.systems = true}), MICA_OK);
    for (uint32_t tick = 1; tick <= 6; ++tick)
        step(world, tick);
    mica_snapshot_drop(world, checkpoint);
    step(world, 7);
    ck_assert_int_eq(mica_recording_end(world), MICA_OK);
    close_world(world, &heard);

    world = world_with_traveller(&heard);
    mica_recording *recording = recorded_load(recorded_path);
    mica_difference difference;
    ck_assert_msg(mica_replay(world, recording, &difference), "%s", difference.text);
    mica_recording_free(recording);
    close_world(world, &heard);
}
END_TEST

/* A replay has no handle for the one that restores to find. */
START_TEST(a_snapshot_between_frames_is_not_restored_by_a_system_nor_the_other_way_round)
{
    for (uint32_t by_system = 0; by_system < 2; ++by_system) {
        reports heard;
        mica_world *world = world_with_traveller(&heard);
        system_restores = by_system ? 4 : 0;
        ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_OK);
        for (uint32_t tick = 1; tick <= 3; ++tick)
            step(world, tick);
        mica_snapshot taken = checkpoint;
        if (by_system)
            checkpoint = mica_snapshot_take(world);
        else
            ck_assert_int_eq(mica_snapshot_restore(world, taken), MICA_OK);
        step(world, 4);
        expect_report(&heard, MICA_ERROR_REFUSED, "taken between frames, or the other way round");
        ck_assert_int_eq(mica_recording_end(world), MICA_ERROR_FILE);
        close_world(world, &heard);
        mica_recording *recording = recorded_load(recorded_path);
        ck_assert_uint_eq(mica_recording_get_info(recording).tick_count, 3);
        mica_recording_free(recording);
    }
}
END_TEST

static void make_with_restore(const char *to, bool restores)
{
    reports heard;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
    mica_recording_begin(world, to, NULL);
    mica_snapshot snapshot = mica_snapshot_take(world);
    mica_step(world, 0.5f);
    if (restores)
        mica_snapshot_restore(world, snapshot);
    mica_step(world, 0.5f);
    mica_recording_end(world);
    close_world(world, &heard);
}

START_TEST(recordings_tell_restores_apart)
{
    make_with_restore(recorded_path, true);
    make_with_restore(recorded_other_path, false);
    mica_recording *a = recorded_load(recorded_path), *b = recorded_load(recorded_other_path);
    mica_difference difference;
    ck_assert(mica_recording_diff(a, b, &difference));
    ck_assert_ptr_nonnull(strstr(difference.text, "tick 2: the input, a restored snapshot, or the time step"));
    ck_assert(!mica_recording_diff(a, a, NULL));
    mica_recording_free(a);
    mica_recording_free(b);
}
END_TEST

START_TEST(a_replay_without_memory_says_so)
{
    make_with_restore(recorded_path, true);
    mica_recording *recording = recorded_load(recorded_path);
    bool reached = true;
    uint64_t k = 1;
    for (; reached; ++k) {
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        mica_world *world = recorded_world(&heard, def, 1);
        faulty_allocator_fail_at(&faulty, k, false);
        bool same = mica_replay(world, recording, NULL);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(same || reached);
        forget_reports(&heard);
        expect_valid(world);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 4);
    mica_recording_free(recording);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("restore");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_checked_fixture(cases, recorded_begin, recorded_end);
    tcase_add_test(cases, a_history_that_is_restored_replays);
    tcase_add_test(cases, snapshots_that_are_restored_in_any_order_replay);
    tcase_add_test(cases, a_snapshot_from_before_the_recording_ends_it_with_a_report);
    tcase_add_test(cases, what_a_handler_of_input_restores_is_not_recorded_twice);
    tcase_add_test(cases, what_a_system_restores_is_not_recorded_twice);
    tcase_add_test(cases, a_snapshot_between_frames_is_not_restored_by_a_system_nor_the_other_way_round);
    tcase_add_test(cases, recordings_tell_restores_apart);
    tcase_add_test(cases, a_replay_without_memory_says_so);
    return test_run("recording_restore", cases);
}
