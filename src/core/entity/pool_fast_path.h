/* The fast path of adding to and removing from a pool: trivial whole values of any size, or the bits of a tag; no hooks, rows of dead
 * entities or snapshots. See changes_fast in pool/pool.h. */
#ifndef MICAP_CORE_ENTITY_POOL_FAST_PATH_H
#define MICAP_CORE_ENTITY_POOL_FAST_PATH_H

#include "core/world/world.h"

/* Whether the fast path applies to a pool now. */
static inline bool micap_pool_is_fast(const mica_world *world, const mica_pool *pool)
{
    return MICAP_LIKELY(pool && pool->changes_fast && !world->undo.before);
}

/* What mica_add_id, mica_set_id and mica_remove_id do outside of recording: the fast path, or the general one. */
void *micap_pooled_add_or_any(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_set_or_any(mica_world *world, mica_entity entity, mica_value value);
bool micap_pooled_remove_or_any(mica_world *world, mica_entity entity, mica_component component);

/* Replaces the value of an entity in a pool that is fast, if it has one. */
void micap_pooled_overwrite(mica_world *world, mica_pool *pool, mica_entity entity, const char *from);

/* For many living entities, in a pool that is fast and has room for them: none of them has a row, and all get the same value, which is
 * NULL for a tag; all have a row, and lose it. */
void micap_pooled_add_many(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count,
                           const char *from);
void micap_pooled_remove_many(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count);

#endif
