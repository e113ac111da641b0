/* What systems access, and when two of them conflict. */
#ifndef MICAP_FLOW_SCHEDULE_ACCESS_CONFLICT_H
#define MICAP_FLOW_SCHEDULE_ACCESS_CONFLICT_H

#include "mica/schedule.h"

struct micap_system;

enum { MICAP_USES_MAX = 64, MICAP_ACCESSES_MAX = MICA_TERMS_MAX + MICAP_USES_MAX };

/* Fills in all that a system accesses by its terms and uses, without and with the components of its indexes. Returns how many. */
uint32_t micap_system_own_accesses(const struct micap_system *system, mica_system_access *out);
uint32_t micap_system_accesses(const struct micap_system *system, mica_system_access *out);

/* Whether two accesses must not happen at the same time. */
bool micap_accesses_conflict(const mica_system_access *a, const mica_system_access *b);

/* Whether two jobs of one system would conflict. */
bool micap_system_conflicts_with_itself(const struct micap_system *system);

#endif
