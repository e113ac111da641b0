/* What only pools can do. */
#include "conformance.h"
#include "parts.h"

static int by_turns(const void *a, const void *b, void *context)
{
    (void)context;
    const Wear *left = a, *right = b;
    return left->turns < right->turns ? -1 : left->turns > right->turns;
}

static void populate(mica_world *world, mica_entity *out_entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        out_entities[i] = mica_create(world, MICA_WITH(Heat, {(float)i}));
        if (i % 2)
            mica_set(world, out_entities[i], Wear, {i * 7 % 31});
        if (i % 3)
            mica_set(world, out_entities[i], Seen, {i});
        if (i % 5)
            mica_add(world, out_entities[i], Hot);
        if (i % 7)
            mica_set(world, out_entities[i], Grain, {(float)i, 1});
    }
}

static void check_arrays(mica_world *world)
{
    mica_pool *heat = mica_pool_of(world, Heat), *grain = mica_pool_of(world, Grain);
    EXPECT(mica_pool_row_count(heat) == mica_pool_count(heat) && mica_pool_owners(heat)[0].index > 0);
    Heat *degrees = mica_pool_write(heat, Heat);
    for (uint32_t i = 0; i < mica_pool_row_count(heat); ++i)
        degrees[i].degrees *= 1.1f;
    EXPECT(mica_pool_read(heat, Heat) == degrees);
    float *x = mica_pool_write_field(grain, Grain, x);
    const float *v = mica_pool_read_field(grain, Grain, v);
    for (uint32_t i = 0; i < mica_pool_row_count(grain); ++i)
        x[i] += v[i] * 0.3f;
    EXPECT(mica_pool_sort(mica_pool_of(world, Wear), by_turns, NULL) == MICA_OK);
    EXPECT(mica_pool_get_stats(heat).row_count == mica_pool_row_count(heat));
    print_hash("pool", 0, mica_world_hash(world));
}

static void check_instances(mica_world *world, mica_entity owner)
{
    mica_pool *items = mica_pool_of(world, Item), *grain = mica_pool_of(world, Grain);
    for (uint32_t i = 0; i < 5; ++i)
        if (i % 2)
            mica_add_instance(world, owner, Item)->kind = i;
        else
            mica_instance_write(items, mica_pool_add(items, owner), Item)->kind = i;
    mica_instance second = mica_pool_next(items, mica_pool_find(items, owner));
    EXPECT(mica_instance_read(items, second, Item)->kind == 1 && mica_same(mica_pool_owner(items, second), owner));
    EXPECT(mica_pool_remove(items, second));
    mica_instance first = mica_pool_find(grain, owner);
    *mica_instance_write_field(grain, first, Grain, v) = 9;
    EXPECT(*mica_instance_read_field(grain, first, Grain, v) == 9);
    mica_query *each = mica_query_create(world, MICA_QUERY_INSTANCES(Item, MICA_READ(Item)));
    EXPECT(mica_query_count(each) == 4);
    mica_query_destroy(each);
}

void check_pools(void)
{
    enum { COUNT = 1500 };
    static mica_entity entities[COUNT];
    mica_world *world = open_world();
    EXPECT(mica_group(world, Heat, Wear) == MICA_OK);
    populate(world, entities, COUNT);
    check_arrays(world);
    check_instances(world, entities[1]);
    for (uint32_t i = 0; i < COUNT; i += 2)
        mica_destroy(world, entities[i]);
    mica_pool *seen = mica_pool_of(world, Seen);
    uint32_t swept = mica_pool_gc(seen, 100);
    print_hash("gc", swept, mica_world_hash(world));
    EXPECT(mica_pool_sweep(seen) > 0 && mica_pool_sweep(seen) == 0);
    EXPECT(mica_flush(world) == MICA_OK);
    print_hash("pool", 1, mica_world_hash(world));
    close_world(world, 0);
}
