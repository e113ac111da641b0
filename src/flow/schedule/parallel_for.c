/* Parallel for and reductions: pieces that don't depend on workers, and totals combined in the order of pieces. */
#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/world/report.h"
#include "flow/schedule/flow.h"
#include "mica/system.h"

/* Work of the user over the crew. Pieces may run in a thread that was busy with another system, and record nothing. */
typedef struct micap_shared {
    mica_world *world;
    micap_task *task; /* of the system that called, or NULL */
    void (*piece)(struct micap_shared *shared, uint32_t piece);
    uint32_t count;
    uint32_t grain;
    mica_range_fn range;
    void *context;
    /* Reductions. */
    const mica_reduction *how;
    char *sums;
    size_t stride;
    mica_query *query;
    const micap_start *starts;
} shared;

static void run_piece(void *data, uint32_t piece, uint32_t worker)
{
    shared *work = data;
    micap_here *before = micap_here_now;
    micap_task task;
    if (work->task) {
        task = *work->task;
        task.here.commands = NULL;
        task.lane = MICAP_LANE_NONE;
        task.worker = worker;
        micap_here_now = &task.here;
    } else {
        micap_here_now = NULL;
    }
    work->piece(work, piece);
    micap_here_now = before;
}

static void share(mica_world *world, shared *work, uint32_t pieces)
{
    work->world = world;
    work->task = micap_task_here(world);
    micap_flow *flow = micap_flow_of(world);
    if (!flow) { /* then alone: the pieces are what counts */
        for (uint32_t i = 0; i < pieces; ++i)
            run_piece(work, i, 0);
        return;
    }
    micap_crew_run(flow->crew, micap_crew_here(flow->crew), run_piece, work, pieces);
    if (!flow->is_stepping)
        micap_crew_dismiss(flow->crew);
}

static uint32_t grain_for(uint32_t count, uint32_t grain)
{
    enum { PIECES = 256 };
    return grain ? grain : count / PIECES + 1;
}

static uint32_t pieces_for(uint32_t count, uint32_t grain)
{
    return (uint32_t)(((uint64_t)count + grain - 1) / grain);
}

static uint32_t end_of(const shared *work, uint32_t piece)
{
    uint64_t end = ((uint64_t)piece + 1) * work->grain;
    return end < work->count ? (uint32_t)end : work->count;
}

static void range_piece(shared *work, uint32_t piece)
{
    work->range(piece * work->grain, end_of(work, piece), work->context);
}

void mica_parallel_for(mica_world *world, uint32_t count, uint32_t grain, mica_range_fn fn, void *context)
{
    grain = grain_for(count, grain);
    shared work = {.piece = range_piece, .count = count, .grain = grain, .range = fn, .context = context};
    if (count)
        share(world, &work, pieces_for(count, grain));
}

static void *sum_of(const shared *work, uint32_t piece)
{
    return work->sums + work->stride * piece;
}

static void reduce_range_piece(shared *work, uint32_t piece)
{
    void *sum = sum_of(work, piece);
    memcpy(sum, work->how->zero, work->how->bytes);
    work->how->range(piece * work->grain, end_of(work, piece), sum, work->how->context);
}

static bool is_sane(const mica_reduction *how, const void *out_sum)
{
    return how && out_sum && how->zero && how->combine && how->bytes && how->bytes <= MICA_REDUCTION_BYTES_MAX;
}

/* Runs the pieces, each with a sum of its own, and combines those in order. */
static mica_result reduce(mica_world *world, shared *work, uint32_t pieces, void *out_sum)
{
    const mica_reduction *how = work->how;
    work->stride = (how->bytes + (size_t)MICAP_CACHE_LINE - 1) / MICAP_CACHE_LINE * MICAP_CACHE_LINE;
    work->sums = micap_allocate(&world->memory, work->stride * pieces, MICAP_CACHE_LINE);
    if (!work->sums)
        return micap_fail_memory(world, "reduction");
    share(world, work, pieces);
    char total[MICA_REDUCTION_BYTES_MAX] __attribute__((aligned(64)));
    memcpy(total, how->zero, how->bytes);
    for (uint32_t i = 0; i < pieces; ++i)
        how->combine(total, sum_of(work, i), how->context);
    memcpy(out_sum, total, how->bytes);
    micap_release(&world->memory, work->sums, work->stride * pieces, MICAP_CACHE_LINE);
    return MICA_OK;
}

mica_result mica_reduce_range(mica_world *world, uint32_t count, uint32_t grain, const mica_reduction *how,
                              void *out_sum)
{
    if (!is_sane(how, out_sum) || !how->range)
        return micap_fail(world, MICA_ERROR_INVALID, (mica_place){0}, "reduction: it makes no sense");
    grain = grain_for(count, grain);
    shared work = {.piece = reduce_range_piece, .count = count, .grain = grain, .how = how};
    return reduce(world, &work, pieces_for(count, grain), out_sum);
}

/* The views of a query, one piece each. */
static uint32_t list_views(const mica_query *query, micap_start *out)
{
    uint32_t count = 0;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        uint64_t base = 0;
        for (uint32_t i = 0; base < archetype->row_count; ++i) {
            const micap_chunk *chunk = archetype->chunks[i];
            for (uint32_t row = 0; row < chunk->count; row += MICA_VIEW_ROWS, ++count)
                if (out)
                    out[count] = (micap_start){.entry = match, .chunk_index = i, .row = row, .base = base};
            base += chunk->count;
        }
    }
    return count;
}

static void reduce_view_piece(shared *work, uint32_t piece)
{
    const micap_start *start = &work->starts[piece];
    mica_query *query = work->query;
    micap_archetype *archetype = query->archetypes[start->entry];
    micap_chunk *chunk = archetype->chunks[start->chunk_index];
    uint32_t row = start->row;
    uint32_t end = chunk->count - row < MICA_VIEW_ROWS ? chunk->count : row + MICA_VIEW_ROWS;
    void *sum = sum_of(work, piece);
    memcpy(sum, work->how->zero, work->how->bytes);
    mica_view view;
    mica_version version = micap_here_now ? micap_here_now->version : micap_version(work->world);
    micap_view_init(&view, query, query->last_mark, version);
    view.match = start->entry;
    while (query->join_count && micap_join_next_rows(&view, query, chunk, &row, end)) {
        view.slice = ((uint64_t)archetype->id << 32) + start->base + row - view.count;
        work->how->view(&view, sum, work->how->context);
    }
    for (uint32_t run; !query->join_count && row < end; row += run) {
        run = query->filter_count ? micap_query_next_run(query, chunk, &row, end, view.since) : end - row;
        if (!run)
            break;
        view.slice = ((uint64_t)archetype->id << 32) + start->base + row;
        micap_view_show(&view, query, chunk, row, run);
        work->how->view(&view, sum, work->how->context);
    }
}

mica_result mica_reduce_query(mica_query *query, const mica_reduction *how, void *out_sum)
{
    if (!query)
        return MICA_ERROR_INVALID;
    mica_world *world = query->world;
    if (!is_sane(how, out_sum) || !how->view)
        return micap_fail(world, MICA_ERROR_INVALID, query->place, "%s: the reduction makes no sense", query->name);
    uint32_t count = list_views(query, NULL);
    size_t bytes = count * sizeof(micap_start);
    micap_start *starts = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (count && !starts)
        return micap_fail_memory(world, "reduction");
    list_views(query, starts);
    shared work = {.piece = reduce_view_piece, .how = how, .query = query, .starts = starts};
    mica_result result = reduce(world, &work, count, out_sum);
    micap_release(&world->memory, starts, bytes, MICAP_ARRAY_ALIGNMENT);
    return result;
}
