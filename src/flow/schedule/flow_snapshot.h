/* The flow in snapshots: time, ticks, how long systems have waited, and the state of listeners. See micap_module_ops. */
#ifndef MICAP_FLOW_SCHEDULE_FLOW_SNAPSHOT_H
#define MICAP_FLOW_SCHEDULE_FLOW_SNAPSHOT_H

#include "mica/world.h"

void *micap_flow_save(mica_world *world, void *state);
void micap_flow_drop(mica_world *world, void *state, void *saved);
bool micap_flow_prepare(mica_world *world, void *state, const void *saved);
void micap_flow_load(mica_world *world, void *state, const void *saved);

#endif
