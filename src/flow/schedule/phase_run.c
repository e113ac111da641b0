/* Running a leg: its chains, each as soon as those it waits for are done, over the crew; or, when there is too little to do, one
 * after the other in this thread, which is where small systems are fastest. */
#include "flow/schedule/flow.h"

#include "core/world/access_check.h"
#include "core/world/report.h"
#include "os/clock.h"

enum {
    CREW_NS = 30000,    /* a leg that takes less is not worth waking anybody */
    SPLIT_NS = 15000,   /* nor is a chain that takes less worth splitting */
    MEASURE_EVERY = 64, /* runs: reading the clock costs as much as a small system */
    ROW_NS = 2,         /* a guess, until it is measured */
};

static void start_system(const micap_leg *leg, micap_system *system)
{
    mica_frame *frame = &system->frame;
    frame->dt = system->is_gated && !leg->phase->fixed_seconds ? (float)system->seconds_waited : leg->dt;
    frame->alpha = leg->alpha;
    frame->seconds = leg->seconds;
    frame->tick = leg->phase->tick;
    system->seconds_waited = 0;
}

static bool has_something_to_do(const micap_chain *chain)
{
    if (!chain->piece_count)
        return false;
    if (!chain->leg->has_inactive)
        return true;
    for (uint32_t i = 0; i < chain->system_count; ++i)
        if (chain->systems[i]->is_active)
            return true;
    return false;
}

static void start_systems(const micap_chain *chain)
{
    for (uint32_t i = 0; i < chain->system_count; ++i)
        if (chain->systems[i]->is_active)
            start_system(chain->leg, chain->systems[i]);
}

static void end_systems(const micap_chain *chain)
{
    for (uint32_t i = 0; i < chain->system_count; ++i)
        if (chain->systems[i]->is_active && chain->systems[i]->is_marked)
            chain->systems[i]->last_version =
                chain->leg->base + 1 + chain->systems[i]->order - chain->leg->systems[0]->order;
}

/* The usual small system: its view was prepared with the plan. Leaves this thread with the system's task. */
static inline void run_ready(const micap_leg *leg, micap_chain *chain)
{
    const micap_system *system = chain->ready_task.system;
    mica_view *view = &chain->ready_view;
    micap_here *here = &chain->ready_task.here;
    here->version = view->private_.version = leg->base + 1 + chain->order;
    here->commands = NULL;
    here->defers = 0;
    view->dt = system->frame.dt;
    micap_here_now = here;
    system->view(view);
}

/* The same for one that need not be asked anything. */
static inline void run_plain(const micap_leg *leg, micap_chain *chain)
{
    mica_frame *frame = &chain->ready_task.system->frame;
    frame->dt = leg->dt;
    frame->alpha = leg->alpha;
    frame->seconds = leg->seconds;
    frame->tick = leg->phase->tick;
    run_ready(leg, chain);
}

static void tell_system_ran(const micap_leg *leg, const micap_system *system)
{
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i) {
        const struct micap_listener *listener = &leg->flow->listeners[i];
        if (listener->ops && listener->ops->system_ran)
            listener->ops->system_ran(leg->world, listener->state, system);
    }
}

/* Each over all rows before the next: the outcome of a chain is the same either way. */
static void run_one_by_one(const micap_leg *leg, micap_chain *chain)
{
    bool was_active[MICAP_CHAIN_SYSTEMS] = {false};
    for (uint32_t i = 0; i < chain->system_count; ++i) {
        was_active[i] = chain->systems[i]->is_active;
        chain->systems[i]->is_active = false;
    }
    for (uint32_t i = 0; i < chain->system_count; ++i) {
        if (!was_active[i])
            continue;
        chain->systems[i]->is_active = true;
        for (uint32_t piece = 0; piece < chain->piece_count; ++piece)
            micap_chain_run_piece(chain, piece, 0);
        chain->systems[i]->is_active = false;
        tell_system_ran(leg, chain->systems[i]);
    }
    for (uint32_t i = 0; i < chain->system_count; ++i)
        chain->systems[i]->is_active = was_active[i];
}

static void run_here(const micap_leg *leg, micap_chain *chain)
{
    start_systems(chain);
    chain->ready_view.private_.since = chain->systems[0]->last_version;
    if (MICAP_UNLIKELY(leg->flow->is_one_by_one))
        run_one_by_one(leg, chain);
    else if (chain->is_ready && !leg->flow->has_probe)
        run_ready(leg, chain);
    else
        for (uint32_t i = 0; i < chain->piece_count; ++i)
            micap_chain_run_piece(chain, i, 0);
    end_systems(chain);
}

/* What a run is likely to cost: decides who runs it, never what it does. */
static uint64_t cost_of(const micap_chain *chain)
{
    if (!chain->is_measured)
        return chain->row_count * ROW_NS * chain->system_count;
    return chain->cost_rows ? chain->cost_ns * chain->row_count / chain->cost_rows : chain->cost_ns;
}

static void note_cost(micap_chain *chain, uint64_t ns)
{
    chain->cost_ns = chain->is_measured ? (cost_of(chain) + ns) / 2 : ns;
    chain->cost_rows = chain->row_count;
    chain->is_measured = true;
}

static void run_alone(const micap_leg *leg)
{
    bool is_plain = !leg->is_measured && !leg->has_inactive && !leg->flow->has_probe && !leg->flow->is_one_by_one;
    micap_here *before = micap_here_now; /* a system of another world, maybe */
    for (uint32_t i = 0; i < leg->chain_count; ++i) {
        micap_chain *chain = &leg->chains[leg->run_order[i]];
        if (chain->is_plain && is_plain) {
            run_plain(leg, chain);
            continue;
        }
        if (!has_something_to_do(chain))
            continue;
        if (MICAP_LIKELY(!leg->is_measured)) {
            run_here(leg, chain);
            continue;
        }
        uint64_t begin = micap_clock_ns();
        run_here(leg, chain);
        note_cost(chain, micap_clock_ns() - begin);
    }
    micap_here_now = before;
}

static void start_chain(micap_chain *chain, uint32_t worker);

/* Lets those start that waited for this chain only. */
static void finish_chain(micap_chain *chain, uint32_t worker)
{
    micap_leg *leg = chain->leg;
    for (uint32_t i = 0; i < chain->successor_count; ++i) {
        micap_chain *next = &leg->chains[leg->successors[chain->first_successor + i]];
        if (atomic_fetch_sub(&next->waiting_for, 1) == 1)
            start_chain(next, worker);
    }
    atomic_fetch_sub(&leg->chains_left, 1); /* last: the leg may be over */
}

static void on_done(micap_work *work, uint32_t worker)
{
    micap_chain *chain = work->data;
    end_systems(chain);
    if (chain->leg->is_measured)
        note_cost(chain, atomic_load_explicit(&chain->measured_ns, memory_order_relaxed));
    finish_chain(chain, worker);
}

static void run_job(void *data, uint32_t job, uint32_t worker)
{
    micap_chain *chain = data;
    uint64_t begin = chain->leg->is_measured ? micap_clock_ns() : 0;
    if (chain->job_count > 1)
        micap_chain_run_piece(chain, job, worker);
    else
        for (uint32_t i = 0; i < chain->piece_count; ++i)
            micap_chain_run_piece(chain, i, worker);
    if (chain->leg->is_measured)
        atomic_fetch_add_explicit(&chain->measured_ns, micap_clock_ns() - begin, memory_order_relaxed);
}

static bool is_worth_splitting(const micap_chain *chain)
{
    const micap_system *first = chain->systems[0];
    if (first->is_single)
        return false;
    switch (first->def.parallel) {
    case MICA_PARALLEL_EVEN:
    case MICA_PARALLEL_EVERY: return true;
    case MICA_PARALLEL_THRESHOLD: return chain->row_count >= first->def.parallel_rows;
    default: return cost_of(chain) >= SPLIT_NS;
    }
}

static void start_chain(micap_chain *chain, uint32_t worker)
{
    if (!has_something_to_do(chain)) {
        finish_chain(chain, worker);
        return;
    }
    start_systems(chain);
    chain->job_count = is_worth_splitting(chain) ? chain->piece_count : 1;
    atomic_store_explicit(&chain->measured_ns, 0, memory_order_relaxed);
    chain->work.fn = run_job;
    chain->work.data = chain;
    chain->work.level = chain->level;
    chain->work.done = on_done;
    atomic_store_explicit(&chain->work.left, chain->job_count, memory_order_relaxed);
    micap_crew_offer(chain->leg->flow->crew, worker, &chain->work, chain->job_count);
}

static void run_with_crew(micap_leg *leg)
{
    atomic_store_explicit(&leg->chains_left, leg->chain_count, memory_order_relaxed);
    for (uint32_t i = 0; i < leg->chain_count; ++i)
        atomic_store_explicit(&leg->chains[i].waiting_for, leg->chains[i].predecessor_count, memory_order_relaxed);
    for (uint32_t i = leg->chain_count; i-- > 0;) { /* the owner takes what it put in last */
        micap_chain *chain = &leg->chains[leg->run_order[i]];
        if (!chain->predecessor_count)
            start_chain(chain, 0);
    }
    micap_crew_work_until(leg->flow->crew, 0, &leg->chains_left);
    micap_crew_dismiss(leg->flow->crew);
}

static bool is_worth_a_crew(const micap_leg *leg)
{
    if (leg->flow->crew->worker_count == 1 || leg->flow->is_one_by_one)
        return false;
    uint64_t cost = 0;
    for (uint32_t i = 0; i < leg->chain_count; ++i) {
        const micap_chain *chain = &leg->chains[i];
        if (!chain->piece_count)
            continue;
        mica_parallel parallel = chain->systems[0]->def.parallel;
        cost += cost_of(chain);
        if (cost >= CREW_NS || parallel == MICA_PARALLEL_EVEN || parallel == MICA_PARALLEL_EVERY)
            return true;
    }
    return false;
}

static bool begin_listeners(micap_leg *leg)
{
    const micap_flow *flow = leg->flow;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (flow->listeners[i].ops && flow->listeners[i].ops->phase_begin &&
            !flow->listeners[i].ops->phase_begin(leg->world, flow->listeners[i].state))
            return false;
    return true;
}

static void end_listeners(micap_leg *leg)
{
    const micap_flow *flow = leg->flow;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i)
        if (flow->listeners[i].ops && flow->listeners[i].ops->phase_end)
            flow->listeners[i].ops->phase_end(leg->world, flow->listeners[i].state);
}

/* Applies what is recorded, and notes whether some of it must be tried again. */
static mica_result flush(const micap_leg *leg)
{
    mica_result result = mica_flush(leg->world);
    if (leg->world->first_commands->next)
        micap_commands_fall_out(leg->world);
    leg->flow->has_leftovers = result == MICA_ERROR_MEMORY || result == MICA_ERROR_REFUSED;
    return result;
}

/* A mica_defer that the system leaves open ends with it. */
static mica_result run_exclusive(micap_leg *leg)
{
    micap_system *system = leg->exclusive;
    if (!system->is_active)
        return MICA_OK;
    start_system(leg, system);
    system->once(&system->frame);
    if (leg->flow->is_one_by_one)
        tell_system_ran(leg, system);
    if (!leg->world->recording_depth)
        return MICA_OK;
    leg->world->recording_depth = 1;
    return flush(leg);
}

/* What an earlier flush could not apply comes first: systems must not record on top of it. */
static mica_result retry_flush(const micap_leg *leg)
{
    return leg->flow->has_leftovers ? flush(leg) : MICA_OK;
}

mica_result micap_leg_run(micap_leg *leg)
{
    mica_world *world = leg->world;
    leg->has_run = false;
    if (leg->exclusive)
        return run_exclusive(leg);
    mica_result result = retry_flush(leg);
    if (result == MICA_OK)
        result = micap_leg_plan(leg);
    if (result != MICA_OK)
        return result;
    micap_check_stages(world);
    if (!micap_entities_set_lanes(world, world->entities.lane_count + leg->lane_count))
        return micap_fail_memory(world, "lanes of systems");
    leg->flow->running = leg;
    atomic_store_explicit(&leg->recorded, false, memory_order_relaxed);
    if (!begin_listeners(leg)) {
        leg->flow->running = NULL;
        micap_entities_set_lanes(world, world->entities.lane_count - leg->lane_count);
        return MICA_ERROR_MEMORY;
    }
    leg->has_run = true;
    mica_defer(world);
    leg->is_measured = leg->phase->tick % MEASURE_EVERY == 0;
    /* Each system stamps a version of its own, as if they ran one after the other; what is written past their views counts as
     * written last. */
    leg->base = micap_version(world);
    atomic_store_explicit(&world->version, leg->base + leg->system_count + 1, memory_order_relaxed);
    if (is_worth_a_crew(leg))
        run_with_crew(leg);
    else
        run_alone(leg);
    atomic_store_explicit(&world->version, leg->base + leg->system_count + 2, memory_order_relaxed);
    end_listeners(leg);
    leg->flow->running = NULL;
    return micap_leg_flush(leg);
}

/* The buffers that were used, in the order of systems and slots. */
static void line_up(micap_leg *leg)
{
    for (uint32_t i = 0; i < leg->system_count; ++i) {
        micap_system *system = leg->systems[i];
        if (!atomic_exchange_explicit(&system->recorded, false, memory_order_relaxed))
            continue;
        for (uint32_t slot = 0; slot < system->lane_count; ++slot) {
            mica_commands *commands = system->buffers[slot];
            if (commands && !commands->is_parked)
                micap_commands_park(commands);
            if (commands && !micap_recording_is_empty(&commands->recording))
                micap_commands_line_up(commands);
        }
    }
}

/* Letters are brought, events told; the first failure is returned. */
static mica_result tell_flushed(const micap_leg *leg, mica_result result)
{
    const micap_flow *flow = leg->flow;
    for (uint32_t i = 0; i < MICAP_LISTENERS; ++i) {
        if (!flow->listeners[i].ops || !flow->listeners[i].ops->flushed)
            continue;
        mica_result told = flow->listeners[i].ops->flushed(leg->world, flow->listeners[i].state);
        result = result == MICA_OK ? told : result;
    }
    return result;
}

mica_result micap_leg_flush(micap_leg *leg)
{
    mica_world *world = leg->world;
    micap_entities_set_lanes(world, world->entities.lane_count - leg->lane_count);
    bool recorded = atomic_load_explicit(&leg->recorded, memory_order_relaxed);
    if (recorded)
        line_up(leg);
    uint64_t begin = leg->flow->has_probe ? micap_clock_ns() : 0;
    mica_result result = flush(leg);
    for (uint32_t i = 0; leg->flow->has_probe && i < MICAP_LISTENERS; ++i)
        if (leg->flow->listeners[i].ops && leg->flow->listeners[i].ops->ran)
            leg->flow->listeners[i].ops->ran(world, leg->flow->listeners[i].state,
                                             &(micap_piece){.begin_ns = begin, .end_ns = micap_clock_ns()});
    return leg->flow->has_leftovers || leg->phase->id == MICAP_PHASE_MESSAGES ? result : tell_flushed(leg, result);
}

mica_commands *mica_view_commands(const mica_view *view)
{
    return view->frame ? mica_frame_commands(view->frame) : NULL;
}

mica_commands *mica_frame_commands(const mica_frame *frame)
{
    if (!frame || !micap_here_of(frame->world))
        return NULL;
    mica_commands *commands = micap_recorder(frame->world);
    return commands->refusing ? NULL : commands;
}
