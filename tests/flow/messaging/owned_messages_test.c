/* Text and lists in what systems tell each other: streams, messages, requests and the data of events. */
#include "base/block_heap.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/flow.h"
#include "mica/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Line { mica_text text; mica_list numbers; } Line;
MICA_STRUCT(Line, text, (numbers, uint16_t))
typedef struct Memo { mica_entity from; Line lines[2]; } Memo;
MICA_COMPONENT(Memo, from, (lines, Line))
typedef struct Reader { uint32_t count; mica_text last; } Reader;
MICA_COMPONENT(Reader, count, last)

static const char long_text[] = "a text that does not lie in place";

/* A memo that refers to memory of the test: what is told copies it. The list is freed by memo_end. */
static Memo memo_begin(mica_entity from, uint32_t number)
{
    Memo memo = {.from = from, .lines = {{.text = mica_text_of(number % 2 ? "short" : long_text)}}};
    ck_assert_int_eq(mica_list_add(&memo.lines[1].numbers, uint16_t, (uint16_t)number, 7), MICA_OK);
    return memo;
}

static void memo_end(Memo *memo)
{
    mica_list_clear(&memo->lines[1].numbers, uint16_t);
}

static mica_value value_of(const Memo *memo)
{
    return (mica_value){MICA_ID(Memo), sizeof *memo, memo};
}

static uint32_t number_of(const Memo *memo)
{
    const uint16_t *numbers = mica_list_items(&memo->lines[1].numbers, uint16_t);
    ck_assert_uint_eq(mica_list_count(&memo->lines[1].numbers), 2);
    ck_assert_uint_eq(numbers[1], 7);
    ck_assert(mica_text_is(&memo->lines[0].text, numbers[0] % 2 ? "short" : long_text));
    return numbers[0];
}

static bool push(mica_stream *stream, uint32_t number)
{
    Memo memo = memo_begin(mica_nil(), number);
    bool done = mica_stream_push_from(stream, Memo, &memo);
    memo_end(&memo);
    return done;
}

/* Reads all messages of a stream: their numbers as digits. */
static uint32_t read_all(mica_stream *stream)
{
    uint32_t count, digits = 0;
    for (const Memo *memos; (memos = mica_stream_read(stream, Memo, &count));)
        for (uint32_t i = 0; i < count; ++i)
            digits = digits * 10 + number_of(&memos[i]);
    return digits;
}

START_TEST(a_stream_owns_its_messages)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true, .capacity = 3)));
    for (uint32_t i = 1; i < 6; ++i)
        ck_assert(push(stream, i));
    expect_valid(world);
    uint64_t hash = mica_world_hash(world);
    ck_assert_uint_eq(read_all(stream), 345);
    mica_step(world, 1); /* drops them */
    ck_assert_uint_eq(read_all(stream), 0);
    Memo *memos = mica_stream_push_many(stream, Memo, 2);
    ck_assert_uint_eq(mica_text_length(&memos[1].lines[1].text) + mica_list_count(&memos[0].lines[0].numbers), 0);
    for (uint32_t i = 0; i < 2; ++i) {
        mica_text_set(&memos[i].lines[0].text, i ? "short" : long_text);
        mica_list_add(&memos[i].lines[1].numbers, uint16_t, (uint16_t)(4 + i), 7);
    }
    ck_assert_uint_eq(read_all(stream), 45);
    ck_assert(hash != mica_world_hash(world));
    mica_stream *unread = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.keep_frames = 9)));
    ck_assert(push(unread, 1)); /* freed with the world */
    mica_stream *destroyed = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.keep_frames = 9)));
    ck_assert(push(destroyed, 2));
    mica_stream_destroy(destroyed);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_message_with_memory_of_the_program_is_invalid)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true)));
    Memo *memo = mica_stream_push_many(stream, Memo, 1);
    memo->lines[0].text = mica_text_of(long_text);
    ck_assert_int_ne(mica_world_validate(world), MICA_OK);
    expect_report(&heard, MICA_ERROR_INVALID, "stream Memo: a text of a world has its own memory");
    mica_text_clear(&memo->lines[0].text);
    close_world(world, &heard);
}
END_TEST

START_TEST(snapshots_keep_the_messages_of_streams)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true)));
    mica_stream *other = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true)));
    ck_assert(push(stream, 1) && push(stream, 2) && push(other, 3));
    uint64_t hash = mica_world_hash(world);
    mica_snapshot snapshot = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 2; ++round) {
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        ck_assert(push(stream, 4));
        ck_assert_uint_eq(read_all(stream), 124);
        mica_step(world, 1);
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        expect_valid(world);
        ck_assert_uint_eq(read_all(stream), 12);
        ck_assert_uint_eq(read_all(other), 3);
    }
    mica_stream_destroy(other); /* the snapshot still has its messages */
    mica_stream *fresh = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true)));
    ck_assert(push(fresh, 5));
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_uint_eq(read_all(fresh), 0);
    mica_snapshot_drop(world, snapshot);
    close_world(world, &heard);
}
END_TEST

static void hear(const mica_message *message)
{
    Reader *readers = message->values;
    const Memo *memo = message->data;
    for (uint32_t i = 0; i < message->count; ++i) {
        readers[i].count = readers[i].count * 10 + number_of(memo);
        mica_text_copy(&readers[i].last, &memo->lines[0].text);
    }
    if (number_of(memo) < 3) { /* one that is sent while others are delivered */
        Memo next = memo_begin(memo->from, number_of(memo) + 1);
        mica_send_id(message->world, message->entities[0], value_of(&next), MICA_HERE);
        memo_end(&next);
    }
}

START_TEST(messages_own_their_text_until_they_were_delivered)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity reader = mica_create(world, MICA_WITH(Reader, {0}));
    ck_assert_int_eq(mica_handler_add(world, MICA_HANDLER(Reader, Memo, hear)), MICA_OK);
    Memo memo = memo_begin(reader, 1);
    ck_assert(mica_send_id(world, reader, value_of(&memo), MICA_HERE));
    memo_end(&memo);
    ck_assert_uint_eq(mica_get(world, reader, Reader)->count, 123);
    ck_assert(mica_text_is(&mica_get(world, reader, Reader)->last, "short"));
    memo = memo_begin(reader, 4);
    ck_assert(mica_broadcast_id(world, value_of(&memo), MICA_HERE));
    memo_end(&memo);
    ck_assert_uint_eq(mica_get(world, reader, Reader)->count, 1234);
    ck_assert(mica_text_is(&mica_get(world, reader, Reader)->last, long_text));
    close_world(world, &heard);
}
END_TEST

typedef struct office {
    mica_world *world;
    mica_stream *stream;
    mica_requests *requests;
    mica_commands *commands;
} office;

enum { READERS = 600, CHIME = MICA_EVENT_USER };

static void answer(const mica_request_group *group)
{
    const Memo *memos = group->questions;
    Memo *answers = group->answers;
    for (uint32_t i = 0; i < group->count; ++i) {
        mica_text_copy(&answers[i].lines[0].text, &memos[i].lines[0].text);
        mica_list_copy(&answers[i].lines[1].numbers, uint16_t, &memos[i].lines[1].numbers);
        answers[i].lines[1].text = mica_text_of(long_text); /* the world copies it */
        group->answered[i] = number_of(&memos[i]) != 5;
    }
}

static void tell_all(mica_view *view)
{
    const office *office = view->frame->context;
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_entity self = view->entities[i];
        Memo memo = memo_begin(self, self.index % 9);
        if (self.index % 3 == 0)
            mica_stream_push_from(office->stream, Memo, &memo);
        if (self.index % 4 == 0)
            mica_send_id(view->world, self, value_of(&memo), MICA_HERE);
        if (self.index % 5 == 0)
            mica_request_post_id(office->requests, self.index % 7, self, value_of(&memo), MICA_HERE);
        if (self.index % 6 == 0)
            mica_event_emit(view->world, CHIME, 0, self, value_of(&memo));
        memo_end(&memo);
    }
}

static void hear_chime(const mica_event *event)
{
    Reader *reader = mica_write(event->world, event->entities[0], Reader);
    const Memo *memo = event->data;
    reader->count += number_of(memo);
    mica_text_append(&reader->last, mica_text_get(&memo->lines[0].text));
}

static office open_office(mica_world *world, uint32_t workers)
{
    office office = {.world = world};
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    mica_flow_configure(world, &def);
    office.stream = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true)));
    office.requests = mica_requests_create(world, MICA_REQUESTS(Memo, Memo, answer, NULL));
    office.commands = mica_commands_create(world);
    mica_handler_add(world, MICA_HANDLER(Reader, Memo, hear));
    mica_observer_add(world, &(mica_observer_def){.event = CHIME, .fn = hear_chime, .location = MICA_HERE});
    for (uint32_t i = 0; i < READERS; ++i)
        mica_create(world, MICA_WITH(Reader, {0}));
    return office;
}

static void add_teller(office *office)
{
    mica_system_add(
        office->world,
        MICA_SYSTEM_WITH(tell_all,
                         (.context = office, MICA_USES(MICA_USE_STREAM_WRITE(office->stream),
                                                       MICA_USE_STREAM_WRITE(mica_requests_stream(office->requests)))),
                         MICA_HAS(Reader)));
}

static uint64_t work(uint32_t workers)
{
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    office office = open_office(world, workers);
    add_teller(&office);
    for (uint32_t i = 0; i < 3; ++i)
        ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    uint64_t hash = mica_world_hash(world);
    uint32_t count = 0, some;
    while (mica_stream_read(office.stream, Memo, &some))
        count += some;
    ck_assert_uint_eq(count, 3 * READERS / 3);
    mica_query *answered = mica_query_create(world, MICA_QUERY(MICA_READ(Memo)));
    ck_assert_uint_gt(mica_query_count(answered), READERS / 10);
    for (mica_view view = mica_query_begin(answered); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            const Memo *memo = &mica_view_read(&view, Memo)[i];
            ck_assert_uint_eq(number_of(memo), view.entities[i].index % 9);
            ck_assert(mica_text_is(&memo->lines[1].text, long_text));
        }
    close_world(world, &heard);
    return hash;
}

START_TEST(systems_tell_text_with_the_same_result_for_any_number_of_workers)
{
    uint64_t hash = work(1);
    ck_assert_uint_eq(work(2), hash);
    ck_assert_uint_eq(work(4), hash);
}
END_TEST

START_TEST(answers_with_text_go_to_a_stream_too)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_requests_def def = *MICA_REQUESTS(Memo, Memo, answer, NULL);
    def.as_stream = def.application = def.in_order = true;
    mica_requests *requests = mica_requests_create(world, &def);
    for (uint32_t i = 3; i < 7; ++i) {
        Memo memo = memo_begin(mica_nil(), i);
        ck_assert(mica_request_post_id(requests, 9 - i, mica_nil(), value_of(&memo), MICA_HERE));
        memo_end(&memo);
    }
    expect_valid(world);
    ck_assert_int_eq(mica_requests_handle(requests), MICA_OK);
    ck_assert_uint_eq(read_all(mica_requests_answers(requests)), 346);
    Memo memo = memo_begin(mica_nil(), 1);
    ck_assert(mica_request_post_id(requests, 0, mica_nil(), value_of(&memo), MICA_HERE)); /* never answered */
    memo_end(&memo);
    mica_requests_destroy(requests);
    close_world(world, &heard);
}
END_TEST

START_TEST(recorded_events_own_their_data)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity reader = mica_create(world, MICA_WITH(Reader, {0})), dead = mica_create(world);
    Memo memo = memo_begin(reader, 2);
    mica_commands *commands = mica_commands_create(world);
    ck_assert(mica_command_emit(commands, CHIME, 0, reader, value_of(&memo))); /* without observers */
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_observer_add(world, &(mica_observer_def){.event = CHIME, .fn = hear_chime, .location = MICA_HERE});
    ck_assert(mica_event_emit(world, CHIME, 0, reader, value_of(&memo)));
    ck_assert(mica_command_emit(commands, CHIME, 0, reader, value_of(&memo)));
    ck_assert(mica_command_propagate(commands, CHIME, 0, dead, value_of(&memo)));
    mica_destroy(world, dead);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_gt(forget_reports(&heard), 0); /* of the dead one */
    ck_assert_uint_eq(mica_get(world, reader, Reader)->count, 4);
    ck_assert_uint_eq(mica_text_length(&mica_get(world, reader, Reader)->last), 2 * strlen(long_text));
    ck_assert(mica_command_emit(commands, CHIME, 0, reader, value_of(&memo)));
    mica_commands_destroy(commands); /* with an event that is not delivered */
    mica_defer(world);
    ck_assert(mica_event_emit(world, CHIME, 0, reader, value_of(&memo)));
    memo_end(&memo);
    close_world(world, &heard);
}
END_TEST

/* Everything that copies what is told, with the first block missing, then the second, and so on. */
static bool tell(office *office, mica_entity reader, uint32_t call, const mica_snapshot *snapshot)
{
    Memo memo = {.from = reader, .lines = {{.text = mica_text_of(long_text)}, {.text = mica_text_of(long_text)}}};
    uint32_t count;
    switch (call) {
    case 0: return mica_stream_push_from(office->stream, Memo, &memo);
    case 1: return mica_send_id(office->world, reader, value_of(&memo), MICA_HERE);
    case 2: return mica_request_post_id(office->requests, 1, reader, value_of(&memo), MICA_HERE);
    case 3: return mica_command_emit(office->commands, CHIME, 0, reader, value_of(&memo));
    default:
        mica_stream_read(office->stream, Memo, &count);
        return mica_snapshot_restore(office->world, *snapshot) == MICA_OK;
    }
}

static void ignore_message(const mica_message *message)
{
    (void)message;
}

static void ignore_event(const mica_event *event)
{
    (void)event;
}

START_TEST(without_memory_nothing_is_told)
{
    for (int64_t limit = 0, done = 0; !done; ++limit) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_entity reader = mica_create(world, MICA_WITH(Reader, {0}));
        office office = {.world = world, .commands = mica_commands_create(world)};
        office.stream = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true, .capacity = 2)));
        office.requests = mica_requests_create(world, MICA_REQUESTS(Memo, Memo, answer, NULL));
        mica_handler_add(world, MICA_HANDLER(Reader, Memo, ignore_message));
        mica_observer_add(world, &(mica_observer_def){.event = CHIME, .fn = ignore_event, .location = MICA_HERE});
        ck_assert(push(office.stream, 1) && push(office.stream, 2));
        mica_snapshot snapshot = mica_snapshot_take(world);
        uint64_t hash = mica_world_hash(world);
        micap_heap_limit(limit);
        done = tell(&office, reader, (uint32_t)_i, &snapshot);
        micap_heap_limit(INT64_MAX);
        ck_assert(done || mica_world_hash(world) == hash);
        ck_assert(done || forget_reports(&heard));
        ck_assert(limit || !done || _i == 4);
        mica_world_take_error(world);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_uint_eq(mica_stream_dropped(office.stream), _i == 0 ? 1 : 0);
        mica_snapshot_drop(world, snapshot);
        close_world(world, &heard);
    }
}
END_TEST

/* A block that has as many owners as it can have is copied: then taking and restoring a snapshot needs memory for blocks. */
START_TEST(a_snapshot_of_messages_with_many_owners_needs_memory)
{
    enum { OWNERS = 200000 };
    reports heard;
    mica_world *world = open_world(&heard);
    mica_stream *stream = mica_stream_create(world, MICA_STREAM_WITH(Memo, (.application = true)));
    ck_assert(push(stream, 1) && push(stream, 2));
    mica_snapshot snapshot = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    uint32_t count;
    const Memo *memos = mica_stream_read(stream, Memo, &count);
    ck_assert_uint_eq(count, 2);
    mica_text *owners = calloc(OWNERS, sizeof *owners);
    ck_assert_ptr_nonnull(owners);
    for (uint32_t i = 0; i < OWNERS; ++i)
        ck_assert_int_eq(mica_text_copy(&owners[i], &memos[1].lines[0].text), MICA_OK);
    micap_heap_limit(0);
    ck_assert_uint_eq(mica_snapshot_take(world).id, 0);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_ERROR_MEMORY);
    micap_heap_limit(INT64_MAX);
    ck_assert_uint_eq(forget_reports(&heard), 2);
    mica_world_take_error(world);
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    for (uint32_t i = 0; i < OWNERS; ++i)
        mica_text_clear(&owners[i]);
    free(owners);
    mica_snapshot_drop(world, snapshot);
    close_world(world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("owned_messages");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, a_stream_owns_its_messages);
    tcase_add_test(cases, a_message_with_memory_of_the_program_is_invalid);
    tcase_add_test(cases, snapshots_keep_the_messages_of_streams);
    tcase_add_test(cases, messages_own_their_text_until_they_were_delivered);
    tcase_add_test(cases, systems_tell_text_with_the_same_result_for_any_number_of_workers);
    tcase_add_test(cases, answers_with_text_go_to_a_stream_too);
    tcase_add_test(cases, recorded_events_own_their_data);
    tcase_add_loop_test(cases, without_memory_nothing_is_told, 0, 5);
    tcase_add_test(cases, a_snapshot_of_messages_with_many_owners_needs_memory);
    return test_run("owned_messages", cases);
}
