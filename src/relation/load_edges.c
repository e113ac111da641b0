/* Edges from files: those of a source come in the order of the file, those of a target in the order of their ranks. Relating them by rank
 * makes the second; then the edges of each source are put into order. */
#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "mica/relation.h"
#include "pool/pool_rows.h"
#include "relation/edge_change.h"
#include "relation/edge_lookup.h"

#include <stdlib.h>

/* An edge of the list: where it is related, and where it is in the list. */
typedef struct loaded_edge {
    uint64_t rank; /* without one: after all others */
    uint32_t position;
    uint32_t row; /* MICAP_ROW_NONE: it was left out */
} loaded_edge;

static int compare_edges(const void *left, const void *right)
{
    const loaded_edge *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static int compare_positions(const void *left, const void *right)
{
    const loaded_edge *a = left, *b = right;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* What is loaded, in the order in which it is related. */
typedef struct loading {
    mica_world *world;
    mica_pool *pool;
    const mica_entity *sources;
    const char *values;
    loaded_edge *edges;
    uint32_t count;
} loading;

static const char *value_at(const loading *work, uint32_t position)
{
    return work->values + (size_t)position * work->pool->value_bytes;
}

static mica_entity target_at(const loading *work, uint32_t position)
{
    mica_entity target;
    memcpy(&target, value_at(work, position) + work->pool->edges->target_offset, sizeof target);
    return target;
}

static void sort_by_rank(const loading *work)
{
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t rank;
        memcpy(&rank, value_at(work, i) + work->pool->edges->rank_offset, sizeof rank);
        work->edges[i] = (loaded_edge){rank ? rank : (uint64_t)1 << 32, i, MICAP_ROW_NONE};
    }
    qsort(work->edges, work->count, sizeof *work->edges, compare_edges);
}

/* Whether an edge without a target is added: it stayed when its target was destroyed, or it is an edge of a replica that never had the
 * target, and this world continues that replica. */
static bool may_dangle(const loading *work)
{
    return work->pool->type->type.on_target == MICA_TARGET_KEEP || work->world->entities.preset;
}

/* Whether an edge can't be added. */
static bool is_left_out(const loading *work, const micap_edge_change *change)
{
    return !micap_is_row(micap_locate(work->world, change->source)) ||
           (!change->dangles && (!micap_is_row(micap_locate(work->world, change->target)) ||
                                 micap_edge_between(work->pool, change->source, change->target) != MICAP_ROW_NONE));
}

/* Rows stay where they are, since edges are only added; an exclusive relation, where this is not so, has nothing to order. */
static mica_result relate_all(const loading *work)
{
    mica_world *world = work->world;
    for (uint32_t i = 0; i < work->count; ++i) {
        uint32_t position = work->edges[i].position;
        micap_edge_change change = {.source = work->sources[position],
                                    .target = target_at(work, position),
                                    .fields = value_at(work, position),
                                    .fields_bytes = work->pool->edges->target_offset,
                                    .rank = work->edges[i].rank <= UINT32_MAX ? (uint32_t)work->edges[i].rank : 0};
        change.dangles = may_dangle(work) && mica_is_nil(change.target);
        if (is_left_out(work, &change))
            continue;
        work->edges[i].row = micap_edge_relate(world, work->pool, &change, (mica_location){0});
        if (work->edges[i].row == MICAP_ROW_NONE)
            return micap_failure(world);
    }
    return MICA_OK;
}

/* Puts the edges of one source, whose first one in the list is at `begin`, into the order of the list, after those it had. Returns the
 * position after them. */
static uint32_t order_source(const loading *work, uint32_t begin)
{
    mica_pool *pool = work->pool;
    mica_entity source = work->sources[work->edges[begin].position];
    uint32_t end = begin, added = 0, count = 0, first = micap_pool_row(pool, source);
    for (; end < work->count && mica_same(work->sources[work->edges[end].position], source); ++end)
        added += work->edges[end].row != MICAP_ROW_NONE;
    if (added < 2)
        return end;
    uint32_t had = pool->links[first].source_count - added;
    uint32_t *rows = micap_allocate(pool->memory, (had + (size_t)added) * sizeof *rows, MICAP_ARRAY_ALIGNMENT);
    if (!rows)
        return 0;
    for (uint32_t row = first; count < had; row = pool->next[row])
        rows[count++] = row;
    for (uint32_t i = begin; i < end; ++i)
        if (work->edges[i].row != MICAP_ROW_NONE)
            rows[count++] = work->edges[i].row;
    micap_pool_order_instances(pool, rows, count);
    micap_release(pool->memory, rows, (had + (size_t)added) * sizeof *rows, MICAP_ARRAY_ALIGNMENT);
    return end;
}

static mica_result order_sources(const loading *work)
{
    if (work->pool->type->type.exclusive)
        return MICA_OK;
    qsort(work->edges, work->count, sizeof *work->edges, compare_positions);
    for (uint32_t i = 0, next; i < work->count; i = next)
        if (!(next = order_source(work, i)))
            return micap_fail_memory(work->world, "load_edges");
    return MICA_OK;
}

mica_result mica_load_edges_id(mica_world *world, mica_component relation, const mica_entity *sources,
                               const void *values, uint32_t count)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, sources, count) ||
        MICAP_MISSING_ARRAY(world, values, count))
        return MICA_ERROR_INVALID;
    mica_result result = micap_refuse_while_recording(world, "load_edges");
    if (result != MICA_OK)
        return result;
    loading work = {.world = world,
                    .pool = micap_relation_use(world, relation, "load_edges"),
                    .sources = sources,
                    .values = values,
                    .count = count};
    if (!work.pool || !count)
        return work.pool ? MICA_OK : micap_failure(world);
    work.edges = micap_allocate(&world->memory, count * sizeof *work.edges, MICAP_ARRAY_ALIGNMENT);
    if (!work.edges)
        return micap_fail_memory(world, "load_edges");
    sort_by_rank(&work);
    result = relate_all(&work);
    mica_result ordered = order_sources(&work);
    MICAP_RELEASE_ARRAY(&world->memory, work.edges, count);
    micap_hooks_end(world);
    return result == MICA_OK ? ordered : result;
}
