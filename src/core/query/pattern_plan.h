/* The plan of a pattern: the steps that find its results. The planner tries every start (a loop over the entities of a node, or over the edges
 * of a link), adds the cheapest step until every node is bound, and takes the plan with the lowest estimate. Tests come as early as they
 * can. Estimates use the number of rows of archetypes and pools, so that the plan depends on nothing but the content of the world. */
#ifndef MICAP_CORE_QUERY_PATTERN_PLAN_H
#define MICAP_CORE_QUERY_PATTERN_PLAN_H

#include "core/query/pattern.h"

enum { MICAP_STEPS_MAX = MICAP_NODES_MAX + 2 * MICA_TERMS_MAX };

typedef enum micap_step_kind {
    MICAP_STEP_CHECK,    /* a node that is bound has what its terms ask for */
    MICAP_STEP_LOOP,     /* over the entities that match the terms of a node */
    MICAP_STEP_CASCADE,  /* the same for this entity, after its ancestors */
    MICAP_STEP_TABLE,    /* over all edges of a link */
    MICAP_STEP_FORWARD,  /* from the source of a link to its targets, or to the nearest ancestor */
    MICAP_STEP_BACKWARD, /* from the target of a link to its sources */
    MICAP_STEP_TEST,     /* whether a link is there: both nodes are bound */
    MICAP_STEP_GROUP,    /* whether one link of a group is there */
    MICAP_STEP_NONE,
} micap_step_kind;

typedef struct micap_plan_step {
    micap_step_kind kind;
    uint8_t index; /* of the node, link or group */
    double rows;   /* how many results of the steps up to this one are expected */
} micap_plan_step;

typedef struct micap_plan {
    micap_plan_step steps[MICAP_STEPS_MAX];
    uint32_t count;
    uint8_t driver; /* the first step that can have several results; if there is none, some step that has one */
    double cost;
    bool is_looped[MICAP_NODES_MAX]; /* the node is bound by a loop over its query */
    bool shows_views;                /* the last step loops over this entity: whole views are results */
} micap_plan;

/* Plans with a bit for each variable that is bound already. With `keeps_apart` a plan may cost up to twice as much if rows of its driver
 * share no entity of the row: see pattern_part.h. */
void micap_pattern_plan(const micap_pattern *pattern, uint32_t bound_variables, bool keeps_apart, micap_plan *out);

/* Whether a step can have more than one result. */
bool micap_plan_step_continues(const micap_pattern *pattern, const micap_plan_step *step);

/* An upper bound of the entities that match the terms of a node. */
uint64_t micap_pattern_node_rows(const micap_pattern *pattern, uint32_t node);

/* How a link is solved when these nodes are bound; MICAP_STEP_NONE: not yet. */
micap_step_kind micap_pattern_step_of(const micap_pattern_link *link, const bool *is_bound);

#endif
