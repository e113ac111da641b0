/* A custom task scheduler: systems run on the threads of OpenMP, and the world is bit-identical. */
#include "mica/flow.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)

static void *submit(mica_task_fn fn, void *data, void *context)
{
    (void)context;
    atomic_bool *done = malloc(sizeof *done);
    if (!done)
        abort();
    atomic_init(done, false);
#pragma omp task firstprivate(fn, data, done)
    {
        fn(data);
        atomic_store(done, true);
    }
    return done;
}

static void wait(void *task, void *context)
{
    (void)context;
    atomic_bool *done = task;
    while (!atomic_load(done)) {
#pragma omp taskyield
    }
    free(done);
}

static void swirl(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    Velocity *velocity = mica_view_write(view, Velocity);
    mica_random random = mica_random_of(view);
    for (uint32_t i = 0; i < view->count; ++i) {
        velocity[i].x -= position[i].x * view->dt + mica_random_range(&random, -0.01f, 0.01f);
        velocity[i].y -= position[i].y * view->dt;
        position[i].x += velocity[i].x * view->dt;
        position[i].y += velocity[i].y * view->dt;
        if (mica_random_below(&random, 5000) == 0)
            mica_create(view->world, MICA_WITH(Position, {1, 0}), MICA_WITH(Velocity, {0, 1}));
    }
}

/* Runs the same world with the built-in scheduler or with a custom one, and returns its hash. */
static uint64_t run(const mica_scheduler *scheduler, uint32_t workers)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_configure(world, &(mica_flow_def){.worker_count = workers, .scheduler = scheduler});
    mica_system_add(
        world, MICA_SYSTEM_WITH(swirl, (.parallel = MICA_PARALLEL_EVEN), MICA_WRITE(Position), MICA_WRITE(Velocity)));
    for (int i = 0; i < 50000; ++i)
        mica_create(world, MICA_WITH(Position, {(float)(i % 100), 1}), MICA_WITH(Velocity, {0, (float)(i % 7)}));
    for (int frame = 0; frame < 20; ++frame)
        mica_step(world, 1.0f / 60);
    uint64_t hash = mica_world_hash(world);
    printf("%s: %u entities\n", scheduler ? "OpenMP tasks" : "built-in scheduler",
           (unsigned)mica_world_get_stats(world).entity_count);
    mica_world_destroy(world);
    return hash;
}

int main(void)
{
    const mica_scheduler tasks = {.submit = submit, .wait = wait};
    uint64_t built_in = run(NULL, 2), ours = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    ours = run(&tasks, 3);
    printf("the worlds are %s\n", built_in == ours ? "the same" : "different");
}
