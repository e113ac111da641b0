/* A recorded batch: the compact encoding of a recording that is one change of one component, recorded at one source location,
 * for entities of rising index. See recorded_changes.h. */
#ifndef MICAP_CORE_COMMANDS_RECORDED_BATCH_H
#define MICAP_CORE_COMMANDS_RECORDED_BATCH_H

#include "base/assert.h"
#include "mica/command.h"
#include "type/values.h"

typedef struct micap_batch_block {
    struct micap_batch_block *next;
    mica_entity *entities;
    char *values; /* each of the size that the batch says */
    uint32_t count;
    uint32_t capacity;
} micap_batch_block;

typedef struct micap_recorded_batch {
    const micap_type *type; /* NULL if the recording has targets instead */
    uint32_t operation;     /* MICAP_OPERATION_VALUE, from set, or MICAP_OPERATION_REMOVE */
    uint32_t bytes;         /* of a value; 0 for a removal */
    uint32_t last_index;    /* of the entity that was recorded last */
    mica_location location;
    const char *label;
    micap_batch_block *first; /* in the staging memory */
    micap_batch_block *last;
} micap_recorded_batch;

/* Whether values of this type can be in a batch, which aligns them to 8 bytes. */
static inline bool micap_fits_batch(const micap_type *type)
{
    return type->trivial && !type->leaves && micap_is_words(type->type.size_bytes) && type->type.alignment <= 8;
}

/* Begins a batch in an empty recording, or makes room for one more change in it. False if the change does not fit or memory runs
 * out: then it is recorded as a target. */
MICAP_COLD bool micap_batch_extend(mica_commands *commands, const micap_type *type, uint32_t operation,
                                   mica_location location);

#endif
