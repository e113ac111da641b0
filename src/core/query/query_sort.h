/* Sorted queries. Rows with equal values keep the order of their storage, so that the result is the same on every machine, whatever order sorting
 * begins with: that of the last time. */
#ifndef MICAP_CORE_QUERY_QUERY_SORT_H
#define MICAP_CORE_QUERY_QUERY_SORT_H

#include "core/query/query.h"

/* Updates the order of a sorted query, unless nothing changed; false if memory is short. */
bool micap_query_sort(mica_query *query);

#endif
