/* Logs of marked rows tell their reader which rows of a tracked component were marked since it last looked, without the version of every
 * row. A log has room for few entities. When more are marked it is incomplete, and the versions tell. */
#ifndef MICAP_CORE_STORAGE_MARK_LOG_H
#define MICAP_CORE_STORAGE_MARK_LOG_H

#include "core/storage/archetype.h"

#include <stdatomic.h>

typedef struct micap_mark_log {
    struct micap_mark_log *next; /* of the world */
    mica_component component;    /* the companion with the versions */
    mica_entity *entities;       /* that were marked, some of them more than once */
    uint32_t capacity;
    atomic_uint count; /* above capacity: incomplete. Jobs that write different rows add at the same time */
} micap_mark_log;

static inline bool micap_mark_log_is_complete(const micap_mark_log *log)
{
    return atomic_load_explicit(&log->count, memory_order_relaxed) <= log->capacity;
}

/* Empties a log, whose reader has seen everything. Nothing is marked meanwhile. */
static inline void micap_mark_log_clear(micap_mark_log *log)
{
    atomic_store_explicit(&log->count, 0, memory_order_relaxed);
}

/* Adds rows that are marked to the logs of their component. `logs` is the first one of the world. */
void micap_mark_log_note(micap_mark_log *logs, const micap_chunk *chunk, uint32_t changed, uint32_t row,
                         uint32_t count);

/* Links a log to those of a world, and takes it out; a log that is not there is left alone. */
void micap_mark_log_add(micap_mark_log **logs, micap_mark_log *log);
void micap_mark_log_remove(micap_mark_log **logs, const micap_mark_log *log);

#endif
