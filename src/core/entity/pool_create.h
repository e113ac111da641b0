/* Creating rows in pools, one or many at once. */
#ifndef MICAP_CORE_ENTITY_POOL_CREATE_H
#define MICAP_CORE_ENTITY_POOL_CREATE_H

#include "core/entity/create_rows.h"

/* Adds an instance with a copy of what `from` points to, or the default. Returns its row, or MICAP_ROW_NONE with a report:
 * nothing has changed then. */
uint32_t micap_pooled_add_row(mica_world *world, mica_pool *pool, mica_entity entity, const void *from);
/* Adds the rows of new entities to the pools of the values that are kept in pools; entity k gets element k % period. Runs no hooks.
 * False with a report if a value can't be created: nothing has been added then. */
bool micap_pooled_create(mica_world *world, const micap_creation *what, const mica_entity *entities, uint32_t count);
/* Runs the add and set hooks of those rows. */
void micap_pooled_created(mica_world *world, const mica_value *values, uint32_t value_count,
                          const mica_entity *entities, uint32_t count);
/* Removes those rows again, the last one first, without hooks. */
void micap_pooled_take_back(mica_world *world, const micap_creation *what, mica_entity entity);

#endif
