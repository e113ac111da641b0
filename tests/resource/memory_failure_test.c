/* Memory that runs out at every point of loading, spawning and saving: an error, nothing lost, nothing half-done. */
#include "../support/faulty_allocator.h"
#include "../support/level.h"
#include "../support/require.h"
#include "../support/test.h"

#include "mica/hierarchy.h"

#include <stdio.h>
#include <string.h>

static faulty_allocator faulty;
static uint32_t report_count;

static void count_report(const mica_report *report, void *context)
{
    (void)report;
    (void)context;
    ++report_count;
}

static mica_world *make_world(void)
{
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&faulty);
    def.report = count_report;
    mica_world *world = mica_world_create(&def);
    REQUIRE(world);
    level_define(world);
    return world;
}

static mica_resource *open_faulty(const mica_blob *blob, mica_resource_error *out_error)
{
    mica_resource_def def = {.allocator = faulty_allocator_interface(&faulty), .any_byte_order = true};
    return mica_resource_open(blob->bytes, blob->byte_count, &def, out_error);
}

static const mica_save_def forms[] = {
    {.compression = 0},
    {.compression = 3},
    {.byte_order = MICA_BYTE_ORDER_BIG, .compression = 3},
};

START_TEST(loading_fails_cleanly_at_every_allocation)
{
    for (uint32_t form = 0; form < COUNT_OF(forms); ++form) {
        mica_blob blob = level_blob(&forms[form]);
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            faulty_allocator_init(&faulty);
            faulty_allocator_fail_at(&faulty, k, false);
            mica_resource_error error = {0};
            mica_resource *resource = open_faulty(&blob, &error);
            reached = faulty.failures > 0;
            REQUIRE_SAYING((resource == NULL) == reached, "allocation %llu", (unsigned long long)k);
            REQUIRE(resource || error.result == MICA_ERROR_MEMORY);
            mica_resource_free(resource);
            faulty_allocator_free(&faulty);
        }
        ck_assert_uint_gt(k, 10);
        mica_blob_free(&blob);
    }
}
END_TEST

START_TEST(spawning_fails_cleanly_at_every_allocation)
{
    mica_blob blob = level_blob(NULL);
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        mica_resource *resource = open_faulty(&blob, NULL);
        mica_world *world = make_world();
        mica_create(world, MICA_WITH(Position));
        uint64_t before = mica_world_hash(world);
        report_count = 0;
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_result result = mica_spawn(world, resource, NULL);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(mica_world_validate(world) == MICA_OK);
        if (result != MICA_OK) {
            REQUIRE_SAYING(reached && result == MICA_ERROR_MEMORY && report_count, "allocation %llu",
                           (unsigned long long)k);
            /* A singleton may have come into being; it is zero. */
            REQUIRE(mica_world_get_stats(world).entity_count == 1);
            REQUIRE(mica_world_hash(world) == before || mica_singleton_get(world, Clock)->ticks == 0);
            REQUIRE(mica_spawn(world, resource, NULL) == MICA_OK);
        }
        level_expect(world, mica_nil());
        mica_world_destroy(world);
        mica_resource_free(resource);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 30);
    mica_blob_free(&blob);
}
END_TEST

START_TEST(saving_fails_cleanly_at_every_allocation)
{
    for (uint32_t form = 0; form < COUNT_OF(forms); ++form) {
        faulty_allocator_init(&faulty);
        mica_world *world = make_world();
        level_create(world);
        mica_blob expected;
        REQUIRE(mica_pack(world, &forms[form], &expected) == MICA_OK);
        size_t blocks = faulty.live_blocks;
        mica_save_def def = forms[form];
        def.allocator = faulty_allocator_interface(&faulty);
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            mica_blob blob;
            report_count = 0;
            faulty_allocator_fail_at(&faulty, k, k % 2);
            mica_result result = mica_pack(world, &def, &blob);
            reached = faulty.failures > 0;
            faulty_allocator_fail_at(&faulty, 0, false);
            if (result == MICA_OK) {
                REQUIRE(blob.byte_count == expected.byte_count);
                REQUIRE(memcmp(blob.bytes, expected.bytes, blob.byte_count) == 0);
            } else {
                REQUIRE(reached && result == MICA_ERROR_MEMORY && report_count && !blob.bytes);
            }
            mica_blob_free(&blob);
        }
        /* A loop might use the queries of the last saves until then. They may leave the world's arrays larger, once. */
        mica_world_trim(world);
        REQUIRE_SAYING(faulty.live_blocks <= blocks + 2, "%zu blocks, %zu before", faulty.live_blocks, blocks);
        ck_assert_uint_gt(k, 100);
        mica_world_destroy(world);
        faulty_allocator_free(&faulty);
        mica_blob_free(&expected);
    }
}
END_TEST

/* Every way a value comes into the world or leaves it: for many, split, in pools whose rows outlive their owners, by functions. */
typedef struct Item { uint32_t kind; mica_entity maker; } Item;
typedef struct Hunter { mica_entity prey; float speed; } Hunter;
typedef struct Echo { uint32_t value; mica_entity from; } Echo;
typedef Text Trace;
#define OWNS .construct = text_construct, .destruct = text_destruct, .copy = text_copy, .move = text_move
MICA_POOL_WITH(Item, (.many = true), kind, maker)
MICA_COMPONENT_WITH(Hunter, (.split = true), prey, speed)
MICA_POOL_WITH(Echo, (.dying = MICA_DYING_AT_FLUSH), value, from)
MICA_POOL_WITH(Trace, (.dying = MICA_DYING_LAZILY, OWNS), length)
typedef struct Score { uint32_t points; } Score;
MICA_SINGLETON(Score, points)
typedef struct Weather { float rain; } Weather; /* not used before it is saved */
MICA_SINGLETON(Weather, rain)

static bool spawn_score(const mica_spawn_run *run, void *context)
{
    (void)context;
    *(Score *)run->values = *(const Score *)run->instances;
    return true;
}

static bool spawn_trace(const mica_spawn_run *run, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < run->count; ++i)
        ((Trace *)run->values)[i].length = ((const Number *)run->instances)[i].value;
    return true;
}

static bool save_trace(const mica_world *world, mica_entity entity, const void *value, void *out, void *context)
{
    (void)world;
    (void)entity;
    (void)context;
    ((Number *)out)->value = ((const Trace *)value)->length;
    return true;
}

static mica_resource_rule crowd_rules[3];

static mica_world *make_crowd_world(void)
{
    crowd_rules[0] = (mica_resource_rule){.component = MICA_ID(Score), .spawn = spawn_score};
    crowd_rules[1] = (mica_resource_rule){
        .component = MICA_ID(Trace), .recipe = &mica_type_of_Number, .spawn = spawn_trace, .save = save_trace};
    crowd_rules[2] = (mica_resource_rule){.component = MICA_ID(Text)}; /* the described fields are enough */
    mica_world *world = make_world();
    mica_define(world, Item);
    mica_define(world, Hunter);
    mica_define(world, Echo);
    mica_define(world, Trace);
    mica_define(world, Text);
    mica_define(world, Score);
    mica_define(world, Weather);
    return world;
}

enum { CROWD = 5 };

static void create_crowd(mica_world *world)
{
    mica_entity entities[CROWD];
    mica_pool *items = mica_pool_of(world, Item);
    for (uint32_t i = 0; i < CROWD; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Text));
        if (i)
            REQUIRE(mica_set_parent(world, entities[i], entities[0]) == MICA_OK);
        mica_set(world, entities[i], Hunter, {entities[0], (float)i});
        mica_set(world, entities[i], Echo, {i, entities[0]});
        mica_set(world, entities[i], Health, {(int32_t)i, 9});
        if (i % 2)
            mica_disable(world, entities[i], Health);
        REQUIRE(mica_add(world, entities[i], Trace));
        mica_write(world, entities[i], Trace)->length = i;
        for (uint32_t k = 0; k < i; ++k)
            *mica_instance_write(items, mica_pool_add(items, entities[i]), Item) = (Item){k, entities[0]};
    }
    REQUIRE(mica_name_set(world, entities[0], mica_nil(), "first") == MICA_OK);
    mica_singleton_write(world, Score)->points = 7;
}

static mica_blob pack_crowd(mica_world *world, mica_result *out_result)
{
    const mica_save_def def = {
        .allocator = faulty_allocator_interface(&faulty), .rules = crowd_rules, .rule_count = COUNT_OF(crowd_rules)};
    mica_blob blob;
    *out_result = mica_pack(world, &def, &blob);
    return blob;
}

START_TEST(a_crowd_of_every_storage_is_saved_or_not_at_every_allocation)
{
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        faulty_allocator_init(&faulty);
        mica_world *world = make_crowd_world();
        create_crowd(world);
        mica_result result, again;
        report_count = 0;
        faulty_allocator_fail_at(&faulty, k, k % 2);
        mica_blob blob = pack_crowd(world, &result);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE_SAYING(result == MICA_OK || (reached && result == MICA_ERROR_MEMORY && report_count && !blob.bytes),
                       "allocation %llu", (unsigned long long)k);
        mica_blob whole = pack_crowd(world, &again);
        REQUIRE(again == MICA_OK && mica_world_validate(world) == MICA_OK);
        REQUIRE(result != MICA_OK ||
                (blob.byte_count == whole.byte_count && memcmp(blob.bytes, whole.bytes, whole.byte_count) == 0));
        mica_blob_free(&blob);
        mica_blob_free(&whole);
        mica_world_destroy(world);
        faulty_allocator_free(&faulty);
    }
    ck_assert_uint_gt(k, 100);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(a_crowd_of_every_storage_is_spawned_or_not_at_every_allocation)
{
    faulty_allocator_init(&faulty);
    mica_world *world = make_crowd_world();
    create_crowd(world);
    mica_result result;
    mica_blob blob = pack_crowd(world, &result);
    REQUIRE(result == MICA_OK);
    mica_world_destroy(world);
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        mica_resource *resource = open_faulty(&blob, NULL);
        world = make_crowd_world();
        mica_singleton_write(world, Score)->points = 3;
        mica_entity above = mica_create(world);
        const mica_spawn_def def = {.rules = crowd_rules,
                                    .rule_count = COUNT_OF(crowd_rules),
                                    .names = MICA_SPAWN_NAMES_FREE,
                                    .parent = above,
                                    .copies = 2};
        report_count = 0;
        faulty_allocator_fail_at(&faulty, k, k % 2);
        result = mica_spawn(world, resource, &def);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(mica_world_validate(world) == MICA_OK);
        if (result != MICA_OK) {
            REQUIRE_SAYING(reached && result == MICA_ERROR_MEMORY && report_count, "allocation %llu",
                           (unsigned long long)k);
            REQUIRE(mica_world_get_stats(world).entity_count == 1 && mica_singleton_get(world, Score)->points == 3);
            REQUIRE(mica_child_count(world, above) == 0);
            REQUIRE(mica_pool_sweep(mica_pool_of(world, Trace)) <= 2 * CROWD && texts_alive == 0);
            REQUIRE(mica_spawn(world, resource, &def) == MICA_OK);
        }
        REQUIRE(mica_world_get_stats(world).entity_count == 1 + 2 * CROWD && mica_child_count(world, above) == 2);
        REQUIRE(mica_singleton_get(world, Score)->points == 7 && texts_alive == 4 * CROWD);
        REQUIRE(mica_pool_count(mica_pool_of(world, Item)) == 2 * (0 + 1 + 2 + 3 + 4));
        mica_world_destroy(world);
        mica_resource_free(resource);
    }
    ck_assert_uint_gt(k, 50);
    mica_blob_free(&blob);
    faulty_allocator_free(&faulty);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(an_empty_world_is_saved_or_not_at_every_allocation)
{
    faulty_allocator_init(&faulty);
    mica_world_def world_def = mica_world_def_default();
    world_def.report = count_report;
    mica_world *world = mica_world_create(&world_def);
    const mica_save_def def = {.allocator = faulty_allocator_interface(&faulty)};
    uint64_t k = 1;
    for (bool reached = true; reached; ++k) {
        mica_blob blob;
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_pack(world, &def, &blob);
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(result == (reached ? MICA_ERROR_MEMORY : MICA_OK) && (blob.bytes != NULL) != reached);
        mica_blob_free(&blob);
        REQUIRE(faulty.live_blocks == 0);
    }
    ck_assert_uint_gt(k, 5);
    mica_world_destroy(world);
    faulty_allocator_free(&faulty);
}
END_TEST

TEST_SUITE(memory_failure, loading_fails_cleanly_at_every_allocation, spawning_fails_cleanly_at_every_allocation,
           saving_fails_cleanly_at_every_allocation, a_crowd_of_every_storage_is_saved_or_not_at_every_allocation,
           a_crowd_of_every_storage_is_spawned_or_not_at_every_allocation,
           an_empty_world_is_saved_or_not_at_every_allocation)
