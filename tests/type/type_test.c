/* Descriptions: what is wrong with one, what is found out about one, and what is left of one for which there is no memory. The registry
 * lives as long as the process and takes its memory from malloc: the linker puts the functions below in its place. */
#include "../support/reports.h"
#include "../support/test.h"

#include "mica/value.h"
#include "type/type.h"

#include <stdio.h>
#include <string.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *pointer);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void __wrap_free(void *pointer);

static uint32_t countdown; /* 1: the next allocation fails; 0: none does */
static bool has_failed;
static int64_t blocks;

static bool is_refused(void)
{
    bool refused = countdown && --countdown == 0;
    has_failed |= refused;
    blocks += !refused;
    return refused;
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __real_calloc(count, bytes);
}

void __wrap_free(void *pointer)
{
    blocks -= pointer != NULL;
    __real_free(pointer);
}

static bool construct(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
    return true;
}

static void destruct(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}

static bool copy(void *to, const void *from, uint32_t count, void *context)
{
    (void)to, (void)from, (void)count, (void)context;
    return true;
}

static void move(void *to, void *from, uint32_t count, void *context)
{
    (void)to, (void)from, (void)count, (void)context;
}

#define FIELD(text, at, bytes, number, of) \
    {.name = text, .offset = at, .element_bytes = bytes, .count = number, .kind = of}
#define STRUCT(text, bytes) .name = text, .kind = MICA_KIND_STRUCT, .size_bytes = bytes, .alignment = 4

static const mica_field pair[] = {FIELD("a", 0, 4, 1, MICA_KIND_F32), FIELD("b", 4, 4, 1, MICA_KIND_U32)};
static const mica_type inner = {STRUCT("Inner", 8), .fields = pair, .field_count = 2};
static const mica_field apart[] = {FIELD("a", 0, 4, 1, MICA_KIND_F32), FIELD("b", 8, 4, 1, MICA_KIND_U32)};
static const mica_type gap = {STRUCT("Gap", 12), .fields = apart, .field_count = 2};
static const mica_constant colors[] = {{"red", 1}, {"green", 2}, {"blue", 4}};
static const mica_type color = {.name = "Color",
                                .kind = MICA_KIND_FLAGS,
                                .size_bytes = 4,
                                .alignment = 4,
                                .constants = colors,
                                .constant_count = 3};
static const mica_field deep[] = {
    {.name = "inner", .type = &inner, .offset = 0, .element_bytes = 8, .count = 2},
    {.name = "color", .type = &color, .offset = 16, .element_bytes = 4, .count = 1},
    FIELD("text", 20, 1, 4, MICA_KIND_CHAR),
};
static const mica_attributes attributes[] = {{.unit = "m", .note = "how far", .initial = 3},
                                             {.initial_json = "\"abc\""}};
static const mica_field tuned[] = {
    {.name = "far", .element_bytes = 4, .count = 1, .kind = MICA_KIND_F32, .attributes = &attributes[0]},
    {.name = "text", .offset = 4, .element_bytes = 1, .count = 4, .kind = MICA_KIND_CHAR, .attributes = &attributes[1]},
};
/* What owns memory and starts with something, in a struct that has no attributes of its own. */
static const mica_attributes long_text = {.initial_json = "\"a text that is longer than fits in place\""};
static const mica_field named[] = {
    {.name = "name", .element_bytes = sizeof(mica_text), .count = 1, .kind = MICA_KIND_TEXT, .attributes = &long_text}};
static const mica_type name_inside = {.name = "Name",
                                      .kind = MICA_KIND_STRUCT,
                                      .size_bytes = sizeof(mica_text),
                                      .alignment = 8,
                                      .fields = named,
                                      .field_count = 1};
static const mica_field holder[] = {
    {.name = "inside", .type = &name_inside, .element_bytes = sizeof(mica_text), .count = 1, .kind = MICA_KIND_STRUCT}};
static const mica_field with_gap[] = {{.name = "gap", .type = &gap, .offset = 0, .element_bytes = 12, .count = 1}};

/* A struct that has itself as a field. */
static mica_type endless;
static const mica_field endless_field[] = {{.name = "again", .type = &endless, .element_bytes = 4, .count = 1}};
static mica_type endless = {STRUCT("Endless", 4), .fields = endless_field, .field_count = 1};

START_TEST(each_mistake_is_named)
{
    static const mica_field nameless[] = {FIELD("", 0, 4, 1, MICA_KIND_U32)};
    static const mica_field empty[] = {FIELD("a", 0, 4, 0, MICA_KIND_U32), FIELD("a", 0, 0, 1, MICA_KIND_U32)};
    static const mica_field twins[] = {FIELD("a", 0, 4, 1, MICA_KIND_U32), FIELD("a", 4, 4, 1, MICA_KIND_U32)};
    static const mica_field narrow[] = {{.name = "inner", .type = &inner, .element_bytes = 4, .count = 1}};
    static const mica_constant first_nameless[] = {{NULL, 1}}, second_nameless[] = {{"one", 1}, {"", 2}};
    mica_field many[17];
    char names[17][8];
    for (uint32_t i = 0; i < 17; ++i) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        many[i] = (mica_field)FIELD(names[i], i * 16, 4, 4, MICA_KIND_F32);
    }
    const struct {
        const char *problem;
        mica_type type;
    } cases[] = {
        {"a field has no name", {STRUCT("T", 4), .fields = nameless, .field_count = 1}},
        {"a field has no elements", {STRUCT("T", 4), .fields = empty, .field_count = 1}},
        {"a field has no elements", {STRUCT("T", 4), .fields = empty + 1, .field_count = 1}},
        {"two fields have the same name", {STRUCT("T", 8), .fields = twins, .field_count = 2}},
        {"a field and its type differ in size", {STRUCT("T", 8), .fields = narrow, .field_count = 1}},
        {"its kind is neither", {.name = "T", .kind = MICA_KIND_F32, .size_bytes = 4, .alignment = 4}},
        {"its alignment is not", {.name = "T", .kind = MICA_KIND_STRUCT, .size_bytes = 8192, .alignment = 8192}},
        {"structs are nested too deep", endless},
        {"a constant has no name", {STRUCT("T", 4), .constants = first_nameless, .constant_count = 1}},
        {"a constant has no name", {STRUCT("T", 4), .constants = second_nameless, .constant_count = 2}},
        {"it counts fields or constants", {STRUCT("T", 4), .field_count = 1}},
        {"it counts fields or constants", {STRUCT("T", 4), .constant_count = 1}},
        {"a tag has no data", {STRUCT("T", 4), .storage = MICA_STORAGE_TAG}},
        {"a tag has no data", {.name = "T", .storage = MICA_STORAGE_TAG, .kind = MICA_KIND_STRUCT, .field_count = 1}},
        {"no field to split", {STRUCT("T", 4), .split = true}},
        {"no field to split", {.name = "T", .kind = MICA_KIND_FLAGS, .size_bytes = 4, .alignment = 4, .split = true}},
        {"more than 64 columns", {STRUCT("T", 17 * 16), .fields = many, .field_count = 17, .split = true}},
        {"can't be split", {STRUCT("T", 8), .fields = pair, .field_count = 2, .split = true, .construct = construct}},
        {"can't be split", {STRUCT("T", 8), .fields = pair, .field_count = 2, .split = true, .destruct = destruct}},
        {"can't be split", {STRUCT("T", 8), .fields = pair, .field_count = 2, .split = true, .copy = copy}},
        {"can't be split", {STRUCT("T", 8), .fields = pair, .field_count = 2, .split = true, .move = move}},
        {"a pool tag has no traits", {STRUCT("T", 0), .storage = MICA_STORAGE_POOL, .construct = construct}},
        {"a pool tag has no traits", {STRUCT("T", 0), .storage = MICA_STORAGE_POOL, .destruct = destruct}},
        {"a pool tag has no traits", {STRUCT("T", 0), .storage = MICA_STORAGE_POOL, .copy = copy}},
        {"a pool tag has no traits", {STRUCT("T", 0), .storage = MICA_STORAGE_POOL, .move = move}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *problem = mica_type_problem(&cases[i].type);
        ck_assert_msg(problem && strstr(problem, cases[i].problem), "case %u: \"%s\", not \"%s\"", i,
                      problem ? problem : "nothing", cases[i].problem);
    }
    ck_assert_str_eq(mica_type_problem(NULL), "there is no description");
    const mica_type holds_split = {STRUCT("T", 8), .fields = pair, .field_count = 2, .split = true};
    const mica_field split_field = {.name = "split", .type = &holds_split, .element_bytes = 8, .count = 1};
    const mica_type outer = {STRUCT("U", 8), .fields = &split_field, .field_count = 1};
    ck_assert_msg(!mica_type_problem(&outer), "a struct that is split elsewhere is a field as any other");
}
END_TEST

START_TEST(functions_say_whether_values_are_bytes_and_can_be_copied)
{
    const struct {
        bool is_trivial, can_copy;
        mica_type type;
    } cases[] = {
        {true, true, {STRUCT("Bytes", 4)}},
        {true, true, {STRUCT("Initial", 8), .fields = tuned, .field_count = 2}},
        {false, true, {STRUCT("Made", 4), .construct = construct}},
        {false, false, {STRUCT("Owned", 4), .destruct = destruct}},
        {false, true, {STRUCT("Copied", 4), .copy = copy}},
        {false, true, {STRUCT("Moved", 4), .move = move}},
        {false, true, {STRUCT("Whole", 4), .destruct = destruct, .copy = copy}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *problem;
        const micap_type *type = micap_type_intern(&cases[i].type, &problem);
        ck_assert_msg(type && type->trivial == cases[i].is_trivial, "%s", cases[i].type.name);
        ck_assert_msg(micap_can_copy(type) == cases[i].can_copy, "%s", cases[i].type.name);
    }
}
END_TEST

START_TEST(a_gap_in_a_nested_struct_is_a_gap)
{
    const char *problem;
    const mica_type holes = {STRUCT("Holes", 12), .fields = with_gap, .field_count = 1};
    const mica_type whole = {STRUCT("Whole", 24), .fields = deep, .field_count = 3};
    ck_assert(micap_type_intern(&holes, &problem)->has_padding);
    ck_assert(!micap_type_intern(&whole, &problem)->has_padding);
}
END_TEST

/* Fails each allocation in turn, until the component can be defined. */
static const micap_type *define_in_spite(mica_world *world, reports *heard, const mica_type *type)
{
    mica_component id = 0;
    for (uint32_t k = 1; !id; ++k) {
        int64_t before = blocks;
        countdown = k;
        has_failed = false;
        id = mica_component_define(world, type);
        countdown = 0;
        int64_t left = blocks - before;
        ck_assert_msg(id || has_failed, "%s: allocation %u", type->name, k);
        if (id)
            break;
        expect_report(heard, MICA_ERROR_MEMORY, "out of memory");
        forget_reports(heard);
        ck_assert_msg(!mica_component_find(world, type->name), "%s is not there by halves", type->name);
        bool has_companions = type->toggle || type->track_added || type->track_changed || type->split ||
                              type->required; /* which stay, as the table does */
        ck_assert_msg(has_companions || !left, "%s: allocation %u leaves %lld blocks", type->name, k, (long long)left);
    }
    const micap_type *interned = micap_type_of(id);
    ck_assert_uint_eq(interned->layout_hash, mica_type_layout_hash(type));
    ck_assert_uint_eq(mica_component_define(world, type), id);
    return interned;
}

START_TEST(a_component_is_defined_whole_or_not_at_all)
{
    static reports heard;
    mica_world *world = open_world(&heard);
    static mica_type leg = {.name = "Leg", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type *const legs[] = {&leg, NULL};
    static mica_type table = {.name = "Table", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG, .required = legs};
    static mica_type *const tables[] = {&table, &leg, NULL};
    const mica_type cases[] = {
        {STRUCT("Requiring", 8), .required = tables},
        {STRUCT("Excluding", 8), .excludes = tables},
        {STRUCT("First", 4), .toggle = true},
        {STRUCT("Nested", 24), .fields = deep, .field_count = 3},
        {.name = "Constants", .kind = MICA_KIND_FLAGS, .size_bytes = 4, .alignment = 4, .constants = colors, .constant_count = 3},
        {STRUCT("Tuned", 8), .fields = tuned, .field_count = 2},
        {.name = "Holder",
         .kind = MICA_KIND_STRUCT,
         .size_bytes = sizeof(mica_text),
         .alignment = 8,
         .fields = holder,
         .field_count = 1,
         .toggle = true},
        {STRUCT("Traits", 24), .fields = deep, .field_count = 3, .toggle = true, .track_added = true, .track_changed = true},
        {STRUCT("Split", 24), .fields = deep, .field_count = 3, .toggle = true, .track_added = true, .track_changed = true, .split = true},
        {STRUCT("Pooled", 24), .fields = deep, .field_count = 3, .storage = MICA_STORAGE_POOL, .toggle = true, .split = true},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const micap_type *type = define_in_spite(world, &heard, &cases[i]);
        /* Two structs of two floats, the flags, and the text as a whole. */
        ck_assert_uint_eq(type->leaf_count, cases[i].split ? 6 : 0);
        ck_assert_int_eq(type->leaves != NULL, cases[i].split);
        mica_entity entity = mica_create(world, {type->id, 0, NULL});
        ck_assert(mica_has_id(world, entity, type->id));
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(types_that_require_others_are_different)
{
    static reports heard;
    mica_world *world = open_world(&heard);
    static mica_type left = {.name = "Left", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type right = {.name = "Right", .kind = MICA_KIND_STRUCT, .storage = MICA_STORAGE_TAG};
    static mica_type *const with_left[] = {&left, NULL}, *const with_right[] = {&right, NULL};
    const mica_type first = {STRUCT("Hand", 4), .required = with_left},
                    other = {STRUCT("Hand", 4), .required = with_right};
    const char *problem;
    const micap_type *interned = micap_type_intern(&first, &problem), *namesake = micap_type_intern(&other, &problem);
    ck_assert(interned && namesake && interned != namesake);
    ck_assert_ptr_eq(micap_type_intern(&first, &problem), interned);
    ck_assert_ptr_eq(micap_type_intern(&other, &problem), namesake);
    mica_entity entity = mica_create(world, {mica_component_define(world, &other), 0, NULL});
    ck_assert(mica_has_id(world, entity, mica_component_find(world, "Right")));
    ck_assert_uint_eq(mica_component_find(world, "Left"), 0);
    ck_assert_int_eq(mica_world_validate(world), MICA_OK);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_reset_for_which_there_is_no_memory_changes_nothing)
{
    const mica_type type = {STRUCT("Tuned", 8), .fields = tuned, .field_count = 2};
    struct {
        float far;
        char text[4];
    } value = {7, "x"};
    countdown = 1;
    ck_assert_int_eq(mica_value_reset(mica_member_of_type(&type, &value)), MICA_ERROR_MEMORY);
    countdown = 0;
    ck_assert(value.far == 7 && value.text[0] == 'x');
    ck_assert_int_eq(mica_value_reset(mica_member_of_type(&type, &value)), MICA_OK);
    ck_assert(value.far == 3 && strcmp(value.text, "abc") == 0);
}
END_TEST

/* The table of all types grows between the companions of a component and the component itself. */
START_TEST(the_table_grows_at_any_time)
{
    static reports heard;
    enum { ROOM = 128, COMPANIONS = 3 };
    mica_world *world = open_world(&heard);
    mica_component last = 0;
    for (uint32_t i = 0; last < ROOM - COMPANIONS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Filler%u", i);
        const mica_type filler = {STRUCT(name, 4)};
        last = mica_component_define(world, &filler);
    }
    ck_assert_uint_eq(last, ROOM - COMPANIONS);
    const mica_type traits = {STRUCT("Late", 4), .toggle = true, .track_added = true, .track_changed = true};
    ck_assert_uint_eq(define_in_spite(world, &heard, &traits)->id, ROOM + 1);
    const mica_type next = {STRUCT("Next", 4)};
    ck_assert_uint_eq(mica_component_define(world, &next), ROOM + 2);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(type, each_mistake_is_named, functions_say_whether_values_are_bytes_and_can_be_copied,
           a_gap_in_a_nested_struct_is_a_gap, a_component_is_defined_whole_or_not_at_all,
           types_that_require_others_are_different, a_reset_for_which_there_is_no_memory_changes_nothing,
           the_table_grows_at_any_time)
