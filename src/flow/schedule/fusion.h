/* System fusion: systems that access the same columns form a chain. A chain runs all its systems over a slice while the
 * slice is in the cache, instead of each system over all rows. A system that can't be fused is a chain by itself. */
#ifndef MICAP_FLOW_SCHEDULE_FUSION_H
#define MICAP_FLOW_SCHEDULE_FUSION_H

#include "flow/schedule/job_run.h"
#include "flow/schedule/phase.h"
#include "flow/schedule/prepared_run.h"
#include "flow/threads/worker_pool.h"

enum { MICAP_CHAIN_SYSTEMS = 8 };

#define MICAP_CHAIN_NO_MATCH UINT32_MAX

/* Where a job begins. */
typedef struct micap_job_start {
    uint32_t entry;        /* of the chain's archetypes */
    uint32_t chunk_index;  /* in the archetype */
    uint32_t row;          /* of the chunk */
    uint32_t buffer_index; /* which of the systems' buffers it records into */
    uint64_t base;         /* rows of the archetype before the chunk */
} micap_job_start;

typedef struct micap_chain {
    /* What the fast path reads comes first. */
    _Alignas(MICAP_CACHE_LINE) uint32_t job_count; /* 0: no rows */
    bool is_prepared; /* the rows of all its systems fit one view, and no system has filters, a rate or a condition */
    bool is_measured; /* at least once */
    uint32_t system_count;
    uint32_t prepared_count;
    micap_prepared_run *prepared; /* if it is prepared: of the systems that have rows, part of the segment's */

    struct micap_system *systems[MICAP_CHAIN_SYSTEMS];
    micap_job_batch batch;
    micap_segment *segment;
    bool is_split;      /* its jobs run on several workers; else one worker runs them all */
    uint32_t view_rows; /* the most rows of a view */

    /* Chains that wait for this one. */
    uint32_t first_successor;
    uint32_t successor_count;
    uint32_t predecessor_count;
    atomic_uint waiting_for; /* chains that are not done yet */
    uint32_t priority;

    /* The archetypes that its systems match, by rising id, and for each archetype and system the match of its query. */
    micap_archetype **archetypes;
    uint32_t *matches;        /* NULL for a single system: the same index */
    uint32_t archetype_count; /* 0: not listed yet */
    uint32_t archetype_capacity;
    uint32_t matches_capacity;
    uint64_t known_matches; /* of all its queries together, when the list was made */

    mica_pool *driver; /* the pool whose rows its one system visits; NULL: rows of chunks */
    bool is_divided;   /* its jobs are parts of a pattern: see core/query/pattern_part.h */
    bool keeps_apart;
    uint8_t driver_walk;     /* and how: see core/query/query_join.h */
    bool has_own_partitions; /* its jobs have buffers of their own; else there is a buffer for each partition */
    micap_job_start *starts; /* of jobs, and the end of the last */
    uint32_t start_capacity;
    uint64_t row_count;
    uint64_t cost_ns;   /* of one run, as last measured, */
    uint64_t cost_rows; /* and its rows then */
    _Atomic uint64_t measured_ns;
} micap_chain;

/* Cuts a phase, whose order and dependencies are known, into segments, and those into chains. False if memory is short. */
bool micap_fusion_build(struct micap_flow *flow, micap_phase *phase);

void micap_fusion_free(struct micap_flow *flow, micap_phase *phase);

#endif
