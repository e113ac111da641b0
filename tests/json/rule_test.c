/* Compile functions, recipes and schemas: what the description of a component does not say. */
#define _POSIX_C_SOURCE 200809L
#include "../support/level.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/compile.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Alarm { bool rings; char letter; float loud; double exact; } Alarm;
MICA_COMPONENT(Alarm, rings, letter, loud, exact)

/* Much smaller than a Monster, for which it stands in the file. */
typedef struct Seed { uint16_t value; } Seed;
MICA_STRUCT(Seed, value)

static mica_schema *make_schema(void)
{
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Monster, 0), MICA_OK);
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Alarm, -7), MICA_OK);
    ck_assert_int_eq(mica_schema_add(schema, &mica_type_of_Frozen, 0), MICA_OK);
    return schema;
}

typedef struct said {
    uint32_t count;
    char first[600]; /* line:column: path: text */
} said;

static void note(const mica_compile_error *error, void *context)
{
    said *said = context;
    if (!said->count++)
        snprintf(said->first, sizeof said->first, "%d:%d: %s: %s", error->line, error->column, error->path,
                 error->text);
}

static mica_result compile(mica_compile_def def, const char *text, said *out_said, mica_compiled *out)
{
    mica_schema *schema = make_schema();
    memset(out_said, 0, sizeof *out_said);
    def.schema = schema;
    def.error = note;
    def.error_context = out_said;
    mica_result result = mica_compile_text(scratch("a.json"), text, strlen(text), &def, out);
    mica_schema_destroy(schema);
    return result;
}

/* The value is a number, or an object with one; an array stands for its length. */
static bool compile_seed(mica_compiler *compiler, const json_t *value, void *out_instance, void *context)
{
    const json_t *number = json_is_object(value) ? json_object_get(value, "seed") : value;
    if (json_is_string(number))
        return false; /* without a word */
    if (json_is_null(number))
        return mica_compile_fail(compiler, json_is_object(value) ? "seed" : NULL, "a seed is missing");
    Seed *seed = out_instance;
    seed->value = (uint16_t)(json_is_array(number) ? json_array_size(number) : (size_t)json_integer_value(number));
    ++*(uint32_t *)context;
    return true;
}

static const struct recipe_case {
    bool has_function;
    const char *text;
    uint32_t count;
    uint16_t values[3];
    const char *error; /* NULL: it is fine */
} recipe_cases[] = {
    {false, "{\"entities\": [{\"components\": {\"Monster\": {\"value\": 5}}}]}", 1, {5}, NULL},
    {false,
     "{\"entities\": [{\"components\": {\"Monster\": [{\"value\": 5}, {\"value\": 6}, {}]}}]}",
     3,
     {5, 6, 0},
     NULL},
    {false,
     "{\"entities\": [{\"components\": {\"Monster\": [{\"value\": 5}, {\"title\": \"x\"}]}}]}",
     0,
     {0},
     "1:67: entities[0].components.Monster[1].title: Seed has no field \"title\""},
    {true, "{\"entities\": [{\"components\": {\"Monster\": 7}}]}", 1, {7}, NULL},
    {true, "{\"entities\": [{\"components\": {\"Monster\": [1, 1]}}]}", 1, {2}, NULL},
    {true, "{\"entities\": [{\"components\": {\"Monster\": [{\"seed\": 8}, {\"seed\": 9}]}}]}", 2, {8, 9}, NULL},
    {true,
     "{\"entities\": [{\"components\": {\"Monster\": [{\"seed\": 8}, {\"seed\": null}]}}]}",
     0,
     {0},
     "1:65: entities[0].components.Monster[1].seed: a seed is missing"},
    {true,
     "{\"entities\": [{\"components\": {\"Monster\": null}}]}",
     0,
     {0},
     "1:42: entities[0].components.Monster: a seed is missing"},
    {true,
     "{\"entities\": [{\"components\": {\"Monster\": \"x\"}}]}",
     0,
     {0},
     "1:42: entities[0].components.Monster: the compile function of Monster refused it"},
    {true, "{\"entities\": [{\"prefab\": \"p.json\", \"components\": {\"Monster\": 4}}]}", 1, {4}, NULL},
    {true, "{\"entities\": [{\"prefab\": \"p.json\", \"components\": {\"Monster\": {\"seed\": 4}}}]}", 1, {4}, NULL},
};

START_TEST(a_recipe_is_what_is_written_however_many_there_are)
{
    static const char prefab[] = "{\"entities\": [{\"components\": {\"Monster\": {\"seed\": 3}}}]}";
    ck_assert_int_eq(mica_write_file(scratch("p.json"), prefab, sizeof prefab - 1, NULL), MICA_OK);
    for (uint32_t i = 0; i < COUNT_OF(recipe_cases); ++i) {
        const struct recipe_case *row = &recipe_cases[i];
        uint32_t calls = 0;
        const mica_compile_rule rule = {.name = "Monster",
                                        .compile = row->has_function ? compile_seed : NULL,
                                        .recipe = &mica_type_of_Seed,
                                        .spawn_order = 3,
                                        .context = &calls};
        said said;
        mica_compiled compiled;
        mica_result result = compile((mica_compile_def){.rules = &rule, .rule_count = 1}, row->text, &said, &compiled);
        ck_assert_msg(result == (row->error ? MICA_ERROR_DATA : MICA_OK), "case %u: %s", i, said.first);
        if (row->error) {
            ck_assert_msg(said.count == 1 && strcmp(said.first, row->error) == 0, "case %u: %s", i, said.first);
        } else {
            mica_resource *resource = level_open(&compiled.blob);
            mica_resource_component component = mica_resource_component_at(resource, 0);
            ck_assert_str_eq(component.type->name, "Seed");
            ck_assert(component.spawn_order == 3 && calls == (row->has_function ? row->count : 0));
            ck_assert_uint_eq(component.instance_count, row->count);
            ck_assert_mem_eq(component.instances, row->values, row->count * sizeof(Seed));
            mica_resource_free(resource);
        }
        mica_compiled_free(&compiled);
    }
}
END_TEST

START_TEST(values_of_every_kind_are_read)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"{\"rings\": true, \"letter\": \"x\", \"loud\": \"nan\", \"exact\": \"-inf\"}", NULL},
        {"{\"rings\": false, \"letter\": 120, \"loud\": \"inf\", \"exact\": \"nan\"}", NULL},
        {"{\"rings\": 1}", "rings: expected true or false, found 1"},
        {"{\"letter\": \"xy\"}", "letter: expected a string of one byte, or an integer, found \"xy\""},
        {"{\"letter\": 256}", "letter: expected an integer from 0 to 255, found 256"},
        {"{\"letter\": []}", "letter: expected a string of one byte, or an integer, found an array"},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        char text[256];
        snprintf(text, sizeof text, "{\"entities\": [{\"components\": {\"Alarm\": %s}}]}", cases[i].text);
        said said;
        mica_compiled compiled;
        mica_result result = compile((mica_compile_def){0}, text, &said, &compiled);
        ck_assert_msg(result == (cases[i].error ? MICA_ERROR_DATA : MICA_OK), "case %u: %s", i, said.first);
        if (cases[i].error) {
            ck_assert_msg(strstr(said.first, cases[i].error), "case %u: %s", i, said.first);
        } else {
            mica_resource *resource = level_open(&compiled.blob);
            const Alarm *alarm = mica_resource_value(resource, 0, 0);
            ck_assert(alarm->rings == (i == 0) && alarm->letter == 'x');
            ck_assert(i == 0 ? isnan(alarm->loud) && alarm->exact == -(double)INFINITY
                             : alarm->loud == INFINITY && isnan(alarm->exact));
            mica_resource_free(resource);
        }
        mica_compiled_free(&compiled);
    }
}
END_TEST

START_TEST(a_schema_tells_what_is_in_it_and_reads_what_it_wrote)
{
    const mica_compile_rule rule = {.name = "Monster", .recipe = &mica_type_of_Seed, .spawn_order = -5};
    said said;
    mica_compiled compiled;
    ck_assert_int_eq(compile((mica_compile_def){.rules = &rule, .rule_count = 1},
                             "{\"entities\": [{\"components\": {\"Monster\": {}, \"Alarm\": {}, \"Frozen\": true}}]}",
                             &said, &compiled),
                     MICA_OK);
    mica_resource *resource = level_open(&compiled.blob);
    mica_schema *schema = mica_schema_create(), *again = mica_schema_create();
    ck_assert_int_eq(mica_schema_add_resource(schema, resource), MICA_OK);
    ck_assert_uint_eq(mica_schema_count(schema), 3);
    ck_assert_str_eq(mica_schema_name(schema, 0), "Alarm"); /* the lowest spawn order */
    ck_assert_str_eq(mica_schema_name(schema, 1), "Monster");
    ck_assert_str_eq(mica_schema_type(schema, 1)->name, "Seed");
    ck_assert(!mica_schema_name(schema, 3) && !mica_schema_type(schema, 3));
    mica_blob text, second;
    ck_assert_int_eq(mica_schema_write(schema, &text), MICA_OK);
    ck_assert_int_eq(mica_write_file(scratch("s.json"), text.bytes, text.byte_count, NULL), MICA_OK);
    ck_assert_int_eq(mica_schema_add_file(again, scratch("s.json"), note, &said), MICA_OK);
    ck_assert_str_eq(mica_schema_name(again, 1), "Monster");
    ck_assert_int_eq(mica_schema_write(again, &second), MICA_OK);
    ck_assert_uint_eq(text.byte_count, second.byte_count);
    ck_assert_mem_eq(text.bytes, second.bytes, text.byte_count);
    ck_assert_int_eq(mica_schema_add(again, &mica_type_of_Monster, 0), MICA_ERROR_EXISTS);
    const mica_type hollow = {.name = "Hollow", .kind = MICA_KIND_STRUCT};
    ck_assert_int_eq(mica_schema_add(again, &hollow, 0), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_schema_add(again, NULL, 0), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_schema_add(again, &(mica_type){0}, 0), MICA_ERROR_INVALID);
    ck_assert_uint_eq(mica_schema_count(again), 3);
    mica_blob_free(&text);
    mica_blob_free(&second);
    mica_schema_destroy(schema);
    mica_schema_destroy(again);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
}
END_TEST

static void hear_progress(uint64_t done, uint64_t total, void *context)
{
    uint64_t *last = context;
    REQUIRE(done >= *last && total == 10000);
    *last = done;
}

static void release_nothing(void *block, size_t bytes, size_t alignment, void *context)
{
    (void)block;
    (void)bytes;
    (void)alignment;
    (void)context;
}

START_TEST(progress_is_told_and_half_an_allocator_is_not_taken)
{
    enum { ENTITIES = 10000 };
    char *text = malloc(ENTITIES * 3 + 64), *at = text + sprintf(text, "{\"entities\": [");
    for (uint32_t i = 0; i < ENTITIES; ++i)
        at += sprintf(at, "%s{}", i ? "," : "");
    sprintf(at, "]}");
    uint64_t last = 0;
    said said;
    mica_compiled compiled;
    ck_assert_int_eq(
        compile((mica_compile_def){.progress = hear_progress, .progress_context = &last}, text, &said, &compiled),
        MICA_OK);
    ck_assert_uint_eq(last, 8192);
    mica_compiled_free(&compiled);
    const mica_allocator half = {.release = release_nothing};
    ck_assert_int_eq(compile((mica_compile_def){.allocator = half}, "{}", &said, &compiled), MICA_ERROR_INVALID);
    free(text);
}
END_TEST

/* What is printed to stderr meanwhile. */
static void compile_aloud(const char *text, char *out_printed, size_t bytes)
{
    int before = dup(STDERR_FILENO);
    FILE *file = fopen(scratch("printed.txt"), "w+");
    ck_assert(file && before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    mica_schema *schema = make_schema();
    mica_compiled compiled;
    mica_result result =
        mica_compile_text("a.json", text, strlen(text), &(mica_compile_def){.schema = schema}, &compiled);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    ck_assert_int_eq(result, MICA_ERROR_DATA);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    rewind(file);
    out_printed[fread(out_printed, 1, bytes - 1, file)] = 0;
    fclose(file);
}

START_TEST(without_a_handler_errors_are_printed)
{
    static const struct {
        const char *text;
        const char *printed;
    } cases[] = {
        {"{\"entites\": []}", "a.json:1:13: entites: unknown key \"entites\" (did you mean \"entities\"?)\n"},
        {"[]", "a.json:1:1: expected an object with \"entities\", found an array\n"},
        /* A key that looks like a path is not found again: then there is no line. */
        {"{\"[1]\": 1}", "a.json: [1]: unknown key \"[1]\"\n"},
        {"{\"a.b\": 1}", "a.json: a.b: unknown key \"a.b\"\n"},
        {"{\"a[1]\": 1}", "a.json: a[1]: unknown key \"a[1]\"\n"},
        /* Nothing before it confuses the search. */
        {"{\"comment\": \"a \\\\ \\\"quote\\\" }]\", \"singletons\": {}, \"oops\": 1}",
         "a.json:1:60: oops: unknown key \"oops\"\n"},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        char printed[512];
        compile_aloud(cases[i].text, printed, sizeof printed);
        ck_assert_str_eq(printed, cases[i].printed);
    }
}
END_TEST

START_TEST(the_top_of_a_prefab_is_its_root_by_number_too)
{
    static const char prefab[] = "{\"entities\": [{\"components\": {\"Monster\": {\"target\": \"/#0\"}}}]}";
    ck_assert_int_eq(mica_write_file(scratch("self.json"), prefab, sizeof prefab - 1, NULL), MICA_OK);
    said said;
    mica_compiled compiled;
    ck_assert_int_eq(compile((mica_compile_def){0},
                             "{\"entities\": [{\"name\": \"x\"}, {\"name\": \"y\", \"prefab\": \"self.json\"}]}", &said,
                             &compiled),
                     MICA_OK);
    mica_resource *resource = level_open(&compiled.blob);
    uint32_t count;
    const Monster *monster = mica_resource_values_id(resource, &mica_type_of_Monster, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(mica_resource_name(resource, monster->target.index), "y");
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
}
END_TEST

START_TEST(paths_in_a_rule_for_make_are_quoted)
{
    const char *path = scratch("odd.d"), *files[] = {"a b#1", "price$"};
    ck_assert_int_eq(mica_write_depfile(path, "out$put", files, 2, NULL), MICA_OK);
    char text[128] = "";
    FILE *file = fopen(path, "r");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_str_eq(text, "out$$put: \\\n  a\\ b\\#1 \\\n  price$$\n\nprice$$:\n");
    mica_schema_destroy(NULL);
}
END_TEST

TEST_SUITE(rule, a_recipe_is_what_is_written_however_many_there_are, values_of_every_kind_are_read,
           a_schema_tells_what_is_in_it_and_reads_what_it_wrote, progress_is_told_and_half_an_allocator_is_not_taken,
           without_a_handler_errors_are_printed, the_top_of_a_prefab_is_its_root_by_number_too,
           paths_in_a_rule_for_make_are_quoted)
