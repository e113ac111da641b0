/* Mica, hierarchy: parents and children.
 *
 *     mica_set_parent(world, wheel, car);
 *     for (mica_entity child = mica_first_child(world, car); !mica_is_nil(child); child = mica_next_sibling(world, child))
 *         paint(world, child);
 *     for (mica_entity part = car; !mica_is_nil(part); part = mica_tree_next(world, car, part))
 *         paint(world, part);                                 the whole tree, parents before children
 *     mica_destroy(world, car);                               its children die with it
 *
 * Links are kept beside the entities: linking moves no row, makes no archetype and leaves pointers to components good.
 * Children have an order. An entity has one parent or none, and can't become its own ancestor. Reading and linking cost the
 * same however many children there are; depth, root and the test for cycles walk up.
 *
 * When an entity is destroyed, however that happens, its children are destroyed before it, the deepest first, each with its
 * hooks; or they stay and lose their parent: see mica_orphans.
 *
 * While the world records (mica/command.h) links are recorded too, and the functions that look show the tree as it was. A flush
 * first makes the links, in the order they were recorded, then changes and destroys entities: a child that is linked to a
 * parent which dies in the same flush dies with it. What can't be linked then is reported, with the place that recorded it,
 * and dropped.
 *
 * Names (mica/name.h). The name of an entity is known within its parent: mica_set_parent takes it along, and refuses when the
 * new parent has a child of that name. A name that was set in another scope than the parent stays where it is.
 *
 *     mica_name_child(world, wheel, "wheel");
 *     mica_find(world, "car/wheel");
 *
 * A dead handle has no parent, no children and no siblings; trying to link it is reported.
 */
#ifndef MICA_HIERARCHY_H
#define MICA_HIERARCHY_H

#include "mica/command.h"
#include "mica/name.h"

MICA_BEGIN

/* Makes an entity the last child of another, taking it from the parent it had; a nil parent detaches it. Where it is a child of
 * that parent already, its place stays. Returns MICA_ERROR_DEAD for a dead entity, MICA_ERROR_INVALID for a cycle and
 * MICA_ERROR_EXISTS for a name that is taken: nothing has changed then. Threads: owner. */
MICA_API mica_result mica_set_parent(mica_world *world, mica_entity child, mica_entity parent);

/* Makes an entity the sibling right before or right behind another one, which must have a parent. Fails as mica_set_parent,
 * and with MICA_ERROR_INVALID when the sibling has no parent or is the entity itself. Threads: owner. */
MICA_API mica_result mica_place_before(mica_world *world, mica_entity child, mica_entity sibling);
MICA_API mica_result mica_place_after(mica_world *world, mica_entity child, mica_entity sibling);

/* As mica_set_parent for each of `count` pairs in turn; all of them, or none. Threads: owner. */
MICA_API mica_result mica_set_parents(mica_world *world, const mica_entity *children, const mica_entity *parents,
                                      uint32_t count);

/* Detaches every child, which are entities without a parent then; as mica_set_parent to nil for each, all or none.
 * Threads: owner. */
MICA_API mica_result mica_detach_children(mica_world *world, mica_entity parent);

/* As mica_create_id, and makes it the last child of a parent. Nil when either can't be done. Threads: owner. */
MICA_API mica_entity mica_create_child_id(mica_world *world, mica_entity parent, const mica_value *values,
                                          uint32_t count);

/* Return nil, or 0, where there is nothing such. The first is nil's for what has no parent. Threads: reader. */
MICA_API mica_entity mica_parent(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_first_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_last_child(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_next_sibling(const mica_world *world, mica_entity entity);
MICA_API mica_entity mica_previous_sibling(const mica_world *world, mica_entity entity);
MICA_API uint32_t mica_child_count(const mica_world *world, mica_entity entity);

/* Returns how many entities have a parent or children. Threads: reader. */
MICA_API uint32_t mica_linked_count(const mica_world *world);

/* Returns how many ancestors an entity has. Threads: reader. */
MICA_API uint32_t mica_depth(const mica_world *world, mica_entity entity);

/* Returns the ancestor without a parent, which is the entity itself when it has none; nil for the dead. Threads: reader. */
MICA_API mica_entity mica_root(const mica_world *world, mica_entity entity);

/* Returns whether one is the parent of the other, or its parent's, and so on. Threads: reader. */
MICA_API bool mica_is_ancestor(const mica_world *world, mica_entity ancestor, mica_entity entity);

/* Walks a tree, parents before children, siblings in their order: returns what comes behind `at`, or nil at the end. The second
 * passes over what is below `at`. Links may change behind the walk, not at `at` or before it. Threads: reader. */
MICA_API mica_entity mica_tree_next(const mica_world *world, mica_entity root, mica_entity at);
MICA_API mica_entity mica_tree_skip(const mica_world *world, mica_entity root, mica_entity at);

/* What becomes of the children of an entity that dies. */
typedef enum mica_orphans {
    MICA_ORPHANS_DIE = 0, /* they die before it, and theirs before them */
    MICA_ORPHANS_STAY,    /* they have no parent then; theirs stay with them */
} mica_orphans;

/* Sets what becomes of children in this world; they die unless told otherwise. Threads: owner. */
MICA_API mica_result mica_set_orphans(mica_world *world, mica_orphans orphans);

/* As mica_destroy, with a word on the children of this one entity. False when it is dead already. Threads: owner. */
MICA_API bool mica_destroy_with(mica_world *world, mica_entity entity, mica_orphans orphans);

/* Destroys the children, and what is below them, of an entity that goes on living. While recording: the children it has now.
 * Returns how many of its children died. Threads: owner. */
MICA_API uint32_t mica_destroy_children(mica_world *world, mica_entity parent);

/* Names an entity among the children of its parent, or at the top when it has none. As mica_name_set otherwise; while
 * recording, among those of the parent it has before the flush. Threads: owner. */
MICA_API mica_result mica_name_child(mica_world *world, mica_entity entity, const char *name);

/* Writes the path by which mica_find finds an entity, cut to `capacity` bytes with a zero at the end, and returns its whole length;
 * 0 when there is no such path, because it or what it lies in has no name. Threads: reader. */
MICA_API size_t mica_path_get(const mica_world *world, mica_entity entity, char *out, size_t capacity);

/* Record a link. Return false when it makes no sense already now. Threads: one per buffer, any. */
MICA_API bool mica_command_set_parent_id(mica_commands *commands, mica_entity child, mica_entity parent,
                                         mica_location location);
MICA_API bool mica_command_place_id(mica_commands *commands, mica_entity child, mica_entity sibling, bool behind,
                                    mica_location location);
/* Records a destruction with a word on the children. Threads: one per buffer, any. */
MICA_API bool mica_command_destroy_with_id(mica_commands *commands, mica_entity entity, mica_orphans orphans,
                                           mica_location location);

MICA_END

/* mica_create_child(world, parent) or mica_create_child(world, parent, MICA_WITH(...), ...) */
#define mica_create_child(world, ...) MICA_JOIN_(MICA_CREATE_CHILD_, MICA_ONE_OR_MORE_(__VA_ARGS__))(world, __VA_ARGS__)
#define MICA_CREATE_CHILD_1(world, parent) mica_create_child_id((world), (parent), NULL, 0)
#define MICA_CREATE_CHILD_2(world, parent, ...) mica_create_child_id((world), (parent), MICA_VALUES_(__VA_ARGS__))

#define mica_command_set_parent(commands, child, parent)                                                               \
    mica_command_set_parent_id((commands), (child), (parent), MICA_HERE)
#define mica_command_place_before(commands, child, sibling)                                                            \
    mica_command_place_id((commands), (child), (sibling), false, MICA_HERE)
#define mica_command_place_after(commands, child, sibling)                                                            \
    mica_command_place_id((commands), (child), (sibling), true, MICA_HERE)
#define mica_command_destroy_with(commands, entity, orphans)                                                           \
    mica_command_destroy_with_id((commands), (entity), (orphans), MICA_HERE)

#endif
