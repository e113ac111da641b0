/* INSERT, UPDATE and DELETE on the table of a list. */
#ifndef MICAP_SQL_LIST_WRITE_H
#define MICAP_SQL_LIST_WRITE_H

#include "sql/session.h"

int micap_sql_list_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *out_row);

#endif
