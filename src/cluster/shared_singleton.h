/* Singletons that are the same on all ranks: the end of each step compares them. */
#ifndef MICAP_CLUSTER_SHARED_SINGLETON_H
#define MICAP_CLUSTER_SHARED_SINGLETON_H

#include "cluster/cluster_state.h"

/* Copies those of a def. NULL, or what is wrong. */
const char *micap_shared_singletons_copy(mica_cluster *cluster, const mica_cluster_def *def);
void micap_shared_singletons_free(mica_cluster *cluster);

/* A hash of all of them on this rank, by name and value. */
uint64_t micap_shared_singletons_hash(mica_cluster *cluster);

/* The hashes of ranks differ: each that differs from rank 0 fails, and names what differs. Collective. */
void micap_shared_singletons_report(mica_cluster *cluster);

#endif
