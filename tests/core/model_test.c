/* Random operations on worlds, compared with a naive model step by step. Each world has a seed of its own; a failure
 * prints it, and MICA_TEST_SEED set to it plays that world first. MICA_TEST_STEPS is the total number of operations, or
 * MICA_TEST_SECONDS the time instead. MICA_TEST_TRACE lists the operations. */
#include "../support/play.h"
#include "../support/test.h"
#include "../support/test_length.h"

#include <stdio.h>

enum {
    SEED_DEFAULT = 20240,
    /* The test has one thread, so there is little for the thread sanitizer to find. */
    STEPS_DEFAULT = UNDER_THREAD_SANITIZER ? 100000
                    : UNDER_SANITIZER
                        ? 1000000
                        : 3000000, /* from each of two seeds: see CMakeLists.txt; make check-long runs by the clock */
};

/* Worlds of one size. Small ones reach every corner often and are checked after every step; large ones fill chunks. */
typedef struct league {
    const char *name;
    uint32_t share_percent; /* of all steps, or of the time */
    uint32_t steps_per_world;
    uint32_t entity_limit;
    uint32_t sample_limit; /* of the kinds of components that take part */
    uint32_t validate_every;
} league;

static const league tiny_worlds = {"tiny worlds", 1, 500, 12, 4, 1};
static const league small_worlds = {"small worlds", 47, 5000, 60, 6, 100};
static const league middling_worlds = {"middling worlds", 12, 200000, 2000, SAMPLE_COUNT, 20000};
static const league large_worlds = {"large worlds", 40, 2000000, 40000, 8, 200000};

/* Pointers to values are asked for too, so at least one that has them takes part. */
static uint32_t draw_participants(random_source *random, uint32_t limit)
{
    sample_kind first = random_below(random, SAMPLE_COUNT);
    while (!sample_is_whole(first))
        first = random_below(random, SAMPLE_COUNT);
    uint32_t participants = 1u << first;
    while ((uint32_t)__builtin_popcount(participants) < limit)
        participants |= 1u << random_below(random, SAMPLE_COUNT);
    return participants;
}

static play_config config_of_world(const league *league, uint64_t seed, uint64_t steps)
{
    random_source random = {seed};
    return (play_config){
        .seed = seed,
        .steps = steps < league->steps_per_world ? steps : league->steps_per_world,
        .entity_limit = league->entity_limit,
        .samples = draw_participants(&random, league->sample_limit),
        .validate_every = league->validate_every,
    };
}

static void play_league(const league *league)
{
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", SEED_DEFAULT);
    uint64_t total = setting_from_environment("MICA_TEST_STEPS", STEPS_DEFAULT);
    uint64_t steps = total * league->share_percent / 100;
    test_length length = test_length_begin(league->name, seed, steps, league->share_percent);
    for (uint64_t done = 0; test_length_continues(&length, done);) {
        play_config config =
            config_of_world(league, seed++, length.seconds > 0 ? league->steps_per_world : steps - done);
        play_run(config);
        done += config.steps;
    }
}

START_TEST(tiny_worlds_agree_with_the_model_after_every_step)
{
    play_league(&tiny_worlds);
}
END_TEST

START_TEST(small_worlds_agree_with_the_model)
{
    play_league(&small_worlds);
}
END_TEST

START_TEST(middling_worlds_agree_with_the_model)
{
    play_league(&middling_worlds);
}
END_TEST

START_TEST(large_worlds_agree_with_the_model)
{
    play_league(&large_worlds);
}
END_TEST

START_TEST(the_same_seed_leads_to_the_same_hash)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        play_config config = config_of_world(&small_worlds, seed, 2000);
        config.validate_every = 1000;
        uint64_t hash = play_run(config);
        ck_assert_uint_eq(hash, play_run(config));
    }
}
END_TEST

TEST_SUITE(model, tiny_worlds_agree_with_the_model_after_every_step, small_worlds_agree_with_the_model,
           middling_worlds_agree_with_the_model, large_worlds_agree_with_the_model,
           the_same_seed_leads_to_the_same_hash)
