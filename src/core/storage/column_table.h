/* The column table: from a component and a chunk number to the column. The inline functions of mica/entity.h read it (mica/lookup.h
 * has the layout), so that a look-up reads the record, one entry of the table and the value.
 *
 * Each component has a list with an entry per chunk number. A tag has an address that is not NULL in chunks that have it. Components
 * without a whole value (split ones), hidden ones, and those for which there is no memory share a list of NULL: for these the inline
 * functions call the library, which searches the chunk (micap_chunk_find). The table is an index and nothing else depends on it. */
#ifndef MICAP_CORE_STORAGE_COLUMN_TABLE_H
#define MICAP_CORE_STORAGE_COLUMN_TABLE_H

#include "core/storage/chunk.h"

/* Makes sure that lists have an entry for chunk numbers below `count`; false when memory is short. */
bool micap_column_table_reserve(mica_world *world, uint32_t count);
void micap_column_table_free(mica_world *world);

/* Enters the columns of a chunk, or clears them before its number is used again. */
void micap_column_table_add(mica_world *world, const micap_chunk *chunk);
void micap_column_table_remove(mica_world *world, const micap_chunk *chunk);

/* Whether the table has the right entries for a chunk. */
bool micap_column_table_is_right(const mica_world *world, const micap_chunk *chunk);
/* How many components have lists of their own: by looking, where .list_count is kept up. */
uint32_t micap_column_table_count_lists(const mica_world *world);

#endif
