#include "mica/batch.h"

#include "core/hooks.h"
#include "core/life.h"
#include "core/report.h"
#include "core/world.h"

typedef struct micap_batch_group {
    micap_archetype *archetype;
    const mica_value *columns;
    bool *given; /* by column: whether it counts as set */
    uint32_t column_count;
    uint32_t count;
    uint32_t period; /* of the columns, in rows; at least 1 */
    uint32_t filled; /* rows that exist */
    uint32_t first_chunk;
    uint32_t first_row;
    uint32_t first_entity;
} batch_group;

struct mica_batch {
    mica_world *world;
    batch_group *groups;
    bool *given;
    uint32_t group_count;
    uint32_t entity_count;
    uint32_t column_count;
};

static void free_batch(mica_batch *batch)
{
    micap_memory *memory = &batch->world->memory;
    micap_release(memory, batch->groups, batch->group_count * sizeof *batch->groups, MICAP_ARRAY_ALIGNMENT);
    micap_release(memory, batch->given, batch->column_count, 1);
    micap_release(memory, batch, sizeof *batch, MICAP_ARRAY_ALIGNMENT);
}

static mica_batch *allocate_batch(mica_world *world, const mica_batch_group *groups, uint32_t group_count)
{
    uint64_t entity_count = 0, column_count = 0;
    for (uint32_t i = 0; i < group_count; ++i) {
        entity_count += groups[i].count;
        column_count += groups[i].column_count;
    }
    if (entity_count > UINT32_MAX || column_count > UINT32_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, (mica_place){0}, "batch: more than 2^32 entities or columns");
        return NULL;
    }
    mica_batch *batch = micap_allocate_zeroed(&world->memory, sizeof *batch, MICAP_ARRAY_ALIGNMENT);
    if (batch) {
        batch->world = world;
        batch->group_count = group_count;
        batch->entity_count = (uint32_t)entity_count;
        batch->column_count = (uint32_t)column_count;
        batch->groups =
            micap_allocate_zeroed(&world->memory, group_count * sizeof *batch->groups, MICAP_ARRAY_ALIGNMENT);
        batch->given = micap_allocate(&world->memory, batch->column_count, 1);
        if (batch->groups && batch->given)
            return batch;
        free_batch(batch);
    }
    micap_fail_memory(world, "batch");
    return NULL;
}

static void describe_groups(mica_batch *batch, const mica_batch_group *groups)
{
    uint32_t first_entity = 0;
    bool *given = batch->given;
    for (uint32_t i = 0; i < batch->group_count; ++i) {
        batch->groups[i] = (batch_group){.columns = groups[i].columns,
                                         .column_count = groups[i].column_count,
                                         .count = groups[i].count,
                                         .period = groups[i].period ? groups[i].period : UINT32_MAX,
                                         .first_entity = first_entity,
                                         .given = given};
        for (uint32_t column = 0; column < groups[i].column_count; ++column)
            *given++ = groups[i].columns[column].data != NULL;
        first_entity += groups[i].count;
    }
}

/* Finds the archetypes and makes room. Several groups may share one: `incoming` adds them up. */
static bool reserve(mica_batch *batch)
{
    mica_world *world = batch->world;
    bool fine = true;
    for (uint32_t i = 0; fine && i < batch->group_count; ++i) {
        batch_group *group = &batch->groups[i];
        if (micap_has_pooled(group->columns, group->column_count)) {
            micap_fail(world, MICA_ERROR_INVALID, (mica_place){0},
                       "batch: components in pools are added when the batch is over");
            fine = false;
            break;
        }
        group->archetype = micap_archetype_of_values(world, group->columns, group->column_count);
        fine = group->archetype != NULL;
        if (fine)
            group->archetype->incoming += group->count;
    }
    bool room = fine && micap_entities_reserve(world, batch->entity_count);
    for (uint32_t i = 0; room && i < batch->group_count; ++i)
        room = micap_rows_reserve(world, batch->groups[i].archetype, batch->groups[i].archetype->incoming);
    if (fine && !room)
        micap_fail_memory(world, "batch");
    for (uint32_t i = 0; i < batch->group_count && batch->groups[i].archetype; ++i)
        batch->groups[i].archetype->incoming = 0;
    return room;
}

static void shrink(mica_batch *batch)
{
    for (uint32_t i = 0; i < batch->group_count && batch->groups[i].archetype; ++i)
        micap_rows_shrink(batch->world, batch->groups[i].archetype, 1);
}

static bool fill_group(mica_world *world, batch_group *group)
{
    micap_archetype *archetype = group->archetype;
    if (!group->count)
        return true;
    micap_spot first = micap_rows_next(archetype);
    group->first_row = first.row;
    group->first_chunk = archetype->tail;
    while (archetype->chunks[group->first_chunk] != first.chunk)
        ++group->first_chunk;
    while (group->filled < group->count) {
        micap_spot spot = micap_rows_next(archetype);
        uint32_t room = spot.chunk->capacity - spot.row, left = group->count - group->filled;
        uint32_t element = group->filled % group->period;
        uint32_t run = room < left ? room : left;
        if (run > group->period - element)
            run = group->period - element;
        if (!micap_rows_fill(world, spot, run, group->columns, group->column_count, element))
            return false;
        micap_rows_commit_run(world, spot, run);
        group->filled += run;
    }
    return true;
}

/* Last first, so that each row that goes is the last of its archetype. */
static void undo(mica_batch *batch)
{
    for (uint32_t i = batch->group_count; i-- > 0;)
        if (batch->groups[i].filled)
            micap_rows_undo(batch->world, batch->groups[i].archetype, batch->groups[i].filled);
    shrink(batch);
}

mica_result mica_batch_begin(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                             mica_batch **out_batch)
{
    *out_batch = NULL;
    mica_result result = micap_refuse_while_recording(world, "batch");
    if (result != MICA_OK)
        return result;
    mica_batch *batch = allocate_batch(world, groups, group_count);
    if (!batch)
        return micap_failure(world);
    describe_groups(batch, groups);
    bool fine = reserve(batch);
    if (fine)
        ++world->structure;
    for (uint32_t i = 0; fine && i < group_count; ++i)
        fine = fill_group(world, &batch->groups[i]);
    if (!fine) {
        undo(batch);
        free_batch(batch);
        return micap_failure(world);
    }
    ++world->recording_depth;
    ++world->hook_depth; /* a flush from inside would move rows */
    *out_batch = batch;
    return MICA_OK;
}

void mica_batch_entities(mica_batch *batch, mica_entity *out_entities)
{
    for (mica_batch_run run = {0}; mica_batch_next(batch, &run);)
        memcpy(out_entities + run.first, run.entities, run.count * sizeof *out_entities);
}

static void mark_given(batch_group *group, mica_component component)
{
    for (uint32_t i = 0; i < group->column_count; ++i)
        if (group->columns[i].component == component)
            group->given[i] = true;
}

static bool was_given(const batch_group *group, mica_component component)
{
    for (uint32_t i = 0; i < group->column_count; ++i)
        if (group->columns[i].component == component)
            return group->given[i];
    return false;
}

/* The rows of a group behind those that were handed out, as far as they lie in one chunk. */
static micap_spot next_rows(const batch_group *group, mica_batch_run *run)
{
    if (run->private_done == 0)
        run->private_chunk = group->first_chunk;
    micap_chunk *chunk = group->archetype->chunks[run->private_chunk++];
    micap_spot spot = {chunk, run->private_done ? 0 : group->first_row};
    uint32_t left = group->count - run->private_done, there = chunk->count - spot.row;
    run->count = there < left ? there : left;
    run->first = group->first_entity + run->private_done;
    run->private_done += run->count;
    return spot;
}

bool mica_batch_next(mica_batch *batch, mica_batch_run *run)
{
    for (; run->group < batch->group_count; ++run->group, run->private_done = 0) {
        batch_group *group = &batch->groups[run->group];
        uint32_t column = run->component ? micap_archetype_column(group->archetype, run->component) : MICAP_COLUMN_TAG;
        if (column == MICAP_COLUMN_NONE || run->private_done == group->count)
            continue;
        micap_spot spot = next_rows(group, run);
        run->entities = micap_chunk_entities(spot.chunk) + spot.row;
        run->values = column == MICAP_COLUMN_TAG ? NULL : micap_chunk_value(spot.chunk, column, spot.row);
        mark_given(group, run->component);
        return true;
    }
    return false;
}

static void announce(mica_batch *batch, const batch_group *group, mica_component component)
{
    const micap_component *used = micap_component_of(&batch->world->components, component);
    bool added = micap_is_awaited(used, MICA_EVENT_ADD);
    bool set = micap_is_awaited(used, MICA_EVENT_SET) && was_given(group, component);
    mica_batch_run run = {0};
    while ((added || set) && run.private_done < group->count) {
        micap_spot spot = next_rows(group, &run);
        if (added)
            micap_hooks_run(batch->world, MICA_EVENT_ADD, component, spot, run.count);
        if (set)
            micap_hooks_run(batch->world, MICA_EVENT_SET, component, spot, run.count);
    }
}

static bool is_among(const mica_component *components, uint32_t count, mica_component component)
{
    for (uint32_t i = 0; i < count; ++i)
        if (components[i] == component)
            return true;
    return false;
}

static void run_hooks(mica_batch *batch, const mica_component *order, uint32_t order_count)
{
    const uint32_t mask = 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET;
    for (uint32_t i = 0; i < order_count; ++i)
        for (uint32_t g = 0; g < batch->group_count; ++g)
            if (micap_has_hooks(batch->groups[g].archetype, mask) &&
                micap_archetype_has(batch->groups[g].archetype, order[i]))
                announce(batch, &batch->groups[g], order[i]);
    for (uint32_t g = 0; g < batch->group_count; ++g) {
        const micap_archetype *archetype = batch->groups[g].archetype;
        for (uint32_t i = 0; micap_has_hooks(archetype, mask) && i < archetype->component_count; ++i)
            if (!is_among(order, order_count, archetype->components[i]))
                announce(batch, &batch->groups[g], archetype->components[i]);
    }
}

static void stop_recording(mica_world *world)
{
    --world->hook_depth;
    --world->recording_depth;
    world->hooks_recorded |= world->deferred.recording.target_count != 0;
}

mica_result mica_batch_commit(mica_batch *batch, const mica_component *order, uint32_t order_count)
{
    mica_world *world = batch->world;
    run_hooks(batch, order, order_count);
    stop_recording(world);
    free_batch(batch);
    return world->hooks_recorded ? micap_flush_own(world) : MICA_OK;
}

void mica_batch_cancel(mica_batch *batch)
{
    mica_world *world = batch->world;
    ++world->structure;
    /* Values may have been completed with these handles: they must not come alive again. */
    for (uint32_t i = batch->group_count; i-- > 0;) {
        batch_group *group = &batch->groups[i];
        for (; group->filled; --group->filled) {
            micap_chunk *chunk = group->archetype->chunks[group->archetype->tail];
            micap_spot last = {chunk, chunk->count - 1};
            mica_entity entity = micap_chunk_entities(chunk)[last.row];
            micap_row_destruct(last);
            micap_row_fill_hole(world, last);
            micap_entity_forget(world, entity);
        }
    }
    shrink(batch);
    stop_recording(world);
    free_batch(batch);
    micap_hooks_end(world);
}
