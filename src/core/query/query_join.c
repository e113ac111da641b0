#include "core/query/query_join.h"

#include "base/assert.h"
#include "core/query/query_filter.h"
#include "core/query/query_join_fast.h"
#include "core/query/query_join_run.h"
#include "core/query/view.h"
#include "core/entity/pool_component.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_undo.h"
#include "core/storage/singleton.h"

typedef micap_found_rows found_rows;

/* Consecutive rows of the driver mostly belong to the same archetype, which is tested once. */
static inline bool fits(mica_view *view, const mica_query *query, const micap_archetype *archetype)
{
    if (MICAP_LIKELY(view->private_.fitting == archetype))
        return true;
    if (!micap_query_matches_archetype(query, archetype))
        return false;
    view->private_.fitting = archetype;
    return true;
}

/* Groups of EITHER and OR with a pool among them, which no archetype decides. */
static bool groups_pass(const mica_query *query, const found_rows *found)
{
    bool open = false, either = true;
    uint32_t join = 0;
    for (uint32_t i = 0; i < query->term_count; ++i) {
        mica_term term = query->terms[i];
        bool pooled = micap_is_pooled(term.component);
        bool there = false;
        if (term.access == MICA_ACCESS_EITHER || term.access == MICA_ACCESS_OR)
            there = pooled ? found->rows[join] != MICAP_ROW_NONE
                           : micap_archetype_has(found->spot.chunk->archetype, term.component);
        join += pooled;
        if (term.access == MICA_ACCESS_EITHER) {
            if (open && !either)
                return false;
            open = true;
            either = there;
        } else if (term.access == MICA_ACCESS_OR) {
            either |= there;
        }
    }
    return either;
}

/* The joins of an entity; with the row in the driver's pool, where there is one, known. */
static bool find_joins(const mica_query *query, const mica_pool *driver, uint32_t driver_row, mica_version since,
                       found_rows *found)
{
    for (uint32_t i = 0; i < query->join_count; ++i) {
        const micap_join *join = &query->joins[i];
        uint32_t row = join->pool == driver ? driver_row : micap_pooled_row(query->world, join->pool, found->entity);
        if (!micap_join_satisfies(join, row, since))
            return false;
        found->rows[i] = row;
    }
    return !query->has_pooled_group || groups_pass(query, found);
}

static bool spot_passes(const mica_query *query, micap_row spot, mica_version since)
{
    return micap_query_matches_archetype(query, spot.chunk->archetype) &&
           (!query->filter_count || micap_query_row_passes(query, spot.chunk, spot.row, since));
}

/* Looks up a living entity in everything that the query asks for; false if it does not match. */
static bool find_entity(const mica_query *query, mica_entity entity, mica_version since, found_rows *out)
{
    out->entity = entity;
    out->spot = micap_locate(query->world, entity);
    return micap_is_row(out->spot) && spot_passes(query, out->spot, since) && find_joins(query, NULL, 0, since, out);
}

bool micap_join_matches(const mica_query *query, mica_entity entity, mica_version since)
{
    found_rows found = {.entity = entity, .spot = micap_locate(query->world, entity)};
    if (!micap_is_row(found.spot) || !spot_passes(query, found.spot, since))
        return false;
    const mica_pool *pool = query->instances_of ? micap_pool_of(query->world, query->instances_of) : NULL;
    if (!pool)
        return find_joins(query, NULL, 0, since, &found);
    uint32_t row = micap_pool_row(pool, entity);
    while (row != MICAP_ROW_NONE && !find_joins(query, pool, row, since, &found))
        row = pool->next[row];
    return row != MICAP_ROW_NONE;
}

/* Whether an entity whose row in its chunk is the next one continues a run of `count` rows in all pools. */
static bool continues(const mica_query *query, const found_rows *first, const found_rows *next, uint32_t count)
{
    for (uint32_t i = 0; i < query->join_count; ++i)
        if (!micap_join_continues(&query->joins[i], first->rows[i], next->rows[i], count))
            return false;
    return true;
}

/* Of a split component there is none: see micap_join_row. */
static void *join_column(const micap_join *join, uint32_t row)
{
    if (join->is_flag)
        return row == MICAP_ROW_NONE ? NULL : &micap_tag_value;
    return row == MICAP_ROW_NONE || !join->has_column || !join->pool->values ? NULL : micap_pool_value(join->pool, row);
}

/* Shows `count` rows, of which the first was found. */
static void show(mica_view *view, const mica_query *query, const found_rows *first, uint32_t count)
{
    view->count = count;
    view->private_.chunk = first->spot.chunk;
    view->private_.row = first->spot.row;
    for (uint32_t i = 0; i < query->join_count; ++i)
        view->private_.columns[query->joins[i].term] = join_column(&query->joins[i], first->rows[i]);
    if (query->join_count < query->term_count)
        micap_join_find_chunk_columns(view, query);
}

void micap_join_show_entity(mica_view *view, const mica_query *query, mica_entity entity)
{
    found_rows found = {.entity = entity, .spot = micap_locate(query->world, entity)};
    for (uint32_t i = 0; i < query->join_count; ++i)
        found.rows[i] = micap_pooled_row(query->world, query->joins[i].pool, entity);
    show(view, query, &found, 1);
    view->entities = micap_chunk_entities(found.spot.chunk) + found.spot.row;
}

static uint64_t rows_of_matches(const mica_query *query)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < query->match_count; ++i)
        rows += query->archetypes[i]->row_count;
    return rows;
}

/* No row of a pool need be looked at when nothing is asked for but the driver and what is in step with it. */
static micap_walk choose_walk(const mica_query *query, const mica_pool *driver, const micap_pool_group *group)
{
    bool has_singletons_only = !query->asks_chunks && query->join_count < query->term_count;
    micap_walk other = query->has_fast_joins && !has_singletons_only ? MICAP_WALK_FAST : MICAP_WALK_SEARCH;
    if (query->filter_count || driver->dead_count)
        return other;
    if (driver->kind == MICAP_POOL_TAG || (driver->next && query->instances_of != driver->type->id))
        return other;
    for (uint32_t i = 0; i < query->join_count; ++i) {
        const micap_join *join = &query->joins[i];
        if ((join->pool != driver && (!group || join->pool->group != group)) || join->pool->enabled ||
            join->access == MICA_ACCESS_CHANGED || join->access == MICA_ACCESS_ADDED || join->pool->dead_count)
            return other;
    }
    return query->asks_chunks ? MICAP_WALK_CHUNKS : MICAP_WALK_PLAIN;
}

/* Whether the query asks for every pool of a group. */
static bool covers(const mica_query *query, const micap_pool_group *group)
{
    uint32_t covered = 0;
    for (uint32_t i = 0; i < group->pool_count; ++i) {
        bool asked = false;
        for (uint32_t k = 0; k < query->join_count; ++k)
            asked |= query->joins[k].pool == group->pools[i] && micap_access_demands(query->joins[k].access);
        covered += asked;
    }
    return covered == group->pool_count;
}

mica_pool *micap_join_driver(const mica_query *query)
{
    mica_pool *driver = NULL;
    uint64_t fewest = rows_of_matches(query) + !query->reads_chunks; /* as many: better stay where columns are read */
    for (uint32_t i = 0; i < query->join_count; ++i) {
        const micap_join *join = &query->joins[i];
        bool forced = query->instances_of && join->pool->type->id == query->instances_of;
        if (forced || (!query->instances_of && micap_access_demands(join->access) && join->pool->count < fewest)) {
            driver = join->pool;
            fewest = join->pool->count;
        }
    }
    return driver;
}

void micap_join_begin(mica_view *view, const mica_query *query)
{
    mica_pool *driver = micap_join_driver(query);
    view->private_.driver = driver;
    view->private_.cursor = 0;
    view->private_.walk = !driver && query->has_fast_joins ? MICAP_WALK_FAST : MICAP_WALK_SEARCH;
    view->private_.fitting = NULL;
    if (!driver)
        return;
    view->private_.end = driver->kind == MICAP_POOL_TAG ? driver->present_words * 64 : driver->row_limit;
    const micap_pool_group *group = driver->group && covers(query, driver->group) ? driver->group : NULL;
    if (group)
        view->private_.end = group->count;
    view->private_.walk = (uint8_t)choose_walk(query, driver, group);
}

static mica_entity owner_at(const mica_query *query, const mica_pool *driver, uint32_t at)
{
    if (MICAP_LIKELY(driver->owners != NULL))
        return driver->owners[at];
    return (mica_entity){at, micap_record_generation(*micap_record_at(&query->world->entities, at))};
}

static bool is_shown(const mica_query *query, const mica_pool *driver, uint32_t at)
{
    return !driver->next || query->instances_of == driver->type->id || micap_pool_is_first(driver, at);
}

/* Looks at row `at` of the driver. */
static bool find_driven(mica_view *view, const mica_query *query, uint32_t at, found_rows *out)
{
    const mica_pool *driver = view->private_.driver;
    out->entity = owner_at(query, driver, at);
    if (query->asks_chunks || driver->dead_count || driver->kind == MICAP_POOL_TAG) {
        out->spot = micap_locate(query->world, out->entity);
        if (!micap_is_row(out->spot))
            return false;
        if (query->asks_chunks &&
            (!fits(view, query, out->spot.chunk->archetype) ||
             (query->filter_count &&
              !micap_query_row_passes(query, out->spot.chunk, out->spot.row, view->private_.since))))
            return false;
    }
    return is_shown(query, driver, at) && find_joins(query, driver, at, view->private_.since, out);
}

/* Whether row at + count of the driver continues a run of `count` rows. Where chunks are read, its record says so at once,
 * and then the archetype is known to fit. */
static bool extends(mica_view *view, const mica_query *query, uint32_t at, const found_rows *first, uint32_t count,
                    found_rows *found)
{
    const mica_pool *driver = view->private_.driver;
    if (!query->reads_chunks && driver->kind != MICAP_POOL_TAG)
        return find_driven(view, query, at + count, found) && continues(query, first, found, count);
    MICAP_ASSERT(first->spot.chunk, "it was located");
    found->entity = owner_at(query, driver, at + count);
    found->spot = (micap_row){first->spot.chunk, first->spot.row + count};
    uint64_t expected = micap_record_pack(found->entity.generation, first->spot.chunk->number, found->spot.row);
    return *micap_record_at(&query->world->entities, found->entity.index) == expected &&
           (!query->filter_count ||
            micap_query_row_passes(query, found->spot.chunk, found->spot.row, view->private_.since)) &&
           is_shown(query, driver, at + count) && find_joins(query, driver, at + count, view->private_.since, found) &&
           continues(query, first, found, count);
}

static void show_driven(mica_view *view, const mica_query *query, uint32_t at, const found_rows *first, uint32_t count)
{
    const mica_pool *driver = view->private_.driver;
    show(view, query, first, count);
    view->entities = driver->owners ? driver->owners + at : micap_chunk_entities(first->spot.chunk) + first->spot.row;
    view->private_.cursor = at + count;
}

/* All rows match: whole runs without looking at single rows. */
static bool next_plain(mica_view *view, const mica_query *query)
{
    uint32_t at = micap_pool_next_used(view->private_.driver, view->private_.cursor);
    if (at >= view->private_.end)
        return false;
    uint32_t end = micap_pool_run_end(view->private_.driver, at);
    found_rows first = {.entity = view->private_.driver->owners[at]};
    for (uint32_t i = 0; i < query->join_count; ++i)
        first.rows[i] = at;
    show_driven(view, query, at, &first, (end < view->private_.end ? end : view->private_.end) - at);
    return true;
}

/* Whether the pools alone say how long a run is: no owner is dead, and no row stands for several. */
static bool runs_in_pools(const mica_query *query, const mica_pool *driver)
{
    return !query->asks_chunks && !query->has_pooled_group && !driver->dead_count && driver->owners &&
           (!driver->next || query->instances_of == driver->type->id);
}

/* The first row of the driver from `at` on that matches; the end if there is none. */
static uint32_t next_match(mica_view *view, const mica_query *query, uint32_t at, found_rows *first)
{
    const mica_pool *driver = view->private_.driver;
    micap_join_visit visit = {.query = query, .driver = driver, .since = view->private_.since};
    uint32_t end = view->private_.end;
    bool is_marked = query->is_marked && runs_in_pools(query, driver);
    for (;; ++at) {
        at = micap_pool_next_used(driver, at);
        if (query->is_marked)
            at = micap_pool_next_used(driver, micap_join_next_changed(query, driver, at, end, view->private_.since));
        if (at >= end || find_driven(view, query, at, first))
            return at < end ? at : end;
        if (is_marked) {
            visit.entities = driver->owners + at;
            visit.count = end - at;
            at += micap_join_unchanged_run(&visit) - 1;
        }
    }
}

/* How many consecutive indices, which all have the tag that drives the loop, belong to consecutive rows of a chunk. */
static uint32_t tagged_rows(micap_row first, uint32_t index, uint32_t end)
{
    const mica_entity *entities = micap_chunk_entities(first.chunk) + first.row;
    uint32_t left = first.chunk->count - first.row, limit = left < end - index ? left : end - index, count = 1;
    while (count < limit && entities[count].index == index + count)
        ++count;
    return count;
}

/* The rows of a pool that match, run by run. */
static bool next_driven(mica_view *view, const mica_query *query)
{
    const mica_pool *driver = view->private_.driver;
    found_rows first, found;
    first.spot = (micap_row){0};
    uint32_t at = next_match(view, query, view->private_.cursor, &first);
    if (at >= view->private_.end)
        return false;
    uint32_t end = micap_pool_run_end(driver, at), count = 1;
    if (end > view->private_.end)
        end = view->private_.end;
    if (runs_in_pools(query, driver)) {
        micap_join_visit visit = {query, driver, driver->owners + at, at, end - at, view->private_.since};
        count = micap_join_run(&visit, &first);
    } else if (driver->kind == MICAP_POOL_TAG && !query->filter_count && !query->has_pooled_group) {
        const mica_entity *entities = micap_chunk_entities(first.spot.chunk) + first.spot.row;
        micap_join_visit visit = {query, driver, entities, at, tagged_rows(first.spot, at, end), view->private_.since};
        count = micap_join_run(&visit, &first);
    } else {
        while (at + count < end && extends(view, query, at, &first, count, &found))
            ++count;
    }
    show_driven(view, query, at, &first, count);
    return true;
}

/* A run of rows of a chunk in which all joins are found, within [*row, end). */
static uint32_t next_joined_run(const mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t *row,
                                uint32_t end, found_rows *first)
{
    const mica_entity *entities = micap_chunk_entities(chunk);
    micap_join_visit visit = {.query = query, .since = view->private_.since};
    uint32_t at = *row, count = 1;
    for (;; at += micap_join_unchanged_run(&visit)) {
        if (at >= end)
            return 0;
        first->entity = entities[at];
        first->spot = (micap_row){chunk, at};
        visit.entities = entities + at;
        visit.count = end - at;
        if (find_joins(query, NULL, 0, view->private_.since, first))
            break;
    }
    *row = at;
    if (!query->has_pooled_group)
        return micap_join_run(&visit, first);
    found_rows found;
    for (; at + count < end; ++count) {
        found.entity = entities[at + count];
        found.spot = (micap_row){chunk, at + count};
        if (!find_joins(query, NULL, 0, view->private_.since, &found) || !continues(query, first, &found, count))
            break;
    }
    return count;
}

bool micap_join_next_rows(mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t *row, uint32_t end)
{
    if (query->has_fast_joins)
        return micap_join_next_fast_rows(view, query, chunk, row, end);
    found_rows first;
    uint32_t run;
    while ((run = micap_query_next_run(query, chunk, row, end, view->private_.since))) {
        uint32_t at = *row, count = next_joined_run(view, query, chunk, &at, *row + run, &first);
        if (!count) {
            *row += run;
            continue;
        }
        show(view, query, &first, count);
        view->entities = micap_chunk_entities(chunk) + at;
        *row = at + count;
        return true;
    }
    return false;
}

/* Archetype by archetype, chunk by chunk. */
static bool next_in_chunks(mica_view *view, const mica_query *query)
{
    for (; view->private_.match < query->match_count;
         ++view->private_.match, view->private_.chunk_index = 0, view->private_.cursor = 0) {
        const micap_archetype *archetype = query->archetypes[view->private_.match];
        for (; view->private_.chunk_index < archetype->chunk_count;
             ++view->private_.chunk_index, view->private_.cursor = 0) {
            micap_chunk *chunk = archetype->chunks[view->private_.chunk_index];
            if (micap_join_next_rows(view, query, chunk, &view->private_.cursor, chunk->count))
                return true;
        }
    }
    return false;
}

/* A driver whose pools match row by row, with components of the owners in chunks: one look-up per owner. Runs are often single rows,
 * so that a step has to be short. */
/* The same chunk as before: columns only move on. */
static inline void move_columns(mica_view *view, const mica_query *query, int64_t chunk_rows, int64_t pool_rows)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (MICAP_LIKELY(view->private_.columns[i] != NULL))
            view->private_.columns[i] = (char *)view->private_.columns[i] + chunk_rows * query->chunk_steps[i] +
                                        pool_rows * query->pool_steps[i];
}

static MICAP_NOINLINE bool find_columns(mica_view *view, const mica_query *query, uint32_t at)
{
    for (uint32_t i = 0; i < query->join_count; ++i)
        view->private_.columns[query->joins[i].term] =
            query->joins[i].step_bytes ? micap_pool_value(query->joins[i].pool, at) : NULL;
    micap_join_find_chunk_columns(view, query);
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
        if (fits(view, query, chunk->archetype))
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

bool micap_join_next(mica_view *view, mica_query *query)
{
    if (!view->private_.driver)
        return query->has_fast_joins ? micap_join_next_fast(view, query) : next_in_chunks(view, query);
    switch (view->private_.walk) {
    case MICAP_WALK_PLAIN: return next_plain(view, query);
    case MICAP_WALK_CHUNKS: return micap_join_next_owner(view, query);
    case MICAP_WALK_FAST: return micap_join_next_fast(view, query);
    default: return next_driven(view, query);
    }
}

/* In a sorted query `chunk_index` is the place in the order, which lists the rows of matching archetypes. */
bool micap_join_next_sorted(mica_view *view, mica_query *query)
{
    for (; view->private_.chunk_index < query->order_count; ++view->private_.chunk_index) {
        const micap_order *order = &query->order[view->private_.chunk_index];
        found_rows first, found;
        if (!find_entity(query, micap_chunk_entities(order->chunk)[order->row], view->private_.since, &first))
            continue;
        uint32_t count = 1;
        for (; view->private_.chunk_index + count < query->order_count; ++count) {
            const micap_order *next = &order[count];
            if (next->chunk != order->chunk || next->row != order->row + count ||
                !find_entity(query, micap_chunk_entities(next->chunk)[next->row], view->private_.since, &found) ||
                !continues(query, &first, &found, count))
                break;
        }
        show(view, query, &first, count);
        view->entities = micap_chunk_entities(order->chunk) + order->row;
        view->private_.chunk_index += count;
        return true;
    }
    return false;
}

void *micap_join_write(mica_view *view, uint32_t term)
{
    void *values = view->private_.columns[term];
    mica_component component = view->private_.query->terms[term].component;
    mica_version version = micap_view_version(view);
    if (micap_is_pooled(component)) {
        mica_pool *pool = micap_pool_of(view->world, component);
        if (pool->values)
            micap_pool_touch(pool, 0, micap_join_row(view, term), view->count, version);
    } else if (view->private_.query->chunk_steps[term]) {
        micap_touch_column(view->world, view->private_.chunk, micap_chunk_find(view->private_.chunk, component)->column,
                           view->private_.row, view->count, version);
    }
    return values;
}

uint32_t micap_join_row(const mica_view *view, uint32_t term)
{
    const mica_pool *pool = micap_pool_of(view->world, view->private_.query->terms[term].component);
    const char *column = view->private_.columns[term];
    if (column && pool->value_bytes)
        return (uint32_t)((size_t)(column - pool->values) / pool->value_bytes);
    return pool == view->private_.driver ? view->private_.cursor - view->count
                                         : micap_pooled_row(view->world, pool, view->entities[0]);
}

uint64_t micap_join_count(mica_query *query)
{
    uint64_t count = 0;
    mica_view view = {.world = query->world, .private_.query = query, .private_.since = query->last_mark};
    micap_join_begin(&view, query);
    if (view.private_.walk == MICAP_WALK_PLAIN && !view.private_.driver->present)
        return view.private_.end;
    while (micap_join_next(&view, query))
        count += view.count;
    return count;
}
