/* The table of a component. */
#ifndef MICAP_SQL_COMPONENT_TABLE_H
#define MICAP_SQL_COMPONENT_TABLE_H

#include "sql/session.h"

extern const sqlite3_module micap_sql_component_module;
extern const sqlite3_module micap_sql_component_reader; /* read-only */

/* Returns the row id of an instance: its position among the instances of the entity, and the slot of the entity. Later
 * instances have lower ids, because SQLite deletes rows by rising id and a removal moves the instances after it. */
static inline sqlite3_int64 micap_sql_instance_row(mica_entity entity, uint32_t ordinal)
{
    return (sqlite3_int64)((uint64_t)(INT32_MAX - (int32_t)ordinal) << 32 | entity.index);
}

#endif
