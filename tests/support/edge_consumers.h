/* Relations between entities of a random world, and what reads them: edges, partitions by target and queries along edges. */
#ifndef SUPPORT_EDGE_CONSUMERS_H
#define SUPPORT_EDGE_CONSUMERS_H

#include "support/digest.h"
#include "support/random.h"

#include "mica/relation.h"

/* Defines the relations in a world. */
void define_edges(mica_world *world);

/* Relates or unrelates some of the entities, which may be dead. */
void relate_some(mica_world *world, random_source *random, const mica_entity *entities, uint32_t count);

/* All edges in their order. */
digest observe_edges(void *state, mica_world *world);
digest observe_partitions(void *state, mica_world *world);

/* Queries of samples along edges, of ancestors, and of values. */
void *open_query_along_edges(mica_world *world);
void *open_query_of_ancestors(mica_world *world);
void *open_query_with_condition(mica_world *world);

#endif
