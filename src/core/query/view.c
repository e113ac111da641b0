/* Loops over queries. */
#include "base/argument.h"
#include "base/call_location.h"
#include "base/assert.h"
#include "core/query/pattern_view.h"
#include "core/query/query_chunks.h"
#include "core/query/query_filter.h"
#include "core/query/query_sort.h"
#include "core/world/access_check.h"
#include "core/query/query_join.h"
#include "core/query/query_join_fast.h"
#include "core/query/view.h"
#include "core/world/callback.h"
#include "core/world/report.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "core/world/stale_pointers.h"
#include "mica/view.h"

/* Shows the chunks of the list, if there is one. */
static void begin_listed(mica_view *view, mica_query *query)
{
    if (!micap_query_chunks_ready(query))
        return;
    view->private_.walk = query->special ? MICAP_WALK_CHANGED : MICAP_WALK_LISTED;
    view->private_.listed = query->chunk_list.entries;
    view->private_.ready_count = query->ready_count;
}

static mica_view begin(mica_query *query, mica_version since)
{
    mica_view view;
    micap_view_clear(&view);
    if (!query) /* it could not be made, which was reported: nothing matches */
        return view;
    view.world = query->world;
    view.private_.query = query;
    view.private_.term_count = (uint8_t)query->term_count;
    view.private_.structure = query->world->structure;
    view.private_.since = since;
    view.private_.ready_writes = query->ready_writes;
    memcpy(view.private_.components, query->ready_components, sizeof query->ready_components);
    const micap_thread_context *here = micap_thread_context_of(query->world);
    view.private_.version = here ? here->version : 0;
    if (MICAP_UNLIKELY(!MICAP_LOAD(&query->has_begun, MICAP_RELAXED)))
        MICAP_STORE(&query->has_begun, true, MICAP_RELAXED);
    if (query->compare && !micap_query_sort(query)) {
        micap_fail_memory(query->world, query->name);
        view.private_.query = NULL;
    }
    if (query->lists_chunks)
        begin_listed(&view, query);
    else if (query->join_count && !query->compare) /* an order drives by itself */
        micap_join_begin(&view, query);
    else if (query->pattern)
        micap_pattern_begin(&view, query);
    return view;
}

mica_view mica_query_begin_since(mica_query *query, mica_version since)
{
    return begin(query, since);
}

mica_view mica_query_begin(mica_query *query)
{
    mica_version since = query ? query->last_mark : 0;
    if (query && MICAP_UNLIKELY(query->special) && query->is_marked)
        query->last_mark = mica_world_mark(query->world);
    return begin(query, since);
}

/* Chunk by chunk, and within a chunk from run to run of rows that pass. */
static bool next_filtered(mica_view *view, mica_query *query)
{
    uint32_t row = view->private_.row + view->count;
    for (; view->private_.match < query->match_count; ++view->private_.match, view->private_.chunk_index = 0, row = 0) {
        const micap_archetype *archetype = query->archetypes[view->private_.match];
        for (; view->private_.chunk_index < archetype->chunk_count; ++view->private_.chunk_index, row = 0) {
            micap_chunk *chunk = archetype->chunks[view->private_.chunk_index];
            uint32_t count = micap_query_next_run(query, chunk, &row, chunk->count, view->private_.since);
            if (count) {
                micap_view_show(view, query, chunk, row, count);
                return true;
            }
        }
    }
    return false;
}

/* In a sorted query `chunk_index` is the place in the order. Rows that follow each other in memory come as one view. */
static bool next_sorted(mica_view *view, mica_query *query)
{
    if (query->join_count)
        return micap_join_next_sorted(view, query);
    uint32_t at = view->private_.chunk_index;
    while (at < query->order_count &&
           !micap_query_row_passes(query, query->order[at].chunk, query->order[at].row, view->private_.since))
        ++at;
    if (at == query->order_count)
        return false;
    const micap_order *first = &query->order[at];
    uint32_t count = 1;
    while (at + count < query->order_count && first[count].chunk == first->chunk &&
           first[count].row == first->row + count &&
           micap_query_row_passes(query, first->chunk, first[count].row, view->private_.since))
        ++count;
    view->private_.chunk_index = at + count;
    view->private_.match = first->match;
    micap_view_show(view, query, first->chunk, first->row, count);
    return true;
}

static MICAP_COLD bool next_special(mica_view *view, mica_query *query)
{
    if (!query)
        return false;
    if (view->private_.structure == MICAP_STRUCTURE_NONE) {
        micap_fail(view->world, MICA_ERROR_INVALID, micap_place_of_call(query->location),
                   "%s: the view of a system shows all it has; there is no next one", query->name);
        return false;
    }
    if (view->private_.structure != view->world->structure) {
        if (!micap_query_is_readable(view->world, query)) {
            micap_fail(view->world, MICA_ERROR_REFUSED, micap_place_of_call((mica_location){0}),
                       "a query was destroyed inside its loop, and then the structure of the world changed: the loop "
                       "ends here");
            return false;
        }
        micap_fail(view->world, MICA_ERROR_REFUSED, micap_place_of_call(query->location),
                   "%s: the structure of the world changed inside the loop, which ends here; call mica_defer "
                   "before the loop and mica_flush after it",
                   query->name);
        return false;
    }
    if (query->pattern)
        return micap_pattern_next(view);
    if (query->compare)
        return next_sorted(view, query);
    return query->join_count ? micap_join_next(view, query) : next_filtered(view, query);
}

/* A place in a loop: the chunk that comes `chunk_index`th in a match. */
typedef struct micap_step {
    uint32_t match;
    uint32_t chunk_index;
} step;

/* The chunk that a loop shows next, NULL at the end; moves on. */
static inline micap_chunk *next_chunk(const mica_query *query, step *at)
{
    while (at->match < query->match_count) {
        const micap_archetype *archetype = query->archetypes[at->match];
        if (at->chunk_index < archetype->chunk_count) {
            micap_chunk *chunk = archetype->chunks[at->chunk_index++];
            if (MICAP_LIKELY(chunk->count))
                return chunk;
        }
        ++at->match;
        at->chunk_index = 0;
    }
    return NULL;
}

/* Many small archetypes lie anywhere in the cache, where no hardware looks ahead. Asks for what is needed next: the header of a chunk, and
 * the stamps and first values of the one before it. */
enum { PREFETCH_BYTES = 512 };

static MICAP_INLINE void prefetch_listed(const micap_listed_chunk *next, uint32_t entry_bytes, uint32_t term_count)
{
    MICAP_PREFETCH(micap_listed_chunk_after(next, entry_bytes)->chunk);
    MICAP_PREFETCH(next->stamps, 1);
    for (uint32_t i = 0; i < term_count; ++i) {
        uintptr_t values = (uintptr_t)next->columns[i]; /* or NULL: it does no harm */
#pragma GCC unroll 8
        for (uint32_t at = 0; at < PREFETCH_BYTES; at += MICAP_CACHE_LINE)
            MICAP_PREFETCH((const char *)(values + at));
    }
}

void micap_view_show_singletons(mica_view *view, const mica_query *query)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->is_singleton[i])
            view->private_.columns[i] =
                micap_singleton_show(micap_component_of(&view->world->components, query->terms[i].component));
}

/* A call at the end, so that its caller keeps nothing on the stack. */
static MICAP_NOINLINE bool add_singletons(mica_view *view, const mica_query *query)
{
    micap_view_show_singletons(view, query);
    return true;
}

/* The chunks of a list that is valid: it stays so while the structure of the world is the same. */
static MICAP_NOINLINE bool next_listed(mica_view *view, mica_query *query)
{
    const micap_chunk_list *list = &query->chunk_list;
    const micap_listed_chunk *entry = view->private_.listed, *end = list->end;
    uint32_t entry_bytes = list->entry_bytes, count;
    for (;; entry = micap_listed_chunk_after(entry, entry_bytes)) {
        if (MICAP_UNLIKELY(entry == end))
            return false;
        count = entry->chunk->count;
        if (MICAP_LIKELY(count))
            break;
    }
    const micap_listed_chunk *next = micap_listed_chunk_after(entry, entry_bytes);
    view->private_.listed = next;
    if (list->is_long)
        prefetch_listed(next, entry_bytes, query->term_count);
    view->private_.match = entry->match;
    micap_view_show_listed(view, query, entry, count);
    return MICAP_LIKELY(!query->has_singletons) || add_singletons(view, query);
}

/* Whether no slice of a listed chunk has changed since: its stamps say so without a look at the chunk. */
static inline bool is_unchanged(const micap_listed_chunk *entry, mica_version since)
{
    return entry->changed && entry->stamps[0] <= since && entry->stamps[entry->changed] <= since;
}

/* The same for a query that asks what has changed. */
static MICAP_NOINLINE bool next_changed(mica_view *view, mica_query *query)
{
    const micap_chunk_list *list = &query->chunk_list;
    const micap_listed_chunk *entry = view->private_.listed, *end = list->end;
    const micap_listed_chunk *first = entry;
    mica_version since = view->private_.since;
    for (uint32_t entry_bytes = list->entry_bytes; entry != end; entry = micap_listed_chunk_after(entry, entry_bytes)) {
        if (is_unchanged(entry, since))
            continue;
        uint32_t row = entry == first ? view->private_.row + view->count : 0;
        uint32_t count = micap_query_next_run(query, entry->chunk, &row, entry->chunk->count, since);
        if (!count)
            continue;
        view->private_.listed = entry;
        view->private_.match = entry->match;
        micap_view_show(view, query, entry->chunk, row, count);
        return true;
    }
    view->private_.listed = end;
    return false;
}

bool micap_view_next_rows(mica_view *view, mica_query *query, micap_chunk *chunk, uint32_t *row, uint32_t end)
{
    if (query->join_count)
        return micap_join_next_rows(view, query, chunk, row, end);
    uint32_t count = *row < end ? end - *row : 0;
    if (count && query->filter_count)
        count = micap_query_next_run(query, chunk, row, end, view->private_.since);
    if (!count)
        return false;
    micap_view_show(view, query, chunk, *row, count);
    *row += count;
    return true;
}

/* Whole chunks, one after the other. */
static MICAP_NOINLINE bool next_whole(mica_view *view, mica_query *query)
{
    step at = {view->private_.match, view->private_.chunk_index};
    micap_chunk *chunk = next_chunk(query, &at);
    view->private_.match = at.match;
    view->private_.chunk_index = at.chunk_index;
    if (!chunk)
        return false;
    micap_view_show(view, query, chunk, 0, chunk->count);
    return true;
}

/* Each way is a call at the end, so that this keeps nothing on the stack. */
bool mica_view_next(mica_view *view)
{
    if (MICAP_MISSING(NULL, view))
        return false;
    mica_query *query = view->private_.query;
    if (MICAP_UNLIKELY(!query || view->private_.structure != view->world->structure))
        return next_special(view, query);
    micap_walk walk = view->private_.walk;
    if (MICAP_LIKELY(walk == MICAP_WALK_LISTED))
        return next_listed(view, query);
    if (walk == MICAP_WALK_CHUNKS)
        return micap_join_next_owner(view, query);
    if (walk == MICAP_WALK_FAST)
        return micap_join_next_fast(view, query);
    if (walk == MICAP_WALK_CHANGED)
        return next_changed(view, query);
    return query->special ? next_special(view, query) : next_whole(view, query);
}

static void report_no_term(const mica_view *view, mica_component component, const char *what)
{
    const micap_type *type = micap_type_of(component);
    micap_fail(view->world, MICA_ERROR_INVALID, micap_place_of_call(view->private_.query->location),
               "%s: no term of this query %s component %s", view->private_.query->name, what,
               type ? type->type.name : "?");
}

static void report_column(const mica_view *view, mica_component component, bool write)
{
    micap_check_column(view, component, write);
    report_no_term(view, component, write ? "writes" : "reads");
}

/* There is no column: because the component is not there, which is fine, or because it is split. */
static MICAP_COLD void *no_column(const mica_view *view, uint32_t term)
{
    const micap_type *type = micap_type_of(view->private_.query->terms[term].component);
    if (type->leaves)
        micap_fail(view->world, MICA_ERROR_INVALID, micap_place_of_call(view->private_.query->location),
                   "%s: component %s is split: use mica_view_read_field or mica_view_write_field",
                   view->private_.query->name, type->type.name);
    return NULL;
}

static inline const void *read_term(const mica_view *view, uint32_t term)
{
    return MICAP_LIKELY(view->private_.columns[term] != NULL) ? view->private_.columns[term] : no_column(view, term);
}

/* Of a match whose columns are known, since the view shows it. */
static inline uint32_t column_of(const mica_view *view, uint32_t term)
{
    size_t at = (size_t)view->private_.match * view->private_.query->term_count + term;
    return MICAP_LOAD(&view->private_.query->columns[at], MICAP_RELAXED);
}

void micap_view_make_ready(mica_view *view)
{
    const mica_query *query = view->private_.query;
    uint32_t count = query->term_count < MICA_PRIVATE_READY ? query->term_count : MICA_PRIVATE_READY;
    uint32_t columns = 0, writes = 0;
    for (uint32_t i = 0; i < count; ++i) {
        mica_term term = query->terms[i];
        bool has_column = view->private_.columns[i] && micap_access_reads(term.access) && query->pool_steps[i];
        bool is_written = has_column && micap_access_writes(term.access);
        bool is_one_slice = is_written && micap_join_row(view, i) + view->count <= MICA_SLICE_ROWS;
        view->private_.components[i] = has_column ? term.component : 0;
        view->private_.stamps[i] =
            is_one_slice ? &micap_pool_stamps(micap_pool_of(view->world, term.component), 0)[1] : NULL;
        columns += has_column;
        writes |= (uint32_t)is_written << i;
    }
    view->private_.ready_count = (uint8_t)count;
    view->private_.ready_writes = columns == query->term_count ? (uint8_t)writes : MICAP_READY_NOT_ALL;
}

/* Stamps a column that is ready; NULL when it is not, or a snapshot needs a copy first. */
static inline void *write_ready(const mica_view *view, uint32_t term)
{
    if (term >= view->private_.ready_count || !view->private_.stamps[term] ||
        !micap_touch_without_copy(view->world, view->private_.stamps[term], micap_view_version(view)))
        return NULL;
    return micap_lend_column(view, term, view->private_.columns[term]);
}

/* The term of a component among those that are ready; MICA_PRIVATE_READY if it is not. */
static inline uint32_t ready_term(const mica_view *view, mica_component component)
{
    uint32_t term = 0, count = view->private_.ready_count;
    while (term < count && view->private_.components[term] != component)
        ++term;
    return term < count ? term : MICA_PRIVATE_READY;
}

static inline const void *read_ready(const mica_view *view, mica_component component)
{
    uint32_t term = ready_term(view, component);
    return term < MICA_PRIVATE_READY ? micap_lend_column(view, term, view->private_.columns[term]) : NULL;
}

const void *mica_view_read_id(const mica_view *view, mica_component component)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    micap_check_view(view);
    const void *ready = read_ready(view, component);
    if (ready)
        return ready;
    const mica_query *query = view->private_.query;
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].component == component && micap_access_reads(query->terms[i].access))
            return micap_lend_column(view, i, read_term(view, i));
    report_column(view, component, false);
    return NULL;
}

/* A whole value of one row of a pool. */
static inline void *write_pooled(mica_view *view, uint32_t term)
{
    const mica_query *query = view->private_.query;
    const mica_pool *pool = micap_pool_of(view->world, query->terms[term].component);
    MICAP_ASSERT(pool, "it has the rows that the view shows");
    char *value = view->private_.columns[term];
    uint64_t row = (uint64_t)(value - pool->values) / query->pool_steps[term];
    if (!micap_touch_without_copy(view->world, &micap_pool_stamps(pool, (uint32_t)row)[1], micap_view_version(view)))
        return micap_join_write(view, term);
    return value;
}

/* Of a loop with pools: views of one row must be cheap. */
static inline void *write_joined(mica_view *view, uint32_t term)
{
    const mica_query *query = view->private_.query;
    if (query->pattern)
        return micap_pattern_write(view, term);
    if (MICAP_UNLIKELY(view->count > 1))
        return micap_join_write(view, term);
    if (query->pool_steps[term])
        return write_pooled(view, term);
    if (!query->chunk_steps[term])
        return view->private_.columns[term];
    uint32_t column = micap_chunk_find(view->private_.chunk, query->terms[term].component)->column;
    mica_version *stamp = &micap_chunk_stamps(view->private_.chunk, view->private_.row)[1 + column];
    if (!micap_touch_without_copy(view->world, stamp, micap_view_version(view)))
        return micap_join_write(view, term);
    return view->private_.columns[term];
}

/* A call at the end, so that a view of one slice keeps nothing on the stack. */
static MICAP_NOINLINE void *write_slices(mica_view *view, uint32_t column, void *values, mica_version version)
{
    micap_touch_column(view->world, view->private_.chunk, column, view->private_.row, view->count, version);
    return values;
}

static MICAP_INLINE void *write_term(mica_view *view, uint32_t term)
{
    void *values = view->private_.columns[term];
    if (MICAP_UNLIKELY(!values))
        return no_column(view, term);
    if (MICAP_UNLIKELY(view->private_.query->is_joined))
        return write_joined(view, term);
    uint32_t column = column_of(view, term);
    if (MICAP_UNLIKELY(column == MICAP_COLUMN_SINGLETON))
        return values;
    mica_version version = micap_view_version(view);
    mica_version *stamp = &micap_chunk_stamps(view->private_.chunk, 0)[1 + column];
    if (MICAP_UNLIKELY(view->private_.row + view->count > MICA_SLICE_ROWS) ||
        !micap_touch_without_copy(view->world, stamp, version))
        return write_slices(view, column, values, version);
    return values;
}

void *micap_view_write_term(mica_view *view, uint32_t term)
{
    return view->private_.columns[term] ? write_term(view, term) : NULL;
}

void micap_view_fill_columns(mica_view *view, void **columns)
{
    const mica_query *query = view->private_.query;
    uint32_t written = micap_view_stamp_columns(view) ? 0 : query->written;
    for (uint32_t i = 0; i < query->term_count; ++i)
        columns[i] =
            micap_lend_column(view, i, written >> i & 1 ? micap_view_write_term(view, i) : view->private_.columns[i]);
}

void *mica_view_write_id(mica_view *view, mica_component component)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    micap_check_view(view);
    void *ready = write_ready(view, ready_term(view, component));
    if (ready)
        return ready;
    const mica_query *query = view->private_.query;
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].component == component && micap_access_writes(query->terms[i].access))
            return micap_lend_column(view, i, write_term(view, i));
    report_column(view, component, true);
    return NULL;
}

const void *mica_view_read_at(const mica_view *view, uint32_t term)
{
    if (MICAP_MISSING(NULL, view))
        return NULL;
    micap_check_view(view);
    if (MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    if (MICAP_LIKELY(term < view->private_.query->term_count &&
                     micap_access_reads(view->private_.query->terms[term].access)))
        return micap_lend_column(view, term, read_term(view, term));
    report_column(view, term < view->private_.query->term_count ? view->private_.query->terms[term].component : 0,
                  false);
    return NULL;
}

void *mica_view_write_at(mica_view *view, uint32_t term)
{
    if (MICAP_MISSING(NULL, view))
        return NULL;
    micap_check_view(view);
    void *ready = write_ready(view, term);
    if (ready)
        return ready;
    if (MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    if (MICAP_LIKELY(term < view->private_.query->term_count &&
                     micap_access_writes(view->private_.query->terms[term].access)))
        return micap_lend_column(view, term, write_term(view, term));
    report_column(view, term < view->private_.query->term_count ? view->private_.query->terms[term].component : 0,
                  true);
    return NULL;
}

bool micap_view_has_term(const mica_view *view, uint32_t term)
{
    const mica_term *asked = &view->private_.query->terms[term];
    if (micap_access_demands(asked->access) || view->private_.columns[term])
        return true;
    if (view->private_.query->pattern)
        return micap_pattern_has(view, term);
    if (!micap_access_reads(asked->access) || !micap_type_of(asked->component)->leaves)
        return false;
    return micap_is_pooled(asked->component) ? micap_join_row(view, term) != MICAP_ROW_NONE
                                             : micap_archetype_has(view->private_.chunk->archetype, asked->component);
}

bool mica_view_has_id(const mica_view *view, mica_component component)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return false;
    micap_check_view(view);
    const mica_query *query = view->private_.query;
    bool is_known = false;
    for (uint32_t i = 0; i < query->term_count; ++i) {
        if (query->terms[i].component != component)
            continue;
        if (micap_view_has_term(view, i))
            return true;
        is_known = true;
    }
    if (!is_known)
        report_no_term(view, component, "is about");
    return false;
}

bool mica_view_has_at(const mica_view *view, uint32_t term)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return false;
    micap_check_view(view);
    if (term < view->private_.query->term_count)
        return micap_view_has_term(view, term);
    micap_fail(view->world, MICA_ERROR_INVALID, micap_place_of_call(view->private_.query->location),
               "%s: there is no term %u, but %u terms", view->private_.query->name, term,
               view->private_.query->term_count);
    return false;
}

/* The switches of a component that can be toggled, for the rows of a view, from where they are stored. */
static const uint8_t *enabled_rows(const mica_view *view, uint32_t term)
{
    mica_component component = view->private_.query->terms[term].component;
    if (view->private_.query->pattern) {
        view = micap_pattern_inner(view, term, &term);
        if (!view)
            return NULL;
    }
    if (micap_is_pooled(component)) {
        uint32_t row = micap_join_row(view, term);
        return row == MICAP_ROW_NONE ? NULL : micap_pool_of(view->world, component)->enabled + row;
    }
    uint32_t column = micap_archetype_column(view->private_.chunk->archetype, micap_type_of(component)->enabled);
    return column == MICAP_COLUMN_NONE
               ? NULL
               : (const uint8_t *)micap_chunk_column(view->private_.chunk, column) + view->private_.row;
}

const uint8_t *mica_view_enabled_id(const mica_view *view, mica_component component)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query))
        return NULL;
    micap_check_view(view);
    const mica_query *query = view->private_.query;
    const micap_type *type = micap_type_of(component);
    for (uint32_t i = 0; type && type->type.toggle && i < query->term_count; ++i)
        if (query->terms[i].component == component && micap_access_reads(query->terms[i].access))
            return enabled_rows(view, i);
    if (type && !type->type.toggle)
        micap_fail(view->world, MICA_ERROR_INVALID, micap_place_of_call(query->location),
                   "%s: component %s can't be toggled: describe it with .toggle = true", query->name, type->type.name);
    else
        report_no_term(view, component, "reads");
    return NULL;
}

uint64_t mica_query_count(mica_query *query)
{
    uint64_t count = 0;
    if (query && query->is_joined)
        return query->pattern ? micap_pattern_count(query) : micap_join_count(query);
    for (uint32_t match = 0; query && match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        if (!query->filter_count) {
            count += archetype->row_count;
            continue;
        }
        for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
            const micap_chunk *chunk = archetype->chunks[i];
            uint32_t row = 0, run;
            for (; (run = micap_query_next_run(query, chunk, &row, chunk->count, query->last_mark)); row += run)
                count += run;
        }
    }
    return count;
}

mica_entity mica_query_first(mica_query *query)
{
    mica_view view = begin(query, query ? query->last_mark : 0);
    return mica_view_next(&view) ? view.entities[0] : mica_nil();
}

bool mica_query_matches(mica_query *query, mica_entity entity)
{
    if (!query)
        return false;
    if (query->is_joined)
        return query->pattern ? micap_pattern_matches(query, entity)
                              : micap_join_matches(query, entity, query->last_mark);
    micap_row spot = micap_locate(query->world, entity);
    return micap_is_row(spot) && micap_query_matches_archetype(query, spot.chunk->archetype) &&
           micap_query_row_passes(query, spot.chunk, spot.row, query->last_mark);
}

static bool is_singleton_term(const mica_query *query, uint32_t term)
{
    return micap_type_of(query->terms[term].component)->type.storage == MICA_STORAGE_SINGLETON;
}

void mica_query_each(mica_query *query, mica_each_fn fn, void *context)
{
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING(query->world, fn))
        return;
    mica_world *world = query->world;
    bool is_owner = !micap_thread_context_of(world); /* systems, which may run at the same time, can't destroy it */
    query->hold_count += is_owner;
    micap_world_hold(world);
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
        void *columns[MICA_TERMS_MAX];
        micap_view_fill_columns(&view, columns);
        for (uint32_t row = 0; row < view.count && view.private_.structure == query->world->structure; ++row) {
            fn(view.entities[row], columns, context);
            for (uint32_t term = 0; term < query->term_count; ++term)
                if (columns[term] && !is_singleton_term(query, term))
                    columns[term] = (char *)columns[term] + query->term_bytes[term];
        }
    }
    micap_world_let_go(world);
    query->hold_count -= is_owner;
}
