/* Worlds that go back to snapshots: a sender starts over by itself, whatever its receivers acknowledged. */
#include "../support/components.h"
#include "../support/follow.h"
#include "../support/require.h"
#include "../support/sample.h"
#include "../support/test.h"
#include "mica/hash.h"
#include "mica/snapshot.h"

enum { SNAPSHOTS = 4 };

/* Takes, restores and drops snapshots in any order: earlier ones, later ones and those of another line of history. */
typedef struct traveller {
    mica_snapshot snapshots[SNAPSHOTS];
    uint64_t hashes[SNAPSHOTS];
    random_source random;
} traveller;

static void travel(traveller *traveller, mica_world *world)
{
    uint32_t at = random_below(&traveller->random, SNAPSHOTS);
    if (!traveller->snapshots[at].id) {
        traveller->snapshots[at] = mica_snapshot_take(world);
        traveller->hashes[at] = mica_world_hash(world);
        REQUIRE(traveller->snapshots[at].id != 0);
    } else if (random_one_in(&traveller->random, 4)) {
        REQUIRE(mica_snapshot_drop(world, traveller->snapshots[at]));
        traveller->snapshots[at].id = 0;
    } else {
        REQUIRE(mica_snapshot_restore(world, traveller->snapshots[at]) == MICA_OK);
        REQUIRE(mica_world_hash(world) == traveller->hashes[at]);
    }
}

START_TEST(receivers_follow_a_sender_through_restores_in_any_order)
{
    static sender_side from;
    for (uint32_t seed = 1; seed <= 12; ++seed) {
        receiver_side same, mapped, lossy;
        open_sender(&from, seed);
        open_receiver(&same, false);
        open_receiver(&mapped, true);
        open_receiver(&lossy, false);
        traveller traveller = {.random = {seed + 100}};
        for (uint32_t tick = 0; tick < 60; ++tick) {
            live_a_tick(&from);
            if (random_one_in(&traveller.random, 2))
                travel(&traveller, from.world);
            if (random_one_in(&traveller.random, 10))
                mica_world_clear(from.world);
            if (random_one_in(&traveller.random, 4))
                live_a_tick(&from);
            follow(&from, &same, true);
            follow(&from, &mapped, true);
            follow(&from, &lossy, false);
            expect_same(from.world, same.world, tick);
            if (mica_replica_version(lossy.replica) == mica_replica_version(same.replica) + 2)
                expect_same(from.world, lossy.world, tick);
            if (tick % 8 == 0) {
                expect_valid(from.world);
                expect_valid(same.world);
                expect_valid(mapped.world);
            }
            forget_reports(&from.heard);
        }
        follow(&from, &mapped, true);
        expect_alike(&from, &mapped);
        close_receiver(&same);
        close_receiver(&mapped);
        close_receiver(&lossy);
        close_sender(&from);
    }
}
END_TEST

START_TEST(a_delta_from_before_a_restore_holds_everything)
{
    sender_side *from = calloc(1, sizeof *from);
    open_sender(from, 1);
    mica_entity entity = mica_create(from->world, MICA_WITH(Bond, {.strong = true}));
    mica_snapshot before = mica_snapshot_take(from->world);
    mica_write(from->world, entity, Bond)->strong = false;
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(from->sender, 0, &delta), MICA_OK);
    mica_version old = delta.version;
    ck_assert_int_eq(mica_snapshot_restore(from->world, before), MICA_OK);
    ck_assert_int_eq(mica_delta_encode(from->sender, old, &delta), MICA_OK);
    ck_assert_uint_eq(delta.base, 0);
    ck_assert_uint_eq(delta.slice_count, 1);
    mica_version now = delta.version;
    ck_assert_int_eq(mica_delta_encode(from->sender, now, &delta), MICA_OK); /* from there on, what changed */
    ck_assert_uint_eq(delta.base, now);
    ck_assert_uint_eq(delta.slice_count, 0);
    close_sender(from);
    free(from);
}
END_TEST

START_TEST(a_sender_starts_over_after_restores_to_earlier_later_and_sibling_snapshots)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 1);
    open_receiver(&to, false);
    /* a - b - c, and from a also d: each step restores one of them and creates what the others do not have. */
    enum { A, B, C, D };
    static const struct {
        uint32_t restored, taken; /* taken: UINT32_MAX is none */
    } steps[] = {{UINT32_MAX, A}, {UINT32_MAX, B}, {UINT32_MAX, C}, {A, UINT32_MAX}, {C, UINT32_MAX},
                 {B, UINT32_MAX}, {A, D},          {C, UINT32_MAX}, {D, UINT32_MAX}, {B, UINT32_MAX}};
    mica_snapshot snapshots[4];
    for (uint32_t i = 0; i < COUNT_OF(steps); ++i) {
        mica_version before = mica_replica_version(to.replica);
        if (steps[i].restored != UINT32_MAX)
            ck_assert_int_eq(mica_snapshot_restore(from.world, snapshots[steps[i].restored]), MICA_OK);
        mica_create(from.world, MICA_WITH(Bond, {.strong = i % 2}), MICA_WITH(Debt, {mica_nil(), i}));
        if (steps[i].taken != UINT32_MAX)
            snapshots[steps[i].taken] = mica_snapshot_take(from.world);
        mica_delta delta;
        ck_assert_int_eq(mica_delta_encode(from.sender, before, &delta), MICA_OK);
        ck_assert_uint_eq(delta.base, steps[i].restored == UINT32_MAX ? before : 0);
        ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_OK);
        expect_same(from.world, to.world, i);
        expect_valid(to.world);
        ck_assert_int_eq(mica_delta_encode(from.sender, delta.version, &delta), MICA_OK);
        ck_assert_uint_eq(delta.slice_count, 0); /* and from there on what changes */
        to.acknowledged = delta.version;
        ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_OK);
    }
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

START_TEST(a_singleton_that_was_not_used_yet_is_not_used_by_the_receiver_either)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 1);
    open_receiver(&to, false);
    mica_snapshot before = mica_snapshot_take(from.world);
    mica_singleton_write(from.world, SampleClock)->number = 7;
    follow(&from, &to, true);
    ck_assert_uint_eq(mica_singleton_get(to.world, SampleClock)->number, 7);
    mica_singleton_write(to.world, Clock)->ticks = 5; /* the receiver's own */
    ck_assert_int_eq(mica_snapshot_restore(from.world, before), MICA_OK);
    follow(&from, &to, true);
    ck_assert(!mica_singleton_is_used(to.world, MICA_ID(SampleClock)));
    ck_assert_uint_eq(mica_singleton_get(to.world, Clock)->ticks, 5);
    mica_singleton_write(from.world, SampleClock)->number = 8;
    follow(&from, &to, true);
    ck_assert_uint_eq(mica_singleton_get(to.world, SampleClock)->number, 8);
    ck_assert_uint_eq(mica_singleton_get(to.world, SampleClock)->twice, 0);
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

START_TEST(a_replica_whose_world_went_back_before_the_last_delta_says_so)
{
    static sender_side from;
    for (uint32_t mapped = 0; mapped < 2; ++mapped) {
        receiver_side to;
        open_sender(&from, 1);
        open_receiver(&to, mapped);
        mica_snapshot empty = mica_snapshot_take(to.world);
        mica_create(from.world, MICA_WITH(Bond, {.strong = true}));
        follow(&from, &to, true);
        mica_snapshot first = mica_snapshot_take(to.world);
        mica_create(from.world, MICA_WITH(Bond, {.strong = false}));
        follow(&from, &to, true);
        mica_snapshot second = mica_snapshot_take(to.world);
        mica_create(from.world, MICA_WITH(Bond, {.strong = true}));
        mica_delta delta;
        ck_assert_int_eq(mica_delta_encode(from.sender, mica_replica_version(to.replica), &delta), MICA_OK);
        for (uint32_t i = 0; i < 2; ++i) {
            ck_assert_int_eq(mica_snapshot_restore(to.world, i ? empty : first), MICA_OK);
            uint64_t hash = mica_world_hash(to.world);
            mica_snapshot sibling = mica_snapshot_take(to.world); /* has not got the delta either */
            ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_ERROR_REFUSED);
            expect_report(&to.heard, MICA_ERROR_REFUSED, "a snapshot from before the last delta");
            ck_assert_int_eq(mica_snapshot_restore(to.world, sibling), MICA_OK);
            ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_ERROR_REFUSED);
            expect_report(&to.heard, MICA_ERROR_REFUSED, "a snapshot from before the last delta");
            ck_assert_uint_eq(mica_world_hash(to.world), hash);
        }
        ck_assert_int_eq(mica_snapshot_restore(to.world, second), MICA_OK);
        follow(&from, &to, true);
        if (!mapped)
            expect_same(from.world, to.world, 0);
        ck_assert_uint_eq(mica_world_get_stats(to.world).entity_count, 3);
        close_receiver(&to);
        close_sender(&from);
    }
}
END_TEST

/* Dies at the flush: and nothing flushes a replica. */
typedef struct Debris { uint32_t amount; } Debris;
MICA_POOL_WITH(Debris, (.dying = MICA_DYING_AT_FLUSH), amount)

START_TEST(an_entity_that_comes_alive_again_keeps_its_rows_at_the_next_flush)
{
    static sender_side from;
    for (uint32_t i = 0; i < 4; ++i) {
        bool mapped = i & 1, is_destroyed_here_too = i & 2;
        receiver_side to;
        open_sender(&from, 1);
        open_receiver(&to, mapped);
        mica_define(to.world, Debris);
        mica_entity there = mica_create(from.world, MICA_WITH(Bond, {.strong = true}), MICA_WITH(Debris, {1}));
        mica_snapshot before = mica_snapshot_take(from.world);
        follow(&from, &to, true);
        mica_destroy(to.world, mica_create(to.world, MICA_WITH(Debris, {2}))); /* the receiver's own */
        if (is_destroyed_here_too)
            mica_destroy(to.world, mica_replica_local(to.replica, there));
        mica_destroy(from.world, there);
        follow(&from, &to, true);
        ck_assert_int_eq(mica_snapshot_restore(from.world, before), MICA_OK);
        follow(&from, &to, true);
        ck_assert_int_eq(mica_flush(to.world), MICA_OK);
        mica_entity here = mica_replica_local(to.replica, there);
        ck_assert_uint_eq(mica_get(to.world, here, Debris)->amount, 1);
        expect_valid(to.world);
        close_receiver(&to);
        close_sender(&from);
    }
}
END_TEST

START_TEST(a_replica_that_is_never_flushed_does_not_grow)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 1);
    open_receiver(&to, true);
    mica_define(to.world, Debris);
    size_t bytes = 0;
    for (uint32_t i = 0; i < 6000; ++i) {
        mica_entity entity = mica_create(from.world, MICA_WITH(Debris, {i}));
        follow(&from, &to, true);
        mica_destroy(from.world, entity);
        mica_flush(from.world);
        if (i == 1000)
            bytes = mica_world_get_stats(to.world).memory_bytes;
    }
    follow(&from, &to, true);
    ck_assert_uint_eq(mica_pool_row_count(mica_pool_of(to.world, Debris)), 0);
    ck_assert_uint_le(mica_world_get_stats(to.world).memory_bytes, bytes);
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

TEST_SUITE(replication_restore, a_sender_starts_over_after_restores_to_earlier_later_and_sibling_snapshots,
           receivers_follow_a_sender_through_restores_in_any_order, a_delta_from_before_a_restore_holds_everything,
           a_singleton_that_was_not_used_yet_is_not_used_by_the_receiver_either,
           a_replica_whose_world_went_back_before_the_last_delta_says_so,
           an_entity_that_comes_alive_again_keeps_its_rows_at_the_next_flush,
           a_replica_that_is_never_flushed_does_not_grow)
