/* Letters: records of any size in the order (system, slice, call), to be opened when the phase has ended. What messages and
 * user events are kept in. */
#ifndef MICAP_FLOW_MESSAGING_MESSAGE_QUEUE_H
#define MICAP_FLOW_MESSAGING_MESSAGE_QUEUE_H

#include "flow/messaging/ordered_queue.h"
#include "mica/entity.h"

/* The content follows, aligned to MICAP_LETTER_ALIGNMENT. */
typedef struct micap_letter {
    uint32_t bytes; /* with this header and the gap behind it */
    uint32_t data_bytes;
    uint32_t kind; /* as the writer likes: an event, say */
    mica_component component;
    mica_entity entity;
    mica_location location;
} micap_letter;

enum { MICAP_LETTER_ALIGNMENT = 16 };

static inline const void *micap_letter_data(const micap_letter *letter)
{
    return letter->data_bytes ? (const char *)letter + ((sizeof *letter + 15) & ~(size_t)15) : NULL;
}

/* Keeps a copy of the letter with its data: as part of the piece of work that this thread does, else behind all others.
 * False with a report when memory is short, or the piece of work has no place in the order. */
bool micap_letter_keep(micap_queue *queue, mica_world *world, const micap_letter *letter, const void *data);

/* Gives out the letters that are kept, one after the other, NULL behind the last. `*run` starts as NULL. */
const micap_letter *micap_letter_next(micap_queue *queue, micap_run **run, const micap_letter *before);

#endif
