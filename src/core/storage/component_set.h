/* A sorted set of components under construction: where an archetype change with more than one step is worked out,
 * without leaving archetypes for the steps in between. */
#ifndef MICAP_CORE_STORAGE_COMPONENT_SET_H
#define MICAP_CORE_STORAGE_COMPONENT_SET_H

#include "core/storage/archetype.h"

typedef struct micap_set {
    mica_world *world;
    mica_component *ids;
    uint32_t count;
    uint32_t capacity;
    mica_component small[64];
} micap_set;

/* The room a component takes, with its companions. */
uint32_t micap_set_room(mica_component component);

/* Starts with the components of an archetype, and that much more room. */
bool micap_set_init(micap_set *set, mica_world *world, const micap_archetype *archetype, uint32_t more);
void micap_set_free(micap_set *set);

/* With its companions; false when it is there already. */
bool micap_set_insert(micap_set *set, const micap_type *type);
/* With its companions; nothing happens when it is not there. */
void micap_set_erase(micap_set *set, const micap_type *type);

#endif
