/* The invariants of a pool. */
#include "pool/pool.h"

static const char *check_chain(const mica_pool *pool, uint32_t first)
{
    uint32_t last = first, length = 1;
    for (uint32_t row = pool->next[first]; row != MICAP_ROW_NONE; row = pool->next[row]) {
        if (row >= pool->row_limit || !mica_same(pool->owners[row], pool->owners[first]))
            return "the instances of an entity are linked";
        if (pool->previous[row] != last || ++length > pool->count)
            return "an instance knows the one before";
        if (pool->enabled && pool->enabled[row] != pool->enabled[first])
            return "the instances of an entity are switched together";
        last = row;
    }
    return pool->previous[first] == last ? NULL : "the first instance knows the last";
}

static const char *check_row(const mica_pool *pool, uint32_t row, uint32_t *chained)
{
    mica_entity owner = pool->owners[row];
    uint32_t first = micap_pool_row(pool, owner);
    if (mica_is_nil(owner))
        return "a row in use has an owner";
    if (!pool->next)
        return first == row ? NULL : "the index finds the row of its owner";
    if (first >= pool->row_limit)
        return "the index finds the first instance";
    if (first != row)
        return NULL;
    for (uint32_t at = row; at != MICAP_ROW_NONE && *chained <= pool->count; at = pool->next[at])
        ++*chained;
    return check_chain(pool, row);
}

static const char *check_group(const mica_pool *pool)
{
    const micap_pool_group *group = pool->group;
    for (uint32_t row = 0; row < group->count; ++row)
        for (uint32_t i = 0; i < group->pool_count; ++i)
            if (row >= group->pools[i]->row_limit || !mica_same(group->pools[i]->owners[row], pool->owners[row]))
                return "pools of a group are in step";
    for (uint32_t row = group->count; row < pool->row_limit; ++row) {
        uint32_t have = 0;
        for (uint32_t i = 0; i < group->pool_count; ++i)
            have += micap_pool_row(group->pools[i], pool->owners[row]) != MICAP_ROW_NONE;
        if (have == group->pool_count)
            return "who has everything is at the front of the group";
    }
    return NULL;
}

const char *micap_pool_check(const mica_pool *pool)
{
    uint32_t used = 0, chained = 0;
    if (pool->incoming)
        return "nothing is awaited between operations";
    if (pool->row_limit > pool->capacity)
        return "a pool holds no more than it can";
    for (uint32_t row = micap_pool_next_used(pool, 0), end; row < (pool->lanes ? pool->row_limit : 0);
         row = micap_pool_next_used(pool, end)) {
        end = micap_pool_run_end(pool, row);
        for (; row < end; ++row, ++used) {
            const char *problem = check_row(pool, row, &chained);
            if (problem)
                return problem;
            if (pool->enabled && pool->enabled[row] > 1)
                return "a toggle is 0 or 1";
        }
    }
    if (!pool->lanes) /* tags */
        for (uint32_t i = 0; i < pool->present_words; ++i)
            used += (uint32_t)__builtin_popcountll(pool->present[i]);
    if (used != pool->count || (pool->next && chained != used))
        return "a pool counts its rows";
    if (pool->kind == MICAP_POOL_HASH && !pool->next && pool->index.used != used)
        return "the index has an entry per row";
    return pool->group ? check_group(pool) : NULL;
}
