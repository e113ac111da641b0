/* Lists of entities that lost a component. They are filled when remove hooks run. */
#ifndef MICAP_CORE_EVENTS_REMOVALS_H
#define MICAP_CORE_EVENTS_REMOVALS_H

#include "mica/removal.h"

#include <stdint.h>

struct mica_removals {
    mica_world *world;
    mica_component component;
    uint64_t serial;       /* see mica_world */
    mica_removals *next;   /* of the same component */
    mica_entity *entities; /* [first, count) are still to be read */
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    uint64_t missed;
};

/* Adds these entities to all lists of a component. */
void micap_removals_note(mica_world *world, mica_removals *removals, const mica_entity *entities, uint32_t count);

/* Releases all lists of a component. */
void micap_removals_free(mica_removals *removals);

#endif
