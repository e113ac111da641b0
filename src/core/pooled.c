#include "core/pooled.h"

#include "core/hooks.h"
#include "core/report.h"
#include "core/watch.h"

static const mica_place no_place = {0};

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

/* Kinds of pools that are not quick: see below. */
static __attribute__((noinline)) const void *get_any(const mica_world *world, mica_entity entity,
                                                     mica_component component)
{
    const mica_pool *pool = micap_pool_of(world, component);
    uint32_t row = pool ? micap_pooled_row(world, pool, entity) : MICAP_ROW_NONE;
    return row == MICAP_ROW_NONE ? NULL : value_of(world, pool, row);
}

/* Whole values whose owner lives: what the index says is all there is to know. */
const void *micap_pooled_get(const mica_world *world, mica_entity entity, mica_component component)
{
    const mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_UNLIKELY(!pool || !pool->is_quick))
        return get_any(world, entity, component);
    uint32_t row;
    if (pool->kind == MICAP_POOL_MAP) {
        row = micap_map_find(&pool->index, entity);
    } else {
        row = entity.index;
        if (row >= pool->row_limit || !mica_same(pool->owners[row], entity) || mica_is_nil(entity))
            return NULL;
    }
    return MICAP_LIKELY(row != MICAP_ROW_NONE) ? micap_pool_value(pool, row) : NULL;
}

void *micap_pooled_write(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    uint32_t row = pool ? micap_pooled_row(world, pool, entity) : MICAP_ROW_NONE;
    if (row == MICAP_ROW_NONE)
        return NULL;
    if (MICAP_LIKELY(pool->values != NULL)) {
        if (MICAP_UNLIKELY(pool->keeper->before))
            micap_pool_keep_slices(pool, row, 1);
        micap_stamp(&micap_pool_stamps(pool, row)[1], micap_version(world));
    }
    return value_of(world, pool, row);
}

bool micap_pooled_has(const mica_world *world, mica_entity entity, mica_component component)
{
    const mica_pool *pool = micap_pool_of(world, component);
    return pool && micap_pooled_row(world, pool, entity) != MICAP_ROW_NONE;
}

static mica_pool *pool_to_change(mica_world *world, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_LIKELY(pool != NULL))
        return pool;
    return micap_component_use(world, component) ? micap_pool_of(world, component) : NULL;
}

/* Adds or removes without a look left or right; false or NULL when there is more to see to. The entity lives, and its map page
 * is there: so is the page of its mask. */
static void *add_short(mica_world *world, mica_pool *pool, mica_entity entity)
{
    if (pool->kind == MICAP_POOL_TAG) {
        uint64_t *mask = micap_map_at(&world->pools.masks, entity.index);
        uint32_t word = entity.index / 64;
        uint64_t bit = (uint64_t)1 << entity.index % 64;
        if (!mask || word >= pool->present_words || pool->present[word] & bit)
            return NULL;
        pool->present[word] |= bit;
        *mask |= (uint64_t)1 << pool->bit;
        ++pool->count;
        ++world->structure;
        return &micap_tag_value;
    }
    uint64_t *entry = micap_map_at(&pool->index, entity.index);
    uint32_t row = pool->row_limit, bytes = pool->value_bytes;
    if (!entry || *entry || row == pool->capacity)
        return NULL;
    *entry = micap_map_entry(entity, row);
    *micap_map_at(&world->pools.masks, entity.index) |= (uint64_t)1 << pool->bit;
    pool->owners[row] = entity;
    pool->row_limit = row + 1;
    ++pool->count;
    ++pool->stamp;
    micap_pool_stamps(pool, row)[0] = micap_version(world);
    ++world->structure;
    char *value = pool->values + (size_t)row * bytes;
    if (bytes == 4)
        memset(value, 0, 4);
    else
        memset(value, 0, bytes);
    return value;
}

static bool remove_short(mica_world *world, mica_pool *pool, mica_entity entity)
{
    if (pool->kind == MICAP_POOL_TAG) {
        uint32_t word = entity.index / 64;
        uint64_t bit = (uint64_t)1 << entity.index % 64;
        if (word >= pool->present_words || !(pool->present[word] & bit))
            return false;
        pool->present[word] &= ~bit;
    } else {
        uint64_t *entry = micap_map_at(&pool->index, entity.index);
        if (!entry || *entry >> 32 != entity.generation)
            return false;
        uint32_t row = (uint32_t)*entry - 1, last = --pool->row_limit;
        *entry = 0;
        ++pool->stamp;
        if (row != last) {
            mica_entity moved = pool->owners[last];
            pool->owners[row] = moved;
            *micap_map_at(&pool->index, moved.index) = micap_map_entry(moved, row);
            micap_copy_bytes(micap_pool_value(pool, row), micap_pool_value(pool, last), pool->value_bytes);
            micap_pool_stamps(pool, row)[0] = micap_version(world);
        }
    }
    --pool->count;
    ++world->structure;
    micap_pools_leave_mask(world, pool, entity.index);
    return true;
}

static bool is_short(const mica_world *world, const mica_pool *pool, mica_entity entity)
{
    return MICAP_LIKELY(pool && pool->is_short && !(world->recording_depth | world->keeper.before)) &&
           micap_record_chunk(micap_record_of(&world->entities, entity)) > MICAP_CHUNK_PENDING;
}

void *micap_pooled_add_short(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    return is_short(world, pool, entity) ? add_short(world, pool, entity) : NULL;
}

bool micap_pooled_remove_short(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    return is_short(world, pool, entity) && remove_short(world, pool, entity);
}

bool micap_pooled_reserve(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count,
                          uint64_t total)
{
    uint32_t page = UINT32_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        if (entities[i].index >> MICAP_MAP_PAGE_SHIFT == page && pool->kind == MICAP_POOL_MAP)
            continue;
        page = entities[i].index >> MICAP_MAP_PAGE_SHIFT;
        if (!micap_pools_make_room(world, pool, entities[i], total))
            return false;
    }
    return true;
}

void micap_pooled_set_all(mica_world *world, mica_pool *pool, const mica_entity *entities, const char *values,
                          uint32_t count)
{
    uint32_t bytes = pool->value_bytes;
    for (uint32_t i = 0; i < count; ++i, values += bytes) {
        void *value = add_short(world, pool, entities[i]);
        if (MICAP_UNLIKELY(!value && bytes)) {
            uint32_t row = micap_pool_row(pool, entities[i]);
            value = micap_pool_value(pool, row);
            micap_pool_stamp(pool, MICAP_ALL_LANES, row, 1, micap_version(world));
        }
        if (bytes)
            micap_copy_bytes(value, values, bytes);
    }
}

void micap_pooled_remove_all(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        remove_short(world, pool, entities[i]);
}

static void *add_now(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = pool_to_change(world, component);
    if (!pool)
        return NULL;
    uint32_t row = micap_pool_row(pool, entity);
    if (row != MICAP_ROW_NONE && pool->values)
        micap_pool_stamp(pool, 0, row, 1, micap_version(world));
    if (row == MICAP_ROW_NONE)
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
        micap_pool_keep(pool, row, 1);
    if (pool->kind == MICAP_POOL_TAG || (from && !type->leaves && from == micap_pool_value(pool, row)))
        return true;
    if (from && !type->type.copy && !type->type.destruct) {
        micap_pool_write_value(pool, row, from);
    } else {
        void *fresh = pool->scratch;
        if (type->leaves) { /* plain, and to be zero */
            micap_pool_make_values(pool, row, 1, NULL);
        } else if (!fresh) {
            micap_values_construct(type, micap_pool_value(pool, row), 1);
        } else if (from ? micap_values_copy(type, fresh, from, 1) : micap_values_construct(type, fresh, 1)) {
            micap_pool_destruct_value(pool, row);
            micap_pool_move_value_in(pool, row, fresh);
        } else {
            micap_fail(world, MICA_ERROR_MEMORY, no_place, "a value of %s can't be made", type->type.name);
            return false;
        }
    }
    micap_pool_stamp(pool, MICAP_ALL_LANES, row, 1, micap_version(world));
    return true;
}

bool micap_pooled_set(mica_world *world, mica_entity entity, const mica_value *value)
{
    mica_pool *pool = pool_to_change(world, value->component);
    if (!pool || !micap_value_fits(world, pool->type, value, no_place))
        return false;
    uint32_t row = micap_pool_row(pool, entity);
    if (row == MICAP_ROW_NONE) {
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
        micap_pool_keep(pool, row, 1);
        pool->enabled[row] = enabled;
    }
    mica_event_kind kind = enabled ? MICAP_WATCH_ENABLE : MICAP_WATCH_DISABLE;
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
