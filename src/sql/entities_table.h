/* The table `entities`. */
#ifndef MICAP_SQL_ENTITIES_TABLE_H
#define MICAP_SQL_ENTITIES_TABLE_H

#include "sql/session.h"

extern const sqlite3_module micap_sql_entities_module;
extern const sqlite3_module micap_sql_entities_reader; /* read-only */

#endif
