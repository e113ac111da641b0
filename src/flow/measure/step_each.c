/* A frame whose systems run one by one, with a call after each. */
#include "base/argument.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/system.h"
#include "mica/stats.h"

typedef struct observed_step {
    mica_after_system_fn fn;
    void *context;
} observed_step;

static void system_ended(mica_world *world, void *state, const struct micap_system *system)
{
    const observed_step *step = state;
    step->fn(world, (mica_system){system->id}, step->context);
}

static mica_result flushed(mica_world *world, void *state)
{
    const observed_step *step = state;
    step->fn(world, (mica_system){0}, step->context);
    return MICA_OK;
}

static const micap_listener_ops listener = {.system_ended = system_ended, .flushed = flushed};

mica_result mica_step_each(mica_world *world, float dt, mica_after_system_fn fn, void *context)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, fn))
        return MICA_ERROR_INVALID;
    const micap_flow *flow = micap_flow_get(world);
    if (flow && flow->is_stepping)
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0}, "step_each: refused inside a frame");
    observed_step step = {fn, context};
    if (!micap_listener_set(world, MICAP_LISTENER_STEP, &listener, &step))
        return MICA_ERROR_MEMORY;
    mica_result result = mica_step(world, dt);
    micap_listener_set(world, MICAP_LISTENER_STEP, NULL, NULL);
    return result;
}
