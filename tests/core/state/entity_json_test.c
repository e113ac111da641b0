/* Entities as text and from text: every storage, references, names, and texts that are wrong. */
#include "../../support/faulty_allocator.h"
#include "../../support/people.h"
#include "../../support/reports.h"
#include "../../support/test.h"
#include "../../support/tuned.h"

#include "base/block_heap.h"
#include "mica/value.h"

#include <string.h>

typedef struct Marks { uint32_t page; float height; } Marks;
MICA_POOL_WITH(Marks, (.many = true, .split = true), page, height)

static reports heard;
static mica_world *world;

static void setup(void)
{
    world = open_world(&heard);
    mica_type *const types[] = {
        &mica_type_of_Person,     &mica_type_of_Diary,     &mica_type_of_Letters,       &mica_type_of_Tuned,
        &mica_type_of_TunedSplit, &mica_type_of_TunedPool, &mica_type_of_TunedHash,     &mica_type_of_TunedSplitPool,
        &mica_type_of_TunedMany,  &mica_type_of_Health,    &mica_type_of_Visible,       &mica_type_of_Frozen,
        &mica_type_of_Archive,    &mica_type_of_Monster,   &mica_type_of_mica_disabled, &mica_type_of_Marks};
    for (uint32_t i = 0; i < COUNT_OF(types); ++i)
        ck_assert(mica_component_define(world, types[i]));
}

static void teardown(void)
{
    close_world(world, &heard);
}

static const char *text_of(mica_entity entity)
{
    static char text[8000];
    size_t bytes = mica_entity_write_json(world, entity, text, sizeof text);
    ck_assert_uint_eq(bytes, strlen(text));
    return text;
}

static void parse(mica_entity entity, const char *text)
{
    mica_value_error error = {0};
    mica_result result = mica_entity_parse_json(world, entity, text, &error);
    ck_assert_msg(result == MICA_OK, "%u: %s", error.position, error.text);
}

/* An entity with a component of each storage. */
static mica_entity make_rich(void)
{
    mica_entity entity = mica_create(world, MICA_WITH(Health, {3, 4}), MICA_WITH(Visible), MICA_WITH(Frozen),
                                     MICA_WITH(TunedSplit), MICA_WITH(TunedPool), MICA_WITH(TunedHash));
    mica_add(world, entity, TunedSplitPool);
    Person *person = mica_add(world, entity, Person);
    ck_assert_int_eq(mica_text_set(&person->name, "a name \"with\" quotes, longer than fits"), MICA_OK);
    mica_text_set(&mica_list_append(&person->inventory, Thing)->name, "sword");
    *mica_list_append(&person->friends, mica_entity) = entity;
    Diary *diary = mica_add(world, entity, Diary);
    mica_text_set(mica_list_append(&diary->pages, mica_text), "page");
    mica_pool *letters = mica_pool_of(world, Letters), *many = mica_pool_of(world, TunedMany);
    for (uint32_t i = 0; i < 3; ++i) {
        mica_instance instance = mica_pool_add(letters, entity);
        *mica_list_append(&mica_instance_write(letters, instance, Letters)->numbers, uint16_t) = (uint16_t)i;
        mica_instance_write(many, mica_pool_add(many, entity), TunedMany)->level = (int32_t)i;
    }
    mica_disable(world, entity, Health);
    mica_disable(world, entity, TunedHash);
    mica_entity_disable(world, entity);
    return entity;
}

START_TEST(an_entity_is_written_as_levels_are)
{
    mica_entity leader = mica_create(world), entity = mica_create(world, MICA_WITH(Health, {1, 2}), MICA_WITH(Frozen));
    ck_assert_str_eq(text_of(leader), "{\"components\": {}}");
    ck_assert_int_eq(mica_name_set(world, leader, mica_nil(), "base"), MICA_OK);
    ck_assert_int_eq(mica_name_set(world, entity, leader, "door"), MICA_OK);
    mica_disable(world, entity, Health);
    ck_assert_str_eq(text_of(entity),
                     "{\"name\": \"door\", \"components\": {\"Frozen\": {}, \"Health\": {\"current\": 1, "
                     "\"maximum\": 2}}, \"disabled\": [\"Health\"]}");
    mica_add(world, leader, Monster)->target = entity;
    ck_assert_ptr_nonnull(strstr(text_of(leader), "\"target\": \"base/door\""));
    mica_write(world, leader, Monster)->target = (mica_entity){99, 3};
    ck_assert_ptr_nonnull(strstr(text_of(leader), "\"target\": \"#99:3\""));
    ck_assert_uint_eq(mica_entity_write_json(world, (mica_entity){99, 3}, NULL, 0), 0);
    char few[8];
    ck_assert_uint_eq(mica_entity_write_json(world, entity, few, sizeof few), strlen(text_of(entity)));
    ck_assert_str_eq(few, "{\"name\"");
}
END_TEST

START_TEST(instances_in_columns_are_written_and_replaced)
{
    mica_entity entity = mica_create(world);
    parse(entity, "{\"components\": {\"Marks\": [{\"page\": 1, \"height\": 0.5}, {\"page\": 2}]}}");
    ck_assert_str_eq(text_of(entity), "{\"components\": {\"Marks\": [{\"page\": 1, \"height\": 0.5}, "
                                      "{\"page\": 2, \"height\": 0}]}}");
    parse(entity, "{\"components\": {\"Marks\": [{\"height\": 3}]}}");
    ck_assert_str_eq(text_of(entity), "{\"components\": {\"Marks\": [{\"page\": 0, \"height\": 3}]}}");
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
}
END_TEST

START_TEST(what_was_written_makes_the_same_entity)
{
    char first[8000];
    mica_entity entity = make_rich(), twin = mica_create(world), third = mica_create(world, MICA_WITH(Health, {9, 9}));
    strcpy(first, text_of(entity));
    parse(twin, first);
    ck_assert_str_eq(text_of(twin), first);
    ck_assert(mica_entity_is_disabled(world, twin) && !mica_is_enabled(world, twin, Health));
    parse(third, first);
    ck_assert_str_eq(text_of(third), first);
    parse(entity, first);
    ck_assert_str_eq(text_of(entity), first);
}
END_TEST

START_TEST(what_a_text_does_not_name_stays)
{
    mica_entity entity = mica_create(world, MICA_WITH(Health, {3, 4}), MICA_WITH(Frozen), MICA_WITH(Visible));
    mica_disable(world, entity, Health);
    parse(entity, " {\"components\": {\"Health\": {\"current\": 7}, \"Frozen\": null, \"Tuned\": {\"level\": 8}, "
                  "\"TunedPool\": null}, \"name\": \"one\"} ");
    ck_assert(mica_get(world, entity, Health)->current == 7 && mica_get(world, entity, Health)->maximum == 4);
    ck_assert(!mica_is_enabled(world, entity, Health) && !mica_has(world, entity, Frozen));
    ck_assert(mica_get(world, entity, Tuned)->level == 8 && mica_get(world, entity, Tuned)->weights[0] == 3);
    ck_assert_str_eq(mica_name_get(world, entity), "one");
    parse(entity, "{\"disabled\": [\"Visible\"], \"components\": {\"Frozen\": true}}");
    ck_assert(mica_is_enabled(world, entity, Health) && !mica_is_enabled(world, entity, Visible));
    ck_assert(mica_has(world, entity, Frozen));
    parse(entity, "{\"disabled\": [], \"components\": {\"Visible\": null}, \"name\": \"\"}");
    ck_assert(!mica_has(world, entity, Visible) && !mica_name_get(world, entity));
    parse(entity, "{}");
    mica_entity other = mica_create(world);
    mica_name_set(world, other, mica_nil(), "other");
    parse(entity, "{\"components\": {\"Monster\": {\"target\": \"other\", \"friends\": [null, \"#5:6\"]}}}");
    ck_assert(mica_same(mica_get(world, entity, Monster)->target, other));
    ck_assert_uint_eq(mica_get(world, entity, Monster)->friends[1].index, 5);
}
END_TEST

static const struct wrong {
    const char *text;
    uint32_t position;
    const char *error;
} wrong[] = {
    {"", 0, "expected an object, found the end"},
    {"[]", 0, "expected an object, found ["},
    {"{} x", 3, "expected the end"},
    {"{\"components\": {}", 17, "expected , or }"},
    {"{5}", 1, "expected a name"},
    {"{\"name\" 5}", 8, "expected :"},
    {"{\"name\": 5}", 9, "expected a string"},
    {"{\"name\": \"a/b\"}", 9, "a name has no /"},
    {"{\"name\": \"taken\"}", 9, "another entity has the name \"taken\""},
    {"{\"name\": \"\\q\"}", 10, "not a character"},
    {"{\"parent\": 5}", 1, "expected \"name\", \"components\" or \"disabled\", found \"parent\""},
    {"{\"components\": []}", 15, "expected an object of components"},
    {"{\"components\": {\"Nothing\": {}}}", 16, "there is no component \"Nothing\""},
    {"{\"components\": {\"Archive\": {}}}", 16, "Archive is a singleton"},
    {"{\"components\": {\"Frozen\": {}, \"Frozen\": {}}}", 30, "Frozen is there twice"},
    {"{\"components\": {\"Frozen\": 5}}", 26, "a tag has no value"},
    {"{\"components\": {\"Health\": {\"current\": 5}, \"Tuned\": {\"level\": -9}}}", 61,
     "expected level from -5 to 9000 m"},
    {"{\"components\": {\"Letters\": {}}}", 27, "expected an array of instances"},
    {"{\"components\": {\"Letters\": [{} {}]}}", 31, "expected , or ]"},
    {"{\"components\": {\"Letters\": [{\"x\": 1}]}}", 29, "Letters has no field \"x\""},
    {"{\"components\": {\"Monster\": {\"target\": \"nowhere\"}}}", 38, "there is no entity \"nowhere\""},
    {"{\"disabled\": 5}", 13, "expected an array of names"},
    {"{\"disabled\": [5]}", 14, "expected the name of a component"},
    {"{\"disabled\": [\"Health\" 5]}", 23, "expected , or ]"},
    {"{\"disabled\": [\"Tuned\"]}", 14, "the entity has no component \"Tuned\""},
    {"{\"disabled\": [\"Nothing\"]}", 14, "the entity has no component \"Nothing\""},
    {"{\"disabled\": [\"Health\"], \"components\": {\"Health\": null}}", 14, "the entity has no component \"Health\""},
    {"{\"disabled\": [\"Frozen\"], \"components\": {\"Frozen\": {}}}", 14,
     "Frozen can't be disabled: it has no .toggle"},
};

START_TEST(a_wrong_text_changes_nothing_and_is_pointed_at)
{
    const struct wrong *at = &wrong[_i];
    char before[8000];
    mica_value_error error = {0};
    mica_entity entity = mica_create(world, MICA_WITH(Health, {3, 4})), taken = mica_create(world);
    ck_assert_int_eq(mica_name_set(world, taken, mica_nil(), "taken"), MICA_OK);
    ck_assert_int_eq(mica_name_set(world, entity, mica_nil(), "mine"), MICA_OK);
    uint64_t hash = mica_world_hash(world);
    strcpy(before, text_of(entity));
    ck_assert_int_eq(mica_entity_parse_json(world, entity, at->text, &error), MICA_ERROR_INVALID);
    ck_assert_int_eq(error.result, MICA_ERROR_INVALID);
    ck_assert_msg(strstr(error.text, at->error) && error.position == at->position, "%u: %s", error.position,
                  error.text);
    ck_assert_int_eq(mica_entity_parse_json(world, entity, at->text, NULL), MICA_ERROR_INVALID);
    ck_assert_str_eq(text_of(entity), before);
    ck_assert_uint_eq(mica_world_hash(world), hash);
}
END_TEST

START_TEST(dead_entities_and_recording_worlds_are_refused)
{
    mica_value_error error;
    mica_entity entity = mica_create(world);
    ck_assert_int_eq(mica_entity_parse_json(world, (mica_entity){77, 1}, "{}", &error), MICA_ERROR_DEAD);
    ck_assert_str_eq(error.text, "the entity is not alive");
    mica_defer(world);
    ck_assert_int_ne(mica_entity_parse_json(world, entity, "{}", &error), MICA_OK);
    ck_assert_str_eq(error.text, "the world records changes");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    forget_reports(&heard);
}
END_TEST

START_TEST(without_memory_for_text_nothing_changes)
{
    mica_entity entity = mica_create(world, MICA_WITH(Health, {3, 4}));
    uint64_t hash = mica_world_hash(world);
    mica_value_error error;
    micap_heap_limit(0);
    mica_result result = mica_entity_parse_json(
        world, entity,
        "{\"components\": {\"Health\": {\"current\": 5}, \"Person\": {\"name\": \"longer than fits in place\"}}}",
        &error);
    micap_heap_limit(INT64_MAX);
    ck_assert_int_eq(result, MICA_ERROR_MEMORY);
    ck_assert_int_eq(error.result, MICA_ERROR_MEMORY);
    ck_assert_int_eq(mica_get(world, entity, Health)->current, 3);
    ck_assert_uint_eq(mica_world_hash(world), hash);
}
END_TEST

/* Each begins with another change. */
static const char *const changes[] = {
    ("{\"name\": \"new\", \"components\": {\"Health\": {\"current\": 5}, \"Letters\": [{}, {}], "
     "\"Tuned\": {}, \"Frozen\": {}, \"TunedSplitPool\": {}}, \"disabled\": [\"Health\"]}"),
    "{\"name\": \"new\", \"components\": {\"Letters\": [{}, {}]}}",
    "{\"name\": \"new\", \"disabled\": []}",
};

/* Fails each allocation of the world in turn. */
START_TEST(without_memory_of_the_world_nothing_changes)
{
    const char *text = changes[_i];
    static reports others;
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    bool is_done = false;
    for (uint32_t k = 1; !is_done; ++k) {
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        mica_world *poor = open_world_with(&others, def);
        mica_define(poor, Letters);
        mica_define(poor, Tuned);
        mica_define(poor, Frozen);
        mica_define(poor, TunedSplitPool);
        mica_entity entity = mica_create(poor, MICA_WITH(Health, {3, 4}));
        mica_pool_add(mica_pool_of(poor, Letters), entity);
        mica_disable(poor, entity, Health);
        char before[300], after[1500];
        mica_entity_write_json(poor, entity, before, sizeof before);
        mica_value_error error = {0};
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_entity_parse_json(poor, entity, text, &error);
        size_t bytes = mica_entity_write_json(poor, entity, after, sizeof after);
        bool has_failed = faulty.countdown == 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        is_done = !has_failed;
        ck_assert_msg(result == MICA_OK || (has_failed && result == MICA_ERROR_MEMORY), "allocation %u: %d %s", k,
                      result, error.text);
        ck_assert_msg(!bytes || result == MICA_OK || strcmp(before, after) == 0, "allocation %u: %s", k, after);
        ck_assert_msg(result != MICA_OK || !bytes || strstr(after, "\"name\": \"new\""), "allocation %u: %s", k, after);
        forget_reports(&others);
        ck_assert_int_eq(mica_world_validate(poor), MICA_OK);
        close_world(poor, &others);
    }
    faulty_allocator_free(&faulty);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("entity_json");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, an_entity_is_written_as_levels_are);
    tcase_add_test(cases, instances_in_columns_are_written_and_replaced);
    tcase_add_test(cases, what_was_written_makes_the_same_entity);
    tcase_add_test(cases, what_a_text_does_not_name_stays);
    tcase_add_loop_test(cases, a_wrong_text_changes_nothing_and_is_pointed_at, 0, (int)COUNT_OF(wrong));
    tcase_add_test(cases, dead_entities_and_recording_worlds_are_refused);
    tcase_add_test(cases, without_memory_for_text_nothing_changes);
    tcase_add_loop_test(cases, without_memory_of_the_world_nothing_changes, 0, (int)COUNT_OF(changes));
    return test_run("entity_json", cases);
}
