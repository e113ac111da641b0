/* Searching the results of a pattern: each step of the plan finds the next way to bind its nodes, or the step before it continues. */
#ifndef MICAP_CORE_QUERY_PATTERN_SEARCH_H
#define MICAP_CORE_QUERY_PATTERN_SEARCH_H

#include "core/query/entity_set.h"
#include "core/query/node_list.h"
#include "core/query/pattern_part.h"

/* Where a step is. */
typedef struct micap_search_cursor {
    uint32_t row;      /* of a pool, or in a set or view */
    uint32_t end;      /* of the rows of a list of edges: the one after the last */
    uint8_t list;      /* of a symmetric relation: 0 or 1 */
    bool has_found;    /* some result */
    bool is_exhausted; /* there is no other */
} micap_search_cursor;

/* How a step is solved. Those of the fast path are about an edge that is required, of a relation that is not symmetric. */
typedef enum micap_search_code {
    MICAP_SEARCH_GENERAL,
    MICAP_SEARCH_SINGLE, /* the only target of an exclusive relation */
    MICAP_SEARCH_PARENT, /* the same, where edges are no rows */
    MICAP_SEARCH_TEST,   /* an edge between two nodes that are bound */
    MICAP_SEARCH_ROWS,   /* all edges of the table */
} micap_search_code;

/* What solving a step reads: pointers into its search, and those of the pool, which are valid during a loop. */
typedef struct micap_search_step {
    uint8_t code;
    uint8_t from_node;
    uint8_t to_node;
    bool is_last;
    bool
        is_linked_only; /* the other node needs no more than to be alive, and edges to those that are not are not linked */
    uint32_t target_stride;
    const char *targets;
    uint32_t *edge_row;
    uint32_t end_row; /* of MICAP_SEARCH_ROWS, which is always the first step that can have several results */
    const mica_pool *pool;
    mica_entity *from;
    mica_entity *to;
    const struct micap_search_step *back; /* the last step before this one that can have another result, or NULL */
    struct micap_search_cursor *cursor;
} micap_search_step;

/* An entity of a cascade, and how many ancestors it has. */
typedef struct micap_search_level {
    mica_entity entity;
    uint32_t depth;
} micap_search_level;

typedef struct micap_search {
    const micap_pattern *pattern;
    const mica_world *world;
    uint32_t serial; /* of the loop that uses it; 0: none */
    uint32_t bound;  /* a bit for each variable that was bound before */
    bool is_started;
    bool is_ended;
    bool is_short;    /* of memory: the search ended early */
    bool is_cut;      /* the same, for it took too many steps */
    bool has_pending; /* a result was found that was not shown yet */
    bool has_part;    /* it finds the results of this part: */
    micap_pattern_part part;
    int64_t steps_left; /* below 0: too many */
    mica_version since;
    mica_version version;
    mica_entity entities[MICAP_NODES_MAX];
    uint32_t edge_rows[MICA_TERMS_MAX]; /* by link: the edge, or 0 if it is found otherwise; MICAP_ROW_NONE: none */
    const micap_archetype *fits[MICAP_NODES_MAX];   /* by node: an archetype that matches its terms, */
    const micap_archetype *passes[MICAP_NODES_MAX]; /* and one whose rows all do; or NULL */
    micap_search_cursor cursors[MICAP_STEPS_MAX];
    micap_plan plan;
    micap_search_step steps[MICAP_STEPS_MAX + 1]; /* of the plan */
    const micap_search_step *back;         /* as that of a step, after the last one: where the search continues */
    uint32_t plan_bound;                   /* what the plan was made for, */
    bool plan_keeps_apart;                 /* and how */
    uint64_t plan_structure;               /* of the world; 0: there is no plan */
    micap_entity_set sets[MICA_TERMS_MAX]; /* by link: what is reached from `set_keys` */
    mica_entity set_keys[MICA_TERMS_MAX];
    micap_node_list lists[MICAP_NODES_MAX]; /* by node with conditions: what an index found */
    mica_entity *order;                     /* of a cascade */
    uint32_t order_count;
    uint32_t order_capacity;
    micap_search_level *levels; /* of the entities in storage order */
    uint32_t level_capacity;
    uint32_t *level_starts;
    uint32_t level_start_capacity;
    /* What is shown: the entities of variables, and for each node a view of its query. */
    mica_entity shown[1 + MICA_VARIABLES_MAX];
    uint32_t shown_links; /* a bit for each link that was found */
    mica_view *loops;     /* by node: of the steps that are loops, */
    mica_view *views;     /* and what is shown of it */
} micap_search;

/* NULL if memory is short. */
micap_search *micap_search_create(const micap_pattern *pattern);
void micap_search_free(micap_search *search);

/* Forgets what was found and bound. */
void micap_search_reset(micap_search *search, mica_version since, mica_version version);

/* Finds the next result; false at the end. The first call makes the plan. */
bool micap_search_next(micap_search *search);

#endif
