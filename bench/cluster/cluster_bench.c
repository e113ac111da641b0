/* What tools/cluster_bench.py measures, one case per run; rank 0 prints "name value" lines. Times are sums or maxima over ranks:
 *
 *     cluster_bench plain BIRDS STEPS          birds in a world without a cluster
 *     cluster_bench flock BIRDS STEPS          the same birds on all ranks
 *     cluster_bench migrate THINGS STEPS SHARE things of which a share in percent jumps far away in each step
 *     cluster_bench copy THINGS                creates copies of things in another world and destroys the things
 *     cluster_bench save THINGS FILE           saves things and loads them
 *     cluster_bench echo BYTES COUNT           the shortest of several round trips between ranks 0 and 1
 */
#include "mica/cluster.h"
#include "mica/flow.h"
#include "mica/index.h"
#include "mica/math.h"
#include "mica/ranks.h"

#include "os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
typedef struct Load { float values[8]; } Load;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT(Load, values)

enum { NEIGHBOURS_MAX = 64, WARM_STEPS = 3 };
static const float reach = 2; /* about ten neighbours */

static mica_cluster *cluster;
static mica_index *grid;
static float side;
static uint32_t jump_percent;

/* ---- figures */

typedef struct figures {
    double wall_seconds; /* of the slowest rank; the rest are sums over all ranks */
    double cpu_seconds;
    double memory_bytes;
    double sent_bytes, ghosts, arrived, messages;
    double messages_max; /* of any rank in any step */
} figures;

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double wall_seconds(void)
{
    return (double)micap_clock_ns() / 1e9;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void combine(void *to, const void *from, void *context)
{
    (void)context;
    figures *sum = to;
    const figures *other = from;
    sum->wall_seconds = larger(sum->wall_seconds, other->wall_seconds);
    sum->messages_max = larger(sum->messages_max, other->messages_max);
    sum->cpu_seconds += other->cpu_seconds;
    sum->memory_bytes += other->memory_bytes;
    sum->sent_bytes += other->sent_bytes;
    sum->ghosts += other->ghosts;
    sum->arrived += other->arrived;
    sum->messages += other->messages;
}

/* Sums per step, except for seconds, which are of all steps. */
static void print_figures(figures figures, double steps)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    figures.memory_bytes = (double)usage.ru_maxrss * 1024;
    if (cluster)
        mica_cluster_combine(cluster, &figures, sizeof figures, combine, NULL);
    if (cluster && mica_cluster_rank(cluster) != 0)
        return;
    printf("wall_seconds %.9g\ncpu_seconds %.9g\nmemory_bytes %.9g\n", figures.wall_seconds, figures.cpu_seconds,
           figures.memory_bytes);
    printf("sent_bytes %.9g\nghosts %.9g\narrived %.9g\nmessages %.9g\nmessages_max %.9g\n", figures.sent_bytes / steps,
           figures.ghosts / steps, figures.arrived / steps, figures.messages / steps, figures.messages_max);
}

/* ---- birds */

/* The rule of both variants: fly like neighbours, away from close ones, at one speed. */
static Velocity steer(Velocity own, float x, float y, float dt)
{
    x = own.x + x * dt;
    y = own.y + y * dt;
    float speed = mica_sqrtf(x * x + y * y) + 0.001f;
    return (Velocity){x / speed, y / speed};
}

static void flock_in_cluster(mica_view *view)
{
    Velocity *velocity = mica_view_write(view, Velocity);
    mica_cluster_neighbour near[NEIGHBOURS_MAX];
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t count = mica_cluster_around(cluster, view->entities[i], reach, near, NEIGHBOURS_MAX);
        float x = 0, y = 0;
        for (uint32_t k = 0; k < count && k < NEIGHBOURS_MAX; ++k) {
            const Velocity *other = mica_cluster_read(cluster, &near[k], MICA_ID(Velocity));
            bool is_close = near[k].distance_squared < 1;
            x += (other->x - velocity[i].x) / (float)count - (is_close ? (float)near[k].offset.x : 0);
            y += (other->y - velocity[i].y) / (float)count - (is_close ? (float)near[k].offset.y : 0);
        }
        velocity[i] = steer(velocity[i], x, y, view->dt);
    }
}

static void flock_in_grid(mica_view *view)
{
    Velocity *velocity = mica_view_write(view, Velocity);
    mica_neighbour near[NEIGHBOURS_MAX];
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t count = mica_grid_around(grid, view->entities[i], reach, near, NEIGHBOURS_MAX);
        float x = 0, y = 0;
        for (uint32_t k = 0; k < count && k < NEIGHBOURS_MAX; ++k) {
            const Velocity *other = mica_get(view->world, near[k].entity, Velocity);
            bool is_close = near[k].distance_squared < 1;
            x += (other->x - velocity[i].x) / (float)count - (is_close ? (float)near[k].offset.x : 0);
            y += (other->y - velocity[i].y) / (float)count - (is_close ? (float)near[k].offset.y : 0);
        }
        velocity[i] = steer(velocity[i], x, y, view->dt);
    }
}

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i) {
        position[i].x += velocity[i].x * view->dt;
        position[i].y += velocity[i].y * view->dt;
    }
}

/* ---- things that jump */

static void jump(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    for (uint32_t i = 0; i < view->count; ++i) {
        mica_random random = mica_cluster_random(cluster, view->entities[i], 0);
        if (mica_random_below(&random, 100) >= jump_percent)
            continue;
        float x = position[i].x + side / 2;
        position[i].x = x < side ? x : x - side;
    }
}

/* ---- worlds */

static mica_world *create_world(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_flow_def flow = mica_flow_def_default();
    flow.worker_count = 1;
    mica_flow_configure(world, &flow);
    mica_define(world, Velocity);
    mica_define(world, Load);
    return world;
}

static void create_birds(mica_world *world, uint32_t count, bool with_load)
{
    mica_random random = mica_random_make(1, 0);
    for (uint32_t i = 0; i < count; ++i) {
        float x = mica_random_range(&random, 0, side), y = mica_random_range(&random, 0, side);
        float angle = mica_random_range(&random, 0, 6.2831853f);
        mica_entity bird =
            mica_create(world, MICA_WITH(Position, {x, y}), MICA_WITH(Velocity, {mica_cosf(angle), mica_sinf(angle)}));
        if (with_load)
            mica_set(world, bird, Load, {{x}});
    }
}

static void create_cluster(mica_world *world, bool has_ghosts)
{
    mica_component ghosts[] = {MICA_ID(Velocity)};
    cluster = mica_cluster_create(world, &(mica_cluster_def){
                                             .grid = {.component = MICA_ID(Position),
                                                      .fields = "x, y",
                                                      .cell_size = reach,
                                                      .maximum = {side, side},
                                                      .torus = true},
                                             .reach = has_ghosts ? reach : 0,
                                             .ghosts = ghosts,
                                             .ghost_count = has_ghosts,
                                         });
    if (!cluster)
        exit(EXIT_FAILURE);
}

static void step_cluster(uint32_t step_count)
{
    figures figures = {0};
    double wall = 0, cpu = 0;
    for (uint32_t i = 0; i < WARM_STEPS + step_count; ++i) {
        if (i == WARM_STEPS) {
            wall = wall_seconds();
            cpu = cpu_seconds();
        }
        if (!mica_cluster_step(cluster, 0.1f))
            exit(EXIT_FAILURE);
        mica_cluster_stats stats = mica_cluster_get_stats(cluster);
        if (i < WARM_STEPS)
            continue;
        figures.sent_bytes += (double)stats.sent_bytes;
        figures.ghosts += (double)stats.ghost_count;
        figures.arrived += (double)stats.arrived_count;
        figures.messages += stats.sent_message_count;
        figures.messages_max = larger(figures.messages_max, stats.sent_message_count);
    }
    figures.wall_seconds = wall_seconds() - wall;
    figures.cpu_seconds = cpu_seconds() - cpu;
    print_figures(figures, step_count);
}

/* ---- cases */

static void run_flock(mica_world *world, uint32_t count, uint32_t step_count)
{
    create_cluster(world, true);
    mica_system_add(world, MICA_SYSTEM(flock_in_cluster, MICA_WRITE(Velocity), MICA_HAS(mica_identity)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
    create_birds(world, count, false);
    step_cluster(step_count);
}

static void run_plain(mica_world *world, uint32_t count, uint32_t step_count)
{
    grid = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Position),
                                                      .fields = "x, y",
                                                      .cell_size = reach,
                                                      .maximum = {side, side},
                                                      .torus = true});
    mica_system_add(world, MICA_SYSTEM_WITH(flock_in_grid, (MICA_USES({.index = grid})), MICA_WRITE(Velocity)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
    create_birds(world, count, false);
    for (uint32_t i = 0; i < WARM_STEPS; ++i)
        mica_step(world, 0.1f);
    double wall = wall_seconds(), cpu = cpu_seconds();
    for (uint32_t i = 0; i < step_count; ++i)
        mica_step(world, 0.1f);
    print_figures((figures){.wall_seconds = wall_seconds() - wall, .cpu_seconds = cpu_seconds() - cpu}, step_count);
}

static void run_migrate(mica_world *world, uint32_t count, uint32_t step_count)
{
    create_cluster(world, false);
    mica_system_add(world, MICA_SYSTEM(jump, MICA_WRITE(Position), MICA_HAS(mica_identity)));
    create_birds(world, count, true);
    step_cluster(step_count);
}

/* What moving an entity costs at least: the copy in another world, and the end of the original. */
static void run_copy(mica_world *world, uint32_t count)
{
    create_birds(world, count, true);
    mica_world *other = create_world();
    mica_query *things =
        mica_query_create(world, &(mica_query_def){.terms = (const mica_term[]){MICA_READ(Position)}, .term_count = 1});
    mica_entity *all = malloc(count * sizeof *all);
    uint32_t found = 0;
    for (mica_view view = mica_query_begin(things); all && mica_view_next(&view); found += view.count)
        memcpy(all + found, view.entities, view.count * sizeof *all);
    double wall = wall_seconds(), cpu = cpu_seconds();
    for (uint32_t i = 0; all && i < found; ++i) {
        mica_value values[] = {
            {MICA_ID(Position), sizeof(Position), mica_get(world, all[i], Position)},
            {MICA_ID(Velocity), sizeof(Velocity), mica_get(world, all[i], Velocity)},
            {MICA_ID(Load), sizeof(Load), mica_get(world, all[i], Load)},
        };
        mica_create_id(other, values, 3);
        mica_destroy(world, all[i]);
    }
    print_figures((figures){.wall_seconds = wall_seconds() - wall, .cpu_seconds = cpu_seconds() - cpu}, 1);
    free(all);
    mica_world_destroy(other);
}

static void run_save(mica_world *world, uint32_t count, const char *path)
{
    create_cluster(world, false);
    create_birds(world, count, false);
    mica_cluster_step(cluster, 0.1f);
    uint64_t hash = mica_cluster_hash(cluster);
    double wall = wall_seconds(), cpu = cpu_seconds();
    bool is_fine = mica_cluster_save(cluster, path) == MICA_OK;
    double save_wall = wall_seconds() - wall, save_cpu = cpu_seconds() - cpu;
    mica_cluster_destroy(cluster);
    mica_world *next = create_world();
    create_cluster(next, false);
    wall = wall_seconds();
    cpu = cpu_seconds();
    is_fine = is_fine && mica_cluster_load(cluster, path) == MICA_OK;
    figures figures = {.wall_seconds = wall_seconds() - wall + save_wall,
                       .cpu_seconds = cpu_seconds() - cpu + save_cpu};
    is_fine = is_fine && mica_cluster_hash(cluster) == hash;
    print_figures(figures, 1);
    mica_cluster_destroy(cluster);
    cluster = NULL;
    mica_world_destroy(next);
    if (!is_fine)
        exit(EXIT_FAILURE);
}

static void wait_for_message(mica_ranks *ranks)
{
    uint32_t from;
    const void *bytes;
    size_t byte_count;
    while (!mica_ranks_receive(ranks, &from, &bytes, &byte_count)) {
    }
}

static void run_echo(size_t byte_count, uint32_t count)
{
    mica_ranks *ranks = mica_ranks_open();
    char *bytes = calloc(1, byte_count);
    uint32_t rank = mica_ranks_rank(ranks);
    double least = 1e9; /* a rank that another program interrupts answers late */
    for (uint32_t i = 0; i < count && rank < 2; ++i) {
        double begin = wall_seconds();
        if (rank == 0)
            mica_ranks_send(ranks, 1, bytes, byte_count);
        wait_for_message(ranks);
        if (rank == 1)
            mica_ranks_send(ranks, 0, bytes, byte_count);
        least = wall_seconds() - begin < least ? wall_seconds() - begin : least;
    }
    if (rank == 0)
        printf("round_trip_seconds %.9g\n", least);
    mica_ranks_close(ranks);
    free(bytes);
}

int main(int argument_count, char **arguments)
{
    const char *name = argument_count > 2 ? arguments[1] : "";
    uint32_t count = argument_count > 2 ? (uint32_t)atoi(arguments[2]) : 0;
    uint32_t step_count = argument_count > 3 ? (uint32_t)atoi(arguments[3]) : 1;
    jump_percent = argument_count > 4 ? (uint32_t)atoi(arguments[4]) : 0;
    side = reach * (float)(int)(mica_sqrtf((float)count / 0.8f) / reach + 1);
    if (!strcmp(name, "echo"))
        return run_echo(count, step_count), 0;
    mica_world *world = create_world();
    if (!strcmp(name, "plain"))
        run_plain(world, count, step_count);
    else if (!strcmp(name, "flock"))
        run_flock(world, count, step_count);
    else if (!strcmp(name, "migrate"))
        run_migrate(world, count, step_count);
    else if (!strcmp(name, "copy"))
        run_copy(world, count);
    else if (!strcmp(name, "save") && argument_count > 3)
        run_save(world, count, arguments[3]);
    else
        return fprintf(stderr, "cluster_bench: plain, flock, migrate, copy, save or echo, with their arguments\n"), 2;
    mica_cluster_destroy(cluster);
    mica_world_destroy(world);
    return 0;
}
