/* Writes to chunks. Every write goes through one of these functions first. They make the copy that the newest snapshot needs
 * (copy-on-write), stamp the change and, in checked builds, compare writes to values with what the running system declared. No
 * other code does any of these. A stamp that is newer than the snapshot says that the copy exists. */
#ifndef MICAP_CORE_STORAGE_CHUNK_WRITE_H
#define MICAP_CORE_STORAGE_CHUNK_WRITE_H

#include "core/undo/copy_on_write.h"
#include "core/world/access_check.h"

/* Whether the newest snapshot may need a copy of what has this stamp, or its rows are tracked. */
static inline bool micap_is_older(const mica_world *world, const mica_version *stamp)
{
    return MICAP_UNLIKELY(micap_stamp_is_older(stamp, &world->undo));
}

/* The general path, for slices that need a copy and for tracked components: values of rows [row, row + count) of a column are about to
 * be written. Marks rows of tracked components as changed. */
MICAP_COLD void micap_touch_slow(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row, uint32_t count,
                                 mica_version version);

/* The same without marking rows: for writers that call micap_mark_rows for those they change. */
void micap_touch_unmarked(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row, uint32_t count,
                          mica_version version);

/* Marks rows of a tracked component as changed, in the column that has their versions. */
void micap_mark_rows(mica_world *world, const micap_chunk *chunk, uint32_t changed, uint32_t row, uint32_t count,
                     mica_version version);

/* Stamps values of one slice, if no copy is needed first and its rows are not tracked. If it returns false, call one of the functions below; in checked builds
 * it always does, so that they check the access. Use this where a call in the middle of a function would cost more than the
 * write. */
static inline bool micap_touch_without_copy(const mica_world *world, mica_version *stamp, mica_version version)
{
    if (MICAP_EVERY_WRITE_IS_CHECKED || micap_is_older(world, stamp))
        return false;
    micap_stamp(stamp, version);
    return true;
}

/* A value of a column is about to be written. */
static inline void micap_touch_value(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row)
{
    mica_version *stamp = micap_chunk_stamps(chunk, row) + 1 + column;
    micap_check_write(world, chunk, column, row, 1);
    if (micap_is_older(world, stamp))
        micap_touch_slow(world, chunk, column, row, 1, micap_version(world));
    else
        micap_stamp(stamp, micap_version(world));
}

/* Values of rows [row, row + count) of a column are about to be written. */
static inline void micap_touch_column(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row,
                                      uint32_t count, mica_version version)
{
    uint32_t stride = chunk->stride;
    micap_check_write(world, chunk, column, row, count);
    mica_version *stamp = micap_chunk_stamps(chunk, row) + 1 + column;
    const mica_version *last = micap_chunk_stamps(chunk, row + count - 1) + 1 + column;
    for (; stamp <= last; stamp += stride) {
        if (micap_is_older(world, stamp)) {
            micap_touch_slow(world, chunk, column, row, count, version);
            return;
        }
        micap_stamp(stamp, version);
    }
}

/* Makes the copies of rows [row, row + count) without stamping them: for rows that are about to be removed, and for values that
 * are passed to a hook, which may write to them. */
static inline void micap_preserve_rows(mica_world *world, const micap_chunk *chunk, uint32_t row, uint32_t count)
{
    if (MICAP_UNLIKELY(world->undo.before) && count)
        micap_undo_save_rows(world, chunk, row, count);
}

/* The same for one row: mostly its slice was saved a moment ago. */
static inline void micap_preserve_row(mica_world *world, const micap_chunk *chunk, uint32_t row)
{
    if (MICAP_UNLIKELY(world->undo.before) &&
        !micap_undo_has_rows(&world->undo, micap_slice_place(chunk, row, 0), chunk->born))
        micap_undo_save_rows(world, chunk, row, 1);
}

/* Stamps a row that needs no copy: there is no snapshot, or micap_preserve_rows was called. For fast paths, which test once whether
 * there is a snapshot. */
static inline void micap_stamp_row(const mica_world *world, const micap_chunk *chunk, uint32_t row)
{
    micap_chunk_stamps(chunk, row)[0] = micap_version(world);
}

/* A row is about to be appended, or to be replaced by another row. */
static inline void micap_touch_row(mica_world *world, const micap_chunk *chunk, uint32_t row)
{
    mica_version *stamp = micap_chunk_stamps(chunk, row);
    if (micap_is_older(world, stamp))
        micap_undo_save_rows(world, chunk, row, 1);
    *stamp = micap_version(world);
}

/* The same for rows [row, row + count). */
static inline void micap_touch_rows(mica_world *world, const micap_chunk *chunk, uint32_t row, uint32_t count)
{
    for (uint32_t at = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS; at < row + count; at += MICA_SLICE_ROWS)
        micap_touch_row(world, chunk, at);
}

/* The list of chunks of an archetype is about to change. */
static inline void micap_touch_archetype(mica_world *world, const micap_archetype *archetype)
{
    if (MICAP_UNLIKELY(world->undo.before))
        micap_undo_save_archetype(world, archetype);
}

#endif
