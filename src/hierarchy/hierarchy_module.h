/* The hierarchy as a module of a world: created with the first link.
 *
 *     links                   parents, children and siblings, by entity index
 *     link_change             one change of a link: checked, applied, recorded, undone
 *     set_parent              setting parents and creating children
 *     cascade_delete          what happens to the children of a destroyed parent
 *     tree                    reading the tree: parents, children, paths
 *     hierarchy_snapshot      the hierarchy in snapshots and clones
 *     transform_propagation   from local transforms to world matrices: mica_transform_update
 *     transform_order         entities with transforms, sorted by depth
 *     transform_changes       entities that are added, removed or get other parents without a new sort
 *     matrix                  the arithmetic */
#ifndef MICAP_HIERARCHY_HIERARCHY_MODULE_H
#define MICAP_HIERARCHY_HIERARCHY_MODULE_H

#include "hierarchy/links.h"

/* Returns the hierarchy of a world and creates it if there is none. NULL with a report if memory is short. Called by the
 * owner. */
micap_hierarchy *micap_hierarchy_require(mica_world *world);

#endif
