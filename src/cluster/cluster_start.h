/* How a run begins and ends on all ranks at once. */
#ifndef MICAP_CLUSTER_CLUSTER_START_H
#define MICAP_CLUSTER_CLUSTER_START_H

#include "cluster/cluster_state.h"

/* All ranks have the same result afterwards. False if the run is over. Collective. */
bool micap_cluster_agree(mica_cluster *cluster);

/* Before the first step: compares the programs and distributes the entities. False if it failed. Collective. */
bool micap_cluster_start(mica_cluster *cluster);

#endif
