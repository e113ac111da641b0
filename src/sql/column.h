/* The columns of the tables of components and lists. */
#ifndef MICAP_SQL_COLUMN_H
#define MICAP_SQL_COLUMN_H

#include "sql/session.h"

/* Fills in the columns of a table. Returns false if memory is short. */
bool micap_sql_columns_make(micap_sql_table *table);
void micap_sql_columns_free(micap_sql_table *table);
/* Whether a column is a list, which has a table of its own. */
bool micap_sql_is_list(const micap_sql_column *column);
/* xConnect of a table with such columns. */
int micap_sql_connect_columns(sqlite3 *database, void *table, int count, const char *const *arguments,
                              sqlite3_vtab **out_vtab, char **out_error);

#endif
