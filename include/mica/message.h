/* Mica, message: telling components something, by (component, message).
 *
 *     typedef struct Damage { float points; } Damage;
 *     MICA_STRUCT(Damage, points)
 *
 *     static void health_takes_damage(const mica_message *message)
 *     {
 *         Health *health = message->values;
 *         const Damage *damage = message->data;
 *         for (uint32_t i = 0; i < message->count; ++i)
 *             health[i].points -= damage->points;
 *     }
 *     mica_handler_add(world, MICA_HANDLER(Health, Damage, health_takes_damage));
 *
 *     mica_send(world, goblin, Damage, {3});               to one entity: to each of its components with a handler
 *     mica_broadcast(world, Damage, {1});                  to all, type by type, and only to types with a handler
 *     mica_message_every_frame(world, Update, MICA_PHASE_UPDATE);
 *
 * What is sent or broadcast inside systems is kept and delivered behind the flush of the phase, ordered by (system, slice,
 * call): it reaches entities that were created with it, and none that are dead. Outside of systems it is delivered at once, and
 * inside a handler behind all that is on its way already. Messages are handled one after the other, in the owner's
 * thread, and what a handler changes is applied before the next one; what comes every frame is run by systems, over all
 * workers. Components that are switched off get no messages. A handler that is described with its component need not be
 * added:
 *
 *     static const mica_handler camera_handlers[] = {MICA_HANDLED(Update, camera_updates)};
 *     MICA_COMPONENT_WITH(Camera, (MICA_HANDLERS(camera_handlers)), zoom)
 */
#ifndef MICA_MESSAGE_H
#define MICA_MESSAGE_H

#include "mica/entity.h"
#include "mica/frame.h"

MICA_BEGIN

/* A message as a handler gets it: for a run of entities that have the component. */
typedef struct mica_message {
    mica_world *world;
    mica_component component;
    mica_component kind; /* the id of the message's type */
    uint32_t count;
    const mica_entity *entities;
    void *values;            /* `count` components to read and write; NULL for a tag and a split one */
    const void *data;        /* the message */
    const mica_frame *frame; /* of the system that runs it every frame; else the time of the last frame */
    void *context;           /* of the handler */
} mica_message;

/* Touches the values it is given, and records whatever else it wants to change. */
typedef void (*mica_message_fn)(const mica_message *message);

typedef struct mica_handler {
    mica_type *component; /* NULL in the list of a component's description */
    mica_type *message;
    mica_message_fn fn;
    void *context;
    mica_place place;
} mica_handler;

/* Adds a handler; of several for one pair, each is called in the order they were added. Refused inside frames and handlers.
 * Threads: owner. */
MICA_API mica_result mica_handler_add(mica_world *world, const mica_handler *handler);

/* Removes a handler that was added with this function for the pair. False when there is none. Threads: owner. */
MICA_API bool mica_handler_remove(mica_world *world, mica_component component, mica_component message,
                                  mica_message_fn fn);

/* Delivers to one entity: to its components with a handler, by rising component id. False when it is dead, or memory is
 * short. Threads: any that runs a system; else owner. */
MICA_API bool mica_message_send(mica_world *world, mica_entity target, mica_value message, mica_place place);

/* Delivers to every entity with a component that has a handler, component by component in the order their first handlers were
 * added. False when memory is short. Threads: as above, any that runs a system; else owner. */
MICA_API bool mica_message_broadcast(mica_world *world, mica_value message, mica_place place);

/* Adds a system for each component with handlers of this message, now and later, that runs them over all rows in that phase.
 * It is called "Component.Message"; the message is zero. Threads: owner. */
MICA_API mica_result mica_message_every_frame_kind(mica_world *world, mica_component message, mica_phase phase);

MICA_END

#define MICA_HANDLER(T, M, fn_) (&(const mica_handler){&mica_type_of_##T, &mica_type_of_##M, (fn_), NULL, MICA_HERE})
#define MICA_HANDLER_WITH(T, M, fn_, context_)                                                                         \
    (&(const mica_handler){&mica_type_of_##T, &mica_type_of_##M, (fn_), (context_), MICA_HERE})
#define MICA_HANDLED(M, fn_) {NULL, &mica_type_of_##M, (fn_), NULL, {__FILE__, __LINE__}}
#define MICA_HANDLERS(list) .handlers = (list), .handler_count = sizeof(list) / sizeof *(list)
#define mica_send(world, target, M, ...)                                                                               \
    mica_message_send((world), (target), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_broadcast(world, M, ...) mica_message_broadcast((world), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_message_every_frame(world, M, phase) mica_message_every_frame_kind((world), MICA_ID(M), (phase))

#endif
