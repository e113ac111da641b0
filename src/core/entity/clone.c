/* A copy of an entity, with everything it has, at once or recorded: all of it or nothing. */
#include "core/entity/clone.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/bits.h"
#include "core/entity/create.h"
#include "core/events/hooks.h"
#include "core/events/settle.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"
#include "core/world/stale_pointers.h"
#include "pool/pool_rows.h"
#include "mica/split.h"

/* What cloning needs, in one allocation. */
typedef struct micap_cloning {
    mica_value *values;
    bool *off;   /* by component: whether it is disabled */
    char *whole; /* values of split components, put together */
    uint32_t count;
    size_t bytes;
} cloning;

/* Edges of relations are copied by their module. */
static uint32_t without_edges(mica_component *components, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!micap_type_of(components[i])->type.relation)
            components[kept++] = components[i];
    return kept;
}

static bool can_copy_all(const mica_world *world, const mica_component *components, uint32_t count)
{
    bool done = true;
    for (uint32_t i = 0; done && i < count; ++i)
        done = micap_expect_copyable(world, micap_type_of(components[i]), "clone");
    return done;
}

enum { ROOM_BYTES = 512 }; /* on the stack, for entities with few components */

/* False with a report if memory is short, or a component can't be copied. */
static bool begin_cloning(mica_world *world, mica_entity entity, cloning *parts, char *room)
{
    mica_component first[64], *components = first;
    parts->count = mica_get_components(world, entity, first, 64);
    if (parts->count > 64) {
        components = micap_allocate(&world->memory, parts->count * sizeof *components, MICAP_ARRAY_ALIGNMENT);
        if (!components)
            return micap_fail_memory(world, "clone"), false;
        mica_get_components(world, entity, components, parts->count);
    }
    uint32_t listed_count = parts->count;
    parts->count = without_edges(components, listed_count);
    size_t whole_bytes = 0;
    for (uint32_t i = 0; i < parts->count; ++i)
        if (micap_type_of(components[i])->leaves)
            whole_bytes += micap_align_up(micap_type_of(components[i])->type.size_bytes, MICAP_ARRAY_ALIGNMENT);
    size_t values_bytes = parts->count * sizeof *parts->values;
    parts->bytes = values_bytes + whole_bytes + parts->count;
    bool can_copy = can_copy_all(world, components, parts->count);
    if (can_copy && parts->bytes <= ROOM_BYTES)
        parts->values = (mica_value *)(void *)room;
    else if (can_copy && !(parts->values = micap_allocate(&world->memory, parts->bytes, MICAP_ARRAY_ALIGNMENT)))
        micap_fail_memory(world, "clone");
    if (parts->values) {
        parts->whole = (char *)parts->values + values_bytes;
        parts->off = (bool *)(parts->whole + whole_bytes);
        for (uint32_t i = 0; i < parts->count; ++i)
            parts->values[i] = (mica_value){.component = components[i]};
    }
    if (components != first)
        MICAP_RELEASE_ARRAY(&world->memory, components, listed_count);
    return parts->values != NULL;
}

/* Points each value at what it starts from, and notes the switches. */
static void find_values(const mica_world *world, mica_entity entity, const cloning *parts)
{
    char *whole = parts->whole;
    for (uint32_t i = 0; i < parts->count; ++i) {
        mica_value *value = &parts->values[i];
        const micap_type *type = micap_type_of(value->component);
        parts->off[i] = !mica_is_enabled_id(world, entity, value->component);
        if (type->leaves) {
            mica_get_value_id(world, entity, value->component, whole);
            value->data = whole;
            whole += micap_align_up(type->type.size_bytes, MICAP_ARRAY_ALIGNMENT);
        } else if (type->type.size_bytes) {
            value->data = mica_get_id(world, entity, value->component);
        }
    }
}

/* A copy of an instance beyond the first, on its way to the clone. */
typedef struct micap_extra {
    struct micap_extra *next;
    mica_pool *pool;
    size_t bytes; /* of the allocation: this struct and, aligned, the value */
    char *value;
} extra;

static void drop_extras(mica_world *world, extra *first, bool destruct)
{
    for (extra *at = first, *next; at; at = next) {
        next = at->next;
        if (destruct)
            micap_values_destruct(at->pool->type, at->value, 1);
        micap_release(&world->memory, at, at->bytes, MICAP_ARRAY_ALIGNMENT);
    }
}

static extra *copy_extra(mica_world *world, mica_pool *pool, uint32_t row)
{
    const micap_type *type = pool->type;
    size_t bytes = sizeof(extra) + type->type.alignment + type->type.size_bytes;
    extra *made = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!made)
        return NULL;
    char *value = (char *)(made + 1);
    value += micap_align_up((uintptr_t)value, type->type.alignment) - (uintptr_t)value;
    *made = (extra){.pool = pool, .bytes = bytes, .value = value};
    if (!pool->values)
        micap_pool_read_value(pool, row, value);
    if (!pool->values || micap_values_copy(type, value, micap_pool_value(pool, row), 1))
        return made;
    drop_extras(world, made, false);
    return NULL;
}

/* Copies of all instances beyond the first ones, and room for them; false when they can't be made. */
static bool make_extras(mica_world *world, mica_entity entity, const cloning *parts, extra **out_first)
{
    extra **end = out_first;
    for (uint32_t i = 0; i < parts->count; ++i) {
        mica_component component = parts->values[i].component;
        mica_pool *pool = micap_is_pooled(component) ? micap_pool_of(world, component) : NULL;
        uint32_t count = 1;
        if (!pool || !pool->next)
            continue;
        for (uint32_t row = pool->next[micap_pool_row(pool, entity)]; row != MICAP_ROW_NONE; row = pool->next[row]) {
            *end = copy_extra(world, pool, row);
            if (!*end)
                return false;
            end = &(*end)->next;
            ++count;
        }
        if (!micap_pools_make_room(world, pool, entity, count))
            return false;
    }
    return true;
}

/* Hooks may have taken the component away again, or used up the room that was made, so that adding can fail after all. */
static bool add_extra(mica_world *world, mica_entity clone, const extra *added)
{
    mica_pool *pool = added->pool;
    if (micap_pool_row(pool, clone) == MICAP_ROW_NONE)
        return false;
    if (!micap_pools_make_room(world, pool, clone, 1)) {
        micap_fail_memory(world, "clone");
        return false;
    }
    micap_pool_move_value_in(pool, micap_pool_next_row(pool, clone), added->value);
    uint32_t row = micap_pools_commit(world, pool, clone);
    if (pool->hook_mask & 1 << MICA_EVENT_ADD)
        micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
    return true;
}

static void add_extras(mica_world *world, mica_entity clone, extra *first)
{
    for (extra *at = first, *next; at; at = next) {
        next = at->next;
        at->next = NULL;
        bool added = mica_is_alive(world, clone) && add_extra(world, clone, at);
        drop_extras(world, at, !added);
    }
}

static void switch_off(mica_world *world, mica_entity clone, const cloning *parts)
{
    for (uint32_t i = 0; i < parts->count && mica_is_alive(world, clone); ++i)
        if (parts->off[i])
            mica_enable_id(world, clone, parts->values[i].component, false);
}

static mica_entity clone_now(mica_world *world, mica_entity entity, const cloning *parts)
{
    extra *extras = NULL;
    if (!make_extras(world, entity, parts, &extras)) {
        drop_extras(world, extras, true);
        micap_fail_memory(world, "clone");
        return mica_nil();
    }
    find_values(world, entity, parts); /* making room may have moved them */
    micap_settle_hold(world);
    mica_entity clone = micap_create_exactly(world, parts->values, parts->count);
    add_extras(world, clone, extras);
    switch_off(world, clone, parts);
    micap_settle_end_hold(world);
    micap_hooks_end(world);
    return clone;
}

static bool record_extras(mica_world *world, mica_entity entity, mica_entity clone, const cloning *parts)
{
    for (uint32_t i = 0; i < parts->count; ++i) {
        mica_component component = parts->values[i].component;
        const mica_pool *pool = micap_is_pooled(component) ? micap_pool_of(world, component) : NULL;
        if (!pool || !pool->next)
            continue;
        for (uint32_t row = pool->next[micap_pool_row(pool, entity)]; row != MICAP_ROW_NONE; row = pool->next[row])
            if (!micap_command_copy_instance(micap_recorder(world), clone, pool, row))
                return false;
    }
    return true;
}

static mica_entity record_clone(mica_world *world, mica_entity entity, const cloning *parts)
{
    find_values(world, entity, parts);
    mica_entity clone = micap_create_exactly(world, parts->values, parts->count);
    if (mica_is_nil(clone))
        return clone;
    if (!record_extras(world, entity, clone, parts)) {
        micap_command_forget_create(micap_recorder(world), clone);
        return mica_nil();
    }
    switch_off(world, clone, parts);
    return clone;
}

enum {
    HOOKED_MAX = 16, /* columns of a row whose hooks are called by the fast path */
    LISTED_MAX = 32, /* components of an entity that the fast path with pools copies */
};

/* Calls the hooks of a row that was created with all its values. */
static void announce_row(mica_world *world, micap_row row)
{
    const micap_archetype *archetype = row.chunk->archetype;
    mica_value values[HOOKED_MAX];
    for (uint32_t i = 0; i < archetype->column_count; ++i)
        values[i] = (mica_value){archetype->columns[i].component, archetype->columns[i].bytes,
                                 micap_chunk_value(row.chunk, i, row.row)};
    micap_settle_hold(world);
    micap_hooks_added_given(world, row, values, archetype->column_count);
    micap_settle_end_hold(world);
    micap_hooks_end(world);
}

/* The fast path: a row whose columns are copied as bytes, without pools and companions, is copied to the end of its archetype. */
static mica_entity clone_row(mica_world *world, mica_entity entity, micap_archetype *archetype)
{
    uint64_t *record;
    mica_entity clone = mica_nil();
    if (micap_rows_reserve_one(world, archetype))
        clone = micap_entity_take_record(world, &world->entities, &record);
    if (mica_is_nil(clone)) {
        micap_fail_memory(world, "clone");
        return clone;
    }
    micap_row from = micap_locate(world, entity), to = micap_rows_next(archetype); /* making room may have moved it */
    const micap_column_data *source = micap_chunk_columns(from.chunk), *target = micap_chunk_columns(to.chunk);
    for (uint32_t i = archetype->column_count; i; --i, ++source, ++target)
        micap_copy_inline(target->values + to.row * target->bytes, source->values + from.row * source->bytes,
                          target->bytes);
    micap_rows_commit_record(world, to, clone, record);
    ++world->structure;
    if (MICAP_UNLIKELY(micap_creation_hooks(archetype)))
        announce_row(world, to);
    return clone;
}

static bool is_for_row(const micap_archetype *archetype)
{
    return !micap_creation_hooks(archetype) || archetype->column_count <= HOOKED_MAX;
}

/* The same for an entity that is also in pools with the fast path: its values are listed where they are, and an entity is created with
 * them. */
static MICAP_NOINLINE mica_entity clone_listed(mica_world *world, mica_entity entity, micap_row spot, uint64_t mask)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    mica_value values[LISTED_MAX], *value = values;
    for (uint32_t i = 0, column = 0; i < archetype->component_count; ++i, ++value) {
        *value = (mica_value){.component = archetype->components[i]};
        if (column < archetype->column_count && archetype->columns[column].component == value->component)
            value->data = micap_chunk_value(spot.chunk, column++, spot.row);
    }
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        const mica_pool *pool = world->pools.all[i];
        if (mask >> pool->bit & 1)
            *value++ = (mica_value){.component = pool->type->id,
                                    .data = pool->values ? micap_pool_value(pool, micap_pool_row(pool, entity)) : NULL};
    }
    return micap_create_exactly(world, values, (uint32_t)(value - values));
}

static bool is_for_list(const mica_world *world, const micap_archetype *archetype, uint64_t mask)
{
    return micap_pools_leave_fast(&world->pools, mask) && !micap_creation_hooks(archetype) &&
           archetype->component_count + world->pools.count <= LISTED_MAX;
}

/* The general path: now, or recorded. */
static MICAP_NOINLINE mica_entity clone_any(mica_world *world, mica_entity entity)
{
    _Alignas(MICAP_ARRAY_ALIGNMENT) char room[ROOM_BYTES];
    cloning parts = {0};
    if (!begin_cloning(world, entity, &parts, room))
        return mica_nil();
    mica_entity clone = world->recording_depth ? record_clone(world, entity, &parts) : clone_now(world, entity, &parts);
    if (parts.bytes > ROOM_BYTES)
        micap_release(&world->memory, parts.values, parts.bytes, MICAP_ARRAY_ALIGNMENT);
    return clone;
}

mica_entity micap_clone_components(mica_world *world, mica_entity entity)
{
    micap_row spot = micap_locate(world, entity);
    if (!micap_is_row(spot)) {
        micap_fail_dead(world, entity, "clone");
        return mica_nil();
    }
    micap_archetype *archetype = spot.chunk->archetype;
    if (archetype->copies_as_bytes && !archetype->has_companions && !world->recording_depth) {
        uint64_t mask = micap_pools_mask(&world->pools, entity.index);
        if (!mask && is_for_row(archetype))
            return clone_row(world, entity, archetype);
        if (mask && is_for_list(world, archetype, mask))
            return clone_listed(world, entity, spot, mask);
    }
    return clone_any(world, entity);
}

mica_entity mica_clone(mica_world *world, mica_entity entity)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    mica_entity clone = micap_clone_components(world, entity);
    if (mica_is_nil(clone) || MICAP_LIKELY(!world->copies) || micap_modules_copied(world, &entity, &clone, 1))
        return clone;
    if (mica_is_alive(world, clone)) /* a hook may have destroyed it */
        mica_destroy(world, clone);
    return mica_nil();
}
