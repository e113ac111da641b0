/* The fast path of joins: every term on a pool demands a row and reads whole values or nothing, and the index of each pool alone
 * decides. See has_fast_joins in core/query/query.h. Views of one row must be cheap: rows of pools that were filled in different
 * orders do not follow each other. */
#ifndef MICAP_CORE_QUERY_QUERY_JOIN_FAST_H
#define MICAP_CORE_QUERY_QUERY_JOIN_FAST_H

#include "core/query/query.h"

/* Whether a term on a pool allows the fast path. */
bool micap_join_is_fast(const micap_join *join);

/* The next run of rows of a loop, whose driver is a pool or, if that is NULL, the matching archetypes. */
bool micap_join_next_fast(mica_view *view, const mica_query *query);

/* The next run of rows of a chunk in [*row, end); moves `row` to its end. The chunk of the view is NULL at first. */
bool micap_join_next_fast_rows(mica_view *view, const mica_query *query, micap_chunk *chunk, uint32_t *row,
                               uint32_t end);

/* Looks up the columns of chunks, and of singletons, for a view whose chunk and row are known. */
void micap_join_find_chunk_columns(mica_view *view, const mica_query *query);

#endif
