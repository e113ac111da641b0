/* Views of a query: the columns of consecutive rows of one chunk. Systems share the rows of a query between threads by showing parts of
 * it as views; any number of threads may do so at once, as long as nothing changes the structure. */
#ifndef MICAP_CORE_QUERY_VIEW_H
#define MICAP_CORE_QUERY_VIEW_H

#include "core/query/query.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/singleton.h"

/* Points a view at consecutive rows of a chunk of a match. */
static inline void micap_view_show(mica_view *view, mica_query *query, micap_chunk *chunk, uint32_t row, uint32_t count)
{
    view->count = count;
    view->private_.row = row;
    view->private_.chunk = chunk;
    view->entities = micap_chunk_entities(chunk) + row;
    uint32_t term_count = query->term_count;
    if (!term_count)
        return;
    const uint16_t *columns = micap_query_columns(query, view->private_.match);
    const micap_column_data *lanes = micap_chunk_columns(chunk);
    for (uint32_t i = 0; i < term_count; ++i) {
        uint32_t column = __atomic_load_n(&columns[i], __ATOMIC_RELAXED);
        if (MICAP_LIKELY(column < MICAP_COLUMN_UNKNOWN))
            view->private_.columns[i] = lanes[column].values + row * lanes[column].bytes;
        else if (column == MICAP_COLUMN_SINGLETON)
            view->private_.columns[i] =
                micap_singleton_show(micap_component_of(&view->world->components, query->terms[i].component));
        else
            view->private_.columns[i] = column == MICAP_COLUMN_TAG ? &micap_tag_value : NULL;
    }
}

/* The first terms of a view that stays the same from frame to frame. Reading them needs neither the query nor the chunk, which for
 * many small systems do not fit into the first-level cache. */
enum { MICAP_READY_TERMS = 4 };
typedef struct micap_ready {
    struct micap_ready_term {
        void *values;        /* NULL if they may not be read */
        mica_version *stamp; /* of the only slice that is written; NULL if there are several, or none */
    } terms[MICAP_READY_TERMS];
    mica_component components[MICAP_READY_TERMS];
    uint32_t
        column_count; /* how many terms there are, if all of them have values, and a stamp if they are written; else 0 */
} micap_ready;

void micap_ready_fill(micap_ready *ready, mica_view *view);

/* The structure of a view that is shown part by part: mica_view_next refuses it. */
#define MICAP_STRUCTURE_NONE UINT64_MAX

/* Initializes a view that shows nothing yet, for micap_view_show. */
static inline void micap_view_init(mica_view *view, mica_query *query, mica_version since, mica_version version)
{
    memset(view, 0, offsetof(mica_view, private_.columns));
    view->world = query->world;
    view->private_.query = query;
    view->private_.term_count = (uint8_t)query->term_count;
    view->private_.structure = MICAP_STRUCTURE_NONE;
    view->private_.since = since;
    view->private_.version = version;
}

/* The version that writes through a view are stamped with: that of the system it belongs to, else the current version of the world,
 * since a mark may have been placed after the loop began. */
static inline mica_version micap_view_version(const mica_view *view)
{
    return view->private_.version ? view->private_.version : micap_version(view->world);
}

/* The column of a term, to be written: stamps its rows. */
void *micap_view_write_term(mica_view *view, uint32_t term);
/* The columns of all terms, in their order. Stamps those that are written. */
void micap_view_fill_columns(mica_view *view, void **columns);

#endif
