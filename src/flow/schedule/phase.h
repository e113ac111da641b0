/* Phases, in the order they run, and the segments of a phase. */
#ifndef MICAP_FLOW_SCHEDULE_PHASE_H
#define MICAP_FLOW_SCHEDULE_PHASE_H

#include "mica/frame.h"

#include <stdatomic.h>

struct micap_chain;
struct micap_dependency;
struct micap_flow;
struct micap_system;

enum {
    MICAP_PHASE_MESSAGES = MICA_PHASE_START + 1, /* its systems are mailboxes; runs after a flush if messages wait */
    MICAP_BUILT_IN_PHASES,
};

/* The systems of a phase between two exclusive systems, or one exclusive system. A system with .flush_first begins a segment. Each
 * segment ends with a flush. */
typedef struct micap_segment {
    mica_world *world;
    struct micap_flow *flow;
    struct micap_phase *phase;
    struct micap_system *exclusive; /* or */
    struct micap_system **systems;  /* in order; part of the phase's list */
    uint32_t system_count;
    struct micap_chain *chains;
    uint32_t chain_count;
    uint32_t chain_capacity;
    uint32_t *run_order;                 /* of chains, in one thread */
    struct micap_prepared_run *prepared; /* in that order, with room for all systems */
    uint32_t prepared_count;
    struct micap_run_step *steps; /* what one thread runs, if nothing watches: see prepared_run.h */
    uint32_t step_count;
    uint32_t *successors;
    uint32_t successor_count;
    uint32_t successor_capacity;
    bool has_inactive; /* some system does not run this time */
    bool has_gates;    /* some system may be inactive */
    uint32_t sequence_count;
    uint64_t structure; /* of the world when the jobs were planned; 0: never */
    mica_version base;  /* its systems stamp the versions that follow */
    atomic_uint chains_left;
    atomic_bool recorded;
    /* What the frames of its systems say, in the same order. */
    float dt;
    float alpha;
    double seconds;
    uint64_t tick;
    bool is_measured;    /* the clock is read this time */
    bool is_cost_known;  /* the next two are, since the plan and the costs are the same */
    bool is_split_asked; /* a system with rows asks for several workers */
    uint64_t cost_ns;    /* of all chains, estimated */
    bool has_run;        /* the last time: its systems were called */
} micap_segment;

typedef struct micap_phase {
    char *name;
    mica_phase id;
    double fixed_seconds; /* 0: runs once per frame */
    bool is_enabled;
    uint64_t tick;         /* runs so far */
    double seconds;        /* of fixed steps so far */
    double waited_seconds; /* not used up by fixed steps; of the first phase of a group with equal steps */
    /* The graph: see dependency_graph.h. */
    struct micap_system **order;
    uint32_t system_count;
    uint32_t order_capacity;
    struct micap_dependency *dependencies; /* by rising `to` */
    uint32_t dependency_count;
    uint32_t dependency_capacity;
    uint32_t *first_dependency; /* per system, and one more */
    uint32_t first_dependency_capacity;
    uint32_t *chain_of; /* per system: index in its segment */
    uint32_t chain_of_capacity;
    micap_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
} micap_phase;

/* Adds the phases that every flow has. False if memory is short. */
bool micap_phases_add_built_in(struct micap_flow *flow);

/* Returns NULL if there is none. */
micap_phase *micap_phase_find_id(const struct micap_flow *flow, mica_phase phase);
void micap_phase_free(struct micap_flow *flow, micap_phase *phase);

#endif
