/* Systems: the list of them, and what the schedule knows about each. */
#ifndef MICAP_FLOW_SCHEDULE_SYSTEM_H
#define MICAP_FLOW_SCHEDULE_SYSTEM_H

#include "mica/system.h"

#include <stdatomic.h>

struct micap_delivery_list;
struct micap_flow;

typedef enum micap_system_kind {
    MICAP_SYSTEM_OF_USER,
    MICAP_SYSTEM_OF_HANDLERS, /* runs the handlers of a message of every frame */
    MICAP_SYSTEM_OF_MAILBOX,  /* runs the handlers of the messages that a component receives */
} micap_system_kind;

typedef struct micap_system {
    /* What a small system needs each time, in one cache line. */
    mica_view_fn view;
    mica_frame frame; /* what its function sees; written when it starts */
    mica_each_fn each;
    mica_columns_fn columns;
    mica_once_fn once;
    mica_query *query;                      /* NULL without terms */
    mica_version last_version;              /* of its last run: newer rows have changed since */
    uint32_t order;                         /* index in its phase: decides the order of what it records */
    bool is_active;                         /* runs this time */
    bool is_marked;                         /* its query asks for what has changed */
    struct micap_delivery_list *deliveries; /* the messages it receives; NULL: it runs over rows */

    mica_commands **buffers; /* by buffer index of a job; NULL until a job has recorded */
    uint32_t buffer_capacity;
    uint32_t first_sequence; /* in its segment: one sequence number for each buffer */
    uint32_t sequence_count;
    atomic_bool recorded; /* into some of its buffers, in this phase */

    mica_system_def def; /* with copies of all that it points to */
    uint32_t id;
    uint32_t place; /* in the list of systems whose order is looked at */
    micap_system_kind kind;
    bool is_local;      /* accesses its own rows only */
    bool is_single;     /* never runs on two workers at once */
    bool is_ordered;    /* visits its rows in the order of its query, in one job or in parts of a pattern */
    bool names_checked; /* systems named in before and after exist, or were reported */
    bool is_gated;      /* has a rate or a condition */
    bool uses_indexes;  /* they are made current before it starts */
    bool is_enabled;
    bool is_removed;       /* during a frame; freed at its end */
    double seconds_waited; /* since its last run; counts while is_gated */
} micap_system;

/* Returns NULL if there is none. */
micap_system *micap_system_find_id(const struct micap_flow *flow, mica_system system);
/* The same by the number of the system, without a handle space. */
micap_system *micap_system_find_number(const struct micap_flow *flow, uint32_t number);

/* Like mica_system_add, mica_system_replace and mica_system_remove, also for systems that run message handlers. A mailbox
 * passes the list of its deliveries. Replacing keeps kind and deliveries. */
mica_system micap_system_add(mica_world *world, const mica_system_def *def, micap_system_kind kind,
                             struct micap_delivery_list *deliveries);
mica_result micap_system_replace(mica_world *world, mica_system system, const mica_system_def *def);
bool micap_system_remove(mica_world *world, mica_system system);

/* Creates a command buffer of a system, which is not parked yet. NULL if memory is short. */
mica_commands *micap_system_buffer_create(mica_world *world);

/* Frees removed systems. Outside of frames. */
void micap_systems_free_removed(struct micap_flow *flow);
void micap_system_free(struct micap_flow *flow, micap_system *system);

/* Whether a system declares that it writes, or reads, the stream. */
bool micap_system_uses_stream(const micap_system *system, const struct mica_stream *stream, bool write);

/* Whether a system may write the stream without declaring it. Message handlers may, unless one of them reads it, because
 * all other systems run before or after all handlers. */
bool micap_system_may_write_undeclared(const micap_system *system, const struct mica_stream *stream);

/* How many systems declare the stream. It can't be destroyed then. */
uint32_t micap_stream_user_count(const mica_world *world, const struct mica_stream *stream);

#endif
