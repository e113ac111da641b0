/* The snapshots of a world. A snapshot has an undo log of what changed since it was taken (base/undo_log.h), and a copy of the rest
 * of the state.
 *
 *     snapshot.c         take, restore, drop                   history.c       the snapshots of the last ticks
 *     snapshot_state.c   what is copied when one is taken      world_clone.c   a copy of a whole world
 *     hash_tree.c        the hash of a world, part by part     hash_diff.c     the first difference of two worlds */
#ifndef MICAP_SNAPSHOT_SNAPSHOT_H
#define MICAP_SNAPSHOT_SNAPSHOT_H

#include "mica/snapshot.h"
#include "snapshot/snapshot_state.h"

typedef struct micap_snapshot {
    struct micap_snapshot *older;
    uint64_t id;
    micap_undo_log *log;
    micap_saved saved;
} micap_snapshot;

typedef struct micap_snapshots {
    micap_snapshot *newest;
    mica_history *histories;
} micap_snapshots;

/* The snapshots of a world, created on first use; NULL with a report if memory is short. */
micap_snapshots *micap_snapshots_of(mica_world *world);
/* NULL if there is none with this id. */
micap_snapshot *micap_snapshot_find(const mica_world *world, mica_snapshot snapshot);

/* How many snapshots are newer. */
uint32_t micap_snapshot_newer_count(const mica_world *world, mica_snapshot snapshot);

/* Like mica_snapshot_restore, and drops all newer snapshots. */
mica_result micap_snapshot_roll_back(mica_world *world, mica_snapshot snapshot);

/* Whether all components of the world can be copied; false with a report. */
bool micap_can_copy_all(const mica_world *world, const char *what);

#endif
