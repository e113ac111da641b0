/* An ordered set of entities: what is reached along edges, each once, in the order in which it was found. */
#ifndef MICAP_CORE_QUERY_ENTITY_SET_H
#define MICAP_CORE_QUERY_ENTITY_SET_H

#include "base/memory.h"
#include "pool/pool_edges.h"

typedef struct micap_entity_set {
    mica_entity *entities;
    uint32_t *slots; /* by index: position in the order + 1; 0 is empty. Twice as many as there is room for entities */
    uint32_t count;
    uint32_t capacity;
    uint32_t slot_capacity;
} micap_entity_set;

/* Empties the set and keeps its memory. */
void micap_entity_set_clear(micap_entity_set *set);
void micap_entity_set_free(micap_memory *memory, micap_entity_set *set);

/* Adds an entity that is not in the set yet; false if memory is short. */
bool micap_entity_set_add(micap_memory *memory, micap_entity_set *set, mica_entity entity);

static inline bool micap_entity_set_has(const micap_entity_set *set, mica_entity entity)
{
    uint32_t mask = set->slot_capacity - 1, slot = entity.index * 0x9e3779b9u & mask;
    if (!set->count)
        return false;
    while (set->slots[slot] && !mica_same(set->entities[set->slots[slot] - 1], entity))
        slot = (slot + 1) & mask;
    return set->slots[slot] != 0;
}

/* Fills the set with what edges lead to from an entity, or, backward, what they lead from to it: the nearest first. The entity itself is in
 * it if a circle leads back. Of a symmetric relation both directions are the same. False if memory is short. */
bool micap_entity_set_reach(micap_entity_set *set, const mica_pool *pool, mica_entity from, bool is_backward);

#endif
