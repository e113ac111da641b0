/* Mica, observer: any number of functions per event, each with an optional filter.
 *
 *     mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Burning, light_up, MICA_HAS(Torch)));
 *
 * A hook (mica/hook.h) sees every single change. An observer is told the net result of an operation or flush: if an entity
 * changes many times in one flush, the observer is called once for each net difference. An entity that is changed and
 * destroyed in one flush only causes REMOVE for the components it had, and DESTROY.
 *
 * Order for one entity: before the change DESTROY, then REMOVE by ascending component id; after it ADD by ascending component
 * id, then SET, then ENABLE and DISABLE. The hook of an event runs before its observers, which run in the order they were added.
 * Changes that observers make are recorded and applied when the operation ends.
 */
#ifndef MICA_OBSERVER_H
#define MICA_OBSERVER_H

#include "mica/entity.h"
#include "mica/event.h"
#include "mica/query.h"

MICA_BEGIN

/* An observer id. Zero is none. */
typedef struct mica_observer {
    uint32_t id;
} mica_observer;

typedef struct mica_observer_def {
    const char *name; /* for reports; NULL means "observer" */
    mica_event_kind event;
    mica_component component; /* 0 for DESTROY, and for user events with any component */
    const mica_term *terms;   /* query terms that the entity must match; none means no filter */
    uint32_t term_count;
    mica_event_fn fn;
    void *context;
    mica_location location;
} mica_observer_def;

/* Adds an observer. The def is copied. Returns zero with a report on error. Rejected inside systems, hooks and observers.
 * Threads: owner. */
MICA_API mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def);

/* Removes an observer. Returns false if there is none. Rejected as above. Threads: owner. */
MICA_API bool mica_observer_remove(mica_world *world, mica_observer observer);

/* Sends a user event to its observers, about an entity or, with nil, about none. Inside a system it is delivered after the flush,
 * ordered by (system, slice, call), and dropped if the entity is destroyed. Returns false if the event is below
 * MICA_EVENT_USER, the entity is not alive or memory runs out. Threads: any that runs a system; else owner. */
MICA_API bool mica_event_emit(mica_world *world, mica_event_kind event, mica_component component, mica_entity entity,
                              mica_value data);

MICA_END

/* MICA_OBSERVER(event, T, function), or MICA_OBSERVER(event, T, function, terms...) with a filter. */
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
