/* Command buffers: their order, and the handles they give out. See recorded_changes.h for what they hold. */
#ifndef MICAP_CORE_COMMANDS_COMMAND_BUFFER_H
#define MICAP_CORE_COMMANDS_COMMAND_BUFFER_H

#include "core/commands/record.h" /* for callers below this folder, which reach it through world.h */
#include "core/commands/recorded_changes.h"
#include "core/world/thread_context.h"
#include "mica/command.h"

/* Reports a change to an entity that is dead, or that this buffer destroys. */
void micap_commands_report_dead(const mica_commands *commands, mica_entity entity, mica_location location,
                                const char *what);

/* Whether the entity is alive as far as this buffer knows. Reports it if not. */
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
    uint32_t taken_count; /* since the last flush */
};

/* Adds an empty buffer after the others of the world. */
void micap_commands_init(mica_commands *commands, mica_world *world);

/* Buffers of systems. There may be many, few of which are used at a time: they are known to the world, but take part in a
 * flush only when they are put after the others for it, in the order their owner wants. */
void micap_commands_park(mica_commands *commands);
void micap_commands_line_up(mica_commands *commands);
/* Removes those from the order that have nothing left to apply. */
void micap_commands_fall_out(mica_world *world);
/* Destroys a parked buffer. */
void micap_commands_unpark(mica_commands *commands);

/* The buffer that changes through the world are recorded into by this thread: that of the piece of work it does, else the
 * world's own. Never NULL; one that refuses to record where there is none. */
mica_commands *micap_recorder(mica_world *world);
void micap_commands_free(mica_commands *commands);

/* Releases the memory of all buffers that have nothing recorded, and what flushes left in the others. */
void micap_commands_trim(mica_world *world);

/* Takes a handle for a recorded creation, in the thread of the buffer; nil if memory or indices run out. The other returns it. */
mica_entity micap_commands_take_handle(mica_commands *commands);
void micap_commands_return_handle(mica_commands *commands, mica_entity entity);

/* The handles that buffers own. */
typedef struct micap_handle_count {
    uint64_t reserved; /* in stock */
    uint64_t pending;  /* of creations that are recorded */
} micap_handle_count;

micap_handle_count micap_commands_count_handles(const mica_world *world);

/* Gives a buffer without handles these reserved ones; false if memory is short. */
bool micap_commands_set_stock(mica_commands *commands, const mica_entity *handles, uint32_t count,
                              uint32_t taken_count);

/* Reserves the handles that the buffer will need next, as many as it took last time. */
void micap_commands_restock(mica_commands *commands);

#endif
