/* Mica, message: send messages to components. Handlers are registered by (component, message).
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
 *     mica_send(world, goblin, Damage, {3});               to the components of one entity that have a handler
 *     mica_broadcast(world, Damage, {1});                  to all entities, type by type, only types with a handler
 *     mica_message_every_frame(world, Update, MICA_PHASE_UPDATE);
 *
 * Messages sent inside systems are delivered after the flush of the phase. They reach entities created in that phase, and not
 * those destroyed in it. Delivery is done by systems, one per component with handlers, named "Health.messages": in parallel, slice by
 * slice. A component receives its messages in the order they were sent: (system, slice, call). Changes made by a handler are
 * recorded and applied by the flush after the round; messages sent by a handler are delivered in the next round.
 *
 * Handlers follow the rule of systems (mica/system.h): they access only the values they are given and record everything else. A
 * handler that reads other entities or streams declares it:
 *
 *     mica_handler_add(world, MICA_HANDLER_WITH(Health, Damage, health_takes_damage, (MICA_USES(MICA_USE_READ(Armour)))));
 *
 * Outside systems, messages are delivered immediately on the owner's thread, one after another; changes made by a handler are
 * applied before the next one runs, and messages it sends are queued after those already waiting. Disabled components and disabled
 * entities receive no messages. Handlers can be part of a component's description and then need not be added:
 *
 *     static const mica_handler camera_handlers[] = {MICA_HANDLED(Update, camera_updates)};
 *     MICA_COMPONENT_WITH(Camera, (MICA_HANDLERS(camera_handlers)), zoom)
 */
#ifndef MICA_MESSAGE_H
#define MICA_MESSAGE_H

#include "mica/entity.h"
#include "mica/system.h"

MICA_BEGIN

/* What a handler receives: a message for a range of entities with the component. */
typedef struct mica_message {
    mica_world *world;
    mica_component component;
    mica_component kind; /* the id of the message type */
    uint32_t count;
    const mica_entity *entities;
    void *values;            /* `count` components, for reading and writing; NULL for a tag or a split component */
    const void *data;        /* the message */
    const mica_frame *frame; /* of the system that runs the handler; outside systems, of the last frame */
    void *context;           /* of the handler */
} mica_message;

/* Accesses the values it is given and records all other changes. */
typedef void (*mica_message_fn)(const mica_message *message);

typedef struct mica_handler {
    mica_type *component; /* NULL in a component's description */
    mica_type *message;
    mica_message_fn fn;
    void *context;
    mica_location location;
    const mica_use *uses; /* what it accesses besides its values; copied */
    uint32_t use_count;
} mica_handler;

/* Adds a handler. Several handlers of one pair run in the order they were added. Rejected inside frames and handlers, and if the
 * handlers of a component declare more than 64 uses in total. Threads: owner. */
MICA_API mica_result mica_handler_add(mica_world *world, const mica_handler *handler);

/* Removes a handler that was added with this function for this pair. Returns false if there is none. Threads: owner. */
MICA_API bool mica_handler_remove(mica_world *world, mica_component component, mica_component message,
                                  mica_message_fn fn);

/* Sends a message to one entity: to its components with a handler, in the order they got their first handlers. Returns false if the
 * entity is not alive or memory runs out. Threads: any that runs a system; else owner. */
MICA_API bool mica_send_id(mica_world *world, mica_entity target, mica_value message, mica_location location);

/* Sends a message to every entity with a component that has a handler, component by component in the order they got their first
 * handlers. Returns false if memory runs out. Threads: as above, any that runs a system; else owner. */
MICA_API bool mica_broadcast_id(mica_world *world, mica_value message, mica_location location);

/* Adds a system for each component with a handler of this message, now and later, that runs the handlers over all rows in that
 * phase. The system is named "Component.Message"; the message is zero. Threads: owner. */
MICA_API mica_result mica_message_every_frame_id(mica_world *world, mica_component message, mica_phase phase);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_handler_add(world, ...) mica_handler_add(MICA_AT_(world), __VA_ARGS__)
#    define mica_handler_remove(world, ...) mica_handler_remove(MICA_AT_(world), __VA_ARGS__)
#    define mica_send_id(world, ...) mica_send_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_broadcast_id(world, ...) mica_broadcast_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_message_every_frame_id(world, ...) mica_message_every_frame_id(MICA_AT_(world), __VA_ARGS__)
#endif

#define MICA_HANDLER(T, M, fn_) MICA_HANDLER_WITH(T, M, fn_, (.context = NULL))
/* With more fields of the struct: MICA_HANDLER_WITH(Health, Damage, fn, (.context = &log, MICA_USES(MICA_USE_READ(Armour)))) */
#define MICA_HANDLER_WITH(T, M, fn_, options)                                                                          \
    (&(const mica_handler){.component = &MICA_JOIN_(mica_type_of_, T),                                                             \
                           .message = &MICA_JOIN_(mica_type_of_, M),                                                               \
                           .fn = (fn_),                                                                                \
                           .location = MICA_HERE,                                                                      \
                           MICA_UNWRAP_ options})
#define MICA_HANDLED(M, fn_) {NULL, &MICA_JOIN_(mica_type_of_, M), (fn_), NULL, {__FILE__, __LINE__}, NULL, 0}
#define MICA_HANDLERS(list) .handlers = (list), .handler_count = sizeof(list) / sizeof *(list)
#define mica_send(world, target, M, ...)                                                                               \
    mica_send_id((world), (target), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_broadcast(world, M, ...) mica_broadcast_id((world), MICA_VALUE_(M, __VA_ARGS__), MICA_HERE)
#define mica_message_every_frame(world, M, phase) mica_message_every_frame_id((world), MICA_ID(M), (phase))

#endif
