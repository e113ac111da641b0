/* Links as the edges of mica_child_of: what queries read. The row of an edge is the index of the child. */
#include "core/world/module.h"
#include "hierarchy/links.h"
#include "pool/pool_edges.h"

static uint32_t row_of(uint32_t index)
{
    return index ? index : MICAP_ROW_NONE;
}

static uint32_t end_of_rows(const mica_world *world)
{
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return hierarchy ? hierarchy->page_count << MICAP_LINK_PAGE_SHIFT : 0;
}

static uint32_t children_total(const mica_world *world)
{
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return hierarchy ? hierarchy->child_count : 0;
}

static uint32_t parents_total(const mica_world *world)
{
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return hierarchy ? hierarchy->parent_count : 0;
}

static uint32_t children_of(const mica_world *world, mica_entity target)
{
    return micap_link_of(micap_hierarchy_of(world), target)->child_count;
}

static uint32_t row_of_child(const mica_world *world, mica_entity source)
{
    return micap_link_of(micap_hierarchy_of(world), source)->parent ? source.index : MICAP_ROW_NONE;
}

static uint32_t first_child_of(const mica_world *world, mica_entity target)
{
    return row_of(micap_link_of(micap_hierarchy_of(world), target)->first_child);
}

static uint32_t next_child_of(const mica_world *world, uint32_t row)
{
    return row_of(micap_link_at(micap_hierarchy_of(world), row)->next);
}

static uint32_t next_child_from(const mica_world *world, uint32_t row)
{
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    for (uint32_t end = end_of_rows(world); row < end;) {
        uint32_t page = row >> MICAP_LINK_PAGE_SHIFT;
        if (!hierarchy->pages[page].used_count)
            row = (page + 1) << MICAP_LINK_PAGE_SHIFT;
        else if (micap_link_at(hierarchy, row)->parent)
            return row;
        else
            ++row;
    }
    return MICAP_ROW_NONE;
}

static mica_entity child_at(const mica_world *world, uint32_t row)
{
    return micap_link_entity(micap_hierarchy_of(world), row);
}

static mica_entity parent_at(const mica_world *world, uint32_t row)
{
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return micap_link_entity(hierarchy, micap_link_at(hierarchy, row)->parent);
}

const micap_edges_elsewhere micap_parent_edges = {
    .limit = end_of_rows,
    .count = children_total,
    .count_targets = parents_total,
    .count_sources = children_of,
    .from = row_of_child,
    .first_to = first_child_of,
    .next_to = next_child_of,
    .next = next_child_from,
    .source = child_at,
    .target = parent_at,
};
