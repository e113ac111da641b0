#include "cluster/exact_sum.h"

#include "random.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static double sum_of(const double *values, uint32_t count)
{
    micap_exact_sum sum = {{0}, 0};
    for (uint32_t i = 0; i < count; ++i)
        micap_exact_sum_add(&sum, values[i]);
    return micap_exact_sum_value(&sum);
}

START_TEST(sums_are_rounded_once)
{
    const struct {
        double values[4];
        double sum;
    } cases[] = {
        {{1e100, 1, -1e100, 1}, 2},
        {{0.1, 0.2, -0.3, 0}, 0x1p-55},
        {{1, 0x1p-53, 0, 0}, 1},                       /* a tie: to even */
        {{1, 0x1p-53, 0x1p-1074, 0}, 1 + DBL_EPSILON}, /* just above it */
        {{1 + DBL_EPSILON, 0x1p-53, 0, 0}, 1 + 2 * DBL_EPSILON},
        {{0x1p-1074, 0x1p-1074, 0x1p-1074, 0}, 3 * 0x1p-1074},
        {{0x1p-1022, -0x1p-1074, 0, 0}, 0x1p-1022 - 0x1p-1074},
        {{DBL_MAX, DBL_MAX, -DBL_MAX, 0}, DBL_MAX},
        {{-DBL_MAX, 1, DBL_MAX, -3}, -2},
        {{DBL_MAX, DBL_MAX, 0, 0}, INFINITY},
        {{-0.0, 0, 0, 0}, 0},
        {{-1, -0x1p-60, 0x1p-60, 0.5}, -0.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        ck_assert_msg(sum_of(cases[i].values, 4) == cases[i].sum, "case %zu: %a instead of %a", i,
                      sum_of(cases[i].values, 4), cases[i].sum);
}
END_TEST

/* Integers of up to 2^53 in any order and grouping have the sum that integers have. */
START_TEST(the_order_and_grouping_do_not_matter)
{
    enum { COUNT = 2000 };
    static double values[COUNT];
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        random_source state = {seed};
        micap_exact_sum whole = {{0}, 0}, parts[3] = {{{0}, 0}};
        for (uint32_t i = 0; i < COUNT; ++i) {
            uint64_t word = random_u64(&state);
            values[i] = ldexp((double)(int64_t)(word >> 12) - 0x1p51, (int)(word & 1023) - 512);
            micap_exact_sum_add(&whole, values[i]);
            micap_exact_sum_add(&parts[word % 3], values[i]);
        }
        for (uint32_t part = 0; part < 3; ++part)
            micap_exact_sum_settle(&parts[part]);
        for (uint32_t i = 0; i < MICAP_SUM_WORDS; ++i)
            parts[0].words[i] += parts[1].words[i] + parts[2].words[i];
        ck_assert(micap_exact_sum_value(&parts[0]) == micap_exact_sum_value(&whole));
        long double expected = 0;
        for (uint32_t i = 0; i < COUNT; ++i)
            expected += values[i];
        double found = micap_exact_sum_value(&whole);
        ck_assert(fabs((double)(expected - found)) <= fabs(found) * 1e-9);
        for (uint32_t i = COUNT - 1; i > 0; --i) {
            uint32_t other = (uint32_t)(random_u64(&state) % (i + 1));
            double value = values[i];
            values[i] = values[other];
            values[other] = value;
        }
        ck_assert(sum_of(values, COUNT) == found);
    }
}
END_TEST

TEST_SUITE(exact_sum, sums_are_rounded_once, the_order_and_grouping_do_not_matter)
