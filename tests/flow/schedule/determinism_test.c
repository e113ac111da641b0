/* The same world, bit for bit, for any number of workers and any timing: a scene that uses all kinds of systems, run with
 * 1, 2, 3, 4, 7 and 16 workers, with and without delays, with and without chains, and compared frame by frame. */
#include "mica/flow.h"
#include "support/components.h"
#include "support/reports.h"
#include "support/test.h"

#include <pthread.h>
#include <sched.h>

enum { FRAMES = 24, CROWD = 30000 };

typedef struct Total { double mass; uint32_t seen; } Total;
MICA_SINGLETON(Total, mass, seen)
typedef struct Link { mica_entity other; float distance; } Link;
MICA_COMPONENT(Link, other, distance)

static bool with_delays;

/* Lets threads overtake each other, differently in each run. */
static void delay(const mica_view *view)
{
    if (!with_delays)
        return;
    static _Thread_local uint32_t state = 1;
    state = state * 1664525u + 1013904223u + (uint32_t)(uintptr_t)view;
    for (uint32_t i = 0; i < (state >> 24) % 4; ++i)
        sched_yield();
}

static void scatter(mica_view *view)
{
    delay(view);
    mica_random random = mica_random_of(view);
    Velocity *velocity = mica_view_write(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i)
        velocity[i].x += mica_random_range(&random, -1, 1);
}

static void move(mica_view *view)
{
    delay(view);
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i) {
        position[i].x += velocity[i].x * view->dt;
        position[i].y += velocity[i].y * view->dt;
    }
}

static void drag(uint32_t count, void *const *columns)
{
    Velocity *velocity = columns[0];
    for (uint32_t i = 0; i < count; ++i)
        velocity[i].x *= 0.99f;
}

static void weigh(mica_entity entity, void *const *columns, void *context)
{
    (void)context;
    Mass *mass = columns[0];
    mass->value += (float)(entity.index % 7) * 0.125f;
}

static void breed(mica_view *view)
{
    delay(view);
    mica_random random = mica_random_of(view);
    const Position *position = mica_view_read(view, Position);
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t dice = mica_random_below(&random, 100);
        if (dice < 2)
            mica_create(view->world, MICA_WITH(Position, {position[i].x, 1, 0}), MICA_WITH(Velocity, {1, 0, 0}));
        else if (dice < 4)
            mica_destroy(view->world, view->entities[i]);
        else if (dice < 6)
            mica_command_set(mica_view_commands(view), view->entities[i], Mass, {1});
        else if (dice < 7)
            mica_add(view->world, view->entities[i], Frozen);
    }
}

static void thaw(mica_view *view)
{
    for (uint32_t i = 0; i < view->count; i += 3) {
        mica_remove(view->world, view->entities[i], Frozen);
        mica_destroy(view->world, mica_create(view->world)); /* made and unmade in one breath */
    }
}

/* Looks at others while no system writes what it reads. */
static void follow(mica_view *view)
{
    delay(view);
    Link *link = mica_view_write(view, Link);
    for (uint32_t i = 0; i < view->count; ++i) {
        const Position *there = mica_get(view->world, link[i].other, Position);
        link[i].distance = there ? there->x : -1;
    }
}

static void add_mass(mica_view *view, void *sum, void *context)
{
    (void)context;
    const Mass *mass = mica_view_read(view, Mass);
    for (uint32_t i = 0; i < view->count; ++i)
        *(double *)sum += mass[i].value * 1e-3;
}

static void add_sums(void *sum, const void *later, void *context)
{
    (void)context;
    *(double *)sum += *(const double *)later;
}

static void total(const mica_frame *frame)
{
    static const double zero = 0;
    Total *totals = mica_singleton_write(frame->world, Total);
    mica_reduce_query(frame->query,
                      &(mica_reduction){.zero = &zero, .bytes = sizeof zero, .view = add_mass, .combine = add_sums},
                      &totals->mass);
    if (mica_random_unit(&(mica_random){mica_random_of_frame(frame).state, 1}) < 0.5f)
        mica_create(frame->world, MICA_WITH(Mass, {2}));
}

static void see_changes(mica_view *view)
{
    Number *number = mica_view_write(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        ++number[i].value;
}

static int by_number(const void *a, const void *b, void *context)
{
    (void)context;
    const Number *left = a, *right = b;
    return left->value < right->value ? -1 : left->value > right->value;
}

static void in_order(mica_view *view)
{
    const Number *number = mica_view_read(view, Number);
    for (uint32_t i = 0; i < view->count; ++i)
        if (number[i].value % 5 == 0)
            mica_create(view->world, MICA_WITH(Number, {number[i].value + 1}));
}

static void cull(const mica_frame *frame)
{
    if (mica_query_count(frame->query) > 2000)
        mica_destroy_all(frame->query);
}

static void add_systems(mica_world *world)
{
    mica_system_add(world, MICA_SYSTEM(scatter, MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity), MICA_WITHOUT(Frozen)));
    mica_system_add(world, MICA_SYSTEM(drag, MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM(weigh, MICA_WRITE(Mass)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(breed, (.parallel = MICA_PARALLEL_EVEN), MICA_READ(Position), MICA_HAS(Velocity)));
    mica_system_add(world,
                    MICA_SYSTEM_WITH(thaw, (.parallel = MICA_PARALLEL_EVERY, .parallel_rows = 100), MICA_HAS(Frozen)));
    mica_system_add(world, MICA_SYSTEM_WITH(follow, (MICA_USES(MICA_USE_READ(Position))), MICA_WRITE(Link)));
    mica_system_add(
        world, MICA_SYSTEM_ONCE_WITH(total, (MICA_TERMS(MICA_READ(Mass), MICA_WRITE(Total)), .phase = MICA_PHASE_END)));
    mica_system_add(world, MICA_SYSTEM_WITH(see_changes, (.phase = MICA_PHASE_FIXED, .priority = 1), MICA_WRITE(Number),
                                            MICA_CHANGED(Position)));
    mica_system_add(world, MICA_SYSTEM_WITH(in_order,
                                            (.phase = MICA_PHASE_END, .order_by = MICA_ID(Number), .compare = by_number,
                                             .every_frames = 3),
                                            MICA_READ(Number)));
    mica_system_add(world, MICA_SYSTEM_ONCE_WITH(cull, (.exclusive = true, .phase = MICA_PHASE_END,
                                                        MICA_TERMS(MICA_HAS(Number), MICA_WITHOUT(Position)))));
}

static mica_world *make_scene(reports *heard, uint32_t workers, bool no_fusion)
{
    mica_world_def def = mica_world_def_default();
    def.dead_target = MICA_DEAD_TARGET_IGNORE;
    mica_world *world = open_world_with(heard, def);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = workers;
    flow.no_fusion = no_fusion;
    flow.seed = 42;
    ck_assert_int_eq(mica_flow_configure(world, &flow), MICA_OK);
    add_systems(world);
    mica_entity last = mica_nil();
    for (uint32_t i = 0; i < CROWD; ++i) {
        mica_entity made = mica_create(world, MICA_WITH(Position, {(float)i, 0, 0}), MICA_WITH(Velocity, {0, 1, 0}));
        if (i % 5 == 0)
            mica_set(world, made, Link, {last, 0});
        if (i % 11 == 0)
            mica_set(world, made, Number, {i % 97});
        if (i % 3 == 0)
            mica_set(world, made, Mass, {(float)(i % 13)});
        last = made;
    }
    return world;
}

static void run_scene(uint32_t workers, bool no_fusion, bool delays, uint64_t *hashes, bool compare)
{
    reports heard;
    with_delays = delays;
    mica_world *world = make_scene(&heard, workers, no_fusion);
    for (uint32_t frame = 0; frame < FRAMES; ++frame) {
        ck_assert_int_eq(mica_step(world, frame % 4 == 3 ? 1.0f / 30 : 1.0f / 60), MICA_OK);
        uint64_t hash = mica_world_hash(world);
        if (compare)
            ck_assert_msg(hash == hashes[frame], "frame %u differs with %u workers%s%s", frame, workers,
                          no_fusion ? ", no chains" : "", delays ? ", delays" : "");
        hashes[frame] = hash;
    }
    close_world(world, &heard);
}

START_TEST(a_world_is_the_same_for_any_number_of_workers)
{
    static const uint32_t workers[] = {1, 2, 3, 4, 7, 16};
    uint64_t hashes[FRAMES];
    run_scene(1, false, false, hashes, false);
    for (uint32_t i = 0; i < COUNT_OF(workers); ++i)
        for (uint32_t delays = 0; delays < 2; ++delays)
            run_scene(workers[i], false, delays, hashes, true);
}
END_TEST

START_TEST(chains_have_the_same_outcome_as_systems_one_after_the_other)
{
    uint64_t hashes[FRAMES];
    run_scene(1, false, false, hashes, false);
    run_scene(1, true, false, hashes, true);
    run_scene(4, true, true, hashes, true);
}
END_TEST

START_TEST(the_scene_changes_from_frame_to_frame)
{
    uint64_t hashes[FRAMES];
    run_scene(2, false, false, hashes, false);
    for (uint32_t i = 1; i < FRAMES; ++i)
        ck_assert_msg(hashes[i] != hashes[i - 1], "frame %u does nothing", i);
}
END_TEST

TEST_SUITE(determinism, a_world_is_the_same_for_any_number_of_workers,
           chains_have_the_same_outcome_as_systems_one_after_the_other, the_scene_changes_from_frame_to_frame)
