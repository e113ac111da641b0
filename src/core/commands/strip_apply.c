/* Applying strips: all entities are in one archetype and go to another, or into one pool or out of it. Several buffers count as one
 * when they recorded the same, and each goes on behind the last entity of the one before it: so it is when one system worked on
 * the rows of a chunk in pieces. */
#include "core/entity/pool_component.h"
#include "core/world/report.h"
#include "core/storage/row_batch.h"
#include "core/storage/rows.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/pool_lookup.h"
#include "core/entity/pool_fast_path.h"

/* The first buffer from here on that has something to apply, or NULL. */
static const mica_commands *next_used(const mica_commands *commands)
{
    while (commands && micap_recording_is_empty(&commands->applied))
        commands = commands->next;
    return commands;
}

/* What all buffers with something to apply recorded; NULL when it is not one change for entities of rising index. */
static const micap_strip *strip_of_all(const mica_world *world)
{
    const micap_strip *before = NULL;
    for (const mica_commands *commands = next_used(world->first_commands); commands;
         commands = next_used(commands->next)) {
        const micap_strip *strip = &commands->applied.strip;
        if (commands->applied.first_note || !strip->type)
            return NULL;
        if (before && (strip->type != before->type || strip->operation != before->operation ||
                       strip->first->entities[0].index <= before->last_index))
            return NULL;
        before = strip;
    }
    return before;
}

/* Adds the archetype of the entities of a strip to what is known; false when there are several, or one is dead. */
static bool share_archetype(const mica_world *world, const micap_strip *strip, micap_archetype **archetype)
{
    uint32_t number = MICAP_CHUNK_NONE;
    for (const micap_strip_block *block = strip->first; block; block = block->next)
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
        if (!share_archetype(world, &commands->applied.strip, &archetype))
            return NULL;
        *out_count += commands->applied.target_count;
    }
    return archetype;
}

static micap_strip_outcome failed(const mica_world *world)
{
    mica_result result = micap_failure(world);
    return result == MICA_ERROR_MEMORY || result == MICA_ERROR_REFUSED ? MICAP_STRIP_FAILED : MICAP_STRIP_NONE;
}

/* How many of some entities lie as a run wants them. */
static uint32_t find_run(const mica_world *world, const micap_row_run *run, const mica_entity *entities)
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
static uint32_t move_run(mica_world *world, const micap_edge *edge, const mica_entity *entities, const char *values,
                         uint32_t count)
{
    micap_row_run run = micap_run_begin(micap_locate(world, entities[0]), edge->end, count);
    run.count = find_run(world, &run, entities);
    micap_run_move_columns(world, &run, edge);
    memcpy(micap_chunk_entities(run.to.chunk) + run.to.row, entities, run.count * sizeof *entities);
    for (uint32_t i = 0; i < run.count; ++i)
        *micap_record_at(&world->entities, entities[i].index) =
            micap_record_pack(entities[i].generation, run.to.chunk->number, run.to.row + i);
    if (edge->path == MICAP_EDGE_ADDS) { /* by a value: tags are not recorded in strips */
        const micap_lane *lane = &micap_chunk_lanes(run.to.chunk)[edge->column];
        memcpy(lane->values + run.to.row * lane->bytes, values, run.count * lane->bytes);
    }
    micap_run_end(world, &run);
    return run.count;
}

static void move_all(mica_world *world, const micap_strip *strip, const micap_edge *edge)
{
    for (const micap_strip_block *block = strip->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count;)
            i += move_run(world, edge, block->entities + i, block->values + (size_t)i * strip->bytes, block->count - i);
}

static micap_strip_outcome apply_to_chunks(mica_world *world, const micap_strip *strip, micap_archetype *from,
                                           uint64_t count)
{
    mica_component component = strip->type->id;
    if (micap_archetype_has(from, component) != (strip->operation == MICAP_OPERATION_REMOVE) ||
        micap_change_hooks(from))
        return MICAP_STRIP_NONE;
    const micap_edge *known = micap_archetype_step(world, from, component);
    if (!known)
        return failed(world);
    micap_edge edge = *known;
    if (edge.path == MICAP_EDGE_GENERAL || micap_change_hooks(edge.end))
        return MICAP_STRIP_NONE;
    if (!micap_rows_reserve(world, edge.end, count)) {
        micap_fail_memory(world, "flush");
        return MICAP_STRIP_FAILED;
    }
    for (const mica_commands *commands = next_used(world->first_commands); commands;
         commands = next_used(commands->next))
        move_all(world, &commands->applied.strip, &edge);
    return MICAP_STRIP_APPLIED;
}

static bool reserve_in_pool(mica_world *world, mica_pool *pool, const micap_strip *strip, uint64_t count)
{
    for (const micap_strip_block *block = strip->first; block; block = block->next)
        if (!micap_pooled_reserve(world, pool, block->entities, block->count, count)) {
            micap_fail_memory(world, strip->type->type.name);
            return false;
        }
    return true;
}

static void change_pool(mica_world *world, mica_pool *pool, const micap_strip *strip)
{
    for (const micap_strip_block *block = strip->first; block; block = block->next) {
        if (strip->operation == MICAP_OPERATION_REMOVE)
            micap_pooled_remove_all(world, pool, block->entities, block->count);
        else
            micap_pooled_set_all(world, pool, block->entities, block->values, block->count);
    }
}

static micap_strip_outcome apply_to_pool(mica_world *world, const micap_strip *strip, uint64_t count)
{
    if (!micap_component_use(world, strip->type->id))
        return failed(world);
    mica_pool *pool = micap_pool_of(world, strip->type->id);
    MICAP_ASSERT(pool, "the world uses the component");
    if (!pool->changes_fast || world->keeper.before)
        return MICAP_STRIP_NONE;
    const mica_commands *commands = next_used(world->first_commands);
    for (; commands && strip->operation != MICAP_OPERATION_REMOVE; commands = next_used(commands->next))
        if (!reserve_in_pool(world, pool, &commands->applied.strip, count))
            return MICAP_STRIP_FAILED;
    for (commands = next_used(world->first_commands); commands; commands = next_used(commands->next))
        change_pool(world, pool, &commands->applied.strip);
    return MICAP_STRIP_APPLIED;
}

micap_strip_outcome micap_strip_apply(mica_world *world)
{
    const micap_strip *strip = strip_of_all(world);
    uint64_t count;
    micap_archetype *from = strip ? archetype_of_all(world, &count) : NULL;
    if (!from)
        return MICAP_STRIP_NONE;
    return micap_is_pooled(strip->type->id) ? apply_to_pool(world, strip, count)
                                            : apply_to_chunks(world, strip, from, count);
}
