/* Queries with terms on pools. Such a query iterates the rows of a driver: the archetypes it matches, or the smallest pool that must be
 * there. Other terms are looked up for each row of the driver. Rows that are consecutive in every column come as one view. */
#ifndef MICAP_CORE_QUERY_QUERY_JOIN_H
#define MICAP_CORE_QUERY_QUERY_JOIN_H

#include "core/query/query.h"

/* How the rows of a driver are iterated. */
typedef enum micap_walk {
    MICAP_WALK_SEARCH = 0, /* everything is looked up and tested */
    MICAP_WALK_CHUNKS,     /* the pools match row by row; the chunks of the owners are looked up */
    MICAP_WALK_PLAIN,      /* all pools match row by row */
    MICAP_WALK_FAST,       /* rows are looked up by the fast path: see query_join_fast.h */
    MICAP_WALK_LISTED,     /* no pools: whole chunks of a list, see query_chunks.h */
    MICAP_WALK_CHANGED,    /* the same for what has changed in them */
} micap_walk;

/* The next run of rows of a driver that is iterated as MICAP_WALK_CHUNKS. */
bool micap_join_next_owner(mica_view *view, const mica_query *query);

/* Points a view at the row of an entity that was found to match. */
void micap_join_show_entity(mica_view *view, const mica_query *query, mica_entity entity);

/* Whether an entity matches; if the query shows instances, whether it shows any of this entity. */
bool micap_join_matches(const mica_query *query, mica_entity entity, mica_version since);

/* The pool whose rows a loop iterates; NULL if these are the archetypes. */
mica_pool *micap_join_driver(const mica_query *query);

/* Chooses the driver of a loop that begins. */
void micap_join_begin(mica_view *view, const mica_query *query);

/* Lets a view of which all rows were shown begin again with rows [row, end) of its driver. */
static inline void micap_join_restart(mica_view *view, uint32_t row, uint32_t end)
{
    view->private_.cursor = view->private_.ahead_end = row;
    view->private_.end = end;
    view->private_.chunk = NULL;
}

/* The next run of rows; false at the end. */
bool micap_join_next(mica_view *view, mica_query *query);

/* The next run of rows of a chunk in [*row, end); moves `row` to its end. */
bool micap_join_next_rows(mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t *row, uint32_t end);

/* The next run of rows in the order of a sorted query. */
bool micap_join_next_sorted(mica_view *view, mica_query *query);

/* The column of a term, which has one, to be written: stamps its rows. */
void *micap_join_write(mica_view *view, uint32_t term);

/* The row in the pool of a term at which a view begins; MICAP_ROW_NONE if it has none. */
uint32_t micap_join_row(const mica_view *view, uint32_t term);

/* How many entities match. */
uint64_t micap_join_count(mica_query *query);

#endif
