/* Prepared runs: the fast path for small chains, of which an idle game runs a hundred each frame. If all rows of a chain fit one view,
 * the plan prepares the view of each of its systems, which then stays the same until the structure of the world changes. */
#ifndef MICAP_FLOW_SCHEDULE_PREPARED_RUN_H
#define MICAP_FLOW_SCHEDULE_PREPARED_RUN_H

#include "core/query/view.h"
#include "flow/schedule/job_run.h"
#include "flow/schedule/phase.h"

/* One system of a chain, which has rows for it. */
typedef struct micap_prepared_run {
    _Alignas(MICAP_CACHE_LINE) micap_running_job job;
    _Alignas(MICAP_CACHE_LINE) mica_view view;
} micap_prepared_run;

/* What one thread runs next: prepared chains one after another, or one chain that is not prepared. Chains without rows have no step. */
typedef struct micap_run_step {
    struct micap_chain *chain;          /* NULL: */
    micap_prepared_run *prepared, *end; /* these */
} micap_run_step;

/* Prepares the runs of a chain whose jobs are planned, if it qualifies: see micap_chain.is_prepared. The chains of a segment are planned in the
 * order in which they run. */
void micap_prepared_runs_plan(micap_segment *segment, struct micap_chain *chain);

/* Lists the steps of a segment whose chains are planned. */
void micap_run_steps_plan(micap_segment *segment);

/* Runs [run, end): the systems of one prepared chain, or of several that run one after another. Leaves the thread context of the last
 * system in place. */
void micap_prepared_runs_run(const micap_segment *segment, micap_prepared_run *run, const micap_prepared_run *end);

#endif
