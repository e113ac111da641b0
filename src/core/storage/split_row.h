/* The values of split components in chunks: every leaf is a column of its own. */
#ifndef MICAP_CORE_STORAGE_SPLIT_ROW_H
#define MICAP_CORE_STORAGE_SPLIT_ROW_H

#include "core/storage/chunk.h"
#include "type/type.h"

/* The leaf of a split component at an offset. NULL with a report if the component is not split or has no column at this offset. */
const micap_leaf *micap_split_leaf(const mica_world *world, mica_component component, size_t offset,
                                   mica_location location);

/* The value of one leaf; NULL if the row does not have the component. */
void *micap_row_leaf(micap_row spot, const micap_leaf *leaf);

/* Fills the raw leaf columns of a row from a whole value, or with zero if the value is NULL. */
void micap_row_scatter(micap_row spot, const micap_type *type, const void *value);
/* Overwrites the leaf columns of a row: they count as changed. */
void micap_row_overwrite_leaves(mica_world *world, micap_row spot, const micap_type *type, const void *value);
/* Copies the leaf columns of a row into a whole value. */
void micap_row_gather(micap_row spot, const micap_type *type, void *out);

#endif
