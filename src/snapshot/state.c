/* What is copied when a snapshot is taken: what there is one of, or few. */
#include "core/part.h"
#include "core/removals.h"
#include "snapshot/snapshots.h"

static bool save_stock(mica_world *world, micap_saved *saved, const mica_commands *commands)
{
    if (commands->owned || (!commands->stock_count && !commands->taken_count))
        return true;
    if (!MICAP_RESERVE(&world->memory, saved->stocks, &saved->stock_capacity, (uint64_t)saved->stock_count + 1))
        return false;
    micap_saved_stock *stock = &saved->stocks[saved->stock_count];
    *stock = (micap_saved_stock){.commands = commands, .taken_count = commands->taken_count};
    size_t bytes = commands->stock_count * sizeof *stock->handles;
    stock->handles = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!stock->handles)
        return false;
    if (bytes)
        memcpy(stock->handles, commands->stock, bytes);
    stock->count = commands->stock_count;
    ++saved->stock_count;
    return true;
}

/* The next buffer, of those in order and then of those that are parked. */
static mica_commands *buffer_after(const mica_world *world, const mica_commands *commands)
{
    if (commands && commands->is_parked)
        return commands->parked;
    mica_commands *next = commands ? commands->next : world->first_commands;
    while (next && next->is_parked) /* lined up for a flush: it comes later */
        next = next->next;
    return next ? next : world->parked_commands;
}

static bool save_stocks(mica_world *world, micap_saved *saved)
{
    const mica_commands *commands = NULL;
    while ((commands = buffer_after(world, commands)))
        if (!save_stock(world, saved, commands))
            return false;
    return true;
}

static void *copy_value(mica_world *world, const micap_type *type, const void *from)
{
    void *value = micap_allocate(&world->memory, type->type.size_bytes, type->type.alignment);
    if (value && micap_values_copy(type, value, from, 1))
        return value;
    micap_release(&world->memory, value, type->type.size_bytes, type->type.alignment);
    return NULL;
}

static bool save_singletons(mica_world *world, micap_saved *saved)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_component *component = micap_component_of(&world->components, id);
        if (!component->singleton || component->is_unborn)
            continue;
        if (!MICAP_RESERVE(&world->memory, saved->singletons, &saved->singleton_capacity,
                           (uint64_t)saved->singleton_count + 1))
            return false;
        void *value = copy_value(world, component->type, component->singleton);
        if (!value)
            return false;
        saved->singletons[saved->singleton_count++] = (micap_saved_singleton){.component = id, .value = value};
    }
    return true;
}

static bool save_marks(mica_world *world, micap_saved *saved)
{
    for (uint32_t i = 0; i < world->queries.count; ++i) {
        const mica_query *query = world->queries.all[i];
        if (!query->special || !micap_query_is_marked(query))
            continue;
        if (!MICAP_RESERVE(&world->memory, saved->marks, &saved->mark_capacity, (uint64_t)saved->mark_count + 1))
            return false;
        saved->marks[saved->mark_count++] = (micap_saved_mark){query->id, query->last_mark};
    }
    return true;
}

static bool save_removals(mica_world *world, micap_saved *saved, const mica_removals *removals)
{
    for (; removals; removals = removals->next) {
        uint32_t count = removals->count - removals->first;
        if (!MICAP_RESERVE(&world->memory, saved->removals, &saved->removals_capacity,
                           (uint64_t)saved->removals_count + 1))
            return false;
        mica_entity *entities = micap_allocate(&world->memory, count * sizeof *entities, MICAP_ARRAY_ALIGNMENT);
        if (!entities)
            return false;
        if (count)
            memcpy(entities, removals->entities + removals->first, count * sizeof *entities);
        saved->removals[saved->removals_count++] = (micap_saved_removals){removals, entities, count, removals->missed};
    }
    return true;
}

static bool save_all_removals(mica_world *world, micap_saved *saved)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id)))
        if (!save_removals(world, saved, micap_component_of(&world->components, id)->removals))
            return false;
    return true;
}

static bool save_modules(mica_world *world, micap_saved *saved)
{
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &world->modules[id];
        if (module->ops && module->ops->save && !(saved->modules[id] = module->ops->save(world, module->state)))
            return false;
    }
    return true;
}

bool micap_saved_take(mica_world *world, micap_saved *saved)
{
    saved->archetype_count = world->archetypes.count;
    bool done = micap_handles_save(world, &saved->handles) && (saved->pools = micap_pools_save(world)) != NULL &&
                save_stocks(world, saved) && save_singletons(world, saved) && save_marks(world, saved) &&
                save_all_removals(world, saved) && save_modules(world, saved);
    if (!done)
        micap_saved_drop(world, saved);
    return done;
}

static void drop_value(mica_world *world, const micap_type *type, void *value)
{
    if (value)
        micap_values_destruct(type, value, 1);
    micap_release(&world->memory, value, type->type.size_bytes, type->type.alignment);
}

void micap_saved_drop(mica_world *world, micap_saved *saved)
{
    micap_memory *memory = &world->memory;
    micap_handles_drop(world, &saved->handles);
    micap_pools_drop_state(world, saved->pools);
    for (uint32_t i = 0; i < saved->stock_count; ++i)
        MICAP_RELEASE_ARRAY(memory, saved->stocks[i].handles, saved->stocks[i].count);
    for (uint32_t i = 0; i < saved->singleton_count; ++i) {
        const micap_type *type = micap_type_of(saved->singletons[i].component);
        drop_value(world, type, saved->singletons[i].value);
        drop_value(world, type, saved->singletons[i].ready);
    }
    for (uint32_t i = 0; i < saved->removals_count; ++i)
        MICAP_RELEASE_ARRAY(memory, saved->removals[i].entities, saved->removals[i].count);
    for (uint32_t id = 0; id < MICAP_MODULES; ++id)
        if (saved->modules[id] && world->modules[id].ops)
            world->modules[id].ops->drop(world, world->modules[id].state, saved->modules[id]);
    MICAP_RELEASE_ARRAY(memory, saved->stocks, saved->stock_capacity);
    MICAP_RELEASE_ARRAY(memory, saved->singletons, saved->singleton_capacity);
    MICAP_RELEASE_ARRAY(memory, saved->marks, saved->mark_capacity);
    MICAP_RELEASE_ARRAY(memory, saved->removals, saved->removals_capacity);
    *saved = (micap_saved){0};
}

static const micap_saved_stock *stock_of(const micap_saved *saved, const mica_commands *commands)
{
    for (uint32_t i = 0; i < saved->stock_count; ++i)
        if (saved->stocks[i].commands == commands)
            return &saved->stocks[i];
    return NULL;
}

static micap_saved_removals *removals_of(const micap_saved *saved, const mica_removals *removals)
{
    for (uint32_t i = 0; i < saved->removals_count; ++i)
        if (saved->removals[i].removals == removals)
            return &saved->removals[i];
    return NULL;
}

static bool prepare_removals(mica_world *world, const micap_saved *saved)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id)))
        for (mica_removals *list = micap_component_of(&world->components, id)->removals; list; list = list->next) {
            const micap_saved_removals *old = removals_of(saved, list);
            if (old && !MICAP_RESERVE(&world->memory, list->entities, &list->capacity, old->count))
                return false;
        }
    return true;
}

/* Values that own something are used up when they are put back. */
static bool prepare_singletons(mica_world *world, const micap_saved *saved)
{
    for (uint32_t i = 0; i < saved->singleton_count; ++i) {
        micap_saved_singleton *singleton = &saved->singletons[i];
        const micap_type *type = micap_type_of(singleton->component);
        if (!micap_is_plain(type) && !singleton->ready &&
            !(singleton->ready = copy_value(world, type, singleton->value)))
            return false;
    }
    return true;
}

bool micap_saved_prepare(mica_world *world, const micap_saved *saved)
{
    if (!micap_handles_prepare(world, &saved->handles) || !prepare_removals(world, saved) ||
        !prepare_singletons(world, saved))
        return false;
    mica_commands *commands = NULL;
    while ((commands = buffer_after(world, commands))) {
        const micap_saved_stock *stock = stock_of(saved, commands);
        if (stock && !MICAP_RESERVE(&world->memory, commands->stock, &commands->stock_capacity, stock->count))
            return false;
    }
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &world->modules[id];
        if (saved->modules[id] && module->ops->prepare &&
            !module->ops->prepare(world, module->state, saved->modules[id]))
            return false;
    }
    return true;
}

static bool is_buffer(const mica_world *world, const mica_commands *wanted)
{
    const mica_commands *commands = NULL;
    while ((commands = buffer_after(world, commands)))
        if (commands == wanted)
            return true;
    return false;
}

static void restore_stocks(mica_world *world, const micap_saved *saved)
{
    mica_commands *commands = NULL;
    while ((commands = buffer_after(world, commands))) {
        const micap_saved_stock *stock = stock_of(saved, commands);
        commands->stock_count = stock ? stock->count : 0;
        commands->taken_count = stock ? stock->taken_count : 0;
        if (commands->stock_count)
            memcpy(commands->stock, stock->handles, stock->count * sizeof *stock->handles);
    }
    for (uint32_t i = 0; i < saved->stock_count; ++i) {
        const micap_saved_stock *stock = &saved->stocks[i];
        bool is_gone = !is_buffer(world, stock->commands);
        for (uint32_t k = 0; k < stock->count; ++k) {
            mica_entity handle = stock->handles[k];
            *micap_record_at(&world->entities, handle.index) =
                micap_record_pack(handle.generation, MICAP_CHUNK_PENDING, 0);
            if (is_gone)
                micap_entity_give_unused(&world->entities, handle);
        }
    }
}

static void restore_singleton(mica_world *world, void *live, micap_saved_singleton *saved)
{
    const micap_type *type = micap_type_of(saved->component);
    if (!saved->ready) {
        memcpy(live, saved->value, type->type.size_bytes);
        return;
    }
    micap_values_destruct(type, live, 1);
    micap_values_move(type, live, saved->ready, 1);
    micap_release(&world->memory, saved->ready, type->type.size_bytes, type->type.alignment);
    saved->ready = NULL;
}

/* Queries count on the singletons of their terms. */
static bool is_asked_for(const mica_world *world, mica_component component)
{
    for (uint32_t i = 0; i < world->queries.count; ++i)
        for (uint32_t term = 0; term < world->queries.all[i]->term_count; ++term)
            if (world->queries.all[i]->terms[term].component == component)
                return true;
    return false;
}

/* What was not there yet is as when it will be made; pointers to it stay good. */
static void begin_anew(const mica_world *world, micap_component *component)
{
    const micap_type *type = component->type;
    micap_values_destruct(type, component->singleton, 1);
    if (!micap_values_construct(type, component->singleton, 1))
        memset(component->singleton, 0, type->type.size_bytes);
    component->is_unborn = !is_asked_for(world, type->id);
}

static void restore_singletons(mica_world *world, const micap_saved *saved)
{
    uint32_t at = 0;
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        micap_component *component = micap_component_of(&world->components, id);
        if (!component->singleton)
            continue;
        while (at < saved->singleton_count && saved->singletons[at].component < id)
            ++at;
        bool was_there = at < saved->singleton_count && saved->singletons[at].component == id;
        component->is_unborn = false;
        if (was_there)
            restore_singleton(world, component->singleton, &saved->singletons[at]);
        else
            begin_anew(world, component);
    }
}

static void restore_marks(mica_world *world, const micap_saved *saved)
{
    for (uint32_t i = 0; i < world->queries.count; ++i) {
        mica_query *query = world->queries.all[i];
        query->order_valid = false;
        if (!query->special || !micap_query_is_marked(query))
            continue;
        query->last_mark = 0;
        for (uint32_t k = 0; k < saved->mark_count; ++k)
            if (saved->marks[k].query_id == query->id)
                query->last_mark = saved->marks[k].mark;
    }
}

static void restore_removals(mica_world *world, const micap_saved *saved)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id)))
        for (mica_removals *list = micap_component_of(&world->components, id)->removals; list; list = list->next) {
            const micap_saved_removals *old = removals_of(saved, list);
            list->first = 0;
            list->count = old ? old->count : 0;
            list->missed = old ? old->missed : 0;
            if (list->count)
                memcpy(list->entities, old->entities, old->count * sizeof *old->entities);
        }
}

void micap_saved_restore(mica_world *world, const micap_saved *saved)
{
    restore_stocks(world, saved);
    restore_singletons(world, saved);
    restore_marks(world, saved);
    restore_removals(world, saved);
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &world->modules[id];
        if (module->ops && module->ops->load)
            module->ops->load(world, module->state, saved->modules[id]);
    }
}
