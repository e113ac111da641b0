/* Tables of SQLite over a world. SQLite asks for rows one by one and for values one by one; a cursor here is a loop over a query,
 * and a value is converted when it is asked for.
 *
 *     attach.c       which tables there are, and who owns them
 *     column.c       the columns of a component, from its description
 *     value.c        a field as a value of SQL (form.c: names and lists), and back (store.c)
 *     scan.c         walking entities: a query, or a list of handles
 *     component.c    the table of a component
 *     write.c        changing it
 *     entities.c     the table `entities`
 *     catalog.c      the tables `components` and `fields`
 *     transaction.c  snapshots for ROLLBACK
 */
#ifndef MICAP_SQL_SQL_H
#define MICAP_SQL_SQL_H

#include "mica/component.h"
#include "mica/pool.h"
#include "mica/snapshot.h"
#include "mica/sql.h"

#include <sqlite3.h>

enum {
    MICAP_SQL_LIST_MIN = 17, /* arrays with so many elements are one column */
    MICAP_SQL_COLUMNS_MAX = 1000,
};

/* A savepoint of SQLite, by its number; -1 is the transaction. */
typedef struct micap_sql_mark {
    int savepoint;
    mica_snapshot snapshot;
} micap_sql_mark;

/* What one call of mica_sql_attach made. Its tables share it, and the last that goes frees it. */
typedef struct micap_sql_session {
    mica_world *world;
    sqlite3 *database;
    char *prefix;
    bool read_only;
    uint32_t table_count; /* that refer to it */
    struct micap_sql_table **tables;
    struct micap_sql_scan *scans; /* those under way, linked */
    micap_sql_mark *marks;        /* the oldest first */
    uint32_t mark_count;
    uint32_t mark_capacity;
} micap_sql_session;

typedef enum micap_sql_form {
    MICAP_SQL_SCALAR = 0,
    MICAP_SQL_TEXT, /* an array of char */
    MICAP_SQL_LIST, /* a long array: JSON */
} micap_sql_form;

/* A described field, or an element of an array of them. */
typedef struct micap_sql_column {
    char *name;
    const mica_field *field; /* of the leaf: its kind, type and count */
    uint32_t offset;         /* in the value */
    uint32_t leaf;           /* of a split component: where the array it lies in begins in the value, */
    uint32_t leaf_bytes;     /* and how far its elements are apart */
    micap_sql_form form;
} micap_sql_column;

typedef enum micap_sql_kind {
    MICAP_SQL_COMPONENT = 0,
    MICAP_SQL_ENTITIES,
    MICAP_SQL_COMPONENTS,
    MICAP_SQL_FIELDS,
} micap_sql_kind;

typedef struct micap_sql_table {
    micap_sql_session *session;
    micap_sql_kind kind;
    char *name;
    bool is_registered; /* with SQLite, which destroys it */
    /* The rest is of components. */
    mica_component component;
    const mica_type *type;
    micap_sql_column *columns;
    uint32_t column_count;
    uint32_t column_capacity;
    /* Numbers of the columns before the fields, -1 where there is none. */
    int entity_column;
    int instance_column;
    int enabled_column;
    int first_field;
    /* Of a pool for many: the generation of each slot whose row was asked for, since a row has no room for it. */
    uint32_t *generations;
    uint32_t generation_count;
} micap_sql_table;

typedef struct micap_sql_vtab {
    sqlite3_vtab base;
    micap_sql_table *table;
} micap_sql_vtab;

/* attach.c */

/* An error of a table: the text is built with sqlite3_mprintf. Returns the code. */
int micap_sql_fail(sqlite3_vtab *vtab, int code, const char *format, ...);
/* The world has refused something. */
int micap_sql_fail_world(sqlite3_vtab *vtab, const char *what);
int micap_sql_connect(sqlite3 *database, micap_sql_table *table, const char *declaration, sqlite3_vtab **out_vtab);
int micap_sql_disconnect(sqlite3_vtab *vtab);
bool micap_sql_is_tag(const mica_type *type);

extern const sqlite3_module micap_sql_component_module;
extern const sqlite3_module micap_sql_component_reader;
extern const sqlite3_module micap_sql_entities_module;
extern const sqlite3_module micap_sql_entities_reader;
extern const sqlite3_module micap_sql_catalog_module;

/* column.c */

/* Fills in the columns of a table; false when memory is short. */
bool micap_sql_columns_make(micap_sql_table *table);
void micap_sql_columns_free(micap_sql_table *table);
/* Text for sqlite3_declare_vtab, to be freed; NULL when memory is short. */
char *micap_sql_declaration(const micap_sql_table *table);

/* value.c */

/* Gives a field to SQLite. */
void micap_sql_result(sqlite3_context *context, const micap_sql_column *column, const void *at);
void micap_sql_result_entity(sqlite3_context *context, mica_entity entity);
/* The entity that a value names: nil for NULL and for what is no integer. */
mica_entity micap_sql_value_entity(sqlite3_value *value);

/* form.c */

/* An enum or flags as text; false when there is no name for it, and `*out_integer` is what it is. To be freed. */
bool micap_sql_names_of(const mica_type *type, const void *at, char **out_text, int64_t *out_integer);
/* A whole array as JSON, to be freed; NULL when memory is short. */
char *micap_sql_list(const mica_field *field, const void *at);
int64_t micap_sql_load(const void *at, uint32_t bytes, bool is_signed);

/* store.c */

/* Writes a value into a field; false with a text, to be freed, that says why it does not fit. */
bool micap_sql_store(const micap_sql_column *column, sqlite3_value *value, void *at, char **out_problem);

/* scan.c: entities one after the other. */

typedef struct micap_sql_scan {
    micap_sql_session *session;
    mica_component component; /* what shown entities have; 0: any do */
    mica_query *queries[2];   /* the second for what is switched off */
    uint32_t query_count;
    uint32_t query_at;
    mica_view view;
    uint32_t row;           /* of the view */
    uint64_t view_number;   /* grows with each view */
    mica_version structure; /* the world's, when the loop began */
    mica_entity *list;      /* instead of the queries, once there is one */
    uint64_t list_count;
    uint64_t list_capacity;
    uint64_t list_at;
    bool is_list;
    bool is_linked;
    bool at_end;
    struct micap_sql_scan *next; /* of the session */
} micap_sql_scan;

/* How many entities a scan would show. */
uint64_t micap_sql_scan_estimate(mica_world *world, mica_component component);
/* Starts with the first; a result of SQLite. */
int micap_sql_scan_all(micap_sql_scan *scan);
/* Starts with an empty list, to be added to; entities that don't have the component are passed over. */
void micap_sql_scan_listed(micap_sql_scan *scan);
bool micap_sql_scan_add(micap_sql_scan *scan, mica_entity entity);
void micap_sql_scan_first_listed(micap_sql_scan *scan);
int micap_sql_scan_next(micap_sql_scan *scan);
void micap_sql_scan_end(micap_sql_scan *scan);
/* Whether the program has changed structure under the loop: nothing may be looked at then. */
bool micap_sql_scan_is_void(const micap_sql_scan *scan);
mica_entity micap_sql_scan_entity(const micap_sql_scan *scan);
/* All loops of the session go on with lists: structure is about to change. A result of SQLite. */
int micap_sql_scans_detach(micap_sql_session *session);

/* component.c */

/* The row of an instance is its place among those of its entity and the slot of the entity. Later instances have lower
 * numbers: SQLite deletes rows by rising number, and removing one moves those behind it. */
static inline sqlite3_int64 micap_sql_instance_row(mica_entity entity, uint32_t ordinal)
{
    return (sqlite3_int64)((uint64_t)(INT32_MAX - (int32_t)ordinal) << 32 | entity.index);
}
mica_instance micap_sql_instance_at(const mica_pool *pool, mica_entity entity, uint32_t ordinal);

/* write.c */
int micap_sql_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *out_row);

/* transaction.c */
int micap_sql_begin(sqlite3_vtab *vtab);
int micap_sql_commit(sqlite3_vtab *vtab);
int micap_sql_rollback(sqlite3_vtab *vtab);
int micap_sql_savepoint(sqlite3_vtab *vtab, int savepoint);
int micap_sql_release(sqlite3_vtab *vtab, int savepoint);
int micap_sql_rollback_to(sqlite3_vtab *vtab, int savepoint);

/* What a kind of table fills its module with: its own functions, by the names they have in each file, and the transactions of
 * those that can be written. */
#define MICAP_SQL_READING                                                                                              \
    .xConnect = connect_table, .xBestIndex = best_index, .xDisconnect = micap_sql_disconnect,                          \
    .xDestroy = micap_sql_disconnect, .xOpen = open_cursor, .xClose = close_cursor, .xFilter = filter, .xNext = next,   \
    .xEof = at_end, .xColumn = column, .xRowid = row_of
#define MICAP_SQL_WRITING                                                                                              \
    .iVersion = 2, .xBegin = micap_sql_begin, .xCommit = micap_sql_commit, .xRollback = micap_sql_rollback,            \
    .xSavepoint = micap_sql_savepoint, .xRelease = micap_sql_release, .xRollbackTo = micap_sql_rollback_to

#endif
