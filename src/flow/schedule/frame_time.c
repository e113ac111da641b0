/* The time of a world: pause, scale, and what mica_time_get returns. */
#include "base/argument.h"
#include "core/world/report.h"
#include "flow/schedule/flow.h"

void mica_pause(mica_world *world, bool paused)
{
    if (MICAP_MISSING(NULL, world))
        return;
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return;
    flow->is_paused = paused;
    flow->is_let_through = false;
}

bool mica_is_paused(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const micap_flow *flow = micap_flow_get(world);
    return flow && flow->is_paused;
}

bool mica_is_stepping(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const micap_flow *flow = micap_flow_get(world);
    return flow && flow->is_stepping;
}

void mica_pause_step(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return;
    micap_flow *flow = micap_flow_of(world);
    if (flow)
        flow->is_let_through = true;
}

mica_result mica_time_set_scale(mica_world *world, double scale)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    micap_flow *flow = micap_flow_of(world);
    if (!flow)
        return MICA_ERROR_MEMORY;
    if (!(scale >= 0 && scale <= 1e6))
        return micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                          "time_set_scale: the scale must be from 0 to 1e6, not %g", scale);
    flow->scale = scale;
    return MICA_OK;
}

mica_time mica_time_get(const mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_time){0};
    const micap_flow *flow = micap_flow_get(world);
    return flow ? flow->time : (mica_time){0};
}
