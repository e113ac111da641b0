/* Plans what a delta changes. Everything that can fail happens here, before the world changes. */
#ifndef MICAP_REPLICATION_REPLICA_PLAN_H
#define MICAP_REPLICATION_REPLICA_PLAN_H

#include "replication/replica.h"

/* Works out what to do and makes room for it, so that applying it can't fail; an error with a report. */
mica_result micap_replica_plan(micap_delta_work *work);
/* Takes back what a plan has reserved, after an error. */
void micap_replica_give_up(micap_delta_work *work);

#endif
