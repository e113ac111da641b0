#include "index/index_update.h"

#include "base/argument.h"
#include "base/assert.h"
#include "core/query/query.h"
#include "core/query/view.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "mica/text.h"

/* One update. */
typedef struct scan {
    mica_index *index;
    mica_version since;   /* rows that were not changed after it are as they were; 0: all may have changed */
    bool by_marks;        /* the log has all rows that were marked since then */
    bool is_exact;        /* which rows belong to the index depends on nothing but their archetype or pool */
    uint32_t limit;       /* of changes: with more, a rebuild is faster */
    uint64_t shown_count; /* of entities that belong to the index */
    bool notes_texts;     /* it does not compare yet, but lists the texts that have no words */
    bool is_short;        /* of memory */
} scan;

static bool is_newer(const mica_version *stamp, mica_version since)
{
    return micap_stamp_version(MICAP_LOAD(stamp, MICAP_RELAXED)) > since;
}

/* Makes room for a change. NULL if there are so many that everything is rebuilt. */
static micap_index_change *note_more(scan *scan)
{
    mica_index *index = scan->index;
    if (index->must_rebuild)
        return NULL;
    if (index->change_count >= scan->limit ||
        !MICAP_RESERVE(&index->head.world->memory, index->changes, &index->change_capacity,
                       (uint64_t)index->change_count + 1)) {
        micap_index_reset(index);
        return NULL;
    }
    return &index->changes[index->change_count++];
}

/* Room for a change. NULL if there are so many that everything is rebuilt. */
static MICAP_INLINE micap_index_change *note(scan *scan)
{
    mica_index *index = scan->index;
    if (index->change_count < scan->limit && index->change_count < index->change_capacity && !index->must_rebuild)
        return &index->changes[index->change_count++];
    return note_more(scan);
}

/* Tracks the words of an entity that differ from those that are known. */
static MICAP_INLINE void track(scan *scan, micap_tracked_page *page, mica_entity entity, const uint64_t *words,
                               uint32_t width)
{
    MICAP_ASSERT_HOT(page, "the entity has a page");
    micap_tracked *tracked = &scan->index->tracked;
    uint32_t slot = entity.index % MICAP_TRACKED_PAGE;
    uint64_t *known = &page->words[(size_t)slot * width];
    bool is_new = !page->generations[slot];
    micap_index_change *change = note(scan);
    if (change) {
        change->before = (mica_entity){is_new ? 0 : entity.index, page->generations[slot]};
        change->after = entity;
        for (uint32_t i = 0; i < width; ++i) {
            change->old_words[i] = known[i];
            change->new_words[i] = words[i];
        }
    }
    page->count += is_new;
    tracked->count += is_new;
    page->generations[slot] = entity.generation;
    for (uint32_t i = 0; i < width; ++i)
        known[i] = words[i];
}

static void forget(scan *scan, micap_tracked_page *page, mica_entity entity)
{
    micap_tracked *tracked = &scan->index->tracked;
    uint32_t slot = entity.index % MICAP_TRACKED_PAGE;
    micap_index_change *change = note(scan);
    if (change) {
        *change = (micap_index_change){.before = entity};
        memcpy(change->old_words, &page->words[(size_t)slot * tracked->width], tracked->width * sizeof(uint64_t));
    }
    page->generations[slot] = 0;
    --page->count;
    --tracked->count;
}

/* The page of an entity; NULL if memory is short. */
static micap_tracked_page *page_for(scan *scan, mica_entity entity)
{
    micap_tracked_page *page = micap_tracked_page_of(&scan->index->tracked, entity.index);
    if (!page)
        page = micap_tracked_require(&scan->index->head.world->memory, &scan->index->tracked, entity.index);
    scan->is_short |= !page;
    return page;
}

/* What is tracked of listed rows is somewhere else for each of them, and soon read. */
static void prefetch_tracked(const micap_tracked *tracked, const micap_indexed_rows *rows, const uint16_t *listed,
                             uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t at = rows->entities[listed[i]].index, slot = at % MICAP_TRACKED_PAGE;
        const micap_tracked_page *page = micap_tracked_page_of(tracked, at);
        if (page) {
            MICAP_PREFETCH(&page->generations[slot]);
            MICAP_PREFETCH(&page->words[(size_t)slot * tracked->width]);
        }
    }
}

static const mica_text *text_at(const micap_indexed_rows *rows, const uint16_t *listed, uint32_t at)
{
    return (const mica_text *)(const void *)(rows->values[0] + (listed ? listed[at] : at) * rows->strides[0]);
}

static void note_texts(scan *scan, const micap_indexed_rows *rows, const uint16_t *listed, uint32_t count)
{
    mica_index *index = scan->index;
    for (uint32_t i = 0; i < count && !scan->is_short; ++i) {
        const mica_text *text = text_at(rows, listed, i);
        scan->is_short = !micap_text_keys_note(&index->head.world->memory, &index->texts, mica_text_get(text),
                                               mica_text_length(text));
    }
}

/* The words of one field of rows. */
static MICAP_INLINE void load_words(const mica_index *index, uint32_t field, const micap_indexed_rows *rows,
                                    const uint16_t *listed, uint32_t count, uint64_t *out)
{
    if (MICAP_LIKELY(index->sources[field].kind != MICA_KIND_TEXT)) {
        micap_field_load(&index->sources[field], rows->values[field], rows->strides[field], listed, count, out);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const mica_text *text = text_at(rows, listed, i);
        out[i] = micap_text_keys_word(&index->texts, mica_text_get(text), mica_text_length(text));
    }
}

/* Compares rows of at most one slice with what is tracked: `count` from the first on, or those that are listed. The width is a
 * constant. */
static MICAP_INLINE void compare_words(scan *scan, const micap_indexed_rows *rows, const uint16_t *listed,
                                       uint32_t count, uint32_t width)
{
    const mica_index *index = scan->index;
    uint64_t words[MICAP_INDEX_FIELDS_MAX][MICA_SLICE_ROWS];
    uint32_t page_number = UINT32_MAX;
    micap_tracked_page *page = NULL;
    if (listed)
        prefetch_tracked(&index->tracked, rows, listed, count);
    for (uint32_t i = 0; i < width; ++i)
        load_words(index, i, rows, listed, count, words[i]);
    for (uint32_t i = 0; i < count; ++i) {
        mica_entity entity = rows->entities[listed ? listed[i] : i];
        if (entity.index / MICAP_TRACKED_PAGE != page_number) {
            page_number = entity.index / MICAP_TRACKED_PAGE;
            page = page_for(scan, entity);
            if (!page)
                return;
        }
        MICAP_ASSERT_HOT(page, "no entity has a page of that number");
        uint32_t slot = entity.index % MICAP_TRACKED_PAGE;
        const uint64_t *known = &page->words[(size_t)slot * width];
        uint64_t fresh[MICAP_INDEX_FIELDS_MAX], difference = page->generations[slot] ^ entity.generation;
        for (uint32_t k = 0; k < width; ++k) {
            fresh[k] = words[k][i];
            difference |= known[k] ^ fresh[k];
        }
        if (difference)
            track(scan, page, entity, fresh, width);
    }
}

static void compare_some(scan *scan, const micap_indexed_rows *rows, const uint16_t *listed, uint32_t count)
{
    if (MICAP_UNLIKELY(scan->notes_texts)) {
        note_texts(scan, rows, listed, count);
        return;
    }
    switch (scan->index->source_count) {
    case 1: compare_words(scan, rows, listed, count, 1); break;
    case 2: compare_words(scan, rows, listed, count, 2); break;
    default: compare_words(scan, rows, listed, count, 3);
    }
}

static void compare_rows(scan *scan, const micap_indexed_rows *rows)
{
    compare_some(scan, rows, NULL, rows->count);
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
        if (is_newer(&stamps[1 + column], scan->since))
            return true;
    }
    return false;
}

static void scan_chunk_rows(scan *scan, const micap_chunk *chunk, uint32_t row, uint32_t count)
{
    const mica_index *index = scan->index;
    micap_indexed_rows rows = micap_field_rows_in_chunk(index->sources, index->source_count, chunk, row, count);
    if (scan->is_exact)
        compare_rows(scan, &rows);
    else
        compare_shown_rows(scan, &rows);
}

enum { VERSIONS = 16 };
typedef mica_version two_versions MICAP_VECTOR(16) MICAP_ALIASED(8);

/* Whether one of consecutive versions is newer. Versions are below 2^63: a difference is negative unless one is. */
static inline bool is_any_newer(const mica_version *versions, mica_version since)
{
    const two_versions *pairs = (const two_versions *)(const void *)versions;
    two_versions next = {since + 1, since + 1}, older = pairs[0] - next;
#pragma GCC unroll 8
    for (uint32_t i = 1; i < VERSIONS / 2; ++i)
        older &= pairs[i] - next;
    return !((older[0] & older[1]) >> 63);
}

/* Which of up to VERSIONS versions are newer, as bits: which one it is can't be predicted. */
static inline uint32_t newer_bits(const mica_version *versions, uint32_t count, mica_version since)
{
    uint32_t bits = 0;
#pragma GCC unroll 16
    for (uint32_t i = 0; i < count; ++i)
        bits |= (uint32_t)((since - versions[i]) >> 63) << i;
    return bits;
}

/* Lists the rows that were marked, of `count` from the first on, and returns how many there are. */
static uint32_t list_marked_rows(const mica_version *versions, uint32_t count, mica_version since, uint16_t *out)
{
    uint32_t found = 0;
    for (uint32_t row = 0; row < count; row += VERSIONS) {
        uint32_t bits = 0;
        if (count - row < VERSIONS)
            bits = newer_bits(versions + row, count - row, since);
        else if (is_any_newer(versions + row, since))
            bits = newer_bits(versions + row, VERSIONS, since);
        for (; bits; bits &= bits - 1)
            out[found++] = (uint16_t)(row + (uint32_t)MICAP_TRAILING_ZEROS_32(bits));
    }
    return found;
}

/* Of a tracked component: the rows of a slice that were marked since the last update. Rows that only moved have the value they had.
 * Which rows belong to the index is known: others are not scanned by stamps. */
static void scan_marked_rows(scan *scan, const micap_chunk *chunk, uint32_t changed, uint32_t row, uint32_t count)
{
    const mica_index *index = scan->index;
    const mica_version *versions = micap_chunk_column(chunk, changed);
    uint16_t listed[MICA_SLICE_ROWS];
    uint32_t found = list_marked_rows(versions + row, count, scan->since, listed);
    if (!found)
        return;
    micap_indexed_rows rows = micap_field_rows_in_chunk(index->sources, index->source_count, chunk, row, count);
    compare_some(scan, &rows, found == count ? NULL : listed, found);
}

static void scan_chunk(scan *scan, const micap_chunk *chunk)
{
    uint32_t changed = scan->since && scan->index->type->changed
                           ? micap_archetype_column(chunk->archetype, scan->index->type->changed)
                           : MICAP_COLUMN_NONE;
    for (uint32_t row = 0; row < chunk->count && !scan->is_short; row += MICA_SLICE_ROWS) {
        uint32_t left = chunk->count - row, count = left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS;
        const mica_version *stamps = micap_chunk_stamps(chunk, row);
        if (changed == MICAP_COLUMN_NONE) {
            if (has_chunk_slice_changed(scan, chunk, row))
                scan_chunk_rows(scan, chunk, row, count);
        } else if (is_newer(&stamps[0], scan->since) ||
                   (!scan->by_marks && is_newer(&stamps[1 + changed], scan->since))) {
            scan_marked_rows(scan, chunk, changed, row, count);
        }
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
    MICAP_ASSERT(pool, "the query of an index made it");
    if (scan->is_exact)
        scan->shown_count += pool->count;
    for (uint32_t row = 0; row < pool->row_limit && !scan->is_short; row += MICA_SLICE_ROWS) {
        uint32_t left = pool->row_limit - row, end = row + (left < MICA_SLICE_ROWS ? left : MICA_SLICE_ROWS);
        if (!scan->since || micap_pool_slice_changed(pool, row, scan->since) ||
            (pool->changed && is_newer(micap_pool_marked(pool, row), scan->since)))
            scan_pool_slice(scan, pool, row, end);
    }
}

/* Compares the rows of entities that were marked, chunk by chunk. Those that have moved since are also in a slice whose rows were compared. */
static void scan_marked_entities(scan *scan)
{
    const mica_index *index = scan->index;
    const mica_world *world = index->head.world;
    const micap_mark_log *marks = &index->marks;
    uint32_t count = atomic_load_explicit(&marks->count, memory_order_relaxed), found = 0;
    const micap_archetype *known = NULL; /* that matches */
    const micap_chunk *chunk = NULL;
    micap_indexed_rows rows;
    uint16_t listed[MICA_SLICE_ROWS];
    for (uint32_t i = 0; i < count && !scan->is_short; ++i) {
        micap_row spot = micap_locate(world, marks->entities[i]);
        MICAP_ASSERT_HOT(spot.chunk, "also the dead have a chunk, which is empty");
        if (spot.chunk != chunk || found == MICA_SLICE_ROWS) {
            if (found)
                compare_some(scan, &rows, listed, found);
            found = 0;
            if (spot.chunk->archetype != known && !mica_query_matches(index->query, marks->entities[i])) {
                chunk = NULL;
                continue;
            }
            chunk = spot.chunk;
            known = chunk->archetype;
            rows = micap_field_rows_in_chunk(index->sources, index->source_count, chunk, 0, chunk->count);
        }
        listed[found++] = (uint16_t)spot.row;
    }
    if (found)
        compare_some(scan, &rows, listed, found);
}

/* Empties the log of marks, with room for as many as make a rebuild worthwhile. Without the room all versions are read. */
static void restart_marks(mica_index *index)
{
    micap_mark_log *marks = &index->marks;
    uint64_t wanted = marks->component ? index->tracked.count / 8 + (uint64_t)64 : 0;
    (void)MICAP_RESERVE(&index->head.world->memory, marks->entities, &marks->capacity, wanted);
    micap_mark_log_clear(marks);
}

/* Gives words to texts that are new; false if memory is short. If other words changed, entries are rebuilt from tracked words. */
static bool place_texts(scan *scan)
{
    mica_index *index = scan->index;
    bool is_changed = false;
    scan->is_short = scan->is_short ||
                     !micap_text_keys_place(&index->head.world->memory, &index->texts, &index->tracked, &is_changed);
    if (is_changed)
        micap_index_reset(index);
    return !scan->is_short;
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

/* Compares the rows that may have changed. The texts of an index of text must have words then. */
static void scan_changes(scan *scan, mica_version since)
{
    mica_index *index = scan->index;
    for (scan->notes_texts = index->sources[0].kind == MICA_KIND_TEXT;; scan->notes_texts = false) {
        if (scan->notes_texts)
            micap_text_keys_begin(&index->texts);
        scan_rows(scan, since);
        if (scan->by_marks && since)
            scan_marked_entities(scan);
        if (!scan->notes_texts || !place_texts(scan))
            break;
    }
}

/* Whether the entities with the component are those that belong to the index, and stamps tell which of them changed. */
static bool is_exact(const mica_index *index)
{
    const mica_world *world = index->head.world;
    if (index->type->type.toggle)
        return false;
    if (!micap_is_pooled(index->head.component))
        return true;
    const mica_pool *pool = micap_pool_of(world, index->head.component);
    MICAP_ASSERT(pool, "the query of an index made it");
    return !world->archetypes.hidden_count && !pool->may_hold_dead;
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

static bool change_keys(micap_memory *memory, micap_sorted_keys *keys, const micap_index_change *changes,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const micap_index_change *change = &changes[i];
        if (change->before.generation)
            micap_sorted_keys_remove(memory, keys, change->old_words[0], micap_entity_to_id(change->before));
        if (change->after.generation &&
            !micap_sorted_keys_insert(memory, keys, change->new_words[0], micap_entity_to_id(change->after)))
            return false;
    }
    return true;
}

static bool apply_changes(mica_index *index)
{
    micap_memory *memory = &index->head.world->memory;
    if (index->is_grid && index->change_count && micap_grid_is_worn(&index->grid))
        micap_index_reset(index);
    bool done = true;
    if (index->must_rebuild) {
        done = index->is_grid ? micap_grid_rebuild(memory, &index->grid, &index->tracked)
                              : micap_sorted_keys_rebuild(memory, &index->keys, &index->tracked);
        index->must_rebuild = !done;
        ++index->update;
    } else if (index->change_count) {
        ++index->update;
        done = index->is_grid ? micap_grid_change(memory, &index->grid, index->changes, index->change_count)
                              : change_keys(memory, &index->keys, index->changes, index->change_count);
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
    micap_key_place place = micap_sorted_keys_find_key(keys, keys->equal_key);
    mica_entity first = micap_entity_from_id(micap_sorted_keys_at(keys, place)->id);
    place = micap_sorted_keys_next(keys, place);
    mica_entity second = micap_entity_from_id(micap_sorted_keys_at(keys, place)->id);
    return micap_fail(index->head.world, MICA_ERROR_EXISTS, index->location,
                      "index %s: it is unique, but entities #%u:%u and #%u:%u have equal values", index->name,
                      first.index, first.generation, second.index, second.generation);
}

/* Shows inline functions where the table is. Writes only what has changed: others may read it. */
static void publish_table(mica_index *index)
{
    const micap_key_table *table = &index->keys.table;
    if (index->head.lookup.slots != table->narrow || index->head.lookup.mask != table->mask)
        index->head.lookup = (mica_private_index){.slots = table->narrow,
                                                  .mask = table->mask,
                                                  .shift = table->shift,
                                                  .lowest = index->lowest_key,
                                                  .span = table->narrow ? index->key_span : 0};
}

static mica_result finish(scan *scan)
{
    mica_index *index = scan->index;
    uint32_t equal_count = index->keys.equal_count;
    bool done = !scan->is_short && apply_changes(index);
    publish_table(index);
    if (done)
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
    scan.by_marks = by_stamps && index->marks.component && micap_mark_log_is_complete(&index->marks);
    scan_changes(&scan, by_stamps ? index->seen : 0);
    if (!scan.is_short && index->tracked.count != scan.shown_count)
        sweep(&scan);
    if (!scan.is_short && index->tracked.count != scan.shown_count) /* a world from a file has the stamps of the file */
        scan_changes(&scan, 0);
    if (!by_stamps || index->seen < seen)
        index->seen = seen;
    restart_marks(index);
    return finish(&scan);
}

static mica_result update_locked(mica_index *index, mica_version seen)
{
    pthread_mutex_lock(&index->lock);
    mica_result result = update(index, seen);
    pthread_mutex_unlock(&index->lock);
    return result;
}

/* If memory was short for a system that runs now, it reads an empty index, which must not change: it is updated in the next phase, which
 * has another version. */
void micap_index_update(mica_index *index, mica_version seen)
{
    mica_version version = micap_version(index->head.world);
    pthread_mutex_lock(&index->lock);
    if (index->failed_version != version && update(index, seen) == MICA_ERROR_MEMORY)
        index->failed_version = version;
    pthread_mutex_unlock(&index->lock);
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
    if (micap_refuse_inside(world, "index_update") != MICA_OK || micap_index_is_looped(index, "index_update"))
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
    if (index->sources[0].kind == MICA_KIND_TEXT) {
        micap_text_keys_begin(&index->texts);
        note_texts(scan, &rows, NULL, 1);
        if (!place_texts(scan))
            return;
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
    if (micap_index_is_looped(index, "index_refresh"))
        return MICA_ERROR_REFUSED;
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
