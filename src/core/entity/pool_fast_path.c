/* Everything that is not simple is a call at the end of a function, so that the fast path saves nothing on the stack. */
#include "core/entity/pool_fast_path.h"

#include "core/entity/change.h"
#include "core/entity/pool_component.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_undo.h"

static inline bool is_short(const mica_world *world, const mica_pool *pool)
{
    return MICAP_LIKELY(pool && pool->changes_fast && !world->undo.before);
}

static inline bool is_living(const mica_world *world, mica_entity entity)
{
    return MICAP_LIKELY(micap_record_chunk(micap_record_of(&world->entities, entity)) > MICAP_CHUNK_PENDING);
}

/* Where one of the entity's index is, its entry in a map whose page is there. */
static inline uint64_t *entry_at(const micap_index *index, uint32_t entity_index)
{
    return &index->pages[entity_index >> MICAP_MAP_PAGE_SHIFT][entity_index & (MICAP_MAP_PAGE_ENTRIES - 1)];
}

static inline void *add_tag(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint64_t *mask = micap_map_at(&world->pools.masks, entity.index);
    uint32_t word = entity.index / 64;
    uint64_t bit = (uint64_t)1 << entity.index % 64;
    if (MICAP_UNLIKELY(!mask || word >= pool->present_words || pool->present[word] & bit))
        return NULL;
    pool->present[word] |= bit;
    *mask |= (uint64_t)1 << pool->bit;
    ++pool->count;
    ++world->structure;
    return &micap_tag_value;
}

/* The raw value of a row for a living entity; NULL when it has one already, or there is no room. Where the page of its map entry
 * is, that of its mask is too. */
static MICAP_INLINE char *add_row(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint64_t *entry = micap_map_at(&pool->index, entity.index);
    uint32_t row = pool->row_limit;
    if (MICAP_UNLIKELY(!entry || *entry || row == pool->capacity))
        return NULL;
    *entry = micap_map_entry(entity, row);
    *entry_at(&world->pools.masks, entity.index) |= (uint64_t)1 << pool->bit;
    pool->owners[row] = entity;
    pool->row_limit = row + 1;
    ++pool->count;
    ++pool->stamp;
    micap_pool_stamps(pool, row)[0] = micap_version(world); /* without snapshots there is nothing to copy */
    ++world->structure;
    return pool->values + (size_t)row * pool->value_bytes;
}

static inline void leave_mask(mica_world *world, const mica_pool *pool, uint32_t entity_index)
{
    if (MICAP_LIKELY(world->pools.count <= 64)) /* else the bit is shared */
        *entry_at(&world->pools.masks, entity_index) &= ~((uint64_t)1 << pool->bit);
}

static inline bool remove_tag(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint32_t word = entity.index / 64;
    uint64_t bit = (uint64_t)1 << entity.index % 64;
    if (MICAP_UNLIKELY(word >= pool->present_words || !(pool->present[word] & bit)))
        return false;
    pool->present[word] &= ~bit;
    --pool->count;
    ++world->structure;
    leave_mask(world, pool, entity.index);
    return true;
}

/* An entity that has a row is alive: a pool with the fast path keeps no rows of destroyed entities. */
static MICAP_INLINE bool remove_row(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint32_t page = entity.index >> MICAP_MAP_PAGE_SHIFT;
    if (MICAP_UNLIKELY(page >= pool->index.page_count))
        return false;
    uint64_t *entry = entry_at(&pool->index, entity.index);
    if (MICAP_UNLIKELY(!*entry || *entry >> 32 != entity.generation))
        return false;
    uint32_t row = (uint32_t)*entry - 1, last = pool->row_limit - 1;
    *entry = 0;
    pool->row_limit = last;
    --pool->count;
    ++pool->stamp;
    ++world->structure;
    leave_mask(world, pool, entity.index);
    if (row == last)
        return true;
    mica_entity moved = pool->owners[last];
    pool->owners[row] = moved;
    *entry_at(&pool->index, moved.index) = micap_map_entry(moved, row);
    micap_pool_stamps(pool, row)[0] = micap_version(world);
    micap_copy_trivial(micap_pool_value(pool, row), micap_pool_value(pool, last), pool->value_bytes);
    return true;
}

static __attribute__((noinline)) void *add_tag_or_any(mica_world *world, mica_pool *pool, mica_entity entity)
{
    void *value = is_living(world, entity) ? add_tag(world, pool, entity) : NULL;
    return MICAP_LIKELY(value != NULL) ? value : micap_add_any(world, entity, pool->type->id);
}

void *micap_pooled_add_or_any(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    if (MICAP_UNLIKELY(!is_short(world, pool)))
        return micap_add_any(world, entity, component);
    if (pool->kind == MICAP_POOL_TAG)
        return add_tag_or_any(world, pool, entity);
    char *value = is_living(world, entity) ? add_row(world, pool, entity) : NULL;
    if (MICAP_UNLIKELY(!value))
        return micap_add_any(world, entity, component);
    uint32_t bytes = pool->value_bytes;
    micap_zero_trivial(value, bytes);
    return value;
}

bool micap_pooled_remove_or_any(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    bool is_removed = is_short(world, pool) &&
                      (pool->kind == MICAP_POOL_TAG ? is_living(world, entity) && remove_tag(world, pool, entity)
                                                    : remove_row(world, pool, entity));
    return MICAP_LIKELY(is_removed) || micap_remove_any(world, entity, component);
}

bool micap_pooled_set_fast(mica_world *world, mica_entity entity, mica_component component, const void *from)
{
    mica_pool *pool = micap_pool_of(world, component);
    if (!is_short(world, pool) || !is_living(world, entity))
        return false;
    if (pool->kind == MICAP_POOL_TAG)
        return add_tag(world, pool, entity) != NULL;
    char *value = add_row(world, pool, entity);
    if (value)
        micap_copy_trivial(value, from, pool->value_bytes);
    return value != NULL;
}

bool micap_pooled_remove_fast(mica_world *world, mica_entity entity, mica_component component)
{
    mica_pool *pool = micap_pool_of(world, component);
    return is_short(world, pool) && is_living(world, entity) &&
           (pool->kind == MICAP_POOL_TAG ? remove_tag(world, pool, entity) : remove_row(world, pool, entity));
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

static void overwrite(mica_world *world, mica_pool *pool, mica_entity entity, const char *from)
{
    uint32_t row = micap_pool_row(pool, entity);
    micap_pool_touch(pool, MICAP_ALL_COLUMNS, row, 1, micap_version(world));
    micap_copy_trivial(micap_pool_value(pool, row), from, pool->value_bytes);
}

void micap_pooled_set_all(mica_world *world, mica_pool *pool, const mica_entity *entities, const char *values,
                          uint32_t count)
{
    uint32_t bytes = pool->value_bytes;
    for (uint32_t i = 0; i < count; ++i, values += bytes) {
        char *value = add_row(world, pool, entities[i]);
        if (MICAP_LIKELY(value != NULL))
            micap_copy_trivial(value, values, bytes);
        else
            overwrite(world, pool, entities[i], values);
    }
}

void micap_pooled_remove_all(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (pool->kind == MICAP_POOL_TAG)
            remove_tag(world, pool, entities[i]);
        else
            remove_row(world, pool, entities[i]);
}
