/* Edges by hand: a packed array of edges, each in the list of its source and in the list of its target, in the order in which they were
 * added; arrays by slot with the ends of the lists. Removing fills the hole with the last edge, as everywhere in raw.h. An edge is found
 * by a walk along those of its source, which are few. */
#ifndef BENCH_RAW_EDGES_H
#define BENCH_RAW_EDGES_H

#include "raw.h"

typedef struct raw_edge {
    raw_id source;
    raw_id target;
    uint32_t next_target; /* of the same source */
    uint32_t previous_target;
    uint32_t next_source; /* of the same target */
    uint32_t previous_source;
} raw_edge;

/* Of one slot: the ends of its lists, and how long they are. */
typedef struct raw_edge_ends {
    uint32_t first_target;
    uint32_t last_target;
    uint32_t first_source;
    uint32_t last_source;
    uint32_t target_count;
    uint32_t source_count;
} raw_edge_ends;

typedef struct raw_edges {
    raw_world world;
    raw_edge *edges;
    uint32_t count;
    uint32_t capacity;
    raw_edge_ends *ends; /* by slot */
    uint32_t end_capacity;
} raw_edges;

raw_edges raw_edges_make(void);
void raw_edges_free(raw_edges *table);

/* False if one of them is not alive, if they are the same, or if memory is short. An edge that exists stays. */
bool raw_relate(raw_edges *table, raw_id source, raw_id target);
/* False if there is no such edge. */
bool raw_unrelate(raw_edges *table, raw_id source, raw_id target);

#endif
