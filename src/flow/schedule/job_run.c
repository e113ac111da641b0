#include "flow/schedule/job_run.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/call_location.h"
#include "base/probe.h"
#include "core/commands/command_buffer.h"
#include "core/query/pattern_view.h"
#include "core/query/query_chunks.h"
#include "core/query/query_filter.h"
#include "core/query/query_join.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "flow/schedule/declared_access.h"
#include "flow/schedule/delivery.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"
#include "os/clock.h"

/* Of systems that share a job, one slice in so many is timed. Reading the clock stops the processor from loading the next slice meanwhile: with two reads for
 * each slice, measuring a world of a million entities took 15% of a frame. */
enum { TIMED_SLICES = 8 };

/* One system of the chain while the job runs. */
typedef struct system_run {
    micap_running_job job; /* first */
    mica_view view;
    uint64_t rows;
    uint64_t timed_ns;
    uint32_t timed_rows;
    uint32_t slices;
    uint32_t changes_before; /* in its command buffer */
    bool shares_job;
    bool is_plain; /* all rows of a chunk that matches pass, the chunks are listed, and nothing watches */
} system_run;

uint32_t micap_sequence_count(const mica_world *world)
{
    return micap_flow_get(world)->running->sequence_count;
}

bool micap_is_running(const mica_world *world)
{
    const micap_flow *flow = micap_flow_get(world);
    return flow && flow->running;
}

mica_commands *micap_running_job_open_buffer(micap_thread_context *here)
{
    const micap_running_job *job = (const micap_running_job *)(const void *)here;
    micap_system *system = job->system;
    mica_world *world = here->world;
    const micap_flow *flow = micap_flow_get(world);
    if (job->sequence == MICAP_SEQUENCE_NONE) {
        micap_check_door(world, "for a change inside a parallel for");
        micap_fail(world, MICA_ERROR_REFUSED, system->def.location,
                   "system %s: changes can't be recorded inside a parallel for, because they would have no order",
                   system->def.name);
        return NULL;
    }
    mica_commands *commands = system->buffers[job->buffer_index];
    if (!commands) {
        commands = micap_system_buffer_create(world);
        if (!commands) {
            micap_fail_memory(world, "command");
            return NULL;
        }
        system->buffers[job->buffer_index] = commands;
    }
    commands->label = system->def.name;
    commands->lane = world->entities.lane_count - flow->running->sequence_count + job->sequence;
    atomic_store_explicit(&system->recorded, true, memory_order_relaxed);
    atomic_store_explicit(&flow->running->recorded, true, memory_order_relaxed);
    return commands;
}

mica_commands *mica_view_commands(const mica_view *view)
{
    if (MICAP_MISSING(NULL, view))
        return NULL;
    return view->frame ? mica_frame_commands(view->frame) : NULL;
}

mica_commands *mica_frame_commands(const mica_frame *frame)
{
    if (MICAP_MISSING(NULL, frame))
        return NULL;
    if (!frame || !micap_thread_context_of(frame->world))
        return NULL;
    mica_commands *commands = micap_recorder(frame->world);
    return commands->refusing ? NULL : commands;
}

static bool is_singleton_term(const mica_view *view, uint32_t term)
{
    return micap_type_of(view->private_.query->terms[term].component)->type.storage == MICA_STORAGE_SINGLETON;
}

static MICAP_NOINLINE void call_each(const micap_system *system, mica_view *view)
{
    const mica_query *query = view->private_.query;
    void *columns[MICA_TERMS_MAX];
    uint32_t steps[MICA_TERMS_MAX];
    micap_view_fill_columns(view, columns);
    for (uint32_t i = 0; i < query->term_count; ++i)
        steps[i] = columns[i] && !is_singleton_term(view, i) ? query->term_bytes[i] : 0;
    for (uint32_t row = 0; row < view->count; ++row) {
        system->each(view->entities[row], columns, system->def.context);
        for (uint32_t i = 0; i < query->term_count; ++i)
            columns[i] = columns[i] ? (char *)columns[i] + steps[i] : NULL;
    }
}

static MICAP_NOINLINE void fill_and_call_columns(const micap_system *system, mica_view *view)
{
    void *columns[MICA_TERMS_MAX];
    micap_view_fill_columns(view, columns);
    system->columns(view->count, columns);
}

/* Each way is a call at the end: a small system must not pay for an array that it does not need. */
static void call_columns(const micap_system *system, mica_view *view)
{
    if (micap_view_stamp_columns(view))
        system->columns(view->count, view->private_.columns);
    else
        fill_and_call_columns(system, view);
}

void micap_system_call(const micap_system *system, mica_view *view)
{
    if (system->view)
        system->view(view);
    else if (system->columns)
        call_columns(system, view);
    else
        call_each(system, view);
}

static MICAP_NOINLINE void call_measured(system_run *run)
{
    bool is_timed = run->shares_job && run->slices % TIMED_SLICES == 0;
    uint64_t begin = is_timed ? micap_clock_ns() : 0;
    micap_system_call(run->job.system, &run->view);
    run->timed_ns += is_timed ? micap_clock_ns() - begin : 0;
    run->timed_rows += is_timed ? run->view.count : 0;
    run->rows += run->view.count;
    ++run->slices;
}

/* Calls the system with its view. */
static void call_system(const micap_segment *segment, system_run *run)
{
    micap_this_thread = &run->job.here;
    micap_declared_access_show(&run->job, &run->view);
    if (MICAP_UNLIKELY(segment->flow->has_probe))
        call_measured(run);
    else
        micap_system_call(run->job.system, &run->view);
}

/* Runs a system over rows [row, end) of a chunk, or over those that pass its filters. */
static void run_chunk_rows(const micap_segment *segment, system_run *run, micap_chunk *chunk, uint32_t row,
                           uint32_t end, uint64_t base)
{
    mica_query *query = run->job.system->query;
    uint64_t slice = (uint64_t)chunk->archetype->id << 32;
    if (query->join_count) {
        while (micap_join_next_rows(&run->view, query, chunk, &row, end)) {
            run->view.slice = slice + base + row - run->view.count;
            call_system(segment, run);
        }
        return;
    }
    if (!query->filter_count) {
        run->view.slice = slice + base + row;
        micap_view_show(&run->view, query, chunk, row, end - row);
        call_system(segment, run);
        return;
    }
    for (uint32_t count; (count = micap_query_next_run(query, chunk, &row, end, run->view.private_.since));
         row += count) {
        run->view.slice = slice + base + row;
        micap_view_show(&run->view, query, chunk, row, count);
        call_system(segment, run);
    }
}

/* The fast path of the function above, for all rows of a chunk. Calls the system at its end, so that many small chunks cost little. */
static MICAP_NOINLINE void run_whole_chunk(system_run *run, micap_chunk *chunk, uint32_t match)
{
    mica_view *view = &run->view;
    const mica_query *query = view->private_.query;
    uint32_t count = chunk->count;
    view->private_.row = 0;
    view->private_.ready_count = query->ready_count;
    micap_view_show_listed(view, query, micap_listed_chunk_of(&query->chunk_list, match, chunk), count);
    micap_this_thread = &run->job.here;
    micap_declared_access_show(&run->job, view);
    micap_system_call(run->job.system, view);
}

/* Runs a system over rows [begin, end) of the pool that it visits. */
static void run_pool_rows(const micap_chain *chain, system_run *run, uint32_t begin, uint32_t end)
{
    mica_view *view = &run->view;
    view->private_.driver = chain->driver;
    view->private_.walk = chain->driver_walk;
    micap_join_restart(view, begin, end);
    while (micap_join_next(view, run->job.system->query)) {
        view->slice = ((uint64_t)chain->driver->type->id << 32) + view->private_.cursor - view->count;
        call_system(chain->segment, run);
    }
}

/* Returns the index of an archetype in the list of a chain, which contains it. */
static uint32_t entry_of(const micap_chain *chain, const micap_archetype *archetype)
{
    uint32_t low = 0;
    for (uint32_t end = chain->archetype_count; end - low > 1;) {
        uint32_t middle = low + (end - low) / 2;
        if (chain->archetypes[middle]->id <= archetype->id)
            low = middle;
        else
            end = middle;
    }
    return low;
}

/* Hands a message to rows of a chunk, or, if that is NULL, of the pool that the system visits. */
static void run_delivery_rows(const micap_chain *chain, system_run *run, const micap_delivery *delivery,
                              micap_chunk *chunk, uint32_t row, uint32_t end, uint64_t base)
{
    run->job.delivery = delivery;
    if (!chunk) {
        run_pool_rows(chain, run, row, end);
        return;
    }
    run->view.private_.match = entry_of(chain, chunk->archetype);
    run_chunk_rows(chain->segment, run, chunk, row, end, base);
}

static void run_delivery(const micap_chain *chain, system_run *run, const micap_delivery *delivery)
{
    run_delivery_rows(chain, run, delivery, delivery->chunk, delivery->row, delivery->row + 1, 0);
}

/* Hands all messages, broadcasts included, to a block of rows in the order they were sent. `chunk` is NULL for rows of a
 * pool. */
static void run_delivery_block(const micap_chain *chain, system_run *run, micap_chunk *chunk, uint32_t row,
                               uint32_t end, uint64_t base)
{
    const micap_delivery_list *list = run->job.system->deliveries;
    uint64_t block = micap_delivery_block(chunk, row);
    uint32_t next = micap_delivery_find(list, block);
    for (uint32_t i = 0; i < list->broadcast_count; ++i) {
        const micap_delivery *broadcast = &list->broadcasts[i];
        for (; next < list->count && list->deliveries[next].block == block &&
               list->deliveries[next].number < broadcast->number;
             ++next)
            run_delivery(chain, run, &list->deliveries[next]);
        run_delivery_rows(chain, run, broadcast, chunk, row, end, base);
    }
    for (; next < list->count && list->deliveries[next].block == block; ++next)
        run_delivery(chain, run, &list->deliveries[next]);
}

static void run_deliveries(const micap_chain *chain, uint32_t job, system_run *run)
{
    const micap_delivery_list *list = run->job.system->deliveries;
    for (uint32_t i = chain->starts[job].row; i < chain->starts[job + 1].row; ++i)
        run_delivery(chain, run, &list->deliveries[i]);
}

/* Runs all systems of the chain that match an archetype over rows that fit one view. */
static void run_view_rows(const micap_chain *chain, system_run *runs, uint32_t run_count, const uint32_t *indices,
                          uint32_t entry, micap_chunk *chunk, uint32_t row, uint32_t end, uint64_t base)
{
    uint64_t slice = ((uint64_t)chunk->archetype->id << 32) + base;
    bool is_whole = row == 0 && end == chunk->count;
    const uint32_t *matches = chain->system_count > 1 ? chain->matches + (size_t)entry * chain->system_count : &entry;
    for (uint32_t i = 0; i < run_count; ++i) {
        uint32_t match = matches[indices[i]];
        if (match == MICAP_CHAIN_NO_MATCH)
            continue;
        runs[i].view.private_.match = match;
        runs[i].view.slice = slice;
        if (MICAP_LIKELY(is_whole && runs[i].is_plain))
            run_whole_chunk(&runs[i], chunk, match);
        else if (MICAP_UNLIKELY(runs[i].job.system->deliveries != NULL))
            run_delivery_block(chain, &runs[i], chunk, row, end, base);
        else
            run_chunk_rows(chain->segment, &runs[i], chunk, row, end, base);
    }
}

/* The fast path of run_chunks, for archetypes whose rows all fit one view, from `entry` on. Returns the first that is not one of these, or
 * `stop`. All runs are plain. */
static MICAP_NOINLINE uint32_t run_small_archetypes(const micap_chain *chain, system_run *runs, uint32_t run_count,
                                                    const uint32_t *indices, uint32_t entry, uint32_t stop)
{
    const system_run *end = runs + run_count;
    for (; entry < stop; ++entry) {
        const micap_archetype *archetype = chain->archetypes[entry];
        if (!archetype->row_count)
            continue;
        micap_chunk *chunk = archetype->chunks[0];
        if (chunk->count != archetype->row_count || chunk->count > chain->view_rows)
            return entry;
        const uint32_t *index = indices;
        const uint32_t *matches = chain->matches ? chain->matches + (size_t)entry * chain->system_count : NULL;
        for (system_run *run = runs; run != end; ++run, ++index) {
            uint32_t match = matches ? matches[*index] : entry;
            if (match == MICAP_CHAIN_NO_MATCH)
                continue;
            run->view.private_.match = match;
            run->view.slice = (uint64_t)archetype->id << 32;
            run_whole_chunk(run, chunk, match);
        }
    }
    return stop;
}

static bool are_plain(const system_run *runs, uint32_t count)
{
    bool plain = true;
    for (uint32_t i = 0; i < count; ++i)
        plain &= runs[i].is_plain;
    return plain;
}

/* Runs the systems of a chain slice by slice: all systems over one view of rows, then over the next. */
static void run_chunks(const micap_chain *chain, uint32_t job, system_run *runs, uint32_t run_count,
                       const uint32_t *indices)
{
    micap_job_start at = chain->starts[job];
    const micap_job_start *stop = &chain->starts[job + 1];
    bool is_plain = are_plain(runs, run_count);
    for (; at.entry < chain->archetype_count; ++at.entry, at.chunk_index = 0, at.row = 0, at.base = 0) {
        if (is_plain && !at.chunk_index && !at.row) {
            at.entry = run_small_archetypes(chain, runs, run_count, indices, at.entry, stop->entry);
            if (at.entry == chain->archetype_count)
                return;
        }
        const micap_archetype *archetype = chain->archetypes[at.entry];
        for (; at.base < archetype->row_count; ++at.chunk_index, at.row = 0) {
            micap_chunk *chunk = archetype->chunks[at.chunk_index];
            bool is_last = at.entry == stop->entry && at.chunk_index == stop->chunk_index;
            uint32_t end = is_last ? stop->row : chunk->count;
            for (; at.row < end; at.row += chain->view_rows) {
                uint32_t row_end = end - at.row < chain->view_rows ? end : at.row + chain->view_rows;
                run_view_rows(chain, runs, run_count, indices, at.entry, chunk, at.row, row_end, at.base);
            }
            if (is_last)
                return;
            at.base += chunk->count;
        }
    }
}

static void run_pool(const micap_chain *chain, uint32_t job, system_run *run)
{
    uint32_t begin = chain->starts[job].row, stop = chain->starts[job + 1].row;
    for (; begin < stop; begin += chain->view_rows) {
        uint32_t end = stop - begin < chain->view_rows ? stop : begin + chain->view_rows;
        if (run->job.system->deliveries)
            run_delivery_block(chain, run, NULL, begin, end, 0);
        else
            run_pool_rows(chain, run, begin, end);
    }
}

/* Visits all rows in the order of the query, or those of a part. */
static void run_ordered(const micap_chain *chain, uint32_t job, system_run *run)
{
    const micap_system *system = run->job.system;
    micap_this_thread = &run->job.here;
    run->view = mica_query_begin_since(system->query, system->last_version);
    run->view.frame = &system->frame;
    run->view.dt = system->frame.dt;
    if (chain->is_divided) {
        const micap_job_start *begin = &chain->starts[job], *end = begin + 1;
        micap_pattern_part part = {.begin = {begin->entry, begin->chunk_index, begin->row},
                                   .end = {end->entry, end->chunk_index, end->row},
                                   .keeps_apart = chain->keeps_apart};
        micap_pattern_take_part(&run->view, &part);
        run->view.slice = (uint64_t)job << 32;
    }
    for (; mica_view_next(&run->view); ++run->view.slice)
        call_system(chain->segment, run);
}

static void run_once(system_run *run)
{
    const micap_system *system = run->job.system;
    micap_this_thread = &run->job.here;
    system->once(&system->frame);
}

/* Prepares to run a system over jobs that follow each other. */
static void init_run(const micap_segment *segment, micap_system *system, uint32_t worker, system_run *out)
{
    mica_version version = segment->base + 1 + (system->order - segment->systems[0]->order);
    out->job = (micap_running_job){
        .here = {.world = segment->world, .version = version, .open = micap_running_job_open_buffer},
        .system = system,
        .frame = &system->frame,
        .worker = worker};
    micap_declared_access_begin(&out->job);
    out->is_plain = false;
    if (!system->query)
        return;
    const mica_query *query = system->query;
    out->is_plain = !query->special && !query->has_singletons && !system->deliveries && !segment->flow->has_probe &&
                    query->match_count > 1 && micap_query_chunks_ready(system->query);
    micap_view_init(&out->view, system->query, system->last_version, version);
    out->view.frame = &system->frame;
    out->view.dt = system->frame.dt;
}

/* What differs from job to job: the buffer that the system records into. */
static inline void begin_job(system_run *run, uint32_t buffer_index)
{
    const mica_commands *known = run->job.system->buffers[buffer_index];
    run->job.here.defers = 0;
    run->job.here.commands = NULL;
    run->job.sequence = run->job.system->first_sequence + buffer_index;
    run->job.buffer_index = buffer_index;
    run->changes_before = known ? known->recording.change_count : 0;
}

/* Returns the time. */
static MICAP_NOINLINE uint64_t begin_measuring(system_run *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        runs[i].rows = runs[i].timed_ns = 0;
        runs[i].timed_rows = runs[i].slices = 0;
        runs[i].shares_job = count > 1;
    }
    return micap_clock_ns();
}

/* What a system needed for all its slices, as the timed ones tell. */
static double estimated_ns(const system_run *run)
{
    if (!run->shares_job)
        return 1;
    return run->timed_rows ? (double)run->timed_ns * ((double)run->rows / (double)run->timed_rows) : 0;
}

/* The time of the job is divided by these estimates. */
static MICAP_NOINLINE void report_runs(const micap_flow *flow, const system_run *runs, uint32_t count,
                                       uint64_t begin_ns)
{
    uint64_t job_ns = micap_clock_ns() - begin_ns;
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += estimated_ns(&runs[i]);
    for (uint32_t i = 0; i < count; ++i) {
        const system_run *run = &runs[i];
        uint64_t time_ns = sum > 0 ? (uint64_t)((double)job_ns * (estimated_ns(run) / sum)) : 0;
        const mica_commands *commands = run->job.here.commands;
        micap_job_report report = {.system = run->job.system,
                                   .worker = run->job.worker,
                                   .fused_count = count,
                                   .slices = run->slices,
                                   .rows = run->rows,
                                   .commands = commands ? commands->recording.change_count - run->changes_before : 0,
                                   .begin_ns = begin_ns,
                                   .end_ns = begin_ns + time_ns};
        begin_ns = report.end_ns;
        micap_listeners_job_ended(flow, &report);
    }
}

static void run_job(const micap_chain *chain, uint32_t job, system_run *runs, uint32_t count, const uint32_t *indices)
{
    const micap_system *first = chain->systems[0];
    MICAP_PROBE_3(system_begin, runs[0].job.system->def.name, runs[0].job.worker, count);
    if (first->once)
        run_once(&runs[0]);
    else if (first->is_ordered)
        run_ordered(chain, job, &runs[0]);
    else if (first->deliveries && !first->deliveries->broadcast_count)
        run_deliveries(chain, job, &runs[0]);
    else if (chain->driver)
        run_pool(chain, job, &runs[0]);
    else
        run_chunks(chain, job, runs, count, indices);
    MICAP_PROBE_3(system_end, runs[0].job.system->def.name, runs[0].job.worker, count);
}

void micap_jobs_run(micap_chain *chain, uint32_t begin, uint32_t end, uint32_t worker)
{
    const micap_flow *flow = chain->segment->flow;
    const micap_system *first = chain->systems[0];
    system_run runs[MICAP_CHAIN_SYSTEMS];
    uint32_t indices[MICAP_CHAIN_SYSTEMS], count = 0;
    for (uint32_t i = 0; i < chain->system_count; ++i)
        if (chain->systems[i]->is_active) {
            indices[count] = i;
            init_run(chain->segment, chain->systems[i], worker, &runs[count++]);
        }
    MICAP_ASSERT(count, "a chain runs if one of its systems is active");
    micap_thread_context *before = micap_this_thread;
    mica_location location = micap_noted_place();
    for (uint32_t job = begin; job < end; ++job) {
        uint64_t begin_ns = flow->has_probe ? begin_measuring(runs, count) : 0;
        uint32_t buffer_index =
            first->once || (first->is_ordered && !chain->is_divided) ? 0 : chain->starts[job].buffer_index;
        for (uint32_t i = 0; i < count; ++i)
            begin_job(&runs[i], buffer_index);
        run_job(chain, job, runs, count, indices);
        micap_this_thread = before;
        micap_note_again(location);
        if (flow->has_probe)
            report_runs(flow, runs, count, begin_ns);
    }
}
