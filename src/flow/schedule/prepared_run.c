#include "flow/schedule/prepared_run.h"

#include "core/query/query_join.h"
#include "flow/schedule/declared_access.h"
#include "flow/schedule/fusion.h"
#include "flow/schedule/system.h"

/* Whether the rows that the system gets depend on nothing but the structure of the world, and its time step on nothing but the
 * frame. */
static bool qualifies(const micap_system *system)
{
    const mica_query *query = system->query;
    bool has_toggles = false;
    for (uint32_t i = 0; i < query->join_count; ++i)
        has_toggles |= query->joins[i].pool->enabled != NULL;
    return !query->filter_count && !query->is_marked && !has_toggles && !system->deliveries && !system->is_gated &&
           !system->uses_indexes;
}

/* Shows rows of the one chunk that has all rows of the chain; none if the system does not match its archetype. */
static void show_chunk(micap_prepared_run *run, mica_query *query, uint32_t match, micap_chunk *chunk)
{
    if (match == MICAP_CHAIN_NO_MATCH)
        return;
    run->view.private_.match = match;
    run->view.slice = (uint64_t)chunk->archetype->id << 32;
    micap_view_show(&run->view, query, chunk, 0, chunk->count);
}

/* Shows the rows of the pool that the system visits, as its only job with rows does; none if no row matches. False if they are several
 * views. */
static bool show_pool(const micap_chain *chain, micap_prepared_run *run, mica_query *query)
{
    mica_view *view = &run->view;
    view->private_.driver = chain->driver;
    view->private_.walk = chain->driver_walk;
    view->private_.end = (uint32_t)chain->row_count;
    if (!micap_join_next(view, query)) {
        view->count = 0;
        return true;
    }
    mica_view rest = *view;
    if (micap_join_next(&rest, query))
        return false;
    uint32_t first = view->private_.cursor - view->count, last = view->private_.cursor - 1;
    const micap_job_start *start = chain->starts;
    while (start[1].row <= first)
        ++start;
    if (last >= start[1].row || (first - start->row) / chain->view_rows != (last - start->row) / chain->view_rows)
        return false;
    view->slice = ((uint64_t)chain->driver->type->id << 32) + first;
    run->job.buffer_index = start->buffer_index;
    micap_view_make_ready(view);
    return true;
}

static void begin_run(const micap_segment *segment, const micap_chain *chain, micap_system *system,
                      micap_prepared_run *run)
{
    micap_view_init(&run->view, system->query, 0, 0);
    run->view.frame = &system->frame;
    run->job = (micap_running_job){.here = {.world = segment->world, .open = micap_running_job_open_buffer},
                                   .system = system,
                                   .frame = &system->frame,
                                   .buffer_index = chain->starts[0].buffer_index};
    micap_declared_access_begin(&run->job);
}

/* The chunk that has all rows of the chain, if they fit one view; else NULL. */
static micap_chunk *only_chunk(const micap_chain *chain)
{
    const micap_job_start *start = &chain->starts[0];
    micap_chunk *chunk = chain->archetypes[start->entry]->chunks[start->chunk_index];
    return chunk->count == chain->row_count && chunk->count <= chain->view_rows ? chunk : NULL;
}

void micap_prepared_runs_plan(micap_segment *segment, micap_chain *chain)
{
    bool is_join = chain->systems[0]->query->join_count != 0;
    chain->is_prepared = false;
    if (!chain->job_count)
        return;
    if (is_join ? !chain->driver || chain->driver->count > chain->view_rows
                : chain->job_count != 1 || chain->row_count > chain->view_rows)
        return;
    for (uint32_t i = 0; i < chain->system_count; ++i)
        if (!qualifies(chain->systems[i]))
            return;
    micap_chunk *chunk = is_join ? NULL : only_chunk(chain);
    if (!is_join && !chunk)
        return;
    uint32_t entry = chain->starts[0].entry, count = 0;
    micap_prepared_run *runs = segment->prepared + segment->prepared_count;
    for (uint32_t i = 0; i < chain->system_count; ++i) {
        micap_prepared_run *run = &runs[count];
        mica_query *query = chain->systems[i]->query;
        begin_run(segment, chain, chain->systems[i], run);
        if (chunk)
            show_chunk(run, query, chain->system_count > 1 ? chain->matches[entry * chain->system_count + i] : entry,
                       chunk);
        else if (!show_pool(chain, run, query))
            return;
        micap_declared_access_show(&run->job, &run->view);
        count += run->view.count != 0;
    }
    chain->is_prepared = true;
    chain->prepared = runs;
    chain->prepared_count = count;
    segment->prepared_count += count;
}

void micap_run_steps_plan(micap_segment *segment)
{
    micap_run_step *last = NULL; /* of prepared chains, if it is the last one */
    segment->step_count = 0;
    for (uint32_t i = 0; i < segment->chain_count; ++i) {
        micap_chain *chain = &segment->chains[segment->run_order[i]];
        if (!chain->job_count)
            continue;
        if (!last || !chain->is_prepared)
            segment->steps[segment->step_count++] = (micap_run_step){.prepared = chain->prepared};
        micap_run_step *step = &segment->steps[segment->step_count - 1];
        last = chain->is_prepared ? step : NULL;
        if (chain->is_prepared)
            step->end = chain->prepared + chain->prepared_count;
        else
            step->chain = chain;
    }
}

static inline void run_one(const micap_segment *segment, micap_prepared_run *run, mica_version first_version)
{
    micap_system *system = run->job.system;
    mica_frame *frame = &system->frame;
    mica_view *view = &run->view;
    micap_thread_context *here = &run->job.here;
    frame->dt = segment->dt;
    frame->alpha = segment->alpha;
    frame->seconds = segment->seconds;
    frame->tick = segment->tick;
    view->dt = segment->dt;
    here->version = view->private_.version = first_version + frame->order;
    here->commands = NULL;
    here->defers = 0;
    micap_this_thread = here;
    if (MICAP_LIKELY(system->view != NULL))
        system->view(view);
    else
        micap_system_call(system, view);
}

void micap_prepared_runs_run(const micap_segment *segment, micap_prepared_run *run, const micap_prepared_run *end)
{
    mica_version first_version = segment->base + 1 - segment->systems[0]->order;
    for (; run != end; ++run)
        if (MICAP_LIKELY(!segment->has_inactive) || run->job.system->is_active)
            run_one(segment, run, first_version);
}
