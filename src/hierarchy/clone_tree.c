/* A copy of an entity with its descendants: all of it or nothing. The tree is listed first, so that it does not matter whether
 * links are recorded, or what hooks do. */
#include "base/argument.h"
#include "core/world/report.h"
#include "hierarchy/links.h"

/* An entity of the tree, its parent by index in the list, which comes before it, and its copy. */
typedef struct tree_entry {
    mica_entity from;
    mica_entity to;
    uint32_t parent;
} tree_entry;

/* With the root, which is alive. */
static uint32_t count_tree(const mica_world *world, mica_entity root)
{
    uint32_t count = 1;
    for (mica_entity at = mica_tree_next(world, root, root); !mica_is_nil(at); at = mica_tree_next(world, root, at))
        ++count;
    return count;
}

static void list_tree(const mica_world *world, mica_entity root, tree_entry *entries)
{
    uint32_t count = 0, parent = 0;
    for (mica_entity at = root; !mica_is_nil(at); at = mica_tree_next(world, root, at)) {
        mica_entity above = mica_parent(world, at);
        for (parent = count ? count - 1 : 0; count && !mica_same(entries[parent].from, above);)
            parent = entries[parent].parent;
        entries[count++] = (tree_entry){.from = at, .parent = parent};
    }
}

static bool clone_entry(mica_world *world, tree_entry *entries, uint32_t at)
{
    entries[at].to = mica_clone(world, entries[at].from);
    if (mica_is_nil(entries[at].to))
        return false;
    return at == 0 || mica_set_parent(world, entries[at].to, entries[entries[at].parent].to) == MICA_OK;
}

static mica_entity clone_entries(mica_world *world, tree_entry *entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (clone_entry(world, entries, i))
            continue;
        for (++i; i-- > 0;)
            if (mica_is_alive(world, entries[i].to)) /* hooks may have destroyed it */
                mica_destroy(world, entries[i].to);
        return mica_nil();
    }
    return entries[0].to;
}

mica_entity mica_clone_tree(mica_world *world, mica_entity root)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    if (!mica_is_alive(world, root))
        return micap_fail_dead(world, root, "clone_tree"), mica_nil();
    uint32_t count = count_tree(world, root);
    tree_entry *entries = micap_allocate_zeroed(&world->memory, count * sizeof *entries, MICAP_ARRAY_ALIGNMENT);
    if (!entries)
        return micap_fail_memory(world, "clone_tree"), mica_nil();
    list_tree(world, root, entries);
    mica_entity clone = clone_entries(world, entries, count);
    MICAP_RELEASE_ARRAY(&world->memory, entries, count);
    return clone;
}
