/* The arena against a list of what was handed out, and its regions in growth, in want of memory and at the end. */
#include "base/region_arena.h"

#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/require.h"
#include "../support/test.h"
#include "base/bits.h"

#include <string.h>

enum {
    KIB = 1024,
    MIB = 1024 * KIB,
    FIRST_REGION = 8 * KIB, /* what the arena starts with, and what it adds at most */
    LAST_REGION = 32 * MIB,
    SMALL_ARENA = 128 * KIB, /* from here on it adds huge pages, */
    HUGE_REGION = 2 * MIB,   /* and at least this much */
    BLOCKS_MAX = 600,
};

typedef struct block {
    char *memory;
    size_t bytes;
    uint64_t mark;
} block;

/* The naive model beside the arena: every block that is out, and what was written into it. */
typedef struct ground {
    faulty_allocator allocator;
    micap_memory memory;
    micap_arena arena;
    random_source random;
    block blocks[BLOCKS_MAX];
    uint32_t block_count;
} ground;

static void ground_open(ground *ground, uint64_t seed)
{
    memset(ground, 0, sizeof *ground);
    faulty_allocator_init(&ground->allocator);
    REQUIRE(micap_memory_init(&ground->memory, faulty_allocator_interface(&ground->allocator)));
    micap_arena_init(&ground->arena, &ground->memory);
    ground->random.state = seed;
}

static void ground_close(ground *ground)
{
    micap_arena_free(&ground->arena);
    REQUIRE(ground->memory.bytes == 0);
    faulty_allocator_free(&ground->allocator);
}

static size_t region_bytes(const micap_region *region)
{
    return (size_t)MICAP_BLOCK_BYTES_MIN << region->order;
}

static size_t taken_bytes(size_t bytes)
{
    return bytes < MICAP_BLOCK_BYTES_MIN ? MICAP_BLOCK_BYTES_MIN : bytes;
}

/* Writes a mark into every smallest block inside this one: an overlapping block overwrites one of them. */
static void write_marks(const block *block)
{
    for (size_t at = 0; at < block->bytes; at += MICAP_BLOCK_BYTES_MIN)
        memcpy(block->memory + at, &block->mark, sizeof block->mark);
}

static void require_marks(const block *block)
{
    for (size_t at = 0; at < block->bytes; at += MICAP_BLOCK_BYTES_MIN)
        REQUIRE_SAYING(memcmp(block->memory + at, &block->mark, sizeof block->mark) == 0, "at %zu of %zu bytes", at,
                       block->bytes);
}

static void require_apart(const ground *ground, const char *memory, size_t bytes)
{
    REQUIRE((uintptr_t)memory % taken_bytes(bytes) == 0);
    for (uint32_t i = 0; i < ground->block_count; ++i) {
        const block *other = &ground->blocks[i];
        REQUIRE(memory + taken_bytes(bytes) <= other->memory || other->memory + taken_bytes(other->bytes) <= memory);
    }
}

/* Returns whether there was memory for it. */
static bool ground_allocate(ground *ground, size_t bytes)
{
    REQUIRE(ground->block_count < BLOCKS_MAX);
    char *memory = micap_arena_allocate(&ground->arena, bytes);
    if (!memory)
        return false;
    require_apart(ground, memory, bytes);
    block *fresh = &ground->blocks[ground->block_count++];
    *fresh = (block){memory, bytes, random_u64(&ground->random)};
    write_marks(fresh);
    return true;
}

static void ground_release(ground *ground, uint32_t index)
{
    block gone = ground->blocks[index];
    require_marks(&gone);
    ground->blocks[index] = ground->blocks[--ground->block_count];
    micap_arena_release(&ground->arena, gone.memory, gone.bytes);
}

static void ground_release_all(ground *ground)
{
    while (ground->block_count)
        ground_release(ground, random_below(&ground->random, ground->block_count));
}

static size_t used_in(const ground *ground, const micap_region *region)
{
    size_t used = 0;
    for (uint32_t i = 0; i < ground->block_count; ++i) {
        const block *block = &ground->blocks[i];
        if (block->memory >= region->base && block->memory < region->base + region_bytes(region))
            used += taken_bytes(block->bytes);
    }
    return used;
}

/* Regions lie in rising order, aligned to their size, and what is free in each is what the model does not hold. */
static void require_sound(const ground *ground)
{
    size_t total = 0;
    for (uint32_t i = 0; i < ground->arena.region_count; ++i) {
        const micap_region *region = &ground->arena.regions[i];
        REQUIRE(i == 0 || region[-1].base + region_bytes(region - 1) <= region->base);
        REQUIRE((uintptr_t)region->base % region_bytes(region) == 0);
        size_t free_bytes = 0;
        for (uint32_t order = 0; order < MICAP_BLOCK_ORDERS; ++order)
            free_bytes += region->free_count[order] * ((size_t)MICAP_BLOCK_BYTES_MIN << order);
        REQUIRE(region->used_bytes == used_in(ground, region));
        REQUIRE(region->used_bytes + free_bytes == region_bytes(region));
        total += region_bytes(region);
    }
    REQUIRE(ground->arena.total_bytes == total);
    for (uint32_t i = 0; i < ground->block_count; ++i)
        require_marks(&ground->blocks[i]);
}

static void require_merged(const micap_arena *arena)
{
    for (uint32_t i = 0; i < arena->region_count; ++i)
        for (uint32_t order = 0; order < MICAP_BLOCK_ORDERS; ++order)
            REQUIRE(arena->regions[i].free_count[order] == (order == arena->regions[i].order));
}

/* Of 256 bytes to 1 MiB, the small ones far more often. */
static size_t random_block_bytes(random_source *random)
{
    uint32_t shift = random_below(random, 1 + random_below(random, 13));
    return (size_t)256 << shift;
}

static void play(uint64_t seed, uint32_t steps)
{
    ground ground;
    ground_open(&ground, seed);
    for (uint32_t step = 0; step < steps; ++step) {
        /* The tide turns now and then, so that the arena is seen almost full and almost empty. */
        bool rising = step / 500 % 2 == 0;
        bool allocate = random_below(&ground.random, 10) < (rising ? 7u : 3u);
        if (allocate && ground.block_count < BLOCKS_MAX)
            REQUIRE(ground_allocate(&ground, random_block_bytes(&ground.random)));
        else if (ground.block_count)
            ground_release(&ground, random_below(&ground.random, ground.block_count));
        if (random_one_in(&ground.random, 300))
            micap_arena_trim(&ground.arena);
        if (random_one_in(&ground.random, 50))
            require_sound(&ground);
    }
    ground_release_all(&ground);
    require_merged(&ground.arena);
    size_t held = ground.arena.total_bytes;
    REQUIRE(micap_arena_trim(&ground.arena) == held);
    REQUIRE(ground.arena.region_count == 0 && ground.arena.total_bytes == 0);
    ground_close(&ground);
}

START_TEST(random_blocks_are_aligned_and_apart_and_merge_back_into_their_regions)
{
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", 7);
    for (uint64_t run = 0; run < (UNDER_SANITIZER ? 3 : 10); ++run)
        play(seed + run, 5000);
}
END_TEST

START_TEST(blocks_of_one_size_are_handed_out_in_rising_order)
{
    ground ground;
    ground_open(&ground, 1);
    for (uint32_t i = 0; i < FIRST_REGION / MICAP_BLOCK_BYTES_MIN; ++i) {
        ck_assert_msg(ground_allocate(&ground, MICAP_BLOCK_BYTES_MIN), "there is room");
        ck_assert_ptr_eq(ground.blocks[i].memory, ground.blocks[0].memory + i * (size_t)MICAP_BLOCK_BYTES_MIN);
    }
    ck_assert_uint_eq(ground.arena.region_count, 1);
    ground_close(&ground);
}
END_TEST

START_TEST(a_block_below_the_smallest_takes_the_smallest)
{
    ground ground;
    ground_open(&ground, 1);
    for (size_t bytes = 8; bytes <= MICAP_BLOCK_BYTES_MIN; bytes *= 2)
        ck_assert_msg(ground_allocate(&ground, bytes), "there is room");
    ck_assert_uint_eq(ground.arena.regions[0].used_bytes, (size_t)ground.block_count * MICAP_BLOCK_BYTES_MIN);
    require_sound(&ground);
    ground_release_all(&ground);
    require_merged(&ground.arena);
    ground_close(&ground);
}
END_TEST

START_TEST(two_halves_become_the_whole_in_either_order)
{
    for (uint32_t first = 0; first < 2; ++first) {
        ground ground;
        ground_open(&ground, 1);
        ck_assert_msg(ground_allocate(&ground, FIRST_REGION / 2) && ground_allocate(&ground, FIRST_REGION / 2),
                      "a region has two halves");
        ck_assert_uint_eq(ground.arena.region_count, 1);
        ground_release(&ground, first);
        ground_release(&ground, 0);
        ck_assert_msg(ground_allocate(&ground, FIRST_REGION), "the whole is free again");
        ck_assert_uint_eq(ground.arena.region_count, 1);
        ground_close(&ground);
    }
}
END_TEST

START_TEST(a_released_block_is_used_again_without_asking_the_allocator)
{
    ground ground;
    ground_open(&ground, 1);
    ck_assert_msg(ground_allocate(&ground, 4 * KIB), "there is room");
    char *memory = ground.blocks[0].memory;
    uint64_t allocations = ground.allocator.allocations;
    for (uint32_t i = 0; i < 100; ++i) {
        ground_release(&ground, 0);
        ck_assert_msg(ground_allocate(&ground, 4 * KIB), "there is room");
        ck_assert_ptr_eq(ground.blocks[0].memory, memory);
    }
    ck_assert_uint_eq(ground.allocator.allocations, allocations);
    ground_close(&ground);
}
END_TEST

START_TEST(regions_grow_with_what_is_held_up_to_a_limit)
{
    const size_t expected[] = {FIRST_REGION, 8 * KIB, 16 * KIB, 32 * KIB,    64 * KIB,   HUGE_REGION,
                               4 * MIB,      8 * MIB, 16 * MIB, LAST_REGION, LAST_REGION};
    micap_memory memory;
    micap_arena arena;
    ck_assert_msg(micap_memory_init(&memory, (mica_allocator){0}), "the default allocator is one");
    micap_arena_init(&arena, &memory);
    size_t held = 0;
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        /* Takes what the region before left, without touching it. */
        while (arena.total_bytes == held)
            ck_assert_ptr_nonnull(micap_arena_allocate(&arena, held < SMALL_ARENA ? 8 * KIB : 64 * KIB));
        ck_assert_uint_eq(arena.total_bytes - held, expected[i]);
        held = arena.total_bytes;
    }
    micap_arena_free(&arena);
    ck_assert_uint_eq(memory.bytes, 0);
}
END_TEST

/* In whole huge pages: what begins large is to be filled at once. */
START_TEST(a_block_larger_than_a_region_gets_one_of_its_size)
{
    const size_t sizes[] = {FIRST_REGION, SMALL_ARENA, 256 * KIB, LAST_REGION, 2 * (size_t)LAST_REGION};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        ground ground;
        ground_open(&ground, 1);
        char *memory = micap_arena_allocate(&ground.arena, sizes[i]);
        ck_assert_ptr_nonnull(memory);
        ck_assert_uint_eq((uintptr_t)memory % sizes[i], 0);
        size_t expected = sizes[i] > SMALL_ARENA && sizes[i] < HUGE_REGION ? HUGE_REGION : sizes[i];
        ck_assert_uint_eq(ground.arena.total_bytes, expected);
        micap_arena_release(&ground.arena, memory, sizes[i]);
        ck_assert_uint_eq(micap_arena_trim(&ground.arena), expected);
        ground_close(&ground);
    }
}
END_TEST

START_TEST(trimming_keeps_the_regions_in_use)
{
    ground ground;
    ground_open(&ground, 3);
    ck_assert_uint_eq(micap_arena_trim(&ground.arena), 0);
    for (uint32_t i = 0; i < 16; ++i)
        ck_assert_msg(ground_allocate(&ground, 512 * KIB), "there is room");
    uint32_t region_count = ground.arena.region_count;
    ck_assert_uint_gt(region_count, 2);
    ck_assert_msg(micap_arena_trim(&ground.arena) == 0, "every region is in use");
    while (ground.block_count > 1) /* the newest stay longest, so that the region kept is not the first */
        ground_release(&ground, 0);
    size_t held = ground.arena.total_bytes, allocated = ground.memory.bytes;
    size_t given_back = micap_arena_trim(&ground.arena);
    ck_assert_uint_eq(ground.arena.region_count, 1);
    ck_assert_uint_eq(given_back, held - ground.arena.total_bytes);
    ck_assert_uint_ge(allocated - ground.memory.bytes, given_back);
    require_sound(&ground);
    for (uint32_t i = 0; i < 16; ++i)
        ck_assert_msg(ground_allocate(&ground, 512 * KIB), "a trimmed arena grows again");
    require_sound(&ground);
    ground_close(&ground);
}
END_TEST

START_TEST(a_region_that_is_refused_is_tried_at_half_its_size)
{
    ground ground;
    ground_open(&ground, 1);
    ck_assert_msg(ground_allocate(&ground, SMALL_ARENA), "there is room");
    faulty_allocator_fail_at(&ground.allocator, 2, false); /* the first is for the bits of the region */
    ck_assert_msg(ground_allocate(&ground, 4 * KIB), "half of it will do");
    ck_assert_uint_eq(ground.allocator.failures, 1);
    ck_assert_uint_eq(ground.arena.total_bytes, SMALL_ARENA + 1 * MIB);
    require_sound(&ground);
    ground_close(&ground);
}
END_TEST

static size_t list_bytes(const micap_arena *arena)
{
    return arena->region_capacity * sizeof *arena->regions;
}

START_TEST(a_failed_allocation_leaves_the_arena_as_it_was_and_usable)
{
    const size_t sizes[] = {MICAP_BLOCK_BYTES_MIN, 64 * KIB, SMALL_ARENA, 2 * MIB, 64 * MIB};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        for (uint64_t k = 1; k <= 3; ++k) {
            ground ground;
            ground_open(&ground, k);
            for (uint32_t full = 0; full < 4; ++full) /* so that the list of regions has to grow as well */
                ck_assert_msg(ground_allocate(&ground, full == 0 ? SMALL_ARENA : MIB << full), "there is room");
            size_t in_regions = ground.memory.bytes - list_bytes(&ground.arena);
            faulty_allocator_fail_at(&ground.allocator, k, true);
            ck_assert_msg(!ground_allocate(&ground, sizes[i]), "a new region takes three allocations");
            ck_assert_uint_eq(ground.memory.bytes - list_bytes(&ground.arena), in_regions);
            require_sound(&ground);
            faulty_allocator_fail_at(&ground.allocator, 0, false);
            ck_assert_msg(ground_allocate(&ground, sizes[i]), "memory is back");
            require_sound(&ground);
            ground_release_all(&ground);
            require_merged(&ground.arena);
            ground_close(&ground);
        }
}
END_TEST

START_TEST(an_arena_plays_on_through_random_failures)
{
    ground ground;
    ground_open(&ground, 11);
    uint32_t refused = 0;
    for (uint32_t step = 0; step < 4000; ++step) {
        /* Few and large blocks, and a trim each time, so that regions come and go. */
        faulty_allocator_fail_at(&ground.allocator, random_below(&ground.random, 4), random_one_in(&ground.random, 2));
        if (random_one_in(&ground.random, 2) && ground.block_count < 8)
            refused += !ground_allocate(&ground, (size_t)64 * KIB << random_below(&ground.random, 6));
        else if (ground.block_count)
            ground_release(&ground, random_below(&ground.random, ground.block_count));
        micap_arena_trim(&ground.arena);
        require_sound(&ground);
    }
    ck_assert_msg(refused > 50, "only %u allocations were refused: the test shows nothing", refused);
    ground_release_all(&ground);
    require_merged(&ground.arena);
    ground_close(&ground);
}
END_TEST

START_TEST(freeing_an_arena_releases_blocks_that_are_still_out)
{
    ground ground;
    ground_open(&ground, 5);
    for (uint32_t i = 0; i < 200; ++i)
        ck_assert_msg(ground_allocate(&ground, random_block_bytes(&ground.random)), "there is room");
    micap_arena_free(&ground.arena);
    ck_assert_uint_eq(ground.allocator.live_blocks, 0);
    ground_close(&ground); /* and freeing twice is harmless */
}
END_TEST

TEST_SUITE(arena, random_blocks_are_aligned_and_apart_and_merge_back_into_their_regions,
           blocks_of_one_size_are_handed_out_in_rising_order, a_block_below_the_smallest_takes_the_smallest,
           two_halves_become_the_whole_in_either_order, a_released_block_is_used_again_without_asking_the_allocator,
           regions_grow_with_what_is_held_up_to_a_limit, a_block_larger_than_a_region_gets_one_of_its_size,
           trimming_keeps_the_regions_in_use, a_region_that_is_refused_is_tried_at_half_its_size,
           a_failed_allocation_leaves_the_arena_as_it_was_and_usable, an_arena_plays_on_through_random_failures,
           freeing_an_arena_releases_blocks_that_are_still_out)
