/* INSERT, UPDATE and DELETE on the table of a component. */
#ifndef MICAP_SQL_COMPONENT_WRITE_H
#define MICAP_SQL_COMPONENT_WRITE_H

#include "sql/session.h"

int micap_sql_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *out_row);

#endif
