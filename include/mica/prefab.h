/* Mica, prefab: entities that are templates. Instances are made from a prefab and follow its changes.
 *
 *     mica_entity tank = mica_create(world, MICA_WITH(Health, {100, 5}));     any entity, with all its descendants
 *     mica_entity turret = mica_create_child(world, tank, MICA_WITH(Gun, {2}));
 *     mica_name_child(world, turret, "turret");
 *     mica_prefab_create(world, tank, NULL);                                  from now on no query shows it
 *
 *     mica_entity one = mica_prefab_spawn(world, tank, NULL);                 an instance, which follows the prefab
 *     mica_write(world, one, Health)->points = 50;                            overrides a field
 *     mica_write(world, tank, Health)->points = 120;                          the prefab is edited like any entity,
 *     mica_write(world, tank, Health)->armor = 7;
 *     mica_prefab_update(world, tank, NULL, NULL);                            and now the instance has 50 points, and armor 7
 *     mica_entity gun = mica_prefab_part(world, one, "turret");               the turret of this instance
 *
 * An update is the three-way merge of mica/reload.h. It applies the changes made in the prefab since it was created or last updated to all
 * instances that follow it, field by field, unless the instance has another value. Parts and components that were added to the prefab are
 * added, those that were removed are removed; additions and removals that the program made in an instance stay. A part that is moved to
 * another parent in the prefab is a new one. References and edges between parts lead to parts of the same instance; references to other
 * entities become nil, and edges to them are left out.
 *
 * A prefab can contain instances of other prefabs: updating one updates the prefabs that contain it, too. A prefab in a file is one like
 * others: spawn the file with mica_spawn_kept, pass the root to mica_prefab_create, and after mica_reload call mica_prefab_update.
 *
 * All of this is data of the world: it is saved, restored by snapshots and sent to replicas. Call mica_prefab_define before a file or a
 * delta with prefabs comes into a world.
 *
 * In the library mica_resource (CMake: mica::resource).
 */
#ifndef MICA_PREFAB_H
#define MICA_PREFAB_H

#include "mica/reload.h"

MICA_BEGIN

/* How the values of parts are read. Zero is the default. */
typedef struct mica_prefab_def {
    mica_allocator allocator;        /* for temporary memory */
    const mica_resource_rule *rules; /* for components that own something: mica/rule.h */
    uint32_t rule_count;
    bool
        skip_without_rule; /* instances do not get components that own something and have no rule; otherwise they are an error */
} mica_prefab_def;

/* Defines what prefabs consist of: a component, a tag and a relation. Returns false if memory runs out. Threads: owner. */
MICA_API bool mica_prefab_define(mica_world *world);

/* Makes an entity and all its descendants a prefab. They are hidden from queries (a tag with .hides, see mica/disable.h), and can be changed
 * as before. Returns MICA_ERROR_EXISTS if it is one already, and what mica_pack returns. On error nothing has changed. Threads: owner. */
MICA_API mica_result mica_prefab_create(mica_world *world, mica_entity root, const mica_prefab_def *def);

/* How to make instances. Zero is the default: one that follows the prefab. */
typedef struct mica_prefab_spawn_def {
    mica_prefab_def values;    /* as for mica_prefab_create */
    mica_entity parent;        /* instances become its children; nil: they are roots */
    bool is_copy;              /* instances do not follow the prefab */
    uint32_t count;            /* how many; 0 means 1 */
    mica_entity *out_entities; /* receives the roots of `count` instances; may be NULL */
} mica_prefab_spawn_def;

/* Makes instances of a prefab, as it was when it was created or last updated, and returns the root of the first one. Their roots have no name.
 * Returns nil with a report if `prefab` is not a prefab, if one of its parts was destroyed since, if the parent is a part of it, or if mica_spawn
 * fails; then nothing is created. Threads: owner. */
MICA_API mica_entity mica_prefab_spawn(mica_world *world, mica_entity prefab, const mica_prefab_spawn_def *def);

/* Applies the changes of a prefab since it was created or last updated to all instances that follow it, then to the prefabs that contain
 * such instances, and to their instances. Returns what mica_reload returns, MICA_ERROR_INVALID if `prefab` is not a prefab, and
 * MICA_ERROR_REFUSED if a prefab contains an instance of itself. On error, instances are unchanged, or those of some of the prefabs are.
 * `out_stats` may be NULL. Threads: owner. */
MICA_API mica_result mica_prefab_update(mica_world *world, mica_entity prefab, const mica_prefab_def *def,
                                        mica_reload_stats *out_stats);

/* Returns the prefab, or the part of a prefab, that an entity is an instance of. Returns nil if it is no instance, or if the prefab or
 * part was destroyed. Threads: reader. */
MICA_API mica_entity mica_prefab_of(const mica_world *world, mica_entity entity);

/* Finds a part of an instance by the path of the part in the prefab, from the root, such as "turret/gun"; in the instance it may have
 * another name. Returns nil if the prefab has no such part, or the instance does not have it. Threads: reader. */
MICA_API mica_entity mica_prefab_part(const mica_world *world, mica_entity instance, const char *path);

/* Returns the relation from instances and their parts to the prefab and its parts, to iterate over the instances of a prefab with
 * mica_sources_id, or to make an instance an ordinary entity with mica_unrelate_targets_id. Zero if memory runs out. Threads: any. */
MICA_API mica_component mica_prefab_relation(void);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_prefab_define(world) mica_prefab_define(MICA_AT_(world))
#    define mica_prefab_create(world, ...) mica_prefab_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_prefab_spawn(world, ...) mica_prefab_spawn(MICA_AT_(world), __VA_ARGS__)
#    define mica_prefab_update(world, ...) mica_prefab_update(MICA_AT_(world), __VA_ARGS__)
#    define mica_prefab_of(world, ...) mica_prefab_of(MICA_AT_(world), __VA_ARGS__)
#    define mica_prefab_part(world, ...) mica_prefab_part(MICA_AT_(world), __VA_ARGS__)
#endif
#endif
