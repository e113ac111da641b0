/* User events: emitted by the program. While the world records they are notes among the recorded changes
 * (core/commands/module_notes.h). The flush that applies these changes puts them into a list, and delivers them one after the other when
 * the changes have settled: see core/events/settle.h. */
#ifndef MICAP_FLOW_MESSAGING_USER_EVENT_H
#define MICAP_FLOW_MESSAGING_USER_EVENT_H

#include "flow/messaging/observer.h"

/* Delivers events that wait, until observers record something: that is applied before the next event. False if none waits.
 * `has_news`: monitors were told something just now; what they recorded comes first. */
bool micap_user_events_settle(mica_world *world, micap_observers *observers, bool has_news);

/* Releases the list, in which nothing waits. */
void micap_user_events_trim(mica_world *world, micap_observers *observers);

#endif
