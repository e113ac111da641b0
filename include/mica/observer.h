/* Mica, observer: several functions per event, each for the entities that match a filter.
 *
 *     mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Burning, light_up, MICA_HAS(Torch)));
 *
 * Unlike a hook, of which there is one per component and which sees the change as it happens, an observer may be one of many, and
 * is told the truth of the whole operation or flush: for an entity changed many times in one flush, once for each thing that
 * is now different. An entity that is changed and destroyed in one flush is destroyed: REMOVE for what it had,
 * DESTROY, and nothing of the changes.
 *
 * Order: for one entity DESTROY and then REMOVE, by rising component, before the change; after it ADD by rising component, then
 * SET, then ENABLE and DISABLE; observers of one event in the order they were added, behind the hook. The world records
 * while observers run: what they change is applied when the operation that called them ends.
 */
#ifndef MICA_OBSERVER_H
#define MICA_OBSERVER_H

#include "mica/entity.h"
#include "mica/event.h"
#include "mica/query.h"

MICA_BEGIN

/* The id of an observer. Zero is none. */
typedef struct mica_observer {
    uint32_t id;
} mica_observer;

typedef struct mica_observer_def {
    const char *name; /* for messages; NULL is "observer" */
    mica_event_kind event;
    mica_component component; /* 0 for DESTROY, and for a user event of any component */
    const mica_term *terms;   /* what else the entity must have: the terms of a query; none is no filter */
    uint32_t term_count;
    mica_event_fn fn;
    void *context;
    mica_location location;
} mica_observer_def;

/* Adds an observer; the def is copied. Returns zero with a report when it can't. Refused inside systems, hooks and observers.
 * Threads: owner. */
MICA_API mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def);

/* Removes an observer. False when there is none. Refused as above. Threads: owner. */
MICA_API bool mica_observer_remove(mica_world *world, mica_observer observer);

/* Tells the observers of a user event, about an entity or, with nil, about none; inside a system they are told behind the flush,
 * ordered by (system, slice, call), and not about those that died. False when the event is not MICA_EVENT_USER or above,
 * the entity dead, or memory short. Threads: any that runs a system; else owner. */
MICA_API bool mica_event_emit(mica_world *world, mica_event_kind event, mica_component component, mica_entity entity,
                              mica_value data);

MICA_END

/* MICA_OBSERVER(event, T, function) or with terms of a filter behind it. */
#define MICA_OBSERVER(event_, T, ...)                                                                                  \
    MICA_JOIN_(MICA_OBSERVER_, MICA_ONE_OR_MORE_(__VA_ARGS__))(event_, MICA_ID(T), __VA_ARGS__)
#define MICA_OBSERVER_DESTROY(...)                                                                                     \
    MICA_JOIN_(MICA_OBSERVER_, MICA_ONE_OR_MORE_(__VA_ARGS__))(MICA_EVENT_DESTROY, 0, __VA_ARGS__)
#define MICA_OBSERVER_1(event_, component_, fn_)                                                                       \
    (&(const mica_observer_def){                                                                                       \
        .name = #fn_, .event = (event_), .component = (component_), .fn = (fn_), .location = MICA_HERE})
#define MICA_OBSERVER_2(event_, component_, fn_, ...)                                                                  \
    (&(const mica_observer_def){.name = #fn_,                                                                          \
                                .event = (event_),                                                                     \
                                .component = (component_),                                                             \
                                .fn = (fn_),                                                                           \
                                MICA_TERMS(__VA_ARGS__),                                                               \
                                .location = MICA_HERE})

#endif
