#include "core/query/query_join_fast.h"

#include "base/assert.h"
#include "core/query/query_join_run.h"
#include "core/storage/singleton.h"
#include "core/world/world.h"

bool micap_join_is_fast(const micap_join *join)
{
    const mica_type *type = &join->pool->type->type;
    return join->access <= MICA_ACCESS_HAS && join->pool->fast_kind != MICAP_POOL_TAG && !type->toggle && !type->many;
}

/* What a loop visits: the owners of a pool, or the entities of a chunk if `driver` is NULL. */
typedef struct micap_join_source {
    const mica_pool *driver;
    const mica_entity *entities; /* from row 0 on */
} source;

/* Which of the entities that were looked up have a row, and after which of them the row of the next entity follows; a bit each. */
typedef struct micap_looked_up {
    uint64_t found, follows;
} looked_up;

static looked_up look_up_map(const micap_index *index, const mica_entity *entities, uint32_t count, uint32_t *rows)
{
    looked_up result = {0, 0};
    uint64_t expected = UINT64_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t row = micap_map_find(index, entities[i]);
        rows[i] = (uint32_t)row;
        result.found |= (uint64_t)(row != MICAP_ROW_NONE) << i;
        result.follows |= (uint64_t)(row == expected) << i;
        expected = row + 1;
    }
    result.follows >>= 1;
    return result;
}

/* The same with another index. */
static looked_up look_up_other(const mica_pool *pool, const mica_entity *entities, uint32_t count, uint32_t *rows)
{
    looked_up result = {0, 0};
    uint64_t expected = UINT64_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t row = rows[i] = micap_pool_row(pool, entities[i]);
        result.found |= (uint64_t)(row != MICAP_ROW_NONE) << i;
        result.follows |= (uint64_t)(row == expected) << i;
        expected = row + 1;
    }
    result.follows >>= 1;
    return result;
}

/* Asks the cache for values that the loop shows soon: in rows that do not follow each other, hardware does not look ahead. */
static void prefetch_values(const mica_pool *pool, const uint32_t *rows, uint32_t count, uint64_t step_bytes)
{
    for (uint32_t i = 0; step_bytes && i < count; ++i)
        MICAP_PREFETCH((const char *)((uintptr_t)pool->values + rows[i] * step_bytes), 1);
}

static uint32_t *rows_ahead(mica_view *view, const mica_query *query, uint32_t join)
{
    return view->private_.ahead_rows + (size_t)join * query->ahead_max;
}

/* Whether the entity after row `at`, which was looked up as number `last`, follows it in all pools of which columns are read. */
static bool last_follows(mica_view *view, const mica_query *query, source from, uint32_t at, uint32_t last)
{
    for (uint32_t i = 0; i < query->join_count; ++i) {
        const mica_pool *pool = query->joins[i].pool;
        uint32_t row = rows_ahead(view, query, i)[last] + 1;
        if (pool != from.driver && query->joins[i].step_bytes &&
            (row >= pool->row_limit || !mica_same(pool->owners[row], from.entities[at + 1])))
            return false;
    }
    return true;
}

/* Looks up the next entities in all pools, as many as the loop showed one by one before; false if there are none. */
static MICAP_NOINLINE bool look_ahead(mica_view *view, const mica_query *query, source from, uint32_t end)
{
    uint32_t at = view->private_.ahead_end;
    view->private_.ahead_follows = 0;
    while (!view->private_.ahead) {
        if (from.driver)
            at = micap_pool_next_used(from.driver, at);
        if (at >= end)
            return false;
        uint32_t count = view->private_.ahead_size ? view->private_.ahead_size : 1;
        view->private_.ahead_size = count * 2 < query->ahead_max ? count * 2 : query->ahead_max;
        uint32_t run_end = from.driver ? micap_pool_run_end(from.driver, at) : end;
        if (count > (run_end < end ? run_end : end) - at)
            count = (run_end < end ? run_end : end) - at;
        MICAP_ASSERT_HOT(count && count <= 64, "a run has rows, and a word has a bit for each that is looked up");
        uint64_t found = UINT64_MAX >> (64 - count), follows = found;
        for (uint32_t i = 0; found && i < query->join_count; ++i) {
            const mica_pool *pool = query->joins[i].pool;
            if (pool == from.driver)
                continue;
            uint32_t *rows = rows_ahead(view, query, i);
            looked_up result = pool->kind == MICAP_POOL_MAP ? look_up_map(&pool->index, from.entities + at, count, rows)
                                                            : look_up_other(pool, from.entities + at, count, rows);
            found &= result.found;
            prefetch_values(pool, rows, count, query->joins[i].step_bytes);
            follows &= query->joins[i].step_bytes ? result.follows : UINT64_MAX;
        }
        view->private_.ahead = found;
        view->private_.ahead_follows = follows & found >> 1;
        view->private_.ahead_at = at;
        at += count;
        view->private_.ahead_end = at;
        if (at < run_end && at < end && found >> (count - 1) && last_follows(view, query, from, at - 1, count - 1))
            view->private_.ahead_follows |= (uint64_t)1 << (count - 1);
    }
    return true;
}

/* Points the columns of pools at the rows of an entity that was looked up as `number`; lists their stamps for terms that are ready. */
static MICAP_INLINE void show_pools(mica_view *view, const mica_query *query, const mica_pool *driver, uint32_t at,
                                    uint32_t number)
{
    const micap_join *join = query->joins, *end = join + query->join_count;
    const uint32_t *rows = view->private_.ahead_rows + number;
    for (; join < end; ++join, rows += query->ahead_max) {
        const mica_pool *pool = join->pool;
        MICAP_ASSERT_HOT(pool, "a world has the pools of its queries");
        uint64_t row = pool == driver ? at : *rows;
        view->private_.columns[join->term] = join->step_bytes ? pool->values + row * join->step_bytes : NULL;
        if (join->is_ready)
            view->private_.stamps[join->term] = &micap_pool_stamps(pool, (uint32_t)row)[1];
    }
}

static void *chunk_column(const mica_view *view, const mica_query *query, uint32_t term)
{
    mica_component component = query->terms[term].component;
    if (micap_type_of(component)->type.storage == MICA_STORAGE_SINGLETON)
        return micap_singleton_show(micap_component_of(&view->world->components, component));
    if (query->is_flag[term])
        return micap_archetype_has(view->private_.chunk->archetype, component) ? &micap_tag_value : NULL;
    return micap_finder_value(micap_chunk_find(view->private_.chunk, component), view->private_.row);
}

void micap_join_find_chunk_columns(mica_view *view, const mica_query *query)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (!micap_is_pooled(query->terms[i].component))
            view->private_.columns[i] = query->term_bytes[i] || query->is_flag[i] ? chunk_column(view, query, i) : NULL;
}

/* Points the columns of chunks at a row. In the chunk of the view before they only move. */
static MICAP_INLINE void show_chunk(mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t row)
{
    int64_t rows = (int64_t)row - view->private_.row;
    view->private_.row = row;
    if (MICAP_UNLIKELY(view->private_.chunk != chunk)) {
        view->private_.chunk = chunk;
        micap_join_find_chunk_columns(view, query);
        return;
    }
    for (uint32_t i = 0, count = query->term_count; i < count; ++i)
        if (query->chunk_steps[i] && view->private_.columns[i])
            view->private_.columns[i] = (char *)view->private_.columns[i] + rows * query->chunk_steps[i];
}

/* Finds the chunk of an owner; false if its archetype does not match. Consecutive owners mostly belong to the same archetype, which is
 * tested once. */
static MICAP_INLINE bool find_chunk(mica_view *view, const mica_query *query, mica_entity owner, uint64_t *out_record)
{
    uint64_t record = *micap_record_at(&query->world->entities, owner.index); /* of the living: no row is dead */
    const micap_archetype *archetype = query->world->chunks.by_number[micap_record_chunk(record)]->archetype;
    *out_record = record;
    if (MICAP_LIKELY(view->private_.fitting == archetype))
        return true;
    if (!micap_query_matches_archetype(query, archetype))
        return false;
    view->private_.fitting = archetype;
    return true;
}

/* How many owners have rows in the same chunk, one after the other. */
static uint32_t chunk_run(const mica_query *query, const mica_entity *owners, uint32_t count, uint64_t record)
{
    uint32_t limit = MICAP_CHUNK_ROWS_MAX - micap_record_row(record), run = 1;
    if (limit > count) /* or a row would count on into the number of the chunk */
        limit = count;
    while (run < limit &&
           micap_record_follows(*micap_record_at(&query->world->entities, owners[run].index), record, run))
        ++run;
    return run;
}

/* How long the run is of an entity that was looked up, with its record if chunks are asked for. With chunks and pools to follow, one
 * may end long before the other: both look at a few rows first, and at more if all of them follow. */
static uint32_t run_of(mica_view *view, micap_join_visit visit, uint32_t number, uint64_t record)
{
    micap_found_rows first;
    for (uint32_t i = 0; i < visit.query->join_count; ++i)
        first.rows[i] =
            visit.query->joins[i].pool == visit.driver ? visit.at : rows_ahead(view, visit.query, i)[number];
    if (visit.driver && micap_pool_run_end(visit.driver, visit.at) - visit.at < visit.count)
        visit.count = micap_pool_run_end(visit.driver, visit.at) - visit.at;
    if (!record)
        return micap_join_run(&visit, &first);
    uint32_t most = visit.count;
    for (uint64_t limit = 16;; limit *= 8) {
        uint32_t wanted = limit < most ? (uint32_t)limit : most;
        visit.count = chunk_run(visit.query, visit.entities, wanted, record);
        uint32_t run = micap_join_run(&visit, &first);
        if (run < wanted || wanted == most)
            return run;
    }
}

/* Takes the next entity that was looked up; returns its row in the source. */
static MICAP_INLINE uint32_t take_ahead(mica_view *view, uint32_t *out_number)
{
    uint64_t ahead = view->private_.ahead;
    *out_number = (uint32_t)MICAP_TRAILING_ZEROS(ahead);
    view->private_.ahead = ahead & (ahead - 1);
    return view->private_.ahead_at + *out_number;
}

/* Shows the run of an entity that was looked up: entities of the run that were looked up too are done. Returns its end. */
static uint32_t show_rows(mica_view *view, micap_join_visit visit, uint32_t number, uint64_t record)
{
    bool follows = view->private_.ahead_follows >> number & 1;
    view->entities = visit.entities;
    view->count = follows ? run_of(view, visit, number, record) : 1;
    view->private_.ready_count = view->count == 1 ? visit.query->ready_rows : 0;
    uint32_t end = visit.at + view->count;
    if (follows) {
        view->private_.ahead_size = 1;
        view->private_.ahead &= end < view->private_.ahead_end ? UINT64_MAX << (end - view->private_.ahead_at) : 0;
        if (end > view->private_.ahead_end)
            view->private_.ahead_end = end;
    }
    return end;
}

/* The general case of the function below: what it can't show without a call. */
static MICAP_NOINLINE bool next_run_of_driver(mica_view *view, const mica_query *query)
{
    const mica_pool *driver = view->private_.driver;
    uint32_t end = view->private_.end, number, at;
    uint64_t record = 0;
    do {
        if (!view->private_.ahead && !look_ahead(view, query, (source){driver, driver->owners}, end))
            return false;
        at = take_ahead(view, &number);
    } while (query->asks_chunks && !find_chunk(view, query, driver->owners[at], &record));
    show_pools(view, query, driver, at, number);
    if (query->asks_chunks)
        show_chunk(view, query, query->world->chunks.by_number[micap_record_chunk(record)], micap_record_row(record));
    micap_join_visit visit = {query, driver, driver->owners + at, at, end - at, 0};
    view->private_.cursor = show_rows(view, visit, number, record);
    return true;
}

/* The next entity that was looked up. Calls nothing, so that it keeps nothing on the stack. */
static MICAP_INLINE bool next_of_driver(mica_view *view, const mica_query *query)
{
    uint64_t ahead = view->private_.ahead, first = ahead & (0 - ahead);
    if (MICAP_UNLIKELY(!ahead || (view->private_.ahead_follows & first) || query->asks_chunks))
        return next_run_of_driver(view, query);
    const mica_pool *driver = view->private_.driver;
    uint32_t number, at = take_ahead(view, &number);
    view->count = 1;
    view->entities = driver->owners + at;
    view->private_.cursor = at + 1;
    view->private_.ready_count = query->ready_rows;
    show_pools(view, query, driver, at, number);
    return true;
}

bool micap_join_next_fast_rows(mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t *row,
                               uint32_t end)
{
    const mica_entity *entities = micap_chunk_entities(chunk);
    uint32_t number;
    if (!view->private_.ahead) {
        view->private_.ahead_end = *row;
        if (!look_ahead(view, query, (source){NULL, entities}, end)) {
            *row = end;
            return false;
        }
    }
    uint32_t at = take_ahead(view, &number);
    show_pools(view, query, NULL, 0, number);
    show_chunk(view, query, chunk, at);
    *row = show_rows(view, (micap_join_visit){query, NULL, entities + at, at, end - at, 0}, number, 0);
    return true;
}

static MICAP_NOINLINE bool next_in_chunks(mica_view *view, const mica_query *query)
{
    for (; view->private_.match < query->match_count;
         ++view->private_.match, view->private_.chunk_index = 0, view->private_.cursor = 0) {
        const micap_archetype *archetype = query->archetypes[view->private_.match];
        for (; view->private_.chunk_index < archetype->chunk_count;
             ++view->private_.chunk_index, view->private_.cursor = 0) {
            micap_chunk *chunk = archetype->chunks[view->private_.chunk_index];
            if (micap_join_next_fast_rows(view, query, chunk, &view->private_.cursor, chunk->count))
                return true;
        }
    }
    return false;
}

bool micap_join_next_fast(mica_view *view, const mica_query *query)
{
    return view->private_.driver ? next_of_driver(view, query) : next_in_chunks(view, query);
}
