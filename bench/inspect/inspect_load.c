/* A world of many entities, of which a tenth of the slices changes per frame, for tools/inspect_cost.py. It runs until it is killed:
 *
 *     inspect_load ENTITIES FRAMES [--serve TOKEN]      prints every FRAMES frames the median time of a frame in microseconds, and the median
 *                                                       and the mean time of the processor that its thread needed
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "mica/flow.h"
#include "mica/inspect.h"
#include "os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Place {
    float x, y, z;
} Place;
typedef struct Speed {
    float x, y, z;
} Speed;
MICA_COMPONENT(Place, x, y, z)
MICA_COMPONENT(Speed, x, y, z)
MICA_TAG(Moving)

static void move(mica_view *view)
{
    Place *place = mica_view_write(view, Place);
    const Speed *speed = mica_view_read(view, Speed);
    for (uint32_t i = 0; i < view->count; ++i) {
        place[i].x += speed[i].x * view->dt;
        place[i].y += speed[i].y * view->dt;
        place[i].z += speed[i].z * view->dt;
    }
}

/* What a program does with the rest: it looks at all of it, and changes nothing. */
static void look(mica_view *view)
{
    const Place *place = mica_view_read(view, Place);
    const Speed *speed = mica_view_read(view, Speed);
    float sum = 0;
    for (uint32_t i = 0; i < view->count; ++i)
        sum += place[i].x * speed[i].x + place[i].y * speed[i].y + place[i].z * speed[i].z;
    volatile float kept = sum;
    (void)kept;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Of this thread: other programs on the machine do not count. */
static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void measure(mica_world *world, uint64_t *times, uint64_t *needed, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; ++i) {
        uint64_t begin = micap_clock_ns(), begun = processor_ns();
        mica_step(world, 1.0f / 60);
        needed[i] = processor_ns() - begun;
        times[i] = micap_clock_ns() - begin;
        if (times[i] < 16666667)
            micap_sleep_ns(16666667 - times[i]);
    }
    qsort(times, frames, sizeof *times, compare);
    qsort(needed, frames, sizeof *needed, compare);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < frames; ++i)
        sum += needed[i];
    printf("%.1f %.1f %.1f\n", (double)times[frames / 2] / 1e3, (double)needed[frames / 2] / 1e3,
           (double)sum / frames / 1e3);
    fflush(stdout);
}

int main(int count, char **words)
{
    uint32_t entities = count > 2 ? (uint32_t)strtoul(words[1], NULL, 10) : 0;
    uint32_t frames = count > 2 ? (uint32_t)strtoul(words[2], NULL, 10) : 0;
    if (!entities || !frames)
        return fputs("usage: inspect_load ENTITIES FRAMES [--serve TOKEN]\n", stderr), 2;
    mica_world *world = mica_world_create(NULL);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1; /* the inspector has the other cores */
    mica_flow_configure(world, &flow);
    for (uint32_t i = 0; i < entities; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Place, {(float)i, 0, 0}), MICA_WITH(Speed, {1, 2, 3}));
        if (i < entities / 10)
            mica_add(world, entity, Moving);
    }
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Place), MICA_READ(Speed), MICA_HAS(Moving)));
    mica_system_add(world, MICA_SYSTEM(look, MICA_READ(Place), MICA_READ(Speed)));
    if (count > 4 && strcmp(words[3], "--serve") == 0 &&
        !mica_inspect_serve(world, &(mica_inspect_def){.name = "load", .token = words[4]}))
        return 1;
    uint64_t *times = calloc(frames, sizeof *times), *needed = calloc(frames, sizeof *needed);
    for (;;)
        measure(world, times, needed, frames);
}
