/* Copy-on-write for snapshots: rows and columns are saved in the undo log of the newest snapshot (base/undo_log.h) before they
 * change for the first time after it was taken.
 *
 *     copy_on_write.c       saves slices of rows and columns            restore.c        writes everything back
 *     undo_entity_index.c   saves and restores free handles             undo_pools.c     saves and restores the counts of pools
 *
 * The stamp of a slice tells whether it has to be saved: what has a stamp since the newest snapshot is in its log. The reverse
 * need not hold, so that the log decides. mica_world_validate checks every stamp. */
#ifndef MICAP_CORE_UNDO_COPY_ON_WRITE_H
#define MICAP_CORE_UNDO_COPY_ON_WRITE_H

#include "core/world/world.h"

/* For saved values that are not trivial. */
extern const micap_undo_value_ops micap_undo_ops_of_values;

/* The key of a column of a slice in a log. Rows have the same key as column 0, and another kind. The part of the key is when the
 * chunk was created, since numbers are reused. */
static inline uint64_t micap_slice_place(const micap_chunk *chunk, uint32_t row, uint32_t column)
{
    return (uint64_t)chunk->number << 32 | (uint64_t)(row / MICA_SLICE_ROWS) << 16 | column;
}

static inline uint32_t micap_place_row(uint64_t key)
{
    return (uint32_t)(key >> 16 & 0xFFFF) * MICA_SLICE_ROWS;
}

static inline uint32_t micap_place_column(uint64_t key)
{
    return key & 0xFFFF;
}

/* The chunk of a place; NULL if it was destroyed. No archetype has it while it is retired: see micap_chunk_in_use. */
const micap_chunk *micap_place_chunk(const mica_world *world, const micap_undo_entry *kept);

/* How many rows a slice has. */
static inline uint32_t micap_slice_count(const micap_chunk *chunk, uint32_t row)
{
    uint32_t first = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS;
    uint32_t count = chunk->count > first ? chunk->count - first : 0;
    return count < MICA_SLICE_ROWS ? count : MICA_SLICE_ROWS;
}

/* Saves the slice that has this row, unless the log has it: one column, before its values change; entities and all columns, before
 * any of `count` rows is added, removed or moved. */
MICAP_COLD void micap_undo_save_column(mica_world *world, const micap_chunk *chunk, uint32_t column, uint32_t row);
MICAP_COLD void micap_undo_save_rows(mica_world *world, const micap_chunk *chunk, uint32_t row, uint32_t count);
/* Saves the list of chunks and the number of rows, before they change. */
MICAP_COLD void micap_undo_save_archetype(mica_world *world, const micap_archetype *archetype);

/* Saves in the newest log what is there now, before an entry of another log is restored to the same place. */
void micap_undo_save_again(mica_world *world, const micap_undo_entry *kept);

/* Whether everything that was stamped since the newest snapshot is in its log; false with a report. */
bool micap_undo_validate(const mica_world *world);

#endif
