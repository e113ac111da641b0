/* A level of ten thousand objects and one of a million: the same world as made by hand, again and again. */
#define _DEFAULT_SOURCE 1 /* for mkstemp, which strict C17 hides */
#include "../support/level.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static reports heard;

static void fill(mica_world *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        switch (i % 3) {
        case 0: mica_create(world, MICA_WITH(Position, {(float)i, 1, 2}), MICA_WITH(Number, {i})); break;
        case 1: mica_create(world, MICA_WITH(Position, {(float)i, 1, 2}), MICA_WITH(Frozen)); break;
        default: mica_create(world, MICA_WITH(Velocity, {(float)i, 1, 2}), MICA_WITH(Health, {1, (int)i}));
        }
}

static void expect_same_world(uint32_t count)
{
    mica_world *world = open_world(&heard);
    fill(world, count);
    mica_blob blob, again;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    world = open_world(&heard);
    level_define(world);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, count);
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_singletons = true}, &again), MICA_OK);
    ck_assert_uint_eq(again.byte_count, blob.byte_count);
    ck_assert_msg(memcmp(again.bytes, blob.bytes, blob.byte_count) == 0, "saved again, it is the same file");
    mica_blob_free(&again);
    ck_assert_int_eq(mica_world_clear(world), MICA_OK);
    ck_assert_int_eq(mica_spawn(world, resource, NULL), MICA_OK);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, count);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}

START_TEST(ten_thousand_objects_are_saved_spawned_and_respawned)
{
    expect_same_world(10000);
}
END_TEST

START_TEST(a_million_objects_are_saved_spawned_and_respawned)
{
    expect_same_world(UNDER_SANITIZER ? 100000 : 1000000);
}
END_TEST

typedef struct Wall { uint32_t stones[10000]; } Wall;
MICA_COMPONENT(Wall, stones)

/* Values of 4 bytes and of more than a batch of the writer, around multiples of its buffer. */
START_TEST(a_file_of_any_size_has_the_bytes_that_are_packed)
{
    enum { ROUNDS = 60, FILE_BYTES_MAX = 5 << 20 };
    char path[] = "/tmp/mica_scale_XXXXXX";
    static char bytes[FILE_BYTES_MAX];
    random_source random = {11};
    close(mkstemp(path));
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        mica_world *world = open_world(&heard);
        uint32_t walls = random_below(&random, 80), numbers = random_below(&random, 100000);
        for (uint32_t i = 0; i < walls; ++i)
            memset(mica_add(world, mica_create(world), Wall), (int)i, sizeof(Wall));
        for (uint32_t i = 0; i < numbers; ++i)
            mica_create(world, MICA_WITH(Number, {random_u32(&random)}));
        mica_blob blob;
        ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
        ck_assert_int_eq(mica_save(world, path, NULL), MICA_OK);
        FILE *file = fopen(path, "rb");
        size_t byte_count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        ck_assert_uint_eq(byte_count, blob.byte_count);
        ck_assert_int_eq(memcmp(bytes, blob.bytes, byte_count), 0);
        mica_blob_free(&blob);
        close_world(world, &heard);
    }
    remove(path);
}
END_TEST

TEST_SUITE(scale, a_file_of_any_size_has_the_bytes_that_are_packed,
           ten_thousand_objects_are_saved_spawned_and_respawned, a_million_objects_are_saved_spawned_and_respawned)
