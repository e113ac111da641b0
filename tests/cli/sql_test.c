/* mica sql: files as tables, printed in three ways, and saved. */
#define _DEFAULT_SOURCE 1 /* popen */

#include "tool.h"

typedef struct Wound {
    float depth;
} Wound;
MICA_POOL_WITH(Wound, (.many = true), depth)

/* Lists, also in a component with many instances. */
typedef struct Pack { mica_list names; } Pack;
MICA_COMPONENT(Pack, (names, mica_text))
typedef struct Pocket { mica_list coins; } Pocket;
MICA_POOL_WITH(Pocket, (.many = true), (coins, uint16_t))

static void write_blob(const char *name, const mica_blob *blob)
{
    ck_assert_int_eq(mica_write_file(scratch(name), blob->bytes, blob->byte_count, NULL), MICA_OK);
}

static void prepare(void)
{
    mica_blob blob = level_blob(NULL), swapped = level_blob(&(mica_save_def){.byte_order = MICA_BYTE_ORDER_BIG});
    write_blob("level.mica", &blob);
    write_blob("big.mica", &swapped);
    mica_blob_free(&blob);
    mica_blob_free(&swapped);
    mica_world *world = mica_world_create(NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Wound, {1}), MICA_WITH(Number, {3}));
    mica_pool *wounds = mica_pool_of(world, Wound);
    mica_instance_write(wounds, mica_pool_add(wounds, entity), Wound)->depth = 2;
    mica_name_set(world, entity, mica_nil(), "a, \"b\"");
    mica_add(world, entity, Pack);
    mica_pool_add(mica_pool_of(world, Pocket), entity);
    mica_pool_add(mica_pool_of(world, Pocket), entity);
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    write_blob("wounds.mica", &blob);
    mica_blob_free(&blob);
    mica_world_destroy(world);
    const char *script = "-- a comment\nselect count(*) as n from entities;\n\nselect ticks from Clock;";
    ck_assert_int_eq(mica_write_file(scratch("script.sql"), script, strlen(script), NULL), MICA_OK);
}

static const step steps[] = {
    {"help sql", 0, "mica sql [-o OUT] [--json | --csv] FILE [STATEMENTS]"},
    {"sql", 2, "expected a file and perhaps statements"},
    {"sql missing.mica 'select 1'", 2, "missing.mica: No such file or directory"},
    {"sql level.mica 'select name, x, mood from entities left join Position using (entity) left join Monster using "
     "(entity) "
     "where path is not null order by path'",
     0, "name     x    mood\n"},
    {"sql level.mica 'select path, x from entities join Position using (entity) where name is not null order by path'",
     0, "path          x\nstation       1.0\nstation/door  4.0\n"},
    {"sql level.mica \"select title, length(title) as letters, mood, skills, t.path as target from Monster join "
     "entities t on "
     "t.entity = target\"",
     0,
     "title  letters  mood        skills                 target\ngr\xC3\xBC\xC3\x9F         4  MOOD_ANGRY  "
     "SKILL_SWIM|SKILL_SING  station/door\n"},
    {"sql big.mica 'select path, x from entities join Position using (entity) where name is not null order by path'", 0,
     "station/door  4.0\n"},
    {"sql level.mica < script.sql", 0, "n\n"},
    {"sql level.mica < script.sql", 0, "ticks\n"},
    {"sql --csv wounds.mica 'select name, slot, null, depth from Wound join entities using (entity)'", 0,
     "name,slot,null,depth\n\"a, \"\"b\"\"\",1,,1.0\n\"a, \"\"b\"\"\",1,,2.0\n"},
    {"sql --json wounds.mica 'select name, instance, depth, null as none from Wound join entities using (entity)'", 0,
     "{\"name\": \"a, \\\"b\\\"\", \"instance\": 1, \"depth\": 2, \"none\": null}\n"},
    {"sql --json level.mica \"select x'00FF61' as blob, cast(x'61FF00C3BC' as text) as text, 10.0 as ten\"", 0,
     "{\"blob\": \"00FF61\", \"text\": \"a\xEF\xBF\xBD\\u0000\xC3\xBC\", \"ten\": 10}\n"},
    /* Without --output no file is written. */
    {"sql level.mica \"attach 'stray.db' as stray; create table stray.t(x)\"", 2,
     "without --output nothing is written"},
    {"sql level.mica \"vacuum into 'stray.db'\"", 2, "without --output nothing is written"},
    {"sql level.mica \"attach ':memory:' as other; create table other.t(x); select count(*) as n from other.t\"", 0,
     "n\n0\n"},
    {"check stray.db", 2, "No such file or directory"},
    {"sql level.mica 'select * from Positon'", 2, "mica: sql: no such table: Positon"},
    {"sql level.mica 'update Position set x = 1'", 2, "may not be modified; without --output nothing is written"},
    {"sql level.mica 'update Position set x = 1; select y from Position' -o changed.mica", 0, "y\n"},
    {"diff level.mica changed.mica", 1, "~ /station/door Position: {\"x\": 4,"},
    {"sql changed.mica 'select count(*) as n from Position where x <> 1'", 0, "n\n0\n"},
    /* What fails leaves no file. */
    {"sql level.mica \"update Position set x = 2; update Position set x = 'two'\" -o no.mica", 2,
     "mica: sql: Position.x: expected a number"},
    {"sql level.mica 'begin; update Position set x = 2' -o no.mica", 2, "a transaction is open at the end"},
    {"check no.mica", 2, "No such file or directory"},
    {"sql level.mica 'select 1' -o /nowhere/x.mica", 2, "/nowhere/x.mica"},
    {"sql wounds.mica 'insert into Wound(entity, depth) select entity, 3 from Number' -o more.mica", 0, ""},
    {"dump more.mica", 0, "[{\"depth\": 1}, {\"depth\": 2}, {\"depth\": 3}]"},
    {"sql wounds.mica \"insert into Pack_names(entity, value) select entity, 'rope' from Number; insert into "
     "Pack_names(entity, position, value) select entity, 0, 'lamp' from Number; insert into Pocket_coins(entity, instance, "
     "value) select entity, instance, 5 + instance from Pocket\" -o full.mica",
     0, ""},
    {"dump full.mica", 0, "\"Pack\": {\"names\": [\"lamp\", \"rope\"]}"},
    {"dump full.mica", 0, "\"Pocket\": [{\"coins\": [5]}, {\"coins\": [6]}]"},
    {"sql full.mica 'select position, value from Pack_names where position = 1'", 0, "1  rope\n"},
    {"sql full.mica 'delete from Pack_names'", 2, "may not be modified"},
    {"sql level.mica 'select 1' -c -o packed.mica", 0, "1\n"},
    {"diff level.mica packed.mica", 0, ""},
    {"sql level.mica 'select 1' -o same.mica", 0, "1\n"},
};

START_TEST(files_are_asked_and_changed)
{
    prepare();
    expect_steps(steps, COUNT_OF(steps));
    char command[512];
    snprintf(command, sizeof command, "cmp '%s' '%s'", scratch("level.mica"), scratch("same.mica"));
    ck_assert_msg(system(command) == 0, "what is not changed is saved as it was, switches, order and singletons too");
}
END_TEST

START_TEST(what_a_file_refers_to_must_be_there_to_save_it)
{
    const char *small = "{\"entities\": [{\"components\": {\"Shape\": {\"outline\": \"other.mica\"}}}]}";
    const char *schema = "{\"types\": [{\"name\": \"Shape\", \"component\": \"data\", \"fields\": "
                         "[{\"name\": \"outline\", \"kind\": \"asset\"}]}]}";
    const char *other = "{\"entities\": []}";
    ck_assert_int_eq(mica_write_file(scratch("small.json"), small, strlen(small), NULL), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("schema.json"), schema, strlen(schema), NULL), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("other.json"), other, strlen(other), NULL), MICA_OK);
    static const step with_assets[] = {
        {"compile -q other.json small.json", 0, ""},
        {"sql small.mica 'select outline is not null as refers from Shape'", 0, "refers\n     1\n"},
        {"sql small.mica 'insert into Shape(outline) select outline from Shape' -o two.mica", 0, ""},
        {"dump two.mica", 0, "{\"outline\": \"/other.mica\"}"},
        {"sql small.mica 'select 1' -o two.mica --root missing", 2, "small.mica refers to what can't be loaded"},
    };
    expect_steps(with_assets, COUNT_OF(with_assets));
}
END_TEST

TEST_SUITE(sql, files_are_asked_and_changed, what_a_file_refers_to_must_be_there_to_save_it)
