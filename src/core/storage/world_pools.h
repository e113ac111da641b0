/* The pools of a world, and which entity is in which.
 *
 *     src/pool             the table of one component: rows and index; knows nothing of entities that die, hooks or other pools
 *     world_pools          this file: all pools of a world, and what happens to rows when entities are destroyed
 *     pool_lookup          finds the pool of a component and the row of an entity
 *     core/entity/pool_*   operations on entities: create, add, set, remove, and the public functions of pools
 *
 * A mask per entity has a bit for each pool it may be in (pools beyond 64 share bits), so that destroying an entity visits only
 * these pools. A world without pools has no masks. */
#ifndef MICAP_CORE_STORAGE_WORLD_POOLS_H
#define MICAP_CORE_STORAGE_WORLD_POOLS_H

#include "base/assert.h"
#include "core/storage/component.h"
#include "pool/pool.h"

typedef struct micap_pools {
    mica_pool **by_number; /* component id - MICAP_POOL_IDS; NULL where the world does not use it */
    uint32_t limit;
    uint32_t number_capacity;
    mica_pool **all; /* by rising component id */
    uint32_t count;
    uint32_t capacity;
    mica_pool *by_bit[64]; /* while there are no more than that, */
    uint64_t fast_bits;    /* and the bits of those whose rows are removed by the fast path; else 0 */
    micap_arena arena;     /* pages of indices and of: */
    micap_index masks;     /* pages of words by entity index: the bits of pools it may be in */
    mica_entity *dead;     /* destroyed since the last flush, with rows in pools that are cleared at the flush */
    uint32_t dead_count;
    uint32_t dead_capacity;
    uint64_t random_state;
    micap_pool_group **groups;
    uint32_t group_count;
    uint32_t group_capacity;
} micap_pools;

/* Makes the pool of a component that the world begins to use; NULL when memory is short. */
mica_pool *micap_pools_add(mica_world *world, const micap_type *type);
void micap_pools_free(mica_world *world);

/* Makes room for `count` instances, and for one of this entity, so that adding it can't fail. */
bool micap_pools_make_room(mica_world *world, mica_pool *pool, mica_entity entity, uint64_t count);
/* The same for one instance of each of these entities. */
bool micap_pools_make_room_for_list(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count);
/* Removes the row that a destroyed entity with the same index still has. */
void micap_pools_evict(mica_world *world, mica_pool *pool, mica_entity entity);

/* Makes room for an edge, so that adding it can't fail. */
bool micap_pools_make_room_for_edge(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target);
/* After that: adds the edge between two living entities whose value was made at micap_pool_next_row. Runs no hooks. Returns its row. */
uint32_t micap_pools_commit_edge(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target);

/* Makes room for a target of a relation, so that linking an edge to it can't fail. */
bool micap_pools_make_room_for_target(mica_world *world, mica_pool *pool, mica_entity target);
/* Marks the targets of all edges of a relation as entities with attachments. False if memory is short. */
bool micap_pools_attach_targets(mica_world *world, const mica_pool *pool);
/* Links the edges of all relations that wait for it, after their values were written. There is room for them and their targets. */
void micap_pools_relink(mica_world *world);

/* After both: adds an instance whose value was made at micap_pool_next_row. Runs no hooks. Returns its row. */
uint32_t micap_pools_commit(mica_world *world, mica_pool *pool, mica_entity entity);

/* The same for many, in a pool with the fast path. Rows of packed pools begin with the next one, in the order of the entities. */
void micap_pools_commit_list(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count);

/* Removes a row whose owner is dead, once it is counted as such. */
void micap_pools_remove_dead(mica_world *world, mica_pool *pool, uint32_t row);

/* Removes one row, one instance of a living entity, or all of them: remove hooks, destructors, the row. False when there
 * was none. */
void micap_pools_remove_row(mica_world *world, mica_pool *pool, uint32_t row);
void micap_pools_remove_instance(mica_world *world, mica_pool *pool, uint32_t row);
bool micap_pools_remove(mica_world *world, mica_pool *pool, mica_entity entity);

/* Removes an instance that the program has not seen, without hooks. */
void micap_pools_take_back(mica_world *world, mica_pool *pool, mica_entity entity);

/* The bits of the pools that an entity may be in: none when it is in none. */
static inline uint64_t micap_pools_mask(const micap_pools *pools, uint32_t entity_index)
{
    uint32_t page = entity_index >> MICAP_MAP_PAGE_SHIFT;
    return page < pools->masks.page_count ? pools->masks.pages[page][entity_index & (MICAP_MAP_PAGE_ENTRIES - 1)] : 0;
}

/* Notes that an entity left a pool. While every pool has a bit of its own, the bits are exact. */
void micap_pools_leave_mask(mica_world *world, const mica_pool *pool, uint32_t entity_index);

/* Whether the rows of an entity with these bits can be removed by the fast path. */
static inline bool micap_pools_leave_fast(const micap_pools *pools, uint64_t mask)
{
    return !(mask & ~pools->fast_bits);
}

/* Removes these rows, if there is no snapshot. */
void micap_pools_remove_fast(mica_world *world, mica_entity entity, uint64_t mask);

/* The same for many entities with the same bits, also while there are snapshots. */
void micap_pools_remove_many(mica_world *world, const mica_entity *entities, uint32_t count, uint64_t mask);

/* Before the row of a dying entity goes: takes it out of its pools, each as it wants. */
MICAP_COLD void micap_pools_entity_dies(mica_world *world, mica_entity entity);

/* The same for many, one after the other. */
void micap_pools_entities_die(mica_world *world, const mica_entity *entities, uint32_t count);

/* Clears what died since the last flush. */
void micap_pools_flush(mica_world *world);
/* Removes all rows of the dead from a pool; returns how many. */
uint32_t micap_pools_sweep(mica_world *world, mica_pool *pool);
/* Removes everything from all pools. */
void micap_pools_clear(mica_world *world);
size_t micap_pools_trim(mica_world *world);

/* Computes which fast paths a pool has, after a hook or a group was added or removed. */
void micap_pools_update_fast_paths(mica_pool *pool);

/* Updates hook_mask after hooks or lists of removals were set. */
void micap_pools_update_hooks(mica_world *world, mica_component component);

/* The hook of a run of rows, and the list of removals. */
void micap_pools_run_hook(mica_world *world, mica_event_kind kind, mica_pool *pool, uint32_t row, uint32_t count);

/* The components an entity has in pools, by rising id; returns how many there are. */
uint32_t micap_pools_components_of(const mica_world *world, mica_entity entity, mica_component *out, uint32_t capacity);

/* The first broken invariant, and a pool that knows of it, or NULL. */
const char *micap_pools_check(const mica_world *world, const mica_pool **out_pool);

#endif
