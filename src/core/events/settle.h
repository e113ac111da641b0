/* Settling: what happens when an operation or flush has ended, with what hooks recorded: watches that waited for it are called, then the
 * next user event is delivered. The world is as the program will see it then. */
#ifndef MICAP_CORE_EVENTS_SETTLE_H
#define MICAP_CORE_EVENTS_SETTLE_H

#include "core/world/world.h"

/* Asks for world->settle to be called when the operation ends. That returns true if it began something new, from which rounds of the
 * flush count anew: it limits these itself. */
static inline void micap_settle_later(mica_world *world)
{
    world->is_unsettled = true;
    world->hooks_recorded = true; /* so that the operation ends with micap_hooks_end */
}

/* Several operations count as one until the end, which the caller follows with micap_hooks_end. */
static inline void micap_settle_hold(mica_world *world)
{
    ++world->settle_holds;
}

static inline void micap_settle_end_hold(mica_world *world)
{
    --world->settle_holds;
}

#endif
