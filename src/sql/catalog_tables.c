#include "sql/catalog_tables.h"
#include "sql/column.h"
#include "sql/entity_scan.h"

#include "mica/singleton.h"

#include <string.h>

typedef struct cursor {
    sqlite3_vtab_cursor base;
    mica_component component;     /* 0 at the end */
    const micap_sql_table *table; /* of the component, or NULL */
    uint32_t field;
    sqlite3_int64 row;
} cursor;

static const micap_sql_table *catalog_of(const sqlite3_vtab_cursor *base)
{
    return ((micap_sql_vtab *)base->pVtab)->table;
}

static int connect_table(sqlite3 *database, void *context, int count, const char *const *arguments,
                         sqlite3_vtab **out_vtab, char **out_error)
{
    (void)count, (void)arguments, (void)out_error;
    micap_sql_table *table = context;
    return micap_sql_connect(
        database, table,
        table->kind == MICAP_SQL_FIELDS
            ? "CREATE TABLE x(component TEXT, name TEXT, type TEXT, offset INTEGER, count INTEGER, "
              "table_name TEXT)"
            : "CREATE TABLE x(name TEXT, table_name TEXT, storage TEXT, bytes INTEGER, "
              "row_count INTEGER, toggle INTEGER, split INTEGER, many INTEGER)",
        out_vtab);
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    uint32_t count = ((micap_sql_vtab *)vtab)->table->session->table_count;
    info->estimatedRows = count;
    info->estimatedCost = count;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out_cursor)
{
    (void)vtab;
    cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

static const micap_sql_table *table_of(const micap_sql_session *session, mica_component component)
{
    for (uint32_t i = 0; i < session->table_count; ++i)
        if (session->tables[i]->kind == MICAP_SQL_COMPONENT && session->tables[i]->component == component)
            return session->tables[i];
    return NULL;
}

/* Returns the name of the table of a list; NULL for other columns. */
static const char *list_table_of(const micap_sql_table *table, const micap_sql_column *column)
{
    const micap_sql_session *session = table->session;
    for (uint32_t i = 0; micap_sql_is_list(column) && i < session->table_count; ++i)
        if (session->tables[i]->kind == MICAP_SQL_ELEMENTS && session->tables[i]->component == table->component &&
            session->tables[i]->list.offset == column->offset)
            return session->tables[i]->name;
    return NULL;
}

/* Moves to the next component; for the table `fields`, to the next with fields. */
static void next_component(cursor *cursor)
{
    const micap_sql_table *catalog = catalog_of(&cursor->base);
    do {
        cursor->component = mica_component_next(catalog->session->world, cursor->component);
        cursor->table = table_of(catalog->session, cursor->component);
    } while (cursor->component && catalog->kind == MICAP_SQL_FIELDS && !(cursor->table && cursor->table->column_count));
    cursor->field = 0;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values)
{
    cursor *cursor = (struct cursor *)base;
    (void)plan, (void)text, (void)count, (void)values;
    cursor->component = 0;
    cursor->row = 1;
    next_component(cursor);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    cursor *cursor = (struct cursor *)base;
    ++cursor->row;
    if (catalog_of(base)->kind != MICAP_SQL_FIELDS || ++cursor->field == cursor->table->column_count)
        next_component(cursor);
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((cursor *)base)->component == 0;
}

static uint64_t row_count(mica_world *world, mica_component component)
{
    const mica_type *type = mica_component_type(component);
    if (type->storage == MICA_STORAGE_SINGLETON)
        return mica_singleton_is_used(world, component);
    const mica_pool *pool = type->many ? mica_pool_of_id(world, component) : NULL;
    if (pool)
        return mica_pool_count(pool);
    return micap_sql_scan_estimate(world, component);
}

static void result_name(sqlite3_context *context, const char *name)
{
    sqlite3_result_text(context, name, -1, SQLITE_TRANSIENT);
}

static void component_column(cursor *cursor, sqlite3_context *context, int number)
{
    static const char *const storages[] = {"chunk", "tag", "singleton", "pool"};
    const mica_type *type = mica_component_type(cursor->component);
    switch (number) {
    case 0: result_name(context, type->name); break;
    case 1: result_name(context, cursor->table ? cursor->table->name : NULL); break;
    case 2: result_name(context, storages[type->storage]); break;
    case 3: sqlite3_result_int64(context, type->size_bytes); break;
    case 4:
        sqlite3_result_int64(context,
                             (sqlite3_int64)row_count(catalog_of(&cursor->base)->session->world, cursor->component));
        break;
    case 5: sqlite3_result_int(context, type->toggle); break;
    case 6: sqlite3_result_int(context, type->split); break;
    default: sqlite3_result_int(context, type->many);
    }
}

static void field_column(const cursor *cursor, sqlite3_context *context, int number)
{
    static const char *const kinds[] = {"none",   "bool", "char",  "i8",    "u8",   "i16", "u16",
                                        "i32",    "u32",  "i64",   "u64",   "f32",  "f64", "entity",
                                        "struct", "enum", "flags", "asset", "text", "list"};
    const micap_sql_column *column = &cursor->table->columns[cursor->field];
    const mica_field *field = column->field;
    switch (number) {
    case 0: result_name(context, cursor->table->type->name); break;
    case 1: result_name(context, column->name); break;
    case 2:
        result_name(context, field->type && field->kind != MICA_KIND_LIST ? field->type->name : kinds[field->kind]);
        break;
    case 3: sqlite3_result_int64(context, column->offset); break;
    case 5: result_name(context, list_table_of(cursor->table, column)); break;
    default:
        sqlite3_result_int64(context,
                             column->form == MICAP_SQL_SCALAR || column->form == MICAP_SQL_DYNAMIC ? 1 : field->count);
    }
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    cursor *cursor = (struct cursor *)base;
    if (catalog_of(base)->kind == MICAP_SQL_FIELDS)
        field_column(cursor, context, number);
    else
        component_column(cursor, context, number);
    return SQLITE_OK;
}

static int row_of(sqlite3_vtab_cursor *base, sqlite3_int64 *out_row)
{
    *out_row = ((cursor *)base)->row;
    return SQLITE_OK;
}

const sqlite3_module micap_sql_catalog_module = {.xConnect = connect_table, MICAP_SQL_READING};
