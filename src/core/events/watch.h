/* Watches: functions of the layers above that are called after the hook of the program. A component has a list per event, called in
 * the order of addition. */
#ifndef MICAP_CORE_EVENTS_WATCH_H
#define MICAP_CORE_EVENTS_WATCH_H

#include "core/world/world.h"

/* Adds a watch at the end of the list of a component in use. MICA_EVENT_DESTROY takes component 0. Inside a hook, only of
 * a component that no entity had yet. */
void micap_watch_add(mica_world *world, mica_event_kind kind, mica_component component, micap_watch *watch);
/* Removes a watch that was added. Inside a hook as above. */
void micap_watch_remove(mica_world *world, mica_event_kind kind, mica_component component, micap_watch *watch);

#endif
