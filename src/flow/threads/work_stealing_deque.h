/* The queue of one worker: it puts in and takes out at one end, others steal at the other. D. Chase and Y. Lev, Dynamic
 * Circular Work-Stealing Deque, 2005, with a fixed ring: when it is full the worker does the work itself, so that pushing
 * never allocates. The order that fences would give comes from sequentially consistent operations on the two ends, which
 * thread sanitizers understand. */
#ifndef MICAP_FLOW_THREADS_WORK_STEALING_DEQUE_H
#define MICAP_FLOW_THREADS_WORK_STEALING_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MICAP_DEQUE_ITEMS = 512 };

/* A range of the pieces of some work. */
typedef struct micap_item {
    struct micap_work *work;
    uint32_t begin, end;
} micap_item;

typedef struct micap_deque {
    _Alignas(64) _Atomic int64_t top; /* the next to be stolen */
    _Alignas(64) _Atomic int64_t bottom;
    /* A slot is written again only after top has passed it, so what a thief has read counts when it wins the top. */
    struct micap_slot {
        _Atomic(struct micap_work *) work;
        _Atomic uint64_t range;
    } slots[MICAP_DEQUE_ITEMS];
} micap_deque;

static inline micap_item micap_deque_load(micap_deque *deque, int64_t at)
{
    struct micap_slot *slot = &deque->slots[(uint64_t)at & (MICAP_DEQUE_ITEMS - 1)];
    uint64_t range = atomic_load_explicit(&slot->range, memory_order_relaxed);
    return (micap_item){atomic_load_explicit(&slot->work, memory_order_relaxed), (uint32_t)(range >> 32),
                        (uint32_t)range};
}

/* For the worker. False when it is full. */
static inline bool micap_deque_push(micap_deque *deque, micap_item item)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    if (bottom - atomic_load_explicit(&deque->top, memory_order_acquire) >= MICAP_DEQUE_ITEMS)
        return false;
    struct micap_slot *slot = &deque->slots[(uint64_t)bottom & (MICAP_DEQUE_ITEMS - 1)];
    atomic_store_explicit(&slot->work, item.work, memory_order_relaxed);
    atomic_store_explicit(&slot->range, (uint64_t)item.begin << 32 | item.end, memory_order_relaxed);
    /* Sequentially consistent, for sleepers: whoever goes to sleep looks at all ends after saying so. */
    atomic_store(&deque->bottom, bottom + 1);
    return true;
}

/* For the worker: what it put in last. */
static inline bool micap_deque_take(micap_deque *deque, micap_item *out)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
    if (bottom < atomic_load_explicit(&deque->top, memory_order_relaxed)) /* empty; thieves only make it emptier */
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
    bool won = atomic_compare_exchange_strong(&deque->top, &top, top + 1); /* the last one: thieves want it too */
    atomic_store(&deque->bottom, bottom + 1);
    return won;
}

/* For others: what was put in first. False when it is empty, or another was faster. */
static inline bool micap_deque_steal(micap_deque *deque, micap_item *out)
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
