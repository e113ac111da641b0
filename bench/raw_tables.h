/* Archetypes by hand: a fixed set of tables with columns of floats, entities that move from one to another, swap-remove. */
#ifndef BENCH_RAW_TABLES_H
#define BENCH_RAW_TABLES_H

#include "raw.h"

enum { TABLE_COLUMNS_MAX = 32, TABLES_MAX = 256 };

typedef struct raw_table {
    uint32_t mask; /* one bit per column that the table has */
    uint32_t count;
    uint32_t capacity;
    float *column[TABLE_COLUMNS_MAX];
    uint32_t *owner; /* slots */
} raw_table;

typedef struct raw_place {
    uint32_t generation;
    uint32_t table;
    uint32_t row; /* of a free slot: the next free one */
} raw_place;

typedef struct raw_tables {
    raw_table tables[TABLES_MAX];
    uint32_t table_count;
    uint32_t column_count;
    uint32_t floats[TABLE_COLUMNS_MAX]; /* per value of a column */
    raw_place *slots;
    uint32_t slot_count;
    uint32_t slot_capacity;
    uint32_t first_free;
} raw_tables;

void raw_tables_free(raw_tables *tables);

/* Creates an entity in a table; its values are zero. */
raw_id raw_tables_create(raw_tables *tables, uint32_t table);
bool raw_tables_destroy(raw_tables *tables, raw_id id);

/* Moves an entity to another table. Values of columns that only the new table has are zero. */
bool raw_tables_move(raw_tables *tables, raw_id id, uint32_t table);

/* Returns a value of an entity, which has the column. */
float *raw_tables_get(const raw_tables *tables, raw_id id, uint32_t column);

#endif
