/* The queue of one worker. The worker pushes and takes at one end, other workers steal at the other. D. Chase and Y. Lev,
 * Dynamic Circular Work-Stealing Deque, 2005, with a ring of fixed size: when it is full, the worker runs the jobs itself, so
 * pushing never allocates. Sequentially consistent operations on the two ends replace the fences of the paper, because
 * thread sanitizers understand them. */
#ifndef MICAP_FLOW_THREADS_WORK_STEALING_DEQUE_H
#define MICAP_FLOW_THREADS_WORK_STEALING_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MICAP_DEQUE_CAPACITY = 512 };

/* Jobs [begin, end) of a batch. */
typedef struct micap_job_range {
    struct micap_job_batch *batch;
    uint32_t begin, end;
} micap_job_range;

typedef struct micap_deque {
    _Alignas(64) _Atomic int64_t top; /* the next range to be stolen */
    _Alignas(64) _Atomic int64_t bottom;
    /* An entry is reused only after top has passed it, so what a thief read is valid if it wins the top. */
    struct micap_deque_entry {
        _Atomic(struct micap_job_batch *) batch;
        _Atomic uint64_t range;
    } entries[MICAP_DEQUE_CAPACITY];
} micap_deque;

static inline micap_job_range micap_deque_load(micap_deque *deque, int64_t at)
{
    struct micap_deque_entry *entry = &deque->entries[(uint64_t)at & (MICAP_DEQUE_CAPACITY - 1)];
    uint64_t range = atomic_load_explicit(&entry->range, memory_order_relaxed);
    return (micap_job_range){atomic_load_explicit(&entry->batch, memory_order_relaxed), (uint32_t)(range >> 32),
                             (uint32_t)range};
}

/* Adds a range. Called by the owner of the deque. Returns false if it is full. */
static inline bool micap_deque_push(micap_deque *deque, micap_job_range range)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    if (bottom - atomic_load_explicit(&deque->top, memory_order_acquire) >= MICAP_DEQUE_CAPACITY)
        return false;
    struct micap_deque_entry *entry = &deque->entries[(uint64_t)bottom & (MICAP_DEQUE_CAPACITY - 1)];
    atomic_store_explicit(&entry->batch, range.batch, memory_order_relaxed);
    atomic_store_explicit(&entry->range, (uint64_t)range.begin << 32 | range.end, memory_order_relaxed);
    /* Sequentially consistent, because a worker announces that it sleeps and then looks at all deques. */
    atomic_store(&deque->bottom, bottom + 1);
    return true;
}

/* Removes the range that was pushed last. Called by the owner of the deque. */
static inline bool micap_deque_take(micap_deque *deque, micap_job_range *out)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
    if (bottom < atomic_load_explicit(&deque->top, memory_order_relaxed)) /* empty, and stealing only removes */
        return false;
    atomic_store(&deque->bottom, bottom);
    int64_t top = atomic_load(&deque->top);
    if (top > bottom) {
        atomic_store(&deque->bottom, bottom + 1);
        return false;
    }
    *out = micap_deque_load(deque, bottom);
    if (top < bottom)
        return true;
    bool won = atomic_compare_exchange_strong(&deque->top, &top, top + 1); /* the last range: thieves want it, too */
    atomic_store(&deque->bottom, bottom + 1);
    return won;
}

/* Removes the range that was pushed first. Called by other workers. Returns false if the deque is empty, or another worker
 * was faster. */
static inline bool micap_deque_steal(micap_deque *deque, micap_job_range *out)
{
    int64_t top = atomic_load(&deque->top);
    if (top >= atomic_load(&deque->bottom))
        return false;
    *out = micap_deque_load(deque, top);
    return atomic_compare_exchange_strong(&deque->top, &top, top + 1);
}

static inline bool micap_deque_is_empty(micap_deque *deque)
{
    return atomic_load(&deque->top) >= atomic_load(&deque->bottom);
}

#endif
