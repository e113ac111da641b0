/* Values whose type is only known at run time: their members, paths, and text in both directions. */
#include "../support/people.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/test.h"

#include "base/block_heap.h"
#include "mica/value.h"

#include <string.h>

/* Every kind of scalar, alone and in arrays. */
typedef struct Scalars {
    bool yes;
    char letter;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    mica_asset asset;
    float numbers[3];
    Vec3 corners[2];
} Scalars;
MICA_COMPONENT(Scalars, yes, letter, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, asset, numbers, (corners, Vec3))

static Monster sample(void)
{
    return (Monster){.home = {1, 2.5f, -3},
                     .path = {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0.1f}},
                     .mood = MOOD_ANGRY,
                     .skills = SKILL_SWIM | SKILL_SING,
                     .target = {7, 3},
                     .title = "the \"old\"",
                     .wealth = 1e300};
}

static const char *text_of(mica_member member)
{
    static char text[2000];
    size_t bytes = mica_value_write(member, text, sizeof text);
    ck_assert_uint_eq(bytes, strlen(text));
    return text;
}

/* Compares as text: padding of a struct that a function returns is arbitrary. */
static bool is_sample(Monster *monster)
{
    char text[2000];
    Monster expected = sample();
    strcpy(text, text_of(mica_member_of(MICA_ID(Monster), monster)));
    return strcmp(text, text_of(mica_member_of(MICA_ID(Monster), &expected))) == 0;
}

START_TEST(a_value_is_written_as_json)
{
    Monster monster = sample();
    ck_assert_str_eq(
        text_of(mica_member_of(MICA_ID(Monster), &monster)),
        "{\"home\": {\"x\": 1, \"y\": 2.5, \"z\": -3}, \"path\": [{\"x\": 1, \"y\": 0, \"z\": 0}, "
        "{\"x\": 2, \"y\": 0, \"z\": 0}, {\"x\": 3, \"y\": 0, \"z\": 0}, {\"x\": 4, \"y\": 0, \"z\": 0.1}], "
        "\"mood\": \"MOOD_ANGRY\", \"skills\": [\"SKILL_SWIM\", \"SKILL_SING\"], \"target\": \"#7:3\", "
        "\"friends\": [null, null], \"title\": \"the \\\"old\\\"\", \"wealth\": 1e300}");
}
END_TEST

/* A path of Monster or Scalars, a text for what is there, and the text that is written afterwards. */
static const struct round_trip {
    const char *path, *text, *again; /* NULL: the same */
} round_trips[] = {
    {"yes", "true", NULL},
    {"yes", " false ", "false"},
    {"letter", "\"q\"", NULL},
    {"letter", "7", NULL},
    {"letter", "65", "\"A\""},
    {"i8", "-128", NULL},
    {"u8", "255", NULL},
    {"i16", "-32768", NULL},
    {"u16", "65535", NULL},
    {"i32", "-2147483648", NULL},
    {"u32", "4294967295", NULL},
    {"i64", "-9223372036854775808", NULL},
    {"i64", "\"9223372036854775807\"", "9223372036854775807"},
    {"u64", "18446744073709551615", NULL},
    {"u64", "\"12\"", "12"},
    {"f32", "0.1", NULL},
    {"f32", "1e2", "100"},
    {"f32", "-0.0", NULL},
    {"f64", "5e-324", NULL},
    {"f64", "\"nan\"", NULL},
    {"f64", "\"inf\"", NULL},
    {"f32", "\"-inf\"", NULL},
    {"f64", "1234567.891E+2", "123456789.1"},
    {"asset", "null", NULL},
    {"asset", "\"#00000000000000ff\"", NULL},
    {"numbers", "[1, 2]", "[1, 2, 0]"},
    {"numbers", "[]", "[0, 0, 0]"},
    {"numbers[2]", "2.5", NULL},
    {"corners[1].y", "9", NULL},
    {"corners", "[[1,2,3],{\"z\":4}]", "[{\"x\": 1, \"y\": 2, \"z\": 3}, {\"x\": 0, \"y\": 0, \"z\": 4}]"},
    {"mood", "\"MOOD_AFRAID\"", NULL},
    {"mood", "5", NULL},
    {"mood", "-1", NULL},
    {"mood", "7", "\"MOOD_ANGRY\""},
    {"skills", "[]", NULL},
    {"skills", "\"SKILL_CLIMB\"", "[\"SKILL_CLIMB\"]"},
    {"skills", "[\"SKILL_SWIM\", \"SKILL_CLIMB\"]", NULL},
    {"skills", "9", NULL},
    {"target", "\"#12:1\"", NULL},
    {"target", "null", NULL},
    {"friends[1]", "\"#4294967295:16777215\"", NULL},
    {"title", "\"fifteen letters\"", NULL},
    {"title", "\"\\u00e4\\n\\ud83d\\ude00\\/\"", "\"\xC3\xA4\\u000a\xF0\x9F\x98\x80/\""},
    {"title", "\"\\u0041\"", "\"A\""},
    {"title", "[\"a\", 98, 0]", "\"ab\""},
    {"home", "{\"z\": 1, \"x\": 2}", "{\"x\": 2, \"y\": 2.5, \"z\": 1}"},
    {"", "{}", NULL},
};

START_TEST(what_is_parsed_is_written_again)
{
    const struct round_trip *row = &round_trips[_i];
    Monster monster = sample();
    Scalars scalars = {0};
    mica_member whole = mica_member_of(MICA_ID(Scalars), &scalars);
    mica_value_error error = {.text = ""};
    mica_member member = mica_member_find(whole, row->path, NULL);
    if (!member.data || !*row->path)
        member = mica_member_find(mica_member_of(MICA_ID(Monster), &monster), row->path, &error);
    ck_assert_msg(member.data != NULL, "%s: %s", row->path, error.text);
    ck_assert_msg(mica_value_parse(member, row->text, &error) == MICA_OK, "%s: %s at %u", row->text, error.text,
                  error.position);
    if (*row->path)
        ck_assert_str_eq(text_of(member), row->again ? row->again : row->text);
    else
        ck_assert(is_sample(&monster));
}
END_TEST

#define TEN "1234567890"

/* A text that is refused, where, and what the message holds. */
static const struct refused {
    const char *path, *text;
    uint32_t position;
    const char *message;
} refused[] = {
    {"home", "{\"x\": 1, \"w\": 2}", 9, "Vec3 has no field \"w\""},
    {"home", "{\"x\": 1 \"y\": 2}", 8, "expected , or }"},
    {"home", "{\"x\" 1}", 5, "expected :"},
    {"home", "{x: 1}", 1, "expected the name of a field"},
    {"home", "{\"x: 1}", 7, "expected the end of the string"},
    {"home", "[1, 2]", 5, "expected all fields of the struct"},
    {"home", "[1, 2, 3, 4]", 8, "expected ] after all fields"},
    {"home", "[1, x, 3]", 4, "expected a number"},
    {"home", "7", 0, "expected an object of fields"},
    {"home", "{} x", 3, "expected the end"},
    {"home.x", "", 0, "expected a number, \"nan\", \"inf\" or \"-inf\", found the end"},
    {"home.x", "1e99", 0, "a number that fits a float"},
    {"home.x", "01", 0, "expected a number"},
    {"home.x", "1.", 0, "expected a number"},
    {"home.x", "1e", 0, "expected a number"},
    {"home.x", "\"one\"", 0, "expected a number"},
    {"home.x", "\"\\q\"", 1, "this is not a character of a string"},
    {"wealth", "1e999", 0, "a number that fits a double"},
    {"path", "[[1,2,3],[1,2,3],[1,2,3],[1,2,3],[1,2,3]]", 0, "there are more than 4 elements"},
    {"path", "{}", 0, "expected an array of at most 4 elements"},
    {"path", "[[1,2,3] [1,2,3]]", 9, "expected , or ]"},
    {"path", "[[1,2,3],[1,2,false]]", 14, "expected a number"},
    {"mood", "\"MOOD_HAPPY\"", 0, "Mood has no constant \"MOOD_HAPPY\""},
    {"mood", "\"\x01\"", 1, "this is not a character of a string"},
    {"mood", "99999999999", 0, "expected an integer from -2147483648 to 4294967295"},
    {"skills", "[\"SKILL_SWIM\" 3]", 14, "expected , or ]"},
    {"skills", "[3]", 1, "expected the name of a constant"},
    {"skills", "[\"SKILL_FLY\"]", 1, "Skills has no constant"},
    {"skills", "true", 0, "expected an array of names of constants, or an integer"},
    {"target", "\"#1\"", 0, "expected null or \"#index:generation\""},
    {"target", "\"#1:2x\"", 0, "expected null or \"#index:generation\""},
    {"target", "\"#-1:2\"", 0, "expected null or"},
    {"target", "\"# 1:2\"", 0, "expected null or"},
    {"target", "\"#4294967296:2\"", 0, "expected null or"},
    {"target", "\"7:2\"", 0, "expected null or"},
    {"target", "5", 0, "expected null or \"#index:generation\""},
    {"target", "\"#1:2", 5, "expected the end of the string"},
    {"title", "\"sixteen letters!\"", 0, "expected a text of at most 15 bytes, found 16"},
    {"title", "\"\\ud800\"", 1, "this is not a character of a string"},
    {"title", "\"\\udc00\"", 1, "this is not a character of a string"},
    {"title", "\"\\ud800\\u0041\"", 1, "this is not a character of a string"},
    {"title", "\"\\u12g4\"", 1, "this is not a character of a string"},
    {"title", "\"\xFF\"", 1, "this is not a character of a string"},
    {"title", "[\"ab\"]", 1, "expected a string of one byte, or an integer"},
    {"title", "[\"a]", 4, "expected the end of the string"},
    {"title", "[256]", 1, "expected an integer from 0 to 255"},
    {"friends", "[null, 1]", 7, "expected null"},
    {"home", "{\"x\": true}", 6, "expected a number"},
    {"mood", "\"" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "\"", 0, "expected a shorter string"},
    {"wealth",
     TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
         TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN,
     0, "expected a number"},
};

START_TEST(a_text_that_is_wrong_changes_nothing_and_is_pointed_at)
{
    const struct refused *row = &refused[_i];
    Monster monster = sample();
    mica_value_error error;
    mica_member member = mica_member_find(mica_member_of(MICA_ID(Monster), &monster), row->path, NULL);
    ck_assert_int_eq(mica_value_parse(member, row->text, &error), MICA_ERROR_INVALID);
    ck_assert_int_eq(error.result, MICA_ERROR_INVALID);
    ck_assert_msg(strstr(error.text, row->message) && error.position == row->position, "%s: %s at %u", row->text,
                  error.text, error.position);
    ck_assert_msg(is_sample(&monster), "%s changed the value", row->text);
    ck_assert_int_eq(mica_value_parse(member, row->text, NULL), MICA_ERROR_INVALID);
}
END_TEST

#define WHOLE(n) {.kind = MICA_KIND_I64, .integer = (n)}
#define STRING(s) {.kind = MICA_KIND_TEXT, .text = (s), .text_bytes = sizeof(s) - 1}

/* Scalars, and the texts that mean the same. */
static const struct {
    mica_scalar scalar;
    const char *text;
} meanings[] = {
    {WHOLE(0), "0"},
    {WHOLE(-1), "-1"},
    {WHOLE(127), "127"},
    {WHOLE(128), "128"},
    {WHOLE(-129), "-129"},
    {WHOLE(256), "256"},
    {WHOLE(65535), "65535"},
    {WHOLE(65536), "65536"},
    {WHOLE(2147483648), "2147483648"},
    {WHOLE(4294967296), "4294967296"},
    {WHOLE(INT64_MAX), "9223372036854775807"},
    {WHOLE(INT64_MIN), "-9223372036854775808"},
    {{.kind = MICA_KIND_U64, .integer = -1}, "18446744073709551615"},
    {{.kind = MICA_KIND_U64, .integer = 5}, "5"},
    {{.kind = MICA_KIND_F64, .real = 0.5}, "0.5"},
    {{.kind = MICA_KIND_F64, .real = 1e39}, "1e39"},
    {{.kind = MICA_KIND_F64, .real = 3}, "3.0"},
    {{.kind = MICA_KIND_BOOL, .integer = 1}, "true"},
    {{.kind = MICA_KIND_BOOL}, "false"},
    {{.kind = MICA_KIND_NONE}, "null"},
    {STRING(""), "\"\""},
    {STRING("q"), "\"q\""},
    {STRING("qq"), "\"qq\""},
    {STRING("12"), "\"12\""},
    {STRING("-12"), "\"-12\""},
    {STRING("0x1F"), "\"0x1F\""},
    {STRING("-0x80"), "\"-0x80\""},
    {STRING(" 12"), "\" 12\""},
    {STRING("12 "), "\"12 \""},
    {STRING("+12"), "\"+12\""},
    {STRING("18446744073709551615"), "\"18446744073709551615\""},
    {STRING("18446744073709551616"), "\"18446744073709551616\""},
    {STRING("-9223372036854775809"), "\"-9223372036854775809\""},
    {STRING("nan"), "\"nan\""},
    {STRING("inf"), "\"inf\""},
    {STRING("-inf"), "\"-inf\""},
    {STRING("MOOD_AFRAID"), "\"MOOD_AFRAID\""},
    {STRING("SKILL_SWIM"), "\"SKILL_SWIM\""},
    {STRING("#12:1"), "\"#12:1\""},
    {STRING("#12:"), "\"#12:\""},
    {STRING("#12"), "\"#12\""},
    {STRING("#"), "\"#\""},
    {STRING("a text that is longer than sixteen letters are"), "\"a text that is longer than sixteen letters are\""},
};

/* Gives one member a scalar and the other, of an equal value, its text. */
static void expect_same_meaning(mica_member by_scalar, mica_member by_text, uint32_t meaning)
{
    mica_value_error said, wanted;
    char before[512];
    ck_assert(mica_value_write(by_scalar, before, sizeof before) < sizeof before);
    mica_result result = mica_value_assign(by_scalar, meanings[meaning].scalar, &said);
    ck_assert_msg(result == mica_value_parse(by_text, meanings[meaning].text, &wanted), "%s: %s: %s", by_scalar.name,
                  meanings[meaning].text, result ? said.text : wanted.text);
    ck_assert_int_eq(mica_value_assign(by_scalar, meanings[meaning].scalar, NULL), result);
    char expected[512];
    mica_value_write(by_text, expected, sizeof expected);
    ck_assert_str_eq(text_of(by_scalar), expected);
    if (result == MICA_OK)
        return;
    ck_assert_str_eq(expected, before);
    ck_assert_int_eq(said.result, MICA_ERROR_INVALID);
    size_t same = strcspn(wanted.text, ",");
    ck_assert_msg(strncmp(said.text, wanted.text, same) == 0, "%s, %s", said.text, wanted.text);
}

START_TEST(a_scalar_is_assigned_as_its_text_is_parsed)
{
    for (uint32_t meaning = 0; meaning < COUNT_OF(meanings); ++meaning) {
        Monster monsters[2] = {sample(), sample()};
        Scalars scalars[2] = {{0}, {0}};
        Person people[2] = {{.age = 0}, {.age = 0}};
        const mica_member wholes[][2] = {
            {mica_member_of(MICA_ID(Scalars), &scalars[0]), mica_member_of(MICA_ID(Scalars), &scalars[1])},
            {mica_member_of(MICA_ID(Monster), &monsters[0]), mica_member_of(MICA_ID(Monster), &monsters[1])},
            {mica_member_of(MICA_ID(Person), &people[0]), mica_member_of(MICA_ID(Person), &people[1])},
        };
        for (uint32_t i = 0; i < COUNT_OF(wholes); ++i)
            for (uint32_t field = 0; field < mica_member_count(wholes[i][0]); ++field)
                expect_same_meaning(mica_member_at(wholes[i][0], field), mica_member_at(wholes[i][1], field), meaning);
        for (uint32_t i = 0; i < 2; ++i)
            mica_text_clear(&people[i].name);
    }
}
END_TEST

START_TEST(a_scalar_that_does_not_fit_is_named)
{
    static const struct {
        const char *path;
        mica_scalar scalar;
        const char *message;
    } rows[] = {
        {"home", {.kind = MICA_KIND_LIST}, "expected an object of fields, found an array"},
        {"home.x", {.kind = MICA_KIND_STRUCT}, "expected a number, \"nan\", \"inf\" or \"-inf\", found an object"},
        {"home.x", {.kind = MICA_KIND_BOOL}, "found false"},
        {"home.x", {.kind = MICA_KIND_NONE}, "found null"},
        {"home.x", STRING("six"), "found \"six\""},
        {"mood", {.kind = MICA_KIND_U64, .integer = -1}, "found 18446744073709551615"},
        {"mood", {.kind = MICA_KIND_F64, .real = 1.5}, "expected the name of a constant, or an integer, found 1.5"},
        {"mood", STRING("MOOD_CALMER"), "Mood has no constant \"MOOD_CALMER\""},
        {"title", STRING("sixteen letters!"), "expected a text of at most 15 bytes, found 16"},
        {"title", WHOLE(5), "expected a string, or an array of at most 16 elements, found 5"},
        {"path", WHOLE(5), "expected an array of at most 4 elements, found 5"},
    };
    mica_value_error error;
    for (uint32_t i = 0; i < COUNT_OF(rows); ++i) {
        Monster monster = sample();
        mica_member member = mica_member_find(mica_member_of(MICA_ID(Monster), &monster), rows[i].path, NULL);
        ck_assert_int_eq(mica_value_assign(member, rows[i].scalar, &error), MICA_ERROR_INVALID);
        ck_assert_msg(strstr(error.text, rows[i].message) && is_sample(&monster), "%s: %s", rows[i].path, error.text);
    }
    Person person = {.age = 0}, other = {.age = 0};
    mica_list_add(&person.scores, float, 1);
    mica_member whole = mica_member_of(MICA_ID(Person), &person), name = mica_member_find(whole, "name", NULL);
    mica_scalar number = WHOLE(5), text = STRING("a text that does not lie in place"), none = {.kind = MICA_KIND_TEXT};
    ck_assert_int_eq(mica_value_assign(name, number, &error), MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "expected a string, or an array of characters, found 5");
    ck_assert_int_eq(mica_value_assign(mica_member_find(whole, "scores", NULL), number, &error), MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "expected an array, found 5");
    ck_assert_int_eq(mica_value_assign((mica_member){0}, number, &error), MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "there is no value");
    ck_assert_int_eq(mica_value_assign(name, none, &error), MICA_ERROR_INVALID);
    text.text_bytes = (size_t)MICA_TEXT_BYTES_MAX + 1;
    ck_assert_int_eq(mica_value_assign(name, text, &error), MICA_ERROR_INVALID);
    ck_assert_str_eq(error.text, "it is longer than text or a list can be");
    text.text_bytes = strlen(text.text);
    micap_heap_limit(0);
    ck_assert_int_eq(mica_value_assign(name, text, &error), MICA_ERROR_MEMORY);
    micap_heap_limit(INT64_MAX);
    ck_assert_uint_eq(mica_text_length(&person.name), 0);
    ck_assert_int_eq(mica_list_copy(&other.scores, float, &person.scores), MICA_OK);
    ck_assert_int_eq(mica_value_assign(mica_member_find(whole, "scores[0]", NULL), number, &error), MICA_ERROR_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "in a list that others share"));
    mica_list_clear(&person.scores, float);
    mica_list_clear(&other.scores, float);
}
END_TEST

START_TEST(scalars_refuse_what_they_are_not)
{
    static const struct refused rows[] = {
        {"yes", "1", 0, "expected true or false"},
        {"u64", "\"12", 3, "expected the end of the string"},
        {"u64", "\"twelve\"", 0, "expected an integer from 0 to"},
        {"asset", "\"#xyz\"", 0, "expected null or"},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); ++i) {
        Scalars scalars = {.u64 = 3};
        mica_value_error error;
        mica_member member = mica_member_find(mica_member_of(MICA_ID(Scalars), &scalars), rows[i].path, NULL);
        ck_assert_int_eq(mica_value_parse(member, rows[i].text, &error), MICA_ERROR_INVALID);
        ck_assert_msg(strstr(error.text, rows[i].message) && error.position == rows[i].position, "%s: %s at %u",
                      rows[i].text, error.text, error.position);
    }
}
END_TEST

START_TEST(what_is_no_text_is_written_as_an_array)
{
    static const struct row {
        char title[16];
        const char *text;
    } rows[] = {
        {"a\xFF\001b", "[\"a\", 255, 1, \"b\", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"},
        {{'s', 'i', 'x', 't', 'e', 'e', 'n', '_', 'l', 'e', 't', 't', 'e', 'r', 's', '!'},
         "[\"s\", \"i\", \"x\", \"t\", \"e\", \"e\", \"n\", \"_\", \"l\", \"e\", \"t\", \"t\", \"e\", \"r\", "
         "\"s\", \"!\"]"},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); ++i) {
        Monster monster = {0};
        mica_member title = mica_member_find(mica_member_of(MICA_ID(Monster), &monster), "title", NULL);
        memcpy(monster.title, rows[i].title, sizeof monster.title);
        ck_assert_str_eq(text_of(title), rows[i].text);
        memset(monster.title, 0, sizeof monster.title);
        ck_assert_int_eq(mica_value_parse(title, rows[i].text, NULL), MICA_OK);
        ck_assert_mem_eq(monster.title, rows[i].title, sizeof monster.title);
    }
}
END_TEST

START_TEST(bytes_of_a_name_that_are_no_characters_are_replaced)
{
    static mica_constant constants[] = {{"a\xFF", 1}};
    static const mica_type type = {.name = "Broken", .size_bytes = 4, .constants = constants, .constant_count = 1};
    int32_t value = 1;
    mica_member member = {&value, "broken", &type, MICA_KIND_ENUM, sizeof value, 0, false, NULL};
    ck_assert_str_eq(text_of(member), "\"a\xEF\xBF\xBD\"");
}
END_TEST

static const struct refused paths[] = {
    {"wings", NULL, 0, "Monster has no field \"wings\""},
    {"home.w", NULL, 5, "Vec3 has no field \"w\""},
    {"home.x.y", NULL, 7, "this is not a struct"},
    {"path.x", NULL, 5, "this is not a struct"},
    {"home[0]", NULL, 4, "this is not an array"},
    {"path[4]", NULL, 4, "there are only 4 elements"},
    {"path[99999999999]", NULL, 15, "expected the position of an element"},
    {"path[]", NULL, 5, "expected the position of an element"},
    {"path[1", NULL, 6, "expected the position of an element"},
    {"path[1]x", NULL, 7, "expected . or ["},
    {"home.", NULL, 5, "expected the name of a field"},
    {".home", NULL, 0, "has no field \"\""},
};

START_TEST(a_path_that_is_wrong_is_pointed_at)
{
    Monster monster = sample();
    mica_value_error error;
    mica_member member = mica_member_find(mica_member_of(MICA_ID(Monster), &monster), paths[_i].path, &error);
    ck_assert(!member.data);
    ck_assert_msg(strstr(error.text, paths[_i].message) && error.position == paths[_i].position, "%s: %s at %u",
                  paths[_i].path, error.text, error.position);
}
END_TEST

/* Visits all members, and returns how many are neither structs nor arrays. */
static uint32_t count_leaves(mica_member member)
{
    uint32_t count = mica_member_count(member), leaves = 0;
    for (uint32_t i = 0; i < count; ++i)
        leaves += count_leaves(mica_member_at(member, i));
    ck_assert(!mica_member_at(member, count).data);
    return count ? leaves : 1;
}

START_TEST(members_are_visited_by_position)
{
    Monster monster = sample();
    mica_member whole = mica_member_of(MICA_ID(Monster), &monster);
    ck_assert_str_eq(whole.name, "Monster");
    ck_assert_uint_eq(mica_member_count(whole), 8);
    ck_assert_str_eq(mica_member_at(whole, 1).name, "path");
    ck_assert_ptr_eq(mica_member_at(mica_member_at(whole, 1), 2).data, &monster.path[2]);
    ck_assert_ptr_null(mica_member_at(mica_member_at(whole, 1), 2).name);
    ck_assert_uint_eq(count_leaves(whole), 3 + 12 + 1 + 1 + 1 + 2 + 16 + 1);
    ck_assert_ptr_eq(mica_member_find(whole, "path[3].z", NULL).data, &monster.path[3].z);
}
END_TEST

START_TEST(what_is_no_member_has_no_text_and_no_members)
{
    Monster monster = sample();
    mica_value_error error;
    mica_member none[] = {mica_member_of(0, &monster), mica_member_of(MICA_ID(Monster), NULL),
                          mica_member_of(MICA_ID(Frozen), &monster), mica_member_of_type(NULL, &monster)};
    char text[8] = "before";
    for (uint32_t i = 0; i < COUNT_OF(none); ++i) {
        ck_assert(!none[i].data && mica_member_count(none[i]) == 0);
        ck_assert_uint_eq(mica_value_write(none[i], text, sizeof text), 0);
        ck_assert_str_eq(text, "");
        ck_assert_int_eq(mica_value_parse(none[i], "1", &error), MICA_ERROR_INVALID);
        ck_assert_str_eq(error.text, "there is no value");
        ck_assert(!mica_member_find(none[i], "x", &error).data);
    }
}
END_TEST

START_TEST(text_that_does_not_fit_is_cut_and_counted)
{
    Monster monster = sample();
    mica_member whole = mica_member_of(MICA_ID(Monster), &monster);
    size_t bytes = mica_value_write(whole, NULL, 0);
    char expected[2000], text[2000];
    mica_value_write(whole, expected, sizeof expected);
    for (size_t capacity = 1; capacity < bytes + 3; ++capacity) {
        memset(text, 'x', sizeof text);
        ck_assert_uint_eq(mica_value_write(whole, text, capacity), bytes);
        size_t kept = capacity - 1 < bytes ? capacity - 1 : bytes;
        ck_assert(strlen(text) == kept && memcmp(text, expected, kept) == 0 && text[capacity] == 'x');
    }
}
END_TEST

START_TEST(random_values_survive_as_text)
{
    random_source random = {5};
    for (uint32_t round = 0; round < 2000; ++round) {
        union {
            Scalars value;
            unsigned char bytes[sizeof(Scalars)];
        } from, to = {.bytes = {0}};
        for (size_t i = 0; i < sizeof from; ++i)
            from.bytes[i] = (unsigned char)random_u32(&random);
        from.bytes[offsetof(Scalars, yes)] &= 1;
        char text[2000], again[2000];
        mica_value_error error = {.text = ""};
        mica_value_write(mica_member_of(MICA_ID(Scalars), &from), text, sizeof text);
        ck_assert_msg(mica_value_parse(mica_member_of(MICA_ID(Scalars), &to), text, &error) == MICA_OK, "%s: %s at %u",
                      text, error.text, error.position);
        mica_value_write(mica_member_of(MICA_ID(Scalars), &to), again, sizeof again);
        ck_assert_str_eq(text, again);
        ck_assert(from.value.u64 == to.value.u64 && from.value.i16 == to.value.i16);
    }
}
END_TEST

static const char person_text[] =
    "{\"name\": \"a name that does not lie in place\", \"age\": 0, \"inventory\": [{\"name\": \"rope\", \"count\": 2, "
    "\"tags\": [\"long\", \"a tag that does not lie in place\"], \"place\": {\"x\": 0, \"y\": 1.5, \"z\": 0}}], "
    "\"scores\": [1, 2.5], \"friends\": [\"#3:4\", null], \"titles\": [\"Dr\", \"\"], \"moods\": [[], "
    "[\"MOOD_ANGRY\"]]}";

static void expect_person(Person *person, const char *expected)
{
    char text[2000];
    mica_value_write(mica_member_of(MICA_ID(Person), person), text, sizeof text);
    ck_assert_str_eq(text, expected);
}

static void drop_person(Person *person)
{
    const mica_type *type = mica_component_type(MICA_ID(Person));
    type->destruct(person, 1, type->context);
}

START_TEST(text_and_lists_are_written_and_parsed)
{
    Person person = {.age = 0};
    mica_value_error error;
    mica_member whole = mica_member_of(MICA_ID(Person), &person);
    ck_assert_int_eq(mica_value_parse(whole, person_text, &error), MICA_OK);
    expect_person(&person, person_text);
    ck_assert_int_eq(mica_value_parse(whole, "{\"titles\": [\"Prof\"], \"scores\": []}", &error), MICA_OK);
    ck_assert(mica_text_is(&person.titles[0], "Prof") && !mica_list_count(&person.scores));

    /* By path. */
    ck_assert_uint_eq(mica_member_count(mica_member_find(whole, "inventory", NULL)), 1);
    mica_member name = mica_member_write(whole, "inventory[0].tags[1]", &error);
    ck_assert_int_eq(mica_value_parse(name, "\"another tag, \\u00e4, of some length\"", &error), MICA_OK);
    const Thing *things = mica_list_items(&person.inventory, Thing);
    ck_assert_str_eq(mica_text_get(&mica_list_items(&things[0].tags, mica_text)[1]),
                     "another tag, \xC3\xA4, of some length");
    ck_assert_int_eq(mica_value_parse(mica_member_write(whole, "inventory[0].count", &error), "7", &error), MICA_OK);
    ck_assert_uint_eq(mica_list_items(&person.inventory, Thing)[0].count, 7);
    ck_assert(!mica_member_find(whole, "inventory[1]", &error).data &&
              strcmp(error.text, "there are only 1 elements") == 0);
    ck_assert(!mica_member_find(whole, "name[0]", &error).data && strcmp(error.text, "this is not an array") == 0);
    drop_person(&person);
}
END_TEST

START_TEST(elements_that_are_shared_are_copied_before_they_are_written)
{
    Person person = {.age = 0};
    mica_value_error error;
    mica_member whole = mica_member_of(MICA_ID(Person), &person);
    mica_value_parse(whole, person_text, NULL);
    mica_list shared = {0};
    mica_list_copy(&shared, Thing, &person.inventory);
    mica_member count = mica_member_find(whole, "inventory[0].count", &error);
    ck_assert(count.is_read_only);
    ck_assert_int_eq(mica_value_parse(count, "9", &error), MICA_ERROR_INVALID);
    ck_assert_ptr_null(
        mica_member_write(mica_member_at(mica_member_find(whole, "inventory", NULL), 0), "count", &error).data);
    micap_heap_limit(0);
    ck_assert_ptr_null(mica_member_write(whole, "inventory[0].count", &error).data);
    ck_assert_int_eq(error.result, MICA_ERROR_MEMORY);
    ck_assert_ptr_null(mica_member_write(whole, "inventory[0].count", NULL).data);
    micap_heap_limit(INT64_MAX);
    ck_assert_int_eq(mica_value_parse(mica_member_write(whole, "inventory[0].count", &error), "9", &error), MICA_OK);
    ck_assert_uint_eq(mica_list_items(&shared, Thing)[0].count, 2);
    ck_assert_uint_eq(mica_list_items(&person.inventory, Thing)[0].count, 9);
    mica_list_clear(&shared, Thing);
    drop_person(&person);
}
END_TEST

START_TEST(text_that_is_not_utf8_is_an_array)
{
    Diary diary = {0}, copy = {0};
    char text[200];
    mica_text_set_bytes(&diary.title, "a\0\xFFz", 4);
    mica_value_write(mica_member_of(MICA_ID(Diary), &diary), text, sizeof text);
    ck_assert_str_eq(text, "{\"title\": [\"a\", 0, 255, \"z\"], \"pages\": []}");
    ck_assert_int_eq(mica_value_parse(mica_member_of(MICA_ID(Diary), &copy), text, NULL), MICA_OK);
    ck_assert_int_eq(mica_text_compare(&diary.title, &copy.title), 0);
    mica_text_set_bytes(&diary.title, "a\0b", 3);
    mica_value_write(mica_member_of(MICA_ID(Diary), &diary), text, sizeof text);
    ck_assert_str_eq(text, "{\"title\": \"a\\u0000b\", \"pages\": []}");
}
END_TEST

static const struct {
    const char *text;
    uint32_t position;
} wrong_people[] = {
    {"{\"name\": 7}", 9},
    {"{\"name\": [\"a\" 7]}", 14},
    {"{\"name\": [\"ab\"]}", 10},
    {"{\"name\": \"open}", 15},
    {"{\"inventory\": {}}", 14},
    {"{\"inventory\": [{} {}]}", 18},
    {"{\"scores\": [1, \"x\"]}", 15},
    {"{\"inventory\": [{\"no\": 1}]}", 16},
    {"{\"moods\": [[7], [], []]}", 10},
};

START_TEST(wrong_text_and_lists_change_nothing_and_are_pointed_at)
{
    Person person = {.age = 0};
    mica_value_error error;
    mica_value_parse(mica_member_of(MICA_ID(Person), &person), person_text, NULL);
    mica_result result = mica_value_parse(mica_member_of(MICA_ID(Person), &person), wrong_people[_i].text, &error);
    ck_assert_int_eq(result, MICA_ERROR_INVALID);
    ck_assert_msg(error.position == wrong_people[_i].position, "%s: %s at %u", wrong_people[_i].text, error.text,
                  error.position);
    expect_person(&person, person_text);
    drop_person(&person);
}
END_TEST

START_TEST(without_memory_for_text_and_lists_the_value_stays_as_it_is)
{
    Person person = {.age = 0};
    mica_value_error error;
    mica_member whole = mica_member_of(MICA_ID(Person), &person);
    mica_text_set(&person.name, "a person with another name");
    mica_result result = MICA_ERROR_MEMORY;
    char before[500];
    mica_value_write(whole, before, sizeof before);
    for (int64_t limit = 0; result != MICA_OK; ++limit) {
        micap_heap_limit(limit);
        result = mica_value_parse(whole, person_text, limit % 2 ? &error : NULL);
        micap_heap_limit(INT64_MAX);
        ck_assert(result == MICA_OK || result == MICA_ERROR_MEMORY);
        expect_person(&person, result == MICA_OK ? person_text : before);
    }
    drop_person(&person);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("value");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, a_value_is_written_as_json);
    tcase_add_loop_test(cases, what_is_parsed_is_written_again, 0, (int)COUNT_OF(round_trips));
    tcase_add_loop_test(cases, a_text_that_is_wrong_changes_nothing_and_is_pointed_at, 0, (int)COUNT_OF(refused));
    tcase_add_loop_test(cases, a_path_that_is_wrong_is_pointed_at, 0, (int)COUNT_OF(paths));
    tcase_add_test(cases, scalars_refuse_what_they_are_not);
    tcase_add_test(cases, what_is_no_text_is_written_as_an_array);
    tcase_add_test(cases, bytes_of_a_name_that_are_no_characters_are_replaced);
    tcase_add_test(cases, members_are_visited_by_position);
    tcase_add_test(cases, what_is_no_member_has_no_text_and_no_members);
    tcase_add_test(cases, text_that_does_not_fit_is_cut_and_counted);
    tcase_add_test(cases, random_values_survive_as_text);
    tcase_add_test(cases, a_scalar_is_assigned_as_its_text_is_parsed);
    tcase_add_test(cases, a_scalar_that_does_not_fit_is_named);
    tcase_add_test(cases, text_and_lists_are_written_and_parsed);
    tcase_add_test(cases, elements_that_are_shared_are_copied_before_they_are_written);
    tcase_add_test(cases, text_that_is_not_utf8_is_an_array);
    tcase_add_loop_test(cases, wrong_text_and_lists_change_nothing_and_are_pointed_at, 0, (int)COUNT_OF(wrong_people));
    tcase_add_test(cases, without_memory_for_text_and_lists_the_value_stays_as_it_is);
    return test_run("value", cases);
}
