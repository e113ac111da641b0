#include "core/query/query_join_run.h"

#include "core/storage/pool_lookup.h"

/* The first blocks of a run are short, since many runs are; later ones are long enough for memcmp. */
enum { BLOCK_MIN = 2, BLOCK_MAX = 4096, COMPARE_MIN = 16 };

/* Whether a row of a pool satisfies a term that demands one. */
static bool row_satisfies(const mica_pool *pool, mica_access access, uint32_t row, mica_version since)
{
    if (access == MICA_ACCESS_DISABLED)
        return !pool->enabled[row];
    if (pool->enabled && !pool->enabled[row])
        return false;
    if (access == MICA_ACCESS_ADDED)
        return pool->added[row] > since;
    if (access != MICA_ACCESS_CHANGED)
        return true;
    return pool->changed ? pool->changed[row] > since : micap_pool_slice_changed(pool, row, since);
}

bool micap_join_satisfies(const micap_join *join, uint32_t row, mica_version since)
{
    if (join->access == MICA_ACCESS_WITHOUT)
        return row == MICAP_ROW_NONE;
    if (!micap_access_demands(join->access))
        return true;
    return row != MICAP_ROW_NONE && row_satisfies(join->pool, join->access, row, since);
}

bool micap_join_continues(const micap_join *join, uint32_t first_row, uint32_t row, uint32_t count)
{
    if (join->is_flag && (row == MICAP_ROW_NONE) != (first_row == MICAP_ROW_NONE))
        return false;
    return !join->has_column || row == (first_row == MICAP_ROW_NONE ? MICAP_ROW_NONE : first_row + count);
}

static uint32_t slice_end(uint32_t row)
{
    return (row / MICA_SLICE_ROWS + 1) * MICA_SLICE_ROWS;
}

/* Whether a slice has rows that changed, or may have some. */
static bool slice_may_pass(const mica_pool *pool, uint32_t row, mica_version since)
{
    if (!pool->changed)
        return micap_pool_slice_changed(pool, row, since);
    return micap_pool_stamps(pool, row)[0] > since || *micap_pool_marked(pool, row) > since;
}

/* How many rows lie in slices that all changed, or all did not: a loop over stamps only. */
static uint32_t slices_run(const mica_pool *pool, uint32_t row, uint32_t count, mica_version since, bool changed)
{
    const uint32_t step = pool->stamp_count, lanes = pool->data_lane_count;
    const uint32_t first = pool->changed ? lanes + 1 : lanes ? 1 : 0, last = pool->changed ? first : lanes;
    const uint32_t slice_count = (row % MICA_SLICE_ROWS + count + MICA_SLICE_ROWS - 1) / MICA_SLICE_ROWS;
    const mica_version *stamps = micap_pool_stamps(pool, row);
    uint32_t slice = 0;
    for (; slice < slice_count; ++slice, stamps += step) {
        bool may_pass = stamps[0] > since || micap_stamp_version(MICAP_LOAD(&stamps[first], MICAP_RELAXED)) > since;
        for (uint32_t i = first + 1; i <= last; ++i)
            may_pass |= micap_stamp_version(MICAP_LOAD(&stamps[i], MICAP_RELAXED)) > since;
        if (may_pass != changed)
            break;
    }
    return slice == slice_count ? count : slice ? slice * MICA_SLICE_ROWS - row % MICA_SLICE_ROWS : 0;
}

/* How many rows from one on satisfy a term. */
static uint32_t satisfied_run(const micap_join *join, uint32_t row, uint32_t count, mica_version since)
{
    const mica_pool *pool = join->pool;
    if (!micap_access_demands(join->access))
        return count;
    if (join->access == MICA_ACCESS_CHANGED)
        count = slices_run(pool, row, count, since, true);
    if (!pool->enabled && join->access != MICA_ACCESS_ADDED && !(join->access == MICA_ACCESS_CHANGED && pool->changed))
        return count;
    for (uint32_t i = 0; i < count; ++i)
        if (!row_satisfies(pool, join->access, row + i, since))
            return i;
    return count;
}

static uint32_t same_entities(const mica_entity *left, const mica_entity *right, uint32_t count)
{
    if (count >= COMPARE_MIN && !memcmp(left, right, count * sizeof *left))
        return count;
    uint32_t same = 0;
    while (same < count && mica_same(left[same], right[same]))
        ++same;
    return same;
}

/* How many entities from number `from` on have the rows from one on; in a group with the driver this is known. */
static uint32_t owners_run(const micap_join_visit *visit, const mica_pool *pool, uint32_t row, uint32_t from,
                           uint32_t count)
{
    uint32_t left = row < pool->row_limit ? pool->row_limit - row : 0, known = 0;
    if (count > left)
        count = left;
    const micap_pool_group *group = pool->group;
    if (group && visit->driver && visit->driver->group == group && row == visit->at + from && row < group->count)
        known = group->count - row;
    if (known >= count)
        return count;
    return known + same_entities(visit->entities + from + known, pool->owners + row + known, count - known);
}

/* The same by looking up each entity: its row is arbitrary, or it has none. */
static uint32_t looked_up_run(const micap_join_visit *visit, const micap_join *join, uint32_t first_row, uint32_t from,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t row = micap_pooled_row(visit->query->world, join->pool, visit->entities[from + i]);
        if (!micap_join_continues(join, first_row, row, from + i) || !micap_join_satisfies(join, row, visit->since))
            return i;
    }
    return count;
}

/* Whether the bits of a tag decide a term. */
static bool is_tag_term(const micap_join *join)
{
    return join->pool->kind == MICAP_POOL_TAG && !join->pool->enabled && join->access != MICA_ACCESS_ADDED &&
           join->access != MICA_ACCESS_CHANGED && join->access != MICA_ACCESS_DISABLED;
}

/* How many entities from number `from` on have the tag of a term, or lack it, as the term wants it. */
static uint32_t tagged_run(const micap_join_visit *visit, const micap_join *join, uint32_t first_row, uint32_t from,
                           uint32_t count)
{
    bool is_optional = join->access != MICA_ACCESS_WITHOUT && !micap_access_demands(join->access);
    bool is_free = is_optional && !join->is_flag; /* both are fine */
    bool is_wanted = join->access != MICA_ACCESS_WITHOUT && (!is_optional || first_row != MICAP_ROW_NONE);
    const mica_pool *pool = join->pool;
    const mica_entity *entities = visit->entities + from;
    const uint64_t *present = pool->present;
    const uint32_t limit = pool->present_words * 64;
    if (is_wanted && !is_free && visit->driver &&
        visit->driver->kind == MICAP_POOL_TAG) { /* then indices are consecutive */
        uint32_t index = visit->at + from, end = index < limit ? micap_pool_run_end(pool, index) : index;
        return end - index < count ? end - index : count;
    }
    for (uint32_t i = is_free ? count : 0; i < count; ++i)
        if ((entities[i].index < limit && micap_bit(present, entities[i].index)) != is_wanted)
            return i;
    return count;
}

static uint32_t run_in_pool(const micap_join_visit *visit, const micap_join *join, uint32_t first_row, uint32_t from,
                            uint32_t count)
{
    const mica_pool *pool = join->pool;
    if (pool == visit->driver)
        return satisfied_run(join, first_row + from, count, visit->since);
    if (is_tag_term(join))
        return tagged_run(visit, join, first_row, from, count);
    if (!join->has_column || first_row == MICAP_ROW_NONE || pool->next)
        return looked_up_run(visit, join, first_row, from, count);
    count = owners_run(visit, pool, first_row + from, from, count);
    return satisfied_run(join, first_row + from, count, visit->since);
}

uint32_t micap_join_run(const micap_join_visit *visit, const micap_found_rows *first)
{
    const mica_query *query = visit->query;
    uint32_t block = BLOCK_MIN;
    for (uint32_t run = 1, step, most; run < visit->count; run += step) {
        step = most = visit->count - run < block ? visit->count - run : block;
        for (uint32_t i = 0; step && i < query->join_count; ++i)
            step = run_in_pool(visit, &query->joins[i], first->rows[i], run, step);
        if (step < most)
            return run + step;
        block = block < BLOCK_MAX ? block * 4 : BLOCK_MAX;
    }
    return visit->count;
}

uint32_t micap_join_unchanged_run(const micap_join_visit *visit)
{
    const mica_query *query = visit->query;
    for (uint32_t i = 0; query->is_marked && i < query->join_count; ++i) {
        const mica_pool *pool = query->joins[i].pool;
        if (query->joins[i].access != MICA_ACCESS_CHANGED || pool == visit->driver || !pool->owners || pool->next)
            continue;
        uint32_t row = micap_pooled_row(query->world, pool, visit->entities[0]);
        if (row == MICAP_ROW_NONE || slice_may_pass(pool, row, visit->since))
            continue;
        uint32_t left = pool->row_limit - row, count = visit->count < left ? visit->count : left;
        count = slices_run(pool, row, count, visit->since, false);
        return same_entities(visit->entities, pool->owners + row, count);
    }
    return 1;
}

/* The same for a tracked pool: the next row that was written. */
static uint32_t next_marked(const mica_pool *pool, uint32_t row, uint32_t end, mica_version since)
{
    for (uint32_t stop; row < end; row = stop) {
        stop = slice_end(row) < end ? slice_end(row) : end;
        if (!slice_may_pass(pool, row, since))
            continue;
        while (row < stop && pool->changed[row] <= since)
            ++row;
        if (row < stop)
            return row;
    }
    return end;
}

uint32_t micap_join_next_changed(const mica_query *query, const mica_pool *driver, uint32_t row, uint32_t end,
                                 mica_version since)
{
    for (uint32_t i = 0; driver->owners && i < query->join_count; ++i)
        if (query->joins[i].pool == driver && query->joins[i].access == MICA_ACCESS_CHANGED)
            return driver->changed ? next_marked(driver, row, end, since)
                   : row < end     ? row + slices_run(driver, row, end - row, since, false)
                                   : end;
    return row;
}
