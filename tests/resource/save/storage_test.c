/* Components of every storage are saved and spawned: pools, split ones, many instances per entity; and may change it. */
#include "support/level.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/compile.h"
#include "mica/draft.h"
#include "mica/library.h"
#include "mica/reload.h"

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
        ck_assert_int_eq(
            mica_spawn(world, resource,
                       &(mica_spawn_def){.copies = copies, .out_entities = entities, .out_capacity = 3 * COUNT}),
            MICA_OK);
        for (uint32_t i = 0; i < copies * COUNT; ++i)
            expect_entity(world, entities[i]);
        close_world(world, &heard);
    }
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

static void expect_same_from_dump(const mica_resource *resource, const mica_schema *schema, const mica_blob *blob)
{
    mica_blob text;
    ck_assert_int_eq(mica_dump(resource, &text), MICA_OK);
    mica_compiled compiled;
    const mica_compile_def def = {.schema = schema};
    ck_assert_int_eq(mica_compile_text("dump", text.bytes, text.byte_count, &def, &compiled), MICA_OK);
    ck_assert_uint_eq(compiled.blob.byte_count, blob->byte_count);
    ck_assert_mem_eq(compiled.blob.bytes, blob->bytes, blob->byte_count);
    mica_compiled_free(&compiled);
    mica_blob_free(&text);
}

START_TEST(what_is_dumped_compiles_to_the_same_bytes_whatever_the_storage)
{
    mica_world *world = make_world();
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_state = true}, &blob), MICA_OK);
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add_world(schema, world), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    expect_same_from_dump(resource, schema, &blob);
    mica_schema_destroy(schema);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(several_instances_of_what_is_not_for_many_are_refused)
{
    mica_world *world = make_world();
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_state = true}, &blob), MICA_OK);
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

typedef struct Charm { uint32_t power; } Charm;
MICA_POOL_WITH(Charm, (.many = true, .toggle = true), power)

START_TEST(many_instances_that_are_switched_off_stay_so_in_a_file_and_in_its_text)
{
    mica_world *world = open_world(&heard);
    mica_pool *pool = mica_pool_of(world, Charm);
    for (uint32_t i = 0; i < 6; ++i) {
        mica_entity entity = mica_create(world, MICA_WITH(Number, {i}));
        for (uint32_t k = 0; k < 1 + i % 3; ++k)
            mica_pool_add(pool, entity);
        if (i % 2)
            mica_disable(world, entity, Charm);
    }
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.skip_state = true}, &blob), MICA_OK);
    mica_schema *schema = mica_schema_create();
    ck_assert_int_eq(mica_schema_add_world(schema, world), MICA_OK);
    close_world(world, &heard);
    mica_resource *resource = level_open(&blob);
    world = open_world(&heard);
    mica_define(world, Number);
    mica_define(world, Charm);
    mica_entity entities[12];
    const mica_spawn_def def = {.copies = 2, .out_entities = entities, .out_capacity = 12};
    ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_OK);
    for (uint32_t i = 0; i < 12; ++i)
        ck_assert_int_eq(mica_is_enabled(world, entities[i], Charm),
                         mica_get(world, entities[i], Number)->value % 2 == 0);
    close_world(world, &heard);
    expect_same_from_dump(resource, schema, &blob);
    mica_schema_destroy(schema);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

/* A file with entities "a" and "b", the first of which has so many instances of a component. */
static mica_blob file_of(const mica_type *type, uint32_t count)
{
    mica_draft *draft = mica_draft_create(NULL);
    uint32_t component = mica_draft_component(draft, &(mica_draft_component_def){.type = type});
    mica_draft_entity(draft, MICA_NO_PARENT, "a");
    mica_draft_entity(draft, MICA_NO_PARENT, "b");
    for (uint32_t i = 0; i < count; ++i)
        memset(mica_draft_add(draft, 0, component), (int)i + 1, 1);
    mica_blob blob;
    ck_assert_int_eq(mica_draft_finish(draft, NULL, &blob), MICA_OK);
    mica_draft_destroy(draft);
    return blob;
}

START_TEST(several_instances_in_a_newer_file_are_refused_where_there_can_be_one)
{
    for (uint32_t before = 0; before < 2; ++before) {
        mica_blob blob = file_of(&mica_type_of_Number, before), newer_blob = file_of(&mica_type_of_Number, 2);
        mica_resource *resource = level_open(&blob), *newer = level_open(&newer_blob);
        mica_world *world = open_world(&heard);
        mica_define(world, Number);
        mica_spawned *spawned = mica_spawn_kept(world, resource, NULL);
        uint64_t hash = mica_world_hash(world);
        ck_assert_int_eq(mica_reload(spawned, newer, NULL), MICA_ERROR_LAYOUT);
        expect_report(&heard, MICA_ERROR_LAYOUT, "several instances of component Number, which is not for many");
        ck_assert_uint_eq(mica_world_hash(world), hash);
        mica_spawned_free(spawned);
        close_world(world, &heard);
        mica_resource_free(resource);
        mica_resource_free(newer);
        mica_blob_free(&blob);
        mica_blob_free(&newer_blob);
    }
}
END_TEST

START_TEST(a_component_with_too_many_fields_spawns_and_is_not_followed)
{
    enum { FIELDS = MICA_RESOURCE_LEAVES_MAX + 1 };
    static const mica_field byte_fields[] = {{"value", NULL, 0, 1, 1, MICA_KIND_U8, NULL}};
    static const mica_type byte = {.name = "Byte",
                                   .kind = MICA_KIND_STRUCT,
                                   .size_bytes = 1,
                                   .alignment = 1,
                                   .fields = byte_fields,
                                   .field_count = 1};
    static const mica_field few[] = {{"bytes", &byte, 0, 1, 2, MICA_KIND_STRUCT, NULL}};
    static const mica_field lots[] = {{"bytes", &byte, 0, 1, FIELDS, MICA_KIND_STRUCT, NULL}};
    mica_type small = {
        .name = "Leafy", .kind = MICA_KIND_STRUCT, .size_bytes = 2, .alignment = 1, .fields = few, .field_count = 1};
    mica_type large = small;
    large.size_bytes = FIELDS;
    large.fields = lots;
    mica_blob blob = file_of(&small, 1);
    mica_resource *resource = level_open(&blob);
    mica_world *world = open_world(&heard);
    mica_component id = mica_component_define(world, &large);
    mica_entity entities[2];
    mica_spawned *spawned =
        mica_spawn_kept(world, resource, &(mica_spawn_def){.out_entities = entities, .out_capacity = 2});
    ck_assert_ptr_nonnull(spawned);
    const uint8_t *bytes = mica_get_id(world, entities[0], id);
    ck_assert(bytes && bytes[0] == 1 && bytes[FIELDS - 1] == 0);
    ck_assert_int_eq(mica_reload(spawned, resource, NULL), MICA_ERROR_LIMIT);
    expect_report(&heard, MICA_ERROR_LIMIT, "component Leafy has too many fields");
    mica_spawned_free(spawned);
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_blob_free(&blob);
}
END_TEST

static bool never_spawn(const mica_spawn_run *run, void *context)
{
    (void)context;
    return run == NULL;
}

START_TEST(split_components_are_refused_with_many_instances_and_with_functions)
{
    mica_type swarm = mica_type_of_Item;
    swarm.name = "Swarm";
    swarm.split = true;
    mica_world *world = open_world(&heard);
    mica_component many = mica_component_define(world, &swarm);
    mica_pool_add(mica_pool_of_id(world, many), mica_create(world));
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "component Swarm is split and many: it can't be saved");
    mica_world_clear(world);
    mica_define(world, Hunter);
    const mica_resource_rule rule = {.component = MICA_ID(Hunter), .spawn = never_spawn};
    const mica_spawn_def def = {.rules = &rule, .rule_count = 1};
    const mica_type *const types[] = {&swarm, &mica_type_of_Hunter};
    for (uint32_t i = 0; i < 2; ++i) {
        blob = file_of(types[i], 2 - i);
        mica_resource *resource = level_open(&blob);
        ck_assert_int_eq(mica_spawn(world, resource, &def), MICA_ERROR_REFUSED);
        expect_report(&heard, MICA_ERROR_REFUSED,
                      "is split, which can go neither with many instances nor with a spawn");
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
        mica_resource_free(resource);
        mica_blob_free(&blob);
    }
    close_world(world, &heard);
}
END_TEST

typedef struct Sprite { mica_asset image; } Sprite;
MICA_POOL(Sprite, image)

START_TEST(what_refers_to_a_resource_is_saved_with_its_library_whatever_the_storage)
{
    mica_library *library = mica_library_create(NULL);
    mica_world *world = open_world(&heard);
    mica_pool *pool = mica_pool_of(world, Sprite);
    for (uint32_t i = 0; i < 2; ++i)
        mica_pool_add(pool, mica_create(world));
    mica_write(world, mica_pool_owners(pool)[1], Sprite)->image = mica_library_asset(library, "rock.png");
    mica_blob blob;
    ck_assert_int_eq(mica_pack(world, NULL, &blob), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "component Sprite refers to a resource whose path is not known");
    ck_assert_int_eq(mica_pack(world, &(mica_save_def){.library = library}, &blob), MICA_OK);
    mica_resource *resource = level_open(&blob);
    ck_assert_str_eq(mica_resource_asset_path(resource, mica_resource_asset_at(resource, 0)), "rock.png");
    mica_resource_free(resource);
    mica_blob_free(&blob);
    close_world(world, &heard);
    mica_library_destroy(library);
}
END_TEST

START_TEST(a_newer_file_may_have_components_that_the_program_does_not_know)
{
    mica_blob blob = file_of(&mica_type_of_Mass, 1), newer_blob = file_of(&mica_type_of_Color, 1);
    mica_resource *resource = level_open(&blob), *newer = level_open(&newer_blob);
    mica_world *world = open_world(&heard);
    mica_spawned *spawned = mica_spawn_kept(world, resource, &(mica_spawn_def){.skip_unknown = true});
    mica_reload_stats stats;
    ck_assert_int_eq(mica_reload(spawned, newer, &stats), MICA_OK);
    ck_assert(!stats.added_count && !stats.removed_count && !stats.updated_count);
    ck_assert_uint_eq(mica_get_components(world, mica_find(world, "a"), NULL, 0), 0);
    mica_spawned_free(spawned);
    spawned = mica_spawn_kept(world, resource, &(mica_spawn_def){.names = MICA_SPAWN_NAMES_NONE});
    ck_assert_ptr_null(spawned);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "does not know component Mass");
    close_world(world, &heard);
    mica_resource_free(resource);
    mica_resource_free(newer);
    mica_blob_free(&blob);
    mica_blob_free(&newer_blob);
}
END_TEST

TEST_SUITE(storage, every_storage_is_saved_and_spawned, what_is_dumped_compiles_to_the_same_bytes_whatever_the_storage,
           several_instances_of_what_is_not_for_many_are_refused,
           several_instances_in_a_newer_file_are_refused_where_there_can_be_one,
           a_component_with_too_many_fields_spawns_and_is_not_followed,
           split_components_are_refused_with_many_instances_and_with_functions,
           what_refers_to_a_resource_is_saved_with_its_library_whatever_the_storage,
           a_newer_file_may_have_components_that_the_program_does_not_know,
           many_instances_that_are_switched_off_stay_so_in_a_file_and_in_its_text)
