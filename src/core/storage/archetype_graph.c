#include "core/storage/archetype_graph.h"

#include "core/world/report.h"
#include "core/storage/component_set.h"
#include "core/storage/rivals.h"
#include "core/world/world.h"

/* The edge by a component, known or still blank; NULL when memory is short. */
static micap_edge *reserve_edge(mica_world *world, micap_archetype *archetype, mica_component component)
{
    if ((archetype->edge_count + 1) * 2 > archetype->edge_capacity) {
        uint32_t grown = archetype->edge_capacity ? archetype->edge_capacity * 2 : 4;
        micap_edge *edges = micap_allocate_zeroed(&world->memory, grown * sizeof *edges, MICAP_ARRAY_ALIGNMENT);
        if (!edges) {
            micap_fail_memory(world, "archetype edge");
            return NULL;
        }
        micap_archetype old = *archetype;
        archetype->edges = edges;
        archetype->edge_capacity = grown;
        for (uint32_t i = 0; i < old.edge_capacity; ++i)
            if (old.edges[i].component)
                *micap_archetype_edge(archetype, old.edges[i].component) = old.edges[i];
        MICAP_RELEASE_ARRAY(&world->memory, old.edges, old.edge_capacity);
    }
    micap_edge *edge = micap_archetype_edge(archetype, component);
    if (!edge->component) {
        edge->component = (uint16_t)component;
        ++archetype->edge_count;
    }
    return edge;
}

static micap_archetype *search(mica_world *world, const micap_archetype *archetype, const micap_type *type, bool add)
{
    micap_set set;
    uint32_t room = micap_set_room(type->id);
    for (uint32_t i = 0; add && i < type->required_count; ++i)
        room += micap_set_room(type->required[i]);
    if (!micap_set_init(&set, world, archetype, room))
        return NULL;
    for (uint32_t i = 0; add && i < type->required_count; ++i)
        if (!micap_is_pooled(type->required[i]))
            micap_set_insert(&set, micap_type_of(type->required[i]));
    if (!add)
        micap_set_erase(&set, type);
    else if (!micap_is_pooled(type->id))
        micap_set_insert(&set, type);
    micap_archetype *found = micap_archetype_of_set(world, set.ids, set.count);
    micap_set_free(&set);
    return found;
}

static micap_edge_path path_of(const mica_world *world, const micap_archetype *from, const micap_archetype *to,
                               const micap_type *type)
{
    if (!from->moves_as_bytes || !to->moves_as_bytes || type->enabled || type->added || type->changed || type->leaves ||
        micap_is_pooled(type->id))
        return MICAP_EDGE_GENERAL;
    if (micap_archetype_has(from, type->id))
        return MICAP_EDGE_REMOVES;
    return type->requires_pools || to->component_count != from->component_count + 1 || type->type.construct ||
                   micap_meets_pools(world, type)
               ? MICAP_EDGE_GENERAL
               : MICAP_EDGE_ADDS;
}

bool micap_archetype_lacks_required(const micap_archetype *archetype, const micap_type *type)
{
    for (uint32_t i = 0; i < type->required_count; ++i)
        if (!micap_is_pooled(type->required[i]) && !micap_archetype_has(archetype, type->required[i]))
            return true;
    return false;
}

micap_edge *micap_archetype_step(mica_world *world, micap_archetype *archetype, mica_component component)
{
    if (archetype->edge_capacity) {
        micap_edge *known = micap_archetype_edge(archetype, component);
        if (known->end)
            return known;
    }
    const micap_type *type = micap_type_for_entities(world, component);
    micap_edge *edge = type ? reserve_edge(world, archetype, component) : NULL;
    if (!edge)
        return NULL;
    bool add = !micap_archetype_has(archetype, component);
    micap_archetype *end = search(world, archetype, type, add);
    if (!end)
        return NULL;
    edge->end = end;
    edge->column = (uint16_t)micap_archetype_column(add ? end : archetype, component);
    edge->path = (uint8_t)path_of(world, archetype, end, type);
    edge->calls_destruct = !add && type->type.destruct;
    edge->set_limit =
        type->type.copy || type->type.size_bytes >= UINT16_MAX ? 0 : (uint16_t)(type->type.size_bytes + 1);
    return edge;
}
