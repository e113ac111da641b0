/* The hierarchy as a module of a world: born with the first link, told of every death. */
#include "core/world/report.h"
#include "hierarchy/links.h"
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

static void remove_dying(mica_world *world, void *state, const mica_entity *entities, uint32_t count)
{
    (void)world;
    micap_hierarchy *hierarchy = state;
    if (hierarchy->transforms)
        micap_slots_bury(&hierarchy->transforms->slots, entities, count);
    micap_links_remove(hierarchy, entities, count);
}

static void remove_forgotten(mica_world *world, void *state, mica_entity entity)
{
    (void)world;
    micap_links_remove(state, &entity, 1);
}

static bool orphans_die(const micap_hierarchy *hierarchy, const micap_link *link)
{
    return link->flags ? link->flags == MICAP_LINK_ORPHANS_DIE : hierarchy->orphans == MICA_ORPHANS_DIE;
}

/* The deepest of the first children, not going below those that leave theirs alone. */
static uint32_t first_to_die(const micap_hierarchy *hierarchy, uint32_t index)
{
    for (;;) {
        const micap_link *link = micap_link_at(hierarchy, index);
        if (!link->first_child || link->flags == MICAP_LINK_ORPHANS_STAY)
            return index;
        index = link->first_child;
    }
}

/* Children before parents. Where to go on is read before the function is called, which may destroy what it is given. */
static void each_dependent(mica_world *world, void *state, mica_entity entity, micap_dependents_fn fn, void *context)
{
    mica_entity batch[128];
    uint32_t count = 0;
    const micap_hierarchy *hierarchy = state;
    const micap_link *root = micap_link_of(hierarchy, entity);
    if (!root->first_child || !orphans_die(hierarchy, root))
        return;
    for (uint32_t at = first_to_die(hierarchy, root->first_child), next; at != entity.index; at = next) {
        const micap_link *link = micap_link_at(hierarchy, at);
        next = link->next ? first_to_die(hierarchy, link->next) : link->parent;
        batch[count++] = (mica_entity){at, link->generation};
        if (count < sizeof batch / sizeof *batch && next != entity.index)
            continue;
        fn(world, batch, count, context);
        count = 0;
    }
}

static void hash_link(const micap_hierarchy *hierarchy, uint32_t index, micap_hasher *hasher)
{
    mica_entity entity = micap_link_entity(hierarchy, index);
    micap_hasher_integer(hasher, entity.index, 4);
    micap_hasher_integer(hasher, entity.generation, 4);
}

/* Every parent in the order of indices, with its children in theirs. */
static void hash_links(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)world;
    const micap_hierarchy *hierarchy = state;
    for (uint32_t page = 0; page < hierarchy->page_count; ++page)
        for (uint32_t i = 0; hierarchy->pages[page].used_count && i < MICAP_LINK_PAGE; ++i) {
            const micap_link *link = &hierarchy->pages[page].links[i];
            if (!link->first_child)
                continue;
            hash_link(hierarchy, page << MICAP_LINK_PAGE_SHIFT | i, hasher);
            micap_hasher_integer(hasher, link->child_count, 4);
            for (uint32_t child = link->first_child; child; child = micap_link_at(hierarchy, child)->next)
                hash_link(hierarchy, child, hasher);
        }
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
    .destroying = remove_dying,
    .each_dependent = each_dependent,
    .forgotten = remove_forgotten,
    .hash = hash_links,
    .validate = validate_links,
    .trim = trim_links,
    .save = micap_hierarchy_save,
    .drop = micap_hierarchy_drop,
    .load = micap_hierarchy_load,
    .load_kept = micap_hierarchy_load_kept,
    .keep_again = micap_hierarchy_keep_again,
    .clone = micap_hierarchy_clone,
};

static MICAP_COLD micap_hierarchy *make_hierarchy(mica_world *world)
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

micap_hierarchy *micap_hierarchy_use(mica_world *world)
{
    micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    return MICAP_LIKELY(hierarchy != NULL) ? hierarchy : make_hierarchy(world);
}
