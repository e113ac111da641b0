/* Before the first step, all ranks compare what must be equal: versions, byte order, the def, components, systems, and the world. */
#ifndef MICAP_CLUSTER_HANDSHAKE_H
#define MICAP_CLUSTER_HANDSHAKE_H

#include "cluster/cluster_state.h"

/* Compares with rank 0. If there is a difference, it is reported and noted in the cluster. Collective. */
void micap_handshake_run(mica_cluster *cluster);

/* Writes the lines that are compared. */
void micap_handshake_describe(mica_cluster *cluster, micap_bytes *out);

#endif
