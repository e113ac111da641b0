/* A copy of an entity with its descendants: all of it or nothing. The tree is listed first, so that it does not matter whether
 * links are recorded, or what hooks do. */
#include "base/argument.h"
#include "core/entity/clone.h"
#include "core/world/report.h"
#include "hierarchy/links.h"

/* The entities of the tree, their copies, and their parents by index in the list, which come before them. */
typedef struct tree_list {
    mica_entity *from;
    mica_entity *to;
    uint32_t *parents;
    uint32_t count;
} tree_list;

/* With the root, which is alive. */
static uint32_t count_tree(const mica_world *world, mica_entity root)
{
    uint32_t count = 1;
    for (mica_entity at = mica_tree_next(world, root, root); !mica_is_nil(at); at = mica_tree_next(world, root, at))
        ++count;
    return count;
}

static void list_tree(const mica_world *world, mica_entity root, const tree_list *list)
{
    uint32_t count = 0, parent = 0;
    for (mica_entity at = root; !mica_is_nil(at); at = mica_tree_next(world, root, at)) {
        mica_entity above = mica_parent(world, at);
        for (parent = count ? count - 1 : 0; count && !mica_same(list->from[parent], above);)
            parent = list->parents[parent];
        list->from[count] = at;
        list->parents[count++] = parent;
    }
}

static bool clone_entry(mica_world *world, const tree_list *list, uint32_t at)
{
    list->to[at] = micap_clone_components(world, list->from[at]);
    if (mica_is_nil(list->to[at]))
        return false;
    return at == 0 || mica_set_parent(world, list->to[at], list->to[list->parents[at]]) == MICA_OK;
}

static mica_entity clone_entries(mica_world *world, const tree_list *list)
{
    uint32_t done = 0;
    while (done < list->count && clone_entry(world, list, done))
        ++done;
    if (done == list->count && micap_modules_copied(world, list->from, list->to, list->count))
        return list->to[0];
    for (uint32_t i = done < list->count ? done + 1 : done; i-- > 0;)
        if (mica_is_alive(world, list->to[i])) /* hooks may have destroyed it */
            mica_destroy(world, list->to[i]);
    return mica_nil();
}

mica_entity mica_clone_tree(mica_world *world, mica_entity root)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    if (!mica_is_alive(world, root))
        return micap_fail_dead(world, root, "clone_tree"), mica_nil();
    uint32_t count = count_tree(world, root);
    size_t bytes = count * (2 * sizeof(mica_entity) + sizeof(uint32_t));
    mica_entity *entities = micap_allocate_zeroed(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!entities)
        return micap_fail_memory(world, "clone_tree"), mica_nil();
    tree_list list = {entities, entities + count, (uint32_t *)(void *)(entities + 2 * (size_t)count), count};
    list_tree(world, root, &list);
    mica_entity clone = clone_entries(world, &list);
    micap_release(&world->memory, entities, bytes, MICAP_ARRAY_ALIGNMENT);
    return clone;
}
