/* Replicas in worlds that restore snapshots. What a replica knows follows from the deltas it applied; a snapshot from before the last
 * of them holds a world that this does not fit. */
#ifndef MICAP_REPLICATION_REPLICA_RESTORE_H
#define MICAP_REPLICATION_REPLICA_RESTORE_H

#include "replication/replica.h"

/* Lists a replica in its world, so that restoring a snapshot finds it; false when memory is short. */
bool micap_replica_list(mica_replica *replica);
void micap_replica_unlist(mica_replica *replica);

#endif
