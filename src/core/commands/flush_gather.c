/* The first step of a flush: one list of targets, in order of buffer and of first touch. An entity that several buffers
 * touch gets a merged copy, in which later buffers have the last word. The recordings are only read. */
#include "core/commands/flush_gather.h"

#include "base/bits.h"
#include "core/world/world.h"

/* Memory for merged targets, released after the flush. */
static void *plan(mica_world *world, size_t bytes)
{
    return micap_stage_allocate(&world->memory, &world->flush.stage, bytes, _Alignof(max_align_t));
}

/* Lists a recorded command whose value is to be dropped. */
static bool plan_drop(mica_world *world, micap_command *command)
{
    micap_flush *flush = &world->flush;
    if (!MICAP_RESERVE(&world->memory, flush->dropped, &flush->dropped_capacity, (uint64_t)flush->dropped_count + 1))
        return false;
    flush->dropped[flush->dropped_count++] = command;
    return true;
}

static bool plan_drops(mica_world *world, const micap_target *target)
{
    for (micap_command *command = target->first; command; command = command->next)
        if (!plan_drop(world, command->original ? command->original : command))
            return false;
    return true;
}

bool micap_flush_set_aside(mica_world *world, const micap_target *target)
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

/* Replaces the value of the earlier command with that of the later one. */
static bool replace(mica_world *world, micap_command *earlier, micap_command *later)
{
    if (!plan_drop(world, earlier->original))
        return false;
    earlier->original = later;
    earlier->operation = later->operation;
    earlier->value = later->value;
    earlier->is_set = later->is_set;
    return true;
}

/* What is recorded for many instances is done one after the other. A removal makes what was before it void, a value for the
 * first instance takes the place of another, and a switch right after a removal finds nothing. */
static bool merge_many(mica_world *world, micap_target *into, micap_command *later)
{
    micap_operation last = MICAP_OPERATION_NONE;
    for (micap_command *command = into->first, *next; command; command = next) {
        next = command->next;
        if (command->type != later->type)
            continue;
        last = (micap_operation)command->operation;
        if (later->operation == MICAP_OPERATION_VALUE && last == MICAP_OPERATION_VALUE)
            return replace(world, command, later);
        if (later->operation != MICAP_OPERATION_REMOVE)
            continue;
        if (!plan_drop(world, command->original))
            return false;
        micap_target_unlink(into, command);
    }
    bool finds_nothing = later->operation == MICAP_OPERATION_NONE && last == MICAP_OPERATION_REMOVE;
    return finds_nothing || append_copy(world, into, later);
}

/* The command of the later buffer replaces that of the earlier one. */
static bool merge_command(mica_world *world, micap_target *into, micap_command *later)
{
    if (later->type->type.many)
        return merge_many(world, into, later);
    micap_command *earlier = into->first;
    while (earlier && earlier->type != later->type)
        earlier = earlier->next;
    if (!earlier)
        return append_copy(world, into, later);
    merge_toggle(earlier, (micap_operation)earlier->operation, later);
    return later->operation == MICAP_OPERATION_NONE || replace(world, earlier, later);
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
        return micap_flush_set_aside(world, later);
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
    into->location = later->location;
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

static bool fill_table(mica_world *world)
{
    micap_flush *flush = &world->flush;
    if (flush->has_table)
        return true;
    if (!reserve_table(world, flush->target_count))
        return false;
    for (uint32_t i = 0; i < flush->target_count; ++i)
        flush->table[slot_of(flush, flush->targets[i]->entity)] = i + 1;
    return flush->has_table = true;
}

/* The context is a bool: whether there was no error so far. */
static void doom(mica_world *world, const mica_entity *entities, uint32_t count, void *context)
{
    micap_flush *flush = &world->flush;
    bool *fine = context;
    for (uint32_t i = 0; *fine && i < count; ++i) {
        uint32_t position = flush->table[slot_of(flush, entities[i])];
        if (!position)
            continue;
        micap_target **target = &flush->targets[position - 1], death = {.entity = entities[i], .destroyed = true};
        *fine = (*target)->destroyed || merge_target(world, target, &death);
        if (*fine)
            flush->has_doomed = (*target)->doomed = true;
    }
}

bool micap_flush_doom_dependents(mica_world *world)
{
    micap_flush *flush = &world->flush;
    if (!world->has_dependents)
        return true;
    for (uint32_t i = 0; i < flush->target_count; ++i) {
        const micap_target *target = flush->targets[i];
        if (!target->destroyed || target->doomed)
            continue;
        bool fine = fill_table(world);
        if (fine)
            micap_modules_each_dependent(world, target->entity, doom, &fine);
        if (!fine)
            return false;
    }
    return true;
}

bool micap_flush_gather(mica_world *world)
{
    micap_flush *flush = &world->flush;
    uint32_t total = 0, buffers = 0;
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next) {
        if (!micap_recording_expand(world, &commands->applied))
            return false;
        total += commands->applied.target_count;
        buffers += commands->applied.target_count != 0;
    }
    if (!MICAP_RESERVE(&world->memory, flush->targets, &flush->target_capacity, total) ||
        (buffers > 1 && !reserve_table(world, total)))
        return false;
    flush->has_table = buffers > 1;
    flush->has_doomed = false;
    flush->target_count = flush->dropped_count = flush->dead_count = flush->destination_count = 0;
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        for (uint32_t i = 0; i < commands->applied.target_count; ++i) {
            micap_target *target = commands->applied.targets[i];
            target->doomed = false;
            if (buffers > 1) {
                if (micap_target_is_empty(target))
                    continue;
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
