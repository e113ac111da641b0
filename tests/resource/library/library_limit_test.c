/* A library at its limits: many paths, long chains, paths of one hash, files that are damaged or come back worse. */
#include "support/faulty_allocator.h"
#include "support/level.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/draft.h"
#include "mica/library.h"

#include <stdio.h>
#include <string.h>

/* A file that refers to others. */
static mica_blob file_of(const char *const *paths, uint32_t count)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t shape = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Shape});
    for (uint32_t i = 0; i < count; ++i) {
        Shape *value = mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, NULL), shape);
        value->outline = mica_draft_asset(draft, paths[i]);
    }
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

static void write_reference(const char *path, const char *to, const char *other)
{
    const char *paths[] = {to, other};
    mica_blob blob = file_of(paths, (to != NULL) + (other != NULL));
    ck_assert_int_eq(mica_write_file(scratch(path), blob.bytes, blob.byte_count, NULL), MICA_OK);
    mica_blob_free(&blob);
}

static mica_library *open_library(void)
{
    return mica_library_create(&(mica_library_def){.root = scratch("")});
}

static void expect_error(const mica_resource_error *error, mica_result result, const char *fragment)
{
    ck_assert_msg(error->result == result && strstr(error->text, fragment), "expected \"%s\": %s", fragment,
                  error->text);
}

START_TEST(any_number_of_paths_is_known_each_by_its_name)
{
    enum { PATHS = 1000 };
    mica_library *library = mica_library_create(NULL);
    char path[32];
    for (uint32_t i = 0; i < PATHS; ++i) {
        snprintf(path, sizeof path, "folder/%u.mica", i);
        ck_assert_uint_ne(mica_library_asset(library, path).path_hash, 0);
    }
    for (uint32_t i = 0; i < PATHS; ++i) {
        snprintf(path, sizeof path, "folder/%u.mica", i);
        ck_assert_str_eq(mica_library_path(library, mica_library_asset(library, path)), path);
    }
    ck_assert_ptr_null(mica_library_path(library, (mica_asset){12345}));
    ck_assert_uint_eq(mica_library_count(library), 0);
    mica_library_destroy(library);
}
END_TEST

START_TEST(of_two_paths_with_one_hash_the_first_is_taken)
{
    mica_library *library = open_library();
    ck_assert_uint_ne(mica_library_asset(library, "8yn0iYCKYHlIj4-BwPqk").path_hash, 0);
    ck_assert_uint_eq(mica_library_asset(library, "GReLUrM4wMqfg9yzV3KQ").path_hash, 0);
    mica_resource_error error = {0};
    ck_assert_ptr_null(mica_library_load(library, "GReLUrM4wMqfg9yzV3KQ", &error));
    expect_error(&error, MICA_ERROR_EXISTS, "another path has the same hash: rename the file");
    mica_library_destroy(library);
}
END_TEST

START_TEST(a_path_is_at_most_so_long)
{
    char path[2000];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = 0;
    mica_library *library = open_library();
    mica_resource_error error = {0};
    ck_assert_ptr_null(mica_library_load(library, path, &error));
    expect_error(&error, MICA_ERROR_INVALID, "too long");
    static const char *const dotted[] = {"...", ".a", "..a", "a/.b/..c", "a."}; /* names like any other */
    for (uint32_t i = 0; i < COUNT_OF(dotted); ++i)
        ck_assert_msg(mica_library_asset(library, dotted[i]).path_hash, "%s", dotted[i]);
    mica_library_destroy(library);
}
END_TEST

/* Each refers to the next. */
static mica_resource *open_link(const char *path, mica_resource_error *out_error, void *context)
{
    static mica_blob blobs[256];
    uint32_t number = (uint32_t)strtoul(path, NULL, 10);
    char next[16];
    snprintf(next, sizeof next, "%u", number + 1);
    mica_blob_free(&blobs[number]);
    blobs[number] = number < *(uint32_t *)context ? file_of(&(const char *){next}, 1) : file_of(NULL, 0);
    return mica_resource_open(blobs[number].bytes, blobs[number].byte_count, NULL, out_error);
}

START_TEST(a_chain_that_is_too_long_is_refused)
{
    uint32_t length = 40;
    mica_library *library = mica_library_create(&(mica_library_def){.open = open_link, .open_context = &length});
    mica_resource_error error = {0};
    const mica_resource *first = mica_library_load(library, "0", &error);
    ck_assert_msg(first && mica_library_count(library) == 41, "%s", error.text);
    ck_assert(mica_library_release(library, first));
    length = 200;
    ck_assert_ptr_null(mica_library_load(library, "0", &error));
    expect_error(&error, MICA_ERROR_DATA, "too deep");
    ck_assert_uint_eq(mica_library_count(library), 0);
    mica_library_destroy(library);
}
END_TEST

START_TEST(a_damaged_file_is_named_with_the_place)
{
    ck_assert_int_eq(
        mica_write_file(scratch("damaged.mica"), "no resource at all, but some bytes, more than a header", 54, NULL),
        MICA_OK);
    mica_library *library = open_library();
    mica_resource_error error = {0};
    ck_assert_ptr_null(mica_library_load(library, "damaged.mica", &error));
    expect_error(&error, MICA_ERROR_DATA, "damaged.mica: the file has 54 bytes");
    ck_assert_uint_eq(error.offset, 54);
    ck_assert_ptr_null(mica_library_load(library, "damaged.mica", NULL));
    mica_library_destroy(library);
}
END_TEST

START_TEST(a_reload_that_can_not_be_leaves_what_was_there)
{
    write_reference("leaf.mica", NULL, NULL);
    write_reference("left.mica", "leaf.mica", NULL);
    write_reference("right.mica", "leaf.mica", NULL);
    write_reference("top.mica", "left.mica", "right.mica"); /* which meet again */
    mica_library *library = open_library();
    const mica_resource *top = mica_library_load(library, "top.mica", NULL);
    mica_asset name = mica_library_asset(library, "top.mica"), leaf = mica_library_asset(library, "leaf.mica");
    ck_assert_uint_eq(mica_library_count(library), 4);
    mica_resource_error error = {0};
    ck_assert_int_eq(mica_library_reload(library, mica_library_asset(library, "other.mica"), &error),
                     MICA_ERROR_UNKNOWN);
    expect_error(&error, MICA_ERROR_UNKNOWN, "other.mica: it is not loaded");
    ck_assert_int_eq(mica_library_reload(library, (mica_asset){12345}, &error), MICA_ERROR_UNKNOWN);
    expect_error(&error, MICA_ERROR_UNKNOWN, "it is not loaded");
    write_reference("top.mica", "left.mica", "gone.mica");
    ck_assert_int_eq(mica_library_reload(library, name, &error), MICA_ERROR_FILE);
    expect_error(&error, MICA_ERROR_FILE, "gone.mica");
    remove(scratch("top.mica"));
    ck_assert_int_eq(mica_library_reload(library, name, NULL), MICA_ERROR_FILE);
    ck_assert_ptr_eq(mica_library_find(library, name), top);
    write_reference("top.mica", "left.mica", "right.mica");
    ck_assert_int_eq(mica_library_reload(library, name, &error), MICA_OK);
    write_reference("leaf.mica", "top.mica", NULL); /* round in a circle, whichever way */
    ck_assert_int_eq(mica_library_reload(library, leaf, &error), MICA_ERROR_DATA);
    expect_error(&error, MICA_ERROR_DATA, "circle");
    ck_assert_uint_eq(mica_library_count(library), 4);
    ck_assert(mica_library_release(library, mica_library_find(library, name)));
    ck_assert_uint_eq(mica_library_count(library), 0);
    mica_library_destroy(library);
}
END_TEST

START_TEST(assets_of_a_resource_from_elsewhere_are_loaded_with_or_without_a_word)
{
    write_reference("leaf.mica", NULL, NULL);
    const char *paths[] = {"leaf.mica", "gone.mica"};
    mica_library *library = open_library();
    for (uint32_t count = 1; count <= 2; ++count) {
        mica_blob blob = file_of(paths, count);
        mica_resource *resource = level_open(&blob);
        mica_result wanted = count == 1 ? MICA_OK : MICA_ERROR_FILE;
        ck_assert_int_eq(mica_library_load_assets(library, resource, NULL), wanted);
        ck_assert_uint_eq(mica_library_count(library), count == 1);
        if (wanted == MICA_OK)
            mica_library_release_assets(library, resource);
        ck_assert_uint_eq(mica_library_count(library), 0);
        mica_resource_free(resource);
        mica_blob_free(&blob);
    }
    mica_library_destroy(library);
}
END_TEST

START_TEST(files_without_memory_leave_everything_as_it_was)
{
    write_reference("leaf.mica", NULL, NULL);
    write_reference("top.mica", "leaf.mica", NULL);
    static faulty_allocator faulty;
    for (uint64_t k = 1, reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        const mica_library_def def = {.resource.allocator = faulty_allocator_interface(&faulty), .root = scratch("")};
        mica_library *library = mica_library_create(&def);
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_resource_error error = {0};
        const mica_resource *top = mica_library_load(library, "top.mica", &error);
        mica_asset name = mica_library_asset(library, "top.mica");
        mica_result result = top ? mica_library_reload(library, name, &error) : MICA_ERROR_MEMORY;
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE_SAYING((result == MICA_OK) != (reached != 0), "allocation %llu", (unsigned long long)k);
        REQUIRE(result == MICA_OK || error.result == MICA_ERROR_MEMORY);
        REQUIRE(mica_library_count(library) == (top ? 2 : 0));
        REQUIRE(!top || mica_library_release(library, mica_library_find(library, name)));
        mica_library_destroy(library);
        REQUIRE(faulty.live_blocks == 0);
        faulty_allocator_free(&faulty);
    }
}
END_TEST

TEST_SUITE(library_limit, any_number_of_paths_is_known_each_by_its_name, of_two_paths_with_one_hash_the_first_is_taken,
           a_path_is_at_most_so_long, a_chain_that_is_too_long_is_refused, a_damaged_file_is_named_with_the_place,
           a_reload_that_can_not_be_leaves_what_was_there,
           assets_of_a_resource_from_elsewhere_are_loaded_with_or_without_a_word,
           files_without_memory_leave_everything_as_it_was)
