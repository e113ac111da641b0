/* Mica, name: optional names, unique within a scope. The scope is another entity, or nil for the top level: the path
 * "station/door" is the entity "door" in the scope of the top-level entity "station".
 *
 *     mica_name_set(world, door, station, "door");
 *     mica_entity found = mica_find(world, "station/door");
 *
 * Entities named in a scope that was destroyed keep their names but are no longer found. */
#ifndef MICA_NAME_H
#define MICA_NAME_H

#include "mica/handle.h"

MICA_BEGIN

/* Names an entity within a scope and replaces its old name; NULL or "" removes the name. Copies the text. Inside a system that is
 * not exclusive, the change is recorded. The flush drops it with a report if the scope has the name then.
 * Otherwise it takes effect immediately, even while changes are recorded and for an entity whose creation is recorded.
 * Returns MICA_ERROR_EXISTS if the scope already has the name, MICA_ERROR_INVALID if the name contains '/' or the entity is its
 * own scope, and MICA_ERROR_DEAD for a dead entity or scope. Threads: owner. */
MICA_API mica_result mica_name_set(mica_world *world, mica_entity entity, mica_entity scope, const char *name);

/* Returns the name, or NULL. Valid until the name changes or the entity is destroyed. Threads: reader. */
MICA_API const char *mica_name_get(const mica_world *world, mica_entity entity);

/* Returns the scope of the name; nil for the top level and for an entity without a name. Threads: reader. */
MICA_API mica_entity mica_name_get_scope(const mica_world *world, mica_entity entity);

/* Finds an entity by its path, starting in a scope; nil is the top level. Returns nil if there is none. Threads: reader. */
MICA_API mica_entity mica_find_from(const mica_world *world, mica_entity scope, const char *path);

/* Finds an entity by its path from the top level, or returns nil. Threads: reader. */
static inline mica_entity mica_find(const mica_world *world, const char *path)
{
    return mica_find_from(world, mica_nil(), path);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_name_set(world, ...) mica_name_set(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_get(world, ...) mica_name_get(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_get_scope(world, ...) mica_name_get_scope(MICA_AT_(world), __VA_ARGS__)
#    define mica_find_from(world, ...) mica_find_from(MICA_AT_(world), __VA_ARGS__)
#    define mica_find(world, ...) mica_find(MICA_AT_(world), __VA_ARGS__)
#endif
#endif
