/* Messages to entities by their identities. A message goes to the rank that had the target when the neighbour table was built, and from
 * there, in the second round, to the rank that the target moved to. */
#ifndef MICAP_CLUSTER_MAIL_H
#define MICAP_CLUSTER_MAIL_H

#include "cluster/cluster_state.h"

/* Puts the messages of the step into parcels. Before entities leave. */
void micap_mail_send(mica_cluster *cluster);

/* Verifies a message and moves the reader to its end. NULL, or what is wrong. */
const char *micap_mail_check(mica_cluster *cluster, micap_reader *reader);

/* Keeps a message that was verified. */
void micap_mail_receive(mica_cluster *cluster, micap_reader *reader);

/* Sorts those that have left, for the next function. */
void micap_mail_sort_leavers(mica_cluster *cluster);

/* The rank to which an entity of this rank has gone in this step; this one if it has not left. */
uint32_t micap_mail_next_rank(const mica_cluster *cluster, uint64_t identity);

/* Puts messages whose targets have left into parcels. After entities have left. */
void micap_mail_forward(mica_cluster *cluster);

/* Delivers what has arrived, in order. */
void micap_mail_deliver(mica_cluster *cluster);

void micap_mail_free(mica_cluster *cluster);

#endif
