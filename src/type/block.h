/* Blocks of text and lists: eight bytes, then the elements. Values point to the elements.
 *
 * A block is shared by all copies of a value. The number of owners rises with every copy; an owner that is not the only one copies the block
 * before a write. A thread that finds itself the only owner sees everything that the former owners did, by the acquire of that check and the
 * release of theirs. Nothing that a program can observe depends on how many owners there are. */
#ifndef MICAP_TYPE_BLOCK_H
#define MICAP_TYPE_BLOCK_H

#include "base/block_heap.h"
#include "mica/describe.h"

#include <stdatomic.h>
#include <string.h>

/* What lies before the elements. mica_list_append, which is inline, reads it too. */
typedef struct micap_heap_block {
    _Atomic uint32_t owners; /* from bit 14 on; below, see micap_heap_block_form */
    uint32_t count;          /* elements; from bit 26 on, the number of the size of the block */
} micap_heap_block;

enum {
    MICAP_HEAP_BLOCK_OWNERS_MAX = 200000, /* the next copy gets a block of its own; far from what fits */
};

_Static_assert(sizeof(micap_heap_block) == MICA_PRIVATE_LIST_HEAD_BYTES && sizeof(mica_text) == 16 &&
                   sizeof(mica_list) == 8,
               "as documented");
_Static_assert(MICAP_HEAP_BLOCK_SIZES <= 64, "a size has six bits");

static inline micap_heap_block *micap_heap_block_of(const void *elements)
{
    return (micap_heap_block *)elements - 1;
}

static inline void *micap_heap_block_elements(micap_heap_block *block)
{
    return block + 1;
}

static inline uint32_t micap_heap_block_count(const micap_heap_block *block)
{
    return block->count & MICA_LIST_COUNT_MAX;
}

static inline void micap_heap_block_set_count(micap_heap_block *block, uint32_t count)
{
    block->count = (block->count & ~(uint32_t)MICA_LIST_COUNT_MAX) | count;
}

static inline uint32_t micap_heap_block_size(const micap_heap_block *block)
{
    return block->count >> MICA_PRIVATE_LIST_SIZE_SHIFT;
}

static inline bool micap_heap_block_has_room(const micap_heap_block *block, size_t bytes)
{
    return sizeof *block + bytes <= micap_heap_block_size_bytes(micap_heap_block_size(block));
}

/* What is known about the elements: their bytes, and whether they own something. */
static inline uint32_t micap_heap_block_form(const micap_heap_block *block)
{
    return atomic_load_explicit(&block->owners, memory_order_relaxed) & (MICA_PRIVATE_LIST_OWNER - 1);
}

static inline bool micap_heap_block_is_shared(const micap_heap_block *block)
{
    return atomic_load_explicit(&block->owners, memory_order_acquire) >= 2 * MICA_PRIVATE_LIST_OWNER;
}

/* Adds an owner; false if there are too many. */
static inline bool micap_heap_block_share(micap_heap_block *block)
{
    if (atomic_load_explicit(&block->owners, memory_order_relaxed) / MICA_PRIVATE_LIST_OWNER >=
        MICAP_HEAP_BLOCK_OWNERS_MAX)
        return false;
    atomic_fetch_add_explicit(&block->owners, MICA_PRIVATE_LIST_OWNER, memory_order_relaxed);
    return true;
}

/* Removes an owner; true if it was the last, which then frees the block. */
static inline bool micap_heap_block_leave(micap_heap_block *block)
{
    if (!micap_heap_block_is_shared(block))
        return true;
    return atomic_fetch_sub_explicit(&block->owners, MICA_PRIVATE_LIST_OWNER, memory_order_acq_rel) <
           2 * MICA_PRIVATE_LIST_OWNER;
}

/* A block with room for so many bytes of elements, one owner and no elements. NULL if memory is short. */
micap_heap_block *micap_heap_block_create(size_t bytes, uint32_t form);
void micap_heap_block_destroy(micap_heap_block *block);

/* The same elements with room for more bytes, which the block has no room for, for the only owner. NULL if memory is short: the block stays. */
micap_heap_block *micap_heap_block_reserve(micap_heap_block *block, size_t bytes);

#endif
