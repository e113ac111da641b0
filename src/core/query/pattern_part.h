/* Parts of a pattern: consecutive pieces of what the first step of a plan visits that can have several results (its driver). Searches of
 * different parts run in different threads; one after the other, they find what one search finds. How a pattern is divided depends on
 * nothing but the content of the world. */
#ifndef MICAP_CORE_QUERY_PATTERN_PART_H
#define MICAP_CORE_QUERY_PATTERN_PART_H

#include "core/query/pattern_plan.h"

enum { MICAP_PARTS_MAX = 60 }; /* each has a search of its query, and loops of the program may have some more */

/* What a driver visits. */
typedef enum micap_part_kind {
    MICAP_PART_NONE,   /* it can't be divided */
    MICAP_PART_CHUNKS, /* rows of archetypes */
    MICAP_PART_POOL,   /* rows of a pool */
    MICAP_PART_TABLE,  /* all edges of a relation */
    MICAP_PART_EDGES,  /* the edges of a given entity */
} micap_part_kind;

/* Where a part begins or ends: a row, and for chunks where it is. */
typedef struct micap_part_place {
    uint32_t match; /* of the query of the node */
    uint32_t chunk_index;
    uint32_t row;
} micap_part_place;

typedef struct micap_pattern_part {
    micap_part_place begin;
    micap_part_place end;
    bool keeps_apart; /* as the division it is from */
} micap_pattern_part;

/* How a pattern is divided. */
typedef struct micap_pattern_division {
    bool
        keeps_apart; /* in: results with the same entity of the row are in the same part, so that parts may write its components */
    bool has_lists;     /* in: indexes may find the entities of nodes, which are not divided */
    uint64_t rows;      /* in: of each part; 0: so that parts are worth a job */
    uint64_t row_count; /* out: of all parts */
    uint32_t count;     /* out: of the parts, one at least */
    micap_part_place
        places[MICAP_PARTS_MAX + 1]; /* out: where parts begin, and the end of the last; not valid if there is one */
} micap_pattern_division;

/* What the driver of a plan visits. */
micap_part_kind micap_plan_part_kind(const micap_pattern *pattern, const micap_plan *plan);

/* Whether all results with the same entity of the row come from the same row of the driver. */
bool micap_plan_keeps_apart(const micap_pattern *pattern, const micap_plan *plan);

/* Divides the results of a loop over a query with a pattern. */
void micap_pattern_divide(const mica_query *query, micap_pattern_division *division);

/* Part `index` of a division with several parts. */
static inline micap_pattern_part micap_pattern_part_at(const micap_pattern_division *division, uint32_t index)
{
    return (micap_pattern_part){division->places[index], division->places[index + 1], division->keeps_apart};
}

#endif
