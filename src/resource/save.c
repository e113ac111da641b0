/* Saving: a world, or some of its entities, as a draft; the rest is the draft's. */
#include "mica/library.h"
#include "mica/pool.h"
#include "mica/singleton.h"
#include "mica/split.h"
#include "resource/saving.h"

#include <stdio.h>
#include <string.h>

static bool fail_memory(micap_saving *work)
{
    return micap_draft_refuse_memory(work->draft);
}

static const mica_resource_rule *rule_for(const micap_saving *work, mica_component component)
{
    for (uint32_t i = 0; i < work->def->rule_count; ++i)
        if (work->def->rules[i].component == component)
            return &work->def->rules[i];
    return NULL;
}

/* The draft component of a component of the world, added on first sight; MICA_DRAFT_NONE when it can't. */
static uint32_t part_for(micap_saving *work, mica_component component)
{
    uint32_t before = work->part_capacity;
    if (!MICAP_RESERVE(work->memory, work->part_of, &work->part_capacity, (uint64_t)component + 1))
        return fail_memory(work), MICA_DRAFT_NONE;
    if (before < work->part_capacity)
        memset(work->part_of + before, 0, (work->part_capacity - before) * sizeof *work->part_of);
    if (work->part_of[component])
        return work->part_of[component] - 1;
    const mica_type *type = mica_component_type(component);
    const mica_resource_rule *rule = rule_for(work, component);
    bool has_recipe = rule && rule->save && rule->recipe; /* without a function nothing knows how to fill one */
    mica_draft_component_def def = {.type = has_recipe ? rule->recipe : type,
                                    .name = type->name,
                                    .storage = type->storage,
                                    .spawn_order = rule ? rule->spawn_order : 0};
    uint32_t part = mica_draft_component(work->draft, &def);
    if (part == MICA_DRAFT_NONE)
        return part;
    if (!MICAP_RESERVE(work->memory, work->leaves, &work->leaves_capacity, (uint64_t)part + 1) ||
        !MICAP_RESERVE(work->memory, work->references, &work->references_capacity, (uint64_t)part + 1) ||
        !MICAP_RESERVE(work->memory, work->assets, &work->assets_capacity, (uint64_t)part + 1))
        return fail_memory(work), MICA_DRAFT_NONE;
    bool fine = micap_leaves_make(&work->leaves[part], work->memory, def.type);
    fine = micap_leaves_make_kind(&work->references[part], work->memory, def.type, MICA_KIND_ENTITY) && fine;
    fine = micap_leaves_make_kind(&work->assets[part], work->memory, def.type, MICA_KIND_ASSET) && fine;
    work->part_of[component] = part + 1; /* so that the leaves are given back */
    if (!fine)
        return fail_memory(work), MICA_DRAFT_NONE;
    return part;
}

/* Handles become indices of the draft. */
static void remap(const micap_saving *work, uint32_t part, void *instances, uint32_t count)
{
    const micap_leaves *references = &work->references[part];
    uint32_t size_bytes = work->draft->parts[part].type->size_bytes;
    if (references->count)
        MICAP_EACH_REFERENCE(references, size_bytes, instances, count, reference)
        {
            mica_entity entity;
            memcpy(&entity, reference, sizeof entity);
            uint32_t index = micap_saving_find(work, entity);
            entity = index == MICAP_NONE ? mica_nil() : (mica_entity){index, 1};
            memcpy(reference, &entity, sizeof entity);
        }
}

/* Tells the draft the paths of what instances refer to. */
static bool name_assets(micap_saving *work, uint32_t part, void *instances, uint32_t count)
{
    const micap_draft_part *about = &work->draft->parts[part];
    if (work->assets[part].count)
        MICAP_EACH_REFERENCE(&work->assets[part], about->type->size_bytes, instances, count, reference)
        {
            mica_asset asset;
            memcpy(&asset, reference, sizeof asset);
            const char *path = work->def->library ? mica_library_path(work->def->library, asset) : NULL;
            if (asset.path_hash && !path)
                return micap_draft_refuse(work->draft, MICA_ERROR_UNKNOWN,
                                          "component %.80s refers to a resource whose path is not known: save with "
                                          "the library it comes from",
                                          about->name);
            if (asset.path_hash && !mica_draft_asset(work->draft, path).path_hash)
                return false;
        }
    return true;
}

static bool save_value(micap_saving *work, mica_entity entity, uint32_t index, mica_component component,
                       const void *value)
{
    uint32_t part = part_for(work, component);
    void *instance = part == MICA_DRAFT_NONE ? NULL : mica_draft_add(work->draft, index, part);
    if (!instance)
        return false;
    const mica_type *type = mica_component_type(component);
    const mica_resource_rule *rule = rule_for(work, component);
    if (type->size_bytes) {
        if (rule && rule->save) {
            if (!rule->save(work->world, entity, value, instance, rule->context))
                return micap_draft_refuse(work->draft, MICA_ERROR_DATA, "the save function of component %.80s refused",
                                          type->name);
        } else {
            micap_leaves_copy(&work->leaves[part], type->size_bytes, instance, value, 1);
        }
        remap(work, part, instance, 1);
        if (!name_assets(work, part, instance, 1))
            return false;
    }
    return !type->toggle || mica_is_nil(entity) || mica_is_enabled_component(work->world, entity, component) ||
           mica_draft_disable(work->draft, part);
}

/* Several instances, in the order they were added. */
static bool save_many(micap_saving *work, mica_entity entity, uint32_t index, mica_component component)
{
    const mica_pool *pool = mica_pool_of_component(work->world, component);
    for (mica_instance at = mica_pool_find(pool, entity); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
        if (!save_value(work, entity, index, component, mica_instance_read_value(pool, at)))
            return false;
    return true;
}

static bool save_component(micap_saving *work, mica_entity entity, uint32_t index, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    if (type->many && type->split)
        return micap_draft_refuse(work->draft, MICA_ERROR_REFUSED,
                                  "component %.80s is split and many: it can't be saved", type->name);
    if (type->many)
        return save_many(work, entity, index, component);
    if (!type->split)
        return save_value(work, entity, index, component, mica_get_component(work->world, entity, component));
    char *whole = micap_allocate(work->memory, type->size_bytes, type->alignment);
    if (!whole)
        return fail_memory(work);
    mica_get_component_value(work->world, entity, component, whole);
    bool fine = save_value(work, entity, index, component, whole);
    micap_release(work->memory, whole, type->size_bytes, type->alignment);
    return fine;
}

/* Values that lie one after the other, of entities that do so in the draft. */
static bool save_column(micap_saving *work, uint32_t index, mica_component component, uint32_t count)
{
    uint32_t part = part_for(work, component);
    char *instances = part == MICA_DRAFT_NONE ? NULL : micap_draft_add_run(work->draft, index, part, count);
    if (!instances)
        return false;
    uint32_t size_bytes = mica_component_type(component)->size_bytes;
    if (!size_bytes)
        return true;
    micap_leaves_copy(&work->leaves[part], size_bytes, instances,
                      mica_get_component(work->world, work->entities[index], component), count);
    remap(work, part, instances, count);
    return name_assets(work, part, instances, count);
}

/* Whether the values of a component are saved as they lie in a column. */
static bool is_column(const micap_saving *work, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    return (type->storage == MICA_STORAGE_CHUNK || type->storage == MICA_STORAGE_TAG) && !type->toggle &&
           !type->split && !rule_for(work, component);
}

/* The components of an entity; NULL when memory is short. */
static const mica_component *components_of(micap_saving *work, mica_entity entity, uint32_t *out_count)
{
    *out_count = mica_components_of(work->world, entity, work->components, work->component_capacity);
    if (*out_count <= work->component_capacity && work->components)
        return work->components;
    if (!MICAP_RESERVE(work->memory, work->components, &work->component_capacity, (uint64_t)*out_count + 1))
        return fail_memory(work), NULL;
    mica_components_of(work->world, entity, work->components, *out_count);
    return work->components;
}

/* How many entities of the draft from this one on have their values of a component one after the other: then they lie in one
 * chunk, and have the same columns. */
static uint32_t find_run(const micap_saving *work, uint32_t index, mica_component component)
{
    uint32_t size_bytes = mica_component_type(component)->size_bytes, count = 1;
    const char *next = mica_get_component(work->world, work->entities[index], component);
    while (index + count < work->count &&
           mica_get_component(work->world, work->entities[index + count], component) == (next += size_bytes))
        ++count;
    return count;
}

/* Whatever an entity has that is not saved as a column. */
static bool save_rest(micap_saving *work, uint32_t index)
{
    uint32_t count;
    const mica_component *components = components_of(work, work->entities[index], &count);
    for (uint32_t i = 0; components && i < count; ++i)
        if (!is_column(work, components[i]) && !save_component(work, work->entities[index], index, components[i]))
            return false;
    return components != NULL;
}

/* Saves an entity, and those behind it that lie with it: columns as a whole, and the rest one by one. Returns how many that
 * were, or 0. */
static uint32_t save_run(micap_saving *work, uint32_t index)
{
    uint32_t component_count, column_count = 0, count = 1;
    const mica_component *components = components_of(work, work->entities[index], &component_count);
    for (uint32_t i = 0; components && i < component_count && count == 1; ++i)
        if (is_column(work, components[i]) && mica_component_type(components[i])->size_bytes)
            count = find_run(work, index, components[i]);
    for (uint32_t i = 0; components && i < component_count; ++i)
        if (is_column(work, components[i])) {
            ++column_count;
            if (!save_column(work, index, components[i], count))
                return 0;
        }
    bool has_rest = column_count < component_count || work->has_pools;
    for (uint32_t i = 0; components && has_rest && i < count; ++i)
        if (!save_rest(work, index + i))
            return 0;
    return components ? count : 0;
}

static bool save_singletons(micap_saving *work)
{
    for (mica_component id = 0; (id = mica_component_next(work->world, id)) != 0;) {
        if (work->def->skip_singletons || mica_component_type(id)->storage != MICA_STORAGE_SINGLETON)
            continue;
        const void *value = mica_singleton_get(work->world, id);
        if (!value)
            return fail_memory(work);
        if (!save_value(work, mica_nil(), 0, id, value))
            return false;
    }
    return true;
}

static void free_saving(micap_saving *work)
{
    for (uint32_t i = 0; i < work->part_capacity; ++i)
        if (work->part_of[i]) {
            micap_leaves_free(&work->leaves[work->part_of[i] - 1], work->memory);
            micap_leaves_free(&work->references[work->part_of[i] - 1], work->memory);
            micap_leaves_free(&work->assets[work->part_of[i] - 1], work->memory);
        }
    MICAP_RELEASE_ARRAY(work->memory, work->entities, work->capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->part_of, work->part_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->leaves, work->leaves_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->references, work->references_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->assets, work->assets_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->components, work->component_capacity);
    micap_release(work->memory, work->index_of, work->slot_count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
}

static bool save_all(micap_saving *work)
{
    bool fine = micap_saving_order(work) && save_singletons(work);
    for (mica_component id = 0; (id = mica_component_next(work->world, id)) != 0;)
        work->has_pools = work->has_pools || mica_component_type(id)->storage == MICA_STORAGE_POOL;
    for (uint32_t i = 0, count; fine && i < work->count; i += count) {
        count = save_run(work, i);
        fine = count != 0;
    }
    return fine;
}

mica_result mica_pack(mica_world *world, const mica_save_def *def, mica_blob *out_blob)
{
    static const mica_save_def defaults = {0};
    *out_blob = (mica_blob){0};
    def = def ? def : &defaults;
    mica_draft *draft = mica_draft_create(&def->allocator);
    if (!draft)
        return mica_world_report(world, MICA_ERROR_MEMORY, "save: out of memory");
    micap_saving work = {.world = world, .def = def, .draft = draft, .memory = &draft->memory};
    mica_draft_finish_def finish = {def->byte_order, def->compression};
    bool fine = save_all(&work) && mica_draft_finish(draft, &finish, out_blob) == MICA_OK;
    free_saving(&work);
    mica_result result = MICA_OK;
    if (!fine) {
        char text[300];
        snprintf(text, sizeof text, "save: %s", draft->error.text);
        result = mica_world_report(world, draft->error.result, text);
    }
    mica_draft_destroy(draft);
    return result;
}

mica_result mica_save(mica_world *world, const char *path, const mica_save_def *def)
{
    mica_blob blob;
    mica_resource_error error;
    mica_result result = mica_pack(world, def, &blob);
    if (result == MICA_OK) {
        result = mica_write_file(path, blob.bytes, blob.byte_count, &error);
        if (result != MICA_OK)
            mica_world_report(world, result, error.text);
    }
    mica_blob_free(&blob);
    return result;
}
