/* What is done to one entity: components, singletons, names, hooks, references, and what the world says of itself. */
#include "conformance.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

int32_t owners_alive;

bool owner_construct(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        ((Owner *)values)[i] = (Owner){calloc(4, sizeof(uint32_t)), 0};
    owners_alive += (int32_t)count;
    return true;
}

void owner_destruct(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        free(((Owner *)values)[i].memory);
    owners_alive -= (int32_t)count;
}

bool owner_copy(void *to, const void *from, uint32_t count, void *context)
{
    owner_construct(to, count, context);
    for (uint32_t i = 0; i < count; ++i)
        ((Owner *)to)[i].number = ((const Owner *)from)[i].number;
    return true;
}

void owner_move(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    memcpy(to, from, count * sizeof(Owner));
}

static uint32_t events;

static void count_events(const mica_event *event)
{
    events += event->count << 8 * event->kind;
}

static void check_components(void)
{
    mica_world *world = open_world();
    mica_component location = mica_define(world, Place);
    EXPECT(location && mica_component_find(world, "Place") == location && mica_component_next(world, 0) == location);
    EXPECT(strcmp(mica_component_type(location)->name, "Place") == 0 && MICA_ID(Place) == location);
    EXPECT(mica_type_problem(&mica_type_of_Place) == NULL && mica_type_problem(&(mica_type){0}) != NULL);
    EXPECT(mica_type_layout_hash(&mica_type_of_Place) == mica_component_layout_hash(location));
    EXPECT(mica_type_intern(&mica_type_of_Place) == location);
    print_hash("name", 0, mica_component_name_hash(location));
    print_hash("layout", 0, mica_component_layout_hash(MICA_ID(Being)));

    EXPECT(!mica_singleton_is_used(world, MICA_ID(Total)));
    Total *total = mica_singleton_write(world, Total);
    total->sum = 0.1;
    EXPECT(mica_singleton_get(world, Total) == total && mica_singleton_is_used(world, MICA_ID(Total)));
    print_hash("singleton", 0, mica_world_hash(world));
    close_world(world, 0);
}

static void check_life(void)
{
    mica_world *world = open_world();
    mica_entity one = mica_create(world, MICA_WITH(Place, {1, 2}), MICA_WITH(Shown));
    mica_set(world, one, Count, {7});
    mica_add(world, one, Owner)->number = 3;
    mica_set(world, one, Body, {{1, 2, 3}, 4});
    mica_entity two = mica_clone(world, one);
    EXPECT(owners_alive == 2 && mica_get(world, two, Owner)->number == 3);
    mica_write(world, two, Place)->x = 5;
    EXPECT(mica_get(world, one, Place)->x == 1 && mica_has(world, two, Shown));
    EXPECT(mica_disable(world, one, Count) && !mica_is_enabled(world, one, Count) &&
           mica_is_enabled(world, two, Count));
    EXPECT(*mica_get_field(world, one, Body, at.y) == 2);
    *mica_write_field(world, one, Body, mass) = 6;
    Body whole;
    EXPECT(mica_get_value(world, one, Body, &whole) && whole.mass == 6 && whole.at.z == 3);
    mica_component components[8];
    EXPECT(mica_get_components(world, one, components, 8) == 5);
    EXPECT(mica_remove(world, one, Shown) && !mica_remove(world, one, Shown));
    print_hash("life", 0, mica_world_hash(world));

    mica_ref ref = mica_ref_of(two, Place);
    EXPECT(mica_ref_read(world, &ref, Place)->x == 5);
    mica_remove(world, two, Owner);
    mica_ref_write(world, &ref, Place)->y = 1;
    EXPECT(mica_get(world, two, Place)->y == 1 && mica_destroy(world, one) && owners_alive == 0);
    EXPECT(!mica_is_alive(world, one) && !mica_destroy(world, one)); /* the second is reported */
    EXPECT(mica_world_take_error(world) == MICA_ERROR_DEAD && mica_world_take_error(world) == MICA_OK);
    EXPECT(strcmp(mica_result_text(MICA_ERROR_MEMORY), "out of memory") == 0);
    EXPECT(mica_world_report(world, MICA_ERROR_INVALID, "as expected") == MICA_ERROR_INVALID);
    EXPECT(mica_world_get_stats(world).entity_count == 1 && mica_world_clear(world) == MICA_OK);
    EXPECT(mica_world_get_stats(world).entity_count == 0);
    mica_world_trim(world);
    close_world(world, 2);
}

typedef struct Gear { uint32_t teeth; } Gear;
MICA_COMPONENT_WITH(Gear, (.required = MICA_TYPES(Place, Body, Owner, Heat, Hot, Shown)), teeth)

static void check_required(void)
{
    mica_world *world = open_world();
    mica_entity made = mica_create(world, MICA_WITH(Gear, {12}), MICA_WITH(Place, {3, 4}));
    mica_entity later = mica_create(world);
    mica_set(world, later, Gear, {13});
    mica_defer(world);
    mica_entity recorded = mica_create(world, MICA_WITH(Heat, {5}));
    mica_add(world, recorded, Gear)->teeth = 14;
    EXPECT(mica_flush(world) == MICA_OK && owners_alive == 3);
    EXPECT(mica_get(world, made, Place)->x == 3 && mica_get(world, later, Place)->x == 0);
    EXPECT(mica_get(world, recorded, Heat)->degrees == 5 && mica_has(world, recorded, Hot));
    EXPECT(mica_remove(world, made, Owner) && mica_has(world, made, Gear));
    close_world(world, 0);
}

static void check_names_and_hooks(void)
{
    mica_world *world = open_world();
    events = 0;
    for (uint32_t kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind)
        mica_hook_set(world, Place, (mica_event_kind)kind, count_events, NULL);
    mica_hook_set_destroy(world, count_events, NULL);
    mica_removals *removals = mica_removals_create(world, Place);
    mica_entity station = mica_create(world), door = mica_create(world, MICA_WITH(Place, {1, 1}));
    EXPECT(mica_name_set(world, station, mica_nil(), "station") == MICA_OK);
    EXPECT(mica_name_set(world, door, station, "door") == MICA_OK);
    EXPECT(mica_same(mica_find(world, "station/door"), door) && strcmp(mica_name_get(world, door), "door") == 0);
    EXPECT(mica_same(mica_name_get_scope(world, door), station));
    print_hash("names", 0, mica_world_hash(world));
    mica_destroy(world, door);
    EXPECT(events == 0x01010101);
    mica_entity gone[2];
    EXPECT(mica_removals_read(removals, gone, 2) == 1 && mica_same(gone[0], door));
    EXPECT(mica_removals_missed(removals) == 0);
    mica_removals_destroy(removals);

    mica_world_set_guard(world, NULL, NULL);
    mica_world_seal(world, true);
    EXPECT(mica_is_nil(mica_create(world, MICA_WITH(Place, {0, 0}), MICA_WITH(Speed, {0, 0}))));
    mica_world_seal(world, false);
    close_world(world, 1);
}

void check_entities(void)
{
    check_components();
    check_life();
    check_required();
    check_names_and_hooks();
}
