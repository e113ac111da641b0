#include "core/storage/singleton.h"

#include "base/argument.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "type/owned.h"
#include "type/values.h"
#include "mica/singleton.h"

micap_component *micap_singleton_prepare(mica_world *world, mica_component id)
{
    micap_component *component = micap_component_use(world, id);
    if (!component || component->singleton)
        return component;
    const micap_type *type = component->type;
    if (type->type.storage != MICA_STORAGE_SINGLETON) {
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                   "component %s is not a singleton: describe it with MICA_SINGLETON", type->type.name);
        return NULL;
    }
    void *value = micap_allocate(&world->memory, type->type.size_bytes, type->type.alignment);
    if (!value || !micap_values_construct(type, value, 1)) {
        micap_release(&world->memory, value, type->type.size_bytes, type->type.alignment);
        micap_fail_memory(world, type->type.name);
        return NULL;
    }
    component->singleton = value;
    component->is_unborn = true;
    return component;
}

static micap_component *singleton_of(mica_world *world, mica_component id)
{
    micap_component *component = micap_singleton_prepare(world, id);
    return component && micap_singleton_show(component) ? component : NULL;
}

void micap_singleton_forget(mica_world *world, mica_component id)
{
    micap_component *component = micap_component_of(&world->components, id);
    const micap_type *type = component->type;
    MICAP_ASSERT(component->singleton && (type->trivial || micap_owned_is_derived(&type->type)),
                 "it is used, and zero is a value of it");
    micap_values_destruct(type, component->singleton, 1);
    memset(component->singleton, 0, type->type.size_bytes);
    component->is_unborn = true;
}

const void *mica_singleton_get_id(mica_world *world, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    micap_check_access(world, mica_nil(), component, false);
    const micap_component *used = singleton_of(world, component);
    return used ? used->singleton : NULL;
}

void *mica_singleton_write_id(mica_world *world, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    micap_check_access(world, mica_nil(), component, true);
    micap_component *used = singleton_of(world, component);
    return used ? used->singleton : NULL;
}

bool mica_singleton_is_used(const mica_world *world, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const micap_component *used = micap_component_find(&world->components, component);
    return used && used->singleton && !used->is_unborn;
}
