/* Reading a world through SQL: what the tables say is what the C API says. */
#include "ask.h"

#include "../support/random.h"
#include "../support/variants.h"

#include <math.h>

static reports heard;

static Kinds kinds_of_everything(mica_entity reference)
{
    Kinds kinds = {.yes = true,
                   .letter = 'A',
                   .i8 = -8,
                   .u8 = 200,
                   .i16 = -1600,
                   .u16 = 60000,
                   .i32 = -320000,
                   .u32 = 4000000000,
                   .i64 = INT64_MIN,
                   .u64 = UINT64_MAX,
                   .f32 = 0.5f,
                   .f64 = 1e300,
                   .reference = reference,
                   .asset = {77},
                   .mood = MOOD_ANGRY,
                   .skills = SKILL_SWIM | SKILL_SING,
                   .text = "wolf",
                   .few = {-1, 1},
                   .many = {1, 2, 3},
                   .where = {1, 2, 3}};
    kinds.there[16].z = 1.5f;
    return kinds;
}

START_TEST(every_kind_of_field_reads_as_documented)
{
    mica_world *world = open_world(&heard);
    mica_entity other = mica_create(world);
    Kinds kinds = kinds_of_everything(other);
    mica_create(world, MICA_FROM(Kinds, &kinds));
    sqlite3 *database = mica_sql_open(world, NULL);
    const exchange exchanges[] = {
        {"select entity, typeof(entity) from Kinds", "4294967298|integer\n"},
        {"select yes, letter, i8, u8, i16, u16, i32, u32 from Kinds", "1|65|-8|200|-1600|60000|-320000|4000000000\n"},
        {"select i64, u64 from Kinds", "-9223372036854775808|-1\n"},
        {"select f32, typeof(f32), f64 from Kinds", "0.5|real|1.0e+300\n"},
        {"select reference, asset from Kinds", "4294967297|77\n"},
        {"select mood, typeof(mood), skills from Kinds", "MOOD_ANGRY|text|SKILL_SWIM|SKILL_SING\n"},
        {"select count(*) from Kinds where mood = 'MOOD_ANGRY' and f32 = 0.5 and text like 'w%'", "1\n"},
        {"select text, \"few[0]\", \"few[1]\", \"where.y\" from Kinds", "wolf|-1|1|2.0\n"},
        {"select many from Kinds", "[1,2,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n"},
        {"select json_array_length(there), json_extract(there, '$[16].z'), json_extract(there, '$[0].x') from Kinds",
         "17|1.5|0.0\n"},
        {"select x from Kinds", "error: no such column"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    Kinds *odd = mica_write(world, mica_sql_to_entity(4294967298), Kinds);
    *odd = (Kinds){.f32 = NAN, .f64 = -INFINITY, .mood = (Mood)3, .skills = (Skills)9};
    memcpy(odd->text, "12345678", 8);
    const exchange odd_ones[] = {
        {"select f32, f64, reference, asset from Kinds", "-|-Inf|-|-\n"},
        {"select mood, typeof(mood), skills, mood = 3 from Kinds", "3|integer|9|1\n"},
        {"select text from Kinds", "12345678\n"},
    };
    expect_answers(database, odd_ones, COUNT_OF(odd_ones));
    odd->skills = (Skills)0;
    ck_assert_str_eq(ask(database, "select skills, typeof(skills) from Kinds"), "|text\n");
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

typedef struct Fighter {
    bool ready;
    int8_t luck;
    Mood mood;
    Skills skills;
    double wealth;
    float speed[3];
    mica_entity rival;
    mica_asset shape;
    char name[8];
} Fighter;
MICA_STRUCT(Fighter, ready, luck, (mood, Mood), (skills, Skills), wealth, speed, rival, shape, name)
typedef struct Party {
    Fighter fighters[17];
} Party;
MICA_COMPONENT(Party, (fighters, Fighter))

START_TEST(long_arrays_of_everything_are_json)
{
    mica_world *world = open_world(&heard);
    mica_entity rival = mica_create(world);
    Party party = {
        .fighters = {{true, -3, MOOD_CALM, SKILL_CLIMB, 0.5, {1, INFINITY, -INFINITY}, rival, {6}, "a\"\\\n"},
                     {false, 4, (Mood)2, (Skills)64, 2, {NAN, 0, 0}, {0, 0}, {0}, "12345678"}}};
    memcpy(party.fighters[1].name, "12345678", 8);
    mica_create(world, MICA_FROM(Party, &party));
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"select json_extract(fighters, '$[0]') from Party",
         "{\"ready\":true,\"luck\":-3,\"mood\":\"MOOD_CALM\",\"skills\":\"SKILL_CLIMB\",\"wealth\":0.5,\"speed\":[1.0,"
         "9e999,"
         "-9e999],\"rival\":4294967297,\"shape\":6,\"name\":\"a\\\"\\\\\\u000a\"}\n"},
        {"select json_extract(fighters, '$[1]') from Party",
         "{\"ready\":false,\"luck\":4,\"mood\":2,\"skills\":64,\"wealth\":2.0,\"speed\":[null,0.0,0.0],\"rival\":null,"
         "\"shape\":null,\"name\":\"12345678\"}\n"},
        {"select count(*), sum(json_extract(value, '$.luck')) from Party, json_each(Party.fighters)", "17|1\n"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

typedef struct sqlite_master {
    int32_t value;
} sqlite_master;
MICA_COMPONENT(sqlite_master, value)

START_TEST(a_component_with_a_name_reserved_by_sqlite_can_be_reached)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(sqlite_master, {7}));
    sqlite3 *database = mica_sql_open(world, NULL);
    const exchange exchanges[] = {
        {"select table_name from components where name = 'sqlite_master'", "sqlite_master_\n"},
        {"select value from sqlite_master_", "7\n"},
        {"select count(*) from sqlite_master", "0\n"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(names_that_are_taken_get_an_underscore)
{
    mica_world *world = open_world(&heard);
    mica_entity other = mica_create(world);
    mica_entity entity = mica_create(world, MICA_WITH(Entities, {other, 1, 2, true}));
    mica_disable(world, entity, Entities);
    sqlite3 *database = mica_sql_open(world, NULL);
    const exchange exchanges[] = {
        {"select * from Entities_", "4294967298|0|4294967297|1.0|2.0|1\n"},
        {"select entity_, X, x_, enabled, enabled_ from Entities_", "4294967297|1.0|2.0|0|1\n"},
        {"select name, table_name from components where name = 'Entities'", "Entities|Entities_\n"},
        {"select count(*) from ENTITIES", "2\n"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(every_storage_has_a_table)
{
    mica_world *world = open_world(&heard);
    mica_entity entity =
        mica_create(world, MICA_WITH(Frozen), MICA_WITH(Visible), MICA_WITH(Selected), MICA_WITH(Buff, {1, 1}),
                    MICA_WITH(Body, {.at = {1, 2, 3}, .cells = {0, 1, 2, 3, 4, 5}, .label = "ab", .mass = 7}));
    mica_pool *buffs = mica_pool_of(world, Buff);
    mica_instance second = mica_pool_add(buffs, entity);
    *mica_instance_write(buffs, second, Buff) = (Buff){2, 0.5f};
    mica_disable(world, entity, Visible);
    mica_define(world, Clock);
    uint64_t hash = mica_world_hash(world);
    sqlite3 *database = mica_sql_open(world, NULL);
    const exchange exchanges[] = {
        {"select * from Frozen", "4294967297\n"},
        {"select * from Visible", "4294967297|0\n"},
        {"select * from Selected", "4294967297\n"},
        {"select * from Buff", "4294967297|0|1|1.0\n4294967297|1|2|0.5\n"},
        {"select * from Buff where entity = 4294967297 and instance = 1", "4294967297|1|2|0.5\n"},
        {"select * from Body", "4294967297|1.0|2.0|3.0|0.0|1.0|2.0|3.0|4.0|5.0|ab|7.0\n"},
        {"select \"at.z\", \"cells[4]\", label from Body where entity = 4294967297", "3.0|4.0|ab\n"},
        {"select * from Clock", ""},
        {"select name, storage, bytes, row_count, toggle, split, many from components order by name",
         "Body|chunk|48|1|0|1|0\nBuff|pool|8|2|0|0|1\nClock|singleton|16|0|0|0|0\nFrozen|tag|0|1|0|0|0\n"
         "Selected|pool|0|1|0|0|0\nVisible|tag|0|1|1|0|0\n"},
        {"select name, type, offset, count from fields where component = 'Body' and name not like 'cells%'",
         "at.x|f32|0|1\nat.y|f32|4|1\nat.z|f32|8|1\nlabel|char|36|4\nmass|f64|40|1\n"},
        {"select rowid, name from fields where component = 'Clock' order by rowid", "12|seconds\n13|ticks\n"},
    };
    ck_assert_uint_eq(sizeof(Body), 48);
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    ck_assert_msg(mica_world_hash(world) == hash, "looking changes nothing");
    mica_singleton_write(world, Clock)->ticks = 9;
    ck_assert_str_eq(ask(database, "select * from Clock"), "0.0|9\n");
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

/* All rows of a table of Items, put together through the C API, by entity and instance. */
static const char *rows_of(mica_world *world, mica_component component, mica_entity *entities, uint32_t count)
{
    static char text[sizeof answer];
    const mica_type *type = mica_component_type(component);
    size_t at = 0;
    *text = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Item item;
        mica_pool *pool = type->many ? mica_pool_of_id(world, component) : NULL;
        mica_instance instance = pool ? mica_pool_find(pool, entities[i]) : (mica_instance){0};
        if (!mica_get_value_id(world, entities[i], component, &item))
            continue;
        for (uint32_t ordinal = 0; !ordinal || !mica_instance_is_nil(instance); ++ordinal) {
            if (pool)
                memcpy(&item.number,
                       type->split ? mica_instance_read_field_id(pool, instance, offsetof(Item, number))
                                   : mica_instance_read_id(pool, instance),
                       sizeof item.number);
            at += (size_t)snprintf(text + at, sizeof text - at, "%lld|", (long long)mica_sql_from_entity(entities[i]));
            if (pool)
                at += (size_t)snprintf(text + at, sizeof text - at, "%u|", ordinal);
            if (type->toggle)
                at += (size_t)snprintf(text + at, sizeof text - at, "%d|",
                                       mica_is_enabled_id(world, entities[i], component));
            Item wanted = item_of(item.number);
            at += (size_t)snprintf(text + at, sizeof text - at, "%u|%u|%.1f|%.1f|%.1f|%.1f\n", wanted.number,
                                   wanted.low, wanted.square, (double)wanted.at.x, (double)wanted.at.y,
                                   (double)wanted.at.z + 0.0) /* no -0.0 */;
            REQUIRE(at < sizeof text);
            instance = pool ? mica_pool_next(pool, instance) : (mica_instance){0};
        }
    }
    return text;
}

static int by_handle(const void *a, const void *b)
{
    int64_t left = mica_sql_from_entity(*(const mica_entity *)a), right = mica_sql_from_entity(*(const mica_entity *)b);
    return left < right ? -1 : left > right;
}

static void fill(mica_world *world, mica_component component, random_source *random, mica_entity *entities,
                 uint32_t count)
{
    const mica_type *type = mica_component_type(component);
    for (uint32_t i = 0; i < count; ++i) {
        Item item = item_of(random_below(random, 4000));
        mica_value value = item_value(component, &item);
        entities[i] = mica_create_id(world, &value, random_one_in(random, 3) ? 0 : 1);
        if (random_one_in(random, 2))
            mica_set(world, entities[i], Number, {i});
        if (type->toggle && random_one_in(random, 3))
            mica_enable_id(world, entities[i], component, false);
        if (type->many && random_one_in(random, 2)) {
            mica_pool *pool = mica_pool_of_id(world, component);
            mica_instance instance = mica_pool_add(pool, entities[i]);
            /* A default value is zero, and so an Item of 0. */
            REQUIRE(!mica_instance_is_nil(instance));
        }
    }
    for (uint32_t i = 0; i < count / 5; ++i)
        mica_destroy(world, entities[random_below(random, count)]);
    forget_reports(&heard);
    qsort(entities, count, sizeof *entities, by_handle);
}

START_TEST(tables_say_what_the_world_says_however_it_is_kept)
{
    enum { COUNT = 300 };
    random_source random = {5};
    for (uint32_t i = 0; i < variant_count; ++i) {
        mica_entity entities[COUNT];
        mica_world *world = open_world_of_small_chunks(&heard);
        mica_component component = variant_component(&variants[i], 'a');
        const char *name = mica_component_type(component)->name;
        fill(world, component, &random, entities, COUNT);
        sqlite3 *database = mica_sql_open(world, &(mica_sql_def){.read_only = true});
        const char *wanted = rows_of(world, component, entities, COUNT);
        ask_with(database, "select * from \"%w\" order by 1, 2", name);
        ck_assert_msg(strcmp(answer, wanted) == 0, "%s: found\n%.1500s\nexpected\n%.1500s", name, answer, wanted);
        /* By look-up: the outer loop is over what is smaller for SQLite, so CROSS decides. */
        ask_with(database, "select i.* from entities e cross join \"%w\" i using (entity) order by 1, 2", name);
        ck_assert_msg(strcmp(answer, wanted) == 0, "%s: joined, found\n%.1500s\nexpected\n%.1500s", name, answer,
                      wanted);
        sqlite3_close(database);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(joins_on_entity_are_looked_up)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 1000; ++i)
        mica_create_id(world, (mica_value[]){MICA_WITH(Number, {i}), MICA_WITH(Buff), MICA_WITH(Frozen)}, 1 + (i % 3));
    sqlite3 *database = mica_sql_open(world, NULL);
    static const struct {
        const char *statement;
        const char *plan[2];
    } cases[] = {
        {"select * from Number", {"SCAN Number VIRTUAL TABLE INDEX 0:"}},
        {"select * from Number where value = 5", {"SCAN Number VIRTUAL TABLE INDEX 0:"}},
        {"select * from Number where entity > 5", {"SCAN Number VIRTUAL TABLE INDEX 0:"}},
        {"select * from Number where entity = 5", {"SCAN Number VIRTUAL TABLE INDEX 1:"}},
        {"select * from Number where rowid = 5", {"SCAN Number VIRTUAL TABLE INDEX 1:"}},
        {"select * from Number where entity in (5, 6)", {"SCAN Number VIRTUAL TABLE INDEX 1:"}},
        /* There are fewer of the tag: it leads. */
        {"select * from Number join Frozen using (entity)",
         {"SCAN Frozen VIRTUAL TABLE INDEX 0:", "SCAN Number VIRTUAL TABLE INDEX 1:"}},
        {"select * from Frozen left join Buff using (entity)",
         {"SCAN Frozen VIRTUAL TABLE INDEX 0:", "SCAN Buff VIRTUAL TABLE INDEX 1:"}},
        {"select * from Frozen join entities using (entity)",
         {"SCAN Frozen VIRTUAL TABLE INDEX 0:", "SCAN entities VIRTUAL TABLE INDEX 1:"}},
        {"select * from entities where path = 'a/b'", {"SCAN entities VIRTUAL TABLE INDEX 2:"}},
        {"select * from entities where parent = 5", {"SCAN entities VIRTUAL TABLE INDEX 3:"}},
        {"select * from entities where parent = 5 and entity = 6", {"SCAN entities VIRTUAL TABLE INDEX 1:"}},
        {"select * from entities where name = 'b'", {"SCAN entities VIRTUAL TABLE INDEX 0:"}},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ask_with(database, "explain query plan %s", cases[i].statement);
        const char *first = strstr(answer, cases[i].plan[0]);
        ck_assert_msg(first && (!cases[i].plan[1] || strstr(first, cases[i].plan[1])), "%s: %s", cases[i].statement,
                      answer);
    }
    static const exchange odd[] = {
        {"select count(*) from Number where entity = '4294967297'", "1\n"},
        {"select count(*) from Number where entity = 4294967297.0", "1\n"},
        {"select count(*) from Number where entity = 4294967297.5", "0\n"},
        {"select count(*) from Number where entity = 'ship'", "0\n"},
        {"select count(*) from Number where entity = x'0102'", "0\n"},
        {"select count(*) from Number where entity = NULL", "0\n"},
        {"select count(*) from Number where entity = 0", "0\n"},
        {"select count(*) from Number where entity = -1", "0\n"},
    };
    expect_answers(database, odd, COUNT_OF(odd));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(entities_have_names_and_families)
{
    mica_world *world = open_world(&heard);
    mica_entity station = mica_create(world, MICA_WITH(Position)), door = mica_create(world), bolt = mica_create(world);
    mica_name_set(world, station, mica_nil(), "station");
    mica_set_parent(world, door, station);
    mica_set_parent(world, bolt, station);
    mica_name_child(world, door, "door");
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"select * from entities where name is not null order by slot",
         "4294967297|1|1|station|station|-|2|1|Position\n4294967298|2|1|door|station/door|4294967297|0|0|\n"},
        {"select entity from entities where path = 'station/door'", "4294967298\n"},
        {"select entity from entities where path = 'station/window'", ""},
        {"select entity from entities where path = NULL", ""},
        {"select slot, components from entities where parent = 4294967297", "2|\n3|Frozen\n"},
        {"select slot from entities where parent = 4294967298", ""},
        {"select c.slot from entities p join entities c on c.parent = p.entity where p.name = 'station'", "2\n3\n"},
        {"with recursive tree(entity, depth) as (select entity, 0 from entities where path = 'station' union all "
         "select "
         "e.entity, depth + 1 from entities e join tree on e.parent = tree.entity) select sum(depth) from tree",
         "2\n"},
    };
    mica_add(world, bolt, Frozen);
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

/* Values may change while a statement runs; rows that move end it. */
START_TEST(a_statement_ends_when_the_program_changes_structure)
{
    static const char *const statements[] = {"select value from Number", "select value, entity from Number",
                                             "select slot from entities", "select kind from Buff",
                                             "select n.value from Number n join entities using (entity)"};
    for (uint32_t i = 0; i < COUNT_OF(statements); ++i)
        for (uint32_t change = 0; change < 2; ++change) {
            mica_world *world = open_world(&heard);
            mica_entity entities[10];
            for (uint32_t j = 0; j < 10; ++j)
                entities[j] = mica_create(world, MICA_WITH(Number, {j}), MICA_WITH(Buff, {7, 8}));
            sqlite3 *database = mica_sql_open(world, NULL);
            sqlite3_stmt *statement;
            REQUIRE(sqlite3_prepare_v2(database, statements[i], -1, &statement, NULL) == SQLITE_OK);
            REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
            mica_set(world, entities[5], Number, {50});
            REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
            if (change)
                mica_destroy(world, entities[5]);
            int result = sqlite3_step(statement);
            ck_assert_msg(change ? result == SQLITE_ABORT : result == SQLITE_ROW, "%s: %s", statements[i],
                          sqlite3_errmsg(database));
            ck_assert_msg(!change || strstr(sqlite3_errmsg(database), "structure of the world changed"), "%s",
                          sqlite3_errmsg(database));
            sqlite3_reset(statement);
            ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "it can be run again");
            sqlite3_finalize(statement);
            sqlite3_close(database);
            close_world(world, &heard);
        }
}
END_TEST

START_TEST(worlds_share_a_connection_under_prefixes_and_may_be_read_only)
{
    reports heard_too;
    mica_world *left = open_world(&heard), *right = open_world(&heard_too);
    mica_create(left, MICA_WITH(Number, {1}));
    mica_create(right, MICA_WITH(Number, {2}));
    sqlite3 *database = mica_sql_open(left, &(mica_sql_def){.prefix = "left_"});
    ck_assert_int_eq(mica_sql_attach(database, right, &(mica_sql_def){.prefix = "right_", .read_only = true}), MICA_OK);
    static const exchange exchanges[] = {
        {"select l.value, r.value from left_Number l join right_Number r using (entity)", "1|2\n"},
        {"select count(*) from left_components", "1\n"},
        {"update left_Number set value = 3", ""},
        {"update right_Number set value = 3", "error: may not be modified"},
        {"insert into right_Number(value) values (3)", "error: may not be modified"},
        {"delete from right_entities", "error: may not be modified"},
        {"delete from right_components", "error: may not be modified"},
        {"select l.value, r.value from left_Number l join right_Number r using (entity)", "3|2\n"},
        {"select * from left_Position", "error: no such table"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    mica_create(left, MICA_WITH(Position, {1, 2, 3}));
    ck_assert_int_eq(mica_sql_attach(database, left, &(mica_sql_def){.prefix = "left_"}), MICA_OK);
    ck_assert_str_eq(ask(database, "select x, y, z from left_Position"), "1.0|2.0|3.0\n");
    ck_assert_str_eq(ask(database, "select value from left_Number"), "3\n");
    sqlite3_close(database);
    close_world(left, &heard);
    close_world(right, &heard_too);
}
END_TEST

START_TEST(more_fields_than_a_table_has_columns_are_left_out)
{
    enum { FIELDS = 1100 };
    static char names[FIELDS][8];
    static mica_field fields[FIELDS];
    for (uint32_t i = 0; i < FIELDS; ++i) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        fields[i] = (mica_field){.name = names[i], .offset = i, .element_bytes = 1, .count = 1, .kind = MICA_KIND_U8};
    }
    mica_type type = {.name = "Wide", .fields = fields, .field_count = FIELDS, .size_bytes = FIELDS, .alignment = 1};
    type.kind = MICA_KIND_STRUCT;
    mica_world *world = open_world(&heard);
    mica_component wide = mica_component_define(world, &type);
    uint8_t value[FIELDS] = {[999] = 9};
    mica_create_id(world, &(mica_value){wide, FIELDS, value}, 1);
    /* And one without a field that is described is a table of entities, unless it has none. */
    mica_type opaque = {.name = "Opaque", .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT}, single = opaque;
    single.name = "Single";
    single.storage = MICA_STORAGE_SINGLETON;
    mica_component opaque_id = mica_component_define(world, &opaque);
    mica_component_define(world, &single);
    mica_add_id(world, mica_create(world), opaque_id);
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"select f999 from Wide", "9\n"},
        {"select f1000 from Wide", "error: no such column"},
        {"select * from Opaque", "4294967298\n"},
        {"select * from Single", "error: no such table"},
        {"select table_name from components where name = 'Single'", "-\n"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(read, every_kind_of_field_reads_as_documented, long_arrays_of_everything_are_json,
           names_that_are_taken_get_an_underscore, a_component_with_a_name_reserved_by_sqlite_can_be_reached,
           every_storage_has_a_table, tables_say_what_the_world_says_however_it_is_kept, joins_on_entity_are_looked_up,
           entities_have_names_and_families, a_statement_ends_when_the_program_changes_structure,
           worlds_share_a_connection_under_prefixes_and_may_be_read_only,
           more_fields_than_a_table_has_columns_are_left_out)
