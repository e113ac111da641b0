/* Events: hooks, watches and lists of removals of components. The world records while one of them runs, so that rows do not move during
 * the operation that called it.
 *
 *     hooks.c      the one hook of the program per component and event, and the order in which all are called
 *     watch.c      lists of functions of the layers above: observers
 *     settle.h     what watches do when the operation has ended
 *     removals.c   lists of entities that lost a component */
#ifndef MICAP_CORE_EVENTS_HOOKS_H
#define MICAP_CORE_EVENTS_HOOKS_H

#include "core/world/callback.h"

/* Calls the hook, then the watches, for consecutive rows of one chunk. micap_hooks_end applies what they record. */
void micap_hooks_run(mica_world *world, mica_event_kind kind, mica_component component, micap_row spot, uint32_t count);
/* Calls the hook and the watches of a component and fills its lists of removals. Snapshots have a copy of the values. */
void micap_hooks_call(mica_world *world, mica_event_kind kind, const micap_component *component,
                      const mica_entity *entities, void *values, uint32_t count);
/* How many of these living entities, from the first on, have consecutive rows of one chunk. */
uint32_t micap_run_of(const mica_world *world, const mica_entity *entities, uint32_t count);
/* micap_hooks_run for entities anywhere: calls it for each run of consecutive rows. */
void micap_hooks_run_many(mica_world *world, mica_event_kind kind, mica_component component,
                          const mica_entity *entities, uint32_t count);
/* Calls the add hooks of the components that the archetype of the rows has and `from` does not; NULL is the empty set. */
void micap_hooks_added(mica_world *world, const micap_archetype *from, micap_row spot, uint32_t count);
/* Calls the set hooks of the components of new rows that were created with a value. */
void micap_hooks_given(mica_world *world, micap_row spot, uint32_t count, const mica_value *values,
                       uint32_t value_count);
/* Calls the add hooks of a new row, and then the set hooks: 30 instructions less than one after the other. */
void micap_hooks_added_given(mica_world *world, micap_row spot, const mica_value *values, uint32_t value_count);
/* A component of an archetype that something awaits an event of, found out for many rows. */
typedef struct micap_hooked {
    const micap_component *component;
    uint32_t column_offset; /* see micap_column_offset; 0: it has no column */
} micap_hooked;

/* Calls hooks of listed components for one row: of one kind of event, or of ADD and then of SET. */
void micap_hooks_run_list(mica_world *world, mica_event_kind kind, micap_row spot, const micap_hooked *hooked,
                          uint32_t count);
void micap_hooks_run_lists(mica_world *world, micap_row spot, const micap_hooked *hooked, uint32_t added_count,
                           uint32_t set_count);
/* Calls the remove hooks of the components that `to` does not have. NULL: the entities are destroyed, and the destroy hook is called
 * first. */
void micap_hooks_removing(mica_world *world, const micap_archetype *to, micap_row spot, uint32_t count);
/* Applies what hooks recorded, unless an outer operation records or flushes. */
static inline void micap_hooks_end(mica_world *world)
{
    if (MICAP_LIKELY(!world->hooks_recorded) || world->recording_depth || world->flushing)
        return;
    micap_flush_own(world);
}

/* Whether a component has a hook, a watch or a list for an event. */
static inline bool micap_is_awaited(const micap_component *component, mica_event_kind kind)
{
    return component->hooks[kind].fn || component->watches[kind] || (kind == MICA_EVENT_REMOVE && component->removals);
}

/* Whether any of the archetype's components has one of these hooks: bits 1 << kind. */
static inline bool micap_has_hooks(const micap_archetype *archetype, uint32_t mask)
{
    return (archetype->hook_mask & mask) != 0;
}

#endif
