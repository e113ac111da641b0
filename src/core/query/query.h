/* Queries: terms, compiled into what an archetype must have, and the list of archetypes that match.
 *
 *     query.c          create, compile, match archetypes      query_filter.c   toggles, ADDED and CHANGED: which rows pass
 *     view.c           loops and their columns                query_join*.c    terms on pools
 *     query_chunks.c   the chunks of loops that are repeated
 *     query_sort.c     sorted loops, sorting rows             query_bulk.c     changes to all entities that match
 *     query_text.c     queries from text and as text          query_explain.c  what a loop visits
 *     pattern*.c       terms about other entities */
#ifndef MICAP_CORE_QUERY_QUERY_H
#define MICAP_CORE_QUERY_QUERY_H

#include "base/assert.h"
#include "core/storage/archetype.h"
#include "pool/pool.h"
#include "mica/query.h"

/* ready_writes of a view of which not all terms are ready with a column. */
#define MICAP_READY_NOT_ALL UINT8_MAX

enum {
    MICAP_COLUMN_SINGLETON = 0xFFFD, /* the term is a singleton */
    MICAP_COLUMN_UNKNOWN = 0xFFFC,   /* in the first term: the columns of the match were not looked up yet */
    MICAP_FILTERS_MAX = 2 * MICA_TERMS_MAX,
};

/* A test of rows or slices of a matching archetype. */
typedef enum micap_filter_kind {
    MICAP_FILTER_ENABLED, /* companion byte is 1 */
    MICAP_FILTER_DISABLED,
    MICAP_FILTER_ADDED,         /* companion version is newer than the mark */
    MICAP_FILTER_CHANGED_ROWS,  /* the same, and stamps of the slice say whether to look */
    MICAP_FILTER_CHANGED,       /* stamps of the slice are newer than the mark */
    MICAP_FILTER_CHANGED_SPLIT, /* the same for any leaf of a split component */
} micap_filter_kind;

typedef struct micap_filter {
    micap_filter_kind kind;
    mica_component component; /* the companion, or the component itself for what changed */
} micap_filter;

/* A term on a pool. */
typedef struct micap_join {
    mica_pool *pool;
    mica_access access;
    bool has_column; /* the rows of a view follow each other in the pool */
    bool is_flag;    /* the rows of a view all have it or all lack it: its column is micap_tag_value */
    bool is_ready;   /* it is written, and among the first terms: views of one row list its stamp, see mica/view.h */
    uint32_t term;
    uint32_t step_bytes; /* of the column; 0 without one, and for a split component */
} micap_join;

/* A chunk of a match with the columns of the terms, NULL for a term without one and for a singleton; after them, for terms that are ready,
 * the stamps of the first slice, NULL for a term that is not written. */
typedef struct micap_listed_chunk {
    micap_chunk *chunk;
    mica_version *stamps; /* of its first slice */
    uint32_t match;
    uint32_t changed; /* the stamp that a filter compares, of a chunk with one slice; else 0 */
    _Alignas(8) char *columns[];
} micap_listed_chunk;

/* See core/query/query_chunks.h. */
typedef struct micap_chunk_list {
    _Atomic uint64_t epoch; /* of the world's chunks when the list was filled; 0: never */
    _Atomic uint64_t seen_epoch;
    atomic_bool is_locked; /* a thread fills it */
    char *entries;         /* and two empty ones after the last, to look ahead at */
    const void *end;
    uint32_t capacity; /* in bytes */
    uint32_t entry_bytes;
    uint32_t count;
    uint32_t *firsts; /* by match: the position of its first chunk */
    uint32_t first_capacity;
    bool is_long; /* loops ask the cache for what comes next */
} micap_chunk_list;

/* One row of a sorted query. */
typedef struct micap_order {
    micap_chunk *chunk;
    const void *value; /* that it is ordered by */
    uint32_t row;
    uint32_t match;
    uint32_t chunk_index; /* in the archetype */
} micap_order;

struct mica_query {
    mica_world *world;
    /* Read by loops: the matching archetypes, and for each of them a column per term. */
    micap_archetype **archetypes;
    uint16_t *columns;
    uint32_t match_count;
    uint32_t match_capacity;
    uint32_t column_capacity;
    uint32_t term_count;
    uint32_t written; /* a bit per term */
    micap_chunk_list chunk_list;
    bool has_singletons;
    /* What views of chunks have ready, and views of one row of the fast path of joins: see mica/view.h. */
    uint8_t ready_count;
    uint8_t ready_rows;
    uint8_t ahead_max; /* how many entities the fast path of joins looks up ahead */
    uint8_t ready_writes;
    mica_component ready_components[MICA_PRIVATE_READY];
    mica_term terms[MICA_TERMS_MAX];
    uint32_t term_bytes[MICA_TERMS_MAX];  /* the size of a term's values; 0 for one without a column */
    uint32_t chunk_steps[MICA_TERMS_MAX]; /* the same for columns of chunks only, */
    uint32_t pool_steps[MICA_TERMS_MAX];  /* and of pools only */
    bool is_singleton[MICA_TERMS_MAX];
    bool is_flag[MICA_TERMS_MAX]; /* the term may match without a tag: its column says whether the tag is there */
    micap_filter filters[MICAP_FILTERS_MAX];
    uint32_t filter_count;
    micap_join joins[MICA_TERMS_MAX]; /* its terms on pools, in declared order */
    uint32_t join_count;
    bool reads_chunks; /* some term gives a column of a chunk */
    bool asks_chunks;  /* some term or filter is about chunks, or some archetype is hidden: one may not match */
    bool is_marked;    /* some term asks what changed or was added */
    bool is_row_level[MICA_TERMS_MAX]; /* a term of a group with a pool in it */
    bool has_fast_joins;               /* and no filters: see query_join_fast.h */
    bool has_pooled_group;             /* EITHER and OR with a pool among them: decided row by row */
    mica_component instances_of;       /* the pool whose instances are shown individually, or 0 */
    bool with_hidden;                  /* archetypes that are hidden match as others do */
    mica_component changing;           /* a component in chunks, not split, whose stamps a filter compares; or 0 */
    bool lists_chunks;                 /* no joins, no order, and either no filters or one that compares stamps */
    bool special;                      /* it has filters, joins, an order or a pattern: the general path */
    bool is_joined;                    /* it has joins or a pattern */
    struct micap_pattern *pattern;     /* terms about other entities, and then all terms: see pattern.h; or NULL */
    mica_query *owner;                 /* whose pattern this query is a part of, or NULL */
    uint64_t signature;                /* of components that must be there, */
    uint64_t banned;                   /* and of those that must not */
    mica_version last_mark;
    uint32_t index;             /* in the world's list of queries */
    uint32_t hold_count;        /* functions that use it after they called the program */
    bool is_of_system;          /* which destroys it */
    bool has_begun;             /* a loop over it */
    mica_query *retired;        /* of one that was destroyed: the next older one that was, */
    uint64_t retired_structure; /* and the structure of the world at that time */
    uint64_t id;                /* unique among all queries of this world, destroyed ones included */
    char *name;
    mica_location location;

    mica_component order_by;
    mica_compare_fn compare;
    void *context;
    micap_order *order;
    uint32_t order_count;
    uint32_t order_capacity;
    micap_order *order_scratch;
    uint32_t order_scratch_capacity;
    uint32_t *order_places; /* while rows are listed: by match and then by chunk, the position of the first row */
    uint32_t order_place_capacity;
    uint64_t order_structure; /* of the world when the order was computed */
    mica_version order_version;
    bool order_valid;
};

typedef struct micap_queries {
    mica_query **all;
    uint32_t count;
    uint32_t capacity;
    uint64_t made;       /* so far */
    mica_query *retired; /* the newest of those that were destroyed, and that a loop may still use */
} micap_queries;

/* Adds a new archetype to all queries that it matches. False if memory is short: no query has it then. */
bool micap_queries_announce(mica_world *world, micap_archetype *archetype);
void micap_queries_free(mica_world *world);

/* Makes a query part of a system, which destroys it; the program can't. NULL is a no-op. */
void micap_query_give_to_system(mica_query *query);

/* Destroys a query that no loop of the program uses, at once. NULL is a no-op. */
void micap_query_free(mica_query *query);

/* Whether a query can be read: it exists, or was destroyed and its memory is kept. */
bool micap_query_is_readable(const mica_world *world, const mica_query *query);

/* Frees destroyed queries that no loop can use, because the structure of the world has changed since. */
void micap_queries_sweep(mica_world *world);

/* Whether the component of the term must be there. */
static inline bool micap_access_demands(mica_access access)
{
    return access <= MICA_ACCESS_HAS || access >= MICA_ACCESS_CHANGED;
}

/* Whether a term can be used with those before it; if not, `out_problem` says why. Terms about other entities are also checked together:
 * see micap_pattern_problem. */
bool micap_query_check_term(mica_world *world, const mica_query_def *def, uint32_t term, micap_problem *out_problem);

bool micap_query_matches_archetype(const mica_query *query, const micap_archetype *archetype);

/* Looks up the columns of a match. Threads may do so at once, with the same result. */
MICAP_COLD void micap_query_find_columns(mica_query *query, uint32_t match);

/* The columns of a match, by term. */
static inline const uint16_t *micap_query_columns(mica_query *query, uint32_t match)
{
    uint16_t *columns = query->columns + (size_t)match * query->term_count;
    if (MICAP_UNLIKELY(MICAP_LOAD(columns, MICAP_ACQUIRE) == MICAP_COLUMN_UNKNOWN))
        micap_query_find_columns(query, match);
    return columns;
}

static inline bool micap_access_writes(mica_access access)
{
    return access == MICA_ACCESS_WRITE || access == MICA_ACCESS_MAYBE_WRITE;
}

static inline bool micap_access_reads(mica_access access)
{
    return access == MICA_ACCESS_READ || access == MICA_ACCESS_MAYBE_READ || access == MICA_ACCESS_EITHER ||
           access == MICA_ACCESS_OR || micap_access_writes(access);
}

#endif
