/* A hash table from a value to the entity with the lowest handle that has it. Open addressing with linear probing; at most half of the slots
 * are in use, and removing an entry moves those after it, so that nothing remains of it. */
#ifndef MICAP_INDEX_KEY_TABLE_H
#define MICAP_INDEX_KEY_TABLE_H

#include "base/memory.h"
#include "mica/index.h"

/* A value and the entity that has it, both as words that sort as they do. No entity has the id 0. */
typedef mica_private_slot micap_key_entry;

static inline uint64_t micap_entity_to_id(mica_entity entity)
{
    return (uint64_t)entity.index << 32 | entity.generation;
}

static inline mica_entity micap_entity_from_id(uint64_t id)
{
    return (mica_entity){(uint32_t)(id >> 32), (uint32_t)id};
}

typedef struct micap_key_table {
    micap_key_entry *slots; /* id 0: empty */
    uint32_t mask;          /* the number of slots, less 1; 0: there are none */
    uint32_t shift;         /* 64 - log2 of their number */
    uint32_t count;
} micap_key_table;

/* Fibonacci hashing: the high bits of a product depend on all bits of the key. mica_private_find_by has the same. */
static inline uint32_t micap_key_slot(const micap_key_table *table, uint64_t key)
{
    return (uint32_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> table->shift);
}

/* The entity of a value; 0 if there is none. */
static inline uint64_t micap_key_table_find(const micap_key_table *table, uint64_t key)
{
    if (!table->mask)
        return 0;
    for (uint32_t slot = micap_key_slot(table, key);; slot = (slot + 1) & table->mask)
        if (table->slots[slot].key == key || !table->slots[slot].id)
            return table->slots[slot].id;
}

/* Makes room for so many values in all; false if memory is short. */
bool micap_key_table_reserve(micap_memory *memory, micap_key_table *table, uint32_t count);
/* Sets the entity of a value, for which there is room. */
void micap_key_table_set(micap_key_table *table, uint64_t key, uint64_t id);
/* Removes a value that is there. */
void micap_key_table_remove(micap_key_table *table, uint64_t key);
void micap_key_table_clear(micap_key_table *table);
void micap_key_table_free(micap_memory *memory, micap_key_table *table);

#endif
