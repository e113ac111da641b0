/* Components that own something go to other ranks as their rules say. */
#include "cluster/rule_codec.h"

#include "mica/component.h"
#include "mica/pool.h"
#include "mica/relation.h"
#include "mica/singleton.h"
#include "mica/split.h"
#include "reports.h"
#include "test.h"

#include <stdlib.h>

typedef struct Spot { float x, y; } Spot;
typedef struct Chest { int32_t *coins; uint32_t count; } Chest;
typedef struct ChestRecipe { mica_list coins; } ChestRecipe;
typedef struct KeyRecipe { mica_entity of; } KeyRecipe;
typedef struct Half { float x, y; } Half;
typedef struct Price { double value; } Price;
typedef struct Blob { char bytes[16]; } Blob;
MICA_COMPONENT(Spot, x, y)
MICA_STRUCT(ChestRecipe, (coins, int32_t))
MICA_STRUCT(KeyRecipe, of)
MICA_COMPONENT_WITH(Half, (.split = true), x, y)
MICA_SINGLETON(Price, value)
MICA_TAG(Plain)
MICA_RELATION(Likes)
MICA_OPAQUE(Blob, (.toggle = false))

static int64_t chests_alive;

static void destroy_chest(void *value)
{
    Chest *chest = value;
    chests_alive -= chest->coins != NULL;
    free(chest->coins);
}

MICA_OPAQUE(Chest, (.storage = MICA_STORAGE_POOL, .many = true, .destroy_one = destroy_chest))

static void fill_chest(Chest *chest, const int32_t *coins, uint32_t count)
{
    destroy_chest(chest);
    chest->coins = malloc(count * sizeof *coins + 1);
    memcpy(chest->coins, coins, count * sizeof *coins);
    chest->count = count;
    ++chests_alive;
}

static bool save_chest(const mica_world *world, mica_entity entity, const void *value, void *out_instance,
                       void *context)
{
    const Chest *chest = value;
    ChestRecipe *recipe = out_instance;
    (void)world, (void)entity;
    for (uint32_t i = 0; i < chest->count; ++i)
        *mica_list_append(&recipe->coins, int32_t) = chest->coins[i];
    return !*(const bool *)context;
}

static bool spawn_chest(const mica_spawn_run *run, void *context)
{
    const ChestRecipe *recipe = run->instances;
    ck_assert_uint_eq(run->count, 1);
    fill_chest(run->values, mica_list_items(&recipe->coins, int32_t), mica_list_count(&recipe->coins));
    return !*(const bool *)context;
}

static bool must_fail;

static mica_resource_rule chest_rule(void)
{
    return (mica_resource_rule){.component = MICA_ID(Chest),
                                .recipe = &mica_type_of_ChestRecipe,
                                .save = save_chest,
                                .spawn = spawn_chest,
                                .context = &must_fail};
}

static mica_cluster *open_cluster(mica_world *world, const mica_resource_rule *rules, uint32_t rule_count)
{
    return mica_cluster_create(
        world,
        &(mica_cluster_def){.grid = {.component = MICA_ID(Spot), .fields = "x, y", .cell_size = 1, .maximum = {8, 8}},
                            .rules = rules,
                            .rule_count = rule_count});
}

START_TEST(invalid_rules_are_reported)
{
    reports heard;
    mica_world *world = open_world(&heard);
    static const char kinds[] = "must be for components with data", fields[] = "must have described fields";
    const struct {
        mica_resource_rule rule;
        const char *text;
    } cases[] = {
        {{0}, kinds},
        {{.component = MICA_ID(Plain)}, kinds},
        {{.component = MICA_ID(Likes)}, kinds},
        {{.component = MICA_ID(Half)}, kinds},
        {{.component = MICA_ID(Price)}, kinds},
        {{.component = MICA_ID(Blob)}, fields},
        {{.component = MICA_ID(Chest), .recipe = &mica_type_of_KeyRecipe}, fields},
        {{.component = MICA_ID(Chest), .recipe = &mica_type_of_ChestRecipe, .save = save_chest}, "both functions"},
        {{.component = MICA_ID(Chest), .recipe = &mica_type_of_ChestRecipe, .spawn = spawn_chest}, "both functions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_ptr_null(open_cluster(world, &cases[i].rule, 1));
        expect_report(&heard, MICA_ERROR_INVALID, cases[i].text);
    }
    ck_assert_ptr_null(open_cluster(world, NULL, 1));
    expect_report(&heard, MICA_ERROR_INVALID, ".rules are NULL");
    close_world(world, &heard);
}
END_TEST

START_TEST(components_that_need_a_rule_and_have_none_end_the_run)
{
    const struct {
        mica_component component;
        const char *text;
    } cases[] = {{MICA_ID(Chest), "the component Chest has functions"},
                 {MICA_ID(Blob), "the component Blob has no described fields"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_cluster *cluster = open_cluster(world, NULL, 0);
        mica_component_define(world, mica_component_type(cases[i].component));
        ck_assert(!mica_cluster_step(cluster, 0.1f));
        expect_report(&heard, MICA_ERROR_REFUSED, cases[i].text);
        mica_cluster_destroy(cluster);
        close_world(world, &heard);
    }
}
END_TEST

static mica_entity create_owner(mica_world *world)
{
    static const int32_t coins[] = {5, 6, 7, 8};
    mica_entity entity = mica_create(world, MICA_WITH(Spot, {1, 1}));
    for (uint32_t i = 0; i < 3; ++i)
        fill_chest(mica_add_instance_id(world, entity, MICA_ID(Chest)), coins, i + 2);
    return entity;
}

static micap_bytes bytes_of(mica_cluster *cluster, mica_entity entity)
{
    micap_bytes bytes = {.memory = &cluster->memory};
    micap_codec_put_entity(&cluster->codec, &bytes, entity);
    ck_assert(!bytes.failed);
    return bytes;
}

START_TEST(values_that_own_something_arrive_in_another_world)
{
    reports heard[2];
    mica_world *worlds[2];
    mica_cluster *clusters[2];
    mica_resource_rule rule = chest_rule();
    must_fail = false;
    for (int i = 0; i < 2; ++i) {
        worlds[i] = open_world(&heard[i]);
        clusters[i] = open_cluster(worlds[i], &rule, 1);
        mica_define(worlds[i], Chest);
        ck_assert(mica_cluster_step(clusters[i], 0.1f));
    }
    mica_entity owner = create_owner(worlds[0]);
    ck_assert(mica_cluster_step(clusters[0], 0.1f));
    micap_bytes bytes = bytes_of(clusters[0], owner);
    micap_reader check = {.begin = bytes.data, .at = bytes.data, .end = bytes.data + bytes.count}, reader = check,
                 again = check;
    ck_assert_ptr_null(micap_codec_check_entity(&clusters[1]->codec, &check));
    ck_assert_uint_eq(micap_reader_left(&check), 0);
    mica_entity arrived = micap_codec_create_entity(&clusters[1]->codec, &reader, 7);
    mica_pool *pool = mica_pool_of_id(worlds[1], MICA_ID(Chest));
    uint32_t number = 0;
    for (mica_instance at = mica_pool_find(pool, arrived); !mica_instance_is_nil(at); at = mica_pool_next(pool, at)) {
        const Chest *chest = mica_instance_read_id(pool, at);
        ck_assert_uint_eq(chest->count, number + 2);
        ck_assert_int_eq(chest->coins[number + 1], (int32_t)number + 6);
        ++number;
    }
    ck_assert_uint_eq(number, 3);
    micap_bytes there = bytes_of(clusters[1], arrived);
    ck_assert(there.count == bytes.count && !memcmp(there.data, bytes.data, bytes.count));
    must_fail = true;
    ck_assert(mica_is_nil(micap_codec_create_entity(&clusters[1]->codec, &again, 8)));
    mica_cluster_hash(clusters[0]);
    ck_assert(!mica_cluster_step(clusters[0], 0.1f));
    expect_report(&heard[0], MICA_ERROR_REFUSED, "the rule of the component Chest can't save a value");
    micap_bytes_free(&bytes), micap_bytes_free(&there);
    for (int i = 0; i < 2; ++i) {
        mica_cluster_destroy(clusters[i]);
        close_world(worlds[i], &heard[i]);
    }
    ck_assert_int_eq(chests_alive, 0);
}
END_TEST

TEST_SUITE(rule_codec, invalid_rules_are_reported, components_that_need_a_rule_and_have_none_end_the_run,
           values_that_own_something_arrive_in_another_world)
