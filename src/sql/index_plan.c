#include "sql/index_plan.h"
#include "sql/value_read.h"

#include "mica/disable.h"
#include "mica/entity.h"
#include "mica/index.h"
#include "mica/relation.h"

#include <string.h>

enum {
    LOOK_UP_COST = 4, /* of the first row */
    ROW_COST = 2,     /* of a row that is looked up; one of a scan costs 1 */
    EQUAL_ROWS = 10,  /* a guess, as SQLite has it */
    RANGE_PART = 3,   /* and of how many rows one is above, or below, a value */
};

/* The number of a plan: a way, the conditions of a field, and its column. */
typedef enum way { ALL, BY_ENTITY, BY_TARGET, BY_FIELD } way;
enum { WAY_MASK = 3, IS_EQUAL = 4, HAS_LOW = 8, HAS_HIGH = 16, COLUMN_SHIFT = 5 };

/* Numbers of constraints; -1: there is none. */
typedef struct conditions {
    const micap_sql_column *column;
    int number; /* of the column */
    int equal, low, high;
} conditions;

static mica_kind kind_of(const micap_sql_column *column)
{
    return column->field->type ? column->field->type->kind : column->field->kind;
}

/* Whether equal values of SQL are equal in an index, and have the same order there. Names of constants have another one, and large unsigned
 * numbers are negative in SQL. */
static bool is_comparable(const micap_sql_column *column, bool is_range)
{
    bool is_text = column->form == MICAP_SQL_DYNAMIC && column->field->kind == MICA_KIND_TEXT;
    if (column->form != MICAP_SQL_SCALAR && !is_text)
        return false;
    switch (kind_of(column)) {
    case MICA_KIND_CHAR:
    case MICA_KIND_ENUM:
    case MICA_KIND_FLAGS: return false;
    case MICA_KIND_U64:
    case MICA_KIND_ASSET:
    case MICA_KIND_ENTITY: return !is_range;
    default: return true;
    }
}

static bool is_target(const micap_sql_table *table, const micap_sql_column *column)
{
    return table->type->relation && strcmp(column->field->name, "target") == 0 && kind_of(column) == MICA_KIND_ENTITY;
}

/* Whether a constraint compares text byte by byte, as indexes do. */
static bool is_binary(sqlite3_index_info *info, int constraint)
{
    return strcmp(sqlite3_vtab_collation(info, constraint), "BINARY") == 0;
}

/* The constraint that compares a column in this way; -1 if there is none. */
static int find(sqlite3_index_info *info, int column, unsigned char op, unsigned char or_op)
{
    for (int i = 0; i < info->nConstraint; ++i) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        if (constraint->usable && constraint->iColumn == column && (constraint->op == op || constraint->op == or_op) &&
            is_binary(info, i))
            return i;
    }
    return -1;
}

static int find_equal(sqlite3_index_info *info, int column)
{
    return find(info, column, SQLITE_INDEX_CONSTRAINT_EQ, SQLITE_INDEX_CONSTRAINT_EQ);
}

static int choose(sqlite3_index_info *info, int plan, uint64_t rows, double cost)
{
    info->idxNum = plan;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = cost;
    return SQLITE_OK;
}

static bool choose_entity(const micap_sql_table *table, sqlite3_index_info *info)
{
    bool is_unique = !table->type->many;
    int equal = find_equal(info, table->entity_column);
    if (equal < 0 && is_unique)
        equal = find_equal(info, -1); /* the row id is the entity */
    if (equal < 0)
        return false;
    info->aConstraintUsage[equal].argvIndex = 1;
    info->idxFlags = is_unique ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    choose(info, BY_ENTITY, is_unique ? 1 : 4, LOOK_UP_COST);
    return true;
}

/* Conditions on a column that an index, or the edges of a target, can answer. */
static bool find_conditions(const micap_sql_table *table, sqlite3_index_info *info, uint32_t field, conditions *out)
{
    const micap_sql_column *column = &table->columns[field];
    int number = table->first_field + (int)field;
    *out = (conditions){column, number, -1, -1, -1};
    if (!is_comparable(column, false))
        return false;
    out->equal = find_equal(info, number);
    if (out->equal < 0 && is_comparable(column, true)) {
        out->low = find(info, number, SQLITE_INDEX_CONSTRAINT_GT, SQLITE_INDEX_CONSTRAINT_GE);
        out->high = find(info, number, SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE);
    }
    if (out->equal < 0 && out->low < 0 && out->high < 0)
        return false;
    return is_target(table, column)
               ? out->equal >= 0
               : mica_index_of_field_id(table->session->world, table->component, column->offset) != NULL;
}

/* An equal value is better than a range, a closed range better than an open one. */
static int rank_of(const conditions *found)
{
    return found->equal >= 0 ? 3 : (found->low >= 0) + (found->high >= 0);
}

static int choose_field(const micap_sql_table *table, sqlite3_index_info *info, const conditions *best, uint64_t rows)
{
    bool by_target = is_target(table, best->column);
    int plan = by_target ? BY_TARGET : BY_FIELD | best->number << COLUMN_SHIFT, count = 0;
    uint64_t part = rows;
    if (best->equal >= 0) {
        info->aConstraintUsage[best->equal].argvIndex = ++count;
        part = rows < EQUAL_ROWS ? rows : EQUAL_ROWS;
        plan |= IS_EQUAL;
    }
    if (best->low >= 0) {
        info->aConstraintUsage[best->low].argvIndex = ++count;
        part /= RANGE_PART;
        plan |= HAS_LOW;
    }
    if (best->high >= 0) {
        info->aConstraintUsage[best->high].argvIndex = ++count;
        part /= RANGE_PART;
        plan |= HAS_HIGH;
    }
    /* What EXPLAIN QUERY PLAN shows. */
    info->idxStr = sqlite3_mprintf("%s%s", best->column->name, best->equal >= 0 ? " = ?" : " in a range");
    info->needToFreeIdxStr = 1;
    return info->idxStr ? choose(info, plan, part, LOOK_UP_COST + ROW_COST * (double)part) : SQLITE_NOMEM;
}

int micap_sql_plan_choose(const micap_sql_table *table, sqlite3_index_info *info)
{
    if (table->entity_column < 0)
        return choose(info, ALL, 1, 2);
    if (choose_entity(table, info))
        return SQLITE_OK;
    uint64_t rows = micap_sql_scan_estimate(table->session->world, table->component);
    conditions best = {.equal = -1, .low = -1, .high = -1}, found;
    for (uint32_t i = 0; i < table->column_count; ++i)
        if (find_conditions(table, info, i, &found) && rank_of(&found) > rank_of(&best))
            best = found;
    return best.column ? choose_field(table, info, &best, rows) : choose(info, ALL, rows, (double)rows + 1);
}

typedef enum comparison { COMPARES, NEVER, UNKNOWN } comparison;

/* Text that ends where SQLite says. */
static comparison text_key(sqlite3_value *value, mica_key *out)
{
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text || strlen(text) != (size_t)sqlite3_value_bytes(value))
        return UNKNOWN;
    *out = mica_key_text(text);
    return COMPARES;
}

/* The key of a value. NULL is equal to nothing. Text is compared with other values as SQLite does it: by a scan. */
static comparison key_of(const micap_sql_column *column, sqlite3_value *value, mica_key *out)
{
    mica_kind kind = kind_of(column);
    bool is_bits = kind == MICA_KIND_U64 || kind == MICA_KIND_ASSET;
    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL: return NEVER;
    case SQLITE_INTEGER:
        *out = is_bits ? mica_key_natural((uint64_t)sqlite3_value_int64(value))
                       : mica_key_integer(sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        *out = mica_key_real(sqlite3_value_double(value));
        if (is_bits)
            return UNKNOWN;
        break;
    case SQLITE_TEXT: return kind == MICA_KIND_TEXT ? text_key(value, out) : UNKNOWN;
    default: return UNKNOWN;
    }
    if (kind == MICA_KIND_TEXT)
        return UNKNOWN;
    if (kind == MICA_KIND_ENTITY)
        *out = mica_key_entity(micap_sql_value_entity(value));
    return COMPARES;
}

static void list(micap_sql_scan *scan, mica_entity entity, int *out_result)
{
    if (!micap_sql_scan_add(scan, entity))
        *out_result = SQLITE_NOMEM;
}

static bool list_query(mica_query *query, micap_sql_scan *scan, uint64_t *count, int *out_result)
{
    for (mica_view view = mica_query_begin(query); mica_view_next(&view); *count += view.count)
        for (uint32_t i = 0; i < view.count; ++i)
            list(scan, view.entities[i], out_result);
    return query != NULL;
}

/* Lists what the table has, but no index: disabled entities, and entities whose component is disabled. Adds their number to that of the
 * index; false if memory is short. */
static bool list_disabled(const micap_sql_table *table, micap_sql_scan *scan, uint64_t *count, int *out_result)
{
    uint64_t all = micap_sql_scan_count(scan);
    if (*count >= all)
        return true;
    mica_term terms[] = {{.component = table->component, .access = MICA_ACCESS_HAS},
                         {.component = mica_disabled_id(), .access = MICA_ACCESS_HAS}};
    mica_query *hidden = mica_query_create(table->session->world, &(mica_query_def){.terms = terms, .term_count = 2});
    bool done = list_query(hidden, scan, count, out_result);
    mica_query_destroy(hidden);
    return done && (scan->query_count < 2 || list_query(scan->queries[1], scan, count, out_result));
}

/* Lists what an index finds. UNKNOWN if it can't answer. SQLITE_NOMEM is a result, too. */
static comparison list_field(const micap_sql_table *table, int plan, sqlite3_value **values, micap_sql_scan *scan,
                             int *out_result)
{
    const micap_sql_column *column = &table->columns[(plan >> COLUMN_SHIFT) - table->first_field];
    mica_key low = {0}, high = {0};
    comparison from = COMPARES, to = COMPARES;
    if (plan & (IS_EQUAL | HAS_LOW))
        from = key_of(column, *values++, &low);
    if (plan & HAS_HIGH)
        to = key_of(column, *values, &high);
    if (from != COMPARES || to != COMPARES)
        return from == NEVER || to == NEVER ? NEVER : UNKNOWN;
    mica_index *index = mica_index_of_field_id(table->session->world, table->component, column->offset);
    if (!index || mica_index_update(index) == MICA_ERROR_MEMORY)
        return UNKNOWN;
    uint64_t listed = mica_index_entity_count(index);
    bool is_complete = list_disabled(table, scan, &listed, out_result) && listed == micap_sql_scan_count(scan);
    for (mica_match match = mica_index_range(index, low, plan & IS_EQUAL ? low : high); mica_match_next(&match);)
        list(scan, match.entity, out_result);
    return is_complete ? COMPARES : UNKNOWN;
}

/* Lists the sources of a target. Edges to entities that are not alive are found by a scan. */
static comparison list_sources(const micap_sql_table *table, sqlite3_value *value, micap_sql_scan *scan,
                               int *out_result)
{
    mica_world *world = table->session->world;
    mica_entity target = micap_sql_value_entity(value);
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return NEVER;
    if (!mica_is_alive(world, target))
        return UNKNOWN;
    for (mica_edges at = mica_sources_id(world, target, table->component); mica_edge_next(&at);)
        list(scan, at.entity, out_result);
    return COMPARES;
}

int micap_sql_plan_begin(int plan, sqlite3_value **values, micap_sql_rows *rows)
{
    way way = plan & WAY_MASK;
    if (way == ALL || way == BY_ENTITY)
        return micap_sql_rows_begin(rows, way == ALL, way == ALL ? mica_nil() : micap_sql_value_entity(values[0]));
    int result = SQLITE_OK;
    micap_sql_scan_listed(&rows->scan);
    comparison found = way == BY_TARGET ? list_sources(rows->table, values[0], &rows->scan, &result)
                                        : list_field(rows->table, plan, values, &rows->scan, &result);
    if (result != SQLITE_OK)
        return result;
    return found == UNKNOWN ? micap_sql_rows_begin(rows, true, mica_nil()) : micap_sql_rows_begin_listed(rows);
}
