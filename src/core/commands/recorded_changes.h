/* Recorded changes: what a command buffer holds until the flush.
 *
 *   recorded_changes   the recording of one buffer: targets, their commands, and how they are found
 *   recorded_batch     the compact encoding of a recording that repeats one change
 *   record             the functions that record
 *   module_notes       changes to state of modules, recorded among those to entities
 *   staging            memory for all of it, which does not move until the flush
 *   command_buffer     buffers, their order and their stock of handles
 *   flush              rounds of a flush: flush_gather merges buffers, flush_plan finds where each entity goes
 *   apply_batch        applies many equal changes at once
 *   apply_single       applies the net change of one entity
 *   apply_parallel     distributes both over threads
 *
 * A recording has one target per entity, in order of first touch, and per target one command per component: the last one
 * recorded. So the flush finds the net change of an entity, and moves it once. Commands for a pool with many instances per
 * entity are kept as a list instead, and applied in order.
 *
 * Most recordings repeat one change of one component for entities of rising index. They are encoded as a batch, arrays of
 * entities and values: 8 bytes and the value per change instead of 136 and the value. Only record.c and apply_batch.c look into a batch.
 * All others see targets, or ask the functions below: micap_recording_expand turns the batch into targets when
 * something else is recorded or the flush has to plan. */
#ifndef MICAP_CORE_COMMANDS_RECORDED_CHANGES_H
#define MICAP_CORE_COMMANDS_RECORDED_CHANGES_H

#include "core/commands/recorded_batch.h"
#include "core/commands/staging.h"
#include "core/storage/archetype.h"
#include "mica/command.h"

typedef enum micap_operation {
    MICAP_OPERATION_NONE = 0, /* another command of the component replaced this one, or it is only a toggle */
    MICAP_OPERATION_VALUE,    /* the entity has the component afterwards, with the staged value */
    MICAP_OPERATION_REMOVE,
    MICAP_OPERATION_INSTANCE, /* pools with many instances: adds an instance with the staged value */
} micap_operation;

typedef enum micap_toggle { MICAP_TOGGLE_KEEP = 0, MICAP_TOGGLE_ON, MICAP_TOGGLE_OFF } micap_toggle;

typedef struct micap_command {
    struct micap_command *next;     /* of the same target */
    struct micap_command *original; /* of a merged copy: the recorded command that has the value */
    void *value;                    /* staged; NULL for a tag */
    const micap_type *type;
    uint8_t operation;
    uint8_t toggle;
    bool is_set;       /* by set or create: the set hook runs */
    bool toggle_first; /* the toggle was recorded before the value: it applies only if the component was there before */
    bool toggled;      /* set by the flush: the toggle changes something */
} micap_command;

typedef struct micap_target {
    mica_entity entity;
    micap_command *first;
    micap_command *last;
    mica_location location; /* of the first change */
    const char *label;
    bool created;
    bool destroyed;
    bool merged; /* a copy made by the flush, of changes in several buffers */
    /* Set by the flush. */
    bool doomed;           /* it dies because another entity dies */
    micap_edge edge;       /* from one archetype to the other, if it has the fast path */
    micap_archetype *from; /* NULL if it is created */
    micap_archetype *to;   /* NULL if it is destroyed */
} micap_target;

/* How a target is allocated: with its first command. A small value follows directly. */
typedef struct micap_recorded {
    _Alignas(max_align_t) micap_target target;
    micap_command command;
} micap_recorded;

/* Whether nothing is to be done: a change that was rejected when it was recorded may leave such a target. */
static inline bool micap_target_is_empty(const micap_target *target)
{
    return !target->created && !target->destroyed && !target->first;
}

/* Takes a command out of the list of its target. */
void micap_target_unlink(micap_target *target, const micap_command *command);

/* Destroys the staged value of a command, if it has one. */
void micap_command_drop_value(micap_command *command);

struct micap_note;

/* What one buffer recorded, swapped out as a whole when it is applied. Systems walk entities in order: as long as each new
 * target has a higher index than the last one, targets are found by binary search, without a table. */
typedef struct micap_recording {
    micap_target **targets; /* in the staging memory, where they do not move; unused while the batch is used */
    uint32_t target_count;  /* or of changes in the batch */
    uint32_t target_capacity;
    uint32_t found;  /* the target that was found last: the next one is likely to follow */
    bool has_table;  /* otherwise the table is all zero */
    uint32_t *table; /* by entity index, see micap_probe: 1 + index of the target */
    uint32_t table_capacity;
    struct micap_note *first_note; /* in the staging memory too */
    struct micap_note *last_note;
    micap_stage stage;
    micap_recorded_batch batch; /* in use if it has a type */
} micap_recording;

static inline bool micap_recording_is_empty(const micap_recording *recording)
{
    return !recording->target_count && !recording->first_note;
}

/* Whether a flush has nothing to apply. A recording that is not empty may be idle, see micap_target_is_empty. */
bool micap_recording_is_idle(const micap_recording *recording);

/* How many creations are recorded. */
uint64_t micap_recording_created_count(const micap_recording *recording);

/* Turns the batch, if there is one, into targets. False if memory runs out; the batch stays then. */
bool micap_recording_expand(mica_world *world, micap_recording *recording);

/* Discards what is recorded: destroys staged values, and frees the handles of creations. */
void micap_recording_drop(mica_world *world, micap_recording *recording);

/* Empties the recording after its values were moved out. Keeps the memory. */
void micap_recording_reset(mica_world *world, micap_recording *recording);

/* Releases the memory of an empty recording. */
void micap_recording_free(mica_world *world, micap_recording *recording);

/* The slot of a table by entity index for each attempt. The first attempt keeps neighbours together, because changes mostly
 * come for neighbours and then never collide. Further attempts scatter, for entities that are a power of two apart. */
static inline uint32_t micap_probe(uint32_t index, uint32_t attempt)
{
    return attempt == 0 ? index : (index * 0x9e3779b1u >> 7) + attempt;
}

/* The slot in the table for an entity index. */
uint32_t micap_recording_slot(const micap_recording *recording, uint32_t index);

/* Makes a table of all targets, with room for one more. False if memory runs out. */
bool micap_recording_grow_table(mica_world *world, micap_recording *recording);

/* The target of an entity, or NULL. Entities in a batch have none: expand the recording first. */
micap_target *micap_recording_find(micap_recording *recording, mica_entity entity);

#endif
