/* Running a recording again, and comparing recordings. */
#include "recording/replay.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/frame.h"
#include "snapshot/hash_diff.h"

static uint64_t word_of(const micap_run_record *record, uint32_t index)
{
    micap_reader reader = {record->bytes, record->bytes + (size_t)index * 8, record->bytes + record->byte_count, false};
    return micap_reader_take64(&reader);
}

static bool is_about_snapshot(const micap_run_record *record)
{
    return record->kind == MICAP_RECORD_SNAPSHOT || record->kind == MICAP_RECORD_RESTORE ||
           record->kind == MICAP_RECORD_DROP;
}

void micap_replay_system(micap_run_recorder *recorder, const char *name, uint64_t name_hash)
{
    const micap_run_record *record = micap_recording_find_record(recorder->replay, (uint32_t)recorder->tick,
                                                                 MICAP_RECORD_SYSTEM, recorder->system_index++);
    if (recorder->system[0])
        return;
    if (!record || word_of(record, 0) != name_hash || word_of(record, 1) != mica_world_hash(recorder->world))
        snprintf(recorder->system, sizeof recorder->system, "%s", name);
}

static void say(mica_difference *out, uint64_t tick, const char *system, const char *what)
{
    memset(out, 0, sizeof *out);
    out->tick = tick;
    snprintf(out->system, sizeof out->system, "%s", system);
    snprintf(out->component, sizeof out->component, "%s", what);
    micap_difference_say(out);
}

/* Describes where two trees differ; if one of them is missing, only that the worlds differ. */
static void say_where(const mica_hash_tree *a, const mica_hash_tree *b, uint64_t tick, const char *system,
                      mica_difference *out)
{
    if (!a || !b || !mica_hash_tree_diff(a, b, out)) {
        say(out, tick, system, "the world");
        return;
    }
    out->tick = tick;
    snprintf(out->system, sizeof out->system, "%s", system);
    micap_difference_say(out);
}

static void explain(const micap_run_recorder *recorder, mica_difference *out)
{
    const mica_recording *recording = recorder->replay;
    mica_recording_detail detail = recording->info.detail;
    mica_hash_tree *then = NULL, *now = NULL;
    if (detail != MICA_RECORDING_WORLD) {
        then = micap_recording_tree(recording, (uint32_t)recorder->tick);
        now = mica_hash_tree_take(recorder->world, detail == MICA_RECORDING_SLICES ? MICA_HASH_SLICES : MICA_HASH_ROWS);
    }
    say_where(then, now, recorder->tick, recorder->system, out);
    mica_hash_tree_free(then);
    mica_hash_tree_free(now);
}

static bool feed_input(micap_run_recorder *recorder, const micap_run_record *record, mica_difference *out)
{
    if (recorder->input)
        micap_run_recorder_input(recorder, record->bytes, record->byte_count);
    else
        say(out, recorder->tick, "", "there is input and no handler: the world");
    return recorder->input != NULL;
}

static bool repeat_snapshot(micap_run_recorder *recorder, const micap_run_record *record, mica_difference *out)
{
    mica_world *world = recorder->world;
    mica_snapshot *snapshot = &recorder->snapshots[micap_run_record_snapshot(record)];
    bool done = true;
    if (record->kind == MICAP_RECORD_SNAPSHOT) {
        *snapshot = mica_snapshot_take(world);
        done = snapshot->id != 0;
    } else if (record->kind == MICAP_RECORD_RESTORE) {
        done = mica_snapshot_restore(world, *snapshot) == MICA_OK;
    } else {
        mica_snapshot_drop(world, *snapshot);
        snapshot->id = 0;
    }
    if (!done)
        say(out, recorder->tick, "", "a snapshot could not be taken or restored again: the world");
    return done;
}

/* What the program did before a frame. */
static bool feed(micap_run_recorder *recorder, uint32_t tick, mica_difference *out)
{
    const micap_run_frame *frame = &recorder->replay->frames[tick - 1];
    bool fine = true;
    for (uint32_t i = 0; fine && i < frame->record_count; ++i) {
        const micap_run_record *record = &recorder->replay->records[frame->record + i];
        if (record->kind == MICAP_RECORD_INPUT)
            fine = feed_input(recorder, record, out);
        else if (is_about_snapshot(record))
            fine = repeat_snapshot(recorder, record, out);
    }
    return fine;
}

static bool replay(micap_run_recorder *recorder, mica_difference *out)
{
    const mica_recording *recording = recorder->replay;
    mica_world *world = recorder->world;
    if (mica_world_hash(world) != recording->info.start_hash) {
        say(out, 0, "", "the world before the first frame");
        return false;
    }
    for (uint32_t tick = 1; tick <= recording->frame_count; ++tick) {
        mica_recorded_tick recorded = recording->frames[tick - 1].tick;
        recorder->tick = tick;
        recorder->system_index = 0;
        if (!feed(recorder, tick, out))
            return false;
        mica_step(world, recorded.dt); /* an error that came then comes again; the hash tells when it does not */
        if (mica_world_hash(world) != recorded.hash || recorder->system[0]) {
            explain(recorder, out);
            return false;
        }
    }
    return true;
}

bool mica_replay(mica_world *world, const mica_recording *recording, mica_difference *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, recording))
        return false;
    mica_difference unheard;
    out = out ? out : &unheard;
    memset(out, 0, sizeof *out);
    micap_run_recorder *recorder =
        micap_run_recorder_refuse_inside(world, "replay") == MICA_OK ? micap_run_recorder_of(world) : NULL;
    if (recorder && (recorder->file || recorder->replay)) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "replay: a recording is in progress");
        recorder = NULL;
    }
    size_t snapshot_bytes = ((size_t)recording->snapshot_count + 1) * sizeof *recorder->snapshots;
    if (recorder &&
        !(recorder->snapshots = micap_allocate_zeroed(&world->memory, snapshot_bytes, MICAP_ARRAY_ALIGNMENT))) {
        micap_fail_memory(world, "replay");
        recorder = NULL;
    }
    if (!recorder)
        return false;
    recorder->replay = recording;
    recorder->system[0] = 0;
    micap_run_recorder_listen(recorder, recording->info.systems);
    bool same = replay(recorder, out);
    for (uint32_t i = 1; i <= recording->snapshot_count; ++i)
        mica_snapshot_drop(world, recorder->snapshots[i]);
    micap_release(&world->memory, recorder->snapshots, snapshot_bytes, MICAP_ARRAY_ALIGNMENT);
    recorder->snapshots = NULL;
    recorder->replay = NULL;
    recorder->tick = 0;
    micap_run_recorder_listen(recorder, false);
    return same;
}

static bool same_record(const micap_run_record *a, const micap_run_record *b)
{
    return a && b ? a->byte_count == b->byte_count && memcmp(a->bytes, b->bytes, a->byte_count) == 0 : a == b;
}

/* The next record of a frame that says what the program did before it, from `at` on; NULL after the last. */
static const micap_run_record *next_done(const mica_recording *recording, uint32_t tick, uint32_t *at)
{
    const micap_run_frame *frame = &recording->frames[tick - 1];
    while (*at < frame->record_count) {
        const micap_run_record *record = &recording->records[frame->record + (*at)++];
        if (record->kind == MICAP_RECORD_INPUT || is_about_snapshot(record))
            return record;
    }
    return NULL;
}

static bool same_input(const mica_recording *a, const mica_recording *b, uint32_t tick)
{
    const micap_run_record *left, *right;
    uint32_t left_at = 0, right_at = 0;
    do {
        left = next_done(a, tick, &left_at);
        right = next_done(b, tick, &right_at);
        if (!same_record(left, right) || (left && left->kind != right->kind))
            return false;
    } while (left);
    return a->frames[tick - 1].tick.dt == b->frames[tick - 1].tick.dt;
}

/* The first system after which the worlds differ, if both recordings have hashes of systems; "" if there is none. */
static const char *first_system(const mica_recording *a, const mica_recording *b, uint32_t tick)
{
    if (!a->info.systems || !b->info.systems)
        return "";
    for (uint32_t i = 0;; ++i) {
        const micap_run_record *left = micap_recording_find_record(a, tick, MICAP_RECORD_SYSTEM, i);
        const micap_run_record *right = micap_recording_find_record(b, tick, MICAP_RECORD_SYSTEM, i);
        const char *name = left ? micap_hash_tree_name(a->names, word_of(left, 0)) : NULL;
        if (!same_record(left, right))
            return name ? name : "?";
        if (!left)
            return "";
    }
}

static void explain_frames(const mica_recording *a, const mica_recording *b, uint32_t tick, const char *system,
                           mica_difference *out)
{
    bool has_trees = a->info.detail == b->info.detail && a->info.detail != MICA_RECORDING_WORLD;
    mica_hash_tree *left = has_trees ? micap_recording_tree(a, tick) : NULL;
    mica_hash_tree *right = has_trees ? micap_recording_tree(b, tick) : NULL;
    say_where(left, right, tick, system, out);
    mica_hash_tree_free(left);
    mica_hash_tree_free(right);
}

bool mica_recording_diff(const mica_recording *a, const mica_recording *b, mica_difference *out)
{
    if (MICAP_MISSING(NULL, a) || MICAP_MISSING(NULL, b))
        return false;
    mica_difference unheard;
    out = out ? out : &unheard;
    memset(out, 0, sizeof *out);
    if (a->info.start_hash != b->info.start_hash)
        return say(out, 0, "", "the world before the first frame"), true;
    uint32_t common = a->frame_count < b->frame_count ? a->frame_count : b->frame_count;
    for (uint32_t tick = 1; tick <= common; ++tick) {
        if (!same_input(a, b, tick))
            return say(out, tick, "", "the input, a restored snapshot, or the time step"), true;
        const char *system = first_system(a, b, tick);
        if (*system || a->frames[tick - 1].tick.hash != b->frames[tick - 1].tick.hash)
            return explain_frames(a, b, tick, system, out), true;
    }
    if (a->frame_count != b->frame_count)
        return say(out, common + 1, "", "only one of them has this tick"), true;
    return false;
}
