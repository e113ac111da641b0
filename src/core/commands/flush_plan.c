#include "core/commands/flush_plan.h"

#include "base/bits.h"
#include "base/hash.h"
#include "core/commands/flush_gather.h"
#include "core/commands/module_notes.h"
#include "core/storage/archetype_graph.h"
#include "core/storage/component_set.h"
#include "core/storage/pool_lookup.h"
#include "core/storage/rows.h"
#include "core/world/report.h"
#include "core/world/world.h"

static bool is_structural(const micap_command *command, const micap_archetype *from)
{
    if (micap_is_pooled(command->type->id))
        return false;
    return command->operation == MICAP_OPERATION_VALUE
               ? !micap_archetype_has(from, command->type->id)
               : command->operation == MICAP_OPERATION_REMOVE && micap_archetype_has(from, command->type->id);
}

/* Adds and removes several components at once, without creating the archetypes in between. */
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

/* The archetype a target goes to. A single addition or removal uses the cached edge. */
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

/* Whether two targets make the same change to the same archetype, as neighbours in a recording mostly do. */
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

void micap_flush_forget_incoming(mica_world *world)
{
    micap_flush *flush = &world->flush;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        world->pools.all[i]->incoming = 0;
    for (uint32_t i = 0; i < flush->destination_count; ++i)
        flush->destinations[i]->incoming = 0;
}

/* Discards the changes of a target that can't be made, so that they do not block all others. */
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

/* Finds where one target goes. Neighbours with the same change reuse the result. */
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

/* Finds where each target goes, and reserves room for it. Dead targets are set aside. */
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

/* Notes come first, because they decide which entities die with others. */
mica_result micap_flush_plan(mica_world *world)
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
