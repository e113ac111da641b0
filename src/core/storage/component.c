#include "base/argument.h"
#include "core/events/removals.h"
#include "core/storage/rivals.h"
#include "core/storage/range_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "mica/component.h"

#include <stdio.h>

/* Two components of one world may not share a name: tools and files know them by it. */
const micap_type *micap_component_namesake(const mica_world *world, const micap_type *type)
{
    const micap_type *other = micap_type_namesake(type);
    while (other != type && !micap_component_find(&world->components, other->id))
        other = micap_type_namesake(other);
    return other == type ? NULL : other;
}

mica_component micap_component_after(const micap_components *components, mica_component id)
{
    for (++id; id < components->limit; ++id)
        if (components->by_id[id])
            return id;
    uint32_t number = id < MICAP_POOL_IDS ? 0 : id - MICAP_POOL_IDS;
    for (; number < components->pooled_limit; ++number)
        if (components->pooled[number])
            return MICAP_POOL_IDS + number;
    return 0;
}

/* The place of a component in its list; NULL when memory is short. */
static micap_component **reserve_place(mica_world *world, mica_component id)
{
    micap_components *components = &world->components;
    bool pooled = micap_is_pooled(id);
    micap_component ***list = pooled ? &components->pooled : &components->by_id;
    uint32_t *capacity = pooled ? &components->pooled_capacity : &components->capacity;
    uint32_t *limit = pooled ? &components->pooled_limit : &components->limit;
    uint32_t at = pooled ? id - MICAP_POOL_IDS : id;
    if (!MICAP_RESERVE(&world->memory, *list, capacity, (uint64_t)at + 1))
        return NULL;
    for (; *limit <= at; ++*limit)
        (*list)[*limit] = NULL;
    return &(*list)[at];
}

uint32_t micap_component_awaits(const micap_component *component)
{
    uint32_t mask = component->removals ? 1 << MICA_EVENT_REMOVE : 0;
    for (uint32_t event = 0; event < MICA_EVENT_KINDS; ++event)
        if (component->watches[event] || component->hooks[event].fn)
            mask |= (uint32_t)1 << event;
    return mask;
}

static micap_component *fail_memory(const micap_type *type, micap_problem *out_problem)
{
    out_problem->result = MICA_ERROR_MEMORY;
    snprintf(out_problem->text, sizeof out_problem->text, "component %.200s: out of memory", type->type.name);
    return NULL;
}

static void release_component(mica_world *world, micap_component *component)
{
    MICAP_RELEASE_ARRAY(&world->memory, component->rivals, component->rival_capacity);
    micap_release(&world->memory, component, sizeof *component, MICAP_ARRAY_ALIGNMENT);
}

static micap_component *use_one(mica_world *world, const micap_type *type, micap_problem *out_problem)
{
    micap_component *component = micap_component_find(&world->components, type->id);
    if (component)
        return component;
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
    micap_component **location = reserve_place(world, type->id);
    if (location)
        component = micap_allocate_zeroed(&world->memory, sizeof *component, MICAP_ARRAY_ALIGNMENT);
    if (component) {
        component->type = type;
        if (!micap_rivals_find(world, component) || (micap_is_pooled(type->id) && !micap_pools_add(world, type))) {
            release_component(world, component);
            component = NULL;
        }
    }
    if (!component)
        return fail_memory(type, out_problem);
    *location = component;
    /* What hides is never in a pool, so there is none to take back. */
    if (type->type.hides && world->hides && !world->hides(world, type->id)) {
        *location = NULL;
        release_component(world, component);
        return fail_memory(type, out_problem);
    }
    micap_rivals_meet(world, component);
    micap_ranges_watch(world, component);
    ++world->components.used;
    return component;
}

micap_component *micap_component_try(mica_world *world, mica_component id, micap_problem *out_problem)
{
    micap_component *component = micap_component_find(&world->components, id);
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
    if (type->changed && !use_one(world, micap_type_of(type->changed), out_problem))
        return NULL;
    for (uint32_t i = 0; i < type->leaf_count; ++i)
        if (type->leaves[i].component && !use_one(world, micap_type_of(type->leaves[i].component), out_problem))
            return NULL;
    for (uint32_t i = 0; i < type->required_count; ++i)
        if (!micap_component_try(world, type->required[i], out_problem))
            return NULL;
    return use_one(world, type, out_problem);
}

micap_component *micap_component_use(mica_world *world, mica_component id)
{
    micap_problem problem;
    micap_component *component = micap_component_try(world, id, &problem);
    if (!component)
        micap_fail(world, problem.result, (mica_location){0}, "%s", problem.text);
    return component;
}

const micap_type *micap_type_for_entities(mica_world *world, mica_component component)
{
    const micap_component *used = micap_component_use(world, component);
    if (!used)
        return NULL;
    const mica_type *type = &used->type->type;
    if (type->parents) {
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                   "component %s has the links of the hierarchy: they are for queries, and change with mica_set_parent",
                   type->name);
        return NULL;
    }
    if (type->storage == MICA_STORAGE_SINGLETON || used->type->companion != MICAP_COMPANION_NONE) {
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "component %s is not one that an entity can have",
                   type->name);
        return NULL;
    }
    return used->type;
}

bool micap_takes_values(const mica_world *world, const micap_type *type, mica_location location)
{
    if (MICAP_LIKELY(!type->type.relation))
        return true;
    micap_fail(world, MICA_ERROR_INVALID, location, "component %s is a relation: its edges are added with mica_relate",
               type->type.name);
    return false;
}

bool micap_value_fits(const mica_world *world, const micap_type *type, const mica_value *value, mica_location location)
{
    uint32_t bytes = micap_value_bytes(value);
    if (!bytes || bytes == type->type.size_bytes)
        return true;
    micap_fail(world, MICA_ERROR_INVALID, location, "a value of %u bytes was given for component %s, which has %u",
               bytes, type->type.name, type->type.size_bytes);
    return false;
}

bool micap_fail_value(const mica_world *world, const micap_type *type)
{
    micap_fail(world, MICA_ERROR_MEMORY, (mica_location){0}, "a value of %s can't be created", type->type.name);
    return false;
}

bool micap_expect_copyable(const mica_world *world, const micap_type *type, const char *what)
{
    if (MICAP_LIKELY(micap_can_copy(type)))
        return true;
    micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
               "%s: component %s has a destruct function and no copy function", what, type->type.name);
    return false;
}

void micap_components_free(mica_world *world)
{
    micap_components *components = &world->components;
    mica_component id = 0;
    while ((id = micap_component_after(components, id))) {
        micap_component *component = micap_component_of(components, id);
        if (component->singleton) {
            micap_values_destruct(component->type, component->singleton, 1);
            micap_release(&world->memory, component->singleton, component->type->type.size_bytes,
                          component->type->type.alignment);
        }
        micap_removals_free(component->removals);
        MICAP_RELEASE_ARRAY(&world->memory, component->archetypes, component->archetype_capacity);
        release_component(world, component);
    }
    MICAP_RELEASE_ARRAY(&world->memory, components->by_id, components->capacity);
    MICAP_RELEASE_ARRAY(&world->memory, components->pooled, components->pooled_capacity);
}

mica_component mica_component_define(mica_world *world, const mica_type *type)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    if (micap_refuse_inside(world, "component") != MICA_OK)
        return 0;
    const char *problem;
    const micap_type *interned = micap_type_intern(type, &problem);
    if (!interned) {
        micap_fail(world, micap_type_problem_result(problem), (mica_location){0}, "component %s can't be used: %s",
                   type && type->name ? type->name : "without a name", problem);
        return 0;
    }
    return micap_component_use(world, interned->id) ? interned->id : 0;
}

/* Whether a component is no one's data: one that others need, or that has the links of the hierarchy. */
static bool is_without_data(const micap_type *type)
{
    return type->companion != MICAP_COMPANION_NONE || type->type.parents;
}

mica_component mica_component_next(const mica_world *world, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    while ((component = micap_component_after(&world->components, component)))
        if (!is_without_data(micap_component_of(&world->components, component)->type))
            return component;
    return 0;
}

mica_component mica_component_find(const mica_world *world, const char *name)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, name))
        return 0;
    mica_component id = 0;
    while (name && (id = micap_component_after(&world->components, id))) {
        const micap_type *type = micap_component_of(&world->components, id)->type;
        if (type->companion == MICAP_COMPANION_NONE && strcmp(type->type.name, name) == 0)
            return id;
    }
    return 0;
}
