#include "core/query/pattern_part.h"

#include "core/query/query_join.h"
#include "core/storage/pool_lookup.h"
#include "core/world/world.h"
#include "pool/pool_edges.h"

enum { PART_WORK = 4096 }; /* the least, in rows of a loop: see pattern_plan.c */

/* The edges of a given entity: a relation that is not symmetric has one list of them. */
static bool has_one_list(const micap_pattern *pattern, const micap_pattern_link *link, micap_step_kind kind)
{
    uint32_t known = kind == MICAP_STEP_FORWARD ? link->from : link->to;
    return link->kind == MICAP_LINK_EDGE && link->mode == MICAP_LINK_REQUIRED && pattern->nodes[known].is_fixed &&
           !link->pool->type->type.symmetric;
}

micap_part_kind micap_plan_part_kind(const micap_pattern *pattern, const micap_plan *plan)
{
    micap_plan_step step = plan->steps[plan->driver];
    switch (step.kind) {
    case MICAP_STEP_LOOP:
        return micap_join_driver(pattern->nodes[step.index].query) ? MICAP_PART_POOL : MICAP_PART_CHUNKS;
    case MICAP_STEP_TABLE: return MICAP_PART_TABLE;
    case MICAP_STEP_FORWARD:
    case MICAP_STEP_BACKWARD:
        return has_one_list(pattern, &pattern->links[step.index], step.kind) ? MICAP_PART_EDGES : MICAP_PART_NONE;
    default: return MICAP_PART_NONE;
    }
}

/* The nodes that follow from the entity of the row: those that are given, and those that a link with one result leads to. */
static void find_determined(const micap_pattern *pattern, bool *out)
{
    bool has_more = true;
    for (uint32_t i = 0; i < pattern->node_count; ++i)
        out[i] = !i || pattern->nodes[i].is_fixed;
    while (has_more) {
        has_more = false;
        for (uint32_t i = 0; i < pattern->link_count; ++i) {
            const micap_pattern_link *link = &pattern->links[i];
            bool is_single = link->is_single || link->kind == MICAP_LINK_NEAREST;
            if (is_single && link->mode == MICAP_LINK_REQUIRED && out[link->from] && !out[link->to])
                has_more = out[link->to] = true;
        }
    }
}

bool micap_plan_keeps_apart(const micap_pattern *pattern, const micap_plan *plan)
{
    bool is_determined[MICAP_NODES_MAX];
    micap_plan_step step = plan->steps[plan->driver];
    find_determined(pattern, is_determined);
    if (step.kind == MICAP_STEP_LOOP)
        return is_determined[step.index];
    const micap_pattern_link *link = &pattern->links[step.index];
    return micap_plan_part_kind(pattern, plan) != MICAP_PART_NONE && is_determined[link->from] &&
           is_determined[link->to];
}

/* The first edge of the entity that the driver starts from. */
static uint32_t first_edge_of(const micap_pattern *pattern, micap_plan_step step)
{
    const micap_pattern_link *link = &pattern->links[step.index];
    return step.kind == MICAP_STEP_FORWARD ? micap_edge_first_from(link->pool, pattern->nodes[link->from].fixed)
                                           : micap_edge_first_to(link->pool, pattern->nodes[link->to].fixed);
}

static uint64_t rows_of(const micap_pattern *pattern, micap_plan_step step, micap_part_kind kind)
{
    const micap_pattern_link *link = &pattern->links[step.index];
    if (kind == MICAP_PART_CHUNKS)
        return micap_pattern_node_rows(pattern, step.index);
    if (kind == MICAP_PART_TABLE)
        return micap_edge_limit(link->pool);
    if (kind == MICAP_PART_EDGES) {
        uint32_t first = first_edge_of(pattern, step);
        const micap_edges_elsewhere *elsewhere = micap_elsewhere(link->pool);
        mica_entity end = pattern->nodes[link->to].fixed;
        if (MICAP_UNLIKELY(elsewhere))
            return step.kind == MICAP_STEP_FORWARD ? 1 : elsewhere->count_sources(link->pool->world, end);
        return first == MICAP_ROW_NONE           ? 0
               : step.kind == MICAP_STEP_FORWARD ? link->pool->links[first].source_count
                                                 : link->pool->links[first].target_count;
    }
    mica_view view = {.world = pattern->query->world};
    micap_join_begin(&view, pattern->nodes[step.index].query);
    return view.private_.end;
}

/* How many rows of the driver a part has: no fewer than are worth a job, and so many that there are not too many parts. */
static uint64_t part_rows(const micap_plan *plan, uint64_t asked, uint64_t rows)
{
    uint64_t least = (rows + MICAP_PARTS_MAX - 1) / MICAP_PARTS_MAX, wanted = asked;
    double work = rows ? plan->cost / (double)rows : 1;
    if (!asked)
        wanted = work < 1 ? PART_WORK : work < PART_WORK ? (uint64_t)(PART_WORK / work) : 1;
    return wanted > least ? wanted : least;
}

static void add_place(micap_pattern_division *division, micap_part_place place)
{
    division->places[division->count++] = place;
}

static void divide_chunks(const mica_query *query, micap_pattern_division *division, uint64_t rows)
{
    uint64_t seen = 0, next = 0;
    for (uint32_t match = 0; match < query->match_count; ++match) {
        const micap_archetype *archetype = query->archetypes[match];
        for (uint32_t i = 0; i < archetype->chunk_count; ++i) {
            uint32_t count = archetype->chunks[i]->count;
            for (; next < seen + count; next += rows)
                add_place(division, (micap_part_place){match, i, (uint32_t)(next - seen)});
            seen += count;
        }
    }
    division->places[division->count] = (micap_part_place){.match = query->match_count};
}

static void divide_rows(micap_pattern_division *division, uint64_t rows)
{
    for (uint64_t row = 0; row < division->row_count; row += rows)
        add_place(division, (micap_part_place){.row = (uint32_t)row});
    division->places[division->count] = (micap_part_place){.row = (uint32_t)division->row_count};
}

static void divide_edges(const micap_pattern *pattern, micap_plan_step step, micap_pattern_division *division,
                         uint64_t rows)
{
    const mica_pool *pool = pattern->links[step.index].pool;
    uint32_t row = first_edge_of(pattern, step);
    for (uint64_t at = 0; row != MICAP_ROW_NONE; ++at) {
        if (at % rows == 0)
            add_place(division, (micap_part_place){.row = row});
        row = step.kind == MICAP_STEP_FORWARD ? micap_edge_next_from(pool, row) : micap_edge_next_to(pool, row);
    }
    division->places[division->count] = (micap_part_place){.row = MICAP_ROW_NONE};
}

void micap_pattern_divide(const mica_query *query, micap_pattern_division *division)
{
    const micap_pattern *pattern = query->pattern;
    micap_plan plan;
    micap_pattern_plan(pattern, 0, division->keeps_apart, &plan);
    micap_plan_step step = plan.steps[plan.driver];
    micap_part_kind kind = micap_plan_part_kind(pattern, &plan);
    bool is_listed = division->has_lists && step.kind == MICAP_STEP_LOOP && pattern->nodes[step.index].has_conditions;
    division->count = division->row_count = 1;
    if (kind == MICAP_PART_NONE || is_listed || (division->keeps_apart && !micap_plan_keeps_apart(pattern, &plan)))
        return;
    division->row_count = rows_of(pattern, step, kind);
    uint64_t rows = part_rows(&plan, division->rows, division->row_count);
    if (division->row_count <= rows)
        return;
    division->count = 0;
    if (kind == MICAP_PART_CHUNKS)
        divide_chunks(pattern->nodes[step.index].query, division, rows);
    else if (kind == MICAP_PART_EDGES)
        divide_edges(pattern, step, division, rows);
    else
        divide_rows(division, rows);
}
