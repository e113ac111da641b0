/* Those who come, go and get other parents while the order stands. */
#include "core/storage/rows.h"
#include "hierarchy/transform_propagation.h"

static bool has_both(const mica_world *world, mica_entity entity)
{
    const micap_archetype *archetype = micap_locate(world, entity).chunk->archetype;
    return micap_archetype_has(archetype, MICA_ID(mica_local)) &&
           micap_archetype_has(archetype, MICA_ID(mica_global_matrix));
}

static uint32_t slot_at(const micap_slots *slots, uint32_t index)
{
    return index < slots->index_count ? slots->by_index[index] - 1 : MICAP_SLOT_NONE;
}

/* A new slot at the end for an entity, which takes along what is known of it. */
static bool append(micap_slots *slots, mica_entity entity, uint32_t parent)
{
    if (slots->count == slots->capacity || entity.index >= slots->index_count)
        return false;
    uint32_t slot = slots->count++, was = slot_at(slots, entity.index);
    slots->entities[slot] = entity;
    slots->parents[slot] = parent;
    slots->moved[slot] = MICAP_MOVED;
    slots->by_index[entity.index] = slot + 1;
    if (was == MICAP_SLOT_NONE) {
        memset(&slots->locals[slot], 0xFF, sizeof slots->locals[slot]); /* like no local there is */
        slots->matrices[slot] = NULL;
        slots->stamps[slot] = NULL;
        ++slots->living_count;
    } else {
        slots->locals[slot] = slots->locals[was];
        slots->matrices[slot] = slots->matrices[was];
        slots->stamps[slot] = slots->stamps[was];
        slots->matrices[was] = NULL;
    }
    return true;
}

/* The slot of the nearest ancestor that has one. */
static uint32_t parent_of(const micap_hierarchy *hierarchy, const micap_slots *slots, mica_entity entity)
{
    uint32_t above = micap_link_of(hierarchy, entity)->parent;
    while (above && slot_at(slots, above) == MICAP_SLOT_NONE)
        above = micap_link_at(hierarchy, above)->parent;
    return above ? slot_at(slots, above) : MICAP_SLOT_NONE;
}

bool micap_slots_place(const micap_hierarchy *hierarchy, micap_slots *slots, mica_entity entity)
{
    const mica_world *world = hierarchy->world;
    for (mica_entity at = entity; !mica_is_nil(at);) {
        bool stays = false;
        if (has_both(world, at)) {
            uint32_t slot = slot_at(slots, at.index), parent = parent_of(hierarchy, slots, at);
            stays = slot != MICAP_SLOT_NONE && slots->parents[slot] == parent;
            if (!stays && !append(slots, at, parent))
                return false;
        }
        /* Where one stays, everything below it does. */
        at = stays ? mica_tree_skip(world, entity, at) : mica_tree_next(world, entity, at);
    }
    return true;
}

void micap_slots_bury(micap_slots *slots, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t slot = micap_slot_of(slots, entities[i]);
        if (slot == MICAP_SLOT_NONE)
            continue;
        slots->matrices[slot] = NULL;
        slots->by_index[entities[i].index] = 0;
        --slots->living_count;
    }
}
