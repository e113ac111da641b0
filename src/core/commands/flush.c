/* The flush: gather what the buffers recorded, one target per entity; find where each goes; make room; then apply, in
 * batches of equal (from, to). Everything that can fail only reads the recordings and comes before the first change, so
 * that a flush is whole, and one that runs out of memory can be tried again. */
#include "base/argument.h"
#include "base/bits.h"
#include "base/hash.h"
#include "core/events/hooks.h"
#include "core/entity/pool_component.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/storage/component_set.h"
#include "core/world/stale_pointers.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/archetype_graph.h"
#include "core/entity/destroy.h"
#include "core/storage/pool_lookup.h"

enum { ROUNDS_MAX = 256 }; /* hooks that record, whose changes run hooks that record, ... */

/* Reports what was recorded for the dead; false when the policy refuses the flush because of it. */
static bool accept_dead(const mica_world *world)
{
    const micap_flush *flush = &world->flush;
    if (world->def.dead_target == MICA_DEAD_TARGET_IGNORE)
        return true;
    for (uint32_t i = 0; i < flush->dead_count; ++i) {
        const micap_target *target = &flush->dead[i];
        micap_fail(world, MICA_ERROR_DEAD, target->location,
                   "%s%sa change was recorded for entity %u (generation %u), which is not alive at the flush",
                   target->label ? target->label : "", target->label ? ": " : "", target->entity.index,
                   target->entity.generation);
    }
    return !flush->dead_count || world->def.dead_target != MICA_DEAD_TARGET_ERROR;
}

static bool is_structural(const micap_command *command, const micap_archetype *from)
{
    if (micap_is_pooled(command->type->id))
        return false;
    return command->operation == MICAP_OPERATION_VALUE
               ? !micap_archetype_has(from, command->type->id)
               : command->operation == MICAP_OPERATION_REMOVE && micap_archetype_has(from, command->type->id);
}

/* Several steps at once, without archetypes in between. */
static micap_archetype *jump(mica_world *world, const micap_archetype *from, const micap_target *target)
{
    micap_set set;
    uint32_t room = 0;
    for (const micap_command *command = target->first; command; command = command->next)
        room += micap_set_room(command->type->id);
    if (!micap_set_init(&set, world, from, room))
        return NULL;
    bool fine = true;
    for (const micap_command *command = target->first; fine && command; command = command->next) {
        if (!is_structural(command, from))
            continue;
        if (command->operation == MICAP_OPERATION_VALUE) {
            fine = micap_type_for_entities(world, command->type->id) != NULL;
            micap_set_insert(&set, command->type);
        } else {
            micap_set_erase(&set, command->type);
        }
    }
    micap_archetype *to = fine ? micap_archetype_of_set(world, set.ids, set.count) : NULL;
    micap_set_free(&set);
    return to;
}

/* The archetype a target goes to. One step takes the edge that is remembered for it. */
static micap_archetype *destination(mica_world *world, micap_archetype *from, micap_target *target)
{
    const micap_command *step = NULL;
    uint32_t steps = 0;
    for (const micap_command *command = target->first; command; command = command->next)
        if (is_structural(command, from)) {
            step = command;
            ++steps;
        }
    if (steps == 0)
        return from;
    if (steps > 1)
        return jump(world, from, target);
    const micap_edge *edge = micap_archetype_step(world, from, step->type->id);
    if (!edge)
        return NULL;
    if (edge->path != MICAP_EDGE_GENERAL && !target->created)
        target->edge = *edge;
    return edge->end;
}

/* Whether two targets ask for the same of the same archetype: neighbours in a recording mostly do. */
static bool is_alike(const micap_target *a, const micap_target *b)
{
    if (a->from != b->from || a->destroyed || b->destroyed)
        return false;
    const micap_command *left = a->first, *right = b->first;
    for (; left && right; left = left->next, right = right->next)
        if (left->type != right->type || left->operation != right->operation)
            return false;
    return left == right;
}

static bool is_worth_another_try(const mica_world *world)
{
    mica_result result = micap_failure(world);
    return result == MICA_ERROR_MEMORY || result == MICA_ERROR_REFUSED;
}

static void forget_incoming(mica_world *world)
{
    micap_flush *flush = &world->flush;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        world->pools.all[i]->incoming = 0;
    for (uint32_t i = 0; i < flush->destination_count; ++i)
        flush->destinations[i]->incoming = 0;
}

/* Forgets the changes of a target that were reported as impossible: they must not stop the others for ever. */
static void refuse_target(micap_target *target)
{
    for (micap_command *command = target->first; command; command = command->next) {
        micap_command *recorded = command->original ? command->original : command;
        micap_command_drop_value(recorded);
        recorded->operation = command->operation = MICAP_OPERATION_NONE;
        command->value = NULL;
    }
}

/* Notes that one more row goes to an archetype. */
static bool expect_row(mica_world *world, micap_archetype *to)
{
    micap_flush *flush = &world->flush;
    if (to->incoming++)
        return true;
    if (!MICAP_RESERVE(&world->memory, flush->destinations, &flush->destination_capacity,
                       (uint64_t)flush->destination_count + 1)) {
        to->incoming = 0;
        micap_fail_memory(world, "flush");
        return false;
    }
    flush->destinations[flush->destination_count++] = to;
    return true;
}

/* Makes room in pools for what a target adds. */
static bool expect_instances(mica_world *world, const micap_target *target)
{
    for (const micap_command *command = target->first; command; command = command->next) {
        bool adds = command->operation == MICAP_OPERATION_INSTANCE || command->operation == MICAP_OPERATION_VALUE;
        mica_pool *pool = adds && micap_is_pooled(command->type->id) ? micap_pool_of(world, command->type->id) : NULL;
        if (!pool)
            continue;
        if (!micap_pools_make_room(world, pool, target->entity, ++pool->incoming)) {
            micap_fail_memory(world, command->type->type.name);
            return false;
        }
    }
    return true;
}

/* Registers the pool components among the commands of a target; false with a report. */
static bool use_pools(mica_world *world, const micap_target *target)
{
    for (const micap_command *command = target->first; command; command = command->next)
        if (micap_is_pooled(command->type->id) && !micap_component_use(world, command->type->id))
            return false;
    return true;
}

/* Where one target goes; neighbours that want the same are asked once. */
static bool find_place(mica_world *world, micap_target *target, const micap_target *before)
{
    target->edge.path = MICAP_EDGE_GENERAL;
    target->to = NULL;
    if (target->destroyed)
        return true;
    micap_archetype *base = target->created ? world->archetypes.by_id[0] : target->from;
    if (before && is_alike(before, target)) {
        target->to = before->to;
        target->edge = before->edge;
    } else {
        target->to = use_pools(world, target) ? destination(world, base, target) : NULL;
    }
    if (!target->to && !is_worth_another_try(world)) {
        world->flush.refusal = micap_failure(world);
        refuse_target(target);
        target->to = base;
    }
    return target->to && (target->to == target->from || expect_row(world, target->to)) &&
           (!world->pools.count || expect_instances(world, target));
}

/* Where each target goes, and room for it there. The dead are set aside. */
static bool find_places(mica_world *world)
{
    micap_flush *flush = &world->flush;
    uint32_t kept = 0;
    flush->grouped = false;
    for (uint32_t i = 0; i < flush->target_count; ++i) {
        micap_target *target = flush->targets[i];
        micap_chunk *chunk = micap_locate(world, target->entity).chunk;
        if (micap_target_is_empty(target))
            continue;
        if (!target->created && chunk->number <= MICAP_CHUNK_PENDING) {
            if (micap_flush_set_aside(world, target))
                continue;
            micap_fail_memory(world, "flush");
            return false;
        }
        target->from = target->created ? NULL : chunk->archetype;
        if (!find_place(world, target, kept ? flush->targets[kept - 1] : NULL))
            return false;
        flush->targets[kept++] = target;
        flush->grouped |= target->from != flush->targets[0]->from || target->to != flush->targets[0]->to;
    }
    flush->target_count = kept;
    for (uint32_t i = 0; i < flush->destination_count; ++i)
        if (!micap_rows_reserve(world, flush->destinations[i], flush->destinations[i]->incoming)) {
            micap_fail_memory(world, "flush");
            return false;
        }
    return true;
}

static uint32_t group_of(micap_flush *flush, const micap_target *target)
{
    uint64_t key = ((uint64_t)(uintptr_t)target->from * 31 + (uint64_t)(uintptr_t)target->to) >> 6;
    for (uint64_t at = micap_hash_mix(key);; ++at) {
        uint32_t *slot = &flush->group_table[at & flush->group_mask];
        if (!*slot) {
            flush->group_list[flush->group_count++] = (struct micap_group){.from = target->from, .to = target->to};
            *slot = flush->group_count;
        }
        const struct micap_group *group = &flush->group_list[*slot - 1];
        if (group->from == target->from && group->to == target->to)
            return *slot - 1;
    }
}

/* Sorts the targets by (from, to): groups in order of first appearance, targets in a group likewise. */
static bool make_groups(mica_world *world)
{
    micap_flush *flush = &world->flush;
    micap_memory *memory = &world->memory;
    uint64_t count = flush->target_count;
    if (!flush->grouped) /* as they are */
        return true;
    flush->group_mask = (uint32_t)micap_power_of_two_at_least(count * 2 + 1) - 1;
    if (!MICAP_RESERVE(memory, flush->groups, &flush->groups_capacity, count) ||
        !MICAP_RESERVE(memory, flush->order, &flush->order_capacity, count) ||
        !MICAP_RESERVE(memory, flush->group_list, &flush->group_capacity, count) ||
        !MICAP_RESERVE(memory, flush->group_table, &flush->group_table_capacity, (uint64_t)flush->group_mask + 1))
        return micap_fail_memory(world, "flush"), false;
    memset(flush->group_table, 0, (flush->group_mask + (size_t)1) * sizeof *flush->group_table);
    flush->group_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const micap_target *before = i ? flush->targets[i - 1] : NULL;
        const micap_target *target = flush->targets[i];
        bool same = before && before->from == target->from && before->to == target->to;
        flush->groups[i] = same ? flush->groups[i - 1] : group_of(flush, target);
        ++flush->group_list[flush->groups[i]].count;
    }
    uint32_t begin = 0;
    for (uint32_t group = 0; group < flush->group_count; ++group) {
        uint32_t size = flush->group_list[group].count;
        flush->group_list[group].count = begin;
        begin += size;
    }
    for (uint32_t i = 0; i < count; ++i)
        flush->order[flush->group_list[flush->groups[i]].count++] = flush->targets[i];
    return true;
}

/* Puts what is recorded aside as what is applied, or back: of the world's own buffer, or of all. */
static void swap_recordings(mica_world *world, bool all)
{
    for (mica_commands *commands = world->first_commands; commands; commands = all ? commands->next : NULL) {
        micap_recording recording = commands->recording;
        commands->recording = commands->applied;
        commands->applied = recording;
    }
}

/* What was applied is forgotten, and its memory kept. */
static void empty_applied(mica_world *world)
{
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        micap_recording_reset(world, &commands->applied);
        if (micap_recording_is_empty(&commands->recording)) { /* go on with the memory that is in the cache */
            micap_recording emptied = commands->applied;
            commands->applied = commands->recording;
            commands->recording = emptied;
        }
    }
}

static void apply_plan(mica_world *world)
{
    micap_flush *flush = &world->flush;
    for (uint32_t i = 0; i < flush->dropped_count; ++i)
        micap_command_drop_value(flush->dropped[i]);
    micap_target **targets = flush->grouped ? flush->order : flush->targets;
    bool is_done = micap_flush_apply_shared(world);
    for (uint32_t i = 0, run; !is_done && i < flush->target_count; i += run) {
        run = micap_targets_apply_run(world, targets + i, flush->target_count - i);
        if (!run) {
            micap_target_apply(world, targets[i]);
            run = 1;
        }
    }
    for (uint32_t i = 0; flush->has_doomed && i < flush->target_count; ++i)
        if (flush->targets[i]->doomed && flush->targets[i]->created)
            micap_entity_forget_pending(world, flush->targets[i]->entity);
}

static void drop_recordings(mica_world *world, bool all)
{
    for (mica_commands *commands = world->first_commands; commands; commands = all ? commands->next : NULL) {
        micap_recording_drop(world, &commands->applied);
        micap_recording_drop(world, &commands->recording);
    }
}

/* Notes come first: who dies with whom depends on them. They can be taken back, and so the plan changes nothing in the end
 * when it can't be made. */
static mica_result make_plan(mica_world *world)
{
    mica_result result = MICA_OK;
    if (!micap_flush_gather(world))
        return micap_fail_memory(world, "flush");
    if (!micap_notes_apply(world, &result))
        return result;
    if (!micap_flush_doom_dependents(world))
        return micap_fail_memory(world, "flush");
    return find_places(world) && make_groups(world) ? MICA_OK : micap_failure(world);
}

static mica_result apply_round(mica_world *world, bool all)
{
    swap_recordings(world, all);
    world->flush.last_note = NULL;
    micap_strip_outcome strip = micap_strip_apply(world);
    if (strip == MICAP_STRIP_APPLIED) {
        empty_applied(world);
        return MICA_OK;
    }
    mica_result result = strip == MICAP_STRIP_FAILED ? micap_failure(world) : make_plan(world);
    if (result != MICA_OK) {
        forget_incoming(world);
        micap_notes_undo(world);
        swap_recordings(world, all); /* as before, for another try */
    } else if (!accept_dead(world)) {
        forget_incoming(world);
        micap_notes_undo(world);
        drop_recordings(world, all);
        result = MICA_ERROR_DEAD;
    } else {
        apply_plan(world);
        empty_applied(world);
        forget_incoming(world);
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

static mica_result apply_rounds(mica_world *world, bool all)
{
    mica_result result = MICA_OK;
    world->flush.refusal = MICA_OK;
    world->hooks_recorded = false;
    world->flushing = true;
    for (uint32_t round = 0; result == MICA_OK && is_anything_recorded(world, all); ++round) {
        if (round < ROUNDS_MAX) {
            result = apply_round(world, all);
        } else {
            drop_recordings(world, all);
            result = micap_fail(world, MICA_ERROR_LIMIT, (mica_location){0},
                                "flush: hooks keep recording changes after %d rounds; the rest is dropped", ROUNDS_MAX);
        }
    }
    world->flushing = false;
    return result == MICA_OK ? world->flush.refusal : result;
}

mica_result micap_flush_own(mica_world *world)
{
    return apply_rounds(world, false);
}

/* Inside a system everything is recorded anyway, and applied after its phase. */
static mica_result flush_inside(const mica_world *world, micap_here *here)
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
    micap_here *here = micap_here_of(world);
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
    micap_here *here = micap_here_of(world);
    if (here)
        ++here->defers;
    else
        ++world->recording_depth;
}

void micap_flush_free(mica_world *world)
{
    micap_flush *flush = &world->flush;
    MICAP_RELEASE_ARRAY(&world->memory, flush->targets, flush->target_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->table, flush->table_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->groups, flush->groups_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->order, flush->order_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->group_list, flush->group_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->group_table, flush->group_table_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->dropped, flush->dropped_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->dead, flush->dead_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, flush->destinations, flush->destination_capacity);
    micap_stage_free(&world->memory, &flush->stage);
    *flush = (micap_flush){0};
}
