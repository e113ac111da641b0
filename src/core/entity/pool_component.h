/* What the one door of entity.h does for components in pools. */
#ifndef MICAP_CORE_ENTITY_POOL_COMPONENT_H
#define MICAP_CORE_ENTITY_POOL_COMPONENT_H

#include "core/world/world.h"

const void *micap_pooled_get(const mica_world *world, mica_entity entity, mica_component component);
void *micap_pooled_write(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_has(const mica_world *world, mica_entity entity, mica_component component);

/* What mica_add_id and mica_remove_id do outside of recording: by a short way, or by the long one. */
void *micap_pooled_add_or_any(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_remove_or_any(mica_world *world, mica_entity entity, mica_component component);

/* The short ways alone, for what the entity does not have yet, and for what it has; false when this is not one of the simple
 * cases, and nothing was done. */
bool micap_pooled_set_short(mica_world *world, mica_entity entity, mica_component component, const void *from);
bool micap_pooled_remove_short(mica_world *world, mica_entity entity, mica_component component);

/* The same for living entities of rising index and a pool that is short: room for `total` rows and for these entities, so that
 * the others can't fail; values over those that are there, or new; and gone where there are any. */
bool micap_pooled_reserve(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count,
                          uint64_t total);
void micap_pooled_set_all(mica_world *world, mica_pool *pool, const mica_entity *entities, const char *values,
                          uint32_t count);
void micap_pooled_remove_all(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count);

/* At once; the caller has seen to recording. Hooks run; all but the first leave it to the caller to end them. */
void *micap_pooled_add(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_set(mica_world *world, mica_entity entity, const mica_value *value);
bool micap_pooled_remove(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_enable(mica_world *world, mica_entity entity, const micap_type *type, bool enabled);
bool micap_pooled_is_enabled(const mica_world *world, mica_entity entity, mica_component component);

#endif
