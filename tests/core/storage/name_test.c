/* Names and paths. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

START_TEST(an_entity_is_found_by_its_name)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world), other = mica_create(world);
    char text[] = "ship";
    ck_assert_msg(mica_name_get(world, entity) == NULL, "it has no name at first");
    ck_assert_msg(mica_name_set(world, entity, mica_nil(), text) == MICA_OK, "it is named");
    memset(text, '!', 4);
    ck_assert_str_eq(mica_name_get(world, entity), "ship");
    ck_assert_msg(mica_same(mica_find(world, "ship"), entity), "and found");
    ck_assert_msg(mica_name_get(world, other) == NULL, "the other has none");
    close_world(world, &heard);
}
END_TEST

START_TEST(paths_lead_through_scopes)
{
    mica_world *world = open_world(&heard);
    mica_entity station = mica_create(world), deck = mica_create(world), door = mica_create(world),
                other = mica_create(world);
    mica_name_set(world, station, mica_nil(), "station");
    mica_name_set(world, deck, station, "deck");
    mica_name_set(world, door, deck, "door");
    ck_assert_msg(mica_name_set(world, other, station, "door") == MICA_OK, "another scope may have the same name");
    const struct {
        mica_entity scope;
        const char *path;
        mica_entity expected;
    } cases[] = {
        {mica_nil(), "station", station},
        {mica_nil(), "station/deck", deck},
        {mica_nil(), "station/deck/door", door},
        {mica_nil(), "station/door", other},
        {station, "deck/door", door},
        {station, "deck", deck},
        {deck, "door", door},
        {mica_nil(), "door", mica_nil()},
        {mica_nil(), "deck", mica_nil()},
        {station, "station", mica_nil()},
        {door, "deck", mica_nil()},
        {mica_nil(), "station/deck/door/knob", mica_nil()},
        {mica_nil(), "station/nowhere/door", mica_nil()},
        {mica_nil(), "stat", mica_nil()},
        {mica_nil(), "stations", mica_nil()},
        {mica_nil(), "STATION", mica_nil()},
        {mica_nil(), "", mica_nil()},
        {mica_nil(), "//", mica_nil()},
        {mica_nil(), "station//door", mica_nil()},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i)
        ck_assert_msg(mica_same(mica_find_from(world, cases[i].scope, cases[i].path), cases[i].expected),
                      "case %u: '%s'", i, cases[i].path);
    ck_assert_msg(mica_is_nil(mica_find_from(world, mica_nil(), NULL)), "no path leads nowhere");
    expect_report(&heard, MICA_ERROR_INVALID, "path must not be NULL");
    close_world(world, &heard);
}
END_TEST

START_TEST(names_that_can_not_be_are_refused)
{
    mica_world *world = open_world(&heard);
    mica_entity first = mica_create(world), second = mica_create(world), dead = mica_create(world);
    mica_destroy(world, dead);
    mica_name_set(world, first, mica_nil(), "taken");
    mica_name_set(world, second, mica_nil(), "mine");
    uint64_t before = mica_world_hash(world);
    const struct {
        mica_entity entity, scope;
        const char *name;
        mica_result expected;
    } cases[] = {
        {second, mica_nil(), "taken", MICA_ERROR_EXISTS}, {second, mica_nil(), "a/b", MICA_ERROR_INVALID},
        {second, mica_nil(), "/", MICA_ERROR_INVALID},    {dead, mica_nil(), "ghost", MICA_ERROR_DEAD},
        {second, dead, "lost", MICA_ERROR_DEAD},          {mica_nil(), mica_nil(), "none", MICA_ERROR_DEAD},
        {second, second, "itself", MICA_ERROR_INVALID},
    };
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ck_assert_msg(mica_name_set(world, cases[i].entity, cases[i].scope, cases[i].name) == cases[i].expected,
                      "case %u: '%s'", i, cases[i].name);
        expect_report(&heard, cases[i].expected, "");
    }
    ck_assert_str_eq(mica_name_get(world, second), "mine");
    ck_assert_msg(mica_same(mica_find(world, "mine"), second), "the old name stands");
    ck_assert_msg(mica_world_hash(world) == before, "nothing has changed");
    ck_assert_msg(mica_name_set(world, second, mica_nil(), "mine") == MICA_OK, "its own name is not taken by another");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_new_name_replaces_the_old_one)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world), house = mica_create(world);
    mica_name_set(world, house, mica_nil(), "house");
    mica_name_set(world, entity, mica_nil(), "first");
    mica_name_set(world, entity, house, "second");
    ck_assert_msg(mica_is_nil(mica_find(world, "first")), "the old name is not found");
    ck_assert_msg(mica_same(mica_find(world, "house/second"), entity), "the new one leads there");
    mica_name_set(world, entity, mica_nil(), NULL);
    ck_assert_msg(mica_name_get(world, entity) == NULL && mica_is_nil(mica_find(world, "house/second")),
                  "NULL takes it away");
    mica_name_set(world, entity, mica_nil(), "third");
    mica_name_set(world, entity, mica_nil(), "");
    ck_assert_msg(mica_name_get(world, entity) == NULL && mica_is_nil(mica_find(world, "third")),
                  "and so does an empty one");
    mica_entity heir = mica_create(world);
    ck_assert_msg(mica_name_set(world, heir, mica_nil(), "first") == MICA_OK, "a name that was given up is free");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_name_dies_with_its_entity)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world), other = mica_create(world);
    mica_name_set(world, entity, mica_nil(), "mortal");
    ck_assert_uint_eq(mica_world_get_stats(world).name_count, 1);
    mica_destroy(world, entity);
    ck_assert_uint_eq(mica_world_get_stats(world).name_count, 0);
    ck_assert_msg(mica_is_nil(mica_find(world, "mortal")), "the entity is not found");
    ck_assert_msg(mica_name_get(world, entity) == NULL, "the dead have no name");
    ck_assert_msg(mica_name_set(world, other, mica_nil(), "mortal") == MICA_OK, "and the name is free");
    mica_entity successor = mica_create(world);
    ck_assert_msg(mica_name_get(world, successor) == NULL, "an entity with the same index does not have the name");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(nothing_is_found_in_a_dead_scope)
{
    mica_world *world = open_world(&heard);
    mica_entity scope = mica_create(world), entity = mica_create(world);
    mica_name_set(world, scope, mica_nil(), "scope");
    mica_name_set(world, entity, scope, "entity");
    mica_destroy(world, scope);
    ck_assert_msg(mica_is_nil(mica_find(world, "scope/entity")), "the path is broken");
    ck_assert_msg(mica_is_nil(mica_find_from(world, scope, "entity")), "a dead scope holds nothing");
    ck_assert_msg(mica_is_alive(world, entity), "the entity itself lives");
    mica_entity successor = mica_create(world);
    ck_assert_msg(mica_is_nil(mica_find_from(world, successor, "entity")),
                  "an entity with the same index does not have the scope");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(thousands_of_names_are_told_apart)
{
    enum { MANY = 5000 };
    static mica_entity entities[MANY];
    mica_world *world = open_world(&heard);
    char name[32];
    for (int i = 0; i < MANY; ++i) {
        entities[i] = mica_create(world, MICA_WITH(Number, {(uint32_t)i}));
        snprintf(name, sizeof name, "entity %d", i);
        ck_assert_msg(mica_name_set(world, entities[i], i % 2 ? entities[0] : mica_nil(), name) == MICA_OK,
                      "number %d is named", i);
    }
    for (int i = 0; i < MANY; i += 3)
        if (i > 0)
            mica_destroy(world, entities[i]);
    for (int i = 1; i < MANY; ++i) {
        snprintf(name, sizeof name, "entity %d", i);
        mica_entity found = mica_find_from(world, i % 2 ? entities[0] : mica_nil(), name);
        ck_assert_msg(mica_same(found, i % 3 == 0 ? mica_nil() : entities[i]), "number %d", i);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_long_name_is_kept_whole)
{
    mica_world *world = open_world(&heard);
    static char name[5000];
    memset(name, 'n', sizeof name - 1);
    mica_entity entity = mica_create(world);
    ck_assert_msg(mica_name_set(world, entity, mica_nil(), name) == MICA_OK, "it is taken");
    ck_assert_str_eq(mica_name_get(world, entity), name);
    ck_assert_msg(mica_same(mica_find(world, name), entity), "and found");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(name, an_entity_is_found_by_its_name, paths_lead_through_scopes, names_that_can_not_be_are_refused,
           a_new_name_replaces_the_old_one, a_name_dies_with_its_entity, nothing_is_found_in_a_dead_scope,
           thousands_of_names_are_told_apart, a_long_name_is_kept_whole)
