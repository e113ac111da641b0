#include "type/block.h"

micap_heap_block *micap_heap_block_create(size_t bytes, uint32_t form)
{
    uint32_t size = micap_heap_block_size_of(sizeof(micap_heap_block) + bytes);
    micap_heap_block *block = micap_heap_block_allocate(size);
    if (!block)
        return NULL;
    atomic_init(&block->owners, MICA_PRIVATE_LIST_OWNER | form);
    block->count = size << MICA_PRIVATE_LIST_SIZE_SHIFT;
    return block;
}

void micap_heap_block_destroy(micap_heap_block *block)
{
    micap_heap_block_free(block, micap_heap_block_size(block));
}

micap_heap_block *micap_heap_block_reserve(micap_heap_block *block, size_t bytes)
{
    uint32_t size = micap_heap_block_size(block), larger = micap_heap_block_size_of(sizeof(micap_heap_block) + bytes);
    micap_heap_block *fresh = micap_heap_block_grow(block, size, larger);
    if (fresh)
        fresh->count = micap_heap_block_count(fresh) | larger << MICA_PRIVATE_LIST_SIZE_SHIFT;
    return fresh;
}
