/* Deltas: worlds that follow another one, whatever is done to it and whatever is lost on the way. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/follow.h"
#include "../support/require.h"
#include "../support/sample.h"
#include "../support/test.h"
#include "mica/hierarchy.h"
#include "mica/observer.h"
#include "mica/snapshot.h"
#include "replication/delta_checksum.h"
#include "replication/delta_format.h"

#include <string.h>

enum { RECEIVERS = 3 };

START_TEST(replicas_have_the_hash_of_the_sender_whatever_is_lost)
{
    uint64_t seed = setting_from_environment("MICA_SEED", 7), ticks = setting_from_environment("MICA_TICKS", 80);
    for (uint64_t run = 0; run < 3; ++run) {
        static sender_side from;
        receiver_side to[RECEIVERS];
        open_sender(&from, seed + run);
        for (uint32_t i = 0; i < RECEIVERS; ++i)
            open_receiver(&to[i], i == 2);
        for (uint32_t tick = 0; tick < ticks; ++tick) {
            live_a_tick(&from);
            for (uint32_t i = 0; i < RECEIVERS; ++i) {
                if (i == 1 && tick < 40)
                    continue; /* joins late */
                follow(&from, &to[i], i != 1);
                if (mica_replica_version(to[i].replica) && i == 0)
                    expect_same(from.world, to[i].world, tick);
                if (i == 2)
                    expect_alike(&from, &to[i]);
                if (tick % 16 == 0)
                    expect_valid(to[i].world);
            }
        }
        follow(&from, &to[1], true);
        expect_same(from.world, to[1].world, UINT32_MAX);
        for (uint32_t i = 0; i < RECEIVERS; ++i)
            close_receiver(&to[i]);
        close_sender(&from);
    }
}
END_TEST

/* A sender with some history, and the delta that leads from nothing to it, or from a version in the middle. */
static mica_delta make_delta(sender_side *from, receiver_side *to, bool from_the_middle)
{
    open_sender(from, 99);
    if (to)
        open_receiver(to, false);
    for (uint32_t tick = 0; tick < 12; ++tick) {
        live_a_tick(from);
        if (to && from_the_middle && tick == 8)
            follow(from, to, true);
    }
    mica_delta delta;
    REQUIRE(mica_delta_encode(from->sender, to ? to->acknowledged : 0, &delta) == MICA_OK);
    return delta;
}

START_TEST(hostile_bytes_are_refused_and_change_nothing)
{
    static sender_side from;
    for (uint32_t middle = 0; middle < 2; ++middle) {
        receiver_side to;
        mica_delta delta = make_delta(&from, &to, middle);
        uint64_t hash = mica_world_hash(to.world), accepted = 0, tries = 1500;
        char *bytes = malloc(delta.byte_count);
        for (uint64_t i = 0; i < tries; ++i) {
            memcpy(bytes, delta.bytes, delta.byte_count);
            size_t count = delta.byte_count;
            for (uint32_t damage = 1 + random_below(&from.random, 3); damage; --damage) {
                size_t at = 8 + random_below(&from.random, random_one_in(&from.random, 2) ? 400 : (uint32_t)count - 8);
                bytes[at] = (char)(random_one_in(&from.random, 2) ? 0xFF : random_u32(&from.random));
            }
            bool is_repaired = i % 8 != 0;
            if (is_repaired) {
                uint64_t check = micap_little64(micap_delta_checksum(bytes, count));
                memcpy(bytes + MICAP_DELTA_CHECKSUM_AT, &check, sizeof check);
            }
            mica_result result = mica_delta_apply(to.replica, bytes, count);
            REQUIRE(is_repaired || result == MICA_ERROR_DATA || memcmp(bytes, delta.bytes, count) == 0);
            REQUIRE(result != MICA_OK || mica_world_hash(to.world) != 0);
            if (result == MICA_OK) { /* a value that may as well be: start again */
                if (accepted % 4 == 0)
                    expect_valid(to.world);
                close_receiver(&to);
                open_receiver(&to, i % 2);
                hash = mica_world_hash(to.world);
                ++accepted;
            } else {
                REQUIRE_SAYING(mica_world_hash(to.world) == hash, "%s", to.heard.list[0].text);
            }
            forget_reports(&to.heard);
        }
        ck_assert_uint_lt(accepted, tries);
        for (size_t count = 0; count < delta.byte_count; count += 1 + count / 8)
            REQUIRE(mica_delta_apply(to.replica, delta.bytes, count) == MICA_ERROR_DATA);
        forget_reports(&to.heard);
        free(bytes);
        close_receiver(&to);
        close_sender(&from);
    }
}
END_TEST

START_TEST(what_did_not_change_is_not_sent)
{
    static sender_side from;
    mica_delta all = make_delta(&from, NULL, false), delta;
    size_t whole = all.byte_count;
    ck_assert_int_eq(mica_delta_encode(from.sender, all.version, &delta), MICA_OK);
    ck_assert_uint_eq(delta.byte_count, MICAP_DELTA_HEADER_BYTES);
    mica_entity entity = mica_create(from.world, MICA_WITH(Bond, {.strong = false}));
    ck_assert_int_eq(mica_delta_encode(from.sender, delta.version, &delta), MICA_OK);
    ck_assert_uint_lt(delta.byte_count, whole / 4);
    ck_assert_uint_eq(delta.slice_count, 1);
    mica_write(from.world, entity, Bond)->strong = true;
    ck_assert_int_eq(mica_delta_encode(from.sender, delta.version, &delta), MICA_OK);
    ck_assert_uint_eq(delta.slice_count, 1);
    ck_assert_int_eq(mica_delta_encode(from.sender, delta.version + 1000, &delta), MICA_ERROR_INVALID);
    expect_report(&from.heard, MICA_ERROR_INVALID, "has not reached version");
    close_sender(&from);
}
END_TEST

static uint32_t added, died;
static void note_added(const mica_event *event)
{
    added += event->count;
}
static void note_died(const mica_event *event)
{
    died += event->count;
}

START_TEST(the_receiver_has_entities_components_and_hooks_of_its_own)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 5);
    open_receiver(&to, true);
    mica_hook_set(to.world, Bond, MICA_EVENT_ADD, note_added, NULL);
    mica_hook_set(to.world, Bond, MICA_EVENT_REMOVE, note_died, NULL);
    added = died = 0;
    mica_entity own = mica_create(to.world, MICA_WITH(Bond, {.strong = true}), MICA_WITH(Number, {1}));
    mica_entity there[10];
    for (uint32_t i = 0; i < 10; ++i)
        there[i] = mica_create(from.world, MICA_WITH(Bond, {.to = i ? there[i - 1] : mica_nil(), .strong = i % 2}));
    follow(&from, &to, true);
    ck_assert_uint_eq(added, 11);
    mica_entity here = mica_replica_local(to.replica, there[4]);
    mica_set(to.world, here, Number, {44});
    mica_destroy(to.world, mica_replica_local(to.replica, there[7]));
    mica_destroy(from.world, there[2]);
    mica_add_id(from.world, there[4], sample_id(SAMPLE_TAG));
    mica_write(from.world, there[7], Bond)->strong = false;
    mica_write(from.world, there[4], Bond)->strong = true;
    follow(&from, &to, true);
    ck_assert_uint_eq(died, 2);
    ck_assert(mica_same(mica_replica_local(to.replica, there[4]), here));
    ck_assert_uint_eq(mica_get(to.world, here, Number)->value, 44);
    ck_assert(mica_get(to.world, here, Bond)->strong);
    ck_assert(mica_has_id(to.world, here, sample_id(SAMPLE_TAG)));
    ck_assert(mica_is_nil(mica_replica_local(to.replica, there[2])));
    ck_assert(mica_is_nil(mica_replica_local(to.replica, there[7])));
    ck_assert(mica_is_alive(to.world, own) && mica_get(to.world, own, Number)->value == 1);
    expect_valid(to.world);
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

START_TEST(what_is_excluded_stays_at_home)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 5);
    open_receiver(&to, false);
    mica_component excluded[] = {sample_id(SAMPLE_SMALL), MICA_ID(Debt)};
    mica_sender_def def = {.excluded = excluded, .excluded_count = 2};
    def.rules = carried_rules(&def.rule_count);
    mica_sender_destroy(from.sender);
    from.sender = mica_sender_create(from.world, &def);
    for (uint32_t tick = 0; tick < 40; ++tick) {
        live_a_tick(&from);
        follow(&from, &to, true);
        if (tick % 8 == 0)
            expect_valid(to.world);
    }
    ck_assert(mica_world_get_stats(from.world).entity_count == mica_world_get_stats(to.world).entity_count);
    for (uint32_t i = 0; i < from.living_count; ++i) {
        mica_entity entity = from.living[i];
        if (!mica_is_alive(from.world, entity))
            continue;
        ck_assert(!mica_has_id(to.world, entity, excluded[0]) && !mica_has(to.world, entity, Debt));
        ck_assert(mica_get(from.world, entity, Bond)->strong == mica_get(to.world, entity, Bond)->strong);
    }
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

/* Mapped or not, for one that follows from the start and one that comes later. */
START_TEST(names_of_any_length_in_any_scope_are_sent)
{
    static sender_side from;
    open_sender(&from, 5);
    char longest[9000];
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = 0;
    mica_entity scope = mica_create(from.world), room = mica_create(from.world), other = mica_create(from.world),
                named[5];
    const char *names[] = {longest, "inner", "outer", "child", "inner"};
    mica_entity scopes[] = {mica_nil(), scope, scope, room, other};
    for (uint32_t i = 0; i < 5; ++i) {
        named[i] = mica_create(from.world);
        ck_assert_int_eq(mica_name_set(from.world, named[i], scopes[i], names[i]), MICA_OK);
    }
    ck_assert_int_eq(mica_set_parent(from.world, named[3], other), MICA_OK); /* the name stays in its scope */
    ck_assert(mica_same(mica_name_get_scope(from.world, named[3]), room));
    receiver_side all[4];
    for (uint32_t i = 0; i < 2; ++i) {
        open_receiver(&all[i], i);
        follow(&from, &all[i], true);
    }
    mica_destroy(from.world, scope);
    mica_name_set(from.world, other, mica_nil(), "other"); /* so that names are sent again */
    mica_destroy(from.world, other);                       /* and its child with it, but not what is only named in it */
    named[3] = named[0];
    for (uint32_t i = 0; i < 4; ++i) {
        if (i >= 2)
            open_receiver(&all[i], i % 2);
        follow(&from, &all[i], true);
        for (uint32_t n = 0; n < 5; ++n) {
            mica_entity local = mica_replica_local(all[i].replica, named[n]);
            ck_assert_str_eq(mica_name_get(all[i].world, local), mica_name_get(from.world, named[n]));
            mica_entity in = mica_name_get_scope(all[i].world, local);
            ck_assert_int_eq(mica_is_nil(in), mica_is_nil(mica_name_get_scope(from.world, named[n])));
            ck_assert(mica_is_nil(in) || !mica_is_alive(all[i].world, in));
            ck_assert(all[i].replica && mica_is_nil(in) == (n == 0 || n == 3));
        }
        ck_assert(mica_same(mica_name_get_scope(all[i].world, mica_replica_local(all[i].replica, named[1])),
                            mica_name_get_scope(all[i].world, mica_replica_local(all[i].replica, named[2]))));
        ck_assert_int_eq(mica_world_validate(all[i].world), MICA_OK);
    }
    for (uint32_t i = 0; i < 4; ++i)
        close_receiver(&all[i]);
    close_sender(&from);
}
END_TEST

/* A scope that the sender has destroyed needs memory where handles are mapped. The delta can be applied again. */
START_TEST(names_in_destroyed_scopes_survive_failing_allocations)
{
    for (uint64_t k = 1;; ++k) {
        static sender_side from;
        open_sender(&from, 6);
        mica_entity scope = mica_create(from.world), named = mica_create(from.world);
        ck_assert_int_eq(mica_name_set(from.world, named, scope, "inner"), MICA_OK);
        mica_destroy(from.world, scope);
        faulty_allocator faulty;
        faulty_allocator_init(&faulty);
        reports heard;
        mica_world *world = open_world_with(&heard, (mica_world_def){.allocator = faulty_allocator_interface(&faulty)});
        define_carried(world);
        mica_replica_def def = {.mapped = true};
        def.rules = carried_rules(&def.rule_count);
        mica_replica *replica = mica_replica_create(world, &def);
        mica_delta delta;
        ck_assert_int_eq(mica_delta_encode(from.sender, 0, &delta), MICA_OK);
        faulty_allocator_fail_at(&faulty, k, false);
        mica_result result = mica_delta_apply(replica, delta.bytes, delta.byte_count);
        bool failed = faulty.failures != 0;
        faulty_allocator_fail_at(&faulty, 0, false);
        ck_assert(result == MICA_OK || (failed && result == MICA_ERROR_MEMORY && heard.count));
        if (result != MICA_OK)
            ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        ck_assert_str_eq(mica_name_get(world, mica_replica_local(replica, named)), "inner");
        forget_reports(&heard);
        mica_replica_destroy(replica);
        close_world(world, &heard);
        ck_assert_uint_eq(faulty.live_blocks, 0);
        faulty_allocator_free(&faulty);
        close_sender(&from);
        if (!failed)
            break;
    }
}
END_TEST

START_TEST(what_can_not_be_is_refused_in_words)
{
    static sender_side from;
    reports heard;
    mica_delta delta = make_delta(&from, NULL, false);
    mica_world *bare = open_world(&heard);
    mica_replica_def replica_def = {0};
    replica_def.rules = carried_rules(&replica_def.rule_count);
    mica_replica *replica = mica_replica_create(bare, &replica_def);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_ERROR_UNKNOWN);
    expect_report(&heard, MICA_ERROR_UNKNOWN, "there is no component here");
    define_carried(bare);
    mica_entity own[200]; /* some of these handles the sender has too */
    for (uint32_t i = 0; i < COUNT_OF(own); ++i)
        own[i] = mica_create(bare);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "its handle is in use");
    for (uint32_t i = 0; i < COUNT_OF(own); ++i)
        mica_destroy(bare, own[i]);
    mica_delta later;
    char *bytes = malloc(delta.byte_count);
    memcpy(bytes, delta.bytes, delta.byte_count);
    ck_assert_int_eq(mica_delta_encode(from.sender, delta.version, &later), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(replica, later.bytes, later.byte_count), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "it begins at version");
    mica_defer(bare);
    ck_assert_int_eq(mica_delta_apply(replica, bytes, delta.byte_count), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "delta");
    mica_flush(bare);
    ck_assert_int_eq(mica_delta_apply(replica, bytes, delta.byte_count), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(replica, bytes, delta.byte_count), MICA_OK); /* again: passed over */
    expect_same(from.world, bare, 0);
    mica_defer(from.world);
    ck_assert_int_eq(mica_delta_encode(from.sender, 0, &later), MICA_ERROR_REFUSED);
    expect_report(&from.heard, MICA_ERROR_REFUSED, "delta");
    mica_flush(from.world);
    free(bytes);
    mica_replica_destroy(replica);
    close_world(bare, &heard);
    close_sender(&from);
}
END_TEST

/* A receiver with the handles of the sender. Those of buffers have higher indices. */
static void open_unmapped_receiver(receiver_side *to)
{
    open_receiver(to, false);
    mica_replica_destroy(to->replica);
    mica_replica_def def = {0};
    def.rules = carried_rules(&def.rule_count);
    to->replica = mica_replica_create(to->world, &def);
}

START_TEST(names_of_pending_entities_come_with_them)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 1);
    open_unmapped_receiver(&to);
    mica_defer(from.world);
    mica_entity pending = mica_create(from.world, MICA_WITH(Bond, {.strong = true}));
    ck_assert_int_eq(mica_name_set(from.world, pending, mica_nil(), "later"), MICA_OK);
    mica_commands *commands = mica_commands_create(from.world);
    mica_flush(from.world);
    mica_entity other = mica_command_create(commands);
    ck_assert_int_eq(mica_name_set(from.world, other, pending, "inside"), MICA_OK);
    follow(&from, &to, true);
    ck_assert(mica_same(mica_find(to.world, "later"), pending));
    ck_assert(mica_is_nil(mica_find(to.world, "later/inside")));
    expect_same(from.world, to.world, 0);
    mica_flush(from.world);
    follow(&from, &to, true);
    ck_assert(mica_same(mica_find(to.world, "later/inside"), other));
    expect_same(from.world, to.world, 1);
    mica_commands_destroy(commands);
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

/* What an observer records is applied at once, and creations that wait in a buffer are not. */
static void adopt(const mica_event *event)
{
    const mica_entity *family = event->context;
    ck_assert_int_eq(mica_set_parent(event->world, family[1], family[0]), MICA_OK);
    ck_assert_int_eq(mica_set_parent(event->world, family[2], family[1]), MICA_OK);
}

START_TEST(links_of_pending_entities_come_with_them)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 1);
    open_unmapped_receiver(&to);
    mica_commands *commands = mica_commands_create(from.world);
    mica_entity parent = mica_create(from.world);
    mica_entity family[] = {parent, mica_command_create(commands), mica_command_create(commands)};
    mica_observer_add(
        from.world,
        &(mica_observer_def){.event = MICA_EVENT_ADD, .component = MICA_ID(Bond), .fn = adopt, .context = family});
    mica_create(from.world, MICA_WITH(Bond, {.strong = true}));
    ck_assert(mica_same(mica_first_child(from.world, parent), family[1]));
    follow(&from, &to, true);
    ck_assert_uint_eq(mica_child_count(to.world, parent), 0);
    expect_same(from.world, to.world, 0);
    ck_assert_int_eq(mica_flush(from.world), MICA_OK);
    follow(&from, &to, true);
    ck_assert(mica_same(mica_first_child(to.world, parent), family[1]));
    ck_assert(mica_same(mica_parent(to.world, family[2]), family[1]));
    expect_same(from.world, to.world, 1);
    mica_commands_destroy(commands);
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

START_TEST(a_receiver_goes_back_to_what_it_confirmed_and_follows_on)
{
    static sender_side from;
    for (uint32_t mapped = 0; mapped < 2; ++mapped) {
        receiver_side to;
        open_sender(&from, 17 + mapped);
        open_receiver(&to, mapped);
        for (uint32_t tick = 0; tick < 40; ++tick) {
            live_a_tick(&from);
            follow(&from, &to, true);
            if (!mapped)
                expect_same(from.world, to.world, tick);
            /* It guesses ahead, and takes that back before the next delta. */
            mica_snapshot confirmed = mica_snapshot_take(to.world);
            uint64_t hash = mica_world_hash(to.world);
            sender_side guess = from;
            guess.world = to.world;
            guess.living_count = 0;
            for (uint32_t i = 0; i < from.living_count && i < 200; ++i) {
                mica_entity here = mica_replica_local(to.replica, from.living[i]);
                if (!mica_is_nil(here))
                    guess.living[guess.living_count++] = here;
            }
            live_a_tick(&guess);
            if (tick % 2) {
                live_a_tick(&from); /* a delta on top of it is taken back too */
                mica_delta delta;
                REQUIRE(mica_delta_encode(from.sender, 0, &delta) == MICA_OK);
                mica_replica_def def = {.mapped = true};
                def.rules = carried_rules(&def.rule_count);
                mica_replica *other = mica_replica_create(to.world, &def);
                REQUIRE(mica_delta_apply(other, delta.bytes, delta.byte_count) == MICA_OK);
                mica_replica_destroy(other);
            }
            REQUIRE(mica_snapshot_restore(to.world, confirmed) == MICA_OK);
            REQUIRE_SAYING(mica_world_hash(to.world) == hash, "tick %u", tick);
            mica_snapshot_drop(to.world, confirmed);
            if (tick % 4 == 0)
                expect_valid(to.world);
            forget_reports(&to.heard);
        }
        close_receiver(&to);
        close_sender(&from);
    }
}
END_TEST

START_TEST(both_byte_orders_lead_to_the_same_world)
{
    static sender_side from;
    open_sender(&from, 12);
    mica_create(from.world, MICA_WITH(Bond, {.strong = true}));
    for (uint32_t tick = 0; tick < 10; ++tick)
        live_a_tick(&from);
    mica_delta delta[2];
    mica_sender *senders[2];
    receiver_side to[2];
    for (uint32_t i = 0; i < 2; ++i) {
        mica_sender_def def = {.byte_order = i ? MICA_BYTE_ORDER_BIG : MICA_BYTE_ORDER_LITTLE};
        def.rules = carried_rules(&def.rule_count);
        senders[i] = mica_sender_create(from.world, &def);
        ck_assert_int_eq(mica_delta_encode(senders[i], 0, &delta[i]), MICA_OK);
        open_receiver(&to[i], false);
        ck_assert_int_eq(mica_delta_apply(to[i].replica, delta[i].bytes, delta[i].byte_count), MICA_OK);
        expect_same(from.world, to[i].world, i);
    }
    ck_assert_uint_eq(delta[0].byte_count, delta[1].byte_count);
    ck_assert_int_ne(memcmp(delta[0].bytes, delta[1].bytes, delta[0].byte_count), 0);
    for (uint32_t i = 0; i < 2; ++i) {
        mica_sender_destroy(senders[i]);
        close_receiver(&to[i]);
    }
    close_sender(&from);
}
END_TEST

TEST_SUITE(delta, both_byte_orders_lead_to_the_same_world, names_of_pending_entities_come_with_them,
           links_of_pending_entities_come_with_them, a_receiver_goes_back_to_what_it_confirmed_and_follows_on,
           replicas_have_the_hash_of_the_sender_whatever_is_lost, hostile_bytes_are_refused_and_change_nothing,
           what_did_not_change_is_not_sent, the_receiver_has_entities_components_and_hooks_of_its_own,
           what_is_excluded_stays_at_home, names_of_any_length_in_any_scope_are_sent,
           names_in_destroyed_scopes_survive_failing_allocations, what_can_not_be_is_refused_in_words)
