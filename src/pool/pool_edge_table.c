#include "pool/pool_edge_table.h"

static uint32_t home_of(const micap_pool_edges *edges, mica_entity source, mica_entity target)
{
    uint64_t key = ((uint64_t)source.index << 32 | target.index) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(key >> 32) & (edges->slot_count - 1);
}

static uint32_t home_of_row(const mica_pool *pool, uint32_t row)
{
    return home_of(pool->edges, pool->owners[row], micap_edge_target(pool, row));
}

uint32_t micap_edge_table_slot(const mica_pool *pool, uint32_t row)
{
    const micap_pool_edges *edges = pool->edges;
    uint32_t slot = home_of_row(pool, row);
    while (edges->slots[slot] && edges->slots[slot] != row + 1)
        slot = (slot + 1) & (edges->slot_count - 1);
    return slot;
}

void micap_edge_table_enter(mica_pool *pool, uint32_t row)
{
    micap_pool_edges *edges = pool->edges;
    MICAP_ASSERT((edges->used + 1ull) * 3 <= edges->slot_count * 2ull, "room was made for the row");
    uint32_t slot = home_of_row(pool, row);
    while (edges->slots[slot])
        slot = (slot + 1) & (edges->slot_count - 1);
    edges->slots[slot] = row + 1;
    ++edges->used;
}

/* Shifts back what follows, so that there are no tombstones. */
void micap_edge_table_erase(mica_pool *pool, uint32_t row)
{
    micap_pool_edges *edges = pool->edges;
    uint32_t hole = micap_edge_table_slot(pool, row), mask = edges->slot_count - 1;
    if (!edges->slots[hole])
        return;
    --edges->used;
    for (uint32_t at = (hole + 1) & mask; edges->slots[at]; at = (at + 1) & mask) {
        if (((at - home_of_row(pool, edges->slots[at] - 1)) & mask) < ((at - hole) & mask))
            continue; /* it is not beyond its home: it stays */
        edges->slots[hole] = edges->slots[at];
        hole = at;
    }
    edges->slots[hole] = 0;
}

void micap_edge_table_move(mica_pool *pool, uint32_t from, uint32_t to)
{
    micap_pool_edges *edges = pool->edges;
    uint32_t slot = home_of_row(pool, to);
    while (edges->slots[slot] && edges->slots[slot] != from + 1)
        slot = (slot + 1) & (edges->slot_count - 1);
    if (edges->slots[slot])
        edges->slots[slot] = to + 1;
}

uint32_t micap_edge_table_find(const mica_pool *pool, mica_entity source, mica_entity target)
{
    const micap_pool_edges *edges = pool->edges;
    for (uint32_t slot = home_of(edges, source, target); edges->slots[slot];
         slot = (slot + 1) & (edges->slot_count - 1)) {
        uint32_t row = edges->slots[slot] - 1;
        if (mica_same(pool->owners[row], source) && mica_same(micap_edge_target(pool, row), target))
            return row;
    }
    return MICAP_ROW_NONE;
}

void micap_edge_table_fill(mica_pool *pool)
{
    micap_pool_edges *edges = pool->edges;
    if (!edges->has_table)
        return;
    memset(edges->slots, 0, edges->slot_count * sizeof *edges->slots);
    edges->used = 0;
    for (uint32_t row = 0; row < pool->row_limit; ++row)
        micap_edge_table_enter(pool, row);
}

/* Two thirds full at most. */
static uint64_t slots_for(uint64_t entries)
{
    uint64_t needed = 16;
    while (needed * 2 < entries * 3)
        needed *= 2;
    return needed;
}

/* An empty table with so many slots; false if memory is short. */
static bool resize(mica_pool *pool, uint64_t slot_count)
{
    micap_pool_edges *edges = pool->edges;
    uint32_t *slots = slot_count > UINT32_MAX
                          ? NULL
                          : micap_allocate_zeroed(pool->memory, slot_count * sizeof *slots, MICAP_ARRAY_ALIGNMENT);
    if (!slots)
        return false;
    MICAP_RELEASE_ARRAY(pool->memory, edges->slots, edges->slot_count);
    edges->slots = slots;
    edges->slot_count = (uint32_t)slot_count;
    edges->used = 0;
    return true;
}

bool micap_edge_table_reserve(mica_pool *pool, uint64_t more)
{
    const micap_pool_edges *edges = pool->edges;
    uint64_t needed = ((uint64_t)pool->row_limit + more) * 3;
    if (MICAP_LIKELY(!edges->has_table || needed <= (uint64_t)edges->slot_count * 2))
        return true;
    if (!resize(pool, slots_for(pool->row_limit + more)))
        return false;
    micap_edge_table_fill(pool);
    return true;
}

void micap_edge_table_make(mica_pool *pool)
{
    if (!resize(pool, slots_for((uint64_t)pool->row_limit + pool->incoming)))
        return;
    pool->edges->has_table = true;
    micap_edge_table_fill(pool);
}

static bool is_needed(const mica_pool *pool)
{
    for (uint32_t row = 0; row < pool->row_limit; ++row)
        if (pool->links[row].source_count > MICAP_EDGES_WALKED && micap_pool_is_first(pool, row))
            return true;
    return false;
}

void micap_edge_table_renew(mica_pool *pool)
{
    if (pool->edges->has_table)
        micap_edge_table_fill(pool);
    else if (is_needed(pool))
        micap_edge_table_make(pool);
}

void micap_edge_table_trim(mica_pool *pool)
{
    micap_pool_edges *edges = pool->edges;
    if (!edges->has_table)
        return;
    edges->has_table = is_needed(pool);
    if (!edges->has_table) {
        MICAP_RELEASE_ARRAY(pool->memory, edges->slots, edges->slot_count);
        edges->slots = NULL;
        edges->slot_count = edges->used = 0;
    } else if (slots_for(pool->row_limit) < edges->slot_count && resize(pool, slots_for(pool->row_limit))) {
        micap_edge_table_fill(pool); /* or, without memory for it, it stays large */
    }
}
