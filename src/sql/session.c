#include "mica/sql.h"

#include "base/argument.h"
#include "mica/world.h"
#include "sql/session.h"
#include "sql/catalog_tables.h"
#include "sql/column.h"
#include "sql/component_table.h"
#include "sql/entities_table.h"
#include "sql/list_table.h"

#include <stdarg.h>
#include <string.h>

bool micap_sql_is_tag(const mica_type *type)
{
    return type->size_bytes == 0;
}

int micap_sql_fail(sqlite3_vtab *vtab, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    sqlite3_free(vtab->zErrMsg);
    vtab->zErrMsg = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    return vtab->zErrMsg ? code : SQLITE_NOMEM;
}

int micap_sql_fail_world(sqlite3_vtab *vtab, const char *what)
{
    mica_result result = mica_world_take_error(((micap_sql_vtab *)vtab)->table->session->world);
    return micap_sql_fail(vtab, result == MICA_ERROR_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR, "%s: %s", what,
                          result ? mica_result_text(result) : "the world rejected the change");
}

int micap_sql_connect(sqlite3 *database, micap_sql_table *table, const char *declaration, sqlite3_vtab **out_vtab)
{
    int result = declaration ? sqlite3_declare_vtab(database, declaration) : SQLITE_NOMEM;
    micap_sql_vtab *vtab = result == SQLITE_OK ? sqlite3_malloc64(sizeof *vtab) : NULL;
    if (!vtab)
        return result == SQLITE_OK ? SQLITE_NOMEM : result;
    *vtab = (micap_sql_vtab){.table = table};
    *out_vtab = &vtab->base;
    /* A row with an invalid value is rejected before anything changes, so OR IGNORE may skip it. */
    return sqlite3_vtab_config(database, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
}

int micap_sql_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab->zErrMsg); /* SQLite frees it, except if memory is short */
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static void release_session(micap_sql_session *session)
{
    if (session->table_count)
        return;
    sqlite3_free(session->prefix);
    sqlite3_free(session->tables);
    sqlite3_free(session->marks);
    sqlite3_free(session);
}

/* SQLite calls this when the connection is closed or another table replaces this one. */
static void destroy_table(void *context)
{
    micap_sql_table *table = context;
    micap_sql_session *session = table->session;
    for (uint32_t i = 0; i < session->table_count; ++i)
        if (session->tables[i] == table) {
            session->tables[i] = session->tables[--session->table_count];
            break;
        }
    micap_sql_columns_free(table);
    sqlite3_free(table->generations);
    sqlite3_free(table->name);
    sqlite3_free(table);
    release_session(session);
}

static bool has_table(const micap_sql_session *session, const char *name)
{
    for (uint32_t i = 0; i < session->table_count; ++i)
        if (session->tables[i]->name && sqlite3_stricmp(session->tables[i]->name, name) == 0)
            return true;
    return false;
}

/* Names of tables that SQLite finds first. */
static bool is_reserved(const char *name)
{
    static const char *const reserved[] = {"sqlite_master", "sqlite_schema", "sqlite_temp_master",
                                           "sqlite_temp_schema"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; ++i)
        if (sqlite3_stricmp(reserved[i], name) == 0)
            return true;
    return false;
}

static char *free_name(const micap_sql_session *session, const char *wanted)
{
    char *name = sqlite3_mprintf("%s%s", session->prefix, wanted);
    while (name && (is_reserved(name) || has_table(session, name))) {
        char *longer = sqlite3_mprintf("%s_", name);
        sqlite3_free(name);
        name = longer;
    }
    return name;
}

/* Creates a table and adds it to the session, which has room for it. `list` is the column of the table of a list. Returns NULL if
 * memory is short. */
static micap_sql_table *make_table(micap_sql_session *session, micap_sql_kind kind, const char *name,
                                   mica_component component, const micap_sql_column *list)
{
    micap_sql_table *table = sqlite3_malloc64(sizeof *table);
    if (!table)
        return NULL;
    *table = (micap_sql_table){.session = session, .kind = kind, .component = component};
    if (list)
        table->list = *list;
    table->list.name = NULL;
    table->name = free_name(session, name);
    table->type = mica_component_type(component);
    session->tables[session->table_count++] = table;
    return table->name && (!component || micap_sql_columns_make(table)) ? table : NULL;
}

static const sqlite3_module *module_of(const micap_sql_table *table)
{
    bool read_only = table->session->read_only;
    if (table->kind == MICAP_SQL_COMPONENT)
        return read_only ? &micap_sql_component_reader : &micap_sql_component_module;
    if (table->kind == MICAP_SQL_ELEMENTS)
        return read_only ? &micap_sql_list_reader : &micap_sql_list_module;
    if (table->kind == MICAP_SQL_ENTITIES)
        return read_only ? &micap_sql_entities_reader : &micap_sql_entities_module;
    return &micap_sql_catalog_module;
}

/* A table of SQLite needs a column; a singleton without a description has none. */
static bool has_columns(const mica_type *type)
{
    return type->storage != MICA_STORAGE_SINGLETON || type->field_count;
}

static uint32_t count_lists(const micap_sql_table *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->column_count; ++i)
        count += micap_sql_is_list(&table->columns[i]);
    return count;
}

static bool make_lists_of(micap_sql_session *session, const micap_sql_table *table)
{
    bool done = true;
    for (uint32_t i = 0; done && i < table->column_count; ++i) {
        if (!micap_sql_is_list(&table->columns[i]))
            continue;
        char *name = sqlite3_mprintf("%s_%s", table->type->name, table->columns[i].name);
        done = name && make_table(session, MICAP_SQL_ELEMENTS, name, table->component, &table->columns[i]);
        sqlite3_free(name);
    }
    return done;
}

/* Lists come after all components, which have the first choice of names. */
static bool make_list_tables(micap_sql_session *session)
{
    uint32_t count = session->table_count;
    uint64_t room = count;
    for (uint32_t i = 0; i < count; ++i)
        room += count_lists(session->tables[i]);
    micap_sql_table **tables = sqlite3_realloc64(session->tables, room * sizeof(micap_sql_table *));
    bool done = tables != NULL;
    if (done)
        session->tables = tables;
    for (uint32_t i = 0; done && i < count; ++i)
        done = make_lists_of(session, session->tables[i]);
    return done;
}

static bool make_tables(micap_sql_session *session)
{
    mica_world *world = session->world;
    bool done = make_table(session, MICAP_SQL_ENTITIES, "entities", 0, NULL) &&
                make_table(session, MICAP_SQL_COMPONENTS, "components", 0, NULL) &&
                make_table(session, MICAP_SQL_FIELDS, "fields", 0, NULL);
    for (mica_component next = 0; done && (next = mica_component_next(world, next));)
        if (has_columns(mica_component_type(next)))
            done = make_table(session, MICAP_SQL_COMPONENT, mica_component_type(next)->name, next, NULL) != NULL;
    return done && make_list_tables(session);
}

/* Destroys all tables; the session is freed with the last. */
static void drop_tables(micap_sql_session *session)
{
    for (uint32_t count = session->table_count; count; --count) {
        micap_sql_table *table = session->tables[count - 1];
        if (table->is_registered)
            sqlite3_create_module_v2(session->database, table->name, NULL, NULL, NULL);
        else
            destroy_table(table);
    }
}

static micap_sql_session *make_session(sqlite3 *database, mica_world *world, const mica_sql_def *def)
{
    micap_sql_session *session = sqlite3_malloc64(sizeof *session);
    if (!session)
        return NULL;
    *session = (micap_sql_session){.world = world, .database = database, .read_only = def && def->read_only};
    uint64_t room = 3; /* plus one per component */
    for (mica_component next = 0; (next = mica_component_next(world, next));)
        ++room;
    session->prefix = sqlite3_mprintf("%s", def && def->prefix ? def->prefix : "");
    session->tables = sqlite3_malloc64(room * sizeof(micap_sql_table *));
    if (session->prefix && session->tables && make_tables(session))
        return session;
    if (session->table_count)
        drop_tables(session);
    else
        release_session(session);
    return NULL;
}

static int register_tables(micap_sql_session *session)
{
    int result = SQLITE_OK;
    for (uint32_t i = 0; i < session->table_count && result == SQLITE_OK; ++i) {
        micap_sql_table *table = session->tables[i];
        table->is_registered = true;
        /* On failure SQLite destroys the table. */
        result = sqlite3_create_module_v2(session->database, table->name, module_of(table), table, destroy_table);
    }
    if (result != SQLITE_OK)
        drop_tables(session);
    return result;
}

mica_result mica_sql_attach(struct sqlite3 *database, mica_world *world, const mica_sql_def *def)
{
    if (MICAP_MISSING(NULL, database) || MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    micap_sql_session *session = make_session(database, world, def);
    int result = session ? register_tables(session) : SQLITE_NOMEM;
    if (result == SQLITE_OK)
        return MICA_OK;
    return mica_world_report(world, result == SQLITE_NOMEM ? MICA_ERROR_MEMORY : MICA_ERROR_REFUSED,
                             result == SQLITE_NOMEM ? "SQL: out of memory for tables" : sqlite3_errmsg(database));
}

struct sqlite3 *mica_sql_open(mica_world *world, const mica_sql_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    sqlite3 *database = NULL;
    if (sqlite3_open(":memory:", &database) != SQLITE_OK)
        mica_world_report(world, MICA_ERROR_MEMORY, "SQL: could not open a connection");
    else if (mica_sql_attach(database, world, def) == MICA_OK)
        return database;
    sqlite3_close(database);
    return NULL;
}
