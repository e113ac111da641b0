/* Going back: snapshots in any order, histories, clones, trees of hashes. Recordings, which a restore must not spoil. */
#include "program.h"

#include "mica/hash.h"

#include <unistd.h>

/* A replica can't follow from a snapshot that is older than its last delta: see mica/delta.h. */
static void went_back(program *program, scene *scene, uint64_t hash, uint32_t delta_count, uint32_t stream_age)
{
    if (delta_count != scene->delta_count) {
        mica_replica_destroy(scene->replica);
        scene->replica = NULL;
    }
    if (stream_age == scene->stream_age)
        EXPECT(program, mica_world_hash(scene->world) == hash, "a restored world has another hash");
}

/* One that there is, or none when there is none. */
static kept_snapshot *take_snapshot(program *program, scene *scene)
{
    uint32_t first = take(program);
    for (uint32_t i = 0; i < SNAPSHOTS; ++i)
        if (scene->snapshots[(first + i) % SNAPSHOTS].snapshot.id)
            return &scene->snapshots[(first + i) % SNAPSHOTS];
    return &scene->snapshots[first % SNAPSHOTS];
}

static void snapshot_take(program *program, scene *scene)
{
    kept_snapshot *kept = &scene->snapshots[take_below(program, SNAPSHOTS)];
    if (program->depth == 0 && kept->snapshot.id)
        mica_snapshot_drop(scene->world, kept->snapshot);
    uint64_t hash = program->depth == 0 ? mica_world_hash(scene->world) : 0;
    mica_snapshot snapshot = mica_snapshot_take(scene->world);
    if (program->depth == 0)
        *kept = (kept_snapshot){snapshot, hash, scene->delta_count, scene->stream_age};
    else
        mica_snapshot_drop(scene->world, snapshot);
}

static void snapshot_restore(program *program, scene *scene)
{
    const kept_snapshot *kept = take_snapshot(program, scene);
    mica_result result = mica_snapshot_restore(scene->world, kept->snapshot);
    scene->went_back = true;
    EXPECT(program, kept->snapshot.id == 0 || result != MICA_ERROR_UNKNOWN,
           "a snapshot that was not dropped is unknown");
    EXPECT(program, result != MICA_ERROR_MEMORY || program->used_faults, "a snapshot is lost though memory was plenty");
    if (result == MICA_OK)
        went_back(program, scene, kept->hash, kept->delta_count, kept->stream_age);
}

static void snapshot_drop(program *program, scene *scene)
{
    kept_snapshot *kept = take_snapshot(program, scene);
    mica_snapshot_bytes(scene->world, kept->snapshot);
    mica_snapshot_drop(scene->world, kept->snapshot);
    *kept = (kept_snapshot){0};
}

static void history_create(program *program, scene *scene)
{
    mica_history_destroy(scene->history);
    scene->history = mica_history_create(scene->world, 1 + take_below(program, 4));
}

/* An exclusive system may take a tick in the middle of a frame; restoring it gives the hash of that moment. */
static void history_take(program *program, scene *scene)
{
    if (!scene->history && program->depth == 0)
        history_create(program, scene);
    if (!scene->history)
        return;
    uint64_t tick = scene->tick + 1;
    if (mica_history_take(scene->history, tick) == MICA_OK) {
        uint64_t hash = mica_world_hash(scene->world); /* taking one changes nothing */
        scene->tick = tick;
        scene->ticks[tick % HISTORY_TICKS] = (kept_tick){tick, hash, scene->delta_count, scene->stream_age};
    }
}

static void history_restore(program *program, scene *scene)
{
    if (!scene->history || mica_history_count(scene->history) == 0)
        return;
    uint64_t last = mica_history_last(scene->history);
    uint64_t tick = last - take_below(program, mica_history_count(scene->history));
    mica_result result = mica_history_restore(scene->history, tick);
    scene->went_back = true;
    EXPECT(program, result != MICA_ERROR_MEMORY || program->used_faults, "a tick is lost though memory was plenty");
    const kept_tick *kept = &scene->ticks[tick % HISTORY_TICKS];
    if (result != MICA_OK)
        return;
    scene->tick = tick;
    if (kept->tick == tick)
        went_back(program, scene, kept->hash, kept->delta_count, kept->stream_age);
}

void compare_clone(program *program, scene *scene)
{
    mica_world *clone = mica_world_clone(scene->world);
    if (!clone)
        return;
    EXPECT(program, mica_world_validate(clone) == MICA_OK, "a clone is not valid");
    bool has_messages = scene->streams[0] || scene->streams[1] || scene->requests; /* which stay with the original */
    if (!has_messages && mica_world_hash_content(clone) != mica_world_hash_content(scene->world)) {
        mica_difference difference = {0};
        mica_hash_diff(scene->world, clone, &difference);
        fprintf(stderr, "%s\n", difference.text);
        EXPECT(program, false, "a clone has another hash");
    }
    mica_world_destroy(clone);
}

/* The clone becomes another world of the program. */
static void clone_into(program *program, scene *scene)
{
    struct scene *other = take_other_scene(program, scene);
    if (!other || other->is_recording || scene->has_allocator)
        return;
    mica_world *clone = mica_world_clone(scene->world);
    if (!clone)
        return;
    scene_close(program, other);
    other->config = scene->config;
    scene_open_with(program, other, clone);
    for (uint32_t i = 0; i < ENTITIES_KEPT; ++i)
        remember(other, scene->entities[i]);
}

static void hash_tree(program *program, scene *scene)
{
    mica_hash_tree *slices = mica_hash_tree_take(scene->world, MICA_HASH_SLICES);
    mica_hash_tree *rows = mica_hash_tree_take(scene->world, MICA_HASH_ROWS);
    if (slices)
        EXPECT(program, !mica_hash_tree_diff(slices, slices, NULL), "a tree of hashes differs from itself");
    mica_hash_tree_free(slices);
    mica_hash_tree_free(rows);
    EXPECT(program, !mica_hash_diff(scene->world, scene->world, NULL) || program->used_faults,
           "a world differs from itself");
}

/* In the second run, the recording of the first is replayed on a world that was set up alike. */
static void replay(program *program, scene *scene)
{
    mica_difference difference = {0};
    mica_recording *recording = mica_recording_load(scratch_path("recording"), NULL);
    EXPECT(program, recording != NULL, "a recording can't be loaded");
    scene->is_recording = true;
    if (!mica_replay(scene->world, recording, &difference)) {
        fprintf(stderr, "%s\n", difference.text);
        EXPECT(program, false, "a replay differs from its recording");
    }
    scene->is_recording = false;
    mica_recording_free(recording);
    program->is_over = true;
}

static void record_begin(program *program, scene *scene)
{
    if (program->recording_step != 0) {
        if (program->replays && program->recording_step == program->next)
            replay(program, scene);
        return;
    }
    mica_recording_def def = {.detail = (mica_recording_detail)take_below(program, 3)};
    def.systems = take_one_in(program, 2);
    if (mica_recording_begin(scene->world, scratch_path("recording"), &def) != MICA_OK)
        return;
    program->recording_step = program->next;
    scene->is_recording = true;
}

static void record_end(program *program, scene *scene)
{
    if (scene->is_recording && mica_recording_end(scene->world) == MICA_OK)
        program->has_recording = true;
    scene->is_recording = false;
}

const operation snapshot_operations[] = {
    {"snapshot_take", snapshot_take, IN_BODY | READS | WHILE_RECORDING},
    {"snapshot_restore", snapshot_restore, IN_BODY | WHILE_RECORDING},
    {"snapshot_drop", snapshot_drop, READS},
    {"history_create", history_create, READS | SLOW},
    {"history_take", history_take, IN_BODY | READS},
    {"history_restore", history_restore, IN_BODY | WHILE_RECORDING},
    {"clone_compare", compare_clone, IN_BODY | READS | SLOW},
    {"clone_into", clone_into, READS | SLOW},
    {"hash_tree", hash_tree, READS | SLOW},
    {"record_begin", record_begin, KEEPS_FOLLOWING | SLOW},
    {"record_end", record_end, WHILE_RECORDING | KEEPS_FOLLOWING},
};
OPERATIONS(snapshot)
