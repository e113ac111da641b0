/* Mica, partition: entities of equal key, visited together. A partition is what flecs calls a group: all towns of a region, all items of an
 * owner.
 *
 *     for (mica_partition part = mica_partitions_by_index(by_region, (mica_key){0}, (mica_key){0}); mica_partition_next(&part);) {
 *         printf("region %d has %u towns\n", (int)part.key.as.integer, part.count);
 *         while (mica_member_next(&part))
 *             visit(part.entity);
 *     }
 *
 *     for (mica_partition part = mica_partitions_by_target_id(world, MICA_ID(LocatedIn)); mica_partition_next(&part);)
 *         tax(part.key.as.entity, part.count);
 *
 * The key is the value of an indexed field, or the target of a relation. Partitions come by rising key, targets by rising handle. The
 * members of a partition of an index come by handle; those of a target in the order of mica_sources. One partition alone is a range from a
 * key to the same key, or mica_sources. Nothing is stored for partitions: an index has its entries in this order, and a relation
 * finds the sources of a target.
 * Example: examples/trading_towns.c. */
#ifndef MICA_PARTITION_H
#define MICA_PARTITION_H

#include "mica/index.h"
#include "mica/relation.h"

MICA_BEGIN

/* A loop over partitions, and over the members of the current one. Fields of `private_` are not part of the API. */
typedef struct mica_partition {
    mica_key
        key; /* of the partition: the value that its members have in common, an integer if it fits, or the target */
    uint32_t count;     /* of members, never 0 */
    mica_entity entity; /* the member that mica_member_next showed; nil before the first one */
    struct {
        const mica_index *index; /* of a field; NULL: of a relation, or at the end */
        const mica_pool *pool;   /* of a relation */
        uint64_t stamp;          /* of the index or the edges, when the loop began */
        uint64_t last;           /* the highest value */
        uint32_t block;          /* of the next member, */
        uint32_t position;
        uint32_t end_block; /* and of the next partition */
        uint32_t end_position;
        mica_edges edges; /* that lead to the target */
    } private_;
} mica_partition;

/* Starts a loop over the partitions of an index of one field, with values from low to high, both included; a key of zero is an open end.
 * Call mica_partition_next for the first one. Shows the values of the last update, as mica_index_range does. Threads: reader. */
MICA_API mica_partition mica_partitions_by_index(const mica_index *index, mica_key low, mica_key high);

/* Starts a loop over the living targets of a relation. A source with several targets is a member of several partitions. Reports a component
 * that is not a relation. Threads: reader. */
MICA_API mica_partition mica_partitions_by_target_id(const mica_world *world, mica_component relation);

/* Advances to the next partition, also if members of this one were not shown; false at the end. Ends with a report if the index was
 * updated, or edges of the relation were added or removed, during the loop. Threads: reader. */
MICA_API bool mica_partition_next(mica_partition *partition);

/* Shows the next member of the current partition in `entity`; false after the last one. Ends as mica_partition_next does. Threads: reader. */
MICA_API bool mica_member_next(mica_partition *partition);

MICA_END

#if defined(MICA_CHECKED) && !defined(MICA_BUILD)
#    define mica_partitions_by_index(index, ...) mica_partitions_by_index(MICA_AT_(index), __VA_ARGS__)
#    define mica_partitions_by_target_id(world, ...) mica_partitions_by_target_id(MICA_AT_(world), __VA_ARGS__)
#    define mica_partition_next(partition) mica_partition_next(MICA_AT_(partition))
#    define mica_member_next(partition) mica_member_next(MICA_AT_(partition))
#endif

#endif
