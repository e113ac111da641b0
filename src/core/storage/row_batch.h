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

/* A value for a column that rows did not have. */
typedef struct micap_new_values {
    const micap_type *type;
    char *data;
    uint32_t stride; /* from one to the next; 0: all get the same bytes */
} micap_new_values;

/* The values after the first `count`. */
static inline char *micap_new_values_after(const micap_new_values *values, uint32_t count)
{
    return values->stride ? values->data + (size_t)values->stride * count : values->data;
}

/* Fills a column of `count` new values, at least one, with the same trivial value: what is there already is copied after itself. */
void micap_repeat_value(char *to, const char *value, size_t bytes, uint32_t count);

/* The rows of these entities go along an edge with the fast path; they are all in its archetype. `values` is for an edge that adds a
 * component with data; values with a stride are moved. The other archetype has room for all. The result is that of one step after the
 * other. */
void micap_rows_step_many(mica_world *world, const mica_entity *entities, uint32_t count, const micap_edge *edge,
                          micap_new_values values);

/* How many of these entities, from the first on, which is in this row, have consecutive rows of one chunk; the second: in falling order.
 * The others need not be alive. */
uint32_t micap_rows_in_order(micap_row first, const mica_entity *entities, uint32_t count);
uint32_t micap_rows_in_reverse(micap_row first, const mica_entity *entities, uint32_t count);

/* Removes the rows of entities wherever they are in an archetype, whose rows move as bytes and need no destructor, with the result of
 * removing one after the other. An entity that the row of its record does not belong to any more is skipped. Returns how many rows were
 * removed. */
uint32_t micap_rows_remove_scattered(mica_world *world, micap_archetype *archetype, const mica_entity *entities,
                                     uint32_t count);

/* Afterwards: the rows exist where they went, and no more where they came from. */
void micap_row_batch_end(mica_world *world, const micap_row_batch *run);

#endif
