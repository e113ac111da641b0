/* Tables of SQLite over a world. SQLite asks for rows and values one by one: a cursor is a loop over a query, and a value is
 * converted when SQLite asks for it.
 *
 *     session.c           the tables of a world, and their lifetime
 *     column.c            the columns of a component, from its description
 *     value_read.c        a field as an SQL value; value_text.c: enums, flags and lists as text
 *     value_write.c       an SQL value into a field
 *     entity_scan.c       a loop over entities: a query, or a list of handles
 *     row_scan.c          a loop over the rows of a component: entities, instances, or a singleton
 *     index_plan.c        which rows of a component a statement visits: by entity, target or index
 *     component_table.c   the table of a component; component_write.c: INSERT, UPDATE and DELETE
 *     list_table.c        the table of a list; list_write.c: INSERT, UPDATE and DELETE
 *     component_copy.c    the copy of a component that is changed before it is written
 *     entities_table.c    the table `entities`
 *     catalog_tables.c    the tables `components` and `fields`
 *     transaction.c       snapshots for ROLLBACK */
#ifndef MICAP_SQL_SESSION_H
#define MICAP_SQL_SESSION_H

#include "mica/component.h"
#include "mica/pool.h"
#include "mica/snapshot.h"
#include "mica/sql.h"

#include <sqlite3.h>

enum {
    MICAP_SQL_LIST_MIN = 17, /* arrays with at least this many elements are one column */
    MICAP_SQL_COLUMNS_MAX = 1000,
};

/* The snapshot of a savepoint; number -1 is the transaction. */
typedef struct micap_sql_mark {
    int savepoint;
    mica_snapshot snapshot;
} micap_sql_mark;

/* The tables of one call of mica_sql_attach. The last table that is destroyed frees the session. */
typedef struct micap_sql_session {
    mica_world *world;
    sqlite3 *database;
    char *prefix;
    bool read_only;
    uint32_t table_count;
    struct micap_sql_table **tables;
    struct micap_sql_scan *scans; /* open scans, a linked list */
    micap_sql_mark *marks;        /* oldest first */
    uint32_t mark_count;
    uint32_t mark_capacity;
} micap_sql_session;

typedef enum micap_sql_form {
    MICAP_SQL_SCALAR = 0,
    MICAP_SQL_TEXT,    /* an array of char */
    MICAP_SQL_LIST,    /* a long array: JSON */
    MICAP_SQL_DYNAMIC, /* a mica_text as text, or a mica_list as JSON; one value, as a scalar is */
} micap_sql_form;

/* A field, or an element of an array. */
typedef struct micap_sql_column {
    char *name;
    const mica_field *field; /* kind, type and count of the leaf */
    uint32_t offset;         /* in the value */
    uint32_t leaf;           /* split components: offset of the array in the value */
    uint32_t leaf_bytes;     /* split components: distance of elements */
    micap_sql_form form;
} micap_sql_column;

typedef enum micap_sql_kind {
    MICAP_SQL_COMPONENT = 0,
    MICAP_SQL_ELEMENTS, /* of a list */
    MICAP_SQL_ENTITIES,
    MICAP_SQL_COMPONENTS,
    MICAP_SQL_FIELDS,
} micap_sql_kind;

typedef struct micap_sql_table {
    micap_sql_session *session;
    micap_sql_kind kind;
    char *name;
    bool is_registered; /* SQLite destroys it */
    /* For tables of components and lists: */
    mica_component component;
    const mica_type *type;
    micap_sql_column *columns;
    uint32_t column_count;
    uint32_t column_capacity;
    /* Numbers of the columns before the fields; -1 if there is none. */
    int entity_column;
    int instance_column;
    int enabled_column;
    int position_column;
    int first_field;
    /* For tables of lists: */
    micap_sql_column list; /* the field of the component, without a name */
    mica_field element;    /* of a list of values that are no structs */
    char *key_name;        /* of the hidden column after the fields */
    /* If an entity may have several instances: the generation of each slot whose row id was read, because the row id has no
     * room for it. */
    uint32_t *generations;
    uint32_t generation_count;
} micap_sql_table;

typedef struct micap_sql_vtab {
    sqlite3_vtab base;
    micap_sql_table *table;
} micap_sql_vtab;

/* Sets the error text of a table, formatted as by sqlite3_mprintf. Returns `code`. */
int micap_sql_fail(sqlite3_vtab *vtab, int code, const char *format, ...);
/* Sets the error text from the last error of the world. Returns the SQLite code. */
int micap_sql_fail_world(sqlite3_vtab *vtab, const char *what);
int micap_sql_connect(sqlite3 *database, micap_sql_table *table, const char *declaration, sqlite3_vtab **out_vtab);
int micap_sql_disconnect(sqlite3_vtab *vtab);
bool micap_sql_is_tag(const mica_type *type);

/* Members of sqlite3_module: the functions that every table file defines under these names, except for xConnect, and transactions for tables
 * that can be written. */
#define MICAP_SQL_READING                                                                                              \
    .xBestIndex = best_index, .xDisconnect = micap_sql_disconnect,                          \
    .xDestroy = micap_sql_disconnect, .xOpen = open_cursor, .xClose = close_cursor, .xFilter = filter, .xNext = next,   \
    .xEof = at_end, .xColumn = column, .xRowid = row_of
#define MICAP_SQL_WRITING                                                                                              \
    .iVersion = 2, .xBegin = micap_sql_begin, .xCommit = micap_sql_commit, .xRollback = micap_sql_rollback,            \
    .xSavepoint = micap_sql_savepoint, .xRelease = micap_sql_release, .xRollbackTo = micap_sql_rollback_to

#endif
