#include "core/query/pattern_plan.h"

#include "core/query/pattern_part.h"
#include "pool/pool_edges.h"

/* Estimates in units of about one row of a loop. Edges of a target are spread over the table, and so are the entities of a node whose
 * terms are checked. */
#define EDGE_COST 2.0
#define BACKWARD_COST 4.0
#define ELSEWHERE_COST 3.0 /* of an edge that is no row of a table, but is visited like one */
#define CHECK_COST 4.0
#define TEST_COST 2.0
#define CONDITION_SHARE 0.1 /* of the rows that a condition holds for; the same with and without an index */
#define CLOSURE_FACTOR 8.0 /* reached entities for each edge */
#define APART_FACTOR 2.0   /* what several threads may cost */

enum { DEGREE_SAMPLES = 16 };

uint64_t micap_pattern_node_rows(const micap_pattern *pattern, uint32_t at)
{
    const micap_pattern_node *node = &pattern->nodes[at];
    const mica_query *query = node->query;
    uint64_t rows = 0;
    if (node->is_fixed)
        return 1;
    if (!query)
        return UINT32_MAX;
    for (uint32_t i = 0; i < query->match_count; ++i)
        rows += query->archetypes[i]->row_count;
    for (uint32_t i = 0; i < query->join_count; ++i)
        if (micap_access_demands(query->joins[i].access) && query->joins[i].pool->count < rows)
            rows = query->joins[i].pool->count;
    return rows;
}

bool micap_plan_step_continues(const micap_pattern *pattern, const micap_plan_step *step)
{
    if (step->kind == MICAP_STEP_LOOP || step->kind == MICAP_STEP_CASCADE || step->kind == MICAP_STEP_TABLE)
        return true;
    if (step->kind != MICAP_STEP_FORWARD && step->kind != MICAP_STEP_BACKWARD)
        return false;
    const micap_pattern_link *link = &pattern->links[step->index];
    return link->mode != MICAP_LINK_NEGATED && !link->is_once && link->kind <= MICAP_LINK_CLOSURE &&
           !(link->is_single && step->kind == MICAP_STEP_FORWARD);
}

/* A plan that is being made. */
typedef struct planner {
    const micap_pattern *pattern;
    double node_rows[MICAP_NODES_MAX];
    bool is_bound[MICAP_NODES_MAX];
    bool is_done[MICA_TERMS_MAX]; /* by link */
    double rows;
    micap_plan *plan;
} planner;

static void add_step(planner *planner, micap_step_kind kind, uint32_t index, double factor, double cost)
{
    planner->plan->cost += planner->rows * cost;
    planner->rows *= factor;
    planner->plan->steps[planner->plan->count++] = (micap_plan_step){kind, (uint8_t)index, planner->rows};
}

static double at_least_one(double value)
{
    return value < 1 ? 1 : value;
}

/* How many edges the source of an edge has, or, backward, its target, on average over some of them. */
static double sampled_degree(const mica_pool *pool, bool is_forward)
{
    double sum = 0, count = 0;
    const micap_edges_elsewhere *elsewhere = micap_elsewhere(pool);
    if (MICAP_UNLIKELY(elsewhere)) {
        double targets = elsewhere->count_targets(pool->world);
        return is_forward || !targets ? 1 : elsewhere->count(pool->world) / targets;
    }
    for (uint64_t row = 0; row < pool->row_limit; row += pool->row_limit / DEGREE_SAMPLES + 1, ++count) {
        uint32_t first = is_forward ? micap_pool_row(pool, pool->owners[row])
                                    : micap_edges_first(pool, micap_edge_target(pool, (uint32_t)row));
        if (first != MICAP_ROW_NONE)
            sum += is_forward ? pool->links[first].source_count : pool->links[first].target_count;
    }
    return sum / at_least_one(count);
}

/* How many nodes are found from a bound one. */
static double fan_of(const micap_pattern_link *link, micap_step_kind kind)
{
    const mica_pool *pool = link->pool;
    double fan = sampled_degree(pool, kind == MICAP_STEP_FORWARD);
    if (pool->type->type.symmetric)
        fan += sampled_degree(pool, kind != MICAP_STEP_FORWARD);
    return link->kind == MICAP_LINK_CLOSURE ? fan * CLOSURE_FACTOR : fan;
}

micap_step_kind micap_pattern_step_of(const micap_pattern_link *link, const bool *is_bound)
{
    bool from = is_bound[link->from], to = is_bound[link->to];
    if (link->kind == MICAP_LINK_NEAREST || link->kind == MICAP_LINK_SAME)
        return from ? MICAP_STEP_FORWARD : MICAP_STEP_NONE;
    if (link->is_once)
        return link->is_backward_only ? (to ? MICAP_STEP_BACKWARD : MICAP_STEP_NONE)
               : from                 ? MICAP_STEP_FORWARD
                                      : MICAP_STEP_NONE;
    if (from || to)
        return from && to ? MICAP_STEP_TEST : from ? MICAP_STEP_FORWARD : MICAP_STEP_BACKWARD;
    return MICAP_STEP_NONE;
}

static double selectivity(const planner *planner, const micap_pattern_link *link)
{
    double pairs = at_least_one(planner->node_rows[link->from]) * at_least_one(planner->node_rows[link->to]);
    double share = micap_edge_count(link->pool) / pairs;
    return share < 1 ? share : 1;
}

/* Adds a link that can be solved. */
static void add_link(planner *planner, uint32_t index, micap_step_kind kind)
{
    const micap_pattern_link *link = &planner->pattern->links[index];
    bool is_test = kind == MICAP_STEP_TEST || link->is_once || link->mode == MICAP_LINK_NEGATED;
    double fan = is_test ? 1 : link->kind == MICAP_LINK_NEAREST ? 1 : fan_of(link, kind);
    if (kind == MICAP_STEP_TEST && link->mode == MICAP_LINK_REQUIRED)
        fan = selectivity(planner, link);
    if (link->mode == MICAP_LINK_OPTIONAL)
        fan = at_least_one(fan);
    bool is_backward = kind == MICAP_STEP_BACKWARD;
    double edge_cost = is_backward ? BACKWARD_COST : EDGE_COST;
    if (!planner->pattern->nodes[is_backward ? link->from : link->to].is_trivial)
        edge_cost += CHECK_COST;
    add_step(planner, kind, index, fan, is_test ? TEST_COST : at_least_one(fan) * edge_cost);
    planner->is_bound[link->from] = planner->is_bound[link->to] = true;
    planner->is_done[index] = true;
}

/* Tests that can be made now; they only leave less to do. */
static void add_tests(planner *planner)
{
    for (uint32_t i = 0; i < planner->pattern->link_count; ++i) {
        const micap_pattern_link *link = &planner->pattern->links[i];
        if (planner->is_done[i] || link->mode == MICAP_LINK_OPTIONAL)
            continue;
        micap_step_kind kind = micap_pattern_step_of(link, planner->is_bound);
        if (kind == MICAP_STEP_TEST || (kind != MICAP_STEP_NONE && link->is_once))
            add_link(planner, i, kind);
    }
}

static bool is_open(const planner *planner, uint32_t node)
{
    return planner->pattern->nodes[node].is_required && planner->pattern->nodes[node].is_used &&
           !planner->pattern->nodes[node].is_derived && !planner->is_bound[node];
}

static void add_loop(planner *planner, uint32_t node)
{
    bool is_cascade = !node && planner->pattern->cascade;
    double share = planner->pattern->nodes[node].has_conditions ? CONDITION_SHARE : 1;
    add_step(planner, is_cascade ? MICAP_STEP_CASCADE : MICAP_STEP_LOOP, node,
             share * at_least_one(planner->node_rows[node]), at_least_one(planner->node_rows[node]));
    planner->is_bound[node] = true;
    planner->plan->is_looped[node] = !is_cascade;
}

static void add_table(planner *planner, uint32_t index)
{
    const micap_pattern_link *link = &planner->pattern->links[index];
    double edges = micap_edge_count(link->pool) * (link->pool->type->type.symmetric ? 2.0 : 1.0);
    double edge_cost = micap_elsewhere(link->pool) ? ELSEWHERE_COST : EDGE_COST;
    bool is_checked = !planner->pattern->nodes[link->from].is_trivial || !planner->pattern->nodes[link->to].is_trivial;
    add_step(planner, MICAP_STEP_TABLE, index, edges,
             at_least_one(edges) * (edge_cost + (is_checked ? CHECK_COST : 0)));
    planner->is_bound[link->from] = planner->is_bound[link->to] = true;
    planner->is_done[index] = true;
}

static bool can_be_table(const planner *planner, uint32_t index)
{
    const micap_pattern_link *link = &planner->pattern->links[index];
    return !planner->is_done[index] && link->kind == MICAP_LINK_EDGE && link->mode == MICAP_LINK_REQUIRED &&
           !link->is_once && !planner->is_bound[link->from] && !planner->is_bound[link->to] && link->from != link->to;
}

/* Adds the cheapest step that binds a node; false if all are bound. */
static bool add_cheapest(planner *planner)
{
    const micap_pattern *pattern = planner->pattern;
    double least = 0;
    uint32_t best = 0;
    micap_step_kind best_kind = MICAP_STEP_NONE;
    for (uint32_t i = 0; i < pattern->link_count; ++i) {
        const micap_pattern_link *link = &pattern->links[i];
        if (planner->is_done[i] || link->mode != MICAP_LINK_REQUIRED)
            continue;
        micap_step_kind kind = micap_pattern_step_of(link, planner->is_bound);
        if (kind == MICAP_STEP_NONE)
            continue;
        double cost = link->kind == MICAP_LINK_NEAREST ? 1 : fan_of(link, kind);
        if (best_kind == MICAP_STEP_NONE || cost < least)
            least = cost, best = i, best_kind = kind;
    }
    for (uint32_t i = 0; i < pattern->node_count; ++i)
        if (is_open(planner, i) && pattern->nodes[i].query &&
            (best_kind == MICAP_STEP_NONE || planner->node_rows[i] < least))
            least = planner->node_rows[i], best = i, best_kind = MICAP_STEP_LOOP;
    if (best_kind == MICAP_STEP_NONE)
        return false;
    if (best_kind == MICAP_STEP_LOOP)
        add_loop(planner, best);
    else
        add_link(planner, best, best_kind);
    return true;
}

/* What comes when all required nodes are bound. */
static void add_rest(planner *planner)
{
    const micap_pattern *pattern = planner->pattern;
    for (uint32_t group = 1; group <= pattern->group_count; ++group)
        add_step(planner, MICAP_STEP_GROUP, group, 1, TEST_COST);
    for (uint32_t i = 0; i < pattern->link_count; ++i)
        if (pattern->links[i].mode == MICAP_LINK_OPTIONAL && !pattern->links[i].group)
            add_link(planner, i, micap_pattern_step_of(&pattern->links[i], planner->is_bound));
}

/* A plan with a given start: a loop over node `start`, or, after the nodes, over the edges of a link. */
static void plan_from(planner planner, uint32_t start, micap_plan *out)
{
    const micap_pattern *pattern = planner.pattern;
    *out = *planner.plan;
    planner.plan = out;
    if (start < pattern->node_count)
        add_loop(&planner, start);
    else if (start < pattern->node_count + pattern->link_count)
        add_table(&planner, start - pattern->node_count);
    do
        add_tests(&planner);
    while (add_cheapest(&planner));
    add_rest(&planner);
    const micap_plan_step *last = &out->steps[out->count - 1];
    while (out->driver + 1u < out->count && !micap_plan_step_continues(pattern, &out->steps[out->driver]))
        ++out->driver;
    out->shows_views = last->kind == MICAP_STEP_LOOP && !last->index && !pattern->nodes[0].has_conditions;
}

/* Checks of what is bound before the first step. */
static void begin_plan(planner *planner, uint32_t bound_variables)
{
    const micap_pattern *pattern = planner->pattern;
    for (uint32_t i = 0; i < pattern->node_count; ++i) {
        const micap_pattern_node *node = &pattern->nodes[i];
        bool is_given = i <= pattern->variable_count && bound_variables >> i & 1;
        planner->node_rows[i] = is_given ? 1 : (double)micap_pattern_node_rows(pattern, i);
        planner->is_bound[i] = is_given || node->is_fixed;
        if (planner->is_bound[i] && node->query)
            add_step(planner, MICAP_STEP_CHECK, i, 1, 1);
    }
}

/* The plans with the lowest estimates. */
typedef struct choice {
    micap_plan *best; /* of all */
    micap_plan apart; /* of those whose driver keeps entities of the row apart */
    bool has_best;
    bool has_apart;
    bool keeps_apart;
} choice;

static void offer(const micap_pattern *pattern, const micap_plan *plan, choice *choice)
{
    if (!choice->has_best || plan->cost < choice->best->cost)
        *choice->best = *plan;
    choice->has_best = true;
    if (!choice->keeps_apart || (choice->has_apart && plan->cost >= choice->apart.cost) ||
        !micap_plan_keeps_apart(pattern, plan))
        return;
    choice->apart = *plan;
    choice->has_apart = true;
}

void micap_pattern_plan(const micap_pattern *pattern, uint32_t bound_variables, bool keeps_apart, micap_plan *out)
{
    micap_plan begun = {0}, tried;
    planner planner = {.pattern = pattern, .rows = 1, .plan = &begun};
    choice choice = {.best = out, .keeps_apart = keeps_apart};
    begin_plan(&planner, bound_variables);
    if (pattern->cascade &&
        !planner.is_bound[0]) { /* a loop outside of it would visit descendants before their ancestors */
        plan_from(planner, 0, out);
        return;
    }
    uint32_t start_count = pattern->node_count + pattern->link_count;
    for (uint32_t start = 0; start < start_count; ++start) {
        bool is_start = start < pattern->node_count ? is_open(&planner, start) && pattern->nodes[start].query
                                                    : can_be_table(&planner, start - pattern->node_count);
        if (!is_start)
            continue;
        plan_from(planner, start, &tried);
        offer(pattern, &tried, &choice);
    }
    plan_from(planner, UINT32_MAX, &tried); /* from what is bound already, or from the smallest set */
    offer(pattern, &tried, &choice);
    if (choice.has_apart && choice.apart.cost <= APART_FACTOR * out->cost)
        *out = choice.apart;
}
