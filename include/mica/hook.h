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

#include "mica/describe.h"

MICA_BEGIN

typedef enum mica_event_kind {
    MICA_EVENT_ADD = 0, /* after the component was added; its first value is in place */
    MICA_EVENT_SET,     /* after a value was given: by set, or with create; not by add, which gives a default */
    MICA_EVENT_REMOVE,  /* before the component goes, by remove or destroy; it can still be read */
    MICA_EVENT_DESTROY, /* before the entity goes; for component 0, of any entity */
    MICA_EVENT_KINDS,
} mica_event_kind;

typedef struct mica_event {
    mica_world *world;
    mica_event_kind kind;
    mica_component component;
    uint32_t count;
    const mica_entity *entities;
    void *values; /* `count` values, or NULL for a tag or MICA_EVENT_DESTROY */
} mica_event;

/* Called after (ADD, SET) or before (REMOVE, DESTROY) the change; it may write the values. For a dying entity DESTROY
 * comes first, then REMOVE by rising component id. The world records while a hook runs: changes made in it are applied
 * when the operation that called it ends. */
typedef void (*mica_event_fn)(const mica_event *event, void *context);

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
