/* Telling a tool what passes through a world: mica/traffic.h. Call these only if `world->traffic` is not NULL. */
#ifndef MICAP_FLOW_MESSAGING_TRAFFIC_H
#define MICAP_FLOW_MESSAGING_TRAFFIC_H

#include "flow/messaging/message_queue.h"
#include "flow/messaging/stream_frame.h"
#include "mica/traffic.h"

void micap_traffic_tell(mica_world *world, const mica_traffic *traffic);
/* What was appended to streams since the last call. */
void micap_traffic_tell_streams(micap_streams *streams);
void micap_traffic_tell_message(mica_world *world, const micap_queued_message *message);
void micap_traffic_tell_observer(const char *name, const mica_event *event);

#endif
