/* Snapshots. What they are measured against is not another library but copying: a copy of the world, the frame without a snapshot,
 * a copy of what has changed. */
#include "bench.h"
#include "components.h"
#include "mica/query.h"
#include "mica/snapshot.h"
#include "population.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, RING = 60, RING_FRAMES = 120, SHARE = 100 };

typedef struct stage {
    mica_world *world;
    mica_query *query;
} stage;

static stage open_stage(uint32_t n)
{
    stage stage = {.world = mica_world_create(NULL)};
    free(populate_mica(stage.world, n, NULL));
    static const mica_term terms[] = {{.component = 0, .access = MICA_ACCESS_WRITE},
                                      {.component = 0, .access = MICA_ACCESS_READ}};
    mica_term mine[2];
    memcpy(mine, terms, sizeof mine);
    mine[0].component = MICA_ID(Position);
    mine[1].component = MICA_ID(Velocity);
    stage.query = mica_query_create(stage.world, &(mica_query_def){.terms = mine, .term_count = 2});
    return stage;
}

/* Moves everything. */
static double frame_of_all(const stage *stage)
{
    double start = now_ns();
    for (mica_view view = mica_query_begin(stage->query); mica_view_next(&view);) {
        Position *position = mica_view_write(&view, Position);
        const Velocity *velocity = mica_view_read(&view, Velocity);
        for (uint32_t i = 0; i < view.count; ++i) {
            position[i].x += velocity[i].x;
            position[i].y += velocity[i].y;
            position[i].z += velocity[i].z;
        }
    }
    return now_ns() - start;
}

/* Looks at everything, and writes one slice in a hundred. */
static double frame_of_few(const stage *stage, uint32_t frame, uint64_t *sum)
{
    double start = now_ns();
    uint32_t slice = frame;
    for (mica_view view = mica_query_begin(stage->query); mica_view_next(&view);) {
        const Velocity *velocity = mica_view_read(&view, Velocity);
        for (uint32_t first = 0; first < view.count; first += MICA_SLICE_ROWS, ++slice) {
            uint32_t end = first + MICA_SLICE_ROWS < view.count ? first + MICA_SLICE_ROWS : view.count;
            float total = 0;
            for (uint32_t i = first; i < end; ++i)
                total += velocity[i].x + velocity[i].y;
            *sum += (uint64_t)(total < 0 ? -total : total);
            if (slice % SHARE)
                continue;
            Position *position = mica_write(stage->world, view.entities[first], Position);
            for (uint32_t i = 0; i < end - first; ++i)
                position[i].x += 1;
        }
    }
    return now_ns() - start;
}

static measurement take_mica(uint32_t n)
{
    stage stage = open_stage(n);
    double start = now_ns();
    for (uint32_t i = 0; i < ROUNDS; ++i)
        require(mica_snapshot_take(stage.world).id != 0, "mica_snapshot_take failed");
    return finish_mica(stage.world, (now_ns() - start) / ROUNDS / n);
}

/* All that the world has in columns. */
static measurement copy_world(uint32_t n)
{
    stage stage = open_stage(n);
    size_t bytes = (size_t)n * (sizeof(mica_entity) + sizeof(Position) + sizeof(Velocity));
    char *from = allocate_or_exit(bytes), *to = allocate_or_exit(bytes);
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    double start = now_ns();
    memcpy(to, from, bytes);
    double time = (now_ns() - start) / n;
    require(to[bytes / 2] == 1, "the copy is a copy");
    free(from);
    free(to);
    return finish_mica(stage.world, time);
}

static double at_least(double best, double time)
{
    return best == 0 || time < best ? time : best;
}

static measurement first_frame(uint32_t n, int is_snapshot_there)
{
    stage stage = open_stage(n);
    double best = 0;
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        mica_snapshot snapshot = {0};
        if (is_snapshot_there)
            snapshot = mica_snapshot_take(stage.world);
        best = at_least(best, frame_of_all(&stage));
        mica_snapshot_drop(stage.world, snapshot);
    }
    return finish_mica(stage.world, best / n);
}

static measurement first_frame_mica(uint32_t n)
{
    return first_frame(n, 1);
}

static measurement first_frame_raw(uint32_t n)
{
    return first_frame(n, 0);
}

static measurement ring(uint32_t n, int is_history_there)
{
    stage stage = open_stage(n);
    mica_history *history = is_history_there ? mica_history_create(stage.world, RING) : NULL;
    double time = 0;
    uint64_t sum = 0;
    for (uint32_t frame = 0; frame < RING + RING_FRAMES; ++frame) {
        double start = now_ns();
        if (history)
            require(mica_history_take(history, frame + 1) == MICA_OK, "mica_history_take failed");
        double taken = now_ns() - start;
        double frame_time = frame_of_few(&stage, frame, &sum);
        if (frame >= RING) /* the ring is full, and its memory warm */
            time += taken + frame_time;
    }
    measurement result = finish_mica(stage.world, time / RING_FRAMES / n);
    result.checksum += sum;
    return result;
}

static measurement ring_mica(uint32_t n)
{
    return ring(n, 1);
}

static measurement ring_raw(uint32_t n)
{
    return ring(n, 0);
}

static measurement restore_mica(uint32_t n)
{
    stage stage = open_stage(n);
    double best = 0;
    uint64_t sum = 0;
    mica_snapshot snapshot = mica_snapshot_take(stage.world);
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        frame_of_few(&stage, i, &sum);
        double start = now_ns();
        require(mica_snapshot_restore(stage.world, snapshot) == MICA_OK, "mica_snapshot_restore failed");
        best = at_least(best, now_ns() - start);
    }
    return finish_mica(stage.world, best * SHARE / n);
}

/* As much as has changed, in pieces of a slice that lie as far apart. */
static measurement restore_raw(uint32_t n)
{
    stage stage = open_stage(n);
    size_t slice = MICA_SLICE_ROWS * sizeof(Position), bytes = (size_t)n * sizeof(Position);
    char *live = allocate_or_exit(bytes), *kept = allocate_or_exit(bytes / SHARE + slice);
    memset(live, 1, bytes);
    memset(kept, 2, bytes / SHARE + slice);
    double best = 0;
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        double start = now_ns();
        const char *from = kept;
        for (size_t at = round * slice; at + slice <= bytes; at += SHARE * slice, from += slice)
            memcpy(live + at, from, slice);
        best = at_least(best, now_ns() - start);
    }
    free(live);
    free(kept);
    return finish_mica(stage.world, best * SHARE / n);
}

const workload snapshot_workloads[] = {
    {"snapshot_take_1M", 1000000, take_mica, copy_world, 0.001, UNIT_RATIO},
    {"snapshot_first_frame_1M", 1000000, first_frame_mica, first_frame_raw, 2.0, UNIT_RATIO},
    {"history_60_1pct_1M", 1000000, ring_mica, ring_raw, 1.05, UNIT_RATIO},
    {"snapshot_restore_1pct_1M", 1000000, restore_mica, restore_raw, 1.3, UNIT_RATIO},
    {0},
};
