/* How rows begin and end: what creating one and many, cloning, destroying and the flush share. */
#ifndef MICAP_CORE_ENTITY_LIFE_H
#define MICAP_CORE_ENTITY_LIFE_H

#include "core/world/world.h"

/* Destroys the entity of a row; its hooks are run by the caller, or with the second. */
void micap_destroy_row(mica_world *world, micap_spot spot);
void micap_destroy_row_with_hooks(mica_world *world, micap_spot spot);

/* Destroys the rows that depend on an entity; what is only recorded is left to its buffer. Returns how many. The second
 * destroys the entity too, which must be a row. */
uint32_t micap_destroy_dependents(mica_world *world, mica_entity entity);
uint32_t micap_destroy_with_dependents(mica_world *world, mica_entity entity);

/* Adding and removing at once, with whatever there is to see to. */
MICAP_COLD void *micap_add_any(mica_world *world, mica_entity entity, mica_component component);
MICAP_COLD bool micap_remove_any(mica_world *world, mica_entity entity, mica_component component);

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

#endif
