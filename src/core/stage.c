#include "core/stage.h"

#include "base/bits.h"
#include "os/pages.h"

enum { STAGE_BYTES_FIRST = 4 << 10, STAGE_BYTES_MAX = 2 << 20 };

/* A block of the largest size is a huge page of its own. */
static size_t alignment_of(size_t bytes)
{
    return bytes >= STAGE_BYTES_MAX ? MICAP_HUGE_PAGE_BYTES : MICAP_CACHE_LINE;
}

static micap_block *add_block(micap_memory *memory, micap_stage *stage, size_t needed)
{
    size_t bytes = stage->current ? stage->current->bytes * 2 : STAGE_BYTES_FIRST;
    if (bytes > STAGE_BYTES_MAX)
        bytes = STAGE_BYTES_MAX;
    if (bytes < needed)
        bytes = micap_align_up(needed, MICAP_PAGE_BYTES);
    micap_block *block = micap_allocate(memory, bytes, alignment_of(bytes));
    if (!block)
        return NULL;
    *block = (micap_block){.bytes = bytes};
    if (stage->current) {
        block->next = stage->current->next;
        stage->current->next = block;
    } else {
        block->next = stage->first;
        stage->first = block;
    }
    return block;
}

void *micap_stage_allocate_block(micap_memory *memory, micap_stage *stage, size_t bytes, size_t alignment)
{
    size_t needed = sizeof(micap_block) + bytes + alignment;
    micap_block *next = stage->current ? stage->current->next : stage->first;
    if (!next || next->bytes < needed)
        next = add_block(memory, stage, needed);
    if (!next)
        return NULL;
    stage->current = next;
    stage->used = sizeof *next;
    return micap_stage_allocate(memory, stage, bytes, alignment);
}

void micap_stage_reset(micap_stage *stage)
{
    stage->current = NULL;
    stage->used = 0;
}

void micap_stage_free(micap_memory *memory, micap_stage *stage)
{
    for (micap_block *block = stage->first, *next; block; block = next) {
        next = block->next;
        micap_release(memory, block, block->bytes, alignment_of(block->bytes));
    }
    *stage = (micap_stage){0};
}
