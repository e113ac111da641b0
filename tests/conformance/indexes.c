/* Indexes, grids and random numbers: the same entities in the same order, and the same bits, everywhere. */
#include "conformance.h"
#include "parts.h"

#include "mica/partition.h"

#include <string.h>

static uint64_t hash_real(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hash_more(hash, bits, 8);
}

static void check_random(mica_world *world)
{
    mica_random random = mica_random_make(7, 3);
    uint64_t hash = HASH_BASIS;
    for (uint32_t i = 0; i < 2000; ++i) {
        hash = hash_real(hash, mica_random_double(&random));
        hash = hash_real(hash, mica_random_normal(&random, 1, 2.5));
        hash = hash_real(hash, mica_random_exponential(&random, 3));
        hash = hash_more(hash, (uint64_t)mica_random_integer(&random, -5, 1000), 8);
        hash = hash_more(hash, (uint64_t)mica_random_integer(&random, INT64_MIN, INT64_MAX / 3), 8);
    }
    uint32_t numbers[50];
    for (uint32_t i = 0; i < 50; ++i)
        numbers[i] = i;
    mica_random_shuffle(&random, numbers, 50, sizeof *numbers);
    for (uint32_t i = 0; i < 50; ++i)
        hash = hash_more(hash, numbers[i], 4);
    for (uint32_t limit = 60; limit < 100000; limit *= 7) {
        EXPECT(mica_random_sample(&random, limit, numbers, 50) == 50);
        for (uint32_t i = 0; i < 50; ++i)
            hash = hash_more(hash, numbers[i], 4);
    }
    random = mica_random_of_world(world);
    print_hash("random", 1, hash_more(hash, mica_random_next(&random), 4));
}

static mica_index *plane;

static void jump(mica_view *view)
{
    Place *place = mica_view_write(view, Place);
    mica_neighbour near[8];
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_random random = mica_random_of_entity(view->frame, view->entities[i]);
        uint32_t count = mica_grid_around(plane, view->entities[i], 2.5, near, 8);
        place[i].x += (float)mica_random_normal(&random, 0, 0.5) + (float)count / 8;
        place[i].y -= count ? (float)near[0].offset.y : 0;
    }
}

static void sum_neighbours(mica_entity entity, const mica_neighbour *neighbours, uint32_t count, void *context)
{
    uint64_t *hash = context;
    *hash = hash_more(*hash, entity.index, 4);
    for (uint32_t i = 0; i < count; ++i)
        *hash = hash_real(hash_more(*hash, neighbours[i].entity.index, 4), neighbours[i].distance_squared);
}

static void check_grid(mica_world *world, uint32_t number)
{
    mica_neighbour near[10];
    mica_entity cell[10];
    uint64_t hash = HASH_BASIS;
    EXPECT(mica_index_update(plane) == MICA_OK);
    mica_grid_loop loop = {.radius = 1.5, .pairs = true, .one_thread = true, .fn = sum_neighbours, .context = &hash};
    EXPECT(mica_grid_each(plane, &loop) == MICA_OK);
    uint32_t count = mica_grid_nearest(plane, (mica_point){50, 50, 0}, near, 10);
    for (uint32_t i = 0; i < count; ++i)
        hash = hash_more(hash, near[i].entity.index, 4);
    hash = hash_more(hash, mica_grid_within(plane, (mica_point){1, 1, 0}, 6, near, 10), 4);
    hash = hash_more(hash, mica_grid_cell(plane, (mica_point){30, 30, 0}, cell, 10), 4);
    print_hash("grid", number, hash_more(hash, mica_world_hash(world), 8));
}

static void check_fields(mica_world *world)
{
    mica_index *index = mica_index_create(
        world, &(mica_index_def){.component = MICA_ID(Place), .fields = "x", .hashed = true, .location = MICA_HERE});
    EXPECT(index && mica_index_update(index) == MICA_OK);
    EXPECT(mica_index_of_field_id(world, MICA_ID(Place), offsetof(Place, x)) == index);
    uint64_t hash = hash_more(HASH_BASIS, mica_index_entity_count(index), 4);
    for (mica_match match = mica_index_range(index, mica_key_real(10), mica_key_integer(40)); mica_match_next(&match);)
        hash = hash_more(hash, match.entity.index, 4);
    hash = hash_more(hash, mica_index_count(index, mica_key_natural(5), (mica_key){0}), 4);
    EXPECT(mica_is_nil(mica_find_by(index, mica_key_real(1e9))));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Place)));
    mica_entity entity = mica_query_first(query), agents[100];
    mica_write(world, entity, Place)->x = 1e9f;
    EXPECT(mica_index_refresh(index, entity) == MICA_OK);
    EXPECT(mica_same(mica_find_by(index, mica_key_real(1e9)), entity));
    mica_random random = mica_random_make(1, 1);
    hash = hash_more(hash, mica_query_shuffled(query, &random, agents, 100), 4);
    for (uint32_t i = 0; i < 100; ++i)
        hash = hash_more(hash, agents[i].index, 4);
    for (mica_partition part = mica_partitions_by_index(index, (mica_key){0}, mica_key_real(20));
         mica_partition_next(&part);)
        while (mica_member_next(&part))
            hash = hash_more(hash_real(hash, part.key.as.real), part.entity.index, 4);
    print_hash("index", 1, hash);
    mica_index *owners = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Being), .fields = "friend"});
    mica_create(world, MICA_WITH(Being, {.friend = entity}));
    EXPECT(mica_index_update(owners) == MICA_OK && !mica_is_nil(mica_find_by(owners, mica_key_entity(entity))));
    mica_index_destroy(index);
}

void check_indexes(uint32_t worker_count)
{
    mica_world *world = open_world();
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = worker_count;
    flow.seed = 11;
    EXPECT(mica_flow_configure(world, &flow) == MICA_OK);
    mica_random random = mica_random_make(3, 4);
    for (uint32_t i = 0; i < 4000; ++i)
        mica_create(world, MICA_WITH(Place, {mica_random_range(&random, 0, 100), mica_random_range(&random, 0, 100)}));
    plane = mica_index_create(
        world,
        &(mica_index_def){
            .component = MICA_ID(Place), .fields = "x, y", .cell_size = 2.5, .maximum = {100, 90}, .torus = true});
    mica_system_add(world, MICA_SYSTEM_WITH(jump, (MICA_USES({.index = plane})), MICA_WRITE(Place)));
    for (uint32_t tick = 0; tick < 5; ++tick) {
        EXPECT(mica_step(world, 0.1f) == MICA_OK);
        check_grid(world, tick);
    }
    check_random(world);
    check_fields(world);
    close_world(world, 0);
}
