/* Restores against frames: a world with systems, streams, messages, requests, transforms and observers goes to earlier, later and
 * sibling snapshots, and to ticks of a history. Played on with the same input from there, every tick gives the hash it gave the
 * first time, and observers see the same events. */
#include "mica/hash.h"
#include "mica/observer.h"
#include "mica/stats.h"
#include "support/require.h"
#include "support/scene.h"

#include <string.h>

enum { MOMENTS = 5, TICKS = 3, STEPS = UNDER_SANITIZER ? 60 : 300 };

/* What observers saw, in order. */
static uint64_t seen;

static void see(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i) {
        seen ^= (uint64_t)event->entities[i].generation << 32 | event->entities[i].index;
        seen = (seen + event->kind) * 0x9e3779b97f4a7c15u;
    }
}

/* A snapshot, or a tick of the history, and what follows from there. */
typedef struct moment {
    mica_snapshot snapshot;
    uint64_t number; /* of the input */
    uint64_t hash;
    uint64_t hashes[TICKS];
    uint64_t seen[TICKS];
} moment;

typedef struct run {
    scene scene;
    random_source random;
    moment moments[MOMENTS];
    mica_history *history;
    moment ticks[16]; /* of the history, by tick */
    uint64_t tick;
} run;

static void count_masses(mica_view *view)
{
    Mass *mass = mica_view_write(view, Mass);
    for (uint32_t i = 0; i < view->count; ++i)
        mass[i].value += 1;
}

static void play(run *run, uint64_t number)
{
    scene_input(&run->scene, number);
    scene_step(&run->scene);
    mica_frame_stats stats;
    REQUIRE(mica_stats_get_frame(run->scene.world, 0, &stats));
}

static void play_on(run *run, uint64_t number, uint64_t *hashes, uint64_t *what_was_seen)
{
    for (uint32_t i = 0; i < TICKS; ++i) {
        seen = 0;
        play(run, number + i);
        hashes[i] = mica_world_hash(run->scene.world);
        what_was_seen[i] = seen;
    }
}

static void expect_valid_scene(run *run)
{
    reports *heard = &run->scene.heard;
    REQUIRE_SAYING(mica_world_validate(run->scene.world) == MICA_OK, "%s",
                   heard->count ? heard->list[heard->count - 1].text : "");
}

static void begin(run *run, moment *moment)
{
    moment->number = random_below(&run->random, 1000);
    moment->hash = mica_world_hash(run->scene.world);
    play_on(run, moment->number, moment->hashes, moment->seen);
    expect_valid_scene(run);
}

/* The world was restored: it goes the same way again. */
static void repeat(run *run, const moment *moment)
{
    uint64_t hashes[TICKS], what_was_seen[TICKS];
    expect_valid_scene(run);
    REQUIRE(mica_world_hash(run->scene.world) == moment->hash);
    if (random_one_in(&run->random, 4))
        return;
    play_on(run, moment->number, hashes, what_was_seen);
    REQUIRE(memcmp(hashes, moment->hashes, sizeof hashes) == 0);
    REQUIRE(memcmp(what_was_seen, moment->seen, sizeof what_was_seen) == 0);
    expect_valid_scene(run);
}

static void take(run *run)
{
    moment *moment = &run->moments[random_below(&run->random, MOMENTS)];
    if (moment->snapshot.id)
        REQUIRE(mica_snapshot_drop(run->scene.world, moment->snapshot));
    moment->snapshot = mica_snapshot_take(run->scene.world);
    REQUIRE(moment->snapshot.id);
    begin(run, moment);
}

static void restore(run *run)
{
    const moment *moment = &run->moments[random_below(&run->random, MOMENTS)];
    if (!moment->snapshot.id)
        return;
    REQUIRE(mica_snapshot_restore(run->scene.world, moment->snapshot) == MICA_OK);
    repeat(run, moment);
}

static void take_tick(run *run)
{
    REQUIRE(mica_history_take(run->history, ++run->tick) == MICA_OK);
    begin(run, &run->ticks[run->tick % 16]);
}

static void restore_tick(run *run)
{
    uint64_t first = mica_history_first(run->history), last = mica_history_last(run->history);
    if (!mica_history_count(run->history))
        return;
    run->tick = first + random_below(&run->random, (uint32_t)(last - first + 1));
    REQUIRE(mica_history_restore(run->history, run->tick) == MICA_OK);
    repeat(run, &run->ticks[run->tick % 16]);
}

static void step(run *run)
{
    switch (random_below(&run->random, 12)) {
    case 0:
    case 1: take(run); break;
    case 2:
    case 3:
    case 4: restore(run); break;
    case 5:
    case 6: take_tick(run); break;
    case 7: restore_tick(run); break;
    case 8: mica_world_trim(run->scene.world); break;
    default: play(run, random_below(&run->random, 1000)); break;
    }
}

START_TEST(played_on_from_any_snapshot_a_world_goes_the_way_it_went)
{
    static run run;
    memset(&run, 0, sizeof run);
    run.random = (random_source){setting_from_environment("MICA_TEST_SEED", 0) * 100 + (uint64_t)_i};
    scene_open(&run.scene, _i % 2 ? 3 : 1); /* workers */
    mica_world *world = run.scene.world;
    REQUIRE(mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Mass, see)).id);
    REQUIRE(mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_REMOVE, Poison, see)).id);
    REQUIRE(mica_observer_add(world, MICA_OBSERVER_DESTROY(see)).id);
    REQUIRE(mica_observer_add(world, MICA_MONITOR(see, MICA_READ(Mass), MICA_WITHOUT(Poison))).id);
    REQUIRE(mica_stats_enable(world, 4) == MICA_OK);
    run.history = mica_history_create(world, 6);
    mica_system_add(world, MICA_SYSTEM(count_masses, MICA_WRITE(Mass), MICA_CHANGED(Velocity)));
    for (uint32_t i = 0; i < STEPS; ++i)
        step(&run);
    mica_history_destroy(run.history);
    forget_reports(&run.scene.heard); /* of inputs that are refused */
    scene_close(&run.scene);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("restore_flow");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_loop_test(cases, played_on_from_any_snapshot_a_world_goes_the_way_it_went, 0, 6);
    return test_run("restore_flow", cases);
}
