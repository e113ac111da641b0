/* The flush: gather what the buffers recorded, one target per entity; find where each goes; make room; then apply, in
 * batches of equal (from, to). Everything that can fail only reads the recordings and comes before the first change, so
 * that a flush is whole, and one that runs out of memory can be tried again. */
#include "core/commands/flush.h"

#include "base/argument.h"
#include "base/probe.h"
#include "core/commands/apply_batch.h"
#include "core/commands/apply_each.h"
#include "core/commands/apply_parallel.h"
#include "core/commands/apply_single.h"
#include "core/commands/flush_plan.h"
#include "core/commands/module_notes.h"
#include "core/entity/destroy.h"
#include "core/events/hooks.h"
#include "core/storage/pool_lookup.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"

enum {
    ROUNDS_MAX = 256, /* hooks that record, whose changes run hooks that record, ... */
    PAIRS_FIRST = 64,
};

void *micap_flush_allocate(mica_world *world, size_t bytes)
{
    return micap_stage_allocate(&world->memory, &world->flush.stage, bytes, _Alignof(max_align_t));
}

/* The place of a pair in the table, or the empty one where it goes. */
static inline uint32_t place_of(const micap_flush *flush, const void *first, const void *second)
{
    uint64_t key = (uint64_t)(uintptr_t)first * 31 + (uintptr_t)second;
    uint32_t place = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40), mask = flush->pair_table_capacity - 1;
    for (place &= mask;; place = (place + 1) & mask) {
        uint32_t at = flush->pair_table[place];
        if (at >= flush->pair_count || flush->pairs[at].place != place ||
            (flush->pairs[at].first == first && flush->pairs[at].second == second))
            return place;
    }
}

static void add_pair(micap_flush *flush, uint32_t place, micap_pair pair)
{
    pair.place = place;
    flush->pair_table[place] = flush->pair_count;
    flush->pairs[flush->pair_count++] = pair;
}

static MICAP_COLD bool grow_pairs(mica_world *world)
{
    micap_flush *flush = &world->flush;
    uint32_t count = flush->pair_count, capacity = flush->pair_table_capacity * 4;
    capacity = capacity ? capacity : PAIRS_FIRST;
    if (!MICAP_RESERVE(&world->memory, flush->pairs, &flush->pair_capacity, capacity))
        return false;
    uint32_t *table = micap_allocate_zeroed(&world->memory, capacity * sizeof *table, MICAP_ARRAY_ALIGNMENT);
    if (!table)
        return false;
    MICAP_RELEASE_ARRAY(&world->memory, flush->pair_table, flush->pair_table_capacity);
    flush->pair_table = table;
    flush->pair_table_capacity = capacity;
    flush->pair_count = 0;
    for (uint32_t i = 0; i < count; ++i)
        add_pair(flush, place_of(flush, flush->pairs[i].first, flush->pairs[i].second), flush->pairs[i]);
    return true;
}

void **micap_flush_find(mica_world *world, const void *first, const void *second)
{
    micap_flush *flush = &world->flush;
    uint32_t recent = flush->recent_pair;
    if (recent < flush->pair_count && flush->pairs[recent].first == first && flush->pairs[recent].second == second)
        return &flush->pairs[recent].found;
    if (MICAP_UNLIKELY(flush->pair_count >= flush->pair_table_capacity / 4 * 3) && !grow_pairs(world))
        return NULL;
    uint32_t place = place_of(flush, first, second), at = flush->pair_table[place];
    if (at >= flush->pair_count || flush->pairs[at].place != place) {
        at = flush->pair_count;
        add_pair(flush, place, (micap_pair){.first = first, .second = second});
    }
    flush->recent_pair = at;
    return &flush->pairs[at].found;
}

/* Reports changes recorded for dead entities. False if the world rejects the flush because of them. */
static bool accept_dead(const mica_world *world)
{
    const micap_flush *flush = &world->flush;
    if (world->def.dead_target == MICA_DEAD_TARGET_IGNORE)
        return true;
    for (uint32_t i = 0; i < flush->dead_count; ++i) {
        const micap_dead *dead = &flush->dead[i];
        micap_fail(world, MICA_ERROR_DEAD, dead->location,
                   "%s%sa change was recorded for entity %u (generation %u), which is not alive at the flush",
                   dead->label ? dead->label : "", dead->label ? ": " : "", dead->entity.index,
                   dead->entity.generation);
    }
    return !flush->dead_count || world->def.dead_target != MICA_DEAD_TARGET_ERROR;
}

/* Swaps the recordings with those to be applied, or back: of the world's own buffer, or of all. */
static void swap_recordings(mica_world *world, bool all)
{
    for (mica_commands *commands = world->first_commands; commands; commands = all ? commands->next : NULL) {
        micap_recording recording = commands->recording;
        commands->recording = commands->applied;
        commands->applied = recording;
    }
}

/* Empties the applied recordings. Keeps their memory. */
static void empty_applied(mica_world *world)
{
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        micap_recording_reset(world, &commands->applied);
        if (micap_recording_is_empty(&commands->recording)) { /* keep using the memory that is in the cache */
            micap_recording emptied = commands->applied;
            commands->applied = commands->recording;
            commands->recording = emptied;
        }
    }
}

/* The handles of entities whose creation was recorded, and that die with another one. */
static void forget_doomed(mica_world *world)
{
    const micap_flush *flush = &world->flush;
    for (uint32_t i = 0; flush->has_doomed && i < flush->gathered_count; ++i) {
        const micap_gathered *step = &flush->gathered[i];
        if (!step->kind && step->target->doomed && step->target->created)
            micap_entity_forget_pending(world, step->target->entity);
    }
}

static void apply_group(mica_world *world, const micap_group *group)
{
    const micap_flush_step *step = group->first;
    while (step) {
        if (step->kind && !step->each) {
            step = micap_batch_apply(world, group, step);
            continue;
        }
        if (step->each)
            micap_each_apply(world, group, step);
        else
            micap_target_apply(world, step->target);
        step = step->next;
    }
}

static void apply_plan(mica_world *world)
{
    const micap_flush *flush = &world->flush;
    for (uint32_t i = 0; i < flush->dropped_count; ++i)
        micap_values_destruct(flush->dropped[i].type, flush->dropped[i].value, 1);
    if (!micap_flush_apply_parallel(world))
        for (uint32_t i = 0; i < flush->group_count; ++i)
            apply_group(world, flush->groups[i]);
    forget_doomed(world);
}

static void drop_recordings(mica_world *world, bool all)
{
    for (mica_commands *commands = world->first_commands; commands; commands = all ? commands->next : NULL) {
        micap_recording_drop(world, &commands->applied);
        micap_recording_drop(world, &commands->recording);
    }
}

/* The values of required components, if the plan is not applied. */
static void drop_made(const micap_flush *flush)
{
    for (uint32_t i = 0; i < flush->made_count; ++i)
        micap_values_destruct(flush->made[i].type, flush->made[i].value, 1);
}

static mica_result apply_round(mica_world *world, bool all)
{
    swap_recordings(world, all);
    world->flush.last_note = NULL;
    world->flush.pair_count = 0;
    mica_result result = micap_flush_plan(world);
    if (result != MICA_OK) {
        drop_made(&world->flush);
        micap_flush_forget_incoming(world);
        micap_notes_undo(world);
        swap_recordings(world, all); /* as before, for another try */
    } else if (!accept_dead(world)) {
        drop_made(&world->flush);
        micap_flush_forget_incoming(world);
        micap_notes_undo(world);
        drop_recordings(world, all);
        result = MICA_ERROR_DEAD;
    } else {
        micap_notes_finish(world);
        apply_plan(world);
        micap_notes_after(world);
        empty_applied(world);
        micap_flush_forget_incoming(world);
    }
    micap_stage_reset(&world->flush.stage);
    return result;
}

static bool is_anything_recorded(const mica_world *world, bool all)
{
    for (const mica_commands *commands = world->first_commands; commands; commands = all ? commands->next : NULL)
        if (!micap_recording_is_empty(&commands->recording))
            return true;
    return false;
}

/* Calls what waits for the end of the operation. False if nothing does. */
static bool settle(mica_world *world, uint32_t *round)
{
    if (!world->is_unsettled || world->settle_holds)
        return false;
    world->is_unsettled = false;
    if (world->settle(world))
        *round = 0;
    return true;
}

static mica_result apply_rounds(mica_world *world, bool all)
{
    mica_result result = MICA_OK;
    world->flush.refusal = MICA_OK;
    world->hooks_recorded = false;
    world->flushing = true;
    uint32_t round = 0;
    MICAP_PROBE_1(flush_begin, world);
    do
        for (; result == MICA_OK && is_anything_recorded(world, all); ++round)
            if (round < ROUNDS_MAX)
                result = apply_round(world, all);
            else
                result =
                    micap_fail(world, MICA_ERROR_LIMIT, (mica_location){0},
                               "flush: hooks keep recording changes after %d rounds; the rest is dropped", ROUNDS_MAX);
    while (settle(world, &round));
    if (result == MICA_ERROR_LIMIT)
        drop_recordings(world, all);
    world->flushing = false;
    world->hooks_recorded |= world->is_unsettled;
    MICAP_PROBE_2(flush_end, world, round);
    return result == MICA_OK ? world->flush.refusal : result;
}

mica_result micap_flush_own(mica_world *world)
{
    return apply_rounds(world, false);
}

/* Inside a system all changes are recorded, and applied after its phase. */
static mica_result flush_inside(const mica_world *world, micap_thread_context *here)
{
    if (here->defers) {
        --here->defers;
        return MICA_OK;
    }
    micap_check_door(world, "flush");
    return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                      "flush: called inside a system, whose changes are applied after its phase");
}

mica_result mica_flush(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return MICA_ERROR_INVALID;
    micap_thread_context *here = micap_thread_context_of(world);
    if (here)
        return flush_inside(world, here);
    if (world->hook_depth) {
        if (world->recording_depth > world->hook_depth) { /* the end of a defer inside the hook */
            --world->recording_depth;
            return MICA_OK;
        }
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                          "flush: called inside a hook, whose changes are applied after it anyway");
    }
    if (world->recording_depth && --world->recording_depth)
        return MICA_OK;
    micap_entities_settle(world);
    uint64_t structure = world->structure;
    mica_result result = apply_rounds(world, true);
    if (world->pools.dead_count && !is_anything_recorded(world, true)) { /* or nothing changes, for another try */
        micap_pools_flush(world);
        micap_hooks_end(world);
    }
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        micap_commands_restock(commands);
    micap_entities_set_aside(world);
    if (world->structure != structure)
        micap_lend_end(world);
    return result;
}

void mica_defer(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return;
    micap_thread_context *here = micap_thread_context_of(world);
    if (here)
        ++here->defers;
    else
        ++world->recording_depth;
}

void micap_flush_free(mica_world *world)
{
    micap_flush *flush = &world->flush;
    MICAP_RELEASE_ARRAY(&world->memory, flush->gathered, flush->gathered_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->table, flush->table_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->groups, flush->group_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->origins, flush->origin_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->pairs, flush->pair_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->pair_table, flush->pair_table_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->dropped, flush->dropped_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->made, flush->made_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->dead, flush->dead_capacity);
    micap_stage_free(&world->memory, &flush->stage);
    *flush = (micap_flush){0};
}
