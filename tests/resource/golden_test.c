/* Files of every version of the format that was ever written must be read for ever, and 1.0 is still written to the bit. */
#include "../support/level.h"
#include "../support/reports.h"
#include "../support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

static const struct golden {
    const char *path;
    mica_save_def def;
    bool exact; /* compressed bytes depend on zstd's version */
} goldens[] = {
    {"tests/resource/golden/version_1_0_little.mica", {.byte_order = MICA_BYTE_ORDER_LITTLE}, true},
    {"tests/resource/golden/version_1_0_big.mica", {.byte_order = MICA_BYTE_ORDER_BIG}, true},
    {"tests/resource/golden/version_1_0_packed.mica", {.byte_order = MICA_BYTE_ORDER_LITTLE}, false},
};

START_TEST(golden_files_are_read)
{
    for (uint32_t i = 0; i < COUNT_OF(goldens); ++i) {
        mica_resource_error error;
        mica_resource *resource =
            mica_resource_load(goldens[i].path, &(mica_resource_def){.any_byte_order = true}, &error);
        ck_assert_msg(resource != NULL, "%s: %s", goldens[i].path, error.text);
        mica_world *world = open_world(&heard);
        level_define(world);
        ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
        level_expect(world, mica_nil());
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 12);
        close_world(world, &heard);
        mica_resource_free(resource);
    }
}
END_TEST

START_TEST(golden_files_are_written_to_the_bit)
{
    for (uint32_t i = 0; i < COUNT_OF(goldens); ++i) {
        if (!goldens[i].exact)
            continue;
        mica_blob blob = level_blob(&goldens[i].def);
        static char bytes[1 << 16];
        FILE *file = fopen(goldens[i].path, "rb");
        size_t count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        ck_assert_uint_eq(count, blob.byte_count);
        ck_assert_msg(memcmp(bytes, blob.bytes, count) == 0, "%s", goldens[i].path);
        mica_blob_free(&blob);
    }
}
END_TEST

TEST_SUITE(golden, golden_files_are_read, golden_files_are_written_to_the_bit)
