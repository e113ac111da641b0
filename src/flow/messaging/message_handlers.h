/* Message handlers: for each kind of message, the components that have handlers for it.
 *
 *     message_handlers   adding and removing handlers, handlers that are described with components, messages of every frame
 *     mailbox            the system of a component that hands its messages to handlers, and the rounds of delivery in a frame
 *     message_send       sending, and delivery outside of systems
 *     message_queue      messages that wait, in order
 *
 * Also in this folder: streams (stream.h), requests (request.c), observers and user events (observer.c), all on ordered_queue.h. */
#ifndef MICAP_FLOW_MESSAGING_MESSAGE_HANDLERS_H
#define MICAP_FLOW_MESSAGING_MESSAGE_HANDLERS_H

#include "flow/messaging/message_queue.h"
#include "mica/message.h"

struct micap_mailbox;

typedef struct micap_handler {
    struct micap_handler *next;
    mica_message_fn fn;
    void *context;
    mica_use *uses;
    uint32_t use_count;
    bool is_described; /* with its component */
} micap_handler;

/* The handlers of a component for one kind of message. */
typedef struct micap_handler_list {
    mica_component component;
    struct micap_mailbox *mailbox;
    struct micap_message_kind *kind;
    mica_query *query; /* of all entities that have the component enabled */
    micap_handler *first, *last;
    mica_system system; /* that runs them every frame; 0: none */
} micap_handler_list;

/* A kind of message that has handlers, or is sent every frame. */
typedef struct micap_message_kind {
    mica_component id;
    uint32_t message_bytes;
    micap_handler_list **lists; /* in the order of mailboxes */
    uint32_t list_count;
    uint32_t list_capacity;
    void *zero; /* the message of every frame; NULL: it is not sent every frame */
    mica_phase phase;
} micap_message_kind;

typedef struct micap_messages {
    mica_world *world;
    micap_message_kind **kinds; /* by the id of the message; NULL: it has no handlers */
    uint32_t kind_capacity;
    uint32_t kind_limit;
    struct micap_mailbox **mailboxes; /* in order */
    uint32_t mailbox_count;
    uint32_t mailbox_capacity;
    uint32_t next_order;
    uint32_t known_components; /* of the world when component descriptions were last searched for handlers */
    micap_queue queue;         /* messages that wait */
    uint32_t generation;       /* of the message that is delivered: how many handlers led to it */
    bool is_delivering;
    bool is_awaited; /* a phase has ended, and delivery follows its flush */
} micap_messages;

/* A handler sends a message, whose handler sends a message, and so on: that often. */
enum { MICAP_GENERATIONS_MAX = 256 };

/* Returns the messages of a world, or NULL with a report if memory is short. */
micap_messages *micap_messages_of(mica_world *world);

/* Adds the handlers that are described with components. False with a report if memory is short. */
bool micap_messages_update(micap_messages *messages);

/* Returns NULL if it has no handlers. */
static inline micap_message_kind *micap_message_kind_of(const micap_messages *messages, mica_component id)
{
    return id < messages->kind_limit ? messages->kinds[id] : NULL;
}

/* Adds what the handlers of a list declare to `count` uses. Returns the new count, at most MICAP_USES_MAX + 1: no system
 * accepts that many. */
uint32_t micap_handler_list_uses(const micap_handler_list *list, mica_use *uses, uint32_t count);

/* Calls the handlers of a list for the rows of a view. */
void micap_handler_list_call_view(const micap_handler_list *list, mica_view *view, const void *data);

/* Whether an entity is hidden from the handlers: mica/disable.h. */
bool micap_handler_list_skips(const micap_handler_list *list, const mica_world *world, mica_entity entity);

/* Calls the handlers of a list with a message. */
void micap_handler_list_call(const micap_handler_list *list, mica_message *message);

#endif
