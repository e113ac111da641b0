#include "core/storage/component_set.h"

#include "core/world/report.h"
#include "core/world/world.h"

bool micap_set_init(micap_set *set, mica_world *world, const micap_archetype *archetype, uint32_t more)
{
    set->world = world;
    set->count = archetype->component_count;
    set->capacity = set->count + more;
    set->ids = set->small;
    if (set->capacity > sizeof set->small / sizeof *set->small)
        set->ids = micap_allocate(&world->memory, set->capacity * sizeof *set->ids, MICAP_ARRAY_ALIGNMENT);
    if (!set->ids) {
        micap_fail_memory(world, "archetype");
        return false;
    }
    if (set->count)
        memcpy(set->ids, archetype->components, set->count * sizeof *set->ids);
    return true;
}

void micap_set_free(micap_set *set)
{
    if (set->ids != set->small)
        micap_release(&set->world->memory, set->ids, set->capacity * sizeof *set->ids, MICAP_ARRAY_ALIGNMENT);
}

uint32_t micap_set_room(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type && !micap_is_pooled(component) ? 4 + type->leaf_count : 1;
}

static uint32_t place_of(const micap_set *set, mica_component id)
{
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (set->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert_one(micap_set *set, mica_component id)
{
    uint32_t at = place_of(set, id);
    if (at < set->count && set->ids[at] == id)
        return false;
    memmove(set->ids + at + 1, set->ids + at, (set->count - at) * sizeof *set->ids);
    set->ids[at] = id;
    ++set->count;
    return true;
}

static void erase_one(micap_set *set, mica_component id)
{
    uint32_t at = place_of(set, id);
    if (at == set->count || set->ids[at] != id)
        return;
    --set->count;
    memmove(set->ids + at, set->ids + at + 1, (set->count - at) * sizeof *set->ids);
}

bool micap_set_insert(micap_set *set, const micap_type *type)
{
    if (!insert_one(set, type->id))
        return false;
    if (type->enabled)
        insert_one(set, type->enabled);
    if (type->added)
        insert_one(set, type->added);
    if (type->changed)
        insert_one(set, type->changed);
    for (uint32_t i = 0; i < type->leaf_count; ++i)
        insert_one(set, type->leaves[i].component);
    return true;
}

void micap_set_erase(micap_set *set, const micap_type *type)
{
    erase_one(set, type->id);
    if (type->enabled)
        erase_one(set, type->enabled);
    if (type->added)
        erase_one(set, type->added);
    if (type->changed)
        erase_one(set, type->changed);
    for (uint32_t i = 0; i < type->leaf_count; ++i)
        erase_one(set, type->leaves[i].component);
}
