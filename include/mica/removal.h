/* Mica, removal: a list of the entities that lost a component, which you can read at any later time. Queries find what was added
 * (MICA_ADDED), but not what was removed.
 *
 *     mica_removals *fallen = mica_removals_create(world, Health);
 *     ...
 *     mica_entity some[64];
 *     for (uint32_t count; (count = mica_removals_read(fallen, some, 64)) > 0;)
 *         bury(some, count);
 *
 * An entity is listed once for each time it lost the component, by remove or by destroy, in order. It may no longer be alive.
 */
#ifndef MICA_REMOVAL_H
#define MICA_REMOVAL_H

#include "mica/describe.h"

MICA_BEGIN

typedef struct mica_removals mica_removals;

/* Starts a list for a component. Returns NULL on error. Threads: owner. */
MICA_API mica_removals *mica_removals_create_id(mica_world *world, mica_component component);

/* Destroys the list. NULL is a no-op. Rejected inside a hook. Threads: owner. */
MICA_API void mica_removals_destroy(mica_removals *removals);

/* Takes up to `capacity` entities from the list, oldest first. Returns how many. Threads: owner. */
MICA_API uint32_t mica_removals_read(mica_removals *removals, mica_entity *out_entities, uint32_t capacity);

/* Returns how many removals were not listed since the last call because memory ran out. Each time is also reported.
 * Threads: owner. */
MICA_API uint64_t mica_removals_missed(mica_removals *removals);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_removals_create_id(world, ...) mica_removals_create_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_removals_destroy(removals) mica_removals_destroy(MICA_AT_(removals))
#    define mica_removals_read(removals, ...) mica_removals_read(MICA_AT_(removals), __VA_ARGS__)
#    define mica_removals_missed(removals) mica_removals_missed(MICA_AT_(removals))
#endif

#define mica_removals_create(world, T) mica_removals_create_id((world), MICA_ID(T))

#endif
