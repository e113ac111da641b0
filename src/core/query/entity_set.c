#include "core/query/entity_set.h"

enum { FIRST_CAPACITY = 16 };

void micap_entity_set_clear(micap_entity_set *set)
{
    if (set->count)
        memset(set->slots, 0, set->slot_capacity * sizeof *set->slots);
    set->count = 0;
}

void micap_entity_set_free(micap_memory *memory, micap_entity_set *set)
{
    MICAP_RELEASE_ARRAY(memory, set->entities, set->capacity);
    MICAP_RELEASE_ARRAY(memory, set->slots, set->slot_capacity);
    *set = (micap_entity_set){0};
}

static uint32_t slot_of(const micap_entity_set *set, mica_entity entity)
{
    uint32_t mask = set->slot_capacity - 1, slot = entity.index * 0x9e3779b9u & mask;
    while (set->slots[slot] && !mica_same(set->entities[set->slots[slot] - 1], entity))
        slot = (slot + 1) & mask;
    return slot;
}

/* Doubles the room for entities and slots. */
static bool grow(micap_memory *memory, micap_entity_set *set)
{
    uint32_t wanted = set->slot_capacity ? set->slot_capacity : FIRST_CAPACITY;
    uint32_t *slots = micap_allocate_zeroed(memory, (size_t)wanted * 2 * sizeof *slots, MICAP_ARRAY_ALIGNMENT);
    if (!slots)
        return false;
    if (!MICAP_RESERVE(memory, set->entities, &set->capacity, wanted)) {
        MICAP_RELEASE_ARRAY(memory, slots, (size_t)wanted * 2);
        return false;
    }
    MICAP_RELEASE_ARRAY(memory, set->slots, set->slot_capacity);
    set->slots = slots;
    set->slot_capacity = wanted * 2;
    for (uint32_t i = 0; i < set->count; ++i)
        set->slots[slot_of(set, set->entities[i])] = i + 1;
    return true;
}

bool micap_entity_set_add(micap_memory *memory, micap_entity_set *set, mica_entity entity)
{
    if (set->count >= set->slot_capacity / 2 && !grow(memory, set))
        return false;
    uint32_t slot = slot_of(set, entity);
    if (set->slots[slot])
        return true;
    set->entities[set->count++] = entity;
    set->slots[slot] = set->count;
    return true;
}

static bool add_targets(micap_entity_set *set, const mica_pool *pool, mica_entity source)
{
    for (uint32_t row = micap_edge_first_from(pool, source); row != MICAP_ROW_NONE;
         row = micap_edge_next_from(pool, row))
        if (!micap_entity_set_add(pool->memory, set, micap_edge_target_at(pool, row)))
            return false;
    return true;
}

static bool add_sources(micap_entity_set *set, const mica_pool *pool, mica_entity target)
{
    for (uint32_t row = micap_edge_first_to(pool, target); row != MICAP_ROW_NONE; row = micap_edge_next_to(pool, row))
        if (!micap_entity_set_add(pool->memory, set, micap_edge_source_at(pool, row)))
            return false;
    return true;
}

bool micap_entity_set_reach(micap_entity_set *set, const mica_pool *pool, mica_entity from, bool is_backward)
{
    bool is_symmetric = pool->type->type.symmetric, done = true;
    micap_entity_set_clear(set);
    for (uint32_t i = 0; done; from = set->entities[i++]) {
        done = (is_backward && !is_symmetric) || add_targets(set, pool, from);
        done = done && ((!is_backward && !is_symmetric) || add_sources(set, pool, from));
        if (i == set->count)
            break;
    }
    return done;
}
