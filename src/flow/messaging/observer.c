/* Observers: watches of the core (core/events/watch.h) with a filter, and user events. */
#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/events/watch.h"
#include "core/query/query_filter.h"
#include "core/storage/rows.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "flow/messaging/message_queue.h"
#include "flow/schedule/listener.h"
#include "mica/observer.h"

typedef struct observer {
    micap_watch watch; /* first; for events of the world */
    struct observer *next;
    mica_query *filter; /* NULL: none */
    /* Whether the filter matches the archetype of the last event: mostly the next event has the same. */
    const micap_archetype *last_archetype;
    bool last_matches;
    mica_event_kind event;
    mica_component component;
    mica_event_fn fn;
    void *context;
    uint32_t id;
} observer;

typedef struct observers {
    observer *first, *last; /* in the order they were added */
    uint32_t next_id;
    micap_queue queue; /* user events that were emitted inside systems */
} observers;

/* Calls an observer for a part of the entities of an event. */
static void call_part(const observer *observer, const mica_event *all, uint32_t begin, uint32_t count)
{
    mica_event some = *all;
    some.count = count;
    some.entities = all->entities + begin;
    if (all->values)
        some.values = (char *)all->values + (size_t)begin * micap_type_of(all->component)->type.size_bytes;
    observer->fn(&some);
}

/* Calls an observer for consecutive rows of a chunk that pass its filter. */
static void call_filtered_rows(observer *observer, const mica_event *seen, micap_row spot, uint32_t begin,
                               uint32_t count)
{
    const mica_query *filter = observer->filter;
    if (observer->last_archetype != spot.chunk->archetype) {
        observer->last_archetype = spot.chunk->archetype;
        observer->last_matches = micap_query_matches_archetype(filter, observer->last_archetype);
    }
    if (!observer->last_matches)
        return;
    if (!filter->filter_count) {
        call_part(observer, seen, begin, count);
        return;
    }
    uint32_t end = spot.row + count;
    for (uint32_t row = spot.row, rows; (rows = micap_query_next_run(filter, spot.chunk, &row, end, 0)); row += rows)
        call_part(observer, seen, begin + row - spot.row, rows);
}

/* Entities that are rows of one chunk are filtered together; those of a pool, which may be anywhere, one by one. */
static void call_filtered(observer *observer, const mica_event *seen)
{
    for (uint32_t begin = 0, step; begin < seen->count; begin += step) {
        micap_row spot = micap_locate(seen->world, seen->entities[begin]);
        if (!micap_is_row(spot)) {
            step = 1;
            continue;
        }
        bool is_in_place = seen->entities + begin == micap_chunk_entities(spot.chunk) + spot.row;
        step = is_in_place ? seen->count - begin : 1;
        call_filtered_rows(observer, seen, spot, begin, step);
    }
}

static inline void call_observer(observer *observer, mica_event *seen)
{
    seen->context = observer->context;
    if (observer->filter)
        call_filtered(observer, seen);
    else
        observer->fn(seen);
}

static void watch_seen(micap_watch *watch, mica_event *event)
{
    call_observer((observer *)watch, event);
}

static void release_observer(mica_world *world, observer *observer)
{
    mica_query_destroy(observer->filter);
    micap_release(&world->memory, observer, sizeof *observer, MICAP_ARRAY_ALIGNMENT);
}

/* Calls all observers of a user event. */
static void call_observers(mica_world *world, observers *observers, const micap_queued_message *event, const void *data)
{
    if (!mica_is_nil(event->entity) && !mica_is_alive(world, event->entity))
        return;
    uint32_t depth = micap_callback_begin(world);
    for (observer *observer = observers->first; observer; observer = observer->next) {
        if (observer->event != event->kind || (observer->component && observer->component != event->component))
            continue;
        mica_event seen = {.world = world, .kind = event->kind, .component = event->component, .data = data};
        seen.count = !mica_is_nil(event->entity);
        seen.entities = seen.count ? &event->entity : NULL;
        if (seen.count && event->component && micap_type_of(event->component)->type.size_bytes)
            seen.values = mica_write_id(world, event->entity, event->component);
        call_observer(observer, &seen);
    }
    micap_callback_end(world, depth);
}

static bool phase_begin(mica_world *world, void *state)
{
    observers *observers = state;
    if (micap_queue_prepare(&observers->queue, mica_worker_count(world), micap_sequence_count(world)))
        return true;
    micap_fail_memory(world, "observer");
    return false;
}

static void phase_end(mica_world *world, void *state)
{
    (void)world;
    observers *observers = state;
    micap_queue_commit(&observers->queue);
}

static mica_result flushed(mica_world *world, void *state)
{
    observers *observers = state;
    micap_queue_span *span = NULL;
    for (const micap_queued_message *event = NULL;
         (event = micap_message_queue_next(&observers->queue, &span, event));) {
        call_observers(world, observers, event, micap_message_data(event));
        micap_hooks_end(world);
    }
    micap_queue_drop(&observers->queue, observers->queue.end);
    return MICA_OK;
}

static void trim(mica_world *world, void *state)
{
    (void)world;
    observers *observers = state;
    micap_queue_trim(&observers->queue);
}

/* The world ends; it frees its watches and queries itself. */
static void free_observers(mica_world *world, void *state)
{
    observers *observers = state;
    for (observer *observer = observers->first, *next; observer; observer = next) {
        next = observer->next;
        micap_release(&world->memory, observer, sizeof *observer, MICAP_ARRAY_ALIGNMENT);
    }
    micap_queue_free(&observers->queue);
}

/* No event waits between frames. The archetypes that filters were compared with may have been freed. */
static void load(mica_world *world, void *state, const void *saved)
{
    (void)world, (void)saved;
    const observers *observers = state;
    for (observer *at = observers->first; at; at = at->next)
        at->last_archetype = NULL;
}

static bool init(mica_world *world, void *state)
{
    observers *observers = state;
    micap_queue_init(&observers->queue, &world->memory, MICAP_MESSAGE_ALIGNMENT);
    return true;
}

static const micap_listener_ops listener = {
    .init = init,
    .load = load,
    .phase_begin = phase_begin,
    .phase_end = phase_end,
    .flushed = flushed,
    .trim = trim,
    .free = free_observers,
};

static bool is_of_world(mica_event_kind event)
{
    return event <= MICA_EVENT_DISABLE;
}

/* Whether the def is valid, with a report if not. */
static bool is_valid(mica_world *world, const mica_observer_def *def)
{
    const char *name = def->name ? def->name : "observer";
    micap_check_door(world, "observer_add");
    if (world->hook_depth || micap_is_running(world)) {
        micap_fail(world, MICA_ERROR_REFUSED, def->location,
                   "observer %s: it can't be added inside a system, hook or observer", name);
        return false;
    }
    if (!def->fn || (!is_of_world(def->event) && def->event < MICA_EVENT_USER)) {
        micap_fail(world, MICA_ERROR_INVALID, def->location, "observer %s: a function and an event are required", name);
        return false;
    }
    if (is_of_world(def->event) && (def->event == MICA_EVENT_DESTROY) != (def->component == 0)) {
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "observer %s: DESTROY must have no component, the other events must have one", name);
        return false;
    }
    if (!def->component)
        return true;
    const micap_type *type = micap_type_for_entities(world, def->component);
    if (type && !type->type.toggle && (def->event == MICA_EVENT_ENABLE || def->event == MICA_EVENT_DISABLE)) {
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "observer %s: %s can't be enabled or disabled: describe it with .toggle", name, type->type.name);
        return false;
    }
    return type != NULL;
}

static observer *make(mica_world *world, const mica_observer_def *def)
{
    observer *fresh = micap_allocate_zeroed(&world->memory, sizeof *fresh, MICAP_ARRAY_ALIGNMENT);
    if (!fresh) {
        micap_fail_memory(world, "observer");
        return NULL;
    }
    *fresh = (observer){.watch.seen = watch_seen,
                        .event = def->event,
                        .component = def->component,
                        .fn = def->fn,
                        .context = def->context};
    if (!def->term_count)
        return fresh;
    fresh->filter = mica_query_create(world, &(mica_query_def){.name = def->name ? def->name : "observer",
                                                               .terms = def->terms,
                                                               .term_count = def->term_count,
                                                               .location = def->location,
                                                               .with_hidden = true});
    if (fresh->filter)
        return fresh;
    release_observer(world, fresh);
    return NULL;
}

mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def)
{
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, def))
        return (mica_observer){0};
    mica_observer none = {0};
    observers *observers = NULL;
    if (def && is_valid(world, def))
        observers = micap_listener_require(world, MICAP_LISTENER_OBSERVERS, &listener, sizeof *observers, "observer");
    observer *fresh = observers ? make(world, def) : NULL;
    if (!fresh)
        return none;
    fresh->id = ++observers->next_id;
    *(observers->last ? &observers->last->next : &observers->first) = fresh;
    observers->last = fresh;
    if (is_of_world(def->event))
        micap_watch_add(world, def->event, def->component, &fresh->watch);
    return (mica_observer){fresh->id};
}

bool mica_observer_remove(mica_world *world, mica_observer id)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    micap_check_door(world, "observer_remove");
    if (world->hook_depth || micap_is_running(world)) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                   "observer_remove: refused inside a system, hook or observer");
        return false;
    }
    observer *before = NULL;
    observer *found = observers ? observers->first : NULL;
    for (; found && found->id != id.id; found = found->next)
        before = found;
    if (!found)
        return false;
    *(before ? &before->next : &observers->first) = found->next;
    if (observers->last == found)
        observers->last = before;
    if (is_of_world(found->event))
        micap_watch_remove(world, found->event, found->component, &found->watch);
    release_observer(world, found);
    return true;
}

bool mica_event_emit(mica_world *world, mica_event_kind event, mica_component component, mica_entity entity,
                     mica_value data)
{
    if (MICAP_MISSING(NULL, world) ||
        MICAP_INVALID(world, component && !micap_type_of(component), component, "must be a component, or 0") ||
        MICAP_INVALID(world, data.component && !micap_type_of(data.component), data, "must be of a described type") ||
        MICAP_INVALID(world, data.component && micap_type_of(data.component)->owns, data,
                      "is copied as bytes: it must have no text and no lists"))
        return false;
    if (data.component && !micap_value_fits(world, micap_type_of(data.component), &data, (mica_location){0}))
        return false;
    if (event < MICA_EVENT_USER) {
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                   "event_emit: event %u is an event of the world; user events begin at MICA_EVENT_USER", event);
        return false;
    }
    if (!mica_is_nil(entity) && !mica_is_alive(world, entity)) {
        micap_fail_dead(world, entity, "event_emit");
        return false;
    }
    observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    if (!observers)
        return true; /* there are no observers */
    micap_queued_message queued = {.kind = event, .component = component, .entity = entity};
    queued.data_bytes = data.data ? data.size_bytes : 0;
    if (micap_running_job_of(world))
        return micap_message_queue_add(&observers->queue, world, &queued, data.data);
    call_observers(world, observers, &queued, data.data);
    micap_hooks_end(world);
    return true;
}
