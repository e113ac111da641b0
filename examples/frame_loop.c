/* The frame loop: a start phase that runs once, frames at a fixed rate, and a system that ends the loop. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Height { float meters; } Height;
typedef struct Landed { uint64_t frame; } Landed;
MICA_COMPONENT(Height, meters)
MICA_COMPONENT(Landed, frame)

/* Runs before the first frame. A saved world that is loaded does not run it again. */
static void create_stones(const mica_frame *frame)
{
    for (int i = 1; i <= 3; ++i)
        mica_create(frame->world, MICA_WITH(Height, {(float)(2 * i)}));
}

static void fall(mica_view *view)
{
    Height *height = mica_view_write(view, Height);
    for (uint32_t i = 0; i < view->count; ++i)
        if ((height[i].meters -= 4 * view->dt) <= 0)
            mica_set(view->world, view->entities[i], Landed, {view->frame->tick}); /* recorded */
}

/* .flush_first: sees the components that `fall` has recorded in the same phase. */
static void report_landings(const mica_frame *frame)
{
    for (mica_view view = mica_query_begin(frame->query); mica_view_next(&view);) {
        for (uint32_t i = 0; i < view.count; ++i) {
            printf("%.2f s: a stone landed\n", frame->seconds);
            mica_remove(frame->world, view.entities[i], Height);
        }
    }
}

static void end_when_all_landed(const mica_frame *frame)
{
    if (mica_query_count(frame->query) == 0)
        mica_stop(frame->world); /* this frame is completed */
}

/* Without a clock of its own, mica_run measures time and sleeps. This one makes the output the same everywhere. */
static double simulated_now(void *context)
{
    return *(double *)context;
}

static void simulated_wait(double seconds, void *context)
{
    *(double *)context += seconds;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_phase physics =
        mica_phase_add(world, MICA_PHASE_AFTER("physics", MICA_PHASE_BEGIN, .fixed_seconds = 1.0 / 16));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(create_stones, (.phase = MICA_PHASE_START)));
    mica_system_add(world, MICA_SYSTEM_WITH(fall, (.phase = physics), MICA_WRITE(Height)));
    mica_system_add(world, MICA_SYSTEM_WITH(report_landings, (.phase = physics, .flush_first = true), MICA_READ(Landed),
                                            MICA_HAS(Height)));
    mica_system_add(world, MICA_SYSTEM_WITH(end_when_all_landed, (.phase = MICA_PHASE_END), MICA_READ(Height)));

    double now = 0;
    mica_clock clock = {.now = simulated_now, .wait = simulated_wait, .context = &now};
    mica_run_def run = mica_run_def_default();
    run.frames_per_second = 8; /* two steps of physics in each frame */
    run.clock = &clock;
    mica_run(world, &run);
    printf("%u frames, %u steps\n", (unsigned)mica_time_get(world).frame,
           (unsigned)(mica_time_get(world).seconds * 16));
    mica_world_destroy(world);
}
