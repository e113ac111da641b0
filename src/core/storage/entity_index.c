#include "core/storage/entity_index.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/handle_range.h"
#include "core/world/world.h"
#include "os/pages.h"

enum {
    PAGE_BYTES = MICAP_PAGE_RECORDS * 8,
    LARGE_ARRAY_BYTES = 64 << 10,
    PAGES_QUADRUPLED = 256, /* small arrays of pages grow to four times their size, so that less is copied */
    PAGES_SPARSE = 16,      /* the array may have four times as many pages as exist, and four times this */
};

static const uint64_t index_limit = (uint64_t)1 << 32;

/* A directory that was outgrown. Threads that look up may still read it, so it goes with the world. */
typedef struct micap_old_directory {
    struct micap_old_directory *next;
    uintptr_t *directory;
} old_directory;

/* What unallocated pages read as: no slot of it is ever alive. Never written. */
static uint64_t empty_page[MICAP_PAGE_RECORDS];

static uintptr_t *directory_of(const micap_entities *entities)
{
    return atomic_load_explicit(&entities->directory, memory_order_relaxed);
}

/* A directory without entries, or NULL. */
static uintptr_t *allocate_directory(mica_world *world, uint32_t capacity)
{
    uintptr_t *block = micap_allocate(&world->memory, ((size_t)capacity + 1) * sizeof *block, MICAP_ARRAY_ALIGNMENT);
    if (!block)
        return NULL;
    block[0] = capacity;
    return block + 1;
}

static void release_directory(mica_world *world, uintptr_t *directory)
{
    if (directory)
        micap_release(&world->memory, directory - 1, (directory[-1] + 1) * sizeof *directory, MICAP_ARRAY_ALIGNMENT);
}

/* The entry of the directory for a page: see micap_entities. */
static uintptr_t entry_of(const uint64_t *records, uint32_t page)
{
    return (uintptr_t)records - (uintptr_t)page * PAGE_BYTES;
}

static uint32_t page_count_of(const micap_entities *entities)
{
    return atomic_load_explicit(&entities->page_count, memory_order_relaxed);
}

static bool grow_directory(mica_world *world, uint32_t needed)
{
    micap_entities *entities = &world->entities;
    if (needed <= entities->directory_capacity)
        return true;
    uint32_t grown = (uint32_t)micap_power_of_two_at_least(needed < 16 ? 16 : needed);
    uintptr_t *fresh = allocate_directory(world, grown);
    old_directory *old = micap_allocate(&world->memory, sizeof *old, MICAP_ARRAY_ALIGNMENT);
    if (!fresh || !old) {
        release_directory(world, fresh);
        micap_release(&world->memory, old, sizeof *old, MICAP_ARRAY_ALIGNMENT);
        return false;
    }
    old->next = entities->old_directories;
    old->directory = directory_of(entities);
    entities->old_directories = old;
    for (uint32_t i = 0; i < grown; ++i)
        fresh[i] = i < entities->directory_capacity ? old->directory[i] : entry_of(empty_page, i);
    atomic_store_explicit(&entities->directory, fresh, memory_order_release);
    entities->directory_capacity = grown;
    return true;
}

/* The owner's side of the pages: an entry for every page that exists. */
static bool reserve_page_list(mica_world *world, uint32_t page)
{
    micap_entities *entities = &world->entities;
    uint32_t before = entities->pages_capacity;
    if (!MICAP_RESERVE(&world->memory, entities->pages, &entities->pages_capacity, (uint64_t)page + 1))
        return false;
    for (uint32_t i = before; i < entities->pages_capacity; ++i)
        entities->pages[i] = (micap_page){.first_free = MICAP_SLOT_END};
    return true;
}

static void set_page(micap_entities *entities, uint32_t page, uint64_t *records)
{
    entities->pages[page].records = records;
    /* Readers of stale handles may look at this entry meanwhile: both pages read as dead. */
    MICAP_STORE(&directory_of(entities)[page], entry_of(records, page), MICAP_RELEASE);
}

static uint64_t *page_in_array(const micap_entities *entities, uint32_t page)
{
    return entities->array + ((size_t)page << MICAP_PAGE_SHIFT);
}

/* Large arrays lie in pages of their own, if possible huge ones. */
static size_t array_alignment(uint32_t capacity)
{
    size_t bytes = (size_t)capacity * PAGE_BYTES;
    if (bytes < LARGE_ARRAY_BYTES)
        return MICAP_CACHE_LINE;
    return bytes < MICAP_HUGE_PAGE_BYTES ? MICAP_PAGE_BYTES : MICAP_HUGE_PAGE_BYTES;
}

static void release_array(mica_world *world, uint64_t *array, uint32_t capacity)
{
    micap_release(&world->memory, array, (size_t)capacity * PAGE_BYTES, array_alignment(capacity));
}

/* Moves the array to one of another capacity. */
static bool grow_array(mica_world *world, uint32_t needed)
{
    micap_entities *entities = &world->entities;
    uint32_t capacity = (uint32_t)micap_power_of_two_at_least(needed);
    if (capacity < PAGES_QUADRUPLED && (capacity == 2 * entities->array_capacity || capacity == PAGES_QUADRUPLED / 2))
        capacity *= 2;
    uint64_t *array = micap_allocate(&world->memory, (size_t)capacity * PAGE_BYTES, array_alignment(capacity));
    if (!array)
        return false;
    if (entities->array_count)
        memcpy(array, entities->array, (size_t)entities->array_count * PAGE_BYTES);
    for (uint32_t page = 0; page < entities->array_count; ++page)
        if (entities->pages[page].records)
            set_page(entities, page, array + ((size_t)page << MICAP_PAGE_SHIFT));
    release_array(world, entities->array, entities->array_capacity);
    entities->array = array;
    entities->array_capacity = capacity;
    world->lookup.records = array;
    return true;
}

/* Whether a page is too far after those that exist for the array: a handle from another world can have any index. */
static bool is_far(const micap_entities *entities, uint32_t page)
{
    return page / 4 > entities->existing_count + PAGES_SPARSE;
}

/* Makes sure that the array has this page, whether it exists or not. False for a page that is too far, and when memory is short. For
 * the owner. */
static bool extend_array(mica_world *world, uint32_t page)
{
    micap_entities *entities = &world->entities;
    if (page < entities->array_count)
        return true;
    if (is_far(entities, page) || (page >= entities->array_capacity && !grow_array(world, page + 1)))
        return false;
    for (uint32_t i = entities->array_count; i <= page; ++i) {
        uint64_t *records = page_in_array(entities, i);
        uint64_t *apart = i < entities->pages_capacity ? entities->pages[i].records : NULL;
        if (apart) {
            memcpy(records, apart, PAGE_BYTES);
            set_page(entities, i, records);
            micap_arena_release(&entities->arena, apart, PAGE_BYTES);
        } else {
            memset(records, 0, PAGE_BYTES);
        }
    }
    entities->array_count = page + 1;
    world->lookup.record_count = (uint64_t)entities->array_count << MICAP_PAGE_SHIFT;
    return true;
}

/* A page apart from the array, or NULL. */
static uint64_t *create_page(micap_entities *entities)
{
    uint64_t *records = micap_arena_allocate(&entities->arena, PAGE_BYTES);
    if (records)
        memset(records, 0, PAGE_BYTES);
    return records;
}

/* Makes the page exist. */
static bool ensure_page_locked(mica_world *world, uint32_t page, bool in_array)
{
    micap_entities *entities = &world->entities;
    if (!grow_directory(world, page + 1) || !reserve_page_list(world, page))
        return false;
    if (in_array)
        extend_array(world, page);
    if (!entities->pages[page].records) {
        uint64_t *records = page < entities->array_count ? page_in_array(entities, page) : create_page(entities);
        if (!records)
            return false;
        set_page(entities, page, records);
        ++entities->existing_count;
    }
    if (page >= page_count_of(entities))
        atomic_store_explicit(&entities->page_count, page + 1, memory_order_release);
    return true;
}

/* Makes the page exist, in the array if possible. For the owner. */
static bool ensure_page(mica_world *world, uint32_t page)
{
    pthread_mutex_lock(&world->entities.lock);
    bool done = ensure_page_locked(world, page, true);
    pthread_mutex_unlock(&world->entities.lock);
    return done;
}

/* The same for buffers that overflow, in their threads: others look up meanwhile, so the array must not move. */
static bool ensure_page_apart(mica_world *world, uint32_t page)
{
    pthread_mutex_lock(&world->entities.lock);
    bool done = ensure_page_locked(world, page, false);
    pthread_mutex_unlock(&world->entities.lock);
    return done;
}

void micap_entities_set_space(mica_world *world, uint32_t space)
{
    world->def.handle_space = space;
    world->entities.first_generation = (space << MICAP_SPACE_SHIFT) + 1;
    world->entities.last_generation =
        space ? space << MICAP_SPACE_SHIFT | ((1u << MICAP_SPACE_SHIFT) - 1) : MICAP_GENERATION_MAX;
}

bool micap_entities_init(mica_world *world)
{
    micap_entities *entities = &world->entities;
    pthread_mutex_init(&entities->lock, NULL);
    entities->undo = &world->undo;
    micap_entities_set_space(world, world->def.handle_space);
    micap_arena_init(&entities->arena, &world->memory);
    atomic_init(&entities->directory, NULL);
    atomic_init(&entities->page_count, 0);
    entities->fresh_next = 1; /* index 0 is nil's: its record stays zero, dead */
    entities->fresh_end = MICAP_PAGE_RECORDS;
    entities->high_water = MICAP_PAGE_RECORDS;
    return ensure_page(world, 0);
}

void micap_entities_free(mica_world *world)
{
    micap_entities *entities = &world->entities;
    for (old_directory *old = entities->old_directories; old;) {
        old_directory *next = old->next;
        release_directory(world, old->directory);
        micap_release(&world->memory, old, sizeof *old, MICAP_ARRAY_ALIGNMENT);
        old = next;
    }
    release_directory(world, directory_of(entities));
    MICAP_RELEASE_ARRAY(&world->memory, entities->pages, entities->pages_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, entities->holes, entities->hole_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, entities->lane_taken, entities->lane_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, entities->spare, entities->spare_capacity);
    release_array(world, entities->array, entities->array_capacity);
    micap_arena_free(&entities->arena);
    pthread_mutex_destroy(&entities->lock);
}

void micap_entities_free_spare(mica_world *world)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    while (entities->spare_count)
        micap_entity_give_unused(entities, entities->spare[--entities->spare_count]);
}

bool micap_entities_next_run(mica_world *world)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    if (entities->spare_count) {
        micap_entities_free_spare(world);
        return true;
    }
    uint64_t begin = entities->hole_count ? entities->holes[entities->hole_count - 1] : entities->high_water;
    if (begin >= index_limit)
        return false;
    uint32_t page = (uint32_t)(begin >> MICAP_PAGE_SHIFT);
    if (!ensure_page(world, page))
        return false;
    if (entities->hole_count) {
        --entities->hole_count;
        entities->fresh_end = begin + MICAP_ID_BLOCK;
    } else {
        entities->fresh_end = ((uint64_t)page + 1) << MICAP_PAGE_SHIFT;
        entities->high_water = entities->fresh_end;
    }
    entities->fresh_next = begin;
    return true;
}

bool micap_entities_reserve(mica_world *world, uint64_t count)
{
    micap_entities *entities = &world->entities;
    if (entities->preset)
        return entities->preset_count >= count;
    micap_entities_settle(world);
    uint64_t ready = entities->free_count + (entities->fresh_end - entities->fresh_next) +
                     (uint64_t)entities->hole_count * MICAP_ID_BLOCK;
    uint64_t missing = count > ready ? count - ready : 0;
    uint64_t last = entities->high_water + missing;
    bool done = last <= index_limit;
    for (uint32_t i = 0; done && i < entities->hole_count; ++i)
        done = ensure_page(world, entities->holes[i] >> MICAP_PAGE_SHIFT);
    uint32_t first_page = (uint32_t)(entities->high_water >> MICAP_PAGE_SHIFT);
    uint32_t last_page = (uint32_t)((last - 1) >> MICAP_PAGE_SHIFT);
    if (done && missing && last_page >= entities->array_capacity && !is_far(entities, first_page))
        grow_array(world, last_page + 1); /* once for all of them; if memory is short, some are apart */
    for (uint32_t page = first_page; done && missing && page <= last_page; ++page)
        done = ensure_page(world, page);
    return done;
}

mica_entity micap_entity_take(mica_world *world)
{
    uint64_t *record;
    mica_entity entity = micap_entity_take_record(world, &world->entities, &record);
    if (!mica_is_nil(entity))
        *record = micap_record_pack(entity.generation, MICAP_CHUNK_PENDING, 0);
    return entity;
}

mica_entity micap_entity_reserve(mica_world *world)
{
    uint64_t *record;
    mica_entity entity = micap_entity_take_record(world, &world->entities, &record);
    if (!mica_is_nil(entity))
        *record = micap_record_reserved(entity);
    return entity;
}

bool micap_entities_reserve_at(mica_world *world, uint32_t index)
{
    return ensure_page(world, index >> MICAP_PAGE_SHIFT);
}

uint32_t micap_entities_prepare(mica_world *world, const mica_entity *entities, uint32_t count)
{
    uint32_t highest = 0;
    for (uint32_t i = 0, run; i < count; i += run) {
        run = micap_handles_in_page(entities + i, count - i);
        uint32_t last = entities[i].index + run - 1;
        highest = last > highest ? last : highest;
    }
    uint32_t page = highest >> MICAP_PAGE_SHIFT;
    if (page >= world->entities.array_capacity && page / 4 <= (count >> MICAP_PAGE_SHIFT) + PAGES_SPARSE)
        grow_array(world, page + 1); /* if memory is short, the pages notice */
    return highest;
}

/* Makes free slots of those that were never used, where one of them is to be taken. */
static void open_unused(micap_entities *entities, uint32_t index)
{
    if (index >= entities->fresh_next && index < entities->fresh_end)
        while (entities->fresh_next < entities->fresh_end)
            micap_entity_put_free(entities, (uint32_t)entities->fresh_next++, entities->first_generation);
    for (uint32_t i = 0; i < entities->hole_count; ++i) {
        uint32_t begin = entities->holes[i];
        if (index < begin || index - begin >= MICAP_ID_BLOCK)
            continue;
        for (uint32_t at = 0; at < MICAP_ID_BLOCK; ++at)
            micap_entity_put_free(entities, begin + at, entities->first_generation);
        memmove(entities->holes + i, entities->holes + i + 1, (--entities->hole_count - i) * sizeof *entities->holes);
        break;
    }
    uint64_t end = (((uint64_t)index >> MICAP_PAGE_SHIFT) + 1) << MICAP_PAGE_SHIFT;
    if (index >= entities->high_water)
        entities->high_water = end;
}

/* Takes slots that say pending off the free list of a page. */
static void relink_page(micap_entities *entities, uint32_t page_index)
{
    micap_page *page = &entities->pages[page_index];
    uint32_t slot = page->first_free, last = MICAP_SLOT_END;
    page->first_free = MICAP_SLOT_END;
    while (slot != MICAP_SLOT_END) {
        uint64_t *record = &page->records[slot];
        uint32_t next = micap_record_row(*record);
        if (micap_record_chunk(*record) != MICAP_CHUNK_NONE) {
            --entities->free_count;
        } else if (last == MICAP_SLOT_END) {
            page->first_free = (uint16_t)slot;
            last = slot;
        } else {
            page->records[last] = (page->records[last] & ~(uint64_t)0xFFFF) | slot;
            last = slot;
        }
        slot = next;
    }
    if (last != MICAP_SLOT_END)
        page->records[last] |= MICAP_SLOT_END;
}

/* Relinking changes any of its slots. */
static void touch_page(const micap_entities *entities, uint32_t page)
{
    for (uint32_t slot = 0; slot < MICAP_PAGE_RECORDS; slot += MICAP_RECORDS_KEPT)
        micap_touch_record(entities, page << MICAP_PAGE_SHIFT | slot);
}

void micap_entities_claim(mica_world *world, const mica_entity *entities, uint32_t count)
{
    micap_entities *all = &world->entities;
    micap_entities_settle(world);
    for (uint32_t page = all->first_page; page; page = all->pages[page - 1].next)
        micap_touch_record(all, (page - 1) << MICAP_PAGE_SHIFT); /* and with it the next page */
    for (uint32_t i = 0; i < count; ++i) {
        if (!i || entities[i].index >> MICAP_PAGE_SHIFT != entities[i - 1].index >> MICAP_PAGE_SHIFT)
            touch_page(all, entities[i].index >> MICAP_PAGE_SHIFT);
        open_unused(all, entities[i].index);
        uint64_t *record = micap_record_at(all, entities[i].index);
        *record = micap_record_pack(entities[i].generation, MICAP_CHUNK_PENDING, micap_record_row(*record));
        uint32_t page = entities[i].index >> MICAP_PAGE_SHIFT;
        if (i + 1 == count || entities[i + 1].index >> MICAP_PAGE_SHIFT != page)
            relink_page(all, page);
    }
    for (uint32_t *link = &all->first_page, before = 0; *link;) {
        micap_page *page = &all->pages[*link - 1];
        if (page->first_free == MICAP_SLOT_END) {
            if (before)
                micap_touch_record(all, (before - 1) << MICAP_PAGE_SHIFT);
            *link = page->next;
        } else {
            before = *link;
            link = &page->next;
        }
    }
}

/* A lock for each of many entities costs more than the rest of a load: it is taken only for a page that does not exist. */
static bool has_page(const micap_entities *entities, uint32_t page)
{
    return page < entities->pages_capacity && entities->pages[page].records;
}

bool micap_entities_claim_unused(mica_world *world, const mica_entity *entities, uint32_t count, uint32_t chunk,
                                 uint32_t row)
{
    const micap_entities *all = &world->entities;
    uint64_t *records = NULL;
    uint32_t page = UINT32_MAX; /* no index is in it */
    for (uint32_t i = 0, run; i < count; i += run) {
        mica_entity entity = entities[i];
        if (!entity.index || !entity.generation || entity.generation > MICAP_GENERATION_MAX ||
            !micap_entity_is_of_space(world->def.handle_space, entity))
            return false;
        if (entity.index >> MICAP_PAGE_SHIFT != page) {
            page = entity.index >> MICAP_PAGE_SHIFT;
            if (!has_page(all, page) && !micap_entities_reserve_at(world, entity.index))
                return false;
            records = all->pages[page].records;
        }
        uint32_t slot = entity.index & (MICAP_PAGE_RECORDS - 1);
        run = micap_handles_in_page(entities + i, count - i);
        if (micap_range_length(records + slot, 0, 0, run) < run)
            return false;
        micap_range_write(records + slot, micap_record_pack(entity.generation, chunk, row), 0, run);
    }
    return true;
}

bool micap_entities_array_is_right(const mica_world *world)
{
    const micap_entities *entities = &world->entities;
    for (uint32_t page = 0; page < entities->pages_capacity; ++page) {
        const uint64_t *records = entities->pages[page].records;
        bool is_in_array = page < entities->array_count && records == page_in_array(entities, page);
        if (records && is_in_array != (page < entities->array_count))
            return false;
    }
    return world->lookup.records == entities->array && world->lookup.record_count == (uint64_t)entities->array_count
                                                                                         << MICAP_PAGE_SHIFT;
}

uint64_t micap_entities_first_used(const micap_entities *entities, uint64_t begin, uint64_t end)
{
    uint64_t page_count = atomic_load_explicit(&entities->page_count, memory_order_relaxed);
    for (uint64_t at = begin; at < end && at >> MICAP_PAGE_SHIFT < page_count;) {
        const uint64_t *records = entities->pages[at >> MICAP_PAGE_SHIFT].records;
        uint64_t page_end = ((at >> MICAP_PAGE_SHIFT) + 1) << MICAP_PAGE_SHIFT;
        for (uint64_t last = page_end < end ? page_end : end; records && at < last; ++at)
            if (records[at & (MICAP_PAGE_RECORDS - 1)])
                return at;
        at = page_end;
    }
    return end;
}

void micap_undo_save_record(const micap_entities *entities, uint32_t index)
{
    micap_undo_note_records(entities->undo, index / MICAP_RECORDS_KEPT);
    const micap_page *page = &entities->pages[index >> MICAP_PAGE_SHIFT];
    uint32_t first = index & (MICAP_PAGE_RECORDS - 1) & ~(uint32_t)(MICAP_RECORDS_KEPT - 1);
    micap_undo_save_bytes(entities->undo, MICAP_UNDO_RECORDS, index / MICAP_RECORDS_KEPT, 0, page->records + first,
                          MICAP_RECORDS_KEPT * sizeof *page->records);
    const micap_page list = {.next = page->next, .first_free = page->first_free};
    micap_undo_save_bytes(entities->undo, MICAP_UNDO_PAGE, index >> MICAP_PAGE_SHIFT, 0, &list, sizeof list);
}

void micap_entity_retire(micap_entities *entities, uint32_t index)
{
    /* A record that names chunk 0 is dead, and a generation that no handle has keeps it so. */
    *micap_record_at(entities, index) = micap_record_pack(0, MICAP_CHUNK_NONE, 0);
}

/* How many handles before the end of a list, at most `limit`, have indices that rise one by one up to the last one, and its generation. */
static uint32_t range_before(const mica_entity *end, uint32_t limit)
{
    enum { BLOCK = 16 };
    uint64_t last = micap_handle_number(end[-1]);
    uint32_t count = 0;
    while (limit - count >= BLOCK &&
           micap_range_length(end - count - BLOCK, last - (count + BLOCK - 1) * micap_handle_step, micap_handle_step,
                              BLOCK) == BLOCK)
        count += BLOCK;
    while (count < limit && micap_handle_number(*(end - count - 1)) == last - count * micap_handle_step)
        ++count;
    return count;
}

/* Frees those at the end of a list whose slots lie right before one that was just freed, each before the next: the usual case. Returns
 * how many. */
static uint32_t give_neighbours(micap_entities *entities, uint32_t index, const mica_entity *list, uint32_t count)
{
    micap_page *page = &entities->pages[index >> MICAP_PAGE_SHIFT];
    uint32_t slot = index & (MICAP_PAGE_RECORDS - 1), given = 0, limit = slot < count ? slot : count;
    if (page->first_free != slot) /* it was retired */
        return 0;
    while (given < limit) {
        mica_entity last = list[count - 1 - given];
        if (last.index != index - 1 - given || last.generation == entities->last_generation)
            break;
        uint32_t run = range_before(list + count - given, limit - given);
        for (uint32_t i = 0; entities->undo->before && i < run; ++i)
            micap_touch_record(entities, last.index - i);
        given += run;
        micap_range_write(page->records + slot - given,
                          micap_record_pack(last.generation + 1, MICAP_CHUNK_NONE, slot - given + 1), 1, run);
    }
    page->first_free = (uint16_t)(slot - given);
    entities->free_count += given;
    return given;
}

void micap_entities_give_many(micap_entities *entities, const mica_entity *list, uint32_t count)
{
    while (count) {
        mica_entity last = list[--count];
        micap_entity_give(entities, last);
        count -= give_neighbours(entities, last.index, list, count);
    }
}

/* Frees those at the beginning of a list whose slots lie in one page and have a generation left. Returns how many. */
static uint32_t give_in_page(micap_entities *entities, const mica_entity *list, uint32_t count)
{
    uint32_t page_index = list[0].index >> MICAP_PAGE_SHIFT, given = 0;
    micap_page *page = &entities->pages[page_index];
    uint64_t *const records = page->records;
    const uint32_t last_generation = entities->last_generation;
    uint32_t next = page->first_free;
    while (given < count) {
        mica_entity entity = list[given];
        if (entity.index >> MICAP_PAGE_SHIFT != page_index || entity.generation == last_generation)
            break;
        uint32_t slot = entity.index & (MICAP_PAGE_RECORDS - 1), run = 1;
        uint64_t record = micap_record_pack(entity.generation + 1, MICAP_CHUNK_NONE, next);
        records[slot] = record;
        if (next + 1 == slot) { /* so the next ones may follow */
            run = micap_handles_in_page(list + given, count - given);
            micap_range_write(records + slot, record, 1, run);
        }
        next = slot + run - 1;
        given += run;
    }
    if (given && page->first_free == MICAP_SLOT_END) {
        page->next = entities->first_page;
        entities->first_page = page_index + 1;
    }
    page->first_free = (uint16_t)next;
    entities->free_count += given;
    return given;
}

void micap_entities_give_in_order(micap_entities *entities, const mica_entity *list, uint32_t count)
{
    for (uint32_t i = 0; entities->undo->before && i < count; ++i)
        micap_touch_record(entities, list[i].index);
    for (uint32_t i = 0, given; i < count; i += given) {
        given = give_in_page(entities, list + i, count - i);
        if (!given) {
            micap_entity_retire(entities, list[i].index);
            given = 1;
        }
    }
}

bool micap_entities_set_lanes(mica_world *world, uint32_t count)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    uint32_t before = entities->lane_capacity;
    if (!MICAP_RESERVE(&world->memory, entities->lane_taken, &entities->lane_capacity, count))
        return false;
    if (entities->lane_capacity != before)
        memset(entities->lane_taken + before, 0, (entities->lane_capacity - before) * sizeof *entities->lane_taken);
    entities->lane_count = count;
    return true;
}

/* Sets the block of the next hole aside. */
static bool set_hole_aside(mica_world *world)
{
    micap_entities *entities = &world->entities;
    uint32_t begin = entities->holes[entities->hole_count - 1];
    bool done = ensure_page(world, begin >> MICAP_PAGE_SHIFT);
    entities->hole_count -= done;
    for (uint32_t i = 0; done && i < MICAP_ID_BLOCK; ++i) {
        mica_entity entity = {begin + i, entities->first_generation};
        micap_entity_take_back(entities, entity);
        entities->spare[entities->spare_count++] = entity;
    }
    return done;
}

void micap_entities_set_aside(mica_world *world)
{
    micap_entities *entities = &world->entities;
    micap_entities_settle(world);
    entities->blocks_taken = 0;
    uint64_t wanted = entities->block_peak * MICAP_ID_BLOCK;
    if (entities->spare_count >= wanted ||
        !MICAP_RESERVE(&world->memory, entities->spare, &entities->spare_capacity, wanted))
        return;
    uint64_t half = (entities->free_count + entities->spare_count) / 2 / MICAP_ID_BLOCK * MICAP_ID_BLOCK;
    while (entities->spare_count < wanted && entities->spare_count < half)
        entities->spare[entities->spare_count++] = micap_entity_reserve(world);
    while (entities->spare_count < wanted && entities->hole_count && set_hole_aside(world))
        continue;
}

bool micap_entities_take_block(mica_world *world, uint32_t lane, mica_entity *out)
{
    micap_entities *entities = &world->entities;
    uint64_t block = (uint64_t)entities->lane_taken[lane] * entities->lane_count + lane;
    uint64_t spare_blocks = entities->spare_count / MICAP_ID_BLOCK;
    atomic_store_explicit(&entities->lanes_taken, true, memory_order_relaxed);
    if (block < spare_blocks) {
        memcpy(out, entities->spare + block * MICAP_ID_BLOCK, MICAP_ID_BLOCK * sizeof *out);
        ++entities->lane_taken[lane];
        return true;
    }
    uint64_t begin = entities->high_water + (block - spare_blocks) * MICAP_ID_BLOCK;
    if (begin + MICAP_ID_BLOCK > index_limit || !ensure_page_apart(world, (uint32_t)(begin >> MICAP_PAGE_SHIFT)))
        return false;
    ++entities->lane_taken[lane];
    for (uint32_t i = 0; i < MICAP_ID_BLOCK; ++i) {
        out[i] = (mica_entity){(uint32_t)begin + i, entities->first_generation};
        micap_entity_take_back(entities, out[i]);
    }
    return true;
}

static bool is_block_taken(const micap_entities *entities, uint64_t block)
{
    return entities->lane_count && block / entities->lane_count < entities->lane_taken[block % entities->lane_count];
}

uint32_t micap_entities_spare_count(const micap_entities *entities)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < entities->spare_count; at += MICAP_ID_BLOCK)
        count += is_block_taken(entities, at / MICAP_ID_BLOCK) ? 0 : MICAP_ID_BLOCK;
    return count;
}

/* Closes the gaps that blocks taken by lanes left in the spare handles. */
static void settle_spare(micap_entities *entities)
{
    uint32_t left = 0;
    for (uint32_t at = 0; at < entities->spare_count; at += MICAP_ID_BLOCK) {
        if (is_block_taken(entities, at / MICAP_ID_BLOCK))
            continue;
        memmove(entities->spare + left, entities->spare + at, MICAP_ID_BLOCK * sizeof *entities->spare);
        left += MICAP_ID_BLOCK;
    }
    entities->spare_count = left;
}

/* Notes the block of fresh indices as a hole. If memory is short, its indices are not used again, which is harmless. */
static void note_hole(mica_world *world, uint64_t begin)
{
    micap_entities *entities = &world->entities;
    if (MICAP_RESERVE(&world->memory, entities->holes, &entities->hole_capacity, (uint64_t)entities->hole_count + 1))
        entities->holes[entities->hole_count++] = (uint32_t)begin;
}

void micap_entities_settle(mica_world *world)
{
    micap_entities *entities = &world->entities;
    uint32_t rounds = 0;
    uint64_t taken = 0;
    if (!atomic_load_explicit(&entities->lanes_taken, memory_order_relaxed))
        return;
    atomic_store_explicit(&entities->lanes_taken, false, memory_order_relaxed);
    for (uint32_t lane = 0; lane < entities->lane_count; ++lane) {
        taken += entities->lane_taken[lane];
        if (entities->lane_taken[lane] > rounds)
            rounds = entities->lane_taken[lane];
    }
    uint64_t block_count = (uint64_t)rounds * entities->lane_count;
    uint64_t spare_blocks = entities->spare_count / MICAP_ID_BLOCK;
    if (entities->blocks_taken + block_count > entities->block_peak)
        entities->block_peak = entities->blocks_taken + block_count;
    entities->blocks_taken += taken;
    for (uint64_t block = block_count; block-- > spare_blocks;) /* from the end, so that the first hole is used first */
        if (!is_block_taken(entities, block))
            note_hole(world, entities->high_water + (block - spare_blocks) * MICAP_ID_BLOCK);
    if (block_count > spare_blocks)
        entities->high_water += (block_count - spare_blocks) * MICAP_ID_BLOCK;
    if (entities->high_water > world->lookup.record_count)
        extend_array(world, (uint32_t)((entities->high_water - 1) >> MICAP_PAGE_SHIFT));
    settle_spare(entities);
    memset(entities->lane_taken, 0, entities->lane_count * sizeof *entities->lane_taken);
}
