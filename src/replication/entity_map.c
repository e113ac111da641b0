#include "replication/entity_map.h"

#include "base/bits.h"
#include "base/hash.h"
#include "core/world/world.h"

static uint32_t start_of(const micap_entity_map *twins, uint32_t index)
{
    return (uint32_t)micap_hash_mix(index) & (twins->capacity - 1);
}

micap_twin *micap_entity_map_find(const micap_entity_map *twins, mica_entity key)
{
    if (!twins->count || mica_is_nil(key))
        return NULL;
    for (uint32_t at = start_of(twins, key.index);; at = (at + 1) & (twins->capacity - 1)) {
        micap_twin *twin = &twins->entries[at];
        if (mica_is_nil(twin->key))
            return NULL;
        if (mica_same(twin->key, key))
            return twin;
    }
}

micap_twin *micap_entity_map_at(const micap_entity_map *twins, uint32_t index)
{
    if (!twins->count)
        return NULL;
    for (uint32_t at = start_of(twins, index);; at = (at + 1) & (twins->capacity - 1)) {
        micap_twin *twin = &twins->entries[at];
        if (mica_is_nil(twin->key))
            return NULL;
        if (twin->key.index == index)
            return twin;
    }
}

static void put(micap_twin *entries, uint32_t capacity, const micap_twin *twin)
{
    uint32_t at = (uint32_t)micap_hash_mix(twin->key.index) & (capacity - 1);
    while (!mica_is_nil(entries[at].key))
        at = (at + 1) & (capacity - 1);
    entries[at] = *twin;
}

bool micap_entity_map_reserve(mica_world *world, micap_entity_map *twins, uint32_t more)
{
    uint64_t needed = ((uint64_t)twins->count + more) * 2 + 16;
    if (needed <= twins->capacity)
        return true;
    uint64_t grown = micap_power_of_two_at_least(needed);
    micap_twin *fresh = NULL;
    if (grown <= UINT32_MAX)
        fresh = micap_allocate_zeroed(&world->memory, grown * sizeof *fresh, MICAP_ARRAY_ALIGNMENT);
    if (!fresh)
        return false;
    for (uint32_t i = 0; i < twins->capacity; ++i)
        if (!mica_is_nil(twins->entries[i].key))
            put(fresh, (uint32_t)grown, &twins->entries[i]);
    MICAP_RELEASE_ARRAY(&world->memory, twins->entries, twins->capacity);
    twins->entries = fresh;
    twins->capacity = (uint32_t)grown;
    return true;
}

void micap_entity_map_add(micap_entity_map *twins, const micap_twin *twin)
{
    put(twins->entries, twins->capacity, twin);
    ++twins->count;
}

/* Entries after it move up if the gap would end their search too early. */
void micap_entity_map_erase(micap_entity_map *twins, mica_entity key)
{
    const micap_twin *twin = micap_entity_map_find(twins, key);
    uint32_t mask = twins->capacity - 1, hole = (uint32_t)(twin - twins->entries);
    for (uint32_t at = (hole + 1) & mask; !mica_is_nil(twins->entries[at].key); at = (at + 1) & mask) {
        uint32_t start = start_of(twins, twins->entries[at].key.index);
        if (((at - start) & mask) < ((at - hole) & mask))
            continue;
        twins->entries[hole] = twins->entries[at];
        hole = at;
    }
    twins->entries[hole] = (micap_twin){0};
    --twins->count;
}
