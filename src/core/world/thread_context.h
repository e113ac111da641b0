/* Thread context: the system that this thread runs for a world, if any. Functions of the public API find here which command buffer
 * records and which version is stamped, so that systems need not pass them. */
#ifndef MICAP_CORE_WORLD_THREAD_CONTEXT_H
#define MICAP_CORE_WORLD_THREAD_CONTEXT_H

#include "base/assert.h"
#include "mica/command.h"
#include "mica/view.h"
#include "mica/world.h"

/* What a system declared about a component. */
typedef enum micap_allowed { MICAP_NOT_ALLOWED, MICAP_ALLOWED_IN_ROWS, MICAP_ALLOWED } micap_allowed;

typedef struct micap_thread_context {
    mica_world *world;
    mica_version version;    /* of the running system: stamped on what it writes, and its mark for the next run */
    uint32_t defers;         /* calls of mica_defer inside it, which have no effect: a system always records */
    mica_commands *commands; /* the buffer it records into; NULL until it records */
    /* Finds the buffer; NULL with a report if this job has none. */
    mica_commands *(*open)(struct micap_thread_context *here);
#ifdef MICA_CHECKED
    micap_allowed (*allows)(const struct micap_thread_context *here, mica_component component, bool write);
    const char *label; /* of the system, and where it was added */
    mica_location location;
    const mica_view *view; /* passed to its function; NULL for a system that runs once per frame */
#endif
} micap_thread_context;

/* The initial-exec model reads it with a single load, also in a shared library. */
extern _Thread_local MICAP_INITIAL_EXEC micap_thread_context *micap_this_thread;

/* The context of this thread; NULL outside of the systems of this world. */
static inline micap_thread_context *micap_thread_context_of(const mica_world *world)
{
    micap_thread_context *here = micap_this_thread;
    return here && here->world == world ? here : NULL;
}

/* An exclusive system has no context, since its changes are immediate. Reports of checked builds name it all the same. */
#ifdef MICA_CHECKED
typedef struct micap_exclusive_run {
    const mica_world *world; /* NULL: none runs on this thread */
    const char *label;
    mica_location location; /* where it was added */
} micap_exclusive_run;

extern _Thread_local micap_exclusive_run micap_this_exclusive;
#endif

static inline void micap_exclusive_begin(const mica_world *world, const char *label, mica_location location)
{
#ifdef MICA_CHECKED
    micap_this_exclusive = (micap_exclusive_run){world, label, location};
#else
    (void)world, (void)label, (void)location;
#endif
}

static inline void micap_exclusive_end(void)
{
#ifdef MICA_CHECKED
    micap_this_exclusive.world = NULL;
#endif
}

#endif
