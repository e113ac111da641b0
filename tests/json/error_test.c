/* Every error of the compiler: where it is, what it says, and that none hides another. */
#include "../support/level.h"
#include "../support/people.h"
#include "../support/reports.h"
#include "../support/test.h"

#include "base/block_heap.h"
#include "mica/compile.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct complaints {
    uint32_t count;
    char list[16][700]; /* file:line:column: path: text */
} complaints;

static void note(const mica_compile_error *error, void *context)
{
    complaints *all = context;
    const char *file = strrchr(error->file, '/');
    if (all->count < 16)
        snprintf(all->list[all->count], sizeof all->list[0], "%s:%d:%d: %s: %s", file ? file + 1 : error->file,
                 error->line, error->column, error->path, error->text);
    ++all->count;
}

static mica_schema *schema;

static void make_schema(void)
{
    mica_world *world = open_world(&heard);
    level_define(world);
    mica_define(world, Person);
    schema = mica_schema_create();
    mica_schema_add_world(schema, world);
    close_world(world, &heard);
}

static void compile(const char *text, complaints *out)
{
    memset(out, 0, sizeof *out);
    mica_compile_def def = {.schema = schema, .error = note, .error_context = out, .entity_count_max = 5000};
    mica_compiled compiled;
    mica_result result = mica_compile_text(scratch("a.json"), text, strlen(text), &def, &compiled);
    ck_assert_int_eq(result != MICA_OK, out->count > 0);
    ck_assert_uint_eq(compiled.error_count, out->count);
    ck_assert_msg(!compiled.blob.bytes == (out->count > 0), "nothing half-written");
    ck_assert_uint_ge(compiled.dependency_count, 1);
    mica_compiled_free(&compiled);
}

static const struct error_case {
    const char *text;
    const char *expected;
} cases[] = {
    /* Syntax: line and column. */
    {"", "a.json:1:1: : '[' or '{' expected near end of file"},
    {"{\n  \"entities\": [,]\n}", "a.json:2:16: : unexpected token near ','"},
    {"{\"entities\": []} x", "a.json:1:18: : end of file expected near 'x'"},
    {"{\"a\": 1, \"a\": 2}", "a.json:1:12: : duplicate object key near '\"a\"'"},
    {"{\"entities\": [18446744073709551615]}",
     "a.json:1:34: : too big integer near '18446744073709551615'; write it as a string"},
    {"{\"entities\": [\"\xFF\"]}", "a.json:1:15: : unable to decode byte 0xff near '\"'"},
    /* The file. */
    {"[]", "a.json:1:1: : expected an object with \"entities\", found an array"},
    {"{\"entites\": []}", "a.json:1:13: entites: unknown key \"entites\" (did you mean \"entities\"?)"},
    {"{\"entities\": {}}", "a.json:1:14: entities: expected an array of entities, found an object"},
    {"{\"entities\": [\n 5]}", "a.json:2:2: entities[0]: expected an entity, which is an object, found an integer"},
    {"{\"singletons\": []}", "a.json:1:16: singletons: expected an object of singletons"},
    {"{\"singletons\": {\"Clok\": {}}}",
     "a.json:1:25: singletons.Clok: unknown singleton \"Clok\" (did you mean \"Clock\"?)"},
    {"{\"singletons\": {\"Position\": {}}}", "a.json:1:29: singletons.Position: this is no singleton: \"Position\""},
    /* Entities. */
    {"{\"entities\": [{\"nam\": \"x\"}]}",
     "a.json:1:23: entities[0].nam: unknown key \"nam\" (did you mean \"name\"?)"},
    {"{\"entities\": [{\"name\": 5}]}", "a.json:1:24: entities[0].name: expected a string, found an integer"},
    {"{\"entities\": [{\"name\": \"a/b\"}]}",
     "a.json:1:24: entities[0].name: a name must not contain '/': it separates the names of a path"},
    {"{\"entities\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}",
     "a.json:1:39: entities[1].name: the name \"a\" is there twice in one scope"},
    {"{\"entities\": [{\"components\": []}]}",
     "a.json:1:30: entities[0].components: expected an object of components, found an array"},
    {"{\"entities\": [{\"children\": {}}]}",
     "a.json:1:28: entities[0].children: expected an array of entities, found an object"},
    {"{\"entities\": [{\"children\": [null]}]}",
     "a.json:1:29: entities[0].children[0]: expected an entity, which is an object, found null"},
    {"{\"entities\": [{\"remove\": 1}]}",
     "a.json:1:26: entities[0].remove: expected an array of names of components, found an integer"},
    {"{\"entities\": [{\"remove\": [1]}]}",
     "a.json:1:27: entities[0].remove[0]: expected the name of a component, found an integer"},
    {"{\"entities\": [{\"components\": {\"Health\": {}}, \"disabled\": [\"Healt\"]}]}",
     "a.json:1:59: entities[0].disabled[0]: the entity has no component \"Healt\" (did you mean \"Health\"?)"},
    {"{\"entities\": [{\"components\": {\"Number\": {}}, \"disabled\": [\"Number\"]}]}",
     "a.json:1:59: entities[0].disabled[0]: Number can't be switched off: it is not described so"},
    {"{\"entities\": [{\"remove_children\": [\"x\"]}]}",
     "a.json:1:36: entities[0].remove_children[0]: the prefab has no child \"x\""},
    {"{\"entities\": [{\"remove_children\": [7]}]}",
     "a.json:1:36: entities[0].remove_children[0]: expected the name of a child, found an integer"},
    /* Components. */
    {"{\"entities\": [{\"components\": {\"Positon\": {}}}]}",
     "a.json:1:42: entities[0].components.Positon: unknown component \"Positon\" (did you mean \"Position\"?)"},
    {"{\"entities\": [{\"components\": {\"Zzzzzzzz\": {}}}]}",
     "a.json:1:43: entities[0].components.Zzzzzzzz: unknown component \"Zzzzzzzz\""},
    {"{\"entities\": [{\"components\": {\"Clock\": {}}}]}",
     "a.json:1:40: entities[0].components.Clock: Clock is a singleton: it belongs to \"singletons\", not to an entity"},
    {"{\"entities\": [{\"components\": {\"Frozen\": {\"x\": 1}}}]}",
     "a.json:1:41: entities[0].components.Frozen: a tag has no value: expected {} or true"},
    {"{\"entities\": [{\"components\": {\"Position\": 1}}]}",
     "a.json:1:43: entities[0].components.Position: expected an object of fields, found an integer"},
    {"{\"entities\": [{\"components\": {\"Position\": [1, 2]}}]}",
     "a.json:1:43: entities[0].components.Position: expected an object, or an array of the 3 fields of Position"},
    {"{\"entities\": [{\"components\": {\"Health\": {\"curent\": 1}}}]}",
     "a.json:1:52: entities[0].components.Health.curent: Health has no field \"curent\" (did you mean \"current\"?)"},
    /* Values. */
    {"{\"entities\": [{\"components\": {\"Position\": {\"x\": true}}}]}",
     "a.json:1:49: entities[0].components.Position.x: expected a number, \"nan\", \"inf\" or \"-inf\", found true"},
    {"{\"entities\": [{\"components\": {\"Position\": {\"x\": null}}}]}",
     "a.json:1:49: entities[0].components.Position.x: expected a number, \"nan\", \"inf\" or \"-inf\", found null"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"skills\": [\"SKILL_SWIM\", \"SKILL_SIN\"]}}}]}",
     "a.json:1:68: entities[0].components.Monster.skills[1]: Skills has no constant \"SKILL_SIN\" (did you mean "
     "\"SKILL_SING\"?)"},
    {"{\"entities\": [{\"components\": {\"Position\": {\"x\": 1e39}}}]}",
     "a.json:1:49: entities[0].components.Position.x: expected a number that fits a float, found 1e39"},
    {"{\"entities\": [{\"components\": {\"Padded\": {\"small\": 256}}}]}",
     "a.json:1:51: entities[0].components.Padded.small: expected an integer from 0 to 255, found 256"},
    {"{\"entities\": [{\"components\": {\"Padded\": {\"small\": -1}}}]}",
     "a.json:1:51: entities[0].components.Padded.small: expected an integer from 0 to 255, found -1"},
    {"{\"entities\": [{\"components\": {\"Padded\": {\"small\": 1.5}}}]}",
     "a.json:1:51: entities[0].components.Padded.small: expected an integer from 0 to 255, found 1.5"},
    {"{\"entities\": [{\"components\": {\"Padded\": {\"large\": \"12x\"}}}]}",
     "a.json:1:51: entities[0].components.Padded.large: expected an integer from 0 to 18446744073709551615, found "
     "\"12x\""},
    {"{\"entities\": [{\"components\": {\"Padded\": {\"large\": \"18446744073709551616\"}}}]}",
     "a.json:1:51: entities[0].components.Padded.large: expected an integer from 0 to 18446744073709551615, found "
     "\"18446744073709551616\""},
    {"{\"entities\": [{\"components\": {\"Health\": {\"current\": -2147483649}}}]}",
     "a.json:1:53: entities[0].components.Health.current: expected an integer from -2147483648 to 2147483647, found "
     "-2147483649"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"mood\": \"MOOD_ANGY\"}}}]}",
     "a.json:1:51: entities[0].components.Monster.mood: Mood has no constant \"MOOD_ANGY\" (did you mean "
     "\"MOOD_ANGRY\"?)"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"mood\": []}}}]}",
     "a.json:1:51: entities[0].components.Monster.mood: expected the name of a constant, or an integer, found an "
     "array"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"mood\": 99999999999}}}]}",
     "a.json:1:51: entities[0].components.Monster.mood: expected an integer from -2147483648 to 4294967295, found "
     "99999999999"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"skills\": [\"SKILL_SWIM\", 5]}}}]}",
     "a.json:1:68: entities[0].components.Monster.skills[1]: expected the name of a constant, found an integer"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"skills\": {}}}}]}",
     "a.json:1:53: entities[0].components.Monster.skills: expected an array of names of constants, or an integer, "
     "found an "
     "object"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"title\": \"sixteen letters!\"}}}]}",
     "a.json:1:52: entities[0].components.Monster.title: expected a text of at most 15 bytes, found 16"},
    {"{\"entities\": [{\"components\": {\"Person\": {\"name\": 5}}}]}",
     "a.json:1:50: entities[0].components.Person.name: expected a string, or an array of characters, found 5"},
    {"{\"entities\": [{\"components\": {\"Person\": {\"name\": [\"a\", 300]}}}]}",
     "a.json:1:56: entities[0].components.Person.name[1]: expected an integer from 0 to 255, found 300"},
    {"{\"entities\": [{\"components\": {\"Person\": {\"scores\": 5}}}]}",
     "a.json:1:52: entities[0].components.Person.scores: expected an array, found 5"},
    {"{\"entities\": [{\"components\": {\"Person\": {\"scores\": [1, true]}}}]}",
     "a.json:1:56: entities[0].components.Person.scores[1]: expected a number, \"nan\", \"inf\" or \"-inf\", found "
     "true"},
    {"{\"entities\": [{\"components\": {\"Person\": {\"inventory\": [{}, {\"nam\": 1}]}}}]}",
     "a.json:1:68: entities[0].components.Person.inventory[1].nam: Thing has no field \"nam\" (did you mean "
     "\"name\"?)"},
    {"{\"entities\": [{\"components\": {\"Person\": {\"inventory\": [{\"tags\": [\"a\", 7]}]}}}]}",
     "a.json:1:71: entities[0].components.Person.inventory[0].tags[1]: expected a string, or an array of characters, "
     "found 7"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"title\": 5}}}]}",
     "a.json:1:52: entities[0].components.Monster.title: expected a string, or an array of at most 16 elements, found "
     "5"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"friends\": [null, null, null]}}}]}",
     "a.json:1:54: entities[0].components.Monster.friends: expected an array of at most 2 elements, found 3"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"path\": [[1,2,3], {\"x\": \"a\"}]}}}]}",
     "a.json:1:67: entities[0].components.Monster.path[1].x: expected a number, \"nan\", \"inf\" or \"-inf\", found "
     "\"a\""},
    /* References. */
    {"{\"entities\": [{\"components\": {\"Monster\": {\"target\": 5}}}]}",
     "a.json:1:53: entities[0].components.Monster.target: expected the path of an entity, or null, found an integer"},
    {"{\"entities\": [{\"name\": \"door\"}, {\"components\": {\"Monster\": {\"target\": \"../dor\"}}}]}",
     "a.json:1:71: entities[1].components.Monster.target: the path \"../dor\" leads nowhere: there is no \"dor\" in "
     "the top "
     "(did you mean \"door\"?)"},
    {"{\"entities\": [{\"name\": \"a\", \"components\": {\"Monster\": {\"target\": \"x/y\"}}}]}",
     "a.json:1:66: entities[0].components.Monster.target: the path \"x/y\" leads nowhere: there is no \"x\" in \"a\""},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"target\": \"../../..\"}}}]}",
     "a.json:1:53: entities[0].components.Monster.target: the path \"../../..\" leads above the top of the file"},
    {"{\"entities\": [{\"components\": {\"Shape\": {\"outline\": 5}}}]}",
     "a.json:1:52: entities[0].components.Shape.outline: expected the path of a resource, or null, found an integer"},
    {"{\"entities\": [{\"components\": {\"Shape\": {\"outline\": \"../rock.mica\"}}}]}",
     "a.json:1:52: entities[0].components.Shape.outline: \"../rock.mica\" is not below the root that resources are "
     "loaded "
     "from"},
    {"{\"entities\": [{\"components\": {\"Shape\": {\"outline\": \"a\\\\b\"}}}]}",
     "a.json:1:52: entities[0].components.Shape.outline: the path \"a\\b\" is not UTF-8, or has a backslash or a "
     "colon"},
    {"{\"entities\": [{\"components\": {\"Shape\": {\"extra\": [null, \"\"]}}}]}",
     "a.json:1:57: entities[0].components.Shape.extra[1]: \"\" is not below the root that resources are loaded from"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"target\": \"/\"}}}]}",
     "a.json:1:53: entities[0].components.Monster.target: the path \"/\" leads to the top of the file, which is no "
     "entity"},
    {"{\"entities\": [{\"components\": {\"Monster\": {\"target\": \"/#1\"}}}]}",
     "a.json:1:53: entities[0].components.Monster.target: the path \"/#1\" leads nowhere: there is no \"#1\" in the "
     "top"},
    /* Prefabs. */
    {"{\"entities\": [{\"prefab\": 1}]}",
     "a.json:1:26: entities[0].prefab: expected the path of a file, found an integer"},
    {"{\"entities\": [{\"prefab\": \"two.json\"}]}",
     "a.json:1:26: entities[0].prefab: a prefab has one entity at its top"},
    {"{\"entities\": [{\"prefab\": \"missing.json\"}]}", "missing.json can't be read: No such file or directory"},
    {"{\"entities\": [{\"prefab\": \"self.json\"}]}", "self.json:1:26: entities[0].prefab: the prefab contains itself"},
    {"{\"entities\": [{\"prefab\": \"broken.json\"}]}", "broken.json:1:1: : string or '}' expected near end of file"},
    {"{\"entities\": [{\"prefab\": \"wrong.json\"}]}",
     "wrong.json:1:52: entities[0].components.Number.value: expected an integer from 0 to 4294967295, found -5"},
    {"{\"entities\": [{\"prefab\": \"wrong.json\", \"remove\": [\"Position\"]}]}",
     "a.json:1:51: entities[0].remove[0]: the entity has no component \"Position\""},
};

static void write_prefab(const char *name, const char *text)
{
    ck_assert_int_eq(mica_write_file(scratch(name), text, strlen(text), NULL), MICA_OK);
}

START_TEST(every_error_says_where_what_and_what_may_be_meant)
{
    static complaints found;
    make_schema();
    write_prefab("two.json", "{\"entities\": [{}, {}]}");
    write_prefab("self.json", "{\"entities\": [{\"prefab\": \"self.json\"}]}");
    write_prefab("broken.json", "{");
    write_prefab("wrong.json", "{\"entities\": [{\"components\": {\"Number\": {\"value\":  -5}}}]}");
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        compile(cases[i].text, &found);
        ck_assert_msg(found.count > 0, "case %u: no error for %s", i, cases[i].text);
        bool said = false;
        for (uint32_t j = 0; j < found.count; ++j)
            said = said || strstr(found.list[j], cases[i].expected);
        ck_assert_msg(said, "case %u\n  expected %s\n  found    %s", i, cases[i].expected, found.list[0]);
    }
    mica_schema_destroy(schema);
}
END_TEST

START_TEST(all_errors_of_a_file_are_reported)
{
    static complaints found;
    make_schema();
    compile("{\"entities\": [\n"
            "{\"nmae\": 1, \"components\": {\"Positon\": {}, \"Health\": {\"curent\": 1, \"maximum\": \"x\"}}},\n"
            "{\"components\": {\"Monster\": {\"target\": \"unknown\", \"mood\": \"GLAD\"}}, \"children\": [7]},\n"
            "{\"name\": \"a\"}, {\"name\": \"a\"}],\n"
            "\"singletons\": {\"Clok\": {}}}",
            &found);
    ck_assert_uint_eq(found.count, 9);
    mica_schema_destroy(schema);
}
END_TEST

START_TEST(an_invalid_name_is_reported_once_and_hides_no_other_error)
{
    static complaints found;
    make_schema();
    compile("{\"entities\": [\n"
            "{\"name\": \"a/b\", \"components\": {\"Number\": {\"value\": \"x\"}}},\n"
            "{\"components\": {\"Number\": {\"valu\": 1}}}],\n"
            "\"singletons\": {\"Clok\": {}}}",
            &found);
    ck_assert_uint_eq(found.count, 4);
    ck_assert(strstr(found.list[0], "a name must not contain '/'"));
    ck_assert(strstr(found.list[1], "a.json:2:"));
    ck_assert(strstr(found.list[2], "a.json:3:"));
    ck_assert(strstr(found.list[3], "unknown singleton"));
    mica_schema_destroy(schema);
}
END_TEST

START_TEST(a_missing_file_is_an_error_of_its_own)
{
    static complaints found;
    memset(&found, 0, sizeof found);
    make_schema();
    mica_compile_def def = {.schema = schema, .error = note, .error_context = &found};
    mica_compiled compiled;
    ck_assert_int_eq(mica_compile_file("/nowhere/level.json", &def, &compiled), MICA_ERROR_FILE);
    ck_assert_msg(strstr(found.list[0], "can't be read: No such file"), "%s", found.list[0]);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
}
END_TEST

START_TEST(prefabs_that_multiply_or_nest_without_end_are_refused)
{
    static complaints found;
    make_schema();
    write_prefab("p0.json", "{\"entities\": [{}]}");
    for (int i = 1; i < 40; ++i) {
        char name[32], text[256];
        snprintf(name, sizeof name, "p%d.json", i);
        snprintf(text, sizeof text,
                 "{\"entities\": [{\"children\": [{\"prefab\": \"p%d.json\"}, {\"prefab\": \"p%d.json\"}]}]}", i - 1,
                 i - 1);
        write_prefab(name, text);
    }
    compile("{\"entities\": [{\"prefab\": \"p39.json\"}]}", &found);
    ck_assert_msg(strstr(found.list[0], "there are more than 5000 entities"), "%s", found.list[0]);
    char deep[20000] = "{\"entities\": [";
    for (int i = 0; i < 900; ++i)
        strcat(deep, "{\"children\":[");
    for (int i = 0; i < 900; ++i)
        strcat(deep, "]}");
    strcat(deep, "]}");
    compile(deep, &found);
    ck_assert_uint_eq(found.count, 0);
    write_prefab("deep.json", deep); /* and the same once more below it */
    char *innermost = strstr(deep, "[]");
    char deeper[sizeof deep + 64];
    snprintf(deeper, sizeof deeper, "%.*s[{\"prefab\": \"deep.json\"}%s", (int)(innermost - deep), deep, innermost + 1);
    compile(deeper, &found);
    ck_assert_msg(strstr(found.list[0], "children are nested deeper than 1000"), "%s", found.list[0]);
    mica_schema_destroy(schema);
}
END_TEST

static const struct schema_case {
    const char *text;
    const char *expected;
} schema_cases[] = {
    {"{}", "s.json:1:1: : a schema is an object with an array of \"types\""},
    {"{\"types\": [{}]}", "s.json:1:12: types[0]: a type has a \"name\""},
    {"{\"types\": [{\"name\": \"A\", \"fields\": [{}]}]}", "types[0].fields[0]: a field has a \"name\""},
    {"{\"types\": [{\"name\": \"A\", \"fields\": [{\"name\": \"x\"}]}]}",
     "types[0].fields[0]: a field has a \"kind\" (such as \"f32\") or the name of a \"type\""},
    {"{\"types\": [{\"name\": \"A\", \"fields\": [{\"name\": \"x\", \"kind\": \"f23\"}]}]}",
     "types[0].fields[0]: unknown kind \"f23\" (did you mean \"f32\"?)"},
    {"{\"types\": [{\"name\": \"Vec\", \"fields\": []}, {\"name\": \"A\", \"fields\": [{\"name\": \"x\", \"type\": "
     "\"Vek\"}]}]}",
     "types[1].fields[0]: unknown type \"Vek\" (did you mean \"Vec\"?)"},
    {"{\"types\": [{\"name\": \"A\", \"bytes\": -1}]}", "types[0].bytes: expected a whole number"},
    {"{\"types\": [{\"name\": \"A\", \"alignment\": 3}]}", "types[0]: an alignment is a power of two"},
    {"{\"types\": [{\"name\": \"A\", \"component\": \"tag\", \"fields\": [{\"name\": \"x\", \"kind\": \"f32\"}]}]}",
     "types[0]: a tag has no data"},
    {"{\"types\": [{\"name\": \"A\", \"component\": \"data\", \"spawn_order\": 3000000000}]}",
     "types[0]: \"spawn_order\" has 32 bits"},
    {"{\"types\": [{\"name\": \"A\", \"component\": \"thing\"}]}",
     "types[0]: \"component\" is \"data\", \"tag\" or \"singleton\""},
    {"{\"types\": [{\"name\": \"A\", \"kind\": \"enum\", \"constants\": {\"X\": \"1\"}}]}",
     "types[0].constants.X: expected the integer that the constant stands for"},
    {"{\"types\": [{\"name\": \"A\", \"kind\": \"enum\", \"bytes\": 3}]}",
     "types[0]: an enum or flags type has 1, 2, 4 or 8"},
    {"{\"types\": [{\"name\": \"A\", \"component\": \"data\"}, {\"name\": \"A\", \"component\": \"tag\"}]}",
     "types[1]: another component has this name"},
};

START_TEST(errors_of_a_schema_say_where_and_what)
{
    for (uint32_t i = 0; i < COUNT_OF(schema_cases); ++i) {
        static complaints found;
        memset(&found, 0, sizeof found);
        write_prefab("s.json", schema_cases[i].text);
        mica_schema *broken = mica_schema_create();
        ck_assert_int_eq(mica_schema_add_file(broken, scratch("s.json"), note, &found), MICA_ERROR_DATA);
        ck_assert_msg(strstr(found.list[0], schema_cases[i].expected), "case %u\n  expected %s\n  found    %s", i,
                      schema_cases[i].expected, found.list[0]);
        mica_schema_destroy(broken);
    }
}
END_TEST

typedef struct Huge { char bytes[1 << 20]; } Huge;
MICA_STRUCT(Huge, bytes)
typedef struct Hoard { mica_list huge; mica_text text; } Hoard;
MICA_COMPONENT(Hoard, (huge, Huge), text)

START_TEST(a_list_that_is_too_long_is_an_error)
{
    char text[1200] = "{\"entities\": [{\"components\": {\"Hoard\": {\"huge\": [{}";
    for (uint32_t i = 0; i < 256; ++i)
        strcat(text, ",{}");
    strcat(text, "]}}}]}");
    schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Hoard, 0), MICA_OK);
    complaints found;
    compile(text, &found);
    ck_assert_ptr_nonnull(strstr(found.list[0], "Hoard.huge: it is longer than text or a list can be"));

    static const char before[] = "{\"entities\": [{\"components\": {\"Hoard\": {\"text\": \"";
    size_t length = (size_t)MICA_TEXT_BYTES_MAX + 1, head = sizeof before - 1;
    char *long_one = malloc(head + length + 8);
    memcpy(long_one, before, head);
    memset(long_one + head, 'x', length);
    memcpy(long_one + head + length, "\"}}}]}", 7);
    compile(long_one, &found);
    ck_assert_ptr_nonnull(strstr(found.list[0], "Hoard.text: it is longer than text or a list can be"));
    free(long_one);
    mica_schema_destroy(schema);
}
END_TEST

/* Blocks for text and lists that run out: an error where it happened. */
START_TEST(text_and_lists_without_memory_are_an_error)
{
    make_schema();
    const char *text = "{\"entities\": [{\"components\": {\"Person\": {\"name\": \"a name that is longer than that\", "
                       "\"scores\": [1], \"titles\": [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]}}}]}";
    complaints found = {0};
    mica_compile_def def = {.schema = schema, .error = note, .error_context = &found};
    int64_t limit = 0;
    for (bool fine = false; !fine; ++limit) {
        mica_compiled compiled;
        memset(&found, 0, sizeof found);
        micap_heap_limit(limit);
        mica_result result = mica_compile_text(scratch("a.json"), text, strlen(text), &def, &compiled);
        micap_heap_limit(INT64_MAX);
        fine = result == MICA_OK;
        ck_assert(fine || strstr(found.list[0], "out of memory"));
        mica_compiled_free(&compiled);
    }
    ck_assert_int_gt(limit, 3);
    mica_schema_destroy(schema);
}
END_TEST

TEST_SUITE(error, a_list_that_is_too_long_is_an_error, text_and_lists_without_memory_are_an_error,
           every_error_says_where_what_and_what_may_be_meant, all_errors_of_a_file_are_reported,
           an_invalid_name_is_reported_once_and_hides_no_other_error, a_missing_file_is_an_error_of_its_own,
           prefabs_that_multiply_or_nest_without_end_are_refused, errors_of_a_schema_say_where_and_what)
