/* Layouts that changed since the file was written: field by field, by name, or an error that says so. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/draft.h"

#include <string.h>

static reports heard;

enum { COUNT = 700 };

/* Writes instances of a type that is called "Thing" in the file and spawns them into a world that knows another one. */
static mica_result spawn_thing(mica_world *world, const mica_type *old, mica_type *now, const void *instance,
                               mica_entity *out_entities)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t part = mica_draft_component(draft, &(mica_draft_component_def){.type = old, .name = "Thing"});
    for (uint32_t i = 0; i < COUNT; ++i)
        memcpy(mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, NULL), part), instance, old->size_bytes);
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_OK);
    mica_draft_destroy(draft);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, NULL);
    ck_assert_ptr_nonnull(resource);
    now->name = "Thing";
    ck_assert(mica_component_define(world, now));
    mica_result result =
        mica_spawn(world, resource, &(mica_spawn_def){.out_entities = out_entities, .out_capacity = COUNT});
    mica_resource_free(resource);
    mica_blob_free(&blob);
    return result;
}

typedef struct Old { uint8_t small; int16_t signed_; float real; uint32_t dropped; Vec3 location; char text[4]; int8_t tiny; } Old;
MICA_COMPONENT(Old, small, signed_, real, dropped, (location, Vec3), text, tiny)

typedef struct WidePlace { double y; float x; float added; } WidePlace;
MICA_STRUCT(WidePlace, y, x, added)
typedef struct New {
    WidePlace location;
    uint64_t small;
    char text[9];
    int64_t signed_;
    double real;
    float tiny;
    mica_entity fresh;
    uint32_t filler;
} New;
MICA_COMPONENT(New, (location, WidePlace), small, text, signed_, real, tiny, fresh, filler)

static bool seven_construct(void *values, uint32_t count, void *context)
{
    (void)context;
    memset(values, 7, count * sizeof(New));
    return true;
}

static void expect_migrated(bool constructed)
{
    mica_world *world = open_world(&heard);
    mica_type now = mica_type_of_New;
    now.construct = constructed ? seven_construct : NULL;
    Old old = {200, -300, 1.5f, 9, {1, 2, 3}, "abc", -5};
    static mica_entity entities[COUNT];
    ck_assert_int_eq(spawn_thing(world, &mica_type_of_Old, &now, &old, entities), MICA_OK);
    for (uint32_t i = 0; i < COUNT; ++i) {
        const New *value = mica_get_id(world, entities[i], mica_component_find(world, "Thing"));
        ck_assert(value->small == 200 && value->signed_ == -300 && value->real == 1.5 && value->tiny == -5);
        ck_assert(value->location.x == 1 && value->location.y == 2 && memcmp(value->text, "abc", 4) == 0);
        ck_assert_uint_eq(value->filler, constructed ? 0x07070707 : 0);
        ck_assert_int_eq(value->text[8], constructed ? 7 : 0);
    }
    close_world(world, &heard);
}

START_TEST(fields_are_matched_by_name_and_numbers_become_wider)
{
    expect_migrated(false);
}
END_TEST

START_TEST(new_fields_get_what_the_construct_function_gives_them)
{
    expect_migrated(true);
}
END_TEST

typedef enum OldMood { OLD_CALM, OLD_ANGRY, OLD_GONE } OldMood;
static const mica_constant old_moods[] = {{"CALM", 0}, {"ANGRY", 1}, {"GONE", 2}};
static const mica_constant new_moods[] = {{"ANGRY", 50}, {"CALM", 60}};
static const mica_constant old_bits[] = {{"SWIM", 1}, {"CLIMB", 2}, {"LOST", 4}};
static const mica_constant new_bits[] = {{"CLIMB", 1}, {"SWIM", 64}};
static mica_type old_mood = {.name = "Mood",
                             .kind = MICA_KIND_ENUM,
                             .size_bytes = 1,
                             .alignment = 1,
                             .constants = old_moods,
                             .constant_count = 3};
static mica_type new_mood = {.name = "Mood",
                             .kind = MICA_KIND_ENUM,
                             .size_bytes = 4,
                             .alignment = 4,
                             .constants = new_moods,
                             .constant_count = 2};
static mica_type old_skill = {.name = "Skill",
                              .kind = MICA_KIND_FLAGS,
                              .size_bytes = 1,
                              .alignment = 1,
                              .constants = old_bits,
                              .constant_count = 3};
static mica_type new_skill = {.name = "Skill",
                              .kind = MICA_KIND_FLAGS,
                              .size_bytes = 2,
                              .alignment = 2,
                              .constants = new_bits,
                              .constant_count = 2};

typedef struct OldFeeling { uint8_t mood, skill; } OldFeeling;
typedef struct NewFeeling { uint32_t mood; uint16_t skill; } NewFeeling;
static const mica_field old_feelings[] = {
    {.name = "mood", .type = &old_mood, .offset = 0, .element_bytes = 1, .count = 1},
    {.name = "skill", .type = &old_skill, .offset = 1, .element_bytes = 1, .count = 1},
};
static const mica_field new_feelings[] = {
    {.name = "skill", .type = &new_skill, .offset = 4, .element_bytes = 2, .count = 1},
    {.name = "mood", .type = &new_mood, .offset = 0, .element_bytes = 4, .count = 1},
};
static mica_type old_feeling = {.name = "Feeling",
                                .kind = MICA_KIND_STRUCT,
                                .size_bytes = 2,
                                .alignment = 1,
                                .fields = old_feelings,
                                .field_count = 2};
static mica_type new_feeling = {.name = "Feeling",
                                .kind = MICA_KIND_STRUCT,
                                .size_bytes = 8,
                                .alignment = 4,
                                .fields = new_feelings,
                                .field_count = 2};

START_TEST(constants_are_matched_by_name)
{
    static const struct feeling_case {
        OldFeeling old;
        NewFeeling now;
    } cases[] = {
        {{0, 0}, {60, 0}}, {{1, 1}, {50, 64}}, {{2, 3}, {2, 65}}, {{9, 4}, {9, 0}}, {{1, 128 | 2}, {50, 128 | 1}},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        mica_world *world = open_world(&heard);
        mica_type now = new_feeling;
        static mica_entity entities[COUNT];
        ck_assert_int_eq(spawn_thing(world, &old_feeling, &now, &cases[i].old, entities), MICA_OK);
        const NewFeeling *value = mica_get_id(world, entities[0], mica_component_find(world, "Thing"));
        ck_assert_uint_eq(value->mood, cases[i].now.mood);
        ck_assert_uint_eq(value->skill, cases[i].now.skill);
        close_world(world, &heard);
    }
}
END_TEST

/* One field that can't be converted each. */
static mica_type one_field(const char *name, mica_kind kind, uint32_t bytes, uint32_t count, mica_field *field)
{
    *field = (mica_field){.name = "value", .element_bytes = bytes, .count = count, .kind = kind};
    return (mica_type){.name = name,
                       .kind = MICA_KIND_STRUCT,
                       .size_bytes = bytes * count,
                       .alignment = 1,
                       .fields = field,
                       .field_count = 1};
}

static const struct refusal {
    mica_kind from;
    uint32_t from_bytes, from_count;
    mica_kind to;
    uint32_t to_bytes, to_count;
    const char *fragment; /* NULL: it works */
} refusals[] = {
    {MICA_KIND_U32, 4, 1, MICA_KIND_U16, 2, 1, "field value is u32 (4 bytes) in the file and u16 (2 bytes)"},
    {MICA_KIND_U32, 4, 1, MICA_KIND_I32, 4, 1, "is u32 (4 bytes) in the file and i32"},
    {MICA_KIND_I8, 1, 1, MICA_KIND_U64, 8, 1, "is i8 (1 bytes) in the file and u64"},
    {MICA_KIND_I32, 4, 1, MICA_KIND_F32, 4, 1, "is i32 (4 bytes) in the file and f32"},
    {MICA_KIND_I64, 8, 1, MICA_KIND_F64, 8, 1, "is i64 (8 bytes) in the file and f64"},
    {MICA_KIND_F64, 8, 1, MICA_KIND_F32, 4, 1, "is f64 (8 bytes) in the file and f32"},
    {MICA_KIND_F32, 4, 1, MICA_KIND_I64, 8, 1, "is f32 (4 bytes) in the file and i64"},
    {MICA_KIND_BOOL, 1, 1, MICA_KIND_U8, 1, 1, "is bool (1 bytes) in the file and u8"},
    {MICA_KIND_U8, 1, 1, MICA_KIND_BOOL, 1, 1, "is u8 (1 bytes) in the file and bool"},
    {MICA_KIND_ENTITY, 8, 1, MICA_KIND_U64, 8, 1, "is entity (8 bytes) in the file and u64"},
    {MICA_KIND_U8, 1, 4, MICA_KIND_U8, 1, 3, "has 4 elements in the file and 3 in the program"},
    {MICA_KIND_U32, 4, 1, MICA_KIND_I64, 8, 1, NULL},
    {MICA_KIND_U32, 4, 1, MICA_KIND_F64, 8, 1, NULL},
    {MICA_KIND_I16, 2, 2, MICA_KIND_F32, 4, 5, NULL},
};

START_TEST(what_would_lose_something_is_refused_and_says_so)
{
    for (uint32_t i = 0; i < COUNT_OF(refusals); ++i) {
        mica_world *world = open_world(&heard);
        mica_field from, to;
        mica_type old = one_field("Old", refusals[i].from, refusals[i].from_bytes, refusals[i].from_count, &from);
        mica_type now = one_field("Now", refusals[i].to, refusals[i].to_bytes, refusals[i].to_count, &to);
        char zero[64] = {0};
        mica_result result = spawn_thing(world, &old, &now, zero, NULL);
        ck_assert_int_eq(result, refusals[i].fragment ? MICA_ERROR_LAYOUT : MICA_OK);
        if (refusals[i].fragment)
            expect_report(&heard, MICA_ERROR_LAYOUT, refusals[i].fragment);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, refusals[i].fragment ? 0 : COUNT);
        close_world(world, &heard);
    }
}
END_TEST

/* Numbers of every width, read and written back as what their kind says. */
static void put_number(void *at, mica_kind kind, int64_t value)
{
    const float narrow = (float)value;
    const double real = (double)value;
    switch (kind) {
    case MICA_KIND_I8: *(int8_t *)at = (int8_t)value; break;
    case MICA_KIND_U8: *(uint8_t *)at = (uint8_t)value; break;
    case MICA_KIND_I16: memcpy(at, &(int16_t){(int16_t)value}, 2); break;
    case MICA_KIND_U16: memcpy(at, &(uint16_t){(uint16_t)value}, 2); break;
    case MICA_KIND_I32: memcpy(at, &(int32_t){(int32_t)value}, 4); break;
    case MICA_KIND_U32: memcpy(at, &(uint32_t){(uint32_t)value}, 4); break;
    case MICA_KIND_F32: memcpy(at, &narrow, 4); break;
    case MICA_KIND_F64: memcpy(at, &real, 8); break;
    default: memcpy(at, &value, 8); break;
    }
}

static const struct widening {
    mica_kind from;
    uint32_t from_bytes;
    mica_kind to;
    uint32_t to_bytes;
    int64_t value;
} widenings[] = {
    {MICA_KIND_I8, 1, MICA_KIND_I16, 2, -100},        {MICA_KIND_U8, 1, MICA_KIND_I16, 2, 200},
    {MICA_KIND_I16, 2, MICA_KIND_I32, 4, -30000},     {MICA_KIND_U16, 2, MICA_KIND_U32, 4, 60000},
    {MICA_KIND_I32, 4, MICA_KIND_I64, 8, INT32_MIN},  {MICA_KIND_U32, 4, MICA_KIND_I64, 8, UINT32_MAX},
    {MICA_KIND_U16, 2, MICA_KIND_F32, 4, 60000},      {MICA_KIND_I16, 2, MICA_KIND_F32, 4, -30000},
    {MICA_KIND_U32, 4, MICA_KIND_F64, 8, UINT32_MAX}, {MICA_KIND_I32, 4, MICA_KIND_F64, 8, INT32_MIN},
    {MICA_KIND_F32, 4, MICA_KIND_F64, 8, -17},
};

START_TEST(numbers_keep_their_values_when_they_become_wider)
{
    for (uint32_t i = 0; i < COUNT_OF(widenings); ++i) {
        mica_world *world = open_world(&heard);
        mica_field from, to;
        mica_type old = one_field("Old", widenings[i].from, widenings[i].from_bytes, 1, &from);
        mica_type now = one_field("Now", widenings[i].to, widenings[i].to_bytes, 1, &to);
        char before[8] = {0}, expected[8] = {0};
        put_number(before, widenings[i].from, widenings[i].value);
        put_number(expected, widenings[i].to, widenings[i].value);
        static mica_entity entities[COUNT];
        ck_assert_int_eq(spawn_thing(world, &old, &now, before, entities), MICA_OK);
        const void *value = mica_get_id(world, entities[0], mica_component_find(world, "Thing"));
        ck_assert_msg(memcmp(value, expected, widenings[i].to_bytes) == 0, "widening %u", i);
        close_world(world, &heard);
    }
}
END_TEST

static const mica_constant byte_moods[] = {{"CALM", 0}, {"ANGRY", 200}}, other_moods[] = {{"CALM", 7}, {"ANGRY", 9}};
static const mica_constant signed_moods[] = {{"LOST", -1}, {"CALM", 0}}, no_bits[] = {{"NONE", 0}, {"SWIM", 2}};
static const mica_constant more_moods[] = {{"ANGRY", 200}, {"CALM", 0}, {"GLAD", 3}};

/* One enum or flags field: how its type looked, and looks. A value is given and expected as a number. */
static const struct renaming {
    mica_kind kind;
    const mica_constant *from;
    uint32_t from_bytes;
    const mica_constant *to;
    uint32_t to_bytes, to_count;
    int64_t value, expected;
} renamings[] = {
    {MICA_KIND_ENUM, byte_moods, 1, more_moods, 1, 3, 200, 200}, /* nothing to match */
    {MICA_KIND_ENUM, byte_moods, 1, more_moods, 4, 3, 200, 200}, /* what is beyond 127 is not negative */
    {MICA_KIND_ENUM, byte_moods, 1, more_moods, 4, 3, 130, 130},
    {MICA_KIND_ENUM, byte_moods, 1, other_moods, 1, 2, 200, 9},
    {MICA_KIND_ENUM, byte_moods, 8, other_moods, 8, 2, 200, 9},
    {MICA_KIND_ENUM, signed_moods, 1, signed_moods, 4, 2, -1, -1},
    {MICA_KIND_ENUM, signed_moods, 2, signed_moods, 8, 2, -1, -1},
    {MICA_KIND_ENUM, signed_moods, 2, other_moods, 4, 2, 0, 7},
    {MICA_KIND_FLAGS, no_bits, 1, no_bits, 2, 2, 2 | 128, 2 | 128},
    {MICA_KIND_FLAGS, no_bits, 1, old_bits, 4, 2, 2, 1},
    {MICA_KIND_ENUM, byte_moods, 4, byte_moods, 2, 2, 0, INT64_MIN}, /* narrower: refused */
};

START_TEST(constants_of_every_width_are_matched)
{
    for (uint32_t i = 0; i < COUNT_OF(renamings); ++i) {
        const struct renaming *row = &renamings[i];
        mica_world *world = open_world(&heard);
        mica_type from_type = {.name = "Kind",
                               .kind = row->kind,
                               .size_bytes = row->from_bytes,
                               .alignment = 1,
                               .constants = row->from,
                               .constant_count = 2};
        mica_type to_type = from_type;
        to_type.size_bytes = row->to_bytes;
        to_type.constants = row->to;
        to_type.constant_count = row->to_count;
        mica_field from, to;
        mica_type old = one_field("Old", row->kind, row->from_bytes, 1, &from);
        mica_type now = one_field("Now", row->kind, row->to_bytes, 1, &to);
        from.type = &from_type;
        to.type = &to_type;
        now.alignment = now.size_bytes;
        static const mica_kind kinds[] = {0, MICA_KIND_I8, MICA_KIND_I16, 0, MICA_KIND_I32, 0, 0, 0, MICA_KIND_I64};
        char before[8] = {0}, expected[8] = {0};
        put_number(before, kinds[row->from_bytes], row->value);
        put_number(expected, kinds[row->to_bytes], row->expected);
        static mica_entity entities[COUNT];
        bool is_refused = row->expected == INT64_MIN;
        ck_assert_int_eq(spawn_thing(world, &old, &now, before, entities), is_refused ? MICA_ERROR_LAYOUT : MICA_OK);
        if (is_refused)
            expect_report(&heard, MICA_ERROR_LAYOUT, "is enum (4 bytes) in the file and enum (2 bytes)");
        else
            ck_assert_msg(memcmp(mica_get_id(world, entities[0], mica_component_find(world, "Thing")), expected,
                                 row->to_bytes) == 0,
                          "renaming %u", i);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(what_is_wrong_inside_of_a_struct_is_found)
{
    mica_field narrow_field, wide_field;
    mica_type wide = one_field("Inner", MICA_KIND_U32, 4, 1, &wide_field);
    mica_type narrow = one_field("Inner", MICA_KIND_U16, 2, 1, &narrow_field);
    mica_field from = {.name = "inner", .type = &wide, .element_bytes = 4, .count = 2};
    mica_field to = {.name = "inner", .type = &narrow, .element_bytes = 2, .count = 2};
    mica_type old = {.name = "Old", .kind = MICA_KIND_STRUCT, .size_bytes = 8, .alignment = 1, .fields = &from};
    mica_type now = {.name = "Now", .kind = MICA_KIND_STRUCT, .size_bytes = 8, .alignment = 1, .fields = &to};
    old.field_count = now.field_count = 1;
    const char zero[8] = {0};
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(spawn_thing(world, &old, &now, zero, NULL), MICA_ERROR_LAYOUT);
    expect_report(&heard, MICA_ERROR_LAYOUT, "field value is u32 (4 bytes) in the file and u16 (2 bytes)");
    close_world(world, &heard);
    to = (mica_field){.name = "inner", .kind = MICA_KIND_U32, .element_bytes = 4, .count = 2};
    world = open_world(&heard);
    ck_assert_int_eq(spawn_thing(world, &old, &now, zero, NULL), MICA_ERROR_LAYOUT);
    expect_report(&heard, MICA_ERROR_LAYOUT, "field inner is struct (4 bytes) in the file and u32");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_that_became_a_tag_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_type tag = {.name = "Thing", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    Number number = {1};
    ck_assert_int_eq(spawn_thing(world, &mica_type_of_Number, &tag, &number, NULL), MICA_ERROR_LAYOUT);
    expect_report(&heard, MICA_ERROR_LAYOUT, "Thing is a component with data in the file and a tag in the program");
    close_world(world, &heard);
}
END_TEST

/* Arrays that became lists, text that became an array of char, and the other way round; elements that changed. */
typedef struct Then {
    char name[16];
    char full[4]; /* without a zero byte */
    float scores[3];
    Vec3 places[2];
    mica_text title;
    mica_text lines[2];
    mica_list few;
    mica_list points;
    mica_list same;
    mica_list friends;
    mica_list words;
    mica_entity target;
    mica_list moods;
} Then;
MICA_COMPONENT(Then, name, full, scores, (places, Vec3), title, lines, (few, uint16_t), (points, Vec3), (same, Vec3),
               (friends, mica_entity), (words, mica_text), target, (moods, Mood))

typedef struct Now {
    mica_text name;
    mica_text full;
    mica_list scores;
    mica_list places;
    char title[16];
    mica_list lines;
    uint32_t few[4];
    mica_list points;
    mica_list same;
    mica_list friends;
    mica_text words[3];
    mica_list target;
    mica_text added;
    mica_list moods;
} Now;
MICA_COMPONENT(Now, name, full, (scores, double), (places, WidePlace), title, (lines, mica_text), few,
               (points, WidePlace), (same, Vec3), (friends, mica_entity), words, (target, mica_entity), added,
               (moods, Mood))

static const char long_text[] = "a text that is longer than what lies in place";

/* A file with one Thing of the old layout, which takes over what the value owns. */
static mica_resource *write_then(const mica_type *type, const void *value, mica_storage storage, mica_blob *out_blob)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t part =
        mica_draft_component(draft, &(mica_draft_component_def){.type = type, .name = "Thing", .storage = storage});
    memcpy(mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, "thing"), part), value, type->size_bytes);
    ck_assert_int_eq(mica_draft_finish(draft, NULL, out_blob), MICA_OK);
    mica_draft_destroy(draft);
    mica_resource *resource = mica_resource_open(out_blob->bytes, out_blob->byte_count, NULL, NULL);
    ck_assert_ptr_nonnull(resource);
    return resource;
}

static mica_result spawn_then(mica_world *world, const mica_type *old, mica_type now, const void *value)
{
    mica_blob blob;
    mica_resource *resource = write_then(old, value, now.storage, &blob);
    now.name = "Thing";
    ck_assert(mica_component_define(world, &now));
    mica_result result = mica_spawn(world, resource, NULL);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    return result;
}

START_TEST(arrays_become_lists_and_text_and_the_other_way_round)
{
    mica_world *world = open_world(&heard);
    Then then = {.name = "fifteen letters",
                 .full = {'f', 'u', 'l', 'l'},
                 .scores = {1, 2.5f, -3},
                 .places = {{1, 2, 3}, {4, 5, 6}},
                 .title = mica_text_of("a short title"),
                 .target = {0, 1},
                 .lines = {mica_text_of(long_text), mica_text_of("b")}};
    mica_list_add(&then.few, uint16_t, 7, 65535);
    mica_list_add(&then.points, Vec3, {7, 8, 9});
    mica_list_add(&then.same, Vec3, {1, 1, 1});
    mica_list_add(&then.friends, mica_entity, {0, 1}, {0});
    mica_list_add(&then.words, mica_text, mica_text_of(long_text));
    mica_list_add(&then.moods, Mood, MOOD_ANGRY);
    ck_assert_int_eq(spawn_then(world, &mica_type_of_Then, mica_type_of_Now, &then), MICA_OK);
    mica_entity entity = mica_find(world, "thing");
    const Now *now = mica_get_id(world, entity, mica_component_find(world, "Thing"));
    ck_assert(mica_text_is(&now->name, "fifteen letters") && mica_text_is(&now->full, "full"));
    ck_assert_uint_eq(mica_list_count(&now->scores), 3);
    ck_assert_double_eq(mica_list_items(&now->scores, double)[1], 2.5);
    ck_assert_uint_eq(mica_list_count(&now->places), 2);
    ck_assert_double_eq(mica_list_items(&now->places, WidePlace)[1].y, 5);
    ck_assert_str_eq(now->title, "a short title");
    ck_assert(mica_text_is(&mica_list_items(&now->lines, mica_text)[0], long_text));
    ck_assert(now->few[0] == 7 && now->few[1] == 65535 && now->few[2] == 0);
    ck_assert_double_eq(mica_list_items(&now->points, WidePlace)[0].y, 8);
    ck_assert_float_eq(mica_list_items(&now->same, Vec3)[0].z, 1);
    ck_assert(mica_same(mica_list_items(&now->friends, mica_entity)[0], entity));
    ck_assert(mica_is_nil(mica_list_items(&now->friends, mica_entity)[1]));
    ck_assert(mica_text_is(&now->words[0], long_text) && mica_text_length(&now->words[1]) == 0);
    ck_assert(mica_same(mica_list_items(&now->target, mica_entity)[0], entity));
    ck_assert_int_eq(mica_list_items(&now->moods, Mood)[0], MOOD_ANGRY);
    close_world(world, &heard);
}
END_TEST

typedef struct Texts { mica_text value; } Texts;
MICA_COMPONENT(Texts, value)
typedef struct Letters4 { char value[4]; } Letters4;
MICA_COMPONENT(Letters4, value)
typedef struct Reals { mica_list value; } Reals;
MICA_COMPONENT(Reals, (value, float))
typedef struct Wholes { mica_list value; } Wholes;
MICA_COMPONENT(Wholes, (value, uint16_t))
typedef struct Two { float value[2]; } Two;
MICA_COMPONENT(Two, value)
typedef struct ManyTexts { mica_text value[2]; } ManyTexts;
MICA_COMPONENT(ManyTexts, value)
typedef struct ManyLists { mica_list value[2]; } ManyLists;
MICA_COMPONENT(ManyLists, (value, float))
typedef struct Nested { ManyLists value; } Nested;
MICA_COMPONENT(Nested, (value, ManyLists))

static const struct content_refusal {
    const mica_type *from;
    const mica_type *to;
    const char *fragment;
} content_refusals[] = {
    {&mica_type_of_Texts, &mica_type_of_Letters4, "field value is longer in the file"},
    {&mica_type_of_Reals, &mica_type_of_Two, "field value is longer in the file"},
    {&mica_type_of_Reals, &mica_type_of_Wholes, "is f32 (4 bytes) in the file and u16"},
    {&mica_type_of_Texts, &mica_type_of_Reals, "is text (16 bytes) in the file and f32"},
    {&mica_type_of_Reals, &mica_type_of_Texts, "is f32 (4 bytes) in the file and text"},
    {&mica_type_of_ManyTexts, &mica_type_of_Texts, "has 2 elements in the file and 1 in the program"},
    {&mica_type_of_ManyLists, &mica_type_of_Reals, "has 2 elements in the file and 1 in the program"},
    {&mica_type_of_ManyTexts, &mica_type_of_Letters4, "is text (16 bytes) in the file and char"},
    {&mica_type_of_ManyLists, &mica_type_of_Two, "is list (8 bytes) in the file and f32"},
    {&mica_type_of_Nested, &mica_type_of_Reals, "is struct (16 bytes) in the file and f32"},
};

START_TEST(text_and_lists_that_do_not_fit_are_refused)
{
    for (uint32_t i = 0; i < COUNT_OF(content_refusals); ++i)
        for (uint32_t k = 0; k < 2; ++k) {
            const struct content_refusal *row = &content_refusals[i];
            mica_world *world = open_world(&heard);
            ManyTexts value = {0};
            if (row->from->fields[0].kind == MICA_KIND_LIST)
                mica_list_add((mica_list *)(void *)&value, float, 1, 2, 3);
            else if (row->from->fields[0].kind == MICA_KIND_TEXT)
                value.value[0] = mica_text_of("four");
            mica_type now = *row->to;
            now.storage = k ? MICA_STORAGE_SINGLETON : MICA_STORAGE_CHUNK;
            ck_assert_int_eq(spawn_then(world, row->from, now, &value), MICA_ERROR_LAYOUT);
            expect_report(&heard, MICA_ERROR_LAYOUT, row->fragment);
            ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
            close_world(world, &heard);
        }
}
END_TEST

typedef struct Settings { mica_text title; mica_list numbers; float volume; } Settings;
MICA_SINGLETON(Settings, title, (numbers, float), volume)
typedef struct OldSettings { char title[16]; float numbers[2]; } OldSettings;
MICA_SINGLETON(OldSettings, title, numbers)

START_TEST(fields_of_a_singleton_that_the_file_has_not_stay)
{
    mica_world *world = open_world(&heard);
    mica_type now = mica_type_of_Settings;
    now.name = "Thing";
    mica_component component = mica_component_define(world, &now);
    Settings *settings = mica_singleton_write_id(world, component);
    settings->volume = 0.5f;
    mica_text_set(&settings->title, long_text);
    mica_list_add(&settings->numbers, float, 1, 2, 3);
    OldSettings old = {"old", {4, 5}};
    ck_assert_int_eq(spawn_then(world, &mica_type_of_OldSettings, mica_type_of_Settings, &old), MICA_OK);
    settings = mica_singleton_write_id(world, component);
    ck_assert(mica_text_is(&settings->title, "old") && mica_list_count(&settings->numbers) == 2);
    ck_assert_float_eq(settings->volume, 0.5f);
    close_world(world, &heard);
}
END_TEST

typedef struct TextTitle { mica_text title; } TextTitle;
MICA_SINGLETON(TextTitle, title)
typedef struct CharTitle { char title[8]; float volume; } CharTitle;
MICA_SINGLETON(CharTitle, title, volume)

START_TEST(a_singleton_without_text_gets_it_from_a_file_with_text)
{
    mica_world *world = open_world(&heard);
    mica_type now = mica_type_of_CharTitle;
    now.name = "Thing";
    mica_component component = mica_component_define(world, &now);
    ((CharTitle *)mica_singleton_write_id(world, component))->volume = 0.5f;
    TextTitle old = {mica_text_of("title")};
    ck_assert_int_eq(spawn_then(world, &mica_type_of_TextTitle, mica_type_of_CharTitle, &old), MICA_OK);
    const CharTitle *title = mica_singleton_get_id(world, component);
    ck_assert_str_eq(title->title, "title");
    ck_assert_float_eq(title->volume, 0.5f);
    close_world(world, &heard);
}
END_TEST

/* Elements that are larger than they were, so that there is no room for all. */
typedef struct SmallElement { uint8_t value; } SmallElement;
MICA_STRUCT(SmallElement, value)
typedef struct LargeElement { uint8_t value; char rest[4095]; } LargeElement;
MICA_STRUCT(LargeElement, value)
typedef struct SmallList { mica_list value; } SmallList;
MICA_COMPONENT(SmallList, (value, SmallElement))
typedef struct LargeList { mica_list value; } LargeList;
MICA_COMPONENT(LargeList, (value, LargeElement))

START_TEST(a_list_whose_elements_grew_too_large_is_refused)
{
    mica_world *world = open_world(&heard);
    SmallList list = {0};
    mica_list_resize(&list.value, SmallElement, MICA_LIST_BYTES_MAX / 4096 + 1);
    ck_assert_int_eq(spawn_then(world, &mica_type_of_SmallList, mica_type_of_LargeList, &list), MICA_ERROR_LAYOUT);
    expect_report(&heard, MICA_ERROR_LAYOUT, "field value is longer in the file");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(migrate, a_singleton_without_text_gets_it_from_a_file_with_text,
           a_list_whose_elements_grew_too_large_is_refused, arrays_become_lists_and_text_and_the_other_way_round,
           text_and_lists_that_do_not_fit_are_refused, fields_of_a_singleton_that_the_file_has_not_stay,
           fields_are_matched_by_name_and_numbers_become_wider, new_fields_get_what_the_construct_function_gives_them,
           constants_are_matched_by_name, what_would_lose_something_is_refused_and_says_so,
           a_component_that_became_a_tag_is_refused, numbers_keep_their_values_when_they_become_wider,
           constants_of_every_width_are_matched, what_is_wrong_inside_of_a_struct_is_found)
