/* Attributes of fields in levels and schemas: what a file leaves out, what is outside a range, and files of older programs. */
#include "../support/level.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "../support/tuned.h"

#include "base/block_heap.h"
#include "mica/compile.h"
#include "mica/reload.h"
#include "mica/value.h"

#include <stdio.h>
#include <string.h>

static reports heard;
static char complaint[700];

static void note(const mica_compile_error *error, void *context)
{
    (void)context;
    if (!*complaint)
        snprintf(complaint, sizeof complaint, "%d:%d: %s: %s", error->line, error->column, error->path, error->text);
}

static mica_world *tuned_world(void)
{
    mica_world *world = open_world(&heard);
    mica_type *const types[] = {&mica_type_of_Tuned,          &mica_type_of_TunedSplit, &mica_type_of_TunedPool,
                                &mica_type_of_TunedSplitPool, &mica_type_of_TunedMany,  &mica_type_of_TunedText,
                                &mica_type_of_TunedSingleton};
    for (uint32_t i = 0; i < COUNT_OF(types); ++i)
        ck_assert(mica_component_define(world, types[i]));
    return world;
}

static mica_schema *tuned_schema(void)
{
    mica_world *world = tuned_world();
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add_world(schema, world), MICA_OK);
    close_world(world, &heard);
    return schema;
}

static mica_result compile(const mica_schema *schema, const char *text, mica_compiled *out)
{
    mica_compile_def def = {.schema = schema, .error = note};
    *complaint = 0;
    return mica_compile_text(scratch("tuned.json"), text, strlen(text), &def, out);
}

/* Compiles a level and spawns it into a world. */
static mica_entity spawn(mica_world *world, const mica_schema *schema, const char *text)
{
    mica_compiled compiled;
    mica_entity entity = mica_nil();
    ck_assert_msg(compile(schema, text, &compiled) == MICA_OK, "%s", complaint);
    mica_resource *resource = mica_resource_open(compiled.blob.bytes, compiled.blob.byte_count, NULL, NULL);
    ck_assert_ptr_nonnull(resource);
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.out_entities = &entity, .out_capacity = 1}),
                     MICA_OK);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
    return entity;
}

static void expect_value(mica_world *world, mica_entity entity, mica_type *type, const char *expected)
{
    char text[1000];
    _Alignas(16) char value[256];
    mica_component component = mica_type_id(type);
    if (type->split)
        ck_assert(mica_get_value_id(world, entity, component, value));
    const void *whole = type->split ? value : mica_get_id(world, entity, component);
    mica_value_write(mica_member_of(component, (void *)(uintptr_t)whole), text, sizeof text);
    ck_assert_msg(strcmp(text, expected) == 0, "%s: %s", type->name, text);
}

START_TEST(fields_that_a_level_leaves_out_have_their_initial_values)
{
    mica_world *world = tuned_world();
    mica_schema *schema = tuned_schema();
    mica_entity entity =
        spawn(world, schema,
              "{\"entities\": [{\"components\": {\"Tuned\": {}, \"TunedSplit\": {}, \"TunedPool\": {}, "
              "\"TunedSplitPool\": {}, \"TunedMany\": [{}, {\"level\": 5}], \"TunedText\": {}}}], "
              "\"singletons\": {\"TunedSingleton\": {\"level\": 3}}}");
    mica_type *const types[] = {&mica_type_of_Tuned, &mica_type_of_TunedSplit, &mica_type_of_TunedPool,
                                &mica_type_of_TunedSplitPool, &mica_type_of_TunedMany};
    for (uint32_t i = 0; i < COUNT_OF(types); ++i)
        expect_value(world, entity, types[i], TUNED_INITIAL);
    expect_value(world, entity, &mica_type_of_TunedText, TUNED_TEXT);
    const TunedSingleton *singleton = mica_singleton_get(world, TunedSingleton);
    ck_assert(singleton->level == 3 && singleton->scales[1].y == 1);
    entity = spawn(
        world, schema,
        "{\"entities\": [{\"components\": {\"Tuned\": {\"level\": 7, \"scale\": {\"x\": 2}, \"weights\": [1]}}}]}");
    const Tuned *tuned = mica_get(world, entity, Tuned);
    ck_assert(tuned->level == 7 && tuned->scale.x == 2 && tuned->scale.y == 1 && tuned->mood == MOOD_ANGRY);
    ck_assert_msg(tuned->weights[0] == 1 && tuned->weights[1] == 0, "an array is given as a whole");
    mica_schema_destroy(schema);
    close_world(world, &heard);
}
END_TEST

static const struct {
    const char *value, *error;
} outside[] = {
    {"{\"level\": -6}", "entities[0].components.Tuned.level: expected level from -5 to 9000 m, found -6"},
    {"{\"speed\": -0.5}", "entities[0].components.Tuned.speed: expected speed of at least 0 m/s, found -0.5"},
    {"{\"scale\": {\"y\": 11}}", "entities[0].components.Tuned.scale.y: expected y from 0.1 to 10, found 11"},
    {"{\"weights\": [1, 6]}", "entities[0].components.Tuned.weights[1]: expected weights from 1 to 5, found 6"},
};

START_TEST(a_level_with_a_number_outside_its_range_is_refused)
{
    mica_schema *schema = tuned_schema();
    for (uint32_t i = 0; i < COUNT_OF(outside); ++i) {
        char text[200];
        mica_compiled compiled;
        snprintf(text, sizeof text, "{\"entities\": [{\"components\": {\"Tuned\": %s}}]}", outside[i].value);
        ck_assert_int_eq(compile(schema, text, &compiled), MICA_ERROR_DATA);
        ck_assert_msg(strstr(complaint, outside[i].error) != NULL, "%s", complaint);
        mica_compiled_free(&compiled);
    }
    mica_compiled compiled;
    ck_assert_int_ne(
        compile(schema, "{\"entities\": [{\"components\": {\"TunedText\": {\"scores\": [1, 11]}}}]}", &compiled),
        MICA_OK);
    ck_assert_msg(strstr(complaint, "scores[1]: expected scores from 0 to 10, found 11") != NULL, "%s", complaint);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
}
END_TEST

START_TEST(a_schema_has_attributes)
{
    mica_schema *schema = tuned_schema(), *again = mica_schema_create();
    mica_blob text, same;
    mica_resource_error error;
    ck_assert_int_eq(mica_schema_write(schema, &text), MICA_OK);
    ck_assert_ptr_nonnull(strstr(text.bytes, "\"unit\": \"m\", \"minimum\": -5, \"maximum\": 9000, \"initial\": 20, "
                                             "\"note\": \"above the sea\"}"));
    ck_assert_ptr_nonnull(strstr(text.bytes, "\"minimum\": 0, \"maximum\": \"inf\""));
    ck_assert_ptr_nonnull(strstr(text.bytes, "\"initial\": \"new\""));
    ck_assert_int_eq(mica_write_file(scratch("tuned.schema"), text.bytes, text.byte_count, &error), MICA_OK);
    ck_assert_int_eq(mica_schema_add_file(again, scratch("tuned.schema"), note, NULL), MICA_OK);
    ck_assert_int_eq(mica_schema_write(again, &same), MICA_OK);
    ck_assert(same.byte_count == text.byte_count && memcmp(same.bytes, text.bytes, text.byte_count) == 0);
    mica_world *world = tuned_world();
    mica_entity entity = spawn(world, again, "{\"entities\": [{\"components\": {\"Tuned\": {}, \"TunedText\": {}}}]}");
    expect_value(world, entity, &mica_type_of_Tuned, TUNED_INITIAL);
    expect_value(world, entity, &mica_type_of_TunedText, TUNED_TEXT);
    close_world(world, &heard);
    mica_blob_free(&text);
    mica_blob_free(&same);
    mica_schema_destroy(schema);
    mica_schema_destroy(again);
}
END_TEST

static const struct {
    const char *field, *error; /* NULL: it is read */
} fields[] = {
    {"\"kind\": \"i64\", \"initial\": 9007199254740993", NULL},
    {"\"kind\": \"f32\", \"minimum\": \"-inf\", \"maximum\": 3", NULL},
    {"\"kind\": \"f32\", \"minimum\": \"low\"", "types[0].fields[0].minimum: expected a number, \"inf\" or \"-inf\""},
    {"\"kind\": \"f32\", \"maximum\": true", "types[0].fields[0].maximum: expected a number, \"inf\" or \"-inf\""},
    {"\"kind\": \"f32\", \"initial\": [1]", "types[0]: the initial value of a field does not fit"},
    {"\"kind\": \"f32\", \"minimum\": 1", "types[0]: the minimum of a field is not below its maximum"},
};

START_TEST(attributes_of_a_schema_are_checked)
{
    for (uint32_t i = 0; i < COUNT_OF(fields); ++i) {
        char text[300];
        mica_resource_error error;
        snprintf(text, sizeof text,
                 "{\"types\": [{\"name\": \"One\", \"component\": \"data\", \"fields\": [{\"name\": \"a\", %s}]}]}",
                 fields[i].field);
        ck_assert_int_eq(mica_write_file(scratch("one.schema"), text, strlen(text), &error), MICA_OK);
        mica_schema *schema = mica_schema_create();
        *complaint = 0;
        ck_assert_int_eq(mica_schema_add_file(schema, scratch("one.schema"), note, NULL) != MICA_OK,
                         fields[i].error != NULL);
        ck_assert_msg(!fields[i].error || strstr(complaint, fields[i].error), "case %u: %s", i, complaint);
        if (i == 0)
            ck_assert_str_eq(mica_schema_type(schema, 0)->fields[0].attributes->initial_json, "9007199254740993");
        mica_schema_destroy(schema);
    }
}
END_TEST

/* Components as an older program had them: one field. Compiled under the name of the new one. */
static const mica_field old_fields[] = {
    {.name = "level", .element_bytes = 4, .count = 1, .kind = MICA_KIND_I32}};
static mica_type old_type(const char *name)
{
    return (mica_type){.name = name,
                       .fields = old_fields,
                       .field_count = 1,
                       .size_bytes = 4,
                       .alignment = 4,
                       .kind = MICA_KIND_STRUCT};
}

static bool take_recipe(const mica_spawn_run *run, void *context)
{
    uint32_t *seen = context;
    const Tuned *values = run->instances;
    *seen += values[0].level == 6 && values[0].weights[2] == 3 && values[0].scales[1].x == 1;
    return true;
}

START_TEST(fields_that_an_old_file_lacks_have_their_initial_values)
{
    static const char *const names[] = {"Tuned", "TunedSplit", "TunedPool", "TunedSplitPool", "TunedMany"};
    mica_type *const types[] = {&mica_type_of_Tuned, &mica_type_of_TunedSplit, &mica_type_of_TunedPool,
                                &mica_type_of_TunedSplitPool, &mica_type_of_TunedMany};
    mica_schema *old = mica_schema_create();
    for (uint32_t i = 0; i < COUNT_OF(names); ++i) {
        mica_type type = old_type(names[i]);
        ck_assert_int_eq(mica_schema_add(old, &type, 0), MICA_OK);
    }
    static const char level[] =
        "{\"entities\": [{\"components\": {\"Tuned\": {\"level\": 6}, \"TunedSplit\": {\"level\": 6}, "
        "\"TunedPool\": {\"level\": 6}, \"TunedSplitPool\": {\"level\": 6}, \"TunedMany\": {\"level\": 6}}}]}";
    char expected[1000];
    snprintf(expected, sizeof expected, "{\"level\": 6%s", strchr(TUNED_INITIAL, ','));
    mica_world *world = tuned_world();
    mica_entity entity = spawn(world, old, level);
    for (uint32_t i = 0; i < COUNT_OF(types); ++i)
        expect_value(world, entity, types[i], expected);

    mica_compiled compiled;
    ck_assert_int_eq(compile(old, level, &compiled), MICA_OK);
    mica_resource *resource = mica_resource_open(compiled.blob.bytes, compiled.blob.byte_count, NULL, NULL);
    uint32_t seen = 0;
    mica_resource_rule rule = {.component = MICA_ID(Tuned), .spawn = take_recipe, .context = &seen};
    ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.rules = &rule, .rule_count = 1}), MICA_OK);
    ck_assert_uint_eq(seen, 1);
    mica_resource_free(resource);
    mica_compiled_free(&compiled);
    mica_schema_destroy(old);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_level_without_memory_for_initial_text_is_refused)
{
    mica_schema *schema = tuned_schema();
    mica_result result = MICA_ERROR_MEMORY;
    for (int64_t blocks = 0; result != MICA_OK; ++blocks) {
        mica_compiled compiled;
        micap_heap_limit(blocks);
        result = compile(schema, "{\"entities\": [{\"components\": {\"TunedText\": {}}}]}", &compiled);
        micap_heap_limit(INT64_MAX);
        ck_assert_msg(result == MICA_OK || strstr(complaint, "memory"), "%d: %s", result, complaint);
        mica_compiled_free(&compiled);
    }
    mica_schema_destroy(schema);
}
END_TEST

/* An old file is replaced by a newer old file: what neither has starts as the description says, and stays. */
START_TEST(a_reload_of_an_old_file_keeps_initial_values)
{
    mica_schema *old = mica_schema_create();
    mica_type type = old_type("Tuned"), text_type = old_type("TunedText");
    ck_assert_int_eq(mica_schema_add(old, &type, 0), MICA_OK);
    ck_assert_int_eq(mica_schema_add(old, &text_type, 0), MICA_OK);
    mica_compiled compiled[2];
    mica_resource *resources[2];
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(
            compile(old,
                    i ? "{\"entities\": [{\"name\": \"a\", \"components\": {\"Tuned\": {\"level\": 7}, \"TunedText\": "
                        "{\"level\": 1}}}, "
                        "{\"name\": \"b\", \"components\": {\"Tuned\": {\"level\": 8}, \"TunedText\": {}}}]}"
                      : "{\"entities\": [{\"name\": \"a\", \"components\": {\"Tuned\": {\"level\": 6}, \"TunedText\": "
                        "{}}}]}",
                    &compiled[i]),
            MICA_OK);
        resources[i] = mica_resource_open(compiled[i].blob.bytes, compiled[i].blob.byte_count, NULL, NULL);
    }
    mica_world *world = tuned_world();
    mica_spawned *spawned = mica_spawn_kept(world, resources[0], NULL);
    ck_assert_ptr_nonnull(spawned);
    micap_heap_limit(0);
    mica_result result = mica_reload(spawned, resources[1], NULL);
    micap_heap_limit(INT64_MAX);
    ck_assert_int_eq(result, MICA_ERROR_MEMORY);
    expect_report(&heard, MICA_ERROR_MEMORY, "memory");
    forget_reports(&heard);
    ck_assert_int_eq(mica_get(world, mica_find(world, "a"), Tuned)->level, 6);
    ck_assert_int_eq(mica_reload(spawned, resources[1], NULL), MICA_OK);
    expect_value(world, mica_find(world, "b"), &mica_type_of_TunedText, TUNED_TEXT);
    char expected[1000];
    snprintf(expected, sizeof expected, "{\"level\": 7%s", strchr(TUNED_INITIAL, ','));
    expect_value(world, mica_find(world, "a"), &mica_type_of_Tuned, expected);
    expected[10] = '8';
    expect_value(world, mica_find(world, "b"), &mica_type_of_Tuned, expected);
    mica_spawned_free(spawned);
    close_world(world, &heard);
    for (uint32_t i = 0; i < 2; ++i) {
        mica_resource_free(resources[i]);
        mica_compiled_free(&compiled[i]);
    }
    mica_schema_destroy(old);
}
END_TEST

TEST_SUITE(attributes, fields_that_a_level_leaves_out_have_their_initial_values,
           a_level_with_a_number_outside_its_range_is_refused, a_schema_has_attributes,
           attributes_of_a_schema_are_checked, a_level_without_memory_for_initial_text_is_refused,
           a_reload_of_an_old_file_keeps_initial_values, fields_that_an_old_file_lacks_have_their_initial_values)
