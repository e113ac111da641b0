/* Linking, at once or recorded, and what becomes of children. */
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "hierarchy/link_change.h"

static const mica_location no_place = {0};

/* Whether an entity can be linked at once; a report when not. */
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
        return micap_change_record(micap_recorder(world), change, no_place) ? MICA_OK : micap_failure(world);
    if (!expect_row(world, change->entity) || (!mica_is_nil(change->other) && !expect_row(world, change->other)))
        return MICA_ERROR_DEAD;
    micap_hierarchy *hierarchy = micap_hierarchy_use(world);
    return hierarchy ? micap_change_apply(hierarchy, change, no_place) : MICA_ERROR_MEMORY;
}

mica_result mica_set_parent(mica_world *world, mica_entity child, mica_entity parent)
{
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
    return place_beside(world, child, sibling, MICAP_CHANGE_BEFORE);
}

mica_result mica_place_after(mica_world *world, mica_entity child, mica_entity sibling)
{
    return place_beside(world, child, sibling, MICAP_CHANGE_BEHIND);
}

/* A list of changes, whole or not at all. */
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

/* A copy of the children, which lives through what is done to them, with room for more; NULL with a report. */
static mica_entity *copy_children(mica_world *world, mica_entity parent, uint32_t count, uint32_t more)
{
    const micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    mica_entity *children =
        micap_allocate(&world->memory, ((size_t)count + more) * sizeof *children, MICAP_ARRAY_ALIGNMENT);
    if (!children) {
        micap_fail_memory(world, "hierarchy");
        return NULL;
    }
    uint32_t child = micap_link_of(hierarchy, parent)->first_child;
    for (uint32_t i = 0; i < count; ++i) {
        children[i] = micap_link_entity(hierarchy, child);
        child = micap_link_at(hierarchy, child)->next;
    }
    return children;
}

mica_result mica_detach_children(mica_world *world, mica_entity parent)
{
    uint32_t count = mica_child_count(world, parent);
    if (!count)
        return MICA_OK;
    mica_entity *children = copy_children(world, parent, count, count);
    if (!children)
        return MICA_ERROR_MEMORY;
    memset(children + count, 0, count * sizeof *children);
    mica_result result = mica_set_parents(world, children, children + count, count);
    micap_release(&world->memory, children, (size_t)count * 2 * sizeof *children, MICAP_ARRAY_ALIGNMENT);
    return result;
}

static mica_entity record_child(mica_commands *commands, mica_entity parent, const mica_value *values, uint32_t count)
{
    micap_note *last = commands->recording.last_note; /* the link first: it can be forgotten again */
    if (!micap_commands_expect_living(commands, parent, no_place, "create_child"))
        return mica_nil();
    micap_change *change = micap_change_stage(commands, no_place);
    if (!change)
        return mica_nil();
    *change = (micap_change){.other = parent, .kind = MICAP_CHANGE_PARENT};
    change->entity = mica_command_create_id(commands, values, count, no_place);
    if (mica_is_nil(change->entity)) {
        micap_recording_forget_notes(&commands->recording, last);
        return mica_nil();
    }
    return change->entity;
}

mica_entity mica_create_child_id(mica_world *world, mica_entity parent, const mica_value *values, uint32_t count)
{
    if (MICAP_UNLIKELY(world->recording_depth))
        return record_child(micap_recorder(world), parent, values, count);
    micap_hierarchy *hierarchy = expect_row(world, parent) ? micap_hierarchy_use(world) : NULL;
    if (!hierarchy)
        return mica_nil();
    uint32_t index;
    if (MICAP_UNLIKELY(!micap_entity_peek(world, &world->entities, &index) || !micap_links_reserve(hierarchy, index) ||
                       !micap_links_reserve(hierarchy, parent.index))) {
        micap_fail_memory(world, "create_child");
        return mica_nil();
    }
    mica_entity child = mica_create_id(world, values, count);
    if (MICAP_UNLIKELY(!mica_is_alive(world, child) ||
                       !mica_is_alive(world, parent))) /* what hooks have left of them */
        return child;
    if (MICAP_LIKELY(!micap_link_of(hierarchy, child)->generation))
        micap_link_attach(hierarchy, child, parent, 0);
    else if (mica_is_nil(mica_parent(world, child)))
        mica_set_parent(world, child, parent);
    return child;
}

mica_result mica_set_orphans(mica_world *world, mica_orphans orphans)
{
    if ((uint32_t)orphans > MICA_ORPHANS_STAY)
        return micap_fail(world, MICA_ERROR_INVALID, no_place, "set_orphans: there is no such choice");
    micap_hierarchy *hierarchy = micap_hierarchy_use(world);
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
    if (world->recording_depth)
        return mica_command_destroy_with_id(micap_recorder(world), entity, orphans, no_place);
    micap_hierarchy *hierarchy = micap_hierarchy_of(world);
    if (micap_link_of(hierarchy, entity)->first_child)
        micap_link_change(hierarchy, entity.index)->flags = flags_of(orphans);
    return mica_destroy(world, entity);
}

uint32_t mica_destroy_children(mica_world *world, mica_entity parent)
{
    uint32_t count = mica_child_count(world, parent), died = 0;
    mica_entity *children = count ? copy_children(world, parent, count, 0) : NULL;
    if (!children)
        return 0;
    for (uint32_t i = 0; i < count; ++i)
        if (mica_is_alive(world, children[i]))
            died += mica_destroy(world, children[i]);
    micap_release(&world->memory, children, count * sizeof *children, MICAP_ARRAY_ALIGNMENT);
    return died;
}

bool mica_command_set_parent_id(mica_commands *commands, mica_entity child, mica_entity parent, mica_location location)
{
    micap_change change = {.entity = child, .other = parent, .kind = MICAP_CHANGE_PARENT};
    return micap_change_record(commands, &change, location);
}

bool mica_command_place_id(mica_commands *commands, mica_entity child, mica_entity sibling, bool behind,
                           mica_location location)
{
    if (!micap_commands_expect_living(commands, sibling, location, "set_parent"))
        return false;
    micap_change change = {
        .entity = child, .other = sibling, .kind = behind ? MICAP_CHANGE_BEHIND : MICAP_CHANGE_BEFORE};
    return micap_change_record(commands, &change, location);
}

bool mica_command_destroy_with_id(mica_commands *commands, mica_entity entity, mica_orphans orphans,
                                  mica_location location)
{
    micap_change change = {.entity = entity, .kind = MICAP_CHANGE_ORPHANS, .flags = flags_of(orphans)};
    micap_note *last = commands->recording.last_note;
    if (!micap_change_record(commands, &change, location))
        return false;
    if (mica_command_destroy_id(commands, entity, location))
        return true;
    micap_recording_forget_notes(&commands->recording,
                                 last); /* a word without a destruction would hold for the next one */
    return false;
}
