/* Trees in a world that runs systems: links are recorded inside them, and transforms are one of them. */
#include "../support/components.h"
#include "../support/random.h"
#include "../support/reports.h"
#include "../support/test.h"
#include "mica/flow.h"
#include "mica/transform.h"

static reports heard;

static mica_world *open_with_workers(uint32_t workers)
{
    mica_world *world = open_world(&heard);
    mica_flow_def def = mica_flow_def_default();
    def.worker_count = workers;
    ck_assert_int_eq(mica_flow_configure(world, &def), MICA_OK);
    return world;
}

static void move(mica_view *view)
{
    mica_local *local = mica_write(view, mica_local);
    const Number *number = mica_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        if (number[i].value % 5 == view->frame->tick % 5)
            local[i].position[0] += 0.25f * (float)(number[i].value % 7);
}

START_TEST(transforms_follow_what_systems_move)
{
    static const mica_phase phases[] = {MICA_PHASE_UPDATE, MICA_PHASE_END};
    for (size_t i = 0; i < 2; ++i)
        for (int is_first = 0; is_first < 2; ++is_first) {
            mica_world *world = open_with_workers(2);
            if (is_first)
                ck_assert(mica_transform_add_system(world, phases[i]).id);
            ck_assert(mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(mica_local), MICA_READ(Number))).id);
            if (!is_first)
                ck_assert(mica_transform_add_system(world, phases[i]).id);
            mica_entity parent = mica_create(world, MICA_WITH(mica_local), MICA_WITH(mica_world_matrix));
            mica_entity child = mica_create_child(world, parent, MICA_WITH(mica_local), MICA_WITH(mica_world_matrix));
            mica_set(world, parent, Number,
                     {5 * 4}); /* it moves by 1.5 in every fifth frame, beginning with the first */
            bool is_late = is_first && phases[i] == MICA_PHASE_UPDATE;
            for (int frame = 0; frame < 12; ++frame) {
                ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
                int moves = is_late ? (frame + 4) / 5 : frame / 5 + 1;
                ck_assert_float_eq(mica_get(world, child, mica_world_matrix)->x[3], 1.5f * (float)moves);
            }
            close_world(world, &heard);
        }
}
END_TEST

START_TEST(the_system_is_there_once)
{
    mica_world *world = open_world(&heard);
    mica_system system = mica_transform_add_system(world, MICA_PHASE_END);
    ck_assert(system.id && mica_system_find(world, "update_transforms").id == system.id);
    ck_assert(!mica_transform_add_system(world, MICA_PHASE_END).id);
    expect_report(&heard, MICA_ERROR_EXISTS, "update_transforms");
    close_world(world, &heard);
}
END_TEST

/* Hangs some nodes on others, lets some die and some be born: all recorded, by many threads. */
static void rearrange(mica_view *view)
{
    const Number *number = mica_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint64_t mixed = (number[i].value * 0x9e3779b97f4a7c15u) ^ (view->frame->tick * 0xc2b2ae3d27d4eb4fu);
        mica_entity entity = view->entities[i];
        if (mixed % 37 == 0)
            mica_set_parent(view->world, entity, view->entities[(i * 7 + 1) % view->count]);
        else if (mixed % 401 == 0)
            mica_destroy_with(view->world, entity, mixed % 3 ? MICA_ORPHANS_DIE : MICA_ORPHANS_STAY);
        else if (mixed % 53 == 0)
            mica_create_child(view->world, entity, MICA_WITH(mica_local, MICA_LOCAL_AT(1, 2, 3)),
                              MICA_WITH(mica_world_matrix), MICA_WITH(Number, {number[i].value * 3 + 1}));
    }
}

static uint64_t run_with_workers(uint32_t workers, uint32_t nodes, uint32_t frames)
{
    mica_world *world = open_with_workers(workers);
    ck_assert(mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(mica_local), MICA_READ(Number))).id);
    ck_assert(mica_system_add(world, MICA_SYSTEM(rearrange, MICA_READ(Number))).id);
    ck_assert(mica_transform_add_system(world, MICA_PHASE_END).id);
    random_source random = {7};
    mica_entity *all = malloc(nodes * sizeof *all);
    for (uint32_t i = 0; i < nodes; ++i) {
        all[i] = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(1, 0, 0)), MICA_WITH(mica_world_matrix),
                             MICA_WITH(Number, {i}));
        if (i > 10)
            mica_set_parent(world, all[i], all[random_below(&random, i)]);
    }
    free(all);
    for (uint32_t frame = 0; frame < frames; ++frame)
        mica_step(world, 0.1f);
    forget_reports(&heard); /* of cycles, and of what died meanwhile */
    uint64_t hash = mica_world_hash(world);
    close_world(world, &heard);
    return hash;
}

START_TEST(trees_and_matrices_are_the_same_for_any_number_of_workers)
{
    static const uint32_t workers[] = {2, 3, 4, 7, 16};
    uint32_t nodes = UNDER_SANITIZER ? 6000 : 30000, frames = UNDER_SANITIZER ? 4 : 8;
    uint64_t expected = run_with_workers(1, nodes, frames);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; ++i)
        ck_assert_msg(run_with_workers(workers[i], nodes, frames) == expected, "%u workers", workers[i]);
}
END_TEST

static void adopt(const mica_observation *seen)
{
    for (uint32_t i = 0; i < seen->count; ++i)
        ck_assert_int_eq(mica_set_parent(seen->world, seen->entities[i], *(mica_entity *)seen->context), MICA_OK);
}

START_TEST(links_that_an_observer_makes_are_there_when_the_operation_ends)
{
    mica_world *world = open_world(&heard);
    mica_entity parent = mica_create(world), child = mica_create(world);
    mica_observer_def def = {.event = MICA_OBSERVE_ADD, .component = MICA_ID(Number), .fn = adopt, .context = &parent};
    ck_assert(mica_observer_add(world, &def).id);
    mica_set(world, child, Number, {1});
    ck_assert(mica_same(mica_parent(world, child), parent));
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(system, transforms_follow_what_systems_move, the_system_is_there_once,
           links_that_an_observer_makes_are_there_when_the_operation_ends,
           trees_and_matrices_are_the_same_for_any_number_of_workers)
