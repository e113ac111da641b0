/* Callbacks: functions of the program or of a module that the world calls in the middle of an operation. */
#ifndef MICAP_CORE_WORLD_CALLBACK_H
#define MICAP_CORE_WORLD_CALLBACK_H

#include "core/world/thread_context.h"
#include "core/world/world.h"

/* Call these before and after a callback. While it runs, changes through the world are recorded; micap_hooks_end applies them. If the
 * callback leaves a mica_defer open or calls mica_flush, micap_callback_end sets the recording depth back to `depth`, the value
 * that micap_callback_begin returned. */
static inline uint32_t micap_callback_begin(mica_world *world)
{
    ++world->hook_depth;
    return world->recording_depth++;
}

static inline void micap_callback_end(mica_world *world, uint32_t depth)
{
    --world->hook_depth;
    world->recording_depth = depth;
    world->hooks_recorded |= !micap_recording_is_empty(&world->deferred.recording);
}

/* Call these before and after a function of the program that may change the world at once: it can't destroy the world meanwhile. */
static inline void micap_world_hold(mica_world *world)
{
    if (!micap_thread_context_of(world))
        ++world->frame_depth;
}

static inline void micap_world_let_go(mica_world *world)
{
    if (!micap_thread_context_of(world))
        --world->frame_depth;
}

#endif
