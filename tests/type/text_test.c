/* Text of any length, against characters in an array. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/test.h"

#include "base/block_heap.h"
#include "mica/value.h"
#include "type/text.h"

#include <string.h>

static const char long_one[] = "a text that is longer than what lies in place";

static void expect(const mica_text *text, const char *characters, size_t length)
{
    ck_assert_uint_eq(mica_text_length(text), length);
    ck_assert_mem_eq(mica_text_get(text), characters, length);
    ck_assert_int_eq(mica_text_get(text)[length], 0);
    ck_assert_ptr_null(micap_text_problem(text));
}

START_TEST(zero_is_the_empty_text)
{
    mica_text text = {0};
    expect(&text, "", 0);
    ck_assert(mica_text_is(&text, "") && mica_text_is(&text, NULL) && mica_text_is(NULL, "") &&
              mica_text_is(NULL, NULL));
    ck_assert_int_eq(mica_text_compare(&text, NULL), 0);
    ck_assert_str_eq(mica_text_get(NULL), "");
    ck_assert_uint_eq(mica_text_length(NULL), 0);
    mica_text_clear(&text);
    mica_text_clear(NULL);
}
END_TEST

START_TEST(up_to_fourteen_bytes_lie_in_place)
{
    mica_text text = {0};
    micap_heap_limit(0); /* no block is needed */
    char characters[] = "0123456789abcd";
    for (size_t length = sizeof characters; length-- > 0;) {
        characters[length] = 0;
        ck_assert_int_eq(mica_text_set(&text, characters), MICA_OK);
        expect(&text, characters, length);
    }
    ck_assert_int_eq(mica_text_set(&text, "0123456789abcde"), MICA_ERROR_MEMORY);
    expect(&text, "", 0);
    micap_heap_limit(INT64_MAX);
}
END_TEST

START_TEST(copies_share_until_one_is_written)
{
    mica_text first = {0}, second = {0};
    mica_text_set(&first, long_one);
    ck_assert_int_eq(mica_text_copy(&second, &first), MICA_OK);
    ck_assert_ptr_eq(mica_text_get(&first), mica_text_get(&second));
    mica_text_append(&second, "!");
    expect(&first, long_one, strlen(long_one));
    ck_assert(mica_text_compare(&first, &second) < 0 && mica_text_compare(&second, &first) > 0);
    mica_text_copy(&second, &first);
    ck_assert_int_eq(mica_text_compare(&first, &second), 0);
    mica_text_set(&first, "another text that is too long to lie in place");
    expect(&second, long_one, strlen(long_one));
    ck_assert(mica_text_is(&second, long_one) && !mica_text_is(&first, long_one));
    mica_text_copy(&second, &second);
    expect(&second, long_one, strlen(long_one));
    mica_text_clear(&first);
    mica_text_clear(&second);
}
END_TEST

START_TEST(a_text_of_characters_of_the_program_is_copied_on_its_way)
{
    char characters[] = "characters of the program, for a while";
    mica_text borrowed = mica_text_of(characters), kept = {0};
    ck_assert_ptr_eq(mica_text_get(&borrowed), characters);
    ck_assert_ptr_nonnull(micap_text_problem(&borrowed));
    mica_text_copy(&kept, &borrowed);
    characters[0] = 'C';
    expect(&kept, "characters of the program, for a while", strlen(characters));
    mica_text_append(&borrowed, ".");
    expect(&borrowed, "Characters of the program, for a while.", strlen(characters) + 1);
    ck_assert_str_eq(characters, "Characters of the program, for a while");
    mica_text empty = mica_text_of(NULL), short_one = mica_text_of("short");
    expect(&empty, "", 0);
    expect(&short_one, "short", 5);
    mica_text_clear(&borrowed);
    mica_text_clear(&kept);
}
END_TEST

START_TEST(a_part_of_a_text_can_be_set_and_appended_to_itself)
{
    mica_text text = {0};
    mica_text_set(&text, long_one);
    mica_text_set_bytes(&text, mica_text_get(&text) + 2, 20);
    expect(&text, long_one + 2, 20);
    mica_text_append_bytes(&text, mica_text_get(&text), 20);
    ck_assert_mem_eq(mica_text_get(&text) + 20, long_one + 2, 20);
    mica_text_set_bytes(&text, mica_text_get(&text) + 1, 5);
    expect(&text, long_one + 3, 5);
    mica_text_append_bytes(&text, mica_text_get(&text), 5);
    ck_assert_uint_eq(mica_text_length(&text), 10);
    mica_text_append_bytes(&text, mica_text_get(&text), 10);
    ck_assert_mem_eq(mica_text_get(&text) + 15, long_one + 3, 5);
    mica_text_append_bytes(&text, "", 0);
    ck_assert_uint_eq(mica_text_length(&text), 20);
    mica_text_clear(&text);
}
END_TEST

START_TEST(without_memory_a_text_stays_as_it_is)
{
    mica_text text = {0}, borrowed = mica_text_of(long_one), copy = {0};
    mica_text_set(&text, long_one);
    mica_text_set(&copy, "short");
    micap_heap_limit(0);
    for (uint32_t i = 0; i < 200; ++i) /* until its block is full */
        if (mica_text_append(&text, "!") != MICA_OK)
            break;
    ck_assert_int_eq(mica_text_append(&text, long_one), MICA_ERROR_MEMORY);
    ck_assert_int_eq(mica_text_copy(&copy, &borrowed), MICA_ERROR_MEMORY);
    micap_heap_limit(INT64_MAX);
    ck_assert_mem_eq(mica_text_get(&text), long_one, strlen(long_one));
    expect(&copy, "short", 5);
    ck_assert_int_eq(mica_text_set_bytes(&text, long_one, (size_t)MICA_TEXT_BYTES_MAX + 1), MICA_ERROR_LIMIT);
    ck_assert_int_eq(mica_text_append_bytes(&text, long_one, MICA_TEXT_BYTES_MAX), MICA_ERROR_LIMIT);
    ck_assert_mem_eq(mica_text_get(&text), long_one, strlen(long_one));
    mica_text_clear(&text);
}
END_TEST

START_TEST(more_copies_than_a_block_counts_get_another_block)
{
    enum { COUNT = MICAP_HEAP_BLOCK_OWNERS_MAX + 100 };
    mica_text *texts = calloc(COUNT, sizeof *texts);
    mica_text_set(&texts[0], long_one);
    for (uint32_t i = 1; i < COUNT; ++i)
        ck_assert_int_eq(mica_text_copy(&texts[i], &texts[i - 1]), MICA_OK);
    ck_assert_ptr_ne(mica_text_get(&texts[0]), mica_text_get(&texts[COUNT - 1]));
    for (uint32_t i = 0; i < COUNT; ++i) {
        ck_assert(mica_text_is(&texts[i], long_one));
        mica_text_clear(&texts[i]);
    }
    free(texts);
}
END_TEST

/* Sets, appends, copies and clears some texts and as many arrays. */
START_TEST(random_operations_do_what_they_do_to_an_array)
{
    enum { TEXTS = 5, ROOM = 4000 };
    static char mirrors[TEXTS][ROOM];
    size_t lengths[TEXTS] = {0};
    mica_text texts[TEXTS] = {0};
    random_source random = {77};
    for (uint32_t step = 0; step < 40000; ++step) {
        uint32_t at = random_below(&random, TEXTS), from = random_below(&random, TEXTS);
        char bytes[300];
        uint32_t count = random_below(&random, random_below(&random, 4) ? 12 : sizeof bytes);
        for (uint32_t i = 0; i < count; ++i)
            bytes[i] = (char)random_below(&random, 256);
        switch (random_below(&random, 5)) {
        case 0:
            mica_text_set_bytes(&texts[at], bytes, count);
            memcpy(mirrors[at], bytes, lengths[at] = count);
            break;
        case 1:
            mica_text_copy(&texts[at], &texts[from]);
            memmove(mirrors[at], mirrors[from], lengths[at] = lengths[from]);
            break;
        case 2:
            if (!random_below(&random, 10))
                mica_text_clear(&texts[at]), lengths[at] = 0;
            break;
        default:
            if (lengths[at] + count >= ROOM)
                break;
            mica_text_append_bytes(&texts[at], bytes, count);
            memcpy(mirrors[at] + lengths[at], bytes, count);
            lengths[at] += count;
        }
        expect(&texts[at], mirrors[at], lengths[at]);
        expect(&texts[from], mirrors[from], lengths[from]);
        if (lengths[at] == lengths[from])
            ck_assert((mica_text_compare(&texts[at], &texts[from]) == 0) ==
                      (memcmp(mirrors[at], mirrors[from], lengths[at]) == 0));
    }
    for (uint32_t i = 0; i < TEXTS; ++i)
        mica_text_clear(&texts[i]);
}
END_TEST

START_TEST(a_text_that_is_too_long_is_refused)
{
    char *characters = malloc(MICA_TEXT_BYTES_MAX + 4);
    memset(characters, 'x', MICA_TEXT_BYTES_MAX + 3);
    characters[MICA_TEXT_BYTES_MAX + 3] = 0;
    mica_text text = mica_text_of(characters);
    expect(&text, "", 0);
    ck_assert_int_eq(mica_text_set(&text, characters), MICA_ERROR_LIMIT);
    characters[0] = characters[MICA_TEXT_BYTES_MAX + 2] = '"'; /* a string with one byte more than there is room for */
    mica_member member = {.data = &text, .kind = MICA_KIND_TEXT, .element_bytes = sizeof text};
    ck_assert_int_eq(mica_value_parse(member, characters, NULL), MICA_ERROR_INVALID);
    expect(&text, "", 0);
    free(characters);
}
END_TEST

START_TEST(what_is_no_text_of_a_world_is_noticed)
{
    mica_text text = {0}, damaged;
    mica_text_set(&text, long_one);
    damaged = text;
    damaged.private_.bytes[8] ^= 1; /* its length */
    ck_assert_ptr_nonnull(micap_text_problem(&damaged));
    damaged = mica_text_of(long_one);
    uint32_t in_place = MICA_TEXT_IN_PLACE;
    memcpy(damaged.private_.bytes + 8, &in_place, sizeof in_place);
    ck_assert(micap_text_retain(&damaged)); /* a block of what would lie in place */
    ck_assert_ptr_nonnull(micap_text_problem(&damaged));
    micap_text_release(&damaged);
    damaged = mica_text_of("short");
    damaged.private_.bytes[15] = 3;
    ck_assert_ptr_nonnull(micap_text_problem(&damaged));
    mica_text_clear(&text);
}
END_TEST

TEST_SUITE(text, zero_is_the_empty_text, up_to_fourteen_bytes_lie_in_place, copies_share_until_one_is_written,
           a_text_of_characters_of_the_program_is_copied_on_its_way, a_part_of_a_text_can_be_set_and_appended_to_itself,
           without_memory_a_text_stays_as_it_is, more_copies_than_a_block_counts_get_another_block,
           random_operations_do_what_they_do_to_an_array, what_is_no_text_of_a_world_is_noticed,
           a_text_that_is_too_long_is_refused)
