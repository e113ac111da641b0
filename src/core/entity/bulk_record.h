/* Changes of many entities while the world records: as single changes, in the order in which mica/bulk.h names the entities. */
#ifndef MICAP_CORE_ENTITY_BULK_RECORD_H
#define MICAP_CORE_ENTITY_BULK_RECORD_H

#include "mica/bulk.h"

/* Records all creations or none. */
mica_result micap_record_create_many(mica_world *world, uint32_t count, const mica_value *columns,
                                     uint32_t column_count, mica_entity *out_entities);

/* Record one change of each entity, except those that this buffer destroys. If memory runs out, the changes before stay recorded. */
mica_result micap_record_add_all(mica_world *world, const mica_entity *entities, uint32_t count, mica_value value);
mica_result micap_record_remove_all(mica_world *world, const mica_entity *entities, uint32_t count,
                                    mica_component component);
mica_result micap_record_destroy_all(mica_world *world, const mica_entity *entities, uint32_t count);

#endif
