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
    return (uint32_t)(hash >> 60) % MICAP_UNDO_STRIPES;
}

void micap_undo_logs_init(micap_undo_logs *undo, micap_memory *memory, const micap_undo_value_ops *ops)
{
    *undo = (micap_undo_logs){.memory = memory, .ops = ops, .serial = 1};
    micap_arena_init(&undo->arena, memory);
    pthread_mutex_init(&undo->arena_lock, NULL);
    for (uint32_t i = 0; i < MICAP_UNDO_STRIPES; ++i)
        pthread_mutex_init(&undo->locks[i], NULL);
}

void micap_undo_logs_clear(micap_undo_logs *undo)
{
    while (undo->oldest)
        micap_undo_log_drop(undo, undo->oldest);
}

void micap_undo_logs_free(micap_undo_logs *undo)
{
    micap_undo_logs_clear(undo);
    micap_arena_free(&undo->arena);
    pthread_mutex_destroy(&undo->arena_lock);
    for (uint32_t i = 0; i < MICAP_UNDO_STRIPES; ++i)
        pthread_mutex_destroy(&undo->locks[i]);
}

/* The newest log changed, or lost entries. */
static void forget_recent(micap_undo_logs *undo)
{
    memset(undo->recent_rows, 0, sizeof undo->recent_rows);
    memset(undo->recent_records, 0, sizeof undo->recent_records);
}

micap_undo_log *micap_undo_log_add(micap_undo_logs *undo, uint64_t before)
{
    micap_undo_log *log = micap_allocate_zeroed(undo->memory, sizeof *log, MICAP_CACHE_LINE);
    if (!log)
        return NULL;
    forget_recent(undo);
    log->serial = undo->serial++;
    log->before = before;
    log->older = undo->newest;
    *(undo->newest ? &undo->newest->newer : &undo->oldest) = log;
    undo->newest = log;
    undo->before = before;
    ++undo->count;
    return log;
}

static void clear_stripe(micap_undo_logs *undo, micap_undo_stripe *stripe)
{
    for (micap_undo_entry *kept = stripe->first; kept; kept = kept->next)
        if (kept->is_owned)
            undo->ops->release(kept);
    for (micap_undo_block *block = stripe->blocks, *next; block; block = next) {
        next = block->next;
        micap_arena_release(&undo->arena, block, block->bytes);
    }
    MICAP_RELEASE_ARRAY(undo->memory, stripe->table, stripe->capacity);
    *stripe = (micap_undo_stripe){0};
}

void micap_undo_log_clear(micap_undo_logs *undo, micap_undo_log *log)
{
    forget_recent(undo);
    for (uint32_t i = 0; i < MICAP_UNDO_STRIPES; ++i)
        clear_stripe(undo, &log->stripes[i]);
    atomic_store_explicit(&log->bytes, 0, memory_order_relaxed);
}

bool micap_undo_log_is_lost(const micap_undo_log *log)
{
    for (; log; log = log->newer)
        if (atomic_load_explicit(&log->is_lost, memory_order_relaxed))
            return true;
    return false;
}

static micap_undo_entry **slot_of(const micap_undo_stripe *stripe, uint64_t hash, uint32_t kind, uint64_t key,
                                  uint32_t part)
{
    for (uint64_t at = hash;; ++at) {
        micap_undo_entry **slot = &stripe->table[at & (stripe->capacity - 1)];
        if (!*slot || ((*slot)->key == key && (*slot)->part == part && (*slot)->kind == kind))
            return slot;
    }
}

micap_undo_entry *micap_undo_log_find(const micap_undo_log *log, micap_undo_kind kind, uint64_t key, uint32_t part)
{
    uint64_t hash = hash_of(kind, key, part);
    const micap_undo_stripe *stripe = &log->stripes[stripe_of(hash)];
    return stripe->capacity ? *slot_of(stripe, hash, kind, key, part) : NULL;
}

static bool reserve_table(micap_undo_logs *undo, micap_undo_stripe *stripe)
{
    if (stripe->count * 2 < stripe->capacity)
        return true;
    uint32_t capacity = stripe->capacity ? stripe->capacity * 2 : TABLE_FIRST;
    micap_undo_entry **table = micap_allocate_zeroed(undo->memory, capacity * sizeof *table, MICAP_ARRAY_ALIGNMENT);
    if (!table)
        return false;
    MICAP_RELEASE_ARRAY(undo->memory, stripe->table, stripe->capacity);
    stripe->table = table;
    stripe->capacity = capacity;
    for (micap_undo_entry *kept = stripe->first; kept; kept = kept->next)
        *slot_of(stripe, hash_of(kept->kind, kept->key, kept->part), kept->kind, kept->key, kept->part) = kept;
    return true;
}

static void *allocate(micap_undo_logs *undo, micap_undo_stripe *stripe, size_t bytes, size_t alignment)
{
    micap_undo_block *block = stripe->blocks;
    uintptr_t at = block ? micap_align_up((uintptr_t)block + block->used, alignment) : 0;
    if (!block || at + bytes > (uintptr_t)block + block->bytes) {
        size_t needed = sizeof *block + bytes + alignment;
        size_t wanted = block ? block->bytes * 2 : BLOCK_BYTES_FIRST;
        wanted = wanted < BLOCK_BYTES ? wanted : BLOCK_BYTES;
        size_t whole = micap_power_of_two_at_least(needed > wanted ? needed : wanted);
        pthread_mutex_lock(&undo->arena_lock);
        block = micap_arena_allocate(&undo->arena, whole);
        pthread_mutex_unlock(&undo->arena_lock);
        if (!block)
            return NULL;
        *block = (micap_undo_block){.next = stripe->blocks, .bytes = whole, .used = sizeof *block};
        stripe->blocks = block;
        at = micap_align_up((uintptr_t)block + block->used, alignment);
    }
    block->used = at + bytes - (uintptr_t)block;
    return (void *)at;
}

/* A new entry of a stripe, with room for its bytes; NULL when memory is short. */
static micap_undo_entry *insert(micap_undo_logs *undo, micap_undo_log *log, const micap_undo_entry *like)
{
    uint64_t hash = hash_of(like->kind, like->key, like->part);
    micap_undo_stripe *stripe = &log->stripes[stripe_of(hash)];
    if (!reserve_table(undo, stripe))
        return NULL;
    micap_undo_entry *kept = allocate(undo, stripe, sizeof *kept, MICAP_ARRAY_ALIGNMENT);
    void *data = kept ? allocate(undo, stripe, like->bytes, like->alignment) : NULL;
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

micap_undo_entry *micap_undo_open(micap_undo_logs *undo, micap_undo_kind kind, uint64_t key, uint32_t part,
                                  size_t bytes, size_t alignment)
{
    micap_undo_log *log = undo->newest;
    uint64_t hash = hash_of(kind, key, part);
    uint32_t index = stripe_of(hash);
    micap_undo_entry *kept = NULL;
    pthread_mutex_lock(&undo->locks[index]);
    const micap_undo_stripe *stripe = &log->stripes[index];
    if (!atomic_load_explicit(&log->is_lost, memory_order_relaxed) &&
        !(stripe->capacity && *slot_of(stripe, hash, kind, key, part))) {
        micap_undo_entry like = {.key = key, .part = part, .kind = (uint16_t)kind, .bytes = bytes};
        like.alignment = alignment > MICAP_ARRAY_ALIGNMENT ? alignment : MICAP_ARRAY_ALIGNMENT;
        kept = insert(undo, log, &like);
        if (!kept)
            atomic_store_explicit(&log->is_lost, true, memory_order_relaxed);
    }
    if (!kept)
        pthread_mutex_unlock(&undo->locks[index]);
    return kept;
}

void micap_undo_close(micap_undo_logs *undo, const micap_undo_entry *kept)
{
    pthread_mutex_unlock(&undo->locks[stripe_of(hash_of(kept->kind, kept->key, kept->part))]);
}

void micap_undo_give_up(micap_undo_logs *undo, micap_undo_entry *kept)
{
    kept->is_owned = false;
    atomic_store_explicit(&undo->newest->is_lost, true, memory_order_relaxed);
    micap_undo_close(undo, kept);
}

void micap_undo_save_bytes(micap_undo_logs *undo, micap_undo_kind kind, uint64_t key, uint32_t part, const void *data,
                           size_t bytes)
{
    micap_undo_entry *kept = micap_undo_open(undo, kind, key, part, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!kept)
        return;
    memcpy(kept->data, data, bytes);
    micap_undo_close(undo, kept);
}

static uint64_t count_of(const micap_undo_log *log)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < MICAP_UNDO_STRIPES; ++i)
        count += log->stripes[i].count;
    return count;
}

/* If several logs have saved a place, the first one counts. A table contains the places that are listed. */
static void gather(const micap_undo_log *log, micap_undo_stripe *seen)
{
    for (uint32_t i = 0; i < MICAP_UNDO_STRIPES; ++i)
        for (micap_undo_entry *kept = log->stripes[i].first; kept; kept = kept->next) {
            uint64_t hash = hash_of(kept->kind, kept->key, kept->part);
            micap_undo_entry **slot = slot_of(seen, hash, kept->kind, kept->key, kept->part);
            *slot = *slot ? *slot : kept;
        }
}

bool micap_undo_log_gather(micap_undo_logs *undo, const micap_undo_log *log, micap_undo_entries *out_list)
{
    MICAP_ASSERT(log, "a snapshot has one");
    uint64_t total = 0;
    for (const micap_undo_log *at = log; at; at = at->newer)
        total += count_of(at);
    uint64_t capacity = log->newer ? micap_power_of_two_at_least(total * 2 + 1) : total;
    *out_list = (micap_undo_entries){0};
    if (capacity > UINT32_MAX)
        return false;
    out_list->all = micap_allocate_zeroed(undo->memory, capacity * sizeof *out_list->all, MICAP_ARRAY_ALIGNMENT);
    if (!out_list->all)
        return false;
    out_list->capacity = (uint32_t)capacity;
    if (log->newer) {
        micap_undo_stripe seen = {.table = out_list->all, .capacity = (uint32_t)capacity};
        for (const micap_undo_log *at = log; at; at = at->newer)
            gather(at, &seen);
        for (uint32_t i = 0; i < out_list->capacity; ++i)
            if (out_list->all[i])
                out_list->all[out_list->count++] = out_list->all[i];
        return true;
    }
    for (uint32_t i = 0; i < MICAP_UNDO_STRIPES; ++i)
        for (micap_undo_entry *kept = log->stripes[i].first; kept; kept = kept->next)
            out_list->all[out_list->count++] = kept;
    return true;
}

/* Moves the entries of a log that the older log does not have to that log. False if memory is short. */
static bool hand_down(micap_undo_logs *undo, micap_undo_log *from, micap_undo_log *to)
{
    for (uint32_t i = 0; i < MICAP_UNDO_STRIPES; ++i)
        for (micap_undo_entry *kept = from->stripes[i].first; kept; kept = kept->next) {
            if (micap_undo_log_find(to, kept->kind, kept->key, kept->part))
                continue;
            micap_undo_entry *copy = insert(undo, to, kept);
            if (!copy)
                return false;
            if (kept->is_owned)
                undo->ops->move(copy, kept);
            else
                memcpy(copy->data, kept->data, kept->bytes);
            kept->is_owned = false;
        }
    return true;
}

void micap_undo_log_drop(micap_undo_logs *undo, micap_undo_log *log)
{
    bool was_lost = atomic_load_explicit(&log->is_lost, memory_order_relaxed);
    if (log->older && (was_lost || !hand_down(undo, log, log->older)))
        atomic_store_explicit(&log->older->is_lost, true, memory_order_relaxed);
    micap_undo_log_clear(undo, log);
    *(log->older ? &log->older->newer : &undo->oldest) = log->newer;
    *(log->newer ? &log->newer->older : &undo->newest) = log->older;
    --undo->count;
    undo->before = undo->newest ? undo->newest->before : 0;
    micap_release(undo->memory, log, sizeof *log, MICAP_CACHE_LINE);
}
