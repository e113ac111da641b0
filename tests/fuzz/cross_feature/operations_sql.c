/* The world as tables: statements that read, statements that stay open, and transactions. */
#include "program.h"

#include "mica/sql.h"

#include <sqlite3.h>

static sqlite3 *open_database(scene *scene)
{
    if (!scene->database && !scene->is_closing) {
        scene_define(scene);
        scene->database = mica_sql_open(scene->world, NULL);
    }
    return scene->database;
}

static void sql_close(program *program, scene *scene)
{
    sqlite3_finalize(scene->statement);
    scene->statement = NULL;
    EXPECT(program, sqlite3_close(scene->database) == SQLITE_OK, "a connection that is not used can't be closed");
    scene->database = NULL;
}

/* Steps through a statement. Returns the integer in its first column, -1 when it fails. */
static int64_t ask(sqlite3 *database, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int64_t answer = -1;
    if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK)
        while (sqlite3_step(statement) == SQLITE_ROW)
            answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

static void sql_read(program *program, scene *scene)
{
    char text[128];
    sqlite3 *database = open_database(scene);
    if (!database)
        return;
    int64_t count = ask(database, "select count(*) from entities");
    EXPECT(program, count < 0 || count == (int64_t)mica_world_get_stats(scene->world).entity_count,
           "SQL counts other entities than the world");
    snprintf(text, sizeof text, "select * from %s", samples[take_kind(program, scene)].type->name);
    ask(database, text);
    snprintf(text, sizeof text, "select e.name, c.* from %s c join entities e on e.entity = c.entity",
             samples[take_kind(program, scene)].type->name);
    ask(database, text);
    ask(database, "select * from SampleClock");
}

/* An index, if there is one, gives the answer that all rows give. */
static void sql_find(program *program, scene *scene)
{
    char text[160];
    sqlite3 *database = open_database(scene);
    const char *table = samples[take_kind(program, scene)].type->name;
    uint32_t low = take(program), high = low + take_below(program, 3);
    if (!database)
        return;
    snprintf(text, sizeof text, "select count(*) from %s where number between %u and %u", table, low, high);
    int64_t by_index = ask(database, text);
    snprintf(text, sizeof text, "select count(*) from %s where +number between %u and %u", table, low, high);
    int64_t by_scan = ask(database, text);
    EXPECT(program, by_index == by_scan || by_index < 0 || by_scan < 0, "SQL finds other rows by an index");
}

static void write_once(program *program, scene *scene)
{
    char text[160];
    const char *table = samples[take_kind(program, scene)].type->name;
    long long entity = mica_sql_from_entity(take_entity(program, scene));
    switch (take(program) % 7) {
    case 0: snprintf(text, sizeof text, "insert into %s(entity) values(%lld)", table, entity); break;
    case 1: snprintf(text, sizeof text, "delete from %s where entity = %lld", table, entity); break;
    case 2: snprintf(text, sizeof text, "update %s set number = number + 1", table); break;
    case 3: snprintf(text, sizeof text, "insert into entities(name) values('sql%u')", take(program)); break;
    case 4: snprintf(text, sizeof text, "delete from entities where entity = %lld", entity); break;
    case 5:
        snprintf(text, sizeof text, "update entities set parent = %lld where entity = %lld", entity,
                 (long long)mica_sql_from_entity(take_entity(program, scene)));
        break;
    default: snprintf(text, sizeof text, "insert into %s default values", table); break;
    }
    if (!is_full(scene))
        sqlite3_exec(scene->database, text, NULL, NULL, NULL);
}

static void sql_write(program *program, scene *scene)
{
    if (open_database(scene))
        write_once(program, scene);
}

/* The table of a list shows and changes what the column of JSON shows. */
static void sql_elements(program *program, scene *scene)
{
    static const char *const owners[] = {"SampleText", "SamplePoolText"};
    const char *owner = owners[take(program) % 2];
    long long entity = mica_sql_from_entity(take_entity(program, scene));
    char text[256];
    if (!open_database(scene))
        return;
    switch (take(program) % 5) {
    case 0: snprintf(text, sizeof text, "insert into %s_numbers(entity, value) values(%lld, 7)", owner, entity); break;
    case 1:
        snprintf(text, sizeof text, "insert into %s_parts(entity, position) select entity, 0 from %s", owner, owner);
        break;
    case 2: snprintf(text, sizeof text, "update %s_numbers set value = value / 2 where position > 0", owner); break;
    case 3: snprintf(text, sizeof text, "delete from %s_parts where entity = %lld", owner, entity); break;
    default: snprintf(text, sizeof text, "delete from %s_numbers where position %% 2 = 1", owner); break;
    }
    sqlite3_exec(scene->database, text, NULL, NULL, NULL);
    snprintf(text, sizeof text, "select coalesce(sum(json_array_length(numbers)), 0) from %s", owner);
    int64_t expected = ask(scene->database, text);
    snprintf(text, sizeof text, "select count(*) from %s_numbers", owner);
    int64_t found = ask(scene->database, text);
    EXPECT(program, expected < 0 || found < 0 || expected == found, "a list has another length as a table");
}

/* A transaction that is rolled back changes nothing. But when hooks recorded something that still waits for a flush, the
 * world refuses to go back, with a report. */
static void sql_rollback(program *program, scene *scene)
{
    sqlite3 *database = open_database(scene);
    if (!database || !sqlite3_get_autocommit(database))
        return;
    uint64_t before = mica_world_hash(scene->world);
    if (sqlite3_exec(database, "begin", NULL, NULL, NULL) != SQLITE_OK)
        return;
    write_once(program, scene);
    sql_elements(program, scene);
    write_once(program, scene);
    scene->went_back = true;
    if (sqlite3_exec(database, "rollback", NULL, NULL, NULL) == SQLITE_OK && !program->used_faults &&
        !is_recorded(scene))
        EXPECT(program, mica_world_hash(scene->world) == before, "a transaction that is rolled back leaves changes");
}

bool scene_is_in_transaction(const scene *scene)
{
    return scene->database && !sqlite3_get_autocommit(scene->database);
}

static void sql_transaction(program *program, scene *scene)
{
    static const char *texts[] = {"begin", "commit", "rollback", "savepoint a", "rollback to a"};
    scene->went_back = true; /* maybe */
    if (!open_database(scene))
        return;
    sqlite3_exec(scene->database, texts[take_below(program, 5)], NULL, NULL, NULL);
}

/* A statement that stays open while other things happen. */
static void sql_step(program *program, scene *scene)
{
    char text[128];
    sqlite3 *database = open_database(scene);
    if (!database)
        return;
    if (!scene->statement) {
        static const char *const others[] = {"entities", "SampleText_parts", "SamplePoolText_numbers"};
        snprintf(text, sizeof text, "select * from %s",
                 take_one_in(program, 3) ? others[take_below(program, 3)]
                                         : samples[take_kind(program, scene)].type->name);
        sqlite3_prepare_v2(database, text, -1, &scene->statement, NULL);
    }
    if (scene->statement && sqlite3_step(scene->statement) != SQLITE_ROW) {
        sqlite3_finalize(scene->statement);
        scene->statement = NULL;
    }
}

const operation sql_operations[] = {
    {"sql_close", sql_close, SLOW},
    {"sql_read", sql_read, IN_BODY | READS | SLOW},
    {"sql_find", sql_find, IN_BODY | READS | SLOW},
    {"sql_write", sql_write, IN_BODY | SLOW},
    {"sql_elements", sql_elements, IN_BODY | SLOW},
    {"sql_rollback", sql_rollback, SLOW},
    {"sql_transaction", sql_transaction, SLOW},
    {"sql_step", sql_step, IN_BODY | SLOW},
};
OPERATIONS(sql)
