#include "sql/component_table.h"
#include "sql/column.h"
#include "sql/component_write.h"
#include "sql/entity_scan.h"
#include "sql/transaction.h"
#include "sql/value_read.h"

#include "mica/entity.h"
#include "mica/singleton.h"

#include <string.h>

enum { PLAN_SCAN = 0, PLAN_ENTITY = 1, LOOK_UP_COST = 4 };

typedef struct cursor {
    sqlite3_vtab_cursor base;
    micap_sql_scan scan;
    const char *values;    /* the column of the view */
    const char **leaves;   /* arrays of a split component, looked up on first use */
    uint64_t view_number;  /* the view of `values` and `leaves` */
    const mica_pool *pool; /* if an entity may have several instances */
    mica_instance instance;
    uint32_t ordinal; /* position among the instances of the entity */
    bool has_singleton;
} cursor;

static const micap_sql_table *table_of(const cursor *cursor)
{
    return ((micap_sql_vtab *)cursor->base.pVtab)->table;
}

static int connect_table(sqlite3 *database, void *context, int count, const char *const *arguments,
                         sqlite3_vtab **out_vtab, char **out_error)
{
    (void)count, (void)arguments, (void)out_error;
    char *declaration = micap_sql_declaration(context);
    int result = micap_sql_connect(database, context, declaration, out_vtab);
    sqlite3_free(declaration);
    return result;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const micap_sql_table *table = ((micap_sql_vtab *)vtab)->table;
    bool is_unique = !table->type->many;
    for (int i = 0; table->entity_column >= 0 && i < info->nConstraint; ++i) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        bool names_entity = constraint->iColumn == table->entity_column || (constraint->iColumn < 0 && is_unique);
        if (!constraint->usable || !names_entity || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxNum = PLAN_ENTITY;
        info->idxFlags = is_unique ? SQLITE_INDEX_SCAN_UNIQUE : 0;
        info->estimatedCost = LOOK_UP_COST;
        info->estimatedRows = is_unique ? 1 : 4;
        return SQLITE_OK;
    }
    uint64_t rows = table->entity_column < 0 ? 1 : micap_sql_scan_estimate(table->session->world, table->component);
    info->idxNum = PLAN_SCAN;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = (double)rows + 1;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out_cursor)
{
    const micap_sql_table *table = ((micap_sql_vtab *)vtab)->table;
    size_t leaves = table->type->split ? table->column_count : 0;
    cursor *cursor = sqlite3_malloc64(sizeof *cursor + leaves * sizeof *cursor->leaves);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    cursor->leaves = (const char **)(cursor + 1);
    cursor->scan.session = table->session;
    cursor->scan.component = table->component;
    *out_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    micap_sql_scan_end(&((cursor *)base)->scan);
    sqlite3_free(base);
    return SQLITE_OK;
}

mica_instance micap_sql_instance_at(const mica_pool *pool, mica_entity entity, uint32_t ordinal)
{
    mica_instance instance = mica_pool_find(pool, entity);
    while (ordinal-- && !mica_instance_is_nil(instance))
        instance = mica_pool_next(pool, instance);
    return instance;
}

static void first_instance(cursor *cursor)
{
    cursor->ordinal = 0;
    if (cursor->pool && !cursor->scan.at_end)
        cursor->instance = mica_pool_find(cursor->pool, micap_sql_scan_entity(&cursor->scan));
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values)
{
    cursor *cursor = (struct cursor *)base;
    const micap_sql_table *table = table_of(cursor);
    (void)text, (void)count;
    int result = SQLITE_OK;
    if (table->entity_column < 0) {
        cursor->has_singleton = mica_singleton_is_used(table->session->world, table->component);
    } else if (plan == PLAN_ENTITY) {
        micap_sql_scan_listed(&cursor->scan);
        if (!micap_sql_scan_add(&cursor->scan, micap_sql_value_entity(values[0])))
            return SQLITE_NOMEM;
        micap_sql_scan_first_listed(&cursor->scan);
    } else {
        result = micap_sql_scan_all(&cursor->scan);
    }
    if (result != SQLITE_OK)
        return result;
    if (table->type->many && !cursor->pool &&
        !(cursor->pool = mica_pool_of_id(table->session->world, table->component)))
        return SQLITE_NOMEM;
    first_instance(cursor);
    return SQLITE_OK;
}

static int fail_void(sqlite3_vtab *vtab)
{
    return micap_sql_fail(vtab, SQLITE_ABORT, "the structure of the world changed while %s was being read",
                          ((micap_sql_vtab *)vtab)->table->name);
}

static int next(sqlite3_vtab_cursor *base)
{
    cursor *cursor = (struct cursor *)base;
    if (table_of(cursor)->entity_column < 0) {
        cursor->has_singleton = false;
        return SQLITE_OK;
    }
    if (micap_sql_scan_is_invalid(&cursor->scan))
        return fail_void(base->pVtab);
    if (cursor->pool) {
        cursor->instance =
            cursor->scan.is_list
                ? micap_sql_instance_at(cursor->pool, micap_sql_scan_entity(&cursor->scan), cursor->ordinal + 1)
                : mica_pool_next(cursor->pool, cursor->instance);
        ++cursor->ordinal;
        if (!mica_instance_is_nil(cursor->instance))
            return SQLITE_OK;
    }
    int result = micap_sql_scan_next(&cursor->scan);
    first_instance(cursor);
    return result;
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const cursor *cursor = (struct cursor *)base;
    return table_of(cursor)->entity_column < 0 ? !cursor->has_singleton : cursor->scan.at_end;
}

static const char *of_view(cursor *cursor, uint32_t number)
{
    const micap_sql_table *table = table_of(cursor);
    const micap_sql_column *column = &table->columns[number];
    micap_sql_scan *scan = &cursor->scan;
    if (cursor->view_number != scan->view_number) {
        cursor->view_number = scan->view_number;
        if (table->type->split)
            memset(cursor->leaves, 0, table->column_count * sizeof *cursor->leaves);
        else
            cursor->values = mica_view_read_id(&scan->view, table->component);
    }
    if (!table->type->split)
        return cursor->values + (size_t)scan->row * table->type->size_bytes + column->offset;
    if (!cursor->leaves[number])
        cursor->leaves[number] = mica_view_read_field_id(&scan->view, table->component, column->leaf);
    return cursor->leaves[number] + (size_t)scan->row * column->leaf_bytes + (column->offset - column->leaf);
}

/* Returns the bytes of a field; NULL if another statement deleted the row. */
static const char *field_of(cursor *cursor, uint32_t number)
{
    const micap_sql_table *table = table_of(cursor);
    const micap_sql_column *column = &table->columns[number];
    mica_world *world = table->session->world;
    bool is_split = table->type->split;
    const char *whole;
    if (table->entity_column < 0) {
        whole = mica_singleton_get_id(world, table->component);
    } else if (cursor->pool) {
        mica_entity entity = micap_sql_scan_entity(&cursor->scan);
        if (cursor->scan.is_list)
            cursor->instance = micap_sql_instance_at(cursor->pool, entity, cursor->ordinal);
        whole = mica_instance_is_nil(cursor->instance) ? NULL
                : is_split ? mica_instance_read_field_id(cursor->pool, cursor->instance, column->leaf)
                           : mica_instance_read_id(cursor->pool, cursor->instance);
    } else if (cursor->scan.is_list) {
        mica_entity entity = micap_sql_scan_entity(&cursor->scan);
        whole = is_split ? mica_get_field_id(world, entity, table->component, column->leaf)
                         : mica_get_id(world, entity, table->component);
    } else {
        return of_view(cursor, number);
    }
    return whole ? whole + column->offset - (is_split ? column->leaf : 0) : NULL;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    cursor *cursor = (struct cursor *)base;
    const micap_sql_table *table = table_of(cursor);
    if (sqlite3_vtab_nochange(context)) /* an UPDATE that does not change the column */
        return SQLITE_OK;
    bool has_entity = table->entity_column >= 0;
    if (has_entity && micap_sql_scan_is_invalid(&cursor->scan))
        return fail_void(base->pVtab);
    mica_entity entity = has_entity ? micap_sql_scan_entity(&cursor->scan) : mica_nil();
    if (number == table->entity_column) {
        micap_sql_result_entity(context, entity);
    } else if (number == table->instance_column) {
        sqlite3_result_int64(context, cursor->ordinal);
    } else if (number == table->enabled_column) {
        sqlite3_result_int(context, mica_is_enabled_id(table->session->world, entity, table->component));
    } else {
        uint32_t field = (uint32_t)(number - table->first_field);
        const char *at = field_of(cursor, field);
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
    if (micap_sql_scan_is_invalid(&cursor->scan))
        return fail_void(base->pVtab);
    mica_entity entity = micap_sql_scan_entity(&cursor->scan);
    *out_row = table->type->many ? micap_sql_instance_row(entity, cursor->ordinal) : mica_sql_from_entity(entity);
    return table->type->many ? note_generation(table, entity) : SQLITE_OK;
}

const sqlite3_module micap_sql_component_reader = {MICAP_SQL_READING};
const sqlite3_module micap_sql_component_module = {MICAP_SQL_READING, MICAP_SQL_WRITING, .xUpdate = micap_sql_update};
