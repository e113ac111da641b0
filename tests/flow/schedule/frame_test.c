/* Frames: phases, fixed steps, rates, conditions, pause and time. */
#include "mica/flow.h"
#include "flow/schedule/listener.h"
#include "flow/schedule/system.h"
#include "mica/snapshot.h"
#include "support/components.h"
#include "support/faulty_allocator.h"
#include "support/reports.h"
#include "support/test.h"

static char seen[256];
static float last_dt;
static double last_seconds;
static float last_alpha;

static void note(const mica_frame *frame)
{
    strcat(seen, frame->context);
    last_dt = frame->dt;
    last_seconds = frame->seconds;
    last_alpha = frame->alpha;
}

static mica_world *open_flow(reports *heard)
{
    seen[0] = '\0';
    mica_world *world = open_world(heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = 1;
    def.fixed_seconds = 0.25;
    def.catch_up_max = 3;
    mica_flow_configure(world, &def);
    return world;
}

START_TEST(zeros_in_the_def_of_a_world_with_systems_are_the_defaults)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    ck_assert_int_eq(mica_flow_configure(world, &(mica_flow_def){.worker_count = 2}), MICA_OK);
    ck_assert_uint_eq(mica_worker_count(world), 2);
    mica_flow_def standard = mica_flow_def_default();
    mica_step(world, (float)(2.5 * standard.fixed_seconds));
    ck_assert_uint_eq(mica_time_get(world).step, 2);
    mica_step(world, (float)(100 * standard.fixed_seconds));
    ck_assert_uint_eq(mica_time_get(world).step, 2 + standard.catch_up_max);
    close_world(world, &heard);
}
END_TEST

/* A system that notes a letter. */
static mica_system add_note(mica_world *world, char *letter, mica_system_def more)
{
    more.name = letter;
    more.once = note;
    more.context = letter;
    return mica_system_add(world, &more);
}

START_TEST(phases_run_in_order_and_can_be_added_and_switched)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_phase late = mica_phase_add(world, MICA_PHASE_AFTER("late", MICA_PHASE_END));
    mica_phase early = mica_phase_add(world, MICA_PHASE_BEFORE("early", MICA_PHASE_UPDATE));
    ck_assert_uint_eq(mica_phase_find(world, "late"), late);
    add_note(world, "E", (mica_system_def){.phase = MICA_PHASE_END});
    add_note(world, "L", (mica_system_def){.phase = late});
    add_note(world, "B", (mica_system_def){.phase = MICA_PHASE_BEGIN});
    add_note(world, "e", (mica_system_def){.phase = early});
    add_note(world, "U", (mica_system_def){0});
    mica_step(world, 0.1f);
    ck_assert_str_eq(seen, "BeUEL");
    mica_phase_enable(world, early, false);
    mica_step(world, 0.1f);
    ck_assert_str_eq(seen, "BeUELBUEL");
    ck_assert(mica_phase_remove(world, late));
    ck_assert(!mica_phase_remove(world, late));
    ck_assert(!mica_phase_remove(world, MICA_PHASE_END));
    ck_assert_uint_eq(mica_system_find(world, "L").id, 0);
    seen[0] = '\0';
    mica_step(world, 0.1f);
    ck_assert_str_eq(seen, "BUE");
    ck_assert(mica_phase_add(world, MICA_PHASE_AFTER("end", MICA_PHASE_END)) == MICA_PHASE_NONE);
    expect_report(&heard, MICA_ERROR_EXISTS, "end");
    ck_assert(mica_phase_add(world, MICA_PHASE_AFTER("x", 99)) == MICA_PHASE_NONE);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "beside");
    close_world(world, &heard);
}
END_TEST

static void make_one(const mica_frame *frame)
{
    mica_create(frame->world, MICA_WITH(Number, {1}));
}

static void count_them(const mica_frame *frame)
{
    *(uint64_t *)frame->context = mica_query_count(frame->query);
}

START_TEST(each_phase_sees_what_the_one_before_made)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    uint64_t same = 9, next = 9, after = 9;
    const mica_term terms[] = {MICA_READ(Number)};
    mica_system_def counting = {.name = "same", .once = count_them, .terms = terms, .term_count = 1};
    mica_system_add(world, MICA_SYSTEM_ONCE(make_one));
    counting.context = &same;
    mica_system_add(world, &counting);
    counting.name = "after";
    counting.context = &after;
    counting.exclusive = true;
    mica_system_add(world, &counting);
    counting.name = "next";
    counting.context = &next;
    counting.exclusive = false;
    counting.phase = MICA_PHASE_END;
    mica_system_add(world, &counting);
    mica_step(world, 1);
    ck_assert_uint_eq(same, 0);
    ck_assert_msg(after == 1, "an exclusive system sees the changes of the systems before it");
    ck_assert_uint_eq(next, 1);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_fixed_phase_runs_as_often_as_its_step_fits)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    add_note(world, "f", (mica_system_def){.phase = MICA_PHASE_FIXED});
    static const struct {
        float dt;
        const char *steps;
        float alpha;
    } frames[] = {
        {0.125f, "", 0.5f}, {0.125f, "f", 0},   {0.5f, "ff", 0}, {0.375f, "f", 0.5f},
        {0.25f, "f", 0.5f}, {2.125f, "fff", 0}, {0, "", 0},      {0.3125f, "f", 0.25f},
    };
    uint64_t steps = 0;
    for (uint32_t i = 0; i < COUNT_OF(frames); ++i) {
        seen[0] = '\0';
        mica_step(world, frames[i].dt);
        ck_assert_msg(strcmp(seen, frames[i].steps) == 0, "frame %u: %s", i, seen);
        ck_assert_msg(mica_time_get(world).alpha == frames[i].alpha, "frame %u: %f", i,
                      (double)mica_time_get(world).alpha);
        steps += strlen(frames[i].steps);
        if (seen[0])
            ck_assert(last_dt == 0.25f && last_seconds == (double)(steps - 1) * 0.25);
    }
    ck_assert_uint_eq(mica_time_get(world).step, steps);
    close_world(world, &heard);
}
END_TEST

START_TEST(fixed_phases_with_equal_steps_take_turns)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_phase_def def = *MICA_PHASE_AFTER("solve", MICA_PHASE_FIXED);
    def.fixed_seconds = 0.25;
    mica_phase solve = mica_phase_add(world, &def);
    def = *MICA_PHASE_AFTER("slow", solve);
    def.fixed_seconds = 0.5;
    mica_phase slow = mica_phase_add(world, &def);
    add_note(world, "f", (mica_system_def){.phase = MICA_PHASE_FIXED});
    add_note(world, "s", (mica_system_def){.phase = solve});
    add_note(world, "S", (mica_system_def){.phase = slow});
    mica_step(world, 0.5f);
    ck_assert_str_eq(seen, "fsfsS");
    mica_phase_enable(world, solve, false);
    mica_step(world, 0.5f);
    ck_assert_str_eq(seen, "fsfsSffS");
    close_world(world, &heard);
}
END_TEST

START_TEST(the_last_phase_may_have_a_fixed_step_and_a_little_early_is_in_time)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_phase_def def = *MICA_PHASE_AFTER("last", mica_phase_find(world, "(messages)"));
    def.fixed_seconds = 0.5;
    add_note(world, "L", (mica_system_def){.phase = mica_phase_add(world, &def)});
    add_note(world, "g", (mica_system_def){.phase = MICA_PHASE_FIXED, .every_frames = 2});
    mica_step(world, 0.49999998f);
    ck_assert_str_eq(seen, "gL");
    ck_assert(last_dt == 0.5f);
    ck_assert_msg(mica_time_get(world).alpha == 0, "nothing is left, rather than less");
    mica_step(world, 0.25f);
    ck_assert_str_eq(seen, "gLg");
    ck_assert_msg(last_dt == 0.25f, "a rate changes nothing about the step of a fixed phase");
    close_world(world, &heard);
}
END_TEST

static bool is_open(const mica_frame *frame)
{
    return *(bool *)frame->context;
}

static uint32_t gated_calls;

static void gated(const mica_frame *frame)
{
    (void)frame;
    ++gated_calls;
}

START_TEST(rates_and_conditions_decide_when_a_system_runs)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    bool open = false;
    gated_calls = 0;
    add_note(world, "3", (mica_system_def){.every_frames = 3});
    add_note(world, "s", (mica_system_def){.every_seconds = 0.3});
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(gated, (.condition = is_open, .context = &open)));
    static const char *const expected[] = {"3", "", "s", "3", "", "s", "3"};
    for (uint32_t i = 0; i < COUNT_OF(expected); ++i) {
        seen[0] = '\0';
        open = i >= 5;
        mica_step(world, 0.1f + 1e-6f);
        ck_assert_msg(strcmp(seen, expected[i]) == 0, "frame %u: %s", i, seen);
        if (strcmp(expected[i], "s") == 0)
            ck_assert_msg(last_dt > 0.299f && last_dt < 0.301f, "it gets the time since it ran last: %f",
                          (double)last_dt);
    }
    ck_assert_uint_eq(gated_calls, 2);
    close_world(world, &heard);
}
END_TEST

static void visit(mica_view *view)
{
    note(view->frame);
}

/* A system without a rate does not wait, whether it had rows or not, and whether its frame began in the middle or not. */
START_TEST(a_system_that_gets_a_rate_waits_from_then_on)
{
    uint64_t hashes[2];
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        reports heard;
        mica_world *world = open_flow(&heard);
        mica_flow_def flow = mica_flow_def_default();
        flow.worker_count = workers;
        mica_flow_configure(world, &flow);
        const mica_term term = {.component = MICA_ID(Number), .access = MICA_ACCESS_READ};
        mica_system_def def = {.name = "v", .view = visit, .terms = &term, .term_count = 1, .context = "v"};
        mica_system system = mica_system_add(world, &def);
        for (uint32_t i = 0; i < 3; ++i)
            ck_assert_int_eq(mica_step_from(world, system, 1), MICA_OK);
        mica_system_enable(world, system, false);
        mica_step(world, 1);
        mica_system_enable(world, system, true);
        mica_step(world, 1);
        def.every_seconds = 2.5;
        ck_assert_int_eq(mica_system_replace(world, system, &def), MICA_OK);
        mica_create(world, MICA_WITH(Number, {1}));
        mica_step(world, 1);
        mica_step(world, 1);
        ck_assert_str_eq(seen, "");
        hashes[workers / 2] = mica_world_hash(world);
        mica_step(world, 1);
        ck_assert_str_eq(seen, "v");
        ck_assert_float_eq(last_dt, 3);
        close_world(world, &heard);
    }
    ck_assert_uint_eq(hashes[0], hashes[1]);
}
END_TEST

/* The time that it has waited is part of the hash, also when it has no rate any more. */
START_TEST(a_snapshot_takes_the_wait_of_a_system_back)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system_def def = {.name = "s", .once = note, .every_seconds = 2.5, .context = "s"};
    mica_system system = mica_system_add(world, &def);
    mica_step(world, 1);
    uint64_t hash = mica_world_hash(world);
    mica_snapshot snapshot = mica_snapshot_take(world);
    def.every_seconds = 0;
    ck_assert_int_eq(mica_system_replace(world, system, &def), MICA_OK);
    mica_step(world, 1);
    ck_assert_str_eq(seen, "s");
    ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    close_world(world, &heard);
}
END_TEST

START_TEST(one_system_runs_alone_and_a_frame_can_begin_in_the_middle)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    add_note(world, "B", (mica_system_def){.phase = MICA_PHASE_BEGIN});
    add_note(world, "f", (mica_system_def){.phase = MICA_PHASE_FIXED});
    add_note(world, "1", (mica_system_def){0});
    mica_system second = add_note(world, "2", (mica_system_def){.disabled = true, .every_frames = 100});
    mica_system third = add_note(world, "3", (mica_system_def){0});
    add_note(world, "E", (mica_system_def){.phase = MICA_PHASE_END});
    ck_assert_int_eq(mica_system_run(world, second, 0.5f), MICA_OK);
    ck_assert_str_eq(seen, "2");
    ck_assert(last_dt == 0.5f);
    seen[0] = '\0';
    ck_assert_int_eq(mica_step_from(world, third, 0.25f), MICA_OK);
    ck_assert_str_eq(seen, "3E");
    seen[0] = '\0';
    ck_assert_int_eq(mica_step(world, 0.25f), MICA_OK);
    ck_assert_str_eq(seen, "Bf13E");
    mica_system fixed = mica_system_find(world, "f");
    seen[0] = '\0';
    ck_assert_int_eq(mica_system_run(world, fixed, 0.125f), MICA_OK);
    ck_assert(last_dt == 0.125f && last_seconds == 0.25); /* of the steps so far */
    ck_assert_int_eq(mica_step_from(world, fixed, 0.125f), MICA_OK);
    ck_assert_str_eq(seen, "ff13E");
    mica_system alone = add_note(world, "X", (mica_system_def){.exclusive = true});
    add_note(world, "4", (mica_system_def){0});
    seen[0] = '\0';
    ck_assert_int_eq(mica_system_run(world, third, 0.5f), MICA_OK);
    ck_assert_int_eq(mica_system_run(world, alone, 0.5f), MICA_OK);
    ck_assert_int_eq(mica_system_run(world, mica_system_find(world, "4"), 0.5f), MICA_OK);
    ck_assert_int_eq(mica_step_from(world, mica_system_find(world, "4"), 0.5f), MICA_OK);
    ck_assert_str_eq(seen, "3X44E");
    ck_assert_int_eq(mica_system_run(world, (mica_system){77}, 1), MICA_ERROR_UNKNOWN);
    ck_assert_int_eq(mica_step_from(world, (mica_system){0}, 1), MICA_ERROR_UNKNOWN);
    ck_assert_uint_eq(forget_reports(&heard), 2);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_pause_holds_time_and_lets_single_frames_through)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    add_note(world, "a", (mica_system_def){0});
    add_note(world, "p", (mica_system_def){.while_paused = true});
    mica_step(world, 1);
    mica_pause(world, true);
    mica_step(world, 0.5f);
    ck_assert(mica_time_get(world).seconds == 1);
    ck_assert_msg(last_dt == 0.5f, "real time passes for those that run in a pause");
    mica_pause_step(world);
    mica_step(world, 2);
    mica_step(world, 1);
    ck_assert_str_eq(seen, "appapp");
    ck_assert(mica_time_get(world).seconds == 3);
    mica_pause(world, false);
    ck_assert_int_eq(mica_time_set_scale(world, 0.5), MICA_OK);
    mica_step(world, 1);
    ck_assert(last_dt == 0.5f && mica_time_get(world).seconds == 3.5);
    ck_assert_int_eq(mica_time_set_scale(world, -1), MICA_ERROR_INVALID);
    ck_assert_int_eq(mica_step(world, -1), MICA_ERROR_INVALID);
    ck_assert_uint_eq(forget_reports(&heard), 2);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_pause_holds_the_time_of_fixed_steps)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_phase physics = mica_phase_add(world, MICA_PHASE_AFTER("physics", MICA_PHASE_BEGIN, .fixed_seconds = 0.25));
    add_note(world, "p", (mica_system_def){.phase = physics});
    mica_step(world, 0.5f);
    ck_assert(last_seconds == 0.25); /* when the second step began */
    mica_pause(world, true);
    mica_step(world, 1);
    mica_step(world, 1);
    mica_pause(world, false);
    mica_step(world, 0.25f);
    ck_assert(last_seconds == 0.5);
    ck_assert_str_eq(seen, "ppp");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_phase_with_the_same_step_before_the_fixed_phase_leaves_alpha_right)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_flow_def flow = mica_flow_def_default();
    flow.fixed_seconds = 0.5;
    ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
    mica_phase_add(world, MICA_PHASE_BEFORE("early", MICA_PHASE_FIXED, .fixed_seconds = 0.5));
    mica_step(world, 0.625f);
    ck_assert(mica_time_get(world).alpha == 0.25f);
    mica_step(world, 0.25f);
    ck_assert(mica_time_get(world).alpha == 0.75f);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_snapshot_takes_time_and_pause_back)
{
    reports heard;
    mica_world *world = open_world(&heard);
    seen[0] = '\0';
    mica_snapshot bare = mica_snapshot_take(world); /* before anything runs */
    mica_system noting = add_note(world, "a", (mica_system_def){.every_frames = 2});
    mica_pause(world, true);
    mica_pause_step(world);
    mica_snapshot paused = mica_snapshot_take(world);
    mica_pause(world, false);
    mica_time_set_scale(world, 3);
    mica_step(world, 1);
    mica_step(world, 1);
    mica_system_enable(world, noting, false);
    ck_assert_int_eq(mica_snapshot_restore(world, paused), MICA_OK);
    mica_step(world, 1); /* is let through */
    mica_step(world, 1);
    ck_assert_str_eq(seen, "aa");
    ck_assert(mica_time_get(world).seconds == 1);
    ck_assert_int_eq(mica_snapshot_restore(world, bare), MICA_OK);
    ck_assert(mica_time_get(world).frame == 0 && mica_time_get(world).seconds == 0);
    mica_step(world, 1); /* systems stay, and neither pause nor scale */
    ck_assert_str_eq(seen, "aaa");
    ck_assert(mica_time_get(world).seconds == 1);
    close_world(world, &heard);
}
END_TEST

static void note_system(mica_world *world, void *state, const struct micap_system *system)
{
    (void)world;
    strcat(state, system->def.name);
}

static void forget_note(mica_world *world, void *state)
{
    (void)world;
    strcat(state, ".");
}

static void touch(mica_view *view)
{
    mica_view_write(view, Number)->value += 1;
}

START_TEST(a_listener_is_called_after_each_system_that_runs)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    static char ran[64];
    ran[0] = '\0';
    static const micap_listener_ops ops = {.system_ended = note_system, .free = forget_note};
    ck_assert(micap_listener_set(world, MICAP_LISTENER_RECORD, &ops, ran));
    mica_create(world, MICA_WITH(Number, {0}));
    static const char *const names[] = {"a", "b", "c"};
    for (uint32_t i = 0; i < 3; ++i) { /* one chain, and every second time one of it is left out */
        mica_system_def def = *MICA_SYSTEM(touch, MICA_WRITE(Number));
        def.name = names[i];
        def.every_frames = i == 1 ? 2 : 0;
        mica_system_add(world, &def);
    }
    add_note(world, "X", (mica_system_def){.exclusive = true});
    add_note(world, "Y", (mica_system_def){.exclusive = true, .disabled = true});
    mica_step(world, 0.1f);
    mica_step(world, 0.1f);
    ck_assert_str_eq(ran, "abcXacX");
    close_world(world, &heard);
    ck_assert_str_eq(ran, "abcXacX.");
}
END_TEST

static void make_strange(const mica_frame *frame)
{
    mica_create(frame->world, MICA_WITH(Mass, {1}), MICA_WITH(Frozen));
}

START_TEST(a_flush_that_a_seal_refuses_is_tried_again_before_more_systems_run)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_system maker = mica_system_add(world, MICA_SYSTEM_ONCE(make_strange));
    mica_world_seal(world, true);
    ck_assert_int_eq(mica_step(world, 1), MICA_ERROR_REFUSED);
    ck_assert_int_eq(mica_step(world, 1), MICA_ERROR_REFUSED);
    ck_assert_uint_ge(forget_reports(&heard), 2);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    mica_world_seal(world, false);
    mica_system_enable(world, maker, false);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    ck_assert_msg(mica_world_get_stats(world).entity_count == 1, "what was recorded once is made once");
    close_world(world, &heard);
}
END_TEST

/* Its values call back while a flush takes them down. */
static mica_world *stepped;
static void step_again(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
    if (stepped)
        ck_assert_int_eq(mica_step(stepped, 1), MICA_ERROR_REFUSED);
}
typedef struct Restless { int number; } Restless;
MICA_COMPONENT_WITH(Restless, (.destruct = step_again), number)

START_TEST(a_step_is_refused_inside_a_flush)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_entity one = mica_create(world, MICA_WITH(Restless, {1}));
    mica_defer(world);
    mica_destroy(world, one);
    stepped = world;
    mica_flush(world);
    stepped = NULL;
    expect_report(&heard, MICA_ERROR_REFUSED, "step: refused");
    ck_assert(mica_time_get(world).frame == 0 && !mica_is_alive(world, one));
    close_world(world, &heard);
}
END_TEST

START_TEST(a_step_is_refused_while_changes_are_recorded)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_defer(world);
    ck_assert_int_eq(mica_step(world, 1), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "step");
    mica_flush(world);
    ck_assert_int_eq(mica_step(world, 1), MICA_OK);
    close_world(world, &heard);
}
END_TEST

static void double_numbers(mica_view *view)
{
    Number *numbers = mica_view_write_at(view, 0);
    for (uint32_t i = 0; i < view->count; ++i)
        numbers[i].value *= 2;
}

/* More terms than are kept ready, and some that have no column. */
static void change_five(mica_view *view)
{
    Number *number = mica_view_write_at(view, 0);
    const Position *maybe = mica_view_read_at(view, 2);
    Velocity *velocity = mica_view_write_at(view, 4);
    const Mass *mass = mica_view_read_at(view, 5);
    ck_assert(!maybe && view->count == 1);
    number->value += (uint32_t)mass->value;
    velocity->x += mass->value;
}

START_TEST(a_small_system_of_many_terms_gets_each_of_them)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {2}), MICA_WITH(Frozen), MICA_WITH(Velocity, {1, 0, 0}),
                                     MICA_WITH(Mass, {3}));
    mica_system_add(world, MICA_SYSTEM(change_five, MICA_WRITE(Number), MICA_HAS(Frozen), MICA_MAYBE_READ(Position),
                                       MICA_WITHOUT(Age), MICA_WRITE(Velocity), MICA_READ(Mass)));
    for (uint32_t i = 1; i <= 3; ++i) {
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        ck_assert_uint_eq(mica_get(world, entity, Number)->value, 2 + 3 * i);
        ck_assert_float_eq(mica_get(world, entity, Velocity)->x, 1 + 3 * (float)i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(what_a_small_system_wrote_is_undone_by_a_snapshot)
{
    reports heard;
    mica_world *world = open_flow(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {2}));
    mica_system_add(world, MICA_SYSTEM(double_numbers, MICA_WRITE(Number)));
    for (uint32_t i = 0; i < 3; ++i) {
        ck_assert_int_eq(mica_step(world, 1), MICA_OK);
        mica_snapshot before = mica_snapshot_take(world);
        mica_step(world, 1);
        mica_step(world, 1);
        ck_assert_uint_eq(mica_get(world, entity, Number)->value, 16u << i);
        ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
        ck_assert_uint_eq(mica_get(world, entity, Number)->value, 4u << i);
    }
    close_world(world, &heard);
}
END_TEST

static void count_frame(mica_world *world, void *context)
{
    uint32_t *count = context;
    if (++*count == 2) { /* a frame inside does not call it again, and changes take effect at once */
        ck_assert_int_eq(mica_step(world, 0.5f), MICA_OK);
        ck_assert(mica_is_alive(world, mica_create(world, MICA_WITH(Number, {5}))));
    }
}

START_TEST(a_function_is_called_after_each_frame_also_while_paused)
{
    reports heard;
    uint32_t count = 0;
    mica_world *world = open_flow(&heard);
    ck_assert(!mica_is_paused(world));
    ck_assert_int_eq(mica_after_frame(world, count_frame, &count), MICA_OK);
    ck_assert_int_eq(mica_after_frame(world, count_frame, &count), MICA_ERROR_EXISTS);
    expect_report(&heard, MICA_ERROR_EXISTS, "after_frame");
    mica_step(world, 0.5f);
    mica_step(world, 0.5f);
    ck_assert_uint_eq(mica_time_get(world).frame, 3);
    mica_pause(world, true);
    ck_assert(mica_is_paused(world));
    mica_step(world, 0.5f);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(mica_after_frame(world, NULL, NULL), MICA_OK);
    mica_step(world, 0.5f);
    ck_assert_uint_eq(count, 3);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_function_after_frames_needs_memory_for_the_flow)
{
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    reports heard;
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    mica_world *world = open_world_with(&heard, def);
    ck_assert(!mica_is_paused(world)); /* a world without a flow */
    faulty_allocator_fail_at(&faulty, 1, true);
    ck_assert_int_eq(mica_after_frame(world, count_frame, NULL), MICA_ERROR_MEMORY);
    faulty_allocator_fail_at(&faulty, 0, false);
    ck_assert_uint_ge(forget_reports(&heard), 1);
    close_world(world, &heard);
    faulty_allocator_free(&faulty);
}
END_TEST

TEST_SUITE(frame, zeros_in_the_def_of_a_world_with_systems_are_the_defaults,
           a_system_that_gets_a_rate_waits_from_then_on, a_snapshot_takes_the_wait_of_a_system_back,
           a_function_is_called_after_each_frame_also_while_paused, a_function_after_frames_needs_memory_for_the_flow,
           a_small_system_of_many_terms_gets_each_of_them, what_a_small_system_wrote_is_undone_by_a_snapshot,
           phases_run_in_order_and_can_be_added_and_switched, each_phase_sees_what_the_one_before_made,
           a_fixed_phase_runs_as_often_as_its_step_fits, fixed_phases_with_equal_steps_take_turns,
           rates_and_conditions_decide_when_a_system_runs, one_system_runs_alone_and_a_frame_can_begin_in_the_middle,
           the_last_phase_may_have_a_fixed_step_and_a_little_early_is_in_time,
           a_pause_holds_time_and_lets_single_frames_through, a_pause_holds_the_time_of_fixed_steps,
           a_phase_with_the_same_step_before_the_fixed_phase_leaves_alpha_right, a_snapshot_takes_time_and_pause_back,
           a_listener_is_called_after_each_system_that_runs,
           a_flush_that_a_seal_refuses_is_tried_again_before_more_systems_run, a_step_is_refused_inside_a_flush,
           a_step_is_refused_while_changes_are_recorded)
