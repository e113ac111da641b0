/* Queries with terms on pools. Such a query has a driver, whose rows it walks: the archetypes it matches, or the smallest
 * pool that must be there. Everything else is looked up for each of the driver's rows, and rows that follow each other
 * in all that the query reads come as one view. */
#ifndef MICAP_CORE_QUERY_QUERY_JOIN_H
#define MICAP_CORE_QUERY_QUERY_JOIN_H

#include "core/query/query.h"

/* How the rows of a driver are walked. */
typedef enum micap_walk {
    MICAP_WALK_SEARCH = 0, /* everything is looked up and tested */
    MICAP_WALK_CHUNKS, /* the pools match as they lie, in step with the driver; the chunks of its owners are looked up */
    MICAP_WALK_PLAIN,  /* all rows match as they lie */
} micap_walk;

/* The next run of rows of a driver that is walked as MICAP_WALK_CHUNKS. */
bool micap_join_next_owner(mica_view *view, const mica_query *query);

/* Whether an entity matches; of a query that shows instances, whether it shows any of this entity. */
bool micap_join_matches(const mica_query *query, mica_entity entity, mica_version since);

/* Chooses the driver of a loop that begins. */
void micap_join_begin(mica_view *view, const mica_query *query);

/* The next run of rows; false when there is none. */
bool micap_join_next(mica_view *view, mica_query *query);

/* The next run of rows of a chunk within [*row, end), behind which `row` is moved. */
bool micap_join_next_rows(mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t *row, uint32_t end);

/* The same along the order of a sorted query. */
bool micap_join_next_sorted(mica_view *view, mica_query *query);

/* The column of a term to write to, which is there; its rows count as changed. */
void *micap_join_write(mica_view *view, uint32_t term);

/* The row of a pool term, split or not, with which a view begins; MICAP_ROW_NONE when it is not there. */
uint32_t micap_join_row(const mica_view *view, uint32_t term);

/* How many entities match. */
uint64_t micap_join_count(mica_query *query);

#endif
