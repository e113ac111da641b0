/* A system that changes entities mostly does the same to neighbours. Then whole parts of columns move instead of rows.
 *
 * The result is that of one move after the other: where a hole is filled with the last row, a run of holes from the first to
 * the last is filled with the last rows from the last to the first. */
#include "core/commands/apply_batch.h"

#include "core/entity/destroy.h"
#include "core/entity/pool_fast_path.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"
#include "core/world/world.h"

enum { GATHERED_MAX = 256 }; /* entities that are gathered at once */

static bool is_creation_for_batch(const micap_recorded_kind *kind, const micap_archetype *to)
{
    const micap_kind_value *values = micap_kind_values(kind);
    for (uint32_t i = 0; i < kind->value_count; ++i)
        if (micap_is_pooled(values[i].component))
            return false;
    return to->trivial && !to->has_companions && !micap_change_hooks(to);
}

static bool is_death_for_batch(const mica_world *world, const micap_archetype *from)
{
    for (uint32_t i = 0; i < world->pools.count; ++i)
        if (world->pools.all[i]->hook_mask)
            return false;
    return from->destroys_fast && !world->has_dependents && !world->sees_deaths;
}

bool micap_is_for_batch(const mica_world *world, const micap_recorded_kind *kind, const micap_target *target)
{
    micap_operation operation = micap_kind_operation(kind);
    if (operation == MICAP_OPERATION_DESTROY)
        return is_death_for_batch(world, target->from);
    if (kind->value_count && !target->first)
        return false; /* it was refused */
    if (operation == MICAP_OPERATION_CREATE)
        return is_creation_for_batch(kind, target->to);
    if (micap_is_pooled(kind->value.component))
        return micap_pool_is_fast(world, micap_pool_of(world, kind->value.component));
    return (target->to == target->from || target->edge.path != MICAP_EDGE_GENERAL) &&
           !(micap_change_hooks(target->from) | micap_change_hooks(target->to));
}

/* Gathers entities of changes, from the first one on, as long as their rows follow each other as the run needs it. */
static uint32_t gather_run(const mica_world *world, const micap_row_batch *run, const micap_recorded *change,
                           uint32_t stride, mica_entity *out_entities)
{
    uint64_t first = *micap_record_at(&world->entities, change->entity.index);
    uint32_t count = 1, limit = run->count;
    out_entities[0] = change->entity;
    for (; count < limit; ++count) {
        change = (const micap_recorded *)(const void *)((const char *)change + stride);
        mica_entity entity = change->entity;
        uint64_t record = *micap_record_at(&world->entities, entity.index);
        if (run->is_backward ? !micap_record_follows(first, record, count)
                             : !micap_record_follows(record, first, count))
            break;
        out_entities[count] = entity;
    }
    return count;
}

/* Copies the staged values of changes into a column. */
static void fill_column(char *to, const char *from, uint32_t bytes, uint32_t stride, uint32_t count)
{
    if (bytes == 12) /* a vector of three */
        for (; count; --count, to += 12, from += stride)
            memcpy(to, from, 12);
    else
        for (; count; --count, to += bytes, from += stride)
            micap_copy_trivial(to, from, bytes);
}

/* Moves the rows of a run along an edge. Returns where the values go of a component that the edge adds, or NULL. */
static char *move_run(mica_world *world, const micap_row_batch *run, const micap_edge *edge,
                      const mica_entity *entities)
{
    micap_row_batch_move_columns(world, run, edge);
    memcpy(micap_chunk_entities(run->to.chunk) + run->to.row, entities, run->count * sizeof *entities);
    for (uint32_t i = 0; i < run->count; ++i)
        *micap_record_at(&world->entities, entities[i].index) =
            micap_record_pack(entities[i].generation, run->to.chunk->number, run->to.row + i);
    micap_row_batch_end(world, run);
    if (edge->path != MICAP_EDGE_ADDS || edge->column == MICAP_COLUMN_TAG)
        return NULL;
    const micap_column_data *lane = &micap_chunk_columns(run->to.chunk)[edge->column];
    return lane->values + run->to.row * lane->bytes;
}

/* Moves one row along an edge. Returns the same. */
static inline char *move_one(mica_world *world, micap_row from, const micap_edge *edge, mica_entity entity)
{
    char *value = NULL;
    if (edge->path == MICAP_EDGE_ADDS)
        value = micap_row_step_add(world, entity, from, edge);
    else
        micap_row_step_remove(world, entity, from, edge);
    micap_rows_have_moved(world);
    return edge->column == MICAP_COLUMN_TAG ? NULL : value;
}

/* One row or several along an edge; returns how many. */
static uint32_t move_first(mica_world *world, const micap_edge *edge, const micap_recorded_kind *kind, const char *at,
                           uint32_t left)
{
    const micap_recorded *change = (const micap_recorded *)(const void *)at;
    mica_entity entities[GATHERED_MAX];
    micap_row_batch run = micap_row_batch_begin(micap_locate(world, change->entity), edge->end,
                                                left < GATHERED_MAX ? left : GATHERED_MAX);
    run.count = gather_run(world, &run, change, kind->stride, entities);
    char *to = run.count > 1 ? move_run(world, &run, edge, entities) : move_one(world, run.from, edge, change->entity);
    if (to)
        fill_column(to, at + kind->value.offset, kind->value.bytes, kind->stride, run.count);
    return run.count;
}

static void move_rows(mica_world *world, const micap_flush_step *step, const micap_edge *edge)
{
    const micap_recorded_kind *kind = step->kind;
    const char *at = (const char *)step->changes;
    edge->end->incoming -= step->count;
    if (step->count == 1) {
        mica_entity entity = step->changes->entity;
        char *to = move_one(world, micap_locate(world, entity), edge, entity);
        if (to)
            micap_copy_trivial(to, at + kind->value.offset, kind->value.bytes);
        return;
    }
    for (uint32_t left = step->count, count; left; left -= count, at += (size_t)count * kind->stride)
        count = move_first(world, edge, kind, at, left);
}

static void overwrite_values(mica_world *world, const micap_flush_step *step, const micap_archetype *archetype)
{
    const micap_kind_value *value = &step->kind->value;
    uint32_t column = micap_archetype_column(archetype, value->component);
    micap_recorded *change = step->changes;
    if (!value->offset)
        return;
    for (uint32_t i = 0; i < step->count; ++i, change = micap_recorded_after(change, step->kind)) {
        micap_row spot = micap_locate(world, change->entity);
        micap_touch_value(world, spot.chunk, column, spot.row);
        micap_copy_trivial(micap_chunk_value(spot.chunk, column, spot.row), (char *)change + value->offset,
                           value->bytes);
    }
}

static void change_pool(mica_world *world, const micap_flush_step *step)
{
    const micap_kind_value *value = &step->kind->value;
    mica_pool *pool = micap_pool_of(world, value->component);
    bool is_removal = micap_kind_operation(step->kind) == MICAP_OPERATION_REMOVE;
    micap_recorded *change = step->changes;
    for (uint32_t i = 0; i < step->count; ++i, change = micap_recorded_after(change, step->kind)) {
        if (is_removal)
            micap_pooled_remove_reserved(world, pool, change->entity);
        else
            micap_pooled_set_reserved(world, pool, change->entity, (char *)change + value->offset);
    }
}

/* Fills the columns of new rows of one chunk, which belong to the entities of changes. */
static void fill_rows(mica_world *world, micap_row spot, const micap_recorded_kind *kind, const char *at,
                      uint32_t count)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    const micap_kind_value *values = micap_kind_values(kind);
    mica_entity *entities = micap_chunk_entities(spot.chunk) + spot.row;
    micap_touch_rows(world, spot.chunk, spot.row, count);
    for (uint32_t i = 0; i < kind->value_count; ++i) {
        if (!values[i].offset)
            continue;
        uint32_t column = micap_archetype_column(archetype, values[i].component);
        fill_column(micap_chunk_value(spot.chunk, column, spot.row), at + values[i].offset, values[i].bytes,
                    kind->stride, count);
    }
    for (uint32_t i = 0; i < count; ++i, at += kind->stride) {
        mica_entity entity = ((const micap_recorded *)(const void *)at)->entity;
        entities[i] = entity;
        *micap_record_at(&world->entities, entity.index) =
            micap_record_pack(entity.generation, spot.chunk->number, spot.row + i);
    }
}

static void create_rows(mica_world *world, const micap_flush_step *step, micap_archetype *to)
{
    const char *at = (const char *)step->changes;
    to->incoming -= step->count;
    for (uint32_t left = step->count, count; left; left -= count, at += (size_t)count * step->kind->stride) {
        micap_row spot = micap_rows_next(to);
        count = spot.chunk->capacity - spot.row;
        count = count < left ? count : left;
        fill_rows(world, spot, step->kind, at, count);
        micap_rows_count_up(spot, count);
        micap_rows_have_moved(world);
    }
}

/* Frees what those that die have besides their rows. */
static void forget_all(mica_world *world, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        micap_entity_forget(world, entities[i]);
}

static void destroy_rows(mica_world *world, const micap_flush_step *step)
{
    uint32_t stride = step->kind->stride;
    const char *at = (const char *)step->changes;
    mica_entity entities[GATHERED_MAX];
    bool is_shared = world->flush.is_shared;
    for (uint32_t left = step->count, count; left; left -= count, at += (size_t)count * stride) {
        const micap_recorded *change = (const micap_recorded *)(const void *)at;
        micap_row_batch run =
            micap_row_batch_begin(micap_locate(world, change->entity), NULL, left < GATHERED_MAX ? left : GATHERED_MAX);
        count = run.count = gather_run(world, &run, change, stride, entities);
        for (uint32_t i = 0; world->pools.count && !is_shared && i < count; ++i)
            micap_pools_entity_dies(world, entities[i]);
        if (count > 1)
            micap_row_batch_end(world, &run);
        else
            micap_row_fill_hole(world, run.from);
        micap_rows_have_moved(world);
        if (!is_shared)
            forget_all(world, entities, count);
    }
}

void micap_batch_apply(mica_world *world, const micap_flush_step *step)
{
    const micap_group *group = &world->flush.groups[step->group];
    if (!group->from)
        create_rows(world, step, group->to);
    else if (!group->to)
        destroy_rows(world, step);
    else if (group->from != group->to)
        move_rows(world, step, &group->edge);
    else if (!micap_is_pooled(step->kind->value.component))
        overwrite_values(world, step, group->from);
    else if (!world->flush.is_shared)
        change_pool(world, step);
}

void micap_batch_finish(mica_world *world, const micap_flush_step *step)
{
    const micap_group *group = &world->flush.groups[step->group];
    const micap_recorded *change = step->changes;
    if (group->from && group->from == group->to && micap_is_pooled(step->kind->value.component))
        change_pool(world, step);
    for (uint32_t i = 0; !group->to && i < step->count; ++i) {
        if (world->pools.count)
            micap_pools_entity_dies(world, change->entity);
        micap_entity_forget(world, change->entity);
        change = (const micap_recorded *)(const void *)((const char *)change + step->kind->stride);
    }
}
