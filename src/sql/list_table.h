/* The table of a list: one row per element of the list in each row of the component. */
#ifndef MICAP_SQL_LIST_TABLE_H
#define MICAP_SQL_LIST_TABLE_H

#include "sql/session.h"

extern const sqlite3_module micap_sql_list_module;
extern const sqlite3_module micap_sql_list_reader; /* read-only */

/* The place of an element. It does not fit into a row id, so the tables have none: their key is a hidden column. Later elements have
 * lower keys, because SQLite deletes rows by rising key and a removal moves the elements after it. */
typedef struct micap_sql_place {
    mica_entity entity;
    uint32_t ordinal; /* of the instance */
    uint32_t position;
} micap_sql_place;

enum { MICAP_SQL_KEY_BYTES = 16 };
void micap_sql_key_write(micap_sql_place place, unsigned char key[MICAP_SQL_KEY_BYTES]);
micap_sql_place micap_sql_key_read(const unsigned char key[MICAP_SQL_KEY_BYTES]);

#endif
