/* How long a run of joined rows is. Once the first row of a run is found in every pool, the rest is found by comparing the owners of
 * its rows with the entities that the loop visits, many at a time, instead of looking up each of them. */
#ifndef MICAP_CORE_QUERY_QUERY_JOIN_RUN_H
#define MICAP_CORE_QUERY_QUERY_JOIN_RUN_H

#include "core/query/query.h"
#include "core/storage/rows.h"

/* Where one entity that the query shows has its rows. */
typedef struct micap_found_rows {
    mica_entity entity;
    micap_row spot;                /* its row in a chunk */
    uint32_t rows[MICA_TERMS_MAX]; /* by join: its row in the pool, or MICAP_ROW_NONE */
} micap_found_rows;

/* What a loop visits: rows of the pool `driver`, of which `at` is the first one, or of a chunk if that is NULL. All owners live, and
 * each of them is visited, apart from further instances, once. */
typedef struct micap_join_visit {
    const mica_query *query;
    const mica_pool *driver;
    const mica_entity *entities; /* the first one was found */
    uint32_t at;
    uint32_t count;
    mica_version since;
} micap_join_visit;

/* Whether the row of an entity in a pool satisfies a term; groups of terms are decided elsewhere. */
bool micap_join_satisfies(const micap_join *join, uint32_t row, mica_version since);

/* Whether the row of an entity in the pool of a term continues a run of `count` rows. Rows are MICAP_ROW_NONE where the pool has none. */
bool micap_join_continues(const micap_join *join, uint32_t first_row, uint32_t row, uint32_t count);

/* How many of the visited entities, of which the first was found, satisfy all terms on pools and follow each other in every pool of
 * which a column is read. Not for queries with pools in groups of terms. */
uint32_t micap_join_run(const micap_join_visit *visit, const micap_found_rows *first);

/* How many of the visited entities, of which the first does not match, can be skipped: more than one if its slice of a pool did not
 * change, and the next ones are in the same slice. */
uint32_t micap_join_unchanged_run(const micap_join_visit *visit);

/* The first row of the driver from `row` on in a slice that changed, or that changed itself, if a term asks for that. */
uint32_t micap_join_next_changed(const mica_query *query, const mica_pool *driver, uint32_t row, uint32_t end,
                                 mica_version since);

#endif
