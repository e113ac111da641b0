/* Hooks: which events come, with what, in which order; and what a hook may do. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <string.h>

static reports heard;

/* What a hook saw, entity by entity, as letters: A add, S set, R remove, D destroy. */
typedef struct journal {
    char letters[256];
    uint32_t length;
    uint32_t calls;
    uint32_t largest_run;
    mica_entity last;
    uint32_t value_sum;
} journal;

static journal seen;

static void note(const mica_event *event)
{
    journal *into = event->context;
    ck_assert_msg(event->count > 0, "a run is never empty");
    for (uint32_t i = 0; i < event->count; ++i) {
        mica_entity entity = event->entities[i];
        ck_assert_msg(mica_is_alive(event->world, entity), "an entity is alive while its hook runs");
        if (event->component != 0)
            ck_assert_msg(mica_has_id(event->world, entity, event->component), "and has the component");
        if (event->component == MICA_ID(Number) && event->values) {
            const Number *numbers = event->values;
            ck_assert_msg(mica_get(event->world, entity, Number)->value == numbers[i].value,
                          "the values are the entities'");
            into->value_sum += numbers[i].value;
        }
        if (into->length < sizeof into->letters - 1)
            into->letters[into->length++] = "ASRD"[event->kind];
        into->last = entity;
    }
    into->letters[into->length] = 0;
    into->largest_run = event->count > into->largest_run ? event->count : into->largest_run;
    ++into->calls;
}

/* A world that notes every event of Number, and every death. */
static mica_world *open_noted_world(void)
{
    mica_world *world = open_world(&heard);
    memset(&seen, 0, sizeof seen);
    for (int kind = MICA_EVENT_ADD; kind <= MICA_EVENT_REMOVE; ++kind)
        ck_assert_msg(mica_hook_set(world, Number, (mica_event_kind)kind, note, &seen) == MICA_OK, "hook %d is set",
                      kind);
    ck_assert_msg(mica_hook_set_id(world, 0, MICA_EVENT_DESTROY, note, &seen) == MICA_OK, "the hook of death is set");
    return world;
}

static void expect_journal(const char *expected, const char *why)
{
    ck_assert_msg(strcmp(seen.letters, expected) == 0, "%s: saw '%s', expected '%s'", why, seen.letters, expected);
    memset(&seen, 0, sizeof seen);
}

START_TEST(each_change_notifies_once)
{
    mica_world *world = open_noted_world();
    mica_entity entity = mica_create(world, MICA_WITH(Number, {5}), MICA_WITH(Position));
    expect_journal("AS", "created with a value");
    mica_set(world, entity, Number, {6});
    expect_journal("S", "overwritten");
    mica_write(world, entity, Number)->value = 7;
    expect_journal("", "written in place");
    mica_set(world, entity, Mass, {1});
    mica_remove(world, entity, Position);
    expect_journal("", "moved for other components");
    mica_add(world, entity, Number);
    expect_journal("", "added though it is there");
    mica_remove(world, entity, Number);
    expect_journal("R", "removed");
    mica_remove(world, entity, Number);
    expect_journal("", "removed though it is not there");
    mica_set(world, entity, Number, {8});
    expect_journal("AS", "set when it is not there");
    mica_destroy(world, entity);
    ck_assert_msg(seen.length == 2 && strchr(seen.letters, 'R') && strchr(seen.letters, 'D'),
                  "death removes and destroys: %s", seen.letters);
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_hook_sees_the_value_that_comes_or_goes)
{
    mica_world *world = open_world(&heard);
    memset(&seen, 0, sizeof seen);
    mica_hook_set(world, Number, MICA_EVENT_ADD, note, &seen);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {5}));
    ck_assert_msg(seen.value_sum == 5, "the first value is in place at ADD");
    mica_hook_set(world, Number, MICA_EVENT_ADD, NULL, NULL);
    mica_hook_set(world, Number, MICA_EVENT_REMOVE, note, &seen);
    seen.value_sum = 0;
    mica_write(world, entity, Number)->value = 11;
    mica_destroy(world, entity);
    ck_assert_msg(seen.value_sum == 11, "the last value can be read at REMOVE");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_changed_and_killed_entity_notifies_rightly)
{
    mica_world *world = open_noted_world();
    mica_entity with = mica_create(world, MICA_WITH(Number, {1})), without = mica_create(world);
    memset(&seen, 0, sizeof seen);

    mica_defer(world);
    mica_set(world, with, Number, {2});
    mica_destroy(world, with);
    mica_flush(world);
    size_t removals = 0, deaths = 0;
    for (const char *letter = seen.letters; *letter; ++letter) {
        removals += *letter == 'R';
        deaths += *letter == 'D';
        ck_assert_msg(*letter != 'A', "nothing is added to what dies: %s", seen.letters);
        ck_assert_msg(*letter != 'S' || (removals == 0 && deaths == 0), "nothing is set after the end: %s",
                      seen.letters);
    }
    ck_assert_msg(removals == 1 && deaths == 1, "it goes once: %s", seen.letters);
    ck_assert_msg(!mica_is_alive(world, with), "and is dead");
    memset(&seen, 0, sizeof seen);

    mica_defer(world);
    mica_set(world, without, Number, {3});
    mica_destroy(world, without);
    mica_entity brief = mica_create(world, MICA_WITH(Number, {4}));
    mica_destroy(world, brief);
    mica_flush(world);
    int balance = 0;
    for (const char *letter = seen.letters; *letter; ++letter) {
        balance += (*letter == 'A') - (*letter == 'R');
        ck_assert_msg(balance >= 0, "nothing goes that did not come: %s", seen.letters);
    }
    ck_assert_msg(balance == 0, "what came went: %s", seen.letters);
    close_world(world, &heard);
}
END_TEST

START_TEST(recorded_changes_notify_at_the_flush_with_the_outcome)
{
    mica_world *world = open_noted_world();
    mica_entity entity = mica_create(world), other = mica_create(world, MICA_WITH(Number, {1}));
    memset(&seen, 0, sizeof seen);
    mica_defer(world);
    mica_add(world, entity, Number)->value = 21;
    mica_remove(world, other, Number);
    expect_journal("", "nothing happens while recording");
    mica_flush(world);
    ck_assert_msg(strchr(seen.letters, 'A') && strchr(seen.letters, 'R'), "the flush adds and removes: %s",
                  seen.letters);
    memset(&seen, 0, sizeof seen);
    mica_defer(world);
    mica_set(world, entity, Number, {22});
    mica_flush(world);
    expect_journal("S", "an overwritten value");
    close_world(world, &heard);
}
END_TEST

enum { SOME = 40 };

typedef void (*change_fn)(mica_world *world, mica_entity entity, uint32_t i);

static void add_mass(mica_world *world, mica_entity entity, uint32_t i)
{
    (void)i;
    mica_add(world, entity, Mass);
}

static void set_place(mica_world *world, mica_entity entity, uint32_t i)
{
    mica_set(world, entity, Position, {(float)i, 0, 0});
}

static void remove_mass(mica_world *world, mica_entity entity, uint32_t i)
{
    (void)i;
    mica_remove(world, entity, Mass);
}

static void set_number(mica_world *world, mica_entity entity, uint32_t i)
{
    mica_set(world, entity, Number, {i});
}

static void set_number_and_mass(mica_world *world, mica_entity entity, uint32_t i)
{
    mica_set(world, entity, Mass, {(float)i});
    mica_set(world, entity, Number, {i + 1});
}

static void remove_number(mica_world *world, mica_entity entity, uint32_t i)
{
    (void)i;
    mica_remove(world, entity, Number);
}

static void remove_mass_and_add_number(mica_world *world, mica_entity entity, uint32_t i)
{
    (void)i;
    mica_remove(world, entity, Mass);
    mica_add(world, entity, Number);
}

/* Changes all entities, at once or recorded, and expects the events of Number that one entity causes. */
static void change_all(mica_world *world, const mica_entity *entities, bool recorded, change_fn change,
                       const char *letters)
{
    memset(&seen, 0, sizeof seen);
    if (recorded)
        mica_defer(world);
    for (uint32_t i = 0; i < SOME; ++i)
        change(world, entities[i], i);
    if (recorded)
        ck_assert_int_eq(mica_flush(world), MICA_OK);
    uint32_t length = (uint32_t)strlen(letters);
    ck_assert_uint_eq(seen.length, SOME * length);
    for (uint32_t i = 0; i < seen.length; ++i)
        ck_assert_int_eq(seen.letters[i], letters[i % length]);
}

static void create_some(mica_world *world, mica_entity *entities)
{
    for (uint32_t i = 0; i < SOME; ++i)
        entities[i] = mica_create(world, MICA_WITH(Number, {i}), MICA_WITH(Position));
}

START_TEST(changes_of_other_components_run_no_hooks)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_noted_world();
        mica_hook_set_destroy(world, NULL, NULL);
        mica_entity entities[SOME];
        create_some(world, entities);
        change_all(world, entities, recorded, add_mass, "");
        change_all(world, entities, recorded, set_place, "");
        change_all(world, entities, recorded, remove_mass, "");
        change_all(world, entities, recorded, set_number, "S");
        change_all(world, entities, recorded, set_number_and_mass, "S");
        for (uint32_t i = 0; i < SOME; ++i)
            ck_assert(mica_get(world, entities[i], Number)->value == i + 1 &&
                      mica_get(world, entities[i], Mass)->value == (float)i &&
                      mica_get(world, entities[i], Position)->x == (float)i);
        change_all(world, entities, recorded, remove_number, "R");
        change_all(world, entities, recorded, remove_mass_and_add_number, "A");
        for (uint32_t i = 0; i < SOME; ++i)
            ck_assert(mica_has(world, entities[i], Number) && !mica_has(world, entities[i], Mass));
        close_world(world, &heard);
    }
}
END_TEST

static void destroy_one(mica_world *world, mica_entity entity, uint32_t i)
{
    (void)i;
    mica_destroy(world, entity);
}

/* A world in which only one event of Number has a hook. */
static mica_world *open_world_with_hook(mica_event_kind kind, mica_entity *entities)
{
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Number, kind, note, &seen);
    memset(&seen, 0, sizeof seen);
    create_some(world, entities);
    return world;
}

START_TEST(births_and_deaths_run_only_hooks_that_are_for_them)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_entity entities[SOME], copy;
        mica_world *world = open_world_with_hook(MICA_EVENT_ADD, entities);
        ck_assert_uint_eq(seen.length, SOME);
        change_all(world, entities, recorded, destroy_one, "");
        ck_assert(!mica_is_alive(world, entities[0]) && !mica_is_alive(world, entities[SOME - 1]));
        create_some(world, entities);
        memset(&seen, 0, sizeof seen);
        ck_assert_uint_eq(mica_destroy_many(world, entities, SOME), SOME);
        ck_assert_uint_eq(seen.length, 0);
        close_world(world, &heard);

        world = open_world_with_hook(MICA_EVENT_REMOVE, entities);
        copy = mica_clone(world, entities[3]);
        ck_assert_msg(seen.length == 0, "nothing was removed");
        ck_assert_uint_eq(mica_get(world, copy, Number)->value, 3);
        change_all(world, entities, recorded, destroy_one, "R");
        mica_hook_set(world, Number, MICA_EVENT_REMOVE, NULL, NULL);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(bulk_calls_notify_with_whole_runs)
{
    enum { MANY = 5000 };
    static mica_entity entities[MANY];
    static Number numbers[MANY];
    mica_world *world = open_world(&heard);
    memset(&seen, 0, sizeof seen);
    mica_hook_set(world, Number, MICA_EVENT_ADD, note, &seen);
    mica_hook_set(world, Number, MICA_EVENT_REMOVE, note, &seen);
    for (uint32_t i = 0; i < MANY; ++i)
        numbers[i].value = i;
    const mica_value column = MICA_COLUMN(Number, numbers);
    ck_assert_msg(mica_create_many(world, MANY, &column, 1, entities) == MICA_OK, "many are made");
    ck_assert_msg(seen.value_sum == MANY * (MANY - 1) / 2, "each was seen with its value");
    ck_assert_msg(seen.calls < 100 && seen.largest_run >= 500, "in runs: %u calls, the largest of %u", seen.calls,
                  seen.largest_run);
    memset(&seen, 0, sizeof seen);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    ck_assert_msg(mica_remove_all(query, Number) == MICA_OK, "it is removed from all");
    ck_assert_msg(seen.value_sum == MANY * (MANY - 1) / 2, "each was seen going");
    ck_assert_msg(seen.calls < 100, "in runs: %u calls", seen.calls);
    close_world(world, &heard);
}
END_TEST

START_TEST(tags_notify_without_values)
{
    mica_world *world = open_world(&heard);
    memset(&seen, 0, sizeof seen);
    mica_hook_set(world, Frozen, MICA_EVENT_ADD, note, &seen);
    mica_hook_set(world, Frozen, MICA_EVENT_REMOVE, note, &seen);
    mica_entity entity = mica_create(world);
    mica_add(world, entity, Frozen);
    expect_journal("A", "a tag comes");
    mica_remove(world, entity, Frozen);
    expect_journal("R", "and goes");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_hook_can_be_taken_away)
{
    mica_world *world = open_noted_world();
    mica_hook_set(world, Number, MICA_EVENT_ADD, NULL, NULL);
    mica_hook_set(world, Number, MICA_EVENT_SET, NULL, NULL);
    mica_create(world, MICA_WITH(Number, {1}));
    expect_journal("", "the hooks are removed");
    ck_assert_msg(mica_world_clear(world) == MICA_OK, "the world is cleared");
    ck_assert_msg(strchr(seen.letters, 'R') != NULL, "the one that is left runs when the world is cleared");
    mica_create(world, MICA_WITH(Number, {1}));
    memset(&seen, 0, sizeof seen);
    close_world(world, &heard);
    ck_assert_msg(strchr(seen.letters, 'R') != NULL, "and when it is destroyed");
}
END_TEST

START_TEST(invalid_hooks_are_rejected)
{
    mica_world *world = open_world(&heard);
    ck_assert_msg(mica_hook_set_id(world, 60000, MICA_EVENT_ADD, note, &seen) == MICA_ERROR_UNKNOWN,
                  "an unknown component");
    ck_assert_msg(mica_hook_set_id(world, 0, MICA_EVENT_ADD, note, &seen) != MICA_OK, "no component");
    ck_assert_msg(mica_hook_set(world, Number, MICA_EVENT_KINDS, note, &seen) == MICA_ERROR_INVALID, "an unknown kind");
    ck_assert_msg(mica_hook_set(world, Number, MICA_EVENT_DESTROY, note, &seen) == MICA_ERROR_INVALID,
                  "death is of no component");
    ck_assert_msg(forget_reports(&heard) == 4, "each is reported");
    mica_destroy(world, mica_create(world, MICA_WITH(Number, {1})));
    close_world(world, &heard);
}
END_TEST

/* ---- what a hook may do ---- */

static mica_entity bystander;

static void give_mass(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i) {
        ck_assert_msg(mica_set(event->world, event->entities[i], Mass, {2}), "a hook may set");
        ck_assert_msg(!mica_has(event->world, event->entities[i], Mass), "it is recorded, not done");
    }
}

static void spawn_frozen(const mica_event *event)
{
    mica_entity *spawned = event->context;
    *spawned = mica_create(event->world, MICA_WITH(Frozen), MICA_WITH(Position, {1, 2, 3}));
    ck_assert_msg(mica_is_alive(event->world, *spawned), "a hook may create, and the handle is valid at once");
}

static void kill_bystander(const mica_event *event)
{
    if (!mica_same(event->entities[0], bystander) && mica_is_alive(event->world, bystander))
        ck_assert_msg(mica_destroy(event->world, bystander), "a hook may destroy another");
}

static void kill_itself(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        mica_destroy(event->world, event->entities[i]);
}

static void take_number(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        mica_remove(event->world, event->entities[i], Number);
}

START_TEST(changes_made_in_a_hook_are_applied_afterwards)
{
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Number, MICA_EVENT_ADD, give_mass, NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1}));
    ck_assert_msg(mica_has(world, entity, Mass) && mica_get(world, entity, Mass)->value == 2,
                  "done when create has returned");
    mica_entity later = mica_create(world);
    mica_add(world, later, Number);
    ck_assert_msg(mica_has(world, later, Mass), "done when add has returned");
    mica_defer(world);
    mica_entity recorded = mica_create(world, MICA_WITH(Number, {1}));
    mica_flush(world);
    ck_assert_msg(mica_has(world, recorded, Mass), "done when the flush has returned");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_pointer_from_add_is_good_though_a_hook_moved_the_entity)
{
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Number, MICA_EVENT_ADD, give_mass, NULL);
    mica_entity entity = mica_create(world);
    Number *number = mica_add(world, entity, Number);
    ck_assert_msg(number == mica_get(world, entity, Number), "add returns where the component is now");
    number->value = 5;
    ck_assert_msg(mica_get(world, entity, Number)->value == 5, "and it can be filled in");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_hook_may_create)
{
    mica_world *world = open_world(&heard);
    mica_entity spawned = mica_nil();
    mica_hook_set(world, Number, MICA_EVENT_ADD, spawn_frozen, &spawned);
    mica_create(world, MICA_WITH(Number, {1}));
    ck_assert_msg(mica_has(world, spawned, Frozen) && mica_get(world, spawned, Position)->z == 3,
                  "it is made after the operation");
    ck_assert_msg(mica_world_get_stats(world).entity_count == 2, "there are two");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_hook_may_destroy_another)
{
    static const mica_event_kind kinds[] = {MICA_EVENT_ADD, MICA_EVENT_SET, MICA_EVENT_REMOVE};
    for (uint32_t i = 0; i < COUNT_OF(kinds); ++i) {
        mica_world *world = open_world(&heard);
        bystander = mica_create(world, MICA_WITH(Number, {7}));
        mica_entity other = mica_create(world, MICA_WITH(Number, {8}));
        mica_hook_set(world, Number, kinds[i], kill_bystander, NULL);
        mica_entity entity = mica_create(world, MICA_WITH(Number, {9}));
        mica_remove(world, entity, Number);
        ck_assert_msg(!mica_is_alive(world, bystander), "the bystander is dead after event %u", i);
        ck_assert_msg(mica_get(world, other, Number)->value == 8, "the other is well after event %u", i);
        ck_assert_msg(mica_is_alive(world, entity), "and so is the entity itself");
        expect_valid(world);
        mica_hook_set(world, Number, kinds[i], NULL, NULL);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_hook_may_destroy_its_own_entity)
{
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Number, MICA_EVENT_ADD, kill_itself, NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {9}));
    ck_assert_msg(!mica_is_alive(world, entity), "born and dead");
    mica_entity poor = mica_create(world);
    ck_assert_msg(mica_add(world, poor, Number) == NULL, "there is nothing to return");
    ck_assert_msg(!mica_is_alive(world, poor), "it is dead");
    ck_assert_msg(mica_world_get_stats(world).entity_count == 0, "no entity is left");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_hook_may_take_back_what_was_added)
{
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Number, MICA_EVENT_ADD, take_number, NULL);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {9}), MICA_WITH(Mass, {1}));
    ck_assert_msg(mica_is_alive(world, entity) && !mica_has(world, entity, Number), "it is removed again");
    ck_assert_msg(mica_get(world, entity, Mass)->value == 1, "the rest is there");
    close_world(world, &heard);
}
END_TEST

START_TEST(hooks_set_off_further_hooks)
{
    mica_world *world = open_world(&heard);
    mica_entity spawned = mica_nil();
    mica_hook_set(world, Number, MICA_EVENT_ADD, give_mass, NULL);
    mica_hook_set(world, Mass, MICA_EVENT_ADD, spawn_frozen, &spawned);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {9}));
    ck_assert_msg(mica_has(world, entity, Mass), "the first hook");
    ck_assert_msg(mica_has(world, spawned, Frozen), "set off the second");
    close_world(world, &heard);
}
END_TEST

static void spawn_plain(const mica_event *event)
{
    void *context = event->context;
    ++*(uint32_t *)context;
    mica_create(event->world, MICA_WITH(Position), MICA_WITH(Text));
}

START_TEST(a_hook_may_create_while_everything_goes)
{
    mica_world *world = open_world(&heard);
    uint32_t calls = 0;
    mica_entity entities[3];
    mica_hook_set(world, Number, MICA_EVENT_REMOVE, spawn_plain, &calls);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    const mica_value column = MICA_WITH(Number);
    mica_create_many(world, 3, &column, 1, entities);
    ck_assert_msg(mica_destroy_all(query) == MICA_OK && mica_query_count(query) == 0, "a query destroys");
    ck_assert_msg(calls > 0 && mica_world_get_stats(world).entity_count == calls, "new entities stay");
    mica_create_many(world, 3, &column, 1, entities);
    ck_assert_msg(mica_destroy_many(world, entities, 3) == 3, "a list is destroyed");
    ck_assert_msg(mica_world_get_stats(world).entity_count == calls, "new entities stay");
    mica_create_many(world, 3, &column, 1, entities);
    ck_assert_msg(mica_world_clear(world) == MICA_OK, "the world is cleared");
    ck_assert_msg(mica_query_count(query) == 0, "all earlier entities are destroyed");
    expect_valid(world);
    mica_create_many(world, 3, &column, 1, entities);
    close_world(world, &heard);
    ck_assert_msg(texts_alive == 0, "and nothing is left of a destroyed world: %d", texts_alive);
}
END_TEST

START_TEST(a_hook_may_change_all_that_are_created_at_once)
{
    static mica_entity entities[2000];
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Number, MICA_EVENT_ADD, give_mass, NULL);
    const mica_value column = MICA_WITH(Number);
    ck_assert_msg(mica_create_many(world, 2000, &column, 1, entities) == MICA_OK, "many are made");
    for (uint32_t i = 0; i < 2000; ++i)
        ck_assert_msg(mica_get(world, entities[i], Mass)->value == 2, "number %u was changed", i);
    mica_query *query = mica_query_create(world, MICA_QUERY(MICA_READ(Mass)));
    mica_remove_all(query, Number);
    mica_remove_all(query, Mass);
    mica_query *all = mica_query_create(world, &(const mica_query_def){.name = "all"});
    ck_assert_msg(mica_add_all(all, Number, {7}) == MICA_OK, "it is added to all");
    ck_assert_msg(mica_query_count(query) == 2000, "and the hook has changed all");
    close_world(world, &heard);
}
END_TEST

static void spawn_another(const mica_event *event)
{
    mica_create(event->world, MICA_WITH(Number, {1}));
}

START_TEST(hooks_that_never_end_are_stopped_with_a_report)
{
    mica_world *world = open_world(&heard);
    mica_hook_set(world, Number, MICA_EVENT_ADD, spawn_another, NULL);
    mica_create(world, MICA_WITH(Number, {1}));
    expect_report(&heard, MICA_ERROR_LIMIT, "hook");
    expect_valid(world);
    mica_hook_set(world, Number, MICA_EVENT_ADD, NULL, NULL);
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number)));
    uint64_t count = mica_query_count(numbers);
    ck_assert_msg(mica_flush(world) == MICA_OK && mica_query_count(numbers) == count, "the rest is dropped");
    ck_assert_msg(mica_is_alive(world, mica_create(world, MICA_WITH(Number, {1}))), "and the world works on");
    close_world(world, &heard);
}
END_TEST

static void flush_inside(const mica_event *event)
{
    mica_result *result = event->context;
    mica_set(event->world, event->entities[0], Mass, {3});
    mica_defer(event->world);
    *result = mica_flush(event->world);
    ck_assert_msg(!mica_has(event->world, event->entities[0], Mass), "the world records until the operation ends");
}

START_TEST(recording_nests_inside_a_hook)
{
    mica_world *world = open_world(&heard);
    mica_result result = MICA_ERROR_INVALID;
    mica_hook_set(world, Number, MICA_EVENT_ADD, flush_inside, &result);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {9}));
    ck_assert_msg(result == MICA_OK, "the inner pair is fine");
    ck_assert_msg(mica_has(world, entity, Mass), "and the change is applied at the end");
    close_world(world, &heard);
}
END_TEST

static void name_the_dying(const mica_event *event)
{
    ck_assert_int_eq(mica_name_set(event->world, event->entities[0], mica_nil(), "late"), MICA_OK);
}

/* The name is set at once, and must go with the entity. */
START_TEST(a_hook_may_name_what_is_destroyed)
{
    for (uint32_t i = 0; i < 2; ++i) {
        mica_world *world = open_world(&heard);
        if (i)
            mica_hook_set_destroy(world, name_the_dying, NULL);
        else
            mica_hook_set(world, Number, MICA_EVENT_REMOVE, name_the_dying, NULL);
        mica_destroy(world, mica_create(world, MICA_WITH(Number, {1})));
        expect_valid(world);
        ck_assert(mica_is_nil(mica_find(world, "late")));
        mica_destroy(world, mica_create(world, MICA_WITH(Number, {2})));
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(hook, a_hook_may_name_what_is_destroyed, each_change_notifies_once, a_hook_sees_the_value_that_comes_or_goes,
           a_changed_and_killed_entity_notifies_rightly, recorded_changes_notify_at_the_flush_with_the_outcome,
           changes_of_other_components_run_no_hooks, births_and_deaths_run_only_hooks_that_are_for_them,
           bulk_calls_notify_with_whole_runs, tags_notify_without_values, a_hook_can_be_taken_away,
           invalid_hooks_are_rejected, changes_made_in_a_hook_are_applied_afterwards,
           a_pointer_from_add_is_good_though_a_hook_moved_the_entity, a_hook_may_create, a_hook_may_destroy_another,
           a_hook_may_destroy_its_own_entity, a_hook_may_take_back_what_was_added, hooks_set_off_further_hooks,
           recording_nests_inside_a_hook, a_hook_may_create_while_everything_goes,
           a_hook_may_change_all_that_are_created_at_once, hooks_that_never_end_are_stopped_with_a_report)
