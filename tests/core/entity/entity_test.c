/* One entity: handles and their generations, components that come, go and are switched off, clones. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "mica/snapshot.h"

#include <stdio.h>
#include <string.h>

static reports heard;

static bool position_is(const Position *position, float x, float y, float z)
{
    return position && position->x == x && position->y == y && position->z == z;
}

START_TEST(nil_is_zero_and_never_alive)
{
    mica_world *world = open_world(&heard);
    const mica_entity zero = {0, 0};
    ck_assert_msg(mica_is_nil(zero) && mica_same(zero, mica_nil()), "all zero is nil");
    ck_assert_msg(!mica_is_alive(world, mica_nil()), "nil is not alive in an empty world");
    mica_entity first = mica_create(world);
    ck_assert_msg(!mica_is_nil(first), "the first handle is not nil");
    ck_assert_msg(!mica_is_alive(world, mica_nil()), "nil is not alive in a world with entities");
    close_world(world, &heard);
}
END_TEST

START_TEST(alive_compares_the_generation)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    for (uint32_t generation = 0; generation < 64; ++generation) {
        mica_entity forged = {entity.index, generation};
        ck_assert_msg(mica_is_alive(world, forged) == (generation == entity.generation),
                      "generation %u of slot %u, which is at %u", generation, entity.index, entity.generation);
    }
    const mica_entity wild = {entity.index, entity.generation + (1u << 24)};
    ck_assert_msg(!mica_is_alive(world, wild), "a generation counts with all its bits");
    mica_destroy(world, entity);
    ck_assert_msg(!mica_is_alive(world, entity), "a destroyed entity is dead");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_dead_handle_is_never_alive_again)
{
    enum { LIVES = 3000 };
    static mica_entity past[LIVES];
    mica_world *world = open_world(&heard);
    for (int i = 0; i < LIVES; ++i) {
        past[i] = mica_create(world, MICA_WITH(Number, {7}));
        ck_assert_msg(mica_is_alive(world, past[i]), "the new one lives");
        if (i > 0)
            ck_assert_msg(!mica_is_alive(world, past[i - 1]), "the one before does not");
        mica_destroy(world, past[i]);
    }
    mica_entity living = mica_create(world);
    for (int i = 0; i < LIVES; ++i) {
        ck_assert_msg(!mica_is_alive(world, past[i]), "handle %d came alive again", i);
        ck_assert_msg(!mica_same(past[i], living), "handle %d was handed out again", i);
    }
    ck_assert_msg(living.index < 64, "slots are used again: %u after %d lives", living.index, LIVES);
    close_world(world, &heard);
}
END_TEST

START_TEST(ids_are_used_again_with_a_new_generation)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[100];
    uint32_t highest = 0;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 100; ++i) {
            entities[i] = mica_create(world, MICA_WITH(Number, {1}));
            highest = entities[i].index > highest ? entities[i].index : highest;
        }
        for (int i = 0; i < 100; ++i)
            ck_assert_msg(mica_destroy(world, entities[i]), "each dies once");
    }
    ck_assert_msg(highest < 200, "20 rounds of 100 entities need no 2000 slots: %u", highest);
    close_world(world, &heard);
}
END_TEST

START_TEST(freed_slots_never_show_old_values)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[50];
    for (int i = 0; i < 50; ++i)
        entities[i] =
            mica_create(world, MICA_WITH(Position, {9, 9, 9}), MICA_WITH(Number, {9}), MICA_WITH(Health, {9, 9}));
    for (int i = 0; i < 50; ++i) {
        mica_disable(world, entities[i], Health);
        mica_destroy(world, entities[i]);
    }
    for (int i = 0; i < 50; ++i) {
        mica_entity fresh = mica_create(world, MICA_WITH(Position), MICA_WITH(Number), MICA_WITH(Health));
        ck_assert_msg(position_is(mica_get(world, fresh, Position), 0, 0, 0), "row %d shows an old Position", i);
        ck_assert_msg(mica_get(world, fresh, Number)->value == 0, "row %d shows an old Number", i);
        ck_assert_msg(mica_get(world, fresh, Health)->maximum == 0, "row %d shows an old Health", i);
        ck_assert_msg(mica_is_enabled(world, fresh, Health), "row %d is still switched off", i);
        ck_assert_msg(!mica_has(world, fresh, Velocity), "row %d has a component it was not given", i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_added_again_starts_from_its_default)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {9, 9, 9}), MICA_WITH(Health, {9, 9}));
    mica_disable(world, entity, Health);
    mica_remove(world, entity, Position);
    mica_remove(world, entity, Health);
    ck_assert_msg(position_is(mica_add(world, entity, Position), 0, 0, 0), "Position starts at zero");
    ck_assert_msg(mica_add(world, entity, Health)->current == 0, "Health starts at zero");
    ck_assert_msg(mica_is_enabled(world, entity, Health), "and switched on");
    close_world(world, &heard);
}
END_TEST

START_TEST(the_order_of_components_never_matters)
{
    mica_world *world = open_world(&heard);
    mica_entity created =
        mica_create(world, MICA_WITH(Position, {1, 0, 0}), MICA_WITH(Velocity, {2, 0, 0}), MICA_WITH(Frozen));
    uint32_t archetypes = mica_world_get_stats(world).archetype_count;
    mica_entity reversed =
        mica_create(world, MICA_WITH(Frozen), MICA_WITH(Velocity, {2, 0, 0}), MICA_WITH(Position, {1, 0, 0}));
    ck_assert_msg(mica_world_get_stats(world).archetype_count == archetypes, "{P,Q} and {Q,P} are one archetype");
    const mica_entity both[] = {created, reversed};
    for (uint32_t i = 0; i < 2; ++i) {
        ck_assert_msg(position_is(mica_get(world, both[i], Position), 1, 0, 0), "Position went to Position");
        ck_assert_msg(mica_get(world, both[i], Velocity)->x == 2, "Velocity went to Velocity");
    }
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Velocity), MICA_READ(Position)));
    mica_view view = mica_query_begin(query);
    ck_assert_msg(mica_view_next(&view) && view.count == 2, "both lie in one view");
    ck_assert_msg(!mica_view_next(&view), "and in no other");
    close_world(world, &heard);
}
END_TEST

START_TEST(components_added_in_any_order_lead_to_one_archetype)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    mica_world *world = open_world(&heard);
    const mica_component set[] = {MICA_ID(Position), MICA_ID(Velocity), MICA_ID(Frozen)};
    for (uint32_t i = 0; i < 6; ++i) {
        mica_entity entity = mica_create(world);
        for (uint32_t j = 0; j < 3; ++j)
            ck_assert_msg(mica_add_id(world, entity, set[orders[i][j]]), "component %u is added", j);
    }
    mica_query *query =
        mica_query_create(world, MICA_QUERY(MICA_READ(Position), MICA_READ(Velocity), MICA_HAS(Frozen)));
    mica_view view = mica_query_begin(query);
    ck_assert_msg(mica_view_next(&view) && view.count == 6, "all six lie together");
    ck_assert_msg(!mica_view_next(&view), "in one archetype");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_given_twice_is_refused)
{
    mica_world *world = open_world(&heard);
    uint64_t before = mica_world_hash(world);
    mica_entity entity =
        mica_create(world, MICA_WITH(Position, {1, 1, 1}), MICA_WITH(Mass, {1}), MICA_WITH(Position, {2, 2, 2}));
    ck_assert_msg(mica_is_nil(entity), "an entity has a component once");
    expect_report(&heard, MICA_ERROR_INVALID, "Position");
    ck_assert_msg(mica_world_hash(world) == before, "nothing was created");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_entity_needs_no_components)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    ck_assert_msg(mica_is_alive(world, entity), "it lives");
    ck_assert_msg(mica_get_components(world, entity, NULL, 0) == 0, "it has nothing");
    ck_assert_msg(!mica_has(world, entity, Position), "not even a Position");
    mica_set(world, entity, Position, {1, 2, 3});
    ck_assert_msg(mica_remove(world, entity, Position), "what was added can go again");
    ck_assert_msg(mica_is_alive(world, entity), "and it lives on");
    ck_assert_msg(mica_destroy(world, entity), "and dies like any other");
    close_world(world, &heard);
}
END_TEST

START_TEST(death_takes_all_components_along)
{
    mica_world *world = open_world(&heard);
    Text text = text_make("owned");
    mica_entity entity =
        mica_create(world, MICA_WITH(Position, {1, 1, 1}), MICA_WITH(Frozen), MICA_WITH(Health, {1, 1}),
                    MICA_WITH(Age, {1}), MICA_WITH(Matrix), {MICA_ID(Text), sizeof text, &text});
    text_drop(&text);
    mica_name_set(world, entity, mica_nil(), "mortal");
    ck_assert_msg(mica_destroy(world, entity), "nothing must be removed by hand");
    ck_assert_msg(texts_alive == 0, "what it owned is dropped");
    ck_assert_msg(mica_get(world, entity, Position) == NULL, "it has no components");
    ck_assert_msg(mica_is_nil(mica_find(world, "mortal")), "it has no name");
    ck_assert_msg(mica_world_get_stats(world).entity_count == 0, "no entity is left");
    close_world(world, &heard);
}
END_TEST

START_TEST(destroying_twice_reports_false_the_second_time)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3})),
                other = mica_create(world, MICA_WITH(Position, {4, 5, 6}));
    ck_assert_msg(mica_destroy(world, entity), "the first time is true");
    ck_assert_msg(!mica_destroy(world, entity), "the second time is false");
    expect_report(&heard, MICA_ERROR_DEAD, "");
    ck_assert_msg(mica_is_alive(world, other), "the other one lives");
    mica_entity successor = mica_create(world);
    ck_assert_msg(!mica_destroy(world, entity), "a third time does not kill the successor in the slot");
    expect_report(&heard, MICA_ERROR_DEAD, "");
    ck_assert_msg(mica_is_alive(world, successor), "the new entity is alive");
    close_world(world, &heard);
}
END_TEST

START_TEST(removing_twice_reports_false_the_second_time)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Frozen));
    ck_assert_msg(mica_remove(world, entity, Position), "the first time is true");
    ck_assert_msg(!mica_remove(world, entity, Position), "the second time is false");
    ck_assert_msg(mica_remove(world, entity, Frozen), "a tag goes once");
    ck_assert_msg(!mica_remove(world, entity, Frozen), "and not twice");
    ck_assert_msg(!mica_remove(world, entity, Mass), "what was never there does not go");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(set_adds_or_overwrites_and_keeps_the_rest)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Velocity, {7, 8, 9}));
    ck_assert_msg(mica_set(world, entity, Position, {1, 2, 3}), "set adds");
    ck_assert_msg(position_is(mica_get(world, entity, Position), 1, 2, 3), "with the value");
    ck_assert_msg(mica_set(world, entity, Position, {4, 5, 6}), "set overwrites");
    ck_assert_msg(position_is(mica_get(world, entity, Position), 4, 5, 6), "with the new value");
    ck_assert_msg(mica_get(world, entity, Velocity)->z == 9, "the others stay");
    mica_write(world, entity, Position)->x = 10;
    ck_assert_msg(mica_get(world, entity, Position)->x == 10, "write changes in place");
    close_world(world, &heard);
}
END_TEST

START_TEST(adding_what_is_there_returns_it_unchanged)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    const Position *before = mica_get(world, entity, Position);
    ck_assert_msg(mica_add(world, entity, Position) == before, "the same value at the same place");
    ck_assert_msg(position_is(before, 1, 2, 3), "unchanged");
    ck_assert_msg(mica_add(world, entity, Frozen) != NULL, "a tag gives a pointer");
    ck_assert_msg(mica_add(world, entity, Frozen) != NULL, "also when it is there already");
    close_world(world, &heard);
}
END_TEST

START_TEST(has_and_get_agree_for_every_combination)
{
    mica_world *world = open_world(&heard);
    const mica_component set[] = {MICA_ID(Position), MICA_ID(Velocity), MICA_ID(Mass), MICA_ID(Frozen),
                                  MICA_ID(Matrix)};
    for (uint32_t mask = 0; mask < 32; ++mask) {
        mica_entity entity = mica_create(world);
        for (uint32_t i = 0; i < 5; ++i)
            if (mask >> i & 1)
                mica_add_id(world, entity, set[i]);
        for (uint32_t i = 0; i < 5; ++i) {
            bool expected = mask >> i & 1;
            ck_assert_msg(mica_has_id(world, entity, set[i]) == expected, "has %u in set %u", i, mask);
            if (set[i] != MICA_ID(Frozen))
                ck_assert_msg((mica_get_id(world, entity, set[i]) != NULL) == expected, "get %u in set %u", i, mask);
        }
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(components_of_lists_them_by_rising_id)
{
    mica_world *world = open_world(&heard);
    mica_entity entity =
        mica_create(world, MICA_WITH(Velocity), MICA_WITH(Frozen), MICA_WITH(Mass), MICA_WITH(Position));
    mica_component listed[8] = {0};
    ck_assert_msg(mica_get_components(world, entity, listed, 8) == 4, "there are four");
    for (uint32_t i = 0; i < 4; ++i) {
        ck_assert_msg(mica_has_id(world, entity, listed[i]), "number %u is one of its own", i);
        ck_assert_msg(i == 0 || listed[i - 1] < listed[i], "the ids rise");
    }
    mica_component few[3] = {0, 0, 12345};
    ck_assert_msg(mica_get_components(world, entity, few, 2) == 4, "a short list still tells how many");
    ck_assert_msg(few[0] == listed[0] && few[1] == listed[1] && few[2] == 12345, "and is not overrun");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_entity_can_have_hundreds_of_components)
{
    enum { MANY = 300 };
    static const mica_field field = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    static mica_component ids[MANY];
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    for (uint32_t i = 0; i < MANY; ++i) {
        char name[32];
        snprintf(name, sizeof name, "Part%u", i);
        mica_type type = {.name = name,
                          .fields = &field,
                          .field_count = 1,
                          .size_bytes = 4,
                          .alignment = 4,
                          .kind = MICA_KIND_STRUCT};
        ids[i] = mica_component_define(world, &type);
        uint32_t *value = mica_add_id(world, entity, ids[i]);
        ck_assert_msg(value != NULL, "part %u is added", i);
        *value = i;
    }
    ck_assert_msg(mica_get_components(world, entity, NULL, 0) == MANY, "all are there");
    for (uint32_t i = 0; i < MANY; i += 2)
        ck_assert_msg(mica_remove_id(world, entity, ids[i]), "part %u is removed", i);
    for (uint32_t i = 1; i < MANY; i += 2)
        ck_assert_msg(*(const uint32_t *)mica_get_id(world, entity, ids[i]) == i, "part %u kept its value", i);
    close_world(world, &heard);
}
END_TEST

START_TEST(toggling_moves_nothing_and_keeps_the_value)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Health, {5, 10}), MICA_WITH(Visible));
    uint32_t archetypes = mica_world_get_stats(world).archetype_count;
    const Health *before = mica_get(world, entity, Health);
    ck_assert_msg(mica_is_enabled(world, entity, Health), "on from the start");
    ck_assert_msg(mica_disable(world, entity, Health), "it goes off");
    ck_assert_msg(!mica_is_enabled(world, entity, Health), "it is off");
    ck_assert_msg(mica_has(world, entity, Health), "and still there");
    ck_assert_msg(mica_get(world, entity, Health) == before && before->current == 5, "at its place, with its value");
    ck_assert_msg(mica_is_enabled(world, entity, Visible), "the other one is still on");
    ck_assert_msg(mica_disable(world, entity, Visible) && !mica_is_enabled(world, entity, Visible),
                  "a tag goes off too");
    ck_assert_msg(mica_enable(world, entity, Health) && mica_is_enabled(world, entity, Health),
                  "it can be enabled again");
    ck_assert_msg(mica_world_get_stats(world).archetype_count == archetypes, "no archetype was needed");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_switched_off_component_stays_off_through_moves)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[100];
    for (int i = 0; i < 100; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Health, {i, 100}), MICA_WITH(Visible));
        if (i % 3 == 0)
            mica_disable(world, entities[i], Health);
        if (i % 2 == 0)
            mica_disable(world, entities[i], Visible);
    }
    for (int i = 0; i < 100; i += 5)
        mica_set(world, entities[i], Mass, {1});
    for (int i = 0; i < 100; i += 7)
        mica_destroy(world, entities[i]);
    for (int i = 0; i < 100; ++i) {
        bool alive = i % 7 != 0;
        ck_assert_msg(mica_is_enabled(world, entities[i], Health) == (alive && i % 3 != 0), "Health of %d", i);
        ck_assert_msg(mica_is_enabled(world, entities[i], Visible) == (alive && i % 2 != 0), "Visible of %d", i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(only_what_is_described_so_can_be_toggled)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    ck_assert_msg(!mica_disable(world, entity, Position), "Position is described without .toggle");
    ck_assert_msg(!mica_disable(world, entity, Health), "Health is not there");
    ck_assert_msg(mica_is_enabled(world, entity, Position), "what can't be toggled is on");
    ck_assert_msg(!mica_is_enabled(world, entity, Health), "what is not there is not on");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_clone_has_the_values_but_not_the_name)
{
    mica_world *world = open_world(&heard);
    mica_entity entity =
        mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Frozen), MICA_WITH(Health, {5, 10}));
    mica_name_set(world, entity, mica_nil(), "original");
    mica_entity twin = mica_clone(world, entity);
    ck_assert_msg(mica_is_alive(world, twin) && !mica_same(twin, entity), "another living entity");
    ck_assert_msg(position_is(mica_get(world, twin, Position), 1, 2, 3), "with the same values");
    ck_assert_msg(mica_has(world, twin, Frozen), "and tags");
    ck_assert_msg(mica_get_components(world, twin, NULL, 0) == 3, "and nothing more");
    ck_assert_msg(mica_name_get(world, twin) == NULL, "and no name");
    mica_write(world, twin, Position)->x = 99;
    ck_assert_msg(mica_get(world, entity, Position)->x == 1, "the original stays as it is");
    ck_assert_msg(mica_same(mica_find(world, "original"), entity), "and keeps its name");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_clone_is_switched_on_and_off_as_its_original)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Health, {5, 10}), MICA_WITH(Visible));
    mica_disable(world, entity, Health);
    mica_entity twin = mica_clone(world, entity);
    ck_assert_msg(!mica_is_enabled(world, twin, Health), "what is off is off");
    ck_assert_msg(mica_get(world, twin, Health)->current == 5, "with its value");
    ck_assert_msg(mica_is_enabled(world, twin, Visible), "what is on is on");
    close_world(world, &heard);
}
END_TEST

START_TEST(adding_an_entity_disturbs_no_other)
{
    enum { MANY = 20000 };
    static mica_entity entities[MANY];
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < MANY; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position, {1, 1, 1}));
    for (uint32_t i = 0; i < MANY; ++i)
        ck_assert_msg(mica_get(world, entities[i], Number)->value == i, "the handle of entity %u finds its value", i);
    uint32_t next = 0;
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        for (uint32_t row = 0; row < view.count; ++row, ++next)
            ck_assert_msg(mica_same(view.entities[row], entities[next]) &&
                              mica_view_read(&view, Number)[row].value == next,
                          "entity %u is in its place", next);
    ck_assert_uint_eq(next, MANY);
    close_world(world, &heard);
}
END_TEST

static void destroy_original(const mica_event *event)
{
    const mica_entity *original = event->context;
    if (!mica_same(event->entities[0], *original))
        mica_destroy(event->world, *original);
}

START_TEST(a_clone_keeps_its_switches_though_a_hook_destroys_the_original)
{
    mica_world *world = open_world(&heard);
    mica_entity original = mica_create(world, MICA_WITH(Health, {5, 10}), MICA_WITH(Visible));
    mica_disable(world, original, Visible);
    mica_hook_set(world, Health, MICA_EVENT_ADD, destroy_original, &original);
    mica_entity twin = mica_clone(world, original);
    ck_assert_msg(!mica_is_alive(world, original) && mica_is_alive(world, twin), "one is left");
    ck_assert_msg(mica_is_enabled(world, twin, Health) && !mica_is_enabled(world, twin, Visible), "as it was");
    close_world(world, &heard);
}
END_TEST

/* Rows of bytes are copied, also when the original moves to make room, and a snapshot does not see the copies. */
START_TEST(clones_of_clones_have_the_values)
{
    for (int small = 0; small < 2; ++small) {
        mica_world *world = small ? open_world_of_small_chunks(&heard) : open_world(&heard);
        mica_entity last = mica_create(world, MICA_WITH(Position, {1, 2, 3}), MICA_WITH(Color, {4, 5, 6}),
                                       MICA_WITH(Matrix), MICA_WITH(Frozen));
        mica_write(world, last, Matrix)->cells[15] = 7;
        mica_snapshot before = {0};
        uint64_t hash = 0;
        for (uint32_t i = 0; i < 3000; ++i) {
            if (i == 1500) {
                hash = mica_world_hash(world);
                before = mica_snapshot_take(world);
            }
            mica_entity clone = mica_clone(world, last);
            ck_assert(mica_is_alive(world, clone) && !mica_same(clone, last));
            mica_write(world, clone, Position)->x += 1;
            last = clone;
        }
        ck_assert(position_is(mica_get(world, last, Position), 3001, 2, 3));
        ck_assert(mica_get(world, last, Color)->blue == 6 && mica_get(world, last, Matrix)->cells[15] == 7);
        ck_assert(mica_has(world, last, Frozen) && mica_get_components(world, last, NULL, 0) == 4);
        ck_assert(mica_world_validate(world) == MICA_OK);
        ck_assert(mica_snapshot_restore(world, before) == MICA_OK && mica_world_hash(world) == hash);
        ck_assert(mica_world_validate(world) == MICA_OK);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(values_are_taken_from_variables)
{
    mica_world *world = open_world(&heard);
    Mass mass = {4};
    mica_entity entity = mica_create(world, MICA_FROM(Mass, &mass), MICA_WITH(Frozen));
    ck_assert_msg(mica_get(world, entity, Mass)->value == 4, "at creation");
    mass.value = 5;
    ck_assert_msg(mica_set_from(world, entity, Mass, &mass) && mica_get(world, entity, Mass)->value == 5, "later too");
    close_world(world, &heard);
}
END_TEST

/* Rows that are between others and at the end of their archetype, with a column before, at and after the one that comes and goes. */
enum { SIZED_ROWS = 5, SIZED_COMPONENTS = 3, SIZED_MAX = 200 };

static const uint32_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 64, 200};

static mica_component define_bytes(mica_world *world, uint32_t bytes, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "sized_%u_%u", bytes, number);
    const mica_field field = {.name = "bytes", .element_bytes = 1, .count = bytes, .kind = MICA_KIND_U8};
    return mica_component_define(world, &(mica_type){.name = name,
                                                     .fields = &field,
                                                     .field_count = 1,
                                                     .size_bytes = bytes,
                                                     .alignment = 1,
                                                     .kind = MICA_KIND_STRUCT,
                                                     .storage = MICA_STORAGE_CHUNK});
}

static const unsigned char *sized_value(uint32_t row, uint32_t number)
{
    static unsigned char value[SIZED_MAX];
    for (uint32_t i = 0; i < SIZED_MAX; ++i)
        value[i] = (unsigned char)(1 + row * 67 + number * 31 + i * 7);
    return value;
}

/* Whether an entity has a value; NULL is one of zeros. */
static bool has_bytes(const mica_world *world, mica_entity entity, mica_component component, uint32_t bytes,
                      const unsigned char *value)
{
    static const unsigned char zeros[SIZED_MAX];
    const void *found = mica_get_id(world, entity, component);
    return found && memcmp(found, value ? value : zeros, bytes) == 0;
}

static void check_sized_step(uint32_t bytes, uint32_t moved, uint32_t which)
{
    mica_world *world = open_world(&heard);
    mica_component components[SIZED_COMPONENTS];
    mica_entity entities[SIZED_ROWS];
    for (uint32_t i = 0; i < SIZED_COMPONENTS; ++i)
        components[i] = define_bytes(world, bytes, i);
    for (uint32_t row = 0; row < SIZED_ROWS; ++row) {
        entities[row] = mica_create(world);
        for (uint32_t i = 0; i < SIZED_COMPONENTS; ++i)
            ck_assert(mica_set_id(world, entities[row], (mica_value){components[i], bytes, sized_value(row, i)}));
    }
    for (uint32_t turn = 0; turn < 2; ++turn) { /* the second time by edges that are known */
        ck_assert(mica_remove_id(world, entities[moved], components[which]));
        ck_assert(mica_add_id(world, entities[moved], components[which]) != NULL);
        ck_assert_msg(has_bytes(world, entities[moved], components[which], bytes, NULL), "what is added is zero");
    }
    ck_assert(mica_set_id(world, entities[moved], (mica_value){components[which], bytes, sized_value(moved, which)}));
    for (uint32_t row = 0; row < SIZED_ROWS; ++row)
        for (uint32_t i = 0; i < SIZED_COMPONENTS; ++i)
            ck_assert_msg(has_bytes(world, entities[row], components[i], bytes, sized_value(row, i)),
                          "%u bytes: row %u, component %u", bytes, row, i);
    close_world(world, &heard);
}

START_TEST(values_of_every_size_survive_additions_and_removals)
{
    for (uint32_t size = 0; size < COUNT_OF(sizes); ++size)
        for (uint32_t moved = 0; moved < SIZED_ROWS; ++moved)
            for (uint32_t which = 0; which < SIZED_COMPONENTS; ++which)
                check_sized_step(sizes[size], moved, which);
}
END_TEST

START_TEST(a_component_is_set_from_a_value_of_the_row_that_moves)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[4];
    for (uint32_t turn = 0; turn < 2; ++turn) { /* the second time by an edge that is known */
        for (uint32_t i = 0; i < COUNT_OF(entities); ++i)
            entities[i] = mica_create(world, MICA_WITH(Position, {(float)i, 2, 3}));
        const void *own = mica_get(world, entities[1], Position);
        ck_assert(mica_set_id(world, entities[1], (mica_value){MICA_ID(Velocity), sizeof(Velocity), own}));
        ck_assert_msg(mica_get(world, entities[1], Velocity)->x == 1, "before the last row takes its place");
        const void *last = mica_get(world, entities[3], Position);
        ck_assert(mica_set_id(world, entities[2], (mica_value){MICA_ID(Velocity), sizeof(Velocity), last}));
        ck_assert_msg(mica_get(world, entities[2], Velocity)->x == 3, "from the row that takes its place");
        for (uint32_t i = 0; i < COUNT_OF(entities); ++i)
            ck_assert(mica_get(world, entities[i], Position)->x == (float)i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(setting_a_tag_adds_it_once)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position));
    for (uint32_t turn = 0; turn < 2; ++turn) {
        ck_assert(mica_set_id(world, entity, (mica_value){MICA_ID(Frozen), 0, NULL}) &&
                  mica_has(world, entity, Frozen));
        ck_assert_msg(mica_set_id(world, entity, (mica_value){MICA_ID(Frozen), 0, NULL}), "it is there already");
        ck_assert(mica_remove(world, entity, Frozen));
    }
    close_world(world, &heard);
}
END_TEST

/* As programs do that are compiled for one component or another. */
#define PLACE Position
START_TEST(a_macro_can_name_a_component)
{
    mica_world *world = open_world(&heard);
    ck_assert_uint_eq(mica_define(world, PLACE), MICA_ID(PLACE));
    mica_entity entity = mica_create(world, MICA_WITH(PLACE, {1, 2, 3}));
    ck_assert(mica_has(world, entity, PLACE) && position_is(mica_get(world, entity, PLACE), 1, 2, 3));
    mica_write(world, entity, PLACE)->x = 4;
    const Position *found = NULL;
    mica_get_several(world, entity, MICA_INTO(PLACE, &found));
    ck_assert(position_is(found, 4, 2, 3));
    ck_assert(mica_remove(world, entity, PLACE) && mica_add(world, entity, PLACE));
    ck_assert(mica_set(world, entity, PLACE, {5, 6, 7}));
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_WRITE(PLACE)));
    for (mica_view view = mica_query_begin(query); mica_view_next(&view);)
        ck_assert(position_is(mica_view_write(&view, PLACE), 5, 6, 7) && mica_view_has(&view, PLACE));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(entity, clones_of_clones_have_the_values, nil_is_zero_and_never_alive, alive_compares_the_generation,
           a_dead_handle_is_never_alive_again, ids_are_used_again_with_a_new_generation,
           freed_slots_never_show_old_values, a_component_added_again_starts_from_its_default,
           the_order_of_components_never_matters, components_added_in_any_order_lead_to_one_archetype,
           a_component_given_twice_is_refused, an_entity_needs_no_components, death_takes_all_components_along,
           destroying_twice_reports_false_the_second_time, removing_twice_reports_false_the_second_time,
           set_adds_or_overwrites_and_keeps_the_rest, adding_what_is_there_returns_it_unchanged,
           has_and_get_agree_for_every_combination, components_of_lists_them_by_rising_id,
           an_entity_can_have_hundreds_of_components, toggling_moves_nothing_and_keeps_the_value,
           a_switched_off_component_stays_off_through_moves, only_what_is_described_so_can_be_toggled,
           a_clone_has_the_values_but_not_the_name, a_clone_is_switched_on_and_off_as_its_original,
           adding_an_entity_disturbs_no_other, a_clone_keeps_its_switches_though_a_hook_destroys_the_original,
           values_are_taken_from_variables, values_of_every_size_survive_additions_and_removals,
           a_component_is_set_from_a_value_of_the_row_that_moves, setting_a_tag_adds_it_once,
           a_macro_can_name_a_component)
