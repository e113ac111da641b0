/* Links recorded, and made by the flush. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"

#include <pthread.h>

static reports heard;

START_TEST(recorded_links_are_made_by_the_flush_in_order)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    mica_defer(world);
    ck_assert_int_eq(mica_set_parent(world, b, a), MICA_OK);
    ck_assert_int_eq(mica_set_parent(world, c, b), MICA_OK);
    ck_assert_int_eq(mica_set_parent(world, c, a), MICA_OK);
    ck_assert_int_eq(mica_place_before(world, c, b), MICA_OK);
    ck_assert_msg(mica_is_nil(mica_parent(world, b)), "until then the tree is as it was");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(mica_same(mica_first_child(world, a), c) && mica_same(mica_last_child(world, a), b));
    ck_assert_uint_eq(mica_child_count(world, b), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(entities_are_linked_before_they_are_born)
{
    mica_world *world = open_world(&heard);
    mica_commands *commands = mica_commands_create(world);
    mica_entity root = mica_command_create(commands, MICA_WITH(Number, {0}));
    mica_entity child = mica_command_create(commands, MICA_WITH(Number, {1}));
    ck_assert(mica_command_set_parent(commands, child, root));
    mica_defer(world);
    mica_entity other = mica_create_child(world, root, MICA_WITH(Number, {2}));
    ck_assert(!mica_is_nil(other));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(mica_child_count(world, root), 2);
    ck_assert_msg(mica_same(mica_first_child(world, root), other), "the world's own buffer comes first");
    ck_assert(mica_get(world, child, Number)->value == 1 && mica_get(world, other, Number)->value == 2);
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(what_is_given_up_before_it_is_born_leaves_no_link)
{
    for (int way = 0; way < 3; ++way) {
        mica_world *world = open_world(&heard);
        mica_entity parent = mica_create(world), below = mica_create(world);
        mica_commands *commands = mica_commands_create(world);
        mica_entity unborn = mica_command_create(commands, MICA_WITH(Number, {1}));
        if (way == 0) { /* linked and destroyed in one recording */
            ck_assert(mica_command_set_parent(commands, unborn, parent));
            ck_assert(mica_command_set_parent(commands, below, unborn));
            ck_assert(mica_command_destroy_with(commands, unborn, MICA_ORPHANS_STAY));
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        } else if (way == 1) { /* linked by another buffer, dropped with its own */
            mica_defer(world);
            ck_assert_int_eq(mica_set_parent(world, unborn, parent), MICA_OK);
            ck_assert_int_eq(mica_set_parent(world, below, unborn), MICA_OK);
            mica_commands_destroy(commands);
            ck_assert_int_eq(mica_flush(world), MICA_OK);
            expect_report(&heard, MICA_ERROR_DEAD, "not alive at the flush");
            expect_report(&heard, MICA_ERROR_DEAD, "not alive at the flush");
        } else { /* dies with the parent it was linked to */
            ck_assert(mica_command_set_parent(commands, unborn, parent));
            ck_assert(mica_command_destroy(commands, parent));
            ck_assert_int_eq(mica_flush(world), MICA_OK);
            ck_assert(!mica_is_alive(world, parent));
        }
        ck_assert(!mica_is_alive(world, unborn));
        ck_assert(mica_is_nil(mica_parent(world, below)) && mica_is_alive(world, below));
        ck_assert_uint_eq(mica_child_count(world, parent), 0);
        close_world(world, &heard);
    }
}
END_TEST

/* A hook links while another buffer still holds the creation: the hook's changes are applied without that buffer. */
static void link_unborn(const mica_event *event)
{
    const mica_entity *pair = event->context;
    mica_set_parent(event->world, pair[0], pair[1]);
}

START_TEST(a_link_to_what_another_buffer_creates_lasts_or_goes_with_it)
{
    for (int way = 0; way < 3; ++way) {
        mica_world *world = open_world(&heard);
        mica_commands *commands = mica_commands_create(world);
        mica_entity pair[2] = {mica_command_create(commands), mica_create(world)};
        mica_hook_set(world, Frozen, MICA_EVENT_ADD, link_unborn, pair);
        mica_create(world, MICA_WITH(Frozen));
        ck_assert(mica_same(mica_parent(world, pair[0]), pair[1]));
        if (way == 0) {
            mica_commands_destroy(commands);
            ck_assert_uint_eq(mica_child_count(world, pair[1]), 0);
        } else if (way == 1) {
            ck_assert_int_eq(mica_flush(world), MICA_OK);
            ck_assert(mica_same(mica_parent(world, pair[0]), pair[1]));
        } else {
            ck_assert(mica_destroy(world, pair[1]));
            ck_assert(mica_is_nil(mica_parent(world, pair[0])));
            ck_assert_int_eq(mica_flush(world), MICA_OK);
            ck_assert_msg(mica_is_alive(world, pair[0]), "its buffer has the last word on it");
        }
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_change_that_is_invalid_at_the_flush_is_dropped_with_its_location)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), b = mica_create(world), c = mica_create(world);
    mica_commands *commands = mica_commands_create(world);
    mica_commands_set_label(commands, "gardener");
    ck_assert(mica_command_set_parent(commands, b, a));
    int line = __LINE__ + 1;
    ck_assert(mica_command_set_parent(commands, a, b));
    ck_assert(mica_command_set_parent(commands, c, b));
    ck_assert_int_eq(mica_flush(world), MICA_ERROR_INVALID);
    const heard_report *report = expect_report(&heard, MICA_ERROR_INVALID, "its own ancestor");
    ck_assert_int_eq(report->line, line);
    ck_assert_msg(mica_same(mica_parent(world, c), b) && mica_same(mica_parent(world, b), a), "the others are made");
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(mistakes_are_told_when_they_are_recorded)
{
    mica_world *world = open_world(&heard);
    mica_entity a = mica_create(world), dead = mica_create(world);
    mica_destroy(world, dead);
    mica_commands *commands = mica_commands_create(world);
    ck_assert(!mica_command_set_parent(commands, a, a));
    expect_report(&heard, MICA_ERROR_INVALID, "itself");
    ck_assert(!mica_command_set_parent(commands, dead, a));
    expect_report(&heard, MICA_ERROR_DEAD, "not alive");
    ck_assert(!mica_command_set_parent(commands, a, dead));
    expect_report(&heard, MICA_ERROR_DEAD, "not alive");
    ck_assert(!mica_command_place_before(commands, a, mica_nil()));
    expect_report(&heard, MICA_ERROR_DEAD, "not alive");
    mica_entity b = mica_create(world);
    ck_assert(mica_command_destroy(commands, b));
    ck_assert(!mica_command_set_parent(commands, a, b));
    expect_report(&heard, MICA_ERROR_DEAD, "destroyed by an earlier recorded change");
    ck_assert(!mica_command_destroy_with(commands, b, MICA_ORPHANS_STAY));
    expect_report(&heard, MICA_ERROR_DEAD, "destroyed by an earlier recorded change");
    mica_defer(world);
    const mica_entity children[] = {a, dead};
    ck_assert_int_eq(mica_set_parents(world, children, (mica_entity[]){mica_create(world), a}, 2), MICA_ERROR_DEAD);
    expect_report(&heard, MICA_ERROR_DEAD, "not alive");
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_msg(mica_is_nil(mica_parent(world, a)), "of a list none was recorded");
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_link_for_the_dead_follows_the_policy_of_the_world)
{
    static const mica_dead_target policies[] = {MICA_DEAD_TARGET_WARN, MICA_DEAD_TARGET_IGNORE, MICA_DEAD_TARGET_ERROR};
    for (size_t i = 0; i < 3; ++i) {
        mica_world_def def = mica_world_def_default();
        def.dead_target = policies[i];
        mica_world *world = open_world_with(&heard, def);
        mica_entity parent = mica_create(world), child = mica_create(world), other = mica_create(world);
        mica_commands *commands = mica_commands_create(world);
        ck_assert(mica_command_set_parent(commands, other, child));
        ck_assert(mica_command_set_parent(commands, child, parent));
        mica_destroy(world, parent);
        bool refused = policies[i] == MICA_DEAD_TARGET_ERROR;
        ck_assert_int_eq(mica_flush(world), refused ? MICA_ERROR_DEAD : MICA_OK);
        if (policies[i] != MICA_DEAD_TARGET_IGNORE)
            expect_report(&heard, MICA_ERROR_DEAD, "not alive at the flush");
        ck_assert_msg(mica_is_nil(mica_parent(world, other)) == refused, "a flush that is refused makes no link");
        mica_commands_destroy(commands);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(what_was_recorded_for_one_that_died_at_once_is_not_done)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent), other = mica_create(world);
    mica_commands *commands = mica_commands_create(world);
    ck_assert(mica_command_destroy_with(commands, parent, MICA_ORPHANS_STAY));
    ck_assert(mica_command_set_parent(commands, other, child));
    mica_destroy(world, other);
    mica_destroy_with(world, parent, MICA_ORPHANS_STAY);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(forget_reports(&heard), 2); /* the destruction, and the link: a word says nothing itself */
    ck_assert(mica_is_alive(world, child) && mica_child_count(world, child) == 0);
    mica_defer(world);
    ck_assert(mica_is_nil(mica_create_child(world, other))); /* of the dead */
    mica_flush(world);
    expect_report(&heard, MICA_ERROR_DEAD, "create_child");
    mica_commands_destroy(commands);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_flush_that_a_seal_refuses_takes_links_and_names_back)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent), other = mica_create(world);
    mica_entity sibling = mica_create_child(world, parent);
    mica_name_child(world, parent, "parent");
    mica_name_child(world, child, "child");
    mica_name_child(world, other, "other");
    uint64_t before = mica_world_hash(world);
    mica_world_seal(world, true);
    mica_defer(world);
    mica_set_parent(world, child, other);
    mica_set_parent(world, other, sibling);
    mica_place_before(world, child, sibling);
    mica_destroy_with(world, sibling, MICA_ORPHANS_STAY);
    mica_add(world, parent, Number);
    ck_assert_int_eq(mica_flush(world), MICA_ERROR_REFUSED);
    ck_assert(forget_reports(&heard) > 0);
    ck_assert_msg(mica_world_hash(world) == before, "all is as it was");
    expect_valid(world);
    mica_world_seal(world, false);
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(mica_same(mica_find(world, "parent/child"), child) && mica_is_nil(mica_parent(world, other)));
    ck_assert(!mica_is_alive(world, sibling) && mica_has(world, parent, Number));
    close_world(world, &heard);
}
END_TEST

static uint32_t sets;
static void count_sets(const mica_event *event)
{
    sets += event->count;
}

START_TEST(nothing_else_happens_to_one_that_dies_with_its_parent_in_the_same_flush)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent), late = mica_create(world);
    Text text = text_make("never");
    mica_hook_set(world, Number, MICA_EVENT_SET, count_sets, NULL);
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    mica_command_set(first, child, Number, {1});
    mica_command_set_from(first, late, Text, &text);
    mica_command_set_parent(first, late, parent);
    mica_entity born = mica_command_create(first, MICA_FROM(Text, &text), MICA_WITH(Number, {2}));
    mica_command_set_parent(first, born, child);
    mica_command_destroy(second, parent);
    mica_command_set(second, child, Number, {3});
    sets = 0;
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert_uint_eq(sets, 0);
    ck_assert(!mica_is_alive(world, child) && !mica_is_alive(world, late) && !mica_is_alive(world, born));
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
    mica_commands_destroy(first);
    mica_commands_destroy(second);
    close_world(world, &heard);
    text_drop(&text);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(a_child_that_is_taken_away_in_time_survives)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent);
    mica_commands *first = mica_commands_create(world), *second = mica_commands_create(world);
    mica_command_destroy(first, parent);
    mica_command_set_parent(second, child, mica_nil());
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    ck_assert(mica_is_alive(world, child) && !mica_is_alive(world, parent));
    mica_commands_destroy(first);
    mica_commands_destroy(second);
    close_world(world, &heard);
}
END_TEST

enum { THREADS = 4, EACH = 200 };

typedef struct task {
    mica_commands *commands;
    const mica_entity *nodes;
    uint32_t number;
} task;

static void *record(void *context)
{
    const task *task = context;
    for (uint32_t i = 0; i < EACH; ++i) {
        mica_entity born = mica_command_create(task->commands, MICA_WITH(Number, {task->number * EACH + i}));
        mica_command_set_parent(task->commands, born, task->nodes[i % 8]);
        mica_command_set_parent(task->commands, task->nodes[8 + i % 8], born);
    }
    return NULL;
}

START_TEST(threads_record_links_and_the_outcome_is_always_the_same)
{
    uint64_t expected = 0;
    for (int round = 0; round < 5; ++round) {
        mica_world *world = open_world(&heard);
        mica_entity nodes[16];
        for (uint32_t i = 0; i < 16; ++i)
            nodes[i] = mica_create(world);
        task tasks[THREADS];
        pthread_t threads[THREADS];
        for (uint32_t i = 0; i < THREADS; ++i)
            tasks[i] = (task){mica_commands_create(world), nodes, i};
        for (uint32_t i = 0; i < THREADS; ++i)
            if (round == 0)
                record(&tasks[i]);
            else
                ck_assert_int_eq(pthread_create(&threads[i], NULL, record, &tasks[i]), 0);
        for (uint32_t i = 0; round && i < THREADS; ++i)
            pthread_join(threads[i], NULL);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        uint64_t hash = mica_world_hash(world);
        ck_assert(round == 0 || hash == expected);
        expected = hash;
        close_world(world, &heard);
    }
}
END_TEST

/* A few hundred links, as many as are kept in several blocks. */
static void relink(mica_world *world, const mica_entity *all, uint32_t count, uint32_t step)
{
    for (uint32_t i = 1; i < count; ++i)
        ck_assert_int_eq(mica_set_parent(world, all[i], i % step ? all[i / step * step] : mica_nil()), MICA_OK);
}

START_TEST(links_come_back_with_any_of_several_snapshots)
{
    enum { ALL = 300, TIMES = 4 };
    static const uint32_t order[] = {1, 3, 0, 2, 0, 3, 1};
    mica_world *world = open_world(&heard);
    mica_entity all[ALL];
    mica_snapshot snapshots[TIMES];
    uint64_t hashes[TIMES];
    for (uint32_t i = 0; i < ALL; ++i)
        all[i] = mica_create(world);
    for (uint32_t i = 0; i < TIMES; ++i) {
        relink(world, all, ALL, 3 + i);
        hashes[i] = mica_world_hash(world);
        snapshots[i] = mica_snapshot_take(world);
    }
    for (uint32_t i = 0; i < COUNT_OF(order); ++i) {
        relink(world, all, ALL / 2, 11);
        ck_assert_int_eq(mica_snapshot_restore(world, snapshots[order[i]]), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hashes[order[i]]);
        expect_valid(world);
    }
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(record, links_come_back_with_any_of_several_snapshots, recorded_links_are_made_by_the_flush_in_order,
           entities_are_linked_before_they_are_born, what_is_given_up_before_it_is_born_leaves_no_link,
           a_link_to_what_another_buffer_creates_lasts_or_goes_with_it,
           a_change_that_is_invalid_at_the_flush_is_dropped_with_its_location, mistakes_are_told_when_they_are_recorded,
           a_link_for_the_dead_follows_the_policy_of_the_world, what_was_recorded_for_one_that_died_at_once_is_not_done,
           a_flush_that_a_seal_refuses_takes_links_and_names_back,
           nothing_else_happens_to_one_that_dies_with_its_parent_in_the_same_flush,
           a_child_that_is_taken_away_in_time_survives, threads_record_links_and_the_outcome_is_always_the_same)
