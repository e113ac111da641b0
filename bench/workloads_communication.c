/* Streams, messages and observers: against copying, plain loops and the hook. */
#define _POSIX_C_SOURCE 200809L /* for the clock, which strict C17 hides */
#include "bench.h"
#include "components.h"
#include "data.h"
#include "kernel.h"
#include "population.h"
#include "raw.h"

#include "mica/flow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Hit { uint32_t entity; float x, y, z; } Hit;
MICA_STRUCT(Hit, entity, x, y, z)

enum { FRAMES = 10 };

static double wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static mica_stream *hits;
static uint64_t sum_of_hits;

static void write_hits(mica_view *view)
{
    const Position *position = mica_view_read_at(view, 0);
    for (uint32_t i = 0; i < view->count; ++i)
        mica_stream_push(hits, Hit, {view->entities[i].index, position[i].x, position[i].y, position[i].z});
}

static void read_hits(const mica_frame *frame)
{
    (void)frame;
    uint32_t count;
    sum_of_hits = 0;
    for (const Hit *some; (some = mica_stream_read(hits, Hit, &count));)
        sum_of_hits += count;
}

static measurement stream_write(uint32_t n, uint32_t workers)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    require(mica_flow_configure(world, &flow) == MICA_OK, "the flow can't be set");
    free(populate_mica(world, n, NULL));
    hits = mica_stream_create(world, MICA_STREAM(Hit));
    mica_system_add(world, MICA_SYSTEM_WITH(write_hits, (MICA_USES(MICA_USE_STREAM_WRITE(hits))), MICA_READ(Position)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(read_hits, (MICA_USES(MICA_USE_STREAM_READ(hits)))));
    double start = 0;
    for (uint32_t frame = 0; frame <= FRAMES; ++frame) {
        if (frame == 1)
            start = wall_ns();
        mica_step(world, 1);
    }
    double time = (wall_ns() - start) / n / FRAMES;
    mica_world_destroy(world);
    return (measurement){time, sum_of_hits};
}

static measurement stream_write_1(uint32_t n)
{
    return stream_write(n, 1);
}

static measurement stream_write_2(uint32_t n)
{
    return stream_write(n, 2);
}

/* One thread that copies as many messages into an array that is there already. */
static measurement stream_write_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    free(populate_raw(&world, n, NULL));
    Hit *array = malloc(n * sizeof *array);
    double start = 0;
    for (uint32_t frame = 0; frame <= FRAMES; ++frame) {
        if (frame == 1)
            start = wall_ns();
        for (uint32_t i = 0; i < n; ++i) {
            Hit hit = {i, world.position[i].x, world.position[i].y, world.position[i].z};
            memcpy(array + i, &hit, sizeof hit);
        }
        __asm__ volatile("" : : "r"(array) : "memory"); /* the array is looked at */
    }
    double time = (wall_ns() - start) / n / FRAMES;
    free(array);
    raw_world_free(&world);
    return (measurement){time, n};
}

static measurement create_watched(uint32_t n, mica_world *world, const uint64_t *added)
{
    double start = now_ns();
    for (uint32_t i = 0; i < n; ++i) {
        Position position = position_of(i);
        mica_create(world, MICA_WITH(Position, {position.x, position.y, position.z}));
    }
    double time = (now_ns() - start) / n;
    uint64_t seen = *added;
    mica_world_destroy(world);
    return (measurement){time, seen};
}

static void observe_one(const mica_event *seen)
{
    *(uint64_t *)seen->context += seen->count;
}

static void hook_one(const mica_event *event)
{
    void *context = event->context;
    *(uint64_t *)context += event->count;
}

static measurement observer_add(uint32_t n)
{
    uint64_t added = 0;
    mica_world *world = mica_world_create(NULL);
    mica_observer_add(world,
                      &(mica_observer_def){.component = MICA_ID(Position), .fn = observe_one, .context = &added});
    return create_watched(n, world, &added);
}

static measurement observer_add_hook(uint32_t n)
{
    uint64_t added = 0;
    mica_world *world = mica_world_create(NULL);
    mica_hook_set(world, Position, MICA_EVENT_ADD, hook_one, &added);
    return create_watched(n, world, &added);
}

static void velocity_hit(const mica_message *message)
{
    fall(message->values, message->count, ((const Hit *)message->data)->x);
}

static measurement broadcast_mica(uint32_t n)
{
    mica_world *world = mica_world_create(NULL);
    free(populate_mica(world, n, NULL));
    mica_handler_add(world, MICA_HANDLER(Velocity, Hit, velocity_hit));
    double start = now_ns();
    for (uint32_t frame = 0; frame < FRAMES; ++frame)
        mica_broadcast(world, Hit, {0, 1.0f / 64, 0, 0});
    double time = (now_ns() - start) / n / FRAMES;
    return finish_mica(world, time);
}

static measurement broadcast_raw(uint32_t n)
{
    raw_world world = raw_world_make();
    free(populate_raw(&world, n, NULL));
    double start = now_ns();
    for (uint32_t frame = 0; frame < FRAMES; ++frame)
        fall(world.velocity, n, 1.0f / 64);
    double time = (now_ns() - start) / n / FRAMES;
    return finish_raw(&world, time);
}

const workload communication_workloads[] = {
    {"stream_write_1", 1000000, stream_write_1, stream_write_raw, 4, UNIT_RATIO},
    {"stream_write", 1000000, stream_write_2, stream_write_raw, 4, UNIT_RATIO},
    {"observer_add_1M", 1000000, observer_add, observer_add_hook, 1.2, UNIT_RATIO},
    {"broadcast_1M", 1000000, broadcast_mica, broadcast_raw, 1.1, UNIT_RATIO},
    {0},
};
