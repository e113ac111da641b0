/* Saves of one rank, and of several that are put together here. tools/cluster.py saves and loads on several ranks. */
#define _XOPEN_SOURCE 700 /* truncate */

#include "cluster/manifest.h"
#include "faulty_allocator.h"
#include "level.h"
#include "mica/cluster.h"
#include "mica/flow.h"
#include "mica/singleton.h"
#include "reports.h"
#include "test.h"

#include <stdio.h>
#include <unistd.h>

typedef struct Place { float x, y; } Place;
typedef struct Label { mica_text text; } Label;
typedef struct Total { int32_t steps; } Total;
typedef struct Poke { int32_t force; } Poke;
typedef struct Mark { int32_t number; } Mark;
MICA_COMPONENT(Place, x, y)
MICA_COMPONENT_WITH(Label, (.toggle = true), text)
MICA_SINGLETON(Total, steps)
MICA_STRUCT(Poke, force)
MICA_POOL_WITH(Mark, (.many = true), number)

static void move(mica_view *view)
{
    Place *position = mica_view_write(view, Place);
    ++mica_singleton_write(view->world, Total)->steps;
    for (uint32_t i = 0; i < view->count; ++i)
        position[i].x += 0.25f * view->dt;
}

static mica_cluster *open_cluster(mica_world *world, uint64_t seed, mica_allocator allocator)
{
    mica_component messages[] = {MICA_ID(Poke)};
    mica_cluster_def def = {
        .grid = {.component = MICA_ID(Place), .fields = "x, y", .cell_size = 1, .maximum = {10, 10}},
        .reach = 1,
        .messages = messages,
        .message_count = 1,
        .seed = seed,
        .allocator = allocator};
    mica_cluster *cluster = mica_cluster_create(world, &def);
    mica_define(world, Label), mica_define(world, Mark);
    mica_system_add(world, MICA_SYSTEM_WITH(move, (MICA_USES(MICA_USE_WRITE(Total))), MICA_WRITE(Place)));
    return cluster;
}

static void create_things(mica_world *world, int first)
{
    for (int i = first; i < first + 5; ++i) {
        mica_entity entity =
            mica_create(world, MICA_WITH(Place, {(float)i, 1}), MICA_WITH(mica_identity, {(uint64_t)i + 1}));
        mica_set(world, entity, Label,
                 {.text = mica_text_of(i % 2 ? "a label that is too long to be stored in place" : "b")});
        mica_enable_id(world, entity, MICA_ID(Label), i % 3);
        for (int k = 0; k < i % 3; ++k)
            ((Mark *)mica_add_instance_id(world, entity, MICA_ID(Mark)))->number = k;
    }
    mica_create(world, MICA_WITH(Label, {.text = mica_text_of("not shared")}));
}

/* Saves a world with five things. Returns the hash of what follows three steps after it. */
static uint64_t save_world(const char *path, int first)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster *cluster = open_cluster(world, 7, (mica_allocator){0});
    create_things(world, first);
    for (int step = 0; step < 2; ++step)
        ck_assert(mica_cluster_step(cluster, 0.5f));
    ck_assert_int_eq(mica_cluster_save(cluster, path), MICA_OK);
    for (int step = 0; step < 3; ++step)
        ck_assert(mica_cluster_step(cluster, 0.5f));
    uint64_t hash = mica_cluster_hash(cluster);
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
    return hash;
}

START_TEST(a_save_continues_with_the_same_hash)
{
    char path[300];
    snprintf(path, sizeof path, "%s", scratch("a.mica"));
    uint64_t hash = save_world(path, 0);
    for (int turn = 0; turn < 2; ++turn) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster *cluster = open_cluster(world, 7, (mica_allocator){0});
        ck_assert_int_eq(mica_cluster_load(cluster, path), MICA_OK);
        ck_assert_uint_eq(mica_cluster_tick(cluster), 2);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 6);
        ck_assert_int_eq(mica_cluster_save(cluster, path), MICA_OK); /* replaces it by the same */
        for (int step = 0; step < 3; ++step)
            ck_assert(mica_cluster_step(cluster, 0.5f));
        ck_assert_uint_eq(mica_cluster_hash(cluster), hash);
        ck_assert_int_eq(mica_singleton_get(world, Total)->steps, 5);
        ck_assert_int_eq(mica_cluster_load(cluster, path), MICA_ERROR_REFUSED);
        expect_report(&heard, MICA_ERROR_REFUSED, "the world has entities already");
        mica_cluster_destroy(cluster);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_save_removes_the_parts_that_killed_jobs_have_left)
{
    static const struct {
        const char *rest;
        bool is_part;
    } files[] = {{".1.7", true},    {".2.1", true},   {".3.0", true},   {".7.12", true},  {".1", false},
                 {".1.2.3", false}, {".1.2x", false}, {".1. 2", false}, {".-1.0", false}, {"x.1.0", false}};
    char path[300], name[400];
    snprintf(path, sizeof path, "%s", scratch("left.mica"));
    for (int turn = 0; turn < 2; ++turn) { /* without an old save, and with one */
        for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
            snprintf(name, sizeof name, "%s%s", path, files[i].rest);
            ck_assert_int_eq(mica_write_file(name, "left", 4, NULL), MICA_OK);
        }
        save_world(path, 0);
        for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
            snprintf(name, sizeof name, "%s%s", path, files[i].rest);
            ck_assert_msg((access(name, F_OK) != 0) == files[i].is_part, "%s", name);
            remove(name);
        }
        snprintf(name, sizeof name, "%s.%d.0", path, turn + 1);
        ck_assert_int_eq(access(name, F_OK), 0); /* the part of the save itself */
    }
}
END_TEST

START_TEST(what_is_between_two_steps_is_not_saved)
{
    reports heard;
    char path[300];
    snprintf(path, sizeof path, "%s", scratch("b.mica"));
    mica_world *world = open_world(&heard);
    mica_cluster *cluster = open_cluster(world, 7, (mica_allocator){0});
    mica_entity entity = mica_create(world, MICA_WITH(Place, {1, 1}));
    ck_assert_int_eq(mica_cluster_save(cluster, path), MICA_OK); /* before the first step */
    mica_destroy(world, mica_create(world, MICA_WITH(Place, {1, 1})));
    mica_entity late = mica_create(world, MICA_WITH(Place, {1, 1}));
    ck_assert_int_eq(mica_cluster_save(cluster, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "entities were created since the last step");
    mica_destroy(world, late);
    mica_cluster_send(cluster, entity, mica_get(world, entity, mica_identity)->value, (mica_value)MICA_WITH(Poke, {1}));
    ck_assert_int_eq(mica_cluster_save(cluster, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "messages or questions were sent since the last step");
    ck_assert(mica_cluster_step(cluster, 0.5f));
    mica_defer(world);
    ck_assert_int_eq(mica_cluster_save(cluster, path), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "not at rest");
    mica_flush(world);
    ck_assert_int_eq(mica_cluster_save(cluster, scratch("missing/folder/b.mica")), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "missing/folder");
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
}
END_TEST

/* Loads a save that must be rejected. */
static void expect_rejection(const char *path, uint64_t seed, mica_result result, const char *text)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_cluster *cluster = open_cluster(world, seed, (mica_allocator){0});
    ck_assert_int_eq(mica_cluster_load(cluster, path), result);
    expect_report(&heard, result, text);
    ck_assert(!mica_cluster_step(cluster, 0.5f));
    mica_cluster_destroy(cluster);
    forget_reports(&heard);
    close_world(world, &heard);
}

/* Puts the parts of two saves together, as two ranks would have written them. */
static void join_two(const char *path)
{
    char first[300], second[300];
    snprintf(first, sizeof first, "%s", scratch("first.mica"));
    snprintf(second, sizeof second, "%s", scratch("second.mica"));
    save_world(first, 0);
    save_world(second, 5);
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    micap_manifest both = {.memory = &memory}, other = {.memory = &memory};
    ck_assert_ptr_null(micap_manifest_load(&both, first));
    ck_assert_ptr_null(micap_manifest_load(&other, second));
    ck_assert(micap_manifest_reserve(&both, 2));
    both.parts[1] = other.parts[0];
    both.part_count = 2;
    char from[MICAP_MANIFEST_PATH_BYTES], to[MICAP_MANIFEST_PATH_BYTES];
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert(micap_manifest_part_path(i ? second : first, i ? other.generation : both.generation, 0, from));
        ck_assert(micap_manifest_part_path(path, both.generation, i, to));
        ck_assert_int_eq(rename(from, to), 0);
    }
    micap_bytes bytes = {.memory = &memory};
    micap_manifest_put(&both, &bytes);
    ck_assert_int_eq(mica_write_file(path, bytes.data, bytes.count, NULL), MICA_OK);
    micap_bytes_free(&bytes);
    micap_manifest_free(&both);
    micap_manifest_free(&other);
}

START_TEST(several_parts_are_one_world)
{
    reports heard;
    char path[300];
    snprintf(path, sizeof path, "%s", scratch("c.mica"));
    join_two(path);
    mica_world *world = open_world(&heard);
    mica_cluster *cluster = open_cluster(world, 7, (mica_allocator){0});
    ck_assert_int_eq(mica_cluster_load(cluster, path), MICA_OK);
    ck_assert_uint_eq(mica_cluster_get_stats(cluster).owned_count, 10);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 11);
    ck_assert_str_eq(mica_text_get(&mica_get(world, mica_cluster_find(cluster, 10), Label)->text),
                     "a label that is too long to be stored in place");
    mica_cluster_destroy(cluster);
    close_world(world, &heard);
    mica_blob blob;
    mica_resource_error error;
    ck_assert_int_eq(mica_cluster_join(path, &blob, &error), MICA_OK);
    mica_resource *resource = mica_resource_open(blob.bytes, blob.byte_count, NULL, &error);
    ck_assert_uint_eq(mica_resource_entity_count(resource), 11);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(damaged_saves_are_rejected_and_name_the_part)
{
    char path[300], part[400];
    mica_blob blob;
    mica_resource_error error;
    snprintf(path, sizeof path, "%s", scratch("d.mica"));
    expect_rejection(path, 7, MICA_ERROR_DATA, "can't be read");
    join_two(path);
    expect_rejection(path, 8, MICA_ERROR_LAYOUT, "the save has the seed 7, the program 8");
    snprintf(part, sizeof part, "%s.1.1", path);
    ck_assert_int_eq(truncate(part, 100), 0);
    expect_rejection(path, 7, MICA_ERROR_DATA, "part 1 of the save");
    ck_assert_int_eq(mica_cluster_join(path, &blob, &error), MICA_ERROR_DATA);
    ck_assert_ptr_nonnull(strstr(error.text, "is rejected: its file is truncated"));
    ck_assert_int_eq(remove(part), 0);
    expect_rejection(path, 7, MICA_ERROR_DATA, "its file can't be read");
    snprintf(part, sizeof part, "%s.1.0", path);
    FILE *file = fopen(part, "r+b");
    ck_assert(file && fseek(file, 200, SEEK_SET) == 0);
    fputs("xyz", file);
    fclose(file);
    expect_rejection(path, 7, MICA_ERROR_DATA, "part 0 of the save");
    ck_assert_int_eq(mica_write_file(path, "", 0, NULL), MICA_OK);
    expect_rejection(path, 7, MICA_ERROR_DATA, "it is not the save of a cluster");
    ck_assert_int_eq(mica_cluster_join(path, &blob, NULL), MICA_ERROR_DATA);
}
END_TEST

/* No prefix of a manifest is one, and a changed byte is noticed. */
START_TEST(a_damaged_manifest_is_rejected)
{
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    micap_manifest manifest = {.memory = &memory, .generation = 3, .tick = 12, .seed = 5, .part_count = 2};
    ck_assert(micap_manifest_reserve(&manifest, 2));
    manifest.parts[0] = (micap_manifest_part){100, 0x1234, 10};
    manifest.parts[1] = (micap_manifest_part){200, 0x5678, 20};
    micap_bytes bytes = {.memory = &memory};
    micap_manifest_put(&manifest, &bytes);
    micap_manifest found = {.memory = &memory};
    ck_assert_ptr_null(micap_manifest_parse(&found, bytes.data, bytes.count));
    ck_assert_uint_eq(found.part_count, 2);
    ck_assert_uint_eq(found.parts[1].checksum, 0x5678);
    micap_manifest_free(&found);
    for (uint32_t i = 0; i < bytes.count; ++i) {
        ck_assert_ptr_nonnull(micap_manifest_parse(&found, bytes.data, i));
        micap_manifest_free(&found);
        bytes.data[i] ^= 1;
        ck_assert_ptr_nonnull(micap_manifest_parse(&found, bytes.data, bytes.count));
        micap_manifest_free(&found);
        bytes.data[i] ^= 1;
    }
    micap_bytes_free(&bytes);
    micap_manifest_free(&manifest);
}
END_TEST

START_TEST(saves_and_loads_that_run_out_of_memory_report_it_and_leak_nothing)
{
    char path[300];
    snprintf(path, sizeof path, "%s", scratch("e.mica"));
    join_two(path);
    for (uint64_t k = 1, is_done = 0; !is_done; ++k) {
        reports heard;
        mica_world *world = open_world(&heard);
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        mica_cluster *cluster = open_cluster(world, 7, faulty_allocator_interface(&faulty));
        faulty_allocator_fail_at(&faulty, k, true);
        bool has_failed = mica_cluster_load(cluster, path) != MICA_OK;
        has_failed = has_failed || mica_cluster_save(cluster, scratch("f.mica")) != MICA_OK;
        ck_assert(has_failed == (faulty.failures > 0));
        is_done = !has_failed;
        forget_reports(&heard);
        faulty_allocator_fail_at(&faulty, 0, false);
        mica_cluster_destroy(cluster);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(cluster_save, a_save_continues_with_the_same_hash, a_save_removes_the_parts_that_killed_jobs_have_left,
           what_is_between_two_steps_is_not_saved, several_parts_are_one_world,
           damaged_saves_are_rejected_and_name_the_part, a_damaged_manifest_is_rejected,
           saves_and_loads_that_run_out_of_memory_report_it_and_leak_nothing)
