/* The exchange at the end of a step, in two rounds: entities and messages go to the owners of their cells, then the neighbourhood to those
 * within reach. What arrives is verified completely before any of it is used. */
#ifndef MICAP_CLUSTER_EXCHANGE_H
#define MICAP_CLUSTER_EXCHANGE_H

#include "cluster/cluster_state.h"

/* Records of a parcel. */
enum {
    MICAP_RECORD_ENTITY = 1, /* identity or 0, share of the work, then the entity */
    MICAP_RECORD_ENVELOPE,   /* to, from, number of the type, value */
    MICAP_RECORD_GHOST,      /* identity, which components, coordinates, values: a new neighbour */
    MICAP_RECORD_CHANGES,    /* of the neighbours that were sent before; at most once */
    MICAP_RECORD_NOTE,       /* about a reference: kind, identity, rank */
    MICAP_RECORD_QUESTION,   /* key, identity, rank for the answer, number of the type, system, order, value */
    MICAP_RECORD_ANSWER,     /* identity, number of the type, system, order, value */
    MICAP_RECORD_END,        /* a checksum of everything before it */
};

/* Refuses what can't be in a cluster. */
void micap_exchange_check_world(mica_cluster *cluster);

/* Runs both rounds. Failures are noted in the cluster. */
void micap_exchange_run(mica_cluster *cluster);

/* Sends the parcels and uses what arrives. */
void micap_exchange_round(mica_cluster *cluster);

/* Fills the neighbour table and sends its border: the second round alone. */
void micap_exchange_neighbours(mica_cluster *cluster);

/* The parcel for a rank, which begins with a header; NULL if memory is short. */
micap_bytes *micap_exchange_parcel(mica_cluster *cluster, uint32_t rank);

/* The number of the parcel for a rank, which does not change; 0 if memory is short. */
uint32_t micap_exchange_parcel_number(mica_cluster *cluster, uint32_t rank);

/* What every parcel begins with, and ends with once it is complete. */
void micap_exchange_put_header(const mica_cluster *cluster, micap_bytes *bytes);
void micap_exchange_put_end(micap_bytes *bytes);

/* Verifies both and finds what is between them. NULL, or what is wrong. */
const char *micap_exchange_open(const mica_cluster *cluster, const char *bytes, size_t byte_count,
                                micap_reader *out_reader);

/* Verifies a parcel of a rank. NULL, or what is wrong. */
const char *micap_exchange_check(mica_cluster *cluster, uint32_t from, const char *bytes, size_t byte_count);

#endif
