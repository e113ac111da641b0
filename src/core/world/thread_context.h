/* What this thread does for a world at the moment: a piece of work of a system, or nothing. It is how the doors of the
 * world know, inside systems, who records and which version to stamp, without being told at every call. */
#ifndef MICAP_CORE_WORLD_THREAD_CONTEXT_H
#define MICAP_CORE_WORLD_THREAD_CONTEXT_H

#include "mica/command.h"
#include "mica/view.h"
#include "mica/world.h"

/* What a system declared about a component. */
typedef enum micap_allowed { MICAP_NOT_ALLOWED, MICAP_ALLOWED_IN_ROWS, MICAP_ALLOWED } micap_allowed;

typedef struct micap_here {
    mica_world *world;
    mica_version version;    /* of the system that runs: stamped on what it writes, and its mark for the next time */
    uint32_t defers;         /* mica_defer inside it, which changes nothing: it records anyway */
    mica_commands *commands; /* what it records into; NULL until it does */
    /* Finds the buffer; NULL with a report when there is none for this piece of work. */
    mica_commands *(*open)(struct micap_here *here);
#ifdef MICA_CHECKED
    micap_allowed (*allows)(const struct micap_here *here, mica_component component, bool write);
    const char *label; /* of the system, and where it was added */
    mica_location location;
    const mica_view *view; /* that its function has been given; NULL when it runs once */
#endif
} micap_here;

/* The initial-exec model: a single load, also in a shared library. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) micap_here *micap_here_now;

/* NULL outside of the systems of this world. */
static inline micap_here *micap_here_of(const mica_world *world)
{
    micap_here *here = micap_here_now;
    return here && here->world == world ? here : NULL;
}

#endif
