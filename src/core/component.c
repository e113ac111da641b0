#include "core/removals.h"
#include "core/report.h"
#include "core/world.h"
#include "mica/component.h"

#include <stdio.h>

/* Two components of one world may not share a name: tools and files know them by it. */
const micap_type *micap_component_namesake(const mica_world *world, const micap_type *type)
{
    for (uint32_t id = 1; id < world->components.limit; ++id) {
        const micap_component *other = world->components.by_id[id];
        if (other && other->type != type && other->type->name_hash == type->name_hash &&
            other->type->companion == type->companion)
            return other->type;
    }
    return NULL;
}

static bool reserve_ids(mica_world *world, uint32_t limit)
{
    micap_components *components = &world->components;
    if (limit <= components->limit)
        return true;
    if (!MICAP_RESERVE(&world->memory, components->by_id, &components->capacity, limit))
        return false;
    memset(components->by_id + components->limit, 0, (limit - components->limit) * sizeof *components->by_id);
    components->limit = limit;
    return true;
}

static micap_component *use_one(mica_world *world, const micap_type *type, micap_problem *out_problem)
{
    if (micap_component_of(&world->components, type->id))
        return world->components.by_id[type->id];
    const micap_type *other = micap_component_namesake(world, type);
    if (other) {
        out_problem->result = MICA_ERROR_LAYOUT;
        snprintf(
            out_problem->text, sizeof out_problem->text,
            "component %.60s (%u bytes, layout %016llx) is in this world already as %.60s (%u bytes, layout %016llx)",
            type->type.name, type->type.size_bytes, (unsigned long long)type->layout_hash, other->type.name,
            other->type.size_bytes, (unsigned long long)other->layout_hash);
        return NULL;
    }
    micap_component *component = NULL;
    if (reserve_ids(world, type->id + 1))
        component = micap_allocate_zeroed(&world->memory, sizeof *component, MICAP_ARRAY_ALIGNMENT);
    if (!component) {
        out_problem->result = MICA_ERROR_MEMORY;
        snprintf(out_problem->text, sizeof out_problem->text, "component %.200s: out of memory", type->type.name);
        return NULL;
    }
    component->type = type;
    world->components.by_id[type->id] = component;
    return component;
}

micap_component *micap_component_try(mica_world *world, mica_component id, micap_problem *out_problem)
{
    micap_component *component = micap_component_of(&world->components, id);
    if (component)
        return component;
    const micap_type *type = micap_type_of(id);
    if (!type) {
        out_problem->result = MICA_ERROR_UNKNOWN;
        snprintf(out_problem->text, sizeof out_problem->text, "there is no component with id %u", id);
        return NULL;
    }
    if (type->enabled && !use_one(world, micap_type_of(type->enabled), out_problem))
        return NULL;
    if (type->added && !use_one(world, micap_type_of(type->added), out_problem))
        return NULL;
    return use_one(world, type, out_problem);
}

micap_component *micap_component_use(mica_world *world, mica_component id)
{
    micap_problem problem;
    micap_component *component = micap_component_try(world, id, &problem);
    if (!component)
        micap_fail(world, problem.result, (mica_place){0}, "%s", problem.text);
    return component;
}

bool micap_value_fits(const mica_world *world, const micap_type *type, const mica_value *value, mica_place place)
{
    if (!value->size_bytes || value->size_bytes == type->type.size_bytes)
        return true;
    micap_fail(world, MICA_ERROR_INVALID, place, "a value of %u bytes was given for component %s, which has %u",
               value->size_bytes, type->type.name, type->type.size_bytes);
    return false;
}

void micap_components_free(mica_world *world)
{
    micap_components *components = &world->components;
    for (uint32_t id = 1; id < components->limit; ++id) {
        micap_component *component = components->by_id[id];
        if (!component)
            continue;
        if (component->singleton) {
            micap_values_destruct(component->type, component->singleton, 1);
            micap_release(&world->memory, component->singleton, component->type->type.size_bytes,
                          component->type->type.alignment);
        }
        micap_removals_free(component->removals);
        MICAP_RELEASE_ARRAY(&world->memory, component->archetypes, component->archetype_capacity);
        micap_release(&world->memory, component, sizeof *component, MICAP_ARRAY_ALIGNMENT);
    }
    MICAP_RELEASE_ARRAY(&world->memory, components->by_id, components->capacity);
}

bool micap_values_construct(const micap_type *type, void *values, uint32_t count)
{
    if (type->type.construct)
        return type->type.construct(values, count, type->type.context);
    if (count == 1 && type->type.size_bytes == 4)
        memset(values, 0, 4);
    else
        memset(values, 0, (size_t)type->type.size_bytes * count);
    return true;
}

void micap_values_destruct(const micap_type *type, void *values, uint32_t count)
{
    if (type->type.destruct)
        type->type.destruct(values, count, type->type.context);
}

bool micap_values_copy(const micap_type *type, void *to, const void *from, uint32_t count)
{
    if (type->type.copy)
        return type->type.copy(to, from, count, type->type.context);
    memcpy(to, from, (size_t)type->type.size_bytes * count);
    return true;
}

void micap_values_move(const micap_type *type, void *to, void *from, uint32_t count)
{
    if (type->type.move)
        type->type.move(to, from, count, type->type.context);
    else
        memcpy(to, from, (size_t)type->type.size_bytes * count);
}

mica_component mica_component_define(mica_world *world, const mica_type *type)
{
    const char *problem;
    const micap_type *interned = micap_type_intern(type, &problem);
    if (!interned) {
        micap_fail(world, micap_type_problem_result(problem), (mica_place){0}, "component %s can't be used: %s",
                   type && type->name ? type->name : "without a name", problem);
        return 0;
    }
    return micap_component_use(world, interned->id) ? interned->id : 0;
}

mica_component mica_component_next(const mica_world *world, mica_component component)
{
    for (uint32_t id = component + 1; id < world->components.limit; ++id)
        if (world->components.by_id[id] && world->components.by_id[id]->type->companion == MICAP_COMPANION_NONE)
            return id;
    return 0;
}

mica_component mica_component_find(const mica_world *world, const char *name)
{
    for (uint32_t id = 1; name && id < world->components.limit; ++id) {
        const micap_component *component = world->components.by_id[id];
        if (component && component->type->companion == MICAP_COMPANION_NONE &&
            strcmp(component->type->type.name, name) == 0)
            return id;
    }
    return 0;
}
