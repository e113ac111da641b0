/* Transforms: the matrices of trees, and that only what moved is written. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/require.h"
#include "../support/test.h"
#include "mica/transform.h"

#include <math.h>
#include <string.h>

static reports heard;

static mica_entity make_node(mica_world *world, mica_entity parent, float x, float y, float z)
{
    mica_entity node = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(x, y, z)), MICA_WITH(mica_global_matrix));
    if (!mica_is_nil(parent))
        mica_set_parent(world, node, parent);
    return node;
}

#define expect_at(world, entity, x_, y_, z_)                                                                           \
    do {                                                                                                               \
        const mica_global_matrix *matrix_ = mica_get(world, entity, mica_global_matrix);                                 \
        ck_assert_float_eq_tol(matrix_->x[3], x_, 1e-4f);                                                              \
        ck_assert_float_eq_tol(matrix_->y[3], y_, 1e-4f);                                                              \
        ck_assert_float_eq_tol(matrix_->z[3], z_, 1e-4f);                                                              \
    } while (0)

START_TEST(a_child_is_where_its_parent_puts_it)
{
    mica_world *world = open_world(&heard);
    mica_entity root = make_node(world, mica_nil(), 10, 0, 0), child = make_node(world, root, 1, 2, 3);
    mica_entity grandchild = make_node(world, child, 0, 0, 5);
    mica_local *local = mica_write(world, root, mica_local);
    local->rotation[2] = local->rotation[3] = sqrtf(0.5f); /* a quarter turn around z */
    local->scale[0] = local->scale[1] = local->scale[2] = 2;
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    expect_at(world, root, 10, 0, 0);
    expect_at(world, child, 10 - 4, 2, 6);
    expect_at(world, grandchild, 6, 2, 16);
    float point[3] = {1, 0, 0};
    mica_matrix_point(mica_get(world, grandchild, mica_global_matrix), point, point);
    ck_assert_float_eq_tol(point[0], 6, 1e-4f);
    ck_assert_float_eq_tol(point[1], 4, 1e-4f);
    close_world(world, &heard);
}
END_TEST

START_TEST(defaults_are_no_rotation_and_scale_one)
{
    mica_world *world = open_world(&heard);
    mica_entity entity = mica_create(world, MICA_WITH(mica_local), MICA_WITH(mica_global_matrix));
    static const mica_global_matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    ck_assert_mem_eq(mica_get(world, entity, mica_global_matrix), &identity, sizeof identity);
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    ck_assert_mem_eq(mica_get(world, entity, mica_global_matrix), &identity, sizeof identity);
    memset(mica_write(world, entity, mica_local)->rotation, 0, 4 * sizeof(float));
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    ck_assert_mem_eq(mica_get(world, entity, mica_global_matrix), &identity, sizeof identity);
    ck_assert_uint_eq(mica_local_id(), MICA_ID(mica_local));
    ck_assert_uint_eq(mica_global_matrix_id(), MICA_ID(mica_global_matrix));
    close_world(world, &heard);
}
END_TEST

START_TEST(rotations_are_those_of_the_textbook)
{
    static const struct {
        float rotation[4];
        float from[3], to[3];
    } cases[] = {
        {{1, 0, 0, 0}, {0, 1, 2}, {0, -1, -2}},                   /* half a turn around x */
        {{0, 1, 0, 0}, {1, 0, 2}, {-1, 0, -2}},                   /* around y */
        {{0.70710678f, 0, 0, 0.70710678f}, {0, 1, 0}, {0, 0, 1}}, /* a quarter around x: y to z */
        {{0, 0.70710678f, 0, 0.70710678f}, {0, 0, 1}, {1, 0, 0}}, /* around y: z to x */
        {{0, 0, 0.70710678f, 0.70710678f}, {1, 0, 0}, {0, 1, 0}}, /* around z: x to y */
        {{0.5f, 0.5f, 0.5f, 0.5f}, {1, 2, 3}, {3, 1, 2}},         /* a third around the diagonal */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        mica_local local = MICA_LOCAL_AT(0, 0, 0);
        memcpy(local.rotation, cases[i].rotation, sizeof local.rotation);
        mica_global_matrix matrix;
        float to[3];
        mica_matrix_from_local(&local, NULL, &matrix);
        mica_matrix_point(&matrix, cases[i].from, to);
        for (int k = 0; k < 3; ++k)
            ck_assert_float_eq_tol(to[k], cases[i].to[k], 1e-5f);
    }
}
END_TEST

START_TEST(folders_between_transforms_change_nothing)
{
    mica_world *world = open_world(&heard);
    mica_entity root = make_node(world, mica_nil(), 1, 0, 0), folder = mica_create_child(world, root);
    mica_entity inner = mica_create_child(world, folder, MICA_WITH(mica_local, MICA_LOCAL_AT(50, 50, 50)));
    mica_entity leaf = make_node(world, inner, 2, 0, 0), twin = make_node(world, folder, 3, 0, 0);
    mica_entity lone = make_node(world, mica_create(world), 7, 0, 0);
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    expect_at(world, leaf, 3, 0, 0);
    expect_at(world, twin, 4, 0, 0);
    expect_at(world, lone, 7, 0, 0);
    mica_add(world, inner, mica_global_matrix);
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    expect_at(world, leaf, 53, 50, 50);
    mica_remove(world, root, mica_local);
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    expect_at(world, leaf, 52, 50, 50);
    expect_at(world, twin, 3, 0, 0);
    close_world(world, &heard);
}
END_TEST

/* How many matrices an update writes: each is given a mark of its own before it, and most have lost it then. */
static uint32_t written(mica_world *world, const mica_entity *nodes, uint32_t count)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < count; ++i)
        mica_write(world, nodes[i], mica_global_matrix)->z[3] = (float)(1000 + i);
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    for (uint32_t i = 0; i < count; ++i)
        changed += mica_get(world, nodes[i], mica_global_matrix)->z[3] != (float)(1000 + i);
    return changed;
}

START_TEST(only_what_moved_and_what_is_below_it_is_written)
{
    mica_world *world = open_world(&heard);
    enum { COUNT = 341 }; /* four levels of four children each */
    mica_entity nodes[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i)
        nodes[i] = make_node(world, i ? nodes[(i - 1) / 4] : mica_nil(), 1, 0, 0);
    ck_assert_uint_eq(written(world, nodes, COUNT), COUNT);
    ck_assert_uint_eq(written(world, nodes, COUNT), 0);
    mica_write(world, nodes[0], mica_local); /* looked at to be written, and left as it is */
    ck_assert_uint_eq(written(world, nodes, COUNT), 0);
    mica_write(world, nodes[COUNT - 1], mica_local)->position[0] = 2;
    ck_assert_uint_eq(written(world, nodes, COUNT), 1);
    mica_write(world, nodes[5], mica_local)->position[0] = 2;
    ck_assert_uint_eq(written(world, nodes, COUNT), 21);
    mica_write(world, nodes[0], mica_local)->scale[0] = 2;
    ck_assert_uint_eq(written(world, nodes, COUNT), COUNT);
    mica_set_parent(world, nodes[COUNT - 1], nodes[0]);
    ck_assert_uint_eq(written(world, nodes, COUNT), 1);
    mica_place_before(world, nodes[COUNT - 1], nodes[1]); /* the same parent */
    ck_assert_uint_eq(written(world, nodes, COUNT), 0);
    mica_create(world, MICA_WITH(Number, {1})); /* something else */
    mica_create_child(world, nodes[3]);
    ck_assert_uint_eq(written(world, nodes, COUNT), 0);
    close_world(world, &heard);
}
END_TEST

START_TEST(a_query_for_changes_shows_what_really_moved)
{
    mica_world *world = open_world(&heard);
    for (uint32_t i = 0; i < 2000; ++i)
        make_node(world, mica_nil(), (float)i, 0, 0);
    mica_entity mover = mica_create(world, MICA_WITH(mica_local), MICA_WITH(mica_global_matrix), MICA_WITH(Frozen));
    mica_query *changed =
        mica_query_create(world, MICA_QUERY(MICA_READ(mica_global_matrix), MICA_CHANGED(mica_global_matrix)));
    mica_query *movers = mica_query_create(world, MICA_QUERY(MICA_WRITE(mica_local)));
    static const uint64_t expected[] = {2001, 0, 1, 0};
    for (int frame = 0; frame < 4; ++frame) {
        for (mica_view view = mica_query_begin(movers); mica_view_next(&view);)
            mica_view_write(&view, mica_local); /* all slices are stamped */
        mica_write(world, mover, mica_local)->position[1] =
            frame == 2 ? 3.0f : mica_get(world, mover, mica_local)->position[1];
        ck_assert_int_eq(mica_transform_update(world), MICA_OK);
        uint64_t count = 0;
        for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
            count += view.count;
        ck_assert_uint_eq(count, expected[frame]);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_change_of_the_order_leaves_other_slices_alone)
{
    mica_world *world = open_world(&heard);
    enum { COUNT = 4000 };
    static mica_entity nodes[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i)
        nodes[i] = make_node(world, i ? nodes[(i - 1) / 4] : mica_nil(), 1, 0, 0);
    mica_query *changed =
        mica_query_create(world, MICA_QUERY(MICA_READ(mica_global_matrix), MICA_CHANGED(mica_global_matrix)));
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    for (int step = 0; step < 4; ++step) {
        for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
            continue;
        switch (step) {
        case 0: make_node(world, nodes[3], 1, 0, 0); break;
        case 1: mica_destroy(world, nodes[COUNT - 5]); break;
        case 2: mica_set_parent(world, nodes[COUNT - 2], nodes[0]); break;
        default: mica_remove(world, nodes[COUNT - 1], mica_local); /* the order is made anew */
        }
        ck_assert_int_eq(mica_transform_update(world), MICA_OK);
        uint64_t count = 0;
        for (mica_view view = mica_query_begin(changed); mica_view_next(&view);)
            count += view.count;
        ck_assert_msg(count > 0 && count <= 2 * MICA_SLICE_ROWS, "%u rows", (unsigned)count);
    }
    close_world(world, &heard);
}
END_TEST

START_TEST(a_matrix_that_goes_and_comes_again_between_updates_is_right)
{
    mica_world *world = open_world(&heard);
    mica_entity root = make_node(world, mica_nil(), 5, 0, 0), child = make_node(world, root, 1, 0, 0);
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    mica_remove(world, child, mica_global_matrix);
    mica_add(world, child, mica_global_matrix);
    ck_assert_int_eq(mica_transform_update(world), MICA_OK);
    expect_at(world, child, 6, 0, 0);
    close_world(world, &heard);
}
END_TEST

/* What the update should have computed, by recursion. */
static void expect_matrix(mica_world *world, mica_entity entity)
{
    mica_entity above = mica_parent(world, entity);
    while (!mica_is_nil(above) && !(mica_has(world, above, mica_local) && mica_has(world, above, mica_global_matrix)))
        above = mica_parent(world, above);
    mica_global_matrix expected;
    if (mica_is_nil(above)) {
        static const mica_global_matrix identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
        mica_matrix_from_local(mica_get(world, entity, mica_local), &identity, &expected);
    } else {
        mica_matrix_from_local(mica_get(world, entity, mica_local), mica_get(world, above, mica_global_matrix),
                               &expected);
    }
    REQUIRE(memcmp(&expected, mica_get(world, entity, mica_global_matrix), sizeof expected) == 0);
}

static float random_float(random_source *random)
{
    return (float)random_below(random, 2001) / 1000 - 1;
}

static void disturb(mica_world *world, mica_entity *nodes, uint32_t count, random_source *random)
{
    uint32_t at = random_below(random, count);
    mica_entity node = nodes[at], other = nodes[random_below(random, count)];
    mica_local local = MICA_LOCAL_AT(random_float(random), random_float(random), random_float(random));
    for (int i = 0; i < 4; ++i)
        local.rotation[i] = random_float(random) / 2;
    switch (random_below(random, 8)) {
    case 0: mica_set_parent(world, node, random_one_in(random, 4) ? mica_nil() : other); break;
    case 1: mica_destroy(world, node); break;
    case 2: mica_remove(world, node, mica_global_matrix); break;
    case 3:
        mica_remove(world, node, mica_global_matrix);
        mica_add(world, node, mica_global_matrix);
        break;
    case 4:
        if (!mica_remove(world, node, Frozen))
            mica_add(world, node, Frozen);
        break;
    default:
        if (mica_has(world, node, mica_local))
            *mica_write(world, node, mica_local) = local;
    }
    for (uint32_t i = 0; i < count; ++i)
        if (!mica_is_alive(world, nodes[i]))
            nodes[i] = mica_create(world, MICA_FROM(mica_local, &local), MICA_WITH(mica_global_matrix));
}

START_TEST(whatever_happens_matrices_are_those_of_the_tree)
{
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        mica_world *world = open_world_of_small_chunks(&heard);
        enum { COUNT = 150 };
        mica_entity nodes[COUNT];
        random_source random = {seed};
        for (uint32_t i = 0; i < COUNT; ++i)
            nodes[i] = make_node(world, i ? nodes[random_below(&random, i)] : mica_nil(), random_float(&random), 1, 2);
        for (uint32_t step = 0; step < (UNDER_SANITIZER ? 500 : 3000); ++step) {
            disturb(world, nodes, COUNT, &random);
            forget_reports(&heard); /* of cycles */
            if (random_one_in(&random, 3))
                continue;
            REQUIRE(mica_transform_update(world) == MICA_OK);
            for (uint32_t i = 0; i < COUNT; ++i)
                if (mica_has(world, nodes[i], mica_local) && mica_has(world, nodes[i], mica_global_matrix))
                    expect_matrix(world, nodes[i]);
        }
        close_world(world, &heard);
    }
}
END_TEST

static void update_inside(const mica_event *event)
{
    void *result = event->context;
    *(mica_result *)result = mica_transform_update(event->world);
}

START_TEST(an_update_inside_a_hook_is_refused)
{
    mica_world *world = open_world(&heard);
    mica_result result = MICA_OK;
    mica_hook_set(world, Frozen, MICA_EVENT_ADD, update_inside, &result);
    mica_create(world, MICA_WITH(Frozen));
    ck_assert_int_eq(result, MICA_ERROR_REFUSED);
    expect_report(&heard, MICA_ERROR_REFUSED, "hook");
    ck_assert_int_eq(mica_transform_update(world), MICA_OK); /* of nothing */
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(transform, a_child_is_where_its_parent_puts_it, defaults_are_no_rotation_and_scale_one,
           rotations_are_those_of_the_textbook, folders_between_transforms_change_nothing,
           only_what_moved_and_what_is_below_it_is_written, a_change_of_the_order_leaves_other_slices_alone,
           a_matrix_that_goes_and_comes_again_between_updates_is_right, a_query_for_changes_shows_what_really_moved,
           whatever_happens_matrices_are_those_of_the_tree, an_update_inside_a_hook_is_refused)
