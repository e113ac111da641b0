/* Mailboxes: each component with handlers has one. Its system hands the messages of the component to the handlers. What
 * systems send is delivered after the flush in rounds: all messages that wait are a round, and what handlers send is the next
 * round. How messages become jobs: schedule/delivery.h. */
#ifndef MICAP_FLOW_MESSAGING_MAILBOX_H
#define MICAP_FLOW_MESSAGING_MAILBOX_H

#include "flow/messaging/message_handlers.h"
#include "flow/schedule/delivery.h"

typedef struct micap_mailbox {
    mica_component component;
    uint32_t order;      /* of mailboxes: that of the first handlers of their components */
    uint32_t list_count; /* kinds of messages it has handlers for */
    bool has_values;     /* one after the other in memory: the component is not a tag, and not split */
    mica_system system;
    micap_messages *messages;
    micap_delivery_list deliveries; /* of the current round */
} micap_mailbox;

/* Returns the mailbox of a component and creates it if there is none. NULL with a report if that fails. */
micap_mailbox *micap_mailbox_require(micap_messages *messages, mica_component component);

/* Removes a mailbox that has no handlers left, with its system. */
void micap_mailbox_remove(micap_mailbox *mailbox);

/* Frees a mailbox whose world ends. */
void micap_mailbox_free(micap_mailbox *mailbox);

/* Updates the system of a mailbox after the uses of its handlers changed. */
mica_result micap_mailbox_update(micap_mailbox *mailbox);

/* Returns the term of the system of a mailbox. */
mica_term micap_mailbox_term(const micap_mailbox *mailbox);

/* Delivers all messages by the systems of mailboxes, round by round. If memory is short, messages stay in the queue. */
mica_result micap_mailboxes_deliver(micap_messages *messages);

#endif
