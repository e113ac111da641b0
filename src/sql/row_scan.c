#include "sql/row_scan.h"

#include "mica/entity.h"
#include "mica/singleton.h"

#include <string.h>

void micap_sql_rows_init(micap_sql_rows *rows, const micap_sql_table *table)
{
    *rows = (micap_sql_rows){.table = table, .leaves = rows->leaves};
    rows->scan.session = table->session;
    rows->scan.component = table->component;
}

void micap_sql_rows_end(micap_sql_rows *rows)
{
    micap_sql_scan_end(&rows->scan);
}

mica_instance micap_sql_instance_at(const mica_pool *pool, mica_entity entity, uint32_t ordinal)
{
    mica_instance instance = mica_pool_find(pool, entity);
    while (ordinal-- && !mica_instance_is_nil(instance))
        instance = mica_pool_next(pool, instance);
    return instance;
}

static void first_instance(micap_sql_rows *rows)
{
    rows->ordinal = 0;
    if (rows->pool && !rows->scan.at_end)
        rows->instance = mica_pool_find(rows->pool, micap_sql_scan_entity(&rows->scan));
}

/* Starts with the first row of the scan. */
static int begin(micap_sql_rows *rows)
{
    const micap_sql_table *table = rows->table;
    if (table->type->many && !rows->pool && !(rows->pool = mica_pool_of_id(table->session->world, table->component)))
        return SQLITE_NOMEM;
    first_instance(rows);
    return SQLITE_OK;
}

int micap_sql_rows_begin(micap_sql_rows *rows, bool is_all, mica_entity entity)
{
    const micap_sql_table *table = rows->table;
    if (table->entity_column < 0) {
        rows->has_singleton = mica_singleton_is_used(table->session->world, table->component);
        return SQLITE_OK;
    }
    if (is_all) {
        int result = micap_sql_scan_all(&rows->scan);
        return result == SQLITE_OK ? begin(rows) : result;
    }
    micap_sql_scan_listed(&rows->scan);
    return micap_sql_scan_add(&rows->scan, entity) ? micap_sql_rows_begin_listed(rows) : SQLITE_NOMEM;
}

int micap_sql_rows_begin_listed(micap_sql_rows *rows)
{
    micap_sql_scan_first_listed(&rows->scan);
    return begin(rows);
}

int micap_sql_rows_next(micap_sql_rows *rows)
{
    if (rows->table->entity_column < 0) {
        rows->has_singleton = false;
        return SQLITE_OK;
    }
    if (micap_sql_rows_is_invalid(rows))
        return SQLITE_ABORT;
    if (rows->pool) {
        rows->instance = rows->scan.is_list
                             ? micap_sql_instance_at(rows->pool, micap_sql_rows_entity(rows), rows->ordinal + 1)
                             : mica_pool_next(rows->pool, rows->instance);
        ++rows->ordinal;
        if (!mica_instance_is_nil(rows->instance))
            return SQLITE_OK;
    }
    int result = micap_sql_scan_next(&rows->scan);
    first_instance(rows);
    return result;
}

bool micap_sql_rows_at_end(const micap_sql_rows *rows)
{
    return rows->table->entity_column < 0 ? !rows->has_singleton : rows->scan.at_end;
}

bool micap_sql_rows_is_invalid(const micap_sql_rows *rows)
{
    return rows->table->entity_column >= 0 && micap_sql_scan_is_invalid(&rows->scan);
}

mica_entity micap_sql_rows_entity(const micap_sql_rows *rows)
{
    return rows->table->entity_column < 0 ? mica_nil() : micap_sql_scan_entity(&rows->scan);
}

static const char *of_view(micap_sql_rows *rows, const micap_sql_column *column, uint32_t number)
{
    const micap_sql_table *table = rows->table;
    micap_sql_scan *scan = &rows->scan;
    if (rows->view_number != scan->view_number) {
        rows->view_number = scan->view_number;
        if (table->type->split)
            memset(rows->leaves, 0, table->column_count * sizeof *rows->leaves);
        else
            rows->values = mica_view_read_id(&scan->view, table->component);
    }
    if (!table->type->split)
        return rows->values + (size_t)scan->row * table->type->size_bytes + column->offset;
    if (!rows->leaves[number])
        rows->leaves[number] = mica_view_read_field_id(&scan->view, table->component, column->leaf);
    return rows->leaves[number] + (size_t)scan->row * column->leaf_bytes + (column->offset - column->leaf);
}

const char *micap_sql_rows_field(micap_sql_rows *rows, const micap_sql_column *column, uint32_t number)
{
    const micap_sql_table *table = rows->table;
    mica_world *world = table->session->world;
    bool is_split = table->type->split;
    const char *whole;
    if (table->entity_column < 0) {
        whole = mica_singleton_get_id(world, table->component);
    } else if (rows->pool) {
        if (rows->scan.is_list)
            rows->instance = micap_sql_instance_at(rows->pool, micap_sql_rows_entity(rows), rows->ordinal);
        whole = mica_instance_is_nil(rows->instance) ? NULL
                : is_split ? mica_instance_read_field_id(rows->pool, rows->instance, column->leaf)
                           : mica_instance_read_id(rows->pool, rows->instance);
    } else if (rows->scan.is_list) {
        mica_entity entity = micap_sql_rows_entity(rows);
        whole = is_split ? mica_get_field_id(world, entity, table->component, column->leaf)
                         : mica_get_id(world, entity, table->component);
    } else {
        return of_view(rows, column, number);
    }
    return whole ? whole + column->offset - (is_split ? column->leaf : 0) : NULL;
}

int micap_sql_fail_invalid(sqlite3_vtab *vtab)
{
    return micap_sql_fail(vtab, SQLITE_ABORT, "the structure of the world changed while %s was being read",
                          ((micap_sql_vtab *)vtab)->table->name);
}
