/* Running hooks. The world records while a hook runs, so that nothing moves under the operation that called it. */
#ifndef MICAP_CORE_EVENTS_HOOKS_H
#define MICAP_CORE_EVENTS_HOOKS_H

#include "core/world/world.h"

/* The hook, then the watches, of a run of rows in one chunk. The world records while they run; micap_hooks_end applies that. */
void micap_hooks_run(mica_world *world, mica_event_kind kind, mica_component component, micap_spot spot,
                     uint32_t count);
/* Calls the hook and the watches of a component and fills its lists of removals. */
void micap_hooks_call(mica_world *world, const micap_component *component, mica_event *event);
/* For the one component with add hooks that creating these rows calls: see lone_add of the archetype. */
void micap_hooks_run_lone(mica_world *world, micap_spot spot, uint32_t count);
/* How many of these living entities, from the first on, lie one after the other in one chunk. */
uint32_t micap_run_of(const mica_world *world, const mica_entity *entities, uint32_t count);
/* The same for entities in any places: called with runs of those that lie one after the other. */
void micap_hooks_run_many(mica_world *world, mica_event_kind kind, mica_component component,
                          const mica_entity *entities, uint32_t count);
/* The add hook for each component of the row's archetype that `from` (NULL: the empty set) does not have. */
void micap_hooks_added(mica_world *world, const micap_archetype *from, micap_spot spot, uint32_t count);
/* The remove hook for each component that `to` (NULL: none, with the destroy hook) will not have. */
void micap_hooks_removing(mica_world *world, const micap_archetype *to, micap_spot spot, uint32_t count);
/* Before and after the world calls a function of the program or of a module: until it returns, changes through the world are
 * recorded, and micap_hooks_end applies them. A mica_defer or mica_flush inside it ends with it: `depth`, which the first
 * returns, is how deeply the world recorded before. */
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

/* Applies what hooks recorded, unless something outside records or flushes. */
static inline void micap_hooks_end(mica_world *world)
{
    if (MICAP_LIKELY(!world->hooks_recorded) || world->recording_depth || world->flushing)
        return;
    micap_flush_own(world);
}

/* Whether a component has a hook or a watch for an event that has hooks. */
static inline bool micap_is_awaited(const micap_component *component, mica_event_kind kind)
{
    return component->hooks[kind].fn || component->watches[kind];
}

/* Whether any of the archetype's components has one of these hooks: bits 1 << kind. */
static inline bool micap_has_hooks(const micap_archetype *archetype, uint32_t mask)
{
    return (archetype->hook_mask & mask) != 0;
}

#endif
