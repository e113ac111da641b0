/* Descriptions: what the macros deduce, what interning keeps, and which layouts are the same. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

typedef struct Scalars {
    bool truth;
    char letter;
    signed char tiny;
    unsigned char byte;
    short brief;
    unsigned short brief_unsigned;
    int whole;
    unsigned int whole_unsigned;
    long wide;
    unsigned long wide_unsigned;
    long long widest;
    unsigned long long widest_unsigned;
    float real;
    double precise;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    mica_entity entity;
} Scalars;
MICA_COMPONENT(Scalars, truth, letter, tiny, byte, brief, brief_unsigned, whole, whole_unsigned, wide, wide_unsigned,
               widest, widest_unsigned, real, precise, i8, u8, i16, u16, i32, u32, i64, u64, entity)

typedef struct Arrays {
    bool truths[3];
    char text[16];
    uint8_t bytes[5];
    int16_t shorts[7];
    int wholes[1];
    uint64_t larges[2];
    float reals[9];
    double doubles[4];
    mica_entity crowd[6];
} Arrays;
MICA_COMPONENT(Arrays, truths, text, bytes, shorts, wholes, larges, reals, doubles, crowd)

static const mica_field *field_named(const mica_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    ck_abort_msg("%s has no field '%s'", type->name, name);
    return NULL;
}

typedef struct expected_field {
    const char *name;
    mica_kind kind;
    size_t offset, element_bytes, count;
} expected_field;

static void expect_fields(const mica_type *type, const expected_field *expected, uint32_t count)
{
    ck_assert_msg(type != NULL, "the component is interned");
    ck_assert_msg(type->field_count == count, "%s has %u fields, expected %u", type->name, type->field_count, count);
    for (uint32_t i = 0; i < count; ++i) {
        const mica_field *field = &type->fields[i];
        ck_assert_msg(strcmp(field->name, expected[i].name) == 0, "field %u is '%s', expected '%s'", i, field->name,
                      expected[i].name);
        ck_assert_msg(field->kind == expected[i].kind, "%s is of kind %d, expected %d", field->name, (int)field->kind,
                      (int)expected[i].kind);
        ck_assert_msg(field->offset == expected[i].offset, "%s lies at %u", field->name, field->offset);
        ck_assert_msg(field->element_bytes == expected[i].element_bytes, "an element of %s has %u bytes", field->name,
                      field->element_bytes);
        ck_assert_msg(field->count == expected[i].count, "%s has %u elements", field->name, field->count);
    }
}

#define FIELD(T, field, kind) {#field, kind, offsetof(T, field), sizeof(((T *)0)->field), 1}
#define ARRAY(T, field, kind)                                                                                          \
    {#field, kind, offsetof(T, field), sizeof(((T *)0)->field[0]),                                                     \
     sizeof(((T *)0)->field) / sizeof(((T *)0)->field[0])}

START_TEST(kinds_are_deduced_for_every_scalar_type)
{
    const mica_kind wide = sizeof(long) == 8 ? MICA_KIND_I64 : MICA_KIND_I32;
    const mica_kind wide_unsigned = sizeof(long) == 8 ? MICA_KIND_U64 : MICA_KIND_U32;
    const expected_field expected[] = {
        FIELD(Scalars, truth, MICA_KIND_BOOL),
        FIELD(Scalars, letter, MICA_KIND_CHAR),
        FIELD(Scalars, tiny, MICA_KIND_I8),
        FIELD(Scalars, byte, MICA_KIND_U8),
        FIELD(Scalars, brief, MICA_KIND_I16),
        FIELD(Scalars, brief_unsigned, MICA_KIND_U16),
        FIELD(Scalars, whole, MICA_KIND_I32),
        FIELD(Scalars, whole_unsigned, MICA_KIND_U32),
        FIELD(Scalars, wide, wide),
        FIELD(Scalars, wide_unsigned, wide_unsigned),
        FIELD(Scalars, widest, MICA_KIND_I64),
        FIELD(Scalars, widest_unsigned, MICA_KIND_U64),
        FIELD(Scalars, real, MICA_KIND_F32),
        FIELD(Scalars, precise, MICA_KIND_F64),
        FIELD(Scalars, i8, MICA_KIND_I8),
        FIELD(Scalars, u8, MICA_KIND_U8),
        FIELD(Scalars, i16, MICA_KIND_I16),
        FIELD(Scalars, u16, MICA_KIND_U16),
        FIELD(Scalars, i32, MICA_KIND_I32),
        FIELD(Scalars, u32, MICA_KIND_U32),
        FIELD(Scalars, i64, MICA_KIND_I64),
        FIELD(Scalars, u64, MICA_KIND_U64),
        FIELD(Scalars, entity, MICA_KIND_ENTITY),
    };
    const mica_type *type = mica_component_type(MICA_ID(Scalars));
    expect_fields(type, expected, COUNT_OF(expected));
    ck_assert_msg(type->size_bytes == sizeof(Scalars), "the size is the struct's");
    ck_assert_msg(type->alignment == _Alignof(Scalars), "the alignment is the struct's");
    ck_assert_msg(type->storage == MICA_STORAGE_CHUNK, "chunk storage is the default");
}
END_TEST

START_TEST(arrays_are_described_by_element_and_count)
{
    const expected_field expected[] = {
        ARRAY(Arrays, truths, MICA_KIND_BOOL),  ARRAY(Arrays, text, MICA_KIND_CHAR),
        ARRAY(Arrays, bytes, MICA_KIND_U8),     ARRAY(Arrays, shorts, MICA_KIND_I16),
        ARRAY(Arrays, wholes, MICA_KIND_I32),   ARRAY(Arrays, larges, MICA_KIND_U64),
        ARRAY(Arrays, reals, MICA_KIND_F32),    ARRAY(Arrays, doubles, MICA_KIND_F64),
        ARRAY(Arrays, crowd, MICA_KIND_ENTITY),
    };
    expect_fields(mica_component_type(MICA_ID(Arrays)), expected, COUNT_OF(expected));
}
END_TEST

START_TEST(nested_structs_enums_flags_and_references_are_described)
{
    const expected_field expected[] = {
        FIELD(Monster, home, MICA_KIND_STRUCT),   ARRAY(Monster, path, MICA_KIND_STRUCT),
        FIELD(Monster, mood, MICA_KIND_ENUM),     FIELD(Monster, skills, MICA_KIND_FLAGS),
        FIELD(Monster, target, MICA_KIND_ENTITY), ARRAY(Monster, friends, MICA_KIND_ENTITY),
        ARRAY(Monster, title, MICA_KIND_CHAR),    FIELD(Monster, wealth, MICA_KIND_F64),
    };
    const mica_type *monster = mica_component_type(MICA_ID(Monster));
    expect_fields(monster, expected, COUNT_OF(expected));

    const mica_type *home = field_named(monster, "home")->type;
    ck_assert_msg(home && strcmp(home->name, "Vec3") == 0, "a nested field leads to its type");
    const expected_field of_home[] = {FIELD(Vec3, x, MICA_KIND_F32), FIELD(Vec3, y, MICA_KIND_F32),
                                      FIELD(Vec3, z, MICA_KIND_F32)};
    expect_fields(home, of_home, COUNT_OF(of_home));
    ck_assert_msg(field_named(monster, "target")->type == NULL, "an entity reference needs no type");
}
END_TEST

START_TEST(enums_and_flags_carry_the_names_of_their_values)
{
    const mica_type *monster = mica_component_type(MICA_ID(Monster));
    const mica_type *mood = field_named(monster, "mood")->type;
    ck_assert_msg(mood && mood->kind == MICA_KIND_ENUM && mood->constant_count == 3, "an enum lists its constants");
    ck_assert_str_eq(mood->constants[1].name, "MOOD_ANGRY");
    ck_assert_msg(mood->constants[1].value == 7, "a constant keeps its value");
    ck_assert_msg(mood->constants[2].value == 8, "and so does the one after it");

    const mica_type *skills = field_named(monster, "skills")->type;
    ck_assert_msg(skills && skills->kind == MICA_KIND_FLAGS && skills->constant_count == 3, "flags list their bits");
    ck_assert_str_eq(skills->constants[2].name, "SKILL_SING");
    ck_assert_msg(skills->constants[2].value == 4, "a flag keeps its bit");
}
END_TEST

START_TEST(a_tag_has_no_data)
{
    const mica_type *tag = mica_component_type(MICA_ID(Frozen));
    ck_assert_msg(tag && tag->storage == MICA_STORAGE_TAG, "a tag is stored as membership");
    ck_assert_msg(tag->size_bytes == 0 && tag->field_count == 0, "a tag has neither bytes nor fields");
    ck_assert_str_eq(tag->name, "Frozen");
}
END_TEST

START_TEST(traits_are_kept)
{
    const mica_type *health = mica_component_type(MICA_ID(Health));
    const mica_type *age = mica_component_type(MICA_ID(Age));
    const mica_type *text = mica_component_type(MICA_ID(Text));
    const mica_type *clock = mica_component_type(MICA_ID(Clock));
    const mica_type *matrix = mica_component_type(MICA_ID(Matrix));
    ck_assert_msg(health->toggle && !health->track_added, "Health toggles and does no more");
    ck_assert_msg(age->track_added && !age->toggle, "Age tracks and does no more");
    ck_assert_msg(text->construct == text_construct && text->move == text_move, "Text keeps its functions");
    ck_assert_msg(text->destruct == text_destruct && text->copy == text_copy, "Text keeps all of its functions");
    ck_assert_msg(clock->storage == MICA_STORAGE_SINGLETON, "Clock is a singleton");
    ck_assert_msg(matrix->alignment == 64, "Matrix keeps its alignment");
}
END_TEST

START_TEST(the_same_description_in_two_files_is_one_component)
{
    mica_component here = MICA_ID(Monster);
    ck_assert_msg(here != 0, "a sound description has an id");
    ck_assert_msg(here == monster_id_elsewhere(), "another file's description has the same id");
    ck_assert_msg(here == MICA_ID(Monster), "an id stays");
}
END_TEST

/* A type made at run time, from which the tests below differ in one thing each. */
typedef struct sketch {
    mica_field fields[2];
    mica_type type;
} sketch;

static sketch *sketch_point(sketch *made)
{
    *made = (sketch){
        .fields = {{.name = "x", .offset = 0, .element_bytes = 4, .count = 1, .kind = MICA_KIND_F32},
                   {.name = "y", .offset = 4, .element_bytes = 4, .count = 1, .kind = MICA_KIND_F32}},
        .type = {.name = "SketchedPoint",
                 .field_count = 2,
                 .size_bytes = 8,
                 .alignment = 4,
                 .kind = MICA_KIND_STRUCT,
                 .storage = MICA_STORAGE_CHUNK},
    };
    made->type.fields = made->fields;
    return made;
}

typedef void (*alter_fn)(sketch *made);

static void alter_nothing(sketch *made)
{
    (void)made;
}
static void rename_field(sketch *made)
{
    made->fields[1].name = "z";
}
static void retype_field(sketch *made)
{
    made->fields[1].kind = MICA_KIND_U32;
}
static void enlarge(sketch *made)
{
    made->type.size_bytes = 12;
}
static void leave_a_field_out(sketch *made)
{
    made->type.field_count = 1;
}

static void exchange_fields(sketch *made)
{
    made->fields[0].name = "y";
    made->fields[1].name = "x";
}

static void move_field(sketch *made)
{
    made->type.size_bytes = 12;
    made->fields[1].offset = 8;
}

static void make_an_array(sketch *made)
{
    made->type.field_count = 1;
    made->fields[0].count = 2;
}

START_TEST(the_layout_hash_tells_layouts_apart)
{
    const alter_fn alterations[] = {alter_nothing,     rename_field,    retype_field, enlarge,
                                    leave_a_field_out, exchange_fields, move_field,   make_an_array};
    uint64_t hashes[COUNT_OF(alterations)];
    uint64_t name_hash = 0;
    for (uint32_t i = 0; i < COUNT_OF(alterations); ++i) {
        sketch made;
        alterations[i](sketch_point(&made));
        mica_component id = mica_type_intern(&made.type);
        ck_assert_msg(id != 0, "alteration %u is a sound description", i);
        hashes[i] = mica_component_layout_hash(id);
        ck_assert_msg(hashes[i] != 0, "alteration %u has a layout hash", i);
        for (uint32_t other = 0; other < i; ++other)
            ck_assert_msg(hashes[i] != hashes[other], "alterations %u and %u have the same layout hash", i, other);
        if (i == 0)
            name_hash = mica_component_name_hash(id);
        ck_assert_msg(mica_component_name_hash(id) == name_hash, "the name hash depends on the name alone");
    }
}
END_TEST

START_TEST(equal_descriptions_made_at_run_time_are_one_component)
{
    sketch first, second;
    char name[] = "SketchedPoint";
    char field[] = "x";
    sketch_point(&first);
    sketch_point(&second);
    second.type.name = name;
    second.fields[0].name = field;
    mica_component id = mica_type_intern(&first.type);
    ck_assert_msg(id != 0 && id == mica_type_intern(&second.type), "equal text counts, not equal pointers");
}
END_TEST

START_TEST(a_changed_nested_struct_changes_the_layout_of_the_outer_one)
{
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        sketch inner;
        sketch_point(&inner);
        inner.type.name = "Inner";
        if (i == 1)
            exchange_fields(&inner);
        mica_field field = {.name = "inner", .type = &inner.type, .offset = 0, .element_bytes = 8, .count = 1};
        mica_type outer = {.name = "Outer",
                           .fields = &field,
                           .field_count = 1,
                           .size_bytes = 8,
                           .alignment = 4,
                           .kind = MICA_KIND_STRUCT};
        hashes[i] = mica_component_layout_hash(mica_type_intern(&outer));
        ck_assert_msg(hashes[i] != 0, "a nested description is sound");
    }
    ck_assert_msg(hashes[0] != hashes[1], "the layout reaches into nested structs");
}
END_TEST

START_TEST(interning_copies_everything)
{
    sketch made, inner;
    char name[] = "Fleeting", field[] = "part", inner_field[] = "x";
    sketch_point(&inner);
    inner.fields[0].name = inner_field;
    sketch_point(&made);
    made.type.name = name;
    made.type.field_count = 1;
    made.fields[0] = (mica_field){.name = field, .type = &inner.type, .element_bytes = 8, .count = 1};
    mica_component id = mica_type_intern(&made.type);

    memset(name, '!', sizeof name - 1);
    memset(field, '!', sizeof field - 1);
    memset(inner_field, '!', sizeof inner_field - 1);
    memset(made.fields, 0, sizeof made.fields);
    memset(inner.fields, 0, sizeof inner.fields);
    inner.type.name = NULL;

    const mica_type *kept = mica_component_type(id);
    ck_assert_str_eq(kept->name, "Fleeting");
    ck_assert_str_eq(kept->fields[0].name, "part");
    ck_assert_str_eq(kept->fields[0].type->fields[0].name, "x");
    ck_assert_msg(kept->fields[0].type->fields[1].kind == MICA_KIND_F32, "the nested fields are kept too");
}
END_TEST

START_TEST(a_description_with_other_traits_is_another_component_and_refused_by_a_world)
{
    static reports heard;
    mica_world *world = open_world(&heard);
    sketch made;
    mica_component plain = mica_component_define(world, &sketch_point(&made)->type);
    mica_type toggled = made.type, tracked = made.type, singleton = made.type;
    toggled.toggle = true;
    tracked.track_added = true;
    singleton.storage = MICA_STORAGE_SINGLETON;
    mica_type *const others[] = {&toggled, &tracked, &singleton};
    for (uint32_t i = 0; i < COUNT_OF(others); ++i) {
        mica_component other = mica_type_intern(others[i]);
        ck_assert_msg(other != 0 && other != plain, "trait %u makes another component", i);
        ck_assert_msg(mica_component_layout_hash(other) == mica_component_layout_hash(plain), "of the same layout");
        ck_assert_msg(mica_component_define(world, others[i]) == 0, "but the world has the name already");
        expect_report(&heard, MICA_ERROR_LAYOUT, "SketchedPoint");
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_malformed_description_has_no_id)
{
    sketch made;
    ck_assert_msg(freopen("/dev/null", "w", stderr) != NULL, "there is no world to report to: stderr it is");
    sketch_point(&made)->type.alignment = 3;
    ck_assert_msg(mica_type_intern(&made.type) == 0, "an alignment that is no power of two");
    sketch_point(&made)->type.name = NULL;
    ck_assert_msg(mica_type_intern(&made.type) == 0, "no name");
    sketch_point(&made)->fields[1].offset = 5;
    ck_assert_msg(mica_type_intern(&made.type) == 0, "a field that ends outside");
    ck_assert_msg(mica_type_intern(NULL) == 0, "no description at all");
}
END_TEST

START_TEST(unknown_ids_have_no_description)
{
    const mica_component unknown[] = {0, 60000, MICA_COMPONENTS_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < COUNT_OF(unknown); ++i) {
        ck_assert_msg(mica_component_type(unknown[i]) == NULL, "id %u has no type", unknown[i]);
        ck_assert_msg(mica_component_name_hash(unknown[i]) == 0, "id %u has no name hash", unknown[i]);
        ck_assert_msg(mica_component_layout_hash(unknown[i]) == 0, "id %u has no layout hash", unknown[i]);
    }
}
END_TEST

START_TEST(names_give_different_hashes)
{
    uint64_t hashes[] = {mica_component_name_hash(MICA_ID(Position)), mica_component_name_hash(MICA_ID(Velocity)),
                         mica_component_name_hash(MICA_ID(Frozen)), mica_component_name_hash(MICA_ID(Clock))};
    for (uint32_t i = 0; i < COUNT_OF(hashes); ++i) {
        ck_assert_msg(hashes[i] != 0, "a name has a hash");
        for (uint32_t other = 0; other < i; ++other)
            ck_assert_msg(hashes[i] != hashes[other], "names %u and %u have one hash", i, other);
    }
}
END_TEST

typedef struct Sprite { void *image; const char *path; } Sprite;
MICA_OPAQUE(Sprite, (.storage = MICA_STORAGE_CHUNK))

START_TEST(an_opaque_component_is_carried_along_but_not_shown)
{
    static reports heard;
    mica_world *world = open_world(&heard);
    char image = 'i';
    mica_entity entity = mica_create(world, MICA_WITH(Sprite, {&image, "a.png"}), MICA_WITH(Frozen));
    const mica_type *type = mica_component_type(MICA_ID(Sprite));
    ck_assert_msg(type->field_count == 0 && type->size_bytes == sizeof(Sprite), "it has a size and no fields");
    ck_assert_msg(type->alignment == _Alignof(Sprite), "and an alignment");
    mica_remove(world, entity, Frozen);
    ck_assert_msg(mica_get(world, entity, Sprite)->image == &image, "it moves with its entity");
    uint64_t before = mica_world_hash(world);
    mica_write(world, entity, Sprite)->path = "b.png";
    ck_assert_msg(mica_world_hash(world) == before, "what is not described is not hashed");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(describe, kinds_are_deduced_for_every_scalar_type, arrays_are_described_by_element_and_count,
           nested_structs_enums_flags_and_references_are_described, enums_and_flags_carry_the_names_of_their_values,
           a_tag_has_no_data, traits_are_kept, the_same_description_in_two_files_is_one_component,
           the_layout_hash_tells_layouts_apart, equal_descriptions_made_at_run_time_are_one_component,
           a_changed_nested_struct_changes_the_layout_of_the_outer_one, interning_copies_everything,
           a_description_with_other_traits_is_another_component_and_refused_by_a_world,
           a_malformed_description_has_no_id, unknown_ids_have_no_description, names_give_different_hashes,
           an_opaque_component_is_carried_along_but_not_shown)
