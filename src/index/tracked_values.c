#include "index/tracked_values.h"

#include <string.h>

static size_t page_bytes(const micap_tracked *tracked)
{
    return sizeof(micap_tracked_page) + (size_t)MICAP_TRACKED_PAGE * tracked->width * sizeof(uint64_t);
}

micap_tracked_page *micap_tracked_require(micap_memory *memory, micap_tracked *tracked, uint32_t entity_index)
{
    uint32_t page = entity_index / MICAP_TRACKED_PAGE, known = tracked->page_count;
    if (!MICAP_RESERVE(memory, tracked->pages, &tracked->page_count, (uint64_t)page + 1))
        return NULL;
    if (tracked->page_count > known)
        memset(tracked->pages + known, 0, (tracked->page_count - known) * sizeof *tracked->pages);
    if (!tracked->pages[page])
        tracked->pages[page] = micap_allocate_zeroed(memory, page_bytes(tracked), MICAP_ARRAY_ALIGNMENT);
    return tracked->pages[page];
}

static void free_pages(micap_memory *memory, micap_tracked *tracked, uint32_t count_max)
{
    for (uint32_t i = 0; i < tracked->page_count; ++i)
        if (tracked->pages[i] && tracked->pages[i]->count <= count_max) {
            micap_release(memory, tracked->pages[i], page_bytes(tracked), MICAP_ARRAY_ALIGNMENT);
            tracked->pages[i] = NULL;
        }
}

void micap_tracked_trim(micap_memory *memory, micap_tracked *tracked)
{
    free_pages(memory, tracked, 0);
}

void micap_tracked_free(micap_memory *memory, micap_tracked *tracked)
{
    free_pages(memory, tracked, MICAP_TRACKED_PAGE);
    MICAP_RELEASE_ARRAY(memory, tracked->pages, tracked->page_count);
    *tracked = (micap_tracked){.width = tracked->width};
}
