/* The allocator of a world with a count of what it holds. Everything Mica allocates for a world goes through here. */
#ifndef MICAP_BASE_MEMORY_H
#define MICAP_BASE_MEMORY_H

#include "mica/base.h"

#include <stdatomic.h>

typedef struct micap_memory {
    mica_allocator allocator;
    atomic_size_t bytes; /* allocated and not released: command buffers count from any thread */
    atomic_uint failures;
} micap_memory;

/* Takes the user's allocator, or the default for one that is all NULL. False if only one of its functions is given. */
bool micap_memory_init(micap_memory *memory, mica_allocator allocator);

/* Whether it is the default. */
bool micap_memory_is_default(const micap_memory *memory);

/* Whether an allocation of that size is whole pages of the system, so that parts of it can be given to micap_pages_discard. */
bool micap_memory_is_pages(const micap_memory *memory, size_t bytes, size_t alignment);

/* Not zeroed. NULL if memory is short. `bytes` may be 0. */
void *micap_allocate(micap_memory *memory, size_t bytes, size_t alignment);
void *micap_allocate_zeroed(micap_memory *memory, size_t bytes, size_t alignment);

/* For what is filled at once and does not grow. With the default allocator, large blocks are whole huge pages: first touch of other pages
 * takes ten times as long. Released by micap_release_block, or by the allocator that such blocks come from. */
void *micap_allocate_block(micap_memory *memory, size_t bytes, size_t alignment);
void micap_release_block(micap_memory *memory, void *pointer, size_t bytes, size_t alignment);
mica_allocator micap_block_allocator(const micap_memory *memory);

/* How often memory was short so far. */
static inline uint32_t micap_memory_failures(micap_memory *memory)
{
    return atomic_load_explicit(&memory->failures, memory_order_relaxed);
}

/* `bytes` and alignment must be those of the allocation. NULL is a no-op. */
void micap_release(micap_memory *memory, void *pointer, size_t bytes, size_t alignment);

/* Makes room for `needed` elements by doubling. On failure the array is untouched and the result false. */
bool micap_array_reserve(micap_memory *memory, void *array_pointer, uint32_t *capacity, uint64_t needed,
                         size_t element_bytes);

#define MICAP_RESERVE(memory, array, capacity, needed)                                                                 \
    ((needed) <= *(capacity) || micap_array_reserve((memory), &(array), (capacity), (needed), sizeof(*(array))))
#define MICAP_RELEASE_ARRAY(memory, array, capacity)                                                                   \
    micap_release((memory), (array), (size_t)(capacity) * sizeof(*(array)), MICAP_ARRAY_ALIGNMENT)

enum { MICAP_ARRAY_ALIGNMENT = 16, MICAP_CACHE_LINE = 64 };

#endif
