/* From an entity to its row in a pool. Three ways, one interface.
 *
 * map     pages of 8 bytes per entity index: generation and row. One access tells whether a handle has the component,
 *         stale or not, without a look at the rows. Pages that are not there share one of zeros.
 * hash    open addressing, 8 bytes per slot: entity index and row. Erasing shifts back what follows, so that there are no
 *         tombstones.
 * direct  the row is the index: nothing is kept here. */
#ifndef MICAP_POOL_INDEX_H
#define MICAP_POOL_INDEX_H

#include "base/region_arena.h"
#include "base/undo_log.h"
#include "mica/describe.h"

#define MICAP_ROW_NONE UINT32_MAX

enum {
    MICAP_MAP_PAGE_ENTRIES = 4096,
    MICAP_MAP_PAGE_SHIFT = 12,
};

typedef struct micap_index {
    uint64_t **pages; /* map: generation << 32 | row + 1 */
    uint32_t page_count;
    uint32_t page_capacity;
    micap_arena *arena; /* where pages come from: they lie together in huge pages */
    uint64_t *slots;    /* hash: entity index << 32 | row + 1; 0 is empty */
    uint32_t slot_count;
    uint32_t slot_shift; /* of a hash, to the number of a slot */
    uint32_t used;       /* of the slots */
    micap_undo_logs *undo;
    uint64_t keep_place; /* of its first block of entries in logs */
    micap_undo_kind keep_kind;
} micap_index;

/* What pages without entries point to; never written. */
extern uint64_t micap_map_no_entries[MICAP_MAP_PAGE_ENTRIES];

static inline uint64_t micap_map_entry(mica_entity entity, uint32_t row)
{
    return (uint64_t)entity.generation << 32 | (row + 1);
}

/* The row that an entry gives an entity, as a number that is no row, and larger than all of them, when it is another's or empty:
 * one comparison tells all that can be wrong. */
static inline uint64_t micap_map_row_of(uint64_t entry, mica_entity entity)
{
    return entry - ((uint64_t)entity.generation << 32) - 1;
}

/* The row of an entity, stale handles excepted; nil's is MICAP_ROW_NONE. */
static inline uint32_t micap_map_find(const micap_index *index, mica_entity entity)
{
    uint32_t page = entity.index >> MICAP_MAP_PAGE_SHIFT;
    if (page >= index->page_count)
        return MICAP_ROW_NONE;
    uint64_t row = micap_map_row_of(index->pages[page][entity.index & (MICAP_MAP_PAGE_ENTRIES - 1)], entity);
    return row < MICAP_ROW_NONE ? (uint32_t)row : MICAP_ROW_NONE;
}

/* The entry of an index, or NULL when its page is not there. */
static inline uint64_t *micap_map_at(const micap_index *index, uint32_t entity_index)
{
    uint32_t page = entity_index >> MICAP_MAP_PAGE_SHIFT;
    if (page >= index->page_count || index->pages[page] == micap_map_no_entries)
        return NULL;
    return &index->pages[page][entity_index & (MICAP_MAP_PAGE_ENTRIES - 1)];
}

enum { MICAP_MAP_BLOCK = 64 }; /* entries that are copied at once for a snapshot */

/* Every write to an entry whose page exists goes through this function first: it makes the copy that the newest snapshot needs. */
static inline void micap_map_touch(const micap_index *index, uint32_t entity_index)
{
    if (MICAP_UNLIKELY(index->undo->before))
        micap_undo_save_bytes(index->undo, index->keep_kind, index->keep_place + entity_index / MICAP_MAP_BLOCK, 0,
                              micap_map_at(index, entity_index & ~(uint32_t)(MICAP_MAP_BLOCK - 1)),
                              MICAP_MAP_BLOCK * sizeof(uint64_t));
}

/* The same for many. */
static inline void micap_map_touch_list(const micap_index *index, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; index->undo->before && i < count; ++i)
        micap_map_touch(index, entities[i].index);
}

/* Makes room for an entry; false when memory is short. */
bool micap_map_reserve(micap_index *index, uint32_t entity_index);
/* The row at an index, of whatever generation. */
uint32_t micap_map_row_at(const micap_index *index, uint32_t entity_index);
/* The entity with the lowest index from `from` on that has an entry; nil if there is none. */
mica_entity micap_map_next(const micap_index *index, uint32_t from);
/* After a reserve. */
void micap_map_set(micap_index *index, mica_entity entity, uint32_t row);
void micap_map_erase(micap_index *index, uint32_t entity_index);

/* Where the look-up of an entity begins; there are slots. Multiples of the golden ratio lie far apart, also those of indices that
 * follow each other. */
static inline uint32_t micap_hash_home(const micap_index *index, uint32_t entity_index)
{
    return (uint32_t)(entity_index * 0x9e3779b97f4a7c15ull >> index->slot_shift);
}

/* The slot of an entity, or the empty one where it would go; there are slots. */
static inline uint64_t *micap_hash_slot(const micap_index *index, uint32_t entity_index)
{
    uint32_t at = micap_hash_home(index, entity_index);
    while (index->slots[at] && index->slots[at] >> 32 != entity_index)
        at = (at + 1) & (index->slot_count - 1);
    return &index->slots[at];
}

/* The row at an index, of whatever generation, or MICAP_ROW_NONE. */
uint32_t micap_hash_find(const micap_index *index, uint32_t entity_index);

/* Whether one more entry fits. */
static inline bool micap_hash_has_room(const micap_index *index)
{
    return (uint64_t)index->slot_count * 3 >= ((uint64_t)index->used + 1) * 4;
}

static inline uint64_t micap_hash_entry(uint32_t entity_index, uint32_t row)
{
    return (uint64_t)entity_index << 32 | (row + 1);
}

bool micap_hash_reserve(micap_index *index, uint64_t entries);
/* After a reserve, if there is no entry yet. */
void micap_hash_set(micap_index *index, uint32_t entity_index, uint32_t row);
/* Erases the entry of a slot. */
void micap_hash_erase(micap_index *index, uint64_t *slot);
/* Erases all entries. */
void micap_hash_clear(micap_index *index);

/* Gives back what the entries don't need, if there is memory for the smaller table. */
void micap_hash_trim(micap_index *index);

void micap_index_free(micap_index *index);
size_t micap_index_bytes(const micap_index *index);

/* Gives back pages without entries; returns how many bytes. */
size_t micap_map_trim(micap_index *index);

#endif
