/* The streams of a world in snapshots: their content and the positions of their readers. See micap_listener_ops. */
#ifndef MICAP_FLOW_MESSAGING_STREAM_SNAPSHOT_H
#define MICAP_FLOW_MESSAGING_STREAM_SNAPSHOT_H

#include "mica/world.h"

void *micap_streams_save(mica_world *world, void *state);
void micap_streams_drop(mica_world *world, void *state, void *saved);
bool micap_streams_prepare(mica_world *world, void *state, const void *saved);
void micap_streams_load(mica_world *world, void *state, const void *saved);

#endif
