/* Mica, event: the events that hooks (mica/hook.h) and observers (mica/observer.h) receive. */
#ifndef MICA_EVENT_H
#define MICA_EVENT_H

#include "mica/describe.h"

MICA_BEGIN

typedef uint32_t mica_event_kind;
enum {
    MICA_EVENT_ADD = 0, /* after the component was added; its first value is in place */
    MICA_EVENT_SET,     /* after a value was assigned, by set or by create; not by add, which uses the default */
    MICA_EVENT_REMOVE,  /* before the component is removed, alone or with its entity; it can still be read */
    MICA_EVENT_DESTROY, /* before the entity is destroyed; the component is 0 */
    MICA_EVENT_ENABLE,  /* after the component was enabled; observers only */
    MICA_EVENT_DISABLE, /* after the component was disabled; observers only */
    MICA_EVENT_KINDS,
    MICA_EVENT_MATCH = 32, /* after the entity started to match the terms of a monitor (mica/observer.h) */
    MICA_EVENT_UNMATCH,    /* after it stopped to match them; it may be destroyed */
    MICA_EVENT_USER = 64,  /* and above: events of the program, sent with mica_event_emit; observers only */
};

/* What happened to a run of entities. Valid until the function returns. */
typedef struct mica_event {
    mica_world *world;
    mica_event_kind kind;
    mica_component component; /* 0 for DESTROY, MATCH and UNMATCH, and for user events without a component */
    uint32_t count;
    const mica_entity *entities;
    void *values;     /* `count` values, which may be changed; NULL for a tag, a split component or no component */
    const void *data; /* of a user event, else NULL */
    void *context;    /* of the hook or observer */
    mica_entity
        target; /* of an edge of a relation: its target; of a user event: the entity it was emitted for; else nil */
} mica_event;

/* Changes to the world made in this function are recorded, and applied when the operation that called it ends. */
typedef void (*mica_event_fn)(const mica_event *event);

MICA_END
#endif
