/* Walking along edges: what is reached from an entity by following edges to their targets. */
#ifndef MICAP_RELATION_EDGE_WALK_H
#define MICAP_RELATION_EDGE_WALK_H

#include "pool/pool_edges.h"

typedef enum micap_reach {
    MICAP_REACH_NO,
    MICAP_REACH_YES,
    MICAP_REACH_UNKNOWN, /* memory is short */
} micap_reach;

/* Whether edges lead from one entity to another, one at least. */
micap_reach micap_edges_reach(const mica_pool *pool, mica_entity from, mica_entity to);

#endif
