#include "core/undo/undo_pools.h"

#include "base/assert.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_edges.h"
#include "pool/pool_undo.h"
#include "pool/pool_group.h"

typedef struct pool_state {
    const mica_pool *pool;
    micap_pool_group *group;
    uint32_t group_count;
    uint32_t row_limit;
    uint32_t count;
    uint32_t dead_count;
    uint64_t probe_count;
    uint64_t removed_count;
} pool_state;

struct micap_pools_state {
    size_t bytes;
    uint64_t random_state;
    uint32_t count;
    uint32_t dead_count;
    mica_entity *dead;
    pool_state pools[];
};

micap_pools_state *micap_pools_save(mica_world *world)
{
    const micap_pools *pools = &world->pools;
    size_t dead_at = sizeof(micap_pools_state) + pools->count * sizeof(pool_state);
    size_t bytes = dead_at + pools->dead_count * sizeof *pools->dead;
    micap_pools_state *state = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!state)
        return NULL;
    *state = (micap_pools_state){.bytes = bytes,
                                 .random_state = pools->random_state,
                                 .count = pools->count,
                                 .dead_count = pools->dead_count,
                                 .dead = (mica_entity *)(void *)((char *)state + dead_at)};
    if (state->dead_count)
        memcpy(state->dead, pools->dead, state->dead_count * sizeof *state->dead);
    for (uint32_t i = 0; i < pools->count; ++i) {
        const mica_pool *pool = pools->all[i];
        state->pools[i] = (pool_state){.pool = pool,
                                       .group = pool->group,
                                       .group_count = pool->group ? pool->group->count : 0,
                                       .row_limit = pool->row_limit,
                                       .count = pool->count,
                                       .dead_count = pool->dead_count,
                                       .probe_count = pool->probe_count,
                                       .removed_count = pool->removed_count};
    }
    return state;
}

void micap_pools_drop_state(mica_world *world, micap_pools_state *state)
{
    if (state)
        micap_release(&world->memory, state, state->bytes, MICAP_ARRAY_ALIGNMENT);
}

static mica_pool *pool_of(const mica_world *world, const micap_undo_entry *kept)
{
    return micap_pool_of(world, (mica_component)(kept->key >> 32));
}

void micap_pools_save_again(mica_world *world, const micap_undo_entry *kept)
{
    uint32_t part = (uint32_t)kept->key;
    if (kept->kind == MICAP_UNDO_MASKS)
        micap_map_touch(&world->pools.masks, part * MICAP_MAP_BLOCK);
    else if (kept->kind == MICAP_UNDO_MAP)
        micap_map_touch(&pool_of(world, kept)->index, part * MICAP_MAP_BLOCK);
    else if (kept->kind == MICAP_UNDO_TARGETS)
        micap_map_touch(&pool_of(world, kept)->edges->targets, part * MICAP_MAP_BLOCK);
    else if (kept->kind == MICAP_UNDO_BITS)
        micap_pool_save_bit(pool_of(world, kept), part * 64 * 64);
    else
        micap_pool_save_slices(pool_of(world, kept), part * MICA_SLICE_ROWS, 1);
}

static void restore_block(const micap_index *index, const micap_undo_entry *kept)
{
    uint64_t *block = micap_map_at(index, (uint32_t)kept->key * MICAP_MAP_BLOCK);
    MICAP_ASSERT(block, "blocks stay while a snapshot lives");
    memcpy(block, kept->data, kept->bytes);
}

static const pool_state *state_of(const micap_pools_state *state, const mica_pool *pool)
{
    for (uint32_t i = 0; i < state->count; ++i)
        if (state->pools[i].pool == pool)
            return &state->pools[i];
    return NULL;
}

static void restore_counts(mica_pool *pool, const pool_state *old)
{
    static const pool_state none;
    old = old ? old : &none;
    pool->is_shuffled = pool->row_limit != old->row_limit;
    pool->row_limit = old->row_limit;
    pool->count = old->count;
    pool->dead_count = old->dead_count;
    pool->probe_count = old->probe_count;
    pool->removed_count = old->removed_count;
    ++pool->stamp;            /* instances are invalid */
    pool->group = old->group; /* one that was created since is disbanded: it had moved rows */
    if (pool->group)
        pool->group->count = old->group_count;
    micap_pools_update_fast_paths(pool);
}

static void restore_counts_of_all(mica_world *world, const micap_pools_state *state)
{
    micap_pools *pools = &world->pools;
    pools->random_state = state->random_state;
    pools->dead_count = state->dead_count;
    if (state->dead_count) /* the list has never been shorter since */
        memcpy(pools->dead, state->dead, state->dead_count * sizeof *state->dead);
    for (uint32_t i = 0; i < pools->count; ++i)
        restore_counts(pools->all[i], state_of(state, pools->all[i]));
}

typedef void (*kept_fn)(mica_pool *pool, micap_undo_entry *kept);

static void each(const mica_world *world, const micap_undo_entries *kept, micap_undo_kind kind, kept_fn fn)
{
    for (uint32_t i = 0; i < kept->count; ++i) {
        if (kept->all[i]->kind != kind)
            continue;
        mica_pool *pool = pool_of(world, kept->all[i]);
        MICAP_ASSERT(pool, "a pool lives as long as its world");
        fn(pool, kept->all[i]);
    }
}

static void destruct(mica_pool *pool, micap_undo_entry *kept)
{
    micap_pool_destruct_saved(pool, kept);
}

static void restore_bits(mica_pool *pool, micap_undo_entry *kept)
{
    micap_pool_restore_bits(pool, kept);
}

static void restore_map(mica_pool *pool, micap_undo_entry *kept)
{
    restore_block(&pool->index, kept);
}

static void restore_targets(mica_pool *pool, micap_undo_entry *kept)
{
    restore_block(&pool->edges->targets, kept);
}

void micap_pools_restore(mica_world *world, const micap_undo_entries *kept, const micap_pools_state *state)
{
    each(world, kept, MICAP_UNDO_POOL, destruct);
    each(world, kept, MICAP_UNDO_BITS, restore_bits);
    restore_counts_of_all(world, state);
    each(world, kept, MICAP_UNDO_POOL, micap_pool_restore_slice);
    each(world, kept, MICAP_UNDO_MAP, restore_map);
    each(world, kept, MICAP_UNDO_TARGETS, restore_targets);
    for (uint32_t i = 0; i < kept->count; ++i)
        if (kept->all[i]->kind == MICAP_UNDO_MASKS)
            restore_block(&world->pools.masks, kept->all[i]);
    for (uint32_t i = 0; i < world->pools.count; ++i)
        micap_pool_restore_index(world->pools.all[i]);
}

static bool clone_groups(mica_world *to, const mica_world *from)
{
    for (uint32_t i = 0; i < from->pools.group_count; ++i) {
        const micap_pool_group *group = from->pools.groups[i];
        if (!micap_group_is_active(group))
            continue;
        mica_component members[MICA_GROUP_POOLS_MAX];
        for (uint32_t k = 0; k < group->pool_count; ++k)
            members[k] = group->pools[k]->type->id;
        if (mica_group_id(to, members, group->pool_count) != MICA_OK)
            return false;
    }
    return true;
}

/* Which entity is in which pool: the bit of a pool depends on the order of first use, which may differ. */
static bool clone_masks(mica_world *to)
{
    for (uint32_t i = 0; i < to->pools.count; ++i) {
        const mica_pool *pool = to->pools.all[i];
        uint32_t limit = pool->kind == MICAP_POOL_TAG ? pool->present_words * 64 : pool->row_limit;
        for (uint32_t row = micap_pool_next_used(pool, 0); row < limit; row = micap_pool_next_used(pool, row + 1)) {
            uint32_t index = pool->owners ? pool->owners[row].index : row;
            if (pool->owners && !mica_is_alive(to, pool->owners[row]))
                continue;
            if (!micap_map_reserve(&to->pools.masks, index))
                return false;
            uint64_t *mask = micap_map_at(&to->pools.masks, index);
            MICAP_ASSERT(mask, "it was reserved");
            *mask |= (uint64_t)1 << pool->bit;
        }
    }
    return true;
}

bool micap_pools_clone(mica_world *to, const mica_world *from)
{
    for (uint32_t i = 0; i < from->pools.count; ++i)
        if (!micap_pool_clone(micap_pool_of(to, from->pools.all[i]->type->id), from->pools.all[i]))
            return false;
    to->pools.random_state = from->pools.random_state;
    if (!MICAP_RESERVE(&to->memory, to->pools.dead, &to->pools.dead_capacity, from->pools.dead_count))
        return false;
    to->pools.dead_count = from->pools.dead_count;
    if (to->pools.dead_count)
        memcpy(to->pools.dead, from->pools.dead, to->pools.dead_count * sizeof *to->pools.dead);
    if (!clone_masks(to))
        return false;
    for (uint32_t i = 0; i < to->pools.count; ++i) /* edges are removed with their targets, which needs masks */
        if (to->pools.all[i]->edges && !micap_pools_attach_targets(to, to->pools.all[i]))
            return false;
    return clone_groups(to, from);
}
