/* Saving at large: random worlds with everything in them, files that are written a buffer at a time, and what it takes. */
#include "support/faulty_allocator.h"
#include "support/level.h"
#include "support/random.h"
#include "support/reports.h"
#include "support/require.h"
#include "support/test.h"

#include "mica/hierarchy.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef struct Burning { float seconds; mica_entity by; } Burning;
typedef struct Item { uint32_t kind; mica_entity maker; } Item;
typedef struct Hunter { mica_entity prey; float speed; } Hunter;
MICA_POOL(Burning, seconds, by)
MICA_POOL_WITH(Item, (.many = true), kind, maker)
MICA_POOL_TAG(Selected)
MICA_COMPONENT_WITH(Hunter, (.split = true), prey, speed)

/* Larger than a buffer of the writer. */
typedef struct Terrain { float heights[300000]; } Terrain;
MICA_COMPONENT(Terrain, heights)

enum { CROWD = 400 };

/* What a random world is made of, besides components. */
typedef enum trait {
    LINKS = 1,
    NAMES = 2,
    POOLS = 4,
} trait;

static void define_all(mica_world *world)
{
    level_define(world);
    mica_define(world, Padded);
    mica_define(world, Burning);
    mica_define(world, Item);
    mica_define(world, Hunter);
    mica_define(world, Selected);
}

static void give_components(mica_world *world, random_source *random, mica_entity entity, mica_entity other)
{
    uint32_t number = random_u32(random);
    if (!random_one_in(random, 4))
        mica_set(world, entity, Position, {(float)(number % 1000), 1, 2});
    if (random_one_in(random, 2))
        mica_set(world, entity, Health, {(int32_t)(number % 100), 100});
    if (mica_has(world, entity, Health) && random_one_in(random, 3))
        mica_disable(world, entity, Health);
    if (random_one_in(random, 4))
        mica_set(world, entity, Monster, {.target = other, .friends = {entity, mica_nil()}, .wealth = 3});
    if (random_one_in(random, 4))
        mica_set(world, entity, Padded, {1, number, 3, 4});
    if (random_one_in(random, 4))
        mica_set(world, entity, Hunter, {other, (float)(number % 7)});
    if (random_one_in(random, 2))
        mica_add(world, entity, Frozen);
}

static void give_rows(mica_world *world, random_source *random, mica_entity entity, mica_entity other)
{
    mica_pool *items = mica_pool_of(world, Item);
    if (random_one_in(random, 2))
        mica_set(world, entity, Burning, {(float)random_below(random, 9), other});
    if (random_one_in(random, 3))
        mica_add(world, entity, Selected);
    for (uint32_t i = random_below(random, 3); i > 0; --i)
        *mica_instance_write(items, mica_pool_add(items, entity), Item) = (Item){random_below(random, 99), other};
}

static mica_world *make_world(random_source *random, uint32_t traits, mica_entity *entities)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    define_all(world);
    mica_singleton_write(world, Clock)->ticks = 5;
    for (uint32_t i = 0; i < CROWD; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}));
    for (uint32_t i = 0; i < CROWD; ++i) {
        mica_entity other = entities[random_below(random, CROWD)];
        give_components(world, random, entities[i], other);
        if (traits & POOLS)
            give_rows(world, random, entities[i], other);
        if (traits & LINKS && i && random_one_in(random, 2))
            REQUIRE(mica_set_parent(world, entities[i], entities[random_below(random, i)]) == MICA_OK);
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        if (traits & NAMES && random_one_in(random, 4))
            REQUIRE(mica_name_child(world, entities[i], name) == MICA_OK);
    }
    for (uint32_t i = 0; i < CROWD / 10; ++i) /* references to the dead */
        if (mica_is_alive(world, entities[i * 7]))
            mica_destroy(world, entities[i * 7]);
    return world;
}

static mica_blob pack(mica_world *world, const mica_save_def *def)
{
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, def, &blob), MICA_OK);
    return blob;
}

static void expect_file(const char *path, const mica_blob *blob)
{
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    char *bytes = malloc(blob->byte_count + 1);
    size_t count = fread(bytes, 1, blob->byte_count + 1, file);
    fclose(file);
    ck_assert_uint_eq(count, blob->byte_count);
    ck_assert_msg(memcmp(bytes, blob->bytes, count) == 0, "a file is what mica_pack makes");
    free(bytes);
}

/* What was saved, found again by Number. */
typedef struct restored {
    mica_world *world;
    mica_entity by_number[CROWD];
} restored;

static mica_entity counterpart(const mica_world *world, const restored *copy, mica_entity entity)
{
    return mica_is_alive(world, entity) ? copy->by_number[mica_get(world, entity, Number)->value] : mica_nil();
}

static void expect_entity(mica_world *world, const restored *copy, mica_entity entity, mica_entity same)
{
    mica_component components[16];
    uint32_t count = mica_get_components(world, entity, components, 16);
    REQUIRE(count == mica_get_components(copy->world, same, NULL, 0));
    for (uint32_t i = 0; i < count; ++i)
        REQUIRE(mica_has_id(copy->world, same, components[i]));
    const Position *position = mica_get(world, entity, Position);
    REQUIRE(!position || memcmp(mica_get(copy->world, same, Position), position, sizeof *position) == 0);
    const Monster *monster = mica_get(world, entity, Monster);
    REQUIRE(!monster ||
            mica_same(mica_get(copy->world, same, Monster)->target, counterpart(world, copy, monster->target)));
    const Burning *burning = mica_get(world, entity, Burning);
    REQUIRE(!burning || mica_same(mica_get(copy->world, same, Burning)->by, counterpart(world, copy, burning->by)));
    Hunter here, there;
    if (mica_get_value(world, entity, Hunter, &here)) {
        REQUIRE(mica_get_value(copy->world, same, Hunter, &there) && there.speed == here.speed);
        REQUIRE(mica_same(there.prey, counterpart(world, copy, here.prey)));
    }
    REQUIRE(!mica_has(world, entity, Health) ||
            mica_is_enabled(copy->world, same, Health) == mica_is_enabled(world, entity, Health));
    REQUIRE(mica_same(mica_parent(copy->world, same), counterpart(world, copy, mica_parent(world, entity))));
    const char *name = mica_name_get(world, entity), *read = mica_name_get(copy->world, same);
    REQUIRE(name ? read && strcmp(name, read) == 0 : !read);
    const mica_pool *items = mica_pool_of(world, Item), *copies = mica_pool_of(copy->world, Item);
    mica_instance item = mica_pool_find(items, entity), again = mica_pool_find(copies, same);
    for (; !mica_instance_is_nil(item); item = mica_pool_next(items, item), again = mica_pool_next(copies, again))
        REQUIRE(mica_instance_read(copies, again, Item)->kind == mica_instance_read(items, item, Item)->kind);
    REQUIRE(mica_instance_is_nil(again));
}

/* What is read into a new world is what the world has, of those that were saved. */
static void expect_values(mica_world *world, const mica_blob *blob)
{
    static reports unheard;
    mica_resource *resource = level_open(blob);
    restored copy = {open_world_of_small_chunks(&unheard), {{0}}};
    define_all(copy.world);
    ck_assert_int_eq(mica_spawn(copy.world, resource, NULL), MICA_OK);
    mica_query *all = mica_query_create(copy.world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(all); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i)
            copy.by_number[mica_view_read(&view, Number)[i].value] = view.entities[i];
    uint32_t count = 0;
    mica_query *saved = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(saved); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            mica_entity same = counterpart(world, &copy, view.entities[i]);
            if (!mica_is_nil(same))
                expect_entity(world, &copy, view.entities[i], same);
            count += !mica_is_nil(same);
        }
    ck_assert_uint_eq(count, mica_resource_entity_count(resource));
    mica_query_destroy(all);
    mica_query_destroy(saved);
    close_world(copy.world, &unheard);
    mica_resource_free(resource);
}

START_TEST(random_worlds_are_saved_as_they_are)
{
    /* The first without a state: references to the dead become nil, and entities get new handles. */
    static const mica_save_def forms[] = {
        {.skip_state = true}, {.byte_order = MICA_BYTE_ORDER_BIG}, {.compression = 1}};
    for (uint32_t seed = 0; seed < 16; ++seed) {
        random_source random = {seed};
        mica_entity entities[CROWD];
        mica_world *world = make_world(&random, seed, entities);
        mica_blob blob = pack(world, &forms[0]);
        expect_values(world, &blob);
        mica_blob_free(&blob);
        const mica_save_def *form = &forms[seed % COUNT_OF(forms)];
        blob = pack(world, form);
        ck_assert_int_eq(mica_save(world, scratch("world.mica"), form), MICA_OK);
        expect_file(scratch("world.mica"), &blob);
        mica_blob_free(&blob);
        /* Some of them, in an order of their own, with repetitions and the dead among them. */
        mica_entity some[CROWD];
        for (uint32_t i = 0; i < CROWD; ++i)
            some[i] = entities[seed % 2 ? random_below(&random, CROWD) : i];
        blob = pack(world, &(mica_save_def){.entities = some, .entity_count = CROWD});
        expect_values(world, &blob);
        mica_blob_free(&blob);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(files_larger_than_a_buffer_are_written_piece_by_piece)
{
    mica_world *world = open_world(&heard);
    mica_entity last = mica_nil();
    for (uint32_t i = 0; i < 60000; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Padded, {1, i, 2, 3}));
        if (i % 3 == 0)
            mica_set(world, entity, Position, {(float)i, 0, 0});
        if (i % 7 == 0)
            mica_set(world, entity, Monster, {.target = last});
        last = entity;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Terrain));
        mica_write(world, entity, Terrain)->heights[299999] = (float)i;
    }
    mica_blob blob = pack(world, NULL);
    ck_assert_int_eq(mica_save(world, scratch("large.mica"), NULL), MICA_OK);
    expect_file(scratch("large.mica"), &blob);
    mica_resource *resource = level_open(&blob);
    uint32_t count;
    const Padded *padded = mica_resource_values(resource, Padded, &count);
    ck_assert_uint_eq(count, 60000);
    for (uint32_t i = 0; i < count; ++i)
        REQUIRE(padded[i].small == 1 && padded[i].tail == 2 && padded[i].hidden == 0);
    const Terrain *saved = mica_resource_values(resource, Terrain, &count);
    ck_assert(count == 3 && saved[2].heights[299999] == 2);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
}
END_TEST

START_TEST(saving_takes_a_buffer_and_not_another_world)
{
    enum { COUNT = 200000 };
    faulty_allocator faulty;
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT; ++i)
        mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Velocity));
    faulty_allocator_init(&faulty);
    const mica_save_def def = {.allocator = faulty_allocator_interface(&faulty)};
    ck_assert_int_eq(mica_save(world, scratch("flat.mica"), &def), MICA_OK);
    ck_assert_msg(faulty.peak_bytes < COUNT * 7, "%zu bytes for %u entities of 28 bytes", faulty.peak_bytes, COUNT);
    ck_assert_uint_eq(faulty.live_blocks, 0);
    faulty_allocator_free(&faulty);
    close_world(world, &heard);
}
END_TEST

static void expect_whole_or_old(mica_world *world, mica_save_def def, const mica_blob *before)
{
    const char *path = scratch("world.mica");
    mica_blob after = pack(world, &def);
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    def.allocator = faulty_allocator_interface(&faulty);
    ck_assert_int_eq(mica_write_file(path, before->bytes, before->byte_count, NULL), MICA_OK);
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_result result = mica_save(world, path, &def);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE_SAYING(result == (reached ? MICA_ERROR_MEMORY : MICA_OK), "allocation %llu", (unsigned long long)k);
        REQUIRE(faulty.live_blocks == 0 && forget_reports(&heard) == reached);
        expect_file(path, reached ? before : &after);
    }
    ck_assert_uint_gt(k, 50);
    faulty_allocator_free(&faulty);
    mica_blob_free(&after);
}

START_TEST(a_file_is_written_or_not_at_every_allocation)
{
    for (uint32_t traits = 0; traits <= (LINKS | NAMES | POOLS); ++traits) {
        random_source random = {traits};
        mica_entity entities[CROWD];
        mica_world *world = make_world(&random, traits, entities);
        mica_blob before = pack(world, &(mica_save_def){.entities = entities, .entity_count = 1});
        expect_whole_or_old(world, (mica_save_def){.compression = traits == POOLS}, &before);
        if (!(traits & NAMES))
            expect_whole_or_old(world, (mica_save_def){.entities = entities, .entity_count = CROWD / 2}, &before);
        mica_blob_free(&before);
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(save, random_worlds_are_saved_as_they_are, files_larger_than_a_buffer_are_written_piece_by_piece,
           saving_takes_a_buffer_and_not_another_world, a_file_is_written_or_not_at_every_allocation)
