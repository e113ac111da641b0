/* The snapshots of a world: for each a log of what changed since (base/undo_log.h), and a copy of what there is one of.
 *
 *     snapshot.c   taking, restoring, dropping        state.c    what is copied when one is taken
 *     history.c    the last ticks                     clone.c    a world like another */
#ifndef MICAP_SNAPSHOT_SNAPSHOT_H
#define MICAP_SNAPSHOT_SNAPSHOT_H

#include "core/undo/copy_on_write.h"
#include "mica/snapshot.h"

/* Handles that a buffer of commands has in stock. */
typedef struct micap_saved_stock {
    uint64_t buffer; /* its serial */
    mica_entity *handles;
    uint32_t count;
    uint32_t taken_count;
} micap_saved_stock;

typedef struct micap_saved_singleton {
    mica_component component;
    void *value; /* NULL: it was not there, and is listed for what is ready */
    void *ready; /* what is put back, of a component with functions of its own */
} micap_saved_singleton;

/* When a query was last asked what has changed. */
typedef struct micap_saved_mark {
    uint64_t query_id;
    mica_version mark;
} micap_saved_mark;

/* Entities that lost a component, and that nobody has read yet. */
typedef struct micap_saved_removals {
    uint64_t list; /* its serial */
    mica_entity *entities;
    uint32_t count;
    uint64_t missed;
} micap_saved_removals;

/* What is copied when a snapshot is taken. */
typedef struct micap_saved {
    micap_handles_state handles;
    micap_pools_state *pools;
    micap_saved_stock *stocks;
    uint32_t stock_count;
    uint32_t stock_capacity;
    micap_saved_singleton *singletons;
    uint32_t singleton_count;
    uint32_t singleton_capacity;
    micap_saved_mark *marks;
    uint32_t mark_count;
    uint32_t mark_capacity;
    micap_saved_removals *removals;
    uint32_t removals_count;
    uint32_t removals_capacity;
    uint32_t archetype_count;
    void *modules[MICAP_MODULES]; /* NULL: not there */
} micap_saved;

typedef struct micap_snapshot {
    struct micap_snapshot *older;
    uint64_t id;
    micap_log *log;
    micap_saved saved;
} micap_snapshot;

typedef struct micap_snapshots {
    micap_snapshot *newest;
    mica_history *histories;
} micap_snapshots;

/* Those of a world, made when there are none; NULL with a report. */
micap_snapshots *micap_snapshots_of(mica_world *world);
/* NULL when there is none such. */
micap_snapshot *micap_snapshot_find(const mica_world *world, mica_snapshot snapshot);

/* Gives back the memory of a history, and nothing else. Returns the one behind it. */
mica_history *micap_history_free(mica_history *history);

/* How many were taken later. */
uint32_t micap_snapshot_newer_count(const mica_world *world, mica_snapshot snapshot);

/* The same as mica_snapshot_restore, and drops all that are newer. */
mica_result micap_snapshot_roll_back(mica_world *world, mica_snapshot snapshot);

/* Whether all that is in the world can be copied; a report when not. */
bool micap_can_copy_all(const mica_world *world, const char *what);

/* False when memory is short: nothing is left then. */
bool micap_saved_take(mica_world *world, micap_saved *saved);
void micap_saved_drop(mica_world *world, micap_saved *saved);
/* Makes room, so that putting back can't fail. */
bool micap_saved_prepare(mica_world *world, micap_saved *saved);
/* Puts it back, once entities are what they were. */
void micap_saved_restore(mica_world *world, const micap_saved *saved);

#endif
