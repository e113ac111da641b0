/* Deltas that would give an entity a component beside one of the receiver's own that excludes it. */
#include "../support/faulty_allocator.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/delta.h"

typedef struct Walking { int speed; } Walking;
MICA_COMPONENT(Walking, speed)
typedef Walking Swimming;
MICA_POOL_WITH(Swimming, (.excludes = MICA_TYPES(Walking)), speed)
MICA_POOL_TAG(Buried)
typedef Walking Diving;
MICA_POOL_WITH(Diving, (.index = MICA_INDEX_DIRECT), speed)
typedef Walking Hopping;
MICA_POOL_WITH(Hopping, (.many = true, .index = MICA_INDEX_HASH), speed)

/* Of the receiver alone. */
typedef Walking Moored;
MICA_POOL_WITH(Moored, (.excludes = MICA_TYPES(Walking, Swimming, Buried, Diving, Hopping)), speed)
typedef Walking Anchored;
MICA_COMPONENT_WITH(Anchored, (.excludes = MICA_TYPES(Walking, Swimming, Buried, Diving, Hopping)), speed)

enum { KINDS = 5, CROWD = 40, ROUNDS = 400 };

static mica_component kind(uint32_t i)
{
    mica_type *const types[KINDS] = {&mica_type_of_Walking, &mica_type_of_Swimming, &mica_type_of_Buried,
                                     &mica_type_of_Diving, &mica_type_of_Hopping};
    return mica_type_id(types[i]);
}

static uint32_t kinds_of(const mica_world *world, mica_entity entity)
{
    uint32_t has = 0;
    for (uint32_t i = 0; i < KINDS; ++i)
        has |= (uint32_t)mica_has_id(world, entity, kind(i)) << i;
    return has;
}

typedef struct both_sides {
    mica_world *server, *client;
    reports said, heard;
    faulty_allocator faulty; /* of the client */
    mica_sender *sender;
    mica_replica *replica;
    mica_entity crowd[CROWD]; /* of the server */
} both_sides;

static void open_both(both_sides *both, bool mapped)
{
    mica_world_def def = mica_world_def_default();
    faulty_allocator_init(&both->faulty);
    def.allocator = faulty_allocator_interface(&both->faulty);
    both->server = open_world(&both->said);
    both->client = open_world_with(&both->heard, def);
    for (uint32_t i = 0; i < KINDS; ++i) {
        mica_component_define(both->server, mica_component_type(kind(i)));
        mica_component_define(both->client, mica_component_type(kind(i)));
    }
    both->sender = mica_sender_create(both->server, NULL);
    both->replica = mica_replica_create(both->client, &(mica_replica_def){.mapped = mapped});
    for (uint32_t i = 0; i < CROWD; ++i)
        both->crowd[i] = mica_create(both->server);
}

static void close_both(both_sides *both)
{
    mica_sender_destroy(both->sender);
    mica_replica_destroy(both->replica);
    close_world(both->server, &both->said);
    close_world(both->client, &both->heard);
    faulty_allocator_free(&both->faulty);
}

static mica_result send_changes(both_sides *both)
{
    mica_delta delta;
    REQUIRE(mica_delta_encode(both->sender, mica_replica_version(both->replica), &delta) == MICA_OK);
    return mica_delta_apply(both->replica, delta.bytes, delta.byte_count);
}

static void change_server(both_sides *both, random_source *source)
{
    uint32_t at = random_below(source, CROWD);
    mica_component component = kind(random_below(source, KINDS));
    if (random_one_in(source, 8)) {
        mica_destroy(both->server, both->crowd[at]);
        both->crowd[at] = mica_create(both->server);
    } else if (random_one_in(source, 3)) {
        mica_remove_id(both->server, both->crowd[at], component);
    } else {
        mica_add_id(both->server, both->crowd[at], component);
    }
    forget_reports(&both->said);
}

/* Removes what the receiver's own components exclude, as a game would. Returns how many entities lost one. */
static uint32_t make_way(both_sides *both)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CROWD; ++i) {
        mica_entity local = mica_replica_local(both->replica, both->crowd[i]);
        bool is_own = mica_has(both->client, local, Moored) || mica_has(both->client, local, Anchored);
        if (!is_own || !kinds_of(both->server, both->crowd[i]))
            continue;
        mica_remove(both->client, local, Moored);
        mica_remove(both->client, local, Anchored);
        ++count;
    }
    return count;
}

static void moor_some(both_sides *both, random_source *source)
{
    for (uint32_t i = random_below(source, 4); i-- > 0;) {
        mica_entity local = mica_replica_local(both->replica, both->crowd[random_below(source, CROWD)]);
        if (!mica_is_alive(both->client, local))
            continue;
        bool is_free = !kinds_of(both->client, local);
        bool done = random_one_in(source, 2) ? mica_add(both->client, local, Moored) != NULL
                                             : mica_add(both->client, local, Anchored) != NULL;
        REQUIRE(done == is_free);
        forget_reports(&both->heard);
    }
}

static void play(bool mapped, uint64_t seed)
{
    static both_sides both;
    random_source source = {seed};
    uint32_t refused = 0;
    open_both(&both, mapped);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        for (uint32_t i = random_below(&source, 6); i-- > 0;)
            change_server(&both, &source);
        uint64_t hash = mica_world_hash(both.client);
        mica_result result = send_changes(&both);
        if (result != MICA_OK) {
            ++refused;
            REQUIRE(result == MICA_ERROR_INVALID && mica_world_hash(both.client) == hash);
            expect_report(&both.heard, MICA_ERROR_INVALID, "exclude each other");
            REQUIRE(make_way(&both) > 0);
            REQUIRE(send_changes(&both) == MICA_OK);
        } else {
            REQUIRE(make_way(&both) == 0);
        }
        for (uint32_t i = 0; i < CROWD; ++i)
            REQUIRE(kinds_of(both.client, mica_replica_local(both.replica, both.crowd[i])) ==
                    kinds_of(both.server, both.crowd[i]));
        expect_valid(both.client);
        moor_some(&both, &source);
    }
    ck_assert_uint_gt(refused, 10);
    close_both(&both);
}

START_TEST(a_delta_that_brings_rivals_together_is_refused_and_changes_nothing)
{
    for (uint64_t seed = 1; seed < 6; ++seed) {
        play(false, seed);
        play(true, seed);
    }
}
END_TEST

START_TEST(without_memory_to_look_for_rivals_nothing_changes)
{
    bool reached = true;
    for (uint64_t k = 1; reached; ++k) {
        static both_sides both;
        open_both(&both, false);
        REQUIRE(send_changes(&both) == MICA_OK);
        mica_add(both.server, both.crowd[0], Swimming);
        uint64_t hash = mica_world_hash(both.client);
        faulty_allocator_fail_at(&both.faulty, k, false);
        mica_result result = send_changes(&both);
        reached = both.faulty.failures > 0;
        faulty_allocator_fail_at(&both.faulty, 0, false);
        REQUIRE(result == MICA_OK || (reached && result == MICA_ERROR_MEMORY && mica_world_hash(both.client) == hash));
        forget_reports(&both.heard);
        REQUIRE(result == MICA_OK || send_changes(&both) == MICA_OK);
        REQUIRE(mica_has(both.client, both.crowd[0], Swimming));
        close_both(&both);
    }
}
END_TEST

TEST_SUITE(replica_rivals, a_delta_that_brings_rivals_together_is_refused_and_changes_nothing,
           without_memory_to_look_for_rivals_nothing_changes)
