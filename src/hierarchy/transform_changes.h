/* Entities that take part in transforms and are added, removed or get another parent, without a new sort of all nodes. An added
 * node comes after the levels, together with all nodes below it: parents come before children there, too. A removed node has
 * no matrix. If there are too many of either, the nodes are sorted again. */
#ifndef MICAP_HIERARCHY_TRANSFORM_CHANGES_H
#define MICAP_HIERARCHY_TRANSFORM_CHANGES_H

#include "hierarchy/transform_order.h"

/* Appends nodes for an entity and what is below it, except where the nodes exist and have the right parent. False if there is
 * no room. */
bool micap_transform_nodes_append(const micap_hierarchy *hierarchy, micap_transform_nodes *nodes, mica_entity entity);

/* Removes the nodes of entities that are destroyed. */
void micap_transform_nodes_remove(micap_transform_nodes *nodes, const mica_entity *entities, uint32_t count);

#endif
