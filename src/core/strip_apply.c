/* Applying a strip: all of its entities are in one archetype and go to another, or into one pool or out of it. */
#include "core/pooled.h"
#include "core/report.h"
#include "core/row_run.h"

/* The only buffer with something to apply, when that is a strip; NULL when it is not so. */
static const micap_recording *lone_strip(const mica_world *world)
{
    const micap_recording *lone = NULL;
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        const micap_recording *recording = &commands->applied;
        if (micap_recording_is_empty(recording))
            continue;
        if (lone || recording->first_note || !recording->strip.type)
            return NULL;
        lone = recording;
    }
    return lone;
}

/* The archetype that all entities are in; NULL when there are several, or one is dead. */
static micap_archetype *archetype_of(const mica_world *world, const micap_strip *strip)
{
    micap_archetype *archetype = NULL;
    uint32_t number = MICAP_CHUNK_NONE;
    for (const micap_strip_block *block = strip->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count; ++i) {
            uint32_t next = micap_record_chunk(micap_record_of(&world->entities, block->entities[i]));
            if (MICAP_LIKELY(next == number && archetype))
                continue;
            number = next;
            micap_archetype *other = world->chunks.by_number[number]->archetype;
            if (number <= MICAP_CHUNK_PENDING || (archetype && other != archetype))
                return NULL;
            archetype = other;
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
    if (edge->shortcut == MICAP_SHORTCUT_WIDEN && edge->column != MICAP_COLUMN_TAG) {
        const micap_lane *lane = &micap_chunk_lanes(run.to.chunk)[edge->column];
        memcpy(lane->values + run.to.row * lane->bytes, values, run.count * lane->bytes);
    }
    micap_run_end(world, &run);
    return run.count;
}

static micap_strip_outcome apply_to_chunks(mica_world *world, const micap_strip *strip, micap_archetype *from,
                                           uint32_t count)
{
    mica_component component = strip->type->id;
    if (micap_archetype_has(from, component) != (strip->operation == MICAP_OPERATION_REMOVE) ||
        micap_change_hooks(from))
        return MICAP_STRIP_NONE;
    const micap_edge *known = micap_archetype_step(world, from, component);
    if (!known)
        return failed(world);
    micap_edge edge = *known;
    if (edge.shortcut == MICAP_SHORTCUT_NONE || micap_change_hooks(edge.end))
        return MICAP_STRIP_NONE;
    if (!micap_rows_reserve(world, edge.end, count)) {
        micap_fail_memory(world, "flush");
        return MICAP_STRIP_FAILED;
    }
    for (const micap_strip_block *block = strip->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count;)
            i +=
                move_run(world, &edge, block->entities + i, block->values + (size_t)i * strip->bytes, block->count - i);
    return MICAP_STRIP_APPLIED;
}

static micap_strip_outcome apply_to_pool(mica_world *world, const micap_strip *strip, uint32_t count)
{
    if (!micap_component_use(world, strip->type->id))
        return failed(world);
    mica_pool *pool = micap_pool_of(world, strip->type->id);
    bool is_removal = strip->operation == MICAP_OPERATION_REMOVE;
    if (!pool->is_short || world->keeper.before)
        return MICAP_STRIP_NONE;
    for (const micap_strip_block *block = strip->first; !is_removal && block; block = block->next)
        if (!micap_pooled_reserve(world, pool, block->entities, block->count, count)) {
            micap_fail_memory(world, strip->type->type.name);
            return MICAP_STRIP_FAILED;
        }
    for (const micap_strip_block *block = strip->first; block; block = block->next) {
        if (is_removal)
            micap_pooled_remove_all(world, pool, block->entities, block->count);
        else
            micap_pooled_set_all(world, pool, block->entities, block->values, block->count);
    }
    return MICAP_STRIP_APPLIED;
}

micap_strip_outcome micap_strip_apply(mica_world *world)
{
    const micap_recording *recording = lone_strip(world);
    if (!recording)
        return MICAP_STRIP_NONE;
    const micap_strip *strip = &recording->strip;
    micap_archetype *from = archetype_of(world, strip);
    if (!from)
        return MICAP_STRIP_NONE;
    return micap_is_pooled(strip->type->id) ? apply_to_pool(world, strip, recording->target_count)
                                            : apply_to_chunks(world, strip, from, recording->target_count);
}
