/* The entity index: from a handle to the place of its row.
 *
 * A record has 8 bytes: generation (24 bits), chunk number (24), row (16), packed by shifts; compiler bit-fields were
 * measured 1.6 times slower. Records live in pages. Those that the owner adds lie one after another in an array, which inline look-ups
 * read (mica/lookup.h); it moves when it grows, while no other thread uses the world. A buffer that overflows takes pages apart from
 * it, which never move while threads look up; the owner moves them into the array. A free slot names chunk 0, which has no components: looking something up through a stale or forged handle
 * falls out of the ordinary path without a test of its own. Its row is the next free slot of the page.
 *
 * Threads that record take handles without depending on timing, and mostly without a lock. Each buffer has a stock, filled at
 * flush in buffer order. When it runs out, the buffer takes blocks of handles from a lane of its own: of T buffers,
 * buffer t takes the blocks t, t + T, t + 2T, ... The first blocks are spare handles, which the owner set aside from
 * the free slots; then come fresh indices after the last index in use. Blocks of fresh indices that no lane took are
 * holes, which are used first afterwards. Without the spare handles a world in which buffers overflow again and again
 * would use fresh indices for ever, although as many slots are free. */
#ifndef MICAP_CORE_STORAGE_ENTITY_INDEX_H
#define MICAP_CORE_STORAGE_ENTITY_INDEX_H

#include "base/assert.h"
#include "base/undo_log.h"
#include "base/memory.h"
#include "core/storage/chunk.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    MICAP_PAGE_SHIFT = MICA_PRIVATE_PAGE_SHIFT,
    MICAP_PAGE_RECORDS = 1 << MICAP_PAGE_SHIFT,
    MICAP_GENERATION_MAX = (1 << 24) - 1,
    MICAP_SPACE_SHIFT = 16, /* the bits of a generation above it are the handle space, if the world has one */
    MICAP_SPACE_MAX = 255,
    MICAP_ID_BLOCK = 64,
    MICAP_SLOT_END = 0xFFFF,      /* ends the free list of a page */
    MICAP_SLOT_RESERVED = 0xFFFE, /* of a slot that is dead and on no list: its handle waits to be given out */
};

typedef struct micap_page {
    uint64_t *records;
    uint32_t next;       /* 1 + the next page with free slots */
    uint16_t first_free; /* MICAP_SLOT_END when there is none */
} micap_page;

typedef struct micap_entities {
    /* Pages by index >> 10; unallocated ones share a page of zeros. An entry is the address that the record of index 0 would have
     * in an array of which the page is a part. The entry [-1] is how many there are. */
    _Atomic(uintptr_t *) directory;
    atomic_uint page_count; /* that exist */
    uint32_t directory_capacity;
    uint64_t *array;         /* the pages before array_count, also those that do not exist, which are zero */
    uint32_t array_count;    /* in pages */
    uint32_t array_capacity; /* in pages */
    uint32_t existing_count; /* pages that exist, in the array or apart */
    micap_page *pages;       /* the owner's side of the pages */
    uint32_t pages_capacity;
    uint32_t first_page; /* 1 + the first page with free slots */
    uint64_t free_count;
    uint64_t fresh_next; /* indices that were never used: [fresh_next, fresh_end), */
    uint64_t fresh_end;
    uint32_t *holes; /* then these blocks, last first, */
    uint32_t hole_count;
    uint32_t hole_capacity;
    uint32_t first_generation; /* of a slot, */
    uint32_t last_generation;  /* after which it is retired */
    uint64_t high_water;       /* then what lies from here on */
    uint32_t *lane_taken; /* blocks that each lane took; written by the lane's thread alone; 0 from lane_count on */
    uint32_t lane_count;
    uint32_t lane_capacity;
    mica_entity *spare; /* the first blocks of the lanes: reserved handles */
    uint32_t spare_count;
    uint32_t spare_capacity;
    uint64_t blocks_taken; /* by lanes since handles were last set aside, and accounted for */
    uint64_t
        block_peak; /* the most blocks that lanes have needed from one time to the next that handles are set aside */
    atomic_bool lanes_taken;                     /* some lane took a block since they were settled */
    struct micap_old_directory *old_directories; /* kept for readers until the world ends */
    micap_arena arena;                           /* pages that are not in the array */
    pthread_mutex_t lock;                        /* for pages, when a buffer overflows */
    micap_undo_logs *undo;
    const mica_entity
        *preset; /* the handles that a batch gives out next, while a world is restored from a file; else NULL */
    uint32_t preset_count;
} micap_entities;

static inline uint64_t micap_record_pack(uint32_t generation, uint32_t chunk, uint32_t row)
{
    return (uint64_t)generation << 40 | (uint64_t)chunk << 16 | row;
}

static inline uint32_t micap_record_generation(uint64_t record)
{
    return (uint32_t)(record >> 40);
}

static inline uint32_t micap_record_chunk(uint64_t record)
{
    return (uint32_t)(record >> 16) & 0xFFFFFF;
}

static inline uint32_t micap_record_row(uint64_t record)
{
    return (uint32_t)record & 0xFFFF;
}

/* Whether a record refers to the row that is `count` rows after the row of `first`. Generations are ignored. */
static inline bool micap_record_follows(uint64_t record, uint64_t first, uint32_t count)
{
    return !((record ^ (first + count)) << 24);
}

/* The record of an index that exists. */
static inline uint64_t *micap_record_at(const micap_entities *entities, uint32_t index)
{
    const uintptr_t *directory = atomic_load_explicit(&entities->directory, memory_order_acquire);
    uintptr_t page = MICAP_LOAD(&directory[index >> MICAP_PAGE_SHIFT], MICAP_ACQUIRE);
    return (uint64_t *)(page + (uintptr_t)index * sizeof(uint64_t));
}

/* The record of any handle; that of a free slot when the handle is not alive. */
static inline uint64_t micap_record_of(const micap_entities *entities, mica_entity entity)
{
    const uintptr_t *directory = atomic_load_explicit(&entities->directory, memory_order_acquire);
    uintptr_t page = entity.index >> MICAP_PAGE_SHIFT;
    if (MICAP_UNLIKELY(page >= directory[-1]))
        return 0;
    uintptr_t records = MICAP_LOAD(&directory[page], MICAP_ACQUIRE);
    /* A buffer may be giving out a handle to the slot in another thread. */
    uint64_t record = MICAP_LOAD((uint64_t *)(records + (uintptr_t)entity.index * sizeof(uint64_t)), MICAP_RELAXED);
    return MICAP_LIKELY(micap_record_generation(record) == entity.generation) ? record : 0;
}

/* Whether a world that has this handle space can give out the handle: all of its generations have the space in them. */
static inline bool micap_entity_is_of_space(uint32_t space, mica_entity entity)
{
    return !space || entity.generation >> MICAP_SPACE_SHIFT == space;
}

/* Sets the generations that new slots get; for a world without entities. */
void micap_entities_set_space(mica_world *world, uint32_t space);

bool micap_entities_init(mica_world *world);
void micap_entities_free(mica_world *world);

/* Makes sure that the next `count` takes succeed. */
bool micap_entities_reserve(mica_world *world, uint64_t count);

/* Makes handles ready when none is: frees the spare ones, or moves to the next run of fresh indices. False when memory or
 * indices are short. */
MICAP_COLD bool micap_entities_next_run(mica_world *world);

/* A free slot of a page, first in the list. */
static inline mica_entity micap_entity_take_free(micap_entities *entities, uint64_t **out_record)
{
    uint32_t page_index = entities->first_page - 1;
    micap_page *page = &entities->pages[page_index];
    uint64_t *record = &page->records[page->first_free];
    mica_entity entity = {page_index << MICAP_PAGE_SHIFT | page->first_free, micap_record_generation(*record)};
    page->first_free = (uint16_t)micap_record_row(*record);
    if (MICAP_UNLIKELY(page->first_free == MICAP_SLOT_END))
        entities->first_page = page->next;
    --entities->free_count;
    *out_record = record;
    return entity;
}

enum { MICAP_RECORDS_KEPT = 64 }; /* copied at once for a snapshot: 512 bytes */

/* Makes the copy of a record, and of the free list of its page, that snapshots need. */
MICAP_COLD void micap_undo_save_record(const micap_entities *entities, uint32_t index);

/* Whether the newest snapshot has a copy of a record, as far as the log remembers. */
static inline bool micap_record_is_saved(const micap_entities *entities, uint32_t index)
{
    return micap_undo_has_records(entities->undo, index / MICAP_RECORDS_KEPT);
}

/* Every write to the record of an existing slot goes through this function first: it makes the copy that the newest snapshot needs.
 * Fresh slots need no copy, nor do records of rows that move, which are found again from the rows. */
static inline void micap_touch_record(const micap_entities *entities, uint32_t index)
{
    if (MICAP_UNLIKELY(entities->undo->before) && !micap_record_is_saved(entities, index))
        micap_undo_save_record(entities, index);
}

/* The same for the slot that is taken next. */
static inline void micap_touch_next_record(const micap_entities *entities)
{
    if (entities->first_page)
        micap_touch_record(entities, (entities->first_page - 1) << MICAP_PAGE_SHIFT |
                                         entities->pages[entities->first_page - 1].first_free);
}

/* Whether a handle can be taken without looking for more. */
static inline bool micap_entity_is_ready(const micap_entities *entities)
{
    return entities->first_page || MICAP_LIKELY(entities->fresh_next != entities->fresh_end);
}

/* A handle in one register: compilers build a struct of two members in a vector register otherwise. */
static inline mica_entity micap_entity_of(uint32_t index, uint32_t generation)
{
    uint64_t bits = MICAP_IS_BIG_ENDIAN ? (uint64_t)index << 32 | generation : (uint64_t)generation << 32 | index;
    mica_entity entity;
    memcpy(&entity, &bits, sizeof entity);
    return entity;
}

/* A handle, free or fresh, when one is ready, and its record, which the caller fills in. Snapshots have what they need. */
static inline mica_entity micap_entity_take_ready(micap_entities *entities, uint64_t **out_record)
{
    if (entities->first_page)
        return micap_entity_take_free(entities, out_record);
    mica_entity entity = micap_entity_of((uint32_t)entities->fresh_next++, entities->first_generation);
    *out_record = micap_record_at(entities, entity.index);
    return entity;
}

/* The same, or nil when memory or indices are short. `world_entities` are those of the world. */
static inline mica_entity micap_entity_take_record(mica_world *world, micap_entities *world_entities,
                                                   uint64_t **out_record)
{
    if (!micap_entity_is_ready(world_entities) && !micap_entities_next_run(world))
        return mica_nil();
    micap_touch_next_record(world_entities);
    return micap_entity_take_ready(world_entities, out_record);
}

/* The index that the next take gives, when a handle is ready. */
static inline uint32_t micap_entity_peek_ready(const micap_entities *entities)
{
    uint32_t page = entities->first_page - 1;
    return entities->first_page ? page << MICAP_PAGE_SHIFT | entities->pages[page].first_free
                                : (uint32_t)entities->fresh_next;
}

/* The same, for callers that must have something ready for it; false when memory or indices are
 * short. */
static inline bool micap_entity_peek(mica_world *world, micap_entities *world_entities, uint32_t *out_index)
{
    if (!micap_entity_is_ready(world_entities) && !micap_entities_next_run(world))
        return false;
    *out_index = micap_entity_peek_ready(world_entities);
    return true;
}

/* A handle to a slot whose record says pending; nil when memory or indices are short. */
mica_entity micap_entity_take(mica_world *world);

/* Reserved handles. They wait in the stock of a buffer, or spare in the index, and are dead until the buffer gives them out:
 * a program that has one by chance, from before a restore for example, can't use it. Nil when memory or indices are short. */
mica_entity micap_entity_reserve(mica_world *world);

static inline bool micap_record_is_reserved(uint64_t record)
{
    return micap_record_chunk(record) == MICAP_CHUNK_NONE && micap_record_row(record) == MICAP_SLOT_RESERVED;
}

static inline uint64_t micap_record_reserved(mica_entity entity)
{
    return micap_record_pack(entity.generation, MICAP_CHUNK_NONE, MICAP_SLOT_RESERVED);
}

/* Changes a reserved handle to pending, or a pending handle that was not returned to the program back to reserved. Called in the thread of
 * its buffer. */
static inline void micap_entity_give_out(const micap_entities *entities, mica_entity entity)
{
    MICAP_STORE(micap_record_at(entities, entity.index), micap_record_pack(entity.generation, MICAP_CHUNK_PENDING, 0),
                MICAP_RELAXED);
}

static inline void micap_entity_take_back(const micap_entities *entities, mica_entity entity)
{
    MICAP_STORE(micap_record_at(entities, entity.index), micap_record_reserved(entity), MICAP_RELAXED);
}

/* Puts a slot on the free list of its page, to come back with that generation. Snapshots have what they need. */
static inline void micap_entity_put_free(micap_entities *entities, uint32_t index, uint32_t generation)
{
    uint32_t page_index = index >> MICAP_PAGE_SHIFT;
    micap_page *page = &entities->pages[page_index];
    uint32_t slot = index & (MICAP_PAGE_RECORDS - 1), next = page->first_free;
    if (MICAP_UNLIKELY(next == MICAP_SLOT_END)) {
        page->next = entities->first_page;
        entities->first_page = page_index + 1;
    }
    page->records[slot] = micap_record_pack(generation, MICAP_CHUNK_NONE, next);
    page->first_free = (uint16_t)slot;
    ++entities->free_count;
}

/* The slot has used up its generations. */
MICAP_COLD void micap_entity_retire(micap_entities *entities, uint32_t index);

/* Frees the slot of a living or pending entity: the handle is dead for good. */
static inline void micap_entity_give(micap_entities *entities, mica_entity entity)
{
    micap_touch_record(entities, entity.index);
    if (entity.generation != entities->last_generation)
        micap_entity_put_free(entities, entity.index, entity.generation + 1);
    else
        micap_entity_retire(entities, entity.index);
}

/* The same for many: the last one first, or in their order. */
void micap_entities_give_many(micap_entities *entities, const mica_entity *list, uint32_t count);
void micap_entities_give_in_order(micap_entities *entities, const mica_entity *list, uint32_t count);

/* Frees a handle that was not returned to the program. */
static inline void micap_entity_give_unused(micap_entities *entities, mica_entity entity)
{
    micap_touch_record(entities, entity.index);
    micap_entity_put_free(entities, entity.index, entity.generation);
}

/* Handles that another world gave out: makes sure that the slot of an index exists, and takes slots that are free or were never
 * used, by rising index; their records say pending. Indices in between that were never used may be lost to others. */
bool micap_entities_reserve_at(mica_world *world, uint32_t index);
void micap_entities_claim(mica_world *world, const mica_entity *entities, uint32_t count);

/* Gives slots that have no record one, in a world that is restored from a file; false if one has one, a handle is invalid, or memory
 * is short. */
bool micap_entities_claim_unused(mica_world *world, const mica_entity *entities, uint32_t count, uint32_t chunk,
                                 uint32_t row);

/* Makes room for the records of handles that are claimed next, at once unless their indices lie far apart. Returns the highest index. */
uint32_t micap_entities_prepare(mica_world *world, const mica_entity *entities, uint32_t count);

/* Whether the array has the pages that lie in it, and inline look-ups read it. */
bool micap_entities_array_is_right(const mica_world *world);

/* Returns the first index of [begin, end) that has or had an entity; `end` if none has. */
uint64_t micap_entities_first_used(const micap_entities *entities, uint64_t begin, uint64_t end);

/* Settles and changes the number of lanes, at the end: one for each buffer, and those of the systems that run. False when
 * memory is short; fewer lanes are always possible. For the owner. */
bool micap_entities_set_lanes(mica_world *world, uint32_t count);

/* How many handles are set aside for the lanes, and taken by none yet. For the owner. */
uint32_t micap_entities_spare_count(const micap_entities *entities);

/* Frees the handles that are set aside for the lanes: another world wants slots of its choice. For the owner. */
void micap_entities_free_spare(mica_world *world);

/* Sets handles aside for the lanes: as many as they have needed until they were set aside again, from at most half of the free
 * slots and then from holes. For the owner. */
void micap_entities_set_aside(mica_world *world);

/* Fills `out` with MICAP_ID_BLOCK reserved handles from a lane. May run in any thread, one per lane. False when memory or
 * indices are short. */
bool micap_entities_take_block(mica_world *world, uint32_t lane, mica_entity *out);

/* Accounts for the index blocks that threads took. They take new blocks afterwards. For the owner. */
void micap_entities_settle(mica_world *world);

#endif
