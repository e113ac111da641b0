/* What systems access, and when two of them conflict. */
#ifndef MICAP_FLOW_SCHEDULE_ACCESS_CONFLICT_H
#define MICAP_FLOW_SCHEDULE_ACCESS_CONFLICT_H

#include "mica/system.h"

struct micap_system;

typedef struct micap_system_access {
    mica_component component; /* or */
    const struct mica_stream *stream;
    bool write;
    bool is_rows; /* only in the rows that the system visits */
} micap_system_access;

enum { MICAP_USES_MAX = 64, MICAP_ACCESSES_MAX = MICA_TERMS_MAX + MICAP_USES_MAX };

/* Fills in all that a system accesses by its terms and uses. Returns how many. */
uint32_t micap_system_accesses(const struct micap_system *system, micap_system_access *out);

/* Whether two accesses must not happen at the same time. */
bool micap_accesses_conflict(const micap_system_access *a, const micap_system_access *b);

/* Whether two jobs of one system would conflict. */
bool micap_system_conflicts_with_itself(const struct micap_system *system);

#endif
