/* Components with text and lists in chunks, pools and singletons: copied, moved, recorded, hashed, kept by snapshots and destroyed with
 * everything that they own. Address sanitizer sees each block that is lost. */
#include "../../support/people.h"
#include "../../support/random.h"
#include "../../support/reports.h"
#include "../../support/test.h"

#include "base/block_heap.h"
#include "mica/flow.h"
#include "mica/hash.h"
#include "mica/observer.h"
#include "mica/snapshot.h"
#include "mica/stream.h"

#include <stdio.h>
#include <string.h>

static const char long_one[] = "a text that is longer than what lies in place";

static void give(Person *person, uint32_t number)
{
    Thing *thing = mica_list_append(&person->inventory, Thing);
    thing->count = number;
    mica_text_set(&thing->name, number % 2 ? long_one : "short");
    mica_list_add(&thing->tags, mica_text, mica_text_of(long_one), mica_text_of("red"));
    mica_list_add(&person->scores, float, (float)number);
    mica_list_add(&person->friends, mica_entity, {number, 1});
    mica_list_add(&person->moods[number % 2], Mood, MOOD_ANGRY);
}

static mica_entity create_person(mica_world *world, uint32_t number)
{
    char name[80];
    snprintf(name, sizeof name, number % 3 ? "person %u" : "a person with a long name, and with the number %u", number);
    mica_entity entity = mica_create(
        world, MICA_WITH(Person, {.name = mica_text_of(name), .titles = {mica_text_of(long_one)}, .age = 1}));
    Person *person = mica_write(world, entity, Person);
    for (uint32_t i = 0; i < number % 4; ++i)
        give(person, number + i);
    return entity;
}

START_TEST(values_are_copied_into_the_world)
{
    reports heard;
    mica_world *world = open_world(&heard);
    char name[] = "characters that the program uses for something else";
    mica_entity entity = mica_create(world, MICA_WITH(Person, {.name = mica_text_of(name)}));
    memset(name, '-', sizeof name - 1);
    ck_assert(
        mica_text_is(&mica_get(world, entity, Person)->name, "characters that the program uses for something else"));
    mica_set(world, entity, Person, {.name = mica_text_of(long_one)});
    ck_assert(mica_text_is(&mica_get(world, entity, Person)->name, long_one));
    give(mica_write(world, entity, Person), 3);
    expect_valid(world);

    mica_entity other = mica_clone(world, entity);
    mica_text_append(&mica_write(world, other, Person)->name, "!");
    mica_list_write(&mica_write(world, other, Person)->inventory, Thing)[0].count = 9;
    ck_assert(mica_text_is(&mica_get(world, entity, Person)->name, long_one));
    ck_assert_uint_eq(mica_list_items(&mica_get(world, entity, Person)->inventory, Thing)[0].count, 3);
    mica_remove(world, entity, Person);
    mica_destroy(world, other);
    close_world(world, &heard);
}
END_TEST

START_TEST(rows_that_move_take_their_text_along)
{
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_entity entities[300];
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i)
        entities[i] = create_person(world, i);
    for (uint32_t i = 0; i < COUNT_OF(entities); i += 3)
        mica_set(world, entities[i], Position, {(float)i, 0, 0});
    for (uint32_t i = 0; i < COUNT_OF(entities); i += 7)
        mica_destroy(world, entities[i]);
    expect_valid(world);
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i) {
        if (i % 7 == 0)
            continue;
        const Person *person = mica_get(world, entities[i], Person);
        char name[80];
        snprintf(name, sizeof name, i % 3 ? "person %u" : "a person with a long name, and with the number %u", i);
        ck_assert_str_eq(mica_text_get(&person->name), name);
        ck_assert_uint_eq(mica_list_count(&person->inventory), i % 4);
    }
    mica_world_trim(world);
    expect_valid(world);
    mica_world_clear(world);
    close_world(world, &heard);
}
END_TEST

START_TEST(pools_and_singletons_own_text_and_lists)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_set(world, entity, Diary, {.title = mica_text_of(long_one)});
    mica_list_add(&mica_write(world, entity, Diary)->pages, mica_text, mica_text_of(long_one), mica_text_of("two"));
    mica_pool *letters = mica_pool_of(world, Letters);
    for (uint16_t i = 0; i < 5; ++i) {
        Letters *letter = mica_instance_write(letters, mica_pool_add(letters, entity), Letters);
        mica_text_set(&letter->to, long_one);
        mica_list_add(&letter->numbers, uint16_t, i, 7);
    }
    Archive *archive = mica_singleton_write(world, Archive);
    mica_text_set(&archive->path, long_one);
    mica_text_set(&mica_list_append(&archive->things, Thing)->name, long_one);
    expect_valid(world);
    uint64_t hash = mica_world_hash(world);

    mica_snapshot before = mica_snapshot_take(world);
    mica_list_clear(&mica_write(world, entity, Diary)->pages, mica_text);
    mica_text_append(&mica_instance_write(letters, mica_pool_find(letters, entity), Letters)->to, "!");
    mica_pool_remove(letters, mica_pool_find(letters, entity));
    mica_text_set(&mica_list_write(&mica_singleton_write(world, Archive)->things, Thing)[0].name, "changed");
    expect_valid(world);
    ck_assert(mica_world_hash(world) != hash);
    mica_world *clone = mica_world_clone(world);
    ck_assert_uint_eq(mica_world_hash(clone), mica_world_hash(world));
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    expect_valid(world);
    ck_assert_uint_eq(mica_world_hash(world), hash);
    ck_assert_int_eq(mica_world_validate(clone), MICA_OK);
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

START_TEST(recorded_changes_own_what_they_carry)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity kept = create_person(world, 3);
    mica_commands *commands = mica_commands_create(world);
    char name[] = "a name that changes before the changes are applied";
    mica_entity fresh = mica_command_create(commands, MICA_WITH(Person, {.name = mica_text_of(name)}));
    mica_command_set(commands, kept, Person, {.name = mica_text_of(name)});
    mica_command_set(commands, kept, Diary, {.title = mica_text_of(name)});
    mica_command_set(commands, kept, Person, {.name = mica_text_of(name), .age = 5});
    memset(name, '-', sizeof name - 1);
    mica_flush(world);
    ck_assert_str_eq(mica_text_get(&mica_get(world, fresh, Person)->name),
                     "a name that changes before the changes are applied");
    ck_assert_str_eq(mica_text_get(&mica_get(world, kept, Person)->name),
                     "a name that changes before the changes are applied");
    ck_assert_str_eq(mica_text_get(&mica_get(world, kept, Diary)->title),
                     "a name that changes before the changes are applied");
    mica_command_set(commands, kept, Person, {.name = mica_text_of(long_one)}); /* and is never applied */
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(the_hash_is_that_of_the_text_and_not_of_where_it_lies)
{
    reports heard, heard_too;
    mica_world *world = open_world(&heard), *other = open_world(&heard_too);
    for (uint32_t i = 0; i < 20; ++i) {
        create_person(world, i);
        mica_text unused = {0}; /* other addresses */
        mica_text_set(&unused, long_one);
        create_person(other, i);
        mica_text_clear(&unused);
    }
    ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(other));
    mica_entity last = create_person(world, 3), twin = create_person(other, 3);
    ck_assert_uint_eq(mica_world_hash(world), mica_world_hash(other));
    uint64_t hash = mica_world_hash(other);
    mica_list_write(&mica_list_write(&mica_write(other, twin, Person)->inventory, Thing)[1].tags, mica_text);
    ck_assert_uint_eq(mica_world_hash(other), hash);
    mica_text_set(
        &mica_list_write(&mica_list_write(&mica_write(other, twin, Person)->inventory, Thing)[1].tags, mica_text)[1],
        "blue");
    ck_assert(mica_world_hash(other) != hash);
    mica_difference difference;
    ck_assert(mica_hash_diff(world, other, &difference));
    ck_assert_str_eq(difference.component, "Person");
    ck_assert_str_eq(difference.field, "inventory[1].tags[1]");
    ck_assert(mica_same(difference.entity, last));
    mica_list_remove(&mica_write(other, twin, Person)->inventory, Thing, 2);
    mica_hash_diff(world, other, &difference);
    ck_assert_str_eq(difference.field, "inventory[1].tags[1]");
    mica_list_remove(&mica_write(other, twin, Person)->inventory, Thing, 1);
    mica_hash_diff(world, other, &difference);
    ck_assert_str_eq(difference.field, "inventory[1]");
    close_world(world, &heard);
    close_world(other, &heard_too);
}
END_TEST

/* Snapshots of several states, which are restored in any order. */
START_TEST(snapshots_bring_back_every_text)
{
    enum { STATES = 6 };
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    random_source random = {5};
    mica_entity entities[200];
    for (uint32_t i = 0; i < COUNT_OF(entities); ++i)
        entities[i] = create_person(world, i);
    mica_snapshot snapshots[STATES];
    uint64_t hashes[STATES];
    for (uint32_t state = 0; state < STATES; ++state) {
        hashes[state] = mica_world_hash(world);
        snapshots[state] = mica_snapshot_take(world);
        for (uint32_t i = 0; i < 100; ++i) {
            uint32_t at = random_below(&random, COUNT_OF(entities));
            if (random_one_in(&random, 10) || !mica_is_alive(world, entities[at])) {
                mica_destroy(world, entities[at]);
                entities[at] = create_person(world, random_below(&random, 50));
                continue;
            }
            Person *person = mica_write(world, entities[at], Person);
            give(person, i);
            mica_text_append(&person->titles[1], "still longer, ");
            if (mica_list_count(&person->inventory) > 4)
                mica_list_remove(&person->inventory, Thing, 1);
        }
        expect_valid(world);
    }
    size_t bytes = mica_snapshot_bytes(world, snapshots[STATES - 1]);
    ck_assert_uint_gt(bytes, 0);
    for (uint32_t i = 0; i < 20; ++i) {
        uint32_t state = random_below(&random, STATES);
        ck_assert_int_eq(mica_snapshot_restore(world, snapshots[state]), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hashes[state]);
        expect_valid(world);
    }
    mica_snapshot_drop(world, snapshots[2]);
    mica_snapshot_restore(world, snapshots[1]);
    ck_assert_uint_eq(mica_world_hash(world), hashes[1]);
    close_world(world, &heard);
}
END_TEST

static void live(mica_view *view)
{
    Person *people = mica_view_write(view, Person);
    for (uint32_t i = 0; i < view->count; ++i) {
        give(&people[i], i % 5);
        mica_text_append(&people[i].name, "+");
        if (mica_list_count(&people[i].inventory) > 6)
            mica_list_remove_type(&people[i].inventory, &mica_type_of_Thing, 0, 3);
        if (mica_text_length(&people[i].name) > 60)
            mica_text_set(&people[i].name, "short");
        if (mica_list_count(&people[i].scores) % 5 == 0)
            mica_set(view->world, view->entities[i], Diary, {.title = people[i].name});
    }
}

static uint64_t play(uint32_t workers)
{
    reports heard;
    mica_world *world = open_world_of_small_chunks(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    mica_flow_configure(world, &def);
    mica_system_add(world, MICA_SYSTEM(live, MICA_WRITE(Person)));
    mica_entity first = create_person(world, 3);
    for (uint32_t i = 0; i < 400; ++i)
        i % 2 ? create_person(world, i) : mica_clone(world, first); /* which share */
    for (uint32_t frame = 0; frame < 30; ++frame)
        mica_step(world, 1);
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(parallel_systems_end_the_same_for_any_number_of_workers)
{
    uint64_t hash = play(1);
    ck_assert_uint_eq(play(2), hash);
    ck_assert_uint_eq(play(4), hash);
}
END_TEST

START_TEST(memory_is_given_back)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_world_trim(world);
    size_t before = micap_heap_bytes();
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t i = 0; i < 5000; ++i)
            create_person(world, i);
        mica_world_clear(world);
    }
    mica_world_trim(world);
    ck_assert_uint_eq(micap_heap_bytes(), before);
    close_world(world, &heard);
}
END_TEST

/* The first block is missing, then the second, and so on, for calls that copy values. */
static bool act(mica_world *world, mica_entity entity, uint32_t call)
{
    mica_commands *commands;
    mica_world *clone;
    switch (call) {
    case 0:
        return mica_set(world, entity, Person, {.name = mica_text_of(long_one), .titles = {mica_text_of(long_one)}});
    case 1: return mica_set(world, entity, Diary, {.title = mica_text_of(long_one)});
    case 2: return !mica_is_nil(mica_create(world, MICA_WITH(Person, {.titles = {mica_text_of(long_one)}})));
    default:
        commands = mica_commands_create(world);
        bool done = mica_command_set(commands, entity, Person, {.name = mica_text_of(long_one)});
        done = mica_flush(world) == MICA_OK && done;
        mica_commands_destroy(commands);
        clone = mica_world_clone(world);
        done = clone && done;
        mica_world_destroy(clone);
        return done;
    }
}

START_TEST(without_memory_a_component_stays_as_it_is)
{
    for (int64_t limit = 0, done = 0; !done; ++limit) {
        reports heard;
        mica_world *world = open_world(&heard);
        mica_entity entity = create_person(world, 3);
        uint64_t hash = mica_world_hash(world);
        micap_heap_limit(limit);
        done = act(world, entity, (uint32_t)_i);
        micap_heap_limit(INT64_MAX);
        ck_assert(done || mica_world_hash(world) == hash);
        ck_assert(done || forget_reports(&heard));
        ck_assert(limit || !done);
        mica_world_take_error(world);
        close_world(world, &heard);
    }
}
END_TEST

static const mica_field bad_list = {.name = "list", .element_bytes = 8, .count = 1, .kind = MICA_KIND_LIST};
static const mica_type sixteen = {.name = "sixteen", .size_bytes = 16, .alignment = 16, .kind = MICA_KIND_STRUCT};
static const mica_type wrong_float = {.name = "wrong", .size_bytes = 8, .alignment = 8, .kind = MICA_KIND_F32};
static const mica_field aligned_list = {
    .name = "list", .type = &sixteen, .element_bytes = 8, .count = 1, .kind = MICA_KIND_LIST};
static const mica_field wrong_list = {
    .name = "list", .type = &wrong_float, .element_bytes = 8, .count = 1, .kind = MICA_KIND_LIST};
static const mica_field small_list = {
    .name = "list", .type = &wrong_float, .element_bytes = 4, .count = 1, .kind = MICA_KIND_LIST};
static const mica_field list_of_lists = {.name = "list",
                                         .type = &(mica_type){.name = "inner", .kind = MICA_KIND_LIST, .size_bytes = 8},
                                         .element_bytes = 8,
                                         .count = 1,
                                         .kind = MICA_KIND_LIST};
static const mica_field text_field = {.name = "text", .element_bytes = 16, .count = 1, .kind = MICA_KIND_TEXT};

static const mica_field odd_text = {
    .name = "text", .offset = 4, .element_bytes = 16, .count = 1, .kind = MICA_KIND_TEXT};

static void destruct_nothing(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}

static const struct {
    mica_type type;
    const char *says;
} malformed[] = {
    {{.fields = &bad_list}, "no type of elements"},
    {{.fields = &aligned_list}, "alignment of at most 8"},
    {{.fields = &wrong_list}, "another size than their kind"},
    {{.fields = &small_list}, "kind and size disagree"},
    {{.fields = &list_of_lists}, "neither struct, enum nor flags"},
    {{.fields = &text_field, .split = true}, "can't be split"},
    {{.fields = &odd_text}, "not aligned"},
    {{.fields = &text_field, .destruct = destruct_nothing}, "functions of its own"},
};

START_TEST(malformed_lists_are_refused_at_definition)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_type type = malformed[_i].type;
    type.name = "Malformed";
    type.kind = MICA_KIND_STRUCT;
    type.field_count = 1;
    type.size_bytes = 24;
    type.alignment = 8;
    ck_assert_uint_eq(mica_component_define(world, &type), 0);
    expect_report(&heard, MICA_ERROR_INVALID, malformed[_i].says);
    close_world(world, &heard);
}
END_TEST

/* A description that was interned has functions, and is still the same component. */
START_TEST(an_interned_description_can_be_defined_again)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_component person = mica_define(world, Person);
    ck_assert_uint_eq(mica_component_define(world, mica_component_type(person)), person);
    close_world(world, &heard);
}
END_TEST

/* A value that was assigned, and not copied, borrows its characters. */
START_TEST(validation_finds_text_that_is_not_of_the_world)
{
    reports heard;
    mica_world *world = open_world(&heard);
    mica_entity entity = create_person(world, 1);
    Person *person = mica_write(world, entity, Person);
    mica_text kept = person->titles[1];
    person->titles[1] = mica_text_of(long_one);
    ck_assert_int_eq(mica_world_validate(world), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "has its own memory");
    mica_write(world, entity, Person)->titles[1] = kept;
    mica_add(world, entity, Diary);
    mica_write(world, entity, Diary)->title = mica_text_of(long_one);
    ck_assert_int_eq(mica_world_validate(world), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "has its own memory");
    mica_write(world, entity, Diary)->title = kept;
    mica_singleton_write(world, Archive)->path = mica_text_of(long_one);
    ck_assert_int_eq(mica_world_validate(world), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "has its own memory");
    mica_singleton_write(world, Archive)->path = kept;
    mica_world_take_error(world);
    close_world(world, &heard);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("owned");
    tcase_set_timeout(cases, TEST_TIMEOUT_SECONDS);
    tcase_add_test(cases, values_are_copied_into_the_world);
    tcase_add_test(cases, rows_that_move_take_their_text_along);
    tcase_add_test(cases, pools_and_singletons_own_text_and_lists);
    tcase_add_test(cases, recorded_changes_own_what_they_carry);
    tcase_add_test(cases, the_hash_is_that_of_the_text_and_not_of_where_it_lies);
    tcase_add_test(cases, snapshots_bring_back_every_text);
    tcase_add_test(cases, parallel_systems_end_the_same_for_any_number_of_workers);
    tcase_add_test(cases, memory_is_given_back);
    tcase_add_loop_test(cases, without_memory_a_component_stays_as_it_is, 0, 4);
    tcase_add_loop_test(cases, malformed_lists_are_refused_at_definition, 0, (int)COUNT_OF(malformed));
    tcase_add_test(cases, an_interned_description_can_be_defined_again);
    tcase_add_test(cases, validation_finds_text_that_is_not_of_the_world);
    return test_run("owned", cases);
}
