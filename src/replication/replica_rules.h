/* Values that are made by rules, and default values of components with functions: while a delta is planned, because functions of the
 * program can fail. */
#ifndef MICAP_REPLICATION_REPLICA_RULES_H
#define MICAP_REPLICATION_REPLICA_RULES_H

#include "replication/replica.h"

/* Says that so many more rows of a component begin to exist. False if memory is short. */
bool micap_rules_want(micap_delta_work *work, const micap_type *type, uint64_t count);

/* At the end of the plan: makes all values. */
mica_result micap_rules_plan(micap_delta_work *work);

/* A default value that was planned; the caller moves it. */
void *micap_rules_default(micap_delta_work *work, const micap_type *type);

/* Gives default values to the raw columns of a row that has come from another archetype, or NULL. */
void micap_rules_fill(micap_delta_work *work, const micap_archetype *from, micap_row spot);

/* Exchanges two values. */
void micap_rules_write(const micap_delta_work *work, const micap_type *type, void *to, void *from);

/* Frees what was made and not moved. */
void micap_rules_free(micap_delta_work *work);

#endif
