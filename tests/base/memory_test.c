/* The counted allocator: whose memory it is, how much of it is out, and arrays that grow. */
#include "base/memory.h"
#include "os/pages.h"

#include "../support/faulty_allocator.h"
#include "../support/require.h"
#include "../support/test.h"

#include <pthread.h>
#include <string.h>

enum { MIB = 1 << 20 };

static faulty_allocator faulty;

static micap_memory open_memory(void)
{
    micap_memory memory;
    faulty_allocator_init(&faulty);
    ck_assert_msg(micap_memory_init(&memory, faulty_allocator_interface(&faulty)), "a whole allocator is taken");
    return memory;
}

static void close_memory(micap_memory *memory)
{
    ck_assert_uint_eq(memory->bytes, 0);
    faulty_allocator_free(&faulty);
}

START_TEST(half_an_allocator_is_refused)
{
    faulty_allocator_init(&faulty);
    mica_allocator whole = faulty_allocator_interface(&faulty);
    const struct {
        mica_allocator allocator;
        bool accepted, is_default;
    } cases[] = {
        {{whole.allocate, NULL, whole.context}, false, false},
        {{NULL, whole.release, whole.context}, false, false},
        {{NULL, NULL, whole.context}, true, true}, /* the default one has no use for a context */
        {{NULL, NULL, NULL}, true, true},
        {whole, true, false},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        micap_memory memory;
        ck_assert_msg(micap_memory_init(&memory, cases[i].allocator) == cases[i].accepted, "case %u", i);
        if (cases[i].accepted)
            ck_assert_msg(micap_memory_is_default(&memory) == cases[i].is_default, "case %u", i);
    }
    faulty_allocator_free(&faulty);
}
END_TEST

START_TEST(the_default_allocator_aligns_and_its_memory_can_be_written)
{
    const struct {
        size_t bytes, alignment;
    } cases[] = {{0, 1},          {1, 1},       {7, 2},        {24, 8},      {100, 16},      {100, 64},
                 {4096, 16},      {4096, 4096}, {5000, 4096},  {8192, 8192}, {65536, 65536}, {2 * MIB, 2 * MIB},
                 {3 * MIB, 4096}, {1000, 1024}, {4096, 65536}, {MIB, 16}};
    micap_memory memory;
    ck_assert_msg(micap_memory_init(&memory, (mica_allocator){0}), "all NULL is the default");
    char *blocks[sizeof cases / sizeof *cases];
    size_t sum = 0;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        blocks[i] = micap_allocate(&memory, cases[i].bytes, cases[i].alignment);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_msg((uintptr_t)blocks[i] % cases[i].alignment == 0, "case %u", i);
        memset(blocks[i], (int)i, cases[i].bytes);
        sum += cases[i].bytes ? cases[i].bytes : 1;
    }
    ck_assert_uint_eq(memory.bytes, sum);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        for (size_t at = 0; at < cases[i].bytes; ++at)
            REQUIRE_SAYING(blocks[i][at] == (char)i, "case %u at %zu", i, at);
        micap_release(&memory, blocks[i], cases[i].bytes, cases[i].alignment);
    }
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

START_TEST(large_blocks_are_whole_huge_pages_and_counted_as_asked_for)
{
    const size_t sizes[] = {0, 1, 100, MIB - 1, MIB, MIB + 1, 2 * MIB, 5 * MIB + 7};
    micap_memory memory, other = open_memory();
    micap_memory_init(&memory, (mica_allocator){0});
    mica_allocator allocator = micap_block_allocator(&memory);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        size_t bytes = sizes[i] ? sizes[i] : 1;
        char *blocks[] = {micap_allocate_block(&memory, sizes[i], 64), micap_allocate_block(&other, sizes[i], 64),
                          allocator.allocate(bytes, 64, allocator.context)};
        ck_assert_uint_eq(memory.bytes, bytes);
        ck_assert_uint_eq(faulty.live_bytes, bytes); /* another allocator is asked for just this */
        for (uint32_t k = 0; k < 3; ++k) {
            ck_assert_ptr_nonnull(blocks[k]);
            bool is_huge = sizes[i] >= MIB && k != 1;
            ck_assert_uint_eq((uintptr_t)blocks[k] % (is_huge ? MICAP_HUGE_PAGE_BYTES : 64), 0);
            memset(blocks[k], 1, sizes[i]);
        }
        micap_release_block(&memory, blocks[0], sizes[i], 64);
        micap_release_block(&other, blocks[1], sizes[i], 64);
        allocator.release(blocks[2], bytes, 64, allocator.context);
    }
    micap_release_block(&memory, NULL, MIB, 64);
    ck_assert_ptr_null(micap_allocate_block(&memory, SIZE_MAX - MICAP_HUGE_PAGE_BYTES + 1, 2 * MICAP_PAGE_BYTES));
    ck_assert_ptr_null(micap_allocate_block(&memory, SIZE_MAX / 2, 64));
    ck_assert_uint_eq(memory.bytes, 0);
    close_memory(&other);
}
END_TEST

START_TEST(pages_that_no_machine_has_are_refused)
{
    const size_t bytes[] = {SIZE_MAX - MICAP_PAGE_BYTES + 1, SIZE_MAX / 2 + 1, (size_t)1 << 60};
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    for (uint32_t i = 0; i < sizeof bytes / sizeof *bytes; ++i)
        ck_assert_msg(!micap_allocate(&memory, bytes[i], 2 * MICAP_PAGE_BYTES), "%zu bytes", bytes[i]);
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

START_TEST(what_is_out_is_counted)
{
    micap_memory memory = open_memory();
    void *first = micap_allocate(&memory, 100, 8);
    ck_assert_uint_eq(memory.bytes, 100);
    void *second = micap_allocate(&memory, 28, 64);
    ck_assert_uint_eq(memory.bytes, 128);
    ck_assert_uint_eq(faulty.live_bytes, 128);
    micap_release(&memory, first, 100, 8);
    ck_assert_uint_eq(memory.bytes, 28);
    micap_release(&memory, NULL, 1000, 8);
    ck_assert_msg(memory.bytes == 28, "NULL was never counted");
    micap_release(&memory, second, 28, 64);
    close_memory(&memory);
}
END_TEST

START_TEST(nothing_is_asked_for_as_something)
{
    micap_memory memory = open_memory();
    void *first = micap_allocate(&memory, 0, 1);
    void *second = micap_allocate_zeroed(&memory, 0, 16);
    ck_assert_msg(first && second && first != second, "each has a place of its own");
    micap_release(&memory, first, 0, 1);
    micap_release(&memory, second, 0, 16);
    close_memory(&memory);
}
END_TEST

START_TEST(an_allocation_that_fails_is_not_counted)
{
    micap_memory memory = open_memory();
    faulty_allocator_fail_at(&faulty, 1, true);
    ck_assert_ptr_null(micap_allocate(&memory, 64, 16));
    ck_assert_ptr_null(micap_allocate_zeroed(&memory, 64, 16));
    ck_assert_uint_eq(faulty.failures, 2);
    close_memory(&memory);
}
END_TEST

START_TEST(zeroed_memory_is_zero_whatever_the_allocator_gives)
{
    micap_memory memory = open_memory();
    unsigned char *bytes = micap_allocate_zeroed(&memory, 1000, 16);
    for (uint32_t i = 0; i < 1000; ++i)
        REQUIRE(bytes[i] == 0);
    micap_release(&memory, bytes, 1000, 16);
    close_memory(&memory);
}
END_TEST

START_TEST(an_array_grows_to_the_power_of_two_that_holds_what_is_needed)
{
    const struct {
        uint64_t needed;
        uint32_t capacity;
    } cases[] = {{0, 0}, {1, 4}, {4, 4}, {5, 8}, {3, 8}, {8, 8}, {9, 16}, {1000, 1024}, {1024, 1024}, {1025, 2048}};
    micap_memory memory = open_memory();
    uint64_t *array = NULL;
    uint32_t capacity = 0, filled = 0;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        uint64_t allocations = faulty.allocations;
        bool fits = cases[i].needed <= capacity;
        ck_assert_msg(MICAP_RESERVE(&memory, array, &capacity, cases[i].needed), "there is memory");
        ck_assert_uint_eq(capacity, cases[i].capacity);
        ck_assert_uint_eq(memory.bytes, capacity * sizeof *array);
        ck_assert_msg(faulty.allocations == allocations + !fits, "it allocates only to grow");
        ck_assert_uint_eq((uintptr_t)array % MICAP_ARRAY_ALIGNMENT, 0);
        for (uint32_t at = 0; at < filled; ++at)
            REQUIRE(array[at] == at * UINT64_C(3));
        for (; filled < capacity; ++filled)
            array[filled] = filled * UINT64_C(3);
    }
    MICAP_RELEASE_ARRAY(&memory, array, capacity);
    close_memory(&memory);
}
END_TEST

START_TEST(elements_of_any_size_are_kept)
{
    micap_memory memory = open_memory();
    for (size_t element_bytes = 1; element_bytes <= 129; element_bytes += 4) {
        unsigned char *array = NULL;
        uint32_t capacity = 0;
        ck_assert_msg(micap_array_reserve(&memory, &array, &capacity, 4, element_bytes), "there is memory");
        for (size_t at = 0; at < 4 * element_bytes; ++at)
            array[at] = (unsigned char)at;
        ck_assert_msg(micap_array_reserve(&memory, &array, &capacity, 100, element_bytes), "there is memory");
        for (size_t at = 0; at < 4 * element_bytes; ++at)
            REQUIRE(array[at] == (unsigned char)at);
        micap_release(&memory, array, capacity * element_bytes, MICAP_ARRAY_ALIGNMENT);
    }
    close_memory(&memory);
}
END_TEST

START_TEST(an_array_that_cannot_grow_is_untouched)
{
    micap_memory memory = open_memory();
    uint32_t *array = NULL;
    uint32_t capacity = 0;
    faulty_allocator_fail_at(&faulty, 1, true);
    ck_assert_msg(!MICAP_RESERVE(&memory, array, &capacity, 1), "memory is short from the start");
    ck_assert_msg(array == NULL && capacity == 0, "nothing came of it");

    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert_msg(MICAP_RESERVE(&memory, array, &capacity, 8), "memory is back");
    for (uint32_t i = 0; i < 8; ++i)
        array[i] = i;
    uint32_t *before = array;

    faulty_allocator_fail_at(&faulty, 1, true);
    ck_assert_msg(!MICAP_RESERVE(&memory, array, &capacity, 9), "memory is short");
    ck_assert_msg(MICAP_RESERVE(&memory, array, &capacity, 8), "what is there is there");
    ck_assert_msg(array == before && capacity == 8, "it stays where it was");
    for (uint32_t i = 0; i < 8; ++i)
        ck_assert_uint_eq(array[i], i);
    ck_assert_uint_eq(memory.bytes, 8 * sizeof *array);
    MICAP_RELEASE_ARRAY(&memory, array, capacity);
    close_memory(&memory);
}
END_TEST

START_TEST(counts_that_no_array_can_have_are_refused_without_asking)
{
    const struct {
        uint64_t needed;
        size_t element_bytes;
    } cases[] = {{UINT32_MAX, 1}, {UINT64_C(1) << 32, 1}, {UINT64_MAX, 8}, {1u << 30, SIZE_MAX >> 8}};
    micap_memory memory = open_memory();
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char *array = NULL;
        uint32_t capacity = 0;
        ck_assert_msg(!micap_array_reserve(&memory, &array, &capacity, cases[i].needed, cases[i].element_bytes),
                      "case %u", i);
        ck_assert_msg(array == NULL && capacity == 0, "case %u", i);
    }
    ck_assert_uint_eq(faulty.allocations, 0);
    close_memory(&memory);
}
END_TEST

static void *allocate_and_release(void *context)
{
    micap_memory *memory = context;
    void *held[64] = {0};
    for (size_t i = 0; i < 20000; ++i) {
        void **location = &held[i % 64];
        micap_release(memory, *location, i % 64 + 1, 16);
        *location = micap_allocate(memory, i % 64 + 1, 16);
        REQUIRE(*location);
    }
    for (size_t i = 0; i < 64; ++i)
        micap_release(memory, held[i], i + 1, 16);
    return NULL;
}

START_TEST(threads_count_together)
{
    enum { THREADS = 4 };
    micap_memory memory;
    pthread_t threads[THREADS];
    ck_assert_msg(micap_memory_init(&memory, (mica_allocator){0}), "all NULL is the default");
    void *mine = micap_allocate(&memory, 1000, 16);
    for (uint32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_and_release, &memory), 0);
    for (uint32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(memory.bytes, 1000);
    micap_release(&memory, mine, 1000, 16);
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

TEST_SUITE(memory, half_an_allocator_is_refused, the_default_allocator_aligns_and_its_memory_can_be_written,
           large_blocks_are_whole_huge_pages_and_counted_as_asked_for, pages_that_no_machine_has_are_refused,
           what_is_out_is_counted, nothing_is_asked_for_as_something, an_allocation_that_fails_is_not_counted,
           zeroed_memory_is_zero_whatever_the_allocator_gives,
           an_array_grows_to_the_power_of_two_that_holds_what_is_needed, elements_of_any_size_are_kept,
           an_array_that_cannot_grow_is_untouched, counts_that_no_array_can_have_are_refused_without_asking,
           threads_count_together)
