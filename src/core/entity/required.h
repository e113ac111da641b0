/* Required components: what comes along when a component is added. Types list what they require, with all that this requires in turn
 * (type/type.h). A list of values for new entities is completed first, and then created like any other. A component that an entity lacks
 * is added together with what it requires along one edge of the archetype graph. The flush has its own code: flush_coalesce.c. */
#ifndef MICAP_CORE_ENTITY_REQUIRED_H
#define MICAP_CORE_ENTITY_REQUIRED_H

#include "core/storage/rows.h"
#include "core/world/world.h"

/* A list of values with those that are required. */
typedef struct micap_complete {
    const mica_value *values;
    uint32_t count;
    uint32_t capacity;
    mica_value *memory; /* of the values; NULL if there is nothing to release */
    mica_value small[24];
} micap_complete;

/* Whether something may come along with a component in a pool: not in a world that is being restored from a file. */
static inline bool micap_may_bring(const mica_world *world, const micap_type *type)
{
    return type->required_count && !world->entities.preset;
}

/* Whether some of the values require components that are not among them. */
bool micap_values_lack_required(const mica_value *values, uint32_t count);

/* Adds the required components that are missing to a list, with default values, after those that are given. False with a report if memory
 * runs out. Components of the list that are unknown are left to the caller. */
bool micap_values_complete(mica_world *world, const mica_value *values, uint32_t count, micap_complete *out);
void micap_complete_free(mica_world *world, const micap_complete *complete);

/* Adds a component that the living entity lacks, with a copy of what `from` points to or the default, and the required components that it
 * lacks: all or nothing. Runs add hooks, and for a component in a pool that has a value the set hook. False with a report. */
bool micap_add_required(mica_world *world, mica_entity entity, const micap_type *type, const void *from);

#endif
