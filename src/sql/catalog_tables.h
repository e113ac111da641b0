/* The tables `components` and `fields`. */
#ifndef MICAP_SQL_CATALOG_TABLES_H
#define MICAP_SQL_CATALOG_TABLES_H

#include "sql/session.h"

extern const sqlite3_module micap_sql_catalog_module;

#endif
