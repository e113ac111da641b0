/* Memory that runs out at every point of loading, spawning and saving: an error, nothing lost, nothing half-done. */
#include "../support/faulty_allocator.h"
#include "../support/level.h"
#include "../support/require.h"
#include "../support/test.h"

#include <stdio.h>
#include <string.h>

static faulty_allocator faulty;
static uint32_t report_count;

static void count_report(const mica_report *report, void *context)
{
    (void)report;
    (void)context;
    ++report_count;
}

static mica_world *make_world(void)
{
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    def.report = count_report;
    mica_world *world = mica_world_create(&def);
    REQUIRE(world);
    level_define(world);
    return world;
}

static mica_resource *open_faulty(const mica_blob *blob, mica_resource_error *out_error)
{
    mica_resource_def def = {.allocator = faulty_allocator_interface(&faulty), .any_byte_order = true};
    return mica_resource_open(blob->bytes, blob->byte_count, &def, out_error);
}

static const mica_save_def forms[] = {
    {.compression = 0},
    {.compression = 3},
    {.byte_order = MICA_BYTE_ORDER_BIG, .compression = 3},
};

START_TEST(loading_fails_cleanly_at_every_allocation)
{
    for (uint32_t form = 0; form < COUNT_OF(forms); ++form) {
        mica_blob blob = level_blob(&forms[form]);
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            faulty_allocator_init(&faulty);
            faulty_allocator_fail_at(&faulty, k, false);
            mica_resource_error error = {0};
            mica_resource *resource = open_faulty(&blob, &error);
            reached = faulty.failures > 0;
            REQUIRE_SAYING((resource == NULL) == reached, "allocation %llu", (unsigned long long)k);
            REQUIRE(resource || error.result == MICA_ERROR_MEMORY);
            mica_resource_free(resource);
            faulty_allocator_free(&faulty);
        }
        ck_assert_uint_gt(k, 10);
        mica_blob_free(&blob);
    }
}
END_TEST

START_TEST(spawning_fails_cleanly_at_every_allocation)
{
    mica_blob blob = level_blob(NULL);
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        mica_resource *resource = open_faulty(&blob, NULL);
        mica_world *world = make_world();
        mica_create(world, MICA_WITH(Position));
        uint64_t before = mica_world_hash(world);
        report_count = 0;
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_result result = mica_spawn(world, resource, NULL);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(mica_world_validate(world) == MICA_OK);
        if (result != MICA_OK) {
            REQUIRE_SAYING(reached && result == MICA_ERROR_MEMORY && report_count, "allocation %llu",
                           (unsigned long long)k);
            /* A singleton may have come into being; it is zero. */
            REQUIRE(mica_world_get_stats(world).entity_count == 1);
            REQUIRE(mica_world_hash(world) == before || mica_get_the(world, Clock)->ticks == 0);
            REQUIRE(mica_spawn(world, resource, NULL) == MICA_OK);
        }
        level_expect(world, mica_nil());
        mica_world_destroy(world);
        mica_resource_free(resource);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 30);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(saving_fails_cleanly_at_every_allocation)
{
    for (uint32_t form = 0; form < COUNT_OF(forms); ++form) {
        mica_blob expected = level_blob(&forms[form]);
        faulty_allocator_init(&faulty);
        mica_world *world = make_world();
        level_create(world);
        size_t blocks = faulty.live_blocks;
        mica_save_def def = forms[form];
        def.allocator = faulty_allocator_interface(&faulty);
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            mica_blob blob;
            report_count = 0;
            faulty_allocator_fail_at(&faulty, k, k % 2);
            mica_result result = mica_pack(world, &def, &blob);
            reached = faulty.failures > 0;
            faulty_allocator_fail_at(&faulty, 0, false);
            if (result == MICA_OK) {
                REQUIRE(blob.byte_count == expected.byte_count);
                REQUIRE(memcmp(blob.bytes, expected.bytes, blob.byte_count) == 0);
            } else {
                REQUIRE(reached && result == MICA_ERROR_MEMORY && report_count && !blob.bytes);
            }
            mica_blob_free(&blob);
        }
        /* The query of the save may leave the world's arrays larger, once. */
        REQUIRE_SAYING(faulty.live_blocks <= blocks + 2, "%zu blocks, %zu before", faulty.live_blocks, blocks);
        ck_assert_uint_gt(k, 100);
        mica_world_destroy(world);
        faulty_allocator_free(&faulty);
        mica_blob_free(&expected);
    }
}
END_TEST

TEST_SUITE(memory_failure, loading_fails_cleanly_at_every_allocation, spawning_fails_cleanly_at_every_allocation,
           saving_fails_cleanly_at_every_allocation)
