#include "core/query/query_join_fast.h"

#include "core/query/query_join_run.h"
#include "core/storage/singleton.h"
#include "core/world/world.h"

bool micap_join_is_fast(const micap_join *join)
{
    const mica_type *type = &join->pool->type->type;
    return join->access <= MICA_ACCESS_HAS && join->pool->fast_kind != MICAP_POOL_TAG && !type->toggle && !type->many;
}

/* Pools with another index than a map. A call, so that loops have registers for the rest. */
static __attribute__((noinline)) uint32_t other_row_of(const mica_pool *pool, mica_entity entity)
{
    return micap_pool_row(pool, entity);
}

/* The row of an entity in the pool of a term, or MICAP_ROW_NONE. */
static MICAP_INLINE uint32_t row_of(const mica_pool *pool, mica_entity entity)
{
    return MICAP_LIKELY(pool->kind == MICAP_POOL_MAP) ? micap_map_find(&pool->index, entity)
                                                      : other_row_of(pool, entity);
}

typedef enum micap_found { FOUND_NONE = 0, FOUND_ONE, FOUND_RUN } found;

/* Looks up an entity in all pools and points the columns at its rows. FOUND_NONE if it is missing in one, FOUND_RUN if the entity
 * after it follows in all pools of which columns are read. */
static MICAP_INLINE found show_pools(mica_view *view, const mica_query *query, const mica_pool *driver, uint32_t at,
                                     mica_entity entity, mica_entity next)
{
    const micap_join *join = query->joins, *end = join + query->join_count;
    found result = FOUND_RUN;
    for (; join < end; ++join) {
        const mica_pool *pool = join->pool;
        MICAP_ASSERT_HOT(pool, "a world has the pools of its queries");
        uint64_t row = at, step = join->step_bytes;
        if (pool != driver) {
            row = row_of(pool, entity);
            if (row == MICAP_ROW_NONE)
                return FOUND_NONE;
            if (step && (row + 1 >= pool->row_limit || !mica_same(pool->owners[row + 1], next)))
                result = FOUND_ONE;
        }
        view->private_.columns[join->term] = step ? pool->values + row * step : NULL;
    }
    return result;
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

/* How long the run of a row is that was found, with its record if chunks are asked for. With chunks and pools to follow, one may end
 * long before the other: both look at a few rows first, and at more if all of them follow. */
static __attribute__((noinline)) uint32_t run_of(micap_join_visit visit, uint64_t record)
{
    micap_found_rows first;
    for (uint32_t i = 0; i < visit.query->join_count; ++i) {
        const mica_pool *pool = visit.query->joins[i].pool;
        first.rows[i] = pool == visit.driver ? visit.at : row_of(pool, visit.entities[0]);
    }
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

static __attribute__((noinline)) bool next_of_driver(mica_view *view, const mica_query *query)
{
    const mica_pool *driver = view->private_.driver;
    const mica_entity *owners = driver->owners;
    uint32_t at = view->private_.cursor, end = view->private_.end, count = 1;
    uint64_t record = 0;
    found result;
    for (;; ++at) {
        if (MICAP_UNLIKELY(driver->present != NULL))
            at = micap_pool_next_used(driver, at);
        if (at >= end)
            return false;
        mica_entity next = at + 1 < end ? owners[at + 1] : mica_nil();
        result = show_pools(view, query, driver, at, owners[at], next);
        if (result != FOUND_NONE && (!query->asks_chunks || find_chunk(view, query, owners[at], &record)))
            break;
    }
    if (MICAP_UNLIKELY(result == FOUND_RUN))
        count = run_of((micap_join_visit){query, driver, owners + at, at, end - at, 0}, record);
    if (query->asks_chunks)
        show_chunk(view, query, query->world->chunks.by_number[micap_record_chunk(record)], micap_record_row(record));
    view->count = count;
    view->entities = owners + at;
    view->private_.cursor = at + count;
    return true;
}

bool micap_join_next_fast_rows(mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t *row,
                               uint32_t end)
{
    const mica_entity *entities = micap_chunk_entities(chunk);
    uint32_t at = *row, count = 1;
    found result = FOUND_NONE;
    for (; at < end; ++at) {
        result = show_pools(view, query, NULL, 0, entities[at], at + 1 < end ? entities[at + 1] : mica_nil());
        if (result != FOUND_NONE)
            break;
    }
    if (at >= end) {
        *row = end;
        return false;
    }
    if (MICAP_UNLIKELY(result == FOUND_RUN))
        count = run_of((micap_join_visit){query, NULL, entities + at, at, end - at, 0}, 0);
    show_chunk(view, query, chunk, at);
    view->count = count;
    view->entities = entities + at;
    *row = at + count;
    return true;
}

static __attribute__((noinline)) bool next_in_chunks(mica_view *view, const mica_query *query)
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
