/* Streams that all ranks read. What is pushed during a step is gathered by all ranks at its end, and each adds all of it to its stream in the same
 * order: that of the writers' identities, then of systems, then of calls. */
#ifndef MICAP_CLUSTER_SHARED_STREAM_H
#define MICAP_CLUSTER_SHARED_STREAM_H

#include "cluster/cluster_state.h"

/* Copies the streams of a def. NULL, or what is wrong with them. */
const char *micap_shared_streams_copy(mica_cluster *cluster, const mica_cluster_def *def);
void micap_shared_streams_free(mica_cluster *cluster);

/* Refuses systems that write the streams themselves. */
void micap_shared_streams_check(mica_cluster *cluster);

/* Gathers what all ranks have pushed, and adds it to the streams. Collective. */
void micap_shared_streams_exchange(mica_cluster *cluster);

/* Verifies what one rank has pushed. NULL, or what is wrong. */
const char *micap_shared_streams_verify(mica_cluster *cluster, const char *bytes, size_t byte_count);

#endif
