/* The flow in files: like flow_snapshot.h, with systems and phases by name. See micap_module_ops. */
#ifndef MICAP_FLOW_FLOW_STATE_H
#define MICAP_FLOW_FLOW_STATE_H

#include "mica/world.h"

struct micap_bytes;
struct micap_reader;

void micap_flow_write(const mica_world *world, const void *state, struct micap_bytes *bytes);
void *micap_flow_read(mica_world *world, void *state, struct micap_reader *reader);
bool micap_flow_is_unused(const mica_world *world, const void *state);

#endif
