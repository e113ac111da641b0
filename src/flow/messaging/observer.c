#include "flow/messaging/observer.h"

#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/query/pattern_view.h"
#include "core/query/query_filter.h"
#include "core/query/query.h"
#include "core/query/query_join.h"
#include "core/storage/rows.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "flow/messaging/existing_matches.h"
#include "flow/messaging/monitor.h"
#include "flow/messaging/traffic.h"
#include "flow/messaging/user_event.h"
#include "flow/schedule/flow.h"
#include "flow/schedule/job_run.h"
#include "flow/schedule/listener.h"

static void call(const micap_subject *subject, const mica_event *event)
{
    if (MICAP_UNLIKELY(event->world->traffic))
        micap_traffic_tell_observer(subject->name, event);
    subject->fn(event);
}

/* Calls an observer for a part of the entities of an event. */
static void call_part(const micap_subject *subject, const mica_event *all, uint32_t begin, uint32_t count)
{
    mica_event some = *all;
    some.count = count;
    some.entities = all->entities + begin;
    if (all->values)
        some.values = (char *)all->values + (size_t)begin * micap_type_of(all->component)->type.size_bytes;
    call(subject, &some);
}

/* Calls an observer whose filter names pools or other entities, which are asked for one entity after the other. */
static void call_joined(const micap_subject *subject, const mica_event *seen, uint32_t begin, uint32_t count)
{
    uint32_t end = begin + count;
    for (uint32_t run; begin < end; begin += run + 1) {
        for (run = 0; begin + run < end; ++run)
            if (!(subject->filter->pattern ? micap_pattern_matches(subject->filter, seen->entities[begin + run])
                                           : micap_join_matches(subject->filter, seen->entities[begin + run], 0)))
                break;
        if (run)
            call_part(subject, seen, begin, run);
    }
}

/* Calls an observer for consecutive rows of a chunk that pass its filter. */
static void call_filtered_rows(micap_subject *subject, const mica_event *seen, micap_row spot, uint32_t begin,
                               uint32_t count)
{
    const mica_query *filter = subject->filter;
    if (filter->pattern) {
        call_joined(subject, seen, begin, count);
        return;
    }
    if (subject->last_archetype != spot.chunk->archetype) {
        subject->last_archetype = spot.chunk->archetype;
        subject->last_matches = micap_query_matches_archetype(filter, subject->last_archetype);
    }
    if (!subject->last_matches)
        return;
    if (filter->join_count) {
        call_joined(subject, seen, begin, count);
        return;
    }
    if (!filter->filter_count) {
        call_part(subject, seen, begin, count);
        return;
    }
    uint32_t end = spot.row + count;
    for (uint32_t row = spot.row, rows; (rows = micap_query_next_run(filter, spot.chunk, &row, end, 0)); row += rows)
        call_part(subject, seen, begin + row - spot.row, rows);
}

/* Entities that are rows of one chunk are filtered together; those of a pool, which may be anywhere, one by one. */
static void call_filtered(micap_subject *subject, const mica_event *seen)
{
    for (uint32_t begin = 0, step; begin < seen->count; begin += step) {
        micap_row spot = micap_locate(seen->world, seen->entities[begin]);
        if (!micap_is_row(spot)) {
            step = 1;
            continue;
        }
        bool is_in_place = seen->entities + begin == micap_chunk_entities(spot.chunk) + spot.row;
        step = is_in_place ? seen->count - begin : 1;
        call_filtered_rows(subject, seen, spot, begin, step);
    }
}

void micap_subject_call(micap_subject *subject, mica_event *seen)
{
    seen->context = subject->context;
    if (subject->filter)
        call_filtered(subject, seen);
    else
        call(subject, seen);
}

static void watch_seen(micap_watch *watch, mica_event *event)
{
    micap_subject_call((micap_subject *)watch, event);
}

static size_t bytes_of(uint64_t subject_count)
{
    return sizeof(micap_observer) + subject_count * sizeof(micap_subject);
}

static void release_memory(mica_world *world, micap_observer *observer)
{
    micap_flow_free_text(world, observer->name);
    micap_release(&world->memory, observer, bytes_of(observer->subject_capacity), MICAP_ARRAY_ALIGNMENT);
}

static void release_observer(mica_world *world, micap_observer *observer)
{
    micap_query_free(observer->filter);
    if (observer->monitor)
        micap_monitor_destroy(world, observer->monitor, false);
    release_memory(world, observer);
}

static bool settle(mica_world *world)
{
    micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    bool has_news = false;
    for (const micap_observer *at = observers->first; at; at = at->next)
        if (at->monitor)
            has_news |= micap_monitor_settle(world, at->monitor);
    return micap_user_events_settle(world, observers, has_news);
}

static bool hides(mica_world *world, mica_component component)
{
    const micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    const micap_observer *at = observers->first;
    while (at && (!at->monitor || micap_monitor_use(world, at->monitor, component)))
        at = at->next;
    for (const micap_observer *done = observers->first; at && done; done = done->next)
        if (done->monitor)
            micap_monitor_leave(world, done->monitor, component);
    return !at;
}

static void trim(mica_world *world, void *state)
{
    micap_observers *observers = state;
    micap_user_events_trim(world, observers);
    for (const micap_observer *at = observers->first; at; at = at->next)
        if (at->monitor)
            micap_monitor_trim(world, at->monitor);
}

/* The world ends; it frees its watches and queries itself. */
static void free_observers(mica_world *world, void *state)
{
    micap_observers *observers = state;
    for (micap_observer *observer = observers->first, *next; observer; observer = next) {
        next = observer->next;
        if (observer->monitor)
            micap_monitor_destroy(world, observer->monitor, true);
        release_memory(world, observer);
    }
    micap_user_events_trim(world, observers);
}

/* No event waits between operations. The archetypes that filters were compared with may have been freed. */
static void load(mica_world *world, void *state, const void *saved)
{
    (void)world, (void)saved;
    const micap_observers *observers = state;
    for (micap_observer *at = observers->first; at; at = at->next) {
        if (at->monitor)
            micap_monitor_forget(at->monitor);
        for (uint32_t i = 0; i < at->subject_count; ++i)
            at->subjects[i].last_archetype = NULL;
    }
}

static bool init(mica_world *world, void *state)
{
    (void)state;
    world->settle = settle;
    world->hides = hides;
    return true;
}

static const micap_listener_ops listener = {
    .init = init,
    .load = load,
    .trim = trim,
    .free = free_observers,
};

static bool is_of_world(mica_event_kind event)
{
    return event <= MICA_EVENT_DISABLE;
}

/* What a def asks for, whether as one event and component or as lists. */
typedef struct wanted {
    const char *name;
    const mica_event_kind *events;
    uint32_t event_count;
    const mica_component *components;
    uint32_t component_count;
    bool has_toggles, has_others; /* some event is ENABLE or DISABLE; some event is not DESTROY */
    bool has_beginnings;          /* some event is ADD or MATCH */
    bool needs_component;
    uint32_t told_by_monitor; /* 1: MATCH, 2: UNMATCH */
} wanted;

static wanted wanted_of(const mica_observer_def *def)
{
    wanted wanted = {.name = def->name ? def->name : "observer",
                     .events = def->event_count ? def->events : &def->event,
                     .event_count = def->event_count ? def->event_count : 1,
                     .components = def->component_count ? def->components : &def->component,
                     .component_count = def->component_count ? def->component_count : def->component != 0};
    for (uint32_t i = 0; wanted.events && i < wanted.event_count; ++i) {
        wanted.has_toggles |= wanted.events[i] == MICA_EVENT_ENABLE || wanted.events[i] == MICA_EVENT_DISABLE;
        wanted.has_beginnings |= wanted.events[i] == MICA_EVENT_ADD || wanted.events[i] == MICA_EVENT_MATCH;
        wanted.has_others |= wanted.events[i] != MICA_EVENT_DESTROY;
        wanted.told_by_monitor |= wanted.events[i] == MICA_EVENT_MATCH ? 1 : 0;
        wanted.told_by_monitor |= wanted.events[i] == MICA_EVENT_UNMATCH ? 2 : 0;
        wanted.needs_component |= is_of_world(wanted.events[i]) && wanted.events[i] != MICA_EVENT_DESTROY;
    }
    return wanted;
}

/* Whether the components are valid for these events, with a report if not. */
static bool are_components_valid(mica_world *world, const mica_observer_def *def, const wanted *wanted)
{
    if (wanted->component_count ? !wanted->has_others : wanted->needs_component) {
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "observer %s: DESTROY must have no component, the other events must have one", wanted->name);
        return false;
    }
    for (uint32_t i = 0; i < wanted->component_count; ++i) {
        const micap_type *type = micap_type_for_entities(world, wanted->components[i]);
        if (!type)
            return false;
        if (wanted->has_toggles && !type->type.toggle) {
            micap_fail(world, MICA_ERROR_INVALID, def->location,
                       "observer %s: %s can't be enabled or disabled: describe it with .toggle", wanted->name,
                       type->type.name);
            return false;
        }
    }
    return true;
}

static bool is_monitor_valid(mica_world *world, const mica_observer_def *def, const wanted *wanted)
{
    bool is_valid = !wanted->component_count;
    for (uint32_t i = 0; i < wanted->event_count; ++i)
        is_valid &= micap_is_of_monitor(wanted->events[i]);
    if (!is_valid)
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "observer %s: MATCH and UNMATCH have no component, and are not combined with other events",
                   wanted->name);
    return is_valid;
}

/* Whether the def is valid, with a report if not. */
static bool is_valid(mica_world *world, const mica_observer_def *def, const wanted *wanted)
{
    micap_check_door(world, "observer_add");
    if (world->hook_depth || micap_is_running(world)) {
        micap_fail(world, MICA_ERROR_REFUSED, def->location,
                   "observer %s: it can't be added inside a system, hook or observer", wanted->name);
        return false;
    }
    bool is_complete = def->fn && wanted->events && wanted->components;
    for (uint32_t i = 0; is_complete && i < wanted->event_count; ++i)
        is_complete = is_of_world(wanted->events[i]) || micap_is_of_monitor(wanted->events[i]) ||
                      wanted->events[i] >= MICA_EVENT_USER;
    if (!is_complete) {
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "observer %s: a function and an event are required, and lists that are not NULL", wanted->name);
        return false;
    }
    if (def->existing && !wanted->has_beginnings) {
        micap_fail(world, MICA_ERROR_INVALID, def->location, "observer %s: existing needs the event ADD or MATCH",
                   wanted->name);
        return false;
    }
    return wanted->told_by_monitor ? is_monitor_valid(world, def, wanted) : are_components_valid(world, def, wanted);
}

/* A pair that is listed twice counts once. */
static void add_subject(micap_observer *observer, const mica_observer_def *def, mica_event_kind event,
                        mica_component component)
{
    for (uint32_t i = 0; i < observer->subject_count; ++i)
        if (observer->subjects[i].event == event && observer->subjects[i].component == component)
            return;
    observer->subjects[observer->subject_count++] = (micap_subject){.watch.seen = watch_seen,
                                                                    .fn = def->fn,
                                                                    .context = def->context,
                                                                    .name = observer->name,
                                                                    .filter = observer->filter,
                                                                    .event = event,
                                                                    .component = component};
}

static void add_subjects(micap_observer *observer, const mica_observer_def *def, const wanted *wanted)
{
    for (uint32_t i = 0; i < wanted->event_count; ++i) {
        mica_event_kind event = wanted->events[i];
        bool is_alone = event == MICA_EVENT_DESTROY || !wanted->component_count;
        if (is_alone)
            add_subject(observer, def, event, 0);
        for (uint32_t j = 0; !is_alone && j < wanted->component_count; ++j)
            add_subject(observer, def, event, wanted->components[j]);
    }
}

static micap_observer *make(mica_world *world, const mica_observer_def *def, const wanted *wanted)
{
    uint64_t capacity = (uint64_t)wanted->event_count * (wanted->component_count ? wanted->component_count : 1);
    micap_observer *fresh = NULL;
    if (capacity <= UINT32_MAX)
        fresh = micap_allocate_zeroed(&world->memory, bytes_of(capacity), MICAP_ARRAY_ALIGNMENT);
    if (!fresh) {
        micap_fail_memory(world, "observer");
        return NULL;
    }
    fresh->subject_capacity = (uint32_t)capacity;
    fresh->name = micap_flow_copy_text(world, wanted->name);
    if (!fresh->name) {
        release_memory(world, fresh);
        micap_fail_memory(world, "observer");
        return NULL;
    }
    if (wanted->told_by_monitor) {
        fresh->monitor = micap_monitor_create(world, def, fresh->name, wanted->told_by_monitor);
        if (fresh->monitor)
            return fresh;
        release_memory(world, fresh);
        return NULL;
    }
    if (def->term_count) {
        fresh->filter = mica_query_create(world, &(mica_query_def){.name = wanted->name,
                                                                   .terms = def->terms,
                                                                   .term_count = def->term_count,
                                                                   .location = def->location,
                                                                   .with_hidden = true});
        if (!fresh->filter) {
            release_observer(world, fresh);
            return NULL;
        }
    }
    add_subjects(fresh, def, wanted);
    return fresh;
}

mica_observer mica_observer_add(mica_world *world, const mica_observer_def *def)
{
    mica_observer none = {0};
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING(world, def))
        return none;
    wanted wanted = wanted_of(def);
    micap_observers *observers = NULL;
    if (is_valid(world, def, &wanted))
        observers = micap_listener_require(world, MICAP_LISTENER_OBSERVERS, &listener, sizeof *observers, "observer");
    micap_observer *fresh = observers ? make(world, def, &wanted) : NULL;
    if (!fresh)
        return none;
    fresh->id = micap_id_in_space(world, ++observers->next_id);
    *(observers->last ? &observers->last->next : &observers->first) = fresh;
    observers->last = fresh;
    for (uint32_t i = 0; i < fresh->subject_count; ++i)
        if (is_of_world(fresh->subjects[i].event))
            micap_watch_add(world, fresh->subjects[i].event, fresh->subjects[i].component, &fresh->subjects[i].watch);
    if (def->existing) {
        micap_existing_tell(world, fresh);
        micap_hooks_end(world);
    }
    return (mica_observer){fresh->id};
}

bool mica_observer_remove(mica_world *world, mica_observer id)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    micap_check_door(world, "observer_remove");
    if (world->hook_depth || micap_is_running(world)) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                   "observer_remove: refused inside a system, hook or observer");
        return false;
    }
    micap_observer *before = NULL;
    micap_observer *found = observers ? observers->first : NULL;
    for (; found && found->id != id.id; found = found->next)
        before = found;
    if (!found)
        return false;
    *(before ? &before->next : &observers->first) = found->next;
    if (observers->last == found)
        observers->last = before;
    for (uint32_t i = 0; i < found->subject_count; ++i) {
        micap_subject *subject = &found->subjects[i];
        if (is_of_world(subject->event))
            micap_watch_remove(world, subject->event, subject->component, &subject->watch);
    }
    release_observer(world, found);
    return true;
}
