#include "cluster/identity_map.h"

#include "base/assert.h"
#include "base/hash.h"
#include "mica/query.h"
#include "mica/view.h"

#include <string.h>

void micap_identity_map_free(micap_identity_map *map)
{
    MICAP_RELEASE_ARRAY(map->memory, map->slots, map->slot_capacity);
    MICAP_RELEASE_ARRAY(map->memory, map->created, map->created_capacity);
    *map = (micap_identity_map){.memory = map->memory, .world = map->world};
}

void micap_identity_map_forget(micap_identity_map *map)
{
    map->is_built = false;
}

/* The slot of an identity, or the empty one where it would be. */
static micap_identity_slot *slot_of(const micap_identity_map *map, uint64_t identity)
{
    uint32_t mask = map->slot_capacity - 1, at = (uint32_t)micap_hash_mix(identity) & mask;
    MICAP_ASSERT(map->slots, "a map is asked when it has slots");
    while (map->slots[at].identity && map->slots[at].identity != identity)
        at = (at + 1) & mask;
    return &map->slots[at];
}

/* Makes room for one more. */
static bool grow(micap_identity_map *map)
{
    if (((uint64_t)map->count + 1) * 2 <= map->slot_capacity)
        return true;
    uint32_t capacity = map->slot_capacity ? map->slot_capacity * 2 : 64;
    micap_identity_map wider = *map;
    wider.slots = micap_allocate_zeroed(map->memory, capacity * sizeof *wider.slots, MICAP_ARRAY_ALIGNMENT);
    wider.slot_capacity = capacity;
    if (!wider.slots)
        return false;
    for (uint32_t i = 0; i < map->slot_capacity; ++i)
        if (map->slots && map->slots[i].identity)
            *slot_of(&wider, map->slots[i].identity) = map->slots[i];
    MICAP_RELEASE_ARRAY(map->memory, map->slots, map->slot_capacity);
    *map = wider;
    return true;
}

bool micap_identity_map_note(micap_identity_map *map, uint64_t identity, mica_entity entity)
{
    if (!grow(map))
        return false;
    micap_identity_slot *slot = slot_of(map, identity);
    map->count += !slot->identity;
    *slot = (micap_identity_slot){identity, entity};
    return true;
}

static bool build(micap_identity_map *map)
{
    if (map->is_built)
        return true;
    if (map->slots)
        memset(map->slots, 0, map->slot_capacity * sizeof *map->slots);
    map->count = 0;
    mica_term terms[] = {{.component = MICA_ID(mica_identity), .access = MICA_ACCESS_READ}};
    mica_query *query =
        mica_query_create(map->world, &(mica_query_def){.terms = terms, .term_count = 1, .with_hidden = true});
    bool done = query != NULL;
    if (query)
        for (mica_view view = mica_query_begin(query); mica_view_next(&view);) {
            const mica_identity *identities = mica_view_read_at(&view, 0);
            for (uint32_t i = 0; i < view.count && done; ++i)
                done = !identities[i].value || micap_identity_map_note(map, identities[i].value, view.entities[i]);
        }
    mica_query_destroy(query);
    return map->is_built = done;
}

mica_entity micap_identity_map_find(micap_identity_map *map, uint64_t identity)
{
    if (!build(map) || !map->count)
        return mica_nil();
    const micap_identity_slot *slot = slot_of(map, identity);
    return slot->identity && mica_is_alive(map->world, slot->entity) ? slot->entity : mica_nil();
}

mica_entity micap_identity_map_require(micap_identity_map *map, uint64_t identity)
{
    mica_entity entity = micap_identity_map_find(map, identity);
    if (!mica_is_nil(entity) || !map->is_built ||
        !MICAP_RESERVE(map->memory, map->created, &map->created_capacity, (uint64_t)map->created_count + 1))
        return entity;
    mica_identity own = {identity};
    mica_value values[] = {{MICA_ID(mica_identity), sizeof own, &own}, {MICA_ID(mica_remote), 0, NULL}};
    entity = mica_create_id(map->world, values, 2);
    if (mica_is_nil(entity) || !micap_identity_map_note(map, identity, entity))
        return mica_nil();
    map->created[map->created_count++] = identity;
    return entity;
}
