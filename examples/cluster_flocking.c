/* Birds on a torus fly like those around them, on one process or on many: cluster_flocking, or mpirun -n 4 cluster_flocking. The last line
 * is the same. Arguments: number of birds, number of steps; then --save FILE saves every 25 steps, --resume FILE continues a save, on any
 * number of processes, and --picture FILE draws which process has which birds at the end. */
#include "cluster/picture.h"
#include "mica/cluster.h"
#include "mica/flow.h"
#include "mica/math.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)

enum { SIZE = 100, NEIGHBOURS_MAX = 64 };
static const float reach = 3;

static mica_cluster *cluster;

/* Neighbours are shown as they were at the end of the last step, so it does not matter that velocities are written meanwhile. */
static void flock(mica_view *view)
{
    Velocity *velocity = mica_view_write(view, Velocity);
    mica_cluster_neighbour near[NEIGHBOURS_MAX];
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t count = mica_cluster_around(cluster, view->entities[i], reach, near, NEIGHBOURS_MAX);
        count = count < NEIGHBOURS_MAX ? count : NEIGHBOURS_MAX;
        mica_random random = mica_cluster_random(cluster, view->entities[i], 0);
        float x = mica_random_range(&random, -0.1f, 0.1f), y = mica_random_range(&random, -0.1f, 0.1f);
        for (uint32_t k = 0; k < count; ++k) {
            const Velocity *other = mica_cluster_read(cluster, &near[k], MICA_ID(Velocity));
            bool is_close = near[k].distance_squared < 1;
            x += (other->x - velocity[i].x) / (float)count - (is_close ? (float)near[k].offset.x : 0);
            y += (other->y - velocity[i].y) / (float)count - (is_close ? (float)near[k].offset.y : 0);
        }
        x = velocity[i].x + x * view->dt;
        y = velocity[i].y + y * view->dt;
        float speed = mica_sqrtf(x * x + y * y) + 0.001f; /* they fly at one speed */
        velocity[i] = (Velocity){x / speed, y / speed};
    }
}

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i) {
        position[i].x += velocity[i].x * view->dt; /* the grid wraps around by itself */
        position[i].y += velocity[i].y * view->dt;
    }
}

/* Each rank creates all birds and keeps its own. */
static void create_birds(mica_world *world, int count)
{
    mica_random random = mica_random_make(1, 0);
    for (int i = 0; i < count; ++i) {
        float x = mica_random_range(&random, 0, SIZE), y = mica_random_range(&random, 0, SIZE);
        float angle = mica_random_range(&random, 0, 6.2831853f);
        mica_create(world, MICA_WITH(Position, {x, y}), MICA_WITH(Velocity, {mica_cosf(angle), mica_sinf(angle)}));
    }
}

/* From 0, everyone flies somewhere else, to 1, all fly in one direction. */
static double order_of_birds(void)
{
    mica_summary x, y;
    mica_cluster_reduce(cluster, &(mica_cluster_reduction){.component = MICA_ID(Velocity), .field = "x"}, &x, NULL);
    mica_cluster_reduce(cluster, &(mica_cluster_reduction){.component = MICA_ID(Velocity), .field = "y"}, &y, NULL);
    return x.count ? mica_sqrt(x.sum * x.sum + y.sum * y.sum) / (double)x.count : 0;
}

static void run(uint64_t step_count, const char *path)
{
    while (mica_cluster_tick(cluster) < step_count && mica_cluster_step(cluster, 0.1f)) {
        uint64_t step = mica_cluster_tick(cluster);
        if (step % 25)
            continue;
        double order = order_of_birds();
        if (mica_cluster_rank(cluster) == 0)
            printf("step %3" PRIu64 ": order %.3f\n", step, order);
        if (path)
            mica_cluster_save(cluster, path);
    }
}

int main(int argument_count, char **arguments)
{
    int bird_count = argument_count > 1 ? atoi(arguments[1]) : 2000;
    int step_count = argument_count > 2 ? atoi(arguments[2]) : 100;
    const char *resume = option(argument_count, arguments, "--resume");
    mica_world *world = mica_world_create(NULL);
    cluster = mica_cluster_create(world, &(mica_cluster_def){
                                             .grid = {.component = MICA_ID(Position),
                                                      .fields = "x, y",
                                                      .cell_size = reach,
                                                      .maximum = {SIZE, SIZE},
                                                      .torus = true},
                                             .reach = reach,
                                             .ghosts = (const mica_component[]){MICA_ID(Velocity)},
                                             .ghost_count = 1,
                                             .balance_steps = 20,
                                         });
    mica_system_add(world, MICA_SYSTEM(flock, MICA_WRITE(Velocity), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
    if (resume)
        mica_cluster_load(cluster, resume);
    else
        create_birds(world, bird_count);
    run((uint64_t)step_count, option(argument_count, arguments, "--save"));
    uint64_t hash = mica_cluster_hash(cluster);
    bool is_drawn =
        picture_write(cluster, world, MICA_ID(Position), SIZE, option(argument_count, arguments, "--picture"));
    bool is_complete = is_drawn && mica_cluster_result(cluster) == MICA_OK;
    if (mica_cluster_rank(cluster) == 0)
        printf("%d birds, hash %016" PRIx64 "\n", bird_count, hash);
    mica_cluster_destroy(cluster);
    mica_world_destroy(world);
    return is_complete ? EXIT_SUCCESS : EXIT_FAILURE;
}
