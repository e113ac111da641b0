/* The fast path of edges, inline: for whole paths that are made of it. */
#ifndef MICAP_RELATION_FAST_CHANGE_H
#define MICAP_RELATION_FAST_CHANGE_H

#include "core/world/world.h"
#include "pool/pool_fast_edges.h"

/* Whether edges of a pool, or NULL, can be changed by the fast path. */
static MICAP_INLINE bool micap_edges_change_fast(const mica_world *world, const mica_pool *pool)
{
    return MICAP_LIKELY(pool && pool->edges && pool->edges->changes_fast && !pool->edges->waits && !world->undo.before);
}

/* Removes an edge between these by the fast path. */
static MICAP_INLINE void micap_edge_remove_fast(mica_world *world, mica_pool *pool, uint32_t row, mica_entity source,
                                                mica_entity target)
{
    if (pool->previous[row] == row && MICAP_LIKELY(world->pools.count <= 64))
        *micap_map_entry_at(&world->pools.masks, source.index) &= ~((uint64_t)1 << pool->bit);
    micap_edges_remove(pool, row, source, target, micap_version(world), true);
    world->structure += pool->is_queried;
}

#endif
