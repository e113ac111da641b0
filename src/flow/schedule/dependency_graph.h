/* The dependency graph: which systems of a phase wait for which, because of before and after or of conflicting access. */
#ifndef MICAP_FLOW_SCHEDULE_DEPENDENCY_GRAPH_H
#define MICAP_FLOW_SCHEDULE_DEPENDENCY_GRAPH_H

#include "flow/schedule/flow.h"
#include "flow/schedule/phase.h"

/* One system waits for another. */
typedef struct micap_dependency {
    uint32_t from, to; /* indices in the phase's order */
    /* Why: the component, or the stream, that both access; or before or after. */
    mica_component component;
    const struct mica_stream *stream;
    bool is_asked;
} micap_dependency;

/* Rebuilds order, dependencies and chains of all phases if systems have changed. An error if memory is short. */
mica_result micap_dependency_graph_update(micap_flow *flow);

/* The same for one phase that does not run, for systems that can't wait until the next frame. */
mica_result micap_dependency_graph_update_phase(micap_flow *flow, micap_phase *phase);

void micap_dependency_graph_free(micap_flow *flow, micap_phase *phase);

#endif
