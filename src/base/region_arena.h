/* The arena: power-of-two blocks cut from large regions by halving (a buddy allocator). Blocks are aligned to their
 * size and not zeroed. Regions grow with what is in use, so that a small world stays small and a large one lies in huge
 * pages. A released block stays in the arena, warm, until the arena is trimmed.
 *
 * Which blocks are free is kept beside the region, a bit per block and order: a list through the free blocks would touch
 * a huge page for every half that is cut off (measured: 6 to 13 bytes per entity, and the time to clear them). */
#ifndef MICAP_BASE_REGION_ARENA_H
#define MICAP_BASE_REGION_ARENA_H

#include "base/memory.h"

enum {
    MICAP_BLOCK_BYTES_MIN = 512,
    MICAP_BLOCK_ORDERS = 24, /* blocks of 512 B << order, up to 4 GiB */
};

/* Sorted by base, so that a block finds its region by bisection. */
typedef struct micap_region {
    char *base;
    uint64_t *free_bits; /* for each order in turn, a bit per block of that order; order 0 first */
    size_t used_bytes;
    uint32_t order; /* of the whole region */
    uint32_t free_count[MICAP_BLOCK_ORDERS];
    uint32_t first_word[MICAP_BLOCK_ORDERS]; /* of free_bits, by order */
} micap_region;

typedef struct micap_arena {
    micap_memory *memory;
    micap_region *regions;
    uint32_t region_count;
    uint32_t region_capacity;
    size_t total_bytes;
} micap_arena;

void micap_arena_init(micap_arena *arena, micap_memory *memory);
/* Releases everything, used or not. */
void micap_arena_free(micap_arena *arena);

/* `bytes` is a power of two. Returns NULL when there is no memory. */
void *micap_arena_allocate(micap_arena *arena, size_t bytes);
void micap_arena_release(micap_arena *arena, void *block, size_t bytes);

/* Gives the memory of a part of a block that needs not keep its contents back to the system, where a region is pages. */
void micap_arena_discard(const micap_arena *arena, void *part, size_t bytes);

/* Releases unused regions, and gives the memory of free blocks back to the system. Returns the size of the regions. */
size_t micap_arena_trim(micap_arena *arena);

#endif
