/* Spawning: everything that can fail is prepared first, then all entities are made at once, one group of equal component
 * sets after the other, their columns copied out of the file. Values that need more (another layout, a rule of the
 * program, references) are completed in place before any hook runs. */
#include "resource/spawn/spawn.h"

#include "base/argument.h"
#include "mica/bulk.h"
#include "mica/frame.h"
#include "mica/hierarchy.h"
#include "mica/name.h"
#include "mica/pool.h"
#include "mica/relation.h"
#include "mica/singleton.h"
#include "resource/spawn/spawn_flat.h"
#include "resource/spawn/spawn_prepare.h"
#include "resource/verify/verify_state.h"
#include "type/value_bytes.h"

#include <string.h>

void micap_spawn_remap(const micap_scalars *references, uint32_t size_bytes, void *values, uint64_t count,
                       const mica_entity *entities)
{
    if (!references->count)
        return;
    MICAP_EACH_REFERENCE(references, size_bytes, values, count, reference)
    {
        mica_entity entity;
        memcpy(&entity, reference, sizeof entity);
        if (mica_is_nil(entity))
            continue;
        memcpy(reference, &entities[entity.index], sizeof entity);
    }
}

/* The handles of one copy. */
static const mica_entity *copy_of(const micap_spawning *work, uint32_t copy)
{
    return work->entities ? work->entities + (size_t)copy * work->resource->header.entity_count : NULL;
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

bool micap_spawn_fail_migration(micap_spawning *work, const micap_entry *entry, const char *problem)
{
    const micap_component_block *block = entry->block;
    return *problem ? micap_spawn_fail(work, MICA_ERROR_LAYOUT,
                                       "spawn: component %.80s: field %.60s is longer in the file than the program's",
                                       block->name, problem)
                    : micap_spawn_fail_memory(work);
}

static const char *instance_at(const micap_component_block *block, uint32_t instance)
{
    return block->instances + (size_t)instance * block->type->size_bytes;
}

/* Runs the program's spawn function over instances in the layout it wants, with references remapped. */
static bool run_spawn_function(micap_spawning *work, const micap_entry *entry, mica_spawn_run run, uint32_t instance,
                               const mica_entity *entities)
{
    const micap_component_block *block = entry->block;
    size_t bytes = (size_t)run.count * entry->recipe->size_bytes;
    /* Over-aligned recipes are aligned as they ask for. */
    size_t alignment = entry->recipe->alignment > MICAP_ALIGNMENT ? entry->recipe->alignment : MICAP_ALIGNMENT;
    char *scratch = NULL;
    bool fine = true;
    if (block->role != MICAP_ROLE_TAG) {
        scratch = micap_allocate_zeroed(&work->memory, bytes, alignment);
        if (!scratch)
            return micap_spawn_fail_memory(work);
        fine = micap_spawn_initialize(entry->recipe, scratch, run.count)
                   ? micap_spawn_migrate(work, entry, scratch, instance_at(block, instance), run.count, entities)
                   : micap_spawn_fail_memory(work);
    }
    run.instances = scratch;
    if (fine && !entry->rule->spawn(&run, entry->rule->context))
        fine = micap_spawn_fail(work, MICA_ERROR_DATA, "spawn: the spawn function of component %.80s refused",
                                block->name);
    if (scratch)
        micap_contents_clear(entry->recipe, scratch, run.count);
    micap_release(&work->memory, scratch, bytes, alignment);
    return fine;
}

bool micap_spawn_make_singleton(mica_world *world, micap_entry *entry)
{
    const mica_type *type = entry->type;
    memset(entry->scratch, 0, type->size_bytes);
    if (entry->has_spawn || !mica_singleton_is_used(world, entry->component)) {
        entry->is_made = !type->construct || type->construct(entry->scratch, 1, type->context);
        return entry->is_made;
    }
    const void *current = mica_singleton_get_id(world, entry->component); /* fields that the file does not have stay */
    if (!type->copy)
        memcpy(entry->scratch, current, type->size_bytes);
    entry->is_made = !type->copy || type->copy(entry->scratch, current, 1, type->context);
    return entry->is_made;
}

bool micap_spawn_reserve_singletons(const micap_spawning *work)
{
    for (uint32_t i = 0; i < work->entry_count && !work->def->skip_singletons; ++i) {
        const micap_entry *entry = &work->entries[i];
        if (entry->component && entry->block->role == MICAP_ROLE_SINGLETON &&
            !mica_singleton_write_id(work->world, entry->component))
            return false;
    }
    return true;
}

void micap_spawn_move_singleton(mica_world *world, micap_entry *entry)
{
    const mica_type *type = entry->type;
    void *value = mica_singleton_write_id(world, entry->component);
    if (type->destruct)
        type->destruct(value, 1, type->context);
    if (type->move)
        type->move(value, entry->scratch, 1, type->context);
    else
        memcpy(value, entry->scratch, type->size_bytes);
    entry->is_made = false;
}

/* Rows of one copy of a group, that lie one after the other. */
typedef struct spawned_rows {
    uint32_t instance;
    uint32_t copy;
    uint32_t count;
    const mica_entity *owners;
    char *values;
} spawned_rows;

static bool complete_rows(micap_spawning *work, const micap_entry *entry, const spawned_rows *rows)
{
    const mica_entity *entities = copy_of(work, rows->copy);
    const micap_component_block *block = entry->block;
    if (entry->has_spawn) {
        mica_spawn_run run = {work->world, entry->component, rows->count, rows->owners, NULL, rows->values};
        return run_spawn_function(work, entry, run, rows->instance, entities);
    }
    if (!entry->is_column)
        return micap_spawn_migrate(work, entry, rows->values, instance_at(block, rows->instance), rows->count,
                                   entities);
    micap_spawn_remap(&block->references, entry->type->size_bytes, rows->values, rows->count, entities);
    return true;
}

static bool complete_run(micap_spawning *work, const micap_entry *entry, const mica_batch_run *run)
{
    const micap_group_record *group = micap_record(work->resource, MICAP_SECTION_GROUPS, run->group);
    uint32_t instance = first_instance(work, entry, group->first_entity);
    if (instance == MICAP_NONE) /* it came along with a component that requires it */
        return true;
    for (uint32_t done = 0, count; done < run->count; done += count) {
        uint32_t row = run->first - group->first_entity * work->copies + done;
        uint32_t at = row % group->entity_count, left = group->entity_count - at;
        count = left < run->count - done ? left : run->count - done;
        spawned_rows rows = {.instance = instance + at,
                             .copy = row / group->entity_count,
                             .count = count,
                             .owners = run->entities + done,
                             .values =
                                 run->values ? (char *)run->values + (size_t)done * entry->type->size_bytes : NULL};
        if (!complete_rows(work, entry, &rows))
            return false;
    }
    return true;
}

/* The spawn function may refuse, text and lists may find no memory, and nothing must have happened then: the value is made apart. */
static bool make_singleton(micap_spawning *work, micap_entry *entry)
{
    if (work->def->skip_singletons || !entry->scratch)
        return true;
    if (!micap_spawn_make_singleton(work->world, entry))
        return micap_spawn_fail_memory(work);
    if (!entry->has_spawn)
        return micap_spawn_migrate(work, entry, entry->scratch, entry->block->instances, 1, work->entities);
    const mica_spawn_run run = {work->world, entry->component, 1, NULL, NULL, entry->scratch};
    return run_spawn_function(work, entry, run, 0, work->entities);
}

static bool complete_entry(micap_spawning *work, micap_entry *entry)
{
    if (!entry->component || entry->is_separate)
        return true;
    if (entry->block->role == MICAP_ROLE_SINGLETON)
        return make_singleton(work, entry);
    if (!entry->has_spawn &&
        (entry->block->role == MICAP_ROLE_TAG || (entry->is_column && !entry->block->references.count)))
        return true;
    for (mica_batch_run run = {.component = entry->component}; mica_batch_next(work->batch, &run);)
        if (!complete_run(work, entry, &run))
            return false;
    return true;
}

static bool name_entities(micap_spawning *work, uint32_t copy)
{
    const mica_entity *entities = copy_of(work, copy);
    const mica_resource *resource = work->resource;
    mica_entity top = mica_is_nil(work->def->parent) ? work->def->scope : work->def->parent;
    uint32_t count = work->def->names == MICA_SPAWN_NAMES_NONE ? 0 : micap_count_of(resource, MICAP_SECTION_NAMES);
    for (uint32_t i = 0; i < count; ++i) {
        const micap_name_record *name = micap_record(resource, MICAP_SECTION_NAMES, i);
        uint32_t parent = mica_resource_parent(resource, name->entity);
        mica_entity scope = parent == MICA_NO_PARENT ? top : entities[parent];
        const char *text = micap_text(resource, name->text);
        if (parent == MICA_NO_PARENT && work->def->names == MICA_SPAWN_NAMES_FREE &&
            !mica_is_nil(mica_find_from(work->world, scope, text)))
            continue;
        work->result = mica_name_set(work->world, entities[name->entity], scope, text);
        if (work->result != MICA_OK)
            return false;
    }
    return true;
}

static bool link_parents(micap_spawning *work, uint32_t copy)
{
    const mica_resource *resource = work->resource;
    if (!work->def->link || !resource->header.entity_count)
        return true;
    const micap_part *order = resource->single[MICAP_SECTION_ORDER];
    mica_spawn_links links = {
        .entities = copy_of(work, copy),
        .parents = micap_record(resource, MICAP_SECTION_PARENTS, 0),
        .order = order ? (const uint32_t *)(const void *)order->data : NULL,
        .count = resource->header.entity_count,
    };
    work->result = work->def->link(work->world, &links, work->def->link_context);
    return work->result == MICA_OK;
}

/* An instance of a component that did not come with the batch, to be filled in; NULL when it can't be added. The first one of an
 * entity may be there already, because another component requires it. */
static void *add_separate(micap_spawning *work, const micap_entry *entry, mica_entity owner, bool is_first)
{
    if (!entry->type->many)
        return mica_add_id(work->world, owner, entry->component);
    mica_pool *pool = mica_pool_of_id(work->world, entry->component);
    bool is_there = is_first && entry->is_required && mica_has_id(work->world, owner, entry->component);
    return mica_instance_write_id(pool, is_there ? mica_pool_find(pool, owner) : mica_pool_add(pool, owner));
}

/* What the world refuses, it has reported. Returns false. */
static bool fail_as_world(micap_spawning *work)
{
    mica_result refused = mica_world_take_error(work->world);
    work->result = refused == MICA_OK ? MICA_ERROR_MEMORY : refused;
    return false;
}

/* Adds one component that a batch cannot create: several instances per entity, pools that keep rows of destroyed entities, and split
 * components with a spawn function. Called after the batch; uses functions that work for every storage. */
static bool give_one(micap_spawning *work, const micap_entry *entry, uint32_t instance, uint32_t index, uint32_t copy)
{
    const mica_entity *entities = copy_of(work, copy);
    const uint32_t *owners = entry->block->owners;
    bool is_first = !owners || !instance || owners[instance - 1] != index;
    mica_entity owner = entities[index];
    if (!mica_is_alive(work->world, owner)) /* a hook may have killed it */
        return true;
    const char *from = instance_at(entry->block, instance);
    work->result = MICA_ERROR_MEMORY;
    if (micap_type_is_trivial(entry->type) && !entry->has_spawn && !entry->type->many) {
        memset(entry->scratch, 0, entry->type->size_bytes);
        bool is_made = micap_spawn_initialize(entry->type, entry->scratch, 1) &&
                       micap_spawn_migrate(work, entry, entry->scratch, from, 1, entities);
        if (!is_made || !mica_set_id(work->world, owner, (mica_value){entry->component, 0, entry->scratch}))
            return is_made && fail_as_world(work);
    } else {
        void *value = add_separate(work, entry, owner, is_first);
        if (!value)
            return fail_as_world(work);
        const mica_spawn_run run = {work->world, entry->component, 1, &owner, NULL, value};
        if (!(entry->has_spawn ? run_spawn_function(work, entry, run, instance, entities)
                               : micap_spawn_migrate(work, entry, value, from, 1, entities)))
            return false;
    }
    work->result = MICA_OK;
    return true;
}

/* Collects the edges of a relation in one copy: their owners and, after them, whole values in the program's layout. */
static bool take_edges(micap_spawning *work, const micap_entry *entry, uint32_t copy, mica_entity *owners, char *values)
{
    const micap_component_block *block = entry->block;
    const mica_entity *entities = copy_of(work, copy);
    uint32_t bytes = entry->type->size_bytes;
    for (uint32_t i = 0; i < block->instance_count; ++i) {
        char *value = values + (size_t)i * bytes;
        owners[i] = block->owners ? entities[block->owners[i]] : mica_nil();
        if (!micap_spawn_initialize(entry->type, value, 1))
            return micap_spawn_fail_memory(work);
        if (!micap_spawn_migrate(work, entry, value, instance_at(block, i), 1, entities))
            return false;
    }
    for (uint32_t g = 0; !block->owners && g < work->group_count; ++g) {
        const micap_group_record *group = micap_record(work->resource, MICAP_SECTION_GROUPS, g);
        uint32_t first = first_instance(work, entry, group->first_entity);
        for (uint32_t i = 0; first != MICAP_NONE && i < group->entity_count; ++i)
            owners[first + i] = entities[group->first_entity + i];
    }
    return true;
}

/* Edges need all entities of the file, and come in the order of their ranks: all at once. */
static bool give_edges(micap_spawning *work, const micap_entry *entry, uint32_t copy)
{
    uint32_t count = entry->block->instance_count;
    if (entry->has_spawn)
        return micap_spawn_fail(work, MICA_ERROR_INVALID, "spawn: relation %.80s can't have a spawn function",
                                entry->block->name);
    if (!count)
        return true;
    size_t alignment = entry->type->alignment > MICAP_ALIGNMENT ? entry->type->alignment : MICAP_ALIGNMENT;
    size_t owners_bytes = (count * sizeof(mica_entity) + alignment - 1) / alignment * alignment;
    size_t bytes = owners_bytes + (size_t)count * entry->type->size_bytes;
    mica_entity *owners = micap_allocate_zeroed(&work->memory, bytes, alignment);
    if (!owners)
        return micap_spawn_fail_memory(work);
    char *values = (char *)owners + owners_bytes;
    bool fine = take_edges(work, entry, copy, owners, values);
    if (fine) {
        work->result = mica_load_edges_id(work->world, entry->component, owners, values, count);
        fine = work->result == MICA_OK;
    }
    micap_contents_clear(entry->type, values, count);
    micap_release(&work->memory, owners, bytes, alignment);
    return fine;
}

static bool give_separate(micap_spawning *work, const micap_entry *entry, uint32_t copy)
{
    const micap_component_block *block = entry->block;
    if (entry->type->relation)
        return give_edges(work, entry, copy);
    for (uint32_t i = 0; block->owners && i < block->instance_count; ++i) {
        if (i && block->owners[i] == block->owners[i - 1] && !entry->type->many)
            return micap_spawn_fail(work, MICA_ERROR_LAYOUT,
                                    "spawn: an entity has several instances of component %.80s, which is not for many",
                                    block->name);
        if (!give_one(work, entry, i, block->owners[i], copy))
            return false;
    }
    for (uint32_t g = 0; !block->owners && g < work->group_count; ++g) {
        const micap_group_record *group = micap_record(work->resource, MICAP_SECTION_GROUPS, g);
        uint32_t instance = first_instance(work, entry, group->first_entity);
        for (uint32_t i = 0; instance != MICAP_NONE && i < group->entity_count; ++i)
            if (!give_one(work, entry, instance + i, group->first_entity + i, copy))
                return false;
    }
    return true;
}

static void give_singleton(micap_spawning *work, micap_entry *entry)
{
    if (!entry->component || entry->block->role != MICAP_ROLE_SINGLETON || work->def->skip_singletons)
        return;
    if (entry->is_made)
        micap_spawn_move_singleton(work->world, entry);
    else
        micap_migration_apply(&entry->migration, mica_singleton_write_id(work->world, entry->component),
                              entry->block->instances, 1, work->entities);
}

static void switch_one_off(const micap_spawning *work, const micap_entry *entry, mica_entity entity)
{
    if (mica_has_id(work->world, entity, entry->component)) /* a hook may have taken it away */
        mica_enable_id(work->world, entity, entry->component, false);
}

static void switch_off(micap_spawning *work, const micap_entry *entry, uint32_t copy)
{
    const micap_component_block *block = entry->block;
    const mica_entity *entities = copy_of(work, copy);
    uint32_t at = 0;
    for (; block->owners && at < block->disabled_count; ++at) /* all instances of an entity have one switch */
        switch_one_off(work, entry, entities[block->owners[block->disabled[at]]]);
    for (uint32_t g = 0; g < work->group_count && at < block->disabled_count; ++g) {
        const micap_group_record *group = micap_record(work->resource, MICAP_SECTION_GROUPS, g);
        uint32_t first = first_instance(work, entry, group->first_entity);
        if (first == MICAP_NONE)
            continue;
        for (; at < block->disabled_count && block->disabled[at] < first + group->entity_count; ++at)
            switch_one_off(work, entry, entities[group->first_entity + block->disabled[at] - first]);
    }
}

/* How many links there are to make in one copy. */
static uint32_t count_links(const micap_spawning *work)
{
    if (work->def->link)
        return 0;
    return mica_is_nil(work->def->parent) ? work->resource->child_count : work->resource->header.entity_count;
}

/* Links children to parents in the order they were written, so that siblings keep theirs. What hooks have killed stays out. */
static bool link_children(micap_spawning *work)
{
    size_t links = (size_t)count_links(work) * work->copies, bytes = 2 * links * sizeof(mica_entity);
    if (!links)
        return true;
    mica_entity *children = micap_allocate_block(&work->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!children)
        return micap_spawn_fail_memory(work);
    mica_entity *parents = children + links;
    uint32_t count = 0;
    for (uint32_t copy = 0; copy < work->copies; ++copy)
        for (uint32_t i = 0; i < work->resource->header.entity_count; ++i) {
            uint32_t entity = mica_resource_entity_in_order(work->resource, i);
            uint32_t parent = mica_resource_parent(work->resource, entity);
            if (parent == MICA_NO_PARENT && mica_is_nil(work->def->parent))
                continue;
            children[count] = copy_of(work, copy)[entity];
            parents[count] = parent == MICA_NO_PARENT ? work->def->parent : copy_of(work, copy)[parent];
            count += mica_is_alive(work->world, children[count]) && mica_is_alive(work->world, parents[count]);
        }
    work->result = mica_set_parents(work->world, children, parents, count);
    micap_release_block(&work->memory, children, bytes, MICAP_ARRAY_ALIGNMENT);
    return work->result == MICA_OK;
}

/* Whether handles are needed: for references, names and links, or when the batch is over. */
static bool needs_entities(const micap_spawning *work)
{
    const mica_spawn_def *def = work->def;
    bool needed = def->out_entities || def->link || count_links(work) ||
                  (def->names != MICA_SPAWN_NAMES_NONE && micap_count_of(work->resource, MICAP_SECTION_NAMES));
    for (uint32_t i = 0; i < work->entry_count; ++i) {
        const micap_entry *entry = &work->entries[i];
        const micap_component_block *block = entry->block;
        needed = needed || (entry->component && (entry->is_separate || block->disabled_count ||
                                                 block->references.count || entry->has_spawn || block->refers));
    }
    return needed;
}

/* The batch has them group by group, each with all its copies; here they go copy by copy. */
static bool arrange_entities(micap_spawning *work)
{
    const mica_resource *resource = work->resource;
    size_t entity_count = resource->header.entity_count;
    if (!needs_entities(work))
        return true;
    mica_entity *arranged = work->def->out_entities;
    if (!arranged)
        arranged = work->kept = micap_allocate_block(&work->memory, entity_count * work->copies * sizeof *work->kept,
                                                     MICAP_ARRAY_ALIGNMENT);
    if (!arranged)
        return micap_spawn_fail_memory(work);
    work->entities = arranged;
    if (work->copies == 1) {
        mica_batch_entities(work->batch, arranged);
        return true;
    }
    for (mica_batch_run run = {0}; mica_batch_next(work->batch, &run);) {
        const micap_group_record *group = micap_record(resource, MICAP_SECTION_GROUPS, run.group);
        uint32_t row = run.first - group->first_entity * work->copies, at = row % group->entity_count;
        mica_entity *copy = arranged + row / group->entity_count * entity_count + group->first_entity;
        for (uint32_t i = 0; i < run.count; ++i) {
            copy[at] = run.entities[i];
            if (++at == group->entity_count) {
                copy += entity_count;
                at = 0;
            }
        }
    }
    return true;
}

/* Whether the file is a saved world that continues in this one. */
static bool is_resumed(const micap_spawning *work)
{
    const mica_spawn_def *def = work->def;
    return work->resource->single[MICAP_SECTION_STATE] && !def->skip_state && work->copies == 1 &&
           mica_is_nil(def->parent) && mica_is_nil(def->scope) && def->names == MICA_SPAWN_NAMES_ALL &&
           mica_world_is_unused(work->world);
}

static bool begin_resume(micap_spawning *work)
{
    const mica_resource *resource = work->resource;
    const micap_part *state = resource->single[MICAP_SECTION_STATE];
    uint32_t count = resource->header.entity_count;
    if (!is_resumed(work))
        return true;
    work->handles = micap_allocate_block(&work->memory, count * sizeof *work->handles, MICAP_ARRAY_ALIGNMENT);
    if (!work->handles)
        return micap_spawn_fail_memory(work);
    micap_resource_handles(resource, work->handles);
    if (mica_state_has_time(state->data, state->record.bytes))
        mica_time_set_scale(work->world, 1); /* so that there is a time to restore, also in a world without systems */
    work->result =
        mica_resume_begin(work->world, state->data, state->record.bytes, work->handles, count, &work->resume);
    return work->result == MICA_OK;
}

/* The batch, up to where it can still be taken back. */
static bool create_entities(micap_spawning *work)
{
    if (!begin_resume(work))
        return false;
    work->result = mica_batch_begin(work->world, work->groups, work->group_count, &work->batch);
    if (work->result != MICA_OK)
        return false;
    bool fine = arrange_entities(work);
    for (uint32_t i = 0; fine && i < work->entry_count; ++i)
        fine = complete_entry(work, &work->entries[i]);
    for (uint32_t copy = 0; fine && copy < work->copies && work->entities; ++copy)
        fine = name_entities(work, copy) && link_parents(work, copy);
    if (!fine)
        mica_batch_cancel(work->batch);
    return fine;
}

static void take_all_back(micap_spawning *work)
{
    uint32_t count = work->resource->header.entity_count;
    mica_destroy_many(work->world, work->handles ? work->handles : work->entities, count * work->copies);
}

static void finish_entities(micap_spawning *work)
{
    mica_result committed = mica_batch_commit(work->batch, work->order, work->entry_count);
    bool fine = link_children(work);
    for (uint32_t i = 0; i < work->entry_count; ++i) {
        const micap_entry *entry = &work->entries[i];
        uint32_t copies = entry->component && entry->is_separate ? work->copies : 0;
        for (uint32_t copy = 0; fine && copy < copies; ++copy)
            fine = give_separate(work, entry, copy);
    }
    fine = fine && (micap_spawn_reserve_singletons(work) || micap_spawn_fail_memory(work));
    if (!fine) {
        take_all_back(work);
        return;
    }
    for (uint32_t i = 0; i < work->entry_count; ++i) {
        micap_entry *entry = &work->entries[i];
        bool is_switched = entry->component && entry->type->toggle && entry->block->disabled_count;
        give_singleton(work, entry);
        for (uint32_t copy = 0; is_switched && copy < work->copies; ++copy)
            switch_off(work, entry, copy);
    }
    mica_result resumed = work->resume ? mica_resume_end(work->resume) : MICA_OK;
    work->resume = NULL;
    work->result = resumed == MICA_OK ? committed : resumed;
    if (resumed != MICA_OK)
        take_all_back(work);
}

mica_result mica_spawn(mica_world *world, const mica_resource *resource, const mica_spawn_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, resource) ||
        (def && MICAP_MISSING_ARRAY(world, def->rules, def->rule_count)))
        return MICA_ERROR_INVALID;
    static const mica_spawn_def defaults = {0};
    mica_result result;
    if (micap_spawn_flat(world, resource, def ? def : &defaults, &result))
        return result;
    micap_spawning work;
    memset(&work, 0, offsetof(micap_spawning, room));
    work.world = world;
    work.resource = resource;
    work.def = def ? def : &defaults;
    if (micap_spawn_prepare(&work) && create_entities(&work))
        finish_entities(&work);
    mica_resume_cancel(work.resume);
    micap_spawn_free(&work);
    return work.result;
}
