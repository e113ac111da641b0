/* Views of a query: the columns of consecutive rows of one chunk. Systems share the rows of a query between threads by showing parts of
 * it as views; any number of threads may do so at once, as long as nothing changes the structure. */
#ifndef MICAP_CORE_QUERY_VIEW_H
#define MICAP_CORE_QUERY_VIEW_H

#include "base/assert.h"
#include "core/query/query.h"
#include "core/world/world.h"
#include "core/storage/chunk_write.h"
#include "core/storage/rows.h"
#include "core/storage/singleton.h"

/* Looks up the columns of the terms on singletons. */
void micap_view_show_singletons(mica_view *view, const mica_query *query);

/* The values of a column from a row on; NULL if there are none. */
static inline void *micap_column_at(const micap_column_data *lanes, uint32_t column, uint32_t row)
{
    if (MICAP_LIKELY(column < MICAP_COLUMN_UNKNOWN))
        return lanes[column].values + row * lanes[column].bytes;
    return column == MICAP_COLUMN_TAG ? &micap_tag_value : NULL;
}

/* Points a view at all rows of a listed chunk, except for singletons. */
static inline void micap_view_show_listed(mica_view *view, const mica_query *query, const micap_listed_chunk *entry,
                                          uint32_t count)
{
    char *const *columns = entry->columns, *const *stamps = columns + query->term_count;
    uint32_t i = 0;
    view->count = count;
    view->entities = micap_chunk_entities(entry->chunk);
    view->private_.chunk = entry->chunk;
    for (; i < query->ready_count; ++i) {
        view->private_.columns[i] = columns[i];
        view->private_.stamps[i] = (mica_version *)(void *)stamps[i];
    }
    for (; MICAP_UNLIKELY(i < query->term_count); ++i)
        view->private_.columns[i] = columns[i];
}

/* Points a view at consecutive rows of a chunk of a match. */
static inline void micap_view_show(mica_view *view, mica_query *query, micap_chunk *chunk, uint32_t row, uint32_t count)
{
    const uint16_t *columns = query->term_count ? micap_query_columns(query, view->private_.match) : NULL;
    const micap_column_data *lanes = micap_chunk_columns(chunk);
    mica_version *stamps = micap_chunk_stamps(chunk, row) + 1;
    view->count = count;
    view->private_.row = row;
    view->private_.chunk = chunk;
    view->entities = micap_chunk_entities(chunk) + row;
    view->private_.ready_count = row % MICA_SLICE_ROWS + count <= MICA_SLICE_ROWS ? query->ready_count : 0;
    uint32_t i = 0, written = query->written;
    for (; i < query->ready_count; ++i, written >>= 1) {
        uint32_t column = MICAP_LOAD(&columns[i], MICAP_RELAXED);
        view->private_.columns[i] = micap_column_at(lanes, column, row);
        view->private_.stamps[i] = (written & 1) && column < MICAP_COLUMN_UNKNOWN ? &stamps[column] : NULL;
    }
    for (; MICAP_UNLIKELY(i < query->term_count); ++i)
        view->private_.columns[i] = micap_column_at(lanes, MICAP_LOAD(&columns[i], MICAP_RELAXED), row);
    if (MICAP_UNLIKELY(query->has_singletons))
        micap_view_show_singletons(view, query);
}

/* Lists the stamps and components of the first terms of a view of pools that stays the same from frame to frame. Reading and writing them needs
 * neither the query nor the pool. In views of chunks they are always listed. */
void micap_view_make_ready(mica_view *view);

/* The structure of a view that is shown part by part: mica_view_next refuses it. */
#define MICAP_STRUCTURE_NONE UINT64_MAX

/* Zeroes a view, except for its columns and the rows ahead: each step writes those the query has, and zeroing the rest cost more than a small loop. */
static inline void micap_view_clear(mica_view *view)
{
    memset(view, 0, offsetof(mica_view, private_.columns));
    memset(&view->private_.chunk, 0, offsetof(mica_view, private_.ahead_rows) - offsetof(mica_view, private_.chunk));
}

/* Initializes a view that shows nothing yet, for micap_view_show. */
static inline void micap_view_init(mica_view *view, mica_query *query, mica_version since, mica_version version)
{
    micap_view_clear(view);
    view->world = query->world;
    view->private_.query = query;
    view->private_.term_count = (uint8_t)query->term_count;
    view->private_.structure = MICAP_STRUCTURE_NONE;
    view->private_.since = since;
    view->private_.version = version;
    view->private_.ready_writes = query->ready_writes;
    memcpy(view->private_.components, query->ready_components, sizeof query->ready_components);
}

/* Shows the next rows of a chunk of the match of a view, in [*row, end), that pass; moves `row` to their end. False if there are none. */
bool micap_view_next_rows(mica_view *view, mica_query *query, micap_chunk *chunk, uint32_t *row, uint32_t end);

/* The version that writes through a view are stamped with: that of the system it belongs to, else the current version of the world,
 * since a mark may have been placed after the loop began. */
static inline mica_version micap_view_version(const mica_view *view)
{
    return view->private_.version ? view->private_.version : micap_version(view->world);
}

/* Whether the component of a term is there, which all rows of a view have in common. */
bool micap_view_has_term(const mica_view *view, uint32_t term);
/* The column of a term, to be written: stamps its rows. */
void *micap_view_write_term(mica_view *view, uint32_t term);
/* Stamps all columns that are written, if all terms are ready and no snapshot needs a copy first. If it returns true, the columns of the
 * view can be passed on as they are; in checked builds it never does. */
static inline bool micap_view_stamp_columns(const mica_view *view)
{
    if (MICAP_EVERY_WRITE_IS_CHECKED || !view->private_.ready_count ||
        view->private_.ready_writes == MICAP_READY_NOT_ALL)
        return false;
    uint32_t writes = view->private_.ready_writes;
    mica_version version = micap_view_version(view);
    for (mica_version *const *stamp = view->private_.stamps; writes; ++stamp, writes >>= 1)
        if ((writes & 1) && (!*stamp || !micap_touch_without_copy(view->world, *stamp, version)))
            return false;
    return true;
}

/* The columns of all terms, in their order. Stamps those that are written. */
void micap_view_fill_columns(mica_view *view, void **columns);

#endif
