/* The entity index and snapshots. Blocks of records are saved before they change, like other storage (micap_undo_save_record). Which
 * slots are free, and which were never used, is a few numbers and lists that are copied when a snapshot is taken. */
#ifndef MICAP_CORE_UNDO_UNDO_ENTITY_INDEX_H
#define MICAP_CORE_UNDO_UNDO_ENTITY_INDEX_H

#include "core/world/world.h"

typedef struct micap_handles_state {
    uint32_t first_page;
    uint64_t free_count;
    uint64_t fresh_next;
    uint64_t fresh_end;
    uint64_t high_water;
    uint32_t *holes;
    uint32_t hole_count;
    mica_entity *spare;
    uint32_t spare_count;
    uint64_t blocks_taken;
    uint64_t block_peak;
    uint32_t existing_count; /* of pages: they never go, so that the same number means the same pages */
    uint64_t *pages;         /* a bit for each page that existed: handles of other worlds may leave some out */
    uint32_t page_words;
} micap_handles_state;

/* Copies the state; false if memory is short. */
bool micap_handles_save(mica_world *world, micap_handles_state *state);
void micap_handles_drop(mica_world *world, micap_handles_state *state);

/* Reserves memory, so that restoring can't fail; false if memory is short. */
bool micap_handles_prepare(mica_world *world, const micap_handles_state *state);
/* Saves in the newest log the records that restoring this state will clear. */
void micap_handles_save_fresh(mica_world *world, const micap_handles_state *state);
/* Clears those records of a restored block that were unused when the snapshot was taken: a block may have been saved later. */
void micap_handles_clear_fresh(const micap_handles_state *state, uint64_t first, uint64_t *records, uint32_t count);
void micap_handles_restore(mica_world *world, const micap_handles_state *state);

/* Gives an empty world the slots of another. The caller then writes the records of the living. False if memory is short. */
bool micap_handles_clone(mica_world *to, const mica_world *from);

#endif
