/* Components in a world: registration, refusals that name both sides, and components that own something. */
#include "mica/snapshot.h"

#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static reports heard;

static mica_field amount_field = {.name = "amount", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};

/* A sound type with one field of four bytes at the front. */
static mica_type sketch_type(const char *name)
{
    return (mica_type){.name = name,
                       .fields = &amount_field,
                       .field_count = 1,
                       .size_bytes = 4,
                       .alignment = 4,
                       .kind = MICA_KIND_STRUCT};
}

START_TEST(a_defined_component_is_found_by_name)
{
    mica_world *world = open_world(&heard);
    mica_type type = sketch_type("Coins");
    ck_assert_msg(mica_component_find(world, "Coins") == 0, "nothing is found before it is defined");
    mica_component coins = mica_component_define(world, &type);
    ck_assert_msg(coins != 0, "a sound type is defined");
    ck_assert_msg(mica_component_find(world, "Coins") == coins, "the name leads to the id");
    ck_assert_msg(mica_component_define(world, &type) == coins, "defining again gives the same id");
    ck_assert_msg(mica_component_find(world, "Coin") == 0, "a part of a name finds nothing");
    ck_assert_msg(mica_component_find(world, "") == 0, "an empty name finds nothing");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_described_component_is_found_after_its_first_use)
{
    mica_world *world = open_world(&heard);
    mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    ck_assert_msg(mica_component_find(world, "Position") == MICA_ID(Position), "the use has registered it");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_component_made_at_run_time_works_like_any_other)
{
    mica_world *world = open_world(&heard);
    mica_type type = sketch_type("Coins");
    mica_component coins = mica_component_define(world, &type);
    const uint32_t rich = 1000;
    mica_entity entity = mica_create(world, {coins, sizeof rich, &rich}, MICA_WITH(Frozen));
    ck_assert_msg(*(const uint32_t *)mica_get_id(world, entity, coins) == 1000, "the value is in place");
    *(uint32_t *)mica_write_id(world, entity, coins) = 5;
    ck_assert_msg(*(const uint32_t *)mica_get_id(world, entity, coins) == 5, "and can be written");
    ck_assert_msg(mica_remove_id(world, entity, coins), "and removed");
    ck_assert_msg(mica_has(world, entity, Frozen), "which leaves the others");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_duplicate_name_with_another_layout_is_refused_naming_both)
{
    mica_world *world = open_world(&heard);
    mica_type small = sketch_type("Purse"), large = sketch_type("Purse");
    large.size_bytes = 24;
    mica_component first = mica_component_define(world, &small);
    ck_assert_msg(first != 0, "the first layout stands");
    ck_assert_msg(mica_component_define(world, &large) == 0, "the second is refused");
    const heard_report *report = expect_report(&heard, MICA_ERROR_LAYOUT, "Purse");
    ck_assert_msg(strstr(report->text, "4") && strstr(report->text, "24"), "both sizes are named: %s", report->text);
    ck_assert_msg(mica_component_find(world, "Purse") == first, "the first is still there");
    close_world(world, &heard);
}
END_TEST

START_TEST(the_use_of_a_name_with_another_layout_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_type small = sketch_type("Purse"), large = sketch_type("Purse");
    large.size_bytes = 24;
    mica_component first = mica_component_define(world, &small);
    mica_component second = mica_type_intern(&large);
    ck_assert_msg(second != 0 && second != first, "another layout is another component of the process");
    mica_entity entity = mica_create(world);
    ck_assert_msg(mica_add_id(world, entity, second) == NULL, "but this world has the name already");
    expect_report(&heard, MICA_ERROR_LAYOUT, "Purse");
    ck_assert_msg(!mica_has_id(world, entity, second), "nothing was added");
    ck_assert_msg(mica_is_nil(mica_create(world, {second, 0, NULL})), "nor is it created with");
    expect_report(&heard, MICA_ERROR_LAYOUT, "Purse");
    close_world(world, &heard);
}
END_TEST

START_TEST(of_many_components_of_one_name_a_world_has_one)
{
    mica_component kinds[5];
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i) {
        mica_type type = sketch_type("Purse");
        type.size_bytes = 8 + 4 * i;
        kinds[i] = mica_type_intern(&type);
    }
    for (uint32_t first = 0; first < COUNT_OF(kinds); ++first) {
        mica_world *world = open_world(&heard);
        mica_entity entity = mica_create(world);
        ck_assert_ptr_nonnull(mica_add_id(world, entity, kinds[first]));
        for (uint32_t i = 0; i < COUNT_OF(kinds); ++i) {
            ck_assert((mica_add_id(world, entity, kinds[i]) != NULL) == (i == first));
            if (i != first)
                expect_report(&heard, MICA_ERROR_LAYOUT, "Purse");
        }
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(worlds_may_have_different_layouts_for_one_name)
{
    reports heard_by_other;
    mica_world *world = open_world(&heard), *other = open_world(&heard_by_other);
    mica_type small = sketch_type("Purse"), large = sketch_type("Purse");
    large.size_bytes = 24;
    mica_component first = mica_component_define(world, &small);
    mica_component second = mica_component_define(other, &large);
    ck_assert_msg(first && second && first != second, "each world has its own Purse");
    ck_assert_msg(mica_component_find(world, "Purse") == first, "this world finds its own");
    ck_assert_msg(mica_component_find(other, "Purse") == second, "and so does the other");
    close_world(other, &heard_by_other);
    close_world(world, &heard);
}
END_TEST

typedef struct malformed_case {
    const char *what;
    mica_type type;
} malformed_case;

START_TEST(malformed_descriptions_are_refused_with_a_report)
{
    static const mica_field outside = {
        .name = "amount", .offset = 2, .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    static const mica_field nameless = {.element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    static const mica_field kindless = {.name = "amount", .element_bytes = 4, .count = 1};
    static const mica_field too_many = {
        .name = "amount", .element_bytes = 4, .count = 0x40000001u, .kind = MICA_KIND_U32};
    malformed_case cases[] = {
        {"no name", sketch_type(NULL)},
        {"an empty name", sketch_type("")},
        {"an alignment that is no power of two", sketch_type("Malformed")},
        {"no alignment", sketch_type("Malformed")},
        {"a size that is no multiple of the alignment", sketch_type("Malformed")},
        {"data without a size", sketch_type("Malformed")},
        {"a field that ends outside", sketch_type("Malformed")},
        {"a field without a name", sketch_type("Malformed")},
        {"a field without a kind", sketch_type("Malformed")},
        {"an array whose size overflows", sketch_type("Malformed")},
        {"fields that are not there", sketch_type("Malformed")},
        {"a storage that does not exist", sketch_type("Malformed")},
    };
    cases[2].type.alignment = 3;
    cases[3].type.alignment = 0;
    cases[4].type.size_bytes = 6;
    cases[5].type.size_bytes = 0;
    cases[6].type.fields = &outside;
    cases[7].type.fields = &nameless;
    cases[8].type.fields = &kindless;
    cases[9].type.fields = &too_many;
    cases[10].type.fields = NULL;
    cases[11].type.storage = (mica_storage)77;

    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT_OF(cases); ++i) {
        ck_assert_msg(mica_component_define(world, &cases[i].type) == 0, "%s is refused", cases[i].what);
        ck_assert_msg(forget_reports(&heard) == 1, "%s is reported once", cases[i].what);
    }
    ck_assert_msg(mica_component_define(world, NULL) == 0, "no description at all is refused");
    ck_assert_msg(forget_reports(&heard) == 1, "and reported");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_alignment_that_is_no_power_of_two_is_named)
{
    mica_world *world = open_world(&heard);
    mica_type type = sketch_type("Crooked");
    type.alignment = 3;
    type.size_bytes = 12;
    ck_assert_msg(mica_component_define(world, &type) == 0, "it is refused");
    const heard_report *report = expect_report(&heard, MICA_ERROR_INVALID, "Crooked");
    ck_assert_msg(strstr(report->text, "alignment") != NULL, "the report says what is wrong: %s", report->text);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_entity_that_is_too_big_is_refused_clearly)
{
    mica_world *world = open_world(&heard);
    mica_type type = sketch_type("Whale");
    type.size_bytes = MICA_COMPONENT_BYTES_MAX + 4;
    ck_assert_msg(mica_component_define(world, &type) == 0, "the bound is part of the header");
    expect_report(&heard, MICA_ERROR_LIMIT, "Whale");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_entity_too_big_for_all_its_components_is_refused)
{
    enum { PARTS = 6 };
    mica_world *world = open_world(&heard);
    mica_value values[PARTS];
    for (uint32_t i = 0; i < PARTS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "Whale%u", i);
        mica_type type = sketch_type(name);
        type.size_bytes = 200u << 20;
        values[i] = (mica_value){mica_component_define(world, &type), 0, NULL};
        ck_assert_msg(values[i].component != 0, "each alone is fine");
    }
    uint64_t before = mica_world_hash(world);
    ck_assert_msg(mica_is_nil(mica_create_id(world, values, PARTS)), "together they are not");
    expect_report(&heard, MICA_ERROR_LIMIT, "bytes");
    ck_assert_msg(mica_world_hash(world) == before, "and nothing has changed");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_value_of_the_wrong_size_is_refused_naming_both_sizes)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    const double wrong = 1;
    uint64_t before = mica_world_hash(world);
    ck_assert_msg(!mica_set_id(world, entity, (mica_value){MICA_ID(Position), sizeof wrong, &wrong}),
                  "eight bytes are no Position");
    const heard_report *report = expect_report(&heard, MICA_ERROR_INVALID, "Position");
    ck_assert_msg(strstr(report->text, "8") && strstr(report->text, "12"), "both sizes are named: %s", report->text);
    ck_assert_msg(mica_is_nil(mica_create(world, {MICA_ID(Position), sizeof wrong, &wrong})), "nor at creation");
    expect_report(&heard, MICA_ERROR_INVALID, "Position");
    ck_assert_msg(mica_world_hash(world) == before, "nothing has changed");
    close_world(world, &heard);
}
END_TEST

START_TEST(an_unknown_component_is_reported_and_harmless)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    uint64_t before = mica_world_hash(world);
    const mica_component unknown[] = {0, 60000, UINT32_MAX};
    for (uint32_t i = 0; i < COUNT_OF(unknown); ++i) {
        ck_assert_msg(mica_add_id(world, entity, unknown[i]) == NULL, "component %u is not added", unknown[i]);
        expect_report(&heard, MICA_ERROR_UNKNOWN, "component");
        ck_assert_msg(mica_is_nil(mica_create(world, {unknown[i], 0, NULL})), "nor created with");
        expect_report(&heard, MICA_ERROR_UNKNOWN, "component");
        ck_assert_msg(!mica_set_id(world, entity, (mica_value){unknown[i], 0, NULL}), "nor set");
        expect_report(&heard, MICA_ERROR_UNKNOWN, "component");
        ck_assert_msg(!mica_remove_id(world, entity, unknown[i]), "nor removed");
        forget_reports(&heard);
        ck_assert_msg(!mica_has_id(world, entity, unknown[i]), "nor there");
        ck_assert_msg(mica_get_id(world, entity, unknown[i]) == NULL, "nor read");
        ck_assert_msg(mica_write_id(world, entity, unknown[i]) == NULL, "nor written");
        ck_assert_msg(!mica_is_enabled_id(world, entity, unknown[i]), "nor switched on");
        forget_reports(&heard);
    }
    ck_assert_msg(mica_world_hash(world) == before, "nothing has changed");
    close_world(world, &heard);
}
END_TEST

START_TEST(owned_values_survive_moves_between_archetypes)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity entities[200];
    for (int i = 0; i < 200; ++i) {
        char characters[16];
        snprintf(characters, sizeof characters, "text %d", i);
        Text text = text_make(characters);
        entities[i] = mica_create(world, {MICA_ID(Text), sizeof text, &text}, MICA_WITH(Mass, {1}));
        text_drop(&text);
    }
    ck_assert_msg(texts_alive == 200, "one copy each: %d", texts_alive);
    for (int i = 0; i < 200; i += 2)
        mica_set(world, entities[i], Velocity, {1, 0, 0});
    for (int i = 0; i < 200; i += 3)
        mica_destroy(world, entities[i]);
    ck_assert_msg(texts_alive == 133, "one less for each that died: %d", texts_alive);
    for (int i = 0; i < 200; ++i)
        if (i % 3 != 0) {
            char characters[16];
            snprintf(characters, sizeof characters, "text %d", i);
            ck_assert_str_eq(mica_get(world, entities[i], Text)->characters, characters);
        }
    close_world(world, &heard);
    ck_assert_msg(texts_alive == 0, "the world drops what is left: %d", texts_alive);
}
END_TEST

/* What a snapshot keeps of values that own something goes to the one before it when it is dropped. */
START_TEST(owned_values_come_back_though_a_later_snapshot_was_dropped)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[3];
    mica_snapshot snapshots[3];
    for (uint32_t i = 0; i < 3; ++i)
        entities[i] = mica_create(world, MICA_WITH(Text), MICA_WITH(Number, {i}));
    uint64_t before = mica_world_hash(world);
    for (uint32_t i = 0; i < 3; ++i) {
        snapshots[i] = mica_snapshot_take(world);
        Text text = text_make("changed");
        mica_set_id(world, entities[i], (mica_value){MICA_ID(Text), sizeof text, &text});
        text_drop(&text);
        if (i)
            mica_add(world, entities[i], Frozen);
    }
    ck_assert(mica_snapshot_drop(world, snapshots[1]) && mica_snapshot_drop(world, snapshots[2]));
    ck_assert_int_eq(mica_snapshot_restore(world, snapshots[0]), MICA_OK);
    ck_assert_uint_eq(mica_world_hash(world), before);
    close_world(world, &heard);
    ck_assert_msg(texts_alive == 0, "%d texts are left", texts_alive);
}
END_TEST

START_TEST(owned_values_are_made_and_dropped_once_whatever_happens)
{
    mica_world *world = open_world(&heard);
    Text text = text_make("given");
    mica_entity entity = mica_create(world, MICA_WITH(Text));
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "");
    ck_assert_msg(texts_alive == 2, "construct makes the default value");

    mica_set_id(world, entity, (mica_value){MICA_ID(Text), sizeof text, &text});
    ck_assert_msg(texts_alive == 2, "overwriting drops what was there");
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "given");

    mica_entity twin = mica_clone(world, entity);
    ck_assert_msg(texts_alive == 3, "a clone has a copy of its own");
    ck_assert_msg(mica_get(world, twin, Text)->characters != mica_get(world, entity, Text)->characters,
                  "and does not share it");

    mica_add(world, entity, Text);
    ck_assert_msg(texts_alive == 3, "adding what is there makes nothing");
    mica_remove(world, entity, Text);
    ck_assert_msg(texts_alive == 2, "removing drops it");
    mica_add(world, entity, Text);
    ck_assert_msg(texts_alive == 3, "adding constructs");
    mica_destroy(world, twin);
    ck_assert_msg(texts_alive == 2, "destroying drops it");
    mica_world_clear(world);
    ck_assert_msg(texts_alive == 1, "clearing drops the rest");
    text_drop(&text);
    close_world(world, &heard);
}
END_TEST

START_TEST(setting_an_owned_value_to_itself_keeps_it)
{
    mica_world *world = open_world(&heard);
    Text text = text_make("kept");
    mica_entity entity = mica_create(world, {MICA_ID(Text), sizeof text, &text});
    text_drop(&text);
    ck_assert_msg(mica_set_id(world, entity, (mica_value){MICA_ID(Text), sizeof(Text), mica_get(world, entity, Text)}),
                  "a value is set to itself");
    ck_assert_str_eq(mica_get(world, entity, Text)->characters, "kept");
    ck_assert_msg(texts_alive == 1, "one value lives: %d", texts_alive);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_construct_or_copy_that_fails_changes_nothing)
{
    mica_world *world = open_world(&heard);
    Text text = text_make("given");
    mica_value value = {MICA_ID(Text), sizeof text, &text};
    mica_entity with = mica_create(world, {MICA_ID(Text), sizeof text, &text}), without = mica_create(world);
    uint64_t before = mica_world_hash(world);
    texts_allowed = 0;
    ck_assert_msg(mica_add(world, without, Text) == NULL, "construct fails, so does add");
    ck_assert_msg(!mica_set_id(world, without, value), "copy fails, so does set");
    ck_assert_msg(!mica_set_id(world, with, value), "overwriting fails too");
    ck_assert_msg(mica_is_nil(mica_create(world, MICA_WITH(Text), MICA_WITH(Mass, {1}))), "create fails");
    ck_assert_msg(mica_is_nil(mica_create(world, {MICA_ID(Text), sizeof text, &text})), "create by copy fails");
    ck_assert_msg(mica_is_nil(mica_clone(world, with)), "clone fails");
    texts_allowed = 3;
    ck_assert_msg(mica_create_many(world, 10, &(mica_value){MICA_ID(Text), 0, NULL}, 1, NULL) != MICA_OK,
                  "ten are not made when three can be");
    ck_assert_msg(forget_reports(&heard) >= 7, "each failure is reported");
    ck_assert_msg(mica_world_hash(world) == before, "the world is as it was");
    ck_assert_msg(texts_alive == 2, "nothing is lost: %d", texts_alive);
    ck_assert_str_eq(mica_get(world, with, Text)->characters, "given");
    text_drop(&text);
    close_world(world, &heard);
}
END_TEST

START_TEST(an_enum_or_flags_type_of_an_odd_size_is_refused)
{
    const struct {
        uint32_t bytes;
        bool is_sound;
    } cases[] = {{1, true}, {2, true}, {4, true}, {8, true}, {3, false}, {12, false}, {16, false}};
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < COUNT_OF(cases) * 2; ++i) {
        uint32_t bytes = cases[i / 2].bytes;
        char name[32];
        snprintf(name, sizeof name, "Carrier%u", i);
        const mica_type choice = {.name = "Choice",
                                  .kind = i % 2 ? MICA_KIND_FLAGS : MICA_KIND_ENUM,
                                  .size_bytes = bytes,
                                  .alignment = bytes & -bytes};
        const mica_field field = {
            .name = "choice", .type = &choice, .element_bytes = bytes, .count = 1, .kind = choice.kind};
        mica_type type = sketch_type(name);
        type.fields = &field;
        type.size_bytes = 16;
        type.alignment = 8;
        mica_component carrier = mica_component_define(world, &type);
        ck_assert_msg((carrier != 0) == cases[i / 2].is_sound, "%u bytes, kind %d", bytes, (int)choice.kind);
        if (!carrier)
            expect_report(&heard, MICA_ERROR_INVALID, name);
        else
            mica_create(world, {carrier, 0, NULL});
    }
    mica_world_hash(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_wrong_size_without_a_value_does_not_count_as_checked)
{
    mica_world *world = open_world(&heard);
    float *small = malloc(sizeof *small);
    *small = 7;
    mica_value value = {MICA_ID(Position), sizeof *small, NULL};
    mica_create_id(world, &value, 1);
    forget_reports(&heard);
    value.data = small;
    ck_assert_msg(mica_is_nil(mica_create_id(world, &value, 1)), "four bytes are no Position, the second time too");
    expect_report(&heard, MICA_ERROR_INVALID, "Position");
    free(small);
    close_world(world, &heard);
}
END_TEST

START_TEST(switches_of_components_with_long_names_are_told_apart)
{
    mica_world *world = open_world(&heard);
    char first[230], second[230];
    memset(first, 'n', sizeof first - 1);
    first[sizeof first - 1] = 0;
    memcpy(second, first, sizeof second);
    first[220] = '1';
    second[220] = '2';
    mica_type type = sketch_type(first);
    type.toggle = true;
    mica_component one = mica_component_define(world, &type);
    type.name = second;
    mica_component other = mica_component_define(world, &type);
    mica_entity entity = mica_create(world, {one, 0, NULL}, {other, 0, NULL});
    mica_enable_id(world, entity, one, false);
    ck_assert_msg(mica_is_enabled_id(world, entity, other), "switching one off leaves the other on");
    mica_remove_id(world, entity, one);
    ck_assert_msg(mica_enable_id(world, entity, other, false), "and the other can be switched without the one");
    close_world(world, &heard);
}
END_TEST

START_TEST(no_name_of_a_component_is_taken_by_the_switch_of_another)
{
    mica_world *world = open_world(&heard);
    mica_type lookalike = sketch_type("engine.enabled"), engine = sketch_type("engine");
    engine.toggle = true;
    mica_component before = mica_component_define(world, &lookalike);
    mica_component toggled = mica_component_define(world, &engine);
    ck_assert_msg(before && toggled, "both are sound");
    mica_entity entity = mica_create(world, {toggled, 0, NULL});
    ck_assert_msg(mica_is_enabled_id(world, entity, toggled), "a new engine is switched on");
    ck_assert_msg(!mica_has_id(world, entity, before), "and has nothing that it was not given");
    ck_assert_msg(mica_get_components(world, entity, NULL, 0) == 1, "nor shows its switch");
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(component, owned_values_come_back_though_a_later_snapshot_was_dropped, a_defined_component_is_found_by_name,
           a_described_component_is_found_after_its_first_use, a_component_made_at_run_time_works_like_any_other,
           a_duplicate_name_with_another_layout_is_refused_naming_both,
           the_use_of_a_name_with_another_layout_is_refused, of_many_components_of_one_name_a_world_has_one,
           worlds_may_have_different_layouts_for_one_name, malformed_descriptions_are_refused_with_a_report,
           an_alignment_that_is_no_power_of_two_is_named, an_entity_that_is_too_big_is_refused_clearly,
           an_entity_too_big_for_all_its_components_is_refused, a_value_of_the_wrong_size_is_refused_naming_both_sizes,
           an_unknown_component_is_reported_and_harmless, owned_values_survive_moves_between_archetypes,
           owned_values_are_made_and_dropped_once_whatever_happens, setting_an_owned_value_to_itself_keeps_it,
           a_construct_or_copy_that_fails_changes_nothing, an_enum_or_flags_type_of_an_odd_size_is_refused,
           a_wrong_size_without_a_value_does_not_count_as_checked,
           switches_of_components_with_long_names_are_told_apart,
           no_name_of_a_component_is_taken_by_the_switch_of_another)
