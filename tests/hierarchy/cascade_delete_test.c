/* What becomes of children when a parent dies, whichever way it dies. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/hierarchy.h"

#include <string.h>

static reports heard;

/*  0 -> 1 -> 2, 3;  0 -> 4;  beside it 5 -> 6. Rows lie in several archetypes. */
enum { NODES = 7 };
static const int parents[NODES] = {-1, 0, 1, 1, 0, -1, 5};

static void plant(mica_world *world, mica_entity *nodes)
{
    for (uint32_t i = 0; i < NODES; ++i) {
        nodes[i] = mica_create(world, MICA_WITH(Number, {i}));
        if (i % 2)
            mica_add(world, nodes[i], Frozen);
        if (parents[i] >= 0)
            mica_set_parent(world, nodes[i], nodes[parents[i]]);
    }
    mica_add(world, nodes[0], Enemy);
}

static void by_destroy(mica_world *world, mica_entity entity)
{
    ck_assert(mica_destroy(world, entity));
}

static void by_destroy_many(mica_world *world, mica_entity entity)
{
    mica_destroy_many(world, &entity, 1);
}

static void by_query(mica_world *world, mica_entity entity)
{
    (void)entity;
    mica_query *enemies = mica_query_create(world, MICA_QUERY(MICA_HAS(Enemy)));
    ck_assert_int_eq(mica_destroy_all(enemies), MICA_OK);
    mica_query_destroy(enemies);
}

static void by_flush(mica_world *world, mica_entity entity)
{
    mica_defer(world);
    ck_assert(mica_destroy(world, entity));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
}

static void by_commands(mica_world *world, mica_entity entity)
{
    mica_commands *commands = mica_commands_create(world), *others = mica_commands_create(world);
    ck_assert(mica_command_destroy(commands, entity));
    ck_assert(!mica_is_nil(mica_command_create(others)));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    mica_commands_destroy(commands);
    mica_commands_destroy(others);
}

static void on_remove(const mica_event *event)
{
    void *victim = event->context;
    mica_entity entity = *(mica_entity *)victim;
    if (mica_is_alive(event->world, entity))
        mica_destroy(event->world, entity);
}

static void by_hook(mica_world *world, mica_entity entity)
{
    mica_entity trigger = mica_create(world, MICA_WITH(Player));
    mica_hook_set(world, Player, MICA_EVENT_REMOVE, on_remove, &entity);
    mica_destroy(world, trigger);
}

static void (*const ways[])(mica_world *, mica_entity) = {by_destroy, by_destroy_many, by_query,
                                                          by_flush,   by_commands,     by_hook};

START_TEST(children_die_with_their_parent_whichever_way_it_dies)
{
    for (size_t way = 0; way < sizeof ways / sizeof *ways; ++way) {
        mica_world *world = open_world(&heard);
        mica_entity nodes[NODES];
        plant(world, nodes);
        ways[way](world, nodes[0]);
        for (uint32_t i = 0; i < NODES; ++i)
            ck_assert_msg(mica_is_alive(world, nodes[i]) == (i >= 5), "node %u, way %zu", i, way);
        ck_assert(mica_same(mica_parent(world, nodes[6]), nodes[5]));
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(children_stay_whichever_way_their_parent_dies)
{
    for (size_t way = 0; way < sizeof ways / sizeof *ways; ++way) {
        mica_world *world = open_world(&heard);
        mica_entity nodes[NODES];
        plant(world, nodes);
        ck_assert_int_eq(mica_set_orphans(world, MICA_ORPHANS_STAY), MICA_OK);
        ways[way](world, nodes[0]);
        for (uint32_t i = 0; i < NODES; ++i)
            ck_assert_msg(mica_is_alive(world, nodes[i]) == (i > 0), "node %u, way %zu", i, way);
        ck_assert(mica_is_nil(mica_parent(world, nodes[1])) && mica_is_nil(mica_next_sibling(world, nodes[1])));
        ck_assert(mica_same(mica_parent(world, nodes[2]), nodes[1]));
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_destruction_may_have_a_word_on_the_children)
{
    for (uint32_t i = 0; i < 8; ++i) {
        mica_orphans usual = i & 1 ? MICA_ORPHANS_STAY : MICA_ORPHANS_DIE;
        mica_orphans word = i & 2 ? MICA_ORPHANS_STAY : MICA_ORPHANS_DIE;
        mica_world *world = open_world(&heard);
        mica_entity nodes[NODES];
        plant(world, nodes);
        mica_set_orphans(world, usual);
        if (i & 4)
            mica_defer(world);
        ck_assert(mica_destroy_with(world, nodes[0], word));
        if (i & 4)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        for (uint32_t node = 1; node < 5; ++node)
            ck_assert(mica_is_alive(world, nodes[node]) == (word == MICA_ORPHANS_STAY));
        mica_destroy(world, nodes[5]); /* the word was for one destruction only */
        ck_assert(mica_is_alive(world, nodes[6]) == (usual == MICA_ORPHANS_STAY));
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(a_word_on_children_holds_when_another_death_comes_from_above)
{
    mica_world *world = open_world(&heard);
    mica_entity nodes[NODES];
    plant(world, nodes);
    mica_defer(world);
    mica_destroy(world, nodes[0]);
    ck_assert(mica_destroy_with(world, nodes[1], MICA_ORPHANS_STAY));
    ck_assert_int_eq(mica_flush(world), MICA_OK);
    static const bool alive[NODES] = {false, false, true, true, false, true, true};
    for (uint32_t i = 0; i < NODES; ++i)
        ck_assert(mica_is_alive(world, nodes[i]) == alive[i]);
    close_world(world, &heard);
}
END_TEST

START_TEST(children_can_be_destroyed_without_their_parent)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_world(&heard);
        mica_entity nodes[NODES];
        plant(world, nodes);
        if (recorded)
            mica_defer(world);
        ck_assert_uint_eq(mica_destroy_children(world, nodes[0]), 2);
        if (recorded)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 3);
        ck_assert(mica_is_alive(world, nodes[0]) && !mica_child_count(world, nodes[0]));
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(destroying_many_counts_those_that_die_along)
{
    mica_world *world = open_world(&heard);
    mica_entity nodes[NODES];
    plant(world, nodes);
    const mica_entity some[] = {nodes[1], nodes[3], nodes[6], nodes[0], nodes[5]};
    ck_assert_uint_eq(mica_destroy_many(world, some, 5), NODES);
    close_world(world, &heard);
}
END_TEST

typedef struct journal {
    char order[64];
    uint32_t count;
    bool with_parent; /* every one still saw its parent */
} journal;

static void on_destroy(const mica_event *event)
{
    journal *journal = event->context;
    for (uint32_t i = 0; i < event->count; ++i) {
        uint32_t number = mica_get(event->world, event->entities[i], Number)->value;
        journal->order[journal->count++] = (char)('0' + number);
        mica_entity parent = mica_parent(event->world, event->entities[i]);
        if (parents[number] >= 0 && mica_get(event->world, parent, Number)->value != (uint32_t)parents[number])
            journal->with_parent = false;
    }
}

START_TEST(hooks_see_children_die_before_their_parents)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_world(&heard);
        mica_entity nodes[NODES];
        plant(world, nodes);
        journal seen = {.with_parent = true};
        mica_hook_set_destroy(world, on_destroy, &seen);
        if (recorded)
            mica_defer(world);
        mica_destroy(world, nodes[0]);
        if (recorded)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_str_eq(seen.order, "23140");
        ck_assert(seen.with_parent);
        mica_hook_set_destroy(world, NULL, NULL);
        close_world(world, &heard);
    }
}
END_TEST

/* The entity gets a child of its own in the moment it dies. */
static void add_a_child(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        mica_create_child(event->world, event->entities[i], MICA_WITH(Letter, {'x'}));
}

START_TEST(a_link_to_an_entity_that_dies_meanwhile_is_dropped_with_a_report)
{
    mica_world *world = open_world(&heard);
    mica_entity nodes[NODES];
    plant(world, nodes);
    mica_hook_set(world, Enemy, MICA_EVENT_REMOVE, add_a_child, NULL);
    mica_destroy(world, nodes[0]);
    expect_report(&heard, MICA_ERROR_DEAD, "not alive at the flush");
    mica_query *letters = mica_query_create(world, MICA_QUERY(MICA_READ(Letter)));
    mica_entity late = mica_query_first(letters);
    ck_assert_msg(mica_is_alive(world, late) && mica_is_nil(mica_parent(world, late)), "it lives, without a parent");
    close_world(world, &heard);
}
END_TEST

START_TEST(values_that_own_memory_die_with_the_tree)
{
    mica_world *world = open_world_of_small_chunks(&heard);
    Text text = text_make("leaf");
    mica_entity root = mica_create(world);
    for (uint32_t i = 0; i < 300; ++i) {
        mica_entity branch =
            i % 3 ? mica_create_child(world, root, MICA_FROM(Text, &text)) : mica_create(world, MICA_FROM(Text, &text));
        mica_create_child(world, branch, MICA_FROM(Text, &text), MICA_WITH(Number, {i}));
    }
    int before = texts_alive;
    ck_assert(mica_destroy(world, root));
    ck_assert_int_eq(before - texts_alive, 400);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 200);
    mica_query *numbers = mica_query_create(world, MICA_QUERY(MICA_READ(Number), MICA_READ(Text)));
    for (mica_view view = mica_query_begin(numbers); mica_view_next(&view);)
        for (uint32_t i = 0; i < view.count; ++i) {
            ck_assert_uint_eq(mica_view_read(&view, Number)[i].value % 3, 0);
            ck_assert_str_eq(mica_view_read(&view, Text)[i].characters, "leaf");
        }
    close_world(world, &heard);
    text_drop(&text);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(a_deep_chain_dies_at_once)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_world(&heard);
        mica_entity first = mica_create(world), last = first;
        for (uint32_t i = 0; i < 20000; ++i)
            last = mica_create_child(world, last, MICA_WITH(Number, {i}));
        ck_assert_uint_eq(mica_depth(world, last), 20000);
        if (recorded)
            mica_defer(world);
        ck_assert(mica_destroy(world, first));
        if (recorded)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        ck_assert_uint_eq(mica_world_get_stats(world).entity_count, 0);
        close_world(world, &heard);
    }
}
END_TEST

START_TEST(the_name_of_an_orphan_finds_a_new_scope_with_its_next_parent)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent), other = mica_create(world);
    mica_name_child(world, parent, "old");
    mica_name_child(world, child, "child");
    mica_name_child(world, other, "new");
    ck_assert(mica_destroy_with(world, parent, MICA_ORPHANS_STAY));
    ck_assert(mica_is_nil(mica_find(world, "old/child")) && mica_is_nil(mica_find(world, "child")));
    ck_assert_str_eq(mica_name_get(world, child), "child");
    ck_assert_int_eq(mica_set_parent(world, child, other), MICA_OK);
    ck_assert(mica_same(mica_find(world, "new/child"), child));
    close_world(world, &heard);
}
END_TEST

START_TEST(there_are_two_choices_for_orphans)
{
    mica_world *world = open_world(&heard);
    ck_assert_int_eq(mica_set_orphans(world, (mica_orphans)2), MICA_ERROR_INVALID);
    expect_report(&heard, MICA_ERROR_INVALID, "orphans must be");
    close_world(world, &heard);
}
END_TEST

typedef struct Cargo { int tons; } Cargo;
static void cargo_destroy(void *value)
{
    ((Cargo *)value)->tons = -1;
}
MICA_COMPONENT_WITH(Cargo, (.destroy_one = cargo_destroy), tons)
typedef struct Insured { int sum; } Insured;
MICA_POOL(Insured, sum)

static int seen_tons;

static void see_cargo(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        seen_tons += mica_get(event->world, event->entities[i], Cargo)->tons;
}

START_TEST(hooks_of_pools_see_the_other_values_of_children_that_die)
{
    for (int recorded = 0; recorded < 2; ++recorded) {
        mica_world *world = open_world(&heard);
        mica_hook_set(world, Insured, MICA_EVENT_REMOVE, see_cargo, NULL);
        mica_entity ship = mica_create(world);
        for (int i = 0; i < 3; ++i)
            mica_create_child(world, ship, MICA_WITH(Cargo, {5}), MICA_WITH(Insured, {i}));
        seen_tons = 0;
        if (recorded)
            mica_defer(world);
        mica_destroy(world, ship);
        mica_flush(world);
        ck_assert_int_eq(seen_tons, 15);
        close_world(world, &heard);
    }
}
END_TEST

TEST_SUITE(cascade_delete, hooks_of_pools_see_the_other_values_of_children_that_die,
           children_die_with_their_parent_whichever_way_it_dies, children_stay_whichever_way_their_parent_dies,
           a_destruction_may_have_a_word_on_the_children, a_word_on_children_holds_when_another_death_comes_from_above,
           children_can_be_destroyed_without_their_parent, destroying_many_counts_those_that_die_along,
           hooks_see_children_die_before_their_parents,
           a_link_to_an_entity_that_dies_meanwhile_is_dropped_with_a_report, values_that_own_memory_die_with_the_tree,
           a_deep_chain_dies_at_once, the_name_of_an_orphan_finds_a_new_scope_with_its_next_parent,
           there_are_two_choices_for_orphans)
