/* Streams: order, readers, what is kept and what is dropped. */
#include "flow/notes.h"

typedef struct Wide { _Alignas(64) char bytes[192]; } Wide;
MICA_OPAQUE(Wide, (.storage = MICA_STORAGE_CHUNK))

START_TEST(what_the_application_writes_it_reads_in_order)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    expect_read("");
    emit_number(0, 1);
    emit_number(0, 2);
    ck_assert_uint_eq(mica_stream_count(notes), 2);
    expect_read("1 2");
    expect_read("");
    Note *many = mica_stream_push_many(notes, Note, 3);
    for (uint32_t i = 0; i < 3; ++i)
        many[i] = (Note){0, 3 + i, 0};
    mica_step(world, 1);
    emit_number(0, 6);
    expect_read("3 4 5 6");
    ck_assert_uint_eq(mica_stream_count(notes), 0);
    ck_assert_uint_eq(mica_stream_dropped(notes), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(messages_lie_aligned_and_large_ones_together)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *wide = mica_stream_create(world, MICA_STREAM_WITH(Wide, (.application = true)));
    uint32_t written = 0, read = 0, count;
    for (uint32_t i = 1; i < 40; ++i) {
        Wide *some = mica_stream_push_many(wide, Wide, i * 50);
        ck_assert_uint_eq((uintptr_t)some % 64, 0);
        memset(some, (int)i, i * 50 * sizeof *some);
        written += i * 50;
    }
    for (const Wide *some; (some = mica_stream_read(wide, Wide, &count)); read += count)
        ck_assert_uint_eq((uintptr_t)some % 64, 0);
    ck_assert_uint_eq(written, read);
    close_world(world, &heard);
}
END_TEST

START_TEST(messages_are_kept_for_the_slowest_reader)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static reading quick, slow;
    notes = mica_stream_create(world, MICA_STREAM(Note));
    add_frame_writer(world);
    add_reader(world, "quick", &quick, MICA_PHASE_UPDATE);
    mica_system_def def = *MICA_SYSTEM_ONCE_WITH(
        read_into_context, (MICA_USES(MICA_USE_STREAM_READ(notes)), .every_frames = 4, .context = &slow));
    mica_system_add(world, &def);
    for (int frame = 0; frame < 9; ++frame)
        mica_step(world, 1);
    expect_values(&quick, "1 2 3 4 5 6 7 8 9");
    expect_values(&slow, "1 2 3 4 5 6 7 8 9");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_reader_that_comes_later_begins_with_what_is_still_there)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static reading late;
    notes = mica_stream_create(world, MICA_STREAM(Note));
    add_frame_writer(world);
    for (int frame = 0; frame < 5; ++frame)
        mica_step(world, 1);
    mica_system reader = add_reader(world, "late", &late, MICA_PHASE_UPDATE);
    mica_step(world, 1);
    expect_values(&late, "4 5 6"); /* without a reader, the frame that follows is the last to see a message */
    mica_system_remove(world, reader);
    for (int frame = 0; frame < 3; ++frame)
        mica_step(world, 1);
    late.count = 0;
    add_reader(world, "later", &late, MICA_PHASE_UPDATE);
    mica_step(world, 1);
    expect_values(&late, "8 9 10");
    close_world(world, &heard);
}
END_TEST

static mica_system leaving;

static void leave(const mica_frame *frame)
{
    read_all(frame->context);
    mica_system_remove(frame->world, leaving);
}

START_TEST(a_reader_that_leaves_holds_nothing_back)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static reading seen, exclusive;
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    add_frame_writer(world);
    leaving = add_reader(world, "leaving", &seen, MICA_PHASE_UPDATE);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(leave, (.exclusive = true, .context = &exclusive,
                                                         MICA_USES(MICA_USE_STREAM_READ(notes)))));
    for (int frame = 0; frame < 4; ++frame)
        mica_step(world, 1);
    expect_values(&seen, "1");
    expect_values(&exclusive, "1 2 3 4"); /* an exclusive system reads as the application does */
    size_t bytes = mica_world_get_stats(world).memory_bytes;
    for (int frame = 0; frame < 2000; ++frame) {
        exclusive.count = 0;
        mica_step(world, 1);
    }
    ck_assert_uint_le(mica_world_get_stats(world).memory_bytes, bytes + 8192);
    close_world(world, &heard);
}
END_TEST

START_TEST(running_one_system_by_itself_counts_as_a_frame)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static reading seen;
    notes = mica_stream_create(world, MICA_STREAM(Note));
    add_frame_writer(world);
    mica_system writer = mica_system_find(world, "write_frame");
    mica_system reader = add_reader(world, "reader", &seen, MICA_PHASE_UPDATE);
    size_t bytes = 0;
    for (int i = 0; i < 2000; ++i) {
        mica_system_run(world, writer, 1);
        mica_system_run(world, reader, 1);
        ck_assert_uint_eq(seen.count, 1);
        seen.count = 0;
        bytes = i == 10 ? mica_world_get_stats(world).memory_bytes : bytes;
    }
    ck_assert_uint_le(mica_world_get_stats(world).memory_bytes, bytes + 8192);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_replaced_system_continues_at_its_position)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static reading seen, held;
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    add_frame_writer(world);
    mica_system reader = add_reader(world, "reader", &seen, MICA_PHASE_UPDATE);
    for (int frame = 0; frame < 3; ++frame)
        mica_step(world, 1);
    mica_system_def def = *MICA_SYSTEM_ONCE_WITH(read_into_context, (MICA_USES(MICA_USE_STREAM_READ(notes))));
    def.name = "reader";
    def.context = &held;
    ck_assert_int_eq(mica_system_replace(world, reader, &def), MICA_OK);
    mica_step(world, 1);
    expect_values(&seen, "1 2 3");
    expect_values(&held, "4");
    close_world(world, &heard);
}
END_TEST

START_TEST(messages_grow_old)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.keep_frames = 2, .application = true)));
    add_frame_writer(world);
    for (int frame = 0; frame < 6; ++frame)
        mica_step(world, 1);
    ck_assert_uint_eq(mica_stream_count(notes), 3);
    ck_assert_uint_eq(mica_stream_dropped(notes), 3);
    expect_read("4 5 6");
    static reading late;
    add_reader(world, "late", &late, MICA_PHASE_UPDATE);
    mica_step(world, 1);
    expect_values(&late, "5 6 7"); /* read by others or not */
    close_world(world, &heard);
}
END_TEST

START_TEST(a_full_stream_drops_the_oldest)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.capacity = 3, .application = true)));
    for (uint32_t i = 1; i <= 5; ++i)
        emit_number(0, i);
    ck_assert_uint_eq(mica_stream_count(notes), 3);
    ck_assert_uint_eq(mica_stream_dropped(notes), 2);
    expect_read("3 4 5");
    emit_number(0, 6);
    expect_read("6");
    ck_assert_uint_eq(mica_stream_dropped(notes), 2);
    close_world(world, &heard);
}
END_TEST

static const Note *kept;

static void keep_address(const mica_frame *frame)
{
    (void)frame;
    uint32_t count;
    kept = mica_stream_read(notes, Note, &count);
    ck_assert_ptr_nonnull(kept);
}

static void look_again(const mica_frame *frame)
{
    ck_assert_uint_eq(kept->entity, frame->tick + 1);
}

START_TEST(what_was_read_stays_in_place_until_the_frame_ends)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.capacity = 1)));
    add_frame_writer(world);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(keep_address, (MICA_USES(MICA_USE_STREAM_READ(notes)))));
    mica_system_def def = *MICA_SYSTEM_ONCE_WITH(write_frame, (MICA_USES(MICA_USE_STREAM_WRITE(notes))));
    def.name = "write again";
    mica_system_add(world, &def);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(look_again, (.phase = MICA_PHASE_END)));
    for (int frame = 0; frame < 5; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    close_world(world, &heard);
}
END_TEST

MICA_TAG(Nothing)
typedef struct Movable { int number; } Movable;
typedef struct Mortal { int number; } Mortal;
static void move_numbers(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    memcpy(to, from, count * sizeof(Movable));
}
static void destroy_numbers(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}
MICA_COMPONENT_WITH(Movable, (.move = move_numbers), number)
MICA_COMPONENT_WITH(Mortal, (.destruct = destroy_numbers), number)

static void write_undeclared(const mica_frame *frame)
{
    (void)frame;
    ck_assert(!mica_stream_push(notes, Note, {0, 0, 0}));
}

static void read_undeclared(const mica_frame *frame)
{
    (void)frame;
    uint32_t count = 7;
    ck_assert_ptr_null(mica_stream_read(notes, Note, &count));
    ck_assert_uint_eq(count, 0);
}

static mica_stream *notes_of_another;

static void write_elsewhere(const mica_frame *frame)
{
    (void)frame;
    ck_assert(mica_stream_push(notes_of_another, Note, {1, 2, 3}));
    ck_assert(!mica_stream_push(notes, Number, {1}));
}

START_TEST(a_system_is_the_application_of_another_world)
{
    reports heard, heard_there;
    mica_world *world = open_world(&heard), *another = open_world(&heard_there);
    notes = mica_stream_create(world, MICA_STREAM(Note));
    notes_of_another = mica_stream_create(another, MICA_STREAM_WITH(Note, (.application = true)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(write_elsewhere, (MICA_USES(MICA_USE_STREAM_WRITE(notes)))));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_LAYOUT, "a message of 4 bytes instead of 12");
    uint32_t count;
    ck_assert_uint_eq(mica_stream_read(notes_of_another, Note, &count)->call, 3);
    ck_assert_uint_eq(count, 1);
    close_world(another, &heard_there);
    close_world(world, &heard);
}
END_TEST

static void use_in_piece(uint32_t begin, uint32_t end, void *context)
{
    (void)begin, (void)end, (void)context;
    uint32_t count;
    ck_assert(!mica_stream_push(notes, Note, {0, 0, 0}));
    ck_assert_ptr_null(mica_stream_read(notes, Note, &count));
}

static void use_in_pieces(const mica_frame *frame)
{
    mica_parallel_for(frame->world, 1, 1, use_in_piece, NULL);
}

START_TEST(a_parallel_for_has_no_place_in_a_stream)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(
                               use_in_pieces, (MICA_USES(MICA_USE_STREAM_WRITE(notes), MICA_USE_STREAM_READ(notes)))));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "use_in_pieces can't write it inside a parallel for");
    expect_report(&heard, MICA_ERROR_REFUSED, "use_in_pieces can't read it inside a parallel for");
    ck_assert_uint_eq(mica_stream_count(notes), 0);
    close_world(world, &heard);
}
END_TEST

static void make_inside(const mica_frame *frame)
{
    ck_assert_ptr_null(mica_stream_create(frame->world, MICA_STREAM(Note)));
    mica_stream_destroy(notes);
}

START_TEST(mistakes_inside_systems_are_reported_and_change_nothing)
{
    if (STOPS_AT_MISTAKES)
        return; /* see checked_stream_test.c */
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM(Note));
    mica_system writer = mica_system_add(world, MICA_SYSTEM_ONCE(write_undeclared));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "write_undeclared does not declare that it will write");
    mica_system_remove(world, writer);
    mica_system reader = mica_system_add(world, MICA_SYSTEM_ONCE(read_undeclared));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "read_undeclared does not declare that it will read");
    mica_system_remove(world, reader);
    mica_system maker = mica_system_add(world, MICA_SYSTEM_ONCE(make_inside));
    mica_step(world, 1);
    expect_report(&heard, MICA_ERROR_REFUSED, "stream_create: refused inside a system");
    expect_report(&heard, MICA_ERROR_REFUSED, "stream_destroy: refused inside a system");
    mica_system_remove(world, maker);
    close_world(world, &heard);
}
END_TEST

START_TEST(mistakes_are_reported_and_change_nothing)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM(Note));
    uint32_t count;
    ck_assert_ptr_null(mica_stream_read(notes, Note, &count));
    expect_report(&heard, MICA_ERROR_REFUSED, ".application = true");
    ck_assert(!mica_stream_push(notes, Number, {1}));
    expect_report(&heard, MICA_ERROR_LAYOUT, "a message of 4 bytes instead of 12");
    const mica_stream_def bad[] = {{.name = "nothing"},
                                   {.type = &mica_type_of_Nothing},
                                   {.type = &mica_type_of_Movable},
                                   {.type = &mica_type_of_Mortal}};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_assert_ptr_null(mica_stream_create(world, &bad[i]));
        expect_report(&heard, MICA_ERROR_INVALID,
                      i < 2 ? "must be described" : "has a copy, move or destruct function");
    }
    ck_assert_ptr_null(mica_stream_create(world, NULL));
    expect_report(&heard, MICA_ERROR_INVALID, "must be described");
    ck_assert_ptr_null(mica_stream_push_many_id(NULL, 1, MICA_HERE));
    ck_assert_ptr_null(mica_stream_push_many_id(notes, 0, MICA_HERE));
    ck_assert(!mica_stream_push((mica_stream *)NULL, Note, {1, 2, 3}));
    ck_assert_ptr_null(mica_stream_read((mica_stream *)NULL, Note, &count));
    ck_assert(mica_stream_count(NULL) == 0 && mica_stream_dropped(NULL) == 0 && mica_stream_dropped(notes) == 0);
    add_frame_writer(world);
    mica_stream_destroy(notes);
    expect_report(&heard, MICA_ERROR_REFUSED, "1 systems declare it");
    mica_system_remove(world, mica_system_find(world, "write_frame"));
    mica_stream_destroy(notes);
    mica_stream_destroy(NULL);
    close_world(world, &heard);
}
END_TEST

START_TEST(more_than_a_block_at_once_gets_a_larger_one)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM_WITH(Note, (.application = true)));
    static const uint32_t counts[] = {1, 1000, 3000, 100, 5000};
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        Note *room = mica_stream_push_many_id(notes, counts[i], MICA_HERE);
        for (uint32_t call = 0; call < counts[i]; ++call)
            room[call] = (Note){i, 0, call};
        expect_valid(world);
        uint32_t count, seen = 0;
        for (const Note *some; (some = mica_stream_read(notes, Note, &count)); seen += count)
            for (uint32_t call = 0; call < count; ++call)
                ck_assert(some[call].writer == i && some[call].call == seen + call);
        ck_assert_uint_eq(seen, counts[i]);
        mica_step(world, 1); /* all is read: its blocks are free again */
    }
    close_world(world, &heard);
}
END_TEST

enum { MANY = 2000 };

static void write_many(const mica_frame *frame)
{
    (void)frame;
    for (uint32_t call = 0; call < MANY; ++call)
        ck_assert(mica_stream_push(notes, Note, {.call = call}));
}

static void count_what_is_left(const mica_frame *frame)
{
    (void)frame;
    uint32_t count, batches = 0, left = MANY;
    for (; mica_stream_read(notes, Note, &count); ++batches) {
        left -= count;
        ck_assert_uint_eq(mica_stream_count(notes), left);
    }
    ck_assert(left == 0 && batches > 1);
}

START_TEST(a_reader_knows_how_much_of_a_phase_is_left)
{
    reports heard;
    mica_world *world = open_world(&heard);
    notes = mica_stream_create(world, MICA_STREAM(Note));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(write_many, (MICA_USES(MICA_USE_STREAM_WRITE(notes)))));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(count_what_is_left, (MICA_USES(MICA_USE_STREAM_READ(notes)))));
    for (uint32_t frame = 0; frame < 3; ++frame)
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(stream, what_the_application_writes_it_reads_in_order, messages_lie_aligned_and_large_ones_together,
           messages_are_kept_for_the_slowest_reader, a_reader_that_comes_later_begins_with_what_is_still_there,
           a_reader_that_leaves_holds_nothing_back, running_one_system_by_itself_counts_as_a_frame,
           a_replaced_system_continues_at_its_position, messages_grow_old, a_full_stream_drops_the_oldest,
           what_was_read_stays_in_place_until_the_frame_ends, a_parallel_for_has_no_place_in_a_stream,
           a_system_is_the_application_of_another_world, mistakes_inside_systems_are_reported_and_change_nothing,
           mistakes_are_reported_and_change_nothing, more_than_a_block_at_once_gets_a_larger_one,
           a_reader_knows_how_much_of_a_phase_is_left)
