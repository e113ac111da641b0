#include "mica/batch.h"

#include "base/argument.h"
#include "core/events/hooks.h"
#include "core/entity/create_plan.h"
#include "core/entity/create_rows.h"
#include "core/entity/destroy.h"
#include "core/entity/pool_component.h"
#include "core/entity/required.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"

typedef struct micap_batch_group {
    micap_creation what;
    bool *given;          /* by column: whether it counts as set */
    uint32_t given_count; /* of columns, before those that are required */
    uint32_t count;
    uint32_t first_chunk;
    uint32_t first_row;
    uint32_t first_entity;
} batch_group;

struct mica_batch {
    mica_world *world;
    micap_complete *complete; /* by group: the columns with those that are required; NULL if nothing was missing */
    batch_group *groups;
    bool *given;
    uint32_t group_count;
    uint32_t entity_count;
    uint32_t column_count;
    uint32_t depth;     /* of micap_callback_begin */
    bool is_committing; /* its hooks run */
};

static size_t bytes_of(uint64_t group_count, uint64_t column_count)
{
    return sizeof(mica_batch) + group_count * sizeof(batch_group) + column_count;
}

/* Whether entities and columns can be counted; a report if not. */
static bool check_counts(const mica_world *world, const mica_batch_group *groups, uint32_t group_count)
{
    uint64_t entity_count = 0, column_count = 0;
    for (uint32_t i = 0; i < group_count; ++i) {
        entity_count += groups[i].count;
        column_count += groups[i].column_count;
    }
    if (entity_count <= UINT32_MAX && column_count <= UINT32_MAX)
        return true;
    micap_fail(world, MICA_ERROR_LIMIT, (mica_location){0}, "batch: more than 2^32 entities or columns");
    return false;
}

/* Releases the columns of the first groups. */
static void free_complete(mica_world *world, micap_complete *complete, uint32_t used, uint32_t capacity)
{
    for (uint32_t i = 0; complete && i < used; ++i)
        micap_complete_free(world, &complete[i]);
    MICAP_RELEASE_ARRAY(&world->memory, complete, capacity);
}

/* Adds required components to the columns of all groups, unless nothing is missing. False with a report if memory runs out. */
static bool complete_groups(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                            micap_complete **out)
{
    bool is_missing = false;
    *out = NULL;
    for (uint32_t i = 0; !world->entities.preset && i < group_count; ++i)
        is_missing |= micap_values_lack_required(groups[i].columns, groups[i].column_count);
    if (!is_missing)
        return true;
    micap_complete *complete = micap_allocate(&world->memory, group_count * sizeof *complete, MICAP_ARRAY_ALIGNMENT);
    if (!complete) {
        micap_fail_memory(world, "batch");
        return false;
    }
    for (uint32_t i = 0; i < group_count; ++i)
        if (!micap_values_complete(world, groups[i].columns, groups[i].column_count, &complete[i])) {
            free_complete(world, complete, i, group_count);
            return false;
        }
    *out = complete;
    return true;
}

static void free_batch(mica_batch *batch)
{
    free_complete(batch->world, batch->complete, batch->group_count, batch->group_count);
    micap_release(&batch->world->memory, batch, bytes_of(batch->group_count, batch->column_count),
                  MICAP_ARRAY_ALIGNMENT);
}

/* In one allocation. */
static mica_batch *allocate_batch(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                                  micap_complete *complete)
{
    uint64_t entity_count = 0, column_count = 0;
    for (uint32_t i = 0; i < group_count; ++i) {
        entity_count += groups[i].count;
        column_count += complete ? complete[i].count : groups[i].column_count;
    }
    mica_batch *batch = micap_allocate(&world->memory, bytes_of(group_count, column_count), MICAP_ARRAY_ALIGNMENT);
    if (!batch) {
        micap_fail_memory(world, "batch");
        return NULL;
    }
    *batch = (mica_batch){.world = world,
                          .complete = complete,
                          .groups = (batch_group *)(void *)(batch + 1),
                          .group_count = group_count,
                          .entity_count = (uint32_t)entity_count,
                          .column_count = (uint32_t)column_count};
    batch->given = (bool *)(batch->groups + group_count);
    return batch;
}

static void describe_groups(mica_batch *batch, const mica_batch_group *groups)
{
    uint32_t first_entity = 0;
    bool *given = batch->given;
    for (uint32_t i = 0; i < batch->group_count; ++i) {
        const micap_complete *complete = batch->complete ? &batch->complete[i] : NULL;
        micap_creation what = {.values = complete ? complete->values : groups[i].columns,
                               .value_count = complete ? complete->count : groups[i].column_count,
                               .period = groups[i].period ? groups[i].period : UINT32_MAX};
        batch->groups[i] = (batch_group){.what = what,
                                         .given_count = groups[i].column_count,
                                         .count = groups[i].count,
                                         .first_entity = first_entity,
                                         .given = given};
        for (uint32_t column = 0; column < what.value_count; ++column)
            *given++ = what.values[column].data != NULL;
        first_entity += groups[i].count;
    }
}

/* A row of the dead that is in the way would have to go before all is certain, and can't be brought back to its place. Required
 * components are added in any case: such a row goes a little early. */
static bool check_pools(mica_world *world, const batch_group *group)
{
    for (uint32_t i = 0; i < group->given_count; ++i) {
        mica_component component = group->what.values[i].component;
        if (!micap_is_pooled(component) || micap_type_of(component)->type.dying == MICA_DYING_AT_ONCE)
            continue;
        micap_fail(world, MICA_ERROR_INVALID, (mica_location){0},
                   "batch: rows of %s outlive their owners: it is added when the batch is over",
                   micap_type_of(component)->type.name);
        return false;
    }
    return true;
}

/* Finds the archetypes and makes room. Several groups may share one: `incoming` adds them up. */
static bool reserve(mica_batch *batch)
{
    mica_world *world = batch->world;
    bool fine = true;
    for (uint32_t i = 0; fine && i < batch->group_count; ++i) {
        batch_group *group = &batch->groups[i];
        group->what.archetype = micap_create_plan_archetype(world, group->what.values, group->what.value_count);
        fine = group->what.archetype && check_pools(world, group);
        if (fine)
            group->what.archetype->incoming += group->count;
    }
    bool room = fine && micap_entities_reserve(world, batch->entity_count);
    for (uint32_t i = 0; room && i < batch->group_count; ++i)
        room = micap_rows_reserve(world, batch->groups[i].what.archetype, batch->groups[i].what.archetype->incoming);
    if (fine && !room)
        micap_fail_memory(world, "batch");
    for (uint32_t i = 0; i < batch->group_count && batch->groups[i].what.archetype; ++i)
        batch->groups[i].what.archetype->incoming = 0;
    return room;
}

static void shrink(mica_batch *batch)
{
    for (uint32_t i = 0; i < batch->group_count && batch->groups[i].what.archetype; ++i)
        micap_rows_shrink(batch->world, batch->groups[i].what.archetype, 1);
}

static bool create_group(mica_world *world, batch_group *group)
{
    if (!group->count)
        return true;
    micap_row first;
    if (!micap_rows_create(world, &group->what, group->count, "batch", &first))
        return false;
    group->first_row = first.row;
    group->first_chunk = first.chunk->index;
    return true;
}

/* The next rows of a group in one chunk, after those that were returned already. */
static micap_row rest_of_rows(const batch_group *group, mica_batch_run *run)
{
    if (run->private_done == 0) {
        run->private_chunk = group->first_chunk;
        run->private_row = group->first_row;
    }
    if (run->private_row == group->what.archetype->chunks[run->private_chunk]->count) {
        ++run->private_chunk;
        run->private_row = 0;
    }
    micap_chunk *chunk = group->what.archetype->chunks[run->private_chunk];
    uint32_t left = group->count - run->private_done, there = chunk->count - run->private_row;
    run->count = there < left ? there : left;
    run->first = group->first_entity + run->private_done;
    run->entities = micap_chunk_entities(chunk) + run->private_row;
    return (micap_row){chunk, run->private_row};
}

static void hand_out(mica_batch_run *run)
{
    run->private_row += run->count;
    run->private_done += run->count;
}

static micap_row next_rows(const batch_group *group, mica_batch_run *run)
{
    micap_row spot = rest_of_rows(group, run);
    hand_out(run);
    return spot;
}

/* Likewise, as far as their rows in a pool follow each other; those of a tag are alone. Returns the first row. */
static uint32_t next_pool_rows(const batch_group *group, const mica_pool *pool, mica_batch_run *run)
{
    rest_of_rows(group, run);
    uint32_t first = micap_pool_row(pool, run->entities[0]), count = 1;
    while (pool->owners && count < run->count && micap_pool_row(pool, run->entities[count]) == first + count)
        ++count;
    run->count = count;
    run->values = pool->values ? micap_pool_value(pool, first) : NULL;
    hand_out(run);
    return first;
}

/* Takes back the first groups, the last one first: then each row is the last of its archetype. */
static void take_back(mica_batch *batch, uint32_t group_count, bool reuse)
{
    while (group_count-- > 0)
        if (batch->groups[group_count].count)
            micap_rows_take_back(batch->world, &batch->groups[group_count].what, batch->groups[group_count].count,
                                 reuse);
    shrink(batch);
}

bool mica_is_deferred(const mica_world *world)
{
    return !MICAP_MISSING(NULL, world) && world->recording_depth;
}

mica_result mica_batch_begin(mica_world *world, const mica_batch_group *groups, uint32_t group_count,
                             mica_batch **out_batch)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, groups, group_count) ||
        MICAP_MISSING(world, out_batch))
        return MICA_ERROR_INVALID;
    *out_batch = NULL;
    for (uint32_t i = 0; i < group_count; ++i)
        if (MICAP_MISSING_ARRAY(world, groups[i].columns, groups[i].column_count))
            return MICA_ERROR_INVALID;
    mica_result result = micap_refuse_while_recording(world, "batch");
    if (result != MICA_OK)
        return result;
    micap_complete *complete;
    mica_batch *batch = NULL;
    if (check_counts(world, groups, group_count) && complete_groups(world, groups, group_count, &complete) &&
        !(batch = allocate_batch(world, groups, group_count, complete)))
        free_complete(world, complete, group_count, group_count);
    if (!batch)
        return micap_failure(world);
    describe_groups(batch, groups);
    bool fine = reserve(batch);
    uint32_t created = 0;
    while (fine && created < group_count)
        if ((fine = create_group(world, &batch->groups[created])))
            ++created;
    if (!fine) {
        take_back(batch, created, true);
        free_batch(batch);
        return micap_failure(world);
    }
    batch->depth = micap_callback_begin(world); /* a flush before the end would move rows */
    *out_batch = batch;
    return MICA_OK;
}

void mica_batch_entities(mica_batch *batch, mica_entity *out_entities)
{
    if (MICAP_MISSING(NULL, batch) || MICAP_MISSING(batch->world, out_entities))
        return;
    for (mica_batch_run run = {0}; mica_batch_next(batch, &run);)
        memcpy(out_entities + run.first, run.entities, run.count * sizeof *out_entities);
}

static void mark_given(batch_group *group, mica_component component)
{
    for (uint32_t i = 0; i < group->what.value_count; ++i)
        if (group->what.values[i].component == component)
            group->given[i] = true;
}

/* The component is one of its columns: no other has hooks. */
static bool was_given(const batch_group *group, mica_component component)
{
    uint32_t at = 0;
    while (group->what.values[at].component != component)
        ++at;
    return group->given[at];
}

static bool has_column(const batch_group *group, mica_component component)
{
    for (uint32_t i = 0; i < group->what.value_count; ++i)
        if (group->what.values[i].component == component)
            return true;
    return false;
}

bool mica_batch_next(mica_batch *batch, mica_batch_run *run)
{
    if (MICAP_MISSING(NULL, batch) || MICAP_MISSING(batch->world, run))
        return false;
    mica_pool *pool = micap_is_pooled(run->component) ? micap_pool_of(batch->world, run->component) : NULL;
    for (; run->group < batch->group_count; ++run->group, run->private_done = 0) {
        batch_group *group = &batch->groups[run->group];
        if (run->private_done == group->count || (run->component && !has_column(group, run->component)))
            continue;
        if (pool) {
            next_pool_rows(group, pool, run);
        } else {
            uint32_t column =
                run->component ? micap_archetype_column(group->what.archetype, run->component) : MICAP_COLUMN_TAG;
            micap_row spot = next_rows(group, run);
            run->values = column == MICAP_COLUMN_TAG ? NULL : micap_chunk_value(spot.chunk, column, spot.row);
        }
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
        micap_row spot = next_rows(group, &run);
        if (added)
            micap_hooks_run(batch->world, MICA_EVENT_ADD, component, spot, run.count);
        if (set)
            micap_hooks_run(batch->world, MICA_EVENT_SET, component, spot, run.count);
    }
}

/* The same for a component in a pool. */
static void announce_pooled(mica_batch *batch, const batch_group *group, mica_pool *pool)
{
    MICAP_ASSERT(pool, "the batch writes to it");
    bool added = pool->hook_mask & 1 << MICA_EVENT_ADD;
    bool set = pool->hook_mask & 1 << MICA_EVENT_SET && was_given(group, pool->type->id);
    mica_batch_run run = {0};
    while ((added || set) && run.private_done < group->count) {
        uint32_t row = next_pool_rows(group, pool, &run);
        if (added)
            micap_pools_run_hook(batch->world, MICA_EVENT_ADD, pool, row, run.count);
        if (set)
            micap_pools_run_hook(batch->world, MICA_EVENT_SET, pool, row, run.count);
    }
}

static bool is_among(const mica_component *components, uint32_t count, mica_component component)
{
    for (uint32_t i = 0; i < count; ++i)
        if (components[i] == component)
            return true;
    return false;
}

static void announce_to_all(mica_batch *batch, mica_component component)
{
    const uint32_t mask = 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET;
    for (uint32_t g = 0; g < batch->group_count; ++g) {
        const batch_group *group = &batch->groups[g];
        if (!has_column(group, component))
            continue;
        if (micap_is_pooled(component))
            announce_pooled(batch, group, micap_pool_of(batch->world, component));
        else if (micap_has_hooks(group->what.archetype, mask))
            announce(batch, group, component);
    }
}

/* Whether anything may await the creation of these entities. */
static bool is_awaited(const mica_batch *batch)
{
    const micap_pools *pools = &batch->world->pools;
    uint32_t awaited = 0;
    for (uint32_t g = 0; g < batch->group_count; ++g)
        awaited |= micap_creation_hooks(batch->groups[g].what.archetype);
    for (uint32_t i = 0; i < pools->count; ++i)
        awaited |= pools->all[i]->hook_mask;
    return awaited != 0;
}

static void run_hooks(mica_batch *batch, const mica_component *order, uint32_t order_count)
{
    const uint32_t mask = 1 << MICA_EVENT_ADD | 1 << MICA_EVENT_SET;
    const micap_pools *pools = &batch->world->pools;
    if (!is_awaited(batch))
        return;
    for (uint32_t i = 0; i < order_count; ++i)
        announce_to_all(batch, order[i]);
    for (uint32_t g = 0; g < batch->group_count; ++g) {
        const micap_archetype *archetype = batch->groups[g].what.archetype;
        for (uint32_t i = 0; micap_has_hooks(archetype, mask) && i < archetype->component_count; ++i)
            if (!is_among(order, order_count, archetype->components[i]))
                announce(batch, &batch->groups[g], archetype->components[i]);
    }
    for (uint32_t i = 0; i < pools->count; ++i)
        if (pools->all[i]->hook_mask && !is_among(order, order_count, pools->all[i]->type->id))
            announce_to_all(batch, pools->all[i]->type->id);
}

/* A hook can't end the batch that calls it. */
static mica_result refuse_in_hook(const mica_batch *batch, const char *what)
{
    return batch->is_committing ? micap_fail(batch->world, MICA_ERROR_REFUSED, (mica_location){0},
                                             "%s: refused inside a hook of the batch", what)
                                : MICA_OK;
}

mica_result mica_batch_commit(mica_batch *batch, const mica_component *order, uint32_t order_count)
{
    if (MICAP_MISSING(NULL, batch) || MICAP_MISSING_ARRAY(batch->world, order, order_count))
        return MICA_ERROR_INVALID;
    if (refuse_in_hook(batch, "batch_commit") != MICA_OK)
        return MICA_ERROR_REFUSED;
    mica_world *world = batch->world;
    batch->is_committing = true;
    run_hooks(batch, order, order_count);
    micap_callback_end(world, batch->depth);
    free_batch(batch);
    return world->hooks_recorded ? micap_flush_own(world) : MICA_OK;
}

void mica_batch_cancel(mica_batch *batch)
{
    MICAP_IMMEDIATE_CHANGE(batch ? batch->world : NULL);
    if (MICAP_MISSING(NULL, batch) || refuse_in_hook(batch, "batch_cancel") != MICA_OK)
        return;
    mica_world *world = batch->world;
    ++world->structure;
    /* The program has seen these handles: they are not given out again. */
    take_back(batch, batch->group_count, false);
    micap_callback_end(world, batch->depth);
    free_batch(batch);
    micap_hooks_end(world);
}
