/* Loops over patterns: a loop borrows a search from its query, and shows its results as views. */
#ifndef MICAP_CORE_QUERY_PATTERN_VIEW_H
#define MICAP_CORE_QUERY_PATTERN_VIEW_H

#include "core/query/pattern_part.h"

/* A loop that begins. If memory is short, it is reported and the view shows nothing. */
void micap_pattern_begin(mica_view *view, mica_query *query);

/* The next result; false at the end. */
bool micap_pattern_next(mica_view *view);

/* Restricts a loop that has shown nothing yet to a part. */
void micap_pattern_take_part(const mica_view *view, const micap_pattern_part *part);

uint64_t micap_pattern_count(mica_query *query);
bool micap_pattern_matches(mica_query *query, mica_entity entity);

/* The view of the query of the node that a term is about, and the position of the term in it; NULL if an optional link found none, or if
 * the term is an edge. */
mica_view *micap_pattern_inner(const mica_view *view, uint32_t term, uint32_t *out_term);

/* The column of a term, which has one, to be written: stamps its rows. */
void *micap_pattern_write(const mica_view *view, uint32_t term);

/* Whether the component or edge of a term is there. */
bool micap_pattern_has(const mica_view *view, uint32_t term);

#endif
