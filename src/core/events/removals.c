#include "core/events/removals.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"

static void update_hooks(mica_world *world, const micap_component *component)
{
    if (micap_is_pooled(component->type->id))
        micap_pools_update_hooks(world, component->type->id);
    for (uint32_t i = 0; i < component->archetype_count; ++i)
        micap_archetype_update_hooks(world, component->archetypes[i]);
}

mica_removals *mica_removals_create_id(mica_world *world, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (micap_refuse_inside(world, "removals") != MICA_OK)
        return NULL;
    if (!micap_type_for_entities(world, component))
        return NULL;
    mica_removals *removals = micap_allocate_zeroed(&world->memory, sizeof *removals, MICAP_ARRAY_ALIGNMENT);
    if (!removals) {
        micap_fail_memory(world, "removals");
        return NULL;
    }
    micap_component *used = micap_component_of(&world->components, component);
    removals->world = world;
    removals->component = component;
    removals->serial = ++world->last_serial;
    removals->next = used->removals;
    used->removals = removals;
    update_hooks(world, used);
    return removals;
}

static void release(mica_removals *removals)
{
    micap_memory *memory = &removals->world->memory;
    MICAP_RELEASE_ARRAY(memory, removals->entities, removals->capacity);
    micap_release(memory, removals, sizeof *removals, MICAP_ARRAY_ALIGNMENT);
}

void mica_removals_destroy(mica_removals *removals)
{
    if (!removals)
        return;
    mica_world *world = removals->world;
    if (world->hook_depth) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "removals: a list can't be destroyed inside a hook");
        return;
    }
    micap_component *used = micap_component_of(&world->components, removals->component);
    mica_removals **link = &used->removals;
    while (*link != removals)
        link = &(*link)->next;
    *link = removals->next;
    update_hooks(world, used);
    release(removals);
}

void micap_removals_free(mica_removals *removals)
{
    while (removals) {
        mica_removals *next = removals->next;
        release(removals);
        removals = next;
    }
}

/* Room at the end: what was read goes first, then the list grows. */
static bool reserve(mica_removals *removals, uint32_t more)
{
    if (removals->first && removals->first >= removals->count / 2) {
        removals->count -= removals->first;
        memmove(removals->entities, removals->entities + removals->first, removals->count * sizeof *removals->entities);
        removals->first = 0;
    }
    return MICAP_RESERVE(&removals->world->memory, removals->entities, &removals->capacity,
                         (uint64_t)removals->count + more);
}

void micap_removals_note(mica_world *world, mica_removals *removals, const mica_entity *entities, uint32_t count)
{
    for (; removals; removals = removals->next) {
        if (!reserve(removals, count)) {
            removals->missed += count;
            micap_fail_memory(world, "removals");
            continue;
        }
        memcpy(removals->entities + removals->count, entities, count * sizeof *entities);
        removals->count += count;
    }
}

uint32_t mica_removals_read(mica_removals *removals, mica_entity *out_entities, uint32_t capacity)
{
    if (MICAP_MISSING(NULL, removals) || MICAP_MISSING_ARRAY(removals->world, out_entities, capacity))
        return 0;
    uint32_t left = removals ? removals->count - removals->first : 0;
    uint32_t count = left < capacity ? left : capacity;
    if (!count)
        return 0;
    memcpy(out_entities, removals->entities + removals->first, count * sizeof *out_entities);
    removals->first += count;
    if (removals->first == removals->count)
        removals->first = removals->count = 0;
    return count;
}

uint64_t mica_removals_missed(mica_removals *removals)
{
    if (MICAP_MISSING(NULL, removals))
        return 0;
    uint64_t missed = removals ? removals->missed : 0;
    if (removals)
        removals->missed = 0;
    return missed;
}
