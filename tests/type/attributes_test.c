/* Attributes of fields: ranges, initial values, and descriptions that can't be. */
#include "../support/reports.h"
#include "../support/test.h"
#include "../support/tuned.h"

#include "base/block_heap.h"
#include "mica/value.h"

#include <string.h>

static mica_member tuned_member(Tuned *value)
{
    return mica_member_of(MICA_ID(Tuned), value);
}

static Tuned initial(void)
{
    Tuned value;
    memset(&value, 0, sizeof value);
    ck_assert_int_eq(mica_value_reset(tuned_member(&value)), MICA_OK);
    return value;
}

START_TEST(a_description_keeps_its_attributes)
{
    const mica_type *type = mica_component_type(MICA_ID(Tuned));
    const mica_attributes *level = type->fields[0].attributes;
    ck_assert_ptr_ne(level, mica_type_of_Tuned.fields[0].attributes);
    ck_assert_str_eq(level->unit, "m");
    ck_assert_str_eq(level->note, "above the sea");
    ck_assert(level->minimum == -5 && level->maximum == 9000 && level->initial == 20 && !level->initial_json);
    ck_assert_ptr_null(type->fields[4].attributes);
    ck_assert_str_eq(type->fields[6].attributes->initial_json, "\"new\"");
    Tuned value = initial();
    ck_assert_ptr_eq(mica_member_find(tuned_member(&value), "level", NULL).attributes, level);
    ck_assert_ptr_eq(mica_member_find(tuned_member(&value), "weights[1]", NULL).attributes, type->fields[7].attributes);
    ck_assert_ptr_null(tuned_member(&value).attributes);
}
END_TEST

typedef struct Plain { float a; uint16_t b[2]; mica_list c; } Plain;

/* The same component, with and without types and attributes. */
START_TEST(attributes_do_not_change_the_layout)
{
    static const mica_type number = {.name = "float", .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_F32};
    static const mica_field fields[] = {
        {.name = "a", .offset = offsetof(Plain, a), .element_bytes = 4, .count = 1, .kind = MICA_KIND_F32},
        {.name = "b", .offset = offsetof(Plain, b), .element_bytes = 2, .count = 2, .kind = MICA_KIND_U16},
        {.name = "c", .type = &number, .offset = offsetof(Plain, c), .element_bytes = 8, .count = 1, .kind = MICA_KIND_LIST}};
    mica_type bare = {.name = "Plain",
                      .fields = fields,
                      .field_count = 3,
                      .size_bytes = sizeof(Plain),
                      .alignment = _Alignof(Plain),
                      .kind = MICA_KIND_STRUCT};
    MICA_COMPONENT(Plain, (a, float, .unit = "kg", .initial = 7), (b, uint16_t, .note = "two"), (c, float))
    ck_assert_uint_eq(mica_type_layout_hash(&bare), mica_type_layout_hash(&mica_type_of_Plain));
    mica_component first = mica_type_id(&bare);
    ck_assert_uint_eq(MICA_ID(Plain), first);
    ck_assert_msg(!mica_component_type(first)->fields[0].attributes, "the first one registered is used");
}
END_TEST

static const struct range_case {
    const char *path, *text, *error; /* NULL: it fits */
} ranges[] = {
    {"level", "-5", NULL},
    {"level", "9000", NULL},
    {"level", "\"9000\"", NULL},
    {"level", "-6", "expected level from -5 to 9000 m, found -6"},
    {"level", " 9001", "expected level from -5 to 9000 m, found 9001"},
    {"level", "\"9001\"", "expected level from -5 to 9000 m, found \"9001\""},
    {"speed", "0", NULL},
    {"speed", "1e30", NULL},
    {"speed", "\"inf\"", NULL},
    {"speed", "-1", "expected speed of at least 0 m/s, found -1"},
    {"speed", "\"nan\"", "expected speed of at least 0 m/s, found \"nan\""},
    {"scale.y", "0.1", NULL},
    {"scale", "{\"x\": -1, \"y\": 10}", NULL},
    {"scale", "{\"x\": -1, \"y\": 11}", "expected y from 0.1 to 10, found 11"},
    {"scales", "[[1, 1], [0, 0]]", "expected y from 0.1 to 10, found 0"},
    {"weights", "[1, 5]", NULL},
    {"weights", "[1, 6]", "expected weights from 1 to 5, found 6"},
    {"weights[1]", "0", "expected an element from 1 to 5, found 0"},
    {"", "{\"weights\": [0]}", "expected weights from 1 to 5, found 0"},
};

START_TEST(text_must_be_in_the_range_of_a_field)
{
    for (uint32_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
        const struct range_case *at = &ranges[i];
        Tuned value = initial(), before = value;
        mica_value_error error = {0};
        mica_result result = mica_value_parse(mica_member_find(tuned_member(&value), at->path, NULL), at->text, &error);
        ck_assert_msg((result == MICA_OK) == !at->error, "case %u: %s", i, error.text);
        ck_assert_msg(!at->error || strcmp(error.text, at->error) == 0, "case %u: %s", i, error.text);
        ck_assert(!at->error || memcmp(&value, &before, sizeof value) == 0);
        const char *found = at->error ? strstr(error.text, "found ") + 6 : "";
        ck_assert_msg(!at->error || strncmp(at->text + error.position, found, strlen(found)) == 0, "case %u", i);
    }
}
END_TEST

/* A limit from above only, of each integer kind and both signs. */
typedef struct Limits { int8_t a; uint64_t b; double c; } Limits;
MICA_COMPONENT(Limits, (a, int8_t, .minimum = -INFINITY, .maximum = -3, .initial = -4, .unit = "C"),
               (b, uint64_t, .minimum = 1e18, .maximum = INFINITY, .initial_json = "\"18446744073709551615\""),
               (c, double, .minimum = -1, .maximum = 1))

static const struct check_case {
    Limits value;
    const char *error;
} checks[] = {
    {{-3, UINT64_MAX, 1}, NULL},
    {{-128, UINT64_C(1000000000000000000), -1}, NULL},
    {{-2, UINT64_MAX, 0}, "expected a of at most -3 C, found -2"},
    {{-3, 5, 0}, "expected b of at least 1e18, found 5"},
    {{-3, UINT64_MAX, 1.5}, "expected c from -1 to 1, found 1.5"},
    {{-3, UINT64_MAX, (double)NAN}, "expected c from -1 to 1, found \"nan\""},
};

START_TEST(writes_in_c_are_checked_on_request)
{
    mica_value_error error = {0};
    for (uint32_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        Limits value = checks[i].value;
        mica_result result = mica_value_check(mica_member_of(MICA_ID(Limits), &value), &error);
        ck_assert_msg((result == MICA_OK) == !checks[i].error, "case %u", i);
        ck_assert_msg(result == MICA_OK || strcmp(error.text, checks[i].error) == 0, "case %u: %s", i, error.text);
    }
    Limits value = {-2, 0, 0};
    ck_assert_int_eq(mica_value_check(mica_member_find(mica_member_of(MICA_ID(Limits), &value), "c", NULL), NULL),
                     MICA_OK);
    ck_assert_int_eq(mica_value_check((mica_member){0}, &error), MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "there is no value");
    ck_assert_int_eq(mica_value_reset(mica_member_of(MICA_ID(Limits), &value)), MICA_OK);
    ck_assert(value.a == -4 && value.b == UINT64_MAX && value.c == 0);
}
END_TEST

START_TEST(a_check_names_the_path)
{
    static const struct {
        const char *path, *error;
    } cases[] = {{"scale.y", "expected scale.y from 0.1 to 10, found 0"},
                 {"scales[1].y", "expected scales[1].y from 0.1 to 10, found 0"},
                 {"weights[2]", "expected weights[2] from 1 to 5, found 0"}};
    for (uint32_t i = 0; i < 3; ++i) {
        Tuned value = initial();
        mica_value_error error;
        mica_member part = mica_member_find(tuned_member(&value), cases[i].path, NULL);
        memset(part.data, 0, part.element_bytes);
        ck_assert_int_eq(mica_value_check(tuned_member(&value), &error), MICA_ERROR_INVALID);
        ck_assert_str_eq(error.text, cases[i].error);
        ck_assert_int_eq(mica_value_reset(part), MICA_OK);
        ck_assert_int_eq(mica_value_check(tuned_member(&value), &error), MICA_OK);
    }
    TunedText text = {0};
    mica_member list = mica_member_find(mica_member_of(MICA_ID(TunedText), &text), "scores", NULL);
    mica_value_error error;
    *mica_list_append(&text.scores, float) = 5;
    *mica_list_append(&text.scores, float) = 50;
    ck_assert_int_eq(mica_value_check(list, &error), MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "expected scores[1] from 0 to 10, found 50");
    ck_assert_int_eq(mica_value_parse(list, "[1, 11]", &error), MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "expected scores from 0 to 10, found 11");
    ck_assert_int_eq(mica_value_reset(mica_member_of(MICA_ID(TunedText), &text)), MICA_OK);
    ck_assert_int_eq(mica_value_check(list, &error), MICA_OK);
    ck_assert_uint_eq(mica_list_count(&text.scores), 2);
    mica_text_clear(&text.name);
    mica_list_clear(&text.scores, float);
}
END_TEST

START_TEST(a_value_is_reset_to_what_it_starts_with)
{
    char text[1000];
    Tuned value;
    memset(&value, 0x55, sizeof value);
    ck_assert_int_eq(mica_value_reset(mica_member_find(tuned_member(&value), "level", NULL)), MICA_OK);
    ck_assert_int_eq(value.level, 20);
    ck_assert_uint_eq(value.weights[1], 0x55);
    ck_assert_int_eq(mica_value_reset(mica_member_find(tuned_member(&value), "weights[1]", NULL)), MICA_OK);
    ck_assert_uint_eq(value.weights[1], 3);
    ck_assert_int_eq(mica_value_reset(mica_member_find(tuned_member(&value), "title[1]", NULL)), MICA_OK);
    ck_assert_int_eq(value.title[1], 0);
    ck_assert_int_eq(mica_value_reset(mica_member_find(tuned_member(&value), "scales", NULL)), MICA_OK);
    ck_assert(value.scales[1].y == 1);
    ck_assert_int_eq(mica_value_reset(tuned_member(&value)), MICA_OK);
    mica_value_write(tuned_member(&value), text, sizeof text);
    ck_assert_str_eq(text, TUNED_INITIAL);
    ck_assert_int_eq(mica_value_reset((mica_member){0}), MICA_ERROR_INVALID);
}
END_TEST

START_TEST(a_reset_without_memory_changes_nothing)
{
    TunedText text = {0};
    mica_member member = mica_member_of(MICA_ID(TunedText), &text);
    ck_assert_int_eq(mica_text_set(&text.name, "another name that does not fit in place"), MICA_OK);
    micap_heap_limit(0);
    ck_assert_int_eq(mica_value_reset(member), MICA_ERROR_MEMORY);
    micap_heap_limit(INT64_MAX);
    ck_assert_str_eq(mica_text_get(&text.name), "another name that does not fit in place");
    ck_assert_int_eq(mica_value_reset(member), MICA_OK);
    char written[200];
    mica_value_write(member, written, sizeof written);
    ck_assert_str_eq(written, TUNED_TEXT);
    mica_text_clear(&text.name);
    mica_list_clear(&text.scores, float);
}
END_TEST

static bool construct(void *values, uint32_t count, void *context)
{
    memset(values, 1, (size_t)count * 4);
    return !context;
}

static const mica_constant one[] = {{"ONE", 1}};
static const mica_type number = {
    .name = "Number", .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_ENUM, .constants = one, .constant_count = 1};
static const mica_type element = {.name = "text", .size_bytes = 16, .alignment = 8, .kind = MICA_KIND_TEXT};

static const struct problem_case {
    const char *problem; /* NULL: none */
    mica_field field;
    mica_attributes attributes;
} problems[] = {
    {NULL, {.kind = MICA_KIND_F32}, {.initial = 1.5, .minimum = 1, .maximum = 2}},
    {"not below its maximum", {.kind = MICA_KIND_F32}, {.minimum = 1}},
    {"not below its maximum", {.kind = MICA_KIND_F32}, {.maximum = (double)NAN}},
    {"a range is for numbers", {.kind = MICA_KIND_CHAR}, {.maximum = 1}},
    {"a range is for numbers", {.type = &number}, {.maximum = 1}},
    {"a range is for numbers", {.kind = MICA_KIND_LIST, .type = &element}, {.maximum = 1}},
    {"two initial values", {.kind = MICA_KIND_F32}, {.initial = 1, .initial_json = "1"}},
    {"does not fit", {.kind = MICA_KIND_F32}, {.initial = (double)NAN}},
    {"does not fit", {.kind = MICA_KIND_F32}, {.initial = 1e300}},
    {NULL, {.kind = MICA_KIND_F32}, {.initial = (double)INFINITY}},
    {"does not fit", {.kind = MICA_KIND_F32}, {.initial = 3, .maximum = 2}},
    {"does not fit", {.kind = MICA_KIND_I32}, {.initial = 1.5}},
    {"does not fit", {.kind = MICA_KIND_I32}, {.initial = 3e9}},
    {NULL, {.kind = MICA_KIND_I32}, {.initial = -2147483648.0}},
    {NULL, {.kind = MICA_KIND_U32}, {.initial = 3e9}},
    {"does not fit", {.kind = MICA_KIND_U32}, {.initial = -1}},
    {NULL, {.kind = MICA_KIND_U64}, {.initial = 18446744073709549568.0}},
    {"does not fit", {.kind = MICA_KIND_U64}, {.initial = 18446744073709551616.0}},
    {NULL, {.type = &number}, {.initial = 1}},
    {NULL, {.type = &number}, {.initial_json = "\"ONE\""}},
    {"does not fit", {.type = &number}, {.initial_json = "\"TWO\""}},
    {NULL, {.kind = MICA_KIND_BOOL}, {.initial = 1}},
    {"does not fit", {.kind = MICA_KIND_BOOL}, {.initial = 2}},
    {"does not fit", {.kind = MICA_KIND_ENTITY}, {.initial = 1}},
    {"does not fit", {.kind = MICA_KIND_TEXT}, {.initial = 1}},
    {NULL, {.kind = MICA_KIND_TEXT}, {.initial_json = "\"a text that is too long to be in place\""}},
    {NULL, {.kind = MICA_KIND_LIST, .type = &element}, {.initial_json = "[\"a\", \"b\"]"}},
    {"does not fit", {.kind = MICA_KIND_LIST, .type = &element}, {.initial = 1}},
    {"does not fit", {.kind = MICA_KIND_LIST, .type = &element}, {.initial_json = "[1]"}},
};

static uint32_t bytes_of(const mica_field *field)
{
    static const uint32_t bytes[] = {4, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 0, 4, 4, 8, 16, 8};
    return bytes[field->kind];
}

START_TEST(attributes_that_can_not_be_are_named)
{
    for (uint32_t i = 0; i < sizeof problems / sizeof *problems; ++i) {
        mica_field field = problems[i].field;
        field.name = "value";
        field.count = 1;
        field.element_bytes = bytes_of(&field);
        field.attributes = &problems[i].attributes;
        mica_type type = {.name = "Alone",
                          .fields = &field,
                          .field_count = 1,
                          .size_bytes = field.element_bytes < 8 ? 8 : field.element_bytes,
                          .alignment = 8,
                          .kind = MICA_KIND_STRUCT};
        const char *problem = mica_type_problem(&type), *expected = problems[i].problem;
        ck_assert_msg(!problem == !expected && (!problem || strstr(problem, expected)), "case %u: %s", i,
                      problem ? problem : "none");
        bool has_initial = field.attributes->initial != 0 || field.attributes->initial_json;
        type.construct = construct;
        problem = mica_type_problem(&type);
        ck_assert_msg(expected || !has_initial || strstr(problem, "function"), "case %u", i);
    }
}
END_TEST

START_TEST(an_initial_value_without_memory_is_no_problem_of_the_description)
{
    static const mica_attributes attributes = {.initial_json = "\"a text that is too long to be in place\""};
    const mica_field field = {
        .name = "text", .element_bytes = 16, .count = 1, .kind = MICA_KIND_TEXT, .attributes = &attributes};
    mica_type type = {.name = "LongText",
                      .fields = &field,
                      .field_count = 1,
                      .size_bytes = 16,
                      .alignment = 8,
                      .kind = MICA_KIND_STRUCT};
    for (int64_t blocks = 0; blocks < 2; ++blocks) {
        micap_heap_limit(blocks);
        ck_assert_str_eq(mica_type_problem(&type) ? mica_type_problem(&type) : "out of memory", "out of memory");
        micap_heap_limit(blocks);
        reports heard;
        mica_world *world = open_world(&heard);
        micap_heap_limit(blocks);
        ck_assert_uint_eq(mica_component_define(world, &type), 0);
        micap_heap_limit(INT64_MAX);
        expect_report(&heard, MICA_ERROR_MEMORY, "LongText");
        close_world(world, &heard);
    }
    ck_assert_uint_ne(mica_type_id(&type), 0);
}
END_TEST

TEST_SUITE(attributes, a_description_keeps_its_attributes, attributes_do_not_change_the_layout,
           text_must_be_in_the_range_of_a_field, writes_in_c_are_checked_on_request, a_check_names_the_path,
           a_value_is_reset_to_what_it_starts_with, a_reset_without_memory_changes_nothing,
           attributes_that_can_not_be_are_named, an_initial_value_without_memory_is_no_problem_of_the_description)
