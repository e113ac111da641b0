/* Mica, reload: a running world picks up a level or a prefab that has changed.
 *
 *     mica_spawned *fleet = mica_spawn_kept(world, level, NULL);              as mica_spawn, and remembered
 *     mica_watch *watch = mica_watch_create(compiled.dependencies, compiled.dependency_count, NULL);
 *     ...
 *     if (mica_watch_changed(watch)) {                                        compile and open it again, then
 *         if (mica_reload(fleet, newer, NULL) == MICA_OK)
 *             mica_resource_free(level), level = newer;
 *     }
 *
 * What the file says is compared with what it said before, and only the difference is brought into the world; what the program
 * changed meanwhile is kept. Handles stay good.
 *
 *   a field       gets the new value where the running one still is what the old file said. Arrays go element by element, text
 *                 as a whole, and so does a component with many instances: all of them, or none.
 *   a component   that the file adds is added, unless the program did so already; one that the file drops is removed. One that
 *                 the program removed stays away. With a spawn function, which has no fields to compare, it is made anew when
 *                 its instance in the file changed.
 *   a switch      (mica_disable) is thrown where nobody threw it meanwhile.
 *   an entity     that the file adds is created, linked and named; one that the file drops is destroyed, with its children. One
 *                 that died in the world stays dead, and what the file adds below it is not created.
 *   siblings      that changed places change them, and new ones go where the file has them.
 *   a singleton   goes field by field, a new one from zero; with a spawn function it is made anew when it changed in the file.
 *
 * Entities are the same when their paths are: the same name, or without one the same place among the nameless, below the same
 * parent. One that is renamed or moved to another parent in the file is a new one. So name what should last.
 */
#ifndef MICA_RELOAD_H
#define MICA_RELOAD_H

#include "mica/resource.h"

MICA_BEGIN

/* What was spawned from a resource, remembered so that it can follow the file. */
typedef struct mica_spawned mica_spawned;

/* As mica_spawn; NULL with a report when it can't. The resource must live until the next reload or the end of what is returned;
 * rules and their contexts, which are used again, likewise. A `link` function of the program's own is refused. Threads: owner. */
MICA_API mica_spawned *mica_spawn_kept(mica_world *world, const mica_resource *resource, const mica_spawn_def *def);

/* Forgets what was spawned, which stays in the world; NULL is fine. Before or after the world ends. Threads: any, one at a
 * time. */
MICA_API void mica_spawned_free(mica_spawned *spawned);

/* Return the resource it follows, and its entities in the order of that resource, copy after copy, until the next reload; handles
 * of what died are dead, of what was not created nil. Threads: any, one at a time. */
MICA_API const mica_resource *mica_spawned_resource(const mica_spawned *spawned);
MICA_API const mica_entity *mica_spawned_entities(const mica_spawned *spawned);
MICA_API uint32_t mica_spawned_count(const mica_spawned *spawned);

/* What a reload did. */
typedef struct mica_reload_stats {
    uint32_t created_count; /* entities */
    uint32_t destroyed_count;
    uint32_t added_count; /* components, not counting those of created entities */
    uint32_t removed_count;
    uint32_t updated_count; /* components, of which values or switches changed */
    uint32_t kept_count;    /* fields that changed in the file and had been changed in the world */
} mica_reload_stats;

/* Brings the world from what the old resource says to what the new one says; then the new one is followed, and the old one may be
 * freed. All of it or nothing: when it can't, for want of memory or since a name is taken, say, the world is as it was, and what
 * was spawned follows the old one; changes that spawn functions of the program recorded are made even so. Anything recorded
 * before is flushed first; the changes are one flush too, with its hooks, and what hooks record is applied in further rounds as
 * ever. `out_stats` may be NULL. Refused while recording. Threads: owner. */
MICA_API mica_result mica_reload(mica_spawned *spawned, const mica_resource *resource, mica_reload_stats *out_stats);

/* Looks at files now and then. */
typedef struct mica_watch mica_watch;

/* Remembers how files look now: the dependencies of what was compiled. The texts are copied; a file need not exist. NULL when
 * memory is short. Threads: any. */
MICA_API mica_watch *mica_watch_create(const char *const *files, uint32_t file_count, const mica_allocator *allocator);

/* Gives it back; NULL is fine. Threads: any, one at a time. */
MICA_API void mica_watch_destroy(mica_watch *watch);

/* Returns whether any file changed since the last look, by time, size or identity; also one that came or went. Asks the system
 * once per file: a few microseconds each. Threads: any, one at a time. */
MICA_API bool mica_watch_changed(mica_watch *watch);

MICA_END
#endif
