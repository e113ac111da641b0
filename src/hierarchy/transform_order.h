/* The order of transforms: every entity that takes part, which has both a local transform and a matrix, is a node. Nodes are
 * sorted by depth, and within a depth by parent, so that the children of a node are consecutive and come after it:
 *
 *     node            0    1  |  2      3      4  |  5      6          | level
 *     entity          sun  x  |  earth  mars   y  |  moon   phobos
 *     child_begins    2    4  |  5      6      7  |  7      7      7
 *
 * Entities that are added later, or get another parent, are appended after the levels (transform_changes.h). */
#ifndef MICAP_HIERARCHY_TRANSFORM_ORDER_H
#define MICAP_HIERARCHY_TRANSFORM_ORDER_H

#include "hierarchy/links.h"
#include "mica/query.h"
#include "mica/transform.h"

#define MICAP_NODE_NONE UINT32_MAX

enum {
    MICAP_NODE_MOVED = 1,   /* and so has everything below it */
    MICAP_NODE_REWRITE = 2, /* the matrix has its old value, but must be written: the component may be a new one */
};

/* Arrays by node, in one block of memory. */
typedef struct micap_transform_nodes {
    uint32_t count; /* with appended nodes */
    uint32_t capacity;
    uint32_t sorted_count; /* in levels */
    uint32_t living_count;
    uint32_t level_count;
    mica_entity *entities;
    mica_global_matrix **matrices; /* in the rows of the entities: valid until a row moves */
    mica_version **stamps;         /* of the slices of these rows */
    mica_local *locals;            /* their values at the last update */
    uint32_t *parents;             /* lower than the node itself; MICAP_NODE_NONE for roots */
    uint32_t
        *child_begins; /* one more than nodes in levels: the children of a node end where those of the next begin */
    uint32_t *level_begins; /* one more than levels */
    uint8_t *moved;         /* MICAP_NODE_MOVED and MICAP_NODE_REWRITE, padded with zeros to whole words */
    uint32_t *by_index;     /* 1 + node by entity index, or 0 */
    uint32_t index_count;
    size_t bytes; /* used, of the block */
    void *memory;
    size_t memory_bytes;
} micap_transform_nodes;

/* Sorts all entities that match the query into new nodes, which keep what the old ones know. Takes the memory from `spare`, which
 * becomes that of the old nodes. False if memory is short. */
bool micap_transform_order_rebuild(const micap_hierarchy *hierarchy, const mica_query *query,
                                   micap_transform_nodes *nodes, micap_transform_nodes *spare);
void micap_transform_nodes_free(mica_world *world, micap_transform_nodes *nodes);

/* Returns the node of an entity, or MICAP_NODE_NONE. */
static inline uint32_t micap_transform_node_of(const micap_transform_nodes *nodes, mica_entity entity)
{
    uint32_t node = entity.index < nodes->index_count ? nodes->by_index[entity.index] - 1 : MICAP_NODE_NONE;
    return node != MICAP_NODE_NONE && mica_same(nodes->entities[node], entity) ? node : MICAP_NODE_NONE;
}

#endif
