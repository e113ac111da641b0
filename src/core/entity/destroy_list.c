/* Entities whose rows follow each other go together: their rows column by column, their rows in pools pool by pool, and their handles
 * page by page. If entities of several archetypes alternate, a block of them is sorted by archetype first. Rows and handles are
 * afterwards where they would be if one entity had been destroyed after the other. */
#include "core/entity/destroy_list.h"

#include "base/assert.h"
#include "core/entity/destroy.h"
#include "core/events/hooks.h"
#include "core/storage/row_batch.h"

enum {
    RUN_MIN = 4,     /* fewer rows that follow each other are not worth a run of their own */
    BLOCK_MAX = 512, /* entities that are sorted at once, */
    SAMPLE = 64,     /* unless more than half of so many have an archetype of their own */
};

/* Entities of a list that die together. */
typedef struct micap_death_run {
    micap_row from;   /* the row of the first entity; the others follow it, */
    bool is_backward; /* or precede it, and are the last rows of their archetype */
    bool is_attached; /* some may have a name or links */
    uint32_t count;
    uint64_t pools; /* that all of them are in */
} death_run;

/* Whether the row of an entity is in a run. */
static bool is_in_run(const mica_world *world, const death_run *run, uint32_t entity_index)
{
    uint64_t record = *micap_record_at(&world->entities, entity_index);
    uint32_t first = run->is_backward ? run->from.row + 1 - run->count : run->from.row;
    return micap_record_chunk(record) == run->from.chunk->number && micap_record_row(record) - first < run->count;
}

/* Whether an entity of a run has a name or links. If the run is long, entities that have some are asked for the run, so that those of
 * others cost next to nothing. */
static bool is_any_attached(const mica_world *world, const death_run *run, const mica_entity *entities)
{
    const micap_attachments *attachments = &world->attachments;
    bool found = false;
    if (attachments->word_count > run->count)
        for (uint32_t i = 0; !found && i < run->count; ++i)
            found = micap_is_attached(attachments, entities[i].index);
    else
        for (uint32_t i = 0; !found && i < attachments->word_count; ++i)
            for (uint64_t bits = attachments->words[i]; !found && bits; bits &= bits - 1)
                found = is_in_run(world, run, i << 6 | (uint32_t)MICAP_TRAILING_ZEROS(bits));
    return found;
}

/* Finds how many entities of a list, from the first one on, have rows that follow each other. */
static void follow_rows(death_run *run, const mica_entity *entities, uint32_t count)
{
    const micap_archetype *archetype = run->from.chunk->archetype;
    /* Rows that were moved into holes lie in the opposite order at the end. */
    run->is_backward =
        run->from.chunk == archetype->chunks[archetype->tail] && run->from.row + 1 == run->from.chunk->count;
    run->count = run->is_backward ? micap_rows_in_reverse(run->from, entities, count)
                                  : micap_rows_in_order(run->from, entities, count);
}

static uint32_t with_same_pools(const mica_world *world, const mica_entity *entities, uint32_t count, uint64_t pools)
{
    uint32_t run = 1;
    while (run < count && micap_pools_mask(&world->pools, entities[run].index) == pools)
        ++run;
    return run;
}

static void note_dependents(mica_world *world, const mica_entity *entities, uint32_t count, void *found)
{
    (void)world, (void)entities;
    *(bool *)found |= count != 0;
}

/* How many entities, from the first one on, have nothing that dies with them. */
static uint32_t without_dependents(mica_world *world, const mica_entity *entities, uint32_t count)
{
    bool found = false;
    uint32_t run = 0;
    for (; run < count; ++run) {
        if (micap_is_attached(&world->attachments, entities[run].index))
            micap_modules_each_dependent(world, entities[run], note_dependents, &found);
        if (found || micap_modules_refuse(world, entities[run]))
            break;
    }
    return run;
}

/* The run that the first entity of a list begins, which has a row. A run of none: it needs the general path. */
static death_run run_of(mica_world *world, micap_row spot, const mica_entity *entities, uint32_t count)
{
    const micap_archetype *archetype = spot.chunk->archetype;
    death_run run = {.from = spot, .pools = micap_pools_mask(&world->pools, entities[0].index)};
    if (!archetype->moves_as_bytes || !micap_pools_leave_fast(&world->pools, run.pools))
        return run;
    follow_rows(&run, entities, count);
    if (world->pools.count)
        run.count = with_same_pools(world, entities, run.count, run.pools);
    run.is_attached = is_any_attached(world, &run, entities);
    if (run.is_attached && (world->has_dependents || world->refuses_deaths))
        run.count = without_dependents(world, entities, run.count);
    if (run.is_backward && run.count && (run.is_attached || micap_death_hooks(archetype)))
        run.count = 1; /* hooks see entities in the order of the list */
    return run;
}

static void remove_rows(mica_world *world, const death_run *run)
{
    micap_archetype *archetype = run->from.chunk->archetype;
    micap_row first = {run->from.chunk, run->is_backward ? run->from.row + 1 - run->count : run->from.row};
    if (MICAP_UNLIKELY(!archetype->trivial))
        micap_rows_destruct(world, first, run->count);
    if (run->is_backward)
        micap_rows_drop_last(world, archetype, run->count);
    else if (run->count == 1)
        micap_row_fill_hole(world, run->from);
    else
        micap_rows_remove(world, run->from, run->count);
}

static void destroy_run(mica_world *world, const death_run *run, const mica_entity *entities)
{
    bool is_hooked = micap_death_hooks(run->from.chunk->archetype) != 0;
    if (is_hooked || (run->is_attached && world->sees_deaths))
        micap_hooks_removing(world, NULL, run->from, run->count);
    if (run->pools)
        micap_pools_remove_many(world, entities, run->count, run->pools);
    for (uint32_t i = 0; world->undo.before && i < run->count; ++i)
        micap_touch_record(&world->entities, entities[i].index);
    remove_rows(world, run);
    if (is_hooked || run->is_attached) /* a hook may have given a name */
        micap_entities_forget(world, entities, run->count);
    else
        micap_entities_give_in_order(&world->entities, entities, run->count);
    world->structure += run->count;
}

/* Entities of one archetype in a block. */
typedef struct micap_death_group {
    micap_archetype *archetype;
    uint32_t begin;
    uint32_t end;
} death_group;

/* Entities of several archetypes that have nothing but rows and handles. */
typedef struct micap_death_block {
    uint32_t count; /* of entities of the list; some may be dead */
    uint32_t group_count;
    uint16_t group_of[BLOCK_MAX]; /* by place in the list: 1 + its group; 0: dead */
    death_group groups[BLOCK_MAX];
    mica_entity sorted[BLOCK_MAX];
} death_block;

/* Whether nothing of an entity but rows and the handle has to go. */
static MICAP_INLINE bool has_only_rows(const mica_world *world, mica_entity entity)
{
    return !micap_is_attached(&world->attachments, entity.index) &&
           micap_pools_leave_fast(&world->pools, micap_pools_mask(&world->pools, entity.index));
}

/* Finds the archetypes of the entities of a list, as far as it can be sorted. */
static void gather_block(const mica_world *world, const mica_entity *entities, uint32_t count, death_block *block)
{
    const bool has_more = world->attachments.word_count || world->pools.count;
    const uint32_t limit = count < BLOCK_MAX ? count : BLOCK_MAX;
    uint32_t at = 0, group_count = 0;
    for (; at < limit; ++at) {
        if (MICAP_UNLIKELY(at == SAMPLE && group_count > SAMPLE / 2))
            break;
        micap_row spot = micap_locate(world, entities[at]);
        micap_archetype *archetype = spot.chunk->archetype;
        uint32_t group = archetype->listed;
        block->group_of[at] = 0;
        if (MICAP_UNLIKELY(!micap_is_row(spot)))
            continue;
        if (MICAP_UNLIKELY(has_more && !has_only_rows(world, entities[at])))
            break;
        if (!group) {
            if (!archetype->destroys_fast)
                break;
            block->groups[group_count].archetype = archetype;
            block->groups[group_count].end = 0;
            archetype->listed = group = ++group_count;
        }
        block->group_of[at] = (uint16_t)group;
        ++block->groups[group - 1].end;
    }
    block->count = at;
    block->group_count = group_count;
}

/* Sorts the entities of a block by group; those of a group stay in their order. */
static void sort_block(death_block *block, const mica_entity *entities)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < block->group_count; ++i) {
        death_group *group = &block->groups[i];
        uint32_t count = group->end;
        group->archetype->listed = 0;
        group->begin = group->end = begin;
        begin += count;
    }
    for (uint32_t i = 0; i < block->count; ++i)
        if (block->group_of[i])
            block->sorted[block->groups[block->group_of[i] - 1].end++] = entities[i];
}

/* Removes the rows of a group. Returns how many; fewer than there are entities if one is in the list twice. Afterwards the
 * records of these entities name rows of others, in chunks that exist: emptied chunks are kept until the end. */
static uint32_t remove_group(mica_world *world, micap_archetype *archetype, const mica_entity *entities, uint32_t count)
{
    uint32_t removed = 0;
    ++archetype->incoming;
    for (uint32_t i = 0, done; i < count; i += done) {
        death_run run = {.from = micap_locate(world, entities[i]), .count = 1};
        done = 1;
        if (run.from.row >= run.from.chunk->count ||
            !mica_same(micap_chunk_entities(run.from.chunk)[run.from.row], entities[i]))
            continue;
        if (count - i > 1)
            follow_rows(&run, entities + i, count - i);
        done = run.count;
        if (done < RUN_MIN && count - i > RUN_MIN) {
            removed += micap_rows_remove_scattered(world, archetype, entities + i, count - i);
            break;
        }
        remove_rows(world, &run);
        removed += done;
    }
    --archetype->incoming;
    if (archetype->chunk_count > 1)
        micap_rows_shrink(world, archetype, 1);
    return removed;
}

/* Frees what is left of the entities of a block, in their order. */
static void end_block(mica_world *world, const death_block *block, const mica_entity *entities, uint32_t removed)
{
    for (uint32_t i = 0; world->pools.count && i < block->count; ++i)
        if (block->group_of[i] && micap_pools_mask(&world->pools, entities[i].index))
            micap_pools_entity_dies(world, entities[i]);
    if (removed == block->count) {
        micap_entities_give_in_order(&world->entities, entities, removed);
        return;
    }
    for (uint32_t i = 0; i < block->count; ++i) {
        uint64_t record = *micap_record_at(&world->entities, block->group_of[i] ? entities[i].index : 0);
        if (block->group_of[i] && micap_record_generation(record) == entities[i].generation)
            micap_entities_give_in_order(&world->entities, &entities[i], 1);
    }
}

/* Sorts entities of a list by archetype and destroys them. Returns how many of the list it dealt with. */
static MICAP_NOINLINE uint32_t destroy_block(mica_world *world, const mica_entity *entities, uint32_t count,
                                             uint32_t *died)
{
    death_block block;
    uint32_t removed = 0;
    gather_block(world, entities, count, &block);
    sort_block(&block, entities);
    for (uint32_t i = 0; world->undo.before && i < block.count; ++i)
        if (block.group_of[i])
            micap_touch_record(&world->entities, entities[i].index);
    for (uint32_t i = 0; i < block.group_count; ++i)
        removed += remove_group(world, block.groups[i].archetype, block.sorted + block.groups[i].begin,
                                block.groups[i].end - block.groups[i].begin);
    end_block(world, &block, entities, removed);
    world->structure += removed;
    *died += removed;
    return block.count;
}

uint32_t micap_destroy_list(mica_world *world, const mica_entity *entities, uint32_t count)
{
    uint32_t died = 0, scattered_end = 0;
    for (uint32_t i = 0, done; i < count; i += done) {
        micap_row spot = micap_locate(world, entities[i]);
        done = 1;
        if (!micap_is_row(spot))
            continue;
        if (i < scattered_end) {
            died += micap_destroy_living(world, entities[i], spot);
            continue;
        }
        death_run run = run_of(world, spot, entities + i, count - i);
        if (run.count < RUN_MIN && count - i > RUN_MIN && spot.chunk->archetype->destroys_fast &&
            has_only_rows(world, entities[i])) {
            done = destroy_block(world, entities + i, count - i, &died);
            if (done == SAMPLE) /* it was not worth it: those that follow go one by one for a while */
                scattered_end = i + BLOCK_MAX;
        } else if (run.count) {
            destroy_run(world, &run, entities + i);
            died += done = run.count;
        } else {
            died += micap_destroy_living(world, entities[i], spot);
        }
    }
    return died;
}
