/* Listeners: how streams, messages, requests, observers, statistics, traces and recordings take part in frames and phases.
 * Each has an id, a table of functions, and a state that belongs to the flow of a world. */
#ifndef MICAP_FLOW_SCHEDULE_LISTENER_H
#define MICAP_FLOW_SCHEDULE_LISTENER_H

#include "base/hash.h"
#include "mica/world.h"

struct micap_bytes;
struct micap_flow;
struct micap_reader;
struct micap_system;

typedef enum micap_listener_id {
    MICAP_LISTENER_STREAMS,
    MICAP_LISTENER_MESSAGES,
    MICAP_LISTENER_REQUESTS,
    MICAP_LISTENER_OBSERVERS,
    MICAP_LISTENER_STATS,
    MICAP_LISTENER_TRACE,
    MICAP_LISTENER_RECORD,
    MICAP_LISTENER_STEP,
    MICAP_LISTENERS,
} micap_listener_id;

/* What one system did in one job. */
typedef struct micap_job_report {
    const struct micap_system *system; /* NULL for the flush */
    uint32_t worker;
    uint32_t fused_count; /* systems that ran slice by slice with it, including itself */
    uint32_t slices;
    uint64_t rows;
    uint32_t commands; /* entities it recorded changes for */
    uint64_t begin_ns; /* the system's own time: in a chain, the sum of its calls, one system after the other */
    uint64_t end_ns;
} micap_job_report;

/* Any function except `free` may be NULL. A listener that saves also drops, prepares and loads. All functions except
 * job_ended are called by the owner's thread, in the order of ids. */
typedef struct micap_listener_ops {
    /* Completes the zeroed state of a new listener. False if memory is short: then `free` is called. */
    bool (*init)(mica_world *world, void *state);
    void (*frame_begin)(mica_world *world, void *state);
    /* Sequence numbers are assigned (job_run.h); no system has begun. False with a report if memory is short: the phase does
     * not run. */
    bool (*phase_begin)(mica_world *world, void *state);
    /* All systems have ended; the flush follows. Changes made through the world here are part of that flush. */
    void (*phase_end)(mica_world *world, void *state);
    /* The flush after the phase succeeded: changes made through the world take effect at once. After a failed flush this is
     * called when the repeated flush has succeeded. */
    mica_result (*flushed)(mica_world *world, void *state);
    void (*frame_end)(mica_world *world, void *state);
    /* A job has ended; called by the thread that ran it. The clock is read for each job if a listener has this function. */
    void (*job_ended)(mica_world *world, void *state, const micap_job_report *report);
    /* A system has seen all its rows; what it recorded is not applied yet. Systems run one by one in the owner's thread if a
     * listener has this function. */
    void (*system_ended)(mica_world *world, void *state, const struct micap_system *system);
    /* A system is about to be freed. */
    void (*system_removed)(mica_world *world, void *state, const struct micap_system *system);
    void (*hash)(const mica_world *world, const void *state, micap_hasher *hasher);
    bool (*validate)(mica_world *world, void *state);
    void (*trim)(mica_world *world, void *state);
    /* For snapshots, like those of a module (core/world/module.h). */
    void *(*save)(mica_world *world, void *state);
    void (*drop)(mica_world *world, void *state, void *saved);
    bool (*prepare)(mica_world *world, void *state, const void *saved);
    void (*load)(mica_world *world, void *state, const void *saved);
    /* For files, like those of a module. */
    void (*write)(const mica_world *world, const void *state, struct micap_bytes *bytes);
    void *(*read)(mica_world *world, void *state, struct micap_reader *reader);
    /* Frees what the state refers to. The flow frees states that micap_listener_require created. */
    void (*free)(mica_world *world, void *state);
} micap_listener_ops;

typedef struct micap_listener {
    const micap_listener_ops *ops; /* NULL: not in use */
    void *state;
    size_t state_bytes; /* 0: `free` frees the state itself */
} micap_listener;

/* Returns the state of a listener. If there is none yet, creates the flow of the world and a state of that size. Outside of
 * systems only. NULL with a report, which names `label`, if memory is short. */
void *micap_listener_require(mica_world *world, micap_listener_id id, const micap_listener_ops *ops, size_t state_bytes,
                             const char *label);

/* Sets a listener with a state that it frees itself, or removes it with NULL ops. Outside of systems only. Creates the flow
 * of the world if there is none; false with a report if memory is short. */
bool micap_listener_set(mica_world *world, micap_listener_id id, const micap_listener_ops *ops, void *state);

/* Returns the state of a listener, or NULL. */
void *micap_listener_state(const mica_world *world, micap_listener_id id);

/* Call that function of each listener that has it. */
void micap_listeners_frame_begin(const struct micap_flow *flow);
bool micap_listeners_phase_begin(const struct micap_flow *flow);
void micap_listeners_phase_end(const struct micap_flow *flow);
mica_result micap_listeners_flushed(const struct micap_flow *flow); /* the first failure */
void micap_listeners_frame_end(const struct micap_flow *flow);
void micap_listeners_job_ended(const struct micap_flow *flow, const micap_job_report *report);
void micap_listeners_system_ended(const struct micap_flow *flow, const struct micap_system *system);
void micap_listeners_system_removed(const struct micap_flow *flow, const struct micap_system *system);
void micap_listeners_hash(const struct micap_flow *flow, micap_hasher *hasher);
bool micap_listeners_validate(const struct micap_flow *flow);
void micap_listeners_trim(const struct micap_flow *flow);
void micap_listeners_free(struct micap_flow *flow);

/* The same for snapshots, with one pointer for each listener: NULL if it was not in use. */
bool micap_listeners_save(const struct micap_flow *flow, void *saved[MICAP_LISTENERS]);
void micap_listeners_drop(const struct micap_flow *flow, void *const saved[MICAP_LISTENERS]);
bool micap_listeners_prepare(const struct micap_flow *flow, void *const saved[MICAP_LISTENERS]);
void micap_listeners_load(const struct micap_flow *flow, void *const *saved); /* NULL: the flow was not there */

/* And for files: writes a record for each listener, and reads those of listeners that are in use. False if the bytes are invalid or
 * memory is short; what was read is in `saved`. */
void micap_listeners_write(const struct micap_flow *flow, struct micap_bytes *bytes);
bool micap_listeners_read(const struct micap_flow *flow, struct micap_reader *reader, void *saved[MICAP_LISTENERS]);

#endif
