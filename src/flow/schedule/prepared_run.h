/* Prepared runs: the fast path for small chains, of which an idle game runs a hundred each frame. If all rows of a chain fit one view,
 * the plan prepares the view of each of its systems, which then stays the same until the structure of the world changes. */
#ifndef MICAP_FLOW_SCHEDULE_PREPARED_RUN_H
#define MICAP_FLOW_SCHEDULE_PREPARED_RUN_H

#include "core/query/view.h"
#include "flow/schedule/job_run.h"
#include "flow/schedule/phase.h"

/* One system of a chain. */
typedef struct micap_prepared_run {
    _Alignas(MICAP_CACHE_LINE) micap_running_job job;
    uint32_t order; /* of the system in the segment */
    micap_ready terms;
    _Alignas(MICAP_CACHE_LINE) mica_view view; /* without rows if the system matches other archetypes */
} micap_prepared_run;

/* Prepares the runs of a chain whose jobs are planned, if it qualifies: see micap_chain.is_prepared. */
void micap_prepared_runs_plan(micap_segment *segment, struct micap_chain *chain);

/* Runs [run, end): the systems of one prepared chain, or of several that run one after another. Leaves the thread context of the last
 * system in place. */
void micap_prepared_runs_run(const micap_segment *segment, micap_prepared_run *run, const micap_prepared_run *end);

#endif
