#include "core/query/pattern_view.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/call_location.h"
#include "core/query/pattern_search.h"
#include "core/query/query_join.h"
#include "core/query/view.h"
#include "core/world/report.h"
#include "mica/entity.h"
#include "pool/pool_undo.h"

enum { SEARCHES_MAX = 64 };

static micap_search *search_of(const mica_view *view)
{
    micap_search *search = (micap_search *)(uintptr_t)view->private_.fitting;
    return search && search->serial == view->private_.cursor ? search : NULL;
}

/* A search that no loop uses; else a new one; else that of the oldest loop, which was probably left. NULL if memory is short. */
static micap_search *choose_search(micap_pattern *pattern)
{
    micap_search *oldest = NULL;
    for (uint32_t i = 0; i < pattern->search_count; ++i) {
        micap_search *search = pattern->searches[i];
        if (!search->serial)
            return search;
        if (!oldest || pattern->serial - search->serial > pattern->serial - oldest->serial)
            oldest = search;
    }
    if (pattern->search_count == SEARCHES_MAX)
        return oldest;
    if (!MICAP_RESERVE(&pattern->query->world->memory, pattern->searches, &pattern->search_capacity,
                       (uint64_t)pattern->search_count + 1))
        return NULL;
    micap_search *fresh = micap_search_create(pattern);
    if (fresh)
        pattern->searches[pattern->search_count++] = fresh;
    return fresh;
}

static void lock(micap_pattern *pattern)
{
    while (atomic_exchange_explicit(&pattern->is_locked, true, memory_order_acquire))
        ;
}

static void unlock(micap_pattern *pattern)
{
    atomic_store_explicit(&pattern->is_locked, false, memory_order_release);
}

static micap_search *borrow_search(micap_pattern *pattern)
{
    lock(pattern);
    micap_search *search = choose_search(pattern);
    if (search) {
        pattern->serial += pattern->serial == UINT32_MAX ? 2 : 1; /* 0 is none */
        search->serial = pattern->serial;
    }
    unlock(pattern);
    if (!search)
        micap_fail_memory(pattern->query->world, pattern->query->name);
    return search;
}

static mica_version version_of(const mica_world *world)
{
    const micap_thread_context *here = micap_thread_context_of(world);
    return here ? here->version : 0;
}

void micap_pattern_begin(mica_view *view, mica_query *query)
{
    micap_search *search = borrow_search(query->pattern);
    if (!search) {
        view->private_.query = NULL;
        return;
    }
    micap_search_reset(search, view->private_.since, version_of(query->world));
    memset(view->private_.columns, 0, query->term_count * sizeof *view->private_.columns);
    view->private_.fitting = search;
    view->private_.cursor = search->serial;
}

void micap_pattern_take_part(const mica_view *view, const micap_pattern_part *part)
{
    micap_search *search = view->private_.query ? search_of(view) : NULL;
    if (search) { /* else memory is short, which was reported */
        search->has_part = true;
        search->part = *part;
    }
}

/* The position of an archetype among the matches, which are in the order of their numbers. */
static uint32_t match_of(const mica_query *query, const micap_archetype *archetype)
{
    uint32_t low = 0, end = query->match_count;
    while (low < end) {
        uint32_t middle = low + (end - low) / 2;
        if (query->archetypes[middle]->id < archetype->id)
            low = middle + 1;
        else
            end = middle;
    }
    MICAP_ASSERT(low < query->match_count && query->archetypes[low] == archetype, "the entity was found to match");
    return low;
}

/* Points a view at the row of an entity that was found to match. What the loop switches off meanwhile does not take it back. */
static void show_entity(mica_view *view, mica_query *query, mica_entity entity, mica_version since,
                        mica_version version)
{
    micap_view_init(view, query, since, version);
    if (query->join_count) {
        micap_join_show_entity(view, query, entity);
        return;
    }
    micap_row spot = micap_locate(query->world, entity);
    view->private_.match = match_of(query, spot.chunk->archetype);
    micap_view_show(view, query, spot.chunk, spot.row, 1);
}

/* Points a view at rows [row, row + count) of another one. */
static void narrow(const mica_view *from, uint32_t row, uint32_t count, mica_view *out)
{
    const mica_query *query = from->private_.query;
    memcpy(out, from, offsetof(mica_view, private_.columns));
    memcpy(&out->private_.chunk, &from->private_.chunk, sizeof *out - offsetof(mica_view, private_.chunk));
    out->count = count;
    out->entities = from->entities + row;
    out->private_.row = from->private_.row + row;
    out->private_.cursor = from->private_.cursor - from->count + row + count; /* where the next row of a pool is */
    out->private_.ready_count = 0;
    for (uint32_t i = 0; i < query->term_count; ++i) {
        char *column = from->private_.columns[i];
        out->private_.columns[i] =
            column ? column + (size_t)row * (query->chunk_steps[i] + query->pool_steps[i]) : NULL;
    }
}

/* Whether a node is bound by a loop over rows. */
static bool is_looped(const micap_search *search, uint32_t node)
{
    return search->plan.is_looped[node] && search->lists[node].state != MICAP_LIST_FILLED;
}

/* Points the view of a node at its entity. */
static void show_node(micap_search *search, uint32_t at, uint32_t row, uint32_t count)
{
    const micap_pattern_node *node = &search->pattern->nodes[at];
    mica_view *view = &search->views[at];
    view->count = 0;
    if (mica_is_nil(search->entities[at]) || !node->query)
        return;
    if (is_looped(search, at))
        narrow(&search->loops[at], row, count, view);
    else
        show_entity(view, node->query, search->entities[at], search->since, search->version);
}

/* The place of a looped node in the view of its loop. */
static uint32_t row_of(const micap_search *search, uint32_t node)
{
    uint32_t step = 0;
    while (search->plan.steps[step].kind != MICAP_STEP_LOOP || search->plan.steps[step].index != node)
        ++step;
    return search->cursors[step].row;
}

static void *column_of(const micap_search *search, uint32_t term)
{
    const micap_pattern *pattern = search->pattern;
    uint32_t link = pattern->term_links[term];
    if (link && search->edge_rows[link - 1] == MICAP_ROW_NONE)
        return NULL;
    if (link && pattern->links[link - 1].has_column)
        return micap_pool_value(pattern->links[link - 1].pool, search->edge_rows[link - 1]);
    if (pattern->term_nodes[term] == MICAP_PATTERN_NODE_NONE || !pattern->nodes[pattern->term_nodes[term]].has_columns)
        return link && micap_access_reads(pattern->query->terms[term].access) ? &micap_tag_value : NULL;
    const mica_view *view = &search->views[pattern->term_nodes[term]];
    const mica_query *inner = pattern->nodes[pattern->term_nodes[term]].query;
    uint32_t place = pattern->term_places[term];
    return view->count && micap_access_reads(inner->terms[place].access) ? view->private_.columns[place] : NULL;
}

/* Shows `count` rows of the result that was found. */
static void show(mica_view *view, micap_search *search, uint32_t count)
{
    const micap_pattern *pattern = search->pattern;
    for (uint32_t i = 0; pattern->shows_more && i < pattern->node_count; ++i)
        if (pattern->nodes[i].has_columns)
            show_node(search, i, is_looped(search, i) ? row_of(search, i) : 0, i ? 1 : count);
    for (uint32_t i = 0; i <= pattern->variable_count; ++i)
        search->shown[i] = search->entities[i];
    view->count = count;
    view->entities = is_looped(search, 0) ? search->loops[0].entities + row_of(search, 0) : search->shown;
    if (!pattern->shows_more)
        return;
    search->shown_links = 0;
    for (uint32_t i = 0; i < pattern->link_count; ++i)
        search->shown_links |= (uint32_t)(search->edge_rows[i] != MICAP_ROW_NONE) << i;
    for (uint32_t i = 0; i < pattern->query->term_count; ++i)
        view->private_.columns[i] = column_of(search, i);
}

/* Rows can be shown together if the loop over this entity comes first, and no term has a value for each of them elsewhere. */
static bool can_merge(const micap_search *search)
{
    const micap_pattern *pattern = search->pattern;
    if (!is_looped(search, 0) || search->plan.steps[0].kind != MICAP_STEP_LOOP || search->plan.steps[0].index ||
        pattern->group_count)
        return false;
    for (uint32_t i = 0; i < pattern->link_count; ++i)
        if (pattern->links[i].has_column)
            return false;
    return true;
}

/* The result that a view begins with. */
typedef struct first_result {
    uint32_t node_count, link_count;
    mica_entity entities[MICAP_NODES_MAX];
    uint32_t edge_rows[MICA_TERMS_MAX];
} first_result;

/* Whether the result that was found is one of the next row of this entity, and the same otherwise. */
static bool continues(const micap_search *search, const first_result *first)
{
    for (uint32_t i = 1; i < first->node_count; ++i)
        if (search->pattern->nodes[i].query && !mica_same(search->entities[i], first->entities[i]))
            return false;
    for (uint32_t i = 0; i < first->link_count; ++i)
        if ((search->edge_rows[i] == MICAP_ROW_NONE) != (first->edge_rows[i] == MICAP_ROW_NONE))
            return false;
    return true;
}

/* How many rows the view has that begins with the result that was found. Stops at the first result that does not continue it, which is
 * shown next. */
static void merge(mica_view *view, micap_search *search)
{
    first_result first;
    first.node_count = search->pattern->node_count;
    first.link_count = search->pattern->link_count;
    memcpy(first.entities, search->entities, first.node_count * sizeof *first.entities);
    memcpy(first.edge_rows, search->edge_rows, first.link_count * sizeof *first.edge_rows);
    const mica_entity *rows = search->loops[0].entities;
    uint32_t row = search->cursors[0].row, limit = search->loops[0].count - row, count = 1;
    while (count < limit && micap_search_next(search)) {
        if (search->loops[0].entities != rows || search->cursors[0].row != row + count || !continues(search, &first)) {
            search->has_pending = true;
            break;
        }
        ++count;
    }
    view->count = count;
    if (search->pattern->nodes[0].has_columns)
        search->views[0].count = count;
}

/* Ends a search, with a report if it ended early. */
static void end_search(mica_query *query, micap_search *search)
{
    micap_pattern *pattern = query->pattern;
    if (search->is_short)
        micap_fail_memory(query->world, query->name);
    if (search->is_cut)
        micap_fail(
            query->world, MICA_ERROR_LIMIT, micap_place_of_call(query->location),
            "%s: ends after %llu steps, its limit: add terms that connect its variables, or see mica_query_limit",
            query->name, (unsigned long long)pattern->steps_max);
    lock(pattern);
    pattern->is_incomplete |= search->is_short || search->is_cut;
    search->serial = 0;
    unlock(pattern);
}

static MICAP_COLD bool end_loop(mica_view *view, micap_search *search)
{
    end_search(view->private_.query, search);
    view->private_.query = NULL; /* it shows nothing from now on */
    view->count = 0;
    return false;
}

bool micap_pattern_next(mica_view *view)
{
    mica_query *query = view->private_.query;
    micap_search *search = search_of(view);
    if (!search) {
        micap_fail(query->world, MICA_ERROR_LIMIT, micap_place_of_call(query->location),
                   "%s: %d other loops began since, which is the limit: this one ends here", query->name, SEARCHES_MAX);
        return false;
    }
    bool found = search->has_pending || micap_search_next(search);
    search->has_pending = false;
    if (!found)
        return end_loop(view, search);
    if (search->plan.shows_views) {
        micap_search_cursor *cursor = &search->cursors[search->plan.count - 1];
        uint32_t count = search->loops[0].count - cursor->row;
        show(view, search, count);
        cursor->row += count - 1;
        return true;
    }
    show(view, search, 1);
    if (can_merge(search))
        merge(view, search);
    return true;
}

uint64_t micap_pattern_count(mica_query *query)
{
    micap_search *search = borrow_search(query->pattern);
    uint64_t count = 0;
    if (!search)
        return 0;
    micap_search_reset(search, query->last_mark, version_of(query->world));
    while (micap_search_next(search)) {
        micap_search_cursor *cursor = &search->cursors[search->plan.count - 1];
        uint32_t rows = search->plan.shows_views ? search->loops[0].count - cursor->row : 1;
        cursor->row += search->plan.shows_views ? rows - 1 : 0;
        count += rows;
    }
    end_search(query, search);
    return count;
}

bool micap_pattern_matches(mica_query *query, mica_entity entity)
{
    if (!mica_is_alive(query->world, entity))
        return false;
    micap_search *search = borrow_search(query->pattern);
    if (!search)
        return false;
    micap_search_reset(search, query->last_mark, version_of(query->world));
    search->bound = 1;
    search->entities[0] = entity;
    bool found = micap_search_next(search);
    end_search(query, search);
    return found;
}

mica_view *micap_pattern_inner(const mica_view *view, uint32_t term, uint32_t *out_term)
{
    const micap_search *search = search_of(view);
    uint32_t node = view->private_.query->pattern->term_nodes[term];
    if (!search || node == MICAP_PATTERN_NODE_NONE || !search->views[node].count)
        return NULL;
    *out_term = view->private_.query->pattern->term_places[term];
    return &search->views[node];
}

void *micap_pattern_write(const mica_view *view, uint32_t term)
{
    const micap_pattern *pattern = view->private_.query->pattern;
    uint32_t link = pattern->term_links[term], place;
    char *value = view->private_.columns[term];
    if (link && pattern->links[link - 1].has_column) {
        mica_pool *pool = (mica_pool *)(uintptr_t)pattern->links[link - 1].pool;
        micap_pool_touch(pool, 0, (uint32_t)((size_t)(value - pool->values) / pool->value_bytes), 1,
                         micap_view_version(view));
        return value;
    }
    mica_view *inner = micap_pattern_inner(view, term, &place);
    return inner ? micap_view_write_term(inner, place) : NULL;
}

bool micap_pattern_has(const mica_view *view, uint32_t term)
{
    const micap_pattern *pattern = view->private_.query->pattern;
    const micap_search *search = search_of(view);
    uint32_t place;
    if (pattern->term_links[term])
        return search && search->shown_links >> (pattern->term_links[term] - 1) & 1;
    mica_view *inner = micap_pattern_inner(view, term, &place);
    return inner && micap_view_has_term(inner, place);
}

static bool check_variable(const mica_view *view, uint32_t variable, const char *what)
{
    const mica_query *query = view->private_.query;
    if (query->pattern && variable <= query->pattern->variable_count && query->pattern->nodes[variable].is_used)
        return true;
    micap_fail(query->world, MICA_ERROR_INVALID, micap_place_of_call(query->location),
               "%s: %s: there is no variable %u", query->name, what, variable);
    return false;
}

bool mica_view_bind(mica_view *view, uint32_t variable, mica_entity entity)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query) ||
        !check_variable(view, variable, "view_bind"))
        return false;
    const mica_query *query = view->private_.query;
    micap_search *search = search_of(view);
    if (!search || search->is_started || !mica_is_alive(query->world, entity)) {
        micap_fail(query->world, MICA_ERROR_INVALID, micap_place_of_call(query->location),
                   "%s: view_bind: variable %u: %s", query->name, variable,
                   search && !search->is_started ? "the entity is not alive"
                                                 : "bind it before the first mica_view_next");
        return false;
    }
    search->bound |= 1u << variable;
    search->entities[variable] = entity;
    return true;
}

mica_entity mica_view_variable(const mica_view *view, uint32_t variable)
{
    if (MICAP_MISSING(NULL, view) || MICAP_MISSING(view->world, view->private_.query) ||
        !check_variable(view, variable, "view_variable"))
        return mica_nil();
    const micap_search *search = search_of(view);
    return search && view->count ? search->shown[variable] : mica_nil();
}

uint32_t mica_query_variable(const mica_query *query, const char *name)
{
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING(query->world, name))
        return 0;
    for (uint32_t i = 1; query->pattern && i <= query->pattern->variable_count; ++i) {
        const char *known = micap_pattern_name(query->pattern, i);
        if (known && strcmp(known, name) == 0)
            return i;
    }
    return 0;
}

const char *mica_query_variable_name(const mica_query *query, uint32_t variable)
{
    if (MICAP_MISSING(NULL, query))
        return NULL;
    return query->pattern ? micap_pattern_name(query->pattern, variable) : NULL;
}

void mica_query_limit(mica_query *query, uint64_t steps)
{
    if (!MICAP_MISSING(NULL, query) && query->pattern)
        query->pattern->steps_max = steps;
}
