/* Text and lists in components: travellers with names, things they carry, and the places they have seen. Nothing is freed here: the world
 * owns all of it, and a snapshot brings it back. */
#include "mica/flow.h"
#include "mica/snapshot.h"

#include <stdio.h>

typedef struct Item { mica_text name; uint32_t count; } Item;
MICA_STRUCT(Item, name, count)

typedef struct Traveller { mica_text name; mica_list inventory, places, scores; } Traveller;
MICA_COMPONENT(Traveller, name, (inventory, Item), (places, mica_text), (scores, float))

static void carry(Traveller *traveller, const char *name, uint32_t count)
{
    Item *item = mica_list_append(&traveller->inventory, Item);
    if (!item)
        return; /* out of memory */
    mica_text_set(&item->name, name);
    item->count = count;
}

static void show(const mica_world *world, mica_entity entity)
{
    const Traveller *traveller = mica_get(world, entity, Traveller);
    const Item *items = mica_list_items(&traveller->inventory, Item);
    printf("%s carries", mica_text_get(&traveller->name));
    for (uint32_t i = 0; i < mica_list_count(&traveller->inventory); ++i)
        printf(" %u %s%s", items[i].count, mica_text_get(&items[i].name),
               i + 1 < mica_list_count(&traveller->inventory) ? "," : "");
    const mica_text *places = mica_list_items(&traveller->places, mica_text);
    printf("; has seen");
    for (uint32_t i = 0; i < mica_list_count(&traveller->places); ++i)
        printf(" %s", mica_text_get(&places[i]));
    const float *scores = mica_list_items(&traveller->scores, float);
    float sum = 0;
    for (uint32_t i = 0; i < mica_list_count(&traveller->scores); ++i)
        sum += scores[i];
    printf("; scores %g in all\n", sum);
}

/* Runs in parallel: each traveller has its own lists. */
static void travel(mica_view *view)
{
    Traveller *travellers = mica_view_write(view, Traveller);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_list_add(&travellers[i].places, mica_text, mica_text_of("Novaya-Zemlya-Harbour"));
        mica_list_add(&travellers[i].scores, float, 1.5f, 2);
    }
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_system_add(world, MICA_SYSTEM(travel, MICA_WRITE(Traveller)));

    mica_entity anna = mica_create(world, MICA_WITH(Traveller, {.name = mica_text_of("Anna")}));
    Traveller *traveller = mica_write(world, anna, Traveller);
    carry(traveller, "rope", 1);
    carry(traveller, "a very old map of the northern islands", 1);
    carry(traveller, "apple", 12);
    mica_step(world, 1);

    mica_entity twin = mica_clone(world, anna); /* shares the lists until one of the two writes */
    traveller = mica_write(world, twin, Traveller);
    mica_text_append(&traveller->name, "'s twin sister Margarethe");
    mica_list_remove(&traveller->inventory, Item, 1);
    mica_list_write(&traveller->inventory, Item)[1].count = 6;
    show(world, anna);
    show(world, twin);

    mica_snapshot before = mica_snapshot_take(world);
    mica_list_clear(&mica_write(world, anna, Traveller)->inventory, Item);
    mica_destroy(world, twin);
    mica_step(world, 1);
    show(world, anna);
    mica_snapshot_restore(world, before);
    show(world, anna);
    show(world, twin);
    mica_world_destroy(world);
}
