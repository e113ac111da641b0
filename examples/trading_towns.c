/* Towns trade with the towns of their region, and regions with each other. Partitions visit entities of equal key together: towns by the
 * region that they are located in, which is a relation, and by their wealth class, which is an indexed field. */
#include "mica/mica.h"
#include "mica/name.h"
#include "mica/partition.h"

#include <stdio.h>

typedef struct Town { int32_t grain, cloth; } Town;
MICA_COMPONENT(Town, grain, cloth)
typedef struct Wealth { int32_t class; } Wealth; /* 0: poor, 1: modest, 2: rich */
MICA_COMPONENT(Wealth, class)
MICA_RELATION_WITH(LocatedIn, (.exclusive = true))

enum { TOWNS_MAX = 16, DAYS = 3 };

static mica_entity add_region(mica_world *world, const char *name)
{
    mica_entity region = mica_create(world);
    mica_name_set(world, region, mica_nil(), name);
    return region;
}

static mica_entity add_town(mica_world *world, mica_entity region, const char *name, int32_t grain, int32_t cloth)
{
    mica_entity town = mica_create(world, MICA_WITH(Town, {grain, cloth}), MICA_WITH(Wealth, {0}));
    mica_name_set(world, town, mica_nil(), name);
    mica_relate(world, town, LocatedIn, region);
    return town;
}

/* The towns of a region share what they have: each gives what it has more than the mean to those that have less. */
static void trade_within(mica_world *world, mica_partition *region)
{
    mica_entity towns[TOWNS_MAX];
    int32_t grain = 0, cloth = 0;
    uint32_t count = 0;
    while (count < TOWNS_MAX && mica_member_next(region)) {
        const Town *town = mica_get(world, region->entity, Town);
        towns[count++] = region->entity;
        grain += town->grain;
        cloth += town->cloth;
    }
    for (uint32_t i = 0; i < count; ++i) {
        Town *town = mica_write(world, towns[i], Town);
        int32_t part = (int32_t)(count - i); /* what can't be divided goes to the last ones */
        town->grain = grain / part;
        town->cloth = cloth / part;
        grain -= town->grain;
        cloth -= town->cloth;
    }
}

/* Caravans bring two sacks of grain from each region to the next one, for two bales of cloth. */
static void trade_between(mica_world *world)
{
    mica_entity before = mica_nil();
    for (mica_partition region = mica_partitions_by_target_id(world, MICA_ID(LocatedIn));
         mica_partition_next(&region);) {
        mica_member_next(&region); /* the market is in the first town */
        if (!mica_is_nil(before)) {
            Town *seller = mica_write(world, before, Town), *buyer = mica_write(world, region.entity, Town);
            seller->grain -= 2, buyer->grain += 2;
            seller->cloth += 2, buyer->cloth -= 2;
        }
        before = region.entity;
    }
}

static void update_wealth(mica_query *towns)
{
    for (mica_view view = mica_query_begin(towns); mica_view_next(&view);) {
        const Town *town = mica_view_read(&view, Town);
        Wealth *wealth = mica_view_write(&view, Wealth);
        for (uint32_t i = 0; i < view.count; ++i) {
            int32_t goods = town[i].grain + town[i].cloth;
            wealth[i].class = goods < 12 ? 0 : goods < 18 ? 1 : 2;
        }
    }
}

static void print_classes(const mica_world *world, const mica_index *by_class)
{
    static const char *const names[] = {"poor", "modest", "rich"};
    for (mica_partition class = mica_partitions_by_index(by_class, (mica_key){0}, (mica_key){0});
         mica_partition_next(&class);) {
        printf("  %-6s (%u):", names[class.key.as.integer], class.count);
        while (mica_member_next(&class))
            printf(" %s", mica_name_get(world, class.entity));
        printf("\n");
    }
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_entity coast = add_region(world, "coast"), hills = add_region(world, "hills"),
                plain = add_region(world, "plain");
    add_town(world, coast, "Arlen", 2, 20);
    add_town(world, plain, "Borin", 25, 1);
    add_town(world, hills, "Cadal", 4, 3);
    add_town(world, plain, "Dorna", 9, 1);
    mica_entity estel = add_town(world, coast, "Estel", 0, 8);
    add_town(world, hills, "Firth", 8, 2);
    add_town(world, plain, "Gavin", 12, 4);

    mica_index *by_class = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Wealth), .fields = "class"});
    mica_query *towns = mica_query_create(world, MICA_QUERY(MICA_READ(Town), MICA_WRITE(Wealth)));
    for (int day = 1; day <= DAYS; ++day) {
        for (mica_partition region = mica_partitions_by_target_id(world, MICA_ID(LocatedIn));
             mica_partition_next(&region);)
            trade_within(world, &region);
        trade_between(world);
        update_wealth(towns);
        mica_index_update(by_class);
        printf("day %d\n", day);
        print_classes(world, by_class);
    }

    mica_relate(world, estel, LocatedIn, hills); /* the border has moved */
    printf("regions\n");
    for (mica_partition region = mica_partitions_by_target_id(world, MICA_ID(LocatedIn));
         mica_partition_next(&region);) {
        printf("  %s:", mica_name_get(world, region.key.as.entity));
        while (mica_member_next(&region))
            printf(" %s", mica_name_get(world, region.entity));
        printf("\n");
    }
    printf("the rich alone:");
    for (mica_partition rich = mica_partitions_by_index(by_class, mica_key_integer(2), mica_key_integer(2));
         mica_partition_next(&rich);)
        while (mica_member_next(&rich))
            printf(" %s", mica_name_get(world, rich.entity));
    printf("\n");
    mica_world_destroy(world);
    return 0;
}
