/* The values that an index had at its last update, by entity: what it compares rows with, and what it is rebuilt from, in the order of
 * handles. */
#ifndef MICAP_INDEX_TRACKED_VALUES_H
#define MICAP_INDEX_TRACKED_VALUES_H

#include "base/memory.h"
#include "core/query/field_source.h"
#include "mica/handle.h"

enum { MICAP_TRACKED_PAGE = 1024 };

typedef struct micap_tracked_page {
    uint32_t count;                           /* of entities */
    uint32_t generations[MICAP_TRACKED_PAGE]; /* 0: no entity */
    uint64_t words[];                         /* `width` for each of them */
} micap_tracked_page;

typedef struct micap_tracked {
    micap_tracked_page **pages; /* by entity index; NULL where there is none */
    uint32_t page_count;
    uint32_t width;
    uint32_t count; /* of entities */
} micap_tracked;

/* An entity that has changed since the last update. */
typedef struct micap_index_change {
    mica_entity before; /* nil: it was not in the index */
    mica_entity after;  /* nil: it is not any more. Another generation of the same index, or the same entity */
    uint64_t old_words[MICAP_INDEX_FIELDS_MAX];
    uint64_t new_words[MICAP_INDEX_FIELDS_MAX];
} micap_index_change;

/* The page of an entity index, and whatever it needs; NULL if memory is short. */
micap_tracked_page *micap_tracked_require(micap_memory *memory, micap_tracked *tracked, uint32_t entity_index);

static inline micap_tracked_page *micap_tracked_page_of(const micap_tracked *tracked, uint32_t entity_index)
{
    uint32_t page = entity_index / MICAP_TRACKED_PAGE;
    return page < tracked->page_count ? tracked->pages[page] : NULL;
}

/* The words of an entity; NULL if it has none. */
static inline const uint64_t *micap_tracked_find(const micap_tracked *tracked, mica_entity entity)
{
    const micap_tracked_page *page = micap_tracked_page_of(tracked, entity.index);
    uint32_t slot = entity.index % MICAP_TRACKED_PAGE;
    return page && entity.generation && page->generations[slot] == entity.generation
               ? &page->words[(size_t)slot * tracked->width]
               : NULL;
}

/* Frees pages without entities, and all of them. */
void micap_tracked_trim(micap_memory *memory, micap_tracked *tracked);
void micap_tracked_free(micap_memory *memory, micap_tracked *tracked);

#endif
