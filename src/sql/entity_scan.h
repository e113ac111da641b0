/* A loop over entities: over queries, or over a list of handles if the structure of the world changes meanwhile. */
#ifndef MICAP_SQL_ENTITY_SCAN_H
#define MICAP_SQL_ENTITY_SCAN_H

#include "sql/session.h"

typedef struct micap_sql_scan {
    micap_sql_session *session;
    mica_component component; /* 0: all entities */
    mica_query *queries[2];   /* the second for disabled components */
    uint32_t query_count;
    uint32_t query_at;
    mica_view view;
    uint32_t row;           /* in the view */
    uint64_t view_number;   /* increases with each view */
    mica_version structure; /* of the world when the loop began */
    mica_entity *list;      /* replaces the queries if is_list */
    uint64_t list_count;
    uint64_t list_capacity;
    uint64_t list_at;
    bool is_list;
    bool is_linked;
    bool at_end;
    struct micap_sql_scan *next; /* in the session */
} micap_sql_scan;

/* Returns the number of entities of a scan. */
uint64_t micap_sql_scan_estimate(mica_world *world, mica_component component);
/* The same of one scan, which keeps what it needs for it; UINT64_MAX if memory is short. */
uint64_t micap_sql_scan_count(micap_sql_scan *scan);
/* Starts with the first entity. Returns an SQLite result. */
int micap_sql_scan_all(micap_sql_scan *scan);
/* Starts with an empty list. micap_sql_scan_add adds to it; entities without the component are skipped. */
void micap_sql_scan_listed(micap_sql_scan *scan);
bool micap_sql_scan_add(micap_sql_scan *scan, mica_entity entity);
void micap_sql_scan_first_listed(micap_sql_scan *scan);
int micap_sql_scan_next(micap_sql_scan *scan);
void micap_sql_scan_end(micap_sql_scan *scan);
/* Returns true if the program changed the structure of the world during the loop: the scan must not be read. */
bool micap_sql_scan_is_invalid(const micap_sql_scan *scan);
mica_entity micap_sql_scan_entity(const micap_sql_scan *scan);
/* Makes all scans of the session continue with lists, before the structure changes. Returns an SQLite result. */
int micap_sql_scans_detach(micap_sql_session *session);

#endif
