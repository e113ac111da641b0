/* A system that adds or removes a component mostly does so for neighbours. Then whole parts of columns move instead of rows.
 *
 * The result is that of one move after the other: where a hole is filled with the last row, a run of holes from the first to
 * the last is filled with the last rows from the last to the first. */
#include "core/commands/apply_batch.h"

#include "core/commands/command_buffer.h"
#include "core/entity/pool_component.h"
#include "core/entity/pool_fast_path.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/world.h"

enum { GATHERED_MAX = 256 }; /* targets whose entities are gathered at once */

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

static bool is_simple(const micap_target *target)
{
    return target->edge.path != MICAP_EDGE_GENERAL && target->first == target->last &&
           target->first->toggle == MICAP_TOGGLE_KEEP &&
           !(micap_change_hooks(target->from) | micap_change_hooks(target->to));
}

/* Whether a target makes the same move as the first one of a run, whose row is `count` rows away. */
static bool continues(const mica_world *world, const micap_row_batch *run, const micap_target *first,
                      const micap_target *target, uint32_t count)
{
    micap_row spot = micap_locate(world, target->entity);
    return spot.chunk == run->from.chunk &&
           spot.row == (run->is_backward ? run->from.row - count : run->from.row + count) && target->to == first->to &&
           target->edge.component == first->edge.component && is_simple(target);
}

uint32_t micap_targets_apply_batch(mica_world *world, micap_target *const *targets, uint32_t count)
{
    const micap_target *first = targets[0];
    mica_entity entities[GATHERED_MAX];
    if (count < 2 || !is_simple(first))
        return 0;
    micap_row_batch run = micap_row_batch_begin(micap_locate(world, first->entity), first->to,
                                                count < GATHERED_MAX ? count : GATHERED_MAX);
    uint32_t found = 0;
    for (; found < run.count && continues(world, &run, first, targets[found], found); ++found)
        entities[found] = targets[found]->entity;
    if (found < 2)
        return 0;
    run.count = found;
    first->to->incoming -= found;
    char *value = move_run(world, &run, &first->edge, entities);
    uint64_t bytes = first->first->type->type.size_bytes;
    for (uint32_t i = 0; value && i < found; ++i, value += bytes)
        micap_copy_trivial(value, targets[i]->first->value, bytes);
    return found;
}

/* The first buffer from here on that has something to apply, or NULL. */
static const mica_commands *next_used(const mica_commands *commands)
{
    while (commands && micap_recording_is_empty(&commands->applied))
        commands = commands->next;
    return commands;
}

/* What all buffers with something to apply recorded; NULL when it is not one change for entities of rising index. */
static const micap_recorded_batch *batch_of_all(const mica_world *world)
{
    const micap_recorded_batch *before = NULL;
    for (const mica_commands *commands = next_used(world->first_commands); commands;
         commands = next_used(commands->next)) {
        const micap_recorded_batch *batch = &commands->applied.batch;
        if (commands->applied.first_note || !batch->type)
            return NULL;
        if (before && (batch->type != before->type || batch->operation != before->operation ||
                       batch->first->entities[0].index <= before->last_index))
            return NULL;
        before = batch;
    }
    return before;
}

/* Adds the archetype of the entities of a batch to what is known; false when there are several, or one is dead. */
static bool share_archetype(const mica_world *world, const micap_recorded_batch *batch, micap_archetype **archetype)
{
    uint32_t number = MICAP_CHUNK_NONE;
    for (const micap_batch_block *block = batch->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count; ++i) {
            uint32_t next = micap_record_chunk(micap_record_of(&world->entities, block->entities[i]));
            if (MICAP_LIKELY(next == number && next))
                continue;
            number = next;
            micap_archetype *other = world->chunks.by_number[number]->archetype;
            if (number <= MICAP_CHUNK_PENDING || (*archetype && other != *archetype))
                return false;
            *archetype = other;
        }
    return true;
}

/* The one archetype that all entities are in, and how many there are; or NULL. */
static micap_archetype *archetype_of_all(const mica_world *world, uint64_t *out_count)
{
    micap_archetype *archetype = NULL;
    *out_count = 0;
    for (const mica_commands *commands = next_used(world->first_commands); commands;
         commands = next_used(commands->next)) {
        if (!share_archetype(world, &commands->applied.batch, &archetype))
            return NULL;
        *out_count += commands->applied.target_count;
    }
    return archetype;
}

static micap_batch_outcome failed(const mica_world *world)
{
    mica_result result = micap_failure(world);
    return result == MICA_ERROR_MEMORY || result == MICA_ERROR_REFUSED ? MICAP_BATCH_FAILED : MICAP_BATCH_NONE;
}

/* How many of some entities lie as the run needs them. */
static uint32_t run_length(const mica_world *world, const micap_row_batch *run, const mica_entity *entities)
{
    uint64_t first = *micap_record_at(&world->entities, entities[0].index);
    uint32_t count = 1;
    while (count < run->count) {
        uint64_t record = *micap_record_at(&world->entities, entities[count].index);
        if (run->is_backward ? !micap_record_follows(first, record, count)
                             : !micap_record_follows(record, first, count))
            break;
        ++count;
    }
    return count;
}

/* Moves the first of some entities along an edge, with their values; returns how many that were. */
static uint32_t move_first(mica_world *world, const micap_edge *edge, const mica_entity *entities, uint32_t count,
                           const char *values, uint64_t bytes)
{
    micap_row_batch run = micap_row_batch_begin(micap_locate(world, entities[0]), edge->end, count);
    run.count = run_length(world, &run, entities);
    char *to = move_run(world, &run, edge, entities);
    if (to)
        memcpy(to, values, run.count * bytes);
    return run.count;
}

static void move_all(mica_world *world, const micap_recorded_batch *batch, const micap_edge *edge)
{
    for (const micap_batch_block *block = batch->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count;)
            i += move_first(world, edge, block->entities + i, block->count - i,
                            block->values + (size_t)i * batch->bytes, batch->bytes);
}

static micap_batch_outcome apply_to_chunks(mica_world *world, const micap_recorded_batch *batch, micap_archetype *from,
                                           uint64_t count)
{
    mica_component component = batch->type->id;
    if (micap_archetype_has(from, component) != (batch->operation == MICAP_OPERATION_REMOVE) ||
        micap_change_hooks(from))
        return MICAP_BATCH_NONE;
    const micap_edge *known = micap_archetype_step(world, from, component);
    if (!known)
        return failed(world);
    micap_edge edge = *known;
    if (edge.path == MICAP_EDGE_GENERAL || micap_change_hooks(edge.end))
        return MICAP_BATCH_NONE;
    if (!micap_rows_reserve(world, edge.end, count)) {
        micap_fail_memory(world, "flush");
        return MICAP_BATCH_FAILED;
    }
    for (const mica_commands *commands = next_used(world->first_commands); commands;
         commands = next_used(commands->next))
        move_all(world, &commands->applied.batch, &edge);
    return MICAP_BATCH_APPLIED;
}

static bool reserve_in_pool(mica_world *world, mica_pool *pool, const micap_recorded_batch *batch, uint64_t count)
{
    for (const micap_batch_block *block = batch->first; block; block = block->next)
        if (!micap_pooled_reserve(world, pool, block->entities, block->count, count)) {
            micap_fail_memory(world, batch->type->type.name);
            return false;
        }
    return true;
}

static void change_pool(mica_world *world, mica_pool *pool, const micap_recorded_batch *batch)
{
    for (const micap_batch_block *block = batch->first; block; block = block->next) {
        if (batch->operation == MICAP_OPERATION_REMOVE)
            micap_pooled_remove_all(world, pool, block->entities, block->count);
        else
            micap_pooled_set_all(world, pool, block->entities, block->values, block->count);
    }
}

static micap_batch_outcome apply_to_pool(mica_world *world, const micap_recorded_batch *batch, uint64_t count)
{
    if (!micap_component_use(world, batch->type->id))
        return failed(world);
    mica_pool *pool = micap_pool_of(world, batch->type->id);
    MICAP_ASSERT(pool, "the world uses the component");
    if (!micap_pool_is_fast(world, pool))
        return MICAP_BATCH_NONE;
    const mica_commands *commands = next_used(world->first_commands);
    for (; commands && batch->operation != MICAP_OPERATION_REMOVE; commands = next_used(commands->next))
        if (!reserve_in_pool(world, pool, &commands->applied.batch, count))
            return MICAP_BATCH_FAILED;
    for (commands = next_used(world->first_commands); commands; commands = next_used(commands->next))
        change_pool(world, pool, &commands->applied.batch);
    return MICAP_BATCH_APPLIED;
}

micap_batch_outcome micap_flush_apply_batches(mica_world *world)
{
    const micap_recorded_batch *batch = batch_of_all(world);
    uint64_t count;
    micap_archetype *from = batch ? archetype_of_all(world, &count) : NULL;
    if (!from)
        return MICAP_BATCH_NONE;
    return micap_is_pooled(batch->type->id) ? apply_to_pool(world, batch, count)
                                            : apply_to_chunks(world, batch, from, count);
}
