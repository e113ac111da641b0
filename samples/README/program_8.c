#line 8 "README.md"
/* Two components, one system, sixty frames. */
#include "mica/flow.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;
MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)

static void move(mica_view *view)
{
    Position *position = mica_view_write(view, Position);
    const Velocity *velocity = mica_view_read(view, Velocity);
    for (uint32_t i = 0; i < view->count; ++i)
        position[i].x += velocity[i].x * view->dt;
}

int main(void)
{
    mica_world *world = mica_world_create(NULL);
    mica_system_add(world, MICA_SYSTEM(move, MICA_WRITE(Position), MICA_READ(Velocity)));
    mica_entity ship = mica_create(world, MICA_WITH(Position, {0, 0}), MICA_WITH(Velocity, {1, 2}));
    for (int frame = 0; frame < 60; ++frame)
        mica_step(world, 1.0f / 60);
    printf("x = %.2f\n", mica_get(world, ship, Position)->x);
    mica_world_destroy(world);
}
