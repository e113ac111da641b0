#include "hierarchy/hierarchy_module.h"

#include "base/hash.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "hierarchy/cascade_delete.h"
#include "hierarchy/hierarchy_snapshot.h"
#include "hierarchy/transform_propagation.h"

static void free_hierarchy(mica_world *world, void *state)
{
    micap_hierarchy *hierarchy = state;
    micap_transforms_free(hierarchy);
    MICAP_RELEASE_ARRAY(&world->memory, hierarchy->pages, hierarchy->page_capacity);
    micap_arena_free(&hierarchy->arena);
    micap_release(&world->memory, hierarchy, sizeof *hierarchy, MICAP_ARRAY_ALIGNMENT);
}

static void hash_link(const micap_hierarchy *hierarchy, uint32_t index, micap_hasher *hasher)
{
    mica_entity entity = micap_link_entity(hierarchy, index);
    micap_hasher_integer(hasher, entity.index, 4);
    micap_hasher_integer(hasher, entity.generation, 4);
}

/* Whether an entity exists. A recorded creation counts once it is applied, and so do its links. */
static bool is_created(const micap_hierarchy *hierarchy, uint32_t index)
{
    return micap_is_row(micap_locate(hierarchy->world, micap_link_entity(hierarchy, index)));
}

static void hash_children(const micap_hierarchy *hierarchy, uint32_t parent, micap_hasher *hasher)
{
    const micap_link *link = micap_link_at(hierarchy, parent);
    uint32_t count = 0;
    for (uint32_t child = link->first_child; child; child = micap_link_at(hierarchy, child)->next)
        count += is_created(hierarchy, child);
    if (count == 0 || !is_created(hierarchy, parent))
        return;
    hash_link(hierarchy, parent, hasher);
    micap_hasher_integer(hasher, count, 4);
    for (uint32_t child = link->first_child; child; child = micap_link_at(hierarchy, child)->next)
        if (is_created(hierarchy, child))
            hash_link(hierarchy, child, hasher);
}

/* Hashes every parent, in the order of indices, with its children in order. */
static void hash_links(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)world;
    const micap_hierarchy *hierarchy = state;
    for (uint32_t page = 0; page < hierarchy->page_count; ++page)
        for (uint32_t i = 0; hierarchy->pages[page].used_count && i < MICAP_LINK_PAGE; ++i)
            if (hierarchy->pages[page].links[i].first_child)
                hash_children(hierarchy, page << MICAP_LINK_PAGE_SHIFT | i, hasher);
}

static mica_entity parent_of(const mica_world *world, const void *state, mica_entity entity)
{
    (void)world;
    const micap_hierarchy *hierarchy = state;
    return micap_link_entity(hierarchy, micap_link_of(hierarchy, entity)->parent);
}

static void detach(mica_world *world, void *state, mica_entity entity)
{
    (void)state;
    mica_set_parent(world, entity, mica_nil());
}

static bool validate_links(mica_world *world, void *state)
{
    (void)world;
    return micap_links_validate(state);
}

static void trim_links(mica_world *world, void *state)
{
    (void)world;
    micap_links_trim(state);
    micap_transforms_trim(state);
}

static const micap_module_ops ops = {
    .free = free_hierarchy,
    .destroying = micap_cascade_destroying,
    .each_dependent = micap_cascade_each_dependent,
    .parent = parent_of,
    .detach = detach,
    .forgotten = micap_cascade_forgotten,
    .hash = hash_links,
    .validate = validate_links,
    .trim = trim_links,
    .save = micap_hierarchy_save,
    .drop = micap_hierarchy_drop,
    .load = micap_hierarchy_load,
    .load_kept = micap_hierarchy_load_kept,
    .keep_again = micap_hierarchy_keep_again,
    .clone = micap_hierarchy_clone,
    .write = micap_hierarchy_write,
    .read = micap_hierarchy_read,
};

static MICAP_COLD micap_hierarchy *create_hierarchy(mica_world *world)
{
    micap_hierarchy *hierarchy = micap_allocate_zeroed(&world->memory, sizeof *hierarchy, MICAP_ARRAY_ALIGNMENT);
    if (!hierarchy) {
        micap_fail_memory(world, "hierarchy");
        return NULL;
    }
    hierarchy->world = world;
    micap_arena_init(&hierarchy->arena, &world->memory);
    micap_module_set(world, MICAP_MODULE_HIERARCHY, &ops, hierarchy);
    return hierarchy;
}

micap_hierarchy *micap_hierarchy_require(mica_world *world)
{
    micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return MICAP_LIKELY(hierarchy != NULL) ? hierarchy : create_hierarchy(world);
}
