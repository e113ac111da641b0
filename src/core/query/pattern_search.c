#include "core/query/pattern_search.h"

#include "base/assert.h"
#include "core/query/condition.h"
#include "core/query/query_filter.h"
#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/storage/rows.h"
#include "core/world/world.h"

micap_search *micap_search_create(const micap_pattern *pattern)
{
    micap_memory *memory = &pattern->query->world->memory;
    micap_search *search = micap_allocate_zeroed(memory, sizeof *search, MICAP_ARRAY_ALIGNMENT);
    if (!search)
        return NULL;
    search->pattern = pattern;
    search->world = pattern->query->world;
    search->loops =
        micap_allocate_zeroed(memory, 2 * (size_t)pattern->node_count * sizeof *search->loops, MICAP_ARRAY_ALIGNMENT);
    if (!search->loops) {
        micap_search_free(search);
        return NULL;
    }
    search->views = search->loops + pattern->node_count;
    return search;
}

void micap_search_free(micap_search *search)
{
    micap_memory *memory = &search->pattern->query->world->memory;
    for (uint32_t i = 0; i < search->pattern->link_count; ++i)
        micap_entity_set_free(memory, &search->sets[i]);
    for (uint32_t i = 0; i < search->pattern->node_count; ++i)
        MICAP_RELEASE_ARRAY(memory, search->lists[i].places, search->lists[i].capacity);
    MICAP_RELEASE_ARRAY(memory, search->order, search->order_capacity);
    MICAP_RELEASE_ARRAY(memory, search->levels, search->level_capacity);
    MICAP_RELEASE_ARRAY(memory, search->level_starts, search->level_start_capacity);
    micap_release(memory, search->loops, 2 * (size_t)search->pattern->node_count * sizeof *search->loops,
                  MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, search, sizeof *search, MICAP_ARRAY_ALIGNMENT);
}

void micap_search_reset(micap_search *search, mica_version since, mica_version version)
{
    search->bound = 0;
    search->is_started = search->is_ended = search->is_short = search->is_cut = search->has_pending = false;
    search->has_part = false;
    uint64_t steps_max = search->pattern->steps_max;
    search->steps_left = steps_max && steps_max < INT64_MAX ? (int64_t)steps_max : INT64_MAX;
    search->since = since;
    search->version = version;
    memset(search->entities, 0, search->pattern->node_count * sizeof *search->entities);
    memset(search->fits, 0, search->pattern->node_count * sizeof *search->fits);
    memset(search->passes, 0, search->pattern->node_count * sizeof *search->passes);
    memset(search->set_keys, 0, search->pattern->link_count * sizeof *search->set_keys);
    memset(search->shown, 0, sizeof search->shown);
    for (uint32_t i = 0; i < search->pattern->link_count; ++i)
        search->edge_rows[i] = MICAP_ROW_NONE;
    for (uint32_t i = 0; i < search->pattern->node_count; ++i)
        search->lists[i].state = MICAP_LIST_UNKNOWN;
}

/* Whether the values of an entity that has the components are those that are asked for. */
static bool meets(const micap_search *search, uint32_t at, mica_entity entity)
{
    const micap_pattern *pattern = search->pattern;
    for (uint32_t i = 0; i < pattern->condition_count; ++i)
        if (pattern->conditions[i].node == at && !micap_condition_holds(&pattern->conditions[i], search->world, entity))
            return false;
    return true;
}

/* The general path of accepts. */
static MICAP_NOINLINE bool accepts_checked(micap_search *search, uint32_t at, mica_entity entity)
{
    const mica_query *query = search->pattern->nodes[at].query;
    search->entities[at] = entity;
    if (!query)
        return true;
    micap_row spot = micap_locate(query->world, entity);
    if (!micap_is_row(spot))
        return false;
    if (MICAP_UNLIKELY(query->join_count))
        return micap_join_matches(query, entity, search->since) && meets(search, at, entity);
    const micap_archetype *archetype = spot.chunk->archetype;
    bool is_sure = search->pattern->nodes[at].is_trivial && !query->world->archetypes.hidden_count;
    if (MICAP_UNLIKELY(!is_sure && search->fits[at] != archetype)) {
        if (!micap_query_matches_archetype(query, archetype))
            return false;
        search->fits[at] = archetype;
    }
    if (query->filter_count && !micap_query_row_passes(query, spot.chunk, spot.row, search->since))
        return false;
    if (query->filter_count || search->pattern->nodes[at].has_conditions)
        return meets(search, at, entity);
    search->passes[at] = archetype;
    return true;
}

/* Binds a node, if the entity has what the terms about it ask for. */
static inline bool accepts(micap_search *search, uint32_t at, mica_entity entity)
{
    micap_row spot;
    search->entities[at] = entity;
    return (micap_locate_row(search->world, entity, &spot) && spot.chunk->archetype == search->passes[at]) ||
           accepts_checked(search, at, entity);
}

static bool is_walked(const micap_pattern_link *link)
{
    return link->kind == MICAP_LINK_CLOSURE;
}

static mica_entity parent_of(const mica_pool *pool, mica_entity entity)
{
    uint32_t row = micap_edge_first_from(pool, entity);
    return row == MICAP_ROW_NONE ? mica_nil() : micap_edge_target_at(pool, row);
}

/* What is reached along a link; NULL if memory is short. It is the same as long as the search starts at the same entity. */
static const micap_entity_set *reach(micap_search *search, uint32_t index, mica_entity from, bool is_backward)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    micap_entity_set *set = &search->sets[index];
    if (mica_same(search->set_keys[index], from))
        return set;
    search->set_keys[index] = from;
    if (micap_entity_set_reach(set, link->pool, from, is_backward)) {
        search->steps_left -= set->count;
        return set;
    }
    search->set_keys[index] = mica_nil();
    search->is_short = true;
    return NULL;
}

/* Whether edges lead from one node to the other. Sets the row of an edge. */
static bool is_linked(micap_search *search, uint32_t index)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    mica_entity from = search->entities[link->from], to = search->entities[link->to];
    if (mica_is_nil(from) || mica_is_nil(to))
        return false;
    if (is_walked(link)) {
        const micap_entity_set *set = reach(search, index, from, false);
        bool found = set && ((link->or_self && mica_same(from, to)) || micap_entity_set_has(set, to));
        search->edge_rows[index] = found ? 0 : MICAP_ROW_NONE;
        return found;
    }
    uint32_t row = micap_edge_search(link->pool, from, to);
    if (row == MICAP_ROW_NONE && link->pool->type->type.symmetric)
        row = micap_edges_find(link->pool, to, from);
    search->edge_rows[index] = row;
    return row != MICAP_ROW_NONE;
}

/* The first row of a list of edges: those that lead from the entity, or those to it. */
static uint32_t first_edge(const mica_pool *pool, mica_entity entity, bool to_targets)
{
    if (mica_is_nil(entity))
        return MICAP_ROW_NONE;
    return to_targets ? micap_edge_first_from(pool, entity) : micap_edge_first_to(pool, entity);
}

/* The next edge of the node that is bound whose other end is accepted. A symmetric relation has two lists. */
static bool next_edge(micap_search *search, micap_search_cursor *cursor, uint32_t index, bool is_forward)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    const mica_pool *pool = link->pool;
    uint32_t known = is_forward ? link->from : link->to, sought = is_forward ? link->to : link->from;
    for (;;) {
        bool to_targets = is_forward != (cursor->list != 0);
        while (cursor->row != cursor->end) {
            uint32_t row = cursor->row;
            mica_entity found = to_targets ? micap_edge_target_at(pool, row) : micap_edge_source_at(pool, row);
            cursor->row = to_targets ? micap_edge_next_from(pool, row) : micap_edge_next_to(pool, row);
            search->edge_rows[index] = row;
            --search->steps_left;
            if (accepts(search, sought, found))
                return true;
        }
        if (cursor->list || !pool->type->type.symmetric)
            return false;
        cursor->list = 1;
        cursor->row = first_edge(pool, search->entities[known], !is_forward);
    }
}

/* The next entity of a closure: the one it starts from, if that counts, then what is reached. */
static bool next_reached(micap_search *search, micap_search_cursor *cursor, uint32_t index, bool is_forward)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    uint32_t known = is_forward ? link->from : link->to, sought = is_forward ? link->to : link->from;
    mica_entity from = search->entities[known];
    uint32_t selves = link->or_self;
    while (!mica_is_nil(from)) {
        uint32_t at = cursor->row++;
        --search->steps_left;
        const micap_entity_set *set = at < selves ? NULL : reach(search, index, from, !is_forward);
        if (at >= selves && (!set || at - selves >= set->count))
            break;
        if (accepts(search, sought, set ? set->entities[at - selves] : from))
            return true;
    }
    return false;
}

static bool find_nearest(micap_search *search, const micap_pattern_link *link)
{
    mica_entity at = search->entities[link->from];
    if (!link->or_self)
        at = parent_of(link->pool, at);
    uint32_t steps_max = micap_edge_count(link->pool);
    for (uint32_t steps = 0; !mica_is_nil(at) && steps <= steps_max; ++steps) {
        --search->steps_left;
        if (accepts(search, link->to, at))
            return true;
        at = parent_of(link->pool, at);
    }
    return false;
}

/* Whether a step visits a part of what it visits otherwise. */
static inline bool is_part(const micap_search *search, const micap_search_cursor *cursor)
{
    return search->has_part && cursor == &search->cursors[search->plan.driver];
}

/* Places a cursor before the first result of a link. */
static void begin_link(micap_search *search, micap_search_cursor *cursor, uint32_t index, bool is_forward)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    *cursor = (micap_search_cursor){.end = MICAP_ROW_NONE};
    search->edge_rows[index] = MICAP_ROW_NONE;
    if (MICAP_UNLIKELY(is_part(search, cursor))) {
        cursor->row = search->part.begin.row;
        cursor->end = search->part.end.row;
    } else if (link->kind == MICAP_LINK_EDGE)
        cursor->row = first_edge(link->pool, search->entities[is_forward ? link->from : link->to], is_forward);
}

static bool next_of_link(micap_search *search, micap_search_cursor *cursor, uint32_t index, bool is_forward)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    if (link->kind == MICAP_LINK_EDGE)
        return next_edge(search, cursor, index, is_forward);
    search->edge_rows[index] = 0; /* there is none, but something else */
    if (link->kind == MICAP_LINK_CLOSURE)
        return next_reached(search, cursor, index, is_forward);
    cursor->is_exhausted = true;
    return link->kind == MICAP_LINK_NEAREST ? find_nearest(search, link)
                                            : accepts(search, link->to, search->entities[link->from]);
}

/* A node that an optional link did not find. */
static void unbind(micap_search *search, uint32_t index, micap_step_kind kind)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    search->edge_rows[index] = MICAP_ROW_NONE;
    if (kind != MICAP_STEP_TEST)
        search->entities[kind == MICAP_STEP_FORWARD ? link->to : link->from] = mica_nil();
}

/* Whether there is any result of a link, which is not followed further. */
static bool is_found(micap_search *search, micap_search_cursor *cursor, uint32_t index, micap_step_kind kind)
{
    if (kind == MICAP_STEP_TEST)
        return is_linked(search, index);
    begin_link(search, cursor, index, kind == MICAP_STEP_FORWARD);
    return next_of_link(search, cursor, index, kind == MICAP_STEP_FORWARD);
}

/* The next result of a link that is not exhausted. */
static bool next_link(micap_search *search, micap_search_cursor *cursor, uint32_t index, micap_step_kind kind)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    bool found = next_of_link(search, cursor, index, kind == MICAP_STEP_FORWARD);
    cursor->is_exhausted |= !found || link->is_once;
    if (!found && !cursor->has_found && link->mode == MICAP_LINK_OPTIONAL) {
        unbind(search, index, kind);
        return true;
    }
    cursor->has_found |= found;
    return found;
}

/* The first result of a step along a link. */
static bool enter_link(micap_search *search, micap_search_cursor *cursor, uint32_t index, micap_step_kind kind)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    if (link->mode != MICAP_LINK_NEGATED && kind != MICAP_STEP_TEST) {
        begin_link(search, cursor, index, kind == MICAP_STEP_FORWARD);
        return next_link(search, cursor, index, kind);
    }
    bool found = is_found(search, cursor, index, kind);
    if (link->mode == MICAP_LINK_NEGATED)
        return !found && !search->is_short;
    if (!found)
        search->edge_rows[index] = MICAP_ROW_NONE;
    return found || link->mode == MICAP_LINK_OPTIONAL;
}

/* All members are looked at: each of them says whether it is there. */
static bool enter_group(micap_search *search, micap_search_cursor *cursor, uint32_t group)
{
    const micap_pattern *pattern = search->pattern;
    bool is_bound[MICAP_NODES_MAX], any = false;
    for (uint32_t i = 0; i < pattern->node_count; ++i)
        is_bound[i] = pattern->nodes[i].is_required;
    for (uint32_t i = 0; i < pattern->link_count; ++i) {
        if (pattern->links[i].group != group)
            continue;
        micap_step_kind kind = micap_pattern_step_of(&pattern->links[i], is_bound);
        bool found = is_found(search, cursor, i, kind);
        if (!found)
            unbind(search, i, kind);
        any |= found;
    }
    return any;
}

static void begin_table(const micap_search *search, micap_search_cursor *cursor, uint32_t index)
{
    bool has_part = is_part(search, cursor);
    cursor->row = has_part ? search->part.begin.row : 0;
    cursor->end = has_part ? search->part.end.row : micap_edge_limit(search->pattern->links[index].pool);
}

/* The next edge of a table in use; of a symmetric relation, each in both directions. */
static bool next_in_table(micap_search *search, micap_search_cursor *cursor, uint32_t index)
{
    const micap_pattern_link *link = &search->pattern->links[index];
    const mica_pool *pool = link->pool;
    uint8_t directions = pool->type->type.symmetric ? 2 : 1;
    for (; (cursor->row = micap_edge_row_from(pool, cursor->row)) < cursor->end; cursor->list = 0, ++cursor->row) {
        mica_entity source = micap_edge_source_at(pool, cursor->row);
        mica_entity target = micap_edge_target_at(pool, cursor->row);
        search->edge_rows[index] = cursor->row;
        --search->steps_left;
        while (cursor->list < directions) {
            bool is_turned = cursor->list++ != 0;
            if (accepts(search, link->from, is_turned ? target : source) &&
                accepts(search, link->to, is_turned ? source : target))
                return true;
        }
    }
    return false;
}

/* The next entity that an index found. */
static bool next_in_list(micap_search *search, micap_search_cursor *cursor, uint32_t node)
{
    const micap_node_list *list = &search->lists[node];
    while (++cursor->row < list->count) {
        --search->steps_left;
        if (accepts(search, node, list->places[cursor->row].entity))
            return true;
    }
    return false;
}

/* The next run of rows of chunks in a part, which begins after it then. */
static bool next_in_part(micap_search *search, mica_view *view)
{
    mica_query *query = view->private_.query;
    micap_part_place *at = &search->part.begin, end = search->part.end;
    for (; at->match < query->match_count; ++at->match, at->chunk_index = at->row = 0) {
        const micap_archetype *archetype = query->archetypes[at->match];
        view->private_.match = at->match;
        for (; at->chunk_index < archetype->chunk_count; ++at->chunk_index, at->row = 0) {
            micap_chunk *chunk = archetype->chunks[at->chunk_index];
            bool is_last = at->match == end.match && at->chunk_index == end.chunk_index;
            uint32_t stop = is_last ? end.row : chunk->count;
            if (micap_view_next_rows(view, query, chunk, &at->row, stop))
                return true;
            if (is_last)
                return false;
        }
    }
    return false;
}

static bool next_view(micap_search *search, const micap_search_cursor *cursor, mica_view *view)
{
    bool is_in_chunks = !view->private_.driver && is_part(search, cursor);
    return is_in_chunks ? next_in_part(search, view) : mica_view_next(view);
}

static bool next_in_loop(micap_search *search, micap_search_cursor *cursor, uint32_t node)
{
    mica_view *view = &search->loops[node];
    if (search->lists[node].state == MICAP_LIST_FILLED)
        return next_in_list(search, cursor, node);
    do {
        if (++cursor->row >= view->count) {
            if (!next_view(search, cursor, view))
                return false;
            cursor->row = 0;
        }
        search->entities[node] = view->entities[cursor->row];
        search->steps_left -= search->pattern->nodes[node].has_conditions;
    } while (search->pattern->nodes[node].has_conditions && !meets(search, node, search->entities[node]));
    return true;
}

/* What a loop over the terms of a node looks at besides the rows that it shows: archetypes, and rows that it leaves out. */
static uint64_t steps_of_loop(const mica_query *query)
{
    uint64_t steps = query->match_count;
    for (uint32_t i = 0; query->filter_count && i < query->match_count; ++i)
        steps += query->archetypes[i]->row_count;
    for (uint32_t i = 0; i < query->join_count; ++i)
        steps += query->joins[i].pool->count;
    return steps;
}

/* Rows of a pool have places of their own; those of chunks are found by next_in_part. */
static void restrict_loop(micap_search *search, uint32_t node)
{
    mica_view *view = &search->loops[node];
    if (view->private_.driver)
        micap_join_restart(view, search->part.begin.row, search->part.end.row);
    else
        micap_view_init(view, search->pattern->nodes[node].query, search->since, search->version);
    view->count = 0;
}

static void begin_loop(micap_search *search, micap_search_cursor *cursor, uint32_t node)
{
    cursor->row = UINT32_MAX; /* the next one is 0, and there are no rows yet */
    if (search->pattern->nodes[node].has_conditions &&
        micap_node_list_fill(&search->lists[node], search->pattern, node))
        return;
    search->loops[node] = mica_query_begin_since(search->pattern->nodes[node].query, search->since);
    search->loops[node].private_.version = search->version;
    search->loops[node].count = 0;
    if (MICAP_UNLIKELY(is_part(search, cursor)))
        restrict_loop(search, node);
    if (search->pattern->steps_max)
        search->steps_left -= (int64_t)steps_of_loop(search->pattern->nodes[node].query);
}

static uint32_t depth_of(const mica_pool *pool, mica_entity entity)
{
    uint32_t depth = 0, depth_max = micap_edge_count(pool);
    for (; depth <= depth_max && !mica_is_nil(entity = parent_of(pool, entity)); ++depth)
        ;
    return depth;
}

/* Finds the entities that match the terms about this one and their depths. Returns how many levels there are; UINT32_MAX if memory is
 * short. */
static uint32_t find_levels(micap_search *search)
{
    const micap_pattern *pattern = search->pattern;
    micap_memory *memory = &pattern->query->world->memory;
    uint32_t count = 0, levels = 0;
    for (mica_view view = mica_query_begin_since(pattern->nodes[0].query, search->since); mica_view_next(&view);) {
        if (!MICAP_RESERVE(memory, search->levels, &search->level_capacity, (uint64_t)count + view.count))
            return UINT32_MAX;
        for (uint32_t i = 0; i < view.count; ++i) {
            if (!meets(search, 0, view.entities[i]))
                continue;
            uint32_t depth = depth_of(pattern->cascade, view.entities[i]);
            search->levels[count++] = (micap_search_level){view.entities[i], depth};
            levels = depth >= levels ? depth + 1 : levels;
        }
    }
    search->order_count = count;
    return levels;
}

/* Lists the entities of a cascade level by level, and those of a level in storage order. */
static bool list_cascade(micap_search *search)
{
    micap_memory *memory = &search->pattern->query->world->memory;
    uint32_t levels = find_levels(search);
    if (levels == UINT32_MAX ||
        !MICAP_RESERVE(memory, search->level_starts, &search->level_start_capacity, (uint64_t)levels + 1) ||
        !MICAP_RESERVE(memory, search->order, &search->order_capacity, search->order_count))
        return false;
    uint32_t *starts = search->level_starts;
    memset(starts, 0, ((size_t)levels + 1) * sizeof *starts);
    for (uint32_t i = 0; i < search->order_count; ++i)
        ++starts[search->levels[i].depth + 1];
    for (uint32_t i = 1; i <= levels; ++i)
        starts[i] += starts[i - 1];
    for (uint32_t i = 0; i < search->order_count; ++i)
        search->order[starts[search->levels[i].depth]++] = search->levels[i].entity;
    return true;
}

static bool next_of_cascade(micap_search *search, micap_search_cursor *cursor)
{
    if (cursor->row >= search->order_count)
        return false;
    search->entities[0] = search->order[cursor->row++];
    return true;
}

/* The first result of a step. */
static MICAP_NOINLINE bool enter(micap_search *search, uint32_t depth)
{
    const micap_plan_step *step = &search->plan.steps[depth];
    micap_search_cursor *cursor = &search->cursors[depth];
    *cursor = (micap_search_cursor){0};
    switch (step->kind) {
    case MICAP_STEP_CHECK: return accepts(search, step->index, search->entities[step->index]);
    case MICAP_STEP_LOOP: begin_loop(search, cursor, step->index); return next_in_loop(search, cursor, step->index);
    case MICAP_STEP_CASCADE:
        search->is_short |= !list_cascade(search);
        return !search->is_short && next_of_cascade(search, cursor);
    case MICAP_STEP_TABLE: begin_table(search, cursor, step->index); return next_in_table(search, cursor, step->index);
    case MICAP_STEP_GROUP: return enter_group(search, cursor, step->index);
    default: return enter_link(search, cursor, step->index, step->kind);
    }
}

/* The next result of a step that can have several. */
static MICAP_NOINLINE bool proceed(micap_search *search, uint32_t depth)
{
    const micap_plan_step *step = &search->plan.steps[depth];
    micap_search_cursor *cursor = &search->cursors[depth];
    switch (step->kind) {
    case MICAP_STEP_LOOP: return next_in_loop(search, cursor, step->index);
    case MICAP_STEP_CASCADE: return next_of_cascade(search, cursor);
    case MICAP_STEP_TABLE: return next_in_table(search, cursor, step->index);
    default: return !cursor->is_exhausted && next_link(search, cursor, step->index, step->kind);
    }
}

static micap_search_code code_of(const micap_pattern_link *link, micap_step_kind kind)
{
    bool is_fast = link->kind == MICAP_LINK_EDGE && link->mode == MICAP_LINK_REQUIRED && !link->is_once &&
                   !link->pool->type->type.symmetric;
    if (!is_fast)
        return MICAP_SEARCH_GENERAL;
    if (micap_elsewhere(link->pool))
        return kind == MICAP_STEP_FORWARD ? MICAP_SEARCH_PARENT : MICAP_SEARCH_GENERAL;
    return kind == MICAP_STEP_FORWARD && link->is_single ? MICAP_SEARCH_SINGLE
           : kind == MICAP_STEP_TEST                     ? MICAP_SEARCH_TEST
           : kind == MICAP_STEP_TABLE                    ? MICAP_SEARCH_ROWS
                                                         : MICAP_SEARCH_GENERAL;
}

/* Plans, and prepares the steps of the plan. */
static void plan(micap_search *search)
{
    const micap_pattern *pattern = search->pattern;
    const micap_search_step *back = NULL;
    micap_pattern_plan(pattern, search->bound, search->has_part && search->part.keeps_apart, &search->plan);
    for (uint32_t i = 0; i < search->plan.count; ++i) {
        const micap_plan_step *step = &search->plan.steps[i];
        bool is_link = step->kind >= MICAP_STEP_TABLE && step->kind <= MICAP_STEP_TEST;
        uint32_t index = is_link ? step->index : 0;
        const micap_pattern_link *link = &pattern->links[index];
        search->steps[i] = (micap_search_step){.pool = link->pool,
                                               .from = &search->entities[link->from],
                                               .to = &search->entities[link->to],
                                               .back = back,
                                               .edge_row = &search->edge_rows[index],
                                               .cursor = &search->cursors[i],
                                               .code = is_link ? (uint8_t)code_of(link, step->kind) : 0,
                                               .from_node = link->from,
                                               .to_node = link->to,
                                               .is_last = i + 1 == search->plan.count};
        back = micap_plan_step_continues(pattern, step) ? &search->steps[i] : back;
    }
    search->steps[search->plan.count].code = MICAP_SEARCH_GENERAL;
    search->back = back;
}

/* What the fast path of a step needs. It does not change during a loop. */
static void begin_step(const micap_search *search, micap_search_step *step)
{
    const mica_pool *pool = step->pool;
    step->targets = pool->row_limit ? pool->values + pool->edges->target_offset : NULL;
    step->target_stride = pool->value_bytes;
    bool has_part = is_part(search, step->cursor);
    step->cursor->row = has_part ? search->part.begin.row : 0;
    step->end_row = has_part ? search->part.end.row : pool->row_limit;
    step->is_linked_only = search->pattern->nodes[step->to_node].is_trivial && !search->world->archetypes.hidden_count;
}

static void start(micap_search *search)
{
    const mica_world *world = search->pattern->query->world;
    bool keeps_apart = search->has_part && search->part.keeps_apart;
    if (search->plan_structure != world->structure || search->plan_bound != search->bound ||
        search->plan_keeps_apart != keeps_apart || !search->plan.count)
        plan(search);
    search->plan_keeps_apart = keeps_apart;
    search->plan_structure = world->structure;
    search->plan_bound = search->bound;
    for (uint32_t i = 0; i < search->pattern->node_count; ++i)
        if (search->pattern->nodes[i].is_fixed)
            search->entities[i] = search->pattern->nodes[i].fixed;
    for (uint32_t i = 0; i < search->plan.count; ++i)
        if (search->steps[i].code != MICAP_SEARCH_GENERAL)
            begin_step(search, &search->steps[i]);
    search->is_started = true;
}

static inline mica_entity target_at(const micap_search_step *step, uint32_t row)
{
    mica_entity target;
    MICAP_ASSERT_HOT(step->targets, "a pool with a row has values");
    memcpy(&target, step->targets + (size_t)row * step->target_stride, sizeof target);
    return target;
}

static inline bool enter_single(micap_search *search, const micap_search_step *step)
{
    uint32_t row = micap_map_find(&step->pool->index, *step->from);
    *step->edge_row = row;
    if (row == MICAP_ROW_NONE)
        return false;
    mica_entity target = target_at(step, row);
    if (!step->is_linked_only || MICAP_UNLIKELY(!micap_edge_is_linked(step->pool, row)))
        return accepts(search, step->to_node, target);
    *step->to = target;
    return true;
}

static inline bool enter_parent(micap_search *search, const micap_search_step *step)
{
    const micap_edges_elsewhere *elsewhere = step->pool->edges->elsewhere;
    uint32_t row = elsewhere->from(search->world, *step->from);
    *step->edge_row = row;
    return row != MICAP_ROW_NONE && accepts(search, step->to_node, elsewhere->target(search->world, row));
}

static inline bool enter_test(const micap_search_step *step)
{
    if (MICAP_UNLIKELY(step->pool->edges->has_table)) {
        *step->edge_row = micap_edge_table_find(step->pool, *step->from, *step->to);
        return *step->edge_row != MICAP_ROW_NONE;
    }
    mica_entity target = *step->to;
    uint32_t row = micap_map_find(&step->pool->index, *step->from);
    while (row != MICAP_ROW_NONE && !mica_same(target_at(step, row), target))
        row = step->pool->next[row];
    *step->edge_row = row;
    return row != MICAP_ROW_NONE;
}

/* Continues after a step with those that have one result or none. Returns the last of these, NULL if one has none. What is after the last
 * step of a plan is of the general kind. */
static inline const micap_search_step *enter_ahead(micap_search *search, const micap_search_step *step)
{
    for (;; ++step) {
        if (step[1].code == MICAP_SEARCH_TEST) {
            if (!enter_test(step + 1))
                return NULL;
        } else if (step[1].code != MICAP_SEARCH_SINGLE) {
            return step;
        } else if (!enter_single(search, step + 1)) {
            return NULL;
        }
    }
}

/* The next edge of the table whose ends are accepted, and with it the next steps that have one result or none. Returns the last of them,
 * NULL at the end of the table, which is entered once: begin_step has placed its cursor. */
static inline const micap_search_step *next_row(micap_search *search, const micap_search_step *step)
{
    const mica_entity *owners = step->pool->owners;
    uint32_t first = step->cursor->row, row = first, end = step->end_row, from = step->from_node, to = step->to_node;
    const micap_search_step *last = NULL;
    for (; row < end && !last; ++row) {
        /* Member by member: as a whole gcc would load it into the register of a vector. */
        mica_entity owner = {owners[row].index, owners[row].generation};
        if (accepts(search, from, owner) && accepts(search, to, target_at(step, row))) {
            *step->edge_row = row;
            last = enter_ahead(search, step);
        }
    }
    step->cursor->row = row;
    search->steps_left -= row - first - (last != NULL);
    return last;
}

static MICAP_COLD bool cut(micap_search *search)
{
    search->is_cut = search->is_ended = true;
    return false;
}

/* Steps are counted where the search can continue for long without a result, and for each result. */
bool micap_search_next(micap_search *search)
{
    bool enters = !search->is_started;
    if (search->is_ended)
        return false;
    if (MICAP_UNLIKELY(--search->steps_left < 0))
        return cut(search);
    if (enters)
        start(search);
    for (const micap_search_step *step = enters ? search->steps : search->back; step;) {
        bool found;
        const micap_search_step *last;
        switch (step->code) {
        case MICAP_SEARCH_SINGLE: found = enter_single(search, step); break;
        case MICAP_SEARCH_PARENT: found = enter_parent(search, step); break;
        case MICAP_SEARCH_TEST: found = enter_test(step); break;
        case MICAP_SEARCH_ROWS:
            last = next_row(search, step);
            found = last != NULL;
            step = found ? last : step;
            break;
        default:
            found = (enters ? enter : proceed)(search, (uint32_t)(step - search->steps));
            if (MICAP_UNLIKELY(search->is_short)) {
                search->is_ended = true;
                return false;
            }
        }
        if (found && step->is_last)
            return true;
        if (!found && MICAP_UNLIKELY(--search->steps_left < 0))
            return cut(search);
        step = found ? step + 1 : step->back;
        enters = found;
    }
    search->is_ended = true;
    return false;
}
