/* Rows that come into being, one or many at once. Values are made before anything changes: in place, behind the rows there
 * are. Only where a row of the dead is still in the way, whose going moves others, they are made elsewhere first. */
#include "core/events/hooks.h"
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/storage/pool_lookup.h"

static const mica_location no_place = {0};

/* Where in the values of the pool a pointer points, which growing would leave dangling; SIZE_MAX when elsewhere. */
static size_t offset_in(const mica_pool *pool, const char *from)
{
    uintptr_t begin = (uintptr_t)pool->values, at = (uintptr_t)from;
    return from && begin && at >= begin && at - begin < (size_t)pool->row_limit * pool->value_bytes ? at - begin
                                                                                                    : SIZE_MAX;
}

/* Makes room for one instance of each entity. What `from` points to may lie in the pool itself, and move. */
static bool make_room(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count,
                      const char **from)
{
    size_t offset = offset_in(pool, *from);
    for (uint32_t k = 0; k < count; ++k)
        if (MICAP_UNLIKELY(!micap_pools_make_room(world, pool, entities[k], count))) {
            micap_fail_memory(world, pool->type->type.name);
            return false;
        }
    if (offset != SIZE_MAX)
        *from = pool->values + offset;
    return true;
}

static bool fail_value(const mica_world *world, const mica_pool *pool)
{
    micap_fail(world, MICA_ERROR_MEMORY, no_place, "a value of %s can't be made", pool->type->type.name);
    return false;
}

/* Whether a row that a former owner of one of these slots left behind is in the way. */
static bool is_in_the_way(const mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    for (uint32_t k = 0; pool->dead_count && k < count; ++k) {
        uint32_t row = micap_pool_row_at(pool, entities[k].index);
        if (row != MICAP_ROW_NONE && pool->owners[row].generation != entities[k].generation)
            return true;
    }
    return false;
}

static uint32_t raw_row(const mica_pool *pool, const mica_entity *entities, uint32_t k)
{
    return pool->kind == MICAP_POOL_DIRECT ? entities[k].index : pool->row_limit + k;
}

static void unmake_values(mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    for (uint32_t k = 0; k < count; ++k)
        micap_pool_destruct_value(pool, raw_row(pool, entities, k));
}

/* In raw rows, still nobody's. */
static bool make_in_place(mica_world *world, mica_pool *pool, const char *from, const mica_entity *entities,
                          uint32_t count)
{
    for (uint32_t k = 0; k < count; ++k) {
        const char *value = from ? from + (size_t)k * pool->value_bytes : NULL;
        if (micap_pool_make_value(pool, raw_row(pool, entities, k), value))
            continue;
        unmake_values(pool, entities, k);
        return fail_value(world, pool);
    }
    return true;
}

static size_t staged_bytes(const mica_pool *pool, uint32_t count)
{
    return (size_t)count * pool->value_bytes;
}

static void release_staged(mica_pool *pool, uint32_t count)
{
    micap_release(pool->memory, pool->staged, staged_bytes(pool, count), pool->type->type.alignment);
    pool->staged = NULL;
}

static bool make_elsewhere(mica_world *world, mica_pool *pool, const char *from, uint32_t count)
{
    pool->staged = micap_allocate(pool->memory, staged_bytes(pool, count), pool->type->type.alignment);
    if (!pool->staged) {
        micap_fail_memory(world, pool->type->type.name);
        return false;
    }
    if (from ? micap_values_copy(pool->type, pool->staged, from, count)
             : micap_values_construct(pool->type, pool->staged, count))
        return true;
    release_staged(pool, count);
    return fail_value(world, pool);
}

static bool make_values(mica_world *world, mica_pool *pool, const char *from, const mica_entity *entities,
                        uint32_t count)
{
    if (!make_room(world, pool, entities, count, &from))
        return false;
    return MICAP_UNLIKELY(is_in_the_way(pool, entities, count)) ? make_elsewhere(world, pool, from, count)
                                                                : make_in_place(world, pool, from, entities, count);
}

static void drop_values(mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    if (!pool->staged) {
        unmake_values(pool, entities, count);
        return;
    }
    micap_values_destruct(pool->type, pool->staged, count);
    release_staged(pool, count);
}

/* The rows exist from now on. */
static void commit_values(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    for (uint32_t k = 0; pool->staged && k < count; ++k)
        micap_pools_evict(world, pool, entities[k]);
    for (uint32_t k = 0; k < count; ++k) {
        if (pool->staged)
            micap_pool_move_value_in(pool, micap_pool_next_row(pool, entities[k]),
                                     pool->staged + staged_bytes(pool, k));
        micap_pools_commit(world, pool, entities[k]);
    }
    if (pool->staged)
        release_staged(pool, count);
}

uint32_t micap_pooled_add_row(mica_world *world, mica_pool *pool, mica_entity entity, const void *from)
{
    const char *value = from;
    uint32_t row;
    if (MICAP_UNLIKELY(is_in_the_way(pool, &entity, 1))) {
        if (!make_values(world, pool, value, &entity, 1))
            return MICAP_ROW_NONE;
        commit_values(world, pool, &entity, 1);
        row = micap_pool_row(pool, entity);
    } else {
        if (!make_room(world, pool, &entity, 1, &value))
            return MICAP_ROW_NONE;
        if (!micap_pool_make_value(pool, micap_pool_next_row(pool, entity), value)) {
            fail_value(world, pool);
            return MICAP_ROW_NONE;
        }
        row = micap_pools_commit(world, pool, entity);
    }
    if (MICAP_UNLIKELY(pool->hook_mask & 1 << MICA_EVENT_ADD))
        micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
    return row;
}

static mica_pool *pool_of_value(const mica_world *world, const mica_value *value)
{
    return micap_is_pooled(value->component) ? micap_pool_of(world, value->component) : NULL;
}

static bool make_all(mica_world *world, const mica_value *values, uint32_t value_count, const mica_entity *entities,
                     uint32_t count)
{
    for (uint32_t i = 0; i < value_count; ++i) {
        mica_pool *pool = pool_of_value(world, &values[i]);
        if (!pool || make_values(world, pool, values[i].data, entities, count))
            continue;
        while (i-- > 0)
            if ((pool = pool_of_value(world, &values[i])))
                drop_values(pool, entities, count);
        return false;
    }
    return true;
}

bool micap_pooled_create(mica_world *world, const mica_value *values, uint32_t value_count, const mica_entity *entities,
                         uint32_t count)
{
    if (MICAP_LIKELY(!world->pools.count))
        return true;
    if (!make_all(world, values, value_count, entities, count))
        return false;
    for (uint32_t i = 0; i < value_count; ++i)
        if (pool_of_value(world, &values[i]))
            commit_values(world, pool_of_value(world, &values[i]), entities, count);
    return true;
}

void micap_pooled_created(mica_world *world, const mica_value *values, uint32_t value_count,
                          const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < value_count; ++i) {
        mica_pool *pool = pool_of_value(world, &values[i]);
        for (uint32_t k = 0; pool && pool->hook_mask && k < count; ++k) {
            uint32_t row = micap_pool_row(pool, entities[k]);
            if (pool->hook_mask & 1 << MICA_EVENT_ADD)
                micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
            if (values[i].data && pool->hook_mask & 1 << MICA_EVENT_SET)
                micap_pools_run_hook(world, MICA_EVENT_SET, pool, row, 1);
        }
    }
}
