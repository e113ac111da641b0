/* What the one door of entity.h does for components in pools. */
#ifndef MICAP_CORE_ENTITY_POOL_COMPONENT_H
#define MICAP_CORE_ENTITY_POOL_COMPONENT_H

#include "core/world/world.h"

const void *micap_pooled_get(const mica_world *world, mica_entity entity, mica_component component);
void *micap_pooled_write(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_has(const mica_world *world, mica_entity entity, mica_component component);

/* Change the world immediately; the caller has checked that the world does not record. Hooks run. After all functions except the first,
 * the caller calls micap_hooks_end. */
void *micap_pooled_add(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_set(mica_world *world, mica_entity entity, const mica_value *value);
bool micap_pooled_remove(mica_world *world, mica_entity entity, mica_component component);
bool micap_pooled_enable(mica_world *world, mica_entity entity, const micap_type *type, bool enabled);
bool micap_pooled_is_enabled(const mica_world *world, mica_entity entity, mica_component component);

#endif
