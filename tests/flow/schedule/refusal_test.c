/* Invalid arguments, and calls at the wrong time, are refused with a reason and change nothing. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static reports heard;
static mica_phase extra;
static mica_system first;

static void idle(const mica_frame *frame)
{
    (void)frame;
}

/* Inside a frame, by a system that runs alone and may change everything else. */
static void try_everything(const mica_frame *frame)
{
    mica_world *world = frame->world;
    mica_flow_def def = mica_flow_def_default();
    ck_assert_int_eq(mica_phase_add(world, MICA_PHASE_AFTER("late", MICA_PHASE_END)), MICA_PHASE_NONE);
    expect_report(&heard, MICA_ERROR_REFUSED, "phase_add: refused inside a frame");
    ck_assert_int_eq(mica_phase_add(world, NULL), MICA_PHASE_NONE);
    expect_report(&heard, MICA_ERROR_REFUSED, "phase_add: refused inside a frame");
    ck_assert_int_eq(mica_trace_start(world), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "trace_start: refused inside a frame");
    mica_world_trim(world);
    ck_assert(!mica_phase_remove(world, extra));
    expect_report(&heard, MICA_ERROR_REFUSED, "phase_remove: extra: refused inside a frame");
    ck_assert_int_eq(mica_stats_enable(world, 1), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "stats");
    ck_assert_int_eq(mica_system_replace(world, first, MICA_SYSTEM_ONCE(idle)), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "system_replace");
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_ERROR_REFUSED);
    forget_reports(&heard);
    ck_assert_int_eq(mica_step(world, 1), MICA_ERROR_REFUSED);
    forget_reports(&heard);
}

START_TEST(what_has_no_place_inside_a_frame_is_refused_there)
{
    mica_world *world = open_world(&heard);
    extra = mica_phase_add(world, MICA_PHASE_AFTER("extra", MICA_PHASE_UPDATE));
    first = mica_system_add(world, MICA_SYSTEM_ONCE(idle));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(try_everything, (.exclusive = true)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_int_eq(mica_phase_find(world, "extra"), extra);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_phase_needs_a_name_a_step_and_a_neighbour)
{
    static const struct { mica_phase_def def; mica_result result; } cases[] = {
        {{.name = NULL}, MICA_ERROR_INVALID},
        {{.name = "x", .fixed_seconds = -1}, MICA_ERROR_INVALID},
        {{.name = "x", .fixed_seconds = 1e10}, MICA_ERROR_INVALID},
        {{.name = "update"}, MICA_ERROR_EXISTS},
        {{.name = "x", .beside = 99}, MICA_ERROR_UNKNOWN},
    };
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_phase_find(world, "fixed"), MICA_PHASE_FIXED); /* before there is anything that runs */
    ck_assert_int_eq(mica_phase_find(world, "none"), MICA_PHASE_NONE);
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ck_assert_int_eq(mica_phase_add(world, &cases[i].def), MICA_PHASE_NONE);
        expect_report(&heard, cases[i].result, "phase");
    }
    ck_assert_int_eq(mica_phase_add(world, NULL), MICA_PHASE_NONE);
    expect_report(&heard, MICA_ERROR_INVALID, "phase");
    ck_assert(!mica_phase_remove(world, MICA_PHASE_FIXED) && !mica_phase_remove(world, 99));
    ck_assert(!mica_phase_enable(world, 99, false) &&
              !mica_phase_enable(world, mica_phase_find(world, "(messages)"), false));
    for (uint32_t i = 0; i < 9; ++i) {
        char name[2] = {(char)('a' + i), 0};
        ck_assert_uint_ne(mica_phase_add(world, MICA_PHASE_BEFORE(name, MICA_PHASE_FIXED)), MICA_PHASE_NONE);
    }
    ck_assert_uint_ne(mica_phase_find(world, "i"), MICA_PHASE_NONE);
    close_world(world, &heard);
}
END_TEST

static void answer(const mica_request_group *group)
{
    (void)group;
}

/* What owns something in one way only, and what is described badly. */
typedef struct Built { int number; } Built;
typedef struct Moved { int number; } Moved;
typedef struct Ended { int number; } Ended;
static bool build(void *values, uint32_t count, void *context)
{
    (void)context;
    memset(values, 0, count * sizeof(Built));
    return true;
}
static void move(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    memcpy(to, from, count * sizeof(Moved));
}
static void end(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}
MICA_COMPONENT_WITH(Built, (.construct = build), number)
MICA_COMPONENT_WITH(Moved, (.move = move), number)
MICA_COMPONENT_WITH(Ended, (.destruct = end), number)
static mica_type nameless = {.size_bytes = 4, .alignment = 4};

START_TEST(what_is_copied_as_bytes_owns_nothing)
{
    static const struct { mica_requests_def def; const char *reason; } cases[] = {
        {{.question = NULL, .fn = answer}, "a question with data and a function"},
        {{.question = &mica_type_of_Number}, "a question with data and a function"},
        {{.question = &mica_type_of_Frozen, .fn = answer}, "a question with data and a function"},
        {{.question = &nameless, .fn = answer}, "a question with data and a function"},
        {{.question = &mica_type_of_Number, .answer = &nameless, .fn = answer}, "component with data"},
        {{.question = &mica_type_of_Number, .answer = &mica_type_of_Clock, .fn = answer}, "Clock"},
        {{.question = &mica_type_of_Built, .fn = answer, .name = "builder"}, "builder: questions and answers"},
        {{.question = &mica_type_of_Moved, .fn = answer}, "without a name: questions and answers"},
        {{.question = &mica_type_of_Ended, .fn = answer}, "must be trivial"},
        {{.question = &mica_type_of_Number, .answer = &mica_type_of_Frozen, .fn = answer}, "component with data"},
        {{.question = &mica_type_of_Text, .fn = answer}, "must be trivial"},
        {{.question = &mica_type_of_Number, .answer = &mica_type_of_Text, .fn = answer}, "must be trivial"},
        {{.question = &mica_type_of_Number, .as_stream = true, .fn = answer}, "needs answers"},
    };
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ck_assert_ptr_null(mica_requests_create(world, &cases[i].def));
        expect_report(&heard, MICA_ERROR_INVALID, cases[i].reason);
    }
    ck_assert_ptr_null(mica_stream_create(world, MICA_STREAM(Text)));
    expect_report(&heard, MICA_ERROR_INVALID, "has a copy, move or destruct function");
    ck_assert_ptr_null(mica_stream_create(world, &(mica_stream_def){.name = "nothing"}));
    expect_report(&heard, MICA_ERROR_INVALID, "must be described");
    ck_assert_ptr_null(mica_requests_create(world, NULL));
    expect_report(&heard, MICA_ERROR_INVALID, "a question with data and a function");
    mica_requests_destroy(NULL);
    ck_assert_ptr_null(mica_requests_stream(NULL));
    ck_assert_ptr_null(mica_requests_answers(NULL));
    ck_assert_int_eq(mica_requests_handle(NULL), MICA_ERROR_INVALID);
    ck_assert(!mica_request_post((mica_requests *)NULL, 1, mica_nil(), Number, {1}));
    close_world(world, &heard);
}
END_TEST

static void sum_range(uint32_t begin, uint32_t end_, void *sum, void *context)
{
    (void)context;
    *(int *)sum += (int)(end_ - begin);
}

static void sum_view(mica_view *view, void *sum, void *context)
{
    (void)context;
    *(int *)sum += (int)view->count;
}

static void combine(void *sum, const void *later, void *context)
{
    (void)context;
    *(int *)sum += *(const int *)later;
}

START_TEST(a_reduction_says_how_and_what)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    int sum = 3;
    ck_assert_int_eq(mica_reduce_query(NULL, &(mica_reduction){0}, &sum), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_reduce_query(query, &(mica_reduction){0}, &sum), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "the reduction needs zero");
    const mica_reduction whole = {.zero = &sum, .bytes = 4, .range = sum_range, .view = sum_view, .combine = combine};
    mica_reduction bad[] = {whole, whole, whole, whole};
    bad[0].zero = NULL;
    bad[1].combine = NULL;
    bad[2].bytes = 0;
    bad[3].bytes = MICA_REDUCTION_BYTES_MAX + 1;
    for (uint32_t i = 0; i < COUNT_OF(bad); ++i) {
        ck_assert_int_eq(mica_reduce_range(world, 10, 1, &bad[i], &sum), MICA_ERROR_INVALID);
        ck_assert_int_eq(mica_reduce_query(query, &bad[i], &sum), MICA_ERROR_INVALID);
    }
    ck_assert_int_eq(mica_reduce_range(world, 10, 1, NULL, &sum), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_reduce_range(world, 10, 1, &whole, NULL), MICA_ERROR_INVALID);
    bad[0] = bad[1] = whole;
    bad[0].range = NULL;
    bad[1].view = NULL;
    ck_assert_int_eq(mica_reduce_range(world, 10, 1, &bad[0], &sum), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_reduce_query(query, &bad[1], &sum), MICA_ERROR_INVALID);
    ck_assert_uint_eq(forget_reports(&heard), 12);
    ck_assert_int_eq(sum, 3);
    ck_assert_int_eq(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(idle, (.parallel = (mica_parallel)99))).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "parallel");
    ck_assert_int_eq(mica_system_replace(world, (mica_system){7}, MICA_SYSTEM_ONCE(idle)), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "no such system");
    close_world(world, &heard);
}
END_TEST

static void *submit(mica_task_fn fn, void *data, void *context)
{
    (void)context;
    fn(data);
    return NULL;
}

static void wait(void *task, void *context)
{
    (void)task;
    (void)context;
}

START_TEST(what_a_frame_is_told_must_make_sense)
{
    static const mica_scheduler halves[] = {{submit, NULL, NULL}, {NULL, wait, NULL}};
    mica_world *world = open_world(&heard);
    mica_flow_def defs[7];
    for (uint32_t i = 0; i < COUNT_OF(defs); ++i)
        defs[i] = mica_flow_def_default();
    defs[0].worker_count = 100000;
    defs[1].fixed_seconds = -1;
    defs[2].fixed_seconds = 1e10;
    defs[3].fixed_seconds = (double)NAN;
    defs[4].scheduler = &halves[0];
    defs[5].scheduler = &halves[1];
    uint32_t workers = mica_worker_count(world); /* as many as it would have */
    static const char *const problems[] = {"worker_count",  "fixed_seconds",   "fixed_seconds",
                                           "fixed_seconds", "submit and wait", "submit and wait"};
    for (uint32_t i = 0; i < COUNT_OF(problems); ++i) {
        ck_assert_int_eq(mica_flow_configure(world, &defs[i]), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, problems[i]);
    }
    ck_assert_int_eq(mica_flow_configure(world, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "flow");
    ck_assert_int_eq(mica_flow_configure(world, &defs[6]), MICA_OK);
    ck_assert_uint_eq(mica_worker_count(world), workers);
    static const float steps[] = {-1, 2e9f, NAN};
    static const double scales[] = {-1, 1e7, (double)NAN};
    for (uint32_t i = 0; i < 3; ++i) {
        ck_assert_int_eq(mica_step(world, steps[i]), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "step: the time step must be");
        ck_assert_int_eq(mica_time_set_scale(world, scales[i]), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, "time_set_scale: the scale must be");
    }
    ck_assert_int_eq(mica_step_from(world, (mica_system){9}, 1), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "step_from: there is no such system");
    ck_assert_uint_eq(mica_time_get(world).frame, 0);
    close_world(world, &heard);
}
END_TEST

/* Returns an error in every build, and a report in builds that continue. */
static void make_inside(const mica_frame *frame)
{
    mica_requests_def def = {.question = &mica_type_of_Number, .fn = answer};
    ck_assert_ptr_null(mica_requests_create(frame->world, &def));
    ck_assert(!mica_system_remove(frame->world, frame->system));
    ck_assert(!mica_system_enable(frame->world, frame->system, false));
}

START_TEST(what_has_no_place_inside_a_system_is_refused_there)
{
    if (STOPS_AT_MISTAKES)
        return;
    mica_world *world = open_world(&heard);
    mica_system_add(world, MICA_SYSTEM_ONCE(make_inside));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect_report(&heard, MICA_ERROR_INVALID, "requests without a name: they can't be created inside a system");
    expect_report(&heard, MICA_ERROR_REFUSED, "system_remove");
    expect_report(&heard, MICA_ERROR_REFUSED, "system_enable");
    ck_assert(mica_system_find(world, "make_inside").id);
    close_world(world, &heard);
}
END_TEST

static mica_query *query_of_another;
static mica_commands *buffer_of_another;

static void misbehave(const mica_frame *frame)
{
    mica_world *world = frame->world;
    mica_system_add(world, MICA_SYSTEM_ONCE(idle));
    mica_step(world, 1);
    mica_flush(world);
    mica_world_clear(world);
    mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    mica_query_destroy(query_of_another);
    mica_commands_create(world);
    mica_commands_destroy(buffer_of_another);
    mica_component_define(world, &mica_type_of_Mass);
    mica_hook_set_destroy(world, NULL, NULL);
    mica_removals_create(world, Number);
}

static void look_further(mica_view *view)
{
    ck_assert(!mica_view_next(view));
}

START_TEST(what_can_not_be_done_inside_a_system_is_refused_and_harmless)
{
    if (STOPS_AT_MISTAKES) /* see checked_test.c */
        return;
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Number, {2}));
    query_of_another = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    buffer_of_another = mica_commands_create(world);
    mica_system_add(world, MICA_SYSTEM_ONCE(misbehave));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    static const char *const parts[] = {"system_add", "step",          "flush",    "clear",
                                        "query",      "query_destroy", "commands", "commands_destroy",
                                        "component",  "hook",          "removals"};
    for (uint32_t i = 0; i < COUNT_OF(parts); ++i)
        expect_report(&heard, MICA_ERROR_REFUSED, parts[i]);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 1);
    ck_assert_uint_eq(mica_query_count(query_of_another), 1);
    mica_system_remove(world, mica_system_find(world, "misbehave"));
    mica_system_add(world, MICA_SYSTEM(look_further, MICA_READ(Number)));
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    expect_report(&heard, MICA_ERROR_INVALID, "there is no next one");
    close_world(world, &heard);
}
END_TEST

/* Questions about what was never made. */
START_TEST(a_world_without_systems_answers_for_none)
{
    mica_world *world = open_world(&heard);
    mica_system_stats stats;
    mica_time time = mica_time_get(world);
    ck_assert(time.frame == 0 && time.seconds == 0);
    ck_assert_uint_eq(mica_system_find(world, "none").id, 0);
    ck_assert_ptr_null(mica_system_name(world, (mica_system){1}));
    ck_assert(!mica_system_remove(world, (mica_system){1}) && !mica_system_enable(world, (mica_system){1}, true));
    ck_assert(!mica_phase_remove(world, 9) && !mica_stats_get_system_total(world, (mica_system){1}, &stats));
    ck_assert_int_eq(mica_system_replace(world, (mica_system){1}, MICA_SYSTEM_ONCE(idle)), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "no such system");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(refusal, what_has_no_place_inside_a_frame_is_refused_there, a_phase_needs_a_name_a_step_and_a_neighbour,
           what_is_copied_as_bytes_owns_nothing, a_reduction_says_how_and_what, what_a_frame_is_told_must_make_sense,
           what_has_no_place_inside_a_system_is_refused_there,
           what_can_not_be_done_inside_a_system_is_refused_and_harmless, a_world_without_systems_answers_for_none)
