/* Queries as joins, compared with SQLite over the same entities and edges: random graphs and random queries, in C and as text. What
 * follows from several edges is computed there by recursive queries. Parts are edges of a relation, or children in the hierarchy. */
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/flow.h"
#include "mica/hierarchy.h"
#include "mica/index.h"
#include "mica/mica.h"
#include "mica/query_text.h"
#include "mica/relation.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Size {
    uint32_t number;
} Size; /* of the entity, as in SQL */
MICA_COMPONENT(Size, number)
typedef struct Wing {
    uint32_t number;
} Wing;
MICA_POOL(Wing, number)
typedef struct Scale {
    uint32_t number;
} Scale;
MICA_POOL_WITH(Scale, (.many = true), number)
MICA_TAG(Red)
MICA_RELATION(Likes)
typedef struct Owns {
    uint32_t price;
} Owns;
MICA_RELATION_WITH(Owns, (.exclusive = true), price)
MICA_RELATION_WITH(Borders, (.symmetric = true))
MICA_RELATION_WITH(LeadsTo, (.transitive = true))
MICA_RELATION_WITH(PartOf, (.exclusive = true, .acyclic = true))

enum {
    COMPONENTS = 4,
    RELATIONS = 5,
    PARTS = 4, /* a relation */
    ENTITIES = 24,
    VARIABLES = 3,
    ROWS_MAX = 60000,
    ROW_BYTES = 64
};
static const char *const component_names[COMPONENTS] = {"Size", "Wing", "Scale", "Red"};
static const char *const relation_names[RELATIONS] = {"Likes", "Owns", "Borders", "LeadsTo", "PartOf"};

static reports heard;

typedef struct scene {
    mica_world *world;
    sqlite3 *sql;
    mica_entity entities[ENTITIES];
    mica_component components[COMPONENTS];
    mica_component relations[RELATIONS];
    mica_index *indexes[2];
    uint32_t index_count;
    random_source random;
} scene;

static void run_sql(sqlite3 *sql, const char *format, ...)
{
    char text[4000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ck_assert_msg(sqlite3_exec(sql, text, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", text, sqlite3_errmsg(sql));
}

static void create_tables(sqlite3 *sql)
{
    run_sql(sql, "CREATE TABLE Entity(id)");
    for (uint32_t i = 0; i < COMPONENTS; ++i)
        run_sql(sql, "CREATE TABLE %s(id)", component_names[i]);
    for (uint32_t i = 0; i < RELATIONS; ++i)
        run_sql(sql, "CREATE TABLE Stored%s(s, t)", relation_names[i]);
    run_sql(sql, "CREATE VIEW Likes AS SELECT s, t FROM StoredLikes");
    run_sql(sql, "CREATE VIEW Owns AS SELECT s, t FROM StoredOwns");
    run_sql(sql, "CREATE VIEW PartOf AS SELECT s, t FROM StoredPartOf");
    run_sql(sql, "CREATE VIEW Borders AS SELECT s, t FROM StoredBorders UNION SELECT t, s FROM StoredBorders");
    run_sql(
        sql,
        "CREATE VIEW LeadsTo AS WITH RECURSIVE reached(s, t) AS (SELECT s, t FROM StoredLeadsTo UNION SELECT "
        "reached.s, next.t FROM reached JOIN StoredLeadsTo AS next ON next.s = reached.t) SELECT s, t FROM reached");
    run_sql(sql,
            "CREATE VIEW Ancestor AS WITH RECURSIVE above(s, t, distance) AS (SELECT s, t, 1 FROM StoredPartOf UNION "
            "SELECT above.s, next.t, distance + 1 FROM above JOIN StoredPartOf AS next ON next.s = above.t) "
            "SELECT s, t, distance FROM above");
}

static void open_scene(scene *scene, uint64_t seed)
{
    *scene = (struct scene){.world = open_world(&heard), .random = {seed}};
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1 + (uint32_t)(seed % 3);
    ck_assert_int_eq(mica_flow_configure(scene->world, &flow), MICA_OK);
    ck_assert_int_eq(sqlite3_open(":memory:", &scene->sql), SQLITE_OK);
    create_tables(scene->sql);
    const mica_component components[COMPONENTS] = {MICA_ID(Size), MICA_ID(Wing), MICA_ID(Scale), MICA_ID(Red)};
    const bool has_children = seed / 3 % 2;
    const mica_component relations[RELATIONS] = {MICA_ID(Likes), MICA_ID(Owns), MICA_ID(Borders), MICA_ID(LeadsTo),
                                                 has_children ? MICA_ID(mica_child_of) : MICA_ID(PartOf)};
    memcpy(scene->components, components, sizeof components);
    memcpy(scene->relations, relations, sizeof relations);
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        scene->entities[i] = mica_create(scene->world);
        run_sql(scene->sql, "INSERT INTO Entity VALUES(%u)", i);
        for (uint32_t k = 0; k < COMPONENTS; ++k)
            if (random_one_in(&scene->random, 2)) {
                mica_set_id(scene->world, scene->entities[i], (mica_value){components[k], 0, k < 3 ? &i : NULL});
                run_sql(scene->sql, "INSERT INTO %s VALUES(%u)", component_names[k], i);
            }
        if (mica_has(scene->world, scene->entities[i], Scale)) /* a second one does not show the entity twice */
            mica_add_instance(scene->world, scene->entities[i], Scale)->number = i;
    }
    for (uint32_t k = 0; k < 2; ++k)
        if (random_one_in(&scene->random, 2)) {
            mica_index_def def = {
                .component = components[k], .fields = "number", .hashed = random_one_in(&scene->random, 2)};
            scene->indexes[scene->index_count] = mica_index_create(scene->world, &def);
            ck_assert(scene->indexes[scene->index_count++] != NULL);
        }
    uint32_t edges = 10 + random_below(&scene->random, 60);
    for (uint32_t i = 0; i < edges; ++i) {
        uint32_t k = random_below(&scene->random, RELATIONS), from = random_below(&scene->random, ENTITIES);
        uint32_t to = random_below(&scene->random, ENTITIES);
        if (k == PARTS ? from <= to : from == to) /* parts have smaller owners: there is no circle */
            continue;
        if (k == PARTS && has_children)
            mica_set_parent(scene->world, scene->entities[from], scene->entities[to]);
        else
            mica_relate_id(scene->world, scene->entities[from], relations[k], scene->entities[to]);
    }
    for (uint32_t k = 0; k < RELATIONS; ++k)
        for (uint32_t from = 0; from < ENTITIES; ++from)
            for (uint32_t to = 0; to < ENTITIES; ++to)
                if (k == PARTS
                        ? mica_is_related_id(scene->world, scene->entities[from], relations[k], scene->entities[to])
                        : mica_edge_get_id(scene->world, scene->entities[from], relations[k], scene->entities[to]) !=
                              NULL)
                    run_sql(scene->sql, "INSERT INTO Stored%s VALUES(%u, %u)", relation_names[k], from, to);
}

static void close_scene(scene *scene)
{
    sqlite3_close(scene->sql);
    close_world(scene->world, &heard);
}

/* A query in C and in SQL. */
typedef struct question {
    mica_term terms[MICA_TERMS_MAX];
    uint32_t term_count;
    char from[1000], where[3000], columns[1000];
    uint32_t unnamed;            /* joined tables without a variable */
    bool is_used[VARIABLES + 1]; /* variables of required terms */
    bool is_tested[VARIABLES + 1];
    bool is_optional[VARIABLES + 1];
    uint32_t value_terms[MICA_TERMS_MAX]; /* terms whose value is part of the result */
    uint32_t value_count;
} question;

static void append(char *text, size_t capacity, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, capacity - length, format, arguments);
    va_end(arguments);
}

static mica_node node_of(uint32_t variable)
{
    return variable ? mica_variable(variable) : mica_this();
}

/* One side of an edge: a variable, or, rarely, something else. `out` is its value in SQL; empty: any. */
static mica_node draw_node(scene *scene, question *question, bool is_required, char out[32])
{
    uint32_t chosen = random_below(&scene->random, VARIABLES + 3);
    if (chosen <= VARIABLES) {
        (is_required ? question->is_used : question->is_tested)[chosen] = true;
        snprintf(out, 32, "v%u.id", chosen);
        return node_of(chosen);
    }
    uint32_t entity = random_below(&scene->random, ENTITIES);
    bool is_fixed = chosen == VARIABLES + 1;
    snprintf(out, 32, is_fixed ? "%u" : "%.0u", is_fixed ? entity : 0);
    return is_fixed ? mica_fixed(scene->entities[entity]) : mica_any();
}

/* An edge as a condition of SQL. */
static void write_edge(const scene *scene, uint32_t relation, const char *from, const char *to, char *out, size_t bytes)
{
    (void)scene;
    snprintf(out, bytes, "EXISTS(SELECT 1 FROM %s WHERE 1 %s%s %s%s)", relation_names[relation], *from ? "AND s=" : "",
             from, *to ? "AND t=" : "", to);
}

static mica_term draw_edge(scene *scene, question *question, bool is_required, char *condition, size_t bytes)
{
    char from[32], to[32];
    uint32_t relation = random_below(&scene->random, RELATIONS);
    mica_term term = {.component = scene->relations[relation], .access = MICA_ACCESS_HAS};
    term.subject = draw_node(scene, question, is_required, from);
    do
        term.target = draw_node(scene, question, is_required, to);
    while (!*from && !*to);
    write_edge(scene, relation, from, to, condition, bytes);
    return term;
}

static mica_term draw_component(scene *scene, question *question, bool is_required, char *condition, size_t bytes)
{
    uint32_t variable = random_below(&scene->random, VARIABLES + 1), kind = random_below(&scene->random, COMPONENTS);
    (is_required ? question->is_used : question->is_tested)[variable] = true;
    snprintf(condition, bytes, "EXISTS(SELECT 1 FROM %s WHERE id=v%u.id)", component_names[kind], variable);
    return (mica_term){.component = scene->components[kind], .access = MICA_ACCESS_HAS, .subject = node_of(variable)};
}

static void add(question *question, mica_term term)
{
    question->terms[question->term_count++] = term;
}

/* A component whose number is compared: with an index of it, if the scene has one, or without. */
static void add_comparison(scene *scene, question *question)
{
    static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};
    uint32_t variable = random_below(&scene->random, VARIABLES + 1), kind = random_below(&scene->random, 2);
    uint32_t how = random_below(&scene->random, 6), key = random_below(&scene->random, ENTITIES);
    question->is_used[variable] = true;
    append(question->where, sizeof question->where, " AND EXISTS(SELECT 1 FROM %s WHERE id=v%u.id AND id%s%u)",
           component_names[kind], variable, signs[how], key);
    add(question, (mica_term){.component = scene->components[kind],
                              .access = MICA_ACCESS_HAS,
                              .subject = node_of(variable),
                              .field = "number",
                              .compare = MICA_EQUAL + how,
                              .key = random_one_in(&scene->random, 2) ? mica_key_integer(key) : mica_key_real(key)});
}

/* The nearest ancestor with a component: its value is that of the entity, as in SQL. */
static void add_up(scene *scene, question *question)
{
    uint32_t variable = random_below(&scene->random, VARIABLES + 1), kind = random_below(&scene->random, 2);
    bool is_optional = random_one_in(&scene->random, 3), is_down = !is_optional && random_one_in(&scene->random, 2);
    mica_term term = {.component = scene->components[kind],
                      .access = is_optional ? MICA_ACCESS_MAYBE_READ : MICA_ACCESS_READ,
                      .subject = node_of(variable)};
    *(is_down ? &term.down : &term.up) = scene->relations[PARTS];
    question->is_used[variable] = true;
    if (is_optional) /* the variable must be bound by something that is required */
        add(question,
            (mica_term){.component = MICA_ID(Likes), .access = MICA_ACCESS_HAS, .subject = node_of(variable)});
    if (is_optional)
        append(question->where, sizeof question->where, " AND EXISTS(SELECT 1 FROM Likes WHERE s=v%u.id)", variable);
    question->value_terms[question->value_count++] = question->term_count;
    add(question, term);
    if (is_down) {
        append(question->from, sizeof question->from, ", Ancestor AS d%u", question->unnamed);
        append(question->where, sizeof question->where, " AND d%u.t=v%u.id AND EXISTS(SELECT 1 FROM %s WHERE id=d%u.s)",
               question->unnamed, variable, component_names[kind], question->unnamed);
        append(question->columns, sizeof question->columns, ", d%u.s", question->unnamed);
        ++question->unnamed;
        return;
    }
    char nearest[200];
    snprintf(nearest, sizeof nearest,
             "(SELECT t FROM Ancestor WHERE s=v%u.id AND t IN (SELECT id FROM %s) ORDER BY distance LIMIT 1)", variable,
             component_names[kind]);
    append(question->columns, sizeof question->columns, ", %s", nearest);
    if (!is_optional)
        append(question->where, sizeof question->where, " AND %s IS NOT NULL", nearest);
}

/* An edge to each: a table without a variable. */
static void add_each(scene *scene, question *question)
{
    uint32_t variable = random_below(&scene->random, VARIABLES + 1), relation = random_below(&scene->random, RELATIONS);
    bool is_turned = random_one_in(&scene->random, 2);
    mica_term term = {.component = scene->relations[relation], .access = MICA_ACCESS_HAS};
    *(is_turned ? &term.target : &term.subject) = node_of(variable);
    *(is_turned ? &term.subject : &term.target) = mica_each();
    question->is_used[variable] = true;
    append(question->from, sizeof question->from, ", %s AS d%u", relation_names[relation], question->unnamed);
    append(question->where, sizeof question->where, " AND d%u.%s=v%u.id", question->unnamed, is_turned ? "t" : "s",
           variable);
    ++question->unnamed;
    add(question, term);
}

static void add_group(scene *scene, question *question)
{
    uint32_t members = 2 + random_below(&scene->random, 2);
    append(question->where, sizeof question->where, " AND (0");
    for (uint32_t i = 0; i < members; ++i) {
        char condition[200];
        mica_term term = random_one_in(&scene->random, 2)
                             ? draw_edge(scene, question, false, condition, sizeof condition)
                             : draw_component(scene, question, false, condition, sizeof condition);
        term.access = i ? MICA_ACCESS_OR : MICA_ACCESS_EITHER;
        append(question->where, sizeof question->where, " OR %s", condition);
        add(question, term);
    }
    append(question->where, sizeof question->where, ")");
}

static void add_any_term(scene *scene, question *question)
{
    char condition[200];
    uint32_t kind = random_below(&scene->random, 12);
    if (kind >= 10) {
        add_comparison(scene, question);
    } else if (kind == 0) {
        add_up(scene, question);
    } else if (kind == 1) {
        add_each(scene, question);
    } else if (kind == 2) {
        add_group(scene, question);
    } else {
        bool is_negated = kind == 3 || kind == 4;
        mica_term term = kind % 2 ? draw_edge(scene, question, !is_negated, condition, sizeof condition)
                                  : draw_component(scene, question, !is_negated, condition, sizeof condition);
        term.access = is_negated ? MICA_ACCESS_WITHOUT : MICA_ACCESS_HAS;
        append(question->where, sizeof question->where, " AND %s%s", is_negated ? "NOT " : "", condition);
        add(question, term);
    }
}

/* At the end: an edge that need not be there, from a variable that is there. It becomes a LEFT JOIN. */
static void add_optional(scene *scene, question *question, char *joins, size_t bytes)
{
    uint32_t from = random_below(&scene->random, VARIABLES + 1), to = 1 + random_below(&scene->random, VARIABLES);
    uint32_t relation = random_below(&scene->random, RELATIONS);
    if (!question->is_used[from] || question->is_used[to] || question->is_tested[to] || question->is_optional[to])
        return;
    question->is_optional[to] = true;
    append(joins, bytes, " LEFT JOIN (SELECT s, t AS id FROM %s) AS v%u ON v%u.s=v%u.id", relation_names[relation], to,
           to, from);
    add(question, (mica_term){.component = scene->relations[relation],
                              .access = MICA_ACCESS_MAYBE_READ,
                              .subject = node_of(from),
                              .target = node_of(to)});
}

/* The SQL text of a question: one column for each variable, then the values. */
static void finish(scene *scene, question *question, char *sql, size_t bytes)
{
    char joins[1000] = "";
    question->is_used[0] = true;
    if (random_one_in(&scene->random, 3))
        add_optional(scene, question, joins, sizeof joins);
    sql[0] = 0;
    append(sql, bytes, "SELECT DISTINCT v0.id");
    for (uint32_t i = 1; i <= VARIABLES; ++i)
        append(sql, bytes, question->is_used[i] || question->is_optional[i] ? ", v%u.id" : ", NULL", i);
    append(sql, bytes, "%s", question->columns);
    for (uint32_t i = 0; i < question->unnamed; ++i)
        append(sql, bytes, ", d%u.s, d%u.t", i, i);
    append(sql, bytes, " FROM (SELECT 1)");
    for (uint32_t i = 0; i <= VARIABLES; ++i)
        if (question->is_used[i])
            append(sql, bytes, ", Entity AS v%u", i);
    append(sql, bytes, "%s", question->from);
    append(sql, bytes, "%s WHERE 1%s", joins, question->where);
}

typedef struct rows {
    char (*texts)[ROW_BYTES];
    uint32_t count;
} rows;

static int compare_rows(const void *a, const void *b)
{
    return strcmp(a, b);
}

static uint32_t number_of(const scene *scene, mica_entity entity)
{
    for (uint32_t i = 0; i < ENTITIES; ++i)
        if (mica_same(scene->entities[i], entity))
            return i;
    return UINT32_MAX;
}

static void add_number(char *text, uint32_t number)
{
    append(text, ROW_BYTES, number == UINT32_MAX ? " -" : " %u", number);
}

/* What SQLite finds. */
static void ask_sql(scene *scene, const question *question, const char *sql, rows *out)
{
    sqlite3_stmt *statement;
    ck_assert_msg(sqlite3_prepare_v2(scene->sql, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(scene->sql));
    int columns = 1 + VARIABLES + (int)question->value_count;
    for (out->count = 0; sqlite3_step(statement) == SQLITE_ROW && out->count < ROWS_MAX; ++out->count) {
        out->texts[out->count][0] = 0;
        for (int i = 0; i < columns; ++i)
            add_number(out->texts[out->count], sqlite3_column_type(statement, i) == SQLITE_NULL
                                                   ? UINT32_MAX
                                                   : (uint32_t)sqlite3_column_int(statement, i));
    }
    sqlite3_finalize(statement);
    qsort(out->texts, out->count, ROW_BYTES, compare_rows);
}

/* The rows of a view. `numbers` are those of the variables, which may have others in a query from text. */
static void add_view(const scene *scene, const question *question, const uint32_t *numbers, const mica_view *view,
                     rows *out)
{
    for (uint32_t row = 0; row < view->count && out->count < ROWS_MAX; ++row, ++out->count) {
        char *text = out->texts[out->count];
        text[0] = 0;
        add_number(text, number_of(scene, view->entities[row]));
        for (uint32_t i = 1; i <= VARIABLES; ++i) {
            bool is_known = question->is_used[i] || question->is_optional[i];
            add_number(text, is_known ? number_of(scene, mica_view_variable(view, numbers[i])) : UINT32_MAX);
        }
        for (uint32_t i = 0; i < question->value_count; ++i) {
            const uint32_t *value = mica_view_read_at(view, question->value_terms[i]);
            ck_assert(mica_view_has_at(view, question->value_terms[i]) == (value != NULL));
            add_number(text, value ? *value : UINT32_MAX);
        }
    }
}

/* What a loop over the query shows, in its order. */
static void loop_in_order(const scene *scene, const question *question, mica_query *query, mica_view view, rows *out)
{
    uint32_t numbers[1 + VARIABLES] = {0};
    for (uint32_t i = 1; i <= VARIABLES; ++i) {
        char name[8];
        snprintf(name, sizeof name, "%u", i);
        numbers[i] = mica_query_variable(query, name);
    }
    for (out->count = 0; mica_view_next(&view);)
        add_view(scene, question, numbers, &view, out);
}

static void loop(const scene *scene, const question *question, mica_query *query, mica_view view, rows *out)
{
    loop_in_order(scene, question, query, view, out);
    qsort(out->texts, out->count, ROW_BYTES, compare_rows);
}

/* What the jobs of a system show: each has rows of its own. */
enum { JOBS_MAX = 64 };
static struct {
    const scene *scene;
    const question *question;
    rows jobs[JOBS_MAX];
} divided;

static void note_view(mica_view *view)
{
    static const uint32_t numbers[1 + VARIABLES] = {0, 1, 2, 3};
    ck_assert_uint_lt(view->slice >> 32, JOBS_MAX);
    add_view(divided.scene, divided.question, numbers, view, &divided.jobs[view->slice >> 32]);
}

/* A system shows the rows of a loop, divided into jobs of few rows, in the order of the jobs. Returns how many jobs had rows. */
static uint32_t check_system(scene *scene, const question *question, mica_query *query, rows *expected)
{
    mica_use uses[2] = {{.index = scene->indexes[0]}, {.index = scene->indexes[1]}};
    mica_system_def def = {.name = "note",
                           .view = note_view,
                           .terms = question->terms,
                           .term_count = question->term_count,
                           .parallel = MICA_PARALLEL_EVERY,
                           .parallel_rows = 1 + random_below(&scene->random, 4),
                           .uses = uses,
                           .use_count = random_one_in(&scene->random, 2) ? scene->index_count : 0};
    uint32_t done = 0, jobs = 0;
    divided.scene = scene;
    divided.question = question;
    for (uint32_t i = 0; i < JOBS_MAX; ++i)
        divided.jobs[i].count = 0;
    mica_system system = mica_system_add(scene->world, &def);
    ck_assert_int_eq(mica_step(scene->world, 0), MICA_OK);
    ck_assert_int_eq(mica_system_remove(scene->world, system), true);
    loop_in_order(scene, question, query, mica_query_begin(query), expected);
    for (uint32_t i = 0; i < JOBS_MAX; done += divided.jobs[i++].count) {
        jobs += divided.jobs[i].count != 0;
        for (uint32_t k = 0; k < divided.jobs[i].count; ++k)
            ck_assert_msg(done + k < expected->count &&
                              strcmp(divided.jobs[i].texts[k], expected->texts[done + k]) == 0,
                          "job %u, row %u:%s", i, k, divided.jobs[i].texts[k]);
    }
    ck_assert_uint_eq(done, expected->count);
    return jobs;
}

static void expect_same(const rows *expected, const rows *found, const char *text, const char *sql)
{
    for (uint32_t i = 0; i < expected->count && i < found->count; ++i)
        ck_assert_msg(strcmp(expected->texts[i], found->texts[i]) == 0, "%s\n%s\nrow %u: SQL%s, found%s", text, sql, i,
                      expected->texts[i], found->texts[i]);
    ck_assert_msg(expected->count == found->count, "%s\n%s\n%u rows in SQL, found %u", text, sql, expected->count,
                  found->count);
}

/* The number of this entity that a row begins with. */
static uint32_t this_of(const char *row)
{
    return (uint32_t)atoi(row);
}

static void check_other_calls(scene *scene, mica_query *query, const rows *expected, const char *text)
{
    bool is_shown[ENTITIES] = {false};
    for (uint32_t i = 0; i < expected->count; ++i)
        is_shown[this_of(expected->texts[i])] = true;
    for (uint32_t i = 0; i < ENTITIES; ++i)
        ck_assert_msg(mica_query_matches(query, scene->entities[i]) == is_shown[i], "%s: matches %u", text, i);
    ck_assert_msg(mica_query_count(query) == expected->count, "%s: count", text);
    mica_entity first = mica_query_first(query);
    ck_assert_msg(mica_is_nil(first) == !expected->count, "%s: first", text);
    ck_assert(mica_is_nil(first) || is_shown[number_of(scene, first)]);
}

/* A variable that is bound leaves the rows with it. */
static void check_bound(scene *scene, const question *question, mica_query *query, const rows *expected, rows *found,
                        rows *bound)
{
    uint32_t variable = random_below(&scene->random, VARIABLES + 1), entity = random_below(&scene->random, ENTITIES);
    if (!question->is_used[variable])
        return;
    char name[8];
    snprintf(name, sizeof name, "%u", variable);
    mica_view view = mica_query_begin(query);
    ck_assert(mica_view_bind(&view, variable ? mica_query_variable(query, name) : 0, scene->entities[entity]));
    loop(scene, question, query, view, found);
    bound->count = 0;
    for (uint32_t i = 0; i < expected->count; ++i) {
        const char *at = expected->texts[i];
        for (uint32_t k = 0; k < variable; ++k)
            at = strchr(at + 1, ' ');
        if (at[1] != '-' && (uint32_t)atoi(at) == entity)
            memcpy(bound->texts[bound->count++], expected->texts[i], ROW_BYTES);
    }
    expect_same(bound, found, "bound", "");
}

static bool ask(scene *scene, rows sets[3], uint32_t *out_jobs)
{
    static question question;
    static char sql[8000], text[2000];
    static const char *const names[VARIABLES] = {"1", "2", "3"};
    question = (struct question){0};
    uint32_t terms = 1 + random_below(&scene->random, 6);
    for (uint32_t i = 0; i < terms; ++i)
        add_any_term(scene, &question);
    finish(scene, &question, sql, sizeof sql);
    for (uint32_t i = 1; i <= VARIABLES; ++i)
        if (question.is_tested[i] && !question.is_used[i])
            return false; /* which is rejected: see the test below */
    mica_query_def def = {
        .terms = question.terms, .term_count = question.term_count, .variables = names, .variable_count = VARIABLES};
    uint32_t reported = heard.count;
    mica_query *query = mica_query_create(scene->world, &def);
    if (!query) { /* no term about this entity, or the same term twice */
        ck_assert_uint_eq(heard.count, reported + 1);
        heard.count = reported;
        return false;
    }
    mica_query_write_text(query, text, sizeof text);
    ask_sql(scene, &question, sql, &sets[0]);
    if (sets[0].count == ROWS_MAX) { /* there are more */
        mica_query_destroy(query);
        return false;
    }
    loop(scene, &question, query, mica_query_begin(query), &sets[1]);
    expect_same(&sets[0], &sets[1], text, sql);
    check_other_calls(scene, query, &sets[0], text);
    if (strchr(text, '(')) { /* it is about more than this entity */
        check_bound(scene, &question, query, &sets[0], &sets[1], &sets[2]);
        *out_jobs += check_system(scene, &question, query, &sets[1]);
    }
    mica_value_error error;
    mica_query *again = mica_query_text(scene->world, text, &error);
    ck_assert_msg(again != NULL, "%s: at %u: %s", text, error.position, error.text);
    loop(scene, &question, again, mica_query_begin(again), &sets[1]);
    expect_same(&sets[0], &sets[1], text, sql);
    mica_query_destroy(again);
    mica_query_destroy(query);
    return true;
}

START_TEST(random_queries_over_random_graphs_find_what_sqlite_finds)
{
    uint64_t seed = setting_from_environment("MICA_SEED", 1), graphs = setting_from_environment("MICA_GRAPHS", 40);
    rows sets[3];
    uint32_t asked = 0, jobs = 0;
    for (uint32_t i = 0; i < JOBS_MAX; ++i)
        divided.jobs[i].texts = malloc(sizeof *divided.jobs[i].texts * ROWS_MAX);
    for (uint32_t i = 0; i < 3; ++i)
        sets[i].texts = malloc(sizeof *sets[i].texts * ROWS_MAX);
    for (uint64_t i = 0; i < graphs; ++i) {
        scene scene;
        open_scene(&scene, seed * 1000 + i);
        for (uint32_t k = 0; k < 40; ++k)
            asked += ask(&scene, sets, &jobs);
        close_scene(&scene);
    }
    ck_assert_uint_gt(asked, graphs * 10);
    ck_assert_uint_gt(jobs, asked); /* most of them are divided */
    for (uint32_t i = 0; i < JOBS_MAX; ++i)
        free(divided.jobs[i].texts);
    for (uint32_t i = 0; i < 3; ++i)
        free(sets[i].texts);
}
END_TEST

TEST_SUITE(join, random_queries_over_random_graphs_find_what_sqlite_finds)
