/* How many entity indices a world has used: those that were ever given to an entity or reserved for one. The highest handle that a
 * test has seen is no measure: which free slot is used next may change without end while their number stays the same. */
#ifndef MICA_TESTS_SUPPORT_INDEX_COUNT_H
#define MICA_TESTS_SUPPORT_INDEX_COUNT_H

#include "core/world/world.h"

static inline uint64_t used_index_count(const mica_world *world)
{
    const micap_entities *entities = &world->entities;
    return entities->high_water - (entities->fresh_end - entities->fresh_next) -
           (uint64_t)entities->hole_count * MICAP_ID_BLOCK;
}

#endif
