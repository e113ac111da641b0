/* Recordings: written, replayed, compared, cut off and forged. */
#define _POSIX_C_SOURCE 200809L
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/flow.h"
#include "mica/record.h"
#include "base/hash.h"
#include "snapshot/record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TICKS = 12, THINGS = 700, STRAY_TICK = 7, STRAY_NUMBER = 600 };

static const char *path = "/tmp/mica_record_test.rec";
static const char *other_path = "/tmp/mica_record_test_other.rec";
static uint32_t stray_tick; /* in which a system does what it did not do before; 0: never */

static void move(mica_view *view)
{
    Position *position = mica_write(view, Position);
    const Velocity *velocity = mica_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i)
        position[i].x += velocity[i].x * view->dt;
}

static void age(mica_view *view)
{
    Number *number = mica_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        if (stray_tick && view->frame->tick + 1 == stray_tick && number[i].value == STRAY_NUMBER)
            mica_write(view, Velocity)[i].y = 1;
        if (number[i].value % 97 == view->frame->tick)
            mica_destroy(view->world, view->entities[i]);
    }
}

static void take_input(mica_world *world, const void *bytes, size_t byte_count, void *context)
{
    (void)context;
    uint32_t count;
    ck_assert_uint_eq(byte_count, sizeof count);
    memcpy(&count, bytes, sizeof count);
    for (uint32_t i = 0; i < count; ++i)
        mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity, {1, 0, 0}), MICA_WITH(Number, {i}));
}

static mica_world *make_world(reports *heard, mica_world_def def, uint32_t workers)
{
    mica_world *world = open_world_with(heard, def);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    mica_flow_configure(world, &flow);
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_system_add(world, MICA_SYSTEM(age, MICA_WRITE(Number), MICA_WRITE(Velocity)));
    for (uint32_t i = 0; i < THINGS; ++i)
        mica_create(world, MICA_WITH(Position, {0}), MICA_WITH(Velocity, {(float)i, 0, 0}), MICA_WITH(Number, {i}));
    ck_assert_int_eq(mica_input_handle(world, take_input, NULL), MICA_OK);
    return world;
}

static void run(mica_world *world)
{
    for (uint32_t tick = 1; tick <= TICKS; ++tick) {
        for (uint32_t count = 1; tick % 3 == 0 && count < 3; ++count)
            ck_assert_int_eq(mica_input(world, &count, sizeof count), MICA_OK);
        ck_assert_int_eq(mica_step(world, tick % 2 ? 0.5f : 0.25f), MICA_OK);
    }
}

static void record(const char *to, mica_record_def def)
{
    reports heard;
    mica_world *world = make_world(&heard, mica_world_def_default(), 2);
    ck_assert_int_eq(mica_record_begin(world, to, &def), MICA_OK);
    run(world);
    ck_assert_int_eq(mica_record_end(world), MICA_OK);
    close_world(world, &heard);
}

static mica_recording *load(const char *from)
{
    mica_recording_error error = {0};
    mica_recording *recording = mica_recording_load(from, &error);
    ck_assert_msg(recording != NULL, "%s", error.text);
    return recording;
}

static bool replay(const mica_recording *recording, uint32_t workers, mica_difference *out)
{
    reports heard;
    mica_world *world = make_world(&heard, mica_world_def_default(), workers);
    bool same = mica_replay(world, recording, out);
    close_world(world, &heard);
    return same;
}

static const mica_record_def forms[] = {
    {MICA_RECORD_WORLD, false},    {MICA_RECORD_WORLD, true},     {MICA_RECORD_SLICES, false},
    {MICA_RECORD_SLICES, true},    {MICA_RECORD_ENTITIES, false}, {MICA_RECORD_ENTITIES, true},
};

START_TEST(a_recording_replays_for_any_number_of_workers)
{
    for (uint32_t i = 0; i < COUNT_OF(forms); ++i) {
        record(path, forms[i]);
        mica_recording *recording = load(path);
        mica_recording_info info = mica_recording_get_info(recording);
        ck_assert_uint_eq(info.tick_count, TICKS);
        ck_assert(info.detail == forms[i].detail && info.systems == forms[i].systems && !info.is_cut);
        ck_assert_uint_eq(mica_recording_tick(recording, 3).input_count, 2);
        ck_assert_uint_eq(mica_recording_tick(recording, 4).input_count, 0);
        ck_assert(mica_recording_tick(recording, 4).dt == 0.25f);
        ck_assert(mica_recording_tick(recording, TICKS + 1).hash == 0);
        size_t byte_count;
        ck_assert_ptr_nonnull(mica_recording_input(recording, 6, 1, &byte_count));
        ck_assert_uint_eq(byte_count, sizeof(uint32_t));
        ck_assert_ptr_null(mica_recording_input(recording, 6, 2, &byte_count));
        static const uint32_t workers[] = {1, 2, 3};
        for (uint32_t j = 0; j < COUNT_OF(workers); ++j) {
            mica_difference difference;
            ck_assert_msg(replay(recording, workers[j], &difference), "form %u: %s", i, difference.text);
        }
        mica_recording_free(recording);
    }
}
END_TEST

START_TEST(the_first_tick_system_component_and_entity_that_differ_are_named)
{
    for (uint32_t i = 0; i < COUNT_OF(forms); ++i) {
        stray_tick = 0;
        record(path, forms[i]);
        mica_recording *recording = load(path);
        stray_tick = STRAY_TICK;
        mica_difference difference;
        ck_assert(!replay(recording, 2, &difference));
        record(other_path, forms[i]);
        mica_recording *other = load(other_path);
        mica_difference between;
        ck_assert(mica_recording_diff(recording, other, &between));
        ck_assert(!mica_recording_diff(recording, recording, NULL));
        ck_assert_str_eq(between.text, difference.text);
        ck_assert_uint_eq(difference.tick, STRAY_TICK);
        ck_assert_str_eq(difference.system, forms[i].systems ? "age" : "");
        if (forms[i].detail != MICA_RECORD_WORLD)
            ck_assert_str_eq(difference.component, "Velocity");
        ck_assert(mica_is_nil(difference.entity) == (forms[i].detail != MICA_RECORD_ENTITIES));
        ck_assert_msg(strstr(difference.text, "tick 7: "), "%s", difference.text);
        mica_recording_free(recording);
        mica_recording_free(other);
    }
    stray_tick = 0;
}
END_TEST

START_TEST(other_beginnings_and_other_input_are_told_apart)
{
    record(path, (mica_record_def){0});
    mica_recording *recording = load(path);
    reports heard;
    mica_difference difference;
    mica_world *world = make_world(&heard, mica_world_def_default(), 1);
    mica_create(world);
    ck_assert(!mica_replay(world, recording, &difference));
    ck_assert_ptr_nonnull(strstr(difference.text, "before the first frame"));
    close_world(world, &heard);

    world = make_world(&heard, mica_world_def_default(), 1);
    mica_input_handle(world, NULL, NULL);
    ck_assert(!mica_replay(world, recording, &difference));
    ck_assert_ptr_nonnull(strstr(difference.text, "tick 3: there is input"));
    close_world(world, &heard);

    world = make_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_record_begin(world, other_path, NULL), MICA_OK);
    mica_step(world, 0.5f);
    mica_step(world, 0.5f); /* it was 0.25 */
    ck_assert_int_eq(mica_record_end(world), MICA_OK);
    close_world(world, &heard);
    mica_recording *other = load(other_path);
    ck_assert(mica_recording_diff(recording, other, &difference));
    ck_assert_ptr_nonnull(strstr(difference.text, "tick 2: the input, or the time step"));
    mica_recording_free(recording);
    mica_recording_free(other);
}
END_TEST

START_TEST(misuse_is_refused)
{
    reports heard;
    mica_world *world = make_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_record_end(world), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "there is no recording");
    ck_assert_int_eq(mica_record_begin(world, "/nowhere/x", NULL), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "/nowhere/x: No such file");
    ck_assert_int_eq(mica_record_begin(world, path, NULL), MICA_OK);
    ck_assert_int_eq(mica_record_begin(world, path, NULL), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "under way");
    mica_input_handle(world, NULL, NULL);
    ck_assert_int_eq(mica_input(world, "x", 1), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "nobody handles it");
    mica_defer(world);
    ck_assert_int_eq(mica_input(world, "x", 1), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "input: refused");
    mica_flush(world);
    close_world(world, &heard); /* ends the recording */
    mica_recording_free(load(path));
}
END_TEST

START_TEST(a_full_disk_ends_the_recording_with_a_report)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    reports heard;
    mica_world *world = make_world(&heard, mica_world_def_default(), 1);
    ck_assert_int_eq(mica_record_begin(world, "/dev/full", NULL), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "No space left");
    close_world(world, &heard);
}
END_TEST

static char *read_file(const char *from, size_t *out_count)
{
    FILE *file = fopen(from, "rb");
    REQUIRE(file);
    fseek(file, 0, SEEK_END);
    *out_count = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*out_count);
    REQUIRE(bytes && fread(bytes, 1, *out_count, file) == *out_count);
    fclose(file);
    return bytes;
}

START_TEST(a_recording_that_was_cut_off_has_the_frames_before)
{
    record(path, (mica_record_def){MICA_RECORD_SLICES, true});
    size_t byte_count;
    char *bytes = read_file(path, &byte_count);
    uint32_t most = 0;
    for (size_t length = 0; length <= byte_count; length += length < 60 ? 1 : 37) {
        mica_recording_error error = {0};
        mica_recording *recording = mica_recording_open(bytes, length, &error);
        REQUIRE((recording != NULL) == (length >= 48));
        if (!recording) {
            REQUIRE(error.result == MICA_ERROR_DATA && error.text[0]);
            continue;
        }
        mica_recording_info info = mica_recording_get_info(recording);
        REQUIRE(info.tick_count >= most && info.tick_count <= TICKS);
        most = info.tick_count;
        mica_difference difference;
        REQUIRE_SAYING(length % 11 || replay(recording, 1, &difference), "%s", difference.text);
        mica_recording_free(recording);
    }
    free(bytes);
}
END_TEST

START_TEST(any_changed_byte_is_noticed)
{
    record(path, (mica_record_def){MICA_RECORD_SLICES, true});
    size_t byte_count;
    char *bytes = read_file(path, &byte_count);
    for (size_t at = 0; at < byte_count; at += at < 400 ? 1 : 23) {
        bytes[at] ^= 0x40;
        mica_recording_error error = {0};
        mica_recording *recording = mica_recording_open(bytes, byte_count, &error);
        /* A size that reaches beyond the end looks as if the file was cut off. */
        REQUIRE_SAYING(!recording || mica_recording_get_info(recording).is_cut, "byte %zu", at);
        mica_recording_free(recording);
        bytes[at] ^= 0x40;
    }
    free(bytes);
}
END_TEST

/* Makes the checksums right again, as far as sizes lead. */
static void reseal(char *bytes, size_t byte_count)
{
    for (size_t at = MICAP_RECORD_HEADER_BYTES; at + MICAP_RECORD_HEAD_BYTES <= byte_count;) {
        uint32_t words[2];
        memcpy(words, bytes + at, sizeof words);
        uint32_t count = micap_little32(words[1]);
        if (count > byte_count - at - MICAP_RECORD_HEAD_BYTES)
            return;
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        micap_hasher_bytes(&hasher, bytes + at, sizeof words);
        micap_hasher_bytes(&hasher, bytes + at + MICAP_RECORD_HEAD_BYTES, count);
        uint64_t check = micap_little64(micap_hasher_finish(&hasher));
        memcpy(bytes + at + sizeof words, &check, sizeof check);
        at += MICAP_RECORD_HEAD_BYTES + count;
    }
}

START_TEST(forged_recordings_are_refused_or_differ)
{
    record(path, (mica_record_def){MICA_RECORD_SLICES, true});
    size_t byte_count;
    char *sound = read_file(path, &byte_count), *bytes = malloc(byte_count);
    mica_recording *original = load(path);
    random_source random = {11};
    uint32_t refused = 0, different = 0;
    for (uint32_t i = 0; i < 3000; ++i) {
        memcpy(bytes, sound, byte_count);
        for (uint32_t edits = 1 + random_below(&random, 3); edits; --edits) {
            size_t at =
                MICAP_RECORD_HEADER_BYTES + random_below(&random, (uint32_t)byte_count - MICAP_RECORD_HEADER_BYTES);
            bytes[at] = (char)(random_one_in(&random, 2) ? 0xFF : random_u32(&random));
        }
        reseal(bytes, byte_count);
        mica_recording_error error = {0};
        mica_recording *recording = mica_recording_open(bytes, byte_count, &error);
        REQUIRE(recording || (error.result == MICA_ERROR_DATA && error.text[0]));
        mica_difference difference;
        refused += !recording;
        if (recording)
            different += mica_recording_diff(original, recording, &difference);
        for (uint32_t tick = 0; recording && tick <= TICKS + 1; ++tick) {
            size_t input_bytes;
            mica_recording_input(recording, tick, 1, &input_bytes);
            REQUIRE(input_bytes <= byte_count);
        }
        mica_recording_free(recording);
    }
    ck_assert_uint_gt(refused, 0);
    ck_assert_uint_gt(different, 0);
    mica_recording_free(original);
    free(bytes);
    free(sound);
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
        mica_world *world = make_world(&heard, def, 1);
        mica_step(world, 0.5f);
        mica_step(world, 0.5f);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_record_begin(world, path, &(mica_record_def){MICA_RECORD_SLICES, true});
        if (result == MICA_OK)
            mica_step(world, 0.5f);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        if (result == MICA_OK)
            mica_record_end(world);
        mica_step(world, 0.5f);
        REQUIRE((forget_reports(&heard) > 0) == reached);
        mica_recording_free(load(path));
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 5);
}
END_TEST

TEST_SUITE(record, a_recording_replays_for_any_number_of_workers,
           the_first_tick_system_component_and_entity_that_differ_are_named,
           other_beginnings_and_other_input_are_told_apart, misuse_is_refused,
           a_full_disk_ends_the_recording_with_a_report, a_recording_that_was_cut_off_has_the_frames_before,
           any_changed_byte_is_noticed, forged_recordings_are_refused_or_differ,
           memory_that_runs_out_ends_the_recording_and_not_the_run)
