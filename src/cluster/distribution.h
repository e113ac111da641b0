/* Which rank owns which keys: at the start by the number of entities, later by measured work. */
#ifndef MICAP_CLUSTER_DISTRIBUTION_H
#define MICAP_CLUSTER_DISTRIBUTION_H

#include "cluster/cluster_state.h"

/* Before the first step: identities for the entities that all ranks have created, ranges with equally many of them, and this rank keeps its
 * own. If the ranks created different entities, ranges are equal parts of all keys, and the exchange moves the entities. */
void micap_distribution_start(mica_cluster *cluster);

/* Adapts the ranges to the work since the last time. Collective. */
void micap_distribution_balance(mica_cluster *cluster);

/* The share of an entity in the work, relative to the mean of all; 0: not known. It goes with the entity. */
float micap_distribution_weight(const mica_cluster *cluster, mica_entity entity);
void micap_distribution_set_weight(mica_cluster *cluster, mica_entity entity, float weight);

#endif
