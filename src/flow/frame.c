/* Frames: phases in order, fixed steps and catching up, pause, rates and conditions. */
#include "base/assert.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "flow/schedule/flow.h"
#include "flow/messaging/message_handlers.h"

/* What a call of mica_step and its kin runs. */
typedef struct micap_frame_run {
    micap_flow *flow;
    float dt;                 /* scaled */
    float real_dt;            /* as given: what systems get that run in a pause */
    bool is_paused;           /* only systems with .while_paused */
    const micap_system *from; /* leave out what comes before it; NULL once it was met */
    const micap_system *only;
    mica_result result; /* the first that was no success */
} frame_run;

static void note(frame_run *run, mica_result result)
{
    if (run->result == MICA_OK)
        run->result = result;
}

/* Whether it is the system's turn. The condition is asked last, since it may look at what the frame says. */
static bool is_due(const frame_run *run, const micap_leg *leg, micap_system *system)
{
    const mica_system_def *def = &system->def;
    if (run->only)
        return system == run->only;
    if (!system->is_enabled || system->is_removed || (run->is_paused && !def->while_paused))
        return false;
    if (def->every_frames > 1 && leg->phase->tick % def->every_frames != 0)
        return false;
    if (def->every_seconds > 0 && system->seconds_waited < def->every_seconds)
        return false;
    if (!def->condition)
        return true;
    system->frame.dt = (float)system->seconds_waited;
    system->frame.seconds = leg->seconds;
    system->frame.tick = leg->phase->tick;
    return def->condition(&system->frame);
}

static void choose(frame_run *run, micap_leg *leg)
{
    leg->has_inactive = false;
    if (!leg->has_gates && !run->is_paused && !run->only && !run->from)
        return; /* all are active */
    for (uint32_t i = 0; i < leg->system_count; ++i) {
        micap_system *system = leg->systems[i];
        MICAP_ASSERT(system, "legs list systems");
        if (system == run->from)
            run->from = NULL;
        if (!run->is_paused || system->def.while_paused) /* for the others no time passes */
            system->seconds_waited += leg->dt;
        system->is_active = !run->from && is_due(run, leg, system);
        leg->has_inactive |= !system->is_active;
    }
    run->flow->gates_stale = true;
}

static void run_phase(frame_run *run, micap_phase *phase, float dt, float alpha)
{
    for (uint32_t i = 0; i < phase->leg_count; ++i) {
        micap_leg *leg = &phase->legs[i];
        leg->dt = dt;
        leg->alpha = alpha;
        leg->seconds = phase->fixed_seconds > 0 ? phase->seconds : run->flow->time.seconds;
        choose(run, leg);
        note(run, micap_leg_run(leg));
    }
    ++phase->tick;
    phase->seconds += phase->fixed_seconds;
}

/* Phases that are neighbours and have the same fixed step take turns. */
static uint32_t group_end(const micap_flow *flow, uint32_t first)
{
    uint32_t end = first + 1;
    while (flow->phases[first]->fixed_seconds > 0 && end < flow->phase_count &&
           flow->phases[end]->fixed_seconds == flow->phases[first]->fixed_seconds)
        ++end;
    return end;
}

static void run_fixed(frame_run *run, uint32_t first, uint32_t end)
{
    micap_flow *flow = run->flow;
    double step = flow->phases[first]->fixed_seconds, *waited = &flow->phases[first]->waited_seconds;
    *waited += run->dt;
    /* A little early is in time: a frame of a sixtieth is meant to have one step of a sixtieth. */
    uint64_t fitting = (uint64_t)(*waited / step + 1e-6);
    uint32_t steps = fitting < flow->def.catch_up_max ? (uint32_t)fitting : flow->def.catch_up_max;
    *waited -= (double)fitting * step;
    if (*waited < 0)
        *waited = 0;
    for (uint32_t i = 0; i < steps; ++i)
        for (uint32_t j = first; j < end; ++j)
            if (flow->phases[j]->is_enabled) {
                flow->time.step += flow->phases[j]->id == MICA_PHASE_FIXED;
                run_phase(run, flow->phases[j], (float)step, 0);
            }
    if (flow->phases[first]->id == MICA_PHASE_FIXED)
        flow->time.alpha = (float)(*waited / step);
}

static void run_phases(frame_run *run)
{
    micap_flow *flow = run->flow;
    for (uint32_t first = 0, end; first < flow->phase_count; first = end) {
        end = group_end(flow, first);
        micap_phase *phase = flow->phases[first];
        if (phase->fixed_seconds > 0 && !run->from && !run->is_paused) {
            run_fixed(run, first, end);
            continue;
        }
        for (; first < end; ++first) {
            phase = flow->phases[first];
            if (!phase->is_enabled || !phase->leg_count || phase->id == MICAP_PHASE_MESSAGES ||
                (run->from && run->from->def.phase != phase->id))
                continue;
            float dt = phase->fixed_seconds > 0 ? (float)phase->fixed_seconds : run->is_paused ? run->real_dt : run->dt;
            run_phase(run, phase, dt, flow->time.alpha);
        }
    }
}

static void tell(const micap_flow *flow, bool begin)
{
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i) {
        const micap_listener_ops *ops = flow->listeners[i].ops;
        void (*listener)(mica_world *, void *) = !ops ? NULL : begin ? ops->frame_begin : ops->frame_end;
        if (listener)
            listener(flow->world, flow->listeners[i].state);
    }
}

/* The flow, ready to run systems; NULL with a report and `out_result` when it can't. */
static micap_flow *prepare(mica_world *world, const char *what, float dt, mica_result *out_result)
{
    micap_flow *flow = micap_flow_of(world);
    micap_check_door(world, what);
    *out_result = flow ? MICA_OK : MICA_ERROR_MEMORY;
    if (flow && (flow->is_stepping || world->recording_depth || world->flushing))
        *out_result = micap_fail(world, MICA_ERROR_REFUSED, (mica_place){0},
                                 "%s: refused inside a frame, a hook, or while changes are recorded", what);
    else if (flow && !(dt >= 0 && dt < 1e9f))
        *out_result = micap_fail(world, MICA_ERROR_INVALID, (mica_place){0}, "%s: a time step of %g makes no sense",
                                 what, (double)dt);
    else if (flow && !micap_messages_of(world)) /* a system that sends the first one can't make it */
        *out_result = MICA_ERROR_MEMORY;
    else if (flow)
        *out_result = micap_graph_update(flow);
    return *out_result == MICA_OK ? flow : NULL;
}

static mica_result finish(frame_run *run)
{
    run->flow->is_stepping = false;
    if (run->flow->has_removed)
        micap_flow_forget_removed(run->flow);
    return run->result;
}

static mica_result step(mica_world *world, const char *what, mica_system from, float dt)
{
    mica_result result;
    micap_flow *flow = prepare(world, what, dt, &result);
    if (!flow)
        return result;
    frame_run run = {.flow = flow, .real_dt = dt};
    if (from.id && !(run.from = micap_flow_system(flow, from)))
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_place){0}, "%s: there is no such system", what);
    run.is_paused = flow->is_paused && !flow->is_let_through;
    flow->is_let_through = false;
    run.dt = run.is_paused ? 0 : (float)(dt * flow->scale);
    flow->is_stepping = true;
    flow->asked_dt = dt;
    flow->time.dt = run.dt;
    flow->time.seconds += run.dt;
    ++flow->time.frame;
    tell(flow, true);
    note(&run, micap_graph_update(flow)); /* listeners may have added systems */
    if (run.result == MICA_OK)
        run_phases(&run);
    tell(flow, false);
    return finish(&run);
}

mica_result mica_step(mica_world *world, float dt)
{
    return step(world, "step", (mica_system){0}, dt);
}

mica_result mica_step_from(mica_world *world, mica_system system, float dt)
{
    if (!system.id)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_place){0}, "step_from: there is no such system");
    return step(world, "step_from", system, dt);
}

mica_result mica_system_run(mica_world *world, mica_system system, float dt)
{
    mica_result result;
    micap_flow *flow = prepare(world, "system_run", dt, &result);
    if (!flow)
        return result;
    const micap_system *only = micap_flow_system(flow, system);
    if (!only)
        return micap_fail(world, MICA_ERROR_UNKNOWN, (mica_place){0}, "system_run: there is no such system");
    frame_run run = {.flow = flow, .dt = dt, .real_dt = dt, .only = only};
    const micap_phase *phase = micap_flow_phase(flow, only->def.phase);
    flow->is_stepping = true;
    for (uint32_t i = 0; i < phase->leg_count; ++i) {
        micap_leg *leg = &phase->legs[i];
        if (only->order < leg->systems[0]->order || only->order >= leg->systems[0]->order + leg->system_count)
            continue;
        leg->dt = dt;
        leg->alpha = flow->time.alpha;
        leg->seconds = phase->fixed_seconds > 0 ? phase->seconds : flow->time.seconds;
        choose(&run, leg);
        note(&run, micap_leg_run(leg));
    }
    return finish(&run);
}

void mica_pause(mica_world *world, bool paused)
{
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return;
    flow->is_paused = paused;
    flow->is_let_through = false;
}

void mica_pause_step(mica_world *world)
{
    micap_flow *flow = micap_flow_of(world);
    if (flow)
        flow->is_let_through = true;
}

mica_result mica_time_set_scale(mica_world *world, double scale)
{
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (!(scale >= 0 && scale <= 1e6))
        return micap_fail(world, MICA_ERROR_INVALID, (mica_place){0}, "time: a scale of %g makes no sense", scale);
    flow->scale = scale;
    return MICA_OK;
}

mica_time mica_time_of(const mica_world *world)
{
    const micap_flow *flow = micap_flow_get(world);
    return flow ? flow->time : (mica_time){0};
}
