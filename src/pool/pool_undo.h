/* Writes to a pool: copy-on-write for snapshots, stamps, and the restore of copies. */
#ifndef MICAP_POOL_POOL_UNDO_H
#define MICAP_POOL_POOL_UNDO_H

#include "pool/pool.h"

/* Writes. Every write to a pool goes through one of these functions first. They make the copy that the newest snapshot needs
 * (copy-on-write), stamp the change and, in checked builds, compare writes to values with what the running system declared. The
 * fast path, core/entity/pool_fast_path.c, is only for worlds without snapshots, and outside of systems. */

static inline void micap_pool_check_write(const mica_pool *pool, uint32_t row, uint32_t count)
{
#ifdef MICA_CHECKED
    if (pool->check_write)
        pool->check_write(pool->world, pool->type->id, pool->owners + row, count);
#else
    (void)pool, (void)row, (void)count;
#endif
}

/* The copies: of the slices of rows [row, row + count), and of the block of a bit. */
MICAP_COLD void micap_pool_save_slices(const mica_pool *pool, uint32_t row, uint32_t count);
MICAP_COLD void micap_pool_save_bit(const mica_pool *pool, uint32_t row);

/* Makes the copies of rows without stamping them: for rows that are about to be removed, for what has no stamp (links between
 * instances, switches), and for values that are passed to a hook, which may write to them. */
static inline void micap_pool_preserve(const mica_pool *pool, uint32_t row, uint32_t count)
{
    if (MICAP_UNLIKELY(pool->undo->before))
        micap_pool_save_slices(pool, row, count);
}

/* The bit of a row, or of an entity with a tag, is about to change. */
static inline void micap_pool_touch_bit(const mica_pool *pool, uint32_t row)
{
    if (MICAP_UNLIKELY(pool->undo->before))
        micap_pool_save_bit(pool, row);
}

/* A row is about to be added, or to be replaced by another row. */
static inline void micap_pool_touch_row(const mica_pool *pool, uint32_t row, mica_version version)
{
    micap_pool_preserve(pool, row, 1);
    micap_pool_stamps(pool, row)[0] = version;
}

/* Values of rows [row, row + count) of a data lane are about to be written, of all with MICAP_ALL_COLUMNS. */
#define MICAP_ALL_COLUMNS UINT32_MAX
void micap_pool_touch(const mica_pool *pool, uint32_t lane, uint32_t row, uint32_t count, mica_version version);

/* The same, of at least one row, without marking rows of a tracked pool: for writers that mark those they change. */
void micap_pool_touch_unmarked(const mica_pool *pool, uint32_t lane, uint32_t row, uint32_t count,
                               mica_version version);

/* Marks rows of a tracked pool as changed. */
void micap_pool_mark(const mica_pool *pool, uint32_t row, uint32_t count, mica_version version);

/* The general path of the next function. */
MICAP_COLD void micap_pool_touch_slow(const mica_pool *pool, uint32_t row, mica_version version);

/* A whole value is about to be written. */
static inline void micap_pool_touch_value(const mica_pool *pool, uint32_t row, mica_version version)
{
    mica_version *stamp = &micap_pool_stamps(pool, row)[1];
    micap_pool_check_write(pool, row, 1);
    if (MICAP_UNLIKELY(micap_stamp_is_older(stamp, pool->undo)))
        micap_pool_touch_slow(pool, row, version);
    else
        micap_stamp(stamp, version);
}

/* Puts back what was kept. In this order for all pools: values that own something and are about to be overwritten are destroyed;
 * bits, and how many rows there are; rows; then the index. */
void micap_pool_destruct_saved(mica_pool *pool, const micap_undo_entry *kept);
void micap_pool_restore_bits(mica_pool *pool, const micap_undo_entry *kept);
void micap_pool_restore_slice(mica_pool *pool, micap_undo_entry *kept);
void micap_pool_restore_index(mica_pool *pool);

/* Gives an empty pool the rows of another of the same type; false when memory is short. */
bool micap_pool_clone(mica_pool *to, const mica_pool *from);

#endif
