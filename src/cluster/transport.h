/* With ranks.c the only code that calls MPI: one rank without it, or a communicator. Every wait has a time limit: a rank that does not answer is named, and
 * the job ends.
 *
 * Sparse exchange: each rank sends to the few ranks that it has something for, and does not know which ranks send to it. Synchronous sends
 * and a barrier that does not block find the end (T. Hoefler, C. Siebert, A. Lumsdaine: Scalable communication protocols for dynamic
 * sparse data exchange, 2010): once all sends of a rank were received it enters the barrier, and once all ranks are in it, nothing is on
 * its way. */
#ifndef MICAP_CLUSTER_TRANSPORT_H
#define MICAP_CLUSTER_TRANSPORT_H

#include "base/byte_stream.h"
#include "mica/cluster.h"

/* When a rank waited for others, by the clock. */
typedef struct micap_wait {
    uint64_t begin_ns, end_ns;
} micap_wait;

typedef struct micap_transport {
    micap_memory *memory;
    struct micap_communicator *communicator; /* NULL: one rank, without MPI */
    uint32_t rank;
    uint32_t rank_count;
    uint32_t round; /* number of sparse exchanges */
    double time_limit_seconds;
    double wait_seconds;        /* since it was reset, as the others */
    uint64_t wait_processor_ns; /* what waiting itself uses */
    uint64_t sent_bytes, received_bytes;
    uint32_t sent_message_count;
    bool keeps_waits; /* for a trace */
    micap_wait *waits;
    uint32_t wait_count, wait_capacity;
} micap_transport;

/* What goes to one rank. */
typedef struct micap_parcel {
    uint32_t rank;
    micap_bytes bytes;
} micap_parcel;

/* Receives the bytes of one rank, which are valid during the call. */
typedef void (*micap_receive_fn)(uint32_t from, const char *bytes, size_t byte_count, void *context);

/* NULL, or what is wrong. Starts MPI if the program was started by mpirun. */
const char *micap_transport_open(micap_transport *transport, micap_memory *memory, double time_limit_seconds);
void micap_transport_close(micap_transport *transport);

/* Sends parcels that are not empty, each to another rank, and receives those of others, in any order. False if memory is short: then
 * all is received, but some of it lost. */
bool micap_transport_exchange(micap_transport *transport, const micap_parcel *parcels, uint32_t parcel_count,
                              micap_receive_fn fn, void *context);

/* Collectives, which replace the values of each rank. */
void micap_transport_sum(micap_transport *transport, uint64_t *values, uint32_t count);
void micap_transport_maximum(micap_transport *transport, uint64_t *values, uint32_t count);
/* The sum of the values of lower ranks. */
double micap_transport_before(micap_transport *transport, double value);
/* The bytes of rank 0. */
void micap_transport_share(micap_transport *transport, void *bytes, uint32_t byte_count);
/* The bytes of all ranks, in their order. */
void micap_transport_gather(micap_transport *transport, const void *bytes, uint32_t byte_count, void *out_all);
/* The values of all ranks combined into one, which each rank gets: pairs of ranks combine theirs, then pairs of pairs, so no rank has more than
 * two of them. `other` is room for one. */
void micap_transport_combine(micap_transport *transport, void *value, void *other, uint32_t byte_count,
                             mica_combine_fn fn, void *context);
/* Bytes of different lengths of all ranks, in their order; those of a rank end at out_ends[rank]. The room for that is for two numbers per
 * rank. False on all ranks if memory is short on one, or if there are 2 GiB or more. */
bool micap_transport_gather_all(micap_transport *transport, const micap_bytes *own, micap_bytes *out_all,
                                uint32_t *out_ends);

#endif
