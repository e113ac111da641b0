#include "core/commands/apply_single.h"

#include "base/assert.h"
#include "core/events/hooks.h"
#include "core/entity/create_rows.h"
#include "core/entity/destroy.h"
#include "core/entity/pool_component.h"
#include "core/events/watch.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/chunk_write.h"
#include "core/storage/split_row.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_rows.h"
#include "pool/pool_undo.h"

/* Moves staged values into the row. Columns that `from` (NULL: none) had hold a value already, the others are raw. */
static void place_values(mica_world *world, const micap_target *target, const micap_archetype *from, micap_row spot)
{
    const micap_archetype *to = spot.chunk->archetype;
    for (micap_command *command = target->first; command; command = command->next) {
        if (command->operation != MICAP_OPERATION_VALUE || !command->value || micap_is_pooled(command->type->id))
            continue;
        const micap_type *type = command->type;
        if (type->leaves) {
            micap_row_overwrite_leaves(world, spot, type, command->value);
            command->value = NULL;
            continue;
        }
        uint32_t column = micap_archetype_column(to, type->id);
        void *value = micap_chunk_value(spot.chunk, column, spot.row);
        if (from && micap_archetype_has(from, type->id)) {
            micap_touch_value(world, spot.chunk, column, spot.row);
            micap_values_destruct(type, value, 1);
        }
        if (to->columns[column].trivial)
            micap_copy_trivial(value, command->value, type->type.size_bytes);
        else
            micap_values_move(type, value, command->value, 1);
        command->value = NULL;
    }
}

static void place_toggles(mica_world *world, const micap_target *target, const micap_archetype *from, micap_row spot)
{
    for (micap_command *command = target->first; command; command = command->next) {
        if (command->toggle == MICAP_TOGGLE_KEEP || !command->type->enabled ||
            (command->toggle_first && !(from && micap_archetype_has(from, command->type->id))))
            continue;
        uint32_t column = micap_archetype_column(spot.chunk->archetype, command->type->enabled);
        if (column == MICAP_COLUMN_NONE)
            continue;
        uint8_t *byte = micap_chunk_value(spot.chunk, column, spot.row);
        micap_touch_value(world, spot.chunk, column, spot.row);
        command->toggled = *byte != (command->toggle == MICAP_TOGGLE_ON);
        *byte = command->toggle == MICAP_TOGGLE_ON;
    }
}

static void run_hooks(mica_world *world, const micap_target *target, const micap_archetype *from, micap_row spot)
{
    const micap_archetype *to = spot.chunk->archetype;
    enum { AFTER = 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET | 1 << MICA_EVENT_ENABLE | 1 << MICA_EVENT_DISABLE };
    if (!micap_has_hooks(to, AFTER))
        return;
    micap_hooks_added(world, from, spot, 1);
    for (const micap_command *command = target->first; command; command = command->next)
        if (command->operation == MICAP_OPERATION_VALUE && command->is_set && !micap_is_pooled(command->type->id))
            micap_hooks_run(world, MICA_EVENT_SET, command->type->id, spot, 1);
    for (const micap_command *command = target->first; command; command = command->next)
        if (command->toggled)
            micap_hooks_run(world, command->toggle == MICAP_TOGGLE_ON ? MICA_EVENT_ENABLE : MICA_EVENT_DISABLE,
                            command->type->id, spot, 1);
}

/* Moves a staged value into a pool: replaces the value that is there, or adds an instance. */
static void place_instance(mica_world *world, mica_pool *pool, mica_entity entity, micap_command *command)
{
    uint32_t row = command->operation == MICAP_OPERATION_INSTANCE ? MICAP_ROW_NONE : micap_pool_row(pool, entity);
    bool was_there = row != MICAP_ROW_NONE;
    if (was_there) {
        if (command->value) {
            micap_pool_touch(pool, MICAP_ALL_COLUMNS, row, 1, micap_version(world));
            micap_pool_destruct_value(pool, row);
            micap_pool_move_value_in(pool, row, command->value);
        }
    } else {
        micap_pools_evict(world, pool, entity);
        if (command->value)
            micap_pool_move_value_in(pool, micap_pool_next_row(pool, entity), command->value);
        row = micap_pools_commit(world, pool, entity);
    }
    command->value = NULL;
    if (!was_there && pool->hook_mask & 1 << MICA_EVENT_ADD)
        micap_pools_run_hook(world, MICA_EVENT_ADD, pool, row, 1);
    if (command->is_set && pool->hook_mask & 1 << MICA_EVENT_SET)
        micap_pools_run_hook(world, MICA_EVENT_SET, pool, row, 1);
    if (pool->enabled && command->toggle != MICAP_TOGGLE_KEEP && (was_there || !command->toggle_first))
        micap_pooled_enable(world, entity, pool->type, command->toggle == MICAP_TOGGLE_ON);
}

/* Of many instances: whether what comes next after a removal is a value. Then the first one was there all the time, as a
 * component is that is removed and added by one flush. */
static bool is_replaced(const micap_command *removal)
{
    const micap_command *next = removal->next;
    while (next && next->type != removal->type)
        next = next->next;
    return next && next->operation == MICAP_OPERATION_VALUE;
}

static void remove_further_instances(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint32_t first;
    while ((first = micap_pool_row(pool, entity)) != MICAP_ROW_NONE && pool->next[first] != MICAP_ROW_NONE)
        micap_pools_remove_instance(world, pool, pool->next[first]);
    if (first != MICAP_ROW_NONE && pool->enabled) /* what is added anew is switched on */
        micap_pooled_enable(world, entity, pool->type, true);
}

/* Removes the instance that came nth before the flush. Earlier removals of this target have moved those after it forward. */
static void remove_nth(mica_world *world, mica_pool *pool, const micap_target *target, const micap_command *removal)
{
    uint32_t nth = removal->nth, row = micap_pool_row(pool, target->entity);
    for (const micap_command *command = target->first; command != removal; command = command->next)
        nth -= command->type == removal->type && command->operation == MICAP_OPERATION_REMOVE_INSTANCE &&
               command->nth < removal->nth;
    for (; nth && row != MICAP_ROW_NONE; --nth)
        row = pool->next[row];
    if (row != MICAP_ROW_NONE) /* or a hook removed it */
        micap_pools_remove_instance(world, pool, row);
}

static void change_pools(mica_world *world, const micap_target *target)
{
    for (micap_command *command = target->first; command; command = command->next) {
        mica_pool *pool = micap_is_pooled(command->type->id) ? micap_pool_of(world, command->type->id) : NULL;
        if (!pool)
            continue;
        if (command->operation == MICAP_OPERATION_REMOVE && is_replaced(command))
            remove_further_instances(world, pool, target->entity);
        else if (command->operation == MICAP_OPERATION_REMOVE)
            micap_pools_remove(world, pool, target->entity);
        else if (command->operation == MICAP_OPERATION_REMOVE_INSTANCE)
            remove_nth(world, pool, target, command);
        else if (command->operation != MICAP_OPERATION_NONE)
            place_instance(world, pool, target->entity, command);
        else if (command->toggle != MICAP_TOGGLE_KEEP)
            micap_pooled_enable(world, target->entity, command->type, command->toggle == MICAP_TOGGLE_ON);
    }
}

static void create(mica_world *world, micap_target *target)
{
    --target->to->incoming;
    micap_row spot = micap_row_create(world, target->to, target->entity);
    place_values(world, target, NULL, spot);
    micap_rows_have_moved(world);
    if (target->has_toggles)
        place_toggles(world, target, NULL, spot);
    run_hooks(world, target, NULL, spot);
    if (world->pools.count && !world->flush.is_shared)
        change_pools(world, target);
}

static micap_row take_edge(mica_world *world, const micap_target *target, micap_row from)
{
    if (target->edge.path == MICAP_EDGE_GENERAL)
        return micap_row_change_archetype(world, from, target->to);
    micap_row to = micap_rows_next(target->to);
    if (target->edge.path == MICAP_EDGE_ADDS)
        micap_row_step_add(world, target->entity, from, &target->edge);
    else
        micap_row_step_remove(world, target->entity, from, &target->edge);
    return to;
}

static void change(mica_world *world, micap_target *target)
{
    micap_row spot = micap_locate(world, target->entity);
    const micap_archetype *from = spot.chunk->archetype;
    MICAP_ASSERT(from && from == target->from, "an entity is changed once in a flush");
    if (target->to != from) {
        if (micap_has_hooks(from, 1 << MICA_EVENT_REMOVE))
            micap_hooks_removing(world, target->to, spot, 1);
        --target->to->incoming;
        spot = take_edge(world, target, spot);
        micap_rows_have_moved(world);
    }
    place_values(world, target, from, spot);
    if (target->has_toggles)
        place_toggles(world, target, from, spot);
    run_hooks(world, target, from, spot);
    if (world->pools.count && !world->flush.is_shared)
        change_pools(world, target);
}

static void destroy(mica_world *world, const micap_target *target)
{
    if (target->doomed)
        return;
    if (!target->created) {
        micap_destroy_with_dependents(world, target->entity);
        return;
    }
    micap_destroy_dependents(world, target->entity);
    micap_entity_forget_pending(world, target->entity);
}

void micap_target_apply_pools(mica_world *world, const micap_target *target)
{
    change_pools(world, target);
}

void micap_target_apply(mica_world *world, micap_target *target)
{
    if (target->destroyed) {
        destroy(world, target);
    } else if (target->created) {
        create(world, target);
    } else {
        change(world, target);
    }
}
