/* Mica, sql: the world as tables of SQLite.
 *
 *     sqlite3 *database = mica_sql_open(world, NULL);        or mica_sql_attach, to a connection of your own
 *     sqlite3_exec(database, "update Health set current = maximum "
 *                            "where entity in (select entity from Position where x between 0 and 10)", NULL, NULL, NULL);
 *     sqlite3_close(database);                               before the world is destroyed
 *
 * Nothing is copied: a table reads the columns of a query, chunk by chunk, and `entity = ?` is a look-up, so that a join on
 * entity costs one look-up per row.
 *
 * Tables. Each component that the world knows is one, with a row per entity (per instance, of a pool for many; one row without an
 * entity, of a singleton that is in use). `entities` has every entity: entity, slot, generation, name, path, parent, child_count,
 * component_count, components. `components` and `fields` say what there is: select * from fields where component = 'Monster'.
 *
 * Columns. `entity`, the handle as an integer; `instance`, from 0, of a pool for many; `enabled` of what can be toggled; then the
 * described fields: x, "home.x", "path[0].y". An array of more than 16 elements is one column of JSON, which can't be written.
 * A name that is taken, in capitals or not, gets '_' behind it: a field named entity is entity_, a component named Entities
 * Entities_. A table has at most 1000 columns; further fields are left out.
 *
 *     bool, integers      INTEGER; bool is 0 or 1. u64 is taken for signed: what is above 2^63 - 1 is negative
 *     f32, f64            REAL; not a number is NULL, both ways
 *     char[]              TEXT, up to the first zero byte
 *     enum                the name, or an integer for a value without one; both can be written
 *     flags               names with '|' between them, '' for none; an integer where bits have no name; both can be written
 *     mica_entity         INTEGER; nil is NULL, both ways. A mica_asset likewise, by its hash
 *
 * Writing. UPDATE is mica_set, with its hooks and stamps (of instances and singletons: a write in place, without set hooks). INSERT adds the
 * component to an entity, and creates one where entity is NULL or left out (sqlite3_last_insert_rowid is its handle, except for
 * instances); columns that are left out or NULL have the default value. INSERT OR REPLACE overwrites. DELETE removes the
 * component. In `entities`, name and parent can be written, INSERT creates and DELETE destroys.
 * A value that does not fit (a name no enum has, a number out of range, text that is too long, a dead entity) is an error of the
 * statement. A statement is done as a whole or not at all, and so is a transaction: ROLLBACK and ROLLBACK TO restore a
 * mica_snapshot that was taken with the first write. (But for UPDATE ... FROM inside a transaction: SQLite has no savepoint for it,
 * and what it wrote before a row was refused stays until the transaction ends.) So writing is refused where a snapshot is: inside systems, hooks and loops that
 * record, and in a world with a component that has a destructor and no copy function. Hooks hear of what is done, not of it
 * being undone; what the program did itself since that first write is undone too.
 *
 * While a statement is being stepped through, other statements of this connection may write: it goes on with the entities it had
 * yet to show, without those that are gone. When the program itself changes structure meanwhile, the statement ends with an error.
 *
 * Errors are SQLite's, with a text; what the world refuses is reported by the world as well. Memory is SQLite's.
 * In the library mica_sql (CMake: mica::sql), which needs sqlite3; the core does not.
 */
#ifndef MICA_SQL_H
#define MICA_SQL_H

#include "mica/handle.h"

MICA_BEGIN

struct sqlite3; /* SQLite's connection: include <sqlite3.h> to use it */

/* How to show a world. Zero is the default of everything. */
typedef struct mica_sql_def {
    const char
        *prefix;    /* before the name of each table, "left_" say, for several worlds in one connection; NULL is "" */
    bool read_only; /* refuse what writes */
} mica_sql_def;

/* Makes the tables of a world known to a connection; NULL means the defaults. Tables of the database with the same name hide them. Components
 * that are defined later have no table until this is called again, while no statement runs. Returns MICA_ERROR_MEMORY, or
 * MICA_ERROR_REFUSED with a report when SQLite does not take a table. The world must live until the connection is closed. Threads: owner, as
 * everything that is done with the connection from then on. */
MICA_API mica_result mica_sql_attach(struct sqlite3 *database, mica_world *world, const mica_sql_def *def);

/* Opens a connection to an empty database in memory and makes the tables of a world known to it. NULL with a report when it
 * can't. Give it back with sqlite3_close. Threads: owner. */
MICA_API struct sqlite3 *mica_sql_open(mica_world *world, const mica_sql_def *def);

/* Returns the integer that stands for an entity in SQL; 0 for nil, which tables show as NULL. Threads: any. */
static inline int64_t mica_sql_from_entity(mica_entity entity)
{
    return (int64_t)((uint64_t)entity.generation << 32 | entity.index);
}

/* Returns the entity that an integer stands for. Threads: any. */
static inline mica_entity mica_sql_to_entity(int64_t integer)
{
    mica_entity entity = {(uint32_t)(uint64_t)integer, (uint32_t)((uint64_t)integer >> 32)};
    return entity;
}

MICA_END
#endif
