/* Copies of entities. */
#ifndef MICAP_CORE_ENTITY_CLONE_H
#define MICAP_CORE_ENTITY_CLONE_H

#include "core/world/world.h"

/* As mica_clone, without what modules have for the entity: the caller calls micap_modules_copied. */
mica_entity micap_clone_components(mica_world *world, mica_entity entity);

#endif
