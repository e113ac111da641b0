/* The hash of a world: equal for what a program can't tell apart, different for all it can. */
#define _POSIX_C_SOURCE 200809L
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static reports heard;

static void history(mica_world *world)
{
    mica_entity entities[100];
    for (uint32_t i = 0; i < 100; ++i) {
        entities[i] =
            mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Monster, {.mood = MOOD_ANGRY, .title = "orc"}));
        if (i % 3 == 0)
            mica_set(world, entities[i], Position, {1, 2, (float)i});
        if (i % 7 == 0)
            mica_add(world, entities[i], Frozen);
    }
    for (uint32_t i = 0; i < 100; i += 9)
        mica_destroy(world, entities[i]);
    mica_name_set(world, entities[50], mica_nil(), "fifty");
    mica_singleton_write(world, Clock)->ticks = 4;
}

START_TEST(equal_histories_have_equal_hashes)
{
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        mica_world *world = open_world(&heard);
        history(world);
        hashes[i] = mica_world_hash(world);
        ck_assert_msg(hashes[i] == mica_world_hash(world), "asking changes nothing");
        close_world(world, &heard);
    }
    ck_assert_msg(hashes[0] == hashes[1], "two equal histories");
}
END_TEST

/* The hash in a process of its own, where components are met in the order given and so have other ids. */
static uint64_t hash_in_another_process(bool reversed)
{
    int ends[2];
    uint64_t hash = 0;
    ck_assert_msg(pipe(ends) == 0, "a pipe is made");
    pid_t child = fork();
    ck_assert_msg(child >= 0, "a process is made");
    if (child == 0) {
        mica_type *types[] = {&mica_type_of_Number, &mica_type_of_Monster, &mica_type_of_Position, &mica_type_of_Clock,
                              &mica_type_of_Frozen};
        for (uint32_t i = 0; i < COUNT_OF(types); ++i)
            mica_type_id(types[reversed ? COUNT_OF(types) - 1 - i : i]);
        mica_world *world = mica_world_create(NULL);
        history(world);
        hash = mica_world_hash(world);
        mica_world_destroy(world);
        _exit(write(ends[1], &hash, sizeof hash) == sizeof hash ? 0 : 1);
    }
    close(ends[1]); /* or a child that dies would leave us waiting */
    ssize_t count = read(ends[0], &hash, sizeof hash);
    close(ends[0]);
    waitpid(child, NULL, 0);
    ck_assert_msg(count == sizeof hash, "the hash arrives");
    return hash;
}

START_TEST(the_hash_does_not_depend_on_the_order_of_registration)
{
    ck_assert_msg(hash_in_another_process(false) == hash_in_another_process(true), "ids are not part of it");
}
END_TEST

START_TEST(the_hash_ignores_padding_and_what_is_not_described)
{
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        Padded value;
        memset(&value, i ? 0xff : 0, sizeof value);
        value.small = 1;
        value.large = 2;
        value.tail = 3;
        mica_world *world = open_world(&heard);
        mica_entity entity = mica_create(world, {MICA_ID(Padded), sizeof value, &value});
        ck_assert_msg(mica_get(world, entity, Padded)->hidden == value.hidden, "what is left out is carried along");
        hashes[i] = mica_world_hash(world);
        close_world(world, &heard);
    }
    ck_assert_msg(hashes[0] == hashes[1], "only described fields count");
}
END_TEST

START_TEST(the_hash_takes_fields_as_they_are_listed)
{
    static const mica_field forward[] = {
        {.name = "a", .offset = 0, .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32},
        {.name = "b", .offset = 4, .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32}};
    const mica_field backward[] = {forward[1], forward[0]};
    uint64_t hashes[3];
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t values[] = {1, i == 2 ? 3 : 2};
        mica_world *world = open_world(&heard);
        const mica_type type = {.name = "Listed",
                                .fields = i == 1 ? forward : backward,
                                .field_count = 2,
                                .kind = MICA_KIND_STRUCT,
                                .size_bytes = 8,
                                .alignment = 4};
        mica_component listed = mica_component_define(world, &type);
        mica_create(world, {listed, sizeof values, values});
        hashes[i] = mica_world_hash(world);
        close_world(world, &heard);
    }
    ck_assert(hashes[0] != hashes[1] && hashes[0] != hashes[2]); /* as they are listed, and what they hold */
}
END_TEST

/* A world with two equal monsters, in which one thing is made different. */
typedef struct scene {
    mica_world *world;
    mica_entity entity, other;
} scene;

static Monster *monster(scene *at)
{
    return mica_write(at->world, at->entity, Monster);
}

static void differ_nothing(scene *at)
{
    (void)at;
}
static void differ_home(scene *at)
{
    monster(at)->home.z = 1;
}
static void differ_path(scene *at)
{
    monster(at)->path[3].y = 1;
}
static void differ_mood(scene *at)
{
    monster(at)->mood = MOOD_AFRAID;
}
static void differ_skills(scene *at)
{
    monster(at)->skills = SKILL_SING;
}
static void differ_target(scene *at)
{
    monster(at)->target = at->other;
}
static void differ_friend(scene *at)
{
    monster(at)->friends[1] = at->other;
}
static void differ_title(scene *at)
{
    monster(at)->title[15] = 1;
}
static void differ_wealth(scene *at)
{
    monster(at)->wealth = 1e-300;
}
static void differ_owner(scene *at)
{
    mica_write(at->world, at->other, Monster)->wealth = 1e-300;
}
static void differ_tag(scene *at)
{
    mica_add(at->world, at->entity, Frozen);
}
static void differ_switch(scene *at)
{
    mica_disable(at->world, at->entity, Health);
}
static void differ_name(scene *at)
{
    mica_name_set(at->world, at->entity, mica_nil(), "a");
}
static void differ_scope(scene *at)
{
    mica_name_set(at->world, at->entity, at->other, "a");
}
static void differ_clock(scene *at)
{
    mica_singleton_write(at->world, Clock)->ticks = 1;
}
static void differ_newcomer(scene *at)
{
    mica_create(at->world);
}
static void differ_death(scene *at)
{
    mica_destroy(at->world, at->entity);
}
static void differ_clone(scene *at)
{
    mica_clone(at->world, at->entity);
}

/* As differ_clone, but the clone has a handle of a later generation. */
static void differ_generation(scene *at)
{
    mica_destroy(at->world, mica_clone(at->world, at->entity));
    mica_clone(at->world, at->entity);
}

/* The same entities with the same values in other rows. */
static void differ_order(scene *at)
{
    mica_add(at->world, at->entity, Frozen);
    mica_remove(at->world, at->entity, Frozen);
}

static const struct {
    const char *what;
    void (*make)(scene *at);
} differences[] = {
    {"nothing", differ_nothing},
    {"a nested field", differ_home},
    {"an array of structs", differ_path},
    {"an enum", differ_mood},
    {"flags", differ_skills},
    {"a reference", differ_target},
    {"a list of references", differ_friend},
    {"a character", differ_title},
    {"a number", differ_wealth},
    {"whose number", differ_owner},
    {"a tag", differ_tag},
    {"a switch", differ_switch},
    {"a name", differ_name},
    {"the scope of a name", differ_scope},
    {"a singleton", differ_clock},
    {"a newcomer", differ_newcomer},
    {"a death", differ_death},
    {"a clone", differ_clone},
    {"a generation", differ_generation},
    {"the order of rows", differ_order},
};

START_TEST(the_hash_differs_with_anything_a_program_can_observe)
{
    uint64_t hashes[COUNT_OF(differences)];
    for (uint32_t i = 0; i < COUNT_OF(differences); ++i) {
        scene at = {.world = open_world(&heard)};
        mica_singleton_get(at.world, Clock);
        at.entity = mica_create(at.world, MICA_WITH(Monster), MICA_WITH(Health, {1, 1}));
        at.other = mica_create(at.world, MICA_WITH(Monster), MICA_WITH(Health, {1, 1}));
        differences[i].make(&at);
        hashes[i] = mica_world_hash(at.world);
        for (uint32_t earlier = 0; earlier < i; ++earlier)
            ck_assert_msg(hashes[i] != hashes[earlier], "'%s' and '%s' have one hash", differences[i].what,
                          differences[earlier].what);
        close_world(at.world, &heard);
    }
}
END_TEST

TEST_SUITE(hash, the_hash_takes_fields_as_they_are_listed, equal_histories_have_equal_hashes,
           the_hash_does_not_depend_on_the_order_of_registration, the_hash_ignores_padding_and_what_is_not_described,
           the_hash_differs_with_anything_a_program_can_observe)
