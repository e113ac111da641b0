/* Edges: rows of a pool that have a target besides their owner, the source. See mica/relation.h.
 *
 *     owner   value: fields, target, rank   next, previous   links
 *
 * The edges of a source are its instances, linked by `next` and `previous`. The links connect the edges of a target in the same way, in
 * the order of their ranks; an index by target finds the first one.
 *
 *     pool_edge_table   finds the edge of a source and a target where a source has many
 *     pool_edge_rows    adds and removes edges
 *
 * Links are an ordinary column: snapshots save and restore them with the row. Ranks are ordinary data: saved and sent with the value, so
 * that the order can be made again elsewhere.
 *
 * An edge is linked while its target is alive. Edges to nil and to entities that were destroyed are in the list of their source only. */
#ifndef MICAP_POOL_POOL_EDGES_H
#define MICAP_POOL_POOL_EDGES_H

#include "base/assert.h"
#include "pool/pool.h"

/* Of an edge and, in the first edge of a list, how long that is. */
typedef struct micap_edge_links {
    uint32_t next;         /* of the same target; MICAP_ROW_NONE: the last */
    uint32_t previous;     /* the first one's is the last; MICAP_ROW_NONE: it is not linked */
    uint32_t source_count; /* of the first edge of a source: how many it has */
    uint32_t target_count; /* of the first edge of a target: how many lead to it */
} micap_edge_links;

/* The target_count of an edge that waits, and whose add hook has not run. */
#define MICAP_EDGE_UNSEEN UINT32_MAX

/* Edges that are no rows of the pool, which is empty: what reads them. A row is then any number that these functions agree on. */
typedef struct micap_edges_elsewhere {
    uint32_t (*limit)(const mica_world *world); /* rows are below this */
    uint32_t (*count)(const mica_world *world);
    uint32_t (*count_targets)(const mica_world *world);                     /* entities that edges lead to */
    uint32_t (*count_sources)(const mica_world *world, mica_entity target); /* edges that lead to one */
    uint32_t (*from)(const mica_world *world, mica_entity source); /* the only edge of a source, or MICAP_ROW_NONE */
    uint32_t (*first_to)(const mica_world *world, mica_entity target);
    uint32_t (*next_to)(const mica_world *world, uint32_t row);
    uint32_t (*next)(const mica_world *world, uint32_t row); /* the first edge from this row on, or MICAP_ROW_NONE */
    mica_entity (*source)(const mica_world *world, uint32_t row);
    mica_entity (*target)(const mica_world *world, uint32_t row);
} micap_edges_elsewhere;

typedef struct micap_pool_edges {
    const micap_edges_elsewhere *elsewhere; /* NULL: they are rows of the pool */
    micap_index targets;                    /* a map from targets to their first edges */
    uint32_t *slots;                        /* see pool_edge_table: row + 1; 0 is empty */
    uint32_t slot_count;
    uint32_t used;
    uint32_t target_offset; /* in the value */
    uint32_t rank_offset;
    bool has_table;
    bool is_acyclic;
    bool changes_fast; /* trivial values, no hooks, not symmetric: see relation/relate.c */
    bool waits;        /* new edges are not linked until micap_edges_relink */
    bool (*is_alive)(const mica_world *world, mica_entity entity); /* of the world; nil is not */
} micap_pool_edges;

/* Gives a pool of a relation its edges; false if memory is short. */
bool micap_edges_create(mica_pool *pool);
void micap_edges_free(mica_pool *pool);

/* Of a relation that has a table: see pool_edge_table.h. */
uint32_t micap_edge_table_find(const mica_pool *pool, mica_entity source, mica_entity target);

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
static inline uint32_t micap_edges_find(const mica_pool *pool, mica_entity source, mica_entity target)
{
    if (MICAP_UNLIKELY(pool->edges->has_table))
        return micap_edge_table_find(pool, source, target);
    uint32_t row = micap_map_find(&pool->index, source);
    while (row != MICAP_ROW_NONE && !mica_same(micap_edge_target(pool, row), target))
        row = pool->next[row];
    return row;
}

/* How many edges a source has. */
static inline uint32_t micap_edges_from(const mica_pool *pool, mica_entity source)
{
    uint32_t first = micap_map_find(&pool->index, source);
    return first == MICAP_ROW_NONE ? 0 : pool->links[first].source_count;
}

/* The first edge to a target, or MICAP_ROW_NONE. */
static inline uint32_t micap_edges_first(const mica_pool *pool, mica_entity target)
{
    return micap_map_find(&pool->edges->targets, target);
}

/* The target with the lowest index from `from` on, of a symmetric relation also the source; nil if there is none. */
mica_entity micap_edges_next_target(const mica_pool *pool, uint32_t from);

static inline bool micap_edge_is_linked(const mica_pool *pool, uint32_t row)
{
    return pool->links[row].previous != MICAP_ROW_NONE;
}

/* Makes room for a target in the index; false if memory is short. */
bool micap_edges_reserve_target(mica_pool *pool, uint32_t target_index);

/* Whether an edge to this target is linked: it is alive, and there is room for it. */
bool micap_edges_can_link(const mica_pool *pool, mica_entity target);

/* Gives all edges of a target, of which this is the first one, small ranks again. */
MICAP_COLD void micap_edges_renumber(mica_pool *pool, uint32_t first, mica_version version);

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

/* Clones: make room for the targets of another pool, false if memory is short; and fill the index and the table when the rows are there. */
bool micap_edges_reserve_clone(mica_pool *to, const mica_pool *from);
void micap_edges_finish_clone(mica_pool *to);

void micap_edges_trim(mica_pool *pool);
size_t micap_edges_bytes(const mica_pool *pool);

/* The first broken invariant, or NULL. Those of the rows and their instances hold. */
const char *micap_edges_check(const mica_pool *pool);

/* Reading edges that may be elsewhere. Where that is excluded, the functions above take fewer instructions. */

static inline const micap_edges_elsewhere *micap_elsewhere(const mica_pool *pool)
{
    return pool->edges->elsewhere;
}

static inline uint32_t micap_edge_count(const mica_pool *pool)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->count(pool->world) : pool->count;
}

static inline uint32_t micap_edge_limit(const mica_pool *pool)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->limit(pool->world) : pool->row_limit;
}

/* The row of the first edge from a row on, if there is one below the limit. */
static inline uint32_t micap_edge_row_from(const mica_pool *pool, uint32_t row)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->next(pool->world, row) : row;
}

static inline mica_entity micap_edge_source_at(const mica_pool *pool, uint32_t row)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->source(pool->world, row) : pool->owners[row];
}

static inline mica_entity micap_edge_target_at(const mica_pool *pool, uint32_t row)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->target(pool->world, row)
                                                 : micap_edge_target(pool, row);
}

/* The edges of a source, and those of a target. */
static inline uint32_t micap_edge_first_from(const mica_pool *pool, mica_entity source)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->from(pool->world, source)
                                                 : micap_pool_row(pool, source);
}

static inline uint32_t micap_edge_next_from(const mica_pool *pool, uint32_t row)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? MICAP_ROW_NONE : pool->next[row];
}

static inline uint32_t micap_edge_first_to(const mica_pool *pool, mica_entity target)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->first_to(pool->world, target)
                                                 : micap_edges_first(pool, target);
}

static inline uint32_t micap_edge_next_to(const mica_pool *pool, uint32_t row)
{
    return MICAP_UNLIKELY(micap_elsewhere(pool)) ? micap_elsewhere(pool)->next_to(pool->world, row)
                                                 : pool->links[row].next;
}

/* The edge between two entities, or MICAP_ROW_NONE. */
static inline uint32_t micap_edge_search(const mica_pool *pool, mica_entity source, mica_entity target)
{
    if (MICAP_LIKELY(!micap_elsewhere(pool)))
        return micap_edges_find(pool, source, target);
    uint32_t row = micap_edge_first_from(pool, source);
    return row != MICAP_ROW_NONE && mica_same(micap_edge_target_at(pool, row), target) ? row : MICAP_ROW_NONE;
}

#endif
