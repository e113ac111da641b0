#include "flow/schedule/phase_run.h"

#include "base/call_location.h"
#include "core/commands/command_buffer.h"
#include "core/world/access_check.h"
#include "core/storage/range_check.h"
#include "core/world/report.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/index_use.h"
#include "flow/schedule/job_plan.h"
#include "flow/schedule/system.h"
#include "os/clock.h"

#include <stdio.h>

enum {
    PARALLEL_NS = 30000, /* a segment that takes less is not worth waking workers */
    SPLIT_NS = 15000,    /* a chain that takes less is not worth splitting */
    MEASURE_EVERY = 64,  /* runs: reading the clock costs as much as a small system */
    ROW_NS = 2,          /* an estimate, until the chain is measured */
};

static void start_system(const micap_segment *segment, micap_system *system)
{
    mica_frame *frame = &system->frame;
    frame->dt = system->is_gated && !segment->phase->fixed_seconds ? (float)system->seconds_waited : segment->dt;
    frame->alpha = segment->alpha;
    frame->seconds = segment->seconds;
    frame->tick = segment->tick;
    if (system->is_gated)
        system->seconds_waited = 0;
}

static bool has_jobs(const micap_chain *chain)
{
    if (!chain->job_count)
        return false;
    if (!chain->segment->has_inactive)
        return true;
    for (uint32_t i = 0; i < chain->system_count; ++i)
        if (chain->systems[i]->is_active)
            return true;
    return false;
}

/* The version that a system of a running segment stamps. */
static mica_version version_of(const micap_segment *segment, const micap_system *system)
{
    return segment->base + 1 + system->order - segment->systems[0]->order;
}

static void start_systems(const micap_chain *chain)
{
    for (uint32_t i = 0; i < chain->system_count; ++i) {
        const micap_system *system = chain->systems[i];
        if (!system->is_active)
            continue;
        start_system(chain->segment, chain->systems[i]);
        if (MICAP_UNLIKELY(system->uses_indexes))
            micap_index_uses_update(system, version_of(chain->segment, system) - 1);
    }
}

static void end_systems(const micap_chain *chain)
{
    for (uint32_t i = 0; i < chain->system_count; ++i) {
        micap_system *system = chain->systems[i];
        if (system->is_active && system->is_marked)
            system->last_version = version_of(chain->segment, system);
    }
}

/* Runs each system over all rows before the next. The outcome is the same as that of the chain. */
static void run_one_by_one(const micap_segment *segment, micap_chain *chain)
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
        micap_jobs_run(chain, 0, chain->job_count, 0);
        chain->systems[i]->is_active = false;
        micap_listeners_system_ended(segment->flow, chain->systems[i]);
    }
    for (uint32_t i = 0; i < chain->system_count; ++i)
        chain->systems[i]->is_active = was_active[i];
}

static void run_chain(const micap_segment *segment, micap_chain *chain)
{
    start_systems(chain);
    if (MICAP_UNLIKELY(segment->flow->is_one_by_one))
        run_one_by_one(segment, chain);
    else
        micap_jobs_run(chain, 0, chain->job_count, 0);
    end_systems(chain);
}

/* Returns what a run is likely to cost. This decides which workers run it, never what it does. */
static uint64_t cost_of(const micap_chain *chain)
{
    if (!chain->is_measured)
        return chain->row_count * ROW_NS * chain->system_count;
    return chain->cost_rows ? chain->cost_ns * chain->row_count / chain->cost_rows : chain->cost_ns;
}

static void store_cost(micap_chain *chain, uint64_t ns)
{
    chain->cost_ns = chain->is_measured ? (cost_of(chain) + ns) / 2 : ns;
    chain->cost_rows = chain->row_count;
    chain->is_measured = true;
}

/* Runs what has rows in this thread. */
static void run_steps(const micap_segment *segment)
{
    const micap_run_step *end = segment->steps + segment->step_count;
    for (const micap_run_step *step = segment->steps; step != end; ++step)
        if (!step->chain)
            micap_prepared_runs_run(segment, step->prepared, step->end);
        else if (has_jobs(step->chain))
            run_chain(segment, step->chain);
}

/* The same chain by chain, while something measures or watches. */
static void run_chains(const micap_segment *segment)
{
    for (uint32_t i = 0; i < segment->chain_count; ++i) {
        micap_chain *chain = &segment->chains[segment->run_order[i]];
        if (!has_jobs(chain))
            continue;
        uint64_t begin = segment->is_measured ? micap_clock_ns() : 0;
        run_chain(segment, chain);
        if (segment->is_measured)
            store_cost(chain, micap_clock_ns() - begin);
    }
}

/* Runs all chains in this thread. */
static void run_alone(const micap_segment *segment)
{
    micap_thread_context *before = micap_this_thread; /* perhaps that of a system of another world */
    mica_location location = micap_noted_place();
    if (segment->is_measured || segment->flow->has_probe || segment->flow->is_one_by_one)
        run_chains(segment);
    else
        run_steps(segment);
    micap_this_thread = before;
    micap_note_again(location);
}

static void start_chain(micap_chain *chain, uint32_t worker);

/* Starts the chains that waited only for this one. */
static void finish_chain(micap_chain *chain, uint32_t worker)
{
    micap_segment *segment = chain->segment;
    for (uint32_t i = 0; i < chain->successor_count; ++i) {
        micap_chain *next = &segment->chains[segment->successors[chain->first_successor + i]];
        if (atomic_fetch_sub(&next->waiting_for, 1) == 1)
            start_chain(next, worker);
    }
    atomic_fetch_sub(&segment->chains_left, 1); /* last: this may end the segment */
}

static void end_batch(micap_job_batch *batch, uint32_t worker)
{
    micap_chain *chain = batch->data;
    end_systems(chain);
    if (chain->segment->is_measured)
        store_cost(chain, atomic_load_explicit(&chain->measured_ns, memory_order_relaxed));
    finish_chain(chain, worker);
}

/* Runs one job of a chain that is split, or else all of them. */
static void run_jobs(void *data, uint32_t job, uint32_t worker)
{
    micap_chain *chain = data;
    uint64_t begin = chain->segment->is_measured ? micap_clock_ns() : 0;
    if (chain->is_split)
        micap_jobs_run(chain, job, job + 1, worker);
    else
        micap_jobs_run(chain, 0, chain->job_count, worker);
    if (chain->segment->is_measured)
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
    if (!has_jobs(chain)) {
        finish_chain(chain, worker);
        return;
    }
    start_systems(chain);
    chain->is_split = is_worth_splitting(chain);
    uint32_t count = chain->is_split ? chain->job_count : 1;
    atomic_store_explicit(&chain->measured_ns, 0, memory_order_relaxed);
    chain->batch.fn = run_jobs;
    chain->batch.data = chain;
    chain->batch.priority = chain->priority;
    chain->batch.done = end_batch;
    atomic_store_explicit(&chain->batch.left, count, memory_order_relaxed);
    micap_worker_pool_submit(chain->segment->flow->worker_pool, worker, &chain->batch, count);
}

static void run_parallel(micap_segment *segment)
{
    atomic_store_explicit(&segment->chains_left, segment->chain_count, memory_order_relaxed);
    for (uint32_t i = 0; i < segment->chain_count; ++i)
        atomic_store_explicit(&segment->chains[i].waiting_for, segment->chains[i].predecessor_count,
                              memory_order_relaxed);
    for (uint32_t i = segment->chain_count; i-- > 0;) { /* the owner takes first what it submitted last */
        micap_chain *chain = &segment->chains[segment->run_order[i]];
        if (!chain->predecessor_count)
            start_chain(chain, 0);
    }
    micap_worker_pool_work_until(segment->flow->worker_pool, 0, &segment->chains_left);
    micap_worker_pool_join_helpers(segment->flow->worker_pool);
}

/* Adds up what the chains are likely to cost. */
static void estimate_cost(micap_segment *segment)
{
    segment->cost_ns = 0;
    segment->is_split_asked = false;
    for (uint32_t i = 0; i < segment->chain_count; ++i) {
        const micap_chain *chain = &segment->chains[i];
        if (!chain->job_count)
            continue;
        mica_parallel parallel = chain->systems[0]->def.parallel;
        segment->cost_ns += cost_of(chain);
        segment->is_split_asked |= parallel == MICA_PARALLEL_EVEN || parallel == MICA_PARALLEL_EVERY;
    }
    segment->is_cost_known = true;
}

static bool is_worth_running_parallel(micap_segment *segment)
{
    if (segment->flow->worker_pool->worker_count == 1 || segment->flow->is_one_by_one)
        return false;
    if (!segment->is_cost_known)
        estimate_cost(segment);
    return segment->is_split_asked || segment->cost_ns >= PARALLEL_NS;
}

/* Applies what is recorded, and remembers whether the flush must be repeated. */
static mica_result flush(const micap_segment *segment)
{
    mica_result result = mica_flush(segment->world);
    if (segment->world->first_commands->next)
        micap_commands_fall_out(segment->world);
    segment->flow->has_leftovers = result == MICA_ERROR_MEMORY || result == MICA_ERROR_REFUSED;
    return result;
}

/* Compares what systems wrote in place with the ranges of fields. The version of a slice says which of them was the last to write to it, unless
 * it was not through a view. */
static void check_ranges(const micap_segment *segment, mica_version since)
{
    micap_range_fault fault;
    char what[100] = "after systems";
    if (micap_ranges_hold(segment->world, since, &fault))
        return;
    const micap_system *system = segment->exclusive;
    if (!system && fault.version > since && fault.version - since <= segment->system_count)
        system = segment->systems[fault.version - since - 1];
    if (system)
        snprintf(what, sizeof what, "after system %.80s", system->def.name);
    micap_range_fail(segment->world, what, &fault);
}

/* A mica_defer that the system leaves open ends with it. */
static mica_result run_exclusive(micap_segment *segment)
{
    micap_system *system = segment->exclusive;
    if (!system->is_active)
        return MICA_OK;
    mica_version since = segment->world->def.check_ranges ? mica_world_mark(segment->world) : 0;
    start_system(segment, system);
    if (system->uses_indexes)
        micap_index_uses_update(system, mica_world_mark(segment->world));
    micap_exclusive_begin(segment->world, system->def.name, system->def.location);
    system->once(&system->frame);
    micap_exclusive_end();
    if (segment->world->def.check_ranges)
        check_ranges(segment, since);
    if (segment->flow->is_one_by_one)
        micap_listeners_system_ended(segment->flow, system);
    if (!segment->world->recording_depth)
        return MICA_OK;
    segment->world->recording_depth = 1;
    return flush(segment);
}

/* Applies first what an earlier flush could not apply: systems must not record on top of it. */
static mica_result retry_flush(const micap_segment *segment)
{
    return segment->flow->has_leftovers ? flush(segment) : MICA_OK;
}

/* Puts the buffers that were used in line for the flush, in the order of systems and jobs. */
static void line_up_buffers(micap_segment *segment)
{
    for (uint32_t i = 0; i < segment->system_count; ++i) {
        micap_system *system = segment->systems[i];
        if (!atomic_exchange_explicit(&system->recorded, false, memory_order_relaxed))
            continue;
        for (uint32_t j = 0; j < system->sequence_count; ++j) {
            mica_commands *commands = system->buffers[j];
            if (commands && !commands->is_parked)
                micap_commands_park(commands);
            if (commands && !micap_recording_is_empty(&commands->recording))
                micap_commands_line_up(commands);
        }
    }
}

/* Applies what the systems recorded, then delivers messages and events. */
static mica_result end_segment(micap_segment *segment)
{
    mica_world *world = segment->world;
    const micap_flow *flow = segment->flow;
    micap_entities_set_lanes(world, world->entities.lane_count - segment->sequence_count);
    if (atomic_load_explicit(&segment->recorded, memory_order_relaxed))
        line_up_buffers(segment);
    uint64_t begin = flow->has_probe ? micap_clock_ns() : 0;
    mica_result result = flush(segment);
    if (flow->has_probe)
        micap_listeners_job_ended(flow, &(micap_job_report){.begin_ns = begin, .end_ns = micap_clock_ns()});
    if (flow->has_leftovers || segment->phase->id == MICAP_PHASE_MESSAGES)
        return result;
    mica_result delivered = micap_listeners_flushed(flow);
    return result == MICA_OK ? delivered : result;
}

mica_result micap_segment_run(micap_segment *segment)
{
    mica_world *world = segment->world;
    segment->has_run = false;
    if (segment->exclusive)
        return run_exclusive(segment);
    mica_result result = retry_flush(segment);
    if (result == MICA_OK)
        result = micap_job_plan_segment(segment);
    if (result != MICA_OK)
        return result;
    micap_check_stages(world);
    if (!micap_entities_set_lanes(world, world->entities.lane_count + segment->sequence_count))
        return micap_fail_memory(world, "entities of systems");
    segment->flow->running = segment;
    atomic_store_explicit(&segment->recorded, false, memory_order_relaxed);
    if (!micap_listeners_phase_begin(segment->flow)) {
        segment->flow->running = NULL;
        micap_entities_set_lanes(world, world->entities.lane_count - segment->sequence_count);
        return MICA_ERROR_MEMORY;
    }
    segment->has_run = true;
    mica_defer(world);
    segment->is_measured = segment->phase->tick % MEASURE_EVERY == 0;
    /* Each system stamps a version of its own, as if they ran one after the other. What is written, but not through a view,
     * counts as written last. */
    segment->base = micap_version(world);
    atomic_store_explicit(&world->version, segment->base + segment->system_count + 1, memory_order_relaxed);
    if (is_worth_running_parallel(segment))
        run_parallel(segment);
    else
        run_alone(segment);
    segment->is_cost_known &= !segment->is_measured;
    if (world->def.check_ranges)
        check_ranges(segment, segment->base);
    atomic_store_explicit(&world->version, segment->base + segment->system_count + 2, memory_order_relaxed);
    micap_listeners_phase_end(segment->flow);
    segment->flow->running = NULL;
    return end_segment(segment);
}
