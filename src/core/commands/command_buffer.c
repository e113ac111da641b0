/* Command buffers: making, emptying and dropping them. */
#include "base/argument.h"
#include "base/assert.h"
#include "base/bits.h"
#include "core/commands/command_buffer.h"

#include "core/world/report.h"
#include "core/world/world.h"
#include "core/entity/destroy.h"

void micap_commands_init(mica_commands *commands, mica_world *world)
{
    *commands = (mica_commands){.world = world, .serial = ++world->last_serial};
    if (world->last_commands)
        world->last_commands->next = commands;
    else
        world->first_commands = commands;
    world->last_commands = commands;
}

mica_commands *mica_commands_create(mica_world *world)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (micap_refuse_inside(world, "commands") != MICA_OK)
        return NULL;
    uint32_t lane = world->entities.lane_count;
    mica_commands *commands = micap_allocate(&world->memory, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
    if (!commands || !micap_entities_set_lanes(world, lane + 1)) {
        micap_release(&world->memory, commands, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
        micap_fail_memory(world, "commands");
        return NULL;
    }
    micap_entities_set_aside(world);
    micap_commands_init(commands, world);
    commands->lane = lane;
    return commands;
}

mica_commands *micap_recorder(mica_world *world)
{
    micap_here *here = micap_here_of(world);
    if (!here || world->hook_depth)
        return &world->deferred;
    if (!here->commands)
        here->commands = here->open(here);
    return here->commands ? here->commands : &world->refusing;
}

void micap_commands_park(mica_commands *commands)
{
    commands->is_parked = true;
    commands->serial = ++commands->world->last_serial;
    commands->parked = commands->world->parked_commands;
    commands->world->parked_commands = commands;
}

void micap_commands_line_up(mica_commands *commands)
{
    mica_world *world = commands->world;
    MICAP_ASSERT(!commands->is_lined_up, "what a flush left behind is tried again before anything is recorded on top");
    commands->is_lined_up = true;
    commands->next = NULL;
    world->last_commands->next = commands;
    world->last_commands = commands;
}

void micap_commands_fall_out(mica_world *world)
{
    mica_commands *last = world->first_commands;
    for (mica_commands *commands = last->next, *next; commands; commands = next) {
        next = commands->next;
        if (commands->is_lined_up && micap_recording_is_empty(&commands->recording)) {
            commands->is_lined_up = false;
            continue;
        }
        last->next = commands;
        last = commands;
    }
    last->next = NULL;
    world->last_commands = last;
}

void micap_commands_unpark(mica_commands *commands)
{
    mica_world *world = commands->world;
    micap_recording_drop(world, &commands->recording);
    if (commands->is_lined_up)
        micap_commands_fall_out(world);
    for (mica_commands **link = &world->parked_commands; *link; link = &(*link)->parked)
        if (*link == commands) {
            *link = commands->parked;
            break;
        }
    micap_commands_free(commands);
    micap_release(&world->memory, commands, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
}

void micap_target_unlink(micap_target *target, const micap_command *command)
{
    micap_command *before = NULL;
    for (micap_command *at = target->first; at != command; at = at->next)
        before = at;
    if (before)
        before->next = command->next;
    else
        target->first = command->next;
    if (target->last == command)
        target->last = before;
}

void mica_commands_set_label(mica_commands *commands, const char *label)
{
    if (MICAP_MISSING(NULL, commands))
        return;
    commands->label = label;
}

void micap_commands_report_dead(const mica_commands *commands, mica_entity entity, mica_location location,
                                const char *what)
{
    bool alive = mica_is_alive(commands->world, entity);
    micap_fail(commands->world, MICA_ERROR_DEAD, location, "%s%s%s: entity %u (generation %u) %s",
               commands->label ? commands->label : "", commands->label ? ": " : "", what, entity.index,
               entity.generation, alive ? "is destroyed by an earlier command" : "is not alive");
}

bool micap_commands_expect_living(mica_commands *commands, mica_entity entity, mica_location location, const char *what)
{
    const micap_target *known = micap_recording_find(&commands->recording, entity);
    if (!(known && known->destroyed) && mica_is_alive(commands->world, entity))
        return true;
    micap_commands_report_dead(commands, entity, location, what);
    return false;
}

void micap_command_drop_value(micap_command *command)
{
    if ((command->operation == MICAP_OPERATION_VALUE || command->operation == MICAP_OPERATION_INSTANCE) &&
        command->value)
        micap_values_destruct(command->type, command->value, 1);
    command->value = NULL;
}

static void drop_values(micap_recording *recording)
{
    for (uint32_t i = 0; i < micap_recording_unrolled(recording); ++i)
        for (micap_command *command = recording->targets[i]->first; command; command = command->next)
            micap_command_drop_value(command);
}

bool micap_recording_is_idle(const micap_recording *recording)
{
    for (uint32_t i = 0; i < micap_recording_unrolled(recording); ++i)
        if (!micap_target_is_empty(recording->targets[i]))
            return false;
    return !recording->strip.type && !recording->first_note;
}

void micap_recording_drop(mica_world *world, micap_recording *recording)
{
    drop_values(recording);
    for (uint32_t i = 0; i < micap_recording_unrolled(recording); ++i)
        if (recording->targets[i]->created)
            micap_entity_forget_pending(world, recording->targets[i]->entity);
    micap_recording_reset(world, recording);
}

/* A table much larger than what was in it is given back: a burst should not be paid for in every flush after it. */
static void reset_table(mica_world *world, micap_recording *recording)
{
    if (recording->table_capacity > 1024 && recording->target_count < recording->table_capacity / 16) {
        MICAP_RELEASE_ARRAY(&world->memory, recording->table, recording->table_capacity);
        recording->table = NULL;
        recording->table_capacity = 0;
    } else if (recording->has_table) {
        memset(recording->table, 0, recording->table_capacity * sizeof *recording->table);
    }
}

void micap_recording_reset(mica_world *world, micap_recording *recording)
{
    micap_stage_reset(&recording->stage);
    recording->strip = (micap_strip){0};
    recording->first_note = recording->last_note = NULL;
    if (!recording->target_count)
        return;
    reset_table(world, recording);
    recording->has_table = false;
    recording->target_count = recording->found = 0;
}

void micap_recording_free(mica_world *world, micap_recording *recording)
{
    micap_stage_free(&world->memory, &recording->stage);
    MICAP_RELEASE_ARRAY(&world->memory, recording->targets, recording->target_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, recording->table, recording->table_capacity);
    *recording = (micap_recording){0};
}

void micap_commands_free(mica_commands *commands)
{
    mica_world *world = commands->world;
    micap_recording_drop(world, &commands->recording);
    micap_recording_free(world, &commands->recording);
    micap_recording_free(world, &commands->applied);
    while (commands->stock_count)
        micap_entity_give_unused(&world->entities, commands->stock[--commands->stock_count]);
    MICAP_RELEASE_ARRAY(&world->memory, commands->stock, commands->stock_capacity);
}

static void trim(mica_world *world, mica_commands *commands)
{
    micap_recording_free(world, &commands->applied);
    if (micap_recording_is_empty(&commands->recording))
        micap_recording_free(world, &commands->recording);
}

void micap_commands_trim(mica_world *world)
{
    for (mica_commands *commands = world->first_commands; commands; commands = commands->next)
        trim(world, commands);
    for (mica_commands *commands = world->parked_commands; commands; commands = commands->parked)
        trim(world, commands);
}

void mica_commands_destroy(mica_commands *commands)
{
    if (!commands)
        return;
    mica_world *world = commands->world;
    if (micap_refuse_inside(world, "commands_destroy") != MICA_OK)
        return;
    if (world->hook_depth) {
        micap_fail(world, MICA_ERROR_REFUSED, (mica_location){0},
                   "commands: a buffer can't be destroyed inside a hook");
        return;
    }
    micap_entities_set_lanes(world, world->entities.lane_count - 1);
    micap_commands_free(commands);
    for (mica_commands *other = world->first_commands; other; other = other->next) {
        if (other->next == commands)
            other->next = commands->next;
        if (!other->owned && other->lane > commands->lane)
            --other->lane;
        if (!other->next)
            world->last_commands = other;
    }
    micap_release(&world->memory, commands, sizeof *commands, MICAP_ARRAY_ALIGNMENT);
}

mica_entity micap_commands_take_handle(mica_commands *commands)
{
    mica_world *world = commands->world;
    if (commands->owned)
        return micap_entity_take(world);
    if (!commands->stock_count) {
        mica_entity block[MICAP_ID_BLOCK];
        if (!MICAP_RESERVE(&world->memory, commands->stock, &commands->stock_capacity, MICAP_ID_BLOCK) ||
            !micap_entities_take_block(world, commands->lane, block))
            return mica_nil();
        for (uint32_t i = 0; i < MICAP_ID_BLOCK; ++i)
            commands->stock[MICAP_ID_BLOCK - 1 - i] = block[i];
        commands->stock_count = MICAP_ID_BLOCK;
    }
    ++commands->taken_count;
    mica_entity entity = commands->stock[--commands->stock_count];
    micap_entity_give_out(&world->entities, entity);
    return entity;
}

void micap_commands_return_handle(mica_commands *commands, mica_entity entity)
{
    if (commands->owned) {
        micap_entity_give_unused(&commands->world->entities, entity);
    } else {
        micap_entity_take_back(&commands->world->entities, entity);
        commands->stock[commands->stock_count++] = entity;
        --commands->taken_count;
    }
}

static void count_handles(const mica_commands *commands, micap_handle_count *count)
{
    count->reserved += commands->stock_count;
    for (uint32_t i = 0; i < micap_recording_unrolled(&commands->recording); ++i)
        count->pending += commands->recording.targets[i]->created;
}

micap_handle_count micap_commands_count_handles(const mica_world *world)
{
    micap_handle_count count = {0};
    for (const mica_commands *commands = world->first_commands; commands; commands = commands->next)
        count_handles(commands, &count);
    for (const mica_commands *commands = world->parked_commands; commands; commands = commands->parked)
        if (!commands->is_lined_up)
            count_handles(commands, &count);
    return count;
}

void micap_commands_restock(mica_commands *commands)
{
    mica_world *world = commands->world;
    uint32_t wanted = (commands->taken_count + MICAP_ID_BLOCK - 1) / MICAP_ID_BLOCK * MICAP_ID_BLOCK;
    commands->taken_count = 0;
    if (commands->owned)
        return;
    while (commands->stock_count > wanted + MICAP_ID_BLOCK)
        micap_entity_give_unused(&world->entities, commands->stock[--commands->stock_count]);
    if (commands->stock_count >= wanted)
        return;
    /* Newcomers go to the bottom, so that what was taken first is given out first. */
    if (!MICAP_RESERVE(&world->memory, commands->stock, &commands->stock_capacity, wanted))
        return; /* the buffer will overflow instead */
    uint32_t fresh = wanted - commands->stock_count;
    memmove(commands->stock + fresh, commands->stock, commands->stock_count * sizeof *commands->stock);
    for (uint32_t i = fresh; i-- > 0;) {
        commands->stock[i] = micap_entity_reserve(world);
        if (mica_is_nil(commands->stock[i])) {
            memmove(commands->stock, commands->stock + i + 1, (wanted - i - 1) * sizeof *commands->stock);
            commands->stock_count = wanted - i - 1;
            return;
        }
    }
    commands->stock_count = wanted;
}

uint32_t micap_recording_slot(const micap_recording *recording, uint32_t index)
{
    uint32_t mask = recording->table_capacity - 1;
    for (uint32_t attempt = 0;; ++attempt) {
        uint32_t slot = micap_probe(index, attempt) & mask, target = recording->table[slot];
        if (!target || recording->targets[target - 1]->entity.index == index)
            return slot;
    }
}

/* Among targets in rising order: the first whose index is not below this one. */
static uint32_t search_order(const micap_recording *recording, uint32_t index)
{
    uint32_t begin = 0, end = recording->target_count;
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (recording->targets[middle]->entity.index < index)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

micap_target *micap_recording_search(micap_recording *recording, mica_entity entity)
{
    uint32_t position = recording->found + 1, count = recording->target_count;
    if (position >= count || !mica_same(recording->targets[position]->entity, entity)) {
        position = recording->has_table ? recording->table[micap_recording_slot(recording, entity.index)] - 1
                                        : search_order(recording, entity.index);
        if (position >= count || !mica_same(recording->targets[position]->entity, entity))
            return NULL;
    }
    recording->found = position;
    return recording->targets[position];
}

bool micap_recording_grow_table(mica_commands *commands)
{
    micap_recording *recording = &commands->recording;
    micap_memory *memory = &commands->world->memory;
    uint32_t grown = (uint32_t)micap_power_of_two_at_least(((uint64_t)recording->target_count + 32) * 2);
    if (grown > recording->table_capacity) {
        uint32_t *table = micap_allocate_zeroed(memory, grown * sizeof *table, MICAP_ARRAY_ALIGNMENT);
        if (!table)
            return false;
        MICAP_RELEASE_ARRAY(memory, recording->table, recording->table_capacity);
        recording->table = table;
        recording->table_capacity = grown;
    }
    for (uint32_t i = 0; i < recording->target_count; ++i)
        recording->table[micap_recording_slot(recording, recording->targets[i]->entity.index)] = i + 1;
    recording->has_table = true;
    return true;
}
