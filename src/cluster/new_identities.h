/* Identities of entities that were created during a step. They follow from the step and from what the entity is: name, components and
 * values. Entities that are equal in all of this are on the same rank, since their keys are equal, and are counted there; which of them
 * gets which number makes no difference. So identities depend neither on ranks nor on the order of creation. */
#ifndef MICAP_CLUSTER_NEW_IDENTITIES_H
#define MICAP_CLUSTER_NEW_IDENTITIES_H

#include "cluster/cluster_state.h"

/* Keeps a new entity that another rank sent, until its identity is known. */
void micap_new_identities_add_arrival(mica_cluster *cluster, const char *bytes, size_t byte_count);

/* Gives identities to all new entities of this rank, and creates those that arrived. */
void micap_new_identities_assign(mica_cluster *cluster);

void micap_new_identities_free(mica_cluster *cluster);

#endif
