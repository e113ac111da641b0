/* Recording into strips, and making targets of them. */
#include "core/commands/strip.h"

#include "core/world/world.h"

enum { CHANGES_FIRST = 32, BLOCK_BYTES_MAX = 1 << 20 };

static bool is_for_strips(const micap_type *type, uint32_t operation)
{
    return !type->type.many && (operation == MICAP_OPERATION_REMOVE || micap_is_in_strips(type));
}

static bool is_same(const mica_commands *commands, const micap_type *type, uint32_t operation, mica_location location)
{
    const micap_strip *strip = &commands->recording.strip;
    return strip->type == type && strip->operation == operation && strip->location.file == location.file &&
           strip->location.line == location.line && strip->label == commands->label;
}

/* Each block is twice as large as the one before it. */
static bool add_block(mica_commands *commands, micap_strip *strip)
{
    uint32_t count = strip->last ? strip->last->capacity * 2 : CHANGES_FIRST;
    size_t bytes = sizeof(mica_entity) + strip->bytes;
    MICAP_ASSERT(strip->last || count * bytes <= BLOCK_BYTES_MAX, "values of strips are small");
    if (count * bytes > BLOCK_BYTES_MAX)
        count = strip->last->capacity;
    micap_strip_block *block = micap_stage_allocate(&commands->world->memory, &commands->recording.stage,
                                                    sizeof *block + count * bytes, _Alignof(max_align_t));
    if (!block)
        return false;
    *block = (micap_strip_block){.entities = (mica_entity *)(void *)(block + 1), .capacity = count};
    block->values = (char *)(block->entities + count);
    if (strip->last)
        strip->last->next = block;
    else
        strip->first = block;
    strip->last = block;
    return true;
}

bool micap_strip_extend(mica_commands *commands, const micap_type *type, uint32_t operation, mica_location location)
{
    micap_recording *recording = &commands->recording;
    micap_strip *strip = &recording->strip;
    if (strip->type)
        return is_same(commands, type, operation, location) && strip->last->count == strip->last->capacity &&
               add_block(commands, strip);
    if (recording->target_count || commands->refusing || !is_for_strips(type, operation))
        return false;
    *strip = (micap_strip){.operation = operation, .location = location, .label = commands->label};
    strip->bytes = operation == MICAP_OPERATION_REMOVE ? 0 : type->type.size_bytes;
    if (!add_block(commands, strip))
        return false;
    strip->type = type;
    return true;
}

bool micap_recording_unroll(mica_world *world, micap_recording *recording)
{
    micap_strip *strip = &recording->strip;
    if (!strip->type)
        return true;
    if (!MICAP_RESERVE(&world->memory, recording->targets, &recording->target_capacity, recording->target_count))
        return false;
    uint32_t position = 0;
    for (const micap_strip_block *block = strip->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count; ++i) {
            micap_recorded *recorded =
                micap_stage_allocate(&world->memory, &recording->stage, sizeof *recorded, _Alignof(micap_recorded));
            if (!recorded)
                return false;
            *recorded = (micap_recorded){
                .target = {.entity = block->entities[i], .location = strip->location, .label = strip->label},
                .command = {.type = strip->type, .operation = (uint8_t)strip->operation}};
            recorded->target.first = recorded->target.last = &recorded->command;
            if (strip->bytes) {
                recorded->command.value = block->values + (size_t)i * strip->bytes;
                recorded->command.is_set = true;
            }
            recording->targets[position++] = &recorded->target;
        }
    *strip = (micap_strip){0};
    return true;
}
