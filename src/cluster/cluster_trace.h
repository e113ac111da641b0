/* A trace of all ranks: what each did in each step, when it waited, and the trace of its world. */
#ifndef MICAP_CLUSTER_CLUSTER_TRACE_H
#define MICAP_CLUSTER_CLUSTER_TRACE_H

#include "cluster/cluster_state.h"

/* Adds a step whose systems began and ended at these times; it ends now. Does nothing without a trace. */
void micap_cluster_trace_add(mica_cluster *cluster, uint64_t begin_ns, uint64_t systems_end_ns);

void micap_cluster_trace_free(mica_cluster *cluster);

#endif
