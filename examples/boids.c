/* A grid finds neighbours: birds on a torus fly like those around them. */
#include "mica/flow.h"
#include "mica/index.h"
#include "mica/math.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
typedef struct Steering { float x, y; } Steering;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT(Steering, x, y)

enum { BIRDS = 2000, SIZE = 100, NEIGHBOURS_MAX = 64 };

static mica_index *grid;

/* The grid is current when the system starts: it is in the system's .uses, and `move` has run before. */
static void flock(mica_view *view)
{
    Steering *steering = mica_view_write(view, Steering);
    const Velocity *own = mica_view_read(view, Velocity);
    mica_neighbour near[NEIGHBOURS_MAX];
    for (uint32_t i = 0; i < view->count; ++i) {
        uint32_t count = mica_grid_around(grid, view->entities[i], 4, near, NEIGHBOURS_MAX);
        float x = 0, y = 0;
        float share = 4 / (float)(count ? count : 1);
        for (uint32_t k = 0; k < count && k < NEIGHBOURS_MAX; ++k) {
            const Velocity *other = mica_get(view->world, near[k].entity, Velocity);
            bool is_close = near[k].distance_squared < 1;
            x += (other->x - own[i].x) * share - (is_close ? (float)near[k].offset.x : 0);
            y += (other->y - own[i].y) * share - (is_close ? (float)near[k].offset.y : 0);
        }
        steering[i] = (Steering){x, y};
    }
}

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    Velocity *velocity = mica_view_write(view, Velocity);
    const Steering *steering = mica_view_read(view, Steering);
    for (uint32_t i = 0; i < view->count; ++i) {
        float x = velocity[i].x + steering[i].x * view->dt, y = velocity[i].y + steering[i].y * view->dt;
        float speed = mica_sqrtf(x * x + y * y) + 0.001f; /* they fly at one speed */
        velocity[i] = (Velocity){x / speed, y / speed};
        position[i].x += velocity[i].x * view->dt; /* the grid wraps around by itself */
        position[i].y += velocity[i].y * view->dt;
    }
}

typedef struct Order { double x, y; } Order;

static void add_velocity(mica_entity entity, void *const *columns, void *context)
{
    (void)entity;
    const Velocity *velocity = columns[0];
    Order *order = context;
    order->x += velocity->x;
    order->y += velocity->y;
}

/* From 0, everyone flies somewhere else, to 1, all fly in one direction. */
static double order_of(mica_query *birds)
{
    Order order = {0};
    mica_query_each(birds, add_velocity, &order);
    return mica_sqrt(order.x * order.x + order.y * order.y) / BIRDS;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_random random = mica_random_make(1, 0);
    for (int i = 0; i < BIRDS; ++i) {
        float angle = mica_random_range(&random, 0, 6.2831853f);
        mica_create(world,
                    MICA_WITH(Position, {mica_random_range(&random, 0, SIZE), mica_random_range(&random, 0, SIZE)}),
                    MICA_WITH(Velocity, {mica_cosf(angle), mica_sinf(angle)}), MICA_WITH(Steering, {0}));
    }
    grid = mica_index_create(world, &(mica_index_def){.component = MICA_ID(Position),
                                                      .fields = "x, y",
                                                      .cell_size = 4,
                                                      .maximum = {SIZE, SIZE},
                                                      .torus = true,
                                                      .location = MICA_HERE});
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_WRITE(Velocity), MICA_READ(Steering)));
    mica_system_add(world, MICA_SYSTEM_WITH(flock, (MICA_USES({.index = grid}, MICA_USE_READ(Velocity))),
                                            MICA_WRITE(Steering), MICA_READ(Velocity)));

    mica_query *birds = mica_query_create(world, MICA_QUERY(MICA_READ(Velocity)));
    for (int frame = 0; frame <= 200; ++frame) {
        if (frame % 50 == 0)
            printf("frame %3d: order %.2f\n", frame, order_of(birds));
        mica_step(world, 0.1f);
    }

    mica_neighbour nearest[3];
    mica_index_update(grid);
    uint32_t count = mica_grid_nearest(grid, (mica_point){SIZE, SIZE, 0}, nearest, 3);
    for (uint32_t i = 0; i < count; ++i)
        printf("bird %u is %.2f from the corner\n", nearest[i].entity.index, mica_sqrt(nearest[i].distance_squared));
    mica_world_destroy(world);
    return 0;
}
