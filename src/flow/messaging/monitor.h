/* Monitors: observers that are told when entities start and stop to match terms.
 *
 * A monitor has no list of matches. Watches note what happens to the components that its terms name, per entity. When the operation
 * ends, the state of an entity before it follows from its state now and from what was noted. So nothing of a monitor has to be
 * saved or restored, and components that no monitor names cost nothing. */
#ifndef MICAP_FLOW_MESSAGING_MONITOR_H
#define MICAP_FLOW_MESSAGING_MONITOR_H

#include "mica/observer.h"

typedef struct micap_monitor micap_monitor;

/* Whether an event is one that monitors are told. */
static inline bool micap_is_of_monitor(mica_event_kind event)
{
    return event == MICA_EVENT_MATCH || event == MICA_EVENT_UNMATCH;
}

/* Creates a monitor of the terms of a def, whose events are known to be valid; `is_told` has bits 1 << 0 for MATCH and 1 << 1 for
 * UNMATCH. NULL with a report if the terms are invalid or memory is short. The name is not
 * copied. */
micap_monitor *micap_monitor_create(mica_world *world, const mica_observer_def *def, const char *name,
                                    uint32_t is_told);
/* `is_world_ending`: the world frees its queries and watches itself. */
void micap_monitor_destroy(mica_world *world, micap_monitor *monitor, bool is_world_ending);

/* The world begins to use a component that hides entities. False if memory is short. */
bool micap_monitor_use(mica_world *world, micap_monitor *monitor, mica_component component);
/* It does not after all. */
void micap_monitor_leave(mica_world *world, micap_monitor *monitor, mica_component component);

/* The operation has ended: calls the function with entities that stopped to match, then with those that started. Both in the order in which
 * the entities were changed first. False if there are none. */
bool micap_monitor_settle(mica_world *world, micap_monitor *monitor);

/* Calls the function with all entities that match, if it is told MATCH: batch by batch in the order of the query. */
void micap_monitor_tell_existing(mica_world *world, const micap_monitor *monitor);

/* Drops what was noted: a snapshot was restored. */
void micap_monitor_forget(micap_monitor *monitor);

/* Releases unused memory. */
void micap_monitor_trim(mica_world *world, micap_monitor *monitor);

#endif
