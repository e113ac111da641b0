/* Mica, hook: one function per component and event, called with whole runs of entities. Setting one replaces the other.
 *
 *     static void on_add(const mica_event *event)
 *     {
 *         void *context = event->context;
 *         Sprite *sprites = event->values;
 *         for (uint32_t i = 0; i < event->count; ++i)
 *             sprites[i].id = register_sprite(context, event->entities[i]);
 *     }
 *     mica_hook_set(world, Sprite, MICA_EVENT_ADD, on_add, renderer);
 */
#ifndef MICA_HOOK_H
#define MICA_HOOK_H

#include "mica/event.h"

MICA_BEGIN

/* A hook is called after (ADD, SET) or before (REMOVE, DESTROY) the change; it may write the values. For an entity that is
 * destroyed, DESTROY comes first, then REMOVE by rising component id. */

/* Sets the hook of a component for an event; a NULL function takes it away. MICA_EVENT_DESTROY takes component 0.
 * Threads: owner. */
MICA_API mica_result mica_hook_set_id(mica_world *world, mica_component component, mica_event_kind kind,
                                      mica_event_fn fn, void *context);

MICA_END

#define mica_hook_set_destroy(world, fn, context)                                                                      \
    mica_hook_set_id((world), 0, MICA_EVENT_DESTROY, (fn), (context))
#define mica_hook_set(world, T, kind, fn, context)                                                                     \
    mica_hook_set_id((world), MICA_ID(T), (kind), (fn), (context))

#endif
