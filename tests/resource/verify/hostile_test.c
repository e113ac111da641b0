/* Damaged and hostile files: refused with a reason and a place, or harmless. Never a crash. */
#include "support/level.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/find_section.h"
#include "support/reseal.h"
#include "support/test.h"
#include "support/test_length.h"

#include "mica/draft.h"

#include <string.h>

static reports heard;

/* Loads bytes from a block of just their size, so that a sanitizer sees every byte too far. */
static mica_resource *open_exactly(const void *bytes, size_t byte_count, mica_resource_error *out_error, char **out)
{
    *out = aligned_alloc(64, (byte_count + 63) / 64 * 64 + 64);
    memcpy(*out, bytes, byte_count);
    return mica_resource_open(*out, byte_count, &(mica_resource_def){.memory_bytes_max = 1 << 20}, out_error);
}

static void expect_refused(const void *bytes, size_t byte_count, const char *fragment, size_t location)
{
    mica_resource_error error = {0};
    char *copy;
    mica_resource *resource = open_exactly(bytes, byte_count, &error, &copy);
    REQUIRE_SAYING(!resource, "change at %zu is not noticed", location);
    REQUIRE_SAYING(error.result == MICA_ERROR_DATA && error.text[0], "change at %zu: %s", location, error.text);
    REQUIRE_SAYING(error.offset <= byte_count, "change at %zu: offset %llu", location,
                   (unsigned long long)error.offset);
    REQUIRE_SAYING(!fragment || strstr(error.text, fragment), "change at %zu: %s", location, error.text);
    free(copy);
}

START_TEST(every_truncation_is_refused)
{
    for (int compression = 0; compression < 4; compression += 3) {
        mica_blob blob = level_blob(&(mica_save_def){.compression = compression});
        for (size_t length = 0; length < blob.byte_count; ++length)
            expect_refused(blob.bytes, length, NULL, length);
        mica_blob_free(&blob);
    }
}
END_TEST

START_TEST(bytes_after_the_end_are_rejected)
{
    mica_blob blob = level_blob(NULL);
    char *longer = calloc(1, blob.byte_count + 64);
    memcpy(longer, blob.bytes, blob.byte_count);
    for (size_t more = 1; more <= 64; ++more)
        expect_refused(longer, blob.byte_count + more, "cut or appended", more);
    free(longer);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(every_single_bit_flip_is_refused)
{
    for (int compression = 0; compression < 4; compression += 3) {
        mica_blob blob = level_blob(&(mica_save_def){.compression = compression});
        char *bytes = blob.bytes;
        for (size_t bit = 0; bit < blob.byte_count * 8; ++bit) {
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            expect_refused(bytes, blob.byte_count, NULL, bit / 8);
            bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        mica_blob_free(&blob);
    }
}
END_TEST

/* What got past the verifier is used in every way there is. */
static void use(const mica_resource *resource)
{
    mica_world *world = open_world(&heard);
    level_define(world);
    uint32_t count = mica_resource_entity_count(resource);
    REQUIRE(count < 1000);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t c = 0; c < mica_resource_component_count(resource); ++c)
            mica_resource_value(resource, mica_resource_entity_in_order(resource, i), c);
    mica_result result = mica_spawn(world, resource, &(mica_spawn_def){.skip_unknown = true});
    if (result == MICA_OK)
        REQUIRE(mica_world_get_stats(world).entity_count == count);
    mica_blob blob;
    REQUIRE(mica_pack(world, NULL, &blob) == MICA_OK);
    mica_blob_free(&blob);
    REQUIRE(mica_world_validate(world) == MICA_OK);
    mica_world_destroy(world);
}

static bool survives(char *bytes, size_t byte_count)
{
    mica_resource_error error = {0};
    char *copy;
    reseal(bytes, byte_count);
    mica_resource *resource = open_exactly(bytes, byte_count, &error, &copy);
    REQUIRE(resource || error.text[0]);
    bool loaded = resource != NULL;
    if (loaded)
        use(resource);
    mica_resource_free(resource);
    free(copy);
    return loaded;
}

START_TEST(a_bit_flip_with_right_checksums_is_refused_or_harmless)
{
    mica_blob blob = level_blob(NULL);
    char *bytes = malloc(blob.byte_count);
    uint32_t refused = 0, step = UNDER_SANITIZER ? 3 : 1;
    for (size_t bit = 0; bit < blob.byte_count * 8; bit += step) {
        memcpy(bytes, blob.bytes, blob.byte_count);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        refused += !survives(bytes, blob.byte_count);
    }
    ck_assert_msg(refused * step > blob.byte_count * 3, "most of them are noticed: %u", refused);
    free(bytes);
    mica_blob_free(&blob);
}
END_TEST

/* Words with values that overflow, point to the end, or mean none. */
START_TEST(wild_numbers_with_right_checksums_are_refused_or_harmless)
{
    static const uint32_t wild[] = {0, 1, 2, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 64, 4096};
    mica_blob blob = level_blob(NULL);
    char *bytes = malloc(blob.byte_count);
    uint32_t refused = 0;
    for (size_t at = 0; at + 4 <= blob.byte_count; at += 4)
        for (uint32_t i = 0; i < COUNT_OF(wild); i += UNDER_SANITIZER ? 3 : 1) {
            memcpy(bytes, blob.bytes, blob.byte_count);
            memcpy(bytes + at, &wild[i], 4);
            refused += !survives(bytes, blob.byte_count);
        }
    ck_assert_uint_gt(refused, 1000);
    free(bytes);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(random_damage_with_right_checksums_is_refused_or_harmless)
{
    random_source random = {setting_from_environment("MICA_TEST_SEED", 1)};
    test_length length = test_length_begin("random damage", random.state, UNDER_SANITIZER ? 2000 : 10000, 100);
    mica_blob blob = level_blob(NULL);
    char *bytes = malloc(blob.byte_count);
    for (uint64_t round = 0; test_length_continues(&length, round); ++round) {
        memcpy(bytes, blob.bytes, blob.byte_count);
        for (uint32_t change = 0; change < 1 + random_below(&random, 4); ++change) {
            uint32_t at = random_below(&random, (uint32_t)blob.byte_count), other;
            other = random_below(&random, (uint32_t)blob.byte_count);
            bytes[at] = random_one_in(&random, 3) ? (char)random_u32(&random) : bytes[other];
        }
        survives(bytes, blob.byte_count);
    }
    free(bytes);
    mica_blob_free(&blob);
}
END_TEST

/* One lie each, told with right checksums; the message says which. */
typedef struct lie {
    micap_section_kind kind; /* 0: the header */
    uint32_t offset;         /* from the start of the section, or of its entry in the table */
    bool in_table;
    uint32_t value;
    const char *fragment;
} lie;

static const lie lies[] = {
    {0, 12, false, 2, "has version 2.0 of the format"},
    {0, 24, false, 8, "invalid size"},
    {0, 28, false, 1 << 20, "invalid size"},
    {0, 28, false, 1 << 10, "section table ends after the file"},
    {0, 32, false, 40, "invalid size"},
    {0, 36, false, 0xFFFFFFFF, "the groups hold 12 entities of 4294967295"},
    {MICAP_SECTION_STRINGS, 0, false, 0x41414141, "don't begin and end with a zero byte"},
    {MICAP_SECTION_STRINGS, 4, false, 0xFFFFFFFF, "not valid UTF-8"},
    {MICAP_SECTION_STRINGS, 8, true, 1 << 30, "does not begin at"},
    {MICAP_SECTION_STRINGS, 16, true, 1 << 30, "ends after the file"},
    {MICAP_SECTION_STRINGS, 24, true, 1, "two sizes of section"},
    {MICAP_SECTION_STRINGS, 4, true, 1, "can't be decompressed"},
    {MICAP_SECTION_STRINGS, 0, true, MICAP_SECTION_TYPES, "do not fill its"},
    {MICAP_SECTION_STRINGS, 0, true, MICAP_SECTION_INSTANCES, "the strings are missing"},
    {MICAP_SECTION_NAMES, 40, true, 3, "do not fill its"},
    {MICAP_SECTION_NAMES, 0, true, MICAP_SECTION_COLUMNS, "is the second of the kind"},
    {MICAP_SECTION_TYPES, 0, false, 0x7FFFFFFF, "has no name"},
    {MICAP_SECTION_TYPES, 4, false, 3, "neither struct, enum nor flags"},
    {MICAP_SECTION_TYPES, 8, false, 0, "more bytes than it has itself"},
    {MICAP_SECTION_TYPES, 12, false, 3, "alignment is not a power of two"},
    {MICAP_SECTION_TYPES, 16, false, 1000, "more fields or constants than there are"},
    {MICAP_SECTION_FIELDS, 0, false, 0x7FFFFFFF, "has no name"},
    {MICAP_SECTION_FIELDS, 4, false, 99, "unknown kind 99"},
    {MICAP_SECTION_FIELDS, 8, false, 0x7FFFFFFF, "outside of the struct"},
    {MICAP_SECTION_FIELDS, 12, false, 2, "kind and size disagree"},
    {MICAP_SECTION_FIELDS, 16, false, 0, "has no elements"},
    {MICAP_SECTION_FIELDS, 20, false, 0, "names type 0"},
    {MICAP_SECTION_CONSTANTS, 8, false, 0x7FFFFFFF, "constant 0 has no name"},
    {MICAP_SECTION_COMPONENTS, 0, false, 5, "hash of its name"},
    {MICAP_SECTION_COMPONENTS, 8, false, 5, "hash of its layout"},
    {MICAP_SECTION_COMPONENTS, 16, false, 0x7FFFFFFF, "has no name"},
    {MICAP_SECTION_COMPONENTS, 20, false, 99, "has type 99"},
    {MICAP_SECTION_COMPONENTS, 24, false, 3, "unknown role 3"},
    {MICAP_SECTION_COMPONENTS, 28, false, 7, "higher spawn order"},
    {MICAP_SECTION_COMPONENTS, 32, false, 2, "is a singleton and has 2 instances"},
    {MICAP_SECTION_COMPONENTS, 36, false, 0, "has no section with 1 instances"},
    {MICAP_SECTION_COMPONENTS, 40, false, 0, "has owners or enabled states"},
    {MICAP_SECTION_COMPONENTS, 48 + 40, false, 0, "no section with its owners"},
    {MICAP_SECTION_COMPONENTS, 48 + 44, false, 0, "no section with its enabled states"},
    {MICAP_SECTION_COMPONENTS, 48 + 36, false, 0, "is a tag and has instances"},
    {MICAP_SECTION_GROUPS, 0, false, 1, "does not contain the next entities"},
    {MICAP_SECTION_GROUPS, 4, false, 0, "does not contain the next entities"},
    {MICAP_SECTION_GROUPS, 4, false, 13, "does not contain the next entities"},
    {MICAP_SECTION_GROUPS, 8, false, 1, "does not have the next columns"},
    {MICAP_SECTION_GROUPS, 12, false, 99, "does not have the next columns"},
    {MICAP_SECTION_COLUMNS, 0, false, 99, "has component 99"},
    {MICAP_SECTION_COLUMNS, 0, false, 0, "is not a column of a group"},
    {MICAP_SECTION_COLUMNS, 4, false, 1, "do not follow the ones before"},
    {MICAP_SECTION_PARENTS, 0, false, 0, "is not before it"},
    {MICAP_SECTION_PARENTS, 0, false, 99, "is not before it"},
    {MICAP_SECTION_ORDER, 0, false, 1, "which does not exist or is there twice"},
    {MICAP_SECTION_ORDER, 0, false, 99, "which does not exist or is there twice"},
    {MICAP_SECTION_NAMES, 0, false, 99, "belongs to entity 99"},
    {MICAP_SECTION_NAMES, 4, false, 0, "is empty"},
    {MICAP_SECTION_NAMES, 0, false, 2, "out of order"},
    {MICAP_SECTION_DISABLED, 0, false, 99, "not an instance"},
    {MICAP_SECTION_PARENTS, 0, true, 77, "there are 0 parents for 12 entities"},
};

typedef struct Alarm { bool rings; } Alarm;
MICA_COMPONENT(Alarm, rings)

/* What the level does not have: two instances for one owner, two that are switched off, a bool, and names that no identifier may
 * have: one that is too long, and one whose second byte begins no character. */
#define UMLAUT "\xC3\xBC"
static mica_blob crowd_blob(void)
{
    static char name[301];
    memset(name, 'n', sizeof name - 1);
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t alarm = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Alarm});
    uint32_t many = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Number});
    mica_draft_entity(draft, MICA_NO_PARENT, UMLAUT);
    mica_draft_entity(draft, MICA_NO_PARENT, name);
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert(mica_draft_add(draft, i, alarm) && mica_draft_disable(draft, alarm));
        ck_assert(mica_draft_add(draft, i, many) && mica_draft_add(draft, i, many));
    }
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

enum { WITHIN_UMLAUT = 0x7F000001, LONG_NAME }; /* offsets that are found in the strings */
static const lie crowd_lies[] = {
    {MICAP_SECTION_INSTANCES, 0, false, 0x0201, "component Alarm, instance 1: a bool is neither 0 nor 1"},
    {MICAP_SECTION_OWNERS, 12, false, 2, "owner 3 is not an entity, or out of order"},
    {MICAP_SECTION_OWNERS, 0, false, 1, "owner 1 is not an entity, or out of order"},
    {MICAP_SECTION_DISABLED, 4, false, 0, "switch 1 is not an instance, or out of order"},
    {MICAP_SECTION_COLUMNS, 0, false, 1, "component Number is not a column of a group"},
    {MICAP_SECTION_NAMES, 4, false, WITHIN_UMLAUT, "name 0 is empty"},
    {MICAP_SECTION_TYPES, 0, false, WITHIN_UMLAUT, "type 0 has no name"},
    {MICAP_SECTION_TYPES, 0, false, LONG_NAME, "type 0 has no name, or one that is too long"},
    {MICAP_SECTION_FIELDS, 0, false, LONG_NAME, "field 0 has no name, or one that is too long"},
};

/* A world of two entities with its state. */
static mica_blob saved_blob(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_create(world, MICA_WITH(Alarm, {true}));
    mica_create(world, MICA_WITH(Alarm, {false}));
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_world_destroy(world);
    return blob;
}

static const lie saved_lies[] = {
    {MICAP_SECTION_HANDLES, 0, false, 0, "handles 0: an index, a generation or their number is 0"},
    {MICAP_SECTION_HANDLES, 4, false, 0, "handles 0: an index, a generation or their number is 0"},
    {MICAP_SECTION_HANDLES, 8, false, 0, "handles 0: an index, a generation or their number is 0"},
    {MICAP_SECTION_HANDLES, 8, false, 0xFFFFFFFF, "handles 0: an index, a generation or their number is 0 or too large"},
    {MICAP_SECTION_HANDLES, 8, false, 3, "there are 3 handles for 2 entities"},
    {MICAP_SECTION_STATE, 4, false, 0x7FFFFFFF, "does not consist of whole records"},
};

static uint32_t value_of(char *bytes, const lie *lie)
{
    if (lie->value != WITHIN_UMLAUT && lie->value != LONG_NAME)
        return lie->value;
    const micap_section *strings = find_section(bytes, MICAP_SECTION_STRINGS);
    const char *wanted = lie->value == LONG_NAME ? "nnn" : &UMLAUT[1];
    uint32_t offset = 0;
    while (strncmp(bytes + strings->offset + offset, wanted, strlen(wanted)) != 0)
        ++offset;
    return offset;
}

static void tell(const mica_blob *blob, const lie *list, uint32_t count)
{
    char *bytes = malloc(blob->byte_count);
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(bytes, blob->bytes, blob->byte_count);
        const lie *lie = &list[i];
        uint32_t value = value_of(bytes, lie);
        micap_section *section = lie->kind ? find_section(bytes, lie->kind) : NULL;
        char *base = !section ? bytes : lie->in_table ? (char *)section : bytes + section->offset;
        memcpy(base + lie->offset, &value, 4);
        reseal(bytes, blob->byte_count);
        expect_refused(bytes, blob->byte_count, lie->fragment, i);
    }
    free(bytes);
}

START_TEST(each_lie_is_named)
{
    mica_blob level = level_blob(NULL), crowd = crowd_blob(), saved = saved_blob();
    tell(&level, lies, COUNT_OF(lies));
    tell(&crowd, crowd_lies, COUNT_OF(crowd_lies));
    tell(&saved, saved_lies, COUNT_OF(saved_lies));
    mica_blob_free(&saved);
    mica_blob_free(&level);
    mica_blob_free(&crowd);
}
END_TEST

/* The same file with a section of another size, cut or filled up with zeros. */
static char *resize_section(const mica_blob *blob, micap_section_kind kind, uint32_t count, uint32_t stride,
                            size_t *out_byte_count)
{
    char *bytes = calloc(1, blob->byte_count + (size_t)count * stride + 64);
    micap_header *header = (micap_header *)(void *)bytes;
    memcpy(bytes, blob->bytes, sizeof *header);
    size_t end = sizeof *header + header->section_count * sizeof(micap_section);
    memcpy(bytes, blob->bytes, end);
    for (uint32_t i = 0; i < header->section_count; ++i) {
        micap_section *section = (micap_section *)(void *)(bytes + sizeof *header) + i;
        const char *from = (const char *)blob->bytes + section->offset;
        size_t before = section->bytes;
        if (section->kind == (uint32_t)kind) {
            section->count = count;
            section->stride = stride;
            section->bytes = section->stored_bytes = (uint64_t)count * stride;
        }
        section->offset = (end + 63) / 64 * 64;
        memcpy(bytes + section->offset, from, before < section->bytes ? before : section->bytes);
        end = section->offset + section->bytes;
    }
    header->file_bytes = *out_byte_count = end;
    reseal(bytes, end);
    return bytes;
}

START_TEST(sections_of_a_wrong_size_are_refused)
{
    static const struct {
        micap_section_kind kind;
        uint32_t count, stride;
        const char *fragment;
    } cases[] = {
        {MICAP_SECTION_STRINGS, 0, 1, "the strings are missing"},
        {MICAP_SECTION_STRINGS, 500, 2, "the strings are missing"},
        {MICAP_SECTION_TYPES, MICAP_TYPES_MAX + 1, 24, "types and 2 components, more than the limit"},
        {MICAP_SECTION_COMPONENTS, MICA_COMPONENTS_MAX + 1, 48, "components, more than the limit"},
        {MICAP_SECTION_PARENTS, 2, 8, "parents for 2 entities"},
        {MICAP_SECTION_PARENTS, 3, 4, "there are 3 parents for 2 entities"},
        {MICAP_SECTION_OWNERS, 4, 8, "component Number has no section with its owners"},
        {MICAP_SECTION_DISABLED, 2, 8, "component Alarm has no section with its enabled states"},
    };
    mica_blob blob = crowd_blob(), level = level_blob(NULL);
    size_t byte_count;
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        char *bytes = resize_section(&blob, cases[i].kind, cases[i].count, cases[i].stride, &byte_count);
        expect_refused(bytes, byte_count, cases[i].fragment, i);
        free(bytes);
    }
    for (uint32_t stride = 4; stride <= 8; stride += 4) { /* an order, which the level has */
        char *bytes = resize_section(&level, MICAP_SECTION_ORDER, stride == 4 ? 13 : 12, stride, &byte_count);
        expect_refused(bytes, byte_count, "entries for 12 entities", stride);
        free(bytes);
    }
    mica_blob_free(&blob);
    mica_blob_free(&level);
}
END_TEST

START_TEST(a_section_that_begins_after_the_file_is_refused)
{
    mica_blob blob = level_blob(NULL);
    micap_header *header = blob.bytes;
    micap_section *last = (micap_section *)(void *)(header + 1) + header->section_count - 1;
    uint64_t end = last[-1].offset + last[-1].stored_bytes;
    ck_assert_uint_ne(end % 64, 0);
    header->file_bytes = end; /* the last one is empty, and begins at the next multiple of 64 */
    last->stored_bytes = last->bytes = last->count = 0;
    reseal(blob.bytes, blob.byte_count);
    expect_refused(blob.bytes, end, "ends after the file", 0);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_damaged_frame_is_refused)
{
    mica_blob blob = level_blob(&(mica_save_def){.compression = 3});
    micap_section *section = (micap_section *)(void *)((micap_header *)blob.bytes + 1);
    while (!(section->flags & MICAP_SECTION_ZSTD))
        ++section;
    char *bytes = blob.bytes;
    uint32_t refused = 0;
    for (uint64_t i = 0; i < section->stored_bytes; ++i) { /* frames have no checksum: some damage only shows later */
        bytes[section->offset + i] ^= 0x55;
        refused += !survives(bytes, blob.byte_count);
        bytes[section->offset + i] ^= 0x55;
    }
    ck_assert_uint_gt(refused, section->stored_bytes / 2);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(two_components_of_one_name_are_refused)
{
    mica_blob blob = crowd_blob();
    char *bytes = blob.bytes;
    micap_component_record *records =
        (micap_component_record *)(void *)(bytes + find_section(bytes, MICAP_SECTION_COMPONENTS)->offset);
    records[1].name = records[0].name;
    records[1].name_hash = records[0].name_hash;
    reseal(bytes, blob.byte_count);
    expect_refused(bytes, blob.byte_count, "two components have the same name", 0);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_file_that_claims_four_billion_entities_is_refused)
{
    mica_blob blob = level_blob(NULL);
    char *bytes = blob.bytes;
    uint32_t claimed = 0xFFFFFFFF;
    memcpy(bytes + 36, &claimed, 4);
    expect_refused(bytes, blob.byte_count, NULL, 36);
    reseal(bytes, blob.byte_count);
    expect_refused(bytes, blob.byte_count, "entities of 4294967295", 36);
    mica_blob_free(&blob);

    /* And one where groups agree: entities without components cost nothing there, but four bytes each as parents. */
    mica_world *world = open_world(&heard);
    mica_create(world);
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){0}, &blob), MICA_OK);
    mica_world_destroy(world);
    bytes = blob.bytes;
    memcpy(bytes + 36, &claimed, 4);
    const micap_section *groups = find_section(bytes, MICAP_SECTION_GROUPS);
    memcpy(bytes + groups->offset + 4, &claimed, 4);
    reseal(bytes, blob.byte_count);
    expect_refused(bytes, blob.byte_count, "there are 1 parents for 4294967295 entities", 36);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_small_file_that_unpacks_to_too_much_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_create_many(world, 300000, NULL, 0, NULL);
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.compression = 1}, &blob), MICA_OK);
    mica_world_destroy(world);
    ck_assert_uint_lt(blob.byte_count, 2000);
    expect_refused(blob.bytes, blob.byte_count, "grow beyond the 1048576 bytes allowed", 0);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(newer_files_with_more_in_them_are_read)
{
    /* A later minor version may add sections that need not be known. */
    mica_blob blob = level_blob(NULL);
    char *bytes = blob.bytes;
    uint16_t minor = 9;
    memcpy(bytes + 14, &minor, 2);
    reseal(bytes, blob.byte_count);
    mica_resource *resource = level_open(&blob);
    ck_assert_uint_eq(mica_resource_get_info(resource).version_minor, 9);
    mica_resource_free(resource);
    micap_section *names = find_section(bytes, MICAP_SECTION_NAMES);
    names->kind = 77;
    reseal(bytes, blob.byte_count);
    resource = level_open(&blob);
    ck_assert_ptr_null(mica_resource_name(resource, 0));
    mica_resource_free(resource);
    names->flags = MICAP_SECTION_NEEDED;
    reseal(bytes, blob.byte_count);
    expect_refused(bytes, blob.byte_count, "kind 77, which this program does not know and needs", 0);
    mica_blob_free(&blob);
}
END_TEST

TEST_SUITE(hostile, every_truncation_is_refused, bytes_after_the_end_are_rejected, every_single_bit_flip_is_refused,
           a_bit_flip_with_right_checksums_is_refused_or_harmless,
           wild_numbers_with_right_checksums_are_refused_or_harmless,
           random_damage_with_right_checksums_is_refused_or_harmless, each_lie_is_named,
           sections_of_a_wrong_size_are_refused, a_section_that_begins_after_the_file_is_refused,
           a_damaged_frame_is_refused, two_components_of_one_name_are_refused,
           a_file_that_claims_four_billion_entities_is_refused, a_small_file_that_unpacks_to_too_much_is_refused,
           newer_files_with_more_in_them_are_read)
