/* Mica, cluster: one world on many processes, with the same results on any number of them.
 *
 *     mica_cluster *cluster = mica_cluster_create(world, &(mica_cluster_def){
 *         .grid = {.component = MICA_ID(Position), .fields = "x, y", .cell_size = 4, .maximum = {100, 100}, .torus = true},
 *         .reach = 4,                                          the greatest radius in which systems read other entities
 *         .ghosts = (const mica_component[]){MICA_ID(Velocity)}, .ghost_count = 1,        the components that they read
 *     });
 *     mica_system_add(world, ...);
 *     create_everything(world);                               the same on every rank
 *     while (mica_cluster_step(cluster, dt))                  runs the world's systems
 *         ...
 *
 * Start the program with `mpirun -n 4 ./program`; without mpirun it is one rank. Entities with the component of .grid are shared: each
 * lives on one rank, which depends on the cell of its position. Other entities belong to their rank alone. Cells are ordered along a Hilbert
 * curve, and each rank owns a range of it. After the systems of a step, entities move to the rank that owns their cell, with all
 * components, text, lists, relations and names, and their neighbourhood is copied to the ranks within .reach.
 *
 * What a system may read and change. A system writes the entities that its query shows, as without a cluster. It reads other entities with
 * mica_cluster_around and mica_cluster_read, which return the state at the end of the step before, whatever the order of systems is. It
 * changes other entities by messages (mica_cluster_send). Fields of type mica_entity, relations, parents and scopes of names (.links) may refer
 * to entities of other ranks. Such a handle is that of a stand-in (mica_remote), which has only an identity. It becomes the entity when that
 * moves to this rank, and dies with it. An identity is a number that an entity keeps on all ranks; handles differ between ranks.
 *
 * Results that depend on the order of rows or on handles differ for other numbers of ranks. So systems must not use sums over a query, the
 * first entity of a query, or mica_random_of: use mica_cluster_reduce and mica_cluster_random. Neighbours and messages are ordered by
 * identities.
 *
 * Collective functions must be called by all ranks in the same order; their comments say so. A rank that does not answer within
 * .time_limit_seconds ends the job with a message that names it. Examples: examples/cluster_flocking.c,
 * examples/cluster_epidemic.c. Guide: docs/guide/cluster.md.
 */
#ifndef MICA_CLUSTER_H
#define MICA_CLUSTER_H

#include "mica/entity.h"
#include "mica/index.h"
#include "mica/random.h"
#include "mica/resource.h"

MICA_BEGIN

typedef struct mica_cluster mica_cluster;

/* The component that shared entities have: a number that is the same on every rank and for every number of ranks. An entity that is
 * created without it gets it at the end of the step. A program can choose identities itself, if they are different. 0: none yet. */
typedef struct mica_identity {
    uint64_t value;
} mica_identity;

/* Returns the key of a shared entity: entities with equal keys are on the same rank, and near keys are often on the same rank. Must depend
 * only on the components of the entity. */
typedef uint64_t (*mica_cluster_key_fn)(const mica_world *world, mica_entity entity, void *context);

/* All questions with one key, from entities of all ranks. The arrays are valid until the handler returns. */
typedef struct mica_cluster_group {
    mica_world *world;
    uint64_t key;
    uint32_t count;
    const uint64_t *identities; /* of the entities that asked */
    const void *questions;
    void *answers;  /* to be filled in; initially zero; their text and lists belong to the cluster */
    bool *answered; /* initially true; set to false to give no answer */
    void *context;
} mica_cluster_group;

/* Answers the questions of a group. It must read only what is equal on all ranks: the group, singletons, .context; with ownership by keys,
 * also the entities that have the key of the group. It must not change the world, unless the request is .in_order. */
typedef void (*mica_cluster_request_fn)(const mica_cluster_group *group);

/* A kind of question that mica_cluster_ask posts. */
typedef struct mica_cluster_request {
    mica_component question; /* a described type without entities */
    mica_component answer;   /* a component without entities, in chunks or in a pool, one per entity; 0: no answers */
    mica_cluster_request_fn fn;
    void *context;
    bool in_order; /* handle groups one after another on one thread, for handlers that change entities of their key */
} mica_cluster_request;

typedef struct mica_cluster_def {
    mica_index_def grid; /* .component, .fields, .cell_size, .minimum, .maximum and .torus, as for mica_index_create */
    double reach;        /* the greatest radius of mica_cluster_around */
    /* What mica_cluster_read shows: components and tags without entities, one per entity, not split. Copied. */
    const mica_component *ghosts;
    uint32_t ghost_count;
    /* What mica_cluster_send sends: described types without entities. Copied. */
    const mica_component *messages;
    uint32_t message_count;
    /* For components with functions of the program: how values are sent to other ranks, as for files (mica/rule.h). Not for relations, singletons
     * and split components; recipes have no entities. When an entity arrives, ADD hooks see the default value. The recipes are part of
     * mica_cluster_hash. The array is copied. */
    const mica_resource_rule *rules;
    uint32_t rule_count;
    /* Singletons to which all ranks write the same values: described, without entities. They are compared after each step and are part of
     * mica_cluster_hash; a difference ends the run with a report that names the singleton and the rank. Others belong to their rank. Copied. */
    const mica_component *singletons;
    uint32_t singleton_count;
    /* Streams that all ranks read, of described types without entities. Systems write them with mica_cluster_push only. The array is copied;
     * the streams must exist until the cluster is destroyed. */
    struct mica_stream *const *streams;
    uint32_t stream_count;
    /* What mica_cluster_ask asks. Copied. */
    const mica_cluster_request *requests;
    uint32_t request_count;
    /* Instead of cells: ownership by keys. Of .grid, only .component is used, and there are no neighbours. */
    mica_cluster_key_fn key;
    void *context;
    uint32_t
        balance_steps; /* ranges are adapted to the measured work every so many steps; 0: only by mica_cluster_balance */
    double time_limit_seconds; /* how long a rank waits for another; 0 means 60 */
    uint64_t seed;             /* of identities and of mica_cluster_random */
    /* Shared entities may have parents, and names in the scope of others. Not needed in a world with relations or components with entities. */
    bool links;
    /* Before the first step, each rank has created different entities. Otherwise all have created the same, which is compared. */
    bool distributed;
    mica_allocator allocator; /* of the cluster; leave NULL for the default */
    mica_location location;
} mica_cluster_def;

/* Makes a world a part of a cluster. Starts MPI if the program was started by mpirun. Call it before the systems that use the cluster are
 * added. The def is copied. Returns NULL with a report that says what is wrong with the def, or if memory runs out. Collective.
 * Threads: owner. */
MICA_API mica_cluster *mica_cluster_create(mica_world *world, const mica_cluster_def *def);

/* Destroys the cluster; the entities of this rank stay. Call this before destroying the world. NULL is a no-op. Threads: owner. */
MICA_API void mica_cluster_destroy(mica_cluster *cluster);

/* Runs one frame of the world (mica_step), then exchanges entities, neighbours and messages with other ranks, and delivers messages. The
 * first call compares the programs of all ranks and distributes the entities. Returns false on all ranks, after a report, if
 * something failed on one of them, and false without a report if mica_cluster_stop was called. Collective. Threads: owner. */
MICA_API bool mica_cluster_step(mica_cluster *cluster, float dt);

/* Returns why mica_cluster_step returned false; MICA_OK if nothing failed. Equal on all ranks. Threads: reader. */
MICA_API mica_result mica_cluster_result(const mica_cluster *cluster);

/* Lets the current or next step return false on all ranks. One rank is enough. Threads: any. */
MICA_API void mica_cluster_stop(mica_cluster *cluster);

/* Return the number of this rank, starting at 0, the number of ranks, and the number of completed steps. Threads: reader. */
MICA_API uint32_t mica_cluster_rank(const mica_cluster *cluster);
MICA_API uint32_t mica_cluster_rank_count(const mica_cluster *cluster);
MICA_API uint64_t mica_cluster_tick(const mica_cluster *cluster);

/* Returns a hash of all shared entities: identities, names, components and values, and of .singletons. Equal for any number of ranks and workers. 0 if it
 * failed. Collective. Threads: owner. */
MICA_API uint64_t mica_cluster_hash(mica_cluster *cluster);

/* Returns the entity of this rank with an identity; nil if it is on another rank or dead. Not inside systems. Threads: owner. */
MICA_API mica_entity mica_cluster_find(mica_cluster *cluster, uint64_t identity);

/* Returns the identity of an entity of this rank, or of a stand-in (mica_remote), at the end of the last step; 0 if it had none. Threads: any. */
MICA_API uint64_t mica_cluster_identity(const mica_cluster *cluster, mica_entity entity);

/* Returns a random generator for an entity in the current step. It depends on the seed, the step, the identity and the stream.
 * Reports an entity that has no identity yet. Threads: any. */
MICA_API mica_random mica_cluster_random(const mica_cluster *cluster, mica_entity entity, uint64_t stream);

/* An entity that mica_cluster_around found, on this rank or another, as it was at the end of the last step. */
typedef struct mica_cluster_neighbour {
    uint64_t identity;
    double distance_squared;
    mica_point offset; /* from the entity to it; on a torus the shortest way */
    uint32_t private_row;
} mica_cluster_neighbour;

/* Finds the entities within a radius of an entity of this rank, except itself, at the end of the last step. Their order is the same for
 * any number of ranks. Writes the first `capacity` of them to `out` and returns how many there are. Finds nothing for an entity that was
 * created since. Reports a radius above .reach. Threads: reader. */
MICA_API uint32_t mica_cluster_around(const mica_cluster *cluster, mica_entity entity, double radius,
                                      mica_cluster_neighbour *out, uint32_t capacity);

/* Returns a component of a neighbour at the end of the last step; NULL if it did not have it. For a tag, there is nothing to read.
 * Reports a component that is not in .ghosts. Valid until the end of the step. Threads: reader. */
MICA_API const void *mica_cluster_read(const mica_cluster *cluster, const mica_cluster_neighbour *neighbour,
                                       mica_component component);

/* Sends a message to an entity by its identity. At the end of the step, the handlers of mica/message.h receive it on the rank of the
 * entity, in the order of the identities of targets, then of senders, then of types and bytes of messages. If the world has relations or
 * components with entities, the target can be any entity. Otherwise it must be the sender, or an entity that was within .reach of it at
 * the end of the last step; another target is reported, and the message is dropped. If the target has died since, the message is dropped
 * and counted. Returns false if memory runs out, or with a report for a sender without identity and for a type that is not in .messages.
 * Threads: any. */
MICA_API bool mica_cluster_send(mica_cluster *cluster, mica_entity from, uint64_t to, mica_value message);

/* Writes a message to a stream of .streams. At the end of the step all ranks get the messages that were pushed on any rank, in the order
 * of the identities of the entities that pushed them, then of systems, then of calls; systems read them in the next step, as in
 * mica/stream.h. So the content of the stream is the same on every rank and for every number of ranks. The calls of a system for one
 * entity are in order if they are made by one thread. Returns false if memory runs out, or with a report for an entity without identity
 * and for a stream that is not in .streams. Threads: any. */
MICA_API bool mica_cluster_push(mica_cluster *cluster, mica_entity from, const struct mica_stream *stream,
                                mica_value message);

/* Asks a question for an entity. At the end of the step, one rank gets all questions with the same key, from all ranks: with ownership by
 * keys the rank that owns the key, otherwise one that depends on the key. It calls the handler of .requests for each group, by ascending
 * key; within a group, questions are in the order of identities, then of systems, then of calls. Each answer is set at the entity that
 * asked, wherever that is now, before the next step; if it asked several times, in the order of systems and calls. An entity that died
 * meanwhile gets no answer. Returns false if memory runs out, or with a report for an entity without identity and for a type that is not
 * in .requests. Threads: any. */
MICA_API bool mica_cluster_ask(mica_cluster *cluster, mica_entity from, uint64_t key, mica_value question);

/* What mica_cluster_reduce computes over all shared entities that have the component. */
typedef struct mica_cluster_reduction {
    mica_component component; /* in chunks or in a pool, one per entity, not split */
    const char *field;        /* a path to a number, as in mica/value.h; NULL: entities are only counted */
    double low;               /* of the histogram */
    double high;
    uint32_t bin_count; /* of the histogram; 0: none */
} mica_cluster_reduction;

typedef struct mica_summary {
    uint64_t count;
    double sum;     /* of all numbers as doubles, without rounding errors: rounded once, at the end */
    double minimum; /* infinite if there are none */
    double maximum;
} mica_summary;

/* Computes count, sum, minimum, maximum and histogram of a field. Bit-identical for any number of ranks. `out_bins` has .bin_count
 * elements and may be NULL without them; numbers outside the range count in the first or last one. Numbers that are not finite are
 * only counted in `count`. On error, which all ranks return, everything is 0. Collective. Threads: owner. */
MICA_API mica_result mica_cluster_reduce(mica_cluster *cluster, const mica_cluster_reduction *reduction,
                                         mica_summary *out_summary, uint64_t *out_bins);

/* Combines `from` into `to`, which are aligned as the value is on each rank, or to 16 bytes. The result must not depend on the order or grouping of
 * values: then it is the same for any number of ranks. Sums of floats depend on it, those of integers do not. */
typedef void (*mica_combine_fn)(void *to, const void *from, void *context);

/* Combines a value of each rank; afterwards all ranks have the result. Values are combined in pairs, on half of the ranks, then on a quarter, and
 * so on: a rank calls the function once for each power of two below the number of ranks, or less often. Collective. Threads: owner. */
MICA_API mica_result mica_cluster_combine(mica_cluster *cluster, void *value, size_t value_bytes, mica_combine_fn fn,
                                          void *context);

/* Adapts the ranges of all ranks to the work that was measured since the last time; the next step moves the entities. Results do not
 * depend on it. Collective. Threads: owner. */
MICA_API mica_result mica_cluster_balance(mica_cluster *cluster);

/* Saves the cluster after a step. Each rank writes its shared entities to a part, <path>.<generation>.<rank>; that of rank 0 also has its
 * singletons, its other entities and the time. Then rank 0 writes a manifest to `path`. All files are written as by mica_save; the
 * old save stays complete until the manifest is replaced, and its parts are removed after that. Refused, on all ranks, if entities were created or
 * messages sent since the last step. On error, which all ranks return, the old save is unchanged. Collective. Threads: owner. */
MICA_API mica_result mica_cluster_save(mica_cluster *cluster, const char *path);

/* Continues a save, on any number of ranks: instead of creating entities, after components were defined (mica_define) and systems added. The
 * world must be unused (mica_world_is_unused) and the seed that of the save. Each rank gets the singletons, other entities and time of rank 0, and
 * its part of the shared entities. A part that is missing, truncated or changed is reported. On error, which all ranks return, the
 * cluster can't be used any more, and the world has some of the entities. Collective. Threads: owner. */
MICA_API mica_result mica_cluster_load(mica_cluster *cluster, const char *path);

/* Packs all parts of a save into one file with all entities, for tools. Needs neither MPI nor the program that saved it. On error the blob is empty,
 * and `out_error` (which may be NULL) says what is wrong and with which part. Threads: any. */
MICA_API mica_result mica_cluster_join(const char *path, mica_blob *out_blob, mica_resource_error *out_error);

/* What this rank did in its last step. */
typedef struct mica_cluster_stats {
    uint64_t owned_count;    /* shared entities on this rank */
    uint64_t ghost_count;    /* copies of entities of other ranks */
    uint64_t arrived_count;  /* entities that came from other ranks */
    uint64_t departed_count; /* entities that went to other ranks */
    uint64_t sent_bytes;
    uint64_t received_bytes;
    uint32_t sent_message_count; /* of MPI, not of mica_cluster_send */
    uint64_t dropped_count;      /* messages and answers without a receiver, since the cluster was created */
    uint64_t balance_count;      /* how often ranges were adapted, since the cluster was created */
    double work_seconds;         /* for systems */
    double wait_seconds;         /* for other ranks */
    /* Processor time of systems, divided by the number of workers, and of the exchange without waiting: what balancing makes equal. */
    double processor_seconds;
} mica_cluster_stats;

/* Returns statistics of this rank. Threads: reader. */
MICA_API mica_cluster_stats mica_cluster_get_stats(const mica_cluster *cluster);

/* Starts a trace of all ranks. Collective. Threads: owner. */
MICA_API mica_result mica_cluster_trace_start(mica_cluster *cluster);

/* Ends the trace, and rank 0 writes one file in Chrome trace event format for all ranks: each is a process with its systems, exchanges, waits, and
 * statistics per step. A NULL path discards it. On error, which all ranks return, there is no file, or the old one. Collective.
 * Threads: owner. */
MICA_API mica_result mica_cluster_trace_stop(mica_cluster *cluster, const char *path);

MICA_END

#ifndef __cplusplus
MICA_COMPONENT(mica_identity, value)
/* The tag of a stand-in: an entity of another rank that components of this rank refer to. It has an identity, and nothing else. */
MICA_TAG(mica_remote)
#endif

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_cluster_create(world, ...) mica_cluster_create(MICA_AT_(world), __VA_ARGS__)
#    define mica_cluster_destroy(cluster) mica_cluster_destroy(MICA_AT_(cluster))
#    define mica_cluster_step(cluster, ...) mica_cluster_step(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_result(cluster) mica_cluster_result(MICA_AT_(cluster))
#    define mica_cluster_stop(cluster) mica_cluster_stop(MICA_AT_(cluster))
#    define mica_cluster_rank(cluster) mica_cluster_rank(MICA_AT_(cluster))
#    define mica_cluster_rank_count(cluster) mica_cluster_rank_count(MICA_AT_(cluster))
#    define mica_cluster_tick(cluster) mica_cluster_tick(MICA_AT_(cluster))
#    define mica_cluster_hash(cluster) mica_cluster_hash(MICA_AT_(cluster))
#    define mica_cluster_find(cluster, ...) mica_cluster_find(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_identity(cluster, ...) mica_cluster_identity(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_random(cluster, ...) mica_cluster_random(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_around(cluster, ...) mica_cluster_around(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_read(cluster, ...) mica_cluster_read(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_send(cluster, ...) mica_cluster_send(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_push(cluster, ...) mica_cluster_push(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_ask(cluster, ...) mica_cluster_ask(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_reduce(cluster, ...) mica_cluster_reduce(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_combine(cluster, ...) mica_cluster_combine(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_balance(cluster) mica_cluster_balance(MICA_AT_(cluster))
#    define mica_cluster_save(cluster, ...) mica_cluster_save(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_load(cluster, ...) mica_cluster_load(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_join(...) MICA_AT_(mica_cluster_join(__VA_ARGS__))
#    define mica_cluster_trace_start(cluster) mica_cluster_trace_start(MICA_AT_(cluster))
#    define mica_cluster_trace_stop(cluster, ...) mica_cluster_trace_stop(MICA_AT_(cluster), __VA_ARGS__)
#    define mica_cluster_get_stats(cluster) mica_cluster_get_stats(MICA_AT_(cluster))
#endif

#endif
