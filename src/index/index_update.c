#include "index/index_update.h"

#include "base/argument.h"
#include "core/query/query.h"
#include "core/query/view.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/access_check.h"
#include "core/world/report.h"

/* One update. */
typedef struct scan {
    mica_index *index;
    mica_version since;   /* rows that were not changed after it are as they were; 0: all may have changed */
    bool is_exact;        /* which rows belong to the index depends on nothing but their archetype or pool */
    uint32_t limit;       /* of changes: with more, a rebuild is faster */
    uint64_t shown_count; /* of entities that belong to the index */
    bool is_short;        /* of memory */
} scan;

static bool is_newer(const mica_version *stamp, mica_version since)
{
    return micap_stamp_version(__atomic_load_n(stamp, __ATOMIC_RELAXED)) > since;
}

/* Notes a change, unless there are so many that everything is rebuilt. */
static void note(scan *scan, const micap_index_change *change)
{
    mica_index *index = scan->index;
    if (index->must_rebuild)
        return;
    if (index->change_count >= scan->limit ||
        !MICAP_RESERVE(&index->head.world->memory, index->changes, &index->change_capacity,
                       (uint64_t)index->change_count + 1)) {
        micap_index_reset(index);
        return;
    }
    index->changes[index->change_count++] = *change;
}

/* Tracks the words of an entity that differ from those that are known. */
static void track(scan *scan, micap_tracked_page *page, mica_entity entity, const uint64_t *words)
{
    micap_tracked *tracked = &scan->index->tracked;
    uint32_t slot = entity.index % MICAP_TRACKED_PAGE;
    uint64_t *known = &page->words[(size_t)slot * tracked->width];
    micap_index_change change = {.before = {entity.index, page->generations[slot]}, .after = entity};
    if (!change.before.generation)
        change.before.index = 0;
    memcpy(change.old_words, known, tracked->width * sizeof *known);
    memcpy(change.new_words, words, tracked->width * sizeof *words);
    bool is_new = !page->generations[slot];
    page->count += is_new;
    tracked->count += is_new;
    page->generations[slot] = entity.generation;
    memcpy(known, words, tracked->width * sizeof *words);
    note(scan, &change);
}

static void forget(scan *scan, micap_tracked_page *page, mica_entity entity)
{
    micap_tracked *tracked = &scan->index->tracked;
    uint32_t slot = entity.index % MICAP_TRACKED_PAGE;
    micap_index_change change = {.before = entity};
    memcpy(change.old_words, &page->words[(size_t)slot * tracked->width], tracked->width * sizeof(uint64_t));
    page->generations[slot] = 0;
    --page->count;
    --tracked->count;
    note(scan, &change);
}

/* Compares rows of at most one slice with what is tracked. */
static void compare_rows(scan *scan, const micap_indexed_rows *rows)
{
    const mica_index *index = scan->index;
    uint32_t width = index->source_count, page_number = UINT32_MAX;
    uint64_t words[MICAP_INDEX_FIELDS_MAX][MICA_SLICE_ROWS];
    micap_tracked_page *page = NULL;
    for (uint32_t i = 0; i < width; ++i)
        micap_field_load(&index->sources[i], rows->values[i], rows->strides[i], rows->count, words[i]);
    for (uint32_t row = 0; row < rows->count; ++row) {
        mica_entity entity = rows->entities[row];
        if (entity.index / MICAP_TRACKED_PAGE != page_number) {
            page_number = entity.index / MICAP_TRACKED_PAGE;
            page = micap_tracked_page_of(&index->tracked, entity.index);
            if (!page &&
                !(page = micap_tracked_require(&index->head.world->memory, &scan->index->tracked, entity.index))) {
                scan->is_short = true;
                return;
            }
        }
        uint32_t slot = entity.index % MICAP_TRACKED_PAGE;
        const uint64_t *known = &page->words[(size_t)slot * width];
        bool is_same = page->generations[slot] == entity.generation;
        for (uint32_t i = 0; i < width; ++i)
            is_same &= known[i] == words[i][row];
        if (is_same)
            continue;
        uint64_t fresh[MICAP_INDEX_FIELDS_MAX];
        for (uint32_t i = 0; i < width; ++i)
            fresh[i] = words[i][row];
        track(scan, page, entity, fresh);
    }
}

/* The same for those of the rows that belong to the index. */
static void compare_shown_rows(scan *scan, const micap_indexed_rows *rows)
{
    for (uint32_t begin = 0, end; begin < rows->count; begin = end) {
        end = begin + 1;
        if (!mica_query_matches(scan->index->query, rows->entities[begin]))
            continue;
        while (end < rows->count && mica_query_matches(scan->index->query, rows->entities[end]))
            ++end;
        micap_indexed_rows shown = {.entities = rows->entities + begin, .count = end - begin};
        for (uint32_t i = 0; i < scan->index->source_count; ++i) {
            shown.strides[i] = rows->strides[i];
            shown.values[i] = rows->values[i] + begin * rows->strides[i];
        }
        scan->shown_count += shown.count;
        compare_rows(scan, &shown);
    }
}

static bool has_chunk_slice_changed(const scan *scan, const micap_chunk *chunk, uint32_t row)
{
    const mica_version *stamps = micap_chunk_stamps(chunk, row);
    if (!scan->since || is_newer(&stamps[0], scan->since))
        return true;
    for (uint32_t i = 0; i < scan->index->source_count; ++i) {
        uint32_t column = micap_chunk_find(chunk, scan->index->sources[i].component)->column;
        uint32_t changed =
            chunk->archetype->columns[column].changed; /* of a tracked component: when rows were marked */
        if (is_newer(&stamps[1 + column], scan->since) ||
            (changed != MICAP_COLUMN_NONE && is_newer(&stamps[1 + changed], scan->since)))
            return true;
    }
    return false;
}

static void scan_chunk(scan *scan, const micap_chunk *chunk)
{
    const mica_index *index = scan->index;
    for (uint32_t row = 0; row < chunk->count && !scan->is_short; row += MICA_SLICE_ROWS) {
        if (!has_chunk_slice_changed(scan, chunk, row))
            continue;
        uint32_t left = chunk->count - row, count = left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS;
        micap_indexed_rows rows = micap_field_rows_in_chunk(index->sources, index->source_count, chunk, row, count);
        if (scan->is_exact)
            compare_rows(scan, &rows);
        else
            compare_shown_rows(scan, &rows);
    }
}

static void scan_chunks(scan *scan)
{
    const mica_query *query = scan->index->query;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        if (scan->is_exact)
            scan->shown_count += archetype->row_count;
        for (uint32_t i = 0; archetype->row_count && i <= archetype->tail; ++i)
            scan_chunk(scan, archetype->chunks[i]);
    }
}

/* Rows of one slice of a pool, without the holes of a direct index. */
static void scan_pool_slice(scan *scan, const mica_pool *pool, uint32_t begin, uint32_t end)
{
    const mica_index *index = scan->index;
    for (uint32_t row = micap_pool_next_used(pool, begin), last; row < end; row = micap_pool_next_used(pool, last)) {
        last = micap_pool_run_end(pool, row);
        last = last < end ? last : end;
        micap_indexed_rows rows = micap_field_rows_in_pool(index->sources, index->source_count, pool, row, last - row);
        if (scan->is_exact)
            compare_rows(scan, &rows);
        else
            compare_shown_rows(scan, &rows);
    }
}

static void scan_pool(scan *scan)
{
    const mica_pool *pool = micap_pool_of(scan->index->head.world, scan->index->head.component);
    if (scan->is_exact)
        scan->shown_count += pool->count;
    for (uint32_t row = 0; row < pool->row_limit && !scan->is_short; row += MICA_SLICE_ROWS) {
        uint32_t left = pool->row_limit - row, end = row + (left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS);
        if (!scan->since || micap_pool_slice_changed(pool, row, scan->since) ||
            (pool->changed && is_newer(micap_pool_marked(pool, row), scan->since)))
            scan_pool_slice(scan, pool, row, end);
    }
}

static void scan_rows(scan *scan, mica_version since)
{
    scan->since = since;
    scan->shown_count = 0;
    if (micap_is_pooled(scan->index->head.component))
        scan_pool(scan);
    else
        scan_chunks(scan);
}

/* Whether the entities with the component are those that belong to the index, and stamps tell which of them changed. */
static bool is_exact(const mica_index *index)
{
    const mica_world *world = index->head.world;
    if (index->type->type.toggle)
        return false;
    return !micap_is_pooled(index->head.component) ||
           (!world->archetypes.hidden_count && !micap_pool_of(world, index->head.component)->may_hold_dead);
}

/* Forgets entities that do not belong to the index any more. */
static void sweep(scan *scan)
{
    mica_index *index = scan->index;
    const micap_archetype *known = NULL; /* that matches */
    for (uint32_t number = 0; number < index->tracked.page_count; ++number) {
        micap_tracked_page *page = index->tracked.pages[number];
        for (uint32_t slot = 0; page && page->count && slot < MICAP_TRACKED_PAGE; ++slot) {
            mica_entity entity = {number * MICAP_TRACKED_PAGE + slot, page->generations[slot]};
            if (!entity.generation)
                continue;
            const micap_archetype *archetype = micap_locate(index->head.world, entity).chunk->archetype;
            if (archetype && archetype == known)
                continue;
            if (!mica_query_matches(index->query, entity))
                forget(scan, page, entity);
            else if (scan->is_exact && !micap_is_pooled(index->head.component))
                known = archetype;
        }
    }
}

static bool apply_change(mica_index *index, const micap_index_change *change)
{
    micap_memory *memory = &index->head.world->memory;
    bool was = change->before.generation, is = change->after.generation;
    if (!index->is_grid) {
        if (was)
            micap_sorted_keys_remove(memory, &index->keys, change->old_words[0], micap_entity_to_id(change->before));
        return !is ||
               micap_sorted_keys_insert(memory, &index->keys, change->new_words[0], micap_entity_to_id(change->after));
    }
    if (was && is && !mica_same(change->before, change->after))
        return micap_grid_change(memory, &index->grid, change->before, change->old_words, NULL) &&
               micap_grid_change(memory, &index->grid, change->after, NULL, change->new_words);
    return micap_grid_change(memory, &index->grid, is ? change->after : change->before, was ? change->old_words : NULL,
                             is ? change->new_words : NULL);
}

static bool apply_changes(mica_index *index)
{
    micap_memory *memory = &index->head.world->memory;
    if (index->is_grid && !index->must_rebuild && micap_grid_is_worn(&index->grid))
        micap_index_reset(index);
    bool done = true;
    if (index->must_rebuild) {
        done = index->is_grid ? micap_grid_rebuild(memory, &index->grid, &index->tracked)
                              : micap_sorted_keys_rebuild(memory, &index->keys, &index->tracked);
        index->must_rebuild = !done;
        ++index->update;
    } else if (index->change_count) {
        ++index->update;
        for (uint32_t i = 0; done && i < index->change_count; ++i)
            done = apply_change(index, &index->changes[i]);
    }
    index->change_count = 0;
    return done;
}

/* An entity of the last value that two have. */
static mica_result check_unique(const mica_index *index, uint32_t equal_count_before)
{
    const micap_sorted_keys *keys = &index->keys;
    if (!index->is_unique || !keys->equal_count)
        return MICA_OK;
    if (keys->equal_count <= equal_count_before)
        return MICA_ERROR_EXISTS;
    micap_key_place place = micap_sorted_keys_find(keys, keys->equal_key, 0);
    mica_entity first = micap_entity_from_id(micap_sorted_keys_at(keys, place)->id);
    place = micap_sorted_keys_next(keys, place);
    mica_entity second = micap_entity_from_id(micap_sorted_keys_at(keys, place)->id);
    return micap_fail(index->head.world, MICA_ERROR_EXISTS, index->location,
                      "index %s: it is unique, but entities #%u:%u and #%u:%u have equal values", index->name,
                      first.index, first.generation, second.index, second.generation);
}

static mica_result finish(scan *scan)
{
    mica_index *index = scan->index;
    uint32_t equal_count = index->keys.equal_count;
    if (!scan->is_short && apply_changes(index))
        return check_unique(index, equal_count);
    micap_index_reset(index);
    index->change_count = 0;
    index->seen = 0;
    return micap_fail_memory(index->head.world, "index");
}

static mica_result update(mica_index *index, mica_version seen)
{
    const mica_world *world = index->head.world;
    scan scan = {.index = index, .is_exact = is_exact(index), .limit = index->tracked.count / 8 + 256};
    bool by_stamps = scan.is_exact && index->seen && micap_is_on_this_line(world, index->seen) &&
                     index->seen <= micap_version(world);
    scan_rows(&scan, by_stamps ? index->seen : 0);
    if (!scan.is_short && index->tracked.count != scan.shown_count)
        sweep(&scan);
    if (!scan.is_short && index->tracked.count != scan.shown_count) /* a world from a file has the stamps of the file */
        scan_rows(&scan, 0);
    if (!by_stamps || index->seen < seen)
        index->seen = seen;
    return finish(&scan);
}

static mica_result update_locked(mica_index *index, mica_version seen)
{
    pthread_mutex_lock(&index->lock);
    mica_result result = update(index, seen);
    pthread_mutex_unlock(&index->lock);
    return result;
}

void micap_index_update(mica_index *index, mica_version seen)
{
    update_locked(index, seen);
}

/* What the operation that called the hook writes next may be stamped already. */
static mica_result refuse_in_hook(const mica_index *index, const char *what)
{
    return micap_fail(index->head.world, MICA_ERROR_REFUSED, index->location, "%s: called inside a hook", what);
}

mica_result mica_index_update(mica_index *index)
{
    if (MICAP_MISSING(NULL, index))
        return MICA_ERROR_INVALID;
    mica_world *world = index->head.world;
    if (micap_refuse_inside(world, "index_update") != MICA_OK)
        return MICA_ERROR_REFUSED;
    if (world->hook_depth)
        return refuse_in_hook(index, "index_update");
    return update_locked(index, mica_world_mark(world));
}

/* Compares the row of one entity. */
static void refresh(scan *scan, mica_entity entity)
{
    mica_index *index = scan->index;
    const mica_world *world = index->head.world;
    micap_tracked_page *page = micap_tracked_page_of(&index->tracked, entity.index);
    uint32_t known = page ? page->generations[entity.index % MICAP_TRACKED_PAGE] : 0;
    if (known && !mica_query_matches(index->query, (mica_entity){entity.index, known}))
        forget(scan, page, (mica_entity){entity.index, known});
    if (!mica_query_matches(index->query, entity))
        return;
    micap_indexed_rows rows;
    if (micap_is_pooled(index->head.component)) {
        const mica_pool *pool = micap_pool_of(world, index->head.component);
        rows = micap_field_rows_in_pool(index->sources, index->source_count, pool, micap_pool_row(pool, entity), 1);
    } else {
        micap_row spot = micap_locate(world, entity);
        rows = micap_field_rows_in_chunk(index->sources, index->source_count, spot.chunk, spot.row, 1);
    }
    compare_rows(scan, &rows);
}

mica_result mica_index_refresh(mica_index *index, mica_entity entity)
{
    if (MICAP_MISSING(NULL, index))
        return MICA_ERROR_INVALID;
    mica_world *world = index->head.world;
    if (world->hook_depth)
        return refuse_in_hook(index, "index_refresh");
    const micap_thread_context *here = micap_thread_context_of(world);
    if (here)
        micap_check_access(world, entity, index->head.component, true);
    if (index->must_rebuild)
        return update_locked(index, here ? here->version - 1 : mica_world_mark(world));
    pthread_mutex_lock(&index->lock);
    scan scan = {.index = index, .is_exact = true, .limit = UINT32_MAX};
    refresh(&scan, entity);
    mica_result result = finish(&scan);
    pthread_mutex_unlock(&index->lock);
    return result;
}
