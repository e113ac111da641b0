/* User events: emitted by the program. Inside systems they wait in a queue until the flush. */
#ifndef MICAP_FLOW_MESSAGING_USER_EVENT_H
#define MICAP_FLOW_MESSAGING_USER_EVENT_H

#include "flow/messaging/observer.h"

/* Calls the observers of all events that wait, in order. */
void micap_user_events_deliver(mica_world *world, micap_observers *observers);

#endif
