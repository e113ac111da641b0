#include "core/commands/recorded_changes.h"

#include "base/bits.h"
#include "core/entity/destroy.h"
#include "core/world/world.h"

/* The targets that are there to be looked at: none while the changes are in a batch. */
static uint32_t expanded_count(const micap_recording *recording)
{
    return recording->batch.type ? 0 : recording->target_count;
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

void micap_command_drop_value(micap_command *command)
{
    if ((command->operation == MICAP_OPERATION_VALUE || command->operation == MICAP_OPERATION_INSTANCE) &&
        command->value)
        micap_values_destruct(command->type, command->value, 1);
    command->value = NULL;
}

static void drop_values(micap_recording *recording)
{
    for (uint32_t i = 0; i < expanded_count(recording); ++i)
        for (micap_command *command = recording->targets[i]->first; command; command = command->next)
            micap_command_drop_value(command);
}

bool micap_recording_is_idle(const micap_recording *recording)
{
    for (uint32_t i = 0; i < expanded_count(recording); ++i)
        if (!micap_target_is_empty(recording->targets[i]))
            return false;
    return !recording->batch.type && !recording->first_note;
}

uint64_t micap_recording_created_count(const micap_recording *recording)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < expanded_count(recording); ++i)
        count += recording->targets[i]->created;
    return count;
}

bool micap_recording_expand(mica_world *world, micap_recording *recording)
{
    micap_recorded_batch *batch = &recording->batch;
    if (!batch->type)
        return true;
    if (!MICAP_RESERVE(&world->memory, recording->targets, &recording->target_capacity, recording->target_count))
        return false;
    uint32_t position = 0;
    for (const micap_batch_block *block = batch->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count; ++i) {
            micap_recorded *recorded =
                micap_stage_allocate(&world->memory, &recording->stage, sizeof *recorded, _Alignof(micap_recorded));
            if (!recorded)
                return false;
            *recorded = (micap_recorded){
                .target = {.entity = block->entities[i], .location = batch->location, .label = batch->label},
                .command = {.type = batch->type, .operation = (uint8_t)batch->operation}};
            recorded->target.first = recorded->target.last = &recorded->command;
            if (batch->bytes) {
                recorded->command.value = block->values + (size_t)i * batch->bytes;
                recorded->command.is_set = true;
            }
            recording->targets[position++] = &recorded->target;
        }
    *batch = (micap_recorded_batch){0};
    return true;
}

void micap_recording_drop(mica_world *world, micap_recording *recording)
{
    drop_values(recording);
    for (uint32_t i = 0; i < expanded_count(recording); ++i)
        if (recording->targets[i]->created)
            micap_entity_forget_pending(world, recording->targets[i]->entity);
    micap_recording_reset(world, recording);
}

/* Releases a table that is much larger than needed, so that one large recording does not slow down all later flushes. */
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
    recording->batch = (micap_recorded_batch){0};
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

uint32_t micap_recording_slot(const micap_recording *recording, uint32_t index)
{
    uint32_t mask = recording->table_capacity - 1;
    for (uint32_t attempt = 0;; ++attempt) {
        uint32_t slot = micap_probe(index, attempt) & mask, target = recording->table[slot];
        if (!target || recording->targets[target - 1]->entity.index == index)
            return slot;
    }
}

/* The first of the targets, which are in rising order, whose index is not below this one. */
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

static micap_target *search(micap_recording *recording, mica_entity entity)
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

micap_target *micap_recording_find(micap_recording *recording, mica_entity entity)
{
    if (!expanded_count(recording))
        return NULL;
    micap_target *last = recording->targets[recording->target_count - 1];
    if (entity.index > last->entity.index && !recording->has_table)
        return NULL;
    return mica_same(last->entity, entity) ? last : search(recording, entity);
}

bool micap_recording_grow_table(mica_world *world, micap_recording *recording)
{
    micap_memory *memory = &world->memory;
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
