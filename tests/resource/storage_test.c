/* Components of every storage are saved and spawned: pools, split ones, many instances per entity; and may change it. */
#include "../support/level.h"
#include "../support/reports.h"
#include "../support/test.h"

#include "mica/compile.h"

#include <string.h>

static reports heard;

typedef struct Burning { float seconds; mica_entity by; } Burning;
MICA_POOL(Burning, seconds, by)

typedef struct Item { uint32_t kind; mica_entity maker; } Item;
MICA_POOL_WITH(Item, (.many = true), kind, maker)

typedef struct Body { Vec3 position; float mass; } Body;
MICA_COMPONENT_WITH(Body, (.split = true), (position, Vec3), mass)

typedef struct Hunter { mica_entity prey; float speed; } Hunter;
MICA_COMPONENT_WITH(Hunter, (.split = true), prey, speed)

typedef struct Spark { float x, y; } Spark;
MICA_POOL_WITH(Spark, (.split = true), x, y)

enum { COUNT = 300 };

static void define_all(mica_world *world)
{
    mica_define(world, Burning);
    mica_define(world, Item);
    mica_define(world, Body);
    mica_define(world, Hunter);
    mica_define(world, Spark);
    mica_define(world, Number);
}

static mica_world *make_world(void)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    define_all(world);
    mica_entity before = mica_nil();
    for (uint32_t i = 0; i < COUNT; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Body, {{(float)i, 2, 3}, 4}));
        if (i % 2)
            mica_set(world, entity, Burning, {(float)i, before});
        if (i % 3 == 0)
            mica_set(world, entity, Hunter, {before, (float)i});
        if (i % 5 == 0)
            mica_set(world, entity, Spark, {(float)i, 1});
        for (uint32_t k = 0; k < i % 4; ++k) {
            mica_pool *pool = mica_pool_of(world, Item);
            mica_instance item = mica_pool_add(pool, entity);
            *mica_instance_write(pool, item, Item) = (Item){i * 10 + k, entity};
        }
        before = entity;
    }
    return world;
}

/* Whether the entity is what make_world made of a number. */
static void expect_entity(mica_world *world, mica_entity entity)
{
    uint32_t i = mica_get(world, entity, Number)->value;
    Body body;
    ck_assert(mica_get_value(world, entity, Body, &body));
    ck_assert(body.position.x == (float)i && body.position.z == 3 && body.mass == 4);
    const Burning *burning = mica_get(world, entity, Burning);
    ck_assert(i % 2 ? burning->seconds == (float)i : !burning);
    if (burning)
        ck_assert_uint_eq(mica_get(world, burning->by, Number)->value, i - 1);
    ck_assert_int_eq(mica_has(world, entity, Hunter), i % 3 == 0);
    if (i % 3 == 0) {
        mica_entity prey = *mica_get_field(world, entity, Hunter, prey);
        ck_assert(i ? mica_get(world, prey, Number)->value == i - 1 : mica_is_nil(prey));
        ck_assert(*mica_get_field(world, entity, Hunter, speed) == (float)i);
    }
    Spark spark = {0};
    ck_assert_int_eq(mica_get_value(world, entity, Spark, &spark), i % 5 == 0);
    ck_assert(spark.x == (i % 5 == 0 ? (float)i : 0));
    const mica_pool *items = mica_pool_of(world, Item);
    uint32_t k = 0;
    for (mica_instance at = mica_pool_find(items, entity); !mica_instance_is_nil(at);
         at = mica_pool_next(items, at), ++k) {
        const Item *item = mica_instance_read(items, at, Item);
        ck_assert_uint_eq(item->kind, i * 10 + k);
        ck_assert(mica_same(item->maker, entity));
    }
    ck_assert_uint_eq(k, i % 4);
}

START_TEST(every_storage_is_saved_and_spawned)
{
    mica_world *world = make_world();
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    for (uint32_t copies = 1; copies < 4; copies += 2) {
        static mica_entity entities[3 * COUNT];
        world = open_world_of_small_chunks(&heard);
        define_all(world);
        ck_assert_int_eq(mica_spawn(world, resource, &(mica_spawn_def){.copies = copies, .out_entities = entities}),
                         MICA_OK);
        for (uint32_t i = 0; i < copies * COUNT; ++i)
            expect_entity(world, entities[i]);
        close_world(world, &heard);
    }
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(what_is_dumped_compiles_to_the_same_bytes_whatever_the_storage)
{
    mica_world *world = make_world();
    mica_blob blob, text;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add_world(schema, world), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    ck_assert_int_eq(mica_dump(resource, &text), MICA_OK);
    mica_compiled compiled;
    mica_compile_def def = {.schema = schema};
    ck_assert_int_eq(mica_compile_text("dump", text.bytes, text.byte_count, &def, &compiled), MICA_OK);
    ck_assert_uint_eq(compiled.blob.byte_count, blob.byte_count);
    ck_assert_mem_eq(compiled.blob.bytes, blob.bytes, blob.byte_count);
    mica_compiled_free(&compiled);
    mica_schema_destroy(schema);
    mica_resource_free(resource);
    mica_blob_free(&blob);
    mica_blob_free(&text);
}
END_TEST

START_TEST(several_instances_of_what_is_not_for_many_are_refused)
{
    mica_world *world = make_world();
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    world = open_world(&heard);
    mica_type single = mica_type_of_Item;
    single.many = false;
    ck_assert(mica_component_define(world, &single));
    mica_spawn_def def = {.skip_unknown = true};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_LAYOUT);
    expect_report(&heard, MICA_ERROR_LAYOUT, "several instances of component Item");
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

TEST_SUITE(storage, every_storage_is_saved_and_spawned, what_is_dumped_compiles_to_the_same_bytes_whatever_the_storage,
           several_instances_of_what_is_not_for_many_are_refused)
