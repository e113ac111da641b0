/* Reloading. The difference of two files is recorded in a buffer of its own and applied by one flush, which is whole or does not
 * happen; when anything can't be recorded, the buffer is dropped and nothing was. Only names are given at once, to entities that
 * are not there yet, and go with those. */
#include "resource/reload/reload.h"

#include "base/argument.h"
#include "resource/reload/reload_match.h"
#include "resource/reload/reload_merge.h"
#include "resource/spawn/spawn_prepare.h"

#include "mica/hierarchy.h"
#include "mica/name.h"

#include <stdio.h>
#include <string.h>

bool micap_reload_fail(micap_reloading *work, mica_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    work->result = micap_report_text(work->world, result, format, arguments);
    va_end(arguments);
    return false;
}

static bool fail_memory(micap_reloading *work)
{
    return micap_reload_fail(work, MICA_ERROR_MEMORY, "reload: out of memory");
}

/* The parent an entity of the new file should have; nil for none. */
static mica_entity parent_of(const micap_reloading *work, uint32_t index, const mica_entity *entities)
{
    uint32_t parent = mica_resource_parent(work->after.resource, index);
    return parent == MICA_NO_PARENT ? work->spawned->def.parent : entities[parent];
}

static micap_siblings *siblings_of(const micap_reloading *work, uint32_t index)
{
    uint32_t parent = mica_resource_parent(work->after.resource, index);
    return &work->siblings[parent == MICA_NO_PARENT ? work->after.resource->header.entity_count : parent];
}

/* An entity that stays moves among its siblings when the file has another order; not when the program gave it away. */
static bool place_known(micap_reloading *work, uint32_t index, const mica_entity *entities)
{
    const mica_resource *old = work->before.resource;
    mica_entity entity = entities[index], parent = parent_of(work, index, entities);
    micap_siblings *siblings = siblings_of(work, index);
    uint32_t old_index = work->old_of_new[index];
    uint32_t position = 1 + (old->positions ? old->positions[old_index] : old_index);
    if (mica_is_nil(parent) || !mica_is_alive(work->world, entity) ||
        !mica_same(mica_parent(work->world, entity), parent))
        return true;
    mica_entity last = siblings->last;
    siblings->last = entity;
    if (position > siblings->position) {
        siblings->position = position;
        return true;
    }
    return mica_command_place_after(work->commands, entity, last) || fail_memory(work);
}

static bool place_new(micap_reloading *work, uint32_t index, const mica_entity *entities)
{
    mica_entity entity = entities[index], parent = parent_of(work, index, entities);
    micap_siblings *siblings = siblings_of(work, index);
    mica_entity last = siblings->last, first = mica_first_child(work->world, parent);
    siblings->last = entity;
    if (mica_is_nil(parent))
        return true;
    if (mica_resource_parent(work->after.resource, index) == MICA_NO_PARENT)
        first = mica_nil(); /* the parent has other children than those of this file */
    bool fine = !mica_is_nil(last)    ? mica_command_place_after(work->commands, entity, last)
                : !mica_is_nil(first) ? mica_command_place_before(work->commands, entity, first)
                                      : mica_command_set_parent(work->commands, entity, parent);
    return fine || fail_memory(work);
}

static bool name_new(micap_reloading *work, uint32_t index, const mica_entity *entities)
{
    const mica_spawn_def *def = &work->spawned->def;
    const char *name = mica_resource_name(work->after.resource, index);
    bool is_root = mica_resource_parent(work->after.resource, index) == MICA_NO_PARENT;
    mica_entity scope = parent_of(work, index, entities);
    if (is_root && mica_is_nil(def->parent))
        scope = def->scope;
    if (!name || def->names == MICA_SPAWN_NAMES_NONE ||
        (is_root && def->names == MICA_SPAWN_NAMES_FREE && !mica_is_nil(mica_find_from(work->world, scope, name))))
        return true;
    work->result = mica_name_set(work->world, entities[index], scope, name);
    return work->result == MICA_OK;
}

bool micap_reload_create(micap_reloading *work, uint32_t copy)
{
    const mica_resource *resource = work->after.resource;
    uint32_t count = resource->header.entity_count;
    mica_entity *entities = micap_reload_new(work, copy);
    memset(work->siblings, 0, (count + (size_t)1) * sizeof *work->siblings);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t index = mica_resource_entity_in_order(resource, i);
        if (work->old_of_new[index] != MICAP_NONE) {
            entities[index] = micap_reload_old(work, copy)[work->old_of_new[index]];
            if (!place_known(work, index, entities))
                return false;
            continue;
        }
        mica_entity parent = parent_of(work, index, entities);
        bool is_root = mica_resource_parent(resource, index) == MICA_NO_PARENT;
        if (!mica_is_alive(work->world, parent) && !(is_root && mica_is_nil(parent)))
            continue;
        entities[index] = mica_command_create_id(work->commands, NULL, 0, MICA_HERE);
        if (mica_is_nil(entities[index]))
            return fail_memory(work);
        ++work->stats.created_count;
        if (!name_new(work, index, entities) || !place_new(work, index, entities))
            return false;
    }
    return true;
}

bool micap_reload_destroy(micap_reloading *work, uint32_t copy)
{
    const mica_resource *resource = work->before.resource;
    for (uint32_t i = resource->header.entity_count; i-- > 0;) { /* children first */
        uint32_t index = mica_resource_entity_in_order(resource, i);
        mica_entity entity = micap_reload_old(work, copy)[index];
        if (work->new_of_old[index] != MICAP_NONE || !mica_is_alive(work->world, entity))
            continue;
        if (!mica_command_destroy_id(work->commands, entity, MICA_HERE))
            return fail_memory(work);
        ++work->stats.destroyed_count;
    }
    return true;
}

/* Values of an entry will be read. */
static void need_room(micap_reloading *work, const micap_entry *entry, size_t *alignment)
{
    size_t bytes =
        entry->type->size_bytes > entry->recipe->size_bytes ? entry->type->size_bytes : entry->recipe->size_bytes;
    work->value_bytes = bytes > work->value_bytes ? bytes : work->value_bytes;
    *alignment = entry->type->alignment > *alignment ? entry->type->alignment : *alignment;
    *alignment = entry->recipe->alignment > *alignment ? entry->recipe->alignment : *alignment;
}

static bool pair_entries(micap_reloading *work)
{
    size_t alignment = MICAP_ALIGNMENT;
    memset(work->new_entry, 0xFF, work->before.entry_count * sizeof *work->new_entry);
    for (uint32_t i = 0; i < work->after.entry_count; ++i) {
        const micap_entry *entry = &work->after.entries[i];
        work->old_entry[i] = MICAP_NONE;
        if (!entry->component)
            continue;
        for (uint32_t j = 0; j < work->before.entry_count; ++j)
            if (work->before.entries[j].component == entry->component) {
                work->old_entry[i] = j;
                work->new_entry[j] = i;
            }
        const mica_type *type = entry->recipe;
        if (micap_scalars_count(type) > MICA_RESOURCE_LEAVES_MAX)
            return micap_reload_fail(work, MICA_ERROR_LIMIT, "reload: component %.80s has too many fields",
                                     entry->block->name);
        if (!micap_scalars_make(&work->scalars[i], work->memory, type))
            return fail_memory(work);
        need_room(work, entry, &alignment);
    }
    for (uint32_t i = 0; i < work->before.entry_count; ++i)
        if (work->before.entries[i].component)
            need_room(work, &work->before.entries[i], &alignment);
    work->value_bytes = (work->value_bytes + alignment - 1) / alignment * alignment;
    work->value_alignment = alignment;
    work->values = micap_allocate(work->memory, 3 * work->value_bytes, alignment);
    return work->values || fail_memory(work);
}

static void *allocate(micap_reloading *work, size_t count, size_t bytes)
{
    return micap_allocate_zeroed(work->memory, count * bytes, MICAP_ARRAY_ALIGNMENT);
}

/* Everything but recording. */
static bool prepare(micap_reloading *work)
{
    size_t old_count = work->before.resource->header.entity_count,
           new_count = work->after.resource->header.entity_count;
    if (new_count * work->copies > UINT32_MAX)
        return micap_reload_fail(work, MICA_ERROR_LIMIT, "reload: more than 2^32 entities");
    if (!micap_spawn_prepare_entries(&work->before) || !micap_spawn_prepare_entries(&work->after)) {
        work->result = work->before.result != MICA_OK ? work->before.result : work->after.result;
        return false;
    }
    work->old_of_new = allocate(work, new_count, sizeof *work->old_of_new);
    work->new_of_old = allocate(work, old_count, sizeof *work->new_of_old);
    work->old_entry = allocate(work, work->after.entry_count, sizeof *work->old_entry);
    work->new_entry = allocate(work, work->before.entry_count, sizeof *work->new_entry);
    work->scalars = allocate(work, work->after.entry_count, sizeof *work->scalars);
    work->entities = allocate(work, new_count * work->copies, sizeof *work->entities);
    work->siblings = allocate(work, new_count + 1, sizeof *work->siblings);
    if (!work->old_of_new || !work->new_of_old || !work->old_entry || !work->new_entry || !work->scalars ||
        !work->entities || !work->siblings || !micap_reload_match(work))
        return fail_memory(work);
    return pair_entries(work);
}

static void release(micap_reloading *work, void *array, size_t count, size_t bytes)
{
    micap_release(work->memory, array, count * bytes, MICAP_ARRAY_ALIGNMENT);
}

static void free_work(micap_reloading *work)
{
    size_t old_count = work->before.resource->header.entity_count,
           new_count = work->after.resource->header.entity_count;
    for (uint32_t i = 0; work->scalars && i < work->after.entry_count; ++i)
        micap_scalars_free(&work->scalars[i], work->memory);
    if (work->values)
        micap_reload_free_values(work);
    if (work->values)
        micap_release(work->memory, work->values, 3 * work->value_bytes, work->value_alignment);
    release(work, work->old_of_new, new_count, sizeof *work->old_of_new);
    release(work, work->new_of_old, old_count, sizeof *work->new_of_old);
    release(work, work->old_entry, work->after.entry_count, sizeof *work->old_entry);
    release(work, work->new_entry, work->before.entry_count, sizeof *work->new_entry);
    release(work, work->scalars, work->after.entry_count, sizeof *work->scalars);
    release(work, work->entities, new_count * work->copies, sizeof *work->entities);
    release(work, work->siblings, new_count + 1, sizeof *work->siblings);
    micap_spawn_free(&work->before);
    micap_spawn_free(&work->after);
}

static bool record(micap_reloading *work)
{
    work->commands = mica_commands_create(work->world);
    if (!work->commands)
        return fail_memory(work);
    mica_commands_set_label(work->commands, "reload");
    work->probe = mica_command_create_id(work->commands, NULL, 0, MICA_HERE);
    bool fine = !mica_is_nil(work->probe) || fail_memory(work);
    for (uint32_t copy = 0; fine && copy < work->copies; ++copy)
        fine = micap_reload_create(work, copy);
    for (uint32_t copy = 0; fine && copy < work->copies; ++copy)
        fine = micap_reload_merge(work, copy) && micap_reload_destroy(work, copy);
    return fine && micap_reload_make_singletons(work) &&
           (micap_spawn_reserve_singletons(&work->after) || fail_memory(work));
}

/* Whether the world has changed. Hooks may fail in rounds of their own when it has. */
static bool apply(micap_reloading *work)
{
    mica_defer(work->world); /* spawn functions record */
    bool fine = record(work);
    if (fine)
        work->result = mica_flush(work->world);
    mica_commands_destroy(work->commands);
    if (!fine)
        mica_flush(work->world);
    return fine && mica_is_alive(work->world, work->probe) && mica_destroy(work->world, work->probe);
}

static void follow(micap_reloading *work)
{
    mica_spawned *spawned = work->spawned;
    uint32_t count = work->after.resource->header.entity_count * work->copies;
    mica_entity *old = spawned->entities;
    uint32_t old_count = spawned->entity_count;
    spawned->entities = work->entities;
    spawned->entity_count = count;
    spawned->resource = work->after.resource;
    work->entities = NULL;
    release(work, old, old_count, sizeof *old);
}

mica_result mica_reload(mica_spawned *spawned, const mica_resource *resource, mica_reload_stats *out_stats)
{
    if (MICAP_MISSING(NULL, spawned) || MICAP_MISSING(spawned->world, resource))
        return MICA_ERROR_INVALID;
    mica_world *world = spawned->world;
    mica_batch *nothing;
    /* Is anything recording? A batch is refused then. */
    mica_result result = mica_batch_begin(world, NULL, 0, &nothing);
    if (result == MICA_OK) {
        mica_batch_cancel(nothing);
        result = mica_flush(world);
    }
    micap_reloading work = {
        .spawned = spawned,
        .world = world,
        .memory = &spawned->memory,
        .copies = spawned->def.copies ? spawned->def.copies : 1,
        .before = {.world = world, .resource = spawned->resource, .def = &spawned->def},
        .after = {.world = world, .resource = resource, .def = &spawned->def},
        .result = result,
    };
    if (result == MICA_OK) {
        if (prepare(&work) && apply(&work)) {
            micap_reload_singletons(&work);
            follow(&work);
        } else {
            work.stats = (mica_reload_stats){0};
        }
        free_work(&work);
    }
    if (out_stats)
        *out_stats = work.stats;
    return work.result;
}
