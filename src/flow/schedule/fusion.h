/* Chains: systems that run one after the other over each slice while it is in the cache, instead of each over all rows. */
#ifndef MICAP_FLOW_SCHEDULE_FUSION_H
#define MICAP_FLOW_SCHEDULE_FUSION_H

#include "flow/schedule/flow.h"

/* Cuts a phase, whose order and links are known, into legs and those into chains; false when memory is short. */
bool micap_chains_build(micap_flow *flow, micap_phase *phase);

#endif
