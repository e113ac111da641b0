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

mica_pool *micap_relation_use(mica_world *world, mica_component relation, const char *what)
{
    mica_pool *pool = micap_pool_of(world, relation);
    if (MICAP_LIKELY(pool && pool->edges))
        return pool;
    return is_relation(world, relation, what) && micap_component_use(world, relation) ? micap_pool_of(world, relation)
                                                                                      : NULL;
}

bool mica_is_related_id(const mica_world *world, mica_entity source, mica_component relation, mica_entity target)
{
    if (MICAP_MISSING(NULL, world))
        return false;
    const mica_pool *pool = micap_relation_pool(world, relation, "is_related");
    if (!pool)
        return false;
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
    uint32_t row = pool ? micap_edge_between(pool, source, target) : MICAP_ROW_NONE;
    return row == MICAP_ROW_NONE ? NULL : micap_pool_value(pool, row);
}

mica_entity mica_target_id(const mica_world *world, mica_entity source, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return mica_nil();
    const mica_pool *pool = micap_relation_pool(world, relation, "target");
    uint32_t row = pool ? micap_pool_row(pool, source) : MICAP_ROW_NONE;
    if (row != MICAP_ROW_NONE)
        return micap_edge_target(pool, row);
    row = pool && pool->type->type.symmetric ? micap_edges_first(pool, source) : MICAP_ROW_NONE;
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
    if (!pool)
        return 0;
    return count_from(pool, source) + (pool->type->type.symmetric ? count_to(pool, source) : 0);
}

uint32_t mica_source_count_id(const mica_world *world, mica_entity target, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return 0;
    const mica_pool *pool = micap_relation_pool(world, relation, "source_count");
    if (!pool)
        return 0;
    return count_to(pool, target) + (pool->type->type.symmetric ? count_from(pool, target) : 0);
}

/* The first row of a list: of the edges that lead from the entity, or to it. */
static uint32_t first_row(const mica_pool *pool, mica_entity center, bool to_targets)
{
    return to_targets ? micap_pool_row(pool, center) : micap_edges_first(pool, center);
}

static mica_edges begin(const mica_world *world, mica_entity center, mica_component relation, bool to_targets,
                        const char *what)
{
    mica_edges edges = {.entity = mica_nil()};
    const mica_pool *pool = micap_relation_pool(world, relation, what);
    if (!pool)
        return edges;
    to_targets |= pool->type->type.symmetric;
    uint32_t row = first_row(pool, center, to_targets);
    edges.private_.pool = pool;
    edges.private_.row = row + 1; /* MICAP_ROW_NONE becomes 0 */
    edges.private_.stamp = pool->stamp;
    edges.private_.to_targets = to_targets;
    edges.private_.center = center;
    return edges;
}

mica_edges mica_targets_id(const mica_world *world, mica_entity source, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_edges){.entity = mica_nil()};
    return begin(world, source, relation, true, "targets");
}

mica_edges mica_sources_id(const mica_world *world, mica_entity target, mica_component relation)
{
    if (MICAP_MISSING(NULL, world))
        return (mica_edges){.entity = mica_nil()};
    return begin(world, target, relation, false, "sources");
}

/* The end of a list: a symmetric relation has a second one. */
static bool end_list(mica_edges *edges)
{
    const mica_pool *pool = edges->private_.pool;
    edges->entity = mica_nil();
    edges->fields = NULL;
    if (!pool || !pool->type->type.symmetric || edges->private_.is_second)
        return false;
    edges->private_.is_second = true;
    edges->private_.to_targets = false;
    edges->private_.row = first_row(pool, edges->private_.center, false) + 1;
    return edges->private_.row != 0;
}

static MICAP_COLD bool fail_changed(mica_edges *edges)
{
    micap_fail(edges->private_.pool->world, MICA_ERROR_INVALID, no_location,
               "edges: an iteration over %s went on after edges were added or removed: defer the changes",
               edges->private_.pool->type->type.name);
    *edges = (mica_edges){.entity = mica_nil()};
    return false;
}

bool mica_edge_next(mica_edges *edges)
{
    if (MICAP_MISSING(NULL, edges))
        return false;
    const mica_pool *pool = edges->private_.pool;
    if (MICAP_UNLIKELY(!edges->private_.row) && !end_list(edges))
        return false;
    if (MICAP_UNLIKELY(edges->private_.stamp != pool->stamp))
        return fail_changed(edges);
    uint32_t row = edges->private_.row - 1;
    edges->fields = micap_pool_value(pool, row);
    if (edges->private_.to_targets) {
        edges->entity = micap_edge_target(pool, row);
        edges->private_.row = pool->next[row] + 1;
    } else {
        edges->entity = pool->owners[row];
        edges->private_.row = pool->links[row].next + 1;
    }
    return true;
}
