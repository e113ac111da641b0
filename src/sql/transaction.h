/* Transactions and savepoints. */
#ifndef MICAP_SQL_TRANSACTION_H
#define MICAP_SQL_TRANSACTION_H

#include "sql/session.h"

int micap_sql_begin(sqlite3_vtab *vtab);
int micap_sql_commit(sqlite3_vtab *vtab);
int micap_sql_rollback(sqlite3_vtab *vtab);
int micap_sql_savepoint(sqlite3_vtab *vtab, int savepoint);
int micap_sql_release(sqlite3_vtab *vtab, int savepoint);
int micap_sql_rollback_to(sqlite3_vtab *vtab, int savepoint);

#endif
