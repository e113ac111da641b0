/* One component in every way it can be kept: in chunks, or in pools of each index and way to die, whole or split, for one
 * or for many instances. Tests of pools run over the table; a value is made from one number and can be checked against it. */
#ifndef MICA_TESTS_SUPPORT_VARIANTS_H
#define MICA_TESTS_SUPPORT_VARIANTS_H

#include "mica/mica.h"

typedef struct Item {
    uint32_t number;
    uint8_t low; /* followed by padding */
    double square;
    struct {
        float x, y, z;
    } at;
} Item;

typedef struct variant {
    mica_storage storage; /* chunk or pool */
    mica_pool_index index;
    mica_dying dying;
    bool split;
    bool many;
    bool traits; /* can be toggled, and remembers when it was added and written */
} variant;

/* Every variant that makes sense, those of chunks first. */
enum { VARIANTS_CHUNK = 4 };
extern const variant variants[];
extern const uint32_t variant_count;

/* "pool hash lazy split", for messages. */
const char *variant_name(const variant *variant);

/* The id of the Item kept that way; `letter` tells several of one variant apart. */
mica_component variant_component(const variant *variant, char letter);

Item item_of(uint32_t number);
bool item_holds(const Item *item, uint32_t number);

/* A value for a call. Lives as long as the item. */
static inline mica_value item_value(mica_component component, const Item *item)
{
    mica_value value = {component, sizeof *item, item};
    return value;
}

/* The number of an entity's (first) Item, whole or split, read the short way and checked; UINT32_MAX when it has none. */
uint32_t item_number(mica_world *world, mica_entity entity, mica_component component);

#endif
