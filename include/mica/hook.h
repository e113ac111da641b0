/* Mica, hook: one function per component and event, called with whole ranges of entities. Setting a hook replaces the old one.
 *
 *     static void on_add(const mica_event *event)
 *     {
 *         Sprite *sprites = event->values;
 *         for (uint32_t i = 0; i < event->count; ++i)
 *             sprites[i].id = register_sprite(event->context, event->entities[i]);
 *     }
 *     mica_hook_set(world, Sprite, MICA_EVENT_ADD, on_add, renderer);
 *
 * A hook runs after (ADD, SET) or before (REMOVE, DESTROY) each single change. When an entity is destroyed, DESTROY comes first,
 * then REMOVE by ascending component id. Several functions per event, filters and net changes: see mica/observer.h.
 */
#ifndef MICA_HOOK_H
#define MICA_HOOK_H

#include "mica/event.h"

MICA_BEGIN

/* Sets the hook of a component for ADD, SET or REMOVE, or the hook of all entities for DESTROY with component 0. A NULL function
 * removes the hook. Threads: owner. */
MICA_API mica_result mica_hook_set_id(mica_world *world, mica_component component, mica_event_kind kind,
                                      mica_event_fn fn, void *context);

/* Returns whether a hook, observer or monitor is called when the component is added or set. Threads: reader. */
MICA_API bool mica_is_observed_id(const mica_world *world, mica_component component);

/* Sets the function that is called before an entity is destroyed, or removes it with NULL. Threads: owner. */
static inline mica_result mica_hook_set_destroy(mica_world *world, mica_event_fn fn, void *context)
{
    return mica_hook_set_id(world, 0, MICA_EVENT_DESTROY, fn, context);
}

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_hook_set_id(world, ...) mica_hook_set_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_is_observed_id(...) MICA_AT_(mica_is_observed_id(__VA_ARGS__))
#    define mica_hook_set_destroy(world, ...) mica_hook_set_destroy(MICA_AT_(world), __VA_ARGS__)
#endif

#define mica_hook_set(world, T, kind, fn, context)                                                                     \
    mica_hook_set_id((world), MICA_ID(T), (kind), (fn), (context))

#endif
