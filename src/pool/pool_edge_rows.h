/* Adding and removing edges: the rows themselves, the lists of their source and of their target, and what finds them. Copies for
 * snapshots are made first, all at once, so that the rest is the same with and without snapshots. */
#ifndef MICAP_POOL_POOL_EDGE_ROWS_H
#define MICAP_POOL_POOL_EDGE_ROWS_H

#include "pool/pool_edges.h"

/* Whether an edge can be added at once: there is room for a row, in the table, and in the indices for its source and its target. */
static inline bool micap_edges_have_room(const mica_pool *pool, mica_entity source, mica_entity target)
{
    const micap_pool_edges *edges = pool->edges;
    return pool->row_limit != pool->capacity &&
           (!edges->has_table || (pool->row_limit + (uint64_t)1) * 3 <= (uint64_t)edges->slot_count * 2) &&
           micap_map_at(&pool->index, source.index) && micap_map_at(&edges->targets, target.index);
}

/* Adds the edge whose value is in the row after the last one. It becomes the last edge of its source and, if the target is alive, of its
 * target, with its own rank if that is higher than the others. There is room. */
void micap_edges_append(mica_pool *pool, mica_entity source, bool is_alive, mica_version version);

/* The same; finds out whether the target is alive. */
void micap_edges_append_any(mica_pool *pool, mica_entity source, mica_version version);

/* Removes an edge whose value was destroyed. The last row fills the hole. */
void micap_edges_drop(mica_pool *pool, uint32_t row, mica_version version);

/* Makes the copies of a row and of those that it is linked to. */
void micap_edges_preserve(const mica_pool *pool, uint32_t row);

#endif
