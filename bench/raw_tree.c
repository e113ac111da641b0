#include "raw_tree.h"

#include "hierarchy/matrix.h" /* both sides compute alike */

#include <stdlib.h>

raw_tree raw_tree_make(void)
{
    return (raw_tree){.world = raw_world_make()};
}

void raw_tree_free(raw_tree *tree)
{
    raw_world_free(&tree->world);
    free(tree->links);
    *tree = raw_tree_make();
}

static bool room_for_links(raw_tree *tree)
{
    uint32_t capacity = tree->world.slot_capacity;
    if (tree->link_capacity == capacity)
        return true;
    raw_link *links = realloc(tree->links, capacity * sizeof *links);
    if (links == NULL)
        return false;
    for (uint32_t i = tree->link_capacity; i < capacity; ++i)
        links[i] = (raw_link){RAW_NONE, RAW_NONE, RAW_NONE, RAW_NONE, RAW_NONE};
    tree->links = links;
    tree->link_capacity = capacity;
    return true;
}

static bool is_above(const raw_tree *tree, uint32_t ancestor, uint32_t index)
{
    while (index != RAW_NONE && index != ancestor)
        index = tree->links[index].parent;
    return index != RAW_NONE;
}

bool raw_tree_link(raw_tree *tree, raw_id child, raw_id parent)
{
    if (!raw_is_alive(&tree->world, child) || !raw_is_alive(&tree->world, parent) || !room_for_links(tree) ||
        tree->links[child.index].parent != RAW_NONE || child.index == parent.index)
        return false;
    raw_link *link = &tree->links[child.index], *above = &tree->links[parent.index];
    if (link->first_child != RAW_NONE && is_above(tree, child.index, parent.index))
        return false;
    link->parent = parent.index;
    link->previous = above->last_child;
    if (above->last_child == RAW_NONE)
        above->first_child = child.index;
    else
        tree->links[above->last_child].next = child.index;
    above->last_child = child.index;
    return true;
}

static void unlink_from_parent(raw_tree *tree, uint32_t index)
{
    raw_link *link = &tree->links[index];
    if (link->parent == RAW_NONE)
        return;
    raw_link *above = &tree->links[link->parent];
    *(link->previous == RAW_NONE ? &above->first_child : &tree->links[link->previous].next) = link->next;
    *(link->next == RAW_NONE ? &above->last_child : &tree->links[link->next].previous) = link->previous;
    link->parent = link->next = link->previous = RAW_NONE;
}

bool raw_tree_destroy(raw_tree *tree, raw_id id)
{
    if (!raw_is_alive(&tree->world, id))
        return false;
    for (uint32_t child; (child = tree->links[id.index].first_child) != RAW_NONE;)
        raw_tree_destroy(tree, (raw_id){child, tree->world.slots[child].generation});
    unlink_from_parent(tree, id.index);
    return raw_destroy(&tree->world, id);
}

void raw_transforms_update(raw_transforms *transforms)
{
    static const mica_global_matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    for (uint32_t i = 0; i < transforms->count; ++i) {
        uint32_t parent = transforms->parent[i];
        transforms->moved[i] |= transforms->moved[parent];
        if (transforms->moved[i])
            micap_matrix_compose(&transforms->local[i], parent == i ? &identity : &transforms->matrix[parent],
                                 &transforms->matrix[i]);
    }
    memset(transforms->moved, 0, transforms->count * sizeof *transforms->moved);
}
