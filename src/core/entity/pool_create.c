/* Values are created before anything else changes: in place, after the last row. Only if the row of a dead entity has to be removed
 * first, which moves other rows, they are created in a buffer. */
#include "core/entity/pool_create.h"

#include "core/events/hooks.h"
#include "core/world/report.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rivals.h"
#include "pool/pool_rows.h"

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
    if (MICAP_UNLIKELY(!micap_pools_make_room_for_list(world, pool, entities, count))) {
        micap_fail_memory(world, pool->type->type.name);
        return false;
    }
    if (offset != SIZE_MAX)
        *from = pool->values + offset;
    return true;
}

/* Whether a former entity with one of these indices still has a row. */
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

/* Where the values of new rows come from: an array of `period` elements, or NULL for defaults. */
typedef struct micap_pool_source {
    const char *from;
    uint32_t period;
} source;

static const void *element(const mica_pool *pool, source source, uint32_t k)
{
    return source.from ? source.from + (size_t)(k % source.period) * pool->value_bytes : NULL;
}

/* The same for values that are only copied. */
static void copy_in_place(const mica_pool *pool, source source, const mica_entity *entities, uint32_t count)
{
    const size_t bytes = pool->value_bytes;
    if (!pool->present && source.from && source.period >= count) { /* next to each other */
        memcpy(micap_pool_value(pool, pool->row_limit), source.from, count * bytes);
        return;
    }
    for (uint32_t k = 0; bytes && k < count; ++k) {
        char *to = micap_pool_value(pool, raw_row(pool, entities, k));
        if (source.from)
            micap_copy_inline(to, source.from + (source.period >= count ? k : k % source.period) * bytes, bytes);
        else
            micap_zero_trivial(to, bytes);
    }
}

/* Constructs the values in raw rows that have no owner yet. */
static bool make_in_place(mica_world *world, mica_pool *pool, source source, const mica_entity *entities,
                          uint32_t count)
{
    if (pool->changes_fast) {
        copy_in_place(pool, source, entities, count);
        return true;
    }
    for (uint32_t k = 0; k < count; ++k) {
        const void *value = element(pool, source, k);
        if (micap_pool_make_value(pool, raw_row(pool, entities, k), value))
            continue;
        unmake_values(pool, entities, k);
        return micap_fail_value(world, pool->type);
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

static bool make_elsewhere(mica_world *world, mica_pool *pool, source source, uint32_t count)
{
    pool->staged = micap_allocate(pool->memory, staged_bytes(pool, count), pool->type->type.alignment);
    if (!pool->staged) {
        micap_fail_memory(world, pool->type->type.name);
        return false;
    }
    for (uint32_t k = 0; k < count; ++k) {
        void *to = pool->staged + staged_bytes(pool, k);
        const void *from = element(pool, source, k);
        if (from ? micap_values_copy(pool->type, to, from, 1) : micap_values_construct(pool->type, to, 1))
            continue;
        micap_values_destruct(pool->type, pool->staged, k);
        release_staged(pool, count);
        return micap_fail_value(world, pool->type);
    }
    return true;
}

static bool make_values(mica_world *world, mica_pool *pool, source source, const mica_entity *entities, uint32_t count)
{
    if (!make_room(world, pool, entities, count, &source.from))
        return false;
    return MICAP_UNLIKELY(is_in_the_way(pool, entities, count)) ? make_elsewhere(world, pool, source, count)
                                                                : make_in_place(world, pool, source, entities, count);
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

/* The rows exist from now on. Returns the row of the last entity. */
static uint32_t commit_values(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    uint32_t row = MICAP_ROW_NONE;
    for (uint32_t k = 0; pool->staged && k < count; ++k)
        micap_pools_evict(world, pool, entities[k]);
    for (uint32_t k = 0; k < count; ++k) {
        if (pool->staged)
            micap_pool_move_value_in(pool, micap_pool_next_row(pool, entities[k]),
                                     pool->staged + staged_bytes(pool, k));
        row = micap_pools_commit(world, pool, entities[k]);
    }
    if (pool->staged)
        release_staged(pool, count);
    return row;
}

uint32_t micap_pooled_add_row(mica_world *world, mica_pool *pool, mica_entity entity, const void *from)
{
    if ((world->components.meets_pools && !micap_entity_accepts(world, entity, pool->type->id)) ||
        !make_values(world, pool, (source){from, 1}, &entity, 1))
        return MICAP_ROW_NONE;
    uint32_t row = commit_values(world, pool, &entity, 1);
    if (MICAP_UNLIKELY(pool->hook_mask & 1 << MICA_EVENT_ADD))
        micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
    return row;
}

static mica_pool *pool_of_value(const mica_world *world, const mica_value *value)
{
    return micap_is_pooled(value->component) ? micap_pool_of(world, value->component) : NULL;
}

static bool make_all(mica_world *world, const micap_creation *what, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < what->value_count; ++i) {
        mica_pool *pool = pool_of_value(world, &what->values[i]);
        source from = {what->values[i].data, micap_is_for_all(&what->values[i]) ? 1 : what->period};
        if (!pool || make_values(world, pool, from, entities, count))
            continue;
        while (i-- > 0)
            if ((pool = pool_of_value(world, &what->values[i])))
                drop_values(pool, entities, count);
        return false;
    }
    return true;
}

bool micap_pooled_create(mica_world *world, const micap_creation *what, const mica_entity *entities, uint32_t count)
{
    if (!make_all(world, what, entities, count))
        return false;
    for (uint32_t i = 0; i < what->value_count; ++i) {
        mica_pool *pool = pool_of_value(world, &what->values[i]);
        if (pool && pool->changes_fast)
            micap_pools_commit_list(world, pool, entities, count);
        else if (pool)
            commit_values(world, pool, entities, count);
    }
    return true;
}

void micap_pooled_take_back(mica_world *world, const micap_creation *what, mica_entity entity)
{
    for (uint32_t i = what->value_count; i-- > 0;)
        if (micap_is_pooled(what->values[i].component))
            micap_pools_take_back(world, micap_pool_of(world, what->values[i].component), entity);
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
