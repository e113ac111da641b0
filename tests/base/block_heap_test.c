/* The heap of text and lists: sizes, caches of threads, and memory that goes back to the system. */
#include "../support/random.h"
#include "../support/test.h"

#include "base/block_heap.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { HAS_SPANS = !UNDER_ADDRESS_SANITIZER }; /* with the sanitizer every block is malloc's */

START_TEST(a_size_has_room_and_wastes_at_most_a_quarter)
{
    for (size_t bytes = 1; bytes <= 32768; bytes += bytes < 4096 ? 1 : 17) {
        uint32_t size = micap_heap_block_size_of(bytes);
        ck_assert_uint_lt(size, MICAP_HEAP_BLOCK_SMALL_SIZES);
        ck_assert_uint_ge(micap_heap_block_size_bytes(size), bytes);
        ck_assert_uint_le(micap_heap_block_size_bytes(size), bytes <= 16 ? 16 : bytes + (bytes <= 64 ? 7 : bytes / 4));
        ck_assert(size == 0 || micap_heap_block_size_bytes(size - 1) < bytes);
    }
    ck_assert_uint_eq(micap_heap_block_size_bytes(micap_heap_block_size_of(40)), 40);
    for (size_t bytes = 32769; bytes <= MICA_LIST_BYTES_MAX; bytes *= 2) {
        ck_assert_uint_ge(micap_heap_block_size_bytes(micap_heap_block_size_of(bytes)), bytes);
        ck_assert_uint_lt(micap_heap_block_size_of(bytes), MICAP_HEAP_BLOCK_SIZES);
    }
}
END_TEST

START_TEST(blocks_do_not_overlap_and_a_block_that_grows_keeps_its_bytes)
{
    enum { COUNT = 3000 };
    static unsigned char *blocks[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        blocks[i] = micap_heap_block_allocate(i % 40);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 8, 0);
        memset(blocks[i], (int)(i % 251), micap_heap_block_size_bytes(i % 40));
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        size_t bytes = micap_heap_block_size_bytes(i % 40);
        ck_assert(blocks[i][0] == i % 251 && blocks[i][bytes - 1] == i % 251);
        unsigned char *grown = micap_heap_block_grow(blocks[i], i % 40, 50);
        ck_assert(grown[0] == i % 251 && grown[bytes - 1] == i % 251);
        grown = i % 64 ? grown : micap_heap_block_grow(grown, 50, 51);
        ck_assert(grown[0] == i % 251 && grown[bytes - 1] == i % 251);
        micap_heap_block_free(grown, i % 64 ? 50 : 51);
    }
}
END_TEST

START_TEST(memory_stays_flat_and_is_given_back)
{
    enum { COUNT = 100000 };
    void **blocks = malloc(COUNT * sizeof *blocks);
    micap_heap_trim();
    size_t before = micap_heap_bytes(), most = 0;
    for (uint32_t round = 0; round < 20; ++round) {
        for (uint32_t i = 0; i < COUNT; ++i)
            ck_assert_ptr_nonnull(blocks[i] = micap_heap_block_allocate(3));
        for (uint32_t i = 0; i < COUNT; ++i)
            micap_heap_block_free(blocks[(i * 7919) % COUNT], 3);
        if (round == 0)
            most = micap_heap_bytes();
        ck_assert_uint_eq(micap_heap_bytes(), most);
    }
    /* One block keeps its span. */
    void *last = micap_heap_block_allocate(3);
    size_t trimmed = micap_heap_trim();
    if (HAS_SPANS)
        ck_assert_uint_gt(trimmed, (size_t)COUNT * 40 / 2);
    ck_assert_uint_eq(micap_heap_bytes(), most - trimmed);
    ck_assert_uint_le(micap_heap_bytes(), before + (256 << 10));
    micap_heap_block_free(last, 3);
    micap_heap_trim();
    ck_assert_uint_eq(micap_heap_bytes(), before);
    free(blocks);
}
END_TEST

START_TEST(when_memory_is_short_there_is_no_block_and_a_block_stays)
{
    char *small = micap_heap_block_allocate(2), *large = micap_heap_block_allocate(45);
    strcpy(small, "small");
    strcpy(large, "large");
    micap_heap_limit(0);
    ck_assert_ptr_null(micap_heap_block_allocate(2));
    ck_assert_ptr_null(micap_heap_block_grow(small, 2, 9));
    ck_assert_ptr_null(micap_heap_block_grow(large, 45, 46));
    micap_heap_limit(1); /* for the block, and not for its span */
    if (HAS_SPANS)
        ck_assert_ptr_null(micap_heap_block_allocate(37));
    micap_heap_limit(INT64_MAX);
    ck_assert_str_eq(small, "small");
    ck_assert_str_eq(large, "large");
    micap_heap_block_free(small, 2);
    micap_heap_block_free(large, 45);
}
END_TEST

enum { PASSED = 4000 };
static void *passed[PASSED];

static void *allocate_all(void *unused)
{
    for (uint32_t i = 0; i < PASSED; ++i)
        passed[i] = micap_heap_block_allocate(i % 20);
    return unused;
}

static void *free_all(void *unused)
{
    for (uint32_t i = 0; i < PASSED; ++i)
        micap_heap_block_free(passed[i], i % 20);
    return unused;
}

static void run(void *(*fn)(void *))
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, fn, NULL), 0);
    pthread_join(thread, NULL);
}

START_TEST(blocks_of_one_thread_are_freed_by_another_which_gives_them_back_when_it_ends)
{
    micap_heap_trim();
    size_t before = micap_heap_bytes();
    run(allocate_all);
    for (uint32_t i = 0; i < PASSED; ++i)
        ck_assert_ptr_nonnull(passed[i]);
    run(free_all);
    micap_heap_trim();
    ck_assert_uint_eq(micap_heap_bytes(), before);
}
END_TEST

/* A thread that frees every block, is idle for a while, and then allocates and frees again. */
static atomic_int stage;

static void reach(int next)
{
    atomic_store(&stage, next);
}

static void await(int next)
{
    while (atomic_load(&stage) != next)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void *free_all_and_rest(void *unused)
{
    micap_heap_thread_idle(); /* without a cache there is nothing to offer */
    micap_heap_thread_busy();
    free_all(NULL);
    micap_heap_thread_idle();
    reach(1);
    await(2);
    micap_heap_thread_busy();
    allocate_all(NULL);
    free_all(NULL);
    reach(3);
    await(4);
    return unused;
}

START_TEST(a_trim_has_the_cache_of_an_idle_thread)
{
    micap_heap_trim();
    size_t before = micap_heap_bytes();
    run(allocate_all);
    pthread_t thread;
    reach(0);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_all_and_rest, NULL), 0);
    await(1);
    micap_heap_trim();
    ck_assert_uint_eq(micap_heap_bytes(), before);
    reach(2);
    await(3);
    micap_heap_trim(); /* which leaves the cache of a thread that works alone */
    if (HAS_SPANS)
        ck_assert_uint_gt(micap_heap_bytes(), before);
    reach(4);
    pthread_join(thread, NULL);
    micap_heap_trim();
    ck_assert_uint_eq(micap_heap_bytes(), before);
}
END_TEST

enum { REST_ROUNDS = 100 };

static void *work_and_rest(void *unused)
{
    for (uint32_t round = 0; round < REST_ROUNDS; ++round) {
        void *blocks[40];
        for (uint32_t i = 0; i < 40; ++i)
            blocks[i] = memset(micap_heap_block_allocate(i % 5), 1, 16);
        for (uint32_t i = 0; i < 40; ++i)
            micap_heap_block_free(blocks[i], i % 5);
        micap_heap_thread_idle();
        if (round % 16 == 0)
            sched_yield();
        micap_heap_thread_busy();
    }
    atomic_fetch_add(&stage, 1);
    return unused;
}

START_TEST(threads_work_and_rest_while_another_trims)
{
    micap_heap_trim();
    size_t before = micap_heap_bytes();
    pthread_t threads[3];
    reach(0);
    for (uint32_t i = 0; i < 3; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_and_rest, NULL), 0);
    while (atomic_load(&stage) < 3) {
        micap_heap_trim();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    for (uint32_t i = 0; i < 3; ++i)
        pthread_join(threads[i], NULL);
    micap_heap_trim();
    ck_assert_uint_eq(micap_heap_bytes(), before);
}
END_TEST

START_TEST(a_thread_without_memory_for_a_cache_frees_all_the_same)
{
    micap_heap_trim();
    size_t before = micap_heap_bytes();
    run(allocate_all);
    micap_heap_limit(0);
    run(free_all);
    micap_heap_limit(INT64_MAX);
    micap_heap_trim();
    ck_assert_uint_eq(micap_heap_bytes(), before);
}
END_TEST

TEST_SUITE(block_heap, a_size_has_room_and_wastes_at_most_a_quarter,
           blocks_do_not_overlap_and_a_block_that_grows_keeps_its_bytes, memory_stays_flat_and_is_given_back,
           when_memory_is_short_there_is_no_block_and_a_block_stays,
           blocks_of_one_thread_are_freed_by_another_which_gives_them_back_when_it_ends,
           a_trim_has_the_cache_of_an_idle_thread, threads_work_and_rest_while_another_trims,
           a_thread_without_memory_for_a_cache_frees_all_the_same)
