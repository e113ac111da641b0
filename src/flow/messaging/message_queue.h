/* Message queues: messages of any size in the order (system, slice, call), read when the phase has ended. */
#ifndef MICAP_FLOW_MESSAGING_MESSAGE_QUEUE_H
#define MICAP_FLOW_MESSAGING_MESSAGE_QUEUE_H

#include "flow/messaging/ordered_queue.h"
#include "mica/entity.h"

/* The content follows, aligned to MICAP_MESSAGE_ALIGNMENT. */
typedef struct micap_queued_message {
    uint32_t bytes; /* with this header and padding */
    uint32_t data_bytes;
    uint32_t kind; /* how many handlers led to it */
    mica_component component;
    mica_entity entity; /* nil: all */
    mica_location location;
} micap_queued_message;

enum { MICAP_MESSAGE_ALIGNMENT = 16 };

/* Returns the content of a message, or NULL if it has none. */
static inline const void *micap_message_data(const micap_queued_message *message)
{
    return message->data_bytes ? (const char *)message + ((sizeof *message + 15) & ~(size_t)15) : NULL;
}

/* Sets up an empty queue of messages, which own their text and lists. */
void micap_message_queue_init(micap_queue *queue, micap_memory *memory);

/* Adds a copy of the message and its content, which has this type: at the sequence number of the running job, else at the end. False with a
 * report if memory is short, or the job has no sequence number. */
bool micap_message_queue_add(micap_queue *queue, mica_world *world, const micap_queued_message *message,
                             const micap_type *type, const void *data);

/* Returns the message after `before`, or the first. NULL after the last. `*span` must be NULL at first. */
const micap_queued_message *micap_message_queue_next(micap_queue *queue, micap_queue_span **span,
                                                     const micap_queued_message *before);

#endif
