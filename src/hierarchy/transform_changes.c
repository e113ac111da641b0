#include "hierarchy/transform_changes.h"

#include "core/storage/rows.h"

static bool has_both(const mica_world *world, mica_entity entity)
{
    const micap_archetype *archetype = micap_locate(world, entity).chunk->archetype;
    return micap_archetype_has(archetype, MICA_ID(mica_local)) &&
           micap_archetype_has(archetype, MICA_ID(mica_global_matrix));
}

static uint32_t node_at(const micap_transform_nodes *nodes, uint32_t index)
{
    return index < nodes->index_count ? nodes->by_index[index] - 1 : MICAP_NODE_NONE;
}

/* Appends a node for an entity, which keeps what the old node knows. */
static bool append(micap_transform_nodes *nodes, mica_entity entity, uint32_t parent)
{
    if (nodes->count == nodes->capacity || entity.index >= nodes->index_count)
        return false;
    uint32_t node = nodes->count++, was = node_at(nodes, entity.index);
    nodes->entities[node] = entity;
    nodes->parents[node] = parent;
    nodes->moved[node] = MICAP_NODE_MOVED;
    nodes->by_index[entity.index] = node + 1;
    if (was == MICAP_NODE_NONE) {
        memset(&nodes->locals[node], 0xFF, sizeof nodes->locals[node]); /* unlike any valid value */
        nodes->matrices[node] = NULL;
        nodes->stamps[node] = NULL;
        ++nodes->living_count;
    } else {
        nodes->locals[node] = nodes->locals[was];
        nodes->matrices[node] = nodes->matrices[was];
        nodes->stamps[node] = nodes->stamps[was];
        nodes->matrices[was] = NULL;
    }
    return true;
}

/* Returns the node of the nearest ancestor that has one. */
static uint32_t parent_of(const micap_hierarchy *hierarchy, const micap_transform_nodes *nodes, mica_entity entity)
{
    uint32_t above = micap_link_of(hierarchy, entity)->parent;
    while (above && node_at(nodes, above) == MICAP_NODE_NONE)
        above = micap_link_at(hierarchy, above)->parent;
    return above ? node_at(nodes, above) : MICAP_NODE_NONE;
}

bool micap_transform_nodes_append(const micap_hierarchy *hierarchy, micap_transform_nodes *nodes, mica_entity entity)
{
    const mica_world *world = hierarchy->world;
    for (mica_entity at = entity; !mica_is_nil(at);) {
        bool stays = false;
        if (has_both(world, at)) {
            uint32_t node = node_at(nodes, at.index), parent = parent_of(hierarchy, nodes, at);
            stays = node != MICAP_NODE_NONE && nodes->parents[node] == parent;
            if (!stays && !append(nodes, at, parent))
                return false;
        }
        /* If a node stays, everything below it stays. */
        at = stays ? mica_tree_skip(world, entity, at) : mica_tree_next(world, entity, at);
    }
    return true;
}

void micap_transform_nodes_remove(micap_transform_nodes *nodes, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t node = micap_transform_node_of(nodes, entities[i]);
        if (node == MICAP_NODE_NONE)
            continue;
        nodes->matrices[node] = NULL;
        nodes->by_index[entities[i].index] = 0;
        --nodes->living_count;
    }
}
