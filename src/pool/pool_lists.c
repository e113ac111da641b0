#include "pool/pool_lists.h"

#include "base/assert.h"
#include "pool/pool_fast_rows.h"
#include "pool/pool_group.h"

static void stamp_rows(const mica_pool *pool, uint32_t row, uint32_t count, mica_version version)
{
    for (uint32_t at = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS; at < row + count; at += MICA_SLICE_ROWS)
        micap_pool_stamps(pool, at)[0] = version;
}

static void append_packed(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version)
{
    const micap_index index = pool->index;
    uint32_t first = pool->row_limit;
    micap_pool_preserve(pool, first, count); /* before the rows count as used */
    memcpy(pool->owners + first, entities, count * sizeof *entities);
    if (pool->kind == MICAP_POOL_MAP)
        micap_map_touch_list(&index, entities, count);
    if (pool->kind == MICAP_POOL_HASH)
        for (uint32_t i = 0; i < count; ++i)
            micap_hash_set(&pool->index, entities[i].index, first + i);
    else
        for (uint32_t i = 0; i < count; ++i)
            *micap_map_entry_at(&index, entities[i].index) = micap_map_entry(entities[i], first + i);
    stamp_rows(pool, first, count, version);
    pool->row_limit += count;
}

/* How many entities, from the first on, have indices that follow each other, rising or, as free handles do, falling. */
static uint32_t indices_run(const mica_entity *entities, uint32_t count, uint32_t *out_lowest)
{
    uint32_t first = entities[0].index, run = 1;
    bool falls = count > 1 && entities[1].index + 1 == first;
    for (uint32_t next = first; run < count && entities[run].index == (falls ? --next : ++next);)
        ++run;
    *out_lowest = falls ? first - (run - 1) : first;
    return run;
}

/* Flips the bits of rows [row, row + count). */
static void flip_bits(uint64_t *present, uint32_t row, uint32_t count)
{
    for (uint32_t bits; count; row += bits, count -= bits) {
        bits = 64 - row % 64 < count ? 64 - row % 64 : count;
        MICAP_ASSERT(bits, "there is a row in each word");
        present[row / 64] ^= UINT64_MAX >> (64 - bits) << row % 64;
    }
}

/* Adds or removes the rows of a direct index, or the bits of a tag. */
static void flip_direct(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version, bool adds)
{
    bool is_tag = pool->kind == MICAP_POOL_TAG;
    mica_entity *const owners = pool->owners;
    uint32_t limit = pool->row_limit;
    for (uint32_t i = 0; pool->undo->before && i < count; ++i)
        micap_pool_touch_bit(pool, entities[i].index);
    for (uint32_t i = 0, run; i < count; i += run) {
        uint32_t row;
        run = indices_run(entities + i, count - i, &row);
        flip_bits(pool->present, row, run);
        if (is_tag)
            continue;
        micap_pool_preserve(pool, row, run);
        for (uint32_t k = i; k < i + run; ++k)
            owners[entities[k].index] = adds ? entities[k] : mica_nil();
        stamp_rows(pool, row, run, version);
        limit = row + run > limit ? row + run : limit;
    }
    if (is_tag)
        return;
    pool->row_limit = limit;
    if (!adds)
        micap_pool_lower_limit(pool);
}

void micap_pool_append_list(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version)
{
    if (pool->present)
        flip_direct(pool, entities, count, version, true);
    else if (count)
        append_packed(pool, entities, count, version);
    pool->count += count;
    pool->stamp += count;
    if (pool->group && count)
        micap_group_enter_list(pool->group, entities, count, version);
}

/* How many entities, from the first on, own consecutive rows, which begin with that of the first. */
static uint32_t rows_in_order(const mica_pool *pool, uint32_t row, const mica_entity *entities, uint32_t count)
{
    uint32_t run = 1, limit = pool->row_limit - row < count ? pool->row_limit - row : count;
    if (limit == 1 || memcmp(pool->owners + row, entities, limit * sizeof *entities) == 0)
        return limit;
    while (run < limit && mica_same(pool->owners[row + run], entities[run]))
        ++run;
    return run;
}

/* Moves the last `count` rows into holes that lie one after the other: the last row first. */
static void fill_backwards(mica_pool *pool, uint32_t hole, uint32_t count, mica_version version)
{
    uint32_t last = pool->row_limit - 1;
    const size_t bytes = pool->value_bytes;
    char *to = micap_pool_value(pool, hole);
    const char *from = micap_pool_value(pool, last);
    micap_pool_preserve(pool, last + 1 - count, count);
    micap_map_touch_list(&pool->index, pool->owners + last + 1 - count, count);
    stamp_rows(pool, hole, count, version);
    for (uint32_t i = 0; i < count; ++i, to += bytes, from -= bytes) {
        mica_entity moved = pool->owners[last - i];
        pool->owners[hole + i] = moved;
        *micap_map_entry_at(&pool->index, moved.index) = micap_map_entry(moved, hole + i);
        micap_copy_inline(to, from, bytes);
    }
    pool->row_limit -= count;
}

/* Removes consecutive rows. */
static void remove_rows(mica_pool *pool, uint32_t row, uint32_t count, mica_version version)
{
    const micap_index index = pool->index;
    const mica_entity *owners = pool->owners + row;
    micap_pool_preserve(pool, row, count);
    micap_map_touch_list(&index, owners, count);
    for (uint32_t i = 0; i < count; ++i)
        *micap_map_entry_at(&index, owners[i].index) = 0;
    for (uint32_t end = row + count, filled; row < end; row += filled) {
        uint32_t others = pool->row_limit - end;
        filled = others < end - row ? others : end - row;
        if (!filled) { /* only rows that are removed are left */
            pool->row_limit = row;
            return;
        }
        fill_backwards(pool, row, filled, version);
    }
}

static void remove_mapped(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version)
{
    for (uint32_t i = 0, run; i < count; i += run) {
        uint32_t row = (uint32_t)*micap_map_entry_at(&pool->index, entities[i].index) - 1;
        run = rows_in_order(pool, row, entities + i, count - i);
        remove_rows(pool, row, run, version);
    }
    pool->count -= count;
    pool->stamp += count;
}

enum { SPARSE = 16 }; /* slots per entry of a hash that is not worth being cleared as a whole */

static void remove_hashed(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version)
{
    if (count < pool->row_limit || pool->index.slot_count > count * (uint64_t)SPARSE) {
        for (uint32_t i = 0; i < count; ++i)
            micap_pool_remove_packed(pool, entities[i], version);
        return;
    }
    micap_pool_preserve(pool, 0, count);
    micap_hash_clear(&pool->index);
    pool->row_limit = 0;
    pool->count = 0;
    pool->stamp += count;
}

void micap_pool_remove_list(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version)
{
    if (pool->kind == MICAP_POOL_MAP) {
        remove_mapped(pool, entities, count, version);
    } else if (pool->kind == MICAP_POOL_HASH) {
        remove_hashed(pool, entities, count, version);
    } else {
        flip_direct(pool, entities, count, version, false);
        pool->count -= count;
        pool->stamp += count;
    }
}
