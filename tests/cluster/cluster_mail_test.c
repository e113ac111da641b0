#include "mica/cluster.h"

#include "cluster/exchange.h"
#include "cluster/question.h"
#include "cluster/shared_stream.h"
#include "faulty_allocator.h"
#include "mica/flow.h"
#include "mica/message.h"
#include "mica/stream.h"
#include "reports.h"
#include "test.h"

typedef struct Place { float x, y; } Place;
typedef struct Note { mica_text text; } Note;
typedef struct Number { int32_t value; } Number;
typedef struct Answer { int32_t place, count; mica_text text; } Answer;
typedef struct Holder { mica_entity of; } Holder;
MICA_COMPONENT(Place, x, y)
MICA_STRUCT(Note, text)
MICA_STRUCT(Number, value)
MICA_COMPONENT(Answer, place, count, text)
MICA_COMPONENT(Holder, of)

/* A cluster with a stream of each type, and questions. */
typedef struct fixture {
    reports heard;
    mica_world *world;
    mica_stream *notes, *numbers;
    mica_component messages[1];
    mica_stream *streams[2];
    mica_cluster_request requests[2];
    mica_cluster_def def;
    mica_cluster *cluster;
} fixture;

static void answer(const mica_cluster_group *group)
{
    const Number *numbers = group->questions;
    Answer *answers = group->answers;
    for (uint32_t i = 0; i < group->count; ++i) {
        answers[i].place = (int32_t)i;
        answers[i].count = (int32_t)group->key * 100 + (int32_t)group->count;
        mica_text_set(&answers[i].text, "a text that is too long to be stored in place");
        group->answered[i] = numbers[i].value != 13;
    }
}

static char asked_notes[64];

static void hear_notes(const mica_cluster_group *group)
{
    const Note *notes = group->questions;
    ck_assert_ptr_null(group->answers);
    for (uint32_t i = 0; i < group->count; ++i)
        strcat(asked_notes, mica_text_get(&notes[i].text));
}

static void prepare(fixture *test)
{
    *test = (fixture){0};
    test->world = open_world(&test->heard);
    test->notes = mica_stream_create(test->world, MICA_STREAM_WITH(Note, (.application = true)));
    test->numbers = mica_stream_create(test->world, MICA_STREAM_WITH(Number, (.application = true)));
    test->messages[0] = MICA_ID(Note);
    test->streams[0] = test->notes, test->streams[1] = test->numbers;
    test->requests[0] = (mica_cluster_request){.question = MICA_ID(Number), .answer = MICA_ID(Answer), .fn = answer};
    test->requests[1] = (mica_cluster_request){.question = MICA_ID(Note), .fn = hear_notes, .in_order = true};
    test->def =
        (mica_cluster_def){.grid = {.component = MICA_ID(Place), .fields = "x, y", .cell_size = 1, .maximum = {10, 10}},
                           .messages = test->messages,
                           .message_count = 1,
                           .streams = test->streams,
                           .stream_count = 2,
                           .requests = test->requests,
                           .request_count = 2};
}

static void open(fixture *test)
{
    prepare(test);
    test->cluster = mica_cluster_create(test->world, &test->def);
    ck_assert_ptr_nonnull(test->cluster);
}

static void close(fixture *test)
{
    mica_cluster_destroy(test->cluster);
    close_world(test->world, &test->heard);
}

static mica_entity create(fixture *test, uint64_t identity)
{
    return mica_create(test->world, MICA_WITH(Place, {(float)identity, 1}), MICA_WITH(mica_identity, {identity}));
}

static bool push(fixture *test, mica_entity from, int32_t value)
{
    return mica_cluster_push(test->cluster, from, test->numbers, (mica_value)MICA_WITH(Number, {value}));
}

static bool ask(fixture *test, mica_entity from, uint64_t key, int32_t value)
{
    return mica_cluster_ask(test->cluster, from, key, (mica_value)MICA_WITH(Number, {value}));
}

START_TEST(invalid_streams_and_requests_are_reported)
{
    fixture test;
    prepare(&test);
    mica_stream *handles = mica_stream_create(test.world, MICA_STREAM(Holder));
    mica_component holder = MICA_ID(Holder), place = MICA_ID(Place), number = MICA_ID(Number);
    mica_stream *const bad[][2] = {{NULL, test.notes}, {test.notes, test.notes}, {test.notes, handles}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        mica_cluster_def def = test.def;
        def.streams = bad[i];
        ck_assert_ptr_null(mica_cluster_create(test.world, &def));
        expect_report(&test.heard, MICA_ERROR_INVALID, ".streams must be different streams");
    }
    const struct {
        mica_cluster_request requests[2];
        const char *text;
    } cases[] = {
        {{{.question = number, .fn = answer}, {.question = number, .fn = answer}}, "different questions"},
        {{{.question = number}, {0}}, "must have functions"},
        {{{.question = holder, .fn = answer}, {0}}, "without entities"},
        {{{.question = number, .answer = holder, .fn = answer}, {0}}, "the answers of its .requests"},
        {{{.question = number, .answer = MICA_ID(mica_identity), .fn = answer}, {0}}, "the answers of its .requests"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        mica_cluster_def def = test.def;
        def.requests = cases[i].requests;
        ck_assert_ptr_null(mica_cluster_create(test.world, &def));
        expect_report(&test.heard, MICA_ERROR_INVALID, cases[i].text);
    }
    mica_cluster_def def = test.def;
    def.streams = NULL;
    ck_assert_ptr_null(mica_cluster_create(test.world, &def));
    expect_report(&test.heard, MICA_ERROR_INVALID, "are NULL");
    def = test.def;
    def.messages = &holder;
    ck_assert_ptr_null(mica_cluster_create(test.world, &def));
    expect_report(&test.heard, MICA_ERROR_INVALID, ".messages must be types with data, without entities");
    ck_assert_uint_ne(place, 0);
    close(&test);
}
END_TEST

START_TEST(invalid_pushes_and_questions_are_reported)
{
    fixture test;
    open(&test);
    mica_stream *other = mica_stream_create(test.world, MICA_STREAM(Number));
    mica_entity a = create(&test, 1);
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    mica_value number = MICA_WITH(Number, {1}), note = MICA_WITH(Note, {mica_text_of("note")}), wrong = number;
    wrong.size_bytes = 99;
    ck_assert(!mica_cluster_push(test.cluster, a, other, number));
    expect_report(&test.heard, MICA_ERROR_INVALID, "stream must be in .streams");
    ck_assert(!mica_cluster_push(test.cluster, a, test.numbers, note));
    expect_report(&test.heard, MICA_ERROR_INVALID, "must be the type of the stream");
    ck_assert(!mica_cluster_push(test.cluster, a, test.numbers, wrong));
    expect_report(&test.heard, MICA_ERROR_INVALID, "must be the size of the type");
    ck_assert(!mica_cluster_push(test.cluster, mica_nil(), test.numbers, number));
    expect_report(&test.heard, MICA_ERROR_INVALID, "mica_cluster_push: from must be an entity with an identity");
    ck_assert(!mica_cluster_ask(test.cluster, a, 1, (mica_value)MICA_WITH(Place, {1, 2})));
    expect_report(&test.heard, MICA_ERROR_INVALID, "must be in .requests");
    ck_assert(!mica_cluster_ask(test.cluster, a, 1, wrong));
    expect_report(&test.heard, MICA_ERROR_INVALID, "must be the size of the type");
    ck_assert(!mica_cluster_ask(test.cluster, mica_nil(), 1, number));
    expect_report(&test.heard, MICA_ERROR_INVALID, "mica_cluster_ask: from must be an entity with an identity");
    close(&test);
}
END_TEST

static void write_directly(const mica_frame *frame)
{
    (void)frame;
}

START_TEST(a_system_that_writes_a_shared_stream_itself_is_refused)
{
    fixture test;
    open(&test);
    mica_system_add(test.world,
                    MICA_SYSTEM_ONCE_WITH(write_directly, (MICA_USES(MICA_USE_STREAM_WRITE(test.numbers)))));
    ck_assert(!mica_cluster_step(test.cluster, 0.1f));
    expect_report(&test.heard, MICA_ERROR_REFUSED, "the system write_directly writes a stream of .streams itself");
    close(&test);
}
END_TEST

static fixture *running;

static void push_in_system(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        push(running, view->entities[i], 1000 + (int32_t)mica_cluster_identity(running->cluster, view->entities[i]));
}

static void push_in_another(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; ++i)
        push(running, view->entities[i], 2000 + (int32_t)mica_cluster_identity(running->cluster, view->entities[i]));
}

START_TEST(messages_of_streams_are_in_the_order_of_identities_systems_and_calls)
{
    fixture test;
    open(&test);
    running = &test;
    mica_entity second = create(&test, 2), first = create(&test, 1);
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    mica_system_add(test.world, MICA_SYSTEM(push_in_system, MICA_READ(Place)));
    mica_system_add(test.world, MICA_SYSTEM(push_in_another, MICA_READ(Place)));
    ck_assert(push(&test, second, 5) && push(&test, second, 3) && push(&test, first, 9));
    ck_assert(mica_cluster_push(test.cluster, first, test.notes, (mica_value)MICA_WITH(Note, {mica_text_of("heard")})));
    uint32_t count;
    ck_assert_ptr_null(mica_stream_read(test.numbers, Number, &count)); /* not before the end of the step */
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    static const int32_t expected[] = {9, 1001, 2001, 5, 3, 1002, 2002};
    uint32_t at = 0;
    for (const Number *some; (some = mica_stream_read(test.numbers, Number, &count));)
        for (uint32_t i = 0; i < count; ++i)
            ck_assert_int_eq(some[i].value, expected[at++]);
    ck_assert_uint_eq(at, sizeof expected / sizeof *expected);
    const Note *note = mica_stream_read(test.notes, Note, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(mica_text_get(&note->text), "heard");
    close(&test);
}
END_TEST

START_TEST(questions_are_answered_in_groups_and_the_last_answer_stays)
{
    fixture test;
    open(&test);
    mica_entity c = create(&test, 3), a = create(&test, 1), b = create(&test, 2), dead = create(&test, 4);
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    ck_assert(ask(&test, c, 7, 1) && ask(&test, a, 7, 1) && ask(&test, b, 7, 13) && ask(&test, dead, 8, 1));
    ck_assert(ask(&test, a, 2, 1));
    for (int i = 0; i < 2; ++i)
        mica_cluster_ask(test.cluster, i ? a : c, 1,
                         (mica_value)MICA_WITH(Note, {mica_text_of(i ? "first " : "then")}));
    mica_destroy(test.world, dead);
    asked_notes[0] = 0;
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    ck_assert_str_eq(asked_notes, "first then");
    const Answer *of_a = mica_get(test.world, a, Answer), *of_c = mica_get(test.world, c, Answer);
    ck_assert_int_eq(of_c->place, 2);
    ck_assert_int_eq(of_c->count, 703);
    ck_assert_str_eq(mica_text_get(&of_c->text), "a text that is too long to be stored in place");
    ck_assert_int_eq(of_a->count, 201); /* it asked about 2 last */
    ck_assert(!mica_has(test.world, b, Answer));
    ck_assert_uint_eq(mica_cluster_get_stats(test.cluster).dropped_count, 1);
    close(&test);
}
END_TEST

static char heard_note[32];

static void take_note(const mica_message *message)
{
    const Note *note = message->data;
    snprintf(heard_note, sizeof heard_note, "%s", mica_text_get(&note->text));
}

START_TEST(messages_can_have_text)
{
    fixture test;
    open(&test);
    mica_handler_add(test.world, MICA_HANDLER(Place, Note, take_note));
    mica_entity a = create(&test, 1);
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    ck_assert(
        mica_cluster_send(test.cluster, a, 1, (mica_value)MICA_WITH(Note, {mica_text_of("a letter of many words")})));
    ck_assert(mica_cluster_step(test.cluster, 0.1f));
    ck_assert_str_eq(heard_note, "a letter of many words");
    close(&test);
}
END_TEST

START_TEST(what_was_pushed_or_asked_since_the_last_step_can_not_be_saved)
{
    for (int turn = 0; turn < 2; ++turn) {
        fixture test;
        open(&test);
        mica_entity a = create(&test, 1);
        ck_assert(mica_cluster_step(test.cluster, 0.1f));
        ck_assert(turn ? push(&test, a, 1) : ask(&test, a, 1, 1));
        ck_assert_int_eq(mica_cluster_save(test.cluster, "cluster_mail_test.mica"), MICA_ERROR_REFUSED);
        expect_report(&test.heard, MICA_ERROR_REFUSED, "messages or questions were sent since the last step");
        close(&test);
    }
}
END_TEST

/* A record, or what one rank pushed, as another rank could send it. */
static void put_parcel(fixture *test, micap_bytes *bytes, int kind)
{
    Number number = {77};
    bytes->count = 0;
    micap_exchange_put_header(test->cluster, bytes);
    if (kind)
        micap_bytes_put(bytes, &(uint8_t){kind == 1 ? MICAP_RECORD_QUESTION : MICAP_RECORD_ANSWER}, 1);
    else
        micap_bytes_put_number(bytes, 1);
    micap_bytes_put64(bytes, 1);
    if (kind == 1) {
        micap_bytes_put64(bytes, 1);
        micap_bytes_put_number(bytes, 0); /* rank */
    }
    for (int i = 0; kind && i < 3; ++i)
        micap_bytes_put_number(bytes, 0); /* kind, system, order */
    if (!kind)
        micap_bytes_put_number(bytes, 0); /* system */
    micap_bytes_put(bytes, &number, sizeof number);
    if (kind == 2) {
        micap_bytes_put(bytes, &number, sizeof number);
        micap_bytes_put_text(bytes, "an answer");
    }
    micap_exchange_put_end(bytes);
}

static const char *verify(fixture *test, const micap_bytes *bytes, int kind)
{
    return kind ? micap_exchange_check(test->cluster, 0, bytes->data, bytes->count)
                : micap_shared_streams_verify(test->cluster, bytes->data, bytes->count);
}

START_TEST(what_another_rank_sends_is_verified)
{
    fixture test;
    open(&test);
    micap_memory memory;
    micap_memory_init(&memory, (mica_allocator){0});
    micap_bytes bytes = {.memory = &memory};
    for (int kind = 0; kind < 3; ++kind) {
        put_parcel(&test, &bytes, kind);
        ck_assert_ptr_null(verify(&test, &bytes, kind));
        for (uint32_t count = bytes.count; count--;) { /* cut off, with a checksum that is right */
            micap_bytes cut = {.memory = &memory};
            micap_bytes_put(&cut, bytes.data, count);
            ck_assert_ptr_nonnull(verify(&test, &cut, kind));
            if (count > 12 && count < bytes.count - 9) {
                micap_exchange_put_end(&cut);
                ck_assert_ptr_nonnull(verify(&test, &cut, kind));
            }
            micap_bytes_free(&cut);
        }
        for (uint32_t i = 12; i < bytes.count; ++i) { /* changed: either refused or harmless */
            put_parcel(&test, &bytes, kind);
            bytes.data[i] = (char)(bytes.data[i] ^ 0x55);
            ck_assert_ptr_nonnull(verify(&test, &bytes, kind));
            bytes.count -= 9;
            micap_exchange_put_end(&bytes);
            (void)verify(&test, &bytes, kind);
            put_parcel(&test, &bytes, kind);
        }
    }
    put_parcel(&test, &bytes, 1);
    micap_reader reader;
    ck_assert_ptr_null(micap_exchange_open(test.cluster, bytes.data, bytes.count, &reader));
    ++reader.at;
    ck_assert_ptr_null(micap_questions_check(test.cluster, &reader));
    ck_assert_uint_eq(micap_reader_left(&reader), 0);
    reader.at = reader.begin + 13;
    micap_questions_receive(test.cluster, &reader);
    ck_assert_uint_eq(test.cluster->questions.count, 1);
    put_parcel(&test, &bytes, 2);
    ck_assert_ptr_null(micap_exchange_open(test.cluster, bytes.data, bytes.count, &reader));
    ++reader.at;
    micap_questions_receive_answer(test.cluster, &reader);
    ck_assert_uint_eq(test.cluster->answers.count, 1);
    create(&test, 1);
    ck_assert(mica_cluster_step(test.cluster, 0.1f)); /* both are used */
    micap_bytes_free(&bytes);
    close(&test);
}
END_TEST

/* Lets each allocation of the cluster fail once. Either a call reports it, or nothing is lost. */
START_TEST(running_out_of_memory_is_reported_and_leaks_nothing)
{
    for (uint64_t k = 1, is_done = 0; !is_done; ++k) {
        fixture test;
        prepare(&test);
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        faulty_allocator_fail_at(&faulty, k, true);
        test.def.allocator = faulty_allocator_interface(&faulty);
        test.cluster = mica_cluster_create(test.world, &test.def);
        bool has_failed = !test.cluster;
        mica_entity a = create(&test, 1), b = create(&test, 2);
        for (int step = 0; step < 3 && !has_failed; ++step) {
            has_failed = !mica_cluster_step(test.cluster, 0.1f);
            for (int i = 0; i < 40 && !has_failed; ++i)
                has_failed = !push(&test, i % 2 ? a : b, i) || !ask(&test, a, (uint64_t)i % 4, i);
        }
        ck_assert(has_failed == (faulty.failures > 0));
        is_done = !has_failed;
        forget_reports(&test.heard);
        mica_cluster_destroy(test.cluster);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
        close_world(test.world, &test.heard);
    }
}
END_TEST

TEST_SUITE(cluster_mail, invalid_streams_and_requests_are_reported, invalid_pushes_and_questions_are_reported,
           a_system_that_writes_a_shared_stream_itself_is_refused,
           messages_of_streams_are_in_the_order_of_identities_systems_and_calls,
           questions_are_answered_in_groups_and_the_last_answer_stays, messages_can_have_text,
           what_was_pushed_or_asked_since_the_last_step_can_not_be_saved, what_another_rank_sends_is_verified,
           running_out_of_memory_is_reported_and_leaks_nothing)
