#include "core/query/query.h"
#include "core/query/condition.h"
#include "core/query/pattern.h"
#include "core/query/query_chunks.h"
#include "core/query/query_join_fast.h"

#include "base/argument.h"
#include "base/assert.h"
#include "base/call_location.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/singleton.h"
#include "mica/singleton.h"

#include <stdio.h>

static bool has_column(mica_access access)
{
    switch (access) {
    case MICA_ACCESS_READ:
    case MICA_ACCESS_WRITE:
    case MICA_ACCESS_MAYBE_READ:
    case MICA_ACCESS_MAYBE_WRITE:
    case MICA_ACCESS_EITHER:
    case MICA_ACCESS_OR: return true;
    default: return false;
    }
}

static bool is_singleton(mica_component component)
{
    return micap_type_of(component)->type.storage == MICA_STORAGE_SINGLETON;
}

/* Says what is wrong with using a component in that way, or NULL. */
static const char *access_problem(const micap_type *type, const mica_term *term)
{
    mica_access access = term->access;
    mica_storage storage = type->type.storage;
    if ((uint32_t)access > MICA_ACCESS_DISABLED)
        return "its access is unknown";
    if (type->companion != MICAP_COMPANION_NONE)
        return "the component is private";
    if (storage == MICA_STORAGE_SINGLETON && access != MICA_ACCESS_READ && access != MICA_ACCESS_WRITE)
        return "a singleton can only be read or written";
    if ((storage == MICA_STORAGE_TAG || !type->type.size_bytes) &&
        (access <= MICA_ACCESS_WRITE || access == MICA_ACCESS_CHANGED || access == MICA_ACCESS_MAYBE_WRITE))
        return "a tag has no data: use MICA_HAS or MICA_MAYBE_READ";
    if (type->type.relation && term->target.kind == MICA_NODE_DEFAULT && access != MICA_ACCESS_HAS &&
        access != MICA_ACCESS_WITHOUT)
        return "edges have a column only with a target: use MICA_HAS, or .target";
    if (access == MICA_ACCESS_ADDED && !type->type.track_added)
        return "it is not tracked: describe it with .track_added = true";
    if (access == MICA_ACCESS_DISABLED && !type->type.toggle)
        return "it can't be toggled: describe it with .toggle = true";
    return NULL;
}

static bool is_group(mica_access access)
{
    return access == MICA_ACCESS_EITHER || access == MICA_ACCESS_OR;
}

/* Asking for a component and excluding it, or for two columns of it, is a mistake. */
static const char *repetition_problem(const mica_query_def *def, uint32_t term)
{
    const mica_term *one = &def->terms[term];
    for (uint32_t i = 0; i < term; ++i) {
        const mica_term *other = &def->terms[i];
        if (other->component != one->component || !micap_terms_are_alike(other, one))
            continue;
        if ((other->access == MICA_ACCESS_WITHOUT) != (one->access == MICA_ACCESS_WITHOUT))
            return "it is both asked for and excluded";
        if (has_column(other->access) && has_column(one->access))
            return "it is given twice";
    }
    return NULL;
}

bool micap_query_check_term(mica_world *world, const mica_query_def *def, uint32_t term, micap_problem *out_problem)
{
    mica_component component = def->terms[term].component;
    mica_access access = def->terms[term].access;
    const micap_component *used = micap_component_try(world, component, out_problem);
    if (!used)
        return false;
    char note[MICAP_INDEX_NOTE];
    uint32_t failures = micap_memory_failures(&world->memory);
    const char *problem = access_problem(used->type, &def->terms[term]);
    if (!problem && micap_term_is_pattern(&def->terms[term]))
        problem = micap_pattern_term_problem(world, &def->terms[term]);
    if (!problem && def->terms[term].field)
        problem = micap_condition_problem(world, &def->terms[term], note);
    if (!problem && access == MICA_ACCESS_OR && (term == 0 || !is_group(def->terms[term - 1].access)))
        problem = "MICA_OR must follow MICA_EITHER or MICA_OR";
    if (!problem)
        problem = repetition_problem(def, term);
    out_problem->result = micap_memory_failures(&world->memory) == failures ? MICA_ERROR_INVALID : MICA_ERROR_MEMORY;
    if (!problem && used->type->type.storage == MICA_STORAGE_SINGLETON && !micap_singleton_prepare(world, component)) {
        out_problem->result = MICA_ERROR_MEMORY;
        problem = "there is no memory for the singleton";
    }
    if (problem)
        snprintf(out_problem->text, sizeof out_problem->text, "%s", problem);
    return !problem;
}

static const char *component_name(mica_component component)
{
    const micap_type *type = micap_type_of(component);
    return type ? type->type.name : "?";
}

/* Instances are shown of a pool for many that the query demands, in no order but theirs. */
static bool check_instances(mica_world *world, const mica_query_def *def, const char *name)
{
    bool fine = !def->instances_of;
    for (uint32_t i = 0; !fine && i < def->term_count; ++i)
        fine = def->terms[i].component == def->instances_of && micap_access_demands(def->terms[i].access) &&
               micap_type_of(def->instances_of)->type.many && !micap_type_of(def->instances_of)->type.relation &&
               !def->compare;
    if (!fine)
        micap_fail(
            world, MICA_ERROR_INVALID, def->location,
            "%s: .instances_of is %s: this must be a pool with .many that a term requires, and .compare must be NULL",
            name, component_name(def->instances_of));
    return fine;
}

static bool has_pattern(const mica_query_def *def)
{
    for (uint32_t i = 0; i < def->term_count; ++i)
        if (micap_term_is_pattern(&def->terms[i]))
            return true;
    return false;
}

static bool check_pattern(mica_world *world, const mica_query_def *def, const char *name)
{
    uint32_t term;
    const char *problem = micap_pattern_problem(def, &term);
    if (!problem && def->variables && def->variable_count > MICA_VARIABLES_MAX)
        problem = "there are more names of variables than MICA_VARIABLES_MAX";
    for (uint32_t i = 0; !problem && def->variables && i < def->variable_count; ++i)
        problem = def->variables[i] ? NULL : "one of the names of variables is NULL";
    if (problem)
        micap_fail(world, MICA_ERROR_INVALID, def->location, "%s: term %u (%s): %s", name, term,
                   component_name(def->terms[term].component), problem);
    return !problem;
}

static bool check_terms(mica_world *world, const mica_query_def *def)
{
    const char *name = def && def->name ? def->name : "query";
    if (!def || (def->term_count && !def->terms)) {
        micap_fail(world, MICA_ERROR_INVALID, def ? def->location : (mica_location){0}, "%s: it has no terms", name);
        return false;
    }
    if (def->term_count > MICA_TERMS_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, def->location, "%s: %u terms, the limit is %d", name, def->term_count,
                   MICA_TERMS_MAX);
        return false;
    }
    bool ordered = !def->compare;
    for (uint32_t i = 0; i < def->term_count; ++i) {
        micap_problem problem;
        if (!micap_query_check_term(world, def, i, &problem)) {
            micap_fail(world, problem.result, def->location, "%s: term %u (%s): %s", name, i,
                       component_name(def->terms[i].component), problem.text);
            return false;
        }
        ordered |= def->terms[i].component == def->order_by && def->terms[i].access <= MICA_ACCESS_WRITE &&
                   !is_singleton(def->order_by) && !micap_type_of(def->order_by)->leaves;
    }
    if (ordered && has_pattern(def))
        return check_pattern(world, def, name);
    if (!ordered)
        micap_fail(world, MICA_ERROR_INVALID, def->location,
                   "%s: it is ordered by %s, which it neither reads nor writes as a whole", name,
                   component_name(def->order_by));
    return ordered && check_instances(world, def, name);
}

static void add_filter(mica_query *query, micap_filter_kind kind, mica_component component)
{
    for (uint32_t i = 0; i < query->filter_count; ++i)
        if (query->filters[i].kind == kind && query->filters[i].component == component)
            return;
    MICAP_ASSERT(query->filter_count < MICAP_FILTERS_MAX, "filters fit");
    query->filters[query->filter_count++] = (micap_filter){kind, component};
    query->is_marked |= kind >= MICAP_FILTER_ADDED;
}

static void add_join(mica_query *query, uint32_t at)
{
    mica_term term = query->terms[at];
    const micap_type *type = micap_type_of(term.component);
    mica_pool *pool = micap_pool_of(query->world, term.component);
    MICAP_ASSERT(pool, "a query has the pools of its terms");
    query->joins[query->join_count++] = (micap_join){.pool = pool,
                                                     .access = term.access,
                                                     .has_column = has_column(term.access) && type->type.size_bytes,
                                                     .is_flag = query->is_flag[at],
                                                     .term = at,
                                                     .step_bytes = query->pool_steps[at]};
    query->is_marked |= term.access == MICA_ACCESS_CHANGED || term.access == MICA_ACCESS_ADDED;
    pool->is_queried = true;
}

/* Whether a group of EITHER and OR has a pool in it: then no archetype decides it. `term` is any of its terms. */
static bool is_in_pooled_group(const mica_query *query, uint32_t term)
{
    while (query->terms[term].access == MICA_ACCESS_OR)
        --term;
    do
        if (micap_is_pooled(query->terms[term].component))
            return true;
    while (++term < query->term_count && query->terms[term].access == MICA_ACCESS_OR);
    return false;
}

/* What views of chunks have ready. The columns of singletons are looked up for each view. */
static void compile_ready(mica_query *query)
{
    uint32_t count = query->term_count < MICA_PRIVATE_READY ? query->term_count : MICA_PRIVATE_READY, columns = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bool has_column =
            micap_access_demands(query->terms[i].access) && (query->chunk_steps[i] || query->pool_steps[i]);
        query->ready_components[i] = has_column ? query->terms[i].component : 0;
        columns += has_column;
    }
    query->ready_count = query->join_count ? 0 : (uint8_t)count;
    query->ready_rows = (uint8_t)count;
    query->ahead_max = (uint8_t)(query->join_count ? MICA_PRIVATE_AHEAD / query->join_count : 0);
    for (uint32_t i = 0; i < query->join_count; ++i)
        query->joins[i].is_ready =
            query->joins[i].step_bytes && query->joins[i].term < count && micap_access_writes(query->joins[i].access);
    query->ready_writes = columns == query->term_count ? (uint8_t)query->written : MICAP_READY_NOT_ALL;
}

static void compile_terms(mica_query *query)
{
    for (uint32_t i = 0; i < query->term_count; ++i) {
        mica_term term = query->terms[i];
        const micap_type *type = micap_type_of(term.component);
        query->term_bytes[i] = has_column(term.access) && !type->leaves ? type->type.size_bytes : 0;
        query->is_flag[i] = has_column(term.access) && !type->type.size_bytes;
        query->is_row_level[i] = is_group(term.access) && is_in_pooled_group(query, i);
        query->has_pooled_group |= query->is_row_level[i];
        if (micap_is_pooled(term.component)) {
            query->pool_steps[i] = query->term_bytes[i];
            add_join(query, i);
            continue;
        }
        query->chunk_steps[i] = is_singleton(term.component) ? 0 : query->term_bytes[i];
        query->is_singleton[i] = is_singleton(term.component);
        query->has_singletons |= query->is_singleton[i];
        query->asks_chunks |= !is_singleton(term.component);
        query->reads_chunks |= has_column(term.access) && !is_singleton(term.component);
        if (term.access == MICA_ACCESS_WITHOUT)
            query->banned |= micap_signature_bit(term.component);
        if (!micap_access_demands(term.access) || is_singleton(term.component))
            continue;
        query->signature |= micap_signature_bit(term.component);
        if (term.access == MICA_ACCESS_DISABLED)
            add_filter(query, MICAP_FILTER_DISABLED, type->enabled);
        else if (type->enabled)
            add_filter(query, MICAP_FILTER_ENABLED, type->enabled);
        if (term.access == MICA_ACCESS_ADDED)
            add_filter(query, MICAP_FILTER_ADDED, type->added);
        if (term.access == MICA_ACCESS_CHANGED && type->changed)
            add_filter(query, MICAP_FILTER_CHANGED_ROWS, type->changed);
        else if (term.access == MICA_ACCESS_CHANGED)
            add_filter(query, type->leaves ? MICAP_FILTER_CHANGED_SPLIT : MICAP_FILTER_CHANGED, term.component);
        if (term.access == MICA_ACCESS_CHANGED && (type->changed || !type->leaves))
            query->changing = type->changed ? type->changed : term.component;
    }
    query->has_fast_joins = query->join_count && !query->filter_count;
    for (uint32_t i = 0; i < query->join_count; ++i)
        query->has_fast_joins &= micap_join_is_fast(&query->joins[i]);
}

static bool names(const mica_query *query, mica_component component)
{
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].component == component)
            return true;
    return false;
}

/* Whether the query does not name a component that hides the entities of the archetype. */
static bool skips(const mica_query *query, const micap_archetype *archetype)
{
    if (!archetype->is_hidden || query->with_hidden)
        return false;
    for (uint32_t i = 0; i < archetype->component_count; ++i)
        if (micap_type_of(archetype->components[i])->type.hides && !names(query, archetype->components[i]))
            return true;
    return false;
}

bool micap_query_matches_archetype(const mica_query *query, const micap_archetype *archetype)
{
    if ((archetype->signature & query->signature) != query->signature || skips(query, archetype))
        return false;
    bool either = true; /* no group is open */
    for (uint32_t i = 0; i < query->term_count; ++i) {
        mica_term term = query->terms[i];
        if (micap_is_pooled(term.component) || query->is_row_level[i])
            continue;
        if (term.access == MICA_ACCESS_EITHER) {
            if (!either)
                return false;
            either = micap_archetype_has(archetype, term.component);
        } else if (term.access == MICA_ACCESS_OR) {
            either |= micap_archetype_has(archetype, term.component);
        } else if (term.access == MICA_ACCESS_WITHOUT) {
            if (micap_archetype_has(archetype, term.component))
                return false;
        } else if (micap_access_demands(term.access) && !micap_archetype_has(archetype, term.component) &&
                   !is_singleton(term.component)) {
            return false;
        }
    }
    return either;
}

static bool reserve_matches(mica_query *query, uint64_t more)
{
    micap_memory *memory = &query->world->memory;
    return MICAP_RESERVE(memory, query->archetypes, &query->match_capacity, query->match_count + more) &&
           MICAP_RESERVE(memory, query->columns, &query->column_capacity,
                         (query->match_count + more) * query->term_count);
}

/* The columns are found when a loop first comes by: making a query must be cheap. */
static void add_match(mica_query *query, micap_archetype *archetype)
{
    if (query->term_count)
        query->columns[(size_t)query->match_count * query->term_count] = MICAP_COLUMN_UNKNOWN;
    query->archetypes[query->match_count++] = archetype;
}

void micap_query_find_columns(mica_query *query, uint32_t match)
{
    uint16_t *columns = query->columns + (size_t)match * query->term_count;
    for (uint32_t i = query->term_count; i-- > 0;) { /* the first last: it says that all are known */
        mica_term term = query->terms[i];
        uint32_t column = MICAP_COLUMN_NONE;
        if ((query->term_bytes[i] || query->is_flag[i]) && !micap_is_pooled(term.component))
            column = is_singleton(term.component) ? MICAP_COLUMN_SINGLETON
                                                  : micap_archetype_column(query->archetypes[match], term.component);
        MICAP_STORE(&columns[i], (uint16_t)column, i ? MICAP_RELAXED : MICAP_RELEASE);
    }
}

/* The list of archetypes with the rarest component that must be there; NULL when none must. */
static const micap_component *rarest(const mica_query *query)
{
    const micap_component *found = NULL;
    for (uint32_t i = 0; i < query->term_count; ++i) {
        const micap_component *component = micap_component_of(&query->world->components, query->terms[i].component);
        if (micap_access_demands(query->terms[i].access) && !is_singleton(query->terms[i].component) &&
            !micap_is_pooled(query->terms[i].component) &&
            (!found || component->archetype_count < found->archetype_count))
            found = component;
    }
    return found;
}

/* Whether the signatures alone decide: every bit stands for one component, and all terms ask for presence or absence. */
static bool is_decided_by_signature(const mica_query *query)
{
    if (query->world->components.limit > 64)
        return false;
    for (uint32_t i = 0; i < query->term_count; ++i)
        if (query->terms[i].access == MICA_ACCESS_EITHER)
            return false;
    return true;
}

/* Over all signatures, which lie close together: about a nanosecond for each archetype. */
static bool match_by_signature(mica_query *query)
{
    const micap_archetypes *archetypes = &query->world->archetypes;
    if (!reserve_matches(query, archetypes->count))
        return false;
    uint64_t looked_at = query->signature | query->banned, wanted = query->signature;
    for (uint32_t i = 0; i < archetypes->count; ++i)
        if ((archetypes->signatures[i] & looked_at) == wanted &&
            !(archetypes->hidden_count && skips(query, archetypes->by_id[i])))
            add_match(query, archetypes->by_id[i]);
    return true;
}

static bool match_all(mica_query *query)
{
    const micap_archetypes *all = &query->world->archetypes;
    const micap_component *few = rarest(query);
    if (is_decided_by_signature(query) && (!few || few->archetype_count >= all->count / 8))
        return match_by_signature(query);
    uint32_t count = few ? few->archetype_count : all->count;
    micap_archetype **archetypes = few ? few->archetypes : all->by_id;
    for (uint32_t i = 0; i < count; ++i) {
        if (!micap_query_matches_archetype(query, archetypes[i]))
            continue;
        if (!reserve_matches(query, 1))
            return false;
        add_match(query, archetypes[i]);
    }
    return true;
}

bool micap_queries_announce(mica_world *world, micap_archetype *archetype)
{
    micap_queries *queries = world->queries;
    for (uint32_t i = 0; i < queries->count; ++i)
        if (!queries->all[i]->pattern && micap_query_matches_archetype(queries->all[i], archetype) &&
            !reserve_matches(queries->all[i], 1))
            return false;
    for (uint32_t i = 0; i < queries->count; ++i) {
        if (queries->all[i]->pattern) /* the queries that it consists of are in the list too */
            continue;
        queries->all[i]->asks_chunks |= archetype->is_hidden && !queries->all[i]->with_hidden;
        if (micap_query_matches_archetype(queries->all[i], archetype))
            add_match(queries->all[i], archetype);
    }
    return true;
}

static void release(mica_query *query)
{
    micap_memory *memory = &query->world->memory;
    micap_pattern_free(query);
    MICAP_RELEASE_ARRAY(memory, query->archetypes, query->match_capacity);
    MICAP_RELEASE_ARRAY(memory, query->columns, query->column_capacity);
    micap_query_chunks_free(query);
    MICAP_RELEASE_ARRAY(memory, query->order, query->order_capacity);
    MICAP_RELEASE_ARRAY(memory, query->order_scratch, query->order_scratch_capacity);
    MICAP_RELEASE_ARRAY(memory, query->order_places, query->order_place_capacity);
    if (query->name)
        micap_release(memory, query->name, strlen(query->name) + 1, 1);
    micap_release(memory, query, sizeof *query, MICAP_ARRAY_ALIGNMENT);
}

static bool copy_name(mica_query *query, const char *name)
{
    size_t bytes = strlen(name) + 1;
    query->name = micap_allocate(&query->world->memory, bytes, 1);
    if (query->name)
        memcpy(query->name, name, bytes);
    return query->name != NULL;
}

/* The terms of a query that are all about the entity of the row, and what matches them. */
static bool compile(mica_query *query, const mica_query_def *def)
{
    query->asks_chunks = query->world->archetypes.hidden_count && !def->with_hidden;
    compile_terms(query);
    compile_ready(query);
    query->instances_of = def->instances_of;
    query->lists_chunks = !query->join_count && !query->compare && (!query->filter_count || query->changing);
    return match_all(query);
}

mica_query *mica_query_create(mica_world *world, const mica_query_def *def)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (micap_refuse_inside(world, "query") != MICA_OK)
        return NULL;
    if (!check_terms(world, def))
        return NULL;
    micap_queries *queries = world->queries;
    mica_query *query = micap_allocate_zeroed(&world->memory, sizeof *query, MICAP_ARRAY_ALIGNMENT);
    if (!query) {
        micap_fail_memory(world, "query");
        return NULL;
    }
    query->world = world;
    query->term_count = def->term_count;
    if (def->term_count)
        memcpy(query->terms, def->terms, def->term_count * sizeof *def->terms);
    for (uint32_t i = 0; i < def->term_count; ++i)
        query->written |= (uint32_t)micap_access_writes(def->terms[i].access) << i;
    query->location = def->location;
    query->order_by = def->order_by;
    query->compare = def->compare;
    query->context = def->context;
    query->with_hidden = def->with_hidden;
    bool is_pattern = has_pattern(def), is_reported = false;
    bool done = copy_name(query, def->name ? def->name : "query");
    if (done && is_pattern)
        done = micap_pattern_create(query, def, &is_reported);
    else if (done)
        done = compile(query, def);
    if (!done || !MICAP_RESERVE(&world->memory, queries->all, &queries->capacity, (uint64_t)queries->count + 1)) {
        release(query);
        if (!is_reported)
            micap_fail_memory(world, "query");
        return NULL;
    }
    query->special = query->filter_count || query->join_count || query->compare || is_pattern;
    query->is_joined = query->join_count || is_pattern;
    for (uint32_t i = 0; i < def->term_count; ++i)
        if (is_singleton(def->terms[i].component))
            mica_singleton_get_id(world, def->terms[i].component); /* which is prepared: it is there from now on */
    query->index = queries->count;
    query->id = queries->made++;
    queries->all[queries->count++] = query;
    return query;
}

uint32_t mica_query_terms(const mica_query *query, mica_term *out_terms, uint32_t capacity)
{
    if (MICAP_MISSING(NULL, query) || MICAP_MISSING_ARRAY(query->world, out_terms, capacity))
        return 0;
    for (uint32_t i = 0; i < query->term_count && i < capacity; ++i)
        out_terms[i] = query->terms[i];
    return query->term_count;
}

/* Nothing tells when a loop is left, so that a query can be destroyed inside its loop. The memory of destroyed queries is kept until the
 * structure of the world has changed, after which mica_view_next ends every loop without a look at the query. While the structure stays the
 * same, that of the last few is kept, and of these only the newest if they are large. */
enum { RETIRED_MAX = 64, RETIRED_BYTES_MAX = 4 << 20 };

static size_t bytes_of(const mica_query *query)
{
    return sizeof *query + query->match_capacity * sizeof *query->archetypes + query->chunk_list.capacity +
           ((size_t)query->order_capacity + query->order_scratch_capacity) * sizeof *query->order;
}

static void sweep(mica_world *world, bool all)
{
    micap_queries *queries = world->queries;
    size_t bytes = 0;
    uint32_t count = 0;
    for (mica_query **link = &queries->retired; *link;) {
        mica_query *query = *link;
        bytes += bytes_of(query);
        bool is_over = query->retired_structure != world->structure || count >= RETIRED_MAX ||
                       (count && bytes > RETIRED_BYTES_MAX);
        if (!all && (!is_over || query->hold_count)) {
            ++count;
            link = &query->retired;
            continue;
        }
        *link = query->retired;
        release(query);
    }
}

void micap_queries_sweep(mica_world *world)
{
    sweep(world, false);
}

static void unlist(mica_query *query)
{
    micap_queries *queries = query->world->queries;
    mica_query *last = queries->all[--queries->count];
    queries->all[query->index] = last;
    last->index = query->index;
}

void micap_query_give_to_system(mica_query *query)
{
    if (query)
        query->is_of_system = true;
}

void micap_query_free(mica_query *query)
{
    if (!query)
        return;
    unlist(query);
    release(query);
}

static bool is_retired(const mica_world *world, const mica_query *query)
{
    const mica_query *retired = world->queries->retired;
    while (retired && retired != query)
        retired = retired->retired;
    return retired != NULL;
}

bool micap_query_is_readable(const mica_world *world, const mica_query *query)
{
    for (uint32_t i = 0; i < world->queries->count; ++i)
        if (world->queries->all[i] == query)
            return true;
    return is_retired(world, query);
}

void mica_query_destroy(mica_query *query)
{
    if (!query || micap_refuse_inside(query->world, "query_destroy") != MICA_OK)
        return;
    mica_world *world = query->world;
    if (query->is_of_system || is_retired(world, query)) {
        micap_fail(world, MICA_ERROR_REFUSED, micap_place_of_call(query->location), "query_destroy: %s: %s",
                   query->name, query->is_of_system ? "it belongs to a system" : "it was destroyed before");
        return;
    }
    if (!MICAP_LOAD(&query->has_begun, MICAP_RELAXED) && !query->hold_count) {
        micap_query_free(query);
        return;
    }
    unlist(query);
    query->retired_structure = world->structure;
    query->retired = world->queries->retired;
    world->queries->retired = query;
    sweep(world, false);
}

void micap_queries_free(mica_world *world)
{
    sweep(world, true);
    while (world->queries->count) {
        mica_query *last = world->queries->all[world->queries->count - 1];
        micap_query_free(last->owner ? last->owner : last);
    }
    MICAP_RELEASE_ARRAY(&world->memory, world->queries->all, world->queries->capacity);
}
