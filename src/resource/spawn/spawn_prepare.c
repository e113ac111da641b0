/* Prepares a spawn before the world changes: finds the components of the world, and how values are converted. */
#include "resource/spawn/spawn_prepare.h"

#include "base/bits.h"
#include "mica/component.h"
#include "mica/disable.h"
#include "mica/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mica_result micap_report_text(const mica_world *world, mica_result result, const char *format, va_list arguments)
{
    char text[400];
    vsnprintf(text, sizeof text, format, arguments);
    return mica_world_report(world, result, text);
}

bool micap_spawn_fail(micap_spawning *work, mica_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    work->result = micap_report_text(work->world, result, format, arguments);
    va_end(arguments);
    return false;
}

bool micap_spawn_fail_memory(micap_spawning *work)
{
    return micap_spawn_fail(work, MICA_ERROR_MEMORY, "spawn: out of memory");
}

/* Memory for the spawn, from the room in `work` if there is enough. */
static void *take_room(micap_spawning *work, size_t bytes)
{
    size_t rounded = micap_align_up(bytes, MICAP_ARRAY_ALIGNMENT);
    if (rounded >= sizeof work->room - work->room_used) /* not the end of the room, even for nothing */
        return micap_allocate(&work->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    char *taken = work->room + work->room_used;
    work->room_used += rounded;
    return taken;
}

static void *take_zeroed(micap_spawning *work, size_t bytes)
{
    void *memory = take_room(work, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

static void give_room_back(micap_spawning *work, void *memory, size_t bytes)
{
    bool is_in_room = (uintptr_t)memory - (uintptr_t)work->room < sizeof work->room;
    if (!is_in_room)
        micap_release(&work->memory, memory, bytes, MICAP_ARRAY_ALIGNMENT);
}

static const mica_resource_rule *rule_for(const mica_spawn_def *def, mica_component component)
{
    for (uint32_t i = 0; i < def->rule_count; ++i)
        if (def->rules[i].component == component)
            return &def->rules[i];
    return NULL;
}

static bool check_storage(micap_spawning *work, const micap_entry *entry)
{
    uint32_t role = !entry->type->size_bytes                         ? MICAP_ROLE_TAG
                    : entry->type->storage == MICA_STORAGE_SINGLETON ? MICAP_ROLE_SINGLETON
                                                                     : MICAP_ROLE_DATA;
    static const char *const names[] = {"a component with data", "a tag", "a singleton"};
    return role == entry->block->role ||
           micap_spawn_fail(work, MICA_ERROR_LAYOUT, "spawn: %.80s is %s in the file and %s in the program",
                            entry->block->name, names[entry->block->role], names[role]);
}

/* The component of the world with the name of a block; 0 if there is none. The tag of disabled entities need not be defined. */
static mica_component find_component(mica_world *world, micap_component_block *block)
{
    mica_component known = atomic_load_explicit(&block->component, memory_order_relaxed);
    if (known && mica_component_next(world, known - 1) == known)
        return known;
    mica_component found = mica_component_find(world, block->name);
    if (!found && strcmp(block->name, mica_type_of_mica_disabled.name) == 0)
        found = mica_define(world, mica_disabled);
    atomic_store_explicit(&block->component, found, memory_order_relaxed);
    return found;
}

/* Whether what lies in the file is what the program wants. Types of components are never changed, so that the hash is computed once. */
static bool has_same_layout(const micap_entry *entry, micap_component_block *block)
{
    if (entry->recipe == atomic_load_explicit(&block->matching, memory_order_relaxed))
        return true;
    bool same = block->layout_hash == mica_type_layout_hash(entry->recipe);
    if (same && entry->recipe == entry->type)
        atomic_store_explicit(&block->matching, entry->type, memory_order_relaxed);
    return same;
}

static bool prepare_entry(micap_spawning *work, micap_entry *entry)
{
    const micap_component_block *block = entry->block;
    entry->component = find_component(work->world, &work->resource->blocks[entry - work->entries]);
    if (!entry->component)
        return work->def->skip_unknown ||
               micap_spawn_fail(work, MICA_ERROR_UNKNOWN,
                                "spawn: the world does not know component %.80s: call mica_define, or spawn with "
                                "skip_unknown",
                                block->name);
    entry->type = mica_component_type(entry->component);
    entry->rule = rule_for(work->def, entry->component);
    bool is_trivial = micap_type_is_trivial(entry->type);
    bool may_lack_rule = !entry->rule && !(is_trivial && entry->type->field_count);
    if (may_lack_rule && micap_type_needs_rule(entry->type)) {
        entry->component = 0;
        return work->def->skip_without_rule ||
               micap_spawn_fail(work, MICA_ERROR_REFUSED, "spawn: " MICAP_NO_RULE, entry->type->name);
    }
    entry->has_spawn = entry->rule && entry->rule->spawn;
    entry->recipe = entry->has_spawn && entry->rule->recipe ? entry->rule->recipe : entry->type;
    if (!check_storage(work, entry))
        return false;
    bool same = has_same_layout(entry, &work->resource->blocks[entry - work->entries]);
    bool is_direct = same && !entry->has_spawn && is_trivial;
    bool is_singleton = block->role == MICAP_ROLE_SINGLETON;
    bool outlives = entry->type->storage == MICA_STORAGE_POOL && entry->type->dying != MICA_DYING_AT_ONCE;
    if (is_direct && !is_singleton && !outlives && !entry->rule && !entry->type->split)
        atomic_store_explicit(&work->resource->blocks[entry - work->entries].column, entry->component,
                              memory_order_relaxed);
    if (block->role == MICAP_ROLE_TAG)
        return true;
    /* A split component has no values to complete in place: unless its columns need no conversion, it is added later. */
    entry->is_separate = !is_singleton && (block->owners || outlives || entry->type->relation ||
                                           (entry->type->split && (!is_direct || block->references.count)));
    entry->is_column = is_direct && !entry->is_separate && !is_singleton;
    if (entry->is_separate && entry->type->split && (entry->type->many || entry->has_spawn))
        return micap_spawn_fail(
            work, MICA_ERROR_REFUSED,
            "spawn: %.80s is split, which can go neither with many instances nor with a spawn function", block->name);
    if (!entry->is_column && !micap_migration_make(&entry->migration, &work->memory, block->type, entry->recipe))
        return entry->migration.problem[0]
                   ? micap_spawn_fail(work, MICA_ERROR_LAYOUT, "spawn: the layout of component %.80s changed: %s",
                                      block->name, entry->migration.problem)
                   : micap_spawn_fail_memory(work);
    bool is_apart = entry->is_separate || (is_singleton && (entry->has_spawn || entry->migration.has_contents));
    if (is_apart)
        entry->scratch = micap_allocate(&work->memory, entry->type->size_bytes, entry->type->alignment);
    return !is_apart || entry->scratch || micap_spawn_fail_memory(work);
}

/* Whether a component brings along another one, itself or by what it requires. Requirements form no circle. */
static bool brings(const mica_type *type, const char *name)
{
    for (mica_type *const *required = type->required; required && *required; ++required)
        if (strcmp((*required)->name, name) == 0 || brings(*required, name))
            return true;
    return false;
}

static bool is_required(const micap_spawning *work, const micap_entry *entry)
{
    bool found = false;
    for (uint32_t i = 0; !found && i < work->entry_count; ++i)
        found = work->entries[i].component && brings(work->entries[i].type, entry->type->name);
    return found;
}

bool micap_spawn_prepare_entries(micap_spawning *work)
{
    micap_memory_init(&work->memory, work->resource->memory.allocator);
    work->copies = work->def->copies ? work->def->copies : 1;
    uint32_t count = work->resource->block_count;
    work->entries = take_room(work, count * sizeof *work->entries);
    work->order = take_zeroed(work, count * sizeof *work->order);
    if (!work->entries || !work->order)
        return micap_spawn_fail_memory(work);
    for (uint32_t i = 0; i < count; ++i) { /* all of it except the text of a problem */
        memset(&work->entries[i], 0, offsetof(micap_entry, migration.problem));
        work->entries[i].migration.problem[0] = 0;
    }
    work->entry_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        work->entries[i].block = &work->resource->blocks[i];
        if (!prepare_entry(work, &work->entries[i]))
            return false;
        work->order[i] = work->entries[i].component;
    }
    for (uint32_t i = 0; i < count; ++i)
        if (work->entries[i].is_separate && work->entries[i].type->many)
            work->entries[i].is_required = is_required(work, &work->entries[i]);
    return true;
}

/* Copies of a group lie one after the other: its columns are repeated up to about a slice, and the batch repeats that. */
static uint32_t period_of(const micap_spawning *work, const micap_group_record *group)
{
    uint32_t times = MICA_SLICE_ROWS / group->entity_count;
    if (work->copies == 1)
        return 0;
    return group->entity_count * (times == 0 ? 1 : times < work->copies ? times : work->copies);
}

static const char *repeat(char **room, const char *column, size_t bytes, uint32_t times)
{
    char *first = *room;
    for (uint32_t i = 0; i < times; ++i, *room += bytes)
        memcpy(*room, column, bytes);
    return first;
}

static bool allocate_groups(micap_spawning *work)
{
    const mica_resource *resource = work->resource;
    work->group_count = micap_count_of(resource, MICAP_SECTION_GROUPS);
    work->value_count = micap_count_of(resource, MICAP_SECTION_COLUMNS);
    work->groups = take_zeroed(work, work->group_count * sizeof *work->groups);
    work->values = take_zeroed(work, work->value_count * sizeof *work->values);
    for (uint32_t i = 0; work->copies > 1 && i < work->group_count; ++i) {
        const micap_group_record *group = micap_record(resource, MICAP_SECTION_GROUPS, i);
        for (uint32_t j = 0; j < group->column_count; ++j) {
            const micap_column_record *column = micap_record(resource, MICAP_SECTION_COLUMNS, group->first_column + j);
            work->repeated_bytes +=
                (size_t)period_of(work, group) * resource->blocks[column->component].type->size_bytes;
        }
    }
    work->repeated = take_room(work, work->repeated_bytes);
    return (work->groups && work->values && work->repeated) || micap_spawn_fail_memory(work);
}

static mica_value value_of(const micap_entry *entry, const micap_column_record *column, uint32_t count, uint32_t times,
                           char **room)
{
    uint32_t bytes = entry->block->type->size_bytes;
    mica_value value = {.component = entry->component};
    if (entry->is_column) {
        const char *data = entry->block->instances + (size_t)column->first_instance * bytes;
        value.size_bytes = bytes;
        value.data = times ? repeat(room, data, (size_t)bytes * count, times) : data;
    }
    return value;
}

static void fill_groups(micap_spawning *work)
{
    const mica_resource *resource = work->resource;
    mica_value *value = work->values;
    char *room = work->repeated;
    for (uint32_t i = 0; i < work->group_count; ++i) {
        const micap_group_record *group = micap_record(resource, MICAP_SECTION_GROUPS, i);
        uint32_t period = period_of(work, group);
        mica_value *first = value;
        for (uint32_t j = 0; j < group->column_count; ++j) {
            const micap_column_record *column = micap_record(resource, MICAP_SECTION_COLUMNS, group->first_column + j);
            const micap_entry *entry = &work->entries[column->component];
            if (entry->component && !entry->is_separate)
                *value++ = value_of(entry, column, group->entity_count, period / group->entity_count, &room);
        }
        work->groups[i] =
            (mica_batch_group){group->entity_count * work->copies, (uint32_t)(value - first), first, period};
    }
}

static bool check_capacity(micap_spawning *work)
{
    uint64_t count = (uint64_t)work->resource->header.entity_count * work->copies;
    if (count > UINT32_MAX)
        return micap_spawn_fail(work, MICA_ERROR_LIMIT, "spawn: more than 2^32 entities");
    if (work->def->out_entities && count > work->def->out_capacity)
        return micap_spawn_fail(work, MICA_ERROR_LIMIT,
                                "spawn: out_entities has room for %u entities (out_capacity), and %llu are needed",
                                work->def->out_capacity, (unsigned long long)count);
    return true;
}

bool micap_spawn_prepare(micap_spawning *work)
{
    if (!micap_spawn_prepare_entries(work) || !check_capacity(work) || !allocate_groups(work))
        return false;
    fill_groups(work);
    return true;
}

void micap_spawn_free(micap_spawning *work)
{
    micap_memory *memory = &work->memory;
    for (uint32_t i = 0; i < work->entry_count; ++i) {
        micap_entry *entry = &work->entries[i];
        micap_migration_free(&entry->migration, memory);
        if (entry->is_made && entry->type->destruct)
            entry->type->destruct(entry->scratch, 1, entry->type->context);
        if (entry->scratch)
            micap_release(memory, entry->scratch, entry->type->size_bytes, entry->type->alignment);
    }
    give_room_back(work, work->entries, work->resource->block_count * sizeof *work->entries);
    give_room_back(work, work->order, work->resource->block_count * sizeof *work->order);
    give_room_back(work, work->groups, work->group_count * sizeof *work->groups);
    give_room_back(work, work->values, work->value_count * sizeof *work->values);
    micap_release_block(memory, work->handles, work->resource->header.entity_count * sizeof *work->handles,
                        MICAP_ARRAY_ALIGNMENT);
    give_room_back(work, work->repeated, work->repeated_bytes);
    micap_release_block(memory, work->kept,
                        (size_t)work->resource->header.entity_count * work->copies * sizeof *work->kept,
                        MICAP_ARRAY_ALIGNMENT);
}
