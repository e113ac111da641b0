/* Observers: watches of the core (core/events/watch.h) with a filter, and the events of the program. */
#include "core/world/access_check.h"
#include "core/events/hooks.h"
#include "core/world/report.h"
#include "core/events/watch.h"
#include "core/storage/rows.h"
#include "flow/messaging/message_queue.h"
#include "mica/observer.h"

typedef struct observer {
    micap_watch watch; /* first: of events of the world */
    mica_world *world;
    struct observer *next;
    mica_query *filter; /* NULL: none */
    /* What the filter says about the archetype that was asked for last: mostly it is asked for again. */
    const micap_archetype *asked;
    bool matches;
    mica_event_kind event;
    mica_component component;
    mica_event_fn fn;
    void *context;
    uint32_t id;
} observer;

typedef struct observers {
    observer *first, *last; /* in the order they were added */
    uint32_t next_id;
    micap_queue letters; /* events of the program, told inside systems */
} observers;

/* Tells an observer about some of those that an event is about. */
static void tell_some(const observer *observer, const mica_event *all, uint32_t begin, uint32_t count)
{
    mica_event some = *all;
    some.count = count;
    some.entities = all->entities + begin;
    if (all->values)
        some.values = (char *)all->values + (size_t)begin * micap_type_of(all->component)->type.size_bytes;
    observer->fn(&some);
}

/* Those among rows that lie one after the other in a chunk that pass the filter, in runs. */
static void tell_filtered_rows(observer *observer, const mica_event *seen, micap_spot spot, uint32_t begin,
                               uint32_t count)
{
    const mica_query *filter = observer->filter;
    if (observer->asked != spot.chunk->archetype) {
        observer->asked = spot.chunk->archetype;
        observer->matches = micap_query_matches_archetype(filter, observer->asked);
    }
    if (!observer->matches)
        return;
    if (!filter->filter_count) {
        tell_some(observer, seen, begin, count);
        return;
    }
    uint32_t end = spot.row + count;
    for (uint32_t row = spot.row, run; (run = micap_query_next_run(filter, spot.chunk, &row, end, 0)); row += run)
        tell_some(observer, seen, begin + row - spot.row, run);
}

/* Rows of a chunk come as they lie there; others, of a pool say, have their owners all over the place. */
static void tell_filtered(observer *observer, const mica_event *seen)
{
    for (uint32_t begin = 0, run; begin < seen->count; begin += run) {
        micap_spot spot = micap_locate(observer->world, seen->entities[begin]);
        if (!micap_is_row(spot)) {
            run = 1;
            continue;
        }
        bool lies_there = seen->entities + begin == micap_chunk_entities(spot.chunk) + spot.row;
        run = lies_there ? seen->count - begin : 1;
        tell_filtered_rows(observer, seen, spot, begin, run);
    }
}

static void tell(observer *observer, mica_event *seen)
{
    seen->world = observer->world;
    seen->context = observer->context;
    if (observer->filter)
        tell_filtered(observer, seen);
    else
        observer->fn(seen);
}

static void watch_seen(micap_watch *watch, const mica_event *event)
{
    mica_event seen = *event;
    tell((observer *)watch, &seen);
}

static void release_observer(mica_world *world, observer *observer)
{
    mica_query_destroy(observer->filter);
    micap_release(&world->memory, observer, sizeof *observer, MICAP_ARRAY_ALIGNMENT);
}

/* An event of the program, told to all who observe it. */
static void tell_all(mica_world *world, observers *observers, const micap_letter *letter, const void *data)
{
    if (!mica_is_nil(letter->entity) && !mica_is_alive(world, letter->entity))
        return;
    uint32_t depth = micap_callback_begin(world);
    for (observer *observer = observers->first; observer; observer = observer->next) {
        if (observer->event != letter->kind || (observer->component && observer->component != letter->component))
            continue;
        mica_event seen = {.kind = letter->kind, .component = letter->component, .data = data};
        seen.count = !mica_is_nil(letter->entity);
        seen.entities = seen.count ? &letter->entity : NULL;
        if (seen.count && letter->component && micap_type_of(letter->component)->type.size_bytes)
            seen.values = mica_write_id(world, letter->entity, letter->component);
        tell(observer, &seen);
    }
    micap_callback_end(world, depth);
}

static bool phase_begin(mica_world *world, void *state)
{
    observers *observers = state;
    if (micap_queue_prepare(&observers->letters, mica_worker_count(world), micap_lane_count(world)))
        return true;
    micap_fail_memory(world, "observer");
    return false;
}

static void phase_end(mica_world *world, void *state)
{
    (void)world;
    observers *observers = state;
    micap_queue_commit(&observers->letters);
}

static mica_result flushed(mica_world *world, void *state)
{
    observers *observers = state;
    micap_run *run = NULL;
    for (const micap_letter *letter = NULL; (letter = micap_letter_next(&observers->letters, &run, letter));) {
        tell_all(world, observers, letter, micap_letter_data(letter));
        micap_hooks_end(world);
    }
    micap_queue_drop(&observers->letters, observers->letters.end);
    return MICA_OK;
}

static void trim(mica_world *world, void *state)
{
    (void)world;
    observers *observers = state;
    micap_queue_trim(&observers->letters);
}

/* The world ends: its lists of watches go with it, and so do its queries. */
static void release(mica_world *world, void *state)
{
    observers *observers = state;
    for (observer *observer = observers->first, *next; observer; observer = next) {
        next = observer->next;
        micap_release(&world->memory, observer, sizeof *observer, MICAP_ARRAY_ALIGNMENT);
    }
    micap_queue_free(&observers->letters);
    micap_release(&world->memory, observers, sizeof *observers, MICAP_ARRAY_ALIGNMENT);
}

/* Nothing waits between frames. What a filter says was said of archetypes that may be gone. */
static void load(mica_world *world, void *state, const void *saved)
{
    (void)world, (void)saved;
    const observers *observers = state;
    for (observer *at = observers->first; at; at = at->next)
        at->asked = NULL;
}

static const micap_listener_ops listener = {
    .load = load,
    .phase_begin = phase_begin,
    .phase_end = phase_end,
    .flushed = flushed,
    .trim = trim,
    .free = release,
};

static observers *observers_of(mica_world *world)
{
    observers *state = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    if (state)
        return state;
    state = micap_allocate_zeroed(&world->memory, sizeof *state, MICAP_ARRAY_ALIGNMENT);
    if (!state) {
        micap_fail_memory(world, "observer");
        return NULL;
    }
    micap_queue_init(&state->letters, &world->memory, MICAP_LETTER_ALIGNMENT);
    if (!micap_listen(world, MICAP_LISTENER_OBSERVERS, &listener, state)) {
        micap_release(&world->memory, state, sizeof *state, MICAP_ARRAY_ALIGNMENT);
        return NULL;
    }
    return state;
}

static bool is_of_world(mica_event_kind event)
{
    return event <= MICA_EVENT_DISABLE;
}

/* Whether the def makes sense; a report when not. */
static bool is_sane(mica_world *world, const mica_observer_def *def)
{
    const char *name = def->name ? def->name : "observer";
    micap_check_door(world, "observer_add");
    if (world->hook_depth || micap_is_running(world)) {
        micap_fail(world, MICA_ERROR_REFUSED, def->location,
                   "observer %s: can't be added inside a system, hook or observer", name);
        return false;
    }
    if (!def->fn || (!is_of_world(def->event) && def->event < MICA_EVENT_USER)) {
        micap_fail(world, MICA_ERROR_INVALID, def->location, "observer %s: it needs a function and an event", name);
        return false;
    }
    if (is_of_world(def->event) && (def->event == MICA_EVENT_DESTROY) != (def->component == 0)) {
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "observer %s: DESTROY goes without a component, the other events with one", name);
        return false;
    }
    if (!def->component)
        return true;
    const micap_type *type = micap_type_for_entities(world, def->component);
    if (type && !type->type.toggle && (def->event == MICA_EVENT_ENABLE || def->event == MICA_EVENT_DISABLE)) {
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "observer %s: %s can't be toggled: describe it with .toggle", name, type->type.name);
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
                        .world = world,
                        .event = def->event,
                        .component = def->component,
                        .fn = def->fn,
                        .context = def->context};
    if (!def->term_count)
        return fresh;
    fresh->filter = mica_query_create(world, &(mica_query_def){.name = def->name ? def->name : "observer",
                                                               .terms = def->terms,
                                                               .term_count = def->term_count,
                                                               .location = def->location});
    if (fresh->filter)
        return fresh;
    release_observer(world, fresh);
    return NULL;
}

mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def)
{
    mica_observer none = {0};
    observers *observers = def && is_sane(world, def) ? observers_of(world) : NULL;
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
    observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    micap_check_door(world, "observer_remove");
    if (world->hook_depth || micap_is_running(world)) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                   "observer: can't be removed inside a system, hook or observer");
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
    if (event < MICA_EVENT_USER) {
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                   "observe_emit: event %u is told by the world itself; those of the program begin at MICA_EVENT_USER",
                   event);
        return false;
    }
    if (!mica_is_nil(entity) && !mica_is_alive(world, entity)) {
        micap_fail_dead(world, entity, "observe_emit");
        return false;
    }
    observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    if (!observers)
        return true; /* nobody listens */
    micap_letter letter = {.kind = event, .component = component, .entity = entity};
    letter.data_bytes = data.data ? data.size_bytes : 0;
    if (micap_task_here(world))
        return micap_letter_keep(&observers->letters, world, &letter, data.data);
    tell_all(world, observers, &letter, data.data);
    micap_hooks_end(world);
    return true;
}
