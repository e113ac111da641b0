/* JSON to resource: what is written is what is spawned. */
#include "../support/level.h"
#include "../support/people.h"
#include "../support/reports.h"
#include "../support/test.h"

#include "mica/compile.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static reports heard;

static mica_schema *level_schema(void)
{
    mica_world *world = open_world(&heard);
    level_define(world);
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add_world(schema, world), MICA_OK);
    close_world(world, &heard);
    return schema;
}

static void write_file(const char *path, const char *text)
{
    mica_resource_error error;
    ck_assert_msg(mica_write_file(path, text, strlen(text), &error) == MICA_OK, "%s", error.text);
}

static mica_compiled compile_with(mica_compile_def def, const char *text)
{
    mica_compiled compiled;
    mica_schema *schema = level_schema();
    def.schema = schema;
    ck_assert_int_eq(mica_compile_text(scratch("level.json"), text, strlen(text), &def, &compiled), MICA_OK);
    mica_schema_destroy(schema);
    return compiled;
}

/* A world with what the text describes. */
static mica_world *world_of_with(mica_compile_def def, const char *text)
{
    mica_compiled compiled = compile_with(def, text);
    mica_resource *resource = level_open(&compiled.blob);
    mica_world *world = open_world(&heard);
    level_define(world);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
    return world;
}

static mica_world *world_of(const char *text)
{
    return world_of_with((mica_compile_def){0}, text);
}

START_TEST(a_level_is_compiled_and_spawned)
{
    mica_world *world = world_of(
        "{\"comment\": \"as tests/resource/level.c\", \"entities\": ["
        " {\"name\": \"station\", \"components\": {\"Position\": {\"x\": 1, \"y\": 2, \"z\": 3}}, \"children\": ["
        "  {\"name\": \"door\", \"components\": {\"Position\": [4, 5, 6], \"Frozen\": {}, \"Visible\": true},"
        "   \"disabled\": [\"Visible\"],"
        "   \"children\": [{\"name\": \"handle\", \"components\": {\"Number\": {\"value\": 7},"
        "                  \"Padded\": {\"small\": 1, \"large\": \"0x2\", \"tail\": 3}}}]}]},"
        " {\"name\": \"orc\", \"components\": {\"Health\": {\"current\": 5, \"maximum\": 10}, \"Monster\": {"
        "   \"home\": {\"x\": 1, \"y\": 2, \"z\": 3}, \"path\": [[4, 5, 6], [7, 8, 9], {\"x\": 10}, [-1, -2, -3]],"
        "   \"mood\": \"MOOD_ANGRY\", \"skills\": [\"SKILL_SWIM\", \"SKILL_SING\"], \"target\": \"../station/door\","
        "   \"friends\": [null, \"/station\"], \"title\": \"gr\\u00fc\\u00df\", \"wealth\": 1e300}},"
        "  \"disabled\": [\"Health\"]}],"
        " \"singletons\": {\"Clock\": {\"seconds\": 12.5, \"ticks\": 99}}}");
    level_expect(world, mica_nil());
    ck_assert(mica_singleton_get(world, Clock)->seconds == 12.5 && mica_singleton_get(world, Clock)->ticks == 99);
    close_world(world, &heard);
}
END_TEST

static const struct reference_case {
    const char *path;
    const char *target; /* name by path from the top */
} reference_cases[] = {
    {".", "a/b"},    {"..", "a"},       {"../..//a/b", NULL}, {"c", "a/b/c"},   {"./c/../c", "a/b/c"},
    {"../d", "a/d"}, {"/e", "e"},       {"/a/b/c", "a/b/c"},  {"../../e", "e"}, {"#0", "a/b/c"},
    {"/#1", "e"},    {"/#0/#1", "a/d"}, {"/a/", "a"},
};

START_TEST(references_are_paths_seen_from_the_entity)
{
    for (uint32_t i = 0; i < COUNT_OF(reference_cases); ++i) {
        char text[512];
        if (!reference_cases[i].target)
            continue;
        snprintf(text, sizeof text,
                 "{\"entities\": [{\"name\": \"a\", \"children\": [{\"name\": \"b\", \"components\": {\"Monster\": "
                 "{\"target\": \"%s\"}}, \"children\": [{\"name\": \"c\"}]}, {\"name\": \"d\"}]}, {\"name\": \"e\"}]}",
                 reference_cases[i].path);
        mica_world *world = world_of(text);
        mica_entity target = mica_get(world, mica_find(world, "a/b"), Monster)->target;
        ck_assert_msg(mica_same(target, mica_find(world, reference_cases[i].target)), "%s", reference_cases[i].path);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(integers_keep_all_their_bits)
{
    static const struct integer_case {
        const char *json;
        uint64_t value;
    } cases[] = {
        {"0", 0},
        {"9223372036854775807", INT64_MAX},
        {"\"18446744073709551615\"", UINT64_MAX},
        {"\"0xFFFFFFFFFFFFFFFF\"", UINT64_MAX},
        {"\"9007199254740993\"", 9007199254740993u},
        {"9007199254740993", 9007199254740993u},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"entities\": [{\"name\": \"a\", \"components\": {\"Padded\": {\"large\": %s}}}]}", cases[i].json);
        mica_world *world = world_of(text);
        ck_assert_uint_eq(mica_get(world, mica_find(world, "a"), Padded)->large, cases[i].value);
        close_world(world, &heard);
    }
}
END_TEST

static void write_prefabs(void)
{
    write_file(scratch("orc.json"),
               "{\"entities\": [{\"name\": \"orc\", \"components\": {\"Health\": {\"current\": 10, \"maximum\": 10},"
               " \"Velocity\": {\"x\": 1}, \"Monster\": {\"target\": \"/orc/sword\", \"friends\": [\"sword\"]}},"
               " \"children\": [{\"name\": \"sword\", \"components\": {\"Number\": {\"value\": 1}}},"
               "               {\"name\": \"shield\", \"components\": {\"Number\": {\"value\": 2}}}]}]}");
    write_file(scratch("boss.json"),
               "{\"entities\": [{\"name\": \"boss\", \"prefab\": \"orc.json\","
               " \"components\": {\"Health\": {\"maximum\": 99}, \"Frozen\": {}}, \"remove\": [\"Velocity\"],"
               " \"children\": [{\"name\": \"sword\", \"components\": {\"Number\": {\"value\": 50}, \"Frozen\": {}}},"
               "               {\"name\": \"crown\"}], \"remove_children\": [\"shield\"]}]}");
}

START_TEST(prefabs_are_laid_out_and_overridden_at_every_level)
{
    write_prefabs();
    mica_world *world =
        world_of("{\"entities\": [{\"prefab\": \"orc.json\"},"
                 " {\"name\": \"second\", \"prefab\": \"orc.json\", \"components\": {\"Health\": {\"current\": 3}}}]}");
    ck_assert_int_eq(mica_get(world, mica_find(world, "orc"), Health)->current, 10);
    ck_assert_int_eq(mica_get(world, mica_find(world, "second"), Health)->current, 3);
    ck_assert_int_eq(mica_get(world, mica_find(world, "second"), Health)->maximum, 10);
    const Monster *monster = mica_get(world, mica_find(world, "second"), Monster);
    ck_assert_msg(mica_same(monster->target, mica_find(world, "second/sword")), "/ is the prefab's own file");
    ck_assert(mica_same(monster->friends[0], mica_find(world, "second/sword")));
    close_world(world, &heard);

    write_file(scratch("orc.json"),
               "{\"entities\": [{\"name\": \"orc\", \"components\": {\"Health\": {\"current\": 10, \"maximum\": 10},"
               " \"Velocity\": {\"x\": 1}},"
               " \"children\": [{\"name\": \"sword\", \"components\": {\"Number\": {\"value\": 1}}},"
               "               {\"name\": \"shield\"}]}]}");
    world = world_of("{\"entities\": [{\"prefab\": \"./boss.json\", \"components\": {\"Health\": {\"current\": 7}},"
                     " \"children\": [{\"name\": \"sword\", \"remove\": [\"Frozen\"]}]}]}");
    mica_entity boss = mica_find(world, "boss");
    ck_assert(mica_get(world, boss, Health)->current == 7 && mica_get(world, boss, Health)->maximum == 99);
    ck_assert(mica_has(world, boss, Frozen) && !mica_has(world, boss, Velocity));
    ck_assert_uint_eq(mica_get(world, mica_find(world, "boss/sword"), Number)->value, 50);
    ck_assert(!mica_has(world, mica_find(world, "boss/sword"), Frozen));
    ck_assert(mica_is_nil(mica_find(world, "boss/shield")) && !mica_is_nil(mica_find(world, "boss/crown")));
    close_world(world, &heard);
}
END_TEST

START_TEST(every_file_that_was_read_is_a_dependency)
{
    write_prefabs();
    mica_compiled compiled =
        compile_with((mica_compile_def){0},
                     "{\"entities\": [{\"prefab\": \"boss.json\"}, {\"name\": \"x\", \"prefab\": \"orc.json\"}]}");
    ck_assert_uint_eq(compiled.dependency_count, 3);
    static const char *const files[] = {"level.json", "boss.json", "orc.json"};
    for (uint32_t i = 0; i < 3; ++i)
        ck_assert_str_eq(compiled.dependencies[i], scratch(files[i]));
    mica_resource_error error;
    ck_assert_int_eq(mica_write_depfile(scratch("level.d"), "a level.mica", (const char *const *)compiled.dependencies,
                                        compiled.dependency_count, &error),
                     MICA_OK);
    char text[1024] = "";
    FILE *file = fopen(scratch("level.d"), "r");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    char expected[1024];
    snprintf(expected, sizeof expected, "a\\ level.mica: \\\n  %s \\\n  %s \\\n  %s\n\n%s:\n\n%s:\n", scratch(files[0]),
             scratch(files[1]), scratch(files[2]), scratch(files[1]), scratch(files[2]));
    ck_assert_str_eq(text, expected);
    mica_compiled_free(&compiled);
}
END_TEST

static void expect_identity(const mica_blob *blob, const mica_schema *schema)
{
    mica_resource_error error;
    mica_resource *resource = mica_resource_open(blob->bytes, blob->byte_count, NULL, &error);
    ck_assert_msg(resource != NULL, "%s", error.text);
    mica_blob text;
    mica_compiled again;
    ck_assert_int_eq(mica_dump(resource, &text), MICA_OK);
    mica_compile_def def = {.schema = schema};
    mica_result result = mica_compile_text("dump", text.bytes, text.byte_count, &def, &again);
    ck_assert_msg(result == MICA_OK, "%.*s", (int)text.byte_count, (char *)text.bytes);
    ck_assert_uint_eq(again.blob.byte_count, blob->byte_count);
    ck_assert_mem_eq(again.blob.bytes, blob->bytes, blob->byte_count);
    mica_compiled_free(&again);
    mica_blob_free(&text);
    mica_resource_free(resource);
}

static const struct asset_case {
    const char *root;
    const char *file;
    const char *path; /* as it is written there */
    const char *expected;
} asset_cases[] = {
    {NULL, "level.json", "rock.mica", "rock.mica"},
    {NULL, "level.json", "./a/./b/../rock.mica", "a/rock.mica"},
    {NULL, "data/level.json", "/a/rock.mica", "a/rock.mica"},
    {NULL, "../data/level.json", "rock.mica", "rock.mica"},
    {NULL, "/data/level.json", "a//rock.mica", "a/rock.mica"},
    {NULL, "/level.json", "rock.mica", "rock.mica"},
    {"data", "data/levels/one/level.json", "../../stones/rock.mica", "stones/rock.mica"},
    {"data/", "data/levels/level.json", "/stones/rock.mica", "stones/rock.mica"},
    {"./data/.", "data//levels/level.json", "rock.mica", "levels/rock.mica"},
    {".", "level.json", "rock.mica", "rock.mica"},
    {"", "a/level.json", "rock.mica", "a/rock.mica"},
    {"..", "../a/level.json", "rock.mica", "a/rock.mica"},
    {"/", "/a/level.json", "../rock.mica", "rock.mica"},
    {NULL, "../../../data/level.json", "rock.mica", "rock.mica"},
    {".", "a../level.json", "../rock.mica", "rock.mica"}, /* a name like any other */
    {"data", "data/level.json", "../rock.mica", NULL},
    {"data", "database/level.json", "rock.mica", NULL},
    {NULL, "level.json", "../rock.mica", NULL},
    {NULL, "level.json", ".", NULL},
    {NULL, "/level.json", "../../rock.mica", "rock.mica"}, /* nothing is above the top */
};

static void ignore_error(const mica_compile_error *error, void *context)
{
    (void)error;
    (void)context;
}

START_TEST(paths_of_resources_are_seen_from_the_root)
{
    mica_schema *schema = level_schema();
    for (uint32_t i = 0; i < COUNT_OF(asset_cases); ++i) {
        const struct asset_case *c = &asset_cases[i];
        char text[256];
        int length = snprintf(text, sizeof text,
                              "{\"entities\": [{\"components\": {\"Shape\": {\"outline\": \"%s\"}}}]}", c->path);
        mica_compile_def def = {.schema = schema, .root = c->root, .error = ignore_error};
        mica_compiled compiled;
        mica_result result = mica_compile_text(c->file, text, (size_t)length, &def, &compiled);
        ck_assert_msg((result == MICA_OK) == (c->expected != NULL), "%s in %s", c->path, c->file);
        if (c->expected) {
            mica_resource *resource = level_open(&compiled.blob);
            mica_asset asset = mica_resource_asset_at(resource, 0);
            ck_assert_str_eq(mica_resource_asset_path(resource, asset), c->expected);
            ck_assert_uint_eq(((const Shape *)mica_resource_value(resource, 0, 0))->outline.path_hash, asset.path_hash);
            ck_assert_uint_eq(compiled.dependency_count, 2);
            const char *dependency = compiled.dependencies[1];
            ck_assert_msg(strstr(dependency, c->expected), "%s", dependency);
            mica_resource_free(resource);
        }
        mica_compiled_free(&compiled);
    }
    mica_schema_destroy(schema);
}
END_TEST

START_TEST(a_prefab_sees_resources_beside_itself)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p '%s'", scratch("stones"));
    ck_assert_int_eq(system(command), 0);
    write_file(scratch("stones/stone.json"),
               "{\"entities\": [{\"components\": {\"Shape\": {\"outline\": \"rock.mica\", \"colour\": 3}}}]}");
    mica_compiled compiled =
        compile_with((mica_compile_def){0}, "{\"entities\": [{\"prefab\": \"stones/stone.json\", \"components\": "
                                            "{\"Shape\": {\"extra\": [\"rock.mica\", null]}}}]}");
    mica_resource *resource = level_open(&compiled.blob);
    const Shape *shape = mica_resource_value(resource, 0, 0);
    ck_assert_str_eq(mica_resource_asset_path(resource, shape->outline), "stones/rock.mica");
    ck_assert_str_eq(mica_resource_asset_path(resource, shape->extra[0]), "rock.mica");
    ck_assert_uint_eq(compiled.dependency_count, 4);
    mica_schema *schema = level_schema();
    expect_identity(&compiled.blob, schema);
    mica_schema_destroy(schema);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
}
END_TEST

static bool compile_number(mica_compiler *compiler, const json_t *value, void *out_instance, void *context)
{
    Number *number = out_instance;
    const json_t *words = json_object_get(value, "words");
    if (!json_is_string(words))
        return mica_compile_fail(compiler, "words", "expected words");
    number->value = (uint32_t)json_string_length(words) * *(uint32_t *)context +
                    (uint32_t)json_integer_value(json_object_get(value, "more"));
    return true;
}

START_TEST(a_compile_function_sees_its_value_with_overrides_laid_over)
{
    write_file(scratch("counter.json"), "{\"entities\": [{\"name\": \"counter\", \"components\": {\"Number\":"
                                        " {\"words\": \"four\", \"more\": 3}}}]}");
    uint32_t factor = 100;
    mica_compile_rule rule = {.name = "Number", .compile = compile_number, .spawn_order = 4, .context = &factor};
    mica_world *world = world_of_with((mica_compile_def){.rules = &rule, .rule_count = 1},
                                      "{\"entities\": [{\"prefab\": \"counter.json\"},"
                                      " {\"name\": \"b\", \"prefab\": \"counter.json\","
                                      "  \"components\": {\"Number\": {\"words\": \"seventy\"}}}]}");
    ck_assert_uint_eq(mica_get(world, mica_find(world, "counter"), Number)->value, 403);
    ck_assert_uint_eq(mica_get(world, mica_find(world, "b"), Number)->value, 703);
    close_world(world, &heard);
}
END_TEST

/* Compile, dump, compile: the same bytes. With every schema there is: the world's, the file's, and its JSON. */
START_TEST(compiling_what_was_dumped_gives_the_same_bytes)
{
    mica_blob blob = level_blob(NULL), text;
    mica_schema *of_world = level_schema(), *of_file = mica_schema_create(), *of_text = mica_schema_create();
    mica_resource *resource = level_open(&blob);
    ck_assert_int_eq(mica_schema_add_resource(of_file, resource), MICA_OK);
    ck_assert_int_eq(mica_schema_write(of_file, &text), MICA_OK);
    mica_resource_error error;
    ck_assert_int_eq(mica_write_file(scratch("schema.json"), text.bytes, text.byte_count, &error), MICA_OK);
    ck_assert_int_eq(mica_schema_add_file(of_text, scratch("schema.json"), NULL, NULL), MICA_OK);
    ck_assert_uint_eq(mica_schema_count(of_text), mica_schema_count(of_file));
    expect_identity(&blob, of_world);
    expect_identity(&blob, of_file);
    expect_identity(&blob, of_text);
    mica_resource_free(resource);
    mica_schema_destroy(of_world);
    mica_schema_destroy(of_file);
    mica_schema_destroy(of_text);
    mica_blob_free(&blob);
    mica_blob_free(&text);
}
END_TEST

/* Values that don't read back by themselves. */
typedef struct Awkward {
    float small, huge, hole;
    double third, negative_zero;
    uint64_t most;
    int64_t least;
    char full[4], broken[4], letter;
    Mood unnamed;
    Skills some, strange;
    bool yes;
    int8_t minus;
    char hidden[8];
} Awkward;
MICA_COMPONENT(Awkward, small, huge, hole, third, negative_zero, most, least, full, broken, letter, (unnamed, Mood),
               (some, Skills), (strange, Skills), yes, minus, hidden)

START_TEST(awkward_values_survive_dumping)
{
    mica_world *world = open_world(&heard);
    Awkward awkward = {.small = 0.1f,
                       .huge = 3.4028235e38f,
                       .third = 1.0 / 3,
                       .negative_zero = -0.0,
                       .most = UINT64_MAX,
                       .least = INT64_MIN,
                       .full = "abc",
                       .broken = "\xFF\xC3",
                       .letter = '"',
                       .unnamed = (Mood)12345,
                       .some = SKILL_CLIMB,
                       .strange = (Skills)1024,
                       .yes = true,
                       .minus = -128,
                       .hidden = "a\0b"};
    awkward.hole = -(float)(1e30 * 1e30);
    awkward.full[3] = 'd';
    mica_entity entity = mica_create(world, MICA_FROM(Awkward, &awkward));
    mica_name_set(world, entity, mica_nil(), "quote \" and \\ and \n");
    mica_name_set(world, mica_create(world), entity, "#1");
    mica_name_set(world, mica_create(world, MICA_WITH(Monster, {.target = mica_find_from(world, entity, "#1")})),
                  entity, "..");
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_state = true}, &blob), MICA_OK);
    mica_schema *schema = mica_schema_create();
    mica_schema_add_world(schema, world);
    close_world(world, &heard);
    expect_identity(&blob, schema);
    mica_schema_destroy(schema);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(the_target_decides_on_the_byte_order)
{
    const char *text = "{\"entities\": [{\"name\": \"a\", \"components\": {\"Number\": {\"value\": 258}}}]}";
    mica_compiled little = compile_with((mica_compile_def){.byte_order = MICA_BYTE_ORDER_LITTLE}, text);
    mica_compiled big = compile_with((mica_compile_def){.byte_order = MICA_BYTE_ORDER_BIG}, text);
    ck_assert_mem_eq((char *)little.blob.bytes + 8, "\x0d\x0c\x0b\x0a", 4);
    ck_assert_mem_eq((char *)big.blob.bytes + 8, "\x0a\x0b\x0c\x0d", 4);
    const mica_resource_def any = {.any_byte_order = true};
    mica_resource *one = mica_resource_open(little.blob.bytes, little.blob.byte_count, &any, NULL);
    mica_resource *other = mica_resource_open(big.blob.bytes, big.blob.byte_count, &any, NULL);
    ck_assert_uint_eq(*(const uint32_t *)mica_resource_value(one, 0, 0), 258);
    ck_assert_uint_eq(*(const uint32_t *)mica_resource_value(other, 0, 0), 258);
    mica_resource_free(one);
    mica_resource_free(other);
    mica_compiled_free(&little);
    mica_compiled_free(&big);
}
END_TEST

typedef struct Day { int hour; } Day;
MICA_COMPONENT(Day, hour)
MICA_TAG_WITH(Night, (.excludes = MICA_TYPES(Day)))
typedef Day Dusk;
MICA_POOL_WITH(Dusk, (.excludes = MICA_TYPES(Day, Night)), hour)

static char first_error[300];
static uint32_t error_count;

static void note_error(const mica_compile_error *error, void *context)
{
    (void)context;
    if (!error_count++)
        snprintf(first_error, sizeof first_error, "%d: %s: %s", error->line, error->path, error->text);
}

/* Also by a schema that was written and read. */
START_TEST(components_that_exclude_each_other_are_errors_of_a_level)
{
    mica_schema *schema = mica_schema_create(), *again = mica_schema_create();
    mica_type both = mica_type_of_Day;
    mica_type *const to_dusk[] = {&mica_type_of_Dusk, NULL};
    both.excludes = to_dusk; /* which excludes it too */
    mica_blob written, same;
    ck_assert(mica_schema_add(schema, &both, 0) == MICA_OK &&
              mica_schema_add(schema, &mica_type_of_Night, 0) == MICA_OK);
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Dusk, 0), MICA_OK);
    ck_assert_int_eq(mica_schema_write(schema, &written), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("rivals.json"), written.bytes, written.byte_count, NULL), MICA_OK);
    ck_assert_int_eq(mica_schema_add_file(again, scratch("rivals.json"), NULL, NULL), MICA_OK);
    ck_assert_int_eq(mica_schema_write(again, &same), MICA_OK);
    ck_assert(written.byte_count == same.byte_count && memcmp(written.bytes, same.bytes, same.byte_count) == 0);
    static const struct {
        const char *components;
        uint32_t errors;
        const char *first;
    } cases[] = {
        {"\"Day\": {}", 0, ""},
        {"\"Day\": {}, \"Night\": {}", 1,
         "1: entities[0].components.Night: components Night and Day exclude each other: an entity can't have both"},
        {"\"Day\": {}, \"Dusk\": {}", 1,
         "1: entities[0].components.Day: components Day and Dusk exclude each other: an entity can't have both"},
        {"\"Day\": {}, \"Dusk\": {}, \"Night\": true", 3, NULL},
    };
    for (uint32_t i = 0; i < 2 * COUNT_OF(cases); ++i) {
        char text[200];
        mica_compile_def def = {.schema = i % 2 ? schema : again, .error = note_error};
        mica_compiled compiled;
        error_count = 0;
        *first_error = 0;
        snprintf(text, sizeof text, "{\"entities\": [{\"components\": {%s}}]}", cases[i / 2].components);
        mica_result result = mica_compile_text("level.json", text, strlen(text), &def, &compiled);
        ck_assert_int_eq(result, cases[i / 2].errors ? MICA_ERROR_DATA : MICA_OK);
        ck_assert_uint_eq(error_count, cases[i / 2].errors);
        if (cases[i / 2].first)
            ck_assert_str_eq(first_error, cases[i / 2].first);
        mica_compiled_free(&compiled);
    }
    static const char *const wrong[] = {"5", "[5]", "[\"A\"]"};
    for (uint32_t i = 0; i < COUNT_OF(wrong); ++i) {
        char text[200];
        snprintf(text, sizeof text, "{\"types\": [{\"name\": \"A\", \"component\": \"tag\", \"excludes\": %s}]}",
                 wrong[i]);
        mica_write_file(scratch("wrong.json"), text, strlen(text), NULL);
        ck_assert_int_ne(mica_schema_add_file(again, scratch("wrong.json"), note_error, NULL), MICA_OK);
    }
    mica_blob_free(&written);
    mica_blob_free(&same);
    mica_schema_destroy(schema);
    mica_schema_destroy(again);
}
END_TEST

START_TEST(a_schema_has_text_and_lists)
{
    mica_schema *schema = mica_schema_create(), *again = mica_schema_create();
    mica_blob text, same;
    mica_resource_error error;
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Person, 0), MICA_OK);
    ck_assert_int_eq(mica_schema_write(schema, &text), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("people.json"), text.bytes, text.byte_count, &error), MICA_OK);
    ck_assert_int_eq(mica_schema_add_file(again, scratch("people.json"), NULL, NULL), MICA_OK);
    ck_assert_uint_eq(mica_type_layout_hash(mica_schema_type(again, 0)), mica_type_layout_hash(&mica_type_of_Person));
    ck_assert_int_eq(mica_schema_write(again, &same), MICA_OK);
    ck_assert(text.byte_count == same.byte_count && memcmp(text.bytes, same.bytes, text.byte_count) == 0);
    mica_blob_free(&text);
    mica_blob_free(&same);

    static const char *const wrong[] = {
        "{\"types\": [{\"name\": \"A\", \"component\": \"data\", \"fields\": [{\"name\": \"a\", \"list\": "
        "\"Nothing\"}]}]}",
        "{\"types\": [{\"name\": \"A\", \"component\": \"data\", \"fields\": [{\"name\": \"a\", \"list\": "
        "\"list\"}]}]}",
        "{\"types\": [{\"name\": \"A\", \"component\": \"data\", \"fields\": [{\"name\": \"a\", \"list\": \"f32\", "
        "\"kind\": \"f32\"}]}]}",
    };
    for (uint32_t i = 0; i < COUNT_OF(wrong); ++i) {
        mica_write_file(scratch("wrong.json"), wrong[i], strlen(wrong[i]), &error);
        ck_assert_int_ne(mica_schema_add_file(again, scratch("wrong.json"), ignore_error, NULL), MICA_OK);
    }

    mica_schema_destroy(schema);
    mica_schema_destroy(again);
}
END_TEST

/* A level with text and lists is compiled, spawned, saved and dumped; the text compiles to the same bytes. */
#define LONG_TITLE                                                                                                     \
    "a title so long that no small buffer has room for it, as titles of the nobility sometimes are, which is the reason "  \
    "that this one has so many words"

START_TEST(text_and_lists_are_compiled_and_dumped)
{
    const char *text = "{\"entities\": [{\"name\": \"anna\", \"components\": {\"Person\": {"
                       "\"name\": \"Anna of the northern islands \\u00fc\", \"age\": 30, \"scores\": [7.5, 8, \"inf\"],"
                       "\"inventory\": [{\"name\": \"rope\", \"count\": 2, \"tags\": [\"old\", \"red\"]}, {}],"
                       "\"friends\": [\"/anna\", null], \"titles\": [\"Dr\", \"" LONG_TITLE
                       "\"], \"moods\": [[\"MOOD_ANGRY\", \"MOOD_CALM\"]]}}},"
                       "{\"name\": \"odd\", \"components\": {\"Person\": {\"name\": [255, \"a\", 0]}}}]}";
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Person, 0), MICA_OK);
    mica_compile_def def = {.schema = schema};
    mica_compiled compiled;
    ck_assert_int_eq(mica_compile_text("people", text, strlen(text), &def, &compiled), MICA_OK);
    expect_identity(&compiled.blob, schema);

    mica_world *world = open_world(&heard);
    mica_define(world, Person);
    mica_resource *resource = level_open(&compiled.blob);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    mica_entity anna = mica_find(world, "anna");
    const Person *person = mica_get(world, anna, Person);
    ck_assert(mica_text_is(&person->name, "Anna of the northern islands \xC3\xBC") && person->age == 30);
    ck_assert_float_eq(mica_list_items(&person->scores, float)[1], 8);
    const Thing *things = mica_list_items(&person->inventory, Thing);
    ck_assert(mica_list_count(&person->inventory) == 2 && mica_text_is(&things[0].name, "rope"));
    ck_assert(mica_text_is(&mica_list_items(&things[0].tags, mica_text)[1], "red") && things[1].count == 0);
    ck_assert(mica_same(mica_list_items(&person->friends, mica_entity)[0], anna));
    ck_assert(mica_text_is(&person->titles[1], LONG_TITLE));
    ck_assert(mica_text_is(&person->titles[0], "Dr") && mica_list_count(&person->moods[0]) == 2);
    person = mica_get(world, mica_find(world, "odd"), Person);
    ck_assert(mica_text_length(&person->name) == 3 && memcmp(mica_text_get(&person->name),
                                                             "\xFF"
                                                             "a",
                                                             3) == 0);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    close_world(world, &heard);
}
END_TEST

/* A later layer replaces text, lists and arrays of them. */
START_TEST(a_prefab_with_text_and_lists_is_overridden)
{
    const char *prefab =
        "{\"entities\": [{\"name\": \"p\", \"components\": {\"Person\": {\"name\": \"a name that is long "
        "enough\", \"scores\": [1, 2, 3], \"age\": 4, \"titles\": [\"one that is longer than that\", "
        "\"b\"], \"inventory\": [{\"name\": \"a rope of a certain length\"}]}}}]}";
    const char *level = "{\"entities\": [{\"name\": \"q\", \"prefab\": \"person.json\", \"components\": {\"Person\": "
                        "{\"name\": \"q\", \"scores\": [9], \"titles\": [\"c\"], \"inventory\": []}}}]}";
    mica_resource_error error;
    ck_assert_int_eq(mica_write_file(scratch("person.json"), prefab, strlen(prefab), &error), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("level.json"), level, strlen(level), &error), MICA_OK);
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Person, 0), MICA_OK);
    mica_compiled compiled;
    ck_assert_int_eq(mica_compile_file(scratch("level.json"), &(mica_compile_def){.schema = schema}, &compiled),
                     MICA_OK);
    mica_resource *resource = level_open(&compiled.blob);
    const Person *person = mica_resource_value(resource, 0, 0);
    ck_assert(mica_text_is(&person->name, "q") && person->age == 4 && mica_list_count(&person->scores) == 1);
    ck_assert(mica_text_is(&person->titles[0], "c") && mica_text_length(&person->titles[1]) == 0);
    ck_assert_uint_eq(mica_list_count(&person->inventory), 0);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
}
END_TEST

TEST_SUITE(compile, components_that_exclude_each_other_are_errors_of_a_level, a_schema_has_text_and_lists,
           text_and_lists_are_compiled_and_dumped, a_prefab_with_text_and_lists_is_overridden,
           a_level_is_compiled_and_spawned, references_are_paths_seen_from_the_entity, integers_keep_all_their_bits,
           prefabs_are_laid_out_and_overridden_at_every_level, every_file_that_was_read_is_a_dependency,
           paths_of_resources_are_seen_from_the_root, a_prefab_sees_resources_beside_itself,
           a_compile_function_sees_its_value_with_overrides_laid_over, compiling_what_was_dumped_gives_the_same_bytes,
           awkward_values_survive_dumping, the_target_decides_on_the_byte_order)
