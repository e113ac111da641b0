/* Sorted queries. Sorting is a stable merge sort: equal values keep the order of their rows, so that the result is the same on every
 * machine. */
#ifndef MICAP_CORE_QUERY_QUERY_SORT_H
#define MICAP_CORE_QUERY_QUERY_SORT_H

#include "core/query/query.h"

/* Updates the order of a sorted query, unless nothing changed; false if memory is short. */
bool micap_query_sort(mica_query *query);

#endif
