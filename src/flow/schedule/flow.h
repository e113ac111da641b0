/* The flow of a world: its systems, phases and workers. A module of the world (core/world/module.h), made when first used.
 *
 *     system.c   the list of systems        graph.c  order, edges, chains
 *     plan.c     pieces of work and lanes   run.c    running them
 *     step.c     frames, phases and time    crew.c   threads
 */
#ifndef MICAP_FLOW_SCHEDULE_FLOW_H
#define MICAP_FLOW_SCHEDULE_FLOW_H

#include "core/query/view.h"
#include "core/world/world.h"
#include "flow/threads/worker_pool.h"
#include "flow/schedule/listener.h"

enum {
    MICAP_CHAIN_SYSTEMS = 8,
    MICAP_PHASE_MESSAGES =
        MICA_PHASE_END + 1, /* its systems are mailboxes; runs behind a flush, when there are letters */
    MICAP_BUILT_IN_PHASES,
};

typedef struct micap_system {
    mica_view_fn view;
    mica_frame frame; /* what its function sees; written when it starts. In one line of the cache with the above */
    mica_each_fn each;
    mica_columns_fn columns;
    mica_once_fn once;
    mica_query *query;         /* NULL without terms */
    mica_version last_version; /* of its last run: what is newer has changed since */
    uint32_t order;            /* its place in the phase: decides the order of what it records */
    bool is_active;            /* runs this time */
    bool is_marked;            /* its query asks for what has changed */
    struct micap_mailbox *box; /* whose messages it hands over; NULL for all others */

    mica_commands **buffers; /* by slot; NULL until something was recorded there */
    uint32_t buffer_capacity;
    uint32_t lane_first; /* lanes of the phase: one for each slot */
    uint32_t lane_count;
    atomic_bool recorded; /* into some of its buffers, in this phase */

    mica_system_def def; /* with copies of all that it points to */
    uint32_t id;
    bool is_local;      /* touches its own rows only */
    bool is_single;     /* one thread at a time */
    bool is_sorted;     /* its rows come as the loop over its query shows them */
    bool names_checked; /* those it wants to run before and after are known, or were complained about */
    bool is_gated;      /* must be asked whether it runs */
    bool is_enabled;
    bool is_removed; /* by a system of the frame that runs; goes at its end */
    uint32_t frames_waited;
    double seconds_waited; /* since it ran last */
} micap_system;

/* Systems that run slice by slice one after the other; mostly one. What a small system needs comes first, in as few lines of
 * the cache as can be: a hundred of them are what an idle game runs. */
typedef struct micap_chain {
    _Alignas(MICAP_CACHE_LINE) uint32_t piece_count; /* 0: nothing to do */
    bool is_ready;    /* one system, one view: prepared, it is the usual case of a small system, */
    bool is_plain;    /* which need not be asked anything */
    bool is_measured; /* at least once */
    uint32_t system_count;
    uint32_t order; /* of its first system in the leg */
    micap_task ready_task;
    micap_ready ready_terms;
    _Alignas(MICAP_CACHE_LINE) mica_view ready_view;

    micap_system *systems[MICAP_CHAIN_SYSTEMS];
    micap_work work;
    struct micap_leg *leg;
    uint32_t job_count; /* of which each does one piece, or the only one all */
    uint32_t unit_rows; /* the most rows of a view */

    /* What comes behind it. */
    uint32_t first_successor;
    uint32_t successor_count;
    uint32_t predecessor_count;
    atomic_uint waiting_for; /* chains that are not done yet */
    uint32_t level;          /* of its priority */

    /* The archetypes its systems match, by rising id (0 of them: they are not listed yet), and for each and each system the match of its query. */
    micap_archetype **archetypes;
    uint32_t *matches; /* NULL for a single system: the same number */
    uint32_t archetype_count;
    uint32_t archetype_capacity;
    uint32_t matches_capacity;
    uint64_t known_matches; /* of all its queries together, when the list was made */

    mica_pool *driver;   /* the pool whose rows its one system walks, or NULL: then starts have nothing but rows */
    uint8_t driver_walk; /* and how: see core/query/query_join.h */
    bool has_own_grid;   /* its slots are its pieces; else they are cells */
    struct micap_start *starts; /* of pieces, and the end of the last */
    uint32_t start_capacity;
    uint64_t row_count;
    uint64_t cost_ns;   /* of one run, as measured lately, */
    uint64_t cost_rows; /* and the rows it had then */
    _Atomic uint64_t measured_ns;
} micap_chain;

/* Where a piece begins. */
typedef struct micap_start {
    uint32_t entry;       /* of the chain's archetypes */
    uint32_t chunk_index; /* in it */
    uint32_t row;         /* of the chunk */
    uint32_t slot;        /* which of the systems' buffers it records into */
    uint64_t base;        /* rows of the archetype before the chunk */
} micap_start;

/* A stretch of a phase without an exclusive system in it, or one such system. */
typedef struct micap_leg {
    mica_world *world;
    struct micap_flow *flow;
    struct micap_phase *phase;
    micap_system *exclusive; /* or */
    micap_system **systems;  /* in order; in the phase's list */
    uint32_t system_count;
    micap_chain *chains;
    uint32_t chain_count;
    uint32_t chain_capacity;
    uint32_t *run_order; /* of chains, in one thread */
    uint32_t *successors;
    uint32_t successor_count;
    uint32_t successor_capacity;
    bool has_inactive; /* some system does not run this time */
    bool has_gates;    /* some system must be asked whether it runs; else all are active */
    uint32_t cell_count;
    uint32_t lane_count;
    uint64_t structure; /* of the world when it was planned; 0: never */
    mica_version base;  /* systems stamp the versions behind it */
    atomic_uint chains_left;
    atomic_bool recorded;
    float dt;
    float alpha;
    double seconds;
    bool is_measured; /* the clock is read this time */
    bool has_run;     /* the last time: its systems were called */
} micap_leg;

/* Why one system waits for another. */
typedef struct micap_reason {
    mica_component component; /* or */
    const struct mica_stream *stream;
    bool is_asked; /* by before or after */
} micap_reason;

typedef struct micap_link {
    uint32_t from, to; /* places in the phase's order */
    micap_reason reason;
} micap_link;

typedef struct micap_phase {
    char *name;
    mica_phase id;
    double fixed_seconds;
    bool is_enabled;
    uint64_t tick;         /* runs so far */
    double seconds;        /* of steps so far, in a fixed phase */
    double waited_seconds; /* that no step has used up yet; of the first of a group with equal steps */
    /* The graph. */
    micap_system **order;
    uint32_t system_count;
    uint32_t order_capacity;
    micap_link *links; /* by rising `to` */
    uint32_t link_count;
    uint32_t link_capacity;
    uint32_t *link_first; /* per system, and one more */
    uint32_t link_first_capacity;
    uint32_t *chain_of; /* per system; in its leg */
    uint32_t chain_of_capacity;
    micap_leg *legs;
    uint32_t leg_count;
    uint32_t leg_capacity;
} micap_phase;

typedef struct micap_flow {
    mica_world *world;
    mica_flow_def def;
    micap_crew *crew;
    micap_system **systems; /* in the order they were added */
    uint32_t system_count;
    uint32_t system_capacity;
    uint32_t next_id;
    uint64_t systems_version; /* raised when systems are added, replaced or removed */
    micap_phase **phases;     /* in the order they run */
    uint32_t phase_count;
    uint32_t phase_capacity;
    mica_phase next_phase;
    bool is_stale;      /* the graph must be made anew */
    bool gates_stale;   /* and this: who must be asked whether it runs */
    bool is_stepping;   /* inside mica_step */
    micap_leg *running; /* from phase_begin to phase_end */
    bool has_removed;
    bool has_leftovers; /* a flush could not be made; it is tried again before more systems run */

    mica_time time;
    float asked_dt; /* of the last frame, as mica_step was told */
    double scale;
    bool is_paused;
    bool is_let_through; /* one frame of the pause */

    /* Where each archetype's rows lie on the grid of cells. */
    uint64_t *offsets;
    uint32_t offset_capacity;
    uint64_t cell_rows;
    uint32_t cell_count;
    uint64_t grid_structure;

    struct micap_listener {
        const micap_listener_ops *ops;
        void *state;
    } listeners[MICAP_LISTENERS];
    bool has_probe;     /* a listener wants to know each piece */
    bool is_one_by_one; /* a listener wants to see the world behind each system */
} micap_flow;

/* The flow of a world, made when there is none; NULL with a report when memory is short. */
micap_flow *micap_flow_of(mica_world *world);
/* NULL when there is none. */
static inline micap_flow *micap_flow_get(const mica_world *world)
{
    return world->modules[MICAP_MODULE_FLOW].state;
}

micap_system *micap_flow_system(const micap_flow *flow, mica_system system);
micap_phase *micap_flow_phase(const micap_flow *flow, mica_phase phase);
void micap_system_free(micap_flow *flow, micap_system *system);
/* As mica_system_remove, also for those that run handlers. */
bool micap_system_remove(mica_world *world, mica_system system);
/* Takes down what was removed; outside of frames. */
void micap_flow_forget_removed(micap_flow *flow);
void micap_phase_free(micap_flow *flow, micap_phase *phase);

/* For snapshots: see micap_module_ops. */
void *micap_flow_save(mica_world *world, void *state);
void micap_flow_drop(mica_world *world, void *state, void *saved);
bool micap_flow_prepare(mica_world *world, void *state, const void *saved);
void micap_flow_load(mica_world *world, void *state, const void *saved);

/* A copy of a text in the world's memory, and its end. */
char *micap_text_copy(mica_world *world, const char *text);
void micap_text_free(mica_world *world, const char *text);

/* Makes order, edges and chains of all phases anew when something has changed; an error when memory is short. */
mica_result micap_graph_update(micap_flow *flow);
/* The same for one phase, which does not run: for systems that came meanwhile and can't wait for the next frame. */
mica_result micap_graph_update_phase(micap_flow *flow, micap_phase *phase);
/* Whether before and after of these systems, in the order they were added, contradict each other, which is reported with
 * the names along the loop; also true when memory is short. */
bool micap_graph_has_loop(micap_flow *flow, micap_system *const *systems, uint32_t count);
void micap_graph_free(micap_flow *flow, micap_phase *phase);

/* How a system touches something. */
typedef struct micap_touch {
    mica_component component;
    const struct mica_stream *stream;
    bool write;
    bool is_rows; /* of its own rows only */
} micap_touch;

enum { MICAP_USES_MAX = 64, MICAP_TOUCHES_MAX = MICA_TERMS_MAX + MICAP_USES_MAX };

/* Fills in all that a system touches; returns how many. */
uint32_t micap_system_touches(const micap_system *system, micap_touch *out);
bool micap_touches_conflict(const micap_touch *a, const micap_touch *b);

/* Works out pieces and lanes for the world as it is; an error when memory is short. */
mica_result micap_leg_plan(micap_leg *leg);

/* Runs the systems of a leg that are active, and all they record stays recorded. */
mica_result micap_leg_run(micap_leg *leg);

/* The function of systems that are mailboxes, and of those that run the handlers of a message of every frame. */
void micap_box_run(mica_view *view);
void micap_post_run(mica_view *view);
/* Adds a piece that begins there, and ends there unless another follows; false when memory is short. */
bool micap_chain_add_piece(mica_world *world, micap_chain *chain, micap_start start, micap_start end);
/* The letters of a mailbox in pieces, where no broadcast is among them; false when memory is short. */
bool micap_box_cut_pieces(mica_world *world, micap_chain *chain);

/* Runs one piece of a chain in this thread. */
void micap_chain_run_piece(micap_chain *chain, uint32_t piece, uint32_t worker);

/* In checked builds: what the task may touch, and the view its function is given. */
#ifdef MICA_CHECKED
void micap_task_declare(micap_task *task);
void micap_task_show(micap_task *task, const mica_view *view);
#else
static inline void micap_task_declare(micap_task *task)
{
    (void)task;
}

static inline void micap_task_show(micap_task *task, const mica_view *view)
{
    (void)task, (void)view;
}
#endif

/* Finds the buffer that a task records into. */
mica_commands *micap_task_open(micap_here *here);

/* Applies what was recorded. */
mica_result micap_leg_flush(micap_leg *leg);

#endif
