/* Random frame loops, compared with a model that counts time in whole units. The clock, all rates and all steps are multiples of a unit
 * that floating-point numbers represent exactly, so every dt, alpha and time must be equal to the last bit. A failure prints the seed;
 * MICA_TEST_SEED set to it plays that loop first. MICA_TEST_SECONDS is how long it plays, instead of a fixed number of loops. */
#include "mica/flow.h"
#include "mica/snapshot.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/test.h"
#include "support/test_length.h"

#include <stdio.h>
#include <string.h>

enum {
    UNITS = 1024, /* per second */
    GRAIN = 8,    /* units: what the clock counts in, so that scaled times are whole units */
    SCALE_ONE = 8,
    PHASES_MAX = 10,
    SYSTEMS_MAX = 24,
    FRAMES_MAX = 24, /* of one run */
    NOTES_MAX = 16384,
    RUNS = 6, /* of one world */
    LOOPS_DEFAULT = UNDER_SANITIZER ? 200 : 1000,
};

/* What a system saw when it ran. */
typedef struct note {
    uint32_t system;
    float dt;
    float alpha;
    double seconds;
    uint64_t tick;
} note;

typedef struct notes {
    note list[NOTES_MAX];
    uint32_t count;
} notes;

typedef struct model_system {
    uint32_t every_frames;
    uint32_t every; /* units */
    bool while_paused;
    bool is_enabled;
    uint64_t waited; /* units since it last ran */
} model_system;

typedef struct model_phase {
    mica_phase id;
    uint32_t step;   /* units; 0: once per frame */
    uint32_t waited; /* units that no step has used */
    uint64_t tick;
    uint64_t seconds; /* units of its steps */
    bool is_enabled;
    uint32_t systems[SYSTEMS_MAX];
    uint32_t system_count;
} model_phase;

/* All that a snapshot restores. */
typedef struct model {
    model_phase phases[PHASES_MAX];
    uint32_t phase_count;
    model_system systems[SYSTEMS_MAX];
    uint32_t system_count;
    uint32_t catch_up_max;
    uint32_t scale; /* of SCALE_ONE */
    bool is_paused;
    bool is_let_through;
    uint64_t time; /* units, scaled */
    uint32_t dt;
    uint64_t frame;
    uint64_t step;
    float alpha;
} model;

typedef enum action { NOTHING, PAUSE, CONTINUE, SINGLE_FRAME, SCALE, SWITCH_PHASE, SWITCH_SYSTEM, ACTIONS } action;

/* What happens between a frame and the next. */
typedef struct frame_plan {
    int32_t cost;       /* units that the frame takes; a clock can go back */
    uint32_t oversleep; /* units that a wait takes longer */
    action action;
    uint32_t which; /* phase, system or scale */
    bool on;
    bool stops;
} frame_plan;

typedef struct loop {
    uint64_t seed;
    random_source random;
    reports heard;
    mica_world *world;
    mica_system systems[SYSTEMS_MAX];
    char names[SYSTEMS_MAX][8];
    struct loop_context {
        struct loop *loop;
        uint32_t system;
    } contexts[SYSTEMS_MAX];
    model model;
    frame_plan plan[FRAMES_MAX];
    uint32_t plan_count;
    uint32_t frames_per_second; /* a power of two; 0: no waiting */
    uint32_t frame_max;         /* units */

    int64_t now, model_now; /* units */
    uint32_t frames_done;
    uint32_t waits, model_waits;
    notes seen, expected;
} loop;

#define EXPECT(loop, condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("%s (again with MICA_TEST_SEED=%llu)", #condition, (unsigned long long)(loop)->seed);         \
    } while (0)

static void add_note(loop *loop, notes *notes, note added)
{
    EXPECT(loop, notes->count < NOTES_MAX);
    notes->list[notes->count++] = added;
}

/* The model. */

static float in_seconds(uint64_t units)
{
    return (float)units / UNITS;
}

static bool is_gated(const model_system *system)
{
    return system->every_frames > 1 || system->every;
}

static bool is_due(const model_system *system, const model_phase *phase, bool is_paused)
{
    if (!system->is_enabled || (is_paused && !system->while_paused))
        return false;
    if (system->every_frames > 1 && phase->tick % system->every_frames)
        return false;
    return system->waited >= system->every;
}

static void model_run_phase(loop *loop, model_phase *phase, uint32_t dt, float alpha, bool is_paused)
{
    model *model = &loop->model;
    for (uint32_t i = 0; i < phase->system_count; ++i) {
        model_system *system = &model->systems[phase->systems[i]];
        if (is_gated(system) && (!is_paused || system->while_paused))
            system->waited += dt;
        if (!is_due(system, phase, is_paused))
            continue;
        note seen = {.system = phase->systems[i], .alpha = alpha, .tick = phase->tick};
        seen.dt = in_seconds(is_gated(system) && !phase->step ? system->waited : dt);
        seen.seconds = (double)(phase->step ? phase->seconds : model->time) / UNITS;
        add_note(loop, &loop->expected, seen);
        system->waited = 0;
    }
    ++phase->tick;
    phase->seconds += is_paused ? 0 : phase->step; /* a pause holds the time of steps, too */
}

/* Phases with the same step take turns. */
static void model_run_steps(loop *loop, uint32_t first, uint32_t end)
{
    model *model = &loop->model;
    uint32_t steps = 0;
    for (uint32_t i = first; i < end; ++i) {
        model_phase *phase = &model->phases[i];
        uint32_t time = phase->waited + model->dt;
        steps = time / phase->step;
        phase->waited = time % phase->step;
    }
    for (uint32_t k = 0; k < steps && k < model->catch_up_max; ++k)
        for (uint32_t i = first; i < end; ++i)
            if (model->phases[i].is_enabled) {
                model->step += model->phases[i].id == MICA_PHASE_FIXED;
                model_run_phase(loop, &model->phases[i], model->phases[i].step, 0, false);
            }
    for (uint32_t i = first; i < end; ++i)
        if (model->phases[i].id == MICA_PHASE_FIXED)
            model->alpha = (float)((double)model->phases[i].waited / model->phases[i].step);
}

static void model_run_once(loop *loop, model_phase *phase, uint32_t real, bool is_paused)
{
    bool is_over = phase->id == MICA_PHASE_START && (is_paused || phase->tick);
    if (phase->is_enabled && phase->system_count && !is_over)
        model_run_phase(loop, phase,
                        phase->step ? phase->step
                        : is_paused ? real
                                    : loop->model.dt,
                        loop->model.alpha, is_paused);
}

static void model_step(loop *loop, uint32_t real)
{
    model *model = &loop->model;
    bool is_paused = model->is_paused && !model->is_let_through;
    model->is_let_through = false;
    model->dt = is_paused ? 0 : real * model->scale / SCALE_ONE;
    model->time += model->dt;
    ++model->frame;
    for (uint32_t first = 0, end; first < model->phase_count; first = end) {
        end = first + 1;
        while (model->phases[first].step && end < model->phase_count &&
               model->phases[end].step == model->phases[first].step)
            ++end;
        if (model->phases[first].step && !is_paused)
            model_run_steps(loop, first, end);
        else
            for (uint32_t i = first; i < end; ++i)
                model_run_once(loop, &model->phases[i], real, is_paused);
    }
}

static void model_act(model *model, const frame_plan *plan)
{
    switch (plan->action) {
    case PAUSE:
    case CONTINUE:
        model->is_paused = plan->action == PAUSE;
        model->is_let_through = false;
        break;
    case SINGLE_FRAME: model->is_let_through = true; break;
    case SCALE: model->scale = plan->which; break;
    case SWITCH_PHASE: model->phases[plan->which].is_enabled = plan->on; break;
    case SWITCH_SYSTEM: model->systems[plan->which].is_enabled = plan->on; break;
    case NOTHING:
    case ACTIONS: break;
    }
}

/* Returns how many frames ran. */
static uint32_t model_run(loop *loop)
{
    int64_t last = loop->model_now, next = last;
    uint32_t dt = 0;
    for (uint32_t frame = 0;; ++frame) {
        const frame_plan *plan = &loop->plan[frame];
        model_step(loop, dt);
        loop->model_now += plan->cost;
        model_act(&loop->model, plan);
        if (plan->stops || frame + 1 == loop->plan_count)
            return frame + 1;
        if (loop->frames_per_second) {
            uint32_t rest = UNITS / loop->frames_per_second;
            next += rest;
            if (loop->model_now < next) {
                loop->model_now = next + plan->oversleep;
                ++loop->model_waits;
            } else if (loop->model_now > next + rest) {
                next = loop->model_now; /* frames that are lost are not made up for */
            }
        }
        int64_t elapsed = loop->model_now - last;
        last = loop->model_now;
        dt = elapsed <= 0 ? 0 : elapsed < loop->frame_max ? (uint32_t)elapsed : loop->frame_max;
    }
}

/* The world. */

static void write_note(const mica_frame *frame)
{
    const struct loop_context *context = frame->context;
    add_note(context->loop, &context->loop->seen,
             (note){context->system, frame->dt, frame->alpha, frame->seconds, frame->tick});
}

static double fake_now(void *context)
{
    return (double)((const loop *)context)->now / UNITS;
}

static void fake_wait(double seconds, void *context)
{
    loop *loop = context;
    int64_t units = (int64_t)(seconds * UNITS);
    EXPECT(loop, units > 0 && (double)units == seconds * UNITS);
    loop->now += units + loop->plan[loop->frames_done - 1].oversleep;
    ++loop->waits;
}

static void act(loop *loop, const frame_plan *plan)
{
    mica_world *world = loop->world;
    switch (plan->action) {
    case PAUSE:
    case CONTINUE: mica_pause(world, plan->action == PAUSE); break;
    case SINGLE_FRAME: mica_pause_step(world); break;
    case SCALE: EXPECT(loop, mica_time_set_scale(world, (double)plan->which / SCALE_ONE) == MICA_OK); break;
    case SWITCH_PHASE: EXPECT(loop, mica_phase_enable(world, loop->model.phases[plan->which].id, plan->on)); break;
    case SWITCH_SYSTEM: EXPECT(loop, mica_system_enable(world, loop->systems[plan->which], plan->on)); break;
    case NOTHING:
    case ACTIONS: break;
    }
}

static void after_frame(mica_world *world, void *context)
{
    loop *loop = context;
    const frame_plan *plan = &loop->plan[loop->frames_done++];
    loop->now += plan->cost;
    act(loop, plan);
    if (plan->stops)
        mica_stop(world);
}

static void draw_plan(loop *loop)
{
    static const uint32_t scales[] = {0, SCALE_ONE / 2, SCALE_ONE, SCALE_ONE, 2 * SCALE_ONE};
    random_source *random = &loop->random;
    loop->plan_count = 1 + random_below(random, FRAMES_MAX);
    loop->frames_per_second = random_one_in(random, 4) ? 0 : 8u << random_below(random, 5);
    loop->frame_max = GRAIN * (1 + random_below(random, 64));
    for (uint32_t i = 0; i < loop->plan_count; ++i) {
        frame_plan *plan = &loop->plan[i];
        *plan = (frame_plan){.cost = (int32_t)(GRAIN * random_below(random, random_one_in(random, 8) ? 400 : 20))};
        if (random_one_in(random, 20))
            plan->cost = -plan->cost;
        plan->oversleep = random_one_in(random, 4) ? GRAIN * random_below(random, 6) : 0;
        plan->action = random_one_in(random, 3) ? random_below(random, ACTIONS) : NOTHING;
        plan->on = !random_one_in(random, 3);
        plan->stops = random_one_in(random, 30);
        plan->which = plan->action == SCALE          ? scales[random_below(random, 5)]
                      : plan->action == SWITCH_PHASE ? random_below(random, loop->model.phase_count)
                                                     : random_below(random, loop->model.system_count);
    }
}

static void add_system(loop *loop, model_phase *phase)
{
    random_source *random = &loop->random;
    uint32_t number = loop->model.system_count++;
    model_system made = {.is_enabled = true, .while_paused = random_one_in(random, 3)};
    if (random_one_in(random, 4))
        made.every_frames = random_below(random, 4);
    if (random_one_in(random, 4))
        made.every = GRAIN * random_below(random, 20);
    snprintf(loop->names[number], sizeof loop->names[number], "s%u", number);
    loop->contexts[number].loop = loop;
    loop->contexts[number].system = number;
    mica_system_def def = {.name = loop->names[number],
                           .once = write_note,
                           .context = &loop->contexts[number],
                           .phase = phase->id,
                           .every_frames = made.every_frames,
                           .every_seconds = (double)made.every / UNITS,
                           .while_paused = made.while_paused,
                           .exclusive = random_one_in(random, 3)};
    if (phase->system_count)
        def.after[0] = loop->names[phase->systems[phase->system_count - 1]];
    loop->systems[number] = mica_system_add(loop->world, &def);
    EXPECT(loop, loop->systems[number].id);
    loop->model.systems[number] = made;
    phase->systems[phase->system_count++] = number;
}

static uint32_t draw_step(loop *loop)
{
    static const uint32_t steps[] = {GRAIN, 2 * GRAIN, 3 * GRAIN, 5 * GRAIN, 16 * GRAIN};
    return steps[random_below(&loop->random, 5)];
}

/* Beside any other; with the step of that one for the most part, so that they take turns. */
static void add_phase(loop *loop)
{
    model *model = &loop->model;
    uint32_t beside = random_below(&loop->random, model->phase_count), at;
    bool before = random_one_in(&loop->random, 2);
    char name[16];
    snprintf(name, sizeof name, "phase %u", model->phase_count);
    model_phase made = {.is_enabled = true};
    made.step = random_one_in(&loop->random, 3) ? draw_step(loop) : model->phases[beside].step;
    made.id = mica_phase_add(loop->world, &(mica_phase_def){.name = name,
                                                            .beside = model->phases[beside].id,
                                                            .before = before,
                                                            .fixed_seconds = (double)made.step / UNITS});
    EXPECT(loop, made.id != MICA_PHASE_NONE);
    at = beside + !before;
    memmove(&model->phases[at + 1], &model->phases[at], (model->phase_count - at) * sizeof *model->phases);
    model->phases[at] = made;
    ++model->phase_count;
}

static void open_loop(loop *loop, uint64_t seed)
{
    static const mica_phase built_in[] = {MICA_PHASE_START, MICA_PHASE_BEGIN, MICA_PHASE_FIXED, MICA_PHASE_UPDATE,
                                          MICA_PHASE_END};
    memset(loop, 0, sizeof *loop);
    loop->seed = seed;
    loop->random.state = seed;
    loop->world = open_world(&loop->heard);
    loop->now = loop->model_now = 1000 * UNITS;
    model *model = &loop->model;
    model->scale = SCALE_ONE;
    model->catch_up_max = 1 + random_below(&loop->random, 8);
    for (; model->phase_count < 5; ++model->phase_count)
        model->phases[model->phase_count] = (model_phase){.id = built_in[model->phase_count], .is_enabled = true};
    model->phases[2].step = draw_step(loop);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1 + random_below(&loop->random, 2);
    flow.catch_up_max = model->catch_up_max;
    flow.fixed_seconds = (double)model->phases[2].step / UNITS;
    EXPECT(loop, mica_flow_configure(loop->world, &flow) == MICA_OK);
    EXPECT(loop, mica_after_frame(loop->world, after_frame, loop) == MICA_OK);
    for (uint32_t count = random_below(&loop->random, PHASES_MAX - 5 + 1); count > 0; --count)
        add_phase(loop);
    for (uint32_t i = 0; i < model->phase_count; ++i)
        for (uint32_t count = random_below(&loop->random, 3); count > 0; --count)
            add_system(loop, &model->phases[i]);
    if (!model->system_count)
        add_system(loop, &model->phases[0]);
}

static void compare_notes(const loop *loop)
{
    for (uint32_t i = 0; i < loop->seen.count && i < loop->expected.count; ++i) {
        const note *seen = &loop->seen.list[i], *expected = &loop->expected.list[i];
        bool is_same = seen->system == expected->system && seen->dt == expected->dt && seen->alpha == expected->alpha &&
                       seen->seconds == expected->seconds && seen->tick == expected->tick;
        if (!is_same)
            ck_abort_msg("run %u: system s%u dt %g alpha %g at %g tick %llu, not s%u %g %g %g %llu (again with "
                         "MICA_TEST_SEED=%llu)",
                         i, seen->system, (double)seen->dt, (double)seen->alpha, seen->seconds,
                         (unsigned long long)seen->tick, expected->system, (double)expected->dt,
                         (double)expected->alpha, expected->seconds, (unsigned long long)expected->tick,
                         (unsigned long long)loop->seed);
    }
    EXPECT(loop, loop->seen.count == loop->expected.count);
}

static void compare_time(const loop *loop)
{
    mica_time time = mica_time_get(loop->world);
    const model *model = &loop->model;
    EXPECT(loop, time.seconds == (double)model->time / UNITS);
    EXPECT(loop, time.frame == model->frame && time.step == model->step);
    EXPECT(loop, time.dt == in_seconds(model->dt));
    EXPECT(loop, time.alpha == model->alpha && time.alpha >= 0 && time.alpha < 1);
    EXPECT(loop, mica_is_paused(loop->world) == model->is_paused);
}

/* The same plan for the world and for the model. */
static void run_once(loop *loop)
{
    draw_plan(loop);
    mica_clock clock = {.now = fake_now, .wait = fake_wait, .context = loop};
    mica_run_def def = {.frames_per_second = loop->frames_per_second,
                        .frame_seconds_max = (double)loop->frame_max / UNITS,
                        .frame_count = loop->plan_count,
                        .clock = &clock};
    loop->seen.count = loop->expected.count = loop->frames_done = 0;
    EXPECT(loop, mica_run(loop->world, &def) == MICA_OK);
    EXPECT(loop, model_run(loop) == loop->frames_done);
    EXPECT(loop, loop->now == loop->model_now && loop->waits == loop->model_waits);
    compare_notes(loop);
    compare_time(loop);
}

static void play_loop(uint64_t seed)
{
    static loop game; /* large, and a test plays one at a time */
    static model saved;
    mica_snapshot snapshot = {0};
    open_loop(&game, seed);
    for (uint32_t run = 0; run < RUNS; ++run) {
        run_once(&game);
        if (!snapshot.id && random_one_in(&game.random, 2)) {
            snapshot = mica_snapshot_take(game.world);
            EXPECT(&game, snapshot.id);
            saved = game.model;
        } else if (snapshot.id && random_one_in(&game.random, 2)) {
            EXPECT(&game, mica_snapshot_restore(game.world, snapshot) == MICA_OK);
            game.model = saved;
            compare_time(&game);
        }
    }
    close_world(game.world, &game.heard);
}

START_TEST(random_loops_agree_with_a_model_of_whole_numbers)
{
    uint64_t seed = setting_from_environment("MICA_TEST_SEED", 1);
    test_length length = test_length_begin("frame loops", seed, LOOPS_DEFAULT, 50);
    for (uint64_t done = 0; test_length_continues(&length, done); ++done)
        play_loop(seed + done);
}
END_TEST

TEST_SUITE(frame_loop_model, random_loops_agree_with_a_model_of_whole_numbers)
