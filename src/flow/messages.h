/* Who handles which message: for each kind of message the components that have handlers for it.
 *
 *     message.c    handlers      deliver.c    sending, and bringing messages to handlers */
#ifndef MICAP_FLOW_MESSAGES_H
#define MICAP_FLOW_MESSAGES_H

#include "core/world.h"
#include "flow/letters.h"
#include "mica/message.h"

typedef struct micap_handler {
    struct micap_handler *next;
    mica_message_fn fn;
    void *context;
    bool is_described; /* with its component */
} micap_handler;

/* A component with handlers for a kind of message. */
typedef struct micap_post {
    mica_component component;
    bool has_values; /* that lie one after the other: no tag, and not split */
    struct micap_kind *kind;
    mica_query *query; /* of all who have it, switched on */
    micap_handler *first, *last;
    mica_system system; /* that runs them every frame; 0: none */
} micap_post;

/* A kind of message that somebody handles, or is sent every frame. */
typedef struct micap_kind {
    mica_component id;
    uint32_t message_bytes;
    micap_post **posts; /* in the order of their first handlers */
    uint32_t post_count;
    uint32_t post_capacity;
    micap_post **sorted; /* by rising component */
    uint32_t sorted_capacity;
    void *zero; /* the message of every frame; NULL: it is not sent so */
    mica_phase phase;
} micap_kind;

typedef struct micap_messages {
    mica_world *world;
    micap_kind **kinds; /* by the id of the message; NULL: nobody handles it */
    uint32_t kind_capacity;
    uint32_t kind_limit;
    uint32_t known_components; /* in use when descriptions were last searched for handlers */
    micap_queue letters;       /* on their way */
    uint32_t generation;       /* of the letter that is delivered: how many handlers led to it */
    bool is_delivering;
} micap_messages;

/* The messages of a world; NULL with a report when memory is short. */
micap_messages *micap_messages_of(mica_world *world);

/* Finds handlers that are described with components. False with a report when memory is short. */
bool micap_messages_update(micap_messages *messages);

/* NULL when nobody handles it. */
static inline micap_kind *micap_kind_of(const micap_messages *messages, mica_component id)
{
    return id < messages->kind_limit ? messages->kinds[id] : NULL;
}

/* Brings all letters to handlers, and those that are sent meanwhile. */
void micap_messages_deliver(micap_messages *messages);

/* The column of the post's component, which counts as written; NULL for a tag. */
void *micap_post_values(const micap_post *post, mica_view *view);

/* Calls the handlers of a post for rows that lie together. */
void micap_post_call(const micap_post *post, mica_message *message);

#endif
