#include "flow/messaging/user_event.h"

#include "base/argument.h"
#include "base/call_location.h"
#include "core/events/hooks.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "flow/schedule/listener.h"

/* The subject of an observer that an event is for, or NULL. */
static micap_subject *subject_for(micap_observer *observer, const micap_queued_message *event)
{
    for (uint32_t i = 0; i < observer->subject_count; ++i) {
        micap_subject *subject = &observer->subjects[i];
        if (subject->event == event->kind && (!subject->component || subject->component == event->component))
            return subject;
    }
    return NULL;
}

/* Calls all observers of a user event. What one of them does to the recording depth does not reach the next one. */
static void call_observers(mica_world *world, const micap_observers *observers, const micap_queued_message *event,
                           const void *data)
{
    if (!mica_is_nil(event->entity) && !mica_is_alive(world, event->entity))
        return;
    mica_location location = micap_noted_place();
    uint32_t depth = micap_callback_begin(world);
    for (micap_observer *observer = observers->first; observer; observer = observer->next) {
        micap_subject *subject = subject_for(observer, event);
        if (!subject)
            continue;
        mica_event seen = {.world = world, .kind = event->kind, .component = event->component, .data = data};
        seen.count = !mica_is_nil(event->entity);
        seen.entities = seen.count ? &event->entity : NULL;
        if (seen.count && event->component && micap_type_of(event->component)->type.size_bytes)
            seen.values = mica_write_id(world, event->entity, event->component);
        world->recording_depth = depth + 1;
        micap_subject_call(subject, &seen);
    }
    micap_callback_end(world, depth);
    micap_note_again(location);
}

void micap_user_events_deliver(mica_world *world, micap_observers *observers)
{
    micap_queue_span *span = NULL;
    for (const micap_queued_message *event = NULL;
         (event = micap_message_queue_next(&observers->queue, &span, event));) {
        call_observers(world, observers, event, micap_message_data(event));
        micap_hooks_end(world);
    }
    micap_queue_drop(&observers->queue, observers->queue.end);
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
    micap_observers *observers = micap_listener_state(world, MICAP_LISTENER_OBSERVERS);
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
