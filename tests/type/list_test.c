/* Lists, against plain arrays: numbers, and structs that own text and lists. */
#include "../support/people.h"
#include "../support/random.h"
#include "../support/test.h"

#include "base/block_heap.h"
#include "type/list.h"
#include "type/owned.h"

#include <stdio.h>
#include <string.h>

static const char long_one[] = "a text that is longer than what lies in place";

static void expect_numbers(const mica_list *list, const int *numbers, uint32_t count)
{
    ck_assert_uint_eq(mica_list_count(list), count);
    ck_assert(!count || memcmp(mica_list_items(list, int), numbers, count * sizeof *numbers) == 0);
    ck_assert_ptr_null(micap_list_problem(list, &mica_type_of_int));
}

START_TEST(zero_is_the_empty_list)
{
    mica_list list = {0};
    ck_assert_uint_eq(mica_list_count(&list), 0);
    ck_assert_uint_eq(mica_list_count(NULL), 0);
    ck_assert_ptr_null(mica_list_items(&list, int));
    ck_assert_ptr_null(mica_list_write(&list, int));
    ck_assert_int_eq(mica_list_remove(&list, int, 0), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_list_resize(&list, int, 0), MICA_OK);
    ck_assert_int_eq(mica_list_assign(&list, int, NULL, 0), MICA_OK);
    mica_list_clear(&list, int);
    mica_list_clear(NULL, int);
}
END_TEST

START_TEST(elements_are_appended_inserted_and_removed)
{
    mica_list list = {0};
    *mica_list_append(&list, int) = 2;
    *mica_list_append(&list, int) = 3;
    *mica_list_insert(&list, int, 0) = 1;
    expect_numbers(&list, (int[]){1, 2, 3}, 3);
    ck_assert_int_eq(mica_list_add(&list, int, 4, 5, 6), MICA_OK);
    ck_assert_int_eq(mica_list_remove(&list, int, 1), MICA_OK);
    expect_numbers(&list, (int[]){1, 3, 4, 5, 6}, 5);
    ck_assert_int_eq(mica_list_remove(&list, int, 5), MICA_ERROR_INVALID);
    ck_assert_ptr_null(mica_list_insert(&list, int, 6));
    ck_assert_int_eq(mica_list_resize(&list, int, 7), MICA_OK);
    expect_numbers(&list, (int[]){1, 3, 4, 5, 6, 0, 0}, 7);
    ck_assert_int_eq(mica_list_resize(&list, int, 2), MICA_OK);
    expect_numbers(&list, (int[]){1, 3}, 2);
    ck_assert_int_eq(mica_list_replace_type(&list, &mica_type_of_int, 0, 1, (int[]){7, 8}, 2), MICA_OK);
    expect_numbers(&list, (int[]){7, 8, 3}, 3);
    mica_list_write(&list, int)[0] = 9;
    ck_assert_int_eq(mica_list_assign(&list, int, mica_list_items(&list, int), 2), MICA_OK);
    expect_numbers(&list, (int[]){9, 8}, 2);
    ck_assert_int_eq(mica_list_replace_type(&list, &mica_type_of_int, 1, 0, mica_list_items(&list, int), 2), MICA_OK);
    expect_numbers(&list, (int[]){9, 9, 8, 8}, 4);
    mica_list_clear(&list, int);
    expect_numbers(&list, NULL, 0);
}
END_TEST

START_TEST(copies_share_until_one_is_written)
{
    mica_list first = {0}, second = {0};
    mica_list_add(&first, int, 1, 2, 3);
    ck_assert_int_eq(mica_list_copy(&second, int, &first), MICA_OK);
    ck_assert_ptr_eq(mica_list_items(&first, int), mica_list_items(&second, int));
    mica_list_write(&second, int)[0] = 9;
    expect_numbers(&first, (int[]){1, 2, 3}, 3);
    expect_numbers(&second, (int[]){9, 2, 3}, 3);
    mica_list_copy(&second, int, &first);
    mica_list_remove(&first, int, 1);
    expect_numbers(&second, (int[]){1, 2, 3}, 3);
    mica_list_copy(&second, int, &second);
    expect_numbers(&second, (int[]){1, 2, 3}, 3);
    mica_list_clear(&first, int);
    mica_list_clear(&second, int);
}
END_TEST

START_TEST(eight_numbers_take_forty_bytes)
{
    mica_list list = {0};
    for (int i = 0; i < 8; ++i)
        mica_list_add(&list, float, (float)i);
    ck_assert_uint_eq(
        micap_heap_block_size_bytes(micap_heap_block_size(micap_heap_block_of(mica_list_items(&list, float)))), 40);
    mica_list_clear(&list, float);
}
END_TEST

START_TEST(elements_own_their_text_and_lists)
{
    mica_list list = {0}, copy = {0};
    for (uint32_t i = 0; i < 5; ++i) {
        Thing *item = mica_list_append(&list, Thing);
        mica_text_set(&item->name, long_one);
        mica_list_add(&item->tags, mica_text, mica_text_of(long_one), mica_text_of("short"));
        item->count = i;
    }
    mica_list_copy(&copy, Thing, &list);
    Thing *items = mica_list_write(&copy, Thing);
    mica_text_set(&items[1].name, "another name that does not lie in place");
    mica_text_append(&mica_list_write(&items[2].tags, mica_text)[0], "!");
    const Thing *before = mica_list_items(&list, Thing);
    ck_assert(mica_text_is(&before[1].name, long_one));
    ck_assert(mica_text_is(&mica_list_items(&before[2].tags, mica_text)[0], long_one));
    ck_assert_int_eq(mica_list_remove(&copy, Thing, 1), MICA_OK);
    ck_assert_uint_eq(mica_list_items(&copy, Thing)[1].count, 2);
    ck_assert_int_eq(mica_list_replace_type(&copy, &mica_type_of_Thing, 1, 2, before, 1), MICA_OK);
    ck_assert_uint_eq(mica_list_count(&copy), 3);
    ck_assert_ptr_null(micap_list_problem(&copy, &mica_type_of_Thing));
    mica_list_clear(&list, Thing);
    mica_list_clear(&copy, Thing);
}
END_TEST

START_TEST(wrong_types_and_positions_are_refused)
{
    static const mica_type aligned = {.name = "aligned", .size_bytes = 16, .alignment = 16, .kind = MICA_KIND_STRUCT};
    mica_list list = {0}, bytes = {0};
    mica_list_add(&list, int, 1, 2);
    mica_list_add(&bytes, uint8_t, 1);
    ck_assert_ptr_null(mica_list_items(&list, double));
    ck_assert_ptr_null(mica_list_append(&list, uint8_t));
    ck_assert_int_eq(mica_list_add(&list, double, 1), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_list_copy(&list, int, &bytes), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_list_resize(&list, double, 1), MICA_ERROR_INVALID);
    mica_list_clear(&list, double);
    ck_assert_ptr_null(mica_list_insert_type(&(mica_list){0}, &aligned, 0, 1));
    ck_assert_int_eq(mica_list_replace_type(&list, &mica_type_of_int, 3, 0, NULL, 0), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_list_replace_type(&list, &mica_type_of_int, 1, 2, NULL, 0), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_list_replace_type(&list, &mica_type_of_int, 1, 0, (int[]){1}, UINT32_MAX - 1),
                     MICA_ERROR_LIMIT);
    ck_assert_int_eq(mica_list_resize(&list, int, MICA_LIST_COUNT_MAX + 1), MICA_ERROR_LIMIT);
    ck_assert_ptr_null(mica_list_insert_type(&list, &mica_type_of_int, 0, MICA_LIST_COUNT_MAX));
    expect_numbers(&list, (int[]){1, 2}, 2);
    mica_list_clear(&list, int);
    mica_list_clear(&bytes, uint8_t);
}
END_TEST

START_TEST(what_is_no_list_of_a_world_is_noticed)
{
    mica_list list = {0}, items = {0};
    mica_list_add(&list, int, 1);
    ck_assert_ptr_nonnull(micap_list_problem(&list, &mica_type_of_double));
    *mica_list_append(&items, Thing) = (Thing){.name = mica_text_of(long_one)}; /* which the list does not own */
    ck_assert_ptr_nonnull(micap_list_problem(&items, &mica_type_of_Thing));
    mica_list_clear(&list, int);
    mica_list_clear(&items, Thing);
}
END_TEST

static void fill(mica_list *list)
{
    for (uint32_t i = 0; i < 3; ++i) {
        Thing *item = mica_list_append(list, Thing);
        mica_text_set(&item->name, long_one);
        mica_list_add(&item->tags, mica_text, mica_text_of(long_one));
    }
}

static bool act(mica_list *list, uint32_t operation)
{
    static const Thing fresh[2] = {{.count = 1}, {.count = 2}};
    Thing borrowed[2] = {{.name = mica_text_of(long_one), .count = 1}, {.name = mica_text_of(long_one), .count = 2}};
    mica_list tags = {0};
    switch (operation) {
    case 0: return mica_list_append(list, Thing) != NULL;
    case 1: return mica_list_insert(list, Thing, 1) != NULL;
    case 2: return mica_list_write(list, Thing) != NULL;
    case 3: return mica_list_remove(list, Thing, 1) == MICA_OK;
    case 4: return mica_list_resize(list, Thing, 9) == MICA_OK;
    case 5: return mica_list_assign(list, Thing, borrowed, 2) == MICA_OK;
    case 6: return mica_list_add(list, Thing, fresh[0], fresh[1]) == MICA_OK;
    case 7: return mica_list_replace_type(list, &mica_type_of_Thing, 1, 2, borrowed, 2) == MICA_OK;
    case 8: return mica_list_replace_type(list, &mica_type_of_Thing, 1, 0, mica_list_items(list, Thing), 2) == MICA_OK;
    default: return mica_list_copy(&tags, Thing, list) == MICA_OK && (mica_list_clear(&tags, Thing), true);
    }
}

static uint64_t sum_of(const mica_list *list)
{
    uint64_t sum = mica_list_count(list);
    const Thing *items = mica_list_items(list, Thing);
    for (uint32_t i = 0; i < mica_list_count(list); ++i)
        sum = sum * 31 + items[i].count + mica_text_length(&items[i].name) + mica_list_count(&items[i].tags);
    return sum;
}

/* Each operation, on a list that is shared, with the first block missing, then the second, and so on. */
START_TEST(without_memory_a_list_stays_as_it_is)
{
    mica_list list = {0}, other = {0};
    uint32_t failures = 0;
    for (int64_t limit = 0;; ++limit) {
        fill(&list);
        mica_list_copy(&other, Thing, &list);
        uint64_t before = sum_of(&list);
        micap_heap_limit(limit);
        bool done = act(&list, (uint32_t)_i);
        micap_heap_limit(INT64_MAX);
        ck_assert(done || sum_of(&list) == before);
        ck_assert_uint_eq(sum_of(&other), before);
        ck_assert_ptr_null(micap_list_problem(&list, &mica_type_of_Thing));
        failures += !done;
        mica_list_clear(&list, Thing);
        mica_list_clear(&other, Thing);
        if (done)
            break;
    }
    ck_assert(failures || _i == 9);
}
END_TEST

START_TEST(more_copies_than_a_block_counts_get_another_block)
{
    enum { COUNT = MICAP_HEAP_BLOCK_OWNERS_MAX + 100 };
    mica_list *lists = calloc(COUNT, sizeof *lists);
    fill(&lists[0]);
    for (uint32_t i = 1; i < COUNT; ++i)
        ck_assert_int_eq(mica_list_copy(&lists[i], Thing, &lists[i - 1]), MICA_OK);
    mica_list last = {0};
    mica_list_copy(&last, Thing, &lists[0]); /* the first block is full */
    ck_assert_ptr_ne(mica_list_items(&lists[0], Thing), mica_list_items(&last, Thing));
    micap_heap_limit(0);
    mica_list none = {0};
    ck_assert_int_eq(mica_list_copy(&none, Thing, &lists[0]), MICA_ERROR_MEMORY);
    micap_heap_limit(INT64_MAX);
    for (uint32_t i = 0; i < COUNT; ++i)
        mica_list_clear(&lists[i], Thing);
    ck_assert_ptr_null(micap_list_problem(&last, &mica_type_of_Thing));
    mica_list_clear(&last, Thing);
    free(lists);
}
END_TEST

static void expect_texts(const mica_list *list, char (*mirror)[64], uint32_t count)
{
    ck_assert_uint_eq(mica_list_count(list), count);
    ck_assert_ptr_null(micap_list_problem(list, &mica_type_of_mica_text));
    const mica_text *texts = mica_list_items(list, mica_text);
    for (uint32_t i = 0; i < count; ++i)
        ck_assert_str_eq(mica_text_get(&texts[i]), mirror[i]);
}

/* Some lists of texts, and as many arrays. */
START_TEST(random_operations_do_what_they_do_to_an_array)
{
    enum { LISTS = 4, ROOM = 200 };
    static char mirrors[LISTS][ROOM][64];
    uint32_t counts[LISTS] = {0};
    mica_list lists[LISTS] = {0};
    random_source random = {99};
    for (uint32_t step = 0; step < 20000; ++step) {
        uint32_t at = random_below(&random, LISTS), from = random_below(&random, LISTS);
        uint32_t position = random_below(&random, counts[at] + 1), count = random_below(&random, 4);
        char text[64];
        snprintf(text, sizeof text, random_one_in(&random, 2) ? "%u" : "the text with the number %u, a long one", step);
        char(*mirror)[64] = mirrors[at];
        switch (random_below(&random, 6)) {
        case 0: /* insert */
            if (counts[at] + 1 >= ROOM)
                break;
            mica_text_set(mica_list_insert(&lists[at], mica_text, position), text);
            memmove(mirror[position + 1], mirror[position], (counts[at]++ - position) * sizeof *mirror);
            strcpy(mirror[position], text);
            break;
        case 1: /* remove */
            if (position + count > counts[at])
                break;
            mica_list_remove_type(&lists[at], &mica_type_of_mica_text, position, count);
            counts[at] -= count;
            memmove(mirror[position], mirror[position + count], (counts[at] - position) * sizeof *mirror);
            break;
        case 2: /* write */
            if (position == counts[at])
                break;
            mica_text_append(&mica_list_write(&lists[at], mica_text)[position], "+");
            if (strlen(mirror[position]) < 62)
                strcat(mirror[position], "+");
            else
                mica_text_set(&mica_list_write(&lists[at], mica_text)[position], mirror[position]);
            break;
        case 3: /* copy, or a part of another */
            if (random_one_in(&random, 2) || counts[at] + counts[from] >= ROOM) {
                mica_list_copy(&lists[at], mica_text, &lists[from]);
                memmove(mirror, mirrors[from], sizeof mirrors[from]);
                counts[at] = counts[from];
                break;
            }
            count = counts[from];
            static char copied[ROOM][64];
            memcpy(copied, mirrors[from], sizeof copied);
            mica_list_replace_type(&lists[at], &mica_type_of_mica_text, position, 0,
                                   mica_list_items(&lists[from], mica_text), count);
            memmove(mirror[position + count], mirror[position], (counts[at] - position) * sizeof *mirror);
            memcpy(mirror[position], copied, count * sizeof *mirror);
            counts[at] += count;
            break;
        case 4: /* resize */
            if (random_one_in(&random, 4)) {
                count = random_below(&random, 20);
                mica_list_resize(&lists[at], mica_text, count);
                for (; counts[at] < count; ++counts[at])
                    mirror[counts[at]][0] = 0;
                counts[at] = count;
            }
            break;
        default: counts[at] = random_one_in(&random, 20) ? mica_list_clear(&lists[at], mica_text), 0 : counts[at];
        }
        expect_texts(&lists[at], mirror, counts[at]);
    }
    for (uint32_t i = 0; i < LISTS; ++i)
        mica_list_clear(&lists[i], mica_text);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("list");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, zero_is_the_empty_list);
    tcase_add_test(cases, elements_are_appended_inserted_and_removed);
    tcase_add_test(cases, copies_share_until_one_is_written);
    tcase_add_test(cases, eight_numbers_take_forty_bytes);
    tcase_add_test(cases, elements_own_their_text_and_lists);
    tcase_add_test(cases, wrong_types_and_positions_are_refused);
    tcase_add_test(cases, what_is_no_list_of_a_world_is_noticed);
    tcase_add_loop_test(cases, without_memory_a_list_stays_as_it_is, 0, 10);
    tcase_add_test(cases, more_copies_than_a_block_counts_get_another_block);
    tcase_add_test(cases, random_operations_do_what_they_do_to_an_array);
    return test_run("list", cases);
}
