#include "core/commands/staging.h"

#include "base/bits.h"
#include "os/pages.h"

#include <string.h>

/* Small, then large, then huge pages: a program that records much would otherwise spend more on page faults than on recording. */
enum { STAGE_BYTES_FIRST = 4 << 10, STAGE_BYTES_MAX = 2 << 20, STAGE_GROWTH = 32 };

/* A block of the largest size is a huge page of its own. */
static size_t alignment_of(size_t bytes)
{
    return bytes >= STAGE_BYTES_MAX ? MICAP_HUGE_PAGE_BYTES : MICAP_CACHE_LINE;
}

static micap_block *add_block(micap_memory *memory, micap_stage *stage, size_t needed)
{
    size_t bytes = stage->current ? stage->current->bytes * STAGE_GROWTH : STAGE_BYTES_FIRST;
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

/* In checked builds what was staged is overwritten, so that stale pointers show, and writes through them can be found. */
#ifdef MICA_CHECKED
enum { POISON = 0xDB };

static void poison(micap_stage *stage)
{
    for (micap_block *block = stage->first; block && stage->current; block = block->next) {
        size_t used = block == stage->current ? stage->used : block->bytes;
        memset((char *)block + sizeof *block, POISON, used - sizeof *block);
        block->poisoned_bytes = used - sizeof *block;
        if (block == stage->current)
            break;
    }
}

bool micap_stage_is_clean(const micap_stage *stage)
{
    for (const micap_block *block = stage->first; block && !stage->current; block = block->next)
        for (size_t i = 0; i < block->poisoned_bytes; ++i)
            if (((const unsigned char *)block)[sizeof *block + i] != POISON)
                return false;
    return true;
}
#endif

void micap_stage_reset(micap_stage *stage)
{
#ifdef MICA_CHECKED
    poison(stage);
#endif
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
