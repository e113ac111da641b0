/* Finding the pool of a component, and the row of an entity in it. */
#ifndef MICAP_CORE_STORAGE_POOL_LOOKUP_H
#define MICAP_CORE_STORAGE_POOL_LOOKUP_H

#include "core/world/world.h"

/* NULL when the world does not use the component yet. */
static inline mica_pool *micap_pool_of(const mica_world *world, mica_component component)
{
    uint32_t number = component - MICAP_POOL_IDS;
    return number < world->pools.limit ? world->pools.by_number[number] : NULL;
}

/* The row of a living entity, or MICAP_ROW_NONE. Only rows that outlive their owner, and tags, need to ask the world. */
static inline uint32_t micap_pooled_row(const mica_world *world, const mica_pool *pool, mica_entity entity)
{
    if (MICAP_UNLIKELY(pool->dead_count || pool->kind == MICAP_POOL_TAG) &&
        micap_record_chunk(micap_record_of(&world->entities, entity)) == MICAP_CHUNK_NONE)
        return MICAP_ROW_NONE;
    return micap_pool_row(pool, entity);
}

/* Whether an entity that is alive or pending is in a pool: the mask tells, unless several pools share its bits. */
static inline bool micap_pooled_is_in(const mica_world *world, const mica_pool *pool, mica_entity entity)
{
    if (MICAP_LIKELY(world->pools.fast_bits >> pool->bit & 1))
        return micap_pools_mask(&world->pools, entity.index) >> pool->bit & 1;
    return micap_pooled_row(world, pool, entity) != MICAP_ROW_NONE;
}

#endif
