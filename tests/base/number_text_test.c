/* Numbers as text: short, plain, and the same bits when they are read again. */
#include "../support/random.h"
#include "../support/test.h"

#include "base/number_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct number_case {
    double value;
    bool is_f32;
    const char *text;
} cases[] = {
    {0, false, "0"},
    {-0.0, false, "-0.0"},
    {1, false, "1"},
    {10, true, "10"},
    {-10, false, "-10"},
    {1200, true, "1200"},
    {16777216, true, "16777216"},
    {0.5, false, "0.5"},
    {-12.75, true, "-12.75"},
    {0.1, false, "0.1"},
    {0.1f, true, "0.1"},
    {0.1f, false, "0.10000000149011612"},
    {1.0 / 3, false, "0.3333333333333333"},
    {0.00001, false, "0.00001"},
    {0.000001, false, "1e-6"},
    {0.0000015, false, "1.5e-6"},
    {123456789012345, false, "123456789012345"},
    {1e14, false, "100000000000000"},
    {1e15, false, "1e15"},
    {-2.5e300, false, "-2.5e300"},
    {1.7976931348623157e308, false, "1.7976931348623157e308"},
    {5e-324, false, "5e-324"},
    {1e-45f, true, "1e-45"},
};

START_TEST(numbers_are_short_and_plain)
{
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[MICAP_NUMBER_TEXT_BYTES];
        micap_number_text(cases[i].value, cases[i].is_f32, text);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(every_number_reads_back_as_the_same_bits)
{
    random_source random = {1};
    char text[MICAP_NUMBER_TEXT_BYTES];
    for (uint32_t i = 0; i < 20000; ++i) {
        uint64_t bits = random_u64(&random), again_bits;
        uint32_t narrow_bits = (uint32_t)(bits >> 32), narrow_again_bits;
        double value, again;
        float narrow, narrow_again;
        memcpy(&value, &bits, sizeof value);
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        if (isfinite(value)) {
            micap_number_text(value, false, text);
            again = strtod(text, NULL);
            memcpy(&again_bits, &again, sizeof again);
            ck_assert_msg(again_bits == bits, "%s is %a, not %a", text, again, value);
        }
        if (isfinite(narrow)) {
            micap_number_text(narrow, true, text);
            narrow_again = (float)strtod(text, NULL);
            memcpy(&narrow_again_bits, &narrow_again, sizeof narrow_again);
            ck_assert_msg(narrow_again_bits == narrow_bits, "%s is %a, not %a", text, (double)narrow_again,
                          (double)narrow);
        }
    }
}
END_TEST

TEST_SUITE(number_text, numbers_are_short_and_plain, every_number_reads_back_as_the_same_bits)
