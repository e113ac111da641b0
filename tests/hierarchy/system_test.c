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
    mica_local *local = mica_view_write(view, mica_local);
    const Number *number = mica_view_read(view, Number);
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
            mica_entity parent = mica_create(world, MICA_WITH(mica_local), MICA_WITH(mica_global_matrix));
            mica_entity child = mica_create_child(world, parent, MICA_WITH(mica_local), MICA_WITH(mica_global_matrix));
            mica_set(world, parent, Number,
                     {5 * 4}); /* it moves by 1.5 in every fifth frame, beginning with the first */
            bool is_late = is_first && phases[i] == MICA_PHASE_UPDATE;
            for (int frame = 0; frame < 12; ++frame) {
                ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
                int moves = is_late ? (frame + 4) / 5 : frame / 5 + 1;
                ck_assert_float_eq(mica_get(world, child, mica_global_matrix)->x[3], 1.5f * (float)moves);
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
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint64_t mixed = (number[i].value * 0x9e3779b97f4a7c15u) ^ (view->frame->tick * 0xc2b2ae3d27d4eb4fu);
        mica_entity entity = view->entities[i];
        if (mixed % 37 == 0)
            mica_set_parent(view->world, entity, view->entities[(i * 7 + 1) % view->count]);
        else if (mixed % 401 == 0)
            mica_destroy_with(view->world, entity, mixed % 3 ? MICA_ORPHANS_DIE : MICA_ORPHANS_STAY);
        else if (mixed % 53 == 0)
            mica_create_child(view->world, entity, MICA_WITH(mica_local, MICA_LOCAL_AT(1, 2, 3)),
                              MICA_WITH(mica_global_matrix), MICA_WITH(Number, {number[i].value * 3 + 1}));
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
        all[i] = mica_create(world, MICA_WITH(mica_local, MICA_LOCAL_AT(1, 0, 0)), MICA_WITH(mica_global_matrix),
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

/* What is told of a change, and links those it is told of while the world records. */
static mica_entity foster;

static void adopt(mica_world *world, const mica_entity *entities, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        ck_assert_int_eq(mica_set_parent(world, entities[i], foster), MICA_OK);
}

static void adopt_observed(const mica_event *seen)
{
    adopt(seen->world, seen->entities, seen->count);
}

static void adopt_hooked(const mica_event *event)
{
    adopt(event->world, event->entities, event->count);
}

static void adopt_messaged(const mica_message *message)
{
    adopt(message->world, message->entities, message->count);
}

static mica_entity change_one(mica_world *world)
{
    ck_assert(mica_observer_add(world, MICA_OBSERVER(MICA_EVENT_ADD, Number, adopt_observed)).id);
    mica_entity child = mica_create(world);
    mica_set(world, child, Number, {1});
    return child;
}

static mica_entity commit_batch(mica_world *world)
{
    const mica_value column = MICA_WITH(Number, {1});
    mica_batch *batch;
    mica_entity child;
    mica_hook_set(world, Number, MICA_EVENT_ADD, adopt_hooked, NULL);
    ck_assert_int_eq(mica_batch_begin(world, &(mica_batch_group){1, 1, &column, 0}, 1, &batch), MICA_OK);
    mica_batch_entities(batch, &child);
    ck_assert_int_eq(mica_batch_commit(batch, NULL, 0), MICA_OK);
    return child;
}

static mica_entity emit(mica_world *world)
{
    mica_observer_def def = {.event = MICA_EVENT_USER, .fn = adopt_observed};
    ck_assert(mica_observer_add(world, &def).id);
    mica_entity child = mica_create(world);
    ck_assert(mica_event_emit(world, MICA_EVENT_USER, 0, child, (mica_value){0}));
    return child;
}

static mica_entity deliver(mica_world *world)
{
    ck_assert_int_eq(mica_handler_add(world, MICA_HANDLER(Number, Mass, adopt_messaged)), MICA_OK);
    mica_entity child = mica_create(world, MICA_WITH(Number, {1}));
    ck_assert(mica_send(world, child, Mass, {3}));
    return child;
}

START_TEST(links_that_observers_make_are_there_when_the_operation_ends)
{
    static mica_entity (*const doors[])(mica_world *) = {change_one, commit_batch, emit, deliver};
    for (uint32_t i = 0; i < COUNT_OF(doors); ++i) {
        mica_world *world = open_world(&heard);
        foster = mica_create(world);
        mica_entity child = doors[i](world);
        ck_assert_msg(mica_same(mica_parent(world, child), foster), "door %u", i);
        close_world(world, &heard);
    }
}
END_TEST

static void adopt_all(mica_view *view)
{
    adopt(view->world, view->entities, view->count);
}

START_TEST(a_system_that_only_links_does_so)
{
    mica_world *world = open_with_workers(2);
    foster = mica_create(world);
    mica_entity child = mica_create(world, MICA_WITH(Number, {1}));
    ck_assert(mica_system_add(world, MICA_SYSTEM(adopt_all, MICA_READ(Number))).id);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    ck_assert(mica_same(mica_parent(world, child), foster));
    close_world(world, &heard);
}
END_TEST

/* Pieces of a parallel for inside a system run in no order: nothing can be recorded in them. */
static void link_inside(uint32_t begin, uint32_t end, void *context)
{
    const mica_view *view = context;
    for (uint32_t i = begin; i < end; ++i)
        if (mica_set_parent(view->world, view->entities[i], foster) == MICA_OK ||
            mica_set(view->world, view->entities[i], Mass, {1}) || mica_destroy(view->world, view->entities[i]))
            ck_abort_msg("it is recorded");
}

static void link_in_pieces(mica_view *view)
{
    mica_parallel_for(view->world, view->count, 1, link_inside, view);
}

START_TEST(work_that_has_no_place_in_the_order_links_nothing)
{
    if (STOPS_AT_MISTAKES)
        return;
    mica_world *world = open_with_workers(2);
    foster = mica_create(world);
    mica_create(world, MICA_WITH(Number, {1}));
    uint64_t before = mica_world_hash_content(world);
    ck_assert(mica_system_add(world, MICA_SYSTEM(link_in_pieces, MICA_READ(Number))).id);
    ck_assert_int_eq(mica_step(world, 0.1f), MICA_OK);
    expect_report(&heard, MICA_ERROR_REFUSED, "they would have no order");
    forget_reports(&heard);
    ck_assert_uint_eq(mica_world_hash_content(world), before);
    close_world(world, &heard);
}
END_TEST

TEST_SUITE(system, a_system_that_only_links_does_so, work_that_has_no_place_in_the_order_links_nothing,
           transforms_follow_what_systems_move, the_system_is_there_once,
           links_that_observers_make_are_there_when_the_operation_ends,
           trees_and_matrices_are_the_same_for_any_number_of_workers)
