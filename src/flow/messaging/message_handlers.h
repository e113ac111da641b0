/* Who handles which message: for each kind of message the components that have handlers for it.
 *
 *     message.c    handlers                   deliver.c    sending, and delivery outside of systems
 *     mailbox.c    the system of a component that hands its messages over, and the rounds of delivery in a frame */
#ifndef MICAP_FLOW_MESSAGING_MESSAGE_HANDLERS_H
#define MICAP_FLOW_MESSAGING_MESSAGE_HANDLERS_H

#include "core/world/world.h"
#include "flow/schedule/flow.h"
#include "flow/messaging/message_queue.h"
#include "mica/message.h"

typedef struct micap_handler {
    struct micap_handler *next;
    mica_message_fn fn;
    void *context;
    mica_use *uses;
    uint32_t use_count;
    bool is_described; /* with its component */
} micap_handler;

/* A message on its way to a row, or to all rows of a component. */
typedef struct micap_delivery {
    uint64_t block;    /* MICA_VIEW_ROWS rows that a view may show together, by rising place */
    uint32_t row;      /* of the chunk, or of the pool that the component's system walks */
    uint32_t sequence; /* of the letter in its round */
    micap_chunk *chunk;
    const struct micap_post *post;
    const micap_letter *letter;
} micap_delivery;

/* A component with handlers, and what the round has for it. Its system runs when there is something: block of rows by block
 * of rows, and within a block letter by letter. So a component gets its messages in order, blocks can be shared
 * among workers, and of many broadcasts all go over a block while it is in the cache. */
typedef struct micap_mailbox {
    mica_component component;
    uint32_t order;      /* of boxes: that of the first handlers of their components */
    uint32_t post_count; /* kinds of messages it has handlers for */
    bool has_values;     /* that lie one after the other: no tag, and not split */
    mica_system system;
    struct micap_messages *messages;
    const mica_pool *driver;    /* whose rows its system walks in this round; NULL: those of chunks */
    micap_delivery *deliveries; /* by block, then by sequence */
    uint32_t delivery_count, delivery_capacity;
    micap_delivery *scratch;
    uint32_t scratch_capacity;
    micap_delivery *broadcasts; /* by sequence */
    uint32_t broadcast_count, broadcast_capacity;
} micap_mailbox;

/* A component with handlers for a kind of message. */
typedef struct micap_post {
    mica_component component;
    micap_mailbox *box;
    struct micap_kind *kind;
    mica_query *query; /* of all who have it, switched on */
    micap_handler *first, *last;
    mica_system system; /* that runs them every frame; 0: none */
} micap_post;

/* A kind of message that somebody handles, or is sent every frame. */
typedef struct micap_kind {
    mica_component id;
    uint32_t message_bytes;
    micap_post **posts; /* in the order of boxes */
    uint32_t post_count;
    uint32_t post_capacity;
    void *zero; /* the message of every frame; NULL: it is not sent so */
    mica_phase phase;
} micap_kind;

typedef struct micap_messages {
    mica_world *world;
    micap_kind **kinds; /* by the id of the message; NULL: nobody handles it */
    uint32_t kind_capacity;
    uint32_t kind_limit;
    micap_mailbox **boxes; /* in order */
    uint32_t box_count;
    uint32_t box_capacity;
    uint32_t next_order;
    uint32_t known_components; /* in use when descriptions were last searched for handlers */
    micap_queue letters;       /* on their way */
    uint32_t generation;       /* of the letter that is delivered: how many handlers led to it */
    bool is_delivering;
    bool is_awaited; /* a phase has ended, and its flush will be followed by delivery */
} micap_messages;

enum { MICAP_GENERATIONS_MAX = 256 }; /* handlers that send, whose messages have handlers that send, ... */

/* The messages of a world; NULL with a report when memory is short. */
micap_messages *micap_messages_of(mica_world *world);

/* Finds handlers that are described with components. False with a report when memory is short. */
bool micap_messages_update(micap_messages *messages);

/* NULL when nobody handles it. */
static inline micap_kind *micap_kind_of(const micap_messages *messages, mica_component id)
{
    return id < messages->kind_limit ? messages->kinds[id] : NULL;
}

/* Brings all letters to handlers, and those that are sent meanwhile, one after the other in this thread. */
void micap_messages_deliver(micap_messages *messages);

/* The same by the systems of mailboxes, round by round. What could not be brought for lack of memory stays. */
mica_result micap_messages_deliver_rounds(micap_messages *messages);

/* The term of a post's system or query. */
mica_term micap_box_term(const micap_mailbox *box);

/* The box of a component, made when there is none; NULL with a report. */
micap_mailbox *micap_box_for(micap_messages *messages, mica_component component);
/* Ends a box that has no posts left. */
void micap_box_drop(micap_mailbox *box);
void micap_box_release(micap_mailbox *box);
/* What the handlers of a component declare has changed: its system is told. */
mica_result micap_box_update(micap_mailbox *box);

/* The block of a row: in a chunk, or, without one, in a pool. */
static inline uint64_t micap_block_of(const micap_chunk *chunk, uint32_t row)
{
    uint64_t block = row / MICA_VIEW_ROWS;
    if (!chunk)
        return block;
    return (uint64_t)chunk->archetype->id << 32 | (uint64_t)chunk->index * (MICAP_CHUNK_ROWS_MAX / MICA_VIEW_ROWS) |
           block;
}

/* The index of the first delivery of a block, or of the next block that has one. */
uint32_t micap_box_first(const micap_mailbox *box, uint64_t block);

/* Adds what the handlers of a post declare to a list of `count`; returns the new count, at most one more than
 * MICAP_USES_MAX: a system refuses that. */
uint32_t micap_post_uses(const micap_post *post, mica_use *uses, uint32_t count);

/* Calls the handlers of a post for the rows of a view. */
void micap_post_call_view(const micap_post *post, mica_view *view, const void *data);

/* Calls the handlers of a post for rows that lie together. */
void micap_post_call(const micap_post *post, mica_message *message);

#endif
