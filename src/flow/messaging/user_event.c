#include "flow/messaging/user_event.h"

#include "base/argument.h"
#include "base/bits.h"
#include "base/call_location.h"
#include "core/commands/flush_coalesce.h"
#include "core/commands/module_notes.h"
#include "core/events/hooks.h"
#include "core/events/settle.h"
#include "core/storage/rows.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "flow/messaging/traffic.h"
#include "flow/schedule/listener.h"
#include "type/owned.h"

enum {
    GENERATIONS_MAX = 256, /* events whose observers emit events, whose observers emit events, ... */
    DATA_ALIGNMENT = 16,
};

/* An event, which its data follows. */
typedef struct user_event {
    _Alignas(DATA_ALIGNMENT) mica_event_kind kind;
    mica_component component;
    mica_entity entity; /* nil: none */
    uint32_t data_bytes;
    uint32_t generation; /* how many events led to it */
    mica_component type; /* of the data; 0: not known */
    bool owns;           /* the data has text or lists */
    bool propagates;
} user_event;

static const void *data_of(const user_event *event)
{
    return event->data_bytes ? event + 1 : NULL;
}

static size_t bytes_of(const user_event *event)
{
    return sizeof *event + micap_align_up(event->data_bytes, DATA_ALIGNMENT);
}

/* Gives up what the data of an event that waits or is recorded owns. */
static void release_data(user_event *event)
{
    if (event->owns)
        micap_owned_release(&micap_type_of(event->type)->type, event + 1, 1);
}

/* The subject of an observer that an event is for, or NULL. */
static micap_subject *subject_for(micap_observer *observer, const user_event *event)
{
    for (uint32_t i = 0; i < observer->subject_count; ++i) {
        micap_subject *subject = &observer->subjects[i];
        if (subject->event == event->kind && (!subject->component || subject->component == event->component))
            return subject;
    }
    return NULL;
}

/* Calls all observers for one entity, or for none. What one of them does to the recording depth does not reach the next one. */
static void call_observers(mica_world *world, const micap_observers *observers, const user_event *event,
                           const void *data, mica_entity at)
{
    uint32_t depth = world->recording_depth;
    for (micap_observer *observer = observers->first; observer; observer = observer->next) {
        micap_subject *subject = subject_for(observer, event);
        if (!subject)
            continue;
        mica_event seen = {.world = world, .kind = event->kind, .component = event->component, .data = data};
        seen.target = event->entity;
        seen.count = !mica_is_nil(at);
        seen.entities = seen.count ? &at : NULL;
        if (seen.count && event->component && micap_type_of(event->component)->type.size_bytes)
            seen.values = mica_write_id(world, at, event->component);
        world->recording_depth = depth;
        micap_subject_call(subject, &seen);
    }
}

static void tell(mica_world *world, const user_event *event, const void *data)
{
    mica_traffic traffic = {.world = world,
                            .kind = MICA_TRAFFIC_EVENT,
                            .name = "",
                            .event = event->kind,
                            .component = event->component,
                            .entity = event->entity,
                            .count = 1,
                            .type = event->type ? &micap_type_of(event->type)->type : NULL,
                            .values = event->type ? data : NULL,
                            .value_bytes = event->data_bytes};
    micap_traffic_tell(world, &traffic);
}

/* Delivers an event to the observers of its entity and, if it propagates, of the entities above. These stay where they are
 * meanwhile, because the world records. */
static void deliver(mica_world *world, micap_observers *observers, const user_event *event, const void *data)
{
    if (!mica_is_nil(event->entity) && !mica_is_alive(world, event->entity))
        return;
    if (MICAP_UNLIKELY(world->traffic))
        tell(world, event, data);
    mica_location location = micap_noted_place();
    uint32_t depth = micap_callback_begin(world);
    observers->is_delivering = true;
    observers->is_stopped = false;
    mica_entity at = event->entity;
    do {
        call_observers(world, observers, event, data, at);
        at = event->propagates ? micap_modules_parent(world, at) : mica_nil();
    } while (!mica_is_nil(at) && !observers->is_stopped);
    observers->is_delivering = false;
    micap_callback_end(world, depth);
    micap_note_again(location);
}

bool mica_event_stop(const mica_event *event)
{
    if (MICAP_MISSING(NULL, event) || MICAP_MISSING(NULL, event->world))
        return false;
    micap_observers *observers = micap_listener_state(event->world, MICAP_LISTENER_OBSERVERS);
    if (!observers || !observers->is_delivering || event->kind < MICA_EVENT_USER) {
        micap_fail(event->world, MICA_ERROR_INVALID, (mica_location){0},
                   "event_stop: event must be a user event that an observer was called with");
        return false;
    }
    observers->is_stopped = true;
    return true;
}

/* Adds an event to those that wait. False if memory is short. */
static bool wait(mica_world *world, micap_observers *observers, const user_event *event)
{
    uint64_t end = observers->waiting_end + (uint64_t)bytes_of(event);
    if (!MICAP_RESERVE(&world->memory, observers->waiting, &observers->waiting_capacity, end))
        return false;
    memcpy(observers->waiting + observers->waiting_end, event, sizeof *event + event->data_bytes);
    observers->waiting_end = (uint32_t)end;
    micap_settle_later(world);
    return true;
}

bool micap_user_events_settle(mica_world *world, micap_observers *observers, bool has_news)
{
    bool is_any = observers->waiting_begin < observers->waiting_end;
    if (has_news || !is_any) {
        if (is_any || (has_news && observers->generation))
            micap_settle_later(world);
        else
            observers->generation = 0; /* nothing follows from the last event any more */
        return false;
    }
    do { /* until something has to be applied */
        user_event *event = (void *)(observers->waiting + observers->waiting_begin);
        observers->generation = event->generation;
        deliver(world, observers, event, data_of(event));
        observers->waiting_begin += (uint32_t)bytes_of(event);
        release_data(event);
    } while (observers->waiting_begin < observers->waiting_end && micap_recording_is_empty(&world->deferred.recording));
    if (observers->waiting_begin == observers->waiting_end)
        observers->waiting_begin = observers->waiting_end = 0;
    micap_settle_later(world);
    return true;
}

void micap_user_events_trim(mica_world *world, micap_observers *observers)
{
    MICAP_ASSERT(!observers->waiting_end, "no operation is under way");
    MICAP_RELEASE_ARRAY(&world->memory, observers->waiting, observers->waiting_capacity);
    observers->waiting = NULL;
    observers->waiting_capacity = 0;
}

typedef struct event_note {
    micap_note note;
    const mica_commands *commands; /* the buffer that it is in */
    bool waits;                    /* it was applied, and there are observers, whose list owns the data now */
    user_event event;              /* last: its data follows */
} event_note;

_Static_assert(offsetof(event_note, event) + sizeof(user_event) == sizeof(event_note), "nothing is in between");

/* Whether an earlier buffer destroys the entity in this flush. */
static bool dies_before(mica_world *world, const event_note *recorded)
{
    mica_entity entity = recorded->event.entity;
    bool dies = false;
    if (micap_flush_destroys(world, entity))
        for (mica_commands *at = world->first_commands; at != recorded->commands && !dies; at = at->next)
            dies = micap_recording_destroys(world, &at->applied, entity);
    return dies;
}

static mica_result apply_note(mica_world *world, micap_note *note)
{
    event_note *recorded = (event_note *)(void *)note;
    mica_entity entity = recorded->event.entity;
    micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    recorded->waits = false;
    if (!mica_is_nil(entity) && (!mica_is_alive(world, entity) || dies_before(world, recorded)))
        return micap_note_set_aside(world, note, entity);
    if (observers && !wait(world, observers, &recorded->event))
        return micap_fail_memory(world, "event");
    recorded->waits = observers != NULL;
    return MICA_OK;
}

static void undo_note(mica_world *world, micap_note *note)
{
    event_note *recorded = (event_note *)(void *)note;
    micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    if (recorded->waits)
        observers->waiting_end -= (uint32_t)bytes_of(&recorded->event);
    recorded->waits = false;
}

static void drop_note(mica_world *world, micap_note *note)
{
    (void)world;
    event_note *recorded = (event_note *)(void *)note;
    if (!recorded->waits)
        release_data(&recorded->event);
}

static const micap_note_ops note_ops = {.apply = apply_note, .undo = undo_note, .drop = drop_note};

static bool record(mica_commands *commands, const user_event *event, const void *data, mica_location location)
{
    mica_world *world = commands->world;
    const micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    if (!mica_is_nil(event->entity) && !micap_commands_expect_living(commands, event->entity, location, "event_emit"))
        return false;
    if (observers && observers->generation == GENERATIONS_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, location,
                   "event_emit: observers still emit events after %d rounds; event %u is dropped", GENERATIONS_MAX,
                   event->kind);
        return false;
    }
    micap_note *last = commands->recording.last_note;
    size_t bytes = sizeof(event_note) + event->data_bytes;
    event_note *note = (event_note *)(void *)micap_commands_note(commands, &note_ops, bytes, location);
    if (!note)
        return false;
    note->commands = commands;
    note->event = *event;
    note->event.generation = 1 + (observers ? observers->generation : 0);
    if (event->data_bytes)
        memcpy(note + 1, data, event->data_bytes);
    if (!event->owns || micap_owned_retain(&micap_type_of(event->type)->type, note + 1, 1))
        return true;
    micap_recording_forget_notes(&commands->recording, last);
    micap_fail_memory(world, "event");
    return false;
}

/* Whether the arguments are valid, with a report if not. */
static bool is_valid(const mica_world *world, const char *function, const user_event *event, const mica_value *data)
{
    const micap_type *type = data->component ? micap_type_of(data->component) : NULL;
    bool has_no_size = data->data && !data->component && !micap_value_bytes(data);
    if (MICAP_INVALID_IN_(world, function, event->component && !micap_type_of(event->component), "component",
                          "must be a component, or 0") ||
        MICAP_INVALID_IN_(world, function, (data->component && !type) || has_no_size, "data",
                          "must be of a described type, or have a size"))
        return false;
    if (type && !micap_value_fits(world, type, data, (mica_location){0}))
        return false;
    if (event->kind >= MICA_EVENT_USER)
        return true;
    micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
               "event_emit: event %u is an event of the world; user events begin at MICA_EVENT_USER", event->kind);
    return false;
}

/* Measures the data of a valid event. */
static void measure(user_event *event, const mica_value *data)
{
    if (!data->data)
        return;
    uint32_t bytes = micap_value_bytes(data);
    event->data_bytes = bytes ? bytes : micap_type_of(data->component)->type.size_bytes;
    event->type = data->component;
    event->owns = data->component && micap_type_of(data->component)->owns;
}

/* Delivers an event, or records it. */
static bool emit(mica_world *world, const char *function, user_event *event, const mica_value *data)
{
    if (!is_valid(world, function, event, data))
        return false;
    measure(event, data);
    if (world->recording_depth)
        return record(micap_recorder(world), event, data->data, micap_noted_place());
    micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
    if (!mica_is_nil(event->entity) && !mica_is_alive(world, event->entity)) {
        micap_fail_dead(world, event->entity, "event_emit");
        return false;
    }
    if (observers) {
        deliver(world, observers, event, event->data_bytes ? data->data : NULL);
        micap_hooks_end(world);
    }
    return true;
}

bool mica_event_emit(mica_world *world, mica_event_kind event, mica_component component, mica_entity entity,
                     mica_value data)
{
    user_event emitted = {.kind = event, .component = component, .entity = entity};
    return !MICAP_MISSING(NULL, world) && emit(world, __func__, &emitted, &data);
}

bool mica_event_propagate(mica_world *world, mica_event_kind event, mica_component component, mica_entity entity,
                          mica_value data)
{
    user_event emitted = {.kind = event, .component = component, .entity = entity, .propagates = true};
    return !MICAP_MISSING(NULL, world) && emit(world, __func__, &emitted, &data);
}

static bool emit_into(mica_commands *commands, const char *function, user_event *event, const mica_value *data)
{
    micap_check_buffer(commands);
    if (!is_valid(commands->world, function, event, data))
        return false;
    measure(event, data);
    return record(commands, event, data->data, micap_noted_place());
}

bool mica_command_emit(mica_commands *commands, mica_event_kind event, mica_component component, mica_entity entity,
                       mica_value data)
{
    user_event emitted = {.kind = event, .component = component, .entity = entity};
    return !MICAP_MISSING(NULL, commands) && emit_into(commands, __func__, &emitted, &data);
}

bool mica_command_propagate(mica_commands *commands, mica_event_kind event, mica_component component,
                            mica_entity entity, mica_value data)
{
    user_event emitted = {.kind = event, .component = component, .entity = entity, .propagates = true};
    return !MICAP_MISSING(NULL, commands) && emit_into(commands, __func__, &emitted, &data);
}
