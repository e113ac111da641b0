/* Snapshots, the core's side: what is kept before it changes (see base/undo_log.h), and how it is put back.
 *
 * Stamps tell whether something may have to be kept: what was stamped since the newest snapshot is kept already. The other
 * way round it need not be true, so that the log has the last word. mica_world_validate checks it for every stamp. */
#ifndef MICAP_CORE_UNDO_COPY_ON_WRITE_H
#define MICAP_CORE_UNDO_COPY_ON_WRITE_H

#include "core/world/world.h"

/* For values with functions of their own. */
extern const micap_keep_ops micap_keep_value_ops;

/* What a column of a slice is called in a log; 0 for its rows. The part is when the chunk was born, since numbers are used
 * again. */
static inline uint64_t micap_slice_place(const micap_chunk *chunk, uint32_t row, uint32_t column)
{
    return (uint64_t)chunk->number << 32 | (uint64_t)(row / MICA_SLICE_ROWS) << 16 | column;
}

static inline uint32_t micap_place_row(uint64_t location)
{
    return (uint32_t)(location >> 16 & 0xFFFF) * MICA_SLICE_ROWS;
}

static inline uint32_t micap_place_column(uint64_t location)
{
    return location & 0xFFFF;
}

/* The chunk of a place; NULL if it was destroyed. No archetype has it while it is retired: see micap_chunk_in_use. */
const micap_chunk *micap_place_chunk(const mica_world *world, const micap_kept *kept);

/* How many rows a slice has. */
static inline uint32_t micap_slice_count(const micap_chunk *chunk, uint32_t row)
{
    uint32_t first = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS;
    uint32_t count = chunk->count > first ? chunk->count - first : 0;
    return count < MICA_SLICE_ROWS ? count : MICA_SLICE_ROWS;
}

/* Keeps what snapshots need of a slice, in which this row is: of one column, before its values change; of all there is, before
 * any of `count` rows comes, goes or moves. Both look for themselves whether it is kept already. */
MICAP_COLD void micap_keep_column(mica_world *world, const micap_chunk *chunk, uint32_t column, uint32_t row);
MICAP_COLD void micap_keep_rows(mica_world *world, const micap_chunk *chunk, uint32_t row, uint32_t count);
/* The last rows of an archetype. */
MICAP_COLD void micap_keep_last_rows(mica_world *world, const micap_archetype *archetype, uint32_t count);
/* Before its chunks change. */
MICAP_COLD void micap_keep_archetype(mica_world *world, const micap_archetype *archetype);

/* Keeps, in the newest log, what is there now of a place that another log kept: before that is put back. */
void micap_keep_again(mica_world *world, const micap_kept *kept);

/* Whether everything that was stamped since the newest snapshot is kept; a report when not. */
bool micap_keep_validate(const mica_world *world);

/* Which slots are free, and which were never used. */
typedef struct micap_handles_state {
    uint32_t first_page;
    uint64_t free_count;
    uint64_t fresh_next;
    uint64_t fresh_end;
    uint64_t high_water;
    uint32_t *holes;
    uint32_t hole_count;
    mica_entity *spare;
    uint32_t spare_count;
    uint64_t block_peak;
    uint64_t *pages; /* a bit for each that there was: handles of other worlds may leave some out */
    uint32_t page_words;
} micap_handles_state;

bool micap_handles_save(mica_world *world, micap_handles_state *state);
void micap_handles_drop(mica_world *world, micap_handles_state *state);
/* Makes room; false when memory is short. The other keeps what restoring will overwrite, for newer snapshots. */
bool micap_handles_prepare(mica_world *world, const micap_handles_state *state);
void micap_handles_keep(mica_world *world, const micap_handles_state *state);
/* Of a block of records that was kept: those that were never used may have been, when it was. */
void micap_handles_clear_fresh(const micap_handles_state *state, uint64_t first, uint64_t *records, uint32_t count);
/* Gives an empty world the slots of another; those that live are still to be told their rows. */
bool micap_handles_clone(mica_world *to, const mica_world *from);
void micap_handles_restore(mica_world *world, const micap_handles_state *state);

/* What pools have beside rows. */
typedef struct micap_pools_state micap_pools_state;
micap_pools_state *micap_pools_save(mica_world *world);
void micap_pools_keep_again(mica_world *world, const micap_kept *kept);
/* Gives an empty world the pools of another, whose entities it has. */
bool micap_pools_clone(mica_world *to, const mica_world *from);
void micap_pools_drop_state(mica_world *world, micap_pools_state *state);

/* What a snapshot is to be restored from: what its log kept, and what newer ones kept of places it lacks. */
typedef struct micap_restoring {
    mica_world *world;
    micap_log *log;
    const micap_handles_state *handles;
    const struct micap_pools_state *pools;
    micap_kept_list kept;
} micap_restoring;

/* What could fail, and its undoing. */
bool micap_restore_prepare(const micap_restoring *restoring);
void micap_restore_give_up(const micap_restoring *restoring);

/* Part of the next. */
void micap_pools_restore(const micap_restoring *restoring);

/* Puts back rows, values, records, names and pools. Needs no memory. */
void micap_restore_kept(micap_restoring *restoring);

#endif
