/* Adding and removing a row of a pool that changes_fast is true for: trivial whole values of any size that are found by a map or a
 * direct index, or the bits of a tag; no groups, links, switches or rows of dead entities. Nothing here fails or reports.
 *
 * `saves` says whether there are snapshots, for which copies are made first. It is a constant at most callers: without snapshots the
 * test is made once for a whole operation. */
#ifndef MICAP_POOL_POOL_FAST_ROWS_H
#define MICAP_POOL_POOL_FAST_ROWS_H

#include "pool/pool_group.h"
#include "pool/pool_undo.h"

/* The map entry of an entity for which a row can be added at once: there is room for it, and there is none yet. Else NULL. */
static MICAP_INLINE uint64_t *micap_pool_free_entry(const mica_pool *pool, uint32_t entity_index)
{
    uint64_t *entry = micap_map_at(&pool->index, entity_index);
    return MICAP_LIKELY(entry && !*entry && pool->row_limit != pool->capacity) ? entry : NULL;
}

/* The same for a direct index, or a tag. */
static MICAP_INLINE bool micap_pool_is_free(const mica_pool *pool, uint32_t entity_index)
{
    uint32_t limit = pool->kind == MICAP_POOL_DIRECT ? pool->capacity : pool->present_words * 64;
    return entity_index < limit && !micap_bit(pool->present, entity_index);
}

/* Whether there is room in a pool with a hash. */
bool micap_pool_is_ready_hashed(const mica_pool *pool);

/* Whether a row can be added to any of them for a new entity, which has none. */
static MICAP_INLINE bool micap_pool_is_ready(const mica_pool *pool, uint32_t entity_index)
{
    return MICAP_LIKELY(pool->kind == MICAP_POOL_MAP) ? micap_pool_free_entry(pool, entity_index) != NULL
           : pool->present                            ? micap_pool_is_free(pool, entity_index)
                                                      : micap_pool_is_ready_hashed(pool);
}

static MICAP_INLINE uint64_t *micap_map_entry_at(const micap_index *index, uint32_t entity_index)
{
    return &index->pages[entity_index >> MICAP_MAP_PAGE_SHIFT][entity_index & (MICAP_MAP_PAGE_ENTRIES - 1)];
}

/* Sets or clears the bit of a row. */
static MICAP_INLINE void micap_pool_flip_bit(mica_pool *pool, uint32_t row, bool saves)
{
    if (saves && MICAP_UNLIKELY(pool->undo->before))
        micap_pool_save_bit(pool, row);
    pool->present[row / 64] ^= (uint64_t)1 << row % 64;
}

static MICAP_INLINE char *micap_pool_own_row(mica_pool *pool, uint32_t row, mica_entity entity, mica_version version)
{
    pool->owners[row] = entity;
    ++pool->count;
    ++pool->stamp;
    micap_pool_stamps(pool, row)[0] = version;
    return pool->values + (size_t)row * pool->value_bytes;
}

/* Adds a row after the last one. Returns its raw value. */
static MICAP_INLINE char *micap_pool_add_mapped(mica_pool *pool, mica_entity entity, uint64_t *entry,
                                                mica_version version, bool saves)
{
    uint32_t row = pool->row_limit;
    if (saves) {
        micap_map_touch(&pool->index, entity.index);
        micap_pool_preserve(pool, row, 1); /* before the row counts as used */
    }
    *entry = micap_map_entry(entity, row);
    pool->row_limit = row + 1;
    return micap_pool_own_row(pool, row, entity, version);
}

/* Adds the row at the index of an entity. Returns its raw value, NULL for a tag. */
static MICAP_INLINE char *micap_pool_add_direct(mica_pool *pool, mica_entity entity, mica_version version, bool saves)
{
    uint32_t row = entity.index;
    bool is_tag = pool->kind == MICAP_POOL_TAG;
    if (saves && !is_tag)
        micap_pool_preserve(pool, row, 1);
    micap_pool_flip_bit(pool, row, saves);
    if (is_tag) {
        ++pool->count;
        ++pool->stamp;
        return NULL;
    }
    if (row >= pool->row_limit)
        pool->row_limit = row + 1;
    return micap_pool_own_row(pool, row, entity, version);
}

/* Adds a row after the last one of a pool with a hash that has room. Returns its raw value, or NULL if the entity has a row. */
char *micap_pool_add_hashed(mica_pool *pool, mica_entity entity, mica_version version);

/* Adds a row to a pool with a hash, or in a group. Returns its raw value, or NULL if there is no room or the entity has a row. */
char *micap_pool_add_packed(mica_pool *pool, mica_entity entity, mica_version version);

/* Adds a row of a new entity that is ready, to any of them. Groups do not know of it yet: see micap_group_enter. */
static MICAP_INLINE char *micap_pool_add_ready(mica_pool *pool, mica_entity entity, mica_version version, bool saves)
{
    if (MICAP_LIKELY(pool->kind == MICAP_POOL_MAP))
        return micap_pool_add_mapped(pool, entity, micap_map_entry_at(&pool->index, entity.index), version, saves);
    return pool->present ? micap_pool_add_direct(pool, entity, version, saves)
                         : micap_pool_add_hashed(pool, entity, version);
}

/* Rows in use lie below the limit. */
static MICAP_INLINE void micap_pool_lower_limit(mica_pool *pool)
{
    uint32_t limit = pool->row_limit;
    while (limit && !micap_bit(pool->present, limit - 1))
        limit -= limit % 64 == 0 && !pool->present[limit / 64 - 1] ? 64 : 1;
    pool->row_limit = limit;
}

/* Removes a row of a direct index, or a tag. */
static MICAP_INLINE void micap_pool_remove_direct(mica_pool *pool, uint32_t row, mica_version version, bool saves)
{
    bool is_tag = pool->kind == MICAP_POOL_TAG;
    if (saves && !is_tag)
        micap_pool_preserve(pool, row, 1);
    micap_pool_flip_bit(pool, row, saves);
    --pool->count;
    ++pool->stamp;
    if (is_tag)
        return;
    micap_pool_stamps(pool, row)[0] = version;
    pool->owners[row] = mica_nil();
    if (row + 1 == pool->row_limit)
        micap_pool_lower_limit(pool);
}

/* Removes the row that a map entry names: the last row fills the hole. */
static MICAP_INLINE void micap_pool_remove_mapped(mica_pool *pool, uint64_t *entry, mica_version version, bool saves)
{
    uint32_t row = (uint32_t)*entry - 1, last = pool->row_limit - 1;
    if (saves) {
        micap_map_touch(&pool->index, pool->owners[row].index);
        micap_map_touch(&pool->index, pool->owners[last].index);
        micap_pool_preserve(pool, row, 1);
        micap_pool_preserve(pool, last, 1);
    }
    *entry = 0;
    pool->row_limit = last;
    --pool->count;
    ++pool->stamp;
    if (row == last)
        return;
    mica_entity moved = pool->owners[last];
    pool->owners[row] = moved;
    *micap_map_entry_at(&pool->index, moved.index) = micap_map_entry(moved, row);
    micap_pool_stamps(pool, row)[0] = version;
    micap_copy_trivial(micap_pool_value(pool, row), micap_pool_value(pool, last), pool->value_bytes);
}

/* Removes a row from a pool with a hash, or in a group. False if the entity has none. */
bool micap_pool_remove_packed(mica_pool *pool, mica_entity entity, mica_version version);

/* Removes the row of an entity that has one, from any of them. */
static MICAP_INLINE void micap_pool_remove_present(mica_pool *pool, mica_entity entity, mica_version version,
                                                   bool saves)
{
    if (MICAP_LIKELY(pool->kind == MICAP_POOL_MAP)) {
        uint64_t *entry = micap_map_entry_at(&pool->index, entity.index);
        if (MICAP_UNLIKELY(pool->group != NULL))
            micap_group_leave(pool, (uint32_t)*entry - 1, version);
        micap_pool_remove_mapped(pool, entry, version, saves);
    } else if (pool->present)
        micap_pool_remove_direct(pool, entity.index, version, saves);
    else
        micap_pool_remove_packed(pool, entity, version);
}

#endif
