#include "type/block.h"

micap_block *micap_block_create(size_t bytes, uint32_t form)
{
    uint32_t size = micap_block_size_of(sizeof(micap_block) + bytes);
    micap_block *block = micap_block_allocate(size);
    if (!block)
        return NULL;
    atomic_init(&block->owners, MICAP_BLOCK_OWNER | form);
    block->count = size << MICAP_BLOCK_SIZE_SHIFT;
    return block;
}

void micap_block_destroy(micap_block *block)
{
    micap_block_free(block, micap_block_size(block));
}

micap_block *micap_block_reserve(micap_block *block, size_t bytes)
{
    uint32_t size = micap_block_size(block), larger = micap_block_size_of(sizeof(micap_block) + bytes);
    if (larger <= size)
        return block;
    micap_block *fresh = micap_block_grow(block, size, larger);
    if (fresh)
        fresh->count = micap_block_count(fresh) | larger << MICAP_BLOCK_SIZE_SHIFT;
    return fresh;
}
