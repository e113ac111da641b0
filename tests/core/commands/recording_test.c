/* Recording in company: with immediate changes, names, refs, seals, clears and trims in between. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include "type/type.h"

#include <string.h>

static reports heard;

START_TEST(an_entity_whose_creation_is_recorded_has_nothing_yet)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_query *all = mica_query_create(world, &(const mica_query_def){.name = "all"});
    mica_entity staged = mica_command_create(commands, MICA_WITH(Number, {5}));
    mica_ref ref = mica_ref_of(staged, Number);
    ck_assert_msg(mica_is_alive(world, staged), "it counts as alive");
    ck_assert_msg(!mica_has(world, staged, Number) && mica_get(world, staged, Number) == NULL, "but has nothing");
    ck_assert_msg(mica_ref_read(world, &ref, Number) == NULL, "not through a reference either");
    ck_assert_msg(mica_query_count(all) == 0 && !mica_query_matches(all, staged), "and no query shows it");
    ck_assert_msg(mica_get_components(world, staged, NULL, 0) == 0, "nor has it components");
    expect_valid(world);
    mica_flush(world);
    ck_assert_msg(mica_ref_read(world, &ref, Number)->value == 5, "all of that comes with the flush");
    ck_assert_msg(mica_query_count(all) == 1 && mica_query_matches(all, staged), "all of it");
    close_world(world, &heard);
}
END_TEST

START_TEST(immediate_changes_to_a_recorded_creation_are_refused)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_entity staged = mica_command_create(commands, MICA_WITH(Number, {5}));
    ck_assert_msg(!mica_set(world, staged, Mass, {1}), "set");
    ck_assert_msg(mica_add(world, staged, Mass) == NULL, "add");
    ck_assert_msg(!mica_remove(world, staged, Number), "remove");
    ck_assert_msg(!mica_destroy(world, staged), "destroy");
    ck_assert_msg(mica_is_nil(mica_clone(world, staged)), "clone");
    ck_assert_msg(mica_destroy_many(world, &staged, 1) == 0, "destroy many");
    ck_assert_msg(forget_reports(&heard) >= 5, "each is reported");
    expect_valid(world);
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush is not disturbed");
    ck_assert_msg(mica_get(world, staged, Number)->value == 5 && !mica_has(world, staged, Mass), "it is as recorded");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_name_given_early_goes_with_a_dropped_creation)
{
    mica_world *world = open_world(&heard);
    mica_commands *kept = mica_commands_create(world), *dropped = mica_commands_create(world);
    mica_entity real = mica_command_create(kept), never = mica_command_create(dropped);
    mica_result named = mica_name_set(world, real, mica_nil(), "real");
    mica_name_set(world, never, mica_nil(), "never");
    forget_reports(&heard);
    mica_commands_destroy(dropped);
    mica_flush(world);
    ck_assert_msg(mica_is_nil(mica_find(world, "never")), "an entity that was never created is not found");
    ck_assert_msg(named != MICA_OK || mica_same(mica_find(world, "real"), real), "a created entity is found");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_trim_leaves_staged_values_where_they_are)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_defer(world);
    mica_flush(world);
    mica_commands *commands = mica_commands_create(world);
    Number *staged = mica_command_add(commands, entity, Number);
    mica_entity created = mica_command_create(commands, MICA_WITH(Text));
    mica_world_trim(world);
    staged->value = 42;
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    ck_assert_msg(mica_get(world, entity, Number)->value == 42, "with what was filled in after the trim");
    ck_assert_msg(mica_has(world, created, Text), "and what was created");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_trim_gives_back_what_buffers_held)
{
    enum { MANY = 5000 };
    static mica_entity entities[MANY];
    size_t bytes[2];
    for (uint32_t recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_world(&heard);
        mica_create_many(world, MANY, NULL, 0, entities);
        mica_commands *commands = mica_commands_create(world);
        for (uint32_t i = 0; i < MANY; ++i)
            if (recorded)
                mica_command_set(commands, entities[MANY - 1 - i], Matrix, {{1}}); /* one by one: not in order */
            else
                mica_set(world, entities[MANY - 1 - i], Matrix, {{1}});
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        mica_world_trim(world);
        bytes[recorded] = mica_world_get_stats(world).memory_bytes;
        close_world(world, &heard);
    }
    ck_assert_msg(bytes[1] < bytes[0] + 4096, "%zu bytes are left, without a buffer %zu", bytes[1], bytes[0]);
}
END_TEST

START_TEST(a_clear_leaves_buffers_to_meet_the_dead)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_commands *commands = mica_commands_create(world);
    mica_command_set(commands, entity, Number, {2});
    mica_command_add(commands, entity, Text);
    mica_command_create(commands, MICA_WITH(Text));
    if (mica_world_clear(world) == MICA_OK)
        ck_assert_msg(!mica_is_alive(world, entity), "a cleared world is empty");
    expect_valid(world);
    mica_flush(world);
    expect_valid(world);
    forget_reports(&heard);
    ck_assert_msg(!mica_is_alive(world, entity) || mica_get(world, entity, Number)->value == 2, "whole or not at all");
    close_world(world, &heard);
    ck_assert_msg(texts_alive == 0, "nothing staged is lost: %d", texts_alive);
}
END_TEST

START_TEST(a_flush_that_a_seal_refuses_changes_nothing_and_can_be_tried_again)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1})), other = mica_create(world, MICA_WITH(Number, {2}));
    mica_world_seal(world, true);
    uint64_t before = mica_world_hash(world);
    mica_defer(world);
    mica_set(world, other, Number, {3});
    mica_set(world, entity, Mass, {5});
    ck_assert_msg(mica_flush(world) == MICA_ERROR_REFUSED, "a new set is refused");
    ck_assert_msg(forget_reports(&heard) > 0, "with a report");
    ck_assert_msg(mica_world_hash(world) == before, "nothing is applied");
    mica_world_seal(world, false);
    ck_assert_msg(mica_flush(world) == MICA_OK, "the second try works");
    ck_assert_msg(mica_get(world, entity, Mass)->value == 5 && mica_get(world, other, Number)->value == 3,
                  "and is whole");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_recorded_mistake_does_not_stop_the_world_for_ever)
{
    static const mica_field field = {.name = "amount", .element_bytes = 4, .count = 1, .kind = MICA_KIND_U32};
    mica_type small = {
        .name = "Purse", .fields = &field, .field_count = 1, .size_bytes = 4, .alignment = 4, .kind = MICA_KIND_STRUCT};
    mica_type large = small;
    large.size_bytes = 24;
    mica_world *world = open_world(&heard);
    mica_component_define(world, &small);
    mica_component wrong = mica_type_intern(&large);
    mica_entity entity = mica_create(world), other = mica_create(world);
    mica_defer(world);
    mica_add_id(world, entity, wrong);
    mica_set(world, other, Number, {1});
    mica_flush(world);
    ck_assert_msg(forget_reports(&heard) > 0, "the other layout is reported, when recorded or when flushed");
    ck_assert_msg(!mica_has_id(world, entity, wrong), "and not used");
    mica_defer(world);
    mica_set(world, other, Mass, {2});
    ck_assert_msg(mica_flush(world) == MICA_OK, "the next flush works");
    ck_assert_msg(mica_has(world, other, Mass), "and applies what was recorded since");
    close_world(world, &heard);
}
END_TEST

START_TEST(recorded_mistakes_are_refused_with_their_place)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    mica_commands *commands = mica_commands_create(world);
    const mica_value twice[] = {MICA_WITH(Text), MICA_WITH(Mass), MICA_WITH(Text)};
    const mica_value unknown[] = {MICA_WITH(Text), {60000, 0, NULL}};
    const mica_value singleton[] = {MICA_WITH(Text), MICA_WITH(Clock)};
    const mica_value wrong_size[] = {MICA_WITH(Text), {MICA_ID(Number), 3, "abc"}};
    const mica_location location = {"level.c", 31};
    ck_assert_msg(mica_is_nil(mica_command_create_id(commands, twice, 3, location)), "a component twice");
    ck_assert_msg(mica_is_nil(mica_command_create_id(commands, unknown, 2, location)), "an unknown component");
    ck_assert_msg(mica_is_nil(mica_command_create_id(commands, singleton, 2, location)), "a singleton");
    ck_assert_msg(mica_is_nil(mica_command_create_id(commands, wrong_size, 2, location)), "a wrong size");
    ck_assert_msg(mica_command_add_id(commands, entity, 0, location) == NULL, "no component to add");
    ck_assert_msg(mica_command_add_id(commands, entity, MICA_ID(Clock), location) == NULL, "a singleton to add");
    ck_assert_msg(!mica_command_set_id(commands, entity, wrong_size[1], location), "a wrong size to set");
    ck_assert_msg(!mica_command_set_id(commands, entity, unknown[1], location), "an unknown one to set");
    ck_assert_msg(!mica_command_enable_id(commands, entity, MICA_ID(Number), false, location), "no switch");
    ck_assert_msg(!mica_command_enable_id(commands, entity, 60000, false, location), "an unknown one to switch");
    ck_assert_msg(!mica_command_add_instance_id(commands, entity, MICA_ID(Number), location), "not for many");
    ck_assert_msg(!mica_command_add_instance_id(commands, entity, 60000, location), "an unknown one for many");
    mica_component hidden = micap_type_of(MICA_ID(Health))->enabled;
    ck_assert_msg(!mica_command_add_id(commands, entity, hidden, location), "one that is not for programs");
    ck_assert_msg(heard.count >= 12, "they are reported: %u", heard.count);
    for (uint32_t i = 0; i < heard.count; ++i)
        ck_assert_msg(heard.list[i].line == 31, "with their place: %s", heard.list[i].text);
    forget_reports(&heard);
    ck_assert_msg(!mica_command_remove_id(commands, entity, 60000, location), "an unknown one to remove");
    forget_reports(&heard);
    ck_assert_msg(texts_alive == 0, "nothing half-made is left: %d", texts_alive);
    uint64_t before = mica_world_hash(world);
    ck_assert_msg(mica_flush(world) == MICA_OK && mica_world_hash(world) == before, "and nothing is recorded");
    close_world(world, &heard);
}
END_TEST

/* As in command_test: a add, s set to 5, t set to 7, r remove, d disable, e enable; the first half in one buffer, the
 * second in a later one. An add in the second copies what the world has, for it can't see into the first. */
static const struct {
    const char *first, *second;
    bool had; /* the entity starts with Health {3, 0} */
    bool has, enabled;
    int32_t value;
} halves[] = {
    {"s", "t", false, true, true, 7},     {"s", "t", true, true, true, 7},    {"s", "r", true, false, false, 0},
    {"r", "s", true, true, true, 5},      {"r", "a", true, true, true, 3},    {"d", "e", true, true, true, 3},
    {"d", "s", true, true, false, 5},     {"dr", "s", true, true, true, 5},   {"a", "s", false, true, true, 5},
    {"", "ds", true, true, false, 5},     {"r", "ds", true, true, true, 5},   {"d", "ds", true, true, false, 5},
    {"s", "ds", false, true, true, 5},    {"s", "ds", true, true, false, 5},  {"s", "d", true, true, false, 5},
    {"srs", "tr", true, false, false, 0}, {"t", "ds", true, true, false, 5},  {"d", "s", false, true, true, 5},
    {"d", "a", false, true, true, 0},     {"d", "a", true, true, false, 3},   {"s", "d", false, true, true, 5},
    {"sd", "e", false, true, false, 5},   {"sd", "t", false, true, false, 7}, {"d", "r", true, false, false, 0},
    {"r", "d", true, false, false, 0},    {"rs", "d", true, true, false, 5},  {"d", "rs", true, true, true, 5},
};

static void record_script(mica_commands *commands, mica_entity entity, const char *script)
{
    for (const char *letter = script; *letter; ++letter)
        switch (*letter) {
        case 'a': mica_command_add(commands, entity, Health); break;
        case 's': mica_command_set(commands, entity, Health, {5, 0}); break;
        case 't': mica_command_set(commands, entity, Health, {7, 0}); break;
        case 'r': mica_command_remove(commands, entity, Health); break;
        case 'd': mica_command_disable(commands, entity, Health); break;
        case 'e': mica_command_enable(commands, entity, Health); break;
        default: break;
        }
}

START_TEST(contradictions_between_buffers_end_in_their_order)
{
    mica_world *world = open_world(&heard);
    mica_entity entities[COUNT_OF(halves)];
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    for (uint32_t i = 0; i < COUNT_OF(halves); ++i)
        entities[i] = halves[i].had ? mica_create(world, MICA_WITH(Health, {3, 0})) : mica_create(world);
    for (uint32_t i = COUNT_OF(halves); i-- > 0;) {
        record_script(second, entities[i], halves[i].second);
        record_script(first, entities[i], halves[i].first);
    }
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    for (uint32_t i = 0; i < COUNT_OF(halves); ++i) {
        const Health *health = mica_get(world, entities[i], Health);
        ck_assert_msg((health != NULL) == halves[i].has, "'%s' '%s': there", halves[i].first, halves[i].second);
        ck_assert_msg(mica_is_enabled(world, entities[i], Health) == halves[i].enabled, "'%s' '%s': on",
                      halves[i].first, halves[i].second);
        ck_assert_msg(!health || health->current == halves[i].value, "'%s' '%s': value %d", halves[i].first,
                      halves[i].second, health ? (int)health->current : 0);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(owned_values_of_several_buffers_are_dropped_once)
{
    mica_world *world = open_world(&heard);
    mica_entity kept = mica_create(world), killed = mica_create(world, MICA_WITH(Text)),
                stripped = mica_create(world, MICA_WITH(Text));
    mica_commands *buffers[3];
    Text text = text_make("staged");
    const mica_value value = {MICA_ID(Text), sizeof text, &text};
    for (uint32_t i = 0; i < 3; ++i)
        buffers[i] = mica_commands_create(world);
    for (uint32_t i = 0; i < 3; ++i) {
        mica_command_set_id(buffers[i], kept, value, MICA_HERE);
        if (i < 2) {
            mica_command_set_id(buffers[i], killed, value, MICA_HERE);
            mica_command_set_id(buffers[i], stripped, value, MICA_HERE);
        }
    }
    mica_command_destroy(buffers[2], killed);
    mica_command_remove(buffers[2], stripped, Text);
    text_drop(&text);
    ck_assert_msg(mica_flush(world) == MICA_OK, "the flush applies it");
    ck_assert_str_eq(mica_get(world, kept, Text)->characters, "staged");
    ck_assert_msg(!mica_is_alive(world, killed) && !mica_has(world, stripped, Text),
                  "the last buffer has the last word");
    ck_assert_msg(texts_alive == 1, "one value is left: %d", texts_alive);
    close_world(world, &heard);
}
END_TEST

START_TEST(values_may_be_copied_from_other_entities)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity entities[100];
    for (uint32_t i = 0; i < 100; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}));
    for (uint32_t i = 0; i < 100; ++i) {
        mica_value value = {MICA_ID(Number), sizeof(Number), mica_get(world, entities[99 - i], Number)};
        mica_entity twin = mica_create_id(world, &value, 1);
        ck_assert_msg(mica_get(world, twin, Number)->value == 99 - i, "a creation from a value that is stored");
        mica_remove(world, twin, Number);
        value.data = mica_get(world, entities[99 - i], Number);
        ck_assert_msg(mica_set_id(world, twin, value), "a set from one that is stored");
        ck_assert_msg(mica_get(world, twin, Number)->value == 99 - i, "has it");
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(recorded_values_are_taken_from_variables)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_commands *commands = mica_commands_create(world);
    Mass mass = {4};
    Number number = {6};
    ck_assert_msg(mica_command_set_from(commands, entity, Mass, &mass), "a set");
    mica_entity made = mica_command_create(commands, MICA_FROM(Number, &number));
    mass.value = 0;
    number.value = 0;
    ck_assert_msg(mica_flush(world) == MICA_OK, "they are applied");
    ck_assert_msg(mica_get(world, entity, Mass)->value == 4, "with the value of when it was recorded");
    ck_assert_msg(mica_get(world, made, Number)->value == 6, "and so is a creation");
    close_world(world, &heard);
}
END_TEST

START_TEST(only_a_flush_tries_a_refused_recording_again)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_entity other = mica_create(world, MICA_WITH(Position, {1, 2, 3}));
    mica_world_seal(world, true);
    mica_defer(world);
    mica_set(world, entity, Mass, {1});
    ck_assert_int_eq(mica_flush(world), MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "sealed");
    mica_set(world, other, Position, {4, 5, 6});
    expect_no_report(&heard);
    mica_world_seal(world, false);
    mica_destroy(world, other);
    ck_assert_msg(!mica_has(world, entity, Mass), "an unrelated operation applied it");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(mica_has(world, entity, Mass));
    close_world(world, &heard);
}
END_TEST

/* A purse of another layout is recorded before the world learns what a purse is. */
typedef enum way { WAY_ONE, WAY_TWO_BUFFERS, WAY_CREATE, WAY_MANY, WAYS } way;

static mica_component describe_purse(mica_storage storage, uint32_t bytes)
{
    mica_type purse = {
        .name = "Wallet", .storage = storage, .size_bytes = bytes, .alignment = 4, .kind = MICA_KIND_STRUCT};
    return mica_type_intern(&purse);
}

static mica_entity record_purse(mica_world *world, way how, mica_component purse, const mica_entity *entities)
{
    const mica_value value = {purse, 8, "8 bytes"}, both[] = {MICA_WITH(Text), value};
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    switch (how) {
    case WAY_TWO_BUFFERS:
        mica_command_set(second, entities[1], Mass, {3});
        mica_command_add(first, entities[1], Text);
        mica_command_set_id(second, entities[1], value, MICA_HERE);
        return entities[1];
    case WAY_CREATE: return mica_command_create_id(first, both, 2, MICA_HERE);
    case WAY_MANY:
        for (uint32_t i = 1; i < 4; ++i)
            mica_command_set_id(first, entities[i], value, MICA_HERE);
        return entities[2];
    default: mica_command_set_id(first, entities[1], value, MICA_HERE); return entities[1];
    }
}

START_TEST(a_change_that_has_become_impossible_is_dropped_and_the_rest_is_done)
{
    static const mica_storage storages[] = {MICA_STORAGE_CHUNK, MICA_STORAGE_POOL};
    for (uint32_t i = 0; i < WAYS * 2; ++i) {
        mica_world *world = open_world(&heard);
        mica_entity entities[4];
        for (uint32_t k = 0; k < 4; ++k)
            entities[k] = mica_create(world, MICA_WITH(Number, {k}));
        mica_component wrong = describe_purse(storages[i % 2], 8);
        mica_entity changed = record_purse(world, (way)(i / 2), wrong, entities);
        mica_commands *other = mica_commands_create(world);
        if (i / 2 != WAY_MANY)
            mica_command_set(other, entities[0], Number, {77});
        ck_assert(mica_component_define(world, mica_component_type(describe_purse(MICA_STORAGE_CHUNK, 4))));
        ck_assert_msg(mica_flush(world) == MICA_ERROR_LAYOUT, "case %u", i);
        expect_report(&heard, MICA_ERROR_LAYOUT, "Wallet");
        forget_reports(&heard);
        ck_assert_msg(mica_is_alive(world, changed) && !mica_has_id(world, changed, wrong), "case %u", i);
        ck_assert_uint_eq(mica_get(world, entities[0], Number)->value, i / 2 == WAY_MANY ? 0 : 77);
        ck_assert_msg(texts_alive == 0, "case %u: %d texts are left", i, texts_alive);
        ck_assert_msg(mica_flush(world) == MICA_OK, "case %u: nothing is left", i);
        close_world(world, &heard);
    }
}
END_TEST

/* Entities out of order are found by a table, from which a creation that fails goes again. */
START_TEST(a_creation_that_fails_leaves_what_was_recorded_before)
{
    const mica_value wrong[] = {MICA_WITH(Text), {60000, 0, NULL}};
    mica_world *world = open_world(&heard);
    mica_entity low = mica_create(world), high = mica_create(world);
    mica_world_seal(world, true);
    mica_defer(world);
    mica_set(world, high, Mass, {1});
    mica_set(world, low, Mass, {2});
    ck_assert_int_eq(mica_flush(world), MICA_ERROR_REFUSED); /* so that the recording outlives one of its entities */
    mica_world_seal(world, false);
    ck_assert(mica_destroy(world, low));
    mica_defer(world);
    for (uint32_t i = 0; i < 3; ++i)
        ck_assert_msg(mica_is_nil(mica_create_id(world, wrong, 2)), "it takes the slot of one that was recorded");
    forget_reports(&heard);
    mica_entity next = mica_create(world, MICA_WITH(Number, {5}));
    ck_assert_uint_eq(next.index, low.index);
    mica_set(world, high, Number, {6});
    mica_set(world, next, Mass, {7});
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    expect_report(&heard, MICA_ERROR_DEAD, "not alive");
    ck_assert(mica_get(world, high, Mass)->value == 1 && mica_get(world, high, Number)->value == 6);
    ck_assert(mica_get(world, next, Mass)->value == 7 && mica_get(world, next, Number)->value == 5);
    ck_assert_int_eq(texts_alive, 0);
    close_world(world, &heard);
}
END_TEST

typedef struct Shield { int32_t strength; } Shield;
MICA_POOL_WITH(Shield, (.toggle = true), strength)

/* A switch is for the value that was there when it was recorded: one that comes with the flush is switched on. */
START_TEST(a_toggle_recorded_before_a_value_has_no_effect_if_the_value_is_removed)
{
    enum { IN_ONE, IN_TWO, AFTER_ANOTHER };
    for (int kind = 0; kind < 6; ++kind) {
        bool is_removed = kind % 2;
        mica_world *world = open_world(&heard);
        mica_entity entity = mica_create(world, MICA_WITH(Health, {1, 2}), MICA_WITH(Shield, {3}));
        mica_commands *commands = mica_commands_create(world);
        if (kind / 2 == AFTER_ANOTHER) {
            ck_assert(mica_command_enable(commands, entity, Health) && mica_command_enable(commands, entity, Shield));
            commands = mica_commands_create(world);
        }
        ck_assert(mica_command_disable(commands, entity, Health) && mica_command_disable(commands, entity, Shield));
        if (kind / 2 == IN_TWO)
            commands = mica_commands_create(world);
        ck_assert(mica_command_set(commands, entity, Health, {4, 5}) &&
                  mica_command_set(commands, entity, Shield, {6}));
        if (is_removed) {
            mica_remove(world, entity, Health);
            mica_remove(world, entity, Shield);
        }
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert(mica_get(world, entity, Health)->current == 4 && mica_get(world, entity, Shield)->strength == 6);
        ck_assert(mica_is_enabled(world, entity, Health) == is_removed);
        ck_assert(mica_is_enabled(world, entity, Shield) == is_removed);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(one_change_of_very_many_is_applied_whole)
{
    enum { MANY = 100000 };
    static mica_entity all[MANY];
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_create_many(world, MANY, NULL, 0, all), MICA_OK);
    mica_defer(world);
    for (uint32_t i = 0; i < MANY; ++i)
        mica_set(world, all[i], Position, {(float)i, 0, 1});
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    for (uint32_t i = 0; i < MANY; ++i)
        if (mica_get(world, all[i], Position)->x != (float)i)
            ck_abort_msg("entity %u", i);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_buffer_that_records_ever_new_kinds_forgets_the_old_ones)
{
    enum { KINDS = 2100, FLUSHES = 3 };
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_entity entity = mica_create(world);
    for (uint32_t flush = 0; flush < FLUSHES; ++flush) {
        for (int line = 1; line <= KINDS; ++line)
            mica_command_set_id(commands, entity,
                                (mica_value){MICA_ID(Number), sizeof(Number), &(Number){flush + (uint32_t)line}},
                                (mica_location){"kinds.c", line});
        mica_entity created = mica_command_create(commands, MICA_WITH(Number, {flush}), MICA_WITH(Mass, {2}));
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_uint_eq(mica_get(world, entity, Number)->value, flush + KINDS);
        ck_assert_msg(mica_get(world, created, Number)->value == flush && mica_get(world, created, Mass)->value == 2,
                      "flush %u", flush);
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

/* What a buffer knows from an earlier flush is checked again. */
START_TEST(a_kind_of_an_earlier_flush_is_refused_if_its_name_is_taken_now)
{
    static const mica_field small = {.name = "value", .element_bytes = 4, .count = 1, .kind = MICA_KIND_I32};
    static const mica_field large = {.name = "value", .element_bytes = 8, .count = 1, .kind = MICA_KIND_I64};
    mica_type first = {.name = "Twin", .fields = &small, .field_count = 1, .size_bytes = 4, .alignment = 4};
    mica_type second = {.name = "Twin", .fields = &large, .field_count = 1, .size_bytes = 8, .alignment = 8};
    first.kind = second.kind = MICA_KIND_STRUCT;
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_entity entity = mica_create(world), doomed = mica_create(world);
    mica_component twin = mica_type_intern(&first);
    ck_assert(mica_command_set_id(commands, doomed, (mica_value){twin, 4, &(int32_t){1}}, (mica_location){0}));
    mica_destroy(world, doomed);
    mica_flush(world);
    forget_reports(&heard);
    ck_assert(mica_component_define(world, &second) != 0);
    ck_assert(!mica_command_set_id(commands, entity, (mica_value){twin, 4, &(int32_t){1}}, (mica_location){0}));
    expect_report(&heard, MICA_ERROR_LAYOUT, "Twin");
    close_world(world, &heard);
}
END_TEST

/* Several changes of each entity, in an order of entities that needs the table of the recording, which grows meanwhile. */
START_TEST(changes_of_entities_in_any_order_follow_each_other)
{
    enum { COUNT = 700, STEP = 271 };
    static mica_entity all[COUNT];
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_create_many(world, COUNT, NULL, 0, all), MICA_OK);
    for (uint32_t flush = 0; flush < 3; ++flush) {
        mica_defer(world);
        for (uint32_t i = 0; i < COUNT; ++i) {
            mica_entity entity = all[i * STEP % COUNT];
            mica_set(world, entity, Number, {flush});
            mica_set(world, entity, Mass, {(float)i});
            mica_remove(world, entity, Number);
        }
        for (uint32_t i = 0; i < COUNT; ++i) /* found again, although others were recorded since */
            if (i % 2)
                mica_set(world, all[i * STEP % COUNT], Number, {flush + 5});
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        for (uint32_t i = 0; i < COUNT; ++i) {
            mica_entity entity = all[i * STEP % COUNT];
            ck_assert(mica_get(world, entity, Mass)->value == (float)i);
            ck_assert(mica_has(world, entity, Number) == (i % 2 != 0));
            ck_assert(i % 2 == 0 || mica_get(world, entity, Number)->value == flush + 5);
        }
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(recording, an_entity_whose_creation_is_recorded_has_nothing_yet,
           immediate_changes_to_a_recorded_creation_are_refused, a_name_given_early_goes_with_a_dropped_creation,
           a_trim_leaves_staged_values_where_they_are, a_trim_gives_back_what_buffers_held,
           a_clear_leaves_buffers_to_meet_the_dead, a_flush_that_a_seal_refuses_changes_nothing_and_can_be_tried_again,
           a_recorded_mistake_does_not_stop_the_world_for_ever, recorded_mistakes_are_refused_with_their_place,
           contradictions_between_buffers_end_in_their_order, owned_values_of_several_buffers_are_dropped_once,
           values_may_be_copied_from_other_entities, recorded_values_are_taken_from_variables,
           only_a_flush_tries_a_refused_recording_again,
           a_change_that_has_become_impossible_is_dropped_and_the_rest_is_done,
           a_toggle_recorded_before_a_value_has_no_effect_if_the_value_is_removed,
           a_creation_that_fails_leaves_what_was_recorded_before, one_change_of_very_many_is_applied_whole,
           a_buffer_that_records_ever_new_kinds_forgets_the_old_ones,
           a_kind_of_an_earlier_flush_is_refused_if_its_name_is_taken_now,
           changes_of_entities_in_any_order_follow_each_other)
