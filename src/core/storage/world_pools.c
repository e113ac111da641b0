#include "core/storage/world_pools.h"

#include "base/assert.h"
#include "base/hash.h"
#include "core/events/hooks.h"
#include "core/events/removals.h"
#include "core/world/access_check.h"
#include "core/world/report.h"
#include "core/world/world.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"
#include "pool/pool_fast_rows.h"
#include "pool/pool_edge_rows.h"
#include "pool/pool_lists.h"
#include "pool/pool_rows.h"
#include "pool/pool_check.h"
#include "pool/pool_group.h"

static bool list_pool(mica_world *world, uint32_t number)
{
    micap_pools *pools = &world->pools;
    if (!MICAP_RESERVE(&world->memory, pools->all, &pools->capacity, (uint64_t)pools->count + 1) ||
        !MICAP_RESERVE(&world->memory, pools->by_number, &pools->number_capacity, (uint64_t)number + 1))
        return false;
    for (; pools->limit <= number; ++pools->limit)
        pools->by_number[pools->limit] = NULL;
    world->lookup.pools = (const mica_private_pool *const *)(void *)pools->by_number;
    world->lookup.pool_count = pools->limit;
    return true;
}

mica_pool *micap_pools_add(mica_world *world, const micap_type *type)
{
    micap_pools *pools = &world->pools;
    uint32_t number = type->id - MICAP_POOL_IDS;
    mica_pool *pool = list_pool(world, number) ? micap_pool_create(world, &pools->arena, &world->undo, type) : NULL;
    if (!pool)
        return NULL;
    pool->bit = pools->count % 64;
    pool->may_hold_dead = type->type.dying != MICA_DYING_AT_ONCE;
    if (pool->edges)
        pool->edges->is_alive = mica_is_alive;
    if (pool->edges && type->type.parents) {
        pool->edges->elsewhere = &micap_parent_edges;
        world->sees_parents = true;
    }
    if (pool->edges && !world->modules[MICAP_MODULE_RELATION].ops)
        micap_module_set(world, MICAP_MODULE_RELATION, &micap_relation_ops, world);
#ifdef MICA_CHECKED
    pool->check_write = micap_check_pool_write;
#endif
    pools->by_number[number] = pool;
    pools->by_bit[pool->bit] = pool;
    uint32_t at = pools->count++;
    micap_pools_update_fast_paths(pool);
    for (; at && pools->all[at - 1]->type->id > type->id; --at)
        pools->all[at] = pools->all[at - 1];
    pools->all[at] = pool;
    return pool;
}

void micap_pools_free(mica_world *world)
{
    micap_pools *pools = &world->pools;
    for (uint32_t i = 0; i < pools->group_count; ++i)
        micap_release(&world->memory, pools->groups[i], sizeof *pools->groups[i], MICAP_ARRAY_ALIGNMENT);
    for (uint32_t i = 0; i < pools->count; ++i)
        micap_pool_free(pools->all[i]);
    micap_index_free(&pools->masks);
    micap_arena_free(&pools->arena);
    MICAP_RELEASE_ARRAY(&world->memory, pools->groups, pools->group_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, pools->all, pools->capacity);
    MICAP_RELEASE_ARRAY(&world->memory, pools->by_number, pools->number_capacity);
    MICAP_RELEASE_ARRAY(&world->memory, pools->dead, pools->dead_capacity);
}

/* The word of an entity, whose page was reserved. */
static uint64_t *mask_of(const micap_pools *pools, uint32_t entity_index)
{
    return &pools->masks.pages[entity_index >> MICAP_MAP_PAGE_SHIFT][entity_index & (MICAP_MAP_PAGE_ENTRIES - 1)];
}

void micap_pools_leave_mask(mica_world *world, const mica_pool *pool, uint32_t entity_index)
{
    micap_map_touch(&world->pools.masks, entity_index);
    if (world->pools.count <= 64)
        *mask_of(&world->pools, entity_index) &= ~((uint64_t)1 << pool->bit);
}

/* Whether adding and removing rows is a change that views and pointers outside of the pool depend on. */
static inline bool is_seen(const mica_pool *pool)
{
    return MICAP_LIKELY(!pool->edges) || pool->is_queried;
}

bool micap_pools_make_room(mica_world *world, mica_pool *pool, mica_entity entity, uint64_t count)
{
    const char *buffer = pool->buffer;
    bool done = micap_map_reserve(&world->pools.masks, entity.index) && micap_pool_reserve_rows(pool, count) &&
                micap_pool_reserve_entity(pool, entity.index);
    world->structure +=
        pool->buffer != buffer && is_seen(pool); /* pointers to its rows are invalid, also if a later step fails */
    return done;
}

/* Maps have pages; a direct index and the bits of a tag reach to the highest index. */
bool micap_pools_make_room_for_list(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    uint32_t highest = 0, page = UINT32_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        if (entities[i].index >> MICAP_MAP_PAGE_SHIFT == page)
            continue;
        page = entities[i].index >> MICAP_MAP_PAGE_SHIFT;
        if (!micap_pools_make_room(world, pool, entities[i], count))
            return false;
    }
    for (uint32_t i = 1; i < count && pool->present; ++i)
        highest = entities[i].index > entities[highest].index ? i : highest;
    return !highest || micap_pools_make_room(world, pool, entities[highest], count);
}

void micap_pools_evict(mica_world *world, mica_pool *pool, mica_entity entity)
{
    if (MICAP_LIKELY(!pool->may_hold_dead))
        return;
    uint32_t row;
    while ((row = micap_pool_row_at(pool, entity.index)) != MICAP_ROW_NONE &&
           pool->owners[row].generation != entity.generation)
        micap_pools_remove_dead(world, pool, row);
}

uint32_t micap_pools_commit(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint32_t row = micap_pool_next_row(pool, entity);
    micap_pool_append(pool, entity, micap_version(world));
    micap_map_touch(&world->pools.masks, entity.index);
    *mask_of(&world->pools, entity.index) |= (uint64_t)1 << pool->bit;
    world->structure += is_seen(pool);
    if (pool->edges && micap_edge_is_linked(pool, row))
        micap_attach(&world->attachments, micap_edge_target(pool, row).index);
    return pool->group ? micap_pool_row(pool, entity) : row;
}

/* For all targets of a page of the index: where there is a page, there is room for attachments. */
bool micap_pools_make_room_for_target(mica_world *world, mica_pool *pool, mica_entity target)
{
    return micap_attachments_reserve(world, target.index | (MICAP_MAP_PAGE_ENTRIES - 1)) &&
           micap_edges_reserve_target(pool, target.index);
}

bool micap_pools_make_room_for_edge(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target)
{
    if (MICAP_LIKELY(micap_edges_have_room(pool, source, target) && micap_map_at(&world->pools.masks, source.index)))
        return true;
    return micap_pools_make_room(world, pool, source, 1) && micap_pools_make_room_for_target(world, pool, target);
}

uint32_t micap_pools_commit_edge(mica_world *world, mica_pool *pool, mica_entity source, mica_entity target)
{
    uint32_t row = pool->row_limit;
    micap_edges_append(pool, source, true, micap_version(world));
    micap_map_touch(&world->pools.masks, source.index);
    *mask_of(&world->pools, source.index) |= (uint64_t)1 << pool->bit;
    world->structure += is_seen(pool);
    if (MICAP_LIKELY(!pool->edges->waits))
        micap_attach(&world->attachments, target.index);
    return row;
}

bool micap_pools_attach_targets(mica_world *world, const mica_pool *pool)
{
    for (uint32_t row = 0; row < pool->row_limit; ++row) {
        uint32_t index = micap_edge_target(pool, row).index;
        if (!micap_edge_is_linked(pool, row))
            continue;
        if (!micap_attachments_reserve(world, index | (MICAP_MAP_PAGE_ENTRIES - 1)))
            return false;
        micap_attach(&world->attachments, index);
    }
    return true;
}

/* Edges to entities that were destroyed while it waited. */
static void remove_dangling(mica_world *world, mica_pool *pool)
{
    for (uint32_t row = pool->row_limit; row-- > 0;)
        if (!mica_is_nil(micap_edge_target(pool, row)) && !micap_edge_is_linked(pool, row))
            micap_pools_remove_instance(world, pool, row);
}

void micap_pools_relink(mica_world *world)
{
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        mica_pool *pool = world->pools.all[i];
        if (!pool->edges || !pool->edges->waits)
            continue;
        micap_edges_relink(pool, micap_version(world));
        for (uint32_t row = 0; row < pool->row_limit; ++row)
            if (micap_edge_is_linked(pool, row))
                micap_attach(&world->attachments, micap_edge_target(pool, row).index);
        if (pool->type->type.on_target != MICA_TARGET_KEEP)
            remove_dangling(world, pool);
    }
}

void micap_pools_commit_list(mica_world *world, mica_pool *pool, const mica_entity *entities, uint32_t count)
{
    const micap_index masks = world->pools.masks;
    const uint64_t bit = (uint64_t)1 << pool->bit;
    micap_map_touch_list(&masks, entities, count);
    for (uint32_t i = 0; i < count; ++i)
        *micap_map_entry_at(&masks, entities[i].index) |= bit;
    micap_pool_append_list(pool, entities, count, micap_version(world));
    world->structure += count;
}

void micap_pools_run_hook(mica_world *world, mica_event_kind kind, mica_pool *pool, uint32_t row, uint32_t count)
{
    const micap_component *used = micap_component_of(&world->components, pool->type->id);
    const mica_entity *owners = NULL;
    mica_entity owner;
    if (pool->owners) {
        owners = pool->owners + row;
        micap_pool_preserve(pool, row, count); /* the hook may write to the values */
    } else {                                   /* a tag: the row is the index */
        owner = (mica_entity){row, micap_record_generation(*micap_record_at(&world->entities, row))};
        owners = &owner;
    }
    micap_hooks_call(world, kind, used, owners, pool->values ? micap_pool_value(pool, row) : NULL, count);
}

void micap_pools_update_hooks(mica_world *world, mica_component component)
{
    const micap_component *used = micap_component_of(&world->components, component);
    mica_pool *pool = micap_pool_of(world, component);
    pool->hook_mask = (uint8_t)micap_component_awaits(used);
    micap_pools_update_fast_paths(pool);
}

/* Not yet, while the component comes into use. */
static bool meets_rivals(const mica_pool *pool)
{
    const micap_component *used = micap_component_find(&pool->world->components, pool->type->id);
    return used && used->meets_pools;
}

void micap_pools_update_fast_paths(mica_pool *pool)
{
    const mica_type *type = &pool->type->type;
    bool reads_fast = !pool->may_hold_dead && !pool->type->leaves && pool->kind != MICAP_POOL_TAG && !type->parents;
    pool->fast_kind = reads_fast ? pool->kind : MICAP_POOL_TAG;
    pool->changes_fast = !pool->hook_mask && !pool->may_hold_dead && !type->many && !type->toggle &&
                         !type->track_added && !type->track_changed && !pool->type->leaves && pool->type->trivial &&
                         !pool->type->initial && !pool->type->required_count && !meets_rivals(pool);
    if (pool->edges)
        pool->edges->changes_fast = !pool->hook_mask && pool->type->trivial && !pool->type->initial &&
                                    !type->symmetric && !type->parents && !meets_rivals(pool);
    pool->changes_by_map = pool->changes_fast && pool->kind == MICAP_POOL_MAP && !pool->group;
    micap_pools *pools = &pool->world->pools;
    uint64_t bit = (uint64_t)1 << pool->bit;
    pools->fast_bits = pools->count > 64 ? 0 : pool->changes_fast ? pools->fast_bits | bit : pools->fast_bits & ~bit;
}

static void drop_row(mica_world *world, mica_pool *pool, uint32_t row)
{
    if (pool->kind != MICAP_POOL_TAG)
        micap_pool_preserve(pool, row, 1);
    if (MICAP_UNLIKELY(pool->group != NULL)) /* while its value can be moved */
        row = micap_group_leave(pool, row, micap_version(world));
    micap_pool_destruct_value(pool, row);
    micap_pool_drop_row(pool, row, micap_version(world));
    world->structure += is_seen(pool);
}

void micap_pools_remove_row(mica_world *world, mica_pool *pool, uint32_t row)
{
    if (MICAP_UNLIKELY(pool->hook_mask & 1 << MICA_EVENT_REMOVE))
        micap_pools_run_hook(world, MICA_EVENT_REMOVE, pool, row, 1);
    drop_row(world, pool, row);
}

void micap_pools_take_back(mica_world *world, mica_pool *pool, mica_entity entity)
{
    drop_row(world, pool, micap_pool_row(pool, entity));
    micap_pools_leave_mask(world, pool, entity.index);
}

void micap_pools_remove_dead(mica_world *world, mica_pool *pool, uint32_t row)
{
    MICAP_ASSERT(pool->dead_count, "the rows of the dead are counted");
    --pool->dead_count;
    micap_pools_remove_row(world, pool, row);
}

/* Removes all rows of a destroyed entity. */
static void remove_rows_of(mica_world *world, mica_pool *pool, mica_entity dead)
{
    for (uint32_t row; (row = micap_pool_row(pool, dead)) != MICAP_ROW_NONE;)
        micap_pools_remove_dead(world, pool, row);
}

/* Sources are alive: edges are removed before them. */
static void remove_edge(mica_world *world, mica_pool *pool, uint32_t row)
{
    mica_entity source = pool->owners[row];
    bool is_alone = pool->previous[row] == row;
    if (MICAP_UNLIKELY(pool->hook_mask & 1 << MICA_EVENT_REMOVE))
        micap_pools_run_hook(world, MICA_EVENT_REMOVE, pool, row, 1);
    if (MICAP_UNLIKELY(!pool->type->trivial)) {
        micap_pool_preserve(pool, row, 1);
        micap_pool_destruct_value(pool, row);
    }
    micap_edges_drop(pool, row, micap_version(world));
    world->structure += is_seen(pool);
    if (is_alone)
        micap_pools_leave_mask(world, pool, source.index);
}

void micap_pools_remove_instance(mica_world *world, mica_pool *pool, uint32_t row)
{
    if (MICAP_LIKELY(pool->edges)) {
        remove_edge(world, pool, row);
        return;
    }
    mica_entity owner = pool->owners[row];
    micap_pools_remove_row(world, pool, row);
    if (micap_pool_row(pool, owner) == MICAP_ROW_NONE && mica_is_alive(world, owner))
        micap_pools_leave_mask(world, pool, owner.index);
}

bool micap_pools_remove(mica_world *world, mica_pool *pool, mica_entity entity)
{
    uint32_t row = micap_pool_row(pool, entity);
    if (row == MICAP_ROW_NONE)
        return false;
    for (; row != MICAP_ROW_NONE; row = micap_pool_row(pool, entity))
        micap_pools_remove_row(world, pool, row);
    micap_pools_leave_mask(world, pool, entity.index);
    return true;
}

/* Rows that go with the next flush. When there is no memory to remember them, they go at once. */
static void note_dead(mica_world *world, mica_entity entity, uint64_t mask)
{
    micap_pools *pools = &world->pools;
    if (MICAP_RESERVE(&world->memory, pools->dead, &pools->dead_capacity, (uint64_t)pools->dead_count + 1)) {
        pools->dead[pools->dead_count++] = entity;
        return;
    }
    for (uint32_t i = 0; i < pools->count; ++i)
        if (mask >> pools->all[i]->bit & 1 && pools->all[i]->type->type.dying == MICA_DYING_AT_FLUSH)
            remove_rows_of(world, pools->all[i], entity);
}

/* How many rows a destroyed entity still has. The mask alone does not tell: with many pools, several share a bit. */
static uint32_t rows_left(const mica_world *world, const mica_pool *pool, mica_entity entity)
{
    if (world->pools.count <= 64 && !pool->next)
        return 1;
    uint32_t count = 0, row = micap_pool_row(pool, entity);
    for (; row != MICAP_ROW_NONE; row = pool->next ? pool->next[row] : MICAP_ROW_NONE)
        ++count;
    return count;
}

/* All rows in one pass over the bits. */
static MICAP_INLINE void remove_fast(mica_world *world, mica_entity entity, uint64_t mask, bool saves)
{
    micap_pools *pools = &world->pools;
    mica_version version = micap_version(world);
    if (saves)
        micap_map_touch(&pools->masks, entity.index);
    *mask_of(pools, entity.index) = 0;
    ++world->structure;
    for (; mask; mask &= mask - 1)
        micap_pool_remove_present(pools->by_bit[MICAP_TRAILING_ZEROS(mask)], entity, version, saves);
}

void micap_pools_remove_fast(mica_world *world, mica_entity entity, uint64_t mask)
{
    remove_fast(world, entity, mask, false);
}

void micap_pools_remove_many(mica_world *world, const mica_entity *entities, uint32_t count, uint64_t mask)
{
    micap_pools *pools = &world->pools;
    const micap_index masks = pools->masks;
    micap_map_touch_list(&masks, entities, count);
    for (uint32_t i = 0; i < count; ++i)
        *micap_map_entry_at(&masks, entities[i].index) = 0;
    mica_version version = micap_version(world);
    bool is_grouped = false; /* then what happens in one pool depends on the others */
    for (uint64_t bits = mask; bits; bits &= bits - 1)
        is_grouped |= pools->by_bit[MICAP_TRAILING_ZEROS(bits)]->group != NULL;
    for (uint32_t i = 0; is_grouped && i < count; ++i)
        for (uint64_t bits = mask; bits; bits &= bits - 1)
            micap_pool_remove_present(pools->by_bit[MICAP_TRAILING_ZEROS(bits)], entities[i], version, true);
    for (; !is_grouped && mask; mask &= mask - 1)
        micap_pool_remove_list(pools->by_bit[MICAP_TRAILING_ZEROS(mask)], entities, count, version);
    world->structure += count;
}

void micap_pools_entity_dies(mica_world *world, mica_entity entity)
{
    micap_pools *pools = &world->pools;
    uint64_t mask = micap_pools_mask(pools, entity.index);
    if (!mask)
        return;
    if (micap_pools_leave_fast(pools, mask)) {
        remove_fast(world, entity, mask, true);
        return;
    }
    bool at_flush = false;
    for (uint32_t i = 0; i < pools->count; ++i) {
        mica_pool *pool = pools->all[i];
        if (!(mask >> pool->bit & 1))
            continue;
        if (pool->type->type.dying == MICA_DYING_AT_ONCE)
            micap_pools_remove(world, pool, entity);
        else
            pool->dead_count += rows_left(world, pool, entity);
        at_flush |= pool->type->type.dying == MICA_DYING_AT_FLUSH;
    }
    micap_map_touch(&pools->masks, entity.index);
    *mask_of(pools, entity.index) = 0;
    if (at_flush)
        note_dead(world, entity, mask);
}

void micap_pools_entities_die(mica_world *world, const mica_entity *entities, uint32_t count)
{
    const micap_pools *pools = &world->pools;
    for (uint32_t i = 0, run; i < count; i += run) {
        uint64_t mask = micap_pools_mask(pools, entities[i].index);
        for (run = 1; i + run < count && micap_pools_mask(pools, entities[i + run].index) == mask;)
            ++run;
        if (run > 1 && mask && micap_pools_leave_fast(pools, mask))
            micap_pools_remove_many(world, entities + i, run, mask);
        else
            for (uint32_t k = 0; mask && k < run; ++k)
                micap_pools_entity_dies(world, entities[i + k]);
    }
}

void micap_pools_flush(mica_world *world)
{
    micap_pools *pools = &world->pools;
    for (uint32_t i = 0; i < pools->count; ++i) {
        mica_pool *pool = pools->all[i];
        if (pool->type->type.dying != MICA_DYING_AT_FLUSH)
            continue;
        for (uint32_t k = 0; k < pools->dead_count; ++k)
            remove_rows_of(world, pool, pools->dead[k]);
    }
    pools->dead_count = 0;
}

uint32_t micap_pools_sweep(mica_world *world, mica_pool *pool)
{
    uint32_t removed = 0;
    for (uint32_t row = pool->row_limit; pool->dead_count && row-- > 0;) {
        if (row >= pool->row_limit || !micap_pool_has_row(pool, row) || mica_is_alive(world, pool->owners[row]))
            continue;
        micap_pools_remove_dead(world, pool, row);
        ++removed;
    }
    return removed;
}

void micap_pools_clear(mica_world *world)
{
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        mica_pool *pool = world->pools.all[i];
        for (uint32_t row = micap_pool_next_used(pool, 0); pool->count; row = micap_pool_next_used(pool, 0))
            micap_pools_remove_row(world, pool, pool->present ? row : pool->row_limit - 1);
        pool->dead_count = 0;
    }
    world->pools.dead_count = 0;
}

size_t micap_pools_trim(mica_world *world)
{
    size_t given = 0;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        micap_pools_sweep(world, world->pools.all[i]);
    if (world->undo.before) /* snapshots may need again what is unused now */
        return 0;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        given += micap_pool_trim(world->pools.all[i]);
    world->structure += given != 0;
    given += micap_map_trim(&world->pools.masks);
    micap_arena_trim(&world->pools.arena);
    return given;
}

uint32_t micap_pools_components_of(const mica_world *world, mica_entity entity, mica_component *out, uint32_t capacity)
{
    const micap_pools *pools = &world->pools;
    uint64_t mask = micap_pools_mask(pools, entity.index);
    uint32_t count = 0;
    for (uint32_t i = 0; mask && i < pools->count; ++i) {
        const mica_pool *pool = pools->all[i];
        if (!(mask >> pool->bit & 1) || micap_pooled_row(world, pool, entity) == MICAP_ROW_NONE)
            continue;
        if (count < capacity)
            out[count] = pool->type->id;
        ++count;
    }
    return count;
}

static const char *check_row(const mica_world *world, const mica_pool *pool, uint32_t row, uint32_t *dead)
{
    bool alive = micap_is_row(micap_locate(world, pool->owners[row]));
    *dead += !alive;
    if (alive && !(micap_pools_mask(&world->pools, pool->owners[row].index) >> pool->bit & 1))
        return "an owner has the bit of the pool";
    if (pool->changed && pool->changed[row] > micap_version(world))
        return "nothing was written after now";
    if (pool->changed && pool->changed[row] > micap_pool_stamps(pool, row)[0] &&
        pool->changed[row] > *micap_pool_marked(pool, row))
        return "a row that was written lies in a slice that was";
    return pool->added && pool->added[row] > micap_version(world) ? "nothing was added after now" : NULL;
}

static const char *check_stamps(const mica_world *world, const mica_pool *pool)
{
    for (uint32_t row = 0; row < pool->row_limit; row += MICA_SLICE_ROWS)
        for (uint32_t i = 0; i <= pool->data_lane_count; ++i)
            if (micap_stamp_version(micap_pool_stamps(pool, row)[i]) > micap_version(world))
                return "a stamp is not newer than the world";
    for (uint32_t row = 0; row < pool->row_limit; row += MICA_SLICE_ROWS)
        for (uint32_t i = 1; i <= pool->data_lane_count; ++i)
            if ((micap_pool_stamps(pool, row)[i] >= MICAP_STAMP_TRACKED) != (pool->changed != NULL))
                return "stamps say whether the pool is tracked";
    return NULL;
}

static const char *check_tags(const mica_world *world, const mica_pool *pool)
{
    uint32_t limit = pool->present_words * 64;
    for (uint32_t i = micap_pool_next_used(pool, 0); i < limit; i = micap_pool_next_used(pool, i + 1))
        if (micap_record_chunk(*micap_record_at(&world->entities, i)) <= MICAP_CHUNK_PENDING)
            return "a tag is held by the living";
    return NULL;
}

static const char *check_pool(const mica_world *world, const mica_pool *pool)
{
    const char *problem = micap_pool_check(pool);
    if (!problem)
        problem = pool->kind == MICAP_POOL_TAG ? check_tags(world, pool) : check_stamps(world, pool);
    uint32_t dead = 0;
    for (uint32_t row = 0; !problem && row < pool->row_limit; ++row)
        if (micap_pool_has_row(pool, row))
            problem = check_row(world, pool, row, &dead);
    return !problem && dead != pool->dead_count ? "the rows of the dead are counted" : problem;
}

/* Whether all bits of an entity are those of pools it is in. */
static bool is_true_mask(const micap_pools *pools, uint64_t mask, uint32_t entity_index)
{
    for (uint32_t i = 0; i < pools->count; ++i)
        if (mask >> pools->all[i]->bit & 1 && micap_pool_row_at(pools->all[i], entity_index) == MICAP_ROW_NONE)
            return false;
    return true;
}

static bool masks_are_true(const micap_pools *pools)
{
    if (pools->count > 64) /* they share bits, which may tell too much */
        return true;
    for (uint32_t page = 0; page < pools->masks.page_count; ++page)
        for (uint32_t i = 0; i < MICAP_MAP_PAGE_ENTRIES; ++i) {
            uint64_t mask = pools->masks.pages[page][i];
            if (mask && !is_true_mask(pools, mask, page << MICAP_MAP_PAGE_SHIFT | i))
                return false;
        }
    return true;
}

const char *micap_pools_check(const mica_world *world, const mica_pool **out_pool)
{
    *out_pool = NULL;
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        const char *problem = check_pool(world, world->pools.all[i]);
        *out_pool = world->pools.all[i];
        if (problem)
            return problem;
    }
    return masks_are_true(&world->pools) ? NULL : "an entity has the bits of pools it is in";
}
