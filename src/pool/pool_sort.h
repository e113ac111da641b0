/* Sorting the rows of a pool. */
#ifndef MICAP_POOL_POOL_SORT_H
#define MICAP_POOL_POOL_SORT_H

#include "pool/pool.h"

/* Sorts the rows, in a group the shared ones together with those of the other pools. False when memory is short. */
bool micap_pool_sort_rows(mica_pool *pool, mica_compare_fn compare, void *context, mica_version version);

#endif
