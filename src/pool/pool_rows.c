/* Rows that come, go and change places, with everything that points to them. */
#include "base/assert.h"
#include "pool/pool_rows.h"
#include "pool/pool_fast_rows.h"
#include "pool/pool_undo.h"
#include "pool/pool_group.h"
#include "pool/pool_edge_rows.h"

static void set_row(mica_pool *pool, mica_entity entity, uint32_t row)
{
    if (pool->kind == MICAP_POOL_MAP)
        micap_map_set(&pool->index, entity, row);
    else if (pool->kind == MICAP_POOL_HASH)
        micap_hash_set(&pool->index, entity.index, row);
}

/* Where rows are packed. */
static void erase_row(mica_pool *pool, mica_entity entity)
{
    if (pool->kind == MICAP_POOL_MAP)
        micap_map_erase(&pool->index, entity.index);
    else
        micap_hash_erase(&pool->index, micap_hash_slot(&pool->index, entity.index));
}

static void link_last(mica_pool *pool, uint32_t row, uint32_t first)
{
    pool->next[row] = MICAP_ROW_NONE;
    pool->previous[row] = row;
    if (first == MICAP_ROW_NONE)
        return;
    uint32_t last = pool->previous[first];
    micap_pool_preserve(pool, first, 1);
    micap_pool_preserve(pool, last, 1);
    pool->next[last] = row;
    pool->previous[row] = last;
    pool->previous[first] = row;
}

static void set_bit(mica_pool *pool, uint32_t row, bool value)
{
    uint64_t bit = (uint64_t)1 << row % 64, *word = &pool->present[row / 64];
    micap_pool_touch_bit(pool, row);
    *word = value ? *word | bit : *word & ~bit;
}

void micap_pool_append(mica_pool *pool, mica_entity entity, mica_version version)
{
    if (MICAP_UNLIKELY(pool->edges != NULL)) {
        micap_edges_append_any(pool, entity, version);
        return;
    }
    ++pool->count;
    ++pool->stamp;
    if (pool->kind == MICAP_POOL_TAG) {
        set_bit(pool, entity.index, true);
        return;
    }
    uint32_t row = micap_pool_next_row(pool, entity);
    MICAP_ASSERT_HOT(row < pool->capacity, "room was reserved");
    uint32_t first = pool->next ? micap_pool_row(pool, entity) : MICAP_ROW_NONE;
    micap_pool_touch_row(pool, row, version); /* before the row counts as used */
    if (pool->present)
        set_bit(pool, row, true);
    pool->owners[row] = entity;
    if (row >= pool->row_limit)
        pool->row_limit = row + 1;
    if (first == MICAP_ROW_NONE)
        set_row(pool, entity, row);
    if (pool->next)
        link_last(pool, row, first);
    if (pool->enabled)
        pool->enabled[row] = first == MICAP_ROW_NONE ? 1 : pool->enabled[first]; /* a switch is of all instances */
    if (pool->added)
        pool->added[row] = version;
    if (pool->changed)
        pool->changed[row] = version;
    if (MICAP_UNLIKELY(pool->group != NULL))
        micap_group_enter(pool->group, entity, version);
}

/* Takes a row out of the chain of its entity and out of the index. */
static void unlink_row(mica_pool *pool, uint32_t row)
{
    mica_entity entity = pool->owners[row];
    if (!pool->next) {
        erase_row(pool, entity);
        return;
    }
    uint32_t first = micap_pool_row_at(pool, entity.index), next = pool->next[row], previous = pool->previous[row];
    if (row == first) {
        if (next == MICAP_ROW_NONE) {
            erase_row(pool, entity);
            return;
        }
        pool->previous[next] = previous; /* the last one */
        set_row(pool, entity, next);
        return;
    }
    pool->next[previous] = next;
    pool->previous[next == MICAP_ROW_NONE ? first : next] = previous;
}

/* Moves a row into a free row and updates everything that refers to it. */
static void move_row(mica_pool *pool, uint32_t from, uint32_t to)
{
    mica_entity entity = pool->owners[from];
    bool is_first = !pool->next || micap_pool_row_at(pool, entity.index) == from;
    for (uint32_t i = 0; i < pool->lane_count; ++i) {
        const micap_pool_column *lane = &pool->lanes[i];
        char *source = lane->data + (size_t)from * lane->bytes, *target = lane->data + (size_t)to * lane->bytes;
        if (i == 1 && pool->type->type.move)
            micap_values_move(pool->type, target, source, 1);
        else
            micap_copy_trivial(target, source, lane->bytes);
    }
    if (is_first)
        set_row(pool, entity, to);
    if (!pool->next)
        return;
    uint32_t first = is_first ? to : micap_pool_row_at(pool, entity.index);
    uint32_t next = pool->next[to], previous = pool->previous[to];
    if (previous == from) /* it is alone */
        pool->previous[to] = to;
    else if (!is_first)
        pool->next[previous] = to;
    if (next != MICAP_ROW_NONE)
        pool->previous[next] = to;
    else if (!is_first)
        pool->previous[first] = to;
}

static void drop_direct(mica_pool *pool, uint32_t row)
{
    set_bit(pool, row, false);
    if (pool->kind == MICAP_POOL_TAG)
        return;
    pool->owners[row] = mica_nil();
    while (pool->row_limit && !micap_bit(pool->present, pool->row_limit - 1)) {
        if (pool->row_limit % 64 == 0 && !pool->present[pool->row_limit / 64 - 1])
            pool->row_limit -= 64;
        else
            --pool->row_limit;
    }
}

/* The copies of a row that is removed or moves, and of those that are linked to it. */
static void preserve_chain(const mica_pool *pool, uint32_t row)
{
    if (MICAP_LIKELY(!pool->undo->before))
        return;
    micap_pool_preserve(pool, row, 1);
    if (!pool->next)
        return;
    uint32_t others[] = {pool->next[row], pool->previous[row], micap_pool_row_at(pool, pool->owners[row].index)};
    for (uint32_t i = 0; i < 3; ++i)
        if (others[i] != MICAP_ROW_NONE)
            micap_pool_preserve(pool, others[i], 1);
}

void micap_pool_drop_row(mica_pool *pool, uint32_t row, mica_version version)
{
    if (MICAP_UNLIKELY(pool->edges != NULL)) {
        micap_edges_drop(pool, row, version);
        return;
    }
    ++pool->stamp;
    --pool->count;
    if (pool->present) {
        if (pool->kind != MICAP_POOL_TAG) {
            preserve_chain(pool, row);
            micap_pool_touch_row(pool, row, version);
        }
        drop_direct(pool, row);
        return;
    }
    uint32_t last = pool->row_limit - 1;
    preserve_chain(pool, row);
    preserve_chain(pool, last);
    unlink_row(pool, row);
    if (row != last) {
        micap_pool_touch_row(pool, row, version);
        move_row(pool, last, row);
    }
    pool->row_limit = last;
}

/* Exchanges bytes; values that can't be copied go by way of the scratch. */
static void swap_lane(const mica_pool *pool, uint32_t lane_index, uint32_t a, uint32_t b)
{
    const micap_pool_column *lane = &pool->lanes[lane_index];
    char *left = lane->data + (size_t)a * lane->bytes, *right = lane->data + (size_t)b * lane->bytes;
    if (lane_index == 1 && pool->type->type.move) {
        micap_values_move(pool->type, pool->scratch, left, 1);
        micap_values_move(pool->type, left, right, 1);
        micap_values_move(pool->type, right, pool->scratch, 1);
        return;
    }
    micap_swap_trivial(left, right, lane->bytes);
}

/* Where a row is after rows a and b changed places. */
static uint32_t after_swap(uint32_t row, uint32_t a, uint32_t b)
{
    return row == a ? b : row == b ? a : row;
}

/* Lets the neighbours of a row that is now here know. */
static void repair_links(mica_pool *pool, uint32_t row, bool is_first)
{
    uint32_t next = pool->next[row], previous = pool->previous[row];
    if (!is_first)
        pool->next[previous] = row;
    if (next != MICAP_ROW_NONE)
        pool->previous[next] = row;
    else
        pool->previous[micap_pool_row_at(pool, pool->owners[row].index)] = row;
}

/* The fast path: whole trivial values and a map, and nothing that is linked. */
static inline void swap_mapped(mica_pool *pool, uint32_t a, uint32_t b, mica_version version)
{
    mica_entity left = pool->owners[a], right = pool->owners[b];
    if (MICAP_UNLIKELY(pool->undo->before)) {
        micap_pool_preserve(pool, a, 1);
        micap_pool_preserve(pool, b, 1);
        micap_map_touch(&pool->index, left.index);
        micap_map_touch(&pool->index, right.index);
    }
    micap_pool_stamps(pool, a)[0] = micap_pool_stamps(pool, b)[0] = version;
    ++pool->stamp;
    pool->owners[a] = right;
    pool->owners[b] = left;
    *micap_map_entry_at(&pool->index, left.index) = micap_map_entry(left, b);
    *micap_map_entry_at(&pool->index, right.index) = micap_map_entry(right, a);
    micap_swap_trivial(micap_pool_value(pool, a), micap_pool_value(pool, b), pool->value_bytes);
}

static MICAP_NOINLINE void swap_any(mica_pool *pool, uint32_t a, uint32_t b, mica_version version)
{
    preserve_chain(pool, a);
    preserve_chain(pool, b);
    micap_pool_touch_row(pool, a, version);
    micap_pool_touch_row(pool, b, version);
    ++pool->stamp;
    mica_entity left = pool->owners[a], right = pool->owners[b];
    bool left_first = micap_pool_row_at(pool, left.index) == a, right_first = micap_pool_row_at(pool, right.index) == b;
    micap_edge_swap swap = {{0}, {0}, {0}};
    if (pool->edges)
        swap = micap_edges_swapping(pool, a, b);
    for (uint32_t i = 0; i < pool->lane_count; ++i)
        swap_lane(pool, i, a, b);
    if (left_first)
        set_row(pool, left, b);
    if (right_first)
        set_row(pool, right, a);
    if (pool->next) {
        uint32_t rows[] = {a, b};
        for (uint32_t i = 0; i < 2; ++i) { /* they may be neighbours of each other */
            uint32_t *next = &pool->next[rows[i]], *previous = &pool->previous[rows[i]];
            *next = *next == MICAP_ROW_NONE ? *next : after_swap(*next, a, b);
            *previous = after_swap(*previous, a, b);
        }
        repair_links(pool, a, right_first);
        repair_links(pool, b, left_first);
    }
    if (pool->edges)
        micap_edges_swapped(pool, &swap);
}

void micap_pool_swap_rows(mica_pool *pool, uint32_t a, uint32_t b, mica_version version)
{
    if (a == b)
        return;
    if (pool->changes_fast && pool->kind == MICAP_POOL_MAP)
        swap_mapped(pool, a, b, version);
    else
        swap_any(pool, a, b, version);
}

void micap_pool_order_instances(mica_pool *pool, const uint32_t *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        micap_pool_preserve(pool, rows[i], 1);
        pool->next[rows[i]] = i + 1 < count ? rows[i + 1] : MICAP_ROW_NONE;
        pool->previous[rows[i]] = rows[i ? i - 1 : count - 1];
    }
    if (pool->edges)
        micap_edges_reordered(pool, micap_pool_row(pool, pool->owners[rows[0]]), rows[0]);
    set_row(pool, pool->owners[rows[0]], rows[0]);
    ++pool->stamp;
}

static void scatter(mica_pool *pool, uint32_t row, const char *value)
{
    for (uint32_t i = 1; i <= pool->data_lane_count; ++i) {
        const micap_pool_column *lane = &pool->lanes[i];
        micap_copy_trivial(lane->data + (size_t)row * lane->bytes, value + lane->from, lane->bytes);
    }
}

bool micap_pool_make_value(mica_pool *pool, uint32_t row, const void *from)
{
    const micap_type *type = pool->type;
    if (pool->kind == MICAP_POOL_TAG)
        return true;
    if (!type->leaves) {
        void *to = micap_pool_value(pool, row);
        if (!from)
            return micap_values_construct(type, to, 1);
        if (type->type.copy)
            return micap_values_copy(type, to, from, 1);
        micap_copy_fresh(to, from, pool->value_bytes);
        return true;
    }
    if (!from)
        from = type->initial;
    for (uint32_t i = 1; !from && i <= pool->data_lane_count; ++i)
        memset(pool->lanes[i].data + (size_t)row * pool->lanes[i].bytes, 0, pool->lanes[i].bytes);
    if (from)
        scatter(pool, row, from);
    return true;
}

void micap_pool_move_value_in(mica_pool *pool, uint32_t row, void *from)
{
    if (pool->type->leaves)
        scatter(pool, row, from);
    else if (pool->type->type.move)
        micap_values_move(pool->type, micap_pool_value(pool, row), from, 1);
    else
        micap_copy_trivial(micap_pool_value(pool, row), from, pool->value_bytes);
}

void micap_pool_destruct_value(mica_pool *pool, uint32_t row)
{
    if (pool->type->type.destruct)
        micap_values_destruct(pool->type, micap_pool_value(pool, row), 1);
}

void micap_pool_read_value(const mica_pool *pool, uint32_t row, void *out)
{
    if (!pool->type->leaves) {
        memcpy(out, micap_pool_value(pool, row), pool->value_bytes);
        return;
    }
    memset(out, 0, pool->value_bytes);
    for (uint32_t i = 1; i <= pool->data_lane_count; ++i) {
        const micap_pool_column *lane = &pool->lanes[i];
        memcpy((char *)out + lane->from, lane->data + (size_t)row * lane->bytes, lane->bytes);
    }
}

void micap_pool_write_value(mica_pool *pool, uint32_t row, const void *from)
{
    if (pool->type->leaves)
        scatter(pool, row, from);
    else
        memmove(micap_pool_value(pool, row), from, pool->value_bytes);
}
