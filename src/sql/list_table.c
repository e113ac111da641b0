#include "sql/list_table.h"
#include "sql/column.h"
#include "sql/list_write.h"
#include "sql/row_scan.h"
#include "sql/transaction.h"
#include "sql/value_read.h"

#include "mica/list.h"

#include <string.h>

enum { BY_ENTITY = 1, BY_POSITION = 2, LOOK_UP_COST = 4, ELEMENTS_GUESSED = 8 };

typedef struct cursor {
    sqlite3_vtab_cursor base;
    micap_sql_rows rows;
    uint32_t position;
    uint32_t first; /* where each list begins */
    bool is_one;    /* only that element of each list */
} cursor;

static void put_number(unsigned char *to, uint32_t number)
{
    for (uint32_t i = 0; i < 4; ++i)
        to[i] = (unsigned char)(number >> (24 - 8 * i));
}

static uint32_t take_number(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

void micap_sql_key_write(micap_sql_place place, unsigned char key[MICAP_SQL_KEY_BYTES])
{
    put_number(key, place.entity.index);
    put_number(key + 4, place.entity.generation);
    put_number(key + 8, ~place.ordinal);
    put_number(key + 12, ~place.position);
}

micap_sql_place micap_sql_key_read(const unsigned char key[MICAP_SQL_KEY_BYTES])
{
    return (micap_sql_place){
        {take_number(key), take_number(key + 4)}, ~take_number(key + 8), ~take_number(key + 12)};
}

static const micap_sql_table *table_of(const cursor *cursor)
{
    return ((micap_sql_vtab *)cursor->base.pVtab)->table;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const micap_sql_table *table = ((micap_sql_vtab *)vtab)->table;
    int entity = -1, position = -1;
    for (int i = 0; i < info->nConstraint; ++i) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (!constraint->usable || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (constraint->iColumn == table->entity_column)
            entity = i;
        else if (constraint->iColumn == table->position_column)
            position = i;
    }
    info->idxNum = (entity < 0 ? 0 : BY_ENTITY) | (position < 0 ? 0 : BY_POSITION);
    if (entity >= 0)
        info->aConstraintUsage[entity].argvIndex = 1;
    if (position >= 0)
        info->aConstraintUsage[position].argvIndex = entity < 0 ? 1 : 2;
    bool is_one_row = entity >= 0 || table->entity_column < 0;
    bool is_unique = is_one_row && position >= 0 && !table->type->many;
    uint64_t rows = is_one_row ? 1 : micap_sql_scan_estimate(table->session->world, table->component);
    info->idxFlags = is_unique ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    rows *= position < 0 ? ELEMENTS_GUESSED : 1;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = LOOK_UP_COST + (double)info->estimatedRows;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out_cursor)
{
    cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    micap_sql_rows_init(&cursor->rows, ((micap_sql_vtab *)vtab)->table);
    *out_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    micap_sql_rows_end(&((cursor *)base)->rows);
    sqlite3_free(base);
    return SQLITE_OK;
}

/* NULL, which is an empty list, if another statement deleted the row. */
static const mica_list *list_of(cursor *cursor)
{
    return (const void *)micap_sql_rows_field(&cursor->rows, &table_of(cursor)->list, 0);
}

/* Moves on to a row whose list has an element at the position. Returns an SQLite result. */
static int find_element(cursor *cursor)
{
    int result = SQLITE_OK;
    while (result == SQLITE_OK && !micap_sql_rows_at_end(&cursor->rows) &&
           cursor->position >= mica_list_count(list_of(cursor))) {
        result = micap_sql_rows_next(&cursor->rows);
        cursor->position = cursor->first;
    }
    return result;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values)
{
    cursor *cursor = (struct cursor *)base;
    (void)text;
    bool is_all = !(plan & BY_ENTITY);
    sqlite3_int64 position = plan & BY_POSITION ? sqlite3_value_int64(values[count - 1]) : 0;
    cursor->is_one = plan & BY_POSITION;
    cursor->first = position >= 0 && position < UINT32_MAX ? (uint32_t)position : UINT32_MAX;
    cursor->position = cursor->first;
    int result = micap_sql_rows_begin(&cursor->rows, is_all, is_all ? mica_nil() : micap_sql_value_entity(values[0]));
    return result == SQLITE_OK ? find_element(cursor) : result;
}

static int next(sqlite3_vtab_cursor *base)
{
    cursor *cursor = (struct cursor *)base;
    if (micap_sql_rows_is_invalid(&cursor->rows))
        return micap_sql_fail_invalid(base->pVtab);
    cursor->position = cursor->is_one ? UINT32_MAX : cursor->position + 1;
    return find_element(cursor);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return micap_sql_rows_at_end(&((cursor *)base)->rows);
}

static void result_key(sqlite3_context *context, const cursor *cursor)
{
    unsigned char key[MICAP_SQL_KEY_BYTES];
    micap_sql_key_write((micap_sql_place){micap_sql_rows_entity(&cursor->rows), cursor->rows.ordinal, cursor->position},
                        key);
    sqlite3_result_blob(context, key, sizeof key, SQLITE_TRANSIENT);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    cursor *cursor = (struct cursor *)base;
    const micap_sql_table *table = table_of(cursor);
    if (sqlite3_vtab_nochange(context)) /* an UPDATE that does not change the column */
        return SQLITE_OK;
    if (micap_sql_rows_is_invalid(&cursor->rows))
        return micap_sql_fail_invalid(base->pVtab);
    uint32_t field = (uint32_t)(number - table->first_field);
    if (number == table->entity_column) {
        micap_sql_result_entity(context, micap_sql_rows_entity(&cursor->rows));
    } else if (number == table->instance_column) {
        sqlite3_result_int64(context, cursor->rows.ordinal);
    } else if (number == table->position_column) {
        sqlite3_result_int64(context, cursor->position);
    } else if (field == table->column_count) {
        result_key(context, cursor);
    } else {
        const mica_type *element = table->list.field->type;
        const mica_list *list = list_of(cursor);
        const char *items = cursor->position < mica_list_count(list) ? mica_list_items_type(list, element) : NULL;
        if (items) /* otherwise another statement deleted the element */
            micap_sql_result(context, &table->columns[field],
                             items + (size_t)cursor->position * element->size_bytes + table->columns[field].offset);
    }
    return SQLITE_OK;
}

/* SQLite asks for no row id of a table that has none. */
#define row_of NULL
const sqlite3_module micap_sql_list_reader = {.xConnect = micap_sql_connect_columns, MICAP_SQL_READING};
const sqlite3_module micap_sql_list_module = {
    .xConnect = micap_sql_connect_columns, MICAP_SQL_READING, MICAP_SQL_WRITING, .xUpdate = micap_sql_list_update};
