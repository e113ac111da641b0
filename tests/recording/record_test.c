/* Recordings: written, replayed and compared. */
#define _POSIX_C_SOURCE 200809L
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/recorded.h"
#include "../support/require.h"
#include "../support/test.h"
#include "recording/run_recorder.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

START_TEST(a_recording_replays_for_any_number_of_workers)
{
    for (uint32_t i = 0; i < RECORDED_FORMS; ++i) {
        recorded_make(recorded_path, recorded_forms[i]);
        mica_recording *recording = recorded_load(recorded_path);
        mica_recording_info info = mica_recording_get_info(recording);
        ck_assert_uint_eq(info.tick_count, RECORDED_TICKS);
        ck_assert(info.detail == recorded_forms[i].detail && info.systems == recorded_forms[i].systems && !info.is_cut);
        ck_assert_uint_eq(mica_recording_tick(recording, 3).input_count, 2);
        ck_assert_uint_eq(mica_recording_tick(recording, 4).input_count, 0);
        ck_assert(mica_recording_tick(recording, 4).dt == 0.25f);
        ck_assert(mica_recording_tick(recording, RECORDED_TICKS + 1).hash == 0);
        size_t byte_count;
        ck_assert_ptr_nonnull(mica_recording_input(recording, 6, 1, &byte_count));
        ck_assert_uint_eq(byte_count, sizeof(uint32_t));
        ck_assert_ptr_null(mica_recording_input(recording, 6, 2, &byte_count));
        static const uint32_t workers[] = {1, 2, 3};
        for (uint32_t j = 0; j < COUNT_OF(workers); ++j) {
            mica_difference difference;
            ck_assert_msg(recorded_replay(recording, workers[j], &difference), "form %u: %s", i, difference.text);
        }
        mica_recording_free(recording);
    }
}
END_TEST

START_TEST(the_first_tick_system_component_and_entity_that_differ_are_named)
{
    for (uint32_t i = 0; i < RECORDED_FORMS; ++i) {
        recorded_stray_tick = 0;
        recorded_make(recorded_path, recorded_forms[i]);
        mica_recording *recording = recorded_load(recorded_path);
        recorded_stray_tick = RECORDED_STRAY_TICK;
        mica_difference difference;
        ck_assert(!recorded_replay(recording, 2, &difference));
        recorded_make(recorded_other_path, recorded_forms[i]);
        mica_recording *other = recorded_load(recorded_other_path);
        mica_difference between;
        ck_assert(mica_recording_diff(recording, other, &between));
        ck_assert(!mica_recording_diff(recording, recording, NULL));
        ck_assert_str_eq(between.text, difference.text);
        ck_assert_uint_eq(difference.tick, RECORDED_STRAY_TICK);
        ck_assert_str_eq(difference.system, recorded_forms[i].systems ? "age" : "");
        if (recorded_forms[i].detail != MICA_RECORDING_WORLD)
            ck_assert_str_eq(difference.component, "Velocity");
        ck_assert(mica_is_nil(difference.entity) == (recorded_forms[i].detail != MICA_RECORDING_ENTITIES));
        ck_assert_msg(strstr(difference.text, "tick 7: "), "%s", difference.text);
        mica_recording_free(recording);
        mica_recording_free(other);
    }
    recorded_stray_tick = 0;
}
END_TEST

START_TEST(other_beginnings_and_other_input_are_told_apart)
{
    recorded_make(recorded_path, (mica_recording_def){0});
    mica_recording *recording = recorded_load(recorded_path);
    reports heard;
    mica_difference difference;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
    mica_create(world);
    ck_assert(!mica_replay(world, recording, &difference));
    ck_assert_ptr_nonnull(strstr(difference.text, "before the first frame"));
    close_world(world, &heard);

    world = recorded_world(&heard, mica_world_def_default(), 1);
    mica_input_handle(world, NULL, NULL);
    ck_assert(!mica_replay(world, recording, &difference));
    ck_assert_ptr_nonnull(strstr(difference.text, "tick 3: there is input"));
    close_world(world, &heard);

    world = recorded_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_recording_begin(world, recorded_other_path, NULL), MICA_OK);
    mica_step(world, 0.5f);
    mica_step(world, 0.5f); /* it was 0.25 */
    ck_assert_int_eq(mica_recording_end(world), MICA_OK);
    close_world(world, &heard);
    mica_recording *other = recorded_load(recorded_other_path);
    ck_assert(mica_recording_diff(recording, other, &difference));
    ck_assert_ptr_nonnull(strstr(difference.text, "tick 2: the input, a restored snapshot, or the time step"));
    mica_recording_free(recording);
    mica_recording_free(other);
}
END_TEST

START_TEST(misuse_is_refused)
{
    reports heard;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_recording_end(world), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "there is no recording");
    ck_assert_int_eq(mica_recording_begin(world, "/nowhere/x", NULL), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "/nowhere/x: No such file");
    ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_OK);
    ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "in progress");
    mica_recording *recording = recorded_load(recorded_path);
    ck_assert(!mica_replay(world, recording, NULL));
    expect_report(&heard, MICA_ERROR_REFUSED, "replay: a recording is in progress");
    ck_assert_int_eq(mica_input(world, "x", (size_t)MICA_INPUT_BYTES_MAX + 1), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "input: 16777217 bytes are more than 16777216");
    mica_input_handle(world, NULL, NULL);
    ck_assert_int_eq(mica_input(world, "x", 1), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "there is no handler");
    close_world(world, &heard); /* ends the recording */
    mica_recording_free(recording);
    mica_recording_free(recorded_load(recorded_path));
    world = open_world(&heard); /* which knows nothing of recordings */
    ck_assert_int_eq(mica_input(world, "x", 1), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "there is no handler");
    ck_assert_int_eq(mica_recording_end(world), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "there is no recording");
    close_world(world, &heard);
}
END_TEST

static const mica_recording *nothing; /* of a world without frames */
static mica_result handle(mica_world *world)
{
    return mica_input_handle(world, recorded_input, NULL);
}
static mica_result give_input(mica_world *world)
{
    return mica_input(world, "x", 1);
}
static mica_result begin(mica_world *world)
{
    return mica_recording_begin(world, recorded_other_path, NULL);
}
static mica_result run_again(mica_world *world)
{
    return mica_replay(world, nothing, NULL) ? MICA_OK : MICA_ERROR_REFUSED;
}

static const struct {
    mica_result (*call)(mica_world *world);
    const char *words;
} doors[] = {{handle, "input: refused"},
             {give_input, "input: refused"},
             {begin, "recording: refused"},
             {mica_recording_end, "recording: refused"},
             {run_again, "replay: refused"}};

static void try_doors(const mica_frame *frame)
{
    for (uint32_t i = 0; i < COUNT_OF(doors); ++i)
        ck_assert_int_eq(doors[i].call(frame->world), MICA_ERROR_REFUSED);
}

static void expect_closed_doors(reports *heard)
{
    for (uint32_t i = 0; i < COUNT_OF(doors); ++i)
        expect_report(heard, MICA_ERROR_REFUSED, doors[i].words);
}

START_TEST(inside_a_frame_and_while_changes_are_recorded_all_is_refused)
{
    reports heard;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_OK);
    mica_recording *recording = recorded_load(recorded_path);
    nothing = recording;
    mica_defer(world);
    try_doors(&(mica_frame){.world = world});
    expect_closed_doors(&heard);
    mica_flush(world);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(try_doors, (.exclusive = true)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect_closed_doors(&heard);
    ck_assert_int_eq(mica_recording_end(world), MICA_OK);
    mica_recording_free(recording);
    close_world(world, &heard);
}
END_TEST

static mica_result begun;
static void begin_recording(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    (void)bytes, (void)byte_count, (void)context;
    begun = mica_recording_begin(world, recorded_other_path, NULL);
}

START_TEST(input_of_no_bytes_is_input_and_a_replay_is_not_recorded)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_input_handle(world, begin_recording, NULL);
    ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_OK);
    ck_assert_int_eq(mica_input(world, NULL, 0), MICA_OK);
    expect_report(&heard, MICA_ERROR_REFUSED, "in progress");
    mica_step(world, 1);
    ck_assert_int_eq(mica_recording_end(world), MICA_OK);
    ck_assert_int_eq(mica_input(world, NULL, 0), MICA_OK); /* and it is not recorded */
    ck_assert_int_eq(begun, MICA_OK);
    ck_assert_int_eq(mica_recording_end(world), MICA_OK);
    close_world(world, &heard);

    world = open_world(&heard);
    mica_input_handle(world, begin_recording, NULL);
    mica_recording *recording = recorded_load(recorded_path);
    ck_assert_uint_eq(mica_recording_tick(recording, 1).input_count, 1);
    ck_assert(mica_replay(world, recording, NULL));
    ck_assert_int_eq(begun, MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "in progress");
    mica_recording_free(recording);
    close_world(world, &heard);
}
END_TEST

static void newcomer(mica_view *view)
{
    (void)view;
}

START_TEST(systems_that_come_or_are_others_are_named)
{
    recorded_make(recorded_path, (mica_recording_def){MICA_RECORDING_WORLD, true});
    mica_recording *recording = recorded_load(recorded_path);
    for (uint32_t other = 0; other < 2; ++other) {
        reports heard;
        mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
        if (other)
            ck_assert(mica_system_remove(world, mica_system_find(world, "rest")));
        mica_system_add(world, MICA_SYSTEM(newcomer, MICA_READ(Number)));
        mica_difference difference;
        ck_assert(!mica_replay(world, recording, &difference)); /* though the world is the same */
        ck_assert_str_eq(difference.text, "tick 1: first after system newcomer: the world");
        close_world(world, &heard);
    }
    mica_recording_free(recording);
}
END_TEST

START_TEST(a_full_disk_ends_the_recording_with_a_report)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    reports heard;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_recording_begin(world, "/dev/full", NULL), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "No space left");
    close_world(world, &heard);
}
END_TEST

/* The file can't grow beyond its first frame: small ones fail when they are flushed, large ones when they are written. */
START_TEST(a_file_that_can_not_grow_ends_the_recording_and_not_the_run)
{
    signal(SIGXFSZ, SIG_IGN);
    for (uint32_t i = 0; i < RECORDED_FORMS; ++i) {
        reports heard;
        mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
        ck_assert_int_eq(mica_recording_begin(world, recorded_path, &recorded_forms[i]), MICA_OK);
        ck_assert_int_eq(mica_step(world, 0.5f), MICA_OK);
        mica_recording *recording = recorded_load(recorded_path);
        struct rlimit limit, before;
        getrlimit(RLIMIT_FSIZE, &before);
        limit = before;
        limit.rlim_cur = mica_recording_get_info(recording).byte_count + 1;
        setrlimit(RLIMIT_FSIZE, &limit);
        ck_assert_int_eq(mica_step(world, 0.5f), MICA_OK);
        setrlimit(RLIMIT_FSIZE, &before);
        expect_report(&heard, MICA_ERROR_FILE, "File too large: the recording ends at tick 2");
        ck_assert_int_eq(mica_step(world, 0.5f), MICA_OK);
        ck_assert_int_eq(mica_recording_end(world), MICA_ERROR_FILE);
        mica_recording_free(recording);
        recording = recorded_load(recorded_path);
        ck_assert_uint_eq(mica_recording_get_info(recording).tick_count, 1);
        ck_assert(mica_recording_get_info(recording).is_cut);
        mica_recording_free(recording);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_file_that_can_not_be_closed_is_reported)
{
    reports heard;
    mica_world *world = recorded_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_recording_begin(world, recorded_path, NULL), MICA_OK);
    close(fileno(micap_run_recorder_of(world)->file));
    ck_assert_int_eq(mica_recording_end(world), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "recording: Bad file descriptor");
    close_world(world, &heard);
}
END_TEST

/* Of the first call, which makes what watches the frames. */
START_TEST(without_memory_there_is_no_recording)
{
    faulty_allocator faulty;
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        mica_world *world = open_world_with(&heard, def);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result =
            k % 2 ? mica_recording_begin(world, recorded_path, NULL) : mica_input_handle(world, recorded_input, NULL);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(result == (reached ? MICA_ERROR_MEMORY : MICA_OK));
        REQUIRE((forget_reports(&heard) > 0) == reached);
        REQUIRE(!reached || mica_recording_begin(world, recorded_path, NULL) == MICA_OK);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 2);
}
END_TEST

START_TEST(memory_that_runs_out_ends_the_recording_and_not_the_run)
{
    faulty_allocator faulty;
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        mica_world *world = recorded_world(&heard, def, 1);
        mica_step(world, 0.5f);
        mica_step(world, 0.5f);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result =
            mica_recording_begin(world, recorded_path, &(mica_recording_def){MICA_RECORDING_SLICES, true});
        if (result == MICA_OK)
            mica_step(world, 0.5f);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        if (result == MICA_OK)
            mica_recording_end(world);
        mica_step(world, 0.5f);
        REQUIRE((forget_reports(&heard) > 0) == reached);
        mica_recording_free(recorded_load(recorded_path));
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 5);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("record");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_checked_fixture(cases, recorded_begin, recorded_end);
    tcase_add_test(cases, a_recording_replays_for_any_number_of_workers);
    tcase_add_test(cases, the_first_tick_system_component_and_entity_that_differ_are_named);
    tcase_add_test(cases, other_beginnings_and_other_input_are_told_apart);
    tcase_add_test(cases, misuse_is_refused);
    tcase_add_test(cases, inside_a_frame_and_while_changes_are_recorded_all_is_refused);
    tcase_add_test(cases, input_of_no_bytes_is_input_and_a_replay_is_not_recorded);
    tcase_add_test(cases, systems_that_come_or_are_others_are_named);
    tcase_add_test(cases, a_full_disk_ends_the_recording_with_a_report);
    tcase_add_test(cases, a_file_that_can_not_grow_ends_the_recording_and_not_the_run);
    tcase_add_test(cases, a_file_that_can_not_be_closed_is_reported);
    tcase_add_test(cases, without_memory_there_is_no_recording);
    tcase_add_test(cases, memory_that_runs_out_ends_the_recording_and_not_the_run);
    return test_run("record", cases);
}
