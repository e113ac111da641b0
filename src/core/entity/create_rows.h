/* Creating rows: what mica_create, mica_create_many, mica_batch_begin, mica_clone and the flush share. */
#ifndef MICAP_CORE_ENTITY_CREATE_ROWS_H
#define MICAP_CORE_ENTITY_CREATE_ROWS_H

#include "core/storage/rows.h"

/* The archetype of a list of values in any order, with companions. NULL with a report: a component twice, a size that
 * disagrees, a singleton, memory. */
micap_archetype *micap_archetype_of_values(mica_world *world, const mica_value *values, uint32_t count);

/* Whether any of them is kept in a pool. */
bool micap_has_pooled(const mica_value *values, uint32_t count);

/* Fills the raw columns of `count` rows that lie in one chunk: from the values' data, element `first` on, or with
 * defaults. Companions too. False with a report when a value can't be made: all is raw again. */
bool micap_rows_fill(mica_world *world, micap_spot spot, uint32_t count, const mica_value *values, uint32_t value_count,
                     uint64_t first);

/* Makes rows exist that were filled: `count` of them in one chunk, with handles taken as they come. */
void micap_rows_commit_run(mica_world *world, micap_spot spot, uint32_t count);

/* Takes back the last rows of an archetype, which nobody has seen: what a value that can't be copied leaves behind. */
void micap_rows_undo(mica_world *world, micap_archetype *archetype, uint64_t count);

/* Runs the add and set hooks of rows that were just created from values. */
void micap_hooks_created(mica_world *world, micap_spot spot, uint32_t count, const mica_value *values,
                         uint32_t value_count);

#endif
