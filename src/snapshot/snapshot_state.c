#include "snapshot/snapshot_state.h"

#include "core/query/view.h"
#include "core/events/removals.h"

static bool save_stock(mica_world *world, micap_saved *saved, const mica_commands *commands)
{
    if (commands->owned || (!commands->stock_count && !commands->taken_count))
        return true;
    if (!MICAP_RESERVE(&world->memory, saved->stocks, &saved->stock_capacity, (uint64_t)saved->stock_count + 1))
        return false;
    micap_saved_stock *stock = &saved->stocks[saved->stock_count];
    *stock = (micap_saved_stock){.buffer = commands->serial, .taken_count = commands->taken_count};
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

/* The next buffer, of those in order and then of those that are parked; none of these is lined up. */
static mica_commands *buffer_after(const mica_world *world, const mica_commands *commands)
{
    if (commands && commands->is_parked)
        return commands->parked;
    mica_commands *next = commands ? commands->next : world->first_commands;
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

/* A copy of a value, or a fresh one where there is none. */
static void *make_value(mica_world *world, const micap_type *type, const void *from)
{
    void *value = micap_allocate(&world->memory, type->type.size_bytes, type->type.alignment);
    if (value && (from ? micap_values_copy(type, value, from, 1) : micap_values_construct(type, value, 1)))
        return value;
    micap_release(&world->memory, value, type->type.size_bytes, type->type.alignment);
    return NULL;
}

static micap_saved_singleton *add_singleton(mica_world *world, micap_saved *saved, mica_component component)
{
    if (!MICAP_RESERVE(&world->memory, saved->singletons, &saved->singleton_capacity,
                       (uint64_t)saved->singleton_count + 1))
        return NULL;
    micap_saved_singleton *singleton = &saved->singletons[saved->singleton_count++];
    *singleton = (micap_saved_singleton){.component = component};
    return singleton;
}

static bool save_singletons(mica_world *world, micap_saved *saved)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_component *component = micap_component_of(&world->components, id);
        if (!component->singleton || component->is_unborn)
            continue;
        micap_saved_singleton *singleton = add_singleton(world, saved, id);
        if (!singleton || !(singleton->value = make_value(world, component->type, component->singleton)))
            return false;
    }
    return true;
}

static bool save_marks(mica_world *world, micap_saved *saved)
{
    for (uint32_t i = 0; i < world->queries->count; ++i) {
        const mica_query *query = world->queries->all[i];
        if (!query->special || !query->is_marked)
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
        saved->removals[saved->removals_count++] =
            (micap_saved_removals){removals->serial, entities, count, removals->missed};
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
        if (saved->modules[id])
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
        if (saved->stocks[i].buffer == commands->serial)
            return &saved->stocks[i];
    return NULL;
}

static micap_saved_removals *removals_of(const micap_saved *saved, const mica_removals *removals)
{
    for (uint32_t i = 0; i < saved->removals_count; ++i)
        if (saved->removals[i].list == removals->serial)
            return &saved->removals[i];
    return NULL;
}

static micap_saved_singleton *singleton_of(const micap_saved *saved, mica_component component)
{
    for (uint32_t i = 0; i < saved->singleton_count; ++i)
        if (saved->singletons[i].component == component)
            return &saved->singletons[i];
    return NULL;
}

/* Values with functions of their own are made here, to be put back: copies of what was, and fresh ones of what was not there
 * yet. */
static bool prepare_singletons(mica_world *world, micap_saved *saved)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        const micap_component *component = micap_component_of(&world->components, id);
        if (!component->singleton || component->type->trivial)
            continue;
        micap_saved_singleton *singleton = singleton_of(saved, id);
        if (!singleton && !(singleton = add_singleton(world, saved, id)))
            return false;
        if (!singleton->ready && !(singleton->ready = make_value(world, component->type, singleton->value)))
            return false;
    }
    return true;
}

/* Buffers and lists never shrink: there is room for what was in them. */
bool micap_saved_prepare(mica_world *world, micap_saved *saved)
{
    if (!micap_handles_prepare(world, &saved->handles) || !prepare_singletons(world, saved))
        return false;
    for (uint32_t id = 0; id < MICAP_MODULES; ++id) {
        const micap_module *module = &world->modules[id];
        if (saved->modules[id] && module->ops->prepare &&
            !module->ops->prepare(world, module->state, saved->modules[id]))
            return false;
    }
    return true;
}

static bool is_buffer(const mica_world *world, uint64_t serial)
{
    const mica_commands *commands = NULL;
    while ((commands = buffer_after(world, commands)))
        if (commands->serial == serial)
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
        bool is_destroyed = !is_buffer(world, stock->buffer);
        for (uint32_t k = 0; k < stock->count; ++k) {
            mica_entity handle = stock->handles[k];
            micap_entity_take_back(&world->entities, handle);
            if (is_destroyed)
                micap_entity_give_unused(&world->entities, handle);
        }
    }
}

/* A singleton that did not exist at the time of the snapshot gets its initial value; pointers to it stay valid. */
static void restore_singleton(mica_world *world, micap_component *component, micap_saved_singleton *saved)
{
    const micap_type *type = component->type;
    size_t bytes = type->type.size_bytes;
    if (saved && saved->ready) {
        micap_values_destruct(type, component->singleton, 1);
        micap_values_move(type, component->singleton, saved->ready, 1);
        micap_release(&world->memory, saved->ready, bytes, type->type.alignment);
        saved->ready = NULL;
    } else if (saved) {
        memcpy(component->singleton, saved->value, bytes);
    } else {
        memset(component->singleton, 0, bytes);
    }
    component->is_unborn = !saved || !saved->value; /* also with queries that show it: their next view uses it */
}

static void restore_singletons(mica_world *world, const micap_saved *saved)
{
    mica_component id = 0;
    while ((id = micap_component_after(&world->components, id))) {
        micap_component *component = micap_component_of(&world->components, id);
        if (component->singleton)
            restore_singleton(world, component, singleton_of(saved, id));
    }
}

static void restore_marks(mica_world *world, const micap_saved *saved)
{
    for (uint32_t i = 0; i < world->queries->count; ++i) {
        mica_query *query = world->queries->all[i];
        query->order_valid = false;
        if (!query->special || !query->is_marked)
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
