/* Applying a run of targets at once. A system that adds or removes a component mostly does so for neighbours, and then
 * whole pieces of columns move instead of rows. Whatever is special about a target, hooks for example, ends the run.
 *
 * The outcome is that of one move after the other, row by row: where a hole is filled with the last row, a run of holes
 * from the first to the last is filled with the last rows from the last to the first. */
#include "base/assert.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"

static bool is_simple(const micap_target *target)
{
    return target->edge.path != MICAP_EDGE_GENERAL && target->first == target->last &&
           target->first->toggle == MICAP_TOGGLE_KEEP &&
           !(micap_change_hooks(target->from) | micap_change_hooks(target->to));
}

static micap_row_run find_run(const mica_world *world, micap_target *const *targets, uint32_t count)
{
    const micap_target *first = targets[0];
    micap_row_run run = micap_run_begin(micap_locate(world, first->entity), first->to, count);
    for (uint32_t i = 0; i < run.count; ++i) {
        const micap_target *target = targets[i];
        micap_spot spot = micap_locate(world, target->entity);
        uint32_t expected = run.is_backward ? run.from.row - i : run.from.row + i;
        if (spot.chunk != run.from.chunk || spot.row != expected || target->to != first->to ||
            target->edge.component != first->edge.component || !is_simple(target))
            run.count = i;
    }
    return run;
}

static void place_values(const micap_row_run *run, micap_target *const *targets)
{
    uint32_t column = targets[0]->edge.column;
    if (targets[0]->edge.path != MICAP_EDGE_ADDS || column == MICAP_COLUMN_TAG)
        return;
    const micap_lane *lane = &micap_chunk_lanes(run->to.chunk)[column];
    char *value = lane->values + run->to.row * lane->bytes;
    for (uint32_t i = 0; i < run->count; ++i, value += lane->bytes)
        micap_copy_trivial(value, targets[i]->first->value, lane->bytes);
}

uint32_t micap_targets_apply_run(mica_world *world, micap_target *const *targets, uint32_t count)
{
    if (!is_simple(targets[0]))
        return 0;
    micap_row_run run = find_run(world, targets, count);
    if (run.count < 2)
        return 0;
    micap_run_move_columns(world, &run, &targets[0]->edge);
    place_values(&run, targets);
    mica_entity *entities = micap_chunk_entities(run.to.chunk) + run.to.row;
    for (uint32_t i = 0; i < run.count; ++i) {
        mica_entity entity = targets[i]->entity;
        entities[i] = entity;
        *micap_record_at(&world->entities, entity.index) =
            micap_record_pack(entity.generation, run.to.chunk->number, run.to.row + i);
    }
    targets[0]->to->incoming -= run.count;
    micap_run_end(world, &run);
    return run.count;
}
