/* Staging memory: a chain of blocks that do not move until all of them are reset. */
#ifndef MICAP_CORE_COMMANDS_STAGING_H
#define MICAP_CORE_COMMANDS_STAGING_H

#include "base/memory.h"

/* Each block is larger than the one before it. Blocks are reused after a reset. */
typedef struct micap_block {
    struct micap_block *next;
    size_t bytes;
    size_t poisoned_bytes; /* in checked builds: of its end, overwritten when the stage was reset */
} micap_block;

typedef struct micap_stage {
    micap_block *first;
    micap_block *current; /* the blocks before it are full, those after it empty */
    size_t used;          /* of the current block */
} micap_stage;

/* Allocates memory that is valid until the reset. NULL if memory runs out. */
void *micap_stage_allocate_block(micap_memory *memory, micap_stage *stage, size_t bytes, size_t alignment);
void micap_stage_reset(micap_stage *stage);
#ifdef MICA_CHECKED
/* Whether nothing was written to it since the reset. */
bool micap_stage_is_clean(const micap_stage *stage);
#endif
void micap_stage_free(micap_memory *memory, micap_stage *stage);

static inline void *micap_stage_allocate(micap_memory *memory, micap_stage *stage, size_t bytes, size_t alignment)
{
    uintptr_t base = (uintptr_t)stage->current;
    uintptr_t at = (base + stage->used + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (!base || at + bytes > base + stage->current->bytes)
        return micap_stage_allocate_block(memory, stage, bytes, alignment);
    stage->used = at + bytes - base;
    return (void *)at;
}

#endif
