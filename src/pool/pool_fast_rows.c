#include "pool/pool_fast_rows.h"

#include "pool/pool_group.h"

bool micap_pool_is_ready_hashed(const mica_pool *pool)
{
    return pool->row_limit != pool->capacity && micap_hash_has_room(&pool->index);
}

char *micap_pool_add_hashed(mica_pool *pool, mica_entity entity, mica_version version)
{
    uint32_t row = pool->row_limit;
    uint64_t *slot = micap_hash_slot(&pool->index, entity.index);
    if (*slot)
        return NULL;
    micap_pool_preserve(pool, row, 1);
    *slot = micap_hash_entry(entity.index, row);
    ++pool->index.used;
    pool->row_limit = row + 1;
    return micap_pool_own_row(pool, row, entity, version);
}

char *micap_pool_add_packed(mica_pool *pool, mica_entity entity, mica_version version)
{
    uint64_t *entry = pool->kind == MICAP_POOL_MAP ? micap_pool_free_entry(pool, entity.index) : NULL;
    char *value = NULL;
    if (entry)
        value = micap_pool_add_mapped(pool, entity, entry, version, true);
    else if (pool->kind == MICAP_POOL_HASH && micap_pool_is_ready_hashed(pool))
        value = micap_pool_add_hashed(pool, entity, version);
    if (!value || !pool->group)
        return value;
    micap_group_enter(pool->group, entity, version);
    return micap_pool_value(pool, micap_pool_row(pool, entity));
}

/* Removes a row of a pool with a hash: the last row fills the hole. */
static void remove_hashed(mica_pool *pool, uint64_t *slot, mica_version version)
{
    uint32_t row = (uint32_t)*slot - 1, last = pool->row_limit - 1;
    micap_pool_preserve(pool, row, 1);
    micap_pool_preserve(pool, last, 1);
    micap_hash_erase(&pool->index, slot);
    pool->row_limit = last;
    --pool->count;
    ++pool->stamp;
    if (row == last)
        return;
    mica_entity moved = pool->owners[last];
    *micap_hash_slot(&pool->index, moved.index) = micap_hash_entry(moved.index, row);
    pool->owners[row] = moved;
    micap_pool_stamps(pool, row)[0] = version;
    micap_copy_trivial(micap_pool_value(pool, row), micap_pool_value(pool, last), pool->value_bytes);
}

bool micap_pool_remove_packed(mica_pool *pool, mica_entity entity, mica_version version)
{
    if (pool->kind == MICAP_POOL_MAP) {
        uint32_t row = micap_map_find(&pool->index, entity);
        if (row == MICAP_ROW_NONE)
            return false;
        if (pool->group)
            micap_group_leave(pool, row, version);
        micap_pool_remove_mapped(pool, micap_map_entry_at(&pool->index, entity.index), version, true);
        return true;
    }
    uint64_t *slot = pool->index.slot_count ? micap_hash_slot(&pool->index, entity.index) : NULL;
    if (!slot || !*slot || pool->owners[(uint32_t)*slot - 1].generation != entity.generation)
        return false;
    if (pool->group)
        micap_group_leave(pool, (uint32_t)*slot - 1, version);
    remove_hashed(pool, slot, version);
    return true;
}
