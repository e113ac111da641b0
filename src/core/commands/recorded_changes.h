/* Recorded changes: what a command buffer holds until the flush.
 *
 *   recorded_changes   the recording of one buffer: a log of changes, their kinds, and how a change is found
 *   record             the functions that record
 *   record_wider       a creation whose entity gets more components at once
 *   record_kind        finds the kind of a change
 *   module_notes       changes to state of modules, recorded among those to entities
 *   staging            memory for all of it, which does not move until the flush
 *   command_buffer     buffers, their order and their stock of handles
 *   flush              rounds of a flush, and what its plan consists of
 *   flush_coalesce     first step of the plan: merges the changes of each entity
 *   flush_plan         second step of the plan: where each entity goes
 *   apply_batch        the batch tier: applies changes of one kind from the log, many at once
 *   apply_each         the same one after the other, with hooks
 *   apply_single       the single tier: applies the net change of one entity
 *   apply_parallel     distributes both over threads
 *
 * A recording is a log. A change has 24 bytes, and its staged values follow it. What many changes share is in their kind: the
 * operation, the components, where the values are, and where in the program it was recorded. Changes of one entity are linked,
 * and the flush merges them, into a change of a combined kind if it can; most entities have one change only, which the flush
 * applies from the log. */
#ifndef MICAP_CORE_COMMANDS_RECORDED_CHANGES_H
#define MICAP_CORE_COMMANDS_RECORDED_CHANGES_H

#include "core/commands/staging.h"
#include "core/storage/archetype.h"
#include "mica/command.h"

typedef enum micap_operation {
    MICAP_OPERATION_NONE = 0, /* only a toggle; or, in a recording, a note that the value before it was set */
    MICAP_OPERATION_VALUE,    /* the entity has the component afterwards, with the staged value */
    MICAP_OPERATION_REMOVE,
    MICAP_OPERATION_INSTANCE,        /* pools with many instances: adds an instance with the staged value */
    MICAP_OPERATION_REMOVE_INSTANCE, /* the same: removes the instance that came nth before the flush */
    MICAP_OPERATION_CREATE,          /* with any number of components and staged values */
    MICAP_OPERATION_DESTROY,
    MICAP_OPERATION_SEVERAL,  /* what a flush makes of several changes of an entity that exists */
    MICAP_OPERATION_REQUIRED, /* in a target: the entity gets the component with its default value, unless it has it */
} micap_operation;

typedef enum micap_toggle { MICAP_TOGGLE_KEEP = 0, MICAP_TOGGLE_ON, MICAP_TOGGLE_OFF } micap_toggle;

/* What a change does, besides the components: compared as one number. */
typedef enum micap_shape {
    MICAP_SHAPE_IS_SET = 1 << 8, /* by set: the set hook runs */
    MICAP_SHAPE_EXACT = 1 << 9,  /* of a copy: required components do not come along */
    MICAP_SHAPE_TOGGLE = 1 << 16,
    MICAP_SHAPE_ADD = MICAP_OPERATION_VALUE,
    MICAP_SHAPE_SET = MICAP_OPERATION_VALUE | MICAP_SHAPE_IS_SET,
    MICAP_SHAPE_MARK = MICAP_OPERATION_NONE | MICAP_SHAPE_IS_SET, /* the value that is staged already was set */
} micap_shape;

/* A component of a kind of changes. */
typedef struct micap_kind_value {
    const micap_type *type;
    mica_component component;
    uint32_t size_bytes; /* as the caller gave it; of REMOVE_INSTANCE which one */
    uint32_t offset;     /* of the staged value from the change; 0 if there is none */
    uint32_t bytes;      /* of the staged value */
    uint8_t operation;   /* NONE, VALUE, REMOVE, INSTANCE or REMOVE_INSTANCE */
    bool is_set;         /* the caller gave a value: otherwise it is the default */
} micap_kind_value;

typedef struct micap_recorded_kind {
    uint32_t shape;
    uint32_t number; /* among those of the recording */
    uint32_t after;  /* the kind that was used after it, among creations or others: a loop repeats the same kinds */
    uint32_t key;    /* of the look-up */
    uint32_t next;   /* 1 + the next kind in its list; 0 if there is none */
    uint32_t
        wider; /* of a creation: the kind that it became the last time because a component was added; 0: none yet */
    uint32_t value_count;
    uint32_t fast_shape; /* the shape, if set or create has a fast path for its values; otherwise 0 */
    uint32_t stride;     /* bytes of a change with its values */
    uint32_t room_bytes; /* the same; UINT32_MAX if the room that is left may be aligned wrongly */
    uint32_t alignment;
    bool is_simple;       /* operations on values that move as bytes: it can be applied from the log */
    bool is_trivial;      /* all values are */
    bool copies_as_bytes; /* no value has a construct or copy function */
    bool has_pools;       /* some component is in a pool */
    bool has_required; /* some component may bring others along: not if it creates, then those are among the values */
    mica_location location;
    const char *label;
    micap_kind_value value;   /* the only one, */
    micap_kind_value *values; /* unless there is this list, in the memory of the kinds */
} micap_recorded_kind;

enum { MICAP_RECORDED_FIRST = 0, MICAP_RECORDED_LATER, MICAP_RECORDED_VOID };

typedef struct micap_recorded {
    mica_entity entity;
    uint32_t kind;               /* among those of the recording */
    uint32_t state;              /* the first or a later change of its entity, or taken back */
    struct micap_recorded *next; /* of the same entity; of the last one the first; NULL if there is only one */
} micap_recorded;

/* Changes that lie one after the other, each at the stride of the one before it. */
typedef struct micap_log_segment {
    char *first;
    char *end; /* of the last segment of a recording: see there */
} micap_log_segment;

/* Goes over the changes of a recording. It continues if more is recorded. */
typedef struct micap_log_cursor {
    uint32_t segment;
    char *at;
} micap_log_cursor;

struct micap_note;

enum { MICAP_KIND_LISTS = 256 };

/* What one buffer recorded, swapped out as a whole when it is applied. Its kinds stay for the next flush: a system records the same
 * kinds in every frame. A change to an entity whose index is above or below all
 * others is its first one; only other changes need the table, which is made then. */
typedef struct micap_recording {
    char *end; /* of the last change, */
    char *limit;
    micap_recorded *last;
    micap_recorded_kind *recent;  /* the kind that was used last, of those that do not create */
    micap_recorded_kind *created; /* the same of those that do */
    uint32_t lowest; /* index of entities that exist and were changed: [lowest, lowest + span]; all: none */
    uint32_t span;
    uint32_t highest_pending; /* of entities that are created or were changed while their creation was recorded */
    uint32_t change_count;    /* without those that were taken back */
    uint32_t created_count;
    bool has_foreign; /* some change is to an entity whose creation another buffer recorded */
    bool has_deaths;  /* some change destroys */
    micap_recorded_kind *kinds;
    uint32_t kind_count;
    uint32_t kind_capacity;
    uint32_t components_used; /* by the world, when the kinds were checked */
    uint32_t *kind_lists;     /* 1 + the first kind of each list, in the memory of the kinds; NULL: no kind yet */
    micap_stage kind_stage;
    micap_log_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
    micap_recorded **table; /* by entity, see micap_probe: the last change; zero if it is not used */
    uint32_t table_capacity;
    uint32_t table_count;
    micap_recorded **slot;        /* of the entity that was looked for last; NULL if the table was not used */
    micap_recorded **tabled_slot; /* of the change that was put into the table last */
    micap_log_cursor tabled;      /* up to where changes are in the table */
    struct micap_note *first_note;
    struct micap_note *last_note;
    micap_stage stage;
} micap_recording;

static inline bool micap_recording_is_empty(const micap_recording *recording)
{
    return !recording->change_count && !recording->first_note;
}

static inline micap_operation micap_kind_operation(const micap_recorded_kind *kind)
{
    return (micap_operation)(kind->shape & 0xFF);
}

static inline const micap_kind_value *micap_kind_values(const micap_recorded_kind *kind)
{
    return kind->values ? kind->values : &kind->value;
}

/* The staged value of a change, or NULL. */
static inline void *micap_recorded_value(micap_recorded *change, const micap_kind_value *value)
{
    return value->offset ? (char *)change + value->offset : NULL;
}

static inline micap_recorded *micap_recorded_after(micap_recorded *change, const micap_recorded_kind *kind)
{
    return (micap_recorded *)(void *)((char *)change + kind->stride);
}

/* The first change of an entity, given the last one; `next` leads to the others. */
static inline micap_recorded *micap_recorded_first(micap_recorded *last)
{
    return last->next ? last->next : last;
}

/* Whether the recording changes an entity that exists. */
static inline bool micap_recording_has_range(const micap_recording *recording)
{
    return recording->span != UINT32_MAX;
}

/* The next change, or NULL. */
micap_recorded *micap_recording_step(const micap_recording *recording, micap_log_cursor *cursor);

/* The last change of an entity that is alive, or NULL. */
micap_recorded *micap_recording_find(mica_world *world, micap_recording *recording, mica_entity entity);

/* Whether an entity that is alive is destroyed by this recording. */
bool micap_recording_destroys(mica_world *world, micap_recording *recording, mica_entity entity);

/* Destroys the staged values of a change. */
void micap_recorded_drop_values(const micap_recording *recording, micap_recorded *change);

/* Discards what is recorded: destroys staged values, and frees the handles of creations. */
void micap_recording_drop(mica_world *world, micap_recording *recording);

/* Forgets the kinds of an empty recording. */
void micap_recording_drop_kinds(micap_recording *recording);

/* Empties the recording after its values were moved out. Keeps the memory and the kinds. */
void micap_recording_reset(mica_world *world, micap_recording *recording);

/* Releases the memory of an empty recording. */
void micap_recording_free(mica_world *world, micap_recording *recording);

/* The slot of a table by entity for each attempt. The first attempt keeps neighbours together, because changes mostly
 * come for neighbours and then never collide. Further attempts scatter, for entities that are a power of two apart. */
static inline uint32_t micap_probe(uint32_t index, uint32_t attempt)
{
    return attempt == 0 ? index : (index * 0x9e3779b1u >> 7) + attempt;
}

#endif
