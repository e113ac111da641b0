/* Resources that refer to others: loaded once, shared, let go with the last that uses them. */
#include "support/faulty_allocator.h"
#include "support/level.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/reseal.h"
#include "support/test.h"

#include "base/bits.h"
#include "mica/draft.h"
#include "mica/library.h"

#include <stdio.h>
#include <string.h>

typedef struct Vertex { float x, y; } Vertex;
MICA_POOL_WITH(Vertex, (.many = true), x, y)

static reports heard;
static faulty_allocator faulty;

/* Files in memory, by path. What counts is how often each is opened. */
enum { FILES_MAX = 8 };
typedef struct shop {
    struct file {
        const char *path;
        mica_blob blob;
        uint32_t opened;
    } files[FILES_MAX];
    uint32_t count;
    mica_allocator allocator;
} shop;

static mica_resource *open_file(const char *path, mica_resource_error *out_error, void *context)
{
    shop *shop = context;
    mica_resource_def def = {.allocator = shop->allocator, .any_byte_order = true};
    for (uint32_t i = 0; i < shop->count; ++i)
        if (strcmp(shop->files[i].path, path) == 0) {
            ++shop->files[i].opened;
            return mica_resource_open(shop->files[i].blob.bytes, shop->files[i].blob.byte_count, &def, out_error);
        }
    return NULL;
}

static void put(shop *shop, const char *path, mica_blob blob)
{
    uint32_t i = 0;
    while (i < shop->count && strcmp(shop->files[i].path, path) != 0)
        ++i;
    mica_blob_free(&shop->files[i].blob);
    shop->files[i].path = path;
    shop->files[i].blob = blob;
    shop->count = i == shop->count ? i + 1 : shop->count;
}

static void close_shop(shop *shop)
{
    for (uint32_t i = 0; i < shop->count; ++i)
        mica_blob_free(&shop->files[i].blob);
    *shop = (struct shop){0};
}

static mica_library *open_library(shop *shop)
{
    mica_library_def def = {.resource.allocator = shop->allocator, .open = open_file, .open_context = shop};
    return mica_library_create(&def);
}

/* A resource of one entity with vertices. */
static mica_blob outline(uint32_t vertex_count)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t vertex = mica_draft_component(
        draft, &(mica_draft_component_def){.type = &mica_type_of_Vertex, .storage = MICA_STORAGE_POOL});
    uint32_t entity = mica_draft_entity(draft, MICA_NO_PARENT, NULL);
    for (uint32_t i = 0; i < vertex_count; ++i)
        *(Vertex *)mica_draft_add(draft, entity, vertex) = (Vertex){(float)i, 1};
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

/* `count` entities with shapes that refer to paths, one after the other; NULL refers to nothing. */
static mica_blob shapes(const char *const *paths, uint32_t path_count, uint32_t count, mica_byte_order order)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t shape = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Shape});
    for (uint32_t i = 0; i < count; ++i) {
        const char *path = paths[i % path_count];
        Shape *value = mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, NULL), shape);
        value->colour = i;
        if (path)
            value->outline = value->extra[i % 2] = mica_draft_asset(draft, path);
    }
    mica_draft_asset(draft, "not/referred/to.mica");
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, &(mica_draft_finish_def){.byte_order = order}, &blob), MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

static const char *const stones[] = {"stones/rock.mica", "stones/pebble.mica", NULL};

static shop stone_shop(void)
{
    shop shop = {0};
    put(&shop, "level.mica", shapes(stones, 3, 100, MICA_BYTE_ORDER_NATIVE));
    put(&shop, "stones/rock.mica", outline(5));
    put(&shop, "stones/pebble.mica", outline(3));
    return shop;
}

START_TEST(what_many_refer_to_is_loaded_once_and_read_where_it_lies)
{
    shop shop = stone_shop();
    mica_library *library = open_library(&shop);
    const mica_resource *level = mica_library_load(library, "level.mica", NULL);
    ck_assert_ptr_nonnull(level);
    ck_assert_uint_eq(mica_resource_asset_count(level), 2);
    ck_assert_ptr_eq(mica_library_load(library, "level.mica", NULL), level);
    ck_assert_uint_eq(mica_library_count(library), 3);
    for (uint32_t i = 0; i < 3; ++i)
        ck_assert_uint_eq(shop.files[i].opened, 1);
    mica_world *world = open_world(&heard);
    mica_define(world, Shape);
    ck_assert_int_eq(mica_spawn(world, level, NULL), MICA_OK);
    uint32_t seen = 0, count;
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Shape)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const Shape *shape = &mica_view_read(&view, Shape)[i];
            const mica_resource *stone = mica_library_find(library, shape->outline);
            const Vertex *vertices = stone ? mica_resource_values(stone, Vertex, &count) : NULL;
            ck_assert(!stone == (shape->colour % 3 == 2));
            if (stone) {
                ck_assert_uint_eq(count, shape->colour % 3 ? 3 : 5);
                ck_assert(vertices[count - 1].x == (float)(count - 1));
                ck_assert_str_eq(mica_library_path(library, shape->outline), stones[shape->colour % 3]);
            }
            ++seen;
        }
    ck_assert_uint_eq(seen, 100);
    ck_assert_ptr_null(mica_resource_values(level, Vertex, &count));
    mica_query_destroy(query);
    close_world(world, &heard);
    ck_assert(mica_library_release(library, level));
    ck_assert_uint_eq(mica_library_count(library), 3);
    ck_assert(mica_library_release(library, level));
    ck_assert_uint_eq(mica_library_count(library), 0);
    ck_assert(!mica_library_release(library, NULL));
    ck_assert_ptr_null(mica_library_find(library, mica_library_asset(library, "stones/rock.mica")));
    mica_library_destroy(library);
    close_shop(&shop);
}
END_TEST

START_TEST(a_resource_stays_while_anything_refers_to_it)
{
    shop shop = stone_shop();
    put(&shop, "world.mica", shapes((const char *const[]){"level.mica", "stones/rock.mica"}, 2, 4, 0));
    mica_library *library = open_library(&shop);
    const mica_resource *all = mica_library_load(library, "world.mica", NULL);
    const mica_resource *rock = mica_library_load(library, "stones/rock.mica", NULL);
    ck_assert_uint_eq(mica_library_count(library), 4);
    ck_assert(!mica_library_release(library, mica_library_find(library, mica_library_asset(library, "level.mica"))));
    ck_assert(mica_library_release(library, all));
    ck_assert_uint_eq(mica_library_count(library), 1);
    ck_assert_ptr_eq(mica_library_find(library, mica_library_asset(library, "stones/rock.mica")), rock);
    ck_assert(mica_library_release(library, rock));
    ck_assert(!mica_library_release(library, rock));
    ck_assert_uint_eq(mica_library_count(library), 0);
    mica_library_destroy(library);
    close_shop(&shop);
}
END_TEST

static const struct refusal {
    const char *path;
    mica_result result;
    const char *text;
} refusals[] = {
    {"nowhere.mica", MICA_ERROR_FILE, "nowhere.mica: can't be opened"},
    {"missing.mica", MICA_ERROR_FILE, "stones/gone.mica: can't be opened"},
    {"circle.mica", MICA_ERROR_DATA, "circle.mica: resources refer to each other in a circle"},
    {"damaged.mica", MICA_ERROR_DATA, "the file has 6 bytes"},
    {"", MICA_ERROR_INVALID, "is empty"},
    {"/etc/passwd", MICA_ERROR_INVALID, "slash"},
    {"a/../b", MICA_ERROR_INVALID, "\"..\""},
    {"..", MICA_ERROR_INVALID, "\"..\""},
    {"./a", MICA_ERROR_INVALID, "\".\""},
    {"a//b", MICA_ERROR_INVALID, "\"//\""},
    {"a/", MICA_ERROR_INVALID, "slash"},
    {"a\\b", MICA_ERROR_INVALID, "backslash"},
    {"c:a", MICA_ERROR_INVALID, "colon"},
    {"\xFF", MICA_ERROR_INVALID, "UTF-8"},
};

START_TEST(what_can_not_be_loaded_is_said_and_leaves_nothing)
{
    shop shop = stone_shop();
    put(&shop, "missing.mica", shapes((const char *const[]){stones[0], "stones/gone.mica", stones[1]}, 3, 3, 0));
    put(&shop, "circle.mica", shapes((const char *const[]){"middle.mica"}, 1, 1, 0));
    put(&shop, "middle.mica", shapes((const char *const[]){stones[0], "circle.mica"}, 2, 2, 0));
    mica_blob damaged = outline(1);
    size_t whole = damaged.byte_count;
    damaged.byte_count = 6;
    put(&shop, "damaged.mica", damaged);
    mica_library *library = open_library(&shop);
    for (uint32_t i = 0; i < COUNT_OF(refusals); ++i) {
        mica_resource_error error = {0};
        ck_assert_ptr_null(mica_library_load(library, refusals[i].path, &error));
        ck_assert_msg(error.result == refusals[i].result && strstr(error.text, refusals[i].text), "%s: %s",
                      refusals[i].path, error.text);
        ck_assert_uint_eq(mica_library_count(library), 0);
        ck_assert(refusals[i].result != MICA_ERROR_INVALID || !mica_library_asset(library, refusals[i].path).path_hash);
    }
    shop.files[shop.count - 1].blob.byte_count = whole; /* as it was allocated */
    mica_library_destroy(library);
    close_shop(&shop);
}
END_TEST

START_TEST(a_folder_is_a_root)
{
    mica_blob level = shapes((const char *const[]){"rock.mica"}, 1, 1, 0), rock = outline(2);
    ck_assert_int_eq(mica_write_file(scratch("level.mica"), level.bytes, level.byte_count, NULL), MICA_OK);
    mica_library *library = mica_library_create(&(mica_library_def){.root = scratch("")});
    mica_resource_error error;
    ck_assert_ptr_null(mica_library_load(library, "level.mica", &error));
    ck_assert_msg(error.result == MICA_ERROR_FILE && strstr(error.text, "rock.mica: No such file"), "%s", error.text);
    ck_assert_int_eq(mica_write_file(scratch("rock.mica"), rock.bytes, rock.byte_count, NULL), MICA_OK);
    ck_assert_ptr_nonnull(mica_library_load(library, "level.mica", &error));
    ck_assert_uint_eq(mica_library_count(library), 2);
    mica_library_destroy(library);
    mica_blob_free(&level);
    mica_blob_free(&rock);
}
END_TEST

START_TEST(what_is_reloaded_is_found_from_then_on)
{
    shop shop = stone_shop();
    mica_library *library = open_library(&shop);
    const mica_resource *level = mica_library_load(library, "level.mica", NULL);
    mica_asset rock = mica_library_asset(library, "stones/rock.mica"), name = mica_library_asset(library, "level.mica");
    const mica_resource *old = mica_library_find(library, rock);
    uint32_t count;
    mica_blob before = shop.files[1].blob;
    shop.files[1].blob = outline(7);
    ck_assert_int_eq(mica_library_reload(library, rock, NULL), MICA_OK);
    ck_assert(mica_resource_values(mica_library_find(library, rock), Vertex, &count) && count == 7);
    ck_assert(mica_resource_values(old, Vertex, &count) && count == 5);
    mica_blob_free(&shop.files[1].blob);
    /* One that leads back to itself is refused, and what was there stays. */
    shop.files[1].blob = shapes((const char *const[]){"level.mica"}, 1, 1, 0);
    mica_resource_error error;
    ck_assert_int_eq(mica_library_reload(library, rock, &error), MICA_ERROR_DATA);
    ck_assert_msg(strstr(error.text, "circle"), "%s", error.text);
    ck_assert_int_eq(mica_library_reload(library, mica_library_asset(library, "other.mica"), &error),
                     MICA_ERROR_UNKNOWN);
    mica_blob_free(&shop.files[1].blob);
    shop.files[1].blob = before;
    /* The level no longer refers to the rock, which goes. */
    mica_blob first = shop.files[0].blob;
    shop.files[0].blob = shapes((const char *const[]){stones[1]}, 1, 1, 0);
    ck_assert_int_eq(mica_library_reload(library, name, NULL), MICA_OK);
    ck_assert_uint_eq(mica_library_count(library), 2);
    ck_assert_ptr_null(mica_library_find(library, rock));
    ck_assert(mica_library_release(library, level));
    ck_assert_uint_eq(mica_library_count(library), 0);
    mica_library_destroy(library);
    mica_blob_free(&first);
    close_shop(&shop);
}
END_TEST

START_TEST(a_save_names_what_it_refers_to_in_either_byte_order)
{
    shop shop = stone_shop();
    mica_library *library = open_library(&shop);
    const mica_resource *level = mica_library_load(library, "level.mica", NULL);
    for (int order = MICA_BYTE_ORDER_LITTLE; order <= MICA_BYTE_ORDER_BIG; ++order) {
        mica_world *world = open_world(&heard);
        mica_define(world, Shape);
        mica_spawn(world, level, NULL);
        uint64_t hash = mica_world_hash(world);
        mica_blob blob;
        ck_assert_int_eq(mica_pack(world, &(mica_save_def){.byte_order = (mica_byte_order)order}, &blob),
                         MICA_ERROR_UNKNOWN);
        expect_report(&heard, MICA_ERROR_UNKNOWN, "save with the library");
        mica_save_def def = {.library = library, .byte_order = (mica_byte_order)order};
        ck_assert_int_eq(mica_pack(world, &def, &blob), MICA_OK);
        mica_resource *saved =
            mica_resource_open(blob.bytes, blob.byte_count, &(mica_resource_def){.any_byte_order = true}, NULL);
        ck_assert_uint_eq(mica_resource_get_info(saved).version_minor, 2);
        ck_assert_uint_eq(mica_resource_asset_count(saved), 2);
        for (uint32_t i = 0; i < 2; ++i)
            ck_assert_ptr_nonnull(mica_library_find(library, mica_resource_asset_at(saved, i)));
        mica_world *fresh = open_world(&heard);
        mica_define(fresh, Shape);
        ck_assert_int_eq(mica_spawn(fresh, saved, NULL), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(fresh), hash);
        close_world(fresh, &heard);
        close_world(world, &heard);
        mica_resource_free(saved);
        mica_blob_free(&blob);
    }
    mica_library_destroy(library);
    close_shop(&shop);
}
END_TEST

START_TEST(a_draft_refuses_paths_and_names_it_does_not_know)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t shape = mica_draft_component(draft, &(mica_draft_component_def){.type = &mica_type_of_Shape});
    ck_assert_uint_eq(mica_draft_asset(draft, "../a").path_hash, 0);
    ck_assert_msg(strstr(mica_draft_error(draft)->text, "\"../a\""), "%s", mica_draft_error(draft)->text);
    Shape *value = mica_draft_add(draft, mica_draft_entity(draft, MICA_NO_PARENT, NULL), shape);
    value->outline.path_hash = 12;
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_ERROR_INVALID);
    ck_assert_msg(strstr(mica_draft_error(draft)->text, "Shape refers to a resource whose path is not known"), "%s",
                  mica_draft_error(draft)->text);
    mica_draft_destroy(draft);
}
END_TEST

/* Files of version 1.1 must be read for ever, and written to the bit. */
START_TEST(golden_files_are_read_and_written_to_the_bit)
{
    static const struct {
        const char *path;
        mica_byte_order order;
    } goldens[] = {{"tests/resource/golden/version_1_1_little.mica", MICA_BYTE_ORDER_LITTLE},
                   {"tests/resource/golden/version_1_1_big.mica", MICA_BYTE_ORDER_BIG}};
    for (uint32_t i = 0; i < 2; ++i) {
        mica_blob blob = shapes(stones, 3, 5, goldens[i].order);
        static char bytes[1 << 12];
        FILE *file = fopen(goldens[i].path, "rb");
        size_t count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        ck_assert_uint_eq(count, blob.byte_count);
        ck_assert_mem_eq(bytes, blob.bytes, count);
        mica_resource *resource =
            mica_resource_load(goldens[i].path, &(mica_resource_def){.any_byte_order = true}, NULL);
        ck_assert_ptr_nonnull(resource);
        mica_asset asset = mica_resource_asset_at(resource, 0);
        ck_assert_ptr_nonnull(strstr(mica_resource_asset_path(resource, asset), "stones/"));
        mica_resource_free(resource);
        mica_blob_free(&blob);
    }
}
END_TEST

/* Every change that gets past the verifier leaves paths that are right and names that are known. */
static bool survives(const char *bytes, size_t byte_count)
{
    mica_resource_error error = {0};
    mica_resource *resource = mica_resource_open(bytes, byte_count, NULL, &error);
    REQUIRE(resource || error.text[0]);
    if (!resource)
        return false;
    mica_library *library = mica_library_create(NULL);
    for (uint32_t i = 0; i < mica_resource_asset_count(resource); ++i) {
        mica_asset asset = mica_resource_asset_at(resource, i);
        const char *path = mica_resource_asset_path(resource, asset);
        REQUIRE(mica_library_asset(library, path).path_hash == asset.path_hash);
    }
    uint32_t count;
    const Shape *shape = mica_resource_values(resource, Shape, &count);
    for (uint32_t i = 0; i < count; ++i)
        REQUIRE(!shape[i].outline.path_hash || mica_library_path(library, shape[i].outline));
    mica_library_destroy(library);
    mica_resource_free(resource);
    return true;
}

START_TEST(a_damaged_reference_is_refused)
{
    mica_blob blob = shapes(stones, 3, 4, 0);
    char *bytes = aligned_alloc(64, (blob.byte_count + 63) / 64 * 64);
    uint32_t refused = 0;
    for (int sealed = 0; sealed < 2; ++sealed)
        for (size_t bit = 0; bit < blob.byte_count * 8; ++bit) {
            memcpy(bytes, blob.bytes, blob.byte_count);
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            if (sealed)
                reseal(bytes, blob.byte_count);
            bool survived = survives(bytes, blob.byte_count);
            REQUIRE_SAYING(sealed || !survived, "bit %zu", bit);
            refused += sealed && !survived;
        }
    ck_assert_uint_gt(refused, blob.byte_count * 5);
    free(bytes);
    mica_blob_free(&blob);
}
END_TEST

/* One lie each, at a place of the section of assets or of an instance, with checksums that are right. */
START_TEST(every_lie_about_a_reference_has_its_words)
{
    static const struct lie {
        uint32_t kind; /* of the section */
        uint32_t at;
        uint64_t value;
        uint32_t bytes;
        const char *text;
    } lies[] = {
        {MICAP_SECTION_ASSETS, 0, 1, 8, "its hash is not that of its path"},
        {MICAP_SECTION_ASSETS, 8, UINT32_MAX, 4, "is empty or too long"},
        {MICAP_SECTION_ASSETS, 8, 0, 4, "is empty or too long"},
        {MICAP_SECTION_INSTANCES, 0, 77, 8, "component Shape refers to a resource that the file does not name"},
    };
    for (uint32_t i = 0; i < COUNT_OF(lies); ++i) {
        mica_blob blob = shapes(stones, 3, 4, 0);
        char *bytes = blob.bytes;
        micap_header header;
        memcpy(&header, bytes, sizeof header);
        for (uint32_t s = 0; s < header.section_count; ++s) {
            micap_section section;
            memcpy(&section, bytes + sizeof header + s * sizeof section, sizeof section);
            uint32_t word = (uint32_t)lies[i].value;
            if (section.kind == lies[i].kind)
                memcpy(bytes + section.offset + lies[i].at, lies[i].bytes == 8 ? (void *)&lies[i].value : &word,
                       lies[i].bytes);
        }
        reseal(bytes, blob.byte_count);
        mica_resource_error error = {0};
        ck_assert_ptr_null(mica_resource_open(bytes, blob.byte_count, NULL, &error));
        ck_assert_msg(strstr(error.text, lies[i].text), "%u: %s", i, error.text);
        mica_blob_free(&blob);
    }
}
END_TEST

START_TEST(memory_that_runs_out_leaves_everything_as_it_was)
{
    shop shop = stone_shop();
    for (uint64_t k = 1, reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        shop.allocator = faulty_allocator_interface(&faulty);
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_resource_error error = {0};
        mica_library *library = open_library(&shop);
        const mica_resource *level = library ? mica_library_load(library, "level.mica", &error) : NULL;
        reached = faulty.failures > 0;
        REQUIRE_SAYING(!level == (reached != 0), "allocation %llu", (unsigned long long)k);
        if (library && !level) {
            REQUIRE(error.result == MICA_ERROR_MEMORY && mica_library_count(library) == 0);
            faulty_allocator_fail_at(&faulty, 0, false);
            level = mica_library_load(library, "level.mica", NULL);
            REQUIRE(level && mica_library_count(library) == 3);
        }
        REQUIRE(!level || mica_library_release(library, level));
        mica_library_destroy(library);
        REQUIRE(faulty.live_blocks == 0);
        faulty_allocator_free(&faulty);
    }
    shop.allocator = (mica_allocator){0};
    close_shop(&shop);
}
END_TEST

START_TEST(saving_without_memory_fails_cleanly)
{
    shop shop = stone_shop();
    mica_library *library = open_library(&shop);
    mica_world *world = open_world(&heard);
    mica_define(world, Shape);
    mica_spawn(world, mica_library_load(library, "level.mica", NULL), NULL);
    faulty_allocator_init(&faulty);
    mica_save_def def = {.allocator = faulty_allocator_interface(&faulty), .library = library};
    for (uint64_t k = 1, reached = true; reached; ++k) {
        mica_blob blob;
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_result result = mica_pack(world, &def, &blob);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(result == MICA_OK || (reached && result == MICA_ERROR_MEMORY && !blob.bytes));
        mica_blob_free(&blob);
        REQUIRE(faulty.live_blocks == 0);
    }
    forget_reports(&heard);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
    mica_library_destroy(library);
    close_shop(&shop);
}
END_TEST

TEST_SUITE(library, what_many_refer_to_is_loaded_once_and_read_where_it_lies,
           a_resource_stays_while_anything_refers_to_it, what_can_not_be_loaded_is_said_and_leaves_nothing,
           a_folder_is_a_root, what_is_reloaded_is_found_from_then_on,
           a_save_names_what_it_refers_to_in_either_byte_order, a_draft_refuses_paths_and_names_it_does_not_know,
           golden_files_are_read_and_written_to_the_bit, a_damaged_reference_is_refused,
           every_lie_about_a_reference_has_its_words, memory_that_runs_out_leaves_everything_as_it_was,
           saving_without_memory_fails_cleanly)
