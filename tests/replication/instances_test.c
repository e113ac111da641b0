/* Pools with several instances per entity: replicas have the same instances in the same order, and what is not sent again stays. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/delta.h"
#include "mica/hook.h"
#include "mica/hash.h"
#include "mica/pool.h"

#include <string.h>

typedef struct Parcel { mica_text label; uint32_t number; mica_entity from; } Parcel;
MICA_POOL_WITH(Parcel, (.many = true, .toggle = true), label, number, from)
typedef struct Crumb { uint32_t number; } Crumb;
MICA_POOL_WITH(Crumb,
               (.many = true, .split = true, .index = MICA_INDEX_HASH, .dying = MICA_DYING_LAZILY, .track_added = true),
               number)

enum { CARRIERS = 60, START_ROWS = 1500, TICKS = 60 };

/* Entities with so many instances that chains run through several slices, of which a tick changes a few. */
typedef struct depot {
    mica_world *world;
    reports heard;
    mica_sender *sender;
    mica_entity carriers[CARRIERS];
    random_source random;
} depot;

static void add_one(depot *depot)
{
    mica_entity carrier = depot->carriers[random_below(&depot->random, CARRIERS)];
    mica_entity other = depot->carriers[random_below(&depot->random, CARRIERS)];
    uint32_t number = random_below(&depot->random, 1u << 30);
    mica_pool *parcels = mica_pool_of(depot->world, Parcel), *crumbs = mica_pool_of(depot->world, Crumb);
    if (!mica_is_alive(depot->world, carrier))
        return;
    Parcel *parcel = mica_instance_write_id(parcels, mica_pool_add(parcels, carrier));
    parcel->number = number;
    parcel->from = other;
    mica_text_set(&parcel->label, number % 2 ? "a label that does not fit in its place" : "short");
    *(uint32_t *)mica_instance_write_field_id(crumbs, mica_pool_add(crumbs, carrier), 0) = number;
}

static mica_instance any_of(depot *depot, const mica_pool *pool)
{
    mica_instance found = mica_pool_find(pool, depot->carriers[random_below(&depot->random, CARRIERS)]);
    for (uint32_t i = random_below(&depot->random, 20); i && !mica_instance_is_nil(found); --i) {
        mica_instance next = mica_pool_next(pool, found);
        found = mica_instance_is_nil(next) ? found : next;
    }
    return found;
}

static int compare_numbers(const void *a, const void *b, void *context)
{
    const Parcel *left = a, *right = b;
    (void)context;
    return left->number < right->number ? -1 : left->number > right->number;
}

static void work_a_tick(depot *depot)
{
    mica_pool *parcels = mica_pool_of(depot->world, Parcel), *crumbs = mica_pool_of(depot->world, Crumb);
    mica_instance found = any_of(depot, parcels);
    mica_entity *carrier = &depot->carriers[random_below(&depot->random, CARRIERS)];
    switch (random_below(&depot->random, 8)) {
    case 0: mica_pool_remove(parcels, found); break;
    case 1: mica_pool_remove(crumbs, any_of(depot, crumbs)); break;
    case 2: add_one(depot); break;
    case 3:
        if (!mica_instance_is_nil(found))
            ((Parcel *)mica_instance_write_id(parcels, found))->number = 1;
        break;
    case 4:
        if (mica_has(depot->world, *carrier, Parcel))
            mica_enable_id(depot->world, *carrier, MICA_ID(Parcel), random_below(&depot->random, 2));
        break;
    case 5:
        if (random_one_in(&depot->random, 4))
            mica_pool_sort(parcels, compare_numbers, NULL);
        break;
    case 6:
        if (random_one_in(&depot->random, 4)) { /* its instances may go later */
            mica_destroy(depot->world, *carrier);
            *carrier = mica_create(depot->world);
        }
        break;
    default:
        if (random_one_in(&depot->random, 4) && mica_has(depot->world, *carrier, Crumb))
            mica_remove(depot->world, *carrier, Crumb);
        break;
    }
}

static mica_world *open_store(reports *heard)
{
    mica_world *world = open_world(heard);
    mica_define(world, Parcel);
    mica_define(world, Crumb);
    mica_define(world, Number);
    return world;
}

static void open_depot(depot *depot, uint64_t seed, uint32_t rows)
{
    *depot = (struct depot){.random = {seed}};
    depot->world = open_store(&depot->heard);
    depot->sender = mica_sender_create(depot->world, NULL);
    for (uint32_t i = 0; i < CARRIERS; ++i)
        depot->carriers[i] = mica_create(depot->world);
    for (uint32_t i = 0; i < rows; ++i)
        add_one(depot);
}

static void close_depot(depot *depot)
{
    mica_sender_destroy(depot->sender);
    forget_reports(&depot->heard);
    close_world(depot->world, &depot->heard);
}

typedef struct shop {
    mica_world *world;
    reports heard;
    mica_replica *replica;
    mica_version acknowledged;
} shop;

static void open_shop(shop *shop, bool mapped)
{
    *shop = (struct shop){.acknowledged = 0};
    shop->world = open_store(&shop->heard);
    shop->replica = mica_replica_create(shop->world, &(mica_replica_def){.mapped = mapped});
}

static void close_shop(shop *shop)
{
    mica_replica_destroy(shop->replica);
    close_world(shop->world, &shop->heard);
}

static void deliver(depot *from, shop *to)
{
    mica_delta delta;
    REQUIRE(mica_delta_encode(from->sender, to->acknowledged, &delta) == MICA_OK);
    mica_result result = mica_delta_apply(to->replica, delta.bytes, delta.byte_count);
    REQUIRE_SAYING(result == MICA_OK, "%s", to->heard.count ? to->heard.list[0].text : "");
    to->acknowledged = delta.version;
}

/* All instances of an entity, in order; the receiver may have more. */
static mica_instance expect_same_parcels(const depot *from, const shop *to, mica_entity there)
{
    mica_entity here = mica_replica_local(to->replica, there);
    const mica_pool *left = mica_pool_of(from->world, Parcel), *right = mica_pool_of(to->world, Parcel);
    mica_instance a = mica_pool_find(left, there), b = mica_pool_find(right, here);
    for (; !mica_instance_is_nil(a); a = mica_pool_next(left, a), b = mica_pool_next(right, b)) {
        const Parcel *parcel = mica_instance_read_id(left, a), *same = mica_instance_read_id(right, b);
        REQUIRE(parcel->number == same->number && mica_text_compare(&parcel->label, &same->label) == 0);
        REQUIRE(mica_same(mica_replica_local(to->replica, parcel->from), same->from) ||
                !mica_is_alive(from->world, parcel->from));
        REQUIRE(mica_is_enabled(from->world, there, Parcel) == mica_is_enabled(to->world, here, Parcel));
    }
    return b;
}

static void expect_same_crumbs(const depot *from, const shop *to, mica_entity there)
{
    mica_entity here = mica_replica_local(to->replica, there);
    const mica_pool *left = mica_pool_of(from->world, Crumb), *right = mica_pool_of(to->world, Crumb);
    mica_instance a = mica_pool_find(left, there), b = mica_pool_find(right, here);
    for (; !mica_instance_is_nil(a); a = mica_pool_next(left, a), b = mica_pool_next(right, b))
        REQUIRE(*(const uint32_t *)mica_instance_read_field_id(left, a, 0) ==
                *(const uint32_t *)mica_instance_read_field_id(right, b, 0));
    REQUIRE(mica_instance_is_nil(b));
}

static void expect_same_store(const depot *from, const shop *to)
{
    for (uint32_t i = 0; i < CARRIERS; ++i) {
        REQUIRE(mica_instance_is_nil(expect_same_parcels(from, to, from->carriers[i])));
        expect_same_crumbs(from, to, from->carriers[i]);
    }
}

START_TEST(replicas_have_the_same_instances_in_the_same_order)
{
    static depot from;
    for (uint32_t seed = 1; seed <= 8; ++seed) {
        shop same, mapped, late;
        open_depot(&from, seed, START_ROWS);
        open_shop(&same, false);
        open_shop(&mapped, true);
        open_shop(&late, true);
        for (uint32_t tick = 0; tick < TICKS; ++tick) {
            for (uint32_t i = 1 + tick % 5; i; --i)
                work_a_tick(&from);
            deliver(&from, &same);
            REQUIRE(mica_world_hash(from.world) == mica_world_hash(same.world));
            deliver(&from, &mapped);
            if (tick % 7 == 6)
                deliver(&from, &late);
            if (tick % 10 == 9) {
                expect_same_store(&from, &same);
                expect_same_store(&from, &mapped);
                expect_valid(same.world);
                expect_valid(mapped.world);
            }
            forget_reports(&from.heard); /* of a nil instance */
        }
        deliver(&from, &late);
        expect_same_store(&from, &late);
        close_shop(&same);
        close_shop(&mapped);
        close_shop(&late);
        close_depot(&from);
    }
}
END_TEST

START_TEST(a_changed_instance_is_sent_with_its_slice_only)
{
    static depot from;
    shop to;
    mica_delta delta;
    open_depot(&from, 3, START_ROWS);
    open_shop(&to, false);
    deliver(&from, &to);
    mica_pool *parcels = mica_pool_of(from.world, Parcel);
    ((Parcel *)mica_instance_write_id(parcels, mica_pool_find(parcels, from.carriers[0])))->number = 1;
    ck_assert_int_eq(mica_delta_encode(from.sender, to.acknowledged, &delta), MICA_OK);
    ck_assert_uint_eq(delta.slice_count, 1);
    ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_OK);
    to.acknowledged = delta.version;
    add_one(&from); /* the new row, and the row before it in the chain, which has the same values */
    ck_assert_int_eq(mica_delta_encode(from.sender, to.acknowledged, &delta), MICA_OK);
    ck_assert_uint_le(delta.slice_count, 4);
    ck_assert_uint_lt(delta.byte_count, 2 * MICA_SLICE_ROWS * (sizeof(Parcel) + 64));
    ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_OK);
    expect_same_store(&from, &to);
    close_shop(&to);
    close_depot(&from);
}
END_TEST

static void count_event(const mica_event *event)
{
    uint32_t *counts = event->context;
    counts[event->kind == MICA_EVENT_ADD ? 0 : 1] += event->count;
}

START_TEST(the_receiver_keeps_instances_of_its_own)
{
    for (uint32_t mapped = 0; mapped < 2; ++mapped) {
        static depot from;
        shop to;
        open_depot(&from, 9, 40);
        open_shop(&to, mapped);
        uint32_t counts[2] = {0};
        mica_hook_set(to.world, Parcel, MICA_EVENT_ADD, count_event, counts);
        mica_hook_set(to.world, Parcel, MICA_EVENT_REMOVE, count_event, counts);
        deliver(&from, &to);
        ck_assert_uint_eq(counts[0], 40);
        ck_assert_uint_eq(counts[1], 0);
        mica_entity there = from.carriers[0];
        for (uint32_t i = 0; i < 3; ++i) { /* now it has some */
            from.carriers[0] = there;
            mica_pool *pool = mica_pool_of(from.world, Parcel);
            ((Parcel *)mica_instance_write_id(pool, mica_pool_add(pool, there)))->number = i;
        }
        deliver(&from, &to);
        mica_pool *here = mica_pool_of(to.world, Parcel), *pool = mica_pool_of(from.world, Parcel);
        mica_entity local = mica_replica_local(to.replica, there);
        ((Parcel *)mica_instance_write_id(here, mica_pool_add(here, local)))->number = 777;
        mica_entity own = mica_create(to.world);
        if (mapped)
            ((Parcel *)mica_instance_write_id(here, mica_pool_add(here, own)))->number = 555;
        counts[0] = counts[1] = 0;
        mica_pool_remove(pool, mica_pool_find(pool, there)); /* the others stay what they are */
        deliver(&from, &to);
        ck_assert_uint_eq(counts[0], 0);
        ck_assert_uint_eq(counts[1], 1);
        mica_instance last = expect_same_parcels(&from, &to, there);
        ck_assert_uint_eq(((const Parcel *)mica_instance_read_id(here, last))->number, 777);
        if (mapped)
            ck_assert_uint_eq(((const Parcel *)mica_instance_read_id(here, mica_pool_find(here, own)))->number, 555);
        mica_pool_remove(here,
                         mica_pool_find(here, local)); /* and what the receiver removed comes back when rows change */
        add_one(&from);
        deliver(&from, &to);
        expect_valid(to.world);
        mica_destroy(from.world, there);
        deliver(&from, &to);
        expect_valid(to.world);
        close_shop(&to);
        close_depot(&from);
    }
}
END_TEST

TEST_SUITE(delta_instances, replicas_have_the_same_instances_in_the_same_order,
           a_changed_instance_is_sent_with_its_slice_only, the_receiver_keeps_instances_of_its_own)
