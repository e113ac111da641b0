/* Parallel for and reductions over ranges and queries. Jobs do not depend on the number of workers, and totals are combined in
 * the order of jobs. */
#include "base/argument.h"
#include "base/call_location.h"
#include "core/query/pattern_view.h"
#include "core/query/view.h"
#include "core/world/report.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/fusion.h"
#include "flow/schedule/job_run.h"
#include "mica/system.h"

/* A function of the user on the worker pool. A job may run in a thread that was busy with another system, and records
 * nothing. */
typedef struct user_work {
    mica_world *world;
    micap_running_job *caller; /* the system that called, or NULL */
    void (*run)(struct user_work *work, uint32_t job);
    uint32_t count;
    uint32_t grain;
    mica_range_fn range;
    void *context;
    /* Reductions. */
    const mica_reduction *how;
    char *sums;
    size_t stride;
    mica_query *query;
    const micap_job_start *starts;
    const micap_pattern_division *division;
    mica_version since;
} user_work;

static void run_job(void *data, uint32_t job, uint32_t worker)
{
    user_work *work = data;
    micap_thread_context *before = micap_this_thread;
    micap_running_job running;
    if (work->caller) {
        running = *work->caller;
        running.here.commands = NULL;
        running.sequence = MICAP_SEQUENCE_NONE;
        running.worker = worker;
        micap_this_thread = &running.here;
    } else {
        micap_this_thread = NULL;
    }
    work->run(work, job);
    micap_this_thread = before;
}

static void run_work(mica_world *world, user_work *work, uint32_t job_count)
{
    work->world = world;
    work->caller = micap_running_job_of(world);
    micap_flow *flow = micap_flow_of(world);
    if (!flow) { /* memory is short: run the same jobs in this thread */
        for (uint32_t i = 0; i < job_count; ++i)
            run_job(work, i, 0);
        return;
    }
    micap_worker_pool_run(flow->worker_pool, micap_worker_pool_index(flow->worker_pool), run_job, work, job_count);
    if (!flow->is_stepping)
        micap_worker_pool_join_helpers(flow->worker_pool);
}

static uint32_t grain_for(uint32_t count, uint32_t grain)
{
    enum { JOBS = 256 };
    return grain ? grain : count / JOBS + 1;
}

static uint32_t job_count_for(uint32_t count, uint32_t grain)
{
    return (uint32_t)(((uint64_t)count + grain - 1) / grain);
}

static uint32_t end_of(const user_work *work, uint32_t job)
{
    uint64_t end = ((uint64_t)job + 1) * work->grain;
    return end < work->count ? (uint32_t)end : work->count;
}

static void run_range(user_work *work, uint32_t job)
{
    work->range(job * work->grain, end_of(work, job), work->context);
}

void mica_parallel_for(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, fn))
        return;
    grain = grain_for(count, grain);
    user_work work = {.run = run_range, .count = count, .grain = grain, .range = fn, .context = context};
    if (count)
        run_work(world, &work, job_count_for(count, grain));
}

static void *sum_of(const user_work *work, uint32_t job)
{
    return work->sums + work->stride * job;
}

static void reduce_range(user_work *work, uint32_t job)
{
    void *sum = sum_of(work, job);
    memcpy(sum, work->how->zero, work->how->bytes);
    work->how->range(job * work->grain, end_of(work, job), sum, work->how->context);
}

static bool is_valid(const mica_reduction *how, const void *out_sum)
{
    return how && out_sum && how->zero && how->combine && how->bytes && how->bytes <= MICA_REDUCTION_BYTES_MAX;
}

/* Runs the jobs, each with a sum of its own, and combines the sums in order. */
static mica_result reduce(mica_world *world, user_work *work, uint32_t job_count, void *out_sum)
{
    const mica_reduction *how = work->how;
    work->stride = (how->bytes + (size_t)MICAP_CACHE_LINE - 1) / MICAP_CACHE_LINE * MICAP_CACHE_LINE;
    work->sums = micap_allocate(&world->memory, work->stride * job_count, MICAP_CACHE_LINE);
    if (!work->sums)
        return micap_fail_memory(world, "reduction");
    run_work(world, work, job_count);
    _Alignas(64) char total[MICA_REDUCTION_BYTES_MAX];
    memcpy(total, how->zero, how->bytes);
    for (uint32_t i = 0; i < job_count; ++i)
        how->combine(total, sum_of(work, i), how->context);
    memcpy(out_sum, total, how->bytes);
    micap_release(&world->memory, work->sums, work->stride * job_count, MICAP_CACHE_LINE);
    return MICA_OK;
}

mica_result mica_reduce_range(mica_world *world, uint32_t count, uint32_t grain, const mica_reduction *how,
                              void *out_sum)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    if (!is_valid(how, out_sum) || !how->range)
        return micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                          "reduce_range: the reduction needs zero, combine, range and a size of at most %d bytes",
                          MICA_REDUCTION_BYTES_MAX);
    grain = grain_for(count, grain);
    user_work work = {.run = reduce_range, .count = count, .grain = grain, .how = how};
    return reduce(world, &work, job_count_for(count, grain), out_sum);
}

/* Lists the views of a query, one job each. Returns how many there are. */
static uint32_t list_views(const mica_query *query, micap_job_start *out)
{
    uint32_t count = 0;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        uint64_t base = 0;
        for (uint32_t i = 0; base < archetype->row_count; ++i) {
            const micap_chunk *chunk = archetype->chunks[i];
            for (uint32_t row = 0; row < chunk->count; row += MICA_VIEW_ROWS, ++count)
                if (out)
                    out[count] = (micap_job_start){.entry = match, .chunk_index = i, .row = row, .base = base};
            base += chunk->count;
        }
    }
    return count;
}

static void reduce_view(user_work *work, uint32_t job)
{
    const micap_job_start *start = &work->starts[job];
    mica_query *query = work->query;
    micap_archetype *archetype = query->archetypes[start->entry];
    micap_chunk *chunk = archetype->chunks[start->chunk_index];
    uint32_t row = start->row;
    uint32_t end = chunk->count - row < MICA_VIEW_ROWS ? chunk->count : row + MICA_VIEW_ROWS;
    void *sum = sum_of(work, job);
    memcpy(sum, work->how->zero, work->how->bytes);
    mica_view view;
    mica_version version = micap_this_thread ? micap_this_thread->version : micap_version(work->world);
    micap_view_init(&view, query, query->last_mark, version);
    view.private_.match = start->entry;
    while (micap_view_next_rows(&view, query, chunk, &row, end)) {
        view.slice = ((uint64_t)archetype->id << 32) + start->base + row - view.count;
        work->how->view(&view, sum, work->how->context);
    }
}

static void reduce_part(user_work *work, uint32_t job)
{
    void *sum = sum_of(work, job);
    memcpy(sum, work->how->zero, work->how->bytes);
    mica_view view = mica_query_begin_since(work->query, work->since);
    if (work->division->count > 1) {
        micap_pattern_part part = micap_pattern_part_at(work->division, job);
        micap_pattern_take_part(&view, &part);
    }
    for (view.slice = (uint64_t)job << 32; mica_view_next(&view); ++view.slice)
        work->how->view(&view, sum, work->how->context);
}

/* What a pattern finds, divided. */
static mica_result reduce_pattern(mica_query *query, const mica_reduction *how, void *out_sum)
{
    mica_version since = query->last_mark;
    micap_pattern_division division = {.has_lists = true};
    micap_pattern_divide(query, &division);
    user_work work = {.run = reduce_part, .how = how, .query = query, .division = &division, .since = since};
    return reduce(query->world, &work, division.count, out_sum);
}

mica_result mica_reduce_query(mica_query *query, const mica_reduction *how, void *out_sum)
{
    if (MICAP_MISSING(NULL, query))
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    if (!is_valid(how, out_sum) || !how->view)
        return micap_fail(world, MICA_ERROR_INVALID, micap_place_of_call(query->location),
                          "reduce_query: %s: the reduction needs zero, combine, view and a size of at most %d bytes",
                          query->name, MICA_REDUCTION_BYTES_MAX);
    if (query->pattern)
        return reduce_pattern(query, how, out_sum);
    uint32_t count = list_views(query, NULL);
    size_t bytes = count * sizeof(micap_job_start);
    micap_job_start *starts = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (count && !starts)
        return micap_fail_memory(world, "reduction");
    list_views(query, starts);
    user_work work = {.run = reduce_view, .how = how, .query = query, .starts = starts};
    mica_result result = reduce(world, &work, count, out_sum);
    micap_release(&world->memory, starts, bytes, MICAP_ARRAY_ALIGNMENT);
    return result;
}
