/* Writes to chunks. Every write goes through one of these functions first: it makes the copy that a snapshot needs (copy-on-write)
 * and stamps the change. */
#ifndef MICAP_CORE_STORAGE_TOUCH_H
#define MICAP_CORE_STORAGE_TOUCH_H

#include "core/undo/copy_on_write.h"

/* Whether what has this stamp was there when the newest snapshot was taken, and may have to be kept. Never without one. */
static inline bool micap_is_older(const mica_world *world, const mica_version *stamp)
{
    return MICAP_UNLIKELY(__atomic_load_n(stamp, __ATOMIC_ACQUIRE) < world->keeper.before);
}

/* Notes that a value of a column is about to be written. */
static inline void micap_touch_value(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row)
{
    mica_version *stamp = micap_chunk_stamps(chunk, row) + 1 + column;
    if (micap_is_older(world, stamp))
        micap_keep_column(world, chunk, column, row);
    micap_stamp(stamp, micap_version(world));
}

/* The same for rows [row, row + count). */
static inline void micap_touch_column(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row,
                                      uint32_t count, mica_version version)
{
    uint32_t stride = chunk->stride;
    mica_version *stamp = micap_chunk_stamps(chunk, row) + 1 + column;
    const mica_version *last = micap_chunk_stamps(chunk, row + count - 1) + 1 + column;
    for (; stamp <= last; stamp += stride, row += MICA_SLICE_ROWS) {
        if (micap_is_older(world, stamp))
            micap_keep_column(world, chunk, column, row);
        micap_stamp(stamp, version);
    }
}

#endif
