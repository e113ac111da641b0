/* The heap of text and lists: blocks of any size, shared by all worlds of the process, for any thread.
 *
 * There are 8 to 64 bytes in steps of 8, then four sizes per power of two. Small blocks are cut from spans, one size per span; the
 * spans of a large heap lie in huge pages. A thread
 * takes free blocks from its own cache; caches and spans exchange blocks in batches, under a lock per size. Larger blocks are malloc's.
 * Address sanitizer sees every block, since all are malloc's then. */
#ifndef MICAP_BASE_BLOCK_HEAP_H
#define MICAP_BASE_BLOCK_HEAP_H

#include "base/assert.h"
#include "mica/list.h"

#include <stddef.h>
#include <stdint.h>

enum {
    MICAP_HEAP_BLOCK_SMALL_SIZES = 43, /* up to 32 KiB */
    MICAP_HEAP_BLOCK_SIZES = 57,       /* up to the largest list */
};

/* The number of the smallest size that has room, and the bytes of a size: mica_private_block_bytes, which is public, since
 * mica_list_append is inline. */
static inline uint32_t micap_heap_block_size_of(size_t bytes)
{
    if (bytes <= 64)
        return bytes <= 16 ? 0 : (uint32_t)(bytes + 7) / 8 - 2;
    uint32_t power = 63 - (uint32_t)MICAP_LEADING_ZEROS(bytes - 1);
    if (power >= 15)
        return MICAP_HEAP_BLOCK_SMALL_SIZES + power - 15;
    uint32_t quarter = (uint32_t)((bytes - 1 - ((size_t)1 << power)) >> (power - 2));
    return 7 + (power - 6) * 4 + quarter;
}
static inline size_t micap_heap_block_size_bytes(uint32_t size)
{
    return mica_private_block_bytes[size];
}

/* A block of a size, aligned to 8 bytes and not zeroed. NULL if memory is short. */
void *micap_heap_block_allocate(uint32_t size);
void micap_heap_block_free(void *block, uint32_t size);

/* A larger block with the same first bytes. NULL if memory is short: the block stays. */
void *micap_heap_block_grow(void *block, uint32_t size, uint32_t larger);

/* Gives spans without blocks in use back to the system, also those that only caches have blocks of: that of this thread, and those of
 * idle threads. Returns their bytes. */
size_t micap_heap_trim(void);

/* A thread that is idle uses no block until it is busy again, so that a trim in another thread can have its cache. Each free block in a
 * cache keeps a span. */
void micap_heap_thread_idle(void);
void micap_heap_thread_busy(void);

/* The bytes of all spans. */
size_t micap_heap_bytes(void);

/* For tests: after so many more blocks, memory is short. INT64_MAX: never. */
void micap_heap_limit(int64_t blocks);

#endif
