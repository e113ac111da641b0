#include "base/undo_log.h"

#include "base/bits.h"
#include "base/hash.h"

#include <string.h>

enum { BLOCK_BYTES_FIRST = 4 << 10, BLOCK_BYTES = 64 << 10, TABLE_FIRST = 32 };

static uint64_t hash_of(uint32_t kind, uint64_t key, uint32_t part)
{
    return micap_hash_mix(key * 0x9e3779b97f4a7c15u + ((uint64_t)part << 8 | kind));
}

static uint32_t stripe_of(uint64_t hash)
{
    return (uint32_t)(hash >> 60) % MICAP_KEEP_STRIPES;
}

void micap_keeper_init(micap_keeper *keeper, micap_memory *memory, const micap_keep_ops *ops)
{
    *keeper = (micap_keeper){.memory = memory, .ops = ops, .serial = 1};
    micap_arena_init(&keeper->arena, memory);
    pthread_mutex_init(&keeper->arena_lock, NULL);
    for (uint32_t i = 0; i < MICAP_KEEP_STRIPES; ++i)
        pthread_mutex_init(&keeper->locks[i], NULL);
}

void micap_keeper_clear(micap_keeper *keeper)
{
    while (keeper->oldest)
        micap_keeper_drop(keeper, keeper->oldest);
}

void micap_keeper_free(micap_keeper *keeper)
{
    micap_keeper_clear(keeper);
    micap_arena_free(&keeper->arena);
    pthread_mutex_destroy(&keeper->arena_lock);
    for (uint32_t i = 0; i < MICAP_KEEP_STRIPES; ++i)
        pthread_mutex_destroy(&keeper->locks[i]);
}

micap_log *micap_keeper_add(micap_keeper *keeper, uint64_t before)
{
    micap_log *log = micap_allocate_zeroed(keeper->memory, sizeof *log, MICAP_CACHE_LINE);
    if (!log)
        return NULL;
    log->serial = keeper->serial++;
    log->before = before;
    log->older = keeper->newest;
    *(keeper->newest ? &keeper->newest->newer : &keeper->oldest) = log;
    keeper->newest = log;
    keeper->before = before;
    ++keeper->count;
    return log;
}

static void clear_stripe(micap_keeper *keeper, micap_keep_stripe *stripe)
{
    for (micap_kept *kept = stripe->first; kept; kept = kept->next)
        if (kept->is_owned)
            keeper->ops->release(kept);
    for (micap_keep_block *block = stripe->blocks, *next; block; block = next) {
        next = block->next;
        micap_arena_release(&keeper->arena, block, block->bytes);
    }
    MICAP_RELEASE_ARRAY(keeper->memory, stripe->table, stripe->capacity);
    *stripe = (micap_keep_stripe){0};
}

void micap_log_clear(micap_keeper *keeper, micap_log *log)
{
    for (uint32_t i = 0; i < MICAP_KEEP_STRIPES; ++i)
        clear_stripe(keeper, &log->stripes[i]);
    atomic_store_explicit(&log->bytes, 0, memory_order_relaxed);
}

bool micap_log_is_lost(const micap_log *log)
{
    for (; log; log = log->newer)
        if (atomic_load_explicit(&log->is_lost, memory_order_relaxed))
            return true;
    return false;
}

static micap_kept **slot_of(const micap_keep_stripe *stripe, uint64_t hash, uint32_t kind, uint64_t key, uint32_t part)
{
    for (uint64_t at = hash;; ++at) {
        micap_kept **slot = &stripe->table[at & (stripe->capacity - 1)];
        if (!*slot || ((*slot)->key == key && (*slot)->part == part && (*slot)->kind == kind))
            return slot;
    }
}

micap_kept *micap_log_find(const micap_log *log, micap_keep_kind kind, uint64_t key, uint32_t part)
{
    uint64_t hash = hash_of(kind, key, part);
    const micap_keep_stripe *stripe = &log->stripes[stripe_of(hash)];
    return stripe->capacity ? *slot_of(stripe, hash, kind, key, part) : NULL;
}

static bool reserve_table(micap_keeper *keeper, micap_keep_stripe *stripe)
{
    if (stripe->count * 2 < stripe->capacity)
        return true;
    uint32_t capacity = stripe->capacity ? stripe->capacity * 2 : TABLE_FIRST;
    micap_kept **table = micap_allocate_zeroed(keeper->memory, capacity * sizeof *table, MICAP_ARRAY_ALIGNMENT);
    if (!table)
        return false;
    MICAP_RELEASE_ARRAY(keeper->memory, stripe->table, stripe->capacity);
    stripe->table = table;
    stripe->capacity = capacity;
    for (micap_kept *kept = stripe->first; kept; kept = kept->next)
        *slot_of(stripe, hash_of(kept->kind, kept->key, kept->part), kept->kind, kept->key, kept->part) = kept;
    return true;
}

static void *allocate(micap_keeper *keeper, micap_keep_stripe *stripe, size_t bytes, size_t alignment)
{
    micap_keep_block *block = stripe->blocks;
    uintptr_t at = block ? micap_align_up((uintptr_t)block + block->used, alignment) : 0;
    if (!block || at + bytes > (uintptr_t)block + block->bytes) {
        size_t needed = sizeof *block + bytes + alignment;
        size_t wanted = block ? block->bytes * 2 : BLOCK_BYTES_FIRST;
        wanted = wanted < BLOCK_BYTES ? wanted : BLOCK_BYTES;
        size_t whole = micap_power_of_two_at_least(needed > wanted ? needed : wanted);
        pthread_mutex_lock(&keeper->arena_lock);
        block = micap_arena_allocate(&keeper->arena, whole);
        pthread_mutex_unlock(&keeper->arena_lock);
        if (!block)
            return NULL;
        *block = (micap_keep_block){.next = stripe->blocks, .bytes = whole, .used = sizeof *block};
        stripe->blocks = block;
        at = micap_align_up((uintptr_t)block + block->used, alignment);
    }
    block->used = at + bytes - (uintptr_t)block;
    return (void *)at;
}

/* A new entry of a stripe, with room for its bytes; NULL when memory is short. */
static micap_kept *insert(micap_keeper *keeper, micap_log *log, const micap_kept *like)
{
    uint64_t hash = hash_of(like->kind, like->key, like->part);
    micap_keep_stripe *stripe = &log->stripes[stripe_of(hash)];
    if (!reserve_table(keeper, stripe))
        return NULL;
    micap_kept *kept = allocate(keeper, stripe, sizeof *kept, MICAP_ARRAY_ALIGNMENT);
    void *data = kept ? allocate(keeper, stripe, like->bytes, like->alignment) : NULL;
    if (!data)
        return NULL;
    *kept = *like;
    kept->data = data;
    kept->next = stripe->first;
    stripe->first = kept;
    ++stripe->count;
    *slot_of(stripe, hash, like->kind, like->key, like->part) = kept;
    atomic_fetch_add_explicit(&log->bytes, sizeof *kept + like->bytes, memory_order_relaxed);
    return kept;
}

micap_kept *micap_keep_open(micap_keeper *keeper, micap_keep_kind kind, uint64_t key, uint32_t part, size_t bytes,
                            size_t alignment)
{
    micap_log *log = keeper->newest;
    uint64_t hash = hash_of(kind, key, part);
    uint32_t index = stripe_of(hash);
    micap_kept *kept = NULL;
    pthread_mutex_lock(&keeper->locks[index]);
    const micap_keep_stripe *stripe = &log->stripes[index];
    if (!atomic_load_explicit(&log->is_lost, memory_order_relaxed) &&
        !(stripe->capacity && *slot_of(stripe, hash, kind, key, part))) {
        micap_kept like = {.key = key, .part = part, .kind = (uint16_t)kind, .bytes = bytes};
        like.alignment = alignment > MICAP_ARRAY_ALIGNMENT ? alignment : MICAP_ARRAY_ALIGNMENT;
        kept = insert(keeper, log, &like);
        if (!kept)
            atomic_store_explicit(&log->is_lost, true, memory_order_relaxed);
    }
    if (!kept)
        pthread_mutex_unlock(&keeper->locks[index]);
    return kept;
}

void micap_keep_close(micap_keeper *keeper, const micap_kept *kept)
{
    pthread_mutex_unlock(&keeper->locks[stripe_of(hash_of(kept->kind, kept->key, kept->part))]);
}

void micap_keep_give_up(micap_keeper *keeper, micap_kept *kept)
{
    kept->is_owned = false;
    atomic_store_explicit(&keeper->newest->is_lost, true, memory_order_relaxed);
    micap_keep_close(keeper, kept);
}

void micap_keep_bytes(micap_keeper *keeper, micap_keep_kind kind, uint64_t key, uint32_t part, const void *data,
                      size_t bytes)
{
    micap_kept *kept = micap_keep_open(keeper, kind, key, part, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!kept)
        return;
    memcpy(kept->data, data, bytes);
    micap_keep_close(keeper, kept);
}

static uint64_t count_of(const micap_log *log)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < MICAP_KEEP_STRIPES; ++i)
        count += log->stripes[i].count;
    return count;
}

/* The first of several logs to have kept a place is the one that counts: a table tells which places are listed. */
static void gather(const micap_log *log, micap_keep_stripe *seen)
{
    for (uint32_t i = 0; i < MICAP_KEEP_STRIPES; ++i)
        for (micap_kept *kept = log->stripes[i].first; kept; kept = kept->next) {
            uint64_t hash = hash_of(kept->kind, kept->key, kept->part);
            micap_kept **slot = slot_of(seen, hash, kept->kind, kept->key, kept->part);
            *slot = *slot ? *slot : kept;
        }
}

bool micap_log_gather(micap_keeper *keeper, const micap_log *log, micap_kept_list *out_list)
{
    MICAP_ASSERT(log, "a snapshot has one");
    uint64_t total = 0;
    for (const micap_log *at = log; at; at = at->newer)
        total += count_of(at);
    uint64_t capacity = log->newer ? micap_power_of_two_at_least(total * 2 + 1) : total;
    *out_list = (micap_kept_list){0};
    if (capacity > UINT32_MAX)
        return false;
    out_list->all = micap_allocate_zeroed(keeper->memory, capacity * sizeof *out_list->all, MICAP_ARRAY_ALIGNMENT);
    if (!out_list->all)
        return false;
    out_list->capacity = (uint32_t)capacity;
    if (log->newer) {
        micap_keep_stripe seen = {.table = out_list->all, .capacity = (uint32_t)capacity};
        for (const micap_log *at = log; at; at = at->newer)
            gather(at, &seen);
        for (uint32_t i = 0; i < out_list->capacity; ++i)
            if (out_list->all[i])
                out_list->all[out_list->count++] = out_list->all[i];
        return true;
    }
    for (uint32_t i = 0; i < MICAP_KEEP_STRIPES; ++i)
        for (micap_kept *kept = log->stripes[i].first; kept; kept = kept->next)
            out_list->all[out_list->count++] = kept;
    return true;
}

/* Gives what a log kept, and the one before has not, to that one; false when memory is short. */
static bool hand_down(micap_keeper *keeper, micap_log *from, micap_log *to)
{
    for (uint32_t i = 0; i < MICAP_KEEP_STRIPES; ++i)
        for (micap_kept *kept = from->stripes[i].first; kept; kept = kept->next) {
            if (micap_log_find(to, kept->kind, kept->key, kept->part))
                continue;
            micap_kept *copy = insert(keeper, to, kept);
            if (!copy)
                return false;
            if (kept->is_owned)
                keeper->ops->move(copy, kept);
            else
                memcpy(copy->data, kept->data, kept->bytes);
            kept->is_owned = false;
        }
    return true;
}

void micap_keeper_drop(micap_keeper *keeper, micap_log *log)
{
    bool was_lost = atomic_load_explicit(&log->is_lost, memory_order_relaxed);
    if (log->older && (was_lost || !hand_down(keeper, log, log->older)))
        atomic_store_explicit(&log->older->is_lost, true, memory_order_relaxed);
    micap_log_clear(keeper, log);
    *(log->older ? &log->older->newer : &keeper->oldest) = log->newer;
    *(log->newer ? &log->newer->older : &keeper->newest) = log->older;
    --keeper->count;
    keeper->before = keeper->newest ? keeper->newest->before : 0;
    micap_release(keeper->memory, log, sizeof *log, MICAP_CACHE_LINE);
}
