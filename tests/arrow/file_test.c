/* Queries as Arrow files. tests/arrow/read_files.mjs reads what this program writes with the reader of the Arrow project. */
#define _DEFAULT_SOURCE 1 /* mkstemp */

#include "faulty_allocator.h"
#include "kitchen.h"
#include "mica/arrow.h"
#include "reports.h"
#include "test.h"

#include <stdio.h>
#include <unistd.h>

typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Position, (x, float, .unit = "m"), y)
MICA_TAG(Frozen)

static reports heard;

/* A file in memory, which can refuse to grow. */
typedef struct written {
    char *bytes;
    size_t count;
    uint32_t calls_left; /* then it refuses; 0: never */
} written;

static bool keep(const void *bytes, size_t byte_count, void *context)
{
    written *written = context;
    if (written->calls_left && !--written->calls_left)
        return false;
    written->bytes = realloc(written->bytes, written->count + byte_count);
    memcpy(written->bytes + written->count, bytes, byte_count);
    written->count += byte_count;
    return true;
}

/* 4 entities in 3 archetypes. */
static mica_query *populate(mica_world *world)
{
    mica_entity first = mica_create(world, MICA_WITH(Position, {1, 2}), MICA_WITH(Frozen));
    mica_create(world, MICA_WITH(Position, {3, 4}), MICA_WITH(Kitchen, {.mood = CALM}));
    mica_entity filled = mica_create(world, MICA_WITH(Position, {5, 6}), MICA_WITH(Kitchen, {.u8 = 0}));
    fill_kitchen(mica_write(world, filled, Kitchen), first);
    mica_create(world, MICA_WITH(Position, {7, 8}));
    return mica_query_text(world, "Position, ?Kitchen, ?Frozen", NULL);
}

static void expect_file(const written *file)
{
    ck_assert_uint_gt(file->count, 18);
    ck_assert_mem_eq(file->bytes, "ARROW1\0", 8);
    ck_assert_mem_eq(file->bytes + file->count - 6, "ARROW1", 6);
}

START_TEST(a_file_has_all_rows_in_batches_or_in_one)
{
    mica_world *world = open_world(&heard);
    mica_query *query = populate(world);
    written files[3] = {{0}, {0}, {0}};
    uint64_t rows = 0;
    ck_assert_int_eq(mica_arrow_write(query, NULL, &rows, keep, &files[0]), MICA_OK);
    ck_assert_uint_eq(rows, 4);
    ck_assert_int_eq(mica_arrow_write(query, &(mica_arrow_def){.batch_rows = 100}, NULL, keep, &files[1]), MICA_OK);
    mica_query_destroy(query);
    query = mica_query_text(world, "Kitchen, !Position", NULL);
    ck_assert_int_eq(mica_arrow_write(query, NULL, &rows, keep, &files[2]), MICA_OK);
    ck_assert_uint_eq(rows, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        expect_file(&files[i]);
        free(files[i].bytes);
    }
    ck_assert_uint_gt(files[0].count, files[1].count);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_writer_that_refuses_ends_the_file)
{
    mica_world *world = open_world(&heard);
    mica_query *query = populate(world);
    mica_result result = MICA_ERROR_FILE;
    uint32_t calls = 0;
    while (result != MICA_OK) {
        written file = {.calls_left = ++calls};
        result = mica_arrow_write(query, NULL, NULL, keep, &file);
        ck_assert(result == MICA_OK ? file.calls_left == 1 : result == MICA_ERROR_FILE && !file.calls_left);
        free(file.bytes);
        ck_assert_uint_lt(calls, 10000);
    }
    ck_assert_uint_gt(calls, 50);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(failed_allocations_are_reported_and_leave_no_memory)
{
    mica_world *world = open_world(&heard);
    mica_query *query = populate(world);
    mica_result result = MICA_ERROR_MEMORY;
    for (uint64_t k = 1; result != MICA_OK; ++k) {
        faulty_allocator memory;
        faulty_allocator_init(&memory);
        faulty_allocator_fail_at(&memory, k, false);
        written file = {0};
        result = mica_arrow_write(query, &(mica_arrow_def){.allocator = faulty_allocator_interface(&memory)}, NULL,
                                  keep, &file);
        if (result != MICA_OK)
            expect_report(&heard, MICA_ERROR_MEMORY, "arrow: out of memory");
        forget_reports(&heard);
        ck_assert_int_eq(result == MICA_OK, memory.failures == 0);
        ck_assert_uint_eq(memory.live_blocks, 0);
        faulty_allocator_free(&memory);
        free(file.bytes);
    }
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

typedef struct change {
    mica_world *world;
    uint32_t calls;
} change;

static bool change_world(const void *bytes, size_t byte_count, void *context)
{
    change *change = context;
    (void)bytes;
    (void)byte_count;
    if (++change->calls == 10)
        mica_create(change->world);
    return true;
}

START_TEST(a_world_that_changes_meanwhile_ends_the_file)
{
    mica_world *world = open_world(&heard);
    mica_query *query = populate(world);
    ck_assert_int_eq(mica_arrow_write(query, NULL, NULL, change_world, &(change){world, 0}), MICA_ERROR_REFUSED);
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_file_is_replaced_when_it_is_complete)
{
    const char *kept = getenv("MICA_ARROW_OUTPUT");
    char path[] = "/tmp/mica_arrow_XXXXXX", begin[8] = "";
    if (!kept)
        close(mkstemp(path));
    mica_world *world = open_world(&heard);
    mica_query *query = populate(world);
    uint64_t rows = 0;
    ck_assert_int_eq(mica_arrow_save(query, NULL, kept ? kept : path, &rows), MICA_OK);
    ck_assert_uint_eq(rows, 4);
    faulty_allocator memory;
    faulty_allocator_init(&memory);
    faulty_allocator_fail_at(&memory, 20, true);
    mica_arrow_def failing = {.allocator = faulty_allocator_interface(&memory)};
    ck_assert_int_eq(mica_arrow_save(query, &failing, kept ? kept : path, NULL), MICA_ERROR_MEMORY);
    expect_report(&heard, MICA_ERROR_MEMORY, "out of memory");
    faulty_allocator_free(&memory);
    FILE *file = fopen(kept ? kept : path, "rb");
    ck_assert_uint_eq(fread(begin, 1, 8, file), 8);
    fclose(file);
    ck_assert_mem_eq(begin, "ARROW1\0", 8);
    if (!kept)
        remove(path);
    ck_assert_int_eq(mica_arrow_save(query, NULL, "/missing/folder/x.arrow", NULL), MICA_ERROR_FILE);
    expect_report(&heard, MICA_ERROR_FILE, "/missing/folder/x.arrow: No such file");
    mica_query_destroy(query);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(file, a_file_has_all_rows_in_batches_or_in_one, a_writer_that_refuses_ends_the_file,
           failed_allocations_are_reported_and_leave_no_memory, a_world_that_changes_meanwhile_ends_the_file,
           a_file_is_replaced_when_it_is_complete)
