/* A world that follows another. The replica keeps which entity is which, and a copy of the entity columns of the sender's tables: from
 * that and a delta it knows which entities are new, are destroyed, or have other components.
 *
 *     delta_format.h         the bytes                         entity_map.c            which entity here is which of the sender
 *     delta_encode.c         writes deltas: the sender         replica_plan.c          what a delta changes, and room for all of it
 *     delta_track.c          changes of what has no stamps     replica_apply.c         the changes, which can't fail
 *     delta_fields.c         values by their description       replica_names_links.c   names and hierarchy, through the public API
 *     delta_read.c           verifies and lists the content    replica_restore.c       rollback: when the world restores a snapshot
 *     delta_checksum.c       the checksum                      replica.c               the public functions
 *     delta_rules.c          rules of components               replica_instances.c     pools with several instances per entity
 *                                                              replica_rules.c         values that are made by rules */
#ifndef MICAP_REPLICATION_REPLICA_H
#define MICAP_REPLICATION_REPLICA_H

#include "replication/delta_read.h"
#include "replication/entity_map.h"

/* A table or pool of the sender's. */
typedef struct micap_replica_table {
    uint64_t key;             /* of a table; of a pool the hash of its component's name */
    const micap_type **types; /* the components of a table, without toggles and leaves */
    uint32_t type_count;
    uint32_t type_capacity;
    mica_entity *rows;   /* the sender's handles; in a pool with a direct index nil where there is none */
    mica_entity *locals; /* of a table, when mapped: the same in this world */
    uint32_t row_count;
    bool is_direct; /* of a pool: the last delta had it with a direct index, so that the rows are not known */
    uint32_t row_capacity;
    uint32_t local_capacity;
    uint32_t *next; /* of a pool for many instances, by row: the row of the next instance of the same entity */
    uint32_t next_capacity;
    uint32_t archetype;  /* id of the one whose rows were the very same when they were last put in order, */
    uint64_t ordered_at; /* and still are in this structure of the world */
} micap_replica_table;

struct mica_replica {
    mica_world *world;
    mica_replica *next;     /* of the same world */
    uint64_t id;            /* in it: snapshots know replicas by it */
    uint64_t applied_count; /* deltas, in the history that the tables below are from */
    uint64_t world_count;   /* the same of the world: another after it restored a snapshot from before the last delta */
    bool mapped;
    bool is_applying; /* a delta: functions of the program can't destroy it */
    uint32_t index_limit;
    mica_version version;
    micap_delta_rules rules;
    micap_bytes state; /* of the sender at this version; empty: not known */
    micap_entity_map twins;
    micap_entity_map remotes; /* when mapped, the other way round */
    uint32_t mark;            /* raised for each pass that marks twins */
    MICAP_DELTA_LIST(micap_replica_table, tables);
    MICAP_DELTA_LIST(micap_replica_table, pools);
    MICAP_DELTA_LIST(mica_component, singletons); /* that deltas brought */
};

/* The entity here of one there; nil when there is none, or it does not live. */
mica_entity micap_replica_living(const mica_replica *replica, mica_entity sender);

#endif
