/* Creating entities, one at a time. */
#include "base/argument.h"
#include "base/assert.h"
#include "core/entity/create.h"
#include "core/entity/create_plan.h"
#include "core/entity/create_rows.h"
#include "core/entity/required.h"
#include "core/events/hooks.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "pool/pool_fast_rows.h"
#include "pool/pool_group.h"

/* Creates an entity with exactly these values. */
static mica_entity create_given(mica_world *world, micap_archetype *archetype, const mica_value *values, uint32_t count)
{
    if (!archetype)
        return mica_nil();
    micap_creation what = {archetype, values, count, 1};
    micap_row first;
    if (!micap_rows_create(world, &what, 1, "create", &first))
        return mica_nil();
    mica_entity entity = micap_chunk_entities(first.chunk)[first.row];
    micap_rows_created(world, &what, first, 1, NULL);
    micap_hooks_end(world);
    return entity;
}

/* Creates an entity with required components that are not given. */
static mica_entity create_required(mica_world *world, const mica_value *values, uint32_t count)
{
    micap_complete complete;
    if (!micap_values_complete(world, values, count, &complete))
        return mica_nil();
    mica_entity entity = mica_create_id(world, complete.values, complete.count);
    micap_complete_free(world, &complete);
    return entity;
}

/* The general path: lists without a plan, full chunks, values with functions of their own, pools. */
static MICAP_COLD mica_entity create_any(mica_world *world, const mica_value *values, uint32_t count)
{
    if (micap_create_plan_choose(world, values, count))
        return mica_create_id(world, values, count);
    micap_archetype *archetype = micap_create_plan_find(world, values, count);
    if (!archetype && micap_values_lack_required(values, count)) /* such a list has no plan */
        return create_required(world, values, count);
    if (!archetype)
        archetype = micap_create_plan_archetype(world, values, count);
    return create_given(world, archetype, values, count);
}

/* Fills the raw row of a plan. False if the plan is for another list: the row is still raw then. */
static MICAP_INLINE bool fill_row(const micap_create_plan *plan, micap_row spot, const mica_value *values,
                                  uint32_t count)
{
    const micap_create_item *item = plan->items;
    for (; count; --count, ++item, ++values) {
        if (MICAP_UNLIKELY(item->component != values->component || item->size_bytes != values->size_bytes))
            return false;
        uint64_t bytes = item->bytes;
        const micap_column_data *column = (const void *)((const char *)spot.chunk + item->column_offset);
        char *to = column->values + spot.row * bytes;
        if (MICAP_LIKELY(values->data != NULL))
            micap_copy_fresh(to, values->data, bytes);
        else
            micap_zero_trivial(to, bytes);
    }
    return true;
}

/* The end of the fast path if the chunk is full now, or if there are hooks. */
static MICAP_NOINLINE mica_entity end_create(mica_world *world, micap_row spot, const mica_value *values,
                                             uint32_t count, mica_entity entity)
{
    if (spot.chunk->count == spot.chunk->capacity)
        micap_rows_update_open(spot.chunk->archetype);
    if (MICAP_UNLIKELY(world->pools.count))
        micap_hooks_created(world, spot, 1, values, count);
    else if (micap_creation_hooks(spot.chunk->archetype))
        micap_hooks_added_given(world, spot, values, count);
    micap_hooks_end(world);
    return entity;
}

/* The fast path, for a plan whose archetype has room. Whether a handle is ready is found when it is taken: until then, the row is raw.
 * Other paths are calls at the end, so that this one saves little on the stack. */
static MICAP_INLINE mica_entity create_by_plan(mica_world *world, const micap_create_plan *plan,
                                               const mica_value *values, uint32_t count)
{
    micap_row spot = micap_rows_next(plan->archetype);
    if (MICAP_UNLIKELY(!fill_row(plan, spot, values, count) || !micap_entity_is_ready(&world->entities)))
        return create_any(world, values, count);
    uint64_t *record;
    mica_entity entity = micap_entity_take_ready(&world->entities, &record);
    micap_stamp_row(world, spot.chunk, spot.row);
    micap_row_own(spot, entity, record);
    ++world->structure;
    bool is_full = micap_rows_count(spot, 1);
    if (MICAP_UNLIKELY(is_full || micap_creation_hooks(spot.chunk->archetype)))
        return end_create(world, spot, values, count, entity);
    return entity;
}

/* Whether a plan with pools is for these values, and every pool has room for the entity that is taken next. */
static MICAP_INLINE bool pools_are_ready(const mica_world *world, const micap_create_plan *plan,
                                         const mica_value *values, uint32_t count, uint32_t entity_index)
{
    const micap_create_item *item = plan->items;
    if (MICAP_UNLIKELY(!micap_map_at(&world->pools.masks, entity_index)))
        return false;
    for (; count; --count, ++item, ++values) {
        const mica_pool *pool = item->pool;
        if (MICAP_UNLIKELY(item->component != values->component || item->size_bytes != values->size_bytes))
            return false;
        if (pool && MICAP_UNLIKELY(!pool->changes_fast || !micap_pool_is_ready(pool, entity_index)))
            return false;
    }
    return true;
}

/* Lets a new entity, whose values are in its rows, enter the groups of its pools. */
static MICAP_NOINLINE void enter_groups(const micap_create_plan *plan, mica_entity entity, mica_version version)
{
    for (uint32_t i = 0; i < plan->count; ++i) {
        const mica_pool *pool = plan->items[i].pool;
        if (pool && pool->group && pool->group->pools[0] == pool)
            micap_group_enter(pool->group, entity, version);
    }
}

/* Fills the raw row of a plan with pools, and adds the rows of the entity to the pools. */
static MICAP_INLINE void fill_pooled(mica_world *world, const micap_create_plan *plan, micap_row spot,
                                     const mica_value *values, uint32_t count, mica_entity entity, bool saves)
{
    const micap_create_item *item = plan->items;
    mica_version version = micap_version(world);
    for (; count; --count, ++item, ++values) {
        uint64_t bytes = item->bytes;
        char *to;
        if (item->pool) {
            to = micap_pool_add_ready(item->pool, entity, version, saves);
        } else {
            const micap_column_data *column = (const void *)((const char *)spot.chunk + item->column_offset);
            to = column->values + spot.row * bytes;
        }
        if (MICAP_LIKELY(values->data != NULL))
            micap_copy_fresh(to, values->data, bytes);
        else
            micap_zero_trivial(to, bytes);
    }
    if (MICAP_UNLIKELY(world->pools.group_count))
        enter_groups(plan, entity, version);
    if (saves)
        micap_map_touch(&world->pools.masks, entity.index);
    *micap_map_entry_at(&world->pools.masks, entity.index) = plan->pool_bits;
}

/* The fast path with pools, for a plan whose archetype has room: the rows of all pools in one pass. Nothing changes before it is
 * known that every pool has room. */
static MICAP_INLINE mica_entity create_pooled(mica_world *world, const micap_create_plan *plan,
                                              const mica_value *values, uint32_t count, bool saves)
{
    if (MICAP_UNLIKELY(!pools_are_ready(world, plan, values, count, micap_entity_peek_ready(&world->entities))))
        return create_any(world, values, count);
    micap_row spot = micap_rows_next(plan->archetype);
    if (saves) {
        micap_touch_next_record(&world->entities);
        micap_touch_row(world, spot.chunk, spot.row);
    }
    uint64_t *record;
    mica_entity entity = micap_entity_take_ready(&world->entities, &record);
    fill_pooled(world, plan, spot, values, count, entity, saves);
    micap_stamp_row(world, spot.chunk, spot.row);
    micap_row_own(spot, entity, record);
    ++world->structure;
    bool is_full = micap_rows_count(spot, 1);
    if (MICAP_UNLIKELY(is_full || micap_creation_hooks(spot.chunk->archetype)))
        return end_create(world, spot, values, count, entity);
    return entity;
}

static MICAP_NOINLINE mica_entity create_pooled_saving(mica_world *world, const micap_create_plan *plan,
                                                       const mica_value *values, uint32_t count)
{
    return create_pooled(world, plan, values, count, true);
}

/* The same while there are snapshots, or with pools; or the general path. */
static MICAP_NOINLINE mica_entity create_other(mica_world *world, const mica_value *values, uint32_t count)
{
    const micap_create_plan *plan = *micap_create_plan_recent(&world->create_plans, values, count);
    if (plan->known_pooled == count + 1 && plan->archetype->open && micap_entity_is_ready(&world->entities))
        return world->undo.before ? create_pooled_saving(world, plan, values, count)
                                  : create_pooled(world, plan, values, count, false);
    if (plan->known != count + 1 || !plan->archetype->open)
        return create_any(world, values, count);
    micap_row spot = micap_rows_next(plan->archetype);
    micap_touch_next_record(&world->entities);
    micap_touch_row(world, spot.chunk, spot.row);
    return create_by_plan(world, plan, values, count);
}

static MICAP_NOINLINE mica_entity create_recorded(mica_world *world, const mica_value *values, uint32_t count)
{
    return mica_command_create_id(micap_recorder(world), values, count, (mica_location){0});
}

mica_entity micap_create_exactly(mica_world *world, const mica_value *values, uint32_t count)
{
    if (!micap_values_lack_required(values, count))
        return mica_create_id(world, values, count);
    if (world->recording_depth)
        return micap_command_create_exactly(micap_recorder(world), values, count);
    return create_given(world, micap_archetype_of_values(world, values, count), values, count);
}

mica_entity mica_create_id(mica_world *world, const mica_value *values, uint32_t count)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, values, count))
        return mica_nil();
    if (MICAP_UNLIKELY(world->recording_depth))
        return create_recorded(world, values, count);
    if (MICAP_UNLIKELY(!count)) /* so that the loops below need not ask for it */
        return create_other(world, values, 0);
    const micap_create_plan *plan = *micap_create_plan_recent(&world->create_plans, values, count);
    if (MICAP_UNLIKELY(world->undo.before || plan->known != count + 1 || !plan->archetype->open))
        return create_other(world, values, count);
    return create_by_plan(world, plan, values, count);
}
