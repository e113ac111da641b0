/* Prefabs: instances are made from a tree of entities, and follow it field by field, except where they were changed. */
#include "mica/hierarchy.h"
#include "mica/mica.h"
#include "mica/prefab.h"

#include <stdio.h>

typedef struct Health { float points, armor; } Health;
MICA_COMPONENT(Health, points, armor)
typedef struct Gun { float damage; mica_entity mount; } Gun;
MICA_COMPONENT(Gun, damage, mount)
typedef struct Radar { float range; } Radar;
MICA_COMPONENT(Radar, range)

static void show(mica_world *world, const char *name, mica_entity tank)
{
    const Health *health = mica_get(world, tank, Health);
    mica_entity turret = mica_prefab_part(world, tank, "turret");
    const Gun *gun = mica_get(world, turret, Gun);
    printf("%s: %g points, armor %g, gun with %g damage%s, radar: %s\n", name, health->points, health->armor,
           gun->damage, mica_same(gun->mount, tank) ? " on its own hull" : "",
           mica_is_nil(mica_prefab_part(world, tank, "turret/radar")) ? "no" : "yes");
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity tank = mica_create(world, MICA_WITH(Health, {100, 5}));
    mica_entity turret = mica_create_child(world, tank, MICA_WITH(Gun, {2, tank}));
    mica_name_child(world, turret, "turret");
    mica_prefab_create(world, tank, NULL);

    mica_entity one = mica_prefab_spawn(world, tank, NULL);
    mica_entity two = mica_prefab_spawn(world, tank, NULL);
    mica_entity copy = mica_prefab_spawn(world, tank, &(mica_prefab_spawn_def){.is_copy = true});
    mica_write(world, one, Health)->points = 50; /* an override */
    mica_query *tanks = mica_query_create(world, MICA_QUERY(MICA_HAS(Health)));
    printf("%u tanks\n", (unsigned)mica_query_count(tanks)); /* without the prefab */

    mica_write(world, tank, Health)->points = 120; /* the prefab is edited like any entity */
    mica_write(world, tank, Health)->armor = 7;
    mica_write(world, turret, Gun)->damage = 3;
    mica_name_child(world, mica_create_child(world, turret, MICA_WITH(Radar, {10})), "radar");
    mica_reload_stats stats;
    mica_prefab_update(world, tank, NULL, &stats);
    printf("created %u, updated %u, kept %u\n", stats.created_count, stats.updated_count, stats.kept_count);
    show(world, "one", one);
    show(world, "two", two);
    show(world, "copy", copy);
    mica_world_destroy(world);
    return 0;
}
