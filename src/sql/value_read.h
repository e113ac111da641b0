/* Fields as SQL values. */
#ifndef MICAP_SQL_VALUE_READ_H
#define MICAP_SQL_VALUE_READ_H

#include "sql/session.h"

/* Sets the result of an SQLite call to the value of a field. */
void micap_sql_result(sqlite3_context *context, const micap_sql_column *column, const void *at);
void micap_sql_result_entity(sqlite3_context *context, mica_entity entity);
/* Returns the entity of a value; nil for NULL and for values that are not integers. */
mica_entity micap_sql_value_entity(sqlite3_value *value);

#endif
