/* Filters of a query: which rows of a matching archetype it shows. A toggle, an ADDED or a CHANGED term is a filter. */
#ifndef MICAP_CORE_QUERY_QUERY_FILTER_H
#define MICAP_CORE_QUERY_QUERY_FILTER_H

#include "core/query/query.h"

/* Whether a row of a matching archetype passes all filters. */
bool micap_query_row_passes(const mica_query *query, const micap_chunk *chunk, uint32_t row, mica_version since);

/* Finds the next run of rows in [*row, end) that pass all filters, and moves `row` to its first. Returns their number, 0 if there
 * are none. */
uint32_t micap_query_next_run(const mica_query *query, const micap_chunk *chunk, uint32_t *row, uint32_t end,
                              mica_version since);

#endif
