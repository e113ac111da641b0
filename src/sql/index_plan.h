/* Which rows of a component a statement visits: all, those of an entity, those of an edge's target, or those that an index of a field
 * finds. What is found this way may be more than the condition allows: SQLite compares each row itself. */
#ifndef MICAP_SQL_INDEX_PLAN_H
#define MICAP_SQL_INDEX_PLAN_H

#include "sql/row_scan.h"

/* Chooses the conditions of a statement that are looked up. Returns an SQLite result. */
int micap_sql_plan_choose(const micap_sql_table *table, sqlite3_index_info *info);

/* Starts with the first row of a plan, with the values of its conditions. Returns an SQLite result. */
int micap_sql_plan_begin(int plan, sqlite3_value **values, micap_sql_rows *rows);

#endif
