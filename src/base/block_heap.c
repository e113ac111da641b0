#include "base/block_heap.h"

#include "base/assert.h"
#include "base/region_arena.h"
#include "os/pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#    define IS_SANITIZED 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define IS_SANITIZED 1
#    endif
#endif
#ifndef IS_SANITIZED
#    define IS_SANITIZED 0
#endif

enum {
    SPAN_BYTES = 256 << 10,
    SPAN_HEADER_BYTES = 64,
    SMALL_HEAP_BYTES = 2 << 20, /* from here on, spans are cut from regions of huge pages */
};

/* A free block. */
typedef struct free_block {
    struct free_block *next;
} free_block;

/* A span begins with this, and is aligned to its size. */
typedef struct span {
    struct span *next;
    uint32_t cut;  /* bytes that are cut into blocks, or the header */
    uint32_t idle; /* blocks that are free, while spans are counted */
    bool is_in_region;
} span;

/* All blocks of one size. */
typedef struct shelf {
    pthread_mutex_t lock;
    free_block *first;
    span *spans; /* blocks are cut from the first */
} shelf;

typedef struct cache {
    struct {
        free_block *first;
        uint32_t count;
    } shelves[MICAP_HEAP_BLOCK_SMALL_SIZES];
} cache;

static shelf shelves[MICAP_HEAP_BLOCK_SMALL_SIZES];
static atomic_size_t span_bytes;

/* Regions that spans are cut from, once the heap is large. */
static struct {
    pthread_mutex_t lock;
    micap_memory memory;
    micap_arena arena;
} regions;

static _Atomic int64_t blocks_left = INT64_MAX;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t cache_key; /* gives the blocks of a thread back when it ends */
static _Thread_local cache *cache_of_thread;

uint32_t micap_heap_block_size_of(size_t bytes)
{
    if (bytes <= 64)
        return bytes <= 16 ? 0 : (uint32_t)(bytes + 7) / 8 - 2;
    uint32_t power = 63 - (uint32_t)__builtin_clzll(bytes - 1);
    if (power >= 15)
        return MICAP_HEAP_BLOCK_SMALL_SIZES + power - 15;
    uint32_t quarter = (uint32_t)((bytes - 1 - ((size_t)1 << power)) >> (power - 2));
    return 7 + (power - 6) * 4 + quarter;
}

const uint32_t mica_private_block_bytes[MICAP_HEAP_BLOCK_SIZES] = {
    16,
    24,
    32,
    40,
    48,
    56,
    64,
    80,
    96,
    112,
    128,
    160,
    192,
    224,
    256,
    320,
    384,
    448,
    512,
    640,
    768,
    896,
    1024,
    1280,
    1536,
    1792,
    2048,
    2560,
    3072,
    3584,
    4096,
    5120,
    6144,
    7168,
    8192,
    10240,
    12288,
    14336,
    16384,
    20480,
    24576,
    28672,
    32768,
    65536,
    131072,
    262144,
    524288,
    1048576,
    2097152,
    4194304,
    8388608,
    16777216,
    33554432,
    67108864,
    134217728,
    268435456,
    /* The largest list and its head, so that a block that has room never lets a list become too long. */
    MICA_LIST_BYTES_MAX + MICA_PRIVATE_LIST_HEAD_BYTES,
};

/* How many free blocks of a size the cache of a thread has at most: 16 KiB of them, but at least 2 and at most 64. */
static uint32_t cache_limit(uint32_t size)
{
    static const uint8_t limits[MICAP_HEAP_BLOCK_SMALL_SIZES] = {
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 51, 42, 36, 32, 25, 21, 18,
        16, 12, 10, 9,  8,  6,  5,  4,  4,  3,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,
    };
    return limits[size];
}

/* Moves blocks of a cache to the shelf until `left` of them remain. */
static void give_back(cache *of, uint32_t size, uint32_t left)
{
    shelf *to = &shelves[size];
    pthread_mutex_lock(&to->lock);
    while (of->shelves[size].count > left) {
        free_block *block = of->shelves[size].first;
        of->shelves[size].first = block->next;
        --of->shelves[size].count;
        block->next = to->first;
        to->first = block;
    }
    pthread_mutex_unlock(&to->lock);
}

static void empty_cache(cache *of)
{
    for (uint32_t size = 0; size < MICAP_HEAP_BLOCK_SMALL_SIZES; ++size)
        if (of->shelves[size].count)
            give_back(of, size, 0);
}

static void end_of_thread(void *of)
{
    cache_of_thread = NULL;
    empty_cache(of);
    free(of);
}

static void begin(void)
{
    for (uint32_t size = 0; size < MICAP_HEAP_BLOCK_SMALL_SIZES; ++size)
        pthread_mutex_init(&shelves[size].lock, NULL);
    pthread_mutex_init(&regions.lock, NULL);
    micap_memory_init(&regions.memory, (mica_allocator){0});
    micap_arena_init(&regions.arena, &regions.memory);
    pthread_key_create(&cache_key, end_of_thread);
}

static bool is_short(void)
{
    return MICAP_UNLIKELY(atomic_load_explicit(&blocks_left, memory_order_relaxed) != INT64_MAX) &&
           atomic_fetch_sub_explicit(&blocks_left, 1, memory_order_relaxed) <= 0;
}

static MICAP_COLD cache *make_cache(void)
{
    pthread_once(&once, begin);
    cache_of_thread = is_short() ? NULL : calloc(1, sizeof *cache_of_thread);
    pthread_setspecific(cache_key, cache_of_thread);
    return cache_of_thread;
}

static span *allocate_in_region(void)
{
    pthread_mutex_lock(&regions.lock);
    span *fresh = micap_arena_allocate(&regions.arena, SPAN_BYTES);
    pthread_mutex_unlock(&regions.lock);
    return fresh;
}

static span *add_span(shelf *to)
{
    if (is_short())
        return NULL;
    bool is_in_region = atomic_load_explicit(&span_bytes, memory_order_relaxed) >= SMALL_HEAP_BYTES;
    span *fresh = is_in_region ? allocate_in_region() : micap_pages_allocate(SPAN_BYTES, SPAN_BYTES);
    if (!fresh)
        return NULL;
    *fresh = (span){.next = to->spans, .cut = SPAN_HEADER_BYTES, .is_in_region = is_in_region};
    to->spans = fresh;
    atomic_fetch_add_explicit(&span_bytes, SPAN_BYTES, memory_order_relaxed);
    return fresh;
}

static void release_span(span *each)
{
    if (!each->is_in_region) {
        micap_pages_release(each, SPAN_BYTES);
        return;
    }
    pthread_mutex_lock(&regions.lock);
    micap_arena_release(&regions.arena, each, SPAN_BYTES);
    pthread_mutex_unlock(&regions.lock);
}

static free_block *cut_block(shelf *from, size_t bytes)
{
    span *first = from->spans;
    if ((!first || first->cut + bytes > SPAN_BYTES) && !(first = add_span(from)))
        return NULL;
    free_block *block = (void *)((char *)first + first->cut);
    first->cut += (uint32_t)bytes;
    return block;
}

static free_block *take_block(shelf *from, size_t bytes)
{
    free_block *block = from->first;
    if (!block)
        return cut_block(from, bytes);
    from->first = block->next;
    return block;
}

/* Takes half of what an empty cache may have from the shelf, and returns one block more. NULL if memory is short. */
static MICAP_COLD void *refill(cache *to, uint32_t size)
{
    shelf *from = &shelves[size];
    size_t bytes = micap_heap_block_size_bytes(size);
    pthread_mutex_lock(&from->lock);
    free_block *block = take_block(from, bytes), *next, **end = &to->shelves[size].first;
    /* In order of addresses, in which they are mostly visited. */
    for (uint32_t i = 0; block && i < cache_limit(size) / 2 && (next = take_block(from, bytes)) != NULL; ++i) {
        next->next = NULL;
        *end = next;
        end = &next->next;
        ++to->shelves[size].count;
    }
    pthread_mutex_unlock(&from->lock);
    return block;
}

void *micap_heap_block_allocate(uint32_t size)
{
    if (is_short())
        return NULL;
    if (IS_SANITIZED || size >= MICAP_HEAP_BLOCK_SMALL_SIZES)
        return malloc(micap_heap_block_size_bytes(size));
    cache *of = cache_of_thread ? cache_of_thread : make_cache();
    free_block *block = of ? of->shelves[size].first : NULL;
    if (MICAP_UNLIKELY(!block))
        return of ? refill(of, size) : NULL;
    of->shelves[size].first = block->next;
    --of->shelves[size].count;
    return block;
}

/* For a thread that has no memory for a cache. */
static MICAP_COLD void free_without_cache(free_block *block, uint32_t size)
{
    shelf *to = &shelves[size];
    pthread_mutex_lock(&to->lock);
    block->next = to->first;
    to->first = block;
    pthread_mutex_unlock(&to->lock);
}

void micap_heap_block_free(void *block, uint32_t size)
{
    if (IS_SANITIZED || size >= MICAP_HEAP_BLOCK_SMALL_SIZES) {
        free(block);
        return;
    }
    cache *of = cache_of_thread ? cache_of_thread : make_cache();
    if (MICAP_UNLIKELY(!of)) {
        free_without_cache(block, size);
        return;
    }
    ((free_block *)block)->next = of->shelves[size].first;
    of->shelves[size].first = block;
    if (MICAP_UNLIKELY(++of->shelves[size].count > cache_limit(size)))
        give_back(of, size, cache_limit(size) / 2);
}

void *micap_heap_block_grow(void *block, uint32_t size, uint32_t larger)
{
    if (size >= MICAP_HEAP_BLOCK_SMALL_SIZES)
        return is_short() ? NULL : realloc(block, micap_heap_block_size_bytes(larger));
    void *fresh = micap_heap_block_allocate(larger);
    if (!fresh)
        return NULL;
    memcpy(fresh, block, micap_heap_block_size_bytes(size));
    micap_heap_block_free(block, size);
    return fresh;
}

static span *span_of(const void *block)
{
    return (span *)((uintptr_t)block & ~(uintptr_t)(SPAN_BYTES - 1));
}

static bool is_idle(const span *of, size_t bytes)
{
    return of->idle == (of->cut - SPAN_HEADER_BYTES) / bytes;
}

/* Releases the spans of one size whose blocks are all free. */
static size_t trim_shelf(shelf *of, size_t bytes)
{
    size_t released = 0;
    pthread_mutex_lock(&of->lock);
    for (span *each = of->spans; each; each = each->next)
        each->idle = 0;
    for (free_block *block = of->first; block; block = block->next)
        ++span_of(block)->idle;
    for (free_block **link = &of->first; *link;) {
        if (is_idle(span_of(*link), bytes))
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
    for (span **link = &of->spans; *link;) {
        span *each = *link;
        if (!is_idle(each, bytes)) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        release_span(each);
        released += SPAN_BYTES;
    }
    pthread_mutex_unlock(&of->lock);
    atomic_fetch_sub_explicit(&span_bytes, released, memory_order_relaxed);
    return released;
}

size_t micap_heap_trim(void)
{
    cache *of = cache_of_thread ? cache_of_thread : make_cache();
    if (of)
        empty_cache(of);
    size_t released = 0;
    for (uint32_t size = 0; size < MICAP_HEAP_BLOCK_SMALL_SIZES; ++size)
        released += trim_shelf(&shelves[size], micap_heap_block_size_bytes(size));
    pthread_mutex_lock(&regions.lock);
    micap_arena_trim(&regions.arena);
    pthread_mutex_unlock(&regions.lock);
    return released;
}

size_t micap_heap_bytes(void)
{
    return atomic_load_explicit(&span_bytes, memory_order_relaxed);
}

void micap_heap_limit(int64_t blocks)
{
    atomic_store_explicit(&blocks_left, blocks, memory_order_relaxed);
}
