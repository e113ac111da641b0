/* The list is changed in a copy of the component, which is then written as component_write.c does it. The copy shares the elements of all
 * lists until one is written. */
#include "sql/list_write.h"
#include "sql/component_copy.h"
#include "sql/list_table.h"
#include "sql/row_scan.h"
#include "sql/value_read.h"
#include "sql/value_write.h"

#include "mica/entity.h"
#include "mica/list.h"
#include "mica/singleton.h"

#include <string.h>

typedef enum action { INSERT = 0, UPDATE, DELETE } action;

/* An element to write. Its columns are `values`; NULL for DELETE. */
typedef struct row {
    sqlite3_vtab *vtab;
    const micap_sql_table *table;
    mica_world *world;
    sqlite3_value **values;
    action action;
    micap_sql_place place;
    mica_pool *pool; /* of instances */
    mica_instance instance;
} row;

static bool is_given(const row *row, int column)
{
    sqlite3_value *value = column < 0 ? NULL : row->values[column];
    return value && (row->action == INSERT ? sqlite3_value_type(value) != SQLITE_NULL : !sqlite3_value_nochange(value));
}

static int refuse(const row *row, const char *column, const char *what)
{
    return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.%s %s", row->table->name, column, what);
}

/* Returns the value of the component in the place of the row; NULL if there is none. */
static const char *find_value(row *row)
{
    const micap_sql_table *table = row->table;
    if (table->entity_column < 0)
        return mica_singleton_is_used(row->world, table->component)
                   ? mica_singleton_get_id(row->world, table->component)
                   : NULL;
    if (!mica_has_id(row->world, row->place.entity, table->component))
        return NULL;
    if (!table->type->many)
        return mica_get_id(row->world, row->place.entity, table->component);
    row->pool = mica_pool_of_id(row->world, table->component);
    row->instance = micap_sql_instance_at(row->pool, row->place.entity, row->place.ordinal);
    return mica_instance_is_nil(row->instance) ? NULL : mica_instance_read_id(row->pool, row->instance);
}

static uint32_t count_in(const row *row, const char *value)
{
    return mica_list_count((const void *)(value + row->table->list.offset));
}

/* Reads a number from 0 to `most` in a column. */
static int read_number(const row *row, int column, const char *name, uint32_t most, uint32_t *out_number)
{
    sqlite3_value *value = row->values[column];
    sqlite3_int64 number = sqlite3_value_int64(value);
    if (sqlite3_value_type(value) != SQLITE_INTEGER)
        return refuse(row, name, "takes a whole number");
    if (number < 0 || number > most)
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.%s takes 0 to %u, not %lld", row->table->name, name,
                              most, (long long)number);
    *out_number = (uint32_t)number;
    return SQLITE_OK;
}

static int fail_missing(const row *row)
{
    const micap_sql_table *table = row->table;
    const unsigned char *entity =
        table->entity_column < 0 ? NULL : sqlite3_value_text(row->values[table->entity_column]);
    if (table->entity_column < 0)
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s: the world has no %s", table->name, table->type->name);
    return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.entity takes an entity that has %s, not %s", table->name,
                          table->type->name, entity ? (const char *)entity : "NULL");
}

/* Reads the instance of an INSERT. It may be omitted if there is only one. */
static int read_instance(row *row)
{
    const micap_sql_table *table = row->table;
    if (is_given(row, table->instance_column)) {
        int result = read_number(row, table->instance_column, "instance", INT32_MAX, &row->place.ordinal);
        return result != SQLITE_OK || find_value(row) ? result : refuse(row, "instance", "takes one that exists");
    }
    if (row->pool && !mica_instance_is_nil(mica_pool_next(row->pool, row->instance)))
        return refuse(row, "instance", "is needed: the entity has several");
    return SQLITE_OK;
}

/* Reads the place of an INSERT: before an element, or at the end. */
static int read_place(row *row)
{
    const micap_sql_table *table = row->table;
    if (table->entity_column >= 0)
        row->place.entity = micap_sql_value_entity(row->values[table->entity_column]);
    if (!find_value(row))
        return fail_missing(row);
    int result = read_instance(row);
    if (result != SQLITE_OK)
        return result;
    uint32_t count = count_in(row, find_value(row));
    row->place.position = count;
    return is_given(row, table->position_column)
               ? read_number(row, table->position_column, "position", count, &row->place.position)
               : SQLITE_OK;
}

/* The columns of the place are read-only. UPDATE FROM passes them unchanged. */
static int check_place(const row *row)
{
    const micap_sql_table *table = row->table;
    if (is_given(row, table->entity_column) &&
        sqlite3_value_int64(row->values[table->entity_column]) != mica_sql_from_entity(row->place.entity))
        return refuse(row, "entity", "can't be changed");
    if (is_given(row, table->instance_column) &&
        sqlite3_value_int64(row->values[table->instance_column]) != row->place.ordinal)
        return refuse(row, "instance", "can't be changed");
    if (is_given(row, table->position_column) &&
        sqlite3_value_int64(row->values[table->position_column]) != row->place.position)
        return refuse(row, "position", "can't be changed: DELETE the element and INSERT it");
    return SQLITE_OK;
}

/* Stores the given columns in an element. */
static int store_columns(const row *row, char *element)
{
    const micap_sql_table *table = row->table;
    for (uint32_t i = 0; i < table->column_count; ++i) {
        int column = table->first_field + (int)i;
        char *problem = NULL;
        if (!is_given(row, column) ||
            micap_sql_store(&table->columns[i], row->values[column], element + table->columns[i].offset, &problem))
            continue;
        int code = problem ? micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.%s", table->name, problem) : SQLITE_NOMEM;
        sqlite3_free(problem);
        return code;
    }
    return SQLITE_OK;
}

/* Changes the list of a copy. A new element is zero where it is not given, as in JSON. */
static int change_list(const row *row, mica_list *list)
{
    const mica_type *type = row->table->list.field->type;
    uint32_t position = row->place.position;
    if (row->action == DELETE)
        return mica_list_remove_type(list, type, position, 1) == MICA_OK ? SQLITE_OK : SQLITE_NOMEM;
    bool is_new = row->action == INSERT;
    bool replaces = is_new && position < mica_list_count(list) &&
                    sqlite3_vtab_on_conflict(row->table->session->database) == SQLITE_REPLACE;
    if (replaces && mica_list_remove_type(list, type, position, 1) != MICA_OK)
        return SQLITE_NOMEM;
    char *items = is_new ? mica_list_insert_type(list, type, position, 1) : mica_list_write_type(list, type);
    if (!items)
        return SQLITE_NOMEM;
    return store_columns(row, items + (is_new ? 0 : (size_t)position * type->size_bytes));
}

/* A component is set, with its hooks; an instance or a singleton is written in place. */
static int write_back(const row *row, const micap_sql_copy *copy)
{
    const micap_sql_table *table = row->table;
    const micap_sql_column *list = &table->list;
    if (table->entity_column >= 0 && !row->pool) {
        mica_value value = {table->component, table->type->size_bytes, copy->value};
        return mica_set_id(row->world, row->place.entity, value) ? SQLITE_OK
                                                                 : micap_sql_fail_world(row->vtab, table->name);
    }
    char *whole = row->pool ? mica_instance_write_id(row->pool, row->instance)
                            : mica_singleton_write_id(row->world, table->component);
    if (whole)
        micap_sql_copy_swap(whole + list->offset, copy->value + list->offset, list->field->element_bytes);
    return whole ? SQLITE_OK : micap_sql_fail_world(row->vtab, table->name);
}

static int write_row(row *row, const char *value)
{
    micap_sql_copy copy;
    int result = SQLITE_NOMEM;
    if (micap_sql_copy_init(&copy, row->table->type) && micap_sql_copy_take(&copy, value)) {
        result = change_list(row, (void *)(copy.value + row->table->list.offset));
        if (result == SQLITE_OK)
            result = write_back(row, &copy);
        micap_sql_copy_drop(&copy);
    }
    micap_sql_copy_free(&copy);
    return result;
}

/* The key is read-only, too. */
static bool writes_key(const row *row, sqlite3_value *old_key)
{
    int column = row->table->first_field + (int)row->table->column_count;
    if (!row->values || !is_given(row, column))
        return false;
    sqlite3_value *key = row->values[column];
    return row->action == INSERT || sqlite3_value_bytes(key) != MICAP_SQL_KEY_BYTES ||
           memcmp(sqlite3_value_blob(key), sqlite3_value_blob(old_key), MICAP_SQL_KEY_BYTES) != 0;
}

int micap_sql_list_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *out_row)
{
    const micap_sql_table *table = ((micap_sql_vtab *)vtab)->table;
    row row = {.vtab = vtab, .table = table, .world = table->session->world};
    bool is_new = sqlite3_value_type(values[0]) == SQLITE_NULL;
    row.action = count == 1 ? DELETE : is_new ? INSERT : UPDATE;
    row.values = count == 1 ? NULL : values + 2;
    int result = micap_sql_scans_detach(table->session);
    if (result != SQLITE_OK)
        return result;
    if (writes_key(&row, values[0]))
        return refuse(&row, table->key_name, "can't be written");
    if (!is_new)
        row.place = micap_sql_key_read(sqlite3_value_blob(values[0]));
    if (row.action != DELETE)
        result = is_new ? read_place(&row) : check_place(&row);
    if (result != SQLITE_OK)
        return result;
    const char *value = find_value(&row);
    if (!value || (!is_new && row.place.position >= count_in(&row, value)))
        return SQLITE_OK; /* a trigger or a hook removed it */
    *out_row = row.place.position;
    return write_row(&row, value);
}
