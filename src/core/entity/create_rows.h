/* Creating rows: what mica_create, mica_create_many, mica_batch_begin, mica_clone, the flush and replicas share.
 *
 * create, create_plan   mica_create: the fast path, and the plans it works by
 * bulk, batch, clone    the other functions that create entities
 * pool_create           the rows of new entities in pools
 * change, destroy, get  what happens to an entity afterwards */
#ifndef MICAP_CORE_ENTITY_CREATE_ROWS_H
#define MICAP_CORE_ENTITY_CREATE_ROWS_H

#include "core/storage/rows.h"

/* The archetype of a list of values in any order, with companions. NULL with a report: a component twice, a size that
 * disagrees, a singleton, memory. */
micap_archetype *micap_archetype_of_values(mica_world *world, const mica_value *values, uint32_t count);

/* Whether any of them is kept in a pool. */
bool micap_has_pooled(const mica_value *values, uint32_t count);

/* What rows are created from. */
typedef struct micap_creation {
    micap_archetype *archetype; /* of the values: see micap_archetype_of_values */
    const mica_value *values;   /* arrays, or one value for all; NULL data is the default */
    uint32_t value_count;
    uint32_t period; /* the arrays have that many elements, and row i gets element i % period */
} micap_creation;

/* Whether the data is one value for all rows, not an array. */
static inline bool micap_is_for_all(const mica_value *value)
{
    return (value->size_bytes & MICA_VALUE_FOR_ALL) != 0;
}

/* Creates `count` entities with their rows in chunks and in pools: all of them, or none and false with a report. Their rows in chunks
 * are consecutive and begin at `out_first`. Runs no hooks. */
bool micap_rows_create(mica_world *world, const micap_creation *what, uint32_t count, const char *operation,
                       micap_row *out_first);

/* After micap_rows_create: writes the handles to `out_entities`, unless it is NULL, and runs the add and set hooks. */
void micap_rows_created(mica_world *world, const micap_creation *what, micap_row first, uint32_t count,
                        mica_entity *out_entities);

/* Removes the last rows of an archetype, which were created from this and are unknown to the program. If `reuse` is true the handles
 * are given out again. */
void micap_rows_take_back(mica_world *world, const micap_creation *what, uint32_t count, bool reuse);

/* Creates the row of an entity whose handle was given out before: it was recorded, or comes from another world. Room is reserved, so
 * that it can't fail. Companion columns are set; all others are raw, and the caller fills them. */
micap_row micap_row_create(mica_world *world, micap_archetype *archetype, mica_entity entity);

/* Runs the add and set hooks of rows of one chunk that were created from values. */
void micap_hooks_created(mica_world *world, micap_row spot, uint32_t count, const mica_value *values,
                         uint32_t value_count);

#endif
