/* The invariants of a pool. */
#include "pool/pool_check.h"

#include "base/assert.h"
#include "pool/pool_edges.h"

/* How many rows and entities were met on the way. */
typedef struct micap_pool_census {
    uint32_t rows;
    uint32_t entities;
    uint32_t chained; /* rows in the chains of entities with many instances */
} census;

static const char *check_chain(const mica_pool *pool, uint32_t first, census *met)
{
    uint32_t last = first;
    ++met->chained;
    for (uint32_t row = pool->next[first]; row != MICAP_ROW_NONE; row = pool->next[row]) {
        if (row >= pool->row_limit || !mica_same(pool->owners[row], pool->owners[first]))
            return "the instances of an entity are linked";
        if (pool->previous[row] != last || ++met->chained > pool->count)
            return "an instance knows the one before";
        if (pool->enabled && pool->enabled[row] != pool->enabled[first])
            return "all instances of an entity have the same enabled state";
        last = row;
    }
    return pool->previous[first] == last ? NULL : "the first instance knows the last";
}

static const char *check_row(const mica_pool *pool, uint32_t row, census *met)
{
    mica_entity owner = pool->owners[row];
    uint32_t first = micap_pool_row(pool, owner);
    ++met->rows;
    if (mica_is_nil(owner))
        return "a row in use has an owner";
    if (pool->enabled && pool->enabled[row] > 1)
        return "a toggle is 0 or 1";
    if (first >= pool->row_limit || (!pool->next && first != row))
        return "the index finds the row of its owner";
    if (first != row)
        return NULL;
    ++met->entities;
    return pool->next ? check_chain(pool, row, met) : NULL;
}

/* Rows that are not in use have no owner. */
static const char *check_rows(const mica_pool *pool, census *met)
{
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        if (!micap_pool_has_row(pool, row)) {
            if (!mica_is_nil(pool->owners[row]))
                return "a row that is not in use has no owner";
            continue;
        }
        const char *problem = check_row(pool, row, met);
        if (problem)
            return problem;
    }
    if (pool->row_limit && !micap_pool_has_row(pool, pool->row_limit - 1))
        return "the last row is in use";
    return NULL;
}

static const char *check_index(const mica_pool *pool, const census *met)
{
    uint32_t entries = 0, slots = 0;
    for (uint32_t page = 0; page < pool->index.page_count; ++page)
        for (uint32_t i = 0; i < MICAP_MAP_PAGE_ENTRIES; ++i)
            entries += pool->index.pages[page][i] != 0;
    for (uint32_t i = 0; i < pool->index.slot_count; ++i)
        slots += pool->index.slots[i] != 0;
    if (entries != (pool->kind == MICAP_POOL_MAP ? met->entities : 0) || slots != pool->index.used ||
        slots != (pool->kind == MICAP_POOL_HASH ? met->entities : 0))
        return "the index has an entry per entity";
    return NULL;
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
            return "an entity with all components of a group is in the front part of its pools";
    }
    return NULL;
}

/* A bit after the last row would become valid when the row count rises. */
static const char *check_bits(const mica_pool *pool, const census *met)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < pool->present_words; ++i)
        bits += (uint32_t)MICAP_ONE_BITS(pool->present[i]);
    uint32_t rows = pool->kind == MICAP_POOL_TAG ? pool->count : met->rows;
    return !pool->present || bits == rows ? NULL : "there is a bit per row in use";
}

const char *micap_pool_check(const mica_pool *pool)
{
    census met = {0};
    if (pool->incoming)
        return "nothing is awaited between operations";
    if (pool->row_limit > pool->capacity)
        return "a pool holds no more than it can";
    const char *problem = check_rows(pool, &met);
    if (problem || (problem = check_bits(pool, &met)) || (problem = check_index(pool, &met)))
        return problem;
    if (pool->kind != MICAP_POOL_TAG && (met.rows != pool->count || (pool->next && met.chained != met.rows)))
        return "a pool counts its rows";
    if (pool->edges && (problem = micap_edges_check(pool)))
        return problem;
    return pool->group ? check_group(pool) : NULL;
}
