/* Transforms: the entities that take part, sorted by depth, and what the last update saw of them.
 *
 * Every entity that takes part has a slot. Slots are sorted by depth, and within a depth by parent, so that the children of a slot lie
 * next to each other and behind it:
 *
 *     slot            0    1  |  2      3      4  |  5      6          | level
 *     entity          sun  x  |  earth  mars   y  |  moon   phobos
 *     child_begins    2    4  |  5      6      7  |  7      7      7
 *
 * An update first looks at the rows: slices that were written or moved since the last update are compared, row by row, with the
 * locals that are kept by slot; where they differ the slot has moved. Then it goes down level by level: what has moved gets its matrix,
 * written straight into its row, and hands the mark down to its children, a run of bytes. A level is a loop over disjoint slots,
 * which may be cut anywhere.
 *
 * Who comes or gets another parent is appended behind the levels as a latecomer, with all that is below it: parents before
 * children there, too, and each looks up at its parent's mark. Who goes leaves a slot without a matrix. When there are too
 * many of either, the order is made anew. */
#ifndef MICAP_HIERARCHY_TRANSFORM_PROPAGATION_H
#define MICAP_HIERARCHY_TRANSFORM_PROPAGATION_H

#include "hierarchy/links.h"
#include "mica/query.h"
#include "mica/transform.h"

#define MICAP_SLOT_NONE UINT32_MAX

enum {
    MICAP_MOVED = 1, /* and so has everything below it */
    MICAP_REWRITE =
        2, /* the matrix is what it was, but may be gone: the component may have been removed and added again */
};

/* The arrays by slot, in one block of memory. */
typedef struct micap_slots {
    uint32_t count; /* latecomers included */
    uint32_t capacity;
    uint32_t sorted_count; /* of those in levels */
    uint32_t living_count;
    uint32_t level_count;
    mica_entity *entities;
    mica_global_matrix *
        *matrices;         /* the rows of the entities, and the stamps of their slices: good while nothing moved them */
    mica_version **stamps; /* of their slices */
    mica_local *locals;    /* as they were seen last */
    uint32_t *parents;     /* below the slot itself; MICAP_SLOT_NONE for those without */
    uint32_t *child_begins; /* one more than there are in levels: a slot's children end where those of the next begin */
    uint32_t *level_begins; /* likewise */
    uint8_t *moved;         /* MICAP_MOVED and MICAP_REWRITE, padded with zeros to whole words */
    uint32_t *by_index;     /* 1 + slot by entity index, or 0 */
    uint32_t index_count;
    size_t bytes; /* in use, of the block */
    void *memory;
    size_t memory_bytes;
} micap_slots;

/* A slice of rows that may have changed. */
typedef struct micap_slice {
    micap_chunk *chunk;
    uint32_t row;
    uint32_t count;
    uint16_t local_column;
    uint16_t matrix_column;
    bool has_moved; /* rows came or moved since the last update */
} micap_slice;

typedef struct micap_transforms {
    mica_query *query;
    mica_version seen; /* stamps up to this one were looked at */
    micap_slots slots;
    micap_slots spare; /* the memory of the order before, for the next one */
    bool is_new;       /* nothing is known yet of where rows are */
    /* Of one update. */
    micap_slice *slices; /* to be looked at */
    uint32_t slice_count;
    uint32_t slice_capacity;
    uint64_t row_count;
    atomic_bool has_strangers; /* rows whose entities have no slot */
    mica_entity relinked[MICAP_RELINKED_MAX];
} micap_transforms;

void micap_transforms_free(micap_hierarchy *hierarchy);

/* Makes the order anew, and keeps what is known of those that were in the old one; false when memory is short. */
bool micap_slots_rebuild(micap_hierarchy *hierarchy, micap_transforms *transforms);
void micap_slots_free(mica_world *world, micap_slots *slots);

/* Puts an entity, and what is below it, where it belongs by its ancestors: a latecomer, unless it is there already. False
 * when there is no room. */
bool micap_slots_place(const micap_hierarchy *hierarchy, micap_slots *slots, mica_entity entity);

/* Forgets those who die. */
void micap_slots_bury(micap_slots *slots, const mica_entity *entities, uint32_t count);

/* After a snapshot was restored, in which all up to that version had been looked at: makes the order anew. What was not stamped since
 * then is what was seen. When memory is short everything counts as moved. */
void micap_transforms_restore(micap_hierarchy *hierarchy, mica_version seen);

/* Gives back what only the next order would need. */
void micap_transforms_trim(micap_hierarchy *hierarchy);

/* The slot of an entity, or MICAP_SLOT_NONE. */
static inline uint32_t micap_slot_of(const micap_slots *slots, mica_entity entity)
{
    uint32_t slot = entity.index < slots->index_count ? slots->by_index[entity.index] - 1 : MICAP_SLOT_NONE;
    return slot != MICAP_SLOT_NONE && mica_same(slots->entities[slot], entity) ? slot : MICAP_SLOT_NONE;
}

#endif
