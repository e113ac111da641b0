#include "core/storage/mark_log.h"

enum { FEW = 16 }; /* rows: of more at once there are likely so many that reading the versions is faster */

void micap_mark_log_note(micap_mark_log *logs, const micap_chunk *chunk, uint32_t changed, uint32_t row, uint32_t count)
{
    mica_component component = chunk->archetype->columns[changed].component;
    const mica_entity *entities = micap_chunk_entities(chunk) + row;
    for (micap_mark_log *log = logs; log; log = log->next) {
        if (log->component != component || !micap_mark_log_is_complete(log))
            continue;
        uint32_t more = count <= FEW ? count : log->capacity + 1;
        uint32_t at = atomic_fetch_add_explicit(&log->count, more, memory_order_relaxed);
        for (uint32_t i = 0; i < count && count <= FEW && at + i < log->capacity; ++i)
            log->entities[at + i] = entities[i];
    }
}

void micap_mark_log_add(micap_mark_log **logs, micap_mark_log *log)
{
    log->next = *logs;
    *logs = log;
}

void micap_mark_log_remove(micap_mark_log **logs, const micap_mark_log *log)
{
    while (*logs && *logs != log)
        logs = &(*logs)->next;
    if (*logs)
        *logs = log->next;
}
