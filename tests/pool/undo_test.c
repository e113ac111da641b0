/* What snapshots and clones keep of pools; and pools at the limits of what can be copied and of what there can be: values
 * without a copy function, clones that fail half way, more rows than can be counted. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "../support/variants.h"
#include "mica/snapshot.h"

#include "core/world/world.h"

#include <stdio.h>
#include <string.h>

static reports heard;

typedef Text Letterhead;
typedef Text Postscript;
#define OWNS .construct = text_construct, .destruct = text_destruct, .copy = text_copy, .move = text_move
MICA_POOL_WITH(Letterhead, (.index = MICA_INDEX_DIRECT, OWNS), length)
MICA_POOL_WITH(Postscript, (OWNS), length)
typedef struct Unused { uint32_t value; } Unused;
MICA_POOL(Unused, value)

START_TEST(a_clone_that_cannot_copy_a_value_leaves_no_world)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[6];
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i) {
        entities[i] = mica_create(world, MICA_WITH(Letterhead));
        ck_assert_ptr_nonnull(mica_add(world, entities[i], Postscript));
    }
    ck_assert_ptr_nonnull(mica_pool_of(world, Unused)); /* an empty pool */
    ck_assert(mica_remove(world, entities[2], Letterhead) && mica_remove(world, entities[3], Letterhead));
    const int values = texts_alive;
    mica_world *clone = NULL;
    for (int allowed = 0; allowed <= values; ++allowed) {
        texts_allowed = allowed;
        clone = mica_world_clone(world);
        ck_assert_msg((clone != NULL) == (allowed == values), "%d of %d values are copied", allowed, values);
        if (clone)
            break;
        expect_report(&heard, MICA_ERROR_MEMORY, "world_clone");
        ck_assert_int_eq(texts_alive, values);
        expect_valid(world);
    }
    ck_assert_int_eq(texts_alive, 2 * values);
    ck_assert_uint_eq(mica_world_hash(clone), mica_world_hash(world));
    expect_valid(clone);
    mica_world_destroy(clone);
    ck_assert_int_eq(texts_alive, values);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

static int compare_lengths(const void *a, const void *b, void *context)
{
    (void)context;
    const Text *first = a, *second = b;
    return first->length < second->length ? 1 : first->length > second->length ? -1 : 0;
}

START_TEST(values_that_own_something_come_back_to_their_rows)
{
    enum { ENTITIES = MICA_SLICE_ROWS + 100 };
    mica_world *world = open_world(&heard);
    static mica_entity entities[ENTITIES];
    char characters[16];
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        entities[i] = mica_create(world);
        snprintf(characters, sizeof characters, "%.*s", (int)(i % 9), "123456789");
        Text text = text_make(characters);
        if (i % 3)
            mica_set_from(world, entities[i], Letterhead, &text);
        mica_set_from(world, entities[i], Postscript, &text);
        text_drop(&text);
    }
    uint64_t hash = mica_world_hash(world);
    const int values = texts_alive;
    mica_snapshot before = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 2; ++round) {
        Text text = text_make("changed");
        for (uint32_t i = 0; i < ENTITIES; i += 5)
            mica_set_from(world, entities[i], Letterhead, &text); /* some of which had none */
        text_drop(&text);
        ck_assert_int_eq(mica_pool_sort(mica_pool_of(world, Postscript), compare_lengths, NULL), MICA_OK);
        for (uint32_t i = 0; i < ENTITIES; i += 7)
            mica_destroy(world, entities[i]);
        ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
        ck_assert_int_eq(texts_alive, values);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        for (uint32_t i = 0; i < ENTITIES; ++i) {
            const Text *text_now = mica_get(world, entities[i], Postscript),
                       *head = mica_get(world, entities[i], Letterhead);
            ck_assert(text_now->length == i % 9 && strlen(text_now->characters) == i % 9);
            ck_assert(i % 3 ? head && strlen(head->characters) == i % 9 : !head);
        }
        expect_valid(world);
    }
    mica_snapshot_drop(world, before);
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

static int compare_items(const void *a, const void *b, void *context)
{
    (void)context;
    const Item *first = a, *second = b;
    return first->number < second->number ? 1 : first->number > second->number ? -1 : 0;
}

/* Three instances of each entity, some slices apart: removing one changes links in distant rows. */
START_TEST(a_chain_of_instances_that_lost_one_comes_back_whole)
{
    enum { ENTITIES = 300 };
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    mica_world *world = open_world(&heard);
    mica_pool *pool = mica_pool_of_id(world, variant_component(how, 'c'));
    mica_entity entities[ENTITIES];
    for (uint32_t i = 0; how->many && i < ENTITIES; ++i)
        entities[i] = mica_create(world);
    for (uint32_t i = 0; how->many && i < 3 * ENTITIES; ++i)
        ck_assert(!mica_instance_is_nil(mica_pool_add(pool, entities[i % ENTITIES])));
    uint64_t hash = mica_world_hash(world);
    mica_snapshot before = mica_snapshot_take(world);
    for (uint32_t i = 0; how->many && i < ENTITIES; i += 7) {
        mica_instance first = mica_pool_find(pool, entities[i]);
        ck_assert(mica_pool_remove(pool, i % 2 ? first : mica_pool_next(pool, first)));
        expect_valid(world);
        ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
        expect_valid(world);
        ck_assert_uint_eq(mica_world_hash(world), hash);
    }
    close_world(world, &heard);
}
END_TEST

/* Rows come, go and move between three snapshots, over blocks and slices; then each comes back, in any order. */
START_TEST(snapshots_of_pools_come_back_in_any_order)
{
    enum { ENTITIES = 1500, SNAPSHOTS = 3, ORDERS = 9 };
    static const uint8_t orders[ORDERS] = {0, 1, 0, 2, 1, 2, 0, 0, 2};
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    mica_world *world = open_world(&heard);
    mica_component component = variant_component(how, 'o');
    mica_snapshot snapshots[SNAPSHOTS];
    uint64_t hashes[SNAPSHOTS];
    static mica_entity entities[ENTITIES];
    mica_create_many(world, ENTITIES, NULL, 0, entities);
    for (uint32_t at = 0; at < SNAPSHOTS; ++at) {
        for (uint32_t i = at * 100; i < ENTITIES; i += 2 + at) {
            Item item = item_of(i + at);
            if ((i / 7 + at) % 3)
                mica_set_id(world, entities[i], item_value(component, &item));
            else
                mica_remove_id(world, entities[i], component);
        }
        snapshots[at] = mica_snapshot_take(world);
        hashes[at] = mica_world_hash(world);
    }
    for (uint32_t i = 0; i < ORDERS; ++i) {
        for (uint32_t k = i; i % 3 == 2 && k < ENTITIES; k += 11 + i) /* mostly there is no change in between */
            mica_remove_id(world, entities[k], component);
        for (uint32_t k = 7 * i; i % 3 == 2 && k < ENTITIES; k += 101)
            ck_assert_ptr_nonnull(mica_add_id(world, entities[k], component));
        ck_assert_int_eq(mica_snapshot_restore(world, snapshots[orders[i]]), MICA_OK);
        expect_valid(world);
        ck_assert_msg(mica_world_hash(world) == hashes[orders[i]], "%s, %u", variant_name(how), i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(pools_of_every_kind_come_back_as_they_were)
{
    enum { ENTITIES = 40 };
    const variant *how = &variants[VARIANTS_CHUNK + _i];
    mica_world *world = open_world(&heard);
    mica_component component = variant_component(how, 'k');
    mica_pool *pool = mica_pool_of_id(world, component);
    mica_entity entities[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; ++i) {
        Item item = item_of(i);
        mica_value value = item_value(component, &item);
        entities[i] = mica_create_id(world, &value, i % 4 ? 1 : 0);
    }
    for (uint32_t i = 0; how->many && i < ENTITIES; i += 3)
        mica_pool_add(pool, entities[i]);
    uint64_t hash = mica_world_hash(world);
    mica_snapshot before = mica_snapshot_take(world);
    for (uint32_t i = 0; i < ENTITIES; i += 2)
        mica_remove_id(world, entities[i], component);
    for (uint32_t i = 0; how->many && i < ENTITIES; i += 5)
        mica_pool_add(pool, entities[i]);
    if (how->index != MICA_INDEX_DIRECT && !how->split)
        ck_assert_int_eq(mica_pool_sort(pool, compare_items, NULL), MICA_OK);
    for (uint32_t i = 0; i < ENTITIES; i += 9)
        mica_destroy(world, entities[i]);
    ck_assert_uint_ne(mica_world_hash(world), hash);
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert_msg(mica_world_hash(world) == hash, "%s", variant_name(how));
    for (uint32_t i = 0; i < ENTITIES; ++i)
        ck_assert_int_eq(mica_has_id(world, entities[i], component), i % 4 || (how->many && i % 3 == 0));
    for (uint32_t i = 0; i < ENTITIES; i += 7)
        mica_destroy(world, entities[i]);
    mica_world *clone = mica_world_clone(world);
    for (uint32_t flushed = 0; flushed < 2; ++flushed) {
        ck_assert_uint_eq(mica_world_hash(clone), mica_world_hash(world));
        ck_assert_uint_eq(mica_pool_row_count(mica_pool_of_id(clone, component)), mica_pool_row_count(pool));
        expect_valid(clone);
        ck_assert(mica_flush(world) == MICA_OK &&
                  mica_flush(clone) == MICA_OK); /* rows of the dead go, if they wait for it */
    }
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

typedef struct File { int32_t number; } File;
typedef struct Pipe { int32_t number; } Pipe;
static uint32_t closed_count;
static void close_numbers(void *values, uint32_t count, void *context)
{
    (void)values;
    (void)context;
    closed_count += count;
}
MICA_COMPONENT_WITH(File, (.destruct = close_numbers), number)
MICA_POOL_WITH(Pipe, (.destruct = close_numbers), number)

START_TEST(values_without_copy_may_be_added_after_a_snapshot_and_disappear_when_it_is_restored)
{
    enum { ENTITIES = 2 * MICA_SLICE_ROWS };
    mica_world *world = open_world(&heard);
    mica_entity first = mica_create(world, MICA_WITH(Number, {1}));
    uint64_t hash = mica_world_hash(world);
    mica_snapshot before = mica_snapshot_take(world), again = mica_snapshot_take(world);
    for (uint32_t round = 0; round < 3; ++round) {
        closed_count = 0;
        for (uint32_t i = 0; i < ENTITIES; ++i)
            mica_create(world, MICA_WITH(File, {1}), MICA_WITH(Pipe, {2}));
        mica_add(world, first, Pipe);
        mica_set(world, first, Pipe, {3});
        ck_assert_uint_eq(mica_snapshot_take(world).id, 0);
        expect_report(&heard, MICA_ERROR_REFUSED, "has a destruct function and no copy function");
        uint32_t replaced = closed_count;
        ck_assert_int_eq(mica_snapshot_restore(world, round % 2 ? again : before), MICA_OK);
        ck_assert_uint_eq(closed_count - replaced, 2 * ENTITIES + 1);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

typedef struct Heat { uint32_t degrees; } Heat;
typedef struct Rare { uint32_t value; } Rare;
MICA_POOL(Heat, degrees)
MICA_POOL_WITH(Rare, (.index = MICA_INDEX_HASH), value)

START_TEST(room_for_more_rows_than_there_can_be_is_refused)
{
    faulty_allocator allocator;
    faulty_allocator_init(&allocator);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&allocator);
    mica_world *world = open_world_with(&heard, def);
    mica_create(world, MICA_WITH(Heat, {1}), MICA_WITH(Rare, {2}));
    const mica_type vast = {.name = "Vast",
                            .kind = MICA_KIND_STRUCT,
                            .storage = MICA_STORAGE_POOL,
                            .size_bytes = MICA_COMPONENT_BYTES_MAX,
                            .alignment = 4};
    mica_pool *heat = mica_pool_of(world, Heat), *rare = mica_pool_of(world, Rare);
    mica_pool *wide = mica_pool_of_id(world, mica_component_define(world, &vast));
    size_t bytes = mica_world_get_stats(world).memory_bytes;
    faulty_allocator_fail_at(&allocator, 1, true); /* a machine might really have the memory */
    const struct {
        const char *what;
        mica_pool *pool;
        uint64_t more;
        bool asks; /* the allocator, before it gives up */
    } cases[] = {
        {"more rows than can be numbered", heat, UINT32_MAX, false},
        {"as many rows as can be numbered", heat, UINT32_MAX - 2, true},
        {"more entries than a table can have", rare, UINT32_MAX - 2, false},
        {"more bytes than there are addresses", wide, 1u << 31, false},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        uint64_t failures = allocator.failures;
        ck_assert_msg(!micap_pool_reserve_rows(cases[i].pool, cases[i].more), "%s", cases[i].what);
        ck_assert_msg((allocator.failures != failures) == cases[i].asks, "%s is known without trying", cases[i].what);
    }
    faulty_allocator_fail_at(&allocator, 0, false);
    ck_assert_uint_eq(mica_world_get_stats(world).memory_bytes, bytes);
    close_world(world, &heard);
    faulty_allocator_free(&allocator);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("keep");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, a_clone_that_cannot_copy_a_value_leaves_no_world);
    tcase_add_test(cases, values_that_own_something_come_back_to_their_rows);
    tcase_add_loop_test(cases, a_chain_of_instances_that_lost_one_comes_back_whole, 0,
                        (int)variant_count - VARIANTS_CHUNK);
    tcase_add_loop_test(cases, snapshots_of_pools_come_back_in_any_order, 0, (int)variant_count - VARIANTS_CHUNK);
    tcase_add_loop_test(cases, pools_of_every_kind_come_back_as_they_were, 0, (int)variant_count - VARIANTS_CHUNK);
    tcase_add_test(cases, values_without_copy_may_be_added_after_a_snapshot_and_disappear_when_it_is_restored);
    tcase_add_test(cases, room_for_more_rows_than_there_can_be_is_refused);
    return test_run("keep", cases);
}
