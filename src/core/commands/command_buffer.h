/* Recorded changes. A buffer keeps one target per entity it touches, in order of first touch, and per target one command
 * per component: the last word on it. So a flush finds the net change of an entity ready, and moves it once. Of a pool with
 * many instances per entity the commands are a list instead, which is gone through. */
#ifndef MICAP_CORE_COMMANDS_COMMAND_BUFFER_H
#define MICAP_CORE_COMMANDS_COMMAND_BUFFER_H

#include "core/storage/archetype.h"
#include "core/world/thread_context.h"
#include "core/commands/strip.h"
#include "mica/command.h"

typedef enum micap_operation {
    MICAP_OPERATION_NONE = 0, /* a later buffer has the last word, or only the toggle counts */
    MICAP_OPERATION_VALUE,    /* the component is there afterwards, with the staged value */
    MICAP_OPERATION_REMOVE,
    MICAP_OPERATION_INSTANCE, /* of a pool for many: one more, with the staged value */
} micap_operation;

typedef enum micap_toggle { MICAP_TOGGLE_KEEP = 0, MICAP_TOGGLE_ON, MICAP_TOGGLE_OFF } micap_toggle;

typedef struct micap_command {
    struct micap_command *next;     /* of the same target */
    struct micap_command *original; /* in the copy that a flush merges: where the value is recorded */
    void *value;                    /* staged; NULL for a tag */
    const micap_type *type;
    uint8_t operation;
    uint8_t toggle;
    bool is_set;       /* by set or with create: the set hook runs */
    bool toggle_first; /* the toggle came before the value: it is for what was there already */
    bool toggled;      /* worked out by the flush: it is switched otherwise than before */
} micap_command;

typedef struct micap_target {
    mica_entity entity;
    micap_command *first;
    micap_command *last;
    mica_location location; /* of the first touch */
    const char *label;
    bool created;
    bool destroyed;
    bool merged; /* a copy made by the flush, of changes in several buffers */
    /* Worked out by the flush. */
    bool doomed;           /* it dies with another one, and not by itself */
    micap_edge edge;       /* from one to the other, if it has the fast path */
    micap_archetype *from; /* NULL when it is created */
    micap_archetype *to;   /* NULL when it is destroyed */
} micap_target;

/* How a target is recorded: most have one command, and a small value lies right behind it. */
typedef struct micap_recorded {
    _Alignas(max_align_t) micap_target target;
    micap_command command; /* the first, when there is one */
} micap_recorded;

/* A change that was refused when it was recorded may leave a target with nothing to do. */
static inline bool micap_target_is_empty(const micap_target *target)
{
    return !target->created && !target->destroyed && !target->first;
}

/* Records one more instance with a copy of the one in a row of the pool; false with a report when it can't. */
bool micap_command_copy_instance(mica_commands *commands, mica_entity entity, const struct mica_pool *pool,
                                 uint32_t row);

/* Undoes a creation, the last to be recorded. */
void micap_command_forget_create(mica_commands *commands, mica_entity entity);

/* Takes a command out of the list of its target. */
void micap_target_unlink(micap_target *target, const micap_command *command);

/* Destroys the staged value of a command, if it has one. */
void micap_command_drop_value(micap_command *command);

struct micap_note;

/* A change to something that a module keeps, recorded among those to entities. Notes are applied by a flush before entities
 * change, in the order of buffers and calls. */
typedef struct micap_note_ops {
    /* MICA_OK; or nothing has changed: MICA_ERROR_MEMORY lets the flush be tried again, anything else drops the note, with
     * a report. An entity that is dead is set aside with micap_note_set_aside. */
    mica_result (*apply)(mica_world *world, struct micap_note *note);
    /* Takes back what apply did, last note first: the flush can't be made. */
    void (*undo)(mica_world *world, struct micap_note *note);
} micap_note_ops;

typedef struct micap_note {
    const micap_note_ops *ops;
    struct micap_note *next;
    struct micap_note *applied_before; /* worked out by the flush */
    mica_location location;
    const char *label;
} micap_note;

/* What one recording filled, swapped out as a whole when it is applied. Systems walk entities in order, so that as long as
 * the index of each new target is above that of the last one, targets are found by that order and there is no table. */
typedef struct micap_recording {
    micap_target **targets; /* in the stage, where they don't move; none yet while there is a strip */
    uint32_t target_count;  /* changes of the strip included */
    uint32_t target_capacity;
    uint32_t found;  /* the target that was found last: the next one is a good guess */
    bool has_table;  /* else the table is all zero */
    uint32_t *table; /* by entity index, see micap_probe: 1 + index of the target */
    uint32_t table_capacity;
    micap_note *first_note; /* in the stage too */
    micap_note *last_note;
    micap_stage stage;
    micap_strip strip;
} micap_recording;

/* The targets that are there to be looked at. */
static inline uint32_t micap_recording_unrolled(const micap_recording *recording)
{
    return recording->strip.type ? 0 : recording->target_count;
}

static inline bool micap_recording_is_empty(const micap_recording *recording)
{
    return !recording->target_count && !recording->first_note;
}

/* Whether a flush has nothing to apply: a change that was refused may leave targets without commands. */
bool micap_recording_is_idle(const micap_recording *recording);

/* Records a note, which begins a struct of that many bytes; the rest is zero. NULL with a report. */
micap_note *micap_commands_note(mica_commands *commands, const micap_note_ops *ops, size_t bytes,
                                mica_location location);

/* Forgets the notes behind one, which is the last then; NULL: all. */
void micap_recording_forget_notes(micap_recording *recording, micap_note *last);

/* Says that a change was recorded for an entity that is dead, or that this buffer destroys. */
void micap_commands_report_dead(const mica_commands *commands, mica_entity entity, mica_location location,
                                const char *what);

/* Whether the entity lives as far as this buffer knows; a report when not. */
bool micap_commands_expect_living(mica_commands *commands, mica_entity entity, mica_location location,
                                  const char *what);

struct mica_commands {
    mica_world *world;
    mica_commands *next;   /* in order of creation */
    bool is_lined_up;      /* a parked one that takes part in the next flush */
    mica_commands *parked; /* the next of those that are in no order: see micap_commands_park */
    const char *label;
    uint64_t serial; /* see mica_world; of a parked one from then on */
    micap_recording recording;
    micap_recording applied; /* what a flush is working on, while hooks record anew */
    uint32_t lane;
    bool is_parked;
    bool is_of_system;
    bool refusing;      /* nothing can be recorded: for work that has no place in the order */
    bool owned;         /* the world's own buffer: records in the owner's thread, takes handles directly */
    mica_entity *stock; /* handles ready to be given out, last first */
    uint32_t stock_count;
    uint32_t stock_capacity;
    uint32_t taken_count;           /* since the last flush */
    const micap_type *checked_type; /* the last component that was found fit to be recorded */
};

/* Puts an empty buffer behind the others of the world. */
void micap_commands_init(mica_commands *commands, mica_world *world);

/* Buffers of systems. There may be many, few of which are used at a time: they are known to the world, but take part in a
 * flush only when they are put behind the others for it, in the order their owner wants. */
void micap_commands_park(mica_commands *commands);
void micap_commands_line_up(mica_commands *commands);
/* Takes those out of the order again of which nothing is left to apply. */
void micap_commands_fall_out(mica_world *world);
/* Gives back a parked buffer. */
void micap_commands_unpark(mica_commands *commands);

/* The buffer that changes through the world are recorded into by this thread: that of the piece of work it does, else the
 * world's own. Never NULL; one that refuses to record where there is none. */
mica_commands *micap_recorder(mica_world *world);
void micap_commands_free(mica_commands *commands);

/* Releases the memory of all buffers that have nothing recorded, and what flushes left in the others. */
void micap_commands_trim(mica_world *world);

/* Drops what is recorded: staged values destroyed, handles of creations dead. */
void micap_recording_drop(mica_world *world, micap_recording *recording);

/* Empties the recording after its values were moved out; keeps the memory. */
void micap_recording_reset(mica_world *world, micap_recording *recording);

/* Releases its memory. */
void micap_recording_free(mica_world *world, micap_recording *recording);

/* Where to look for an entity in a table by its index, try after try. First where neighbours are neighbours: changes
 * mostly come in runs, which then never collide. Then scattered, for entities that lie a power of two apart. */
static inline uint32_t micap_probe(uint32_t index, uint32_t attempt)
{
    return attempt == 0 ? index : (index * 0x9e3779b1u >> 7) + attempt;
}

/* The place in the table for an entity index. */
uint32_t micap_recording_slot(const micap_recording *recording, uint32_t index);
/* A table with room for one more target than there are, and with those in it; false when memory is short. */
bool micap_recording_grow_table(mica_commands *commands);
/* The long way to find a target. */
micap_target *micap_recording_search(micap_recording *recording, mica_entity entity);

/* The target of an entity, or NULL; nothing of a strip is found. */
micap_target *micap_recording_find(micap_recording *recording, mica_entity entity);

/* A handle for an entity that is recorded, in the buffer's own thread; nil when memory or indices are short. And back. */
mica_entity micap_commands_take_handle(mica_commands *commands);
void micap_commands_return_handle(mica_commands *commands, mica_entity entity);

/* The handles that buffers own. */
typedef struct micap_handle_count {
    uint64_t reserved; /* in stock */
    uint64_t pending;  /* of creations that are recorded */
} micap_handle_count;

micap_handle_count micap_commands_count_handles(const mica_world *world);

/* Takes the handles the buffer will need next time, as many as it took last time. */
void micap_commands_restock(mica_commands *commands);

#endif
