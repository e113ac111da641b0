/* The inline parts of pool_edge_rows: what adding and removing an edge does to the row and its lists, when the copies for snapshots are
 * made. Whole paths are made of them in pool_edge_rows and in relation/relate.c. Nothing here fails or reports. */
#ifndef MICAP_POOL_POOL_FAST_EDGES_H
#define MICAP_POOL_POOL_FAST_EDGES_H

#include "pool/pool_edge_table.h"
#include "pool/pool_fast_rows.h"

/* The row after the last one is added to the edges of its source, for whose index this is the entry. Returns how many those are. */
static MICAP_INLINE uint32_t micap_edges_join_source(mica_pool *pool, uint32_t row, mica_entity source, uint64_t *entry)
{
    pool->next[row] = MICAP_ROW_NONE;
    if (MICAP_LIKELY(!*entry)) {
        *entry = micap_map_entry(source, row);
        pool->previous[row] = row;
        return 1;
    }
    uint32_t first = (uint32_t)*entry - 1, last = pool->previous[first];
    pool->next[last] = row;
    pool->previous[row] = last;
    pool->previous[first] = row;
    return ++pool->links[first].source_count;
}

/* The same for its target. The rank becomes the next one of the target, unless it is higher. */
static MICAP_INLINE void micap_edges_join_target(mica_pool *pool, uint32_t row, mica_entity target, uint64_t *entry,
                                                 uint32_t rank, mica_version version)
{
    micap_edge_links *links = pool->links;
    uint32_t last_rank = 0;
    if (MICAP_UNLIKELY(!*entry)) {
        *entry = micap_map_entry(target, row);
        links[row].previous = row;
        links[row].target_count = 1;
    } else {
        uint32_t first = (uint32_t)*entry - 1, last = links[first].previous;
        links[row].previous = last;
        links[last].next = row;
        links[first].previous = row;
        ++links[first].target_count;
        last_rank = micap_edge_rank(pool, last);
    }
    rank = rank > last_rank ? rank : last_rank + 1;
    memcpy(pool->values + (size_t)row * pool->value_bytes + pool->edges->rank_offset, &rank, sizeof rank);
    if (MICAP_UNLIKELY(!rank)) /* there is none after the highest */
        micap_edges_renumber(pool, (uint32_t)*entry - 1, version);
}

/* Makes a row of the one after the last, which is in no list yet. */
static MICAP_INLINE uint32_t micap_edges_own_row(mica_pool *pool, mica_entity source, mica_version version)
{
    uint32_t row = pool->row_limit++;
    ++pool->count;
    ++pool->stamp;
    pool->owners[row] = source;
    micap_pool_stamps(pool, row)[0] = version;
    pool->links[row] = (micap_edge_links){.next = MICAP_ROW_NONE, .previous = MICAP_ROW_NONE, .source_count = 1};
    return row;
}

/* A row leaves the edges of its source, for whose index this is the entry. */
static MICAP_INLINE void micap_edges_leave_source(mica_pool *pool, uint32_t row, mica_entity source, uint64_t *entry)
{
    uint32_t next = pool->next[row], previous = pool->previous[row];
    if (MICAP_LIKELY(previous == row)) {
        *entry = 0;
        return;
    }
    uint32_t first = (uint32_t)*entry - 1;
    if (row == first) {
        *entry = micap_map_entry(source, next);
        pool->previous[next] = previous; /* the last one */
        pool->links[next].source_count = pool->links[row].source_count - 1;
        return;
    }
    pool->next[previous] = next;
    pool->previous[next == MICAP_ROW_NONE ? first : next] = previous;
    --pool->links[first].source_count;
}

/* The same for its target. */
static MICAP_INLINE void micap_edges_leave_target(mica_pool *pool, uint32_t row, mica_entity target, uint64_t *entry)
{
    micap_edge_links *links = pool->links, gone = links[row];
    if (gone.previous == row) {
        *entry = 0;
        return;
    }
    uint32_t first = (uint32_t)*entry - 1;
    if (row == first) {
        *entry = micap_map_entry(target, gone.next);
        links[gone.next].previous = gone.previous;
        links[gone.next].target_count = gone.target_count - 1;
        return;
    }
    links[gone.previous].next = gone.next;
    links[gone.next == MICAP_ROW_NONE ? first : gone.next].previous = gone.previous;
    --links[first].target_count;
}

/* The lists of a row that was copied from another one. */
static MICAP_INLINE void micap_edges_repair_source(mica_pool *pool, uint32_t from, uint32_t to)
{
    mica_entity source = pool->owners[to];
    uint64_t *entry = micap_map_entry_at(&pool->index, source.index);
    uint32_t next = pool->next[to], previous = pool->previous[to];
    if (MICAP_LIKELY(previous == from)) { /* it is alone */
        *entry = micap_map_entry(source, to);
        pool->previous[to] = to;
        return;
    }
    if ((uint32_t)*entry - 1 == from)
        *entry = micap_map_entry(source, to);
    else
        pool->next[previous] = to;
    pool->previous[next == MICAP_ROW_NONE ? (uint32_t)*entry - 1 : next] = to;
}

static MICAP_INLINE void micap_edges_repair_target(mica_pool *pool, uint32_t from, uint32_t to)
{
    micap_edge_links *links = pool->links;
    mica_entity target = micap_edge_target(pool, to);
    uint64_t *entry = micap_map_entry_at(&pool->edges->targets, target.index);
    uint32_t next = links[to].next, previous = links[to].previous;
    if (previous == from) {
        *entry = micap_map_entry(target, to);
        links[to].previous = to;
        return;
    }
    if ((uint32_t)*entry - 1 == from)
        *entry = micap_map_entry(target, to);
    else
        links[previous].next = to;
    links[next == MICAP_ROW_NONE ? (uint32_t)*entry - 1 : next].previous = to;
}

static MICAP_INLINE void micap_edges_move_row(mica_pool *pool, uint32_t from, uint32_t to, mica_version version,
                                              bool is_trivial)
{
    micap_pool_stamps(pool, to)[0] = version;
    pool->owners[to] = pool->owners[from];
    pool->next[to] = pool->next[from];
    pool->previous[to] = pool->previous[from];
    pool->links[to] = pool->links[from];
    if (is_trivial)
        micap_copy_trivial(micap_pool_value(pool, to), micap_pool_value(pool, from), pool->value_bytes);
    else
        micap_values_move(pool->type, micap_pool_value(pool, to), micap_pool_value(pool, from), 1);
    micap_edges_repair_source(pool, from, to);
    if (MICAP_LIKELY(micap_edge_is_linked(pool, to)))
        micap_edges_repair_target(pool, from, to);
    if (MICAP_UNLIKELY(pool->edges->has_table))
        micap_edge_table_move(pool, from, to);
}

/* Removes an edge between these. The last row fills the hole; the type says whether its value is copied as bytes. */
static MICAP_INLINE void micap_edges_remove(mica_pool *pool, uint32_t row, mica_entity source, mica_entity target,
                                            mica_version version, bool is_trivial)
{
    const micap_pool_edges *edges = pool->edges;
    uint32_t last = pool->row_limit - 1;
    ++pool->stamp;
    --pool->count;
    if (MICAP_UNLIKELY(edges->has_table))
        micap_edge_table_erase(pool, row);
    micap_edges_leave_source(pool, row, source, micap_map_entry_at(&pool->index, source.index));
    if (MICAP_LIKELY(micap_edge_is_linked(pool, row)))
        micap_edges_leave_target(pool, row, target, micap_map_entry_at(&edges->targets, target.index));
    pool->row_limit = last;
    if (row != last)
        micap_edges_move_row(pool, last, row, version, is_trivial);
}

#endif
