#include "base/region_arena.h"

#include "base/assert.h"
#include "base/bits.h"
#include "os/pages.h"

#include <string.h>

enum {
    REGION_BYTES_FIRST = 8 << 10,
    SMALL_ARENA_BYTES = 128 << 10, /* from here on, regions are whole huge pages */
    REGION_BYTES_MAX = 32 << 20,
};

static uint32_t order_of(size_t bytes)
{
    return bytes <= MICAP_BLOCK_BYTES_MIN ? 0 : micap_log2(bytes) - micap_log2(MICAP_BLOCK_BYTES_MIN);
}

static size_t bytes_of(uint32_t order)
{
    return (size_t)MICAP_BLOCK_BYTES_MIN << order;
}

static uint32_t words_of(uint32_t region_order, uint32_t order)
{
    return ((1u << (region_order - order)) + 63) / 64;
}

static uint32_t words_in_all(uint32_t region_order)
{
    uint32_t words = 0;
    for (uint32_t order = 0; order <= region_order; ++order)
        words += words_of(region_order, order);
    return words;
}

static uint64_t *bits_of(const micap_region *region, uint32_t order)
{
    return region->free_bits + region->first_word[order];
}

static bool is_free(const micap_region *region, uint32_t order, size_t block)
{
    return bits_of(region, order)[block / 64] >> block % 64 & 1;
}

static void put(micap_region *region, uint32_t order, size_t block)
{
    bits_of(region, order)[block / 64] |= (uint64_t)1 << block % 64;
    ++region->free_count[order];
}

static void take(micap_region *region, uint32_t order, size_t block)
{
    bits_of(region, order)[block / 64] &= ~((uint64_t)1 << block % 64);
    --region->free_count[order];
}

static size_t first_free(const micap_region *region, uint32_t order)
{
    const uint64_t *bits = bits_of(region, order);
    size_t word = 0;
    while (!bits[word])
        ++word;
    return word * 64 + (size_t)MICAP_TRAILING_ZEROS(bits[word]);
}

static micap_region *region_of(const micap_arena *arena, const void *block)
{
    uint32_t low = 0, high = arena->region_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if ((const char *)block >= arena->regions[middle].base)
            low = middle;
        else
            high = middle;
    }
    MICAP_ASSERT((const char *)block >= arena->regions[low].base &&
                     (const char *)block < arena->regions[low].base + bytes_of(arena->regions[low].order),
                 "a block belongs to a region");
    return &arena->regions[low];
}

void micap_arena_init(micap_arena *arena, micap_memory *memory)
{
    memset(arena, 0, sizeof *arena);
    arena->memory = memory;
}

static void release_region(micap_arena *arena, micap_region *region)
{
    size_t bytes = bytes_of(region->order);
    arena->total_bytes -= bytes;
    micap_release(arena->memory, region->free_bits, words_in_all(region->order) * sizeof(uint64_t),
                  MICAP_ARRAY_ALIGNMENT);
    micap_release(arena->memory, region->base, bytes, bytes);
}

void micap_arena_free(micap_arena *arena)
{
    for (uint32_t i = 0; i < arena->region_count; ++i)
        release_region(arena, &arena->regions[i]);
    MICAP_RELEASE_ARRAY(arena->memory, arena->regions, arena->region_capacity);
    memset(arena, 0, sizeof *arena);
}

static bool add_region_of(micap_arena *arena, size_t bytes)
{
    if (!MICAP_RESERVE(arena->memory, arena->regions, &arena->region_capacity, (uint64_t)arena->region_count + 1))
        return false;
    micap_region region = {.order = order_of(bytes)};
    size_t bits_bytes = words_in_all(region.order) * sizeof(uint64_t);
    region.free_bits = micap_allocate_zeroed(arena->memory, bits_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!region.free_bits)
        return false;
    region.base = micap_allocate(arena->memory, bytes, bytes);
    if (!region.base) {
        micap_release(arena->memory, region.free_bits, bits_bytes, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    for (uint32_t order = 0; order < region.order; ++order)
        region.first_word[order + 1] = region.first_word[order] + words_of(region.order, order);
    put(&region, region.order, 0);
    uint32_t at = arena->region_count;
    for (; at > 0 && arena->regions[at - 1].base > region.base; --at)
        arena->regions[at] = arena->regions[at - 1];
    arena->regions[at] = region;
    ++arena->region_count;
    arena->total_bytes += bytes;
    return true;
}

/* Doubles the size of the arena, in whole huge pages except for a small one. An arena that starts with a large block is loading a
 * level: in huge pages, spawning takes less than half the time per entity. */
static size_t next_region_bytes(const micap_arena *arena, size_t needed)
{
    size_t bytes = arena->total_bytes ? micap_power_of_two_at_least(arena->total_bytes) : REGION_BYTES_FIRST;
    bool is_small = arena->total_bytes < SMALL_ARENA_BYTES && needed <= SMALL_ARENA_BYTES;
    if (!is_small && bytes < MICAP_HUGE_PAGE_BYTES)
        return MICAP_HUGE_PAGE_BYTES;
    return bytes < REGION_BYTES_MAX ? bytes : REGION_BYTES_MAX;
}

/* Takes less if memory for the next region is refused. */
static bool add_region(micap_arena *arena, size_t needed)
{
    for (size_t bytes = next_region_bytes(arena, needed); bytes > needed; bytes /= 2)
        if (add_region_of(arena, bytes))
            return true;
    return add_region_of(arena, needed < MICAP_PAGE_BYTES ? MICAP_PAGE_BYTES : needed);
}

/* The smallest free block that is large enough; its region, or NULL. */
static micap_region *find_block(micap_arena *arena, uint32_t wanted, uint32_t *out_order)
{
    for (uint32_t order = wanted; order < MICAP_BLOCK_ORDERS; ++order)
        for (uint32_t i = 0; i < arena->region_count; ++i)
            if (arena->regions[i].free_count[order]) {
                *out_order = order;
                return &arena->regions[i];
            }
    return NULL;
}

void *micap_arena_allocate(micap_arena *arena, size_t bytes)
{
    uint32_t wanted = order_of(bytes), order = wanted;
    MICAP_ASSERT(wanted < MICAP_BLOCK_ORDERS && micap_is_power_of_two(bytes), "block sizes are powers of two");
    micap_region *region = find_block(arena, wanted, &order);
    if (!region) {
        if (!add_region(arena, bytes_of(wanted)))
            return NULL;
        region = find_block(arena, wanted, &order);
    }
    size_t block = first_free(region, order);
    take(region, order, block);
    while (order > wanted) { /* keep the lower half, so that memory is first touched in rising order */
        --order;
        block *= 2;
        put(region, order, block + 1);
    }
    region->used_bytes += bytes_of(wanted);
    return region->base + block * bytes_of(wanted);
}

void micap_arena_release(micap_arena *arena, void *memory, size_t bytes)
{
    uint32_t order = order_of(bytes);
    micap_region *region = region_of(arena, memory);
    region->used_bytes -= bytes_of(order);
    size_t block = (size_t)((char *)memory - region->base) / bytes_of(order);
    while (order < region->order && is_free(region, order, block ^ 1)) {
        take(region, order, block ^ 1);
        block /= 2;
        ++order;
    }
    put(region, order, block);
}

static bool is_pages(const micap_arena *arena, const micap_region *region)
{
    return micap_memory_is_pages(arena->memory, bytes_of(region->order), bytes_of(region->order));
}

void micap_arena_discard(const micap_arena *arena, void *part, size_t bytes)
{
    if (is_pages(arena, region_of(arena, part)))
        micap_pages_discard(part, bytes);
}

/* A huge page is in memory as a whole after its first touch, and blocks that were in use before stay there, too. */
static void discard_free_blocks(const micap_region *region)
{
    for (uint32_t order = order_of(MICAP_PAGE_BYTES); order < region->order; ++order)
        for (size_t block = 0; region->free_count[order] && block < (size_t)1 << (region->order - order); ++block)
            if (is_free(region, order, block))
                micap_pages_discard(region->base + block * bytes_of(order), bytes_of(order));
}

size_t micap_arena_trim(micap_arena *arena)
{
    size_t given_back = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < arena->region_count; ++i) {
        micap_region *region = &arena->regions[i];
        if (region->used_bytes) {
            if (is_pages(arena, region))
                discard_free_blocks(region);
            arena->regions[kept++] = *region;
            continue;
        }
        given_back += bytes_of(region->order);
        release_region(arena, region);
    }
    arena->region_count = kept;
    return given_back;
}
