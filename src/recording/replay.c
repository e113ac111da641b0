/* Running a recording again, and comparing recordings. */
#include "recording/recording.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/frame.h"

static uint64_t word_of(const micap_diary_entry *record, uint32_t index)
{
    micap_reader reader = {record->bytes, record->bytes + (size_t)index * 8, record->bytes + record->byte_count, false};
    return micap_reader_take64(&reader);
}

void micap_replay_system(micap_diary *diary, const char *name, uint64_t name_hash)
{
    const micap_diary_entry *record =
        micap_diary_find(diary->replay, (uint32_t)diary->tick, MICAP_RECORD_SYSTEM, diary->system_index++);
    if (diary->system[0])
        return;
    if (!record || word_of(record, 0) != name_hash || word_of(record, 1) != mica_world_hash(diary->world))
        snprintf(diary->system, sizeof diary->system, "%s", name);
}

static void say(mica_difference *out, uint64_t tick, const char *system, const char *what)
{
    memset(out, 0, sizeof *out);
    out->tick = tick;
    snprintf(out->system, sizeof out->system, "%s", system);
    snprintf(out->component, sizeof out->component, "%s", what);
    micap_difference_say(out);
}

/* Where two trees differ, if both are there; else only that something does. */
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

static void explain(const micap_diary *diary, mica_difference *out)
{
    const mica_recording *recording = diary->replay;
    mica_record_detail detail = recording->info.detail;
    mica_hash_tree *then = NULL, *now = NULL;
    if (detail != MICA_RECORD_WORLD) {
        then = micap_recording_tree(recording, (uint32_t)diary->tick);
        now = mica_hash_tree_take(diary->world, detail == MICA_RECORD_SLICES ? MICA_HASH_SLICES : MICA_HASH_ROWS);
    }
    say_where(then, now, diary->tick, diary->system, out);
    mica_hash_tree_free(then);
    mica_hash_tree_free(now);
}

static bool feed(micap_diary *diary, uint32_t tick, mica_difference *out)
{
    uint32_t count = mica_recording_tick(diary->replay, tick).input_count;
    if (count && !diary->input) {
        say(out, tick, "", "there is input, which nobody handles: the world");
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        size_t byte_count;
        const void *bytes = mica_recording_input(diary->replay, tick, i, &byte_count);
        diary->input(diary->world, bytes, byte_count, diary->input_context);
    }
    return true;
}

static bool replay(micap_diary *diary, mica_difference *out)
{
    const mica_recording *recording = diary->replay;
    mica_world *world = diary->world;
    if (mica_world_hash(world) != recording->info.start_hash) {
        say(out, 0, "", "the world before the first frame");
        return false;
    }
    for (uint32_t tick = 1; tick <= recording->frame_count; ++tick) {
        mica_recorded_tick recorded = recording->frames[tick - 1].tick;
        diary->tick = tick;
        diary->system_index = 0;
        if (!feed(diary, tick, out))
            return false;
        mica_step(world, recorded.dt); /* an error that came then comes again; the hash tells when it does not */
        if (mica_world_hash(world) != recorded.hash || diary->system[0]) {
            explain(diary, out);
            return false;
        }
    }
    return true;
}

bool mica_replay(mica_world *world, const mica_recording *recording, mica_difference *out)
{
    mica_difference unheard;
    out = out ? out : &unheard;
    memset(out, 0, sizeof *out);
    micap_diary *diary = micap_record_refuse_inside(world, "replay") == MICA_OK ? micap_diary_of(world) : NULL;
    if (diary && (diary->file || diary->replay)) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "replay: a recording is under way");
        diary = NULL;
    }
    if (!diary)
        return false;
    diary->replay = recording;
    diary->system[0] = 0;
    micap_diary_listen(diary, recording->info.systems);
    bool same = replay(diary, out);
    diary->replay = NULL;
    diary->tick = 0;
    micap_diary_listen(diary, false);
    return same;
}

static bool same_record(const micap_diary_entry *a, const micap_diary_entry *b)
{
    return a && b ? a->byte_count == b->byte_count && memcmp(a->bytes, b->bytes, a->byte_count) == 0 : a == b;
}

static bool same_input(const mica_recording *a, const mica_recording *b, uint32_t tick)
{
    const micap_diary_entry *left, *right;
    uint32_t i = 0;
    do {
        left = micap_diary_find(a, tick, MICAP_RECORD_INPUT, i);
        right = micap_diary_find(b, tick, MICAP_RECORD_INPUT, i++);
        if (!same_record(left, right))
            return false;
    } while (left);
    return a->frames[tick - 1].tick.dt == b->frames[tick - 1].tick.dt;
}

/* The first system behind which the worlds differ, where both recordings know; "" when none. */
static const char *first_system(const mica_recording *a, const mica_recording *b, uint32_t tick)
{
    if (!a->info.systems || !b->info.systems)
        return "";
    for (uint32_t i = 0;; ++i) {
        const micap_diary_entry *left = micap_diary_find(a, tick, MICAP_RECORD_SYSTEM, i);
        const micap_diary_entry *right = micap_diary_find(b, tick, MICAP_RECORD_SYSTEM, i);
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
    bool has_trees = a->info.detail == b->info.detail && a->info.detail != MICA_RECORD_WORLD;
    mica_hash_tree *left = has_trees ? micap_recording_tree(a, tick) : NULL;
    mica_hash_tree *right = has_trees ? micap_recording_tree(b, tick) : NULL;
    say_where(left, right, tick, system, out);
    mica_hash_tree_free(left);
    mica_hash_tree_free(right);
}

bool mica_recording_diff(const mica_recording *a, const mica_recording *b, mica_difference *out)
{
    mica_difference unheard;
    out = out ? out : &unheard;
    memset(out, 0, sizeof *out);
    if (a->info.start_hash != b->info.start_hash)
        return say(out, 0, "", "the world before the first frame"), true;
    uint32_t common = a->frame_count < b->frame_count ? a->frame_count : b->frame_count;
    for (uint32_t tick = 1; tick <= common; ++tick) {
        if (!same_input(a, b, tick))
            return say(out, tick, "", "the input, or the time step"), true;
        const char *system = first_system(a, b, tick);
        if (*system || a->frames[tick - 1].tick.hash != b->frames[tick - 1].tick.hash)
            return explain_frames(a, b, tick, system, out), true;
    }
    if (a->frame_count != b->frame_count)
        return say(out, common + 1, "", "only one of them has this tick"), true;
    return false;
}
