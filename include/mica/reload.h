/* Mica, reload: apply a changed level or prefab to a running world.
 *
 *     mica_spawned *fleet = mica_spawn_kept(world, level, NULL);              like mica_spawn, and remembers the entities
 *     mica_watch *watch = mica_watch_create(compiled.dependencies, compiled.dependency_count, NULL);
 *     ...
 *     if (mica_watch_changed(watch)) {                                        compile and open it again, then
 *         if (mica_reload(fleet, newer, NULL) == MICA_OK)
 *             mica_resource_free(level), level = newer;
 *     }
 *
 * This is a three-way merge: the difference between the old and the new file is applied to the world, and what the program changed
 * is kept. Handles stay valid.
 *
 *   field         gets the new value if the world still has the value of the old file. Arrays are merged element by element; text,
 *                 and components with many instances, as a whole.
 *   component     that the file adds is added, unless the program added it; one that the file drops is removed. One that the program
 *                 removed is not added again. A component with a spawn function is created again if its instance changed.
 *   edge          of a relation that the file adds is added, one that it drops is removed, and fields of one that stays are merged. One
 *                 that the program removed is not added again, and the target of an exclusive relation that it changed stays. An edge to
 *                 a destroyed entity stays, and none is added. New edges come after those that exist.
 *   enabled state follows the file, unless the program changed it.
 *   entity        that the file adds is created, linked and named; one that the file drops is destroyed with its children. One that
 *                 the world destroyed is not created again, and neither is what the file adds below it.
 *   siblings      follow the order of the file.
 *   singleton     is merged field by field, a new one starting from zero; with a spawn function it is created again if it changed.
 * Entities are matched by path: below the same parent, by name, and unnamed entities by position among the unnamed. An entity that is
 * renamed or moved in the file is a new one. So give a name to every entity that should persist.
 */
#ifndef MICA_RELOAD_H
#define MICA_RELOAD_H

#include "mica/resource.h"

MICA_BEGIN

/* The entities spawned from a resource, so that they can follow the file. */
typedef struct mica_spawned mica_spawned;

/* Like mica_spawn; returns NULL with a report on error. The resource, and rules with their contexts, must stay valid until the next
 * reload or mica_spawned_free. A custom `link` function is rejected. Threads: owner. */
MICA_API mica_spawned *mica_spawn_kept(mica_world *world, const mica_resource *resource, const mica_spawn_def *def);

/* Forgets the spawned entities, which stay in the world. NULL is a no-op. Can be called after the world is destroyed.
 * Threads: any, one at a time. */
MICA_API void mica_spawned_free(mica_spawned *spawned);

/* Return the resource, and its entities in the order of the resource, copy after copy. Valid until the next reload. Destroyed entities
 * have stale handles, entities that were not created nil. Threads: any, one at a time. */
MICA_API const mica_resource *mica_spawned_resource(const mica_spawned *spawned);
MICA_API const mica_entity *mica_spawned_entities(const mica_spawned *spawned);
MICA_API uint32_t mica_spawned_count(const mica_spawned *spawned);

/* What a reload changed. */
typedef struct mica_reload_stats {
    uint32_t created_count; /* entities */
    uint32_t destroyed_count;
    uint32_t added_count; /* components, without those of created entities */
    uint32_t removed_count;
    uint32_t updated_count; /* components with changed values or enabled states */
    uint32_t kept_count;    /* fields changed in the file that keep the value of the world */
} mica_reload_stats;

/* Applies the difference between the old and the new resource; the next reload compares with the new one, and the old one can be freed.
 * On error, such as a name that is taken, the world is unchanged and the old one stays; only changes recorded by spawn functions
 * of the program are still applied. Flushes recorded changes first; the difference is one flush with its hooks. `out_stats` may be
 * NULL. Rejected while recording. Threads: owner. */
MICA_API mica_result mica_reload(mica_spawned *spawned, const mica_resource *resource, mica_reload_stats *out_stats);

/* Detects changed files by polling. */
typedef struct mica_watch mica_watch;

/* Starts to watch files, usually the dependencies of a compiled resource. The paths are copied; files need not exist. Returns NULL if
 * memory runs out. Threads: any. */
MICA_API mica_watch *mica_watch_create(const char *const *files, uint32_t file_count, const mica_allocator *allocator);

/* Stops watching. NULL is a no-op. Threads: any, one at a time. */
MICA_API void mica_watch_destroy(mica_watch *watch);

/* Returns whether a file changed since the last call, by time, size or identity, or was created or deleted. Costs one system call
 * per file. Threads: any, one at a time. */
MICA_API bool mica_watch_changed(mica_watch *watch);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_spawn_kept(world, ...) mica_spawn_kept(MICA_AT_(world), __VA_ARGS__)
#    define mica_spawned_free(spawned) mica_spawned_free(MICA_AT_(spawned))
#    define mica_spawned_resource(spawned) mica_spawned_resource(MICA_AT_(spawned))
#    define mica_spawned_entities(spawned) mica_spawned_entities(MICA_AT_(spawned))
#    define mica_spawned_count(spawned) mica_spawned_count(MICA_AT_(spawned))
#    define mica_reload(spawned, ...) mica_reload(MICA_AT_(spawned), __VA_ARGS__)
#    define mica_watch_create(...) MICA_AT_(mica_watch_create(__VA_ARGS__))
#    define mica_watch_destroy(watch) mica_watch_destroy(MICA_AT_(watch))
#    define mica_watch_changed(watch) mica_watch_changed(MICA_AT_(watch))
#endif
#endif
