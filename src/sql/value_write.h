/* SQL values into fields. Values that do not fit are rejected, never truncated. */
#ifndef MICAP_SQL_VALUE_WRITE_H
#define MICAP_SQL_VALUE_WRITE_H

#include "sql/session.h"

/* Writes a value into a field, by the rules of mica_value_assign. Returns false and an error text, to be freed with sqlite3_free, if the
 * value does not fit or is outside its range. The text is unchanged if memory is short. */
bool micap_sql_store(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem);

#endif
