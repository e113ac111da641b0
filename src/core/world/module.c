#include "core/world/module.h"

#include "base/assert.h"
#include "base/hash.h"
#include "core/world/callback.h"

void micap_module_set(mica_world *world, micap_module_id id, const micap_module_ops *ops, void *state)
{
    MICAP_ASSERT(!world->modules[id].ops, "a module registers once");
    world->modules[id] = (micap_module){state, ops};
    world->has_dependents |= ops->each_dependent != NULL;
    world->copies |= ops->copied != NULL;
    world->refuses_deaths |= ops->refuses != NULL;
    world->sees_deaths |= (uint32_t)(ops->destroying != NULL) << id;
}

void micap_modules_see_every_death(mica_world *world)
{
    world->sees_every_death = true;
    for (uint32_t i = 0; i < world->archetypes.count; ++i)
        micap_archetype_update_hooks(world, world->archetypes.by_id[i]);
}

void *micap_module_state(const mica_world *world, micap_module_id id)
{
    return world->modules[id].state;
}

void micap_modules_destroying(mica_world *world, const mica_entity *entities, uint32_t count)
{
    if (count == 1 && !world->sees_every_death && !micap_is_attached(&world->attachments, entities[0].index))
        return;
    uint32_t depth = micap_callback_begin(world);
    for (uint32_t left = world->sees_deaths; left; left &= left - 1) {
        const micap_module *module = &world->modules[MICAP_TRAILING_ZEROS_32(left)];
        module->ops->destroying(world, module->state, entities, count);
    }
    micap_callback_end(world, depth);
}

void micap_modules_each_dependent(mica_world *world, mica_entity entity, micap_dependents_fn fn, void *context)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->each_dependent)
            world->modules[id].ops->each_dependent(world, world->modules[id].state, entity, fn, context);
}

const char *micap_modules_refuse(mica_world *world, mica_entity entity)
{
    const char *what = NULL;
    if (MICAP_LIKELY(!world->refuses_deaths) || !micap_is_attached(&world->attachments, entity.index))
        return NULL;
    for (uint32_t id = 0; id < MICAP_MODULES && !what; ++id)
        if (world->modules[id].ops && world->modules[id].ops->refuses)
            what = world->modules[id].ops->refuses(world, world->modules[id].state, entity);
    return what;
}

bool micap_modules_copied(mica_world *world, const mica_entity *from, const mica_entity *to, uint32_t count)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->copied &&
            !world->modules[id].ops->copied(world, world->modules[id].state, from, to, count))
            return false;
    return true;
}

mica_entity micap_modules_parent(const mica_world *world, mica_entity entity)
{
    mica_entity parent = mica_nil();
    for (uint32_t id = 0; id < MICAP_MODULES && mica_is_nil(parent); ++id)
        if (world->modules[id].ops && world->modules[id].ops->parent)
            parent = world->modules[id].ops->parent(world, world->modules[id].state, entity);
    return parent;
}

bool micap_modules_each_between(mica_world *world, const micap_field_range *range, micap_found_fn fn, void *context)
{
    const micap_module *module = &world->modules[MICAP_MODULE_INDEX];
    return module->ops && module->ops->each_between(world, module->state, range, fn, context);
}

void micap_modules_detach(mica_world *world, mica_entity entity)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->detach)
            world->modules[id].ops->detach(world, world->modules[id].state, entity);
}

void micap_modules_forgotten(mica_world *world, mica_entity entity)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->forgotten)
            world->modules[id].ops->forgotten(world, world->modules[id].state, entity);
}

uint64_t micap_modules_hash(const mica_world *world, bool with_flow)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        if (!world->modules[id].ops || !world->modules[id].ops->hash || (id == MICAP_MODULE_FLOW && !with_flow))
            continue;
        micap_hasher hasher;
        micap_hasher_init(&hasher);
        world->modules[id].ops->hash(world, world->modules[id].state, &hasher);
        if (hasher.length_bytes)
            sum = micap_hash_mix(sum + id + 1) + micap_hasher_finish(&hasher);
    }
    return sum;
}

bool micap_modules_validate(mica_world *world)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->validate &&
            !world->modules[id].ops->validate(world, world->modules[id].state))
            return false;
    return true;
}

void micap_modules_trim(mica_world *world)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->trim)
            world->modules[id].ops->trim(world, world->modules[id].state);
}

void micap_modules_restore_entry(mica_world *world, const struct micap_undo_entry *kept)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->load_kept)
            world->modules[id].ops->load_kept(world, world->modules[id].state, kept);
}

void micap_modules_save_again(mica_world *world, const struct micap_undo_entry *kept)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (world->modules[id].ops && world->modules[id].ops->keep_again)
            world->modules[id].ops->keep_again(world, world->modules[id].state, kept);
}

void micap_modules_free(mica_world *world)
{
    for (uint32_t id = MICAP_MODULES; id-- > 0;) {
        micap_module module = world->modules[id];
        world->modules[id] = (micap_module){0};
        world->sees_deaths &= ~(1u << id);
        if (module.ops && module.ops->free)
            module.ops->free(world, module.state);
    }
}
