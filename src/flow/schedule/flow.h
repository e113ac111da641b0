/* The flow of a world: its systems, phases, workers and time. A module of the world (core/world/module.h), created on first
 * use. The folders of this layer, lowest first:
 *
 *     threads/     worker pool and work stealing
 *     schedule/    which systems run, when, and as which jobs
 *     messaging/   streams, messages, requests, observers
 *     measure/     statistics and traces
 *     frame.c      runs a frame: all phases in order
 *     frame_loop.c runs frames in measured time
 *
 * From a system to a job, in schedule/:
 *
 *     system              adding, replacing and removing systems
 *     phase, fixed_step   the list of phases; how often a phase with a fixed time step runs
 *     system_order        the order of the systems of a phase: before and after
 *     access_conflict     what a system accesses, and whether two systems conflict
 *     index_use           indexes that systems declare
 *     dependency_graph    which systems wait for which, from order and conflicts
 *     fusion              systems that run together, slice by slice: chains
 *     job_plan            the rows of a chain, cut into jobs
 *     phase_run           runs the chains of a phase on the worker pool, then flushes
 *     job_run             runs one job: calls the systems of a chain with their views
 *     delivery            jobs of systems that receive messages instead of visiting all rows
 *     declared_access     checked builds: whether a running system declared what it accesses
 *     listener            how the folders above take part in frames and phases
 *     flow_snapshot, frame_time, parallel_for, random */
#ifndef MICAP_FLOW_SCHEDULE_FLOW_H
#define MICAP_FLOW_SCHEDULE_FLOW_H

#include "core/world/module.h"
#include "flow/schedule/listener.h"
#include "flow/schedule/system_names.h"
#include "mica/frame.h"
#include "mica/traffic.h"

#include <stdatomic.h>

struct micap_phase;
struct micap_segment;
struct micap_system;
struct micap_worker_pool;

/* The function that is told what passes through the world: mica/traffic.h. */
typedef struct micap_traffic_watch {
    mica_traffic_fn fn; /* NULL: no one */
    void *context;
} micap_traffic_watch;

typedef struct micap_flow {
    mica_world *world;
    mica_flow_def def;
    struct micap_worker_pool *worker_pool;
    struct micap_system **systems; /* in the order they were added */
    uint32_t system_count;
    uint32_t system_capacity;
    micap_system_names names;
    uint32_t next_id;
    uint64_t systems_version;    /* rises when systems are added, replaced or removed */
    struct micap_phase **phases; /* in the order they run */
    uint32_t phase_count;
    uint32_t phase_capacity;
    mica_phase next_phase;
    bool is_stale;                 /* the graph must be rebuilt */
    bool gates_stale;              /* has_gates of segments must be updated */
    bool is_stepping;              /* inside mica_step or mica_system_run */
    struct micap_segment *running; /* from phase_begin to phase_end */
    bool has_removed;
    atomic_bool is_stop_asked; /* mica_run ends after this frame; systems on any thread set it */
    bool has_leftovers;        /* a flush failed; it is repeated before more systems run */

    mica_time time;
    float asked_dt; /* of the last frame, as passed to mica_step */
    double scale;
    bool is_paused;
    bool is_let_through; /* one frame runs despite the pause */

    mica_after_frame_fn after_frame; /* NULL: none */
    void *after_frame_context;
    bool is_after_frame;         /* it is running */
    micap_traffic_watch traffic; /* the world points to it while there is one */

    /* All rows of the world, cut into partitions of equally many rows: see job_plan.h. */
    uint64_t *first_rows; /* by archetype id: rows of the archetypes before it */
    uint32_t first_row_capacity;
    uint64_t partition_rows;
    uint32_t partition_count;
    uint64_t partition_structure; /* structure of the world at that time */

    micap_listener listeners[MICAP_LISTENERS];
    bool has_probe;     /* a listener wants a report on each job */
    bool is_one_by_one; /* a listener wants to see the world after each system */
} micap_flow;

/* Returns the flow of a world and creates it if there is none. NULL with a report if memory is short. */
micap_flow *micap_flow_of(mica_world *world);

/* Returns NULL if the world has none. */
static inline micap_flow *micap_flow_get(const mica_world *world)
{
    return micap_module_state(world, MICAP_MODULE_FLOW);
}

/* Copies a text into memory of the world, and frees the copy. */
char *micap_flow_copy_text(mica_world *world, const char *text);
void micap_flow_free_text(mica_world *world, const char *text);

#endif
