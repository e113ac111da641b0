#include "base/block_heap.h"

#include "base/assert.h"
#include "base/region_arena.h"
#include "os/clock.h"
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

/* A free block, which is at least 16 bytes. */
typedef struct free_block {
    struct free_block *next;
    struct free_block *next_batch; /* of the first block of a batch on a shelf */
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
    free_block *batches; /* of batch_of blocks each, so that a thread takes many without reading them */
    free_block *first;   /* the other free ones */
    span *spans;         /* blocks are cut from the first */
} shelf;

/* Which thread may use a cache. */
enum {
    CACHE_IN_USE, /* its thread */
    CACHE_IDLE,   /* the first that takes it: its own thread is idle */
    CACHE_TAKEN,  /* a trim in another thread, which returns it in a moment */
};

typedef struct cache {
    atomic_int state;
    struct cache *next; /* in the list of all caches */
    struct {
        free_block *first;
        uint32_t count;
    } shelves[MICAP_HEAP_BLOCK_SMALL_SIZES];
} cache;

static shelf shelves[MICAP_HEAP_BLOCK_SMALL_SIZES];
static atomic_size_t span_bytes;

static struct {
    pthread_mutex_t lock;
    cache *first;
} caches;

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

/* How many blocks threads give and take at once. */
static uint32_t batch_of(uint32_t size)
{
    return cache_limit(size) / 2 + 1;
}

/* Moves a batch from a cache that is full to the shelf: the blocks that were freed last. */
static void give_batch(cache *of, uint32_t size)
{
    shelf *to = &shelves[size];
    free_block *batch = of->shelves[size].first, *last = batch;
    for (uint32_t i = 1; i < batch_of(size); ++i)
        last = last->next;
    of->shelves[size].first = last->next;
    of->shelves[size].count -= batch_of(size);
    last->next = NULL;
    pthread_mutex_lock(&to->lock);
    batch->next_batch = to->batches;
    to->batches = batch;
    pthread_mutex_unlock(&to->lock);
}

/* Puts the blocks of a list in front of those of a shelf. */
static void add_blocks(shelf *to, free_block *list)
{
    while (list) {
        free_block *next = list->next;
        list->next = to->first;
        to->first = list;
        list = next;
    }
}

static void empty_cache(cache *of)
{
    for (uint32_t size = 0; size < MICAP_HEAP_BLOCK_SMALL_SIZES; ++size) {
        pthread_mutex_lock(&shelves[size].lock);
        add_blocks(&shelves[size], of->shelves[size].first);
        pthread_mutex_unlock(&shelves[size].lock);
        of->shelves[size].first = NULL;
        of->shelves[size].count = 0;
    }
}

static void end_of_thread(void *of)
{
    cache_of_thread = NULL;
    pthread_mutex_lock(&caches.lock);
    cache **link = &caches.first;
    while (*link != of)
        link = &(*link)->next;
    *link = (*link)->next;
    pthread_mutex_unlock(&caches.lock);
    empty_cache(of);
    free(of);
}

static void begin(void)
{
    for (uint32_t size = 0; size < MICAP_HEAP_BLOCK_SMALL_SIZES; ++size)
        pthread_mutex_init(&shelves[size].lock, NULL);
    pthread_mutex_init(&regions.lock, NULL);
    pthread_mutex_init(&caches.lock, NULL);
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
    cache *fresh = is_short() ? NULL : calloc(1, sizeof *fresh);
    if (!fresh)
        return NULL;
    pthread_mutex_lock(&caches.lock);
    fresh->next = caches.first;
    caches.first = fresh;
    pthread_mutex_unlock(&caches.lock);
    pthread_setspecific(cache_key, fresh);
    cache_of_thread = fresh;
    return fresh;
}

void micap_heap_thread_idle(void)
{
    if (cache_of_thread)
        atomic_store_explicit(&cache_of_thread->state, CACHE_IDLE, memory_order_release);
}

void micap_heap_thread_busy(void)
{
    for (int idle = CACHE_IDLE;
         cache_of_thread && !atomic_compare_exchange_weak_explicit(&cache_of_thread->state, &idle, CACHE_IN_USE,
                                                                   memory_order_acquire, memory_order_relaxed);
         idle = CACHE_IDLE)
        micap_yield();
}

/* Returns the blocks of all caches whose threads are idle. */
static void empty_idle_caches(void)
{
    pthread_mutex_lock(&caches.lock);
    for (cache *each = caches.first; each; each = each->next) {
        int idle = CACHE_IDLE;
        if (atomic_compare_exchange_strong_explicit(&each->state, &idle, CACHE_TAKEN, memory_order_acquire,
                                                    memory_order_relaxed)) {
            empty_cache(each);
            atomic_store_explicit(&each->state, CACHE_IDLE, memory_order_release);
        }
    }
    pthread_mutex_unlock(&caches.lock);
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

/* Cuts up to `count` blocks from a span, in order of addresses, in which they are mostly visited. Returns how many: 0 if memory is short. */
static uint32_t cut_blocks(shelf *from, size_t bytes, uint32_t count, free_block **list)
{
    span *first = from->spans;
    if ((!first || first->cut + bytes > SPAN_BYTES) && !(first = add_span(from)))
        return 0;
    uint32_t room = (SPAN_BYTES - first->cut) / (uint32_t)bytes;
    count = count < room ? count : room;
    char *at = (char *)first + first->cut;
    first->cut += count * (uint32_t)bytes;
    for (uint32_t i = 0; i < count; ++i, at += bytes) {
        *list = (void *)at;
        list = &(*list)->next;
    }
    *list = NULL;
    return count;
}

/* Takes a batch that a thread gave. */
static uint32_t take_batch(shelf *from, uint32_t count, free_block **list)
{
    *list = from->batches;
    from->batches = from->batches->next_batch;
    return count;
}

/* Takes up to `count` blocks that were in use before. Returns how many. */
static uint32_t take_blocks(shelf *from, uint32_t count, free_block **list)
{
    uint32_t taken = 0;
    for (; taken < count && from->first; ++taken) {
        *list = from->first;
        list = &(*list)->next;
        from->first = *list;
    }
    *list = NULL;
    return taken;
}

/* Fills an empty cache by half from the shelf, and returns one block more. NULL if memory is short. */
static MICAP_COLD void *refill(cache *to, uint32_t size)
{
    shelf *from = &shelves[size];
    free_block *list = NULL;
    uint32_t count = batch_of(size);
    pthread_mutex_lock(&from->lock);
    if (from->batches)
        count = take_batch(from, count, &list);
    else if (from->first)
        count = take_blocks(from, count, &list);
    else
        count = cut_blocks(from, micap_heap_block_size_bytes(size), count, &list);
    pthread_mutex_unlock(&from->lock);
    if (!count)
        return NULL;
    to->shelves[size].first = list->next;
    to->shelves[size].count = count - 1;
    return list;
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
    MICAP_PREFETCH(block->next); /* the next block that is taken says which one is after it */
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
        give_batch(of, size);
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
    while (of->batches) {
        free_block *batch = of->batches;
        of->batches = batch->next_batch;
        add_blocks(of, batch);
    }
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
    if (of->spans) /* only this one is not yet cut completely */
        micap_pages_discard((char *)of->spans + of->spans->cut, SPAN_BYTES - of->spans->cut);
    pthread_mutex_unlock(&of->lock);
    atomic_fetch_sub_explicit(&span_bytes, released, memory_order_relaxed);
    return released;
}

size_t micap_heap_trim(void)
{
    cache *of = cache_of_thread ? cache_of_thread : make_cache();
    if (of)
        empty_cache(of);
    empty_idle_caches();
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
