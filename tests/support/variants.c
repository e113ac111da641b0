#include "variants.h"
#include "require.h"

#include <stdio.h>
#include <string.h>

typedef struct Place {
    float x, y, z;
} Place;
MICA_STRUCT(Place, x, y, z)

#define CHUNK(split_, traits_) {.storage = MICA_STORAGE_CHUNK, .split = split_, .traits = traits_}
#define POOL(index_, dying_, split_, many_, traits_)                                                                   \
    {                                                                                                                  \
        .storage = MICA_STORAGE_POOL, .index = MICA_INDEX_##index_, .dying = MICA_DYING_##dying_, .split = split_,      \
        .many = many_, .traits = traits_                                                                               \
    }
#define POOL_DYING(index, split, many, traits)                                                                         \
    POOL(index, AT_ONCE, split, many, traits), POOL(index, AT_FLUSH, split, many, traits),                             \
        POOL(index, LAZILY, split, many, traits)
#define POOL_ONE(index)                                                                                                \
    POOL_DYING(index, false, false, false), POOL_DYING(index, true, false, false),                                     \
        POOL_DYING(index, false, false, true), POOL_DYING(index, true, false, true)
#define POOL_MANY(index)                                                                                               \
    POOL_DYING(index, false, true, false), POOL_DYING(index, true, true, false), POOL_DYING(index, false, true, true)

const variant variants[] = {
    CHUNK(false, false), CHUNK(false, true), CHUNK(true, false), CHUNK(true, true), POOL_ONE(MAP),
    POOL_ONE(DIRECT),    POOL_ONE(HASH),     POOL_MANY(MAP),     POOL_MANY(HASH),
};
const uint32_t variant_count = sizeof variants / sizeof *variants;

const char *variant_name(const variant *variant)
{
    static const char *const indices[] = {"map", "direct", "hash"}, *const ways[] = {"at once", "at flush", "lazily"};
    static char name[96];
    bool pool = variant->storage == MICA_STORAGE_POOL;
    snprintf(name, sizeof name, "%s %s %s%s%s%s", pool ? "pool" : "chunk", pool ? indices[variant->index] : "",
             pool ? ways[variant->dying] : "", variant->split ? " split" : "", variant->many ? " many" : "",
             variant->traits ? " traits" : "");
    return name;
}

mica_component variant_component(const variant *variant, char letter)
{
    static const mica_field fields[] = {
        {.name = "number", .offset = offsetof(Item, number), .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32},
        {.name = "low", .offset = offsetof(Item, low), .element_bytes = 1, .count = 1, .kind = MICA_KIND_U8},
        {.name = "square", .offset = offsetof(Item, square), .element_bytes = 8, .count = 1, .kind = MICA_KIND_F64},
        {.name = "at", .type = &mica_type_of_Place, .offset = offsetof(Item, at), .element_bytes = 12, .count = 1},
    };
    char name[112];
    snprintf(name, sizeof name, "Item %c %s", letter, variant_name(variant));
    mica_type type = {.name = name, .fields = fields, .field_count = 4, .size_bytes = sizeof(Item)};
    type.alignment = _Alignof(Item);
    type.kind = MICA_KIND_STRUCT;
    type.storage = variant->storage;
    type.index = variant->index;
    type.dying = variant->dying;
    type.split = variant->split;
    type.many = variant->many;
    type.toggle = type.track_added = type.track_changed = variant->traits;
    mica_component component = mica_type_intern(&type);
    REQUIRE_SAYING(component, "%s", name);
    return component;
}

Item item_of(uint32_t number)
{
    Item item;
    memset(&item, 0, sizeof item);
    item.number = number;
    item.low = (uint8_t)number;
    item.square = (double)number * number;
    item.at.x = (float)(number % 1000);
    item.at.y = (float)(number % 77);
    item.at.z = -(float)(number % 13);
    return item;
}

bool item_holds(const Item *item, uint32_t number)
{
    Item wanted = item_of(number);
    return item->number == wanted.number && item->low == wanted.low && item->square == wanted.square &&
           item->at.x == wanted.at.x && item->at.y == wanted.at.y && item->at.z == wanted.at.z;
}

uint32_t item_number(mica_world *world, mica_entity entity, mica_component component)
{
    Item item;
    bool there = mica_get_value_id(world, entity, component, &item);
    REQUIRE(there == mica_has_id(world, entity, component));
    if (mica_component_type(component)->split) {
        const float *z = mica_get_field_id(world, entity, component, offsetof(Item, at.z));
        REQUIRE((z != NULL) == there && (!there || *z == item.at.z));
    } else {
        const Item *whole = mica_get_id(world, entity, component);
        REQUIRE((whole != NULL) == there && (!there || memcmp(whole, &item, sizeof item) == 0));
    }
    REQUIRE(!there || item_holds(&item, item.number));
    return there ? item.number : UINT32_MAX;
}
