#include "pool/pool_fast_rows.h"

#include "pool/pool_group.h"

bool micap_pool_is_ready_packed(const mica_pool *pool, uint32_t entity_index)
{
    if (pool->kind == MICAP_POOL_MAP)
        return micap_pool_free_entry(pool, entity_index) != NULL;
    return pool->row_limit != pool->capacity && micap_hash_has_room(&pool->index) &&
           micap_hash_find(&pool->index, pool->owners, entity_index) == MICAP_ROW_NONE;
}

/* Adds a row to a pool with a hash. */
static char *add_hashed(mica_pool *pool, mica_entity entity, mica_version version)
{
    uint32_t row = pool->row_limit;
    micap_pool_preserve(pool, row, 1);
    micap_hash_set(&pool->index, pool->owners, entity.index, row);
    pool->row_limit = row + 1;
    return micap_pool_own_row(pool, row, entity, version);
}

char *micap_pool_add_packed(mica_pool *pool, mica_entity entity, mica_version version)
{
    char *value =
        pool->kind == MICAP_POOL_HASH
            ? add_hashed(pool, entity, version)
            : micap_pool_add_mapped(pool, entity, micap_map_entry_at(&pool->index, entity.index), version, true);
    if (!pool->group)
        return value;
    micap_group_enter(pool->group, entity, version);
    return micap_pool_value(pool, micap_pool_row(pool, entity));
}

/* Removes a row of a pool with a hash: the last row fills the hole. */
static void remove_hashed(mica_pool *pool, uint32_t entity_index, mica_version version)
{
    uint32_t row = micap_hash_take(&pool->index, pool->owners, entity_index), last = pool->row_limit - 1;
    micap_pool_preserve(pool, row, 1);
    micap_pool_preserve(pool, last, 1);
    pool->row_limit = last;
    --pool->count;
    ++pool->stamp;
    if (row == last)
        return;
    mica_entity moved = pool->owners[last];
    micap_hash_set(&pool->index, pool->owners, moved.index, row);
    pool->owners[row] = moved;
    micap_pool_stamps(pool, row)[0] = version;
    micap_copy_trivial(micap_pool_value(pool, row), micap_pool_value(pool, last), pool->value_bytes);
}

void micap_pool_remove_packed(mica_pool *pool, mica_entity entity, mica_version version)
{
    if (pool->group)
        micap_group_leave(pool, micap_pool_row(pool, entity), version);
    if (pool->kind == MICAP_POOL_HASH)
        remove_hashed(pool, entity.index, version);
    else
        micap_pool_remove_mapped(pool, micap_map_entry_at(&pool->index, entity.index), version, true);
}
