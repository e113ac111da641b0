/* Rows of many entities at once, in pools that changes_fast is true for. */
#ifndef MICAP_POOL_POOL_LISTS_H
#define MICAP_POOL_POOL_LISTS_H

#include "pool/pool.h"

/* Makes rows of entities exist that have none, as micap_pool_append does: room is reserved, and values are where they belong. */
void micap_pool_append_list(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version);

/* Removes the rows of entities, which all have one, with the result of removing one after the other. The pool is in no group. */
void micap_pool_remove_list(mica_pool *pool, const mica_entity *entities, uint32_t count, mica_version version);

#endif
