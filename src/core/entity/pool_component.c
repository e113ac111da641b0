#include "core/entity/pool_component.h"

#include "base/assert.h"
#include "core/entity/pool_create.h"
#include "core/entity/required.h"

#include "core/events/hooks.h"
#include "core/world/report.h"
#include "core/events/watch.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_edges.h"
#include "pool/pool_rows.h"
#include "pool/pool_undo.h"

static const mica_location no_place = {0};

static void fail_split(const mica_world *world, const mica_pool *pool)
{
    micap_fail(world, MICA_ERROR_INVALID, no_place,
               "component %s is split: there is no whole value to point to; use mica_get_field or mica_get_value",
               pool->type->type.name);
}

/* The value of a row; something to point to for a tag. */
static void *value_of(const mica_world *world, const mica_pool *pool, uint32_t row)
{
    if (MICAP_LIKELY(pool->values != NULL))
        return micap_pool_value(pool, row);
    if (pool->kind == MICAP_POOL_TAG)
        return &micap_tag_value;
    fail_split(world, pool);
    return NULL;
}

/* Pools whose index alone does not tell. */
static MICAP_NOINLINE const void *get_any(const mica_world *world, mica_entity entity, const mica_pool *pool)
{
    uint32_t row = micap_pooled_row(world, pool, entity);
    return row == MICAP_ROW_NONE ? NULL : value_of(world, pool, row);
}

static inline const void *get_hashed(const mica_pool *pool, mica_entity entity)
{
    uint64_t entry = pool->index.slot_count ? *micap_hash_slot(&pool->index, entity.index) : 0;
    uint32_t row = (uint32_t)entry - 1;
    return entry && pool->owners[row].generation == entity.generation ? micap_pool_value(pool, row) : NULL;
}

/* Whole values whose owner lives: what the index says is all there is to know. */
const void *micap_pooled_get(const mica_world *world, mica_entity entity, mica_component component)
{
    const mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_UNLIKELY(!pool))
        return NULL;
    uint32_t page = entity.index >> MICAP_MAP_PAGE_SHIFT, at = entity.index & (MICAP_MAP_PAGE_ENTRIES - 1);
    uint64_t row = entity.index;
    if (MICAP_LIKELY(pool->fast_kind == MICAP_POOL_MAP))
        row = MICAP_LIKELY(page < pool->index.page_count) ? micap_map_row_of(pool->index.pages[page][at], entity)
                                                          : UINT64_MAX;
    else if (pool->fast_kind != MICAP_POOL_DIRECT)
        return pool->fast_kind == MICAP_POOL_HASH ? get_hashed(pool, entity) : get_any(world, entity, pool);
    else if (row < pool->row_limit && (!mica_same(pool->owners[row], entity) || mica_is_nil(entity)))
        return NULL;
    return MICAP_LIKELY(row < pool->row_limit) ? pool->values + row * pool->value_bytes : NULL;
}

void *micap_pooled_write(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    uint32_t row = pool ? micap_pooled_row(world, pool, entity) : MICAP_ROW_NONE;
    if (row == MICAP_ROW_NONE)
        return NULL;
    if (MICAP_LIKELY(pool->values != NULL))
        micap_pool_touch_value(pool, row, micap_version(world));
    return value_of(world, pool, row);
}

/* Of a component that the world does not use, or whose edges are in no pool. */
static MICAP_COLD bool has_elsewhere(const mica_world *world, mica_entity entity, mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type && type->type.parents && micap_parent_edges.from(world, entity) != MICAP_ROW_NONE;
}

bool micap_pooled_has(const mica_world *world, mica_entity entity, mica_component component)
{
    const mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_LIKELY(pool && !pool->type->type.parents))
        return micap_pooled_row(world, pool, entity) != MICAP_ROW_NONE;
    return has_elsewhere(world, entity, component);
}

static mica_pool *pool_to_change(mica_world *world, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_LIKELY(pool != NULL))
        return pool;
    return micap_component_use(world, component) ? micap_pool_of(world, component) : NULL;
}

static void *add_now(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = pool_to_change(world, component);
    if (!pool || !micap_takes_values(world, pool->type, no_place))
        return NULL;
    uint32_t row = micap_pool_row(pool, entity);
    if (row != MICAP_ROW_NONE && pool->values)
        micap_pool_touch(pool, 0, row, 1, micap_version(world));
    if (row == MICAP_ROW_NONE && micap_may_bring(world, pool->type))
        row = micap_add_required(world, entity, pool->type, NULL) ? micap_pool_row(pool, entity) : MICAP_ROW_NONE;
    else if (row == MICAP_ROW_NONE)
        row = micap_pooled_add_row(world, pool, entity, NULL);
    if (row == MICAP_ROW_NONE)
        return NULL;
    return pool->values ? micap_pool_value(pool, row) : &micap_tag_value;
}

void *micap_pooled_add(mica_world *world, mica_entity entity, mica_component component)
{
    void *value = add_now(world, entity, component);
    if (!value || !world->hooks_recorded)
        return value;
    micap_hooks_end(world); /* which may have moved or removed it */
    return micap_pooled_has(world, entity, component) ? add_now(world, entity, component) : NULL;
}

/* Overwrites a value that is there, with a copy or, from NULL, the default. When that fails the old value stays. */
static bool replace_value(mica_world *world, mica_pool *pool, uint32_t row, const void *from)
{
    const micap_type *type = pool->type;
    if (pool->kind != MICAP_POOL_TAG)
        micap_pool_preserve(pool, row, 1);
    if (pool->kind == MICAP_POOL_TAG || (from && !type->leaves && from == micap_pool_value(pool, row)))
        return true;
    if (from && !type->type.copy && !type->type.destruct) {
        micap_pool_write_value(pool, row, from);
    } else {
        void *fresh = pool->scratch;
        if (type->leaves) { /* plain, and to be zero */
            micap_pool_make_value(pool, row, NULL);
        } else if (!fresh) {
            micap_values_construct(type, micap_pool_value(pool, row), 1);
        } else if (from ? micap_values_copy(type, fresh, from, 1) : micap_values_construct(type, fresh, 1)) {
            micap_pool_destruct_value(pool, row);
            micap_pool_move_value_in(pool, row, fresh);
        } else {
            return micap_fail_value(world, type);
        }
    }
    micap_pool_touch(pool, MICAP_ALL_COLUMNS, row, 1, micap_version(world));
    return true;
}

bool micap_pooled_set(mica_world *world, mica_entity entity, const mica_value *value)
{
    mica_pool *pool = pool_to_change(world, value->component);
    if (!pool || !micap_takes_values(world, pool->type, no_place) ||
        !micap_value_fits(world, pool->type, value, no_place))
        return false;
    uint32_t row = micap_pool_row(pool, entity);
    if (row == MICAP_ROW_NONE && micap_may_bring(world, pool->type)) {
        if (!micap_add_required(world, entity, pool->type, value->data))
            return false;
        if (value->data) /* the set hook has run */
            return true;
    } else if (row == MICAP_ROW_NONE) {
        if (micap_pooled_add_row(world, pool, entity, value->data) == MICAP_ROW_NONE)
            return false;
    } else if (!replace_value(world, pool, row, value->data)) {
        return false;
    }
    if (pool->hook_mask & 1 << MICA_EVENT_SET)
        micap_pools_run_hook(world, MICA_EVENT_SET, pool, micap_pool_row(pool, entity), 1);
    return true;
}

bool micap_pooled_remove(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    return pool && micap_pools_remove(world, pool, entity);
}

bool micap_pooled_enable(mica_world *world, mica_entity entity, const micap_type *type, bool enabled)
{
    mica_pool *pool = micap_pool_of(world, type->id);
    uint32_t row = pool ? micap_pool_row(pool, entity) : MICAP_ROW_NONE;
    if (row == MICAP_ROW_NONE)
        return false;
    uint32_t first = row;
    bool changed = pool->enabled[row] != enabled;
    for (; row != MICAP_ROW_NONE; row = pool->next ? pool->next[row] : MICAP_ROW_NONE) {
        micap_pool_preserve(pool, row, 1);
        pool->enabled[row] = enabled;
    }
    mica_event_kind kind = enabled ? MICA_EVENT_ENABLE : MICA_EVENT_DISABLE;
    if (changed && pool->hook_mask & 1 << kind)
        micap_pools_run_hook(world, kind, pool, first, 1);
    return true;
}

bool micap_pooled_is_enabled(const mica_world *world, mica_entity entity, mica_component component)
{
    const mica_pool *pool = micap_pool_of(world, component);
    uint32_t row = pool ? micap_pooled_row(world, pool, entity) : MICAP_ROW_NONE;
    return row != MICAP_ROW_NONE && (!pool->enabled || pool->enabled[row]);
}
