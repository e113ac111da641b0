/* The entity of a world that has an identity: the entity itself, or a stand-in, which has its identity and the tag mica_remote and nothing else.
 * A stand-in becomes the entity when that arrives, and an entity becomes a stand-in when it leaves, so that handles stay valid. */
#ifndef MICAP_CLUSTER_IDENTITY_MAP_H
#define MICAP_CLUSTER_IDENTITY_MAP_H

#include "base/memory.h"
#include "mica/cluster.h"

typedef struct micap_identity_slot {
    uint64_t identity; /* 0: empty */
    mica_entity entity;
} micap_identity_slot;

typedef struct micap_identity_map {
    micap_memory *memory;
    mica_world *world;
    micap_identity_slot *slots; /* open addressing */
    uint32_t slot_capacity, count;
    bool is_built;     /* it has all entities of the world */
    uint64_t *created; /* identities of the stand-ins that were created since the list was emptied */
    uint32_t created_count, created_capacity;
} micap_identity_map;

void micap_identity_map_free(micap_identity_map *map);

/* Lets the next search list the entities of the world again. */
void micap_identity_map_forget(micap_identity_map *map);

/* Nil if there is none that is alive, or if memory is short. */
mica_entity micap_identity_map_find(micap_identity_map *map, uint64_t identity);

/* The same, but creates a stand-in. Nil if memory is short. */
mica_entity micap_identity_map_require(micap_identity_map *map, uint64_t identity);

/* Remembers an entity. False if memory is short. */
bool micap_identity_map_note(micap_identity_map *map, uint64_t identity, mica_entity entity);

#endif
