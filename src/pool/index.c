#include "pool/index.h"

#include "base/assert.h"
#include "base/bits.h"

#include <string.h>

enum { PAGE_BYTES = MICAP_MAP_PAGE_ENTRIES * sizeof(uint64_t) };

uint64_t micap_map_no_entries[MICAP_MAP_PAGE_ENTRIES];

bool micap_map_reserve(micap_index *index, uint32_t entity_index)
{
    uint32_t page = entity_index >> MICAP_MAP_PAGE_SHIFT;
    if (page >= index->page_count) {
        if (!MICAP_RESERVE(index->arena->memory, index->pages, &index->page_capacity, (uint64_t)page + 1))
            return false;
        for (; index->page_count <= page; ++index->page_count)
            index->pages[index->page_count] = micap_map_no_entries;
    }
    if (index->pages[page] != micap_map_no_entries)
        return true;
    uint64_t *fresh = micap_arena_allocate(index->arena, PAGE_BYTES);
    if (!fresh)
        return false;
    memset(fresh, 0, PAGE_BYTES);
    index->pages[page] = fresh;
    return true;
}

uint32_t micap_map_row_at(const micap_index *index, uint32_t entity_index)
{
    uint32_t page = entity_index >> MICAP_MAP_PAGE_SHIFT;
    bool exists = page < index->page_count;
    return exists ? (uint32_t)index->pages[page][entity_index & (MICAP_MAP_PAGE_ENTRIES - 1)] - 1 : MICAP_ROW_NONE;
}

mica_entity micap_map_next(const micap_index *index, uint32_t from)
{
    uint32_t page = from >> MICAP_MAP_PAGE_SHIFT, at = from & (MICAP_MAP_PAGE_ENTRIES - 1);
    for (; page < index->page_count; ++page, at = 0)
        for (; index->pages[page] != micap_map_no_entries && at < MICAP_MAP_PAGE_ENTRIES; ++at)
            if (index->pages[page][at])
                return (mica_entity){page << MICAP_MAP_PAGE_SHIFT | at, (uint32_t)(index->pages[page][at] >> 32)};
    return mica_nil();
}

void micap_map_set(micap_index *index, mica_entity entity, uint32_t row)
{
    uint64_t *page = index->pages[entity.index >> MICAP_MAP_PAGE_SHIFT];
    MICAP_ASSERT_HOT(page != micap_map_no_entries, "the page of an entry was reserved");
    micap_map_touch(index, entity.index);
    page[entity.index & (MICAP_MAP_PAGE_ENTRIES - 1)] = micap_map_entry(entity, row);
}

void micap_map_erase(micap_index *index, uint32_t entity_index)
{
    micap_map_touch(index, entity_index);
    index->pages[entity_index >> MICAP_MAP_PAGE_SHIFT][entity_index & (MICAP_MAP_PAGE_ENTRIES - 1)] = 0;
}

static bool is_empty(const uint64_t *page)
{
    for (uint32_t i = 0; i < MICAP_MAP_PAGE_ENTRIES; ++i)
        if (page[i])
            return false;
    return true;
}

size_t micap_map_trim(micap_index *index)
{
    size_t given = 0;
    for (uint32_t i = 0; i < index->page_count; ++i) {
        if (index->pages[i] == micap_map_no_entries || !is_empty(index->pages[i]))
            continue;
        micap_arena_release(index->arena, index->pages[i], PAGE_BYTES);
        index->pages[i] = micap_map_no_entries;
        given += PAGE_BYTES;
    }
    return given;
}

/* Three quarters full at most. */
static uint64_t slots_for(uint64_t entries)
{
    uint64_t needed = 16;
    while (needed * 3 < entries * 4)
        needed *= 2;
    return needed;
}

static bool rehash(micap_index *index, uint64_t slot_count)
{
    micap_memory *memory = index->arena->memory;
    uint64_t *slots = slot_count > UINT32_MAX
                          ? NULL
                          : micap_allocate_zeroed(memory, slot_count * sizeof *slots, MICAP_ARRAY_ALIGNMENT);
    if (!slots)
        return false;
    micap_index old = *index;
    index->slots = slots;
    index->slot_count = (uint32_t)slot_count;
    index->slot_shift = 64 - micap_log2(slot_count);
    for (uint32_t i = 0; i < old.slot_count; ++i)
        if (old.slots[i])
            *micap_hash_slot(index, (uint32_t)(old.slots[i] >> 32)) = old.slots[i];
    MICAP_RELEASE_ARRAY(memory, old.slots, old.slot_count);
    return true;
}

bool micap_hash_reserve(micap_index *index, uint64_t entries)
{
    uint64_t needed = slots_for(entries);
    return needed <= index->slot_count || rehash(index, needed);
}

void micap_hash_trim(micap_index *index)
{
    if (!index->used) {
        MICAP_RELEASE_ARRAY(index->arena->memory, index->slots, index->slot_count);
        index->slots = NULL;
        index->slot_count = 0;
    } else if (slots_for(index->used) < index->slot_count) {
        rehash(index, slots_for(index->used));
    }
}

uint32_t micap_hash_find(const micap_index *index, uint32_t entity_index)
{
    return index->slot_count ? (uint32_t)*micap_hash_slot(index, entity_index) - 1 : MICAP_ROW_NONE;
}

void micap_hash_set(micap_index *index, uint32_t entity_index, uint32_t row)
{
    uint64_t *slot = micap_hash_slot(index, entity_index);
    index->used += *slot == 0;
    *slot = micap_hash_entry(entity_index, row);
}

void micap_hash_clear(micap_index *index)
{
    if (index->slot_count)
        memset(index->slots, 0, index->slot_count * sizeof *index->slots);
    index->used = 0;
}

void micap_hash_erase(micap_index *index, uint64_t *slot)
{
    uint64_t *const slots = index->slots;
    uint32_t mask = index->slot_count - 1, hole = (uint32_t)(slot - slots);
    MICAP_ASSERT(*slot, "only what is there is erased");
    --index->used;
    for (uint32_t at = (hole + 1) & mask; slots[at]; at = (at + 1) & mask) {
        uint32_t home = micap_hash_home(index, (uint32_t)(slots[at] >> 32));
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* it is not beyond its home: it stays */
        slots[hole] = slots[at];
        hole = at;
    }
    slots[hole] = 0;
}

void micap_index_free(micap_index *index)
{
    micap_memory *memory = index->arena->memory;
    for (uint32_t i = 0; i < index->page_count; ++i)
        if (index->pages[i] != micap_map_no_entries)
            micap_arena_release(index->arena, index->pages[i], PAGE_BYTES);
    MICAP_RELEASE_ARRAY(memory, index->pages, index->page_capacity);
    MICAP_RELEASE_ARRAY(memory, index->slots, index->slot_count);
    *index = (micap_index){0};
}

size_t micap_index_bytes(const micap_index *index)
{
    size_t bytes = index->page_capacity * sizeof *index->pages + index->slot_count * sizeof *index->slots;
    for (uint32_t i = 0; i < index->page_count; ++i)
        bytes += index->pages[i] != micap_map_no_entries ? PAGE_BYTES : 0;
    return bytes;
}
