/* Everything that is not simple is a call at the end of a function, so that the fast path saves nothing on the stack. */
#include "core/entity/pool_fast_path.h"

#include "base/assert.h"
#include "core/entity/change.h"
#include "core/entity/pool_component.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_fast_rows.h"
#include "pool/pool_lists.h"

static inline bool is_living(const mica_world *world, mica_entity entity)
{
    return MICAP_LIKELY(micap_record_chunk(micap_record_of(&world->entities, entity)) > MICAP_CHUNK_PENDING);
}

/* What a change notes beside the pool: that the entity is in it, or, if the bit of the pool is not shared, no longer. */
static MICAP_INLINE void enter_mask(mica_world *world, const mica_pool *pool, uint32_t entity_index)
{
    *micap_map_entry_at(&world->pools.masks, entity_index) |= (uint64_t)1 << pool->bit;
    ++world->structure;
}

static MICAP_INLINE void leave_mask(mica_world *world, const mica_pool *pool, uint32_t entity_index)
{
    ++world->structure;
    if (MICAP_LIKELY(world->pools.count <= 64))
        *micap_map_entry_at(&world->pools.masks, entity_index) &= ~((uint64_t)1 << pool->bit);
}

/* The raw value of a new row for a living entity in a pool with a map. NULL if it has a row already, or there is no room. Where the
 * page of its map entry is, that of its mask is too. */
static MICAP_INLINE char *add_mapped(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint64_t *entry = micap_pool_free_entry(pool, entity.index);
    if (MICAP_UNLIKELY(!entry))
        return NULL;
    enter_mask(world, pool, entity.index);
    return micap_pool_add_mapped(pool, entity, entry, micap_version(world), false);
}

/* The same for another pool, and for a tag, which has something to point to. */
static MICAP_INLINE char *add_other(mica_world *world, mica_pool *pool, mica_entity entity)
{
    char *value;
    if (!micap_map_at(&world->pools.masks, entity.index))
        return NULL;
    if (!pool->present) {
        value = micap_pool_add_packed(pool, entity, micap_version(world));
        if (value)
            enter_mask(world, pool, entity.index);
        return value;
    }
    if (!micap_pool_is_free(pool, entity.index))
        return NULL;
    enter_mask(world, pool, entity.index);
    value = micap_pool_add_direct(pool, entity, micap_version(world), false);
    return value ? value : &micap_tag_value;
}

/* An entity that has a row is alive: a pool with the fast path keeps no rows of destroyed entities. */
static MICAP_INLINE bool remove_mapped(mica_world *world, mica_pool *pool, mica_entity entity)
{
    if (MICAP_UNLIKELY(entity.index >> MICAP_MAP_PAGE_SHIFT >= pool->index.page_count))
        return false;
    uint64_t *entry = micap_map_entry_at(&pool->index, entity.index);
    if (MICAP_UNLIKELY(!*entry || *entry >> 32 != entity.generation))
        return false;
    leave_mask(world, pool, entity.index);
    micap_pool_remove_mapped(pool, entry, micap_version(world), false);
    return true;
}

/* The same for a direct index, or a tag, which knows no generations. */
static MICAP_INLINE bool remove_direct(mica_world *world, mica_pool *pool, mica_entity entity)
{
    bool is_tag = pool->kind == MICAP_POOL_TAG;
    uint32_t limit = is_tag ? pool->present_words * 64 : pool->row_limit;
    if (entity.index >= limit || !micap_bit(pool->present, entity.index) ||
        !(is_tag ? is_living(world, entity) : mica_same(pool->owners[entity.index], entity)))
        return false;
    leave_mask(world, pool, entity.index);
    micap_pool_remove_direct(pool, entity.index, micap_version(world), false);
    return true;
}

/* The same for a hash, or in a group. */
static inline bool remove_packed(mica_world *world, mica_pool *pool, mica_entity entity)
{
    if (!micap_pool_remove_packed(pool, entity, micap_version(world)))
        return false;
    leave_mask(world, pool, entity.index);
    return true;
}

static MICAP_NOINLINE void *add_other_or_any(mica_world *world, mica_pool *pool, mica_entity entity)
{
    char *value = is_living(world, entity) ? add_other(world, pool, entity) : NULL;
    if (MICAP_UNLIKELY(!value))
        return micap_add_any(world, entity, pool->type->id);
    micap_zero_trivial(value, pool->value_bytes);
    return value;
}

void *micap_pooled_add_or_any(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_UNLIKELY(!micap_pool_is_fast(world, pool)))
        return micap_add_any(world, entity, component);
    if (!pool->changes_by_map)
        return add_other_or_any(world, pool, entity);
    char *value = is_living(world, entity) ? add_mapped(world, pool, entity) : NULL;
    if (MICAP_UNLIKELY(!value))
        return micap_add_any(world, entity, component);
    uint32_t bytes = pool->value_bytes;
    micap_zero_trivial(value, bytes);
    return value;
}

/* Replaces the value of a row, if the entity has one. A tag has no value, and does not know whether it is alive. */
static MICAP_INLINE bool overwrite(mica_world *world, mica_pool *pool, mica_entity entity, const char *from)
{
    uint32_t row = micap_pool_row(pool, entity);
    if (row == MICAP_ROW_NONE || pool->kind == MICAP_POOL_TAG)
        return row != MICAP_ROW_NONE && is_living(world, entity);
    micap_pool_touch_value(pool, row, micap_version(world));
    memmove(micap_pool_value(pool, row), from, pool->value_bytes);
    return true;
}

/* Replaces the value of a row, and adds one if there is none. */
static MICAP_NOINLINE bool set_other_or_any(mica_world *world, mica_pool *pool, mica_entity entity, mica_value value)
{
    bool is_new = pool->present && micap_pool_is_free(pool, entity.index);
    if (!is_new && overwrite(world, pool, entity, value.data))
        return true;
    char *to = is_living(world, entity) ? add_other(world, pool, entity) : NULL;
    if (!to)
        return micap_set_any(world, entity, value);
    if (pool->value_bytes)
        micap_copy_fresh(to, value.data, pool->value_bytes);
    return true;
}

static MICAP_NOINLINE bool overwrite_or_any(mica_world *world, mica_pool *pool, mica_entity entity, mica_value value)
{
    return overwrite(world, pool, entity, value.data) || micap_set_any(world, entity, value);
}

bool micap_pooled_set_or_any(mica_world *world, mica_entity entity, mica_value value)
{
    mica_pool *pool = micap_pool_of(world, value.component);
    if (MICAP_UNLIKELY(!micap_pool_is_fast(world, pool) || value.size_bytes != pool->value_bytes ||
                       (!value.data && pool->value_bytes)))
        return micap_set_any(world, entity, value);
    if (!pool->changes_by_map)
        return set_other_or_any(world, pool, entity, value);
    char *to = is_living(world, entity) ? add_mapped(world, pool, entity) : NULL;
    if (MICAP_UNLIKELY(!to))
        return overwrite_or_any(world, pool, entity, value);
    micap_copy_fresh(to, value.data, pool->value_bytes);
    return true;
}

static MICAP_NOINLINE bool remove_other_or_any(mica_world *world, mica_pool *pool, mica_entity entity)
{
    bool removed = pool->present ? remove_direct(world, pool, entity) : remove_packed(world, pool, entity);
    return removed || micap_remove_any(world, entity, pool->type->id);
}

bool micap_pooled_remove_or_any(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_UNLIKELY(!micap_pool_is_fast(world, pool)))
        return micap_remove_any(world, entity, component);
    if (!pool->changes_by_map)
        return remove_other_or_any(world, pool, entity);
    return MICAP_LIKELY(remove_mapped(world, pool, entity)) || micap_remove_any(world, entity, component);
}

void micap_pooled_overwrite(mica_world *world, mica_pool *pool, mica_entity entity, const char *from)
{
    overwrite(world, pool, entity, from);
}

/* Fills the rows that entities of a list get. */
static void fill_rows(mica_pool *pool, const mica_entity *entities, uint32_t count, const char *from)
{
    if (!pool->present)
        micap_repeat_value(micap_pool_value(pool, pool->row_limit), from, pool->value_bytes, count);
    else
        for (uint32_t i = 0; i < count; ++i)
            micap_copy_inline(micap_pool_value(pool, entities[i].index), from, pool->value_bytes);
}

void micap_pooled_add_many(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count,
                           const char *from)
{
    if (count && from)
        fill_rows(pool, entities, count, from);
    micap_pools_commit_list(world, pool, entities, count);
}

void micap_pooled_remove_many(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count && pool->group; ++i)
        remove_packed(world, pool, entities[i]);
    if (pool->group)
        return;
    micap_pool_remove_list(pool, entities, count, micap_version(world));
    for (uint32_t i = 0; i < count; ++i)
        leave_mask(world, pool, entities[i].index);
}
