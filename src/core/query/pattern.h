/* Patterns: queries with terms about other entities than the one of the row.
 *
 *     pattern.c          terms become nodes and links           pattern_plan.c      in which order they are solved
 *     pattern_search.c   solves them, one result at a time      pattern_view.c      results as views; loops of a pattern
 *     pattern_explain.c  the plan as text                       entity_set.c        what is reached along edges
 *     condition.c        values of fields that are asked for    node_list.c         entities that an index finds
 *
 * A node is an entity of the result: this one (node 0), a variable, a given entity or an unnamed one. The terms about a node alone are a query
 * of their own, so that every kind of term works for every storage; a node can be found by a loop over that query, or checked with it.
 * A link is an edge between two nodes, a chain of edges, or the way to the nearest ancestor. */
#ifndef MICAP_CORE_QUERY_PATTERN_H
#define MICAP_CORE_QUERY_PATTERN_H

#include "core/query/query.h"

enum {
    MICAP_NODES_MAX = 1 + MICA_VARIABLES_MAX + 2 * MICA_TERMS_MAX,
    MICAP_PATTERN_NODE_NONE = 255,
};

typedef struct micap_pattern_node {
    mica_query *query; /* the terms about it; NULL: any entity will do, even one that is not alive */
    mica_entity fixed;
    bool is_fixed;
    bool is_used;     /* some term names it */
    bool is_required; /* it is bound in every result; else by an optional link, or nil */
    bool is_trivial;  /* its query has no terms: it must be alive and not hidden */
    bool has_columns;
    bool has_conditions;
    bool is_derived; /* the nearest ancestor of another node: it is found from there only */
} micap_pattern_node;

typedef enum micap_pattern_link_kind {
    MICAP_LINK_EDGE,    /* from a source to a target */
    MICAP_LINK_CLOSURE, /* the same, over any number of edges, one at least, or none with `or_self` */
    MICAP_LINK_NEAREST, /* from a node to its nearest ancestor that its other node accepts */
    MICAP_LINK_SAME,    /* of a group: both nodes are the same entity, and the second one accepts it */
} micap_pattern_link_kind;

typedef enum micap_pattern_link_mode {
    MICAP_LINK_REQUIRED,
    MICAP_LINK_NEGATED,
    MICAP_LINK_OPTIONAL
} micap_pattern_link_mode;

typedef struct micap_pattern_link {
    micap_pattern_link_kind kind;
    micap_pattern_link_mode mode; /* of a term in a group: optional */
    const mica_pool *pool;
    uint8_t from;
    uint8_t to;
    bool is_once;          /* one result is enough, and one of the nodes has no other use */
    bool is_backward_only; /* of those: that node is `from` */
    bool or_self;
    bool is_single;  /* a required edge of an exclusive relation: a source has one target */
    bool has_column; /* the fields of the edge */
    uint8_t group;   /* starts at 1; 0: none */
    uint8_t term;
} micap_pattern_link;

typedef struct micap_pattern {
    mica_query *query; /* it belongs to */
    micap_pattern_node nodes[MICAP_NODES_MAX];
    micap_pattern_link links[MICA_TERMS_MAX];
    uint32_t node_count;
    uint32_t variable_count; /* nodes 1 to this are variables */
    uint32_t link_count;
    struct micap_condition *conditions; /* room for as many as the query has terms; NULL: none */
    uint32_t condition_count;
    uint32_t group_count;
    bool shows_more;          /* than entities: columns, or what is optional */
    const mica_pool *cascade; /* entities are visited after their targets along this; or NULL */
    /* By term: the node and the term of its query, or the link. */
    uint8_t term_nodes[MICA_TERMS_MAX];
    uint8_t term_places[MICA_TERMS_MAX];
    uint8_t term_links[MICA_TERMS_MAX]; /* + 1; 0: none */
    uint64_t steps_max;                 /* of a search; 0: no limit */
    char *names;                        /* of variables, each with its end; in the order of their numbers */
    uint32_t name_bytes;
    char *fields; /* names of fields and text of conditions, which the terms of the query point to */
    uint32_t field_bytes;

    struct micap_search **searches; /* of loops that run or have run */
    uint32_t search_count;
    uint32_t search_capacity;
    uint32_t serial;
    atomic_bool is_locked;
    bool is_incomplete; /* a loop ended before it had found all, since this was cleared */
} micap_pattern;

/* Whether a term is about another entity than that of the row. */
bool micap_term_is_pattern(const mica_term *term);

/* The first problem of a term that is one, or NULL. */
const char *micap_pattern_term_problem(mica_world *world, const mica_term *term);

/* Whether two terms are about the same component, entity and edge. */
bool micap_terms_are_alike(const mica_term *a, const mica_term *b);

/* Whether the terms make sense together, of which some is a pattern. If not, `out_term` is the term, and the text says what is wrong. */
const char *micap_pattern_problem(const mica_query_def *def, uint32_t *out_term);

/* Gives a query that has its terms a pattern; false if memory is short, which a query of a node may have reported already. */
bool micap_pattern_create(mica_query *query, const mica_query_def *def, bool *out_is_reported);
void micap_pattern_free(mica_query *query);

/* The name of a variable, or NULL. */
const char *micap_pattern_name(const micap_pattern *pattern, uint32_t variable);

#endif
