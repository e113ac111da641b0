/* Arrays that are read in random order: large ones have pages of their own, aligned so that the system can use huge pages, because looking up
 * the addresses of small pages would take most of the time. */
#ifndef MICAP_INDEX_LARGE_ARRAY_H
#define MICAP_INDEX_LARGE_ARRAY_H

#include "base/bits.h"
#include "base/memory.h"
#include "os/pages.h"

static inline bool micap_is_large(size_t bytes)
{
    return bytes >= MICAP_HUGE_PAGE_BYTES;
}

/* Not zeroed; NULL if memory is short. */
static inline void *micap_large_allocate(micap_memory *memory, size_t bytes)
{
    return micap_is_large(bytes)
               ? micap_allocate(memory, micap_align_up(bytes, MICAP_HUGE_PAGE_BYTES), MICAP_HUGE_PAGE_BYTES)
               : micap_allocate(memory, bytes, MICAP_ARRAY_ALIGNMENT);
}

/* `bytes` must be that of the allocation. NULL is a no-op. */
static inline void micap_large_release(micap_memory *memory, void *array, size_t bytes)
{
    if (micap_is_large(bytes))
        micap_release(memory, array, micap_align_up(bytes, MICAP_HUGE_PAGE_BYTES), MICAP_HUGE_PAGE_BYTES);
    else
        micap_release(memory, array, bytes, MICAP_ARRAY_ALIGNMENT);
}

#endif
