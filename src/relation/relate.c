/* The public functions that change edges. */
#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "mica/relation.h"
#include "relation/edge_change.h"
#include "relation/edge_lookup.h"
#include "relation/fast_change.h"

static const mica_location no_location = {0};

static bool are_alive(const mica_world *world, mica_entity source, mica_entity target, const char *what)
{
    bool is_source = micap_is_row(micap_locate(world, source));
    if (MICAP_LIKELY(is_source && micap_is_row(micap_locate(world, target))))
        return true;
    micap_fail_dead(world, is_source ? target : source, what);
    return false;
}

/* Whether an entity has a row; of those whose records are not where the public headers find them, the general path knows. */
static MICAP_INLINE bool is_living(const mica_world *world, mica_entity entity)
{
    const mica_private_lookup *lookup = &world->lookup;
    if (MICAP_UNLIKELY(entity.index >= lookup->record_count))
        return false;
    uint64_t number = mica_private_chunk_number(mica_private_record(lookup, entity.index), entity.generation);
    return number - (MICAP_CHUNK_PENDING + 1) < lookup->chunk_capacity;
}

/* Whether a source whose first edge this is can have one more, to another target, before a table has them. */
static bool may_add(const mica_pool *pool, uint32_t first, mica_entity target)
{
    for (uint32_t row = first; row != MICAP_ROW_NONE; row = pool->next[row])
        if (mica_same(micap_edge_target(pool, row), target))
            return false;
    return pool->links[first].source_count < MICAP_EDGES_WALKED;
}

/* The fast path, for a pool for which micap_edges_change_fast: the fields of a new edge, or NULL if there is one, or if it needs the general path, which
 * also reports what is wrong. */
static MICAP_INLINE void *relate_fast(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target)
{
    const micap_pool_edges *edges = pool->edges;
    uint64_t *from = micap_map_at(&pool->index, source.index), *to = micap_map_at(&edges->targets, target.index);
    uint64_t *mask = micap_map_at(&world->pools.masks, source.index);
    if (MICAP_UNLIKELY(!from || !to || !mask || pool->row_limit == pool->capacity || edges->has_table ||
                       source.index == target.index || !is_living(world, source) || !is_living(world, target)))
        return NULL;
    if (MICAP_UNLIKELY(*from) && (pool->type->type.exclusive || !may_add(pool, (uint32_t)*from - 1, target)))
        return NULL;
    if (edges->is_acyclic && micap_edges_first(pool, source) != MICAP_ROW_NONE)
        return NULL; /* it may close a circle */
    mica_version version = micap_version(world);
    char *value = pool->values + (size_t)pool->row_limit * pool->value_bytes;
    if (edges->target_offset)
        memset(value, 0, pool->value_bytes);
    memcpy(value + edges->target_offset, &target, sizeof target);
    uint32_t row = micap_edges_own_row(pool, source, version);
    micap_pool_check_write(pool, row, 1);
    micap_stamp(&micap_pool_stamps(pool, row)[1], version); /* the program may write to it */
    micap_edges_join_source(pool, row, source, from);
    micap_edges_join_target(pool, row, target, to, 0, version);
    *mask |= (uint64_t)1 << pool->bit;
    micap_attach(&world->attachments, target.index);
    world->structure += pool->is_queried;
    return value;
}

/* Relates now. Returns the row, or MICAP_ROW_NONE with a report. */
static uint32_t relate(mica_world *world, mica_pool *pool, const micap_edge_change *change)
{
    if (!are_alive(world, change->source, change->target, "relate"))
        return MICAP_ROW_NONE;
    uint32_t row = micap_edge_relate(world, pool, change, no_location);
    if (row == MICAP_ROW_NONE || MICAP_LIKELY(!world->hooks_recorded))
        return row;
    micap_hooks_end(world); /* what hooks recorded may have moved or removed it */
    return micap_edge_between(pool, change->source, change->target);
}

void *mica_relate_id(mica_world *world, mica_entity source, mica_component relation, mica_entity target)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return NULL;
    micap_check_change(world, source, no_location);
    if (world->recording_depth)
        return mica_command_relate_id(micap_recorder(world), source, relation, target, no_location);
    mica_pool *pool = micap_pool_of(world, relation);
    void *fields = micap_edges_change_fast(world, pool) ? relate_fast(world, pool, source, target) : NULL;
    if (MICAP_LIKELY(fields))
        return fields;
    pool = micap_relation_use(world, relation, "relate");
    if (!pool)
        return NULL;
    uint32_t row = relate(world, pool, &(micap_edge_change){.source = source, .target = target});
    if (row == MICAP_ROW_NONE)
        return NULL;
    micap_pool_touch_value(pool, row, micap_version(world)); /* the program may write to it */
    return micap_pool_value(pool, row);
}

/* Whether the bytes of a value are those of the fields of a relation: up to the target, or less if padding is before it. */
static bool fits(const mica_value *fields)
{
    const micap_type *type = micap_type_of(fields->component);
    uint32_t end = 0;
    if (!type || !type->type.relation)
        return true; /* which is found later */
    for (uint32_t i = 2; i < type->type.field_count; ++i) {
        const mica_field *field = &type->type.fields[i];
        uint32_t field_end = field->offset + field->element_bytes * field->count;
        end = field_end > end ? field_end : end;
    }
    uint32_t bytes = micap_value_bytes(fields);
    return bytes >= end && bytes <= type->type.fields[0].offset;
}

static bool lies_in(const mica_pool *pool, const void *at)
{
    return (uintptr_t)at - (uintptr_t)pool->values < (uintptr_t)pool->row_limit * pool->value_bytes;
}

/* Relates with fields of another edge, which may move when an edge is added: with a copy of them. */
static bool relate_with_copy(mica_world *world, mica_pool *pool, micap_edge_change change)
{
    void *copy = micap_allocate(&world->memory, change.fields_bytes, MICAP_ARRAY_ALIGNMENT);
    if (!copy)
        return micap_fail_memory(world, pool->type->type.name), false;
    memcpy(copy, change.fields, change.fields_bytes);
    change.fields = copy;
    bool done = relate(world, pool, &change) != MICAP_ROW_NONE;
    micap_release(&world->memory, copy, change.fields_bytes, MICAP_ARRAY_ALIGNMENT);
    return done;
}

bool mica_relate_with_id(mica_world *world, mica_entity source, mica_value fields, mica_entity target)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return false;
    if (MICAP_INVALID(world, fields.data && !fits(&fields), fields, "must be a value of the relation"))
        return false;
    micap_edge_change change = {.source = source,
                                .target = target,
                                .fields = fields.data,
                                .fields_bytes = micap_value_bytes(&fields),
                                .sets = fields.data != NULL};
    if (world->recording_depth)
        return micap_edge_record(micap_recorder(world), &change, fields.component, no_location) != NULL;
    mica_pool *pool = micap_relation_use(world, fields.component, "relate");
    if (pool && fields.data && lies_in(pool, fields.data))
        return relate_with_copy(world, pool, change);
    return pool && relate(world, pool, &change) != MICAP_ROW_NONE;
}

uint32_t mica_relate_many_id(mica_world *world, mica_component relation, const mica_entity *sources,
                             const mica_entity *targets, uint32_t count)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, sources, count) ||
        MICAP_MISSING_ARRAY(world, targets, count))
        return 0;
    uint32_t done = 0;
    if (world->recording_depth) {
        while (done < count && mica_relate_id(world, sources[done], relation, targets[done]))
            ++done;
        return done;
    }
    mica_pool *pool = micap_relation_use(world, relation, "relate_many");
    if (!pool || (count && !micap_pools_make_room(world, pool, sources[0], count))) {
        if (pool)
            micap_fail_memory(world, pool->type->type.name);
        return 0;
    }
    while (done < count &&
           relate(world, pool, &(micap_edge_change){.source = sources[done], .target = targets[done]}) !=
               MICAP_ROW_NONE)
        ++done;
    return done;
}

/* The fast path; false if there is no such edge. */
static MICAP_INLINE bool unrelate_fast(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target)
{
    uint32_t row = micap_edges_find(pool, source, target);
    if (MICAP_UNLIKELY(row == MICAP_ROW_NONE))
        return false;
    micap_edge_remove_fast(world, pool, row, source, target);
    return true;
}

bool mica_unrelate_id(mica_world *world, mica_entity source, mica_component relation, mica_entity target)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return false;
    if (world->recording_depth)
        return mica_command_unrelate_id(micap_recorder(world), source, relation, target, no_location);
    mica_pool *pool = micap_pool_of(world, relation);
    if (micap_edges_change_fast(world, pool) && MICAP_LIKELY(unrelate_fast(world, pool, source, target)))
        return true;
    pool = micap_relation_rows(world, relation, "unrelate");
    bool done = pool && micap_edge_unrelate(world, pool, source, target);
    if (done)
        micap_hooks_end(world);
    else
        are_alive(world, source, target, "unrelate");
    return done;
}

/* Removes or records the removal of the edges that lead from an entity, or to it. What hooks record is applied after that. */
static uint32_t unrelate_list(mica_world *world, mica_pool *pool, mica_entity center, bool to_targets)
{
    uint32_t count = 0, row = to_targets ? micap_pool_row(pool, center) : micap_edges_first(pool, center), next;
    for (; row != MICAP_ROW_NONE; row = next, ++count) {
        if (world->recording_depth) {
            next = to_targets ? pool->next[row] : pool->links[row].next;
            if (!mica_command_unrelate_id(micap_recorder(world), pool->owners[row], pool->type->id,
                                          micap_edge_target(pool, row), no_location))
                return count;
        } else {
            micap_pools_remove_instance(world, pool, row);
            next = to_targets ? micap_pool_row(pool, center) : micap_edges_first(pool, center);
        }
    }
    return count;
}

static uint32_t unrelate_all(mica_world *world, mica_entity center, mica_component relation, bool to_targets,
                             const char *what)
{
    if (!mica_is_alive(world, center))
        return micap_fail_dead(world, center, what), 0;
    mica_pool *pool = micap_relation_rows(world, relation, what);
    if (!pool)
        return 0;
    uint32_t count = unrelate_list(world, pool, center, to_targets);
    if (pool->type->type.symmetric)
        count += unrelate_list(world, pool, center, !to_targets);
    micap_hooks_end(world);
    return count;
}

uint32_t mica_unrelate_targets_id(mica_world *world, mica_entity source, mica_component relation)
{
    MICAP_IMMEDIATE_CHANGE(world);
    return MICAP_MISSING(NULL, world) ? 0 : unrelate_all(world, source, relation, true, "unrelate_targets");
}

uint32_t mica_unrelate_sources_id(mica_world *world, mica_entity target, mica_component relation)
{
    MICAP_IMMEDIATE_CHANGE(world);
    return MICAP_MISSING(NULL, world) ? 0 : unrelate_all(world, target, relation, false, "unrelate_sources");
}

void *mica_edge_write_id(mica_world *world, mica_entity source, mica_component relation, mica_entity target)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const mica_pool *pool = micap_relation_rows(world, relation, "edge_write");
    uint32_t row = pool ? micap_edge_between(pool, source, target) : MICAP_ROW_NONE;
    if (row == MICAP_ROW_NONE) {
        are_alive(world, source, target, "edge_write");
        return NULL;
    }
    micap_pool_touch_value(pool, row, micap_version(world));
    return micap_pool_value(pool, row);
}

mica_result mica_place_source_id(mica_world *world, mica_entity source, mica_component relation, mica_entity target,
                                 mica_entity before)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    micap_check_change(world, source, no_location);
    const micap_edge_position position = {source, target, before};
    if (world->recording_depth)
        return micap_edge_record_place(micap_recorder(world), relation, &position, no_location);
    return micap_edge_place(world, micap_relation_rows(world, relation, "place_source"), &position, no_location);
}
