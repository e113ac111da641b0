/* Pools and snapshots. Rows, index and bits are saved before they change (pool/pool_undo.c). The counts of each pool, its group, and
 * the list of the dead are copied when a snapshot is taken. */
#ifndef MICAP_CORE_UNDO_UNDO_POOLS_H
#define MICAP_CORE_UNDO_UNDO_POOLS_H

#include "core/world/world.h"

typedef struct micap_pools_state micap_pools_state;

/* Copies the state; NULL if memory is short. */
micap_pools_state *micap_pools_save(mica_world *world);
void micap_pools_drop_state(mica_world *world, micap_pools_state *state);

/* Saves in the newest log what a part of a pool holds now: see micap_undo_save_again. */
void micap_pools_save_again(mica_world *world, const micap_undo_entry *kept);

/* Restores all pools from the entries of the logs and the copied state. Entities are restored already. */
void micap_pools_restore(mica_world *world, const micap_undo_entries *kept, const micap_pools_state *state);

/* Gives an empty world the pools of another, whose entities it has. False if memory is short. */
bool micap_pools_clone(mica_world *to, const mica_world *from);

#endif
