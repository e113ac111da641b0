#include "core/commands/recorded_batch.h"

#include "core/world/world.h"

enum { CHANGES_FIRST = 32, BLOCK_BYTES_MAX = 1 << 20 };

static bool is_for_batch(const micap_type *type, uint32_t operation)
{
    return !type->type.many && (operation == MICAP_OPERATION_REMOVE || micap_fits_batch(type));
}

static bool is_same(const mica_commands *commands, const micap_type *type, uint32_t operation, mica_location location)
{
    const micap_recorded_batch *batch = &commands->recording.batch;
    return batch->type == type && batch->operation == operation && batch->location.file == location.file &&
           batch->location.line == location.line && batch->label == commands->label;
}

/* Each block is twice as large as the one before it. */
static bool add_block(mica_commands *commands, micap_recorded_batch *batch)
{
    uint32_t count = batch->last ? batch->last->capacity * 2 : CHANGES_FIRST;
    size_t bytes = sizeof(mica_entity) + batch->bytes;
    MICAP_ASSERT(batch->last || count * bytes <= BLOCK_BYTES_MAX, "the first block holds small values");
    if (count * bytes > BLOCK_BYTES_MAX)
        count = batch->last->capacity;
    micap_batch_block *block = micap_stage_allocate(&commands->world->memory, &commands->recording.stage,
                                                    sizeof *block + count * bytes, _Alignof(max_align_t));
    if (!block)
        return false;
    *block = (micap_batch_block){.entities = (mica_entity *)(void *)(block + 1), .capacity = count};
    block->values = (char *)(block->entities + count);
    if (batch->last)
        batch->last->next = block;
    else
        batch->first = block;
    batch->last = block;
    return true;
}

bool micap_batch_extend(mica_commands *commands, const micap_type *type, uint32_t operation, mica_location location)
{
    micap_recording *recording = &commands->recording;
    micap_recorded_batch *batch = &recording->batch;
    if (batch->type)
        return is_same(commands, type, operation, location) && batch->last->count == batch->last->capacity &&
               add_block(commands, batch);
    if (recording->target_count || commands->refusing || !is_for_batch(type, operation))
        return false;
    *batch = (micap_recorded_batch){.operation = operation, .location = location, .label = commands->label};
    batch->bytes = operation == MICAP_OPERATION_REMOVE ? 0 : type->type.size_bytes;
    if (!add_block(commands, batch))
        return false;
    batch->type = type;
    return true;
}
