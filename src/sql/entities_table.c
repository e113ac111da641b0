#include "sql/entities_table.h"
#include "sql/row_scan.h"
#include "sql/transaction.h"
#include "sql/value_read.h"

#include "mica/entity.h"
#include "mica/hierarchy.h"

#include <string.h>

enum {
    ENTITY = 0,
    SLOT,
    GENERATION,
    NAME,
    PATH,
    PARENT,
    CHILD_COUNT,
    COMPONENT_COUNT,
    COMPONENTS,
    COLUMN_COUNT,
};

enum { PLAN_SCAN = 0, PLAN_ENTITY, PLAN_PATH, PLAN_PARENT, LOOK_UP_COST = 4, CHILDREN_GUESSED = 10 };

typedef struct cursor {
    sqlite3_vtab_cursor base;
    micap_sql_scan scan;
} cursor;

static mica_world *world_of(const sqlite3_vtab *vtab)
{
    return ((const micap_sql_vtab *)vtab)->table->session->world;
}

static int connect_table(sqlite3 *database, void *context, int count, const char *const *arguments,
                         sqlite3_vtab **out_vtab, char **out_error)
{
    (void)count, (void)arguments, (void)out_error;
    return micap_sql_connect(database, context,
                             "CREATE TABLE x(entity INTEGER, slot INTEGER, generation INTEGER, name TEXT, path TEXT, "
                             "parent INTEGER, child_count INTEGER, component_count INTEGER, components TEXT)",
                             out_vtab);
}

static int plan_of(int column)
{
    switch (column) {
    case -1:
    case ENTITY: return PLAN_ENTITY;
    case PATH: return PLAN_PATH;
    case PARENT: return PLAN_PARENT;
    default: return PLAN_SCAN;
    }
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    uint64_t count = mica_world_get_stats(world_of(vtab)).entity_count;
    int best = -1;
    info->idxNum = PLAN_SCAN;
    info->estimatedRows = (sqlite3_int64)count;
    info->estimatedCost = (double)count + 1;
    for (int i = 0; i < info->nConstraint; ++i) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        int plan = plan_of(constraint->iColumn);
        if (!constraint->usable || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ || plan == PLAN_SCAN ||
            (best >= 0 && plan >= info->idxNum))
            continue;
        best = i;
        info->idxNum = plan;
        info->idxFlags = plan == PLAN_ENTITY ? SQLITE_INDEX_SCAN_UNIQUE : 0;
        info->estimatedRows = plan == PLAN_PARENT ? CHILDREN_GUESSED : 1;
        info->estimatedCost = LOOK_UP_COST * (double)info->estimatedRows;
    }
    if (best >= 0)
        info->aConstraintUsage[best].argvIndex = 1;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out_cursor)
{
    cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    cursor->scan.session = ((micap_sql_vtab *)vtab)->table->session;
    *out_cursor = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    micap_sql_scan_end(&((cursor *)base)->scan);
    sqlite3_free(base);
    return SQLITE_OK;
}

static bool list_children(micap_sql_scan *scan, mica_entity parent)
{
    const mica_world *world = scan->session->world;
    bool done = true;
    for (mica_entity child = mica_first_child(world, parent); done && !mica_is_nil(child);
         child = mica_next_sibling(world, child))
        done = micap_sql_scan_add(scan, child);
    return done;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count, sqlite3_value **values)
{
    micap_sql_scan *scan = &((cursor *)base)->scan;
    (void)text, (void)count;
    if (plan == PLAN_SCAN)
        return micap_sql_scan_all(scan);
    micap_sql_scan_listed(scan);
    bool done;
    if (plan == PLAN_PATH) {
        const char *path = (const char *)sqlite3_value_text(values[0]);
        done = micap_sql_scan_add(scan, path ? mica_find(world_of(base->pVtab), path) : mica_nil());
    } else {
        mica_entity entity = micap_sql_value_entity(values[0]);
        done = plan == PLAN_ENTITY ? micap_sql_scan_add(scan, entity) : list_children(scan, entity);
    }
    micap_sql_scan_first_listed(scan);
    return done ? SQLITE_OK : SQLITE_NOMEM;
}

static int next(sqlite3_vtab_cursor *base)
{
    return micap_sql_scan_next(&((cursor *)base)->scan) == SQLITE_OK ? SQLITE_OK : micap_sql_fail_invalid(base->pVtab);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((cursor *)base)->scan.at_end;
}

static void result_path(sqlite3_context *context, const mica_world *world, mica_entity entity)
{
    size_t length = mica_path_get(world, entity, NULL, 0);
    if (!length)
        return; /* NULL */
    char *path = sqlite3_malloc64(length + 1);
    if (!path) {
        sqlite3_result_error_nomem(context);
        return;
    }
    mica_path_get(world, entity, path, length + 1);
    sqlite3_result_text(context, path, (int)length, sqlite3_free);
}

static void result_components(sqlite3_context *context, const mica_world *world, mica_entity entity)
{
    uint32_t count = mica_get_components(world, entity, NULL, 0);
    mica_component *components = sqlite3_malloc64((count + 1) * sizeof *components);
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "");
    if (components)
        mica_get_components(world, entity, components, count);
    for (uint32_t i = 0; components && i < count; ++i)
        sqlite3_str_appendf(text, "%s%s", i ? ", " : "", mica_component_type(components[i])->name);
    int length = sqlite3_str_length(text);
    int problem = components ? sqlite3_str_errcode(text) : SQLITE_NOMEM;
    char *names = sqlite3_str_finish(text);
    sqlite3_free(components);
    if (problem != SQLITE_OK) {
        sqlite3_free(names);
        sqlite3_result_error_nomem(context);
    } else if (!length) {
        sqlite3_free(names);
        sqlite3_result_text(context, "", 0, SQLITE_STATIC);
    } else {
        sqlite3_result_text(context, names, length, sqlite3_free);
    }
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const micap_sql_scan *scan = &((cursor *)base)->scan;
    const mica_world *world = world_of(base->pVtab);
    if (sqlite3_vtab_nochange(context)) /* an UPDATE that does not change the column */
        return SQLITE_OK;
    if (micap_sql_scan_is_invalid(scan))
        return micap_sql_fail_invalid(base->pVtab);
    mica_entity entity = micap_sql_scan_entity(scan);
    switch (number) {
    case ENTITY: micap_sql_result_entity(context, entity); break;
    case SLOT: sqlite3_result_int64(context, entity.index); break;
    case GENERATION: sqlite3_result_int64(context, entity.generation); break;
    case NAME: sqlite3_result_text(context, mica_name_get(world, entity), -1, SQLITE_TRANSIENT); break;
    case PATH: result_path(context, world, entity); break;
    case PARENT: micap_sql_result_entity(context, mica_parent(world, entity)); break;
    case CHILD_COUNT: sqlite3_result_int64(context, mica_child_count(world, entity)); break;
    case COMPONENT_COUNT: sqlite3_result_int64(context, mica_get_components(world, entity, NULL, 0)); break;
    default: result_components(context, world, entity);
    }
    return SQLITE_OK;
}

static int row_of(sqlite3_vtab_cursor *base, sqlite3_int64 *out_row)
{
    const micap_sql_scan *scan = &((cursor *)base)->scan;
    if (micap_sql_scan_is_invalid(scan))
        return micap_sql_fail_invalid(base->pVtab);
    *out_row = mica_sql_from_entity(micap_sql_scan_entity(scan));
    return SQLITE_OK;
}

static bool is_given(sqlite3_value *value, bool is_new)
{
    return is_new ? sqlite3_value_type(value) != SQLITE_NULL : !sqlite3_value_nochange(value);
}

/* Checks the values before anything changes. */
static int check_row(sqlite3_vtab *vtab, sqlite3_value **values, bool is_new)
{
    static const char *const names[] = {"entity", "slot",        "generation",      "name",      "path",
                                        "parent", "child_count", "component_count", "components"};
    for (int i = 0; i < COLUMN_COUNT; ++i)
        if (i != NAME && i != PARENT && is_given(values[i], is_new))
            return micap_sql_fail(vtab, SQLITE_CONSTRAINT, "entities.%s can't be written", names[i]);
    int name = sqlite3_value_type(values[NAME]), parent = sqlite3_value_type(values[PARENT]);
    if (name != SQLITE_NULL && name != SQLITE_TEXT)
        return micap_sql_fail(vtab, SQLITE_CONSTRAINT, "entities.name takes text");
    if (parent != SQLITE_NULL && !mica_is_alive(world_of(vtab), micap_sql_value_entity(values[PARENT])))
        return micap_sql_fail(vtab, SQLITE_CONSTRAINT, "entities.parent: %s is no living entity",
                              sqlite3_value_text(values[PARENT]));
    return SQLITE_OK;
}

/* Removes the name before the move: it may be free in the new scope and taken in the old one. */
static mica_result write_row(mica_world *world, mica_entity entity, sqlite3_value **values, bool is_new)
{
    bool names = is_given(values[NAME], is_new), links = is_given(values[PARENT], is_new);
    const char *name = (const char *)sqlite3_value_text(values[NAME]);
    mica_result result = MICA_OK;
    if (names)
        result = mica_name_child(world, entity, NULL);
    if (result == MICA_OK && links)
        result = mica_set_parent(world, entity, micap_sql_value_entity(values[PARENT]));
    if (result == MICA_OK && names)
        result = mica_name_child(world, entity, name);
    return result;
}

static int update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *out_row)
{
    mica_world *world = world_of(vtab);
    mica_entity entity = micap_sql_value_entity(values[0]);
    bool is_new = mica_is_nil(entity);
    int code = micap_sql_scans_detach(((micap_sql_vtab *)vtab)->table->session);
    if (code == SQLITE_OK && count > 1)
        code = check_row(vtab, values + 2, is_new);
    if (code != SQLITE_OK || (!is_new && !mica_is_alive(world, entity))) /* destroyed with its parent */
        return code;
    if (count == 1)
        return mica_destroy(world, entity) ? SQLITE_OK : micap_sql_fail_world(vtab, "entities");
    if (!mica_same(micap_sql_value_entity(values[1]), entity))
        return micap_sql_fail(vtab, SQLITE_CONSTRAINT, "entities.rowid can't be written");
    mica_snapshot before = mica_snapshot_take(world);
    if (!before.id)
        return micap_sql_fail_world(vtab, "entities");
    if (is_new)
        entity = mica_create(world);
    mica_result result = mica_is_nil(entity) ? MICA_ERROR_MEMORY : write_row(world, entity, values + 2, is_new);
    if (result != MICA_OK) {
        const char *what = result == MICA_ERROR_EXISTS ? "the name is taken" : mica_result_text(result);
        code =
            micap_sql_fail(vtab, result == MICA_ERROR_MEMORY ? SQLITE_NOMEM : SQLITE_CONSTRAINT, "entities: %s", what);
        mica_snapshot_restore(world, before);
    }
    mica_snapshot_drop(world, before);
    *out_row = mica_sql_from_entity(entity);
    return code;
}

const sqlite3_module micap_sql_entities_reader = {.xConnect = connect_table, MICAP_SQL_READING};
const sqlite3_module micap_sql_entities_module = {
    .xConnect = connect_table, MICAP_SQL_READING, MICAP_SQL_WRITING, .xUpdate = update};
