#include "base/memory.h"

#include "base/assert.h"
#include "base/bits.h"
#include "os/pages.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#    include <malloc.h>
#    define heap_allocate(bytes, alignment) _aligned_malloc(bytes, alignment)
#    define heap_free(pointer) _aligned_free(pointer)
#else
#    define heap_allocate(bytes, alignment) aligned_alloc(alignment, micap_align_up(bytes, alignment))
#    define heap_free(pointer) free(pointer)
#endif

/* Large aligned blocks are the arena's regions: whole pages. The rest is malloc's, and so are the regions of small worlds, because calls
 * of the system would take most of the time of such a world. Checked builds map every region, to invalidate pointers into it. */
#ifdef MICA_CHECKED
enum { PAGES_BYTES_MIN = MICAP_PAGE_BYTES };
#else
enum { PAGES_BYTES_MIN = 64 << 10 };
#endif

static bool wants_pages(size_t bytes, size_t alignment)
{
    return alignment >= MICAP_PAGE_BYTES && bytes >= PAGES_BYTES_MIN && bytes % MICAP_PAGE_BYTES == 0;
}

static void *default_allocate(size_t bytes, size_t alignment, void *context)
{
    (void)context;
    if (wants_pages(bytes, alignment))
        return micap_pages_allocate(bytes, alignment);
    return heap_allocate(bytes, alignment < sizeof(void *) ? sizeof(void *) : alignment);
}

static void default_release(void *pointer, size_t bytes, size_t alignment, void *context)
{
    (void)context;
    if (wants_pages(bytes, alignment))
        micap_pages_release(pointer, bytes);
    else
        heap_free(pointer);
}

enum { BLOCK_BYTES_MIN = 1 << 20 };

static bool is_block(size_t bytes, size_t alignment)
{
    return bytes >= BLOCK_BYTES_MIN && bytes <= SIZE_MAX / 2 && alignment <= MICAP_HUGE_PAGE_BYTES;
}

static void *allocate_block(size_t bytes, size_t alignment, void *context)
{
    if (is_block(bytes, alignment))
        return micap_pages_allocate(micap_align_up(bytes, MICAP_HUGE_PAGE_BYTES), MICAP_HUGE_PAGE_BYTES);
    return default_allocate(bytes, alignment, context);
}

static void release_block(void *pointer, size_t bytes, size_t alignment, void *context)
{
    if (is_block(bytes, alignment))
        micap_pages_release(pointer, micap_align_up(bytes, MICAP_HUGE_PAGE_BYTES));
    else
        default_release(pointer, bytes, alignment, context);
}

bool micap_memory_init(micap_memory *memory, mica_allocator allocator)
{
    if ((allocator.allocate == NULL) != (allocator.release == NULL))
        return false;
    if (!allocator.allocate) {
        allocator.allocate = default_allocate;
        allocator.release = default_release;
    }
    memory->allocator = allocator;
    atomic_init(&memory->bytes, 0);
    return true;
}

bool micap_memory_is_default(const micap_memory *memory)
{
    return memory->allocator.allocate == default_allocate;
}

bool micap_memory_is_pages(const micap_memory *memory, size_t bytes, size_t alignment)
{
    return micap_memory_is_default(memory) && wants_pages(bytes, alignment);
}

mica_allocator micap_block_allocator(const micap_memory *memory)
{
    return micap_memory_is_default(memory) ? (mica_allocator){allocate_block, release_block, NULL} : memory->allocator;
}

/* Allocates by an allocator of the memory, and counts. */
static void *allocate_by(micap_memory *memory, mica_allocator allocator, size_t bytes, size_t alignment)
{
    if (bytes == 0)
        bytes = 1;
    void *pointer = allocator.allocate(bytes, alignment, allocator.context);
    if (pointer)
        atomic_fetch_add_explicit(&memory->bytes, bytes, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&memory->failures, 1, memory_order_relaxed);
    return pointer;
}

void *micap_allocate(micap_memory *memory, size_t bytes, size_t alignment)
{
    return allocate_by(memory, memory->allocator, bytes, alignment);
}

void *micap_allocate_block(micap_memory *memory, size_t bytes, size_t alignment)
{
    return allocate_by(memory, micap_block_allocator(memory), bytes, alignment);
}

void *micap_allocate_zeroed(micap_memory *memory, size_t bytes, size_t alignment)
{
    void *pointer = micap_allocate(memory, bytes, alignment);
    if (pointer)
        memset(pointer, 0, bytes);
    return pointer;
}

static void release_by(micap_memory *memory, mica_allocator allocator, void *pointer, size_t bytes, size_t alignment)
{
    if (bytes == 0)
        bytes = 1;
    MICAP_ASSERT(atomic_load_explicit(&memory->bytes, memory_order_relaxed) >= bytes, "released more than allocated");
    atomic_fetch_sub_explicit(&memory->bytes, bytes, memory_order_relaxed);
    allocator.release(pointer, bytes, alignment, allocator.context);
}

void micap_release(micap_memory *memory, void *pointer, size_t bytes, size_t alignment)
{
    if (pointer) /* else there may be no memory, either */
        release_by(memory, memory->allocator, pointer, bytes, alignment);
}

void micap_release_block(micap_memory *memory, void *pointer, size_t bytes, size_t alignment)
{
    if (pointer)
        release_by(memory, micap_block_allocator(memory), pointer, bytes, alignment);
}

bool micap_array_reserve(micap_memory *memory, void *array_pointer, uint32_t *capacity, uint64_t needed,
                         size_t element_bytes)
{
    if (needed <= *capacity)
        return true;
    if (needed > UINT32_MAX / 2)
        return false;
    uint32_t grown = (uint32_t)micap_power_of_two_at_least(needed < 4 ? 4 : needed);
    if (grown > SIZE_MAX / 2 / element_bytes)
        return false;
    void *fresh = micap_allocate(memory, grown * element_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!fresh)
        return false;
    void *array;
    memcpy(&array, array_pointer, sizeof array); /* the caller's pointer has another type */
    if (array)
        memcpy(fresh, array, *capacity * element_bytes);
    micap_release(memory, array, *capacity * element_bytes, MICAP_ARRAY_ALIGNMENT);
    memcpy(array_pointer, &fresh, sizeof fresh);
    *capacity = grown;
    return true;
}
