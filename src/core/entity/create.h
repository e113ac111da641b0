/* Creating one entity; the public functions are in mica/entity.h. See create_rows.h. */
#ifndef MICAP_CORE_ENTITY_CREATE_H
#define MICAP_CORE_ENTITY_CREATE_H

#include "core/world/world.h"

/* As mica_create_id, for a copy: without required components that are not given. */
mica_entity micap_create_exactly(mica_world *world, const mica_value *values, uint32_t count);

#endif
