/* Trees as a part of the world: snapshots, clones, and memory that is given back. */
#include "../support/components.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/snapshot.h"
#include "mica/transform.h"

static reports heard;

START_TEST(a_snapshot_takes_links_back_whatever_was_restored_before)
{
    mica_world *world = open_world(&heard);
    mica_snapshot bare = mica_snapshot_take(world); /* before there was a tree */
    ck_assert_int_eq(mica_set_orphans(world, MICA_ORPHANS_STAY), MICA_OK);
    mica_entity nodes[40];
    for (uint32_t i = 0; i < 40; ++i)
        nodes[i] = mica_create(world, MICA_WITH(Number, {i}));
    for (uint32_t i = 1; i < 40; ++i)
        mica_set_parent(world, nodes[i], nodes[i / 2]);
    mica_snapshot snapshots[3];
    uint64_t hashes[3];
    for (uint32_t i = 0; i < 3; ++i) {
        snapshots[i] = mica_snapshot_take(world);
        hashes[i] = mica_world_hash(world);
        mica_set_parent(world, nodes[30 + i], nodes[2]);
        mica_detach_children(world, nodes[5 + i]);
    }
    static const uint32_t order[] = {0, 2, 1, 2, 0, 1};
    for (uint32_t i = 0; i < COUNT_OF(order); ++i) { /* what is newer than the one restored is kept */
        ck_assert_int_eq(mica_snapshot_restore(world, snapshots[order[i]]), MICA_OK);
        ck_assert(mica_world_hash(world) == hashes[order[i]]);
        expect_valid(world);
    }
    ck_assert_int_eq(mica_snapshot_restore(world, bare), MICA_OK);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent);
    mica_destroy(world, parent);
    ck_assert_msg(!mica_is_alive(world, child), "orphans die by default");
    close_world(world, &heard);
}
END_TEST

/* They die as runs of rows, with what they own. */
START_TEST(children_that_own_something_come_back_with_it)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), children[50];
    for (uint32_t i = 0; i < COUNT_OF(children); ++i) {
        children[i] = mica_create_child(world, parent);
        Text text = text_make("a name of some length");
        ck_assert(mica_set_from(world, children[i], Text, &text));
        text_drop(&text);
    }
    mica_snapshot before = mica_snapshot_take(world);
    uint64_t hash = mica_world_hash(world);
    for (uint32_t round = 0; round < 2; ++round) {
        ck_assert(mica_destroy(world, parent) && !mica_is_alive(world, children[7]));
        ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
        ck_assert_uint_eq(mica_world_hash(world), hash);
        for (uint32_t i = 0; i < COUNT_OF(children); ++i)
            ck_assert_str_eq(mica_get(world, children[i], Text)->characters, "a name of some length");
        expect_valid(world);
    }
    close_world(world, &heard);
    ck_assert_int_eq(texts_alive, 0);
}
END_TEST

START_TEST(a_word_on_children_is_taken_back_with_the_death_it_came_with)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent);
    mica_snapshot before = mica_snapshot_take(world);
    ck_assert(mica_destroy_with(world, parent, MICA_ORPHANS_STAY));
    ck_assert(mica_is_alive(world, child));
    ck_assert_int_eq(mica_snapshot_restore(world, before), MICA_OK);
    ck_assert(mica_same(mica_parent(world, child), parent));
    mica_destroy(world, parent);
    ck_assert(!mica_is_alive(world, child));
    close_world(world, &heard);
}
END_TEST

static mica_entity add_node(mica_world *world, mica_entity parent, float x)
{
    mica_entity node = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(x, 0, 0)), MICA_WITH(mica_global_matrix));
    if (!mica_is_nil(parent))
        mica_set_parent(world, node, parent);
    return node;
}

static float x_of(mica_world *world, mica_entity node)
{
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    return mica_get(world, node, mica_global_matrix)->x[3];
}

START_TEST(matrices_follow_a_snapshot_that_had_not_seen_all_that_moved)
{
    mica_world *world = open_world(&heard);
    mica_snapshot bare = mica_snapshot_take(world);
    mica_entity parent = add_node(world, mica_nil(), 10), child = add_node(world, parent, 1);
    ck_assert(x_of(world, child) == 11);
    mica_write(world, parent, mica_local)->position[0] = 20; /* moved, and not updated */
    mica_snapshot moved = mica_snapshot_take(world);
    ck_assert(x_of(world, child) == 21);
    mica_snapshot still = mica_snapshot_take(world);
    mica_write(world, parent, mica_local)->position[0] = 30;
    ck_assert(x_of(world, child) == 31);
    ck_assert_int_eq(mica_snapshot_restore(world, moved), MICA_OK);
    ck_assert(x_of(world, child) == 21);
    mica_snapshot_restore(world, still);
    mica_write(world, child, mica_local)->position[0] = 2;
    ck_assert(x_of(world, child) == 22);
    mica_set_parent(world, child, mica_nil()); /* linked elsewhere, and not updated */
    mica_snapshot linked = mica_snapshot_take(world);
    ck_assert(x_of(world, child) == 2);
    mica_snapshot_restore(world, linked);
    ck_assert(x_of(world, child) == 2);
    mica_snapshot_restore(world, bare);
    parent = add_node(world, mica_nil(), 5);
    ck_assert(x_of(world, add_node(world, parent, 1)) == 6);
    close_world(world, &heard);
}
END_TEST

START_TEST(trees_over_indices_far_apart_have_their_places)
{
    mica_world *world = open_world(&heard);
    mica_entity near = add_node(world, mica_nil(), 1);
    ck_assert(x_of(world, near) == 1);
    ck_assert_int_eq(mica_create_many(world, 5000, NULL, 0, NULL), MICA_OK);
    mica_entity folder = mica_create(world); /* beyond all that have a matrix, and without one */
    mica_set_parent(world, near, folder);
    ck_assert(x_of(world, near) == 1);
    mica_remove(world, near, mica_local); /* the order is made anew, twice */
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    mica_set(world, near, mica_local, MICA_LOCAL_AT(3, 0, 0));
    ck_assert(x_of(world, near) == 3);
    ck_assert(x_of(world, add_node(world, near, 4)) == 7); /* there is no room for such an index */
    ck_assert_uint_gt(mica_world_trim(world), 0);
    mica_remove(world, near, mica_local);
    mica_set(world, near, mica_local, MICA_LOCAL_AT(8, 0, 0));
    ck_assert(x_of(world, near) == 8);
    mica_entity stranger = mica_create(world);
    ck_assert(mica_is_nil(mica_tree_skip(world, folder, mica_create_child(world, stranger)))); /* not below it */
    close_world(world, &heard);
}
END_TEST

START_TEST(a_clone_has_the_tree_without_empty_pages)
{
    mica_world *world = open_world(&heard);
    mica_entity first = mica_create(world), lone = mica_create_child(world, first);
    ck_assert_int_eq(mica_create_many(world, 3000, NULL, 0, NULL), MICA_OK);
    mica_entity parent = mica_create(world), child = mica_create_child(world, parent);
    mica_set_orphans(world, MICA_ORPHANS_STAY);
    mica_set_parent(world, lone, mica_nil());
    mica_world *clone = mica_world_clone(world);
    ck_assert(mica_world_hash(clone) == mica_world_hash(world));
    ck_assert(mica_same(mica_parent(clone, child), parent) && mica_is_nil(mica_parent(clone, lone)));
    mica_destroy(clone, parent);
    ck_assert(mica_is_alive(clone, child) && mica_same(mica_parent(world, child), parent));
    ck_assert_int_eq(mica_world_validate(clone), MICA_OK);
    mica_world_destroy(clone);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(state, a_snapshot_takes_links_back_whatever_was_restored_before,
           children_that_own_something_come_back_with_it, a_word_on_children_is_taken_back_with_the_death_it_came_with,
           matrices_follow_a_snapshot_that_had_not_seen_all_that_moved, trees_over_indices_far_apart_have_their_places,
           a_clone_has_the_tree_without_empty_pages)
