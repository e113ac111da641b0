/* Finding edges: what all files of this layer need. */
#ifndef MICAP_RELATION_EDGE_LOOKUP_H
#define MICAP_RELATION_EDGE_LOOKUP_H

#include "core/storage/pool_lookup.h"
#include "core/world/module.h"
#include "pool/pool_edges.h"

/* The pool of a relation; NULL if the world does not use it yet, or with a report if it is not one. */
const mica_pool *micap_relation_pool(const mica_world *world, mica_component relation, const char *what);

/* The same; the world uses the relation from now on. NULL with a report on error. */
mica_pool *micap_relation_use(mica_world *world, mica_component relation, const char *what);

/* The pool of a relation whose rows are needed, if the world uses it; NULL, with a report if its edges are no rows. */
mica_pool *micap_relation_rows(const mica_world *world, mica_component relation, const char *what);

/* What reads the edges of a relation that are in no pool, or NULL. */
static inline const micap_edges_elsewhere *micap_relation_elsewhere(mica_component relation)
{
    const micap_type *type = micap_type_of(relation);
    return type && type->type.parents ? &micap_parent_edges : NULL;
}

/* The edge between two entities, in both directions if the relation is symmetric; MICAP_ROW_NONE if there is none. */
static inline uint32_t micap_edge_between(const mica_pool *pool, mica_entity source, mica_entity target)
{
    uint32_t row = micap_edges_find(pool, source, target);
    return MICAP_UNLIKELY(row == MICAP_ROW_NONE && pool->type->type.symmetric) ? micap_edges_find(pool, target, source)
                                                                               : row;
}

#endif
