/* Random numbers: distributions, limits, and what they depend on. */
#include "../../support/components.h"
#include "../../support/reports.h"
#include "../../support/test.h"
#include "mica/flow.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 60000 };

/* Whether counts of equally likely outcomes are what chance makes of them: chi-squared, far beyond what any seed gives. */
static void expect_even(const uint32_t *counts, uint32_t count, double expected)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    ck_assert_msg(sum < count + 5 * sqrt(2.0 * count) + 10, "%g", sum);
}

START_TEST(integers_are_even_between_their_limits)
{
    mica_random random = mica_random_make(1, 1);
    uint32_t counts[7] = {0};
    for (uint32_t i = 0; i < DRAWS; ++i) {
        int64_t drawn = mica_random_integer(&random, -3, 3);
        ck_assert(drawn >= -3 && drawn <= 3);
        ++counts[drawn + 3];
    }
    expect_even(counts, 7, DRAWS / 7.0);
    uint32_t parts[5] = {0}; /* a range of more than 32 bits, which is no power of two */
    for (uint32_t i = 0; i < DRAWS; ++i) {
        int64_t drawn = mica_random_integer(&random, -10000000000, 9999999999 * 4 + 3);
        ++parts[(drawn + 10000000000) / 10000000000];
    }
    expect_even(parts, 5, DRAWS / 5.0);
    ck_assert(mica_random_integer(&random, 4, 4) == 4 && mica_random_integer(&random, 4, -4) == 4);
    bool has_negative = false, has_positive = false;
    for (uint32_t i = 0; i < 100; ++i) {
        int64_t drawn = mica_random_integer(&random, INT64_MIN, INT64_MAX);
        has_negative |= drawn < 0;
        has_positive |= drawn > 0;
        drawn = mica_random_integer(&random, 0, UINT32_MAX);
        ck_assert(drawn >= 0 && drawn <= UINT32_MAX);
    }
    ck_assert(has_negative && has_positive);
}
END_TEST

START_TEST(real_numbers_have_their_distributions)
{
    mica_random random = mica_random_make(2, 1);
    uint32_t counts[10] = {0}, within = 0, late = 0;
    double normal_sum = 0, normal_squares = 0, exponential_sum = 0;
    for (uint32_t i = 0; i < DRAWS; ++i) {
        double unit = mica_random_double(&random);
        ck_assert(unit >= 0 && unit < 1);
        ++counts[(uint32_t)(unit * 10)];
        double normal = mica_random_normal(&random, 5, 2);
        normal_sum += normal;
        normal_squares += (normal - 5) * (normal - 5);
        within += fabs(normal - 5) < 2;
        double time = mica_random_exponential(&random, 3);
        ck_assert(time >= 0 && isfinite(time));
        exponential_sum += time;
        late += time > 3;
    }
    expect_even(counts, 10, DRAWS / 10.0);
    ck_assert(fabs(normal_sum / DRAWS - 5) < 0.05 && fabs(normal_squares / DRAWS - 4) < 0.15);
    ck_assert(fabs((double)within / DRAWS - 0.6827) < 0.01);
    ck_assert(fabs(exponential_sum / DRAWS - 3) < 0.08 && fabs((double)late / DRAWS - 0.3679) < 0.01);
}
END_TEST

START_TEST(every_order_is_equally_likely)
{
    mica_random random = mica_random_make(3, 1);
    uint32_t counts[24] = {0};
    for (uint32_t i = 0; i < DRAWS; ++i) {
        struct {
            uint32_t number;
            char rest[150]; /* more than is swapped at once */
        } items[4];
        for (uint32_t k = 0; k < 4; ++k) {
            items[k].number = k;
            memset(items[k].rest, (int)k, sizeof items[k].rest);
        }
        mica_random_shuffle(&random, items, 4, sizeof *items);
        uint32_t order = 0;
        for (uint32_t k = 0; k < 4; ++k) {
            uint32_t smaller = 0;
            for (uint32_t j = k + 1; j < 4; ++j)
                smaller += items[j].number < items[k].number;
            order = order * (4 - k) + smaller;
            ck_assert(items[k].rest[0] == (char)items[k].number && items[k].rest[149] == (char)items[k].number);
        }
        ++counts[order];
    }
    expect_even(counts, 24, DRAWS / 24.0);
    mica_random_shuffle(&random, NULL, 0, 4);
}
END_TEST

/* By both algorithms: few of many, and many of few. */
START_TEST(every_sample_is_equally_likely)
{
    mica_random random = mica_random_make(4, 1);
    for (uint32_t limit = 3; limit <= 6; limit += 3) {
        uint32_t counts[6][6] = {{0}}, pairs[15] = {0}, count = 0;
        for (uint32_t i = 0; i < DRAWS; ++i) {
            uint32_t chosen[2];
            ck_assert_uint_eq(mica_random_sample(&random, limit, chosen, 2), 2);
            ck_assert(chosen[0] < chosen[1] && chosen[1] < limit);
            ++counts[chosen[0]][chosen[1]];
        }
        for (uint32_t a = 0; a < limit; ++a)
            for (uint32_t b = a + 1; b < limit; ++b)
                pairs[count++] = counts[a][b];
        expect_even(pairs, count, (double)DRAWS / count);
    }
    uint32_t all[5];
    ck_assert_uint_eq(mica_random_sample(&random, 3, all, 5), 3);
    ck_assert(all[0] == 0 && all[1] == 1 && all[2] == 2);
    ck_assert_uint_eq(mica_random_sample(&random, 0, all, 5), 0);
    ck_assert_uint_eq(mica_random_sample(&random, UINT32_MAX, all, 5), 5);
}
END_TEST

static uint32_t drawn[8];

static void draw(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_random random = mica_random_of_entity(view->frame, view->entities[i]);
        drawn[number[i].value] = mica_random_next(&random);
    }
}

START_TEST(numbers_of_an_entity_depend_on_seed_tick_system_and_handle)
{
    uint32_t first[8], other_tick[8];
    for (uint32_t run = 0; run < 3; ++run) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def flow = mica_flow_def_default();
        flow.seed = run == 2 ? 77 : 5;
        mica_flow_configure(world, &flow);
        mica_entity extra = mica_create(world, MICA_WITH(Number, {0}));
        mica_entity entities[8];
        for (uint32_t i = 0; i < 8; ++i)
            entities[i] = mica_create(world, MICA_WITH(Number, {i}));
        mica_destroy(world, extra);
        if (run == 1)
            mica_add(world, entities[3], Frozen); /* another row, and another archetype */
        mica_system_add(world, MICA_SYSTEM(draw, MICA_READ(Number)));
        mica_random before = mica_random_of_world(world);
        ck_assert(mica_step(world, 0.1f) == MICA_OK);
        mica_random after = mica_random_of_world(world);
        ck_assert(memcmp(&before, &after, sizeof before) != 0);
        if (run == 0)
            memcpy(first, drawn, sizeof drawn);
        else
            ck_assert((memcmp(first, drawn, sizeof drawn) == 0) == (run == 1));
        ck_assert(mica_step(world, 0.1f) == MICA_OK);
        memcpy(other_tick, drawn, sizeof drawn);
        ck_assert(memcmp(first, other_tick, sizeof drawn) != 0 && drawn[0] != drawn[1]);
        close_world(world, &heard);
    }
    mica_world *plain = mica_world_create(NULL);
    mica_random without_flow = mica_random_of_world(plain), made = mica_random_make(0, 0);
    ck_assert_mem_eq(&without_flow, &made, sizeof made);
    mica_world_destroy(plain);
}
END_TEST

TEST_SUITE(random, integers_are_even_between_their_limits, real_numbers_have_their_distributions,
           every_order_is_equally_likely, every_sample_is_equally_likely,
           numbers_of_an_entity_depend_on_seed_tick_system_and_handle)
