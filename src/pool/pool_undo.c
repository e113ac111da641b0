/* Copies are made of slices of rows with all their lanes, and of blocks of bits. */
#include "pool/pool_undo.h"
#include "base/assert.h"
#include "pool/pool_edge_table.h"
#include "pool/pool_rows.h"

enum { BLOCK_WORDS = 64 };

static uint32_t first_row(const micap_undo_entry *kept)
{
    return (uint32_t)kept->key * MICA_SLICE_ROWS;
}

/* How many rows of a slice lie below the limit. */
static uint32_t rows_in(const mica_pool *pool, uint32_t first)
{
    uint32_t count = pool->row_limit > first ? pool->row_limit - first : 0;
    return count < MICA_SLICE_ROWS ? count : MICA_SLICE_ROWS;
}

/* Whether a lane is kept apart, since its values can't be copied as bytes. */
static bool is_apart(const mica_pool *pool, uint32_t lane)
{
    return lane == 1 && !pool->type->trivial;
}

static size_t stamps_bytes(const mica_pool *pool)
{
    return pool->stamp_count * sizeof(mica_version);
}

static void keep_lanes(const mica_pool *pool, uint32_t first)
{
    uint32_t count = rows_in(pool, first);
    size_t bytes = stamps_bytes(pool);
    for (uint32_t i = 0; i < pool->lane_count; ++i)
        bytes += is_apart(pool, i) ? 0 : (size_t)count * pool->lanes[i].bytes;
    micap_undo_entry *kept =
        micap_undo_open(pool->undo, MICAP_UNDO_POOL, micap_pool_place(pool, first / MICA_SLICE_ROWS), 0, bytes, 1);
    if (!kept)
        return;
    kept->count = count;
    char *at = kept->data;
    memcpy(at, micap_pool_stamps(pool, first), stamps_bytes(pool));
    at += stamps_bytes(pool);
    for (uint32_t i = 0; i < pool->lane_count; ++i) {
        const micap_pool_column *lane = &pool->lanes[i];
        if (is_apart(pool, i) || !count)
            continue;
        memcpy(at, lane->data + (size_t)first * lane->bytes, (size_t)count * lane->bytes);
        at += (size_t)count * lane->bytes;
    }
    micap_undo_close(pool->undo, kept);
}

static uint32_t used_rows(const mica_pool *pool, uint32_t first)
{
    uint32_t used = 0;
    for (uint32_t row = first; row < first + MICA_SLICE_ROWS; ++row)
        used += micap_pool_has_row(pool, row);
    return used;
}

/* The values of rows that are in use, one after the other. */
static void keep_values(const mica_pool *pool, uint32_t first)
{
    uint32_t used = used_rows(pool, first), bytes = pool->value_bytes;
    micap_undo_entry *kept =
        micap_undo_open(pool->undo, MICAP_UNDO_POOL, micap_pool_place(pool, first / MICA_SLICE_ROWS), 1,
                        (size_t)used * bytes, pool->type->type.alignment);
    if (!kept)
        return;
    kept->type = pool->type;
    kept->is_owned = true;
    bool done = true;
    for (uint32_t row = first; done && kept->count < used; ++row) {
        if (!micap_pool_has_row(pool, row))
            continue;
        done = micap_can_copy(pool->type) &&
               micap_values_copy(pool->type, (char *)kept->data + (size_t)kept->count * bytes,
                                 micap_pool_value(pool, row), 1);
        kept->count += done;
    }
    if (done) {
        micap_undo_close(pool->undo, kept);
        return;
    }
    micap_values_destruct(pool->type, kept->data, kept->count);
    micap_undo_give_up(pool->undo, kept);
}

void micap_pool_save_slices(const mica_pool *pool, uint32_t row, uint32_t count)
{
    uint32_t end = row + count;
    for (uint32_t first = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS; first < end; first += MICA_SLICE_ROWS) {
        if (!pool->type->trivial)
            keep_values(pool, first);
        keep_lanes(pool, first);
    }
}

/* How many words a block of bits has; while there are snapshots, words never become fewer. */
static uint32_t words_in(const mica_pool *pool, uint32_t first)
{
    uint32_t words = pool->present_words - first;
    return words < BLOCK_WORDS ? words : BLOCK_WORDS;
}

void micap_pool_save_bit(const mica_pool *pool, uint32_t row)
{
    uint32_t first = row / 64 / BLOCK_WORDS * BLOCK_WORDS;
    micap_undo_save_bytes(pool->undo, MICAP_UNDO_BITS, micap_pool_place(pool, first / BLOCK_WORDS), 0,
                          pool->present + first, words_in(pool, first) * sizeof *pool->present);
}

void micap_pool_restore_bits(mica_pool *pool, const micap_undo_entry *kept)
{
    uint32_t first = (uint32_t)kept->key * BLOCK_WORDS;
    memset(pool->present + first, 0, words_in(pool, first) * sizeof *pool->present);
    memcpy(pool->present + first, kept->data, kept->bytes);
}

void micap_pool_destruct_saved(mica_pool *pool, const micap_undo_entry *kept)
{
    uint32_t first = first_row(kept);
    for (uint32_t row = first; kept->is_owned && row < first + MICA_SLICE_ROWS; ++row)
        if (micap_pool_has_row(pool, row))
            micap_pool_destruct_value(pool, row);
}

static void restore_values(mica_pool *pool, micap_undo_entry *kept)
{
    char *value = kept->data;
    for (uint32_t row = first_row(kept); kept->count; ++row) {
        if (!micap_pool_has_row(pool, row))
            continue;
        micap_values_move(pool->type, micap_pool_value(pool, row), value, 1);
        value += pool->value_bytes;
        --kept->count;
    }
    kept->is_owned = false;
}

static void restore_lanes(mica_pool *pool, const micap_undo_entry *kept)
{
    uint32_t first = first_row(kept), count = kept->count;
    const char *at = kept->data;
    memcpy(micap_pool_stamps(pool, first), at, stamps_bytes(pool));
    at += stamps_bytes(pool);
    for (uint32_t i = 0; i < pool->lane_count; ++i) {
        const micap_pool_column *lane = &pool->lanes[i];
        size_t bytes = (size_t)count * lane->bytes;
        if (is_apart(pool, i) || !count)
            continue;
        char *to = lane->data + (size_t)first * lane->bytes;
        pool->is_shuffled |= i == 0 && (pool->edges || memcmp(to, at, bytes) != 0);
        memcpy(to, at, bytes);
        at += bytes;
    }
    uint32_t end = first + MICA_SLICE_ROWS < pool->capacity ? first + MICA_SLICE_ROWS : pool->capacity;
    for (uint32_t row = first + count; pool->present && row < end; ++row)
        pool->owners[row] = mica_nil(); /* with a direct index, rows that are not in use have no owner */
}

void micap_pool_restore_slice(mica_pool *pool, micap_undo_entry *kept)
{
    if (kept->part)
        restore_values(pool, kept);
    else
        restore_lanes(pool, kept);
}

/* Whether a row is the first of several instances: the row before it in the ring is the last one, which has no next. */
static bool is_first(const mica_pool *pool, uint32_t row)
{
    return !pool->next || pool->next[pool->previous[row]] == MICAP_ROW_NONE;
}

void micap_pool_restore_index(mica_pool *pool)
{
    if (pool->kind == MICAP_POOL_HASH && pool->is_shuffled) {
        micap_hash_clear(&pool->index);
        for (uint32_t row = 0; row < pool->row_limit; ++row)
            if (is_first(pool, row))
                micap_hash_set(&pool->index, pool->owners[row].index, row);
    }
    if (pool->edges && pool->is_shuffled)
        micap_edge_table_fill(pool);
    pool->is_shuffled = false;
}

static bool clone_lanes(mica_pool *to, const mica_pool *from)
{
    for (uint32_t i = 0; i < from->lane_count; ++i)
        if (!is_apart(from, i))
            memcpy(to->lanes[i].data, from->lanes[i].data, (size_t)from->row_limit * from->lanes[i].bytes);
    for (uint32_t row = 0; row < from->row_limit; row += MICA_SLICE_ROWS)
        memcpy(micap_pool_stamps(to, row), micap_pool_stamps(from, row), stamps_bytes(from));
    for (uint32_t row = 0; !from->type->trivial && row < from->row_limit; ++row) {
        if (!micap_pool_has_row(from, row))
            continue;
        if (!micap_values_copy(from->type, micap_pool_value(to, row), micap_pool_value(from, row), 1)) {
            while (row-- > 0)
                if (micap_pool_has_row(from, row))
                    micap_pool_destruct_value(to, row);
            return false;
        }
    }
    return true;
}

bool micap_pool_clone(mica_pool *to, const mica_pool *from)
{
    uint32_t limit = from->kind == MICAP_POOL_TAG ? from->present_words * 64 : from->row_limit;
    if (!limit)
        return true;
    if (from->present ? !micap_pool_reserve_entity(to, limit - 1) : !micap_pool_reserve_rows(to, limit))
        return false;
    for (uint32_t row = 0; from->kind == MICAP_POOL_MAP && row < limit; ++row)
        if (!micap_map_reserve(&to->index, from->owners[row].index))
            return false;
    if (from->edges && !micap_edges_reserve_clone(to, from))
        return false;
    if (from->present)
        memcpy(to->present, from->present, (limit + 63) / 64 * sizeof *to->present);
    if (from->kind != MICAP_POOL_TAG && !clone_lanes(to, from)) {
        if (from->present)
            memset(to->present, 0, (limit + 63) / 64 * sizeof *to->present);
        return false;
    }
    to->row_limit = from->row_limit;
    to->count = from->count;
    to->dead_count = from->dead_count;
    to->probe_count = from->probe_count;
    to->removed_count = from->removed_count;
    for (uint32_t row = 0; to->kind == MICAP_POOL_MAP && row < to->row_limit; ++row)
        if (is_first(to, row))
            micap_map_set(&to->index, to->owners[row], row);
    to->is_shuffled = true;
    micap_pool_restore_index(to);
    if (to->edges)
        micap_edges_finish_clone(to);
    return true;
}

void micap_pool_touch(const mica_pool *pool, uint32_t lane, uint32_t row, uint32_t count, mica_version version)
{
    if (!count)
        return;
    micap_pool_touch_unmarked(pool, lane, row, count, version);
    if (MICAP_UNLIKELY(pool->changed != NULL))
        micap_pool_mark(pool, row, count, version);
}

void micap_pool_touch_unmarked(const mica_pool *pool, uint32_t lane, uint32_t row, uint32_t count, mica_version version)
{
    micap_pool_check_write(pool, row, count);
    uint32_t data_end = 1 + pool->data_lane_count;
    const mica_version *last = micap_pool_stamps(pool, row + count - 1);
    for (mica_version *stamps = micap_pool_stamps(pool, row); stamps <= last; stamps += pool->stamp_count) {
        uint32_t begin = lane == MICAP_ALL_COLUMNS ? 1 : 1 + lane,
                 end = lane == MICAP_ALL_COLUMNS ? data_end : 2 + lane;
        mica_version old = MICAP_LOAD(&stamps[begin], MICAP_ACQUIRE);
        if (MICAP_UNLIKELY(micap_stamp_version(old) < pool->undo->before))
            micap_pool_save_slices(pool, row, 1);
        for (uint32_t i = begin; i < end; ++i) /* threads that write different rows of a slice stamp it alike */
            micap_stamp(&stamps[i], micap_stamp_of(old, version));
        row += MICA_SLICE_ROWS;
    }
}

void micap_pool_mark(const mica_pool *pool, uint32_t row, uint32_t count, mica_version version)
{
    for (uint32_t at = row / MICA_SLICE_ROWS * MICA_SLICE_ROWS; at < row + count; at += MICA_SLICE_ROWS) {
        mica_version *stamp = micap_pool_marked(pool, at);
        if (MICAP_UNLIKELY(micap_stamp_is_older(stamp, pool->undo)))
            micap_pool_save_slices(pool, at, 1);
        micap_stamp_newest(stamp, version);
    }
    for (uint32_t i = row; i < row + count; ++i)
        pool->changed[i] = version;
}

void micap_pool_touch_slow(const mica_pool *pool, uint32_t row, mica_version version)
{
    micap_pool_touch_unmarked(pool, 0, row, 1, version);
    if (pool->changed)
        micap_pool_mark(pool, row, 1, version);
}
