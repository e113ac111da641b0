/* Setting parents, at once or recorded, and creating children. */
#include "base/argument.h"
#include "core/commands/module_notes.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "hierarchy/hierarchy_module.h"
#include "hierarchy/link_change.h"

static const mica_location no_location = {0};

/* Whether an entity can be linked now, with a report if not. */
static bool expect_row(const mica_world *world, mica_entity entity)
{
    if (MICAP_LIKELY(micap_is_row(micap_locate(world, entity))))
        return true;
    micap_fail_dead(world, entity, "set_parent");
    return false;
}

static mica_result make_change(mica_world *world, micap_change *change)
{
    if (MICAP_UNLIKELY(world->recording_depth))
        return micap_change_record(micap_recorder(world), change, no_location) ? MICA_OK : micap_failure(world);
    if (!expect_row(world, change->entity) || (!mica_is_nil(change->other) && !expect_row(world, change->other)))
        return MICA_ERROR_DEAD;
    micap_hierarchy *hierarchy = micap_hierarchy_require(world);
    return hierarchy ? micap_change_apply(hierarchy, change, no_location) : MICA_ERROR_MEMORY;
}

mica_result mica_set_parent(mica_world *world, mica_entity child, mica_entity parent)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    micap_change change = {.entity = child, .other = parent, .kind = MICAP_CHANGE_PARENT};
    return make_change(world, &change);
}

static mica_result place_beside(mica_world *world, mica_entity child, mica_entity sibling, micap_change_kind kind)
{
    if (mica_is_nil(sibling)) {
        micap_fail_dead(world, sibling, "set_parent");
        return MICA_ERROR_DEAD;
    }
    micap_change change = {.entity = child, .other = sibling, .kind = kind};
    return make_change(world, &change);
}

mica_result mica_place_before(mica_world *world, mica_entity child, mica_entity sibling)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    return place_beside(world, child, sibling, MICAP_CHANGE_BEFORE);
}

mica_result mica_place_after(mica_world *world, mica_entity child, mica_entity sibling)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    return place_beside(world, child, sibling, MICAP_CHANGE_AFTER);
}

/* Makes all changes of a list, or none. */
static mica_result make_changes(mica_world *world, micap_change *changes, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        mica_result result = make_change(world, &changes[i]);
        if (result == MICA_OK)
            continue;
        while (i > 0)
            micap_change_undo(micap_hierarchy_of(world), &changes[--i]);
        return result;
    }
    return MICA_OK;
}

mica_result mica_set_parents(mica_world *world, const mica_entity *children, const mica_entity *parents, uint32_t count)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, children, count) ||
        MICAP_MISSING_ARRAY(world, parents, count))
        return MICA_ERROR_INVALID;
    if (world->recording_depth) {
        mica_result result = MICA_OK;
        micap_recording *recording = &micap_recorder(world)->recording;
        micap_note *last = recording->last_note;
        for (uint32_t i = 0; result == MICA_OK && i < count; ++i)
            result = mica_set_parent(world, children[i], parents[i]);
        if (result != MICA_OK)
            micap_recording_forget_notes(recording, last);
        return result;
    }
    size_t bytes = count * sizeof(micap_change);
    micap_change *changes = micap_allocate_zeroed(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!changes)
        return micap_fail_memory(world, "set_parents");
    for (uint32_t i = 0; i < count; ++i)
        changes[i] = (micap_change){.entity = children[i], .other = parents[i], .kind = MICAP_CHANGE_PARENT};
    mica_result result = make_changes(world, changes, count);
    micap_release(&world->memory, changes, bytes, MICAP_ARRAY_ALIGNMENT);
    return result;
}

mica_result mica_detach_children(mica_world *world, mica_entity parent)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    if (!mica_is_alive(world, parent))
        return micap_fail_dead(world, parent, "detach_children");
    uint32_t count = mica_child_count(world, parent);
    if (!count)
        return MICA_OK;
    mica_entity *children = micap_links_copy_children(world, parent, count, count);
    if (!children)
        return MICA_ERROR_MEMORY;
    memset(children + count, 0, count * sizeof *children);
    mica_result result = mica_set_parents(world, children, children + count, count);
    micap_release(&world->memory, children, (size_t)count * 2 * sizeof *children, MICAP_ARRAY_ALIGNMENT);
    return result;
}

static mica_entity record_child(mica_commands *commands, mica_entity parent, const mica_value *values, uint32_t count)
{
    micap_note *last = commands->recording.last_note; /* the link comes first, because it can be discarded */
    if (!micap_commands_expect_living(commands, parent, no_location, "create_child"))
        return mica_nil();
    micap_change *change = micap_change_stage(commands, no_location);
    if (!change)
        return mica_nil();
    *change = (micap_change){.other = parent, .kind = MICAP_CHANGE_PARENT};
    change->entity = mica_command_create_id(commands, values, count, no_location);
    if (mica_is_nil(change->entity)) {
        micap_recording_forget_notes(&commands->recording, last);
        return mica_nil();
    }
    return change->entity;
}

/* Makes sure that the child that is created next and its parent can be linked. False with a report if memory is short. */
static MICAP_NOINLINE bool reserve_links(micap_hierarchy *hierarchy, mica_entity parent)
{
    mica_world *world = hierarchy->world;
    uint32_t index;
    if (micap_entity_peek(world, &world->entities, &index) && micap_links_reserve(hierarchy, index) &&
        micap_links_reserve(hierarchy, parent.index))
        return true;
    micap_fail_memory(world, "create_child");
    return false;
}

/* Whether a handle is ready, and so are the links. */
static inline bool links_are_ready(const micap_hierarchy *hierarchy, mica_entity parent)
{
    const micap_entities *entities = &hierarchy->world->entities;
    return MICAP_LIKELY(micap_entity_is_ready(entities)) &&
           micap_links_have_page(hierarchy, micap_entity_peek_ready(entities)) &&
           micap_links_have_page(hierarchy, parent.index);
}

/* The creation failed, or more has happened: hooks may have destroyed or linked the entities. */
static MICAP_NOINLINE mica_entity link_if_alive(micap_hierarchy *hierarchy, mica_entity child, mica_entity parent)
{
    mica_world *world = hierarchy->world;
    if (!mica_is_alive(world, child) || !mica_is_alive(world, parent))
        return child;
    if (!micap_link_of(hierarchy, child)->generation)
        micap_link_attach(hierarchy, child, parent, 0);
    else if (mica_is_nil(mica_parent(world, child)))
        mica_set_parent(world, child, parent);
    return child;
}

mica_entity mica_create_child_id(mica_world *world, mica_entity parent, const mica_value *values, uint32_t count)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, values, count))
        return mica_nil();
    if (MICAP_UNLIKELY(world->recording_depth))
        return record_child(micap_recorder(world), parent, values, count);
    micap_row spot;
    if (MICAP_UNLIKELY(!micap_locate_row(world, parent, &spot) && !expect_row(world, parent)))
        return mica_nil();
    micap_hierarchy *hierarchy = micap_hierarchy_require(world);
    if (MICAP_UNLIKELY(!hierarchy || (!links_are_ready(hierarchy, parent) && !reserve_links(hierarchy, parent))))
        return mica_nil();
    uint64_t structure = world->structure + 1;
    mica_entity child = mica_create_id(world, values, count);
    if (MICAP_UNLIKELY(world->structure != structure || mica_is_nil(child) ||
                       micap_link_at(hierarchy, child.index)->generation))
        return link_if_alive(hierarchy, child, parent);
    micap_link_attach(hierarchy, child, parent, 0);
    return child;
}

bool mica_command_set_parent_id(mica_commands *commands, mica_entity child, mica_entity parent, mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    micap_change change = {.entity = child, .other = parent, .kind = MICAP_CHANGE_PARENT};
    return micap_change_record(commands, &change, location);
}

bool mica_command_place_id(mica_commands *commands, mica_entity child, mica_entity sibling, bool after,
                           mica_location location)
{
    if (MICAP_MISSING(NULL, commands))
        return false;
    if (!micap_commands_expect_living(commands, sibling, location, "set_parent"))
        return false;
    micap_change change = {.entity = child, .other = sibling, .kind = after ? MICAP_CHANGE_AFTER : MICAP_CHANGE_BEFORE};
    return micap_change_record(commands, &change, location);
}
