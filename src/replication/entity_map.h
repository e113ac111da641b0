/* Which entity here is which of the sender: a hash map from handles to handles, and where each is in the tables of the sender. */
#ifndef MICAP_REPLICATION_ENTITY_MAP_H
#define MICAP_REPLICATION_ENTITY_MAP_H

#include "mica/handle.h"
#include "mica/world.h"

/* An entity of the sender and the one here. */
typedef struct micap_twin {
    mica_entity key;   /* the sender's handle; nil: no entry */
    mica_entity other; /* the one here */
    uint32_t table;
    uint32_t row; /* of it */
    uint32_t mark;
    uint32_t instance; /* what replica_instances.c knows about it while it is marked */
} micap_twin;

/* Open addressing by the index of the key. */
typedef struct micap_entity_map {
    micap_twin *entries;
    uint32_t count;
    uint32_t capacity;
} micap_entity_map;

/* NULL when there is none. */
micap_twin *micap_entity_map_find(const micap_entity_map *twins, mica_entity key);
/* The one of an index, of whatever generation. */
micap_twin *micap_entity_map_at(const micap_entity_map *twins, uint32_t index);
bool micap_entity_map_reserve(mica_world *world, micap_entity_map *twins, uint32_t more);
/* After the reserve. */
void micap_entity_map_add(micap_entity_map *twins, const micap_twin *twin);
/* Removes a key, which must exist. */
void micap_entity_map_erase(micap_entity_map *twins, mica_entity key);

#endif
