/* Acceleration changes velocity, velocity changes position: two independent systems that are ordered by what they read and
 * write. The scheduler fuses them and runs both over a slice while it is in the cache. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Acceleration { float x, y; } Acceleration;
typedef struct Velocity { float x, y; } Velocity;
typedef struct Position { float x, y; } Position;
MICA_COMPONENT(Acceleration, x, y)
MICA_COMPONENT(Velocity, x, y)
MICA_COMPONENT(Position, x, y)

/* A column system gets its columns as parameters, in the order of the terms. */
static void accelerate(uint32_t count, void *const *columns)
{
    Velocity *velocity = columns[0];
    const Acceleration *acceleration = columns[1];
    for (uint32_t i = 0; i < count; ++i) {
        velocity[i].x += acceleration[i].x;
        velocity[i].y += acceleration[i].y;
    }
}

static void move(uint32_t count, void *const *columns)
{
    Position *position = columns[0];
    const Velocity *velocity = columns[1];
    for (uint32_t i = 0; i < count; ++i) {
        position[i].x += velocity[i].x;
        position[i].y += velocity[i].y;
    }
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_system_add(world, MICA_SYSTEM(accelerate, MICA_WRITE(Velocity), MICA_READ(Acceleration)));
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));

    mica_entity stone =
        mica_create(world, MICA_WITH(Position, {0, 0}), MICA_WITH(Velocity, {1, 8}), MICA_WITH(Acceleration, {0, -2}));
    mica_entity cloud = mica_create(world, MICA_WITH(Position, {0, 9}), MICA_WITH(Velocity, {1, 0}));
    mica_entity tower = mica_create(world, MICA_WITH(Position, {5, 0}));

    for (int second = 0; second <= 8; second += 2) {
        printf("%d s: stone at %g, %g, cloud at %g, %g, tower at %g, %g\n", second, mica_get(world, stone, Position)->x,
               mica_get(world, stone, Position)->y, mica_get(world, cloud, Position)->x,
               mica_get(world, cloud, Position)->y, mica_get(world, tower, Position)->x,
               mica_get(world, tower, Position)->y);
        mica_step(world, 1);
        mica_step(world, 1);
    }

    char graph[1024];
    mica_graph_write(world, MICA_GRAPH_TEXT, graph, sizeof graph);
    printf("%s", graph);
    mica_world_destroy(world);
}
