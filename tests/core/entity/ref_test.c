/* References: they stay valid through every kind of move and are NULL after the component is removed. */
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <string.h>

static reports heard;

enum { MANY = 100 };

typedef struct moved_world {
    mica_world *world;
    mica_entity entities[MANY];
} moved_world;

static void move_by_adding(moved_world *moved)
{
    mica_set(moved->world, moved->entities[50], Mass, {1});
}
static void move_by_removing(moved_world *moved)
{
    mica_remove(moved->world, moved->entities[50], Position);
}
static void move_by_trimming(moved_world *moved)
{
    mica_world_trim(moved->world);
}

static void move_by_filling_a_hole(moved_world *moved)
{
    for (uint32_t i = 0; i < 50; ++i)
        mica_destroy(moved->world, moved->entities[i]);
    for (uint32_t i = 51; i < MANY; ++i)
        mica_destroy(moved->world, moved->entities[i]);
}

static void move_by_flush(moved_world *moved)
{
    mica_defer(moved->world);
    mica_add(moved->world, moved->entities[50], Frozen);
    mica_remove(moved->world, moved->entities[50], Position);
    mica_flush(moved->world);
}

static int falling(const void *a, const void *b, void *context)
{
    (void)context;
    return ((const Number *)a)->value < ((const Number *)b)->value ? 1 : -1;
}

static void move_by_sorting(moved_world *moved)
{
    mica_query *query = mica_query_create(moved->world, MICA_QUERY(MICA_READ(Number)));
    mica_query_sort_rows(query, MICA_ID(Number), falling, NULL);
    mica_query_destroy(query);
}

static void move_by_query(moved_world *moved)
{
    mica_query *query = mica_query_create(moved->world, MICA_QUERY(MICA_READ(Number)));
    mica_add_all(query, Velocity, {1, 2, 3});
    mica_query_destroy(query);
}

static void move_by_growth(moved_world *moved)
{
    for (uint32_t i = 0; i < 2000; ++i)
        mica_create(moved->world, MICA_WITH(Number, {i + 1000}), MICA_WITH(Position));
}

START_TEST(a_ref_follows_through_every_move)
{
    void (*const moves[])(moved_world *) = {move_by_adding, move_by_removing, move_by_filling_a_hole,
                                            move_by_flush,  move_by_sorting,  move_by_query,
                                            move_by_growth, move_by_trimming};
    for (uint32_t move = 0; move < COUNT_OF(moves); ++move) {
        moved_world moved = {.world = open_world_of_small_chunks(&heard)};
        for (uint32_t i = 0; i < MANY; ++i)
            moved.entities[i] = mica_create(moved.world, MICA_WITH(Number, {i}), MICA_WITH(Position));
        mica_ref ref = mica_ref_of(moved.entities[50], Number), untouched = mica_ref_of(moved.entities[50], Number);
        ck_assert_msg(mica_ref_read(moved.world, &ref, Number)->value == 50, "it finds the component");
        moves[move](&moved);
        ck_assert_msg(mica_ref_read(moved.world, &ref, Number) == mica_get(moved.world, moved.entities[50], Number),
                      "it finds it where it is after move %u", move);
        ck_assert_msg(mica_ref_read(moved.world, &ref, Number)->value == 50, "with its value after move %u", move);
        ck_assert_msg(mica_ref_read(moved.world, &untouched, Number)->value == 50,
                      "one that was not used yet finds it too");
        mica_ref_write(moved.world, &ref, Number)->value = 77;
        ck_assert_msg(mica_get(moved.world, moved.entities[50], Number)->value == 77, "and writes it after move %u",
                      move);
        close_world(moved.world, &heard);
    }
}
END_TEST

START_TEST(a_ref_is_null_after_removal)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {5}), MICA_WITH(Position));
    mica_entity other = mica_create(world, MICA_WITH(Number, {6}), MICA_WITH(Position));
    mica_ref ref = mica_ref_of(entity, Number);
    ck_assert_msg(mica_ref_read(world, &ref, Number)->value == 5, "it finds the component");
    mica_remove(world, entity, Number);
    ck_assert_msg(mica_ref_read(world, &ref, Number) == NULL, "nothing to read");
    ck_assert_msg(mica_ref_write(world, &ref, Number) == NULL, "nothing to write");
    mica_set(world, entity, Number, {8});
    ck_assert_msg(mica_ref_read(world, &ref, Number)->value == 8, "it finds it when it is back");
    mica_destroy(world, entity);
    ck_assert_msg(mica_ref_read(world, &ref, Number) == NULL, "nor after death");
    mica_create(world, MICA_WITH(Number, {9}), MICA_WITH(Position));
    ck_assert_msg(mica_ref_read(world, &ref, Number) == NULL, "nor when another has the slot");
    ck_assert_msg(mica_get(world, other, Number)->value == 6, "the other is untouched");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_ref_may_be_made_before_its_component)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world);
    mica_ref ref = mica_ref_of(entity, Number), nothing = {0};
    ck_assert_msg(mica_ref_read(world, &ref, Number) == NULL, "it is not there yet");
    mica_set(world, entity, Number, {5});
    ck_assert_msg(mica_ref_read(world, &ref, Number)->value == 5, "now it is");
    ck_assert_msg(mica_ref_read(world, &nothing, Number) == NULL, "zero refers to nothing");
    ck_assert_msg(mica_ref_write(world, &nothing, Number) == NULL, "to write either");
    forget_reports(&heard);
    close_world(world, &heard);
}
END_TEST

START_TEST(assigning_a_ref_to_itself_or_to_others_is_safe)
{
    mica_world *world = open_world(&heard);
    mica_entity first = mica_create(world, MICA_WITH(Number, {1})), second = mica_create(world, MICA_WITH(Number, {2}));
    mica_ref a = mica_ref_of(first, Number), b = mica_ref_of(second, Number);
    mica_ref_read(world, &a, Number);
    mica_ref *self = &a;
    a = *self;
    ck_assert_msg(mica_ref_read(world, &a, Number)->value == 1, "assigned to itself");
    mica_ref copy = a;
    mica_set(world, first, Mass, {1});
    ck_assert_msg(mica_ref_read(world, &copy, Number)->value == 1, "a copy follows too");
    a = b;
    ck_assert_msg(mica_ref_read(world, &a, Number)->value == 2, "assigned from another");
    ck_assert_msg(mica_ref_read(world, &copy, Number)->value == 1, "the copy is its own");
    mica_destroy(world, second);
    ck_assert_msg(mica_ref_read(world, &a, Number) == NULL && mica_ref_read(world, &b, Number) == NULL,
                  "both see the end");
    close_world(world, &heard);
}
END_TEST

START_TEST(a_ref_works_in_whatever_world_it_is_used)
{
    reports heard_by_other;
    mica_world *world = open_world(&heard), *other = open_world(&heard_by_other);
    mica_entity entity = mica_create(world, MICA_WITH(Number, {1})), twin = mica_create(other, MICA_WITH(Number, {2}));
    ck_assert_msg(mica_same(entity, twin), "first handles are alike in all worlds");
    mica_ref ref = mica_ref_of(entity, Number);
    for (int i = 0; i < 3; ++i) {
        ck_assert_msg(mica_ref_read(world, &ref, Number)->value == 1, "here it is one");
        ck_assert_msg(mica_ref_read(other, &ref, Number)->value == 2, "there it is another");
    }
    close_world(other, &heard_by_other);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(ref, a_ref_follows_through_every_move, a_ref_is_null_after_removal, a_ref_may_be_made_before_its_component,
           assigning_a_ref_to_itself_or_to_others_is_safe, a_ref_works_in_whatever_world_it_is_used)
