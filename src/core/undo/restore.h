/* Restoring a snapshot: writes back what the undo logs saved. Everything that can fail is prepared first. */
#ifndef MICAP_CORE_UNDO_RESTORE_H
#define MICAP_CORE_UNDO_RESTORE_H

#include "core/undo/undo_entity_index.h"
#include "core/undo/undo_pools.h"

/* What a snapshot is restored from: the entries of its log, and those of newer logs for places that its log lacks. */
typedef struct micap_restoring {
    mica_world *world;
    const micap_handles_state *handles;
    const micap_pools_state *pools;
    micap_undo_entries kept;
} micap_restoring;

/* Allocates what restoring needs; false if memory is short. The other one releases it. */
bool micap_restore_prepare(const micap_restoring *restoring);
void micap_restore_give_up(const micap_restoring *restoring);

/* Restores rows, values, records, names, pools and links. Can't fail. */
void micap_restore_entries(micap_restoring *restoring);

#endif
