/* Observers: functions that are told about events, each with an optional filter.
 *
 *     observer.c           add and remove; events of the world, which watches of the core report (core/events/watch.h)
 *     monitor.c            told when entities start and stop to match terms
 *     existing_matches.c   what a new observer is told about what is there already
 *     user_event.c         events of the program */
#ifndef MICAP_FLOW_MESSAGING_OBSERVER_H
#define MICAP_FLOW_MESSAGING_OBSERVER_H

#include "core/events/watch.h"
#include "core/query/query.h"
#include "mica/observer.h"

/* One event, and its component, that an observer is told about. */
typedef struct micap_subject {
    micap_watch watch; /* first; for events of the world */
    mica_event_fn fn;
    void *context;
    const char *name;   /* of the observer */
    mica_query *filter; /* NULL: none */
    /* Whether the filter matches the archetype of the last event: mostly the next event has the same. */
    const micap_archetype *last_archetype;
    bool last_matches;
    mica_event_kind event;
    mica_component component; /* 0: none, or any */
} micap_subject;

typedef struct micap_observer {
    struct micap_observer *next;
    char *name;
    mica_query *filter;            /* NULL: none */
    struct micap_monitor *monitor; /* NULL: it is none; otherwise it has no subjects */
    uint32_t id;
    uint32_t subject_count;
    uint32_t subject_capacity;
    micap_subject subjects[];
} micap_observer;

typedef struct micap_observers {
    micap_observer *first, *last; /* in the order they were added */
    uint32_t next_id;
    /* User events: those that a flush has still to deliver, one after the other. */
    char *waiting;
    uint32_t waiting_capacity, waiting_begin, waiting_end; /* in bytes */
    uint32_t generation; /* of the event that was delivered last, while something may follow from it; else 0 */
    bool is_delivering;
    bool is_stopped; /* the event does not propagate further */
} micap_observers;

/* Calls the function for those entities of the event that pass the filter. */
void micap_subject_call(micap_subject *subject, mica_event *seen);

#endif
