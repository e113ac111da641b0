/* From a source and a target to their edge. Edges of a source are few, mostly, and found by a walk along them. From the first source on
 * that has more than MICAP_EDGES_WALKED, a table has all edges of the relation: open addressing, 4 bytes per slot, without tombstones.
 * Without memory for it, walks are longer. */
#ifndef MICAP_POOL_POOL_EDGE_TABLE_H
#define MICAP_POOL_POOL_EDGE_TABLE_H

#include "pool/pool_edges.h"

enum { MICAP_EDGES_WALKED = 8 };

/* Make room for `more` edges; false if memory is short. A relation without a table needs none. */
bool micap_edge_table_reserve(mica_pool *pool, uint64_t more);

/* A source has more edges than are walked: makes the table, if there is memory for it. It has room for the edges of the flush that is being
 * applied, which can't fail any more. */
MICAP_COLD void micap_edge_table_make(mica_pool *pool);

/* Of a relation that has a table, like micap_edge_table_find, which pool_edges.h declares. There is room. */
void micap_edge_table_enter(mica_pool *pool, uint32_t row);
void micap_edge_table_erase(mica_pool *pool, uint32_t row);
/* A row was copied to another one. */
void micap_edge_table_move(mica_pool *pool, uint32_t from, uint32_t to);

/* The slot of a row, or an empty one if the table does not have it. */
uint32_t micap_edge_table_slot(const mica_pool *pool, uint32_t row);

/* Fills the table anew, if there is one. There is room. */
void micap_edge_table_fill(mica_pool *pool);
/* The same after edges came that were not entered: the table is made if they need it. */
void micap_edge_table_renew(mica_pool *pool);

/* Gives memory back: all of it, if no source has more edges than are walked. */
void micap_edge_table_trim(mica_pool *pool);

#endif
