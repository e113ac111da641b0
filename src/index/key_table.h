/* A hash table from a value to the entity with the lowest handle that has it. Open addressing with linear probing; at most half of the slots
 * are in use, and removing an entry moves those after it, so that nothing remains of it. A table of integers of at most 32 bits is
 * narrow: its slots have 12 bytes instead of 16, since finding is mostly waiting for memory, and inline functions of the public header read
 * them. */
#ifndef MICAP_INDEX_KEY_TABLE_H
#define MICAP_INDEX_KEY_TABLE_H

#include "base/memory.h"
#include "mica/index.h"

/* A value and the entity that has it, both as words that sort as they do. No entity has the id 0. */
typedef struct micap_key_entry {
    uint64_t key;
    uint64_t id; /* index << 32 | generation of the entity */
} micap_key_entry;

static inline uint64_t micap_entity_to_id(mica_entity entity)
{
    return (uint64_t)entity.index << 32 | entity.generation;
}

static inline mica_entity micap_entity_from_id(uint64_t id)
{
    return (mica_entity){(uint32_t)(id >> 32), (uint32_t)id};
}

typedef struct micap_key_table {
    bool is_narrow;            /* `narrow` has the slots; the high halves of keys follow from the low ones */
    micap_key_entry *wide;     /* id 0: empty */
    mica_private_slot *narrow; /* generation 0: empty */
    uint32_t mask;             /* the number of slots, less 1; 0: there are none */
    uint32_t shift;            /* 64 - log2 of their number */
    uint32_t count;
} micap_key_table;

/* The entity of a value; 0 if there is none. The key is that of a value that the field can have. */
uint64_t micap_key_table_find(const micap_key_table *table, uint64_t key);
/* Makes room for so many values in all; false if memory is short. */
bool micap_key_table_reserve(micap_memory *memory, micap_key_table *table, uint32_t count);
/* Sets the entity of a value, for which there is room. */
void micap_key_table_set(micap_key_table *table, uint64_t key, uint64_t id);
/* Removes a value that is there. */
void micap_key_table_remove(micap_key_table *table, uint64_t key);
void micap_key_table_clear(micap_key_table *table);
void micap_key_table_free(micap_memory *memory, micap_key_table *table);

#endif
