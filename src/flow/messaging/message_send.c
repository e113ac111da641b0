/* Sending messages, and delivering those that were sent outside of systems: to one entity, or to all, component by component. */
#include "base/argument.h"
#include "base/call_location.h"
#include "core/events/hooks.h"
#include "core/world/report.h"
#include "flow/messaging/mailbox.h"
#include "flow/messaging/traffic.h"
#include "flow/schedule/listener.h"

/* Returns the frame that handlers see outside of systems. */
static mica_frame frame_now(mica_world *world)
{
    mica_time time = mica_time_get(world);
    return (mica_frame){
        .world = world, .dt = time.dt, .alpha = time.alpha, .seconds = time.seconds, .tick = time.frame};
}

static void deliver_to_one(const micap_message_kind *kind, mica_message *message, const mica_entity *target)
{
    mica_world *world = message->world;
    message->count = 1;
    message->entities = target;
    for (uint32_t i = 0; i < kind->list_count; ++i) {
        const micap_handler_list *list = kind->lists[i];
        if (!mica_is_enabled_id(world, *target, list->component) || micap_handler_list_skips(list, world, *target))
            continue;
        message->component = list->component;
        message->values = list->mailbox->has_values ? mica_write_id(world, *target, list->component) : NULL;
        micap_handler_list_call(list, message);
    }
}

/* Visits the entities of each component that has handlers, and no others. */
static void deliver_to_all(const micap_message_kind *kind, mica_message *message)
{
    for (uint32_t i = 0; i < kind->list_count; ++i) {
        const micap_handler_list *list = kind->lists[i];
        message->component = list->component;
        for (mica_view view = mica_query_begin(list->query); mica_view_next(&view);) {
            message->count = view.count;
            message->entities = view.entities;
            message->values = list->mailbox->has_values ? mica_view_write_at(&view, 0) : NULL;
            micap_handler_list_call(list, message);
        }
    }
}

/* The world records while handlers span. What they recorded is applied before the next message. */
static void deliver(micap_messages *messages, const micap_queued_message *queued)
{
    mica_world *world = messages->world;
    const micap_message_kind *kind = micap_message_kind_of(messages, queued->component);
    if (MICAP_UNLIKELY(world->traffic))
        micap_traffic_tell_message(world, queued);
    if (!kind)
        return;
    mica_frame frame = frame_now(world);
    mica_message message = {
        .world = world, .kind = queued->component, .data = micap_message_data(queued), .frame = &frame};
    messages->generation = queued->kind + 1;
    mica_location location = micap_noted_place();
    uint32_t depth = micap_callback_begin(world);
    if (mica_is_nil(queued->entity))
        deliver_to_all(kind, &message);
    else
        deliver_to_one(kind, &message, &queued->entity);
    micap_callback_end(world, depth);
    micap_note_again(location);
    micap_hooks_end(world);
}

/* Delivers all messages, and those that handlers send meanwhile, one after the other in this thread. */
static void deliver_all(micap_messages *messages)
{
    if (messages->is_delivering)
        return;
    micap_messages_update(messages);
    messages->is_delivering = true;
    micap_queue_span *span = NULL;
    for (const micap_queued_message *queued = NULL;
         (queued = micap_message_queue_next(&messages->queue, &span, queued));)
        deliver(messages, queued);
    messages->is_delivering = false;
    messages->generation = 0;
    micap_queue_drop(&messages->queue, messages->queue.end);
}

static bool send(mica_world *world, mica_entity target, mica_value message, mica_location location)
{
    const micap_type *type = micap_type_of(message.component);
    if (!type || !message.data || (message.size_bytes && message.size_bytes != type->type.size_bytes)) {
        micap_fail(world, MICA_ERROR_INVALID, location,
                   "message: it has no description or no data, or its size is not the one described");
        return false;
    }
    micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    if (!messages && !(messages = micap_messages_of(world))) /* mica_step creates them: a system can't */
        return false;
    if (messages->is_delivering && messages->generation >= MICAP_GENERATIONS_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, location,
                   "message: handlers still send messages after %d rounds; %s is dropped", MICAP_GENERATIONS_MAX,
                   type->type.name);
        return false;
    }
    micap_queued_message queued = {.kind = messages->is_delivering ? messages->generation : 0,
                                   .component = message.component,
                                   .data_bytes = type->type.size_bytes,
                                   .entity = target,
                                   .location = location};
    if (!micap_message_queue_add(&messages->queue, world, &queued, type, message.data))
        return false;
    if (!micap_running_job_of(world) && !messages->is_awaited)
        deliver_all(messages);
    return true;
}

bool mica_send_id(mica_world *world, mica_entity target, mica_value message, mica_location location)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    if (!mica_is_alive(world, target)) {
        micap_fail(world, MICA_ERROR_DEAD, location, "message: entity %u (generation %u) %s", target.index,
                   target.generation, micap_dead_text(world, target));
        return false;
    }
    return send(world, target, message, location);
}

bool mica_broadcast_id(mica_world *world, mica_value message, mica_location location)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    return send(world, mica_nil(), message, location);
}
