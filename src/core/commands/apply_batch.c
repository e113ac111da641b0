/* A system that changes entities mostly does the same to neighbours. Then whole parts of columns move instead of rows.
 *
 * The result is that of one move after the other: where a hole is filled with the last row, a run of holes from the first to
 * the last is filled with the last rows from the last to the first. */
#include "core/commands/apply_batch.h"

#include "base/assert.h"
#include "core/commands/record_kind.h"
#include "core/entity/destroy.h"
#include "core/entity/pool_fast_path.h"
#include "core/events/hooks.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"
#include "core/world/world.h"

enum { GATHERED_MAX = 256 }; /* entities that are gathered at once */

bool micap_batch_has_fast_pools(const mica_world *world, const micap_recorded_kind *kind)
{
    const micap_kind_value *values = micap_kind_values(kind);
    for (uint32_t i = 0; i < kind->value_count; ++i)
        if (micap_is_pooled(values[i].component) &&
            !micap_pool_is_fast(world, micap_pool_of(world, values[i].component)))
            return false;
    return true;
}

/* Whether rows move as bytes, and all columns that are new get values of the kind; along an edge without the fast path, or several. */
static bool moves_fast(const micap_route *route)
{
    const micap_archetype *from = route->from, *to = route->to;
    uint32_t known = 0, missing = to->column_count;
    for (uint32_t i = 0; i < from->column_count; ++i) {
        bool stays = micap_archetype_has(to, from->columns[i].component);
        missing -= stays;
        known += stays || from->columns[i].trivial;
    }
    const micap_kind_value *values = micap_kind_values(route->kind);
    for (uint32_t i = 0; i < route->kind->value_count; ++i)
        missing -= values[i].operation == MICAP_OPERATION_VALUE && values[i].offset &&
                   !micap_is_pooled(values[i].component) && !micap_archetype_has(from, values[i].component);
    return from->moves_as_bytes && to->moves_as_bytes && known == from->column_count && !missing;
}

static bool is_death_for_batch(const mica_world *world, const micap_archetype *from)
{
    for (uint32_t i = 0; i < world->pools.count; ++i)
        if (world->pools.all[i]->hook_mask)
            return false;
    return from->moves_as_bytes && !micap_death_hooks(from);
}

/* Whether a kind changes pools only. */
static bool is_in_pools(const micap_recorded_kind *kind)
{
    const micap_kind_value *values = micap_kind_values(kind);
    for (uint32_t i = 0; i < kind->value_count; ++i)
        if (!micap_is_pooled(values[i].component))
            return false;
    return true;
}

/* Whether a hook runs for a component that one archetype has and another has not. */
static bool is_difference_hooked(const micap_archetype *with, const micap_archetype *without, mica_event_kind kind)
{
    for (uint32_t i = 0; (i = micap_next_hooked(with, kind, i)) < with->component_count; ++i)
        if (!micap_archetype_has(without, with->components[i]))
            return true;
    return false;
}

/* Whether a change runs hooks: those of components that are added, removed or set. Others of the entity do not matter. */
static bool is_hooked(const mica_world *world, const micap_route *route)
{
    const micap_archetype *from = route->from, *to = route->to;
    const micap_kind_value *values = micap_kind_values(route->kind);
    const uint32_t toggles = 1 << MICA_EVENT_ENABLE | 1 << MICA_EVENT_DISABLE;
    if (to->hook_mask & toggles || is_difference_hooked(to, from, MICA_EVENT_ADD) ||
        is_difference_hooked(from, to, MICA_EVENT_REMOVE))
        return true;
    for (uint32_t i = 0; i < route->kind->value_count; ++i)
        if (values[i].operation == MICAP_OPERATION_VALUE && micap_kind_sets(route->kind, &values[i]) &&
            !micap_is_pooled(values[i].component) &&
            micap_is_awaited(micap_component_of(&world->components, values[i].component), MICA_EVENT_SET))
            return true;
    return false;
}

bool micap_is_for_batch(const mica_world *world, const micap_route *route)
{
    const micap_recorded_kind *kind = route->kind;
    const micap_archetype *to = route->to;
    micap_operation operation = micap_kind_operation(kind);
    if (operation == MICAP_OPERATION_DESTROY)
        return is_death_for_batch(world, route->from);
    if (kind->has_pools && !micap_batch_has_fast_pools(world, kind))
        return false;
    if (operation == MICAP_OPERATION_CREATE)
        return to->moves_as_bytes && !to->has_companions && !micap_creation_hooks(to);
    if (kind->has_pools && to == route->from && is_in_pools(kind))
        return true;
    return (to == route->from ? kind->is_trivial : route->edge.path != MICAP_EDGE_GENERAL || moves_fast(route)) &&
           (!(micap_change_hooks(route->from) | micap_change_hooks(to)) || !is_hooked(world, route));
}

/* Goes over the changes of steps. */
typedef struct cursor {
    const micap_flush_step *step;
    const char *at;
    uint32_t left; /* changes of the step, this one included */
} cursor;

static inline cursor begin_steps(const micap_flush_step *first)
{
    return (cursor){first, (const char *)first->changes, first->count};
}

/* Moves past changes of the step; the caller knows whether there is one after them. */
static MICAP_INLINE void skip(cursor *cursor, uint32_t stride, uint32_t count)
{
    cursor->at += (size_t)count * stride;
    cursor->left -= count;
    if (cursor->left || !cursor->step->next)
        return;
    cursor->step = cursor->step->next;
    cursor->at = (const char *)cursor->step->changes;
    cursor->left = cursor->step->count;
}

static inline mica_entity entity_at(const cursor *cursor)
{
    return ((const micap_recorded *)(const void *)cursor->at)->entity;
}

/* Changes whose entities have rows that follow each other. */
typedef struct gathered {
    mica_entity entities[GATHERED_MAX];
    const char *changes[GATHERED_MAX];
} gathered;

/* Gathers changes that lie one after the other, as long as the records of their entities are the expected ones, each `direction` after
 * the one before it. Returns how many. */
static MICAP_INLINE uint32_t gather_stretch(const mica_world *world, const char *at, uint32_t stride, uint32_t count,
                                            uint64_t expected, uint64_t direction, mica_entity *out_entities,
                                            const char **out_changes)
{
    uint32_t done = 0;
    for (; done < count; ++done, at += stride, expected += direction) {
        mica_entity entity = ((const micap_recorded *)(const void *)at)->entity;
        if (!micap_record_follows(*micap_record_at(&world->entities, entity.index), expected, 0))
            break;
        out_entities[done] = entity;
        out_changes[done] = at;
    }
    return done;
}

/* Gathers changes, as long as the rows of their entities follow each other as the run needs it. Returns how many. */
static uint32_t gather_run(const mica_world *world, const micap_row_batch *run, cursor *at, uint32_t stride,
                           gathered *out)
{
    uint64_t first = *micap_record_at(&world->entities, entity_at(at).index), direction = run->is_backward ? -1ULL : 1;
    for (uint32_t count = 0, limit = run->count;;) {
        uint32_t left = at->left < limit - count ? at->left : limit - count;
        uint32_t done = gather_stretch(world, at->at, stride, left, first + count * direction, direction,
                                       out->entities + count, out->changes + count);
        count += done;
        skip(at, stride, done);
        if (done < left || count == limit)
            return count;
    }
}

/* Copies the staged values of changes into a column. */
static void fill_column(char *to, const char *const *changes, const micap_kind_value *value, uint32_t count)
{
    uint32_t bytes = value->bytes, offset = value->offset;
    const char *const *end = changes + count;
    if (bytes == 12) /* a vector of three */
        for (; changes < end; ++changes, to += 12)
            memcpy(to, *changes + offset, 12);
    else if (bytes > 16)
        for (; changes < end; ++changes, to += bytes)
            memcpy(to, *changes + offset, bytes);
    else
        for (; changes < end; ++changes, to += bytes)
            micap_copy_trivial(to, *changes + offset, bytes);
}

/* Destroys values of rows of a run that go. Snapshots have what they need. */
static void destruct_column(const micap_row_batch *run, uint32_t column)
{
    uint32_t first = run->is_backward ? run->from.row + 1 - run->count : run->from.row;
    micap_values_destruct(run->from.chunk->archetype->columns[column].type,
                          micap_chunk_value(run->from.chunk, column, first), run->count);
}

/* Moves the rows of a run along an edge, or without one. */
static void move_run(mica_world *world, const micap_row_batch *run, const micap_edge *edge, const mica_entity *entities)
{
    uint32_t count = run->count;
    micap_row_batch_move_columns(world, run);
    if (edge->path == MICAP_EDGE_REMOVES && edge->calls_destruct)
        destruct_column(run, edge->column);
    memcpy(micap_chunk_entities(run->to.chunk) + run->to.row, entities, count * sizeof *entities);
    for (uint32_t i = 0; i < count; ++i)
        *micap_record_at(&world->entities, entities[i].index) =
            micap_record_pack(entities[i].generation, run->to.chunk->number, run->to.row + i);
    micap_row_batch_end(world, run);
}

/* Copies the staged values of changes into the columns of rows, which are new where `from` (NULL: none) has no such column. */
static void fill_columns(mica_world *world, micap_row spot, const micap_recorded_kind *kind, const char *const *changes,
                         uint32_t count, const micap_archetype *from)
{
    const micap_kind_value *value = micap_kind_values(kind), *end = value + kind->value_count;
    for (; value < end; ++value) {
        if (!value->offset || (kind->has_pools && micap_is_pooled(value->component)))
            continue;
        uint32_t column = micap_archetype_column(spot.chunk->archetype, value->component);
        if (from && micap_archetype_has(from, value->component))
            micap_touch_column(world, spot.chunk, column, spot.row, count, micap_version(world));
        fill_column(micap_chunk_value(spot.chunk, column, spot.row), changes, value, count);
    }
}

/* Moves one row along an edge, or without one, with the values of its change. */
static MICAP_INLINE void move_one(mica_world *world, micap_row from, const micap_group *group,
                                  const micap_recorded_kind *kind, const char *change)
{
    const micap_edge *edge = &group->edge;
    mica_entity entity = ((const micap_recorded *)(const void *)change)->entity;
    micap_row to = micap_rows_next(group->to);
    bool is_only = kind->value_count == 1 && edge->path != MICAP_EDGE_GENERAL;
    if (edge->path == MICAP_EDGE_REMOVES)
        micap_row_step_remove(world, entity, from, edge);
    else if (edge->path == MICAP_EDGE_GENERAL)
        micap_row_change_archetype(world, from, group->to);
    else if (is_only && edge->column != MICAP_COLUMN_TAG)
        micap_row_step_set(world, entity, from, edge, change + micap_kind_values(kind)->offset);
    else
        micap_row_step_add(world, entity, from, edge);
    micap_rows_have_moved(world);
    if (!is_only)
        fill_columns(world, to, kind, &change, 1, group->from);
}

/* One row or several; returns how many. */
static MICAP_INLINE uint32_t move_first(mica_world *world, const micap_group *group, const micap_recorded_kind *kind,
                                        cursor *at, uint32_t left)
{
    gathered gathered;
    micap_row_batch run =
        micap_row_batch_begin(micap_locate(world, entity_at(at)), group->to, left < GATHERED_MAX ? left : GATHERED_MAX);
    run.count = gather_run(world, &run, at, kind->stride, &gathered);
    if (run.count > 1) {
        move_run(world, &run, &group->edge, gathered.entities);
        fill_columns(world, run.to, kind, gathered.changes, run.count, kind->value_count > 1 ? group->from : NULL);
    } else {
        move_one(world, run.from, group, kind, gathered.changes[0]);
    }
    return run.count;
}

static MICAP_NOINLINE void move_rows(mica_world *world, const micap_group *group, const micap_flush_step *step,
                                     uint32_t left)
{
    for (cursor at = begin_steps(step); left;)
        left -= move_first(world, group, step->kind, &at, left);
}

static void move(mica_world *world, const micap_group *group, const micap_flush_step *step, uint32_t count)
{
    group->to->incoming -= count;
    if (count == 1)
        move_one(world, micap_locate(world, step->changes->entity), group, step->kind, (const char *)step->changes);
    else
        move_rows(world, group, step, count);
}

/* Overwrites values of components that the entities of changes have. */
static MICAP_INLINE void overwrite_values(mica_world *world, const micap_archetype *archetype,
                                          const micap_flush_step *first, const micap_flush_step *end)
{
    const micap_recorded_kind *kind = first->kind;
    const micap_kind_value *value = micap_kind_values(kind), *last = value + kind->value_count;
    for (; value < last; ++value) {
        if (!value->offset || (kind->has_pools && micap_is_pooled(value->component)))
            continue;
        uint32_t column = micap_archetype_column(archetype, value->component);
        for (const micap_flush_step *step = first; step != end; step = step->next) {
            micap_recorded *change = step->changes;
            for (uint32_t left = step->count; left; --left, change = micap_recorded_after(change, kind)) {
                micap_row spot = micap_locate(world, change->entity);
                micap_touch_value(world, spot.chunk, column, spot.row);
                micap_copy_trivial(micap_chunk_value(spot.chunk, column, spot.row), (char *)change + value->offset,
                                   value->bytes);
            }
        }
    }
}

/* Entities that enter or leave a pool together. */
typedef struct pool_list {
    mica_pool *pool;
    bool removes;
    uint32_t count;
    mica_entity entities[GATHERED_MAX];
} pool_list;

static void end_pool_list(mica_world *world, pool_list *list)
{
    if (list->removes)
        micap_pooled_remove_many(world, list->pool, list->entities, list->count);
    else
        micap_pools_commit_list(world, list->pool, list->entities, list->count);
    list->count = 0;
}

/* Adds a value to the list, or writes it over the one that is there. */
static inline void set_in_pool(mica_world *world, pool_list *list, mica_entity entity, const char *from)
{
    mica_pool *pool = list->pool;
    if (micap_pooled_is_in(world, pool, entity)) {
        if (pool->value_bytes) /* a tag has no value */
            micap_pooled_overwrite(world, pool, entity, from);
        return;
    }
    if (pool->value_bytes)
        micap_copy_fresh(micap_pool_value(pool, pool->present ? entity.index : pool->row_limit + list->count), from,
                         pool->value_bytes);
    list->entities[list->count++] = entity;
}

/* Applies what steps of one kind do in a pool. Each entity occurs once. */
static void change_pool(mica_world *world, const micap_flush_step *first, const micap_flush_step *end,
                        const micap_kind_value *value)
{
    pool_list list;
    list.pool = micap_pool_of(world, value->component);
    MICAP_ASSERT(list.pool, "the flush makes the pools that its changes need before it applies them");
    list.removes = value->operation == MICAP_OPERATION_REMOVE;
    list.count = 0;
    for (const micap_flush_step *step = first; step != end; step = step->next) {
        micap_recorded *change = step->changes;
        for (uint32_t left = step->count; left; --left, change = micap_recorded_after(change, step->kind)) {
            if (!list.removes)
                set_in_pool(world, &list, change->entity, (const char *)change + value->offset);
            else if (micap_pooled_is_in(world, list.pool, change->entity))
                list.entities[list.count++] = change->entity;
            if (list.count == GATHERED_MAX)
                end_pool_list(world, &list);
        }
    }
    end_pool_list(world, &list);
}

void micap_batch_change_pools(mica_world *world, const micap_flush_step *first, const micap_flush_step *end)
{
    const micap_kind_value *value = micap_kind_values(first->kind), *last = value + first->kind->value_count;
    for (; value < last; ++value)
        if (micap_is_pooled(value->component))
            change_pool(world, first, end, value);
}

/* Makes `count` new rows of one chunk, of the entities of changes. Returns the change after them. */
static cursor fill_rows(mica_world *world, micap_row spot, const micap_recorded_kind *kind, cursor at, uint32_t count)
{
    mica_entity *entities = micap_chunk_entities(spot.chunk) + spot.row;
    const char *changes[GATHERED_MAX];
    uint32_t stride = kind->stride, number = spot.chunk->number;
    micap_touch_rows(world, spot.chunk, spot.row, count);
    for (uint32_t i = 0; i < count; ++i, skip(&at, stride, 1)) {
        mica_entity entity = entity_at(&at);
        changes[i] = at.at;
        entities[i] = entity;
        *micap_record_at(&world->entities, entity.index) = micap_record_pack(entity.generation, number, spot.row + i);
    }
    fill_columns(world, spot, kind, changes, count, NULL);
    micap_rows_count_up(spot, count);
    micap_rows_have_moved(world);
    return at;
}

static MICAP_NOINLINE void create_rows(mica_world *world, micap_archetype *to, const micap_flush_step *step,
                                       uint32_t left)
{
    cursor at = begin_steps(step);
    to->incoming -= left;
    for (uint32_t count; left; left -= count) {
        micap_row spot = micap_rows_next(to);
        count = spot.chunk->capacity - spot.row;
        count = count < left ? count : left;
        count = count < GATHERED_MAX ? count : GATHERED_MAX;
        at = fill_rows(world, spot, step->kind, at, count);
    }
}

/* Destroys the values of rows that go. */
static void destruct_rows(mica_world *world, const micap_row_batch *run)
{
    const micap_archetype *archetype = run->from.chunk->archetype;
    uint32_t first = run->is_backward ? run->from.row + 1 - run->count : run->from.row;
    micap_preserve_rows(world, run->from.chunk, first, run->count);
    for (uint32_t i = 0; i < archetype->column_count; ++i)
        if (!archetype->columns[i].trivial)
            destruct_column(run, i);
}

/* Frees what those that die have besides their rows. */
static void forget_all(mica_world *world, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        micap_entity_forget(world, entities[i]);
}

static void destroy_one(mica_world *world, mica_entity entity)
{
    micap_row spot = micap_locate(world, entity);
    bool is_shared = world->flush.is_shared;
    if (world->pools.count && !is_shared)
        micap_pools_entity_dies(world, entity);
    if (MICAP_UNLIKELY(!spot.chunk->archetype->trivial))
        micap_rows_destruct(world, spot, 1);
    micap_row_fill_hole(world, spot);
    micap_rows_have_moved(world);
    if (!is_shared)
        micap_entity_forget(world, entity);
}

/* Destroys entities whose rows do not follow each other, the first of which is gathered. Returns how many. */
static uint32_t destroy_scattered(mica_world *world, gathered *gathered, cursor *at, uint32_t stride, uint32_t left)
{
    bool is_shared = world->flush.is_shared;
    uint32_t count = left < GATHERED_MAX ? left : GATHERED_MAX;
    micap_archetype *archetype = micap_locate(world, gathered->entities[0]).chunk->archetype;
    for (uint32_t i = 1; i < count; ++i, skip(at, stride, 1))
        gathered->entities[i] = entity_at(at);
    if (world->pools.count && !is_shared)
        micap_pools_entities_die(world, gathered->entities, count);
    micap_rows_remove_scattered(world, archetype, gathered->entities, count);
    micap_rows_have_moved(world);
    if (!is_shared)
        forget_all(world, gathered->entities, count);
    return count;
}

static MICAP_NOINLINE void destroy_rows(mica_world *world, const micap_flush_step *step, uint32_t left)
{
    gathered gathered;
    bool is_shared = world->flush.is_shared;
    cursor at = begin_steps(step);
    for (uint32_t count; left; left -= count) {
        micap_row_batch run =
            micap_row_batch_begin(micap_locate(world, entity_at(&at)), NULL, left < GATHERED_MAX ? left : GATHERED_MAX);
        count = run.count = gather_run(world, &run, &at, step->kind->stride, &gathered);
        if (count == 1 && left > 1 && run.from.chunk->archetype->trivial) {
            count = destroy_scattered(world, &gathered, &at, step->kind->stride, left);
            continue;
        }
        if (world->pools.count && !is_shared)
            micap_pools_entities_die(world, gathered.entities, count);
        if (MICAP_UNLIKELY(!run.from.chunk->archetype->trivial))
            destruct_rows(world, &run);
        if (count > 1)
            micap_row_batch_end(world, &run);
        else
            micap_row_fill_hole(world, run.from);
        micap_rows_have_moved(world);
        if (!is_shared)
            forget_all(world, gathered.entities, count);
    }
}

const micap_flush_step *micap_batch_apply(mica_world *world, const micap_group *group, const micap_flush_step *step)
{
    const micap_flush_step *end = step->next;
    uint32_t count = step->count;
    for (; end && end->kind == step->kind; end = end->next)
        count += end->count;
    if (!group->from)
        create_rows(world, group->to, step, count);
    else if (!group->to)
        count == 1 ? destroy_one(world, step->changes->entity) : destroy_rows(world, step, count);
    else if (group->from != group->to)
        move(world, group, step, count);
    else
        overwrite_values(world, group->from, step, end);
    if (step->kind->has_pools && !world->flush.is_shared)
        micap_batch_change_pools(world, step, end);
    return end;
}

void micap_batch_finish(mica_world *world, const micap_group *group, const micap_flush_step *step)
{
    const micap_recorded *change = step->changes;
    if (step->kind->has_pools)
        micap_batch_change_pools(world, step, step->next);
    for (uint32_t i = 0; !group->to && i < step->count; ++i) {
        if (world->pools.count)
            micap_pools_entity_dies(world, change->entity);
        micap_entity_forget(world, change->entity);
        change = (const micap_recorded *)(const void *)((const char *)change + step->kind->stride);
    }
}
