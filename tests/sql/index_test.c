/* Statements use indexes of fields and the edges of targets: the same answers from fewer rows. A condition on +column, which is the same value,
 * makes SQLite visit all rows. */
#include "ask.h"

#include "../support/random.h"
#include "mica/disable.h"
#include "mica/hook.h"
#include "mica/index.h"
#include "mica/relation.h"
#include "mica/snapshot.h"

#include <math.h>

typedef struct Since { int32_t year; } Since;
MICA_RELATION_WITH(Since, (.on_target = MICA_TARGET_KEEP), year)
MICA_RELATION_WITH(MarriedTo, (.symmetric = true))

enum { ROWS = 400 };

static uint32_t step_count; /* of the virtual machine of SQLite: a few per row */

/* The answer as a copy; "?" is replaced by the name of the column. */
static char *answer_of(sqlite3 *database, const char *table, const char *column, const char *sign, const char *rest)
{
    char *text = sqlite3_mprintf("select entity from %s where %s%s %s order by entity", table, sign, column, rest);
    sqlite3_stmt *statement = NULL;
    size_t at = 0;
    REQUIRE_SAYING(sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK, "%s", text);
    *answer = 0;
    while (sqlite3_step(statement) == SQLITE_ROW)
        at = answer_row(statement, at);
    step_count = (uint32_t)sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
    REQUIRE(sqlite3_finalize(statement) == SQLITE_OK);
    sqlite3_free(text);
    return sqlite3_mprintf("%s", answer);
}

typedef struct condition {
    const char *column;
    const char *rest;
    bool is_fast; /* an index finds few rows */
} condition;

static void compare(sqlite3 *database, const char *table, const condition *conditions, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const condition *condition = &conditions[i];
        char *by_index = answer_of(database, table, condition->column, "", condition->rest);
        uint32_t steps = step_count;
        char *by_scan = answer_of(database, table, condition->column, "+", condition->rest);
        ck_assert_msg(strcmp(by_index, by_scan) == 0, "%s %s: expected\n%s\nfound\n%s", condition->column,
                      condition->rest, by_scan, by_index);
        ck_assert_msg(!condition->is_fast || steps * 2 < step_count, "%s %s: %u steps, by a scan %u", condition->column,
                      condition->rest, steps, step_count);
        sqlite3_free(by_index);
        sqlite3_free(by_scan);
    }
}

static const condition on_kinds[] = {
    {"i32", "= 5", true},
    {"i32", "= 5.0", true},
    {"i32", "= 5.5", true},
    {"i32", "between -3 and 4", true},
    {"i32", "> 190", true},
    {"i32", "<= -195", true},
    {"i32", "> 2.5 and +i32 < 9", false},
    {"i32", "= null", true},
    {"i32", "> null", true},
    {"i32", "is null", false},
    {"i32", "in (3, 7, 900)", true},
    {"i32", "= 1e300", true},
    {"i32", "> -1e300", false},
    {"i8", "= 300", true},
    {"i8", "> 120", true},
    {"u64", "= -1", true},
    {"u64", "= 7", true},
    {"u64", "> 7", false},
    {"u64", "= -1.0", false},
    {"f32", "= 0.25", true},
    {"f32", "= 0.1", true},
    {"f32", "between 0.1 and 0.7", true},
    {"f32", "< -19.9", true},
    {"f64", "= 3", true},
    {"f64", "> 95.5", true},
    {"f64", "is null", false},
    {"asset", "= 12", true},
    {"asset", "is null", false},
    {"mood", "= 'MOOD_ANGRY'", false},
    {"text", "= 'a'", false},
    {"reference", "= 0", false},
    {"reference", "is null", false},
    {"reference", "> 5", false},
};

static void fill(mica_world *world, random_source *random)
{
    mica_entity friend = mica_create(world);
    for (uint32_t i = 0; i < ROWS; ++i) {
        int32_t number = (int32_t)random_below(random, 400) - 200;
        mica_create(world, MICA_WITH(Kinds, {.i32 = number,
                                             .i8 = (int8_t)number,
                                             .u64 = (uint64_t)(int64_t)(number / 20 * 2 - 1),
                                             .f32 = (float)number / 10,
                                             .f64 = random_one_in(random, 9) ? (double)NAN : number * 0.5,
                                             .asset = {random_below(random, 50)},
                                             .reference = random_one_in(random, 2) ? mica_nil() : friend,
                                             .mood = number % 2 ? MOOD_ANGRY : MOOD_CALM}));
    }
}

static void index_fields(mica_world *world)
{
    static const char *const fields[] = {"i32",   "i8",   "u64",       "f32", "f64",
                                         "asset", "mood", "reference", "yes", "letter"};
    for (uint32_t i = 0; i < COUNT_OF(fields); ++i)
        ck_assert(mica_index_create(world, &(mica_index_def){.component = MICA_ID(Kinds), .fields = fields[i]}));
}

START_TEST(indexes_give_the_same_answers_from_fewer_rows)
{
    reports heard;
    mica_world *world = open_world(&heard);
    random_source random = {setting_from_environment("SEED", 3)};
    fill(world, &random);
    index_fields(world);
    sqlite3 *database = mica_sql_open(world, NULL);
    compare(database, "Kinds", on_kinds, COUNT_OF(on_kinds));

    ask(database, "update Kinds set i32 = i32 + 3, f32 = f32 * 2 where i32 between 0 and 90");
    ask(database, "delete from Kinds where i32 = 12");
    compare(database, "Kinds", on_kinds, COUNT_OF(on_kinds));
    ask(database, "begin");
    ask(database, "update Kinds set i32 = 5 where f32 > 3");
    compare(database, "Kinds", &(condition){"i32", "= 5", false}, 1);
    ask(database, "rollback");
    compare(database, "Kinds", on_kinds, COUNT_OF(on_kinds));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

typedef struct Note { uint32_t number; mica_text words; } Note;
MICA_COMPONENT_WITH(Note, (.toggle = true), number, words)

static const condition on_notes[] = {
    {"words", "= 'word 17'", true},
    {"words", "= 'a longer word with number 4'", true},
    {"words", "= 'nothing'", true},
    {"words", "= ''", false},
    {"words", "= 17", false},
    {"words", "= x'61'", false},
    {"words", "= null", true},
    {"words", "in ('word 3', 'word 5', 'wor')", true},
    {"words", "between 'word 20' and 'word 21'", true},
    {"words", "> 'word 9'", true},
    {"words", "<= 'a longer word with number 2'", true},
    {"words", "= 'WORD 17' collate nocase", false},
    {"words", "= 'word 17' || char(0)", false},
    {"number", "= 30", true},
};

START_TEST(indexes_of_text_answer_text)
{
    reports heard;
    mica_world *world = open_world(&heard);
    random_source random = {setting_from_environment("SEED", 6)};
    mica_entity entities[ROWS];
    for (uint32_t i = 0; i < ROWS; ++i) {
        char words[40];
        snprintf(words, sizeof words, i % 5 ? "word %u" : "a longer word with number %u", random_below(&random, 100));
        entities[i] = mica_create(world, MICA_WITH(Note, {i, i % 77 ? mica_text_of(words) : mica_text_of("")}));
    }
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Note), .fields = "words", .hashed = true});
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Note), .fields = "number"});
    sqlite3 *database = mica_sql_open(world, NULL);
    compare(database, "Note", on_notes, COUNT_OF(on_notes));
    for (uint32_t i = 0; i < ROWS / 8; ++i) { /* an index does not have them */
        mica_entity entity = entities[random_below(&random, ROWS)];
        if (random_one_in(&random, 2))
            mica_entity_disable(world, entity);
        if (random_one_in(&random, 2))
            mica_disable(world, entity, Note);
    }
    compare(database, "Note", on_notes, COUNT_OF(on_notes));
    ask(database, "update Note set words = 'word 17' where words = 'word 3'");
    compare(database, "Note", on_notes, COUNT_OF(on_notes));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(disabled_entities_are_found_although_an_index_does_not_have_them)
{
    reports heard;
    mica_world *world = open_world(&heard);
    random_source random = {setting_from_environment("SEED", 4)};
    fill(world, &random);
    index_fields(world);
    mica_entity hidden = mica_create(world, MICA_WITH(Kinds, {.i32 = 7777}));
    ck_assert(mica_entity_disable(world, hidden));
    mica_create(world, MICA_WITH(Health, {.current = 7, .maximum = 9}));
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Health), .fields = "current"});
    sqlite3 *database = mica_sql_open(world, NULL);
    expect_answer(database, &(exchange){"select count(*) from Kinds where i32 = 7777", "1\n"});
    expect_answer(database, &(exchange){"update Health set enabled = 0 where current = 7", ""});
    expect_answer(database, &(exchange){"select current, enabled from Health where current = 7", "7|0\n"});
    compare(database, "Kinds", on_kinds, COUNT_OF(on_kinds));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_plan_names_the_column_that_is_looked_up)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity target = mica_create(world);
    for (uint32_t i = 0; i < 100; ++i)
        mica_relate(world, mica_create(world, MICA_WITH(Kinds, {.i32 = (int32_t)i})), Since, target);
    mica_index *index = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Kinds), .fields = "i32"});
    sqlite3 *database = mica_sql_open(world, NULL);
    const exchange plans[] = {
        {"explain query plan select * from Kinds where i32 = 1", "VIRTUAL TABLE INDEX"},
        {"explain query plan select * from Kinds where i32 = 1", "i32 = ?"},
        {"explain query plan select * from Kinds where i32 > 1", "i32 in a range"},
        {"explain query plan select * from Kinds where entity = 1", "VIRTUAL TABLE INDEX 1:"},
        {"explain query plan select * from Kinds where i8 = 1", "VIRTUAL TABLE INDEX 0:"},
        {"explain query plan select * from Since where target = 1", "target = ?"},
        {"explain query plan select * from Since where entity = 1", "VIRTUAL TABLE INDEX 1:"},
        {"explain query plan select * from Since where year = 1", "VIRTUAL TABLE INDEX 0:"},
        {"explain query plan select * from Since as s join Kinds as k on s.target = k.reference", "target = ?"},
    };
    for (uint32_t i = 0; i < COUNT_OF(plans); ++i)
        ck_assert_msg(strstr(ask(database, plans[i].statement), plans[i].answer), "%s: %s", plans[i].statement, answer);

    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_prepare_v2(database, "select i32 from Kinds where i32 = 1", -1, &statement, NULL),
                     SQLITE_OK);
    mica_index_destroy(index); /* what was planned with it is found without it */
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(edges_are_found_by_their_target)
{
    enum { PEOPLE = 200 };
    reports heard;
    mica_world *world = open_world(&heard);
    random_source random = {setting_from_environment("SEED", 5)};
    mica_entity people[PEOPLE];
    for (uint32_t i = 0; i < PEOPLE; ++i)
        people[i] = mica_create(world);
    for (uint32_t i = 0; i < PEOPLE * 3; ++i) {
        mica_entity a = people[random_below(&random, PEOPLE)], b = people[random_below(&random, PEOPLE)];
        if (mica_same(a, b))
            continue;
        mica_relate(world, a, Since, b)->year = (int32_t)i;
        mica_relate(world, a, MarriedTo, b);
    }
    sqlite3 *database = mica_sql_open(world, NULL);
    for (uint32_t round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < 20; ++i) {
            char *rest = sqlite3_mprintf("= %lld", (long long)mica_sql_from_entity(people[i]));
            condition by_target = {"target", rest, mica_is_alive(world, people[i])};
            compare(database, "Since", &by_target, 1);
            compare(database, "MarriedTo", &by_target, 1);
            sqlite3_free(rest);
        }
        if (!round)
            mica_destroy(world, people[3]); /* the edges to it remain, and are found by a scan */
    }
    const condition others[] = {{"target", "is null", false}, {"target", "= null", true}, {"target", "= 'x'", false}};
    compare(database, "Since", others, COUNT_OF(others));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

static void read_in_hook(const mica_event *event)
{
    sqlite3_stmt *statement = event->context;
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int(statement, 0), 1);
}

START_TEST(a_statement_in_a_hook_visits_all_rows)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Kinds, {.i32 = 1}));
    mica_index_create(world, &(mica_index_def){.component = MICA_ID(Kinds), .fields = "i32"});
    sqlite3 *database = mica_sql_open(world, NULL);
    sqlite3_stmt *statement; /* planned with the index, which can't be updated in the hook */
    const char *text = "select count(*) from Kinds where i32 = 1";
    ck_assert_int_eq(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK);
    ck_assert(mica_hook_set(world, Mass, MICA_EVENT_ADD, read_in_hook, statement) == MICA_OK);
    mica_create(world, MICA_WITH(Mass, {1}));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(sql_index, indexes_give_the_same_answers_from_fewer_rows, indexes_of_text_answer_text,
           disabled_entities_are_found_although_an_index_does_not_have_them,
           the_plan_names_the_column_that_is_looked_up, edges_are_found_by_their_target,
           a_statement_in_a_hook_visits_all_rows)
