/* Lists as tables of their own: the same elements as the column of JSON shows, written one by one. */
#include "ask.h"

#include "../support/people.h"
#include "../support/random.h"
#include "../support/tuned.h"
#include "base/block_heap.h"

#include "mica/hash.h"

/* Lists in structs in a component, and elements whose fields are named as columns are. */
typedef struct Label { mica_entity entity; int32_t position, Instance, row_key; } Label;
MICA_STRUCT(Label, entity, position, Instance, row_key)
typedef struct Bag { mica_list labels; mica_list flags; } Bag;
MICA_STRUCT(Bag, (labels, Label), (flags, Skills))
typedef struct Owner { Bag bag; Bag spare[2]; } Owner;
MICA_COMPONENT_WITH(Owner, (.toggle = true), (bag, Bag), (spare, Bag))

/* Takes the name that the table of a list would have. */
typedef struct Person_scores { float value; } Person_scores;
MICA_COMPONENT(Person_scores, value)

/* Too many lists for a column each. */
typedef struct Cabinet { mica_list drawers[20]; } Cabinet;
MICA_COMPONENT(Cabinet, (drawers, uint8_t))

static reports heard;

static mica_world *make_world(void)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity first = mica_create(world, MICA_WITH(Person, {.name = mica_text_of("first")}), MICA_WITH(Owner),
                                    MICA_WITH(TunedText), MICA_WITH(Diary));
    mica_entity second = mica_create(world, MICA_WITH(Person, {.name = mica_text_of("second")}));
    mica_list_add(&mica_write(world, second, Person)->scores, float, 1, 2.5f);
    mica_pool *letters = mica_pool_of(world, Letters);
    mica_pool_add(letters, first);
    mica_pool_add(letters, first);
    mica_pool_add(letters, second);
    mica_define(world, Archive);
    mica_define(world, Person_scores);
    mica_define(world, Cabinet);
    return world;
}

START_TEST(every_list_is_a_table)
{
    mica_world *world = make_world();
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"select name, table_name from fields where component = 'Person' and type = 'list'",
         "inventory|Person_inventory\nscores|Person_scores_\nfriends|Person_friends\nmoods[0]|Person_moods[0]\nmoods[1]|"
         "Person_moods[1]\n"},
        {"select name, type, table_name from fields where component in ('Owner', 'Cabinet', 'Archive')",
         "bag.labels|list|Owner_bag.labels\nbag.flags|list|Owner_bag.flags\nspare[0].labels|list|Owner_spare[0].labels\n"
         "spare[0].flags|list|Owner_spare[0].flags\nspare[1].labels|list|Owner_spare[1].labels\nspare[1].flags|list|Owner_"
         "spare[1].flags\npath|text|-\nthings|list|Archive_things\ndrawers|list|-\n"},
        {"select * from Person_scores_", "4294967298|0|1.0\n4294967298|1|2.5\n"},
        {"select * from Person_scores", ""},
        {"insert into Person_scores_ values (4294967297, NULL, 7), (4294967298, 0, 8), (4294967298, 3, 9)", ""},
        {"select * from Person_scores_",
         "4294967297|0|7.0\n4294967298|0|8.0\n4294967298|1|1.0\n4294967298|2|2.5\n4294967298|3|9.0\n"},
        {"select scores from Person", "[7.0]\n[8.0,1.0,2.5,9.0]\n"},
        {"insert into Person_friends(entity, value) values (4294967297, 4294967298), (4294967297, NULL)", ""},
        {"insert into \"Person_moods[1]\"(entity, value) values (4294967297, 'MOOD_ANGRY'), (4294967297, 3)", ""},
        {"select friends, \"moods[0]\", \"moods[1]\" from Person where name = 'first'",
         "[4294967298,null]|[]|[\"MOOD_ANGRY\",3]\n"},
        {"select value, typeof(value) from \"Person_moods[1]\"", "MOOD_ANGRY|text\n3|integer\n"},
        {"insert into Person_inventory(entity, name, count, tags, \"place.y\") values (4294967298, 'a rope of some length', 2, "
         "'[\"a\"]', 5)",
         ""},
        {"select * from Person_inventory", "4294967298|0|a rope of some length|2|[\"a\"]|0.0|5.0|0.0\n"},
        {"select inventory from Person where name = 'second'",
         "[{\"name\":\"a rope of some length\",\"count\":2,\"tags\":[\"a\"],\"place\":{\"x\":0.0,\"y\":5.0,\"z\":0.0}}]\n"},
        {"insert into Diary_pages(entity, value) values (4294967297, 'one page of some length'), (4294967297, '')", ""},
        {"select * from Diary_pages", "4294967297|0|one page of some length\n4294967297|1|\n"},
        {"insert into \"Owner_bag.labels\"(entity, entity_, position_, row_key, Instance) values (4294967297, 4294967298, 5, 6, 7)",
         ""},
        {"select * from \"Owner_bag.labels\"", "4294967297|0|4294967298|5|7|6\n"},
        {"insert into \"Owner_spare[1].flags\"(entity, value) values (4294967297, 'SKILL_SWIM|SKILL_SING')", ""},
        {"select \"bag.labels\", \"spare[1].flags\" from Owner",
         "[{\"entity\":4294967298,\"position\":5,\"Instance\":7,\"row_key\":6}]|[\"SKILL_SWIM|SKILL_SING\"]\n"},
        {"insert into Letters_numbers(entity, instance, value) values (4294967297, 1, 11), (4294967297, 0, 10), (4294967297, 1, 12)",
         ""},
        {"insert into Letters_numbers(entity, value) values (4294967298, 65535)", ""},
        {"select * from Letters_numbers", "4294967297|0|0|10\n4294967297|1|0|11\n4294967297|1|1|12\n4294967298|0|0|65535\n"},
        {"select instance, numbers from Letters", "0|[10]\n1|[11,12]\n0|[65535]\n"},
        {"insert into Archive_things(name) values ('lamp')", "error: Archive_things: the world has no Archive"},
        {"select count(*) from Archive_things", "0\n"},
        {"select * from Cabinet_drawers", "error: no such table"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    mica_singleton_write(world, Archive);
    static const exchange singleton[] = {
        {"insert into Archive_things(name, count) values ('lamp', 1), ('rope', 2)", ""},
        {"insert into Archive_things(position, name) values (1, 'oil')", ""},
        {"update Archive_things set count = count + 5 where position > 0", ""},
        {"delete from Archive_things where name = 'lamp'", ""},
        {"select position, name, count from Archive_things", "0|oil|5\n1|rope|7\n"},
        {"select name from Archive_things where position = 1", "rope\n"},
        {"select json_array_length(things) from Archive", "2\n"},
    };
    expect_answers(database, singleton, COUNT_OF(singleton));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(elements_are_changed_and_deleted_in_any_number)
{
    mica_world *world = make_world();
    mica_define(world, Number);
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange exchanges[] = {
        {"with recursive n(i) as (select 0 union all select i + 1 from n where i < 9) insert into Person_scores_(entity, value) "
         "select entity, i from Person, n where name = 'first'",
         ""},
        {"update Person_scores_ set value = value + 100 where entity = 4294967297 and position % 2 = 1", ""},
        {"select scores from Person where name = 'first'", "[0.0,101.0,2.0,103.0,4.0,105.0,6.0,107.0,8.0,109.0]\n"},
        {"delete from Person_scores_ where value < 50", ""},
        {"select scores from Person", "[101.0,103.0,105.0,107.0,109.0]\n[]\n"},
        {"delete from Person_scores_ where entity = 4294967297 and position = 1", ""},
        {"delete from Person_scores_ where entity = 4294967297 and position in (0, 2)", ""},
        {"select scores from Person", "[105.0,109.0]\n[]\n"},
        /* Reads the very list that it writes. */
        {"insert into Person_scores_(entity, value) select entity, value + 1 from Person_scores_", ""},
        {"insert into Person_scores_(entity, position, value) select entity, 0, value from Person_scores_ where position = 3", ""},
        {"select scores from Person", "[110.0,105.0,109.0,106.0,110.0]\n[]\n"},
        {"insert or replace into Person_scores_ values (4294967297, 1, 5), (4294967297, 5, 6)", ""},
        {"select scores from Person", "[110.0,5.0,109.0,106.0,110.0,6.0]\n[]\n"},
        {"update Person_scores_ set value = p.age + position from Person p where p.entity = Person_scores_.entity", ""},
        {"select scores from Person", "[0.0,1.0,2.0,3.0,4.0,5.0]\n[]\n"},
        {"update or ignore Person_scores_ set value = case position when 2 then 'x' else 7 end", ""},
        {"select scores from Person", "[7.0,7.0,2.0,7.0,7.0,7.0]\n[]\n"},
        {"update Person_scores_ set position = position, entity = entity, value = 0", ""},
        {"select changes(), last_insert_rowid()", "6|5\n"},
        {"select entity, sum(value) from Person_scores_ group by entity having count(*) = 6", "4294967297|0.0\n"},
        {"delete from Person_scores_", ""},
        {"select scores from Person", "[]\n[]\n"},
        {"insert into Letters_numbers(entity, instance, value) select entity, instance, 10 * instance + i from Letters, (select 1 i "
         "union select 2 union select 3)",
         ""},
        {"update Letters_numbers set value = value + 100 where instance = 1 and position = 2", ""},
        {"delete from Letters_numbers where value % 10 = 1", ""},
        {"select instance, numbers from Letters", "0|[2,3]\n1|[12,113]\n0|[2,3]\n"},
        {"update Letters_numbers set instance = instance, value = value", ""},
        /* A write of the component and a write of its list see each other. */
        {"update Person set scores = '[1, 2, 3]' where name = 'first'", ""},
        {"delete from Person_scores_ where position = 1", ""},
        {"select scores from Person where name = 'first'", "[1.0,3.0]\n"},
        {"delete from Person where name = 'first'", ""},
        {"select count(*) from Person_scores_", "0\n"},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

static const exchange misfits[] = {
    {"insert into Person_scores_(value) values (1)", "error: Person_scores_.entity takes an entity that has Person, not NULL"},
    {"insert into Person_scores_(entity) values (4294967299)",
     "error: Person_scores_.entity takes an entity that has Person, not 4294967299"},
    {"insert into Person_scores_(entity) values ('first')", "error: takes an entity that has Person, not first"},
    {"insert into Person_scores_(entity) values (x'00')", "error: takes an entity that has Person"},
    {"insert into Diary_pages(entity, value) values (4294967298, 'x')", "error: Diary_pages.entity takes an entity that has Diary"},
    {"insert into Person_scores_ values (4294967298, 3, 1)", "error: Person_scores_.position takes 0 to 2, not 3"},
    {"insert into Person_scores_ values (4294967298, -1, 1)", "error: Person_scores_.position takes 0 to 2, not -1"},
    {"insert into Person_scores_ values (4294967298, 4294967296, 1)", "error: Person_scores_.position takes 0 to 2"},
    {"insert into Person_scores_ values (4294967298, 'x', 1)", "error: Person_scores_.position takes a whole number"},
    {"insert into Person_scores_ values (4294967298, 0.5, 1)", "error: Person_scores_.position takes a whole number"},
    {"insert into Person_scores_ values (4294967298, 0, 'x')", "error: Person_scores_.value: expected a number"},
    {"insert into Person_scores_ values (4294967298, 0, 1), (4294967298, 0, 'x')", "error: Person_scores_.value: expected a number"},
    {"insert into Person_scores_(entity, row_key) values (4294967298, x'00')", "error: Person_scores_.row_key can't be written"},
    {"insert into Person_scores_(rowid) values (5)", "error: no column named rowid"},
    {"insert into Person_inventory(entity, count) values (4294967298, -1)", "error: Person_inventory.count: expected an integer from 0 to"},
    {"insert into Person_inventory(entity, tags) values (4294967298, '[1')", "error: Person_inventory.tags: expected a string"},
    {"insert into TunedText_scores(entity, value) values (4294967297, 11)",
     "error: TunedText_scores.value: expected value from 0 to 10, found 11"},
    {"update TunedText_scores set value = -value", "error: TunedText_scores.value: expected value from 0 to 10, found -1"},
    {"insert into TunedText_scales(entity, y) values (4294967297, 0)", "error: TunedText_scales.y: expected y from 0.1 to 10"},
    {"insert into Letters_numbers(entity, value) values (4294967297, 1)",
     "error: Letters_numbers.instance is needed: the entity has several"},
    {"insert into Letters_numbers(entity, instance) values (4294967297, 2)", "error: Letters_numbers.instance takes one that exists"},
    {"insert into Letters_numbers(entity, instance) values (4294967297, -1)", "error: Letters_numbers.instance takes 0 to"},
    {"insert into Letters_numbers(entity, instance) values (4294967297, 'a')", "error: instance takes a whole number"},
    {"insert into Letters_numbers(entity, instance, value) values (4294967297, 0, 65536)", "error: Letters_numbers.value: expected an integer from 0 to"},
    {"update Letters_numbers set instance = instance + 1", "error: Letters_numbers.instance can't be changed"},
    {"update Person_scores_ set position = position + 1", "error: Person_scores_.position can't be changed: DELETE the element"},
    {"update Person_scores_ set entity = entity - 1", "error: Person_scores_.entity can't be changed"},
    {"update Person_scores_ set row_key = x'00'", "error: Person_scores_.row_key can't be written"},
    {"update Person_scores_ set row_key = NULL", "error: Person_scores_.row_key can't be written"},
    {"update Person_scores_ set value = case position when 0 then 5 else 'no' end", "error: Person_scores_.value: expected a number"},
    {"update \"Owner_bag.flags\" set value = 'SKILL_FLY'", "error: Owner_bag.flags.value: Skills has no constant \"SKILL_FLY\""},
    {"update Diary_pages set value = 5", "error: Diary_pages.value: expected a string"},
};

START_TEST(elements_that_do_not_fit_are_refused_and_change_nothing)
{
    mica_world *world = make_world();
    sqlite3 *database = mica_sql_open(world, NULL);
    static const exchange fill[] = {
        {"insert into Diary_pages(entity, value) values (4294967297, 'page')", ""},
        {"insert into \"Owner_bag.flags\"(entity) values (4294967297)", ""},
        {"insert into Letters_numbers(entity, instance) values (4294967297, 1)", ""},
    };
    expect_answers(database, fill, COUNT_OF(fill));
    uint64_t hash = mica_world_hash(world);
    for (uint32_t i = 0; i < 2 * COUNT_OF(misfits); ++i) {
        ask(database, i % 2 ? "begin" : "select 1");
        expect_answer(database, &misfits[i / 2]);
        ck_assert_msg(mica_world_hash(world) == hash, "%s: changed something", misfits[i / 2].statement);
        ask(database, i % 2 ? "commit" : "select 1");
        ck_assert_msg(mica_world_hash(world) == hash, "%s: and committed it", misfits[i / 2].statement);
    }
    sqlite3_close(database);
    database = mica_sql_open(world, &(mica_sql_def){.read_only = true, .prefix = "w_"});
    static const exchange reading[] = {
        {"select value from w_Person_scores_", "1.0\n2.5\n"},
        {"delete from w_Person_scores_", "error: may not be modified"},
    };
    expect_answers(database, reading, COUNT_OF(reading));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(look_ups_go_to_the_entity_and_the_element)
{
    mica_world *world = make_world();
    sqlite3 *database = mica_sql_open(world, NULL);
    static const struct {
        const char *condition, *plan, *answer;
    } cases[] = {
        {"1", "INDEX 0:", "1.0\n2.5\n"},
        {"entity = 4294967298", "INDEX 1:", "1.0\n2.5\n"},
        {"entity = 4294967297", "INDEX 1:", ""},
        {"entity = 4294967298 and position = 1", "INDEX 3:", "2.5\n"},
        {"entity = 4294967298 and position = 2", "INDEX 3:", ""},
        {"entity = 4294967298 and position = -1", "INDEX 3:", ""},
        {"entity = 4294967298 and position = 4294967296", "INDEX 3:", ""},
        {"entity = 4294967298 and position = 0.5", "INDEX 3:", ""},
        {"entity = 4294967298 and position = '1'", "INDEX 3:", "2.5\n"},
        {"entity = 4294967298 and position is NULL", "INDEX 1:", ""},
        {"entity = 'x' and position = 0", "INDEX 3:", ""},
        {"entity = 4294967298 and position > 0", "INDEX 1:", "2.5\n"},
        {"position = 1", "INDEX 2:", "2.5\n"},
        {"position = 0 and value > 0", "INDEX 2:", "1.0\n"},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ask_with(database, "explain query plan select value from Person_scores_ where %s", cases[i].condition);
        ck_assert_msg(strstr(answer, cases[i].plan), "%s: %s", cases[i].condition, answer);
        ask_with(database, "select value from Person_scores_ where %s", cases[i].condition);
        ck_assert_msg(strcmp(answer, cases[i].answer) == 0, "%s: %s", cases[i].condition, answer);
    }
    static const exchange joins[] = {
        {"select name, position, value from Person join Person_scores_ using (entity)", "second|0|1.0\nsecond|1|2.5\n"},
        {"select name, value from Person p left join Person_scores_ s on s.entity = p.entity and s.position = 1",
         "first|-\nsecond|2.5\n"},
    };
    expect_answers(database, joins, COUNT_OF(joins));
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

/* The same elements, in the same order, in the table and in the column. */
static void expect_same_view(sqlite3 *database, const char *table, const char *column)
{
    static char expected[sizeof answer];
    strcpy(expected, ask(database, column));
    ck_assert_msg(strncmp(expected, "error", 5) != 0, "%s: %s", column, expected);
    ask(database, table);
    ck_assert_msg(strcmp(answer, expected) == 0, "%s\nexpected\n%s\nfound\n%s", table, expected, answer);
}

static void expect_same_views(sqlite3 *database)
{
    expect_same_view(database, "select entity, position, name, count, tags, \"place.x\" from Person_inventory",
                     "select p.entity, j.key, j.value ->> 'name', j.value ->> 'count', j.value -> 'tags', j.value ->> "
                     "'$.place.x' from Person p, json_each(inventory) j");
    expect_same_view(database, "select entity, position, value from Person_scores_",
                     "select p.entity, j.key, j.value from Person p, json_each(scores) j");
    expect_same_view(database, "select entity, instance, position, value from Letters_numbers",
                     "select p.entity, instance, j.key, j.value from Letters p, json_each(numbers) j");
    expect_same_view(database, "select entity, position, value from Diary_pages",
                     "select p.entity, j.key, j.value from Diary p, json_each(pages) j");
    expect_same_view(database, "select position, name, count from Archive_things",
                     "select j.key, j.value ->> 'name', j.value ->> 'count' from Archive p, json_each(things) j");
    expect_same_view(database, "select entity, position, value from Person_scores_ where position = 1",
                     "select p.entity, j.key, j.value from Person p, json_each(scores) j where j.key = 1");
}

/* A list of the world that C writes, and how SQL names the same list in the other world. */
typedef struct target {
    const char *table;
    const char *condition; /* of its row */
    const char *keys;      /* the columns of the condition, and their values */
    const char *values;
    mica_list *list;
    const mica_type *type;
} target;

static void write_element(const target *target, void *element, uint32_t number, const char *text)
{
    if (target->type == &mica_type_of_Thing)
        ((Thing *)element)->count = number;
    else if (target->type == &mica_type_of_mica_text)
        mica_text_set(element, text);
    else if (target->type == &mica_type_of_float)
        *(float *)element = (float)number;
    else
        *(uint16_t *)element = (uint16_t)number;
}

static void change_both(sqlite3 *database, const target *target, random_source *random)
{
    uint32_t count = mica_list_count(target->list), position = random_below(random, count + 1);
    uint32_t number = random_below(random, 60000), action = random_below(random, 5),
             element = position % (count + !count);
    char text[64], value[80];
    snprintf(text, sizeof text, "number %u of a text that is long", number);
    snprintf(value, sizeof value, target->type == &mica_type_of_mica_text ? "'number %u of a text that is long'" : "%u",
             number);
    const char *name = target->type == &mica_type_of_Thing ? "count" : "value";
    if (action == 4 && count) {
        ask_with(database, "delete from %s where %s and position = %u", target->table, target->condition, element);
        mica_list_remove_type(target->list, target->type, element, 1);
    } else if (action == 3 && count) {
        ask_with(database, "update %s set %s = %s where %s and position = %u", target->table, name, value,
                 target->condition, element);
        char *items = mica_list_write_type(target->list, target->type);
        write_element(target, items + (size_t)element * target->type->size_bytes, number, text);
    } else {
        bool appends = action == 0;
        char place[16] = "NULL";
        if (!appends)
            snprintf(place, sizeof place, "%u", position);
        ask_with(database, "insert into %s(%sposition, %s) values (%s%s, %s)", target->table, target->keys, name,
                 target->values, place, value);
        write_element(target, mica_list_insert_type(target->list, target->type, appends ? UINT32_MAX : position, 1),
                      number, text);
    }
    REQUIRE_SAYING(!*answer, "%s: %s", target->table, answer);
}

static mica_entity fill_people(mica_world *world, mica_entity *out_last)
{
    mica_entity first = mica_nil();
    for (uint32_t i = 0; i < 20; ++i) {
        *out_last = mica_create(world, MICA_WITH(Person), MICA_WITH(Diary));
        mica_pool_add(mica_pool_of(world, Letters), *out_last);
        mica_pool_add(mica_pool_of(world, Letters), *out_last);
        first = i ? first : *out_last;
    }
    mica_singleton_write(world, Archive);
    mica_define(world, Person_scores);
    return first;
}

START_TEST(tables_and_columns_agree_with_a_world_that_c_writes)
{
    reports heard_by_c;
    mica_entity entity, last;
    random_source random = {17};
    mica_world *by_sql = open_world_of_small_chunks(&heard), *by_c = open_world_of_small_chunks(&heard_by_c);
    fill_people(by_sql, &last);
    entity = fill_people(by_c, &last);
    sqlite3 *database = mica_sql_open(by_sql, NULL);
    for (uint32_t i = 0; i < 600; ++i) {
        char handle[64], by_handle[64], letter[64], by_letter[64];
        entity = mica_sql_to_entity(4294967297 + (int64_t)random_below(&random, 20));
        uint32_t ordinal = random_below(&random, 2);
        mica_pool *pool = mica_pool_of(by_c, Letters);
        mica_instance instance = mica_pool_find(pool, entity);
        instance = ordinal ? mica_pool_next(pool, instance) : instance;
        snprintf(handle, sizeof handle, "%lld, ", (long long)mica_sql_from_entity(entity));
        snprintf(by_handle, sizeof by_handle, "entity = %lld", (long long)mica_sql_from_entity(entity));
        snprintf(letter, sizeof letter, "%lld, %u, ", (long long)mica_sql_from_entity(entity), ordinal);
        snprintf(by_letter, sizeof by_letter, "entity = %lld and instance = %u",
                 (long long)mica_sql_from_entity(entity), ordinal);
        Person *person = mica_write(by_c, entity, Person);
        Letters *letters = mica_instance_write_id(pool, instance);
        const target targets[] = {
            {"Person_inventory", by_handle, "entity, ", handle, &person->inventory, &mica_type_of_Thing},
            {"Person_scores_", by_handle, "entity, ", handle, &person->scores, &mica_type_of_float},
            {"Diary_pages", by_handle, "entity, ", handle, &mica_write(by_c, entity, Diary)->pages,
             &mica_type_of_mica_text},
            {"Letters_numbers", by_letter, "entity, instance, ", letter, &letters->numbers, &mica_type_of_uint16_t},
            {"Archive_things", "true", "", "", &mica_singleton_write(by_c, Archive)->things, &mica_type_of_Thing},
        };
        change_both(database, &targets[random_below(&random, COUNT_OF(targets))], &random);
        mica_difference difference;
        ck_assert_msg(!mica_hash_diff(by_sql, by_c, &difference), "step %u: %s", i, difference.text);
        if (i % 20 == 0)
            expect_same_views(database);
    }
    expect_same_views(database);
    sqlite3_close(database);
    close_world(by_sql, &heard);
    close_world(by_c, &heard_by_c);
}
END_TEST

START_TEST(transactions_with_elements_are_taken_back)
{
    mica_world *world = make_world();
    sqlite3 *database = mica_sql_open(world, NULL);
    uint64_t hash = mica_world_hash(world);
    static const exchange first[] = {
        {"begin", ""},
        {"delete from Person_scores_", ""},
        {"insert into Person_inventory(entity, name) values (4294967297, 'a name of some length, which is shared')", ""},
        {"insert into Letters_numbers(entity, instance, value) values (4294967297, 1, 5)", ""},
        {"savepoint a", ""},
        {"update Person_inventory set name = 'b'", ""},
        {"update Letters_numbers set value = 6", ""},
        {"rollback to a", ""},
        {"select name, value from Person_inventory, Letters_numbers", "a name of some length, which is shared|5\n"},
        {"rollback", ""},
    };
    expect_answers(database, first, COUNT_OF(first));
    ck_assert_msg(mica_world_hash(world) == hash, "as it was");
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

static uint32_t sets;

static void hear_set(const mica_event *event)
{
    sets += event->count;
}

START_TEST(an_element_that_is_written_sets_its_component)
{
    mica_world *world = make_world();
    mica_hook_set_id(world, MICA_ID(Person), MICA_EVENT_SET, hear_set, NULL);
    mica_query *changed = mica_query_create(world, MICA_QUERY(MICA_READ(Person), MICA_CHANGED(Person)));
    mica_query_begin(changed);
    sqlite3 *database = mica_sql_open(world, NULL);
    sets = 0;
    ck_assert_str_eq(ask(database, "update Person_scores_ set value = 3"), "");
    ck_assert_uint_eq(sets, 2);
    ck_assert_uint_ne(mica_query_count(changed), 0);
    ck_assert_str_eq(ask(database, "delete from Person_scores_"), "");
    ck_assert_uint_eq(sets, 4);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_loop_over_elements_continues_while_others_write)
{
    static const char *const statements[] = {
        "select entity, position, value from Person_scores_",
        "select entity, position, value from Letters_numbers",
    };
    for (uint32_t i = 0; i < COUNT_OF(statements); ++i) {
        mica_entity last;
        mica_world *world = open_world_of_small_chunks(&heard);
        fill_people(world, &last);
        sqlite3 *database = mica_sql_open(world, NULL);
        ask(database,
            "insert into Person_scores_(entity, value) select entity, v from Person, (select 1 v union select 2)");
        ask(database, "insert into Letters_numbers(entity, instance, value) select entity, instance, 1 from Letters");
        sqlite3_stmt *statement;
        uint32_t seen = 0;
        REQUIRE(sqlite3_prepare_v2(database, statements[i], -1, &statement, NULL) == SQLITE_OK);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            long long entity = sqlite3_column_int64(statement, 0);
            ck_assert_int_eq(sqlite3_column_int(statement, 1), 0);
            ck_assert_int_eq(sqlite3_column_int(statement, 2), 1);
            /* Deletes this element and those after it, moves the row and destroys the next. */
            ask_with(database, "delete from Person_scores_ where entity = %lld", entity);
            ask_with(database, "delete from Letters_numbers where entity = %lld", entity);
            ck_assert_msg(sqlite3_column_type(statement, 2) != SQLITE_BLOB, "it is still there or NULL");
            ask_with(database, "insert into Person_scores(entity) values (%lld)", entity);
            ask_with(database, "delete from entities where entity = %lld", entity + 1);
            REQUIRE(!*answer);
            ++seen;
        }
        ck_assert_msg(sqlite3_finalize(statement) == SQLITE_OK && seen == 10, "%s: %u rows, %s", statements[i], seen,
                      sqlite3_errmsg(database));
        sqlite3_close(database);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_loop_over_elements_ends_if_the_program_changes_the_structure)
{
    mica_entity last;
    mica_world *world = open_world_of_small_chunks(&heard);
    fill_people(world, &last);
    sqlite3 *database = mica_sql_open(world, NULL);
    ask(database,
        "insert into Person_scores_(entity, value) select entity, v from Person, (select 1 v union select 2)");
    for (uint32_t steps = 1; steps < 6; ++steps) {
        sqlite3_stmt *statement;
        /* The second reads a column without a step of the loop. */
        const char *text = steps % 2
                               ? "select value from Person_scores_"
                               : "select value, v.column1 from Person_scores_ cross join (values (1), (2), (3)) v";
        REQUIRE(sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK);
        for (uint32_t i = 0; i < steps; ++i)
            REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
        mica_destroy(world, last);
        mica_create(world, MICA_WITH(Number, {steps}));
        last = mica_sql_to_entity(mica_sql_from_entity(last) - 1);
        ck_assert_int_eq(sqlite3_step(statement), SQLITE_ABORT);
        ck_assert_ptr_nonnull(strstr(sqlite3_errmsg(database), "while Person_scores_ was being read"));
        sqlite3_finalize(statement);
    }
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

/* Empties all lists when it is called for the last element. */
static void clear_lists(sqlite3_context *context, int count, sqlite3_value **values)
{
    mica_world *world = sqlite3_user_data(context);
    (void)count;
    mica_entity entity = mica_sql_to_entity(sqlite3_value_int64(values[0]));
    if (sqlite3_value_int(values[1]) == 1)
        mica_list_clear(&mica_write(world, entity, Person)->scores, float);
    sqlite3_result_int(context, 1);
}

START_TEST(elements_that_no_longer_exist_are_passed_over)
{
    static const char *const statements[] = {"delete from Person_scores_ where clear_lists(entity, position)",
                                             "update Person_scores_ set value = 5 where clear_lists(entity, position)"};
    for (uint32_t i = 0; i < COUNT_OF(statements); ++i) {
        mica_world *world = make_world();
        sqlite3 *database = mica_sql_open(world, NULL);
        sqlite3_create_function(database, "clear_lists", 2, SQLITE_UTF8, world, clear_lists, NULL, NULL);
        ck_assert_str_eq(ask(database, statements[i]), "");
        ck_assert_str_eq(ask(database, "select scores from Person"), "[]\n[]\n");
        sqlite3_close(database);
        close_world(world, &heard);
    }
}
END_TEST

/* A table of the program replaces that of the component, whose lists stay. */
START_TEST(tables_of_lists_do_not_need_the_table_of_their_component)
{
    mica_world *world = make_world();
    sqlite3 *database = mica_sql_open(world, NULL);
    ck_assert_int_eq(sqlite3_create_module_v2(database, "Person", NULL, NULL, NULL), SQLITE_OK);
    static const exchange exchanges[] = {
        {"select count(*) from Person", "error: no such table"},
        {"update Person_scores_ set value = value * 2", ""},
        {"select value from Person_scores_", "2.0\n5.0\n"},
        {"select table_name from fields where component = 'Person'", ""},
    };
    expect_answers(database, exchanges, COUNT_OF(exchanges));
    ck_assert_int_eq(mica_sql_attach(database, world, NULL), MICA_OK);
    ck_assert_str_eq(ask(database, "select count(*) from Person join Person_scores_ using (entity)"), "2\n");
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

START_TEST(without_memory_for_elements_nothing_is_written)
{
    static const char *const statements[] = {
        "insert into Person_inventory(entity, name) values (4294967297, 'a name that does not lie in place')",
        "insert or replace into Person_inventory(entity, position) values (4294967297, 0)",
        "update Person_inventory set name = 'another name that does not lie in place'",
        "insert into Person_inventory(entity, name) values (4294967297, 'a name that does not lie in place')",
        "insert or replace into Person_inventory(entity, position) values (4294967297, 0)",
        "insert into Letters_numbers(entity, instance, value) values (4294967297, 1, 5)",
        "insert into Letters_numbers(entity, instance, value) values (4294967297, 1, 6)",
        "update Letters_numbers set value = 7",
        "delete from Letters_numbers where value = 7 and position = 0",
        "insert into Archive_things(name) values ('a name that does not lie in place')",
    };
    mica_world *world = make_world();
    mica_singleton_write(world, Archive);
    sqlite3 *database = mica_sql_open(world, NULL);
    for (uint32_t i = 0; i < COUNT_OF(statements); ++i) {
        uint64_t hash = mica_world_hash(world);
        micap_heap_limit(0);
        ck_assert_msg(strncmp(ask(database, statements[i]), "error: out of memory", 20) == 0, "%s: %s", statements[i],
                      answer);
        micap_heap_limit(INT64_MAX);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        ck_assert_str_eq(ask(database, statements[i]), "");
    }
    forget_reports(&heard);
    sqlite3_close(database);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(list, every_list_is_a_table, elements_are_changed_and_deleted_in_any_number,
           elements_that_do_not_fit_are_refused_and_change_nothing, look_ups_go_to_the_entity_and_the_element,
           tables_and_columns_agree_with_a_world_that_c_writes, transactions_with_elements_are_taken_back,
           an_element_that_is_written_sets_its_component, a_loop_over_elements_continues_while_others_write,
           a_loop_over_elements_ends_if_the_program_changes_the_structure,
           elements_that_no_longer_exist_are_passed_over, tables_of_lists_do_not_need_the_table_of_their_component,
           without_memory_for_elements_nothing_is_written)
