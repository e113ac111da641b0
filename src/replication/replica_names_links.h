/* Names and links of a replica. */
#ifndef MICAP_REPLICATION_REPLICA_NAMES_LINKS_H
#define MICAP_REPLICATION_REPLICA_NAMES_LINKS_H

#include "replication/replica.h"

/* Applies the names and links of a delta after the rest; an error when memory is short. The delta can be applied again then. */
mica_result micap_replica_name_and_link(micap_delta_work *work);

#endif
