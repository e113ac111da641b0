/* The fixed time step: how often phases with a fixed step run in a frame. */
#ifndef MICAP_FLOW_SCHEDULE_FIXED_STEP_H
#define MICAP_FLOW_SCHEDULE_FIXED_STEP_H

#include "flow/schedule/flow.h"

/* Returns the end of the group of phases that starts at `first`: adjacent phases with the same fixed step take turns. A
 * phase without a fixed step is a group of its own. */
uint32_t micap_fixed_step_group_end(const micap_flow *flow, uint32_t first);

/* Adds the time of a frame to a group of phases and returns how many steps it runs now, at most catch_up_max: the time of
 * further steps is dropped. */
uint32_t micap_fixed_step_count(micap_flow *flow, uint32_t first, float dt);

#endif
