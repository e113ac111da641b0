/* Watches: what layers above want to be told beside the one hook of the user. A component has a list per event, called in
 * the order they were added, behind the hook. */
#ifndef MICAP_CORE_EVENTS_WATCH_H
#define MICAP_CORE_EVENTS_WATCH_H

#include "core/world/world.h"

/* The first member of what keeps more. As in a hook, what is changed through the world meanwhile is recorded. */
typedef struct micap_watch {
    struct micap_watch *next;
    void (*seen)(struct micap_watch *watch, const mica_event *event);
} micap_watch;

/* Adds a watch behind the others of a component in use; MICA_EVENT_DESTROY goes with component 0. Not inside a hook. */
void micap_watch_add(mica_world *world, mica_event_kind kind, mica_component component, micap_watch *watch);
/* Takes one out that was added so. */
void micap_watch_remove(mica_world *world, mica_event_kind kind, mica_component component, micap_watch *watch);

/* Calls a list. */
void micap_watches_run(mica_world *world, micap_watch *watches, const mica_event *event);

#endif
