/* Two components, three entities, one loop. */
#include "mica/mica.h"

#include <stdio.h>

typedef struct Position { float x, y; } Position;
typedef struct Velocity { float x, y; } Velocity;

MICA_COMPONENT(Position, x, y)
MICA_COMPONENT(Velocity, x, y)

int main(void)
{
    mica_world *world = mica_world_create(NULL);

    mica_entity ship = mica_create(world, MICA_WITH(Position, {0, 0}), MICA_WITH(Velocity, {1, 2}));
    mica_entity rock = mica_create(world, MICA_WITH(Position, {5, 5}));
    mica_create(world, MICA_WITH(Position, {9, 0}), MICA_WITH(Velocity, {-1, 0}));

    mica_query *moving = mica_query_create(world, MICA_QUERY(MICA_WRITE(Position), MICA_READ(Velocity)));

    for (int frame = 0; frame < 60; ++frame)
        for (mica_view view = mica_query_begin(moving); mica_view_next(&view);) {
            Position *position = mica_view_write(&view, Position);
            const Velocity *velocity = mica_view_read(&view, Velocity);
            for (uint32_t i = 0; i < view.count; ++i) {
                position[i].x += velocity[i].x / 60;
                position[i].y += velocity[i].y / 60;
            }
        }

    printf("ship at %.1f, %.1f\n", mica_get(world, ship, Position)->x, mica_get(world, ship, Position)->y);
    printf("rock at %.1f, %.1f\n", mica_get(world, rock, Position)->x, mica_get(world, rock, Position)->y);
    mica_world_destroy(world);
}
