/* Groups: pools whose first rows belong to the same entities, in the same order. */
#include "pool/pool_group.h"
#include "pool/pool_rows.h"

/* The usual index without a call. */
static inline uint32_t row_of(const mica_pool *pool, mica_entity entity)
{
    return MICAP_LIKELY(pool->kind == MICAP_POOL_MAP) ? micap_map_find(&pool->index, entity)
                                                      : micap_pool_row(pool, entity);
}

void micap_group_enter(micap_pool_group *group, mica_entity entity, mica_version version)
{
    uint32_t rows[MICA_GROUP_POOLS_MAX];
    for (uint32_t i = group->pool_count; i-- > 0;) { /* mostly the first ones have their rows earlier */
        rows[i] = row_of(group->pools[i], entity);
        if (rows[i] == MICAP_ROW_NONE)
            return;
    }
    for (uint32_t i = 0; i < group->pool_count; ++i)
        if (rows[i] != group->count)
            micap_pool_swap_rows(group->pools[i], rows[i], group->count, version);
    ++group->count;
}

/* Whether rows after the front belong to these entities in all pools. */
static bool are_next(const micap_pool_group *group, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = group->pool_count; i-- > 0;) {
        const mica_pool *pool = group->pools[i];
        if (pool->row_limit - group->count < count ||
            memcmp(pool->owners + group->count, entities, count * sizeof *entities) != 0)
            return false;
    }
    return true;
}

void micap_group_enter_list(micap_pool_group *group, const mica_entity *entities, uint32_t count, mica_version version)
{
    if (are_next(group, entities, count)) { /* they are where they belong */
        group->count += count;
        return;
    }
    for (uint32_t i = 0; i < count; ++i)
        micap_group_enter(group, entities[i], version);
}

uint32_t micap_group_leave(mica_pool *pool, uint32_t row, mica_version version)
{
    micap_pool_group *group = pool->group;
    if (row >= group->count) /* not at the front */
        return row;
    --group->count;
    for (uint32_t i = 0; row != group->count && i < group->pool_count; ++i)
        micap_pool_swap_rows(group->pools[i], row, group->count, version);
    return group->count;
}

void micap_group_fill(micap_pool_group *group, mica_version version)
{
    const mica_pool *first = group->pools[0];
    for (uint32_t row = 0; row < first->row_limit; ++row) /* the front never grows beyond it */
        micap_group_enter(group, first->owners[row], version);
}
