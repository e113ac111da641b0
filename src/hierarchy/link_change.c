#include "hierarchy/link_change.h"

#include "core/commands/module_notes.h"
#include "core/world/report.h"
#include "hierarchy/hierarchy_module.h"

static bool is_above(const micap_hierarchy *hierarchy, uint32_t ancestor, uint32_t index)
{
    while (index && index != ancestor)
        index = micap_link_at(hierarchy, index)->parent;
    return index != 0;
}

static MICAP_COLD mica_result refuse(const micap_hierarchy *hierarchy, const micap_change *change,
                                     mica_location location, const char *why)
{
    return micap_fail(hierarchy->world, MICA_ERROR_INVALID, location, "hierarchy: entity %u %s entity %u",
                      change->entity.index, why, change->other.index);
}

/* Returns the new parent, and the sibling that the entity comes before, 0 for the end. */
static mica_result find_place(const micap_hierarchy *hierarchy, const micap_change *change, mica_location location,
                              mica_entity *out_parent, uint32_t *out_before)
{
    *out_parent = change->other;
    *out_before = 0;
    if (mica_same(change->entity, change->other))
        return refuse(hierarchy, change, location, "can't be linked to itself:");
    if (change->kind != MICAP_CHANGE_PARENT) {
        const micap_link *sibling = micap_link_of(hierarchy, change->other);
        if (!sibling->parent)
            return refuse(hierarchy, change, location, "can't be placed beside what has no parent:");
        *out_parent = micap_link_entity(hierarchy, sibling->parent);
        *out_before = change->kind == MICAP_CHANGE_BEFORE ? change->other.index : sibling->next;
    }
    /* An entity without children has no descendants. */
    if (micap_link_of(hierarchy, change->entity)->first_child && micap_link_of(hierarchy, *out_parent)->generation &&
        is_above(hierarchy, change->entity.index, out_parent->index))
        return refuse(hierarchy, change, location, "would be its own ancestor: it is above");
    return MICA_OK;
}

/* A name whose scope is the old parent, or was destroyed, moves to the scope of the new parent. */
static mica_result move_name(micap_hierarchy *hierarchy, micap_change *change, mica_entity parent,
                             mica_location location)
{
    mica_world *world = hierarchy->world;
    if (!micap_name_scope(world, change->entity, &change->old_scope) ||
        (!mica_same(change->old_scope, change->old_parent) && mica_is_alive(world, change->old_scope)))
        return MICA_OK;
    if (mica_is_nil(change->old_scope) && !mica_is_nil(change->old_parent)) /* the user chose the top scope */
        return MICA_OK;
    mica_result result = micap_name_rescope(world, change->entity, parent, location);
    change->renamed = result == MICA_OK;
    return result;
}

static mica_result apply_orphans(micap_hierarchy *hierarchy, micap_change *change)
{
    if (!micap_links_reserve(hierarchy, change->entity.index))
        return micap_fail_memory(hierarchy->world, "hierarchy");
    micap_link *link = micap_link_claim(hierarchy, change->entity);
    change->old_flags = link->flags;
    link->flags = change->flags;
    micap_link_release_empty(hierarchy, change->entity.index, link);
    return MICA_OK;
}

mica_result micap_change_apply(micap_hierarchy *hierarchy, micap_change *change, mica_location location)
{
    if (change->kind == MICAP_CHANGE_ORPHANS)
        return apply_orphans(hierarchy, change);
    mica_entity parent;
    uint32_t before;
    mica_result result = find_place(hierarchy, change, location, &parent, &before);
    if (MICAP_UNLIKELY(result != MICA_OK))
        return result;
    const micap_link *link = micap_link_of(hierarchy, change->entity);
    bool keeps_parent = link->parent == parent.index;
    if (keeps_parent && (change->kind == MICAP_CHANGE_PARENT || before == change->entity.index))
        return MICA_OK; /* nothing changes */
    if (!mica_is_nil(parent) &&
        (!micap_links_reserve(hierarchy, change->entity.index) || !micap_links_reserve(hierarchy, parent.index)))
        return micap_fail_memory(hierarchy->world, "hierarchy");
    change->old_parent = micap_link_entity(hierarchy, link->parent);
    change->old_next = link->next;
    if (MICAP_UNLIKELY(hierarchy->world->names.count) && !keeps_parent)
        result = move_name(hierarchy, change, parent, location);
    if (result != MICA_OK)
        return result;
    if (link->parent)
        micap_link_detach(hierarchy, change->entity.index);
    if (!mica_is_nil(parent))
        micap_link_attach(hierarchy, change->entity, parent, before);
    change->moved = true;
    return MICA_OK;
}

void micap_change_undo(micap_hierarchy *hierarchy, const micap_change *change)
{
    if (change->kind == MICAP_CHANGE_ORPHANS) {
        micap_link *link = micap_link_claim(hierarchy, change->entity);
        link->flags = change->old_flags;
        micap_link_release_empty(hierarchy, change->entity.index, link);
    }
    if (!change->moved)
        return;
    if (change->renamed)
        micap_name_rescope(hierarchy->world, change->entity, change->old_scope, (mica_location){0});
    micap_link_detach(hierarchy, change->entity.index);
    if (!mica_is_nil(change->old_parent))
        micap_link_attach(hierarchy, change->entity, change->old_parent, change->old_next);
}

typedef struct link_note {
    micap_note note;
    micap_change change;
} link_note;

static mica_result apply_note(mica_world *world, micap_note *note)
{
    link_note *recorded = (link_note *)(void *)note;
    micap_change *change = &recorded->change;
    micap_hierarchy *hierarchy = micap_hierarchy_require(world);
    if (!hierarchy)
        return MICA_ERROR_MEMORY;
    change->moved = change->renamed = false;
    bool is_orphans = change->kind == MICAP_CHANGE_ORPHANS;
    if (!mica_is_alive(world, change->entity)) /* the destruction that follows reports it */
        return is_orphans ? MICA_ERROR_DEAD : micap_note_set_aside(world, note, change->entity);
    if (!is_orphans && !mica_is_nil(change->other) && !mica_is_alive(world, change->other))
        return micap_note_set_aside(world, note, change->other);
    return micap_change_apply(hierarchy, change, note->location);
}

static void undo_note(mica_world *world, micap_note *note)
{
    micap_change_undo(micap_hierarchy_of(world), &((link_note *)(void *)note)->change);
}

static const micap_note_ops note_ops = {.apply = apply_note, .undo = undo_note};

micap_change *micap_change_stage(mica_commands *commands, mica_location location)
{
    link_note *recorded = (link_note *)(void *)micap_commands_note(commands, &note_ops, sizeof *recorded, location);
    return recorded ? &recorded->change : NULL;
}

bool micap_change_record(mica_commands *commands, const micap_change *change, mica_location location)
{
    const mica_world *world = commands->world;
    bool is_orphans = change->kind == MICAP_CHANGE_ORPHANS;
    if (!micap_commands_expect_living(commands, change->entity, location, is_orphans ? "destroy" : "set_parent"))
        return false;
    if (!is_orphans && !mica_is_nil(change->other) &&
        !micap_commands_expect_living(commands, change->other, location, "set_parent"))
        return false;
    if (!is_orphans && mica_same(change->entity, change->other)) {
        micap_fail(world, MICA_ERROR_INVALID, location, "hierarchy: entity %u can't be linked to itself",
                   change->entity.index);
        return false;
    }
    micap_change *recorded = micap_change_stage(commands, location);
    if (recorded)
        *recorded = *change;
    return recorded != NULL;
}
