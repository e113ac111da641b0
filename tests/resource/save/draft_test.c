/* Drafts: what can't be written is refused in words, when it is added or when it is finished, and leaves the draft as it was. */
#include "support/faulty_allocator.h"
#include "support/level.h"
#include "support/test.h"

#include "mica/draft.h"
#include "mica/library.h"
#include "mica/reload.h"

#include <stdio.h>
#include <string.h>

MICA_POOL_TAG(Selected)

/* Two texts with one hash of 64 bits: rare, but an asset is known by the hash of its path, and a component by that of its name. */
#define COLLIDING_FIRST "8yn0iYCKYHlIj4-BwPqk"
#define COLLIDING_SECOND "GReLUrM4wMqfg9yzV3KQ"

typedef struct scene {
    mica_draft *draft;
    uint32_t position, monster, tag;
} scene;

static uint32_t component(mica_draft *draft, const mica_type *type)
{
    return mica_draft_component(draft, &(mica_draft_component_def){.type = type, .storage = type->storage});
}

/* An entity named "a" with a Position and a pool tag, and its child "b" with a Monster. */
static scene open_scene(void)
{
    mica_draft *draft = mica_draft_create(NULL);
    scene scene = {draft, component(draft, &mica_type_of_Position), component(draft, &mica_type_of_Monster),
                   component(draft, &mica_type_of_Selected)};
    uint32_t a = mica_draft_entity(draft, MICA_NO_PARENT, "a"), b = mica_draft_entity(draft, a, "b");
    ck_assert_ptr_nonnull(mica_draft_add(draft, a, scene.position));
    ck_assert_ptr_nonnull(mica_draft_add(draft, a, scene.tag));
    ck_assert_ptr_nonnull(mica_draft_add(draft, b, scene.monster));
    return scene;
}

static void expect_error(const mica_draft *draft, mica_result result, const char *fragment)
{
    const mica_resource_error *error = mica_draft_error(draft);
    ck_assert_msg(error->result == result && strstr(error->text, fragment), "expected \"%s\": %s", fragment,
                  error->text);
}

static mica_blob finished(mica_draft *draft)
{
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_OK);
    return blob;
}

static void expect_bytes(mica_draft *draft, const mica_blob *expected)
{
    mica_blob blob = finished(draft);
    ck_assert_uint_eq(blob.byte_count, expected->byte_count);
    ck_assert_mem_eq(blob.bytes, expected->bytes, blob.byte_count);
    mica_blob_free(&blob);
}

#define LETTERS_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
static const char longest[] = LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64; /* 256 bytes: one too many */

/* A type of so many bytes, one u8 field at each of the offsets. */
#define BYTES(type_name, bytes, list, list_count)                                                                      \
    {.name = type_name, .kind = MICA_KIND_STRUCT, .size_bytes = bytes, .alignment = 1, .fields = list,                 \
     .field_count = list_count}
#define BYTE_AT(name, offset) {name, NULL, offset, 1, 1, MICA_KIND_U8, NULL}

START_TEST(types_that_can_not_be_written_are_refused_in_words)
{
    static mica_field one[] = {BYTE_AT("one", 0)}, long_name[] = {BYTE_AT(longest, 0)}, wild[] = {BYTE_AT("\xff", 0)};
    static mica_field overlapping[] = {BYTE_AT("one", 0), BYTE_AT("other", 0)}, fields[257];
    static char names[257][8];
    for (uint32_t i = 0; i < 257; ++i) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        fields[i] = (mica_field)BYTE_AT(names[i], i);
    }
    static const mica_type nested_wild = BYTES("Nested", 1, wild, 1), byte = BYTES("Byte", 1, one, 1);
    static const mica_constant constants[] = {{"\x80", 1}};
    static const mica_type flags = {.name = "Wild",
                                    .kind = MICA_KIND_FLAGS,
                                    .size_bytes = 1,
                                    .alignment = 1,
                                    .constants = constants,
                                    .constant_count = 1};
    static mica_field of_nested[] = {{"inner", &nested_wild, 0, 1, 1, MICA_KIND_STRUCT, NULL}};
    static mica_field of_flags[] = {{"flags", &flags, 0, 1, 1, MICA_KIND_FLAGS, NULL}};
    static mica_field of_bytes[] = {{"bytes", &byte, 0, 1, MICA_RESOURCE_LEAVES_MAX + 1, MICA_KIND_STRUCT, NULL}};
    static const mica_type types[] = {
        BYTES("Sound", 1, one, 1),
        BYTES(longest, 1, one, 1),
        BYTES("LongField", 1, long_name, 1),
        BYTES("WildField", 1, wild, 1),
        BYTES("Overlap", 1, overlapping, 2),
        BYTES("Wide", 257, fields, 257),
        BYTES("Deep", 1, of_nested, 1),
        BYTES("Flagged", 1, of_flags, 1),
        BYTES("Leafy", MICA_RESOURCE_LEAVES_MAX + 1, of_bytes, 1),
        BYTES("Hollow", 0, NULL, 0),
    };
    static const struct {
        uint32_t type;
        const char *name;
        mica_result result;
        const char *fragment;
    } cases[] = {
        {0, "", MICA_ERROR_INVALID, "the component \"\" can't be written"},
        {0, "\xc3", MICA_ERROR_INVALID, "the component \"\xc3\" can't be written"},
        {0, longest, MICA_ERROR_INVALID, "longer than 255 bytes"},
        {1, "Long", MICA_ERROR_INVALID, "the type \"aaa"},
        {2, NULL, MICA_ERROR_INVALID, "the field \"aaa"},
        {3, NULL, MICA_ERROR_INVALID, "the field \"\xff\" can't be written"},
        {4, NULL, MICA_ERROR_INVALID, "type Overlap can't be written: its fields overlap"},
        {5, NULL, MICA_ERROR_LIMIT, "type Wide has too many fields"},
        {6, NULL, MICA_ERROR_INVALID, "the field \"\xff\" can't be written"},
        {7, NULL, MICA_ERROR_INVALID, "the constant \"\x80\" can't be written"},
        {8, NULL, MICA_ERROR_LIMIT, "type Leafy has too many fields"},
        {9, NULL, MICA_ERROR_INVALID, "component Hollow can't be written: it has no size"},
        {0, COLLIDING_SECOND, MICA_ERROR_EXISTS, "have the same hash: rename one of the components"},
    };
    scene scene = open_scene();
    mica_draft_component(scene.draft, &(mica_draft_component_def){.type = &types[0], .name = COLLIDING_FIRST});
    mica_blob before = finished(scene.draft);
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        const mica_draft_component_def def = {.type = &types[cases[i].type], .name = cases[i].name};
        ck_assert_msg(mica_draft_component(scene.draft, &def) == MICA_DRAFT_NONE, "%s", cases[i].fragment);
        expect_error(scene.draft, cases[i].result, cases[i].fragment);
        expect_bytes(scene.draft, &before);
    }
    ck_assert_uint_eq(component(scene.draft, &mica_type_of_Position), scene.position);
    mica_blob_free(&before);
    mica_draft_destroy(scene.draft);
}
END_TEST

START_TEST(names_of_entities_are_utf8_without_slashes)
{
    static const struct {
        const char *name;
        bool is_fine;
    } cases[] = {
        {NULL, true},
        {"", true},
        {"plain", true},
        {"two\xc2\x80\xdf\xbf", true},
        {"three\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf", true},
        {"four\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true},
        {"with/slash", false},
        {"\x80", false},             /* a continuation byte without a start */
        {"\xc1\xbf", false},         /* two bytes for what takes one */
        {"\xe0\x9f\xbf", false},     /* three for two */
        {"\xf0\x8f\xbf\xbf", false}, /* four for three */
        {"\xed\xa0\x80", false},     /* half of a pair */
        {"\xf4\x90\x80\x80", false}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", false},
        {"cut\xe2\x82", false},
        {"\xe2\x28\xa1", false}, /* the continuation is missing */
        {"\xf0\x90\x28\xbc", false},
    };
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        uint32_t entity = mica_draft_entity(draft, MICA_NO_PARENT, cases[i].name);
        ck_assert_msg(entity == (cases[i].is_fine ? count : MICA_DRAFT_NONE), "name %u", i);
        count += cases[i].is_fine;
        if (!cases[i].is_fine)
            expect_error(draft, MICA_ERROR_INVALID, "contains a '/' or is not UTF-8");
    }
    mica_blob blob = finished(draft);
    mica_resource *resource = level_open(&blob);
    ck_assert_uint_eq(mica_resource_entity_count(resource), count);
    ck_assert_msg(!mica_resource_name(resource, 0) && !mica_resource_name(resource, 1), "an empty name is none");
    ck_assert_str_eq(mica_resource_name(resource, 5), cases[5].name);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    mica_draft_destroy(draft);
}
END_TEST

START_TEST(what_is_not_there_can_not_be_added_to)
{
    scene scene = open_scene();
    mica_draft *draft = scene.draft;
    uint32_t clock = component(draft, &mica_type_of_Clock);
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_ERROR_INVALID);
    expect_error(draft, MICA_ERROR_INVALID, "the singleton Clock has no value");
    ck_assert(!mica_draft_disable(draft, clock));
    expect_error(draft, MICA_ERROR_INVALID, "nothing to switch off");
    ck_assert_ptr_nonnull(mica_draft_add(draft, MICA_DRAFT_NONE, clock));
    mica_blob before = finished(draft);

    ck_assert_uint_eq(mica_draft_entity(draft, 2, NULL), MICA_DRAFT_NONE);
    expect_error(draft, MICA_ERROR_INVALID, "the parent of an entity comes before it");
    ck_assert_ptr_null(mica_draft_add(draft, 2, scene.position));
    expect_error(draft, MICA_ERROR_INVALID, "no such entity or component");
    ck_assert_ptr_null(mica_draft_add(draft, 0, 99));
    expect_error(draft, MICA_ERROR_INVALID, "no such entity or component");
    ck_assert_ptr_null(mica_draft_add(draft, 0, clock));
    expect_error(draft, MICA_ERROR_EXISTS, "the singleton Clock is there twice");
    ck_assert(!mica_draft_disable(draft, 99));
    expect_error(draft, MICA_ERROR_INVALID, "nothing to switch off");
    ck_assert(!mica_draft_disable(draft, clock));
    expect_error(draft, MICA_ERROR_INVALID, "nothing to switch off");
    expect_bytes(draft, &before);
    mica_blob_free(&before);

    ck_assert(mica_draft_disable(draft, scene.position));
    before = finished(draft);
    ck_assert_msg(mica_draft_disable(draft, scene.position), "once more changes nothing");
    expect_bytes(draft, &before);
    mica_blob_free(&before);
    mica_draft_destroy(draft);
}
END_TEST

static void refer_beyond_the_end(scene *scene)
{
    Monster *monster = mica_draft_add(scene->draft, 0, scene->monster);
    monster->friends[1] = (mica_entity){1, 1};
    monster->target = (mica_entity){2, 1};
}

static void tag_twice(scene *scene)
{
    mica_draft_add(scene->draft, 0, scene->tag);
}

static void name_twice(scene *scene)
{
    mica_draft_entity(scene->draft, 0, "a"); /* which is a scope of its own */
    mica_draft_entity(scene->draft, MICA_NO_PARENT, "a");
    mica_draft_entity(scene->draft, MICA_NO_PARENT, "c");
}

static void refer_to_paths_of_one_hash(scene *scene)
{
    mica_draft_asset(scene->draft, COLLIDING_FIRST);
    mica_draft_asset(scene->draft, "other");
    mica_draft_asset(scene->draft, COLLIDING_SECOND);
}

START_TEST(contradictions_are_found_when_a_draft_is_finished)
{
    static const struct {
        void (*spoil)(scene *scene);
        mica_result result;
        const char *fragment;
    } cases[] = {
        {refer_beyond_the_end, MICA_ERROR_INVALID, "component Monster refers to entity 2, which does not exist"},
        {tag_twice, MICA_ERROR_EXISTS, "an entity has the tag Selected twice"},
        {name_twice, MICA_ERROR_EXISTS, "the name \"a\" is there twice in one scope"},
        {refer_to_paths_of_one_hash, MICA_ERROR_EXISTS, "have the same hash: rename one of the files"},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        scene scene = open_scene();
        cases[i].spoil(&scene);
        mica_blob blob;
        ck_assert_int_eq(mica_draft_finish(scene.draft, NULL, &blob), cases[i].result);
        ck_assert_ptr_null(blob.bytes);
        expect_error(scene.draft, cases[i].result, cases[i].fragment);
        mica_draft_destroy(scene.draft);
    }
}
END_TEST

START_TEST(a_reference_without_a_generation_is_written_as_nil)
{
    scene scene = open_scene();
    Monster *monster = mica_draft_add(scene.draft, 1, scene.monster);
    monster->target = (mica_entity){77, 0};
    mica_blob blob = finished(scene.draft);
    mica_resource *resource = level_open(&blob);
    uint32_t count;
    const Monster *read = mica_resource_values_id(resource, &mica_type_of_Monster, &count);
    ck_assert(count == 2 && mica_is_nil(read[1].target) && read[1].target.index == 0);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    mica_draft_destroy(scene.draft);
}
END_TEST

START_TEST(half_an_allocator_makes_nothing)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_allocator half = faulty_allocator_interface(&faulty);
    half.release = NULL;
    ck_assert_ptr_null(mica_draft_create(&half));
    ck_assert_ptr_null(mica_library_create(&(mica_library_def){.resource.allocator = half}));
    ck_assert_ptr_null(mica_watch_create(&(const char *){"file"}, 1, &half));
    scene scene = open_scene();
    mica_blob blob = finished(scene.draft);
    mica_resource_error error = {0};
    const mica_resource_def def = {.allocator = half};
    ck_assert_ptr_null(mica_resource_open(blob.bytes, blob.byte_count, &def, &error));
    ck_assert_ptr_null(mica_resource_open(blob.bytes, blob.byte_count, &def, NULL));
    ck_assert_ptr_null(mica_resource_load("file", &def, &error));
    ck_assert_uint_eq(faulty.allocations, 0);
    mica_blob_free(&blob);
    mica_draft_destroy(scene.draft);
    faulty_allocator_free(&faulty);
}
END_TEST

TEST_SUITE(draft, types_that_can_not_be_written_are_refused_in_words, names_of_entities_are_utf8_without_slashes,
           what_is_not_there_can_not_be_added_to, contradictions_are_found_when_a_draft_is_finished,
           a_reference_without_a_generation_is_written_as_nil, half_an_allocator_makes_nothing)
