/* Streams that many workers write: the same order for any number of them. */
#include "flow/notes.h"

START_TEST(the_order_is_system_slice_call_for_any_number_of_workers)
{
    enum { ENTITIES = 9000, FRAMES = 3 };
    static reading expected, after, later, outside;
    for (uint32_t i = 0; i < WORKER_COUNTS; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        use_workers(world, worker_counts[i]);
        notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
        create_numbers(world, ENTITIES);
        after.count = later.count = outside.count = expected.count = 0;
        add_writer(world, "first", 1, MICA_PHASE_UPDATE);
        add_writer(world, "second", 2, MICA_PHASE_UPDATE);
        add_reader(world, "after", &after, MICA_PHASE_UPDATE);
        add_writer(world, "third", 3, MICA_PHASE_UPDATE);
        add_reader(world, "later", &later, MICA_PHASE_END);
        for (uint32_t frame = 0; frame < FRAMES; ++frame) {
            ck_assert_int_eq(mica_step(world, 1), MICA_OK);
            read_all(&outside);
            write_as_expected(&expected, 1, 3, ENTITIES);
            expect_valid(world);
        }
        expect_same(&later, &expected);
        expect_same(&outside, &expected);
        reading *without_third = &later; /* what the third wrote in the last frame it reads in the next run */
        without_third->count = 0;
        for (uint32_t frame = 0; frame < FRAMES; ++frame) {
            write_as_expected(without_third, 1, 2, ENTITIES);
            if (frame + 1 < FRAMES)
                write_as_expected(without_third, 3, 3, ENTITIES);
        }
        expect_same(&after, without_third);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_full_stream_shows_the_newest_inside_a_phase_too)
{
    enum { ENTITIES = 5000 };
    static reading expected, after, outside;
    expected.count = 0;
    write_as_expected(&expected, 1, 2, ENTITIES);
    for (uint32_t i = 0; i < WORKER_COUNTS; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        use_workers(world, worker_counts[i]);
        notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.capacity = 700, .application = true)));
        create_numbers(world, ENTITIES);
        add_writer(world, "first", 1, MICA_PHASE_UPDATE);
        add_writer(world, "second", 2, MICA_PHASE_UPDATE);
        add_reader(world, "after", &after, MICA_PHASE_UPDATE);
        after.count = outside.count = 0;
        mica_step(world, 1);
        ck_assert_uint_eq(mica_stream_count(notes), 700);
        ck_assert_uint_eq(mica_stream_dropped(notes), expected.count - 700);
        read_all(&outside);
        expect_same(&after, &outside);
        ck_assert_uint_eq(after.count, 700);
        ck_assert_int_eq(memcmp(after.list, expected.list + expected.count - 700, 700 * sizeof(Note)), 0);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(frames_after_the_first_need_no_more_memory)
{
    reports heard;
    mica_world *world = open_world(&heard);
    use_workers(world, 2);
    static reading seen;
    notes = mica_stream_create(world, MICA_STREAM(Note));
    create_numbers(world, 5000);
    add_writer(world, "writer", 1, MICA_PHASE_UPDATE);
    add_reader(world, "reader", &seen, MICA_PHASE_UPDATE);
    size_t bytes = 0;
    for (int frame = 0; frame < 60; ++frame) {
        seen.count = 0;
        mica_step(world, 1);
        if (frame == 30)
            bytes = mica_world_get_stats(world).memory_bytes;
    }
    /* A worker may have had little to do until then. */
    ck_assert_uint_le(mica_world_get_stats(world).memory_bytes, bytes + (bytes >> 2));
    ck_assert_uint_gt(mica_world_trim(world), 0);
    seen.count = 0;
    mica_step(world, 1);
    ck_assert_uint_eq(seen.count, 5001);
    close_world(world, &heard);
}
END_TEST

/* One frame with two writers and a reader, memory failing at the k-th allocation of it. */
static bool frame_with_failure(uint64_t k, uint32_t workers)
{
    static reading seen;
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    reports heard;
    mica_world *world = open_world_with(&heard, def);
    use_workers(world, workers);
    create_numbers(world, 3000);
    faulty_allocator_fail_at(&faulty, k, false);
    notes = mica_stream_create(world, MICA_STREAM(Note));
    bool failed = faulty.failures != 0;
    ck_assert_int_eq(notes == NULL, failed);
    if (notes) {
        faulty_allocator_fail_at(&faulty, 0, false);
        add_writer(world, "writer", 1, MICA_PHASE_UPDATE);
        add_reader(world, "reader", &seen, MICA_PHASE_UPDATE);
        seen.count = 0;
        faulty_allocator_fail_at(&faulty, k, false);
        mica_step(world, 1);
        failed = faulty.failures != 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        if (!failed)
            ck_assert_uint_eq(seen.count, 3000);
        else
            ck_assert_uint_le(seen.count, 3000);
        expect_valid(world);
        seen.count = 0;
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        ck_assert_uint_ge(seen.count, 3000);
    }
    forget_reports(&heard);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
    return failed;
}

START_TEST(running_out_of_memory_loses_only_what_is_reported)
{
    for (uint32_t workers = 1; workers <= 2; ++workers) {
        uint64_t k = 1;
        while (frame_with_failure(k, workers))
            ++k;
        ck_assert_uint_ge(k, 4);
    }
}
END_TEST

TEST_SUITE(stream_threads, the_order_is_system_slice_call_for_any_number_of_workers,
           a_full_stream_shows_the_newest_inside_a_phase_too, frames_after_the_first_need_no_more_memory,
           running_out_of_memory_loses_only_what_is_reported)
