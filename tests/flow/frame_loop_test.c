/* The frame loop: the phase that runs once, flushes inside a phase, and frames in measured time. No test looks at the real time. */
#include "mica/flow.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

static char seen[256];

static void note(const mica_frame *frame)
{
    strcat(seen, frame->context);
}

static mica_system add_note(mica_world *world, char *letter, mica_system_def more)
{
    more.name = letter;
    more.once = note;
    more.context = letter;
    return mica_system_add(world, &more);
}

static mica_world *open_notes(reports *heard)
{
    seen[0] = '\0';
    mica_world *world = open_world(heard);
    add_note(world, "u", (mica_system_def){0});
    add_note(world, "b", (mica_system_def){.phase = MICA_PHASE_BEGIN});
    return world;
}

/* Runs a frame. Returns what was noted in it. */
static const char *step(mica_world *world)
{
    seen[0] = '\0';
    ck_assert_int_eq(mica_step(world, 0.25f), MICA_OK);
    return seen;
}

START_TEST(the_start_phase_runs_once_before_all_others)
{
    reports heard;
    mica_world *world = open_notes(&heard);
    add_note(world, "s", (mica_system_def){.phase = MICA_PHASE_START});
    add_note(world, "X", (mica_system_def){.phase = MICA_PHASE_START, .exclusive = true});
    add_note(world, "t", (mica_system_def){.phase = MICA_PHASE_START});
    ck_assert_uint_eq(mica_phase_find(world, "start"), MICA_PHASE_START);
    ck_assert_uint_eq(mica_phase_next(world, MICA_PHASE_NONE), MICA_PHASE_START);
    ck_assert(!mica_phase_remove(world, MICA_PHASE_START));
    ck_assert_str_eq(step(world), "sXtbu");
    ck_assert_str_eq(step(world), "bu");
    add_note(world, "late", (mica_system_def){.phase = MICA_PHASE_START});
    ck_assert_str_eq(step(world), "bu"); /* the phase has run */
    mica_phase_info info;
    ck_assert(mica_phase_get_info(world, MICA_PHASE_START, &info) && info.run_count == 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_start_phase_waits_for_systems_and_for_the_end_of_a_pause)
{
    reports heard;
    mica_world *world = open_notes(&heard);
    ck_assert_str_eq(step(world), "bu");
    add_note(world, "s", (mica_system_def){.phase = MICA_PHASE_START, .while_paused = true});
    mica_pause(world, true);
    ck_assert_str_eq(step(world), "");
    mica_pause(world, false);
    mica_phase_enable(world, MICA_PHASE_START, false);
    ck_assert_str_eq(step(world), "bu");
    mica_phase_enable(world, MICA_PHASE_START, true);
    ck_assert_str_eq(step(world), "sbu");
    ck_assert_str_eq(step(world), "bu");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_frame_that_begins_later_leaves_the_start_for_the_next)
{
    reports heard;
    mica_world *world = open_notes(&heard);
    mica_system start = add_note(world, "s", (mica_system_def){.phase = MICA_PHASE_START});
    ck_assert_int_eq(mica_step_from(world, mica_system_find(world, "u"), 1), MICA_OK);
    ck_assert_str_eq(seen, "u");
    ck_assert_int_eq(mica_system_run(world, start, 1), MICA_OK);
    ck_assert_str_eq(seen, "us");
    ck_assert_str_eq(step(world), "sbu");
    seen[0] = '\0';
    ck_assert_int_eq(mica_step_from(world, start, 1), MICA_OK); /* again, because it was asked for */
    ck_assert_str_eq(seen, "sbu");
    close_world(world, &heard);
}
END_TEST

START_TEST(no_time_passes_for_others_while_one_system_runs)
{
    reports heard;
    mica_world *world = open_notes(&heard);
    mica_system slow = add_note(world, "x", (mica_system_def){.every_seconds = 0.75});
    add_note(world, "y", (mica_system_def){.every_seconds = 0.75});
    ck_assert_str_eq(step(world), "bu");
    ck_assert_int_eq(mica_system_run(world, slow, 0.5f), MICA_OK);
    ck_assert_str_eq(step(world), "bu"); /* y has waited for half a second, and x begins anew */
    ck_assert_str_eq(step(world), "buy");
    ck_assert_str_eq(step(world), "bux");
    close_world(world, &heard);
}
END_TEST

START_TEST(snapshots_and_clones_know_whether_the_start_phase_ran)
{
    reports heard;
    mica_world *world = open_notes(&heard);
    add_note(world, "s", (mica_system_def){.phase = MICA_PHASE_START});
    mica_world *clone = mica_world_clone(world);
    add_note(clone, "c", (mica_system_def){.phase = MICA_PHASE_START});
    ck_assert_str_eq(step(clone), "c");
    mica_world_destroy(clone);

    mica_snapshot before = mica_snapshot_take(world);
    uint64_t hash_before = mica_world_hash(world);
    ck_assert_str_eq(step(world), "sbu");
    mica_snapshot after = mica_snapshot_take(world);
    uint64_t hash_after = mica_world_hash(world);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert(mica_world_hash(world) == hash_before);
    ck_assert_str_eq(step(world), "sbu");
    ck_assert(mica_world_hash(world) == hash_after);
    ck_assert_int_eq(mica_snapshot_restore(world, after), MICA_OK);
    ck_assert_str_eq(step(world), "bu");

    clone = mica_world_clone(world);
    add_note(clone, "c", (mica_system_def){.phase = MICA_PHASE_START});
    ck_assert_str_eq(step(clone), "");
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

static void create_numbers(const mica_frame *frame)
{
    for (uint32_t i = 0; i < 10; ++i)
        mica_create(frame->world, MICA_WITH(Number, {i}));
    strcat(seen, "s");
}

static void count_numbers(const mica_frame *frame)
{
    strcat(seen, mica_query_count(frame->query) == 10 ? "u" : "?");
}

static void count_report(const mica_report *report, void *context)
{
    (void)report;
    ++*(uint32_t *)context;
}

/* A world in which one allocation fails. */
static mica_world *open_faulty(faulty_allocator *faulty, uint32_t *reported)
{
    faulty_allocator_init(faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(faulty);
    def.report = count_report;
    def.report_context = reported;
    mica_world *world = mica_world_create(&def);
    ck_assert(world);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1;
    ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
    seen[0] = '\0';
    return world;
}

START_TEST(a_start_that_finds_no_memory_is_tried_again_before_anything_else_runs)
{
    bool done = false;
    uint32_t retried = 0;
    for (uint64_t k = 1; !done; ++k) {
        faulty_allocator faulty;
        uint32_t reported = 0;
        mica_world *world = open_faulty(&faulty, &reported);
        mica_system_add(world, MICA_SYSTEM_ONCE_WITH(create_numbers, (.phase = MICA_PHASE_START)));
        mica_system_add(world, MICA_SYSTEM_ONCE_WITH(count_numbers, (MICA_TERMS(MICA_READ(Number)))));
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_step(world, 0);
        done = faulty.failures == 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        if (result != MICA_OK && strcmp(seen, "") == 0) {
            ++retried;
            ck_assert_int_eq(mica_step(world, 0), MICA_OK);
        }
        ck_assert_msg(strncmp(seen, "s", 1) == 0 && !strchr(seen + 1, 's'), "allocation %u: %s", (unsigned)k, seen);
        mica_world_destroy(world);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(retried, 0);
}
END_TEST

START_TEST(a_clone_of_a_started_world_fails_cleanly_at_every_allocation)
{
    faulty_allocator faulty;
    uint32_t reported = 0;
    mica_world *world = open_faulty(&faulty, &reported);
    add_note(world, "s", (mica_system_def){.phase = MICA_PHASE_START});
    ck_assert_int_eq(mica_step(world, 0), MICA_OK);
    bool done = false;
    for (uint64_t k = 1; !done; ++k) {
        size_t live_blocks = faulty.live_blocks;
        faulty.failures = 0;
        faulty_allocator_fail_at(&faulty, k, false);
        mica_world *clone = mica_world_clone(world);
        done = faulty.failures == 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert(clone ||
                  !done); /* without memory for one array of records, look-ups are slower, and all else is the same */
        ck_assert(!clone || mica_world_validate(clone) == MICA_OK);
        mica_world_destroy(clone);
        ck_assert_uint_eq(faulty.live_blocks, live_blocks);
    }
    ck_assert_uint_gt(reported, 0);
    mica_world_destroy(world);
    faulty_allocator_free(&faulty);
}
END_TEST

/* Each entity with a Number creates one with a Mass. */
static void breed(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        mica_create(view->world, MICA_WITH(Mass, {(float)number[i].value}));
}

static uint32_t weighed;

static void weigh(const mica_frame *frame)
{
    weighed = mica_query_count(frame->query);
}

/* Returns how many masses weigh sees in the frame in which 100 are recorded. */
static uint32_t weigh_with(mica_system_def more, uint32_t workers, bool add_exclusive)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    mica_flow_configure(world, &flow);
    for (uint32_t i = 0; i < 100; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_term masses[] = {{.component = MICA_ID(Mass), .access = MICA_ACCESS_READ}};
    more.name = "weigh";
    more.once = weigh;
    more.terms = masses;
    more.term_count = 1;
    mica_system weighing = mica_system_add(world, &more);
    if (add_exclusive)
        add_note(world, "X", (mica_system_def){.exclusive = true});
    mica_system_add(world, MICA_SYSTEM_WITH(breed, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Number)));
    mica_system_info info;
    ck_assert(mica_system_get_info(world, weighing, &info) && info.flush_first == more.flush_first);
    weighed = UINT32_MAX;
    ck_assert_int_eq(mica_step(world, 0), MICA_OK);
    close_world(world, &heard);
    return weighed;
}

START_TEST(a_flush_first_shows_what_earlier_systems_of_the_phase_recorded)
{
    for (uint32_t workers = 1; workers < 4; ++workers) {
        ck_assert_uint_eq(weigh_with((mica_system_def){.after = {"breed"}}, workers, false), 0);
        ck_assert_uint_eq(weigh_with((mica_system_def){.after = {"breed"}, .flush_first = true}, workers, false), 100);
        ck_assert_uint_eq(weigh_with((mica_system_def){.after = {"breed"}, .flush_first = true}, workers, true), 100);
        ck_assert_uint_eq(weigh_with((mica_system_def){.flush_first = true}, workers, true), 0); /* it is the first */
        ck_assert_uint_eq(
            weigh_with((mica_system_def){.after = {"breed"}, .flush_first = true, .exclusive = true}, workers, false),
            100);
    }
}
END_TEST

static void double_numbers(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        number[i].value *= 2;
}

static void add_numbers(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        number[i].value += 3;
}

START_TEST(systems_on_both_sides_of_a_flush_do_not_wait_for_each_other_again)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {5}));
    mica_system_add(world, MICA_SYSTEM(double_numbers, MICA_WRITE(Number)));
    mica_system adding =
        mica_system_add(world, MICA_SYSTEM_WITH(add_numbers, (.flush_first = true), MICA_WRITE(Number)));
    mica_system_dependency dependency;
    ck_assert_uint_eq(mica_system_get_dependencies(world, adding, &dependency, 1), 0);
    char text[200];
    mica_graph_write(world, MICA_GRAPH_TEXT, text, sizeof text);
    ck_assert_str_eq(text, "update\n  double_numbers\n  add_numbers (after a flush)\n");
    mica_step(world, 0);
    ck_assert_uint_eq(mica_get(world, entity, Number)->value, 13);
    mica_system_replace(world, adding, MICA_SYSTEM(add_numbers, MICA_WRITE(Number))); /* one segment again */
    mica_graph_write(world, MICA_GRAPH_TEXT, text, sizeof text);
    ck_assert(!strstr(text, "flush") && strstr(text, "waits for double_numbers (Number)"));
    close_world(world, &heard);
}
END_TEST

START_TEST(a_phase_macro_takes_further_fields)
{
    reports heard;
    mica_world *world = open_notes(&heard);
    mica_phase physics = mica_phase_add(world, MICA_PHASE_AFTER("physics", MICA_PHASE_BEGIN, .fixed_seconds = 0.125));
    mica_phase early = mica_phase_add(world, MICA_PHASE_BEFORE("early", physics, .fixed_seconds = 0.0625));
    add_note(world, "p", (mica_system_def){.phase = physics});
    add_note(world, "e", (mica_system_def){.phase = early});
    ck_assert_str_eq(step(world), "beeeeppu");
    close_world(world, &heard);
}
END_TEST

/* A clock that moves only when a frame takes time, or the loop waits. */
typedef struct fake_clock {
    double now;
    double waited;
    uint32_t wait_count;
    double frame_costs[8]; /* of the frames, in turn */
    float dts[64];
    uint32_t frame_count;
    uint32_t stop_after; /* this many frames; 0: never */
} fake_clock;

static double fake_now(void *context)
{
    return ((fake_clock *)context)->now;
}

static void fake_wait(double seconds, void *context)
{
    fake_clock *clock = context;
    ck_assert(seconds > 0);
    clock->now += seconds;
    clock->waited += seconds;
    ++clock->wait_count;
}

static void take_time(const mica_frame *frame)
{
    fake_clock *clock = frame->context;
    clock->dts[clock->frame_count % 64] = frame->dt;
    clock->now += clock->frame_costs[clock->frame_count % 8];
    if (++clock->frame_count == clock->stop_after)
        mica_stop(frame->world);
}

static mica_result run_with(mica_world *world, fake_clock *clock, mica_run_def def)
{
    mica_clock interface = {.now = fake_now, .wait = fake_wait, .context = clock};
    def.clock = &interface;
    return mica_run(world, &def);
}

static mica_world *open_clock(reports *heard, fake_clock *clock)
{
    *clock = (fake_clock){.now = 1000};
    mica_world *world = open_world(heard);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(take_time, (.phase = MICA_PHASE_END, .context = clock)));
    return world;
}

START_TEST(a_run_waits_for_the_rest_of_each_frame)
{
    reports heard;
    fake_clock clock;
    mica_world *world = open_clock(&heard, &clock);
    for (uint32_t i = 0; i < 8; ++i)
        clock.frame_costs[i] = i % 2 ? 0.03125 : 0.0625;
    ck_assert_int_eq(
        run_with(world, &clock, (mica_run_def){.frames_per_second = 8, .frame_seconds_max = 1, .frame_count = 5}),
        MICA_OK);
    ck_assert_uint_eq(clock.frame_count, 5);
    ck_assert(clock.dts[0] == 0);
    for (uint32_t i = 1; i < 5; ++i)
        ck_assert(clock.dts[i] == 0.125f);
    ck_assert_uint_eq(clock.wait_count, 4); /* not after the last frame */
    ck_assert(clock.now == 1000 + 4 * 0.125 + 0.0625);
    ck_assert(mica_time_get(world).seconds == 0.5);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_run_without_a_rate_never_waits)
{
    reports heard;
    fake_clock clock;
    mica_world *world = open_clock(&heard, &clock);
    clock.frame_costs[0] = clock.frame_costs[1] = 0.5;
    clock.frame_costs[2] = -0.25; /* a clock that goes back */
    ck_assert_int_eq(run_with(world, &clock, (mica_run_def){.frame_seconds_max = 1, .frame_count = 4}), MICA_OK);
    ck_assert(clock.dts[1] == 0.5f && clock.dts[2] == 0.5f && clock.dts[3] == 0);
    ck_assert_uint_eq(clock.wait_count, 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_frame_that_takes_long_is_cut_and_not_made_up_for)
{
    reports heard;
    fake_clock clock;
    mica_world *world = open_clock(&heard, &clock);
    clock.frame_costs[1] = 100;    /* a stop in the debugger */
    clock.frame_costs[4] = 0.1875; /* late by half a frame */
    ck_assert_int_eq(run_with(world, &clock,
                              (mica_run_def){.frames_per_second = 8, .frame_count = 7}), /* frame_seconds_max is 0.25 */
                     MICA_OK);
    static const float expected[] = {0, 0.125f, 0.25f, 0.125f, 0.125f, 0.1875f, 0.0625f};
    for (uint32_t i = 0; i < COUNT_OF(expected); ++i)
        ck_assert_msg(clock.dts[i] == expected[i], "frame %u: %f", i, (double)clock.dts[i]);
    close_world(world, &heard);
}
END_TEST

START_TEST(fixed_steps_take_longer_than_they_simulate_and_frames_stay_bounded)
{
    reports heard;
    fake_clock clock;
    mica_world *world = open_clock(&heard, &clock);
    for (uint32_t i = 0; i < 8; ++i)
        clock.frame_costs[i] = 10;
    mica_run_def def = mica_run_def_default();
    def.frame_count = 20;
    ck_assert_int_eq(run_with(world, &clock, def), MICA_OK);
    ck_assert_uint_le(mica_time_get(world).step, 19 * mica_flow_def_default().catch_up_max);
    ck_assert(mica_time_get(world).seconds <= 19 * def.frame_seconds_max + 1e-6);
    close_world(world, &heard);
}
END_TEST

static void stop(mica_view *view)
{
    mica_stop(view->world);
}

START_TEST(a_system_stops_a_run_after_its_frame)
{
    reports heard;
    fake_clock clock;
    mica_world *world = open_clock(&heard, &clock);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 4;
    mica_flow_configure(world, &flow);
    mica_stop(world); /* nothing runs: no effect */
    clock.stop_after = 3;
    ck_assert_int_eq(run_with(world, &clock, mica_run_def_default()), MICA_OK);
    ck_assert_uint_eq(clock.frame_count, 3);
    for (uint32_t i = 0; i < 20000; ++i)
        mica_create(world, MICA_WITH(Number, {i}));
    mica_system_add(world, MICA_SYSTEM_WITH(stop, (.parallel = MICA_PARALLEL_EVEN), MICA_WRITE(Number)));
    ck_assert_int_eq(run_with(world, &clock, mica_run_def_default()), MICA_OK);
    ck_assert_uint_eq(clock.frame_count, 4); /* systems after it ran */
    close_world(world, &heard);
}
END_TEST

static void run_again(const mica_frame *frame)
{
    mica_run_def def = mica_run_def_default();
    mica_stop(frame->world);
    ck_assert_int_eq(mica_run(frame->world, &def), MICA_ERROR_REFUSED);
}

START_TEST(a_run_inside_a_frame_is_refused)
{
    reports heard;
    fake_clock clock;
    mica_world *world = open_clock(&heard, &clock);
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(run_again, (.exclusive = true)));
    ck_assert_int_eq(run_with(world, &clock, mica_run_def_default()), MICA_OK); /* the request to stop still counts */
    expect_report(&heard, MICA_ERROR_REFUSED, "inside a frame");
    ck_assert_uint_eq(clock.frame_count, 1);
    mica_defer(world);
    mica_run_def def = mica_run_def_default();
    ck_assert_int_eq(mica_run(world, &def), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "recorded");
    mica_flush(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_invalid_run_def_is_refused)
{
    reports heard;
    fake_clock clock;
    mica_world *world = open_clock(&heard, &clock);
    static const mica_clock no_wait = {.now = fake_now}, no_now = {.wait = fake_wait};
    const mica_run_def bad[] = {{.frames_per_second = -1, .frame_seconds_max = 1},
                                {.frames_per_second = 1e-9, .frame_seconds_max = 1},
                                {.frames_per_second = 1e9, .frame_seconds_max = 1},
                                {.frames_per_second = 60, .frame_seconds_max = -1},
                                {.frame_seconds_max = 1e10},
                                {.frame_seconds_max = 1, .clock = &no_wait},
                                {.frame_seconds_max = 1, .clock = &no_now}};
    for (uint32_t i = 0; i < COUNT_OF(bad); ++i) {
        ck_assert_int_eq(mica_run(world, &bad[i]), MICA_ERROR_INVALID);
        expect_report(&heard, MICA_ERROR_INVALID, i < 3 ? "frames_per" : i < 5 ? "seconds_max" : "clock");
    }
    ck_assert_int_eq(mica_run(world, NULL), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "def");
    ck_assert_uint_eq(clock.frame_count, 0);
    close_world(world, &heard);
}
END_TEST

/* Only that it ends, and that time does not go back. */
START_TEST(the_clock_of_the_computer_is_used_unless_another_is_given)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_run_def def = mica_run_def_default();
    def.frame_count = 3;
    def.frames_per_second = 1000;
    ck_assert_int_eq(mica_run(world, &def), MICA_OK);
    ck_assert(mica_time_get(world).frame == 3 && mica_time_get(world).seconds > 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_run_ends_with_the_error_of_a_frame)
{
    faulty_allocator faulty;
    uint32_t reported = 0;
    faulty_allocator_init(&faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    def.report = count_report;
    def.report_context = &reported;
    mica_world *world = mica_world_create(&def);
    fake_clock clock = {.stop_after = 2};
    faulty_allocator_fail_at(&faulty, 1, false);
    ck_assert_int_eq(run_with(world, &clock, mica_run_def_default()), MICA_ERROR_MEMORY); /* the flow */
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(take_time, (.context = &clock)));
    faulty_allocator_fail_at(&faulty, 1, false);
    ck_assert_int_eq(run_with(world, &clock, mica_run_def_default()), MICA_ERROR_MEMORY); /* the frame */
    ck_assert_uint_eq(clock.frame_count, 0);
    ck_assert_int_eq(run_with(world, &clock, mica_run_def_default()), MICA_OK);
    ck_assert_uint_eq(clock.frame_count, 2);
    ck_assert_uint_eq(reported, 2);
    mica_world_destroy(world);
    faulty_allocator_free(&faulty);
}
END_TEST

static void note_stepping(const mica_frame *frame)
{
    *(uint32_t *)frame->context += mica_is_stepping(frame->world);
}

static void note_stepping_alone(const mica_frame *frame)
{
    note_stepping(frame);
}

START_TEST(a_frame_is_under_way_in_all_systems_and_only_there)
{
    reports heard;
    uint32_t count = 0;
    mica_world *world = open_world(&heard);
    ck_assert(!mica_is_stepping(world));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(note_stepping, (.context = &count)));
    mica_system alone =
        mica_system_add(world, MICA_SYSTEM_ONCE_WITH(note_stepping_alone, (.exclusive = true, .context = &count)));
    ck_assert_int_eq(mica_step(world, 0.25f), MICA_OK);
    ck_assert_int_eq(mica_system_run(world, alone, 0.25f), MICA_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert(!mica_is_stepping(world));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(frame_loop, the_start_phase_runs_once_before_all_others,
           the_start_phase_waits_for_systems_and_for_the_end_of_a_pause,
           a_frame_that_begins_later_leaves_the_start_for_the_next, no_time_passes_for_others_while_one_system_runs,
           snapshots_and_clones_know_whether_the_start_phase_ran,
           a_start_that_finds_no_memory_is_tried_again_before_anything_else_runs,
           a_clone_of_a_started_world_fails_cleanly_at_every_allocation,
           a_flush_first_shows_what_earlier_systems_of_the_phase_recorded,
           systems_on_both_sides_of_a_flush_do_not_wait_for_each_other_again, a_phase_macro_takes_further_fields,
           a_run_waits_for_the_rest_of_each_frame, a_run_without_a_rate_never_waits,
           a_frame_that_takes_long_is_cut_and_not_made_up_for,
           fixed_steps_take_longer_than_they_simulate_and_frames_stay_bounded, a_system_stops_a_run_after_its_frame,
           a_run_inside_a_frame_is_refused, an_invalid_run_def_is_refused,
           the_clock_of_the_computer_is_used_unless_another_is_given, a_run_ends_with_the_error_of_a_frame,
           a_frame_is_under_way_in_all_systems_and_only_there)
