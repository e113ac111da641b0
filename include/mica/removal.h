/* Mica, removal: which entities lost a component, kept until it suits you to look. What was added is asked of a query
 * (MICA_ADDED); what was removed is in no query any more.
 *
 *     mica_removals *fallen = mica_removals_create(world, Health);
 *     ...
 *     mica_entity some[64];
 *     for (uint32_t count; (count = mica_removals_read(fallen, some, 64)) > 0;)
 *         bury(some, count);
 *
 * An entity is listed once for each time it lost the component, by remove or by its death, in the order it happened;
 * by then it may be dead.
 */
#ifndef MICA_REMOVAL_H
#define MICA_REMOVAL_H

#include "mica/describe.h"

MICA_BEGIN

typedef struct mica_removals mica_removals;

/* Starts to list the entities that lose a component. Returns NULL when it can't. Threads: owner. */
MICA_API mica_removals *mica_removals_create_id(mica_world *world, mica_component component);

/* Stops; NULL is fine. Refused inside a hook. Threads: owner. */
MICA_API void mica_removals_destroy(mica_removals *removals);

/* Takes up to `capacity` entities off the list, oldest first, and returns how many. Threads: owner. */
MICA_API uint32_t mica_removals_read(mica_removals *removals, mica_entity *out_entities, uint32_t capacity);

/* Returns how many removals could not be listed, because memory was short, since the last call; each such shortage is
 * reported. A program that must know them all then looks for itself. Threads: owner. */
MICA_API uint64_t mica_removals_missed(mica_removals *removals);

MICA_END

#define mica_removals_create(world, T) mica_removals_create_id((world), MICA_ID(T))

#endif
