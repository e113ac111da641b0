/* What a spawn needs to know before it begins: which component is whose, and how values are converted. */
#include "resource/spawn.h"

#include "mica/singleton.h"

#include <stdarg.h>
#include <stdio.h>

bool micap_spawn_fail(micap_spawning *work, mica_result result, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    work->result = mica_world_report(work->world, result, text);
    return false;
}

bool micap_spawn_fail_memory(micap_spawning *work)
{
    return micap_spawn_fail(work, MICA_ERROR_MEMORY, "spawn: out of memory");
}

static const mica_resource_rule *rule_for(const mica_spawn_def *def, mica_component component)
{
    for (uint32_t i = 0; i < def->rule_count; ++i)
        if (def->rules[i].component == component)
            return &def->rules[i];
    return NULL;
}

static bool is_plain(const mica_type *type)
{
    return !type->construct && !type->destruct && !type->copy && !type->move;
}

static bool check_storage(micap_spawning *work, const micap_entry *entry)
{
    uint32_t role = entry->type->storage == MICA_STORAGE_TAG         ? MICAP_ROLE_TAG
                    : entry->type->storage == MICA_STORAGE_SINGLETON ? MICAP_ROLE_SINGLETON
                                                                     : MICAP_ROLE_DATA;
    static const char *const names[] = {"a component with data", "a tag", "a singleton"};
    return role == entry->block->role ||
           micap_spawn_fail(work, MICA_ERROR_LAYOUT, "spawn: %.80s is %s in the file and %s in the program",
                            entry->block->name, names[entry->block->role], names[role]);
}

static bool prepare_entry(micap_spawning *work, micap_entry *entry)
{
    const micap_block *block = entry->block;
    entry->component = mica_component_find(work->world, block->name);
    if (!entry->component)
        return work->def->skip_unknown ||
               micap_spawn_fail(work, MICA_ERROR_UNKNOWN,
                                "spawn: the world does not know component %.80s; define it, or spawn with skip_unknown",
                                block->name);
    entry->type = mica_component_type(entry->component);
    entry->rule = rule_for(work->def, entry->component);
    entry->recipe = entry->rule && entry->rule->recipe ? entry->rule->recipe : entry->type;
    if (!check_storage(work, entry) || block->role == MICAP_ROLE_TAG)
        return work->result == MICA_OK;
    bool has_spawn = entry->rule && entry->rule->spawn;
    bool same = block->layout_hash == mica_type_layout_hash(entry->recipe);
    entry->is_separate = entry->type->storage > MICA_STORAGE_SINGLETON || block->owners;
    entry->is_column = same && !has_spawn && !entry->is_separate && is_plain(entry->type) &&
                       entry->recipe == entry->type && block->role == MICAP_ROLE_DATA;
    if (!entry->is_column && !micap_plan_make(&entry->plan, &work->memory, block->type, entry->recipe))
        return entry->plan.problem[0]
                   ? micap_spawn_fail(work, MICA_ERROR_LAYOUT, "spawn: the layout of component %.80s changed: %s",
                                      block->name, entry->plan.problem)
                   : micap_spawn_fail_memory(work);
    return true;
}

static bool prepare_entries(micap_spawning *work)
{
    uint32_t count = work->resource->block_count;
    work->entries = micap_allocate_zeroed(&work->memory, count * sizeof *work->entries, MICAP_ARRAY_ALIGNMENT);
    work->order = micap_allocate_zeroed(&work->memory, count * sizeof *work->order, MICAP_ARRAY_ALIGNMENT);
    if (!work->entries || !work->order)
        return micap_spawn_fail_memory(work);
    work->entry_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        work->entries[i].block = &work->resource->blocks[i];
        if (!prepare_entry(work, &work->entries[i]))
            return false;
        work->order[i] = work->entries[i].component;
        /* So that giving the value can't fail when everything else has happened. */
        if (work->entries[i].component && work->entries[i].block->role == MICAP_ROLE_SINGLETON &&
            !work->def->skip_singletons && !mica_singleton_write(work->world, work->entries[i].component))
            return micap_spawn_fail_memory(work);
    }
    return true;
}

static bool prepare_groups(micap_spawning *work)
{
    const mica_resource *resource = work->resource;
    work->group_count = micap_count_of(resource, MICAP_SECTION_GROUPS);
    work->value_count = micap_count_of(resource, MICAP_SECTION_COLUMNS);
    work->groups =
        micap_allocate_zeroed(&work->memory, work->group_count * sizeof *work->groups, MICAP_ARRAY_ALIGNMENT);
    work->values =
        micap_allocate_zeroed(&work->memory, work->value_count * sizeof *work->values, MICAP_ARRAY_ALIGNMENT);
    if (!work->groups || !work->values)
        return micap_spawn_fail_memory(work);
    mica_value *value = work->values;
    for (uint32_t i = 0; i < work->group_count; ++i) {
        const micap_group_record *group = micap_record(resource, MICAP_SECTION_GROUPS, i);
        mica_value *first = value;
        for (uint32_t j = 0; j < group->column_count; ++j) {
            const micap_column_record *column = micap_record(resource, MICAP_SECTION_COLUMNS, group->first_column + j);
            const micap_entry *entry = &work->entries[column->component];
            if (!entry->component || entry->is_separate)
                continue;
            const char *data = entry->is_column ? entry->block->instances : NULL;
            *value++ = (mica_value){
                .component = entry->component,
                .size_bytes = entry->is_column ? entry->block->type->size_bytes : 0,
                .data = data ? data + (size_t)column->first_instance * entry->block->type->size_bytes : NULL};
        }
        work->groups[i] = (mica_batch_group){group->entity_count, (uint32_t)(value - first), first};
    }
    return true;
}

bool micap_spawn_prepare(micap_spawning *work)
{
    micap_memory_init(&work->memory, work->resource->memory.allocator);
    return prepare_entries(work) && prepare_groups(work);
}

void micap_spawn_free(micap_spawning *work)
{
    micap_memory *memory = &work->memory;
    for (uint32_t i = 0; i < work->entry_count; ++i)
        micap_plan_free(&work->entries[i].plan, memory);
    micap_release(memory, work->entries, work->resource->block_count * sizeof *work->entries, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, work->order, work->resource->block_count * sizeof *work->order, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, work->groups, work->group_count * sizeof *work->groups, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, work->values, work->value_count * sizeof *work->values, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, work->kept, work->resource->header.entity_count * sizeof *work->kept, MICAP_ARRAY_ALIGNMENT);
}
