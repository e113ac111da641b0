#include "sql/column.h"

#include <stdlib.h>
#include <string.h>

/* Shorter arrays have a column per element, as in micap_describe_leaves. */
enum { SPLIT_ARRAY_MAX = 4 };

static mica_kind kind_of(const mica_field *field)
{
    return field->type && field->kind != MICA_KIND_LIST ? field->type->kind : field->kind;
}

static bool is_dynamic(const mica_field *field)
{
    return field->kind == MICA_KIND_TEXT || field->kind == MICA_KIND_LIST;
}

static bool is_taken(const micap_sql_table *table, const char *name)
{
    if ((table->entity_column >= 0 && sqlite3_stricmp(name, "entity") == 0) ||
        (table->instance_column >= 0 && sqlite3_stricmp(name, "instance") == 0) ||
        (table->enabled_column >= 0 && sqlite3_stricmp(name, "enabled") == 0) ||
        (table->position_column >= 0 && sqlite3_stricmp(name, "position") == 0))
        return true;
    for (uint32_t i = 0; i < table->column_count; ++i)
        if (sqlite3_stricmp(name, table->columns[i].name) == 0)
            return true;
    return false;
}

/* Returns the path with as many '_' appended as needed to be unique; NULL if memory is short. */
static char *free_name(const micap_sql_table *table, const char *path)
{
    char *name = sqlite3_mprintf("%s", path);
    while (name && is_taken(table, name)) {
        char *longer = sqlite3_mprintf("%s_", name);
        sqlite3_free(name);
        name = longer;
    }
    return name;
}

static bool add_column(micap_sql_table *table, const char *path, micap_sql_column column)
{
    if (table->column_count == MICAP_SQL_COLUMNS_MAX)
        return true;
    if (table->column_count == table->column_capacity) {
        uint32_t capacity = table->column_capacity ? 2 * table->column_capacity : 8;
        micap_sql_column *columns = sqlite3_realloc64(table->columns, capacity * sizeof *columns);
        if (!columns)
            return false;
        table->columns = columns;
        table->column_capacity = capacity;
    }
    column.name = free_name(table, path);
    if (!column.name)
        return false;
    table->columns[table->column_count++] = column;
    return true;
}

static bool add_fields(micap_sql_table *table, const mica_type *type, const char *prefix, uint32_t base);

/* Adds the column of an array element, or of a field that is not an array. */
static bool add_element(micap_sql_table *table, const mica_field *field, const char *path, uint32_t base, uint32_t at)
{
    uint32_t offset = base + field->offset + at * field->element_bytes;
    bool is_struct = kind_of(field) == MICA_KIND_STRUCT;
    bool is_whole = field->count > SPLIT_ARRAY_MAX;
    char *name = field->count > 1 ? sqlite3_mprintf("%s[%u]", path, at) : sqlite3_mprintf("%s", path);
    bool done = name && (is_struct ? add_fields(table, field->type, name, offset)
                                   : add_column(table, name,
                                                (micap_sql_column){
                                                    .field = field,
                                                    .offset = offset,
                                                    .leaf = is_whole ? base + field->offset : offset,
                                                    .leaf_bytes = field->element_bytes * (is_whole ? field->count : 1),
                                                    .form = is_dynamic(field) ? MICAP_SQL_DYNAMIC : MICAP_SQL_SCALAR,
                                                }));
    sqlite3_free(name);
    return done;
}

static bool add_field(micap_sql_table *table, const mica_field *field, const char *path, uint32_t base)
{
    mica_kind kind = kind_of(field);
    bool is_text = kind == MICA_KIND_CHAR && field->count > 1;
    /* A split component has no contiguous value to write as a list, and few leaves. */
    bool is_list = field->count >= MICAP_SQL_LIST_MIN && !(table->type->split && kind == MICA_KIND_STRUCT);
    if (is_text || is_list)
        return add_column(table, path,
                          (micap_sql_column){
                              .field = field,
                              .offset = base + field->offset,
                              .leaf = base + field->offset,
                              .leaf_bytes = field->element_bytes * field->count,
                              .form = is_text ? MICAP_SQL_TEXT : MICAP_SQL_LIST,
                          });
    bool done = true;
    for (uint32_t i = 0; done && i < field->count && table->column_count < MICAP_SQL_COLUMNS_MAX; ++i)
        done = add_element(table, field, path, base, i);
    return done;
}

static bool add_fields(micap_sql_table *table, const mica_type *type, const char *prefix, uint32_t base)
{
    bool done = true;
    for (uint32_t i = 0; done && i < type->field_count; ++i) {
        char *path = sqlite3_mprintf("%s%s%s", prefix, *prefix ? "." : "", type->fields[i].name);
        done = path && add_field(table, &type->fields[i], path, base);
        sqlite3_free(path);
    }
    return done;
}

/* Adds the columns of an element: the fields of a struct, or `value`. */
static bool add_element_columns(micap_sql_table *table)
{
    const mica_type *type = table->list.field->type;
    bool is_named = type->kind == MICA_KIND_ENUM || type->kind == MICA_KIND_FLAGS;
    table->element = (mica_field){.name = "value",
                                  .type = is_named ? type : NULL,
                                  .element_bytes = type->size_bytes,
                                  .count = 1,
                                  .kind = type->kind,
                                  .attributes = table->list.field->attributes};
    bool done = type->kind == MICA_KIND_STRUCT ? add_fields(table, type, "", 0)
                                               : add_field(table, &table->element, table->element.name, 0);
    table->key_name = done ? free_name(table, "row_key") : NULL;
    return table->key_name != NULL;
}

bool micap_sql_columns_make(micap_sql_table *table)
{
    int count = 0;
    bool has_entity = table->type->storage != MICA_STORAGE_SINGLETON, is_list = table->kind == MICAP_SQL_ELEMENTS;
    table->entity_column = has_entity ? count++ : -1;
    table->instance_column = table->type->many ? count++ : -1;
    table->enabled_column = has_entity && table->type->toggle && !is_list ? count++ : -1;
    table->position_column = is_list ? count++ : -1;
    table->first_field = count;
    return is_list ? add_element_columns(table) : add_fields(table, table->type, "", 0);
}

void micap_sql_columns_free(micap_sql_table *table)
{
    for (uint32_t i = 0; i < table->column_count; ++i)
        sqlite3_free(table->columns[i].name);
    sqlite3_free(table->columns);
    sqlite3_free(table->key_name);
}

bool micap_sql_is_list(const micap_sql_column *column)
{
    return column->form == MICAP_SQL_DYNAMIC && column->field->kind == MICA_KIND_LIST;
}

/* Enums and flags have no affinity: SQLite compares their text or integers unconverted. */
static const char *affinity_of(const micap_sql_column *column)
{
    if (column->form != MICAP_SQL_SCALAR)
        return " TEXT";
    switch (kind_of(column->field)) {
    case MICA_KIND_F32:
    case MICA_KIND_F64: return " REAL";
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS: return "";
    default: return " INTEGER";
    }
}

/* Returns the text for sqlite3_declare_vtab; NULL if memory is short. */
static char *declaration_of(const micap_sql_table *table)
{
    sqlite3_str *text = sqlite3_str_new(table->session->database);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    if (table->entity_column >= 0)
        sqlite3_str_appendall(text, "entity INTEGER,");
    if (table->instance_column >= 0)
        sqlite3_str_appendall(text, "instance INTEGER,");
    if (table->enabled_column >= 0)
        sqlite3_str_appendall(text, "enabled INTEGER,");
    if (table->position_column >= 0)
        sqlite3_str_appendall(text, "position INTEGER,");
    for (uint32_t i = 0; i < table->column_count; ++i)
        sqlite3_str_appendf(text, "\"%w\"%s,", table->columns[i].name, affinity_of(&table->columns[i]));
    if (table->key_name)
        sqlite3_str_appendf(text, "\"%w\" BLOB HIDDEN PRIMARY KEY) WITHOUT ROWID", table->key_name);
    char *declaration = sqlite3_str_finish(text);
    if (declaration && !table->key_name)
        declaration[strlen(declaration) - 1] = ')';
    return declaration;
}

int micap_sql_connect_columns(sqlite3 *database, void *table, int count, const char *const *arguments,
                              sqlite3_vtab **out_vtab, char **out_error)
{
    (void)count, (void)arguments, (void)out_error;
    char *declaration = declaration_of(table);
    int result = micap_sql_connect(database, table, declaration, out_vtab);
    sqlite3_free(declaration);
    return result;
}
