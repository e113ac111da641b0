/* The heap of text and lists: blocks of any size, shared by all worlds of the process, for any thread.
 *
 * There are 8 to 64 bytes in steps of 8, then four sizes per power of two. Small blocks are cut from spans, one size per span; the
 * spans of a large heap lie in huge pages. A thread
 * takes free blocks from its own cache; caches and spans exchange blocks in batches, under a lock per size. Larger blocks are malloc's.
 * Address sanitizer sees every block, since all are malloc's then. */
#ifndef MICAP_BASE_BLOCK_HEAP_H
#define MICAP_BASE_BLOCK_HEAP_H

#include "mica/list.h"

#include <stddef.h>
#include <stdint.h>

enum {
    MICAP_HEAP_BLOCK_SMALL_SIZES = 43, /* up to 32 KiB */
    MICAP_HEAP_BLOCK_SIZES = 57,       /* up to the largest list */
};

/* The number of the smallest size that has room, and the bytes of a size: mica_private_block_bytes, which is public, since
 * mica_list_append is inline. */
uint32_t micap_heap_block_size_of(size_t bytes);
static inline size_t micap_heap_block_size_bytes(uint32_t size)
{
    return mica_private_block_bytes[size];
}

/* A block of a size, aligned to 8 bytes and not zeroed. NULL if memory is short. */
void *micap_heap_block_allocate(uint32_t size);
void micap_heap_block_free(void *block, uint32_t size);

/* A larger block with the same first bytes. NULL if memory is short: the block stays. */
void *micap_heap_block_grow(void *block, uint32_t size, uint32_t larger);

/* Gives spans without blocks in use back to the system, also those that only the cache of this thread has blocks of. Returns their bytes. */
size_t micap_heap_trim(void);

/* The bytes of all spans. */
size_t micap_heap_bytes(void);

/* For tests: after so many more blocks, memory is short. INT64_MAX: never. */
void micap_heap_limit(int64_t blocks);

#endif
