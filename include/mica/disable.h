/* Mica, disable: hide entities without destroying them.
 *
 *     mica_entity_disable(world, enemy);                      keeps all its values, leaves all queries and systems
 *     mica_tree_disable(world, car);                          with its descendants: mica/hierarchy.h
 *     mica_query *sleeping = mica_query_create(world, MICA_QUERY(MICA_READ(Enemy), MICA_HAS(mica_disabled)));
 *     mica_entity_enable(world, enemy);
 *
 * A disabled entity has the tag mica_disabled. Queries and systems skip entities with it, unless one of their terms names the tag or
 * they have .with_hidden; its row moves when it is disabled, as with any tag. Messages do not reach it. Everything else sees it:
 * look-ups by handle or name, hooks and observers, pools, the hierarchy, transforms, SQL, hashes, snapshots, saved worlds and deltas.
 *
 * mica_disabled is an ordinary tag that is described with .hides = true. Describe tags of your own this way to hide entities for
 * other reasons, such as templates.
 */
#ifndef MICA_DISABLE_H
#define MICA_DISABLE_H

#include "mica/describe.h"
#include "mica/entity.h"

MICA_BEGIN

/* The id of the tag, for bindings and C++. Zero if memory runs out. Threads: any. */
MICA_API mica_component mica_disabled_id(void);

/* Hides an entity, or shows it again. Return true also if nothing changes; false with a report if it is not alive or memory
 * runs out. Inside systems the change is recorded. Threads: owner. */
MICA_API bool mica_entity_disable(mica_world *world, mica_entity entity);
MICA_API bool mica_entity_enable(mica_world *world, mica_entity entity);

/* Returns whether an entity has the tag. A component that is disabled with mica_disable does not count. Threads: reader. */
MICA_API bool mica_entity_is_disabled(const mica_world *world, mica_entity entity);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_entity_disable(world, ...) mica_entity_disable(MICA_AT_(world), __VA_ARGS__)
#    define mica_entity_enable(world, ...) mica_entity_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_entity_is_disabled(world, ...) mica_entity_is_disabled(MICA_AT_(world), __VA_ARGS__)
#endif

#ifndef __cplusplus
MICA_TAG_WITH(mica_disabled, (.hides = true))
#endif

#endif
