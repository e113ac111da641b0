/* The columns of the tables of components and lists. */
#ifndef MICAP_SQL_COLUMN_H
#define MICAP_SQL_COLUMN_H

#include "sql/session.h"

/* Fills in the columns of a table. Returns false if memory is short. */
bool micap_sql_columns_make(micap_sql_table *table);
void micap_sql_columns_free(micap_sql_table *table);
/* Whether a column is a list, which has a table of its own. */
bool micap_sql_is_list(const micap_sql_column *column);
/* Returns the text for sqlite3_declare_vtab; free it with sqlite3_free. NULL if memory is short. */
char *micap_sql_declaration(const micap_sql_table *table);

#endif
