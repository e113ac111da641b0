/* Spawning: everything that can fail is prepared first, then all entities are made at once, one group of equal component
 * sets after the other, their columns copied out of the file. Values that need more (another layout, a rule of the
 * program, references) are completed in place before any hook runs. */
#include "resource/spawn.h"

#include "mica/bulk.h"
#include "mica/name.h"
#include "mica/singleton.h"

#include <string.h>

static void remap(const micap_spawning *work, const micap_leaves *references, uint32_t size_bytes, void *values,
                  uint64_t count)
{
    if (!references->count)
        return;
    MICAP_EACH_REFERENCE(references, size_bytes, values, count, reference)
    {
        mica_entity entity;
        memcpy(&entity, reference, sizeof entity);
        if (mica_is_nil(entity))
            continue;
        memcpy(reference, &work->entities[entity.index], sizeof entity);
    }
}

/* Which instance belongs to the entity at a position. The group says so for all that lie one after the other. */
static uint32_t first_instance(const micap_spawning *work, const micap_entry *entry, uint32_t entity)
{
    const mica_resource *resource = work->resource;
    const micap_group_record *group = micap_group_of(resource, entity);
    uint32_t component = (uint32_t)(entry->block - resource->blocks);
    for (uint32_t i = 0; i < group->column_count; ++i) {
        const micap_column_record *column = micap_record(resource, MICAP_SECTION_COLUMNS, group->first_column + i);
        if (column->component == component)
            return column->first_instance + (entity - group->first_entity);
    }
    return MICAP_NONE;
}

/* Runs the program's spawn function over instances in the layout it wants, with references remapped. */
static bool run_spawn_function(micap_spawning *work, const micap_entry *entry, mica_spawn_run run, uint32_t instance)
{
    const micap_block *block = entry->block;
    size_t bytes = (size_t)run.count * entry->recipe->size_bytes;
    char *scratch = NULL;
    run.instances = NULL;
    if (block->role != MICAP_ROLE_TAG) {
        /* Over-aligned recipes are aligned as they ask for. */
        size_t alignment = entry->recipe->alignment > MICAP_ALIGNMENT ? entry->recipe->alignment : MICAP_ALIGNMENT;
        scratch = micap_allocate_zeroed(&work->memory, bytes, alignment);
        if (!scratch)
            return micap_spawn_fail_memory(work);
        micap_plan_apply(&entry->plan, scratch, block->instances + (size_t)instance * block->type->size_bytes,
                         run.count, work->entities);
        run.instances = scratch;
        bool fine = entry->rule->spawn(&run, entry->rule->context);
        micap_release(&work->memory, scratch, bytes, alignment);
        return fine || micap_spawn_fail(work, MICA_ERROR_DATA, "spawn: the spawn function of component %.80s refused",
                                        block->name);
    }
    return entry->rule->spawn(&run, entry->rule->context) ||
           micap_spawn_fail(work, MICA_ERROR_DATA, "spawn: the spawn function of component %.80s refused", block->name);
}

static bool complete_entry(micap_spawning *work, const micap_entry *entry)
{
    bool has_spawn = entry->rule && entry->rule->spawn;
    if (!entry->component || entry->is_separate || entry->block->role == MICAP_ROLE_SINGLETON ||
        (!has_spawn && (entry->block->role == MICAP_ROLE_TAG || (entry->is_column && !entry->block->references.count))))
        return true;
    for (mica_batch_run run = {.component = entry->component}; mica_batch_next(work->batch, &run);) {
        uint32_t instance = first_instance(work, entry, run.first);
        if (instance == MICAP_NONE)
            continue;
        if (has_spawn) {
            mica_spawn_run rows = {work->world, entry->component, run.count, run.entities, NULL, run.values};
            if (!run_spawn_function(work, entry, rows, instance))
                return false;
            continue;
        }
        if (entry->is_column)
            remap(work, &entry->block->references, entry->type->size_bytes, run.values, run.count);
        else
            micap_plan_apply(&entry->plan, run.values,
                             entry->block->instances + (size_t)instance * entry->block->type->size_bytes, run.count,
                             work->entities);
    }
    return true;
}

static bool name_entities(micap_spawning *work)
{
    const mica_resource *resource = work->resource;
    uint32_t count = work->def->names == MICA_SPAWN_NAMES_NONE ? 0 : micap_count_of(resource, MICAP_SECTION_NAMES);
    for (uint32_t i = 0; i < count; ++i) {
        const micap_name_record *name = micap_record(resource, MICAP_SECTION_NAMES, i);
        uint32_t parent = mica_resource_parent(resource, name->entity);
        mica_entity scope = parent == MICA_NO_PARENT ? work->def->scope : work->entities[parent];
        const char *text = micap_text(resource, name->text);
        if (parent == MICA_NO_PARENT && work->def->names == MICA_SPAWN_NAMES_FREE &&
            !mica_is_nil(mica_find_from(work->world, scope, text)))
            continue;
        work->result = mica_name_set(work->world, work->entities[name->entity], scope, text);
        if (work->result != MICA_OK)
            return false;
    }
    return true;
}

static bool link_parents(micap_spawning *work)
{
    const mica_resource *resource = work->resource;
    if (!work->def->link || !resource->header.entity_count)
        return true;
    const micap_part *order = resource->single[MICAP_SECTION_ORDER];
    mica_spawn_links links = {
        .entities = work->entities,
        .parents = micap_record(resource, MICAP_SECTION_PARENTS, 0),
        .order = order ? (const uint32_t *)(const void *)order->data : NULL,
        .count = resource->header.entity_count,
    };
    work->result = work->def->link(work->world, &links, work->def->link_context);
    return work->result == MICA_OK;
}

/* The values of components that are not in chunks, one by one, through the door that every storage has. */
static bool give_one(micap_spawning *work, const micap_entry *entry, uint32_t instance, mica_entity owner)
{
    const micap_block *block = entry->block;
    if (!mica_is_alive(work->world, owner)) /* a hook may have killed it */
        return true;
    void *value = mica_add_component(work->world, owner, entry->component);
    if (!value) {
        work->result = MICA_ERROR_MEMORY; /* the world has said more */
        return false;
    }
    if (entry->rule && entry->rule->spawn)
        return run_spawn_function(work, entry, (mica_spawn_run){work->world, entry->component, 1, &owner, NULL, value},
                                  instance);
    micap_plan_apply(&entry->plan, value, block->instances + (size_t)instance * block->type->size_bytes, 1,
                     work->entities);
    return true;
}

static bool give_separate(micap_spawning *work, const micap_entry *entry)
{
    const micap_block *block = entry->block;
    if (!entry->component || !entry->is_separate)
        return true;
    if (block->owners) {
        for (uint32_t i = 0; i < block->instance_count; ++i) {
            if (i && block->owners[i] == block->owners[i - 1])
                return micap_spawn_fail(work, MICA_ERROR_REFUSED,
                                        "spawn: an entity has several instances of component %.80s", block->name);
            if (!give_one(work, entry, i, work->entities[block->owners[i]]))
                return false;
        }
        return true;
    }
    for (uint32_t g = 0; g < work->group_count; ++g) {
        const micap_group_record *group = micap_record(work->resource, MICAP_SECTION_GROUPS, g);
        uint32_t instance = first_instance(work, entry, group->first_entity);
        for (uint32_t i = 0; instance != MICAP_NONE && i < group->entity_count; ++i)
            if (!give_one(work, entry, instance + i, work->entities[group->first_entity + i]))
                return false;
    }
    return true;
}

static void give_singleton(micap_spawning *work, const micap_entry *entry)
{
    if (!entry->component || entry->block->role != MICAP_ROLE_SINGLETON || work->def->skip_singletons)
        return;
    void *value = mica_singleton_write(work->world, entry->component);
    if (entry->rule && entry->rule->spawn) {
        run_spawn_function(work, entry, (mica_spawn_run){work->world, entry->component, 1, NULL, NULL, value}, 0);
        return;
    }
    micap_plan_apply(&entry->plan, value, entry->block->instances, 1, work->entities);
}

static void switch_off(micap_spawning *work, const micap_entry *entry)
{
    const micap_block *block = entry->block;
    uint32_t at = 0;
    if (!entry->component || !entry->type->toggle || !block->disabled_count)
        return;
    for (uint32_t g = 0; g < work->group_count && at < block->disabled_count; ++g) {
        const micap_group_record *group = micap_record(work->resource, MICAP_SECTION_GROUPS, g);
        uint32_t first = first_instance(work, entry, group->first_entity);
        if (first == MICAP_NONE)
            continue;
        for (; at < block->disabled_count && block->disabled[at] < first + group->entity_count; ++at) {
            mica_entity entity = work->entities[group->first_entity + block->disabled[at] - first];
            if (mica_has_component(work->world, entity, entry->component)) /* a hook may have taken it away */
                mica_enable_component(work->world, entity, entry->component, false);
        }
    }
}

/* What still has to be done when the batch is over and its handles are gone. */
static bool keep_entities(micap_spawning *work)
{
    size_t bytes = work->resource->header.entity_count * sizeof *work->kept;
    mica_entity *kept = work->def->out_entities;
    bool needed = kept != NULL;
    for (uint32_t i = 0; i < work->entry_count; ++i) {
        const micap_entry *entry = &work->entries[i];
        needed = needed || (entry->component && (entry->is_separate || entry->block->disabled_count ||
                                                 (entry->block->role == MICAP_ROLE_SINGLETON &&
                                                  entry->block->references.count && !work->def->skip_singletons)));
    }
    if (!needed)
        return true;
    if (!kept)
        kept = work->kept = micap_allocate(&work->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!kept)
        return micap_spawn_fail_memory(work);
    if (bytes)
        memcpy(kept, work->entities, bytes);
    return true;
}

/* The batch, up to where it can still be taken back. */
static bool create_entities(micap_spawning *work)
{
    work->result = mica_batch_begin(work->world, work->groups, work->group_count, &work->batch);
    if (work->result != MICA_OK)
        return false;
    work->entities = mica_batch_entities(work->batch);
    bool fine = keep_entities(work);
    for (uint32_t i = 0; fine && i < work->entry_count; ++i)
        fine = complete_entry(work, &work->entries[i]);
    if (fine && name_entities(work) && link_parents(work))
        return true;
    mica_batch_cancel(work->batch);
    return false;
}

static void finish_entities(micap_spawning *work)
{
    work->result = mica_batch_commit(work->batch, work->order, work->entry_count);
    work->entities = work->def->out_entities ? work->def->out_entities : work->kept;
    for (uint32_t i = 0; i < work->entry_count; ++i)
        if (!give_separate(work, &work->entries[i])) {
            mica_destroy_many(work->world, work->entities, work->resource->header.entity_count);
            return;
        }
    for (uint32_t i = 0; i < work->entry_count; ++i) {
        give_singleton(work, &work->entries[i]);
        switch_off(work, &work->entries[i]);
    }
}

mica_result mica_spawn(mica_world *world, const mica_resource *resource, const mica_spawn_def *def)
{
    static const mica_spawn_def defaults = {0};
    micap_spawning work = {.world = world, .resource = resource, .def = def ? def : &defaults};
    if (micap_spawn_prepare(&work) && create_entities(&work))
        finish_entities(&work);
    micap_spawn_free(&work);
    return work.result;
}
