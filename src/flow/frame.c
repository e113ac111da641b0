/* Running a frame: phases in order, fixed steps, rates and conditions of systems, pause. Where the parts are: schedule/flow.h. */
#include "base/argument.h"
#include "base/assert.h"
#include "base/probe.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/messaging/message_handlers.h"
#include "flow/schedule/dependency_graph.h"
#include "flow/schedule/fixed_step.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/phase_run.h"
#include "flow/schedule/system.h"

/* What a call of mica_step, mica_step_from or mica_system_run runs. */
typedef struct frame_run {
    micap_flow *flow;
    float dt;                 /* scaled */
    float real_dt;            /* not scaled: for systems that run during a pause */
    bool is_paused;           /* only systems with .while_paused run */
    const micap_system *from; /* systems before it do not run; NULL once it was reached */
    const micap_system *only; /* NULL: all systems */
    mica_result result;       /* the first error */
} frame_run;

static void add_result(frame_run *run, mica_result result)
{
    if (run->result == MICA_OK)
        run->result = result;
}

/* Whether the system runs this time. The condition comes last, because it may look at the frame. */
static bool is_due(const frame_run *run, const micap_segment *segment, micap_system *system)
{
    const mica_system_def *def = &system->def;
    if (run->only)
        return system == run->only;
    if (!system->is_enabled || system->is_removed || (run->is_paused && !def->while_paused))
        return false;
    if (def->every_frames > 1 && segment->phase->tick % def->every_frames != 0)
        return false;
    if (def->every_seconds > 0 && system->seconds_waited < def->every_seconds)
        return false;
    if (!def->condition)
        return true;
    system->frame.dt = (float)system->seconds_waited;
    system->frame.seconds = segment->seconds;
    system->frame.tick = segment->phase->tick;
    return def->condition(&system->frame);
}

static void choose_systems(frame_run *run, micap_segment *segment)
{
    segment->has_inactive = false;
    if (!segment->has_gates && !run->is_paused && !run->only && !run->from)
        return; /* all are active */
    for (uint32_t i = 0; i < segment->system_count; ++i) {
        micap_system *system = segment->systems[i];
        MICAP_ASSERT(system, "segments list systems");
        if (system == run->from)
            run->from = NULL;
        /* The others do not wait: each run is due. During a pause no time passes, except for systems that run then, and if only one
         * system runs, it passes for that one. */
        if (system->is_gated && (!run->is_paused || system->def.while_paused) && (!run->only || run->only == system))
            system->seconds_waited += segment->dt;
        system->is_active = !run->from && is_due(run, segment, system);
        segment->has_inactive |= !system->is_active;
    }
    run->flow->gates_stale = true;
}

static void run_segment(frame_run *run, micap_segment *segment, float dt, float alpha)
{
    const micap_phase *phase = segment->phase;
    segment->dt = dt;
    segment->alpha = alpha;
    segment->seconds = phase->fixed_seconds > 0 ? phase->seconds : run->flow->time.seconds;
    segment->tick = phase->tick;
    choose_systems(run, segment);
    add_result(run, micap_segment_run(segment));
    /* Systems that had no rows were not started, which depends on how jobs are run: their clocks start again, too. */
    for (uint32_t i = 0; segment->has_gates && segment->has_run && i < segment->system_count; ++i)
        if (segment->systems[i]->is_active)
            segment->systems[i]->seconds_waited = 0;
}

/* Returns false if the phase must run before all others and could not begin. */
static bool run_phase(frame_run *run, micap_phase *phase, float dt, float alpha)
{
    for (uint32_t i = 0; i < phase->segment_count; ++i) {
        const micap_segment *segment = &phase->segments[i];
        run_segment(run, &phase->segments[i], dt, alpha);
        if (i == 0 && phase->id == MICA_PHASE_START && !segment->has_run && !segment->exclusive)
            return false;
    }
    ++phase->tick;
    phase->seconds += run->is_paused ? 0 : phase->fixed_seconds; /* a pause holds the time of steps, too */
    return true;
}

/* Whether the phase does not run in this frame. */
static bool is_skipped(const frame_run *run, const micap_phase *phase)
{
    if (!phase->is_enabled || !phase->segment_count || phase->id == MICAP_PHASE_MESSAGES)
        return true;
    if (phase->id == MICA_PHASE_START && (run->is_paused || (!run->from && phase->tick > 0)))
        return true;
    return run->from && run->from->def.phase != phase->id;
}

/* Runs phases [first, end), which have the same fixed step, in turns. */
static void run_fixed_steps(frame_run *run, uint32_t first, uint32_t end)
{
    micap_flow *flow = run->flow;
    const micap_phase *phase = flow->phases[first];
    uint32_t steps = micap_fixed_step_count(flow, first, run->dt);
    for (uint32_t i = 0; i < steps; ++i)
        for (uint32_t j = first; j < end; ++j)
            if (flow->phases[j]->is_enabled) {
                flow->time.step += flow->phases[j]->id == MICA_PHASE_FIXED;
                run_phase(run, flow->phases[j], (float)phase->fixed_seconds, 0);
            }
    for (uint32_t j = first; j < end; ++j) /* the first phase of the group has the remainder of all */
        if (flow->phases[j]->id == MICA_PHASE_FIXED)
            flow->time.alpha = (float)(phase->waited_seconds / phase->fixed_seconds);
}

static void run_phases(frame_run *run)
{
    micap_flow *flow = run->flow;
    for (uint32_t first = 0, end; first < flow->phase_count; first = end) {
        end = micap_fixed_step_group_end(flow, first);
        micap_phase *phase = flow->phases[first];
        if (phase->fixed_seconds > 0 && !run->from && !run->is_paused) {
            run_fixed_steps(run, first, end);
            continue;
        }
        for (; first < end; ++first) {
            phase = flow->phases[first];
            if (is_skipped(run, phase))
                continue;
            float dt = phase->fixed_seconds > 0 ? (float)phase->fixed_seconds : run->is_paused ? run->real_dt : run->dt;
            if (!run_phase(run, phase, dt, flow->time.alpha))
                return;
        }
    }
}

/* Returns the flow, ready to run systems, or NULL with a report and the error in `out_result`. */
static micap_flow *prepare(mica_world *world, const char *what, float dt, mica_result *out_result)
{
    micap_flow *flow = micap_flow_of(world);
    micap_check_door(world, what);
    *out_result = flow ? MICA_OK : MICA_ERROR_MEMORY;
    if (flow && (flow->is_stepping || world->recording_depth || world->flushing))
        *out_result = micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                                 flow->is_stepping ? "%s: refused inside a frame"
                                                   : "%s: refused inside a hook, and while changes are recorded: "
                                                     "mica_flush applies them",
                                 what);
    else if (flow && !(dt >= 0 && dt < 1e9f))
        *out_result = micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                                 "%s: the time step must be at least 0 and less than 1e9, not %g", what, (double)dt);
    else if (flow && !micap_messages_of(world)) /* a system that sends the first message can't create the queue */
        *out_result = MICA_ERROR_MEMORY;
    else if (flow)
        *out_result = micap_dependency_graph_update(flow);
    return *out_result == MICA_OK ? flow : NULL;
}

static void begin(micap_flow *flow)
{
    ++flow->world->frame_depth;
    flow->is_stepping = true;
}

static mica_result finish(frame_run *run)
{
    run->flow->is_stepping = false;
    --run->flow->world->frame_depth;
    if (run->flow->has_removed)
        micap_systems_free_removed(run->flow);
    return run->result;
}

static mica_result step(mica_world *world, const char *what, mica_system from, float dt)
{
    mica_result result;
    micap_flow *flow = prepare(world, what, dt, &result);
    if (!flow)
        return result;
    frame_run run = {.flow = flow, .real_dt = dt};
    if (from.id && !(run.from = micap_system_find_id(flow, from)))
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0}, "%s: there is no such system", what);
    run.is_paused = flow->is_paused && !flow->is_let_through;
    flow->is_let_through = false;
    run.dt = run.is_paused ? 0 : (float)(dt * flow->scale);
    begin(flow);
    flow->asked_dt = dt;
    flow->time.dt = run.dt;
    flow->time.seconds += run.dt;
    ++flow->time.frame;
    MICAP_PROBE_2(step_begin, world, flow->time.frame);
    micap_listeners_frame_begin(flow);
    add_result(&run, micap_dependency_graph_update(flow)); /* listeners may have added systems */
    if (run.result == MICA_OK)
        run_phases(&run);
    micap_listeners_frame_end(flow);
    result = finish(&run);
    MICAP_PROBE_3(step_end, world, flow->time.frame, result);
    if (flow->after_frame && !flow->is_after_frame) {
        flow->is_after_frame = true;
        ++world->frame_depth;
        flow->after_frame(world, flow->after_frame_context);
        --world->frame_depth;
        flow->is_after_frame = false;
    }
    return result;
}

mica_result mica_after_frame(mica_world *world, mica_after_frame_fn fn, void *context)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (fn && flow->after_frame)
        return micap_fail(world, MICA_ERROR_EXISTS, (mica_location){0},
                          "after_frame: the world already has a function; remove it first");
    flow->after_frame = fn;
    flow->after_frame_context = fn ? context : NULL;
    return MICA_OK;
}

mica_result mica_step(mica_world *world, float dt)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    return step(world, "step", (mica_system){0}, dt);
}

mica_result mica_step_from(mica_world *world, mica_system system, float dt)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    if (!system.id)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0}, "step_from: there is no such system");
    return step(world, "step_from", system, dt);
}

mica_result mica_system_run(mica_world *world, mica_system system, float dt)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    mica_result result;
    micap_flow *flow = prepare(world, "system_run", dt, &result);
    if (!flow)
        return result;
    const micap_system *only = micap_system_find_id(flow, system);
    if (!only)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_location){0}, "system_run: there is no such system");
    frame_run run = {.flow = flow, .dt = dt, .real_dt = dt, .only = only};
    const micap_phase *phase = micap_phase_find_id(flow, only->def.phase);
    begin(flow);
    for (uint32_t i = 0; i < phase->segment_count; ++i) {
        micap_segment *segment = &phase->segments[i];
        uint32_t first = segment->systems[0]->order;
        if (only->order >= first && only->order < first + segment->system_count)
            run_segment(&run, segment, dt, flow->time.alpha);
    }
    return finish(&run);
}
