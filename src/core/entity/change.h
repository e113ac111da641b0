/* Adding, setting, removing and toggling components of one entity, outside of recording. */
#ifndef MICAP_CORE_ENTITY_CHANGE_H
#define MICAP_CORE_ENTITY_CHANGE_H

#include "core/world/world.h"

/* The general path of adding, setting and removing at once. */
MICAP_COLD void *micap_add_any(mica_world *world, mica_entity entity, mica_component component);
bool micap_set_any(mica_world *world, mica_entity entity, mica_value value);
MICAP_COLD bool micap_remove_any(mica_world *world, mica_entity entity, mica_component component);

#endif
