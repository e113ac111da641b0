/* Existing matches: a new observer is told about what is there already, as if it had just happened. */
#ifndef MICAP_FLOW_MESSAGING_EXISTING_MATCHES_H
#define MICAP_FLOW_MESSAGING_EXISTING_MATCHES_H

#include "flow/messaging/observer.h"

/* Calls the function of an observer for all components it is told the addition of: one component after the other, in the order of rows.
 * Calls that of a monitor for all entities that match. The caller applies what they record. Can't fail. */
void micap_existing_tell(mica_world *world, micap_observer *observer);

#endif
