/* Writing to a world through SQL: what a statement does is what calls of the C API do, or nothing. */
#include "ask.h"

#include "../support/people.h"
#include "../support/tuned.h"
#include "base/block_heap.h"

/* Values whose copies can fail, as a singleton and in a pool. */
typedef Text Motto, Notes;
MICA_COMPONENT_WITH(Motto,
                    (.storage = MICA_STORAGE_SINGLETON, .construct = text_construct, .destruct = text_destruct,
                     .copy = text_copy, .move = text_move),
                    length)
MICA_POOL_WITH(Notes,
               (.many = true, .construct = text_construct, .destruct = text_destruct, .copy = text_copy,
                .move = text_move),
               length)

/* An array of text that is one column. */
typedef struct Shelves { mica_text names[20]; } Shelves;
MICA_COMPONENT(Shelves, names)

/* They exclude each other. */
typedef struct Day { int hour; } Day;
MICA_COMPONENT(Day, hour)
MICA_TAG_WITH(Night, (.excludes = MICA_TYPES(Day)))
typedef Day Dusk;
MICA_POOL_WITH(Dusk, (.many = true, .excludes = MICA_TYPES(Day, Night)), hour)

static reports heard;

START_TEST(a_statement_that_brings_rivals_together_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_entity day = mica_create(world, MICA_WITH(Day, {1})), dusk = mica_create(world, MICA_WITH(Dusk, {2}));
    mica_define(world, Night);
    sqlite3 *database = mica_sql_open(world, NULL);
    const struct {
        const char *table;
        mica_entity entity;
    } cases[] = {{"Night", day}, {"Dusk", day}, {"Day", dusk}, {"Night", dusk}};
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        uint64_t hash = mica_world_hash(world);
        const char *said = ask_with(database, "insert into %s(entity) values (%lld)", cases[i].table,
                                    (long long)mica_sql_from_entity(cases[i].entity));
        ck_assert_msg(strncmp(said, "error", 5) == 0, "%s", said);
        expect_report(&heard, MICA_ERROR_INVALID, "exclude each other");
        ck_assert_uint_eq(mica_world_hash(world), hash);
    }
    ck_assert_str_eq(ask(database, "insert into Dusk(entity) select entity from Dusk"), "");
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(every_kind_of_field_can_be_written)
{
    mica_world *world = open_world(&heard);
    mica_entity other = mica_create(world);
    mica_entity entity = mica_create(world, MICA_WITH(Kinds, {.many = {4}, .there[3].x = 5}));
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"update Kinds set yes = 1, letter = 66, i8 = -128, u8 = 255, i16 = -32768, u16 = 65535, i32 = -2147483648", ""},
        {"update Kinds set u32 = 4294967295, i64 = -9223372036854775807, u64 = -2, f32 = 1, f64 = 0.1", ""},
        {"update Kinds set reference = 4294967297, asset = 5, mood = 'MOOD_AFRAID', skills = 'SKILL_SING| SKILL_SWIM '", ""},
        {"update Kinds set u16 = '5', letter = 'B', reference = '#1:1', f64 = 'nan'", ""},
        {"select u16, letter, reference, f64 from Kinds", "5|66|4294967297|-\n"},
        {"update Kinds set u16 = '0xFFFF', f64 = 0.1", ""},
        {"update Kinds set text = 'abcdefg', \"few[1]\" = 7.0, \"where.z\" = u8 * 2", ""},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    const Kinds *kinds = mica_get(world, entity, Kinds);
    ck_assert(kinds->yes && kinds->letter == 66 && kinds->i8 == -128 && kinds->u8 == 255 && kinds->i16 == INT16_MIN);
    ck_assert(kinds->u16 == UINT16_MAX && kinds->i32 == INT32_MIN && kinds->u32 == UINT32_MAX);
    ck_assert(kinds->i64 == INT64_MIN + 1 && kinds->u64 == UINT64_MAX - 1 && kinds->f32 == 1 && kinds->f64 == 0.1);
    ck_assert(mica_same(kinds->reference, other) && kinds->asset.path_hash == 5 && kinds->mood == MOOD_AFRAID);
    ck_assert(kinds->skills == (SKILL_SING | SKILL_SWIM) && strcmp(kinds->text, "abcdefg") == 0 && kinds->few[1] == 7);
    ck_assert_msg(kinds->where.z == 510 && kinds->many[0] == 4 && kinds->there[3].x == 5, "the others stay");
    static const exchange back[] = {
        {"update Kinds set mood = 3, skills = '', reference = NULL, asset = NULL, f32 = NULL, text = '', f64 = -9e999", ""},
        {"select mood, skills, reference, asset, f32, text, f64 from Kinds", "3||-|-|-||-Inf\n"},
        {"update Kinds set skills = 5, f32 = 9e999", ""},
        {"select skills, f32 from Kinds", "SKILL_SWIM|SKILL_SING|Inf\n"},
        {"update Kinds set i8 = slot from entities e where e.entity = Kinds.entity", ""},
        {"select i8, u8, skills, text, many, json_extract(there, '$[3].x') from Kinds",
         "2|255|SKILL_SWIM|SKILL_SING||[4,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]|5.0\n"},
    };
    expect_answers(database, back, COUNT_OF(back));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(numbers_must_be_in_the_range_of_their_field)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Tuned), MICA_WITH(TunedText));
    mica_define(world, TunedMany);
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"update Tuned set level = 9000, \"scale.y\" = 0.1, \"weights[1]\" = 5, mood = 'MOOD_CALM', title = 'x'", ""},
        {"update Tuned set level = 9001", "error: Tuned.level: expected level from -5 to 9000 m, found 9001"},
        {"update Tuned set speed = NULL", "error: Tuned.speed: expected speed of at least 0 m/s, found nan"},
        {"update Tuned set \"scale.y\" = 11", "error: Tuned.scale.y: expected scale.y from 0.1 to 10, found 11"},
        {"update Tuned set \"weights[1]\" = 0", "error: Tuned.weights[1]: expected weights[1] from 1 to 5, found 0"},
        {"update TunedText set scores = '[1, 11]'", "error: expected scores from 0 to 10, found 11 (byte 4)"},
        {"insert into Tuned(speed) values (4)", ""},
        {"insert into TunedMany(speed) values (4)", ""},
        {"select level, speed, mood, title, \"weights[1]\" from Tuned", "9000|0.0|MOOD_CALM|x|5\n20|4.0|MOOD_ANGRY|new|3\n"},
        {"select level, speed from TunedMany", "20|4.0\n"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

static const exchange misfits[] = {
    {"update Kinds set u8 = 256", "error: Kinds.u8: expected an integer from 0 to 255, found 256"},
    {"update Kinds set u8 = u8 - 1", "error: Kinds.u8: expected an integer from 0 to 255, found -1"},
    {"update Kinds set i8 = 128", "error: Kinds.i8: expected an integer from -128 to 127, found 128"},
    {"update Kinds set i32 = 2147483648", "error: Kinds.i32: expected an integer from"},
    {"update Kinds set i64 = 9223372036854775808", "error: Kinds.i64: expected an integer from -9223372036854775808 to"},
    {"update Kinds set u16 = 0.5", "error: Kinds.u16: expected an integer from 0 to 65535, found 0.5"},
    {"update Kinds set u16 = 'five'", "error: Kinds.u16: expected an integer from 0 to 65535, found \"five\""},
    {"update Kinds set u16 = NULL", "error: Kinds.u16: expected an integer from 0 to 65535, found null"},
    {"update Kinds set yes = 2", "error: Kinds.yes: expected true or false, found 2"},
    {"update Kinds set f32 = '1'", "error: Kinds.f32: expected a number, \"nan\", \"inf\" or \"-inf\", found \"1\""},
    {"update Kinds set f64 = x'00'", "error: Kinds.f64 takes no blob"},
    {"update Kinds set f32 = 1e300", "error: Kinds.f32: expected a number that fits a float, found 1e300"},
    {"update Kinds set mood = 'MOOD_CAL'", "error: Kinds.mood: Mood has no constant \"MOOD_CAL\""},
    {"update Kinds set mood = ''", "error: Mood has no constant \"\""},
    {"update Kinds set mood = 4294967296", "error: Kinds.mood: expected an integer from"},
    {"update Kinds set mood = NULL", "error: Kinds.mood: expected the name of a constant, or an integer, found null"},
    {"update Kinds set skills = 'SKILL_SWIM|SKILL_FLY'", "error: Skills has no constant \"SKILL_FLY\""},
    {"update Kinds set skills = 'SKILL_SWIM|'", "error: Skills has no constant \"\""},
    {"update Kinds set text = '12345678'", "error: Kinds.text: expected a text of at most 7 bytes, found 8"},
    {"update Kinds set text = 5", "error: Kinds.text: expected a string"},
    {"update Kinds set text = cast(x'610062' as text)", "error: Kinds.text takes text without zero bytes"},
    {"update Kinds set reference = 'ship'", "error: Kinds.reference: expected null or \"#index:generation\", found \"ship\""},
    {"update Kinds set many = '[]'", "error: Kinds.many is a long array"},
    {"update Kinds set there = '[]'", "error: Kinds.there is a long array"},
    {"update Kinds set entity = 1", "error: Kinds.entity can't be changed"},
    {"update Kinds set rowid = 1", "error: Kinds.rowid can't be written"},
    {"update Health set enabled = 2", "error: Health.enabled takes 0 or 1"},
    {"update Health set enabled = 'no'", "error: Health.enabled takes 0 or 1"},
    {"update Health set enabled = -1", "error: Health.enabled takes 0 or 1"},
    {"update Buff set instance = 1", "error: Buff.instance can't be written"},
    {"update Buff set kind = 0.5", "error: Buff.kind: expected an integer"},
    {"update Clock set ticks = -1", "error: Clock.ticks: expected an integer"},
    {"insert into Clock(ticks) values (1)", "error: Clock is a singleton"},
    {"delete from Clock", "error: Clock is a singleton"},
    {"insert into Health(entity) values (4294967297)", "error: Health: entity 4294967297 has it already"},
    {"insert into Frozen(entity) values (4294967297)", "error: Frozen: entity 4294967297 has it already"},
    {"insert into Health(entity) values (4294967301)", "error: Health.entity: 4294967301 is no living entity"},
    {"insert into Health(entity) values ('ship')", "error: Health.entity: ship is no living entity"},
    {"insert into Health(entity) values (0)", "error: Health.entity: 0 is no living entity"},
    {"insert into Health(rowid) values (5)", "error: Health.rowid can't be written"},
    {"insert into Health(current) values (1), (2), ('three')", "error: Health.current: expected an integer"},
    {"insert into Buff(instance) values (1)", "error: Buff.instance can't be written"},
    {"insert into Buff(kind) values ('x')", "error: Buff.kind: expected an integer"},
    {"insert into entities(name) values ('first')", "error: entities: the name is taken"},
    {"insert into entities(name) values ('a/b')", "error: entities: invalid argument"},
    {"insert into entities(name) values (5)", "error: entities.name takes text"},
    {"insert into entities(parent) values (4294967301)", "error: entities.parent: 4294967301 is no living entity"},
    {"insert into entities(entity) values (5)", "error: entities.entity can't be written"},
    {"insert into entities(rowid) values (5)", "error: entities.rowid can't be written"},
    {"update entities set slot = 5", "error: entities.slot can't be written"},
    {"update entities set components = ''", "error: entities.components can't be written"},
    {"update entities set name = 'same'", "error: entities: the name is taken"},
    {"update entities set parent = entity", "error: entities: invalid argument"},
    {"update components set name = 'x'", "error: may not be modified"},
    /* Rows before the wrong one were written by then. */
    {"update Kinds set u8 = u8 + 253", "error: Kinds.u8: expected an integer from 0 to 255, found 256"},
};

START_TEST(what_does_not_fit_is_refused_and_changes_nothing)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 5; ++i)
        mica_create(world, MICA_WITH(Kinds, {.u8 = (uint8_t)i}), MICA_WITH(Health, {1, 2}), MICA_WITH(Buff),
                    MICA_WITH(Frozen));
    mica_destroy(world, mica_sql_to_entity(4294967301));
    mica_name_set(world, mica_sql_to_entity(4294967297), mica_nil(), "first");
    mica_singleton_write(world, Clock)->ticks = 1;
    sqlite3 *database = mica_sql_open(world, NULL);
    uint64_t hash = mica_world_hash(world);
    for (uint32_t i = 0; i < COUNT_OF(misfits); ++i)
        for (uint32_t inside = 0; inside < 2; ++inside) {
            if (inside)
                ask(database, "begin");
            expect_answer(database, &misfits[i]);
            ck_assert_msg(mica_world_hash(world) == hash, "%s: changed something%s", misfits[i].statement,
                          inside ? ", in a transaction" : "");
            if (inside)
                ask(database, "commit");
            ck_assert_msg(mica_world_hash(world) == hash, "%s: and committed it", misfits[i].statement);
        }
    forget_reports(&heard);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(statements_write_many_rows_at_once)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    for (uint32_t i = 0; i < 200; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    sqlite3 *database = mica_sql_open(world, NULL);
    mica_define(world, Velocity);
    mica_define(world, Buff);
    mica_define(world, Health);
    mica_define(world, Frozen);
    REQUIRE(mica_sql_attach(database, world, NULL) == MICA_OK);
    static const exchange exchanges[] = {
        {"update Number set value = value + 1000 where value % 2 = 0", ""},
        {"select count(*), sum(value), max(value) from Number", "200|119900|1198\n"},
        /* Reads one table of the world while it moves the very rows. */
        {"insert into Velocity(entity, x) select entity, value from Number where value < 100", ""},
        {"select count(*), sum(x) from Velocity join Number using (entity) where x = value", "50|2500.0\n"},
        {"insert into Number(value) select value from Number where value = 1", ""},
        {"select count(*) from Number where value = 1", "2\n"},
        {"insert into Buff(entity, kind, amount) select n.entity, b.column1, n.value from Number n, (values (1), (2), (3)) b "
         "where n.value < 50",
         ""},
        {"select instance, count(*) from Buff group by instance", "0|26\n1|26\n2|26\n"},
        {"delete from Buff where kind <> 2", ""},
        {"select instance, kind, count(*) from Buff group by instance, kind", "0|2|26\n"},
        {"update Buff set amount = amount * 2 where kind = 2", ""},
        {"select count(*) from Buff join Number using (entity) where amount = 2 * value", "26\n"},
        {"update Buff set amount = n.value from Number n where n.entity = Buff.entity", ""},
        {"select count(*) from Buff join Number using (entity) where amount = value", "26\n"},
        {"delete from Number where value >= 1000", ""},
        {"select count(*) from Number", "101\n"},
        {"insert into Health(entity, current, enabled) select entity, 5, 0 from Number", ""},
        {"insert or ignore into Health(entity, current) select entity, 6 from entities", ""},
        {"select current, enabled, count(*) from Health group by 1, 2", "5|0|101\n6|1|100\n"},
        {"insert or replace into Health(entity, current) select entity, 7 from Number where value = 1", ""},
        {"select current, maximum, enabled, count(*) from Health where current = 7 group by 1, 2", "7|0|0|2\n"},
        {"update Health set enabled = not enabled, current = 8", ""},
        {"select current, enabled, count(*) from Health group by 1, 2", "8|0|100\n8|1|101\n"},
        {"insert into Frozen(entity) select entity from Health where enabled", ""},
        {"delete from entities where entity in (select entity from Frozen)", ""},
        {"select count(*) from entities", "100\n"},
        {"select count(*) from Number", "0\n"},
        {"insert into entities(name) values ('hall')", ""},
        {"insert into entities(name, parent) select 'door', entity from entities where path = 'hall'", ""},
        {"select path, parent = (select entity from entities where name = 'hall') from entities where name = 'door'",
         "hall/door|1\n"},
        {"update entities set name = 'gate', parent = NULL where path = 'hall/door'", ""},
        {"select count(*) from entities where path in ('gate', 'hall')", "2\n"},
        {"update entities set parent = (select entity from entities where path = 'hall') where path = 'gate'", ""},
        {"select path from entities where name = 'gate'", "hall/gate\n"},
        {"update entities set name = NULL where path = 'hall/gate'", ""},
        {"delete from entities", ""},
        {"select count(*) from entities", "0\n"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

static uint32_t sets, set_sum, removes;

static void hear_event(const mica_event *event)
{
    if (event->kind == MICA_EVENT_REMOVE) {
        removes += event->count;
        return;
    }
    sets += event->count;
    for (uint32_t i = 0; i < event->count; ++i)
        set_sum += ((const Number *)event->values)[i].value;
}

START_TEST(hooks_and_stamps_know_what_sql_does)
{
    mica_world *world = open_world(&heard);
    mica_hook_set_id(world, MICA_ID(Number), MICA_EVENT_SET, hear_event, NULL);
    mica_hook_set_id(world, MICA_ID(Number), MICA_EVENT_REMOVE, hear_event, NULL);
    for (uint32_t i = 0; i < 3; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Mass, {1}));
    sets = set_sum = removes = 0;
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_CHANGED(Number)));
    mica_query *others = mica_query_create(world, MICA_QUERY(MICA_READ(Mass), MICA_CHANGED(Mass)));
    mica_query_begin(changed);
    mica_query_begin(others);
    sqlite3 *database = mica_sql_open(world, NULL);
    ck_assert_str_eq(ask(database, "update Number set value = value + 10 where value > 0"), "");
    ck_assert_msg(sets == 2 && set_sum == 23, "%u, %u", sets, set_sum);
    ck_assert_msg(mica_query_count(changed) == 3, "the slice has changed");
    ck_assert_msg(mica_query_count(others) == 0, "and nothing else has");
    ck_assert_str_eq(ask(database, "delete from Number where value = 0"), "");
    ck_assert_uint_eq(removes, 1);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_statement_continues_while_others_of_the_connection_write)
{
    static const char *const statements[] = {"select entity, value from Number",
                                             "select entity, n.value from entities join Number n using (entity)",
                                             "select entity, kind from Buff", "select entity, mass from Body"};
    for (uint32_t i = 0; i < COUNT_OF(statements); ++i) {
        mica_world *world = open_world_of_small_chunks(&heard);
        for (uint32_t j = 0; j < 100; ++j)
            mica_create(world, MICA_WITH(Number, {j}), MICA_WITH(Buff, {(int32_t)j, 0}), MICA_WITH(Body, {.mass = j}));
        sqlite3 *database = mica_sql_open(world, NULL);
        sqlite3_stmt *statement;
        uint32_t seen = 0;
        REQUIRE(sqlite3_prepare_v2(database, statements[i], -1, &statement, NULL) == SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            int64_t entity = sqlite3_column_int64(statement, 0);
            ck_assert_msg(sqlite3_column_int(statement, 1) == (int)seen * 2, "%s: row %u", statements[i], seen);
            /* Moves this row, destroys the next, creates another. */
            ask_with(database, "insert into Position(entity) values (%lld)", (long long)entity);
            ask_with(database, "delete from entities where entity = %lld", (long long)entity + 1);
            ask_with(database, "insert into Number(value) values (1000)");
            REQUIRE(!*answer);
            ++seen;
        }
        ck_assert_msg(sqlite3_finalize(statement) == SQLITE_OK && seen == 50, "%s: %u rows, %s", statements[i], seen,
                      sqlite3_errmsg(database));
        sqlite3_close(database);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(transactions_and_savepoints_are_taken_back)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 10; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Mass, {1}));
    mica_singleton_write(world, Clock)->ticks = 5;
    sqlite3 *database = mica_sql_open(world, NULL);
    uint64_t hash = mica_world_hash(world);
    static const exchange first[] = {
        {"begin", ""},
        {"update Number set value = 0", ""},
        {"delete from entities where slot > 5", ""},
        {"update Clock set ticks = 6", ""},
        {"insert into Mass(value) values (3)", ""},
        {"select count(*), (select count(*) from Mass), (select ticks from Clock) from Number", "5|6|6\n"},
        {"rollback", ""},
    };
    expect_answers(database, first, COUNT_OF(first));
    ck_assert_msg(mica_world_hash(world) == hash, "as it was");
    static const exchange second[] = {
        {"savepoint a", ""},
        {"savepoint b", ""},
        {"update Number set value = 1 where value = 9", ""},
        {"rollback to b", ""},
        {"select count(*) from Number where value = 9", "1\n"},
        {"update Number set value = 2 where value = 9", ""},
        {"savepoint c", ""},
        {"delete from Mass", ""},
        {"update Number set value = value - 1", "error: Number.value: expected an integer"},
        {"select count(*), (select count(*) from Mass) from Number where value = 2", "2|0\n"},
        {"rollback to c", ""},
        {"select count(*), (select count(*) from Mass) from Number where value = 2", "2|10\n"},
        {"delete from Mass where entity = 4294967297", ""},
        {"release c", ""},
        {"savepoint d", ""},
        {"delete from entities", ""},
        {"rollback to d", ""},
        {"select count(*), (select count(*) from Mass) from Number where value = 2", "2|9\n"},
        {"rollback to a", ""},
    };
    expect_answers(database, second, COUNT_OF(second));
    ck_assert_msg(mica_world_hash(world) == hash, "as it was before the first savepoint");
    static const exchange third[] = {
        {"update Number set value = 2 where value = 9", ""},
        {"release a", ""},
        {"select count(*) from Number where value = 2", "2\n"},
    };
    expect_answers(database, third, COUNT_OF(third));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

typedef struct Handle { int number; } Handle;
static void handle_destruct(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}
MICA_COMPONENT_WITH(Handle, (.destruct = handle_destruct), number)

START_TEST(a_world_that_can_not_be_restored_is_not_written)
{
    static const exchange refused[] = {
        {"update Number set value = 3", "error: the world can't be written, since it could not be restored"},
        {"delete from entities", "error: the world can't be written"},
        {"select value from Number", "1\n"},
    };
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    sqlite3 *database = mica_sql_open(world, NULL);
    mica_defer(world);
    expect_answers(database, refused, COUNT_OF(refused));
    mica_flush(world);
    ck_assert_uint_eq(forget_reports(&heard), 2);
    ck_assert_str_eq(ask(database, "update Number set value = 1"), "");
    mica_set(world, entity, Handle, {1});
    expect_answers(database, refused, COUNT_OF(refused));
    ck_assert_uint_eq(forget_reports(&heard), 2);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(values_that_own_memory_are_written_by_their_own_functions)
{
    mica_world *world = open_world(&heard);
    Text text = text_make("some text");
    mica_entity entity = mica_create(world, MICA_FROM(Text, &text));
    text_drop(&text);
    mica_singleton_write(world, Motto);
    mica_pool_add(mica_pool_of(world, Notes), entity);
    sqlite3 *database = mica_sql_open(world, NULL);
    ck_assert_str_eq(ask(database, "update Text set length = 4"), "");
    ck_assert_str_eq(ask(database, "insert into Text(entity) values (NULL)"), "");
    ck_assert_str_eq(ask(database, "select length from Text"), "4\n0\n");
    ck_assert_int_eq(strncmp(mica_get(world, entity, Text)->characters, "some", 4), 0);
    ck_assert_int_eq(texts_alive, 4);
    uint64_t hash = mica_world_hash(world);
    static const char *const statements[] = {"update Text set length = 3", "update Motto set length = 3",
                                             "update Notes set length = 3", "insert into Text(entity) values (NULL)"};
    for (uint32_t i = 0; i < COUNT_OF(statements); ++i) {
        texts_allowed = 1; /* for the snapshot, which copies the singleton */
        ck_assert_int_eq(strncmp(ask(database, statements[i]), "error", 5), 0);
        ck_assert_ptr_nonnull(strstr(answer, "out of memory"));
    }
    texts_allowed = 1000;
    ck_assert(mica_world_hash(world) == hash);
    ck_assert_str_eq(ask(database, "update Motto set length = 3"), "");
    ck_assert_str_eq(ask(database, "update Notes set length = 3"), "");
    ck_assert_str_eq(ask(database, "delete from Text"), "");
    ck_assert_int_eq(texts_alive, 2);
    forget_reports(&heard);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(text_is_text_and_lists_are_json)
{
    mica_world *world = open_world(&heard);
    mica_entity entity =
        mica_create(world, MICA_WITH(Person, {.name = mica_text_of("a name that does not lie in place")}));
    mica_list_add(&mica_write(world, entity, Person)->scores, float, 1, 2.5f);
    mica_pool_add(mica_pool_of(world, Letters), entity);
    mica_text_set(&mica_singleton_write(world, Archive)->path, "a path that does not lie in place");
    mica_define(world, Diary);
    mica_define(world, Shelves);
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"select name, scores, \"titles[0]\", \"moods[1]\", inventory from Person",
         "a name that does not lie in place|[1.0,2.5]||[]|[]\n"},
        {"update Person set name = name || ', and longer', scores = '[3]', \"titles[1]\" = 'Dr', \"moods[0]\" = '[\"MOOD_ANGRY\", 0]'", ""},
        {"update Person set inventory = '[{\"name\": \"rope\", \"tags\": [\"a tag of some length\"]}, {\"count\": 4}]'", ""},
        {"select name, scores, \"titles[1]\", \"moods[0]\" from Person",
         "a name that does not lie in place, and longer|[3.0]|Dr|[\"MOOD_ANGRY\",\"MOOD_CALM\"]\n"},
        {"select j.value ->> 'name', j.value ->> 'count', j.value ->> '$.tags[0]' from Person, json_each(inventory) j",
         "rope|0|a tag of some length\n|4|-\n"},
        {"update Person set scores = '[1, x]'", "error: Person.scores: expected a number"},
        {"update Person set scores = 5", "error: Person.scores takes a JSON array"},
        {"update Person set name = 5", "error: Person.name: expected a string, or an array of characters, found 5"},
        {"insert into Person(name, friends) values ('another name of some length', '[null]')", ""},
        {"select count(*), friends from Person where name like 'another%'", "1|[null]\n"},
        {"insert into Person_friends(entity, value) select entity, entity from Person where name like 'another%'", ""},
        {"insert into Person_scores(entity, value) select entity, 9e999 from Person where name like 'another%'", ""},
        {"update Person set friends = friends, scores = scores", ""}, /* which JSON can't say */
        {"select friends, scores from Person where name like 'another%'", "[null,4294967298]|[9e999]\n"},
        {"update Person set age = slot from entities e where e.entity = Person.entity", ""},
        {"update Letters set \"to\" = 'a friend far away from here', numbers = '[1, 2]'", ""},
        {"insert into Letters(entity, \"to\") select entity, \"to\" from Letters", ""},
        {"select instance, \"to\", numbers from Letters", "0|a friend far away from here|[1,2]\n1|a friend far away from here|[]\n"},
        {"update Letters set numbers = '[7.5]'", "error: Letters.numbers: expected an integer"},
        {"update Archive set path = 'another path that is long', things = '[{\"count\": 1}]'", ""},
        {"select path, json_array_length(things) from Archive", "another path that is long|1\n"},
        {"insert into Diary(entity, title, pages) select entity, name, '[\"one\"]' from Person", ""},
        {"select count(*), max(pages) from Diary", "2|[\"one\"]\n"},
        {"insert into Shelves(names) values (NULL)", ""},
        {"select json_array_length(names) from Shelves", "20\n"},
        {"select type, count from fields where component = 'Person' and name in ('name', 'scores')", "text|1\nlist|1\n"},
        {"delete from Person", ""},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    forget_reports(&heard);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(without_memory_for_text_nothing_is_written)
{
    static const char *const statements[] = {
        "update Person set name = 'another name that does not lie in place'",
        "update Archive set things = '[{\"name\": \"another name that does not lie in place\"}]'",
        "update Letters set numbers = '[1, 2, 3]'",
    };
    mica_world *world = open_world(&heard);
    mica_entity entity =
        mica_create(world, MICA_WITH(Person, {.name = mica_text_of("a name that does not lie in place")}));
    mica_pool_add(mica_pool_of(world, Letters), entity);
    mica_singleton_write(world, Archive);
    sqlite3 *database = mica_sql_open(world, NULL);
    for (uint32_t i = 0; i < COUNT_OF(statements); ++i) {
        uint64_t hash = mica_world_hash(world);
        micap_heap_limit(0);
        ck_assert_int_eq(strncmp(ask(database, statements[i]), "error", 5), 0);
        micap_heap_limit(INT64_MAX);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        ck_assert_str_eq(ask(database, statements[i]), "");
    }
    forget_reports(&heard);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(write, a_statement_that_brings_rivals_together_is_refused, numbers_must_be_in_the_range_of_their_field,
           text_is_text_and_lists_are_json, without_memory_for_text_nothing_is_written,
           every_kind_of_field_can_be_written, what_does_not_fit_is_refused_and_changes_nothing,
           statements_write_many_rows_at_once, hooks_and_stamps_know_what_sql_does,
           a_statement_continues_while_others_of_the_connection_write, transactions_and_savepoints_are_taken_back,
           a_world_that_can_not_be_restored_is_not_written, values_that_own_memory_are_written_by_their_own_functions)
