/* The cells in which a rank has entities, which rank owns them, and which ranks need copies of what is in them. With keys instead of a
 * grid, a cell is a key, and no rank needs copies. */
#ifndef MICAP_CLUSTER_CELL_TABLE_H
#define MICAP_CLUSTER_CELL_TABLE_H

#include "base/memory.h"
#include "cluster/cell_space.h"

#define MICAP_NO_CELL UINT32_MAX

typedef struct micap_table_cell {
    uint64_t number; /* of the cell, or its key */
    uint64_t key;
    micap_cell cell;
    uint32_t owner;
    uint32_t needed_first; /* ranks other than this one that need copies */
    uint32_t needed_count;
    uint32_t position; /* in the order of the neighbour table */
} micap_table_cell;

/* Of a hash table with open addressing. Four cells side by side share a cache line: a search looks up all cells around one. */
typedef struct micap_cell_slot {
    uint64_t number;
    uint32_t cell; /* 1 + its index; 0: the slot is empty */
} micap_cell_slot;

typedef struct micap_cell_table {
    micap_memory *memory;
    const micap_cell_space *space; /* NULL: keys */
    double reach;
    uint32_t rank, rank_count;
    uint64_t *first_keys; /* by rank: the first key that it owns; that of rank 0 is 0 */
    micap_table_cell *cells;
    uint32_t cell_count, cell_capacity;
    micap_cell_slot *slots;
    uint32_t slot_capacity;
    uint32_t *needed; /* lists of ranks */
    uint32_t needed_count, needed_capacity;
} micap_cell_table;

bool micap_cell_table_init(micap_cell_table *table, micap_memory *memory, const micap_cell_space *space, double reach,
                           uint32_t rank, uint32_t rank_count);
void micap_cell_table_free(micap_cell_table *table);

/* Forgets all cells: when ranges changed, and before there are many that nothing is in any more. */
void micap_cell_table_clear(micap_cell_table *table);

/* The rank that owns a key. */
uint32_t micap_cell_table_owner(const micap_cell_table *table, uint64_t key);

/* The index of a cell, which is added if it is new; MICAP_NO_CELL if memory is short. */
uint32_t micap_cell_table_require(micap_cell_table *table, uint64_t number, micap_cell cell);

/* The same without adding it; MICAP_NO_CELL if it is not there. */
uint32_t micap_cell_table_find(const micap_cell_table *table, uint64_t number);

#endif
