/* Edges: rows of a pool that have a target besides their owner, the source. See mica/relation.h.
 *
 *     owner   value: fields, target, rank   next, previous   links
 *
 * The edges of a source are its instances, linked by `next` and `previous`. The links connect the edges of a target in the same way, in
 * the order of their ranks; an index by target finds the first one. A table finds the edge of a source and a target. An exclusive
 * relation needs no table: a source has one edge.
 *
 * Links are an ordinary column: snapshots save and restore them with the row. Ranks are ordinary data: saved and sent with the value, so
 * that the order can be made again elsewhere.
 *
 * An edge is linked while its target is alive. Edges to nil and to entities that were destroyed are in the list of their source only. */
#ifndef MICAP_POOL_POOL_EDGES_H
#define MICAP_POOL_POOL_EDGES_H

#include "pool/pool.h"

/* Of an edge and, in the first edge of a list, how long that is. */
typedef struct micap_edge_links {
    uint32_t next;         /* of the same target; MICAP_ROW_NONE: the last */
    uint32_t previous;     /* the first one's is the last; MICAP_ROW_NONE: it is not linked */
    uint32_t source_count; /* of the first edge of a source: how many it has */
    uint32_t target_count; /* of the first edge of a target: how many lead to it */
} micap_edge_links;

typedef struct micap_pool_edges {
    micap_index targets; /* a map from targets to their first edges */
    uint32_t *slots;     /* open addressing by source and target: row + 1; 0 is empty */
    uint32_t slot_count;
    uint32_t used;
    uint32_t target_offset; /* in the value */
    uint32_t rank_offset;
    bool has_table;
    bool waits; /* new edges are not linked until micap_edges_relink */
    bool (*is_alive)(const mica_world *world, mica_entity entity); /* of the world; nil is not */
} micap_pool_edges;

/* Gives a pool of a relation its edges; false if memory is short. */
bool micap_edges_create(mica_pool *pool);
void micap_edges_free(mica_pool *pool);

static inline mica_entity micap_edge_target(const mica_pool *pool, uint32_t row)
{
    mica_entity target;
    memcpy(&target, pool->values + (size_t)row * pool->value_bytes + pool->edges->target_offset, sizeof target);
    return target;
}

static inline uint32_t micap_edge_rank(const mica_pool *pool, uint32_t row)
{
    uint32_t rank;
    memcpy(&rank, pool->values + (size_t)row * pool->value_bytes + pool->edges->rank_offset, sizeof rank);
    return rank;
}

/* The edge from a source to a target, or MICAP_ROW_NONE. */
uint32_t micap_edges_find(const mica_pool *pool, mica_entity source, mica_entity target);

/* The first edge to a target, or MICAP_ROW_NONE. */
static inline uint32_t micap_edges_first(const mica_pool *pool, mica_entity target)
{
    return micap_map_find(&pool->edges->targets, target);
}

static inline bool micap_edge_is_linked(const mica_pool *pool, uint32_t row)
{
    return pool->links[row].previous != MICAP_ROW_NONE;
}

/* Make room for `more` edges in the table, and for a target in the index; false if memory is short. */
bool micap_edges_reserve(mica_pool *pool, uint64_t more);
bool micap_edges_reserve_target(mica_pool *pool, uint32_t target_index);

/* The rest is called by pool_rows. A row was appended to the edges of its owner, of which `first` was the first one, or MICAP_ROW_NONE.
 * It becomes the last edge of its target, with its own rank if that is higher than the others. */
void micap_edges_append(mica_pool *pool, uint32_t row, uint32_t first, mica_version version);
/* A row is about to be removed from the edges of its owner. */
void micap_edges_drop(mica_pool *pool, uint32_t row);
/* Makes the copies of the edges that a row is linked to. */
void micap_edges_preserve(const mica_pool *pool, uint32_t row);
/* A row was copied to a free one. */
void micap_edges_moved(mica_pool *pool, uint32_t from, uint32_t to);
/* The instances of a source were put into another order. */
void micap_edges_reordered(mica_pool *pool, uint32_t old_first, uint32_t first);

/* Two rows are about to be exchanged, and have been. */
typedef struct micap_edge_swap {
    uint32_t rows[2];
    uint32_t slots[2];
    bool is_first[2];
} micap_edge_swap;
micap_edge_swap micap_edges_swapping(const mica_pool *pool, uint32_t a, uint32_t b);
void micap_edges_swapped(mica_pool *pool, const micap_edge_swap *swap);

/* Takes an edge out of the list of its target, which stays its target. */
void micap_edges_unlink(mica_pool *pool, uint32_t row);

/* Moves a linked edge before another one of the same target, or, for MICAP_ROW_NONE, to the end. */
void micap_edges_place(mica_pool *pool, uint32_t row, uint32_t before, mica_version version);

/* Links all edges anew, in the order of their ranks; those without one come last. There is room for them and their targets. */
void micap_edges_relink(mica_pool *pool, mica_version version);

/* Makes the table anew after rows were restored. */
void micap_edges_restore_table(mica_pool *pool);

/* Clones: make room for the targets of another pool, false if memory is short; and fill the index when the rows and the table are there. */
bool micap_edges_reserve_clone(mica_pool *to, const mica_pool *from);
void micap_edges_finish_clone(mica_pool *to);

void micap_edges_trim(mica_pool *pool);
size_t micap_edges_bytes(const mica_pool *pool);

/* The first broken invariant, or NULL. Those of the rows and their instances hold. */
const char *micap_edges_check(const mica_pool *pool);

#endif
