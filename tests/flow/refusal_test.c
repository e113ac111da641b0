/* What makes no sense, or comes at the wrong time, is refused with a reason and changes nothing. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

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
    expect_report(&heard, MICA_ERROR_REFUSED, "can't be added inside a frame");
    ck_assert(!mica_phase_remove(world, extra));
    expect_report(&heard, MICA_ERROR_REFUSED, "can't be removed inside a frame");
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
    ck_assert(!mica_phase_enable(world, 99, false));
    close_world(world, &heard);
}
END_TEST

static void answer(const mica_request_group *group)
{
    (void)group;
}

START_TEST(what_is_copied_as_bytes_owns_nothing)
{
    static const struct { mica_requests_def def; const char *reason; } cases[] = {
        {{.question = NULL, .fn = answer}, "needs a question"},
        {{.question = &mica_type_of_Number}, "needs a question"},
        {{.question = &mica_type_of_Number, .answer = &mica_type_of_Frozen, .fn = answer}, "component with data"},
        {{.question = &mica_type_of_Text, .fn = answer}, "must not own"},
        {{.question = &mica_type_of_Number, .answer = &mica_type_of_Text, .fn = answer}, "must not own"},
        {{.question = &mica_type_of_Number, .as_stream = true, .fn = answer}, "needs answers"},
    };
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ck_assert_ptr_null(mica_requests_create(world, &cases[i].def));
        expect_report(&heard, MICA_ERROR_INVALID, cases[i].reason);
    }
    ck_assert_ptr_null(mica_stream_create(world, MICA_STREAM(Text)));
    expect_report(&heard, MICA_ERROR_INVALID, "owns something");
    ck_assert_ptr_null(mica_stream_create(world, &(mica_stream_def){.name = "nothing"}));
    expect_report(&heard, MICA_ERROR_INVALID, "described type");
    mica_requests_destroy(NULL);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_reduction_says_how_and_what)
{
    mica_world *world = open_world(&heard);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    int sum = 3;
    ck_assert_int_eq(mica_reduce_query(NULL, &(mica_reduction){0}, &sum), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_reduce_query(query, &(mica_reduction){0}, &sum), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "makes no sense");
    ck_assert_int_eq(mica_reduce_range(world, 10, 1, NULL, &sum), MICA_ERROR_INVALID);
    forget_reports(&heard);
    ck_assert_int_eq(sum, 3);
    ck_assert_int_eq(mica_system_add(world, MICA_SYSTEM_ONCE_WITH(idle, (.split = (mica_split)99))).id, 0);
    expect_report(&heard, MICA_ERROR_INVALID, "split");
    ck_assert_int_eq(mica_system_replace(world, (mica_system){7}, MICA_SYSTEM_ONCE(idle)), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "no such system");
    ck_assert_int_eq(mica_time_set_scale(world, -1), MICA_ERROR_INVALID);
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(refusal, what_has_no_place_inside_a_frame_is_refused_there, a_phase_needs_a_name_a_step_and_a_neighbour,
           what_is_copied_as_bytes_owns_nothing, a_reduction_says_how_and_what)
