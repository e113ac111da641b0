/* Mica, sql: the world as SQLite tables.
 *
 *     sqlite3 *database = mica_sql_open(world, NULL);        or mica_sql_attach, to your own connection
 *     sqlite3_exec(database, "update Health set current = maximum "
 *                            "where entity in (select entity from Position where x between 0 and 10)", NULL, NULL, NULL);
 *     sqlite3_close(database);                               before the world is destroyed
 *
 * Nothing is copied: a table reads the columns of a query, chunk by chunk. `entity = ?` is a direct look-up, so a join on entity
 * costs one look-up per row. In the table of a relation, `target = ?` is one too. Conditions =, <, <=, >, >= and BETWEEN on a field with
 * an index (mica/index.h), and joins on it, update the index and use it: EXPLAIN QUERY PLAN shows the column. They visit all rows instead for
 * components that can be toggled, while entities with the component are disabled, for names of constants, and for ranges of unsigned 64-bit
 * numbers.
 *
 * Tables. Each component of the world is a table with one row per entity; with one row per instance for .many components; with
 * one row for a singleton in use. `entities` has all entities: entity, slot, generation, name, path, parent, child_count,
 * component_count, components. `components` and `fields` describe the types: select * from fields where component = 'Monster'.
 *
 * Lists. A mica_list is a column of JSON, and a table of its own, named after the component and the field: Person_inventory has a row
 * per element, with entity, instance (of .many components), position from 0, and the fields of the element, or `value` if it is no struct.
 * Rows are in the order of the component's table. `entity = ?` and `position = ?` are look-ups. INSERT puts an element before `position`, or
 * at the end if it is NULL or omitted, and what is not given is zero; INSERT OR REPLACE overwrites the element at `position`; DELETE moves
 * the elements after it; `position` can't be changed. Lists inside elements are columns of JSON only. `fields` has the name of the table
 * of each list. Every element that is written copies its list once: to write many of a long list, write the column of JSON.
 *
 * Columns. `entity` is the handle as an integer; `instance` numbers the instances of .many components from 0; `enabled` exists for
 * components that can be toggled; then come the described fields: x, "home.x", "path[0].y". An array with more than 16 elements is
 * one read-only column of JSON. If a name is taken (ignoring case), '_' is appended: a field named entity becomes entity_, a
 * component named Entities becomes Entities_. Components choose before lists. A table has at most 1000 columns; further fields are omitted.
 *
 *     bool, integers      INTEGER; bool is 0 or 1. u64 is read as signed: values above 2^63 - 1 are negative
 *     f32, f64            REAL; NaN is NULL, in both directions
 *     char[]              TEXT, up to the first zero byte
 *     enum                the name, or an integer for a value without a name; both can be written
 *     flags               names separated by '|', '' for none; an integer if a bit has no name; both can be written
 *     mica_entity         INTEGER; nil is NULL, in both directions. mica_asset likewise, as its hash
 *     mica_text           TEXT
 *     mica_list           TEXT, a JSON array
 *
 * Writing. UPDATE is mica_set with its hooks and change stamps (for instances and singletons: a write in place, without set hooks).
 * INSERT adds the component to an entity, and creates the entity if `entity` is NULL or omitted (sqlite3_last_insert_rowid is its
 * handle, except for instances); omitted or NULL columns get the default value. INSERT OR REPLACE overwrites. DELETE removes the
 * component. In `entities`, name and parent can be written, INSERT creates and DELETE destroys.
 *
 * A value that does not fit (an unknown enum name, a number out of range, text that is too long, a stale entity) is an error of the
 * statement. Statements and transactions are atomic: ROLLBACK and ROLLBACK TO restore a mica_snapshot taken at the first write.
 * (Exception: UPDATE ... FROM inside a transaction. SQLite has no savepoint for it; rows it wrote before an error stay written until
 * the transaction ends.) So writing is rejected where a snapshot is: inside systems and hooks, while recording, and in a world
 * with a component that has a destructor and no copy function. Hooks run for changes, not for their rollback. A rollback also undoes
 * changes that the program made since the first write.
 *
 * While a statement is being stepped, other statements of the connection can write: it continues with the remaining entities that
 * still exist. If the program itself changes the structure meanwhile, the statement ends with an error.
 *
 * Errors are SQLite errors with a text; errors of the world are also reported by the world. SQLite allocates the memory.
 * In the library mica_sql (CMake: mica::sql), which needs sqlite3.
 */
#ifndef MICA_SQL_H
#define MICA_SQL_H

#include "mica/handle.h"

MICA_BEGIN

struct sqlite3; /* a SQLite connection: include <sqlite3.h> to use it */

/* Options. Zero is the default. */
typedef struct mica_sql_def {
    const char
        *prefix; /* prefix of all table names, such as "left_", for several worlds in one connection; NULL means "" */
    bool read_only; /* reject writing */
} mica_sql_def;

/* Adds the tables of a world to a connection. NULL means the defaults. Tables of the database with the same name hide them. Components
 * defined later get a table when this is called again, while no statement runs. Returns MICA_ERROR_MEMORY, or MICA_ERROR_REFUSED with
 * a report if SQLite rejects a table. The world must stay valid until the connection is closed.
 * Threads: owner, like everything done with the connection afterwards. */
MICA_API mica_result mica_sql_attach(struct sqlite3 *database, mica_world *world, const mica_sql_def *def);

/* Opens a connection to an empty database in memory and adds the tables of a world. Returns NULL with a report on error. Close it
 * with sqlite3_close. Threads: owner. */
MICA_API struct sqlite3 *mica_sql_open(mica_world *world, const mica_sql_def *def);

/* Returns the integer for an entity in SQL; 0 for nil, which tables show as NULL. Threads: any. */
static inline int64_t mica_sql_from_entity(mica_entity entity)
{
    return (int64_t)((uint64_t)entity.generation << 32 | entity.index);
}

/* Returns the entity for an integer. Threads: any. */
static inline mica_entity mica_sql_to_entity(int64_t integer)
{
    mica_entity entity = {(uint32_t)(uint64_t)integer, (uint32_t)((uint64_t)integer >> 32)};
    return entity;
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_sql_attach(...) MICA_AT_(mica_sql_attach(__VA_ARGS__))
#    define mica_sql_open(world, ...) mica_sql_open(MICA_AT_(world), __VA_ARGS__)
#endif
#endif
