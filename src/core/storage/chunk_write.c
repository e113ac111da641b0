#include "core/storage/chunk_write.h"

#include "base/assert.h"
#include "core/storage/mark_log.h"

static inline uint32_t slice_begin(uint32_t row)
{
    return row / MICA_SLICE_ROWS * MICA_SLICE_ROWS;
}

void micap_touch_unmarked(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row, uint32_t count,
                          mica_version version)
{
    micap_check_write(world, chunk, column, row, count);
    for (uint32_t at = slice_begin(row); at < row + count; at += MICA_SLICE_ROWS) {
        mica_version *stamp = micap_chunk_stamps(chunk, at) + 1 + column;
        mica_version old = MICAP_LOAD(stamp, MICAP_ACQUIRE);
        if (micap_stamp_version(old) < world->undo.before)
            micap_undo_save_column(world, chunk, column, at);
        micap_stamp(stamp, micap_stamp_of(old, version));
    }
}

void micap_mark_rows(mica_world *world, const micap_chunk *chunk, uint32_t changed, uint32_t row, uint32_t count,
                     mica_version version)
{
    for (uint32_t at = slice_begin(row); at < row + count; at += MICA_SLICE_ROWS) {
        mica_version *stamp = micap_chunk_stamps(chunk, at) + 1 + changed;
        if (micap_stamp_is_older(stamp, &world->undo))
            micap_undo_save_column(world, chunk, changed, at);
        micap_stamp_newest(stamp, version);
    }
    mica_version *versions = micap_chunk_value(chunk, changed, row);
    for (uint32_t i = 0; i < count; ++i)
        versions[i] = version;
    if (MICAP_UNLIKELY(world->mark_logs != NULL))
        micap_mark_log_note(world->mark_logs, chunk, changed, row, count);
}

void micap_touch_slow(mica_world *world, micap_chunk *chunk, uint32_t column, uint32_t row, uint32_t count,
                      mica_version version)
{
    micap_touch_unmarked(world, chunk, column, row, count, version);
    uint32_t changed = chunk->archetype->columns[column].changed;
    if (changed != MICAP_COLUMN_NONE)
        micap_mark_rows(world, chunk, changed, row, count, version);
}
