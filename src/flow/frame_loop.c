/* Running frames in measured time. The clock is read only here, so that all that happens in a frame depends on its dt alone. */
#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "os/clock.h"

static double computer_now(void *context)
{
    (void)context;
    return (double)micap_clock_ns() * 1e-9;
}

static void computer_wait(double seconds, void *context)
{
    (void)context;
    micap_sleep_ns((uint64_t)(seconds * 1e9));
}

static const mica_clock computer_clock = {.now = computer_now, .wait = computer_wait};

mica_run_def mica_run_def_default(void)
{
    return (mica_run_def){.frames_per_second = 60, .frame_seconds_max = 0.25};
}

/* Returns what is wrong with a def, or NULL. */
static const char *problem_of(const mica_run_def *def)
{
    if (!(def->frames_per_second == 0 || (def->frames_per_second >= 1e-3 && def->frames_per_second <= 1e6)))
        return "frames_per_second must be 0, or from 0.001 to 1e6";
    if (!(def->frame_seconds_max >= 0 && def->frame_seconds_max < 1e9))
        return "frame_seconds_max must be from 0 to 1e9";
    if (def->clock && (!def->clock->now || !def->clock->wait))
        return "the clock needs now and wait";
    return NULL;
}

/* When frames begin. */
typedef struct pace {
    const mica_clock *clock;
    double last; /* when the last frame began */
    double next; /* when the next frame should begin */
} pace;

/* Waits until the next frame should begin. Returns the time since the last one began. */
static double wait_for_frame(pace *pace, double frames_per_second)
{
    const mica_clock *clock = pace->clock;
    double time = clock->now(clock->context);
    if (frames_per_second > 0) {
        double frame_seconds = 1 / frames_per_second;
        pace->next += frame_seconds;
        if (time < pace->next) {
            clock->wait(pace->next - time, clock->context);
            time = clock->now(clock->context);
        } else if (time > pace->next + frame_seconds) {
            pace->next = time; /* do not hurry to make up for it */
        }
    }
    double elapsed = time - pace->last;
    pace->last = time;
    return elapsed;
}

static float limited(double elapsed, double seconds_max)
{
    if (!(elapsed > 0)) /* a clock that goes back */
        return 0;
    return (float)(elapsed < seconds_max ? elapsed : seconds_max);
}

static mica_result run_frames(micap_flow *flow, const mica_run_def *def)
{
    const mica_clock *clock = def->clock ? def->clock : &computer_clock;
    pace pace = {.clock = clock, .last = clock->now(clock->context)};
    pace.next = pace.last;
    double elapsed = 0,
           elapsed_max = def->frame_seconds_max > 0 ? def->frame_seconds_max : mica_run_def_default().frame_seconds_max;
    for (uint64_t frame = 1;; ++frame) {
        mica_result result = mica_step(flow->world, limited(elapsed, elapsed_max));
        if (result != MICA_OK || frame == def->frame_count ||
            atomic_load_explicit(&flow->is_stop_asked, memory_order_relaxed))
            return result;
        elapsed = wait_for_frame(&pace, def->frames_per_second);
    }
}

mica_result mica_run(mica_world *world, const mica_run_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, def))
        return MICA_ERROR_INVALID;
    const char *problem = problem_of(def);
    if (problem)
        return micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "run: %s", problem);
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (!flow->is_stepping) /* inside a frame, mica_step refuses */
        atomic_store_explicit(&flow->is_stop_asked, false, memory_order_relaxed);
    ++world->frame_depth;
    mica_result result = run_frames(flow, def);
    --world->frame_depth;
    return result;
}

void mica_stop(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return;
    micap_flow *flow = micap_flow_get(world);
    if (flow)
        atomic_store_explicit(&flow->is_stop_asked, true, memory_order_relaxed);
}
