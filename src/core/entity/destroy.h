/* Destroying entities: one row, or a row with everything that depends on it. */
#ifndef MICAP_CORE_ENTITY_DESTROY_H
#define MICAP_CORE_ENTITY_DESTROY_H

#include "core/storage/names.h"
#include "core/storage/rows.h"
#include "core/world/module.h"

/* Frees the handle of a living or pending entity, and its name. */
static inline void micap_entity_forget(mica_world *world, mica_entity entity)
{
    micap_entity_give(&world->entities, entity);
    if (MICAP_UNLIKELY(micap_is_attached(&world->attachments, entity.index))) {
        micap_name_forget(world, entity);
        micap_detach(world, entity.index);
    }
}

/* The same for entities of a list, in its order. */
void micap_entities_forget(mica_world *world, const mica_entity *entities, uint32_t count);

/* The same for one whose creation was recorded and is given up. */
static inline void micap_entity_forget_pending(mica_world *world, mica_entity entity)
{
    micap_modules_forgotten(world, entity);
    micap_entity_forget(world, entity);
}

/* Destroys the entity of a row; its hooks are run by the caller, or with the second. */
void micap_destroy_row(mica_world *world, micap_row spot);
void micap_destroy_row_with_hooks(mica_world *world, micap_row spot);

/* Destroys the rows that depend on an entity; what is only recorded is left to its buffer. Returns how many. The second
 * destroys the entity too, which must be a row. */
uint32_t micap_destroy_dependents(mica_world *world, mica_entity entity);
uint32_t micap_destroy_with_dependents(mica_world *world, mica_entity entity);

/* The second by the fast path if nothing depends on the entity, whose row is given. */
uint32_t micap_destroy_living(mica_world *world, mica_entity entity, micap_row spot);

#endif
