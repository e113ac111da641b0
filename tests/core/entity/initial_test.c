/* What components start with that are added without a value: in every storage, and by every way to add them. */
#include "../../support/reports.h"
#include "../../support/test.h"
#include "../../support/tuned.h"

#include "mica/value.h"

#include <string.h>

/* The components, and what they start with. */
static const struct kind {
    mica_type *type;
    const char *initial;
} kinds[] = {
    {&mica_type_of_Tuned, TUNED_INITIAL},          {&mica_type_of_TunedToggle, TUNED_INITIAL},
    {&mica_type_of_TunedSplit, TUNED_INITIAL},     {&mica_type_of_TunedPool, TUNED_INITIAL},
    {&mica_type_of_TunedDirect, TUNED_INITIAL},    {&mica_type_of_TunedHash, TUNED_INITIAL},
    {&mica_type_of_TunedSplitPool, TUNED_INITIAL}, {&mica_type_of_TunedMany, TUNED_INITIAL},
    {&mica_type_of_TunedText, TUNED_TEXT},         {&mica_type_of_TunedPoolText, TUNED_TEXT},
};

static reports heard;
static mica_world *world;

static void setup(void)
{
    world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i)
        ck_assert(mica_component_define(world, kinds[i].type));
}

static void teardown(void)
{
    close_world(world, &heard);
}

static void expect_initial(mica_entity entity, const struct kind *kind, const char *how)
{
    _Alignas(16) char value[256];
    char text[1000];
    mica_component component = mica_type_id(kind->type);
    if (kind->type->split)
        ck_assert(mica_get_value_id(world, entity, component, value));
    const void *whole = kind->type->split ? value : mica_get_id(world, entity, component);
    mica_value_write(mica_member_of(component, (void *)(uintptr_t)whole), text, sizeof text);
    ck_assert_msg(strcmp(text, kind->initial) == 0, "%s, %s: %s", kind->type->name, how, text);
}

START_TEST(a_component_without_a_value_has_its_initial_one)
{
    const struct kind *kind = &kinds[_i];
    mica_component component = mica_type_id(kind->type);
    const mica_value none = {component, 0, NULL};
    mica_entity entity = mica_create(world);
    mica_add_id(world, entity, component);
    expect_initial(entity, kind, "added");

    expect_initial(mica_create_id(world, &none, 1), kind, "created");
    expect_initial(mica_create_id(world, &none, 1), kind, "created again");
    const mica_value two[] = {none, MICA_WITH(Number, {3})};
    expect_initial(mica_create_id(world, two, 2), kind, "created with another");
    mica_entity many[700];
    ck_assert_int_eq(mica_create_many(world, 700, &none, 1, many), MICA_OK);
    expect_initial(many[0], kind, "many");
    expect_initial(many[699], kind, "many");
    expect_initial(mica_clone(world, many[1]), kind, "cloned");

    mica_entity fresh = mica_create(world, MICA_WITH(Mass, {1}));
    mica_query *query = mica_query_create(world, &(mica_query_def){MICA_TERMS(MICA_READ(Mass))});
    ck_assert_int_eq(mica_add_all_id(query, none), MICA_OK);
    expect_initial(fresh, kind, "added to all");
    mica_query_destroy(query);
}
END_TEST

START_TEST(recorded_components_have_their_initial_values)
{
    const struct kind *kind = &kinds[_i];
    mica_component component = mica_type_id(kind->type);
    const mica_value none = {component, 0, NULL};
    mica_commands *commands = mica_commands_create(world);
    mica_entity entities[4] = {mica_create(world), mica_create(world), mica_create(world, MICA_WITH(Number, {1}))};
    for (uint32_t i = 0; i < 3; ++i) {
        void *value = mica_command_add_id(commands, entities[i], component, MICA_HERE);
        char text[1000];
        mica_value_write(mica_member_of(component, value), text, sizeof text);
        ck_assert_str_eq(text, kind->initial);
    }
    entities[3] = mica_command_create_id(commands, &none, 1, MICA_HERE);
    mica_command_remove_id(commands, entities[1], component, MICA_HERE);
    mica_command_add_id(commands, entities[1], component, MICA_HERE);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < 4; ++i)
        expect_initial(entities[i], kind, "recorded");
    mica_command_remove_id(commands, entities[0], component, MICA_HERE);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(!mica_has_id(world, entities[0], component));
    mica_commands_destroy(commands);
}
END_TEST

START_TEST(values_that_are_given_replace_initial_ones)
{
    mica_entity entity = mica_create(world, MICA_WITH(Tuned, {.level = 7}), MICA_WITH(TunedPool, {.level = 8}),
                                     MICA_WITH(TunedSplit, {.level = 9}));
    ck_assert_int_eq(mica_get(world, entity, Tuned)->level, 7);
    ck_assert_int_eq(mica_get(world, entity, Tuned)->weights[0], 0);
    ck_assert_int_eq(mica_get(world, entity, TunedPool)->level, 8);
    ck_assert_int_eq(*mica_get_field(world, entity, TunedSplit, level), 9);
    ck_assert(mica_set_id(world, entity, (mica_value){MICA_ID(Tuned), 0, NULL}));
    expect_initial(entity, &kinds[0], "set without a value");
    ck_assert(mica_set_id(world, entity, (mica_value){MICA_ID(TunedSplit), 0, NULL}));
    expect_initial(entity, &kinds[2], "set without a value");
    ck_assert(mica_set_id(world, entity, (mica_value){MICA_ID(TunedPool), 0, NULL}));
    expect_initial(entity, &kinds[3], "set without a value");
}
END_TEST

START_TEST(instances_and_singletons_have_their_initial_values)
{
    char text[1000];
    mica_pool *pool = mica_pool_of(world, TunedMany);
    mica_entity entity = mica_create(world);
    mica_pool_add(pool, entity);
    mica_instance second = mica_pool_add(pool, entity);
    mica_value_write(mica_member_of(MICA_ID(TunedMany), (void *)(uintptr_t)mica_instance_read(pool, second, TunedMany)),
                     text, sizeof text);
    ck_assert_str_eq(text, TUNED_INITIAL);
    mica_define(world, TunedSingleton);
    mica_value_write(mica_member_of(MICA_ID(TunedSingleton), mica_singleton_write(world, TunedSingleton)), text,
                     sizeof text);
    ck_assert_str_eq(text, TUNED_INITIAL);
}
END_TEST

START_TEST(a_write_to_an_initial_text_is_seen_in_one_value_only)
{
    for (uint32_t pooled = 0; pooled < 2; ++pooled) {
        mica_component component = pooled ? MICA_ID(TunedPoolText) : MICA_ID(TunedText);
        mica_entity entity = mica_create(world);
        TunedText *value = mica_add_id(world, entity, component);
        ck_assert_ptr_nonnull(value);
        ck_assert_int_eq(mica_text_append(&value->name, "!"), MICA_OK); /* which no other value sees */
        mica_entity other = mica_create(world);
        mica_add_id(world, other, component);
        expect_initial(other, &kinds[8 + pooled], "after another was written");
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("initial");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_loop_test(cases, a_component_without_a_value_has_its_initial_one, 0, (int)COUNT_OF(kinds));
    tcase_add_loop_test(cases, recorded_components_have_their_initial_values, 0, (int)COUNT_OF(kinds));
    tcase_add_test(cases, values_that_are_given_replace_initial_ones);
    tcase_add_test(cases, instances_and_singletons_have_their_initial_values);
    tcase_add_test(cases, a_write_to_an_initial_text_is_seen_in_one_value_only);
    return test_run("initial", cases);
}
