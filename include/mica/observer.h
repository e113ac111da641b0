/* Mica, observer: any number of functions per event, each with an optional filter.
 *
 *     mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Burning, light_up, MICA_HAS(Torch)));
 *     mica_observer_add(world, &(mica_observer_def){
 *         .events = (mica_event_kind[]){MICA_EVENT_ADD, MICA_EVENT_REMOVE}, .event_count = 2,
 *         .components = (mica_component[]){MICA_ID(Burning), MICA_ID(Frozen)}, .component_count = 2, .fn = update_icon});
 *
 * An observer of several events or components sees in event->kind and event->component what happened.
 * A hook (mica/hook.h) sees every single change. An observer gets the net result of an operation or flush: if an entity
 * changes many times in one flush, the observer is called once for each net difference. An entity that is changed and
 * destroyed in one flush only causes REMOVE for the components it had, and DESTROY.
 *
 * Order for one entity: before the change DESTROY, then REMOVE by ascending component id; after it ADD by ascending component
 * id, then SET, then ENABLE and DISABLE. The hook of an event runs before its observers, which run in the order they were added.
 * Changes that observers make are recorded and applied when the operation ends.
 *
 * A monitor is an observer of MATCH and UNMATCH:
 *
 *     mica_observer_add(world, MICA_MONITOR(update_radar, MICA_READ(Position), MICA_HAS(Enemy), MICA_WITHOUT(Hidden)));
 * It is called with the entities that start and stop matching its terms: when components are added, removed, enabled and disabled, and
 * when entities are created, destroyed, disabled and enabled. The calls come after the operation or flush, and after the changes that
 * hooks and observers recorded in it: first UNMATCH with all entities that stopped, some of which may be destroyed, then MATCH with all
 * that started. An entity that starts and stops in between is not reported. To read the last value of a component, observe REMOVE.
 * Monitors are called in the order in which they were added. Some term must require a component; CHANGED, ADDED and singletons are
 * rejected. Restoring a snapshot calls no monitors. If memory for noting a change runs out, this is reported, and the monitor is not
 * called for that entity.
 *
 * With `.existing = true`, mica_observer_add first calls an observer of ADD or MATCH for what exists already: of ADD one component after
 * the other as listed, each in the order of its rows, enabled or not; of MATCH in the order of a query. Values that it gets count as
 * changed. While the world records, these calls show the world without the recorded changes, and the flush reports the rest: nothing is
 * reported twice.
 *
 * User events are sent by the program, at once or, while the world records (in systems, hooks and observers, and after mica_defer),
 * recorded like other changes. The flush applies the changes, then delivers the events one by one in the order (system, slice, call),
 * or of buffers and calls. Changes by the observers of one event, and the monitors that these call, come before the next event. An event
 * for an entity that is destroyed in the same flush is dropped; for one that was destroyed before, mica_world_def.dead_target decides,
 * as for other changes.
 *
 *     mica_event_propagate(world, HIT, 0, finger, (mica_value){0});
 *
 * An event that propagates is delivered for the entity, then for its parent, and so on up to the root. event->entities is the entity
 * that it has reached, which filters apply to, and event->target the one it was sent to. mica_event_stop ends it.
 */
#ifndef MICA_OBSERVER_H
#define MICA_OBSERVER_H

#include "mica/command.h"
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
    mica_component component; /* 0 for DESTROY, MATCH and UNMATCH, and for user events with any component */
    /* Lists that replace `event` and `component` if they are not empty: the observer is called for each event of each
     * component; for DESTROY, once per entity. */
    const mica_event_kind *events;
    uint32_t event_count;
    const mica_component *components;
    uint32_t component_count;
    const mica_term *terms; /* query terms that the entity must match; none means no filter; of a monitor, some */
    uint32_t term_count;
    mica_event_fn fn;
    void *context;
    mica_location location;
    bool existing; /* of ADD and MATCH: it is first called for what exists already, see above */
} mica_observer_def;

/* Adds an observer. The def is copied. Returns zero with a report on error. Rejected inside systems, hooks and observers.
 * Threads: owner. */
MICA_API mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def);

/* Removes an observer. Returns false if there is none. Rejected as above. Threads: owner. */
MICA_API bool mica_observer_remove(mica_world *world, mica_observer observer);

/* Sends a user event to its observers, about an entity or, with nil, about none. While the world records it is recorded with a
 * copy of the data, see above; text and lists are copied if the data has a type. Returns false with a report if the event is below
 * MICA_EVENT_USER, the entity is not alive, or memory runs out. Threads: any that runs a system; else owner. */
MICA_API bool mica_event_emit(mica_world *world, mica_event_kind event, mica_component component, mica_entity entity,
                              mica_value data);

/* The same, and then for each ancestor of the entity (mica/hierarchy.h), from its parent to the root. Threads: as above. */
MICA_API bool mica_event_propagate(mica_world *world, mica_event_kind event, mica_component component,
                                   mica_entity entity, mica_value data);

/* The same two, recorded into a buffer: see mica/command.h. Threads: one per buffer, any. */
MICA_API bool mica_command_emit(mica_commands *commands, mica_event_kind event, mica_component component,
                                mica_entity entity, mica_value data);
MICA_API bool mica_command_propagate(mica_commands *commands, mica_event_kind event, mica_component component,
                                     mica_entity entity, mica_value data);

/* Called by an observer of a user event: the event does not propagate further. Other observers of the same entity are still called.
 * Returns false with a report if it is not such an event. Threads: owner. */
MICA_API bool mica_event_stop(const mica_event *event);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_observer_add(world, ...) mica_observer_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_observer_remove(world, ...) mica_observer_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_event_emit(world, ...) mica_event_emit(MICA_AT_(world), __VA_ARGS__)
#    define mica_event_propagate(world, ...) mica_event_propagate(MICA_AT_(world), __VA_ARGS__)
#    define mica_command_emit(commands, ...) mica_command_emit(MICA_AT_(commands), __VA_ARGS__)
#    define mica_command_propagate(commands, ...) mica_command_propagate(MICA_AT_(commands), __VA_ARGS__)
#    define mica_event_stop(...) mica_event_stop(MICA_AT_(__VA_ARGS__))
#endif

/* MICA_OBSERVER(event, T, function), or MICA_OBSERVER(event, T, function, terms...) with a filter. */
#define MICA_OBSERVER(event_, T, ...) MICA_OBSERVER_(event_, MICA_ID(T), __VA_ARGS__, {0})
#define MICA_OBSERVER_DESTROY(...) MICA_OBSERVER_(MICA_EVENT_DESTROY, 0, __VA_ARGS__, {0})
/* MICA_MONITOR(function, terms...): called with MATCH and UNMATCH. */
#define MICA_MONITOR(fn_, ...)                                                                                         \
    (&(const mica_observer_def){                                                                                       \
        .name = #fn_,                                                                                                  \
        .events = (const mica_event_kind[]){MICA_EVENT_MATCH, MICA_EVENT_UNMATCH},                                     \
        .event_count = 2,                                                                                              \
        MICA_TERMS(__VA_ARGS__),                                                                                       \
        .fn = (fn_),                                                                                                   \
        .location = MICA_HERE})
/* The last term is not one: it is there so that the list is never empty. */
#define MICA_OBSERVER_(event_, component_, fn_, ...)                                                                   \
    (&(const mica_observer_def){                                                                                       \
        .name = #fn_,                                                                                                  \
        .event = (event_),                                                                                             \
        .component = (component_),                                                                                     \
        .terms = (const mica_term[]){__VA_ARGS__},                                                                     \
        .term_count = (uint32_t)(sizeof((const mica_term[]){__VA_ARGS__}) / sizeof(mica_term)) - 1,                    \
        .fn = (fn_),                                                                                                   \
        .location = MICA_HERE})

#endif
