/* Pools with several instances per entity. A delta has the rows of such a pool and, by row, which instance of the same entity is the next
 * one. An instance that stays in its row is the same one as before, so that values which were not sent again are kept. */
#ifndef MICAP_REPLICATION_REPLICA_INSTANCES_H
#define MICAP_REPLICATION_REPLICA_INSTANCES_H

#include "replication/replica.h"

/* After the rows were laid: checks how they are linked, and makes room for all that is new. */
mica_result micap_instances_plan(micap_delta_work *work, micap_delta_table *table);

/* Adds, removes and orders instances, and finds table->places. */
void micap_instances_arrange(micap_delta_work *work, const micap_delta_table *table);

/* Adds an instance with the default value, for which there is room; returns its row. */
uint32_t micap_instances_add(micap_delta_work *work, mica_pool *pool, mica_entity entity);

#endif
