/* Changes of entities that stay: a three-way merge, field by field, of the old file, the new file and the world. */
#include "mica/pool.h"
#include "mica/singleton.h"
#include "resource/reload/reload_edges.h"
#include "resource/reload/reload_merge.h"

#include "resource/spawn/spawn_prepare.h"
#include "type/value_bytes.h"

#include <string.h>

void micap_reload_free_values(micap_reloading *work)
{
    for (uint32_t i = 0; i < 2; ++i)
        if (work->held[i])
            micap_contents_clear(work->held[i], work->values + i * work->value_bytes, 1);
    work->held[0] = work->held[1] = NULL;
}

/* As micap_spawn_migrate. */
static bool migrate(micap_reloading *work, const micap_entry *entry, void *to, const void *from,
                    const mica_entity *entities)
{
    if (micap_spawn_migrate(&work->after, entry, to, from, 1, entities))
        return true;
    work->result = work->after.result;
    work->is_broken = true;
    return false;
}

char *micap_reload_read_value(micap_reloading *work, const micap_entry *entry, const void *from,
                              const mica_entity *entities, uint32_t room)
{
    uint32_t bytes = entry->recipe->size_bytes;
    char *out = work->values + room * work->value_bytes;
    if (work->held[room])
        micap_contents_clear(work->held[room], out, 1);
    work->held[room] = NULL;
    memset(out, 0, bytes);
    if (entry->is_column) {
        memcpy(out, from, bytes);
        micap_spawn_remap(&entry->block->references, bytes, out, 1, entities);
    } else {
        bool has_initial = micap_type_has_initial(entry->recipe);
        work->held[room] = entry->migration.has_contents || has_initial ? entry->recipe : NULL;
        if (!has_initial || micap_spawn_initialize(entry->recipe, out, 1)) {
            migrate(work, entry, out, from, entities);
        } else {
            micap_reload_fail(work, MICA_ERROR_MEMORY, "reload: out of memory");
            work->is_broken = true;
        }
    }
    return out;
}

static bool is_content(const micap_scalar *scalar)
{
    return scalar->kind == MICA_KIND_TEXT || scalar->kind == MICA_KIND_LIST;
}

/* Text is compared up to its terminating zero; bytes after it have no meaning. */
static bool is_same(const micap_scalar *scalar, const char *a, const char *b)
{
    size_t bytes = scalar->element_bytes;
    if (is_content(scalar))
        return micap_content_is_same(a, b, scalar->kind, scalar->element);
    return scalar->kind == MICA_KIND_CHAR ? strncmp(a, b, bytes * scalar->count) == 0 : memcmp(a, b, bytes) == 0;
}

static uint32_t element_count(const micap_scalar *scalar)
{
    return scalar->kind == MICA_KIND_CHAR ? 1 : scalar->count;
}

bool micap_reload_is_same_value(const micap_scalars *scalars, const char *a, const char *b)
{
    for (uint32_t i = 0; i < scalars->count; ++i)
        for (uint32_t j = 0; j < element_count(&scalars->list[i]); ++j) {
            size_t at = scalars->list[i].offset + (size_t)j * scalars->list[i].element_bytes;
            if (!is_same(&scalars->list[i], a + at, b + at))
                return false;
        }
    return true;
}

/* The new value is not used any more, and frees what the current one had. */
static void swap_contents(char *current, char *new, size_t bytes)
{
    char kept[sizeof(mica_text)];
    memcpy(kept, current, bytes);
    memcpy(current, new, bytes);
    memcpy(new, kept, bytes);
}

bool micap_reload_merge_value(micap_reloading *work, const micap_scalars *scalars, char *current, const char *old,
                              char *new)
{
    bool changed = false;
    for (uint32_t i = 0; i < scalars->count; ++i) {
        const micap_scalar *scalar = &scalars->list[i];
        size_t bytes = (size_t)scalar->element_bytes * (scalar->kind == MICA_KIND_CHAR ? scalar->count : 1);
        for (uint32_t j = 0; j < element_count(scalar); ++j) {
            size_t at = scalar->offset + (size_t)j * scalar->element_bytes;
            if (is_same(scalar, old + at, new + at) || is_same(scalar, current + at, new + at))
                continue;
            if (!is_same(scalar, current + at, old + at)) {
                ++work->stats.kept_count;
                continue;
            }
            if (is_content(scalar))
                swap_contents(current + at, new + at, bytes);
            else
                memcpy(current + at, new + at, bytes);
            changed = true;
        }
    }
    return changed;
}

/* The world has said what was wrong. */
static bool refused(micap_reloading *work)
{
    work->result = MICA_ERROR_MEMORY;
    return false;
}

static bool run_spawn(micap_reloading *work, const micap_entry *entry, mica_spawn_run run)
{
    return entry->rule->spawn(&run, entry->rule->context) ||
           micap_reload_fail(work, MICA_ERROR_DATA, "reload: the spawn function of component %.80s refused",
                             entry->block->name);
}

static bool add_one(micap_reloading *work, const micap_reload_component *at, const char *from)
{
    const micap_entry *entry = at->entry;
    mica_component component = entry->component;
    mica_spawn_run run = {work->world, component, 1, &at->entity, NULL, NULL};
    if (entry->block->role == MICAP_ROLE_TAG) {
        if (!mica_command_add_id(work->commands, at->entity, component, MICA_HERE))
            return refused(work);
        return !entry->has_spawn || run_spawn(work, entry, run);
    }
    char *value = micap_reload_read_value(work, entry, from, at->new_entities, 0);
    if (micap_type_is_trivial(entry->type) && !entry->has_spawn && !entry->type->many)
        return mica_command_set_id(work->commands, at->entity, (mica_value){component, 0, value}, MICA_HERE) ||
               refused(work);
    run.instances = value;
    run.values = entry->type->many ? mica_command_add_instance_id(work->commands, at->entity, component, MICA_HERE)
                                   : mica_command_add_id(work->commands, at->entity, component, MICA_HERE);
    if (!run.values)
        return refused(work);
    if (entry->has_spawn)
        return run_spawn(work, entry, run);
    if (entry->is_column)
        memcpy(run.values, value, entry->type->size_bytes);
    else
        return migrate(work, entry, run.values, from, at->new_entities);
    return true;
}

static bool throw_switch(micap_reloading *work, const micap_reload_component *at)
{
    mica_component component = at->entry->component;
    return mica_command_enable_id(work->commands, at->entity, component, !at->is_disabled, MICA_HERE) || refused(work);
}

static bool add(micap_reloading *work, const micap_reload_component *at)
{
    const micap_entry *entry = at->entry;
    if (at->new_count > 1 && !entry->type->many)
        return micap_reload_fail(work, MICA_ERROR_LAYOUT,
                                 "reload: an entity has several instances of component %.80s, which is not for many",
                                 entry->block->name);
    for (uint32_t i = 0; i < at->new_count; ++i)
        if (!add_one(work, at, at->new + (size_t)i * entry->block->type->size_bytes))
            return false;
    return !entry->type->toggle || !at->is_disabled || throw_switch(work, at);
}

static bool make_anew(micap_reloading *work, const micap_reload_component *at)
{
    ++work->stats.updated_count;
    return mica_command_remove_id(work->commands, at->entity, at->entry->component, MICA_HERE) ? add(work, at)
                                                                                               : refused(work);
}

static bool did_file_change(micap_reloading *work, const micap_reload_component *at)
{
    bool same = at->old_count == at->new_count;
    for (uint32_t i = 0; same && i < at->new_count && at->entry->block->role != MICAP_ROLE_TAG; ++i) {
        const char *old = at->old + (size_t)i * at->old_entry->block->type->size_bytes;
        const char *new = at->new + (size_t)i * at->entry->block->type->size_bytes;
        same = micap_reload_is_same_value(at->scalars,
                                          micap_reload_read_value(work, at->old_entry, old, at->old_entities, 0),
                                          micap_reload_read_value(work, at->entry, new, at->new_entities, 1));
    }
    return !same;
}

/* Whether the instances of a pool for many are what the old file says. */
static bool is_as_spawned(micap_reloading *work, const micap_reload_component *at)
{
    const mica_pool *pool = mica_pool_of_id(work->world, at->entry->component);
    mica_instance instance = mica_pool_find(pool, at->entity);
    uint32_t count = 0;
    for (; !mica_instance_is_nil(instance) && count < at->old_count; ++count) {
        const char *old = at->old + (size_t)count * at->old_entry->block->type->size_bytes;
        if (!micap_reload_is_same_value(at->scalars,
                                        micap_reload_read_value(work, at->old_entry, old, at->old_entities, 0),
                                        mica_instance_read_id(pool, instance)))
            return false;
        instance = mica_pool_next(pool, instance);
    }
    return count == at->old_count && mica_instance_is_nil(instance);
}

static bool update_fields(micap_reloading *work, const micap_reload_component *at)
{
    mica_component component = at->entry->component;
    const char *old = micap_reload_read_value(work, at->old_entry, at->old, at->old_entities, 0);
    char *new = micap_reload_read_value(work, at->entry, at->new, at->new_entities, 1);
    char *current = work->values + 2 * work->value_bytes;
    if (!micap_type_is_trivial(at->entry->type)) {
        /* A staged value is a copy made by the component's own function. */
        current = mica_command_add_id(work->commands, at->entity, component, MICA_HERE);
        if (!current)
            return refused(work);
        work->stats.updated_count += micap_reload_merge_value(work, at->scalars, current, old, new);
        return true;
    }
    mica_get_value_id(work->world, at->entity, component, current);
    if (!micap_reload_merge_value(work, at->scalars, current, old, new))
        return true;
    ++work->stats.updated_count;
    return mica_command_set_id(work->commands, at->entity, (mica_value){component, 0, current}, MICA_HERE) ||
           refused(work);
}

static bool update_switch(micap_reloading *work, const micap_reload_component *at)
{
    mica_component component = at->entry->component;
    if (!at->entry->type->toggle || at->was_disabled == at->is_disabled ||
        mica_is_enabled_id(work->world, at->entity, component) == at->was_disabled)
        return true;
    ++work->stats.updated_count;
    return throw_switch(work, at);
}

static bool update(micap_reloading *work, const micap_reload_component *at)
{
    if (did_file_change(work, at)) {
        if (at->entry->has_spawn)
            return make_anew(work, at);
        if (at->entry->type->many) {
            if (is_as_spawned(work, at))
                return make_anew(work, at);
            ++work->stats.kept_count;
        } else if (at->new_count > 1) {
            return add(work, at); /* which says why not */
        } else if (!update_fields(work, at)) {
            return false;
        }
    }
    return update_switch(work, at);
}

micap_reload_component micap_reload_find_component(const micap_reloading *work, uint32_t e, uint32_t entity,
                                                   uint32_t copy)
{
    const mica_resource *old = work->before.resource, *new = work->after.resource;
    uint32_t old_entity = work->old_of_new[entity], old_e = work->old_entry[e];
    micap_reload_component at = {
        .entry = &work->after.entries[e],
        .scalars = &work->scalars[e],
        .entity = micap_reload_new(work, copy)[entity],
        .new = mica_resource_value(new, entity, e),
        .new_count = mica_resource_value_count(new, entity, e),
        .is_disabled = mica_resource_is_disabled(new, entity, e),
        .old_entities = micap_reload_old(work, copy),
        .new_entities = micap_reload_new(work, copy),
    };
    if (old_entity == MICAP_NONE || old_e == MICAP_NONE)
        return at;
    at.old_entry = &work->before.entries[old_e];
    at.old = mica_resource_value(old, old_entity, old_e);
    at.old_count = mica_resource_value_count(old, old_entity, old_e);
    at.was_disabled = mica_resource_is_disabled(old, old_entity, old_e);
    return at;
}

static bool remove_dropped(micap_reloading *work, uint32_t old_entity, uint32_t new_entity, mica_entity entity)
{
    for (uint32_t e = 0; e < work->before.entry_count; ++e) {
        mica_component component = work->before.entries[e].component;
        uint32_t new_e = work->new_entry[e];
        if (!component || work->before.entries[e].type->relation ||
            !mica_resource_value_count(work->before.resource, old_entity, e) ||
            (new_e != MICAP_NONE && mica_resource_value_count(work->after.resource, new_entity, new_e)) ||
            !mica_has_id(work->world, entity, component))
            continue;
        if (!mica_command_remove_id(work->commands, entity, component, MICA_HERE))
            return refused(work);
        ++work->stats.removed_count;
    }
    return true;
}

static bool update_entity(micap_reloading *work, uint32_t index, uint32_t copy)
{
    mica_entity entity = micap_reload_new(work, copy)[index];
    uint32_t old = work->old_of_new[index];
    if (!mica_is_alive(work->world, entity))
        return true;
    for (uint32_t e = 0; e < work->after.entry_count; ++e) {
        micap_reload_component at = micap_reload_find_component(work, e, index, copy);
        if (!at.entry->component || !at.new_count || at.entry->type->relation)
            continue;
        bool is_there = old != MICAP_NONE && mica_has_id(work->world, entity, at.entry->component);
        if (at.old_count && is_there && !update(work, &at))
            return false;
        if (at.old_count || is_there) /* or what the program did with it stands */
            continue;
        if (!add(work, &at))
            return false;
        work->stats.added_count += old != MICAP_NONE;
    }
    return micap_reload_edges(work, index, copy) && (old == MICAP_NONE || remove_dropped(work, old, index, entity));
}

bool micap_reload_merge(micap_reloading *work, uint32_t copy)
{
    for (uint32_t i = 0; i < work->after.resource->header.entity_count; ++i)
        if (!update_entity(work, i, copy) || work->is_broken)
            return false;
    return true;
}

/* Finds the values of a singleton in the old and the new file; zero if the old file has none. Returns whether they differ. */
static bool did_singleton_change(micap_reloading *work, uint32_t e, char **out_old, char **out_new)
{
    const micap_entry *entry = &work->after.entries[e];
    *out_old = work->values;
    *out_new = work->values + work->value_bytes;
    if (!entry->component || entry->block->role != MICAP_ROLE_SINGLETON || work->spawned->def.skip_singletons)
        return false;
    micap_reload_free_values(work);
    micap_reload_read_value(work, entry, entry->block->instances, work->entities, 1);
    memset(*out_old, 0, work->value_bytes);
    const micap_entry *before = work->old_entry[e] == MICAP_NONE ? NULL : &work->before.entries[work->old_entry[e]];
    if (before)
        micap_reload_read_value(work, before, before->block->instances, work->spawned->entities, 0);
    return !micap_reload_is_same_value(&work->scalars[e], *out_old, *out_new);
}

bool micap_reload_make_singletons(micap_reloading *work)
{
    char *old, *new;
    for (uint32_t e = 0; e < work->after.entry_count; ++e) {
        micap_entry *entry = &work->after.entries[e];
        if (!entry->scratch || !did_singleton_change(work, e, &old, &new) || work->is_broken)
            continue;
        const mica_spawn_run run = {work->world, entry->component, 1, NULL, new, entry->scratch};
        if (!micap_spawn_make_singleton(work->world, entry))
            return micap_reload_fail(work, MICA_ERROR_MEMORY, "reload: out of memory");
        if (!entry->has_spawn)
            micap_reload_merge_value(work, &work->scalars[e], entry->scratch, old, new);
        else if (!run_spawn(work, entry, run))
            return false;
    }
    return !work->is_broken;
}

void micap_reload_singletons(micap_reloading *work)
{
    char *old, *new;
    for (uint32_t e = 0; e < work->after.entry_count; ++e) {
        micap_entry *entry = &work->after.entries[e];
        if (entry->is_made) {
            micap_spawn_move_singleton(work->world, entry);
            ++work->stats.updated_count;
        } else if (!entry->scratch && did_singleton_change(work, e, &old, &new)) {
            void *value = mica_singleton_write_id(work->world, entry->component);
            work->stats.updated_count += micap_reload_merge_value(work, &work->scalars[e], value, old, new);
        }
    }
}
