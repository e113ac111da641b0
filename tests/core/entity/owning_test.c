/* Components with functions for one value, in every storage: every value that is made is destroyed once. */
#include "support/reports.h"
#include "support/test.h"

#include "mica/batch.h"
#include "mica/bulk.h"
#include "mica/command.h"
#include "mica/hierarchy.h"
#include "mica/snapshot.h"

#include <stdlib.h>

static reports heard;
static int alive;
static int copies_left;

typedef struct Box { int *content; int size; } Box;

static void box_destroy(void *value)
{
    Box *box = value;
    alive -= box->content != NULL;
    free(box->content);
}

static bool box_copy(void *to, const void *from)
{
    const Box *box = from;
    if (copies_left-- == 0)
        return false;
    *(Box *)to = *box;
    if (!box->content)
        return true;
    ((Box *)to)->content = malloc(sizeof(int));
    *((Box *)to)->content = *box->content;
    ++alive;
    return true;
}

#define OWNS .destroy_one = box_destroy, .copy_one = box_copy
MICA_COMPONENT_WITH(Box, (OWNS), size)
typedef Box Crate;
MICA_OPAQUE(Crate, (OWNS))
typedef Box Chest;
MICA_OPAQUE(Chest, (.storage = MICA_STORAGE_POOL, OWNS))
typedef Box Parcels;
MICA_POOL_WITH(Parcels, (.many = true, .dying = MICA_DYING_LAZILY, OWNS), size)
typedef Box Vault;
MICA_OPAQUE(Vault, (.storage = MICA_STORAGE_SINGLETON, OWNS))
typedef Box Sealed;
MICA_COMPONENT_WITH(Sealed, (.destroy_one = box_destroy), size)
typedef Box Coffer;
MICA_OPAQUE(Coffer, (.storage = MICA_STORAGE_POOL, .destroy_one = box_destroy))
typedef Box Purses;
MICA_POOL_WITH(Purses, (.many = true, .destroy_one = box_destroy), size)
MICA_TAG(Wanted)

enum { KINDS = 4 };

static mica_component kind(uint32_t i)
{
    mica_type *const types[KINDS] = {&mica_type_of_Box, &mica_type_of_Crate, &mica_type_of_Chest,
                                     &mica_type_of_Parcels};
    return mica_type_id(types[i]);
}

static Box make(int number)
{
    Box box = {malloc(sizeof(int)), number};
    *box.content = number;
    ++alive;
    return box;
}

static void expect_content(const mica_world *world, mica_entity entity, mica_component component, int number)
{
    const Box *box = mica_get_id(world, entity, component);
    ck_assert_int_eq(*box->content, number);
}

START_TEST(every_value_is_copied_and_destroyed_once_in_every_storage)
{
    alive = 0;
    copies_left = 1000;
    for (uint32_t i = 0; i < KINDS; ++i) {
        mica_world *world = open_world(&heard);
        Box seven = make(7), two[2] = {make(1), make(2)};
        mica_value value = {kind(i), sizeof(Box), &seven}, column = {kind(i), sizeof(Box), two};
        mica_entity entities[2], entity = mica_create_id(world, &value, 1), other = mica_create(world);
        ck_assert_int_eq(mica_create_many(world, 2, &column, 1, entities), MICA_OK);
        expect_content(world, entities[1], kind(i), 2);
        ck_assert(mica_set_id(world, other, value));
        ck_assert_ptr_nonnull(mica_add_id(world, mica_create(world), kind(i))); /* zero */
        expect_content(world, mica_clone(world, entity), kind(i), 7);
        mica_snapshot snapshot = mica_snapshot_take(world);
        mica_defer(world);
        mica_set_id(world, other, column);
        mica_remove_id(world, entities[0], kind(i));
        mica_entity recorded = mica_create_id(world, &value, 1);
        ck_assert_int_eq(mica_flush(world), MICA_OK);
        expect_content(world, other, kind(i), 1);
        expect_content(world, recorded, kind(i), 7);
        ck_assert_int_eq(mica_snapshot_restore(world, snapshot), MICA_OK);
        expect_content(world, other, kind(i), 7);
        mica_snapshot_drop(world, snapshot);
        mica_world *copy = mica_world_clone(world);
        expect_content(copy, entities[0], kind(i), 1);
        mica_world_destroy(copy);
        mica_destroy(world, entity);
        close_world(world, &heard);
        box_destroy(&seven);
        box_destroy(&two[0]);
        box_destroy(&two[1]);
        ck_assert_int_eq(alive, 0);
    }
}
END_TEST

START_TEST(a_singleton_is_destroyed_with_its_world)
{
    alive = 0;
    copies_left = 1000;
    mica_world *world = open_world(&heard);
    *mica_singleton_write(world, Vault) = make(3);
    mica_world *copy = mica_world_clone(world);
    ck_assert_int_eq(*mica_singleton_get(copy, Vault)->content, 3);
    mica_world_destroy(copy);
    close_world(world, &heard);
    ck_assert_int_eq(alive, 0);
}
END_TEST

START_TEST(a_copy_that_fails_destroys_what_was_copied_before)
{
    alive = 0;
    mica_world *world = open_world(&heard);
    Box three[3] = {make(1), make(2), make(3)};
    for (uint32_t i = 0; i < KINDS; ++i)
        for (int left = 0; left < 3; ++left) {
            mica_value column = {kind(i), sizeof(Box), three};
            copies_left = left;
            ck_assert_int_eq(mica_create_many(world, 3, &column, 1, NULL), MICA_ERROR_MEMORY);
            expect_report(&heard, MICA_ERROR_MEMORY, "can't be created");
            ck_assert_int_eq(alive, 3);
        }
    copies_left = 1000;
    mica_entity sealed = mica_create(world);
    *mica_add(world, sealed, Sealed) = make(4);
    mica_snapshot snapshot = mica_snapshot_take(world); /* what can't be copied */
    ck_assert_uint_eq(snapshot.id, 0);
    expect_report(&heard, MICA_ERROR_REFUSED, "Sealed");
    close_world(world, &heard);
    for (uint32_t i = 0; i < 3; ++i)
        box_destroy(&three[i]);
    ck_assert_int_eq(alive, 0);
}
END_TEST

static mica_component sealed_kind(uint32_t i)
{
    mica_type *const types[3] = {&mica_type_of_Sealed, &mica_type_of_Coffer, &mica_type_of_Purses};
    return mica_type_id(types[i]);
}

/* What would have two owners afterwards. */
START_TEST(values_that_cannot_be_copied_are_given_but_not_cloned)
{
    for (uint32_t i = 0; i < 6; ++i) {
        alive = 0;
        bool records = i >= 3;
        mica_world *world = open_world(&heard);
        Box one = make(1), two = make(2), three = make(3);
        mica_value given = {sealed_kind(i % 3), sizeof one, &one};
        mica_entity entity = mica_create_id(world, &given, 1);
        mica_entity other = mica_create(world, MICA_WITH(Wanted)), third = mica_create(world, MICA_WITH(Wanted));
        mica_query *wanted = mica_query_create(world, MICA_QUERY(MICA_HAS(Wanted)));
        if (records)
            mica_defer(world);
        ck_assert(mica_is_nil(mica_clone(world, entity)));
        expect_report(&heard, MICA_ERROR_REFUSED, "clone: component");
        ck_assert(mica_is_nil(mica_clone_tree(world, entity)));
        expect_report(&heard, MICA_ERROR_REFUSED, "no copy function");
        ck_assert_int_eq(mica_add_all_id(wanted, given), MICA_ERROR_REFUSED);
        expect_report(&heard, MICA_ERROR_REFUSED, "add_all: component");
        ck_assert(mica_set_id(world, entity, (mica_value){given.component, sizeof two, &two}));
        ck_assert(mica_set_id(world, other, (mica_value){given.component, sizeof three, &three}));
        ck_assert_int_eq(mica_add_all_id(wanted, (mica_value){given.component, 0, NULL}), MICA_OK); /* zero */
        if (records)
            ck_assert_int_eq(mica_flush(world), MICA_OK);
        expect_content(world, entity, given.component, 2);
        expect_content(world, other, given.component, 3);
        ck_assert_ptr_null(((const Box *)mica_get_id(world, third, given.component))->content);
        ck_assert_int_eq(alive, 2);
        close_world(world, &heard);
        ck_assert_int_eq(alive, 0);
    }
}
END_TEST

static void destruct_none(void *values, uint32_t count, void *context)
{
    (void)values, (void)count, (void)context;
}

START_TEST(functions_for_one_value_and_for_several_do_not_mix)
{
    mica_type type = mica_type_of_Box;
    ck_assert_ptr_null(mica_type_problem(&type));
    ck_assert_ptr_null(mica_type_problem(mica_component_type(MICA_ID(Box)))); /* which has both, made from these */
    type.destruct = destruct_none;
    ck_assert_ptr_nonnull(mica_type_problem(&type));
    type.destruct = NULL;
    type.context = &type;
    ck_assert_ptr_nonnull(mica_type_problem(&type));
    type.context = NULL;
    type.split = true;
    ck_assert_str_eq(mica_type_problem(&type), "a component with functions for its life can't be split");
    mica_world *world = open_world(&heard);
    ck_assert_uint_eq(mica_component_define(world, mica_component_type(MICA_ID(Box))), MICA_ID(Box));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(owning, every_value_is_copied_and_destroyed_once_in_every_storage, a_singleton_is_destroyed_with_its_world,
           a_copy_that_fails_destroys_what_was_copied_before, values_that_cannot_be_copied_are_given_but_not_cloned,
           functions_for_one_value_and_for_several_do_not_mix)
