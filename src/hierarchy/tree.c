/* Reading the tree, and names and paths in it. */
#include "hierarchy/links.h"
#include "base/argument.h"

mica_entity mica_parent(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return micap_link_entity(hierarchy, micap_link_of(hierarchy, entity)->parent);
}

mica_entity mica_first_child(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return micap_link_entity(hierarchy, micap_link_of(hierarchy, entity)->first_child);
}

mica_entity mica_last_child(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return micap_link_entity(hierarchy, micap_link_of(hierarchy, entity)->last_child);
}

mica_entity mica_next_sibling(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return micap_link_entity(hierarchy, micap_link_of(hierarchy, entity)->next);
}

mica_entity mica_previous_sibling(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return micap_link_entity(hierarchy, micap_link_of(hierarchy, entity)->previous);
}

uint32_t mica_child_count(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    return micap_link_of(micap_hierarchy_of(world), entity)->child_count;
}

uint32_t mica_linked_count(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    uint32_t count = 0;
    for (uint32_t page = 0; hierarchy && page < hierarchy->page_count; ++page)
        count += hierarchy->pages[page].used_count;
    return count;
}

uint32_t mica_depth(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    uint32_t depth = 0;
    for (uint32_t at = micap_link_of(hierarchy, entity)->parent; at; at = micap_link_at(hierarchy, at)->parent)
        ++depth;
    return depth;
}

mica_entity mica_root(const mica_world *world, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    uint32_t root = 0;
    for (uint32_t at = micap_link_of(hierarchy, entity)->parent; at; at = micap_link_at(hierarchy, at)->parent)
        root = at;
    if (root)
        return micap_link_entity(hierarchy, root);
    return mica_is_alive(world, entity) ? entity : mica_nil();
}

bool mica_is_ancestor(const mica_world *world, mica_entity ancestor, mica_entity entity)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    if (!micap_link_of(hierarchy, ancestor)->first_child)
        return false;
    uint32_t at = micap_link_of(hierarchy, entity)->parent;
    while (at && at != ancestor.index)
        at = micap_link_at(hierarchy, at)->parent;
    return at != 0;
}

mica_entity mica_tree_next(const mica_world *world, mica_entity root, mica_entity at)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    if (!micap_link_of(hierarchy, at)->generation)
        return mica_nil();
    return micap_link_entity(hierarchy, micap_link_next(hierarchy, root.index, at.index));
}

mica_entity mica_tree_skip(const mica_world *world, mica_entity root, mica_entity at)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    if (!micap_link_of(hierarchy, at)->generation)
        return mica_nil();
    return micap_link_entity(hierarchy, micap_link_next_beside(hierarchy, root.index, at.index));
}

mica_result mica_name_child(mica_world *world, mica_entity entity, const char *name)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    return mica_name_set(world, entity, mica_parent(world, entity), name);
}

/* The length of a path to an entity; 0 when a scope is dead, has no name or, scopes being set by hand, lies in itself. */
static size_t path_length(const mica_world *world, mica_entity entity)
{
    size_t length = 0;
    mica_entity scope = entity;
    for (uint32_t steps = 0; !mica_is_nil(scope); ++steps) {
        const char *name = mica_name_get(world, scope);
        if (!name || steps == world->names.count)
            return 0;
        length += strlen(name) + (steps != 0);
        micap_name_scope(world, scope, &scope);
    }
    return length;
}

size_t mica_path_get(const mica_world *world, mica_entity entity, char *out, size_t capacity)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, out, capacity))
        return 0;
    size_t length = path_length(world, entity), at = length;
    if (capacity)
        out[length < capacity ? length : capacity - 1] = 0;
    for (mica_entity scope = entity; length && !mica_is_nil(scope);) { /* from the end to the beginning */
        const char *name = mica_name_get(world, scope);
        for (size_t i = strlen(name); i-- > 0;)
            if (--at + 1 < capacity)
                out[at] = name[i];
        if (at && --at + 1 < capacity)
            out[at] = '/';
        micap_name_scope(world, scope, &scope);
    }
    return length;
}
