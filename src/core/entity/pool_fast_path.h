/* The fast path of adding to and removing from a pool: trivial whole values of any size that are found by a map or a direct index,
 * or the bits of a tag; no hooks, groups, rows of dead entities or snapshots. See changes_fast in pool/pool.h. */
#ifndef MICAP_CORE_ENTITY_POOL_FAST_PATH_H
#define MICAP_CORE_ENTITY_POOL_FAST_PATH_H

#include "core/world/world.h"

/* What mica_add_id, mica_set_id and mica_remove_id do outside of recording: the fast path, or the general one. */
void *micap_pooled_add_or_any(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_set_or_any(mica_world *world, mica_entity entity, mica_value value);
bool micap_pooled_remove_or_any(mica_world *world, mica_entity entity, mica_component component);

/* The fast paths alone, for what the entity does not have yet, and for what it has; false when there is none, and nothing was
 * done. */
bool micap_pooled_set_fast(mica_world *world, mica_entity entity, mica_component component, const void *from);
bool micap_pooled_remove_fast(mica_world *world, mica_entity entity, mica_component component);

/* The same for living entities of rising index and a pool that is fast: room for `total` rows and for these entities, so that
 * the others can't fail; values over those that are there, or new; and gone where there are any. */
bool micap_pooled_reserve(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count,
                          uint64_t total);
void micap_pooled_set_all(mica_world *world, mica_pool *pool, const mica_entity *entities, const char *values,
                          uint32_t count);
void micap_pooled_remove_all(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count);

#endif
