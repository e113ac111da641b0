/* A cluster on one rank.
 *
 *     cluster.c           creating, steps, statistics               handshake.c         comparing the programs of all ranks
 *     cluster_start.c     before the first step; common results     cluster_save.c      saving and loading
 *     manifest.c          the list of the parts of a save           part_transfer.c     entities of a part to another world
 *     join_save.c         all parts as one file, for tools          reference.c         entities in components and relations
 *     identity_map.c      identities, entities and stand-ins        link_codec.c        names and parents as bytes
 *     exchange.c          entities and neighbours to other ranks    distribution.c      which rank owns what; balancing
 *     border.c            what other ranks see of this one, and it of them
 *     new_identities.c    identities of new entities                mail.c              messages to entities of other ranks
 *     new_families.c      the same for those that refer to each other
 *     cell_space.c        cells and the curve                       cell_table.c        the cells of this rank and their owners
 *     neighbour_table.c   what systems see of other entities        value_codec.c       entities as bytes
 *     envelopes.c           lists of values on their way             shared_stream.c     streams that all ranks read
 *     shared_singleton.c  singletons that are the same on all ranks rule_codec.c        values that rules of the program make
 *     question.c          questions to keys, and their answers
 *     cluster_trace.c     one trace for all ranks
 *     reduce.c            reductions; exact_sum.c: sums             transport.c         MPI */
#ifndef MICAP_CLUSTER_CLUSTER_STATE_H
#define MICAP_CLUSTER_CLUSTER_STATE_H

#include "cluster/cell_table.h"
#include "cluster/neighbour_table.h"
#include "cluster/number_field.h"
#include "cluster/transport.h"
#include "cluster/value_codec.h"

#include <pthread.h>

/* An entity that has to go to another rank. */
typedef struct micap_leaver {
    mica_entity entity;
    uint64_t identity; /* 0: it is new */
    uint32_t rank;
} micap_leaver;

/* A value on its way: a message, a message of a stream, a question or an answer. It is at `offset` of the bytes of its list. */
typedef struct micap_envelope {
    uint64_t to;   /* an identity; the key of a question */
    uint64_t from; /* an identity */
    uint32_t kind; /* number of its type, or of its stream */
    uint32_t offset, byte_count;
    uint32_t system; /* that sent it; 0: none */
    uint32_t order;  /* among what this rank sent in the step */
    uint32_t rank;   /* which gets the answer to a question */
} micap_envelope;

typedef struct micap_envelopes {
    micap_envelope *envelopes;
    uint32_t count, capacity;
    micap_bytes bytes;
} micap_envelopes;

struct mica_cluster {
    micap_memory memory;
    mica_world *world;
    mica_component component; /* of shared entities */
    micap_number_field coordinates[3];
    mica_cluster_key_fn key;
    void *context;
    double reach;
    uint64_t seed;
    uint32_t balance_steps;
    bool is_distributed;
    mica_component *singletons; /* that are the same on all ranks */
    uint64_t *singleton_hashes; /* of this rank, then room for those of rank 0 */
    uint32_t singleton_count;
    mica_resource_rule *rules; /* of the codec */
    mica_component *messages;
    uint32_t message_count;
    mica_location location;

    micap_transport transport;
    micap_codec codec;
    micap_cell_space space;
    micap_cell_table cells;
    micap_neighbour_table table;
    mica_query *shared;   /* all shared entities: component, identity if there is one */
    mica_query *visible;  /* those with an identity that queries show, with the components of the table */
    mica_query *new_ones; /* without an identity */

    uint64_t tick;
    bool is_started;
    bool must_clear_cells; /* ranges have changed */
    mica_result result;
    atomic_bool must_stop;
    uint64_t work_ns; /* since ranges were adapted: processor time per worker, without waiting */
    uint64_t worked_steps;
    float *weights; /* by the index of an entity: its share of the work, relative to the mean; 0: not known */
    uint32_t weight_capacity;
    mica_cluster_stats stats;

    micap_parcel *parcels; /* one for each rank that gets something */
    uint32_t parcel_count, parcel_capacity;
    uint32_t *parcel_of_rank; /* 1 + its number; 0: none */
    micap_leaver *leavers;
    uint32_t leaver_count, leaver_capacity;

    struct micap_cluster_trace *trace; /* NULL: none was started */
    struct micap_new_identities *new_identities;
    struct micap_new_families *new_families; /* NULL: nothing has referred to a new entity */
    struct micap_borders *borders;           /* NULL: no other rank has needed anything */
    micap_identity_map identities;
    struct micap_references *references; /* NULL: no component has entities */
    pthread_mutex_t mail_lock;           /* of what systems send, which they do in parallel */
    micap_envelopes sent;
    micap_envelopes arrived; /* for entities of this rank */
    struct mica_stream **streams;
    uint32_t stream_count;
    micap_envelopes pushed; /* to streams */
    uint32_t *gather_ends;  /* two numbers per rank, if there are streams */
    mica_cluster_request *requests;
    uint32_t request_count;
    micap_envelopes asked;
    micap_envelopes questions; /* for keys of this rank */
    micap_envelopes answers;   /* for entities of this rank */
};

/* Remembers the first failure of this rank; the end of the step tells the others. */
void micap_cluster_fail(mica_cluster *cluster, mica_result result, const char *text);

/* The cell of a shared entity; MICAP_NO_CELL if memory is short. `value` is its component, and the position is returned. */
uint32_t micap_cluster_cell(mica_cluster *cluster, mica_entity entity, const void *value, double out_at[3]);

#endif
