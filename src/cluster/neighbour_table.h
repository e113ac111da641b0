/* What mica_cluster_around and mica_cluster_read show: the shared entities of this rank and those of others within reach, as they were when
 * the table was built. Rows are sorted by the number of their cell, so that cells that are next to each other on the first axis are in memory
 * too, and within a cell by identity. Their order does not depend on ranks. */
#ifndef MICAP_CLUSTER_NEIGHBOUR_TABLE_H
#define MICAP_CLUSTER_NEIGHBOUR_TABLE_H

#include "base/byte_stream.h"
#include "cluster/cell_table.h"

enum { MICAP_GHOSTS_MAX = 30 };
#define MICAP_NO_ROW UINT32_MAX

typedef struct micap_neighbour_row {
    uint64_t identity;
    double at[3];
    mica_entity entity; /* nil: on another rank */
    uint32_t rank;
    uint32_t cell; /* index in the cell table */
} micap_neighbour_row;

/* The components that are copied, one after another, after a word that says which of them a row has. */
typedef struct micap_ghost_layout {
    mica_component components[MICAP_GHOSTS_MAX];
    uint32_t offsets[MICAP_GHOSTS_MAX];
    uint32_t sizes[MICAP_GHOSTS_MAX];
    uint64_t rich; /* a bit for each that has text or lists, which its rows own */
    uint32_t count;
    uint32_t row_bytes;
} micap_ghost_layout;

/* What a search reads of a row: two of them share a cache line. */
typedef struct micap_near_row {
    double at[3];
    uint64_t identity;
} micap_near_row;

/* The rest of it. */
typedef struct micap_row_origin {
    mica_entity entity;
    uint32_t rank;
    uint32_t cell;
} micap_row_origin;

/* Where an entity is in the table, so that a search begins without reading more. */
typedef struct micap_row_place {
    uint32_t row;
    uint32_t position; /* of its cell in the order */
    uint32_t generation;
    uint32_t build; /* of the table to which this belongs */
} micap_row_place;

typedef struct micap_numbered_cell {
    uint64_t number;
    uint32_t cell; /* its index */
    uint32_t row_first;
    uint32_t row_count;
    uint32_t run_first; /* what is within reach of the cell: consecutive rows */
    uint32_t run_count;
} micap_numbered_cell;

typedef struct micap_row_run {
    uint32_t begin, end;
} micap_row_run;

typedef struct micap_neighbour_table {
    micap_memory *memory;
    const micap_cell_space *space;
    micap_ghost_layout layout;
    micap_neighbour_row *added; /* in the order in which they were added */
    char *added_values;         /* row_bytes each */
    uint32_t added_count, added_capacity, added_value_capacity;
    uint32_t added_rich_count; /* rows among these that own text and lists: not those that were sorted */
    micap_near_row *rows;      /* by cell and identity */
    micap_row_origin *origins;
    char *values;
    uint32_t count, row_capacity, origin_capacity, value_capacity;
    micap_numbered_cell *order; /* the cells by number */
    uint32_t order_count, order_capacity;
    uint32_t ghost_count;
    micap_row_place *places; /* by the index of an entity of this rank */
    uint32_t place_capacity;
    uint32_t build;      /* counts how often the table was built */
    micap_row_run *runs; /* of cells of this rank, if a few cells are within reach */
    uint32_t run_count, run_capacity;
    uint32_t *slots; /* by identity, built on demand: 1 + a row */
    uint32_t slot_capacity;
    bool has_slots;
} micap_neighbour_table;

void micap_neighbour_table_free(micap_neighbour_table *table);
void micap_neighbour_table_begin(micap_neighbour_table *table);

/* Adds a row; returns its values for the caller to fill, or NULL if memory is short. */
char *micap_neighbour_table_add(micap_neighbour_table *table, const micap_neighbour_row *row);

/* Sorts what was added. False if memory is short: then the table is empty. */
bool micap_neighbour_table_end(micap_neighbour_table *table, micap_cell_table *cells);

/* The identity of an entity of this rank; 0 if it has no row. Systems need not declare that they read it, as the table does not change. */
uint64_t micap_neighbour_table_identity(const micap_neighbour_table *table, mica_entity entity);

/* The row of an identity. False if memory is short. */
bool micap_neighbour_table_find(micap_neighbour_table *table, uint64_t identity, uint32_t *out_row);

/* The rows within a radius of an entity of this rank, apart from itself; none if it has no row. */
uint32_t micap_neighbour_table_search(const micap_neighbour_table *table, const micap_cell_table *cells,
                                      mica_entity entity, double radius, mica_cluster_neighbour *out,
                                      uint32_t capacity);

#endif
