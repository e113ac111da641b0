/* All values of a row are checked before anything changes. */
#include "sql/component_write.h"
#include "sql/component_copy.h"
#include "sql/component_table.h"
#include "sql/row_scan.h"
#include "sql/value_read.h"
#include "sql/value_write.h"

#include "mica/entity.h"
#include "mica/relation.h"
#include "mica/singleton.h"

#include <string.h>

/* A row to write. Its fields are values[first_field...]; those that an UPDATE does not change are skipped. */
typedef struct row {
    sqlite3_vtab *vtab;
    micap_sql_table *table;
    mica_world *world;
    sqlite3_value **values;
    bool is_new;
    micap_sql_copy copy;
} row;

static bool is_given(const row *row, sqlite3_value *value)
{
    return row->is_new ? sqlite3_value_type(value) != SQLITE_NULL : !sqlite3_value_nochange(value);
}

static sqlite3_value *field_value(const row *row, uint32_t column)
{
    return row->values[(uint32_t)row->table->first_field + column];
}

/* Checks the fields by storing them in the value. */
static int store_fields(row *row, uint32_t *out_count)
{
    const micap_sql_table *table = row->table;
    *out_count = 0;
    for (uint32_t i = 0; i < table->column_count; ++i) {
        char *problem = NULL;
        if (!is_given(row, field_value(row, i)))
            continue;
        ++*out_count;
        if (micap_sql_store(&table->columns[i], field_value(row, i), row->copy.value + table->columns[i].offset,
                            &problem))
            continue;
        int code = problem ? micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.%s", table->name, problem) : SQLITE_NOMEM;
        sqlite3_free(problem);
        return code;
    }
    return SQLITE_OK;
}

/* Reads the column `enabled`. Returns false if its value is invalid. */
static int read_switch(const row *row, bool *out_given, bool *out_on)
{
    sqlite3_value *value = row->table->enabled_column < 0 ? NULL : row->values[row->table->enabled_column];
    *out_given = value && is_given(row, value);
    *out_on = *out_given && sqlite3_value_int64(value);
    if (*out_given && (sqlite3_value_type(value) != SQLITE_INTEGER || sqlite3_value_int64(value) >> 1))
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.enabled takes 0 or 1", row->table->name);
    return SQLITE_OK;
}

static int change_switch(const row *row, mica_entity entity, bool given, bool on)
{
    return !given || mica_enable_id(row->world, entity, row->table->component, on)
               ? SQLITE_OK
               : micap_sql_fail_world(row->vtab, "enabled");
}

static mica_value whole_value(const row *row)
{
    uint32_t bytes = row->table->type->size_bytes;
    return (mica_value){row->table->component, bytes, bytes ? row->copy.value : NULL};
}

/* Copies the fields that were given into the component. Text and lists change places with those of the component, so that the ones that
 * were there are destroyed with the row. */
static void write_fields(const row *row, mica_pool *pool, mica_instance instance)
{
    const micap_sql_table *table = row->table;
    char *whole = !pool                 ? mica_singleton_write_id(row->world, table->component)
                  : !table->type->split ? mica_instance_write_id(pool, instance)
                                        : NULL;
    for (uint32_t i = 0; i < table->column_count; ++i) {
        const micap_sql_column *column = &table->columns[i];
        uint32_t bytes = column->field->element_bytes * (column->form == MICAP_SQL_SCALAR ? 1 : column->field->count);
        if (!is_given(row, field_value(row, i)))
            continue;
        if (column->form == MICAP_SQL_DYNAMIC && whole) {
            micap_sql_copy_swap(whole + column->offset, row->copy.value + column->offset, column->field->element_bytes);
            continue;
        }
        char *at = whole ? whole + column->offset : mica_instance_write_field_id(pool, instance, column->leaf);
        if (at)
            memcpy(at + (whole ? 0 : column->offset - column->leaf), row->copy.value + column->offset, bytes);
    }
}

static int update_singleton(row *row)
{
    uint32_t count;
    if (!micap_sql_copy_take(&row->copy, mica_singleton_get_id(row->world, row->table->component)))
        return SQLITE_NOMEM;
    int result = store_fields(row, &count);
    if (result == SQLITE_OK && count)
        write_fields(row, NULL, (mica_instance){0});
    micap_sql_copy_drop(&row->copy);
    return result;
}

/* A value with a copy function is copied by it here, and again by mica_set. */
static int update_component(row *row, mica_entity entity)
{
    const mica_type *type = row->table->type;
    uint32_t count;
    bool switched, on;
    bool has_value = type->copy
                         ? micap_sql_copy_take(&row->copy, mica_get_id(row->world, entity, row->table->component))
                         : mica_get_value_id(row->world, entity, row->table->component, row->copy.value);
    if (!has_value)
        return SQLITE_NOMEM;
    int result = store_fields(row, &count);
    if (result == SQLITE_OK)
        result = read_switch(row, &switched, &on);
    if (result == SQLITE_OK && count && !mica_set_id(row->world, entity, whole_value(row)))
        result = micap_sql_fail_world(row->vtab, row->table->name);
    if (result == SQLITE_OK)
        result = change_switch(row, entity, switched, on);
    micap_sql_copy_drop(&row->copy);
    return result;
}

static bool read_instance(row *row, const mica_pool *pool, mica_instance instance)
{
    const micap_sql_table *table = row->table;
    if (!table->type->split)
        return micap_sql_copy_take(&row->copy, mica_instance_read_id(pool, instance));
    for (uint32_t i = 0; table->type->split && i < table->column_count; ++i)
        memcpy(row->copy.value + table->columns[i].leaf,
               mica_instance_read_field_id(pool, instance, table->columns[i].leaf), table->columns[i].leaf_bytes);
    return true;
}

/* Whether an UPDATE gives an edge another target or rank, which would be another edge. */
static bool moves_edge(const row *row, const mica_pool *pool, mica_instance instance)
{
    const mica_type *type = row->table->type;
    if (!type->relation)
        return false;
    const char *old = mica_instance_read_id(pool, instance);
    bool is_same = true;
    for (uint32_t i = 0; i < 2; ++i)
        is_same = is_same && memcmp(old + type->fields[i].offset, row->copy.value + type->fields[i].offset,
                                    type->fields[i].element_bytes) == 0;
    return !is_same;
}

static int update_instance(row *row, mica_entity entity, uint32_t ordinal)
{
    mica_pool *pool = mica_pool_of_id(row->world, row->table->component);
    mica_instance instance = micap_sql_instance_at(pool, entity, ordinal);
    uint32_t count;
    bool switched, on;
    if (mica_instance_is_nil(instance))
        return SQLITE_OK;
    if (!read_instance(row, pool, instance))
        return SQLITE_NOMEM;
    int result = store_fields(row, &count);
    if (result == SQLITE_OK && count && moves_edge(row, pool, instance))
        result = micap_sql_fail(row->vtab, SQLITE_CONSTRAINT,
                                "%s: target and rank can't be updated: delete the edge and insert another",
                                row->table->name);
    if (result == SQLITE_OK)
        result = read_switch(row, &switched, &on);
    if (result == SQLITE_OK && count)
        write_fields(row, pool, instance);
    if (result == SQLITE_OK)
        result = change_switch(row, entity, switched, on);
    micap_sql_copy_drop(&row->copy);
    return result;
}

/* Returns the entity of an INSERT; nil to create one. */
static int read_entity(const row *row, mica_entity *out_entity)
{
    sqlite3_value *value = row->values[row->table->entity_column];
    *out_entity = micap_sql_value_entity(value);
    if (sqlite3_value_type(value) == SQLITE_NULL || mica_is_alive(row->world, *out_entity))
        return SQLITE_OK;
    return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.entity: %s is no living entity", row->table->name,
                          sqlite3_value_text(value));
}

static int add_component(const row *row, mica_entity *entity)
{
    const micap_sql_table *table = row->table;
    mica_value value = whole_value(row);
    if (mica_is_nil(*entity)) {
        *entity = mica_create_id(row->world, &value, 1);
        return mica_is_nil(*entity) ? micap_sql_fail_world(row->vtab, table->name) : SQLITE_OK;
    }
    if (mica_has_id(row->world, *entity, table->component) &&
        sqlite3_vtab_on_conflict(table->session->database) != SQLITE_REPLACE)
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s: entity %lld has it already", table->name,
                              (long long)mica_sql_from_entity(*entity));
    bool done = micap_sql_is_tag(table->type) ? mica_add_id(row->world, *entity, table->component) != NULL
                                              : mica_set_id(row->world, *entity, value);
    return done ? SQLITE_OK : micap_sql_fail_world(row->vtab, table->name);
}

/* An INSERT gives the target; a rank that is not 0 says where among the sources of the target. */
static int add_edge(const row *row, mica_entity *entity)
{
    const micap_sql_table *table = row->table;
    mica_entity target;
    memcpy(&target, row->copy.value + table->type->fields[0].offset, sizeof target);
    if (mica_is_nil(*entity) || !mica_is_alive(row->world, target))
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s: an edge leads from a living entity to a living target",
                              table->name);
    if (mica_edge_get_id(row->world, *entity, table->component, target))
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s: entity %lld has this target already", table->name,
                              (long long)mica_sql_from_entity(*entity));
    return mica_load_edges_id(row->world, table->component, entity, row->copy.value, 1) == MICA_OK
               ? SQLITE_OK
               : micap_sql_fail_world(row->vtab, table->name);
}

static int add_instance(const row *row, mica_entity *entity)
{
    if (row->table->type->relation)
        return add_edge(row, entity);
    mica_pool *pool = mica_pool_of_id(row->world, row->table->component);
    if (mica_is_nil(*entity))
        return add_component(row, entity);
    mica_instance instance = pool ? mica_pool_add(pool, *entity) : (mica_instance){0};
    if (mica_instance_is_nil(instance))
        return micap_sql_fail_world(row->vtab, row->table->name);
    write_fields(row, pool, instance);
    return SQLITE_OK;
}

static int insert(row *row, sqlite3_int64 *out_row)
{
    const mica_type *type = row->table->type;
    mica_entity entity;
    uint32_t count;
    bool switched, on, is_made = !type->construct || type->construct(row->copy.value, 1, type->context);
    if (!is_made)
        return SQLITE_NOMEM;
    int result = read_entity(row, &entity);
    if (result == SQLITE_OK)
        result = store_fields(row, &count);
    if (result == SQLITE_OK)
        result = read_switch(row, &switched, &on);
    if (result == SQLITE_OK)
        result = type->many ? add_instance(row, &entity) : add_component(row, &entity);
    if (result == SQLITE_OK)
        result = change_switch(row, entity, switched, on);
    if (result == SQLITE_OK)
        *out_row = mica_sql_from_entity(entity);
    if (type->destruct)
        type->destruct(row->copy.value, 1, type->context);
    return result;
}

/* Returns the entity of a row and the position of the instance; nil if it was destroyed since the row was read. */
static mica_entity entity_of_row(const micap_sql_table *table, sqlite3_int64 number, uint32_t *out_ordinal)
{
    mica_entity entity = mica_sql_to_entity(number);
    *out_ordinal = 0;
    if (table->type->many) {
        *out_ordinal = (uint32_t)INT32_MAX - entity.generation;
        entity.generation = entity.index < table->generation_count ? table->generations[entity.index] : 0;
    }
    return mica_has_id(table->session->world, entity, table->component) ? entity : mica_nil();
}

static int remove_row(const row *row, mica_entity entity, uint32_t ordinal)
{
    const micap_sql_table *table = row->table;
    if (!table->type->many)
        return mica_remove_id(row->world, entity, table->component) ? SQLITE_OK
                                                                    : micap_sql_fail_world(row->vtab, table->name);
    mica_pool *pool = mica_pool_of_id(row->world, table->component);
    mica_instance instance = micap_sql_instance_at(pool, entity, ordinal);
    return mica_instance_is_nil(instance) || mica_pool_remove(pool, instance)
               ? SQLITE_OK
               : micap_sql_fail_world(row->vtab, table->name);
}

/* Columns that identify the row are read-only. UPDATE FROM passes them unchanged. */
static int check_place(const row *row, mica_entity entity, uint32_t ordinal)
{
    const micap_sql_table *table = row->table;
    sqlite3_value *location = row->values[table->entity_column];
    sqlite3_value *instance = table->instance_column < 0 ? NULL : row->values[table->instance_column];
    if (!row->is_new && is_given(row, location) && sqlite3_value_int64(location) != mica_sql_from_entity(entity))
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.entity can't be changed", table->name);
    if (instance && is_given(row, instance) && (row->is_new || sqlite3_value_int64(instance) != ordinal))
        return micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s.instance can't be written", table->name);
    return SQLITE_OK;
}

static int write_row(row *row, sqlite3_value *location, sqlite3_int64 *out_row)
{
    const micap_sql_table *table = row->table;
    uint32_t ordinal = 0;
    mica_entity entity = mica_nil();
    if (table->entity_column < 0)
        return row->is_new ? micap_sql_fail(row->vtab, SQLITE_CONSTRAINT, "%s is a singleton: UPDATE it", table->name)
                           : update_singleton(row);
    if (!row->is_new) {
        entity = entity_of_row(table, sqlite3_value_int64(location), &ordinal);
        if (mica_is_nil(entity))
            return SQLITE_OK;
    }
    int result = check_place(row, entity, ordinal);
    if (result != SQLITE_OK)
        return result;
    if (row->is_new)
        return insert(row, out_row);
    return table->type->many ? update_instance(row, entity, ordinal) : update_component(row, entity);
}

int micap_sql_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *out_row)
{
    micap_sql_table *table = ((micap_sql_vtab *)vtab)->table;
    bool is_new = count > 1 && sqlite3_value_type(values[0]) == SQLITE_NULL;
    row row = {.vtab = vtab, .table = table, .world = table->session->world, .values = values + 2, .is_new = is_new};
    int result = micap_sql_scans_detach(table->session);
    if (result != SQLITE_OK)
        return result;
    if (count == 1 && table->entity_column < 0)
        return micap_sql_fail(vtab, SQLITE_CONSTRAINT, "%s is a singleton, which can't be deleted", table->name);
    if (count == 1) {
        uint32_t ordinal;
        mica_entity entity = entity_of_row(table, sqlite3_value_int64(values[0]), &ordinal);
        return mica_is_nil(entity) ? SQLITE_OK : remove_row(&row, entity, ordinal);
    }
    bool moves = is_new ? sqlite3_value_type(values[1]) != SQLITE_NULL
                        : sqlite3_value_int64(values[0]) != sqlite3_value_int64(values[1]);
    if (moves)
        return micap_sql_fail(vtab, SQLITE_CONSTRAINT, "%s.rowid can't be written", table->name);
    result = micap_sql_copy_init(&row.copy, table->type) ? write_row(&row, values[0], out_row) : SQLITE_NOMEM;
    micap_sql_copy_free(&row.copy);
    return result;
}
