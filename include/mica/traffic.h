/* Mica, traffic: what passes through a world, as it happens, for tools that show it, such as mica/inspect.h.
 *
 *     static void show(const mica_traffic *traffic, void *context)
 *     {
 *         printf("%s %s: %u\n", mica_traffic_kind_name(traffic->kind), traffic->name, traffic->count);
 *     }
 *     mica_traffic_watch(world, show, NULL);
 * The function is called for messages in streams when the systems of a phase have ended; for messages and user events when they are
 * delivered; for requests when they are handled; for observers and monitors when they are called. It must not change the world. After a
 * snapshot is restored, it is not called for what was in a stream then.
 */
#ifndef MICA_TRAFFIC_H
#define MICA_TRAFFIC_H

#include "mica/event.h"

MICA_BEGIN

typedef enum mica_traffic_kind {
    MICA_TRAFFIC_STREAM = 0, /* messages in a stream */
    MICA_TRAFFIC_MESSAGE,    /* a message to one entity, or to all */
    MICA_TRAFFIC_REQUEST,    /* requests with one key */
    MICA_TRAFFIC_EVENT,      /* a user event */
    MICA_TRAFFIC_OBSERVER,   /* an observer or a monitor is called */
    MICA_TRAFFIC_KINDS,
} mica_traffic_kind;

/* Something that passes. Valid until the function returns. */
typedef struct mica_traffic {
    mica_world *world;
    mica_traffic_kind kind;
    const char
        *name; /* of the stream, of the type of a message, of the requests, of the observer; "" of a user event */
    mica_event_kind event;    /* of a user event, or that the observer receives */
    mica_component component; /* of such an event; 0: none */
    mica_entity entity;       /* that gets the message, asked first, or is the first of the event; nil: none, or all */
    uint64_t key;             /* of the requests */
    uint32_t count;           /* messages, requests, or entities of an observer */
    const mica_type *type;    /* of the values; NULL: not known */
    const void *values;   /* of the messages, questions and user event; NULL: none, or of a type that is not known */
    uint32_t value_bytes; /* from one value to the next */
} mica_traffic;

typedef void (*mica_traffic_fn)(const mica_traffic *traffic, void *context);

/* Sets the function that is called; NULL removes it. There is one per world: setting a second one is refused with
 * MICA_ERROR_EXISTS. Without it, each call and delivery costs one comparison. Rejected inside a frame. Not part of hashes, snapshots
 * and clones. Threads: owner. */
MICA_API mica_result mica_traffic_watch(mica_world *world, mica_traffic_fn fn, void *context);

/* Returns "stream", "message", "request", "event" or "observer"; NULL with a report for anything else. Threads: any. */
MICA_API const char *mica_traffic_kind_name(mica_traffic_kind kind);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_traffic_watch(world, ...) mica_traffic_watch(MICA_AT_(world), __VA_ARGS__)
#    define mica_traffic_kind_name(...) MICA_AT_(mica_traffic_kind_name(__VA_ARGS__))
#endif
#endif
