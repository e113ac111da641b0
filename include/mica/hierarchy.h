/* Mica, hierarchy: parents and children.
 *
 *     mica_set_parent(world, wheel, car);
 *     for (mica_entity child = mica_first_child(world, car); !mica_is_nil(child); child = mica_next_sibling(world, child))
 *         paint(world, child);
 *     for (mica_entity part = car; !mica_is_nil(part); part = mica_tree_next(world, car, part))
 *         paint(world, part);                                 the whole tree, parents before children
 *     mica_destroy(world, car);                               destroys its children too
 *
 * Links are stored next to the entities: linking moves no row, creates no archetype and invalidates no pointer to a component.
 * Children are ordered. An entity has at most one parent and cannot become its own ancestor. Reading and linking take constant
 * time; depth, root and the cycle check walk up the tree.
 *
 * When an entity is destroyed, its children are destroyed first, deepest first, each with its hooks. mica_set_orphans and
 * mica_destroy_with keep them instead, without a parent.
 *
 * While the world records (mica/command.h), links are recorded too, and functions that read see the tree without them. A flush
 * first applies the links in call order, then all other changes: a child linked to a parent that is destroyed in the same flush
 * is destroyed with it. Links that turn out to be invalid are dropped and reported with their source location.
 *
 * Names (mica/name.h) are unique within the parent. mica_set_parent moves the name to the new parent, and fails if that has a
 * child of the same name. A name that was set in a scope other than the parent stays in that scope.
 *
 *     mica_name_child(world, wheel, "wheel");
 *     mica_find(world, "car/wheel");
 *
 * A stale handle has no parent, children or siblings; linking it is reported.
 * Queries see the links as edges of a relation (mica/relation.h), mica_child_of, from each child to its parent. Use it in terms like any
 * other relation, in C and as text:
 *
 *     MICA_HAS(mica_child_of, .target = mica_fixed(car))                         the children of a car
 *     MICA_READ(Position, .up = MICA_ID(mica_child_of))                          the position of the nearest ancestor that has one
 *     Wheel, mica_child_of($this, $car), Car($car), !Broken(up mica_child_of)
 * mica_target, mica_is_related, mica_has and the counts accept it, too. Functions that change or list edges, hooks, observers, indexes
 * and partitions reject it: use the functions below.
 */
#ifndef MICA_HIERARCHY_H
#define MICA_HIERARCHY_H

#include "mica/command.h"
#include "mica/name.h"
#include "mica/relation.h"

MICA_BEGIN

/* Makes an entity the last child of a parent; a nil parent detaches it. If it is already a child of that parent, its position
 * stays. Returns MICA_ERROR_DEAD for a stale handle, MICA_ERROR_INVALID for a cycle and MICA_ERROR_EXISTS if the name is taken;
 * then nothing changes. Threads: owner. */
MICA_API mica_result mica_set_parent(mica_world *world, mica_entity child, mica_entity parent);

/* Moves an entity right before or right after a sibling, whose parent becomes its parent. Errors as for mica_set_parent, and
 * MICA_ERROR_INVALID if the sibling has no parent or is the entity itself. Threads: owner. */
MICA_API mica_result mica_place_before(mica_world *world, mica_entity child, mica_entity sibling);
MICA_API mica_result mica_place_after(mica_world *world, mica_entity child, mica_entity sibling);

/* Like mica_set_parent for `count` pairs in order; all or none. Threads: owner. */
MICA_API mica_result mica_set_parents(mica_world *world, const mica_entity *children, const mica_entity *parents,
                                      uint32_t count);

/* Detaches all children of an entity; all or none. Threads: owner. */
MICA_API mica_result mica_detach_children(mica_world *world, mica_entity parent);

/* Creates an entity as the last child of a parent. Returns nil on error. Threads: owner. */
MICA_API mica_entity mica_create_child_id(mica_world *world, mica_entity parent, const mica_value *values,
                                          uint32_t count);

/* Return nil or 0 if there is none. Threads: reader. */
MICA_API mica_entity mica_parent(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_first_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_last_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_next_sibling(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_previous_sibling(const mica_world *world, mica_entity entity);
MICA_API uint32_t mica_child_count(const mica_world *world, mica_entity entity);

/* Returns the number of entities that have a parent or children. Threads: reader. */
MICA_API uint32_t mica_linked_count(const mica_world *world);

/* Returns the number of ancestors. Threads: reader. */
MICA_API uint32_t mica_depth(const mica_world *world, mica_entity entity);

/* Returns the topmost ancestor; the entity itself if it has no parent; nil for a stale handle. Threads: reader. */
MICA_API mica_entity mica_root(const mica_world *world, mica_entity entity);

/* Returns whether `ancestor` is the parent of `entity`, or the parent of its parent, and so on. Threads: reader. */
MICA_API bool mica_is_ancestor(const mica_world *world, mica_entity ancestor, mica_entity entity);

/* Iterate over a tree, parents before children, siblings in order: return the entity after `at`, or nil at the end.
 * mica_tree_skip skips the descendants of `at`. During the iteration, only change links of entities after `at`.
 * Threads: reader. */
MICA_API mica_entity mica_tree_next(const mica_world *world, mica_entity root, mica_entity at);
MICA_API mica_entity mica_tree_skip(const mica_world *world, mica_entity root, mica_entity at);

/* What happens to the children of a destroyed entity. */
typedef enum mica_orphans {
    MICA_ORPHANS_DIE = 0, /* they are destroyed before it, deepest first */
    MICA_ORPHANS_STAY,    /* they lose their parent and keep their own children */
} mica_orphans;

/* Sets what happens to children in this world. The default is MICA_ORPHANS_DIE. Threads: owner. */
MICA_API mica_result mica_set_orphans(mica_world *world, mica_orphans orphans);

/* Like mica_destroy, with a policy for the children of this entity. Returns false if it is not alive. Threads: owner. */
MICA_API bool mica_destroy_with(mica_world *world, mica_entity entity, mica_orphans orphans);

/* Destroys the children of an entity and their descendants. While recording: the children it has now. Returns the number of
 * children destroyed. Threads: owner. */
MICA_API uint32_t mica_destroy_children(mica_world *world, mica_entity parent);

/* Creates a copy of an entity and of all its descendants, linked and ordered like them; mica_clone copies only the entity. The copy
 * has no parent. Names are not copied, and references are copied as they are: those to entities of the tree refer to the originals.
 * Inside systems the copies are recorded. Returns nil on error; then nothing is created, except that hooks have seen the copies.
 * Threads: owner. */
MICA_API mica_entity mica_clone_tree(mica_world *world, mica_entity root);

/* Disable, or enable, an entity and all its descendants: see mica/disable.h. An entity that was disabled alone is enabled with its
 * tree. Inside systems the changes are recorded. Return how many entities changed; if memory runs out, with a report, those are the
 * first ones of the tree. Threads: owner. */
MICA_API uint32_t mica_tree_disable(mica_world *world, mica_entity root);
MICA_API uint32_t mica_tree_enable(mica_world *world, mica_entity root);

/* Names an entity among the children of its parent, or at the top level. Otherwise like mica_name_set; while recording, among the
 * children of its parent before the flush. Threads: owner. */
MICA_API mica_result mica_name_child(mica_world *world, mica_entity entity, const char *name);

/* Writes the path by which mica_find finds an entity, truncated to `capacity` bytes and zero-terminated, and returns the complete
 * length; 0 if the entity or one of its scopes has no name. Threads: reader. */
MICA_API size_t mica_path_get(const mica_world *world, mica_entity entity, char *out, size_t capacity);

/* Record a link. Return false if the arguments are invalid at record time. Threads: one per buffer, any. */
MICA_API bool mica_command_set_parent_id(mica_commands *commands, mica_entity child, mica_entity parent,
                                         mica_location location);
MICA_API bool mica_command_place_id(mica_commands *commands, mica_entity child, mica_entity sibling, bool after,
                                    mica_location location);
/* Records a destruction with a policy for the children. Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_with_id(mica_commands *commands, mica_entity entity, mica_orphans orphans,
                                           mica_location location);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_set_parent(world, ...) mica_set_parent(MICA_AT_(world), __VA_ARGS__)
#    define mica_place_before(world, ...) mica_place_before(MICA_AT_(world), __VA_ARGS__)
#    define mica_place_after(world, ...) mica_place_after(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_parents(world, ...) mica_set_parents(MICA_AT_(world), __VA_ARGS__)
#    define mica_detach_children(world, ...) mica_detach_children(MICA_AT_(world), __VA_ARGS__)
#    define mica_create_child_id(world, ...) mica_create_child_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_parent(world, ...) mica_parent(MICA_AT_(world), __VA_ARGS__)
#    define mica_first_child(world, ...) mica_first_child(MICA_AT_(world), __VA_ARGS__)
#    define mica_last_child(world, ...) mica_last_child(MICA_AT_(world), __VA_ARGS__)
#    define mica_next_sibling(world, ...) mica_next_sibling(MICA_AT_(world), __VA_ARGS__)
#    define mica_previous_sibling(world, ...) mica_previous_sibling(MICA_AT_(world), __VA_ARGS__)
#    define mica_child_count(world, ...) mica_child_count(MICA_AT_(world), __VA_ARGS__)
#    define mica_linked_count(world) mica_linked_count(MICA_AT_(world))
#    define mica_depth(world, ...) mica_depth(MICA_AT_(world), __VA_ARGS__)
#    define mica_root(world, ...) mica_root(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_ancestor(world, ...) mica_is_ancestor(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_next(world, ...) mica_tree_next(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_skip(world, ...) mica_tree_skip(MICA_AT_(world), __VA_ARGS__)
#    define mica_set_orphans(world, ...) mica_set_orphans(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_with(world, ...) mica_destroy_with(MICA_AT_(world), __VA_ARGS__)
#    define mica_destroy_children(world, ...) mica_destroy_children(MICA_AT_(world), __VA_ARGS__)
#    define mica_clone_tree(world, ...) mica_clone_tree(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_disable(world, ...) mica_tree_disable(MICA_AT_(world), __VA_ARGS__)
#    define mica_tree_enable(world, ...) mica_tree_enable(MICA_AT_(world), __VA_ARGS__)
#    define mica_name_child(world, ...) mica_name_child(MICA_AT_(world), __VA_ARGS__)
#    define mica_path_get(world, ...) mica_path_get(MICA_AT_(world), __VA_ARGS__)
#    define mica_command_set_parent_id(commands, ...) mica_command_set_parent_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_place_id(commands, ...) mica_command_place_id(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_destroy_with_id(commands, ...) mica_command_destroy_with_id(MICA_AT_(commands), __VA_ARGS__)
#endif

/* mica_create_child(world, parent) or mica_create_child(world, parent, MICA_WITH(...), ...) */
#define mica_create_child(world, ...) MICA_JOIN_(MICA_CREATE_CHILD_, MICA_ONE_OR_MORE_(__VA_ARGS__))(world, __VA_ARGS__)
#define MICA_CREATE_CHILD_1(world, parent) mica_create_child_id((world), (parent), NULL, 0)
#define MICA_CREATE_CHILD_2(world, parent, ...) mica_create_child_id((world), (parent), MICA_VALUES_(__VA_ARGS__))

#ifndef __cplusplus
MICA_RELATION_WITH(mica_child_of, (.exclusive = true, .acyclic = true, .parents = true))
#endif

#define mica_command_set_parent(commands, child, parent)                                                               \
    mica_command_set_parent_id((commands), (child), (parent), MICA_HERE)
#define mica_command_place_before(commands, child, sibling)                                                            \
    mica_command_place_id((commands), (child), (sibling), false, MICA_HERE)
#define mica_command_place_after(commands, child, sibling)                                                            \
    mica_command_place_id((commands), (child), (sibling), true, MICA_HERE)
#define mica_command_destroy_with(commands, entity, orphans)                                                           \
    mica_command_destroy_with_id((commands), (entity), (orphans), MICA_HERE)

#endif
