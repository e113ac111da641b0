/* Running a segment of a phase: its chains, each as soon as those it waits for are done, on the worker pool; or, if there is
 * too little to do, one after the other in this thread, which is fastest for small systems. A flush follows. */
#ifndef MICAP_FLOW_SCHEDULE_PHASE_RUN_H
#define MICAP_FLOW_SCHEDULE_PHASE_RUN_H

#include "flow/schedule/phase.h"

/* Runs the active systems and applies what they recorded. Returns the first error. */
mica_result micap_segment_run(micap_segment *segment);

#endif
