/* What is copied when a snapshot is taken: everything of which a world has one or few, and that no undo log saves. */
#ifndef MICAP_SNAPSHOT_SNAPSHOT_STATE_H
#define MICAP_SNAPSHOT_SNAPSHOT_STATE_H

#include "core/undo/restore.h"

/* Handles that a command buffer has in stock. */
typedef struct micap_saved_stock {
    uint64_t buffer; /* its serial */
    mica_entity *handles;
    uint32_t count;
    uint32_t taken_count;
} micap_saved_stock;

typedef struct micap_saved_singleton {
    mica_component component;
    void *value; /* NULL: it was not in use, and is listed for `ready` */
    void *ready; /* a copy to be moved into place, for types that are not trivial */
} micap_saved_singleton;

/* The mark of a query that asks what changed. */
typedef struct micap_saved_mark {
    uint64_t query_id;
    mica_version mark;
} micap_saved_mark;

/* Entities in a list of removals that were not read yet. */
typedef struct micap_saved_removals {
    uint64_t list; /* its serial */
    mica_entity *entities;
    uint32_t count;
    uint64_t missed;
} micap_saved_removals;

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
    void *modules[MICAP_MODULES]; /* NULL: the module was not in use */
} micap_saved;

/* Copies the state of a world. False if memory is short: nothing is left allocated. */
bool micap_saved_take(mica_world *world, micap_saved *saved);
void micap_saved_drop(mica_world *world, micap_saved *saved);
/* Allocates what restoring needs, so that it can't fail; false if memory is short. */
bool micap_saved_prepare(mica_world *world, micap_saved *saved);
/* Restores it, after entities and values. */
void micap_saved_restore(mica_world *world, const micap_saved *saved);

#endif
