/* Identities of new entities to which something refers, or that refer to each other, in the step in which they were created.
 *
 * An identity follows from what the entity is, and that includes the identities to which it refers: so new entities that refer to each other
 * get theirs together. A family is what references between new entities connect; it was created on one rank, as handles do not
 * leave their rank. Each member has a label, at first a hash of its own bytes. Labels are refined with the labels of those that refer to it and
 * to which it refers, and with the identities of older entities, until all members differ (B. Weisfeiler, A. Leman: The reduction of a graph
 * to canonical form, 1968). Members that never differ are interchangeable: one of them is made different, and the others follow.
 *
 * Families with the same hash are equal in everything and interchangeable too. They are counted by a rank that follows from the hash, which gives
 * them numbers; an identity is a hash of the family, its number and the label. */
#ifndef MICAP_CLUSTER_NEW_FAMILIES_H
#define MICAP_CLUSTER_NEW_FAMILIES_H

#include "cluster/cluster_state.h"

/* A shared entity refers to a new one. */
void micap_new_families_note(mica_cluster *cluster, mica_entity source);

/* Whether this rank has any. */
bool micap_new_families_exist(const mica_cluster *cluster);

/* Gives identities to all members. Two rounds of exchange. Collective. */
void micap_new_families_assign(mica_cluster *cluster);

/* What other ranks say: how many families with a hash they have, and the first number of those of this rank. */
void micap_new_families_receive_count(mica_cluster *cluster, uint32_t from, uint64_t hash, uint32_t count);
void micap_new_families_receive_number(mica_cluster *cluster, uint64_t hash, uint32_t first);

void micap_new_families_free(mica_cluster *cluster);

#endif
