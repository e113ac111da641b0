/* Indexes find entities by the value of a field: the goods of a shop by number, by price and by owner. */
#include "mica/index.h"
#include "mica/mica.h"

#include <stdio.h>

typedef struct Item { uint32_t number; float price; mica_entity owner; } Item;
MICA_COMPONENT(Item, number, price, owner)

static void report(const mica_report *report, void *context)
{
    (void)context;
    printf("report: %s\n", report->text);
}

static void print_range(const mica_world *world, const mica_index *index, mica_key low, mica_key high)
{
    for (mica_match match = mica_index_range(index, low, high); mica_match_next(&match);) {
        const Item *item = mica_get(world, match.entity, Item);
        printf("  number %u for %.2f\n", item->number, item->price);
    }
}

int main(void)
{
    mica_world_def def = mica_world_def_default();
    def.report = report;
    mica_world *world = mica_world_create(&def);
    mica_index *by_number = mica_index_create(
        world, &(mica_index_def){.component = MICA_ID(Item), .fields = "number", .hashed = true, .unique = true});
    mica_index *by_price = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Item), .fields = "price"});
    mica_index *by_owner = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Item), .fields = "owner"});

    mica_entity anna = mica_create(world), ben = mica_create(world);
    for (uint32_t i = 0; i < 8; ++i)
        mica_create(world, MICA_WITH(Item, {100 + i, (float)(i * 5 % 8) + 0.5f, i % 3 ? anna : ben}));
    mica_index_update(by_number);
    mica_index_update(by_price);
    mica_index_update(by_owner);

    mica_entity lamp = mica_find_by(by_number, mica_key_integer(103));
    printf("number 103 costs %.2f\n", mica_get(world, lamp, Item)->price);
    printf("from 2 to 5:\n");
    print_range(world, by_price, mica_key_real(2), mica_key_real(5));
    printf("ben has %u:\n", mica_index_count(by_owner, mica_key_entity(ben), mica_key_entity(ben)));
    print_range(world, by_owner, mica_key_entity(ben), mica_key_entity(ben));

    mica_write(world, lamp, Item)->price = 3;
    mica_index_update(by_price); /* looks only at what was written */
    printf("up to 3, now that the lamp is cheaper:\n");
    print_range(world, by_price, (mica_key){0}, mica_key_real(3));

    mica_create(world, MICA_WITH(Item, {105, 1, anna}));
    printf("a second number 105: %s\n", mica_result_text(mica_index_update(by_number)));
    mica_world_destroy(world);
    return 0;
}
