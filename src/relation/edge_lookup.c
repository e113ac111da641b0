#include "relation/edge_lookup.h"

#include "base/argument.h"
#include "core/world/report.h"
#include "mica/relation.h"
#include "relation/edge_walk.h"

static const mica_location no_location = {0};

static bool is_relation(const mica_world *world, mica_component relation, const char *what)
{
    const micap_type *type = micap_type_of(relation);
    if (MICAP_LIKELY(type && type->type.relation))
        return true;
    micap_fail(world, MICA_ERROR_INVALID, no_location,
               "%s: component %s is not a relation: describe it with MICA_RELATION", what,
               type ? type->type.name : "without an id");
    return false;
}

const mica_pool *micap_relation_pool(const mica_world *world, mica_component relation, const char *what)
{
    const mica_pool *pool = micap_pool_of(world, relation);
    if (MICAP_LIKELY(pool && pool->edges))
        return pool;
    is_relation(world, relation, what);
    return NULL;
}

/* Whether functions for edges can't do this for a relation, with a report. */
static MICAP_COLD bool is_refused(const mica_world *world, mica_component relation, const char *what)
{
    if (!micap_relation_elsewhere(relation))
        return false;
    micap_fail(world, MICA_ERROR_INVALID, no_location,
               "%s: mica_child_of has the links of the hierarchy: use the functions of mica/hierarchy.h", what);
    return true;
}

mica_pool *micap_relation_rows(const mica_world *world, mica_component relation, const char *what)
{
    return is_refused(world, relation, what) ? NULL : (mica_pool *)micap_relation_pool(world, relation, what);
}

mica_pool *micap_relation_use(mica_world *world, mica_component relation, const char *what)
{
    mica_pool *pool = micap_pool_of(world, relation);
    if (MICAP_LIKELY(pool && pool->edges && !pool->edges->elsewhere))
        return pool;
    return is_relation(world, relation, what) && !is_refused(world, relation, what) &&
                   micap_component_use(world, relation)
               ? micap_pool_of(world, relation)
               : NULL;
}

/* Whether a relation has no rows that could be read: it is unused, or its edges are elsewhere. */
static inline bool is_elsewhere(const mica_pool *pool)
{
    return !pool || pool->edges->elsewhere;
}

static MICAP_COLD mica_entity target_elsewhere(const mica_world *world, mica_entity source, mica_component relation)
{
    const micap_edges_elsewhere *elsewhere = micap_relation_elsewhere(relation);
    uint32_t row = elsewhere ? elsewhere->from(world, source) : MICAP_ROW_NONE;
    return row == MICAP_ROW_NONE ? mica_nil() : elsewhere->target(world, row);
}

bool mica_is_related_id(const mica_world *world, mica_entity source, mica_component relation, mica_entity target)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const mica_pool *pool = micap_relation_pool(world, relation, "is_related");
    if (MICAP_UNLIKELY(is_elsewhere(pool)))
        return !mica_is_nil(target) && mica_same(target_elsewhere(world, source, relation), target);
    if (micap_edge_between(pool, source, target) != MICAP_ROW_NONE)
        return true;
    if (!pool->type->type.transitive)
        return false;
    micap_reach reach = micap_edges_reach(pool, source, target);
    if (reach == MICAP_REACH_UNKNOWN)
        micap_fail_memory(world, "is_related");
    return reach == MICAP_REACH_YES;
}

const void *mica_edge_get_id(const mica_world *world, mica_entity source, mica_component relation, mica_entity target)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const mica_pool *pool = micap_relation_pool(world, relation, "edge_get");
    if (MICAP_UNLIKELY(is_elsewhere(pool)))
        return is_refused(world, relation, "edge_get"), NULL;
    uint32_t row = micap_edge_between(pool, source, target);
    return row == MICAP_ROW_NONE ? NULL : micap_pool_value(pool, row);
}

mica_entity mica_target_id(const mica_world *world, mica_entity source, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const mica_pool *pool = micap_relation_pool(world, relation, "target");
    if (MICAP_UNLIKELY(is_elsewhere(pool)))
        return target_elsewhere(world, source, relation);
    uint32_t row = micap_pool_row(pool, source);
    if (row != MICAP_ROW_NONE)
        return micap_edge_target(pool, row);
    row = pool->type->type.symmetric ? micap_edges_first(pool, source) : MICAP_ROW_NONE;
    return row == MICAP_ROW_NONE ? mica_nil() : pool->owners[row];
}

/* How many edges an entity is the source of, or the target. */
static uint32_t count_from(const mica_pool *pool, mica_entity source)
{
    uint32_t first = micap_pool_row(pool, source);
    return first == MICAP_ROW_NONE ? 0 : pool->links[first].source_count;
}

static uint32_t count_to(const mica_pool *pool, mica_entity target)
{
    uint32_t first = micap_edges_first(pool, target);
    return first == MICAP_ROW_NONE ? 0 : pool->links[first].target_count;
}

uint32_t mica_target_count_id(const mica_world *world, mica_entity source, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    const mica_pool *pool = micap_relation_pool(world, relation, "target_count");
    if (MICAP_UNLIKELY(is_elsewhere(pool)))
        return !mica_is_nil(target_elsewhere(world, source, relation));
    return count_from(pool, source) + (pool->type->type.symmetric ? count_to(pool, source) : 0);
}

uint32_t mica_source_count_id(const mica_world *world, mica_entity target, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    const mica_pool *pool = micap_relation_pool(world, relation, "source_count");
    const micap_edges_elsewhere *elsewhere = is_elsewhere(pool) ? micap_relation_elsewhere(relation) : NULL;
    if (!pool || elsewhere)
        return elsewhere ? elsewhere->count_sources(world, target) : 0;
    return count_to(pool, target) + (pool->type->type.symmetric ? count_from(pool, target) : 0);
}

enum { TARGET_SHIFT = 2, SOURCE_SHIFT = 4 };
_Static_assert(sizeof(uint32_t) == 1 << TARGET_SHIFT && sizeof(micap_edge_links) == 1 << SOURCE_SHIFT &&
                   offsetof(micap_edge_links, next) == 0,
               "rows of links are shifted");

/* An iteration over the edges that lead from an entity. Addresses are those of row 0 where rows count from 1. */
static MICAP_INLINE mica_edges begin_targets(const mica_pool *pool, mica_entity source, bool has_second)
{
    uintptr_t values = (uintptr_t)pool->values - pool->value_bytes;
    return (mica_edges){.entity = mica_nil(),
                        .private_ = {.pool = pool,
                                     .now = &pool->stamp,
                                     .stamp = pool->stamp,
                                     .row = micap_map_find(&pool->index, source) + 1, /* MICAP_ROW_NONE becomes 0 */
                                     .entities = values + pool->edges->target_offset,
                                     .next = (uintptr_t)pool->next - ((uintptr_t)1 << TARGET_SHIFT),
                                     .next_shift = TARGET_SHIFT,
                                     .entity_bytes = pool->value_bytes,
                                     .values = values,
                                     .value_bytes = pool->value_bytes,
                                     .has_second = has_second,
                                     .center = source}};
}

/* The same, of those that lead to it. */
static MICAP_INLINE mica_edges begin_sources(const mica_pool *pool, mica_entity target)
{
    return (mica_edges){.entity = mica_nil(),
                        .private_ = {.pool = pool,
                                     .now = &pool->stamp,
                                     .stamp = pool->stamp,
                                     .row = micap_edges_first(pool, target) + 1,
                                     .entities = (uintptr_t)pool->owners - sizeof(mica_entity),
                                     .next = (uintptr_t)pool->links - ((uintptr_t)1 << SOURCE_SHIFT),
                                     .next_shift = SOURCE_SHIFT,
                                     .entity_bytes = (uint32_t)sizeof(mica_entity),
                                     .values = (uintptr_t)pool->values - pool->value_bytes,
                                     .value_bytes = pool->value_bytes,
                                     .center = target}};
}

mica_edges mica_targets_id(const mica_world *world, mica_entity source, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_edges){.entity = mica_nil()};
    const mica_pool *pool = micap_pool_of(world, relation);
    if (MICAP_UNLIKELY(!pool || !pool->edges || pool->edges->elsewhere))
        return micap_relation_rows(world, relation, "targets"), (mica_edges){.entity = mica_nil()};
    return begin_targets(pool, source, pool->type->type.symmetric);
}

mica_edges mica_sources_id(const mica_world *world, mica_entity target, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_edges){.entity = mica_nil()};
    const mica_pool *pool = micap_pool_of(world, relation);
    if (MICAP_UNLIKELY(!pool || !pool->edges || pool->edges->elsewhere))
        return micap_relation_rows(world, relation, "sources"), (mica_edges){.entity = mica_nil()};
    return MICAP_UNLIKELY(pool->type->type.symmetric) ? begin_targets(pool, target, true) : begin_sources(pool, target);
}

mica_edges mica_edges_turn(const mica_pool *pool, mica_entity center, uint32_t stamp)
{
    const mica_edges none = {.entity = mica_nil()};
    if (MICAP_MISSING(NULL, pool) || MICAP_INVALID(pool->world, !pool->edges, pool, "must be the pool of a relation"))
        return none;
    if (pool->stamp == stamp)
        return begin_sources(pool, center);
    micap_fail(pool->world, MICA_ERROR_INVALID, no_location,
               "edges: the loop over edges of %s ends, because edges were added or removed in it: call mica_defer "
               "before the loop",
               pool->type->type.name);
    return none;
}
