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
 * What is sent or broadcast inside systems is kept until the flush of the phase and delivered behind it, so that it reaches
 * entities that were created with it, and none that are dead. Delivery is done by systems, one for each component with
 * handlers, called "Health.messages": over all workers, slice by slice, several components at the same time. A component gets
 * its messages in the order they were sent, by (system, slice, call). What a handler changes is recorded and applied by the
 * flush behind the round; what it sends is the next round.
 *
 * Handlers follow the rows rule of systems (mica/system.h): they touch the values they are given and record all else. One that
 * looks up other entities or reads streams says so, and is then run in the order that asks for:
 *
 *     mica_handler_add(world, MICA_HANDLER_USING(Health, Damage, health_takes_damage, MICA_USES(MICA_USE_READ(Armour))));
 *
 * Outside of systems, messages are delivered at once, one after the other in the owner's thread, and what a handler changes is
 * applied before the next one; what it sends comes behind all that is on its way already. Components that are
 * switched off get no messages. A handler that is described with its component need not be
 * added:
 *
 *     static const mica_handler camera_handlers[] = {MICA_HANDLED(Update, camera_updates)};
 *     MICA_COMPONENT_WITH(Camera, (MICA_HANDLERS(camera_handlers)), zoom)
 */
#ifndef MICA_MESSAGE_H
#define MICA_MESSAGE_H

#include "mica/entity.h"
#include "mica/system.h"

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
    const mica_frame *frame; /* of the system that runs the handler; outside of systems the time of the last frame */
    void *context;           /* of the handler */
} mica_message;

/* Touches the values it is given, and records whatever else it wants to change. */
typedef void (*mica_message_fn)(const mica_message *message);

typedef struct mica_handler {
    mica_type *component; /* NULL in the list of a component's description */
    mica_type *message;
    mica_message_fn fn;
    void *context;
    mica_location location;
    const mica_use *uses; /* what it touches besides its values; copied */
    uint32_t use_count;
} mica_handler;

/* Adds a handler; of several for one pair, each is called in the order they were added. Refused inside frames and handlers,
 * and when the handlers of a component together declare more than 64 uses, as a system may. Threads: owner. */
MICA_API mica_result mica_handler_add(mica_world *world, const mica_handler *handler);

/* Removes a handler that was added with this function for the pair. False when there is none. Threads: owner. */
MICA_API bool mica_handler_remove(mica_world *world, mica_component component, mica_component message,
                                  mica_message_fn fn);

/* Delivers to one entity: to its components with a handler, in the order those got their first handlers. False when it is dead, or memory is
 * short. Threads: any that runs a system; else owner. */
MICA_API bool mica_send_id(mica_world *world, mica_entity target, mica_value message, mica_location location);

/* Delivers to every entity with a component that has a handler, component by component in the order they got their first
 * handlers. False when memory is short. Threads: as above, any that runs a system; else owner. */
MICA_API bool mica_broadcast_id(mica_world *world, mica_value message, mica_location location);

/* Adds a system for each component with handlers of this message, now and later, that runs them over all rows in that phase.
 * It is called "Component.Message"; the message is zero. Threads: owner. */
MICA_API mica_result mica_message_every_frame_id(mica_world *world, mica_component message, mica_phase phase);

MICA_END

#define MICA_HANDLER(T, M, fn_) MICA_HANDLER_WITH(T, M, fn_, NULL)
#define MICA_HANDLER_WITH(T, M, fn_, context_)                                                                         \
    (&(const mica_handler){&mica_type_of_##T, &mica_type_of_##M, (fn_), (context_), MICA_HERE, NULL, 0})
/* With more of the struct: MICA_HANDLER_USING(Health, Damage, fn, .context = &log, MICA_USES(MICA_USE_READ(Armour))) */
#define MICA_HANDLER_USING(T, M, fn_, ...)                                                                             \
    (&(const mica_handler){                                                                                            \
        .component = &mica_type_of_##T, .message = &mica_type_of_##M, .fn = (fn_), .location = MICA_HERE, __VA_ARGS__})
#define MICA_HANDLED(M, fn_) {NULL, &mica_type_of_##M, (fn_), NULL, {__FILE__, __LINE__}, NULL, 0}
#define MICA_HANDLERS(list) .handlers = (list), .handler_count = sizeof(list) / sizeof *(list)
#define mica_send(world, target, M, ...)                                                                               \
    mica_send_id((world), (target), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_broadcast(world, M, ...) mica_broadcast_id((world), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_message_every_frame(world, M, phase) mica_message_every_frame_id((world), MICA_ID(M), (phase))

#endif
