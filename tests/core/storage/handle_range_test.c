/* Handles that are created and freed in ranges: what they are, whether single ones are mixed in, and the order in which slots are used
 * again must not depend on how many are handled at once. */
#include "support/components.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "base/handle_range.h"
#include "core/world/world.h"
#include "mica/snapshot.h"

#include <string.h>

enum { NUMBERS = 100, LIVING_MAX = 12000, STEPS = 300, GENERATIONS = 4 };

static reports heard;

START_TEST(a_range_ends_where_a_number_differs)
{
    random_source random = {7};
    for (uint32_t round = 0; round < 20000; ++round) {
        uint64_t numbers[NUMBERS + 2], first = random_u64(&random), step = random_below(&random, 3);
        uint32_t count = random_below(&random, NUMBERS), wrong = random_below(&random, NUMBERS);
        memset(numbers, 0xAA, sizeof numbers);
        micap_range_write(numbers + 1, first, step, count);
        for (uint32_t i = 0; i < count; ++i)
            REQUIRE_SAYING(numbers[1 + i] == first + i * step, "number %u of %u", i, count);
        REQUIRE(numbers[0] == 0xAAAAAAAAAAAAAAAA && numbers[1 + count] == 0xAAAAAAAAAAAAAAAA);
        REQUIRE(micap_range_length(numbers + 1, first, step, count) == count);
        numbers[1 + wrong] ^= (uint64_t)1 << random_below(&random, 64);
        REQUIRE(micap_range_length(numbers + 1, first, step, count) == (wrong < count ? wrong : count));
    }
}
END_TEST

/* Two worlds: one creates and destroys many at once, the other one by one. */
typedef struct pair {
    mica_world *many;
    mica_world *single;
    random_source random;
    uint32_t count;
    mica_entity living[LIVING_MAX];
} pair;

static void create(pair *pair, uint32_t count)
{
    mica_entity *made = pair->living + pair->count;
    if (count > LIVING_MAX - pair->count)
        count = LIVING_MAX - pair->count;
    const mica_value column = MICA_WITH(Number);
    REQUIRE(mica_create_many(pair->many, count, &column, 1, made) == MICA_OK);
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity alone = mica_create(pair->single, MICA_WITH(Number));
        REQUIRE_SAYING(mica_same(alone, made[i]), "entity %u of %u: %u:%u and %u:%u", i, count, made[i].index,
                       made[i].generation, alone.index, alone.generation);
    }
    pair->count += count;
}

/* Destroys a part of those that live, in their order or in the opposite one. */
static void destroy(pair *pair, uint32_t first, uint32_t count, bool is_backward)
{
    mica_entity dying[LIVING_MAX];
    for (uint32_t i = 0; i < count; ++i)
        dying[i] = pair->living[is_backward ? first + count - 1 - i : first + i];
    REQUIRE(mica_destroy_many(pair->many, dying, count) == count);
    for (uint32_t i = 0; i < count; ++i)
        REQUIRE(mica_destroy(pair->single, dying[i]));
    pair->count -= count;
    memmove(pair->living + first, pair->living + first + count, (pair->count - first) * sizeof *pair->living);
}

static void clear(pair *pair)
{
    mica_world_clear(pair->many);
    /* As if rows were destroyed from the last one on. */
    mica_query *all = mica_query_create(pair->single, MICA_QUERY(MICA_READ(Number)));
    uint32_t count = 0;
    for (mica_view view = mica_query_begin(all); mica_view_next(&view); count += view.count)
        memcpy(pair->living + count, view.entities, view.count * sizeof *view.entities);
    mica_query_destroy(all);
    REQUIRE(count == pair->count);
    while (count)
        REQUIRE(mica_destroy(pair->single, pair->living[--count]));
    pair->count = 0;
}

static void step(pair *pair)
{
    uint32_t choice = random_below(&pair->random, 12);
    bool is_long = random_below(&pair->random, 2);
    if (choice < 6) {
        create(pair, 1 + random_below(&pair->random, is_long ? 3000 : 20));
    } else if (choice == 11) {
        clear(pair);
    } else if (pair->count) {
        uint32_t first = random_below(&pair->random, pair->count), left = pair->count - first;
        uint32_t limit = is_long || left < 20 ? left : 20;
        destroy(pair, first, 1 + random_below(&pair->random, limit), choice >= 9);
    }
    REQUIRE(mica_world_validate(pair->many) == MICA_OK && mica_world_validate(pair->single) == MICA_OK);
}

static void play(uint64_t seed, bool has_snapshots)
{
    static pair pair;
    pair.many = open_world(&heard);
    pair.single = open_world(&heard);
    pair.random = (random_source){seed};
    pair.count = 0;
    if (seed % 2) { /* slots are soon used up */
        pair.many->entities.last_generation = GENERATIONS;
        pair.single->entities.last_generation = GENERATIONS;
    }
    static mica_entity kept[LIVING_MAX];
    uint32_t kept_count = 0;
    mica_snapshot in_many = {0}, in_single = {0};
    for (uint32_t i = 0; i < STEPS; ++i) {
        step(&pair);
        if (!has_snapshots || random_below(&pair.random, 4))
            continue;
        if (in_many.id && random_below(&pair.random, 2)) {
            REQUIRE(mica_snapshot_restore(pair.many, in_many) == MICA_OK);
            REQUIRE(mica_snapshot_restore(pair.single, in_single) == MICA_OK);
            memcpy(pair.living, kept, kept_count * sizeof *kept);
            pair.count = kept_count;
        } else {
            mica_snapshot_drop(pair.many, in_many);
            mica_snapshot_drop(pair.single, in_single);
            in_many = mica_snapshot_take(pair.many);
            in_single = mica_snapshot_take(pair.single);
            memcpy(kept, pair.living, pair.count * sizeof *kept);
            kept_count = pair.count;
        }
    }
    close_world(pair.many, &heard);
    close_world(pair.single, &heard);
}

START_TEST(many_handles_are_those_of_one_after_the_other)
{
    for (uint64_t seed = 1; seed <= 6; ++seed)
        play(seed, false);
}
END_TEST

START_TEST(so_they_are_after_a_snapshot_is_restored)
{
    for (uint64_t seed = 1; seed <= 6; ++seed)
        play(seed, true);
}
END_TEST

TEST_SUITE(handle_range, a_range_ends_where_a_number_differs, many_handles_are_those_of_one_after_the_other,
           so_they_are_after_a_snapshot_is_restored)
