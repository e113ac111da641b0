/* Copies of an entity with its descendants. */
#include "../support/components.h"
#include "../support/faulty_allocator.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/disable.h"
#include "mica/hierarchy.h"

#include <stdio.h>

static reports heard;

/* A root with children 1 (which has 2 and 3), 4 and 5 (which has 6). */
static mica_entity make_tree(mica_world *world)
{
    mica_entity root = mica_create(world, MICA_WITH(Number, {0}), MICA_WITH(Mass, {7}));
    mica_entity one = mica_create_child(world, root, MICA_WITH(Number, {1}));
    mica_create_child(world, one, MICA_WITH(Number, {2}), MICA_WITH(Position, {1, 2, 3}));
    mica_create_child(world, one, MICA_WITH(Number, {3}));
    mica_create_child(world, root, MICA_WITH(Number, {4}));
    mica_entity five = mica_create_child(world, root, MICA_WITH(Number, {5}));
    mica_create_child(world, five, MICA_WITH(Number, {6}));
    return root;
}

/* The numbers of a tree with its depths. */
static const char *text_of(mica_world *world, mica_entity root)
{
    static char text[200];
    text[0] = '\0';
    for (mica_entity at = root; !mica_is_nil(at); at = mica_tree_next(world, root, at)) {
        char part[16];
        snprintf(part, sizeof part, "%u:%u ", mica_depth(world, at) - mica_depth(world, root),
                 mica_get(world, at, Number)->value);
        strcat(text, part);
    }
    return text;
}

static const char expected[] = "0:0 1:1 2:2 2:3 1:4 1:5 2:6 ";

START_TEST(a_tree_is_cloned_with_its_links_and_its_order)
{
    mica_world *world = open_world(&heard);
    mica_entity top = mica_create(world, MICA_WITH(Number, {100})), root = make_tree(world);
    mica_set_parent(world, root, top);
    mica_name_child(world, root, "tree");
    mica_entity clone = mica_clone_tree(world, root);
    ck_assert(!mica_same(clone, root) && mica_is_nil(mica_parent(world, clone)) && !mica_name_get(world, clone));
    ck_assert_str_eq(text_of(world, clone), expected);
    ck_assert_str_eq(text_of(world, root), expected);
    ck_assert(mica_get(world, clone, Mass)->value == 7);
    mica_entity leaf = mica_first_child(world, mica_first_child(world, clone));
    ck_assert(mica_get(world, leaf, Position)->z == 3);
    mica_write(world, leaf, Number)->value = 9;
    ck_assert_str_eq(text_of(world, root), expected);
    ck_assert_uint_eq(mica_child_count(world, top), 1);
    mica_entity inner = mica_clone_tree(world, mica_first_child(world, root)); /* a part of it */
    ck_assert_str_eq(text_of(world, inner), "0:1 1:2 1:3 ");
    mica_entity single = mica_clone_tree(world, leaf); /* a tree of one */
    ck_assert_str_eq(text_of(world, single), "0:9 ");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_recorded_clone_of_a_tree_is_made_by_the_flush)
{
    mica_world *world = open_world(&heard);
    mica_entity root = make_tree(world);
    mica_tree_disable(world, root);
    mica_defer(world);
    mica_entity clone = mica_clone_tree(world, root);
    ck_assert(!mica_is_nil(clone) && !mica_has(world, clone, Number)); /* not yet */
    mica_flush(world);
    ck_assert_str_eq(text_of(world, clone), expected);
    ck_assert_uint_eq(mica_tree_enable(world, clone), 7); /* disabled as the original is */
    close_world(world, &heard);
}
END_TEST

START_TEST(a_tree_of_the_dead_is_not_cloned)
{
    mica_world *world = open_world(&heard);
    mica_entity root = make_tree(world);
    mica_destroy(world, root);
    ck_assert(mica_is_nil(mica_clone_tree(world, root)));
    expect_report(&heard, MICA_ERROR_DEAD, "clone_tree");
    close_world(world, &heard);
}
END_TEST

/* Destroys what is copied from the entity with the number 3. */
static void kill_three(const mica_event *event)
{
    for (uint32_t i = 0; i < event->count; ++i)
        if (mica_get(event->world, event->entities[i], Number)->value == 3)
            mica_destroy(event->world, event->entities[i]);
}

START_TEST(if_a_hook_destroys_a_copy_nothing_is_created)
{
    mica_world *world = open_world(&heard);
    mica_entity root = make_tree(world);
    mica_hook_set(world, Number, MICA_EVENT_ADD, kill_three, NULL);
    uint64_t count = mica_world_get_stats(world).entity_count;
    ck_assert(mica_is_nil(mica_clone_tree(world, root)));
    ck_assert_uint_gt(forget_reports(&heard), 0);
    ck_assert_uint_eq(mica_world_get_stats(world).entity_count, count);
    ck_assert_str_eq(text_of(world, root), expected);
    close_world(world, &heard);
}
END_TEST

START_TEST(cloning_a_tree_is_all_or_nothing_at_every_allocation)
{
    for (uint32_t recorded = 0; recorded < 2; ++recorded) {
        bool done = false;
        uint32_t failed = 0;
        for (uint64_t k = 1; !done; ++k) {
            faulty_allocator faulty;
            faulty_allocator_init(&faulty);
            mica_world_def def = mica_world_def_default();
            def.allocator = faulty_allocator_interface(&faulty);
            mica_world *world = open_world_with(&heard, def);
            mica_entity root = make_tree(world);
            uint64_t hash = mica_world_hash_content(world);
            if (recorded)
                mica_defer(world);
            faulty_allocator_fail_at(&faulty, k, false);
            mica_entity clone = mica_clone_tree(world, root);
            done = faulty.failures == 0;
            faulty_allocator_fail_at(&faulty, 0, false);
            if (recorded)
                ck_assert_int_eq(mica_flush(world), MICA_OK);
            ck_assert(!mica_is_nil(clone) || mica_world_hash_content(world) == hash);
            if (!mica_is_nil(clone))
                ck_assert_str_eq(text_of(world, clone), expected);
            failed += mica_is_nil(clone);
            clone = mica_clone_tree(world, root);
            ck_assert_str_eq(text_of(world, clone), expected);
            forget_reports(&heard);
            close_world(world, &heard);
            faulty_allocator_free(&faulty);
        }
        ck_assert_uint_gt(failed, 0);
    }
}
END_TEST

TEST_SUITE(clone_tree, a_tree_is_cloned_with_its_links_and_its_order, a_recorded_clone_of_a_tree_is_made_by_the_flush,
           a_tree_of_the_dead_is_not_cloned, if_a_hook_destroys_a_copy_nothing_is_created,
           cloning_a_tree_is_all_or_nothing_at_every_allocation)
