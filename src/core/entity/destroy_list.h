/* Destroying many entities at once. */
#ifndef MICAP_CORE_ENTITY_DESTROY_LIST_H
#define MICAP_CORE_ENTITY_DESTROY_LIST_H

#include "core/world/world.h"

/* Destroys those of these entities that are alive, and what depends on them. Returns how many died. The result is that of destroying one
 * after the other, except that hooks see entities with consecutive rows together. */
uint32_t micap_destroy_list(mica_world *world, const mica_entity *entities, uint32_t count);

#endif
