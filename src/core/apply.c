/* Applying the net change of one entity: at most one move. */
#include "base/assert.h"
#include "core/hooks.h"
#include "core/life.h"
#include "core/world.h"

/* Moves staged values into the row. Columns that `from` (NULL: none) had hold a value already, the others are raw. */
static void place_values(mica_world *world, const micap_target *target, const micap_archetype *from, micap_spot spot)
{
    const micap_archetype *to = spot.chunk->archetype;
    for (micap_command *command = target->first; command; command = command->next) {
        if (command->operation != MICAP_OPERATION_VALUE || !command->value)
            continue;
        const micap_type *type = command->type;
        uint32_t column = micap_archetype_column(to, type->id);
        void *value = micap_chunk_value(spot.chunk, column, spot.row);
        if (from && micap_archetype_has(from, type->id)) {
            micap_values_destruct(type, value, 1);
            micap_chunk_stamps(spot.chunk, spot.row)[1 + column] = micap_version(world);
        }
        if (to->columns[column].plain)
            micap_copy_bytes(value, command->value, type->type.size_bytes);
        else
            micap_values_move(type, value, command->value, 1);
        command->value = NULL;
    }
}

static void place_toggles(mica_world *world, const micap_target *target, const micap_archetype *from, micap_spot spot)
{
    for (const micap_command *command = target->first; command; command = command->next) {
        if (command->toggle == MICAP_TOGGLE_KEEP || !command->type->enabled ||
            (command->toggle_first && !(from && micap_archetype_has(from, command->type->id))))
            continue;
        uint32_t column = micap_archetype_column(spot.chunk->archetype, command->type->enabled);
        if (column == MICAP_COLUMN_NONE)
            continue;
        *(uint8_t *)micap_chunk_value(spot.chunk, column, spot.row) = command->toggle == MICAP_TOGGLE_ON;
        micap_chunk_stamps(spot.chunk, spot.row)[1 + column] = micap_version(world);
    }
}

static void run_hooks(mica_world *world, const micap_target *target, const micap_archetype *from, micap_spot spot)
{
    const micap_archetype *to = spot.chunk->archetype;
    if (!micap_has_hooks(to, 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET))
        return;
    micap_hooks_added(world, from, spot, 1);
    for (const micap_command *command = target->first; command; command = command->next)
        if (command->operation == MICAP_OPERATION_VALUE && command->is_set)
            micap_hooks_run(world, MICA_EVENT_SET, command->type->id, spot, 1);
}

static void create(mica_world *world, micap_target *target)
{
    micap_spot spot = micap_rows_next(target->to);
    --target->to->incoming;
    micap_row_init_companions(world, NULL, spot);
    place_values(world, target, NULL, spot);
    micap_rows_commit(world, spot, target->entity);
    ++world->structure;
    place_toggles(world, target, NULL, spot);
    run_hooks(world, target, NULL, spot);
}

static void change(mica_world *world, micap_target *target)
{
    micap_spot spot = micap_locate(world, target->entity);
    const micap_archetype *from = spot.chunk->archetype;
    MICAP_ASSERT(from == target->from, "an entity is changed once in a flush");
    if (target->to != from) {
        if (micap_has_hooks(from, 1 << MICA_EVENT_REMOVE))
            micap_hooks_removing(world, target->to, spot, 1);
        --target->to->incoming;
        spot = target->is_step ? micap_row_step(world, spot, target->to, target->gap)
                               : micap_row_change_archetype(world, spot, target->to);
        ++world->structure;
    }
    place_values(world, target, from, spot);
    place_toggles(world, target, from, spot);
    run_hooks(world, target, from, spot);
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
