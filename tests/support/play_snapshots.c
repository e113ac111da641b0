/* Snapshots: a copy of the model is the snapshot of the model. */
#include "play.h"

#include <stdlib.h>
#include <string.h>

struct play_snapshot {
    mica_snapshot snapshot;
    model model;
    model_events heard;
    uint32_t query_serials[PLAY_QUERIES];
    uint32_t query_since[PLAY_QUERIES];
    mica_entity stale[PLAY_STALE];
    uint32_t stale_count;
    bool grouped;
    uint64_t hash;
};

static play_snapshot *draw_place(play *play)
{
    return &play->snapshots[random_below(&play->random, PLAY_SNAPSHOTS)];
}

static bool can_snapshot(const play *play)
{
    return play_is_quiet(play) && !play->defer_depth;
}

void play_snapshots_begin(play *play)
{
    play->snapshots = calloc(PLAY_SNAPSHOTS, sizeof *play->snapshots);
    EXPECT(play, play->snapshots);
}

static void forget(play *play, play_snapshot *location)
{
    if (location->snapshot.id)
        --play->snapshot_count;
    model_free(&location->model);
    memset(location, 0, sizeof *location);
}

void play_snapshots_end(play *play)
{
    for (uint32_t i = 0; i < PLAY_SNAPSHOTS; ++i)
        forget(play, &play->snapshots[i]);
    free(play->snapshots);
    play->snapshots = NULL;
}

static void drop(play *play)
{
    play_snapshot *location = draw_place(play);
    EXPECT(play, mica_snapshot_drop(play->world, location->snapshot) == (location->snapshot.id != 0));
    forget(play, location);
}

static void take(play *play)
{
    play_snapshot *location = draw_place(play);
    if (!can_snapshot(play))
        return;
    if (location->snapshot.id) {
        EXPECT(play, mica_snapshot_drop(play->world, location->snapshot));
        forget(play, location);
    }
    location->snapshot = mica_snapshot_take(play->world);
    EXPECT(play, location->snapshot.id);
    model_mark(&play->model); /* what is written from now on is newer */
    ++play->snapshot_count;
    location->hash = mica_world_hash(play->world);
    model_copy(&location->model, &play->model);
    location->heard = play->heard;
    location->grouped = play->grouped;
    memcpy(location->stale, play->stale, sizeof play->stale);
    location->stale_count = play->stale_count;
    for (uint32_t i = 0; i < PLAY_QUERIES; ++i) {
        location->query_serials[i] = play->queries[i].serial;
        location->query_since[i] = play->queries[i].model.since;
    }
}

/* Restores the model, except for its change counter, which only increases. */
static void go_back(play *play, const play_snapshot *location)
{
    uint32_t epoch = play->model.epoch;
    model_free(&play->model);
    model_copy(&play->model, &location->model);
    play->model.epoch = epoch;
    play->heard = location->heard;
    memcpy(play->stale, location->stale, sizeof play->stale);
    play->stale_count = location->stale_count;
    for (uint32_t i = 0; i < PLAY_QUERIES; ++i)
        play->queries[i].model.since =
            play->queries[i].serial == location->query_serials[i] ? location->query_since[i] : 0;
}

static void restore(play *play)
{
    play_snapshot *location = draw_place(play);
    if (!location->snapshot.id || !can_snapshot(play))
        return;
    EXPECT(play, mica_snapshot_restore(play->world, location->snapshot) == MICA_OK);
    go_back(play, location);
    for (uint32_t i = 0; i < PLAY_MONITORS; ++i)
        match_set_reset(&play->monitors[i]); /* a restore tells nothing */
    play->grouped = location->grouped;
    EXPECT(play, mica_world_hash(play->world) == location->hash);
    bool check = random_one_in(&play->random, 4 + play->model.living_count / 50);
    if (check) {
        mica_result result = mica_world_validate(play->world);
        EXPECT_SAYING(play, result == MICA_OK, "%s: %s", mica_result_text(result), play->last_report);
        play_compare_all(play);
    }
}

static void clone_world(play *play)
{
    if (!can_snapshot(play))
        return;
    mica_world *clone = mica_world_clone(play->world);
    EXPECT(play, clone);
    EXPECT(play, mica_world_hash_content(clone) == mica_world_hash_content(play->world));
    EXPECT_SAYING(play, mica_world_validate(clone) == MICA_OK, "%s", play->last_report);
    mica_world_destroy(clone);
}

const play_operation play_snapshot_operations[] = {
    {"clone world", 1, clone_world, true},
    {"take snapshot", 6, take, true},
    {"restore snapshot", 6, restore, true},
    {"drop snapshot", 3, drop, true},
};
const uint32_t play_snapshot_count = sizeof play_snapshot_operations / sizeof *play_snapshot_operations;
