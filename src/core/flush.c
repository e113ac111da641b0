/* The flush: gather what the buffers recorded, one target per entity; find where each goes; make room; then apply, in
 * batches of equal (from, to). Everything that can fail only reads the recordings and comes before the first change, so
 * that a flush is whole, and one that runs out of memory can be tried again. */
#include "base/assert.h"
#include "base/bits.h"
#include "base/hash.h"
#include "core/set.h"
#include "core/world.h"

enum { ROUNDS_MAX = 256 }; /* hooks that record, whose changes run hooks that record, ... */

/* Memory of the plan, for merged targets; given back when the flush is over. */
static void *plan(mica_world *world, size_t bytes)
{
    return micap_stage_allocate(&world->memory, &world->flush.stage, bytes, _Alignof(max_align_t));
}

static bool plan_list(mica_world *world, micap_command ***list, uint32_t *count, uint32_t *capacity,
                      micap_command *command)
{
    micap_command **commands = *list;
    if (!MICAP_RESERVE(&world->memory, commands, capacity, (uint64_t)*count + 1))
        return false;
    *list = commands;
    commands[(*count)++] = command;
    return true;
}

/* Notes that the value of a recorded command is not needed. */
static bool plan_drop(mica_world *world, micap_command *command)
{
    micap_flush *flush = &world->flush;
    return plan_list(world, &flush->dropped, &flush->dropped_count, &flush->dropped_capacity, command);
}

static bool plan_drops(mica_world *world, const micap_target *target)
{
    for (micap_command *command = target->first; command; command = command->next)
        if (!plan_drop(world, command->original ? command->original : command))
            return false;
    return true;
}

static bool plan_dead(mica_world *world, const micap_target *target)
{
    micap_flush *flush = &world->flush;
    if (!MICAP_RESERVE(&world->memory, flush->dead, &flush->dead_capacity, (uint64_t)flush->dead_count + 1))
        return false;
    flush->dead[flush->dead_count++] = *target;
    return plan_drops(world, target);
}

static bool append_copy(mica_world *world, micap_target *into, micap_command *command)
{
    micap_command *copy = plan(world, sizeof *copy);
    if (!copy)
        return false;
    *copy = *command;
    copy->original = command;
    copy->next = NULL;
    if (into->last)
        into->last->next = copy;
    else
        into->first = copy;
    into->last = copy;
    return true;
}

/* What is left of the toggles of two buffers. One that was recorded for a component which the earlier buffer removes
 * finds nothing, and one that the earlier buffer adds is there for it. */
static void merge_toggle(micap_command *into, micap_operation before, const micap_command *later)
{
    if (before == MICAP_OPERATION_REMOVE) {
        bool anew = later->operation == MICAP_OPERATION_VALUE;
        into->toggle = anew ? MICAP_TOGGLE_ON : MICAP_TOGGLE_KEEP;
        into->toggle_first = false;
        if (anew && later->toggle != MICAP_TOGGLE_KEEP && !later->toggle_first)
            into->toggle = later->toggle;
    } else if (later->toggle != MICAP_TOGGLE_KEEP) {
        into->toggle = later->toggle;
        into->toggle_first = later->toggle_first && before != MICAP_OPERATION_VALUE;
    } else if (later->operation == MICAP_OPERATION_VALUE && before == MICAP_OPERATION_NONE) {
        into->toggle_first = into->toggle != MICAP_TOGGLE_KEEP;
    } else if (later->operation == MICAP_OPERATION_REMOVE) {
        into->toggle = MICAP_TOGGLE_KEEP;
    }
}

/* The later buffer has the last word on a component. */
static bool merge_command(mica_world *world, micap_target *into, micap_command *later)
{
    micap_command *earlier = into->first;
    while (earlier && earlier->type != later->type)
        earlier = earlier->next;
    if (!earlier)
        return append_copy(world, into, later);
    merge_toggle(earlier, (micap_operation)earlier->operation, later);
    if (later->operation == MICAP_OPERATION_NONE)
        return true;
    if (!plan_drop(world, earlier->original))
        return false;
    earlier->original = later;
    earlier->operation = later->operation;
    earlier->value = later->value;
    earlier->is_set = later->is_set;
    earlier->place = later->place;
    return true;
}

/* A copy of a target that can be merged into. */
static micap_target *copy_target(mica_world *world, const micap_target *target)
{
    micap_target *copy = plan(world, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *target;
    copy->first = copy->last = NULL;
    copy->merged = true;
    for (micap_command *command = target->first; command; command = command->next)
        if (!append_copy(world, copy, command))
            return NULL;
    return copy;
}

/* Changes of the same entity in two buffers become one target. */
static bool merge_target(mica_world *world, micap_target **slot, const micap_target *later)
{
    if (!(*slot)->merged) {
        micap_target *copy = copy_target(world, *slot);
        if (!copy)
            return false;
        *slot = copy;
    }
    micap_target *into = *slot;
    into->created |= later->created;
    if (into->destroyed)
        return plan_dead(world, later);
    if (!later->destroyed) {
        for (micap_command *command = later->first; command; command = command->next)
            if (!merge_command(world, into, command))
                return false;
        return true;
    }
    if (!plan_drops(world, into))
        return false;
    into->first = into->last = NULL;
    into->destroyed = true;
    into->place = later->place;
    into->label = later->label;
    return true;
}

static uint32_t slot_of(const micap_flush *flush, mica_entity entity)
{
    for (uint32_t attempt = 0;; ++attempt) {
        uint32_t slot = micap_probe(entity.index, attempt) & flush->table_mask;
        if (!flush->table[slot] || mica_same(flush->targets[flush->table[slot] - 1]->entity, entity))
            return slot;
    }
}

static bool reserve_table(mica_world *world, uint32_t target_count)
{
    micap_flush *flush = &world->flush;
    flush->table_mask = (uint32_t)micap_power_of_two_at_least((uint64_t)target_count * 2) - 1;
    if (!MICAP_RESERVE(&world->memory, flush->table, &flush->table_capacity, (uint64_t)flush->table_mask + 1))
        return false;
    memset(flush->table, 0, (flush->table_mask + (size_t)1) * sizeof *flush->table);
    return true;
}

/* One list of targets, in order of buffer and of first touch. */
static bool gather(mica_world *world)
{
    micap_flush *flush = &world->flush;
    uint32_t total = 0, buffers = 0;
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        total += commands->applied.target_count;
        buffers += commands->applied.target_count != 0;
    }
    if (!MICAP_RESERVE(&world->memory, flush->targets, &flush->target_capacity, total) ||
        (buffers > 1 && !reserve_table(world, total)))
        return false;
    flush->target_count = flush->dropped_count = flush->dead_count = flush->destination_count = 0;
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        for (uint32_t i = 0; i < commands->applied.target_count; ++i) {
            micap_target *target = commands->applied.targets[i];
            if (!target->created && !target->destroyed && !target->first)
                continue;
            if (buffers > 1) {
                uint32_t slot = slot_of(flush, target->entity);
                if (flush->table[slot]) {
                    if (!merge_target(world, &flush->targets[flush->table[slot] - 1], target))
                        return false;
                    continue;
                }
                flush->table[slot] = flush->target_count + 1;
            }
            flush->targets[flush->target_count++] = target;
        }
    return true;
}

/* Sets targets aside that are dead. */
static bool find_dead(mica_world *world)
{
    micap_flush *flush = &world->flush;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < flush->target_count; ++i) {
        micap_target *target = flush->targets[i];
        if (target->created || micap_is_row(micap_locate(world, target->entity)))
            flush->targets[kept++] = target;
        else if (!plan_dead(world, target))
            return false;
    }
    flush->target_count = kept;
    return true;
}

/* Reports what was recorded for the dead; false when the policy refuses the flush because of it. */
static bool accept_dead(const mica_world *world)
{
    const micap_flush *flush = &world->flush;
    if (world->def.dead_target == MICA_DEAD_TARGET_IGNORE)
        return true;
    for (uint32_t i = 0; i < flush->dead_count; ++i) {
        const micap_target *target = &flush->dead[i];
        micap_fail(world, MICA_ERROR_DEAD, target->place,
                   "%s%sa change was recorded for entity %u (generation %u), which is not alive at the flush",
                   target->label ? target->label : "", target->label ? ": " : "", target->entity.index,
                   target->entity.generation);
    }
    return !flush->dead_count || world->def.dead_target != MICA_DEAD_TARGET_ERROR;
}

static bool is_structural(const micap_command *command, const micap_archetype *from)
{
    return command->operation == MICAP_OPERATION_VALUE
               ? !micap_archetype_has(from, command->type->id)
               : command->operation == MICAP_OPERATION_REMOVE && micap_archetype_has(from, command->type->id);
}

/* Several steps at once, without archetypes in between. */
static micap_archetype *jump(mica_world *world, const micap_archetype *from, const micap_target *target,
                             uint32_t steps)
{
    micap_set set;
    if (!micap_set_init(&set, world, from, steps))
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
        return jump(world, from, target, steps);
    bool add = step->operation == MICAP_OPERATION_VALUE;
    micap_edge *edge = add ? micap_archetype_with(world, from, step->type->id)
                           : micap_archetype_without(world, from, step->type->id);
    if (!edge)
        return NULL;
    target->is_step = edge->plain && !target->created;
    target->gap = edge->column;
    return add ? edge->with : edge->without;
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
    mica_result result = atomic_load_explicit(&world->last_error, memory_order_relaxed);
    return result == MICA_ERROR_MEMORY || result == MICA_ERROR_REFUSED;
}

static void forget_incoming(mica_world *world)
{
    micap_flush *flush = &world->flush;
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

/* Where one target goes; neighbours that want the same are asked once. */
static bool find_place(mica_world *world, micap_target *target, const micap_target *before)
{
    micap_flush *flush = &world->flush;
    target->is_step = false;
    target->to = NULL;
    target->from = target->created ? NULL : micap_locate(world, target->entity).chunk->archetype;
    if (target->destroyed)
        return true;
    micap_archetype *base = target->created ? world->archetypes.by_id[0] : target->from;
    if (before && is_alike(before, target)) {
        target->to = before->to;
        target->is_step = before->is_step;
        target->gap = before->gap;
    } else {
        target->to = destination(world, base, target);
    }
    if (!target->to && !is_worth_another_try(world)) {
        refuse_target(target);
        target->to = base;
    }
    if (!target->to || target->to == target->from)
        return target->to != NULL;
    if (target->to->incoming++ == 0) {
        if (!MICAP_RESERVE(&world->memory, flush->destinations, &flush->destination_capacity,
                           (uint64_t)flush->destination_count + 1)) {
            target->to->incoming = 0;
            micap_fail_memory(world, "flush");
            return false;
        }
        flush->destinations[flush->destination_count++] = target->to;
    }
    return true;
}

/* Where each target goes, and room for it there. */
static bool find_places(mica_world *world)
{
    micap_flush *flush = &world->flush;
    flush->destination_count = 0;
    for (uint32_t i = 0; i < flush->target_count; ++i)
        if (!find_place(world, flush->targets[i], i ? flush->targets[i - 1] : NULL))
            return false;
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
            flush->group_list[flush->group_count++] =
                (struct micap_group){.from = target->from, .to = target->to};
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
    flush->grouped = false;
    for (uint32_t i = 1; i < count && !flush->grouped; ++i)
        flush->grouped = flush->targets[i]->from != flush->targets[0]->from ||
                         flush->targets[i]->to != flush->targets[0]->to;
    if (!flush->grouped) /* one group: as they are */
        return true;
    flush->group_mask = (uint32_t)micap_power_of_two_at_least(count * 2 + 1) - 1;
    if (!MICAP_RESERVE(memory, flush->groups, &flush->groups_capacity, count) ||
        !MICAP_RESERVE(memory, flush->order, &flush->order_capacity, count) ||
        !MICAP_RESERVE(memory, flush->group_list, &flush->group_capacity, count) ||
        !MICAP_RESERVE(memory, flush->group_table, &flush->group_table_capacity,
                       (uint64_t)flush->group_mask + 1))
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
        flush->order[flush->group_list[flush->groups[i]].count++] = i;
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

static void apply_plan(mica_world *world)
{
    micap_flush *flush = &world->flush;
    for (uint32_t i = 0; i < flush->dropped_count; ++i)
        micap_command_drop_value(flush->dropped[i]);
    for (uint32_t i = 0; i < flush->target_count; ++i)
        micap_target_apply(world, flush->targets[flush->grouped ? flush->order[i] : i]);
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        micap_recording_reset(world, &commands->applied);
}

static void drop_all(mica_world *world)
{
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        micap_recording_drop(world, &commands->applied);
        micap_recording_drop(world, &commands->recording);
    }
}

static mica_result apply_round(mica_world *world, bool all)
{
    swap_recordings(world, all);
    mica_result result = MICA_OK;
    if (!gather(world) || !find_dead(world))
        result = micap_fail_memory(world, "flush");
    else if (!find_places(world) || !make_groups(world))
        result = atomic_load_explicit(&world->last_error, memory_order_relaxed);
    if (result != MICA_OK) {
        forget_incoming(world);
        swap_recordings(world, all); /* as before, for another try */
    } else if (!accept_dead(world)) {
        forget_incoming(world);
        drop_all(world);
        result = MICA_ERROR_DEAD;
    } else {
        apply_plan(world);
    }
    micap_stage_reset(&world->flush.stage);
    return result;
}

static bool is_anything_recorded(const mica_world *world, bool all)
{
    for (const mica_commands *commands = world->first_commands; commands; commands = all ? commands->next : NULL)
        if (commands->recording.target_count)
            return true;
    return false;
}

static mica_result apply_rounds(mica_world *world, bool all)
{
    mica_result result = MICA_OK;
    world->flushing = true;
    for (uint32_t round = 0; result == MICA_OK && is_anything_recorded(world, all); ++round) {
        if (round < ROUNDS_MAX) {
            result = apply_round(world, all);
        } else {
            drop_all(world);
            result = micap_fail(world, MICA_ERROR_LIMIT, (mica_place){0},
                                "flush: hooks keep recording changes after %d rounds; the rest is dropped", ROUNDS_MAX);
        }
    }
    world->flushing = false;
    return result;
}

mica_result micap_flush_own(mica_world *world)
{
    return apply_rounds(world, false);
}

mica_result mica_flush(mica_world *world)
{
    if (world->hook_depth) {
        if (world->recording_depth > world->hook_depth) { /* the end of a defer inside the hook */
            --world->recording_depth;
            return MICA_OK;
        }
        return micap_fail(world, MICA_ERROR_REFUSED, (mica_place){0},
                          "flush: called inside a hook, whose changes are applied after it anyway");
    }
    if (world->recording_depth && --world->recording_depth)
        return MICA_OK;
    micap_entities_settle(world);
    mica_result result = apply_rounds(world, true);
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        micap_commands_restock(commands);
    return result;
}

void mica_defer(mica_world *world)
{
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
