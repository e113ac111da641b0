#include "hierarchy/cascade_delete.h"

#include "base/argument.h"
#include "core/commands/module_notes.h"
#include "core/world/report.h"
#include "hierarchy/hierarchy_module.h"
#include "hierarchy/link_change.h"
#include "hierarchy/transform_changes.h"
#include "hierarchy/transform_propagation.h"

static const mica_location no_location = {0};

void micap_cascade_destroying(mica_world *world, void *state, const mica_entity *entities, uint32_t count)
{
    (void)world;
    micap_hierarchy *hierarchy = state;
    if (hierarchy->transforms)
        micap_transform_nodes_remove(&hierarchy->transforms->nodes, entities, count);
    micap_links_remove(hierarchy, entities, count);
}

void micap_cascade_forgotten(mica_world *world, void *state, mica_entity entity)
{
    (void)world;
    micap_links_remove(state, &entity, 1);
}

static bool orphans_die(const micap_hierarchy *hierarchy, const micap_link *link)
{
    return link->flags ? link->flags == MICAP_LINK_ORPHANS_DIE : hierarchy->orphans == MICA_ORPHANS_DIE;
}

/* Returns the deepest of the first children, without descending below entities whose children stay. */
static uint32_t first_to_die(const micap_hierarchy *hierarchy, uint32_t index)
{
    for (;;) {
        const micap_link *link = micap_link_at(hierarchy, index);
        if (!link->first_child || link->flags == MICAP_LINK_ORPHANS_STAY)
            return index;
        index = link->first_child;
    }
}

/* Children come before parents. The next entity is read before the function is called, because that may destroy entities. */
void micap_cascade_each_dependent(mica_world *world, void *state, mica_entity entity, micap_dependents_fn fn,
                                  void *context)
{
    mica_entity batch[128];
    uint32_t count = 0;
    const micap_hierarchy *hierarchy = state;
    const micap_link *root = micap_link_of(hierarchy, entity);
    if (!root->first_child || !orphans_die(hierarchy, root))
        return;
    uint32_t at = first_to_die(hierarchy, root->first_child);
    const micap_link *link = micap_link_at(hierarchy, at);
    while (at != entity.index) {
        batch[count++] = (mica_entity){at, link->generation};
        at = link->next ? link->next : link->parent;
        const micap_link *next = micap_link_at(hierarchy, at);
        if (link->next && next->first_child) {
            at = first_to_die(hierarchy, at);
            next = micap_link_at(hierarchy, at);
        }
        link = next;
        if (count < sizeof batch / sizeof *batch && at != entity.index)
            continue;
        fn(world, batch, count, context);
        count = 0;
    }
}

static const char orphans_expected[] = "must be MICA_ORPHANS_DIE or MICA_ORPHANS_STAY";

static bool is_orphans(mica_orphans orphans)
{
    return orphans == MICA_ORPHANS_DIE || orphans == MICA_ORPHANS_STAY;
}

mica_result mica_set_orphans(mica_world *world, mica_orphans orphans)
{
    if (MICAP_MISSING(NULL, world) || MICAP_INVALID(world, !is_orphans(orphans), orphans, orphans_expected))
        return MICA_ERROR_INVALID;
    micap_hierarchy *hierarchy = micap_hierarchy_require(world);
    if (!hierarchy)
        return MICA_ERROR_MEMORY;
    hierarchy->orphans = orphans;
    return MICA_OK;
}

static uint32_t flags_of(mica_orphans orphans)
{
    return orphans == MICA_ORPHANS_STAY ? MICAP_LINK_ORPHANS_STAY : MICAP_LINK_ORPHANS_DIE;
}

bool mica_destroy_with(mica_world *world, mica_entity entity, mica_orphans orphans)
{
    if (MICAP_MISSING(NULL, world) || MICAP_INVALID(world, !is_orphans(orphans), orphans, orphans_expected))
        return false;
    if (world->recording_depth)
        return mica_command_destroy_with_id(micap_recorder(world), entity, orphans, no_location);
    micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    if (micap_link_of(hierarchy, entity)->first_child)
        micap_link_change(hierarchy, entity.index)->flags = flags_of(orphans);
    return mica_destroy(world, entity);
}

uint32_t mica_destroy_children(mica_world *world, mica_entity parent)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    if (!mica_is_alive(world, parent))
        return micap_fail_dead(world, parent, "destroy_children"), 0;
    uint32_t count = mica_child_count(world, parent), died = 0;
    mica_entity *children = count ? micap_links_copy_children(world, parent, count, 0) : NULL;
    if (!children)
        return 0;
    for (uint32_t i = 0; i < count; ++i)
        if (mica_is_alive(world, children[i]))
            died += mica_destroy(world, children[i]);
    micap_release(&world->memory, children, count * sizeof *children, MICAP_ARRAY_ALIGNMENT);
    return died;
}

bool mica_command_destroy_with_id(mica_commands *commands, mica_entity entity, mica_orphans orphans,
                                  mica_location location)
{
    if (MICAP_MISSING(NULL, commands) ||
        MICAP_INVALID(commands->world, !is_orphans(orphans), orphans, orphans_expected))
        return false;
    micap_change change = {.entity = entity, .kind = MICAP_CHANGE_ORPHANS, .flags = flags_of(orphans)};
    micap_note *last = commands->recording.last_note;
    if (!micap_change_record(commands, &change, location))
        return false;
    if (mica_command_destroy_id(commands, entity, location))
        return true;
    micap_recording_forget_notes(&commands->recording,
                                 last); /* without its destruction the flag would apply to the next one */
    return false;
}
