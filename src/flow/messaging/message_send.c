/* Sending messages, and bringing those that no system sent to handlers: to one entity, or type by type to all. */
#include "core/events/hooks.h"
#include "core/world/report.h"
#include "flow/messaging/message_handlers.h"

/* What a message that is no system's knows about the moment. */
static mica_frame frame_now(mica_world *world)
{
    mica_time time = mica_time_get(world);
    return (mica_frame){
        .world = world, .dt = time.dt, .alpha = time.alpha, .seconds = time.seconds, .tick = time.frame};
}

static void deliver_to_one(const micap_kind *kind, mica_message *message, const mica_entity *target)
{
    mica_world *world = message->world;
    message->count = 1;
    message->entities = target;
    for (uint32_t i = 0; i < kind->post_count; ++i) {
        const micap_post *post = kind->posts[i];
        if (!mica_is_enabled_id(world, *target, post->component))
            continue;
        message->component = post->component;
        message->values = post->box->has_values ? mica_write_id(world, *target, post->component) : NULL;
        micap_post_call(post, message);
    }
}

/* Type by type, and only those that have a handler: nothing else is looked at. */
static void deliver_to_all(const micap_kind *kind, mica_message *message)
{
    for (uint32_t i = 0; i < kind->post_count; ++i) {
        const micap_post *post = kind->posts[i];
        message->component = post->component;
        for (mica_view view = mica_query_begin(post->query); mica_view_next(&view);) {
            message->count = view.count;
            message->entities = view.entities;
            message->values = post->box->has_values ? mica_view_write_at(&view, 0) : NULL;
            micap_post_call(post, message);
        }
    }
}

/* The world records while handlers run, and what they recorded is applied before the next message. */
static void deliver(micap_messages *messages, const micap_letter *letter)
{
    mica_world *world = messages->world;
    const micap_kind *kind = micap_kind_of(messages, letter->component);
    if (!kind)
        return;
    mica_frame frame = frame_now(world);
    mica_message message = {
        .world = world, .kind = letter->component, .data = micap_letter_data(letter), .frame = &frame};
    messages->generation = letter->kind + 1;
    uint32_t depth = micap_callback_begin(world);
    if (mica_is_nil(letter->entity))
        deliver_to_all(kind, &message);
    else
        deliver_to_one(kind, &message, &letter->entity);
    micap_callback_end(world, depth);
    micap_hooks_end(world);
}

void micap_messages_deliver(micap_messages *messages)
{
    if (messages->is_delivering)
        return;
    micap_messages_update(messages);
    messages->is_delivering = true;
    micap_run *run = NULL;
    for (const micap_letter *letter = NULL; (letter = micap_letter_next(&messages->letters, &run, letter));)
        deliver(messages, letter);
    messages->is_delivering = false;
    messages->generation = 0;
    micap_queue_drop(&messages->letters, messages->letters.end);
}

static bool send(mica_world *world, mica_entity target, mica_value message, mica_location location)
{
    const micap_type *type = micap_type_of(message.component);
    if (!type || !message.data || (message.size_bytes && message.size_bytes != type->type.size_bytes)) {
        micap_fail(world, MICA_ERROR_INVALID, location,
                   "message: it has no description, or another size than described");
        return false;
    }
    const micap_task *task = micap_task_here(world);
    micap_messages *messages = micap_listener_state(world, MICAP_LISTENER_MESSAGES);
    if (!messages && !(messages = micap_messages_of(world))) /* inside a system it is there: see mica_step */
        return false;
    if (messages->is_delivering && messages->generation >= MICAP_GENERATIONS_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, location,
                   "message: handlers keep sending messages after %d rounds; %s is dropped", MICAP_GENERATIONS_MAX,
                   type->type.name);
        return false;
    }
    micap_letter letter = {.kind = messages->is_delivering ? messages->generation : 0,
                           .component = message.component,
                           .data_bytes = type->type.size_bytes,
                           .entity = target,
                           .location = location};
    if (!micap_letter_keep(&messages->letters, world, &letter, message.data))
        return false;
    if (!task && !messages->is_awaited)
        micap_messages_deliver(messages);
    return true;
}

bool mica_send_id(mica_world *world, mica_entity target, mica_value message, mica_location location)
{
    if (!mica_is_alive(world, target)) {
        micap_fail(world, MICA_ERROR_DEAD, location, "message: entity %u (generation %u) is not alive", target.index,
                   target.generation);
        return false;
    }
    return send(world, target, message, location);
}

bool mica_broadcast_id(mica_world *world, mica_value message, mica_location location)
{
    return send(world, mica_nil(), message, location);
}
