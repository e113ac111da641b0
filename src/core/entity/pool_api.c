/* The functions of mica/pool.h: what only pools can do. */
#include "base/argument.h"
#include "core/world/access_check.h"
#include "core/world/callback.h"
#include "core/events/hooks.h"
#include "core/entity/pool_component.h"
#include "core/entity/pool_create.h"
#include "core/entity/required.h"
#include "core/world/report.h"
#include "core/storage/rows.h"
#include "core/storage/pool_lookup.h"
#include "core/world/stale_pointers.h"
#include "pool/pool_undo.h"
#include "pool/pool_sort.h"
#include "pool/pool_group.h"
#include "mica/pool.h"

#include <stdio.h>
#include <stdlib.h>

static const mica_location no_place = {0};
static const mica_instance nil = {0, 0};

mica_pool *mica_pool_of_id(mica_world *world, mica_component component)
{
    if (MICAP_MISSING(NULL, world))
        return NULL;
    const micap_component *used = micap_component_use(world, component);
    if (!used)
        return NULL;
    if (!micap_is_pooled(component)) {
        micap_fail(world, MICA_ERROR_INVALID, no_place,
                   "component %s is not kept in a pool: describe it with MICA_POOL", used->type->type.name);
        return NULL;
    }
    return micap_type_for_entities(world, component) ? micap_pool_of(world, component) : NULL;
}

uint32_t mica_pool_row_count(const mica_pool *pool)
{
    if (MICAP_MISSING(NULL, pool))
        return 0;
    return pool ? pool->row_limit : 0;
}

uint32_t mica_pool_count(const mica_pool *pool)
{
    if (MICAP_MISSING(NULL, pool))
        return 0;
    return pool ? pool->count - pool->dead_count : 0;
}

const mica_entity *mica_pool_owners(const mica_pool *pool)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    return pool ? pool->owners : NULL;
}

static const char is_split[] = "it is split: use the arrays of its fields";

static void fail_array(const mica_pool *pool, const char *why)
{
    micap_fail(pool->world, MICA_ERROR_INVALID, no_place, "pool %s: %s", pool->type->type.name,
               pool->kind == MICAP_POOL_TAG ? "a tag has no values" : why);
}

const void *mica_pool_read_id(const mica_pool *pool)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    if (pool->kind == MICAP_POOL_TAG || pool->type->leaves)
        fail_array(pool, is_split);
    if (pool->edges) {
        fail_array(pool, "edges are no array of their fields: use mica_targets");
        return NULL;
    }
    return pool ? micap_lend_values(pool->world, mica_nil(), pool->type->id, pool->values, pool->row_limit) : NULL;
}

void *mica_pool_write_id(mica_pool *pool)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    void *values = (void *)mica_pool_read_id(pool);
    if (values)
        micap_pool_touch(pool, 0, 0, pool->row_limit, micap_version(pool->world));
    return values;
}

static const micap_pool_column *lane_at(const mica_pool *pool, size_t offset)
{
    const micap_pool_column *lane = pool ? micap_pool_column_at(pool, offset) : NULL;
    if (pool && !lane)
        fail_array(pool, pool->type->leaves ? "no field has an array at that offset" : "it is not split into fields");
    return lane;
}

const void *mica_pool_read_field_id(const mica_pool *pool, size_t offset)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    const micap_pool_column *lane = lane_at(pool, offset);
    return lane ? lane->data : NULL;
}

static void stamp_lane(mica_pool *pool, const micap_pool_column *lane, uint32_t row, uint32_t count)
{
    micap_pool_touch(pool, (uint32_t)(lane - pool->lanes) - 1, row, count, micap_version(pool->world));
}

void *mica_pool_write_field_id(mica_pool *pool, size_t offset)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    const micap_pool_column *lane = lane_at(pool, offset);
    if (!lane)
        return NULL;
    stamp_lane(pool, lane, 0, pool->row_limit);
    return lane->data;
}

static mica_instance instance_at(const mica_pool *pool, uint32_t row)
{
    return row == MICAP_ROW_NONE ? nil : (mica_instance){row + 1, pool->stamp};
}

/* The row of an instance, or MICAP_ROW_NONE. A stale one is a mistake that checked builds stop at; otherwise what lies
 * there now is looked at, if anything does. */
static uint32_t row_of(const mica_pool *pool, mica_instance instance)
{
    if (!pool || mica_instance_is_nil(instance))
        return MICAP_ROW_NONE;
#ifdef MICA_CHECKED
    if (instance.private_stamp != pool->stamp) {
        fprintf(stderr,
                "mica: pool %s: an instance (row %u) was used after rows were added, removed or sorted; look it up "
                "again with mica_pool_find\n",
                pool->type->type.name, instance.private_row - 1);
        abort();
    }
#endif
    uint32_t row = instance.private_row - 1;
    return micap_pool_has_row(pool, row) ? row : MICAP_ROW_NONE;
}

mica_instance mica_pool_find(const mica_pool *pool, mica_entity entity)
{
    if (MICAP_MISSING(NULL, pool))
        return (mica_instance){0};
    return pool && pool->kind != MICAP_POOL_TAG ? instance_at(pool, micap_pooled_row(pool->world, pool, entity)) : nil;
}

mica_instance mica_pool_next(const mica_pool *pool, mica_instance instance)
{
    if (MICAP_MISSING(NULL, pool))
        return (mica_instance){0};
    uint32_t row = row_of(pool, instance);
    return row == MICAP_ROW_NONE || !pool->next ? nil : instance_at(pool, pool->next[row]);
}

mica_entity mica_pool_owner(const mica_pool *pool, mica_instance instance)
{
    if (MICAP_MISSING(NULL, pool))
        return mica_nil();
    uint32_t row = row_of(pool, instance);
    return row == MICAP_ROW_NONE ? mica_nil() : pool->owners[row];
}

/* Whether an instance can be added to the entity; a report when not. */
static bool can_add(mica_pool *pool, mica_entity entity)
{
    mica_world *world = pool->world;
    if (micap_refuse_while_recording(world, "pool_add") != MICA_OK)
        return false;
    if (!micap_is_row(micap_locate(world, entity))) {
        micap_fail_dead(world, entity, "pool_add");
        return false;
    }
    if (!micap_takes_values(world, pool->type, no_place))
        return false;
    if (pool->kind == MICAP_POOL_TAG ||
        (!pool->next && !pool->type->type.many && micap_pool_row(pool, entity) != MICAP_ROW_NONE)) {
        micap_fail(world, MICA_ERROR_EXISTS, no_place, "pool %s: %s", pool->type->type.name,
                   pool->kind == MICAP_POOL_TAG
                       ? "a tag has no instances: use mica_add"
                       : "the entity has an instance already: describe it with .many = true for several");
        return false;
    }
    return true;
}

mica_instance mica_pool_add(mica_pool *pool, mica_entity entity)
{
    if (MICAP_MISSING(NULL, pool))
        return (mica_instance){0};
    if (!pool || !can_add(pool, entity))
        return nil;
    uint32_t row = MICAP_ROW_NONE;
    if (!micap_may_bring(pool->world, pool->type) || micap_pool_row(pool, entity) != MICAP_ROW_NONE)
        row = micap_pooled_add_row(pool->world, pool, entity, NULL);
    else if (micap_add_required(pool->world, entity, pool->type, NULL))
        row = micap_pool_row(pool, entity);
    if (row == MICAP_ROW_NONE)
        return nil;
    if (pool->world->hooks_recorded) { /* what the hook recorded may have moved it */
        uint32_t nth = 0;
        for (uint32_t at = micap_pool_row(pool, entity); at != row; at = pool->next[at])
            ++nth;
        micap_hooks_end(pool->world);
        row = micap_pooled_row(pool->world, pool, entity);
        for (; nth && row != MICAP_ROW_NONE && pool->next; --nth)
            row = pool->next[row];
    }
    return instance_at(pool, row);
}

void *mica_add_instance_id(mica_world *world, mica_entity entity, mica_component component)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world))
        return NULL;
    if (world->recording_depth)
        return mica_command_add_instance_id(micap_recorder(world), entity, component, no_place);
    mica_pool *pool = mica_pool_of_id(world, component);
    if (pool && !pool->type->type.many)
        micap_fail(world, MICA_ERROR_INVALID, no_place,
                   "component %s is not for many instances: describe it with MICA_POOL_WITH and .many = true",
                   pool->type->type.name);
    if (!pool || !pool->type->type.many)
        return NULL;
    mica_instance instance = mica_pool_add(pool, entity);
    if (mica_instance_is_nil(instance))
        return NULL;
    return pool->values ? mica_instance_write_id(pool, instance) : &micap_tag_value;
}

bool mica_pool_remove(mica_pool *pool, mica_instance instance)
{
    MICAP_IMMEDIATE_CHANGE(pool ? pool->world : NULL);
    if (MICAP_MISSING(NULL, pool))
        return false;
    uint32_t row = row_of(pool, instance);
    if (row == MICAP_ROW_NONE)
        return false;
    if (pool->world->recording_depth)
        return micap_command_remove_instance(micap_recorder(pool->world), pool, row);
    micap_pools_remove_instance(pool->world, pool, row);
    micap_hooks_end(pool->world);
    return true;
}

const void *mica_instance_read_id(const mica_pool *pool, mica_instance instance)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    uint32_t row = row_of(pool, instance);
    if (row == MICAP_ROW_NONE)
        return NULL;
    if (pool->values)
        return micap_pool_value(pool, row);
    fail_array(pool, is_split);
    return NULL;
}

void *mica_instance_write_id(mica_pool *pool, mica_instance instance)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    void *value = (void *)mica_instance_read_id(pool, instance);
    if (value)
        micap_pool_touch(pool, 0, instance.private_row - 1, 1, micap_version(pool->world));
    return value;
}

const void *mica_instance_read_field_id(const mica_pool *pool, mica_instance instance, size_t offset)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    uint32_t row = row_of(pool, instance);
    const micap_pool_column *lane = row == MICAP_ROW_NONE ? NULL : lane_at(pool, offset);
    return lane ? lane->data + (size_t)row * lane->bytes : NULL;
}

void *mica_instance_write_field_id(mica_pool *pool, mica_instance instance, size_t offset)
{
    if (MICAP_MISSING(NULL, pool))
        return NULL;
    void *value = (void *)mica_instance_read_field_id(pool, instance, offset);
    if (value)
        stamp_lane(pool, micap_pool_column_at(pool, offset), instance.private_row - 1, 1);
    return value;
}

/* A row from the world's own generator (SplitMix64), without a bias that would matter. */
static uint32_t random_row(mica_world *world, uint32_t row_count)
{
    uint64_t value = world->pools.random_state += 0x9e3779b97f4a7c15ull;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)(((value ^ value >> 31) >> 32) * row_count >> 32);
}

enum { LIVING_IN_A_ROW = 4 };

/* The row in use before one, from the end again when there is none; there are rows. */
static uint32_t row_before(const mica_pool *pool, uint32_t row)
{
    do
        row = row ? row - 1 : pool->row_limit - 1;
    while (row >= pool->row_limit || !micap_pool_has_row(pool, row));
    return row;
}

static uint32_t row_after(const mica_pool *pool, uint32_t row)
{
    do
        row = row + 1 < pool->row_limit ? row + 1 : 0;
    while (!micap_pool_has_row(pool, row));
    return row;
}

/* Looks at one row, and removes it when its owner is dead. */
static bool probe(mica_pool *pool, uint32_t row, uint32_t *budget)
{
    --*budget;
    ++pool->probe_count;
    if (mica_is_alive(pool->world, pool->owners[row]))
        return false;
    micap_pools_remove_dead(pool->world, pool, row);
    ++pool->removed_count;
    return true;
}

/* Looks at the neighbours of a row that was dead, before it and then after it, up to four living in a row. The last row of the
 * pool has filled the hole: it is a neighbour too. */
static void look_around(mica_pool *pool, uint32_t row, uint32_t *budget)
{
    uint32_t at = row, living = 0;
    while (living < LIVING_IN_A_ROW && *budget && pool->dead_count) {
        at = row_before(pool, at);
        living = probe(pool, at, budget) ? 0 : living + 1;
    }
    if (!pool->dead_count)
        return;
    at = row_before(pool, row < pool->row_limit ? row : pool->row_limit);
    living = 0;
    while (living < LIVING_IN_A_ROW && *budget && pool->dead_count) {
        at = row_after(pool, at);
        while (at < pool->row_limit && micap_pool_has_row(pool, at) && *budget && probe(pool, at, budget))
            living = 0; /* another row is in its place */
        ++living;
    }
}

/* Four random rows in a row that live tell that there is nothing to do. Those that die together mostly came together: so the
 * neighbours of a dead row are looked at too, which clears a thousand that died at once in one go instead of waiting
 * for a thousand lucky numbers. */
uint32_t mica_pool_gc(mica_pool *pool, uint32_t budget)
{
    if (MICAP_MISSING(NULL, pool))
        return 0;
    if (!pool || pool->kind == MICAP_POOL_TAG || pool->world->recording_depth)
        return 0;
    uint64_t before = pool->removed_count;
    for (uint32_t living = 0; pool->count && living < LIVING_IN_A_ROW && budget; ++living) {
        uint32_t row = row_before(pool, random_row(pool->world, pool->row_limit) + 1);
        if (!probe(pool, row, &budget))
            continue;
        living = UINT32_MAX; /* none, after the step */
        look_around(pool, row, &budget);
    }
    micap_hooks_end(pool->world);
    return (uint32_t)(pool->removed_count - before);
}

uint32_t mica_pool_sweep(mica_pool *pool)
{
    if (MICAP_MISSING(NULL, pool))
        return 0;
    if (!pool || pool->world->recording_depth)
        return 0;
    uint32_t removed = micap_pools_sweep(pool->world, pool);
    micap_hooks_end(pool->world);
    return removed;
}

mica_result mica_pool_sort(mica_pool *pool, mica_compare_fn compare, void *context)
{
    if (MICAP_MISSING(NULL, pool))
        return MICA_ERROR_INVALID;
    mica_world *world = pool->world;
    mica_result result = micap_refuse_while_recording(world, "pool_sort");
    if (result != MICA_OK)
        return result;
    if (!compare || pool->kind == MICAP_POOL_TAG || pool->kind == MICAP_POOL_DIRECT)
        return micap_fail(
            world, MICA_ERROR_INVALID, no_place,
            "pool %s: it can't be sorted: there must be a compare function, and an index that is not direct",
            pool->type->type.name);
    ++world->structure;
    uint32_t depth = micap_callback_begin(world);
    bool done = micap_pool_sort_rows(pool, compare, context, micap_version(world));
    micap_callback_end(world, depth);
    micap_hooks_end(world);
    return done ? MICA_OK : micap_fail_memory(world, pool->type->type.name);
}

/* Finds the pools of a group; false with a report. */
static bool find_members(mica_world *world, const mica_component *components, uint32_t count, micap_pool_group *group)
{
    if (count < 2 || count > MICA_GROUP_POOLS_MAX) {
        micap_fail(world, MICA_ERROR_LIMIT, no_place, "group: it has %u pools, not 2 to %d", count,
                   MICA_GROUP_POOLS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        mica_pool *pool = mica_pool_of_id(world, components[i]);
        if (!pool)
            return false;
        bool repeated = false;
        for (uint32_t k = 0; k < i; ++k)
            repeated |= group->pools[k] == pool;
        if (repeated || pool->group || pool->kind == MICAP_POOL_TAG || pool->kind == MICAP_POOL_DIRECT ||
            pool->type->type.many) {
            micap_fail(world, MICA_ERROR_INVALID, no_place,
                       "group: %s is named twice, in a group already, or not packed with one instance per entity",
                       pool->type->type.name);
            return false;
        }
        group->pools[group->pool_count++] = pool;
    }
    return true;
}

/* A group of the same pools that a restored snapshot disbanded, or NULL. Snapshots that know it still refer to it. */
static micap_pool_group *find_disbanded(const micap_pools *pools, const micap_pool_group *members)
{
    for (uint32_t i = 0; i < pools->group_count; ++i) {
        micap_pool_group *group = pools->groups[i];
        if (group->pool_count == members->pool_count &&
            memcmp(group->pools, members->pools, members->pool_count * sizeof *members->pools) == 0)
            return group;
    }
    return NULL;
}

static micap_pool_group *add_group(mica_world *world)
{
    micap_pools *pools = &world->pools;
    if (!MICAP_RESERVE(&world->memory, pools->groups, &pools->group_capacity, (uint64_t)pools->group_count + 1))
        return NULL;
    micap_pool_group *group = micap_allocate(&world->memory, sizeof *group, MICAP_ARRAY_ALIGNMENT);
    if (group)
        pools->groups[pools->group_count++] = group;
    return group;
}

mica_result mica_group_id(mica_world *world, const mica_component *components, uint32_t count)
{
    MICAP_IMMEDIATE_CHANGE(world);
    if (MICAP_MISSING(NULL, world) || MICAP_MISSING_ARRAY(world, components, count))
        return MICA_ERROR_INVALID;
    mica_result result = micap_refuse_while_recording(world, "group");
    if (result != MICA_OK)
        return result;
    micap_pool_group members = {0};
    if (!find_members(world, components, count, &members))
        return micap_failure(world);
    micap_pool_group *group = find_disbanded(&world->pools, &members);
    if (!group && !(group = add_group(world)))
        return micap_fail_memory(world, "group");
    *group = members;
    for (uint32_t i = 0; i < count; ++i)
        group->pools[i]->group = group;
    for (uint32_t i = 0; i < count; ++i)
        micap_pools_update_fast_paths(group->pools[i]);
    micap_group_fill(group, micap_version(world));
    ++world->structure;
    return MICA_OK;
}

mica_pool_stats mica_pool_get_stats(const mica_pool *pool)
{
    if (MICAP_MISSING(NULL, pool))
        return (mica_pool_stats){0};
    return (mica_pool_stats){.row_count = pool->row_limit,
                             .row_capacity = pool->capacity,
                             .group_count = pool->group ? pool->group->count : 0,
                             .probe_count = pool->probe_count,
                             .removed_count = pool->removed_count,
                             .memory_bytes = micap_pool_bytes(pool)};
}
