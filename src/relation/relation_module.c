/* Relations as a module of a world: what happens to edges when entities are destroyed, copied and hashed.
 *
 *     pool/pool_edges   the table of a relation
 *     edge_lookup       finding, counting and iterating edges
 *     edge_walk         what edges lead to, over other entities
 *     edge_change       one change, made now or by a flush
 *     relate            the public functions that change edges */
#include "base/assert.h"
#include "base/hash.h"
#include "core/commands/command_buffer.h"
#include "core/storage/pool_lookup.h"
#include "core/world/report.h"
#include "core/world/world_hash.h"
#include "mica/relation.h"
#include "relation/edge_change.h"
#include "relation/fast_change.h"

/* Edges of an entity that is about to be destroyed, as the target. Those to nil and to the dead are in no list. */
static void leave_target(mica_world *world, mica_pool *pool, mica_entity target)
{
    mica_target_policy policy = pool->type->type.on_target;
    bool stays = policy == MICA_TARGET_KEEP || pool->edges->waits; /* what waits is settled when it is linked */
    bool is_fast = micap_edges_change_fast(world, pool);
    uint32_t row = micap_edges_first(pool, target);
    if (row != MICAP_ROW_NONE && policy == MICA_TARGET_DESTROY && !stays)
        micap_edge_doom_sources(world, pool, row);
    for (; row != MICAP_ROW_NONE; row = micap_edges_first(pool, target)) {
        if (stays)
            micap_edges_unlink(pool, row);
        else if (is_fast)
            micap_edge_remove_fast(world, pool, row, pool->owners[row], target);
        else
            micap_pools_remove_instance(world, pool, row);
    }
}

static void leave_targets(mica_world *world, void *state, const mica_entity *entities, uint32_t count)
{
    (void)state;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        for (uint32_t k = 0; world->pools.all[i]->edges && k < count; ++k)
            if (micap_is_attached(&world->attachments, entities[k].index)) /* or it is no target */
                leave_target(world, world->pools.all[i], entities[k]);
}

static const char *find_refusal(mica_world *world, void *state, mica_entity entity)
{
    (void)state;
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        const mica_pool *pool = world->pools.all[i];
        if (pool->edges && pool->type->type.on_target == MICA_TARGET_REFUSE && !pool->edges->waits &&
            micap_edges_first(pool, entity) != MICAP_ROW_NONE)
            return pool->type->type.name;
    }
    return NULL;
}

/* The copy of an entity if it is one of those that were copied, else itself. The list is as long as a cloned tree: an edge in a tree of
 * n entities costs a search in it. */
typedef struct copies {
    const mica_entity *from;
    const mica_entity *to;
    uint32_t *slots; /* by index of `from`: position + 1 */
    uint32_t slot_count;
    uint32_t count;
} copies;

static uint32_t slot_of(const copies *list, mica_entity entity)
{
    uint32_t mask = list->slot_count - 1, slot = entity.index * 0x9e3779b9u & mask;
    while (list->slots[slot] && !mica_same(list->from[list->slots[slot] - 1], entity))
        slot = (slot + 1) & mask;
    return slot;
}

static mica_entity copy_of(const copies *list, mica_entity entity)
{
    uint32_t position = list->slots[slot_of(list, entity)];
    return position ? list->to[position - 1] : entity;
}

/* An edge of an entity that is copied: hooks of the edges before it may remove it, or move its row. */
typedef struct copied_edge {
    mica_entity target;
    uint32_t row;
} copied_edge;

enum { COPIED_ON_STACK = 16 };

static void list_edges(const mica_pool *pool, uint32_t first, uint32_t count, copied_edge *out)
{
    uint32_t row = first;
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = (copied_edge){micap_edge_target(pool, row), row};
        row = pool->next[row];
    }
    MICAP_ASSERT(row == MICAP_ROW_NONE, "all edges of an entity are counted");
}

static bool copy_edge(mica_world *world, const mica_pool *pool, mica_entity from, copied_edge edge, mica_entity to,
                      mica_entity target)
{
    uint32_t row = edge.row;
    if (MICAP_UNLIKELY(row >= pool->row_limit || !mica_same(pool->owners[row], from) ||
                       !mica_same(micap_edge_target(pool, row), edge.target)))
        row = micap_edges_find(pool, from, edge.target);
    if (row == MICAP_ROW_NONE)
        return true;
    mica_value fields = {pool->type->id, pool->edges->target_offset,
                         pool->edges->target_offset ? micap_pool_value(pool, row) : NULL};
    return mica_relate_with_id(world, to, fields, target) || micap_failure(world) != MICA_ERROR_MEMORY;
}

/* Whether an edge to this entity can be copied: not if it is dead, or if the clone is recorded after its destruction. */
static bool is_lasting(mica_world *world, mica_entity target)
{
    return mica_is_alive(world, target) &&
           !(world->recording_depth && micap_recording_destroys(world, &micap_recorder(world)->recording, target));
}

/* Copies the edges that the entity has now, except those that hooks remove before it is their turn. */
static bool copy_edges(mica_world *world, const mica_pool *pool, const copies *list, uint32_t position)
{
    mica_entity from = list->from[position], to = list->to[position];
    bool is_monogamous = pool->type->type.symmetric && pool->type->type.exclusive, fine = true;
    copied_edge few[COPIED_ON_STACK], *edges = few;
    uint32_t count = micap_edges_from(pool, from);
    size_t bytes = count * sizeof *edges;
    if (count > COPIED_ON_STACK && !(edges = micap_allocate(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT)))
        return micap_fail_memory(world, "clone"), false;
    list_edges(pool, micap_pool_row(pool, from), count, edges);
    for (uint32_t i = 0; fine && i < count; ++i) {
        mica_entity target = copy_of(list, edges[i].target);
        if (!is_lasting(world, target) || !mica_is_alive(world, to) ||
            (is_monogamous && mica_same(edges[i].target, target)))
            continue; /* edges to the dead are not copied, nor what would take a partner away */
        fine = copy_edge(world, pool, from, edges[i], to, target);
    }
    if (edges != few)
        micap_release(&world->memory, edges, bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

static bool copy_all(mica_world *world, void *state, const mica_entity *from, const mica_entity *to, uint32_t count)
{
    (void)state;
    copies list = {.from = from, .to = to, .slot_count = 2, .count = count};
    while (list.slot_count < 2 * count)
        list.slot_count *= 2;
    size_t bytes = list.slot_count * sizeof *list.slots;
    list.slots = micap_allocate_zeroed(&world->memory, bytes, MICAP_ARRAY_ALIGNMENT);
    if (!list.slots)
        return micap_fail_memory(world, "clone"), false;
    for (uint32_t i = 0; i < count; ++i)
        list.slots[slot_of(&list, from[i])] = i + 1;
    bool fine = true;
    for (uint32_t i = 0; i < world->pools.count; ++i)
        for (uint32_t k = 0; fine && world->pools.all[i]->edges && k < count; ++k)
            fine = copy_edges(world, world->pools.all[i], &list, k);
    micap_release(&world->memory, list.slots, bytes, MICAP_ARRAY_ALIGNMENT);
    return fine;
}

/* Everything that a program sees of an edge: not its rank, which depends on the history. */
static void hash_edge(const mica_pool *pool, uint32_t row, micap_hasher *hasher)
{
    const mica_type *type = &pool->type->type;
    const char *value = micap_pool_value(pool, row);
    for (uint32_t i = 0; i < type->field_count; ++i)
        if (i != 1)
            micap_hash_field(hasher, &type->fields[i], value + type->fields[i].offset);
}

/* The edges of each source in their order, then the sources of each target in theirs, by rising index. */
static uint64_t hash_pool(const mica_pool *pool)
{
    micap_hasher hasher;
    micap_hasher_init(&hasher);
    micap_hasher_integer(&hasher, pool->type->name_hash, 8);
    for (uint32_t i = 0; i < pool->index.page_count << MICAP_MAP_PAGE_SHIFT; ++i) {
        uint32_t row = micap_map_row_at(&pool->index, i);
        if (row == MICAP_ROW_NONE)
            continue;
        micap_hash_entity(&hasher, pool->owners[row]);
        for (; row != MICAP_ROW_NONE; row = pool->next[row])
            hash_edge(pool, row, &hasher);
    }
    const micap_index *targets = &pool->edges->targets;
    for (uint32_t i = 0; i < targets->page_count << MICAP_MAP_PAGE_SHIFT; ++i) {
        uint32_t row = micap_map_row_at(targets, i);
        if (row == MICAP_ROW_NONE)
            continue;
        micap_hasher_integer(&hasher, i, 4);
        for (; row != MICAP_ROW_NONE; row = pool->links[row].next)
            micap_hash_entity(&hasher, pool->owners[row]);
    }
    return micap_hasher_finish(&hasher);
}

static void hash_edges(const mica_world *world, const void *state, micap_hasher *hasher)
{
    (void)state;
    uint64_t sum = 0;
    bool is_any = false;
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        if (!world->pools.all[i]->edges || !world->pools.all[i]->count)
            continue;
        sum += hash_pool(world->pools.all[i]);
        is_any = true;
    }
    if (is_any)
        micap_hasher_integer(hasher, sum, 8);
}

static bool fail_check(const mica_world *world, const mica_pool *pool, uint32_t row, const char *what)
{
    micap_fail(world, MICA_ERROR_INVALID, (mica_location){0}, "broken invariant: relation %s, row %u: %s",
               pool->type->type.name, row, what);
    return false;
}

/* The pool itself is checked by the core. */
static bool check_edge(const mica_world *world, const mica_pool *pool, uint32_t row)
{
    const mica_type *type = &pool->type->type;
    mica_entity target = micap_edge_target(pool, row);
    bool may_dangle = type->on_target == MICA_TARGET_KEEP;
    if (!may_dangle && !mica_is_nil(target) &&
        !mica_is_alive(world, target)) /* nil: an entity that a replica does not have */
        return fail_check(world, pool, row, "the target of an edge is alive");
    if (mica_same(target, pool->owners[row]))
        return fail_check(world, pool, row, "an entity is not related to itself");
    if (type->exclusive && pool->next[row] != MICAP_ROW_NONE)
        return fail_check(world, pool, row, "a source of an exclusive relation has one edge");
    if (micap_edge_is_linked(pool, row) && micap_edges_find(pool, pool->owners[row], target) != row)
        return fail_check(world, pool, row, "two entities have one edge");
    return true;
}

static bool validate_edges(mica_world *world, void *state)
{
    (void)state;
    for (uint32_t i = 0; i < world->pools.count; ++i) {
        const mica_pool *pool = world->pools.all[i];
        for (uint32_t row = 0; pool->edges && row < pool->row_limit; ++row)
            if (!check_edge(world, pool, row))
                return false;
    }
    return true;
}

const micap_module_ops micap_relation_ops = {
    .destroying = leave_targets,
    .refuses = find_refusal,
    .copied = copy_all,
    .hash = hash_edges,
    .validate = validate_edges,
};
