/* Rollback: going back to a tick and running on with the same inputs gives the same world again, tick by tick. */
#include "mica/hash.h"
#include "support/scene.h"

#include <stdio.h>

enum { TICKS = 120, KEPT = 16, ROLLBACKS = UNDER_SANITIZER ? 100 : 700 };

static void play_tick(scene *scene, uint64_t input)
{
    scene_input(scene, input);
    scene_step(scene);
}

/* Says where a world differs from one that was played straight up to a tick. */
static void fail_tick(const scene *wrong, uint64_t tick, uint32_t workers)
{
    scene right;
    scene_open(&right, 1);
    for (uint64_t i = 0; i < tick; ++i)
        play_tick(&right, i);
    mica_difference difference = {0};
    mica_hash_diff(right.world, wrong->world, &difference);
    ck_abort_msg("tick %u differs with %u workers: %s", (unsigned)tick, workers, difference.text);
}

/* The hashes before each tick, of a world that never goes back. */
static void play_straight(uint32_t workers, uint64_t *hashes)
{
    scene scene;
    scene_open(&scene, workers);
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        hashes[tick] = mica_world_hash(scene.world);
        play_tick(&scene, tick);
    }
    scene_close(&scene);
}

static void keep_tick(const scene *scene, mica_history *history, uint64_t tick, const uint64_t *hashes,
                      uint32_t workers)
{
    if (mica_world_hash(scene->world) != hashes[tick])
        fail_tick(scene, tick, workers);
    ck_assert_int_eq(mica_history_take(history, tick), MICA_OK);
}

static void play_with_rollbacks(uint32_t workers, const uint64_t *hashes)
{
    scene scene;
    scene_open(&scene, workers);
    mica_history *history = mica_history_create(scene.world, KEPT);
    random_source random = {workers};
    uint64_t tick = 0;
    for (uint32_t rollbacks = 0; rollbacks < ROLLBACKS && tick < TICKS; ++tick) {
        keep_tick(&scene, history, tick, hashes, workers);
        play_tick(&scene, tick);
        if (tick < 2 || (tick + 1 < TICKS && !random_one_in(&random, 2)))
            continue;
        /* Some ticks with inputs that turn out to be wrong, then back. */
        for (uint32_t wrong = random_below(&random, 4); wrong > 0; --wrong)
            play_tick(&scene, 1000 + random_below(&random, 1000));
        uint64_t first = mica_history_first(history), last = mica_history_last(history);
        uint64_t back = first + random_below(&random, (uint32_t)(last - first + 1));
        ck_assert_int_eq(mica_history_restore(history, back), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(scene.world), hashes[back]);
        if (rollbacks++ % 16 == 0)
            expect_valid(scene.world);
        play_tick(&scene, back);
        tick = back;
    }
    scene_close(&scene);
}

START_TEST(what_was_rolled_back_happens_again)
{
    static const uint32_t workers[] = {1, 2, 4};
    uint64_t hashes[TICKS];
    play_straight(1, hashes);
    for (uint32_t i = 0; i < COUNT_OF(workers); ++i)
        play_with_rollbacks(workers[i], hashes);
}
END_TEST

START_TEST(the_scene_changes_from_tick_to_tick)
{
    uint64_t hashes[TICKS];
    play_straight(2, hashes);
    for (uint32_t i = 1; i < TICKS; ++i)
        ck_assert_msg(hashes[i] != hashes[i - 1], "tick %u does nothing", i);
}
END_TEST

TEST_SUITE(rollback, what_was_rolled_back_happens_again, the_scene_changes_from_tick_to_tick)
