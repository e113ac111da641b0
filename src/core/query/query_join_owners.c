/* Loops over pools whose rows match as they lie, with components of their owners in chunks: one look-up per owner. Runs are
 * often single rows, so that a step must be short. */
#include "core/query/query_join.h"

#include "core/query/view.h"

void *micap_join_chunk_column(const mica_view *view, const mica_query *query, uint32_t term)
{
    mica_component component = query->terms[term].component;
    if (micap_type_of(component)->type.storage == MICA_STORAGE_SINGLETON)
        return micap_singleton_show(micap_component_of(&view->world->components, component));
    return micap_finder_value(micap_chunk_find(view->private_.chunk, component), view->private_.row);
}

/* The same chunk as before: columns only move on. */
static inline void move_columns(mica_view *view, const mica_query *query, int64_t chunk_rows, int64_t pool_rows)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (MICAP_LIKELY(view->private_.columns[i] != NULL))
            view->private_.columns[i] = (char *)view->private_.columns[i] + chunk_rows * query->chunk_steps[i] +
                                        pool_rows * query->pool_steps[i];
}

static __attribute__((noinline)) bool find_columns(mica_view *view, const mica_query *query, uint32_t at)
{
    uint32_t join = 0;
    for (uint32_t i = 0; i < query->term_count; ++i) {
        if (micap_is_pooled(query->terms[i].component)) {
            const mica_pool *pool = query->joins[join++].pool;
            view->private_.columns[i] = query->pool_steps[i] ? micap_pool_value(pool, at) : NULL;
        } else {
            view->private_.columns[i] = query->term_bytes[i] ? micap_join_chunk_column(view, query, i) : NULL;
        }
    }
    return true;
}

/* Of pools with holes: the next row in use from `at` on, and where the run of rows that begins there ends. */
static inline uint32_t next_used(const mica_pool *driver, uint32_t at)
{
    return MICAP_UNLIKELY(driver->present != NULL) ? micap_pool_next_used(driver, at) : at;
}

static inline uint32_t run_end(const mica_view *view, uint32_t at)
{
    if (MICAP_LIKELY(!view->private_.driver->present))
        return view->private_.end;
    uint32_t end = micap_pool_run_end(view->private_.driver, at);
    return end < view->private_.end ? end : view->private_.end;
}

bool micap_join_next_owner(mica_view *view, const mica_query *query)
{
    const mica_pool *driver = view->private_.driver;
    const mica_world *world = query->world;
    const mica_entity *owners = driver->owners;
    uint32_t at = next_used(driver, view->private_.cursor);
    uint64_t record;
    micap_chunk *chunk;
    for (;; at = next_used(driver, at + 1)) {
        if (at >= view->private_.end)
            return false;
        record = *micap_record_at(&world->entities, owners[at].index); /* of the living: no row is dead */
        chunk = world->chunks.by_number[micap_record_chunk(record)];
        if (micap_join_fits(view, query, chunk->archetype))
            break;
    }
    uint32_t row = micap_record_row(record), count = 1, limit = run_end(view, at) - at;
    if (limit > MICAP_CHUNK_ROWS_MAX - row) /* or a row would count on into the number of the chunk */
        limit = MICAP_CHUNK_ROWS_MAX - row;
    while (count < limit &&
           micap_record_follows(*micap_record_at(&world->entities, owners[at + count].index), record, count))
        ++count;
    int64_t chunk_rows = (int64_t)row - view->private_.row,
            pool_rows = (int64_t)at - (view->private_.cursor - view->count);
    view->private_.row = row;
    view->count = count;
    view->private_.cursor = at + count;
    view->entities = owners + at;
    if (MICAP_LIKELY(chunk == view->private_.chunk)) {
        move_columns(view, query, chunk_rows, pool_rows);
        return true;
    }
    view->private_.chunk = chunk;
    return find_columns(view, query, at);
}
