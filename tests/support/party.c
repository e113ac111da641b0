#include "party.h"

#include "components.h"
#include "mica/hierarchy.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

void party_define(mica_world *world)
{
    mica_define(world, Letter);
    mica_define(world, Knot);
    mica_define(world, Number);
    mica_define(world, Health);
    mica_define(world, Frozen);
    mica_define(world, Age);
    mica_define(world, Wind);
    mica_define(world, Color);
    mica_define(world, Weather);
    mica_define(world, Loan);
    mica_define(world, Seat);
    mica_define(world, Coat);
    mica_define(world, Bag);
    mica_define(world, Guest);
    mica_define(world, Lamp);
}

static void arrive(party *party)
{
    mica_world *world = party->world;
    mica_entity *knots = party->knots;
    for (uint32_t i = 0; i < PARTY_CROWD; ++i)
        party->crowd[i] = mica_create(world, MICA_WITH(Letter, {(char)i}));
    for (uint32_t i = 0; i < PARTY_KNOTS; ++i)
        knots[i] = mica_create(world, MICA_WITH(Knot, {{{i ? knots[i - 1] : mica_nil(), true}}}));
    party->patient = mica_create(world, MICA_WITH(Number, {1}), MICA_WITH(Health, {5, 9}), MICA_WITH(Frozen));
    party->vane = mica_create(world, MICA_WITH(Wind, {1, 2}));
    party->quiet = mica_create(world, MICA_WITH(Color, {1, 2, 3}));
    mica_create(world, MICA_WITH(Color, {4, 5, 6}), MICA_WITH(Frozen));
    mica_create(world, MICA_WITH(Weather, {.a = {1}}));
    for (uint32_t i = 0; i < 3; ++i) {
        mica_set(world, knots[i], Loan, {knots[3], false});
        mica_set(world, knots[i], Coat, {i});
    }
    mica_set(world, knots[1], Seat, {knots[0], 4});
    mica_add(world, knots[2], Guest);
    mica_singleton_write(world, Lamp)->is_on = true;
    mica_pool *bags = mica_pool_of(world, Bag);
    for (uint32_t i = 0; i < 6; ++i) /* two each */
        *(uint32_t *)mica_instance_write_id(bags, mica_pool_add(bags, knots[i % 3])) = i;
    REQUIRE(mica_name_set(world, knots[0], mica_nil(), "host") == MICA_OK);
    REQUIRE(mica_name_set(world, knots[1], knots[0], "aunt") == MICA_OK);
    REQUIRE(mica_set_parent(world, knots[1], knots[0]) == MICA_OK);
    REQUIRE(mica_set_parent(world, knots[2], knots[0]) == MICA_OK);
    REQUIRE(mica_set_parent(world, party->patient, knots[0]) == MICA_OK);
}

static void change_everything(party *party)
{
    mica_world *world = party->world;
    mica_entity *knots = party->knots;
    mica_destroy(world, party->crowd[0]); /* the last of the crowd takes its row */
    for (uint32_t i = 0; i < PARTY_LATE; ++i)
        party->crowd[PARTY_CROWD + i] = mica_create(world, MICA_WITH(Letter, {'z'}));
    mica_write(world, knots[0], Knot)->ties[1] = (Tie){party->crowd[PARTY_CROWD], true};
    mica_disable(world, party->patient, Health);
    mica_set(world, party->vane, Age, {3}); /* to another archetype */
    mica_remove(world, knots[0], Loan);
    mica_set(world, knots[3], Loan, {party->crowd[PARTY_CROWD], true});
    mica_disable(world, knots[1], Loan);
    mica_remove(world, knots[1], Coat);
    mica_pool *bags = mica_pool_of(world, Bag);
    mica_pool_remove(bags, mica_pool_find(bags, knots[0]));
    mica_remove(world, knots[1], Bag);
    for (uint32_t i = 0; i < 3; ++i)
        *(uint32_t *)mica_instance_write_id(bags, mica_pool_add(bags, knots[i + 1])) = 7 + i;
    mica_disable(world, knots[2], Bag);
    mica_remove(world, knots[1], Seat);
    mica_set(world, knots[2], Seat, {party->vane, 5});
    mica_remove(world, knots[2], Guest);
    mica_add(world, knots[0], Guest);
    mica_singleton_write(world, Lamp)->is_on = false;
    REQUIRE(mica_name_set(world, knots[0], mica_nil(), NULL) == MICA_OK);
    REQUIRE(mica_name_set(world, knots[1], mica_nil(), "host") == MICA_OK);
    REQUIRE(mica_set_parent(world, knots[1], mica_nil()) == MICA_OK);
    REQUIRE(mica_set_parent(world, knots[0], knots[1]) == MICA_OK); /* the other way round */
    REQUIRE(mica_place_before(world, party->patient, knots[2]) == MICA_OK);
    mica_create(world);
}

static mica_version keep_delta(party *party, mica_sender *sender, mica_version base, uint32_t which)
{
    mica_delta delta;
    REQUIRE(mica_delta_encode(sender, base, &delta) == MICA_OK);
    party->deltas[which] = malloc(delta.byte_count);
    party->delta_bytes[which] = (uint32_t)delta.byte_count;
    memcpy(party->deltas[which], delta.bytes, delta.byte_count);
    return delta.version;
}

void party_open(party *party, mica_allocator allocator)
{
    memset(party, 0, sizeof *party);
    mica_world_def def = mica_world_def_default();
    def.chunk_bytes_first = def.chunk_bytes_last = 1024; /* tables of more than one slice */
    def.allocator = allocator;
    party->world = open_world_with(&party->heard, def);
    party_define(party->world);
    mica_sender *sender = mica_sender_create(party->world, &(mica_sender_def){.with_state = true});
    arrive(party);
    mica_version first = keep_delta(party, sender, 0, 0);
    party->hashes[0] = mica_world_hash(party->world);
    change_everything(party);
    keep_delta(party, sender, first, 1);
    keep_delta(party, sender, 0, 2);
    party->hashes[1] = mica_world_hash(party->world);
    mica_sender_destroy(sender);
}

void party_close(party *party)
{
    for (uint32_t i = 0; i < 3; ++i)
        free(party->deltas[i]);
    close_world(party->world, &party->heard);
}
