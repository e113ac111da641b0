/* A strip: how most recordings begin, and many remain. It is the same change of one component, recorded at one place, for entities
 * of rising index: plain arrays of entities and values, 8 bytes and a value per change instead of 144. A flush of nothing else applies it
 * column by column; anything else that is recorded, or has to be asked of a target, unrolls it into targets first. */
#ifndef MICAP_CORE_COMMANDS_STRIP_H
#define MICAP_CORE_COMMANDS_STRIP_H

#include "base/assert.h"
#include "core/commands/staging.h"
#include "mica/command.h"
#include "type/values.h"

typedef struct micap_strip_block {
    struct micap_strip_block *next;
    mica_entity *entities;
    char *values; /* as many bytes each as the strip says */
    uint32_t count;
    uint32_t capacity;
} micap_strip_block;

typedef struct micap_strip {
    const micap_type *type; /* NULL: there is none */
    uint32_t operation;     /* MICAP_OPERATION_VALUE by set, or _REMOVE */
    uint32_t bytes;         /* of a value; 0 of a removal */
    uint32_t last_index;    /* of the entity that was recorded last */
    mica_location location;
    const char *label;
    micap_strip_block *first; /* in the stage */
    micap_strip_block *last;
} micap_strip;

struct micap_recording;

/* Whether values of this type can be in a strip. */
static inline bool micap_is_in_strips(const micap_type *type)
{
    return type->trivial && !type->leaves && micap_is_words(type->type.size_bytes);
}

/* Begins a strip in a recording that is empty, or makes room for one more change in it; false when the change is not one for
 * it, or memory is short: then it is recorded as a target. */
MICAP_COLD bool micap_strip_extend(mica_commands *commands, const micap_type *type, uint32_t operation,
                                   mica_location location);

/* Makes targets of the strip, if there is one; false when memory is short, and the strip is as before. */
bool micap_recording_unroll(mica_world *world, struct micap_recording *recording);

typedef enum micap_strip_outcome {
    MICAP_STRIP_NONE, /* there is more to do than a strip says: the flush has to be planned */
    MICAP_STRIP_APPLIED,
    MICAP_STRIP_FAILED, /* with a report; nothing has changed, and it can be tried again */
} micap_strip_outcome;

/* Applies what the buffers put aside, when it is one change for entities of one archetype, with no hooks to call. */
micap_strip_outcome micap_strip_apply(mica_world *world);

#endif
