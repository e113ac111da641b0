/* Saving: a world, or some of its entities, as a draft; the rest is the draft's. */
#include "mica/draft.h"
#include "mica/hierarchy.h"
#include "mica/library.h"
#include "mica/name.h"
#include "mica/pool.h"
#include "mica/query.h"
#include "mica/singleton.h"
#include "resource/draft.h"

#include <stdio.h>
#include <string.h>

typedef struct micap_saving {
    mica_world *world;
    const mica_save_def *def;
    mica_draft *draft;
    micap_memory *memory;
    mica_entity *entities; /* in order: parents before children */
    uint32_t count;
    uint32_t capacity;
    uint32_t *parents; /* among `entities`, or MICAP_NONE */
    uint32_t parents_capacity;
    uint32_t *index_of; /* by slot of the handle: 1 + draft index, 0 for what is not saved */
    uint32_t slot_count;
    uint32_t *part_of; /* by component id: 1 + draft component */
    uint32_t part_capacity;
    micap_leaves *leaves; /* by draft component: the fields of the component in the world */
    uint32_t leaves_capacity;
    micap_leaves *references;
    uint32_t references_capacity;
    micap_leaves *assets;
    uint32_t assets_capacity;
} saving;

static bool fail_memory(saving *work)
{
    return micap_draft_refuse_memory(work->draft);
}

static bool append_entities(saving *work, const mica_entity *entities, uint32_t count)
{
    if (!MICAP_RESERVE(work->memory, work->entities, &work->capacity, (uint64_t)work->count + count))
        return fail_memory(work);
    for (uint32_t i = 0; i < count; ++i) {
        if (!mica_is_alive(work->world, entities[i]))
            continue;
        work->entities[work->count++] = entities[i];
        if (entities[i].index >= work->slot_count)
            work->slot_count = entities[i].index + 1;
    }
    return true;
}

static bool collect_entities(saving *work)
{
    if (work->def->entities)
        return append_entities(work, work->def->entities, work->def->entity_count);
    mica_query *all = mica_query_create(work->world, &(mica_query_def){.name = "save"});
    bool fine = all || fail_memory(work);
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        fine = fine && append_entities(work, view.entities, view.count);
    mica_query_destroy(all);
    return fine;
}

static mica_entity parent_of(const saving *work, mica_entity entity)
{
    if (work->def->parent)
        return work->def->parent(work->world, entity, work->def->parent_context);
    mica_entity parent = mica_parent(work->world, entity);
    return mica_is_nil(parent) ? mica_name_scope_of(work->world, entity) : parent;
}

/* 1 + the index among the entities as they were collected, repetitions dropped. */
static bool index_entities(saving *work)
{
    work->index_of = micap_allocate_zeroed(work->memory, work->slot_count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
    if (!work->index_of)
        return fail_memory(work);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < work->count; ++i) {
        mica_entity entity = work->entities[i];
        if (work->index_of[entity.index])
            continue;
        work->entities[kept] = entity;
        work->index_of[entity.index] = ++kept;
    }
    work->count = kept;
    return true;
}

static uint32_t find_index(const saving *work, mica_entity entity)
{
    if (mica_is_nil(entity) || entity.index >= work->slot_count || !work->index_of[entity.index] ||
        !mica_is_alive(work->world, entity))
        return MICAP_NONE;
    return work->index_of[entity.index] - 1;
}

/* Depth first, children in the order they were collected: links through three arrays, no recursion. */
typedef struct micap_family {
    uint32_t *parent, *first_child, *last_child, *next;
} family;

static void append_child(family family, uint32_t child)
{
    uint32_t parent = family.parent[child];
    if (parent == MICAP_NONE)
        return;
    bool is_first = family.first_child[parent] == MICAP_NONE;
    *(is_first ? &family.first_child[parent] : &family.next[family.last_child[parent]]) = child;
    family.last_child[parent] = child;
}

static void find_family(const saving *work, family family)
{
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t parent = find_index(work, parent_of(work, work->entities[i]));
        family.parent[i] = parent == i ? MICAP_NONE : parent;
    }
    /* Linked children have an order of their own; the others come as they were collected. */
    for (uint32_t i = 0; !work->def->parent && i < work->count; ++i)
        for (mica_entity child = mica_first_child(work->world, work->entities[i]); !mica_is_nil(child);
             child = mica_next_sibling(work->world, child))
            if (find_index(work, child) != MICAP_NONE)
                append_child(family, find_index(work, child));
    for (uint32_t i = 0; i < work->count; ++i)
        if (work->def->parent || mica_is_nil(mica_parent(work->world, work->entities[i])))
            append_child(family, i);
}

/* Returns how many were reached from a root: fewer than all when parents go round in a circle. */
static uint32_t walk_family(const saving *work, family family, uint32_t *out_order)
{
    uint32_t count = 0;
    for (uint32_t root = 0; root < work->count; ++root) {
        if (family.parent[root] != MICAP_NONE)
            continue;
        for (uint32_t at = root; at != MICAP_NONE;) {
            out_order[count++] = at;
            if (family.first_child[at] != MICAP_NONE) {
                at = family.first_child[at];
                continue;
            }
            while (at != root && family.next[at] == MICAP_NONE)
                at = family.parent[at];
            at = at == root ? MICAP_NONE : family.next[at];
        }
    }
    return count;
}

static bool draft_entities(saving *work, const uint32_t *order, const uint32_t *parents, uint32_t *draft_index)
{
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t at = order[i], parent = parents[at];
        draft_index[at] = mica_draft_entity(work->draft, parent == MICAP_NONE ? MICA_NO_PARENT : draft_index[parent],
                                            mica_name_of(work->world, work->entities[at]));
        if (draft_index[at] == MICA_DRAFT_NONE)
            return false;
    }
    for (uint32_t i = 0; i < work->count; ++i)
        work->index_of[work->entities[i].index] = draft_index[i] + 1;
    return true;
}

static bool order_entities(saving *work)
{
    size_t bytes = (size_t)work->count * sizeof(uint32_t);
    uint32_t *all = micap_allocate(work->memory, 6 * bytes, MICAP_ARRAY_ALIGNMENT);
    if (!all)
        return fail_memory(work);
    memset(all, 0xFF, 6 * bytes);
    uint32_t *column[6];
    for (uint32_t i = 0; i < 6; ++i)
        column[i] = all + (size_t)i * work->count;
    family family = {column[0], column[1], column[2], column[3]};
    find_family(work, family);
    bool fine =
        walk_family(work, family, column[4]) == work->count ||
        micap_draft_refuse(work->draft, MICA_ERROR_INVALID, "the parents of some entities go round in a circle");
    fine = fine && draft_entities(work, column[4], family.parent, column[5]);
    /* Entities in the order of the draft, so that values are added in that order too. */
    for (uint32_t i = 0; fine && i < work->count; ++i)
        column[0][column[5][i]] = i;
    mica_entity *sorted = micap_allocate(work->memory, work->count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    fine = fine && (sorted || fail_memory(work));
    for (uint32_t i = 0; fine && i < work->count; ++i)
        sorted[i] = work->entities[column[0][i]];
    if (fine && work->count)
        memcpy(work->entities, sorted, work->count * sizeof *sorted);
    micap_release(work->memory, sorted, work->count * sizeof *sorted, MICAP_ARRAY_ALIGNMENT);
    micap_release(work->memory, all, 6 * bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

static const mica_resource_rule *rule_for(const saving *work, mica_component component)
{
    for (uint32_t i = 0; i < work->def->rule_count; ++i)
        if (work->def->rules[i].component == component)
            return &work->def->rules[i];
    return NULL;
}

/* The draft component of a component of the world, added on first sight; MICA_DRAFT_NONE when it can't. */
static uint32_t part_for(saving *work, mica_component component)
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
    mica_draft_component_def def = {.type = rule && rule->recipe ? rule->recipe : type,
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

static void remap(const saving *work, uint32_t part, void *instance)
{
    const micap_leaves *references = &work->references[part];
    if (references->count)
        MICAP_EACH_REFERENCE(references, 0, instance, 1, reference)
        {
            mica_entity entity;
            memcpy(&entity, reference, sizeof entity);
            uint32_t index = find_index(work, entity);
            entity = index == MICAP_NONE ? mica_nil() : (mica_entity){index, 1};
            memcpy(reference, &entity, sizeof entity);
        }
}

/* Tells the draft the paths of what an instance refers to. */
static bool name_assets(saving *work, uint32_t part, mica_component component, void *instance)
{
    if (work->assets[part].count)
        MICAP_EACH_REFERENCE(&work->assets[part], 0, instance, 1, reference)
        {
            mica_asset asset;
            memcpy(&asset, reference, sizeof asset);
            const char *path = work->def->library ? mica_library_path(work->def->library, asset) : NULL;
            if (asset.path_hash && !path)
                return micap_draft_refuse(work->draft, MICA_ERROR_UNKNOWN,
                                          "component %.80s refers to a resource whose path is not known: save with "
                                          "the library it comes from",
                                          mica_component_type(component)->name);
            if (asset.path_hash && !mica_draft_asset(work->draft, path).path_hash)
                return false;
        }
    return true;
}

static bool save_value(saving *work, mica_entity entity, uint32_t index, mica_component component, const void *value)
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
        } else if (value) {
            micap_leaves_copy(&work->leaves[part], type->size_bytes, instance, value, 1);
        }
        remap(work, part, instance);
        if (!name_assets(work, part, component, instance))
            return false;
    }
    return !type->toggle || mica_is_nil(entity) || mica_is_enabled_component(work->world, entity, component) ||
           mica_draft_disable(work->draft, part);
}

/* Several instances, in the order they were added. */
static bool save_many(saving *work, mica_entity entity, uint32_t index, mica_component component)
{
    mica_pool *pool = mica_pool_of_component(work->world, component);
    if (!pool)
        return fail_memory(work);
    for (mica_instance at = mica_pool_find(pool, entity); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
        if (!save_value(work, entity, index, component, mica_instance_read_value(pool, at)))
            return false;
    return true;
}

static bool save_component(saving *work, mica_entity entity, uint32_t index, mica_component component)
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
    bool fine = mica_get_component_value(work->world, entity, component, whole) &&
                save_value(work, entity, index, component, whole);
    micap_release(work->memory, whole, type->size_bytes, type->alignment);
    return fine;
}

static bool save_entity(saving *work, uint32_t index)
{
    mica_component few[64], *components = few;
    mica_entity entity = work->entities[index];
    uint32_t count = mica_components_of(work->world, entity, few, 64), capacity = 0;
    bool fine = true;
    if (count > 64) {
        components = NULL;
        fine = MICAP_RESERVE(work->memory, components, &capacity, count) || fail_memory(work);
        if (fine)
            mica_components_of(work->world, entity, components, count);
    }
    for (uint32_t i = 0; fine && i < count; ++i)
        fine = save_component(work, entity, index, components[i]);
    if (components != few)
        MICAP_RELEASE_ARRAY(work->memory, components, capacity);
    return fine;
}

static bool save_singletons(saving *work)
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

static void free_saving(saving *work)
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
    micap_release(work->memory, work->index_of, work->slot_count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
}

static bool save_all(saving *work)
{
    bool fine = collect_entities(work) && index_entities(work) && order_entities(work) && save_singletons(work);
    for (uint32_t i = 0; fine && i < work->count; ++i)
        fine = save_entity(work, i);
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
    saving work = {.world = world, .def = def, .draft = draft, .memory = &draft->memory};
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
