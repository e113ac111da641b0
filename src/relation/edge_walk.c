#include "relation/edge_walk.h"

enum { FIRST_ROOM = 32 };

/* Entities that were met, in order, and a table that finds them in it. Small walks need no allocation. */
typedef struct visited {
    micap_memory *memory;
    uint32_t count;
    uint32_t capacity; /* the table has twice as many slots */
    uint32_t *table;   /* by index: position in the order + 1; 0 is empty */
    mica_entity *entities;
} visited;

static uint32_t slot_of(const visited *met, uint32_t index)
{
    uint32_t mask = met->capacity * 2 - 1, slot = index * 0x9e3779b9u & mask;
    while (met->table[slot] && met->entities[met->table[slot] - 1].index != index)
        slot = (slot + 1) & mask;
    return slot;
}

static size_t bytes_of(uint32_t capacity)
{
    return capacity * (sizeof(mica_entity) + 2 * sizeof(uint32_t));
}

static void place_room(visited *met, void *room, uint32_t capacity)
{
    met->entities = room;
    met->table = (uint32_t *)(void *)(met->entities + capacity);
    met->capacity = capacity;
    memset(met->table, 0, 2 * (size_t)capacity * sizeof *met->table);
}

static void release_room(const visited *met)
{
    if (met->capacity > FIRST_ROOM)
        micap_release(met->memory, met->entities, bytes_of(met->capacity), MICAP_ARRAY_ALIGNMENT);
}

static bool grow(visited *met)
{
    void *room = micap_allocate(met->memory, bytes_of(met->capacity * 2), MICAP_ARRAY_ALIGNMENT);
    if (!room)
        return false;
    visited old = *met;
    place_room(met, room, old.capacity * 2);
    memcpy(met->entities, old.entities, old.count * sizeof *old.entities);
    for (uint32_t i = 0; i < met->count; ++i)
        met->table[slot_of(met, met->entities[i].index)] = i + 1;
    release_room(&old);
    return true;
}

/* False if memory is short. */
static bool visit(visited *met, mica_entity entity)
{
    uint32_t slot = slot_of(met, entity.index);
    if (met->table[slot])
        return true;
    if (met->count == met->capacity) {
        if (!grow(met))
            return false;
        slot = slot_of(met, entity.index);
    }
    met->entities[met->count++] = entity;
    met->table[slot] = met->count;
    return true;
}

/* Visits what the edges of an entity lead to; YES if that is the goal. */
static micap_reach visit_targets(const mica_pool *pool, visited *met, mica_entity entity, mica_entity goal)
{
    for (uint32_t row = micap_pool_row(pool, entity); row != MICAP_ROW_NONE; row = pool->next[row]) {
        mica_entity target = micap_edge_target(pool, row);
        if (mica_same(target, goal))
            return MICAP_REACH_YES;
        if (!visit(met, target))
            return MICAP_REACH_UNKNOWN;
    }
    uint32_t row = pool->type->type.symmetric ? micap_edges_first(pool, entity) : MICAP_ROW_NONE;
    for (; row != MICAP_ROW_NONE; row = pool->links[row].next) {
        if (mica_same(pool->owners[row], goal))
            return MICAP_REACH_YES;
        if (!visit(met, pool->owners[row]))
            return MICAP_REACH_UNKNOWN;
    }
    return MICAP_REACH_NO;
}

/* Every entity has one way to go. */
static micap_reach follow(const mica_pool *pool, mica_entity from, mica_entity to)
{
    uint32_t row = micap_pool_row(pool, from);
    for (uint32_t steps = 0; row != MICAP_ROW_NONE && steps < pool->count; ++steps) {
        mica_entity target = micap_edge_target(pool, row);
        if (mica_same(target, to))
            return MICAP_REACH_YES;
        row = micap_pool_row(pool, target);
    }
    return MICAP_REACH_NO;
}

micap_reach micap_edges_reach(const mica_pool *pool, mica_entity from, mica_entity to)
{
    const mica_type *type = &pool->type->type;
    if (!type->symmetric &&
        (micap_edges_first(pool, to) == MICAP_ROW_NONE || micap_pool_row(pool, from) == MICAP_ROW_NONE))
        return MICAP_REACH_NO; /* nothing leads there, or away from here */
    if (type->exclusive && !type->symmetric)
        return follow(pool, from, to);
    _Alignas(MICAP_ARRAY_ALIGNMENT) char room[FIRST_ROOM * (sizeof(mica_entity) + 2 * sizeof(uint32_t))];
    visited met = {.memory = pool->memory};
    place_room(&met, room, FIRST_ROOM);
    visit(&met, from);
    micap_reach reach = MICAP_REACH_NO;
    for (uint32_t i = 0; reach == MICAP_REACH_NO && i < met.count; ++i)
        reach = visit_targets(pool, &met, met.entities[i], to);
    release_room(&met);
    return reach;
}
