/* Components that exclude each other, of which one is in a pool: whether a delta would bring them together. */
#ifndef MICAP_REPLICATION_REPLICA_RIVALS_H
#define MICAP_REPLICATION_REPLICA_RIVALS_H

#include "replication/replica.h"

/* Part of the plan, once it is known where entities and rows of pools go; an error with a report. */
mica_result micap_replica_check_rivals(const micap_delta_work *work);

#endif
