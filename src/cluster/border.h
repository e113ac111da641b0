/* Entities that other ranks see, and what this rank sees of theirs. For each rank with which it has a border, both sides keep the same list of
 * neighbours with the same values, so that only what changed is sent: new neighbours, numbers of those that left, and changed components. */
#ifndef MICAP_CLUSTER_BORDER_H
#define MICAP_CLUSTER_BORDER_H

#include "cluster/cluster_state.h"

/* In each step: begin, add all entities in cells that others need, send, use what arrives, finish. */
void micap_border_begin(mica_cluster *cluster);

/* `value` is the component with the position, `values` what the neighbour table has of the entity. False if memory is short. */
bool micap_border_add(mica_cluster *cluster, const micap_neighbour_row *row, const char *value, const char *values);

/* Puts changes into parcels. */
void micap_border_send(mica_cluster *cluster);

/* Verify a record and move the reader to its end. NULL, or what is wrong. */
const char *micap_border_check_new(mica_cluster *cluster, micap_reader *reader);
const char *micap_border_check_changes(mica_cluster *cluster, uint32_t from, micap_reader *reader);

/* Use a record that was verified. */
void micap_border_receive_new(mica_cluster *cluster, uint32_t from, micap_reader *reader);
void micap_border_receive_changes(mica_cluster *cluster, uint32_t from, micap_reader *reader);

/* Adds the neighbours of all other ranks to the table. */
void micap_border_finish(mica_cluster *cluster);

void micap_border_free(mica_cluster *cluster);

#endif
