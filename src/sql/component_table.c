#include "sql/component_table.h"
#include "sql/column.h"
#include "sql/component_write.h"
#include "sql/index_plan.h"
#include "sql/transaction.h"
#include "sql/value_read.h"

#include "mica/entity.h"

#include <string.h>

typedef struct cursor {
    sqlite3_vtab_cursor base;
    micap_sql_rows rows;
} cursor;

static const micap_sql_table *table_of(const cursor *cursor)
{
    return ((micap_sql_vtab *)cursor->base.pVtab)->table;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    return micap_sql_plan_choose(((micap_sql_vtab *)vtab)->table, info);
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out_cursor)
{
    const micap_sql_table *table = ((micap_sql_vtab *)vtab)->table;
    size_t leaves = table->type->split ? table->column_count : 0;
    cursor *cursor = sqlite3_malloc64(sizeof *cursor + leaves * sizeof *cursor->rows.leaves);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    cursor->rows.leaves = (const char **)(cursor + 1);
    micap_sql_rows_init(&cursor->rows, table);
    *out_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    micap_sql_rows_end(&((cursor *)base)->rows);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values)
{
    (void)text, (void)count;
    return micap_sql_plan_begin(plan, values, &((cursor *)base)->rows);
}

static int next(sqlite3_vtab_cursor *base)
{
    int result = micap_sql_rows_next(&((cursor *)base)->rows);
    return result == SQLITE_ABORT ? micap_sql_fail_invalid(base->pVtab) : result;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return micap_sql_rows_at_end(&((cursor *)base)->rows);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    cursor *cursor = (struct cursor *)base;
    const micap_sql_table *table = table_of(cursor);
    if (sqlite3_vtab_nochange(context)) /* an UPDATE that does not change the column */
        return SQLITE_OK;
    if (micap_sql_rows_is_invalid(&cursor->rows))
        return micap_sql_fail_invalid(base->pVtab);
    mica_entity entity = micap_sql_rows_entity(&cursor->rows);
    if (number == table->entity_column) {
        micap_sql_result_entity(context, entity);
    } else if (number == table->instance_column) {
        sqlite3_result_int64(context, cursor->rows.ordinal);
    } else if (number == table->enabled_column) {
        sqlite3_result_int(context, mica_is_enabled_id(table->session->world, entity, table->component));
    } else {
        uint32_t field = (uint32_t)(number - table->first_field);
        const char *at = micap_sql_rows_field(&cursor->rows, &table->columns[field], field);
        if (at)
            micap_sql_result(context, &table->columns[field], at);
    }
    return SQLITE_OK;
}

/* Stores the generation of the slot: see micap_sql_table. */
static int note_generation(micap_sql_table *table, mica_entity entity)
{
    if (entity.index >= table->generation_count) {
        uint64_t count = 2 * ((uint64_t)entity.index + 32);
        uint32_t *generations = sqlite3_realloc64(table->generations, count * sizeof *generations);
        if (!generations)
            return SQLITE_NOMEM;
        memset(generations + table->generation_count, 0, (count - table->generation_count) * sizeof *generations);
        table->generations = generations;
        table->generation_count = (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX);
    }
    table->generations[entity.index] = entity.generation;
    return SQLITE_OK;
}

static int row_of(sqlite3_vtab_cursor *base, sqlite3_int64 *out_row)
{
    cursor *cursor = (struct cursor *)base;
    micap_sql_table *table = ((micap_sql_vtab *)base->pVtab)->table;
    *out_row = 1;
    if (table->entity_column < 0)
        return SQLITE_OK;
    if (micap_sql_rows_is_invalid(&cursor->rows))
        return micap_sql_fail_invalid(base->pVtab);
    mica_entity entity = micap_sql_rows_entity(&cursor->rows);
    *out_row = table->type->many ? micap_sql_instance_row(entity, cursor->rows.ordinal) : mica_sql_from_entity(entity);
    return table->type->many ? note_generation(table, entity) : SQLITE_OK;
}

const sqlite3_module micap_sql_component_reader = {.xConnect = micap_sql_connect_columns, MICAP_SQL_READING};
const sqlite3_module micap_sql_component_module = {
    .xConnect = micap_sql_connect_columns, MICAP_SQL_READING, MICAP_SQL_WRITING, .xUpdate = micap_sql_update};
