#include "flow/schedule/fixed_step.h"

#include "flow/schedule/phase.h"

uint32_t micap_fixed_step_group_end(const micap_flow *flow, uint32_t first)
{
    uint32_t end = first + 1;
    while (flow->phases[first]->fixed_seconds > 0 && end < flow->phase_count &&
           flow->phases[end]->fixed_seconds == flow->phases[first]->fixed_seconds)
        ++end;
    return end;
}

uint32_t micap_fixed_step_count(micap_flow *flow, uint32_t first, float dt)
{
    micap_phase *phase = flow->phases[first];
    double step = phase->fixed_seconds;
    phase->waited_seconds += dt;
    /* The tolerance makes sure that a frame of a sixtieth of a second has one step of a sixtieth. */
    uint64_t fitting = (uint64_t)(phase->waited_seconds / step + 1e-6);
    phase->waited_seconds -= (double)fitting * step;
    if (phase->waited_seconds < 0)
        phase->waited_seconds = 0;
    return fitting < flow->def.catch_up_max ? (uint32_t)fitting : flow->def.catch_up_max;
}
