/* Files for machines of the other byte order: written by this one, refused to be mapped, read by tools. */
#include "support/level.h"
#include "support/reports.h"
#include "support/test.h"

#include "base/bits.h"

#include <string.h>

static reports heard;
static const mica_byte_order native = MICAP_IS_BIG_ENDIAN ? MICA_BYTE_ORDER_BIG : MICA_BYTE_ORDER_LITTLE;
static const mica_byte_order foreign = MICAP_IS_BIG_ENDIAN ? MICA_BYTE_ORDER_LITTLE : MICA_BYTE_ORDER_BIG;

START_TEST(native_order_by_name_is_the_default)
{
    mica_blob one = level_blob(NULL), other = level_blob(&(mica_save_def){.byte_order = native});
    ck_assert_uint_eq(one.byte_count, other.byte_count);
    ck_assert_mem_eq(one.bytes, other.bytes, one.byte_count);
    mica_blob_free(&one);
    mica_blob_free(&other);
}
END_TEST

START_TEST(a_foreign_file_is_refused_unless_asked_for)
{
    mica_blob blob = level_blob(&(mica_save_def){.byte_order = foreign});
    mica_resource_error error;
    ck_assert_ptr_null(mica_resource_open(blob.bytes, blob.byte_count, NULL, &error));
    ck_assert_int_eq(error.result, MICA_ERROR_DATA);
    ck_assert_msg(strstr(error.text, "-endian machines"), "%s", error.text);
    const mica_resource_def tight = {.any_byte_order = true, .memory_bytes_max = blob.byte_count - 1};
    ck_assert_ptr_null(mica_resource_open(blob.bytes, blob.byte_count, &tight, &error));
    ck_assert_msg(strstr(error.text, "converting the file takes"), "%s", error.text);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(a_foreign_file_spawns_the_same_world)
{
    uint64_t hashes[2];
    for (int compression = 0; compression < 4; compression += 3) {
        for (int i = 0; i < 2; ++i) {
            mica_blob blob =
                level_blob(&(mica_save_def){.byte_order = i ? foreign : native, .compression = compression});
            char *kept = malloc(blob.byte_count);
            memcpy(kept, blob.bytes, blob.byte_count);
            mica_resource_error error = {0};
            mica_resource *resource =
                mica_resource_open(blob.bytes, blob.byte_count, &(mica_resource_def){.any_byte_order = true}, &error);
            ck_assert_msg(resource != NULL, "%s", error.text);
            ck_assert_int_eq(mica_resource_get_info(resource).byte_order, i ? foreign : native);
            mica_world *world = open_world(&heard);
            level_define(world);
            ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
            level_expect(world, mica_nil());
            hashes[i] = mica_world_hash(world);
            close_world(world, &heard);
            mica_resource_free(resource);
            ck_assert_msg(memcmp(kept, blob.bytes, blob.byte_count) == 0, "the caller's bytes are not touched");
            free(kept);
            mica_blob_free(&blob);
        }
        ck_assert_uint_eq(hashes[0], hashes[1]);
    }
}
END_TEST

START_TEST(every_bit_flip_of_a_foreign_file_is_refused)
{
    mica_blob blob = level_blob(&(mica_save_def){.byte_order = foreign});
    char *bytes = blob.bytes;
    for (size_t bit = 0; bit < blob.byte_count * 8; bit += 7) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        mica_resource *resource =
            mica_resource_open(bytes, blob.byte_count, &(mica_resource_def){.any_byte_order = true}, NULL);
        ck_assert_msg(!resource, "bit %zu", bit);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    mica_blob_free(&blob);
}
END_TEST

TEST_SUITE(byte_order, native_order_by_name_is_the_default, a_foreign_file_is_refused_unless_asked_for,
           a_foreign_file_spawns_the_same_world, every_bit_flip_of_a_foreign_file_is_refused)
