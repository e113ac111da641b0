/* The streams of a world in snapshots: their content and the positions of their readers. See micap_listener_ops. */
#ifndef MICAP_FLOW_MESSAGING_STREAM_SNAPSHOT_H
#define MICAP_FLOW_MESSAGING_STREAM_SNAPSHOT_H

#include "mica/world.h"

void *micap_streams_save(mica_world *world, void *state);
void micap_streams_drop(mica_world *world, void *state, void *saved);
bool micap_streams_prepare(mica_world *world, void *state, const void *saved);
void micap_streams_load(mica_world *world, void *state, const void *saved);

/* For files: streams are found by name, and readers by the names of their systems. */
struct micap_bytes;
struct micap_reader;
void micap_streams_write(const mica_world *world, const void *state, struct micap_bytes *bytes);
void *micap_streams_read(mica_world *world, void *state, struct micap_reader *reader);

#endif
