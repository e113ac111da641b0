/* The changes of a delta, once they are planned. */
#ifndef MICAP_REPLICATION_REPLICA_APPLY_H
#define MICAP_REPLICATION_REPLICA_APPLY_H

#include "replication/replica.h"

/* Applies everything except names and links. */
void micap_replica_apply(micap_delta_work *work);

#endif
