/* A loop over the rows of a component: its entities, their instances, or a singleton. */
#ifndef MICAP_SQL_ROW_SCAN_H
#define MICAP_SQL_ROW_SCAN_H

#include "sql/entity_scan.h"

typedef struct micap_sql_rows {
    const micap_sql_table *table;
    micap_sql_scan scan;
    const char *values;    /* the column of the view */
    const char **leaves;   /* arrays of a split component, by column of the table, looked up on first use */
    uint64_t view_number;  /* the view of `values` and `leaves` */
    const mica_pool *pool; /* if an entity may have several instances */
    mica_instance instance;
    uint32_t ordinal; /* position among the instances of the entity */
    bool has_singleton;
} micap_sql_rows;

void micap_sql_rows_init(micap_sql_rows *rows, const micap_sql_table *table);
void micap_sql_rows_end(micap_sql_rows *rows);
/* Starts with the first row of all, or of an entity: nil for all. Returns an SQLite result. */
int micap_sql_rows_begin(micap_sql_rows *rows, bool is_all, mica_entity entity);
/* The same with the entities of the scan, which is a list. */
int micap_sql_rows_begin_listed(micap_sql_rows *rows);
/* Returns an SQLite result: SQLITE_ABORT if the program changed the structure of the world. */
int micap_sql_rows_next(micap_sql_rows *rows);
bool micap_sql_rows_at_end(const micap_sql_rows *rows);
bool micap_sql_rows_is_invalid(const micap_sql_rows *rows);
/* Returns the entity of the row; nil for a singleton. */
mica_entity micap_sql_rows_entity(const micap_sql_rows *rows);
/* Returns the bytes of a field; NULL if another statement deleted the row. `number` is that of the column if the component is split. */
const char *micap_sql_rows_field(micap_sql_rows *rows, const micap_sql_column *column, uint32_t number);
mica_instance micap_sql_instance_at(const mica_pool *pool, mica_entity entity, uint32_t ordinal);
/* Sets the error text for rows that are invalid. Returns SQLITE_ABORT. */
int micap_sql_fail_invalid(sqlite3_vtab *vtab);

#endif
