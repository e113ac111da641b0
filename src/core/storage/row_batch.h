/* Rows of one chunk that go to the end of another archetype, or are removed, all at once. */
#ifndef MICAP_CORE_STORAGE_ROW_BATCH_H
#define MICAP_CORE_STORAGE_ROW_BATCH_H

#include "core/storage/rows.h"

typedef struct micap_row_batch {
    micap_row from;   /* the row of the first entity; the others follow it, */
    bool is_backward; /* or precede it, and are the last rows of their archetype: then no holes are left */
    micap_row to;     /* without a chunk if the rows are removed */
    uint32_t count;
} micap_row_batch;

/* The longest run that can begin with a row, of at most `count`; its rows must still be found to belong to the entities. If
 * `to` is not NULL, it has room for one row at least. */
micap_row_batch micap_row_batch_begin(micap_row from, const micap_archetype *to, uint32_t count);

/* Moves the columns both have. What only `to` has stays raw, and entities and records are left to the caller. */
void micap_row_batch_move_columns(mica_world *world, const micap_row_batch *run);

/* Afterwards: the rows exist where they went, and no more where they came from. */
void micap_row_batch_end(mica_world *world, const micap_row_batch *run);

#endif
