/* Components with functions in deltas: by rules, or refused by name. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/delta.h"
#include "mica/hash.h"
#include "mica/pool.h"
#include "mica/singleton.h"
#include "mica/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Owns a number on the heap, which no field describes. */
typedef struct Box { uint32_t *number; uint32_t shown; } Box;

static int64_t boxes_alive;
static int boxes_left = 1 << 30; /* that can still be made */

static bool box_make(Box *box, uint32_t number)
{
    if (boxes_left-- <= 0)
        return false;
    *box = (Box){.number = malloc(sizeof number)};
    *box->number = number;
    ++boxes_alive;
    return true;
}

static void box_destruct(void *values, uint32_t count, void *context)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i) {
        free(((Box *)values)[i].number);
        --boxes_alive;
    }
}

static bool box_construct(void *values, uint32_t count, void *context)
{
    for (uint32_t i = 0; i < count; ++i)
        if (!box_make((Box *)values + i, 7)) {
            box_destruct(values, i, context);
            return false;
        }
    return true;
}

static bool box_copy(void *to, const void *from, uint32_t count, void *context)
{
    for (uint32_t i = 0; i < count; ++i)
        if (!box_make((Box *)to + i, *((const Box *)from)[i].number)) {
            box_destruct(to, i, context);
            return false;
        }
    return true;
}

static void box_move(void *to, void *from, uint32_t count, void *context)
{
    (void)context;
    memcpy(to, from, count * sizeof(Box));
}

#define BOX_LIFE .construct = box_construct, .destruct = box_destruct, .copy = box_copy, .move = box_move
MICA_COMPONENT_WITH(Box, (BOX_LIFE), shown)
typedef Box PoolBox, DirectBox, ManyBox, OnlyBox;
MICA_POOL_WITH(PoolBox, (BOX_LIFE), shown)
MICA_POOL_WITH(DirectBox, (BOX_LIFE, .index = MICA_INDEX_DIRECT), shown)
MICA_POOL_WITH(ManyBox, (BOX_LIFE, .many = true), shown)
MICA_COMPONENT_WITH(OnlyBox, (BOX_LIFE, .storage = MICA_STORAGE_SINGLETON), shown)

typedef struct BoxRecipe { uint32_t number; bool is_odd; mica_entity owner; mica_list owners; mica_text name; } BoxRecipe;
MICA_STRUCT(BoxRecipe, number, is_odd, owner, (owners, mica_entity), name)

static int saves_left = 1 << 30, spawns_left = 1 << 30;

static bool save_box(const mica_world *world, mica_entity entity, const void *value, void *out_instance, void *context)
{
    BoxRecipe *recipe = out_instance;
    (void)world;
    (void)context;
    recipe->number = *((const Box *)value)->number;
    recipe->is_odd = recipe->number % 2;
    recipe->owner = entity;
    mica_list_add(&recipe->owners, mica_entity, entity, mica_nil());
    mica_text_set(&recipe->name, "a name that does not fit in its place");
    return saves_left-- > 0;
}

static bool spawn_box(const mica_spawn_run *run, void *context)
{
    const BoxRecipe *recipes = run->instances;
    (void)context;
    for (uint32_t i = 0; i < run->count; ++i) {
        mica_entity owner = run->entities[i];
        REQUIRE(*((Box *)run->values)[i].number == 7);
        REQUIRE(mica_same(recipes[i].owner, owner) && recipes[i].is_odd == recipes[i].number % 2);
        REQUIRE(mica_same(mica_list_items(&recipes[i].owners, mica_entity)[0], owner));
        REQUIRE(mica_text_is(&recipes[i].name, "a name that does not fit in its place"));
        *((Box *)run->values)[i].number = recipes[i].number;
        if (spawns_left-- <= 0)
            return false;
    }
    return true;
}

enum { RULES = 5, ENTITIES = 40 };
static mica_resource_rule rules[RULES];
static const mica_sender_def sender_def = {
    .rules = rules, .rule_count = RULES, .with_state = true, .byte_order = MICA_BYTE_ORDER_BIG};

static void make_rules(void)
{
    mica_component components[RULES] = {MICA_ID(Box), MICA_ID(PoolBox), MICA_ID(DirectBox), MICA_ID(ManyBox),
                                        MICA_ID(OnlyBox)};
    for (uint32_t i = 0; i < RULES; ++i)
        rules[i] = (mica_resource_rule){
            .component = components[i], .recipe = &mica_type_of_BoxRecipe, .save = save_box, .spawn = spawn_box};
    boxes_left = saves_left = spawns_left = 1 << 30;
}

static void define_boxes(mica_world *world)
{
    mica_define(world, Box);
    mica_define(world, PoolBox);
    mica_define(world, DirectBox);
    mica_define(world, ManyBox);
    mica_define(world, OnlyBox);
    mica_define(world, Number);
}

static mica_world *open_boxes(reports *heard)
{
    mica_world *world = open_world(heard);
    define_boxes(world);
    return world;
}

typedef struct boxes {
    mica_world *world;
    reports heard;
    mica_sender *sender;
    mica_entity entities[ENTITIES];
    mica_delta delta;
} boxes;

static void fill_boxes(boxes *from)
{
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_entity entity = from->entities[i] = mica_create(from->world, MICA_WITH(Number, {i}));
        if (i % 2)
            *((Box *)mica_add(from->world, entity, Box))->number = 100 + i;
        if (i % 3)
            *((PoolBox *)mica_add(from->world, entity, PoolBox))->number = 200 + i;
        if (i % 5)
            *((DirectBox *)mica_add(from->world, entity, DirectBox))->number = 300 + i;
        mica_pool *many = mica_pool_of(from->world, ManyBox);
        for (uint32_t j = 0; j < i % 4; ++j)
            *((ManyBox *)mica_instance_write_id(many, mica_pool_add(many, entity)))->number = 400 + 10 * i + j;
    }
    *mica_singleton_write(from->world, OnlyBox)->number = 500;
}

static void open_from(boxes *from)
{
    *from = (boxes){.world = NULL};
    make_rules();
    from->world = open_boxes(&from->heard);
    fill_boxes(from);
    from->sender = mica_sender_create(from->world, &sender_def);
}

static void close_from(boxes *from)
{
    mica_sender_destroy(from->sender);
    close_world(from->world, &from->heard);
    ck_assert_int_eq(boxes_alive, 0);
}

static mica_delta encode(boxes *from, mica_version base)
{
    REQUIRE(mica_delta_encode(from->sender, base, &from->delta) == MICA_OK);
    return from->delta;
}

static uint32_t number_in(const Box *box)
{
    return box ? *box->number : 0;
}

static void expect_same_boxes(const boxes *from, mica_world *world, const mica_replica *replica)
{
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        mica_entity there = from->entities[i], here = mica_replica_local(replica, there);
        if (!mica_is_alive(from->world, there))
            continue;
        REQUIRE(number_in(mica_get(from->world, there, Box)) == number_in(mica_get(world, here, Box)));
        REQUIRE(number_in(mica_get(from->world, there, PoolBox)) == number_in(mica_get(world, here, PoolBox)));
        REQUIRE(number_in(mica_get(from->world, there, DirectBox)) == number_in(mica_get(world, here, DirectBox)));
        const mica_pool *left = mica_pool_of(from->world, ManyBox), *right = mica_pool_of(world, ManyBox);
        mica_instance a = mica_pool_find(left, there), b = mica_pool_find(right, here);
        for (; !mica_instance_is_nil(a); a = mica_pool_next(left, a), b = mica_pool_next(right, b))
            REQUIRE(number_in(mica_instance_read_id(left, a)) == number_in(mica_instance_read_id(right, b)));
        REQUIRE(mica_instance_is_nil(b));
    }
    REQUIRE(number_in(mica_singleton_get(from->world, OnlyBox)) == number_in(mica_singleton_get(world, OnlyBox)));
}

static void change_boxes(boxes *from)
{
    mica_world *world = from->world;
    *mica_write(world, from->entities[1], Box)->number = 1;
    *mica_write(world, from->entities[1], PoolBox)->number = 2;
    *mica_write(world, from->entities[1], DirectBox)->number = 3;
    mica_remove(world, from->entities[3], Box);
    mica_add(world, from->entities[4], Box);
    mica_destroy(world, from->entities[7]);
    mica_remove(world, from->entities[8], PoolBox);
    mica_add(world, from->entities[10], DirectBox);
    mica_pool *many = mica_pool_of(world, ManyBox);
    mica_pool_remove(many, mica_pool_find(many, from->entities[2]));
    from->entities[7] = mica_create(world, MICA_WITH(Box), MICA_WITH(PoolBox), MICA_WITH(DirectBox));
    *mica_singleton_write(world, OnlyBox)->number = 501;
}

START_TEST(values_are_made_by_rules)
{
    for (uint32_t mapped = 0; mapped < 2; ++mapped) {
        static boxes from;
        reports heard;
        open_from(&from);
        mica_world *world = open_boxes(&heard);
        if (mapped)
            mica_create(world);
        mica_replica *replica =
            mica_replica_create(world, &(mica_replica_def){.mapped = mapped, .rules = rules, .rule_count = RULES});
        mica_delta delta = encode(&from, 0);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        expect_same_boxes(&from, world, replica);
        mica_snapshot before = mica_snapshot_take(world);
        change_boxes(&from);
        delta = encode(&from, delta.version);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        expect_same_boxes(&from, world, replica);
        expect_valid(world);
        if (!mapped)
            ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(from.world));
        delta = encode(&from, delta.version); /* nothing, and so no singleton */
        ck_assert_uint_eq(delta.value_bytes, 0);
        ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
        ck_assert_uint_eq(number_in(mica_get(world, mica_replica_local(replica, from.entities[1]), Box)), 101);
        expect_valid(world);
        mica_replica_destroy(replica);
        close_world(world, &heard);
        close_from(&from);
    }
}
END_TEST

START_TEST(without_a_rule_a_component_is_named_or_skipped)
{
    static boxes from;
    reports heard;
    mica_delta delta;
    open_from(&from);
    const char *names[RULES] = {"component Box ", "component PoolBox ", "component DirectBox ", "component ManyBox ",
                                "component OnlyBox "};
    for (uint32_t i = 0; i < RULES; ++i) { /* all rules but one */
        mica_resource_rule some[RULES - 1];
        for (uint32_t j = 0, count = 0; j < RULES; ++j)
            if (j != i)
                some[count++] = rules[j];
        mica_sender_def def = {.rules = some, .rule_count = RULES - 1};
        mica_sender *sender = mica_sender_create(from.world, &def);
        ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_ERROR_REFUSED);
        expect_report(&from.heard, MICA_ERROR_REFUSED, names[i]);
        mica_sender_destroy(sender);
        def.excluded = &rules[i].component;
        def.excluded_count = 1;
        for (uint32_t skips = 0; skips < 2; ++skips, def.excluded_count = 0, def.skip_without_rule = true) {
            sender = mica_sender_create(from.world, &def);
            ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_OK);
            mica_world *world = open_boxes(&heard);
            mica_replica *replica =
                mica_replica_create(world, &(mica_replica_def){.rules = some, .rule_count = RULES - 1});
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
            mica_delta all = encode(&from, 0);
            ck_assert_int_eq(mica_delta_apply(replica, all.bytes, all.byte_count), MICA_ERROR_LAYOUT);
            expect_report(&heard, MICA_ERROR_LAYOUT, names[i]);
            mica_replica_destroy(replica);
            close_world(world, &heard);
            mica_sender_destroy(sender);
        }
    }
    close_from(&from);
}
END_TEST

/* A rule without functions, for the replica. */
START_TEST(fields_are_sent_without_a_rule)
{
    static boxes from;
    reports heard;
    mica_delta delta;
    open_from(&from);
    mica_resource_rule plain[RULES];
    for (uint32_t i = 0; i < RULES; ++i)
        plain[i] = (mica_resource_rule){.component = rules[i].component};
    mica_sender *sender = mica_sender_create(from.world, &(mica_sender_def){.fields_without_rule = true});
    mica_sender *by_rules = mica_sender_create(from.world, &(mica_sender_def){.rules = plain, .rule_count = RULES});
    mica_world *world = open_boxes(&heard);
    mica_replica *replica = mica_replica_create(world, &(mica_replica_def){.rules = plain, .rule_count = RULES});
    mica_version base = 0;
    for (uint32_t turn = 0; turn < 3; ++turn) {
        mica_delta same;
        ck_assert_int_eq(mica_delta_encode(by_rules, base, &same), MICA_OK);
        ck_assert_int_eq(mica_delta_encode(sender, base, &delta), MICA_OK);
        ck_assert_uint_eq(delta.byte_count, same.byte_count);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        ck_assert_uint_gt(turn ? 1 : delta.value_bytes, 0);
        for (uint32_t i = 0; i < sizeof from.entities / sizeof *from.entities; ++i) {
            const Box *sent = mica_get(from.world, from.entities[i], Box),
                      *got = mica_get(world, from.entities[i], Box);
            ck_assert(!sent == !got && (!sent || (sent->shown == got->shown && number_in(got) == 7)));
        }
        base = delta.version;
        change_boxes(&from);
    }
    expect_valid(world);
    mica_replica_destroy(replica);
    close_world(world, &heard);
    mica_sender_destroy(sender);
    mica_sender_destroy(by_rules);
    close_from(&from);
}
END_TEST

START_TEST(functions_that_refuse_change_nothing)
{
    static boxes from;
    reports heard;
    mica_delta delta;
    open_from(&from);
    saves_left = 10;
    ck_assert_int_eq(mica_delta_encode(from.sender, 0, &delta), MICA_ERROR_DATA);
    expect_report(&from.heard, MICA_ERROR_DATA, "the save function of component");
    saves_left = 1 << 30;
    delta = encode(&from, 0);
    for (uint32_t mapped = 0; mapped < 2; ++mapped) {
        mica_world *world = open_boxes(&heard);
        mica_replica *replica =
            mica_replica_create(world, &(mica_replica_def){.mapped = mapped, .rules = rules, .rule_count = RULES});
        uint64_t hash = mica_world_hash(world);
        for (uint32_t i = 0; i < 60; i += 7) {
            spawns_left = (int)i;
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_ERROR_DATA);
            expect_report(&heard, MICA_ERROR_DATA, "the spawn function of component");
            spawns_left = 1 << 30;
            boxes_left = (int)i;
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_ERROR_MEMORY);
            boxes_left = 1 << 30;
            forget_reports(&heard);
            ck_assert_uint_eq(mica_world_hash(world), hash);
            expect_valid(world);
        }
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        expect_same_boxes(&from, world, replica);
        mica_replica_destroy(replica);
        close_world(world, &heard);
    }
    close_from(&from);
}
END_TEST

START_TEST(memory_that_runs_out_changes_nothing)
{
    static boxes from;
    static faulty_allocator faulty;
    open_from(&from);
    mica_delta delta = encode(&from, 0);
    bool reached = true;
    for (uint64_t k = 1; reached; ++k) {
        faulty_allocator_init(&faulty);
        reports heard;
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        mica_world *world = open_world_with(&heard, def);
        define_boxes(world);
        uint64_t hash = mica_world_hash(world);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_replica *replica = mica_replica_create(world, &(mica_replica_def){.rules = rules, .rule_count = RULES});
        mica_result result = replica ? mica_delta_apply(replica, delta.bytes, delta.byte_count) : MICA_ERROR_MEMORY;
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(result == MICA_OK || (result == MICA_ERROR_MEMORY && reached));
        REQUIRE(result == MICA_OK || mica_world_hash(world) == hash);
        if (replica && result != MICA_OK)
            REQUIRE(mica_delta_apply(replica, delta.bytes, delta.byte_count) == MICA_OK);
        if (replica)
            expect_same_boxes(&from, world, replica);
        forget_reports(&heard);
        mica_replica_destroy(replica);
        close_world(world, &heard);
        faulty_allocator_free(&faulty);
    }
    close_from(&from);
}
END_TEST

START_TEST(a_sender_without_memory_says_so)
{
    static faulty_allocator faulty;
    static boxes from;
    make_rules();
    bool reached = true;
    for (uint64_t k = 1; reached; ++k) {
        faulty_allocator_init(&faulty);
        mica_world_def def = mica_world_def_default();
        def.allocator = faulty_allocator_interface(&faulty);
        from = (boxes){.world = open_world_with(&from.heard, def)};
        define_boxes(from.world);
        fill_boxes(&from);
        faulty_allocator_fail_at(&faulty, k, false);
        from.sender = mica_sender_create(from.world, &sender_def);
        mica_result result = from.sender ? mica_delta_encode(from.sender, 0, &from.delta) : MICA_ERROR_MEMORY;
        reached = faulty.failures > 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        REQUIRE(result == (reached ? MICA_ERROR_MEMORY : MICA_OK));
        forget_reports(&from.heard);
        close_from(&from);
        faulty_allocator_free(&faulty);
    }
}
END_TEST

START_TEST(a_singleton_that_is_not_used_any_more_has_its_default_value)
{
    static boxes from;
    reports heard;
    make_rules();
    from = (boxes){.world = open_boxes(&from.heard)};
    from.sender = mica_sender_create(from.world, &sender_def);
    mica_world *world = open_boxes(&heard);
    mica_replica *replica = mica_replica_create(world, &(mica_replica_def){.rules = rules, .rule_count = RULES});
    mica_snapshot before = mica_snapshot_take(from.world);
    *mica_singleton_write(from.world, OnlyBox)->number = 500;
    mica_delta delta = encode(&from, 0);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert_uint_eq(number_in(mica_singleton_get(world, OnlyBox)), 500);
    ck_assert_int_eq(mica_snapshot_restore(from.world, before), MICA_OK);
    delta = encode(&from, delta.version);
    ck_assert_uint_eq(delta.base, 0);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert(!mica_singleton_is_used(world, MICA_ID(OnlyBox)));
    ck_assert_uint_eq(number_in(mica_singleton_get(world, OnlyBox)), 7);
    mica_replica_destroy(replica);
    close_world(world, &heard);
    close_from(&from);
}
END_TEST

/* A recipe with a larger alignment than anything else has. */
typedef struct WideRecipe { _Alignas(256) uint32_t number; } WideRecipe;
MICA_STRUCT(WideRecipe, number)

static bool save_wide(const mica_world *world, mica_entity entity, const void *value, void *out_instance, void *context)
{
    (void)world, (void)entity, (void)context;
    REQUIRE((uintptr_t)out_instance % _Alignof(WideRecipe) == 0);
    ((WideRecipe *)out_instance)->number = *((const Box *)value)->number;
    return true;
}

static bool spawn_wide(const mica_spawn_run *run, void *context)
{
    const WideRecipe *recipes = run->instances;
    (void)context;
    REQUIRE((uintptr_t)recipes % _Alignof(WideRecipe) == 0);
    for (uint32_t i = 0; i < run->count; ++i)
        *((Box *)run->values)[i].number = recipes[i].number;
    return true;
}

START_TEST(a_recipe_has_the_alignment_that_it_asks_for)
{
    static boxes from;
    reports heard;
    make_rules();
    rules[0].recipe = &mica_type_of_WideRecipe;
    rules[0].save = save_wide;
    rules[0].spawn = spawn_wide;
    from = (boxes){.world = open_boxes(&from.heard)};
    from.sender = mica_sender_create(from.world, &sender_def);
    mica_world *world = open_boxes(&heard);
    mica_replica *replica = mica_replica_create(world, &(mica_replica_def){.rules = rules, .rule_count = RULES});
    mica_entity entities[3];
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i) {
        entities[i] = mica_create(from.world);
        *mica_add(from.world, entities[i], Box)->number = 30 + i;
    }
    mica_delta delta = encode(&from, 0);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i)
        ck_assert_uint_eq(number_in(mica_get(world, entities[i], Box)), 30 + i);
    expect_valid(world);
    mica_replica_destroy(replica);
    close_world(world, &heard);
    close_from(&from);
}
END_TEST

START_TEST(invalid_rules_are_refused_by_name)
{
    static const mica_type nothing = {.name = "Nothing", .kind = MICA_KIND_STRUCT, .size_bytes = 8, .alignment = 3};
    reports heard;
    make_rules();
    mica_world *world = open_boxes(&heard);
    mica_resource_rule bad[] = {{.component = 0}, {.component = MICA_ID(Box), .recipe = &nothing}};
    const char *words[] = {"there is no such component", "component Box"};
    for (uint32_t i = 0; i < COUNT_OF(bad); ++i) {
        ck_assert_ptr_null(mica_sender_create(world, &(mica_sender_def){.rules = &bad[i], .rule_count = 1}));
        expect_report(&heard, MICA_ERROR_INVALID, words[i]);
        ck_assert_ptr_null(mica_replica_create(world, &(mica_replica_def){.rules = &bad[i], .rule_count = 1}));
        expect_report(&heard, MICA_ERROR_INVALID, words[i]);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(delta_rules, values_are_made_by_rules, without_a_rule_a_component_is_named_or_skipped,
           fields_are_sent_without_a_rule, functions_that_refuse_change_nothing, memory_that_runs_out_changes_nothing,
           a_sender_without_memory_says_so, a_singleton_that_is_not_used_any_more_has_its_default_value,
           a_recipe_has_the_alignment_that_it_asks_for, invalid_rules_are_refused_by_name)
