/* Saving: a world, or some of its entities, as a draft of values that stay where they are; the rest is the draft's. */
#include "base/argument.h"
#include "mica/library.h"
#include "mica/pool.h"
#include "mica/singleton.h"
#include "mica/split.h"
#include "mica/state.h"
#include "resource/save/file_sections.h"
#include "resource/save/save.h"
#include "resource/save/save_order.h"
#include "type/value_bytes.h"

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

/* Whether a component would lose what it owns, since no rule says how it is saved. */
static bool lacks_rule(const micap_saving *work, mica_component component)
{
    return micap_type_needs_rule(mica_component_type(component)) && !rule_for(work, component);
}

static bool is_left_out(const micap_saving *work, mica_component component)
{
    for (uint32_t i = 0; i < work->def->skipped_count; ++i)
        if (work->def->skipped[i] == component)
            return true;
    return work->def->skip_without_rule && lacks_rule(work, component);
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
    if (lacks_rule(work, component))
        return micap_draft_refuse(work->draft, MICA_ERROR_REFUSED, MICAP_NO_RULE, type->name), MICA_DRAFT_NONE;
    bool has_recipe = rule && rule->save && rule->recipe; /* without a function nothing knows how to fill one */
    mica_draft_component_def def = {.type = has_recipe ? rule->recipe : type,
                                    .name = type->name,
                                    .storage = type->storage,
                                    .spawn_order = rule ? rule->spawn_order : 0};
    uint32_t part = mica_draft_component(work->draft, &def);
    if (part == MICA_DRAFT_NONE)
        return part;
    if (!MICAP_RESERVE(work->memory, work->assets, &work->assets_capacity, (uint64_t)part + 1))
        return fail_memory(work), MICA_DRAFT_NONE;
    micap_scalars references;
    bool fine = micap_scalars_make_kind(&references, work->memory, def.type, MICA_KIND_ENTITY);
    bool refers = fine && (references.count || micap_contents_have(def.type, MICA_KIND_ENTITY));
    micap_scalars_free(&references, work->memory);
    fine = micap_scalars_make_kind(&work->assets[part], work->memory, def.type, MICA_KIND_ASSET) && fine;
    work->part_of[component] = part + 1; /* so that the scalars are given back */
    if (!fine)
        return fail_memory(work), MICA_DRAFT_NONE;
    return !refers || micap_saving_index(work) ? part : MICA_DRAFT_NONE;
}

/* A part whose assets are named. */
typedef struct named_part {
    micap_saving *work;
    const micap_draft_part *part;
} named_part;

static bool name_asset(void *at, void *context)
{
    const named_part *named = context;
    const mica_save_def *def = named->work->def;
    mica_asset asset;
    memcpy(&asset, at, sizeof asset);
    const char *path = def->library ? mica_library_path(def->library, asset) : NULL;
    if (asset.path_hash && !path)
        return micap_draft_refuse(named->work->draft, MICA_ERROR_UNKNOWN,
                                  "component %.80s refers to a resource whose path is not known: save with "
                                  "the library it comes from",
                                  named->part->name);
    return !asset.path_hash || mica_draft_asset(named->work->draft, path).path_hash;
}

/* Tells the draft the paths of what instances refer to. */
static bool name_assets(micap_saving *work, uint32_t part, const void *instances, uint32_t count)
{
    named_part named = {work, &work->draft->parts[part]};
    const mica_type *type = named.part->type;
    if (work->assets[part].count)
        MICAP_EACH_REFERENCE(&work->assets[part], type->size_bytes, (uintptr_t)instances, count, reference)
        {
            if (!name_asset(reference, &named))
                return false;
        }
    bool has_contents = micap_contents_have(type, MICA_KIND_ASSET);
    for (uint32_t i = 0; has_contents && i < count; ++i)
        if (!micap_contents_visit(type, (char *)instances + (size_t)i * type->size_bytes, MICA_KIND_ASSET, false,
                                  name_asset, &named))
            return false;
    return true;
}

/* Lends values to the draft, of entities that follow each other in it. */
static bool lend_values(micap_saving *work, uint32_t index, uint32_t part, const char *values, uint32_t count)
{
    return micap_draft_lend(work->draft, index, part, count, values) && name_assets(work, part, values, count);
}

/* Whether a value has to be made for the file, since it does not lie in the world as it does there, or not for long. */
static bool is_made(const mica_type *type, const mica_resource_rule *rule)
{
    return (rule && rule->save) || type->split || !type->size_bytes;
}

static bool make_value(micap_saving *work, mica_entity entity, uint32_t index, mica_component component,
                       const void *value)
{
    const mica_type *type = mica_component_type(component);
    const mica_resource_rule *rule = rule_for(work, component);
    uint32_t part = work->part_of[component] - 1;
    void *instance = mica_draft_add(work->draft, index, part);
    if (!instance)
        return false;
    if (!type->size_bytes)
        return true;
    if (!rule || !rule->save)
        memcpy(instance, value, type->size_bytes);
    else if (!rule->save(work->world, entity, value, instance, rule->context))
        return micap_draft_refuse(work->draft, MICA_ERROR_DATA, "the save function of component %.80s refused",
                                  type->name);
    return name_assets(work, part, instance, 1);
}

static bool save_value(micap_saving *work, mica_entity entity, uint32_t index, mica_component component,
                       const void *value)
{
    const mica_type *type = mica_component_type(component);
    uint32_t part = part_for(work, component);
    if (part == MICA_DRAFT_NONE)
        return false;
    if (!(is_made(type, rule_for(work, component)) ? make_value(work, entity, index, component, value)
                                                   : lend_values(work, index, part, value, 1)))
        return false;
    return !type->toggle || mica_is_nil(entity) || mica_is_enabled_id(work->world, entity, component) ||
           mica_draft_disable(work->draft, part);
}

/* Several instances, in the order they were added. */
static bool save_many(micap_saving *work, mica_entity entity, uint32_t index, mica_component component)
{
    const mica_pool *pool = mica_pool_of_id(work->world, component);
    for (mica_instance at = mica_pool_find(pool, entity); !mica_instance_is_nil(at); at = mica_pool_next(pool, at))
        if (!save_value(work, entity, index, component, mica_instance_read_id(pool, at)))
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
        return save_value(work, entity, index, component, mica_get_id(work->world, entity, component));
    char *whole = micap_allocate(work->memory, type->size_bytes, type->alignment);
    if (!whole)
        return fail_memory(work);
    mica_get_value_id(work->world, entity, component, whole);
    bool fine = save_value(work, entity, index, component, whole);
    micap_release(work->memory, whole, type->size_bytes, type->alignment);
    return fine;
}

/* Whether the values of a component are copied from a column without conversion. */
static bool is_column(const micap_saving *work, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    const mica_resource_rule *rule = rule_for(work, component);
    return type->storage == MICA_STORAGE_TAG ||
           (type->storage == MICA_STORAGE_CHUNK && !type->split && !(rule && rule->save));
}

/* The components that an entity has in its chunk, followed by those in pools; NULL when memory is short. */
static const mica_component *components_of(micap_saving *work, mica_entity entity, uint32_t *out_count)
{
    *out_count = mica_get_components(work->world, entity, work->components, work->component_capacity);
    if (*out_count <= work->component_capacity && work->components)
        return work->components;
    if (!MICAP_RESERVE(work->memory, work->components, &work->component_capacity, (uint64_t)*out_count + 1))
        return fail_memory(work), NULL;
    mica_get_components(work->world, entity, work->components, *out_count);
    return work->components;
}

uint32_t micap_saving_run(micap_saving *work, const mica_entity *entities, uint32_t count)
{
    uint32_t component_count, run = 1;
    const mica_component *components = components_of(work, entities[0], &component_count);
    if (!components)
        return 0;
    for (uint32_t i = 0; i < component_count; ++i) {
        uint32_t size_bytes = mica_component_type(components[i])->size_bytes;
        if (!is_column(work, components[i]) || !size_bytes)
            continue;
        const char *next = mica_get_id(work->world, entities[0], components[i]);
        while (run < count && mica_get_id(work->world, entities[run], components[i]) == (next += size_bytes))
            ++run;
        break; /* values that lie one after the other are of one chunk, and so is the rest */
    }
    return run;
}

/* Finds the columns of a view; what is in pools is saved pool by pool. */
static bool know_view(micap_saving *work, micap_saved_view *view)
{
    uint32_t count;
    const mica_component *components = components_of(work, view->entities[0], &count);
    if (!components ||
        !MICAP_RESERVE(work->memory, work->columns, &work->column_capacity, (uint64_t)work->column_count + count))
        return components && fail_memory(work);
    view->first_column = work->column_count;
    for (uint32_t i = 0; i < count; ++i) {
        const mica_type *type = mica_component_type(components[i]);
        micap_saved_column column = {.component = components[i], .part = MICA_DRAFT_NONE};
        if (type->storage == MICA_STORAGE_POOL || is_left_out(work, components[i]))
            continue;
        if (is_column(work, components[i])) {
            column.part = part_for(work, components[i]);
            if (column.part == MICA_DRAFT_NONE)
                return false;
            if (type->size_bytes)
                column.values = mica_get_id(work->world, view->entities[0], components[i]);
        }
        work->columns[work->column_count++] = column;
        ++view->column_count;
    }
    view->is_known = true;
    return true;
}

static bool save_switches(micap_saving *work, const micap_saved_column *column, const mica_entity *entities,
                          uint32_t count)
{
    uint32_t first = work->draft->parts[column->part].count - count;
    for (uint32_t i = 0; i < count; ++i)
        if (!mica_is_enabled_id(work->world, entities[i], column->component) &&
            !micap_draft_disable_instance(work->draft, column->part, first + i))
            return false;
    return true;
}

/* Saves some rows of a view whose entities are consecutive in the draft. */
static bool save_column(micap_saving *work, const micap_saved_column *column, const micap_saved_view *view,
                        uint32_t row, uint32_t count, uint32_t index)
{
    const mica_type *type = mica_component_type(column->component);
    const mica_entity *entities = view->entities + row;
    if (column->part == MICA_DRAFT_NONE) {
        for (uint32_t i = 0; i < count; ++i)
            if (!save_component(work, entities[i], index + i, column->component))
                return false;
        return true;
    }
    const char *values = column->values ? column->values + (size_t)row * type->size_bytes : NULL;
    bool fine = values ? lend_values(work, index, column->part, values, count)
                       : micap_draft_add_run(work->draft, index, column->part, count) != NULL;
    return fine && (!type->toggle || save_switches(work, column, entities, count));
}

static bool save_rows(micap_saving *work, micap_saved_view *view, uint32_t row, uint32_t count, uint32_t index)
{
    if (!view->is_known && !know_view(work, view))
        return false;
    for (uint32_t i = 0; i < view->column_count; ++i)
        if (!save_column(work, &work->columns[view->first_column + i], view, row, count, index))
            return false;
    return true;
}

/* The view in which an entity was collected. */
static micap_saved_view *view_of(const micap_saving *work, uint32_t collected)
{
    uint32_t low = 0, high = work->view_count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (work->views[middle].first <= collected)
            low = middle;
        else
            high = middle - 1;
    }
    return &work->views[low];
}

static bool save_entities(micap_saving *work)
{
    const uint32_t *order = work->order;
    for (uint32_t i = 0; !order && i < work->view_count; ++i)
        if (!save_rows(work, &work->views[i], 0, work->views[i].count, work->views[i].first))
            return false;
    for (uint32_t i = 0, count; order && i < work->count; i += count) {
        micap_saved_view *view = view_of(work, order[i]);
        uint32_t row = order[i] - view->first;
        for (count = 1; row + count < view->count && i + count < work->count && order[i + count] == order[i] + count;)
            ++count;
        if (!save_rows(work, view, row, count, i))
            return false;
    }
    return true;
}

/* Row by row: there is a row for each that has the component, and for some of the dead. */
static bool save_pool_rows(micap_saving *work, const mica_pool *pool, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    const mica_entity *owners = mica_pool_owners(pool);
    const char *values = type->split ? NULL : mica_pool_read_id(pool);
    for (uint32_t row = 0; row < mica_pool_row_count(pool); ++row) {
        uint32_t index = micap_saving_find(work, owners[row]);
        if (index == MICAP_NONE)
            continue;
        if (!(values ? save_value(work, owners[row], index, component, values + (size_t)row * type->size_bytes)
                     : save_component(work, owners[row], index, component)))
            return false;
    }
    return true;
}

static bool save_pool_owners(micap_saving *work, mica_component component)
{
    for (uint32_t i = 0; i < work->view_count; ++i)
        for (uint32_t row = 0; row < work->views[i].count; ++row) {
            mica_entity entity = work->views[i].entities[row];
            if (mica_has_id(work->world, entity, component) &&
                !save_component(work, entity, micap_saving_find(work, entity), component))
                return false;
        }
    return true;
}

static bool save_pools(micap_saving *work)
{
    for (mica_component id = 0; (id = mica_component_next(work->world, id)) != 0;) {
        const mica_type *type = mica_component_type(id);
        const mica_pool *pool = type->storage == MICA_STORAGE_POOL ? mica_pool_of_id(work->world, id) : NULL;
        if (!pool || !mica_pool_count(pool) || is_left_out(work, id))
            continue;
        /* Several instances of an entity are only in order when visited by entity; a tag has no rows. */
        bool by_rows = !type->many && type->size_bytes && mica_pool_row_count(pool) / 2 <= work->count;
        if (!micap_saving_index(work) || !(by_rows ? save_pool_rows(work, pool, id) : save_pool_owners(work, id)))
            return false;
    }
    return true;
}

static bool save_singletons(micap_saving *work)
{
    for (mica_component id = 0; (id = mica_component_next(work->world, id)) != 0;) {
        /* Asking for one that is not used yet would make it used, and change the world. */
        if (work->def->skip_singletons || !mica_singleton_is_used(work->world, id) || is_left_out(work, id))
            continue;
        if (!save_value(work, mica_nil(), 0, id, mica_singleton_get_id(work->world, id)))
            return false;
    }
    return true;
}

static void free_saving(micap_saving *work)
{
    for (uint32_t i = 0; i < work->part_capacity; ++i)
        if (work->part_of[i])
            micap_scalars_free(&work->assets[work->part_of[i] - 1], work->memory);
    MICAP_RELEASE_ARRAY(work->memory, work->views, work->view_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->columns, work->column_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->entities, work->capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->part_of, work->part_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->assets, work->assets_capacity);
    MICAP_RELEASE_ARRAY(work->memory, work->components, work->component_capacity);
    micap_release(work->memory, work->order, work->count * sizeof(uint32_t), MICAP_ARRAY_ALIGNMENT);
    micap_release(work->memory, work->slots, work->slot_count * sizeof *work->slots, MICAP_ARRAY_ALIGNMENT);
}

static uint32_t find(const void *context, mica_entity reference)
{
    return micap_saving_find(context, reference);
}

static const mica_entity *handles_of(const void *context, uint32_t entity, uint32_t *out_count)
{
    const micap_saving *work = context;
    *out_count = 1;
    if (work->order)
        return &work->entities[work->order[entity]];
    const micap_saved_view *view = view_of(work, entity);
    *out_count = view->first + view->count - entity;
    return view->entities + (entity - view->first);
}

/* A whole world is saved with its state, if it is at rest. */
static bool save_state(micap_saving *work, mica_state **out_state)
{
    if (work->def->entities || work->def->skip_state)
        return true;
    if (work->def->state) {
        work->draft->handles_of = handles_of;
        work->draft->state = work->def->state;
        work->draft->state_bytes = work->def->state_bytes;
        return mica_state_check(work->def->state, work->def->state_bytes) ||
               micap_draft_refuse(work->draft, MICA_ERROR_INVALID, "the state of the def is invalid");
    }
    mica_result result = mica_state_take(work->world, out_state);
    if (result != MICA_OK)
        return result == MICA_ERROR_REFUSED || fail_memory(work);
    work->draft->state = mica_state_bytes(*out_state, &work->draft->state_bytes);
    work->draft->handles_of = handles_of;
    return true;
}

static bool save_all(micap_saving *work, mica_state **out_state)
{
    return micap_saving_order(work) && save_singletons(work) && save_entities(work) && save_pools(work) &&
           save_state(work, out_state);
}

/* Saves to a blob or, if it is NULL, to a file. */
static mica_result save(mica_world *world, const mica_save_def *def, mica_blob *out_blob, const char *path)
{
    static const mica_save_def defaults = {0};
    def = def ? def : &defaults;
    mica_draft *draft = mica_draft_create(&def->allocator);
    if (!draft)
        return mica_world_report(world, MICA_ERROR_MEMORY, "save: out of memory");
    micap_saving work = {.world = world, .def = def, .draft = draft, .memory = &draft->memory};
    draft->find = find;
    draft->find_context = &work;
    mica_draft_finish_def finish = {def->byte_order, def->compression};
    mica_state *state = NULL;
    bool fine = save_all(&work, &state) && (out_blob ? mica_draft_finish(draft, &finish, out_blob)
                                                     : micap_draft_finish_file(draft, &finish, path)) == MICA_OK;
    mica_state_free(state);
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

static bool is_valid_def(mica_world *world, const mica_save_def *def)
{
    return !MICAP_MISSING_ARRAY(world, def->rules, def->rule_count) &&
           !MICAP_MISSING_ARRAY(world, def->skipped, def->skipped_count) &&
           !MICAP_MISSING_ARRAY(world, def->state, def->state_bytes);
}

mica_result mica_pack(mica_world *world, const mica_save_def *def, mica_blob *out_blob)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out_blob) || (def && !is_valid_def(world, def)))
        return MICA_ERROR_INVALID;
    *out_blob = (mica_blob){0};
    return save(world, def, out_blob, NULL);
}

mica_result mica_save(mica_world *world, const char *path, const mica_save_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, path) || (def && !is_valid_def(world, def)))
        return MICA_ERROR_INVALID;
    return save(world, def, NULL, path);
}
