/* Mica, name: optional names, unique within a scope. The scope is another entity, or nil for the top:
 * a path such as "station/door" is the entity "door" in the scope of the top-level entity "station".
 *
 *     mica_name_set(world, door, station, "door");
 *     mica_entity found = mica_find(world, "station/door");
 *
 * When a scope dies, what was named in it keeps its name, but is no longer found. */
#ifndef MICA_NAME_H
#define MICA_NAME_H

#include "mica/handle.h"

MICA_BEGIN

/* Names an entity within a scope, in place of any name it had; NULL or "" takes the name away. The text is copied. At
 * once, also while changes are recorded, and for an entity whose creation is. Fails with MICA_ERROR_EXISTS when the scope
 * has the name, MICA_ERROR_INVALID when it contains '/' or the entity is its own scope, and MICA_ERROR_DEAD for a dead
 * entity or scope. Threads: owner. */
MICA_API mica_result mica_name_set(mica_world *world, mica_entity entity, mica_entity scope, const char *name);

/* Returns the name, or NULL; it lives until the name changes or the entity dies. Threads: reader. */
MICA_API const char *mica_name_get(const mica_world *world, mica_entity entity);

/* Returns the scope an entity is named in; nil for the top, and for an entity without a name. Threads: reader. */
MICA_API mica_entity mica_name_get_scope(const mica_world *world, mica_entity entity);

/* Returns the entity at a path that starts in a scope, nil being the top; nil when there is none. Threads: reader. */
MICA_API mica_entity mica_find_from(const mica_world *world, mica_entity scope, const char *path);

/* Returns the entity at a path from the top, or nil. Threads: reader. */
static inline mica_entity mica_find(const mica_world *world, const char *path)
{
    return mica_find_from(world, mica_nil(), path);
}

MICA_END
#endif
