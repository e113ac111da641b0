/* Replicas without memory, and with a life of their own. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/follow.h"
#include "../support/parcel.h"
#include "../support/party.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/hash.h"
#include "mica/hierarchy.h"
#include "mica/pool.h"
#include "mica/relation.h"
#include "mica/snapshot.h"

#include <string.h>

/* What is there before, and what is applied. */
static const struct {
    const char *name;
    bool has_first;
    bool has_own; /* components */
    uint32_t delta;
} paths[] = {
    {"from nothing to the first state", false, false, 0},
    {"from the first state to the second", true, false, 1},
    {"from the first state to the second, by all of it", true, false, 2},
    {"from the first state to the second, with components of its own", true, true, 1},
};

typedef struct guest {
    faulty_allocator faulty;
    mica_world *world;
    reports heard;
    mica_replica *replica;
} guest;

static void open_guest(guest *guest, const party *from, uint32_t path, bool mapped)
{
    faulty_allocator_init(&guest->faulty);
    mica_world_def def = mica_world_def_default();
    def.allocator = faulty_allocator_interface(&guest->faulty);
    if (path % 2)
        def.chunk_bytes_first = def.chunk_bytes_last = 1024; /* tables of several chunks */
    guest->world = open_world_with(&guest->heard, def);
    party_define(guest->world);
    guest->replica = mica_replica_create(guest->world, &(mica_replica_def){.mapped = mapped});
    if (paths[path].has_first)
        REQUIRE(mica_delta_apply(guest->replica, from->deltas[0], from->delta_bytes[0]) == MICA_OK);
    if (paths[path].has_own)
        mica_set(guest->world, mica_replica_local(guest->replica, from->vane), Mass, {1});
}

static void close_guest(guest *guest)
{
    mica_replica_destroy(guest->replica);
    close_world(guest->world, &guest->heard);
    faulty_allocator_free(&guest->faulty);
}

static mica_result receive(guest *guest, const party *from, uint32_t path)
{
    uint32_t delta = paths[path].delta;
    return mica_delta_apply(guest->replica, from->deltas[delta], from->delta_bytes[delta]);
}

/* Whether everything except singletons is the same; names and links may come late. */
static bool has_same_rows(const mica_hash_tree *a, const mica_hash_tree *b)
{
    uint32_t a_count, b_count, i = 0, j = 0;
    const mica_hash_leaf *left = mica_hash_tree_leaves(a, &a_count), *right = mica_hash_tree_leaves(b, &b_count);
    while (i < a_count && !left[i].table)
        ++i;
    while (j < b_count && !right[j].table)
        ++j;
    for (; i < a_count && j < b_count && left[i].hash == right[j].hash; ++i)
        ++j;
    return i == a_count && j == b_count;
}

static bool fail_at(const party *from, uint32_t path, bool mapped, uint64_t k, const mica_hash_tree *expected)
{
    static guest to;
    open_guest(&to, from, path, mapped);
    uint64_t hash = mica_world_hash(to.world);
    mica_version version = mica_replica_version(to.replica);
    faulty_allocator_fail_at(&to.faulty, k, false);
    mica_result result = receive(&to, from, path);
    bool reached = to.faulty.failures > 0;
    faulty_allocator_fail_at(&to.faulty, 0, false);
    /* Where it is not needed, as for room that is only convenient, a failure may go unnoticed. */
    REQUIRE(result == MICA_OK || (result == MICA_ERROR_MEMORY && reached));
    if (result != MICA_OK) {
        mica_hash_tree *tree = mica_hash_tree_take(to.world, MICA_HASH_ROWS);
        REQUIRE_SAYING(mica_world_hash(to.world) == hash || has_same_rows(tree, expected), "%s, allocation %u",
                       paths[path].name, (unsigned)k);
        mica_hash_tree_free(tree);
        REQUIRE(mica_replica_version(to.replica) == version);
        expect_valid(to.world);
        REQUIRE(receive(&to, from, path) == MICA_OK);
    }
    mica_hash_tree *tree = mica_hash_tree_take(to.world, MICA_HASH_ROWS);
    mica_difference difference = {0};
    REQUIRE_SAYING(!mica_hash_tree_diff(tree, expected, &difference), "%s, allocation %u: %s", paths[path].name,
                   (unsigned)k, difference.text);
    mica_hash_tree_free(tree);
    forget_reports(&to.heard);
    close_guest(&to);
    return reached;
}

/* Gives the one without components a handle in another page. */
static void move_far_away(party *from)
{
    static parcel parcel;
    parcel_open(&parcel, from->deltas[1], from->delta_bytes[1]);
    parcel_set_word(&parcel, parcel_field(&parcel, "nothing: slice 0: entity 0: index")->at, 4, 300000);
    parcel_seal(&parcel, true, true);
    memcpy(from->deltas[1], parcel.bytes, parcel.count);
    parcel_close(&parcel);
}

START_TEST(memory_that_runs_out_changes_nothing_and_the_delta_can_be_applied_again)
{
    static party from;
    party_open(&from, (mica_allocator){0});
    move_far_away(&from);
    for (uint32_t i = 0; i < 2 * COUNT_OF(paths); ++i) {
        uint32_t path = i / 2, mapped = i % 2;
        static guest to;
        open_guest(&to, &from, path, mapped);
        REQUIRE(receive(&to, &from, path) == MICA_OK);
        REQUIRE(mapped || path || mica_world_hash(to.world) == from.hashes[0]);
        mica_hash_tree *tree = mica_hash_tree_take(to.world, MICA_HASH_ROWS);
        uint32_t count;
        const mica_hash_leaf *leaves = mica_hash_tree_leaves(tree, &count);
        mica_hash_tree *expected = mica_hash_tree_from_leaves(leaves, count); /* does not need the world */
        mica_hash_tree_free(tree);
        close_guest(&to);
        uint64_t k = 1;
        while (fail_at(&from, path, mapped, k, expected))
            ++k;
        ck_assert_uint_gt(k, 20);
        mica_hash_tree_free(expected);
    }
    party_close(&from);
}
END_TEST

START_TEST(a_replica_and_a_sender_need_memory_and_say_so)
{
    static party from;
    faulty_allocator faulty;
    faulty_allocator_init(&faulty);
    party_open(&from, faulty_allocator_interface(&faulty));
    faulty_allocator_fail_at(&faulty, 1, false);
    ck_assert_ptr_null(mica_replica_create(from.world, NULL));
    expect_report(&from.heard, MICA_ERROR_MEMORY, "replica");
    mica_replica_destroy(NULL);
    mica_sender_destroy(NULL);
    mica_component excluded[] = {MICA_ID(Letter), MICA_ID(Lamp)};
    for (uint32_t excluded_count = 0; excluded_count <= 2; ++excluded_count) {
        uint64_t k = 1;
        for (bool reached = true; reached; ++k) {
            mica_delta delta;
            faulty_allocator_fail_at(&faulty, k, false);
            mica_sender *sender = mica_sender_create(
                from.world, &(mica_sender_def){.excluded = excluded, .excluded_count = excluded_count});
            mica_result result = sender ? mica_delta_encode(sender, 0, &delta) : MICA_ERROR_MEMORY;
            reached = faulty.failures > 0;
            REQUIRE((result == MICA_OK) == !reached);
            faulty_allocator_fail_at(&faulty, 0, false);
            REQUIRE(!sender || mica_delta_encode(sender, 0, &delta) == MICA_OK);
            mica_sender_destroy(sender);
            forget_reports(&from.heard);
        }
        ck_assert_uint_gt(k, 8);
    }
    party_close(&from);
    faulty_allocator_free(&faulty);
}
END_TEST

/* What a receiver does between the two states, and what is true after the second. */
static uint32_t added;
static void count_added(const mica_event *event)
{
    added += event->count;
}

static mica_entity own;

/* The second of the knots goes with its parent. */
static void destroy_some(const party *from, guest *to)
{
    const mica_entity there[] = {from->vane,     from->patient,  from->knots[0],
                                 from->knots[3], from->crowd[0], from->crowd[7]};
    for (uint32_t i = 0; i < COUNT_OF(there); ++i)
        REQUIRE(mica_destroy(to->world, mica_replica_local(to->replica, there[i])));
}

static void expect_they_stay_away(const party *from, guest *to)
{
    const mica_entity there[] = {from->vane,     from->patient,  from->knots[0],
                                 from->knots[3], from->crowd[0], from->crowd[7]};
    for (uint32_t i = 0; i < COUNT_OF(there); ++i)
        ck_assert(mica_is_nil(mica_replica_local(to->replica, there[i])));
    ck_assert(mica_is_nil(mica_replica_local(to->replica, from->knots[1])));
    ck_assert_int_eq(mica_get(to->world, mica_replica_local(to->replica, from->crowd[8]), Letter)->value, 8);
    ck_assert_uint_eq(mica_world_get_stats(to->world).entity_count, PARTY_CROWD + PARTY_LATE - 2 + 4);
}

static void replace_a_knot(const party *from, guest *to)
{
    REQUIRE(mica_destroy(to->world, mica_replica_local(to->replica, from->knots[3])));
    own = mica_create(to->world, MICA_WITH(Knot, {{{.tight = true}}}));
}

static void expect_own_knot(const party *from, guest *to)
{
    ck_assert(mica_get(to->world, own, Knot)->ties[0].tight && !mica_get(to->world, own, Knot)->ties[1].tight);
    mica_entity here = mica_replica_local(to->replica, from->knots[0]);
    mica_entity late = mica_replica_local(to->replica, from->crowd[PARTY_CROWD]);
    ck_assert(mica_same(mica_get(to->world, here, Knot)->ties[1].to, late));
    ck_assert(mica_is_nil(mica_replica_remote(to->replica, own)));
    ck_assert(mica_same(mica_replica_remote(to->replica, here), from->knots[0]));
}

static void set_hooks(const party *from, guest *to)
{
    (void)from;
    added = 0;
    mica_hook_set(to->world, Loan, MICA_EVENT_ADD, count_added, NULL);
    mica_hook_set(to->world, Guest, MICA_EVENT_ADD, count_added, NULL);
    mica_hook_set(to->world, Seat, MICA_EVENT_ADD, count_added, NULL);
}

static void expect_hooks_ran(const party *from, guest *to)
{
    (void)from, (void)to;
    ck_assert_uint_eq(added, 3);
}

static void make_group(const party *from, guest *to)
{
    (void)from;
    ck_assert_int_eq(mica_group(to->world, Loan, Coat), MICA_OK);
}

static void expect_loans(const party *from, guest *to)
{
    for (uint32_t i = 0; i < PARTY_KNOTS; ++i) {
        mica_entity there = from->knots[i], here = mica_replica_local(to->replica, there);
        ck_assert(mica_has(from->world, there, Loan) == mica_has(to->world, here, Loan));
        ck_assert(mica_is_enabled(from->world, there, Loan) == mica_is_enabled(to->world, here, Loan));
        const Loan *loan = mica_get(from->world, there, Loan), *copy = mica_get(to->world, here, Loan);
        ck_assert(!loan || (loan->due == copy->due && mica_same(mica_replica_local(to->replica, loan->to), copy->to)));
    }
}

static mica_snapshot before;
static uint64_t hash_before;
static void take_snapshot(const party *from, guest *to)
{
    (void)from;
    before = mica_snapshot_take(to->world);
    hash_before = mica_world_hash(to->world);
}

static void expect_way_back(const party *from, guest *to)
{
    ck_assert_int_eq(mica_snapshot_restore(to->world, before), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(to->world), hash_before);
    (void)from;
}

static void adopt(const party *from, guest *to)
{
    own = mica_create(to->world);
    ck_assert_int_eq(mica_set_parent(to->world, own, mica_replica_local(to->replica, from->knots[0])), MICA_OK);
}

static void expect_own_child(const party *from, guest *to)
{
    mica_entity here = mica_replica_local(to->replica, from->knots[0]);
    ck_assert(mica_same(mica_parent(to->world, own), here) && mica_is_nil(mica_next_sibling(to->world, own)));
    ck_assert_uint_eq(mica_child_count(to->world, here), mica_child_count(from->world, from->knots[0]) + 1);
}

static const struct {
    const char *name;
    void (*live)(const party *from, guest *to);
    void (*expect)(const party *from, guest *to);
} lives[] = {
    {"destroys some", destroy_some, expect_they_stay_away},
    {"has one of its own in place of another", replace_a_knot, expect_own_knot},
    {"has a child of its own", adopt, expect_own_child},
    {"has hooks of pools", set_hooks, expect_hooks_ran},
    {"has pools in a group", make_group, expect_loans},
    {"wants back", take_snapshot, expect_way_back},
};

START_TEST(a_receiver_lives_its_own_life_between_deltas)
{
    static party from;
    party_open(&from, (mica_allocator){0});
    for (uint32_t i = 0; i < 4 * COUNT_OF(lives); ++i) {
        static guest to;
        uint32_t life = i / 4, path = 1 + i / 2 % 2;
        open_guest(&to, &from, path, i % 2);
        lives[life].live(&from, &to);
        REQUIRE_SAYING(receive(&to, &from, path) == MICA_OK, "%s: %s", lives[life].name, to.heard.list[0].text);
        expect_valid(to.world);
        lives[life].expect(&from, &to);
        close_guest(&to);
    }
    party_close(&from);
}
END_TEST

/* Three that are alike, there and here. */
typedef struct trio {
    sender_side from;
    receiver_side to;
    mica_entity there[3];
} trio;

static void open_trio(trio *trio, bool mapped)
{
    open_sender(&trio->from, 1);
    open_receiver(&trio->to, mapped);
    mica_define(trio->to.world, Number);
    mica_define(trio->to.world, Letter);
    for (uint32_t i = 0; i < 3; ++i)
        trio->there[i] = mica_create(trio->from.world, MICA_WITH(Number, {30 - i}), MICA_WITH(Letter, {'a'}));
    follow(&trio->from, &trio->to, true);
}

static mica_entity here(const trio *trio, uint32_t which)
{
    return mica_replica_local(trio->to.replica, trio->there[which]);
}

static void close_trio(trio *trio)
{
    expect_valid(trio->to.world);
    close_receiver(&trio->to);
    close_sender(&trio->from);
}

static int by_number(const void *a, const void *b, void *context)
{
    (void)context;
    uint32_t left = ((const Number *)a)->value, right = ((const Number *)b)->value;
    return left < right ? -1 : left > right;
}

static void sort_numbers(mica_world *world)
{
    mica_query *query = mica_query_create(world, &(mica_query_def){MICA_TERMS(MICA_READ(Number))});
    ck_assert_int_eq(mica_query_sort_rows(query, MICA_ID(Number), by_number, NULL), MICA_OK);
    mica_query_destroy(query);
}

START_TEST(rows_that_change_places_come_back_with_a_snapshot)
{
    static trio trio;
    open_trio(&trio, false);
    mica_snapshot snapshot = mica_snapshot_take(trio.to.world);
    uint64_t hash = mica_world_hash(trio.to.world);
    sort_numbers(trio.from.world);
    follow(&trio.from, &trio.to, true);
    expect_same(trio.from.world, trio.to.world, 0);
    ck_assert(mica_world_hash(trio.to.world) != hash);
    ck_assert_int_eq(mica_snapshot_restore(trio.to.world, snapshot), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(trio.to.world), hash);
    close_trio(&trio);
}
END_TEST

START_TEST(a_component_that_the_receiver_removed_is_not_written)
{
    static trio trio;
    open_trio(&trio, false);
    for (uint32_t i = 0; i < 3; ++i)
        mica_remove(trio.to.world, here(&trio, i), Letter);
    mica_destroy(trio.from.world, trio.there[0]);
    mica_write(trio.from.world, trio.there[2], Number)->value = 5;
    follow(&trio.from, &trio.to, true);
    ck_assert(!mica_has(trio.to.world, here(&trio, 1), Letter) && !mica_has(trio.to.world, here(&trio, 2), Letter));
    ck_assert_uint_eq(mica_get(trio.to.world, here(&trio, 2), Number)->value, 5);
    close_trio(&trio);
}
END_TEST

/* As many rows here as there, but not the same: one has moved away, and one is the receiver's. */
START_TEST(rows_are_left_alone_where_the_receiver_has_others)
{
    static trio trio;
    open_trio(&trio, true);
    mica_set(trio.to.world, here(&trio, 1), Mass, {7});
    mica_entity mine = mica_create(trio.to.world, MICA_WITH(Number, {99}), MICA_WITH(Letter, {'m'}));
    mica_write(trio.from.world, trio.there[0], Number)->value = 1; /* stays the first */
    sort_numbers(trio.from.world);
    mica_write(trio.from.world, trio.there[1], Letter)->value = 'b';
    follow(&trio.from, &trio.to, true);
    ck_assert_uint_eq(mica_get(trio.to.world, mine, Number)->value, 99);
    ck_assert_int_eq(mica_get(trio.to.world, here(&trio, 1), Letter)->value, 'b');
    ck_assert(mica_get(trio.to.world, here(&trio, 1), Mass)->value == 7);
    ck_assert_uint_eq(mica_get(trio.to.world, here(&trio, 0), Number)->value, 1);
    close_trio(&trio);
}
END_TEST

START_TEST(an_entity_that_is_created_again_has_no_old_rows)
{
    static trio trio;
    open_trio(&trio, false);
    mica_entity there = trio.there[1];
    mica_snapshot snapshot = mica_snapshot_take(trio.from.world);
    mica_set(trio.from.world, there, Debt, {mica_nil(), 9});
    follow(&trio.from, &trio.to, true);
    mica_destroy(trio.from.world, there);
    follow(&trio.from, &trio.to, true); /* the debt dies lazily */
    ck_assert_int_eq(mica_snapshot_restore(trio.from.world, snapshot), MICA_OK);
    trio.to.acknowledged = 0;
    follow(&trio.from, &trio.to, true);
    ck_assert(mica_is_alive(trio.to.world, there) && !mica_has(trio.to.world, there, Debt));
    expect_same(trio.from.world, trio.to.world, 0);
    close_trio(&trio);
}
END_TEST

START_TEST(a_handle_in_stock_is_in_use)
{
    static sender_side from;
    receiver_side to;
    open_sender(&from, 1);
    open_receiver(&to, false);
    mica_commands *commands = mica_commands_create(to.world);
    mica_entity made = mica_command_create(commands);
    ck_assert_int_eq(mica_flush(to.world), MICA_OK);
    mica_destroy(to.world, made);
    for (uint32_t i = 0; i < 200; ++i)
        mica_create(from.world);
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(from.sender, 0, &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_ERROR_REFUSED);
    expect_report(&to.heard, MICA_ERROR_REFUSED, "its handle is in use");
    mica_commands_destroy(commands);
    ck_assert_int_eq(mica_delta_apply(to.replica, delta.bytes, delta.byte_count), MICA_OK);
    expect_same(from.world, to.world, 0);
    close_receiver(&to);
    close_sender(&from);
}
END_TEST

/* A name goes with its entity from parent to parent: what the receiver named must not be in the way of a link. */
START_TEST(names_of_the_receiver_give_way_to_links)
{
    static trio trio;
    open_trio(&trio, true);
    mica_world *world = trio.to.world;
    mica_entity mine = mica_create(world), top = mica_create(world);
    ck_assert_int_eq(mica_set_parent(world, mine, here(&trio, 0)), MICA_OK);
    ck_assert_int_eq(mica_name_set(world, mine, here(&trio, 0), "x"), MICA_OK);
    ck_assert_int_eq(mica_name_set(world, here(&trio, 1), mica_nil(), "x"), MICA_OK);
    ck_assert_int_eq(mica_set_parent(trio.from.world, trio.there[1], trio.there[0]), MICA_OK);
    follow(&trio.from, &trio.to, true);
    expect_report(&trio.to.heard, MICA_ERROR_EXISTS, "name \"x\"");
    ck_assert(mica_same(mica_parent(world, here(&trio, 1)), here(&trio, 0)));
    ck_assert_ptr_null(mica_name_get(world, here(&trio, 1)));
    ck_assert_str_eq(mica_name_get(world, mine), "x");

    ck_assert_int_eq(mica_name_set(world, top, mica_nil(), "y"), MICA_OK);
    ck_assert_int_eq(mica_name_set(world, here(&trio, 1), here(&trio, 0), "y"), MICA_OK);
    ck_assert_int_eq(mica_set_parent(trio.from.world, trio.there[1], mica_nil()), MICA_OK);
    follow(&trio.from, &trio.to, true);
    expect_report(&trio.to.heard, MICA_ERROR_EXISTS, "name \"y\"");
    ck_assert(mica_is_nil(mica_parent(world, here(&trio, 1))));
    ck_assert_ptr_null(mica_name_get(world, here(&trio, 1)));
    close_trio(&trio);
}
END_TEST

typedef struct Glow { float seconds; } Glow;
MICA_POOL_WITH(Glow, (.dying = MICA_DYING_AT_FLUSH), seconds)
typedef struct Spark { float heat; } Spark;
MICA_COMPONENT(Spark, heat)

/* The sender does not know Glow: its rows go with the receiver's next flush. */
START_TEST(rows_of_the_receivers_own_pools_go_when_the_sender_destroys_their_owner)
{
    mica_world *from = mica_world_create(NULL), *to = mica_world_create(NULL);
    mica_define(to, Spark);
    mica_sender *sender = mica_sender_create(from, NULL);
    mica_replica *first = mica_replica_create(to, NULL), *second = mica_replica_create(to, NULL);
    mica_entity spark = mica_create(from, MICA_WITH(Spark, {1}));
    mica_delta delta;
    ck_assert_int_eq(mica_delta_encode(sender, 0, &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(second, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert(mica_set(to, spark, Glow, {2}));
    mica_destroy(from, spark);
    ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(second), &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(second, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert(!mica_is_alive(to, spark));
    ck_assert_int_eq(mica_flush(to), MICA_OK);
    ck_assert_uint_eq(mica_pool_row_count(mica_pool_of(to, Glow)), 0);
    ck_assert_int_eq(mica_world_validate(to), MICA_OK);
    mica_replica_destroy(first); /* not in the order they were created */
    mica_replica_destroy(second);
    mica_sender_destroy(sender);
    mica_world_destroy(from);
    mica_world_destroy(to);
}
END_TEST

MICA_RELATION_WITH(Needs, (.on_target = MICA_TARGET_DESTROY))

/* The sender's rows do not move, but those here do: one dies with what it needs here. */
START_TEST(rows_that_move_while_a_delta_is_applied_are_not_taken_for_those_of_the_sender)
{
    enum { CROWD = 6, GONE = 2 };
    mica_world *from = mica_world_create(NULL), *to = mica_world_create(NULL);
    mica_define(to, Spark);
    mica_define(to, Number);
    mica_sender *sender = mica_sender_create(from, NULL);
    mica_replica *replica = mica_replica_create(to, NULL);
    mica_entity needed = mica_create(from, MICA_WITH(Spark, {1})), crowd[CROWD];
    mica_delta delta;
    for (uint32_t i = 0; i < CROWD; ++i) {
        crowd[i] = mica_create(from, MICA_WITH(Number, {i}));
        ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(replica), &delta), MICA_OK);
        ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
        if (i == GONE)
            ck_assert(mica_relate(to, crowd[GONE], Needs, needed));
    }
    mica_destroy(from, needed);
    for (uint32_t i = 0; i < CROWD; ++i)
        mica_write(from, crowd[i], Number)->value += 100;
    ck_assert_int_eq(mica_delta_encode(sender, mica_replica_version(replica), &delta), MICA_OK);
    ck_assert_int_eq(mica_delta_apply(replica, delta.bytes, delta.byte_count), MICA_OK);
    ck_assert(!mica_is_alive(to, crowd[GONE]));
    for (uint32_t i = 0; i < CROWD; ++i)
        if (i != GONE)
            ck_assert_uint_eq(mica_get(to, crowd[i], Number)->value, 100 + i);
    ck_assert_int_eq(mica_world_validate(to), MICA_OK);
    mica_replica_destroy(replica);
    mica_sender_destroy(sender);
    mica_world_destroy(from);
    mica_world_destroy(to);
}
END_TEST

TEST_SUITE(replica, memory_that_runs_out_changes_nothing_and_the_delta_can_be_applied_again,
           a_replica_and_a_sender_need_memory_and_say_so, a_receiver_lives_its_own_life_between_deltas,
           rows_that_change_places_come_back_with_a_snapshot, a_component_that_the_receiver_removed_is_not_written,
           rows_are_left_alone_where_the_receiver_has_others, an_entity_that_is_created_again_has_no_old_rows,
           names_of_the_receiver_give_way_to_links, a_handle_in_stock_is_in_use,
           rows_of_the_receivers_own_pools_go_when_the_sender_destroys_their_owner,
           rows_that_move_while_a_delta_is_applied_are_not_taken_for_those_of_the_sender)
