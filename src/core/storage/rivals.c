#include "core/storage/rivals.h"

#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/report.h"

#include <stdio.h>

static bool add_rival(mica_world *world, micap_component *component, mica_component rival)
{
    if (!MICAP_RESERVE(&world->memory, component->rivals, &component->rival_capacity,
                       (uint64_t)component->rival_count + 1))
        return false;
    component->rivals[component->rival_count++] = rival;
    return true;
}

bool micap_rivals_find(mica_world *world, micap_component *fresh)
{
    const micap_components *components = &world->components;
    if (!fresh->type->excluded_count && !components->exclusive_count)
        return true;
    for (mica_component id = 0; (id = micap_component_after(components, id));) {
        micap_component *other = micap_component_of(components, id);
        if (!micap_types_exclude(fresh->type, other->type))
            continue;
        if (!add_rival(world, fresh, id) || !add_rival(world, other, fresh->type->id))
            return false;
        --other->rival_count; /* until the component is in use */
        fresh->meets_pools |= micap_is_pooled(id) || micap_is_pooled(fresh->type->id);
    }
    return true;
}

/* The edges that add a component look for rivals from now on. */
static void slow_edges(const mica_world *world, mica_component component)
{
    for (uint32_t i = 0; i < world->archetypes.count; ++i) {
        const micap_archetype *archetype = world->archetypes.by_id[i];
        micap_edge *edge = archetype->edge_capacity ? micap_archetype_edge(archetype, component) : NULL;
        if (edge && edge->path == MICAP_EDGE_ADDS)
            edge->path = MICAP_EDGE_GENERAL;
    }
}

void micap_rivals_meet(mica_world *world, const micap_component *fresh)
{
    micap_components *components = &world->components;
    components->exclusive_count += fresh->type->excluded_count != 0;
    for (uint32_t i = 0; i < fresh->rival_count; ++i) {
        micap_component *other = micap_component_of(components, fresh->rivals[i]);
        other->rivals[other->rival_count++] = fresh->type->id;
        if (!micap_is_pooled(fresh->type->id) && !micap_is_pooled(other->type->id))
            continue;
        components->meets_pools = other->meets_pools = true;
        if (micap_is_pooled(other->type->id))
            micap_pools_update_fast_paths(micap_pool_of(world, other->type->id));
        else
            slow_edges(world, other->type->id);
    }
    if (fresh->meets_pools && micap_is_pooled(fresh->type->id))
        micap_pools_update_fast_paths(micap_pool_of(world, fresh->type->id));
}

/* Writes the names of components, as far as there is room. */
static void list_names(const mica_component *components, uint32_t count, char *text, size_t bytes)
{
    size_t used = 0;
    *text = '\0';
    for (uint32_t i = 0; i < count && used < bytes; ++i) {
        const micap_type *type = micap_type_of(components[i]);
        if (type->companion == MICAP_COMPANION_NONE)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", type->type.name);
    }
}

static bool fail_together(const mica_world *world, mica_component a, mica_component b, const char *names)
{
    micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
               "components %s and %s exclude each other: an entity can't have %s", micap_type_of(a)->type.name,
               micap_type_of(b)->type.name, names);
    return false;
}

bool micap_components_agree(const mica_world *world, const mica_component *components, uint32_t count)
{
    for (uint32_t i = 0; world->components.exclusive_count && i < count; ++i) {
        const micap_component *used = micap_component_of(&world->components, components[i]);
        for (uint32_t k = 0; used->rival_count && k < i; ++k)
            if (micap_types_exclude(used->type, micap_type_of(components[k]))) {
                char names[256];
                list_names(components, count, names, sizeof names);
                return fail_together(world, components[k], components[i], names);
            }
    }
    return true;
}

bool micap_values_agree(const mica_world *world, const mica_value *values, uint32_t count)
{
    for (uint32_t i = 0; world->components.meets_pools && i < count; ++i) {
        const micap_component *used = micap_component_of(&world->components, values[i].component);
        for (uint32_t k = 0; used->meets_pools && k < i; ++k)
            if (micap_types_exclude(used->type, micap_type_of(values[k].component))) {
                mica_component components[16];
                uint32_t listed = 0;
                char names[256];
                for (uint32_t at = 0; at < count && listed < 16; ++at)
                    components[listed++] = values[at].component;
                list_names(components, listed, names, sizeof names);
                return fail_together(world, values[k].component, values[i].component, names);
            }
    }
    return true;
}

bool micap_fail_rivals(const mica_world *world, mica_entity entity, mica_component component, mica_component rival)
{
    micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
               "component %s can't be added to entity %u (generation %u), which has %s: they exclude each other",
               micap_type_of(component)->type.name, entity.index, entity.generation, micap_type_of(rival)->type.name);
    return false;
}

static bool has(const mica_world *world, mica_entity entity, mica_component component)
{
    if (!micap_is_pooled(component))
        return micap_archetype_has(micap_locate(world, entity).chunk->archetype, component);
    const mica_pool *pool = micap_pool_of(world, component);
    return pool && micap_pooled_row(world, pool, entity) != MICAP_ROW_NONE;
}

bool micap_entity_accepts(const mica_world *world, mica_entity entity, mica_component component)
{
    const micap_component *used = micap_component_of(&world->components, component);
    for (uint32_t i = 0; used->meets_pools && i < used->rival_count; ++i)
        if (has(world, entity, used->rivals[i]))
            return micap_fail_rivals(world, entity, component, used->rivals[i]);
    return true;
}

bool micap_entity_accepts_all(const mica_world *world, mica_entity entity, const micap_type *type)
{
    for (uint32_t i = 0; i < type->required_count; ++i)
        if (!has(world, entity, type->required[i]) && !micap_entity_accepts(world, entity, type->required[i]))
            return false;
    return micap_entity_accepts(world, entity, type->id);
}

bool micap_meets_pools(const mica_world *world, const micap_type *type)
{
    if (!world->components.meets_pools)
        return false;
    const micap_component *used = micap_component_find(&world->components, type->id);
    bool meets = used && used->meets_pools;
    for (uint32_t i = 0; !meets && i < type->required_count; ++i) {
        used = micap_component_find(&world->components, type->required[i]);
        meets = used && used->meets_pools;
    }
    return meets;
}

/* Whether an entity has no two rivals of which one is in a pool. */
static bool are_apart(const mica_world *world, mica_entity entity)
{
    const micap_components *components = &world->components;
    for (mica_component id = 0; (id = micap_component_after(components, id));) {
        const micap_component *used = micap_component_of(components, id);
        for (uint32_t i = 0; used->meets_pools && has(world, entity, id) && i < used->rival_count; ++i)
            if (has(world, entity, used->rivals[i]))
                return false;
    }
    return true;
}

bool micap_rivals_are_apart(const mica_world *world, const micap_archetype *archetype)
{
    for (uint32_t i = 0; world->components.exclusive_count && i < archetype->component_count; ++i)
        for (uint32_t k = 0; k < i; ++k)
            if (micap_types_exclude(micap_type_of(archetype->components[i]), micap_type_of(archetype->components[k])))
                return false;
    for (uint32_t i = 0; world->components.meets_pools && i < archetype->chunk_count; ++i)
        for (uint32_t row = 0; row < archetype->chunks[i]->count; ++row)
            if (!are_apart(world, micap_chunk_entities(archetype->chunks[i])[row]))
                return false;
    return true;
}
