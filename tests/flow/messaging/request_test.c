/* Requests: grouped by key, answered in bulk, answers set on the entities that asked. */
#include "flow/faults.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct Sum { uint32_t a, b; } Sum;
typedef struct Result { uint64_t total; uint32_t location; } Result;
typedef struct Number { uint32_t value; } Number;
MICA_STRUCT(Sum, a, b)
MICA_COMPONENT(Result, total, location)
MICA_COMPONENT(Number, value)

static mica_requests *sums;
static char diary[1024];
static atomic_uint groups_seen, questions_seen;

/* Writes down key and questions, and answers with their sums; odd ones are taken back when the context says so. */
static void add_up(const mica_request_group *group)
{
    const Sum *asked = group->questions;
    Result *result = group->answers;
    atomic_fetch_add(&groups_seen, 1);
    atomic_fetch_add(&questions_seen, group->count);
    for (uint32_t i = 0; i < group->count; ++i) {
        ck_assert(group->answered[i]);
        ck_assert_uint_eq(result[i].total, 0);
        result[i] = (Result){(uint64_t)asked[i].a + asked[i].b, i};
        if (group->context && result[i].total % 2)
            group->answered[i] = false;
    }
}

static void write_down(const mica_request_group *group)
{
    const Sum *asked = group->questions;
    snprintf(diary + strlen(diary), sizeof diary - strlen(diary), "%u(", (unsigned)group->key);
    for (uint32_t i = 0; i < group->count; ++i)
        snprintf(diary + strlen(diary), sizeof diary - strlen(diary), "%s%u", i ? " " : "", asked[i].a);
    strcat(diary, ")");
    if (group->answers)
        add_up(group);
}

static mica_requests *make(mica_world *world, mica_request_fn fn, bool in_order, bool as_stream)
{
    mica_requests_def def = *MICA_REQUESTS(Sum, Result, fn, NULL);
    def.in_order = in_order;
    def.as_stream = def.application = as_stream;
    return mica_requests_create(world, &def);
}

START_TEST(questions_are_grouped_by_key_and_keep_their_order)
{
    reports heard;
    mica_world *world = open_world(&heard);
    sums = make(world, write_down, true, false);
    mica_entity askers[7];
    static const uint64_t keys[7] = {5, 2, 5, 9, 2, 5, 0};
    for (uint32_t i = 0; i < 7; ++i) {
        askers[i] = mica_create(world);
        ck_assert(mica_request_post(sums, keys[i], askers[i], Sum, {i, 10}));
    }
    ck_assert_int_eq(mica_requests_handle(sums), MICA_OK);
    ck_assert_str_eq(diary, "0(6)2(1 4)5(0 2 5)9(3)");
    for (uint32_t i = 0; i < 7; ++i)
        ck_assert_uint_eq(mica_get(world, askers[i], Result)->total, 10 + i);
    ck_assert_uint_eq(mica_get(world, askers[5], Result)->location, 2);
    *diary = '\0';
    ck_assert_int_eq(mica_requests_handle(sums), MICA_OK);
    ck_assert_str_eq(diary, "");
    close_world(world, &heard);
}
END_TEST

START_TEST(the_last_answer_stands_and_the_dead_get_none)
{
    reports heard;
    mica_world *world = open_world(&heard);
    sums = make(world, add_up, false, false);
    mica_entity one = mica_create(world), dead = mica_create(world);
    mica_request_post(sums, 9, one, Sum, {1, 1});
    mica_request_post(sums, 1, one, Sum, {2, 2});
    mica_request_post(sums, 1, dead, Sum, {3, 3});
    mica_destroy(world, dead);
    mica_requests_handle(sums);
    ck_assert_uint_eq(mica_get(world, one, Result)->total, 4); /* asked last, whatever the key */
    close_world(world, &heard);
}
END_TEST

START_TEST(an_answer_can_be_taken_back)
{
    reports heard;
    mica_world *world = open_world(&heard);
    int yes;
    sums = mica_requests_create(world, MICA_REQUESTS(Sum, Result, add_up, &yes));
    mica_entity even = mica_create(world), odd = mica_create(world);
    mica_request_post(sums, 1, even, Sum, {1, 1});
    mica_request_post(sums, 1, odd, Sum, {1, 2});
    mica_requests_handle(sums);
    ck_assert(mica_has(world, even, Result));
    ck_assert(!mica_has(world, odd, Result));
    close_world(world, &heard);
}
END_TEST

static void ask(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        if (number[i].value % 3 != 1)
            ck_assert(mica_request_post(sums, number[i].value % 50, view->entities[i], Sum, {number[i].value, 1}));
}

static void add_asking(mica_world *world)
{
    mica_system_add(world, MICA_SYSTEM_WITH(ask,
                                            (MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(sums))),
                                             .parallel = MICA_PARALLEL_EVEN),
                                            MICA_READ(Number), MICA_WITHOUT(Result)));
}

START_TEST(questions_of_systems_are_answered_once_per_key_for_any_number_of_workers)
{
    static const uint32_t worker_counts[] = {1, 2, 3, 4, 7, 16};
    uint64_t hash = 0;
    for (uint32_t i = 0; i < 6; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_flow_def def = mica_flow_def_default();
        def.worker_count = worker_counts[i];
        mica_flow_configure(world, &def);
        sums = make(world, add_up, false, false);
        for (uint32_t number = 0; number < 9000; ++number)
            mica_create(world, MICA_WITH(Number, {number}));
        add_asking(world);
        groups_seen = questions_seen = 0;
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        ck_assert_uint_eq(groups_seen, 50);
        ck_assert_uint_eq(questions_seen, 6000);
        if (i == 0)
            hash = mica_world_hash(world);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        groups_seen = 0;
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        ck_assert_uint_eq(groups_seen, 0); /* all have their answers */
        close_world(world, &heard);
    }
}
END_TEST

static void bear_and_ask(const mica_frame *frame)
{
    mica_entity child = mica_create(frame->world, MICA_WITH(Number, {77}));
    ck_assert(mica_request_post(sums, 1, child, Sum, {40, 2}));
}

START_TEST(an_entity_that_is_created_with_its_question_gets_the_answer)
{
    reports heard;
    mica_world *world = open_world(&heard);
    sums = make(world, add_up, false, false);
    mica_system_add(
        world, MICA_SYSTEM_ONCE_WITH(bear_and_ask, (MICA_USES(MICA_USE_STREAM_WRITE(mica_requests_stream(sums))))));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    mica_query *children = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Result)));
    ck_assert_uint_eq(mica_query_count(children), 1);
    mica_entity child = mica_query_first(children);
    ck_assert_uint_eq(mica_get(world, child, Result)->total, 42);
    ck_assert_uint_eq(mica_get(world, child, Number)->value, 77);
    close_world(world, &heard);
}
END_TEST

START_TEST(answers_may_go_to_a_stream_in_the_order_of_questions)
{
    reports heard;
    mica_world *world = open_world(&heard);
    sums = make(world, add_up, false, true);
    mica_stream *answers = mica_requests_answers(sums);
    mica_entity one = mica_create(world);
    for (uint32_t i = 0; i < 5; ++i)
        mica_request_post(sums, 5 - i, one, Sum, {i, 0});
    mica_requests_handle(sums);
    uint32_t count, next = 0;
    for (const Result *some; (some = mica_stream_read(answers, Result, &count));)
        for (uint32_t i = 0; i < count; ++i)
            ck_assert_uint_eq(some[i].total, next++);
    ck_assert_uint_eq(next, 5);
    ck_assert(!mica_has(world, one, Result));
    close_world(world, &heard);
}
END_TEST

static void handle_again(const mica_request_group *group)
{
    ck_assert_int_eq(mica_requests_handle(sums), MICA_ERROR_REFUSED);
    mica_requests_destroy(sums);
    ck_assert_uint_eq(mica_world_trim(group->world), 0);
    mica_create(group->world);
}

START_TEST(a_handler_can_not_pull_away_what_it_stands_on)
{
    reports heard;
    mica_world *world = open_world(&heard);
    sums = make(world, handle_again, true, false);
    mica_entity one = mica_create(world);
    mica_request_post(sums, 1, one, Sum, {1, 2});
    ck_assert_int_eq(mica_requests_handle(sums), MICA_OK);
    expect_report(&heard, MICA_ERROR_REFUSED, "can't be handled inside a system");
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a system or their handler");
    ck_assert(mica_has(world, one, Result));
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 2);
    close_world(world, &heard);
}
END_TEST

START_TEST(no_answers_need_be_wanted)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_requests_def def = *MICA_REQUESTS(Sum, Result, write_down, NULL);
    def.answer = NULL;
    sums = mica_requests_create(world, &def);
    mica_request_post(sums, 3, mica_nil(), Sum, {8, 0});
    mica_requests_handle(sums);
    ck_assert_str_eq(diary, "3(8)");
    ck_assert_ptr_null(mica_requests_answers(sums));
    close_world(world, &heard);
}
END_TEST

START_TEST(requests_leave_from_the_middle_and_from_the_end)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_requests *all[4];
    for (uint32_t i = 0; i < 4; ++i) {
        mica_requests_def def = {.question = &mica_type_of_Sum, .answer = &mica_type_of_Result, .fn = add_up};
        def.as_stream = def.application = i % 2;
        all[i] = mica_requests_create(world, &def);
    }
    static const uint32_t leaving[] = {1, 3, 0, 2};
    for (uint32_t i = 0; i < 4; ++i) {
        mica_requests_destroy(all[leaving[i]]);
        all[leaving[i]] = NULL;
        for (uint32_t j = 0; j < 4; ++j) {
            if (!all[j])
                continue;
            groups_seen = 0; /* a question without a type is taken for one */
            ck_assert(mica_request_post_id(all[j], 1, mica_nil(), (mica_value){.data = &(Sum){1, 2}}, MICA_HERE));
            ck_assert_int_eq(mica_requests_handle(all[j]), MICA_OK);
            ck_assert_uint_eq(groups_seen, 1);
        }
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

static void ask_undeclared(const mica_frame *frame)
{
    (void)frame;
    ck_assert(!mica_request_post(sums, 1, mica_nil(), Sum, {1, 1}));
    ck_assert_int_eq(mica_requests_handle(sums), MICA_ERROR_REFUSED);
    mica_requests_destroy(sums);
}

START_TEST(mistakes_are_reported_and_change_nothing)
{
    reports heard;
    mica_world *world = open_world(&heard);
    ck_assert_ptr_null(mica_requests_create(world, &(mica_requests_def){.name = "empty"}));
    expect_report(&heard, MICA_ERROR_INVALID, "a question with data and a function");
    mica_requests_def def = *MICA_REQUESTS(Sum, Result, add_up, NULL);
    def.answer = NULL;
    def.as_stream = true;
    ck_assert_ptr_null(mica_requests_create(world, &def));
    expect_report(&heard, MICA_ERROR_INVALID, "needs answers");
    sums = make(world, add_up, false, false);
    ck_assert(!mica_request_post(sums, 1, mica_nil(), Number, {1}));
    expect_report(&heard, MICA_ERROR_INVALID, "has no data, or another type");
    ck_assert(!mica_request_post_id(sums, 1, mica_nil(), (mica_value){MICA_ID(Sum), sizeof(Sum), NULL}, MICA_HERE));
    expect_report(&heard, MICA_ERROR_INVALID, "has no data, or another type");
    if (!STOPS_AT_MISTAKES) {
        mica_system asking = mica_system_add(world, MICA_SYSTEM_ONCE(ask_undeclared));
        mica_step(world, 1);
        expect_report(&heard, MICA_ERROR_REFUSED, "does not declare that it will write");
        expect_report(&heard, MICA_ERROR_REFUSED, "can't be handled inside a system");
        expect_report(&heard, MICA_ERROR_REFUSED, "can't be destroyed");
        mica_system_remove(world, asking);
    }
    add_asking(world);
    mica_requests_destroy(sums);
    expect_report(&heard, MICA_ERROR_REFUSED, "while a system declares");
    mica_system_remove(world, mica_system_find(world, "ask"));
    mica_stream_destroy(mica_requests_stream(sums));
    expect_report(&heard, MICA_ERROR_REFUSED, "belongs to requests");
    mica_requests_destroy(sums);
    mica_requests_destroy(NULL);
    mica_step(world, 1);
    close_world(world, &heard);
}
END_TEST

static void make_and_handle(faults *faults)
{
    mica_world *world = faults->world;
    for (uint32_t number = 0; number < 30; ++number)
        mica_create(world, MICA_WITH(Number, {number}));
    faults_begin(faults);
    sums = make(world, add_up, true, false);
    bool failed = faults_end(faults);
    ck_assert_int_eq(sums == NULL, failed);
    if (!sums)
        return;
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(numbers); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            ck_assert(mica_request_post(sums, i % 4, view.entities[i], Sum, {1, 1}));
    faults_begin(faults);
    mica_result result = mica_requests_handle(sums);
    failed = faults_end(faults);
    ck_assert(failed || result == MICA_OK);
    ck_assert(result == MICA_OK || faults->heard.count > 0); /* some can be done without */
    expect_valid(world);
    mica_requests_handle(sums); /* what was left is answered now */
    mica_flush(world);
    mica_query *answered = mica_query_create(world, MICA_QUERY(MICA_READ(Result)));
    if (result == MICA_OK && !faults->heard.count)
        ck_assert_uint_eq(mica_query_count(answered), 30);
}

START_TEST(running_out_of_memory_is_reported_and_leaves_a_sound_world)
{
    ck_assert_uint_ge(fail_everywhere(make_and_handle), 8);
}
END_TEST

TEST_SUITE(request, questions_are_grouped_by_key_and_keep_their_order, the_last_answer_stands_and_the_dead_get_none,
           an_answer_can_be_taken_back, questions_of_systems_are_answered_once_per_key_for_any_number_of_workers,
           an_entity_that_is_created_with_its_question_gets_the_answer,
           answers_may_go_to_a_stream_in_the_order_of_questions, a_handler_can_not_pull_away_what_it_stands_on,
           no_answers_need_be_wanted, requests_leave_from_the_middle_and_from_the_end,
           mistakes_are_reported_and_change_nothing, running_out_of_memory_is_reported_and_leaves_a_sound_world)
