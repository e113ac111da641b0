/* What streams, messages, requests, observers and statistics need to know of the running frame.
 *
 * Lanes are how many writers fill one thing in an order that does not depend on threads. Before a phase runs, each piece of
 * work that it may have, a run of slices of one system, gets a number: pieces of systems that come first have lower ones,
 * and so have lower slices of one system. A piece runs in one thread at a time, so what it writes to an entry of its own
 * needs no lock, and reading the entries by rising lane gives the order (system, slice, call). When a system runs, the lanes
 * of all systems that it waits for are complete.
 *
 *     micap_task *task = micap_task_here(world);
 *     if (task)  append to buffers[task->lane], of which there are micap_lane_count(world)
 *     else       the owner's thread, outside of systems
 */
#ifndef MICAP_FLOW_SCHEDULE_LISTENER_H
#define MICAP_FLOW_SCHEDULE_LISTENER_H

#include "base/hash.h"
#include "core/world/thread_context.h"
#include "mica/frame.h"
#include "mica/system.h"

struct micap_system;

#define MICAP_LANE_NONE UINT32_MAX

/* The piece of work that this thread is busy with. */
typedef struct micap_task {
    micap_here here; /* first: the world, the version it stamps, the buffer it records into */
    struct micap_system *system;
    const mica_frame *frame;
    uint32_t lane;   /* MICAP_LANE_NONE in a piece of a parallel for inside a system: it has no place in the order */
    uint32_t worker; /* 0 is the owner */
    uint32_t slot;   /* of the system's buffers */
    const struct micap_delivery *delivery; /* what a mailbox hands over; NULL for all others */
} micap_task;

/* NULL outside of systems of this world. */
micap_task *micap_task_here(const mica_world *world);

/* How many lanes the phase has that runs: constant from phase_begin to phase_end, and only asked then. */
uint32_t micap_lane_count(const mica_world *world);

/* Whether systems run right now: from phase_begin to phase_end. */
bool micap_is_running(const mica_world *world);

/* Whether a system declares that it uses the stream so. */
bool micap_system_uses_stream(const struct micap_system *system, const struct mica_stream *stream, bool write);

/* Whether it may write the stream although it does not declare it: handlers of messages may, as long as none of them reads
 * it, since everybody else comes before or behind all of them. */
bool micap_system_may_write_any(const struct micap_system *system, const struct mica_stream *stream);

/* The lanes [*first, *first + returned) of a system in this phase. */
uint32_t micap_system_lanes(const struct micap_system *system, uint32_t *out_first);

/* How many systems declare to read or write the stream: it can't be destroyed then. */
uint32_t micap_stream_user_count(const mica_world *world, const struct mica_stream *stream);

/* All systems of a world that has a flow, in the order they were added; NULL behind the last. */
const struct micap_system *micap_system_at(const mica_world *world, uint32_t index);

/* Another number than before when systems were added, replaced or removed meanwhile. */
uint64_t micap_systems_version(const mica_world *world);

const char *micap_system_label(const struct micap_system *system);
mica_system micap_system_id(const struct micap_system *system);

typedef enum micap_listener_id {
    MICAP_LISTENER_STREAMS,
    MICAP_LISTENER_MESSAGES,
    MICAP_LISTENER_REQUESTS,
    MICAP_LISTENER_OBSERVERS,
    MICAP_LISTENER_STATS,
    MICAP_LISTENER_TRACE,
    MICAP_LISTENER_RECORD,
    MICAP_LISTENERS,
} micap_listener_id;

/* What one piece of work was. */
typedef struct micap_piece {
    const struct micap_system *system; /* NULL for the flush */
    uint32_t lane;
    uint32_t worker;
    uint32_t chain; /* systems that run slice by slice with it, itself among them; 0 or 1 for none */
    uint32_t slices;
    uint64_t rows;
    uint32_t commands; /* entities it recorded changes for */
    uint64_t begin_ns; /* of the system's own time: in a chain, its calls summed up and put one after the other */
    uint64_t end_ns;
} micap_piece;

/* Any but `free` may be NULL; who saves also drops, prepares and loads. All but `ran` are called by the owner's thread, in the order of ids. */
typedef struct micap_listener_ops {
    void (*frame_begin)(mica_world *world, void *state);
    /* Lanes are numbered; no system has begun. False when memory is short: the phase does not run. */
    bool (*phase_begin)(mica_world *world, void *state);
    /* All systems have ended; the flush comes next. What is changed through the world here goes with that flush. */
    void (*phase_end)(mica_world *world, void *state);
    /* The flush behind the phase is done: what is changed through the world now is changed at once. Not called when the flush
     * has failed and will be tried again: then it is called after that one. */
    mica_result (*flushed)(mica_world *world, void *state);
    void (*frame_end)(mica_world *world, void *state);
    /* A piece of work has ended, in the thread that did it. Where one listens, the clock is read for each. */
    void (*ran)(mica_world *world, void *state, const micap_piece *piece);
    /* A system has seen all its rows; what it recorded is not applied yet. Where one listens, systems run one by one in the
     * owner's thread. */
    void (*system_ran)(mica_world *world, void *state, const struct micap_system *system);
    /* A system goes: forget it. */
    void (*system_removed)(mica_world *world, void *state, const struct micap_system *system);
    void (*hash)(const mica_world *world, const void *state, micap_hasher *hasher);
    bool (*validate)(mica_world *world, void *state);
    void (*trim)(mica_world *world, void *state);
    /* For snapshots: as those of a module (core/world/module.h). */
    void *(*save)(mica_world *world, void *state);
    void (*drop)(mica_world *world, void *state, void *saved);
    bool (*prepare)(mica_world *world, void *state, const void *saved);
    void (*load)(mica_world *world, void *state, const void *saved);
    void (*free)(mica_world *world, void *state);
} micap_listener_ops;

/* Puts a listener into its slot, or takes it out with NULL ops; outside of systems only. Makes the flow of the world when it
 * has none yet; false with a report when memory is short. */
bool micap_listen(mica_world *world, micap_listener_id id, const micap_listener_ops *ops, void *state);

/* The state of a listener, or NULL. */
void *micap_listener_state(const mica_world *world, micap_listener_id id);

#endif
