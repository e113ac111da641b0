/* Statistics: each worker counts what it did for each system. The end of a frame adds the counts up into a ring of frames. */
#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/phase.h"
#include "flow/schedule/system.h"
#include "mica/stats.h"
#include "os/clock.h"

#include <inttypes.h>

/* What one worker did for one system in this frame. */
typedef struct tally {
    uint64_t time_ns;
    uint64_t entities;
    uint32_t slices;
    uint32_t commands;
    uint32_t jobs;
    uint32_t fused_count;
} tally;

typedef struct measured_frame {
    mica_frame_stats frame;
    mica_system_stats *systems; /* by id */
    uint32_t system_limit;
    uint32_t system_capacity;
} measured_frame;

typedef struct stats {
    tally **tallies; /* by worker, then by system id */
    uint32_t worker_count;
    uint32_t system_limit; /* the ids that tallies have room for */
    uint64_t *jobs_before; /* by id: of all workers, at the end of the last phase */
    uint64_t *runs;
    measured_frame *ring;
    uint32_t ring_count;
    uint64_t frames; /* measured so far */
    uint64_t begin_ns;
    uint64_t flush_ns;
} stats;

static void release_tallies(mica_world *world, stats *stats)
{
    for (uint32_t i = 0; i < stats->worker_count; ++i)
        if (stats->tallies[i])
            micap_release(&world->memory, stats->tallies[i], stats->system_limit * sizeof(tally), MICAP_CACHE_LINE);
    MICAP_RELEASE_ARRAY(&world->memory, stats->tallies, stats->worker_count);
    MICAP_RELEASE_ARRAY(&world->memory, stats->jobs_before, stats->system_limit);
    MICAP_RELEASE_ARRAY(&world->memory, stats->runs, stats->system_limit);
    stats->tallies = NULL;
    stats->jobs_before = stats->runs = NULL;
    stats->worker_count = stats->system_limit = 0;
}

static void *zeroed_array(mica_world *world, size_t count, size_t bytes)
{
    return micap_allocate_zeroed(&world->memory, count * bytes, MICAP_ARRAY_ALIGNMENT);
}

static bool make_tallies(mica_world *world, stats *stats, uint32_t worker_count, uint32_t system_limit)
{
    release_tallies(world, stats);
    stats->worker_count = worker_count;
    stats->system_limit = system_limit;
    stats->tallies = zeroed_array(world, worker_count, sizeof *stats->tallies);
    stats->jobs_before = zeroed_array(world, system_limit, sizeof *stats->jobs_before);
    stats->runs = zeroed_array(world, system_limit, sizeof *stats->runs);
    bool done = stats->tallies && stats->jobs_before && stats->runs;
    for (uint32_t i = 0; done && i < worker_count; ++i) {
        stats->tallies[i] = micap_allocate_zeroed(&world->memory, system_limit * sizeof(tally), MICAP_CACHE_LINE);
        done = stats->tallies[i] != NULL;
    }
    if (!done) {
        if (!stats->tallies)
            stats->worker_count = 0;
        release_tallies(world, stats);
    }
    return done;
}

static void clear_tallies(stats *stats)
{
    for (uint32_t i = 0; i < stats->worker_count; ++i)
        memset(stats->tallies[i], 0, stats->system_limit * sizeof(tally));
    if (stats->system_limit) {
        memset(stats->jobs_before, 0, stats->system_limit * sizeof *stats->jobs_before);
        memset(stats->runs, 0, stats->system_limit * sizeof *stats->runs);
    }
    stats->flush_ns = 0;
}

/* Makes room for all systems, here and in the next frame of the ring. If memory is short, the frame is not measured. */
static void frame_begin(mica_world *world, void *state)
{
    stats *stats = state;
    const micap_flow *flow = micap_flow_get(world);
    measured_frame *kept = &stats->ring[stats->frames % stats->ring_count];
    bool done = true;
    if (flow->next_id > stats->system_limit || mica_worker_count(world) != stats->worker_count)
        done = make_tallies(world, stats, mica_worker_count(world), flow->next_id * 2);
    done = done && MICAP_RESERVE(&world->memory, kept->systems, &kept->system_capacity, stats->system_limit);
    if (!done)
        micap_fail_memory(world, "stats");
    clear_tallies(stats);
    stats->begin_ns = done ? micap_clock_ns() : 0;
}

static void job_ended(mica_world *world, void *state, const micap_job_report *report)
{
    (void)world;
    stats *stats = state;
    if (!report->system) {
        stats->flush_ns += report->end_ns - report->begin_ns;
        return;
    }
    uint32_t id = report->system->id;
    if (report->worker >= stats->worker_count || id >= stats->system_limit)
        return;
    tally *tally = &stats->tallies[report->worker][id];
    tally->time_ns += report->end_ns - report->begin_ns;
    tally->entities += report->rows;
    tally->slices += report->slices;
    tally->commands += report->commands;
    tally->fused_count = report->fused_count;
    ++tally->jobs;
}

/* A system has run if it has more jobs than before. */
static void phase_end(mica_world *world, void *state)
{
    (void)world;
    stats *stats = state;
    for (uint32_t id = 0; id < stats->system_limit; ++id) {
        uint64_t jobs = 0;
        for (uint32_t i = 0; i < stats->worker_count; ++i)
            jobs += stats->tallies[i][id].jobs;
        stats->runs[id] += jobs > stats->jobs_before[id];
        stats->jobs_before[id] = jobs;
    }
}

static mica_system_stats total_of(const stats *stats, uint32_t id)
{
    mica_system_stats total = {.runs = stats->runs[id]};
    for (uint32_t i = 0; i < stats->worker_count; ++i) {
        const tally *tally = &stats->tallies[i][id];
        total.time_ns += tally->time_ns;
        total.entities += tally->entities;
        total.slices += tally->slices;
        total.commands += tally->commands;
        total.workers += tally->jobs != 0;
        total.fused_with = tally->fused_count > 1 ? tally->fused_count : total.fused_with;
    }
    return total;
}

static void frame_end(mica_world *world, void *state)
{
    stats *stats = state;
    if (!stats->begin_ns)
        return;
    measured_frame *kept = &stats->ring[stats->frames++ % stats->ring_count];
    kept->system_limit = stats->system_limit;
    kept->frame = (mica_frame_stats){.frame = mica_time_get(world).frame,
                                     .time_ns = micap_clock_ns() - stats->begin_ns,
                                     .flush_ns = stats->flush_ns};
    for (uint32_t id = 0; id < stats->system_limit; ++id) {
        kept->systems[id] = total_of(stats, id);
        kept->frame.busy_ns += kept->systems[id].time_ns;
        kept->frame.commands += kept->systems[id].commands;
    }
    for (uint32_t i = 0; i < stats->worker_count; ++i) {
        bool worked = false;
        for (uint32_t id = 0; id < stats->system_limit; ++id)
            worked |= stats->tallies[i][id].jobs != 0;
        kept->frame.workers += worked;
    }
}

static void free_stats(mica_world *world, void *state)
{
    stats *stats = state;
    release_tallies(world, stats);
    for (uint32_t i = 0; i < stats->ring_count; ++i)
        MICAP_RELEASE_ARRAY(&world->memory, stats->ring[i].systems, stats->ring[i].system_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, stats->ring, stats->ring_count);
    micap_release(&world->memory, stats, sizeof *stats, MICAP_ARRAY_ALIGNMENT);
}

static const micap_listener_ops listener = {
    .frame_begin = frame_begin,
    .phase_end = phase_end,
    .frame_end = frame_end,
    .job_ended = job_ended,
    .free = free_stats,
};

static stats *make_stats(mica_world *world, uint32_t frame_count)
{
    stats *fresh = zeroed_array(world, 1, sizeof *fresh);
    if (!fresh)
        return NULL;
    fresh->ring = zeroed_array(world, frame_count, sizeof *fresh->ring);
    fresh->ring_count = fresh->ring ? frame_count : 0;
    if (fresh->ring)
        return fresh;
    free_stats(world, fresh);
    return NULL;
}

mica_result mica_stats_enable(mica_world *world, uint32_t frame_count)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    const micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "stats_enable: refused inside a frame");
    stats *old = micap_listener_state(world, MICAP_LISTENER_STATS), *fresh = NULL;
    if (frame_count && !(fresh = make_stats(world, frame_count)))
        return micap_fail_memory(world, "stats");
    micap_listener_set(world, MICAP_LISTENER_STATS, fresh ? &listener : NULL, fresh);
    if (old)
        free_stats(world, old);
    return MICA_OK;
}

static const measured_frame *measured_frame_of(const mica_world *world, uint32_t frames_ago)
{
    const stats *stats = micap_listener_state(world, MICAP_LISTENER_STATS);
    if (!stats || frames_ago >= stats->ring_count || frames_ago >= stats->frames)
        return NULL;
    return &stats->ring[(stats->frames - 1 - frames_ago) % stats->ring_count];
}

bool mica_stats_get_system(const mica_world *world, mica_system system, uint32_t frames_ago, mica_system_stats *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out))
        return false;
    const measured_frame *kept = measured_frame_of(world, frames_ago);
    if (!kept || !system.id || system.id >= kept->system_limit)
        return false;
    *out = kept->systems[system.id];
    return true;
}

bool mica_stats_get_system_total(const mica_world *world, mica_system system, mica_system_stats *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out))
        return false;
    mica_system_stats total = {0}, one;
    bool found = false;
    for (uint32_t ago = 0; measured_frame_of(world, ago); ++ago) {
        if (!mica_stats_get_system(world, system, ago, &one))
            continue;
        found = true;
        total.runs += one.runs;
        total.time_ns += one.time_ns;
        total.entities += one.entities;
        total.slices += one.slices;
        total.commands += one.commands;
        total.workers = one.workers > total.workers ? one.workers : total.workers;
        total.fused_with = one.fused_with > total.fused_with ? one.fused_with : total.fused_with;
    }
    if (found)
        *out = total;
    return found;
}

bool mica_stats_get_frame(const mica_world *world, uint32_t frames_ago, mica_frame_stats *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out))
        return false;
    const measured_frame *kept = measured_frame_of(world, frames_ago);
    if (kept)
        *out = kept->frame;
    return kept != NULL;
}

static void print_system(const mica_world *world, const micap_system *system, uint32_t frames, uint64_t busy_ns,
                         FILE *out)
{
    mica_system_stats total;
    if (!mica_stats_get_system_total(world, system->frame.system, &total))
        return;
    fprintf(out, "%-28.28s %9.1f %5.1f %8.2f %12.1f %9.1f %9.1f %7" PRIu32 " %5" PRIu32 "\n", system->def.name,
            (double)total.time_ns / 1e3 / frames, busy_ns ? 100.0 * (double)total.time_ns / (double)busy_ns : 0,
            (double)total.runs / frames, (double)total.entities / frames, (double)total.slices / frames,
            (double)total.commands / frames, total.workers, total.fused_with);
}

void mica_stats_print(const mica_world *world, FILE *out)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, out))
        return;
    const micap_flow *flow = micap_flow_get(world);
    const measured_frame *kept;
    mica_frame_stats sum = {0};
    uint32_t frames = 0;
    for (; (kept = measured_frame_of(world, frames)); ++frames) {
        sum.time_ns += kept->frame.time_ns;
        sum.flush_ns += kept->frame.flush_ns;
        sum.busy_ns += kept->frame.busy_ns;
        sum.commands += kept->frame.commands;
        sum.workers = kept->frame.workers > sum.workers ? kept->frame.workers : sum.workers;
    }
    if (!frames) {
        fprintf(out, "no frames were measured\n");
        return;
    }
    fprintf(out, "%-28s %9s %5s %8s %12s %9s %9s %7s %5s\n", "system, per frame", "us", "%", "runs", "entities",
            "slices", "commands", "workers", "fused");
    for (uint32_t i = 0; i < flow->phase_count; ++i)
        for (uint32_t j = 0; j < flow->phases[i]->system_count; ++j)
            print_system(world, flow->phases[i]->order[j], frames, sum.busy_ns, out);
    fprintf(out, "%" PRIu32 " frames of %.1f us: %.1f us in systems over %" PRIu32 " workers, %.1f us in flushes\n",
            frames, (double)sum.time_ns / 1e3 / frames, (double)sum.busy_ns / 1e3 / frames, sum.workers,
            (double)sum.flush_ns / 1e3 / frames);
}
